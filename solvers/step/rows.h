// Products with the packed directions G of an interaction list.
#ifndef LASH_SOLVERS_ROWS_H
#define LASH_SOLVERS_ROWS_H

#include "core/system.h"

// Rigid bodies have blocks of 6: unrolled, the products cost a few instructions per row.
static inline double lash_dot6(const double* a, const double* b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}
static inline void lash_axpy6(double s, const double* x, double* y) {
    for (int k = 0; k < 6; ++k) y[k] += s * x[k];
}

// y (n) += s x; they do not overlap, which saves small vectors from being asked.
static inline void lash_axpy(int n, double s, const double* __restrict x, double* __restrict y) {
    for (int i = 0; i < n; ++i) y[i] += s * x[i];
}

// y (n) = a + s x; likewise.
static inline void lash_combine(int n, const double* __restrict a, double s,
                                const double* __restrict x, double* __restrict y) {
    for (int i = 0; i < n; ++i) y[i] = a[i] + s * x[i];
}

// U (rows of item) = G' v, for one interaction.
static inline void lash_row_velocity(const LashSystem* system, const LashInteraction* item,
                                     const double* G, const double* v, double* U) {
    const double* column = G + item->offset;
    for (int i = 0; i < item->rows; ++i) U[i] = 0;
    for (int s = 0; s < item->touched; ++s) {
        const double* vb = v + system->block_start[item->block[s]];
        int n = lash_block_size(system, item->block[s]);
        if (n == 6) {
            for (int i = 0; i < item->rows; ++i, column += 6) U[i] += lash_dot6(column, vb);
            continue;
        }
        for (int i = 0; i < item->rows; ++i, column += n) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += column[k] * vb[k];
            U[i] += sum;
        }
    }
}

// y (nv) += s G P, for one interaction.
static inline void lash_row_apply(const LashSystem* system, const LashInteraction* item,
                                  const double* G, double s, const double* P, double* y) {
    const double* column = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        double* yb = y + system->block_start[item->block[b]];
        int n = lash_block_size(system, item->block[b]);
        if (n == 6) {
            double sum[6]; // in registers: G might be y for all that the compiler knows
            for (int k = 0; k < 6; ++k) sum[k] = yb[k];
            for (int i = 0; i < item->rows; ++i, column += 6) lash_axpy6(s * P[i], column, sum);
            for (int k = 0; k < 6; ++k) yb[k] = sum[k];
            continue;
        }
        for (int i = 0; i < item->rows; ++i, column += n) {
            double p = s * P[i];
            for (int k = 0; k < n; ++k) yb[k] += p * column[k];
        }
    }
}

// The same for the interactions [first, last) of a list; wanted, or NULL, says which.
static inline void lash_rows_velocity(const LashSystem* system, const LashInteractionList* list,
                                      int first, int last, const uint8_t* wanted, const double* G,
                                      const double* v, double* U) {
    for (int i = first; i < last; ++i) {
        if (wanted != NULL && !wanted[i]) continue;
        lash_row_velocity(system, &list->item[i], G, v, U + list->item[i].row);
    }
}
static inline void lash_rows_apply(const LashSystem* system, const LashInteractionList* list,
                                   int first, int last, const uint8_t* wanted, const double* G,
                                   double s, const double* P, double* y) {
    for (int i = first; i < last; ++i) {
        if (wanted != NULL && !wanted[i]) continue;
        lash_row_apply(system, &list->item[i], G, s, P + list->item[i].row, y);
    }
}

#endif

// Minimum-norm impulses of bilateral rows, redundant ones included.
//
// With the scaled matrix  V = D^-1 W D^-1,  W = sym(G' A^-1 G),  D = diag(1 or 1/length):
//     V = L L' (m x r) by Cholesky with diagonal pivoting; a row is redundant when what is left of
//     its diagonal entry is below 1e-12 of the entry itself, V^+ = L (L'L)^-1 (L'L)^-1 L',    W^+ =
//     D^-1 V^+ D^-1.
// The time step asks for corrections of small residuals again and again, with fresh residuals, so
// neither the symmetric part nor an old factorisation costs accuracy, only iterations.
#include "solvers/joint_solver.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/rows.h"

static const double RANK_TOLERANCE = 1e-12; // of the row's own diagonal entry

void lash_joint_solver_init(LashJointSolver* solver, const LashSystem* system, int capacity) {
    size_t m = (size_t)capacity;
    *solver = (LashJointSolver){.system = system, .capacity = capacity};
    solver->W_inverse = lash_alloc(m * m * sizeof(double));
    solver->L = lash_alloc(m * m * sizeof(double));
    solver->S = lash_alloc(m * m * sizeof(double));
    solver->scale = lash_alloc(m * sizeof(double));
    solver->pivot = lash_alloc(m * sizeof(int));
    solver->column = lash_alloc(((size_t)system->nv + 2 * m) * sizeof(double));
}

void lash_joint_solver_free(LashJointSolver* solver) {
    lash_free(solver->W_inverse), lash_free(solver->L), lash_free(solver->S);
    lash_free(solver->scale), lash_free(solver->pivot), lash_free(solver->column);
    *solver = (LashJointSolver){0};
}

// Scaled V = D^-1 sym(G' A^-1 G) D^-1, one column of G at a time.
static void assemble(LashJointSolver* s, const LashInteractionList* list, const double* G,
                     const LashBlockLu* lu, bool positions, bool unit_metric) {
    const LashSystem* system = s->system;
    int m = s->rows;
    double* y = s->column;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        bool left_out = positions && item->kind == LASH_BILATERAL_VELOCITY;
        for (int r = 0; r < item->rows; ++r) {
            double* column = s->S + (size_t)(item->row + r) * (size_t)m;
            bool angular = (item->angular >> r & 1) != 0;
            s->scale[item->row + r] = left_out ? 0 : angular ? 1 / system->length : 1;
            memset(y, 0, (size_t)system->nv * sizeof *y);
            double unit[LASH_MAX_ROWS] = {0};
            unit[r] = 1;
            lash_row_apply(system, item, G, 1, unit, y);
            if (!unit_metric) lash_block_lu_solve(lu, y);
            lash_rows_velocity(system, list, 0, list->bilateral, NULL, G, y, column);
        }
    }
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i <= j; ++i) {
            double x = s->scale[i] * s->scale[j];
            x = x == 0 ? 0 : 0.5 * (s->S[i + m * j] + s->S[j + m * i]) / x;
            s->S[i + m * j] = s->S[j + m * i] = x;
        }
    }
}

// V = L L' with pivoting; L is (m x m), rows in original order, columns in order of elimination.
// Returns the rank.
static int factor_pivoted(int m, double* V, double* L, int* pivot, double* left) {
    double* start = left + m;
    for (int i = 0; i < m; ++i) left[i] = start[i] = V[i + m * i], pivot[i] = i;
    for (int k = 0; k < m; ++k) {
        int best = k;
        double best_share = 0;
        for (int i = k; i < m; ++i) {
            int row = pivot[i];
            double share = start[row] > 0 ? left[row] / start[row] : 0;
            if (share > best_share) best = i, best_share = share;
        }
        if (!(best_share > RANK_TOLERANCE)) return k;
        int p = pivot[best];
        pivot[best] = pivot[k], pivot[k] = p;
        double *Lk = L + (size_t)m * (size_t)k, root = sqrt(left[p]);
        for (int i = 0; i < k; ++i) Lk[pivot[i]] = 0;
        Lk[p] = root;
        for (int i = k + 1; i < m; ++i) {
            int row = pivot[i];
            double sum = V[row + m * p];
            for (int c = 0; c < k; ++c) sum -= L[row + m * c] * L[p + m * c];
            Lk[row] = sum / root;
            left[row] -= Lk[row] * Lk[row];
        }
    }
    return m;
}

// In place inverse of the symmetric positive definite S (r x r, leading dimension r) by Cholesky.
static void invert_spd(int r, double* S) {
    for (int k = 0; k < r; ++k) { // S = C C', lower
        for (int c = 0; c < k; ++c) {
            double f = S[k + r * c];
            for (int i = k; i < r; ++i) S[i + r * k] -= S[i + r * c] * f;
        }
        double root = 1 / sqrt(S[k + r * k]);
        for (int i = k; i < r; ++i) S[i + r * k] *= root;
    }
    for (int j = 0; j < r; ++j) { // C^-1, lower, in place
        S[j + r * j] = 1 / S[j + r * j];
        for (int i = j + 1; i < r; ++i) {
            double sum = 0;
            for (int k = j; k < i; ++k) sum -= S[i + r * k] * S[k + r * j];
            S[i + r * j] = sum / S[i + r * i];
        }
    }
    for (int j = 0; j < r; ++j) { // C^-T C^-1
        for (int i = j; i < r; ++i) {
            double sum = 0;
            for (int k = i; k < r; ++k) sum += S[k + r * i] * S[k + r * j];
            S[i + r * j] = sum;
        }
    }
    for (int j = 0; j < r; ++j) {
        for (int i = 0; i < j; ++i) S[i + r * j] = S[j + r * i];
    }
}

// W^+ from L: with E = (L'L)^-1 (r x r) and X = L E (m x r),  V^+ = X X'.
static void pseudo_inverse(LashJointSolver* s) {
    int m = s->rows, r = s->rank;
    double *E = s->S, *X = s->W_inverse;
    for (int j = 0; j < r; ++j) {
        for (int i = 0; i <= j; ++i) {
            double sum = 0;
            for (int k = 0; k < m; ++k) sum += s->L[k + m * i] * s->L[k + m * j];
            E[i + r * j] = E[j + r * i] = sum;
        }
    }
    invert_spd(r, E);
    for (int j = 0; j < r; ++j) {
        double* x = X + m * j;
        memset(x, 0, (size_t)m * sizeof *x);
        for (int k = 0; k < r; ++k) {
            double f = E[k + r * j];
            for (int i = 0; i < m; ++i) x[i] += f * s->L[i + m * k];
        }
    }
    double* V = s->L; // L is no longer needed
    for (int j = 0; j < m; ++j) {
        double* v = V + m * j;
        memset(v, 0, (size_t)m * sizeof *v);
        for (int k = 0; k < r; ++k) {
            double f = X[j + m * k];
            for (int i = 0; i < m; ++i) v[i] += f * X[i + m * k];
        }
    }
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i < m; ++i) {
            double x = s->scale[i] * s->scale[j];
            s->W_inverse[i + m * j] = x == 0 ? 0 : V[i + m * j] / x;
        }
    }
}

void lash_joint_solver_factor(LashJointSolver* solver, const LashInteractionList* list,
                              const double* G, const LashBlockLu* lu, bool positions,
                              bool unit_metric) {
    LASH_ASSERT(list->bilateral_rows <= solver->capacity);
    solver->rows = list->bilateral_rows;
    assemble(solver, list, G, lu, positions, unit_metric);
    solver->rank = factor_pivoted(solver->rows, solver->S, solver->L, solver->pivot,
                                  solver->column + solver->system->nv);
    for (int k = solver->rank; k < solver->rows; ++k) {
        memset(solver->L + solver->rows * k, 0, (size_t)solver->rows * sizeof(double));
    }
    pseudo_inverse(solver);
}

void lash_joint_solver_solve(const LashJointSolver* solver, const double* U, double* P) {
    int m = solver->rows;
    for (int i = 0; i < m; ++i) P[i] = 0;
    for (int j = 0; j < m; ++j) {
        const double* column = solver->W_inverse + (size_t)m * (size_t)j;
        double u = -U[j];
        for (int i = 0; i < m; ++i) P[i] += u * column[i];
    }
}

// The Newton correction of a step with contacts, all derivatives in it, velocities and positions
// coupled: for plays so small that a part moves by a good share of them within a step.
//
// Unknowns are the changes of v, of the increment d, of P and of tau; w = h theta of the motion,
// N^-1 the metric of the projection (M or I), C(x) = d(G x)/dq, D = d(G'v + dg/dt)/dq:
//
//     dynamics    (M + h theta C) dv + Q dd - G* dP = -r,        Q = theta (h K - C*(P))
//     motion      (N^-1 - C(tau)) dd = w N^-1 dv + G dtau + m,   m = G tau - N^-1 shift
//     velocities  U+ = U + G'dv + D dd:   0 for joints, the law of impact and friction for contacts
//     positions   g+ = g + G'dd:          0 for joints and closed contacts E, >= 0 for the others
//
// A normal that turns by v h / play within a step couples the two levels: left out, the iteration
// contracts by that factor only. For a given E the positions are eliminated,
//
//     dd = T dv + dd_0,   T = w (1 - H G_E S^+ G_E') H N^-1,   H = (N^-1 - C(tau))^-1, S = G_E' H
//     G_E
//
// which leaves (M + h theta C + Q T) dv - G* dP = -(r + Q dd_0) with rows G^' = G' + D T: a dense
// system of the joints and, through its responses, a friction problem W = G^' (..)^-1 G* of the
// contacts. E is guessed from the iterate; where the answer disagrees the positions are solved
// as the complementarity problem they are, and the next operator knows.
//
// The operator is kept while it contracts: residuals are always fresh. Velocities are scaled by
// 1/sqrt(M_ii), so that pivots of forces and moments can be compared.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/dense.h"
#include "solvers/rows.h"
#include "solvers/sim_internal.h"

static const double FAR = 1e6;          // [m] an empty contact slot has an infinite gap
static const double PUSHES = 1e-12;     // P_N > 0 means above this share of the largest impulse
static const double DEPENDENT = 1e-11;  // of a row's diagonal entry: what rounding leaves
static const double CURVED = 1e-4;      // C(tau) counts from this share of the masses on
static const double SMALL_SHIFT = 1e-9; // nor before the projection moves by this [m, rad]
enum { SEARCH_ITERATIONS = 100 };       // of a position problem: the next correction goes on

struct ContactNewton {
    int n, p; // velocities, filled up with idle ones; bilateral rows
    int ldk;  // leading dimension of K
    // What the operator was made for.
    bool valid, project;
    bool plain; // without the derivatives of directions
    double h;
    uint64_t key;
    int m, ld;         // rows of contacts, padded
    int nr, ne;        // position rows, those of E
    int* row_item;     // (p + contacts) position rows: the interaction, and the row of it
    int* row_of;       // (p + contacts)
    int* closed;       // (p + contacts) E: position rows
    double* scale;     // (n) 1/sqrt(M_ii)
    double *Q, *T;     // (n x n) by rows
    double* HN;        // (n x n) H N^-1 by rows; not filled unless curved: the identity
    bool curved;       // C(tau) counts
    double* H;         // (n x n) by rows, with curved only
    double* D;         // packed like G
    double* K;         // (n + p)^2 by rows: factors of the joints' system
    int *swap, *joint; // (n), (p) row exchanges; order of the bilateral rows
    int rank;          // of the bilateral rows
    double* Y;         // ((n + p) x m) by rows: answers to the contacts' impulses
    double* G_hat;     // (n x m) by rows, with the sign turned
    double *G_R, *HG;  // (nr x n) position rows and H times them
    double *S, *Z;     // (ne x ne) S^+, (ne x n) S^+ G_E' H N^-1
    double* grid;      // scratch: (ne x (2 ne + n))
    double* A_R;       // (nr x nr)
    double *x, *dd, *dd_0, *motion, *y, *gap, *tau, *gap_new, *P_n; // scratch vectors
    double* close;                                                  // (ne) S^+ times the gaps of E
    uint8_t* kind;
    void* projection_work;
};

ContactNewton* contact_newton_create(const LashSystem* system, int bilateral_rows, int contacts,
                                     int contact_rows) {
    ContactNewton* f = lash_alloc(sizeof *f);
    size_t n = (size_t)lash_dense_padded(system->nv), p = (size_t)bilateral_rows,
           c = (size_t)contacts, r = p + c;
    size_t m = (size_t)lash_dense_padded(contact_rows);
    f->n = (int)n, f->p = bilateral_rows;
    f->row_item = lash_alloc(r * sizeof(int)), f->row_of = lash_alloc(r * sizeof(int));
    f->closed = lash_alloc(r * sizeof(int)), f->scale = lash_alloc(n * sizeof(double));
    f->Q = lash_alloc(n * n * sizeof(double)), f->T = lash_alloc(n * n * sizeof(double));
    f->HN = lash_alloc(n * n * sizeof(double)), f->H = lash_alloc(n * n * sizeof(double));
    f->D = lash_alloc((size_t)system->max_G * sizeof(double));
    f->ldk = lash_dense_padded((int)(n + p));
    f->K = lash_alloc((n + p) * (size_t)f->ldk * sizeof(double));
    f->swap = lash_alloc(n * sizeof(int)), f->joint = lash_alloc((p + 1) * sizeof(int));
    f->Y = lash_alloc((n + p) * m * sizeof(double)), f->G_hat = lash_alloc(n * m * sizeof(double));
    f->G_R = lash_alloc(r * n * sizeof(double)), f->HG = lash_alloc(r * n * sizeof(double));
    f->S = lash_alloc(r * r * sizeof(double)), f->Z = lash_alloc(r * n * sizeof(double));
    f->grid = lash_alloc((r * (2 * r + n) + 2 * n * n + (p + 1) * m) * sizeof(double));
    f->A_R = lash_alloc(r * r * sizeof(double));
    f->x = lash_alloc((n + p) * sizeof(double)), f->dd = lash_alloc(n * sizeof(double));
    f->dd_0 = lash_alloc(n * sizeof(double)), f->motion = lash_alloc(n * sizeof(double));
    f->y = lash_alloc((n + r + m) * sizeof(double)), f->gap = lash_alloc(r * sizeof(double));
    f->tau = lash_alloc(r * sizeof(double)), f->gap_new = lash_alloc(r * sizeof(double));
    f->close = lash_alloc(r * sizeof(double));
    f->P_n = lash_alloc(r * sizeof(double)), f->kind = lash_alloc(2 * r + 1);
    f->projection_work = lash_alloc(lash_projection_work_size((int)r));
    return f;
}

void contact_newton_destroy(ContactNewton* f) {
    if (f == NULL) return;
    void* owned[] = {f->row_item, f->row_of, f->closed, f->scale,
                     f->Q,        f->T,      f->HN,     f->H,
                     f->D,        f->K,      f->swap,   f->joint,
                     f->Y,        f->G_hat,  f->G_R,    f->HG,
                     f->S,        f->Z,      f->grid,   f->A_R,
                     f->x,        f->dd,     f->dd_0,   f->motion,
                     f->y,        f->gap,    f->tau,    f->gap_new,
                     f->P_n,      f->close,  f->kind,   f->projection_work};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) lash_free(owned[i]);
    lash_free(f);
}

// --- Dense kernels, by rows

enum { PANEL = 8 };

// y -= a x
static void subtract(int n, double a, const double* x, double* y) {
    lash_dense_subtract_rows(n, 1, &a, 1, x, n, y);
}

// The sum of products in the same order on any machine.
static inline __attribute__((always_inline)) double sum_products(int n, const double* x,
                                                                 const double* y) {
    double sum[8] = {0}, rest = 0;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) sum[k] += x[i + k] * y[i + k];
    for (; i < n; ++i) rest += x[i] * y[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])) + rest;
}

LASH_VECTOR_CLONES static double dot(int n, const double* x, const double* y) {
    return sum_products(n, x, y);
}

// y (rows) = A x, A (rows x n) with leading dimension ld
LASH_VECTOR_CLONES static void multiply(int rows, int n, const double* A, int ld, const double* x,
                                        double* y) {
    for (int i = 0; i < rows; ++i) y[i] = sum_products(n, A + (size_t)i * (size_t)ld, x);
}

// x <- U^-1 L^-1 x for unknowns [0, last), one right side
LASH_VECTOR_CLONES static void substitute_one(int last, const double* A, int ld, double* x) {
    for (int i = 1; i < last; ++i) x[i] -= sum_products(i, A + (size_t)i * (size_t)ld, x);
    for (int i = last - 1; i >= 0; --i) {
        const double* row = A + (size_t)i * (size_t)ld;
        x[i] = (x[i] - sum_products(last - i - 1, row + i + 1, x + i + 1)) / row[i];
    }
}

static void swap_rows(int columns, double* A, int ld, int i, int k) {
    if (i == k) return;
    double *x = A + (size_t)i * (size_t)ld, *y = A + (size_t)k * (size_t)ld;
    for (int j = 0; j < columns; ++j) {
        double keep = x[j];
        x[j] = y[j], y[j] = keep;
    }
}

// LU of the first n columns of A (rows x rows) with exchanges among the first n rows; the rows
// below are eliminated, too. PANEL columns at a time. False: singular.
static bool factor_rows(int n, int rows, double* A, int ld, int* swap) {
    for (int start = 0; start < n; start += PANEL) {
        int end = start + PANEL < n ? start + PANEL : n;
        for (int k = start; k < end; ++k) {
            int best = k;
            for (int i = k + 1; i < n; ++i)
                if (fabs(A[i * ld + k]) > fabs(A[best * ld + k])) best = i;
            swap[k] = best;
            swap_rows(rows, A, ld, k, best);
            const double* pivot = A + k * ld;
            if (!(fabs(pivot[k]) > 1e-14)) return false; // masses are 1
            double inverse = 1 / pivot[k];
            for (int i = k + 1; i < rows; ++i) {
                double* row = A + i * ld;
                double a = row[k] *= inverse;
                for (int j = k + 1; j < end; ++j) row[j] -= a * pivot[j];
            }
        }
        for (int i = start + 1; i < rows; ++i) {
            int count = (i < end ? i : end) - start;
            lash_dense_subtract_rows(ld - end, count, A + i * ld + start, 1, A + start * ld + end,
                                     ld, A + i * ld + end);
        }
    }
    return true;
}

// X (rows x count) <- U^-1 L^-1 X for unknowns [0, last)
static void substitute(int last, const double* A, int ld, int count, double* X, int ldx) {
    for (int i = 1; i < last; ++i)
        lash_dense_subtract_rows(count, i, A + i * ld, 1, X, ldx, X + i * ldx);
    for (int i = last - 1; i >= 0; --i) {
        double *x = X + i * ldx, inverse = 1 / A[i * ld + i];
        lash_dense_subtract_rows(count, last - i - 1, A + i * ld + i + 1, 1, X + (i + 1) * ldx, ldx,
                                 x);
        for (int j = 0; j < count; ++j) x[j] *= inverse;
    }
}

// The joints' system: velocities with row exchanges, then the bilateral rows by what is left of
// their diagonal; those that depend on others are left out.
static bool factor_joints(ContactNewton* f) {
    int n = f->n, N = f->n + f->p, ld = f->ldk;
    double *K = f->K, *start = f->y;
    if (!factor_rows(n, N, K, ld, f->swap)) return false;
    for (int i = 0; i < f->p; ++i) f->joint[i] = i, start[i] = fabs(K[(n + i) * (ld + 1)]);
    f->rank = 0;
    for (int k = n; k < N; ++k) {
        int best = -1;
        double share = DEPENDENT;
        for (int i = k; i < N; ++i) {
            double left = fabs(K[i * (ld + 1)]) / start[f->joint[i - n]];
            if (left > share) best = i, share = left;
        }
        if (best < 0) break;
        swap_rows(N, K, ld, k, best);
        for (int i = 0; i < N && best != k; ++i) {
            double keep = K[i * ld + k];
            K[i * ld + k] = K[i * ld + best], K[i * ld + best] = keep;
        }
        int keep = f->joint[k - n];
        f->joint[k - n] = f->joint[best - n], f->joint[best - n] = keep;
        for (int i = k + 1; i < N; ++i) {
            double a = K[i * ld + k] /= K[k * ld + k];
            subtract(N - k - 1, a, K + k * ld + k + 1, K + i * ld + k + 1);
        }
        ++f->rank;
    }
    return true;
}

// X ((n + p) x count, by rows) <- answers of the joints' system; order: (p x count) scratch
static void solve_joints(const ContactNewton* f, int count, double* X, int ldx, double* order) {
    int n = f->n;
    size_t bytes = (size_t)count * sizeof *X;
    for (int k = 0; k < n; ++k) swap_rows(count, X, ldx, k, f->swap[k]);
    for (int i = 0; i < f->p; ++i) memcpy(order + i * count, X + (n + f->joint[i]) * ldx, bytes);
    for (int i = 0; i < f->p; ++i) memcpy(X + (n + i) * ldx, order + i * count, bytes);
    if (count == 1)
        substitute_one(n + f->rank, f->K, f->ldk, X);
    else
        substitute(n + f->rank, f->K, f->ldk, count, X, ldx);
    for (int i = 0; i < f->p; ++i) memcpy(order + i * count, X + (n + i) * ldx, bytes);
    for (int i = 0; i < f->p; ++i) {
        double* x = X + (n + f->joint[i]) * ldx;
        if (i < f->rank)
            memcpy(x, order + i * count, bytes);
        else
            memset(x, 0, bytes);
    }
}

// S^+ and Z = S^+ R from grid = [S | 1 | R] (e x (2 e + n)), by Gauss-Jordan with the largest
// diagonal entry first; rows that depend on others become zero.
static void invert_closed(ContactNewton* f, int e, int n) {
    int columns = 2 * e + n;
    double *A = f->grid, *start = f->y;
    uint8_t* done = f->kind;
    for (int i = 0; i < e; ++i) start[i] = A[i * columns + i], done[i] = 0;
    for (int step = 0; step < e; ++step) {
        int k = -1;
        double share = DEPENDENT;
        for (int i = 0; i < e; ++i) {
            double left = done[i] ? 0 : A[i * columns + i] / start[i];
            if (left > share) k = i, share = left;
        }
        if (k < 0) break;
        double *row = A + (size_t)k * (size_t)columns, inverse = 1 / row[k];
        for (int j = 0; j < columns; ++j) row[j] *= inverse;
        for (int i = 0; i < e; ++i) {
            double* other = A + (size_t)i * (size_t)columns;
            if (i != k && other[k] != 0) subtract(columns, other[k], row, other);
        }
        done[k] = 1;
    }
    for (int i = 0; i < e; ++i) {
        const double* row = A + (size_t)i * (size_t)columns + e;
        for (int j = 0; j < e; ++j) f->S[i * e + j] = done[i] ? row[j] : 0;
        for (int j = 0; j < n; ++j) f->Z[i * n + j] = done[i] ? row[e + j] : 0;
    }
}

// --- Parts of the operator

// Adds a block matrix of the pattern, scaled, to A (n x n).
static void add_pattern(const LashSystem* system, const double* scale, double weight,
                        const double* values, int columns, double* A) {
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int rows = lash_block_size(system, pattern->row[b]);
        int r0 = system->block_start[pattern->row[b]], c0 = system->block_start[pattern->column[b]];
        const double* block = values + pattern->offset[b];
        for (int j = 0; j < lash_block_size(system, pattern->column[b]); ++j) {
            double by = weight * scale[c0 + j];
            for (int i = 0; i < rows; ++i)
                A[(r0 + i) * columns + c0 + j] += by * scale[r0 + i] * block[i + rows * j];
        }
    }
}

// A += M, and 1 for the idle velocities
static void add_masses(const LashSim* sim, const ContactNewton* f, int columns, double* A) {
    add_pattern(sim->system, f->scale, 1, sim->M_values, columns, A);
    for (int i = sim->system->nv; i < f->n; ++i) A[i * columns + i] = 1;
}

// A (n x n) -= weight d(G P)/dq of interaction i at (t, q)
static void subtract_turning(LashSim* sim, const StepContext* s, int i, double t, const double* q,
                             const double* P, double weight, double* A) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &s->list->item[i];
    const double* scale = sim->contact_newton->scale;
    int n = 0, index[RESPONSE_LIMIT], size = sim->contact_newton->n;
    for (int b = 0; b < item->touched; ++b) {
        int start = system->block_start[item->block[b]];
        for (int j = 0; j < lash_block_size(system, item->block[b]); ++j) index[n++] = start + j;
    }
    system->contract(system, sim->work, t, q, i, P, s->v, sim->contraction, NULL);
    for (int c = 0; c < n; ++c) {
        double by = weight * scale[index[c]];
        for (int r = 0; r < n; ++r)
            A[index[r] * size + index[c]] -= by * scale[index[r]] * sim->contraction[r + n * c];
    }
}

// D of interaction i, packed like G.
static void pack_row_derivatives(LashSim* sim, const StepContext* s, int i) {
    const LashSystem* system = sim->system;
    const LashInteraction* item = &s->list->item[i];
    double* D = sim->contact_newton->D + item->offset;
    const double* from = sim->contraction;
    system->contract(system, sim->work, s->t0 + s->h, s->q_end, i, s->P + item->row, s->v, NULL,
                     sim->contraction);
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        for (int r = 0; r < item->rows; ++r) {
            for (int k = 0; k < n; ++k) *D++ = from[r + item->rows * k];
        }
        from += item->rows * n;
    }
}

// x (n) += row r of packed directions, scaled
static void scatter(const LashSystem* system, const LashInteraction* item, const double* G, int r,
                    const double* scale, double* x, int stride) {
    const double* column = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]),
            start = system->block_start[item->block[b]];
        for (int k = 0; k < n; ++k) x[(start + k) * stride] += scale[start + k] * column[n * r + k];
        column += n * item->rows;
    }
}

// x (n) = row r of G + D T
static void scatter_hat(const LashSim* sim, const StepContext* s, const LashInteraction* item,
                        int r, double* x) {
    const LashSystem* system = sim->system;
    const ContactNewton* f = sim->contact_newton;
    memset(x, 0, (size_t)f->n * sizeof *x);
    scatter(system, item, s->G, r, f->scale, x, 1);
    const double* column = f->D + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]),
            start = system->block_start[item->block[b]];
        double a[RESPONSE_LIMIT];
        for (int k = 0; k < n; ++k) a[k] = -f->scale[start + k] * column[n * r + k];
        lash_dense_subtract_rows(f->n, n, a, 1, f->T + start * f->n, f->n, x);
        column += n * item->rows;
    }
}

// Position rows: the bilateral ones, then the contacts' normals; E among them.
static void list_positions(const StepContext* s, ContactNewton* f) {
    f->nr = f->ne = 0;
    if (!f->project) return;
    double largest = 0;
    for (int c = 0; c < s->nc; ++c) largest = fmax(largest, s->P[s->list->item[s->contact[c]].row]);
    for (int i = 0; i < s->list->bilateral; ++i) {
        const LashInteraction* item = &s->list->item[i];
        for (int r = 0; r < item->rows && item->kind == LASH_BILATERAL; ++r) {
            f->row_item[f->nr] = i, f->row_of[f->nr] = r;
            f->closed[f->ne++] = f->nr++;
        }
    }
    for (int k = 0; k < s->nn; ++k) {
        int i = s->normal[k];
        const LashInteraction* item = &s->list->item[i];
        bool pushed = s->active[i] && s->P[item->row] > PUSHES * largest &&
                      s->position[i] == POSITION_CLOSED_IF_PUSHED;
        f->row_item[f->nr] = i, f->row_of[f->nr] = 0;
        if (!is_empty(s, item) && (pushed || s->tau[item->row] > 0 || s->g[item->row] <= 0))
            f->closed[f->ne++] = f->nr;
        ++f->nr;
    }
}

// H and H N^-1 where the directions of tau turn noticeably with the shift; H = N otherwise.
static bool factor_metric(LashSim* sim, const StepContext* s, ContactNewton* f) {
    int n = f->n;
    double *C = f->H, largest = 0;
    f->curved = false;
    if (!f->project) return true;
    for (int i = 0; i < sim->system->nv; ++i) largest = fmax(largest, fabs(s->shift[i]));
    if (largest < SMALL_SHIFT) return true;
    largest = 0;
    memset(C, 0, (size_t)n * (size_t)n * sizeof *C);
    for (int r = 0; r < f->nr;) {
        const LashInteraction* item = &s->list->item[f->row_item[r]];
        double tau[LASH_MAX_ROWS] = {0}, sum = 0;
        int count = item->kind == LASH_BILATERAL ? item->rows : 1;
        for (int k = 0; k < count; ++k) tau[k] = s->tau[item->row + k], sum += fabs(tau[k]);
        if (sum > 0 && (sim->robust || item->kind != LASH_BILATERAL))
            subtract_turning(sim, s, f->row_item[r], s->t0 + s->h, s->q_end, tau, 1, C);
        r += count;
    }
    for (int i = 0; i < n * n; ++i) largest = fmax(largest, fabs(C[i]));
    if (largest < CURVED) return true;
    f->curved = true;
    // C holds -C(tau): H = (N^-1 + C)^-1, H N^-1 = 1 - H C.
    double *A = f->grid, *X = f->grid + n * n; // (n x n) each
    memcpy(A, C, (size_t)n * (size_t)n * sizeof *A);
    memset(X, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n; ++i) X[i * n + i] = 1;
    if (sim->system->unit_metric)
        for (int i = 0; i < n; ++i) A[i * n + i] += 1;
    else
        add_masses(sim, f, n, A);
    if (!factor_rows(n, n, A, n, f->swap)) return false;
    for (int k = 0; k < n; ++k) swap_rows(n, X, n, k, f->swap[k]);
    substitute(n, A, n, n, X, n);
    memset(f->HN, 0, (size_t)n * (size_t)n * sizeof *f->HN);
    for (int i = 0; i < n; ++i) {
        f->HN[i * n + i] = 1;
        lash_dense_subtract_rows(n, n, X + i * n, 1, C, n, f->HN + i * n);
    }
    memcpy(f->H, X, (size_t)n * (size_t)n * sizeof *X);
    return true;
}

// x (n) <- H x, scaled
static void apply_metric(const LashSim* sim, ContactNewton* f, double* x) {
    int n = f->n;
    if (f->curved) {
        memcpy(f->y, x, (size_t)n * sizeof *x);
        multiply(n, n, f->H, n, f->y, x);
        return;
    }
    if (sim->system->unit_metric) return;
    for (int i = 0; i < sim->system->nv; ++i) x[i] /= f->scale[i];
    lash_block_lu_solve(sim->M, x);
    for (int i = 0; i < sim->system->nv; ++i) x[i] /= f->scale[i];
}

// dd = T dv + dd_0 with E closed.
static bool eliminate_positions(LashSim* sim, const StepContext* s, ContactNewton* f) {
    int n = f->n, e, columns;
    double w = s->h * s->move_theta;
    list_positions(s, f);
    if (!factor_metric(sim, s, f)) return false;
    for (int r = 0; r < f->nr; ++r) {
        double *G = f->G_R + r * n, *HG = f->HG + r * n;
        memset(G, 0, (size_t)n * sizeof *G);
        scatter(sim->system, &s->list->item[f->row_item[r]], s->G, f->row_of[r], f->scale, G, 1);
        memcpy(HG, G, (size_t)n * sizeof *G);
        apply_metric(sim, f, HG);
    }
    e = f->ne, columns = 2 * e + n;
    for (int i = 0; i < e; ++i) {
        const double* G = f->G_R + f->closed[i] * n;
        double* row = f->grid + (size_t)i * (size_t)columns;
        for (int j = 0; j < e; ++j) row[j] = dot(n, G, f->HG + f->closed[j] * n);
        for (int j = 0; j < e; ++j) row[e + j] = i == j;
        if (f->curved) {
            memset(row + 2 * e, 0, (size_t)n * sizeof *row);
            lash_dense_subtract_rows(n, n, G, 1, f->HN, n, row + 2 * e);
            for (int k = 0; k < n; ++k) row[2 * e + k] = -row[2 * e + k];
        } else {
            memcpy(row + 2 * e, G, (size_t)n * sizeof *row);
        }
    }
    invert_closed(f, e, n);
    memset(f->T, 0, (size_t)n * (size_t)n * sizeof *f->T);
    for (int i = 0; i < n; ++i) {
        double* T = f->T + i * n;
        if (f->curved)
            memcpy(T, f->HN + i * n, (size_t)n * sizeof *T);
        else
            T[i] = 1;
        for (int j = 0; j < e; ++j) f->y[j] = f->HG[f->closed[j] * n + i];
        lash_dense_subtract_rows(n, e, f->y, 1, f->Z, n, T);
        for (int k = 0; k < n; ++k) T[k] *= w;
    }
    return true;
}

// K = [M + h theta C + Q T, -G*; G^', 0], factored.
static bool factor_dynamics(LashSim* sim, StepContext* s, ContactNewton* f) {
    const LashSystem* system = sim->system;
    int n = f->n, N = n + f->p, ld = f->ldk;
    bool end = sim->settings.direction == LASH_AT_END;
    double t = s->t0 + (end ? 1 : s->theta) * s->h;
    memset(f->Q, 0, (size_t)n * (size_t)n * sizeof *f->Q);
    add_pattern(system, f->scale, s->theta * s->h, sim->K_values, n, f->Q);
    memset(f->D, 0, (size_t)s->list->G_size * sizeof *f->D);
    // Directions of joints turn with the bodies, slowly.
    int first = sim->robust ? 0 : s->list->bilateral, last = f->plain ? 0 : s->list->count;
    for (int i = first; i < last; ++i) {
        if (!s->active[i]) continue;
        subtract_turning(sim, s, i, t, end ? s->q_end : s->q_theta, s->P + s->list->item[i].row,
                         end ? 1 : s->theta, f->Q);
    }
    for (int i = first; i < last; ++i)
        if (s->active[i]) pack_row_derivatives(sim, s, i);
    memset(f->K, 0, (size_t)N * (size_t)ld * sizeof *f->K);
    add_masses(sim, f, ld, f->K);
    add_pattern(system, f->scale, s->theta * s->h, sim->C_values, ld, f->K);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) f->y[k] = -f->Q[i * n + k];
        lash_dense_subtract_rows(n, n, f->y, 1, f->T, n, f->K + i * ld);
    }
    for (int i = 0; i < s->list->bilateral; ++i) {
        const LashInteraction* item = &s->list->item[i];
        for (int r = 0; r < item->rows; ++r) {
            scatter_hat(sim, s, item, r, f->K + (n + item->row + r) * ld);
            scatter(system, item, s->G_star, r, f->scale, f->K + n + item->row + r, ld);
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = n; j < N; ++j) f->K[i * ld + j] = -f->K[i * ld + j];
    return factor_joints(f);
}

// Answers Y to the contacts' impulses, rows G_hat, and W = G_hat' Y (m x m, by columns).
static void answer_contacts(LashSim* sim, StepContext* s, ContactNewton* f) {
    int n = f->n, N = n + f->p, m = f->m = s->m, ld = f->ld = lash_dense_padded(m);
    memset(f->Y, 0, (size_t)N * (size_t)ld * sizeof *f->Y);
    memset(f->G_hat, 0, (size_t)n * (size_t)ld * sizeof *f->G_hat);
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            int column = s->first[c] + r;
            scatter_hat(sim, s, item, r, f->x);
            for (int k = 0; k < n; ++k) f->G_hat[k * ld + column] = -f->x[k];
            scatter(sim->system, item, s->G_star, r, f->scale, f->Y + column, ld);
        }
    }
    solve_joints(f, ld, f->Y, ld, f->grid);
    s->ldw = ld;
    memset(s->W, 0, (size_t)ld * (size_t)m * sizeof *s->W);
    for (int j = 0; j < m; ++j)
        lash_dense_subtract_rows(ld, n, f->Y + j, ld, f->G_hat, ld, s->W + j * ld);
}

// Everything an operator depends on beside the positions.
static uint64_t operator_key(const LashSim* sim, const StepContext* s, bool project) {
    uint64_t key = sim->list_key ^ (project ? 1 : 0);
    for (int i = s->list->bilateral; i < s->list->count; ++i)
        key = (key ^ (uint64_t)(s->active[i] + 2 * s->position[i])) * 0x100000001b3u; // FNV
    for (int c = 0; c < s->nc; ++c)
        if (is_empty(s, &s->list->item[s->contact[c]])) key ^= s->list->item[s->contact[c]].id;
    return key;
}

bool contact_newton_fits(const LashSim* sim, const StepContext* s, bool project) {
    const ContactNewton* f = sim->contact_newton;
    return f->valid && f->h == s->h && f->key == operator_key(sim, s, project);
}

void contact_newton_forget(LashSim* sim) {
    if (sim->contact_newton != NULL) sim->contact_newton->valid = false;
}

bool contact_newton_is_plain(const LashSim* sim) {
    return sim->contact_newton->plain;
}

bool contact_newton_masses(LashSim* sim, const StepContext* s) {
    const LashSystem* system = sim->system;
    ContactNewton* f = sim->contact_newton;
    system->mass(system, sim->work, s->q_theta, sim->M_values);
    for (int b = 0; b < system->blocks; ++b) {
        int n = lash_block_size(system, b);
        const double* M = sim->M_values + system->pattern.offset[b];
        for (int k = 0; k < n; ++k)
            f->scale[system->block_start[b] + k] =
                system->unit_metric ? 1 : 1 / sqrt(M[(size_t)k * (size_t)(n + 1)]);
    }
    for (int i = system->nv; i < f->n; ++i) f->scale[i] = 1;
    return lash_block_lu_factor(sim->M, sim->M_values);
}

bool contact_newton_factor(LashSim* sim, StepContext* s, bool project, bool plain) {
    const LashSystem* system = sim->system;
    ContactNewton* f = sim->contact_newton;
    double t_theta = s->t0 + s->theta * s->h;
    f->valid = false, f->project = project, f->plain = plain;
    if (!system->constant_mass && !contact_newton_masses(sim, s)) return false;
    system->tangents(system, sim->work, t_theta, s->q_theta, s->v_theta, sim->C_values,
                     sim->K_values);
    if (!system->constant_mass) {
        for (int i = 0; i < system->nv; ++i) sim->x[i] = s->v[i] - sim->v[i];
        system->mass_tangent(system, sim->work, s->q_theta, sim->x, 1 / s->h, sim->K_values);
    }
    if (!eliminate_positions(sim, s, f)) return false;
    if (!factor_dynamics(sim, s, f)) return false;
    answer_contacts(sim, s, f);
    f->valid = true, f->h = s->h, f->key = operator_key(sim, s, project);
    return true;
}

// --- Correction

// m = G tau - N^-1 shift, not scaled
static void motion_residual(LashSim* sim, const StepContext* s, double* m) {
    int nv = sim->system->nv;
    if (sim->system->unit_metric)
        memcpy(m, s->shift, (size_t)nv * sizeof *m);
    else
        lash_block_multiply(sim->system, sim->M_values, s->shift, m);
    for (int i = 0; i < nv; ++i) m[i] = -m[i];
    projection_force(sim, s, m);
}

double contact_newton_motion_error(LashSim* sim, const StepContext* s) {
    double *m = sim->x, error = 0;
    motion_residual(sim, s, m);
    if (!sim->system->unit_metric) lash_block_lu_solve(sim->M, m);
    for (int i = 0; i < sim->system->nv; ++i) error = fmax(error, fabs(m[i]));
    return error;
}

// dd_0: what closes E without any change of v. motion becomes H m.
static void close_positions(LashSim* sim, const StepContext* s, ContactNewton* f) {
    int n = f->n, e = f->ne;
    memset(f->dd_0, 0, (size_t)n * sizeof *f->dd_0);
    if (!f->project) return;
    motion_residual(sim, s, f->motion);
    for (int i = 0; i < sim->system->nv; ++i) f->motion[i] *= f->scale[i];
    for (int i = sim->system->nv; i < n; ++i) f->motion[i] = 0;
    apply_metric(sim, f, f->motion);
    memcpy(f->dd_0, f->motion, (size_t)n * sizeof *f->dd_0);
    for (int i = 0; i < e; ++i) {
        int r = f->closed[i];
        f->gap[i] = s->g[s->list->item[f->row_item[r]].row + f->row_of[r]] +
                    dot(n, f->G_R + r * n, f->motion);
    }
    multiply(e, e, f->S, e, f->gap, f->close);
    for (int i = 0, last; i < e; i = last) { // runs of neighbouring rows
        for (last = i + 1; last < e && f->closed[last] == f->closed[i] + (last - i);) ++last;
        lash_dense_subtract_rows(n, last - i, f->close + i, 1, f->HG + f->closed[i] * n, n,
                                 f->dd_0);
    }
}

// U of an interaction's rows after the displacement dd (scaled): D dd
static void turned_rows(const LashSim* sim, const LashInteraction* item, const double* dd,
                        double* U) {
    lash_row_velocity(sim->system, item, sim->contact_newton->D, dd, U);
}

// Friction problem of the contacts: b, and P_c to start from. x: correction without them, scaled.
static void pose_contacts(LashSim* sim, StepContext* s, const ContactNewton* f, const double* dd) {
    int n = f->n, m = f->m;
    for (int j = 0; j < f->ld; ++j) s->b[j] = 0;
    lash_dense_subtract_rows(f->ld, n, f->x, 1, f->G_hat, f->ld, s->b);
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        double *b = s->b + s->first[c], shift[LASH_MAX_ROWS], turned[LASH_MAX_ROWS];
        law_shift(sim, s, s->contact[c], shift);
        turned_rows(sim, item, dd, turned);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += s->U[item->row + r] + shift[r] + turned[r];
            s->P_c[s->first[c] + r] = s->P[item->row + r];
        }
    }
    lash_dense_subtract_rows(f->ld, m, s->P_c, 1, s->W, s->ldw, s->b);
    part_empty_slots(s, s->W, s->ldw, s->b);
    double norm = 0;
    for (int i = 0; i < m; ++i) norm += s->b[i] * s->b[i];
    s->b_norm = sqrt(norm);
}

// x (n + p, scaled) = change of v and of the joints' impulses; P of the contacts is completed.
static bool correct_velocities(LashSim* sim, StepContext* s, ContactNewton* f) {
    int n = f->n, N = n + f->p, m = f->m;
    double *x = f->x, *dd = f->dd; // dd_0, not scaled
    for (int i = 0; i < n; ++i) dd[i] = f->scale[i] * f->dd_0[i];
    multiply(n, n, f->Q, n, f->dd_0, f->y);
    for (int i = 0; i < n; ++i) x[i] = i < sim->system->nv ? -f->scale[i] * s->r[i] - f->y[i] : 0;
    for (int i = 0; i < s->list->bilateral; ++i) {
        const LashInteraction* item = &s->list->item[i];
        double turned[LASH_MAX_ROWS];
        turned_rows(sim, item, dd, turned);
        for (int r = 0; r < item->rows; ++r)
            x[n + item->row + r] = -s->U[item->row + r] - turned[r];
    }
    solve_joints(f, 1, x, 1, f->y);
    if (s->nc > 0) {
        pose_contacts(sim, s, f, dd);
        if (!contacts_solve_coupled(sim, s, f->plain)) return false;
        for (int c = 0; c < s->nc; ++c) {
            const LashInteraction* item = &s->list->item[s->contact[c]];
            for (int r = 0; r < item->rows; ++r) {
                int j = s->first[c] + r;
                double dP = s->P_c[j] - s->P[item->row + r];
                s->P[item->row + r] = s->P_c[j];
                s->P_c[j] = dP;
            }
        }
        multiply(N, m, f->Y, f->ld, s->P_c, f->y);
        for (int i = 0; i < N; ++i) x[i] += f->y[i];
    }
    for (int i = 0; i < f->p; ++i) s->P[i] += x[n + i];
    return true;
}

// Kinds of the position rows for the impulses found.
static void decide_positions(StepContext* s) {
    double largest = 0;
    for (int c = 0; c < s->nc; ++c) largest = fmax(largest, s->P[s->list->item[s->contact[c]].row]);
    for (int k = 0; k < s->nn; ++k) {
        int i = s->normal[k];
        const LashInteraction* item = &s->list->item[i];
        bool pushed = s->active[i] && s->P[item->row] > PUSHES * largest && !is_empty(s, item) &&
                      s->position[i] == POSITION_CLOSED_IF_PUSHED;
        s->kind_n[k] = pushed ? LASH_PROJECT_EQUALITY : LASH_PROJECT_INEQUALITY;
    }
}

static double* tau_of(StepContext* s, const ContactNewton* f, int r) {
    return s->tau + s->list->item[f->row_item[r]].row + f->row_of[r];
}

// Takes E for granted: dd = T dv + dd_0 and its multipliers. False when the result contradicts it.
static bool close_guessed(StepContext* s, ContactNewton* f, double tolerance) {
    int n = f->n, e = f->ne, contacts = f->nr - s->nn;
    double w = s->h * s->move_theta;
    multiply(n, n, f->T, n, f->x, f->dd);
    for (int i = 0; i < n; ++i) f->dd[i] += f->dd_0[i];
    memset(f->tau, 0, (size_t)f->nr * sizeof *f->tau); // change of tau
    multiply(e, n, f->Z, n, f->x, f->y);
    for (int i = 0; i < e; ++i) f->tau[f->closed[i]] = -f->close[i] - w * f->y[i];
    multiply(f->nr, n, f->G_R, n, f->dd, f->gap_new);
    for (int r = 0, k = 0; r < f->nr; ++r) {
        const LashInteraction* item = &s->list->item[f->row_item[r]];
        double gap = s->g[item->row + f->row_of[r]];
        bool contact = r >= contacts, in_E = k < e && f->closed[k] == r;
        k += in_E;
        if (contact && is_empty(s, item)) {
            if (*tau_of(s, f, r) != 0) return false;
            continue;
        }
        gap += f->gap_new[r];
        double tau = *tau_of(s, f, r) + f->tau[r];
        bool equality = !contact || s->kind_n[r - contacts] == LASH_PROJECT_EQUALITY;
        if (gap < -tolerance || ((equality || in_E) && gap > tolerance)) return false;
        if (!equality && (tau < 0 || (!in_E && tau != 0))) return false;
    }
    return true;
}

// The positions as a complementarity problem at the velocities found.
static bool close_searched(StepContext* s, ContactNewton* f, double tolerance) {
    int n = f->n, nr = f->nr, contacts = nr - s->nn;
    double w = s->h * s->move_theta;
    for (int i = 0; i < n; ++i)
        f->dd[i] = f->motion[i] + w * (f->curved ? dot(n, f->HN + i * n, f->x) : f->x[i]);
    for (int r = 0; r < nr; ++r) {
        const LashInteraction* item = &s->list->item[f->row_item[r]];
        bool empty = r >= contacts && is_empty(s, item);
        f->kind[r] = r < contacts ? LASH_PROJECT_BILATERAL : s->kind_n[r - contacts];
        f->P_n[r] = s->P[item->row];
        f->gap[r] =
            empty ? FAR : fmin(FAR, s->g[item->row + f->row_of[r]] + dot(n, f->G_R + r * n, f->dd));
        f->tau[r] = empty ? 0 : *tau_of(s, f, r);
        for (int q = 0; q < nr; ++q) f->A_R[r * nr + q] = dot(n, f->HG + r * n, f->G_R + q * n);
        if (!(f->A_R[r * nr + r] > 0)) f->A_R[r * nr + r] = 1; // an empty slot
    }
    for (int r = 0; r < nr; ++r)
        for (int q = 0; q < nr; ++q) f->gap[q] -= f->A_R[r * nr + q] * f->tau[r];
    if (!all_finite(f->gap, nr) || !diagonal_finite(f->A_R, nr, nr)) return false;
    LashProjectionProblem problem = {.m = nr,
                                     .A = f->A_R,
                                     .lda = nr,
                                     .g = f->gap,
                                     .kind = f->kind,
                                     .P_n = f->P_n,
                                     .tolerance = tolerance,
                                     .max_iterations = SEARCH_ITERATIONS};
    uint8_t* final = f->kind + nr;
    LashProjectionInfo info =
        lash_projection_solve(&problem, f->tau, f->gap_new, final, f->projection_work);
    if (info.outcome == LASH_FAILED) return false;
    s->demoted = info.demoted;
    if (s->nn > 0) memcpy(s->kind_n, final + contacts, (size_t)s->nn);
    for (int r = 0; r < nr; ++r) {
        f->tau[r] -= *tau_of(s, f, r);
        if (f->tau[r] != 0) subtract(n, -f->tau[r], f->HG + r * n, f->dd);
    }
    return true;
}

bool contact_newton_correct(LashSim* sim, StepContext* s, bool project) {
    ContactNewton* f = sim->contact_newton;
    int nv = sim->system->nv;
    double w = s->h * s->move_theta;
    double tolerance = 0.001 * s->goal * sim->settings.tolerance_position;
    close_positions(sim, s, f);
    if (!correct_velocities(sim, s, f)) return false;
    if (project) {
        decide_positions(s);
        if (!close_guessed(s, f, tolerance)) {
            if (!close_searched(s, f, 0.2 * tolerance)) return false;
        }
        for (int r = 0; r < f->nr; ++r) *tau_of(s, f, r) += f->tau[r];
        for (int i = 0; i < nv; ++i) s->shift[i] += f->scale[i] * (f->dd[i] - w * f->x[i]);
        ++sim->info.projection;
    }
    for (int i = 0; i < nv; ++i) s->v[i] += f->scale[i] * f->x[i];
    return true;
}

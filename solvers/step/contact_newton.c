// The Newton correction of a step with contacts, all derivatives in it, velocities and positions
// coupled: for plays so small that a part moves by a good share of them within a step.
//
// Unknowns are the changes of v, of the increment d, of P and of tau; w = h theta of the motion,
// C(x) = d(G x)/dq, D = d(G'v + dg/dt)/dq; masses are one (motions.h):
//
//     dynamics    dv + h theta C dv + Q dd - G* dP = -r,      Q = theta (h K - C*(P))
//     motion      (1 - C(tau)) dd = w dv + G dtau + m,        m = G tau - shift
//     velocities  U+ = U + G'dv + D dd:   0 for joints, the law of impact and friction for contacts
//     positions   g+ = g + G'dd:          0 for joints and closed contacts E, >= 0 for the others
//
// A normal that turns by v h / play within a step couples the two levels: left out, the iteration
// contracts by that factor only. Joints are eliminated by the motions V that they leave (their own
// turning is slow, and left to the iteration), closed positions by the motions N that those leave:
//
//     dv = V a - Y U,   dd = V z - Y g,   z = z_c + N y,   z_c closes E
//
// Only the few motions y turn any direction, so that all the rest is a correction of low rank:
//
//     y = Theta (w N'x + eta),   a = x - S y,     x = V*'(G* dP - r - h theta C dv_p - Q dd_c)
//     S = V*'(Q + h theta/w C) V N,   eta = N'(m + C(tau) dd_c)
//     Theta = (1 - N'C(tau)N + w N'S)^-1
//     W = G'G* + w (D N - G'S) Theta N'G*            (G, G*, D, m, C(tau): in the motions)
//
// Far from the solution derivatives mislead: a plain operator is without those of directions, a
// bare one, where forces are soft, without those of forces too: S = 0, Theta = 1.
// E is guessed from the iterate; where the answer disagrees the positions are solved as the
// complementarity problem they are, and the next operator knows. The operator is kept while it
// contracts: residuals are always fresh.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/joints/motions.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/orthogonal.h"
#include "solvers/step/rows.h"
#include "solvers/step/sim_internal.h"

static const double FAR = 1e6;          // [m] an empty contact slot has an infinite gap
static const double PUSHES = 1e-12;     // P_N > 0 means above this share of the largest impulse
static const double DEPENDENT = 1e-11;  // of a row's squared length: what rounding leaves
static const double SMALL_SHIFT = 1e-9; // C(tau) counts once the projection moves by this [m, rad]
enum { SEARCH_ITERATIONS = 100 };       // of a position problem: the next correction goes on
enum { BODY = 6 };                      // velocities of a block, mostly

struct ContactNewton {
    Motions* motions;
    int n, ldn, p; // velocities; padded; bilateral rows
    // What the operator was made for.
    bool valid, project;
    bool plain;   // without the derivatives of directions
    bool bare;    // and of forces: S = 0, Theta = 1
    double h, t0; // step: length, start [s]
    uint64_t key;
    uint64_t number;            // of operators made so far
    double motions_t0;          // step of the joints' motions
    int m, ld;                  // rows of contacts; padded
    int k, ldk;                 // motions that joints leave; padded
    int ne, rank;               // closed contacts E; independent ones
    int l, ldl;                 // motions that E leaves, k - rank; padded
    int *closed, *order, *swap; // (contacts) E: positions in s->normal; order of its rows
    double* G_n;                // (contacts x ldk) normals in the motions
    double* E;                  // (contacts x ldk) those of E, factored
    double* B;                  // (k x ldk) basis by rows: normals of E, then N
    double* N;                  // (k x ldl) N by columns
    bool curved;                // C(tau) counts
    double *C_tau, *Q;          // (ldn x n) by columns
    bool* filled;               // (blocks x blocks) of C(tau), Q and C that are not zero
    double* D;                  // packed like G
    double* Theta;              // (l x ldl)
    double* S;                  // (k x ldl)
    double *N_v, *Q_N;          // (n x ldl) scratch: V N, forces by it
    double *Z, *X_0, *X;        // (k x ld), (l x ld) scratch of W
    double* rows;               // (rows of a contact x ldk) scratch
    bool soft;                  // forces change little within a step
    bool loads;                 // some joints have friction
    bool holds;                 // joints hold the parts along some row of the contacts
    double* answer;             // (m x p) impulses of the joints for unit ones of the contacts
    double* grid;               // scratch
    double *a, *z, *x, *y;      // (k) changes of the motions; x and y of the equations above
    double *mu, *eta, *z_c;     // (k) m in the motions
    double *dv, *dd, *dv_p, *dd_p, *force;   // (n)
    double *motion, *off;                    // (n) m, M^-1 m of the iterate
    double *e, *t;                           // (p), (n + m) scratch
    double *gap, *tau, *gap_new, *P_n, *A_n; // position problem of the contacts
    uint8_t* kind;
    void* projection_work;
    double* memory; // of all of them
};

ContactNewton* contact_newton_create(const LashSystem* system, const LashInteractionList* list,
                                     const double* M, int contacts, int contact_rows) {
    if (!system->constant_mass || system->linear_motion || system->unit_metric) return NULL;
    Motions* motions = motions_create(system, list, M);
    if (motions == NULL) return NULL;
    ContactNewton* f = lash_alloc(sizeof *f);
    f->motions_t0 = -INFINITY;
    f->motions = motions;
    f->n = system->nv;
    f->ldn = lash_dense_padded(f->n);
    f->p = list->bilateral_rows;
    size_t n = (size_t)lash_dense_padded(system->nv), c = (size_t)contacts + 1;
    size_t m = (size_t)lash_dense_padded(contact_rows), p = (size_t)f->p + 1;
    struct {
        double** at;
        size_t count;
    } wanted[] = {{&f->G_n, c * n},
                  {&f->E, c * n},
                  {&f->B, n * n},
                  {&f->N, n * n},
                  {&f->C_tau, n * n},
                  {&f->Q, n * n},
                  {&f->D, (size_t)system->max_G + 1},
                  {&f->Theta, n * n},
                  {&f->S, n * n},
                  {&f->N_v, n * n},
                  {&f->Q_N, n * n},
                  {&f->Z, n * m + 1},
                  {&f->rows, n * LASH_MAX_ROWS},
                  {&f->X, n * m + 1},
                  {&f->X_0, n * m + 1},
                  {&f->grid, n * (2 * n + 2) + 3 * c},
                  {&f->answer, m * p},
                  {&f->a, n},
                  {&f->z, n},
                  {&f->x, n},
                  {&f->y, n},
                  {&f->mu, n},
                  {&f->eta, n},
                  {&f->z_c, n},
                  {&f->dv, n},
                  {&f->dd, n},
                  {&f->dv_p, n},
                  {&f->dd_p, n},
                  {&f->force, n},
                  {&f->motion, n},
                  {&f->off, n},
                  {&f->e, p + c},
                  {&f->t, n + m + c},
                  {&f->gap, c},
                  {&f->tau, c},
                  {&f->gap_new, c},
                  {&f->P_n, c},
                  {&f->A_n, c * c}};
    size_t total = 0;
    enum { BUFFERS = sizeof wanted / sizeof wanted[0] };
    for (int i = 0; i < BUFFERS; ++i) total += (wanted[i].count + 7) / 8 * 8;
    f->memory = lash_alloc((total + 8) * sizeof(double));
    double* at = lash_dense_aligned(f->memory);
    for (int i = 0; i < BUFFERS; at += (wanted[i].count + 7) / 8 * 8, ++i) *wanted[i].at = at;
    f->closed = lash_alloc(c * sizeof(int));
    f->order = lash_alloc(c * sizeof(int));
    f->swap = lash_alloc(n * sizeof(int));
    f->filled = lash_alloc((size_t)(system->blocks * system->blocks) * sizeof(bool));
    f->kind = lash_alloc(2 * c);
    f->projection_work = lash_alloc(lash_projection_work_size((int)c));
    return f;
}

void contact_newton_destroy(ContactNewton* f) {
    if (f == NULL) return;
    motions_destroy(f->motions);
    void* owned[] = {f->closed, f->order,           f->swap,  f->filled,
                     f->kind,   f->projection_work, f->memory};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) lash_free(owned[i]);
    lash_free(f);
}

// --- Small kernels

static double dot(int n, const double* x, const double* y) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// y (rows) += sign A x, A (rows x n) by rows; work (rows)
static void add_product(int rows, int n, double sign, const double* A, int ld, const double* x,
                        double* work, double* y) {
    lash_dense_multiply_rows(rows, n, A, ld, x, work);
    for (int i = 0; i < rows; ++i) y[i] += sign * work[i];
}

// y (ld) = A'x, A (rows x ld)
static void multiply_transposed(int rows, const double* A, int ld, const double* x, double* y) {
    lash_dense_sum_rows(ld, rows, x, 1, A, ld, y);
}

// A (n x ld, zero from n to ld) <- its inverse, by Gauss and Jordan in place with row exchanges;
// column (n) scratch. False: singular.
static bool invert(int n, double* A, int ld, int* swap, double* column) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[i * ld + k]) > fabs(A[best * ld + k])) best = i;
        double *pivot = A + k * ld, *other = A + best * ld;
        swap[k] = best;
        for (int j = 0; best != k && j < ld; ++j) {
            double keep = pivot[j];
            pivot[j] = other[j];
            other[j] = keep;
        }
        if (!(fabs(pivot[k]) > 1e-14)) return false; // masses are 1
        double inverse = 1 / pivot[k];
        for (int i = 0; i < n; ++i) {
            column[i] = A[i * ld + k];
            A[i * ld + k] = 0;
        }
        pivot[k] = 1;
        for (int j = 0; j < ld; ++j) pivot[j] *= inverse;
        lash_dense_multiply_blocks(k, ld, 1, -1, column, 1, 1, pivot, ld, true, A, ld);
        lash_dense_multiply_blocks(n - k - 1, ld, 1, -1, column + k + 1, 1, 1, pivot, ld, true,
                                   pivot + ld, ld);
    }
    for (int k = n - 1; k >= 0; --k) { // columns back
        for (int i = 0; i < n && swap[k] != k; ++i) {
            double keep = A[i * ld + k];
            A[i * ld + k] = A[i * ld + swap[k]];
            A[i * ld + swap[k]] = keep;
        }
    }
    return true;
}

// T (rows x ld) += rows of packed directions times X (n x ld)
static void add_rows(const LashSystem* system, const LashInteraction* item, const double* G,
                     const double* X, int ld, double* T) {
    const double* column = G + item->offset;
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        lash_dense_multiply_blocks(item->rows, ld, n, 1, column, n, 1,
                                   X + system->block_start[item->block[b]] * ld, ld, true, T, ld);
        column += n * item->rows;
    }
}

// --- Parts of the operator

static bool is_zero(int n, const double* x) {
    uint64_t any = 0; // bits, without the sign: whole registers at once
    for (int i = 0; i < n; ++i) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        any |= bits << 1;
    }
    return any == 0;
}

// Adds weight times a block matrix of the pattern to A (by columns), and marks its blocks.
static void add_pattern(const LashSystem* system, double weight, const double* values,
                        ContactNewton* f, double* A) {
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int rows = lash_block_size(system, pattern->row[b]);
        int r0 = system->block_start[pattern->row[b]], c0 = system->block_start[pattern->column[b]];
        const double* block = values + pattern->offset[b];
        if (is_zero(pattern->offset[b + 1] - pattern->offset[b], block)) continue; // most are
        f->filled[pattern->row[b] * system->blocks + pattern->column[b]] = true;
        for (int j = 0; j < lash_block_size(system, pattern->column[b]); ++j, block += rows)
            for (int i = 0; i < rows; ++i) A[(c0 + j) * f->ldn + r0 + i] += weight * block[i];
    }
}

// A (by columns) += weight d(G P)/dq of an interaction, as contract gave it
static void add_turning(LashSim* sim, const LashInteraction* item, double weight, double* A) {
    const LashSystem* system = sim->system;
    ContactNewton* f = sim->contact_newton;
    const double* from = sim->contraction;
    for (int b = 0; b < item->touched; ++b) {
        int column = system->block_start[item->block[b]];
        for (int j = 0; j < lash_block_size(system, item->block[b]); ++j) {
            for (int a = 0; a < item->touched; ++a) {
                int n = lash_block_size(system, item->block[a]);
                double* to = A + (column + j) * f->ldn + system->block_start[item->block[a]];
                if (n == BODY)
                    lash_axpy6(weight, from, to);
                else
                    for (int i = 0; i < n; ++i) to[i] += weight * from[i];
                from += n;
            }
        }
        for (int a = 0; a < item->touched; ++a)
            f->filled[item->block[a] * system->blocks + item->block[b]] = true;
    }
}

// D of an interaction, packed like G, from (rows x n) as contract gave it
static void pack_row_derivatives(const LashSystem* system, const LashInteraction* item,
                                 const double* from, double* D) {
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        for (int r = 0; r < item->rows; ++r) {
            for (int k = 0; k < n; ++k) *D++ = from[r + item->rows * k];
        }
        from += item->rows * n;
    }
}

// How forces and directions turn: Q, D and, where the projection moves noticeably, C(tau).
static void derive(LashSim* sim, StepContext* s, ContactNewton* f) {
    const LashSystem* system = sim->system;
    bool end = sim->settings.direction == LASH_AT_END;
    double t_end = s->t0 + s->h, t = end ? t_end : s->t0 + s->theta * s->h, largest = 0;
    double *dGP = sim->contraction, dGv[LASH_MAX_ROWS * LASH_MAX_TOUCHED * 6];
    f->curved = false;
    for (int i = 0; i < f->n; ++i) largest = fmax(largest, fabs(s->shift[i]));
    bool moves = f->project && largest >= SMALL_SHIFT;
    memset(f->Q, 0, (size_t)(f->n * f->ldn) * sizeof *f->Q);
    memset(f->filled, 0, (size_t)(system->blocks * system->blocks) * sizeof *f->filled);
    add_pattern(system, s->theta * s->h, sim->K_values, f, f->Q);
    for (int i = s->list->bilateral; i < s->list->count && !f->plain; ++i) {
        const LashInteraction* item = &s->list->item[i];
        double tau[LASH_MAX_ROWS] = {moves && s->position[i] != POSITION_FREE ? s->tau[item->row]
                                                                              : 0};
        if (!s->active[i]) continue;
        if (s->P[item->row] != 0) {
            system->contract(system, sim->work, t, end ? s->q_end : s->q_theta, i, s->P + item->row,
                             s->v, dGP, NULL);
            add_turning(sim, item, end ? -1 : -s->theta, f->Q);
        }
        system->contract(system, sim->work, t_end, s->q_end, i, tau, s->v, tau[0] != 0 ? dGP : NULL,
                         dGv);
        pack_row_derivatives(system, item, dGv, f->D + item->offset);
        if (tau[0] == 0) continue;
        if (!f->curved) memset(f->C_tau, 0, (size_t)(f->n * f->ldn) * sizeof *f->C_tau);
        f->curved = true;
        add_turning(sim, item, 1, f->C_tau);
    }
}

// E from the iterate, and the motions N that it leaves.
static void close_contacts(const StepContext* s, ContactNewton* f) {
    double largest = 0;
    int k = f->k, ldk = f->ldk;
    f->ne = 0;
    for (int c = 0; c < s->nc; ++c) largest = fmax(largest, s->P[s->list->item[s->contact[c]].row]);
    for (int r = 0; r < s->nn && f->project; ++r) {
        int i = s->normal[r];
        const LashInteraction* item = &s->list->item[i];
        double* row = f->G_n + r * ldk;
        bool pushed = s->active[i] && s->P[item->row] > PUSHES * largest &&
                      s->position[i] == POSITION_CLOSED_IF_PUSHED;
        memset(row, 0, (size_t)ldk * sizeof *row);
        motions_rows(f->motions, item, s->G, 1, true, row, ldk);
        if (is_empty(s, item) || !(pushed || s->tau[item->row] > 0 || s->g[item->row] <= 0))
            continue;
        memcpy(f->E + f->ne * ldk, row, (size_t)ldk * sizeof *row);
        f->closed[f->ne++] = r;
    }
    f->rank = lash_orthogonal_factor(k, f->ne, f->E, ldk, DEPENDENT, f->order, f->B, f->grid);
    f->l = k - f->rank;
    f->ldl = lash_dense_padded(f->l);
    for (int i = 0; i < k; ++i) {
        double* row = f->N + i * f->ldl;
        for (int j = 0; j < f->l; ++j) row[j] = f->B[(f->rank + j) * ldk + i];
        for (int j = f->l; j < f->ldl; ++j) row[j] = 0;
    }
}

// Q_N = A N_v for a matrix A (n x n) that is zero outside the blocks marked
static void multiply_blocks(const LashSystem* system, ContactNewton* f, const double* A) {
    int ldl = f->ldl;
    memset(f->Q_N, 0, (size_t)(f->n * ldl) * sizeof *f->Q_N);
    for (int a = 0; a < system->blocks; ++a) {
        for (int b = 0; b < system->blocks; ++b) {
            if (!f->filled[a * system->blocks + b]) continue;
            int from = system->block_start[b], size = lash_block_size(system, b);
            int to = system->block_start[a];
            lash_dense_multiply_blocks(lash_block_size(system, a), ldl, size, 1,
                                       A + from * f->ldn + to, 1, f->ldn, f->N_v + from * ldl, ldl,
                                       true, f->Q_N + to * ldl, ldl);
        }
    }
}

// Do the forces change by less than a hundredth of the masses within a step, h theta (C + w K)?
static bool forces_are_soft(const LashSim* sim, const StepContext* s) {
    static const double SOFT = 0.01;
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    double ht = s->h * s->theta, w = s->h * s->move_theta;
    for (int b = 0; b < pattern->count; ++b) {
        int row = pattern->row[b], column = pattern->column[b], at = pattern->offset[b];
        int rows = lash_block_size(system, row), columns = lash_block_size(system, column);
        const double* M_row = sim->M_values + pattern->offset[row];
        const double* M_column = sim->M_values + pattern->offset[column];
        for (int j = 0; j < columns; ++j) {
            for (int i = 0; i < rows; ++i, ++at) {
                double change = ht * (fabs(sim->C_values[at]) + w * fabs(sim->K_values[at]));
                double masses = M_row[i + rows * i] * M_column[j + columns * j];
                if (change * change > SOFT * SOFT * masses) return false;
            }
        }
    }
    return true;
}

// S and Theta.
static bool factor_dynamics(LashSim* sim, StepContext* s, ContactNewton* f) {
    int ldl = f->ldl;
    double w = s->h * s->move_theta, *A = f->grid;
    motions_expand_columns(f->motions, f->N, ldl, f->N_v);
    memcpy(A, f->Q, (size_t)(f->n * f->ldn) * sizeof *A);
    add_pattern(sim->system, s->theta * s->h / w, sim->C_values, f, A);
    multiply_blocks(sim->system, f, A);
    motions_reduce_columns(f->motions, false, f->Q_N, ldl, f->S);
    double* H = f->grid; // w S - V'C(tau) V N
    if (f->curved) {
        multiply_blocks(sim->system, f, f->C_tau);
        motions_reduce_columns(f->motions, true, f->Q_N, ldl, H);
    }
    for (int i = 0; i < f->k * ldl; ++i) H[i] = w * f->S[i] - (f->curved ? H[i] : 0);
    lash_dense_multiply_blocks(f->l, ldl, f->k, 1, f->N, 1, ldl, H, ldl, false, f->Theta, ldl);
    for (int j = 0; j < f->l; ++j) {
        f->Theta[j * ldl + j] += 1;
        for (int i = f->l; i < ldl; ++i) f->Theta[j * ldl + i] = 0;
    }
    return invert(f->l, f->Theta, ldl, f->swap, f->x);
}

// Rows of contact c (in f->rows) that the motions do not move.
static void find_held_rows(const LashSim* sim, StepContext* s, ContactNewton* f, int c, int touched,
                           const int* first, const int* last) {
    const LashInteraction* item = &s->list->item[s->contact[c]];
    for (int r = 0; r < item->rows; ++r) {
        double length = 0;
        for (int i = 0; i < touched; ++i)
            for (int k = first[i]; k < last[i]; ++k)
                length += f->rows[r * f->ldk + k] * f->rows[r * f->ldk + k];
        s->held[s->first[c] + r] = f->p > 0 && is_held(length, row_mobility(sim, item, s->G, r));
        f->holds = f->holds || s->held[s->first[c] + r];
    }
}

// Z (k x ld) = G + N Theta'(w (D N - G'S))', which W is the product of with G*.
static void answer_motions(LashSim* sim, StepContext* s, ContactNewton* f) {
    int ld = f->ld, ldl = f->ldl, ldk = f->ldk;
    double w = s->h * s->move_theta, *X = f->X_0, *T = f->X; // T (m x ldl)
    memset(f->Z, 0, (size_t)(f->k * ld) * sizeof *f->Z);
    if (!f->bare) memset(T, 0, (size_t)(f->m * ldl) * sizeof *T);
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        int first[LASH_MAX_TOUCHED], last[LASH_MAX_TOUCHED], at = s->first[c];
        int touched = motions_touched(f->motions, item, first, last);
        motions_rows(f->motions, item, s->G, item->rows, true, f->rows, ldk);
        find_held_rows(sim, s, f, c, touched, first, last);
        for (int i = 0; i < touched; ++i) {
            for (int k = first[i]; k < last[i]; ++k)
                for (int r = 0; r < item->rows; ++r) f->Z[k * ld + at + r] = f->rows[r * ldk + k];
            if (f->bare) continue;
            lash_dense_multiply_blocks(item->rows, ldl, last[i] - first[i], -1, f->rows + first[i],
                                       ldk, 1, f->S + first[i] * ldl, ldl, true, T + at * ldl, ldl);
        }
        if (!f->plain) add_rows(sim->system, item, f->D, f->N_v, ldl, T + at * ldl);
    }
    if (f->bare) return;
    for (int j = 0; j < f->l; ++j) {
        for (int i = 0; i < f->m; ++i) X[j * ld + i] = w * T[i * ldl + j];
        for (int i = f->m; i < ld; ++i) X[j * ld + i] = 0;
    }
    lash_dense_multiply_blocks(f->l, ld, f->l, 1, f->Theta, 1, ldl, X, ld, false, f->X, ld);
    lash_dense_multiply_blocks(f->k, ld, f->l, 1, f->N, ldl, 1, f->X, ld, true, f->Z, ld);
}

// W = Z'G* = G'G* + w (D N - G'S) Theta N'G* (m x m, by columns)
static void answer_contacts(LashSim* sim, StepContext* s, ContactNewton* f) {
    int ld = s->ldw = f->ld = lash_dense_padded(s->m);
    f->m = s->m;
    f->holds = false;
    answer_motions(sim, s, f);
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        int first[LASH_MAX_TOUCHED], last[LASH_MAX_TOUCHED];
        int touched = motions_touched(f->motions, item, first, last);
        double* W = s->W + s->first[c] * ld;
        motions_rows(f->motions, item, s->G_star, item->rows, false, f->rows, f->ldk);
        if (touched == 0) memset(W, 0, (size_t)(item->rows * ld) * sizeof *W);
        for (int i = 0; i < touched; ++i)
            lash_dense_multiply_blocks(item->rows, ld, last[i] - first[i], 1, f->rows + first[i],
                                       f->ldk, 1, f->Z + first[i] * ld, ld, i > 0, W, ld);
    }
    if (f->holds) part_held_rows(s, s->W, ld);
}

// What the joints answer to unit impulses of the contacts, -Y'G*: their loads press the surfaces of
// joints with friction together.
static void answer_loads(LashSim* sim, const StepContext* s, ContactNewton* f) {
    f->loads = false;
    for (int c = 0; c < s->nc; ++c)
        f->loads = f->loads || joint_friction(&s->list->item[s->contact[c]]);
    for (int c = 0; c < s->nc && f->loads; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            double unit[LASH_MAX_ROWS] = {0}, *answer = f->answer + (s->first[c] + r) * f->p;
            unit[r] = -1;
            memset(f->force, 0, (size_t)f->n * sizeof *f->force);
            lash_row_apply(sim->system, item, s->G_star, 1, unit, f->force);
            motions_answer(f->motions, f->force, answer);
        }
    }
}

const double* contact_newton_loads(const LashSim* sim, int row) {
    return sim->contact_newton->answer + row * sim->contact_newton->p;
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
    if (sim->contact_newton == NULL) return;
    sim->contact_newton->valid = false;
    sim->contact_newton->motions_t0 = -INFINITY;
}

bool contact_newton_is_plain(const LashSim* sim) {
    return sim->contact_newton->plain;
}

uint64_t contact_newton_number(const LashSim* sim) {
    return sim->contact_newton->loads ? 0 : sim->contact_newton->number;
}

bool contact_newton_is_old(const LashSim* sim, const StepContext* s) {
    return sim->contact_newton->t0 != s->t0;
}

bool contact_newton_factor(LashSim* sim, StepContext* s, bool project, bool plain) {
    const LashSystem* system = sim->system;
    ContactNewton* f = sim->contact_newton;
    f->valid = false;
    f->project = project;
    f->plain = plain;
    ++f->number;
    if (f->motions_t0 != s->t0) { // joints and forces change little within a step
        if (!motions_factor(f->motions, s->G_star, s->G)) return false;
        system->tangents(system, sim->work, s->t0 + s->theta * s->h, s->q_theta, s->v_theta,
                         sim->C_values, sim->K_values);
        f->soft = forces_are_soft(sim, s);
        f->motions_t0 = s->t0;
    }
    f->k = motions_count(f->motions);
    f->ldk = lash_dense_padded(f->k);
    f->bare = plain && f->soft;
    f->curved = false;
    if (!f->bare) derive(sim, s, f);
    close_contacts(s, f);
    if (!f->bare && !factor_dynamics(sim, s, f)) return false;
    answer_contacts(sim, s, f);
    answer_loads(sim, s, f);
    f->valid = true;
    f->h = s->h;
    f->t0 = s->t0;
    f->key = operator_key(sim, s, project);
    return true;
}

// --- Correction

// |N G tau - shift|; m = G tau - M shift stays for the correction.
double contact_newton_motion_error(LashSim* sim, const StepContext* s) {
    double *m = sim->contact_newton->motion, *off = sim->contact_newton->off, error = 0;
    int nv = sim->system->nv;
    lash_block_multiply(sim->system, sim->M_values, s->shift, m);
    for (int i = 0; i < nv; ++i) m[i] = -m[i];
    projection_force(sim, s, m);
    memcpy(off, m, (size_t)nv * sizeof *m);
    lash_block_lu_solve(sim->M, off);
    for (int i = 0; i < nv; ++i) error = worse(error, fabs(off[i]));
    return error;
}

// y (k) += V' C(tau) x
static void add_turned_projection(ContactNewton* f, const double* x, double* y) {
    lash_dense_sum_rows(f->ldn, f->n, x, 1, f->C_tau, f->ldn, f->force);
    motions_reduce(f->motions, true, f->force, f->t);
    for (int i = 0; i < f->k; ++i) y[i] += f->t[i];
}

// dv_p, dd_p, z_c, mu, eta, the gaps of normals with the joints closed, and dd = dd_c.
static void close_positions(LashSim* sim, const StepContext* s, ContactNewton* f) {
    double w = s->h * s->move_theta, *c = f->t + f->n, *e = f->e;
    motions_close(f->motions, s->U, f->dv_p);
    memset(f->eta, 0, (size_t)f->ldl * sizeof *f->eta);
    if (!f->project) {
        for (int i = 0; i < f->n; ++i) f->dd[i] = f->dd_p[i] = w * f->dv_p[i];
        memset(f->z_c, 0, (size_t)f->k * sizeof *f->z_c);
        return;
    }
    motions_close(f->motions, s->g, f->dd_p);
    motions_reduce(f->motions, true, f->motion, f->mu);
    if (f->curved) add_turned_projection(f, f->dd_p, f->mu);
    for (int r = 0; r < s->nn; ++r) {
        const LashInteraction* item = &s->list->item[s->normal[r]];
        double U[LASH_MAX_ROWS];
        lash_row_velocity(sim->system, item, s->G, f->dd_p, U);
        f->gap[r] = is_empty(s, item) ? FAR : s->g[item->row] + U[0];
    }
    for (int i = 0; i < f->ne; ++i) e[i] = -f->gap[f->closed[i]];
    lash_orthogonal_forward(f->rank, f->E, f->ldk, f->order, e, c);
    multiply_transposed(f->rank, f->B, f->ldk, c, f->z_c);
    motions_expand(f->motions, f->z_c, f->dd);
    memcpy(f->z, f->mu, (size_t)f->k * sizeof *f->z);
    if (f->curved) add_turned_projection(f, f->dd, f->z);
    lash_dense_add_rows(f->ldl, f->k, f->z, 1, f->N, f->ldl, f->eta);
    for (int i = 0; i < f->n; ++i) f->dd[i] += f->dd_p[i];
}

// force += h theta C dv + Q dd
static void add_turned_forces(LashSim* sim, const StepContext* s, ContactNewton* f,
                              const double* dv, const double* dd) {
    if (f->bare) return;
    lash_block_multiply(sim->system, sim->C_values, dv, f->t);
    for (int i = 0; i < f->n; ++i) f->force[i] += s->theta * s->h * f->t[i];
    lash_dense_add_rows(f->ldn, f->n, dd, 1, f->Q, f->ldn, f->force);
}

// a, z, and from them dv and dd, of the given x.
static void follow(const StepContext* s, ContactNewton* f) {
    double w = s->h * s->move_theta, *right = f->t;
    lash_dense_sum_rows(f->ldl, f->k, f->x, 1, f->N, f->ldl, right);
    for (int j = 0; j < f->l; ++j) right[j] = w * right[j] + f->eta[j];
    if (f->bare)
        memcpy(f->y, right, (size_t)f->l * sizeof *f->y);
    else
        lash_dense_multiply_rows(f->l, f->ldl, f->Theta, f->ldl, right, f->y);
    for (int j = f->l; j < f->ldl; ++j) f->y[j] = 0;
    memcpy(f->a, f->x, (size_t)f->k * sizeof *f->a);
    if (!f->bare) add_product(f->k, f->ldl, -1, f->S, f->ldl, f->y, f->t, f->a);
    memcpy(f->z, f->z_c, (size_t)f->k * sizeof *f->z);
    add_product(f->k, f->ldl, 1, f->N, f->ldl, f->y, f->t, f->z);
}

static void move(ContactNewton* f) {
    motions_expand(f->motions, f->a, f->dv);
    motions_expand(f->motions, f->z, f->dd);
    for (int i = 0; i < f->n; ++i) {
        f->dv[i] += f->dv_p[i];
        f->dd[i] += f->dd_p[i];
    }
}

// Impulses of the joints: G* dP = M dv + h theta C dv + Q dd + r - G* dP of the contacts (force).
static void answer_joints(LashSim* sim, const StepContext* s, ContactNewton* f) {
    add_turned_forces(sim, s, f, f->dv, f->dd);
    lash_block_multiply(sim->system, sim->M_values, f->dv, f->t);
    for (int i = 0; i < f->n; ++i) f->force[i] += f->t[i];
    motions_answer(f->motions, f->force, f->e);
}

// Rows of friction in joints, with the loads that the joints have at dv, dd.
static void pose_loads(LashSim* sim, StepContext* s, ContactNewton* f) {
    answer_joints(sim, s, f);
    for (int i = 0; i < f->p; ++i) s->P[i] += f->e[i];
    assemble_loads(sim, s, s->W, s->ldw, s->b, s->P_c);
    for (int i = 0; i < f->p; ++i) s->P[i] -= f->e[i];
    memcpy(f->force, s->r, (size_t)f->n * sizeof *f->force); // as it was
}

// Friction problem of the contacts at dv, dd: b, and P_c to start from.
static void pose_contacts(LashSim* sim, StepContext* s, ContactNewton* f) {
    for (int j = 0; j < f->ld; ++j) s->b[j] = 0;
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        double *b = s->b + s->first[c], shift[LASH_MAX_ROWS], turned[LASH_MAX_ROWS] = {0};
        law_shift(sim, s, s->contact[c], shift);
        lash_row_velocity(sim->system, item, s->G, f->dv, b);
        if (!f->plain) lash_row_velocity(sim->system, item, f->D, f->dd, turned);
        for (int r = 0; r < item->rows; ++r) {
            b[r] += s->U[item->row + r] + shift[r] + turned[r];
            s->P_c[s->first[c] + r] = s->P[item->row + r];
        }
    }
    if (f->holds) clear_held_rows(s, s->b, s->P_c);
    lash_dense_subtract_rows(f->ld, f->m, s->P_c, 1, s->W, s->ldw, s->b);
    part_empty_slots(s, s->W, s->ldw, s->b);
    if (f->loads) pose_loads(sim, s, f);
    s->b_norm = sqrt(dot(f->m, s->b, s->b));
}

// P of the contacts; force = r - G* dP, and what that changes. False: no answer.
static bool correct_contacts(LashSim* sim, StepContext* s, ContactNewton* f) {
    double* force = f->dv; // G* dP
    memcpy(f->force, s->r, (size_t)f->n * sizeof *f->force);
    if (s->nc == 0) return true;
    move(f);
    pose_contacts(sim, s, f);
    if (!contacts_solve_coupled(sim, s, f->plain)) return false;
    memset(force, 0, (size_t)f->n * sizeof *force);
    for (int c = 0; c < s->nc; ++c) {
        const LashInteraction* item = &s->list->item[s->contact[c]];
        double dP[LASH_MAX_ROWS];
        for (int r = 0; r < item->rows; ++r) {
            dP[r] = s->P_c[s->first[c] + r] - s->P[item->row + r];
            s->P[item->row + r] = s->P_c[s->first[c] + r];
        }
        lash_row_apply(sim->system, item, s->G_star, 1, dP, force);
    }
    for (int i = 0; i < f->n; ++i) f->force[i] -= force[i];
    motions_reduce(f->motions, false, force, f->t);
    for (int i = 0; i < f->k; ++i) f->x[i] += f->t[i];
    follow(s, f);
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

// Takes E for granted: its multipliers tau change by what N leaves out of
// (1 - C(tau)) z = w a + mu + G dtau. False when the result contradicts it.
static bool close_guessed(const StepContext* s, ContactNewton* f, double tolerance) {
    double w = s->h * s->move_theta, *rest = f->grid, *c = rest + f->n;
    memset(rest, 0, (size_t)f->k * sizeof *rest);
    if (f->curved) {
        motions_expand(f->motions, f->z, f->dv);
        memcpy(f->dd, f->force, (size_t)f->n * sizeof *f->dd); // is kept
        add_turned_projection(f, f->dv, rest);
        memcpy(f->force, f->dd, (size_t)f->n * sizeof *f->dd);
    }
    for (int i = 0; i < f->k; ++i) rest[i] = f->z[i] - rest[i] - w * f->a[i] - f->mu[i];
    lash_dense_multiply_rows(f->rank, f->k, f->B, f->ldk, rest, c);
    lash_orthogonal_backward(f->rank, f->ne, f->E, f->ldk, f->order, c, f->e);
    for (int r = 0; r < s->nn; ++r) f->tau[r] = s->tau[s->list->item[s->normal[r]].row];
    for (int i = 0; i < f->ne; ++i) f->tau[f->closed[i]] += f->e[i];
    for (int r = 0, k = 0; r < s->nn; ++r) {
        const LashInteraction* item = &s->list->item[s->normal[r]];
        bool in_E = k < f->ne && f->closed[k] == r;
        k += in_E;
        if (is_empty(s, item)) {
            if (s->tau[item->row] != 0) return false;
            continue;
        }
        double gap = f->gap[r] + dot(f->k, f->G_n + r * f->ldk, f->z);
        double tau = f->tau[r];
        bool equality = s->kind_n[r] == LASH_PROJECT_EQUALITY;
        if (gap < -tolerance || ((equality || in_E) && gap > tolerance)) return false;
        if (!equality && (tau < 0 || (!in_E && tau != 0))) return false;
    }
    return true;
}

// The positions as a complementarity problem at the velocities found.
static bool close_searched(StepContext* s, ContactNewton* f, double tolerance) {
    int nn = s->nn, k = f->k, ldk = f->ldk;
    double w = s->h * s->move_theta, *z = f->z;
    for (int i = 0; i < k; ++i) z[i] = w * f->a[i] + f->mu[i];
    for (int r = 0; r < nn; ++r) {
        const LashInteraction* item = &s->list->item[s->normal[r]];
        bool empty = is_empty(s, item);
        f->kind[r] = s->kind_n[r];
        f->P_n[r] = s->P[item->row];
        f->gap_new[r] = empty ? FAR : fmin(FAR, f->gap[r] + dot(k, f->G_n + r * ldk, z));
        f->tau[r] = empty ? 0 : s->tau[item->row];
        lash_dense_multiply_rows(nn, k, f->G_n, ldk, f->G_n + r * ldk, f->A_n + r * nn);
        if (!(f->A_n[r * nn + r] > 0)) f->A_n[r * nn + r] = 1; // an empty slot
    }
    for (int r = 0; r < nn; ++r)
        for (int q = 0; q < nn; ++q) f->gap_new[q] -= f->A_n[r * nn + q] * f->tau[r];
    memcpy(f->gap, f->gap_new, (size_t)nn * sizeof *f->gap);
    if (!all_finite(f->gap, nn) || !diagonal_finite(f->A_n, nn, nn)) return false;
    LashProjectionProblem problem = {.m = nn,
                                     .A = f->A_n,
                                     .lda = nn,
                                     .g = f->gap,
                                     .kind = f->kind,
                                     .P_n = f->P_n,
                                     .tolerance = tolerance,
                                     .max_iterations = SEARCH_ITERATIONS};
    uint8_t* final = f->kind + nn;
    LashProjectionInfo info =
        lash_projection_solve(&problem, f->tau, f->gap_new, final, f->projection_work);
    if (info.outcome == LASH_FAILED) return false;
    s->demoted = info.demoted;
    if (nn > 0) memcpy(s->kind_n, final, (size_t)nn);
    for (int r = 0; r < nn; ++r) {
        // What moves by less than the tolerance is rounding: an open contact has none at all.
        if (fabs(f->tau[r]) * f->A_n[r * nn + r] < tolerance) f->tau[r] = 0;
        double change = f->tau[r] - s->tau[s->list->item[s->normal[r]].row];
        if (change != 0)
            for (int i = 0; i < k; ++i) z[i] += change * f->G_n[r * ldk + i];
    }
    return true;
}

// The shift, and tau of the joints: G dtau = M shift - G tau - C(tau) dd, contacts completed.
static void take_positions(LashSim* sim, StepContext* s, ContactNewton* f) {
    double w = s->h * s->move_theta;
    for (int r = 0; r < s->nn; ++r) s->tau[s->list->item[s->normal[r]].row] = f->tau[r];
    for (int i = 0; i < f->n; ++i) s->shift[i] += f->dd[i] - w * f->dv[i];
    ++sim->info.projection;
    if (f->p == 0) return;
    memset(f->force, 0, (size_t)f->n * sizeof *f->force);
    if (f->curved) lash_dense_sum_rows(f->ldn, f->n, f->dd, 1, f->C_tau, f->ldn, f->force);
    projection_force(sim, s, f->force);
    lash_block_multiply(sim->system, sim->M_values, s->shift, f->t);
    for (int i = 0; i < f->n; ++i) f->t[i] -= f->force[i];
    motions_answer(f->motions, f->t, f->e);
    for (int i = 0; i < f->p; ++i) s->tau[i] += f->e[i];
}

bool contact_newton_correct(LashSim* sim, StepContext* s, bool project) {
    ContactNewton* f = sim->contact_newton;
    double tolerance = 0.001 * s->goal * sim->settings.tolerance_position;
    close_positions(sim, s, f);
    memcpy(f->force, s->r, (size_t)f->n * sizeof *f->force);
    add_turned_forces(sim, s, f, f->dv_p, f->dd);
    motions_reduce(f->motions, false, f->force, f->x);
    for (int i = 0; i < f->k; ++i) f->x[i] = -f->x[i];
    follow(s, f);
    if (!correct_contacts(sim, s, f)) return false;
    if (project) {
        decide_positions(s);
        if (!close_guessed(s, f, tolerance) && !close_searched(s, f, 0.2 * tolerance)) return false;
    }
    move(f);
    if (f->p > 0) answer_joints(sim, s, f);
    for (int i = 0; i < f->p; ++i) s->P[i] += f->e[i];
    if (project) take_positions(sim, s, f);
    for (int i = 0; i < f->n; ++i) s->v[i] += f->dv[i];
    return true;
}

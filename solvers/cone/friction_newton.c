// Semismooth Newton for friction problems of any size, in the reduced form of friction_small.c:
// open contacts have no unknown, slipping ones 1 (plane) or 2 (space), sticking ones all.
//
//     (F' W E + D + eps L) dx = -(F' U + D x),    P = E (x + dx)
//
// The small eps L (L the contacts' own eigenvalues) stands in the matrix only, not in the residual:
// a rank-deficient W still gives a bounded step, and repeated steps converge to a solution of the
// original problem. The step is shortened when the residual grows beyond its recent maximum (the
// nonmonotone search of L. Grippo, F. Lampariello, S. Lucidi, SIAM J. Numer. Anal. 23, 1986).
// Dense W: LU of the reduced matrix. Sparse W: band LU in reverse Cuthill-McKee order, linear in
// the length of a chain.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"

static const double SHIFT = 1e-9, SMALLEST_SHIFT = 1e-13; // eps [-]

static int unknowns(const LocalContact* c) {
    if (c->status == STATUS_OPEN) return 0;
    if (c->status == STATUS_STICK) return c->rows;
    return c->rows == 2 || c->mu == 0 ? 1 : 2;
}

// Statuses, directions and diagonal terms from (P, U); numbers the unknowns. Returns how many.
static int decide(Friction* f, double threshold) {
    int n = 0;
    f->changed = 0;
    for (int at = 0; at < f->contacts; ++at) {
        int i = f->order[at];
        LocalContact* c = f->contact + i;
        const double *P = f->P + c->row, *U = f->U + c->row;
        double rho = 1 / c->lambda;
        uint8_t status = (uint8_t)friction_status(c, threshold, P, U);
        f->changed += status != c->status;
        c->status = status;
        if (c->status == STATUS_SLIP && c->rows == 2) {
            c->d[0] = P[1] - rho * U[1] > 0 ? 1 : -1;
        } else if (c->status == STATUS_SLIP && c->rows == 3) {
            double z1 = P[1] - rho * U[1], z2 = P[2] - rho * U[2], z = sqrt(z1 * z1 + z2 * z2);
            double push = c->mu * (P[0] - rho * U[0]);
            c->d[0] = z1 / z;
            c->d[1] = z2 / z;
            c->k = (z - push) / (rho * push);
        }
        f->first[i] = n;
        n += unknowns(c);
    }
    return n;
}

// Columns of E for one contact as (rows x unknowns), leading dimension 3.
static void basis(const LocalContact* c, bool rows_side, double* E) {
    memset(E, 0, 9 * sizeof(double));
    E[0] = 1;
    if (c->status == STATUS_STICK) {
        E[4] = E[8] = 1;
    } else if (c->rows == 2) {
        E[1] = rows_side ? 0 : c->mu * c->d[0];
    } else if (c->rows == 3) {
        E[1] = rows_side ? 0 : c->mu * c->d[0];
        E[2] = rows_side ? 0 : c->mu * c->d[1];
        E[4] = -c->d[1];
        E[5] = c->d[0];
    }
}

// B = F_i' W_ij E_j (3 x 3 storage)
static void reduce_block(const LocalContact* ci, const LocalContact* cj, const double* W, int ld,
                         double* B) {
    double F[9], E[9];
    int ni = unknowns(ci), nj = unknowns(cj);
    basis(ci, true, F);
    basis(cj, false, E);
    for (int b = 0; b < nj; ++b) {
        double t[3] = {0, 0, 0};
        for (int s = 0; s < cj->rows; ++s)
            for (int r = 0; r < ci->rows; ++r)
                t[r] += W[(size_t)s * (size_t)ld + (size_t)r] * E[3 * b + s];
        for (int a = 0; a < ni; ++a) {
            double v = 0;
            for (int r = 0; r < ci->rows; ++r) v += F[3 * a + r] * t[r];
            B[3 * b + a] = v;
        }
    }
}

typedef struct Layout { // where A(i, j) of the reduced matrix stands
    bool band;
    int n, half, ld;
} Layout;

static double* entry(const Friction* f, const Layout* l, int i, int j) {
    size_t at = l->band ? (size_t)(2 * l->half + i - j) : (size_t)i;
    return f->matrix + at + (size_t)j * (size_t)l->ld;
}

static void add_block(Friction* f, const Layout* l, int i, int j, const double* W, int ld) {
    const LocalContact *ci = f->contact + i, *cj = f->contact + j;
    double B[9];
    int ni = unknowns(ci), nj = unknowns(cj), step = 3;
    if (ni == 0 || nj == 0) return;
    const double* from = B;
    if (ci->status == STATUS_STICK && cj->status == STATUS_STICK) {
        from = W;
        step = ld;
    } else
        reduce_block(ci, cj, W, ld, B);
    for (int b = 0; b < nj; ++b, from += step) {
        double* to = entry(f, l, f->first[i], f->first[j] + b);
        for (int a = 0; a < ni; ++a) to[a] = from[a];
    }
    if (i != j) return;
    for (int a = 0; a < ni; ++a) {
        double shift = (f->newton_shift + f->shift) * ci->lambda;
        if (a == 1 && ci->status == STATUS_SLIP) shift += ci->k;
        *entry(f, l, f->first[i] + a, f->first[i] + a) += shift;
    }
}

// Chooses band or dense storage. Returns false when the workspace holds neither.
static bool choose_layout(const Friction* f, int n, Layout* l) {
    const LashBlockSparse* A = f->problem->sparse;
    *l = (Layout){false, n, 0, n};
    if (A != NULL) {
        for (int i = 0; i < A->blocks; ++i) {
            int ni = unknowns(f->contact + i);
            for (int k = A->pointer[i]; ni > 0 && k < A->pointer[i + 1]; ++k) {
                int j = A->column[k], nj = unknowns(f->contact + j);
                if (nj == 0) continue;
                int low = f->first[i] < f->first[j] ? f->first[i] : f->first[j];
                int high =
                    f->first[i] + ni > f->first[j] + nj ? f->first[i] + ni : f->first[j] + nj;
                if (high - 1 - low > l->half) l->half = high - 1 - low;
            }
        }
        l->band = 3 * l->half + 1 < n;
        if (l->band) l->ld = 3 * l->half + 1;
    }
    return (size_t)n * (size_t)l->ld <= f->matrix_size;
}

static void assemble(Friction* f, const Layout* l) {
    const LashFrictionProblem* p = f->problem;
    if (p->W != NULL) {
        for (int j = 0; j < f->contacts; ++j)
            for (int i = 0; i < f->contacts; ++i)
                add_block(
                    f, l, i, j,
                    p->W + (size_t)f->contact[i].row + (size_t)f->contact[j].row * (size_t)p->ldw,
                    p->ldw);
        return;
    }
    const LashBlockSparse* A = p->sparse;
    memset(f->matrix, 0, (size_t)l->n * (size_t)l->ld * sizeof(double));
    for (int i = 0; i < A->blocks; ++i)
        for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k)
            add_block(f, l, i, A->column[k], A->values + A->offset[k], f->contact[i].rows);
}

// x <-> P; extraction also puts P onto the span of E.
static void extract(Friction* f) {
    for (int i = 0; i < f->contacts; ++i) {
        const LocalContact* c = f->contact + i;
        double *P = f->P + c->row, *x = f->x + f->first[i];
        int n = unknowns(c);
        if (c->status == STATUS_SLIP && c->rows > 1) {
            x[0] = P[0];
            if (n == 2) x[1] = -c->d[1] * P[1] + c->d[0] * P[2];
        } else {
            for (int r = 0; r < n; ++r) x[r] = P[r];
        }
    }
}

static void expand(Friction* f) {
    for (int i = 0; i < f->contacts; ++i) {
        const LocalContact* c = f->contact + i;
        double *P = f->P + c->row, *x = f->x + f->first[i];
        int n = unknowns(c);
        if (c->status == STATUS_SLIP && c->rows > 1) {
            double t = c->mu * x[0], u = n == 2 ? x[1] : 0;
            P[0] = x[0];
            P[1] = t * c->d[0] - (n == 2 ? u * c->d[1] : 0);
            if (c->rows == 3) P[2] = t * c->d[1] + u * c->d[0];
        } else {
            for (int r = 0; r < c->rows; ++r) P[r] = r < n ? x[r] : 0;
        }
    }
}

static void fill_rhs(Friction* f) { // -(F' U + D x)
    for (int i = 0; i < f->contacts; ++i) {
        const LocalContact* c = f->contact + i;
        const double* U = f->U + c->row;
        double *rhs = f->rhs + f->first[i], *x = f->x + f->first[i];
        int n = unknowns(c);
        if (n == 0) continue;
        rhs[0] = -U[0];
        if (c->status == STATUS_SLIP && n == 2)
            rhs[1] = -(-c->d[1] * U[1] + c->d[0] * U[2]) - c->k * x[1];
        else
            for (int r = 1; r < n; ++r) rhs[r] = -U[r];
    }
}

// Contradictory rows send P towards infinity: such a point is of no use to anyone.
static bool bounded(const Friction* f) {
    double limit = LASH_LARGEST_GAIN * f->b_largest;
    for (int i = 0; i < f->contacts; ++i) {
        const LocalContact* c = f->contact + i;
        for (int r = 0; r < c->rows; ++r)
            if (!(fabs(f->P[c->row + r]) * c->lambda <= limit)) return false;
    }
    return true;
}

// One full Newton step from (P, U) to P. Returns false when the matrix cannot be factorised.
static bool newton_step(Friction* f, double threshold) {
    int n = decide(f, threshold);
    Layout l;
    if (!choose_layout(f, n, &l)) return false;
    f->newton_cost = l.band ? 2.0 * n * l.half * l.half : (double)n * n * n / 3;
    assemble(f, &l);
    extract(f);
    expand(f);
    friction_velocity_at(f, f->P, f->U);
    fill_rhs(f);
    f->iterations++;
    if (l.band) {
        if (!lash_dense_band_lu(n, l.half, l.half, f->matrix, l.ld, f->pivot)) return false;
        lash_dense_band_solve(n, l.half, l.half, f->matrix, l.ld, f->pivot, f->rhs);
    } else if (n > 0) {
        double ratio = lash_dense_lu(n, f->matrix, n, f->pivot);
        if (!(ratio > 0)) return false;
        if (ratio < 100 * f->newton_shift) f->singular = true;
        lash_dense_lu_solve(n, f->matrix, n, f->pivot, f->rhs);
    }
    for (int i = 0; i < n; ++i) f->x[i] += f->rhs[i];
    expand(f);
    return bounded(f);
}

double friction_newton(Friction* f, int max_steps, double tolerance) {
    enum { MEMORY = 4 };
    const LashFrictionProblem* p = f->problem;
    size_t bytes = (size_t)f->m * sizeof(double);
    double recent[MEMORY] = {0}, best;
    if (p->sparse != NULL && !f->band_ready) {
        lash_block_sparse_order(p->sparse, f->order, f->scratch);
        f->band_ready = true;
    }
    friction_velocity_at(f, f->P, f->U);
    double residual = best = friction_residual_at(f, f->P, f->U), recent_before = residual;
    double threshold = 0.1 * fmin(tolerance, 1e-10) * f->scale;
    bool cold = true;
    for (int i = 0; i < f->m; ++i) cold = cold && f->P[i] == 0;
    f->newton_shift = SHIFT;
    for (int i = 0; i < MEMORY; ++i) recent[i] = residual;
    memcpy(f->best_P, f->P, bytes);
    for (int k = 0, idle = 0; k < max_steps && best > tolerance && idle < 12; ++k) {
        if (friction_stopped(f)) break;
        memcpy(f->trial_P, f->P, bytes);
        if (!newton_step(f, k == 0 && cold ? -threshold : threshold)) break;
        double limit = recent[0];
        for (int i = 1; i < MEMORY; ++i) limit = fmax(limit, recent[i]);
        for (int half = 0;; ++half) {
            friction_velocity_at(f, f->P, f->U);
            residual = friction_residual_at(f, f->P, f->U);
            if (residual <= limit || half == 4) break;
            for (int i = 0; i < f->m; ++i) f->P[i] = 0.5 * (f->P[i] + f->trial_P[i]);
        }
        if (!(residual < INFINITY)) break;
        recent[k % MEMORY] = residual;
        // Slow but steady: eps is no longer small against the system's own eigenvalues.
        if (f->changed == 0 && residual > 0.02 * recent_before && residual < recent_before)
            f->newton_shift = fmax(SMALLEST_SHIFT, 0.1 * f->newton_shift);
        recent_before = residual;
        idle = residual < 0.9 * best ? 0 : idle + 1;
        if (residual < 0.9 * best || residual <= tolerance) // not for a little by a huge P
        {
            best = residual;
            memcpy(f->best_P, f->P, bytes);
        }
    }
    memcpy(f->P, f->best_P, bytes);
    friction_velocity_at(f, f->P, f->U);
    return friction_residual_at(f, f->P, f->U);
}

// Minimum-norm impulses of bilateral rows, redundant ones included.
//
// With the scaled matrix  V = D^-1 W D^-1,  W = sym(G' A^-1 G),  D = diag(1 or 1/length):
//
//     V = L L' (m x r)                    by Cholesky with diagonal pivoting; rank.h says when a
//                                         row is redundant
//     V^+ = L (L'L)^-1 (L'L)^-1 L' = X X' with L = Q R, X = Q R^-T
//     W^+ = D^-1 V^+ D^-1
//
// The time step asks for corrections of small residuals again and again, with fresh residuals, so
// neither the symmetric part nor an old factorisation costs accuracy, only iterations.
#include "solvers/joints/joint_solver.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/dense.h"
#include "solvers/linear/rank.h"
#include "solvers/step/rows.h"

enum {
    LEAST_ROWS = 12, // fewer: full matrices without looking further
    MANY_ROWS = 500  // more: sparse also with friction in joints
};

// The sparse factorisation against full matrices, in multiplications. Measured, the two meet at
// about ten rows, sooner where the operator has to be renewed often; only graphs without any
// sparsity, all bodies coupled with all, are better off with full matrices.
static bool sparse_pays(const LashJointSparse* sparse, int rows) {
    double m = rows;
    return lash_joint_sparse_solve_cost(sparse) < 4 * m * m &&
           lash_joint_sparse_factor_cost(sparse) < 4 * m * m * m;
}

static bool has_friction(const LashInteractionList* list) {
    for (int i = list->bilateral; i < list->count; ++i) {
        if (list->item[i].kind == LASH_FRICTION) return true;
    }
    return false;
}

void lash_joint_solver_init(LashJointSolver* solver, const LashSystem* system,
                            const LashInteractionList* list, LashJointMethod method) {
    size_t m = (size_t)list->bilateral_rows;
    *solver = (LashJointSolver){.system = system, .capacity = list->bilateral_rows};
    // Friction in joints asks for the minimum norm in every iteration.
    bool possible = method != LASH_JOINTS_DENSE && !system->unit_metric && m > 0;
    if (method == LASH_JOINTS_AUTOMATIC &&
        (m < LEAST_ROWS || (has_friction(list) && m < MANY_ROWS)))
        possible = false;
    if (possible) {
        solver->sparse = lash_joint_sparse_create(system, list);
        if (method == LASH_JOINTS_SPARSE || sparse_pays(solver->sparse, (int)m)) return;
        lash_joint_sparse_destroy(solver->sparse);
        solver->sparse = NULL;
    }
    solver->W_inverse = lash_alloc(m * m * sizeof(double));
    solver->L = lash_alloc(m * m * sizeof(double));
    solver->W = lash_alloc(m * m * sizeof(double));
    solver->projector = lash_alloc(m * m * sizeof(double));
    solver->work = lash_alloc(lash_dense_least_squares_size((int)m, (int)m) * sizeof(double));
    solver->S = lash_alloc(m * m * sizeof(double));
    solver->scale = lash_alloc(m * sizeof(double));
    solver->pivot = lash_alloc(m * sizeof(int));
    solver->column = lash_alloc(((size_t)system->nv + 2 * m) * sizeof(double));
}

void lash_joint_solver_free(LashJointSolver* solver) {
    lash_free(solver->W_inverse);
    lash_free(solver->L);
    lash_free(solver->S);
    lash_free(solver->scale);
    lash_free(solver->pivot);
    lash_free(solver->column);
    lash_free(solver->W);
    lash_free(solver->work);
    lash_free(solver->projector);
    lash_joint_sparse_destroy(solver->sparse);
    *solver = (LashJointSolver){0};
}

void lash_joint_solver_archive(LashJointSolver* solver, const LashInteractionList* list,
                               LashArchive* archive) {
    size_t m = (size_t)solver->capacity, square = m * m * sizeof(double);
    bool factored = solver->list != NULL;
    lash_archive_count(archive, &solver->rows, solver->capacity);
    lash_archive_count(archive, &solver->rank, solver->capacity);
    lash_archive(archive, &solver->general, sizeof solver->general);
    lash_archive(archive, &factored, sizeof factored);
    if (lash_archive_reads(archive)) solver->list = factored ? list : NULL;
    if (solver->sparse != NULL) {
        lash_joint_sparse_archive(solver->sparse, archive);
        return;
    }
    double* matrix[] = {solver->W_inverse, solver->L, solver->W, solver->projector, solver->S};
    for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; ++i)
        lash_archive(archive, matrix[i], square);
    lash_archive(archive, solver->scale, m * sizeof *solver->scale);
    lash_archive(archive, solver->pivot, m * sizeof *solver->pivot);
}

// S(:, column) for one column of G: through A^-1, which couples blocks.
static void assemble_column(LashJointSolver* solver, const LashInteractionList* list,
                            const double* G, const LashBlockLu* lu, const LashInteraction* item,
                            int row) {
    double *y = solver->column, unit[LASH_MAX_ROWS] = {0};
    unit[row] = 1;
    memset(y, 0, (size_t)solver->system->nv * sizeof *y);
    lash_row_apply(solver->system, item, G, 1, unit, y);
    lash_block_lu_solve(lu, y);
    lash_rows_velocity(solver->system, list, 0, list->bilateral, NULL, G, y,
                       solver->S + (size_t)solver->rows * (size_t)(item->row + row));
}

// S blocks of interaction j with all up to it that share its touched block number t; D: inverse of
// the diagonal block of A, NULL: identity.
static void assemble_shared(LashJointSolver* solver, const LashInteractionList* list,
                            const double* G, int j, int t, const double* D) {
    const LashInteraction *item = &list->item[j], *other;
    int block = item->block[t], n = lash_block_size(solver->system, block), m = solver->rows;
    const double* Gj = G + item->offset;
    for (int k = 0; k < t; ++k) Gj += item->rows * lash_block_size(solver->system, item->block[k]);
    for (int r = 0; r < item->rows; ++r, Gj += n) {
        double *y = solver->column, *column = solver->S + (size_t)m * (size_t)(item->row + r);
        for (int i = 0; i < n; ++i) y[i] = D == NULL ? Gj[i] : 0;
        for (int k = 0; k < n && D != NULL; ++k) {
            for (int i = 0; i < n; ++i) y[i] += D[i + n * k] * Gj[k];
        }
        for (int i = 0; i <= j; ++i) {
            other = &list->item[i];
            const double* Gi = G + other->offset;
            for (int k = 0; k < other->touched; ++k) {
                int size = lash_block_size(solver->system, other->block[k]);
                for (int q = 0; q < other->rows && other->block[k] == block; ++q) {
                    const double* x = Gi + n * q;
                    double sum = 0;
                    for (int l = 0; l < n; ++l) sum += x[l] * y[l];
                    column[other->row + q] += sum;
                }
                Gi += size * other->rows;
            }
        }
    }
}

// Scaled V = D^-1 sym(G' A^-1 G) D^-1.
static void assemble(LashJointSolver* solver, const LashInteractionList* list, const double* G,
                     const LashBlockLu* lu, bool positions, bool unit_metric) {
    int m = solver->rows;
    bool diagonal = unit_metric || lash_block_lu_is_diagonal(lu);
    memset(solver->S, 0, (size_t)m * (size_t)m * sizeof *solver->S);
    for (int j = 0; j < list->bilateral; ++j) {
        const LashInteraction* item = &list->item[j];
        bool left_out = positions && item->kind == LASH_BILATERAL_VELOCITY;
        for (int r = 0; r < item->rows; ++r) {
            bool angular = (item->angular >> r & 1) != 0;
            double unit = angular ? 1 / solver->system->length : 1;
            solver->scale[item->row + r] = left_out ? 0 : unit;
            if (!diagonal) assemble_column(solver, list, G, lu, item, r);
        }
        for (int t = 0; t < item->touched && diagonal; ++t) {
            const double* D = unit_metric ? NULL : lash_block_lu_inverse(lu, item->block[t]);
            assemble_shared(solver, list, G, j, t, D);
        }
    }
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i <= j; ++i) {
            double x = solver->scale[i] * solver->scale[j];
            double w = diagonal ? solver->S[i + m * j]
                                : 0.5 * (solver->S[i + m * j] + solver->S[j + m * i]);
            solver->S[i + m * j] = solver->S[j + m * i] = x == 0 ? 0 : w / x;
        }
    }
}

// V = L L' with pivoting; L is (m x m), rows in original order, columns in order of elimination.
// Returns the rank.
static int factor_pivoted(int m, double* V, double* L, int* pivot, double* left) {
    double* start = left + m;
    for (int i = 0; i < m; ++i) {
        left[i] = start[i] = V[i + m * i];
        pivot[i] = i;
    }
    for (int k = 0; k < m; ++k) {
        int best = k;
        double best_share = 0;
        for (int i = k; i < m; ++i) {
            int row = pivot[i];
            double share = start[row] > 0 ? left[row] / start[row] : 0;
            if (share > best_share) {
                best = i;
                best_share = share;
            }
        }
        if (!(best_share > lash_rank_gram(m))) return k;
        int p = pivot[best];
        pivot[best] = pivot[k];
        pivot[k] = p;
        double *Lk = L + (size_t)m * (size_t)k, root = sqrt(left[p]);
        for (int i = 0; i < m; ++i)
            Lk[i] = V[i + m * p]; // all rows, so that the loop runs in memory order
        for (int c = 0; c < k; ++c) {
            const double* Lc = L + (size_t)m * (size_t)c;
            double f = Lc[p];
            if (f == 0) continue;
            for (int i = 0; i < m; ++i) Lk[i] -= f * Lc[i];
        }
        for (int i = 0; i < k; ++i) Lk[pivot[i]] = 0;
        Lk[p] = root;
        for (int i = k + 1; i < m; ++i) {
            int row = pivot[i];
            Lk[row] /= root;
            left[row] -= Lk[row] * Lk[row];
        }
    }
    return m;
}

static double norm_squared(int m, const double* x) {
    double sum = 0;
    for (int i = 0; i < m; ++i) sum += x[i] * x[i];
    return sum;
}

// Q (m x r) R (r x r) = L: modified Gram-Schmidt, each column twice so that Q is orthogonal to
// rounding. Q replaces L.
static void orthogonalize(int m, int r, double* L, double* R) {
    for (int j = 0; j < r; ++j) {
        double* q = L + (size_t)m * (size_t)j;
        for (int i = 0; i <= j; ++i) R[i + r * j] = 0;
        double whole = norm_squared(m, q), left = whole;
        for (int pass = 0; pass < 2 && (pass == 0 || left < 1e-2 * whole); ++pass) {
            for (int i = 0; i < j; ++i) {
                const double* p = L + (size_t)m * (size_t)i;
                double dot = 0;
                for (int k = 0; k < m; ++k) dot += p[k] * q[k];
                for (int k = 0; k < m; ++k) q[k] -= dot * p[k];
                R[i + r * j] += dot;
            }
            left = norm_squared(m, q);
        }
        double norm = sqrt(left);
        R[j + r * j] = norm;
        for (int k = 0; k < m; ++k) q[k] /= norm;
    }
}

// X = Q R^-T in place of Q: from X R' = Q, columns from the last to the first.
static void divide_by_transposed(int m, int r, double* Q, const double* R) {
    for (int j = r - 1; j >= 0; --j) {
        double* x = Q + (size_t)m * (size_t)j;
        for (int k = j + 1; k < r; ++k) {
            const double* y = Q + (size_t)m * (size_t)k;
            for (int i = 0; i < m; ++i) x[i] -= R[j + r * k] * y[i];
        }
        for (int i = 0; i < m; ++i) x[i] /= R[j + r * j];
    }
}

// -D^-1 Q Q' D, with the sign that `multiply` turns.
static void form_projector(LashJointSolver* solver) {
    int m = solver->rows;
    const double* Q = solver->L;
    for (int j = 0; j < m; ++j) {
        double* v = solver->projector + (size_t)m * (size_t)j;
        memset(v, 0, (size_t)m * sizeof *v);
        for (int k = 0; k < solver->rank; ++k) {
            double f = -Q[j + m * k] * solver->scale[j];
            for (int i = 0; i < m; ++i) v[i] += f * Q[i + m * k];
        }
        for (int i = 0; i < m; ++i) v[i] = solver->scale[i] == 0 ? 0 : v[i] / solver->scale[i];
    }
}

static void pseudo_inverse(LashJointSolver* solver) {
    int m = solver->rows, r = solver->rank;
    double *X = solver->L, *V = solver->W_inverse;
    orthogonalize(m, r, X, solver->S);
    if (r < m) form_projector(solver);
    divide_by_transposed(m, r, X, solver->S);
    for (int j = 0; j < m; ++j) {
        double* v = V + (size_t)m * (size_t)j;
        memset(v, 0, (size_t)m * sizeof *v);
        for (int k = 0; k < r; ++k) {
            double f = X[j + m * k];
            if (f == 0) continue;
            for (int i = 0; i < m; ++i) v[i] += f * X[i + m * k];
        }
        for (int i = 0; i < m; ++i) {
            double x = solver->scale[i] * solver->scale[j];
            v[i] = x == 0 ? 0 : v[i] / x;
        }
    }
}

void lash_joint_solver_factor(LashJointSolver* solver, const LashInteractionList* list,
                              const double* G, const LashBlockLu* lu, bool positions,
                              bool unit_metric) {
    LASH_ASSERT(list->bilateral_rows <= solver->capacity);
    solver->rows = list->bilateral_rows;
    solver->general = false;
    if (solver->sparse != NULL) {
        solver->list = list;
        solver->rank = lash_joint_sparse_factor(solver->sparse, list, G, G,
                                                lash_block_lu_matrix(lu), positions);
        return;
    }
    assemble(solver, list, G, lu, positions, unit_metric);
    solver->rank = factor_pivoted(solver->rows, solver->S, solver->L, solver->pivot,
                                  solver->column + solver->system->nv);
    pseudo_inverse(solver);
}

void lash_joint_solver_factor_general(LashJointSolver* solver, const LashInteractionList* list,
                                      const double* G_hat, const double* G_star,
                                      const LashBlockLu* lu) {
    const LashSystem* system = solver->system;
    int m = solver->rows = list->bilateral_rows;
    if (solver->sparse != NULL) {
        solver->list = list;
        solver->rank = lash_joint_sparse_factor(solver->sparse, list, G_hat, G_star,
                                                lash_block_lu_matrix(lu), false);
        return;
    }
    solver->general = true;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int r = 0; r < item->rows; ++r) {
            double* y = solver->column;
            double unit[LASH_MAX_ROWS] = {0};
            unit[r] = 1;
            memset(y, 0, (size_t)system->nv * sizeof *y);
            lash_row_apply(system, item, G_star, 1, unit, y);
            lash_block_lu_solve(lu, y);
            lash_rows_velocity(system, list, 0, list->bilateral, NULL, G_hat, y,
                               solver->W + (size_t)m * (size_t)(item->row + r));
        }
    }
    for (int i = 0; i < m; ++i) { // rows and columns in units of their diagonal
        double diagonal = fabs(solver->W[i + m * i]);
        solver->scale[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 1;
    }
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i < m; ++i) solver->W[i + m * j] *= solver->scale[i] * solver->scale[j];
    }
}

static void solve_general(LashJointSolver* solver, const double* U, double* P) {
    int m = solver->rows;
    double* b = solver->column;
    memcpy(solver->S, solver->W, (size_t)m * (size_t)m * sizeof *solver->S);
    for (int i = 0; i < m; ++i) b[i] = -solver->scale[i] * U[i];
    lash_dense_least_squares(m, m, solver->S, m, b, P, lash_rank_gram(m), solver->work);
    for (int i = 0; i < m; ++i) P[i] *= solver->scale[i];
}

// P = -A U. Wider registers where the machine has them: each result is summed in the same order, so
// the bits are the same.
LASH_VECTOR_CLONES static void multiply(int m, const double* restrict A, const double* U,
                                        double* restrict P) {
    for (int i = 0; i < m; ++i) P[i] = 0;
    for (int j = 0; j < m; ++j) {
        const double* column = A + (size_t)m * (size_t)j;
        double u = -U[j];
        for (int i = 0; i < m; ++i) P[i] += u * column[i];
    }
}

LASH_VECTOR_CLONES static void multiply_two(int m, const double* restrict A, const double* U1,
                                            const double* U2, double* restrict P1,
                                            double* restrict P2) {
    for (int i = 0; i < m; ++i) P1[i] = P2[i] = 0;
    for (int j = 0; j < m; ++j) {
        const double* column = A + (size_t)m * (size_t)j;
        double u1 = -U1[j], u2 = -U2[j];
        for (int i = 0; i < m; ++i) {
            P1[i] += u1 * column[i];
            P2[i] += u2 * column[i];
        }
    }
}

void lash_joint_solver_solve(LashJointSolver* solver, const double* U, double* P) {
    int m = solver->rows;
    if (solver->sparse != NULL) {
        lash_joint_sparse_solve(solver->sparse, solver->list, U, NULL, P, NULL);
        return;
    }
    if (solver->general) {
        solve_general(solver, U, P);
        return;
    }
    multiply(m, solver->W_inverse, U, P);
}

void lash_joint_solver_solve_two(LashJointSolver* solver, const double* U1, const double* U2,
                                 double* P1, double* P2) {
    if (solver->sparse != NULL) {
        lash_joint_sparse_solve(solver->sparse, solver->list, U1, U2, P1, P2);
        return;
    }
    if (solver->general) {
        lash_joint_solver_solve(solver, U1, P1);
        lash_joint_solver_solve(solver, U2, P2);
        return;
    }
    multiply_two(solver->rows, solver->W_inverse, U1, U2, P1, P2);
}

void lash_joint_solver_project(LashJointSolver* solver, double* P) {
    if (solver->general || solver->rank == solver->rows) return;
    if (solver->sparse != NULL) {
        lash_joint_sparse_clear_dependent(solver->sparse, solver->list, P);
        return;
    }
    memcpy(solver->column, P, (size_t)solver->rows * sizeof *P);
    multiply(solver->rows, solver->projector, solver->column, P);
}

void lash_joint_solver_minimum_norm(LashJointSolver* solver, const LashInteractionList* list,
                                    const double* G, const LashBlockLu* M, double* P) {
    if (solver->sparse != NULL) {
        lash_joint_sparse_minimum_norm(solver->sparse, list, G, P);
        return;
    }
    lash_joint_solver_factor(solver, list, G, M, false, false);
    lash_joint_solver_project(solver, P);
}

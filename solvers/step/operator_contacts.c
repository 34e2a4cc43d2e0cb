// The Newton correction of a step with contacts, all derivatives in it, velocities and positions
// coupled: for plays so small that a part moves by a good share of them within a step.
//
// Unknowns are the changes of v, of the increment d, of P and of tau; w = d_v of the stencil,
// C(x) = d(G x)/dq, D = d(G'v + dg/dt)/dq; masses are one (motions.h):
//
//     dynamics    dv + c_v C dv + Q dd - G* dP = -r,      Q = c_d K - star_d C*(P)
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
//     y = Theta (w N'x + eta),   a = x - S y,     x = V*'(G* dP - r - c_v C dv_p - Q dd_c)
//     S = V*'(Q + c_v/w C) V N,   eta = N'(m + C(tau) dd_c)
//     Theta = (1 - N'C(tau)N + w N'S)^-1
//     W = G'G* + w (D N - G'S) Theta N'G*            (G, G*, D, m, C(tau): in the motions)
//
// Far from the solution derivatives mislead: the operator then is without those of directions and,
// where forces are soft, without those of forces too: S = 0, Theta = 1. Under Fremond's law rows of
// contacts are those of G*; with directions of the start they do not turn at all.
// E is guessed from the iterate; where the answer disagrees the positions are solved as the
// complementarity problem they are, and the next operator knows. The operator is kept while it
// contracts: residuals are always fresh.
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "solvers/linear/orthogonal.h"
#include "solvers/linear/rank.h"
#include "solvers/step/contact_newton_internal.h"
#include "solvers/step/rows.h"

enum { BODY = 6 }; // velocities of a block, mostly

// All numbers in one piece of memory, each array aligned.
static void lay_out(ContactNewton* newton, const LashSystem* system, const Sizes* sizes) {
    size_t n = (size_t)lash_dense_padded(system->nv), c = (size_t)sizes->contacts + 1;
    size_t m = (size_t)lash_dense_padded(sizes->contact_rows), p = (size_t)newton->p + 1;
    struct {
        double** at;
        size_t count;
    } wanted[] = {{&newton->G_n, c * n},
                  {&newton->E, c * n},
                  {&newton->B, n * n},
                  {&newton->N, n * n},
                  {&newton->C_tau, n * n},
                  {&newton->Q, n * n},
                  {&newton->D, (size_t)sizes->G + 1},
                  {&newton->Theta, n * n},
                  {&newton->S, n * n},
                  {&newton->N_v, n * n},
                  {&newton->Q_N, n * n},
                  {&newton->Z, n * m + 1},
                  {&newton->rows, n * LASH_MAX_ROWS},
                  {&newton->X, n * m + 1},
                  {&newton->X_0, n * m + 1},
                  {&newton->grid, n * (2 * n + 2) + 3 * c},
                  {&newton->answer, m * p},
                  {&newton->a, n},
                  {&newton->z, n},
                  {&newton->x, n},
                  {&newton->y, n},
                  {&newton->mu, n},
                  {&newton->eta, n},
                  {&newton->z_c, n},
                  {&newton->dv, n},
                  {&newton->dd, n},
                  {&newton->dv_p, n},
                  {&newton->dd_p, n},
                  {&newton->force, n},
                  {&newton->motion, n},
                  {&newton->off, n},
                  {&newton->e, p + c},
                  {&newton->t, n + m + c},
                  {&newton->gap, c},
                  {&newton->tau, c},
                  {&newton->gap_new, c},
                  {&newton->P_n, c},
                  {&newton->A_n, c * c}};
    size_t total = 0;
    enum { BUFFERS = sizeof wanted / sizeof wanted[0] };
    for (int i = 0; i < BUFFERS; ++i) total += (wanted[i].count + 7) / 8 * 8;
    newton->memory = lash_alloc((total + 8) * sizeof(double));
    newton->numbers = total;
    double* at = lash_dense_aligned(newton->memory);
    for (int i = 0; i < BUFFERS; at += (wanted[i].count + 7) / 8 * 8, ++i) *wanted[i].at = at;
}

ContactNewton* contact_newton_create(const LashSystem* system, const LashInteractionList* list,
                                     const double* M, const Sizes* sizes) {
    if (!system->constant_mass || system->linear_motion || system->unit_metric) return NULL;
    Motions* motions = motions_create(system, list, M);
    if (motions == NULL) return NULL;
    ContactNewton* newton = lash_alloc(sizeof *newton);
    newton->motions_t0 = -INFINITY;
    newton->motions = motions;
    newton->n = system->nv;
    newton->ldn = lash_dense_padded(newton->n);
    newton->p = list->bilateral_rows;
    lay_out(newton, system, sizes);
    size_t n = (size_t)lash_dense_padded(system->nv), c = (size_t)sizes->contacts + 1;
    newton->closed = lash_alloc(c * sizeof(int));
    newton->order = lash_alloc(c * sizeof(int));
    newton->swap = lash_alloc(n * sizeof(int));
    newton->contacts = (int)c;
    newton->filled = lash_alloc((size_t)(system->blocks * system->blocks) * sizeof(bool));
    newton->kind = lash_alloc(2 * c);
    newton->leader = lash_alloc(c * sizeof(int));
    newton->projection_work = lash_alloc(lash_projection_work_size((int)c));
    return newton;
}

void contact_newton_destroy(ContactNewton* newton) {
    if (newton == NULL) return;
    motions_destroy(newton->motions);
    void* owned[] = {newton->closed, newton->order,           newton->swap,   newton->filled,
                     newton->kind,   newton->projection_work, newton->leader, newton->memory};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) lash_free(owned[i]);
    lash_free(newton);
}

#define PASS(member) lash_archive(archive, &newton->member, sizeof newton->member)
void contact_newton_archive(ContactNewton* newton, LashArchive* archive) {
    size_t contacts = (size_t)newton->contacts, blocks = (size_t)(newton->n / BODY);
    motions_archive(newton->motions, archive);
    PASS(valid);
    PASS(levels);
    PASS(derivatives);
    PASS(h);
    PASS(t0);
    PASS(key);
    PASS(number);
    PASS(motions_t0);
    PASS(m);
    PASS(ld);
    PASS(k);
    PASS(ldk);
    PASS(ne);
    PASS(rank);
    PASS(l);
    PASS(ldl);
    PASS(curved);
    PASS(soft);
    PASS(damping_couples);
    PASS(loads);
    PASS(holds);
    lash_archive(archive, newton->leader, contacts * sizeof *newton->leader);
    lash_archive(archive, newton->closed, contacts * sizeof *newton->closed);
    lash_archive(archive, newton->order, contacts * sizeof *newton->order);
    lash_archive(archive, newton->swap, (size_t)newton->ldn * sizeof *newton->swap);
    lash_archive(archive, newton->filled, blocks * blocks * sizeof *newton->filled);
    lash_archive(archive, newton->kind, 2 * contacts);
    lash_archive(archive, newton->G_n, newton->numbers * sizeof(double)); // and all behind it
}
#undef PASS

// --- Small kernels -------------------------------------------------------------------------------

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

// --- Parts of the operator -----------------------------------------------------------------------

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
                        ContactNewton* newton, double* A) {
    const LashBlocks* pattern = &system->pattern;
    for (int b = 0; b < pattern->count; ++b) {
        int rows = lash_block_size(system, pattern->row[b]);
        int r0 = system->block_start[pattern->row[b]], c0 = system->block_start[pattern->column[b]];
        const double* block = values + pattern->offset[b];
        if (is_zero(pattern->offset[b + 1] - pattern->offset[b], block)) continue; // most are
        newton->filled[pattern->row[b] * system->blocks + pattern->column[b]] = true;
        for (int j = 0; j < lash_block_size(system, pattern->column[b]); ++j, block += rows)
            for (int i = 0; i < rows; ++i) A[(c0 + j) * newton->ldn + r0 + i] += weight * block[i];
    }
}

// A (by columns) += weight d(G P)/dq of an interaction, `from` as contract gave it
static void add_turning(const LashSystem* system, const LashInteraction* item, double weight,
                        const double* from, ContactNewton* newton, double* A) {
    for (int b = 0; b < item->touched; ++b) {
        int column = system->block_start[item->block[b]];
        for (int j = 0; j < lash_block_size(system, item->block[b]); ++j) {
            for (int a = 0; a < item->touched; ++a) {
                int n = lash_block_size(system, item->block[a]);
                double* to = A + (column + j) * newton->ldn + system->block_start[item->block[a]];
                if (n == BODY)
                    lash_axpy6(weight, from, to);
                else
                    for (int i = 0; i < n; ++i) to[i] += weight * from[i];
                from += n;
            }
        }
        for (int a = 0; a < item->touched; ++a)
            newton->filled[item->block[a] * system->blocks + item->block[b]] = true;
    }
}

// D of an interaction, packed like G: weight times what contract gave, (rows x n)
static void pack_row_derivatives(const LashSystem* system, const LashInteraction* item,
                                 double weight, const double* from, double* D) {
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        for (int r = 0; r < item->rows; ++r) {
            for (int k = 0; k < n; ++k) *D++ = weight * from[r + item->rows * k];
        }
        from += item->rows * n;
    }
}

// How forces and directions turn: Q, D and, where the projection moves noticeably, C(tau).
static void derive(LashSim* sim, Step* step, ContactNewton* newton) {
    const LashSystem* system = sim->system;
    double t_end = step->t0 + step->h, largest = 0;
    double *dGP = sim->operators.contraction, dGv[LASH_MAX_ROWS * LASH_MAX_TOUCHED * 6];
    bool mean = step->stencil.law == LASH_FREMOND; // rows of the law are those of G*
    newton->curved = false;
    for (int i = 0; i < newton->n; ++i) largest = fmax(largest, fabs(step->shift[i]));
    bool moves = newton->levels == POSITIONS && largest >= tuning.small_shift;
    memset(newton->Q, 0, (size_t)(newton->n * newton->ldn) * sizeof *newton->Q);
    memset(newton->filled, 0, (size_t)(system->blocks * system->blocks) * sizeof *newton->filled);
    add_pattern(system, step->stencil.c_d, sim->operators.K_values, newton, newton->Q);
    for (int i = step->list->bilateral;
         i < step->list->count && newton->derivatives == DERIVATIVES_ALL; ++i) {
        const LashInteraction* item = &step->list->item[i];
        double tau[LASH_MAX_ROWS] = {
            moves && step->position[i] != POSITION_FREE ? step->tau[item->row] : 0};
        if (!step->active[i]) continue;
        bool pushes = step->P[item->row] != 0;
        if (pushes || mean)
            system->contract(system, sim->work, step->stencil.t_star, step->q_star, i,
                             step->P + item->row, step->v, dGP, mean ? dGv : NULL);
        if (pushes) add_turning(system, item, -step->stencil.star_d, dGP, newton, newton->Q);
        if (!mean || tau[0] != 0)
            system->contract(system, sim->work, t_end, step->q_end, i, tau, step->v,
                             tau[0] != 0 ? dGP : NULL, mean ? NULL : dGv);
        pack_row_derivatives(system, item, mean ? step->stencil.star_d : 1, dGv,
                             newton->D + item->offset);
        if (tau[0] == 0) continue;
        if (!newton->curved)
            memset(newton->C_tau, 0, (size_t)(newton->n * newton->ldn) * sizeof *newton->C_tau);
        newton->curved = true;
        add_turning(system, item, 1, dGP, newton, newton->C_tau);
    }
}

// Do two normals differ by so little that closing both would take a motion out of all proportion?
static bool are_twins(const ContactNewton* newton, int r, int s) {
    const double *x = newton->G_n + r * newton->ldk, *y = newton->G_n + s * newton->ldk;
    double xx = dot(newton->k, x, x), yy = dot(newton->k, y, y), xy = dot(newton->k, x, y);
    return xy > 0 && xx * yy - xy * xy < tuning.twins * tuning.twins * xx * yy;
}

// Two rims of a ring that is a few micrometres high, a corner and the rounded edge beside it: points between
// the same surfaces whose normals are nearly the same in the motions. They share a load, but their gaps
// differ by a little, and to close both a part would have to tilt by that over their distance. So the
// deeper one is closed where any of them pushes; the others follow it, and are only kept from overlapping.
static void find_leaders(const Step* step, ContactNewton* newton) {
    for (int r = 0; r < step->nn; ++r) {
        const LashInteraction* item = &step->list->item[step->normal[r]];
        newton->leader[r] = r;
        for (int s = r - 1; s >= 0; --s) {
            const LashInteraction* other = &step->list->item[step->normal[s]];
            if (item->surfaces == 0 || other->surfaces != item->surfaces) break;
            if (newton->leader[s] != s || is_empty(step, item) || is_empty(step, other)) continue;
            if (!are_twins(newton, r, s)) continue;
            if (step->g[item->row] < step->g[other->row]) {
                newton->leader[s] = r;
                continue;
            }
            newton->leader[r] = s;
            break;
        }
    }
}

// Does a point push, or one that follows it? Then its gap is to be closed.
bool contact_newton_pushes(const Step* step, const ContactNewton* newton, int r, double least) {
    if (newton->leader[r] != r) return false;
    for (int s = 0; s < step->nn; ++s) {
        int i = step->normal[s];
        const LashInteraction* item = &step->list->item[i];
        if (newton->leader[s] != r && s != r) continue;
        if (step->active[i] && step->position[i] == POSITION_CLOSED_IF_PUSHED &&
            !is_empty(step, item) && step->P[item->row] > least)
            return true;
    }
    return false;
}

// E from the iterate, and the motions N that it leaves.
static void close_contacts(const Step* step, ContactNewton* newton) {
    double largest = 0;
    int k = newton->k, ldk = newton->ldk;
    newton->ne = 0;
    for (int c = 0; c < step->nc; ++c)
        largest = fmax(largest, step->P[step->list->item[step->contact[c]].row]);
    int nn = newton->levels == POSITIONS ? step->nn : 0;
    memset(newton->G_n, 0, (size_t)(nn * ldk) * sizeof *newton->G_n);
    for (int r = 0; r < nn; ++r)
        motions_rows(newton->motions, &step->list->item[step->normal[r]], step->G, 1, true,
                     newton->G_n + r * ldk, ldk);
    if (nn > 0) find_leaders(step, newton);
    for (int r = 0; r < nn; ++r) {
        const LashInteraction* item = &step->list->item[step->normal[r]];
        bool pushed = contact_newton_pushes(step, newton, r, tuning.pushes * largest);
        bool overlaps = step->g[item->row] <= 0 && newton->leader[r] == r;
        if (is_empty(step, item) || !(pushed || step->tau[item->row] > 0 || overlaps)) continue;
        memcpy(newton->E + newton->ne * ldk, newton->G_n + r * ldk,
               (size_t)ldk * sizeof *newton->E);
        newton->closed[newton->ne++] = r;
    }
    newton->rank = lash_orthogonal_factor(k, newton->ne, newton->E, ldk, LASH_RANK_ROWS,
                                          newton->order, newton->B, newton->grid);
    newton->l = k - newton->rank;
    newton->ldl = lash_dense_padded(newton->l);
    for (int i = 0; i < k; ++i) {
        double* row = newton->N + i * newton->ldl;
        for (int j = 0; j < newton->l; ++j) row[j] = newton->B[(newton->rank + j) * ldk + i];
        for (int j = newton->l; j < newton->ldl; ++j) row[j] = 0;
    }
}

// Q_N = A N_v for a matrix A (n x n) that is zero outside the blocks marked
static void multiply_blocks(const LashSystem* system, ContactNewton* newton, const double* A) {
    int ldl = newton->ldl;
    memset(newton->Q_N, 0, (size_t)(newton->n * ldl) * sizeof *newton->Q_N);
    for (int a = 0; a < system->blocks; ++a) {
        for (int b = 0; b < system->blocks; ++b) {
            if (!newton->filled[a * system->blocks + b]) continue;
            int from = system->block_start[b], size = lash_block_size(system, b);
            int to = system->block_start[a];
            lash_dense_multiply_blocks(
                lash_block_size(system, a), ldl, size, 1, A + from * newton->ldn + to, 1,
                newton->ldn, newton->N_v + from * ldl, ldl, true, newton->Q_N + to * ldl, ldl);
        }
    }
}

// Are there blocks off the diagonal that are not zero? Contacts alone have places in the pattern, too.
static bool couples(const LashSystem* system, const double* values) {
    const LashBlocks* pattern = &system->pattern;
    for (int b = system->blocks; b < pattern->count; ++b)
        if (!is_zero(pattern->offset[b + 1] - pattern->offset[b], values + pattern->offset[b]))
            return true;
    return false;
}

// Do the forces change by less than a hundredth of the masses within a step, c_v C + c_d w K?
static bool forces_are_soft(const LashSim* sim, const Step* step) {
    const LashSystem* system = sim->system;
    const LashBlocks* pattern = &system->pattern;
    double c_v = step->stencil.c_v, c_k = step->stencil.c_d * step->stencil.d_v;
    for (int b = 0; b < pattern->count; ++b) {
        int row = pattern->row[b], column = pattern->column[b], at = pattern->offset[b];
        int rows = lash_block_size(system, row), columns = lash_block_size(system, column);
        const double* M_row = sim->operators.M_values + pattern->offset[row];
        const double* M_column = sim->operators.M_values + pattern->offset[column];
        for (int j = 0; j < columns; ++j) {
            for (int i = 0; i < rows; ++i, ++at) {
                double change = c_v * fabs(sim->operators.C_values[at]) +
                                c_k * fabs(sim->operators.K_values[at]);
                double masses = M_row[i + rows * i] * M_column[j + columns * j];
                if (change * change > tuning.soft * tuning.soft * masses) return false;
            }
        }
    }
    return true;
}

// S and Theta.
static bool factor_dynamics(LashSim* sim, Step* step, ContactNewton* newton) {
    int ldl = newton->ldl;
    double w = step->stencil.d_v, *A = newton->grid;
    motions_expand_columns(newton->motions, newton->N, ldl, newton->N_v);
    memcpy(A, newton->Q, (size_t)(newton->n * newton->ldn) * sizeof *A);
    add_pattern(sim->system, step->stencil.c_v / w, sim->operators.C_values, newton, A);
    multiply_blocks(sim->system, newton, A);
    motions_reduce_columns(newton->motions, false, newton->Q_N, ldl, newton->S);
    double* H = newton->grid; // w S - V'C(tau) V N
    if (newton->curved) {
        multiply_blocks(sim->system, newton, newton->C_tau);
        motions_reduce_columns(newton->motions, true, newton->Q_N, ldl, H);
    }
    for (int i = 0; i < newton->k * ldl; ++i) H[i] = w * newton->S[i] - (newton->curved ? H[i] : 0);
    lash_dense_multiply_blocks(newton->l, ldl, newton->k, 1, newton->N, 1, ldl, H, ldl, false,
                               newton->Theta, ldl);
    for (int j = 0; j < newton->l; ++j) {
        newton->Theta[j * ldl + j] += 1;
        for (int i = newton->l; i < ldl; ++i) newton->Theta[j * ldl + i] = 0;
    }
    return invert(newton->l, newton->Theta, ldl, newton->swap, newton->x);
}

// Rows of contact c (in newton->rows) that the motions do not move.
static void find_held_rows(const LashSim* sim, Step* step, ContactNewton* newton, int c,
                           int touched, const int* first, const int* last) {
    const LashInteraction* item = &step->list->item[step->contact[c]];
    for (int r = 0; r < item->rows; ++r) {
        double length = 0;
        for (int i = 0; i < touched; ++i)
            for (int k = first[i]; k < last[i]; ++k)
                length += newton->rows[r * newton->ldk + k] * newton->rows[r * newton->ldk + k];
        step->held[step->first[c] + r] =
            newton->p > 0 && is_held(length, row_mobility(sim, item, step->G, r));
        newton->holds = newton->holds || step->held[step->first[c] + r];
    }
}

// Z (k x ld) = G + N Theta'(w (D N - G'S))', which W is the product of with G*.
static void answer_motions(LashSim* sim, Step* step, ContactNewton* newton) {
    int ld = newton->ld, ldl = newton->ldl, ldk = newton->ldk;
    double w = step->stencil.d_v, *X = newton->X_0, *T = newton->X; // T (m x ldl)
    memset(newton->Z, 0, (size_t)(newton->k * ld) * sizeof *newton->Z);
    if (newton->derivatives != DERIVATIVES_NONE)
        memset(T, 0, (size_t)(newton->m * ldl) * sizeof *T);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        int first[LASH_MAX_TOUCHED], last[LASH_MAX_TOUCHED], at = step->first[c];
        int touched = motions_touched(newton->motions, item, first, last);
        motions_rows(newton->motions, item, law_rows(step), item->rows, true, newton->rows, ldk);
        find_held_rows(sim, step, newton, c, touched, first, last);
        for (int i = 0; i < touched; ++i) {
            for (int k = first[i]; k < last[i]; ++k)
                for (int r = 0; r < item->rows; ++r)
                    newton->Z[k * ld + at + r] = newton->rows[r * ldk + k];
            if (newton->derivatives == DERIVATIVES_NONE) continue;
            lash_dense_multiply_blocks(item->rows, ldl, last[i] - first[i], -1,
                                       newton->rows + first[i], ldk, 1, newton->S + first[i] * ldl,
                                       ldl, true, T + at * ldl, ldl);
        }
        if (newton->derivatives == DERIVATIVES_ALL)
            add_rows(sim->system, item, newton->D, newton->N_v, ldl, T + at * ldl);
    }
    if (newton->derivatives == DERIVATIVES_NONE) return;
    for (int j = 0; j < newton->l; ++j) {
        for (int i = 0; i < newton->m; ++i) X[j * ld + i] = w * T[i * ldl + j];
        for (int i = newton->m; i < ld; ++i) X[j * ld + i] = 0;
    }
    lash_dense_multiply_blocks(newton->l, ld, newton->l, 1, newton->Theta, 1, ldl, X, ld, false,
                               newton->X, ld);
    lash_dense_multiply_blocks(newton->k, ld, newton->l, 1, newton->N, ldl, 1, newton->X, ld, true,
                               newton->Z, ld);
}

// W = Z'G* = G'G* + w (D N - G'S) Theta N'G* (m x m, by columns)
static void answer_contacts(LashSim* sim, Step* step, ContactNewton* newton) {
    int ld = step->ldw = newton->ld = lash_dense_padded(step->m);
    newton->m = step->m;
    newton->holds = false;
    answer_motions(sim, step, newton);
    for (int c = 0; c < step->nc; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        int first[LASH_MAX_TOUCHED], last[LASH_MAX_TOUCHED];
        int touched = motions_touched(newton->motions, item, first, last);
        double* W = step->W + step->first[c] * ld;
        motions_rows(newton->motions, item, step->G_star, item->rows, false, newton->rows,
                     newton->ldk);
        if (touched == 0) memset(W, 0, (size_t)(item->rows * ld) * sizeof *W);
        for (int i = 0; i < touched; ++i)
            lash_dense_multiply_blocks(item->rows, ld, last[i] - first[i], 1,
                                       newton->rows + first[i], newton->ldk, 1,
                                       newton->Z + first[i] * ld, ld, i > 0, W, ld);
    }
    if (newton->holds) part_held_rows(step, step->W, ld);
}

// What the joints answer to unit impulses of the contacts, -Y'G*: their loads press the surfaces of
// joints with friction together.
static void answer_loads(LashSim* sim, const Step* step, ContactNewton* newton) {
    newton->loads = false;
    for (int c = 0; c < step->nc; ++c)
        newton->loads = newton->loads || joint_friction(&step->list->item[step->contact[c]]);
    for (int c = 0; c < step->nc && newton->loads; ++c) {
        const LashInteraction* item = &step->list->item[step->contact[c]];
        for (int r = 0; r < item->rows; ++r) {
            double unit[LASH_MAX_ROWS] = {0},
                   *answer = newton->answer + (step->first[c] + r) * newton->p;
            unit[r] = -1;
            memset(newton->force, 0, (size_t)newton->n * sizeof *newton->force);
            lash_row_apply(sim->system, item, step->G_star, 1, unit, newton->force);
            motions_answer(newton->motions, newton->force, answer);
        }
    }
}

const double* contact_newton_loads(const LashSim* sim, int row) {
    return sim->operators.contacts->answer + row * sim->operators.contacts->p;
}

// Everything an operator depends on beside the positions.
static uint64_t operator_key(const Step* step) {
    uint64_t key = step->list_key ^ (step->levels == POSITIONS ? 1 : 0);
    for (int i = step->list->bilateral; i < step->list->count; ++i)
        key = (key ^ (uint64_t)(step->active[i] + 2 * step->position[i])) * 0x100000001b3u; // FNV
    for (int c = 0; c < step->nc; ++c)
        if (is_empty(step, &step->list->item[step->contact[c]]))
            key ^= step->list->item[step->contact[c]].id;
    return key;
}

static bool fits(const LashSim* sim, const Step* step) {
    const ContactNewton* newton = sim->operators.contacts;
    return newton->valid && newton->h == step->h && newton->key == operator_key(step);
}

void contact_newton_forget(LashSim* sim) {
    islands_forget(sim);
    if (sim->operators.contacts == NULL) return;
    sim->operators.contacts->valid = false;
    sim->operators.contacts->motions_t0 = -INFINITY;
}

// wanted: ALL, or FORCES for an iterate far from the solution, NONE where they are soft.
static bool factor(LashSim* sim, Step* step, Derivatives wanted) {
    const LashSystem* system = sim->system;
    ContactNewton* newton = sim->operators.contacts;
    newton->valid = false;
    newton->levels = step->levels;
    ++newton->number;
    if (newton->motions_t0 != step->t0) { // joints and forces change little within a step
        if (!motions_factor(newton->motions, step->G_star, step->G)) return false;
        system->tangents(system, sim->work, step->stencil.t_force, step->q_force, step->v_force,
                         sim->operators.C_values, sim->operators.K_values);
        newton->soft = forces_are_soft(sim, step);
        newton->damping_couples = couples(system, sim->operators.C_values);
        newton->motions_t0 = step->t0;
    }
    newton->k = motions_count(newton->motions);
    newton->ldk = lash_dense_padded(newton->k);
    if (step->stencil.star_d == 0 && wanted == DERIVATIVES_ALL) // directions of the start stay
        wanted = DERIVATIVES_FORCES;
    newton->derivatives = wanted;
    if (wanted == DERIVATIVES_FORCES && newton->soft) newton->derivatives = DERIVATIVES_NONE;
    newton->curved = false;
    if (newton->derivatives != DERIVATIVES_NONE) derive(sim, step, newton);
    close_contacts(step, newton);
    if (newton->derivatives != DERIVATIVES_NONE && !factor_dynamics(sim, step, newton))
        return false;
    answer_contacts(sim, step, newton);
    answer_loads(sim, step, newton);
    newton->valid = true;
    newton->h = step->h;
    newton->t0 = step->t0;
    newton->key = operator_key(step);
    return true;
}

// --- The operator of an iteration ----------------------------------------------------------------

bool contact_newton_possible(const LashSim* sim, const Step* step) {
    if (sim->operators.contacts == NULL && sim->operators.sparse == NULL) return false;
    if (step->nc + step->nn == 0) return false;
    return !sim->settings.full_newton && step->stencil.d_w == 0 && step->levels != GAPS;
}

bool operator_is_slow(const Step* step, const Convergence* convergence, double t0,
                      double* old_rate) {
    double error = convergence->error;
    double reduction = error / convergence->last;
    if (convergence->i == 1 && convergence->used_old) *old_rate = reduction;
    if (convergence->i == 0) {
        if (t0 == step->t0) return false;
        *old_rate *= tuning.recovery;
        return error * *old_rate > tuning.keep_below;
    }
    double left = log(error / step->goal) / -log(fmin(reduction, 0.99)); // corrections
    return left > tuning.chords;
}

static bool renew(LashSim* sim, Step* step, Convergence* convergence) {
    bool fit = fits(sim, step), far_off = step->contact_error > tuning.far_off;
    bool again =
        attempt_renews(step->attempt) ||
        operator_is_slow(step, convergence, sim->operators.contacts->t0, &sim->experience.old_rate);
    if (step->contact_error < tuning.far_off) convergence->derivatives = DERIVATIVES_ALL;
    if (fit && !again) return true;
    Derivatives wanted = fit ? convergence->derivatives : DERIVATIVES_ALL;
    if (!fit && far_off) wanted = DERIVATIVES_FORCES;
    return factor(sim, step, wanted);
}

static bool correct(LashSim* sim, Step* step, Convergence* convergence) {
    const ContactNewton* newton = sim->operators.contacts;
    convergence->used_old = newton->t0 != step->t0;
    if (contact_newton_correct(sim, step)) return true;
    if (newton->derivatives != DERIVATIVES_ALL) return false;
    convergence->derivatives = DERIVATIVES_FORCES; // with all derivatives there may be no answer
    return factor(sim, step, DERIVATIVES_FORCES) && contact_newton_correct(sim, step);
}

static Derivatives derivatives(const LashSim* sim, const Step* step) {
    (void)step;
    return sim->operators.contacts->derivatives;
}

const Operator operator_contacts = {
    .name = "contacts", .renew = renew, .correct = correct, .derivatives = derivatives};

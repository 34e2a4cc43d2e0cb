// One correction with the sparse operator (operator_sparse.c): the linearised step solved by a
// semismooth Newton iteration over the statuses of its contacts.
//
//     repeat  residuals of all equations at the inner iterate y = (dv, dd, dP, dtau, P, tau)
//             statuses of the contacts from P - rho u and, of positions, from tau - rho g
//             factor, where they are not those of the factor at hand
//             y <- y - K^-1 residual
//
// The residuals are those of the present directions and derivatives, without the shift on the
// diagonal; the factor may be older: the iteration then is one of refinement. Statuses, with
// p = P_N - rho u_N, z = P_T - rho u_T, rho = 1/lambda (reduced.c has the same):
//
//     open:  p <= 0                          P = 0
//     stick: |z| <= mu p                     u = 0
//     slip:  |z| > mu p,  d = z/|z|          u_N = 0,  d.P_T = mu P_N,  e.u_T + k e.P_T = 0
//                                            k = (|z| - mu p) lambda / (mu p),  e across d
//
// Where this does not end, a proximal term holds P near a center, u + prox lambda (P - center), and
// is taken away in steps: each is a problem with a well conditioned matrix; tau likewise. Work is
// bounded: so many factors in a pass, and no more.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/step/rows.h"
#include "solvers/step/sparse_newton_internal.h"

enum {
    MOST_STEPS = 30, // of one inner iteration
    PATIENCE = 9,    // of them in a row without half the error
    SOON = 4,        // the same where velocities alone begin at P = 0
    SEEN = 4,        // errors of the last ones that are compared with the latest
    CIRCLE = 3       // as many for one that comes back to one of them
};

typedef struct Errors {
    double velocity, position; // [m/s], [m]
} Errors;

typedef struct Target {
    Errors enough; // to end with
    Errors near;   // that still are of use: a tenth of those of the step
} Target;

// What no inner iteration need go below: rounding is not far.
static double least_velocity(const LashSim* sim) {
    return 0.02 * sim->settings.tolerance_velocity;
}

static double least_position(const LashSim* sim) {
    return 0.01 * sim->settings.tolerance_position;
}

// In units of what is enough.
static double in_units(Errors errors, Errors enough) {
    return worse(errors.velocity / enough.velocity, errors.position / enough.position);
}

// --- Residuals -----------------------------------------------------------------------------------

static void gather(const LashSystem* system, SparseNewton* newton, double w) {
    SparseShared* shared = newton->shared;
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b), at = system->block_start[b];
        const double* y = newton->y + shared->body_x[b];
        for (int k = 0; k < n; ++k) {
            shared->dv[at + k] = y[k];
            shared->dd[at + k] = newton->parts == 2 ? y[n + k] : w * y[k];
        }
    }
}

// First velocity and size of the i-th body of an island.
typedef struct Range {
    int at, size;
} Range;
static Range velocities_of(const LashSystem* system, const SparseNewton* newton, int i) {
    int b = newton->body[i];
    return (Range){system->block_start[b], lash_block_size(system, b)};
}

// y += s x over the bodies of an island
static void add_vectors(const LashSystem* system, const SparseNewton* newton, double s,
                        const double* x, double* y) {
    for (int b = 0; b < newton->bodies; ++b) {
        Range range = velocities_of(system, newton, b);
        lash_axpy(range.size, s, x + range.at, y + range.at);
    }
}

// force += weight A dd over the blocks of an interaction, A (size x size)
static void add_turned(const LashSystem* system, const LashInteraction* item, int size,
                       double weight, const double* A, const double* dd, double* force) {
    for (int b = 0; b < item->touched; ++b) {
        int n = lash_block_size(system, item->block[b]);
        const double* x = dd + system->block_start[item->block[b]];
        for (int j = 0; j < n; ++j, A += size) {
            const double* column = A;
            double s = weight * x[j];
            for (int a = 0; a < item->touched; ++a) {
                int m = lash_block_size(system, item->block[a]);
                double* to = force + system->block_start[item->block[a]];
                for (int i = 0; i < m; ++i) to[i] += s * column[i];
                column += m;
            }
        }
    }
}

// force = r + (M + c_v C) dv + (c_d K - star_d C*(P)) dd - G* dP, move = (M - C(tau)) dd - w M dv
// - G dtau - m
static void dynamics_left(LashSim* sim, const Step* step, SparseNewton* newton) {
    const LashSystem* system = sim->system;
    const Stencil* stencil = &step->stencil;
    SparseShared* shared = newton->shared;
    double *force = shared->force, *move = shared->move, *work = shared->work;
    island_multiply(sim, newton, sim->operators.M_values, shared->dv, force);
    for (int b = 0; b < newton->bodies; ++b) {
        Range range = velocities_of(system, newton, b);
        for (int i = range.at; i < range.at + range.size; ++i)
            move[i] = -stencil->d_v * force[i] - shared->motion[i];
    }
    island_multiply(sim, newton, sim->operators.C_values, shared->dv, work);
    for (int b = 0; b < newton->bodies; ++b) {
        Range range = velocities_of(system, newton, b);
        for (int i = range.at; i < range.at + range.size; ++i)
            force[i] += step->r[i] + stencil->c_v * work[i];
    }
    island_multiply(sim, newton, sim->operators.K_values, shared->dd, work);
    add_vectors(system, newton, stencil->c_d, work, force);
    if (newton->parts == 2) {
        island_multiply(sim, newton, sim->operators.M_values, shared->dd, work);
        add_vectors(system, newton, 1, work, move);
    }
    for (int j = 0; j < newton->joints; ++j) {
        int i = newton->joint[j];
        const LashInteraction* item = &step->list->item[i];
        const double* y = newton->y + shared->joint_x[i];
        lash_row_apply(system, item, step->G_star, -1, y, force);
        if (newton->parts == 2) lash_row_apply(system, item, step->G, -1, y + item->rows, move);
    }
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        double dP[LASH_MAX_ROWS] = {0};
        if (slot->empty) continue;
        for (int r = 0; r < slot->rows; ++r)
            dP[r] = newton->y[slot->x + r] - step->P[item->row + r];
        if (slot->rows > 0) lash_row_apply(system, item, step->G_star, -1, dP, force);
        if (newton->derivatives == DERIVATIVES_ALL)
            add_turned(system, item, slot->size, -stencil->star_d, newton->turn + slot->turn,
                       shared->dd, force);
        if (!slot->has_tau) continue;
        double dtau[LASH_MAX_ROWS] = {newton->y[slot->x + slot->rows] - step->tau[item->row]};
        lash_row_apply(system, item, step->G, -1, dtau, move);
        if (newton->curved)
            add_turned(system, item, slot->size, -1, newton->turn_tau + slot->turn, shared->dd,
                       move);
    }
}

static double load_of(const Step* step, const SparseNewton* newton, const LashInteraction* item) {
    const LashInteraction* joint = &step->list->item[item->load];
    const double* dP = newton->y + newton->shared->joint_x[item->load];
    double sum = 0;
    for (int r = 0; r < joint->rows; ++r) {
        double P = step->P[joint->row + r] + dP[r];
        if (item->load_rows >> r & 1) sum += P * P;
    }
    return sqrt(sum);
}

// u and gap of the slots.
static void slot_velocities(LashSim* sim, const Step* step, SparseNewton* newton) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        double u[LASH_MAX_ROWS], turned[LASH_MAX_ROWS] = {0};
        if (slot->rows > 0) {
            lash_row_velocity(system, item, law_rows(step), shared->dv, u);
            if (newton->derivatives == DERIVATIVES_ALL) {
                LashInteraction packed = *item;
                packed.offset = slot->D;
                lash_row_velocity(system, &packed, newton->D, shared->dd, turned);
            }
        }
        for (int r = 0; r < slot->rows; ++r) {
            double P = newton->y[slot->x + r];
            slot->u[r] = step->U[item->row + r] + slot->shift[r] + u[r] + turned[r];
            if (newton->prox > 0)
                slot->u[r] += newton->prox * slot->lambda * (P - newton->center[slot->x + r]);
        }
        if (joint_friction(item))
            slot->u[0] = slot->lambda_n * (newton->y[slot->x] - load_of(step, newton, item));
        if (!slot->has_tau || slot->empty) continue;
        lash_row_velocity(system, item, step->G, shared->dd, u);
        slot->gap = step->g[item->row] + u[0];
        int tau = slot->x + slot->rows;
        if (newton->prox > 0 && !newton->split)
            slot->gap += newton->prox * slot->lambda_n * (newton->y[tau] - newton->center[tau]);
    }
}

static double largest_push(const SparseNewton* newton) {
    double largest = 0;
    for (int s = 0; s < newton->slots; ++s)
        if (newton->slot[s].rows > 0) largest = fmax(largest, newton->y[newton->slot[s].x]);
    return largest;
}

// |P - proj(P - rho (u + (mu |u_T|, 0, 0)))| / rho of a slot [m/s]
static double law_error(const Slot* slot, double mu, const double* P) {
    double rho = 1 / slot->lambda, z[3] = {0}, t = 0, sum = 0;
    int rows = slot->rows;
    if (P[0] > LASH_LARGE_PUSH * rho && rows > 1)
        return friction_natural_exact(rows, mu, rho, P, slot->u) * slot->lambda;
    for (int r = 1; r < rows; ++r) t += slot->u[r] * slot->u[r];
    z[0] = P[0] - rho * (slot->u[0] + mu * sqrt(t));
    for (int r = 1; r < rows; ++r) z[r] = P[r] - rho * slot->u[r];
    t = sqrt(z[1] * z[1] + z[2] * z[2]);
    if (rows == 1) {
        if (z[0] < 0) z[0] = 0;
    } else if (t > mu * z[0]) {
        double along = fmax(0, (z[0] + mu * t) / (1 + mu * mu));
        double scale = t > 0 ? mu * along / t : 0;
        z[0] = along;
        z[1] *= scale;
        z[2] *= scale;
    }
    for (int r = 0; r < rows; ++r) sum += (P[r] - z[r]) * (P[r] - z[r]);
    return sqrt(sum) * slot->lambda;
}

static Errors inner_errors(const LashSim* sim, const Step* step, SparseNewton* newton) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    double velocity = 0, position = 0, u[LASH_MAX_ROWS];
    for (int k = 0; k < newton->bodies; ++k) {
        int b = newton->body[k], n = lash_block_size(system, b), at = system->block_start[b];
        const double* M = sim->operators.M_values + system->pattern.offset[b];
        for (int i = 0; i < n; ++i) {
            double inverse = 1 / M[i + n * i];
            velocity = worse(velocity, sim->weight[at + i] * fabs(shared->force[at + i]) * inverse);
            if (newton->parts == 2)
                position = worse(position, fabs(shared->move[at + i]) * inverse);
        }
    }
    for (int j = 0; j < newton->joints; ++j) {
        const LashInteraction* item = &step->list->item[newton->joint[j]];
        lash_row_velocity(system, item, step->G, shared->dv, u);
        for (int r = 0; r < item->rows; ++r)
            velocity = worse(velocity, fabs(step->U[item->row + r] + u[r]));
        if (newton->parts == 1) continue;
        lash_row_velocity(system, item, step->G, shared->dd, u);
        for (int r = 0; r < item->rows; ++r)
            position = worse(position, fabs(step->g[item->row + r] + u[r]));
    }
    double scale = 1 / (1 + newton->b_norm), contacts = 0;
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        const double* P = newton->y + slot->x;
        double mu = step->list->item[slot->item].mu;
        if (slot->rows > 0 && !slot->empty) contacts = worse(contacts, law_error(slot, mu, P));
        if (!slot->has_tau || slot->empty) continue;
        bool closed = slot->pushed || P[slot->rows] != 0;
        position = worse(position, closed ? fabs(slot->gap) : worse(-slot->gap, 0));
    }
    velocity = worse(velocity, contacts * scale);
    return (Errors){velocity, newton->positions_wait ? 0 : position};
}

// --- Statuses ------------------------------------------------------------------------------------

static void decide_slip(Slot* slot, double mu, double p, const double* z) {
    double length = sqrt(z[0] * z[0] + z[1] * z[1]), push = mu * p;
    slot->status = SLOT_SLIPS;
    slot->smooth = !(mu > 0);
    push = fmax(push, 1e-12 * length); // p is zero, or below by rounding
    slot->d[0] = length > 0 ? z[0] / length : 1;
    slot->d[1] = length > 0 ? z[1] / length : 0;
    slot->k = slot->smooth ? slot->lambda : (length - push) * slot->lambda / push;
}

// threshold: velocities that count as none [m/s]; below 0: what neither moves nor pushes yet is closed,
// and sticks. band: gaps that count as closed, either way [m]
static void decide(const Step* step, SparseNewton* newton, double threshold, double band) {
    double pushes = tuning.pushes * largest_push(newton);
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        const double* P = newton->y + slot->x;
        double rho = 1 / slot->lambda, p = 0;
        slot->status = SLOT_OPEN;
        slot->smooth = false;
        if (slot->rows > 0 && !slot->empty) {
            double z[2] = {0};
            p = P[0] - rho * slot->u[0];
            for (int r = 1; r < slot->rows; ++r) z[r - 1] = P[r] - rho * slot->u[r];
            if (p * slot->lambda > threshold) {
                slot->status = SLOT_STICKS;
                double most = item->mu * p + (item->mu > 0 ? fabs(threshold) * rho : 0);
                if (slot->rows > 1 && z[0] * z[0] + z[1] * z[1] > most * most)
                    decide_slip(slot, item->mu, p, z);
            }
        }
        if (!slot->has_tau) continue;
        slot->closed = false;
        slot->pushed = false;
        if (slot->empty) continue;
        slot->pushed = slot->rows > 0 && P[0] > pushes &&
                       step->position[slot->item] == POSITION_CLOSED_IF_PUSHED;
        bool will_push = slot->status != SLOT_OPEN &&
                         step->position[slot->item] == POSITION_CLOSED_IF_PUSHED && p > pushes;
        slot->closed = will_push || P[slot->rows] * slot->lambda_n > slot->gap + band;
    }
}

static bool as_factored(const SparseNewton* newton) {
    if (!newton->factored || newton->prox != newton->made_prox) return false;
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        if (slot->status != slot->made) return false;
        if (!newton->split && slot->closed != slot->made_closed) return false;
    }
    return true;
}

// --- A step --------------------------------------------------------------------------------------

static void slot_right_side(const Step* step, const SparseNewton* newton, const Slot* slot,
                            double* x) {
    const double* P = newton->y + slot->x;
    double mu = step->list->item[slot->item].mu, lambda = slot->lambda;
    for (int r = 0; r < slot->rows; ++r)
        x[r] = slot->status == SLOT_OPEN ? -lambda * P[r] : -slot->u[r];
    if (slot->status == SLOT_SLIPS) {
        double along = -mu * P[0], across = 0;
        for (int r = 1; r < slot->rows; ++r) along += slot->d[r - 1] * P[r];
        double e[2] = {-slot->d[1], slot->d[0]};
        if (slot->rows == 3) {
            across = slot->k * (e[0] * P[1] + e[1] * P[2]);
            if (!slot->smooth) across += e[0] * slot->u[1] + e[1] * slot->u[2];
        }
        for (int r = 1; r < slot->rows; ++r)
            x[r] = -lambda * slot->d[r - 1] * along - e[r - 1] * across;
    }
    if (slot->has_tau) x[slot->rows] = slot->closed ? -slot->gap : -slot->lambda_n * P[slot->rows];
}

void sparse_right_side(LashSim* sim, const Step* step, SparseNewton* newton) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    double u[LASH_MAX_ROWS];
    for (int i = 0; i < newton->bodies; ++i) {
        int b = newton->body[i], n = lash_block_size(system, b), at = system->block_start[b];
        double* x = newton->x + shared->body_x[b];
        for (int k = 0; k < n; ++k) {
            x[k] = -shared->force[at + k];
            if (newton->parts == 2) x[n + k] = -shared->move[at + k];
        }
    }
    for (int j = 0; j < newton->joints; ++j) {
        const LashInteraction* item = &step->list->item[newton->joint[j]];
        double* x = newton->x + shared->joint_x[newton->joint[j]];
        lash_row_velocity(system, item, step->G, shared->dv, u);
        for (int r = 0; r < item->rows; ++r) x[r] = -step->U[item->row + r] - u[r];
        if (newton->parts == 1) continue;
        lash_row_velocity(system, item, step->G, shared->dd, u);
        for (int r = 0; r < item->rows; ++r) x[item->rows + r] = -step->g[item->row + r] - u[r];
    }
    for (int s = 0; s < newton->slots; ++s)
        slot_right_side(step, newton, &newton->slot[s], newton->x + newton->slot[s].x);
}

// What is open has no impulse at all, not only a rounded one.
static void take_step(LashSim* sim, const Step* step, SparseNewton* newton) {
    sparse_right_side(sim, step, newton);
    sparse_solve(sim, step, newton, newton->x);
    lash_axpy(newton->unknowns, 1, newton->x, newton->y);
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        double* P = newton->y + slot->x;
        bool open = slot->status == SLOT_OPEN && !newton->velocities_wait;
        for (int r = 0; r < slot->rows && open; ++r) P[r] = 0;
        if (slot->has_tau && !slot->closed) P[slot->rows] = 0;
    }
    ++sim->info.solver;
}

// --- The inner iteration -------------------------------------------------------------------------

void sparse_velocities(LashSim* sim, const Step* step, SparseNewton* newton) {
    gather(sim->system, newton, step->stencil.d_v);
    slot_velocities(sim, step, newton);
}

void sparse_evaluate(LashSim* sim, const Step* step, SparseNewton* newton) {
    gather(sim->system, newton, step->stencil.d_v);
    dynamics_left(sim, step, newton);
    slot_velocities(sim, step, newton);
}

static bool no_impulses(const SparseNewton* newton) {
    for (int s = 0; s < newton->slots; ++s)
        for (int r = 0; r < newton->slot[s].rows; ++r)
            if (newton->y[newton->slot[s].x + r] != 0) return false;
    return true;
}

static void clear_impulses(SparseNewton* newton) {
    for (int s = 0; s < newton->slots; ++s)
        for (int r = 0; r < newton->slot[s].rows; ++r) newton->y[newton->slot[s].x + r] = 0;
}

// Goes back on the latest step, x, where it has made things worse: the best of a few shorter ones.
static Errors shorten(LashSim* sim, Step* step, SparseNewton* newton, Errors enough, Errors errors,
                      double last) {
    enum { HALVINGS = 2 };
    double best = in_units(errors, enough), alpha = 1, taken = 1;
    for (int k = 0; k < HALVINGS && !(best < last); ++k) {
        lash_axpy(newton->unknowns, -0.5 * alpha, newton->x, newton->y);
        alpha *= 0.5;
        sparse_evaluate(sim, step, newton);
        Errors shorter = inner_errors(sim, step, newton);
        double error = in_units(shorter, enough);
        if (!(error < best)) continue;
        best = error;
        taken = alpha;
    }
    lash_axpy(newton->unknowns, taken - alpha, newton->x, newton->y);
    sparse_evaluate(sim, step, newton);
    return inner_errors(sim, step, newton);
}

// Share of the error above which a factor of the same statuses is renewed: of a pile it costs as much as some thirty
// iterations. near: its velocities are near enough.
static double slow_rate(const SparseNewton* newton, bool near) {
    if (near) return INFINITY;
    return newton->split ? 0.5 : 0.1;
}

// A factor for the statuses of y, where the one at hand is of others or has served badly; at P = 0,
// if so wanted. False: there is none.
static bool ready(LashSim* sim, Step* step, SparseNewton* newton, bool slow, bool at_zero) {
    bool positions = newton->split && !newton->positions_wait;
    if (positions && !sparse_positions_as_factored(newton)) {
        if (!sparse_factor_positions(sim, step, newton)) return false;
    }
    if (newton->velocities_wait || (!slow && as_factored(newton))) return true;
    if (!sparse_may_factor(sim, newton)) return false;
    if (at_zero) {
        clear_impulses(newton);
        sparse_evaluate(sim, step, newton);
    }
    return sparse_factor(sim, step, newton);
}

// Was one of the last errors the same? Then statuses run in a circle. Keeps the one of iteration k.
static bool seen_before(double* seen, int k, double error) {
    bool again = false;
    for (int i = 0; i < SEEN; ++i) again = again || fabs(error - seen[i]) <= 1e-3 * error;
    seen[k % SEEN] = error;
    return again;
}

// With a matrix of their own velocities that are near enough need no new factor of theirs for positions: they move on with
// the one at hand, or stay as they are. Returns whether they are near enough.
static bool let_velocities_wait(SparseNewton* newton, Errors errors, Errors enough) {
    bool near = errors.velocity <= enough.velocity && newton->split && !newton->positions_wait;
    newton->velocities_wait = near && !as_factored(newton);
    return near;
}

// Interior points cost less than a long search for statuses: with half a course that lands on a wall Newton finds
// none from P = 0, and 5 factors of 40 are saved. With 3, walls that Newton would do take them, too.
static int patience(const SparseNewton* newton, bool from_nothing) {
    return from_nothing && newton->positions_wait ? SOON : PATIENCE;
}

// Newton from y until it is near enough or nothing helps; y ends at the best iterate. from_nothing:
// the first step begins at P = 0, with the statuses of y. Returns the errors there.
static Errors descend(LashSim* sim, Step* step, SparseNewton* newton, Errors enough,
                      bool from_nothing) {
    size_t bytes = (size_t)newton->unknowns * sizeof *newton->y;
    static const double FAR = 1e4; // times the first error: impulses are those of a singular matrix
    double best = INFINITY, last = INFINITY, first = INFINITY, seen[SEEN] = {0};
    Errors best_errors = {INFINITY, INFINITY};
    double threshold = 0.1 * fmin(sim->settings.tolerance_solver, 1e-10) * (1 + newton->b_norm);
    double band = 0.5e-2 * sim->settings.tolerance_position;
    int most_idle = patience(newton, from_nothing);
    for (int k = 0, idle = 0; k <= MOST_STEPS && idle < most_idle; ++k) {
        sparse_evaluate(sim, step, newton);
        Errors errors = inner_errors(sim, step, newton);
        if (k > 1 && in_units(errors, enough) > last)
            errors = shorten(sim, step, newton, enough, errors, last);
        double error = in_units(errors, enough);
        newton->singular = from_nothing && error > FAR * first;
        if (!(error < INFINITY) || newton->singular) break;
        if (k == 0) first = error;
        bool again = seen_before(seen, k, error);
        idle = error < 0.5 * best ? 0 : idle + (again ? CIRCLE : 1);
        if (error < best && (k > 0 || !from_nothing)) {
            best = error;
            best_errors = errors;
            memcpy(newton->best, newton->y, bytes);
        }
        if (k > 0 && best <= 1) break;
        decide(step, newton, no_impulses(newton) ? -threshold : threshold, band);
        bool near = let_velocities_wait(newton, errors, enough);
        bool slow = error > slow_rate(newton, near) * last;
        if (!ready(sim, step, newton, slow, from_nothing && k == 0)) break;
        last = error;
        take_step(sim, step, newton);
    }
    newton->velocities_wait = false;
    if (best < INFINITY) memcpy(newton->y, newton->best, bytes);
    return best_errors;
}

// The same; velocities alone first where they have a matrix of their own. Each iteration then leaves a share of
// the error where one with all in one matrix leaves rounding, which the steps to come begin with: it goes on.
static Errors iterate(LashSim* sim, Step* step, SparseNewton* newton, Errors enough,
                      bool from_nothing) {
    static const double FURTHER = 0.1;
    if (!newton->split) return descend(sim, step, newton, enough, from_nothing);
    if (step->correction > 0) {
        enough.velocity = fmax(least_velocity(sim), FURTHER * enough.velocity);
        enough.position = fmax(least_position(sim), FURTHER * enough.position);
        return descend(sim, step, newton, enough, from_nothing);
    }
    newton->positions_wait = true;
    Errors errors = descend(sim, step, newton, enough, from_nothing);
    newton->positions_wait = false;
    if (newton->singular || !(errors.velocity <= enough.velocity))
        return (Errors){INFINITY, INFINITY};
    return descend(sim, step, newton, enough, false);
}

// --- The correction ------------------------------------------------------------------------------

// b: velocities of the contacts without their impulses; its norm is the scale of their errors.
static void measure_free_velocity(LashSim* sim, Step* step, SparseNewton* newton) {
    const LashSystem* system = sim->system;
    double sum = 0, u[LASH_MAX_ROWS], *work = newton->shared->work;
    for (int b = 0; b < newton->bodies; ++b) {
        Range range = velocities_of(system, newton, b);
        memset(work + range.at, 0, (size_t)range.size * sizeof *work);
    }
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        if (slot->rows > 0 && !slot->empty)
            lash_row_apply(system, item, step->G_star, 1, step->P + item->row, work);
    }
    for (int i = 0; i < newton->bodies; ++i)
        lash_block_lu_solve_block(sim->operators.M, newton->body[i], work);
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        if (slot->rows == 0 || slot->empty || joint_friction(item)) continue;
        lash_row_velocity(system, item, law_rows(step), work, u);
        for (int r = 0; r < slot->rows; ++r) {
            double b = step->U[item->row + r] + slot->shift[r] - u[r];
            sum += b * b;
        }
    }
    newton->b_norm = sqrt(sum);
}

static void begin(LashSim* sim, Step* step, SparseNewton* newton) {
    memset(newton->y, 0, (size_t)newton->unknowns * sizeof *newton->y);
    newton->prox = 0;
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        slot->empty = is_empty(step, item);
        double scale = step->scale[slot->item];
        slot->lambda = scale > 0 ? 1 / scale : 1;
        slot->lambda_n = joint_friction(item) ? slot->lambda / fmax(1, item->rows - 1)
                                              : row_mobility(sim, item, step->G, 0);
        if (!(slot->lambda_n > 0) || slot->empty) slot->lambda_n = 1;
        if (slot->rows > 0) law_shift(step, slot->item, slot->shift);
        for (int r = 0; r < slot->rows && !slot->empty; ++r)
            newton->y[slot->x + r] = step->P[item->row + r];
        if (slot->has_tau && !slot->empty) newton->y[slot->x + slot->rows] = step->tau[item->row];
    }
    measure_free_velocity(sim, step, newton);
}

// Takes the inner iterate over.
static void finish(LashSim* sim, Step* step, SparseNewton* newton) {
    const LashSystem* system = sim->system;
    const SparseShared* shared = newton->shared;
    gather(system, newton, step->stencil.d_v);
    add_vectors(system, newton, 1, shared->dv, step->v);
    for (int j = 0; j < newton->joints; ++j) {
        const LashInteraction* item = &step->list->item[newton->joint[j]];
        const double* y = newton->y + shared->joint_x[newton->joint[j]];
        for (int r = 0; r < item->rows; ++r) {
            step->P[item->row + r] += y[r];
            if (newton->parts == 2) step->tau[item->row + r] += y[item->rows + r];
        }
    }
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        const LashInteraction* item = &step->list->item[slot->item];
        for (int r = 0; r < slot->rows; ++r) step->P[item->row + r] = newton->y[slot->x + r];
        if (slot->has_tau) step->tau[item->row] = newton->y[slot->x + slot->rows];
    }
    if (newton->parts == 1) return;
    double w = step->stencil.d_v;
    for (int b = 0; b < newton->bodies; ++b) {
        Range range = velocities_of(system, newton, b);
        for (int i = range.at; i < range.at + range.size; ++i)
            step->shift[i] += shared->dd[i] - w * shared->dv[i];
    }
}

// Newton squares the error of the step, so the inner one need not do better than that: that of all
// islands, as a pass in which one of them is far off will end with more contacts.
static Target target_of(const LashSim* sim) {
    const IslandErrors* worst = &sim->operators.sparse->worst;
    double v = worse(worst->contact, worse(worst->velocity, worst->dynamics));
    double p = worst->position;
    double least_v = least_velocity(sim), least_p = least_position(sim);
    return (Target){.enough = {fmax(least_v, v * fmin(1e-2, 10 * v)), fmax(least_p, 1e-3 * p)},
                    .near = {fmax(least_v, 0.1 * v), fmax(least_p, 0.1 * p)}};
}

// Error of the equations themselves at y.
static Errors plain_errors(LashSim* sim, Step* step, SparseNewton* newton) {
    double prox = newton->prox;
    newton->prox = 0;
    sparse_evaluate(sim, step, newton);
    Errors errors = inner_errors(sim, step, newton);
    newton->prox = prox;
    return errors;
}

// The same problem held near a center: the hold becomes weaker as long as that is solved, stronger
// where not, and each answer is the next center. One that is near enough is not left for a better.
static Errors hold(LashSim* sim, Step* step, SparseNewton* newton, Target target, double prox,
                   int most_idle) {
    enum { ROUNDS = 100 };
    static const double LEAST = 1e-9, WEAKER = 0.1;
    size_t bytes = (size_t)newton->unknowns * sizeof *newton->y;
    double best = INFINITY;
    Errors enough = target.enough, best_errors = {INFINITY, INFINITY}, loose = enough;
    int wait = 0,
        longest = 1; // answers before a weaker hold is tried again; twice as many each time
    memcpy(newton->center, newton->y, bytes);
    memcpy(newton->kept, newton->y, bytes);
    for (int round = 0, idle = 0; round < ROUNDS && idle < most_idle; ++round) {
        if (!sparse_may_factor(sim, newton)) break;
        newton->prox = prox;
        if (!(in_units(iterate(sim, step, newton, loose, false), loose) <= 1)) {
            if (in_units(best_errors, target.near) <= 1) break;
            memcpy(newton->y, newton->center, bytes);
            prox /= WEAKER;
            longest *= 2;
            wait = longest;
            ++idle;
            continue;
        }
        Errors errors = plain_errors(sim, step, newton);
        double error = in_units(errors, enough);
        idle = error < 0.7 * best ? 0 : idle + 1;
        memcpy(newton->center, newton->y, bytes);
        if (error < best) {
            best = error;
            best_errors = errors;
            memcpy(newton->kept, newton->y, bytes);
        }
        if (best <= 1) break;
        loose.velocity = fmax(enough.velocity, 0.1 * fmin(errors.velocity, loose.velocity));
        if (--wait < 0) prox = fmax(LEAST, WEAKER * prox);
    }
    memcpy(newton->y, newton->kept, bytes);
    newton->prox = 0;
    return best_errors;
}

// A pile, from the impulses of sweeps: held near them, and near each answer in turn, whether it is better than the
// one before or not. One factor serves as many answers as have the same statuses, so the hold is changed only where no
// answer is found (stronger), or one that is hardly better (weaker). Sliding contacts can make the matrix slightly
// indefinite: then answers in turn lead away from there, and to where other statuses hold.
static Errors hold_pile(LashSim* sim, Step* step, SparseNewton* newton, Target target) {
    enum { ROUNDS = 100, IDLE = 25 };
    static const double FIRST = 1e-4, LEAST = 1e-8, MOST = 0.1, WEAKER = 0.3, STRONGER = 10;
    static const double SHARE = 0.1; // of the plain error that an answer may be off by
    static const double BETTER =
        0.5; // of the plain error before it: what a good one leaves at most
    size_t bytes = (size_t)newton->unknowns * sizeof *newton->y;
    Errors enough = target.enough, errors = plain_errors(sim, step, newton), best = errors;
    double hold = FIRST, least = LEAST, best_error = in_units(best, enough);
    memcpy(newton->kept, newton->y, bytes);
    for (int round = 0, idle = 0; round < ROUNDS && idle < IDLE && best_error > 1; ++round) {
        double last = in_units(errors, enough);
        Errors near = {fmax(0.5 * enough.velocity, SHARE * errors.velocity),
                       fmax(0.5 * enough.position, SHARE * errors.position)};
        memcpy(newton->center, newton->y, bytes);
        newton->prox = hold;
        if (!(in_units(descend(sim, step, newton, near, false), near) <= 1)) {
            least = hold / WEAKER;
            hold *= STRONGER;
            memcpy(newton->y, newton->center, bytes);
            if (hold > MOST || !sparse_may_factor(sim, newton)) break;
            continue;
        }
        errors = plain_errors(sim, step, newton);
        double error = in_units(errors, enough);
        bool slow = error > BETTER * last;
        if (slow) hold = fmax(least, WEAKER * hold);
        ++idle;
        if (!(error < best_error)) continue;
        idle = 0;
        best_error = error;
        best = errors;
        memcpy(newton->kept, newton->y, bytes);
        if (slow && step->correction == 0 && in_units(best, target.near) <= 1) break;
    }
    memcpy(newton->y, newton->kept, bytes);
    newton->prox = 0;
    return best;
}

// Velocities first, then positions beside them. The first correction of a pass need only show which contacts close.
static Errors correct_pile(LashSim* sim, Step* step, SparseNewton* newton, Target target) {
    static const double SHARE_V = 1e-2, SHARE_P = 5e-2;
    const IslandErrors* worst = &sim->operators.sparse->worst;
    if (step->correction == 0) {
        double v = worse(worst->contact, worse(worst->velocity, worst->dynamics));
        target.enough.velocity = fmax(target.enough.velocity, SHARE_V * v);
        target.enough.position = fmax(target.enough.position, SHARE_P * worst->position);
    }
    newton->positions_wait = true;
    Errors errors = hold_pile(sim, step, newton, target);
    newton->positions_wait = false;
    if (!(errors.velocity <= target.near.velocity)) return (Errors){INFINITY, INFINITY};
    return hold_pile(sim, step, newton, target);
}

// Where Newton alone does not end: interior points, then held near their answer; in later corrections
// held near that of the one before.
static Errors correct_held(LashSim* sim, Step* step, SparseNewton* newton, Target* target) {
    enum { IDLE = 12 };
    static const double NEAR = 1e-4; // hold at an answer of interior points: they leave small
                                     // impulses where there are none, which it lets go
    double enough = 0.2 * sim->settings.tolerance_velocity;
    target->enough.velocity = fmax(target->enough.velocity, enough);
    target->near.velocity = fmax(target->near.velocity, 0.7 * sim->settings.tolerance_velocity);
    begin(sim, step, newton);
    if (!newton->held && sparse_interior(sim, step, newton)) newton->held = true;
    return hold(sim, step, newton, *target, newton->held ? NEAR : 0.1, IDLE);
}

// Newton, in the first correction of a pass from P = 0: the smallest forces. A wall of bricks hangs
// together by more rows than it has velocities, and they fit to each other only nearly: then it is
// held near the impulses of the last step, in the passes to come too, more of them each time.
static Errors by_newton(LashSim* sim, Step* step, SparseNewton* newton, Target target) {
    enum { LONGEST = 63, FEW = 3 };
    static const double FIRST = 1e-3; // hold
    if (newton->pile) return correct_pile(sim, step, newton, target);
    if (step->correction > 0) return iterate(sim, step, newton, target.enough, false);
    if (newton->wait == 0) {
        Errors errors = iterate(sim, step, newton, target.enough, true);
        bool good = in_units(errors, target.near) <= 1;
        if (good) newton->longest = 0;
        if (good || !newton->singular) return errors;
        newton->longest = 2 * newton->longest + 1;
        if (newton->longest > LONGEST) newton->longest = LONGEST;
        newton->wait = newton->longest + 1;
        begin(sim, step, newton);
    }
    --newton->wait;
    return hold(sim, step, newton, target, FIRST, FEW);
}

bool sparse_correct(LashSim* sim, Step* step, SparseNewton* newton) {
    Target target = target_of(sim);
    Errors errors = {INFINITY, INFINITY};
    if (step->correction == 0) newton->held = false;
    begin(sim, step, newton);
    newton->pile = sparse_is_pile(sim, step, newton);
    if (!isfinite(newton->b_norm)) return false;
    if (!newton->held) errors = by_newton(sim, step, newton, target);
    bool alone = sim->operators.contacts == NULL; // no full matrices to go on with, which cost less
    bool shorter = newton->pile && sparse_may_be_shorter(sim, step); // which costs less
    if (alone && !shorter && !(in_units(errors, target.near) <= 1))
        errors = correct_held(sim, step, newton, &target);
    newton->no_answer = !(in_units(errors, target.near) <= 1);
    if (newton->no_answer) return false;
    finish(sim, step, newton);
    return true;
}

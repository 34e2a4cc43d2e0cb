// The friction problem of a correction by interior points, on the sparse matrix of operator_sparse.c:
// where the statuses of contacts cannot be found one from the other.
//
// With s = mu |u_T|, P in its cone and w = u + (s, 0, 0) in the dual one are complementary; for given
// s the optimum of a convex problem, but s follows u in every step, by its derivative too. In p = S P, z = S^-1 w, S = diag(mu, 1, 1),
// both cones are |x_T| <= x_N, and a step towards p o z = sigma mean with the scaling of Nesterov and
// Todd, H p = z, reads
//
//     u + F (G'dv + D dd) + S H S dP = -(s, 0, 0) + sigma mean S p^-1 - S c,   F = 1 + (1, 0, 0)' ds/du,
//     H = eta^2 (2 a a' - J),   eta^4 = det z / det p,   a = (z/sqrt(det z) + J p/sqrt(det p))/(2 gamma)
//
// (Y. Nesterov, M. Todd, SIAM J. Optim. 8, 1998; L. Vandenberghe 2010): the matrix of contacts that
// stick, with blocks S H S on their diagonal; c is what a step with sigma = 0 would leave of p o z.
// It ends near the answer; Newton makes it exact.
#include <math.h>
#include <string.h>

#include "solvers/step/rows.h"
#include "solvers/step/sparse_newton_internal.h"

enum { MOST_STEPS = 40 };

static double det(int rows, const double* x) {
    double sum = x[0] * x[0];
    for (int r = 1; r < rows; ++r) sum -= x[r] * x[r];
    return sum;
}

// Rows of the cone of a slot: one where nothing rubs.
static int cone_rows(const Slot* slot) {
    return slot->smooth ? 1 : slot->rows;
}

static void scale(const Slot* slot, double mu, const double* P, double* p, double* z) {
    int rows = cone_rows(slot);
    double s = rows > 1 ? mu : 1;
    p[0] = s * P[0];
    z[0] = slot->w[0] / s;
    for (int r = 1; r < rows; ++r) {
        p[r] = P[r];
        z[r] = slot->w[r];
    }
}

// S H S of a slot.
static void scale_block(Slot* slot, double mu, const double* P) {
    double p[3] = {0}, z[3] = {0}, a[3] = {0}, gamma = 0;
    int rows = cone_rows(slot);
    scale(slot, mu, P, p, z);
    double dp = sqrt(det(rows, p)), dz = sqrt(det(rows, z)), eta2 = dz / dp;
    for (int r = 0; r < rows; ++r) gamma += p[r] / dp * (z[r] / dz);
    gamma = sqrt(0.5 * (1 + gamma));
    for (int r = 0; r < rows; ++r) a[r] = (z[r] / dz + (r == 0 ? p[r] : -p[r]) / dp) / (2 * gamma);
    memset(slot->H, 0, sizeof slot->H);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j) {
            double J = (i == j) * (i == 0 ? 1 : -1);
            double s = (rows > 1 && i == 0 ? mu : 1) * (rows > 1 && j == 0 ? mu : 1);
            slot->H[i + 3 * j] = s * eta2 * (2 * a[i] * a[j] - J);
        }
    }
    for (int r = rows; r < slot->rows; ++r) slot->H[4 * r] = slot->lambda;
}

// y = eta (2 b (b.x) - J x): T of the scaling, T^2 = H, and with eta < 0 its inverse, J T J / eta^2.
static void apply_root(int rows, double eta, const double* b, const double* x, double* y) {
    double along = 0, scale = fabs(eta);
    for (int r = 0; r < rows; ++r) along += (eta < 0 && r > 0 ? -b[r] : b[r]) * x[r];
    for (int r = 0; r < rows; ++r) {
        double br = eta < 0 && r > 0 ? -b[r] : b[r];
        y[r] = scale * (2 * br * along - (r == 0 ? x[r] : -x[r]));
    }
}

// left = T (l \ c), l = T p, c = (T dp) o (T^-1 dz): what a step along (dp, dz) would leave of p o z,
// to second order (S. Mehrotra, SIAM J. Optim. 2, 1992).
static void second_order(int rows, const double* p, const double* z, const double* dp,
                         const double* dz, double* left) {
    double det_p = sqrt(det(rows, p)), det_z = sqrt(det(rows, z)), eta = sqrt(det_z / det_p);
    double b[3] = {0}, x[3], y[3], l[3], c[3] = {0}, gamma = 0;
    for (int r = 0; r < rows; ++r) gamma += p[r] / det_p * (z[r] / det_z);
    gamma = sqrt(0.5 * (1 + gamma));
    for (int r = 0; r < rows; ++r)
        b[r] = (z[r] / det_z + (r == 0 ? p[r] : -p[r]) / det_p) / (2 * gamma);
    b[0] += 1; // b = (a + e)/|a + e|
    double scale = 1 / sqrt(2 * b[0]);
    for (int r = 0; r < rows; ++r) b[r] *= scale;
    apply_root(rows, eta, b, dp, x);
    apply_root(rows, -1 / eta, b, dz, y);
    apply_root(rows, eta, b, p, l);
    for (int r = 0; r < rows; ++r) {
        c[0] += x[r] * y[r];
        if (r > 0) c[r] = x[0] * y[r] + y[0] * x[r];
    }
    double first = l[0] * c[0];
    for (int r = 1; r < rows; ++r) first -= l[r] * c[r];
    x[0] = first / det(rows, l);
    for (int r = 1; r < rows; ++r) x[r] = (c[r] - x[0] * l[r]) / l[0];
    apply_root(rows, eta, b, x, left);
}

static bool takes_part(const Slot* slot) {
    return slot->rows > 0 && !slot->empty;
}

static double mu_of(const Step* step, const Slot* slot) {
    return step->list->item[slot->item].mu;
}

// Mean of p.z.
static double mean_product(const SparseNewton* newton, double along) {
    double sum = 0;
    int count = 0;
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        if (!takes_part(slot)) continue;
        for (int r = 0; r < cone_rows(slot); ++r)
            sum += (newton->y[slot->x + r] + along * newton->x[slot->x + r]) *
                   (slot->w[r] + along * slot->dw[r]);
        ++count;
    }
    return count > 0 ? sum / count : 0;
}

// The largest step, up to 1, that keeps x + a dx in its cone.
static double room(int rows, const double* x, const double* dx) {
    double A = det(rows, dx), B = x[0] * dx[0], C = det(rows, x), most = 1;
    for (int r = 1; r < rows; ++r) B -= x[r] * dx[r];
    if (dx[0] < 0) most = fmin(most, -x[0] / dx[0]);
    if (rows == 1) return most;
    double root = B * B - A * C;
    if (A == 0 || root < 0) return most;
    double q = -B - copysign(sqrt(root), B), first = q / A, second = q != 0 ? C / q : 0;
    if (first > 0) most = fmin(most, first);
    if (second > 0) most = fmin(most, second);
    return most;
}

static double largest_step(const Step* step, const SparseNewton* newton) {
    double most = 1;
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        double p[3] = {0}, z[3] = {0}, dp[3] = {0}, dz[3] = {0}, mu = mu_of(step, slot);
        Slot change = *slot;
        if (!takes_part(slot)) continue;
        memcpy(change.w, slot->dw, sizeof change.w);
        scale(slot, mu, newton->y + slot->x, p, z);
        scale(&change, mu, newton->x + slot->x, dp, dz);
        most = fmin(most, room(cone_rows(slot), p, dp));
        most = fmin(most, room(cone_rows(slot), z, dz));
    }
    return most;
}

// s of the slots, from the present velocities.
static double slip_term(const Step* step, const Slot* slot) {
    double t = 0;
    for (int r = 1; r < cone_rows(slot); ++r) t += slot->u[r] * slot->u[r];
    return mu_of(step, slot) * sqrt(t);
}

// Derivative of s by u_T, mu u_T/|u_T|.
static void slip_derivative(const Step* step, Slot* slot) {
    double t = 0, mu = mu_of(step, slot);
    slot->d[0] = slot->d[1] = 0;
    for (int r = 1; r < cone_rows(slot); ++r) t += slot->u[r] * slot->u[r];
    for (int r = 1; r < cone_rows(slot) && t > 0; ++r) slot->d[r - 1] = mu * slot->u[r] / sqrt(t);
}

// Right side of the contacts' rows towards sigma mean.
static void aim(const Step* step, SparseNewton* newton, double toward) {
    for (int s = 0; s < newton->slots; ++s) {
        const Slot* slot = &newton->slot[s];
        const double* P = newton->y + slot->x;
        double p[3] = {0}, z[3] = {0}, mu = mu_of(step, slot), *x = newton->x + slot->x;
        int rows = cone_rows(slot);
        if (!takes_part(slot)) continue;
        scale(slot, mu, P, p, z);
        double d = det(rows, p);
        for (int r = 0; r < rows; ++r) {
            double inverse = (r == 0 ? p[r] * (rows > 1 ? mu : 1) : -p[r]) / d;
            double slip = r == 0 ? slip_term(step, slot) : 0;
            x[r] = -slot->u[r] - slip + toward * inverse - slot->left[r];
        }
        for (int r = rows; r < slot->rows; ++r) x[r] = -slot->lambda * P[r];
    }
}

// dw of the direction x: u changes with it, and w follows u + s.
static void follow(LashSim* sim, const Step* step, SparseNewton* newton) {
    lash_axpy(newton->unknowns, 1, newton->x, newton->y);
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        double term = takes_part(slot) ? slip_term(step, slot) : 0;
        for (int r = 0; r < slot->rows; ++r) slot->dw[r] = (r == 0 ? term : 0) - slot->w[r];
        for (int r = 1; r < cone_rows(slot); ++r) slot->dw[0] -= slot->d[r - 1] * slot->u[r];
    }
    sparse_velocities(sim, step, newton);
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        for (int r = 0; r < slot->rows; ++r) slot->dw[r] += slot->u[r];
        for (int r = 1; r < cone_rows(slot); ++r) slot->dw[0] += slot->d[r - 1] * slot->u[r];
    }
    lash_axpy(newton->unknowns, -1, newton->x, newton->y);
}

// P and w inside their cones, of the size that impulses have here, or of a given one. Returns the largest.
static double start(const Step* step, SparseNewton* newton, double least) {
    double largest = 0;
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        double* P = newton->y + slot->x;
        if (!takes_part(slot)) continue;
        slot->smooth = slot->rows > 1 && !(mu_of(step, slot) > 0);
        slot->status = SLOT_STICKS;
        double speed = 0;
        for (int r = 0; r < slot->rows; ++r) speed = fmax(speed, fabs(slot->u[r]));
        speed = fmax(speed, 1e-3 * newton->b_norm);
        double size = fmax(fabs(P[0]), fmax(speed, 1e-9) / slot->lambda);
        size = fmax(size, least);
        largest = fmax(largest, size);
        for (int r = 0; r < slot->rows; ++r) {
            P[r] = r == 0 ? size : 0;
            slot->w[r] = r == 0 ? fmax(1, mu_of(step, slot)) * slot->lambda * size : 0;
        }
    }
    return largest;
}

// The matrix at y, w. The derivative of s is left out of the first step: velocities are far off.
static bool factor(LashSim* sim, Step* step, SparseNewton* newton, int k) {
    sparse_evaluate(sim, step, newton);
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        if (!takes_part(slot)) continue;
        scale_block(slot, mu_of(step, slot), newton->y + slot->x);
        slip_derivative(step, slot);
        if (k == 0) slot->d[0] = slot->d[1] = 0;
        memset(slot->left, 0, sizeof slot->left);
    }
    return sparse_factor(sim, step, newton);
}

// x, dw: step towards p o z = toward.
static void find_step(LashSim* sim, Step* step, SparseNewton* newton, double toward) {
    sparse_right_side(sim, step, newton);
    aim(step, newton, toward);
    sparse_solve(sim, step, newton, newton->x);
    follow(sim, step, newton);
}

// What the step x, dw would leave, of all slots.
static void note_second_order(const Step* step, SparseNewton* newton) {
    for (int s = 0; s < newton->slots; ++s) {
        Slot* slot = &newton->slot[s];
        Slot change = *slot;
        double p[3] = {0}, z[3] = {0}, dp[3] = {0}, dz[3] = {0}, mu = mu_of(step, slot);
        if (!takes_part(slot)) continue;
        memcpy(change.w, slot->dw, sizeof change.w);
        scale(slot, mu, newton->y + slot->x, p, z);
        scale(&change, mu, newton->x + slot->x, dp, dz);
        second_order(cone_rows(slot), p, z, dp, dz, slot->left);
        if (cone_rows(slot) > 1) slot->left[0] *= mu; // S
    }
}

// One step of length a: predicted with toward = 0, corrected. Returns a.
static double advance(LashSim* sim, Step* step, SparseNewton* newton, double mean) {
    find_step(sim, step, newton, 0);
    double a = largest_step(step, newton), after = mean_product(newton, a) / mean;
    double sigma = fmin(0.5, fmax(1e-3, after * after * after));
    note_second_order(step, newton);
    sparse_evaluate(sim, step, newton);
    find_step(sim, step, newton, sigma * mean);
    a = 0.99 * largest_step(step, newton);
    lash_axpy(newton->unknowns, a, newton->x, newton->y);
    for (int s = 0; s < newton->slots; ++s)
        for (int r = 0; r < newton->slot[s].rows; ++r)
            newton->slot[s].w[r] += a * newton->slot[s].dw[r];
    return a;
}

// From P and w as start made them. True: to 1e-8 of their product.
static bool descend(LashSim* sim, Step* step, SparseNewton* newton) {
    double first = mean_product(newton, 0), mean = first;
    memset(newton->x, 0, (size_t)newton->unknowns * sizeof *newton->x);
    for (int k = 0; k < MOST_STEPS && mean > 1e-18 * first; ++k) {
        if (!factor(sim, step, newton, k)) break;
        double a = advance(sim, step, newton, mean);
        mean = mean_product(newton, 0);
        ++sim->info.solver;
        if (a < 0.75 && mean < 1e-9 * first) break; // rounding: steps near an answer are whole
        if (!(mean > 0 && mean < INFINITY && a > 1e-6)) break;
    }
    return mean < 1e-8 * first;
}

// Light parts may have to hand on what heavy ones push with: where impulses of their own size lead
// nowhere, all begin with the largest.
bool sparse_interior(LashSim* sim, Step* step, SparseNewton* newton) {
    sparse_evaluate(sim, step, newton);
    double largest = start(step, newton, 0);
    newton->interior = true;
    newton->positions_wait = newton->split;
    newton->prox = 0;
    bool found = descend(sim, step, newton);
    if (!found && !sim_stopped(sim)) {
        start(step, newton, largest);
        found = descend(sim, step, newton);
    }
    newton->interior = false;
    newton->positions_wait = false;
    newton->factored = false;
    return found;
}

// Proximal point method around Newton.
//
//     P_k+1 solves the friction problem of  U = W P + b + eps L (P - P_k),   L = diag(lambda)
//
// With eps of order one the contacts hardly feel each other and Newton from P_k converges; for W
// positive semidefinite the sequence tends to a solution whatever eps is, and faster for small eps
// (R. T. Rockafellar, SIAM J. Control Optim. 14, 1976; for friction: V. Acary, M. Bremond,
// O. Huber, On solving contact problems with Coulomb friction, 2018). So eps falls after every
// success, and rises after a failure, until Newton alone closes the original problem.
#include <string.h>

#include "solvers/cone/friction_internal.h"

// Piles of this many contacts come nearer slowly, with rests between: whenever the residual has
// halved they are allowed twice the steps from there. With the steps once, RockPile_tob1 of the
// public files rests at 2e-8; smaller problems would only take longer to fail.
enum { PILE = 200 };

// Makes the one-contact problems of the sweeps those of W + eps L.
static void set_shift(Friction* f, double shift) {
    for (int i = 0; i < f->contacts; ++i) {
        LocalContact* c = f->contact + i;
        double W[9];
        memcpy(W, c->W, sizeof W);
        for (int r = 0; r < c->rows; ++r) W[4 * r] += (shift - f->shift) * c->lambda;
        friction_local_prepare(c, W, 3);
    }
    f->shift = shift;
}

// Newton on the original problem from the current point; keeps the point when it fails.
static double try_newton(Friction* f, double* kept, double tolerance) {
    size_t bytes = (size_t)f->m * sizeof(double);
    memcpy(kept, f->P, bytes);
    set_shift(f, 0);
    double residual = friction_newton(f, 15, tolerance);
    if (!(residual <= tolerance)) memcpy(f->P, kept, bytes);
    return residual;
}

// Solves the problem with the current center and shift. Returns the residual of that problem.
static double inner_solve(Friction* f, double tolerance) {
    double residual = friction_newton(f, 12, tolerance);
    if (!(residual <= tolerance) && f->shift >= 0.5) {
        friction_gauss_seidel(f, 30, tolerance);
        residual = friction_newton(f, 12, tolerance);
    }
    return residual;
}

double friction_proximal(Friction* f, int max_steps, double tolerance) {
    size_t bytes = (size_t)f->m * sizeof(double);
    double *kept = f->vectors, *best_P = kept + f->m, *good_P = best_P + f->m,
           *step = good_P + f->m;
    double best = INFINITY, before = INFINITY, eps = 1, stretch = 0, due = INFINITY;
    int begin = f->iterations;
    memcpy(good_P, f->P, bytes);
    memset(step, 0, bytes);
    memcpy(best_P, f->P, bytes);
    for (int k = 0; f->iterations - begin < max_steps && !friction_stopped(f); ++k) {
        for (int i = 0; i < f->m; ++i) f->P[i] = f->center[i] = good_P[i] + stretch * step[i];
        set_shift(f, eps);
        double inner = fmax(0.1 * tolerance, 1e-9), residual = inner_solve(f, inner);
        if (!(residual <= inner)) { // too far: shorter steps
            if (eps > 10) break;
            if (stretch > 0.5)
                stretch *= 0.25;
            else {
                stretch = 0;
                eps *= 4;
            }
            continue;
        }
        for (int i = 0; i < f->m; ++i) step[i] = f->P[i] - good_P[i];
        memcpy(good_P, f->P, bytes);
        friction_velocity(f->problem, f->P, f->U);
        residual = friction_residual_at(f, f->P, f->U);
        if (residual < best) {
            best = residual;
            memcpy(best_P, f->P, bytes);
        }
        if (f->contacts >= PILE && best < due) {
            due = 0.5 * best;
            begin = f->iterations + max_steps;
        }
        // A residual that stays while P drifts: the answer is far away in this direction.
        stretch = residual > 0.5 * before ? fmax(1, 2 * stretch) : 0;
        before = residual;
        eps *= 0.2;
        if (residual > 1e-3 && eps > 1e-5 && k % 4 != 3) continue;
        residual = try_newton(f, kept, tolerance);
        if (residual <= tolerance) return residual;
        if (eps < 1e-7) eps = 1e-7;
    }
    set_shift(f, 0);
    memcpy(f->P, best_P, bytes);
    friction_velocity(f->problem, f->P, f->U);
    return friction_residual_at(f, f->P, f->U);
}

// The smallest of many answers where they are too many for friction_norm.c: proximal steps from P = 0 with
// eps so small that the first is an answer but for eps, and the following ones take that error away. What
// the rows leave open stays at 0, a squeeze too. f->P is an answer, and stays where this finds none.
void friction_smallest(Friction* f, double tolerance) {
    static const double EPS =
        1e-6; // [-] above the rounding of W, below its smallest eigenvalues mostly
    enum { PROXIMAL = 4, NEWTON = 20 };
    size_t bytes = (size_t)f->m * sizeof(double);
    double *kept = f->vectors, inner = 0.1 * tolerance, residual = INFINITY;
    memcpy(kept, f->P, bytes);
    memset(f->center, 0, bytes);
    for (int k = 0; k < PROXIMAL && !(residual <= tolerance); ++k) {
        set_shift(f, EPS);
        if (!(friction_newton(f, NEWTON, inner) <= tolerance)) break;
        set_shift(f, 0);
        memcpy(f->center, f->P, bytes);
        friction_velocity(f->problem, f->P, f->U);
        residual = friction_residual_at(f, f->P, f->U);
    }
    set_shift(f, 0);
    if (!(residual <= tolerance)) memcpy(f->P, kept, bytes);
}

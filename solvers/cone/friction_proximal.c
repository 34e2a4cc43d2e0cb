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
static void set_shift(Friction* friction, double shift) {
    for (int i = 0; i < friction->contacts; ++i) {
        LocalContact* contact = friction->contact + i;
        double W[9];
        memcpy(W, contact->W, sizeof W);
        for (int r = 0; r < contact->rows; ++r)
            W[4 * r] += (shift - friction->shift) * contact->lambda;
        friction_local_prepare(contact, W, 3);
    }
    friction->shift = shift;
}

// Newton on the original problem from the current point; keeps the point when it fails.
static double try_newton(Friction* friction, double* kept, double tolerance) {
    size_t bytes = (size_t)friction->m * sizeof(double);
    memcpy(kept, friction->P, bytes);
    set_shift(friction, 0);
    double residual = friction_newton(friction, 15, tolerance);
    if (!(residual <= tolerance)) memcpy(friction->P, kept, bytes);
    return residual;
}

// Solves the problem with the current center and shift. Returns the residual of that problem.
static double inner_solve(Friction* friction, double tolerance) {
    double residual = friction_newton(friction, 12, tolerance);
    if (!(residual <= tolerance) && friction->shift >= 0.5) {
        friction_gauss_seidel(friction, 30, tolerance);
        residual = friction_newton(friction, 12, tolerance);
    }
    return residual;
}

double friction_proximal(Friction* friction, int max_steps, double tolerance) {
    size_t bytes = (size_t)friction->m * sizeof(double);
    double *kept = friction->vectors, *best_P = kept + friction->m, *good_P = best_P + friction->m,
           *step = good_P + friction->m;
    double best = INFINITY, before = INFINITY, eps = 1, stretch = 0, due = INFINITY;
    int begin = friction->iterations;
    memcpy(good_P, friction->P, bytes);
    memset(step, 0, bytes);
    memcpy(best_P, friction->P, bytes);
    for (int k = 0; friction->iterations - begin < max_steps && !friction_stopped(friction); ++k) {
        for (int i = 0; i < friction->m; ++i)
            friction->P[i] = friction->center[i] = good_P[i] + stretch * step[i];
        set_shift(friction, eps);
        double inner = fmax(0.1 * tolerance, 1e-9), residual = inner_solve(friction, inner);
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
        for (int i = 0; i < friction->m; ++i) step[i] = friction->P[i] - good_P[i];
        memcpy(good_P, friction->P, bytes);
        friction_velocity(friction->problem, friction->P, friction->U);
        residual = friction_residual_at(friction, friction->P, friction->U);
        if (residual < best) {
            best = residual;
            memcpy(best_P, friction->P, bytes);
        }
        if (friction->contacts >= PILE && best < due) {
            due = 0.5 * best;
            begin = friction->iterations + max_steps;
        }
        // A residual that stays while P drifts: the answer is far away in this direction.
        stretch = residual > 0.5 * before ? fmax(1, 2 * stretch) : 0;
        before = residual;
        eps *= 0.2;
        if (residual > 1e-3 && eps > 1e-5 && k % 4 != 3) continue;
        residual = try_newton(friction, kept, tolerance);
        if (residual <= tolerance) return residual;
        if (eps < 1e-7) eps = 1e-7;
    }
    set_shift(friction, 0);
    memcpy(friction->P, best_P, bytes);
    friction_velocity(friction->problem, friction->P, friction->U);
    return friction_residual_at(friction, friction->P, friction->U);
}

// The smallest of many answers where they are too many for friction_norm.c: proximal steps from P = 0 with
// eps so small that the first is an answer but for eps, and the following ones take that error away. What
// the rows leave open stays at 0, a squeeze too. friction->P is an answer, and stays where this finds none.
void friction_smallest(Friction* friction, double tolerance) {
    static const double EPS =
        1e-6; // [-] above the rounding of W, below its smallest eigenvalues mostly
    enum { PROXIMAL = 4, NEWTON = 20 };
    size_t bytes = (size_t)friction->m * sizeof(double);
    double *kept = friction->vectors, inner = 0.1 * tolerance, residual = INFINITY;
    memcpy(kept, friction->P, bytes);
    memset(friction->center, 0, bytes);
    for (int k = 0; k < PROXIMAL && !(residual <= tolerance); ++k) {
        set_shift(friction, EPS);
        if (!(friction_newton(friction, NEWTON, inner) <= tolerance)) break;
        set_shift(friction, 0);
        memcpy(friction->center, friction->P, bytes);
        friction_velocity(friction->problem, friction->P, friction->U);
        residual = friction_residual_at(friction, friction->P, friction->U);
    }
    set_shift(friction, 0);
    if (!(residual <= tolerance)) memcpy(friction->P, kept, bytes);
}

// Systems that the tests of several schemes step. Include it behind test.h.
#ifndef LASH_TESTS_SCHEME_CASES_H
#define LASH_TESTS_SCHEME_CASES_H

#include <math.h>

#include "core/lagrangian.h"

// Two masses and a wall: M = diag(1, 2), K = [300 -200; -200 200], C = 0.002 K, load (-3, 5 sin 7t),
// gap q1 + 0.02, e = 0.6, q0 = (0.05, 0.1), v0 = (-1, -0.5).
static inline void load_of_masses(const void* context, double t, double* load) {
    (void)context;
    load[1] = 5 * sin(7 * t);
}

static inline LashLagrangian* two_masses(void) {
    static const double M[] = {0, 1, 0, 0, 2, 0}, K[] = {0, 300, -200, -200, 200, 0};
    static const double C[] = {0, 0.6, -0.4, -0.4, 0.4, 0}, load[] = {-3, 0};
    static const double q[] = {0.05, 0.1}, v[] = {-1, -0.5};
    LashLinearContact wall = {.kind = LASH_UNILATERAL, .rows = 1, .e = 0.6, .name = "wall"};
    wall.row[0] = (LashLinearRow){.g0 = 0.02, .entries = 1, .coefficient = {1}};
    LashLinearDef def = lash_linear_def();
    def.n = 2;
    def.bandwidth = 1;
    def.M = M;
    def.C = C;
    def.K = K;
    def.load = load;
    def.q0 = q;
    def.v0 = v;
    def.load_of_time = load_of_masses;
    def.contact = &wall;
    def.contacts = 1;
    return lash_linear_create(&def);
}

#endif

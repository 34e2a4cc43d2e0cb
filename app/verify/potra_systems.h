// The examples of [P06] Potra, Anitescu, Gavrea and Trinkle as Lagrangian systems.
#ifndef LASH_VERIFY_POTRA_SYSTEMS_H
#define LASH_VERIFY_POTRA_SYSTEMS_H

#include "core/lagrangian.h"

// Section 10.1: two unit masses on rods of length 1, q = (x1, y1, x2, y2), wall x >= 0 with e = 0.1; rows of
// the joints are x1^2 + y1^2 - 1 and the same of the second rod. g = 9.81.
LashLagrangian* potra_double_pendulum(void);

// Section 10.2: a unit mass on a table, mu = 0.8, pushed by 8 cos t; q = (x, y), x(0) = 3.
LashLagrangian* potra_block(void);

// Section 10.3: two unit masses on the floor, mu = 0.05; the left one on a spring (rest at 0.2) and in front
// of a stopper x1 >= 0 with e = 0.3, a damper between them; q = (x1, y1, x2, y2).
typedef struct PotraCarts {
    double stiffness, damping; // gamma [N/m], delta [N s/m]
    double x1, v;              // at the start; x2 = x1 + 5, both with v
} PotraCarts;
LashLagrangian* potra_carts(const PotraCarts* data);

#endif

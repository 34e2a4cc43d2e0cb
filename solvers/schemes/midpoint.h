// What Moreau's midpoint rule and the schemes of Gear, Gupta and Leimkuhler share (midpoint.c).
#ifndef LASH_SOLVERS_MIDPOINT_H
#define LASH_SOLVERS_MIDPOINT_H

#include "solvers/schemes/scheme.h"

enum { ROWS_MIDPOINT, ROWS_END }; // of the option `rows`
extern const LashOption midpoint_rows_option;

// Masses at q_M = q_n (+) h/2 v_n, forces and directions at q_m = q_n (+) d/2.
void stencil_midpoint(LashSim* sim, Step* step, bool rows_at_midpoint);
// Forces and directions at q_M too, forces with v_n.
void stencil_explicit_midpoint(LashSim* sim, Step* step, bool rows_at_midpoint);

#endif

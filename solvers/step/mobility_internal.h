// Between mobility.c and freedom.c.
#ifndef LASH_SOLVERS_MOBILITY_INTERNAL_H
#define LASH_SOLVERS_MOBILITY_INTERNAL_H

#include "core/system.h"

// Rank of the bilateral rows of list; redundant (bilateral interactions) or NULL: how many rows of
// each depend on rows before them.
int lash_bilateral_rank(const LashSystem* system, const LashInteractionList* list, const double* G,
                        int* redundant);

#endif

// What the two kinds of Lagrangian system share. For core/ and tests only.
#ifndef LASH_CORE_LAGRANGIAN_INTERNAL_H
#define LASH_CORE_LAGRANGIAN_INTERNAL_H

#include "core/lagrangian.h"

struct LashLagrangian {
    LashSystem system; // first: a LashSystem* is a LashLagrangian*
    LashInteractionList list;
    LashInteraction* item;                       // (list.count)
    char** names;                                // (list.count) by id
    double *q0, *v0;                             // (n)
    int* pattern;                                // memory of block_start, q_start and pattern
    void (*destroy)(LashLagrangian* lagrangian); // frees what the kind itself holds
};

// Fills what all Lagrangian systems have in common and makes room for the interactions.
void lash_lagrangian_begin(LashLagrangian* base, int n, const double* q0, const double* v0,
                           int contacts);
// Appends an interaction to the list (bilateral ones first); sets its row and offset. label NULL: a
// number.
void lash_lagrangian_add(LashLagrangian* base, LashInteraction item, const char* label);

#endif

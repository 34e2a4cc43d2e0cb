// The motions that ideal joints leave, in units in which all masses are one.
//
//     G*'V* = 0,  V*'M V* = 1:           a basis of the motions along which joints do no work
//     Y: G*'Y = 1,  V*'M Y = 0           what joints do instead
//     V = V* - Y (G'V*):                 G'V = 0 to the square of what joints turn within a step
//
// G* are the directions of the impulses, G the rows of the velocities at the end of the step.
// Joints tie bodies to clusters, which are independent of each other; a free body is a cluster with
// as many motions as velocities.
#ifndef LASH_SOLVERS_MOTIONS_H
#define LASH_SOLVERS_MOTIONS_H

#include "core/archive.h"
#include "core/system.h"

typedef struct Motions Motions;

// M: values of the constant mass; the bilateral interactions of list are those of every step.
// NULL: masses couple blocks, or are not positive, or there are too many of them.
Motions* motions_create(const LashSystem* system, const LashInteractionList* list, const double* M);
void motions_destroy(Motions* motions);
int motions_count(const Motions* motions); // k, of the last factor
void motions_archive(Motions* motions, LashArchive* archive);

// Joints at these directions.
// False: the rows are no numbers to work with (coordinates beyond all rounding).
bool motions_factor(Motions* motions, const double* G_star, const double* G);

// a (k) = V*'f, or V'f at the end of the step;  x = V a
void motions_reduce(const Motions* motions, bool end, const double* f, double* a);
void motions_expand(const Motions* motions, const double* a, double* x);
// x = -Y e changes the rows of the joints by -e, and no motion
void motions_close(Motions* motions, const double* e, double* x);
// P = Y'f: impulses of the joints that leave of f only what moves; of minimum norm where rows
// depend on each other
void motions_answer(Motions* motions, const double* f, double* P);

// The first `count` rows of an interaction in the motions, G'V* or G'V at the end of the step,
// below each other with leading dimension ld: only the motions of the clusters that it acts on are
// written.
void motions_rows(const Motions* motions, const LashInteraction* item, const double* G, int count,
                  bool end, double* rows, int ld);
// The motions [first, last) of each cluster that an interaction acts on. Returns how many.
int motions_touched(const Motions* motions, const LashInteraction* item, int* first, int* last);

// X = V A and A = V*'X, or V'X at the end, for many columns, by rows: X (nv x ld), A (k x ld), ld a
// multiple of 8.
void motions_expand_columns(const Motions* motions, const double* A, int ld, double* X);
void motions_reduce_columns(const Motions* motions, bool end, const double* X, int ld, double* A);

#endif

// When does a row depend on others? The one rule for all solvers, and its numbers.
//
// Rows come one after the other, or the largest first. What elimination leaves of a row is compared
// with what the row was before any elimination, never with an absolute number and never with other
// rows: units and masses differ by many orders of magnitude. A row depends on those before it when
// what is left is what rounding leaves:
//
//     |a - its projection on the rows before|^2  <=  share |a|^2
//
// The share is of the squared length. In a Gram matrix G' M^-1 G, the Delassus operator of joints,
// it is the diagonal entry after elimination over the diagonal entry before it. For square systems
// without such a history the ratio of the smallest to the largest pivot stands for it, of rows in
// like units.
//
// Rounding e = 2e-16 of the entries is e of a Gram matrix's diagonal entry, however it was made; so
// its square root, 1e-8 of a length, is all that can be told from zero there. A planar four-bar that
// is flat to 1e-5 rad keeps a share of 1e-10: every share below is smaller, so that such positions
// are passed with all rows.
//
// The numbers differ for the reasons given at each; where none could be derived, that is said. Too
// small: rounding passes for a row, and impulses grow by the inverse of the share. Too large: rows
// are dropped near singular positions, and parts drift apart there. test_solvers_sparse and
// test_solvers_motions hold those of joints.
#ifndef LASH_SOLVERS_RANK_H
#define LASH_SOLVERS_RANK_H

// --- Rows of joints and contacts: share of the squared length ------------------------------------

// Gram matrix, full, pivots by the largest share: each entry is a sum of products, so the
// rounding of its factor grows with the number of rows.
static inline double lash_rank_gram(int rows) {
    return 4e-15 * (rows + 4);
}

// Gram matrix, sparse, in the order of the graph: nothing chooses large pivots, and rounding
// leaves 1e-15 in short loops, up to 1e-12 in loops of hundreds of bodies.
static const double LASH_RANK_SPARSE = 3e-12;

// Rows themselves, by reflections (orthogonal.c): joints of a cluster, and closed contacts in the
// motions that joints leave, which carry the rounding of that basis as well. Not derived: with
// LASH_RANK_SPARSE instead the exported motion of models/circuit_breaker is another one.
static const double LASH_RANK_ROWS = 1e-11;

// The full matrix of a step near singular positions, sparse too: it is asked for the last digits of
// a row that is nearly lost, where LASH_RANK_SPARSE would drop it; a little above rounding.
static const double LASH_RANK_SINGULAR = 1e-13;

// Rows of a mechanism when its freedom is counted (elimination.c measures lengths, not
// squares): the square root of what lash_rank_gram has for a few rows.
static const double LASH_RANK_LENGTH = 1e-7;

// --- Square systems: smallest over largest pivot -------------------------------------------------

// Reduced systems of contacts and projections (cone/): W is the product of factorisations and has
// their rounding, not only its own.
static const double LASH_RANK_PIVOT = 1e-11;

// What LU takes for singular must be so for least squares as well, whose pivots are lengths of
// columns and can be a little larger.
static const double LASH_RANK_LEAST = 1e-10;

// Matrices taken as given: the basis of an LCP, the 3 x 3 block of a contact (its determinant
// over the product of its diagonal).
static const double LASH_RANK_GIVEN = 1e-13;

// The row space of W over its first row, made orthogonal twice, so that less is rounding than in
// LU. Not derived: with LASH_RANK_PIVOT instead the exported motion of models/circuit_breaker is
// another one.
static const double LASH_RANK_SPAN = 1e-12;

// --- Least squares that are damped instead: no decision ------------------------------------------

// Singular values of J below this are damped away (friction_levenberg.c): the square root of
// lash_rank_gram's share for some hundred rows, since J J' is factored. A row of which less than
// LASH_RANK_DAMPED times this is left lacks rank: ten times what the damping itself leaves.
static const double LASH_RANK_DAMPING = 1e-6;
static const double LASH_RANK_DAMPED = 10;

#endif

// Several numbers in one register: the compiler takes whatever registers there are, and every lane
// is computed as a number alone would be.
#ifndef LASH_JOINTS_LANES_H
#define LASH_JOINTS_LANES_H

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));

#endif

// The order in which the blocks of a sparse matrix are eliminated, and the fill it makes: once per
// run.
#ifndef LASH_SOLVERS_BLOCK_ORDER_H
#define LASH_SOLVERS_BLOCK_ORDER_H

#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Which blocks are coupled. Nodes are bodies (a positive definite diagonal block) or, where rows
// says so, joints: a zero diagonal block, coupled to the bodies they act on.
enum {
    LASH_NODE_BODY,         // a diagonal block that can be inverted
    LASH_NODE_ROWS,         // zero on the diagonal; rows that depend on others are left out
    LASH_NODE_SHIFTED_ROWS, // small on the diagonal: ordered as rows, inverted as bodies are
    LASH_NODE_LOOSE_ROWS    // the same, at any place
};
typedef struct LashBlockGraph {
    int nodes, edges;
    const int* size;     // (nodes) rows of each block
    const uint8_t* rows; // (nodes) LASH_NODE_*; NULL: bodies only
    const int *a, *b;    // (edges) coupled nodes, any order, repeats allowed, a != b
} LashBlockGraph;

typedef struct LashBlockOrder {
    int nodes;
    int* order; // (nodes) in order of elimination
    int* place; // (nodes) its inverse
    int* first; // (nodes + 1) by place: where its list starts
    int* later; // nodes coupled to it that are eliminated later, fill included, in that order
} LashBlockOrder;

// as_given: keep the order of the nodes instead of looking for one with little fill.
LashBlockOrder lash_block_order(const LashBlockGraph* graph, bool as_given);
LashBlockOrder lash_block_order_copy(const LashBlockOrder* order);
void lash_block_order_free(LashBlockOrder* order);
// Multiplications of a factorisation in this order.
double lash_block_order_cost(const LashBlockGraph* graph, const LashBlockOrder* order);
// The same of the order that would be found, without making it; counting ends above `most`.
double lash_block_order_cost_up_to(const LashBlockGraph* graph, double most);

#ifdef __cplusplus
}
#endif
#endif

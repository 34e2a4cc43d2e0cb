// Minimum degree on the graph of blocks (Markowitz 1957, Tinney and Walker 1967): eliminating a
// node couples all its neighbours; the node whose neighbours have the fewest rows goes next.
//
// Joints have a zero diagonal block, which the elimination of their bodies fills with G' A^-1 G. A
// joint may be eliminated
//   - when all its bodies are: what is left of its block then tells which rows depend on those
//     before, or
//   - when it was the last joint of one body eliminated before it. That body, with all that hangs
//     on it, hangs on the rest by this joint alone, and a joint restricts relative motion only: its
//     rows are as independent with the other side held as with it free.
// The second rule peels trees from their leaves without fill, however many joints the root has; it
// is the articulated-body recursion. What is left are the loops.
//
// Rows with a small diagonal block of their own, [A -G; G' eps], may stand anywhere: the matrix has an LU
// factorisation in any order (R. Vanderbei, SIAM J. Optim. 5, 1995). Loose ones do, which makes far less
// fill where contacts close loops (a pile, a wall), and numbers as large as 1/eps: eps must be larger.
#include "solvers/linear/block_order.h"

#include <string.h>

#include "core/arena.h"
#include "core/error.h"

typedef struct Neighbours { // sorted
    int count, capacity;
    int* node;
} Neighbours;

typedef struct Candidate {
    int degree, node;
} Candidate;

typedef struct Search {
    const LashBlockGraph* graph;
    Neighbours* live;   // (nodes) neighbours not yet eliminated, fill included
    Neighbours* acts;   // (nodes) joints of a body, bodies of a joint
    int* left;          // (nodes) how many of them are not yet eliminated
    uint8_t* gone;      // (nodes) eliminated
    uint8_t* peeled;    // (nodes) of a joint: the second rule holds
    Candidate* heap;    // smallest degree first, then smallest node; old entries are skipped
    int waiting, space; // entries in the heap, its capacity
    int* merged;        // scratch
} Search;

// --- Sets of neighbours

static bool insert(Neighbours* set, int node) {
    int low = 0, high = set->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (set->node[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < set->count && set->node[low] == node) return false;
    if (set->count == set->capacity) {
        set->capacity = 2 * set->capacity + 4;
        set->node = lash_realloc(set->node, (size_t)set->capacity * sizeof(int));
    }
    memmove(set->node + low + 1, set->node + low, (size_t)(set->count - low) * sizeof(int));
    set->node[low] = node;
    ++set->count;
    return true;
}

// live[i] <- live[i] + clique - {i, without}
static void couple(Search* search, int i, const Neighbours* clique, int without) {
    Neighbours* set = &search->live[i];
    int count = 0, a = 0, b = 0;
    while (a < set->count || b < clique->count) {
        int x = a < set->count ? set->node[a] : search->graph->nodes;
        int y = b < clique->count ? clique->node[b] : search->graph->nodes;
        int next = x < y ? x : y;
        a += x == next;
        b += y == next;
        if (next != i && next != without) search->merged[count++] = next;
    }
    if (count > set->capacity) {
        set->capacity = count + 4;
        set->node = lash_realloc(set->node, (size_t)set->capacity * sizeof(int));
    }
    memcpy(set->node, search->merged, (size_t)count * sizeof(int));
    set->count = count;
}

static int degree(const Search* search, int node) {
    int rows = 0;
    for (int k = 0; k < search->live[node].count; ++k)
        rows += search->graph->size[search->live[node].node[k]];
    return rows;
}

// --- Heap of candidates

static bool before(Candidate a, Candidate b) {
    return a.degree < b.degree || (a.degree == b.degree && a.node < b.node);
}

static void push(Search* search, int node) {
    if (search->waiting == search->space) {
        search->space = 2 * search->space + 16;
        search->heap = lash_realloc(search->heap, (size_t)search->space * sizeof *search->heap);
    }
    Candidate c = {degree(search, node), node};
    int i = search->waiting++;
    for (; i > 0 && before(c, search->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        search->heap[i] = search->heap[(i - 1) / 2];
    }
    search->heap[i] = c;
}

static Candidate pop(Search* search) {
    LASH_ASSERT(search->waiting > 0);
    Candidate best = search->heap[0], last = search->heap[--search->waiting];
    int i = 0;
    for (int child = 1; child < search->waiting; child = 2 * i + 1) {
        if (child + 1 < search->waiting && before(search->heap[child + 1], search->heap[child]))
            ++child;
        if (!before(search->heap[child], last)) break;
        search->heap[i] = search->heap[child];
        i = child;
    }
    search->heap[i] = last;
    return best;
}

// --- Elimination

static bool is_joint(const Search* search, int node) {
    const uint8_t* rows = search->graph->rows;
    return rows != NULL && rows[node] != LASH_NODE_BODY && rows[node] != LASH_NODE_LOOSE_ROWS;
}

static bool is_loose(const LashBlockGraph* graph, int node) {
    return graph->rows != NULL && graph->rows[node] == LASH_NODE_LOOSE_ROWS;
}

static bool ready(const Search* search, int node) {
    return !is_joint(search, node) || search->left[node] == 0 || search->peeled[node];
}

static void begin(Search* search, const LashBlockGraph* graph) {
    size_t n = (size_t)graph->nodes;
    *search = (Search){.graph = graph};
    search->live = lash_alloc(n * sizeof *search->live);
    search->acts = lash_alloc(n * sizeof *search->acts);
    search->left = lash_alloc(n * sizeof(int));
    search->merged = lash_alloc((n + 1) * sizeof(int));
    search->gone = lash_alloc(n + 1);
    search->peeled = lash_alloc(n + 1);
    for (int e = 0; e < graph->edges; ++e) {
        int a = graph->a[e], b = graph->b[e];
        LASH_ASSERT(a != b);
        if (!insert(&search->live[a], b)) continue;
        insert(&search->live[b], a);
        if (is_joint(search, a) == is_joint(search, b)) continue;
        if (is_loose(graph, a) || is_loose(graph, b)) continue;
        insert(&search->acts[a], b);
        insert(&search->acts[b], a);
        ++search->left[a];
        ++search->left[b];
    }
}

static void end(Search* search) {
    for (int i = 0; i < search->graph->nodes; ++i) {
        lash_free(search->live[i].node);
        lash_free(search->acts[i].node);
    }
    lash_free(search->live);
    lash_free(search->acts);
    lash_free(search->left);
    lash_free(search->merged);
    lash_free(search->gone);
    lash_free(search->peeled);
    lash_free(search->heap);
}

static void eliminate(Search* search, int node) {
    const Neighbours *clique = &search->live[node], *acts = &search->acts[node];
    bool leaf = !is_joint(search, node) && search->left[node] == 1;
    search->gone[node] = 1;
    for (int k = 0; k < acts->count; ++k) {
        int other = acts->node[k];
        --search->left[other];
        if (leaf && !search->gone[other] && search->acts[other].count <= 2)
            search->peeled[other] = 1;
    }
    for (int k = 0; k < clique->count; ++k) couple(search, clique->node[k], clique, node);
    for (int k = 0; k < clique->count; ++k) {
        if (ready(search, clique->node[k])) push(search, clique->node[k]);
    }
}

static int next_node(Search* search, int place, bool as_given) {
    if (as_given) return place;
    for (;;) {
        Candidate c = pop(search);
        if (!search->gone[c.node] && c.degree == degree(search, c.node)) return c.node;
    }
}

static void store(const Search* search, LashBlockOrder* block_order, int place, int node,
                  int* capacity) {
    const Neighbours* set = &search->live[node];
    int at = block_order->first[place];
    while (at + set->count > *capacity) {
        *capacity *= 2;
        block_order->later = lash_realloc(block_order->later, (size_t)*capacity * sizeof(int));
    }
    for (int k = 0; k < set->count; ++k) block_order->later[at + k] = set->node[k];
    block_order->first[place + 1] = at + set->count;
    block_order->order[place] = node;
    block_order->place[node] = place;
}

// Lists in order of elimination: insertion sort, they are short.
static void sort_later(LashBlockOrder* order) {
    for (int p = 0; p < order->nodes; ++p) {
        for (int i = order->first[p] + 1; i < order->first[p + 1]; ++i) {
            int node = order->later[i], k = i;
            for (; k > order->first[p] && order->place[order->later[k - 1]] > order->place[node];
                 --k)
                order->later[k] = order->later[k - 1];
            order->later[k] = node;
        }
    }
}

// Puts every node right behind those that were eliminated into it (postorder of the elimination
// tree): the same fill and the same operations, but what is needed next was used just before and is
// still in the cache. Minimum degree alone sweeps through the whole mechanism again and again.
static void follow_tree(LashBlockOrder* block_order) {
    int n = block_order->nodes, next = 0, at = 0;
    int *parent = lash_alloc((size_t)(n + 1) * sizeof(int)),
        *child = lash_alloc((size_t)(n + 1) * sizeof(int)),
        *sibling = lash_alloc((size_t)(n + 1) * sizeof(int)),
        *place = lash_alloc((size_t)(n + 1) * sizeof(int)); // new place by old; lists hold p + 1
    for (int p = n - 1; p >= 0; --p) { // the first child of a list is the earliest
        bool root = block_order->first[p] == block_order->first[p + 1];
        parent[p] = root ? n : block_order->place[block_order->later[block_order->first[p]]];
        sibling[p] = child[parent[p]];
        child[parent[p]] = p + 1;
    }
    for (int p = n; next < n;) { // down to the first leaf, then on through siblings and parents
        if (child[p] > 0) {
            int down = child[p] - 1;
            child[p] = sibling[down];
            p = down;
        } else {
            place[p] = next++;
            p = parent[p];
        }
    }
    LashBlockOrder old = *block_order;
    block_order->order = lash_alloc((size_t)(n + 1) * sizeof(int));
    block_order->first = lash_alloc((size_t)(n + 1) * sizeof(int));
    block_order->later = lash_alloc(((size_t)old.first[n] + 1) * sizeof(int));
    for (int p = 0; p < n; ++p) {
        block_order->order[place[p]] = old.order[p];
        parent[place[p]] = p;
    }
    for (int p = 0; p < n; ++p) { // parent: old place by new
        for (int i = old.first[parent[p]]; i < old.first[parent[p] + 1]; ++i)
            block_order->later[at++] = old.later[i];
        block_order->first[p + 1] = at;
    }
    for (int p = 0; p < n; ++p) block_order->place[block_order->order[p]] = p;
    lash_free(old.order);
    lash_free(old.first);
    lash_free(old.later);
    lash_free(parent);
    lash_free(child);
    lash_free(sibling);
    lash_free(place);
}

static void push_ready(Search* search) {
    for (int i = 0; i < search->graph->nodes; ++i) {
        if (ready(search, i)) push(search, i);
    }
}

LashBlockOrder lash_block_order(const LashBlockGraph* graph, bool as_given) {
    size_t n = (size_t)graph->nodes;
    int capacity = 4 * graph->nodes + 16;
    LashBlockOrder o = {.nodes = graph->nodes,
                        .order = lash_alloc((n + 1) * sizeof(int)),
                        .place = lash_alloc((n + 1) * sizeof(int)),
                        .first = lash_alloc((n + 1) * sizeof(int)),
                        .later = lash_alloc((size_t)capacity * sizeof(int))};
    Search s;
    begin(&s, graph);
    if (!as_given) push_ready(&s);
    for (int p = 0; p < graph->nodes; ++p) {
        int node = next_node(&s, p, as_given);
        store(&s, &o, p, node, &capacity);
        eliminate(&s, node);
    }
    sort_later(&o);
    if (!as_given) {
        follow_tree(&o);
        sort_later(&o);
    }
    end(&s);
    return o;
}

static int* copy_of(const int* list, int count) {
    size_t bytes = ((size_t)count + 1) * sizeof *list;
    return memcpy(lash_alloc(bytes), list, (size_t)count * sizeof *list);
}

LashBlockOrder lash_block_order_copy(const LashBlockOrder* order) {
    int n = order->nodes;
    return (LashBlockOrder){.nodes = n,
                            .order = copy_of(order->order, n),
                            .place = copy_of(order->place, n),
                            .first = copy_of(order->first, n + 1),
                            .later = copy_of(order->later, order->first[n])};
}

void lash_block_order_free(LashBlockOrder* order) {
    lash_free(order->order);
    lash_free(order->place);
    lash_free(order->first);
    lash_free(order->later);
    *order = (LashBlockOrder){0};
}

// Of a node of n rows that couples m later ones.
static double cost_of(double n, double m) {
    return n * (n * n + n * m + m * m);
}

double lash_block_order_cost(const LashBlockGraph* graph, const LashBlockOrder* order) {
    double cost = 0;
    for (int p = 0; p < order->nodes; ++p) {
        double n = graph->size[order->order[p]], m = 0;
        for (int i = order->first[p]; i < order->first[p + 1]; ++i)
            m += graph->size[order->later[i]];
        cost += cost_of(n, m);
    }
    return cost;
}

double lash_block_order_cost_up_to(const LashBlockGraph* graph, double most) {
    Search s;
    double cost = 0;
    begin(&s, graph);
    push_ready(&s);
    for (int p = 0; p < graph->nodes && cost <= most; ++p) {
        int node = next_node(&s, p, false);
        cost += cost_of(graph->size[node], degree(&s, node));
        eliminate(&s, node);
    }
    end(&s);
    return cost;
}

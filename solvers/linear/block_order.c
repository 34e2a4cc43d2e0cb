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
static void couple(Search* s, int i, const Neighbours* clique, int without) {
    Neighbours* set = &s->live[i];
    int count = 0, a = 0, b = 0;
    while (a < set->count || b < clique->count) {
        int x = a < set->count ? set->node[a] : s->graph->nodes;
        int y = b < clique->count ? clique->node[b] : s->graph->nodes;
        int next = x < y ? x : y;
        a += x == next;
        b += y == next;
        if (next != i && next != without) s->merged[count++] = next;
    }
    if (count > set->capacity) {
        set->capacity = count + 4;
        set->node = lash_realloc(set->node, (size_t)set->capacity * sizeof(int));
    }
    memcpy(set->node, s->merged, (size_t)count * sizeof(int));
    set->count = count;
}

static int degree(const Search* s, int node) {
    int rows = 0;
    for (int k = 0; k < s->live[node].count; ++k) rows += s->graph->size[s->live[node].node[k]];
    return rows;
}

// --- Heap of candidates

static bool before(Candidate a, Candidate b) {
    return a.degree < b.degree || (a.degree == b.degree && a.node < b.node);
}

static void push(Search* s, int node) {
    if (s->waiting == s->space) {
        s->space = 2 * s->space + 16;
        s->heap = lash_realloc(s->heap, (size_t)s->space * sizeof *s->heap);
    }
    Candidate c = {degree(s, node), node};
    int i = s->waiting++;
    for (; i > 0 && before(c, s->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        s->heap[i] = s->heap[(i - 1) / 2];
    }
    s->heap[i] = c;
}

static Candidate pop(Search* s) {
    LASH_ASSERT(s->waiting > 0);
    Candidate best = s->heap[0], last = s->heap[--s->waiting];
    int i = 0;
    for (int child = 1; child < s->waiting; child = 2 * i + 1) {
        if (child + 1 < s->waiting && before(s->heap[child + 1], s->heap[child])) ++child;
        if (!before(s->heap[child], last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return best;
}

// --- Elimination

static bool is_joint(const Search* s, int node) {
    return s->graph->rows != NULL && s->graph->rows[node];
}

static bool ready(const Search* s, int node) {
    return !is_joint(s, node) || s->left[node] == 0 || s->peeled[node];
}

static void begin(Search* s, const LashBlockGraph* graph) {
    size_t n = (size_t)graph->nodes;
    *s = (Search){.graph = graph};
    s->live = lash_alloc(n * sizeof *s->live);
    s->acts = lash_alloc(n * sizeof *s->acts);
    s->left = lash_alloc(n * sizeof(int));
    s->merged = lash_alloc((n + 1) * sizeof(int));
    s->gone = lash_alloc(n + 1);
    s->peeled = lash_alloc(n + 1);
    for (int e = 0; e < graph->edges; ++e) {
        int a = graph->a[e], b = graph->b[e];
        LASH_ASSERT(a != b);
        if (!insert(&s->live[a], b)) continue;
        insert(&s->live[b], a);
        if (is_joint(s, a) == is_joint(s, b)) continue;
        insert(&s->acts[a], b);
        insert(&s->acts[b], a);
        ++s->left[a];
        ++s->left[b];
    }
}

static void end(Search* s) {
    for (int i = 0; i < s->graph->nodes; ++i) {
        lash_free(s->live[i].node);
        lash_free(s->acts[i].node);
    }
    lash_free(s->live);
    lash_free(s->acts);
    lash_free(s->left);
    lash_free(s->merged);
    lash_free(s->gone);
    lash_free(s->peeled);
    lash_free(s->heap);
}

static void eliminate(Search* s, int node) {
    const Neighbours *clique = &s->live[node], *acts = &s->acts[node];
    bool leaf = !is_joint(s, node) && s->left[node] == 1;
    s->gone[node] = 1;
    for (int k = 0; k < acts->count; ++k) {
        int other = acts->node[k];
        --s->left[other];
        if (leaf && !s->gone[other] && s->acts[other].count <= 2) s->peeled[other] = 1;
    }
    for (int k = 0; k < clique->count; ++k) couple(s, clique->node[k], clique, node);
    for (int k = 0; k < clique->count; ++k) {
        if (ready(s, clique->node[k])) push(s, clique->node[k]);
    }
}

static int next_node(Search* s, int place, bool as_given) {
    if (as_given) return place;
    for (;;) {
        Candidate c = pop(s);
        if (!s->gone[c.node] && c.degree == degree(s, c.node)) return c.node;
    }
}

static void store(const Search* s, LashBlockOrder* o, int place, int node, int* capacity) {
    const Neighbours* set = &s->live[node];
    int at = o->first[place];
    while (at + set->count > *capacity) {
        *capacity *= 2;
        o->later = lash_realloc(o->later, (size_t)*capacity * sizeof(int));
    }
    for (int k = 0; k < set->count; ++k) o->later[at + k] = set->node[k];
    o->first[place + 1] = at + set->count;
    o->order[place] = node;
    o->place[node] = place;
}

// Lists in order of elimination: insertion sort, they are short.
static void sort_later(LashBlockOrder* o) {
    for (int p = 0; p < o->nodes; ++p) {
        for (int i = o->first[p] + 1; i < o->first[p + 1]; ++i) {
            int node = o->later[i], k = i;
            for (; k > o->first[p] && o->place[o->later[k - 1]] > o->place[node]; --k)
                o->later[k] = o->later[k - 1];
            o->later[k] = node;
        }
    }
}

// Puts every node right behind those that were eliminated into it (postorder of the elimination
// tree): the same fill and the same operations, but what is needed next was used just before and is
// still in the cache. Minimum degree alone sweeps through the whole mechanism again and again.
static void follow_tree(LashBlockOrder* o) {
    int n = o->nodes, next = 0, at = 0;
    int *parent = lash_alloc((size_t)(n + 1) * sizeof(int)),
        *child = lash_alloc((size_t)(n + 1) * sizeof(int)),
        *sibling = lash_alloc((size_t)(n + 1) * sizeof(int)),
        *place = lash_alloc((size_t)(n + 1) * sizeof(int)); // new place by old; lists hold p + 1
    for (int p = n - 1; p >= 0; --p) { // the first child of a list is the earliest
        bool root = o->first[p] == o->first[p + 1];
        parent[p] = root ? n : o->place[o->later[o->first[p]]];
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
    LashBlockOrder old = *o;
    o->order = lash_alloc((size_t)(n + 1) * sizeof(int));
    o->first = lash_alloc((size_t)(n + 1) * sizeof(int));
    o->later = lash_alloc(((size_t)old.first[n] + 1) * sizeof(int));
    for (int p = 0; p < n; ++p) {
        o->order[place[p]] = old.order[p];
        parent[place[p]] = p;
    }
    for (int p = 0; p < n; ++p) { // parent: old place by new
        for (int i = old.first[parent[p]]; i < old.first[parent[p] + 1]; ++i)
            o->later[at++] = old.later[i];
        o->first[p + 1] = at;
    }
    for (int p = 0; p < n; ++p) o->place[o->order[p]] = p;
    lash_free(old.order);
    lash_free(old.first);
    lash_free(old.later);
    lash_free(parent);
    lash_free(child);
    lash_free(sibling);
    lash_free(place);
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
    for (int i = 0; i < graph->nodes && !as_given; ++i) {
        if (ready(&s, i)) push(&s, i);
    }
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

void lash_block_order_free(LashBlockOrder* order) {
    lash_free(order->order);
    lash_free(order->place);
    lash_free(order->first);
    lash_free(order->later);
    *order = (LashBlockOrder){0};
}

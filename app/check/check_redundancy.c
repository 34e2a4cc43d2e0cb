// lash check: which joints say the same thing twice, and which change ends it; singular positions.
//
// A circuit is a self-stress: impulses P with G P = 0 (solvers/step/freedom.c). Circuits through the
// same joints are one redundancy. At joint j the self-stresses of a redundancy are wrenches w_c; C
// is the space of wrenches the joint can carry, K that of another joint type with fewer
// constraints, K in C. The rank stays, so no freedom is added, exactly when  K + span(w_c) = C;
// then dim C - dim K rows become free of redundancy. In the axes of the joint the spaces K are
// spanned by components:
//     cylindrical fx fy mx my | spherical fx fy fz | point_on_line fx fy | point_on_plane fz | ...
// Changes are chosen one after the other; each keeps those self-stresses that the changed joints
// can still carry.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check_internal.h"
#include "app/cli/report.h"
#include "core/arena.h"
#include "core/math3.h"
#include "solvers/linear/elimination.h"

static const double ALIKE = 1e-6; // independent wrenches differ by more, as a share

enum { FX = 1, FY = 2, FZ = 4, MX = 8, MY = 16, MZ = 32, MAX_CIRCUITS = 36 };

// What a joint may become: only types whose wrenches it can carry itself.
typedef struct Change {
    LashJointType from, to;
    unsigned carries;
} Change;
static const Change changes[] = {
    {LASH_FIXED, LASH_REVOLUTE, FX | FY | FZ | MX | MY},
    {LASH_FIXED, LASH_PRISMATIC, FX | FY | MX | MY | MZ},
    {LASH_FIXED, LASH_CYLINDRICAL, FX | FY | MX | MY},
    {LASH_FIXED, LASH_SPHERICAL, FX | FY | FZ},
    {LASH_FIXED, LASH_POINT_ON_LINE, FX | FY},
    {LASH_REVOLUTE, LASH_CYLINDRICAL, FX | FY | MX | MY},
    {LASH_REVOLUTE, LASH_SPHERICAL, FX | FY | FZ},
    {LASH_REVOLUTE, LASH_POINT_ON_LINE, FX | FY},
    {LASH_PRISMATIC, LASH_CYLINDRICAL, FX | FY | MX | MY},
    {LASH_PRISMATIC, LASH_POINT_ON_LINE, FX | FY},
    {LASH_CYLINDRICAL, LASH_POINT_ON_LINE, FX | FY},
    {LASH_SCREW, LASH_CYLINDRICAL, FX | FY | MX | MY},
    {LASH_UNIVERSAL, LASH_SPHERICAL, FX | FY | FZ},
    {LASH_SPHERICAL, LASH_POINT_ON_LINE, FX | FY},
    {LASH_SPHERICAL, LASH_POINT_ON_PLANE, FZ},
    {LASH_PLANAR, LASH_POINT_ON_PLANE, FZ},
};
enum { CHANGES = sizeof changes / sizeof *changes };

// ---- sets of joints -----------------------------------------------------------------------------

static int by_number(const void* a, const void* b) {
    return *(const int*)a - *(const int*)b;
}

// Interactions of a circuit, ascending, into member; returns their number.
static int circuit_members(const LashCircuit* circuit, const int* owner, int* member) {
    int n = 0, kept = 0;
    for (int k = 0; k < circuit->rows; ++k) member[n++] = owner[circuit->row[k]];
    qsort(member, (size_t)n, sizeof *member, by_number);
    for (int k = 0; k < n; ++k) {
        if (k == 0 || member[k] != member[k - 1]) member[kept++] = member[k];
    }
    return kept;
}

static void add_to(CheckRedundancies* list, int circuit, const int* member, int n) {
    for (int i = 0; i < list->count; ++i) {
        CheckRedundancy* redundancy = &list->item[i];
        if (redundancy->members != n ||
            memcmp(redundancy->member, member, (size_t)n * sizeof(int)) != 0)
            continue;
        redundancy->circuit =
            lash_realloc(redundancy->circuit, (size_t)(redundancy->circuits + 1) * sizeof(int));
        redundancy->circuit[redundancy->circuits++] = circuit;
        ++redundancy->rows;
        return;
    }
    CheckRedundancy* redundancy = &list->item[list->count++];
    *redundancy = (CheckRedundancy){.members = n, .rows = 1, .circuits = 1};
    redundancy->member = lash_alloc((size_t)n * sizeof(int));
    memcpy(redundancy->member, member, (size_t)n * sizeof(int));
    redundancy->circuit = lash_alloc(sizeof(int));
    redundancy->circuit[0] = circuit;
}

static int by_place(const void* a, const void* b) {
    const CheckRedundancy *x = a, *y = b;
    int last = x->member[x->members - 1] - y->member[y->members - 1];
    return last != 0 ? last : x->member[0] - y->member[0];
}

static void group(const CheckSubject* subject, const int* owner, CheckRedundancies* list) {
    const LashFreedom* f = subject->freedom;
    int* member = lash_alloc(((size_t)f->rows + 1) * sizeof *member);
    list->item = lash_alloc(((size_t)f->circuits + 1) * sizeof *list->item);
    for (int i = 0; i < f->circuits; ++i) {
        add_to(list, i, member, circuit_members(&f->circuit[i], owner, member));
    }
    qsort(list->item, (size_t)list->count, sizeof *list->item, by_place);
    lash_free(member);
}

// ---- releases -----------------------------------------------------------------------------------

typedef struct Plan {
    const CheckSubject* s;
    const int* joint_of; // (interactions) joint, -1: a driver
    const int* uses;     // (interactions) redundancies it belongs to
    CheckRedundancy* r;
    int left;      // self-stresses still there
    double* P;     // (rows x left) impulses of them
    bool* changed; // (members)
    int rows;
} Plan;

static const double* stress(const Plan* plan, int c) {
    return plan->P + (size_t)plan->rows * (size_t)c;
}

// Wrench of the joint's own rows for impulses P of the whole list: force, moment / length.
static void wrench(const Plan* plan, int interaction, const double* P, double w[6]) {
    const CheckSubject* subject = plan->s;
    const LashInteraction* item = &lash_sim_interactions(subject->sim)->item[interaction];
    double* own = lash_alloc((size_t)subject->system->max_rows * sizeof *own);
    const double *q, *v;
    lash_sim_state(subject->sim, &q, &v);
    memcpy(own + item->row, P + item->row, (size_t)item->rows * sizeof *own);
    LashReaction x =
        lash_mechanism_reaction(subject->mech, NULL, plan->joint_of[interaction], q, own, 1);
    double length = subject->system->length;
    const double value[6] = {x.force.x,           x.force.y,           x.force.z,
                             x.moment.x / length, x.moment.y / length, x.moment.z / length};
    memcpy(w, value, sizeof value);
    lash_free(own);
}

static void add_vector(LashElimination* elimination, const double w[6]) {
    static const int index[6] = {0, 1, 2, 3, 4, 5};
    double largest = 0, x[6];
    for (int k = 0; k < 6; ++k) largest = fmax(largest, fabs(w[k]));
    if (!(largest > ALIKE)) return;
    for (int k = 0; k < 6; ++k) x[k] = fabs(w[k]) > 1e-9 * largest ? w[k] : 0;
    lash_elimination_add(elimination, 6, index, x);
}

// Dimension of what the joint can carry (mask = 0), or of the masked components and the
// self-stresses left.
static int carried(const Plan* plan, int interaction, bool own, unsigned mask) {
    const LashInteraction* item = &lash_sim_interactions(plan->s->sim)->item[interaction];
    LashElimination* elimination = lash_elimination_create(6, ALIKE);
    double w[6], *P = lash_alloc((size_t)plan->rows * sizeof *P);
    for (int k = 0; k < item->rows && own; ++k) {
        P[item->row + k] = 1;
        wrench(plan, interaction, P, w);
        P[item->row + k] = 0;
        add_vector(elimination, w);
    }
    for (int k = 0; k < 6 && !own; ++k) {
        double unit[6] = {0};
        unit[k] = 1;
        if (mask >> k & 1) add_vector(elimination, unit);
    }
    for (int c = 0; c < plan->left && !own; ++c) {
        wrench(plan, interaction, stress(plan, c), w);
        add_vector(elimination, w);
    }
    int rank = lash_elimination_rank(elimination);
    lash_elimination_destroy(elimination);
    lash_free(P);
    return rank;
}

static int bits(unsigned mask) {
    int n = 0;
    for (; mask != 0; mask &= mask - 1) ++n;
    return n;
}

// Does interaction take part in a self-stress that is left?
static bool stressed(const Plan* plan, int interaction) {
    const LashInteraction* item = &lash_sim_interactions(plan->s->sim)->item[interaction];
    for (int c = 0; c < plan->left; ++c) {
        for (int k = item->row; k < item->row + item->rows; ++k) {
            if (fabs(stress(plan, c)[k]) > ALIKE) return true;
        }
    }
    return false;
}

typedef struct Best {
    int member, gain, rank; // rank: the higher, the better
    const Change* change;   // NULL: remove
} Best;

static void consider(Best* best, int member, int gain, int rank, const Change* change) {
    if (gain <= 0) return;
    rank = 10 * rank + gain;
    if (best->gain > 0 && rank < best->rank) return;
    *best = (Best){member, gain, rank, change};
}

static void consider_member(const Plan* plan, int k, Best* best) {
    int i = plan->r->member[k], joint = plan->joint_of[i];
    if (plan->changed[k] || !stressed(plan, i)) return;
    if (joint >= 0 && plan->s->busy[joint]) return; // its coordinate is needed
    int alone = plan->uses[i] == 1; // changing it leaves other redundancies as they are
    if (joint < 0 || lash_sim_interactions(plan->s->sim)->item[i].rows == 1) {
        consider(best, k, 1, alone, NULL);
        return;
    }
    LashJointType type = lash_mechanism_joint(plan->s->mech, joint)->type;
    int whole = carried(plan, i, true, 0);
    for (int c = 0; c < CHANGES; ++c) {
        if (changes[c].from != type) continue;
        int gain = whole - bits(changes[c].carries);
        if (gain > plan->left || carried(plan, i, false, changes[c].carries) != whole) continue;
        consider(best, k, gain, 2 + alone, &changes[c]);
    }
    if (whole <= plan->left && carried(plan, i, false, 0) == whole)
        consider(best, k, whole, alone, NULL);
}

// Keeps the self-stresses that the changed joint can still carry.
static void apply(Plan* plan, const Best* best) {
    int i = plan->r->member[best->member], n = plan->left, kept = 0;
    const LashInteraction* item = &lash_sim_interactions(plan->s->sim)->item[i];
    LashElimination* elimination = lash_elimination_create(n, ALIKE);
    int index[MAX_CIRCUITS];
    double row[6][MAX_CIRCUITS] = {{0}}, share[MAX_CIRCUITS];
    bool scalar = best->change == NULL && (plan->joint_of[i] < 0 || item->rows == 1);
    unsigned carries = best->change == NULL ? 0 : best->change->carries;
    for (int c = 0; c < n; ++c) {
        double w[6] = {0};
        if (scalar) w[0] = stress(plan, c)[item->row];
        if (!scalar) wrench(plan, i, stress(plan, c), w);
        for (int k = 0; k < 6; ++k) row[k][c] = fabs(w[k]) > ALIKE ? w[k] : 0;
        index[c] = c;
    }
    for (int k = 0; k < 6; ++k) {
        if ((carries >> k & 1) == 0) lash_elimination_add(elimination, n, index, row[k]);
    }
    size_t rows = (size_t)plan->rows;
    double* P = lash_alloc(rows * (size_t)n * sizeof *P);
    for (int c = 0; c < n; ++c) {
        if (lash_elimination_is_pivot(elimination, c)) continue;
        lash_elimination_null_vector(elimination, c, share);
        for (int d = 0; d < n; ++d) {
            for (size_t k = 0; k < rows; ++k)
                P[rows * (size_t)kept + k] += share[d] * stress(plan, d)[k];
        }
        ++kept;
    }
    lash_elimination_destroy(elimination);
    lash_free(plan->P);
    plan->P = P;
    plan->left = kept;
    plan->changed[best->member] = true;
}

static void plan_releases(Plan* plan) {
    CheckRedundancy* redundancy = plan->r;
    const LashFreedom* f = plan->s->freedom;
    if (redundancy->circuits > MAX_CIRCUITS) return;
    plan->left = redundancy->circuits;
    plan->P = lash_alloc((size_t)plan->rows * (size_t)redundancy->circuits * sizeof(double));
    for (int c = 0; c < redundancy->circuits; ++c) {
        const LashCircuit* circuit = &f->circuit[redundancy->circuit[c]];
        for (int k = 0; k < circuit->rows; ++k)
            plan->P[(size_t)plan->rows * (size_t)c + (size_t)circuit->row[k]] = circuit->P[k];
    }
    plan->changed = lash_alloc((size_t)redundancy->members);
    redundancy->release = lash_alloc((size_t)redundancy->members * sizeof *redundancy->release);
    while (plan->left > 0) {
        Best best = {0};
        for (int k = 0; k < redundancy->members; ++k) consider_member(plan, k, &best);
        if (best.gain == 0) break;
        redundancy->release[redundancy->releases++] =
            (CheckRelease){redundancy->member[best.member],
                           best.change == NULL ? NULL : lash_joint_type_name(best.change->to),
                           best.gain, plan->uses[redundancy->member[best.member]] > 1};
        int before = plan->left;
        apply(plan, &best);
        if (plan->left >= before) break;
    }
    lash_free(plan->P);
    lash_free(plan->changed);
}

CheckRedundancies check_redundancies(const CheckSubject* subject) {
    CheckRedundancies list = {0};
    const LashInteractionList* items = lash_sim_interactions(subject->sim);
    size_t n = (size_t)items->bilateral + 1;
    int* owner = lash_alloc(((size_t)items->bilateral_rows + 1) * sizeof *owner);
    int *joint_of = lash_alloc(n * sizeof *joint_of), *uses = lash_alloc(n * sizeof *uses);
    for (int i = 0; i < items->bilateral; ++i) {
        joint_of[i] = -1;
        for (int k = 0; k < items->item[i].rows; ++k) owner[items->item[i].row + k] = i;
    }
    for (int j = 0; j < lash_mechanism_joint_count(subject->mech); ++j) {
        int i = lash_mechanism_joint_interaction(subject->mech, j);
        if (i >= 0 && i < items->bilateral) joint_of[i] = j;
    }
    group(subject, owner, &list);
    for (int i = 0; i < list.count; ++i) {
        for (int k = 0; k < list.item[i].members; ++k) ++uses[list.item[i].member[k]];
    }
    for (int i = 0; i < list.count; ++i) {
        Plan plan = {.s = subject,
                     .joint_of = joint_of,
                     .uses = uses,
                     .r = &list.item[i],
                     .rows = items->bilateral_rows};
        plan_releases(&plan);
    }
    lash_free(owner);
    lash_free(joint_of);
    lash_free(uses);
    return list;
}

void check_redundancies_free(CheckRedundancies* list) {
    for (int i = 0; i < list->count; ++i) {
        lash_free(list->item[i].member);
        lash_free(list->item[i].circuit);
        lash_free(list->item[i].release);
    }
    lash_free(list->item);
    *list = (CheckRedundancies){0};
}

// Parts are tied together, in a step, by the rows of joints and by what pushed in it: contacts,
// limits, friction. The ground ties nothing: an impulse that reaches it ends there.
#include "app/run/strike.h"

#include <string.h>

#include "core/arena.h"

AppStrike app_strike_create(const LashMechanism* mech) {
    AppStrike strike = {.bodies = lash_mechanism_body_count(mech)};
    size_t n = (size_t)strike.bodies + 1;
    strike.parent = lash_alloc(n * sizeof *strike.parent);
    strike.struck = lash_alloc(n * sizeof *strike.struck);
    return strike;
}

void app_strike_free(AppStrike* strike) {
    lash_free(strike->parent);
    lash_free(strike->struck);
}

// Who stands for all that are tied to a body.
static int first_of(const AppStrike* strike, int body) {
    while (strike->parent[body] != body) body = strike->parent[body];
    return body;
}

// Body numbers, -1: the ground.
static void tie(AppStrike* strike, int a, int b) {
    if (a < 0 || b < 0) return;
    strike->parent[first_of(strike, a)] = first_of(strike, b);
}

static int body_number(LashBodyId id) {
    return id.index1 - 2; // 1 is the ground
}

// The two bodies of a joint; of a gear pair those of its second joint.
static void joint_bodies(const LashMechanism* mech, int joint, int* a, int* b) {
    const LashJointDef* def = lash_mechanism_joint(mech, joint);
    if (def->type == LASH_GEAR || def->type == LASH_RACK_AND_PINION)
        def = lash_mechanism_joint(mech, def->coupled[1].index1 - 1);
    *a = body_number(def->body_a);
    *b = body_number(def->body_b);
}

// The two bodies of a contact, a limit or friction in a joint.
static void bodies_of(const LashMechanism* mech, uint64_t id, int* a, int* b) {
    int contact = lash_mechanism_contact_of(mech, id);
    if (contact >= 0)
        lash_mechanism_interaction_bodies(mech, id, a, b);
    else
        joint_bodies(mech, lash_mechanism_joint_of(mech, id), a, b);
}

static void tie_all(AppStrike* strike, const LashMechanism* mech, const LashSim* sim) {
    const LashInteractionList* list = lash_sim_interactions(sim);
    int count, a, b;
    const LashPush* push = lash_sim_pushes(sim, &count);
    for (int i = 0; i < strike->bodies; ++i) strike->parent[i] = i;
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int k = 1; k < item->touched; ++k) tie(strike, item->block[0], item->block[k]);
    }
    for (int i = 0; i < count; ++i) {
        bodies_of(mech, push[i].id, &a, &b);
        tie(strike, a, b);
    }
}

void app_strike_step(AppStrike* strike, const LashMechanism* mech, const LashSim* sim) {
    int count, side[2];
    const LashEvent* event = lash_sim_events(sim, &count);
    strike->any = false;
    for (int i = 0; i < count; ++i) strike->any = strike->any || event[i].kind == LASH_EVENT_IMPACT;
    if (!strike->any) return;
    tie_all(strike, mech, sim);
    memset(strike->struck, 0, (size_t)strike->bodies * sizeof *strike->struck);
    for (int i = 0; i < count; ++i) {
        if (event[i].kind != LASH_EVENT_IMPACT) continue;
        bodies_of(mech, event[i].id, &side[0], &side[1]);
        for (int s = 0; s < 2; ++s) {
            if (side[s] >= 0) strike->struck[first_of(strike, side[s])] = true;
        }
    }
}

static bool reached(const AppStrike* strike, int a, int b) {
    if (a >= 0 && strike->struck[first_of(strike, a)]) return true;
    return b >= 0 && strike->struck[first_of(strike, b)];
}

bool app_strike_contact(const AppStrike* strike, const LashMechanism* mech, int contact) {
    int a, b;
    if (!strike->any) return false;
    if (lash_mechanism_contact_is_group(mech, contact)) return true; // somewhere among its parts
    lash_mechanism_contact_bodies(mech, contact, &a, &b);
    return reached(strike, a, b);
}

bool app_strike_joint(const AppStrike* strike, const LashMechanism* mech, int joint) {
    int a, b;
    if (!strike->any) return false;
    joint_bodies(mech, joint, &a, &b);
    return reached(strike, a, b);
}

// Fasteners are welded to what they hold; parts that are welded together move as one body.
//
// A part named like a fastener holds what it sits in (or what sits in it) without play, and what
// lies flush on one of its planes. What it only passes through with play is not held by it: a lever
// on a shoulder screw turns. One that holds nothing is a pin with an unlucky name: it stays, and is
// listed.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/draft/draft.h"
#include "core/arena.h"
#include "core/math3.h"

static const double FLUSH = 1e-6;     // [m]
static const double NEAR_AXIS = 1e-4; // [m] axes so near are one, drawn with play or without

static int root_of(Draft* draft, int part) {
    while (draft->part[part].body != part) part = draft->part[part].body;
    return part;
}

static void unite(Draft* draft, int a, int b) {
    a = root_of(draft, a);
    b = root_of(draft, b);
    if (a != b) draft->part[a < b ? b : a].body = a < b ? a : b;
}

static bool boxes_touch(const LashBox* a, const LashBox* b) {
    double e = FLUSH;
    return a->low.x <= b->high.x + e && b->low.x <= a->high.x + e && a->low.y <= b->high.y + e &&
           b->low.y <= a->high.y + e && a->low.z <= b->high.z + e && b->low.z <= a->high.z + e;
}

static bool flush(const Draft* draft, const DraftPlane* a, const DraftPlane* b) {
    if (vec3_dot(a->normal, b->normal) > -1 + 1e-12) return false;
    if (fabs(vec3_dot(vec3_sub(b->point, a->point), a->normal)) > FLUSH) return false;
    return boxes_touch(&a->box, &b->box) && draft_planes_overlap(draft, a, b);
}

// Parts that lie on a plane of the fastener.
static int weld_flush(Draft* draft, int fastener) {
    int welded = 0;
    for (int i = 0; i < draft->planes; ++i) {
        const DraftPlane* own = &draft->plane[i];
        if (own->part != fastener) continue;
        for (int k = 0; k < draft->planes; ++k) {
            const DraftPlane* other = &draft->plane[k];
            if (other->part == fastener || !flush(draft, own, other)) continue;
            unite(draft, fastener, other->part);
            ++welded;
        }
    }
    return welded;
}

static void weld_fastener(Draft* draft, int fastener) {
    bool any = false;
    int welded = weld_flush(draft, fastener);
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        if (draft_joint->outer != fastener && draft_joint->inner != fastener) continue;
        any = true;
        if (!draft_joint->no_play) continue;
        unite(draft, draft_joint->outer, draft_joint->inner);
        ++welded;
    }
    if (welded > 0) return;
    draft_add_note(draft, "'%s' is named like a fastener but %s: kept as a part",
                   draft->part[fastener].name,
                   any ? "has play in all its bores" : "touches nothing");
}

// A bushing or pin that sits without play in one bore and with play in another one on the same axis
// is pressed in where it has none: held by nothing else, it would turn in both.
static void weld_pressed(Draft* draft, int part) {
    const DraftJoint* first = NULL;
    bool tight = false, loose = false;
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        if (draft_joint->outer != part && draft_joint->inner != part) continue;
        if (draft->part[draft_joint->outer == part ? draft_joint->inner : draft_joint->outer]
                .fastener)
            continue;
        if (first == NULL) first = draft_joint;
        Vec3 d = vec3_sub(draft_joint->point, first->point);
        double off = vec3_norm(vec3_add_scaled(d, -vec3_dot(d, first->axis), first->axis));
        if (draft_joint->type != DRAFT_REVOLUTE || off > NEAR_AXIS ||
            vec3_norm(vec3_cross(draft_joint->axis, first->axis)) > 1e-6)
            return;
        tight = tight || draft_joint->no_play;
        loose = loose || !draft_joint->no_play;
    }
    if (!tight || !loose) return;
    draft->part[part].pressed = true;
    for (int i = 0; i < draft->joints; ++i) {
        const DraftJoint* draft_joint = &draft->joint[i];
        if ((draft_joint->outer == part || draft_joint->inner == part) && draft_joint->no_play)
            unite(draft, draft_joint->outer, draft_joint->inner);
    }
}

static LashBox box_union(const LashBox* a, const LashBox* b) {
    return (LashBox){
        vec3(fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y), fmin(a->low.z, b->low.z)),
        vec3(fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y), fmax(a->high.z, b->high.z))};
}

static void number_bodies(Draft* draft) {
    int* number = lash_alloc(((size_t)draft->parts + 1) * sizeof *number);
    draft->body = lash_alloc(((size_t)draft->parts + 1) * sizeof *draft->body);
    for (int i = 0; i < draft->parts; ++i) number[i] = -1;
    for (int i = 0; i < draft->parts; ++i) {
        int root = root_of(draft, i);
        if (number[root] < 0) {
            number[root] = draft->bodies;
            draft->body[draft->bodies++] = (DraftBody){.largest = i, .volume = -1};
        }
    }
    for (int i = 0; i < draft->parts; ++i) {
        DraftBody* body = &draft->body[number[root_of(draft, i)]];
        double volume = draft->shape->part[draft->part[i].row].volume;
        const LashBox* box = &draft->shape->part[draft->part[i].row].box;
        body->box = body->parts++ == 0 ? *box : box_union(&body->box, box);
        // the largest gives the name; a fastener only where there is nothing else
        bool better = volume > body->volume && !draft->part[i].fastener;
        if (body->volume >= 0 && !better &&
            !(draft->part[body->largest].fastener && !draft->part[i].fastener))
            continue;
        body->volume = volume;
        body->largest = i;
        snprintf(body->name, sizeof body->name, "%s", draft->part[i].name);
    }
    for (int i = 0; i < draft->parts; ++i) {
        int root = root_of(draft, i);
        number[i] = number[root]; // roots come before their members
    }
    for (int i = 0; i < draft->parts; ++i) draft->part[i].body = number[i];
    lash_free(number);
}

static const char* leaf_of(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static bool same_leaf(const char* a, const char* b) { // "M6#2" is one more "M6"
    const char *p = leaf_of(a), *q = leaf_of(b);
    size_t n = strcspn(p, "#");
    return n == strcspn(q, "#") && strncmp(p, q, n) == 0;
}

static bool one_product(const Draft* draft, int a, int b) {
    const LashShapePart* part = draft->shape->part;
    return part[draft->part[a].row].product == part[draft->part[b].row].product;
}

static void note_welds(Draft* draft) {
    for (int b = 0; b < draft->bodies; ++b) {
        if (draft->body[b].parts < 2) continue;
        char list[220] = "";
        for (int i = 0; i < draft->parts; ++i) {
            if (draft->part[i].body != b || i == draft->body[b].largest) continue;
            if (one_product(draft, i, draft->body[b].largest)) continue; // its other solids
            int before = 0, all = 0; // parts of one name are counted
            for (int k = 0; k < draft->parts; ++k) {
                bool same = draft->part[k].body == b && k != draft->body[b].largest &&
                            same_leaf(draft->part[k].path, draft->part[i].path);
                before += same && k < i;
                all += same;
            }
            if (before > 0) continue;
            size_t used = strlen(list);
            const char* leaf = leaf_of(draft->part[i].path);
            snprintf(list + used, sizeof list - used, "%s%.*s", used > 0 ? ", " : "",
                     (int)strcspn(leaf, "#"), leaf);
            used = strlen(list);
            if (all > 1) snprintf(list + used, sizeof list - used, " (%d)", all);
            used = strlen(list);
            if (draft->part[i].pressed) snprintf(list + used, sizeof list - used, " (pressed in)");
        }
        if (list[0] != '\0') draft_add_note(draft, "welded to '%s': %s", draft->body[b].name, list);
    }
}

// Joints are between bodies from here on: those within one go, those of one axis are one.
static void join_bodies(Draft* draft) {
    int count = 0;
    for (int i = 0; i < draft->joints; ++i) {
        DraftJoint j = draft->joint[i];
        j.outer = draft->part[j.outer].body;
        j.inner = draft->part[j.inner].body;
        if (j.outer == j.inner) continue;
        bool known = false;
        for (int k = 0; k < count && !known; ++k) {
            DraftJoint* other = &draft->joint[k];
            bool same = (other->outer == j.outer && other->inner == j.inner) ||
                        (other->outer == j.inner && other->inner == j.outer);
            Vec3 d = vec3_sub(j.point, other->point);
            double off = vec3_norm(vec3_add_scaled(d, -vec3_dot(d, j.axis), j.axis));
            known = same && other->bore >= 0 && j.bore >= 0 &&
                    vec3_norm(vec3_cross(j.axis, other->axis)) < 1e-6 &&
                    off < 2e-5 + j.play + other->play;
            if (known && j.play < other->play) *other = j;
        }
        if (!known) draft->joint[count++] = j;
    }
    draft->joints = count;
}

void draft_weld(Draft* draft, const DraftOptions* options) {
    for (int i = 0; i < draft->parts; ++i) draft->part[i].body = i;
    for (int i = 1; i < draft->parts; ++i) { // solids of one product
        if (one_product(draft, i - 1, i)) unite(draft, i - 1, i);
    }
    for (int i = 0; i < draft->parts && !options->keep_fasteners; ++i) {
        if (draft->part[i].fastener) weld_fastener(draft, i);
    }
    for (int i = 0; i < draft->parts; ++i)
        if (!draft->part[i].fastener) weld_pressed(draft, i);
    number_bodies(draft);
    note_welds(draft);
    join_bodies(draft);
}

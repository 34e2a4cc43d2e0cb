// Groups of parts that may touch each other, chosen by name patterns; laws of pairs of materials.
//
// A group names parts, not surfaces: each takes part with all of its STEP faces, or with its shapes.
// Pairs that a contact or a joint of the model names, and pairs of fixed parts, do not meet in a group.
//
// The law of two parts: friction and restitution each come from the contact or group; else from the
// row of the model's materials between the two; else from the row without materials; else they are
// 0 where the model has no such table, and an error where it has one.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "app/model/primitive.h"
#include "core/math3.h"

#define MATERIAL(member) .key = #member, .offset = offsetof(LashModelMaterials, member)
static const KeySpec material_keys[] = {
    {.key = "between",
     .offset = offsetof(LashModelMaterials, between.name),
     .type = KEY_TEXTS,
     .count_offset = offsetof(LashModelMaterials, between.count),
     .help = "two materials (the same twice: against itself); left out: all other pairs"},
    {MATERIAL(restitution), .type = KEY_NUMBER, .range = RANGE_FRACTION,
     .help = "Newton's coefficient"},
    {MATERIAL(friction), .type = KEY_NUMBER, .range = RANGE_NOT_NEGATIVE,
     .help = "Coulomb's coefficient"},
};
static void material_defaults(void* target) {
    LashModelMaterials* row = target;
    row->restitution = NAN;
    row->friction = NAN;
}
const KeyTable model_material_table = {.what = "a pair of materials",
                                       .key = material_keys,
                                       .keys = sizeof material_keys / sizeof *material_keys,
                                       .size = sizeof(LashModelMaterials),
                                       .defaults = material_defaults};

// ---- materials ----------------------------------------------------------------------------------

static bool same_pair(const LashModelNames* row, const char* a, const char* b) {
    if (row->count == 0) return a == NULL;
    if (a == NULL || b == NULL) return false;
    return (strcmp(row->name[0], a) == 0 && strcmp(row->name[1], b) == 0) ||
           (strcmp(row->name[0], b) == 0 && strcmp(row->name[1], a) == 0);
}

// The row of two materials (NULL, NULL: the one of all others); NULL: none.
static const LashModelMaterials* find_row(const LashModel* model, const char* a, const char* b) {
    for (int i = 0; i < model->materials; ++i) {
        if (same_pair(&model->material[i].between, a, b)) return &model->material[i];
    }
    return NULL;
}

bool model_check_materials(ModelContext* context) {
    const LashModel* model = context->model;
    char path[64];
    for (int i = 0; i < model->materials; ++i) {
        const LashModelMaterials* row = &model->material[i];
        const LashModelNames* pair = &row->between;
        snprintf(path, sizeof path, "materials[%d]%s", i, pair->count > 0 ? ".between" : "");
        if (pair->count != 0 && pair->count != 2)
            return model_fail(context, path, "expected two materials, found %d", pair->count);
        const LashModelMaterials* first = find_row(model, pair->count > 0 ? pair->name[0] : NULL,
                                                   pair->count > 0 ? pair->name[1] : NULL);
        if (first != row)
            return model_fail(context, path, "materials[%d] has a row for this pair already",
                              (int)(first - model->material));
        if (!model_has(row->restitution) && !model_has(row->friction))
            return model_fail(context, path,
                              "a pair of materials needs 'friction', 'restitution' or both");
    }
    return true;
}

// One number of the law of two materials (NULL: the part names none); NAN: the table has none.
static double table_number(const LashModel* model, const char* a, const char* b, bool friction) {
    const LashModelMaterials* rows[2] = {a == NULL || b == NULL ? NULL : find_row(model, a, b),
                                         find_row(model, NULL, NULL)};
    for (int k = 0; k < 2; ++k) {
        if (rows[k] == NULL) continue;
        double value = friction ? rows[k]->friction : rows[k]->restitution;
        if (model_has(value)) return value;
    }
    return NAN;
}

// The nearest material that the table knows.
static const char* suggest_material(const LashModel* model, const char* material, char* hint,
                                    size_t size) {
    AppSuggestion near = app_suggestion(material);
    for (int i = 0; i < model->materials; ++i) {
        const LashModelNames* pair = &model->material[i].between;
        for (int k = 0; k < pair->count; ++k) {
            if (strcmp(pair->name[k], material) == 0) return "";
            app_suggestion_offer(&near, pair->name[k]);
        }
    }
    return app_suggestion_text(&near, hint, size);
}

static bool fail_no_law(ModelContext* context, const char* path, const LashModelPart* a,
                        const LashModelPart* b, bool friction) {
    const LashModel* model = context->model;
    const char* what = friction ? "friction" : "restitution";
    const LashModelPart* bare = a == NULL || a->material == NULL ? a : b;
    char hint_a[128], hint_b[128];
    if (a == NULL || b == NULL || bare == NULL || bare->material == NULL) {
        return model_fail(context, path,
                          "no '%s': '%.60s' has no 'material', and the model's materials have no "
                          "row without 'between' for such parts; give it here, or one of the two",
                          what, bare == NULL ? "ground" : bare->name);
    }
    return model_fail(context, path,
                      "no '%s' of '%.60s'%s on '%.60s'%s (parts '%.60s' and '%.60s'): add a row "
                      "\"between\": [\"%.60s\", \"%.60s\"] to the model's materials, a row without "
                      "'between' for all other pairs, or '%s' here",
                      what, a->material,
                      suggest_material(model, a->material, hint_a, sizeof hint_a), b->material,
                      suggest_material(model, b->material, hint_b, sizeof hint_b), a->name, b->name,
                      a->material, b->material, what);
}

// A number of the law of two parts (NULL: the ground); given: what the contact says itself.
static bool find_law(ModelContext* context, const char* path, double given, const LashModelPart* a,
                     const LashModelPart* b, bool friction, double* value) {
    *value = given;
    if (model_has(given)) return true;
    *value = table_number(context->model, a == NULL ? NULL : a->material,
                          b == NULL ? NULL : b->material, friction);
    if (model_has(*value)) return true;
    *value = 0;
    if (context->model->materials == 0) return true;
    return fail_no_law(context, path, a, b, friction);
}

bool model_contact_law(ModelContext* context, int index, int part_a, int part_b) {
    LashModel* model = context->model;
    LashModelContact* contact = &model->contact[index];
    const LashModelPart* a = part_a < 0 ? NULL : &model->part[part_a];
    const LashModelPart* b = part_b < 0 ? NULL : &model->part[part_b];
    char path[64];
    snprintf(path, sizeof path, "contacts[%d]", index);
    bool named = (a != NULL && a->material != NULL) || (b != NULL && b->material != NULL);
    if (!named && !model_has(contact->friction)) contact->friction = 0;
    if (!named && !model_has(contact->restitution)) contact->restitution = 0;
    return find_law(context, path, contact->friction, a, b, true, &contact->friction) &&
           find_law(context, path, contact->restitution, a, b, false, &contact->restitution);
}

// ---- members ------------------------------------------------------------------------------------

bool model_is_group(const LashModelContact* contact) {
    return contact->among.count > 0 || contact->between[0].count > 0;
}

// Does the name fit the pattern? * stands for any letters, ? for one.
static bool fits(const char* pattern, const char* name) {
    const char *star = NULL, *mark = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            mark = name;
        } else if (*pattern == '?' || *pattern == *name) {
            ++pattern;
            ++name;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*') ++pattern;
    return *pattern == '\0';
}

static bool fail_no_part(ModelContext* context, const char* path, const char* pattern) {
    const LashModel* model = context->model;
    char hint[128];
    bool wild = strpbrk(pattern, "*?") != NULL;
    if (strcmp(pattern, "ground") == 0)
        return model_fail(context, path,
                          "the ground has no shape to touch; name parts that are \"fixed\": true");
    AppSuggestion near = app_suggestion(pattern);
    for (int i = 0; i < model->parts; ++i) app_suggestion_offer(&near, model->part[i].name);
    return model_fail(context, path, "%s '%.60s'%s",
                      wild ? "no part has a name that fits" : "there is no part", pattern,
                      app_suggestion_text(&near, hint, sizeof hint));
}

// Marks the parts that the patterns name with `side`.
static bool mark_parts(ModelContext* context, const char* path, const LashModelNames* names,
                       unsigned side, uint8_t* sides) {
    const LashModel* model = context->model;
    for (int k = 0; k < names->count; ++k) {
        bool any = false;
        for (int i = 0; i < model->parts; ++i) {
            if (!fits(names->name[k], model->part[i].name)) continue;
            sides[i] |= (uint8_t)side;
            any = true;
        }
        if (any) continue;
        char key[APP_JSON_PATH];
        snprintf(key, sizeof key, "%.100s[%d]", path, k);
        return fail_no_part(context, key, names->name[k]);
    }
    return true;
}

// The surfaces of a primitive shape; equal ones are made once.
static const LashShape* shape_of(ModelContext* context, const LashModelShape* shape) {
    static const char none[] = "shape"; // no file
    char made[200];
    snprintf(made, sizeof made, "%d %.17g %.17g %.17g %.17g %.17g %.17g %.17g", shape->type,
             shape->size.x, shape->size.y, shape->size.z, shape->radius, shape->length,
             shape->inner_radius, shape->outer_radius);
    LashShape* known = model_find_made(context, none, NAN, made);
    if (known != NULL) return known;
    known = model_primitive(shape);
    model_keep_made(context, none, NAN, made, known);
    return known;
}

// Number of a part's material among those of the group; each is shown by the first part that has it.
static int material_number(const LashModel* model, const char* material, int* example, int* count) {
    for (int i = 0; i < *count; ++i) {
        const char* known = model->part[example[i]].material;
        bool same =
            known == NULL || material == NULL ? known == material : strcmp(known, material) == 0;
        if (same) return i;
    }
    return (*count)++;
}

static bool add_member(ModelContext* context, const char* path, LashModelGroup* group,
                       const LashGroupMember* member) {
    if (!lash_group_can_have(member->shape))
        return model_fail(
            context, path,
            "'%.60s' has %d faces, %d edges and %d vertices, too many for a group (at "
            "most 1023 of each); give it contacts of its own",
            context->model->part[member->owner].name, member->shape->faces, member->shape->edges,
            member->shape->vertices);
    if (group->members == lash_group_max_members())
        return model_fail(context, path, "a group has at most %d shapes", group->members);
    group->member[group->members++] = *member;
    return true;
}

// All shapes of the parts that are marked.
static bool add_members(ModelContext* context, const char* path, const uint8_t* sides,
                        LashModelGroup* group, int* example) {
    const LashModel* model = context->model;
    for (int i = 0; i < model->parts; ++i) {
        const LashModelPart* part = &model->part[i];
        if (sides[i] == 0) continue;
        if (part->shapes == 0 && (part->cad == NULL || part->cad->faces == 0))
            return model_fail(context, path, "'%.60s' has no shape and no STEP faces to touch with",
                              part->name);
        int known = group->materials;
        LashGroupMember member = {.owner = i, .sides = sides[i], .body_shape = part->body_part};
        member.material = material_number(model, part->material, example, &group->materials);
        if (group->materials > known) example[known] = i;
        for (int k = 0; k < part->shapes; ++k) {
            member.shape = shape_of(context, &part->shape[k]);
            member.body_shape = pose_mul(part->body_part, part->shape[k].part_shape);
            if (!add_member(context, path, group, &member)) return false;
        }
        member.shape = part->cad;
        if (part->shapes == 0 && !add_member(context, path, group, &member)) return false;
    }
    return true;
}

static bool across(unsigned a, unsigned b) {
    return (a & 1 && b & 2) || (a & 2 && b & 1);
}

// Can parts of the two materials meet? present: (8 per material) bits of sides, and 4: it moves.
static bool can_meet(const int* a, const int* b, bool same) {
    for (unsigned i = 1; i < 8; ++i) {
        for (unsigned k = 1; k < 8; ++k) {
            bool two = same && i == k ? a[i] > 1 : a[i] > 0 && b[k] > 0;
            if (two && across(i & 3, k & 3) && (i & 4 || k & 4)) return true;
        }
    }
    return false;
}

// Friction and restitution of all pairs of materials that can meet.
static bool find_laws(ModelContext* context, const char* path, const LashModelContact* contact,
                      const uint8_t* sides, LashModelGroup* group, const int* example) {
    const LashModel* model = context->model;
    int n = group->materials;
    int* present = model_alloc(context->model, (size_t)(8 * n) * sizeof *present);
    group->e = model_alloc(context->model, (size_t)(n * n) * sizeof *group->e);
    group->mu = model_alloc(context->model, (size_t)(n * n) * sizeof *group->mu);
    for (int i = 0; i < group->members; ++i) {
        int part = group->member[i].owner;
        bool first = i == 0 || group->member[i - 1].owner != part;
        int moves = model->part[part].body >= 0 ? 4 : 0;
        if (first) ++present[8 * group->member[i].material + sides[part] + moves];
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k <= i; ++k) {
            double e = 0, mu = 0;
            const LashModelPart *a = &model->part[example[i]], *b = &model->part[example[k]];
            if (can_meet(present + 8 * i, present + 8 * k, i == k)) {
                if (!find_law(context, path, contact->friction, a, b, true, &mu)) return false;
                if (!find_law(context, path, contact->restitution, a, b, false, &e)) return false;
            }
            group->e[i * n + k] = group->e[k * n + i] = e;
            group->mu[i * n + k] = group->mu[k * n + i] = mu;
        }
    }
    return true;
}

// ---- groups -------------------------------------------------------------------------------------

static void sides_of(const LashModel* model, const LashModelGroup* group, uint8_t* sides) {
    memset(sides, 0, (size_t)model->parts);
    for (int i = 0; i < group->members; ++i)
        sides[group->member[i].owner] = (uint8_t)group->member[i].sides;
}

// A pair of parts belongs to one group: which of two would have its law?
static bool check_other_groups(ModelContext* context, const char* path, const uint8_t* sides) {
    const LashModel* model = context->model;
    uint8_t* other = model_alloc(context->model, (size_t)model->parts + 1);
    for (int g = 0; g < model->contact_points; ++g) {
        if (model->contact_point[g].group == NULL) continue;
        sides_of(model, model->contact_point[g].group, other);
        int seen[16]; // a part in each combination of sides, plus one
        memset(seen, 0, sizeof seen);
        for (int i = 0; i < model->parts; ++i) {
            unsigned mine = sides[i], theirs = other[i];
            if (mine == 0 || theirs == 0) continue;
            for (unsigned c = 0; c < 16; ++c) {
                if (seen[c] == 0 || !across(mine, c >> 2) || !across(theirs, c & 3)) continue;
                const LashModelPart* first = &model->part[seen[c] - 1];
                if (first->body < 0 && model->part[i].body < 0) continue;
                return model_fail(context, path,
                                  "'%.60s' and '%.60s' meet in contacts[%d] ('%.60s') already; a "
                                  "pair of parts belongs to one group",
                                  first->name, model->part[i].name, model->contact_point[g].contact,
                                  model->contact_point[g].name);
            }
            int* mark = &seen[mine << 2 | theirs];
            if (*mark == 0 || model->part[*mark - 1].body < 0) *mark = i + 1;
        }
    }
    return true;
}

static bool check_keys(ModelContext* context, const char* path, const LashModelContact* contact) {
    const char* key = NULL;
    if (contact->a.given) key = "a";
    if (contact->b.given) key = "b";
    if (model_has(contact->offset)) key = "offset";
    if (contact->among.count > 0 && contact->between[0].count > 0) key = "between";
    if (key == NULL) return true;
    return model_fail(context, path, "a group ('%s') has no '%s'",
                      contact->among.count > 0 ? "among" : "between", key);
}

static bool read_sides(ModelContext* context, const char* path, const LashModelContact* contact,
                       uint8_t* sides) {
    char key[APP_JSON_PATH];
    if (contact->among.count > 0) {
        snprintf(key, sizeof key, "%.100s.among", path);
        return mark_parts(context, key, &contact->among, 3, sides);
    }
    for (int k = 0; k < 2; ++k) {
        snprintf(key, sizeof key, "%.100s.between[%d]", path, k);
        if (!mark_parts(context, key, &contact->between[k], k == 0 ? 1 : 2, sides)) return false;
    }
    return true;
}

// Some two parts of the group can touch.
static bool check_pairs(ModelContext* context, const char* path, const uint8_t* sides) {
    const LashModel* model = context->model;
    int present[8] = {0};
    for (int i = 0; i < model->parts; ++i) {
        if (sides[i] != 0) ++present[sides[i] + (model->part[i].body >= 0 ? 4 : 0)];
    }
    if (can_meet(present, present, true)) return true;
    return model_fail(context, path,
                      "a group needs two different parts, one of which moves; name more parts");
}

bool model_resolve_group(ModelContext* context, int index, LashModelGroup** result) {
    LashModel* model = context->model;
    const LashModelContact* contact = &model->contact[index];
    char path[64];
    snprintf(path, sizeof path, "contacts[%d]", index);
    int groups = 0;
    for (int i = 0; i < model->contact_points; ++i) groups += model->contact_point[i].group != NULL;
    if (groups == lash_group_max_groups())
        return model_fail(context, path, "a model has at most %d groups", groups);
    uint8_t* sides = model_alloc(model, (size_t)model->parts + 1);
    int shapes = 0;
    for (int i = 0; i < model->parts; ++i) shapes += model->part[i].shapes + 1;
    LashModelGroup* group = model_alloc(model, sizeof *group);
    group->member = model_alloc(model, (size_t)shapes * sizeof *group->member);
    int* example = model_alloc(model, (size_t)(model->parts + 1) * sizeof *example);
    *result = group;
    return check_keys(context, path, contact) && read_sides(context, path, contact, sides) &&
           check_pairs(context, path, sides) && check_other_groups(context, path, sides) &&
           add_members(context, path, sides, group, example) &&
           find_laws(context, path, contact, sides, group, example);
}

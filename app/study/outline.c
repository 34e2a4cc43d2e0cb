// A parameter acts where the model reads another number when it is set to another value: the model's
// text is read once with all parameters at their nominal values, and once more for each of them. The
// key tables of the loader are what is compared, so that every key that takes an expression counts,
// parameters of parameters included.
#include "app/study/outline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/study/study_internal.h"
#include "core/arena.h"

// Of the texts that are read for all parameters together [bytes]: a second or so.
static const double most_bytes = 64e6;

// ---- comparing ----------------------------------------------------------------------------------

static bool same_bytes(const char* a, const char* b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

static bool same_functions(const char* a, const char* b, int count) {
    const LashModelFunction* f = (const void*)a;
    const LashModelFunction* g = (const void*)b;
    for (int i = 0; i < count; ++i) {
        if ((f[i].text == NULL) != (g[i].text == NULL) || f[i].value != g[i].value) return false;
        if (f[i].text != NULL && strcmp(f[i].text, g[i].text) != 0) return false;
    }
    return true;
}

static bool same_table(const KeyTable* table, const char* a, const char* b, const char** key);

// Elements of the list behind a key.
static bool same_list(const KeySpec* key, const char* a, const char* b, size_t bytes) {
    int n = *(const int*)(const void*)(a + key->count_offset);
    const char* p = *(char* const*)(const void*)(a + key->offset);
    const char* q = *(char* const*)(const void*)(b + key->offset);
    const char* unused = NULL;
    for (int i = 0; i < n && key->table != NULL; ++i) {
        size_t place = (size_t)i * key->table->size;
        if (!same_table(key->table, p + place, q + place, &unused)) return false;
    }
    return key->table != NULL || n == 0 || same_bytes(p, q, (size_t)n * bytes);
}

static bool same_key(const KeySpec* key, const char* a, const char* b) {
    const char *p = a + key->offset, *q = b + key->offset;
    const char* unused = NULL;
    switch (key->type) {
        case KEY_NUMBER:
        case KEY_PLAY:
            return same_bytes(p, q, sizeof(double));
        case KEY_VECTOR:
            return same_bytes(p, q, sizeof(Vec3));
        case KEY_QUATERNION:
            return same_bytes(p, q, sizeof(Quat));
        case KEY_INERTIA:
            return same_bytes(p, q, sizeof(Mat3));
        case KEY_NUMBERS:
        case KEY_ROWS:
            return same_list(key, a, b, sizeof(double));
        case KEY_VECTORS:
            return same_list(key, a, b, sizeof(Vec3));
        case KEY_FUNCTION:
            return same_functions(p, q, 1);
        case KEY_FUNCTIONS:
            return same_functions(p, q, *(const int*)(const void*)(a + key->count_offset));
        case KEY_OBJECT:
            return same_table(key->table, p, q, &unused);
        case KEY_LIST:
        case KEY_NAMED:
        case KEY_LIST_OR_ONE:
            return same_list(key, a, b, 0);
        default: // texts, choices, whole numbers, faces: parameters do not reach them
            return true;
    }
}

// *key: the first that differs.
static bool same_table(const KeyTable* table, const char* a, const char* b, const char** key) {
    for (int i = 0; i < table->keys; ++i) {
        *key = table->key[i].key;
        if (!same_key(&table->key[i], a, b)) return false;
    }
    return true;
}

typedef struct Section { // of a model, most telling first
    LashPlaceKind kind;
    const KeyTable* table;
    size_t items, count;
} Section;
static const Section sections[] = {
    {LASH_PLACE_JOINT, &model_joint_table, offsetof(LashModel, joint), offsetof(LashModel, joints)},
    {LASH_PLACE_CONTACT, &model_contact_table, offsetof(LashModel, contact),
     offsetof(LashModel, contacts)},
    {LASH_PLACE_FORCE, &model_force_table, offsetof(LashModel, force), offsetof(LashModel, forces)},
    {LASH_PLACE_PART, &model_part_table, offsetof(LashModel, part), offsetof(LashModel, parts)},
};

static LashPlace find_place(const LashModel* a, const LashModel* b) {
    LashPlace place = {0};
    for (size_t s = 0; s < sizeof sections / sizeof *sections; ++s) {
        const Section* section = &sections[s];
        int n = *(const int*)(const void*)((const char*)a + section->count);
        const char* p = *(char* const*)(const void*)((const char*)a + section->items);
        const char* q = *(char* const*)(const void*)((const char*)b + section->items);
        for (int i = 0; i < n; ++i) {
            const char* key = NULL;
            size_t at = (size_t)i * section->table->size;
            if (same_table(section->table, p + at, q + at, &key)) continue;
            if (place.kind == LASH_PLACE_NONE) {
                place = (LashPlace){.kind = section->kind, .index = i, .key = key};
            } else if (place.kind == section->kind) {
                ++place.others;
            }
        }
        if (place.kind != LASH_PLACE_NONE) return place;
    }
    const char* key = NULL;
    if (!same_table(&model_root_table, (const char*)a, (const char*)b, &key))
        place = (LashPlace){.kind = LASH_PLACE_OTHER, .key = key};
    return place;
}

// ---- reading ------------------------------------------------------------------------------------

// The text with every parameter of the study at x; NULL: not readable.
static LashModel* read_at(const LashStudy* study, const char* text, const double* x) {
    enum { SET = 160 };
    LashError error = {0};
    int count = 0;
    char* memory = lash_alloc((size_t)study->parameters * SET);
    const char** sets = lash_alloc((size_t)study->parameters * sizeof *sets);
    for (int k = 0; k < study->parameters; ++k) {
        double value;
        const char* name = lash_study_set(study, x, k, &value);
        if (name == NULL) continue;
        sets[count] = memory + (size_t)count * SET;
        snprintf(memory + (size_t)count * SET, SET, "%s=%.17g", name, value);
        ++count;
    }
    LashModel* model = lash_alloc(sizeof *model);
    model_root_table.defaults(model);
    ModelContext context = {.model = model, .text = text, .bytes = strlen(text), .error = &error};
    if (!model_read_outline(&context, sets, count)) {
        lash_model_destroy(model);
        model = NULL;
    }
    lash_free(sets);
    lash_free(memory);
    return model;
}

LashOutline* lash_outline_create(const LashStudy* study, const char* text) {
    LashOutline* outline = lash_alloc(sizeof *outline);
    outline->parameters = study->parameters;
    outline->place = lash_alloc((size_t)study->parameters * sizeof *outline->place);
    if (text == NULL || text[0] == '\0') return outline;
    double* x = lash_alloc((size_t)study->parameters * sizeof *x);
    for (int k = 0; k < study->parameters; ++k) x[k] = study->parameter[k].nominal;
    outline->model = read_at(study, text, x);
    bool small = (double)strlen(text) * study->parameters < most_bytes;
    for (int k = 0; k < study->parameters && outline->model != NULL && small; ++k) {
        double low, high, nominal = x[k];
        lash_distribution_range(&study->parameter[k].distribution, &low, &high);
        x[k] = nominal != high ? 0.5 * (nominal + high) : 0.5 * (nominal + low);
        LashModel* other = x[k] != nominal ? read_at(study, text, x) : NULL;
        if (other != NULL) outline->place[k] = find_place(outline->model, other);
        lash_model_destroy(other);
        x[k] = nominal;
    }
    lash_free(x);
    return outline;
}

void lash_outline_destroy(LashOutline* outline) {
    if (outline == NULL) return;
    lash_model_destroy(outline->model);
    lash_free(outline->place);
    lash_free(outline);
}

// ---- words --------------------------------------------------------------------------------------

static const char* place_name(const LashOutline* outline, const LashPlace* place) {
    const LashModel* model = outline->model;
    switch (place->kind) {
        case LASH_PLACE_JOINT:
            return model->joint[place->index].name;
        case LASH_PLACE_CONTACT:
            return model->contact[place->index].name;
        case LASH_PLACE_FORCE:
            return model->force[place->index].name;
        case LASH_PLACE_PART:
            return model->part[place->index].name;
        default:
            return NULL;
    }
}

// The joint whose play a parameter is; NULL: none.
static const LashModelJoint* played_joint(const LashOutline* outline, int parameter) {
    const LashPlace* place = &outline->place[parameter];
    if (place->kind != LASH_PLACE_JOINT || place->others > 0) return NULL;
    if (strcmp(place->key, "clearance") != 0) return NULL;
    return &outline->model->joint[place->index];
}

static const char* side_part(const LashModelJoint* joint, LashStudySide side) {
    bool in_a = (joint->bore_in == 0) == (side == LASH_SIDE_HOLE);
    return in_a ? joint->a : joint->b;
}

static const char* side_word(const LashModelJoint* joint, LashStudySide side) {
    bool hole = side == LASH_SIDE_HOLE;
    switch ((LashJointType)joint->type) {
        case LASH_SPHERICAL:
            return hole ? "socket" : "ball";
        case LASH_PRISMATIC:
        case LASH_PLANAR:
            return hole ? "guide" : "slider";
        case LASH_CYLINDRICAL:
            return hole ? "hole" : "shaft";
        default:
            return hole ? "hole" : "pin";
    }
}

const char* lash_outline_feature(const LashOutline* outline, const LashStudy* study, int parameter,
                                 char* text, size_t size) {
    static const char* const words[] = {"", "joint ", "", "force ", "contact ", ""};
    const LashStudyParameter* study_parameter = &study->parameter[parameter];
    const LashPlace* place = &outline->place[parameter];
    const LashModelJoint* joint = played_joint(outline, parameter);
    const char* name = place_name(outline, place);
    if (joint != NULL && joint->a != NULL && joint->b != NULL) {
        if (study_parameter->side != LASH_SIDE_NONE) {
            snprintf(text, size, "%s of %s, joint %s", side_word(joint, study_parameter->side),
                     side_part(joint, study_parameter->side), joint->name);
        } else {
            snprintf(text, size, "play of joint %s, %s and %s", joint->name,
                     side_part(joint, LASH_SIDE_HOLE), side_part(joint, LASH_SIDE_SHAFT));
        }
    } else if (name != NULL && place->others == 0) {
        snprintf(text, size, "%s of %s%s", place->key, words[place->kind], name);
    } else if (name != NULL) {
        snprintf(text, size, "%s of %s%s and %d more", place->key, words[place->kind], name,
                 place->others);
    } else if (place->kind == LASH_PLACE_OTHER) {
        snprintf(text, size, "%s", place->key);
    } else {
        snprintf(text, size, "%s", study_parameter->name);
    }
    return text;
}

const char* lash_outline_joint(const LashOutline* outline, int parameter) {
    const LashPlace* place = &outline->place[parameter];
    if (place->kind != LASH_PLACE_JOINT || place->others > 0) return NULL;
    return outline->model->joint[place->index].name;
}

const char* lash_outline_part(const LashOutline* outline, const LashStudy* study, int parameter) {
    const LashPlace* place = &outline->place[parameter];
    LashStudySide side = study->parameter[parameter].side;
    const LashModelJoint* joint = played_joint(outline, parameter);
    if (joint != NULL) return side != LASH_SIDE_NONE ? side_part(joint, side) : NULL;
    if (place->kind != LASH_PLACE_PART || place->others > 0) return NULL;
    return outline->model->part[place->index].name;
}

double lash_outline_length_unit(const LashOutline* outline) {
    if (outline->model == NULL) return 1;
    return model_unit_factor(&outline->model->units, UNIT_LENGTH);
}

bool lash_outline_range(const LashOutline* outline, LashOutlineNumber number, double* low,
                        double* high) {
    const LashModel* model = outline->model;
    bool friction = number == LASH_OUTLINE_FRICTION;
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; model != NULL && i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        double value = friction ? joint->friction : joint->restitution;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    for (int i = 0; model != NULL && i < model->contacts; ++i) {
        const LashModelContact* contact = &model->contact[i];
        double value = friction ? contact->friction : contact->restitution;
        if (isnan(value) && model->materials == 0) value = 0;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    for (int i = 0; model != NULL && i < model->materials; ++i) {
        const LashModelMaterials* row = &model->material[i];
        double value = friction ? row->friction : row->restitution;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    return *low <= *high;
}

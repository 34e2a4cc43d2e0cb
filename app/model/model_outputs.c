// Outputs: which quantity, of what, and when.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "app/model/quantity.h"
#include "core/math3.h"

static const char* const when_names[] = {"final",          "max", "min", "mean", "rms", "integral",
                                         "first-crossing", NULL};
static const char* const direction_names[] = {"any", "up", "down", NULL};

#define OUTPUT(member) .key = #member, .offset = offsetof(LashModelOutput, member)
static const KeySpec output_keys[] = {
    {OUTPUT(name), .type = KEY_TEXT, .required = true, .help = "unique among the outputs"},
    {OUTPUT(quantity), .type = KEY_TEXT, .required = true,
     .help = "what is measured, e.g. position.x"},
    {OUTPUT(of), .type = KEY_TEXT,
     .help = "name of the part, joint, contact or input it belongs to"},
    {OUTPUT(coordinate), .type = KEY_TEXT,
     .help = "coordinate, speed: which one, where the joint has several"},
    {OUTPUT(when), .type = KEY_CHOICE, .choices = when_names, .help = "default final"},
    {OUTPUT(level), .type = KEY_NUMBER,
     .help = "first-crossing: the value to cross [units of the quantity]"},
    {OUTPUT(direction), .type = KEY_CHOICE, .choices = direction_names,
     .help = "first-crossing: any (default), up or down"},
    {OUTPUT(point), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "position, velocity: of this point in the part's frame instead of the mass center"},
};
static void output_defaults(void* target);
const KeyTable model_output_table = {.what = "an output",
                                     .key = output_keys,
                                     .keys = sizeof output_keys / sizeof *output_keys,
                                     .size = sizeof(LashModelOutput),
                                     .defaults = output_defaults};

static void output_defaults(void* target) {
    LashModelOutput* output = target;
    output->level = output->point.x = NAN;
}

static const LashQuantity quantities[] = {
#define X(id, text, whose, measure, more, ...) \
    [LASH_##id] = {.name = text, .of = LASH_OF_##whose, .unit = measure, .traits = more},
    LASH_QUANTITY_TABLE(X)
#undef X
};

const LashQuantity* lash_quantity(int kind) {
    LASH_ASSERT(kind >= 0 && kind < LASH_QUANTITIES);
    return &quantities[kind];
}

bool lash_model_output_is_event(const LashModelOutput* output) {
    return output->when == LASH_WHEN_FIRST_CROSSING || lash_quantity_is(output->kind, IS_TIME_OF);
}

static bool is_linear_joint(const LashModel* model, const LashModelOutput* output) {
    if (lash_quantity(output->kind)->of != LASH_OF_JOINT) return false;
    LashJointType type = (LashJointType)model->joint[output->index].type;
    int c = output->coordinate_index;
    return lash_coordinate_count(type) > c && !lash_coordinate_is_angle(type, c);
}

// Unit in which the model writes a level of this quantity; energies and impulses are SI.
static ModelUnit output_unit(const LashModel* model, const LashModelOutput* output) {
    int unit = lash_quantity(output->kind)->unit, angle = unit & 255, length = unit >> 8;
    bool linear = length != 0 && is_linear_joint(model, output);
    return (ModelUnit)(linear ? length : angle);
}

const char* lash_model_output_unit(const LashModel* model, const LashModelOutput* output) {
    if (output->kind == LASH_INPUT) {
        const char* unit = model->input[output->index].unit;
        return unit != NULL ? unit : "1";
    }
    return model_unit_si(output_unit(model, output));
}

const char* lash_model_result_unit(const LashModel* model, const LashModelOutput* output,
                                   char* text, size_t size) {
    const char* unit = lash_model_output_unit(model, output);
    bool number = strcmp(unit, "1") == 0;
    if (output->when == LASH_WHEN_FIRST_CROSSING)
        snprintf(text, size, "s");
    else if (output->when == LASH_WHEN_INTEGRAL)
        snprintf(text, size, "%s%ss", number ? "" : unit, number ? "" : " ");
    else
        snprintf(text, size, "%s", unit);
    return text;
}

static bool find_quantity(ModelContext* context, const char* path, LashModelOutput* output) {
    char key[96], hint[700];
    for (int i = 0; i < LASH_QUANTITIES; ++i) {
        if (strcmp(quantities[i].name, output->quantity) != 0) continue;
        output->kind = i;
        return true;
    }
    AppSuggestion near = app_suggestion(output->quantity);
    for (int i = 0; i < LASH_QUANTITIES; ++i) app_suggestion_offer(&near, quantities[i].name);
    snprintf(key, sizeof key, "%s.quantity", path);
    return model_fail(context, key, "unknown quantity '%.60s'%s", output->quantity,
                      app_suggestion_names(&near, hint, sizeof hint));
}

static bool is_contact(const LashModel* model, const char* name) {
    for (int i = 0; i < model->contacts; ++i) {
        if (strcmp(model->contact[i].name, name) == 0) return true;
    }
    for (int i = 0; i < model->contact_points; ++i) {
        if (strcmp(model->contact_point[i].name, name) == 0) return true;
    }
    return false;
}

// One point of a round joint with play is not looked at in every position (an edge beyond the other
// surface, a ring that lies flat): the joint as a whole always has a gap.
static bool check_gap(ModelContext* context, const char* path, const LashModelOutput* output) {
    const LashModel* model = context->model;
    for (int j = 0; j < model->joints && output->count == 1; ++j) {
        const LashModelJoint* joint = &model->joint[j];
        int first = joint->first_contact;
        bool corners = joint->play.width > 0 || joint->contacts == 1;
        if (corners || output->index < first || output->index >= first + joint->contacts) continue;
        return model_fail(context, path,
                          "'%.60s' is one point of a joint with play, which has no gap in some "
                          "positions; ask for the gap of '%.60s'",
                          output->of, joint->name);
    }
    return true;
}

static bool find_input(ModelContext* context, const char* key, LashModelOutput* output) {
    const LashModel* model = context->model;
    char hint[300];
    output->index = model_find_input(model, output->of);
    if (output->index >= 0) return true;
    AppSuggestion near = app_suggestion(output->of);
    for (int i = 0; i < model->inputs; ++i) app_suggestion_offer(&near, model->input[i].name);
    return model_fail(context, key, "there is no input '%.60s'%s", output->of,
                      app_suggestion_names(&near, hint, sizeof hint));
}

static bool resolve_of(ModelContext* context, const char* path, LashModelOutput* output) {
    const LashModel* model = context->model;
    LashQuantityOf of = quantities[output->kind].of;
    char key[96];
    if ((output->of == NULL) != (of == LASH_OF_NOTHING)) {
        return model_fail(
            context, path,
            of == LASH_OF_NOTHING ? "%s belongs to the whole model: remove 'of'" : "%s needs 'of'",
            output->quantity);
    }
    if (of == LASH_OF_NOTHING) return true;
    snprintf(key, sizeof key, "%s.of", path);
    if (output->kind == LASH_FORCE && is_contact(model, output->of)) { // a contact's, not a joint's
        output->kind = LASH_CONTACT_FORCE;
        of = LASH_OF_CONTACT;
    }
    if (of == LASH_OF_INPUT) return find_input(context, key, output);
    if (of == LASH_OF_CONTACT) {
        return model_find_contact(context, key, output->of, &output->index, &output->count) &&
               (output->kind != LASH_GAP || check_gap(context, key, output));
    }
    if (of == LASH_OF_JOINT) {
        if (!model_find_joint(context, key, output->of, &output->index)) return false;
        bool play = lash_quantity_is(output->kind, OF_PLAY);
        if (play && !model_has(model->joint[output->index].clearance)) {
            return model_fail(context, key, "'%.60s' has no clearance, so no %s", output->of,
                              output->quantity);
        }
        if (output->coordinate == NULL) return true;
        snprintf(key, sizeof key, "%s.coordinate", path);
        return model_find_coordinate(context, key, &model->joint[output->index], output->coordinate,
                                     &output->coordinate_index);
    }
    int part;
    if (!model_find_part(context, key, output->of, &part)) return false;
    if (part < 0 || model->part[part].body < 0) {
        return model_fail(context, key, "'%.60s' does not move", output->of);
    }
    output->index = model->part[part].body;
    if (model_has(output->point.x)) {
        output->body_point = vec3_sub(output->point, model->part[part].center);
    }
    return true;
}

static bool resolve_output(ModelContext* context, int index, const char* path) {
    LashModel* model = context->model;
    LashModelOutput* output = &model->output[index];
    char key[96];
    for (int i = 0; i < index; ++i) {
        if (strcmp(model->output[i].name, output->name) == 0) {
            snprintf(key, sizeof key, "%s.name", path);
            return model_fail(context, key,
                              "the name '%.60s' is taken by outputs[%d]; names are unique",
                              output->name, i);
        }
    }
    if (!find_quantity(context, path, output) || !resolve_of(context, path, output)) return false;
    bool crossing = output->when == LASH_WHEN_FIRST_CROSSING;
    if (crossing != model_has(output->level)) {
        return model_fail(context, path,
                          crossing ? "a first-crossing needs a 'level'"
                                   : "a 'level' belongs to \"when\": \"first-crossing\"");
    }
    if (crossing) {
        output->level_si =
            output->level * model_unit_factor(&model->units, output_unit(model, output));
    }
    if (output->coordinate != NULL && !lash_quantity_is(output->kind, OF_COORDINATE)) {
        return model_fail(context, path, "a 'coordinate' belongs to coordinate and speed");
    }
    if (model_has(output->point.x) && !lash_quantity_is(output->kind, AT_POINT)) {
        return model_fail(context, path, "a 'point' belongs to positions and velocities");
    }
    return true;
}

bool model_resolve_outputs(ModelContext* context) {
    for (int i = 0; i < context->model->outputs; ++i) {
        char path[32];
        snprintf(path, sizeof path, "outputs[%d]", i);
        if (!resolve_output(context, i, path)) return false;
    }
    return true;
}

bool model_add_output(ModelContext* context, const LashModelOutput* output, const char* path) {
    LashModel* model = context->model;
    int count = model->outputs;
    LashModelOutput* list = model_alloc(model, (size_t)(count + 1) * sizeof *list);
    if (count > 0) memcpy(list, model->output, (size_t)count * sizeof *list);
    list[count] = *output;
    model->output = list;
    model->outputs = count + 1;
    return resolve_output(context, count, path);
}

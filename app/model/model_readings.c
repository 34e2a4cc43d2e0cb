// What the function of a force reads of the state: "crank.angle", "crank.speed", "rod.velocity.y".
//
//   JOINT.COORDINATE            angle, displacement, second_angle, x, y, ...: as the joint has them
//   JOINT.COORDINATE.speed      its rate; JOINT.speed where there is one coordinate only
//   PART.position.x .y .z       of the mass center, world axes
//   PART.velocity.x .y .z       the same
//   PART.angular_velocity.x ... axes of the part
// Each in the model's own unit. A name that is no word of letters, digits and '_' stands in quotes:
// 'plate-crank'.angle. Forces read coordinates, never forces: there are no cycles.
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/model_internal.h"

typedef struct Wanted {
    const char* text; // as it stands in the expression
    char name[96];    // of the part or joint, without quotes
    const char* rest; // behind it
} Wanted;

static Wanted split(const char* text) {
    Wanted wanted = {.text = text};
    bool quoted = text[0] == '\'';
    const char* begin = text + quoted;
    size_t length = strcspn(begin, quoted ? "'" : ".");
    snprintf(wanted.name, sizeof wanted.name, "%.*s", (int)length, begin);
    wanted.rest = begin + length + (quoted && begin[length] == '\'');
    if (*wanted.rest == '.') ++wanted.rest;
    return wanted;
}

static bool fail_unknown(ModelContext* context, const char* path, const Wanted* wanted) {
    const LashModel* model = context->model;
    char hint[160];
    AppSuggestion near = app_suggestion(wanted->name);
    for (int i = 0; i < model->parts; ++i) app_suggestion_offer(&near, model->part[i].name);
    for (int i = 0; i < model->joints; ++i) app_suggestion_offer(&near, model->joint[i].name);
    return model_fail(context, path, "'%.60s': no part or joint is called '%.60s'%s", wanted->text,
                      wanted->name, app_suggestion_text(&near, hint, sizeof hint));
}

static bool take_vector(const char* rest, const char* kind, int* axis) {
    size_t length = strlen(kind);
    if (strncmp(rest, kind, length) != 0 || rest[length] != '.') return false;
    const char* letter = rest + length + 1;
    if (*letter < 'x' || *letter > 'z' || letter[1] != '\0') return false;
    *axis = *letter - 'x';
    return true;
}

static bool read_part(ModelContext* context, const char* path, const Wanted* wanted, int part,
                      LashReading* reading) {
    static const struct {
        const char* name;
        LashReadingKind kind;
        ModelUnit unit;
    } vectors[] = {
        {"position", LASH_READ_POSITION, UNIT_LENGTH},
        {"velocity", LASH_READ_VELOCITY, UNIT_VELOCITY},
        {"angular_velocity", LASH_READ_ANGULAR_VELOCITY, UNIT_ANGULAR_VELOCITY},
    };
    const LashModel* model = context->model;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
        if (!take_vector(wanted->rest, vectors[i].name, &reading->axis)) continue;
        reading->kind = vectors[i].kind;
        reading->unit = model_unit_factor(&model->units, vectors[i].unit);
        if (model->part[part].body < 0)
            return model_fail(context, path, "'%.60s': the part '%.60s' does not move",
                              wanted->text, wanted->name);
        reading->body = lash_body_id(model->part[part].body);
        return true;
    }
    return model_fail(context, path,
                      "'%.60s': of a part forces read position.x .y .z, velocity.x .y .z and "
                      "angular_velocity.x .y .z, not '%.40s'",
                      wanted->text, wanted->rest);
}

// "angle", "angle.speed" or "speed"; false: none of them.
static bool find_coordinate(LashJointType type, const char* rest, LashReading* reading) {
    int count = lash_coordinate_count(type);
    reading->kind = LASH_READ_SPEED;
    reading->coordinate = 0;
    if (strcmp(rest, "speed") == 0) return count == 1;
    for (int c = 0; c < count; ++c) {
        const char* name = lash_coordinate_name(type, c);
        size_t length = strlen(name);
        if (strncmp(rest, name, length) != 0) continue;
        reading->coordinate = c;
        if (strcmp(rest + length, ".speed") == 0) return true;
        reading->kind = LASH_READ_COORDINATE;
        if (rest[length] == '\0') return true;
    }
    return false;
}

static bool fail_coordinate(ModelContext* context, const char* path, const Wanted* wanted,
                            LashJointType type) {
    char list[160] = "";
    int count = lash_coordinate_count(type);
    for (int c = 0; c < count; ++c) {
        size_t used = strlen(list);
        const char* name = lash_coordinate_name(type, c);
        snprintf(list + used, sizeof list - used, "%s%s, %s.speed", c == 0 ? "" : ", ", name, name);
    }
    if (count == 0)
        return model_fail(context, path, "'%.60s': the joint '%.60s' has no free coordinate",
                          wanted->text, wanted->name);
    return model_fail(context, path, "'%.60s': of the joint '%.60s' forces read %s%s, not '%.40s'",
                      wanted->text, wanted->name, list, count == 1 ? " (or speed)" : "",
                      wanted->rest);
}

static bool read_joint(ModelContext* context, const char* path, const Wanted* wanted, int joint,
                       LashReading* reading) {
    const LashModel* model = context->model;
    LashJointType type = (LashJointType)model->joint[joint].type;
    if (!find_coordinate(type, wanted->rest, reading))
        return fail_coordinate(context, path, wanted, type);
    bool speed = reading->kind == LASH_READ_SPEED;
    bool angle = lash_coordinate_is_angle(type, reading->coordinate);
    ModelUnit unit = angle ? UNIT_ANGLE : UNIT_LENGTH;
    if (speed) unit = angle ? UNIT_ANGULAR_VELOCITY : UNIT_VELOCITY;
    reading->unit = model_unit_factor(&model->units, unit);
    reading->joint = lash_joint_id(joint);
    return true;
}

bool model_resolve_readings(ModelContext* context, const char* path, LashModelFunction* function) {
    LashModel* model = context->model;
    for (int i = 0; i < function->readings; ++i) {
        Wanted wanted = split(function->reading_name[i]);
        int part = model_name_find(model, MODEL_PARTS, wanted.name);
        int joint = model_name_find(model, MODEL_JOINTS, wanted.name);
        LashReading* reading = &function->reading[i];
        int axis;
        bool vector = take_vector(wanted.rest, "position", &axis) ||
                      take_vector(wanted.rest, "velocity", &axis) ||
                      take_vector(wanted.rest, "angular_velocity", &axis);
        *reading = (LashReading){0};
        if (part < 0 && joint < 0) return fail_unknown(context, path, &wanted);
        bool of_part = part >= 0 && (joint < 0 || vector); // a joint and a part may share a name
        bool good = of_part ? read_part(context, path, &wanted, part, reading)
                            : read_joint(context, path, &wanted, joint, reading);
        if (!good) return false;
    }
    return true;
}

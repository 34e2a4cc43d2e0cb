// The model's top level and its simulation settings.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/model_internal.h"
#include "core/math3.h"

const char* const model_direction_names[] = {"midpoint", "end", "start", NULL};
static const char* const forecast_names[] = {"explicit", "free", "midpoint", "end", NULL};
static const char* const law_names[] = {"newton", "fremond", NULL};
static const char* const query_names[] = {"exact", "occt", NULL};

#define SIMULATION(member) .key = #member, .offset = offsetof(LashModelSimulation, member)
#define SETTING(member) .key = #member, .offset = offsetof(LashModelSimulation, settings.member)
static const KeySpec simulation_keys[] = {
    {SETTING(scheme), .type = KEY_CHOICE, .choices = lash_scheme_names,
     .help = "time-stepping scheme"},
    {.key = "step",
     .offset = offsetof(LashModelSimulation, settings.h),
     .type = KEY_NUMBER,
     .unit = UNIT_TIME,
     .range = RANGE_POSITIVE,
     .help = "time step"},
    {SIMULATION(duration), .type = KEY_NUMBER, .unit = UNIT_TIME, .range = RANGE_POSITIVE,
     .help = "simulated time"},
    {SETTING(theta), .type = KEY_NUMBER, .help = "1/2 midpoint .. 1 implicit Euler"},
    {SETTING(direction), .type = KEY_CHOICE, .choices = model_direction_names,
     .help = "where impulses point"},
    {SETTING(forecast), .type = KEY_CHOICE, .choices = forecast_names,
     .help = "which contacts may act, in schemes that forecast"},
    {SETTING(gamma), .type = KEY_NUMBER, .help = "of the explicit forecast, 0 to 2"},
    {SETTING(law), .type = KEY_CHOICE, .choices = law_names,
     .help = "friction at impacts: against the velocity after it, or the mean of before and after"},
    {SETTING(coupled), .type = KEY_BOOL,
     .help = "direct scheme: one problem for impulses and projection"},
    {SETTING(variant), .type = KEY_BOOL,
     .help = "positions move with the mean velocity whatever theta"},
    {.key = "substeps",
     .offset = offsetof(LashModelSimulation, settings.max_substeps),
     .type = KEY_INTEGER,
     .range = RANGE_POSITIVE,
     .help = "a failing step is retried in up to this many sub-steps; 1: none"},
    {SETTING(max_iterations), .type = KEY_INTEGER, .range = RANGE_POSITIVE,
     .help = "Newton iterations per pass"},
    {SIMULATION(query), .type = KEY_CHOICE, .choices = query_names,
     .help =
         "how gaps of CAD surfaces are computed: exact, or occt for comparison (slow, unsigned)"},
    {SIMULATION(assemble), .type = KEY_BOOL,
     .help = "true: move an inconsistent start to the nearest consistent one"},
    {SETTING(tolerance_position), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "largest joint error or penetration of a step [m, rad; SI always]"},
    {SETTING(tolerance_velocity), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "the same for velocities [m/s, rad/s; SI always]"},
    {SETTING(tolerance_solver), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "complementarity residual [m/s; SI always]"},
    {SIMULATION(record_every), .type = KEY_INTEGER, .range = RANGE_NOT_NEGATIVE,
     .help = "steps between two frames of the result; 0: about 2000 frames"},
};
static void simulation_defaults(LashModelSimulation* simulation);

// What schemes declare in their files.
static KeySpec option_key(int number) {
    const LashOption* option = lash_option(number);
    return (KeySpec){
        .key = option->name,
        .type = KEY_OPTION,
        .offset = offsetof(LashModelSimulation, settings.option) + (size_t)number * sizeof(double),
        .choices = option->names,
        .help = option->help};
}
const KeyTable model_simulation_table = {.what = "the simulation",
                                         .key = simulation_keys,
                                         .keys = sizeof simulation_keys / sizeof *simulation_keys,
                                         .size = sizeof(LashModelSimulation),
                                         .more = lash_option_count,
                                         .key_of = option_key};

#define ROOT(member) .key = #member, .offset = offsetof(LashModel, member)
static const KeySpec root_keys[] = {
    {ROOT(format), .type = KEY_TEXT, .required = true, .help = "\"lash-model/1\""},
    {.key = "$schema",
     .offset = offsetof(LashModel, schema),
     .type = KEY_TEXT,
     .help = "where an editor finds the output of 'lash schema model'; not used"},
    {ROOT(name), .type = KEY_TEXT, .help = "title of the model"},
    {ROOT(description), .type = KEY_TEXT, .help = "what it shows; not used"},
    {ROOT(units), .type = KEY_OBJECT, .table = &model_units_table, .help = "units of all numbers"},
    {.key = "parameters",
     .type = KEY_PARAMETERS,
     .help = "named numbers, or expressions of other parameters"},
    {.key = "inputs",
     .offset = offsetof(LashModel, input),
     .type = KEY_NAMED,
     .table = &model_input_table,
     .count_offset = offsetof(LashModel, inputs),
     .help = "numbers from outside that functions may read, as {\"current\": {\"value\": 0}}"},
    {.key = "tables",
     .offset = offsetof(LashModel, table),
     .type = KEY_LIST,
     .table = &model_table_table,
     .count_offset = offsetof(LashModel, tables),
     .help = "functions of one or two variables that expressions may call by name"},
    {ROOT(gravity), .type = KEY_VECTOR, .unit = UNIT_ACCELERATION, .help = "default [0, 0, 0]"},
    {.key = "parts",
     .offset = offsetof(LashModel, part),
     .type = KEY_LIST,
     .table = &model_part_table,
     .count_offset = offsetof(LashModel, parts),
     .required = true,
     .help = "the rigid bodies"},
    {.key = "joints",
     .offset = offsetof(LashModel, joint),
     .type = KEY_LIST,
     .table = &model_joint_table,
     .count_offset = offsetof(LashModel, joints),
     .help = "joints between parts"},
    {.key = "forces",
     .offset = offsetof(LashModel, force),
     .type = KEY_LIST,
     .table = &model_force_table,
     .count_offset = offsetof(LashModel, forces),
     .help = "springs, dampers, forces, torques"},
    {.key = "materials",
     .offset = offsetof(LashModel, material),
     .type = KEY_LIST,
     .table = &model_material_table,
     .count_offset = offsetof(LashModel, materials),
     .help = "friction and restitution of pairs of materials"},
    {.key = "contacts",
     .offset = offsetof(LashModel, contact),
     .type = KEY_LIST,
     .table = &model_contact_table,
     .count_offset = offsetof(LashModel, contacts),
     .help = "surfaces that may touch"},
    {ROOT(simulation), .type = KEY_OBJECT, .table = &model_simulation_table,
     .help = "how to simulate"},
    {.key = "outputs",
     .offset = offsetof(LashModel, output),
     .type = KEY_LIST,
     .table = &model_output_table,
     .count_offset = offsetof(LashModel, outputs),
     .help = "numbers to report"},
};
static void root_defaults(void* target);
const KeyTable model_root_table = {.what = "a model",
                                   .key = root_keys,
                                   .keys = sizeof root_keys / sizeof *root_keys,
                                   .size = sizeof(LashModel),
                                   .defaults = root_defaults};

static void simulation_defaults(LashModelSimulation* simulation) {
    enum { SUBSTEPS = 64 }; // who writes a model wants it to run; in C the caller decides
    simulation->settings = lash_settings();
    simulation->settings.max_substeps = SUBSTEPS;
    simulation->duration = 1;
}

static void root_defaults(void* target) {
    LashModel* model = target;
    simulation_defaults(&model->simulation);
}

bool model_resolve_simulation(ModelContext* context) {
    const LashModelSimulation* model_simulation = &context->model->simulation;
    LashError inner = {0};
    if (!lash_settings_check(&model_simulation->settings, &inner)) {
        return model_fail(context, inner.where, "%s", inner.message); // where: "simulation.theta"
    }
    const char* unused = lash_settings_unused(&model_simulation->settings);
    if (unused != NULL) {
        char where[64];
        snprintf(where, sizeof where, "simulation.%s", unused);
        return model_fail(context, where, "not used by the scheme %s; leave it out",
                          lash_scheme_name(model_simulation->settings.scheme));
    }
    double steps = model_simulation->duration / model_simulation->settings.h;
    if (steps > 1e10) {
        return model_fail(context, "simulation",
                          "a duration of %g s with a step of %g s is %g steps; check the units",
                          model_simulation->duration, model_simulation->settings.h, steps);
    }
    return true;
}

const char* lash_direction_name(LashDirection direction) {
    LASH_ASSERT(direction >= LASH_AT_MIDPOINT && direction <= LASH_AT_START);
    return model_direction_names[direction];
}

// The C interface of api.h: every entry checks what it is given and runs inside a guard, so that a
// lack of memory comes back as an error.
#include "app/api.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/run/session.h"
#include "app/version.h"
#include "core/arena.h"

struct LashRun {
    AppSession session;
    LashError error;
    char text[sizeof(LashError) + 8]; // of the error, with its place
    bool broken; // memory ran out within a call: its state is not known any more
};

int lash_api_version(void) {
    return LASH_API_VERSION;
}

const char* lash_version(void) {
    return LASH_VERSION;
}

static int status_of(const LashRun* run) {
    return run->error.status == 0 ? LASH_ERROR_INTERNAL : (int)run->error.status;
}

// "file: where: message", without what is not known.
static void error_text(const LashError* error, char* text, size_t size) {
    snprintf(text, size, "%s%s%s%s%s", error->file, error->file[0] != '\0' ? ": " : "",
             error->where, error->where[0] != '\0' ? ": " : "", error->message);
}

static int refuse(LashRun* run, const char* where, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(LashRun* run, const char* where, const char* format, ...) {
    if (run == NULL) return LASH_ERROR_USAGE;
    char message[sizeof run->error.message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    run->error = (LashError){0};
    lash_error_set(&run->error, LASH_ERROR_USAGE, where, "%s", message);
    error_text(&run->error, run->text, sizeof run->text);
    return LASH_ERROR_USAGE;
}

static int check(LashRun* run) {
    if (run == NULL) return LASH_ERROR_USAGE;
    return run->broken ? status_of(run) : 0;
}

// ---- opening ------------------------------------------------------------------------------------

typedef struct Opening {
    LashRun* run;
    const char* file;
    const char* const* sets;
    int count;
    LashError error;
} Opening;

static void open_run(void* context) {
    Opening* opening = context;
    AppSessionOptions options = {
        .set = opening->sets, .sets = opening->count, .step = NAN, .duration = NAN};
    opening->run = lash_alloc(sizeof *opening->run);
    if (app_session_open(&opening->run->session, opening->file, &options, &opening->error)) return;
    app_session_close(&opening->run->session);
    lash_free(opening->run);
    opening->run = NULL;
}

int lash_run_open(LashRun** run, const char* model_file, const char* const* sets, int set_count,
                  char* message, size_t size) {
    if (message != NULL && size > 0) message[0] = '\0';
    if (run == NULL) return LASH_ERROR_USAGE;
    *run = NULL;
    Opening opening = {.file = model_file, .sets = sets, .count = set_count};
    bool good = model_file != NULL && set_count >= 0 && (set_count == 0 || sets != NULL);
    for (int i = 0; good && i < set_count; ++i) good = sets[i] != NULL;
    if (!good) {
        lash_error_set(&opening.error, LASH_ERROR_USAGE, "lash_run_open",
                       "expected a file and texts \"parameter=value\", found NULL");
    } else if (!lash_guard(LASH_GUARD_ALL, open_run, &opening, &opening.error)) {
        opening.run = NULL;
    }
    if (opening.run == NULL && message != NULL && size > 0)
        error_text(&opening.error, message, size);
    *run = opening.run;
    return opening.run != NULL ? 0 : (int)opening.error.status;
}

void lash_run_close(LashRun* run) {
    if (run == NULL) return;
    app_session_close(&run->session);
    lash_free(run);
}

const char* lash_run_error(const LashRun* run) {
    return run == NULL ? "there is no run" : run->text;
}

// ---- names and sizes ----------------------------------------------------------------------------

int lash_run_count(const LashRun* run, LashThing thing) {
    if (run == NULL) return 0;
    const LashModel* model = run->session.model;
    switch (thing) {
        case LASH_PARTS:
            return model->parts;
        case LASH_JOINTS:
            return model->joints;
        case LASH_FORCES:
            return model->forces;
        case LASH_CONTACTS:
            return model->contact_points;
        case LASH_INPUTS:
            return model->inputs;
        case LASH_PARAMETERS:
            return model->parameters;
    }
    return 0;
}

const char* lash_run_name(const LashRun* run, LashThing thing, int index) {
    if (index < 0 || index >= lash_run_count(run, thing)) return NULL;
    const LashModel* model = run->session.model;
    switch (thing) {
        case LASH_PARTS:
            return model->part[index].name;
        case LASH_JOINTS:
            return model->joint[index].name;
        case LASH_FORCES:
            return model->force[index].name;
        case LASH_CONTACTS:
            return model->contact_point[index].name;
        case LASH_INPUTS:
            return model->input[index].name;
        case LASH_PARAMETERS:
            return model->parameter[index].name;
    }
    return NULL;
}

int lash_run_find(const LashRun* run, LashThing thing, const char* name) {
    int count = lash_run_count(run, thing);
    for (int i = 0; name != NULL && i < count; ++i) {
        const char* own = lash_run_name(run, thing, i);
        if (own != NULL && strcmp(own, name) == 0) return i;
    }
    return -1;
}

// What an energy is missing: 0 but for rounding and the error of the scheme.
static double balance_error(const LashEnergy* energy) {
    double now = energy->kinetic + energy->potential;
    return now - energy->start - energy->external_work - energy->damping_work -
           energy->contact_work_n - energy->contact_work_t;
}

int lash_run_get(LashRun* run, const char* name, double* value) {
    if (check(run) != 0) return check(run);
    if (name == NULL || value == NULL)
        return refuse(run, "lash_run_get",
                      "expected a name and a place for its number, found NULL");
    LashSim* sim = run->session.sim;
    const LashModelSimulation* simulation = &run->session.model->simulation;
    LashEnergy energy = {0};
    if (strncmp(name, "energy.", 7) == 0) energy = lash_sim_energy(sim);
    const struct {
        const char* name;
        double value;
    } known[] = {{"step", simulation->settings.h},
                 {"duration", simulation->duration},
                 {"theta", simulation->settings.theta},
                 {"tolerance_position", simulation->settings.tolerance_position},
                 {"tolerance_velocity", simulation->settings.tolerance_velocity},
                 {"tolerance_solver", simulation->settings.tolerance_solver},
                 {"time", lash_sim_time(sim)},
                 {"steps", (double)lash_sim_steps(sim)},
                 {"coordinates", run->session.system->nq},
                 {"velocities", run->session.system->nv},
                 {"energy.kinetic", energy.kinetic},
                 {"energy.potential", energy.potential},
                 {"energy.external_work", energy.external_work},
                 {"energy.balance_error", balance_error(&energy)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(known[i].name, name) != 0) continue;
        *value = known[i].value;
        return 0;
    }
    AppSuggestion near = app_suggestion(name);
    char hint[400];
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        app_suggestion_offer(&near, known[i].name);
    return refuse(run, "lash_run_get", "there is no number '%.60s'%s", name,
                  app_suggestion_names(&near, hint, sizeof hint));
}

double lash_run_time(const LashRun* run) {
    return run == NULL ? (double)NAN : lash_sim_time(run->session.sim);
}

// ---- stepping -----------------------------------------------------------------------------------

typedef struct Stepping {
    LashRun* run;
    int n, done;
} Stepping;

static void step_run(void* context) {
    Stepping* stepping = context;
    LashRun* run = stepping->run;
    LashStepInfo info = {.outcome = LASH_CONVERGED};
    for (int i = 0; i < stepping->n; ++i) {
        info = lash_sim_step(run->session.sim);
        if (info.outcome != LASH_CONVERGED) break;
        ++stepping->done;
    }
    if (info.outcome == LASH_CONVERGED) return;
    app_session_fail_step(&run->session, NULL, (int64_t)lash_sim_steps(run->session.sim) + 1, &info,
                          &run->error);
}

// Runs a call that works on an existing run: without memory it cannot be used any more.
static int guarded(LashRun* run, void (*call)(void*), void* context) {
    run->error = (LashError){0};
    if (!lash_guard(LASH_GUARD_NOTHING, call, context, &run->error)) run->broken = true;
    error_text(&run->error, run->text, sizeof run->text);
    return (int)run->error.status;
}

int lash_run_step_n(LashRun* run, int n, int* done) {
    if (done != NULL) *done = 0;
    if (check(run) != 0) return check(run);
    if (n < 0) return refuse(run, "lash_run_step_n", "the number of steps must not be negative");
    Stepping stepping = {.run = run, .n = n};
    int status = guarded(run, step_run, &stepping);
    if (done != NULL) *done = stepping.done;
    return status;
}

static void reset_run(void* context) {
    LashRun* run = context;
    app_session_create(&run->session);
    app_session_start(&run->session, &run->error);
}

int lash_run_reset(LashRun* run) {
    return check(run) != 0 ? check(run) : guarded(run, reset_run, run);
}

// -1 with an error that names the nearest.
static int find_input(LashRun* run, const char* where, const char* name) {
    int input = name != NULL ? lash_mechanism_find_input(run->session.mech, name) : -1;
    if (input >= 0) return input;
    char hint[300];
    AppSuggestion near = app_suggestion(name != NULL ? name : "");
    for (int i = 0; i < run->session.model->inputs; ++i)
        app_suggestion_offer(&near, run->session.model->input[i].name);
    refuse(run, where, "the model has no input '%.60s'%s", name != NULL ? name : "NULL",
           app_suggestion_names(&near, hint, sizeof hint));
    return -1;
}

int lash_run_set_input(LashRun* run, const char* name, double from, double to) {
    if (check(run) != 0) return check(run);
    int input = find_input(run, "lash_run_set_input", name);
    if (input < 0) return LASH_ERROR_USAGE;
    if (!lash_sim_set_input(run->session.sim, input, from, to))
        return refuse(run, "lash_run_set_input",
                      "'%.60s': expected finite numbers, found %g and %g", name, from, to);
    return 0;
}

int lash_run_input(LashRun* run, const char* name, double* value) {
    if (check(run) != 0) return check(run);
    int input = find_input(run, "lash_run_input", name);
    if (input < 0) return LASH_ERROR_USAGE;
    if (value == NULL) return refuse(run, "lash_run_input", "expected a place, found NULL");
    double t = lash_sim_time(run->session.sim);
    *value = lash_mechanism_input_value(lash_sim_work(run->session.sim), input, t);
    return 0;
}

// ---- results ------------------------------------------------------------------------------------

// Is there a thing of that number?
static bool exists(LashRun* run, const char* where, LashThing thing, int index) {
    static const char* const names[] = {"part", "joint", "force", "contact", "input", "parameter"};
    int count = lash_run_count(run, thing);
    if (index >= 0 && index < count) return true;
    refuse(run, where, "there is no %s number %d: the model has %d, numbered from 0", names[thing],
           index, count);
    return false;
}

static void put3(double* to, LashVec3 v) {
    if (to == NULL) return;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void put_numbers(double* to, const double* from, int count) {
    if (to != NULL) memcpy(to, from, (size_t)count * sizeof *to);
}

int lash_run_part(LashRun* run, int part, double position[3], double quaternion[4],
                  double velocity[3], double angular_velocity[3]) {
    if (check(run) != 0) return check(run);
    if (!exists(run, "lash_run_part", LASH_PARTS, part)) return LASH_ERROR_USAGE;
    static const double zero[3] = {0};
    const LashModelPart* own = &run->session.model->part[part];
    const double *q, *v;
    lash_sim_state(run->session.sim, &q, &v);
    if (own->body < 0) {
        LashPose place = own->world_part;
        const double turned[4] = {place.rot.w, place.rot.x, place.rot.y, place.rot.z};
        put3(position, place.r);
        put_numbers(quaternion, turned, 4);
        put_numbers(velocity, zero, 3);
        put_numbers(angular_velocity, zero, 3);
        return 0;
    }
    put_numbers(position, q + 7 * own->body, 3);
    put_numbers(quaternion, q + 7 * own->body + 3, 4);
    put_numbers(velocity, v + 6 * own->body, 3);
    put_numbers(angular_velocity, v + 6 * own->body + 3, 3);
    return 0;
}

int lash_run_coordinates(const LashRun* run, int joint) {
    if (joint < 0 || joint >= lash_run_count(run, LASH_JOINTS)) return -1;
    return lash_coordinate_count((LashJointType)run->session.model->joint[joint].type);
}

const char* lash_run_coordinate_name(const LashRun* run, int joint, int coordinate) {
    if (coordinate < 0 || coordinate >= lash_run_coordinates(run, joint)) return NULL;
    return lash_coordinate_name((LashJointType)run->session.model->joint[joint].type, coordinate);
}

int lash_run_find_coordinate(const LashRun* run, int joint, const char* name) {
    int count = lash_run_coordinates(run, joint);
    for (int c = 0; name != NULL && c < count; ++c) {
        if (strcmp(lash_run_coordinate_name(run, joint, c), name) == 0) return c;
    }
    return -1;
}

int lash_run_joint(LashRun* run, int joint, int coordinate, double* value, double* speed) {
    if (check(run) != 0) return check(run);
    if (!exists(run, "lash_run_joint", LASH_JOINTS, joint)) return LASH_ERROR_USAGE;
    if (coordinate < 0 || coordinate >= lash_run_coordinates(run, joint))
        return refuse(run, "lash_run_joint",
                      "joint '%.60s' has no coordinate number %d: it has %d, numbered from 0",
                      lash_run_name(run, LASH_JOINTS, joint), coordinate,
                      lash_run_coordinates(run, joint));
    const AppSession* session = &run->session;
    const double *q, *v;
    lash_sim_state(session->sim, &q, &v);
    if (value != NULL)
        *value = lash_mechanism_joint_coordinate(session->mech, lash_sim_work(session->sim), joint,
                                                 coordinate, q);
    if (speed != NULL) *speed = lash_mechanism_joint_speed(session->mech, joint, coordinate, q, v);
    return 0;
}

int lash_run_reaction(LashRun* run, int joint, double force[3], double moment[3]) {
    if (check(run) != 0) return check(run);
    const AppSession* session = &run->session;
    if (!exists(run, "lash_run_reaction", LASH_JOINTS, joint)) return LASH_ERROR_USAGE;
    const double *q, *v;
    lash_sim_state(session->sim, &q, &v);
    LashReaction reaction = lash_mechanism_reaction(session->mech, lash_sim_work(session->sim),
                                                    joint, q, lash_sim_impulses(session->sim),
                                                    session->model->simulation.settings.h);
    put3(force, reaction.force);
    put3(moment, reaction.moment);
    return 0;
}

int lash_run_force(LashRun* run, int force, double value[6], int* components) {
    if (check(run) != 0) return check(run);
    const AppSession* session = &run->session;
    if (!exists(run, "lash_run_force", LASH_FORCES, force)) return LASH_ERROR_USAGE;
    if (value == NULL) return refuse(run, "lash_run_force", "expected a place, found NULL");
    const double *q, *v;
    lash_sim_state(session->sim, &q, &v);
    LashForceValue found = lash_mechanism_force_value(session->mech, lash_sim_work(session->sim),
                                                      force, lash_sim_time(session->sim), q, v);
    int count = session->model->force[force].bushing != NULL ? 6 : found.components;
    put_numbers(value, found.value, count);
    if (components != NULL) *components = count;
    return 0;
}

typedef struct Touching {
    LashRun* run;
    int contact;
    LashContactPlace place;
} Touching;

static void find_place(void* context) {
    Touching* touching = context;
    const AppSession* session = &touching->run->session;
    const double *q, *v;
    lash_sim_state(session->sim, &q, &v);
    touching->place = lash_mechanism_contact_place(session->mech, touching->contact, q);
}

int lash_run_contact(LashRun* run, int contact, double* gap, double force[3]) {
    if (check(run) != 0) return check(run);
    const AppSession* session = &run->session;
    if (!exists(run, "lash_run_contact", LASH_CONTACTS, contact)) return LASH_ERROR_USAGE;
    Touching touching = {.run = run, .contact = contact};
    if (gap != NULL && guarded(run, find_place, &touching) != 0) return status_of(run);
    if (gap != NULL) *gap = touching.place.gap;
    if (force == NULL) return 0;
    int count;
    const LashPush* push = lash_sim_pushes(session->sim, &count);
    double per_time = 1 / session->model->simulation.settings.h;
    force[0] = force[1] = force[2] = 0;
    for (int i = 0; i < count; ++i) {
        if (lash_mechanism_contact_of(session->mech, push[i].id) != contact) continue;
        int a, b; // the impulse is that on b, or on a where b is the ground
        lash_mechanism_interaction_bodies(session->mech, push[i].id, &a, &b);
        double sign = b >= 0 ? 1 : -1;
        for (int k = 0; k < 3; ++k) force[k] += sign * per_time * push[i].impulse[k];
    }
    return 0;
}

int lash_run_state(const LashRun* run, double* q, double* v) {
    if (run == NULL) return LASH_ERROR_USAGE;
    const double *own_q, *own_v;
    lash_sim_state(run->session.sim, &own_q, &own_v);
    put_numbers(q, own_q, run->session.system->nq);
    put_numbers(v, own_v, run->session.system->nv);
    return 0;
}

// ---- saving -------------------------------------------------------------------------------------

typedef struct Saving {
    LashRun* run;
    void* memory;
    const void* from;
    size_t size, needed;
} Saving;

static void save_run(void* context) {
    Saving* saving = context;
    saving->needed = lash_sim_save(saving->run->session.sim, saving->memory, saving->size);
}

size_t lash_run_save(LashRun* run, void* memory, size_t size) {
    Saving saving = {.run = run, .memory = memory, .size = size};
    if (check(run) != 0) return 0;
    return guarded(run, save_run, &saving) == 0 ? saving.needed : 0;
}

static void restore_run(void* context) {
    Saving* saving = context;
    LashRun* run = saving->run;
    lash_sim_restore(run->session.sim, saving->from, saving->size, &run->error);
}

// A new run takes the place of the old one at the end: without memory for it the old one stays.
int lash_run_restore(LashRun* run, const void* memory, size_t size) {
    Saving saving = {.run = run, .from = memory, .size = size};
    if (check(run) != 0) return check(run);
    run->error = (LashError){0};
    lash_guard(LASH_GUARD_ALL, restore_run, &saving, &run->error);
    error_text(&run->error, run->text, sizeof run->text);
    return (int)run->error.status;
}

// Sets a model up for stepping: options of the command line over those of the file, mechanism, sim,
// start.
#include "app/run/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/run/start.h"
#include "app/run/step_failure.h"

enum { AUTOMATIC_FRAMES = 2000 };

// Index of a name that an option gives; -1 with error when there is none.
static int find_name(const char* option, const char* given, const char* (*name)(int), int count,
                     LashError* error) {
    char hint[300];
    AppSuggestion near = app_suggestion(given);
    for (int i = 0; i < count; ++i) {
        if (strcmp(name(i), given) == 0) return i;
        app_suggestion_offer(&near, name(i));
    }
    lash_error_set(error, LASH_ERROR_USAGE, option, "there is no %s '%s'%s", option + 2, given,
                   app_suggestion_names(&near, hint, sizeof hint));
    return -1;
}

static const char* scheme_name(int i) {
    return lash_scheme_name((LashScheme)i);
}

static const char* direction_name(int i) {
    return lash_direction_name((LashDirection)i);
}

static bool apply_options(LashModel* model, const AppSessionOptions* options, LashError* error) {
    LashModelSimulation* model_simulation = &model->simulation;
    if (options->scheme != NULL) {
        int scheme = find_name("--scheme", options->scheme, scheme_name, LASH_SCHEMES, error);
        if (scheme < 0) return false;
        model_simulation->settings.scheme = (LashScheme)scheme;
    }
    if (options->direction != NULL) {
        int direction =
            find_name("--direction", options->direction, direction_name, LASH_AT_START + 1, error);
        if (direction < 0) return false;
        model_simulation->settings.direction = (LashDirection)direction;
    }
    if (!isnan(options->step)) model_simulation->settings.h = options->step;
    if (!isnan(options->duration)) model_simulation->duration = options->duration;
    if (!(model_simulation->settings.h > 0) || !(model_simulation->duration > 0) ||
        model_simulation->duration / model_simulation->settings.h > 1e10) {
        return lash_error_set(
            error, LASH_ERROR_USAGE, "--step, --duration",
            "expected positive times with at most 1e10 steps, found step %g s and "
            "duration %g s",
            model_simulation->settings.h, model_simulation->duration);
    }
    LashError inner = {0};
    if (lash_settings_check(&model_simulation->settings, &inner)) return true;
    return lash_error_set(error, LASH_ERROR_USAGE, inner.where, "%s", inner.message);
}

bool app_session_build(AppSession* session, LashError* error) {
    session->mech = lash_model_build(session->model, error);
    if (session->mech != NULL) session->system = lash_mechanism_system(session->mech);
    return session->mech != NULL;
}

void app_session_create(AppSession* session) {
    LashSim* sim = lash_sim_create(session->system, &session->model->simulation.settings);
    lash_sim_destroy(session->sim); // not before: a lack of memory leaves the old one
    session->sim = sim;
}

bool app_session_start(AppSession* session, LashError* error) {
    return app_start_prepare(session->model, session->mech, session->system, session->sim,
                             &session->moved, error);
}

bool app_session_open(AppSession* session, const char* file, const AppSessionOptions* options,
                      LashError* error) {
    if (options->text != NULL)
        session->model = lash_model_parse(file, options->text, strlen(options->text), options->set,
                                          options->sets, error);
    else
        session->model = lash_model_load(file, options->set, options->sets, error);
    if (session->model == NULL || !apply_options(session->model, options, error)) return false;
    if (!app_session_build(session, error)) return false;
    app_session_create(session);
    if (app_session_start(session, error)) return true;
    lash_error_file(error, session->model->file);
    return false;
}

void app_session_close(AppSession* session) {
    lash_sim_destroy(session->sim);
    lash_mechanism_destroy(session->mech);
    lash_model_destroy(session->model);
    *session = (AppSession){0};
}

int64_t app_session_steps(const AppSession* session) {
    const LashModelSimulation* model_simulation = &session->model->simulation;
    return (int64_t)ceil(model_simulation->duration / model_simulation->settings.h - 1e-6);
}

int64_t app_session_frame_interval(const AppSession* session) {
    int64_t every = session->model->simulation.record_every;
    if (every > 0) return every;
    return (app_session_steps(session) + AUTOMATIC_FRAMES - 1) / AUTOMATIC_FRAMES;
}

bool app_session_fail_step(const AppSession* session, const AppContactLog* log, int64_t step,
                           const LashStepInfo* info, LashError* error) {
    AppStepFailure failure = {.model = session->model,
                              .mech = session->mech,
                              .system = session->system,
                              .sim = session->sim,
                              .log = log,
                              .step = step,
                              .info = info};
    return app_step_failure(&failure, error);
}

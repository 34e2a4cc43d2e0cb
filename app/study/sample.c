// A sample: parameters are set in the model as --set does, the mechanism is built (CAD is shared
// with the nominal model), simulated, measured; then the expressions of the study.
//
// Everything here depends on the study and the sample's number alone, so any worker on any machine
// of a kind gives the same bits.
#include "app/study/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/cli/progress.h"
#include "app/model/quantity.h"
#include "app/run/drive.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

static const char* const status_names[LASH_SAMPLE_STATUSES] = {"ok",    "failed", "refused",
                                                               "limit", "time",   "crashed"};

const char* lash_sample_status_name(LashSampleStatus status) {
    return status_names[status];
}

const char* lash_sample_part_name(LashSamplePart part) {
    static const char* const names[] = {"read the model", "build the mechanism",
                                        "create the run", "check the start",
                                        "steps",          "outputs, cleaning up"};
    return names[part];
}

int lash_sample_status_find(const char* name) {
    for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i) {
        if (strcmp(status_names[i], name) == 0) return i;
    }
    return -1;
}

LashSample* lash_sample_create(const LashStudy* study) {
    LashSample* sample = lash_alloc(sizeof *sample);
    sample->x = lash_alloc((size_t)study->parameters * sizeof *sample->x);
    sample->y = lash_alloc((size_t)study->outputs * sizeof *sample->y);
    return sample;
}

void lash_sample_destroy(LashSample* sample) {
    if (sample == NULL) return;
    lash_free(sample->x);
    lash_free(sample->y);
    lash_free(sample);
}

LashSampler* lash_sampler_create(const LashStudy* study) {
    LashSampler* sampler = lash_alloc(sizeof *sampler);
    sampler->study = study;
    return sampler;
}

void lash_sampler_destroy(LashSampler* sampler) {
    lash_free(sampler);
}

char* lash_sample_replay(const LashStudy* study, const double* x, char* text, size_t size) {
    text[0] = '\0';
    if (study->model_path == NULL) return text;
    size_t used = (size_t)snprintf(text, size, "lash view '%s'", study->model_path);
    for (int k = 0; k < study->parameters && used < size; ++k) {
        double value;
        const char* name = lash_study_set(study, x, k, &value);
        if (name == NULL) continue;
        used += (size_t)snprintf(text + used, size - used, " --set %s=%.17g", name, value);
    }
    if (used >= size) text[0] = '\0';
    return text;
}

// ---- a run of the model -------------------------------------------------------------------------

typedef struct Trial {
    LashSampler* sampler;
    LashSample* sample;
    double last_lap; // processor time booked [s]
    AppSession session;
    AppDrive drive;
    double start_clock;
    bool told; // to stop
} Trial;

static LashModel* load_model(LashSampler* sampler, const LashSample* sample, LashError* error) {
    enum { SET = 96 };
    const LashStudy* study = sampler->study;
    if (!lash_study_fits_enter(study, sample->x, error)) return NULL;
    size_t n = (size_t)study->parameters, count = 0;
    char* text = lash_alloc(n * SET);
    const char** sets = lash_alloc(n * sizeof *sets);
    for (int k = 0; k < study->parameters; ++k) {
        double value;
        const char* name = lash_study_set(study, sample->x, k, &value);
        if (name == NULL) continue;
        sets[count] = text + count * SET;
        snprintf(text + count * SET, SET, "%s=%.17g", name, value);
        ++count;
    }
    LashModel* model = lash_model_vary(study->model, sets, (int)count, error);
    lash_free(sets);
    lash_free(text);
    if (model == NULL) return NULL;
    ModelContext context = {
        .model = model, .text = study->text, .bytes = study->text_bytes, .error = error};
    for (int i = 0; i < study->outputs; ++i) {
        if (study->output[i].measured.quantity == NULL) continue;
        if (!model_add_output(&context, &study->output[i].measured, "outputs")) {
            lash_model_destroy(model);
            return NULL;
        }
    }
    return model;
}

static void give_up(LashSample* sample, LashSampleStatus status, const LashError* error) {
    sample->status = status;
    snprintf(sample->reason, sizeof sample->reason, "%.150s%s%.240s", error->where,
             error->where[0] != '\0' ? ": " : "", error->message);
}

double lash_thread_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Books the processor time since the last call.
static void lap(Trial* trial, LashSamplePart part) {
    double now = lash_thread_clock();
    trial->sample->spent[part] += now - trial->last_lap;
    trial->last_lap = now;
}

static bool prepare(Trial* trial) {
    LashError error = {0};
    AppSession* session = &trial->session;
    session->model = load_model(trial->sampler, trial->sample, &error);
    lap(trial, LASH_SPENT_MODEL);
    bool built = session->model != NULL && app_session_build(session, &error);
    lap(trial, LASH_SPENT_BUILD);
    if (built) {
        app_session_create(session);
        lap(trial, LASH_SPENT_CREATE);
        const LashModelSimulation* model_simulation = &session->model->simulation;
        double planned = model_simulation->duration / model_simulation->settings.h,
               most = trial->sampler->study->limits.steps;
        if (planned > most) {
            lash_error_set(&error, LASH_ERROR_NUMERICS, "", "needs %.0f steps, the limit is %g",
                           planned, most);
            give_up(trial->sample, LASH_SAMPLE_LIMIT, &error);
            return false;
        }
        if (app_session_start(session, &error)) return true;
    }
    give_up(trial->sample, LASH_SAMPLE_REFUSED, &error);
    return false;
}

static bool over_time(const Trial* trial) {
    double seconds = trial->sampler->study->limits.seconds;
    return !isinf(seconds) && app_wall_clock() - trial->start_clock > seconds;
}

// Asked by the step itself, at every iteration: a clock that costs next to nothing and lags by a
// few milliseconds. Steps are ended a little later than samples between steps.
static bool told_to_stop(void* context) {
    static const double LATER = 0.05; // [s]
    const Trial* trial = context;
    if (__atomic_load_n(&trial->sampler->stop, __ATOMIC_RELAXED)) return true;
    double seconds = trial->sampler->study->limits.seconds;
    return !isinf(seconds) && app_rough_clock() - trial->start_clock > seconds + LATER;
}

static bool over_limit(Trial* trial) {
    const LashStudyLimits* limits = &trial->sampler->study->limits;
    const AppCounters* counters = &trial->drive.counters;
    LashError error = {0};
    double iterations = (double)(counters->newton + counters->solver);
    bool steps = (double)counters->substeps > limits->steps;
    if (steps || iterations > limits->iterations) {
        lash_error_set(&error, LASH_ERROR_NUMERICS, "", "over its limit of %g %s at t = %.9g s",
                       steps ? limits->steps : limits->iterations, steps ? "steps" : "iterations",
                       lash_sim_time(trial->session.sim));
        give_up(trial->sample, LASH_SAMPLE_LIMIT, &error);
        return true;
    }
    if (!over_time(trial)) return false;
    lash_error_set(&error, LASH_ERROR_NUMERICS, "", "over its limit of %g s of wall clock",
                   limits->seconds);
    give_up(trial->sample, LASH_SAMPLE_TIME, &error);
    return true;
}

static bool observe(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    (void)error;
    Trial* trial = context;
    if (trial->session.model->outputs > 0) {
        app_drive_measure_for_outputs(drive);
        app_drive_outputs(drive);
    }
    if (drive->counters.steps == 0) return true;
    if (over_limit(trial)) return false;
    trial->told = __atomic_load_n(&trial->sampler->stop, __ATOMIC_RELAXED);
    return !trial->told;
}

// False: told to stop.
static bool loop(Trial* trial) {
    LashError error = {0};
    lash_sim_set_stop(trial->session.sim, (LashStop){.asked = told_to_stop, .context = trial});
    AppDriveEnd end = app_drive_run(&trial->drive, observe, trial, &error);
    if (end == APP_DRIVE_FAILED) give_up(trial->sample, LASH_SAMPLE_FAILED, &error);
    if (end == APP_DRIVE_INTERRUPTED) trial->told = !over_limit(trial); // else by the clock
    return !trial->told;
}

// In the order of lash_study_run_quantity.
static void run_quantities(Trial* trial, double* value) {
    LashEnergy e = lash_sim_energy(trial->session.sim);
    value[0] = (double)trial->drive.counters.impacts;
    value[1] = 0 - (e.damping_work + e.contact_work_n + e.contact_work_t);
    value[2] = 0 - e.contact_work_t;
    value[3] = 0 - e.contact_work_n;
    value[4] = e.external_work;
    value[5] = trial->drive.counters.penetration;
    value[6] = lash_sim_time(trial->session.sim);
    value[7] = (double)trial->drive.counters.steps;
}

// ---- outputs ------------------------------------------------------------------------------------

// An event that did not happen has no time: NAN, and no fault. Anything else that is not a number
// is one.

// True when output i is of something that did not happen: such an event, or an expression that uses
// one. values, never: parameters, what the model measured, outputs of the study before it.
static bool did_not_happen(const LashStudyOutput* output, int parameters, const bool* never,
                           int count) {
    if (output->compiled == NULL) return never[parameters + output->model_index];
    for (int k = 0; k < count; ++k) {
        if (never[k] && lash_expression_uses(output->compiled, k)) return true;
    }
    return false;
}

static void fail_output(LashSample* sample, const char* name, double value) {
    LashError error = {0};
    lash_error_set(&error, LASH_ERROR_NUMERICS, "", "the output '%.100s' is %s", name,
                   isnan(value) ? "not a number" : "infinite");
    give_up(sample, LASH_SAMPLE_FAILED, &error);
}

// values: parameters, then what the model measured; extended by the study's outputs one by one.
// never[i]: value i is of an event that did not happen.
static void finish(const LashStudy* study, LashSample* sample, double* values, bool* never,
                   int count) {
    for (int i = 0; i < study->outputs; ++i) {
        const LashStudyOutput* output = &study->output[i];
        double value = output->compiled != NULL ? lash_expression_value(output->compiled, values)
                                                : values[study->parameters + output->model_index];
        never[count + i] =
            isnan(value) && did_not_happen(output, study->parameters, never, count + i);
        values[count + i] = sample->y[i] = value;
        if (isfinite(value) || never[count + i]) continue;
        fail_output(sample, output->measured.name, value);
        break;
    }
    for (int i = 0; i < study->outputs && sample->status != LASH_SAMPLE_OK; ++i) sample->y[i] = NAN;
}

static bool run_model(LashSampler* sampler, LashSample* sample, double* values, bool* never) {
    const LashStudy* study = sampler->study;
    Trial trial = {.sampler = sampler,
                   .sample = sample,
                   .start_clock = app_wall_clock(),
                   .last_lap = lash_thread_clock()};
    bool kept = true;
    if (prepare(&trial)) {
        trial.drive = app_drive_create(&trial.session);
        lap(&trial, LASH_SPENT_START);
        kept = loop(&trial);
        lap(&trial, LASH_SPENT_STEPS);
        const AppCounters* c = &trial.drive.counters;
        sample->steps = c->steps;
        sample->iterations = c->newton + c->solver;
        sample->penetration = c->penetration;
        sample->joint_error = c->position;
        sample->velocity_error = c->velocity;
        int n = study->parameters;
        for (int i = 0; i < trial.session.model->outputs; ++i, ++n) {
            const LashModelOutput* output = &trial.session.model->output[i];
            values[n] = app_statistic_result(&trial.drive.statistic[i], output);
            never[n] = isnan(values[n]) && lash_model_output_is_event(output);
        }
        run_quantities(&trial, values + n);
        if (sample->status == LASH_SAMPLE_OK)
            finish(study, sample, values, never, n + LASH_STUDY_RUN_QUANTITIES);
    }
    app_drive_free(&trial.drive);
    app_session_close(&trial.session);
    lap(&trial, LASH_SPENT_END);
    return kept;
}

// Fault injection for tests: LASH_STUDY_FAULT=abort:17 makes sample 17 abort the process.
static void inject_fault(int64_t id) {
    const char* fault = getenv("LASH_STUDY_FAULT");
    long long number = -1;
    if (fault != NULL && sscanf(fault, "abort:%lld", &number) == 1 && number == id) abort();
}

// sample->x is the point.
static bool run_point(LashSampler* sampler, int64_t id, LashSample* sample) {
    const LashStudy* study = sampler->study;
    double start = app_wall_clock();
    double *x = sample->x, *y = sample->y;
    *sample = (LashSample){.id = id, .x = x, .y = y, .worker = sample->worker};
    for (int i = 0; i < study->outputs; ++i) y[i] = NAN;
    size_t measured =
        study->model != NULL ? (size_t)study->model->outputs + LASH_STUDY_RUN_QUANTITIES : 0;
    size_t count = (size_t)study->parameters + measured + (size_t)study->outputs;
    double* values = lash_alloc(count * sizeof *values);
    bool* never = lash_alloc(count * sizeof *never);
    memcpy(values, x, (size_t)study->parameters * sizeof *values);
    bool kept = true;
    if (study->model == NULL) {
        finish(study, sample, values, never, study->parameters);
    } else {
        kept = run_model(sampler, sample, values, never);
    }
    lash_free(values);
    lash_free(never);
    sample->wall = app_wall_clock() - start;
    return kept;
}

bool lash_sample_run(LashSampler* sampler, int64_t id, LashSample* sample) {
    lash_study_point(sampler->study, id, sample->x);
    inject_fault(id);
    return run_point(sampler, id, sample);
}

bool lash_sample_run_at(LashSampler* sampler, int64_t id, const double* x, LashSample* sample) {
    memcpy(sample->x, x, (size_t)sampler->study->parameters * sizeof *x);
    return run_point(sampler, id, sample);
}

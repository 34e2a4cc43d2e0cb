// lash run: the time loop, its summary and its files.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/output_file.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/commands.h"
#include "app/model/model_internal.h"
#include "app/model/quantity.h"
#include "app/run/carried.h"
#include "app/run/drive.h"
#include "app/run/friction_dump.h"
#include "app/run/gap_audit.h"
#include "app/run/joint_places.h"
#include "app/run/plot.h"
#include "app/run/record.h"
#include "app/run/signals.h"
#include "app/run/start.h"
#include "app/run/trace.h"
#include "app/version.h"
#include "core/arena.h"
#include "core/math3.h"

typedef struct RunOptions {
    AppOperands operands;
    AppList set, input;
    const char *scheme, *direction, *output, *plot, *trace, *dump_friction;
    double step, duration; // NAN: as in the model
    bool json;
} RunOptions;

#define OPTION(member) offsetof(RunOptions, member)
static const AppOption options[] = {
    {"set", 's', APP_LIST, "NAME=VALUE", "give a parameter another value", OPTION(set)},
    {"input", 'i', APP_LIST, "NAME=FILE.csv",
     "let an input of the model follow a file: columns t [s] and value, linear between lines",
     OPTION(input)},
    {"scheme", 0, APP_TEXT, "SCHEME", "time-stepping scheme instead of the model's", OPTION(scheme),
     lash_scheme_names},
    {"direction", 0, APP_TEXT, "DIRECTION", "where impulses point instead of the model's",
     OPTION(direction), model_direction_names},
    {"step", 0, APP_NUMBER, "SECONDS", "time step instead of the model's", OPTION(step)},
    {"duration", 0, APP_NUMBER, "SECONDS", "simulated time instead of the model's",
     OPTION(duration)},
    {"output", 'o', APP_FILE, "FILE.h5", "write the motion to a result file", OPTION(output)},
    {"plot", 'p', APP_FILE, "FILE.svg", "draw the outputs (or the energies) over time",
     OPTION(plot)},
    {"dump-friction", 0, APP_FILE, "FOLDER",
     "write the friction problem of every recorded frame as a file for lash bench solvers",
     OPTION(dump_friction)},
    {"trace", 0, APP_FILE, "FILE.csv", "write a line per attempt to solve a step: why one was slow",
     OPTION(trace)},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_run_command = {
    .name = "run",
    .operands = "MODEL",
    .summary = "simulate a model and print a summary",
    .detail =
        "Ctrl-C ends the run with what it has (exit code 130). A step that does not reach the\n"
        "model's tolerances ends it with exit code 5; the result file keeps everything before it.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_MODEL};

typedef struct Run {
    const RunOptions* options;
    AppSession session; // owns model, mech and sim
    AppDrive drive;
    AppSignals signals;
    AppGapAudit audit;
    AppProgress progress;
    double* peak_force;     // (joints) largest reaction over a step that no impact reached [N]
    double* peak_impulse;   // (joints) largest that an impact added to it [N s]
    Vec3* load;             // (joints) reaction over the last step that no impact reached [N]
    LashRecorder* recorder; // NULL: no file
    AppOutput* trace;       // NULL: none
    AppFrictionDump* dump;  // NULL: none
    int64_t every;          // steps between frames
    double* history;        // (frames x (1 + plotted)) for the plot, NULL: none
    double* extreme;        // (outputs) of averages over a step: the largest since the last frame
    int64_t frames, frame_capacity;
    int plotted;
    double start, wall; // clock when the first step began, time of all steps [s]
    bool interrupted;
    LashEnergy energy;
} Run;

// ---- preparing ----------------------------------------------------------------------------------

// What is plotted of a model that asks for nothing.
enum { ENERGIES = 3 };
static const struct {
    LashQuantityKind kind;
    const char* name;
} energies[ENERGIES] = {{LASH_ENERGY_KINETIC, "kinetic"},
                        {LASH_ENERGY_POTENTIAL, "potential"},
                        {LASH_ENERGY_TOTAL, "total"}};

static void prepare_plot(Run* run) {
    int outputs = run->session.model->outputs;
    if (run->options->plot == NULL) return;
    run->plotted = outputs > 0 ? outputs : ENERGIES;
    run->frame_capacity = run->drive.steps / run->every + 3;
    run->history =
        lash_alloc((size_t)run->frame_capacity * (size_t)(1 + run->plotted) * sizeof(double));
}

static bool prepare(Run* run, LashError* error) {
    const RunOptions* run_options = run->options;
    AppSessionOptions session = {run_options->set.item, run_options->set.count,
                                 run_options->scheme,   run_options->direction,
                                 run_options->step,     run_options->duration};
    if (!app_session_open(&run->session, run_options->operands.item[0], &session, error))
        return false;
    const LashModel* model = run->session.model;
    char far[256];
    for (int j = 0; j < model->joints; ++j) {
        if (app_joint_is_far(model, j, far, sizeof far)) app_report_warning("%s", far);
    }
    if (!app_signals_open(&run->signals, model, run_options->input.item, run_options->input.count,
                          error))
        return false;
    run->drive = app_drive_create(&run->session);
    run->drive.signal = run->signals.item;
    run->drive.signals = run->signals.count;
    run->every = app_session_frame_interval(&run->session);
    run->audit = app_gap_audit_create(run->session.mech, run->drive.steps / run->every);
    run->extreme = lash_alloc((size_t)model->outputs * sizeof(double));
    run->peak_force = lash_alloc((size_t)model->joints * sizeof(double));
    run->peak_impulse = lash_alloc((size_t)model->joints * sizeof(double));
    run->load = lash_alloc((size_t)model->joints * sizeof(Vec3));
    prepare_plot(run);
    return true;
}

static void put_options(AppJson* json, const Run* run) {
    const LashModelSimulation* model_simulation = &run->session.model->simulation;
    app_json_begin_object(json);
    app_json_put_text(json, "scheme", lash_scheme_name(model_simulation->settings.scheme));
    app_json_put_text(json, "direction", lash_direction_name(model_simulation->settings.direction));
    app_json_put_number(json, "step", model_simulation->settings.h);
    app_json_put_number(json, "duration", model_simulation->duration);
    app_json_put_number(json, "theta", model_simulation->settings.theta);
    app_json_key(json, "parameters");
    app_json_begin_object(json);
    for (int i = 0; i < run->session.model->parameters; ++i) {
        app_json_put_number(json, run->session.model->parameter[i].name,
                            run->session.model->parameter[i].value);
    }
    app_json_end_object(json);
    app_json_key(json, "set");
    app_json_begin_array(json);
    for (int i = 0; i < run->options->set.count; ++i)
        app_json_text(json, run->options->set.item[i]);
    app_json_end_array(json);
    app_json_key(json, "inputs");
    app_signals_put(json, &run->signals);
    app_json_end_object(json);
}

// Files that cannot be written are refused before the model is read, and before hours of work.
static bool check_outputs(const RunOptions* o, LashError* error) {
    return (o->output == NULL || app_output_check(o->output, error)) &&
           (o->plot == NULL || app_output_check(o->plot, error)) &&
           (o->trace == NULL || app_output_check(o->trace, error));
}

static bool open_result(Run* run, LashError* error) {
    const LashModel* model = run->session.model;
    size_t joints = (size_t)model->joints + 1;
    const char** body = lash_alloc((size_t)model->bodies * sizeof *body);
    const char **joint = lash_alloc(joints * sizeof *joint),
               **type = lash_alloc(joints * sizeof *type);
    const char** contact = lash_alloc((size_t)model->contact_points * sizeof *contact);
    const char **input = lash_alloc(((size_t)model->inputs + 1) * sizeof *input),
               **unit = lash_alloc(((size_t)model->inputs + 1) * sizeof *unit);
    for (int i = 0; i < model->inputs; ++i) {
        input[i] = model->input[i].name;
        unit[i] = model->input[i].unit != NULL ? model->input[i].unit : "";
    }
    for (int i = 0; i < model->contact_points; ++i) contact[i] = model->contact_point[i].name;
    for (int i = 0; i < model->bodies; ++i)
        body[i] = lash_mechanism_body_name(run->session.mech, i);
    for (int i = 0; i < model->joints; ++i) {
        joint[i] = model->joint[i].name;
        type[i] = lash_joint_type_name((LashJointType)model->joint[i].type);
    }
    char* files = app_carried_pack(model);
    AppJson text = {0};
    put_options(&text, run);
    bool algorithmic = isfinite(lash_sim_energy(run->session.sim).algorithmic);
    LashRecordInfo info = {.version = LASH_VERSION,
                           .model_file = model->file,
                           .model_text = model->text,
                           .options = text.text,
                           .scheme = lash_scheme_name(model->simulation.settings.scheme),
                           .files = files,
                           .step = model->simulation.settings.h,
                           .sizes = app_record_sizes(model, algorithmic),
                           .input_name = input,
                           .input_unit = unit,
                           .contact_name = contact,
                           .body_name = body,
                           .joint_name = joint,
                           .joint_type = type};
    run->recorder = lash_recorder_create(run->options->output, &info, error);
    app_json_free(&text);
    lash_free(files);
    lash_free(body);
    lash_free(joint);
    lash_free(type);
    lash_free(contact);
    lash_free(input);
    lash_free(unit);
    return run->recorder != NULL;
}

static bool open_recorder(Run* run, LashError* error) {
    const RunOptions* run_options = run->options;
    if (!check_outputs(run_options, error)) return false; // the model was read: it is no output
    if (!app_file_ending("--output", run_options->output, ".h5", error) ||
        !app_file_ending("--plot", run_options->plot, ".svg", error) ||
        !app_file_ending("--trace", run_options->trace, ".csv .txt", error))
        return false;
    if (run_options->plot != NULL && run_options->output != NULL &&
        strcmp(run_options->plot, run_options->output) == 0)
        return lash_error_set(error, LASH_ERROR_USAGE, "--plot",
                              "expected another file than that of --output, '%s'",
                              run_options->plot);
    if (run_options->dump_friction != NULL) {
        run->dump = app_friction_dump_create(run->session.system, run->session.sim,
                                             run->session.model->simulation.settings.h,
                                             run_options->dump_friction, error);
        if (run->dump == NULL) return false;
    }
    if (run_options->trace != NULL) {
        bool same =
            (run_options->output != NULL && strcmp(run_options->trace, run_options->output) == 0) ||
            (run_options->plot != NULL && strcmp(run_options->trace, run_options->plot) == 0);
        if (same)
            return lash_error_set(error, LASH_ERROR_USAGE, "--trace",
                                  "expected another file than that of --output or --plot, '%s'",
                                  run_options->trace);
        run->trace = app_trace_open(run->session.sim, run_options->trace, error);
        if (run->trace == NULL) return false;
    }
    return run_options->output == NULL || open_result(run, error);
}

// ---- the loop -----------------------------------------------------------------------------------

// The row of the plot at this frame. Averages over a step (forces, impulses) show the largest since
// the frame before: no peak is lost between frames.
static void remember(Run* run) {
    const LashModel* model = run->session.model;
    const AppDrive* drive = &run->drive;
    if (run->history == NULL || run->frames == run->frame_capacity) return;
    double* row = run->history + run->frames * (1 + run->plotted);
    row[0] = drive->frame[drive->layout.offset[LASH_SERIES_TIME]];
    for (int i = 0; i < run->plotted; ++i) {
        LashModelOutput energy = {0};
        const LashModelOutput* output = &energy;
        if (model->outputs > 0) {
            output = &model->output[i];
        } else {
            energy.kind = energies[i].kind;
        }
        bool impulsive = lash_quantity_is(output->kind, IMPULSIVE);
        if (!impulsive) {
            row[1 + i] = app_drive_value(drive, output);
            continue;
        }
        row[1 + i] = drive->counters.steps == 0 ? NAN : run->extreme[i];
        run->extreme[i] = 0;
    }
    ++run->frames;
}

static bool record_frame(Run* run, bool last, LashError* error) {
    AppDrive* drive = &run->drive;
    LashSim* sim = run->session.sim;
    remember(run);
    if (drive->counters.steps > 0 && !drive->log.stale)
        app_gap_audit_frame(&run->audit, sim, &drive->log, last);
    if (run->dump != NULL && !app_friction_dump_step(run->dump, error)) return false;
    app_contact_log_frame(&drive->log, &drive->layout, drive->frame);
    app_drive_next_frame(drive);
    if (run->recorder == NULL) return true;
    return app_contact_log_points(&drive->log, run->session.mech, sim, run->recorder, error) &&
           lash_recorder_add(run->recorder, drive->frame, error);
}

// Largest values since the last frame, and of the joints' reactions since the start.
static void keep_peaks(Run* run) {
    const LashModel* model = run->session.model;
    const AppDrive* drive = &run->drive;
    for (int i = 0; i < model->outputs; ++i) {
        double value = drive->statistic[i].value;
        if (fabs(value) > fabs(run->extreme[i])) run->extreme[i] = value;
    }
    const double* force = drive->frame + drive->layout.offset[LASH_SERIES_JOINT_FORCE];
    for (int j = 0; j < model->joints; ++j) {
        Vec3 now = vec3(force[3 * j], force[3 * j + 1], force[3 * j + 2]);
        if (app_strike_joint(&drive->log.strike, run->session.mech, j)) {
            double blow = vec3_distance(now, run->load[j]) * drive->log.h;
            run->peak_impulse[j] = fmax(run->peak_impulse[j], blow);
        } else {
            run->load[j] = now;
            run->peak_force[j] = fmax(run->peak_force[j], vec3_norm(now));
        }
    }
}

static bool observe(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    Run* run = context;
    int64_t done = drive->counters.steps;
    run->interrupted = done > 0 && app_interrupted();
    bool last = done == drive->steps || run->interrupted;
    app_drive_measure(drive);
    app_drive_outputs(drive);
    keep_peaks(run);
    if ((done % run->every == 0 || last) && !record_frame(run, last, error)) return false;
    if (done == 0) run->start = app_wall_clock();
    if (done % 64 == 1)
        app_progress_update(&run->progress, (double)done / (double)drive->steps, "run");
    return !run->interrupted;
}

static void loop(Run* run, LashError* error) {
    AppDrive* drive = &run->drive;
    run->progress = app_progress_start();
    drive->recorder = run->recorder;
    lash_sim_set_stop(run->session.sim, app_interrupt_stop());
    AppDriveEnd end = app_drive_run(drive, observe, run, error);
    if (end == APP_DRIVE_INTERRUPTED) run->interrupted = true;
    if (drive->log.stale && drive->counters.steps % run->every != 0)
        record_frame(run, true, error); // the state before the step that was not done
    run->wall = app_wall_clock() - run->start;
    app_progress_clear(&run->progress);
    run->energy = lash_sim_energy(run->session.sim);
}

// ---- reporting ----------------------------------------------------------------------------------

static double dissipated(const LashEnergy* energy) {
    return 0 - (energy->damping_work + energy->contact_work_n + energy->contact_work_t);
}

static double balance_error(const LashEnergy* energy) {
    return energy->kinetic + energy->potential - energy->start - energy->external_work +
           dissipated(energy);
}

static void put_iterations(AppJson* json, const char* name, const AppCounters* counters,
                           int64_t sum, int most) {
    app_json_key(json, name);
    app_json_begin_object(json);
    app_json_put_number(json, "avg",
                        counters->steps > 0 ? (double)sum / (double)counters->steps : 0);
    app_json_put_integer(json, "max", most);
    app_json_end_object(json);
}

static void put_contacts(AppJson* json, const Run* run) {
    app_json_key(json, "contacts");
    app_json_begin_object(json);
    app_json_put_integer(json, "max_active", run->drive.counters.contacts_max);
    app_json_put_integer(json, "impacts", run->drive.counters.impacts);
    app_json_put_integer(json, "opening", run->drive.counters.opening);
    app_json_key(json, "each");
    app_json_begin_object(json);
    for (int i = 0; i < run->drive.log.count; ++i) {
        const AppContact* contact = &run->drive.log.contact[i];
        app_json_key(json, run->session.model->contact_point[i].name);
        app_json_begin_object(json);
        app_json_put_number(json, "gap", contact->gap);
        app_json_put_integer(json, "impacts", contact->impacts);
        app_json_put_number(json, "first_impact", contact->first_impact);
        app_json_put_number(json, "peak_impulse", contact->peak_impulse);
        app_json_put_number(json, "peak_time", contact->peak_time);
        app_json_put_number(json, "peak_force", contact->peak_force);
        app_work_put(json, &contact->work,
                     run->session.model->simulation.settings.tolerance_velocity);
        app_json_end_object(json);
    }
    app_json_end_object(json);
    app_json_end_object(json);
}

// What the projection moved parts by: nothing but rounding and curvature in a sound model.
static void put_shift(AppJson* json, const Run* run) {
    const AppCounters* c = &run->drive.counters;
    bool any = c->shift > 0;
    app_json_key(json, "shift");
    app_json_begin_object(json);
    app_json_put_number(json, "most", c->shift);
    app_json_put_number(json, "time", any ? c->shift_time : NAN);
    app_json_put_text(json, "part",
                      any ? lash_mechanism_body_name(run->session.mech, c->shift_body) : "");
    app_json_end_object(json);
}

static void put_counters(AppJson* json, const AppCounters* counters) {
    app_json_key(json, "violation");
    app_json_begin_object(json);
    app_json_put_number(json, "unilateral", counters->penetration);
    app_json_put_number(json, "bilateral", counters->position);
    app_json_put_number(json, "velocity", counters->velocity);
    app_json_end_object(json);
    app_json_key(json, "iterations");
    app_json_begin_object(json);
    put_iterations(json, "newton", counters, counters->newton, counters->newton_max);
    put_iterations(json, "projection", counters, counters->projection, counters->projection_max);
    put_iterations(json, "index_set", counters, counters->index_set, counters->index_set_max);
    put_iterations(json, "solver", counters, counters->solver, counters->solver_max);
    app_json_end_object(json);
}

// Names of the joints, and contacts of no joint, that gave energy over the run: number `index` of
// them, NULL when there are no more.
static const char* giver(const Run* run, int index) {
    const AppContactLog* log = &run->drive.log;
    double tolerance = run->session.model->simulation.settings.tolerance_velocity;
    for (int j = 0; j < log->joints.count; ++j) {
        if (!app_work_gives(&log->joints.joint[j].work, tolerance)) continue;
        if (index-- == 0) return run->session.model->joint[j].name;
    }
    for (int i = 0; i < log->count; ++i) {
        if (log->joints.owner[i] >= 0 || !app_work_gives(&log->contact[i].work, tolerance))
            continue;
        if (index-- == 0) return run->session.model->contact_point[i].name;
    }
    return NULL;
}

static const char* gain_of(const Run* run) {
    const AppGain* gain = &run->drive.log.gain;
    const LashModel* model = run->session.model;
    if (!(gain->work > 0)) return NULL;
    return gain->joint >= 0 ? model->joint[gain->joint].name
                            : model->contact_point[gain->contact].name;
}

static void put_energy(AppJson* json, const Run* run) {
    const LashEnergy* e = &run->energy;
    const char* of = gain_of(run);
    app_json_key(json, "energy");
    app_json_begin_object(json);
    app_json_put_number(json, "start", e->start);
    app_json_put_number(json, "end", e->kinetic + e->potential);
    if (isfinite(e->algorithmic)) app_json_put_number(json, "algorithmic", e->algorithmic);
    app_json_put_number(json, "external_work", e->external_work);
    app_json_put_number(json, "dissipated", dissipated(e));
    app_json_put_number(json, "balance_error", balance_error(e));
    app_json_put_number(json, "damping_work", e->damping_work);
    app_json_put_number(json, "contact_work_normal", e->contact_work_n);
    app_json_put_number(json, "contact_work_friction", e->contact_work_t);
    app_json_put_number(json, "joint_work", e->joint_work);
    app_json_put_number(json, "opening_work", e->opening_work);
    app_json_key(json, "step_gain");
    app_json_begin_object(json);
    app_json_put_number(json, "work", run->drive.log.all.gain);
    app_json_put_number(json, "time", run->drive.log.all.gain > 0 ? run->drive.log.all_time : NAN);
    app_json_end_object(json);
    app_json_key(json, "largest_gain");
    app_json_begin_object(json);
    app_json_put_number(json, "work", run->drive.log.gain.work);
    app_json_put_number(json, "time", of == NULL ? NAN : run->drive.log.gain.time);
    app_json_put_text(json, "of", of == NULL ? "" : of);
    app_json_end_object(json);
    app_json_key(json, "givers");
    app_json_begin_array(json);
    for (int i = 0; giver(run, i) != NULL; ++i) app_json_text(json, giver(run, i));
    app_json_end_array(json);
    app_json_end_object(json);
}

static void put_of_joints(AppJson* json, const LashModel* model, const char* key,
                          const double* value) {
    app_json_key(json, key);
    app_json_begin_object(json);
    for (int j = 0; j < model->joints; ++j)
        app_json_put_number(json, model->joint[j].name, value[j]);
    app_json_end_object(json);
}

static void put_result(AppJson* json, const Run* run) {
    const AppCounters* c = &run->drive.counters;
    app_json_put_text(json, "model", run->session.model->file);
    app_json_put_bool(json, "interrupted", run->interrupted);
    app_json_put_integer(json, "steps", c->steps);
    app_json_put_number(json, "simulated_seconds", lash_sim_time(run->session.sim));
    app_json_put_number(json, "wall_seconds", run->wall);
    app_json_put_number(json, "us_per_step", c->steps > 0 ? 1e6 * run->wall / (double)c->steps : 0);
    app_json_put_text(json, "scheme",
                      lash_scheme_name(run->session.model->simulation.settings.scheme));
    app_json_put_text(json, "direction",
                      lash_direction_name(run->session.model->simulation.settings.direction));
    app_json_put_number(json, "step", run->session.model->simulation.settings.h);
    app_json_put_integer(json, "substepped", run->drive.counters.substepped);
    app_json_put_number(json, "assembled_by", run->session.moved);
    put_counters(json, c);
    put_shift(json, run);
    put_contacts(json, run);
    app_gap_audit_put(json, &run->audit);
    app_joint_log_put(json, &run->drive.log.joints, run->session.model);
    put_energy(json, run);
    put_of_joints(json, run->session.model, "peak_forces", run->peak_force);
    put_of_joints(json, run->session.model, "peak_impulses", run->peak_impulse);
    app_json_key(json, "outputs");
    app_json_begin_object(json);
    for (int i = 0; i < run->session.model->outputs; ++i) {
        const LashModelOutput* output = &run->session.model->output[i];
        app_json_put_number(json, output->name,
                            app_statistic_result(&run->drive.statistic[i], output));
    }
    app_json_end_object(json);
    app_put_bodies(json, "final", run->session.mech, run->session.sim);
}

// Column that holds every name of the summary's tables.
static int name_width(const Run* run) {
    const LashModel* model = run->session.model;
    size_t width = 18, most = 40;
    for (int j = 0; j < model->joints; ++j) {
        if (strlen(model->joint[j].name) > width) width = strlen(model->joint[j].name);
    }
    for (int i = 0; i < model->contact_points; ++i) {
        bool listed = run->drive.log.joints.owner[i] < 0;
        size_t length = strlen(model->contact_point[i].name);
        if (listed && length > width) width = length;
    }
    for (int i = 0; i < model->outputs; ++i) {
        if (strlen(model->output[i].name) > width) width = strlen(model->output[i].name);
    }
    return (int)(width < most ? width : most);
}

static void print_outputs(const Run* run, int width) {
    const LashModel* model = run->session.model;
    if (model->outputs > 0) printf("outputs\n");
    for (int i = 0; i < model->outputs; ++i) {
        const LashModelOutput* output = &model->output[i];
        double value = app_statistic_result(&run->drive.statistic[i], output);
        bool never = lash_model_output_is_event(output);
        char unit[40];
        lash_model_result_unit(model, output, unit, sizeof unit);
        if (isnan(value)) {
            printf("  %-*s %s\n", width, output->name, never ? "never" : "not a number");
        } else {
            bool number = strcmp(unit, "1") == 0;
            printf("  %-*s %.9g%s%s\n", width, output->name, value + 0.0, number ? "" : " ",
                   number ? "" : unit);
        }
    }
}

// Without what is rounding beside numbers of this size.
static double clean(double x, double scale) {
    return fabs(x) < 1e-15 * scale ? 0 : x;
}

static void print_energy(const Run* run) {
    const LashEnergy* e = &run->energy;
    double scale = fmax(fabs(e->start), fmax(e->kinetic, fmax(fabs(e->potential), dissipated(e))));
    const AppContactLog* log = &run->drive.log;
    printf(
        "energy      %.9g J -> %.9g J, external work %.6g J, dissipated %.6g J, balance error %.2e "
        "J\n",
        clean(e->start, scale), clean(e->kinetic + e->potential, scale),
        clean(e->external_work, scale), clean(dissipated(e), scale), balance_error(e));
    if (isfinite(e->algorithmic))
        printf("            %.9g J by the scheme's own measure H\n", clean(e->algorithmic, scale));
    if (!(log->all.pressed > 0)) return;
    // Velocities are known to the tolerance: what it times the impulses gives is not energy.
    double rounding = run->session.model->simulation.settings.tolerance_velocity * log->all.pressed;
    const AppGain* one = &log->gain;
    if (log->all.gain > rounding)
        printf("            contact gave at most %.2e J in one step (at %.6g s)", log->all.gain,
               log->all_time);
    else
        printf("            contact gave nothing in any step");
    if (one->work > rounding) printf(", %s alone %.2e J", gain_of(run), one->work);
    if (one->work > rounding && one->time != log->all_time) printf(" (at %.6g s)", one->time);
    printf("\n            over the run ");
    if (giver(run, 0) == NULL) printf("no joint and no contact gave energy\n");
    for (int i = 0; giver(run, i) != NULL; ++i) {
        printf("%s%s%s", i == 0 ? "energy was given by " : ", ", giver(run, i),
               giver(run, i + 1) == NULL ? " (net work below)\n" : "");
    }
}

// Contacts that are the model's own; those of joints with clearance have the joints' table.
static void print_contact_table(const Run* run, int width) {
    bool first = true;
    for (int i = 0; i < run->drive.log.count; ++i) {
        const AppContact* contact = &run->drive.log.contact[i];
        if (run->drive.log.joints.owner[i] >= 0) continue;
        if (first) {
            printf("  %-*s %8s %14s %12s %12s %11s %11s\n", width, "", "impacts", "first",
                   "peak push", "at", "peak force", "net work");
            printf("  %-*s %8s %14s %12s %12s %11s %11s\n", width, "", "", "[s]", "[N s]", "[s]",
                   "[N]", "[J]");
        }
        first = false;
        char when[32] = "never", at[32] = "";
        if (!isnan(contact->first_impact))
            snprintf(when, sizeof when, "%.9g", contact->first_impact);
        if (contact->peak_impulse > 0) snprintf(at, sizeof at, "%.6g", contact->peak_time);
        printf("  %-*s %8lld %14s %12.6g %12s %11.6g %11.4g\n", width,
               run->session.model->contact_point[i].name, (long long)contact->impacts, when,
               contact->peak_impulse, at, contact->peak_force, app_work_net(&contact->work));
    }
}

static void print_contacts(const Run* run, int width) {
    const AppCounters* c = &run->drive.counters;
    double n = c->steps > 0 ? (double)c->steps : 1;
    if (run->drive.log.count == 0) return;
    printf("contacts    at most %d closed at once, %lld %s, penetration %.2e m at most\n",
           c->contacts_max, (long long)run->drive.counters.impacts,
           app_plural((int)run->drive.counters.impacts, "impact", "impacts"), c->penetration);
    printf(
        "            projection %.4f (at most %d), index set %.4f (%d), solver %.2f (%d) per "
        "step\n",
        (double)c->projection / n, c->projection_max, (double)c->index_set / n, c->index_set_max,
        (double)c->solver / n, c->solver_max);
    if (run->session.model->simulation.settings.law == LASH_FREMOND)
        printf("law         fremond: %lld times a contact pushed while opening, work %.2e J\n",
               (long long)c->opening, run->energy.opening_work);
    print_contact_table(run, width);
}

// A force has a peak; an impact has an impulse, whatever the step.
static void print_peaks(const Run* run, int width) {
    const LashModel* model = run->session.model;
    bool impacts = run->drive.counters.impacts > 0;
    if (model->joints > 0) printf("peak forces in joints%s\n", impacts ? ", and in impacts" : "");
    for (int j = 0; j < model->joints; ++j) {
        printf("  %-*s %.6g N", width, model->joint[j].name, run->peak_force[j]);
        if (impacts) printf(", %.6g N s", run->peak_impulse[j]);
        printf("\n");
    }
}

static void print_head(const Run* run) {
    const LashModel* model = run->session.model;
    int with_play = 0, contacts = 0;
    for (int j = 0; j < model->joints; ++j)
        with_play += run->drive.log.joints.joint[j].contacts > 0;
    for (int i = 0; i < run->drive.log.count; ++i) contacts += run->drive.log.joints.owner[i] < 0;
    printf("%s: %d %s, %d %s", model->name != NULL ? model->name : model->file, model->bodies,
           app_plural(model->bodies, "body", "bodies"), model->joints,
           app_plural(model->joints, "joint", "joints"));
    if (with_play > 0) printf(" (%d with clearance)", with_play);
    printf(", %d %s, scheme %s\n", contacts, app_plural(contacts, "contact", "contacts"),
           lash_scheme_name(model->simulation.settings.scheme));
}

static void print_summary(const Run* run) {
    const AppCounters* c = &run->drive.counters;
    const LashModel* model = run->session.model;
    double n = c->steps > 0 ? (double)c->steps : 1;
    int width = name_width(run);
    print_head(run);
    printf("steps       %lld of %g s: %g s simulated in %.3g s, %.2f us per step\n",
           (long long)c->steps, model->simulation.settings.h, lash_sim_time(run->session.sim),
           run->wall, 1e6 * run->wall / n);
    if (run->session.moved > 0)
        printf("assembled   the start was moved by up to %.3g m or rad\n", run->session.moved);
    if (run->drive.counters.substepped > 0)
        printf("sub-steps   %lld %s solved in parts\n", (long long)run->drive.counters.substepped,
               app_plural((int)run->drive.counters.substepped, "step was", "steps were"));
    printf("iterations  Newton %.2f per step (at most %d)\n", (double)c->newton / n, c->newton_max);
    printf(
        "violation   joints %.2e m or rad, velocities %.2e m/s or rad/s (largest of all steps)\n",
        c->position, c->velocity);
    if (c->shift > 0)
        printf("shift       the projection moved parts by at most %.2e m (%s at %.6g s)\n",
               c->shift, lash_mechanism_body_name(run->session.mech, c->shift_body), c->shift_time);
    print_energy(run);
    print_contacts(run, width);
    app_joint_log_print(&run->drive.log.joints, model, width);
    print_peaks(run, width);
    print_outputs(run, width);
}

// Outputs of one unit share a panel; the same quantity is drawn once.
static bool draw_plot(const Run* run, LashError* error) {
    const LashModel* model = run->session.model;
    size_t n = (size_t)run->frames;
    double* column = lash_alloc((n * (size_t)(1 + run->plotted) + 1) * sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < (size_t)(1 + run->plotted); ++k) {
            column[k * n + i] = run->history[i * (size_t)(1 + run->plotted) + k];
        }
    }
    char subtitle[160];
    snprintf(subtitle, sizeof subtitle, "scheme %s, step %g s, %lld steps",
             lash_scheme_name(model->simulation.settings.scheme), model->simulation.settings.h,
             (long long)run->drive.counters.steps);
    AppPlot plot = {.title = model->name != NULL ? model->name : model->file,
                    .subtitle = subtitle,
                    .x_label = "time [s]",
                    .points = (int)n,
                    .x = column};
    for (int k = 0; k < run->plotted; ++k) {
        const LashModelOutput* output = model->outputs > 0 ? &model->output[k] : NULL;
        const char* unit = output == NULL ? "J" : lash_model_output_unit(model, output);
        if (output != NULL && lash_quantity_is(output->kind, IS_TIME_OF)) continue; // no curve
        if (strcmp(unit, "1") == 0) unit = "count";
        char name[APP_PLOT_NAME];
        snprintf(name, sizeof name, "%s%s%s",
                 output == NULL || output->of == NULL ? "" : output->of,
                 output == NULL || output->of == NULL ? "" : " ",
                 output == NULL ? energies[k].name : output->quantity);
        app_plot_add(&plot, unit, name, column + (size_t)(1 + k) * n);
    }
    bool good = app_plot_write(&plot, run->options->plot, error);
    lash_free(column);
    return good;
}

// Whatever ended the run: the lines before its end are what is asked for.
static void close_trace(Run* run, LashError* error) {
    LashError late = {0};
    lash_sim_set_trace(run->session.sim, NULL, NULL);
    if (!app_output_finish(run->trace, &late) && error->status == LASH_OK) *error = late;
    run->trace = NULL;
}

static void release(Run* run) {
    app_output_discard(run->trace);
    app_friction_dump_free(run->dump);
    app_gap_audit_free(&run->audit); // both borrow from the session
    app_drive_free(&run->drive);
    app_signals_close(&run->signals);
    app_session_close(&run->session);
    lash_free(run->peak_force);
    lash_free(run->peak_impulse);
    lash_free(run->load);
    lash_free(run->extreme);
    lash_free(run->history);
}

int app_run(int argc, char** argv) {
    RunOptions o = {.step = NAN, .duration = NAN};
    int code = app_options_parse(&app_run_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("run", o.json);
    LashError error = {0};
    Run run = {.options = &o};
    app_catch_interrupt();
    bool ready = check_outputs(&o, &error) && prepare(&run, &error) && open_recorder(&run, &error);
    if (ready) {
        loop(&run, &error);
        lash_recorder_close(run.recorder, &error); // keeps the first error
        if (o.plot != NULL) draw_plot(&run, &error);
        if (run.trace != NULL) close_trace(&run, &error);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (ready) put_result(json, &run);
    } else if (ready) {
        print_summary(&run);
    }
    char doubt[600];
    if (ready && app_gap_audit_text(&run.audit, doubt, sizeof doubt))
        app_report_warning("%s", doubt);
    if (ready && error.status == LASH_OK && run.interrupted) {
        app_report_note("lash: interrupted at t = %.9g s; the results above end there",
                        lash_sim_time(run.session.sim));
    }
    code = app_report_finish(&report, &error);
    if (code == 0 && run.interrupted) code = APP_EXIT_INTERRUPTED;
    release(&run);
    return code;
}

// lash study run, resume.
//
// The work is done in a child process. When a sample kills it (an assertion, a memory fault), the
// parent starts another, which runs the samples that were under way alone, records the one that
// dies as a row, and goes on: one bad sample is never the end of a study.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/file_kind.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/study/study_command.h"

#define OPTION(member) offsetof(StudyOptions, member)
#define JOBS_OPTION \
    { "jobs", 'j', APP_INTEGER, "N", "worker threads (default: one per core)", OPTION(jobs) }
static const AppOption run_options[] = {
    JOBS_OPTION,
    {"samples", 'n', APP_INTEGER, "N", "samples instead of the design's", OPTION(samples)},
    {"seed", 0, APP_TEXT, "S", "seed instead of the design's", OPTION(seed)},
    {"output", 'o', APP_FILE, "STORE.db", "where rows go (default: STUDY.db in this folder)",
     OPTION(output)},
    {"shard", 0, APP_TEXT, "K/N", "run only part K of N, for job arrays; 'merge' joins the stores",
     OPTION(shard)},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_run_command = {
    .name = "study run",
    .operands = "STUDY",
    .summary = "run the samples of a study",
    .detail =
        "Every finished sample is a row of the store within two seconds. Ctrl-C, a kill or a full "
        "disk\n"
        "lose nothing that is reported as done: 'lash study resume STORE.db' runs the rest. A\n"
        "sample that fails is a row with its reason.",
    .minimum = 1,
    .maximum = 1,
    .option = run_options,
    .options = sizeof run_options / sizeof *run_options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STUDY};

static const AppOption resume_options[] = {
    JOBS_OPTION,
    {"output", 'o', APP_FILE, "STORE.db", "the store, when the operand is a study file",
     OPTION(output)},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_resume_command = {
    .name = "study resume",
    .operands = "STORE.db",
    .summary = "run the samples that a store lacks",
    .detail =
        "Samples that were under way when the program died are run alone in a child process first.",
    .minimum = 1,
    .maximum = 1,
    .option = resume_options,
    .options = sizeof resume_options / sizeof *resume_options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STORE | APP_FILE_STUDY};

double study_cpu_clock(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

// ---- what is asked ------------------------------------------------------------------------------

void study_store_path(const char* operand, const char* output, char* path, size_t size) {
    if (output != NULL) {
        snprintf(path, size, "%s", output);
        return;
    }
    size_t length = strlen(operand);
    if (length < 5 || strcmp(operand + length - 5, ".json") != 0) {
        snprintf(path, size, "%s", operand);
        return;
    }
    const char* slash = strrchr(operand, '/');
    const char* base = slash != NULL ? slash + 1 : operand;
    snprintf(path, size, "%.*s.db", (int)(strlen(base) - 5), base);
}

static bool parse_shard(const char* text, LashShard* shard, LashError* error) {
    int k = 0, n = 0;
    char more;
    *shard = (LashShard){0, 1};
    if (text == NULL) return true;
    if (sscanf(text, "%d/%d%c", &k, &n, &more) == 2 && k >= 1 && k <= n && n <= 1000000) {
        *shard = (LashShard){k - 1, n};
        return true;
    }
    return lash_error_set(error, LASH_ERROR_USAGE, "--shard",
                          "expected K/N with 1 <= K <= N, found '%.40s'", text);
}

static bool parse_seed(const char* text, LashStudyOverride* change, LashError* error) {
    char* end = NULL;
    if (text == NULL) return true;
    errno = 0;
    change->seed = strtoull(text, &end, 10);
    change->has_seed = true;
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0) return true;
    return lash_error_set(error, LASH_ERROR_USAGE, "--seed",
                          "expected a whole number from 0 to 2^64 - 1, found '%.40s'", text);
}

StudyOptions study_options(void) {
    return (StudyOptions){.jobs = STUDY_NOT_GIVEN,
                          .samples = STUDY_NOT_GIVEN,
                          .points = STUDY_NOT_GIVEN,
                          .limit = NAN};
}

bool study_task(const StudyOptions* o, bool resume, StudyTask* task, LashError* error) {
    *task = (StudyTask){.options = o, .resume = resume};
    study_store_path(o->operands.item[0], o->output, task->store_path, sizeof task->store_path);
    if (o->jobs != STUDY_NOT_GIVEN && (o->jobs < 1 || o->jobs > 1024))
        return lash_error_set(error, LASH_ERROR_USAGE, "--jobs",
                              "expected 1 to 1024 threads, found %d", o->jobs);
    if (o->samples != STUDY_NOT_GIVEN && o->samples < 1)
        return lash_error_set(error, LASH_ERROR_USAGE, "--samples",
                              "expected a positive number, found %d", o->samples);
    if (o->samples != STUDY_NOT_GIVEN) task->change.samples = o->samples;
    return parse_shard(o->shard, &task->shard, error) && parse_seed(o->seed, &task->change, error);
}

// A study file given to resume must be the one of the store.
static bool check_study(const StudyTask* task, LashStore* store, LashError* error) {
    const char* operand = task->options->operands.item[0];
    if (lash_store_is_one(operand)) return true;
    LashStudy* study = lash_study_load(operand, NULL, error);
    if (study == NULL) return false;
    bool same = strcmp(study->text, lash_store_text(store, "study_text")) == 0;
    lash_study_destroy(study);
    if (same) return true;
    lash_error_set(error, LASH_ERROR_IO, "", "this store belongs to another study than '%.200s'",
                   operand);
    lash_error_file(error, task->store_path);
    return false;
}

int study_jobs(const StudyOptions* options) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (options->jobs > 0) return options->jobs;
    return cores > 0 ? (int)cores : 1;
}

bool study_open(const StudyTask* task, LashStudy** study, LashStore** store, LashError* error) {
    if (!task->resume) {
        *study = lash_study_load(task->options->operands.item[0], &task->change, error);
        if (*study == NULL) return false;
        study_warn_units(*study);
        *store = lash_store_create(task->store_path, *study, &task->change, task->shard, error);
        return *store != NULL;
    }
    *store = lash_store_open(task->store_path, LASH_STORE_WRITE, error);
    if (*store == NULL || !check_study(task, *store, error)) return false;
    *study = lash_store_study(*store, error);
    return *study != NULL &&
           lash_schedule_isolate(*store, *study, study_jobs(task->options), error);
}

// ---- doing it -----------------------------------------------------------------------------------

static void watch(LashSchedule* schedule, StudyOutcome* outcome) {
    AppProgress progress = app_progress_start();
    bool stopped = false;
    do {
        char what[96];
        outcome->state = lash_schedule_wait(schedule, 0.05);
        const LashScheduleState* schedule_state = &outcome->state;
        double spent = app_wall_clock() - progress.start;
        snprintf(what, sizeof what, "%lld of %lld samples, %.1f/s", (long long)schedule_state->done,
                 (long long)schedule_state->planned,
                 spent > 0 ? (double)schedule_state->ran / spent : 0);
        app_progress_update(&progress,
                            (double)schedule_state->done / (double)schedule_state->planned, what);
        if (app_interrupted() && !stopped) {
            lash_schedule_stop(schedule);
            outcome->interrupted = stopped = true;
        }
    } while (!outcome->state.finished);
    app_progress_clear(&progress);
}

static int execute(const StudyTask* task) {
    LashError error = {0};
    LashStudy* study = NULL;
    LashStore* store = NULL;
    StudyOutcome outcome = {.workers = study_jobs(task->options)};
    app_catch_interrupt();
    if (study_open(task, &study, &store, &error)) {
        double start = app_wall_clock(), cpu = study_cpu_clock();
        LashSchedule* schedule = lash_schedule_start(store, study, outcome.workers, &error);
        if (schedule != NULL) {
            watch(schedule, &outcome);
            outcome.state = lash_schedule_end(schedule);
            error = outcome.state.error;
        }
        outcome.wall = app_wall_clock() - start;
        outcome.cpu = study_cpu_clock() - cpu;
    }
    return study_finish(task, study, store, &outcome, &error);
}

static void put_outcome(AppJson* json, const StudyTask* task, const StudyOutcome* outcome) {
    int64_t all = 0;
    for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i) all += outcome->counts[i];
    app_json_put_text(json, "store", task->store_path);
    app_json_put_integer(json, "samples", all);
    app_json_put_integer(json, "planned", outcome->state.planned);
    app_json_put_integer(json, "ran", outcome->state.ran);
    app_json_put_integer(json, "ok", outcome->counts[LASH_SAMPLE_OK]);
    app_json_put_integer(json, "failed", all - outcome->counts[LASH_SAMPLE_OK]);
    app_json_key(json, "status");
    app_json_begin_object(json);
    for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i)
        app_json_put_integer(json, lash_sample_status_name((LashSampleStatus)i),
                             outcome->counts[i]);
    app_json_end_object(json);
    app_json_put_bool(json, "interrupted", outcome->interrupted);
    app_json_put_number(json, "wall_seconds", outcome->wall);
    app_json_put_number(json, "samples_per_second",
                        outcome->wall > 0 ? (double)outcome->state.ran / outcome->wall : 0);
    app_json_put_integer(json, "workers", outcome->workers);
    app_json_put_number(json, "cpu_seconds", outcome->cpu);
    app_json_put_number(json, "sampling_seconds", outcome->state.sampling);
}

static void print_outcome(const StudyTask* task, const StudyOutcome* outcome) {
    int64_t all = 0;
    for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i) all += outcome->counts[i];
    printf("%lld of %lld samples: %lld ok", (long long)all, (long long)outcome->state.planned,
           (long long)outcome->counts[LASH_SAMPLE_OK]);
    for (int i = 1; i < LASH_SAMPLE_STATUSES; ++i) {
        if (outcome->counts[i] > 0)
            printf(", %lld %s", (long long)outcome->counts[i],
                   lash_sample_status_name((LashSampleStatus)i));
    }
    printf("; %.3g s, %.1f per second with %d %s\n", outcome->wall,
           outcome->wall > 0 ? (double)outcome->state.ran / outcome->wall : 0, outcome->workers,
           app_plural(outcome->workers, "worker", "workers"));
    if (outcome->interrupted) {
        printf("interrupted: 'lash study resume %s' runs the rest\n", task->store_path);
    } else {
        printf("'lash study report %s' tells what they say\n", task->store_path);
    }
}

int study_finish(const StudyTask* task, LashStudy* study, LashStore* store, StudyOutcome* outcome,
                 LashError* error) {
    const StudyOptions* o = task->options;
    if (error->status == LASH_OK) lash_store_counts(store, outcome->counts, error);
    lash_store_close(store, error);
    lash_study_destroy(study);
    AppReport report = app_report(task->resume ? "study resume" : "study run", o->json);
    bool ran = error->status == LASH_OK;
    if (o->json) {
        AppJson* json = app_report_document(&report, error);
        if (ran) put_outcome(json, task, outcome);
    } else if (ran) {
        print_outcome(task, outcome);
    }
    int code = app_report_finish(&report, error);
    return code == 0 && outcome->interrupted ? APP_EXIT_INTERRUPTED : code;
}

// ---- the supervisor -----------------------------------------------------------------------------

// Rows finished so far, -1: no store yet.
static int64_t finished_rows(const StudyTask* task) {
    int64_t counts[LASH_SAMPLE_STATUSES], all = -1;
    LashStore* store = lash_store_open(task->store_path, LASH_STORE_READ, NULL);
    if (store != NULL && lash_store_counts(store, counts, NULL)) {
        all = 0;
        for (int i = 0; i < LASH_SAMPLE_STATUSES; ++i) all += counts[i];
    }
    lash_store_close(store, NULL);
    return all;
}

static int wait_for(pid_t child) {
    int status = 0;
    bool told = false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        if (app_interrupted() && !told) {
            kill(child, SIGTERM); // it is in a group of its own, so Ctrl-C reached only us
            told = true;
        }
    }
    return status;
}

static bool is_crash(int status) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int i = 0; i < 5; ++i) {
        if (WIFSIGNALED(status) && WTERMSIG(status) == signals[i]) return true;
    }
    return false;
}

static int fail_killed(const StudyTask* task, int status) {
    LashError error = {0};
    AppReport report = app_report("study run", task->options->json);
    lash_error_set(&error, LASH_ERROR_INTERNAL, "",
                   "the work was ended by signal %d (%s); 'lash study resume %.200s' runs the rest",
                   WTERMSIG(status), strsignal(WTERMSIG(status)), task->store_path);
    return app_report_finish(&report, &error);
}

static int supervise(StudyTask* task) {
    int64_t before = -2;
    app_catch_interrupt();
    for (;;) {
        pid_t parent = getpid();
        fflush(NULL);
        pid_t child = fork();
        if (child < 0) return execute(task); // no process to spare: without a supervisor
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(1);
            setpgid(0, 0);
            exit(execute(task));
        }
        int status = wait_for(child);
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        int64_t now = is_crash(status) ? finished_rows(task) : before;
        if (now <= before || now < 0) return fail_killed(task, status);
        app_report_note("lash: a sample killed the process (%s); finding out which",
                        strsignal(WTERMSIG(status)));
        before = now;
        task->resume = true;
    }
}

static int run_or_resume(const AppCommand* command, bool resume, int argc, char** argv) {
    StudyOptions o = study_options();
    StudyTask task;
    LashError error = {0};
    int code = app_options_parse(command, argc, argv, &o);
    if (code >= 0) return code;
    if (study_task(&o, resume, &task, &error)) return supervise(&task);
    AppReport report = app_report(command->name, o.json);
    return app_report_finish(&report, &error);
}

int app_study_run(int argc, char** argv) {
    return run_or_resume(&app_study_run_command, false, argc, argv);
}

int app_study_resume(int argc, char** argv) {
    return run_or_resume(&app_study_resume_command, true, argc, argv);
}

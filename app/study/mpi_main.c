// lash-mpi study run | resume: a study on many machines. The only file that sees MPI.
//
// Rank 0 owns the store and hands out numbers of samples; every rank, rank 0 included, runs samples
// one at a time and reports them as they finish. Only the main thread of a rank talks to MPI. A
// rank that dies ends the job, as MPI wants it; 'resume' runs what is missing.
//
//   rank r -> 0  REPORT: finished samples (none the first time), asks for more
//   rank 0 -> r  WORK:   numbers of samples; none: the end
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/study/study_command.h"
#include "core/arena.h"

enum { TAG_REPORT = 1, TAG_WORK = 2, MOST_CHUNK = 64 };

// ---- the study on all ranks ---------------------------------------------------------------------

static char* share_text(const char* text) { // from rank 0 to all
    int rank = 0, bytes = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) bytes = (int)strlen(text) + 1;
    MPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    char* copy = lash_alloc((size_t)bytes);
    if (rank == 0) memcpy(copy, text, (size_t)bytes);
    MPI_Bcast(copy, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    return copy;
}

static void send_study(LashStore* store, const LashStudy* study) {
    lash_free(share_text(study->file));
    lash_free(share_text(lash_store_text(store, "study_text")));
    lash_free(share_text(lash_store_text(store, "model_text")));
    lash_free(share_text(lash_store_text(store, "list_text")));
    uint64_t numbers[2] = {study->seed, (uint64_t)lash_store_samples(store)};
    MPI_Bcast(numbers, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

static LashStudy* receive_study(LashError* error) {
    char* file = share_text(NULL);
    char* text = share_text(NULL);
    char* model = share_text(NULL);
    char* list = share_text(NULL);
    uint64_t numbers[2] = {0, 0};
    MPI_Bcast(numbers, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    LashStudySource source = {.file = file,
                              .text = text,
                              .model_text = model[0] != '\0' ? model : NULL,
                              .list_text = list[0] != '\0' ? list : NULL};
    LashStudyOverride change = {.samples = (int)numbers[1], .has_seed = true, .seed = numbers[0]};
    LashStudy* study = lash_study_parse(&source, &change, error);
    lash_free(file);
    lash_free(text);
    lash_free(model);
    lash_free(list);
    return study;
}

// ---- messages -----------------------------------------------------------------------------------

static size_t sample_bytes(const LashStudy* study) {
    return sizeof(LashSample) + (size_t)(study->parameters + study->outputs) * sizeof(double);
}

static void pack_sample(const LashStudy* study, const LashSample* sample, char* to) {
    size_t x = (size_t)study->parameters * sizeof(double);
    memcpy(to, sample, sizeof *sample);
    memcpy(to + sizeof *sample, sample->x, x);
    memcpy(to + sizeof *sample + x, sample->y, (size_t)study->outputs * sizeof(double));
}

static LashSample* unpack_sample(const LashStudy* study, const char* from) {
    LashSample* sample = lash_sample_create(study);
    double *x = sample->x, *y = sample->y;
    size_t bytes = (size_t)study->parameters * sizeof(double);
    memcpy(sample, from, sizeof *sample);
    sample->x = x;
    sample->y = y;
    memcpy(x, from + sizeof *sample, bytes);
    memcpy(y, from + sizeof *sample + bytes, (size_t)study->outputs * sizeof(double));
    return sample;
}

// ---- ranks 1, 2, ... ----------------------------------------------------------------------------

static void serve(const LashStudy* study, int rank) {
    LashSampler* sampler = lash_sampler_create(study);
    LashSample* sample = lash_sample_create(study);
    size_t each = sample_bytes(study);
    char* report = lash_alloc(each * MOST_CHUNK);
    int64_t ids[MOST_CHUNK];
    int count = 0;
    sample->worker = rank;
    do {
        MPI_Send(report, (int)(each * (size_t)count), MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
        MPI_Status status;
        MPI_Recv(ids, MOST_CHUNK, MPI_INT64_T, 0, TAG_WORK, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT64_T, &count);
        for (int i = 0; i < count; ++i) {
            lash_sample_run(sampler, ids[i], sample);
            pack_sample(study, sample, report + each * (size_t)i);
        }
    } while (count > 0);
    lash_free(report);
    lash_sample_destroy(sample);
    lash_sampler_destroy(sampler);
}

// ---- rank 0 -------------------------------------------------------------------------------------

typedef struct Master {
    const LashStudy* study;
    LashSchedule* schedule;
    bool* waiting;  // (size) asked, not answered yet
    int size, open; // ranks that have not been told the end
    double sample_time;
    char* report;
} Master;

static void take_report(Master* m, const MPI_Status* found) {
    int bytes = 0;
    size_t each = sample_bytes(m->study);
    MPI_Get_count(found, MPI_BYTE, &bytes);
    MPI_Recv(m->report, bytes, MPI_BYTE, found->MPI_SOURCE, TAG_REPORT, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    for (size_t at = 0; at + each <= (size_t)bytes; at += each) {
        LashSample* sample = unpack_sample(m->study, m->report + at);
        m->sample_time =
            m->sample_time == 0 ? sample->wall : 0.9 * m->sample_time + 0.1 * sample->wall;
        lash_schedule_give(m->schedule, sample);
    }
    m->waiting[found->MPI_SOURCE] = true;
}

// As many samples as take about 20 ms, so that messages cost little.
static int chunk(const Master* m) {
    if (!(m->sample_time > 0)) return 1;
    return (int)fmin(fmax(0.02 / m->sample_time, 1), MOST_CHUNK);
}

static void answer(Master* m) {
    for (int r = 1; r < m->size; ++r) {
        int64_t ids[MOST_CHUNK];
        if (!m->waiting[r]) continue;
        int count = lash_schedule_take(m->schedule, ids, chunk(m));
        if (count == 0) return; // none ready: they wait
        if (count < 0) {
            count = 0;
            --m->open;
        }
        MPI_Send(ids, count, MPI_INT64_T, r, TAG_WORK, MPI_COMM_WORLD);
        m->waiting[r] = false;
    }
}

static void lead(Master* m, StudyOutcome* outcome) {
    const struct timespec pause = {.tv_nsec = 200000};
    AppProgress progress = app_progress_start();
    bool stopped = false;
    do {
        int found = 1;
        MPI_Status status;
        for (;;) {
            MPI_Iprobe(MPI_ANY_SOURCE, TAG_REPORT, MPI_COMM_WORLD, &found, &status);
            if (!found) break;
            take_report(m, &status);
        }
        lash_schedule_hands(m->schedule, 1 + (m->size - 1) * chunk(m));
        answer(m);
        outcome->state = lash_schedule_wait(m->schedule, 0);
        app_progress_update(&progress, (double)outcome->state.done / (double)outcome->state.planned,
                            "samples on all ranks");
        if (app_interrupted() && !stopped) {
            lash_schedule_stop(m->schedule);
            outcome->interrupted = stopped = true;
        }
        nanosleep(&pause, NULL);
    } while (!outcome->state.finished || m->open > 0);
    app_progress_clear(&progress);
}

static void run_all(const LashStudy* study, LashStore* store, StudyOutcome* outcome,
                    LashError* error) {
    Master m = {.study = study, .size = outcome->workers, .open = outcome->workers - 1};
    m.waiting = lash_alloc((size_t)m.size * sizeof *m.waiting);
    m.report = lash_alloc(sample_bytes(study) * MOST_CHUNK);
    m.schedule = lash_schedule_start(store, study, 1, error);
    LASH_ASSERT(m.schedule != NULL);
    lead(&m, outcome);
    outcome->state = lash_schedule_end(m.schedule);
    *error = outcome->state.error;
    lash_free(m.waiting);
    lash_free(m.report);
}

static int master(const StudyTask* task, int size) {
    LashError error = {0};
    LashStudy* study = NULL;
    LashStore* store = NULL;
    StudyOutcome outcome = {.workers = size};
    app_catch_interrupt();
    int good = study_open(task, &study, &store, &error);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good) {
        double start = app_wall_clock(), cpu = study_cpu_clock();
        send_study(store, study);
        run_all(study, store, &outcome, &error);
        outcome.wall = app_wall_clock() - start;
        outcome.cpu = study_cpu_clock() - cpu;
    }
    return study_finish(task, study, store, &outcome, &error);
}

static int worker(int rank) {
    int good = 0;
    LashError error = {0};
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!good) return 0;
    LashStudy* study = receive_study(&error);
    if (study == NULL) {
        app_report_print_error(&error);
        MPI_Abort(MPI_COMM_WORLD, error.status);
        return (int)error.status;
    }
    serve(study, rank);
    lash_study_destroy(study);
    return 0;
}

static int start(int rank, int size, int argc, char** argv) {
    bool resume = argc >= 3 && strcmp(argv[2], "resume") == 0;
    bool known =
        argc >= 3 && strcmp(argv[1], "study") == 0 && (resume || strcmp(argv[2], "run") == 0);
    StudyOptions o = study_options();
    StudyTask task;
    LashError error = {0};
    int code = LASH_ERROR_USAGE;
    if (rank != 0) return worker(rank);
    if (!known) {
        fprintf(stderr, "usage: mpirun [...] lash-mpi study run STUDY | study resume STORE.db\n");
    } else {
        code = app_options_parse(resume ? &app_study_resume_command : &app_study_run_command,
                                 argc - 2, argv + 2, &o);
        if (code < 0 && study_task(&o, resume, &task, &error)) return master(&task, size);
        if (code < 0) {
            AppReport report = app_report("study run", o.json);
            code = app_report_finish(&report, &error);
        }
    }
    int good = 0;
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

int main(int argc, char** argv) {
    int provided = 0, rank = 0, size = 1;
    app_text_guard_stdout();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int code = start(rank, size, argc, argv);
    MPI_Finalize();
    return code;
}

// lash study ...: shared by its commands, and by lash-mpi.
#ifndef LASH_APP_STUDY_STUDY_COMMAND_H
#define LASH_APP_STUDY_STUDY_COMMAND_H

#include <limits.h>

#include "app/cli/options.h"
#include "app/study/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StudyOptions {
    AppOperands operands;
    const char *output, *shard, *seed, *csv, *of;
    int jobs, samples, points; // STUDY_NOT_GIVEN, or what stands in the command
    bool json, canonical, csv_dump, from_pmi;
    double limit; // NAN: not given
} StudyOptions;
enum { STUDY_NOT_GIVEN = INT_MIN };
StudyOptions study_options(void);

extern const AppCommand app_study_run_command, app_study_resume_command, app_study_plan_command,
    app_study_merge_command, app_study_dump_command, app_study_report_command,
    app_study_worst_command, app_study_compare_command;

int app_study(int argc, char** argv);
// A study file with hole and shaft of every parameter of a model that is given by a fit.
bool study_from_pmi(const char* model_file, const char* output, int* parameters, LashError* error);
int app_study_run(int argc, char** argv);
int app_study_resume(int argc, char** argv);
int app_study_report(int argc, char** argv);
int app_study_worst(int argc, char** argv);
int app_study_compare(int argc, char** argv);
int app_bench_study(int argc, char** argv);

// What a run is asked to do, checked.
typedef struct StudyTask {
    const StudyOptions* options;
    bool resume; // the operand is a store or a study that has one
    LashStudyOverride change;
    LashShard shard;
    char store_path[1024];
} StudyTask;
bool study_task(const StudyOptions* options, bool resume, StudyTask* task, LashError* error);

// Study and store of a task, with suspicious samples already run alone.
bool study_open(const StudyTask* task, LashStudy** study, LashStore** store, LashError* error);

typedef struct StudyOutcome {
    LashScheduleState state;
    int64_t counts[LASH_SAMPLE_STATUSES];
    double wall, cpu; // [s]
    int workers;
    bool interrupted;
} StudyOutcome;
// Counts the rows, closes the store, frees both (NULL is allowed), prints the result of a run and
// returns the exit code.
int study_finish(const StudyTask* task, LashStudy* study, LashStore* store, StudyOutcome* outcome,
                 LashError* error);

// The store that a command's operand means: itself, or the default of a study file.
void study_store_path(const char* operand, const char* output, char* path, size_t size);

// Worker threads or processes: as asked, or one per core.
// Warns of units of outputs that are not those the numbers are in: they are labels.
void study_warn_units(const LashStudy* study);
int study_jobs(const StudyOptions* options);

double study_cpu_clock(void); // of this process, all threads [s]

#ifdef __cplusplus
}
#endif
#endif

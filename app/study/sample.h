// One sample of a study: from parameters to outputs.
#ifndef LASH_APP_STUDY_SAMPLE_H
#define LASH_APP_STUDY_SAMPLE_H

#include "app/study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashSampleStatus { // names are in the store: do not renumber
    LASH_SAMPLE_OK,
    LASH_SAMPLE_FAILED,  // a step did not reach its tolerances
    LASH_SAMPLE_REFUSED, // the model cannot start with these parameters
    LASH_SAMPLE_LIMIT,   // over the steps or iterations of the study
    LASH_SAMPLE_TIME,    // over the wall clock of the study; not reproducible
    LASH_SAMPLE_CRASHED, // the process died
    LASH_SAMPLE_STATUSES
} LashSampleStatus;
const char* lash_sample_status_name(LashSampleStatus status);
int lash_sample_status_find(const char* name); // -1: none

// What a sample spends its processor time on.
typedef enum LashSamplePart {
    LASH_SPENT_MODEL,  // reads the model with the sample's parameters
    LASH_SPENT_BUILD,  // builds the mechanism
    LASH_SPENT_CREATE, // reserves the run's memory
    LASH_SPENT_START,  // checks the start, prepares the outputs
    LASH_SPENT_STEPS,  // simulates and measures
    LASH_SPENT_END,    // computes outputs, frees
    LASH_SPENT_PARTS
} LashSamplePart;
const char* lash_sample_part_name(LashSamplePart part);

typedef struct LashSample {
    int64_t id;
    LashSampleStatus status;
    char reason[400];                                // empty when all is well
    int64_t steps, iterations;                       // steps done; Newton + solver
    double penetration, joint_error, velocity_error; // largest over all steps [m], [m, rad], [m/s]
    double wall;                                     // [s]
    double spent[LASH_SPENT_PARTS];                  // processor time of the thread [s]; not stored
    int worker;
    double *x, *y; // (parameters), (outputs); NAN: did not happen
} LashSample;

LashSample* lash_sample_create(const LashStudy* study);
void lash_sample_destroy(LashSample* sample); // NULL is allowed

// What all workers share.
typedef struct LashSampler {
    const LashStudy* study;
    bool stop; // set by anyone: samples under way end as they are and are not kept
} LashSampler;
LashSampler* lash_sampler_create(const LashStudy* study); // borrows study
void lash_sampler_destroy(LashSampler* sampler);

// Runs sample `id`. False: it was told to stop.
bool lash_sample_run(LashSampler* sampler, int64_t id, LashSample* sample);

// Runs the point x (parameters), which is none of the plan, under this number.
bool lash_sample_run_at(LashSampler* sampler, int64_t id, const double* x, LashSample* sample);

double lash_thread_clock(void); // processor time of the calling thread [s]

// "lash view MODEL --set a=.. --set b=..": shows the sample again. Returns text.
char* lash_sample_replay(const LashStudy* study, const double* x, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif

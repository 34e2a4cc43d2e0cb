// Runs the samples of a study that its store lacks: worker threads, one writer.
#ifndef LASH_APP_STUDY_SCHEDULE_H
#define LASH_APP_STUDY_SCHEDULE_H

#include "app/study/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashSchedule LashSchedule;

typedef struct LashScheduleState {
    int64_t planned;                // samples of this store
    int64_t done;                   // rows finished, earlier ones included
    int64_t ran;                    // by this schedule
    int64_t not_ok;                 // of those: rows with another status than ok
    bool finished;                  // nothing is left to do, or it was stopped
    double sampling;                // sum of the wall times of the samples it ran [s]
    double spent[LASH_SPENT_PARTS]; // sums of their processor times [s]
    double working, writing;        // processor time of the threads, of the writer [s]
    double waiting;                 // wall time of the threads between two samples [s]
    double blocked;  // wall time of the threads neither running nor waiting for a core [s]; NAN:
                     // this system does not tell
    double commits;  // transactions
    LashError error; // of the store
} LashScheduleState;

// Rows marked running were under way when a process died: each is run again alone in a child
// process, up to `at_once` of them at a time, whose death becomes a row. Call before
// lash_schedule_start.
bool lash_schedule_isolate(LashStore* store, const LashStudy* study, int at_once, LashError* error);

// Runs `count` points x (count x parameters) that are not in the plan, numbered from `first`, each
// alone in a child process, up to `at_once` at a time. sample (count): filled with what the caller
// destroys; NULL stays where an interrupt came first.
bool lash_isolate_points(const LashStudy* study, const double* x, int64_t first, int count,
                         int at_once, LashSample** sample, LashError* error);

// Starts `workers` threads (0: samples are only handed out) and the writer. Borrows everything.
LashSchedule* lash_schedule_start(LashStore* store, const LashStudy* study, int workers,
                                  LashError* error);
// Hands out up to `most` samples to run elsewhere: their count, 0: none at the moment, -1: none
// will come.
int lash_schedule_take(LashSchedule* schedule, int64_t* ids, int most);
// How many samples are wanted at once, when others than the threads take some.
void lash_schedule_hands(LashSchedule* schedule, int hands);
// Takes a sample that was run elsewhere; owns it from now on.
void lash_schedule_give(LashSchedule* schedule, LashSample* sample);
// Waits up to `seconds` for the end.
LashScheduleState lash_schedule_wait(LashSchedule* schedule, double seconds);
// Ends early: what is finished is kept, what is under way is given up.
void lash_schedule_stop(LashSchedule* schedule);
// Joins all threads and frees it.
LashScheduleState lash_schedule_end(LashSchedule* schedule);

#ifdef __cplusplus
}
#endif
#endif

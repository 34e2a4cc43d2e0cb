// The worst case: a search over the box of tolerances, from the worst samples. It is no statistic.
#ifndef LASH_APP_STUDY_WORST_H
#define LASH_APP_STUDY_WORST_H

#include "app/cli/json_writer.h"
#include "app/study/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashWorstSide { LASH_WORST_LOW = -1, LASH_WORST_HIGH = 1 } LashWorstSide;

typedef struct LashWorstCase {
    int output;
    LashWorstSide side;  // which end of the output is bad
    double value;        // the worst found; NAN: it never happened
    const double* x;     // (parameters) where; lives as long as rows and samples
    bool is_sample;      // nothing worse than the worst sample was found
    int64_t sample;      // number of the worst sample
    double sample_value; // NAN: it never happened
    int64_t points;      // run by the search of this case
    int64_t unusable;    // of those: did not start or did not end
    bool complete;       // the search ended by itself, not by its budget or an interrupt
} LashWorstCase;

// Runs `count` points x (count x parameters) and adds them to rows in their order; fewer when it was
// interrupted. False with error.
typedef bool LashWorstRun(void* context, const double* x, int count, LashError* error);

typedef struct LashWorstSearch {
    const LashStudy* study;
    const LashStoreTable* samples;
    const LashStoreTable* rows; // points run so far, by number; grows by `run`
    LashWorstRun* run;          // NULL: only what is in rows counts
    void* context;
    int64_t budget; // points of one case; 0: lash_worst_budget
} LashWorstSearch;

int64_t lash_worst_budget(const LashStudy* study);

// Ends of parameter k in the box: the tolerance zone, or as far as a sample went.
void lash_worst_box(const LashWorstSearch* search, int k, double* low, double* high);

// The case of one output and side. False with error; *result is filled in any case as far as it is
// known. No sample has that output: result->x is NULL.
bool lash_worst_find(const LashWorstSearch* search, int output, LashWorstSide side,
                     LashWorstCase* result, LashError* error);

// The sides of an output that are looked at: those of its limits, both when it has none. Returns
// their number.
int lash_worst_sides(const LashStudy* study, int output, LashWorstSide side[2]);

// The case as one JSON object.
void lash_worst_put(AppJson* json, const LashWorstSearch* search, const LashWorstCase* worst);

#ifdef __cplusplus
}
#endif
#endif

// What the rows of a store say: everything that the page, the CSV file and the JSON document show.
#ifndef LASH_APP_STUDY_ANALYSIS_H
#define LASH_APP_STUDY_ANALYSIS_H

#include <stdio.h>

#include "app/cli/json_writer.h"
#include "app/study/assumptions.h"
#include "app/study/outline.h"
#include "app/study/sensitivity.h"
#include "app/study/store.h"
#include "app/study/tighten.h"
#include "app/study/worst.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_PERCENTILES = 9, LASH_WORST = 10, LASH_EFFECT_BINS = 10, LASH_CONVERGENCE = 16 };
extern const double lash_analysis_percentile[LASH_PERCENTILES]; // in [0, 1]

typedef struct LashConvergencePoint {
    int64_t n;         // samples, those included in which it never happened
    double mean, half; // half width of the 95 % interval of the mean
    double share;      // out of specification, NAN: no limits
    LashInterval share_ci;
} LashConvergencePoint;

typedef struct LashParameterEffect { // of one active parameter on one output
    int parameter;                   // of the study
    LashContribution contribution;
    LashSobolIndex sobol;
    LashMorrisEffect morris;
    LashBin bin[LASH_EFFECT_BINS]; // main effect
    int bins;
    double low, high;           // output at the low and at the high end of the parameter
    double importance;          // what ranks it: see LashAnalysis.ranked_by
    LashInterval importance_ci; // 95 %; NAN: not known
    LashFiner finer;            // made one grade finer
} LashParameterEffect;

// Parameters of one part, or of one joint, together.
typedef struct LashGroup {
    const char* name; // of the part or joint
    double share;     // sum of the shares of its parameters
    int members;
} LashGroup;

typedef struct LashOutputAnalysis {
    const char *name, *unit;
    double lsl, usl;
    LashMoments moments;
    double percentile[LASH_PERCENTILES];
    LashCapability capability;
    LashNormality normality;
    int distinct;    // different values: 0, 1, 2; 3: more
    int64_t missing; // samples that ended well without this output (never happened)
    int64_t out;     // outside the limits, or missing while there are limits
    double share, fitted;
    LashInterval share_ci, fitted_ci;
    double *value, *sorted;      // (moments.n) in the order of the plan; rising
    int64_t* row;                // (moments.n) of the table
    int64_t* missing_row;        // (missing) of the table
    LashParameterEffect* effect; // (active) most important first
    double r2;                   // of the linear model
    double noise;                // shares of the variance below it may be chance, NAN: not known
    int64_t base_used;           // Saltelli: base points without a failed row
    double together;             // sum of the shares of all parameters (Saltelli: first order), NAN
    LashGroup *part, *joint;     // (parts), (joints) largest share first
    int parts, joints;
    LashChain chain;  // linear: sigma by root sum square, arithmetic worst case
    double chain_out; // share out of spec of a normal with that sigma; NAN: no limits
    char note[240];   // why shares are more than 100 %, together or one alone; or empty
    LashConvergencePoint convergence[LASH_CONVERGENCE];
    int convergence_points;
    int64_t worst[LASH_WORST]; // rows of the table; where it never happened comes first
    int worsts;
} LashOutputAnalysis;

typedef struct LashAnalysis {
    const LashStudy* study;
    const LashStoreTable* table;
    LashOutline* outline;
    LashAssumptions* assumptions;
    LashStoreTable* worst_rows; // points of the search for the worst case
    LashWorstCase* worst_case;  // (worst_cases) of outputs that were searched
    int worst_cases;
    int64_t counts[LASH_SAMPLE_STATUSES], planned;
    bool sample;           // the rows are a random sample: shares and capabilities mean something
    bool shares;           // importance is a share of the variance, else a change of the output
    const char* ranked_by; // what importance is
    const char* ranking;   // and what it means, in a sentence
    LashOutputAnalysis* output;
    double steps, wall, penetration; // sums and largest
} LashAnalysis;

// Borrows study and table; reads what else it needs from the store. NULL with error.
LashAnalysis* lash_analysis_create(const LashStudy* study, const LashStoreTable* table,
                                   LashStore* store, LashError* error);
void lash_analysis_destroy(LashAnalysis* analysis); // NULL is allowed

// Keys of `lash study report --json`.
void lash_analysis_put(AppJson* json, const LashAnalysis* analysis);
// One line per sample: parameters, outputs, status.
void lash_analysis_print_csv(const LashAnalysis* analysis, FILE* file);
bool lash_analysis_write_csv(const LashAnalysis* analysis, const char* path, LashError* error);
// The page.
bool lash_analysis_write_html(const LashAnalysis* analysis, const LashStore* store,
                              const char* path, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

// A study file ("lash-study/1") as plain data: which parameters vary and how, what is measured, and
// the plan of its samples.
#ifndef LASH_APP_STUDY_STUDY_H
#define LASH_APP_STUDY_STUDY_H

#include <stdint.h>

#include "app/model/model.h"
#include "app/study/design.h"
#include "app/study/distribution.h"
#include "core/expression.h"

#ifdef __cplusplus
extern "C" {
#endif

// A fit stands for two sizes: which one a parameter is.
typedef enum LashStudySide { LASH_SIDE_NONE, LASH_SIDE_HOLE, LASH_SIDE_SHAFT } LashStudySide;

typedef struct LashStudyParameter {
    bool given;
    char *name, *unit;
    char* fit;  // "10 H7/g6": instead of numbers (study_fits.c); NULL: none
    double cpk; // of a fit; NAN: not given
    int type;   // LashDistributionType
    double low, high, mean, sigma, mode, value, nominal; // NAN: not given
    double *values, *probabilities;
    int value_count, probability_count;
    int levels; // of this parameter in a grid or one-at-a-time design; 0: as the design says
    // resolved
    char* sets;         // the model's parameter
    int source;         // number in the file
    LashStudySide side; // the shaft of a fit stands behind its hole
    LashDistribution distribution;
    int active; // number among the parameters that vary, -1: constant
} LashStudyParameter;

typedef struct LashStudyCorrelation {
    bool given;
    char *a, *b;
    double rho;
} LashStudyCorrelation;

typedef struct LashStudyDesign {
    bool given;
    int type;    // LashDesignType
    int samples; // random, latin-hypercube, sobol: rows; saltelli: base points; morris: paths
    int levels;
    int64_t seed; // to 2^53
    char* file;   // list
} LashStudyDesign;

typedef struct LashStudyOutput {
    LashModelOutput measured; // keys of a model's output; quantity NULL: not measured by the study
    char *output, *expression, *unit; // a model's output, or an expression
    double lsl, usl;                  // NAN: none
    // resolved
    LashExpression* compiled; // of `expression`
    int model_index;          // in the model's outputs (its own and added ones), -1: expression
} LashStudyOutput;

typedef struct LashStudyLimits {
    bool given;
    double steps, iterations, seconds; // per sample; INFINITY: none
} LashStudyLimits;

typedef struct LashStudy {
    bool given;
    char *format, *schema, *name, *description, *model_file;
    LashStudyParameter* parameter;
    LashStudyCorrelation* correlation;
    LashStudyOutput* output;
    int parameters, correlations, outputs;
    LashStudyDesign design;
    LashStudyLimits limits;
    // resolved
    const char* file; // as given to load
    const char* text;
    size_t text_bytes;
    uint64_t seed;
    int64_t samples;   // rows of the plan
    int active;        // parameters that vary
    int64_t base;      // saltelli: base points; morris: paths; else samples
    int block_size;    // saltelli: base points that share one scrambling
    uint32_t* sobol;   // direction numbers
    double* cholesky;  // (active x active) of the correlated normals, NULL: independent
    double* list;      // (samples x parameters) of a list
    LashModel* model;  // nominal, NULL: outputs are expressions of the parameters alone
    char* model_path;  // as the study's folder and model_file give it
    LashModel* memory; // owns everything above that was read
} LashStudy;

// What the command line changes.
typedef struct LashStudyOverride {
    int samples; // 0: as in the file
    bool has_seed;
    uint64_t seed;
} LashStudyOverride;

// Reads and checks a whole study, its model included. NULL with error. The caller destroys it.
LashStudy* lash_study_load(const char* file, const LashStudyOverride* change, LashError* error);
// The same from a text. Files it names stand relative to `file`. model_text, list_text: used
// instead of the files (NULL: read them).
typedef struct LashStudySource {
    const char *file, *text, *model_text, *list_text;
    bool plan_only; // without its model: enough to tell what rows mean, not to run samples
} LashStudySource;
LashStudy* lash_study_parse(const LashStudySource* source, const LashStudyOverride* change,
                            LashError* error);
void lash_study_destroy(LashStudy* study); // NULL is allowed

// Values of all parameters in sample i of the plan; x (parameters), in the units of the model.
void lash_study_point(const LashStudy* study, int64_t i, double* x);

// The model's parameter that parameter k sets, and its value at x (parameters): the parameter
// itself, or the radial play of a fit at its hole. NULL: none (the shaft of a fit).
const char* lash_study_set(const LashStudy* study, const double* x, int k, double* value);
// Does every shaft enter its hole? False with error, which says the diameters.
bool lash_study_fits_enter(const LashStudy* study, const double* x, LashError* error);

// Rows of the plan that are a random sample of the parameters (a Saltelli plan has others, too);
// statistics are taken over them. False for designs that are none.
bool lash_study_is_sample(const LashStudy* study);
bool lash_study_counts(const LashStudy* study, int64_t i);

// Names an expression of output `count` may use, in order: parameters, outputs of the model,
// quantities of the run, outputs of the study before it. Fills at most capacity; returns the
// number.
enum { LASH_STUDY_RUN_QUANTITIES = 8 };
extern const char* const lash_study_run_quantity[LASH_STUDY_RUN_QUANTITIES];
int lash_study_names(const LashStudy* study, int count, const char** names, int capacity);

const char* lash_design_name(LashDesignType type);
bool lash_study_design_is(const LashStudy* study, LashDesignTraits trait);
LashAnalysisKind lash_study_analysis(const LashStudy* study);
const char* lash_distribution_name(LashDistributionType type);
int64_t lash_study_morris_levels(const LashStudy* study);
// Morris: the parameter (number among the active ones) that sample i changes against sample i - 1,
// and its change in units of the whole range; -1 at the first sample of a path.
int lash_study_morris_step(const LashStudy* study, int64_t i, double* change);
// One-at-a-time: the parameter that sample i changes (-1: the nominal sample) and its level.
int lash_study_oat_step(const LashStudy* study, int64_t i, int* level);

#ifdef __cplusplus
}
#endif
#endif

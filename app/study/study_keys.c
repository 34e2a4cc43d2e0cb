// The keys of a study file.
#include <math.h>
#include <string.h>

#include "app/study/study_internal.h"

static const char* const distribution_names[] = {
    "uniform", "normal", "truncated-normal", "triangular", "discrete", "constant", NULL};
static const char* const design_names[] = {
#define X(id, name, ...) [LASH_DESIGN_##id] = name,
    LASH_DESIGN_TABLE(X)
#undef X
        [LASH_DESIGNS] = NULL};
static const char* const study_format[] = {"lash-study/1", NULL};

const char* lash_design_name(LashDesignType type) {
    return design_names[type];
}

const char* lash_distribution_name(LashDistributionType type) {
    return distribution_names[type];
}

#define PARAMETER(member) .key = #member, .offset = offsetof(LashStudyParameter, member)
static const KeySpec parameter_keys[] = {
    {PARAMETER(name), .type = KEY_TEXT, .required = true, .help = "a parameter of the model"},
    {.key = "distribution",
     .offset = offsetof(LashStudyParameter, type),
     .type = KEY_CHOICE,
     .choices = distribution_names,
     .required = true,
     .help = "how it varies"},
    {PARAMETER(fit), .type = KEY_TEXT,
     .help = "instead of numbers: \"10 H7/g6\" makes NAME.hole and NAME.shaft, NAME is the radial "
             "play; \"10 H7\", \"120 ISO 2768-m\": a size"},
    {PARAMETER(cpk), .type = KEY_NUMBER,
     .help = "normal with fit: sigma = width of the zone / (6 cpk), default 1.33"},
    {PARAMETER(unit), .type = KEY_TEXT, .help = "label for the report; values are in the model's"},
    {PARAMETER(low), .type = KEY_NUMBER, .help = "uniform, truncated-normal, triangular: least"},
    {PARAMETER(high), .type = KEY_NUMBER, .help = "uniform, truncated-normal, triangular: largest"},
    {PARAMETER(mean), .type = KEY_NUMBER, .help = "normal, truncated-normal (before truncation)"},
    {PARAMETER(sigma), .type = KEY_NUMBER, .help = "normal, truncated-normal: standard deviation"},
    {PARAMETER(mode), .type = KEY_NUMBER, .help = "triangular: the most frequent value"},
    {PARAMETER(values), .type = KEY_NUMBERS,
     .count_offset = offsetof(LashStudyParameter, value_count),
     .help = "discrete: the values; grid and one-at-a-time: instead of levels"},
    {PARAMETER(probabilities), .type = KEY_NUMBERS, .range = RANGE_NOT_NEGATIVE,
     .count_offset = offsetof(LashStudyParameter, probability_count),
     .help = "discrete: one weight per value, default equal"},
    {PARAMETER(value), .type = KEY_NUMBER, .help = "constant"},
    {PARAMETER(nominal), .type = KEY_NUMBER,
     .help = "one-at-a-time: the value while others vary; default the distribution's center"},
    {PARAMETER(levels), .type = KEY_INTEGER, .range = RANGE_POSITIVE,
     .help = "grid, one-at-a-time: number of values of this parameter"},
};
static void parameter_defaults(void* target) {
    LashStudyParameter* study_parameter = target;
    study_parameter->low = study_parameter->high = study_parameter->mean = study_parameter->sigma =
        study_parameter->mode = study_parameter->value = study_parameter->nominal =
            study_parameter->cpk = NAN;
}
static const KeyTable parameter_table = {.what = "a parameter",
                                         .key = parameter_keys,
                                         .keys = sizeof parameter_keys / sizeof *parameter_keys,
                                         .size = sizeof(LashStudyParameter),
                                         .defaults = parameter_defaults};

#define CORRELATION(member) .key = #member, .offset = offsetof(LashStudyCorrelation, member)
static const KeySpec correlation_keys[] = {
    {CORRELATION(a), .type = KEY_TEXT, .required = true, .help = "a parameter"},
    {CORRELATION(b), .type = KEY_TEXT, .required = true, .help = "another parameter"},
    {CORRELATION(rho), .type = KEY_NUMBER, .required = true,
     .help = "correlation of the two, in (-1, 1); of the normals behind other distributions"},
};
static const KeyTable correlation_table = {
    .what = "a correlation",
    .key = correlation_keys,
    .keys = sizeof correlation_keys / sizeof *correlation_keys,
    .size = sizeof(LashStudyCorrelation)};

#define DESIGN(member) .key = #member, .offset = offsetof(LashStudyDesign, member)
static const KeySpec design_keys[] = {
    {DESIGN(type), .type = KEY_CHOICE, .choices = design_names, .required = true,
     .help = "how the samples are chosen"},
    {DESIGN(samples), .type = KEY_INTEGER, .range = RANGE_POSITIVE,
     .help = "number of samples; saltelli: base points, each costs parameters + 2 samples; morris: "
             "paths, each costs parameters + 1"},
    {DESIGN(levels), .type = KEY_INTEGER, .range = RANGE_POSITIVE,
     .help = "grid, one-at-a-time (default 3): values per parameter; morris (default 8): even"},
    {DESIGN(seed), .type = KEY_LONG, .range = RANGE_NOT_NEGATIVE,
     .help = "whole number to 2^53, default 1; --seed takes any to 2^64 - 1"},
    {DESIGN(file), .type = KEY_TEXT,
     .help = "list: CSV file, first line the names of parameters, relative to the study"},
};
static void design_defaults(void* target) {
    LashStudyDesign* study_design = target;
    study_design->seed = 1;
}
static const KeyTable design_table = {.what = "the design",
                                      .key = design_keys,
                                      .keys = sizeof design_keys / sizeof *design_keys,
                                      .size = sizeof(LashStudyDesign),
                                      .defaults = design_defaults};

static const char* const when_names[] = {"final",          "max", "min", "mean", "rms", "integral",
                                         "first-crossing", NULL};
static const char* const direction_names[] = {"any", "up", "down", NULL};

#define OUTPUT(member) .key = #member, .offset = offsetof(LashStudyOutput, member)
#define MEASURED(member) .key = #member, .offset = offsetof(LashStudyOutput, measured.member)
static const KeySpec output_keys[] = {
    {MEASURED(name), .type = KEY_TEXT, .required = true, .help = "unique among the outputs"},
    {OUTPUT(output), .type = KEY_TEXT,
     .help = "the model's output; default the one of the same name"},
    {OUTPUT(expression), .type = KEY_TEXT,
     .help = "instead: of parameters, the model's outputs, earlier outputs of the study and "
             "run.impacts, run.dissipated, ..."},
    {OUTPUT(unit), .type = KEY_TEXT, .help = "label for the report"},
    {OUTPUT(lsl), .type = KEY_NUMBER, .help = "lower specification limit"},
    {OUTPUT(usl), .type = KEY_NUMBER, .help = "upper specification limit"},
    {MEASURED(quantity), .type = KEY_TEXT, .help = "measured by the study, as in a model"},
    {MEASURED(of), .type = KEY_TEXT, .help = "with quantity: part, joint or contact"},
    {MEASURED(coordinate), .type = KEY_TEXT, .help = "with quantity: coordinate of the joint"},
    {MEASURED(when), .type = KEY_CHOICE, .choices = when_names, .help = "with quantity"},
    {MEASURED(level), .type = KEY_NUMBER, .help = "with quantity: of a first-crossing"},
    {MEASURED(direction), .type = KEY_CHOICE, .choices = direction_names,
     .help = "with quantity: of a first-crossing"},
    {MEASURED(point), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "with quantity: point of the part"},
};
static void output_defaults(void* target) {
    LashStudyOutput* output = target;
    output->lsl = output->usl = output->measured.level = output->measured.point.x = NAN;
    output->model_index = -1;
}
static const KeyTable output_table = {.what = "an output",
                                      .key = output_keys,
                                      .keys = sizeof output_keys / sizeof *output_keys,
                                      .size = sizeof(LashStudyOutput),
                                      .defaults = output_defaults};

#define LIMIT(member) .key = #member, .offset = offsetof(LashStudyLimits, member)
static const KeySpec limit_keys[] = {
    {LIMIT(steps), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "time steps and sub-steps of one sample"},
    {LIMIT(iterations), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "Newton and solver iterations of one sample"},
    {LIMIT(seconds), .type = KEY_NUMBER, .range = RANGE_POSITIVE,
     .help = "wall clock of one sample; such rows are left out of canonical dumps"},
};
static void limit_defaults(void* target) {
    LashStudyLimits* limits = target;
    limits->steps = limits->iterations = limits->seconds = INFINITY;
}
static const KeyTable limit_table = {.what = "the limits",
                                     .key = limit_keys,
                                     .keys = sizeof limit_keys / sizeof *limit_keys,
                                     .size = sizeof(LashStudyLimits),
                                     .defaults = limit_defaults};

#define ROOT(member) .key = #member, .offset = offsetof(LashStudy, member)
static const KeySpec root_keys[] = {
    {ROOT(format), .type = KEY_TEXT, .choices = study_format, .required = true,
     .help = "\"lash-study/1\""},
    {.key = "$schema",
     .offset = offsetof(LashStudy, schema),
     .type = KEY_TEXT,
     .help = "where an editor finds the output of 'lash schema study'; not used"},
    {ROOT(name), .type = KEY_TEXT, .help = "title of the report"},
    {ROOT(description), .type = KEY_TEXT, .help = "what the study asks"},
    {.key = "model",
     .offset = offsetof(LashStudy, model_file),
     .type = KEY_TEXT_OR_NULL,
     .required = true,
     .help = "model file relative to the study; null: outputs are expressions of the parameters"},
    {.key = "parameters",
     .offset = offsetof(LashStudy, parameter),
     .type = KEY_LIST,
     .table = &parameter_table,
     .count_offset = offsetof(LashStudy, parameters),
     .required = true,
     .help = "parameters of the model that vary"},
    {.key = "correlations",
     .offset = offsetof(LashStudy, correlation),
     .type = KEY_LIST,
     .table = &correlation_table,
     .count_offset = offsetof(LashStudy, correlations),
     .help = "pairs of parameters that vary together"},
    {ROOT(design), .type = KEY_OBJECT, .table = &design_table, .required = true,
     .help = "the plan"},
    {.key = "outputs",
     .offset = offsetof(LashStudy, output),
     .type = KEY_LIST,
     .table = &output_table,
     .count_offset = offsetof(LashStudy, outputs),
     .required = true,
     .help = "what is studied, with specification limits"},
    {ROOT(limits), .type = KEY_OBJECT, .table = &limit_table, .help = "of one sample"},
};
static void root_defaults(void* target) {
    LashStudy* study = target;
    design_defaults(&study->design);
    limit_defaults(&study->limits);
}
const KeyTable study_root_table = {.what = "a study",
                                   .key = root_keys,
                                   .keys = sizeof root_keys / sizeof *root_keys,
                                   .size = sizeof(LashStudy),
                                   .defaults = root_defaults};

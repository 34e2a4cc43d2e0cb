// The plan: values of the parameters in sample i, for every design.
//
//   random           u = Philox(seed, i, k)
//   latin-hypercube  u = (permutation_k(i) + Philox) / n: one point in each of n strata
//   sobol            Owen-scrambled Sobol point i
//   one-at-a-time    sample 0 nominal, then each parameter through its levels, others nominal
//   grid             all combinations of the levels, the first parameter fastest
//   morris           path t of k + 1 points: one parameter after the other, in random order, moves
//                    by D = p / (2 (p - 1)) of its range on a grid of p levels (Morris 1991)
//   saltelli         base point b of a scrambled Sobol sequence in 2k dimensions gives A_b and B_b;
//                    rows A, B, AB_1 .. AB_k, where AB_j is A with column j of B (Saltelli 2010).
//                    Coordinates of A and B alternate: early ones fill the cube best. Base points
//                    come in blocks with independent scramblings, which is what makes honest
//                    confidence intervals possible. Nets of fewer than 1024 points gain little
//                    over chance, so that is the size of a block where at least 4 such fit;
//                    otherwise, and at most, there are 16.
//   list             rows of a CSV file
//
// Grids and paths span the support, or mean -+ 3 sigma of a normal.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/study/random.h"
#include "app/study/sobol.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

// ---- levels -------------------------------------------------------------------------------------

static int level_count(const LashStudy* study, const LashStudyParameter* parameter) {
    if (parameter->active < 0) return 1;
    if (parameter->value_count > 0) return parameter->value_count;
    if (parameter->levels > 0) return parameter->levels;
    return study->design.levels > 0 ? study->design.levels : 3;
}

static double level_value(const LashStudy* study, const LashStudyParameter* parameter, int level) {
    double low, high;
    int count = level_count(study, parameter);
    if (parameter->value_count > 0) return parameter->values[level];
    if (count == 1) return parameter->nominal;
    lash_distribution_range(&parameter->distribution, &low, &high);
    return low + (high - low) * level / (count - 1);
}

// Levels that a one-at-a-time design visits: all but the nominal one.
static int other_levels(const LashStudy* study, const LashStudyParameter* parameter) {
    int count = 0;
    if (parameter->active < 0) return 0;
    for (int l = 0; l < level_count(study, parameter); ++l) {
        count += level_value(study, parameter, l) != parameter->nominal;
    }
    return count;
}

int lash_study_oat_step(const LashStudy* study, int64_t i, int* level) {
    *level = -1;
    if (i == 0) return -1;
    int64_t rest = i - 1;
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        int others = other_levels(study, study_parameter);
        if (rest >= others) {
            rest -= others;
            continue;
        }
        for (int l = 0; l < level_count(study, study_parameter); ++l) {
            if (level_value(study, study_parameter, l) == study_parameter->nominal) continue;
            if (rest-- == 0) {
                *level = l;
                return k;
            }
        }
    }
    return -1;
}

static void one_at_a_time_point(const LashStudy* study, int64_t i, double* x) {
    int level;
    int changed = lash_study_oat_step(study, i, &level);
    for (int k = 0; k < study->parameters; ++k) x[k] = study->parameter[k].nominal;
    if (changed >= 0) x[changed] = level_value(study, &study->parameter[changed], level);
}

static void grid_point(const LashStudy* study, int64_t i, double* x) {
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        int count = level_count(study, study_parameter);
        x[k] = study_parameter->active < 0 ? study_parameter->value
                                           : level_value(study, study_parameter, (int)(i % count));
        i /= count;
    }
}

// ---- Morris -------------------------------------------------------------------------------------

int64_t lash_study_morris_levels(const LashStudy* study) {
    return study->design.levels > 0 ? study->design.levels : 8;
}

// Place in the order of a path at which parameter k is moved: random keys, ranked.
static int morris_place(const LashStudy* study, uint64_t path, int k) {
    int place = 0;
    double own = lash_random_uniform(study->seed, LASH_STREAM_MORRIS, (uint32_t)(2 * k), path);
    for (int j = 0; j < study->active; ++j) {
        double other =
            lash_random_uniform(study->seed, LASH_STREAM_MORRIS, (uint32_t)(2 * j), path);
        place += other < own || (other == own && j < k);
    }
    return place;
}

// Start level and direction of parameter k: levels 0 .. p/2 - 1 go up, the others down.
static int morris_start(const LashStudy* study, uint64_t path, int k) {
    return (int)lash_random_below(study->seed, LASH_STREAM_MORRIS, (uint32_t)(2 * k + 1), path,
                                  (uint32_t)lash_study_morris_levels(study));
}

static double morris_change(const LashStudy* study, int start) {
    double p = (double)lash_study_morris_levels(study);
    return (start < p / 2 ? 1 : -1) * 0.5 * p / (p - 1);
}

static void morris_place_of(const LashStudy* study, int64_t i, double* u) {
    uint64_t path = (uint64_t)(i / (study->active + 1));
    int step = (int)(i % (study->active + 1));
    double p = (double)lash_study_morris_levels(study);
    for (int k = 0; k < study->active; ++k) {
        int start = morris_start(study, path, k);
        u[k] = start / (p - 1);
        if (morris_place(study, path, k) < step) u[k] += morris_change(study, start);
    }
}

int lash_study_morris_step(const LashStudy* study, int64_t i, double* change) {
    uint64_t path = (uint64_t)(i / (study->active + 1));
    int step = (int)(i % (study->active + 1));
    if (step == 0) return -1;
    for (int k = 0; k < study->active; ++k) {
        if (morris_place(study, path, k) != step - 1) continue;
        *change = morris_change(study, morris_start(study, path, k));
        return k;
    }
    return -1;
}

// ---- points -------------------------------------------------------------------------------------

// u -> normals -> correlated normals -> u
static void correlate(const LashStudy* study, double* u) {
    int n = study->active;
    for (int k = 0; k < n; ++k) u[k] = lash_normal_quantile(u[k]);
    for (int k = n - 1; k >= 0; --k) {
        double sum = 0;
        for (int j = 0; j <= k; ++j) sum += study->cholesky[k * n + j] * u[j];
        u[k] = sum;
    }
    for (int k = 0; k < n; ++k) u[k] = fmin(fmax(lash_normal_cdf(u[k]), 1e-300), 1 - 0x1p-53);
}

// Value at a place u in [0, 1] of the range, for paths on a grid.
static double range_value(const LashDistribution* distribution, double u) {
    double low, high;
    if (distribution->type == LASH_DISCRETE) {
        int i = (int)floor(u * distribution->count);
        return distribution->values[i < distribution->count ? i : distribution->count - 1];
    }
    lash_distribution_range(distribution, &low, &high);
    return low + u * (high - low);
}

// Constant parameters, and active ones at u of their distribution.
static void from_quantiles(const LashStudy* study, const double* u, double* x) {
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        x[k] = study_parameter->active < 0
                   ? study_parameter->value
                   : lash_distribution_quantile(&study_parameter->distribution,
                                                u[study_parameter->active]);
    }
}

// The same where parameters may be correlated.
static void from_sample(const LashStudy* study, double* u, double* x) {
    if (study->cholesky != NULL) correlate(study, u);
    from_quantiles(study, u, x);
}

static double chance(const LashStudy* study, int64_t i, int k) {
    return lash_random_uniform(study->seed, LASH_STREAM_POINT, (uint32_t)k, (uint64_t)i);
}

static void random_point(const LashStudy* study, int64_t i, double* x) {
    double u[STUDY_MAX_PARAMETERS];
    for (int k = 0; k < study->active; ++k) u[k] = chance(study, i, k);
    from_sample(study, u, x);
}

static void latin_hypercube_point(const LashStudy* study, int64_t i, double* x) {
    double u[STUDY_MAX_PARAMETERS];
    uint64_t n = (uint64_t)study->samples;
    for (int k = 0; k < study->active; ++k) {
        double stratum = (double)lash_random_permute(study->seed, (uint32_t)k, (uint64_t)i, n);
        u[k] = fmin((stratum + chance(study, i, k)) / (double)n, 1 - 0x1p-53);
    }
    from_sample(study, u, x);
}

static void sobol_point(const LashStudy* study, int64_t i, double* x) {
    double u[STUDY_MAX_PARAMETERS];
    for (int k = 0; k < study->active; ++k)
        u[k] = lash_sobol_scrambled(study->sobol, k, (uint32_t)i, study->seed, 0);
    from_sample(study, u, x);
}

static void saltelli_point(const LashStudy* study, int64_t i, double* x) {
    double u[STUDY_MAX_PARAMETERS];
    int64_t base = i / (study->active + 2);
    int row = (int)(i % (study->active + 2));
    uint32_t block = (uint32_t)(base / study->block_size);
    uint32_t index = (uint32_t)(base % study->block_size);
    for (int k = 0; k < study->active; ++k) {
        bool from_b = row == 1 || row == 2 + k;
        u[k] = lash_sobol_scrambled(study->sobol, 2 * k + from_b, index, study->seed, block);
    }
    from_quantiles(study, u, x);
}

static void morris_point(const LashStudy* study, int64_t i, double* x) {
    double u[STUDY_MAX_PARAMETERS];
    morris_place_of(study, i, u);
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        x[k] = study_parameter->active < 0
                   ? study_parameter->value
                   : range_value(&study_parameter->distribution, u[study_parameter->active]);
    }
}

static void list_point(const LashStudy* study, int64_t i, double* x) {
    memcpy(x, study->list + i * study->parameters, (size_t)study->parameters * sizeof *x);
}

// ---- size of the plan ---------------------------------------------------------------------------

typedef struct Csv {
    const char* at; // rest of the text
    int line;
} Csv;

// One cell without spaces around it; *last: it ends its line.
static bool next_cell(Csv* csv, char* cell, size_t size, bool* last) {
    const char* end = csv->at + strcspn(csv->at, ",\r\n");
    const char* from = csv->at;
    const char* to = end;
    while (from < to && (*from == ' ' || *from == '\t')) ++from;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) --to;
    if ((size_t)(to - from) >= size) return false;
    memcpy(cell, from, (size_t)(to - from));
    cell[to - from] = '\0';
    *last = *end != ',';
    csv->at = end + (*end == ',');
    if (*csv->at == '\r') ++csv->at;
    if (*last && *csv->at == '\n') ++csv->at;
    return true;
}

static bool fail_list(LashError* error, const LashStudy* study, int line, const char* format,
                      const char* text) {
    char where[48], path[1024];
    study_path(study, study->design.file, path, sizeof path);
    snprintf(where, sizeof where, "line %d", line);
    lash_error_set(error, LASH_ERROR_MODEL, where, format, text);
    lash_error_file(error, path);
    return false;
}

static bool read_header(const LashStudy* study, Csv* csv, int* column, int* columns,
                        LashError* error) {
    char cell[80], hint[300], message[420];
    bool last = false;
    for (int k = 0; k < study->parameters; ++k) column[k] = -1;
    for (*columns = 0; !last; ++*columns) {
        if (!next_cell(csv, cell, sizeof cell, &last))
            return fail_list(error, study, 1, "%s", "a cell is too long");
        AppSuggestion near = app_suggestion(cell);
        int found = -1;
        for (int k = 0; k < study->parameters; ++k) {
            app_suggestion_offer(&near, study->parameter[k].name);
            if (strcmp(study->parameter[k].name, cell) == 0) found = k;
        }
        if (found < 0 || column[found] >= 0) {
            snprintf(message, sizeof message, "'%.60s' %s%s", cell,
                     found < 0 ? "is no parameter of the study" : "stands twice; keep one",
                     found < 0 ? app_suggestion_names(&near, hint, sizeof hint) : "");
            return fail_list(error, study, 1, "%s", message);
        }
        column[found] = *columns;
    }
    for (int k = 0; k < study->parameters; ++k) {
        if (column[k] < 0 && study->parameter[k].active >= 0)
            return fail_list(error, study, 1, "a column '%s' is missing", study->parameter[k].name);
    }
    return true;
}

static bool read_rows(LashStudy* study, Csv* csv, const int* column, int columns,
                      LashError* error) {
    char cell[80];
    int64_t capacity = 64;
    double row[STUDY_MAX_PARAMETERS];
    study->list = lash_alloc((size_t)(capacity * study->parameters) * sizeof(double));
    for (csv->line = 2; *csv->at != '\0'; ++csv->line) {
        bool last = false;
        int count = 0;
        if (*csv->at == '\n') {
            ++csv->at;
            continue;
        }
        for (; !last && count < columns; ++count) {
            char* end = NULL;
            if (!next_cell(csv, cell, sizeof cell, &last))
                return fail_list(error, study, csv->line, "%s", "a cell is too long");
            row[count] = strtod(cell, &end);
            if (end == cell || *end != '\0' || !isfinite(row[count]))
                return fail_list(error, study, csv->line, "expected a number, found '%s'", cell);
        }
        if (!last || count != columns)
            return fail_list(error, study, csv->line, "%s",
                             "the number of cells differs from the first line");
        if (study->samples == capacity) {
            capacity *= 2;
            study->list =
                lash_realloc(study->list, (size_t)(capacity * study->parameters) * sizeof(double));
        }
        double* x = study->list + study->samples++ * study->parameters;
        for (int k = 0; k < study->parameters; ++k)
            x[k] = column[k] < 0 ? study->parameter[k].nominal : row[column[k]];
    }
    return study->samples > 0 || fail_list(error, study, 1, "%s", "there are no samples");
}

static bool plan_list(ModelContext* context, LashStudy* study, const char* given) {
    char path[1024];
    char* text = NULL;
    int columns = 0;
    int* column = lash_alloc((size_t)study->parameters * sizeof *column);
    study_path(study, study->design.file, path, sizeof path);
    if (given == NULL) {
        size_t bytes = 0;
        text = app_read_file(path, APP_JSON_MAX_BYTES, &bytes, context->error);
        if (text == NULL) lash_error_file(context->error, path);
    }
    Csv csv = {.at = given != NULL ? given : text, .line = 1};
    bool good = csv.at != NULL && read_header(study, &csv, column, &columns, context->error) &&
                read_rows(study, &csv, column, columns, context->error);
    lash_free(text);
    lash_free(column);
    study->base = study->samples;
    return good;
}

static bool set_levels(ModelContext* context, LashStudy* study, double count) {
    if (count > STUDY_MAX_SAMPLES) {
        return model_fail(context, "design", "this grid has %.3g samples; at most %g are possible",
                          count, STUDY_MAX_SAMPLES);
    }
    study->samples = (int64_t)count;
    study->base = study->samples;
    return true;
}

static bool plan_grid(ModelContext* context, LashStudy* study, const char* list) {
    (void)list;
    double product = 1;
    for (int k = 0; k < study->parameters; ++k) product *= level_count(study, &study->parameter[k]);
    return set_levels(context, study, product);
}

static bool plan_one_at_a_time(ModelContext* context, LashStudy* study, const char* list) {
    (void)list;
    double sum = 1;
    for (int k = 0; k < study->parameters; ++k) sum += other_levels(study, &study->parameter[k]);
    return set_levels(context, study, sum);
}

// Base points of `each` samples.
static bool set_points(ModelContext* context, LashStudy* study, int64_t each) {
    if (study->design.samples < 1)
        return model_fail(context, "design", "the design %s needs 'samples'",
                          lash_design_name((LashDesignType)study->design.type));
    study->base = study->design.samples;
    study->samples = study->base * each;
    if ((double)study->samples > STUDY_MAX_SAMPLES) {
        return model_fail(context, "design", "this plan has %.3g samples; at most %g are possible",
                          (double)study->samples, STUDY_MAX_SAMPLES);
    }
    int64_t blocks = study->base / STUDY_BLOCK_POINTS;
    if (blocks < STUDY_FEW_BLOCKS || blocks > STUDY_BLOCKS) blocks = STUDY_BLOCKS;
    study->block_size = (int)((study->base + blocks - 1) / blocks);
    return true;
}

static void make_sobol(LashStudy* study, int dimensions) {
    study->sobol = lash_alloc((size_t)dimensions * LASH_SOBOL_BITS * sizeof(uint32_t));
    lash_sobol_directions(dimensions, study->sobol);
}

static bool plan_points(ModelContext* context, LashStudy* study, const char* list) {
    (void)list;
    return set_points(context, study, 1);
}

static bool plan_sobol(ModelContext* context, LashStudy* study, const char* list) {
    (void)list;
    if (!set_points(context, study, 1)) return false;
    make_sobol(study, study->active);
    return true;
}

static bool plan_saltelli(ModelContext* context, LashStudy* study, const char* list) {
    (void)list;
    if (!set_points(context, study, study->active + 2)) return false;
    make_sobol(study, 2 * study->active);
    return true;
}

static bool plan_morris(ModelContext* context, LashStudy* study, const char* list) {
    (void)list;
    if (!set_points(context, study, study->active + 1)) return false;
    if (lash_study_morris_levels(study) % 2 != 0)
        return model_fail(context, "design.levels", "Morris paths want an even number of levels");
    return true;
}

// ---- the table ----------------------------------------------------------------------------------

typedef struct Design {
    LashAnalysisKind analysis;
    int traits;
    bool (*plan)(ModelContext* context, LashStudy* study, const char* list);
    void (*point)(const LashStudy* study, int64_t i, double* x);
} Design;
static const Design designs[] = {
#define X(id, name, analysis, traits, plan, point) \
    [LASH_DESIGN_##id] = {LASH_ANALYSIS_##analysis, traits, plan, point},
    LASH_DESIGN_TABLE(X)
#undef X
};

LashAnalysisKind lash_study_analysis(const LashStudy* study) {
    return designs[study->design.type].analysis;
}

bool lash_study_design_is(const LashStudy* study, LashDesignTraits trait) {
    return (designs[study->design.type].traits & trait) != 0;
}

void lash_study_point(const LashStudy* study, int64_t i, double* x) {
    LASH_ASSERT(i >= 0 && i < study->samples);
    designs[study->design.type].point(study, i, x);
}

bool lash_study_is_sample(const LashStudy* study) {
    return lash_study_design_is(study, DESIGN_SAMPLE);
}

bool lash_study_counts(const LashStudy* study, int64_t i) {
    // rows A, B, AB_1 .. of a base point: the first two are a sample
    return lash_study_analysis(study) != LASH_ANALYSIS_SOBOL || i % (study->active + 2) < 2;
}

bool study_resolve_design(ModelContext* context, LashStudy* study, const char* list_text) {
    bool list = study->design.type == LASH_DESIGN_LIST;
    if (list != (study->design.file != NULL)) {
        return model_fail(context, "design",
                          list ? "a list needs a 'file'" : "a 'file' belongs to the design list");
    }
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        char path[48];
        snprintf(path, sizeof path, "parameters[%d]", k);
        if (study_parameter->type != LASH_DISCRETE && study_parameter->value_count > 0 &&
            !lash_study_design_is(study, DESIGN_LEVELS))
            return model_fail(context, path,
                              "'values' belong to a discrete distribution, or to a grid");
    }
    return designs[study->design.type].plan(context, study, list_text);
}

// From rows to statistics. Rows that failed have no outputs and do not count; their number stands
// beside every share. A sample that ended well but whose output is not a number (an event that
// never happened) counts as out of specification where there are limits.
#include "app/study/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

const double lash_analysis_percentile[LASH_PERCENTILES] = {0.00135, 0.01, 0.05, 0.25,   0.5,
                                                           0.75,    0.95, 0.99, 0.99865};

// ---- one output ---------------------------------------------------------------------------------

static bool is_out(const LashOutputAnalysis* analysis, double value) {
    return value < analysis->lsl || value > analysis->usl;
}

static bool has_limits(const LashOutputAnalysis* analysis) {
    return !isnan(analysis->lsl) || !isnan(analysis->usl);
}

static void collect(const LashAnalysis* analysis, LashOutputAnalysis* result, int output) {
    const LashStoreTable* table = analysis->table;
    int64_t n = 0;
    result->value = lash_alloc((size_t)table->rows * sizeof *result->value + 1);
    result->sorted = lash_alloc((size_t)table->rows * sizeof *result->sorted + 1);
    result->row = lash_alloc((size_t)table->rows * sizeof *result->row + 1);
    result->missing_row = lash_alloc((size_t)table->rows * sizeof *result->row + 1);
    for (int64_t i = 0; i < table->rows; ++i) {
        const LashSample* row = &table->sample[i];
        if (row->status != LASH_SAMPLE_OK || !lash_study_counts(analysis->study, row->id)) continue;
        if (isnan(row->y[output])) {
            result->missing_row[result->missing++] = i;
            continue;
        }
        result->value[n] = row->y[output];
        result->row[n++] = i;
    }
    memcpy(result->sorted, result->value, (size_t)n * sizeof *result->sorted);
    lash_sort(result->sorted, n);
    result->moments = lash_moments(result->value, n);
    for (int64_t i = 0; i < n && result->distinct < 3; ++i)
        result->distinct += i == 0 || result->sorted[i] != result->sorted[i - 1];
}

static void describe(const LashAnalysis* analysis, LashOutputAnalysis* result) {
    int64_t n = result->moments.n;
    result->capability = (LashCapability){NAN, NAN, NAN, NAN};
    result->share = result->fitted = NAN;
    result->share_ci = result->fitted_ci = (LashInterval){NAN, NAN};
    for (int i = 0; i < LASH_PERCENTILES; ++i)
        result->percentile[i] = lash_percentile(result->sorted, n, lash_analysis_percentile[i]);
    result->normality = lash_normality(result->sorted, n, &result->moments);
    if (!has_limits(result)) return;
    result->out = result->missing;
    for (int64_t i = 0; i < n; ++i) result->out += is_out(result, result->value[i]);
    if (!analysis->sample || n + result->missing == 0) return;
    result->capability =
        lash_capability(result->sorted, n, &result->moments, result->lsl, result->usl);
    result->share = (double)result->out / (double)(n + result->missing);
    result->share_ci = lash_wilson(result->out, n + result->missing);
    if (!(result->moments.sigma > 0)) return;
    result->fitted = lash_normal_share_out(result->moments.mean, result->moments.sigma, result->lsl,
                                           result->usl);
    result->fitted_ci = lash_normal_share_interval(result->value, n, result->lsl, result->usl,
                                                   analysis->study->seed);
}

static void converge(LashOutputAnalysis* analysis) {
    int64_t n = analysis->moments.n + analysis->missing, out = 0, values = 0, missing = 0;
    analysis->convergence_points = analysis->moments.n < LASH_CONVERGENCE ? 0 : LASH_CONVERGENCE;
    for (int k = 0; k < analysis->convergence_points; ++k) {
        int64_t end = n * (k + 1) / LASH_CONVERGENCE;
        while (values + missing < end) { // both lists rise: the next of the plan is in one of them
            bool has_value = missing == analysis->missing ||
                             (values < analysis->moments.n &&
                              analysis->row[values] < analysis->missing_row[missing]);
            out += !has_value || is_out(analysis, analysis->value[values]);
            has_value ? ++values : ++missing;
        }
        LashMoments m = lash_moments(analysis->value, values);
        analysis->convergence[k] =
            (LashConvergencePoint){.n = end,
                                   .mean = m.mean,
                                   .half = 1.9599639845400542 * m.sigma / sqrt((double)values),
                                   .share = has_limits(analysis) ? (double)out / (double)end : NAN,
                                   .share_ci = lash_wilson(out, end)};
    }
}

// Distance beyond the nearer limit (negative inside), or from the median when there are none.
static double badness(const LashOutputAnalysis* analysis, double value) {
    if (!has_limits(analysis)) return fabs(value - analysis->percentile[4]);
    return fmax(isnan(analysis->lsl) ? -INFINITY : analysis->lsl - value,
                isnan(analysis->usl) ? -INFINITY : value - analysis->usl);
}

static void find_worst(LashOutputAnalysis* analysis) {
    double bad[LASH_WORST];
    for (int64_t i = 0;
         has_limits(analysis) && i < analysis->missing && analysis->worsts < LASH_WORST; ++i) {
        bad[analysis->worsts] = INFINITY;
        analysis->worst[analysis->worsts++] = analysis->missing_row[i];
    }
    for (int64_t i = 0; i < analysis->moments.n; ++i) {
        double b = badness(analysis, analysis->value[i]);
        int place = analysis->worsts;
        while (place > 0 && b > bad[place - 1]) --place;
        if (place >= LASH_WORST) continue;
        if (analysis->worsts < LASH_WORST) ++analysis->worsts;
        for (int k = analysis->worsts - 1; k > place; --k) {
            bad[k] = bad[k - 1];
            analysis->worst[k] = analysis->worst[k - 1];
        }
        bad[place] = b;
        analysis->worst[place] = analysis->row[i];
    }
}

// ---- effects ------------------------------------------------------------------------------------

// The output of every row of the plan; NAN where there is none.
static double* plan_values(const LashAnalysis* analysis, int output) {
    double* y = lash_alloc((size_t)analysis->study->samples * sizeof *y);
    for (int64_t i = 0; i < analysis->study->samples; ++i) y[i] = NAN;
    for (int64_t i = 0; i < analysis->table->rows; ++i) {
        const LashSample* row = &analysis->table->sample[i];
        if (row->status == LASH_SAMPLE_OK && row->id >= 0 && row->id < analysis->study->samples)
            y[row->id] = row->y[output];
    }
    return y;
}

// Tenths, but five samples in each.
static int effect_bins(int64_t n) {
    if (n >= 5 * LASH_EFFECT_BINS) return LASH_EFFECT_BINS;
    return n >= 10 ? (int)(n / 5) : 2;
}

static void add_contributions(const LashAnalysis* analysis, LashOutputAnalysis* result) {
    const LashStudy* study = analysis->study;
    int k = study->active;
    int64_t n = result->moments.n;
    double* x = lash_alloc((size_t)n * (size_t)k * sizeof *x + 1);
    double* column = lash_alloc((size_t)n * sizeof *column + 1);
    LashContribution* contribution = lash_alloc((size_t)k * sizeof *contribution);
    for (int64_t i = 0; i < n; ++i) {
        for (int j = 0; j < k; ++j)
            x[i * k + j] = analysis->table->sample[result->row[i]].x[result->effect[j].parameter];
    }
    result->r2 = lash_contributions(x, result->value, n, k, contribution, &result->noise);
    for (int j = 0; j < k; ++j) {
        LashParameterEffect* effect = &result->effect[j];
        effect->contribution = contribution[j];
        for (int64_t i = 0; i < n; ++i) column[i] = x[i * k + j];
        effect->bins = lash_main_effect(column, result->value, n, effect_bins(n), effect->bin);
        effect->low = effect->bins > 0 ? effect->bin[0].y : NAN;
        effect->high = effect->bins > 0 ? effect->bin[effect->bins - 1].y : NAN;
        effect->importance = contribution[j].share;
        effect->importance_ci = contribution[j].share_ci;
    }
    lash_free(x);
    lash_free(column);
    lash_free(contribution);
}

// One-at-a-time: the output at every level of each parameter; ends against each other.
static void add_swings(const LashAnalysis* analysis, LashOutputAnalysis* result, const double* y) {
    const LashStudy* study = analysis->study;
    double x[2048];
    for (int j = 0; j < study->active; ++j) {
        LashParameterEffect* effect = &result->effect[j];
        double least = INFINITY, largest = -INFINITY;
        effect->low = effect->high = NAN;
        for (int64_t i = 0; i < study->samples; ++i) {
            int level;
            int changed = lash_study_oat_step(study, i, &level);
            if ((changed != effect->parameter && i > 0) || isnan(y[i])) continue;
            lash_study_point(study, i, x);
            double place = x[effect->parameter];
            if (place < least) {
                least = place;
                effect->low = y[i];
            }
            if (place > largest) {
                largest = place;
                effect->high = y[i];
            }
            if (effect->bins < LASH_EFFECT_BINS)
                effect->bin[effect->bins++] = (LashBin){place, y[i], NAN, 1};
        }
        effect->importance = fabs(effect->high - effect->low);
        effect->contribution.slope = (effect->high - effect->low) / (largest - least);
    }
}

static int compare_bins(const void* a, const void* b) {
    double x = ((const LashBin*)a)->x, y = ((const LashBin*)b)->x;
    return (x > y) - (x < y);
}

static int compare_effects(const void* a, const void* b) {
    const LashParameterEffect *x = a, *y = b;
    double p = isnan(x->importance) ? -1 : x->importance;
    double q = isnan(y->importance) ? -1 : y->importance;
    if (p != q) return p > q ? -1 : 1;
    return (x->parameter > y->parameter) - (x->parameter < y->parameter);
}

// ---- one function per analysis of design.h: fills the effects from y (rows of the plan) ---------

static void add_shares(const LashAnalysis* analysis, LashOutputAnalysis* result, const double* y) {
    (void)y;
    add_contributions(analysis, result);
}

static void add_sobol(const LashAnalysis* analysis, LashOutputAnalysis* result, const double* y) {
    int k = analysis->study->active;
    LashSobolIndex* index = lash_alloc((size_t)k * sizeof *index);
    add_contributions(analysis, result);
    result->base_used = lash_sobol_indices(analysis->study, y, index);
    for (int j = 0; j < k; ++j) {
        result->effect[j].sobol = index[j];
        result->effect[j].importance = index[j].total;
        result->effect[j].importance_ci = index[j].total_ci;
    }
    result->noise = NAN;
    lash_free(index);
}

static void add_morris(const LashAnalysis* analysis, LashOutputAnalysis* result, const double* y) {
    int k = analysis->study->active;
    LashMorrisEffect* effect = lash_alloc((size_t)k * sizeof *effect);
    lash_morris_effects(analysis->study, y, effect);
    for (int j = 0; j < k; ++j) {
        result->effect[j].morris = effect[j];
        result->effect[j].importance = effect[j].mu_star;
    }
    lash_free(effect);
}

static void add_effects(const LashAnalysis* analysis, LashOutputAnalysis* result, int output) {
    static void (*const add[])(const LashAnalysis*, LashOutputAnalysis*, const double*) = {
#define X(id, name, ...) [LASH_ANALYSIS_##id] = add_##name,
        LASH_ANALYSIS_TABLE(X)
#undef X
    };
    const LashStudy* study = analysis->study;
    int k = study->active, next = 0;
    double* y = plan_values(analysis, output);
    result->effect = lash_alloc((size_t)k * sizeof *result->effect);
    result->r2 = result->noise = NAN;
    for (int p = 0; p < study->parameters; ++p) {
        if (study->parameter[p].active >= 0)
            result->effect[next++] = (LashParameterEffect){
                .parameter = p, .low = NAN, .high = NAN, .importance_ci = {NAN, NAN}};
    }
    for (int j = 0; j < k; ++j)
        result->effect[j].contribution = (LashContribution){NAN, {NAN, NAN}, NAN, NAN, NAN, NAN};
    add[lash_study_analysis(study)](analysis, result, y);
    for (int j = 0; j < k; ++j)
        qsort(result->effect[j].bin, (size_t)result->effect[j].bins, sizeof(LashBin), compare_bins);
    qsort(result->effect, (size_t)k, sizeof *result->effect, compare_effects);
    lash_free(y);
}

// Shares of the variance above 100 % are said to be what they are.
static void explain_shares(const LashAnalysis* analysis, LashOutputAnalysis* result) {
    const double whole = 1.005; // 100 % as it is printed
    const LashStudy* study = analysis->study;
    double sum = 0, total = 0, largest = 0;
    result->together = NAN;
    if (study->active == 0 || !analysis->shares) return;
    bool saltelli = lash_study_analysis(study) == LASH_ANALYSIS_SOBOL;
    for (int j = 0; j < study->active; ++j) {
        sum += saltelli ? result->effect[j].sobol.first : result->effect[j].importance;
        total += result->effect[j].importance;
        largest = fmax(largest, result->effect[j].importance);
    }
    result->together = sum;
    if (!(sum > whole || total > whole || largest > whole)) return;
    if (saltelli && !(sum > whole || largest > whole)) {
        snprintf(result->note, sizeof result->note,
                 "Total indices add up to %.0f %%: an interaction counts for each parameter that "
                 "takes part in it.",
                 100 * total);
        return;
    }
    char much[48];
    snprintf(much, sizeof much, "%.0f %%", 100 * fmax(sum, largest));
    if (study->correlations > 0) {
        snprintf(result->note, sizeof result->note,
                 "Shares add up to %s: the parameters are correlated, and what they do together or "
                 "against each other counts for each of them.",
                 much);
    } else {
        snprintf(
            result->note, sizeof result->note,
            "Shares come to %s: more than 100 %% is sampling error (%lld samples, in which the "
            "parameters are not quite independent%s); more samples lessen it.",
            much, (long long)result->moments.n,
            study->list != NULL ? ": they are those of the list" : "");
    }
}

// ---- which to tighten ---------------------------------------------------------------------------

static void add_finer(const LashAnalysis* analysis, LashOutputAnalysis* result) {
    const LashStudy* study = analysis->study;
    double* slope = lash_alloc((size_t)study->active * sizeof *slope + 1);
    for (int j = 0; j < study->active; ++j) {
        LashParameterEffect* parameter_effect = &result->effect[j];
        slope[study->parameter[parameter_effect->parameter].active] =
            parameter_effect->contribution.slope;
        parameter_effect->finer = lash_finer(study, parameter_effect->parameter);
        if (analysis->shares && analysis->sample)
            lash_finer_output(&parameter_effect->finer, &parameter_effect->contribution,
                              parameter_effect->importance, study->correlations > 0,
                              result->moments.sigma);
    }
    result->chain = lash_chain(study, slope);
    result->chain_out = NAN;
    if (has_limits(result) && result->chain.sigma > 0)
        result->chain_out = lash_normal_share_out(result->moments.mean, result->chain.sigma,
                                                  result->lsl, result->usl);
    lash_free(slope);
}

static int compare_groups(const void* a, const void* b) {
    const LashGroup *x = a, *y = b;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Adds a share to the group of this name (NULL: to none); returns the number of groups.
static int add_to_group(LashGroup* group, int groups, const char* name, double share) {
    if (name == NULL || isnan(share)) return groups;
    int i = 0;
    while (i < groups && strcmp(group[i].name, name) != 0) ++i;
    if (i == groups) group[groups++] = (LashGroup){.name = name};
    group[i].share += share;
    ++group[i].members;
    return groups;
}

static void add_groups(const LashAnalysis* analysis, LashOutputAnalysis* result) {
    const LashStudy* study = analysis->study;
    result->part = lash_alloc((size_t)study->active * sizeof *result->part + 1);
    result->joint = lash_alloc((size_t)study->active * sizeof *result->joint + 1);
    for (int j = 0; j < study->active && analysis->shares; ++j) {
        const LashParameterEffect* parameter_effect = &result->effect[j];
        result->parts =
            add_to_group(result->part, result->parts,
                         lash_outline_part(analysis->outline, study, parameter_effect->parameter),
                         parameter_effect->importance);
        result->joints =
            add_to_group(result->joint, result->joints,
                         lash_outline_joint(analysis->outline, parameter_effect->parameter),
                         parameter_effect->importance);
    }
    qsort(result->part, (size_t)result->parts, sizeof *result->part, compare_groups);
    qsort(result->joint, (size_t)result->joints, sizeof *result->joint, compare_groups);
}

// ---- all ----------------------------------------------------------------------------------------

// The searches that were made, as far as they came: found again from their points.
static void add_worst_cases(LashAnalysis* analysis) {
    const LashStudy* study = analysis->study;
    LashWorstSearch search = {.study = study,
                              .samples = analysis->table,
                              .rows = analysis->worst_rows,
                              .budget = analysis->worst_rows->rows + 1};
    analysis->worst_case = lash_alloc(2 * (size_t)study->outputs * sizeof *analysis->worst_case);
    for (int i = 0; i < study->outputs && analysis->worst_rows->rows > 0; ++i) {
        LashWorstSide side[2];
        int sides = lash_worst_sides(study, i, side);
        for (int k = 0; k < sides; ++k) {
            LashWorstCase* found = &analysis->worst_case[analysis->worst_cases];
            lash_worst_find(&search, i, side[k], found, NULL);
            // points of another output's search may be the first of this one
            bool asked =
                found->complete || !isnan(study->output[i].lsl) || !isnan(study->output[i].usl);
            analysis->worst_cases += found->x != NULL && found->points > 0 && asked;
        }
    }
}

LashAnalysis* lash_analysis_create(const LashStudy* study, const LashStoreTable* table,
                                   LashStore* store, LashError* error) {
    LashStoreTable* worst_rows = lash_store_worst(store, study, error);
    if (worst_rows == NULL) return NULL;
    LashAnalysis* analysis = lash_alloc(sizeof *analysis);
    analysis->study = study;
    analysis->table = table;
    analysis->outline = lash_outline_create(study, lash_store_text(store, "model_text"));
    analysis->assumptions = lash_assumptions_create(study, analysis->outline, store);
    analysis->worst_rows = worst_rows;
    add_worst_cases(analysis);
    analysis->planned = study->samples;
    analysis->sample = lash_study_is_sample(study);
    static const struct {
        const char *ranked_by, *meaning;
        bool shares;
    } kinds[] = {
#define X(id, name, ranked, share, text) [LASH_ANALYSIS_##id] = {ranked, text, share},
        LASH_ANALYSIS_TABLE(X)
#undef X
    };
    LashAnalysisKind kind = lash_study_analysis(study);
    analysis->ranked_by = kinds[kind].ranked_by;
    analysis->ranking = kinds[kind].meaning;
    analysis->shares = kinds[kind].shares;
    for (int64_t i = 0; i < table->rows; ++i) {
        const LashSample* row = &table->sample[i];
        ++analysis->counts[row->status];
        analysis->steps += (double)row->steps;
        analysis->wall += row->wall;
        analysis->penetration = fmax(analysis->penetration, row->penetration);
    }
    analysis->output = lash_alloc((size_t)study->outputs * sizeof *analysis->output);
    for (int i = 0; i < study->outputs; ++i) {
        LashOutputAnalysis* result = &analysis->output[i];
        result->name = study->output[i].measured.name;
        result->unit = study->output[i].unit;
        result->lsl = study->output[i].lsl;
        result->usl = study->output[i].usl;
        collect(analysis, result, i);
        describe(analysis, result);
        if (analysis->sample) converge(result);
        find_worst(result);
        add_effects(analysis, result, i);
        explain_shares(analysis, result);
        add_finer(analysis, result);
        add_groups(analysis, result);
    }
    return analysis;
}

void lash_analysis_destroy(LashAnalysis* analysis) {
    if (analysis == NULL) return;
    for (int i = 0; i < analysis->study->outputs; ++i) {
        lash_free(analysis->output[i].value);
        lash_free(analysis->output[i].sorted);
        lash_free(analysis->output[i].row);
        lash_free(analysis->output[i].missing_row);
        lash_free(analysis->output[i].effect);
        lash_free(analysis->output[i].part);
        lash_free(analysis->output[i].joint);
    }
    lash_free(analysis->output);
    lash_free(analysis->worst_case);
    lash_store_table_destroy(analysis->worst_rows);
    lash_assumptions_destroy(analysis->assumptions);
    lash_outline_destroy(analysis->outline);
    lash_free(analysis);
}

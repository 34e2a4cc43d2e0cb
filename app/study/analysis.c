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

static bool is_out(const LashOutputAnalysis* a, double value) {
    return value < a->lsl || value > a->usl;
}

static bool has_limits(const LashOutputAnalysis* a) {
    return !isnan(a->lsl) || !isnan(a->usl);
}

static void collect(const LashAnalysis* analysis, LashOutputAnalysis* a, int output) {
    const LashStoreTable* table = analysis->table;
    int64_t n = 0;
    a->value = lash_alloc((size_t)table->rows * sizeof *a->value + 1);
    a->sorted = lash_alloc((size_t)table->rows * sizeof *a->sorted + 1);
    a->row = lash_alloc((size_t)table->rows * sizeof *a->row + 1);
    a->missing_row = lash_alloc((size_t)table->rows * sizeof *a->row + 1);
    for (int64_t i = 0; i < table->rows; ++i) {
        const LashSample* row = &table->sample[i];
        if (row->status != LASH_SAMPLE_OK || !lash_study_counts(analysis->study, row->id)) continue;
        if (isnan(row->y[output])) {
            a->missing_row[a->missing++] = i;
            continue;
        }
        a->value[n] = row->y[output];
        a->row[n++] = i;
    }
    memcpy(a->sorted, a->value, (size_t)n * sizeof *a->sorted);
    lash_sort(a->sorted, n);
    a->moments = lash_moments(a->value, n);
    for (int64_t i = 0; i < n && a->distinct < 3; ++i)
        a->distinct += i == 0 || a->sorted[i] != a->sorted[i - 1];
}

static void describe(const LashAnalysis* analysis, LashOutputAnalysis* a) {
    int64_t n = a->moments.n;
    a->capability = (LashCapability){NAN, NAN, NAN, NAN};
    a->share = a->fitted = NAN;
    a->share_ci = a->fitted_ci = (LashInterval){NAN, NAN};
    for (int i = 0; i < LASH_PERCENTILES; ++i)
        a->percentile[i] = lash_percentile(a->sorted, n, lash_analysis_percentile[i]);
    a->normality = lash_normality(a->sorted, n, &a->moments);
    if (!has_limits(a)) return;
    a->out = a->missing;
    for (int64_t i = 0; i < n; ++i) a->out += is_out(a, a->value[i]);
    if (!analysis->sample || n + a->missing == 0) return;
    a->capability = lash_capability(a->sorted, n, &a->moments, a->lsl, a->usl);
    a->share = (double)a->out / (double)(n + a->missing);
    a->share_ci = lash_wilson(a->out, n + a->missing);
    if (!(a->moments.sigma > 0)) return;
    a->fitted = lash_normal_share_out(a->moments.mean, a->moments.sigma, a->lsl, a->usl);
    a->fitted_ci = lash_normal_share_interval(a->value, n, a->lsl, a->usl, analysis->study->seed);
}

static void converge(LashOutputAnalysis* a) {
    int64_t n = a->moments.n + a->missing, out = 0, values = 0, missing = 0;
    a->convergence_points = a->moments.n < LASH_CONVERGENCE ? 0 : LASH_CONVERGENCE;
    for (int k = 0; k < a->convergence_points; ++k) {
        int64_t end = n * (k + 1) / LASH_CONVERGENCE;
        while (values + missing < end) { // both lists rise: the next of the plan is in one of them
            bool has_value = missing == a->missing ||
                             (values < a->moments.n && a->row[values] < a->missing_row[missing]);
            out += !has_value || is_out(a, a->value[values]);
            has_value ? ++values : ++missing;
        }
        LashMoments m = lash_moments(a->value, values);
        a->convergence[k] =
            (LashConvergencePoint){.n = end,
                                   .mean = m.mean,
                                   .half = 1.9599639845400542 * m.sigma / sqrt((double)values),
                                   .share = has_limits(a) ? (double)out / (double)end : NAN,
                                   .share_ci = lash_wilson(out, end)};
    }
}

// Distance beyond the nearer limit (negative inside), or from the median when there are none.
static double badness(const LashOutputAnalysis* a, double value) {
    if (!has_limits(a)) return fabs(value - a->percentile[4]);
    return fmax(isnan(a->lsl) ? -INFINITY : a->lsl - value,
                isnan(a->usl) ? -INFINITY : value - a->usl);
}

static void find_worst(LashOutputAnalysis* a) {
    double bad[LASH_WORST];
    for (int64_t i = 0; has_limits(a) && i < a->missing && a->worsts < LASH_WORST; ++i) {
        bad[a->worsts] = INFINITY;
        a->worst[a->worsts++] = a->missing_row[i];
    }
    for (int64_t i = 0; i < a->moments.n; ++i) {
        double b = badness(a, a->value[i]);
        int place = a->worsts;
        while (place > 0 && b > bad[place - 1]) --place;
        if (place >= LASH_WORST) continue;
        if (a->worsts < LASH_WORST) ++a->worsts;
        for (int k = a->worsts - 1; k > place; --k) {
            bad[k] = bad[k - 1];
            a->worst[k] = a->worst[k - 1];
        }
        bad[place] = b;
        a->worst[place] = a->row[i];
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

static void add_contributions(const LashAnalysis* analysis, LashOutputAnalysis* a) {
    const LashStudy* study = analysis->study;
    int k = study->active;
    int64_t n = a->moments.n;
    double* x = lash_alloc((size_t)n * (size_t)k * sizeof *x + 1);
    double* column = lash_alloc((size_t)n * sizeof *column + 1);
    LashContribution* contribution = lash_alloc((size_t)k * sizeof *contribution);
    for (int64_t i = 0; i < n; ++i) {
        for (int j = 0; j < k; ++j)
            x[i * k + j] = analysis->table->sample[a->row[i]].x[a->effect[j].parameter];
    }
    a->r2 = lash_contributions(x, a->value, n, k, contribution, &a->noise);
    for (int j = 0; j < k; ++j) {
        LashParameterEffect* effect = &a->effect[j];
        effect->contribution = contribution[j];
        for (int64_t i = 0; i < n; ++i) column[i] = x[i * k + j];
        effect->bins = lash_main_effect(column, a->value, n, effect_bins(n), effect->bin);
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
static void add_swings(const LashAnalysis* analysis, LashOutputAnalysis* a, const double* y) {
    const LashStudy* study = analysis->study;
    double x[2048];
    for (int j = 0; j < study->active; ++j) {
        LashParameterEffect* effect = &a->effect[j];
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

static void add_shares(const LashAnalysis* analysis, LashOutputAnalysis* a, const double* y) {
    (void)y;
    add_contributions(analysis, a);
}

static void add_sobol(const LashAnalysis* analysis, LashOutputAnalysis* a, const double* y) {
    int k = analysis->study->active;
    LashSobolIndex* index = lash_alloc((size_t)k * sizeof *index);
    add_contributions(analysis, a);
    a->base_used = lash_sobol_indices(analysis->study, y, index);
    for (int j = 0; j < k; ++j) {
        a->effect[j].sobol = index[j];
        a->effect[j].importance = index[j].total;
        a->effect[j].importance_ci = index[j].total_ci;
    }
    a->noise = NAN;
    lash_free(index);
}

static void add_morris(const LashAnalysis* analysis, LashOutputAnalysis* a, const double* y) {
    int k = analysis->study->active;
    LashMorrisEffect* effect = lash_alloc((size_t)k * sizeof *effect);
    lash_morris_effects(analysis->study, y, effect);
    for (int j = 0; j < k; ++j) {
        a->effect[j].morris = effect[j];
        a->effect[j].importance = effect[j].mu_star;
    }
    lash_free(effect);
}

static void add_effects(const LashAnalysis* analysis, LashOutputAnalysis* a, int output) {
    static void (*const add[])(const LashAnalysis*, LashOutputAnalysis*, const double*) = {
#define X(id, name, ...) [LASH_ANALYSIS_##id] = add_##name,
        LASH_ANALYSIS_TABLE(X)
#undef X
    };
    const LashStudy* study = analysis->study;
    int k = study->active, next = 0;
    double* y = plan_values(analysis, output);
    a->effect = lash_alloc((size_t)k * sizeof *a->effect);
    a->r2 = a->noise = NAN;
    for (int p = 0; p < study->parameters; ++p) {
        if (study->parameter[p].active >= 0)
            a->effect[next++] = (LashParameterEffect){
                .parameter = p, .low = NAN, .high = NAN, .importance_ci = {NAN, NAN}};
    }
    for (int j = 0; j < k; ++j)
        a->effect[j].contribution = (LashContribution){NAN, {NAN, NAN}, NAN, NAN, NAN, NAN};
    add[lash_study_analysis(study)](analysis, a, y);
    for (int j = 0; j < k; ++j)
        qsort(a->effect[j].bin, (size_t)a->effect[j].bins, sizeof(LashBin), compare_bins);
    qsort(a->effect, (size_t)k, sizeof *a->effect, compare_effects);
    lash_free(y);
}

// Shares of the variance above 100 % are said to be what they are.
static void explain_shares(const LashAnalysis* analysis, LashOutputAnalysis* a) {
    const double whole = 1.005; // 100 % as it is printed
    const LashStudy* study = analysis->study;
    double sum = 0, total = 0, largest = 0;
    a->together = NAN;
    if (study->active == 0 || !analysis->shares) return;
    bool saltelli = lash_study_analysis(study) == LASH_ANALYSIS_SOBOL;
    for (int j = 0; j < study->active; ++j) {
        sum += saltelli ? a->effect[j].sobol.first : a->effect[j].importance;
        total += a->effect[j].importance;
        largest = fmax(largest, a->effect[j].importance);
    }
    a->together = sum;
    if (!(sum > whole || total > whole || largest > whole)) return;
    if (saltelli && !(sum > whole || largest > whole)) {
        snprintf(a->note, sizeof a->note,
                 "Total indices add up to %.0f %%: an interaction counts for each parameter that "
                 "takes part in it.",
                 100 * total);
        return;
    }
    char much[48];
    snprintf(much, sizeof much, "%.0f %%", 100 * fmax(sum, largest));
    if (study->correlations > 0) {
        snprintf(a->note, sizeof a->note,
                 "Shares add up to %s: the parameters are correlated, and what they do together or "
                 "against each other counts for each of them.",
                 much);
    } else {
        snprintf(
            a->note, sizeof a->note,
            "Shares come to %s: more than 100 %% is sampling error (%lld samples, in which the "
            "parameters are not quite independent%s); more samples lessen it.",
            much, (long long)a->moments.n,
            study->list != NULL ? ": they are those of the list" : "");
    }
}

// ---- which to tighten ---------------------------------------------------------------------------

static void add_finer(const LashAnalysis* analysis, LashOutputAnalysis* a) {
    const LashStudy* study = analysis->study;
    double* slope = lash_alloc((size_t)study->active * sizeof *slope + 1);
    for (int j = 0; j < study->active; ++j) {
        LashParameterEffect* e = &a->effect[j];
        slope[study->parameter[e->parameter].active] = e->contribution.slope;
        e->finer = lash_finer(study, e->parameter);
        if (analysis->shares && analysis->sample)
            lash_finer_output(&e->finer, &e->contribution, e->importance, study->correlations > 0,
                              a->moments.sigma);
    }
    a->chain = lash_chain(study, slope);
    a->chain_out = NAN;
    if (has_limits(a) && a->chain.sigma > 0)
        a->chain_out = lash_normal_share_out(a->moments.mean, a->chain.sigma, a->lsl, a->usl);
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

static void add_groups(const LashAnalysis* analysis, LashOutputAnalysis* a) {
    const LashStudy* study = analysis->study;
    a->part = lash_alloc((size_t)study->active * sizeof *a->part + 1);
    a->joint = lash_alloc((size_t)study->active * sizeof *a->joint + 1);
    for (int j = 0; j < study->active && analysis->shares; ++j) {
        const LashParameterEffect* e = &a->effect[j];
        a->parts =
            add_to_group(a->part, a->parts,
                         lash_outline_part(analysis->outline, study, e->parameter), e->importance);
        a->joints =
            add_to_group(a->joint, a->joints, lash_outline_joint(analysis->outline, e->parameter),
                         e->importance);
    }
    qsort(a->part, (size_t)a->parts, sizeof *a->part, compare_groups);
    qsort(a->joint, (size_t)a->joints, sizeof *a->joint, compare_groups);
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
        LashOutputAnalysis* a = &analysis->output[i];
        a->name = study->output[i].measured.name;
        a->unit = study->output[i].unit;
        a->lsl = study->output[i].lsl;
        a->usl = study->output[i].usl;
        collect(analysis, a, i);
        describe(analysis, a);
        if (analysis->sample) converge(a);
        find_worst(a);
        add_effects(analysis, a, i);
        explain_shares(analysis, a);
        add_finer(analysis, a);
        add_groups(analysis, a);
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

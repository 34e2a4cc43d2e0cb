// Parameters of a study: every distribution needs certain keys and forbids the others; correlated
// parameters go through normals with the covariance L L' (Gaussian copula): exact for normals.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

// Keys by distribution: n needed, o optional, space forbidden.
static const char* const key_names[] = {"low", "high", "mean", "sigma", "mode", "value"};
static const char* const key_rules[LASH_DISTRIBUTIONS] = {
    "nn    ", // uniform
    "  nn  ", // normal
    "nnnn  ", // truncated normal
    "nn  n ", // triangular
    "      ", // discrete
    "     n", // constant
};

static bool check_keys(ModelContext* context, const char* path,
                       const LashStudyParameter* parameter) {
    const double given[] = {parameter->low,   parameter->high, parameter->mean,
                            parameter->sigma, parameter->mode, parameter->value};
    const char* name = lash_distribution_name((LashDistributionType)parameter->type);
    for (int i = 0; i < 6; ++i) {
        bool needed = key_rules[parameter->type][i] == 'n';
        if (needed == model_has(given[i])) continue;
        return model_fail(context, path,
                          needed ? "the distribution %s needs '%s'"
                                 : "the distribution %s has no '%s'; remove it",
                          name, key_names[i]);
    }
    if (parameter->type == LASH_DISCRETE && parameter->value_count == 0) {
        return model_fail(context, path, "the distribution discrete needs 'values'");
    }
    if (parameter->probability_count > 0 &&
        (parameter->type != LASH_DISCRETE ||
         parameter->probability_count != parameter->value_count)) {
        return model_fail(context, path,
                          "'probabilities' belong to a discrete distribution, one per value; found "
                          "%d for %d values",
                          parameter->probability_count, parameter->value_count);
    }
    return true;
}

static bool check_numbers(ModelContext* context, const char* path,
                          const LashStudyParameter* parameter) {
    if (parameter->low >= parameter->high) {
        return model_fail(context, path, "the range from low %g to high %g is empty",
                          parameter->low, parameter->high);
    }
    if (parameter->sigma <= 0) {
        return model_fail(context, path, "sigma must be > 0, found %g", parameter->sigma);
    }
    if (parameter->mode < parameter->low || parameter->mode > parameter->high) {
        return model_fail(context, path, "the mode %g must lie between low %g and high %g",
                          parameter->mode, parameter->low, parameter->high);
    }
    return true;
}

static bool make_discrete(ModelContext* context, const char* path, LashStudyParameter* parameter) {
    double sum = 0;
    double* cumulated =
        model_alloc(context->model, (size_t)parameter->value_count * sizeof *cumulated);
    for (int i = 0; i < parameter->value_count; ++i) {
        sum += parameter->probability_count > 0 ? parameter->probabilities[i] : 1;
        cumulated[i] = sum;
    }
    if (!(sum > 0)) return model_fail(context, path, "the probabilities are all zero");
    for (int i = 0; i < parameter->value_count; ++i) cumulated[i] /= sum;
    cumulated[parameter->value_count - 1] = 1;
    parameter->distribution.values = parameter->values;
    parameter->distribution.cumulated = cumulated;
    parameter->distribution.count = parameter->value_count;
    return true;
}

static bool make_distribution(ModelContext* context, const char* path,
                              LashStudyParameter* parameter) {
    if (!check_keys(context, path, parameter) || !check_numbers(context, path, parameter))
        return false;
    LashDistribution* d = &parameter->distribution;
    *d = (LashDistribution){
        .type = (LashDistributionType)parameter->type,
        .low = parameter->low,
        .high = parameter->high,
        .mean = parameter->type == LASH_CONSTANT ? parameter->value : parameter->mean,
        .sigma = parameter->sigma,
        .mode = parameter->mode};
    if (parameter->type == LASH_DISCRETE && !make_discrete(context, path, parameter)) return false;
    if (parameter->type == LASH_TRUNCATED_NORMAL) {
        d->p_low = lash_normal_cdf((d->low - d->mean) / d->sigma);
        d->p_high = lash_normal_cdf((d->high - d->mean) / d->sigma);
        if (!(d->p_high - d->p_low > 1e-12)) {
            return model_fail(context, path,
                              "the normal has next to no probability between low and high");
        }
    }
    double low, high;
    lash_distribution_range(d, &low, &high);
    if (!model_has(parameter->nominal)) {
        parameter->nominal = parameter->type == LASH_DISCRETE ? lash_distribution_quantile(d, 0.5)
                                                              : lash_distribution_mean(d);
    } else if (parameter->type != LASH_NORMAL &&
               (parameter->nominal < low || parameter->nominal > high)) {
        return model_fail(context, path, "the nominal value %g lies outside %g .. %g",
                          parameter->nominal, low, high);
    }
    return true;
}

static bool check_name(ModelContext* context, const LashStudy* study, int index) {
    char path[48], hint[300];
    const LashStudyParameter* own = &study->parameter[index];
    const char* name = own->sets;
    snprintf(path, sizeof path, "parameters[%d].name", own->source);
    for (int i = 0; i < index; ++i) {
        const LashStudyParameter* other = &study->parameter[i];
        if (other->source != own->source && strcmp(other->sets, name) == 0) {
            return model_fail(context, path, "'%.60s' varies already in parameters[%d]", name,
                              other->source);
        }
    }
    if (study->model == NULL) {
        LashError inner = {0};
        const char* one[] = {name};
        LashExpression* test = lash_expression_compile(name, one, 1, &inner);
        bool good = test != NULL && lash_expression_uses(test, 0);
        lash_expression_destroy(test);
        return good || model_fail(context, path, "'%.60s' is no name for a parameter", name);
    }
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < study->model->parameters; ++i) {
        if (strcmp(study->model->parameter[i].name, name) == 0) return true;
        app_suggestion_offer(&near, study->model->parameter[i].name);
    }
    return model_fail(context, path, "the model has no parameter '%.60s'%s", name,
                      app_suggestion_names(&near, hint, sizeof hint));
}

// ---- correlations -------------------------------------------------------------------------------

static bool find_active(ModelContext* context, const LashStudy* study, const char* path,
                        const char* name, int* active) {
    char hint[300];
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < study->parameters; ++i) {
        app_suggestion_offer(&near, study->parameter[i].name);
        if (strcmp(study->parameter[i].name, name) != 0) continue;
        *active = study->parameter[i].active;
        if (*active >= 0) return true;
        return model_fail(context, path, "'%.60s' is constant", name);
    }
    return model_fail(context, path, "the study has no parameter '%.60s'%s", name,
                      app_suggestion_names(&near, hint, sizeof hint));
}

// C = L L' in place, by rows; false where C is not positive definite.
static bool factor(double* C, int n) {
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = C[i * n + j];
            for (int k = 0; k < j; ++k) sum -= C[i * n + k] * C[j * n + k];
            if (i == j) {
                if (!(sum > 1e-12)) return false;
                C[i * n + i] = sqrt(sum);
            } else {
                C[i * n + j] = sum / C[j * n + j];
            }
        }
        for (int i = 0; i < j; ++i) C[i * n + j] = 0;
    }
    return true;
}

static bool resolve_correlations(ModelContext* context, LashStudy* study) {
    if (study->correlations == 0) return true;
    if (!lash_study_design_is(study, DESIGN_CORRELATES)) {
        return model_fail(context, "correlations",
                          "the design %s wants independent parameters; use random, "
                          "latin-hypercube or sobol, or remove the correlations",
                          lash_design_name((LashDesignType)study->design.type));
    }
    int n = study->active;
    study->cholesky = lash_alloc((size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) study->cholesky[i * n + i] = 1;
    for (int i = 0; i < study->correlations; ++i) {
        const LashStudyCorrelation* study_correlation = &study->correlation[i];
        char path[48];
        int a = 0, b = 0;
        snprintf(path, sizeof path, "correlations[%d]", i);
        if (!find_active(context, study, path, study_correlation->a, &a) ||
            !find_active(context, study, path, study_correlation->b, &b)) {
            return false;
        }
        if (a == b || !(fabs(study_correlation->rho) < 1)) {
            return model_fail(context, path,
                              a == b ? "a parameter cannot be correlated with itself"
                                     : "rho must lie between -1 and 1, found %g",
                              study_correlation->rho);
        }
        study->cholesky[a * n + b] = study->cholesky[b * n + a] = study_correlation->rho;
    }
    if (factor(study->cholesky, n)) return true;
    return model_fail(context, "correlations",
                      "these correlations contradict each other: their matrix is not positive "
                      "definite");
}

bool study_resolve_parameters(ModelContext* context, LashStudy* study) {
    if (study->parameters < 1 || study->parameters > STUDY_MAX_PARAMETERS) {
        return model_fail(context, "parameters", "expected 1 to %d parameters, found %d",
                          STUDY_MAX_PARAMETERS, study->parameters);
    }
    if (!study_expand_fits(context, study)) return false;
    for (int i = 0; i < study->parameters; ++i) {
        char path[48];
        LashStudyParameter* study_parameter = &study->parameter[i];
        snprintf(path, sizeof path, "parameters[%d]", study_parameter->source);
        if (!check_name(context, study, i) || !make_distribution(context, path, study_parameter))
            return false;
        study_parameter->active = study_parameter->type == LASH_CONSTANT ? -1 : study->active++;
    }
    if (study->active == 0) return model_fail(context, "parameters", "no parameter varies");
    return resolve_correlations(context, study);
}

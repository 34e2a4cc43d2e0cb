// Distributions and their Cpk, correlations, friction and restitution, scheme and step, versions and
// hashes.
#include "app/study/assumptions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/study/number.h"
#include "app/study/study_internal.h"
#include "core/arena.h"
#include "geometry/cad/sha256.h"

static LashAssumption* add(LashAssumptions* all, const char* what, const char* format, ...)
    LASH_PRINTF(3, 4);
static LashAssumption* add(LashAssumptions* all, const char* what, const char* format, ...) {
    if (all->rows == all->room) {
        all->room = 2 * all->room + 32;
        all->row = lash_realloc(all->row, (size_t)all->room * sizeof *all->row);
    }
    LashAssumption* row = &all->row[all->rows++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->value, sizeof row->value, format, arguments);
    va_end(arguments);
    snprintf(row->what, sizeof row->what, "%s", what);
    return row;
}

// ---- what varies --------------------------------------------------------------------------------

static void add_parameter(LashAssumptions* all, const LashStudy* study, int k) {
    const LashStudyParameter* study_parameter = &study->parameter[k];
    const LashDistribution* d = &study_parameter->distribution;
    const char* unit = study_parameter->unit != NULL ? study_parameter->unit : "";
    double low, high, sigma = lash_distribution_sigma(d);
    char what[140], from[48], to[48], mean[48], fit[160] = "";
    lash_distribution_range(d, &low, &high);
    snprintf(from, sizeof from, "%.9g", low);
    snprintf(to, sizeof to, "%.9g", high);
    lash_number_by_sigma(lash_distribution_mean(d), sigma, mean, sizeof mean);
    snprintf(what, sizeof what, "parameter %.100s", study_parameter->name);
    if (study_parameter->active < 0) {
        add(all, what, "constant %s %s", mean, unit);
        return;
    }
    double cpk =
        model_has(study_parameter->cpk) ? study_parameter->cpk : 1.33; // as study_fits.c has it
    if (study_parameter->fit != NULL && study_parameter->type == LASH_TRUNCATED_NORMAL) {
        snprintf(fit, sizeof fit, "%.60s with Cpk %g, cut at the zone: ", study_parameter->fit,
                 cpk);
    } else if (study_parameter->fit != NULL) {
        snprintf(fit, sizeof fit, "%.60s: ", study_parameter->fit);
    }
    add(all, what, "%s%s, %s to %s%s%s, mean %s, sigma %.4g", fit,
        lash_distribution_name((LashDistributionType)study_parameter->type), from, to,
        unit[0] != '\0' ? " " : "", unit, mean, sigma);
}

static void add_correlations(LashAssumptions* all, const LashStudy* study) {
    if (study->correlations == 0) add(all, "correlations", "none: parameters are independent");
    for (int i = 0; i < study->correlations; ++i) {
        const LashStudyCorrelation* study_correlation = &study->correlation[i];
        add(all, "correlation", "%.100s with %.100s: rho %g", study_correlation->a,
            study_correlation->b, study_correlation->rho);
    }
}

// ---- the model ----------------------------------------------------------------------------------

static void add_range(LashAssumptions* all, const LashOutline* outline, LashOutlineNumber number,
                      const char* what, const char* none) {
    double low, high;
    if (!lash_outline_range(outline, number, &low, &high)) {
        add(all, what, "%s", none);
    } else if (low == high) {
        add(all, what, "%g in all joints and contacts that have it", low);
    } else {
        add(all, what, "%g to %g over joints and contacts", low, high);
    }
}

static void add_model(LashAssumptions* all, const LashOutline* outline) {
    if (outline->model == NULL) return;
    const LashModelSimulation* model_simulation = &outline->model->simulation;
    add_range(all, outline, LASH_OUTLINE_FRICTION, "friction (nominal)", "none given: 0");
    add_range(all, outline, LASH_OUTLINE_RESTITUTION, "restitution (nominal)", "none given: 0");
    add(all, "scheme", "%s", lash_scheme_name(model_simulation->settings.scheme));
    add(all, "time step", "%g s, at most %d sub-steps where one fails",
        model_simulation->settings.h, model_simulation->settings.max_substeps);
    add(all, "simulated time", "%g s", model_simulation->duration);
    add(all, "tolerances", "position %g m, velocity %g m/s, solver %g m/s",
        model_simulation->settings.tolerance_position,
        model_simulation->settings.tolerance_velocity, model_simulation->settings.tolerance_solver);
}

// ---- where it comes from ------------------------------------------------------------------------

static void add_hash(LashAssumptions* all, const char* what, const char* name, const char* text) {
    char hex[65];
    if (text[0] == '\0') return;
    LashSha256 hash = lash_sha256();
    lash_sha256_add(&hash, text, strlen(text));
    lash_sha256_hex(&hash, hex);
    add(all, what, "%.200s, sha256 %s", name, hex);
}

// The next text in quotes of a JSON list, as it is written; NULL: no more.
static const char* next_text(const char* at, char* text, size_t size) {
    const char* begin = strchr(at, '"');
    if (begin == NULL) return NULL;
    const char* end = begin + 1;
    while (*end != '\0' && *end != '"') end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    snprintf(text, size, "%.*s", (int)(end - begin - 1), begin + 1);
    return *end == '"' ? end + 1 : NULL;
}

// [["file", "hash"], ...], each file once.
static void add_cad(LashAssumptions* all, const char* cad) {
    int first = all->rows;
    char file[200], hash[100];
    for (const char* at = cad; (at = next_text(at, file, sizeof file)) != NULL;) {
        at = next_text(at, hash, sizeof hash);
        if (at == NULL) break;
        LashAssumption* row = add(all, "CAD file", "%s, hash %s", file, hash);
        for (int i = first; i < all->rows - 1; ++i) {
            if (strcmp(all->row[i].value, row->value) != 0) continue;
            --all->rows;
            break;
        }
    }
    if (all->rows == first) add(all, "CAD files", "none");
}

LashAssumptions* lash_assumptions_create(const LashStudy* study, const LashOutline* outline,
                                         const LashStore* store) {
    LashAssumptions* all = lash_alloc(sizeof *all);
    for (int k = 0; k < study->parameters; ++k) add_parameter(all, study, k);
    add_correlations(all, study);
    add(all, "design", "%s, seed %llu, %lld samples",
        lash_design_name((LashDesignType)study->design.type), (unsigned long long)study->seed,
        (long long)study->samples);
    add_model(all, outline);
    add(all, "program", "lash %.100s", lash_store_text(store, "version"));
    add_hash(all, "study file", lash_store_text(store, "study_file"),
             lash_store_text(store, "study_text"));
    add_hash(all, "model file", study->model_path != NULL ? study->model_path : "",
             lash_store_text(store, "model_text"));
    if (study->model_path != NULL) add_cad(all, lash_store_text(store, "cad"));
    return all;
}

void lash_assumptions_destroy(LashAssumptions* assumptions) {
    if (assumptions == NULL) return;
    lash_free(assumptions->row);
    lash_free(assumptions);
}

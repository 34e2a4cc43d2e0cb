// Parameters given by a class of ISO 286 or ISO 2768-1 instead of numbers.
//
//     {"name": "pin", "fit": "10 H7/g6", "distribution": "normal", "cpk": 1.33}
//
// A fit becomes two parameters, the diameters "pin.hole" and "pin.shaft"; the model's parameter pin
// is the radial play (hole - shaft) / 2. A single class ("10 H7", "120 ISO 2768-m") is one
// parameter, the size itself. All in the model's unit of length. normal: about the middle of the
// zone with sigma = width / (6 Cpk), cut at the zone; uniform: over the zone.
#include <math.h>
#include <stdio.h>

#include "app/model/fit.h"
#include "app/study/study_internal.h"

static bool check_given(ModelContext* context, const char* path,
                        const LashStudyParameter* parameter) {
    const double numbers[] = {parameter->low,    parameter->high, parameter->mean,
                              parameter->sigma,  parameter->mode, parameter->value,
                              parameter->nominal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        if (!model_has(numbers[i])) continue;
        return model_fail(context, path,
                          "a fit gives the range and its middle: leave low, high, mean, sigma, "
                          "mode, value and nominal away");
    }
    if (parameter->type != LASH_NORMAL && parameter->type != LASH_UNIFORM) {
        return model_fail(context, path, "sizes of a fit are normal or uniform, found %s",
                          lash_distribution_name((LashDistributionType)parameter->type));
    }
    if (model_has(parameter->cpk) && parameter->type == LASH_UNIFORM)
        return model_fail(context, path, "'cpk' belongs to a normal distribution");
    if (model_has(parameter->cpk) && !(parameter->cpk >= 0.1 && parameter->cpk <= 100))
        return model_fail(context, path, "cpk must lie between 0.1 and 100, found %g",
                          parameter->cpk);
    return true;
}

// p: as given, with a fit; becomes the size in this zone.
static LashStudyParameter size_in(const ModelContext* context, const LashStudyParameter* parameter,
                                  const LashFit* fit, const LashZone* zone, const char* side) {
    LashStudyParameter size = *parameter;
    double metres = model_unit_factor(&context->model->units, UNIT_LENGTH);
    double cpk = model_has(parameter->cpk) ? parameter->cpk : 1.33;
    char name[160];
    snprintf(name, sizeof name, "%.120s%s", parameter->name, side);
    size.name = model_strdup(context->model, name);
    size.sets = parameter->name;
    size.low = (fit->size + zone->lower) / metres;
    size.high = (fit->size + zone->upper) / metres;
    if (parameter->type == LASH_NORMAL) {
        size.type = LASH_TRUNCATED_NORMAL;
        size.mean = 0.5 * (size.low + size.high);
        size.sigma = (size.high - size.low) / (6 * cpk);
    }
    return size;
}

bool study_expand_fits(ModelContext* context, LashStudy* study) {
    LashStudyParameter* all =
        model_alloc(context->model, 2 * (size_t)study->parameters * sizeof *all);
    int count = 0;
    for (int i = 0; i < study->parameters; ++i) {
        LashStudyParameter* study_parameter = &study->parameter[i];
        char path[48];
        snprintf(path, sizeof path, "parameters[%d].fit", i);
        study_parameter->sets = study_parameter->name;
        study_parameter->source = i;
        if (study_parameter->fit == NULL) {
            if (model_has(study_parameter->cpk))
                return model_fail(context, path, "'cpk' belongs to a parameter with a 'fit'");
            all[count++] = *study_parameter;
            continue;
        }
        LashFit fit;
        LashError inner = {0};
        if (!lash_fit_parse(study_parameter->fit, &fit, &inner))
            return model_fail(context, path, "\"%.60s\": %s", study_parameter->fit, inner.message);
        if (!check_given(context, path, study_parameter)) return false;
        if (lash_fit_is_pair(&fit)) {
            all[count] = size_in(context, study_parameter, &fit, &fit.hole, ".hole");
            all[count++].side = LASH_SIDE_HOLE;
            all[count] = size_in(context, study_parameter, &fit, &fit.shaft, ".shaft");
            all[count++].side = LASH_SIDE_SHAFT;
            continue;
        }
        const LashZone* zone = fit.hole.kind != LASH_ZONE_NONE ? &fit.hole : &fit.shaft;
        if (fit.general.kind != LASH_ZONE_NONE) zone = &fit.general;
        all[count++] = size_in(context, study_parameter, &fit, zone, "");
    }
    study->parameter = all;
    study->parameters = count;
    return true;
}

const char* lash_study_set(const LashStudy* study, const double* x, int k, double* value) {
    const LashStudyParameter* study_parameter = &study->parameter[k];
    if (study_parameter->side == LASH_SIDE_SHAFT) return NULL; // went with its hole
    *value = study_parameter->side == LASH_SIDE_HOLE ? 0.5 * (x[k] - x[k + 1]) : x[k];
    return study_parameter->sets;
}

bool lash_study_fits_enter(const LashStudy* study, const double* x, LashError* error) {
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        if (study_parameter->side != LASH_SIDE_HOLE || x[k] > x[k + 1]) continue;
        return lash_error_set(error, LASH_ERROR_MODEL, study_parameter->sets,
                              "the shaft (%.9g) does not enter its hole (%.9g): %s can interfere",
                              x[k + 1], x[k], study_parameter->fit);
    }
    return true;
}

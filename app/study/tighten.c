// One grade finer.
//
//   Independent parameters: a parameter whose scatter shrinks by r takes (1 - r^2) of its share S of
//   the variance with it,
//     sigma' = sigma sqrt(1 - S (1 - r^2)),
//   exact where the output is linear in the parameter (interactions included when S is a total
//   index), and for curves as long as they keep their shape over the narrower range.
//
//   Correlated ones: with b the standardised coefficient and p the correlation of parameter and
//   output, the variance is b^2 (own) + 2 b (p - b) (with the others) + rest, of which the first goes
//   with r^2 and the second with r.
//
//   Classes keep their letter, so the zone grows or shrinks from the side of the letter's deviation
//   and its middle moves: the mean of the output moves by the slope times that.
#include "app/study/tighten.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/model/fit.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

static const LashZone* zone_of(const LashFit* fit, LashStudySide side) {
    if (side == LASH_SIDE_HOLE) return &fit->hole;
    if (side == LASH_SIDE_SHAFT) return &fit->shaft;
    if (fit->general.kind != LASH_ZONE_NONE) return &fit->general;
    return fit->hole.kind != LASH_ZONE_NONE ? &fit->hole : &fit->shaft;
}

// "H7" -> "H6", "ISO 2768-m" -> "ISO 2768-f". False: there is none finer.
static bool finer_class(const char* name, char* text, size_t size) {
    static const char general[] = "fmcv";
    size_t length = strlen(name);
    snprintf(text, size, "%s", name);
    if (length == 0 || length >= size) return false;
    const char* place = strchr(general, name[length - 1]);
    if (strncmp(name, "ISO", 3) == 0) {
        if (place == NULL || place == general) return false;
        text[length - 1] = place[-1];
        return true;
    }
    size_t letters = 0;
    while (isalpha((unsigned char)name[letters])) ++letters;
    int grade = atoi(name + letters);
    if (grade <= 1) return false;
    snprintf(text + letters, size - letters, "%d", grade - 1);
    return true;
}

LashFiner lash_finer(const LashStudy* study, int parameter) {
    const LashStudyParameter* study_parameter = &study->parameter[parameter];
    LashFiner f = {.fall = NAN, .sigma = NAN, .mean_shift = NAN};
    LashFit fit, other;
    LashError ignored = {0};
    f.ratio = pow(10, -0.2); // grades of ISO 286 from IT6 on stand in steps of 10^(1/5)
    if (study_parameter->type == LASH_DISCRETE) f.ratio = NAN;
    if (study_parameter->fit == NULL || !lash_fit_parse(study_parameter->fit, &fit, &ignored))
        return f;
    const LashZone* zone = zone_of(&fit, study_parameter->side);
    if (zone->name[0] == '(') return f; // deviations: no class, no finer one
    char text[64];
    f.ratio = NAN;
    snprintf(f.now, sizeof f.now, "%.20s", zone->name);
    bool finer = finer_class(f.now, f.finer, sizeof f.finer);
    snprintf(text, sizeof text, "%.12g %s", 1e3 * fit.size, f.finer);
    if (!finer || !lash_fit_parse(text, &other, &ignored)) {
        f.finer[0] = '\0';
        return f;
    }
    const LashZone* then = zone_of(&other, LASH_SIDE_NONE);
    double metres = model_unit_factor(&study->memory->units, UNIT_LENGTH);
    f.ratio = (then->upper - then->lower) / (zone->upper - zone->lower);
    f.shift = 0.5 * (then->upper + then->lower - zone->upper - zone->lower) / metres;
    return f;
}

void lash_finer_output(LashFiner* finer, const LashContribution* contribution, double share,
                       bool correlated, double sigma) {
    double r = finer->ratio, gone = share * (1 - r * r);
    if (correlated) {
        double own = contribution->regression * contribution->regression;
        double shared =
            2 * contribution->regression * (contribution->linear - contribution->regression);
        gone = own * (1 - r * r) + shared * (1 - r);
    }
    finer->fall = 1 - sqrt(fmax(0, 1 - gone));
    finer->sigma = sigma * (1 - finer->fall);
    finer->mean_shift = finer->shift == 0 ? 0 : finer->shift * contribution->slope;
}

LashChain lash_chain(const LashStudy* study, const double* slope) {
    LashChain chain = {0};
    int n = study->active;
    double* part = lash_alloc((size_t)n * sizeof *part + 1); // slope_j sigma_j
    for (int k = 0; k < study->parameters; ++k) {
        const LashStudyParameter* study_parameter = &study->parameter[k];
        double low, high;
        if (study_parameter->active < 0) continue;
        lash_distribution_range(&study_parameter->distribution, &low, &high);
        part[study_parameter->active] = slope[study_parameter->active] *
                                        lash_distribution_sigma(&study_parameter->distribution);
        chain.half_range += 0.5 * fabs(slope[study_parameter->active]) * (high - low);
    }
    double variance = 0;
    for (int c = 0; c < n; ++c) { // |L' part|^2, rho = L L'
        double sum = study->cholesky == NULL ? part[c] : 0;
        for (int r = c; r < n && study->cholesky != NULL; ++r)
            sum += study->cholesky[r * n + c] * part[r];
        variance += sum * sum;
    }
    chain.sigma = sqrt(variance);
    lash_free(part);
    return chain;
}

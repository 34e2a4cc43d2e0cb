// What the fuzzer does with one input, shared with the normal tests that repeat its findings: load
// a model from the bytes, build its mechanism, measure its start, as `lash check` and `lash run`
// do.
#ifndef LASH_TESTS_FUZZ_LOAD_H
#define LASH_TESTS_FUZZ_LOAD_H

#include <stdio.h>
#include <stdlib.h>

#include "app/model/model.h"
#include "app/run/start.h"
#include "solvers/mobility.h"

// True: accepted. A refusal has to have a reason, a place and the right exit code. all: the slower
// parts in any case; else for some inputs only, which ones, their bytes decide.
static inline bool fuzz_load(const char* text, size_t bytes, bool all) {
    static const char* const sets[] = {"play=0.25"};
    LashError error = {0};
    // the length decides, so that an input always takes the same way
    LashModel* model =
        lash_model_parse("/nonexistent/fuzz.json", text, bytes, sets, bytes % 8 == 0, &error);
    if (model == NULL) {
        bool told = error.message[0] != '\0' &&
                    (error.status == LASH_ERROR_MODEL || error.status == LASH_ERROR_CAD ||
                     error.status == LASH_ERROR_USAGE);
        if (told) return false;
        fprintf(stderr, "refused with code %d: '%s'\n", (int)error.status, error.message);
        abort();
    }
    LashMechanism* mech = lash_model_build(model, &error);
    if (mech == NULL) abort(); // a model that loads can be built
    const LashSystem* system = lash_mechanism_system(mech);
    LashSettings settings = model->simulation.settings;
    settings.max_substeps = 1;
    if (settings.max_iterations > 20) settings.max_iterations = 20;
    LashSim* sim = lash_sim_create(system, &settings);
    AppStart start = app_start_errors(mech, system, sim, model->simulation.settings.h);
    if (!app_start_good(&start, &model->simulation.settings)) {
        app_start_fail(model, mech, &start, sim, "advice", &error);
        if (error.status != LASH_ERROR_MODEL) abort();
    }
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; ++i) sum = 31 * sum + (unsigned char)text[i];
    if (model->bodies <= 12 && (all || sum % 4 == 0)) lash_freedom_destroy(lash_sim_freedom(sim));
    if (model->bodies <= 12 && (all || sum % 16 == 0)) lash_sim_step(sim); // its outcome may be any
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
    return true;
}

#endif

// What the fuzzer does with one input, shared with the normal tests that repeat its findings: load
// a model from the bytes, build its mechanism, measure its start, as `lash check` and `lash run`
// do.
#ifndef LASH_TESTS_FUZZ_LOAD_H
#define LASH_TESTS_FUZZ_LOAD_H

#include <stdio.h>
#include <stdlib.h>

#include "app/model.h"
#include "app/start.h"

// True: accepted. A refusal has to have a reason, a place and the right exit code.
static inline bool fuzz_load(const char* text, size_t bytes) {
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
    LashSim* sim = lash_sim_create(system, &model->simulation.settings);
    AppStart start = app_start_errors(mech, system, sim, model->simulation.settings.h);
    if (!app_start_good(&start, &model->simulation.settings)) {
        app_start_fail(model, mech, &start, sim, "advice", &error);
        if (error.status != LASH_ERROR_MODEL) abort();
    }
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
    return true;
}

#endif

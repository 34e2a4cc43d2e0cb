// Sources and scenes for the tests of the viewer.
#ifndef LASH_TESTS_VIEWER_CASES_H
#define LASH_TESTS_VIEWER_CASES_H

#include "test.h"

#include <math.h>

#include "app/viewer/viewer.h"
#include "command.h"

static inline AppSessionOptions no_options(void) {
    return (AppSessionOptions){.step = NAN, .duration = NAN};
}

static inline const char* model_path(const char* name, char* path, size_t size) {
    snprintf(path, size, "%s/models/%s", LASH_SOURCE_DIR, name);
    return path;
}

// A source of a model with another duration; NAN: the model's.
static inline ViewSource* open_model(const char* name, double duration) {
    char path[400];
    LashError error = {0};
    AppSessionOptions o = no_options();
    o.duration = duration;
    ViewSource* source = view_source_open(model_path(name, path, sizeof path), &o, &error);
    if (source == NULL) fail_msg("%s: %s", error.where, error.message);
    return source;
}

static inline Viewer* open_viewer(ViewSource* source) {
    LashError error = {0};
    Viewer* v = viewer_create(source, &error);
    if (v == NULL) fail_msg("%s: %s", error.where, error.message);
    return v;
}

// Repeatable pseudo-random numbers in [0, 1).
static inline double next_random(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

#endif

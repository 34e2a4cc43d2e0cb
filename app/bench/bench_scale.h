// How the cost of a step grows with the number of parts, in mechanisms with contacts.
#ifndef LASH_APP_BENCH_SCALE_H
#define LASH_APP_BENCH_SCALE_H

#include "app/bench/bench_scenes.h"
#include "app/bench/scale_models.h"

typedef struct AppScaleRow {
    char name[48];
    const char* family;
    int bodies, contacts, steps; // contacts: most at once
    double us;                   // processor time per step
    double violation;            // largest of all steps [m, rad]
    double exponent;             // of the family: us = c bodies^exponent
    bool late;                   // stopped by the limit of time
} AppScaleRow;
enum { APP_SCALE_ROWS = 5 * (APP_SCALE_MODELS + 1) }; // walls twice

// A mechanism of size n; close it in either case. False with error.
bool app_scale_open(AppScaleModel model, int n, AppScene* scene, LashError* error);
// Measures all families, or those whose name begins with `only`; prints each row unless quiet.
// rows: (APP_SCALE_ROWS). False with error: a step failed.
bool app_bench_scale(const char* only, bool quiet, AppScaleRow* rows, int* count, LashError* error);

#endif

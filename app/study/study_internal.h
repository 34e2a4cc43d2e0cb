// Shared by the files that read a study.
#ifndef LASH_APP_STUDY_STUDY_INTERNAL_H
#define LASH_APP_STUDY_STUDY_INTERNAL_H

#include "app/model/model_internal.h"
#include "app/study/study.h"

enum {
    STUDY_MAX_PARAMETERS = 1800, // two Sobol coordinates each in a Saltelli plan
    STUDY_MAX_OUTPUTS = 256,
    // independent scramblings of a Saltelli plan: at least, at most
    STUDY_FEW_BLOCKS = 4,
    STUDY_BLOCKS = 16,
    STUDY_BLOCK_POINTS = 1024 // base points that a scrambling should have
};
#define STUDY_MAX_SAMPLES 10000000.0

extern const KeyTable study_root_table;

// Distributions, correlations: after reading.
// Parameters with a fit become sizes (study_fits.c).
bool study_expand_fits(ModelContext* context, LashStudy* study);
bool study_resolve_parameters(ModelContext* context, LashStudy* study);
// Number of rows, direction numbers, list; list_text: of the design's file, NULL: read it.
bool study_resolve_design(ModelContext* context, LashStudy* study, const char* list_text);
// Outputs by themselves: their number, names, limits; then with the model.
bool study_check_outputs(ModelContext* context, const LashStudy* study);
bool study_resolve_outputs(ModelContext* context, LashStudy* study);

// A file named in the study, relative to the study's own.
void study_path(const LashStudy* study, const char* name, char* path, size_t size);

#endif

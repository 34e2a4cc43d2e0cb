// A draft as the text of a model file.
#ifndef LASH_APP_DRAFT_DRAFT_WRITE_H
#define LASH_APP_DRAFT_DRAFT_WRITE_H

#include "app/draft/draft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DraftText {
    char* text; // ends in 0
    size_t used, capacity;
} DraftText;

typedef struct DraftModel {
    const char* step;    // the STEP file, relative to the model
    double density;      // [kg/m^3]
    bool file_densities; // those of the file come first
    const char* fit;     // "H7/g6" for what is drawn without play; NULL: asks, with 0
} DraftModel;

DraftText draft_write(const Draft* draft, const DraftModel* model);
void draft_text_free(DraftText* text);

#ifdef __cplusplus
}
#endif
#endif

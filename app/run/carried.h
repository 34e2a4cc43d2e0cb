// Files that a model reads, packed into a result, so that it opens where they are not.
#ifndef LASH_APP_CARRIED_H
#define LASH_APP_CARRIED_H

#include "app/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Name, hash and, while they are not too large together, bytes of every file that the model read,
// as one text. NULL: it reads none. The caller frees it (lash_free).
char* app_carried_pack(const LashModel* model);

typedef struct AppCarried {
    LashModelFile* file; // names and data point into `text`
    int files;
    char* text;
} AppCarried;

// False with error: the text is damaged. An empty one has no files.
bool app_carried_unpack(const char* text, AppCarried* carried, LashError* error);
void app_carried_free(AppCarried* carried);

// What is different on the disk now, for a reader who would otherwise take the picture for that:
// "crank.step has changed since the run"; nothing: "". A file that is not there is no difference.
const char* app_carried_changes(const AppCarried* carried, const LashModel* model, char* text,
                                size_t size);

#ifdef __cplusplus
}
#endif
#endif

// Where the models that come with the program are.
#ifndef LASH_APP_DATA_DIR_H
#define LASH_APP_DATA_DIR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Path of a file under models/: in folder (NULL: not given), $LASH_DATA_DIR, ./models, or beside
// the program (installed or in its build folder). False when it is in none of them.
bool app_find_model(const char* folder, const char* name, char* path, size_t size);

#ifdef __cplusplus
}
#endif
#endif

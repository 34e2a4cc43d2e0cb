// Many friction problems in one HDF5 file: the text of each, so packed that all numbers stay as they are.
#ifndef LASH_APP_PROBLEM_SET_H
#define LASH_APP_PROBLEM_SET_H

#include "app/bench/problem_drawn.h"

typedef struct AppProblemSet AppProblemSet; // being made

AppProblemSet* app_problem_set_begin(void);
void app_problem_set_add(AppProblemSet* set, const AppDrawn* drawn);
// Writes what was added and frees the set; path NULL: frees it only. False with error.
bool app_problem_set_end(AppProblemSet* set, const char* path, LashError* error);

// Is there such a set in the file?
bool app_problem_set_is(const char* path);
// Each problem as it was added, every stride-th of them; false: the file is damaged (error), or each said so.
bool app_problem_set_read(const char* path, int stride, AppDrawnEach* each, void* context,
                          LashError* error);

#endif

// Models written by a test, with ' for " so that they can be read.
#ifndef LASH_TESTS_MODEL_TEXT_H
#define LASH_TESTS_MODEL_TEXT_H

#include "command.h"

static inline void write_model(const char* name, const char* text, char* path, size_t size) {
    FILE* file = fopen(scratch_file(name, path, size), "w");
    if (file == NULL) abort();
    for (; *text != '\0'; ++text) fputc(*text == '\'' ? '"' : *text, file);
    fclose(file);
}

#endif

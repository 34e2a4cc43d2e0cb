// Models written by a test, with ' for " so that they can be read.
#ifndef LASH_TESTS_MODEL_TEXT_H
#define LASH_TESTS_MODEL_TEXT_H

#include "test.h"

#include "command.h"

static inline void write_model(const char* name, const char* text, char* path, size_t size) {
    FILE* file = fopen(scratch_file(name, path, size), "w");
    if (file == NULL) abort();
    for (; *text != '\0'; ++text) fputc(*text == '\'' ? '"' : *text, file);
    fclose(file);
}

// NAME.step in the scratch folder; body: the keys of a part beside format and name.
static inline void make_part(const char* name, const char* body) {
    char json[400], step[400], command[1200], text[2000], file[64];
    snprintf(text, sizeof text, "{'format': 'lash-step/1', 'name': '%s', %s}", name, body);
    snprintf(file, sizeof file, "%s.part.json", name);
    write_model(file, text, json, sizeof json);
    snprintf(file, sizeof file, "%s.step", name);
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, json,
             scratch_file(file, step, sizeof step));
    if (system(command) != 0) abort();
}

// NAME.step in the scratch folder, an assembly of these parts; its path.
static inline void make_assembly(const char* name, const char* parts, char* step, size_t size) {
    char json[400], command[1300], file[64];
    size_t room = strlen(parts) + 200;
    char* text = malloc(room);
    if (text == NULL) abort();
    snprintf(text, room, "{'format': 'lash-step/1', 'name': '%s', 'parts': [%s]}", name, parts);
    snprintf(file, sizeof file, "%s.asm.json", name);
    write_model(file, text, json, sizeof json);
    free(text);
    snprintf(file, sizeof file, "%s.step", name);
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, json,
             scratch_file(file, step, size));
    if (system(command) != 0) abort();
}

#endif

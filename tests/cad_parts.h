// STEP parts for tests, made on the spot by lash-make-step in a folder of their own.
#ifndef LASH_TESTS_CAD_PARTS_H
#define LASH_TESTS_CAD_PARTS_H

#include "test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/math3.h"
#include "geometry/shape.h"

typedef struct CadFolder {
    char path[512];
} CadFolder;

// A new folder; the cache of all loads in this program goes there, too.
static inline CadFolder cad_folder(void) {
    CadFolder folder;
    snprintf(folder.path, sizeof folder.path, "%s/cad-test-XXXXXX", LASH_BINARY_DIR);
    if (mkdtemp(folder.path) == NULL) abort();
    setenv("XDG_CACHE_HOME", folder.path, 1);
    unsetenv("LASH_CAD");
    return folder;
}

static inline void cad_remove_all(const char* path) {
    DIR* dir = opendir(path);
    for (struct dirent* e; dir != NULL && (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char child[4400];
        struct stat info;
        snprintf(child, sizeof child, "%.4096s/%s", path, e->d_name);
        if (lstat(child, &info) == 0 && S_ISDIR(info.st_mode))
            cad_remove_all(child);
        else
            unlink(child);
    }
    if (dir != NULL) closedir(dir);
    rmdir(path);
}

static inline int cad_files(const char* path) { // files and folders in a folder
    int count = 0;
    DIR* dir = opendir(path);
    for (struct dirent* e; dir != NULL && (e = readdir(dir)) != NULL;) count += e->d_name[0] != '.';
    if (dir != NULL) closedir(dir);
    return count;
}

static inline void cad_write(const char* path, const char* text, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(text, 1, bytes, file) != bytes || fclose(file) != 0) abort();
}

static inline char* cad_read(const char* path, size_t* bytes) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) abort();
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char* text = malloc(*bytes + 1);
    if (fread(text, 1, *bytes, file) != *bytes) abort();
    text[*bytes] = '\0';
    fclose(file);
    return text;
}

// Writes NAME.json, makes NAME.step of it; returns its path (static per call: copy it to keep it).
static inline const char* cad_make(const CadFolder* folder, const char* name, const char* json) {
    static char step[700];
    char file[700], command[2400];
    snprintf(file, sizeof file, "%s/%s.json", folder->path, name);
    snprintf(step, sizeof step, "%s/%s.step", folder->path, name);
    if (access(file, R_OK) == 0 && access(step, R_OK) == 0) { // made before?
        size_t bytes;
        char* known = cad_read(file, &bytes);
        bool same = strcmp(known, json) == 0;
        free(known);
        if (same) return step;
    }
    cad_write(file, json, strlen(json));
    snprintf(command, sizeof command, "'%s/lash-make-step' '%s' '%s'", LASH_BINARY_DIR, file, step);
    if (system(command) != 0) {
        fprintf(stderr, "lash-make-step failed on %s\n", name);
        abort();
    }
    return step;
}

// A part of the given steps (and further keys of the part, with a leading comma).
static inline LashShape* cad_part(const CadFolder* folder, const char* name, const char* steps,
                                  const char* more) {
    char json[16384];
    snprintf(json, sizeof json,
             "{\"format\": \"lash-step/1\", \"name\": \"%s\", \"steps\": [%s]%s}", name, steps,
             more);
    LashError error = {0};
    LashShape* shape = lash_shape_load(cad_make(folder, name, json), NULL, &error);
    if (shape == NULL) fprintf(stderr, "%s: %s\n", error.file, error.message);
    return shape;
}

static inline double cad_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline const char* cad_third_party(void) { // folder of third-party CAD, may not exist
    static char path[700];
    const char* reference = getenv("LASH_REFERENCE_DIR");
    if (reference != NULL)
        snprintf(path, sizeof path, "%s/../cad", reference);
    else
        snprintf(path, sizeof path, "%s/../shared/cad", LASH_SOURCE_DIR);
    return path;
}

#endif

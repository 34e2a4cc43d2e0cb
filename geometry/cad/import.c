// Reading a STEP file: cache first, helper program second.
//
// The key of a cache entry is SHA-256(file content, options) and the identity of the helper program
// (size and time of its file), so a changed file, option or program makes a new entry. An entry is
// written to a temporary name and renamed: other processes see all of it or none. Its checksum and
// indices are verified at each load; a damaged entry is made anew. Helpers run one at a time per
// user (file lock): an import of a big assembly takes gigabytes, and it may be what the others wait
// for. The helper reads the bytes that were hashed, not the file, which may have changed while it
// waited.
#define _GNU_SOURCE // mkostemp
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/input_file.h"
#include "geometry/cad/cad_process.h"
#include "geometry/cad/sha256.h"
#include "geometry/cad/shape_file.h"
#include "geometry/shape.h"

static const double default_time_limit = 120;  // [s] of processor time
static const double default_deflection = 1e-3; // of the part's diagonal
static const char memory_limit[] = "6144";     // address space of the helper [MiB]

enum { PATH = 4096 };

typedef struct Job {
    const char* path;
    LashImport import;
    char helper[LASH_CAD_PATH];
    char scale[40], deflection[40]; // as the helper reads them
    char hash[65];
    char folder[PATH], entry[PATH + 128]; // of the cache; empty: none can be used
} Job;

// The whole file in memory, or NULL.
static char* read_file(const char* path, size_t* bytes, LashError* error) {
    uint64_t size = 0;
    int file = lash_input_open(path, &size, error);
    if (file < 0) return NULL;
    char* data = NULL;
    if (size > (uint64_t)1 << 31) {
        lash_error_set(error, LASH_ERROR_CAD, "", "is larger than 2 GiB");
    } else {
        size_t done = 0;
        data = lash_alloc((size_t)size + 1);
        while (done < size) {
            ssize_t step = read(file, data + done, (size_t)size - done);
            if (step < 0 && errno == EINTR) continue;
            if (step <= 0) break;
            done += (size_t)step;
        }
        *bytes = done;
    }
    close(file);
    return data;
}

static bool make_folder(const char* path) {
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// $XDG_CACHE_HOME/lash or ~/.cache/lash, made when missing. Empty when there is no place.
static void find_folder(char folder[PATH]) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char base[PATH - 8] = "";
    if (xdg != NULL && xdg[0] == '/')
        snprintf(base, sizeof base, "%s", xdg);
    else if (home != NULL && home[0] == '/')
        snprintf(base, sizeof base, "%.4000s/.cache", home);
    folder[0] = '\0';
    if (base[0] == '\0' || !make_folder(base)) return;
    snprintf(folder, PATH, "%s/lash", base);
    if (!make_folder(folder) || access(folder, W_OK | X_OK) != 0) folder[0] = '\0';
}

static void name_entry(Job* job, const char* data, size_t bytes) {
    snprintf(job->scale, sizeof job->scale, "%.17g", job->import.scale);
    snprintf(job->deflection, sizeof job->deflection, "%.17g", job->import.deflection);
    char options[160];
    snprintf(options, sizeof options, "\nscale %s heal %d deflection %s%s", job->scale,
             (int)job->import.heal, job->deflection, job->import.pmi ? " pmi" : "");
    LashSha256 hash = lash_sha256();
    lash_sha256_add(&hash, data, bytes);
    lash_sha256_add(&hash, options, strlen(options));
    lash_sha256_hex(&hash, job->hash);
    struct stat info = {0};
    if (stat(job->helper, &info) != 0) info.st_size = 0;
    unsigned long long identity = (unsigned long long)info.st_size;
    identity = identity * 1000003u + (unsigned long long)info.st_mtim.tv_sec;
    identity = identity * 1000003u + (unsigned long long)info.st_mtim.tv_nsec;
    if (job->folder[0] != '\0')
        snprintf(job->entry, sizeof job->entry, "%s/%s-%d-%llx.shape", job->folder, job->hash,
                 LASH_SHAPE_FILE_VERSION, identity);
}

// The cached shape, or NULL without a message: a missing or damaged entry is no error.
static LashShape* load_entry(const Job* job) {
    if (job->entry[0] == '\0') return NULL;
    LashError ignored = {0};
    size_t bytes = 0;
    char* data = read_file(job->entry, &bytes, &ignored);
    if (data == NULL) return NULL;
    LashShape* shape = lash_shape_unpack(data, bytes, &ignored);
    if (shape != NULL && strcmp(shape->hash, job->hash) != 0) {
        lash_shape_destroy(shape);
        shape = NULL;
    }
    if (shape == NULL) lash_log("cache entry %s is damaged; it is made anew", job->entry);
    return shape;
}

// Failure is no error: the next load runs the helper again.
static void save_entry(const Job* job, const char* data, size_t bytes) {
    if (job->entry[0] == '\0') return;
    char temporary[PATH + 160];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", job->entry);
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) return;
    size_t done = 0;
    while (done < bytes) {
        ssize_t step = write(file, data + done, bytes - done);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) break;
        done += (size_t)step;
    }
    bool written = close(file) == 0 && done == bytes;
    if (!written || rename(temporary, job->entry) != 0) unlink(temporary);
}

static LashShape* run_helper(const Job* job, const char* file, size_t file_bytes,
                             LashError* error) {
    const char* flag[2] = {NULL, NULL};
    int flags = 0;
    if (job->import.heal) flag[flags++] = "--heal";
    if (job->import.pmi) flag[flags++] = "--pmi";
    char* argv[] = {(char*)job->helper,     "read",
                    LASH_CAD_INPUT,         "--scale",
                    (char*)job->scale,      "--deflection",
                    (char*)job->deflection, "--hash",
                    (char*)job->hash,       "--memory",
                    (char*)memory_limit,    (char*)flag[0],
                    (char*)flag[1],         NULL};
    size_t bytes = 0;
    LashCadTask task = {file,
                        file_bytes,
                        job->path,
                        job->import.time_limit,
                        job->import.progress,
                        job->import.reader};
    char* data = lash_cad_run(argv, &task, &bytes, error);
    if (data == NULL) return NULL;
    if (!job->import.no_cache) save_entry(job, data, bytes);
    return lash_shape_unpack(data, bytes, error);
}

// Holds the user's import lock while the helper runs. No place for a lock: no lock.
static int take_lock(const Job* job) {
    if (job->folder[0] == '\0') return -1;
    char path[PATH + 16];
    snprintf(path, sizeof path, "%s/lock", job->folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (file >= 0 && flock(file, LOCK_EX) != 0 && errno == EINTR) {}
    return file;
}

// $LASH_CAD_SECONDS (the option --cad-seconds sets it), or the default.
static double time_limit(void) {
    const char* text = getenv("LASH_CAD_SECONDS");
    double seconds = text != NULL ? strtod(text, NULL) : 0;
    return seconds > 0 && seconds <= 1e9 ? seconds : default_time_limit;
}

static bool options_ok(const LashImport* import, LashError* error) {
    if (!(import->scale >= 0) || import->scale > 1e6)
        return lash_error_set(error, LASH_ERROR_CAD, "scale",
                              "must be positive metres per number of the file, got %g",
                              import->scale);
    if (!(import->deflection >= 0) || import->deflection > 0.5)
        return lash_error_set(error, LASH_ERROR_CAD, "deflection", "must be in (0, 0.5], got %g",
                              import->deflection);
    return true;
}

static LashShape* load(Job* job, const char* data, size_t bytes, LashError* error) {
    find_folder(job->folder);
    if (!lash_cad_find(job->helper, error)) return NULL;
    name_entry(job, data, bytes);
    if (bytes == 0) {
        lash_error_set(error, LASH_ERROR_CAD, "", "the file is empty; expected a STEP file");
        return NULL;
    }
    LashShape* shape = job->import.no_cache ? NULL : load_entry(job);
    if (shape != NULL) return shape;
    int lock = take_lock(job);
    if (!job->import.no_cache) shape = load_entry(job); // made by someone else meanwhile
    if (shape == NULL) shape = run_helper(job, data, bytes, error);
    if (lock >= 0) close(lock);
    return shape;
}

LashShape* lash_shape_load_bytes(const char* path, const char* data, size_t bytes,
                                 const LashImport* import, LashError* error) {
    LashError own = {0};
    if (error == NULL) error = &own;
    if (path == NULL || data == NULL) {
        lash_error_null(error, "the name of a STEP file");
        return NULL;
    }
    Job* job = lash_alloc(sizeof *job);
    job->path = path;
    if (import != NULL) job->import = *import;
    LashShape* shape = NULL;
    if (options_ok(&job->import, error)) {
        if (job->import.time_limit <= 0) job->import.time_limit = time_limit();
        if (job->import.deflection <= 0) job->import.deflection = default_deflection;
        shape = load(job, data, bytes, error);
    }
    lash_free(job);
    if (shape == NULL) lash_error_file(error, path);
    return shape;
}

LashShape* lash_shape_load(const char* path, const LashImport* import, LashError* error) {
    LashError own = {0};
    size_t bytes = 0;
    if (error == NULL) error = &own;
    if (path == NULL) {
        lash_error_null(error, "the name of a STEP file");
        return NULL;
    }
    char helper[LASH_CAD_PATH];
    if (import != NULL && !options_ok(import, error)) {
        lash_error_file(error, path);
        return NULL;
    }
    char* data = lash_cad_find(helper, error) ? read_file(path, &bytes, error) : NULL;
    if (data == NULL) {
        lash_error_file(error, path);
        return NULL;
    }
    LashShape* shape = lash_shape_load_bytes(path, data, bytes, import, error);
    lash_free(data);
    return shape;
}

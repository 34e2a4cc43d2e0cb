// Exclusive temporaries, renamed; a lock beside the target.
#define _GNU_SOURCE // O_NOFOLLOW, getrandom
#include "app/cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/input_file.h"

enum { ATTEMPTS = 100 }; // of a name that nobody has, of a lock that is just being removed

struct AppOutput {
    char* path;      // as the user named it
    char* target;    // what is replaced: links are followed
    char* temporary; // NULL: it has its name already
    char* lock_path;
    int lock;
    FILE* stream;
};

static bool fail(const char* path, LashError* error, const char* what) {
    lash_error_set(error, LASH_ERROR_IO, "", "cannot be written: %s", what);
    lash_error_file(error, path);
    return false;
}

// The folder that a new file goes into: it must be there, and take files.
static bool check_folder(const char* path, LashError* error) {
    struct stat info;
    char what[400];
    const char* slash = strrchr(path, '/');
    char* folder = lash_strdup(slash == NULL ? "." : path);
    if (slash != NULL) folder[slash == path ? 1 : slash - path] = '\0';
    what[0] = '\0';
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        snprintf(what, sizeof what, "there is no folder '%.250s'; make it, or choose another name",
                 folder);
    else if (access(folder, W_OK | X_OK) != 0)
        snprintf(what, sizeof what, "the folder '%.250s' takes no files (%s); choose another",
                 folder, strerror(errno));
    lash_free(folder);
    return what[0] == '\0' || fail(path, error, what);
}

bool app_output_check(const char* path, LashError* error) {
    struct stat info;
    if (path == NULL || path[0] == '\0')
        return fail("", error, "expected the name of a file, found none");
    size_t length = strlen(path);
    if (path[length - 1] == '/') return fail(path, error, "expected a file, found a directory");
    if (!check_folder(path, error)) return false;
    if (stat(path, &info) != 0) return errno == ENOENT || fail(path, error, strerror(errno));
    if (lash_input_was_read((uint64_t)info.st_dev, (uint64_t)info.st_ino))
        return fail(path, error, "it is a file that this command reads; choose another name");
    if (S_ISREG(info.st_mode)) return true;
    lash_error_set(error, LASH_ERROR_IO, "",
                   "cannot be written: expected a file, found %s; give the name of a file",
                   lash_file_kind(info.st_mode));
    lash_error_file(error, path);
    return false;
}

// What path leads to: itself, or the end of its links. To be freed.
static char* follow(const char* path) {
    char target[PATH_MAX], *real = realpath(path, target);
    return lash_strdup(real != NULL ? real : path);
}

// folder/.lash-0123456789abcdef-name, so that it ends like the target's.
static char* temporary_name(const char* target) {
    uint64_t number = 0;
    const char* slash = strrchr(target, '/');
    int folder = slash == NULL ? 0 : (int)(slash - target) + 1;
    const char* name = target + folder;
    if (strlen(name) > 200) name += strlen(name) - 200;
    size_t bytes = strlen(target) + 64;
    char* text = lash_alloc(bytes);
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)(uintptr_t)text ^ (uint64_t)getpid(); // O_EXCL still decides
    snprintf(text, bytes, "%.*s.lash-%016llx-%s", folder, target, (unsigned long long)number, name);
    return text;
}

static FILE* create_temporary(AppOutput* output) {
    for (int i = 0; i < ATTEMPTS; ++i) {
        output->temporary = temporary_name(output->target);
        int file =
            open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file >= 0) return fdopen(file, "wb");
        lash_free(output->temporary);
        output->temporary = NULL;
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

// Who holds the lock, as far as the file tells.
static void fail_held(const AppOutput* output, int lock, LashError* error) {
    char text[32] = "";
    ssize_t n = pread(lock, text, sizeof text - 1, 0);
    long holder = n > 0 ? strtol(text, NULL, 10) : 0;
    if (holder > 0)
        lash_error_set(error, LASH_ERROR_IO, "",
                       "is being written by process %ld; wait for it, or choose another name",
                       holder);
    else
        lash_error_set(error, LASH_ERROR_IO, "",
                       "is being written by another process; wait for it, or choose another name");
    lash_error_file(error, output->path);
}

// One attempt: 1 held now, 0 it was removed meanwhile, -1 with error.
static int try_lock(AppOutput* output, LashError* error) {
    struct stat mine, there;
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int lock = open(output->lock_path, flags, 0666);
    if (lock < 0 || fstat(lock, &mine) != 0 || !S_ISREG(mine.st_mode)) {
        fail(output->lock_path, error, lock < 0 ? strerror(errno) : "expected a file");
        if (lock >= 0) close(lock);
        return -1;
    }
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        fail_held(output, lock, error);
        close(lock);
        return -1;
    }
    if (stat(output->lock_path, &there) != 0 || there.st_ino != mine.st_ino ||
        there.st_dev != mine.st_dev) {
        close(lock);
        return 0;
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)n, 0) != n)
        lash_log("%s: its process number cannot be written", output->lock_path);
    output->lock = lock;
    return 1;
}

static bool take_lock(AppOutput* output, LashError* error) {
    size_t bytes = strlen(output->target) + 8;
    output->lock_path = lash_alloc(bytes);
    snprintf(output->lock_path, bytes, "%s.lock", output->target);
    for (int i = 0; i < ATTEMPTS; ++i) {
        int held = try_lock(output, error);
        if (held != 0) return held > 0;
    }
    return fail(output->path, error, "its lock changes hands all the time");
}

static void free_output(AppOutput* output) {
    if (output->stream != NULL) fclose(output->stream);
    if (output->temporary != NULL) unlink(output->temporary);
    if (output->lock >= 0) {
        unlink(output->lock_path);
        close(output->lock);
    }
    lash_free(output->path);
    lash_free(output->target);
    lash_free(output->temporary);
    lash_free(output->lock_path);
    lash_free(output);
}

AppOutput* app_output_create(const char* path, LashError* error) {
    if (!app_output_check(path, error)) return NULL;
    AppOutput* output = lash_alloc(sizeof *output);
    output->path = lash_strdup(path);
    output->target = follow(path);
    output->lock = -1;
    bool good = take_lock(output, error);
    if (good) {
        output->stream = create_temporary(output);
        good = output->stream != NULL || fail(path, error, strerror(errno));
    }
    if (good) return output;
    free_output(output);
    return NULL;
}

FILE* app_output_stream(AppOutput* output) {
    return output->stream;
}

const char* app_output_temporary(const AppOutput* output) {
    return output->temporary;
}

bool app_output_publish(AppOutput* output, LashError* error) {
    if (output->temporary == NULL) return true;
    // The target may have become something else meanwhile; rename would replace it.
    if (!app_output_check(output->path, error)) return false;
    if (rename(output->temporary, output->target) != 0)
        return fail(output->path, error, strerror(errno));
    lash_free(output->temporary);
    output->temporary = NULL;
    return true;
}

bool app_output_finish(AppOutput* output, LashError* error) {
    errno = 0;
    bool good = fflush(output->stream) == 0 && ferror(output->stream) == 0;
    int code = errno;
    good = fclose(output->stream) == 0 && good;
    if (code == 0) code = errno;
    output->stream = NULL;
    if (!good) fail(output->path, error, code != 0 ? strerror(code) : "the file system refuses");
    good = good && app_output_publish(output, error);
    free_output(output);
    return good;
}

void app_output_discard(AppOutput* output) {
    if (output != NULL) free_output(output);
}

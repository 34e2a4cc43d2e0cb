// Regular files only: a FIFO would wait for its writer for ever, a device has no end.
#include "core/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"

typedef struct Identity {
    uint64_t device, inode;
} Identity;

// Of all files read, each once. A command reads a handful.
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static Identity* list;
static int listed, capacity;

static bool find(Identity file) {
    for (int i = 0; i < listed; ++i)
        if (list[i].device == file.device && list[i].inode == file.inode) return true;
    return false;
}

static void remember(const struct stat* info) {
    Identity file = {(uint64_t)info->st_dev, (uint64_t)info->st_ino};
    pthread_mutex_lock(&list_lock);
    if (!find(file)) {
        if (listed == capacity) {
            capacity = 2 * capacity + 16;
            list = lash_realloc(list, (size_t)capacity * sizeof *list);
        }
        list[listed++] = file;
    }
    pthread_mutex_unlock(&list_lock);
}

bool lash_input_was_read(uint64_t device, uint64_t inode) {
    pthread_mutex_lock(&list_lock);
    bool found = find((Identity){device, inode});
    pthread_mutex_unlock(&list_lock);
    return found;
}

void lash_input_note(const char* path) {
    struct stat info;
    if (path != NULL && stat(path, &info) == 0) remember(&info);
}

const char* lash_file_kind(unsigned mode) {
    if (S_ISREG(mode)) return "a file";
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
    return "no file";
}

int lash_input_open(const char* path, uint64_t* bytes, LashError* error) {
    struct stat info;
    if (path == NULL) {
        lash_error_set(error, LASH_ERROR_IO, "", "expected the name of a file, found none (NULL)");
        return -1;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &info) != 0) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot open: %s", strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        lash_error_set(error, LASH_ERROR_IO, "",
                       "expected a file, found %s; store the bytes in one",
                       lash_file_kind(info.st_mode));
    } else {
        *bytes = (uint64_t)info.st_size;
        remember(&info);
        return file;
    }
    lash_error_file(error, path);
    if (file >= 0) close(file);
    return -1;
}

// Regular files only: a FIFO would wait for its writer for ever, a device has no end.
#include "core/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        return file;
    }
    lash_error_file(error, path);
    if (file >= 0) close(file);
    return -1;
}

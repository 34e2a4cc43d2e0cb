// Looks for models in the places where they can be.
#include "app/cli/data_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool try_folder(const char* folder, const char* between, const char* name, char* path,
                       size_t size) {
    if (folder == NULL) return false;
    int length = snprintf(path, size, "%s%s/%s", folder, between, name);
    return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

bool app_find_model(const char* folder, const char* name, char* path, size_t size) {
    if (folder != NULL) return try_folder(folder, "", name, path, size);
    char program[1024];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(program, '/');
    if (slash != NULL) *slash = '\0';
    return try_folder(getenv("LASH_DATA_DIR"), "", name, path, size) ||
           try_folder("models", "", name, path, size) ||
           try_folder(program, "/../share/lash/models", name, path, size) ||
           try_folder(program, "/../../models", name, path, size);
}

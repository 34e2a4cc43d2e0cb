// Files by their first bytes, missing files by their neighbours.
#define _GNU_SOURCE // memmem
#include "app/cli/file_kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/suggest.h"
#include "core/arena.h"

enum { HEAD = 4096, NEIGHBOURS = 1000 };

// One row per kind: what to call it, which commands take it, how its names end, exit code of a
// command that expected it.
typedef struct Kind {
    AppFileKind kind;
    const char *what, *commands, *ending;
    LashStatus status;
} Kind;
static const Kind kinds_of_files[] = {
    {APP_FILE_MODEL, "a model", "'lash check', 'lash run' and 'lash view' take it", ".json",
     LASH_ERROR_MODEL},
    {APP_FILE_STUDY, "a study", "'lash study run' takes it", ".json", LASH_ERROR_MODEL},
    {APP_FILE_STEP, "a STEP file",
     "'lash info' lists it, 'lash view' shows it, 'lash draft' makes a model of an assembly",
     ".step", LASH_ERROR_CAD},
    {APP_FILE_RESULT, "a result of 'lash run -o'",
     "'lash view' plays it, 'lash export' converts it", ".h5", LASH_ERROR_IO},
    {APP_FILE_STORE, "the store of a study", "'lash study report' and 'lash study dump' read it",
     ".db", LASH_ERROR_IO},
};
enum { KINDS = sizeof kinds_of_files / sizeof *kinds_of_files };

static const Kind* row_of(AppFileKind kind) {
    for (int i = 0; i < KINDS; ++i) {
        if (kinds_of_files[i].kind == kind) return &kinds_of_files[i];
    }
    return NULL;
}

static bool has(const char* head, size_t bytes, const char* words) {
    return memmem(head, bytes, words, strlen(words)) != NULL;
}

AppFileKind app_file_kind(const char* path) {
    struct stat info;
    char head[HEAD];
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return APP_FILE_OTHER;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return APP_FILE_OTHER;
    ssize_t got = read(file, head, sizeof head);
    close(file);
    if (got < 4) return APP_FILE_OTHER;
    size_t bytes = (size_t)got;
    if (memcmp(head, "\x89HDF", 4) == 0) return APP_FILE_RESULT;
    if (bytes >= 15 && memcmp(head, "SQLite format 3", 15) == 0) return APP_FILE_STORE;
    if (has(head, bytes < 512 ? bytes : 512, "ISO-10303-21")) return APP_FILE_STEP;
    const char* c = head;
    while (c < head + bytes && strchr(" \t\r\n", *c) != NULL && *c != '\0') ++c;
    if (c == head + bytes || *c != '{') return APP_FILE_OTHER;
    if (has(head, bytes, "\"lash-model/1\"")) return APP_FILE_MODEL;
    if (has(head, bytes, "\"lash-study/1\"")) return APP_FILE_STUDY;
    return APP_FILE_OTHER;
}

// "a model or a result of 'lash run -o'"
static const char* name_kinds(unsigned kinds, char* text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < KINDS; ++i) {
        if ((kinds & (unsigned)kinds_of_files[i].kind) == 0 || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : " or ",
                                 kinds_of_files[i].what);
    }
    return text;
}

static LashStatus status_of(unsigned kinds) {
    for (int i = 0; i < KINDS; ++i) {
        if ((kinds & (unsigned)kinds_of_files[i].kind) != 0) return kinds_of_files[i].status;
    }
    return LASH_ERROR_IO;
}

static bool ends_in(const char* name, const char* ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcasecmp(name + length - tail, ending) == 0;
}

// Files that the command could take by their name.
static bool fits(const char* name, unsigned kinds) {
    if ((kinds & APP_FILE_STORE) != 0) return ends_in(name, ".db");
    for (int i = 0; i < KINDS; ++i) {
        if ((kinds & (unsigned)kinds_of_files[i].kind) != 0 &&
            ends_in(name, kinds_of_files[i].ending))
            return true;
    }
    return (kinds & APP_FILE_STEP) != 0 && ends_in(name, ".stp");
}

// The file is not there: the nearest name in its folder, or the names that there are.
static bool fail_missing(const char* path, unsigned kinds, LashError* error) {
    char hint[300] = "";
    const char* slash = strrchr(path, '/');
    char* folder = lash_strdup(slash == NULL ? "." : path);
    if (slash != NULL) folder[slash == path ? 1 : slash - path] = '\0';
    DIR* list = opendir(folder);
    if (list == NULL) {
        snprintf(hint, sizeof hint, "; there is no folder '%.200s'", folder);
    } else {
        char* name[NEIGHBOURS];
        int count = 0;
        const char* wanted = slash == NULL ? path : slash + 1;
        AppSuggestion near = app_suggestion(wanted);
        near.distance = 1 + (int)strcspn(wanted, ".") / 3; // endings are alike anyway
        for (struct dirent* entry = readdir(list); entry != NULL && count < NEIGHBOURS;
             entry = readdir(list)) {
            if (!fits(entry->d_name, kinds)) continue;
            name[count] = lash_strdup(entry->d_name);
            app_suggestion_offer(&near, name[count++]);
        }
        closedir(list);
        if (count > 0) app_suggestion_names(&near, hint, sizeof hint);
        if (count == 0)
            snprintf(hint, sizeof hint, "; the folder '%.100s' has no file of its kind", folder);
        for (int i = 0; i < count; ++i) lash_free(name[i]);
    }
    lash_free(folder);
    lash_error_set(error, LASH_ERROR_IO, "", "%s%s",
                   (kinds & APP_FILE_STORE) != 0 ? "there is no such store"
                                                 : "cannot open: No such file or directory",
                   hint);
    lash_error_file(error, path);
    return false;
}

bool app_file_expect(const char* path, unsigned kinds, LashError* error) {
    struct stat info;
    char expected[200];
    if (stat(path, &info) != 0)
        return (errno != ENOENT && errno != ENOTDIR) || fail_missing(path, kinds, error);
    AppFileKind found = app_file_kind(path);
    if (found == APP_FILE_OTHER || (kinds & (unsigned)found) != 0) return true;
    const Kind* row = row_of(found);
    lash_error_set(error, status_of(kinds), "", "expected %s, found %s: %s",
                   name_kinds(kinds, expected, sizeof expected), row->what, row->commands);
    lash_error_file(error, path);
    return false;
}

bool app_file_ending(const char* option, const char* path, const char* endings, LashError* error) {
    static const char* const known[] = {
        ".h5",  ".csv", ".json", ".png", ".jpg", ".jpeg", ".gif", ".bmp",  ".tif", ".tiff", ".webp",
        ".svg", ".pdf", ".mp4",  ".mkv", ".avi", ".webm", ".mov", ".html", ".txt", ".db",   ".step",
        ".stp", ".glb", ".gltf", ".pvd", ".vtk", ".vtu",  ".xls", ".xlsx", ".ods"};
    for (size_t i = 0; i < sizeof known / sizeof *known && path != NULL; ++i) {
        if (!ends_in(path, known[i]) || strstr(endings, known[i]) != NULL) continue;
        return lash_error_set(error, LASH_ERROR_USAGE, option,
                              "expected a file name that ends in %s%s, which is what is written; "
                              "found '%.200s'",
                              strchr(endings, ' ') == NULL ? "" : "one of ", endings, path);
    }
    return true;
}

// A text of one block per file: its hash, the bytes of its name, the bytes of its content, 1 or 0 as
// it follows or not; then name and content, each with a line's end.
//
//     5f2d... 10 20321 1
//     crank.step
//     ISO-10303-21; ...
//
// Texts alone are carried: a byte 0 would end the result's text.
#include "app/run/carried.h"

#include <stdio.h>
#include <string.h>

#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/arena.h"
#include "geometry/cad/sha256.h"

// A result of a small run is a few hundred kB; a STEP part of a mechanism 20 to 500 kB. Beyond this,
// all files together, a result would be little else.
enum {
    MOST_CARRIED = 16 << 20, // [bytes]
    MOST_READ = 1 << 30,
    HEAD = 128 // longest first line of a block
};

static void hash_of(const char* data, size_t bytes, char hex[65]) {
    LashSha256 hash = lash_sha256();
    lash_sha256_add(&hash, data, bytes);
    lash_sha256_hex(&hash, hex);
}

// The file as the model names it; NULL: it cannot be read (any more).
static char* read_used(const LashModel* model, const char* name, size_t* bytes) {
    char path[1024];
    LashError ignored = {0};
    model_cad_path(model, name, path, sizeof path);
    return app_read_file(path, MOST_READ, bytes, &ignored);
}

char* app_carried_pack(const LashModel* model) {
    char* text = NULL;
    size_t used = 0, carried = 0;
    for (int i = 0; i < model->used_files; ++i) {
        const char* name = model->used[i];
        size_t bytes = 0, length = strlen(name);
        char hash[65], *data = read_used(model, name, &bytes);
        if (data == NULL) continue; // it went away while it was simulated
        hash_of(data, bytes, hash);
        bool follows = carried + bytes <= MOST_CARRIED && memchr(data, '\0', bytes) == NULL;
        text = lash_realloc(text, used + HEAD + length + (follows ? bytes : 0) + 2);
        used += (size_t)snprintf(text + used, HEAD + length, "%s %zu %zu %d\n%s\n", hash, length,
                                 bytes, follows, name);
        if (follows) {
            memcpy(text + used, data, bytes);
            used += bytes;
            text[used++] = '\n';
            text[used] = '\0';
            carried += bytes;
        }
        lash_free(data);
    }
    return text;
}

// Reads one block at *at; false: it is none.
static bool read_block(char** at, const char* end, LashModelFile* file) {
    size_t length = 0, bytes = 0;
    int follows = 0;
    char head[HEAD], *line_end = memchr(*at, '\n', (size_t)(end - *at));
    if (line_end == NULL || line_end - *at >= HEAD) return false;
    snprintf(head, sizeof head, "%.*s", (int)(line_end - *at), *at);
    if (sscanf(head, "%64[0-9a-f] %9zu %10zu %1d", file->hash, &length, &bytes, &follows) != 4 ||
        strlen(file->hash) != 64)
        return false;
    char* name = line_end + 1;
    if (length >= (size_t)(end - name) || name[length] != '\n') return false;
    char* data = name + length + 1;
    name[length] = '\0';
    file->name = name;
    file->bytes = bytes;
    file->data = NULL;
    *at = data;
    if (follows == 0) return true;
    if (bytes >= (size_t)(end - data) || data[bytes] != '\n') return false;
    data[bytes] = '\0';
    file->data = data;
    *at = data + bytes + 1;
    return true;
}

bool app_carried_unpack(const char* text, AppCarried* carried, LashError* error) {
    *carried = (AppCarried){.text = lash_strdup(text)};
    char *at = carried->text, *end = at + strlen(at);
    while (at < end) {
        LashModelFile file = {0};
        char hash[65];
        if (!read_block(&at, end, &file)) {
            app_carried_free(carried);
            return lash_error_set(error, LASH_ERROR_IO, "files", "this result is damaged");
        }
        if (file.data != NULL) {
            hash_of(file.data, file.bytes, hash);
            if (strcmp(hash, file.hash) != 0) file.data = NULL; // another one: not carried
        }
        size_t count = (size_t)carried->files + 1;
        carried->file = lash_realloc(carried->file, count * sizeof *carried->file);
        carried->file[carried->files++] = file;
    }
    return true;
}

void app_carried_free(AppCarried* carried) {
    lash_free(carried->file);
    lash_free(carried->text);
    *carried = (AppCarried){0};
}

const char* app_carried_changes(const AppCarried* carried, const LashModel* model, char* text,
                                size_t size) {
    int changed = 0;
    bool carries = false;
    text[0] = '\0';
    for (int i = 0; i < carried->files; ++i) {
        const LashModelFile* file = &carried->file[i];
        size_t bytes = 0, used = strlen(text);
        char hash[65], *data = read_used(model, file->name, &bytes);
        if (data == NULL) continue;
        hash_of(data, bytes, hash);
        lash_free(data);
        if (strcmp(hash, file->hash) == 0) continue;
        carries = file->data != NULL;
        if (changed++ < 3)
            snprintf(text + used, size - used, "%s%.80s", changed > 1 ? ", " : "", file->name);
    }
    if (changed == 0) return text;
    size_t used = strlen(text);
    if (changed > 3)
        used += (size_t)snprintf(text + used, size - used, " and %d more", changed - 3);
    snprintf(text + used, size - used, " changed since the run; %s",
             carries ? "the result shows it as it was"
                     : "the result does not carry so large a file and shows it as it is now");
    return text;
}

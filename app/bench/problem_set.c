// What is packed. Numbers of a problem repeat: masses from step to step, directions in both parts of a contact.
// In each text a number written with a point or an exponent becomes a mark, and its absolute value stands once in
// one list for the whole file:
//
//     ~        the next value of the list
//     =k;      the one k before the next, new in this problem
//     @k;      the k-th of the list
//
// The marked texts and the list, its bytes in the order of their weight, are packed by HDF5 itself (deflate).
// The texts hold none of these marks: they are numbers and the words of their layout.
// Data sets: names (lines MODEL_SIZE_STEP), ends (of the marked texts), marked, values. Only numbers whose text is
// that of %.17g are marked, so that a text comes back byte by byte.
#include "app/bench/problem_set.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arena.h"

static const char GROUP[] = "lash_friction_set";
enum { NUMBER_LENGTH = 32 };

// --- Making one ----------------------------------------------------------------------------------

typedef struct Bytes {
    char* at;
    size_t count, room;
} Bytes;

struct AppProblemSet {
    Bytes names, marked;
    int64_t* end;
    double* value;
    int32_t* slot; // (slots) hash table of the values: 1 + index, 0: none
    size_t count, count_room, problems, problem_room, slots;
    size_t problem_first; // first value that is new in this problem
};

static void put(Bytes* bytes, const char* text, size_t length) {
    if (bytes->count + length > bytes->room) {
        bytes->room = 2 * (bytes->count + length);
        bytes->at = lash_realloc(bytes->at, bytes->room);
    }
    memcpy(bytes->at + bytes->count, text, length);
    bytes->count += length;
}

AppProblemSet* app_problem_set_begin(void) {
    AppProblemSet* set = lash_alloc(sizeof *set);
    *set = (AppProblemSet){0};
    return set;
}

// Place of a value in the table: where it is, or where it belongs.
static size_t place_of(const AppProblemSet* set, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t at = (size_t)(bits * 0x9e3779b97f4a7c15u >> 20) & (set->slots - 1);
    while (set->slot[at] != 0 && set->value[set->slot[at] - 1] != value)
        at = (at + 1) & (set->slots - 1);
    return at;
}

// Twice as many slots before half of them are taken.
static void make_room(AppProblemSet* set) {
    if (2 * set->count < set->slots) return;
    set->slots = set->slots == 0 ? 1024 : 2 * set->slots;
    set->count_room = set->slots;
    set->slot = lash_realloc(set->slot, set->slots * sizeof *set->slot);
    set->value = lash_realloc(set->value, set->count_room * sizeof *set->value);
    memset(set->slot, 0, set->slots * sizeof *set->slot);
    for (size_t i = 0; i < set->count; ++i)
        set->slot[place_of(set, set->value[i])] = (int32_t)i + 1;
}

static void put_number(AppProblemSet* set, double value) {
    char text[NUMBER_LENGTH];
    make_room(set);
    if (signbit(value)) put(&set->marked, "-", 1);
    value = fabs(value);
    size_t at = place_of(set, value), known = (size_t)set->slot[at];
    if (known == 0) {
        set->value[set->count++] = value;
        set->slot[at] = (int32_t)set->count;
        put(&set->marked, "~", 1);
        return;
    }
    bool here = --known >= set->problem_first;
    int length =
        snprintf(text, sizeof text, "%c%zu;", here ? '=' : '@', here ? set->count - known : known);
    put(&set->marked, text, (size_t)length);
}

// Is the word a number whose text can be made again from its value?
static bool is_number(const char* word, size_t length, double* value) {
    char text[NUMBER_LENGTH], again[NUMBER_LENGTH];
    if (length == 0 || length >= sizeof text || strspn(word, "+-.0123456789e") < length)
        return false;
    memcpy(text, word, length);
    text[length] = 0;
    if (strpbrk(text, ".e") == NULL) return false;
    *value = strtod(text, NULL);
    snprintf(again, sizeof again, "%.17g", *value);
    return strcmp(text, again) == 0;
}

void app_problem_set_add(AppProblemSet* set, const AppDrawn* drawn) {
    char name[80];
    int length = snprintf(name, sizeof name, "%s_%d_%04d\n", app_scale_name(drawn->model),
                          drawn->size, drawn->step);
    put(&set->names, name, (size_t)length);
    set->problem_first = set->count;
    for (size_t i = 0; i < drawn->bytes;) {
        size_t word = strcspn(drawn->text + i, " \n");
        double value;
        if (word > drawn->bytes - i) word = drawn->bytes - i;
        LASH_ASSERT(word == 0 || strcspn(drawn->text + i, "~=@") >= word);
        if (is_number(drawn->text + i, word, &value))
            put_number(set, value);
        else
            put(&set->marked, drawn->text + i, word);
        i += word;
        if (i < drawn->bytes) put(&set->marked, drawn->text + i++, 1); // what ended the word
    }
    if (set->problems == set->problem_room) {
        set->problem_room = 2 * set->problem_room + 64;
        set->end = lash_realloc(set->end, set->problem_room * sizeof *set->end);
    }
    set->end[set->problems++] = (int64_t)set->marked.count;
}

static bool write_data(hid_t group, const char* name, hid_t type, size_t count, const void* data) {
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, 1, &size);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 9);
    H5Pset_obj_track_times(how, false); // the same file every time
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    H5Pclose(how);
    H5Sclose(space);
    return good;
}

static bool write_set(const AppProblemSet* set, const char* path) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // messages are ours
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) return false;
    hid_t group = H5Gcreate2(file, GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 &&
                write_data(group, "names", H5T_STD_U8LE, set->names.count, set->names.at) &&
                write_data(group, "ends", H5T_STD_I64LE, set->problems, set->end) &&
                write_data(group, "marked", H5T_STD_U8LE, set->marked.count, set->marked.at) &&
                write_data(group, "values", H5T_IEEE_F64LE, set->count, set->value);
    if (group >= 0) H5Gclose(group);
    return H5Fclose(file) >= 0 && good;
}

bool app_problem_set_end(AppProblemSet* set, const char* path, LashError* error) {
    bool good = path == NULL || set->problems == 0 || write_set(set, path);
    lash_free(set->names.at);
    lash_free(set->marked.at);
    lash_free(set->end);
    lash_free(set->value);
    lash_free(set->slot);
    lash_free(set);
    return good || lash_error_set(error, LASH_ERROR_IO, path, "cannot be written");
}

// --- Reading one ---------------------------------------------------------------------------------

typedef struct Packed {
    char *names, *marked;
    int64_t* end;
    double* value;
    size_t names_size, marked_size, problems, values;
} Packed;

// H5Dread in a child process: packed bytes that were damaged can crash the library. False: it cannot be read.
static bool read_apart(hid_t set, hid_t type, void* data, size_t bytes) {
    int status = -1;
    void* shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return false;
    pid_t child = fork();
    if (child == 0) _exit(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, shared) < 0);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (status == 0) memcpy(data, shared, bytes);
    munmap(shared, bytes);
    return status == 0;
}

// All of a data set of at most 100 million numbers, and a zero behind it; NULL: it cannot be read.
static void* read_data(hid_t file, const char* name, hid_t type, size_t* count) {
    static const hssize_t MOST = 100000000;
    char path[64];
    void* data = NULL;
    snprintf(path, sizeof path, "%s/%s", GROUP, name);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
    hssize_t length = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (length > 0 && length <= MOST) {
        *count = (size_t)length;
        data = lash_alloc((*count + 1) * H5Tget_size(type));
        memset(data, 0, (*count + 1) * H5Tget_size(type));
        if (!read_apart(set, type, data, *count * H5Tget_size(type))) {
            lash_free(data);
            data = NULL;
        }
    }
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    return data;
}

// MODEL_SIZE_STEP and the end of the line after it.
static char* read_name(char* name, AppDrawn* drawn) {
    char* end = strchr(name, '\n');
    if (end == NULL) return NULL;
    for (int model = 0; model < APP_SCALE_MODELS; ++model) {
        const char* known = app_scale_name((AppScaleModel)model);
        size_t length = strlen(known);
        if (strncmp(name, known, length) != 0) continue;
        drawn->model = (AppScaleModel)model;
        if (sscanf(name + length, "_%d_%d", &drawn->size, &drawn->step) == 2) return end + 1;
    }
    return NULL;
}

// The text of a problem from its marked text; next: the value that ~ stands for. False: a mark means nothing.
static bool unpack(const Packed* packed, size_t from, size_t to, size_t* next, FILE* text) {
    for (size_t i = from; i < to; ++i) {
        char c = packed->marked[i];
        size_t index = *next;
        if (c != '~' && c != '=' && c != '@') {
            fputc(c, text);
            continue;
        }
        if (c == '~') ++*next;
        if (c != '~') {
            char* end;
            unsigned long long k = strtoull(packed->marked + i + 1, &end, 10);
            if (*end != ';' || k > packed->values) return false;
            index = c == '=' ? *next - (size_t)k : (size_t)k;
            i = (size_t)(end - packed->marked);
        }
        if (index >= packed->values) return false;
        fprintf(text, "%.17g", packed->value[index]);
    }
    return true;
}

static bool each_problem(const Packed* packed, int stride, AppDrawnEach* each, void* context,
                         LashError* error) {
    size_t from = 0, next = 0;
    char* name = packed->names;
    for (size_t k = 0; k < packed->problems; ++k) {
        size_t to = packed->end[k] < 0 ? 0 : (size_t)packed->end[k], bytes = 0;
        char* text = NULL;
        AppDrawn drawn = {0};
        name = read_name(name, &drawn);
        if (name == NULL || to < from || to > packed->marked_size)
            return lash_error_set(error, LASH_ERROR_MODEL, GROUP, "is damaged");
        FILE* stream = open_memstream(&text, &bytes);
        LASH_ASSERT(stream != NULL);
        bool good = unpack(packed, from, to, &next, stream);
        fclose(stream);
        if (!good) lash_error_set(error, LASH_ERROR_MODEL, GROUP, "is damaged");
        drawn.text = text;
        drawn.bytes = bytes;
        if (good && k % (size_t)stride == 0) good = each(context, &drawn, error);
        free(text);
        if (!good) return false;
        from = to;
    }
    return true;
}

bool app_problem_set_is(const char* path) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return false;
    bool is = H5Lexists(file, GROUP, H5P_DEFAULT) > 0;
    H5Fclose(file);
    return is;
}

bool app_problem_set_read(const char* path, int stride, AppDrawnEach* each, void* context,
                          LashError* error) {
    Packed packed = {0};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file >= 0) {
        packed.names = read_data(file, "names", H5T_NATIVE_CHAR, &packed.names_size);
        packed.marked = read_data(file, "marked", H5T_NATIVE_CHAR, &packed.marked_size);
        packed.end = read_data(file, "ends", H5T_NATIVE_INT64, &packed.problems);
        packed.value = read_data(file, "values", H5T_NATIVE_DOUBLE, &packed.values);
        H5Fclose(file);
    }
    bool there =
        packed.names != NULL && packed.marked != NULL && packed.end != NULL && packed.value != NULL;
    bool good = there ? each_problem(&packed, stride, each, context, error)
                      : lash_error_set(error, LASH_ERROR_MODEL, GROUP, "is damaged");
    lash_free(packed.names);
    lash_free(packed.marked);
    lash_free(packed.end);
    lash_free(packed.value);
    if (!good) lash_error_file(error, path);
    return good;
}

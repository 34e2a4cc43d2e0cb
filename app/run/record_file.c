// Checked reading of result files.
//
// A result may come from anywhere. Accepted is only what record_write.c writes: hard links, plain
// storage in this file, fixed types, chunks of our sizes, and no more rows than the file has bytes
// for. Nothing is allocated for what the file merely declares.
#include "app/run/record_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/run/record_internal.h"
#include "core/arena.h"

enum {
    READ_ATTEMPTS = 12,      // of a block that a running writer may be changing; the pause doubles
    ATTRIBUTE_BYTES = 65536, // of a text in an attribute
    MOST_NAMES = 1000000,    // bodies, joints or contacts
    TIMES_AT_ONCE = 4096     // read while looking for the last frame
};

struct RecordFile {
    hid_t file, events, points, transfer;
    hid_t data[LASH_SERIES_COUNT];
    uint64_t bytes; // of the file
    char group[32]; // the last one whose link was looked at
    LashRecordLayout layout;
};

static bool fail(LashError* error, const char* what, const char* expected) {
    return lash_error_set(error, LASH_ERROR_IO, what,
                          "%s%sthis result is damaged or not a lash-result/2 file", expected,
                          expected[0] == '\0' ? "" : "; ");
}

static bool link_is_hard(hid_t file, const char* path) {
    H5L_info_t info;
    return H5Lget_info(file, path, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

// Every step of a path, which is a name or group/name, is a link to an object of this very file.
static bool links_are_hard(RecordFile* record_file, const char* path) {
    const char* slash = strchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    if (length >= sizeof record_file->group) return false;
    if (length > 0 &&
        (strncmp(path, record_file->group, length) != 0 || record_file->group[length] != '\0')) {
        char group[sizeof record_file->group] = {0};
        memcpy(group, path, length);
        if (!link_is_hard(record_file->file, group)) return false;
        memcpy(record_file->group, group, sizeof group);
    }
    return link_is_hard(record_file->file, path);
}

// Stored plainly, in this file: no filter, no other file. chunk[3] gets the shape of its chunks,
// zeros: it has none, or of more dimensions than we write.
static bool storage_is_plain(hid_t data, hsize_t* chunk) {
    hid_t list = H5Dget_create_plist(data);
    if (list < 0) return false;
    H5D_layout_t layout = H5Pget_layout(list);
    bool good = layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED;
    good = good && H5Pget_external_count(list) == 0 && H5Pget_nfilters(list) == 0;
    memset(chunk, 0, 3 * sizeof *chunk);
    if (layout == H5D_CHUNKED && H5Pget_chunk(list, 3, chunk) > 3)
        memset(chunk, 0, 3 * sizeof *chunk);
    H5Pclose(list);
    return good;
}

// Chunks as the writer makes them: at most `rows` rows, and whole ones.
static bool chunks_are_ours(const hsize_t* chunk, int rank, const hsize_t* shape, int rows) {
    bool good = chunk[0] >= 1 && chunk[0] <= (hsize_t)rows;
    for (int i = 1; i < 3 && good; ++i) good = chunk[i] == (i < rank ? shape[i] : 0);
    return good;
}

// The dataset at path, or -1; chunk[3] gets the shape of its chunks.
static hid_t open_data(RecordFile* record_file, const char* path, hsize_t* chunk) {
    if (!links_are_hard(record_file, path)) return -1;
    hid_t data = H5Dopen2(record_file->file, path, H5P_DEFAULT);
    if (data < 0) return -1;
    if (storage_is_plain(data, chunk)) return data;
    H5Dclose(data);
    return -1;
}

// The extent of a dataset or attribute: its rank, and its shape where it has at most 3 dimensions.
static int extent(hid_t space, hsize_t* shape) {
    if (space < 0) return -1;
    int rank = -1;
    H5S_class_t kind = H5Sget_simple_extent_type(space);
    if (kind == H5S_SCALAR) rank = 0;
    if (kind == H5S_SIMPLE) rank = H5Sget_simple_extent_ndims(space);
    if (rank > 3) rank = -1;
    if (rank > 0 && H5Sget_simple_extent_dims(space, shape, NULL) != rank) rank = -1;
    H5Sclose(space);
    return rank;
}

// Bytes of a text of fixed length, 0: it is none.
static size_t text_bytes(hid_t type) {
    if (type < 0) return 0;
    bool text = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    return text ? H5Tget_size(type) : 0;
}

static char* read_attribute(hid_t object, const char* name) {
    hsize_t shape[3];
    char* text = NULL;
    if (H5Aexists(object, name) <= 0) return NULL;
    hid_t item = H5Aopen(object, name, H5P_DEFAULT);
    if (item < 0) return NULL;
    hid_t type = H5Aget_type(item);
    size_t bytes = text_bytes(type);
    if (bytes > 0 && bytes <= ATTRIBUTE_BYTES && extent(H5Aget_space(item), shape) == 0) {
        text = lash_alloc(bytes + 1);
        if (H5Aread(item, type, text) < 0) {
            lash_free(text);
            text = NULL;
        }
    }
    if (type >= 0) H5Tclose(type);
    H5Aclose(item);
    return text;
}

static char* read_text(RecordFile* file, const char* path) {
    hsize_t shape[3], chunk[3];
    char* text = NULL;
    hid_t data = open_data(file, path, chunk);
    if (data < 0) return NULL;
    hid_t type = H5Dget_type(data);
    size_t bytes = text_bytes(type);
    if (bytes > 0 && bytes <= file->bytes && extent(H5Dget_space(data), shape) == 0) {
        text = lash_alloc(bytes + 1);
        if (H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
            lash_free(text);
            text = NULL;
        }
    }
    if (type >= 0) H5Tclose(type);
    H5Dclose(data);
    return text;
}

static void free_list(char** list, int count) {
    for (int i = 0; i < count && list != NULL; ++i) lash_free(list[i]);
    lash_free(list);
}

// The list of names at path; *count is 0 where there is none, -1: damaged.
static char** read_names(RecordFile* record_file, const char* path, int* count) {
    hsize_t shape[3] = {0}, chunk[3];
    char** name = NULL;
    *count = 0;
    if (H5Lexists(record_file->file, path, H5P_DEFAULT) <= 0) return NULL;
    *count = -1;
    hid_t data = open_data(record_file, path, chunk);
    if (data < 0) return NULL;
    hid_t type = H5Dget_type(data);
    bool good = text_bytes(type) == RECORD_NAME_BYTES && extent(H5Dget_space(data), shape) == 1 &&
                shape[0] >= 1 && shape[0] <= MOST_NAMES &&
                shape[0] * RECORD_NAME_BYTES <= record_file->bytes &&
                H5Dget_storage_size(data) == shape[0] * RECORD_NAME_BYTES;
    char* text = good ? lash_alloc((size_t)shape[0] * RECORD_NAME_BYTES) : NULL;
    if (good && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0) {
        *count = (int)shape[0];
        name = lash_alloc((size_t)*count * sizeof *name);
        for (int i = 0; i < *count; ++i) {
            text[(size_t)i * RECORD_NAME_BYTES + RECORD_NAME_BYTES - 1] = '\0';
            name[i] = lash_strdup(text + (size_t)i * RECORD_NAME_BYTES);
        }
    }
    lash_free(text);
    if (type >= 0) H5Tclose(type);
    H5Dclose(data);
    return name;
}

// One number of exactly this type: a dataset, or an attribute of the file.
static bool read_number(RecordFile* record_file, const char* path, bool attribute, hid_t stored,
                        hid_t memory, void* number) {
    hsize_t shape[3], chunk[3];
    if (attribute && H5Aexists(record_file->file, path) <= 0) return false;
    hid_t item = attribute ? H5Aopen(record_file->file, path, H5P_DEFAULT)
                           : open_data(record_file, path, chunk);
    if (item < 0) return false;
    hid_t type = attribute ? H5Aget_type(item) : H5Dget_type(item);
    hid_t space = attribute ? H5Aget_space(item) : H5Dget_space(item);
    bool good = extent(space, shape) == 0 && type >= 0 && H5Tequal(type, stored) > 0;
    if (good && attribute) good = H5Aread(item, memory, number) >= 0;
    if (good && !attribute)
        good = H5Dread(item, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >= 0;
    if (type >= 0) H5Tclose(type);
    if (attribute)
        H5Aclose(item);
    else
        H5Dclose(item);
    return good;
}

// Rows that the file has bytes for, -1: it declares more than it could hold.
static int64_t stored_rows(const RecordFile* file, hid_t data, hsize_t rows, size_t row_bytes) {
    if (rows > file->bytes / row_bytes) return -1;
    hsize_t stored = H5Dget_storage_size(data) / row_bytes;
    return (int64_t)(stored < rows ? stored : rows);
}

// Opens a series and checks its type and shape; returns its frames, -1: damaged.
static int64_t open_series(RecordFile* file, int s, LashError* error) {
    hsize_t expected[3] = {0}, shape[3] = {0}, chunk[3];
    int rank = record_series_shape(&file->layout, s, expected);
    hid_t data = open_data(file, record_spec[s].path, chunk);
    if (data < 0) {
        fail(error, record_spec[s].path, "expected a plain dataset");
        return -1;
    }
    file->data[s] = data;
    hid_t type = H5Dget_type(data);
    bool good = type >= 0 && H5Tequal(type, record_series_type(s)) > 0;
    if (type >= 0) H5Tclose(type);
    if (!good) {
        fail(error, record_spec[s].path,
             record_spec[s].integer ? "expected whole numbers of 8 bytes, low byte first"
                                    : "expected floating-point numbers of 8 bytes, low byte first");
        return -1;
    }
    good = extent(H5Dget_space(data), shape) == rank;
    for (int i = 1; i < rank && good; ++i) good = shape[i] == expected[i];
    if (!good || !chunks_are_ours(chunk, rank, shape, RECORD_TIME_CHUNK)) {
        fail(error, record_spec[s].path, "its shape is not that of the names");
        return -1;
    }
    int64_t rows =
        stored_rows(file, data, shape[0], (size_t)file->layout.width[s] * sizeof(double));
    if (rows < 0)
        lash_error_set(error, LASH_ERROR_IO, record_spec[s].path,
                       "%llu frames are declared in a file of %llu bytes; this result is damaged",
                       (unsigned long long)shape[0], (unsigned long long)file->bytes);
    return rows;
}

// Frames that all series have, and whose time was written.
static bool count_frames(RecordFile* file, LashRecord* head, LashError* error) {
    int64_t frames = INT64_MAX;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (file->layout.width[s] == 0) continue;
        int64_t rows = open_series(file, s, error);
        if (rows < 0) return false;
        if (rows < frames) frames = rows;
    }
    double time[TIMES_AT_ONCE];
    int64_t held = 0; // times in memory, those before frame `frames`
    while (frames > 0) {
        if (held == 0) {
            held = frames < TIMES_AT_ONCE ? frames : TIMES_AT_ONCE;
            if (!record_file_series(file, LASH_SERIES_TIME, frames - held, held, time, error))
                return false;
        }
        if (!isnan(time[held - 1])) break;
        --held;
        --frames;
    }
    head->frames = frames;
    return true;
}

// The members of a compound in the file are some of ours, of the same types.
static bool members_are_ours(hid_t type, hid_t ours) {
    if (type < 0 || H5Tget_class(type) != H5T_COMPOUND) return false;
    int members = H5Tget_nmembers(type);
    bool good = members >= 1 && members <= H5Tget_nmembers(ours);
    for (int i = 0; i < members && good; ++i) {
        char* name = H5Tget_member_name(type, (unsigned)i);
        int own = name == NULL ? -1 : H5Tget_member_index(ours, name);
        hid_t a = H5Tget_member_type(type, (unsigned)i);
        hid_t b = own < 0 ? -1 : H5Tget_member_type(ours, (unsigned)own);
        good = a >= 0 && b >= 0 && H5Tequal(a, b) > 0;
        if (a >= 0) H5Tclose(a);
        if (b >= 0) H5Tclose(b);
        if (name != NULL) H5free_memory(name);
    }
    return good && H5Tget_size(type) <= H5Tget_size(ours);
}

// Opens a table, whose row type is closed; returns its number of rows, -1: damaged.
static int64_t open_table(RecordFile* file, const char* name, hid_t ours, hid_t* handle,
                          LashError* error) {
    hsize_t shape[3] = {0}, chunk[3];
    int64_t rows = -1;
    hid_t data = open_data(file, name, chunk), type = -1;
    if (data >= 0) {
        *handle = data;
        type = H5Dget_type(data);
        if (members_are_ours(type, ours) && extent(H5Dget_space(data), shape) == 1 &&
            chunks_are_ours(chunk, 1, shape, RECORD_TABLE_BATCH))
            rows = stored_rows(file, data, shape[0], H5Tget_size(type));
    }
    if (type >= 0) H5Tclose(type);
    H5Tclose(ours);
    if (rows < 0) fail(error, name, "its rows are not those of this table");
    return rows;
}

// A kill may leave the last rows unwritten, that is zero: an event is of a contact or of a joint, the other is -1. (The
// length of its step alone does not tell: it is 0 where a scheme locates events.)
static bool is_written(const LashRecordEvent* event) {
    return event->h > 0 || event->contact < 0 || event->joint < 0;
}

static bool count_events(RecordFile* file, LashRecord* head, LashError* error) {
    enum { AT_ONCE = 256 };
    LashRecordEvent last[AT_ONCE];
    int64_t events = open_table(file, "events", record_event_type(), &file->events, error),
            held = 0;
    if (events < 0) return false;
    while (events > 0) {
        if (held == 0) {
            held = events < AT_ONCE ? events : AT_ONCE;
            if (!record_file_events(file, events - held, held, last, error)) return false;
        }
        if (is_written(&last[held - 1])) break;
        --held;
        --events;
    }
    head->events = events;
    return true;
}

// Contact points of the frames that count; a frame whose points are missing does not count.
static bool count_points(RecordFile* file, LashRecord* head, LashError* error) {
    int64_t rows = open_table(file, "points", record_point_type(), &file->points, error), held = 0;
    double end[TIMES_AT_ONCE];
    if (rows < 0) return false;
    while (head->frames > 0) {
        if (held == 0) {
            held = head->frames < TIMES_AT_ONCE ? head->frames : TIMES_AT_ONCE;
            if (!record_file_series(file, LASH_SERIES_POINTS_END, head->frames - held, held, end,
                                    error))
                return false;
        }
        double last = end[held - 1];
        if (last >= 0 && last <= (double)rows) {
            head->points = (int64_t)last;
            return true;
        }
        --held;
        --head->frames;
    }
    return true;
}

// Columns of the joints: results before free joints had three for all.
static int read_columns(RecordFile* file) {
    hsize_t shape[3] = {0}, chunk[3];
    hid_t data = open_data(file, lash_series_path(LASH_SERIES_JOINT_COORDINATE), chunk);
    if (data < 0) return LASH_RECORD_COORDINATES;
    int rank = extent(H5Dget_space(data), shape);
    H5Dclose(data);
    bool wide = rank == 3 && shape[2] == LASH_RECORD_FREE_COORDINATES;
    return wide ? LASH_RECORD_FREE_COORDINATES : LASH_RECORD_COORDINATES;
}

// Results of models without inputs, and older ones, have none.
static bool read_inputs(RecordFile* file, LashRecord* head, int* inputs, LashError* error) {
    int units = 0;
    *inputs = 0;
    if (H5Lexists(file->file, "inputs", H5P_DEFAULT) <= 0) return true;
    head->input_name = read_names(file, "inputs/name", inputs);
    head->layout.inputs = *inputs > 0 ? *inputs : 0;
    head->input_unit = read_names(file, "inputs/unit", &units);
    if (units == *inputs && *inputs > 0) return true;
    free_list(head->input_unit, units);
    head->input_unit = NULL;
    return fail(error, "inputs/name, inputs/unit", "expected as many of both, of 64 bytes");
}

static bool read_lists(RecordFile* file, LashRecord* head, LashError* error) {
    int bodies, joints, types, contacts, inputs;
    head->body_name = read_names(file, "bodies/name", &bodies);
    head->layout.bodies = bodies > 0 ? bodies : 0;
    head->joint_name = read_names(file, "joints/name", &joints);
    head->layout.joints = joints > 0 ? joints : 0;
    head->contact_name = read_names(file, "contacts/name", &contacts);
    head->layout.contacts = contacts > 0 ? contacts : 0;
    head->joint_type = read_names(file, "joints/type", &types);
    if (types != joints) { // one of the lists is damaged
        free_list(head->joint_type, types);
        head->joint_type = NULL;
        return fail(error, "joints/type", "expected as many as joints/name");
    }
    if (bodies <= 0) return fail(error, "bodies/name", "expected names of 64 bytes");
    if (joints < 0) return fail(error, "joints/name", "expected names of 64 bytes");
    if (contacts < 0) return fail(error, "contacts/name", "expected names of 64 bytes");
    if (!read_inputs(file, head, &inputs, error)) return false;
    const char* own = lash_series_path(LASH_SERIES_ALGORITHMIC); // results before it have none
    head->layout = lash_record_layout(
        (LashRecordSizes){.bodies = bodies,
                          .joints = joints,
                          .contacts = contacts,
                          .inputs = inputs,
                          .coordinates = read_columns(file),
                          .algorithmic = H5Lexists(file->file, own, H5P_DEFAULT) > 0});
    file->layout = head->layout;
    return true;
}

static bool read_head(RecordFile* record_file, LashRecord* head, LashError* error) {
    char* format = read_attribute(record_file->file, "format");
    bool good = format != NULL && strcmp(format, "lash-result/2") == 0;
    lash_free(format);
    if (!good) return fail(error, "format", "expected \"lash-result/2\"");
    head->version = read_attribute(record_file->file, "version");
    head->model_file = read_attribute(record_file->file, "model_file");
    head->scheme = read_attribute(record_file->file, "scheme");
    head->model_text = read_text(record_file, "model");
    head->options = read_text(record_file, "options");
    bool carries = H5Lexists(record_file->file, "files", H5P_DEFAULT) > 0;
    head->files = carries ? read_text(record_file, "files") : lash_strdup("");
    if (head->files == NULL) return fail(error, "files", "expected a text");
    if (head->version == NULL || head->model_file == NULL || head->scheme == NULL)
        return fail(error, "version, model_file, scheme", "expected texts");
    if (head->model_text == NULL) return fail(error, "model", "expected a text");
    if (head->options == NULL) return fail(error, "options", "expected a text");
    if (!read_number(record_file, "step", true, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &head->step))
        return fail(error, "step", "expected one floating-point number of 8 bytes");
    int32_t complete = 0;
    if (!read_number(record_file, "complete", false, H5T_STD_I32LE, H5T_NATIVE_INT32, &complete))
        return fail(error, "complete", "expected one whole number of 4 bytes");
    head->complete = complete == 1;
    return read_lists(record_file, head, error);
}

// A file that was closed opens plainly; one of a killed or running writer only as a follower.
static hid_t open_file(int descriptor, const void* image, size_t bytes) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    if (descriptor < 0) {
        H5Pset_fapl_core(access, 65536, 0);
        H5Pset_file_image(access, (void*)(uintptr_t)image, bytes);
        file = H5Fopen("image", H5F_ACC_RDONLY, access);
    } else {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor); // this file, not its name
        H5Pset_metadata_read_attempts(access, READ_ATTEMPTS);
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
        if (file < 0) file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    }
    H5Pclose(access);
    return file;
}

// The beginning of every file that record_write.c makes: signature, superblock of version 3 (its
// parts carry checksums), addresses and lengths of 8 bytes.
static bool begins_like_ours(int descriptor, const void* image, size_t bytes) {
    static const unsigned char expected[11] = {0x89, 'H',  'D', 'F', '\r', '\n',
                                               0x1a, '\n', 3,   8,   8};
    unsigned char found[sizeof expected];
    if (descriptor < 0)
        return bytes >= sizeof expected && memcmp(image, expected, sizeof expected) == 0;
    return pread(descriptor, found, sizeof found, 0) == (ssize_t)sizeof found &&
           memcmp(found, expected, sizeof expected) == 0;
}

RecordFile* record_file_open(int descriptor, const void* image, size_t bytes, LashRecord* head,
                             LashError* error) {
    record_quiet_library();
    H5PLset_loading_state(0); // no filters from elsewhere
    if (!begins_like_ours(descriptor, image, bytes)) {
        fail(error, "", "");
        return NULL;
    }
    RecordFile* record_file = lash_alloc(sizeof *record_file);
    record_file->bytes = bytes;
    record_file->file = open_file(descriptor, image, bytes);
    record_file->transfer = record_transfer();
    bool good = record_file->file >= 0 ? read_head(record_file, head, error) &&
                                             count_frames(record_file, head, error) &&
                                             count_events(record_file, head, error) &&
                                             count_points(record_file, head, error)
                                       : fail(error, "", "");
    if (good) return record_file;
    record_file_close(record_file);
    record_head_free(head);
    return NULL;
}

void record_file_close(RecordFile* record_file) {
    if (record_file == NULL) return;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (record_file->data[s] > 0) H5Dclose(record_file->data[s]);
    }
    if (record_file->events > 0) H5Dclose(record_file->events);
    if (record_file->points > 0) H5Dclose(record_file->points);
    if (record_file->transfer > 0) H5Pclose(record_file->transfer);
    if (record_file->file > 0) H5Fclose(record_file->file);
    lash_free(record_file);
}

void record_head_free(LashRecord* head) {
    lash_free(head->version);
    lash_free(head->model_file);
    lash_free(head->model_text);
    lash_free(head->options);
    lash_free(head->scheme);
    lash_free(head->files);
    free_list(head->body_name, head->layout.bodies);
    free_list(head->joint_name, head->layout.joints);
    free_list(head->joint_type, head->layout.joints);
    free_list(head->contact_name, head->layout.contacts);
    free_list(head->input_name, head->layout.inputs);
    free_list(head->input_unit, head->layout.inputs);
    *head = (LashRecord){0};
}

bool record_file_series(RecordFile* file, LashSeries series, int64_t first, int64_t count,
                        double* values, LashError* error) {
    if (file->layout.width[series] == 0 || count == 0) return true;
    hsize_t start[3] = {(hsize_t)first, 0, 0}, size[3] = {0};
    int rank = record_series_shape(&file->layout, (int)series, size);
    size[0] = (hsize_t)count;
    hid_t data = file->data[series];
    hid_t space = H5Dget_space(data), memory = H5Screate_simple(rank, size, NULL);
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, file->transfer, values) >= 0;
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    return good || fail(error, record_spec[series].path, "");
}

static bool read_table(const RecordFile* file, hid_t data, hid_t type, int64_t first, int64_t count,
                       void* rows) {
    hsize_t start = (hsize_t)first, size = (hsize_t)count;
    hid_t space = H5Dget_space(data), memory = H5Screate_simple(1, &size, NULL);
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &size, NULL) >= 0 &&
                H5Dread(data, type, memory, space, file->transfer, rows) >= 0;
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool record_file_events(RecordFile* file, int64_t first, int64_t count, LashRecordEvent* events,
                        LashError* error) {
    if (count == 0) return true;
    memset(events, 0, (size_t)count * sizeof *events);
    return read_table(file, file->events, record_event_type(), first, count, events) ||
           fail(error, "events", "");
}

bool record_file_points(RecordFile* file, int64_t first, int64_t count, LashRecordPoint* points,
                        LashError* error) {
    if (count == 0) return true;
    memset(points, 0, (size_t)count * sizeof *points);
    return read_table(file, file->points, record_point_type(), first, count, points) ||
           fail(error, "points", "");
}

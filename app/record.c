// Result files in HDF5: the only file that sees HDF5.
//
// The file is written in "single writer, multiple readers" mode: metadata reach the disk in an
// order that keeps the file consistent at every moment, so a kill leaves it readable. Frames are
// collected in memory and written in batches, series by series, the time last: a frame counts when
// its time is there (unwritten times read as NaN). A second reader may follow while the run goes
// on. Events and contact points are tables (rows of a compound) of their own, written before the
// frames they belong to; each frame holds the number of contact points up to its end.
#include "app/record.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/progress.h"
#include "core/arena.h"

enum {
    BATCH = 64,        // frames between two flushes at most
    NAME_BYTES = 64,   // of a body or joint name in the file
    TABLE_BATCH = 128, // rows of a table
    TIME_CHUNK = 1024,
    PAGE = 4096, // metadata blocks do not cross pages: a kill never leaves half of one on the disk
    READ_ATTEMPTS = 12 // of a block that a running writer may be changing; the pause doubles
};
static const double flush_interval = 0.5; // [s] of wall clock between two flushes at most

typedef enum SeriesPer { PER_RUN, PER_BODY, PER_JOINT, PER_CONTACT } SeriesPer;
typedef struct SeriesSpec {
    const char *path, *unit;
    SeriesPer per;
    int width;
    bool integer;
} SeriesSpec;

static const SeriesSpec specs[LASH_SERIES_COUNT] = {
    [LASH_SERIES_TIME] = {"time", "s", PER_RUN, 1, false},
    [LASH_SERIES_POSITION] = {"bodies/position", "m", PER_BODY, 3, false},
    [LASH_SERIES_ORIENTATION] = {"bodies/orientation", "1", PER_BODY, 4, false},
    [LASH_SERIES_VELOCITY] = {"bodies/velocity", "m/s", PER_BODY, 3, false},
    [LASH_SERIES_ANGULAR_VELOCITY] = {"bodies/angular_velocity", "rad/s", PER_BODY, 3, false},
    [LASH_SERIES_JOINT_COORDINATE] = {"joints/coordinate", "rad or m", PER_JOINT,
                                      LASH_RECORD_COORDINATES, false},
    [LASH_SERIES_JOINT_SPEED] = {"joints/speed", "rad/s or m/s", PER_JOINT, LASH_RECORD_COORDINATES,
                                 false},
    [LASH_SERIES_JOINT_FORCE] = {"joints/force", "N", PER_JOINT, 3, false},
    [LASH_SERIES_JOINT_MOMENT] = {"joints/moment", "N m", PER_JOINT, 3, false},
    [LASH_SERIES_JOINT_ECCENTRICITY] = {"joints/eccentricity", "m", PER_JOINT, 1, false},
    [LASH_SERIES_JOINT_TILT] = {"joints/tilt", "rad", PER_JOINT, 1, false},
    [LASH_SERIES_JOINT_POINTS] = {"joints/contact_points", "1", PER_JOINT, 1, true},
    [LASH_SERIES_JOINT_IMPACTS] = {"joints/impacts", "1", PER_JOINT, 1, true},
    [LASH_SERIES_JOINT_WEAR] = {"joints/wear", "J", PER_JOINT, 1, false},
    [LASH_SERIES_JOINT_WORK_NET] = {"joints/contact_work", "J", PER_JOINT, 1, false},
    [LASH_SERIES_CONTACT_GAP] = {"contacts/gap", "m", PER_CONTACT, 1, false},
    [LASH_SERIES_CONTACT_IMPULSE] = {"contacts/impulse", "N s", PER_CONTACT, 3, false},
    [LASH_SERIES_CONTACT_FORCE] = {"contacts/force", "N", PER_CONTACT, 3, false},
    [LASH_SERIES_CONTACT_PEAK] = {"contacts/peak_impulse", "N s", PER_CONTACT, 1, false},
    [LASH_SERIES_CONTACT_IMPACTS] = {"contacts/impacts", "1", PER_CONTACT, 1, true},
    [LASH_SERIES_CONTACT_WORK] = {"contacts/contact_work", "J", PER_CONTACT, 1, false},
    [LASH_SERIES_KINETIC] = {"energy/kinetic", "J", PER_RUN, 1, false},
    [LASH_SERIES_POTENTIAL] = {"energy/potential", "J", PER_RUN, 1, false},
    [LASH_SERIES_EXTERNAL_WORK] = {"energy/external_work", "J", PER_RUN, 1, false},
    [LASH_SERIES_DAMPING_WORK] = {"energy/damping_work", "J", PER_RUN, 1, false},
    [LASH_SERIES_CONTACT_WORK_NORMAL] = {"energy/contact_work_normal", "J", PER_RUN, 1, false},
    [LASH_SERIES_CONTACT_WORK_TANGENTIAL] = {"energy/contact_work_tangential", "J", PER_RUN, 1,
                                             false},
    [LASH_SERIES_JOINT_WORK] = {"energy/joint_work", "J", PER_RUN, 1, false},
    [LASH_SERIES_STEPS] = {"counters/steps", "1", PER_RUN, 1, true},
    [LASH_SERIES_NEWTON] = {"counters/newton", "1", PER_RUN, 1, true},
    [LASH_SERIES_PROJECTION] = {"counters/projection", "1", PER_RUN, 1, true},
    [LASH_SERIES_INDEX_SET] = {"counters/index_set", "1", PER_RUN, 1, true},
    [LASH_SERIES_SOLVER] = {"counters/solver", "1", PER_RUN, 1, true},
    [LASH_SERIES_CONTACTS] = {"counters/contacts", "1", PER_RUN, 1, true},
    [LASH_SERIES_POSITION_ERROR] = {"violation/position", "m or rad", PER_RUN, 1, false},
    [LASH_SERIES_VELOCITY_ERROR] = {"violation/velocity", "m/s or rad/s", PER_RUN, 1, false},
    [LASH_SERIES_PENETRATION] = {"violation/penetration", "m", PER_RUN, 1, false},
    [LASH_SERIES_POINTS_END] = {"counters/contact_points", "1", PER_RUN, 1, true},
};
static const char* const groups[] = {"bodies", "joints",   "contacts",
                                     "energy", "counters", "violation"};

static int owners(const LashRecordLayout* layout, SeriesPer per) {
    return per == PER_BODY      ? layout->bodies
           : per == PER_JOINT   ? layout->joints
           : per == PER_CONTACT ? layout->contacts
                                : 1;
}

LashRecordLayout lash_record_layout(int bodies, int joints, int contacts) {
    LashRecordLayout layout = {.bodies = bodies, .joints = joints, .contacts = contacts};
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        layout.offset[s] = layout.total;
        layout.width[s] = owners(&layout, specs[s].per) * specs[s].width;
        layout.total += layout.width[s];
    }
    return layout;
}

const char* lash_series_path(LashSeries series) {
    return specs[series].path;
}

const char* lash_series_unit(LashSeries series) {
    return specs[series].unit;
}

const char* lash_event_name(int kind) {
    static const char* const names[] = {"impact", "open", "slip", "stick", "plastic"};
    return kind >= 0 && kind < 5 ? names[kind] : "unknown";
}

// No messages of its own, and nothing at exit: after a full disk the library would try for ever.
static void quiet_library(void) {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

// Shape of a series in the file: (frames), (frames x bodies x 3), ...
static int series_shape(const LashRecordLayout* layout, int s, hsize_t* shape) {
    if (specs[s].per == PER_RUN) return 1;
    shape[1] = (hsize_t)owners(layout, specs[s].per);
    shape[2] = (hsize_t)specs[s].width;
    return specs[s].width == 1 ? 2 : 3;
}

// ---- writing ------------------------------------------------------------------------------------

// Rows that do not belong to frames one to one: events, contact points.
typedef struct Table {
    hid_t data;
    hid_t (*type)(void);
    char* row; // (TABLE_BATCH) in memory
    size_t bytes;
    int held;
    int64_t written;
} Table;

struct LashRecorder {
    LashRecordLayout layout;
    hid_t file;
    hid_t data[LASH_SERIES_COUNT]; // 0: the series is empty (no joints)
    hid_t complete;
    Table events, points;
    char* path;
    double* frame;  // (BATCH x total)
    double* column; // (BATCH x widest series)
    int held;       // frames in memory
    int64_t written;
    double last_flush;
    bool broken;
};

static bool write_text(hid_t place, const char* name, const char* text) {
    size_t bytes = strlen(text);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, bytes + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t data = H5Dcreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (data >= 0) H5Dclose(data);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static bool write_attribute(hid_t object, const char* name, const char* text) {
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static bool write_number(hid_t object, const char* name, double number) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &number) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return good;
}

static bool write_names(hid_t file, const char* path, const char* const* name, int count) {
    if (count == 0) return true;
    char* text = lash_alloc((size_t)count * NAME_BYTES);
    for (int i = 0; i < count; ++i) {
        snprintf(text + (size_t)i * NAME_BYTES, NAME_BYTES, "%s", name[i]);
    }
    hsize_t size = (hsize_t)count;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    H5Tset_size(type, NAME_BYTES);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t data = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (data >= 0) H5Dclose(data);
    H5Sclose(space);
    H5Tclose(type);
    lash_free(text);
    return good;
}

static bool create_series(hid_t file, const LashRecordLayout* layout, int s) {
    hsize_t shape[3] = {0}, limit[3], chunk[3];
    double fill = NAN;
    int rank = series_shape(layout, s, shape);
    if (layout->width[s] == 0) return true;
    memcpy(limit, shape, sizeof limit);
    memcpy(chunk, shape, sizeof chunk);
    limit[0] = H5S_UNLIMITED;
    chunk[0] = layout->width[s] > 16 ? BATCH : TIME_CHUNK;
    hid_t space = H5Screate_simple(rank, shape, limit), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t type = specs[s].integer ? H5T_STD_I64LE : H5T_IEEE_F64LE;
    H5Pset_chunk(list, rank, chunk);
    if (!specs[s].integer) H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill);
    hid_t data = H5Dcreate2(file, specs[s].path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool good = data >= 0 && write_attribute(data, "units", specs[s].unit);
    if (data >= 0) H5Dclose(data);
    H5Pclose(list);
    H5Sclose(space);
    return good;
}

// One event as a compound; the caller closes it.
static hid_t event_type(void) {
    hsize_t three = 3;
    hid_t vector = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(LashRecordEvent));
    H5Tinsert(type, "kind", offsetof(LashRecordEvent, kind), H5T_NATIVE_INT32);
    H5Tinsert(type, "contact", offsetof(LashRecordEvent, contact), H5T_NATIVE_INT32);
    H5Tinsert(type, "joint", offsetof(LashRecordEvent, joint), H5T_NATIVE_INT32);
    H5Tinsert(type, "part", offsetof(LashRecordEvent, part), H5T_NATIVE_INT32);
    H5Tinsert(type, "coordinate", offsetof(LashRecordEvent, coordinate), H5T_NATIVE_INT32);
    H5Tinsert(type, "t", offsetof(LashRecordEvent, t), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "h", offsetof(LashRecordEvent, h), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "gap", offsetof(LashRecordEvent, gap), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "impulse", offsetof(LashRecordEvent, impulse), vector);
    H5Tinsert(type, "velocity_before", offsetof(LashRecordEvent, before), vector);
    H5Tinsert(type, "velocity_after", offsetof(LashRecordEvent, after), vector);
    H5Tclose(vector);
    return type;
}

// One contact point as a compound; the caller closes it.
static hid_t point_type(void) {
    hsize_t three = 3;
    hid_t vector = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(LashRecordPoint));
    H5Tinsert(type, "contact", offsetof(LashRecordPoint, contact), H5T_NATIVE_INT32);
    H5Tinsert(type, "joint", offsetof(LashRecordPoint, joint), H5T_NATIVE_INT32);
    H5Tinsert(type, "id", offsetof(LashRecordPoint, id), H5T_NATIVE_UINT64);
    H5Tinsert(type, "point", offsetof(LashRecordPoint, point), vector);
    H5Tinsert(type, "normal", offsetof(LashRecordPoint, normal), vector);
    H5Tinsert(type, "gap", offsetof(LashRecordPoint, gap), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "force", offsetof(LashRecordPoint, force), vector);
    H5Tclose(vector);
    return type;
}

static bool create_table(hid_t file, const char* name, hid_t type, const char* units,
                         const char* note) {
    hsize_t none = 0, limit = H5S_UNLIMITED, chunk = TABLE_BATCH;
    hid_t space = H5Screate_simple(1, &none, &limit), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool good =
        data >= 0 && write_attribute(data, "units", units) && write_attribute(data, "note", note);
    if (data >= 0) H5Dclose(data);
    H5Tclose(type);
    H5Pclose(list);
    H5Sclose(space);
    return good;
}

static bool create_tables(hid_t file) {
    return create_table(file, "events", event_type(),
                        "t, h: s; gap: m; impulse: N s; velocity: m/s",
                        "kinds: 0 impact, 1 open, 2 slip, 3 stick, 4 plastic; contact -1: of a "
                        "joint, parts: 2 lower limit, 3 upper limit, 4 friction") &&
           create_table(file, "points", point_type(), "point, gap: m; force: N",
                        "contact points of all frames; those of frame f end before row "
                        "counters/contact_points[f]");
}

// A number written once, at the end; allocated now, as nothing can be added later.
static bool create_complete_flag(hid_t file) {
    int zero = 0;
    hid_t space = H5Screate(H5S_SCALAR), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    hid_t data = H5Dcreate2(file, "complete", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool good =
        data >= 0 && H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &zero) >= 0;
    if (data >= 0) H5Dclose(data);
    H5Pclose(list);
    H5Sclose(space);
    return good;
}

static bool write_head(hid_t file, const LashRecordInfo* info, const LashRecordLayout* layout) {
    bool good = write_attribute(file, "format", "lash-result/2") &&
                write_attribute(file, "version", info->version) &&
                write_attribute(file, "model_file", info->model_file) &&
                write_attribute(file, "scheme", info->scheme) &&
                write_number(file, "step", info->step) &&
                write_text(file, "model", info->model_text) &&
                write_text(file, "options", info->options) && create_complete_flag(file);
    for (size_t i = 0; i < sizeof groups / sizeof *groups && good; ++i) {
        hid_t group = H5Gcreate2(file, groups[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        good = group >= 0;
        if (good) H5Gclose(group);
    }
    good = good && write_names(file, "bodies/name", info->body_name, info->bodies) &&
           write_names(file, "joints/name", info->joint_name, info->joints) &&
           write_names(file, "joints/type", info->joint_type, info->joints) &&
           write_names(file, "contacts/name", info->contact_name, info->contacts) &&
           create_tables(file);
    for (int s = 0; s < LASH_SERIES_COUNT && good; ++s) good = create_series(file, layout, s);
    return good;
}

static bool fail_write(LashRecorder* recorder, LashError* error) {
    recorder->broken = true;
    lash_error_set(error, LASH_ERROR_IO, "",
                   "cannot write the result: %s; what was flushed before stays readable",
                   errno != 0 ? strerror(errno) : "the library reports an error");
    lash_error_file(error, recorder->path);
    return false;
}

static bool open_series(LashRecorder* recorder) {
    bool good = true;
    for (int s = 0; s < LASH_SERIES_COUNT && good; ++s) {
        if (recorder->layout.width[s] == 0) continue;
        recorder->data[s] = H5Dopen2(recorder->file, specs[s].path, H5P_DEFAULT);
        good = recorder->data[s] >= 0;
    }
    recorder->complete = H5Dopen2(recorder->file, "complete", H5P_DEFAULT);
    recorder->events.data = H5Dopen2(recorder->file, "events", H5P_DEFAULT);
    recorder->points.data = H5Dopen2(recorder->file, "points", H5P_DEFAULT);
    return good && recorder->complete >= 0 && recorder->events.data >= 0 &&
           recorder->points.data >= 0;
}

static bool create_file(LashRecorder* recorder, const char* temporary, const LashRecordInfo* info) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t list = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
    H5Pset_file_space_page_size(list, PAGE);
    recorder->file = H5Fcreate(temporary, H5F_ACC_TRUNC, list, access);
    H5Pclose(list);
    H5Pclose(access);
    if (recorder->file < 0) return false;
    return write_head(recorder->file, info, &recorder->layout) &&
           H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) >= 0 &&
           H5Fstart_swmr_write(recorder->file) >= 0 && open_series(recorder) &&
           H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) >= 0 &&
           rename(temporary, recorder->path) == 0;
}

static void close_handles(LashRecorder* recorder) {
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (recorder->data[s] > 0) H5Dclose(recorder->data[s]);
    }
    if (recorder->complete > 0) H5Dclose(recorder->complete);
    if (recorder->events.data > 0) H5Dclose(recorder->events.data);
    if (recorder->points.data > 0) H5Dclose(recorder->points.data);
}

static void free_recorder(LashRecorder* recorder) {
    lash_free(recorder->path);
    lash_free(recorder->frame);
    lash_free(recorder->column);
    lash_free(recorder->events.row);
    lash_free(recorder->points.row);
    lash_free(recorder);
}

static Table new_table(hid_t (*type)(void), size_t bytes) {
    return (Table){.type = type, .bytes = bytes, .row = lash_alloc(TABLE_BATCH * bytes)};
}

LashRecorder* lash_recorder_create(const char* path, const LashRecordInfo* info, LashError* error) {
    quiet_library();
    LashRecorder* recorder = lash_alloc(sizeof *recorder);
    recorder->layout = lash_record_layout(info->bodies, info->joints, info->contacts);
    recorder->path = lash_strdup(path);
    int widest = 1;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (recorder->layout.width[s] > widest) widest = recorder->layout.width[s];
    }
    recorder->frame = lash_alloc(sizeof(double) * BATCH * (size_t)recorder->layout.total);
    recorder->column = lash_alloc(sizeof(double) * BATCH * (size_t)widest);
    recorder->last_flush = app_wall_clock();
    recorder->events = new_table(event_type, sizeof(LashRecordEvent));
    recorder->points = new_table(point_type, sizeof(LashRecordPoint));
    size_t bytes = strlen(path) + 32;
    char* temporary = lash_alloc(bytes);
    snprintf(temporary, bytes, "%s.new%ld", path, (long)getpid());
    errno = 0;
    if (!create_file(recorder, temporary, info)) {
        fail_write(recorder, error);
        close_handles(recorder);
        if (recorder->file > 0) H5Fclose(recorder->file);
        unlink(temporary);
        free_recorder(recorder);
        recorder = NULL;
    }
    lash_free(temporary);
    return recorder;
}

// Appends the held frames of one series.
static bool append_series(LashRecorder* recorder, int s) {
    const LashRecordLayout* layout = &recorder->layout;
    size_t width = (size_t)layout->width[s];
    for (int i = 0; i < recorder->held; ++i) {
        memcpy(recorder->column + (size_t)i * width,
               recorder->frame + (size_t)i * (size_t)layout->total + layout->offset[s],
               width * sizeof(double));
    }
    hsize_t shape[3] = {0}, start[3] = {(hsize_t)recorder->written, 0, 0}, count[3];
    int rank = series_shape(layout, s, shape);
    memcpy(count, shape, sizeof count);
    count[0] = (hsize_t)recorder->held;
    shape[0] = (hsize_t)(recorder->written + recorder->held);
    if (H5Dset_extent(recorder->data[s], shape) < 0) return false;
    hid_t space = H5Dget_space(recorder->data[s]), memory = H5Screate_simple(rank, count, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dwrite(recorder->data[s], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT,
                         recorder->column) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good && H5Dflush(recorder->data[s]) >= 0;
}

static bool append_table(Table* table) {
    if (table->held == 0) return true;
    hsize_t start = (hsize_t)table->written, count = (hsize_t)table->held, size = start + count;
    if (H5Dset_extent(table->data, &size) < 0) return false;
    hid_t space = H5Dget_space(table->data), memory = H5Screate_simple(1, &count, NULL);
    hid_t type = table->type();
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                H5Dwrite(table->data, type, memory, space, H5P_DEFAULT, table->row) >= 0;
    H5Tclose(type);
    H5Sclose(memory);
    H5Sclose(space);
    table->written += table->held;
    table->held = 0;
    return good && H5Dflush(table->data) >= 0;
}

static bool add_row(LashRecorder* recorder, Table* table, const void* row, LashError* error) {
    if (recorder->broken) return false;
    memcpy(table->row + (size_t)table->held++ * table->bytes, row, table->bytes);
    errno = 0;
    if (table->held == TABLE_BATCH && !append_table(table)) return fail_write(recorder, error);
    return true;
}

bool lash_recorder_add_event(LashRecorder* recorder, const LashRecordEvent* event,
                             LashError* error) {
    return add_row(recorder, &recorder->events, event, error);
}

bool lash_recorder_add_points(LashRecorder* recorder, const LashRecordPoint* points, int count,
                              LashError* error) {
    for (int i = 0; i < count; ++i) {
        if (!add_row(recorder, &recorder->points, points + i, error)) return false;
    }
    return true;
}

bool lash_recorder_flush(LashRecorder* recorder, LashError* error) {
    if (recorder->broken) return false;
    errno = 0;
    if (!append_table(&recorder->events) || !append_table(&recorder->points))
        return fail_write(recorder, error);
    if (recorder->held == 0) return true;
    for (int s = LASH_SERIES_COUNT - 1; s >= 0; --s) { // the time, number 0, last
        if (recorder->layout.width[s] > 0 && !append_series(recorder, s)) {
            return fail_write(recorder, error);
        }
    }
    recorder->written += recorder->held;
    recorder->held = 0;
    recorder->last_flush = app_wall_clock();
    return true;
}

bool lash_recorder_add(LashRecorder* recorder, const double* frame, LashError* error) {
    size_t total = (size_t)recorder->layout.total;
    double* held = recorder->frame + (size_t)recorder->held * total;
    memcpy(held, frame, total * sizeof(double));
    held[recorder->layout.offset[LASH_SERIES_POINTS_END]] =
        (double)(recorder->points.written + recorder->points.held);
    ++recorder->held;
    if (recorder->written > 0 && recorder->held < BATCH &&
        app_wall_clock() - recorder->last_flush < flush_interval)
        return true;
    return lash_recorder_flush(recorder, error);
}

bool lash_recorder_close(LashRecorder* recorder, LashError* error) {
    if (recorder == NULL) return true;
    bool good = lash_recorder_flush(recorder, error);
    int one = 1;
    if (good) {
        good =
            H5Dwrite(recorder->complete, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &one) >= 0;
        if (!good) fail_write(recorder, error);
    }
    errno = 0;
    // After a failed write the file is left as it is on the disk: closing would mark it whole.
    if (good) {
        close_handles(recorder);
        if (H5Fclose(recorder->file) < 0) good = fail_write(recorder, error);
    }
    free_recorder(recorder);
    return good;
}

// ---- reading ------------------------------------------------------------------------------------

struct LashRecordFile {
    hid_t file, events, points;
    hid_t data[LASH_SERIES_COUNT];
};

static bool fail_read(LashError* error, const char* what) {
    return lash_error_set(error, LASH_ERROR_IO, what,
                          "this result is damaged or not a lash-result/2 file");
}

static char* read_text(hid_t object, const char* name, bool attribute) {
    char* text = NULL;
    hid_t item =
        attribute ? H5Aopen(object, name, H5P_DEFAULT) : H5Dopen2(object, name, H5P_DEFAULT);
    if (item < 0) return NULL;
    hid_t type = attribute ? H5Aget_type(item) : H5Dget_type(item);
    hid_t space = attribute ? H5Aget_space(item) : H5Dget_space(item);
    size_t bytes = type >= 0 && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type)
                       ? H5Tget_size(type)
                       : 0;
    bool scalar = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (bytes > 0 && bytes < (size_t)1 << 30 && scalar) {
        text = lash_alloc(bytes + 1);
        herr_t status = attribute ? H5Aread(item, type, text)
                                  : H5Dread(item, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
        if (status < 0) lash_free(text), text = NULL;
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (attribute) {
        H5Aclose(item);
    } else {
        H5Dclose(item);
    }
    return text;
}

// The list of names at path; *count is 0 where there is none.
static char** read_names(hid_t file, const char* path, int* count) {
    *count = 0;
    if (H5Lexists(file, path, H5P_DEFAULT) <= 0) return NULL;
    hid_t data = H5Dopen2(file, path, H5P_DEFAULT);
    if (data < 0) return NULL;
    hid_t type = H5Dget_type(data), space = H5Dget_space(data);
    hssize_t points = H5Sget_simple_extent_npoints(space);
    char** name = NULL;
    if (H5Tget_class(type) == H5T_STRING && H5Tget_size(type) == NAME_BYTES && points > 0 &&
        points < 1000000) {
        char* text = lash_alloc((size_t)points * NAME_BYTES);
        if (H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0) {
            *count = (int)points;
            name = lash_alloc((size_t)points * sizeof *name);
            for (int i = 0; i < *count; ++i) {
                text[(size_t)i * NAME_BYTES + NAME_BYTES - 1] = '\0';
                name[i] = lash_strdup(text + (size_t)i * NAME_BYTES);
            }
        }
        lash_free(text);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
    return name;
}

// Opens a series and checks its shape; returns its number of frames, -1: damaged.
static int64_t open_one_series(LashRecord* record, int s) {
    hsize_t expected[3] = {0}, shape[3] = {0};
    int rank = series_shape(&record->layout, s, expected);
    hid_t data = record->file->data[s] = H5Dopen2(record->file->file, specs[s].path, H5P_DEFAULT);
    if (data < 0) return record->file->data[s] = 0, -1;
    hid_t space = H5Dget_space(data);
    bool good = H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, shape, NULL) == rank;
    for (int i = 1; i < rank && good; ++i) good = shape[i] == expected[i];
    H5Sclose(space);
    return good ? (int64_t)shape[0] : -1;
}

// Frames that all series have, and whose time was written.
static bool count_frames(LashRecord* record, LashError* error) {
    record->frames = INT64_MAX;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (record->layout.width[s] == 0) continue;
        int64_t frames = open_one_series(record, s);
        if (frames < 0) return fail_read(error, specs[s].path);
        if (frames < record->frames) record->frames = frames;
    }
    while (record->frames > 0) {
        double t = NAN;
        if (!lash_record_read(record, LASH_SERIES_TIME, record->frames - 1, 1, &t, error))
            return false;
        if (!isnan(t)) break;
        --record->frames;
    }
    return true;
}

// Opens a table; returns its number of rows, -1: damaged.
static int64_t open_table(const LashRecord* record, const char* name, hid_t* handle) {
    hid_t data = H5Dopen2(record->file->file, name, H5P_DEFAULT);
    if (data < 0) return -1;
    *handle = data;
    hid_t space = H5Dget_space(data), type = H5Dget_type(data);
    bool good = H5Sget_simple_extent_ndims(space) == 1 && H5Tget_class(type) == H5T_COMPOUND;
    int64_t rows = good ? (int64_t)H5Sget_simple_extent_npoints(space) : -1;
    H5Tclose(type);
    H5Sclose(space);
    return rows;
}

// Events whose step has a length: a kill may leave the last ones unwritten, that is zero.
static bool count_events(LashRecord* record, LashError* error) {
    record->events = open_table(record, "events", &record->file->events);
    if (record->events < 0) return record->events = 0, fail_read(error, "events");
    while (record->events > 0) {
        LashRecordEvent last;
        if (!lash_record_read_events(record, record->events - 1, 1, &last, error)) return false;
        if (last.h > 0) break;
        --record->events;
    }
    return true;
}

// Contact points of the frames that count; a frame whose points are missing does not count.
static bool count_points(LashRecord* record, LashError* error) {
    int64_t rows = open_table(record, "points", &record->file->points);
    if (rows < 0) return fail_read(error, "points");
    while (record->frames > 0) {
        double end = 0;
        if (!lash_record_read(record, LASH_SERIES_POINTS_END, record->frames - 1, 1, &end, error))
            return false;
        if (end >= 0 && end <= (double)rows) {
            record->points = (int64_t)end;
            break;
        }
        --record->frames;
    }
    return true;
}

static void free_list(char** list, int count) {
    for (int i = 0; i < count && list != NULL; ++i) lash_free(list[i]);
    lash_free(list);
}

static bool read_head(LashRecord* record, LashError* error) {
    hid_t file = record->file->file;
    char* format = read_text(file, "format", true);
    bool good = format != NULL && strcmp(format, "lash-result/2") == 0;
    lash_free(format);
    if (!good) return fail_read(error, "format");
    record->version = read_text(file, "version", true);
    record->model_file = read_text(file, "model_file", true);
    record->scheme = read_text(file, "scheme", true);
    record->model_text = read_text(file, "model", false);
    record->options = read_text(file, "options", false);
    hid_t step = H5Aopen(file, "step", H5P_DEFAULT);
    good = step >= 0 && H5Aread(step, H5T_NATIVE_DOUBLE, &record->step) >= 0;
    if (step >= 0) H5Aclose(step);
    if (!good || record->version == NULL || record->model_file == NULL || record->scheme == NULL ||
        record->model_text == NULL || record->options == NULL) {
        return fail_read(error, "head");
    }
    int types = 0;
    LashRecordLayout* layout = &record->layout;
    record->body_name = read_names(file, "bodies/name", &layout->bodies);
    record->joint_name = read_names(file, "joints/name", &layout->joints);
    record->joint_type = read_names(file, "joints/type", &types);
    if (types != layout->joints) { // one of the lists is damaged
        free_list(record->joint_type, types);
        record->joint_type = NULL;
        return fail_read(error, "joints/type");
    }
    if (layout->bodies == 0) return fail_read(error, "bodies/name");
    record->contact_name = read_names(file, "contacts/name", &layout->contacts);
    *layout = lash_record_layout(layout->bodies, layout->joints, layout->contacts);
    int complete = 0;
    hid_t flag = H5Dopen2(file, "complete", H5P_DEFAULT);
    good =
        flag >= 0 && H5Dread(flag, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &complete) >= 0;
    if (flag >= 0) H5Dclose(flag);
    record->complete = complete == 1;
    return good || fail_read(error, "complete");
}

// A file that was closed opens plainly; one of a killed or running writer only as a follower.
static hid_t open_file(const char* path) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_metadata_read_attempts(access, READ_ATTEMPTS);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (file < 0) file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    H5Pclose(access);
    return file;
}

LashRecord* lash_record_open(const char* path, LashError* error) {
    quiet_library();
    if (access(path, R_OK) != 0) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot open: %s", strerror(errno));
        lash_error_file(error, path);
        return NULL;
    }
    LashRecord* record = lash_alloc(sizeof *record);
    record->file = lash_alloc(sizeof *record->file);
    record->file->file = open_file(path);
    bool good = record->file->file >= 0
                    ? read_head(record, error) && count_frames(record, error) &&
                          count_events(record, error) && count_points(record, error)
                    : fail_read(error, "");
    if (good) return record;
    lash_error_file(error, path);
    lash_record_close(record);
    return NULL;
}

void lash_record_close(LashRecord* record) {
    if (record == NULL) return;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (record->file->data[s] > 0) H5Dclose(record->file->data[s]);
    }
    if (record->file->events > 0) H5Dclose(record->file->events);
    if (record->file->points > 0) H5Dclose(record->file->points);
    if (record->file->file >= 0) H5Fclose(record->file->file);
    lash_free(record->file);
    lash_free(record->version);
    lash_free(record->model_file);
    lash_free(record->model_text);
    lash_free(record->options);
    lash_free(record->scheme);
    free_list(record->body_name, record->layout.bodies);
    free_list(record->joint_name, record->layout.joints);
    free_list(record->joint_type, record->layout.joints);
    free_list(record->contact_name, record->layout.contacts);
    lash_free(record);
}

bool lash_record_read(const LashRecord* record, LashSeries series, int64_t first, int64_t count,
                      double* values, LashError* error) {
    LASH_ASSERT(first >= 0 && count >= 0 && first + count <= record->frames);
    if (record->layout.width[series] == 0 || count == 0) return true;
    hsize_t start[3] = {(hsize_t)first, 0, 0}, size[3] = {0};
    int rank = series_shape(&record->layout, (int)series, size);
    size[0] = (hsize_t)count;
    hid_t data = record->file->data[series];
    hid_t space = H5Dget_space(data), memory = H5Screate_simple(rank, size, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good || fail_read(error, specs[series].path);
}

static bool read_table(hid_t data, hid_t type, int64_t first, int64_t count, void* rows) {
    hsize_t start = (hsize_t)first, size = (hsize_t)count;
    hid_t space = H5Dget_space(data), memory = H5Screate_simple(1, &size, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &size, NULL) >= 0 &&
                H5Dread(data, type, memory, space, H5P_DEFAULT, rows) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool lash_record_read_events(const LashRecord* record, int64_t first, int64_t count,
                             LashRecordEvent* events, LashError* error) {
    LASH_ASSERT(first >= 0 && count >= 0 && first + count <= record->events);
    if (count == 0) return true;
    memset(events, 0, (size_t)count * sizeof *events);
    return read_table(record->file->events, event_type(), first, count, events) ||
           fail_read(error, "events");
}

bool lash_record_read_all_points(const LashRecord* record, int64_t first, int64_t count,
                                 LashRecordPoint* points, LashError* error) {
    LASH_ASSERT(first >= 0 && count >= 0 && first + count <= record->points);
    if (count == 0) return true;
    memset(points, 0, (size_t)count * sizeof *points);
    return read_table(record->file->points, point_type(), first, count, points) ||
           fail_read(error, "points");
}

int lash_record_read_points(const LashRecord* record, int64_t frame, LashRecordPoint* points,
                            int capacity, LashError* error) {
    double end[2] = {0, 0};
    int64_t from = frame > 0 ? frame - 1 : 0;
    if (!lash_record_read(record, LASH_SERIES_POINTS_END, from, frame - from + 1,
                          frame > 0 ? end : end + 1, error))
        return -1;
    if (!(end[0] >= 0 && end[0] <= end[1] && end[1] <= (double)record->points &&
          end[1] - end[0] < 1e9)) {
        fail_read(error, "counters/contact_points");
        return -1;
    }
    int count = (int)(end[1] - end[0]), read = count < capacity ? count : capacity;
    if (!lash_record_read_all_points(record, (int64_t)end[0], read, points, error)) return -1;
    return count;
}

bool lash_record_read_frame(const LashRecord* record, int64_t frame, double* values,
                            LashError* error) {
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (!lash_record_read(record, (LashSeries)s, frame, 1, values + record->layout.offset[s],
                              error)) {
            return false;
        }
    }
    return true;
}

// Result files in HDF5: writing.
//
// The file is written in "single writer, multiple readers" mode: metadata reach the disk in an
// order that keeps the file consistent at every moment, so a kill leaves it readable. Frames are
// collected in memory and written in batches, series by series, the time last: a frame counts when
// its time is there (unwritten times read as NaN). A second reader may follow while the run goes
// on. Events and contact points are tables (rows of a compound) of their own, written before the
// frames they belong to; each frame holds the number of contact points up to its end.
//
// An older result of that name stays until the first frame is on the disk. From then on the new
// file has the name, and the lock beside it keeps other runs away until this process ends.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/output_file.h"
#include "app/cli/progress.h"
#include "app/run/record_internal.h"
#include "core/arena.h"

enum {
    PAGE = 4096 // metadata blocks do not cross pages: a kill never leaves half of one on the disk
};
static const double flush_interval = 0.5; // [s] of wall clock between two flushes at most

static const char* const groups[] = {"bodies", "joints",   "contacts", "inputs",
                                     "energy", "counters", "violation"};

// Rows that do not belong to frames one to one: events, contact points.
typedef struct Table {
    hid_t data;
    hid_t (*type)(void);
    char* row; // (RECORD_TABLE_BATCH) in memory
    size_t bytes;
    int held;
    int64_t written;
} Table;

struct LashRecorder {
    LashRecordLayout layout;
    hid_t file;
    hid_t data[LASH_SERIES_COUNT]; // 0: the series is empty (no joints)
    hid_t complete, transfer;
    Table events, points;
    AppOutput* output;
    char* path;
    double* frame;  // (RECORD_BATCH x total)
    double* column; // (RECORD_BATCH x widest series)
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
    char* text = lash_alloc((size_t)count * RECORD_NAME_BYTES);
    for (int i = 0; i < count; ++i) {
        snprintf(text + (size_t)i * RECORD_NAME_BYTES, RECORD_NAME_BYTES, "%s", name[i]);
    }
    hsize_t size = (hsize_t)count;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    H5Tset_size(type, RECORD_NAME_BYTES);
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
    int rank = record_series_shape(layout, s, shape);
    if (layout->width[s] == 0) return true;
    memcpy(limit, shape, sizeof limit);
    memcpy(chunk, shape, sizeof chunk);
    limit[0] = H5S_UNLIMITED;
    chunk[0] = layout->width[s] > 16 ? RECORD_BATCH : RECORD_TIME_CHUNK;
    hid_t space = H5Screate_simple(rank, shape, limit), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, rank, chunk);
    if (!record_spec[s].integer) H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill);
    hid_t data = H5Dcreate2(file, record_spec[s].path, record_series_type(s), space, H5P_DEFAULT,
                            list, H5P_DEFAULT);
    bool good = data >= 0 && write_attribute(data, "units", record_spec[s].unit);
    if (data >= 0) H5Dclose(data);
    H5Pclose(list);
    H5Sclose(space);
    return good;
}

static bool create_table(hid_t file, const char* name, hid_t type, const char* units,
                         const char* note) {
    hsize_t none = 0, limit = H5S_UNLIMITED, chunk = RECORD_TABLE_BATCH;
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
    return create_table(file, "events", record_event_type(),
                        "t, h: s; gap: m; impulse: N s; velocity: m/s",
                        "kinds: 0 impact, 1 open, 2 slip, 3 stick, 4 plastic; contact -1: of a "
                        "joint, parts: 2 lower limit, 3 upper limit, 4 friction") &&
           create_table(file, "points", record_point_type(), "point, gap: m; force: N",
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
    const LashRecordSizes* sizes = &info->sizes;
    if (info->files != NULL) good = good && write_text(file, "files", info->files);
    for (size_t i = 0; i < sizeof groups / sizeof *groups && good; ++i) {
        if (strcmp(groups[i], "inputs") == 0 && sizes->inputs == 0) continue;
        hid_t group = H5Gcreate2(file, groups[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        good = group >= 0;
        if (good) H5Gclose(group);
    }
    good = good && write_names(file, "bodies/name", info->body_name, sizes->bodies) &&
           write_names(file, "joints/name", info->joint_name, sizes->joints) &&
           write_names(file, "joints/type", info->joint_type, sizes->joints) &&
           write_names(file, "contacts/name", info->contact_name, sizes->contacts) &&
           write_names(file, "inputs/name", info->input_name, sizes->inputs) &&
           write_names(file, "inputs/unit", info->input_unit, sizes->inputs) && create_tables(file);
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
        recorder->data[s] = H5Dopen2(recorder->file, record_spec[s].path, H5P_DEFAULT);
        good = recorder->data[s] >= 0;
    }
    recorder->complete = H5Dopen2(recorder->file, "complete", H5P_DEFAULT);
    recorder->events.data = H5Dopen2(recorder->file, "events", H5P_DEFAULT);
    recorder->points.data = H5Dopen2(recorder->file, "points", H5P_DEFAULT);
    return good && recorder->complete >= 0 && recorder->events.data >= 0 &&
           recorder->points.data >= 0;
}

static bool create_file(LashRecorder* recorder, const LashRecordInfo* info) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t list = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
    H5Pset_file_space_page_size(list, PAGE);
    recorder->file = H5Fcreate(app_output_temporary(recorder->output), H5F_ACC_TRUNC, list, access);
    H5Pclose(list);
    H5Pclose(access);
    if (recorder->file < 0) return false;
    return write_head(recorder->file, info, &recorder->layout) &&
           H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) >= 0 &&
           H5Fstart_swmr_write(recorder->file) >= 0 && open_series(recorder) &&
           H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) >= 0;
}

static void close_handles(LashRecorder* recorder) {
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (recorder->data[s] > 0) H5Dclose(recorder->data[s]);
    }
    if (recorder->complete > 0) H5Dclose(recorder->complete);
    if (recorder->events.data > 0) H5Dclose(recorder->events.data);
    if (recorder->points.data > 0) H5Dclose(recorder->points.data);
    if (recorder->transfer > 0) H5Pclose(recorder->transfer);
}

static void free_recorder(LashRecorder* recorder) {
    app_output_discard(recorder->output); // with its name it stays
    lash_free(recorder->path);
    lash_free(recorder->frame);
    lash_free(recorder->column);
    lash_free(recorder->events.row);
    lash_free(recorder->points.row);
    lash_free(recorder);
}

static bool info_is_whole(const LashRecordInfo* info) {
    const LashRecordSizes* sizes = &info->sizes;
    return info->version != NULL && info->model_file != NULL && info->model_text != NULL &&
           info->options != NULL && info->scheme != NULL &&
           (sizes->bodies == 0 || info->body_name != NULL) &&
           (sizes->joints == 0 || (info->joint_name != NULL && info->joint_type != NULL)) &&
           (sizes->inputs == 0 || (info->input_name != NULL && info->input_unit != NULL)) &&
           (sizes->contacts == 0 || info->contact_name != NULL);
}

static Table new_table(hid_t (*type)(void), size_t bytes) {
    return (Table){.type = type, .bytes = bytes, .row = lash_alloc(RECORD_TABLE_BATCH * bytes)};
}

LashRecorder* lash_recorder_create(const char* path, const LashRecordInfo* info, LashError* error) {
    if (path == NULL || info == NULL || !info_is_whole(info)) {
        lash_error_null(error, "the name of a result and all that its head holds");
        return NULL;
    }
    record_quiet_library();
    LashRecorder* recorder = lash_alloc(sizeof *recorder);
    recorder->layout = lash_record_layout(info->sizes);
    recorder->path = lash_strdup(path);
    int widest = 1;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (recorder->layout.width[s] > widest) widest = recorder->layout.width[s];
    }
    recorder->frame = lash_alloc(sizeof(double) * RECORD_BATCH * (size_t)recorder->layout.total);
    recorder->column = lash_alloc(sizeof(double) * RECORD_BATCH * (size_t)widest);
    recorder->last_flush = app_wall_clock();
    recorder->transfer = record_transfer();
    recorder->events = new_table(record_event_type, sizeof(LashRecordEvent));
    recorder->points = new_table(record_point_type, sizeof(LashRecordPoint));
    recorder->output = app_output_create(path, error);
    errno = 0;
    if (recorder->output != NULL && create_file(recorder, info)) return recorder;
    if (recorder->output != NULL) fail_write(recorder, error);
    close_handles(recorder);
    if (recorder->file > 0) H5Fclose(recorder->file);
    free_recorder(recorder);
    return NULL;
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
    int rank = record_series_shape(layout, s, shape);
    memcpy(count, shape, sizeof count);
    count[0] = (hsize_t)recorder->held;
    shape[0] = (hsize_t)(recorder->written + recorder->held);
    if (H5Dset_extent(recorder->data[s], shape) < 0) return false;
    hid_t space = H5Dget_space(recorder->data[s]), memory = H5Screate_simple(rank, count, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dwrite(recorder->data[s], H5T_NATIVE_DOUBLE, memory, space, recorder->transfer,
                         recorder->column) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good && H5Dflush(recorder->data[s]) >= 0;
}

static bool append_table(Table* table, hid_t transfer) {
    if (table->held == 0) return true;
    hsize_t start = (hsize_t)table->written, count = (hsize_t)table->held, size = start + count;
    if (H5Dset_extent(table->data, &size) < 0) return false;
    hid_t space = H5Dget_space(table->data), memory = H5Screate_simple(1, &count, NULL);
    hid_t type = table->type();
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                H5Dwrite(table->data, type, memory, space, transfer, table->row) >= 0;
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
    if (table->held == RECORD_TABLE_BATCH && !append_table(table, recorder->transfer))
        return fail_write(recorder, error);
    return true;
}

bool lash_recorder_add_event(LashRecorder* recorder, const LashRecordEvent* event,
                             LashError* error) {
    if (recorder == NULL || event == NULL) return lash_error_null(error, "a recorder and an event");
    return add_row(recorder, &recorder->events, event, error);
}

bool lash_recorder_add_points(LashRecorder* recorder, const LashRecordPoint* points, int count,
                              LashError* error) {
    if (recorder == NULL || (points == NULL && count > 0))
        return lash_error_null(error, "a recorder and points");
    for (int i = 0; i < count; ++i) {
        if (!add_row(recorder, &recorder->points, points + i, error)) return false;
    }
    return true;
}

bool lash_recorder_flush(LashRecorder* recorder, LashError* error) {
    if (recorder == NULL) return lash_error_null(error, "a recorder");
    if (recorder->broken) return false;
    errno = 0;
    if (!append_table(&recorder->events, recorder->transfer) ||
        !append_table(&recorder->points, recorder->transfer))
        return fail_write(recorder, error);
    if (recorder->held == 0) return true;
    for (int s = LASH_SERIES_COUNT - 1; s >= 0; --s) { // the time, number 0, last
        if (recorder->layout.width[s] > 0 && !append_series(recorder, s)) {
            return fail_write(recorder, error);
        }
    }
    if (!app_output_publish(recorder->output, error)) {
        recorder->broken = true;
        return false;
    }
    recorder->written += recorder->held;
    recorder->held = 0;
    recorder->last_flush = app_wall_clock();
    return true;
}

bool lash_recorder_add(LashRecorder* recorder, const double* frame, LashError* error) {
    if (recorder == NULL || frame == NULL) return lash_error_null(error, "a recorder and a frame");
    size_t total = (size_t)recorder->layout.total;
    double* held = recorder->frame + (size_t)recorder->held * total;
    memcpy(held, frame, total * sizeof(double));
    held[recorder->layout.offset[LASH_SERIES_POINTS_END]] =
        (double)(recorder->points.written + recorder->points.held);
    ++recorder->held;
    if (recorder->written > 0 && recorder->held < RECORD_BATCH &&
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
        good = good && app_output_publish(recorder->output, error); // a run without frames
    }
    free_recorder(recorder);
    return good;
}

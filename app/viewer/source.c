// Frames of a live run are kept in slots of one block of memory with a fixed budget. The worker
// computes a frame aside and copies it in under the lock, readers copy it out, so that neither ever
// waits for a step or for a picture. When the slots are used up, every second frame is dropped and
// frames are kept half as often from then on: the whole run stays seekable in bounded memory.
#include "app/viewer/source.h"
#include "app/cli/file_kind.h"
#include "app/viewer/step_model.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/progress.h"
#include "app/run/carried.h"
#include "app/run/drive.h"
#include "core/arena.h"

enum {
    MEMORY = 256 << 20, // of frames [bytes]
    MIN_SLOTS = 256,
    MAX_EVENTS = 1 << 20,
    SLOT_POINTS = 64 // contact points kept of a frame
};

struct ViewSource {
    bool live;
    AppSession session; // of a result: model and mechanism only
    LashRecordLayout layout;
    LashRecord* record;
    double* time;      // (frames of a result) all times, to seek without reading
    char changes[400]; // files that have changed since the run; empty: none
    char* file;
    AppSessionOptions options;

    pthread_t worker;
    bool started;
    double start; // clock of the worker when the run began [s]
    pthread_mutex_t lock;
    pthread_cond_t grown;
    // under the lock
    bool stop, running;
    double *slot_memory, *slot_time;
    LashRecordPoint* slot_point; // (slots x SLOT_POINTS)
    int* slot_points;            // (slots) how many
    int* slot;                   // of frame i
    int* free_slot;              // stack
    int slots, free_slots;
    int64_t frames, every;
    ViewEvent* event;
    int64_t events, event_capacity;
    double real_time, simulated;
    LashError error;
};

// ---- result files -------------------------------------------------------------------------------

// The texts of "set": ["a=1", ...] among the options of a result, which run.c wrote.
static int recorded_sets(const char* options, char** set, int capacity) {
    const char* at = strstr(options, "\"set\":");
    int count = 0;
    at = at == NULL ? NULL : strchr(at, '[');
    for (; at != NULL && *at != '\0' && *at != ']'; ++at) {
        if (*at != '"') continue;
        char* text = lash_alloc(strlen(at));
        size_t used = 0;
        for (++at; *at != '\0' && *at != '"'; ++at) {
            if (*at == '\\' && at[1] != '\0') ++at;
            text[used++] = *at;
        }
        if (count < capacity) {
            set[count++] = text;
        } else {
            lash_free(text);
        }
        if (*at == '\0') break;
    }
    return count;
}

static bool same_names(const LashRecord* record, const LashMechanism* mech) {
    if (record->layout.bodies != lash_mechanism_body_count(mech) ||
        record->layout.joints != lash_mechanism_joint_count(mech) ||
        record->layout.contacts != lash_mechanism_contact_count(mech))
        return false;
    int inputs = record->layout.inputs; // older results have none
    if (inputs > 0 && inputs != lash_mechanism_input_count(mech)) return false;
    for (int i = 0; i < record->layout.bodies; ++i) {
        if (strcmp(record->body_name[i], lash_mechanism_body_name(mech, i)) != 0) return false;
    }
    return true;
}

enum { PLACES = 3 };

// Where the files of a result's model may lie: beside the model as it was named when the run began,
// from here and from the folder of the result, or beside the result. To be freed.
static int model_places(const char* result, const char* model, char* place[PLACES]) {
    const char *slash = strrchr(result, '/'), *last = strrchr(model, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - result) + 1, length = strlen(model);
    int count = 0;
    place[count++] = lash_strdup(model);
    if (model[0] != '/' && folder > 0) {
        place[count] = lash_alloc(folder + length + 1);
        snprintf(place[count++], folder + length + 1, "%.*s%s", (int)folder, result, model);
    }
    if (last != NULL) {
        place[count] = lash_alloc(folder + length + 1);
        snprintf(place[count++], folder + length + 1, "%.*s%s", (int)folder, result, last + 1);
    }
    return count;
}

// "a/, b/ and the present folder", where files were looked for.
static void put_places(char* const* place, int places, char* text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < places && used < size; ++i) {
        const char* slash = strrchr(place[i], '/');
        const char* before = i == 0 ? "" : ", ";
        if (i > 0 && i == places - 1) before = " and ";
        if (slash == NULL)
            snprintf(text + used, size - used, "%sthe present folder", before);
        else
            snprintf(text + used, size - used, "%s%.*s", before, (int)(slash - place[i]) + 1,
                     place[i]);
        used = strlen(text);
    }
}

// The model inside a result with the files it carries, or with those where it may lie.
static bool load_model(ViewSource* source, const char* file, const AppCarried* carried,
                       LashError* error) {
    enum { SETS = 256 };
    char *set[SETS], *place[PLACES], where[600];
    const LashRecord* record = source->record;
    int sets = recorded_sets(record->options, set, SETS);
    int places = model_places(file, record->model_file, place);
    LashError first = {0};
    for (int i = 0; i < places && source->session.mech == NULL; ++i) {
        LashError inner = {0};
        lash_model_destroy(source->session.model);
        source->session.model = lash_model_parse_carried(
            place[i], record->model_text, strlen(record->model_text), (const char* const*)set, sets,
            carried->file, carried->files, &inner);
        if (source->session.model != NULL)
            source->session.mech = lash_model_build(source->session.model, &inner);
        if (i == 0) first = inner;
        if (inner.status != LASH_ERROR_IO && inner.status != LASH_ERROR_CAD) break;
    }
    put_places(place, places, where, sizeof where);
    for (int i = 0; i < sets; ++i) lash_free(set[i]);
    for (int i = 0; i < places; ++i) lash_free(place[i]);
    if (source->session.mech != NULL) return true;
    bool missing = first.status == LASH_ERROR_IO || first.status == LASH_ERROR_CAD;
    return lash_error_set(error, first.status, first.where,
                          "the model inside the result does not load: %.400s%s%.500s",
                          first.message, missing ? "; its files were looked for in " : "",
                          missing ? where : "");
}

static bool open_result(ViewSource* source, const char* file, LashError* error) {
    source->record = lash_record_open(file, error);
    if (source->record == NULL) return false;
    if (source->record->frames == 0)
        return lash_error_set(error, LASH_ERROR_IO, "", "the result holds no frame to show");
    const LashRecord* record = source->record;
    source->layout = record->layout;
    source->time = lash_alloc((size_t)record->frames * sizeof(double));
    if (!lash_record_read(record, LASH_SERIES_TIME, 0, record->frames, source->time, error))
        return false;
    AppCarried carried;
    if (!app_carried_unpack(record->files, &carried, error)) return false;
    bool good = load_model(source, file, &carried, error);
    if (good)
        app_carried_changes(&carried, source->session.model, source->changes,
                            sizeof source->changes);
    app_carried_free(&carried);
    if (!good) return false;
    source->session.system = lash_mechanism_system(source->session.mech);
    if (!same_names(record, source->session.mech))
        return lash_error_set(error, LASH_ERROR_IO, "",
                              "the frames do not belong to the model inside the result");
    return true;
}

const char* view_source_changes(const ViewSource* source) {
    return source->changes;
}

// ---- live runs ----------------------------------------------------------------------------------

static void create_slots(ViewSource* source) {
    int64_t points = source->layout.contacts > 0 ? SLOT_POINTS : 0;
    int64_t row = (int64_t)source->layout.total * (int64_t)sizeof(double);
    int64_t bytes = row + points * (int64_t)sizeof(LashRecordPoint);
    int64_t planned =
        app_session_steps(&source->session) / app_session_frame_interval(&source->session) + 3;
    int64_t most = MEMORY / bytes;
    if (most < MIN_SLOTS) most = MIN_SLOTS;
    source->slots = (int)(planned < most ? planned : most);
    size_t n = (size_t)source->slots;
    source->slot_memory = lash_alloc(n * (size_t)row);
    source->slot_point = lash_alloc(n * (size_t)points * sizeof *source->slot_point);
    source->slot_points = lash_alloc(n * sizeof(int));
    source->slot_time = lash_alloc(n * sizeof(double));
    source->slot = lash_alloc(n * sizeof(int));
    source->free_slot = lash_alloc(n * sizeof(int));
}

static void empty_slots(ViewSource* source) {
    source->frames = source->events = 0;
    source->free_slots = source->slots;
    for (int i = 0; i < source->slots; ++i) source->free_slot[i] = source->slots - 1 - i;
    source->every = app_session_frame_interval(&source->session);
    source->error = (LashError){0};
    source->real_time = source->simulated = 0;
}

// Keeps every second frame.
static void thin_out(ViewSource* source) {
    int64_t kept = 0;
    for (int64_t i = 0; i < source->frames; ++i) {
        if (i % 2 == 0) {
            source->slot[kept] = source->slot[i];
            source->slot_time[kept++] = source->slot_time[i];
        } else {
            source->free_slot[source->free_slots++] = source->slot[i];
        }
    }
    source->frames = kept;
    source->every *= 2;
}

static void keep_frame(ViewSource* source, const double* frame, const AppContactLog* log) {
    pthread_mutex_lock(&source->lock);
    if (source->free_slots == 0) thin_out(source);
    int slot = source->free_slot[--source->free_slots];
    size_t width = (size_t)source->layout.total;
    memcpy(source->slot_memory + (size_t)slot * width, frame, width * sizeof(double));
    int points = log->points < SLOT_POINTS ? log->points : SLOT_POINTS;
    source->slot_points[slot] = points;
    if (points > 0) {
        memcpy(source->slot_point + (size_t)slot * SLOT_POINTS, log->point,
               (size_t)points * sizeof *log->point);
    }
    source->slot_time[source->frames] = frame[source->layout.offset[LASH_SERIES_TIME]];
    source->slot[source->frames++] = slot;
    pthread_cond_broadcast(&source->grown);
    pthread_mutex_unlock(&source->lock);
}

static void keep_events(ViewSource* source, const LashEvent* event, int count) {
    if (count == 0) return;
    pthread_mutex_lock(&source->lock);
    for (int i = 0; i < count && source->events < MAX_EVENTS; ++i) {
        if (source->events == source->event_capacity) {
            source->event_capacity =
                source->event_capacity == 0 ? 1024 : 2 * source->event_capacity;
            source->event =
                lash_realloc(source->event, (size_t)source->event_capacity * sizeof *source->event);
        }
        int contact = lash_mechanism_contact_of(source->session.mech, event[i].id);
        int joint = contact < 0 ? lash_mechanism_joint_of(source->session.mech, event[i].id) : -1;
        source->event[source->events++] = (ViewEvent){event[i].t + event[i].h,
                                                      (int32_t)event[i].kind,
                                                      contact,
                                                      joint,
                                                      event[i].impulse[0],
                                                      event[i].h};
    }
    pthread_mutex_unlock(&source->lock);
}

static void take_frame(ViewSource* source, AppDrive* drive) {
    LashError none = {0};
    app_drive_measure(drive);
    app_contact_log_points(&drive->log, source->session.mech, source->session.sim, NULL, &none);
    app_contact_log_frame(&drive->log, &source->layout, drive->frame);
    app_drive_next_frame(drive);
    keep_frame(source, drive->frame, &drive->log);
}

static bool stop_asked(void* context) {
    ViewSource* source = context;
    pthread_mutex_lock(&source->lock);
    bool stop = source->stop;
    pthread_mutex_unlock(&source->lock);
    return stop;
}

static bool told_to_stop(ViewSource* source, double wall) {
    pthread_mutex_lock(&source->lock);
    source->simulated = lash_sim_time(source->session.sim);
    source->real_time = wall > 0 ? source->simulated / wall : 0;
    bool stop = source->stop;
    pthread_mutex_unlock(&source->lock);
    return stop;
}

static bool observe(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    (void)error;
    ViewSource* source = context;
    int64_t done = drive->counters.steps;
    if (done == 0) source->start = app_wall_clock();
    int events = 0;
    const LashEvent* event = lash_sim_events(source->session.sim, &events);
    if (done > 0) keep_events(source, event, events);
    // only this thread changes `every`
    if (done % source->every == 0 || done == drive->steps) take_frame(source, drive);
    return done == 0 || !told_to_stop(source, app_wall_clock() - source->start);
}

static void* work(void* argument) {
    ViewSource* source = argument;
    LashError error = {0};
    AppDrive drive = app_drive_create(&source->session);
    lash_sim_set_stop(source->session.sim, (LashStop){.asked = stop_asked, .context = source});
    app_drive_run(&drive, observe, source, &error);
    app_drive_free(&drive);
    pthread_mutex_lock(&source->lock);
    source->running = false;
    source->error = error;
    pthread_cond_broadcast(&source->grown);
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

static void stop_worker(ViewSource* source) {
    if (!source->started) return;
    pthread_mutex_lock(&source->lock);
    source->stop = true;
    pthread_mutex_unlock(&source->lock);
    pthread_join(source->worker, NULL);
    source->started = false;
}

void view_source_start(ViewSource* source) {
    if (!source->live) return;
    stop_worker(source);
    if (source->frames > 0) { // the sim as it was before the first step
        LashError error = {0};
        app_session_create(&source->session);
        app_session_start(&source->session, &error); // it was good when it was opened
    }
    empty_slots(source);
    source->stop = false;
    source->running = source->started = true;
    if (pthread_create(&source->worker, NULL, work, source) != 0) {
        source->running = source->started = false;
        lash_error_set(&source->error, LASH_ERROR_INTERNAL, "", "no thread could be started");
    }
    view_source_wait(source, -INFINITY);
}

// ---- both ---------------------------------------------------------------------------------------

static bool is_result(const char* file) {
    static const char signature[] = "\211HDF\r\n\032\n";
    char head[8] = "";
    FILE* f = fopen(file, "rb");
    if (f == NULL) return false;
    size_t got = fread(head, 1, 8, f);
    fclose(f);
    const char* dot = strrchr(file, '.');
    return (got == 8 && memcmp(head, signature, 8) == 0) ||
           (dot != NULL && strcmp(dot, ".h5") == 0);
}

// One step of a mechanism that nothing moves: something to look at, to measure, to click.
static bool open_step(ViewSource* source, const char* file, LashError* error) {
    char* text = view_step_model(file, error);
    if (text == NULL) return false;
    AppSessionOptions still = {.step = 1e-6, .duration = 1e-6, .text = text};
    bool good = app_session_open(&source->session, file, &still, error);
    lash_free(text);
    return good;
}

ViewSource* view_source_open(const char* file, const AppSessionOptions* options, LashError* error) {
    ViewSource* source = lash_alloc(sizeof *source);
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->grown, NULL);
    source->live = !is_result(file);
    bool good;
    if (app_file_kind(file) == APP_FILE_STEP)
        good = open_step(source, file, error);
    else
        good = source->live ? app_session_open(&source->session, file, options, error)
                            : open_result(source, file, error);
    if (!good) {
        lash_error_file(error, file);
        view_source_close(source);
        return NULL;
    }
    if (source->live) {
        const LashModel* model = source->session.model;
        source->layout = lash_record_layout(app_record_sizes(model, false));
        create_slots(source);
        empty_slots(source);
    }
    return source;
}

void view_source_close(ViewSource* source) {
    if (source == NULL) return;
    stop_worker(source);
    lash_record_close(source->record);
    app_session_close(&source->session);
    pthread_cond_destroy(&source->grown);
    pthread_mutex_destroy(&source->lock);
    lash_free(source->time);
    lash_free(source->slot_memory);
    lash_free(source->slot_time);
    lash_free(source->slot_point);
    lash_free(source->slot_points);
    lash_free(source->slot);
    lash_free(source->free_slot);
    lash_free(source->event);
    lash_free(source);
}

const LashModel* view_source_model(const ViewSource* source) {
    return source->session.model;
}

const LashMechanism* view_source_mechanism(const ViewSource* source) {
    return source->session.mech;
}

const LashRecordLayout* view_source_layout(const ViewSource* source) {
    return &source->layout;
}

void view_source_wait(ViewSource* source, double t) {
    pthread_mutex_lock(&source->lock);
    while (source->running && (source->frames == 0 || source->slot_time[source->frames - 1] < t)) {
        pthread_cond_wait(&source->grown, &source->lock);
    }
    pthread_mutex_unlock(&source->lock);
}

ViewStatus view_source_status(ViewSource* source) {
    ViewStatus status = {.live = source->live, .complete = true};
    if (!source->live) {
        status.frames = source->record->frames;
        status.events = source->record->events;
        status.begin = source->time[0];
        status.end = status.planned = source->time[status.frames - 1];
        status.complete = source->record->complete;
        status.step = source->record->step;
        return status;
    }
    pthread_mutex_lock(&source->lock);
    status.frames = source->frames;
    status.events = source->events;
    status.begin = source->frames > 0 ? source->slot_time[0] : 0;
    status.end = source->frames > 0 ? source->slot_time[source->frames - 1] : 0;
    status.running = source->running;
    status.real_time = source->real_time;
    status.error = source->error;
    pthread_mutex_unlock(&source->lock);
    status.step = source->session.model->simulation.settings.h;
    status.planned = status.running ? source->session.model->simulation.duration : status.end;
    return status;
}

static int64_t find_time(const double* time, int64_t count, double t) {
    int64_t low = 0, high = count; // time[low] <= t < time[high]
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (time[middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t view_source_find(ViewSource* source, double t) {
    if (!source->live) return find_time(source->time, source->record->frames, t);
    pthread_mutex_lock(&source->lock);
    int64_t found = find_time(source->slot_time, source->frames, t);
    pthread_mutex_unlock(&source->lock);
    return found;
}

double view_source_time(ViewSource* source, int64_t frame) {
    if (!source->live) {
        if (frame >= source->record->frames) frame = source->record->frames - 1;
        return source->time[frame < 0 ? 0 : frame];
    }
    pthread_mutex_lock(&source->lock);
    if (frame >= source->frames) frame = source->frames - 1;
    double t = source->frames > 0 ? source->slot_time[frame < 0 ? 0 : frame] : 0;
    pthread_mutex_unlock(&source->lock);
    return t;
}

bool view_source_read(ViewSource* source, int64_t frame, double* values, LashError* error) {
    if (!source->live) return lash_record_read_frame(source->record, frame, values, error);
    size_t width = (size_t)source->layout.total;
    pthread_mutex_lock(&source->lock);
    if (frame >= source->frames) frame = source->frames - 1; // thinned out since the caller asked
    bool there = frame >= 0;
    if (there)
        memcpy(values, source->slot_memory + (size_t)source->slot[frame] * width,
               width * sizeof(double));
    pthread_mutex_unlock(&source->lock);
    return there;
}

bool view_source_frame(ViewSource* source, int64_t index, ViewFrame* frame, LashError* error) {
    frame->points = 0;
    if (!source->live) {
        if (!lash_record_read_frame(source->record, index, frame->values, error)) return false;
        int count =
            lash_record_read_points(source->record, index, frame->point, VIEW_MAX_POINTS, error);
        frame->points = count < VIEW_MAX_POINTS ? count : VIEW_MAX_POINTS;
        return count >= 0;
    }
    size_t width = (size_t)source->layout.total;
    pthread_mutex_lock(&source->lock);
    if (index >= source->frames) index = source->frames - 1; // thinned out since the caller asked
    bool there = index >= 0;
    if (there) {
        size_t slot = (size_t)source->slot[index];
        frame->points = source->slot_points[slot];
        memcpy(frame->values, source->slot_memory + slot * width, width * sizeof(double));
        memcpy(frame->point, source->slot_point + slot * SLOT_POINTS,
               (size_t)frame->points * sizeof *frame->point);
    }
    pthread_mutex_unlock(&source->lock);
    return there;
}

int64_t view_source_events(ViewSource* source, int64_t first, int64_t count, ViewEvent* events) {
    int64_t copied = 0;
    if (!source->live) {
        LashRecordEvent chunk[64];
        LashError ignored = {0};
        while (copied < count && first + copied < source->record->events) {
            int64_t n = source->record->events - first - copied;
            if (n > 64) n = 64;
            if (n > count - copied) n = count - copied;
            if (!lash_record_read_events(source->record, first + copied, n, chunk, &ignored)) break;
            for (int64_t i = 0; i < n; ++i) {
                events[copied++] =
                    (ViewEvent){chunk[i].t + chunk[i].h, chunk[i].kind,
                                chunk[i].contact,        chunk[i].contact < 0 ? chunk[i].joint : -1,
                                chunk[i].impulse[0],     chunk[i].h};
            }
        }
        return copied;
    }
    pthread_mutex_lock(&source->lock);
    while (copied < count && first + copied < source->events) {
        events[copied] = source->event[first + copied];
        ++copied;
    }
    pthread_mutex_unlock(&source->lock);
    return copied;
}

bool view_source_series(ViewSource* source, LashSeries series, int64_t first, int64_t count,
                        double* values, LashError* error) {
    if (!source->live) return lash_record_read(source->record, series, first, count, values, error);
    size_t total = (size_t)source->layout.total, width = (size_t)source->layout.width[series];
    pthread_mutex_lock(&source->lock);
    for (int64_t i = 0; i < count; ++i) {
        int64_t frame = first + i < source->frames ? first + i : source->frames - 1;
        const double* row = source->slot_memory + (size_t)source->slot[frame] * total;
        memcpy(values + (size_t)i * width, row + source->layout.offset[series],
               width * sizeof *values);
    }
    pthread_mutex_unlock(&source->lock);
    return true;
}

static bool read_column(ViewSource* source, LashSeries series, int column, int64_t first,
                        int64_t count, double* values, LashError* error) {
    enum { ROWS = 512 };
    size_t width = (size_t)source->layout.width[series];
    double* chunk = lash_alloc(ROWS * width * sizeof *chunk);
    bool good = true;
    for (int64_t i = 0; i < count && good; i += ROWS) {
        int64_t n = count - i < ROWS ? count - i : ROWS;
        good = lash_record_read(source->record, series, first + i, n, chunk, error);
        for (int64_t k = 0; k < n && good; ++k)
            values[i + k] = chunk[(size_t)k * width + (size_t)column];
    }
    lash_free(chunk);
    return good;
}

bool view_source_column(ViewSource* source, LashSeries series, int column, int64_t first,
                        int64_t count, double* values, LashError* error) {
    LASH_ASSERT(column >= 0 && column < source->layout.width[series]);
    if (!source->live) return read_column(source, series, column, first, count, values, error);
    size_t width = (size_t)source->layout.total,
           offset = (size_t)(source->layout.offset[series] + column);
    pthread_mutex_lock(&source->lock);
    for (int64_t i = 0; i < count; ++i) {
        int64_t frame = first + i < source->frames ? first + i : source->frames - 1;
        values[i] = source->slot_memory[(size_t)source->slot[frame] * width + offset];
    }
    pthread_mutex_unlock(&source->lock);
    return true;
}

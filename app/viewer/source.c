// Frames of a live run are kept in slots of one block of memory with a fixed budget. The worker
// computes a frame aside and copies it in under the lock, readers copy it out, so that neither ever
// waits for a step or for a picture. When the slots are used up, every second frame is dropped and
// frames are kept half as often from then on: the whole run stays seekable in bounded memory.
#include "app/viewer/source.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/progress.h"
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
    double* time; // (frames of a result) all times, to seek without reading
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
    for (int i = 0; i < record->layout.bodies; ++i) {
        if (strcmp(record->body_name[i], lash_mechanism_body_name(mech, i)) != 0) return false;
    }
    return true;
}

// Where the model of a result lies: as it was named when the run began or, when that is a relative
// path that leads nowhere from here, from the folder of the result. To be freed.
static char* find_model(const char* result, const char* model) {
    const char* slash = strrchr(result, '/');
    if (model[0] == '/' || access(model, R_OK) == 0 || slash == NULL) return lash_strdup(model);
    size_t folder = (size_t)(slash - result) + 1, bytes = folder + strlen(model) + 1;
    char* beside = lash_alloc(bytes);
    snprintf(beside, bytes, "%.*s%s", (int)folder, result, model);
    if (access(beside, R_OK) == 0) return beside;
    lash_free(beside);
    return lash_strdup(model);
}

static bool open_result(ViewSource* s, const char* file, LashError* error) {
    enum { SETS = 256 };
    char* set[SETS];
    s->record = lash_record_open(file, error);
    if (s->record == NULL) return false;
    if (s->record->frames == 0)
        return lash_error_set(error, LASH_ERROR_IO, "", "the result holds no frame to show");
    const LashRecord* record = s->record;
    s->layout = record->layout;
    s->time = lash_alloc((size_t)record->frames * sizeof(double));
    if (!lash_record_read(record, LASH_SERIES_TIME, 0, record->frames, s->time, error))
        return false;
    int sets = recorded_sets(record->options, set, SETS);
    LashError inner = {0};
    char* model = find_model(file, record->model_file);
    s->session.model = lash_model_parse(model, record->model_text, strlen(record->model_text),
                                        (const char* const*)set, sets, &inner);
    if (s->session.model != NULL) s->session.mech = lash_model_build(s->session.model, &inner);
    for (int i = 0; i < sets; ++i) lash_free(set[i]);
    lash_free(model);
    if (s->session.mech == NULL) {
        return lash_error_set(error, inner.status, inner.where,
                              "the model inside the result does not load: %.400s; its files are "
                              "looked for beside %.200s, from this folder and from the result's",
                              inner.message, record->model_file);
    }
    s->session.system = lash_mechanism_system(s->session.mech);
    if (!same_names(record, s->session.mech))
        return lash_error_set(error, LASH_ERROR_IO, "",
                              "the frames do not belong to the model inside the result");
    return true;
}

// ---- live runs ----------------------------------------------------------------------------------

static void create_slots(ViewSource* s) {
    int64_t points = s->layout.contacts > 0 ? SLOT_POINTS : 0;
    int64_t row = (int64_t)s->layout.total * (int64_t)sizeof(double);
    int64_t bytes = row + points * (int64_t)sizeof(LashRecordPoint);
    int64_t planned = app_session_steps(&s->session) / app_session_frame_interval(&s->session) + 3;
    int64_t most = MEMORY / bytes;
    if (most < MIN_SLOTS) most = MIN_SLOTS;
    s->slots = (int)(planned < most ? planned : most);
    size_t n = (size_t)s->slots;
    s->slot_memory = lash_alloc(n * (size_t)row);
    s->slot_point = lash_alloc(n * (size_t)points * sizeof *s->slot_point);
    s->slot_points = lash_alloc(n * sizeof(int));
    s->slot_time = lash_alloc(n * sizeof(double));
    s->slot = lash_alloc(n * sizeof(int));
    s->free_slot = lash_alloc(n * sizeof(int));
}

static void empty_slots(ViewSource* s) {
    s->frames = s->events = 0;
    s->free_slots = s->slots;
    for (int i = 0; i < s->slots; ++i) s->free_slot[i] = s->slots - 1 - i;
    s->every = app_session_frame_interval(&s->session);
    s->error = (LashError){0};
    s->real_time = s->simulated = 0;
}

// Keeps every second frame.
static void thin_out(ViewSource* s) {
    int64_t kept = 0;
    for (int64_t i = 0; i < s->frames; ++i) {
        if (i % 2 == 0) {
            s->slot[kept] = s->slot[i];
            s->slot_time[kept++] = s->slot_time[i];
        } else {
            s->free_slot[s->free_slots++] = s->slot[i];
        }
    }
    s->frames = kept;
    s->every *= 2;
}

static void keep_frame(ViewSource* s, const double* frame, const AppContactLog* log) {
    pthread_mutex_lock(&s->lock);
    if (s->free_slots == 0) thin_out(s);
    int slot = s->free_slot[--s->free_slots];
    size_t width = (size_t)s->layout.total;
    memcpy(s->slot_memory + (size_t)slot * width, frame, width * sizeof(double));
    int points = log->points < SLOT_POINTS ? log->points : SLOT_POINTS;
    s->slot_points[slot] = points;
    if (points > 0) {
        memcpy(s->slot_point + (size_t)slot * SLOT_POINTS, log->point,
               (size_t)points * sizeof *log->point);
    }
    s->slot_time[s->frames] = frame[s->layout.offset[LASH_SERIES_TIME]];
    s->slot[s->frames++] = slot;
    pthread_cond_broadcast(&s->grown);
    pthread_mutex_unlock(&s->lock);
}

static void keep_events(ViewSource* s, const LashEvent* event, int count) {
    if (count == 0) return;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < count && s->events < MAX_EVENTS; ++i) {
        if (s->events == s->event_capacity) {
            s->event_capacity = s->event_capacity == 0 ? 1024 : 2 * s->event_capacity;
            s->event = lash_realloc(s->event, (size_t)s->event_capacity * sizeof *s->event);
        }
        int contact = lash_mechanism_contact_of(s->session.mech, event[i].id);
        s->event[s->events++] =
            (ViewEvent){event[i].t + event[i].h, (int32_t)event[i].kind, contact};
    }
    pthread_mutex_unlock(&s->lock);
}

static void take_frame(ViewSource* s, AppDrive* drive) {
    LashError none = {0};
    app_drive_measure(drive);
    app_contact_log_points(&drive->log, s->session.mech, s->session.sim, NULL, &none);
    app_contact_log_frame(&drive->log, &s->layout, drive->frame);
    app_drive_next_frame(drive);
    keep_frame(s, drive->frame, &drive->log);
}

static bool stop_asked(void* context) {
    ViewSource* s = context;
    pthread_mutex_lock(&s->lock);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static bool told_to_stop(ViewSource* s, double wall) {
    pthread_mutex_lock(&s->lock);
    s->simulated = lash_sim_time(s->session.sim);
    s->real_time = wall > 0 ? s->simulated / wall : 0;
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static bool observe(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    (void)error;
    ViewSource* s = context;
    int64_t done = drive->counters.steps;
    if (done == 0) s->start = app_wall_clock();
    int events = 0;
    const LashEvent* event = lash_sim_events(s->session.sim, &events);
    if (done > 0) keep_events(s, event, events);
    // only this thread changes `every`
    if (done % s->every == 0 || done == drive->steps) take_frame(s, drive);
    return done == 0 || !told_to_stop(s, app_wall_clock() - s->start);
}

static void* work(void* argument) {
    ViewSource* s = argument;
    LashError error = {0};
    AppDrive drive = app_drive_create(&s->session);
    lash_sim_set_stop(s->session.sim, (LashStop){.asked = stop_asked, .context = s});
    app_drive_run(&drive, observe, s, &error);
    app_drive_free(&drive);
    pthread_mutex_lock(&s->lock);
    s->running = false;
    s->error = error;
    pthread_cond_broadcast(&s->grown);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void stop_worker(ViewSource* s) {
    if (!s->started) return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->worker, NULL);
    s->started = false;
}

void view_source_start(ViewSource* s) {
    if (!s->live) return;
    stop_worker(s);
    if (s->frames > 0) { // the sim as it was before the first step
        LashError error = {0};
        app_session_create(&s->session);
        app_session_start(&s->session, &error); // it was good when it was opened
    }
    empty_slots(s);
    s->stop = false;
    s->running = s->started = true;
    if (pthread_create(&s->worker, NULL, work, s) != 0) {
        s->running = s->started = false;
        lash_error_set(&s->error, LASH_ERROR_INTERNAL, "", "no thread could be started");
    }
    view_source_wait(s, -INFINITY);
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

ViewSource* view_source_open(const char* file, const AppSessionOptions* options, LashError* error) {
    ViewSource* s = lash_alloc(sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->grown, NULL);
    s->live = !is_result(file);
    bool good =
        s->live ? app_session_open(&s->session, file, options, error) : open_result(s, file, error);
    if (!good) {
        lash_error_file(error, file);
        view_source_close(s);
        return NULL;
    }
    if (s->live) {
        const LashModel* model = s->session.model;
        s->layout = lash_record_layout(model->bodies, model->joints, model->contact_points);
        create_slots(s);
        empty_slots(s);
    }
    return s;
}

void view_source_close(ViewSource* s) {
    if (s == NULL) return;
    stop_worker(s);
    lash_record_close(s->record);
    app_session_close(&s->session);
    pthread_cond_destroy(&s->grown);
    pthread_mutex_destroy(&s->lock);
    lash_free(s->time);
    lash_free(s->slot_memory);
    lash_free(s->slot_time);
    lash_free(s->slot_point);
    lash_free(s->slot_points);
    lash_free(s->slot);
    lash_free(s->free_slot);
    lash_free(s->event);
    lash_free(s);
}

const LashModel* view_source_model(const ViewSource* s) {
    return s->session.model;
}

const LashMechanism* view_source_mechanism(const ViewSource* s) {
    return s->session.mech;
}

void view_source_wait(ViewSource* s, double t) {
    pthread_mutex_lock(&s->lock);
    while (s->running && (s->frames == 0 || s->slot_time[s->frames - 1] < t)) {
        pthread_cond_wait(&s->grown, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

ViewStatus view_source_status(ViewSource* s) {
    ViewStatus status = {.live = s->live, .complete = true};
    if (!s->live) {
        status.frames = s->record->frames;
        status.events = s->record->events;
        status.begin = s->time[0];
        status.end = status.planned = s->time[status.frames - 1];
        status.complete = s->record->complete;
        status.step = s->record->step;
        return status;
    }
    pthread_mutex_lock(&s->lock);
    status.frames = s->frames;
    status.events = s->events;
    status.begin = s->frames > 0 ? s->slot_time[0] : 0;
    status.end = s->frames > 0 ? s->slot_time[s->frames - 1] : 0;
    status.running = s->running;
    status.real_time = s->real_time;
    status.error = s->error;
    pthread_mutex_unlock(&s->lock);
    status.step = s->session.model->simulation.settings.h;
    status.planned = status.running ? s->session.model->simulation.duration : status.end;
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

int64_t view_source_find(ViewSource* s, double t) {
    if (!s->live) return find_time(s->time, s->record->frames, t);
    pthread_mutex_lock(&s->lock);
    int64_t found = find_time(s->slot_time, s->frames, t);
    pthread_mutex_unlock(&s->lock);
    return found;
}

double view_source_time(ViewSource* s, int64_t frame) {
    if (!s->live) {
        if (frame >= s->record->frames) frame = s->record->frames - 1;
        return s->time[frame < 0 ? 0 : frame];
    }
    pthread_mutex_lock(&s->lock);
    if (frame >= s->frames) frame = s->frames - 1;
    double t = s->frames > 0 ? s->slot_time[frame < 0 ? 0 : frame] : 0;
    pthread_mutex_unlock(&s->lock);
    return t;
}

bool view_source_read(ViewSource* s, int64_t frame, double* values, LashError* error) {
    if (!s->live) return lash_record_read_frame(s->record, frame, values, error);
    size_t width = (size_t)s->layout.total;
    pthread_mutex_lock(&s->lock);
    if (frame >= s->frames) frame = s->frames - 1; // thinned out since the caller asked
    bool there = frame >= 0;
    if (there)
        memcpy(values, s->slot_memory + (size_t)s->slot[frame] * width, width * sizeof(double));
    pthread_mutex_unlock(&s->lock);
    return there;
}

bool view_source_frame(ViewSource* s, int64_t index, ViewFrame* frame, LashError* error) {
    frame->points = 0;
    if (!s->live) {
        if (!lash_record_read_frame(s->record, index, frame->values, error)) return false;
        int count = lash_record_read_points(s->record, index, frame->point, VIEW_MAX_POINTS, error);
        frame->points = count < VIEW_MAX_POINTS ? count : VIEW_MAX_POINTS;
        return count >= 0;
    }
    size_t width = (size_t)s->layout.total;
    pthread_mutex_lock(&s->lock);
    if (index >= s->frames) index = s->frames - 1; // thinned out since the caller asked
    bool there = index >= 0;
    if (there) {
        size_t slot = (size_t)s->slot[index];
        frame->points = s->slot_points[slot];
        memcpy(frame->values, s->slot_memory + slot * width, width * sizeof(double));
        memcpy(frame->point, s->slot_point + slot * SLOT_POINTS,
               (size_t)frame->points * sizeof *frame->point);
    }
    pthread_mutex_unlock(&s->lock);
    return there;
}

int64_t view_source_events(ViewSource* s, int64_t first, int64_t count, ViewEvent* events) {
    int64_t copied = 0;
    if (!s->live) {
        LashRecordEvent chunk[64];
        LashError ignored = {0};
        while (copied < count && first + copied < s->record->events) {
            int64_t n = s->record->events - first - copied;
            if (n > 64) n = 64;
            if (n > count - copied) n = count - copied;
            if (!lash_record_read_events(s->record, first + copied, n, chunk, &ignored)) break;
            for (int64_t i = 0; i < n; ++i) {
                events[copied++] =
                    (ViewEvent){chunk[i].t + chunk[i].h, chunk[i].kind, chunk[i].contact};
            }
        }
        return copied;
    }
    pthread_mutex_lock(&s->lock);
    while (copied < count && first + copied < s->events) {
        events[copied] = s->event[first + copied];
        ++copied;
    }
    pthread_mutex_unlock(&s->lock);
    return copied;
}

static bool read_column(ViewSource* s, LashSeries series, int column, int64_t first, int64_t count,
                        double* values, LashError* error) {
    enum { ROWS = 512 };
    size_t width = (size_t)s->layout.width[series];
    double* chunk = lash_alloc(ROWS * width * sizeof *chunk);
    bool good = true;
    for (int64_t i = 0; i < count && good; i += ROWS) {
        int64_t n = count - i < ROWS ? count - i : ROWS;
        good = lash_record_read(s->record, series, first + i, n, chunk, error);
        for (int64_t k = 0; k < n && good; ++k)
            values[i + k] = chunk[(size_t)k * width + (size_t)column];
    }
    lash_free(chunk);
    return good;
}

bool view_source_column(ViewSource* s, LashSeries series, int column, int64_t first, int64_t count,
                        double* values, LashError* error) {
    LASH_ASSERT(column >= 0 && column < s->layout.width[series]);
    if (!s->live) return read_column(s, series, column, first, count, values, error);
    size_t width = (size_t)s->layout.total, offset = (size_t)(s->layout.offset[series] + column);
    pthread_mutex_lock(&s->lock);
    for (int64_t i = 0; i < count; ++i) {
        int64_t frame = first + i < s->frames ? first + i : s->frames - 1;
        values[i] = s->slot_memory[(size_t)s->slot[frame] * width + offset];
    }
    pthread_mutex_unlock(&s->lock);
    return true;
}

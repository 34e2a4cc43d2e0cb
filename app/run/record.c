// Result files: reading, through a process of its own.
//
// A result may come from anywhere, and bytes that are made for it crash the HDF5 library itself,
// whatever is checked before (record_file.c). So a child process opens the file and answers
// questions over a socket; when it dies, or computes for too long, the caller gets an error like
// any other. The child is forked, not started: there is no second program to install.
//
//     question: Question                          answer: Answer, then its bytes
//     (at the start, without a question)          Head, six texts, names of RECORD_NAME_BYTES each
//     read                                        the rows
//     any that fails                              a LashError
#define _GNU_SOURCE // close_range
#include "app/run/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/run/record_file.h"
#include "app/run/record_internal.h"
#include "core/arena.h"
#include "core/input_file.h"

enum {
    SECONDS = 60,       // of processor time for one question; a frame takes less than a millisecond
    TEXTS = 6,          // version, model_file, model_text, options, scheme, files
    MOST_ROWS = 1 << 16 // of one answer; more are asked for again
};

typedef enum Ask { ASK_SERIES, ASK_FRAME, ASK_EVENTS, ASK_POINTS } Ask;
typedef struct Question {
    int32_t ask, series;
    int64_t first, count;
} Question;
typedef struct Answer {
    int32_t good; // 0: a LashError follows
    int32_t unused;
    uint64_t bytes; // that follow
} Answer;
typedef struct Head {
    int32_t bodies, joints, contacts, complete, algorithmic, inputs, coordinates, unused;
    int64_t frames, events, points;
    double step;
    uint64_t text[TEXTS]; // bytes of each
} Head;

struct LashRecordFile {
    int socket;
    pid_t child;
};

// All bytes, whatever the portions; MSG_NOSIGNAL: the other end may be dead.
static bool send_all(int to, const void* data, size_t bytes) {
    const char* at = data;
    while (bytes > 0) {
        ssize_t step = send(to, at, bytes, MSG_NOSIGNAL);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) return false;
        at += step;
        bytes -= (size_t)step;
    }
    return true;
}

static bool receive_all(int from, void* data, size_t bytes) {
    char* at = data;
    while (bytes > 0) {
        ssize_t step = recv(from, at, bytes, 0);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) return false;
        at += step;
        bytes -= (size_t)step;
    }
    return true;
}

// ---- the child ----------------------------------------------------------------------------------

// SECONDS more of processor time from now on.
static void allow_seconds(void) {
    struct rusage used;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &used);
    if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
    rlim_t soft = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + SECONDS);
    if (limit.rlim_max != RLIM_INFINITY && soft > limit.rlim_max) soft = limit.rlim_max;
    limit.rlim_cur = soft;
    setrlimit(RLIMIT_CPU, &limit);
}

static bool answer(int to, bool good, const void* data, size_t bytes, const LashError* error) {
    Answer head = {.good = good, .bytes = good ? bytes : sizeof *error};
    if (!good) data = error;
    return send_all(to, &head, sizeof head) && send_all(to, data, head.bytes);
}

static bool send_names(int to, char* const* name, int count) {
    char text[RECORD_NAME_BYTES];
    for (int i = 0; i < count; ++i) {
        memset(text, 0, sizeof text);
        snprintf(text, sizeof text, "%s", name[i]);
        if (!send_all(to, text, sizeof text)) return false;
    }
    return true;
}

static bool send_head(int to, const LashRecord* record) {
    const LashRecordLayout* layout = &record->layout;
    const char* text[TEXTS] = {record->version, record->model_file, record->model_text,
                               record->options, record->scheme,     record->files};
    Head head = {.bodies = layout->bodies,
                 .joints = layout->joints,
                 .contacts = layout->contacts,
                 .complete = record->complete,
                 .algorithmic = layout->width[LASH_SERIES_ALGORITHMIC],
                 .inputs = layout->inputs,
                 .coordinates = layout->coordinates,
                 .frames = record->frames,
                 .events = record->events,
                 .points = record->points,
                 .step = record->step};
    for (int i = 0; i < TEXTS; ++i) head.text[i] = strlen(text[i]);
    bool good = answer(to, true, &head, sizeof head, NULL);
    for (int i = 0; i < TEXTS && good; ++i) good = send_all(to, text[i], head.text[i]);
    return good && send_names(to, record->body_name, layout->bodies) &&
           send_names(to, record->joint_name, layout->joints) &&
           send_names(to, record->joint_type, layout->joints) &&
           send_names(to, record->contact_name, layout->contacts) &&
           send_names(to, record->input_name, layout->inputs) &&
           send_names(to, record->input_unit, layout->inputs);
}

// One row of every series, in the order of the layout.
static bool read_frame(RecordFile* file, const LashRecordLayout* layout, int64_t frame,
                       double* values, LashError* error) {
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        if (!record_file_series(file, (LashSeries)s, frame, 1, values + layout->offset[s], error))
            return false;
    }
    return true;
}

// Bytes of a row of what is asked for.
static size_t row_bytes(const LashRecordLayout* layout, const Question* question) {
    switch ((Ask)question->ask) {
        case ASK_SERIES:
            return (size_t)layout->width[question->series] * sizeof(double);
        case ASK_FRAME:
            return (size_t)layout->total * sizeof(double);
        case ASK_EVENTS:
            return sizeof(LashRecordEvent);
        case ASK_POINTS:
            return sizeof(LashRecordPoint);
    }
    return 0;
}

static bool read_rows(RecordFile* file, const LashRecordLayout* layout, const Question* question,
                      void* rows, LashError* error) {
    switch ((Ask)question->ask) {
        case ASK_SERIES:
            return record_file_series(file, (LashSeries)question->series, question->first,
                                      question->count, rows, error);
        case ASK_FRAME:
            return read_frame(file, layout, question->first, rows, error);
        case ASK_EVENTS:
            return record_file_events(file, question->first, question->count, rows, error);
        case ASK_POINTS:
            return record_file_points(file, question->first, question->count, rows, error);
    }
    return false;
}

static void serve(int to, int descriptor, uint64_t bytes) {
    LashRecord record = {0};
    LashError error = {0};
    Question question;
    allow_seconds();
    RecordFile* file = record_file_open(descriptor, NULL, bytes, &record, &error);
    if (file == NULL) {
        answer(to, false, NULL, 0, &error);
        return;
    }
    if (!send_head(to, &record)) return;
    while (receive_all(to, &question, sizeof question)) {
        size_t size = (size_t)question.count * row_bytes(&record.layout, &question);
        void* rows = lash_alloc(size);
        error = (LashError){0};
        allow_seconds();
        bool good = read_rows(file, &record.layout, &question, rows, &error);
        good = answer(to, good, rows, size, &error);
        lash_free(rows);
        if (!good) return;
    }
}

// Keeps only its own two descriptors: others, and the locks on them, belong to the caller.
static void become_reader(int to, int descriptor, uint64_t bytes) {
    struct rlimit none = {0, 0};
    static const int deaths[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGTERM};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; ++i) signal(deaths[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); // the caller decides; its end is ours
    setrlimit(RLIMIT_CORE, &none);
    int low = to < descriptor ? to : descriptor, high = to < descriptor ? descriptor : to;
    if (low > 3) close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1) close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0u, 0);
    serve(to, descriptor, bytes);
    _exit(0);
}

// ---- the caller ---------------------------------------------------------------------------------

// Why the child is gone.
static bool fail_child(struct LashRecordFile* file, LashError* error) {
    int status = 0;
    while (file->child > 0 && waitpid(file->child, &status, 0) < 0 && errno == EINTR) continue;
    file->child = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return lash_error_set(error, LASH_ERROR_IO, "",
                              "reading takes more than %d s: this result is damaged", SECONDS);
    return lash_error_set(error, LASH_ERROR_IO, "",
                          "the HDF5 library breaks off at it: this result is damaged");
}

// The answer's bytes go to data, which has room for as many as were asked for.
static bool receive(const LashRecord* record, void* data, size_t bytes, LashError* error) {
    Answer head;
    LashError inner;
    int from = record->file->socket;
    if (!receive_all(from, &head, sizeof head)) return fail_child(record->file, error);
    if (!head.good) {
        if (head.bytes != sizeof inner || !receive_all(from, &inner, sizeof inner))
            return fail_child(record->file, error);
        inner.where[sizeof inner.where - 1] = '\0';
        inner.message[sizeof inner.message - 1] = '\0';
        return lash_error_set(error, LASH_ERROR_IO, inner.where, "%s", inner.message);
    }
    if (head.bytes != bytes || !receive_all(from, data, bytes))
        return fail_child(record->file, error);
    return true;
}

static char* receive_text(int from, uint64_t bytes) {
    char* text = lash_alloc((size_t)bytes + 1);
    if (!receive_all(from, text, (size_t)bytes)) {
        lash_free(text);
        return NULL;
    }
    text[bytes] = '\0';
    return text;
}

static char** receive_names(int from, int count, bool* good) {
    if (count == 0 || !*good) return NULL;
    char** name = lash_alloc((size_t)count * sizeof *name);
    for (int i = 0; i < count; ++i) {
        name[i] = *good ? receive_text(from, RECORD_NAME_BYTES) : NULL;
        *good = name[i] != NULL;
    }
    return name;
}

static bool receive_head(LashRecord* record, uint64_t file_bytes, LashError* error) {
    Head head;
    char** text[TEXTS] = {&record->version, &record->model_file, &record->model_text,
                          &record->options, &record->scheme,     &record->files};
    int from = record->file->socket;
    if (!receive(record, &head, sizeof head, error)) return false;
    bool good = head.bodies > 0 && head.joints >= 0 && head.contacts >= 0 && head.frames >= 0 &&
                head.events >= 0 && head.points >= 0 && head.inputs >= 0;
    for (int i = 0; i < TEXTS && good; ++i) {
        good = head.text[i] <= file_bytes;
        if (good) *text[i] = receive_text(from, head.text[i]);
        good = good && *text[i] != NULL;
    }
    if (!good) return fail_child(record->file, error);
    record->layout = lash_record_layout((LashRecordSizes){.bodies = head.bodies,
                                                          .joints = head.joints,
                                                          .contacts = head.contacts,
                                                          .inputs = head.inputs,
                                                          .coordinates = head.coordinates,
                                                          .algorithmic = head.algorithmic != 0});
    record->frames = head.frames;
    record->events = head.events;
    record->points = head.points;
    record->complete = head.complete != 0;
    record->step = head.step;
    record->body_name = receive_names(from, head.bodies, &good);
    record->joint_name = receive_names(from, head.joints, &good);
    record->joint_type = receive_names(from, head.joints, &good);
    record->contact_name = receive_names(from, head.contacts, &good);
    record->input_name = receive_names(from, head.inputs, &good);
    record->input_unit = receive_names(from, head.inputs, &good);
    return good || fail_child(record->file, error);
}

// Forks the reader of the open file.
static bool start_reader(struct LashRecordFile* file, int descriptor, uint64_t bytes,
                         LashError* error) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return lash_error_set(error, LASH_ERROR_IO, "", "cannot be read: %s", strerror(errno));
    file->child = fork();
    if (file->child == 0) become_reader(ends[1], descriptor, bytes);
    close(ends[1]);
    file->socket = ends[0];
    if (file->child > 0) return true;
    return lash_error_set(error, LASH_ERROR_IO, "", "cannot start its reader: %s", strerror(errno));
}

LashRecord* lash_record_open(const char* path, LashError* error) {
    uint64_t bytes = 0;
    int descriptor = lash_input_open(path, &bytes, error);
    if (descriptor < 0) return NULL;
    LashRecord* record = lash_alloc(sizeof *record);
    record->file = lash_alloc(sizeof *record->file);
    record->file->socket = -1;
    bool good =
        start_reader(record->file, descriptor, bytes, error) && receive_head(record, bytes, error);
    close(descriptor);
    if (good) return record;
    lash_error_file(error, path);
    lash_record_close(record);
    return NULL;
}

void lash_record_close(LashRecord* record) {
    if (record == NULL) return;
    struct LashRecordFile* file = record->file;
    if (file->socket >= 0) close(file->socket); // the child ends when nobody asks
    if (file->child > 0)
        while (waitpid(file->child, NULL, 0) < 0 && errno == EINTR) continue;
    lash_free(file);
    record_head_free(record);
    lash_free(record);
}

// Rows [first, first + count) in portions.
static bool ask(const LashRecord* record, Ask kind, int series, int64_t first, int64_t count,
                void* rows, LashError* error) {
    char* at = rows;
    while (count > 0) {
        Question question = {(int32_t)kind, series, first, count < MOST_ROWS ? count : MOST_ROWS};
        size_t bytes = (size_t)question.count * row_bytes(&record->layout, &question);
        if (record->file->child == 0 || !send_all(record->file->socket, &question, sizeof question))
            return fail_child(record->file, error);
        if (!receive(record, at, bytes, error)) return false;
        at += bytes;
        first += question.count;
        count -= question.count;
    }
    return true;
}

bool lash_record_read(const LashRecord* record, LashSeries series, int64_t first, int64_t count,
                      double* values, LashError* error) {
    if (record == NULL) return lash_error_null(error, "an open result");
    LASH_ASSERT(first >= 0 && count >= 0 && first + count <= record->frames);
    if (record->layout.width[series] == 0) return true;
    return ask(record, ASK_SERIES, (int)series, first, count, values, error);
}

bool lash_record_read_events(const LashRecord* record, int64_t first, int64_t count,
                             LashRecordEvent* events, LashError* error) {
    if (record == NULL) return lash_error_null(error, "an open result");
    LASH_ASSERT(first >= 0 && count >= 0 && first + count <= record->events);
    return ask(record, ASK_EVENTS, 0, first, count, events, error);
}

bool lash_record_read_all_points(const LashRecord* record, int64_t first, int64_t count,
                                 LashRecordPoint* points, LashError* error) {
    if (record == NULL) return lash_error_null(error, "an open result");
    LASH_ASSERT(first >= 0 && count >= 0 && first + count <= record->points);
    return ask(record, ASK_POINTS, 0, first, count, points, error);
}

int lash_record_read_points(const LashRecord* record, int64_t frame, LashRecordPoint* points,
                            int capacity, LashError* error) {
    if (record == NULL) {
        lash_error_null(error, "an open result");
        return -1;
    }
    double end[2] = {0, 0};
    int64_t from = frame > 0 ? frame - 1 : 0;
    if (!lash_record_read(record, LASH_SERIES_POINTS_END, from, frame - from + 1,
                          frame > 0 ? end : end + 1, error))
        return -1;
    if (!(end[0] >= 0 && end[0] <= end[1] && end[1] <= (double)record->points &&
          end[1] - end[0] < 1e9)) {
        lash_error_set(error, LASH_ERROR_IO, "counters/contact_points",
                       "the ends of frame %lld's points are %g and %g of %lld; this result is "
                       "damaged",
                       (long long)frame, end[0], end[1], (long long)record->points);
        return -1;
    }
    int count = (int)(end[1] - end[0]), read = count < capacity ? count : capacity;
    if (!lash_record_read_all_points(record, (int64_t)end[0], read, points, error)) return -1;
    return count;
}

bool lash_record_read_frame(const LashRecord* record, int64_t frame, double* values,
                            LashError* error) {
    if (record == NULL) return lash_error_null(error, "an open result");
    LASH_ASSERT(frame >= 0 && frame < record->frames);
    return ask(record, ASK_FRAME, 0, frame, 1, values, error);
}

// Samples -> workers -> one writer with group commit.
//
//   todo --writer marks and commits--> ready --workers run--> results --writer commits--> store
//
// A sample is handed out only after its mark is on the disk. So that no worker waits for that, the
// writer keeps a stock of marked samples, as many as are used up until the next commit but one. A
// commit costs up to a millisecond of processor time, so it carries GROUP results or those of
// DISTANCE seconds, whichever is less; a result counts as done only after its commit. Which worker
// runs which sample changes from run to run; the rows do not.
#include "app/study/schedule.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "app/cli/progress.h"
#include "core/arena.h"

enum {
    MOST_AHEAD = 4096,
    GROUP = 16 // results that do not wait for others to be committed with
};
static const double DISTANCE = 2; // from one commit to the next, when fewer come in [s]

typedef struct Result {
    struct Result* next;
    LashSample* sample;
} Result;

typedef struct Worker {
    LashSchedule* schedule;
    pthread_t thread;
    int number;
} Worker;

struct LashSchedule {
    LashStore* store;
    const LashStudy* study;
    LashSampler* sampler;
    LashShard shard;
    uint8_t* state; // (samples) as in the store at the start
    int64_t cursor; // next of the plan to look at
    pthread_mutex_t lock;
    pthread_cond_t ready_changed, result_changed, ended;
    int64_t ready[MOST_AHEAD]; // ring of marked samples
    int ready_first, ready_count;
    int marking; // being marked by the writer: will be ready
    int hands;   // workers and takers that want samples
    int64_t under_way;
    Result *first, **last; // not committed yet
    int results;
    bool stop;
    double commit_time, sample_time; // recent averages [s]
    double last_commit;              // wall clock [s]
    LashScheduleState result;
    Worker* worker;
    int workers;
    pthread_t writer;
};

static struct timespec later(double seconds) { // on the monotonic clock
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + (int64_t)(seconds * 1e9);
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    return until;
}

static bool belongs(LashShard shard, int64_t i) {
    return i % shard.count == shard.index;
}

// ---- workers ------------------------------------------------------------------------------------

// Samples that all hands begin per second; 0: not known yet.
static double rate(const LashSchedule* s) {
    return s->sample_time > 0 ? s->hands / s->sample_time : 0;
}

// Below this many marked samples the hands may run dry before a commit brings more.
static int reserve(const LashSchedule* s) {
    return rate(s) > 0 ? (int)fmin(ceil(1 + 4 * s->commit_time * rate(s)), MOST_AHEAD / 2)
                       : s->hands;
}

// Samples to keep marked: the reserve, and what is used up between two commits. No more than that:
// all that are marked when a process dies are run alone by the next.
static int stock(const LashSchedule* s) {
    double between = rate(s) > 0 ? fmin(GROUP, DISTANCE * rate(s)) : s->hands;
    return (int)fmin(reserve(s) + ceil(between), MOST_AHEAD);
}

static bool nothing_left(const LashSchedule* s) {
    return s->stop || (s->ready_count == 0 && s->marking == 0 && s->cursor >= s->study->samples);
}

static int64_t pop_ready(LashSchedule* s) {
    int64_t id = s->ready[s->ready_first];
    s->ready_first = (s->ready_first + 1) % MOST_AHEAD;
    --s->ready_count;
    ++s->under_way;
    return id;
}

static void add_result(LashSchedule* s, LashSample* sample) { // locked; NULL: given up
    --s->under_way;
    if (sample != NULL) {
        Result* result = lash_alloc(sizeof *result);
        result->sample = sample;
        *s->last = result;
        s->last = &result->next;
        ++s->results;
        s->sample_time =
            s->sample_time == 0 ? sample->wall : 0.9 * s->sample_time + 0.1 * sample->wall;
        s->result.sampling += sample->wall;
        for (int i = 0; i < LASH_SPENT_PARTS; ++i) s->result.spent[i] += sample->spent[i];
    }
    pthread_cond_signal(&s->result_changed);
}

// Time of the calling thread running or waiting for a core [s]; NAN: unknown.
static double runnable_time(void) {
    double running = NAN, waiting = NAN; // [ns]
    FILE* file = fopen("/proc/thread-self/schedstat", "r");
    if (file == NULL) return NAN;
    if (fscanf(file, "%lf %lf", &running, &waiting) != 2) waiting = NAN;
    fclose(file);
    return 1e-9 * (running + waiting);
}

static void* work(void* argument) {
    Worker* worker = argument;
    LashSchedule* s = worker->schedule;
    double start = app_wall_clock(), runnable = runnable_time(), last = start;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->ready_count == 0 && !nothing_left(s))
            pthread_cond_wait(&s->ready_changed, &s->lock);
        if (nothing_left(s)) break;
        int64_t id = pop_ready(s);
        if (s->ready_count < reserve(s)) pthread_cond_signal(&s->result_changed);
        double now = app_wall_clock();
        s->result.waiting += now - last;
        pthread_mutex_unlock(&s->lock);
        LashSample* sample = lash_sample_create(s->study);
        sample->worker = worker->number;
        if (!lash_sample_run(s->sampler, id, sample)) {
            lash_sample_destroy(sample);
            sample = NULL;
        }
        last = app_wall_clock();
        pthread_mutex_lock(&s->lock);
        add_result(s, sample);
    }
    s->result.working += lash_thread_clock();
    // without the sleep after its last sample, when nothing is left to do
    s->result.blocked += last - start - (runnable_time() - runnable);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int lash_schedule_take(LashSchedule* s, int64_t* ids, int most) {
    int count = 0;
    pthread_mutex_lock(&s->lock);
    while (count < most && s->ready_count > 0 && !s->stop) ids[count++] = pop_ready(s);
    if (count == 0 && nothing_left(s)) count = -1;
    pthread_cond_signal(&s->result_changed);
    pthread_mutex_unlock(&s->lock);
    return count;
}

void lash_schedule_give(LashSchedule* s, LashSample* sample) {
    pthread_mutex_lock(&s->lock);
    add_result(s, sample);
    pthread_mutex_unlock(&s->lock);
}

// ---- the writer ---------------------------------------------------------------------------------

// Next samples of the plan that the store lacks.
static int choose(LashSchedule* s, int64_t* ids, int most) {
    int count = 0;
    for (; s->cursor < s->study->samples && count < most; ++s->cursor) {
        if (belongs(s->shard, s->cursor) && s->state[s->cursor] == LASH_ROW_MISSING)
            ids[count++] = s->cursor;
    }
    return count;
}

static bool commit(LashSchedule* s, Result* results, const int64_t* ids, int marks,
                   LashError* error) {
    bool good = lash_store_begin(s->store, error);
    if (!good) return false;
    for (Result* r = results; r != NULL && good; r = r->next)
        good = lash_store_put(s->store, s->study, r->sample, error);
    for (int i = 0; i < marks && good; ++i) good = lash_store_mark(s->store, ids[i], error);
    return lash_store_commit(s->store, error);
}

static void count_results(LashSchedule* s, Result* results) {
    while (results != NULL) {
        Result* next = results->next;
        ++s->result.ran;
        ++s->result.done;
        s->result.not_ok += results->sample->status != LASH_SAMPLE_OK;
        lash_sample_destroy(results->sample);
        lash_free(results);
        results = next;
    }
}

static void free_results(Result* results) {
    while (results != NULL) {
        Result* next = results->next;
        lash_sample_destroy(results->sample);
        lash_free(results);
        results = next;
    }
}

static bool idle(const LashSchedule* s) {
    bool more = !s->stop && s->cursor < s->study->samples;
    if (s->first != NULL) return false;
    if (more && s->ready_count < stock(s) / 2) return false; // a commit of results fills it up, too
    return more || s->under_way > 0 || (!s->stop && s->ready_count > 0);
}

static bool over(const LashSchedule* s) {
    bool more = !s->stop && (s->cursor < s->study->samples || s->ready_count > 0);
    return !more && s->under_way == 0 && s->first == NULL;
}

// One commit; the lock is held on entry and on return.
static bool write_once(LashSchedule* s, int64_t* ids) {
    Result* results = s->first;
    s->first = NULL;
    s->last = &s->first;
    s->results = 0;
    int marks = s->stop ? 0 : choose(s, ids, stock(s) - s->ready_count);
    s->marking = marks;
    pthread_mutex_unlock(&s->lock);
    LashError error = {0};
    double start = app_wall_clock();
    bool good = (results == NULL && marks == 0) || commit(s, results, ids, marks, &error);
    double spent = app_wall_clock() - start;
    pthread_mutex_lock(&s->lock);
    s->marking = 0;
    ++s->result.commits;
    s->last_commit = start + spent;
    s->commit_time = s->commit_time == 0 ? spent : 0.7 * s->commit_time + 0.3 * spent;
    if (!good) {
        s->result.error = error;
        s->stop = true;
        __atomic_store_n(&s->sampler->stop, true, __ATOMIC_RELAXED);
        free_results(results);
    } else {
        for (int i = 0; i < marks; ++i) {
            s->ready[(s->ready_first + s->ready_count) % MOST_AHEAD] = ids[i];
            ++s->ready_count;
        }
        count_results(s, results);
    }
    pthread_cond_broadcast(&s->ready_changed);
    return good;
}

// Commits keep a distance, so that samples share them: true after waiting for its end, or for news.
// Not when workers run dry or nothing is left to wait for.
static bool too_early(LashSchedule* s) {
    bool last = s->cursor >= s->study->samples;
    bool more = s->under_way > 0 || !last, dry = !last && s->ready_count < reserve(s);
    double left = s->last_commit + DISTANCE - app_wall_clock();
    if (s->stop || !more || dry || s->results >= GROUP || left <= 0) return false;
    struct timespec until = later(left);
    pthread_cond_timedwait(&s->result_changed, &s->lock, &until);
    return true;
}

static void* write_rows(void* argument) {
    LashSchedule* s = argument;
    int64_t* ids = lash_alloc(MOST_AHEAD * sizeof *ids);
    bool good = true;
    pthread_mutex_lock(&s->lock);
    while (good && !over(s)) {
        while (idle(s)) pthread_cond_wait(&s->result_changed, &s->lock);
        if (too_early(s)) continue;
        if (!over(s)) good = write_once(s, ids);
    }
    while (!good && s->under_way > 0) pthread_cond_wait(&s->result_changed, &s->lock);
    free_results(s->first);
    s->first = NULL;
    s->result.writing = lash_thread_clock();
    s->result.finished = true;
    pthread_cond_broadcast(&s->ready_changed);
    pthread_cond_broadcast(&s->ended);
    pthread_mutex_unlock(&s->lock);
    lash_free(ids);
    return NULL;
}

// ---- beginning and end --------------------------------------------------------------------------

static void init_conditions(LashSchedule* s) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->ready_changed, NULL);
    pthread_cond_init(&s->result_changed, &attributes);
    pthread_cond_init(&s->ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void count_rows(LashSchedule* s) {
    for (int64_t i = 0; i < s->study->samples; ++i) {
        if (!belongs(s->shard, i)) continue;
        ++s->result.planned;
        s->result.done += s->state[i] == LASH_ROW_DONE;
    }
}

LashSchedule* lash_schedule_start(LashStore* store, const LashStudy* study, int workers,
                                  LashError* error) {
    uint8_t* state = lash_alloc((size_t)study->samples);
    if (!lash_store_states(store, state, study->samples, error)) {
        lash_free(state);
        return NULL;
    }
    LashSchedule* s = lash_alloc(sizeof *s);
    s->store = store;
    s->study = study;
    s->state = state;
    s->shard = lash_store_shard(store);
    s->sampler = lash_sampler_create(study);
    s->last = &s->first;
    s->workers = workers;
    s->hands = workers > 0 ? workers : 1;
    init_conditions(s);
    count_rows(s);
    s->worker = lash_alloc((size_t)workers * sizeof *s->worker + 1);
    pthread_create(&s->writer, NULL, write_rows, s);
    for (int i = 0; i < workers; ++i) {
        s->worker[i] = (Worker){.schedule = s, .number = i};
        pthread_create(&s->worker[i].thread, NULL, work, &s->worker[i]);
    }
    return s;
}

void lash_schedule_hands(LashSchedule* s, int hands) {
    pthread_mutex_lock(&s->lock);
    s->hands = hands;
    pthread_cond_signal(&s->result_changed);
    pthread_mutex_unlock(&s->lock);
}

LashScheduleState lash_schedule_wait(LashSchedule* s, double seconds) {
    struct timespec until = later(seconds);
    pthread_mutex_lock(&s->lock);
    int code = 0;
    while (!s->result.finished && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&s->ended, &s->lock, &until);
    LashScheduleState state = s->result;
    pthread_mutex_unlock(&s->lock);
    return state;
}

void lash_schedule_stop(LashSchedule* s) {
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    __atomic_store_n(&s->sampler->stop, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&s->ready_changed);
    pthread_cond_signal(&s->result_changed);
    pthread_mutex_unlock(&s->lock);
}

LashScheduleState lash_schedule_end(LashSchedule* s) {
    pthread_join(s->writer, NULL);
    for (int i = 0; i < s->workers; ++i) pthread_join(s->worker[i].thread, NULL);
    LashScheduleState state = s->result;
    if (state.error.status == LASH_OK) lash_store_unmark(s->store, &state.error); // none runs now
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->ready_changed);
    pthread_cond_destroy(&s->result_changed);
    pthread_cond_destroy(&s->ended);
    lash_sampler_destroy(s->sampler);
    lash_free(s->worker);
    lash_free(s->state);
    lash_free(s);
    return state;
}

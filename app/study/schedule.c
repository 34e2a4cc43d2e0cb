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
static double rate(const LashSchedule* schedule) {
    return schedule->sample_time > 0 ? schedule->hands / schedule->sample_time : 0;
}

// Below this many marked samples the hands may run dry before a commit brings more.
static int reserve(const LashSchedule* schedule) {
    return rate(schedule) > 0
               ? (int)fmin(ceil(1 + 4 * schedule->commit_time * rate(schedule)), MOST_AHEAD / 2)
               : schedule->hands;
}

// Samples to keep marked: the reserve, and what is used up between two commits. No more than that:
// all that are marked when a process dies are run alone by the next.
static int stock(const LashSchedule* schedule) {
    double between = rate(schedule) > 0 ? fmin(GROUP, DISTANCE * rate(schedule)) : schedule->hands;
    return (int)fmin(reserve(schedule) + ceil(between), MOST_AHEAD);
}

static bool nothing_left(const LashSchedule* schedule) {
    return schedule->stop || (schedule->ready_count == 0 && schedule->marking == 0 &&
                              schedule->cursor >= schedule->study->samples);
}

static int64_t pop_ready(LashSchedule* schedule) {
    int64_t id = schedule->ready[schedule->ready_first];
    schedule->ready_first = (schedule->ready_first + 1) % MOST_AHEAD;
    --schedule->ready_count;
    ++schedule->under_way;
    return id;
}

static void add_result(LashSchedule* schedule, LashSample* sample) { // locked; NULL: given up
    --schedule->under_way;
    if (sample != NULL) {
        Result* result = lash_alloc(sizeof *result);
        result->sample = sample;
        *schedule->last = result;
        schedule->last = &result->next;
        ++schedule->results;
        schedule->sample_time = schedule->sample_time == 0
                                    ? sample->wall
                                    : 0.9 * schedule->sample_time + 0.1 * sample->wall;
        schedule->result.sampling += sample->wall;
        for (int i = 0; i < LASH_SPENT_PARTS; ++i) schedule->result.spent[i] += sample->spent[i];
    }
    pthread_cond_signal(&schedule->result_changed);
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

int lash_schedule_take(LashSchedule* schedule, int64_t* ids, int most) {
    int count = 0;
    pthread_mutex_lock(&schedule->lock);
    while (count < most && schedule->ready_count > 0 && !schedule->stop)
        ids[count++] = pop_ready(schedule);
    if (count == 0 && nothing_left(schedule)) count = -1;
    pthread_cond_signal(&schedule->result_changed);
    pthread_mutex_unlock(&schedule->lock);
    return count;
}

void lash_schedule_give(LashSchedule* schedule, LashSample* sample) {
    pthread_mutex_lock(&schedule->lock);
    add_result(schedule, sample);
    pthread_mutex_unlock(&schedule->lock);
}

// ---- the writer ---------------------------------------------------------------------------------

// Next samples of the plan that the store lacks.
static int choose(LashSchedule* schedule, int64_t* ids, int most) {
    int count = 0;
    for (; schedule->cursor < schedule->study->samples && count < most; ++schedule->cursor) {
        if (belongs(schedule->shard, schedule->cursor) &&
            schedule->state[schedule->cursor] == LASH_ROW_MISSING)
            ids[count++] = schedule->cursor;
    }
    return count;
}

static bool commit(LashSchedule* schedule, Result* results, const int64_t* ids, int marks,
                   LashError* error) {
    bool good = lash_store_begin(schedule->store, error);
    if (!good) return false;
    for (Result* result = results; result != NULL && good; result = result->next)
        good = lash_store_put(schedule->store, schedule->study, result->sample, error);
    for (int i = 0; i < marks && good; ++i) good = lash_store_mark(schedule->store, ids[i], error);
    return lash_store_commit(schedule->store, error);
}

static void count_results(LashSchedule* schedule, Result* results) {
    while (results != NULL) {
        Result* next = results->next;
        ++schedule->result.ran;
        ++schedule->result.done;
        schedule->result.not_ok += results->sample->status != LASH_SAMPLE_OK;
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

static bool idle(const LashSchedule* schedule) {
    bool more = !schedule->stop && schedule->cursor < schedule->study->samples;
    if (schedule->first != NULL) return false;
    if (more && schedule->ready_count < stock(schedule) / 2)
        return false; // a commit of results fills it up, too
    return more || schedule->under_way > 0 || (!schedule->stop && schedule->ready_count > 0);
}

static bool over(const LashSchedule* schedule) {
    bool more = !schedule->stop &&
                (schedule->cursor < schedule->study->samples || schedule->ready_count > 0);
    return !more && schedule->under_way == 0 && schedule->first == NULL;
}

// One commit; the lock is held on entry and on return.
static bool write_once(LashSchedule* schedule, int64_t* ids) {
    Result* results = schedule->first;
    schedule->first = NULL;
    schedule->last = &schedule->first;
    schedule->results = 0;
    int marks = schedule->stop ? 0 : choose(schedule, ids, stock(schedule) - schedule->ready_count);
    schedule->marking = marks;
    pthread_mutex_unlock(&schedule->lock);
    LashError error = {0};
    double start = app_wall_clock();
    bool good = (results == NULL && marks == 0) || commit(schedule, results, ids, marks, &error);
    double spent = app_wall_clock() - start;
    pthread_mutex_lock(&schedule->lock);
    schedule->marking = 0;
    ++schedule->result.commits;
    schedule->last_commit = start + spent;
    schedule->commit_time =
        schedule->commit_time == 0 ? spent : 0.7 * schedule->commit_time + 0.3 * spent;
    if (!good) {
        schedule->result.error = error;
        schedule->stop = true;
        __atomic_store_n(&schedule->sampler->stop, true, __ATOMIC_RELAXED);
        free_results(results);
    } else {
        for (int i = 0; i < marks; ++i) {
            schedule->ready[(schedule->ready_first + schedule->ready_count) % MOST_AHEAD] = ids[i];
            ++schedule->ready_count;
        }
        count_results(schedule, results);
    }
    pthread_cond_broadcast(&schedule->ready_changed);
    return good;
}

// Commits keep a distance, so that samples share them: true after waiting for its end, or for news.
// Not when workers run dry or nothing is left to wait for.
static bool too_early(LashSchedule* schedule) {
    bool last = schedule->cursor >= schedule->study->samples;
    bool more = schedule->under_way > 0 || !last,
         dry = !last && schedule->ready_count < reserve(schedule);
    double left = schedule->last_commit + DISTANCE - app_wall_clock();
    if (schedule->stop || !more || dry || schedule->results >= GROUP || left <= 0) return false;
    struct timespec until = later(left);
    pthread_cond_timedwait(&schedule->result_changed, &schedule->lock, &until);
    return true;
}

static void* write_rows(void* argument) {
    LashSchedule* schedule = argument;
    int64_t* ids = lash_alloc(MOST_AHEAD * sizeof *ids);
    bool good = true;
    pthread_mutex_lock(&schedule->lock);
    while (good && !over(schedule)) {
        while (idle(schedule)) pthread_cond_wait(&schedule->result_changed, &schedule->lock);
        if (too_early(schedule)) continue;
        if (!over(schedule)) good = write_once(schedule, ids);
    }
    while (!good && schedule->under_way > 0)
        pthread_cond_wait(&schedule->result_changed, &schedule->lock);
    free_results(schedule->first);
    schedule->first = NULL;
    schedule->result.writing = lash_thread_clock();
    schedule->result.finished = true;
    pthread_cond_broadcast(&schedule->ready_changed);
    pthread_cond_broadcast(&schedule->ended);
    pthread_mutex_unlock(&schedule->lock);
    lash_free(ids);
    return NULL;
}

// ---- beginning and end --------------------------------------------------------------------------

static void init_conditions(LashSchedule* schedule) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&schedule->lock, NULL);
    pthread_cond_init(&schedule->ready_changed, NULL);
    pthread_cond_init(&schedule->result_changed, &attributes);
    pthread_cond_init(&schedule->ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void count_rows(LashSchedule* schedule) {
    for (int64_t i = 0; i < schedule->study->samples; ++i) {
        if (!belongs(schedule->shard, i)) continue;
        ++schedule->result.planned;
        schedule->result.done += schedule->state[i] == LASH_ROW_DONE;
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

void lash_schedule_hands(LashSchedule* schedule, int hands) {
    pthread_mutex_lock(&schedule->lock);
    schedule->hands = hands;
    pthread_cond_signal(&schedule->result_changed);
    pthread_mutex_unlock(&schedule->lock);
}

LashScheduleState lash_schedule_wait(LashSchedule* schedule, double seconds) {
    struct timespec until = later(seconds);
    pthread_mutex_lock(&schedule->lock);
    int code = 0;
    while (!schedule->result.finished && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&schedule->ended, &schedule->lock, &until);
    LashScheduleState state = schedule->result;
    pthread_mutex_unlock(&schedule->lock);
    return state;
}

void lash_schedule_stop(LashSchedule* schedule) {
    pthread_mutex_lock(&schedule->lock);
    schedule->stop = true;
    __atomic_store_n(&schedule->sampler->stop, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&schedule->ready_changed);
    pthread_cond_signal(&schedule->result_changed);
    pthread_mutex_unlock(&schedule->lock);
}

LashScheduleState lash_schedule_end(LashSchedule* schedule) {
    pthread_join(schedule->writer, NULL);
    for (int i = 0; i < schedule->workers; ++i) pthread_join(schedule->worker[i].thread, NULL);
    LashScheduleState state = schedule->result;
    if (state.error.status == LASH_OK)
        lash_store_unmark(schedule->store, &state.error); // none runs now
    pthread_mutex_destroy(&schedule->lock);
    pthread_cond_destroy(&schedule->ready_changed);
    pthread_cond_destroy(&schedule->result_changed);
    pthread_cond_destroy(&schedule->ended);
    lash_sampler_destroy(schedule->sampler);
    lash_free(schedule->worker);
    lash_free(schedule->state);
    lash_free(schedule);
    return state;
}

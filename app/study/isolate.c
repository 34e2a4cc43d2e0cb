// Samples alone, each in a child process, several children at once: those that were under way when
// a process died, and points that are not in the plan. A child writes its sample into a pipe; one that dies, or is late, leaves its death as a
// row.
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/progress.h"
#include "app/study/schedule.h"
#include "core/arena.h"

typedef struct Child {
    pid_t process;
    int pipe;
    int64_t id;
    const double* x; // NULL: the point of sample id in the plan
    char* data;      // LashSample, outputs
    size_t got;
    double start, deadline; // wall clock [s]
} Child;

static size_t child_bytes(const LashStudy* study) {
    return sizeof(LashSample) + (size_t)study->outputs * sizeof(double);
}

static bool write_all(int file, const void* data, size_t bytes) {
    for (const char* p = data; bytes > 0;) {
        ssize_t done = write(file, p, bytes);
        if (done <= 0) return false;
        p += done;
        bytes -= (size_t)done;
    }
    return true;
}

static void child_process(const LashStudy* study, int64_t id, const double* x, int file) {
    LashSampler* sampler = lash_sampler_create(study);
    LashSample* sample = lash_sample_create(study);
    if (x != NULL) {
        lash_sample_run_at(sampler, id, x, sample);
    } else {
        lash_sample_run(sampler, id, sample);
    }
    bool good = write_all(file, sample, sizeof *sample) &&
                write_all(file, sample->y, (size_t)study->outputs * sizeof(double));
    _exit(good ? 0 : 1);
}

static bool start_child(const LashStudy* study, int64_t id, const double* x, Child* child,
                        LashError* error) {
    int ends[2];
    if (pipe(ends) != 0)
        return lash_error_set(error, LASH_ERROR_INTERNAL, "", "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t parent = getpid(), process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // or it would hold the lock of the store
        if (getppid() != parent) _exit(1);
        close(ends[0]);
        child_process(study, id, x, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return lash_error_set(error, LASH_ERROR_INTERNAL, "", "no process: %s", strerror(errno));
    }
    double now = app_wall_clock();
    *child = (Child){.process = process,
                     .pipe = ends[0],
                     .id = id,
                     .x = x,
                     .data = lash_alloc(child_bytes(study)),
                     .start = now,
                     .deadline = now + 2 * study->limits.seconds + 10};
    return true;
}

static int end_child(Child* child) { // killed if it still runs; its status
    int status = 0;
    close(child->pipe);
    kill(child->process, SIGKILL);
    waitpid(child->process, &status, 0);
    lash_free(child->data);
    return status;
}

// Waits for news of any child, at most until the first deadline.
static void poll_children(const Child* child, int count, struct pollfd* wait) {
    double deadline = INFINITY;
    for (int i = 0; i < count; ++i) {
        wait[i] = (struct pollfd){.fd = child[i].pipe, .events = POLLIN};
        deadline = fmin(deadline, child[i].deadline);
    }
    const double longest = 3600; // [s] then it looks again: int milliseconds end at 24 days
    double left = fmin(fmax(deadline - app_wall_clock(), 0), longest);
    poll(wait, (nfds_t)count, (int)ceil(1e3 * left));
}

// Takes what is in the pipe: true when the child has said everything, has died or is late.
static bool read_child(Child* child, size_t bytes, const struct pollfd* wait) {
    if (wait->revents != 0) {
        ssize_t part = read(child->pipe, child->data + child->got, bytes - child->got);
        if (part < 0 && errno == EINTR) return false;
        if (part <= 0) return true;
        child->got += (size_t)part;
    }
    return child->got == bytes || app_wall_clock() >= child->deadline;
}

static void describe_death(LashSample* sample, int status, bool late) {
    sample->status = late ? LASH_SAMPLE_TIME : LASH_SAMPLE_CRASHED;
    if (late) {
        snprintf(sample->reason, sizeof sample->reason, "did not end in its time, was killed");
    } else if (WIFSIGNALED(status)) {
        snprintf(sample->reason, sizeof sample->reason, "the process died: signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(sample->reason, sizeof sample->reason, "the process ended with exit code %d",
                 WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
}

// What became of a child's sample; ends the child.
static void collect_child(const LashStudy* study, Child* child, LashSample* sample) {
    double *x = sample->x, *y = sample->y, now = app_wall_clock();
    bool good = child->got == child_bytes(study), late = !good && now >= child->deadline;
    *sample = (LashSample){.id = child->id, .wall = now - child->start};
    if (good) {
        memcpy(sample, child->data, sizeof *sample);
        memcpy(y, child->data + sizeof *sample, (size_t)study->outputs * sizeof *y);
    }
    sample->x = x;
    sample->y = y;
    if (child->x != NULL) {
        memcpy(x, child->x, (size_t)study->parameters * sizeof *x);
    } else {
        lash_study_point(study, child->id, x);
    }
    // one that has closed its pipe is dying: the signal of its death counts, not ours
    if (!good && !late) waitid(P_PID, (id_t)child->process, &(siginfo_t){0}, WEXITED | WNOWAIT);
    int status = end_child(child);
    if (good) return;
    for (int i = 0; i < study->outputs; ++i) y[i] = NAN;
    describe_death(sample, status, late);
}

typedef struct Isolation {
    LashStore* store;
    const LashStudy* study;
    LashSample* sample;
    Child* child; // (at_once)
    struct pollfd* wait;
    int at_once, running;
    bool open;   // a transaction
    double last; // commit, wall clock [s]
} Isolation;

// A row of the store for every child that has ended.
static bool keep_ended(Isolation* isolation, LashError* error) {
    const double often = 0.1; // [s] between commits: what is lost with a kill is only run again
    bool good = true;
    poll_children(isolation->child, isolation->running, isolation->wait);
    for (int i = isolation->running - 1; i >= 0 && good; --i) {
        if (!read_child(&isolation->child[i], child_bytes(isolation->study), &isolation->wait[i]))
            continue;
        collect_child(isolation->study, &isolation->child[i], isolation->sample);
        isolation->child[i] = isolation->child[--isolation->running];
        good = isolation->open || lash_store_begin(isolation->store, error);
        isolation->open = good;
        good = good && lash_store_put(isolation->store, isolation->study, isolation->sample, error);
    }
    if (good && isolation->open && app_wall_clock() - isolation->last >= often) {
        good = lash_store_commit(isolation->store, error);
        isolation->open = false;
        isolation->last = app_wall_clock();
    }
    return good;
}

bool lash_schedule_isolate(LashStore* store, const LashStudy* study, int at_once,
                           LashError* error) {
    uint8_t* state = lash_alloc((size_t)study->samples);
    Isolation s = {.store = store, .study = study, .at_once = at_once, .last = app_wall_clock()};
    s.sample = lash_sample_create(study);
    s.child = lash_alloc((size_t)at_once * sizeof *s.child);
    s.wait = lash_alloc((size_t)at_once * sizeof *s.wait);
    bool good = lash_store_states(store, state, study->samples, error);
    int64_t next = 0;
    while (good && !app_interrupted()) {
        while (next < study->samples && state[next] != LASH_ROW_RUNNING) ++next;
        if (next < study->samples && s.running < at_once) {
            good = start_child(study, next++, NULL, &s.child[s.running], error);
            s.running += good;
        } else if (s.running > 0) {
            good = keep_ended(&s, error);
        } else {
            break;
        }
    }
    while (s.running > 0) end_child(&s.child[--s.running]);
    if (s.open) good = lash_store_commit(store, error) && good;
    lash_sample_destroy(s.sample);
    lash_free(s.child);
    lash_free(s.wait);
    lash_free(state);
    return good;
}

bool lash_isolate_points(const LashStudy* study, const double* x, int64_t first, int count,
                         int at_once, LashSample** sample, LashError* error) {
    Child* child = lash_alloc((size_t)at_once * sizeof *child);
    struct pollfd* wait = lash_alloc((size_t)at_once * sizeof *wait);
    int next = 0, running = 0;
    bool good = true;
    while (good && !app_interrupted() && (next < count || running > 0)) {
        if (next < count && running < at_once) {
            const double* point = x + (size_t)next * (size_t)study->parameters;
            good = start_child(study, first + next, point, &child[running], error);
            running += good;
            ++next;
            continue;
        }
        poll_children(child, running, wait);
        for (int i = running - 1; i >= 0; --i) {
            if (!read_child(&child[i], child_bytes(study), &wait[i])) continue;
            LashSample* row = lash_sample_create(study);
            sample[child[i].id - first] = row;
            collect_child(study, &child[i], row);
            child[i] = child[--running];
        }
    }
    while (running > 0) end_child(&child[--running]);
    lash_free(child);
    lash_free(wait);
    return good;
}

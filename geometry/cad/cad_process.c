// The helper program as a child process.
//
// OpenCASCADE may crash, loop or ask for all memory on a bad file. In a child that costs nothing
// but the child: a signal, an exit code or the clock becomes a LashError. The result comes through
// an anonymous memory file (descriptor 3 of the child), so that nothing is left behind on any path;
// so do the bytes that it reads (descriptor 4), which are those that the caller hashed, whatever
// becomes of the file meanwhile.
// A failing helper writes "LASHERR\n" and its message there and exits with 4. The child limits its
// own address space and dies with its parent (occt_main.cpp).
//
// Three quarters of the time of a small file go into loading the libraries of OpenCASCADE. A reader
// is a helper that has loaded them and forks for each file: it gets the arguments and both
// descriptors through a socket, answers with the id of the process, and with its status when it has
// ended. At the time limit the reader is killed, and its child dies with it.
#define _GNU_SOURCE // memfd_create, pipe2, dladdr
#include "geometry/cad/cad_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/arena.h"
#include "geometry/shape.h"

#ifndef LASH_LIBEXECDIR
#define LASH_LIBEXECDIR "/usr/local/libexec/lash"
#endif

extern char** environ;

static const char error_mark[8] = {'L', 'A', 'S', 'H', 'E', 'R', 'R', '\n'};

extern const char lash_header_file[] __attribute__((weak)); // of a program that includes lash.h

// In the folders beside that of `file`, a program or a library.
static bool find_beside(const char* file, const char* const* beside, char path[LASH_CAD_PATH]) {
    const char* slash = strrchr(file, '/');
    for (int i = 0; slash != NULL && beside[i] != NULL; ++i) {
        int length = snprintf(path, LASH_CAD_PATH, "%.*s/%s", (int)(slash - file), file, beside[i]);
        if (length < LASH_CAD_PATH && access(path, X_OK) == 0) return true;
    }
    return false;
}

bool lash_cad_find(char path[LASH_CAD_PATH], LashError* error) {
    const char* chosen = getenv("LASH_CAD");
    if (chosen != NULL && chosen[0] != '\0') {
        snprintf(path, LASH_CAD_PATH, "%s", chosen);
        if (access(path, X_OK) == 0) return true;
        return lash_error_set(error, LASH_ERROR_CAD, "LASH_CAD",
                              "the helper program %s cannot be run: %s", path, strerror(errno));
    }
    char self[LASH_CAD_PATH - 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    static const char* const beside[] = {"lash-cad", "../lash-cad", "../libexec/lash/lash-cad",
                                         NULL};
    if (find_beside(self, beside, path)) return true;
    // a shared liblash: lib/ or lib/x86_64-linux-gnu/
    static const char* const below[] = {"../libexec/lash/lash-cad", "../../libexec/lash/lash-cad",
                                        NULL};
    Dl_info library;
    if (dladdr(error_mark, &library) != 0 && find_beside(library.dli_fname, below, path))
        return true;
    // a static one: where the headers were, include/lash/
    static const char* const above[] = {"../../libexec/lash/lash-cad", NULL};
    if (lash_header_file != NULL && find_beside(lash_header_file, above, path)) return true;
    snprintf(path, LASH_CAD_PATH, "%s/lash-cad", LASH_LIBEXECDIR);
    if (access(path, X_OK) == 0) return true;
    return lash_error_set(error, LASH_ERROR_CAD, "lash-cad",
                          "the helper program lash-cad was not found beside this program nor in "
                          "%s; set LASH_CAD to its path",
                          LASH_LIBEXECDIR);
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Processor time that a running child has used [s].
static double seconds_used(pid_t process) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct LashReader {
    pid_t process; // 0: not started
    int socket;
};

LashReader* lash_reader_create(void) {
    return lash_alloc(sizeof(LashReader));
}

static void end_reader(LashReader* reader) {
    if (reader->process == 0) return;
    kill(reader->process, SIGKILL);
    while (waitpid(reader->process, NULL, 0) < 0 && errno == EINTR) {}
    close(reader->socket);
    reader->process = 0;
}

void lash_reader_destroy(LashReader* reader) {
    if (reader == NULL) return;
    end_reader(reader);
    lash_free(reader);
}

// Has the process ended? With a reader the answer comes through its socket: a reader that is gone
// counts as a crash.
static bool has_ended(LashReader* reader, pid_t process, int* status) {
    if (reader == NULL) return waitpid(process, status, WNOHANG) != 0;
    ssize_t n = recv(reader->socket, status, sizeof *status, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
    if (n == sizeof *status) return true;
    end_reader(reader);
    *status = SIGKILL; // as waitpid tells a signal
    return true;
}

static void end_process(LashReader* reader, pid_t process, int* status) {
    if (reader != NULL) {
        end_reader(reader);
        return;
    }
    kill(process, SIGKILL);
    while (waitpid(process, status, 0) < 0 && errno == EINTR) {}
}

// Waits until the process ends; kills it at the limit: of processor time, so that a busy machine
// does not decide what can be read, and a generous one by the clock, for a helper that sleeps.
// False when it was killed for the time.
static bool wait_limited(pid_t process, const LashCadTask* task, int* status) {
    double start = seconds_now(), told = start;
    long nap = 200000; // 0.2 ms, growing to 5 ms
    bool in_time = true;
    while (!has_ended(task->reader, process, status)) {
        double now = seconds_now();
        if (seconds_used(process) > task->seconds || now - start > 1 + 5 * task->seconds) {
            end_process(task->reader, process, status);
            in_time = false;
            break;
        }
        if (task->progress != NULL && now - told > 0.3) {
            told = now;
            task->progress(task->name, now - start, task->seconds);
        }
        nanosleep(&(struct timespec){0, nap}, NULL);
        if (nap < 5000000) nap += nap / 4;
    }
    if (task->progress != NULL && told > start) task->progress(task->name, -1, task->seconds);
    return in_time;
}

// An anonymous file of these bytes, -1: none. Above the descriptors that the child gets.
static int memory_file(const void* data, size_t bytes) {
    int low = memfd_create("lash-cad", MFD_CLOEXEC);
    if (low < 0) return -1;
    int file = fcntl(low, F_DUPFD_CLOEXEC, 10);
    close(low);
    const char* at = data;
    while (file >= 0 && bytes > 0) {
        ssize_t step = write(file, at, bytes);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) {
            close(file);
            return -1;
        }
        at += step;
        bytes -= (size_t)step;
    }
    return file;
}

static void* read_all(int file, size_t* bytes) {
    struct stat info;
    if (fstat(file, &info) != 0) info.st_size = 0;
    size_t size = (size_t)info.st_size, done = 0;
    char* data = lash_alloc(size + 1);
    while (done < size) {
        ssize_t step = pread(file, data + done, size - done, (off_t)done);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) break;
        done += (size_t)step;
    }
    *bytes = done;
    return data;
}

// What the helper left, judged by how it ended.
static void* result_of(int file, int status, size_t* bytes, LashError* error) {
    if (WIFSIGNALED(status)) {
        lash_error_set(error, LASH_ERROR_CAD, "lash-cad",
                       "the CAD reader crashed on this file (signal %d, %s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
        return NULL;
    }
    char* data = read_all(file, bytes);
    if (*bytes >= sizeof error_mark && memcmp(data, error_mark, sizeof error_mark) == 0)
        lash_error_set(error, LASH_ERROR_CAD, "", "%s", data + sizeof error_mark);
    else if (WEXITSTATUS(status) != 0)
        lash_error_set(error, LASH_ERROR_CAD, "lash-cad",
                       "the CAD reader gave up on this file (exit code %d)", WEXITSTATUS(status));
    else if (*bytes > 0)
        return data;
    else
        lash_error_set(error, LASH_ERROR_CAD, "lash-cad", "the CAD reader returned nothing");
    lash_free(data);
    return NULL;
}

static bool cannot_start(const char* program, int code, LashError* error) {
    return lash_error_set(error, LASH_ERROR_CAD, "lash-cad", "%s cannot be started: %s", program,
                          strerror(code));
}

// The child starts with no signal blocked or ignored, whatever the calling thread does with its
// own.
static int spawn(pid_t* process, char* const argv[], posix_spawn_file_actions_t* actions) {
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawn(process, argv[0], actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    return code;
}

static void quiet(posix_spawn_file_actions_t* actions) {
    posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    if (getenv("LASH_CAD_DEBUG") == NULL)
        posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
}

// A process for one file; returns an error number.
static int start_alone(char* const argv[], int output, int input, pid_t* process) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, 3);
    posix_spawn_file_actions_adddup2(&actions, input, 4);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    quiet(&actions);
    int code = spawn(process, argv, &actions);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static int start_reader(LashReader* reader, char* program) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    quiet(&actions);
    char* argv[] = {program, "reader", NULL};
    int code = spawn(&reader->process, argv, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    reader->socket = ends[1];
    if (code == 0) return 0;
    close(ends[1]);
    reader->process = 0;
    return code;
}

// The arguments behind the program, each with its zero, and both descriptors; false: it is gone.
static bool ask_reader(LashReader* reader, char* const argv[], const int files[2], pid_t* process) {
    char text[4096];
    size_t length = 0;
    for (int i = 1; argv[i] != NULL; ++i) {
        size_t bytes = strlen(argv[i]) + 1;
        if (length + bytes > sizeof text) return false;
        memcpy(text + length, argv[i], bytes);
        length += bytes;
    }
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {text, length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(head), files, 2 * sizeof(int));
    ssize_t n = 0;
    do n = sendmsg(reader->socket, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0) return false;
    do n = recv(reader->socket, process, sizeof *process, 0);
    while (n < 0 && errno == EINTR);
    return n == sizeof *process && *process > 0;
}

// A reader that is gone is started once more. False: this helper cannot read several files.
static bool start_in_reader(LashReader* reader, char* const argv[], int output, int input,
                            pid_t* process) {
    const int files[2] = {output, input};
    for (int k = 0; k < 2; ++k) {
        if (reader->process == 0 && start_reader(reader, argv[0]) != 0) return false;
        if (ask_reader(reader, argv, files, process)) return true;
        end_reader(reader);
    }
    return false;
}

void* lash_cad_run(char* const argv[], const LashCadTask* given, size_t* bytes, LashError* error) {
    LashCadTask own = *given;
    const LashCadTask* task = &own;
    *bytes = 0;
    int file = memory_file(NULL, 0), input = file < 0 ? -1 : memory_file(task->data, task->bytes);
    if (input < 0) {
        cannot_start(argv[0], errno, error);
        if (file >= 0) close(file);
        return NULL;
    }
    pid_t process = 0;
    int status = 0, code = 0;
    if (own.reader != NULL && !start_in_reader(own.reader, argv, file, input, &process))
        own.reader = NULL;
    if (own.reader == NULL) code = start_alone(argv, file, input, &process);
    close(input);
    void* result = NULL;
    if (code != 0)
        cannot_start(argv[0], code, error);
    else if (!wait_limited(process, task, &status))
        lash_error_set(error, LASH_ERROR_CAD, "lash-cad",
                       "the CAD reader did not finish within %g s of processor time; "
                       "--cad-seconds allows more",
                       task->seconds);
    else
        result = result_of(file, status, bytes, error);
    close(file);
    return result;
}

bool lash_cad_start(char* const argv[], pid_t* process, int* input, int* output, LashError* error) {
    int in[2], out[2]; // in: a socket, so that writing to a dead helper is an error, not a signal
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
        return cannot_start(argv[0], errno, error);
    if (pipe2(out, O_CLOEXEC) != 0) {
        cannot_start(argv[0], errno, error);
        close(in[0]);
        close(in[1]);
        return false;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 3);
    quiet(&actions);
    int code = spawn(process, argv, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (code != 0) {
        close(in[1]);
        close(out[0]);
        return cannot_start(argv[0], code, error);
    }
    *input = in[1];
    *output = out[0];
    return true;
}

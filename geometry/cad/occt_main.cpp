// lash-cad: reads a STEP file with OpenCASCADE and hands over the flat tables.
//
//   lash-cad read FILE [--scale S] [--deflection D] [--heal] [--pmi] [--hash HEX] [--memory MiB]
//       writes the shape block to file descriptor 3 (exit 0), or "LASHERR\n" and a message (exit 4)
//   lash-cad reader
//       the same for several files: their arguments and descriptors come through the socket at 0
//       (cad_process.c), each is read in a process of its own
//   lash-cad query
//       serves distance queries between faces (occt_query.h): requests at 0, answers at 3
//
// Not for users: `lash` starts it, limits its time, and survives its death.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/arena.h"
#include "geometry/cad/guard.hpp"
#include "geometry/cad/occt_model.hpp"
#include "geometry/cad/occt_serve.hpp"
#include "geometry/cad/shape_file.h"

namespace lash {
namespace {

bool write_all(int file, const void* data, size_t bytes) {
    const char* p = static_cast<const char*>(data);
    while (bytes > 0) {
        ssize_t n = write(file, p, bytes);
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

int fail(const LashError& error) {
    char text[1100];
    snprintf(text, sizeof text, "LASHERR\n%s", error.message);
    write_all(3, text, strlen(text));
    return LASH_ERROR_CAD;
}

// A crash inside OpenCASCADE: tell what is known of the file, without touching the heap.
void on_crash(int signal) {
    const char* note = crash_note();
    size_t n = strlen(note);
    bool told = n > 0 && lseek(3, 0, SEEK_SET) == 0 && write_all(3, "LASHERR\n", 8) &&
                write_all(3, note, n);
    if (told) _exit(LASH_ERROR_CAD);
    ::signal(signal, SIG_DFL);
    raise(signal);
}

void catch_crashes() {
    static char stack[65536]; // the crash may be an overflow of the other one
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK | (int)SA_RESETHAND;
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &action, nullptr);
}

// Leave no core file, and do not take the machine's memory along.
void limit_process(double mebibytes) {
    rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__)
    if (mebibytes > 0) {
        rlim_t bytes = (rlim_t)(mebibytes * 1048576.0);
        rlimit limit = {bytes, bytes};
        setrlimit(RLIMIT_AS, &limit);
    }
#else
    (void)mebibytes;
#endif
}

bool parse(int argc, char** argv, ReadOptions* options, double* memory) {
    if (argc < 3) return false;
    options->path = argv[2];
    for (int i = 3; i < argc; ++i) {
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--heal") == 0) {
            options->heal = true;
            continue;
        }
        if (strcmp(argv[i], "--pmi") == 0) {
            options->pmi = true;
            continue;
        }
        if (strcmp(argv[i], "--scale") == 0)
            options->scale = strtod(value, nullptr);
        else if (strcmp(argv[i], "--deflection") == 0)
            options->deflection = strtod(value, nullptr);
        else if (strcmp(argv[i], "--hash") == 0)
            options->hash = value;
        else if (strcmp(argv[i], "--memory") == 0)
            *memory = strtod(value, nullptr);
        else
            return false;
        ++i;
    }
    return true;
}

bool read_and_write(const ReadOptions& options) {
    Tables tables;
    Document document = read_step(options);
    build_tables(document, options.deflection, &tables);
    std::string lines;
    for (const std::string& text : tables.warnings) lines += (lines.empty() ? "" : "\n") + text;
    int warnings = tables.add_string(lines);
    LashShape shape = tables.shape();
    shape.warnings = warnings;
    shape.scale = document.unit_mm * document.metre;
    snprintf(shape.unit, sizeof shape.unit, "%s", document.unit.c_str());
    snprintf(shape.hash, sizeof shape.hash, "%s", options.hash.c_str());
    LashError error = {};
    if (!lash_shape_check(&shape, &error)) bad_input("%s", error.message);
    size_t bytes = 0;
    void* block = lash_shape_pack(&shape, &bytes);
    bool written = write_all(3, block, bytes);
    lash_free(block);
    return written;
}

// Reads one file; returns the exit code.
int read_command(int argc, char** argv) {
    ReadOptions options;
    double memory = 0;
    if (argc < 2 || strcmp(argv[1], "read") != 0 || !parse(argc, argv, &options, &memory)) {
        fprintf(stderr, "lash-cad is started by lash; see its manual\n");
        return LASH_ERROR_USAGE;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // the thread that waits for the tables, or the reader
    limit_process(memory);
    catch_crashes();
    LashError error = {};
    if (!guard(&error, "reading", [&] { return read_and_write(options); })) return fail(error);
    return 0;
}

// A request: arguments, each with its zero; descriptors of the result and of the file.
bool receive(int socket, char* text, size_t* bytes, int files[2]) {
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
    iovec part = {text, *bytes};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t n = recvmsg(socket, &message, 0);
    while (n < 0 && errno == EINTR) n = recvmsg(socket, &message, 0);
    const cmsghdr* head = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS || text[n - 1] != '\0') return false;
    memcpy(files, CMSG_DATA(head), 2 * sizeof(int));
    *bytes = (size_t)n;
    return true;
}

// In the child: as if it had been started for this file.
int read_request(char* text, size_t bytes, const int files[2]) {
    char* argv[32] = {const_cast<char*>("lash-cad")};
    int argc = 1;
    for (size_t at = 0; at < bytes && argc < 31; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    if (dup2(files[0], 3) < 0 || dup2(files[1], 4) < 0) return LASH_ERROR_INTERNAL;
    close(0);
    return read_command(argc, argv);
}

int serve_reads(int socket) {
    char text[4096];
    int files[2];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prepare_reading();
    for (size_t bytes = sizeof text; receive(socket, text, &bytes, files); bytes = sizeof text) {
        pid_t child = fork();
        if (child == 0) _exit(read_request(text, bytes, files));
        close(files[0]);
        close(files[1]);
        int status = 0;
        if (send(socket, &child, sizeof child, MSG_NOSIGNAL) < 0) break;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        if (send(socket, &status, sizeof status, MSG_NOSIGNAL) < 0) break;
    }
    return 0;
}

} // namespace
} // namespace lash

#if defined(__SANITIZE_ADDRESS__)
// OpenCASCADE keeps its tables until the process ends.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}
#endif

int main(int argc, char** argv) {
    const char* command = argc >= 2 ? argv[1] : "";
    if (strcmp(command, "query") == 0) {
        lash::limit_process(0);
        return lash::serve_queries(0, 3);
    }
    if (strcmp(command, "reader") == 0) return lash::serve_reads(0);
    return lash::read_command(argc, argv);
}

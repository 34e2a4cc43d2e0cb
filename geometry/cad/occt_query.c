// The client of the helper's query mode: one process per pair of face sets, requests over a socket,
// answers over a pipe, in strict alternation.
#define _GNU_SOURCE // MSG_NOSIGNAL
#include "geometry/cad/occt_query.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arena.h"
#include "geometry/cad/cad_process.h"
#include "geometry/cad/occt_query_wire.h"

enum { PATIENCE = 120000 }; // for one answer [ms]

struct LashOcctQuery {
    pid_t process;
    int input, output;
};

static bool send_all(int socket, const void* data, size_t bytes) {
    const char* p = data;
    while (bytes > 0) {
        ssize_t n = send(socket, p, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool receive_all(int file, void* data, size_t bytes) {
    char* p = data;
    while (bytes > 0) {
        struct pollfd ready = {.fd = file, .events = POLLIN};
        if (poll(&ready, 1, PATIENCE) == 0) return false;
        ssize_t n = read(file, p, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool send_side(int socket, const LashOcctSide* side) {
    OcctSideRequest request;
    memset(&request, 0, sizeof request);
    request.scale = side->import.scale;
    request.heal = side->import.heal;
    request.path_bytes = (int32_t)strlen(side->path);
    request.count = side->count;
    return send_all(socket, &request, sizeof request) &&
           send_all(socket, side->path, (size_t)request.path_bytes) &&
           send_all(socket, side->faces, (size_t)side->count * sizeof(int));
}

static bool helper_died(LashError* error) {
    return lash_error_set(error, LASH_ERROR_CAD, "lash-cad",
                          "the distance helper died or did not answer within 120 s");
}

LashOcctQuery* lash_occt_query_open(const LashOcctSide* a, const LashOcctSide* b,
                                    LashError* error) {
    char path[LASH_CAD_PATH];
    if (!lash_cad_find(path, error)) return NULL;
    char* argv[] = {path, "query", NULL};
    LashOcctQuery* query = lash_alloc(sizeof *query);
    if (!lash_cad_start(argv, &query->process, &query->input, &query->output, error)) {
        lash_free(query);
        return NULL;
    }
    OcctOpenReply reply;
    if (!send_side(query->input, a) || !send_side(query->input, b) ||
        !receive_all(query->output, &reply, sizeof reply)) {
        helper_died(error);
    } else if (!reply.ok) {
        reply.message[sizeof reply.message - 1] = '\0';
        lash_error_set(error, LASH_ERROR_CAD, "lash-cad", "%s", reply.message);
    } else {
        return query;
    }
    lash_occt_query_close(query);
    return NULL;
}

void lash_occt_query_close(LashOcctQuery* query) {
    if (query == NULL) return;
    close(query->input); // the helper ends at end of file
    close(query->output);
    kill(query->process, SIGKILL); // it may be in a long query; it owns nothing
    while (waitpid(query->process, NULL, 0) < 0 && errno == EINTR) {}
    lash_free(query);
}

static void put_pose(Pose p, double out[7]) {
    const double v[7] = {p.r.x, p.r.y, p.r.z, p.rot.w, p.rot.x, p.rot.y, p.rot.z};
    memcpy(out, v, sizeof v);
}

bool lash_occt_query_distance(LashOcctQuery* query, Pose world_a, Pose world_b,
                              LashOcctAnswer* answer, LashError* error) {
    OcctPoseRequest request;
    OcctDistanceReply reply;
    put_pose(world_a, request.a);
    put_pose(world_b, request.b);
    if (!send_all(query->input, &request, sizeof request) ||
        !receive_all(query->output, &reply, sizeof reply))
        return helper_died(error);
    if (!reply.ok)
        return lash_error_set(error, LASH_ERROR_NUMERICS, "lash-cad",
                              "BRepExtrema found no distance at this pose");
    answer->distance = reply.distance;
    answer->point_a = (Vec3){reply.a[0], reply.a[1], reply.a[2]};
    answer->point_b = (Vec3){reply.b[0], reply.b[1], reply.b[2]};
    answer->seconds = reply.seconds;
    return true;
}

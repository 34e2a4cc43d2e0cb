// Face pairs of STEP parts, timed beside BRepExtrema_DistShapeShape.
//
// The parts are made by lash-make-step in a folder of their own, loaded by both sides from the same
// files, and moved through the same poses: the pair manager along all of the motion, the peer at a
// few poses of it (processor time inside OpenCASCADE, without the pipe; the smallest counts, as for
// us). Where the faces are apart both must give the same distance; the note tells when they do not.
#define _GNU_SOURCE // mkdtemp
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/bench/bench_geometry_internal.h"
#include "core/arena.h"
#include "core/math3.h"
#include "geometry/cad/cad_process.h"
#include "geometry/cad/occt_query.h"
#include "geometry/select.h"

extern char** environ;

enum { PEER_POSES = 5, PATH = 512 };

typedef struct PartText { // the face to be used is named "face"
    const char *name, *steps, *more;
} PartText;

// [mm]; the same sizes as those of the kernels' rows
static const PartText texts[] = {
    {"block", "{\"box\": {\"size\": [100, 100, 100], \"centered\": true}}",
     ", \"names\": [{\"name\": \"face\", \"near\": [0, 0, 50]}]"},
    {"brick", "{\"box\": {\"size\": [50, 40, 30], \"centered\": true}}",
     ", \"names\": [{\"name\": \"face\", \"near\": [0, 0, -15]}]"},
    {"ball", "{\"sphere\": {\"radius\": 10}, \"name\": \"face\"}", ""},
    {"pin", "{\"cylinder\": {\"radius\": 10, \"length\": 40, \"side\": \"face\"}}", ""},
    {"ring",
     "{\"cylinder\": {\"radius\": 20, \"length\": 50}}, {\"cylinder\": {\"radius\": 10.1, "
     "\"length\": 50, \"side\": \"face\"}, \"do\": \"cut\"}",
     ""},
    {"tire", "{\"torus\": {\"radius\": 30, \"tube\": 5}, \"name\": \"face\"}", ""},
    {"cone", "{\"cone\": {\"radius\": 20, \"radius2\": 12, \"length\": 20, \"side\": \"face\"}}",
     ""},
    {"cam",
     "{\"extrude\": {\"profile\": {\"spline\": [[30, 0], [10, 24], [-18, 18], [-24, -8], [4, "
     "-22]], \"name\": \"face\"}, \"length\": 20}}",
     ""},
};
enum { PARTS = sizeof texts / sizeof *texts };

typedef struct FacePair {
    const char *name, *a, *b;
    double r[3];          // of a in b [m]
    double axis[3], turn; // [rad]
    double length, angle; // of the swings [m], [rad]
    double gap;           // in the middle of the motion [m]; 0: as placed
} FacePair;

static const FacePair pairs[] = {
    {"pin in hole", "pin", "ring", {0, 0, 5e-3}, {1, 0, 0}, 0, 2e-5, 5e-4, 0},
    {"plane/plane", "brick", "block", {0.01, 0.01, 0.066}, {1, 0, 0}, 0, 1e-5, 1e-4, 5e-5},
    {"sphere/plane", "ball", "block", {0, 0, 0.061}, {1, 0, 0}, 0, 5e-5, 1e-3, 2e-4},
    {"sphere/cylinder", "ball", "pin", {0.021, 0, 0.02}, {1, 0, 0}, 0, 5e-5, 1e-3, 2e-4},
    {"cylinder/plane", "pin", "block", {0, 0.02, 0.061}, {1, 0, 0}, 0.5, 5e-5, 1e-4, 2e-4},
    {"cylinder/cylinder", "pin", "pin", {0.021, 0.02, 0.02}, {1, 0, 0}, 0.5, 5e-5, 1e-3, 2e-4},
    {"cone/plane", "cone", "block", {0, 0, 0.07}, {0, 1, 0}, 0.378881, 5e-5, 1e-4, 2e-4},
    {"cone/cylinder", "cone", "pin", {0.03, 0.01, 0.02}, {2, 0, 1}, 0.5, 5e-5, 1e-3, 2e-4},
    {"torus/plane", "tire", "block", {0, 0, 0.081}, {1, 0, 0}, 0.32, 5e-5, 1e-3, 2e-4},
    {"torus/cylinder", "tire", "pin", {0.046, 0, 0.02}, {1, 0, 0}, 0.3, 5e-5, 1e-3, 2e-4},
    {"torus/torus", "tire", "tire", {0.071, 0, 0}, {1, 0, 0}, 0.3, 5e-5, 1e-3, 2e-4},
    {"freeform/plane", "cam", "block", {0, 0.01, 0.081}, {1, 0, 0}, 0.5, 5e-5, 1e-4, 2e-4},
    {"freeform/cylinder", "cam", "pin", {-0.042, 0.008, 0.014}, {1, 0, 0}, 0.3, 5e-5, 1e-3, 2e-4},
    {"freeform/freeform", "cam", "cam", {-0.057, 0.008, 0.004}, {1, 0, 0}, 0.3, 5e-5, 1e-3, 2e-4},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

typedef struct Workshop {
    char tool[LASH_CAD_PATH]; // lash-make-step
    char folder[PATH];
    char step[PARTS][PATH + 32];
    LashShape* shape[PARTS];
    int face[PARTS];
} Workshop;

static bool run(char* const argv[]) {
    pid_t process;
    int status = 0;
    if (posix_spawn(&process, argv[0], NULL, NULL, argv, environ) != 0) return false;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool make_part(Workshop* workshop, int part, LashError* error) {
    const PartText* text = texts + part;
    char json[PATH + 32];
    snprintf(json, sizeof json, "%s/%s.json", workshop->folder, text->name);
    snprintf(workshop->step[part], sizeof workshop->step[part], "%s/%s.step", workshop->folder,
             text->name);
    FILE* file = fopen(json, "w");
    if (file == NULL) return lash_error_set(error, LASH_ERROR_IO, "", "%s: not written", json);
    fprintf(file, "{\"format\": \"lash-step/1\", \"name\": \"%s\", \"steps\": [%s]%s}\n",
            text->name, text->steps, text->more);
    bool written = fclose(file) == 0;
    char* argv[] = {workshop->tool, json, workshop->step[part], NULL};
    bool made = written && run(argv);
    unlink(json);
    if (!made)
        return lash_error_set(error, LASH_ERROR_CAD, "", "lash-make-step: no %s", text->name);
    LashImport import = {.no_cache = true};
    workshop->shape[part] = lash_shape_load(workshop->step[part], &import, error);
    return workshop->shape[part] != NULL &&
           lash_select_name(workshop->shape[part], LASH_ANY_PART, "face", workshop->face + part, 1,
                            error) > 0;
}

// False: no helper, no generator, no place to write; error tells.
static bool open_workshop(Workshop* workshop, LashError* error) {
    if (!lash_cad_find(workshop->tool, error)) return false;
    char* slash = strrchr(workshop->tool, '/');
    size_t used = slash == NULL ? 0 : (size_t)(slash - workshop->tool) + 1;
    snprintf(workshop->tool + used, sizeof workshop->tool - used, "lash-make-step");
    if (access(workshop->tool, X_OK) != 0)
        return lash_error_set(error, LASH_ERROR_CAD, "", "lash-make-step is not beside lash-cad");
    const char* place = getenv("TMPDIR");
    snprintf(workshop->folder, sizeof workshop->folder, "%.400s/lash-bench-XXXXXX",
             place ? place : "/tmp");
    if (mkdtemp(workshop->folder) == NULL) {
        workshop->folder[0] = '\0';
        return lash_error_set(error, LASH_ERROR_IO, "", "no folder for the parts");
    }
    for (int i = 0; i < PARTS; ++i)
        if (!make_part(workshop, i, error)) return false;
    return true;
}

static void close_workshop(Workshop* workshop) {
    for (int i = 0; i < PARTS; ++i) {
        lash_shape_destroy(workshop->shape[i]);
        if (workshop->step[i][0] != '\0') unlink(workshop->step[i]);
    }
    if (workshop->folder[0] != '\0') rmdir(workshop->folder);
}

static int find_part(const char* name) {
    for (int i = 0; i < PARTS; ++i)
        if (strcmp(texts[i].name, name) == 0) return i;
    LASH_ASSERT(false);
    return -1;
}

// The point with the smallest gap at a pose, by a query of its own; gap INFINITY: none.
static LashContactPoint nearest_point(const LashPairDef* def, Pose world_a) {
    LashContactPoint points[64], nearest = {.gap = INFINITY};
    LashPair* pair = lash_pair_create(def);
    LashPairWork* work = lash_pair_work_create(pair);
    int n = lash_pair_query(pair, work, world_a, pose_identity(), 1, points, 64);
    for (int i = 0; i < n && i < 64; ++i)
        if (points[i].gap < nearest.gap) nearest = points[i];
    lash_pair_work_destroy(work);
    lash_pair_destroy(pair);
    return nearest;
}

// Moves a along the normal until the faces are just so far apart that the swings do not bring them
// together.
static Pose put_near(const LashPairDef* def, Pose middle, double gap) {
    for (int i = 0; i < 4; ++i) {
        LashContactPoint p = nearest_point(def, middle);
        if (isinf(p.gap)) break;
        middle.r = vec3_add_scaled(middle.r, gap - p.gap, p.normal);
    }
    return middle;
}

// The peer at some poses of the motion; fills the row's peer time, notes a disagreement.
static bool ask_peer(const Workshop* workshop, int a, int b, const LashPairDef* def,
                     const Pose* motion, BenchRow* row, LashError* error) {
    LashOcctSide side_a = {.path = workshop->step[a], .faces = workshop->face + a, .count = 1};
    LashOcctSide side_b = {.path = workshop->step[b], .faces = workshop->face + b, .count = 1};
    LashOcctQuery* peer = lash_occt_query_open(&side_a, &side_b, error);
    if (peer == NULL) return false;
    double best = INFINITY, worst = 0;
    int touching = 0;
    for (int i = 0; i < PEER_POSES; ++i) {
        Pose pose_a = motion[i * BENCH_POSES / PEER_POSES];
        LashOcctAnswer answer;
        LashError silent = {0};
        if (!lash_occt_query_distance(peer, pose_a, pose_identity(), &answer, &silent)) continue;
        best = fmin(best, answer.seconds);
        double gap = nearest_point(def, pose_a).gap;
        if (gap > 0)
            worst = fmax(worst, fabs(answer.distance - gap));
        else
            ++touching;
    }
    lash_occt_query_close(peer);
    if (best < INFINITY) row->peer_us = 1e6 * best;
    size_t used = strlen(row->note);
    if (worst > 1e-9)
        snprintf(row->note + used, sizeof row->note - used, ", BRepExtrema differs by %.2g mm",
                 1e3 * worst);
    else if (touching < PEER_POSES)
        snprintf(row->note + used, sizeof row->note - used, ", same distance");
    return true;
}

static bool bench_face_pair(GeometryBench* bench, const Workshop* workshop, const FacePair* pair,
                            LashError* error) {
    static Pose motion[BENCH_POSES];
    int a = find_part(pair->a), b = find_part(pair->b);
    LashPairDef def = lash_pair_def();
    def.a.shape = workshop->shape[a];
    def.a.faces = workshop->face + a;
    def.a.face_count = 1;
    def.b.shape = workshop->shape[b];
    def.b.faces = workshop->face + b;
    def.b.face_count = 1;
    Pose middle =
        pose(vec3(pair->r[0], pair->r[1], pair->r[2]),
             quat_from_axis_angle(vec3_normalize(vec3(pair->axis[0], pair->axis[1], pair->axis[2])),
                                  pair->turn * LASH_PI));
    if (pair->gap > 0) middle = put_near(&def, middle, pair->gap);
    BenchRow* row =
        bench_pair(bench, pair->name, &def, middle, pair->length, pair->angle, BENCH_EVERYTHING);
    bench_motion(middle, pair->length, pair->angle, motion);
    return ask_peer(workshop, a, b, &def, motion, row, error);
}

void bench_geometry_occt(GeometryBench* bench) {
    Workshop* workshop = lash_alloc(sizeof(Workshop));
    LashError error = {0};
    bool ok = open_workshop(workshop, &error);
    for (int i = 0; i < PAIRS && ok; ++i) ok = bench_face_pair(bench, workshop, pairs + i, &error);
    if (!ok)
        snprintf(bench->note, sizeof bench->note, "no comparison with BRepExtrema: %.280s",
                 error.message);
    close_workshop(workshop);
    lash_free(workshop);
}

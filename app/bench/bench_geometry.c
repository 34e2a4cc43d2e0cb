// `lash bench geometry`: time per query, smallest of several runs.
//
// Each case runs along a smooth motion of 1000 poses, as a simulation would, so warm starts and
// bounds do what they do there. Kernels are timed alone (gap, normal, points) and with second-order
// data; pairs through the pair manager (collect once, then evaluate). The sweep has 100 bodies and
// 500 candidate pairs of which 10 are near.
//
// Face pairs of STEP parts have a peer (peer_us, ratio): BRepExtrema on the same faces in the same
// run (bench_geometry_occt.c).
#include "app/bench/bench_geometry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/bench/bench_geometry_internal.h"
#include "app/cli/options.h"
#include "app/version.h"
#include "core/arena.h"
#include "geometry/kernels/kernels.h"
#include "geometry/pairs.h"

enum { POSES = BENCH_POSES, RUNS = 15 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

BenchRow* bench_add_row(GeometryBench* bench, const char* name, double us) {
    LASH_ASSERT(bench->rows < BENCH_MAX_ROWS);
    BenchRow* row = bench->row + bench->rows++;
    memset(row, 0, sizeof *row);
    row->name = name;
    row->us = us;
    return row;
}

void bench_motion(Pose middle, double length, double angle, Pose motion[BENCH_POSES]) {
    for (int i = 0; i < POSES; ++i) {
        double t = 2 * LASH_PI * i / POSES;
        Vec3 d = vec3(sin(t), cos(2 * t), sin(3 * t + 1)), r = vec3(cos(t), sin(2 * t), cos(3 * t));
        motion[i].r = vec3_add_scaled(middle.r, length, d);
        motion[i].rot = quat_mul(middle.rot, quat_exp(vec3_scale(angle, r)));
    }
}

typedef struct KernelCase {
    const char *name, *note;
    LashFeature a, b;
    Pose middle;
    double length, angle;
} KernelCase;

// The candidates of a free pair, for the whole motion.
static void list_cells(const KernelCase* c, LashKernelQuery* query) {
    LashPlacement middle = {quat_matrix(c->middle.rot), c->middle.r};
    double turn = sqrt(3) * c->angle;
    double move = sqrt(3) * c->length + turn * (vec3_norm(c->a.center) + c->a.bound);
    query->limit = 10 * c->length;
    lash_kernel_list(&c->a, &c->b, &middle, query, move, turn);
}

static void bench_kernel(GeometryBench* bench, KernelCase* kernel_case) {
    static Pose motion[POSES];
    static LashPlacement placement[POSES];
    bench_motion(kernel_case->middle, kernel_case->length, kernel_case->angle, motion);
    for (int i = 0; i < POSES; ++i) {
        placement[i].rot = quat_matrix(motion[i].rot);
        placement[i].r = motion[i].r;
    }
    lash_feature_prepare(&kernel_case->a);
    lash_feature_prepare(&kernel_case->b);
    static LashCellPair pairs[4096];
    LashCandidates candidates = {pairs, 0, (int)(sizeof pairs / sizeof *pairs)};
    LashWarm warm = {0};
    LashKernelQuery query = {.limit = INFINITY, .warm = &warm, .candidates = &candidates};
    if (lash_kernel_is_free(&kernel_case->a, &kernel_case->b)) list_cells(kernel_case, &query);
    LashRoot roots[LASH_MAX_POINTS];
    double best = INFINITY, found = 0;
    for (int k = 0; k < RUNS; ++k) {
        found = 0;
        double t = seconds();
        for (int i = 0; i < POSES; ++i) {
            int n =
                lash_kernel_roots(&kernel_case->a, &kernel_case->b, &placement[i], &query, roots);
            bench->sink += n > 0 ? roots[0].gap : 0;
            found += n;
        }
        t = seconds() - t;
        if (t < best) best = t;
    }
    BenchRow* row = bench_add_row(bench, kernel_case->name, 1e6 * best / POSES);
    snprintf(row->note, sizeof row->note, "%s%s%.1f points", kernel_case->note,
             kernel_case->note[0] ? ", " : "", found / POSES);
    lash_feature_release(&kernel_case->a);
    lash_feature_release(&kernel_case->b);
}

// ---- shapes made for the bench ------------------------------------------------------------------

typedef struct OneFace { // a shape with a single untrimmed face
    LashShape shape;
    LashFace face;
    LashPatch patch;
    double pole[4 * 16];
} OneFace;

typedef struct OneVertex {
    LashShape shape;
    LashVertex vertex;
} OneVertex;

typedef struct OneEdge { // free: touches from every side
    LashShape shape;
    LashEdge edge;
} OneEdge;

static LashFeature one_edge(OneEdge* e, LashCurveType type, double radius) {
    memset(e, 0, sizeof *e);
    LashEdge* c = &e->edge;
    c->type = type;
    c->radius = radius;
    c->closed = type == LASH_CIRCLE;
    c->x = vec3(1, 0, 0);
    c->y = vec3(0, 1, 0);
    c->z = vec3(0, 0, 1);
    c->t0 = type == LASH_LINE ? -0.05 : 0;
    c->t1 = type == LASH_LINE ? 0.05 : 2 * LASH_PI;
    c->face[0] = c->face[1] = c->vertex[0] = c->vertex[1] = -1;
    c->convexity = LASH_FREE;
    c->box.low = vec3(-0.05, -0.05, -0.05);
    c->box.high = vec3(0.05, 0.05, 0.05);
    e->shape.edge = c;
    e->shape.edges = 1;
    return lash_feature_edge(&e->shape, 0);
}

static void one_face(OneFace* f, LashSurfaceType type, double r, double s, double angle) {
    memset(f, 0, sizeof *f);
    f->face.type = type;
    f->face.x = vec3(1, 0, 0);
    f->face.y = vec3(0, 1, 0);
    f->face.z = vec3(0, 0, 1);
    f->face.radius = r;
    f->face.radius2 = s;
    f->face.half_angle = angle;
    f->face.side = 1;
    f->face.u1 = 2 * LASH_PI;
    f->face.u_closed = true;
    f->face.v1 = type == LASH_TORUS ? 2 * LASH_PI : 0.05;
    f->face.v0 = type == LASH_TORUS ? 0 : -0.05;
    double box = r + s + 0.05;
    f->face.box.low = vec3(-box, -box, -box);
    f->face.box.high = vec3(box, box, box);
    f->shape.face = &f->face;
    f->shape.faces = 1;
}

static void bump(OneFace* f) { // a convex bicubic cap over 0.1 x 0.1, 0.01 high
    one_face(f, LASH_FREEFORM, 0, 0, 0);
    f->face.u0 = f->face.v0 = 0;
    f->face.u1 = f->face.v1 = 1;
    f->face.u_closed = false;
    f->face.u_patches = f->face.v_patches = 1;
    f->patch.u_degree = f->patch.v_degree = 3;
    f->patch.u1 = f->patch.v1 = 1;
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            double x = i / 3.0 - 0.5, y = j / 3.0 - 0.5, *p = f->pole + 4 * (i + 4 * j);
            p[0] = 0.1 * x;
            p[1] = 0.1 * y;
            p[2] = 0.02 - 0.04 * (x * x + y * y) + 0.003 * x * y;
            p[3] = 1;
        }
    f->shape.patch = &f->patch;
    f->shape.patches = 1;
    f->shape.pole = f->pole;
}

static Pose at(double x, double y, double z) {
    return pose(vec3(x, y, z), quat_identity());
}

static Pose turned(double x, double y, double z, Vec3 axis, double angle) {
    return pose(vec3(x, y, z), quat_from_axis_angle(vec3_normalize(axis), angle));
}

static void bench_kernels(GeometryBench* bench) {
    LashShape* shape[] = {lash_shape_box(vec3(0.1, 0.1, 0.1)), lash_shape_sphere(0.01),
                          lash_shape_cylinder(0.01, 0.04), lash_shape_ring(0.0101, 0.02, 0.05)};
    const LashShape *box = shape[0], *ball = shape[1], *pin = shape[2], *ring = shape[3];
    OneFace torus, cone, patch, patch2;
    one_face(&torus, LASH_TORUS, 0.03, 0.005, 0);
    one_face(&cone, LASH_CONE, 0.02, 0, 0.4);
    bump(&patch);
    bump(&patch2);
    LashFeature top = lash_feature_face(box, 5), corner = lash_feature_vertex(box, 0),
                edge = lash_feature_edge(box, 0), sphere = lash_feature_face(ball, 0),
                cylinder = lash_feature_face(pin, 0), rim = lash_feature_edge(pin, 0),
                bore = lash_feature_face(ring, 1), mouth = lash_feature_edge(ring, 2),
                tube = lash_feature_face(&torus.shape, 0),
                taper = lash_feature_face(&cone.shape, 0),
                free1 = lash_feature_face(&patch.shape, 0),
                free2 = lash_feature_face(&patch2.shape, 0);
    Vec3 x = vec3(1, 0, 0), tilt = vec3(1, 0.3, 0.2);
    OneVertex lone = {.vertex = {.point = {0, 0, 0}, .convexity = LASH_FREE}};
    lone.shape.vertex = &lone.vertex;
    lone.shape.vertices = 1;
    LashFeature point = lash_feature_vertex(&lone.shape, 0);
    OneEdge lone_line, lone_circle;
    LashFeature line = one_edge(&lone_line, LASH_LINE, 0),
                circle = one_edge(&lone_circle, LASH_CIRCLE, 0.02);
    KernelCase cases[] = {
        {"vertex/plane", "", corner, top, turned(0.05, 0.05, 0.1, tilt, 0.5), 1e-3, 0.05},
        {"vertex/cylinder", "", corner, cylinder, turned(0.07, 0.05, 0.05, tilt, 0.1), 1e-3, 0.01},
        {"sphere/plane", "", sphere, top, at(0, 0, 0.0605), 1e-3, 0.05},
        {"sphere/cylinder", "", sphere, cylinder, at(0.021, 0, 0), 1e-3, 0.05},
        {"line/line", "edges", line, line, turned(0, 0.002, 0, vec3(0, 1, 0), 1), 1e-3, 0.05},
        {"cylinder/cylinder", "crossing", cylinder, cylinder,
         turned(0, 0.021, 0, vec3(0, 1, 0), 1.2), 1e-4, 0.02},
        {"line/cylinder", "", edge, cylinder, turned(0, 0.06, 0.05, x, 0), 1e-4, 0.02},
        {"circle/plane", "", rim, top, turned(0, 0, 0.07, x, 0.3), 1e-3, 0.02},
        {"circle/plane", "near-parallel, 4 points", rim, top, turned(0, 0, 0.0701, x, 1e-3), 1e-5,
         1e-3},
        {"circle/bore", "pin end in hole", rim, bore, turned(0, 0, 0, x, 1e-3), 5e-5, 1e-3},
        {"circle/cylinder", "hole's edge on pin", mouth, cylinder, turned(0, 0, 0.02, x, 1e-3),
         5e-5, 1e-3},
        {"circle/circle", "edges", circle, circle, turned(0.01, 0, 0.004, x, 0.4), 1e-3, 0.05},
        {"line/circle", "edges", line, circle, turned(0, 0.022, 0.003, tilt, 1.2), 1e-3, 0.05},
        {"torus/plane", "", tube, top, turned(0, 0, 0.08, x, 0.5), 1e-3, 0.02},
        {"torus/cylinder", "", tube, cylinder, turned(0, 0.045, 0, x, 0.5), 1e-3, 0.02},
        {"torus/torus", "", tube, tube, turned(0.035, 0, 0.011, x, 1.3), 1e-3, 0.02},
        {"sphere/cone", "", sphere, taper, at(0.033, 0, 0), 1e-3, 0.02},
        {"cylinder/cone", "", cylinder, taper, turned(0, 0.033, 0, vec3(0, 1, 0), 1.3), 1e-3, 0.02},
        {"torus/cone", "", tube, taper, turned(0, 0.06, 0, x, 0.6), 1e-3, 0.02},
        {"cone/cone", "numerical", taper, taper, turned(0, 0.045, 0, vec3(0, 1, 0), 1.3), 1e-4,
         0.02},
        {"freeform/plane", "root", free1, top, turned(0, 0, 0.0705, x, LASH_PI), 1e-4, 0.02},
        {"freeform/sphere", "root", free1, sphere, turned(0, 0, 0.031, x, LASH_PI), 1e-4, 0.02},
        {"freeform/cylinder", "root", free1, cylinder, turned(0, 0.031, 0, x, 0.5 * LASH_PI), 1e-4,
         0.02},
        {"freeform/freeform", "root", free1, free2, turned(0, 0, 0.041, x, LASH_PI), 1e-4, 0.02},
        {"vertex/freeform", "root", point, free1, at(0, 0, 0.02), 1e-3, 0.02},
        {"line/freeform", "root", edge, free1, turned(0, 0.05, 0.071, x, 0.7), 1e-4, 0.02},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) bench_kernel(bench, cases + i);
    for (int i = 0; i < 4; ++i) lash_shape_destroy(shape[i]);
}

// ---- pairs ------------------------------------------------------------------------------------

BenchRow* bench_pair(GeometryBench* bench, const char* name, const LashPairDef* def, Pose middle,
                     double length, double angle, BenchPoints what) {
    static Pose motion[POSES];
    bench_motion(middle, length, angle, motion);
    LashPair* pair = lash_pair_create(def);
    LashPairWork* work = lash_pair_work_create(pair);
    LashMotion still = {0, 0}, free = {4 * length, 4 * angle};
    int slots = lash_pair_collect(pair, work, middle, pose_identity(), free, still, 1e-4);
    double* gap = lash_alloc(sizeof(double) * (size_t)(slots + 1));
    LashContactPoint* points = lash_alloc(sizeof(LashContactPoint) * (size_t)(slots + 1));
    double best = INFINITY, found = 0;
    for (int k = 0; k < RUNS; ++k) {
        double t = seconds();
        found = 0;
        for (int i = 0; i < POSES; ++i) {
            bool ok = lash_pair_evaluate(pair, work, motion[i], pose_identity(), gap, NULL,
                                         what == BENCH_GAPS_ONLY ? NULL : points);
            LASH_ASSERT(ok);
            for (int j = 0; j < slots; ++j) found += gap[j] < INFINITY;
        }
        t = seconds() - t;
        if (t < best) best = t;
    }
    bench->sink += found;
    BenchRow* row = bench_add_row(bench, name, 1e6 * best / POSES);
    snprintf(row->note, sizeof row->note, "%d slots, %.1f points", slots, found / POSES);
    lash_free(gap);
    lash_free(points);
    lash_pair_work_destroy(work);
    lash_pair_destroy(pair);
    return row;
}

static void bench_pairs(GeometryBench* bench) {
    LashShape* pin = lash_shape_cylinder(0.01, 0.04);
    LashShape* ring = lash_shape_ring(0.0101, 0.02, 0.05);
    LashShape* box = lash_shape_box(vec3(0.05, 0.04, 0.03));
    LashPairDef def = lash_pair_def();
    int side = 0, hole = 1;
    def.a.shape = pin;
    def.a.faces = &side;
    def.a.face_count = 1;
    def.b.shape = ring;
    def.b.faces = &hole;
    def.b.face_count = 1;
    bench_pair(bench, "pin in hole, gaps", &def, at(0, 0, 0), 3e-5, 1e-3, BENCH_GAPS_ONLY);
    bench_pair(bench, "pin in hole, all", &def, at(0, 0, 0), 3e-5, 1e-3, BENCH_EVERYTHING);
    LashShape* disc = lash_shape_cylinder(0.01, 0.0004); // tilted, it touches left and right
    def.a.shape = disc;
    Pose tilted = turned(0, 0, 0, vec3(1, 0, 0), 0.1);
    bench_pair(bench, "pin in hole, jammed", &def, tilted, 2e-6, 1e-3, BENCH_EVERYTHING);
    lash_shape_destroy(disc);
    def = lash_pair_def();
    def.a.shape = def.b.shape = box;
    bench_pair(bench, "box on box, gaps", &def, at(0.01, 0.01, 0.03), 1e-5, 1e-4, BENCH_GAPS_ONLY);
    bench_pair(bench, "box on box, all", &def, at(0.01, 0.01, 0.03), 1e-5, 1e-4, BENCH_EVERYTHING);
    lash_shape_destroy(pin);
    lash_shape_destroy(ring);
    lash_shape_destroy(box);
}

// ---- sweep ------------------------------------------------------------------------------------

enum { BODIES = 100, PAIRS = 500, STEPS = 200 };

static double sweep_once(const LashPair* pair, LashPairWork** work, const int (*bodies)[2],
                         double* until, LashTravel* travel, const Pose* start, int* near) {
    static Pose now[BODIES];
    static double swing[STEPS][BODIES]; // the motion itself is not timed
    LashContactPoint points[16];
    for (int s = 0; s < STEPS; ++s)
        for (int i = 0; i < BODIES; ++i) swing[s][i] = 1e-5 * sin(0.1 * s + i);
    double t = seconds();
    *near = 0;
    for (int s = 0; s < STEPS; ++s) {
        for (int i = 0; i < BODIES; ++i) {
            double a = swing[s][i];
            now[i] = pose(vec3(start[i].r.x + a, start[i].r.y, start[i].r.z + a), start[i].rot);
            lash_travel_move(travel + i, now[i]);
        }
        for (int k = 0; k < PAIRS; ++k) {
            int i = bodies[k][0], j = bodies[k][1];
            double sum = travel[i].sum + travel[j].sum;
            if (sum < until[k]) continue;
            *near += lash_pair_query(pair, work[k], now[i], now[j], 1e-4, points, 16) > 0;
            until[k] = sum + lash_pair_bound(work[k]) - 1e-4;
        }
    }
    return seconds() - t;
}

// 100 pins in a grid, 10 of them in contact with a ring; every pin has five candidate partners.
static void bench_sweep(GeometryBench* bench) {
    LashShape* pin = lash_shape_cylinder(0.01, 0.04);
    LashShape* ring = lash_shape_ring(0.0101, 0.02, 0.05);
    LashPairDef def = lash_pair_def();
    int side = 0, hole = 1;
    def.a.shape = pin;
    def.a.faces = &side;
    def.a.face_count = 1;
    def.b.shape = ring;
    def.b.faces = &hole;
    def.b.face_count = 1;
    LashPair* pair = lash_pair_create(&def);
    static LashPairWork* work[PAIRS];
    static int bodies[PAIRS][2];
    static double until[PAIRS];
    static LashTravel travel[BODIES];
    static Pose start[BODIES];
    for (int i = 0; i < BODIES; ++i) {
        bool together = i < 20 && i % 2 == 1; // sits in the one before
        int cell = together ? i - 1 : i;
        start[i] = at(0.1 * (cell % 10), 0.1 * (cell / 10), 0);
        lash_travel_start(travel + i, start[i], 0.03);
    }
    for (int k = 0; k < PAIRS; ++k) {
        bodies[k][0] = k % BODIES;
        bodies[k][1] = (k % BODIES + 1 + k / BODIES * 7) % BODIES;
        if (k < 10) {
            bodies[k][0] = 2 * k;
            bodies[k][1] = 2 * k + 1;
        } else if (k < 20) {
            bodies[k][0] = 2 * (k - 10);
            bodies[k][1] = 50 + k;
        }
        work[k] = lash_pair_work_create(pair);
        until[k] = -INFINITY;
    }
    double best = INFINITY;
    int near = 0;
    for (int r = 0; r < RUNS; ++r)
        best = fmin(best, sweep_once(pair, work, bodies, until, travel, start, &near));
    BenchRow* row = bench_add_row(bench, "sweep", 1e6 * best / STEPS);
    snprintf(row->note, sizeof row->note, "100 bodies, 500 pairs, %.1f active",
             (double)near / STEPS);
    row->family = "sweep";
    row->size = PAIRS;
    row->us_per_unit = row->us / PAIRS;
    for (int k = 0; k < PAIRS; ++k) lash_pair_work_destroy(work[k]);
    lash_pair_destroy(pair);
    lash_shape_destroy(pin);
    lash_shape_destroy(ring);
}

// ---- output -----------------------------------------------------------------------------------

static void print_table(const GeometryBench* bench) {
    printf("%-22s %10s %10s %8s  %s\n", "pair", "us", "peer us", "ratio", "note");
    for (int i = 0; i < bench->rows; ++i) {
        const BenchRow* bench_row = bench->row + i;
        printf("%-22s %10.4f", bench_row->name, bench_row->us);
        if (bench_row->peer_us > 0)
            printf(" %10.1f %8.0f", bench_row->peer_us, bench_row->peer_us / bench_row->us);
        else
            printf(" %10s %8s", "-", "-");
        printf("  %s\n", bench_row->note);
    }
    if (bench->note[0] != '\0') printf("%s\n", bench->note);
}

static void print_json(const GeometryBench* bench) {
    printf("{\"lash\": \"%s\", \"command\": \"bench\", \"ok\": true, \"benchmarks\": [",
           LASH_VERSION);
    for (int i = 0; i < bench->rows; ++i) {
        const BenchRow* bench_row = bench->row + i;
        printf("%s\n  {\"name\": \"geometry: %s\", \"us\": %.6g", i ? "," : "", bench_row->name,
               bench_row->us);
        if (bench_row->peer_us > 0)
            printf(", \"peer\": \"BRepExtrema\", \"peer_us\": %.6g, \"ratio\": %.6g",
                   bench_row->peer_us, bench_row->peer_us / bench_row->us);
        if (bench_row->family != NULL)
            printf(", \"family\": \"%s\", \"size\": %g, \"us_per_unit\": %.6g", bench_row->family,
                   bench_row->size, bench_row->us_per_unit);
        printf(", \"note\": \"%s\"}", bench_row->note);
    }
    printf("\n]");
    if (bench->note[0] != '\0') printf(", \"note\": \"%s\"", bench->note);
    printf("}\n");
}

typedef struct GeometryOptions {
    AppOperands operands;
    bool json;
} GeometryOptions;

static const AppOption options[] = {
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text",
     offsetof(GeometryOptions, json)},
};
static const AppCommand command = {
    .name = "bench geometry",
    .operands = "",
    .summary = "signed gaps between CAD features",
    .detail =
        "Microseconds per gap of the kernels and of pairs of parts, beside OpenCASCADE's own "
        "distance\nwhere its helper program is found.",
    .option = options,
    .options = 1,
    .json_offset = offsetof(GeometryOptions, json),
    .operand_offset = offsetof(GeometryOptions, operands)};

int app_bench_geometry(int argc, char** argv) {
    GeometryOptions o = {.json = false};
    int code = app_options_parse(&command, argc, argv, &o);
    if (code >= 0) return code;
    GeometryBench* bench = lash_alloc(sizeof(GeometryBench));
    bench_kernels(bench);
    bench_pairs(bench);
    bench_sweep(bench);
    bench_geometry_occt(bench);
    if (o.json)
        print_json(bench);
    else
        print_table(bench);
    lash_free(bench);
    return LASH_OK;
}

// Model files of mechanisms with N parts. Lengths in m, masses in kg.
//
// All revolutes with play have pins of radius 5 mm, length 20 mm, play 0.1 mm and friction 0.1; a part
// that hangs or rests starts where its pins carry it, or nearly so: the first steps are short falls.
#include "app/bench/scale_models.h"

#include <math.h>
#include <stdint.h>

static const double PI = 3.14159265358979323846;
static const double PLAY = 1e-4; // [m]

static const char* const names[] = {
#define X(id, name, counts, help) name,
    APP_SCALE_TABLE(X)
#undef X
};
static const char* const counted[] = {
#define X(id, name, counts, help) counts,
    APP_SCALE_TABLE(X)
#undef X
};
static const char* const helps[] = {
#define X(id, name, counts, help) help,
    APP_SCALE_TABLE(X)
#undef X
};

const char* app_scale_name(AppScaleModel model) {
    return names[model];
}
const char* app_scale_counts(AppScaleModel model) {
    return counted[model];
}
const char* app_scale_help(AppScaleModel model) {
    return helps[model];
}

enum { TEETH = 12 }; // of a sprocket

int app_scale_least(AppScaleModel model) {
    return model == APP_SCALE_ROLLER_CHAIN ? TEETH + 4 : 1;
}

// ---- pieces of a file ---------------------------------------------------------------------------

typedef struct Writer {
    FILE* file;
    int items; // written in the list so far
} Writer;

static void begin(Writer* w, AppScaleModel model, int n) {
    fprintf(w->file, "{\n  \"format\": \"lash-model/1\", \"name\": \"%s, N = %d: %s\",\n",
            names[model], n, helps[model]);
    fprintf(w->file, "  \"gravity\": [0, 0, -9.81],\n  \"parts\": [");
    w->items = 0;
}

static void begin_list(Writer* w, const char* key) {
    fprintf(w->file, "\n  ],\n  \"%s\": [", key);
    w->items = 0;
}

static void item(Writer* w) {
    fprintf(w->file, "%s\n    ", w->items++ > 0 ? "," : "");
}

static void end(Writer* w, double step, double duration) {
    fprintf(w->file,
            "\n  ],\n  \"simulation\": {\"step\": %g, \"duration\": %g, \"substeps\": 256}\n}\n",
            step, duration);
}

typedef struct Link {     // a bar in the plane of x and z
    double x, z, angle;   // of its center; about y [m], [rad]
    double vx, vz, omega; // [m/s], [rad/s]
    double length, mass;
} Link;

static void bar(Writer* w, const char* name, int i, Link link) {
    item(w);
    fprintf(w->file,
            "{\"name\": \"%s%d\", \"mass\": %g, \"shape\": {\"type\": \"box\", \"size\": [%.17g, "
            "0.01, 0.02]}, \"pose\": {\"position\": [%.17g, 0, %.17g], \"axis\": [0, 1, 0], "
            "\"angle\": %.17g}, \"velocity\": [%.17g, 0, %.17g], \"angular_velocity\": [0, %.17g, "
            "0]}",
            name, i, link.mass, link.length, link.x, link.z, link.angle, link.vx, link.vz,
            link.omega);
}

#define PIN "\"clearance\": %g, \"radius\": 0.005, \"length\": 0.02, \"friction\": 0.1"

// A pin about y at a point of the world; part names with their numbers, -1: none.
static void pin(Writer* w, const char* name, int i, const char* a, int ia, const char* b, int ib,
                double x, double z) {
    char first[32];
    snprintf(first, sizeof first, ia < 0 ? "%s" : "%s%d", a, ia);
    item(w);
    fprintf(
        w->file,
        "{\"name\": \"%s%d\", \"type\": \"revolute\", \"a\": \"%s\", \"b\": \"%s%d\", \"point\": "
        "[%.17g, 0, %.17g], \"axis\": [0, 1, 0], " PIN "}",
        name, i, first, b, ib, x, z, PLAY);
}

// ---- mechanisms with play -----------------------------------------------------------------------

// A pin about y (about z of b where b_axis says so) given in each part, -1: the ground.
static void pin_between(Writer* w, const char* name, int i, const char* a, int ia, double a_x,
                        const char* b, int ib, double b_x, const char* b_axis) {
    char first[32];
    snprintf(first, sizeof first, ia < 0 ? "%s" : "%s%d", a, ia);
    item(w);
    fprintf(w->file,
            "{\"name\": \"%s%d\", \"type\": \"revolute\", \"a\": \"%s\", \"b\": \"%s%d\", "
            "\"a_point\": [%.17g, 0, 0], \"a_axis\": [0, 1, 0], \"b_point\": [%.17g, 0, 0], "
            "\"b_axis\": %s, " PIN "}",
            name, i, first, b, ib, a_x, b_x, b_axis, PLAY);
}

#define ABOUT_Y "[0, 1, 0]"
#define ABOUT_MINUS_Z "[0, 0, -1]" // y of a part that is turned by a quarter about x

// Posts stand on the bottom of their bores, bars hang in those of the posts.
static void four_bars(Writer* w, int n) {
    const double side = 0.2, omega = 5, half = side / 2;
    Link up = {.z = half - PLAY, .angle = -PI / 2, .vx = omega * half, .omega = omega};
    Link across = {.z = side - 2 * PLAY, .vx = omega * side};
    up.length = across.length = side;
    up.mass = across.mass = 0.1;
    for (int i = 0; i <= n; ++i) {
        up.x = side * i;
        bar(w, "post", i, up);
    }
    for (int i = 0; i < n; ++i) {
        across.x = side * (i + 0.5);
        bar(w, "bar", i, across);
    }
    begin_list(w, "joints");
    for (int i = 0; i <= n; ++i)
        pin_between(w, "foot", i, "ground", -1, side * i, "post", i, -half, ABOUT_Y);
    for (int i = 0; i < n; ++i) {
        pin_between(w, "left", i, "post", i, half, "bar", i, -half, ABOUT_Y);
        pin_between(w, "right", i, "bar", i, half, "post", i + 1, half, ABOUT_Y);
    }
    end(w, 2e-5, 0.02);
}

// Straight down, each pin on the bottom of its bore; swings with 1 rad/s as one.
static void chain(Writer* w, int n) {
    const double length = 0.1, pitch = length + PLAY;
    for (int i = 0; i < n; ++i) {
        double z = -(i * pitch + PLAY + length / 2);
        bar(w, "link", i,
            (Link){.z = z, .angle = PI / 2, .vx = z, .omega = 1, .length = length, .mass = 0.1});
    }
    begin_list(w, "joints");
    for (int i = 0; i < n; ++i) {
        const char* a = i == 0 ? "ground" : "link";
        pin_between(w, "pin", i, a, i - 1, i == 0 ? 0 : length / 2, "link", i, -length / 2,
                    ABOUT_Y);
    }
    end(w, 2e-5, 0.02);
}

static void gears(Writer* w, int n) {
    const double radius = 0.03, omega = 50;
    for (int i = 0; i < n; ++i) {
        item(w);
        fprintf(w->file,
                "{\"name\": \"gear%d\", \"mass\": 0.1, \"shape\": {\"type\": \"cylinder\", "
                "\"radius\": %g, \"length\": 0.01}, \"pose\": {\"position\": [%.17g, 0, %.17g], "
                "\"axis\": [1, 0, 0], \"angle\": %.17g}, \"angular_velocity\": [0, 0, %g]}",
                i, radius, 2 * radius * i, -PLAY, PI / 2, i % 2 == 0 ? -omega : omega);
    }
    begin_list(w, "joints");
    for (int i = 0; i < n; ++i)
        pin_between(w, "shaft", i, "ground", -1, 2 * radius * i, "gear", i, 0, ABOUT_MINUS_Z);
    for (int i = 0; i + 1 < n; ++i) {
        item(w);
        fprintf(w->file,
                "{\"name\": \"mesh%d\", \"type\": \"gear\", \"joint_a\": \"shaft%d\", \"joint_b\": "
                "\"shaft%d\", \"ratio\": -1}",
                i, i, i + 1);
    }
    begin_list(w, "forces");
    item(w);
    fprintf(w->file,
            "{\"name\": \"motor\", \"type\": \"joint_force\", \"joint\": \"shaft0\", "
            "\"force\": \"0.05\"}");
    item(w);
    fprintf(w->file,
            "{\"name\": \"brake\", \"type\": \"joint_force\", \"joint\": \"shaft%d\", \"force\": "
            "\"-0.001*v\"}",
            n - 1);
    end(w, 2e-5, 0.02);
}

// Stage i: bars from (0, i H) to (B, (i + 1) H) and back, crossing in the middle; the foot at x = B
// slides on the ground, the platform slides on the last bar.
static void scissors(Writer* w, int n) {
    const double length = 0.3, angle = PI / 4;
    const double base = length * cos(angle), rise = length * sin(angle);
    for (int i = 0; i < n; ++i) {
        Link link = {.x = base / 2, .z = rise * (i + 0.5), .length = length, .mass = 0.1};
        link.angle = -angle;
        bar(w, "right", i, link);
        link.angle = -(PI - angle);
        bar(w, "left", i, link);
    }
    bar(w, "platform", 0, (Link){.x = base / 2, .z = rise * n, .length = 1.2 * base, .mass = 0.5});
    begin_list(w, "joints");
    pin(w, "foot", 0, "ground", -1, "right", 0, 0, 0);
    item(w);
    fprintf(
        w->file,
        "{\"name\": \"slide\", \"type\": \"point_on_line\", \"a\": \"ground\", \"b\": \"left0\", "
        "\"point\": [%.17g, 0, 0], \"axis\": [1, 0, 0]}",
        base);
    for (int i = 0; i < n; ++i) {
        pin(w, "middle", i, "right", i, "left", i, base / 2, rise * (i + 0.5));
        if (i + 1 == n) break;
        pin(w, "outer", i, "left", i, "right", i + 1, 0, rise * (i + 1));
        pin(w, "inner", i, "right", i, "left", i + 1, base, rise * (i + 1));
    }
    pin(w, "table", 0, "left", n - 1, "platform", 0, 0, rise * n);
    item(w);
    fprintf(w->file,
            "{\"name\": \"top\", \"type\": \"point_on_line\", \"a\": \"platform0\", \"b\": "
            "\"right%d\", \"point\": [%.17g, 0, %.17g], \"axis\": [1, 0, 0]}",
            n - 1, base, rise * n);
    end(w, 2e-5, 0.02);
}

// ---- a chain on sprockets -----------------------------------------------------------------------

typedef struct Loop {            // pins of the chain on the pitch polygon of both sprockets
    double pitch, radius, apart; // [m]
    int straight;                // links of each straight run
} Loop;

// Pin k of the loop and its velocity where the chain runs with angular speed omega.
static void loop_pin(const Loop* loop, int k, double omega, double at[2], double v[2]) {
    int arc = TEETH / 2, half = arc + loop->straight, left = k / half % 2;
    double side = left ? -1 : 1;
    k %= half;
    double turn = k <= arc ? PI / 2 - 2 * PI * k / TEETH : -PI / 2;
    double along = k <= arc ? 0 : loop->pitch * (k - arc);
    at[0] = side * (loop->radius * cos(turn) - along + loop->apart / 2);
    at[1] = side * loop->radius * sin(turn);
    double speed = omega * loop->radius;
    v[0] = side * speed * sin(turn);
    v[1] = -side * speed * cos(turn);
}

static void sprocket(Writer* w, const Loop* loop, int i, double omega) {
    const double roller = 0.25 * loop->pitch, x = (i == 0 ? 0.5 : -0.5) * loop->apart;
    double tooth = 2 * loop->radius * sin(PI / (2 * TEETH)) - roller - 2 * PLAY;
    item(w);
    fprintf(w->file,
            "{\"name\": \"sprocket%d\", \"density\": 7800, \"pose\": {\"position\": [%.17g, 0, 0], "
            "\"axis\": [1, 0, 0], \"angle\": %.17g}, \"angular_velocity\": [0, 0, %.17g], "
            "\"shape\": [{\"type\": \"cylinder\", \"radius\": %.17g, \"length\": 0.012}",
            i, x, PI / 2, -omega, loop->radius - roller - 2 * PLAY);
    for (int k = 0; k < TEETH; ++k) {
        double a = 2 * PI * (k + 0.5) / TEETH;
        fprintf(w->file,
                ", {\"type\": \"cylinder\", \"radius\": %.17g, \"length\": 0.008, \"pose\": "
                "{\"position\": [%.17g, %.17g, 0]}}",
                tooth, loop->radius * cos(a), loop->radius * sin(a));
    }
    fprintf(w->file, "]}");
}

static void roller_chain(Writer* w, int n) {
    const double omega = 10;
    Loop loop = {.pitch = 0.02, .straight = (n - TEETH) / 2};
    loop.radius = loop.pitch / (2 * sin(PI / TEETH));
    loop.apart = loop.pitch * loop.straight;
    int links = TEETH + 2 * loop.straight;
    for (int i = 0; i < 2; ++i) sprocket(w, &loop, i, omega);
    for (int i = 0; i < links; ++i) {
        double a[2], b[2], va[2], vb[2];
        loop_pin(&loop, i, omega, a, va);
        loop_pin(&loop, (i + 1) % links, omega, b, vb);
        double turn = atan2(b[1] - a[1], b[0] - a[0]);
        double spin = ((vb[1] - va[1]) * cos(turn) - (vb[0] - va[0]) * sin(turn)) / loop.pitch;
        item(w);
        fprintf(
            w->file,
            "{\"name\": \"link%d\", \"mass\": 0.01, \"inertia\": [1e-7, 4e-7, 4e-7], "
            "\"shape\": {\"type\": \"sphere\", \"radius\": %g, \"pose\": {\"position\": [%g, 0, "
            "0]}}, \"pose\": {\"position\": [%.17g, 0, %.17g], \"axis\": [0, 1, 0], \"angle\": "
            "%.17g}, \"velocity\": [%.17g, 0, %.17g], \"angular_velocity\": [0, %.17g, 0]}",
            i, 0.25 * loop.pitch, -loop.pitch / 2, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, -turn,
            (va[0] + vb[0]) / 2, (va[1] + vb[1]) / 2, -spin);
    }
    begin_list(w, "joints");
    for (int i = 0; i < 2; ++i) {
        item(w);
        fprintf(w->file,
                "{\"name\": \"shaft%d\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": "
                "\"sprocket%d\", \"point\": [%.17g, 0, 0], \"axis\": [0, 1, 0]%s}",
                i, i, (i == 0 ? 0.5 : -0.5) * loop.apart,
                i == 0 ? ", \"driver\": {\"speed\": 10}" : "");
    }
    for (int i = 0; i < links; ++i) {
        double at[2], v[2];
        loop_pin(&loop, (i + 1) % links, omega, at, v);
        item(w);
        fprintf(
            w->file,
            "{\"name\": \"pin%d\", \"type\": \"revolute\", \"a\": \"link%d\", \"b\": \"link%d\", "
            "\"point\": [%.17g, 0, %.17g], \"axis\": [0, 1, 0], \"clearance\": %g, \"radius\": "
            "0.002, \"length\": 0.01, \"friction\": 0.1}",
            i, i, (i + 1) % links, at[0], at[1], PLAY);
    }
    begin_list(w, "contacts");
    item(w);
    fprintf(w->file,
            "{\"name\": \"teeth\", \"between\": [[\"link*\"], [\"sprocket*\"]], "
            "\"friction\": 0.1}");
    end(w, 2e-5, 0.02);
}

// ---- boxes --------------------------------------------------------------------------------------

static void box(Writer* w, const char* name, int i, const double size[3], const double at[3],
                const char* more) {
    item(w);
    fprintf(w->file,
            "{\"name\": \"%s%d\", \"density\": 1000, \"shape\": {\"type\": \"box\", \"size\": [%g, "
            "%g, %g]}, \"pose\": {\"position\": [%.17g, %.17g, %.17g]}%s}",
            name, i, size[0], size[1], size[2], at[0], at[1], at[2], more);
}

#define FOOT "\"box\": {\"corners\": [[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1]]}"
#define GROUND "{\"part\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}}"

static void stack(Writer* w, int n) {
    const double size[3] = {0.1, 0.1, 0.1}, fall = 1e-6; // onto each other [m]
    for (int i = 0; i < n; ++i) {
        double at[3] = {0.002 * (i % 3 - 1), 0, 0.05 + fall + (0.1 + fall) * i};
        box(w, "box", i, size, at, "");
    }
    begin_list(w, "contacts");
    for (int i = 0; i < n; ++i) {
        item(w);
        fprintf(w->file, "{\"name\": \"foot%d\", \"a\": ", i);
        if (i == 0) fprintf(w->file, GROUND);
        if (i > 0)
            fprintf(w->file,
                    "{\"part\": \"box%d\", \"plane\": {\"point\": [0, 0, 0.05], \"normal\": [0, 0, "
                    "1]}}",
                    i - 1);
        fprintf(w->file, ", \"b\": {\"part\": \"box%d\", " FOOT "}, \"friction\": 0.5}", i);
    }
    end(w, 1e-3, 0.2);
}

static void floor_part(Writer* w, double half) {
    item(w);
    fprintf(w->file,
            "{\"name\": \"floor\", \"fixed\": true, \"shape\": {\"type\": \"box\", \"size\": [%g, "
            "%g, 0.1]}, \"pose\": {\"position\": [0, 0, -0.05]}}",
            2 * half, 2 * half);
}

// Courses of bricks in bond, about as wide as high; every other course is a little thinner, so that
// edges do not lie on edges.
static void wall(Writer* w, int n) {
    const double length = 0.2, height = 0.06, joint = 2e-3, fall = 1e-4;
    int wide = (int)ceil(sqrt(0.3 * n));
    floor_part(w, 0.5 * wide * (length + joint) + 0.5);
    for (int i = 0; i < n; ++i) {
        int course = i / wide, place = i % wide;
        double size[3] = {length, course % 2 == 0 ? 0.1 : 0.094, height};
        double at[3] = {(place - 0.5 * (wide - 1) + 0.3 * (course % 2 - 0.5)) * (length + joint), 0,
                        height / 2 + fall + course * (height + fall)};
        box(w, "brick", i, size, at, "");
    }
    begin_list(w, "contacts");
    item(w);
    fprintf(w->file,
            "{\"name\": \"bricks\", \"among\": [\"brick*\", \"floor\"], \"friction\": 0.5}");
    end(w, 2e-4, 0.04);
}

static void dominoes(Writer* w, int n) {
    const double size[3] = {0.008, 0.024, 0.048};
    for (int i = 0; i < n; ++i) {
        double at[3] = {0.024 * i, 0, size[2] / 2};
        box(w, "stone", i, size, at,
            i == 0 ? ", \"angular_velocity\": [0, 6, 0], \"velocity\": [0.144, 0, 0.024]" : "");
    }
    begin_list(w, "contacts");
    for (int i = 0; i < n; ++i) {
        item(w);
        fprintf(w->file,
                "{\"name\": \"foot%d\", \"a\": " GROUND ", \"b\": {\"part\": \"stone%d\", " FOOT
                "}, \"friction\": 0.3}",
                i, i);
        if (i == 0) continue;
        item(w);
        fprintf(
            w->file,
            "{\"name\": \"hit%d\", \"a\": {\"part\": \"stone%d\", \"plane\": {\"point\": [-0.004, "
            "0, 0], \"normal\": [-1, 0, 0]}}, \"b\": {\"part\": \"stone%d\", \"box\": "
            "{\"corners\": [[1, 1, 1], [1, -1, 1]]}}, \"friction\": 0.3}",
            i, i, i - 1);
    }
    end(w, 2e-4, 0.5);
}

// ---- balls --------------------------------------------------------------------------------------

static double random_number(uint64_t* seed) { // in (-1, 1), SplitMix64
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

// A funnel of four plates at 45 degrees that end at a square mouth over a floor, and above it layers
// of balls about as high as wide.
static void balls(Writer* w, int n) {
    const double radius = 0.02, pitch = 2.1 * radius;
    int wide = (int)ceil(cbrt((double)n));
    double half = 0.5 * wide * pitch + radius, mouth = 3 * radius;
    double length = sqrt(2) * (half - mouth) + 8 * radius;
    double lowest = 3.7 * radius + fmax(0.5 * (wide - 1) * pitch - mouth, 0); // clear of the plates
    floor_part(w, 3 * half + 1);
    for (int k = 0; k < 4; ++k) {
        double out = mouth + 0.5 * length / sqrt(2), thick = radius;
        double x = (k < 2 ? 1 - 2 * (k % 2) : 0) * (out + 0.5 * thick / sqrt(2));
        double y = (k >= 2 ? 1 - 2 * (k % 2) : 0) * (out + 0.5 * thick / sqrt(2));
        double z = 2 * radius + 0.5 * length / sqrt(2) - 0.5 * thick / sqrt(2);
        double turn = (k < 2 ? -1 : 1) * (1 - 2 * (k % 2)) * PI / 4;
        item(w);
        fprintf(w->file,
                "{\"name\": \"plate%d\", \"fixed\": true, \"shape\": {\"type\": \"box\", \"size\": "
                "[%.17g, %.17g, %.17g]}, \"pose\": {\"position\": [%.17g, %.17g, %.17g], \"axis\": "
                "[%d, %d, 0], \"angle\": %.17g}}",
                k, k < 2 ? length : 2 * (half + 8 * radius),
                k < 2 ? 2 * (half + 8 * radius) : length, thick, x, y, z, k >= 2, k < 2, turn);
    }
    uint64_t seed = 1;
    for (int i = 0; i < n; ++i) {
        int a = i % wide, b = i / wide % wide, c = i / wide / wide;
        double at[3] = {(a - 0.5 * (wide - 1)) * pitch, (b - 0.5 * (wide - 1)) * pitch,
                        lowest + c * pitch};
        for (int k = 0; k < 3; ++k) at[k] += 0.04 * radius * random_number(&seed);
        item(w);
        fprintf(w->file,
                "{\"name\": \"ball%d\", \"density\": 1000, \"shape\": {\"type\": \"sphere\", "
                "\"radius\": %g}, \"pose\": {\"position\": [%.9g, %.9g, %.9g]}}",
                i, radius, at[0], at[1], at[2]);
    }
    begin_list(w, "contacts");
    item(w);
    fprintf(w->file, "{\"name\": \"balls\", \"among\": [\"ball*\"], \"friction\": 0.3}");
    item(w);
    fprintf(w->file,
            "{\"name\": \"walls\", \"between\": [[\"ball*\"], [\"plate*\", \"floor\"]], "
            "\"friction\": 0.3}");
    end(w, 1e-4, 0.5);
}

// ---- all ----------------------------------------------------------------------------------------

void app_scale_write(AppScaleModel model, int n, FILE* file) {
    static void (*const write[])(Writer*, int) = {[APP_SCALE_FOUR_BARS] = four_bars,
                                                  [APP_SCALE_CHAIN] = chain,
                                                  [APP_SCALE_GEARS] = gears,
                                                  [APP_SCALE_SCISSORS] = scissors,
                                                  [APP_SCALE_ROLLER_CHAIN] = roller_chain,
                                                  [APP_SCALE_STACK] = stack,
                                                  [APP_SCALE_WALL] = wall,
                                                  [APP_SCALE_DOMINOES] = dominoes,
                                                  [APP_SCALE_BALLS] = balls};
    Writer w = {.file = file};
    begin(&w, model, n);
    write[model](&w, n);
}

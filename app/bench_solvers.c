// Runs every problem several times, keeps the shortest time, and asks the peer program (if it
// stands beside the binary) for the same files at the same tolerance. The residual is always that
// of the independent check. Without files: a slider in a guide, stacks of boxes of growing height,
// random problems.
#include "app/bench_solvers.h"
#include "app/bench_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/peer.h"
#include "app/problem_builtin.h"
#include "app/version.h"
#include "core/arena.h"

enum { SMALL_CONTACTS = 60 };               // tighter tolerance up to here
static const double TIME_PER_PROBLEM = 5e4; // [us]
static const double PEER_SOLVED = 3;        // times the tolerance

typedef struct Options {
    bool json, peer;
    double tolerance; // 0: by size
    int first, files; // of argv
} Options;

typedef struct Line { // one row of the table
    char name[192];
    int contacts, iterations, size; // size > 0: member of a family
    const char *method, *family;
    LashOutcome outcome;
    double residual, us;
    char peer[32];
    double peer_us, peer_residual;
} Line;

typedef struct Table {
    Line* line;
    int count, capacity;
} Table;

static Line* add_line(Table* t, const char* name) {
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        t->line = lash_realloc(t->line, (size_t)t->capacity * sizeof(Line));
    }
    Line* line = t->line + t->count++;
    *line = (Line){.peer_us = NAN, .peer_residual = NAN};
    snprintf(line->name, sizeof line->name, "%s", name);
    return line;
}

static double tolerance_of(const Options* o, const AppProblem* p) {
    if (o->tolerance > 0) return o->tolerance;
    if (p->layout == APP_LAYOUT_GENERIC) return 1e-13; // joints are to be met to 1e-12
    return p->units <= SMALL_CONTACTS ? 1e-10 : 1e-8;
}

// Cold: every run starts from zero. Warm: from the answer of the one before, b slightly changed.
static void time_friction(const AppProblem* p, LashFrictionMeasure measure, double tolerance,
                          bool warm, Line* line) {
    LashFrictionProblem f = p->friction;
    size_t bytes = (size_t)f.m * sizeof(double);
    double *P = lash_alloc(bytes), *U = lash_alloc(bytes), *b = lash_alloc(bytes);
    size_t size = (lash_friction_work_size(f.contacts, f.m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size > 0 ? size : 64);
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = tolerance, settings.measure = measure, settings.cold = !warm;
    LashFrictionInfo info = {0};
    line->us = INFINITY;
    double total = 0;
    f.b = b;
    for (int k = 0; k < 2000 && (k < 3 || total < TIME_PER_PROBLEM); ++k) {
        double factor = warm ? 1 + 1e-3 * (k % 7) : 1;
        for (int i = 0; i < f.m; ++i) b[i] = factor * p->friction.b[i];
        int repeat = f.m <= 24 ? 16 : 1; // the clock itself costs a few hundredths
        if (warm) lash_friction_solve(&f, &settings, P, U, work);
        BenchInstant start = bench_now();
        for (int r = 0; r < repeat; ++r) info = lash_friction_solve(&f, &settings, P, U, work);
        double spent = bench_since(start);
        total += spent, line->us = fmin(line->us, spent / repeat);
    }
    line->residual = lash_friction_residual(&f, measure, P, U);
    line->outcome = info.outcome, line->iterations = info.iterations;
    line->method = lash_friction_method_name(info.method), line->contacts = f.contacts;
    free(work);
    lash_free(P), lash_free(U), lash_free(b);
}

static void time_lcp(const AppProblem* p, double tolerance, Line* line) {
    int n = p->mixed.lcp.n;
    double *z = lash_alloc((size_t)n * sizeof(double)), *w = lash_alloc((size_t)n * sizeof(double));
    void* work = lash_alloc(lash_mixed_work_size(n));
    LashLcpSettings settings = lash_lcp_settings();
    LashLcpInfo info = {0};
    settings.tolerance = tolerance;
    line->us = INFINITY;
    double total = 0;
    for (int k = 0; k < 2000 && (k < 3 || total < TIME_PER_PROBLEM); ++k) {
        int repeat = n <= 24 ? 16 : 1;
        BenchInstant start = bench_now();
        for (int r = 0; r < repeat; ++r) info = lash_mixed_solve(&p->mixed, &settings, z, w, work);
        double spent = bench_since(start);
        total += spent, line->us = fmin(line->us, spent / repeat);
    }
    line->residual = lash_mixed_residual(&p->mixed, z, w);
    line->outcome = info.outcome, line->iterations = info.iterations;
    line->method = lash_lcp_method_name(info.method), line->contacts = n;
    lash_free(z), lash_free(w), lash_free(work);
}

// Takes the fastest of the peer's methods that solved the file.
static void ask_peer(const char* file, double tolerance, Line* line) {
    char number[32];
    snprintf(number, sizeof number, "%.17g", tolerance);
    AppPeer peer;
    if (!app_peer_start((const char*[]){"solvers", number, file, NULL}, &peer)) return;
    char text[1024], method[32];
    size_t skip = strlen(file);
    while (fgets(text, sizeof text, peer.answer) != NULL) {
        double residual, us;
        int iterations;
        if (strncmp(text, file, skip) != 0 ||
            sscanf(text + skip, " %31s %lf %d %lf", method, &residual, &iterations, &us) != 4)
            continue;
        bool solved = residual <= PEER_SOLVED * tolerance;
        bool better = !(line->peer_residual <= PEER_SOLVED * tolerance) || us < line->peer_us;
        if (line->peer[0] == 0 || (solved && better)) {
            snprintf(line->peer, sizeof line->peer, "%s", method);
            line->peer_us = us, line->peer_residual = residual;
        }
    }
    app_peer_end(&peer);
}

static bool run_file(const Options* o, const char* path, Table* t, LashError* error) {
    AppProblem* p = app_problem_load(path, error);
    if (p == NULL) return false;
    const char* slash = strrchr(path, '/');
    Line* line = add_line(t, slash != NULL ? slash + 1 : path);
    double tolerance = tolerance_of(o, p);
    if (p->layout == APP_LAYOUT_LCP || p->layout == APP_LAYOUT_MIXED) {
        time_lcp(p, tolerance, line);
    } else {
        time_friction(p, LASH_MEASURE_PLAIN, tolerance, false, line);
        if (o->peer && p->layout == APP_LAYOUT_FRICTION) ask_peer(path, tolerance, line);
    }
    app_problem_destroy(p);
    return true;
}

static void run_builtin(const Options* o, Table* t) {
    static const int heights[] = {10, 30, 100, 300, 1000};
    double tolerance = o->tolerance > 0 ? o->tolerance : 1e-10;
    static const double turning[] = {-3, -0.11}; // [rad/s]
    for (int k = 0; k < 4; ++k) {
        AppProblem* slider = app_problem_slider(turning[k / 2]);
        char name[64];
        snprintf(name, sizeof name, "slider, %s, %s", k < 2 ? "both walls" : "one wall",
                 k % 2 == 0 ? "warm" : "cold");
        time_friction(slider, LASH_MEASURE_VELOCITY, tolerance, k % 2 == 0, add_line(t, name));
        app_problem_destroy(slider);
    }
    for (size_t k = 0; k < sizeof heights / sizeof heights[0]; ++k) {
        AppProblem* p = app_problem_stack(heights[k], 0.5);
        char name[64];
        snprintf(name, sizeof name, "stack of %d boxes", heights[k]);
        Line* line = add_line(t, name);
        time_friction(p, LASH_MEASURE_VELOCITY, tolerance, false, line);
        line->family = "box stack", line->size = heights[k];
        app_problem_destroy(p);
    }
    for (int contacts = 1; contacts <= 100; contacts *= 10) {
        AppRandomProblem set = {contacts, contacts, contacts, 3, 0};
        AppProblem* p = app_problem_random(&set);
        char name[64];
        snprintf(name, sizeof name, "random, %d contacts", contacts);
        time_friction(p, LASH_MEASURE_VELOCITY, tolerance, false, add_line(t, name));
        app_problem_destroy(p);
    }
}

static const char* outcome_name(LashOutcome outcome) {
    return outcome == LASH_CONVERGED ? "solved" : outcome == LASH_FAILED ? "failed" : "inaccurate";
}

static void print_table(const Table* t) {
    printf("%-40s %8s %-13s %9s %9s %10s %12s  %-8s %12s %9s %7s\n", "problem", "contacts",
           "method", "outcome", "residual", "iterations", "us", "peer", "peer us", "residual",
           "ratio");
    for (int i = 0; i < t->count; ++i) {
        const Line* l = t->line + i;
        printf("%-40s %8d %-13s %9s %9.1e %10d %12.3f", l->name, l->contacts, l->method,
               outcome_name(l->outcome), l->residual, l->iterations, l->us);
        if (l->peer[0] != 0)
            printf("  %-8s %12.3f %9.1e %7.2f", l->peer, l->peer_us, l->peer_residual,
                   l->peer_us / l->us);
        if (l->size > 0) printf("  %.3f us per contact", l->us / l->contacts);
        printf("\n");
    }
}

static void print_text(const char* text) { // a JSON string
    putchar('"');
    for (; *text != 0; ++text) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 32)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_number(const char* key, double value) {
    if (isfinite(value))
        printf(", \"%s\": %.6g", key, value);
    else
        printf(", \"%s\": null", key);
}

static void print_json(const Table* t, const LashError* error) {
    printf("{\"lash\": \"%s\", \"command\": \"bench\", \"ok\": %s", LASH_VERSION,
           error->status == LASH_OK ? "true" : "false");
    if (error->status != LASH_OK) {
        printf(", \"error\": {\"code\": %d, \"file\": ", (int)error->status);
        print_text(error->file);
        printf(", \"where\": ");
        print_text(error->where);
        printf(", \"message\": ");
        print_text(error->message);
        printf("}");
    }
    printf(", \"benchmarks\": [");
    for (int i = 0; i < t->count; ++i) {
        const Line* l = t->line + i;
        printf("%s\n  {\"name\": ", i > 0 ? "," : "");
        print_text(l->name);
        printf(", \"contacts\": %d, \"method\": \"%s\", \"outcome\": \"%s\", \"iterations\": %d",
               l->contacts, l->method, outcome_name(l->outcome), l->iterations);
        print_number("residual", l->residual), print_number("us", l->us);
        if (l->peer[0] != 0)
            printf(", \"peer\": \"siconos %s\"", l->peer);
        else
            printf(", \"peer\": null");
        print_number("peer_us", l->peer_us), print_number("peer_residual", l->peer_residual);
        print_number("ratio", l->peer_us / l->us);
        if (l->size > 0) {
            printf(", \"family\": \"%s\", \"size\": %d", l->family, l->size);
            print_number("us_per_unit", l->us / l->size);
        }
        printf("}");
    }
    printf("%s]}\n", t->count > 0 ? "\n" : "");
}

static const char usage[] =
    "usage: lash bench solvers [options] [FILE...]\n"
    "\n"
    "Solves friction, LCP and mixed LCP problem files and prints method, residual by the\n"
    "independent check, iterations and time; the peer's figures too when lash-bench-peer was\n"
    "built. Without files: built-in problems.\n"
    "\n"
    "  --json             one JSON document\n"
    "  --tolerance X      of the residual (default: 1e-10 up to 60 contacts, 1e-8 above)\n"
    "  --no-peer          do not run the peer\n"
    "  -h, --help         this text\n";

static bool parse(int argc, char** argv, Options* o, bool* help, LashError* error) {
    *o = (Options){.peer = true};
    *help = false;
    int i = 1; // argv[0] is the name of the bench
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != 0; ++i) {
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--no-peer") == 0) {
            o->peer = false;
        } else if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            *help = true;
        } else if (strcmp(argv[i], "--tolerance") == 0 && i + 1 < argc) {
            char* end;
            o->tolerance = strtod(argv[++i], &end);
            if (*end != 0 || !(o->tolerance > 0 && o->tolerance < 1))
                return lash_error_set(error, LASH_ERROR_USAGE, "--tolerance",
                                      "expected a number between 0 and 1, found \"%s\"", argv[i]);
        } else {
            return lash_error_set(error, LASH_ERROR_USAGE, argv[i],
                                  "unknown option, or its value is missing; try --help");
        }
    }
    o->first = i, o->files = argc - i;
    return true;
}

int app_bench_solvers(int argc, char** argv) {
    Options o;
    LashError error = {0};
    Table t = {0};
    bool help = false;
    if (parse(argc, argv, &o, &help, &error) && help) {
        fputs(usage, stdout);
        return LASH_OK;
    }
    if (error.status == LASH_OK && o.files == 0) run_builtin(&o, &t);
    for (int i = 0; error.status == LASH_OK && i < o.files; ++i)
        run_file(&o, argv[o.first + i], &t, &error);
    for (int i = 0; error.status == LASH_OK && i < t.count; ++i)
        if (t.line[i].outcome != LASH_CONVERGED)
            lash_error_set(&error, LASH_ERROR_NUMERICS, t.line[i].name,
                           "not solved to the tolerance: residual %.1e", t.line[i].residual);
    if (o.json)
        print_json(&t, &error);
    else if (t.count > 0)
        print_table(&t);
    if (error.status != LASH_OK && !o.json)
        fprintf(stderr, "lash bench solvers: %s%s%s%s%s\n", error.file,
                error.file[0] != 0 ? ": " : "", error.where, error.where[0] != 0 ? ": " : "",
                error.message);
    lash_free(t.line);
    return (int)error.status;
}

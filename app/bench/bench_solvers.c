// Runs every problem several times, keeps the shortest time, and asks the peer program (if it
// stands beside the binary) for the same files at the same tolerance. The residual is always that
// of the independent check, recomputed from what the file holds; only where both programs reached
// the tolerance their times are compared. Without files: a slider in a guide, stacks of boxes of
// growing height, random problems.
#include "app/bench/bench_solvers.h"
#include "app/bench/bench_clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "app/bench/peer.h"
#include "app/bench/problem_builtin.h"
#include "app/bench/problem_drawn.h"
#include "app/bench/problem_set.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "core/arena.h"

enum { SMALL_CONTACTS = 60 };               // tighter tolerance up to here
static const double TIME_PER_PROBLEM = 5e4; // [us]
static const double TIME_OF_LARGE = 2e6;    // [us]

enum { SHARES = 5 };
static const double share_tolerance[SHARES] = {1e-4, 1e-6, 1e-8, 1e-10, 1e-12};

typedef struct Options {
    AppOperands files;
    bool json, no_peer, shares;
    double tolerance; // NAN: by size
    int drawn;
    const char* keep;
} Options;

#define OPTION(member) offsetof(Options, member)
static const AppOption options[] = {
    {"tolerance", 0, APP_NUMBER, "X",
     "of the residual (default: 1e-10 up to 60 contacts, 1e-8 above)", OPTION(tolerance)},
    {"shares", 0, APP_FLAG, NULL,
     "solve each file again at 1e-4, 1e-6, 1e-8, 1e-10 and 1e-12: the share that is solved",
     OPTION(shares)},
    {"drawn", 0, APP_INTEGER, "N",
     "solve N problems drawn from steps of the mechanisms of models/scale, at each of these "
     "tolerances",
     OPTION(drawn)},
    {"keep", 0, APP_FILE, "FOLDER", "write the problems drawn as files; FILE.h5: all into one",
     OPTION(keep)},
    {"no-peer", 0, APP_FLAG, NULL, "do not run the other program", OPTION(no_peer)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
static const AppCommand command = {
    .name = "bench solvers",
    .operands = "[FILE...]",
    .summary = "friction and complementarity solvers on problem files",
    .detail =
        "Solves friction (local and global, text and FCLIB's HDF5), LCP and mixed LCP problem "
        "files "
        "(and\nsets of them that --drawn --keep FILE.h5 wrote) and prints method, residual by the "
        "independent check, iterations and time; the other "
        "program's\nfigures too when lash-bench-peer was built (make bench). Without files: "
        "built-in problems.",
    .maximum = APP_MAX_OPERANDS,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(files)};

typedef struct Line { // one row of the table
    char name[192];
    int contacts, iterations, size; // size > 0: member of a family
    const char *method, *family;
    LashOutcome outcome;
    double tolerance, residual, us;
    bool has_three;
    AppThreeResiduals three;
    char peer[32];
    double peer_us, peer_residual;
    int problems;                            // of a line for many that were drawn; 0: a file
    int asked, peer_asked;                   // problems solved for the shares; by the other program
    int solved[SHARES], peer_solved[SHARES]; // of them at tolerance k
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

static double tolerance_of(const Options* o, const AppProblem* problem) {
    if (isfinite(o->tolerance)) return o->tolerance;
    return problem->units <= SMALL_CONTACTS ? 1e-10 : 1e-8;
}

// Solved is what the check says, whatever the solver claims.
static void judge(Line* line, LashOutcome claimed, double tolerance) {
    line->tolerance = tolerance;
    line->outcome = claimed;
    if (line->residual <= tolerance)
        line->outcome = LASH_CONVERGED;
    else if (claimed == LASH_CONVERGED)
        line->outcome = LASH_INACCURATE;
}

// Time of the peer / ours, where both reached the tolerance; else NAN.
static double ratio_of(const Line* line) {
    bool both = line->outcome == LASH_CONVERGED && line->peer_residual <= line->tolerance;
    return both ? line->peer_us / line->us : NAN;
}

// Small problems often, large ones three times, those of seconds once.
static bool again(int done, double total) {
    if (done < 3) return done == 0 || total < TIME_OF_LARGE;
    return done < 2000 && total < TIME_PER_PROBLEM;
}

// Cold: every run starts from zero. Warm: from the answer of the one before, b slightly changed.
static void time_friction(const AppProblem* problem, LashFrictionMeasure measure, double tolerance,
                          bool warm, Line* line) {
    LashFrictionProblem f = problem->friction;
    size_t bytes = (size_t)f.m * sizeof(double);
    double *P = lash_alloc(bytes), *U = lash_alloc(bytes), *b = lash_alloc(bytes);
    size_t size = (lash_friction_work_size(f.contacts, f.m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size > 0 ? size : 64);
    LASH_ASSERT(work != NULL); // PROBLEM_MAX_ROWS bounds it
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance =
        problem->global != NULL ? 0.5 * tolerance : tolerance; // W has rounding too
    settings.measure = measure;
    settings.cold = !warm;
    LashFrictionInfo info = {0};
    line->us = INFINITY;
    double total = 0;
    f.b = b;
    for (int k = 0; again(k, total); ++k) {
        double factor = warm ? 1 + 1e-3 * (k % 7) : 1;
        for (int i = 0; i < f.m; ++i) b[i] = factor * problem->friction.b[i];
        int repeat = f.m <= 24 ? 16 : 1; // the clock itself costs a few hundredths
        if (warm) lash_friction_solve(&f, &settings, P, U, work);
        BenchInstant start = bench_now();
        for (int r = 0; r < repeat; ++r) info = lash_friction_solve(&f, &settings, P, U, work);
        double spent = bench_since(start);
        total += spent;
        if (spent > 0) line->us = fmin(line->us, spent / repeat); // 0: the clock did not tick
    }
    line->residual = measure == LASH_MEASURE_PLAIN ? app_problem_residual(problem, P)
                                                   : lash_friction_residual(&f, measure, P, U);
    judge(line, info.outcome, tolerance);
    line->has_three = true;
    line->three = app_problem_three(problem, P);
    line->iterations = info.iterations;
    line->method = lash_friction_method_name(info.method);
    line->contacts = f.contacts;
    free(work);
    lash_free(P);
    lash_free(U);
    lash_free(b);
}

// Cold, once.
static void solve_once(const AppProblem* problem, double tolerance, Line* line) {
    LashFrictionProblem f = problem->friction;
    size_t bytes = (size_t)f.m * sizeof(double);
    double *P = lash_alloc(bytes), *U = lash_alloc(bytes);
    size_t size = (lash_friction_work_size(f.contacts, f.m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size > 0 ? size : 64);
    LASH_ASSERT(work != NULL);
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = problem->global != NULL ? 0.5 * tolerance : tolerance;
    settings.measure = LASH_MEASURE_PLAIN;
    settings.cold = true;
    BenchInstant start = bench_now();
    LashFrictionInfo info = lash_friction_solve(&f, &settings, P, U, work);
    line->us = bench_since(start);
    line->method = lash_friction_method_name(info.method);
    line->iterations = info.iterations;
    line->residual = app_problem_residual(problem, P);
    free(work);
    lash_free(P);
    lash_free(U);
}

static void time_lcp(const AppProblem* problem, double tolerance, Line* line) {
    int n = problem->lcp.n;
    double *z = lash_alloc((size_t)n * sizeof(double)), *w = lash_alloc((size_t)n * sizeof(double));
    void* work = lash_alloc(lash_lcp_work_size(n));
    LashLcpSettings settings = lash_lcp_settings();
    LashLcpInfo info = {0};
    settings.tolerance = tolerance;
    line->us = INFINITY;
    double total = 0;
    for (int k = 0; again(k, total); ++k) {
        int repeat = n <= 24 ? 16 : 1;
        BenchInstant start = bench_now();
        for (int r = 0; r < repeat; ++r)
            info = lash_lcp_solve(&problem->lcp, &settings, z, w, work);
        double spent = bench_since(start);
        total += spent;
        if (spent > 0) line->us = fmin(line->us, spent / repeat); // 0: the clock did not tick
    }
    line->residual = lash_lcp_residual(&problem->lcp, z, w);
    judge(line, info.outcome, tolerance);
    line->iterations = info.iterations;
    line->method = lash_lcp_method_name(info.method);
    line->contacts = n;
    lash_free(z);
    lash_free(w);
    lash_free(work);
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
        bool solved = residual <= tolerance;
        bool better = !(line->peer_residual <= tolerance) || us < line->peer_us;
        if (line->peer[0] == 0 || (solved && better)) {
            snprintf(line->peer, sizeof line->peer, "%s", method);
            line->peer_us = us;
            line->peer_residual = residual;
        }
    }
    app_peer_end(&peer);
}

// A file that the peer can read: text of the local layout, W of a global problem as we reduced it.
static bool write_local(const AppProblem* problem, char* path) {
    if (!app_friction_can_write(&problem->friction)) return false;
    strcpy(path, "/tmp/lash-bench-XXXXXX.dat"); // it reads files with this ending only
    int number = mkstemps(path, 4);
    FILE* file = number < 0 ? NULL : fdopen(number, "w");
    if (file == NULL) return false;
    app_friction_write(&problem->friction, file);
    return fclose(file) == 0;
}

// Is the file solved at each of the tolerances, when it is asked for?
static void find_shares(const AppProblem* problem, const char* peer_file, Line* line) {
    line->asked = 1;
    line->peer_asked = peer_file != NULL;
    for (int k = 0; k < SHARES; ++k) {
        Line once = {.peer_us = NAN, .peer_residual = NAN};
        solve_once(problem, share_tolerance[k], &once);
        line->solved[k] = once.residual <= share_tolerance[k];
        if (peer_file == NULL) continue;
        ask_peer(peer_file, share_tolerance[k], &once);
        line->peer_solved[k] = once.peer_residual <= share_tolerance[k];
        if (once.peer[0] == '\0') line->peer_asked = 0; // not installed
    }
}

// Can the peer read it? Not a list of entries, storage 2 after the dimension and the contacts.
static bool peer_reads(const AppProblem* problem, const char* path) {
    int dimension, contacts, storage = 2;
    FILE* file = fopen(path, "r");
    if (problem->layout != APP_LAYOUT_FRICTION || problem->hdf5 || file == NULL ||
        fscanf(file, "%d %d %d", &dimension, &contacts, &storage) != 3)
        storage = 2;
    if (file != NULL) fclose(file);
    return storage != 2;
}

static void compare(const Options* o, const char* path, const AppProblem* problem, Line* line) {
    char local[64] = "";
    bool text = peer_reads(problem, path);
    const char* peer_file = text ? path : NULL;
    if (!o->no_peer && !text && write_local(problem, local)) peer_file = local;
    if (o->no_peer) peer_file = NULL;
    if (peer_file != NULL) ask_peer(peer_file, line->tolerance, line);
    if (o->shares) find_shares(problem, peer_file, line);
    if (local[0] != '\0') remove(local);
}

static bool run_file(const Options* o, const char* path, Table* t, LashError* error) {
    AppProblem* problem = app_problem_load(path, error);
    if (problem == NULL) return false;
    const char* slash = strrchr(path, '/');
    Line* line = add_line(t, slash != NULL ? slash + 1 : path);
    double tolerance = tolerance_of(o, problem);
    if (problem->layout == APP_LAYOUT_LCP || problem->layout == APP_LAYOUT_MIXED) {
        time_lcp(problem, tolerance, line);
    } else {
        time_friction(problem, LASH_MEASURE_PLAIN, tolerance, false, line);
        compare(o, path, problem, line);
    }
    app_problem_destroy(problem);
    return true;
}

// ---- problems drawn from steps ------------------------------------------------------------------

typedef struct Collection {
    const Options* options;
    Table* table;
    double tolerance;
    AppProblemSet* set; // that they are written to, or NULL
} Collection;

static bool keep_problem(const char* folder, const AppDrawn* drawn, LashError* error) {
    char path[1200];
    snprintf(path, sizeof path, "%.1000s/%s_%d_%04d.dat", folder, app_scale_name(drawn->model),
             drawn->size, drawn->step);
    FILE* file = fopen(path, "w");
    bool good = file != NULL && fwrite(drawn->text, 1, drawn->bytes, file) == drawn->bytes;
    if (file != NULL) good = fclose(file) == 0 && good;
    return good || lash_error_set(error, LASH_ERROR_IO, path, "cannot be written");
}

// The line of the mechanism that the problem comes from: problems of one come together.
static Line* line_of(Table* t, const AppDrawn* drawn) {
    char name[64];
    snprintf(name, sizeof name, "%s_%d", app_scale_name(drawn->model), drawn->size);
    Line* last = t->count > 0 ? &t->line[t->count - 1] : NULL;
    return last != NULL && strcmp(last->name, name) == 0 ? last : add_line(t, name);
}

// Adds one to a line: its worst residual and method, its largest size, its mean time and iterations.
static void add_problem(Line* line, const AppProblem* problem, const Line* once, double tolerance) {
    double n = ++line->problems;
    bool worst = line->problems == 1 || !(once->residual <= line->residual);
    if (worst) line->residual = once->residual;
    if (worst) line->method = once->method;
    if (problem->units > line->contacts) line->contacts = problem->units;
    line->us += (once->us - line->us) / n;
    line->iterations += once->iterations;
    judge(line, LASH_INACCURATE, tolerance);
}

static bool take_drawn(void* context, const AppDrawn* drawn, LashError* error) { // AppDrawnEach
    const Collection* into = context;
    const char* folder = into->options->keep;
    if (into->set != NULL)
        app_problem_set_add(into->set, drawn);
    else if (folder != NULL && !keep_problem(folder, drawn, error))
        return false;
    AppProblem* problem = app_problem_parse(drawn->text, drawn->bytes, error);
    if (problem == NULL) return false;
    Line *line = line_of(into->table, drawn), once = {0};
    solve_once(problem, into->tolerance, &once);
    add_problem(line, problem, &once, into->tolerance);
    ++line->asked;
    for (int k = 0; k < SHARES; ++k) {
        solve_once(problem, share_tolerance[k], &once);
        line->solved[k] += once.residual <= share_tolerance[k];
    }
    app_problem_destroy(problem);
    return true;
}

static Collection collect(const Options* o, Table* t) {
    return (Collection){o, t, isfinite(o->tolerance) ? o->tolerance : 1e-10, NULL};
}

static bool is_set_name(const char* keep) {
    size_t length = keep == NULL ? 0 : strlen(keep);
    return length > 3 && strcmp(keep + length - 3, ".h5") == 0;
}

static bool run_drawn(const Options* o, Table* t, LashError* error) {
    Collection into = collect(o, t);
    struct stat info;
    if (is_set_name(o->keep)) {
        into.set = app_problem_set_begin();
        bool good = app_problems_draw(o->drawn, take_drawn, &into, error);
        return app_problem_set_end(into.set, good ? o->keep : NULL, error) && good;
    }
    if (o->keep != NULL && ((mkdir(o->keep, 0777) != 0 && errno != EEXIST) ||
                            stat(o->keep, &info) != 0 || !S_ISDIR(info.st_mode)))
        return lash_error_set(error, LASH_ERROR_IO, o->keep, "is no folder and cannot be made one");
    return app_problems_draw(o->drawn, take_drawn, &into, error);
}

static bool run_set(const Options* o, const char* path, Table* t, LashError* error) {
    Collection into = collect(o, t);
    return app_problem_set_read(path, 1, take_drawn, &into, error);
}

static void run_builtin(const Options* o, Table* t) {
    static const int heights[] = {10, 30, 100, 300, 1000};
    double tolerance = isfinite(o->tolerance) ? o->tolerance : 1e-10;
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
        AppProblem* problem = app_problem_stack(heights[k], 0.5);
        char name[64];
        snprintf(name, sizeof name, "stack of %d boxes", heights[k]);
        Line* line = add_line(t, name);
        time_friction(problem, LASH_MEASURE_VELOCITY, tolerance, false, line);
        line->family = "box stack";
        line->size = heights[k];
        app_problem_destroy(problem);
    }
    for (int contacts = 1; contacts <= 100; contacts *= 10) {
        AppRandomProblem set = {contacts, contacts, contacts, 3, 0};
        AppProblem* problem = app_problem_random(&set);
        char name[64];
        snprintf(name, sizeof name, "random, %d contacts", contacts);
        time_friction(problem, LASH_MEASURE_VELOCITY, tolerance, false, add_line(t, name));
        app_problem_destroy(problem);
    }
}

static const char* outcome_name(LashOutcome outcome) {
    static const char* const name[] = {
        [LASH_CONVERGED] = "solved", [LASH_INACCURATE] = "inaccurate", [LASH_FAILED] = "failed"};
    return name[outcome];
}

// Files solved at tolerance k, of those that were asked at it; peer: by the other program.
static int solved_at(const Table* t, int k, bool peer, int* asked) {
    int solved = 0;
    *asked = 0;
    for (int i = 0; i < t->count; ++i) {
        const Line* line = &t->line[i];
        *asked += peer ? line->peer_asked : line->asked;
        solved += peer ? line->peer_solved[k] : line->solved[k];
    }
    return solved;
}

static void print_shares(const Table* t, bool peer_too) {
    int asked, all;
    solved_at(t, 0, false, &all);
    if (all == 0) return;
    printf("%-12s", "solved at");
    for (int k = 0; k < SHARES; ++k) printf(" %8.0e", share_tolerance[k]);
    for (int peer = 0; peer < (peer_too ? 2 : 1); ++peer) {
        solved_at(t, 0, peer == 1, &asked);
        printf("\n%-12s", peer == 0 ? "lash" : "siconos");
        if (asked == 0) printf(" not installed");
        for (int k = 0; k < SHARES && asked > 0; ++k)
            printf(" %6.1f %%", 100.0 * solved_at(t, k, peer == 1, &asked) / asked);
        if (asked > 0) printf("  of %d problem%s", asked, asked == 1 ? "" : "s");
    }
    printf("\n");
}

static void print_table(const Table* t, bool peer_too) {
    printf("%-40s %8s %-13s %9s %9s %10s %12s  %-8s %12s %9s %7s\n", "problem", "contacts",
           "method", "outcome", "residual", "iterations", "us", "peer", "peer us", "residual",
           "ratio");
    for (int i = 0; i < t->count; ++i) {
        const Line* l = t->line + i;
        printf("%-40s %8d %-13s %9s %9.1e %10d %12.3f", l->name, l->contacts, l->method,
               outcome_name(l->outcome), l->residual, l->iterations, l->us);
        if (l->peer[0] != 0) printf("  %-8s %12.3f %9.1e", l->peer, l->peer_us, l->peer_residual);
        if (isfinite(ratio_of(l)))
            printf(" %7.2f", ratio_of(l));
        else if (l->peer[0] != 0)
            printf(" %7s", l->peer_residual <= l->tolerance ? "-" : "missed"); // the tolerance
        if (l->size > 0) printf("  %.3f us per contact", l->us / l->contacts);
        if (l->problems > 0)
            printf("  %d problems: worst residual, all iterations, mean time", l->problems);
        printf("\n");
        if (l->has_three)
            printf("%-40s %8s Signorini %.1e, Coulomb %.1e, dissipation %.1e\n", "", "",
                   l->three.signorini, l->three.coulomb, l->three.dissipation);
    }
    print_shares(t, peer_too);
}

static void put_line(AppJson* json, const Line* line) {
    char peer[64];
    snprintf(peer, sizeof peer, "siconos %s", line->peer);
    app_json_begin_object(json);
    app_json_put_text(json, "name", line->name);
    app_json_put_integer(json, "contacts", line->contacts);
    app_json_put_text(json, "method", line->method);
    app_json_put_text(json, "outcome", outcome_name(line->outcome));
    app_json_put_integer(json, "iterations", line->iterations);
    if (line->problems > 0) app_json_put_integer(json, "problems", line->problems);
    app_json_put_number(json, "tolerance", line->tolerance);
    app_json_put_number(json, "residual", line->residual);
    app_json_put_number(json, "us", line->us);
    if (line->has_three) {
        app_json_put_number(json, "signorini", line->three.signorini);
        app_json_put_number(json, "coulomb", line->three.coulomb);
        app_json_put_number(json, "dissipation", line->three.dissipation);
    }
    app_json_put_text(json, "peer", line->peer[0] != 0 ? peer : NULL);
    app_json_put_number(json, "peer_us", line->peer_us);
    app_json_put_number(json, "peer_residual", line->peer_residual);
    app_json_put_number(json, "ratio", ratio_of(line));
    if (line->size > 0) {
        app_json_put_text(json, "family", line->family);
        app_json_put_integer(json, "size", line->size);
        app_json_put_number(json, "us_per_unit", line->us / line->size);
    }
    app_json_end_object(json);
}

static void put_shares(AppJson* json, const Table* t) {
    app_json_key(json, "shares");
    app_json_begin_array(json);
    for (int k = 0; k < SHARES; ++k) {
        int asked, peer_asked, solved = solved_at(t, k, false, &asked);
        int peer_solved = solved_at(t, k, true, &peer_asked);
        app_json_begin_object(json);
        app_json_put_number(json, "tolerance", share_tolerance[k]);
        app_json_put_integer(json, "files", asked);
        app_json_put_integer(json, "solved", solved);
        app_json_put_integer(json, "peer_files", peer_asked);
        app_json_put_integer(json, "peer_solved", peer_solved);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

// Was any problem asked at the tolerances of the shares?
static bool has_shares(const Table* t) {
    int asked;
    solved_at(t, 0, false, &asked);
    return asked > 0;
}

static bool run_all(const Options* o, Table* t, LashError* error) {
    if (o->tolerance <= 0 || o->tolerance >= 1)
        return lash_error_set(error, LASH_ERROR_USAGE, "--tolerance",
                              "expected a number between 0 and 1, found %g", o->tolerance);
    if (o->drawn < 0 || (o->drawn > 0 && o->files.count > 0))
        return lash_error_set(error, LASH_ERROR_USAGE, "--drawn",
                              "expected a positive number and no files, found %d and %d files",
                              o->drawn, o->files.count);
    if (o->keep != NULL && o->drawn == 0)
        return lash_error_set(error, LASH_ERROR_USAGE, "--keep",
                              "expected --drawn N with it: what is to be kept?");
    if (o->drawn > 0) {
        if (!run_drawn(o, t, error)) return false;
    } else if (o->files.count == 0) {
        run_builtin(o, t);
    }
    for (int i = 0; i < o->files.count; ++i) {
        const char* path = o->files.item[i];
        bool set = app_problem_set_is(path);
        if (!(set ? run_set(o, path, t, error) : run_file(o, path, t, error))) return false;
    }
    for (int i = 0; i < t->count; ++i)
        if (t->line[i].outcome != LASH_CONVERGED)
            return lash_error_set(error, LASH_ERROR_NUMERICS, t->line[i].name,
                                  "not solved to the tolerance %.0e: residual %.1e",
                                  t->line[i].tolerance, t->line[i].residual);
    return true;
}

int app_bench_solvers(int argc, char** argv) {
    Options o = {.tolerance = NAN};
    int code = app_options_parse(&command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("bench", o.json);
    LashError error = {0};
    Table t = {0};
    run_all(&o, &t, &error);
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_key(json, "benchmarks");
        app_json_begin_array(json);
        for (int i = 0; i < t.count; ++i) put_line(json, &t.line[i]);
        app_json_end_array(json);
        if (has_shares(&t)) put_shares(json, &t);
    } else if (t.count > 0) {
        print_table(&t, !o.no_peer && o.drawn == 0);
        fflush(stdout);
    }
    lash_free(t.line);
    return app_report_finish(&report, &error);
}

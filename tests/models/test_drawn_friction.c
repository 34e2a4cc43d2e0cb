// Friction problems drawn from steps of the mechanisms of models/scale are all solved to 1e-10: those
// kept as files (tests/data/friction, written by lash run --dump-friction), those of the set drawn_1000.h5
// (written by lash bench solvers --drawn 1000 --keep drawn_1000.h5), and fresh ones; of both a sixteenth, and all
// with LASH_LONG_TESTS=1.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench/problem_drawn.h"
#include "app/bench/problem_set.h"
#include "command.h"
#include "core/arena.h"
#include "test.h"

static const double TOLERANCE = 1e-10;

// Residual by the independent check after a cold start that asks for this tolerance.
static double solved_to(const AppProblem* problem, double tolerance) {
    LashFrictionProblem f = problem->friction;
    double *P = lash_alloc((size_t)f.m * sizeof *P), *U = lash_alloc((size_t)f.m * sizeof *U);
    size_t size = (lash_friction_work_size(f.contacts, f.m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size);
    assert_non_null(work);
    LashFrictionSettings settings = lash_friction_settings();
    settings.tolerance = 0.5 * tolerance; // W has rounding too
    settings.measure = LASH_MEASURE_PLAIN;
    settings.cold = true;
    lash_friction_solve(&f, &settings, P, U, work);
    double residual = app_problem_residual(problem, P);
    free(work);
    lash_free(P);
    lash_free(U);
    return residual;
}

static void kept_problems_are_solved(void** state) {
    (void)state;
    const char* folder = LASH_SOURCE_DIR "/tests/data/friction";
    int files = 0;
    DIR* listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent* entry; (entry = readdir(listing)) != NULL;) {
        if (strstr(entry->d_name, ".dat") == NULL) continue;
        char path[700];
        LashError error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        AppProblem* problem = app_problem_load(path, &error);
        if (problem == NULL) fail_msg("%s: %s", error.where, error.message);
        assert_int_equal(problem->layout, APP_LAYOUT_GLOBAL);
        double residual = solved_to(problem, TOLERANCE);
        if (!(residual <= TOLERANCE)) fail_msg("%s: residual %g", entry->d_name, residual);
        app_problem_destroy(problem);
        ++files;
    }
    closedir(listing);
    assert_true(files >= 16);
}

typedef struct Tally {
    int count, unsolved, sharp; // sharp: solved to 1e-12
    double worst;
    bool of[APP_SCALE_MODELS];
} Tally;

static bool solve_drawn(void* context, const AppDrawn* drawn, LashError* error) { // AppDrawnEach
    Tally* tally = context;
    AppProblem* problem = app_problem_parse(drawn->text, drawn->bytes, error);
    if (problem == NULL) return false;
    double residual = solved_to(problem, TOLERANCE);
    tally->sharp += solved_to(problem, 1e-12) <= 1e-12;
    app_problem_destroy(problem);
    ++tally->count;
    tally->unsolved += !(residual <= TOLERANCE);
    tally->worst = fmax(tally->worst, residual);
    tally->of[drawn->model] = true;
    return true;
}

static void check_tally(const Tally* tally, int count) {
    print_message("%d problems, worst residual %.1e; %d solved to 1e-12\n", tally->count,
                  tally->worst, tally->sharp);
    assert_int_equal(tally->count, count);
    assert_int_equal(tally->unsolved, 0);
    for (int m = 0; m < APP_SCALE_MODELS; ++m) assert_true(tally->of[m]);
}

static void problems_drawn_from_steps_are_solved(void** state) {
    (void)state;
    int count = getenv("LASH_LONG_TESTS") != NULL ? 1000 : 63;
    Tally tally = {0};
    LashError error = {0};
    if (!app_problems_draw(count, solve_drawn, &tally, &error))
        fail_msg("%s: %s", error.where, error.message);
    check_tally(&tally, count);
}

static void problems_of_the_set_are_solved(void** state) {
    (void)state;
    const char* path = LASH_SOURCE_DIR "/tests/data/friction/drawn_1000.h5";
    enum { PART = 16 };
    int stride = getenv("LASH_LONG_TESTS") != NULL ? 1 : PART;
    Tally tally = {0};
    LashError error = {0};
    assert_true(app_problem_set_is(path));
    if (!app_problem_set_read(path, stride, solve_drawn, &tally, &error))
        fail_msg("%s: %s", error.where, error.message);
    check_tally(&tally, (1000 + stride - 1) / stride);
}

// --- A set gives back what it was given ----------------------------------------------------------

typedef struct Texts {
    char* text[32];
    size_t bytes[32];
    int step[32], count, read;
    AppProblemSet* set;
} Texts;

static bool add_text(void* context, const AppDrawn* drawn, LashError* error) { // AppDrawnEach
    (void)error;
    Texts* texts = context;
    assert_true(texts->count < 32);
    texts->text[texts->count] = lash_alloc(drawn->bytes + 1);
    memcpy(texts->text[texts->count], drawn->text, drawn->bytes);
    texts->bytes[texts->count] = drawn->bytes;
    texts->step[texts->count++] = drawn->step;
    app_problem_set_add(texts->set, drawn);
    return true;
}

static bool same_text(void* context, const AppDrawn* drawn, LashError* error) { // AppDrawnEach
    (void)error;
    Texts* texts = context;
    int k = texts->read++;
    assert_true(k < texts->count);
    assert_int_equal(drawn->step, texts->step[k]);
    assert_int_equal(drawn->bytes, texts->bytes[k]);
    assert_memory_equal(drawn->text, texts->text[k], drawn->bytes);
    return true;
}

static void a_set_gives_back_every_byte(void** state) {
    (void)state;
    char path[400];
    LashError error = {0};
    Texts texts = {.set = app_problem_set_begin()};
    scratch_file("set.h5", path, sizeof path);
    assert_true(app_problems_draw(18, add_text, &texts, &error));
    // Numbers that are written otherwise stay as they are written.
    static const char odd[] = "1.50 -0.0 +1e3 0x1p3 .5 1e400 nan 1.5\n\n -2.5 2.5\t2.5";
    AppDrawn drawn = {APP_SCALE_BALLS, 1, 2, odd, sizeof odd - 6};
    assert_true(add_text(&texts, &drawn, &error));
    assert_true(app_problem_set_end(texts.set, path, &error));
    assert_true(app_problem_set_read(path, 1, same_text, &texts, &error));
    assert_int_equal(texts.read, 19);
    for (int k = 0; k < texts.count; ++k) lash_free(texts.text[k]);
    assert_false(app_problem_set_is("/dev/null"));
}

// Written and read by the program, and refused where it is damaged.
static void the_program_keeps_a_set(void** state) {
    (void)state;
    char path[400], cut[400];
    scratch_file("kept.h5", path, sizeof path);
    scratch_file("cut.h5", cut, sizeof cut);
    Outcome o = LASH("bench", "solvers", "--drawn", "18", "--keep", path);
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    outcome_free(&o);
    o = LASH("bench", "solvers", path, "--no-peer");
    if (o.code != 0) fail_msg("exit code %d: %s", o.code, o.err);
    assert_non_null(strstr(o.out, "of 18 problems"));
    assert_non_null(strstr(o.out, "chain_play_8"));
    outcome_free(&o);
    o = LASH("bench", "solvers", "--drawn", "3", "--keep", "/dev/null/x.h5");
    assert_int_equal(o.code, 7);
    outcome_free(&o);
    FILE *whole = fopen(path, "r"), *part = fopen(cut, "w");
    char bytes[30000];
    assert_int_equal(fread(bytes, 1, sizeof bytes, whole), sizeof bytes);
    memset(bytes + 6000, 0x55, 20000); // inside of what is packed
    fwrite(bytes, 1, sizeof bytes, part);
    for (int c; (c = fgetc(whole)) != EOF;) fputc(c, part);
    fclose(whole);
    fclose(part);
    o = LASH("bench", "solvers", cut, "--no-peer");
    assert_int_equal(o.code, 3);
    outcome_free(&o);
}

// Drawn, kept as files and read again: the same problems.
static void problems_drawn_are_kept_as_files(void** state) {
    (void)state;
    char folder[400], file[500];
    scratch_file("kept", folder, sizeof folder);
    Outcome drawn = LASH("bench", "solvers", "--drawn", "18", "--keep", folder);
    if (drawn.code != 0) fail_msg("exit code %d: %s", drawn.code, drawn.err);
    assert_non_null(strstr(drawn.out, "of 18 problems"));
    assert_non_null(strstr(drawn.out, "chain_play_8"));
    outcome_free(&drawn);
    snprintf(file, sizeof file, "%s/chain_play_8_0020.dat", folder);
    Outcome read = LASH("bench", "solvers", file, "--no-peer", "--tolerance", "1e-12");
    if (read.code != 0) fail_msg("exit code %d: %s", read.code, read.err);
    outcome_free(&read);
    Outcome wrong = LASH("bench", "solvers", "--keep", folder);
    assert_int_equal(wrong.code, 2);
    outcome_free(&wrong);
    wrong = LASH("bench", "solvers", "--drawn", "3", "--keep", "/dev/null/x");
    assert_int_equal(wrong.code, 7);
    outcome_free(&wrong);
}

// lash run writes them, lash bench solvers reads them.
static void a_run_writes_its_friction_problems(void** state) {
    (void)state;
    char folder[400], file[500], result[400];
    scratch_file("dumped", folder, sizeof folder);
    scratch_file("dumped.h5", result, sizeof result);
    Outcome run = LASH("run", LASH_SOURCE_DIR "/models/scale/chain_play_8.json", "--duration",
                       "2e-4", "--dump-friction", folder, "-o", result);
    if (run.code != 0) fail_msg("exit code %d: %s", run.code, run.err);
    outcome_free(&run);
    snprintf(file, sizeof file, "%s/friction_0000010.dat", folder);
    Outcome bench = LASH("bench", "solvers", file, "--no-peer", "--tolerance", "1e-10");
    if (bench.code != 0) fail_msg("exit code %d: %s", bench.code, bench.err);
    outcome_free(&bench);
    Outcome wrong = LASH("run", LASH_SOURCE_DIR "/models/scale/chain_play_8.json", "--duration",
                         "2e-4", "--dump-friction", "/dev/null/x", "-o", result);
    assert_int_equal(wrong.code, 7);
    assert_non_null(strstr(wrong.err, "is no folder"));
    outcome_free(&wrong);
}

RUN(TEST(kept_problems_are_solved), TEST(problems_of_the_set_are_solved),
    TEST(problems_drawn_from_steps_are_solved), TEST(a_set_gives_back_every_byte),
    TEST(the_program_keeps_a_set), TEST(problems_drawn_are_kept_as_files),
    TEST(a_run_writes_its_friction_problems))

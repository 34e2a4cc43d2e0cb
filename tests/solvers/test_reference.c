// Third-party problem files (not part of the repository): residuals, known solutions. Skipped when
// the folder is absent; LASH_REFERENCE_DIR names it.
#include <dirent.h>
#include "test.h"

#include "app/bench/problem_file.h"

static bool folder(const char* name, char* path, size_t size) {
    const char* root = getenv("LASH_REFERENCE_DIR");
    snprintf(path, size, "%s/fc3d/%s", root != NULL ? root : LASH_SOURCE_DIR "/../shared/reference",
             name);
    DIR* d = opendir(path);
    if (d != NULL) closedir(d);
    return d != NULL;
}

typedef void Visit(const char* name, const AppProblem* p);

static int visit_folder(const char* name, Visit* visit) {
    char path[1024], file[1600];
    if (!folder(name, path, sizeof path)) skip();
    DIR* d = opendir(path);
    int count = 0;
    for (struct dirent* e = readdir(d); e != NULL; e = readdir(d)) {
        if (strstr(e->d_name, ".dat") == NULL) continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        LashError error = {0};
        AppProblem* p = app_problem_load(file, &error);
        if (p == NULL) fail_msg("%s: %s: %s", e->d_name, error.where, error.message);
        visit(e->d_name, p);
        app_problem_destroy(p);
        count++;
    }
    closedir(d);
    return count;
}

static LashFrictionInfo solve(const LashFrictionProblem* f, double tolerance, double* P,
                              double* U) {
    size_t size = (lash_friction_work_size(f->contacts, f->m) + 63) / 64 * 64;
    void* work = aligned_alloc(64, size);
    LashFrictionSettings s = lash_friction_settings();
    s.cold = true;
    s.tolerance = tolerance;
    s.measure = LASH_MEASURE_PLAIN;
    LashFrictionInfo info = lash_friction_solve(f, &s, P, U, work);
    free(work);
    return info;
}

static void check_friction(const char* name, const AppProblem* p) {
    const LashFrictionProblem* f = &p->friction;
    double *P = calloc((size_t)f->m, 8), *U = calloc((size_t)f->m, 8);
    // GMP6 has one answer, with impulses of 1e5: solved in rational numbers and rounded to doubles
    // it leaves 8.3e-11, so that the tolerance that `lash bench solvers` documents is the limit.
    bool rounded = strstr(name, "GMP6") != NULL;
    double limit = f->contacts <= 60 ? 1e-10 : 1e-8;
    if (p->layout == APP_LAYOUT_GENERIC && !rounded) limit = 1e-13;
    LashFrictionInfo info = solve(f, limit, P, U);
    double residual = lash_friction_residual(f, LASH_MEASURE_PLAIN, P, U);
    if (info.outcome != LASH_CONVERGED || !(residual <= limit))
        fail_msg("%s: residual %.2e above %.0e", name, residual, limit);
    for (int i = 0, row = 0; i < f->contacts; row += lash_contact_rows(f->kind[i]), ++i)
        if (f->kind[i] == LASH_CONTACT_BILATERAL)
            assert_true(fabs(U[row]) <= (rounded ? limit : 1e-12));
    free(P);
    free(U);
}

static void every_friction_file_is_solved(void** state) {
    (void)state;
    assert_true(visit_folder("fc3d", check_friction) > 0);
    assert_true(visit_folder("fc2d", check_friction) > 0);
}

static void every_mix_of_joints_and_friction_is_solved(void** state) {
    (void)state;
    assert_true(visit_folder("gmp", check_friction) > 0);
}

static void check_lcp(const char* name, const AppProblem* p) {
    int n = p->lcp.n;
    double *z = calloc((size_t)n, 8), *w = calloc((size_t)n, 8);
    void* work = malloc(lash_lcp_work_size(n));
    LashLcpSettings s = lash_lcp_settings();
    LashLcpInfo info = lash_lcp_solve(&p->lcp, &s, z, w, work);
    bool unsolvable = strstr(name, "Pang_isolated_sol_perturbed") != NULL;
    if ((info.outcome == LASH_CONVERGED) == unsolvable)
        fail_msg("%s: outcome %d, residual %.2e", name, (int)info.outcome, info.residual);
    if (!unsolvable) assert_true(lash_lcp_residual(&p->lcp, z, w) <= 1e-10);
    free(z);
    free(w);
    free(work);
}

static void every_solvable_lcp_is_solved_and_the_unsolvable_one_is_not(void** state) {
    (void)state;
    assert_true(visit_folder("lcp", check_lcp) > 0);
    assert_true(visit_folder("mlcp", check_lcp) > 0);
}

// Velocities must match always, impulses where W has full rank (known by the file's index).
static void small_problems_match_the_known_solutions(void** state) {
    (void)state;
    char path[1024], line[4096], name[256], last[256] = "";
    if (!folder("", path, sizeof path)) skip();
    strncat(path, "/SOLUTIONS.csv", sizeof path - strlen(path) - 1);
    FILE* file = fopen(path, "r");
    if (file == NULL) skip();
    AppProblem* p = NULL;
    double *P = calloc(64, 8), *U = calloc(64, 8);
    int compared = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        int contact;
        double residual;
        if (sscanf(line, "%255[^,],%d,%lf,", name, &contact, &residual) != 3) continue;
        if (strcmp(name, last) != 0) {
            char full[1400];
            app_problem_destroy(p);
            LashError error = {0};
            folder(name, full, sizeof full);
            p = app_problem_load(full, &error); // only a selection of the files is at hand
            if (p != NULL) solve(&p->friction, 1e-13, P, U);
            snprintf(last, sizeof last, "%s", name);
        }
        if (p == NULL) continue;
        int dim = p->friction.kind[0];
        char* text = line;
        for (int k = 0; k < 3; ++k) text = strchr(text, ',') + 1;
        bool full_rank = strstr(name, "SliderCrank") == NULL && p->friction.contacts != 5;
        for (int part = 0; part < 2; ++part) {
            for (int r = 0; r < dim; ++r) {
                double expected = strtod(text, &text);
                double got = (part == 0 ? P : U)[contact * dim + r];
                if (*text == ';' || *text == ',') ++text;
                if (part == 0 && !full_rank) continue;
                if (fabs(got - expected) > 1e-8 * (1 + fabs(expected)))
                    fail_msg("%s contact %d: got %.12g, expected %.12g", name, contact, got,
                             expected);
                compared++;
            }
        }
    }
    assert_true(compared > 50);
    app_problem_destroy(p);
    free(P);
    free(U);
    fclose(file);
}

RUN(TEST(every_friction_file_is_solved), TEST(every_mix_of_joints_and_friction_is_solved),
    TEST(every_solvable_lcp_is_solved_and_the_unsolvable_one_is_not),
    TEST(small_problems_match_the_known_solutions))

// A run and `lash check` see the same gaps: those of every accepted step agree with gaps evaluated
// from scratch, without any memory of the run, over all models of the repository.
#include <dirent.h>
#include "test.h"

#include "app/run/gap_audit.h"
#include "app/run/session.h"
#include "core/arena.h"
#include "core/math3.h"

static const double SAME = 1e-9; // [m]

// The largest difference over the contacts of one state [m]. Where the step did not look, nothing
// may touch.
static double difference(const AppSession* s, double* step, char* worst, size_t size) {
    const double *q, *v, *gap = lash_sim_gaps(s->sim);
    const LashInteractionList* list = lash_sim_interactions(s->sim);
    int count = lash_mechanism_contact_count(s->mech);
    double largest = 0;
    lash_sim_state(s->sim, &q, &v);
    for (int i = 0; i < count; ++i) step[i] = INFINITY;
    for (int i = list->bilateral; i < list->count; ++i) {
        int number = lash_mechanism_contact_of(s->mech, list->item[i].id);
        if (number >= 0) step[number] = fmin(step[number], gap[list->item[i].row]);
    }
    for (int i = 0; i < count; ++i) {
        if (step[i] > lash_mechanism_contact_seen(s->mech, lash_sim_work(s->sim), i, q))
            step[i] = INFINITY;
        double fresh = lash_mechanism_contact_place(s->mech, i, q).gap;
        double error = isinf(step[i]) ? fmax(0, -fresh) : fabs(step[i] - fresh);
        if (isinf(step[i]) && isinf(fresh)) error = 0;
        if (!(error <= largest)) {
            largest = error;
            snprintf(worst, size, "%s: %.12g in the step, %.12g from scratch",
                     lash_mechanism_contact_name(s->mech, i), step[i], fresh);
        }
    }
    return largest;
}

static void compare(const char* file, int steps) {
    LashError error = {0};
    AppSession s = {0};
    AppSessionOptions options = {.step = NAN, .duration = NAN};
    char worst[300] = "";
    if (!app_session_open(&s, file, &options, &error)) fail_msg("%s: %s", file, error.message);
    double* step = lash_alloc(((size_t)lash_mechanism_contact_count(s.mech) + 1) * sizeof *step);
    for (int i = 0; i < steps; ++i) {
        LashStepInfo info = lash_sim_step(s.sim);
        if (info.outcome != LASH_CONVERGED) fail_msg("%s: step %d fails", file, i + 1);
        double d = difference(&s, step, worst, sizeof worst);
        if (!(d <= SAME)) fail_msg("%s: step %d: %s", file, i + 1, worst);
    }
    lash_free(step);
    app_session_close(&s);
}

static bool is_model(const char* path) { // not a drawing for lash-make-step
    char text[400] = "";
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return n > 0 && strstr(text, "lash-model/1") != NULL;
}

static void every_model_of_the_repository_has_the_gaps_of_a_fresh_start(void** state) {
    (void)state;
    char folder[600], file[1200];
    int models = 0;
    snprintf(folder, sizeof folder, "%s/models", LASH_SOURCE_DIR);
    DIR* root = opendir(folder);
    assert_non_null(root);
    for (struct dirent* e; (e = readdir(root)) != NULL;) {
        snprintf(folder, sizeof folder, "%s/models/%.200s", LASH_SOURCE_DIR, e->d_name);
        DIR* dir = e->d_name[0] == '.' ? NULL : opendir(folder);
        for (struct dirent* m; dir != NULL && (m = readdir(dir)) != NULL;) {
            const char* end = strrchr(m->d_name, '.');
            if (end == NULL || strcmp(end, ".json") != 0 || strstr(m->d_name, ".study.") != NULL)
                continue;
            snprintf(file, sizeof file, "%.590s/%s", folder, m->d_name);
            if (!is_model(file)) continue;
            compare(file, 150);
            ++models;
        }
        if (dir != NULL) closedir(dir);
    }
    closedir(root);
    assert_true(models > 30);
}

// The latch lets go after some hundred steps, over the edges of its faces.
static void a_breaker_that_trips_has_the_gaps_of_a_fresh_start(void** state) {
    (void)state;
    char file[600];
    snprintf(file, sizeof file, "%s/models/circuit_breaker/breaker.json", LASH_SOURCE_DIR);
    compare(file, 1200);
}

static void an_overlap_that_the_step_did_not_see_is_named(void** state) {
    (void)state;
    char file[600], text[600];
    LashError error = {0};
    AppSession s = {0};
    AppSessionOptions options = {.step = NAN, .duration = NAN};
    snprintf(file, sizeof file, "%s/models/shaft_in_tube/shaft_in_tube.json", LASH_SOURCE_DIR);
    assert_true(app_session_open(&s, file, &options, &error));
    const double *q, *v;
    lash_sim_state(s.sim, &q, &v);
    AppContactLog log = app_contact_log_create(s.model, s.mech, q);
    AppGapAudit audit = app_gap_audit_create(s.mech, 10);
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(lash_sim_step(s.sim).outcome, LASH_CONVERGED);
        assert_true(app_contact_log_step(&log, s.mech, s.sim, 5e-5, NULL, &error));
        app_gap_audit_frame(&audit, s.sim, &log, false);
    }
    assert_false(app_gap_audit_text(&audit, text, sizeof text));
    assert_int_equal(audit.frames, 10);
    log.contact[0].gap = -5e-4; // as if the step had followed another branch of the surfaces
    app_gap_audit_frame(&audit, s.sim, &log, false);
    assert_true(app_gap_audit_text(&audit, text, sizeof text));
    assert_non_null(strstr(text, "contact 'bearing' has no certain gap: at t = 0.0005 s"));
    assert_int_equal(audit.differing, 1);
    app_gap_audit_free(&audit);
    app_contact_log_free(&log);
    app_session_close(&s);
}

RUN(TEST(every_model_of_the_repository_has_the_gaps_of_a_fresh_start),
    TEST(a_breaker_that_trips_has_the_gaps_of_a_fresh_start),
    TEST(an_overlap_that_the_step_did_not_see_is_named))

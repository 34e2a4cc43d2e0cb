// What the samples of a study share: a model varied from another gives the same mechanism as one
// read anew, and geometry is read once for all of them, on all threads.
#include <pthread.h>
#include "test.h"

#include "app/model/model.h"
#include "app/run/start.h"
#include "core/error.h"

#define BREAKER LASH_SOURCE_DIR "/models/circuit_breaker/breaker.json"
#define CRANK LASH_SOURCE_DIR "/models/slider_crank/planar_play.json"

static LashModel* load(const char* file, const char* const* sets, int count) {
    LashError error = {0};
    LashModel* model = lash_model_load(file, sets, count, &error);
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    return model;
}

// A model in text, as if it stood in the folder of the breaker.
static LashModel* parse(const char* text) {
    LashError error = {0};
    LashModel* model = lash_model_parse(BREAKER, text, strlen(text), NULL, 0, &error);
    if (model == NULL) fail_msg("%s: %s", error.where, error.message);
    return model;
}

static LashModel* vary(const LashModel* model, const char* set) {
    LashError error = {0};
    LashModel* other = lash_model_vary(model, &set, 1, &error);
    if (other == NULL) fail_msg("%s: %s", error.where, error.message);
    return other;
}

static LashMechanism* build(const LashModel* model) {
    LashError error = {0};
    LashMechanism* mech = lash_model_build(model, &error);
    if (mech == NULL) fail_msg("%s: %s", error.where, error.message);
    lash_mechanism_system(mech); // completes it
    return mech;
}

// State after `steps` steps: (nq + nv) numbers.
static double* simulate(const LashModel* model, int steps, size_t* count) {
    LashMechanism* mech = build(model);
    const LashSystem* system = lash_mechanism_system(mech);
    LashSim* sim = lash_sim_create(system, &model->simulation.settings);
    LashError error = {0};
    double moved;
    assert_true(app_start_prepare(model, mech, system, sim, &moved, &error));
    for (int i = 0; i < steps; ++i) assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    *count = (size_t)(system->nq + system->nv);
    double* state = test_malloc(*count * sizeof *state);
    memcpy(state, q, (size_t)system->nq * sizeof *state);
    memcpy(state + system->nq, v, (size_t)system->nv * sizeof *state);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    return state;
}

static void a_varied_model_runs_as_one_read_anew(void** state) {
    (void)state;
    const char* const sets[] = {"crank_rod_play=3.25e-05"};
    LashModel* first = load(CRANK, NULL, 0);
    LashModel* varied = vary(first, sets[0]);
    LashModel* anew = load(CRANK, sets, 1);
    size_t n, m;
    double *a = simulate(varied, 200, &n), *b = simulate(anew, 200, &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n * sizeof *a);
    double* nominal = simulate(first, 200, &m);
    assert_memory_not_equal(a, nominal, n * sizeof *a);
    test_free(a);
    test_free(b);
    test_free(nominal);
    lash_model_destroy(varied);
    lash_model_destroy(anew);
    lash_model_destroy(first);
}

static void a_varied_model_borrows_cad_and_pairs(void** state) {
    (void)state;
    LashError error = {0};
    LashModel* first = load(BREAKER, NULL, 0);
    assert_true(lash_model_share(first, &error));
    LashModel* varied = vary(first, "hook_play=0.03");
    assert_int_equal(varied->cads, 0);
    assert_ptr_equal(varied->text, first->text);
    for (int i = 0; i < first->parts; ++i)
        assert_ptr_equal(varied->part[i].cad, first->part[i].cad);
    LashMechanism *a = build(first), *b = build(varied);
    int pairs = 0;
    assert_int_equal(lash_mechanism_contact_count(a), lash_mechanism_contact_count(b));
    for (int i = 0; i < lash_mechanism_contact_count(a); ++i) {
        assert_ptr_equal(lash_mechanism_contact_pair(a, i), lash_mechanism_contact_pair(b, i));
        pairs += lash_mechanism_contact_pair(a, i) != NULL;
    }
    assert_int_equal(pairs, 12);
    lash_mechanism_destroy(a);
    lash_mechanism_destroy(b);
    lash_model_destroy(varied);
    lash_model_destroy(first);
}

static const char extra_text[] =
    "{\"format\": \"lash-model/1\", \"units\": {\"length\": \"mm\", \"mass\": \"g\", \"time\": "
    "\"ms\", \"angle\": \"rad\", \"force\": \"N\"}, \"parameters\": {\"more\": 0, \"size\": 1},\n"
    " \"parts\": [{\"name\": \"case\", \"step\": \"parts/case.step\", \"fixed\": true},\n"
    "  {\"name\": \"ball\", \"mass\": 1, \"inertia\": [1, 1, 1], \"scale\": \"size\", \"pose\": "
    "{\"position\": [0, 100, 0]}}],\n"
    " \"contacts\": [{\"name\": \"c\", \"a\": {\"part\": \"case\", \"step\": \"parts/case.step\"}, "
    "\"b\": {\"part\": \"ball\", \"step\": \"parts/carrier.step\", \"faces\": [\"ball\"]}, "
    "\"offset\": \"more\"}]}";

static void extra_files_of_contacts_are_read_once(void** state) {
    (void)state;
    LashError error = {0};
    LashModel* first = parse(extra_text);
    assert_true(lash_model_share(first, &error));
    assert_int_equal(first->cads, 2); // the case serves the part and the contact
    assert_ptr_equal(first->contact[0].a.extra, first->part[0].cad);
    LashModel* other = vary(first, "more=0.01");
    assert_int_equal(other->cads, 0);
    assert_ptr_equal(other->contact[0].b.extra, first->contact[0].b.extra);
    LashMechanism *a = build(first), *b = build(other);
    // another offset is another pair
    assert_ptr_equal(lash_mechanism_contact_pair(a, 0), first->contact_point[0].pair);
    assert_ptr_not_equal(lash_mechanism_contact_pair(b, 0), first->contact_point[0].pair);
    lash_mechanism_destroy(a);
    lash_mechanism_destroy(b);
    LashModel* scaled = vary(first, "size=2"); // another scale is another shape
    assert_int_equal(scaled->cads, 1);
    assert_ptr_not_equal(scaled->contact[0].b.extra, first->contact[0].b.extra);
    lash_model_destroy(scaled);
    lash_model_destroy(other);
    lash_model_destroy(first);
}

static void errors_of_a_varied_model_tell_the_place(void** state) {
    (void)state;
    LashModel* first = load(CRANK, NULL, 0);
    const char* const sets[] = {"restitution=2"};
    LashError error = {0};
    assert_null(lash_model_vary(first, sets, 1, &error));
    assert_int_equal(error.status, LASH_ERROR_MODEL);
    assert_non_null(strstr(error.where, "line 26, column 98"));
    assert_non_null(strstr(error.where, "contacts[0].restitution"));
    lash_model_destroy(first);
}

static void* vary_often(void* argument) {
    const LashModel* first = argument;
    for (int i = 0; i < 20; ++i) {
        LashError error = {0};
        char set[64];
        snprintf(set, sizeof set, "plate_play=%.17g", 0.01 + 0.001 * i);
        const char* sets[] = {set};
        LashModel* model = lash_model_vary(first, sets, 1, &error);
        LashMechanism* mech = model != NULL ? lash_model_build(model, &error) : NULL;
        bool good = mech != NULL;
        lash_mechanism_destroy(mech);
        lash_model_destroy(model);
        if (!good) return argument;
    }
    return NULL;
}

static void many_threads_vary_one_model(void** state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    LashError error = {0};
    LashModel* first = load(BREAKER, NULL, 0);
    assert_true(lash_model_share(first, &error));
    for (int i = 0; i < THREADS; ++i) pthread_create(&thread[i], NULL, vary_often, first);
    for (int i = 0; i < THREADS; ++i) {
        void* failed = first;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    LashMechanism* mech = build(first); // the pairs are still there
    lash_mechanism_destroy(mech);
    lash_model_destroy(first);
}

RUN(TEST(a_varied_model_runs_as_one_read_anew), TEST(a_varied_model_borrows_cad_and_pairs),
    TEST(extra_files_of_contacts_are_read_once), TEST(errors_of_a_varied_model_tell_the_place),
    TEST(many_threads_vary_one_model))

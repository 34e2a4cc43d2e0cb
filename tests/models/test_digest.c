// Results of ten models against those of the version before (tests/data/digests.txt), so that drift
// between versions shows. The same compiler and processor give the same bits; another mathematical
// library may differ in the last one, so numbers count as equal to 1e-9 of the largest of their kind.
//
// Where results must change, say why in the commit and renew the file:
//     LASH_RENEW_DIGESTS=1 build/check/tests/test_models_digest
#include "app/run/drive.h"
#include "test.h"

typedef struct Case {
    const char* model;
    double duration; // [s]
    const char* scheme;
} Case;
static const Case cases[] = {
    {"slider_crank/all_play", 0.004, NULL},
    {"slider_crank/driven_play", 0.004, NULL},
    {"four_bar/four_bar", 0.02, NULL},
    {"geneva/geneva", 0.02, NULL},
    {"cam_follower/cam_follower", 0.005, NULL},
    {"benchmarks/a03_andrews", 0.005, NULL},
    {"joints/gear_train", 0.05, NULL},
    {"papers/rocking_block", 1, NULL},
    {"papers/slider_crank_play", 0.02, "direct"},
    {"papers/bouncing_ball", 1, "moreau-jean"},
};
enum { CASES = sizeof cases / sizeof *cases, NUMBERS = 9 };
static const char* const number_names[NUMBERS] = {"steps",     "impacts",    "kinetic",
                                                  "potential", "dissipated", "q.sum",
                                                  "q.square",  "v.sum",      "v.square"};

typedef struct Digest {
    double number[NUMBERS];
    double scale[NUMBERS]; // what 1e-9 is taken of
} Digest;

static bool nothing(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    (void)context;
    (void)drive;
    (void)error;
    return true;
}

static Digest digest(const Case* c) {
    char path[400];
    LashError error = {0};
    AppSession session = {0};
    snprintf(path, sizeof path, "%s/models/%s.json", LASH_SOURCE_DIR, c->model);
    AppSessionOptions options = {.scheme = c->scheme, .step = NAN, .duration = c->duration};
    if (!app_session_open(&session, path, &options, &error))
        fail_msg("%s: %s: %s", c->model, error.where, error.message);
    AppDrive drive = app_drive_create(&session);
    if (app_drive_run(&drive, nothing, NULL, &error) != APP_DRIVE_DONE)
        fail_msg("%s: %s", c->model, error.message);
    LashEnergy e = lash_sim_energy(session.sim);
    const double *q, *v;
    lash_sim_state(session.sim, &q, &v);
    double sum[4] = {0}, size[4] = {0};
    for (int i = 0; i < session.system->nq; ++i) {
        sum[0] += q[i];
        size[0] += fabs(q[i]);
        sum[1] += q[i] * q[i];
    }
    for (int i = 0; i < session.system->nv; ++i) {
        sum[2] += v[i];
        size[2] += fabs(v[i]);
        sum[3] += v[i] * v[i];
    }
    double lost = -(e.damping_work + e.contact_work_n + e.contact_work_t);
    double energy = fabs(e.start) + e.kinetic + fabs(e.potential) + fabs(lost);
    Digest d = {{(double)drive.counters.steps, (double)drive.counters.impacts, e.kinetic,
                 e.potential, lost, sum[0], sum[1], sum[2], sum[3]},
                {0, 0, energy, energy, energy, size[0], sum[1], size[2], sum[3]}};
    app_drive_free(&drive);
    app_session_close(&session);
    return d;
}

static void file_path(char* path, size_t size) {
    snprintf(path, size, "%s/tests/data/digests.txt", LASH_SOURCE_DIR);
}

static void renew(void) {
    char path[400];
    file_path(path, sizeof path);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < CASES; ++i) {
        Digest d = digest(&cases[i]);
        fprintf(file, "%s", cases[i].model);
        for (int k = 0; k < NUMBERS; ++k) fprintf(file, " %.17g", d.number[k]);
        fputc('\n', file);
    }
    fclose(file);
}

static void results_are_those_of_the_version_before(void** state) {
    (void)state;
    if (getenv("LASH_RENEW_DIGESTS") != NULL) renew();
    char path[400], model[100];
    file_path(path, sizeof path);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    int drifted = 0, bits = 0;
    for (int i = 0; i < CASES; ++i) {
        assert_int_equal(fscanf(file, "%99s", model), 1);
        assert_string_equal(model, cases[i].model);
        Digest d = digest(&cases[i]);
        for (int k = 0; k < NUMBERS; ++k) {
            double before;
            assert_int_equal(fscanf(file, "%lf", &before), 1);
            bits += d.number[k] != before;
            if (fabs(d.number[k] - before) <= 1e-9 * d.scale[k]) continue;
            print_error("%s: %s is %.17g, was %.17g\n", model, number_names[k], d.number[k],
                        before);
            ++drifted;
        }
    }
    fclose(file);
    print_message("%d numbers differ in a bit\n", bits);
    assert_int_equal(drifted, 0);
}

RUN(TEST(results_are_those_of_the_version_before))

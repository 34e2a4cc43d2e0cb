// The models under models/ against reference values of closed forms and 20-digit integrations:
// second order, constraints at every step, energy. Reference numbers: Jacobi elliptic functions
// (A01, pendulum, free bodies), quadrature of the one-degree-of-freedom motion (A02), extrapolation
// with 22 digits (A03, tops, slider-crank), the loop of A04 in its one free coordinate, two
// integrators that agree to 1e-12 (A05).
#include "test.h"

#include "app/run/drive.h"
#include "core/arena.h"

typedef struct Reference {
    const char* model;              // under models/
    double step, duration, allowed; // [s], [s], error at that step [SI]
    struct {
        const char* output;
        double value;
    } final[8];
} Reference;

static const Reference references[] = {
    {"benchmarks/a01_pendulum.json",
     1e-3,
     10,
     5e-5,
     {{"x", -0.27508746257611686005}, {"y", -0.96141920509912506427}}},
    {"benchmarks/a02_n1.json",
     1e-3,
     1,
     5e-5,
     {{"xB0", -0.26071267518365035635},
      {"yB0", -0.96541643915907316791},
      {"vxB0", -6.6378094961217514392},
      {"vyB0", 1.7925539703889305577}}},
    {"benchmarks/a02_n2.json",
     1e-3,
     1,
     5e-5,
     {{"xB0", -0.19502030194943509364},
      {"yB0", -0.98079920566217383260},
      {"vxB0", -6.6766780368811580662},
      {"vyB0", 1.3275783251604872139}}},
    {"benchmarks/a03_andrews.json",
     1e-5,
     0.03,
     1e-5,
     {{"beta", 15.81077119515371},
      {"Theta", -15.75637105841184},
      {"gamma", 0.0408222401196458},
      {"Phi", -0.5347301163420796},
      {"delta", 0.5244099658799541},
      {"Omega", 0.5347301163420796},
      {"epsilon", 1.048080741041938}}},
    {"benchmarks/a04_bricard.json",
     1e-3,
     10,
     1e-5,
     {{"x3", 0.99973098754}, {"y3", -0.99999996383}, {"z3", -0.00026897627}}},
    {"benchmarks/a05_governor.json", 1e-3, 10, 5e-5, {{"s", 0.619622917061}}},
    {"benchmarks/euler_top.json",
     1e-3,
     10,
     1e-6,
     {{"w1", 0.47191395280615415309},
      {"w2", 1.0135567182683319922},
      {"w3", 0.61717171539562339464}}},
    {"benchmarks/heavy_top_steady.json",
     1e-4,
     2,
     1e-5,
     {{"x", -0.16081369179744433860}, {"y", 0.064334722588012948162}, {"z", 0.1}}},
    {"benchmarks/heavy_top_cusp.json",
     1e-4,
     2,
     1e-5,
     {{"x", -0.043330670002331282771},
      {"y", 0.099703033894636765523},
      {"z", 0.16787423289282360917}}},
    {"benchmarks/pendulum_120.json",
     1e-3,
     2,
     1e-5,
     {{"theta", -0.35321986962753349325},
      {"theta_dot", 5.3121309238396853587},
      {"x", -0.34592068239076587385},
      {"y", -0.93826375902211361106}}},
    {"slider_crank/ideal.json",
     1e-5,
     0.1,
     6e-4,
     {{"slider_x", 0.15612473949874373346},
      {"crank_angle", 9.1401524169416283117},
      {"crank_speed", 144.40633208906299969}}},
};

// A02 over 10 s, more than twenty flat positions: errors of either sign cancel, so only their size
// is judged.
static const Reference long_runs[] = {
    {"benchmarks/a02_n1.json",
     2.5e-4,
     10,
     1e-5,
     {{"xB0", 0.47838505776097055901},
      {"yB0", 0.87815017879120930116},
      {"vxB0", 1.7272640755471536358},
      {"vyB0", -0.94095217937151564419}}},
    {"benchmarks/a02_n2.json",
     2.5e-4,
     10,
     1e-5,
     {{"xB0", 0.32845811154081537865},
      {"yB0", 0.94451853817860096216},
      {"vxB0", 1.4230514702069441233},
      {"vyB0", -0.49486884548704295899}}},
};

typedef struct Result {
    double error;     // norm over the outputs
    double violation; // largest joint error, positions and velocities
    double energy;    // largest |balance error| of all steps [J]
} Result;

static double difference(const Reference* r, AppDrive* drive) {
    const LashModel* model = drive->session->model;
    double sum = 0;
    app_drive_measure(drive);
    for (int k = 0; k < 8 && r->final[k].output != NULL; ++k) {
        int i = 0;
        while (i < model->outputs && strcmp(model->output[i].name, r->final[k].output) != 0) ++i;
        assert_true(i < model->outputs);
        double d = app_drive_value(drive, &model->output[i]) - r->final[k].value;
        sum += d * d;
    }
    return sqrt(sum);
}

static double balance(LashSim* sim) {
    LashEnergy e = lash_sim_energy(sim);
    return e.kinetic + e.potential - e.start - e.external_work - e.damping_work;
}

static bool watch_balance(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    (void)error;
    double* energy = context;
    if (drive->counters.steps > 0) *energy = fmax(*energy, fabs(balance(drive->session->sim)));
    return true;
}

static Result simulate_by(const char* scheme, const Reference* r, double h) {
    char path[400];
    LashError error = {0};
    AppSession session = {0};
    double energy = 0;
    snprintf(path, sizeof path, "%s/models/%s", LASH_SOURCE_DIR, r->model);
    AppSessionOptions options = {.scheme = scheme, .step = h, .duration = r->duration};
    if (!app_session_open(&session, path, &options, &error))
        fail_msg("%s: %s: %s", r->model, error.where, error.message);
    AppDrive drive = app_drive_create(&session);
    if (app_drive_run(&drive, watch_balance, &energy, &error) != APP_DRIVE_DONE)
        fail_msg("%s: a step of %g s failed: %s", r->model, h, error.message);
    Result result = {.error = difference(r, &drive),
                     .violation = fmax(drive.counters.position, drive.counters.velocity),
                     .energy = energy};
    app_drive_free(&drive);
    app_session_close(&session);
    return result;
}

static Result simulate(const Reference* r, double h) {
    return simulate_by(NULL, r, h);
}

static void models_converge_with_second_order_to_their_references(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof *references; ++i) {
        const Reference* r = &references[i];
        Result coarse = simulate(r, r->step), fine = simulate(r, r->step / 2);
        double slope = log2(coarse.error / fine.error);
        print_message("%-34s h %.0e: error %.2e, slope %.3f, violation %.1e, energy %.1e J\n",
                      r->model, r->step, coarse.error, slope,
                      fmax(coarse.violation, fine.violation), coarse.energy);
        if (!(coarse.error <= r->allowed)) {
            fail_msg("%s: error %g, allowed %g", r->model, coarse.error, r->allowed);
        }
        if (!(slope > 1.9 && slope < 2.1)) fail_msg("%s: slope %g", r->model, slope);
        assert_true(fmax(coarse.violation, fine.violation) <= 1e-10);
    }
}

// Pendulum, heavy top and slider-crank, rigid bodies in maximal coordinates, by every scheme of second order.
static void other_schemes_are_of_second_order_too(void** state) {
    (void)state;
    static const char* const scheme[] = {"moreau-jean", "newmark",     "hht", "generalized-alpha",
                                         "ggl",         "trapezoidal", NULL};
    static const char* const model[] = {"benchmarks/pendulum_120.json",
                                        "benchmarks/heavy_top_cusp.json", "slider_crank/ideal.json",
                                        NULL};
    for (int m = 0; model[m] != NULL; ++m) {
        size_t i = 0;
        while (strcmp(references[i].model, model[m]) != 0) ++i;
        for (int s = 0; scheme[s] != NULL; ++s) {
            double h = 2 * references[i].step;
            double coarse = simulate_by(scheme[s], &references[i], h).error;
            double slope = log2(coarse / simulate_by(scheme[s], &references[i], h / 2).error);
            print_message("%-34s %-18s error %.2e, slope %.3f\n", model[m], scheme[s], coarse,
                          slope);
            if (!(slope > 1.85 && slope < 2.15))
                fail_msg("%s by %s: slope %g", model[m], scheme[s], slope);
        }
    }
}

static void four_bars_keep_their_energy_through_the_singular_positions(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        Result result = simulate(&long_runs[i], long_runs[i].step);
        assert_true(result.energy <= 1e-4); // IFToMM criterion
        assert_true(result.error <= long_runs[i].allowed);
    }
}

static void a_free_body_keeps_its_energy_to_rounding(void** state) {
    (void)state;
    size_t i = 0;
    while (strcmp(references[i].model, "benchmarks/euler_top.json") != 0) ++i;
    Result result = simulate(&references[i], 1e-3);
    assert_true(result.energy <= 1e-13 * 1.71);
}

static void redundant_loop_keeps_its_energy(void** state) {
    (void)state;
    size_t i = 0;
    while (strcmp(references[i].model, "benchmarks/a04_bricard.json") != 0) ++i;
    Result result = simulate(&references[i], 1e-3);
    assert_true(result.energy <= 1e-6 * 29.43); // IFToMM criterion
}

// A study measures of the joints only what the outputs read.
static bool compare_measures(void* context, AppDrive* drive, LashError* error) { // AppDriveEach
    (void)error;
    double* value = context;
    const LashModel* model = drive->session->model;
    for (int i = 0; i < drive->layout.total; ++i) drive->frame[i] = NAN; // nothing from before
    app_drive_measure_for_outputs(drive);
    for (int i = 0; i < model->outputs; ++i) value[i] = app_drive_value(drive, &model->output[i]);
    app_drive_measure(drive);
    for (int i = 0; i < model->outputs; ++i) {
        double whole = app_drive_value(drive, &model->output[i]);
        if (memcmp(&whole, &value[i], sizeof whole) != 0)
            fail_msg("%s: %.17g, in the whole frame %.17g", model->output[i].name, value[i], whole);
    }
    return true;
}

static void outputs_are_the_same_whether_all_joints_are_measured_or_not(void** state) {
    (void)state;
    static const char* const model[] = {"first/slider_crank.json", "joints/gear_train.json",
                                        "slider_crank/driven_position.json",
                                        "slider_crank/all_play.json"};
    for (int m = 0; m < 4; ++m) {
        char path[400];
        LashError error = {0};
        AppSession session = {0};
        snprintf(path, sizeof path, "%s/models/%s", LASH_SOURCE_DIR, model[m]);
        AppSessionOptions options = {.step = 1e-5, .duration = 1e-3};
        if (!app_session_open(&session, path, &options, &error))
            fail_msg("%s: %s: %s", model[m], error.where, error.message);
        AppDrive drive = app_drive_create(&session);
        double value[64] = {0};
        assert_in_range(session.model->outputs, 1, 64);
        assert_int_equal(app_drive_run(&drive, compare_measures, value, &error), APP_DRIVE_DONE);
        app_drive_free(&drive);
        app_session_close(&session);
    }
}

RUN(TEST(models_converge_with_second_order_to_their_references),
    TEST(other_schemes_are_of_second_order_too),
    TEST(four_bars_keep_their_energy_through_the_singular_positions),
    TEST(redundant_loop_keeps_its_energy), TEST(a_free_body_keeps_its_energy_to_rounding),
    TEST(outputs_are_the_same_whether_all_joints_are_measured_or_not))

// Fremond's law: public trajectory, rigid bodies, Algorithm 2, what it refuses.
#include "test.h"

#include "app/model/model.h"
#include "app/verify/paper_systems.h"
#include "core/arena.h"
#include "solvers/sim.h"

static LashSettings fremond_settings(double h) {
    LashSettings set = lash_settings();
    set.law = LASH_FREMOND;
    set.h = h;
    return set;
}

// The public run takes H elsewhere: 3e-4 is what a converged run with H at q_k differs by.
static void stick_follows_the_public_trajectory(void** state) {
    (void)state;
    const char* folder = getenv("LASH_REFERENCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/siconos_refs/ImpactingStick-FremondNSL.ref",
             folder != NULL ? folder : LASH_SOURCE_DIR "/../shared/reference");
    FILE* file = fopen(path, "r");
    if (file == NULL) skip();
    int rows, columns;
    assert_int_equal(fscanf(file, "%d %d", &rows, &columns), 2);
    LashLagrangian* stick = lash_paper_impacting_stick(NULL);
    LashSettings set = fremond_settings(1e-4);
    set.scheme = LASH_MOREAU_JEAN;
    set.direction = LASH_AT_START;
    set.forecast = LASH_FORECAST_EXPLICIT;
    set.gamma = 1;
    LashSim* sim = lash_sim_create(lash_lagrangian_system(stick), &set);
    double worst = 0;
    for (int k = 0; k < rows; ++k) {
        const double *q, *v;
        double value;
        if (k > 0) assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
        lash_sim_state(sim, &q, &v);
        for (int i = 0; i < columns; ++i) {
            assert_int_equal(fscanf(file, "%lf", &value), 1);
            if (i >= 1 && i <= 3) worst = fmax(worst, fabs(value - q[i - 1]));
            if (i >= 4 && i <= 6 && k % 100 == 0) worst = fmax(worst, fabs(value - v[i - 4]));
        }
    }
    fclose(file);
    if (!(worst <= 4e-4)) print_error("largest difference %g\n", worst);
    assert_true(worst <= 4e-4);
    lash_sim_destroy(sim);
    lash_lagrangian_destroy(stick);
}

// The rigid body of the model file against the three coordinates of the paper.
static void rigid_bodies_obey_it_too(void** state) {
    (void)state;
    LashError error = {0};
    LashModel* model =
        lash_model_load(LASH_SOURCE_DIR "/models/papers/impacting_stick.json", NULL, 0, &error);
    if (model == NULL) print_error("%s\n", error.message);
    assert_non_null(model);
    LashMechanism* mech = lash_model_build(model, &error);
    assert_non_null(mech);
    double friction[2];
    for (int law = 0; law < 2; ++law) {
        LashSettings set = fremond_settings(1e-4);
        set.law = (LashLaw)law;
        LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &set);
        double largest = -INFINITY, before = 0;
        friction[law] = NAN;
        for (int k = 0; k < 1000; ++k) { // up to the first impact and beyond it
            assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
            double work = lash_sim_energy(sim).contact_work_t;
            if (work != 0 && isnan(friction[law])) friction[law] = work;
            largest = fmax(largest, work - before);
            before = work;
        }
        if (law == LASH_FREMOND) assert_true(largest <= 1e-14);
        lash_sim_destroy(sim);
    }
    assert_true(fabs(friction[0] - 7.0756e-4) < 2e-5);
    assert_true(fabs(friction[1] + 6.7744e-4) < 2e-5);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
}

// Slider-crank with play, combined scheme: exact positions, and no step whose contacts that were
// closing do positive work. What contacts do that were opening is counted.
static void algorithm_2_dissipates_where_the_proof_holds(void** state) {
    (void)state;
    static const LashDirection direction[2] = {LASH_AT_MIDPOINT, LASH_AT_END};
    for (int i = 0; i < 2; ++i) {
        LashLagrangian* crank = lash_paper_slider_crank(NULL);
        LashSettings set = fremond_settings(1e-5);
        set.direction = direction[i];
        LashSim* sim = lash_sim_create(lash_lagrangian_system(crank), &set);
        double before = 0, largest = -INFINITY;
        long pushing = 0, opening = 0;
        for (int k = 0; k < 3000; ++k) {
            LashStepInfo info = lash_sim_step(sim);
            assert_int_equal(info.outcome, LASH_CONVERGED);
            assert_true(info.penetration <= 1e-10);
            LashEnergy e = lash_sim_energy(sim);
            double work = e.contact_work_n + e.contact_work_t - e.opening_work;
            largest = fmax(largest, work - before);
            before = work;
            pushing += info.contacts;
            opening += info.opening;
        }
        if (!(largest <= 1e-12)) print_error("work %g J\n", largest);
        assert_true(largest <= 1e-12);
        if (pushing <= 50) print_error("%ld pushing, %ld opening\n", pushing, opening);
        assert_true(pushing > 50);
        assert_true(opening < pushing);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(crank);
    }
}

static void schatzman_paoli_refuses_it(void** state) {
    (void)state;
    LashSettings set = fremond_settings(1e-4);
    set.scheme = LASH_SCHATZMAN_PAOLI;
    LashError error = {0};
    assert_false(lash_settings_check(&set, &error));
    assert_string_equal(error.where, "simulation.law");
}

RUN(TEST(stick_follows_the_public_trajectory), TEST(rigid_bodies_obey_it_too),
    TEST(algorithm_2_dissipates_where_the_proof_holds), TEST(schatzman_paoli_refuses_it))

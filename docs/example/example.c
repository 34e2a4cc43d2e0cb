/* How far does this mechanism get, and what does it cost its joints? Loads a model, runs it, and
 * prints once per tenth of the run the coordinate of the first joint and the largest joint force so
 * far.
 *
 *     example MODEL.json [parameter=value]...
 *
 * Valid C17 and C++17. Build it with
 *     cc example.c -o example $(pkg-config --cflags --libs lash)
 * or with the CMakeLists.txt beside it.
 */
#define LASH_MATH /* vec3_norm */
#include <lash.h>
#include <stdio.h>

static int fail(const LashError* error) {
    fprintf(stderr, "%s: %s: %s\n", error->file, error->where, error->message);
    return (int)error->status; /* the exit codes of the lash program */
}

/* Largest force in any joint over the last step [N]. */
static double joint_force(LashMechanism* mech, LashSim* sim, double h) {
    const LashSystemWork* work = lash_sim_work(sim);
    const double *q, *v, *P = lash_sim_impulses(sim);
    double largest = 0;
    lash_sim_state(sim, &q, &v);
    for (int j = 0; j < lash_mechanism_joint_count(mech); ++j) {
        double force = vec3_norm(lash_mechanism_reaction(mech, work, j, q, P, h).force);
        if (force > largest) largest = force;
    }
    return largest;
}

static int simulate(LashModel* model, LashMechanism* mech, LashSim* sim) {
    double h = model->simulation.settings.h, largest = 0;
    long steps = (long)(model->simulation.duration / h + 0.5);
    printf("%10s %16s %16s\n", "t [s]", "first joint", "peak force [N]");
    for (long i = 1; i <= steps; ++i) {
        LashStepInfo info = lash_sim_step(sim);
        if (info.outcome != LASH_CONVERGED) {
            fprintf(stderr, "the step at %g s did not reach the tolerances\n", lash_sim_time(sim));
            return LASH_ERROR_NUMERICS;
        }
        double force = joint_force(mech, sim, h);
        if (force > largest) largest = force;
        if (i % (steps / 10 > 0 ? steps / 10 : 1) != 0) continue;
        const double *q, *v;
        lash_sim_state(sim, &q, &v);
        printf("%10.4g %16.9g %16.6g\n", lash_sim_time(sim),
               lash_mechanism_joint_coordinate(mech, lash_sim_work(sim), 0, 0, q), largest);
    }
    return 0;
}

int main(int argc, char** argv) {
    LashError error = {LASH_OK};
    if (argc < 2) {
        fprintf(stderr, "usage: %s MODEL.json [parameter=value]...\n", argv[0]);
        return LASH_ERROR_USAGE;
    }
    /* A model is read and checked completely; the texts behind it replace values of parameters. */
    LashModel* model = lash_model_load(argv[1], (const char* const*)(argv + 2), argc - 2, &error);
    if (model == NULL) return fail(&error);
    /* The mechanism is read-only from here on: any number of runs, in any threads, may share it. */
    LashMechanism* mech = lash_model_build(model, &error);
    if (mech == NULL) return fail(&error);
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &model->simulation.settings);
    int code = simulate(model, mech, sim);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
    return code;
}

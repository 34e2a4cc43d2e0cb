// Every number of the step that was tuned, in one place.
//
// They decide how soon a step is solved, not what its solution is: residuals are recomputed and
// compared with the settings' tolerances whatever stands here. So a wrong number shows as more
// corrections, more new operators or more steps in parts: `lash run --trace`, `lash bench
// mechanisms`, and the counts that tests/solvers/test_iterate.c holds.
#ifndef LASH_SOLVERS_TUNING_H
#define LASH_SOLVERS_TUNING_H

static const struct Tuning {
    // --- Goal of the iteration, in tolerances ---
    // Newton goes on to `goal`, so that what is left does not add up over many steps (too large:
    // joints drift, test_models_slider_crank). Linear systems reach `linear_goal` with the first
    // correction, and their energy identity then holds to 1e-12 (test_app_verify).
    double goal, linear_goal;

    // --- When is an operator renewed? ---
    // Contraction per correction (error after / before) above which the next step makes a new one:
    // a matrix costs as much as the corrections it saves. `slow_large`: from `many_rows` joint rows
    // on its factors do not fit into the cache; `slow_contacts`: responses are found again, too.
    double slow, slow_large, slow_contacts;
    int many_rows;
    // Within a step: this many corrections that leave more than `weak` of the error.
    double weak;
    int weak_corrections;
    // Operators of contacts: corrections that one may still need before a new one is cheaper; error
    // [tolerances] to which one of an earlier step must be expected to come at once; share by which
    // that expectation recovers per step, so that an old one is tried again now and then.
    double chords, keep_below, recovery;
    // Error of contacts [m/s] beyond which derivatives of their directions do more harm than good:
    // normals turn by more than what the derivative is good for.
    double far_off;

    // --- When is an attempt given up? ---
    int kept_iterations; // corrections with an operator that is not renewed each time
    double diverged;     // error against that of the first iterate
    int growing;         // corrections in a row with a larger error
    double gain;         // a correction that leaves more than this has not gained anything
    int patience;        // such corrections in a row, where the operator is kept
    int circle;          // corrections without a new best, for any operator: it runs in a circle
    int most_work;       // iterations of the contact solver, before the next correction begins

    // --- Memory of hard steps ---
    // A fresh operator that contracts worse than `poor` serves velocities and positions badly: each
    // gets its own, for `first_separation` steps, twice as many each time, at most
    // `longest_separation` (thin bodies: the whole run).
    double poor;
    int first_separation, longest_separation;
    int longest_run;    // steps that begin with all derivatives after one that needed them, at most
    int reach_attempts; // of a step that leaves the motion promised to collect

    // --- Contacts ---
    double far;    // [m] stands for the gap of an empty slot
    double pushes; // P_N > 0 means above this share of the largest impulse: rounding of the solver
    int few_rows;  // of a friction problem that is solved exactly at once
    int friction_work; // factors and sweeps of the friction solvers in a pass: what takes more is cut, and the step made shorter
    int jam_work;      // the same of a step that is tried as a jam
    int coupled_iterations; // of the friction solver in a coupled correction: the next one goes on
    int search_iterations;  // of a position problem: likewise
    double small_shift;     // d(G tau)/dq counts once the projection moves by this [m, rad]
    double soft;            // forces that change by less than this share of the masses in a step
    double held; // squared share of a row that joints leave: they are closed to 1e-10, so 1e-20 is
                 // none and 1e-16 still rounding (test_models_unique_forces)
    double
        twins; // sine between normals, in the metric of the masses, below which two points of a contact
               // are one: their distance over the radius of gyration (too large: corners of a foot
               // stay open one by one)
} tuning = {
    .goal = 0.05,
    .linear_goal = 1e-3,
    .slow = 0.003,
    .slow_large = 0.02,
    .slow_contacts = 0.04,
    .many_rows = 2000,
    .weak = 0.25,
    .weak_corrections = 2,
    .chords = 3,
    .keep_below = 100,
    .recovery = 0.9,
    .far_off = 0.01,
    .kept_iterations = 12,
    .diverged = 1e4,
    .growing = 3,
    .gain = 0.5,
    .patience = 4,
    .circle = 12,
    .most_work = 150,
    .poor = 0.1,
    .first_separation = 32,
    .longest_separation = 1 << 16,
    .longest_run = 16,
    .reach_attempts = 4,
    .far = 1e6,
    .pushes = 1e-12,
    .few_rows = 9,
    .friction_work = 200,
    .jam_work = 5000,
    .coupled_iterations = 100,
    .search_iterations = 100,
    .small_shift = 1e-9,
    .soft = 0.01,
    .held = 1e-16,
    .twins = 0.02,
};

#endif

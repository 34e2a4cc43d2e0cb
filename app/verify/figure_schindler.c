// Figures of [S12] Schindler, Rezaei, Kursawe and Acary: midpoint rule and Gear-Gupta-Leimkuhler on the slider-crank.
#include <math.h>
#include <string.h>

#include "app/verify/figure.h"
#include "app/verify/track.h"
#include "core/arena.h"
#include "solvers/linear/dense.h"

typedef struct Variant {
    LashScheme scheme;
    const char *coupling, *rows, *activation, *metric; // NULL: default
} Variant;
static const Variant moreau = {LASH_MOREAU_MIDPOINT, NULL, "midpoint", NULL, NULL};
static const Variant reference = {LASH_GGL, "none", "midpoint", NULL, NULL};
static const Variant unified = {LASH_GGL, "unified", "midpoint", "grown", "unit"};

static const Track* crank(Drawing* drawing, const Variant* variant, double e, double T,
                          int stride) {
    LashPaperSliderCrank data = lash_paper_crank();
    data.e = e;
    data.mu = 0;
    TrackCase what = {.system = TRACK_CRANK, .data = &data, .T = T, .stride = stride};
    const char* name[] = {"coupling", "rows", "activation", "metric"};
    const char* value[] = {variant->coupling, variant->rows, variant->activation, variant->metric};
    what.set = verify_settings(variant->scheme, 1e-5);
    for (int i = 0; i < 4; ++i)
        if (value[i] != NULL) lash_settings_choose(&what.set, name[i], value[i]);
    return track_of(drawing->cache, &what);
}

static void table_1(Drawing* drawing) {
    LashPaperSliderCrank d = lash_paper_crank();
    drawing_row(drawing, "l1, l2|0.1530, 0.3060 m|%.4f, %.4f m", d.l1, d.l2);
    drawing_row(drawing, "a, b, c|0.0500, 0.0250, 0.0010 m|%.4f, %.4f, %.4f m", d.a, d.b, d.c);
    drawing_row(drawing, "m1, m2, m3|0.0380, 0.0380, 0.0760 kg|%.4f, %.4f, %.4f kg", d.m1, d.m2,
                d.m3);
    drawing_row(drawing, "J1, J2, J3|7.4e-5, 5.9e-4, 2.7e-6 kg m2|%.1e, %.1e, %.1e kg m2", d.J1,
                d.J2, d.J3);
    drawing_row(drawing, "g|9.81 m/s2|%.2f m/s2", d.gravity);
    drawing_row(drawing, "angles at the start|0, 0, 0|%g, %g, %g", d.q[0], d.q[1], d.q[2]);
    drawing_row(drawing, "speeds at the start|150, -75, 0 1/s|%g, %g, %g 1/s", d.v[0], d.v[1],
                d.v[2]);
}

// ---- Slider -------------------------------------------------------------------------------------

// Four coefficients of restitution: y over x of the slider's centre, in m.
static void draw_portraits(Drawing* drawing, const Variant* variant) {
    static const double e[4] = {0.1, 0.4, 0.6, 0.9};
    double x[2] = {0.15, 0.46}, low[2] = {-1e-3, -1e-3}, high[2] = {1e-3, 1e-3};
    for (int i = 0; i < 4; ++i) {
        const Track* track = crank(drawing, variant, e[i], 0.1, 5);
        size_t bytes = (size_t)track->points * sizeof(double);
        double *at = lash_alloc(bytes), *y = lash_alloc(bytes);
        for (int k = 0; k < track->points; ++k) {
            at[k] = track_slider_x(track, k);
            y[k] = track_slider_y(track, k);
        }
        drawing_curve(drawing, i, "", SERIES_LINE, track->points, at, y);
        drawing_curve(drawing, i, "walls", SERIES_DASHED, 2, x, low);
        drawing_curve(drawing, i, "", SERIES_DASHED, 2, x, high);
        lash_free(at);
        lash_free(y);
    }
}

static void figure_3(Drawing* drawing) {
    draw_portraits(drawing, &moreau);
}
static void figure_8(Drawing* drawing) {
    draw_portraits(drawing, &unified);
}

// Gaps and their derivatives; gaps once more near zero.
static void draw_gaps(Drawing* drawing, const Variant* variant) {
    static const char* const name[4] = {"g1", "g2", "g3", "g4"};
    const Track* track = crank(drawing, variant, 0.1, 0.1, 1);
    for (int c = 0; c < 4; ++c) {
        drawing_curve(drawing, 0, name[c], SERIES_LINE, track->points, track->t, track->gap[c]);
        drawing_curve(drawing, 1, name[c], SERIES_LINE, track->points, track->t, track->U[c]);
        drawing_curve(drawing, 2, name[c], SERIES_LINE, track->points, track->t, track->gap[c]);
        drawing_curve(drawing, 3, name[c], SERIES_LINE, track->points, track->t, track->U[c]);
    }
}
static void figure_4(Drawing* drawing) {
    draw_gaps(drawing, &moreau);
}
static void figure_9(Drawing* drawing) {
    draw_gaps(drawing, &unified);
}

// ---- Drift of the ideal model -------------------------------------------------------------------

// a and lambda of M a = F + G lambda, G' a + d(G')/dt v = 0 at the explicit midpoint; then a step with a.
static void acceleration_step(const LashSystem* system, LashSystemWork* work, double h, double* q,
                              double* v) {
    enum { N = 3, ALL = N + 1 };
    double middle[N], M[N * N], F[N], g, g_t, G[N], dGv[N], A[ALL * ALL] = {0}, x[ALL];
    int32_t pivot[ALL];
    for (int i = 0; i < N; ++i) middle[i] = q[i] + h / 2 * v[i];
    system->mass(system, work, middle, M);
    system->forces(system, work, 0, middle, v, F);
    system->evaluate(system, work, 0, middle, NULL, &g, &g_t, G);
    system->contract(system, work, 0, middle, 0, (double[]){0}, v, NULL, dGv);
    x[N] = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) A[i + ALL * j] = M[i + N * j];
        A[i + ALL * N] = -G[i];
        A[N + ALL * i] = G[i];
        x[i] = F[i];
        x[N] -= dGv[i] * v[i];
    }
    lash_dense_lu(ALL, A, ALL, pivot);
    lash_dense_lu_solve(ALL, A, ALL, pivot, x);
    for (int i = 0; i < N; ++i) {
        q[i] += h * (v[i] + h * x[i] / 2);
        v[i] += h * x[i];
    }
}

static void figure_6(Drawing* drawing) {
    enum { STEPS = 10000, EVERY = 10, POINTS = STEPS / EVERY + 1 };
    LashPaperSliderCrank data = lash_paper_crank();
    data.mu = 0;
    data.ideal = true;
    TrackCase what = {.system = TRACK_CRANK, .data = &data, .T = 1, .stride = EVERY};
    what.set = verify_settings(LASH_MOREAU_MIDPOINT, 1e-4);
    lash_settings_choose(&what.set, "rows", "end");
    const Track* track = track_of(drawing->cache, &what);
    LashLagrangian* model = lash_paper_slider_crank(&data);
    const LashSystem* system = lash_lagrangian_system(model);
    LashSystemWork* work = system->work_create(system);
    double q[3], v[3], t[POINTS], y[POINTS], slow[POINTS];
    system->initial_state(system, q, v);
    system->collect(system, work, 0, q, v, 1e-4, 2);
    for (int k = 0; k <= STEPS; ++k) {
        if (k % EVERY == 0) {
            t[k / EVERY] = 1e-4 * k;
            y[k / EVERY] = data.l1 * sin(q[0]) + data.l2 * sin(q[1]);
        }
        acceleration_step(system, work, 1e-4, q, v);
    }
    for (int k = 0; k < POINTS && k < track->points; ++k) slow[k] = track_slider_y(track, k);
    drawing_curve(drawing, 0, "velocity level", SERIES_LINE, track->points, track->t, slow);
    drawing_curve(drawing, 1, "acceleration level", SERIES_LINE, POINTS, t, y);
    system->work_destroy(system, work);
    lash_lagrangian_destroy(model);
}

static void figure_10(Drawing* drawing) {
    static const Variant* const variant[3] = {&moreau, &reference, &unified};
    static const char* const name[3] = {"Moreau's midpoint rule", "reference", "unified GGL"};
    for (int i = 0; i < 3; ++i) {
        const Track* track = crank(drawing, variant[i], 0.1, 4, 400);
        drawing_curve(drawing, 0, name[i], SERIES_LINE, track->points, track->t, track->energy);
    }
}

// ---- Table --------------------------------------------------------------------------------------

#define PORTRAIT                        \
    {"x [m]", 0.15, 0.46, false}, {     \
        "y [m]", -1.2e-3, 1.2e-3, false \
    }
#define PORTRAITS                                                             \
    {                                                                         \
        {"(a) restitution 0.1", PORTRAIT}, {"(b) restitution 0.4", PORTRAIT}, \
            {"(c) restitution 0.6", PORTRAIT}, {                              \
            "(d) restitution 0.9", PORTRAIT                                   \
        }                                                                     \
    }
#define TIME \
    { "t [s]", 0, 0.1, false }
#define GAPS                                                                    \
    {                                                                           \
        {"gap functions", TIME, {"g [m]", 0, 0, false}},                        \
            {"their time derivatives", TIME, {"dg/dt [m/s]", 0, 0, false}},     \
            {"gaps of closed contacts", TIME, {"g [m]", -6e-5, 6e-5, false}}, { \
            "gap velocities of closed contacts", TIME, {                        \
                "dg/dt [m/s]", -2e-2, 2e-2, false                               \
            }                                                                   \
        }                                                                       \
    }

static const Figure figures[] = {
    {.paper = "E",
     .name = "table 1",
     .title = "Characteristics of the slider-crank mechanism with unilateral constraints",
     .claim = "E-01",
     .columns = "quantity|paper|Lash",
     .run = table_1},
    {.paper = "E",
     .name = "figure 3",
     .title = "Movement of the center of gravity of the slider for different coefficients of "
              "restitution, Moreau's midpoint "
              "rule",
     .claim = "E-03",
     .note = "dt = 1e-5 s, 0.1 s. Of the four coefficients only 0.1 is legible in our copy; the "
             "others are ours.",
     .panel = PORTRAITS,
     .run = figure_3},
    {.paper = "E",
     .name = "figure 4",
     .title = "Gap functions and their time derivatives for restitution 0.1",
     .claim = "E-04",
     .note = "Below: the same near zero, where closed contacts drift.",
     .panel = GAPS,
     .run = figure_4},
    {.paper = "E",
     .name = "figure 6",
     .title = "Drift-off effect of the slider for equations formulated on velocity and "
              "acceleration level",
     .claim = "E-08",
     .note = "Bilateral model, dt = 1e-4 s.",
     .panel = {{"velocity level", {"t [s]", 0, 1, false}, {"y [m]", 0, 0, false}},
               {"acceleration level", {"t [s]", 0, 1, false}, {"y [m]", 0, 0, false}}},
     .run = figure_6},
    {.paper = "E",
     .name = "figure 8",
     .title = "Movement of the center of gravity of the slider for different coefficients of "
              "restitution, unified "
              "Gear-Gupta-Leimkuhler",
     .claim = "E-09",
     .note = "As figure 3.",
     .panel = PORTRAITS,
     .run = figure_8},
    {.paper = "E",
     .name = "figure 9",
     .title = "Gap functions and their time derivatives for restitution 0.1, unified "
              "Gear-Gupta-Leimkuhler",
     .claim = "E-09",
     .panel = GAPS,
     .run = figure_9},
    {.paper = "E",
     .name = "figure 10",
     .title = "Development of the entire energy content for restitution 0.1",
     .claim = "E-11",
     .panel = {{"energy", {"t [s]", 0, 4, false}, {"E [J]", 0, 0, false}}},
     .slow = true,
     .run = figure_10},
};

FigureTable figures_schindler(void) {
    return (FigureTable){figures, sizeof figures / sizeof *figures};
}

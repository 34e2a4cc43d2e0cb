// Figures and tables of [P06] Potra, Anitescu, Gavrea and Trinkle: double pendulum with a wall, block on a table, carts
// and stopper, by the linearly implicit trapezoidal rule.
#include <math.h>
#include <stdio.h>

#include "app/verify/figure.h"
#include "app/verify/potra_systems.h"
#include "app/verify/track.h"
#include "core/arena.h"

typedef struct Rule {
    const char *rows, *locate;
    bool stabilize, events;
} Rule;
static const Rule paper = {"mean", "interpolate", false, true}; // of section 10.1
static const Rule one = {"end", "shorten", true, false}, two = {"mean", "shorten", true, false};
static const Rule ours = {"mean", "shorten", true, true};

static const Track* track_by(Drawing* drawing, TrackCase* what, const Rule* rule, double h) {
    what->set = verify_settings(LASH_TRAPEZOIDAL, h);
    lash_settings_choose(&what->set, "rows", rule->rows);
    lash_settings_choose(&what->set, "locate", rule->locate);
    lash_settings_set(&what->set, "stabilize", rule->stabilize);
    lash_settings_set(&what->set, "events", rule->events);
    what->stride = 1;
    return track_of(drawing->cache, what);
}

// ---- Double pendulum ----------------------------------------------------------------------------

static const Track* pendulum(Drawing* drawing, double h) {
    TrackCase what = {.system = TRACK_DOUBLE_PENDULUM, .T = 2.5};
    return track_by(drawing, &what, &paper, h);
}

// Error of the position and of both joints at the end.
static void pendulum_errors(const Track* track, double* error) {
    static const double exact[4] = {0.021946257563808044383, -0.9997591518855643855,
                                    0.02385130950937267283, -1.9997573372724603254};
    double q[4], sum = 0;
    for (int i = 0; i < 4; ++i) {
        q[i] = track->q[i][track->points - 1];
        sum += (q[i] - exact[i]) * (q[i] - exact[i]);
    }
    error[0] = sqrt(sum);
    error[1] = fabs(q[0] * q[0] + q[1] * q[1] - 1);
    error[2] = fabs((q[2] - q[0]) * (q[2] - q[0]) + (q[3] - q[1]) * (q[3] - q[1]) - 1);
}

static void table_10_1(Drawing* drawing) {
    static const char* const printed[7][6] = {
        {"2.38e-3", "N/A", "-1.27e-3", "N/A", "-3.18e-3", "N/A"},
        {"6.14e-4", "3.88", "-3.14e-4", "4.04", "-8.29e-4", "3.84"},
        {"1.54e-4", "3.97", "-7.82e-5", "4.01", "-2.14e-4", "3.88"},
        {"3.95e-5", "3.91", "-1.95e-5", "4.00", "-5.48e-5", "3.90"},
        {"1.01e-5", "3.92", "-4.88e-6", "4.00", "-1.37e-5", "3.99"},
        {"2.42e-6", "4.17", "-1.22e-6", "4.00", "-3.44e-6", "3.99"},
        {"6.15e-7", "3.93", "-3.05e-7", "4.01", "-8.60e-7", "4.00"}};
    double last[3] = {0};
    for (int k = 0; k < 7; ++k) {
        double error[3];
        char ratio[3][16];
        pendulum_errors(pendulum(drawing, ldexp(1, -5 - k)), error);
        for (int i = 0; i < 3; ++i) {
            snprintf(ratio[i], sizeof ratio[i], k == 0 ? "-" : "%.2f", last[i] / error[i]);
            last[i] = error[i];
        }
        drawing_row(drawing, "2^-%d|%s|%.3e|%s|%s|%s|%.3e|%s|%s|%s|%.3e|%s|%s", 5 + k,
                    printed[k][0], error[0], printed[k][1], ratio[0], printed[k][2], error[1],
                    printed[k][3], ratio[1], printed[k][4], error[2], printed[k][5], ratio[2]);
    }
}

static void figure_2(Drawing* drawing) {
    const Track* track = pendulum(drawing, ldexp(1, -10));
    double* energy = lash_alloc((size_t)track->points * sizeof *energy);
    for (int k = 0; k < track->points; ++k)
        energy[k] = track->kinetic[k] + 9.81 * (track->q[1][k] + track->q[3][k]);
    drawing_curve(drawing, 0, "x1", SERIES_LINE, track->points, track->t, track->q[0]);
    drawing_curve(drawing, 0, "x2", SERIES_LINE, track->points, track->t, track->q[2]);
    drawing_curve(drawing, 1, "", SERIES_LINE, track->points, track->t, energy);
    lash_free(energy);
}

// ---- Block on a table ---------------------------------------------------------------------------

static const Track* block(Drawing* drawing, const Rule* rule, double h, double T) {
    TrackCase what = {.system = TRACK_TABLE_BLOCK, .T = T};
    return track_by(drawing, &what, rule, h);
}

static void block_table(Drawing* drawing, const Rule* rule, const char* const (*printed)[2]) {
    double last = 0;
    for (int k = 0; k < 6; ++k) {
        const Track* track = block(drawing, rule, ldexp(1, -5 - k), 2);
        double error = fabs(track->q[0][track->points - 1] - 3.0043485697268652);
        char rate[16];
        snprintf(rate, sizeof rate, k == 0 ? "-" : "%.3f", last / error);
        drawing_row(drawing, "2^-%d|%s|%.3e|%s|%s", 5 + k, printed[k][0], error, printed[k][1],
                    rate);
        last = error;
    }
}

static void table_10_2(Drawing* drawing) {
    static const char* const printed[6][2] = {{"5.197e-5", "N/A"},   {"1.025e-5", "5.068"},
                                              {"2.555e-6", "4.014"}, {"6.551e-7", "3.899"},
                                              {"1.549e-7", "4.229"}, {"3.959e-8", "3.912"}};
    block_table(drawing, &one, printed);
}
static void table_10_3(Drawing* drawing) {
    static const char* const printed[6][2] = {{"8.023e-5", "N/A"},   {"2.310e-5", "3.473"},
                                              {"5.619e-6", "4.111"}, {"1.395e-6", "4.027"},
                                              {"3.652e-7", "3.820"}, {"8.246e-8", "4.429"}};
    block_table(drawing, &two, printed);
}

static void figure_4(Drawing* drawing) {
    for (int i = 0; i < 2; ++i) {
        const Track* track = block(drawing, i == 0 ? &one : &two, 0.01, 10);
        drawing_curve(drawing, 2 * i, "", SERIES_LINE, track->points, track->t, track->q[0]);
        drawing_curve(drawing, 2 * i + 1, "", SERIES_LINE, track->points, track->t, track->v[0]);
    }
}

// ---- Carts and stopper --------------------------------------------------------------------------

// Distance between the carts, or of the first from the spring's rest, and the energy.
static void draw_carts(Drawing* drawing, const PotraCarts* data, double T, bool distance,
                       const char* name) {
    TrackCase what = {.system = TRACK_CARTS, .data = data, .T = T};
    const Track* track = track_by(drawing, &what, &ours, 0.01);
    size_t bytes = (size_t)track->points * sizeof(double);
    double *length = lash_alloc(bytes), *energy = lash_alloc(bytes);
    for (int k = 0; k < track->points; ++k) {
        double x1 = track->q[0][k], x2 = track->q[2][k];
        length[k] = distance ? x2 - x1 : x1 - 0.2;
        energy[k] = track->kinetic[k] + 0.5 * data->stiffness * (x1 - 0.2) * (x1 - 0.2);
    }
    drawing_curve(drawing, 0, name, SERIES_LINE, track->points, track->t, length);
    drawing_curve(drawing, 1, name, SERIES_LINE, track->points, track->t, energy);
    lash_free(length);
    lash_free(energy);
}

static void figure_6(Drawing* drawing) {
    static const double delta[3] = {1e2, 1e3, 1e6};
    static const char* const name[3] = {"delta = 1e2", "delta = 1e3", "delta = 1e6"};
    for (int i = 0; i < 3; ++i) {
        PotraCarts data = {100, delta[i], 0.1, -2};
        draw_carts(drawing, &data, 4, true, name[i]);
    }
}
static void figure_7(Drawing* drawing) {
    static const double gamma[3] = {1e2, 1e4, 1e6};
    static const char* const name[3] = {"gamma = 1e2", "gamma = 1e4", "gamma = 1e6"};
    for (int i = 0; i < 3; ++i) {
        PotraCarts data = {gamma[i], 10, 0.2, -3};
        draw_carts(drawing, &data, 2, false, name[i]);
    }
}

// ---- Table --------------------------------------------------------------------------------------

#define TIME(end) \
    { "t [s]", 0, end, false }

static const Figure figures[] = {
    {.paper = "B",
     .name = "table 10.1",
     .title = "The error results for the double pendulum",
     .claim = "B-05",
     .note = "Against the exact end position; the signs of the paper's joint errors belong to "
             "another sign of its rows.",
     .columns = "h|E_h, paper|Lash|R_0, paper|Lash|E_1, paper|Lash|R_1, paper|Lash|E_2, "
                "paper|Lash|R_2, paper|Lash",
     .run = table_10_1},
    {.paper = "B",
     .name = "figure 2",
     .title = "Double pendulum with a long wall: positions and energy",
     .claim = "B-11",
     .note = "h = 2^-10.",
     .panel = {{"(a) x-components of the positions of m1 and m2",
                TIME(2.5),
                {"x [m]", 0, 0, false}},
               {"(b) total energy of the system", TIME(2.5), {"E [J]", 0, 0, false}}},
     .run = figure_2},
    {.paper = "B",
     .name = "figure 4",
     .title = "Block on a frictional table: positions and velocities, T = 10 s, h = 0.01",
     .claim = "B-16",
     .panel = {{"formulation (6.12), scheme I: position", TIME(10), {"x [m]", 0, 0, false}},
               {"formulation (6.12), scheme I: velocity", TIME(10), {"v [m/s]", 0, 0, false}},
               {"formulation (6.10), scheme II: position", TIME(10), {"x [m]", 0, 0, false}},
               {"formulation (6.10), scheme II: velocity", TIME(10), {"v [m/s]", 0, 0, false}}},
     .run = figure_4},
    {.paper = "B",
     .name = "table 10.2",
     .title = "Order analysis for scheme I",
     .claim = "B-13",
     .columns = "h_s|E_h, paper|Lash|rate, paper|Lash",
     .run = table_10_2},
    {.paper = "B",
     .name = "table 10.3",
     .title = "Order analysis for scheme II",
     .claim = "B-15",
     .columns = "h_s|E_h, paper|Lash|rate, paper|Lash",
     .run = table_10_3},
    {.paper = "B",
     .name = "figure 6",
     .title = "Two carts and a stopper: results for increasing values of delta",
     .claim = "B-24",
     .panel = {{"variation of the distance between the carts",
                TIME(4),
                {"x2 - x1 [m]", 0, 0, false}},
               {"total energies", TIME(4), {"E [J]", 0, 0, false}}},
     .run = figure_6},
    {.paper = "B",
     .name = "figure 7",
     .title = "Two carts and a stopper: results for increasing values of gamma",
     .claim = "B-25",
     .panel = {{"distance of the left cart from the spring's equilibrium",
                TIME(2),
                {"x1 - 0.2 [m]", 0, 0, false}},
               {"total energies", TIME(2), {"E [J]", 0, 0, false}}},
     .run = figure_7},
};

FigureTable figures_potra(void) {
    return (FigureTable){figures, sizeof figures / sizeof *figures};
}

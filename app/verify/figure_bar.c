// Figures 11 to 18 and table 1 of [A12] Acary, RR-8029: the impacting elastic bar.
#include <math.h>

#include "app/verify/figure.h"
#include "app/verify/runs.h"
#include "core/arena.h"

static void table_1(Drawing* drawing) {
    LashPaperBar d = lash_paper_bar();
    drawing_row(drawing, "length L|1.0 m|%.1f m", d.length);
    drawing_row(drawing, "section S|3.14e+04 m2|%.4e m2", d.area);
    drawing_row(drawing, "density rho|7800 kg/m3|%.0f kg/m3", d.density);
    drawing_row(drawing, "modulus E|210 GPa|%.0f GPa", 1e-9 * d.modulus);
    drawing_row(drawing, "speed v0|-0.1 m/s|%.1f m/s", d.speed);
    drawing_row(drawing, "contact time 2 L/c0|3.8545e-04 s|%.4e s",
                2 * d.length / sqrt(d.modulus / d.density));
    drawing_row(drawing, "contact force E S v0/c0|1271.472 N|%.3f N", bar_exact_force());
}

// Time in ms, from the panel on: position, velocity, force.
static void draw_tip(Drawing* drawing, const BarCase* what) {
    const BarRun* run = bar_run(drawing->cache, what);
    double* ms = lash_alloc((size_t)run->points * sizeof *ms);
    for (int k = 0; k < run->points; ++k) ms[k] = 1e3 * run->t[k];
    drawing_curve(drawing, 0, "", SERIES_LINE, run->points, ms, run->q);
    drawing_curve(drawing, 1, "", SERIES_LINE, run->points, ms, run->v);
    drawing_curve(drawing, 2, "", SERIES_LINE, run->points, ms, run->force);
    double span[2] = {ms[0], ms[run->points - 1]}, r[2] = {bar_exact_force(), bar_exact_force()};
    drawing_curve(drawing, 2, "E S v0/c0", SERIES_DASHED, 2, span, r);
    lash_free(ms);
}

static void draw_force(Drawing* drawing, int panel, const BarCase* what) {
    const BarRun* run = bar_run(drawing->cache, what);
    double* ms = lash_alloc((size_t)run->points * sizeof *ms);
    for (int k = 0; k < run->points; ++k) ms[k] = 1e3 * run->t[k];
    drawing_curve(drawing, panel, "r", SERIES_LINE, run->points, ms, run->force);
    lash_free(ms);
}

static void figure_11(Drawing* drawing) {
    BarCase c = bar_figure_11();
    draw_tip(drawing, &c);
}
static void figure_12(Drawing* drawing) {
    BarCase c = bar_long(LASH_MOREAU_JEAN, 1000, 2e-6);
    draw_tip(drawing, &c);
}
static void figure_13(Drawing* drawing) {
    static const int N[3] = {1000, 100, 10};
    for (int i = 0; i < 3; ++i) {
        BarCase c = bar_long(LASH_MOREAU_JEAN, N[i], 2e-6);
        draw_force(drawing, i, &c);
    }
}
static void figure_14(Drawing* drawing) {
    static const double h[4] = {2e-5, 2e-6, 2e-7, 2e-8};
    for (int i = 0; i < 4; ++i) {
        BarCase c = bar_peak(h[i]);
        draw_force(drawing, i, &c);
    }
}
static void figure_15(Drawing* drawing) {
    BarCase c = bar_long(LASH_MOREAU_JEAN, 100, 2e-6);
    c.e = 0.95;
    draw_tip(drawing, &c);
}
static void figure_16(Drawing* drawing) {
    BarCase c = bar_case(LASH_COMBINED, 1000, 2e-6);
    draw_tip(drawing, &c);
}
static void figure_17(Drawing* drawing) {
    BarCase c = bar_case(LASH_COMBINED, 1000, 2e-7);
    draw_tip(drawing, &c);
}
static void figure_18(Drawing* drawing) {
    BarCase c = bar_case(LASH_COMBINED, 1000, 2e-7);
    c.theta = 1;
    draw_tip(drawing, &c);
}

#define MS \
    { "time [ms]", 0, 0, false }
#define TIP                                                          \
    {                                                                \
        {"position of the tip", MS, {"q [m]", 0, 0, false}},         \
            {"velocity of the tip", MS, {"v [m/s]", 0, 0, false}}, { \
            "reaction force", MS, {                                  \
                "r [N]", 0, 0, false                                 \
            }                                                        \
        }                                                            \
    }

static const Figure figures[] = {
    {.paper = "A",
     .name = "table 1",
     .title = "Geometrical and material parameters and initial conditions for the impacting bar",
     .claim = "A-23",
     .columns = "quantity|paper|Lash",
     .run = table_1},
    {.paper = "A",
     .name = "figure 11",
     .title = "Trapezoidal rule with position-based constraints, h = 2e-6 s, N = 1000",
     .claim = "A-25",
     .panel = TIP,
     .run = figure_11},
    {.paper = "A",
     .name = "figure 12",
     .title = "Moreau-Jean scheme, theta = 1/2, N = 1000",
     .claim = "A-26",
     .note =
         "h = 2e-6 s as the prose has it; the caption's 5e-5 s would be seven steps of contact.",
     .panel = TIP,
     .run = figure_12},
    {.paper = "A",
     .name = "figure 13",
     .title = "Contact force r for Moreau-Jean's scheme, h = 2e-6 s: effect of the element length",
     .claim = "A-27",
     .panel = {{"(a) N = 1000", {"time [ms]", 0, 2, false}, {"r [N]", 0, 1400, false}},
               {"(b) N = 100", {"time [ms]", 0, 2, false}, {"r [N]", 0, 0, false}},
               {"(c) N = 10", {"time [ms]", 0, 2, false}, {"r [N]", 0, 0, false}}},
     .run = figure_13},
    {.paper = "A",
     .name = "figure 14",
     .title = "Contact force r for Moreau-Jean's scheme, N = 100: effect of the time step",
     .claim = "A-28",
     .note = "The captions of (a) and (c) are lost in our copy: 2e-5 and 2e-7 s taken.",
     .panel = {{"(a) h = 2e-5 s", MS, {"r [N]", 0, 0, false}},
               {"(b) h = 2e-6 s", MS, {"r [N]", 0, 0, false}},
               {"(c) h = 2e-7 s", MS, {"r [N]", 0, 0, false}},
               {"(d) h = 2e-8 s", MS, {"r [N]", 0, 0, false}}},
     .run = figure_14},
    {.paper = "A",
     .name = "figure 15",
     .title = "Moreau-Jean's scheme with a restitution coefficient e = 0.95, h = 2e-6 s, N = 100",
     .claim = "A-29",
     .panel = TIP,
     .run = figure_15},
    {.paper = "A",
     .name = "figure 16",
     .title = "Combined scheme (Algorithm 2), theta = 1/2, h = 2e-6 s, N = 1000",
     .claim = "A-32",
     .panel = TIP,
     .run = figure_16},
    {.paper = "A",
     .name = "figure 17",
     .title = "Combined scheme (Algorithm 2), theta = 1/2, h = 2e-7 s, N = 1000",
     .claim = "A-32",
     .panel = TIP,
     .run = figure_17},
    {.paper = "A",
     .name = "figure 18",
     .title = "Combined scheme (Algorithm 2), theta = 1, h = 2e-7 s, N = 1000",
     .claim = "A-33",
     .panel = TIP,
     .run = figure_18},
};

FigureTable figures_bar(void) {
    return (FigureTable){figures, sizeof figures / sizeof *figures};
}

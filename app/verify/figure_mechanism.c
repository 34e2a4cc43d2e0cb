// Figures 20 to 30 and tables 2 and 3 of [A12] Acary, RR-8029: pendulum in a ring, slider-crank.
#include <math.h>
#include <stdio.h>

#include "app/verify/figure.h"
#include "app/verify/runs.h"
#include "core/arena.h"

// ---- Pendulum in a ring -------------------------------------------------------------------------

static void figure_20(Drawing* drawing) {
    const double thickness = 2; // [mm]
    const RingRun *plain = ring_run(drawing->cache, LASH_MOREAU_JEAN),
                  *combined = ring_run(drawing->cache, LASH_COMBINED);
    drawing_curve(drawing, 0, "Moreau-Jean", SERIES_LINE, plain->frames, plain->t, plain->gap);
    drawing_curve(drawing, 0, "combined", SERIES_LINE, combined->frames, combined->t,
                  combined->gap);
    double nearest[RING_FRAMES]; // to the inner or to the outer face, whichever is nearer
    for (int k = 0; k < plain->frames; ++k) {
        double inside = -plain->gap[k];
        nearest[k] = inside > 0 ? fmax(-inside, inside - thickness) : plain->gap[k];
    }
    drawing_curve(drawing, 1, "Moreau-Jean", SERIES_LINE, plain->frames, plain->t, nearest);
}

// ---- Slider-crank in minimal coordinates --------------------------------------------------------

static void table_2(Drawing* drawing) {
    LashPaperSliderCrank d = lash_paper_crank();
    drawing_row(drawing, "l1, l2|0.1530, 0.3060 m|%.4f, %.4f m", d.l1, d.l2);
    drawing_row(drawing, "a, b, c|0.0500, 0.0250, 0.0010 m|%.4f, %.4f, %.4f m", d.a, d.b, d.c);
    drawing_row(drawing, "d|0.0520 m|%.4f m", 2 * d.b + 2 * d.c);
    drawing_row(drawing, "m1, m2, m3|0.0380, 0.0380, 0.0760 kg|%.4f, %.4f, %.4f kg", d.m1, d.m2,
                d.m3);
    drawing_row(drawing, "Jz1, Jz2, Jz3|7.4e-5, 8.9e-4, 2.7e-6 kg m2|%.1e, %.1e, %.1e kg m2", d.J1,
                d.J2, d.J3);
    drawing_row(drawing, "slider and guide|e = 0.4, mu = 0.01|e = %.1f, mu = %.2f", d.e, d.mu);
    drawing_row(drawing, "theta, tolerances|1/2, 1e-10|1/2, 1e-10");
}

static const LashScheme schemes[3] = {LASH_MOREAU_JEAN, LASH_DIRECT, LASH_COMBINED};
static const char* const names[3] = {"Moreau-Jean (18d)", "Algorithm 1", "Algorithm 2"};

static void table_3(Drawing* drawing) {
    static const char* const violation[3][3] = {{"1.324e-04", "1.234e-05", "1.119e-06"},
                                                {"8.099e-11", "4.833e-11", "9.99e-11"},
                                                {"8.410e-11", "9.940e-11", "8.650e-11"}};
    static const char* const newton[3][3] = {{"2.95/4", "1.99/3", "1.96/2"},
                                             {"1.96/2", "1.01/2", "1.001/2"},
                                             {"2.15/4", "1.127/2", "1.12/2"}};
    static const char* const projection[3][3] = {
        {"N/A", "N/A", "N/A"}, {"0.09/2", "0.11/1", "0.04/1"}, {"0.20/2", "0.019/1", "0.00036/1"}};
    static const char* const sets[3][3] = {
        {"N/A", "N/A", "N/A"}, {"N/A", "N/A", "N/A"}, {"1.18/2", "1.127/2", "1.12/2"}};
    static const char* const step[3] = {"1e-04", "1e-05", "1e-06"};
    for (int c = 0; c < 3; ++c) {
        for (int k = 0; k < 3; ++k) {
            const Track* track = table_3_track(drawing->cache, schemes[c], k);
            char projected[32] = "-", index[32] = "-";
            if (c > 0)
                snprintf(projected, sizeof projected, "%.2g/%d", track->projection / track->steps,
                         track->projection_max);
            if (c > 1)
                snprintf(index, sizeof index, "%.3f/%d", track->index_set / track->steps,
                         track->index_set_max);
            drawing_row(drawing, "%s|%s|%s|%.3e|%s|%.3f/%d|%s|%s|%s|%s", names[c], step[k],
                        violation[c][k], track->violation, newton[c][k],
                        track->newton / track->steps, track->newton_max, projection[c][k],
                        projected, sets[c][k], index);
        }
    }
}

typedef double TrackValue(const Track* track, int point);
static double crank_speed(const Track* track, int point) {
    return track->v[0][point];
}
static double rod_speed(const Track* track, int point) {
    return track->v[1][point];
}
static double slider_speed(const Track* track, int point) {
    LashPaperSliderCrank d = lash_paper_crank();
    return -d.l1 * sin(track->q[0][point]) * track->v[0][point] -
           d.l2 * sin(track->q[1][point]) * track->v[1][point];
}
// Of the slider between its walls: +-1 when it touches.
static double relative_height(const Track* track, int point) {
    return track_slider_y(track, point) / lash_paper_crank().c;
}
static double corner_speed(const Track* track, int point) {
    return track->U[0][point];
}
static void draw_track(Drawing* drawing, int panel, const char* name, const Track* track,
                       TrackValue* x, TrackValue* y) {
    size_t bytes = (size_t)track->points * sizeof(double);
    double *at = lash_alloc(bytes), *value = lash_alloc(bytes);
    for (int k = 0; k < track->points; ++k) {
        at[k] = x(track, k);
        value[k] = y(track, k);
    }
    drawing_curve(drawing, panel, name, SERIES_LINE, track->points, at, value);
    lash_free(at);
    lash_free(value);
}

static void figure_23(Drawing* drawing) {
    static TrackValue* const value[4] = {crank_speed, rod_speed, track_slider_x, slider_speed};
    const Track* track = table_3_track(drawing->cache, LASH_MOREAU_JEAN, 2);
    for (int i = 0; i < 4; ++i) draw_track(drawing, i, "", track, track_turns, value[i]);
}

// The corners move alike: the slider only translates. y + theta3 a cos .. for each of them.
static void figure_24(Drawing* drawing) {
    LashPaperSliderCrank d = lash_paper_crank();
    static const double side[4][2] = {{-1, 1}, {1, 1}, {-1, -1}, {1, -1}};
    static const char* const name[4] = {"corner 1", "corner 2", "corner 3", "corner 4"};
    for (int k = 0; k < 3; ++k) {
        const Track* track = table_3_track(drawing->cache, LASH_MOREAU_JEAN, k);
        size_t bytes = (size_t)track->points * sizeof(double);
        double *turn = lash_alloc(bytes), *y = lash_alloc(bytes);
        for (int corner = 0; corner < 4; ++corner) {
            for (int i = 0; i < track->points; ++i) {
                double angle = track->q[2][i], height = side[corner][1] * d.b;
                turn[i] = track_turns(track, i);
                y[i] = (track_slider_y(track, i) + side[corner][0] * d.a * sin(angle) +
                        height * cos(angle) - height) /
                       d.c;
            }
            drawing_curve(drawing, k, name[corner], SERIES_LINE, track->points, turn, y);
        }
        lash_free(turn);
        lash_free(y);
    }
}

static void figure_25(Drawing* drawing) {
    double x[2] = {0.15, 0.46}, low[2] = {-1, -1}, high[2] = {1, 1};
    for (int c = 0; c < 3; ++c) {
        draw_track(drawing, c, "", table_3_track(drawing->cache, schemes[c], 0), track_slider_x,
                   relative_height);
        drawing_curve(drawing, c, "walls of the guide", SERIES_DASHED, 2, x, low);
        drawing_curve(drawing, c, "", SERIES_DASHED, 2, x, high);
    }
}

static void figure_26(Drawing* drawing) {
    for (int c = 0; c < 3; ++c) {
        const Track* track = closure_track(drawing->cache, schemes[c]);
        for (int i = 0; i < 2; ++i)
            draw_track(drawing, 2 * c + i, "", track, track_turns, corner_speed);
    }
}

// ---- Slider-crank with play between crank and rod -----------------------------------------------

static void draw_play(Drawing* drawing, const char* name, const PlayRun* run) {
    const double* value[4] = {run->crank, run->rod, run->slider, run->eccentricity};
    for (int i = 0; i < 4; ++i)
        drawing_curve(drawing, i, name, SERIES_LINE, run->frames, run->turn, value[i]);
}

static void figure_28(Drawing* drawing) {
    draw_play(drawing, "h = 1e-5 s", play_run(drawing->cache, LASH_MOREAU_JEAN, 5e-4, 1e-5));
    if (drawing->all)
        draw_play(drawing, "h = 1e-7 s", play_run(drawing->cache, LASH_MOREAU_JEAN, 5e-4, 1e-7));
}
static void figure_29(Drawing* drawing) {
    draw_play(drawing, "", play_run(drawing->cache, LASH_COMBINED, 5e-4, 1e-5));
}
static void figure_30(Drawing* drawing) {
    draw_play(drawing, "", play_run(drawing->cache, LASH_COMBINED, 5e-3, 1e-5));
}

// ---- Table --------------------------------------------------------------------------------------

#define TURNS(end) \
    { "crank revolutions", 0, end, false }
#define PLAY                                                                      \
    {                                                                             \
        {"(a) speed of the crank", TURNS(2), {"omega 1 [rad/s]", 0, 0, false}},   \
            {"(b) speed of the rod", TURNS(2), {"omega 2 [rad/s]", 0, 0, false}}, \
            {"(c) position of the slider", TURNS(2), {"x [m]", 0, 0, false}}, {   \
            "(d) eccentricity of the pin", TURNS(2), {                            \
                "in units of the play", 0, 0, false                               \
            }                                                                     \
        }                                                                         \
    }
#define PORTRAIT                    \
    {"x [m]", 0.15, 0.46, false}, { \
        "y / c", -1.2, 1.2, false   \
    }
#define CORNER \
    { "U_N of corner 1 [m/s]", 0, 0, false }

static const Figure figures[] = {
    {.paper = "A",
     .name = "figure 20",
     .title = "Gap at the contact point between the ring and the pendulum versus time, h = 5e-4 s",
     .claim = "A-35",
     .panel = {{"(a) along the ring's radius", {"t [s]", 0, 2, false}, {"gap [mm]", 0, 0, false}},
               {"(b) as a CAD library measures it: to the nearest face of the ring",
                {"t [s]", 0, 2, false},
                {"distance [mm]", 0, 0, false}}},
     .run = figure_20},
    {.paper = "A",
     .name = "table 2",
     .title = "Geometrical, mechanical and numerical parameters used in the slider-crank model",
     .claim = "A-36",
     .columns = "quantity|paper|Lash",
     .run = table_2},
    {.paper = "A",
     .name = "table 3",
     .title = "Details on the computational efficiency of the projection algorithms in the "
              "Lagrangian setting",
     .claim = "A-40",
     .columns = "method|h [s]|violation, paper|Lash [m]|Newton, paper|Lash (avg/max)|projection, "
                "paper|Lash|index sets, paper|Lash",
     .run = table_3},
    {.paper = "A",
     .name = "figure 23",
     .title = "Details of the motion of the slider crank with the standard Moreau-Jean scheme, h = "
              "1e-6 s",
     .claim = "A-42",
     .note = "Two revolutions, caption's step (the text has 2e-6).",
     .panel = {{"(a) speed of the crank", TURNS(2), {"omega 1 [rad/s]", 0, 0, false}},
               {"(b) speed of the rod", TURNS(2), {"omega 2 [rad/s]", 0, 0, false}},
               {"(c) position of the slider", TURNS(2), {"x [m]", 0, 0, false}},
               {"(d) velocity of the slider", TURNS(2), {"dx/dt [m/s]", 0, 0, false}}},
     .run = figure_23},
    {.paper = "A",
     .name = "figure 24",
     .title =
         "Dimensionless motion of the slider corners with Moreau-Jean for different time steps",
     .claim = "A-43",
     .note = "The four curves of a panel lie on each other: the slider only translates.",
     .panel = {{"(a) h = 1e-4 s", TURNS(2), {"y / c", -1.2, 1.2, false}},
               {"(b) h = 1e-5 s", TURNS(2), {"y / c", -1.2, 1.2, false}},
               {"(c) h = 1e-6 s", TURNS(2), {"y / c", -1.2, 1.2, false}}},
     .run = figure_24},
    {.paper = "A",
     .name = "figure 25",
     .title = "Slider portrait for h = 1e-4 s with different time-stepping schemes",
     .claim = "A-45",
     .panel = {{"(a) Moreau-Jean's scheme (18d)", PORTRAIT},
               {"(b) direct projected scheme, Algorithm 1", PORTRAIT},
               {"(c) combined scheme, Algorithm 2", PORTRAIT}},
     .run = figure_25},
    {.paper = "A",
     .name = "figure 26",
     .title = "Relative velocity at corner 1 versus the crank revolution, h = 1e-4 s",
     .claim = "A-46",
     .panel = {{"(a) Moreau-Jean's scheme (18d) on [0, 0.25]", TURNS(0.25), CORNER},
               {"(b) Moreau-Jean's scheme on [0.15, 0.25]",
                {"crank revolutions", 0.15, 0.25, false},
                {"U_N of corner 1 [m/s]", -0.04, 0.1, false}},
               {"(c) Algorithm 1 on [0, 0.25]", TURNS(0.25), CORNER},
               {"(d) Algorithm 1 on [0.15, 0.25]",
                {"crank revolutions", 0.15, 0.25, false},
                {"U_N of corner 1 [m/s]", -0.04, 0.1, false}},
               {"(e) Algorithm 2 on [0, 0.25]", TURNS(0.25), CORNER},
               {"(f) Algorithm 2 on [0.15, 0.25]",
                {"crank revolutions", 0.15, 0.25, false},
                {"U_N of corner 1 [m/s]", -0.04, 0.1, false}}},
     .across = 2,
     .run = figure_26},
    {.paper = "A",
     .name = "figure 28",
     .title =
         "Motion of the slider crank with the standard Moreau scheme, h = 1e-5 s, play r = 5e-4 m",
     .claim = "A-48",
     .note = "With --all also h = 1e-7 s, which keeps the joint.",
     .panel = PLAY,
     .run = figure_28},
    {.paper = "A",
     .name = "figure 29",
     .title = "Motion of the slider crank with the combined scheme, h = 1e-5 s, play r = 5e-4 m",
     .claim = "A-48",
     .panel = PLAY,
     .run = figure_29},
    {.paper = "A",
     .name = "figure 30",
     .title = "Motion of the slider crank with the combined scheme, h = 1e-5 s, play r = 5e-3 m",
     .claim = "A-48",
     .panel = PLAY,
     .run = figure_30},
};

FigureTable figures_mechanism(void) {
    return (FigureTable){figures, sizeof figures / sizeof *figures};
}

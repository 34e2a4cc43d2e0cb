// Figures of [AC24] Acary and Collins-Craft: the impacting stick and the sliding elastic block.
#include <math.h>

#include "app/verify/figure.h"
#include "app/verify/runs.h"
#include "core/arena.h"

// ---- Impacting stick ----------------------------------------------------------------------------

// Panels (a) to (f) of figures 2 and 3.
static void draw_stick(Drawing* drawing, LashLaw law) {
    const Track* track = stick_track(drawing->cache, law);
    LashPaperStick d = lash_paper_stick();
    int n = track->points;
    size_t bytes = (size_t)n * sizeof(double);
    double *slip = lash_alloc(bytes), *total = lash_alloc(bytes);
    static const char* const q[3] = {"x", "y", "gamma"};
    static const char* const v[3] = {"dx/dt", "dy/dt", "dgamma/dt"};
    for (int i = 0; i < 3; ++i) {
        drawing_curve(drawing, 0, q[i], SERIES_LINE, n, track->t, track->q[i]);
        drawing_curve(drawing, 1, v[i], SERIES_LINE, n, track->t, track->v[i]);
    }
    for (int k = 0; k < n; ++k) {
        slip[k] = -track->v[0][k] - d.length / 2 * cos(track->q[2][k]) * track->v[2][k];
        total[k] = track->energy[0] + track->work_n[k] + track->work_t[k] + track->external[k];
    }
    drawing_curve(drawing, 2, "normal", SERIES_LINE, n, track->t, track->U[0]);
    drawing_curve(drawing, 2, "tangential", SERIES_LINE, n, track->t, slip);
    drawing_curve(drawing, 3, "normal", SERIES_LINE, n, track->t, track->P[0]);
    drawing_curve(drawing, 3, "tangential", SERIES_LINE, n, track->t, track->P_t[0]);
    drawing_curve(drawing, 4, "normal", SERIES_LINE, n, track->t, track->work_n);
    drawing_curve(drawing, 4, "tangential", SERIES_LINE, n, track->t, track->work_t);
    drawing_curve(drawing, 5, "kinetic", SERIES_LINE, n, track->t, track->kinetic);
    drawing_curve(drawing, 5, "potential", SERIES_LINE, n, track->t, track->potential);
    drawing_curve(drawing, 5, "total", SERIES_LINE, n, track->t, track->energy);
    drawing_curve(drawing, 5, "start and works", SERIES_DASHED, n, track->t, total);
    lash_free(slip);
    lash_free(total);
}

static void figure_2(Drawing* drawing) {
    draw_stick(drawing, LASH_NEWTON_COULOMB);
}
static void figure_3(Drawing* drawing) {
    draw_stick(drawing, LASH_FREMOND);
}

// ---- Sliding block ------------------------------------------------------------------------------

static double mesh_of(const Drawing* drawing) {
    return drawing->all ? 1e-3 : 2.5e-3;
}

// The triangles, each drawn around, with the displacements of the pressed block at the start.
static void figure_5(Drawing* drawing) {
    LashPaperElasticBlock d = elastic_block_data(1e-3);
    int cells = d.columns * d.rows, n = 5 * cells;
    double *x = lash_alloc((size_t)n * sizeof *x), *y = lash_alloc((size_t)n * sizeof *y);
    double dx = 1e3 * d.width / d.columns, dy = 1e3 * d.height / d.rows;
    int k = 0;
    for (int i = 0; i < d.columns; ++i) {
        for (int j = 0; j < d.rows; ++j) { // once round the cell's lower triangle and across
            static const int corner[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 1}};
            for (int c = 0; c < 5; ++c, ++k) {
                x[k] = (i + corner[c][0]) * dx;
                y[k] = (j + corner[c][1]) * dy;
            }
        }
    }
    drawing_curve(drawing, 0, "", SERIES_LINE, n, x, y);
    lash_free(x);
    lash_free(y);
}

static void draw_block(Drawing* drawing, LashLaw law) {
    const BlockRun* run = block_run(drawing->cache, law, mesh_of(drawing));
    const double* t = run->t;
    drawing_curve(drawing, 0, "kinetic", SERIES_LINE, run->frames, t, run->kinetic);
    drawing_curve(drawing, 0, "strain and weight, change", SERIES_LINE, run->frames, t,
                  run->potential);
    drawing_curve(drawing, 0, "work of the traction", SERIES_LINE, run->frames, t, run->external);
    drawing_curve(drawing, 0, "normal contact", SERIES_LINE, run->frames, t, run->normal);
    drawing_curve(drawing, 0, "friction", SERIES_LINE, run->frames, t, run->friction);
    drawing_curve(drawing, 1, "total energy, change", SERIES_LINE, run->frames, t, run->change);
    drawing_curve(drawing, 1, "work and dissipation", SERIES_DASHED, run->frames, t, run->sum);
    drawing_curve(drawing, 2, "largest w_T", SERIES_LINE, run->frames, t, run->works);
}
static void figure_6(Drawing* drawing) {
    draw_block(drawing, LASH_NEWTON_COULOMB);
}
static void figure_7(Drawing* drawing) {
    draw_block(drawing, LASH_FREMOND);
}

// ---- Table --------------------------------------------------------------------------------------

#define TIME \
    { "t", 0, 0.2, false }
#define STICK                                                                            \
    {                                                                                    \
        {"(a) generalised displacements", TIME, {"q", 0, 0, false}},                     \
            {"(b) global velocities", TIME, {"v", 0, 0, false}},                         \
            {"(c) local relative velocities", TIME, {"u", 0, 0, false}},                 \
            {"(d) contact percussions", TIME, {"p", 0, 0, false}},                       \
            {"(e) work done by the percussions, summed", TIME, {"work", 0, 0, false}}, { \
            "(f) total energetic quantities", TIME, {                                    \
                "energy", 0, 0, false                                                    \
            }                                                                            \
        }                                                                                \
    }
#define MS \
    { "t [ms]", 0, 1, false }
#define BLOCK                                                                                      \
    {                                                                                              \
        {"(a) individual energetic components", MS, {"energy [mJ]", 0, 0, false}},                 \
            {"(b) work and dissipation against total energy", MS, {"energy [mJ]", 0, 0, false}}, { \
            "(c) largest tangential work of a contact node", MS, {                                 \
                "w_T of a step [nJ]", 0, 0, false                                                  \
            }                                                                                      \
        }                                                                                          \
    }

static const Figure figures[] = {
    {.paper = "C",
     .name = "figure 2",
     .title = "The impacting stick, standard Moreau-Jean scheme, theta = 0.5, h = 1e-4",
     .claim = "C-08",
     .panel = STICK,
     .run = figure_2},
    {.paper = "C",
     .name = "figure 3",
     .title = "The impacting stick, new Moreau-Jean-Fr\xC3\xA9mond scheme, theta = 0.5, h = 1e-4",
     .claim = "C-09",
     .panel = STICK,
     .run = figure_3},
    {.paper = "C",
     .name = "figure 5",
     .title = "The mesh of the sliding block, characteristic length 1 mm",
     .claim = "C-14",
     .note = "The paper's mesh comes from a generator and is not given: ours is regular, two "
             "triangles per cell of 1 mm.",
     .panel = {{"mesh", {"x [mm]", 0, 0, false}, {"y [mm]", 0, 0, false}}},
     .equal = true,
     .run = figure_5},
    {.paper = "C",
     .name = "figure 6",
     .title = "The sliding block, classical Moreau-Jean method, theta = 0.5, h = 1e-4 ms",
     .claim = "C-14",
     .note = "Cells of 2.5 mm; with --all those of the paper, 1 mm.",
     .panel = BLOCK,
     .run = figure_6},
    {.paper = "C",
     .name = "figure 7",
     .title = "The sliding block, new Moreau-Jean-Fr\xC3\xA9mond method",
     .claim = "C-14",
     .note = "Cells of 2.5 mm; with --all those of the paper, 1 mm.",
     .panel = BLOCK,
     .run = figure_7},
};

FigureTable figures_fremond(void) {
    return (FigureTable){figures, sizeof figures / sizeof *figures};
}

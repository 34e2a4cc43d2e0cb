// The papers' sketches of their systems, drawn to scale from the data and the start of our models, and the figures that
// cannot be computed.
#include <math.h>

#include "app/verify/figure.h"
#include "app/verify/paper_systems.h"
#include "core/math3.h"

// ---- Pens ---------------------------------------------------------------------------------------

typedef struct Pen {
    Drawing* drawing;
    int panel;
} Pen;

static void line(const Pen* pen, const char* name, double x1, double y1, double x2, double y2) {
    double x[2] = {x1, x2}, y[2] = {y1, y2};
    drawing_curve(pen->drawing, pen->panel, name, SERIES_LINE, 2, x, y);
}

// What stands still: ground, walls, measures.
static void fixed(const Pen* pen, const char* name, double x1, double y1, double x2, double y2) {
    double x[2] = {x1, x2}, y[2] = {y1, y2};
    drawing_curve(pen->drawing, pen->panel, name, SERIES_DASHED, 2, x, y);
}

static void point(const Pen* pen, const char* name, double x, double y) {
    drawing_curve(pen->drawing, pen->panel, name, SERIES_POINTS, 1, &x, &y);
}

static void circle(const Pen* pen, const char* name, double cx, double cy, double r) {
    enum { POINTS = 121 };
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        x[i] = cx + r * cos(2 * LASH_PI * i / (POINTS - 1));
        y[i] = cy + r * sin(2 * LASH_PI * i / (POINTS - 1));
    }
    drawing_curve(pen->drawing, pen->panel, name, SERIES_LINE, POINTS, x, y);
}

typedef struct Box {
    double x, y, angle, width, height; // centre
} Box;

static void corner(const Box* box, int side_x, int side_y, double* x, double* y) {
    double u = 0.5 * side_x * box->width, v = 0.5 * side_y * box->height;
    *x = box->x + u * cos(box->angle) - v * sin(box->angle);
    *y = box->y + u * sin(box->angle) + v * cos(box->angle);
}

static void draw_box(const Pen* pen, const char* name, const Box* box) {
    static const int side[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    double x[5], y[5];
    for (int i = 0; i < 5; ++i) corner(box, side[i][0], side[i][1], &x[i], &y[i]);
    drawing_curve(pen->drawing, pen->panel, name, SERIES_LINE, 5, x, y);
}

// A zigzag between two places on a horizontal line.
static void spring(const Pen* pen, const char* name, double x1, double x2, double y, double size) {
    enum { TEETH = 9, POINTS = TEETH + 4 };
    double x[POINTS], height[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        x[i] = x1 + (x2 - x1) * i / (POINTS - 1);
        bool end = i < 2 || i > POINTS - 3;
        height[i] = y + (end ? 0 : size * (i % 2 == 0 ? 1 : -1));
    }
    drawing_curve(pen->drawing, pen->panel, name, SERIES_LINE, POINTS, x, height);
}

// ---- Paper A ------------------------------------------------------------------------------------

static void a_figure_1(Drawing* drawing) {
    LashPaperBall ball = lash_paper_ball();
    LashPaperOscillator oscillator = lash_paper_oscillator();
    LashPaperBlock block = lash_paper_block();
    Pen pen = {drawing, 0};
    fixed(&pen, "ground", -0.8, 0, 0.8, 0);
    circle(&pen, "ball at q(0)", 0, ball.q + 0.15, 0.15);
    line(&pen, "q", 0, 0, 0, ball.q);
    pen.panel = 1;
    fixed(&pen, "stop", oscillator.wall, -0.3, oscillator.wall, 0.3);
    Box mass = {oscillator.q + 0.15, 0, 0, 0.3, 0.3};
    draw_box(&pen, "mass at q(0)", &mass);
    spring(&pen, "spring k, damper c", oscillator.q + 0.3, oscillator.q + 1.3, 0, 0.08);
    fixed(&pen, "", oscillator.q + 1.3, -0.3, oscillator.q + 1.3, 0.3);
    pen.panel = 2;
    Box body = {block.q[0], block.q[1], block.q[2], block.width, block.height};
    double x, y;
    fixed(&pen, "ground", -1, 0, 1, 0);
    draw_box(&pen, "block at the start", &body);
    corner(&body, 1, -1, &x, &y);
    point(&pen, "corner A", x, y);
    corner(&body, -1, -1, &x, &y);
    point(&pen, "corner B", x, y);
    point(&pen, "centre of mass", block.q[0], block.q[1]);
}

static void a_figure_10(Drawing* drawing) {
    LashPaperBar bar = lash_paper_bar();
    double thick = sqrt(bar.area / LASH_PI);
    Pen pen = {drawing, 0};
    Box body = {0.05 + bar.length / 2, 0, 0, bar.length, 4 * thick};
    fixed(&pen, "rigid wall", 0, -0.2, 0, 0.2);
    draw_box(&pen, "bar of length L, twice as thick as it is", &body);
    line(&pen, "v0", 0.9, 0.12, 0.6, 0.12);
}

static void a_figure_19(Drawing* drawing) {
    const double R = 1, gap = 0.01, length = 1.55;
    Pen pen = {drawing, 0};
    circle(&pen, "ring, inner face", 0, 0, R);
    circle(&pen, "outer face, 2 mm on", 0, 0, R + 2e-3);
    line(&pen, "rod", 0, -R + gap, 0, -R + gap - length);
    point(&pen, "contact point", 0, -R + gap);
}

// Crank at 60 degrees; the slider's centre on the axis.
static void draw_crank(const Pen* pen, bool play) {
    LashPaperSliderCrank d = lash_paper_crank();
    double angle = LASH_PI / 3, x = d.l1 * cos(angle), y = d.l1 * sin(angle);
    double slider = x + sqrt(d.l2 * d.l2 - y * y), wall = d.b + (play ? d.c : 0);
    line(pen, "1 crank", 0, 0, x, y);
    line(pen, "2 connecting rod", x, y, slider, 0);
    Box box = {slider, 0, 0, 2 * d.a, 2 * d.b};
    draw_box(pen, "3 slider", &box);
    fixed(pen, play ? "guide, 1 mm of play" : "guide", 0.15, wall, 0.52, wall);
    fixed(pen, "", 0.15, -wall, 0.52, -wall);
    point(pen, "joints", 0, 0);
}
static void a_figure_21(Drawing* drawing) {
    Pen pen = {drawing, 0};
    draw_crank(&pen, true);
}

static void a_figure_22(Drawing* drawing) {
    LashPaperSliderCrank d = lash_paper_crank();
    Pen pen = {drawing, 0};
    Box box = {0, 0, 0, 2e3 * d.a, 2e3 * d.b};
    double wall = 1e3 * (d.b + d.c);
    draw_box(&pen, "slider, 2a by 2b", &box);
    fixed(&pen, "guide, d = 2b + 2c", -80, wall, 80, wall);
    fixed(&pen, "", -80, -wall, 80, -wall);
    pen.panel = 1;
    circle(&pen, "bore of the rod", 0, 0, 8.5);
    circle(&pen, "pin of the crank, play r = 0.5 mm", 0, -0.5, 8);
}

// ---- Paper B ------------------------------------------------------------------------------------

static void b_figure_1(Drawing* drawing) {
    double x1 = sin(LASH_PI / 3), y1 = -cos(LASH_PI / 3);
    double x2 = x1 + sin(LASH_PI / 5), y2 = y1 - cos(LASH_PI / 5);
    Pen pen = {drawing, 0};
    fixed(&pen, "wall", 0, 0.3, 0, -2.1);
    line(&pen, "rods of length 1", 0, 0, x1, y1);
    line(&pen, "", x1, y1, x2, y2);
    point(&pen, "m1", x1, y1);
    point(&pen, "m2", x2, y2);
}

static void b_figure_3(Drawing* drawing) {
    Pen pen = {drawing, 0};
    Box box = {3, 0.25, 0, 0.8, 0.5};
    fixed(&pen, "table, mu = 0.8", 1.8, 0, 4.2, 0);
    draw_box(&pen, "block, m = 1, at x = 3", &box);
    line(&pen, "8 cos(t)", 3.4, 0.25, 4.1, 0.25);
}

static void b_figure_5(Drawing* drawing) {
    Pen pen = {drawing, 0};
    Box left = {0.1 + 0.4, 0.3, 0, 0.8, 0.6}, right = {5.1 + 0.4, 0.3, 0, 0.8, 0.6};
    fixed(&pen, "floor and wall, mu = 0.05", -1.5, 0, 6.5, 0);
    fixed(&pen, "", -1.5, 0, -1.5, 0.8);
    spring(&pen, "spring gamma, rest at 0.2", -1.5, 0.1, 0.45, 0.1);
    draw_box(&pen, "cart 1", &left);
    draw_box(&pen, "cart 2", &right);
    line(&pen, "damper delta", 0.9, 0.3, 5.1, 0.3);
    line(&pen, "stopper x1 >= 0", 0, 0, 0, 0.2);
}

// ---- Paper C ------------------------------------------------------------------------------------

static void c_figure_1(Drawing* drawing) {
    LashPaperStick d = lash_paper_stick();
    double u = d.length / 2 * sin(d.q[2]), v = -d.length / 2 * cos(d.q[2]);
    Pen pen = {drawing, 0};
    fixed(&pen, "ground", -0.2, 0, 1, 0);
    line(&pen, "stick at the start", d.q[0] - u, d.q[1] - v, d.q[0] + u, d.q[1] + v);
    point(&pen, "G", d.q[0], d.q[1]);
    point(&pen, "C", d.q[0] + u, d.q[1] + v);
}

static void c_figure_4(Drawing* drawing) {
    LashPaperElasticBlock d = lash_paper_elastic_block();
    double w = 1e3 * d.width, h = 1e3 * d.height;
    Pen pen = {drawing, 0};
    Box box = {w / 2, h / 2, 0, w, h};
    fixed(&pen, "floor", -8, 0, w + 8, 0);
    draw_box(&pen, "block, 40 by 25 mm, 15 mm thick", &box);
    line(&pen, "traction on the left side", -7, h / 2, -0.5, h / 2);
    fixed(&pen, "top held 5 um lower", 0, h + 1, w, h + 1);
}

// ---- Paper E ------------------------------------------------------------------------------------

static void e_figure_2(Drawing* drawing) {
    LashPaperSliderCrank d = lash_paper_crank();
    Pen pen = {drawing, 0};
    const double angle = 0.012, lift = 0.1; // turned so far that the gaps differ [rad, mm]
    Box box = {0, lift, angle, 2e3 * d.a, 2e3 * d.b};
    double wall = 1e3 * (d.b + d.c);
    static const int side[4][2] = {{-1, 1}, {1, 1}, {-1, -1}, {1, -1}};
    static const char* const name[4] = {"g1", "g2", "g3", "g4"};
    fixed(&pen, "walls", -80, wall, 80, wall);
    fixed(&pen, "", -80, -wall, 80, -wall);
    draw_box(&pen, "slider, turned by 0.012 rad", &box);
    for (int c = 0; c < 4; ++c) {
        double x, y;
        corner(&box, side[c][0], side[c][1], &x, &y);
        line(&pen, name[c], x, y, x, side[c][1] * wall);
    }
}

static void e_figure_5(Drawing* drawing) {
    Pen pen = {drawing, 0};
    draw_crank(&pen, false);
}

// ---- Table --------------------------------------------------------------------------------------

#define METRES              \
    {"[m]", 0, 0, false}, { \
        "[m]", 0, 0, false  \
    }
#define MILLIMETRES          \
    {"[mm]", 0, 0, false}, { \
        "[mm]", 0, 0, false  \
    }
#define SCALE "To scale, from the data of the model."

static const Figure figures[] = {
    {.paper = "A",
     .name = "figure 1",
     .title = "Simple archetypal test examples",
     .claim = "A-03",
     .note = SCALE,
     .panel = {{"(a) bouncing ball", METRES},
               {"(b) linear oscillator", METRES},
               {"(c) rocking block", METRES}},
     .equal = true,
     .run = a_figure_1},
    {.paper = "A",
     .name = "figure 10",
     .title = "The elastic impacting bar problem",
     .claim = "A-24",
     .panel = {{"bar and wall", METRES}},
     .equal = true,
     .run = a_figure_10},
    {.paper = "A",
     .name = "figure 19",
     .title = "Pendulum in a ring",
     .claim = "A-34",
     .note = SCALE " The paper's other views are pictures of its CAD model.",
     .panel = {{"at the start", METRES}},
     .equal = true,
     .run = a_figure_19},
    {.paper = "A",
     .name = "figure 21",
     .title = "Classical slider-crank mechanism with clearances",
     .claim = "A-37",
     .note = SCALE " The crank is turned by 60 degrees.",
     .panel = {{"crank, connecting rod, slider", METRES}},
     .equal = true,
     .run = a_figure_21},
    {.paper = "A",
     .name = "figure 22",
     .title = "Details of the clearance modeling",
     .claim = "A-50",
     .note = SCALE,
     .panel = {{"clearance in the translational joint", MILLIMETRES},
               {"clearance in the revolute joint between crank and rod", MILLIMETRES}},
     .equal = true,
     .run = a_figure_22},
    {.paper = "A",
     .name = "figure 27",
     .title = "CAD view of the slider-crank mechanism",
     .claim = "A-47",
     .note = "A picture of the authors' CAD model, which is not published; `lash view "
             "models/slider_crank/all_play.json` "
             "shows ours."},
    {.paper = "A",
     .name = "figure 31",
     .title = "C60 electrical circuit breaker mechanism",
     .claim = "A-49",
     .note = "Pictures of a product whose data are not published; `lash view "
             "models/circuit_breaker/breaker.json` shows a "
             "design of our own after its topology."},
    {.paper = "B",
     .name = "figure 1",
     .title = "A double pendulum with a long wall",
     .claim = "B-05",
     .note = SCALE,
     .panel = {{"at the start", METRES}},
     .equal = true,
     .run = b_figure_1},
    {.paper = "B",
     .name = "figure 3",
     .title = "A block sliding on a frictional table",
     .claim = "B-13",
     .panel = {{"at the start", METRES}},
     .equal = true,
     .run = b_figure_3},
    {.paper = "B",
     .name = "figure 5",
     .title = "Two carts and a stopper",
     .claim = "B-24",
     .panel = {{"at the start of figure 6", METRES}},
     .equal = true,
     .run = b_figure_5},
    {.paper = "B",
     .name = "figure 8",
     .title = "Examples of UMBRA simulations",
     .claim = "B-27",
     .note = "Pictures of two simulations (rover, micro-mechanical pawl) for which the paper gives "
             "no data."},
    {.paper = "C",
     .name = "figure 1",
     .title = "The geometry of the impacting stick",
     .claim = "C-11",
     .note = SCALE,
     .panel = {{"at the start", METRES}},
     .equal = true,
     .run = c_figure_1},
    {.paper = "C",
     .name = "figure 4",
     .title = "A sliding block under self-weight and an applied sliding force",
     .claim = "C-14",
     .note = SCALE,
     .panel = {{"block and floor", MILLIMETRES}},
     .equal = true,
     .run = c_figure_4},
    {.paper = "E",
     .name = "figure 1",
     .title = "Slider-crank mechanism with unilateral constraints",
     .claim = "E-01",
     .note = SCALE,
     .panel = {{"crank, connecting rod, slider", METRES}},
     .equal = true,
     .run = a_figure_21},
    {.paper = "E",
     .name = "figure 2",
     .title = "Definition of the gap functions for the slider-crank mechanism with unilateral "
              "constraints",
     .claim = "E-02",
     .note = SCALE,
     .panel = {{"the four gaps", MILLIMETRES}},
     .equal = true,
     .run = e_figure_2},
    {.paper = "E",
     .name = "figure 5",
     .title = "Slider-crank mechanism with bilateral constraints",
     .claim = "E-08",
     .note = SCALE,
     .panel = {{"crank, connecting rod, slider", METRES}},
     .equal = true,
     .run = e_figure_5},
    {.paper = "E",
     .name = "figure 7",
     .title = "Flowchart of the proposed unified timestepping scheme",
     .claim = "E-09",
     .note = "A flowchart: nothing to compute. The scheme is described in docs/schemes.md and "
             "solvers/schemes/ggl.c."},
};

FigureTable figures_sketch(void) {
    return (FigureTable){figures, sizeof figures / sizeof *figures};
}

// The test problems of the papers as Lagrangian systems, for verification, benchmarks and tests.
//
// Every function takes its data by a struct; NULL means the data the paper states. Tangents of
// planar contacts are the normal turned by +90 degrees. The caller owns the result
// (lash_lagrangian_destroy). [A12] Acary, RR-8029; [AC24] Acary and Collins-Craft; [S12] Schindler
// et al.
#ifndef LASH_CORE_PAPER_SYSTEMS_H
#define LASH_CORE_PAPER_SYSTEMS_H

#include "core/lagrangian.h"

#ifdef __cplusplus
extern "C" {
#endif

// [A12] example 1: m dv/dt = force, q >= 0. Default: Ballard's ball, at rest from t = 3 on.
typedef struct LashPaperBall {
    double mass, force; // [kg], constant, downwards negative [N]
    double e;
    double q, v; // initial [m, m/s]
} LashPaperBall;
LashPaperBall lash_paper_ball(void);
LashLagrangian* lash_paper_bouncing_ball(const LashPaperBall* data);

// [A12] example 2: m dv/dt + c v + k q = force, q >= wall.
typedef struct LashPaperOscillator {
    double mass, damping, stiffness; // [kg, N s/m, N/m]
    double force, wall, e;           // [N, m]
    double q, v;                     // initial
} LashPaperOscillator;
LashPaperOscillator lash_paper_oscillator(void); // undamped, wall at the rest position
LashLagrangian* lash_paper_linear_oscillator(const LashPaperOscillator* data);

// [A12] example 3: q = (x, y, theta) of the mass centre, corners A and B on the ground.
typedef struct LashPaperBlock {
    double width, height; // L along the ground, l across it [m]
    double mass, gravity; // [kg, m/s^2]
    double e, mu;         // mu = 0: normal rows only
    double q[3], v[3];    // initial [m, rad; m/s, rad/s]
} LashPaperBlock;
LashPaperBlock lash_paper_block(void);
LashLagrangian* lash_paper_rocking_block(const LashPaperBlock* data);

// [A12] section 6.4, [S12]: crank, rod, slider with play in its guide; q = absolute angles of the
// three. Contacts corner.1, corner.2 (rear, front) on the upper wall, corner.3, corner.4 on the
// lower.
typedef struct LashPaperSliderCrank {
    double l1, l2;     // crank, rod [m]
    double a, b;       // half length, half height of the slider [m]
    double c;          // play on each side: the guide is 2 b + 2 c high [m]
    double m1, m2, m3; // [kg]
    double J1, J2, J3; // about the mass centres [kg m^2]
    double gravity;    // downwards [m/s^2]
    double e, mu;      // mu = 0: normal rows only
    bool ideal;        // no play: the slider's centre is held on the axis by a bilateral row
    double q[3], v[3]; // initial angles and speeds [rad, rad/s]
} LashPaperSliderCrank;
LashPaperSliderCrank lash_paper_crank(void); // J2 = 5.9e-4 of [S12]; [A12] prints 8.9e-4
LashLagrangian* lash_paper_slider_crank(const LashPaperSliderCrank* data);

// [AC24] section 5.1: q = (x, y, gamma); the lower end (x + l/2 sin gamma, y - l/2 cos gamma)
// meets the ground.
typedef struct LashPaperStick {
    double length, mass, gravity, e, mu;
    double q[3], v[3];
} LashPaperStick;
LashPaperStick lash_paper_stick(void);
LashLagrangian* lash_paper_impacting_stick(const LashPaperStick* data);

// [A12] figure 8: a slider falls on a roller that a torque turns; q = (gap y, roller angle). It
// comes to rest because torque < mu R m g.
typedef struct LashPaperRoller {
    double radius, inertia; // of the roller [m, kg m^2]
    double torque;          // on the roller [N m]
    double mass, gravity;   // of the slider [kg, m/s^2]
    double e, mu;
    double y, vy; // initial [m, m/s]
} LashPaperRoller;
LashPaperRoller lash_paper_roller(void); // the paper gives no numbers: ours
LashLagrangian* lash_paper_slider_on_roller(const LashPaperRoller* data);

// [A12] section 6.2: N linear rod elements (N + 1 nodes) against a wall at node 0; q = node
// displacements from touching the wall unstrained.
typedef struct LashPaperBar {
    double length, area;     // [m, m^2]
    double density, modulus; // [kg/m^3, Pa]
    double gap, speed;       // initial, of all nodes [m, m/s]
    double e;
    bool lumped; // diagonal mass matrix instead of the consistent one
} LashPaperBar;
LashPaperBar lash_paper_bar(void);
LashLagrangian* lash_paper_impacting_bar(int elements, const LashPaperBar* data);

// [AC24] section 5.2: elastic block pressed on a rigid floor and pushed to and fro; linear
// triangles, plane stress, consistent mass. The top boundary is held at height `press`; a traction
// traction sgn(sin(2 pi frequency t)) acts along x on the left one. Starts at rest in the static
// shape that the pressed block has when it sticks to the floor. Coordinates: (x, y) displacements
// of the nodes column by column, bottom to top, left to right, y of the top left out. Contacts
// "floor.1" ... from left to right, all touching.
typedef struct LashPaperElasticBlock {
    int columns, rows;                   // cells of the mesh, two triangles each
    double width, height, thickness;     // [m]
    double modulus, poisson, density;    // [Pa, -, kg/m^3]
    double press;                        // displacement of the top boundary, downwards negative [m]
    double traction, frequency, gravity; // [Pa, Hz, m/s^2]
    double e, mu;
} LashPaperElasticBlock;
LashPaperElasticBlock lash_paper_elastic_block(void); // cells of 2.5 mm; the paper's are 1 mm
LashLagrangian* lash_paper_sliding_block(const LashPaperElasticBlock* data);

#ifdef __cplusplus
}
#endif
#endif

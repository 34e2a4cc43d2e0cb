// The papers' test problems. Each section opens with its equations; derivatives are exact.
#include "app/verify/paper_systems.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/math3.h"

static LashLinearContact unilateral(double g0, int dof, double e, const char* name) {
    LashLinearContact contact = {.kind = LASH_UNILATERAL, .rows = 1, .e = e, .name = name};
    contact.row[0] = (LashLinearRow){g0, 1, {dof}, {1}};
    return contact;
}

// ---- Ball and oscillator: m dv + (c v + k q - f) dt = dP, 0 <= q - wall -------------------------

LashPaperBall lash_paper_ball(void) {
    return (LashPaperBall){.mass = 1, .force = -2, .e = 0.5, .q = 1};
}

LashPaperOscillator lash_paper_oscillator(void) {
    return (LashPaperOscillator){.mass = 1, .stiffness = 1, .e = 0.5, .q = 1};
}

LashLagrangian* lash_paper_linear_oscillator(const LashPaperOscillator* data) {
    LashPaperOscillator d = data != NULL ? *data : lash_paper_oscillator();
    LashLinearContact wall = unilateral(-d.wall, 0, d.e, "wall");
    LashLinearDef def = lash_linear_def();
    def.n = 1;
    def.M = &d.mass;
    def.C = &d.damping;
    def.K = &d.stiffness;
    def.load = &d.force;
    def.q0 = &d.q;
    def.v0 = &d.v;
    def.contact = &wall;
    def.contacts = 1;
    return lash_linear_create(&def);
}

LashLagrangian* lash_paper_bouncing_ball(const LashPaperBall* data) {
    LashPaperBall d = data != NULL ? *data : lash_paper_ball();
    LashLinearContact ground = unilateral(0, 0, d.e, "ground");
    LashLinearDef def = lash_linear_def();
    def.n = 1;
    def.M = &d.mass;
    def.load = &d.force;
    def.q0 = &d.q;
    def.v0 = &d.v;
    def.contact = &ground;
    def.contacts = 1;
    return lash_linear_create(&def);
}

// ---- A planar body over flat ground: rocking block and stick ------------------------------------
//
// Mass centre (x, y), angle a. A material point (u, w) of the body stands at
//     X = x + u cos a - w sin a,   Y = y + u sin a + w cos a
// so that with r = Y - y and s = X - x
//     dY/da = s,   dX/da = -r,   d2Y/da2 = -r,   d2X/da2 = -s
// The contact is g = Y, n = (0, 1), t = (-1, 0): G = [dY, -dX].

typedef struct PlanarBody {
    double mass, inertia, gravity;
    double point[2][2]; // (u, w)
} PlanarBody;

static void planar_prepare(const void* context, const double* q, double* shared) {
    (void)context;
    shared[0] = sin(q[2]);
    shared[1] = cos(q[2]);
}

static void planar_mass(const LashLagrangianPoint* at, double* M) {
    const PlanarBody* body = at->context;
    M[0] = M[4] = body->mass;
    M[8] = body->inertia;
}

static void planar_force(const LashLagrangianPoint* at, const double* v, double* F) {
    (void)v;
    const PlanarBody* body = at->context;
    F[1] = -body->mass * body->gravity;
}

static void planar_tangents(const LashLagrangianPoint* at, const double* v, double* dFdv,
                            double* dFdq) {
    (void)at;
    (void)v;
    (void)dFdv;
    (void)dFdq; // the force is constant
}

static void planar_weight(const LashLagrangianPoint* at, double* F) {
    planar_force(at, NULL, F);
}

static double planar_potential(const LashLagrangianPoint* at) {
    const PlanarBody* body = at->context;
    return body->mass * body->gravity * at->q[1];
}

static void planar_arm(const LashLagrangianPoint* at, int which, double* s, double* r) {
    const double* p = ((const PlanarBody*)at->context)->point[which];
    *s = p[0] * at->shared[1] - p[1] * at->shared[0];
    *r = p[0] * at->shared[0] + p[1] * at->shared[1];
}

static void planar_normal(const LashLagrangianPoint* at, int which, double* g, double* g_t,
                          double* G) {
    (void)g_t;
    double s, r;
    planar_arm(at, which, &s, &r);
    g[0] = at->q[1] + r;
    if (G != NULL) {
        G[1] = 1;
        G[2] = s;
    }
}

static void planar_friction(const LashLagrangianPoint* at, int which, double* g, double* g_t,
                            double* G) {
    (void)g_t;
    double s, r;
    planar_arm(at, which, &s, &r);
    g[0] = at->q[1] + r;
    if (G == NULL) return;
    G[1] = 1;
    G[2] = s;
    G[3] = -1;
    G[5] = r;
}

static void planar_normal_contract(const LashLagrangianPoint* at, int which, const double* P,
                                   const double* v, double* dGP, double* dGv) {
    double s, r;
    planar_arm(at, which, &s, &r);
    if (dGP != NULL) dGP[8] = -r * P[0];
    if (dGv != NULL) dGv[2] = -r * v[2];
}

static void planar_friction_contract(const LashLagrangianPoint* at, int which, const double* P,
                                     const double* v, double* dGP, double* dGv) {
    double s, r;
    planar_arm(at, which, &s, &r);
    if (dGP != NULL) dGP[8] = -r * P[0] + s * P[1];
    if (dGv != NULL) {
        dGv[4] = -r * v[2];
        dGv[5] = s * v[2];
    } // (2 x 3), last column
}

static LashLagrangian* create_planar(const PlanarBody* body, const double* q, const double* v,
                                     double e, double mu, const char* const* names, int contacts) {
    LashLagrangianContact contact[2] = {{0}};
    for (int i = 0; i < contacts; ++i) {
        contact[i] = (LashLagrangianContact){
            .kind = LASH_UNILATERAL,
            .rows = mu > 0 ? 2 : 1,
            .which = i,
            .e = e,
            .mu = mu,
            .name = names[i],
            .evaluate = mu > 0 ? planar_friction : planar_normal,
            .contract = mu > 0 ? planar_friction_contract : planar_normal_contract};
    }
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 3;
    def.q0 = q;
    def.v0 = v;
    def.context = body;
    def.context_bytes = sizeof *body;
    def.shared = 2;
    def.prepare = planar_prepare;
    def.constant_mass = true;
    def.mass = planar_mass;
    def.force = planar_force;
    def.force_tangents = planar_tangents;
    def.potential = planar_potential;
    def.conservative = planar_weight;
    def.contact = contact;
    def.contacts = contacts;
    return lash_lagrangian_create(&def);
}

LashPaperBlock lash_paper_block(void) {
    return (LashPaperBlock){.width = 1,
                            .height = 1.5,
                            .mass = 1,
                            .gravity = 9.81,
                            .e = 0.5,
                            .q = {0, 1, 0.2},
                            .v = {0, 0, 0.2}};
}

LashLagrangian* lash_paper_rocking_block(const LashPaperBlock* data) {
    LashPaperBlock d = data != NULL ? *data : lash_paper_block();
    static const char* const names[] = {"A", "B"};
    // [A12 (9)]: f_A = y - l/2 cos + L/2 sin, f_B = y - l/2 cos - L/2 sin
    PlanarBody body = {.mass = d.mass,
                       .inertia = d.mass / 12 * (d.height * d.height + d.width * d.width),
                       .gravity = d.gravity,
                       .point = {{d.width / 2, -d.height / 2}, {-d.width / 2, -d.height / 2}}};
    return create_planar(&body, d.q, d.v, d.e, d.mu, names, 2);
}

LashPaperStick lash_paper_stick(void) {
    double half = 0.5 * sin(LASH_PI / 4);
    return (LashPaperStick){.length = 1,
                            .mass = 1,
                            .gravity = 10,
                            .e = 1,
                            .mu = 0.01,
                            .q = {half, half + 0.01, LASH_PI / 4},
                            .v = {-0.5, 0.1, 0.1}};
}

LashLagrangian* lash_paper_impacting_stick(const LashPaperStick* data) {
    LashPaperStick d = data != NULL ? *data : lash_paper_stick();
    static const char* const names[] = {"tip"};
    PlanarBody body = {.mass = d.mass,
                       .inertia = d.mass * d.length * d.length / 12,
                       .gravity = d.gravity,
                       .point = {{0, -d.length / 2}}};
    return create_planar(&body, d.q, d.v, d.e, d.mu, names, 1);
}

// ---- Slider-crank -------------------------------------------------------------------------------
//
// Absolute angles q1, q2, q3 of crank, rod, slider; mass centres in the middle of crank and rod, at
// the rod's end for the slider. With s_i = sin q_i, c_i = cos q_i:
//     x3 = l1 c1 + l2 c2,  y3 = l1 s1 + l2 s2
//     M11 = J1 + l1^2 (m1/4 + m2 + m3),  M22 = J2 + l2^2 (m2/4 + m3),  M33 = J3
//     M12 = k cos(q1 - q2),  k = l1 l2 (m2/2 + m3)
//     F1 = -k sin(q1 - q2) v2^2 - w1 c1,   w1 = gravity l1 (m1/2 + m2 + m3)
//     F2 = +k sin(q1 - q2) v1^2 - w2 c2,   w2 = gravity l2 (m2/2 + m3)
//     V  = w1 s1 + w2 s2
// A point (u, w) of the slider: Y = y3 + u s3 + w c3, X = x3 + u c3 - w s3, d = 2 b + 2 c:
//     upper wall  g = d/2 - Y,  n = (0, -1),  t = (1, 0)
//     lower wall  g = d/2 + Y,  n = (0, 1),   t = (-1, 0)
// These are (14)-(20) of [S12] with the signs their print lost. Second derivatives of X and Y are
// diagonal.

typedef struct Crank {
    double l1, l2, half_guide;  // half_guide = b + c [m]
    double M11, M22, M33, k;    // [kg m^2]
    double w1, w2;              // [N m]
    double side[5], u[5], w[5]; // corners: +1 upper wall, -1 lower; 4: the slider's centre
} Crank;

enum { S1, C1, S2, C2, S3, C3, CRANK_SHARED };

static void crank_prepare(const void* context, const double* q, double* shared) {
    (void)context;
    shared[S1] = sin(q[0]);
    shared[C1] = cos(q[0]);
    shared[S2] = sin(q[1]);
    shared[C2] = cos(q[1]);
    shared[S3] = sin(q[2]);
    shared[C3] = cos(q[2]);
}

static double sin_12(const double* s) { // sin(q1 - q2)
    return s[S1] * s[C2] - s[C1] * s[S2];
}

static double cos_12(const double* s) {
    return s[C1] * s[C2] + s[S1] * s[S2];
}

static void crank_mass(const LashLagrangianPoint* at, double* M) {
    const Crank* crank = at->context;
    M[0] = crank->M11;
    M[1] = M[3] = crank->k * cos_12(at->shared);
    M[4] = crank->M22;
    M[8] = crank->M33;
}

// M a = (.. + M12 a2, M12 a1 + .., ..), dM12 = -k sin(q1 - q2) (dq1 - dq2)
static void crank_mass_tangent(const LashLagrangianPoint* at, const double* a, double* dMa) {
    const Crank* crank = at->context;
    double slope = -crank->k * sin_12(at->shared);
    dMa[0] = slope * a[1];
    dMa[3] = -slope * a[1];
    dMa[1] = slope * a[0];
    dMa[4] = -slope * a[0];
}

static void crank_force(const LashLagrangianPoint* at, const double* v, double* F) {
    const Crank* crank = at->context;
    double ks = crank->k * sin_12(at->shared);
    F[0] = -ks * v[1] * v[1] - crank->w1 * at->shared[C1];
    F[1] = ks * v[0] * v[0] - crank->w2 * at->shared[C2];
}

static void crank_force_tangents(const LashLagrangianPoint* at, const double* v, double* dFdv,
                                 double* dFdq) {
    const Crank* crank = at->context;
    double ks = crank->k * sin_12(at->shared), kc = crank->k * cos_12(at->shared);
    dFdv[3] = -2 * ks * v[1];
    dFdv[1] = 2 * ks * v[0];
    dFdq[0] = -kc * v[1] * v[1] + crank->w1 * at->shared[S1];
    dFdq[3] = kc * v[1] * v[1];
    dFdq[1] = kc * v[0] * v[0];
    dFdq[4] = -kc * v[0] * v[0] + crank->w2 * at->shared[S2];
}

static void crank_weight(const LashLagrangianPoint* at, double* F) {
    const Crank* crank = at->context;
    F[0] = -crank->w1 * at->shared[C1];
    F[1] = -crank->w2 * at->shared[C2];
}

static double crank_potential(const LashLagrangianPoint* at) {
    const Crank* crank = at->context;
    return crank->w1 * at->shared[S1] + crank->w2 * at->shared[S2];
}

static void crank_normal(const LashLagrangianPoint* at, int which, double* g, double* g_t,
                         double* G) {
    (void)g_t;
    const Crank* crank = at->context;
    const double* s = at->shared;
    double side = crank->side[which], u = crank->u[which], w = crank->w[which];
    g[0] =
        crank->half_guide - side * (crank->l1 * s[S1] + crank->l2 * s[S2] + u * s[S3] + w * s[C3]);
    if (G == NULL) return;
    G[0] = -side * crank->l1 * s[C1];
    G[1] = -side * crank->l2 * s[C2];
    G[2] = -side * (u * s[C3] - w * s[S3]);
}

static void crank_friction(const LashLagrangianPoint* at, int which, double* g, double* g_t,
                           double* G) {
    crank_normal(at, which, g, g_t, G);
    if (G == NULL) return;
    const Crank* crank = at->context;
    const double* s = at->shared;
    double side = crank->side[which];
    G[3] = -side * crank->l1 * s[S1];
    G[4] = -side * crank->l2 * s[S2];
    G[5] = -side * (crank->u[which] * s[S3] + crank->w[which] * s[C3]);
}

// Second derivatives of -side Y (normal row) and side X (tangential row), diagonal in q
static void crank_curvature(const LashLagrangianPoint* at, int which, double* n, double* t) {
    const Crank* crank = at->context;
    const double* s = at->shared;
    double side = crank->side[which], u = crank->u[which], w = crank->w[which];
    n[0] = side * crank->l1 * s[S1];
    n[1] = side * crank->l2 * s[S2];
    n[2] = side * (u * s[S3] + w * s[C3]);
    t[0] = -side * crank->l1 * s[C1];
    t[1] = -side * crank->l2 * s[C2];
    t[2] = -side * (u * s[C3] - w * s[S3]);
}

static void crank_normal_contract(const LashLagrangianPoint* at, int which, const double* P,
                                  const double* v, double* dGP, double* dGv) {
    double n[3], t[3];
    crank_curvature(at, which, n, t);
    for (int i = 0; i < 3; ++i) {
        if (dGP != NULL) dGP[4 * i] = n[i] * P[0];
        if (dGv != NULL) dGv[i] = n[i] * v[i];
    }
}

static void crank_friction_contract(const LashLagrangianPoint* at, int which, const double* P,
                                    const double* v, double* dGP, double* dGv) {
    double n[3], t[3];
    crank_curvature(at, which, n, t);
    for (int i = 0; i < 3; ++i) {
        if (dGP != NULL) dGP[4 * i] = n[i] * P[0] + t[i] * P[1];
        if (dGv != NULL) {
            dGv[2 * i] = n[i] * v[i];
            dGv[2 * i + 1] = t[i] * v[i];
        }
    }
}

LashPaperSliderCrank lash_paper_crank(void) {
    return (LashPaperSliderCrank){.l1 = 0.153,
                                  .l2 = 0.306,
                                  .a = 0.05,
                                  .b = 0.025,
                                  .c = 0.001,
                                  .m1 = 0.038,
                                  .m2 = 0.038,
                                  .m3 = 0.076,
                                  .J1 = 7.4e-5,
                                  .J2 = 5.9e-4,
                                  .J3 = 2.7e-6,
                                  .gravity = 9.81,
                                  .e = 0.4,
                                  .mu = 0.01,
                                  .v = {150, -75, 0}};
}

static Crank crank_context(const LashPaperSliderCrank* paper_slider_crank) {
    double end = paper_slider_crank->m2 / 2 +
                 paper_slider_crank->m3; // mass that moves with the rod's end, to first order
    Crank crank = {
        .l1 = paper_slider_crank->l1,
        .l2 = paper_slider_crank->l2,
        .half_guide = paper_slider_crank->ideal ? 0 : paper_slider_crank->b + paper_slider_crank->c,
        .M11 = paper_slider_crank->J1 +
               paper_slider_crank->l1 * paper_slider_crank->l1 *
                   (paper_slider_crank->m1 / 4 + paper_slider_crank->m2 + paper_slider_crank->m3),
        .M22 = paper_slider_crank->J2 + paper_slider_crank->l2 * paper_slider_crank->l2 *
                                            (paper_slider_crank->m2 / 4 + paper_slider_crank->m3),
        .M33 = paper_slider_crank->J3,
        .k = paper_slider_crank->l1 * paper_slider_crank->l2 * end,
        .w1 = paper_slider_crank->gravity * paper_slider_crank->l1 *
              (paper_slider_crank->m1 / 2 + paper_slider_crank->m2 + paper_slider_crank->m3),
        .w2 = paper_slider_crank->gravity * paper_slider_crank->l2 * end,
        .side = {1, 1, -1, -1, -1},
        .u = {-paper_slider_crank->a, paper_slider_crank->a, -paper_slider_crank->a,
              paper_slider_crank->a, 0},
        .w = {paper_slider_crank->b, paper_slider_crank->b, -paper_slider_crank->b,
              -paper_slider_crank->b, 0}};
    return crank;
}

LashLagrangian* lash_paper_slider_crank(const LashPaperSliderCrank* data) {
    LashPaperSliderCrank d = data != NULL ? *data : lash_paper_crank();
    Crank crank = crank_context(&d);
    bool friction = d.mu > 0 && !d.ideal;
    static const char* const names[] = {"corner.1", "corner.2", "corner.3", "corner.4", "guide"};
    LashLagrangianContact contact[5];
    for (int i = 0; i < 5; ++i) {
        contact[i] = (LashLagrangianContact){
            .kind = i < 4 ? LASH_UNILATERAL : LASH_BILATERAL,
            .rows = friction ? 2 : 1,
            .which = i,
            .e = d.e,
            .mu = d.mu,
            .name = names[i],
            .evaluate = friction ? crank_friction : crank_normal,
            .contract = friction ? crank_friction_contract : crank_normal_contract};
    }
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 3;
    def.q0 = d.q;
    def.v0 = d.v;
    def.context = &crank;
    def.context_bytes = sizeof crank;
    def.shared = CRANK_SHARED;
    def.prepare = crank_prepare;
    def.mass = crank_mass;
    def.mass_tangent = crank_mass_tangent;
    def.force = crank_force;
    def.force_tangents = crank_force_tangents;
    def.potential = crank_potential;
    def.conservative = crank_weight;
    def.contact = d.ideal ? contact + 4 : contact;
    def.contacts = d.ideal ? 1 : 4;
    def.length = d.l1;
    return lash_lagrangian_create(&def);
}

// ---- Slider on a roller: m dvy = -m g dt + dP_n, J dw = torque dt - R dP_t ----------------------
//
// The slider only moves up and down. Its velocity relative to the roller's top, which moves with
// -R w along x, has the component -R w along t = (-1, 0).

LashPaperRoller lash_paper_roller(void) {
    double mu = 0.3, radius = 0.1, mass = 1, gravity = 9.81;
    return (LashPaperRoller){.radius = radius,
                             .inertia = 0.5 * mass * radius * radius,
                             .torque = 0.5 * mu * radius * mass * gravity,
                             .mass = mass,
                             .gravity = gravity,
                             .e = 0.5,
                             .mu = mu,
                             .y = 0.05};
}

LashLagrangian* lash_paper_slider_on_roller(const LashPaperRoller* data) {
    LashPaperRoller d = data != NULL ? *data : lash_paper_roller();
    LashLinearContact contact = unilateral(0, 0, d.e, "roller");
    contact.rows = 2;
    contact.mu = d.mu;
    contact.row[1] = (LashLinearRow){0, 1, {1}, {-d.radius}};
    LashLinearDef def = lash_linear_def();
    def.n = 2;
    def.M = (double[]){d.mass, d.inertia};
    def.load = (double[]){-d.mass * d.gravity, d.torque};
    def.q0 = (double[]){d.y, 0};
    def.v0 = (double[]){d.vy, 0};
    def.contact = &contact;
    def.contacts = 1;
    def.length = d.radius;
    return lash_linear_create(&def);
}

// ---- Impacting bar: M_e = rho S l/6 [2 1; 1 2], K_e = E S/l [1 -1; -1 1]           [A12 (71)]
// ----

LashPaperBar lash_paper_bar(void) {
    return (LashPaperBar){.length = 1,
                          .area = LASH_PI * 1e-4, // printed 3.14e+04; 3.14159e-4 gives r = 1271.472
                          .density = 7800,
                          .modulus = 210e9,
                          .gap = 5e-5,
                          .speed = -0.1};
}

LashLagrangian* lash_paper_impacting_bar(int elements, const LashPaperBar* data) {
    LASH_ASSERT(elements >= 1);
    LashPaperBar d = data != NULL ? *data : lash_paper_bar();
    int n = elements + 1;
    double l = d.length / elements, m = d.density * d.area * l, k = d.modulus * d.area / l;
    double diagonal = d.lumped ? m / 2 : m / 3, beside = d.lumped ? 0 : m / 6;
    double* memory = lash_alloc((size_t)(8 * n) * sizeof *memory);
    double *M = memory, *K = M + 3 * n, *q = K + 3 * n, *v = q + n; // bands: 3 per row
    for (int i = 0; i < elements; ++i) {                            // element between i and i + 1
        M[3 * i + 1] += diagonal;
        M[3 * (i + 1) + 1] += diagonal;
        M[3 * i + 2] = M[3 * (i + 1)] = beside;
        K[3 * i + 1] += k;
        K[3 * (i + 1) + 1] += k;
        K[3 * i + 2] = K[3 * (i + 1)] = -k;
    }
    for (int i = 0; i < n; ++i) {
        q[i] = d.gap;
        v[i] = d.speed;
    }
    LashLinearContact wall = unilateral(0, 0, d.e, "wall");
    LashLinearDef def = lash_linear_def();
    def.n = n;
    def.bandwidth = 1;
    def.M = M;
    def.K = K;
    def.q0 = q;
    def.v0 = v;
    def.contact = &wall;
    def.contacts = 1;
    def.length = d.length;
    LashLagrangian* bar = lash_linear_create(&def);
    lash_free(memory);
    return bar;
}

// Examples of [P06].
#include "app/verify/potra_systems.h"

#include <math.h>

static const double GRAVITY = 9.81;

// ---- Double pendulum ----------------------------------------------------------------------------

static void unit_masses(const LashLagrangianPoint* at, double* M) {
    (void)at;
    for (int i = 0; i < 4; ++i) M[5 * i] = 1;
}
static void weights(const LashLagrangianPoint* at, const double* v, double* F) {
    (void)at;
    (void)v;
    F[1] = F[3] = -GRAVITY;
}
static void no_tangents(const LashLagrangianPoint* at, const double* v, double* dFdv,
                        double* dFdq) {
    (void)at;
    (void)v;
    (void)dFdv;
    (void)dFdq; // the force is constant
}
static double heights(const LashLagrangianPoint* at) {
    return GRAVITY * (at->q[1] + at->q[3]);
}
static void rod(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G) {
    (void)g_t;
    const double* q = at->q;
    double x = which == 0 ? q[0] : q[2] - q[0], y = which == 0 ? q[1] : q[3] - q[1];
    g[0] = x * x + y * y - 1;
    if (G == NULL) return;
    int end = 2 * which;
    G[end] = 2 * x;
    G[end + 1] = 2 * y;
    if (which == 0) return;
    G[0] = -2 * x;
    G[1] = -2 * y;
}
static void wall(const LashLagrangianPoint* at, int which, double* g, double* g_t, double* G) {
    (void)g_t;
    g[0] = at->q[2 * which];
    if (G != NULL) G[2 * which] = 1;
}

LashLagrangian* potra_double_pendulum(void) {
    static const double PI = 3.14159265358979323846;
    double x1 = sin(PI / 3), y1 = -cos(PI / 3), x2 = x1 + sin(PI / 5), y2 = y1 - cos(PI / 5);
    static const char* const name[] = {"rod.1", "rod.2", "wall.1", "wall.2"};
    LashLagrangianContact contact[4];
    for (int i = 0; i < 4; ++i) {
        contact[i] = (LashLagrangianContact){.kind = i < 2 ? LASH_BILATERAL : LASH_UNILATERAL,
                                             .rows = 1,
                                             .which = i % 2,
                                             .e = i < 2 ? 0 : 0.1,
                                             .name = name[i],
                                             .evaluate = i < 2 ? rod : wall};
    }
    LashLagrangianDef def = lash_lagrangian_def();
    def.n = 4;
    def.q0 = (double[]){x1, y1, x2, y2};
    def.constant_mass = true;
    def.mass = unit_masses;
    def.force = weights;
    def.force_tangents = no_tangents;
    def.potential = heights;
    def.contact = contact;
    def.contacts = 4;
    return lash_lagrangian_create(&def);
}

// ---- Block and carts ----------------------------------------------------------------------------

static LashLinearContact floor_of(int dof, double mu, const char* name) {
    LashLinearContact contact = {.kind = LASH_UNILATERAL, .rows = 2, .mu = mu, .name = name};
    contact.row[0] = (LashLinearRow){.entries = 1, .dof = {dof + 1}, .coefficient = {1}};
    contact.row[1] = (LashLinearRow){.entries = 1, .dof = {dof}, .coefficient = {1}};
    return contact;
}

static void push(const void* context, double t, double* load) {
    (void)context;
    load[0] = 8 * cos(t);
}

LashLagrangian* potra_block(void) {
    static const double M[] = {0, 1, 0, 0, 1, 0}, load[] = {0, -9.81}, q[] = {3, 0};
    LashLinearContact table = floor_of(0, 0.8, "table");
    LashLinearDef def = lash_linear_def();
    def.n = 2;
    def.bandwidth = 1;
    def.M = M;
    def.load = load;
    def.load_of_time = push;
    def.q0 = q;
    def.contact = &table;
    def.contacts = 1;
    return lash_linear_create(&def);
}

LashLagrangian* potra_carts(const PotraCarts* data) {
    enum { N = 4, W = 3, WIDTH = 2 * W + 1 };
    double M[N * WIDTH] = {0}, C[N * WIDTH] = {0}, K[N * WIDTH] = {0};
    double load[N] = {0.2 * data->stiffness, -GRAVITY, 0, -GRAVITY};
    double q[N] = {data->x1, 0, data->x1 + 5, 0}, v[N] = {data->v, 0, data->v, 0};
    for (int i = 0; i < N; ++i) M[i * WIDTH + W] = 1;
    K[W] = data->stiffness;
    C[W] = C[2 * WIDTH + W] = data->damping;
    C[2 + W] = C[2 * WIDTH - 2 + W] = -data->damping;
    LashLinearContact contact[3] = {floor_of(0, 0.05, "floor.1"), floor_of(2, 0.05, "floor.2")};
    contact[2] = (LashLinearContact){.kind = LASH_UNILATERAL, .rows = 1, .e = 0.3};
    contact[2].name = "stopper";
    contact[2].row[0] = (LashLinearRow){.entries = 1, .coefficient = {1}};
    LashLinearDef def = lash_linear_def();
    def.n = N;
    def.bandwidth = W;
    def.M = M;
    def.C = C;
    def.K = K;
    def.load = load;
    def.q0 = q;
    def.v0 = v;
    def.contact = contact;
    def.contacts = 3;
    return lash_linear_create(&def);
}

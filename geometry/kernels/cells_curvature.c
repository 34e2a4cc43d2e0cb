// The reach of a free face by curvature: how deep its parallel surfaces remain surfaces.
//
// Towards the material they do so down to 1 / k, k the largest curvature on the convex side,
//   k = max (x' L x) / (x' G x),   G_ij = S_i . S_j,   L_ij = -n . S_ij.
// Over a box x0 +- h of parameters, with the bounds of its cell on the derivatives (cells.c) and
// sums over the directions k,
//   |dS_i| <= sum h_k |S_ik|,    |dG_ij| <= |dS_i| |S_j| + |S_i| |dS_j|,
//   |dL_ij| <= |dn| |S_ij| + sum h_k |S_ijk|,   |dn| the chord of the angle with the sine |dN| /
//   |N|.
// Let e, f be the norms of both changes over the least eigenvalue of G: k <= (k0 + f) / (1 - e), k0
// the curvature in the middle. Boxes are halved until this is less than TIGHT times the largest k0,
// of which the reach is then made. Parameters are scaled by their speeds.
#include "geometry/kernels/cells.h"
#include "geometry/kernels/kernels_internal.h"

enum { MAX_DEPTH = 16, BUDGET = 16000 };
static const double TIGHT = 1.25;
static const double SHARP = 1e4; // over the size: more curved places count as edges, with no reach

typedef struct Box {
    double x[2], h[2];
    int depth;
} Box;

typedef struct Forms { // in scaled parameters: uu, uv, vv
    double G[3], L[3];
    double least;  // eigenvalue of G
    double length; // of N, unscaled
    double k0;     // largest curvature, convex: positive [1/m]
} Forms;

static Forms forms_at(const LashFeature* feature, const LashDerivatives* derivatives,
                      const double x[2]) {
    Forms q = {.least = 0};
    LashSurfacePoint s = lash_face_point(feature->shape, feature->face, x[0], x[1]);
    Vec3 N = vec3_cross(s.u, s.v);
    q.length = vec3_norm(N);
    double a = 1 / derivatives->d1[0], b = 1 / derivatives->d1[1], side = -feature->side / q.length;
    q.G[0] = a * a * vec3_dot(s.u, s.u);
    q.G[1] = a * b * vec3_dot(s.u, s.v);
    q.G[2] = b * b * vec3_dot(s.v, s.v);
    q.L[0] = a * a * side * vec3_dot(N, s.uu);
    q.L[1] = a * b * side * vec3_dot(N, s.uv);
    q.L[2] = b * b * side * vec3_dot(N, s.vv);
    double half = 0.5 * (q.G[0] + q.G[2]), det = q.G[0] * q.G[2] - q.G[1] * q.G[1];
    q.least = det / (half + sqrt(fmax(0, half * half - det)));
    // eigenvalues of G^-1 L
    double trace = (q.G[2] * q.L[0] - 2 * q.G[1] * q.L[1] + q.G[0] * q.L[2]) / det;
    double product = (q.L[0] * q.L[2] - q.L[1] * q.L[1]) / det;
    q.k0 = 0.5 * trace + sqrt(fmax(0, 0.25 * trace * trace - product));
    return q;
}

// Upper bound of the curvature over the box; INFINITY: none.
static double curvature_bound(const Forms* forms, const LashDerivatives* derivatives,
                              const double h[2]) {
    const double *d1 = derivatives->d1, *d2 = derivatives->d2, *d3 = derivatives->d3;
    double turn = h[0] * (d2[0] * d1[1] + d1[0] * d2[1]) + h[1] * (d2[1] * d1[1] + d1[0] * d2[2]);
    turn /= forms->length;
    if (!(turn < 1 && forms->least > 0)) return INFINITY;
    double dn = sqrt(fmax(0, 2 - 2 * sqrt(1 - turn * turn))), e = 0, f = 0;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            double si = h[0] * d2[i] + h[1] * d2[i + 1], sj = h[0] * d2[j] + h[1] * d2[j + 1];
            double dG = si / d1[i] + sj / d1[j];
            double dL =
                (dn * d2[i + j] + h[0] * d3[i + j] + h[1] * d3[i + j + 1]) / (d1[i] * d1[j]);
            e += dG * dG;
            f += dL * dL;
        }
    e = sqrt(e) / forms->least;
    f = sqrt(f) / forms->least;
    if (!(e < 1)) return INFINITY;
    return forms->k0 + f > 0 ? (forms->k0 + f) / (1 - e) * (1 + 1e-9) : 0;
}

// Is the curvature over the cell proven to be at most TIGHT times `known`, the largest k0 so far?
// Not where boxes remain after MAX_DEPTH halvings (poles of the parameters, cusps, SHARP places),
// or when the budget is used up (strongly twisted patches).
static bool bound_cell(const LashFeature* feature, const LashCell* cell, double* known,
                       int budget) {
    double sharp = SHARP / feature->size;
    Box stack[MAX_DEPTH + 2];
    int top = 0;
    bool proven = true;
    stack[top++] = (Box){{cell->p[0], cell->p[1]}, {cell->half[0], cell->half[1]}, 0};
    while (top > 0) {
        Box box = stack[--top];
        Forms q = forms_at(feature, &cell->d, box.x);
        double k = curvature_bound(&q, &cell->d, box.h);
        if (q.k0 > *known && q.k0 < sharp && k < INFINITY) *known = q.k0;
        if (k <= TIGHT * *known) continue;
        if (box.depth == MAX_DEPTH || --budget <= 0) {
            proven = false;
            continue;
        }
        int wide = box.h[1] * cell->d.d1[1] > box.h[0] * cell->d.d1[0];
        ++box.depth;
        box.h[wide] *= 0.5;
        box.x[wide] -= box.h[wide];
        stack[top++] = box;
        box.x[wide] += 2 * box.h[wide];
        stack[top++] = box;
    }
    return proven;
}

double lash_cells_reach(const LashFeature* feature, bool* proven) {
    const LashCells* cells = feature->cells;
    double flat = 0.05 / feature->size, known = flat; // flatter does not matter
    *proven = true;
    for (int i = 0; i < 9 * cells->cells; ++i) { // the middle of each cell and eight places around
        const LashCell* c = cells->cell + i / 9;
        double x[2] = {c->p[0] + 0.9 * (i % 3 - 1) * c->half[0],
                       c->p[1] + 0.9 * (i / 3 % 3 - 1) * c->half[1]};
        double k0 = forms_at(feature, &c->d, x).k0;
        if (k0 > known && k0 < SHARP / feature->size) known = k0;
    }
    for (int i = 0; i < cells->cells; ++i)
        *proven &= bound_cell(feature, cells->cell + i, &known, BUDGET / cells->cells);
    return known > flat ? 1 / (TIGHT * known) : INFINITY;
}

// Bounds on how the equations of a free pair vary: over a box of parameters, and in a motion. Which equations, and what
// the bounds are for: freeform_search.c.
#include "geometry/kernels/freeform_internal.h"

// ---- bounds -----------------------------------------------------------------------------------

// Largest second and third derivative of the distance from Q within rho of X.
void free_distance_bounds(const LashFeature* Q, Vec3 X, double rho, double* k2, double* k3) {
    const double c = 1.16; // > 2 / sqrt 3: of D^3 |x| at |x| = 1
    *k2 = *k3 = 0;
    if (Q->skeleton == LASH_SKELETON_PLANE) return;
    Vec3 w = vec3_sub(X, Q->origin);
    double z = Q->skeleton == LASH_SKELETON_POINT ? 0 : vec3_dot(w, Q->z);
    double r = vec3_norm(vec3_add_scaled(w, -z, Q->z)), k = 1;
    if (Q->skeleton == LASH_SKELETON_POINT) r = vec3_norm(w);
    if (Q->skeleton == LASH_SKELETON_CONE) k = Q->cos_a;
    double x = r - Q->radius, s = r - rho, t = sqrt(x * x + z * z) - rho;
    bool torus = Q->skeleton == LASH_SKELETON_CIRCLE;
    if (s <= 0 || (torus && t <= 0)) {
        *k2 = *k3 = INFINITY; // the axis or center is inside
        return;
    }
    *k2 = k / s;
    *k3 = c * k / (s * s);
    if (torus) {
        *k2 = fmax(*k2, 1 / t);
        *k3 += c / (t * t) + 3 / (t * s);
    }
}

// Is every point within rho of X, at the distance `gap` from the cone Q, too near to its axis? With
// the foot's distance from the axis f = r - gap cos a, the gap reaches down to its share of f / cos
// a.
bool free_beyond_cone(const LashFeature* Q, Vec3 X, double gap, double rho) {
    if (Q->skeleton != LASH_SKELETON_CONE || Q->side < 0) return false;
    double r = vec3_norm(lash_across(vec3_sub(X, Q->origin), Q->z)) + rho;
    return r < (1 - LASH_FREE_REACH) * (r - 2 * rho - (gap + rho) * Q->cos_a);
}

// The sums of indices give the place in LashDerivatives: u counts 0, v counts 1.
void free_variation_S(const FreeRange* range, int n, const double* h, double k2, double k3,
                      double V[16]) {
    const double *d1 = range->a->d1, *d2 = range->a->d2, *d3 = range->a->d3;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k)
                sum += h[k] * (d3[i + j + k] + k3 * d1[i] * d1[j] * d1[k] +
                               k2 * (d2[i + j] * d1[k] + d2[i + k] * d1[j] + d2[j + k] * d1[i]));
            V[i + 4 * j] = sum;
        }
}

// Rows 0, 1 of N and the row of b in C: F_i = r . b_i, over the parameters of a, then of b.
void free_variation_r(const FreeRange* range, int na, int nb, int row, const double* h, double r,
                      double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    for (int i = 0; i < nb; ++i) {
        double* v = V + row + i;
        for (int j = 0; j < na; ++j) { // b_i . a_j
            double sum = 0;
            for (int k = 0; k < na; ++k) sum += h[k] * b->d1[i] * a->d2[j + k];
            for (int k = 0; k < nb; ++k) sum += h[na + k] * b->d2[i + k] * a->d1[j];
            v[4 * j] = sum;
        }
        for (int j = 0; j < nb; ++j) { // r . b_ij - b_i . b_j
            double sum = 0;
            for (int k = 0; k < na; ++k) sum += h[k] * a->d1[k] * b->d2[i + j];
            for (int k = 0; k < nb; ++k)
                sum += h[na + k] * (r * b->d3[i + j + k] + b->d1[k] * b->d2[i + j] +
                                    b->d2[i + k] * b->d1[j] + b->d1[i] * b->d2[j + k]);
            v[4 * (na + j)] = sum;
        }
    }
}

// Rows 2, 3 of N: F = N . a_i with N = b_u x b_v.
void free_variation_N(const FreeRange* range, int na, const double* h, double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    double N = b->d1[0] * b->d1[1], N1[2], N2[2][2];
    for (int k = 0; k < 2; ++k) {
        N1[k] = b->d2[k] * b->d1[1] + b->d1[0] * b->d2[1 + k];
        for (int l = 0; l < 2; ++l)
            N2[k][l] = b->d3[k + l] * b->d1[1] + b->d2[k] * b->d2[1 + l] + b->d2[l] * b->d2[1 + k] +
                       b->d1[0] * b->d3[1 + k + l];
    }
    for (int i = 0; i < na; ++i) {
        double* v = V + 2 + i;
        for (int j = 0; j < na; ++j) { // N . a_ij
            double sum = 0;
            for (int k = 0; k < na; ++k) sum += h[k] * N * a->d3[i + j + k];
            for (int k = 0; k < 2; ++k) sum += h[na + k] * N1[k] * a->d2[i + j];
            v[4 * j] = sum;
        }
        for (int k = 0; k < 2; ++k) { // N_k . a_i
            double sum = 0;
            for (int j = 0; j < na; ++j) sum += h[j] * N1[k] * a->d2[i + j];
            for (int l = 0; l < 2; ++l) sum += h[na + l] * N2[k][l] * a->d1[i];
            v[4 * (na + k)] = sum;
        }
    }
}

// E: F = r . c' and N . a_i with N = c' x e. d1: of a, across the axis.
void free_variation_E(const FreeRange* range, const double d1[2], int na, const double* h, double r,
                      double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    double N = b->d1[0], N1 = b->d2[0], N2 = b->d3[0], u = h[na];
    double first = u * (r * N2 + 3 * N * N1); // of r . c'' - c' . c'
    for (int i = 0; i < na; ++i) {
        double tangent = u * N1 * d1[i], last = u * N2 * d1[i]; // of c' . a_i, N' . a_i
        for (int j = 0; j < na; ++j) {
            double sum = u * N1 * a->d2[i + j]; // of N . a_ij
            for (int k = 0; k < na; ++k) sum += h[k] * N * a->d3[i + j + k];
            V[1 + i + 4 * j] = sum;
            tangent += h[j] * N * a->d2[i + j];
            last += h[j] * N1 * a->d2[i + j];
        }
        V[4 * i] = tangent;
        V[1 + i + 4 * na] = last;
        first += h[i] * d1[i] * N1;
    }
    V[4 * na] = first;
}

// Row 0 of C: F = r . a'.
void free_variation_a(const FreeRange* range, const double* h, double r, double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    V[0] = h[0] * (3 * a->d1[0] * a->d2[0] + r * a->d3[0]) + h[1] * b->d1[0] * a->d2[0];
    V[4] = h[0] * a->d2[0] * b->d1[0] + h[1] * a->d1[0] * b->d2[0];
}

// ---- motion -----------------------------------------------------------------------------------

// Adds to V what a motion changes in J; E: in F. k2, k3: of the distance from Q.
void free_motion_S(const FreeRange* range, int n, double k2, double k3, double E[4], double V[16]) {
    const double *d1 = range->a->d1, *d2 = range->a->d2;
    double normal = k2 * range->move + range->turn, bend = k3 * range->move + 2 * k2 * range->turn;
    for (int i = 0; i < n; ++i) {
        E[i] = d1[i] * normal;
        for (int j = 0; j < n; ++j) V[i + 4 * j] += d2[i + j] * normal + d1[i] * d1[j] * bend;
    }
}

// The rows r . b_i of N and C.
void free_motion_r(const FreeRange* range, int na, int nb, int row, double E[4], double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    for (int i = 0; i < nb; ++i) {
        E[row + i] = range->move * b->d1[i];
        for (int j = 0; j < na; ++j) V[row + i + 4 * j] += range->turn * b->d1[i] * a->d1[j];
        for (int j = 0; j < nb; ++j) V[row + i + 4 * (na + j)] += range->move * b->d2[i + j];
    }
}

void free_motion_N(const FreeRange* range, int na, double E[4], double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    double N = b->d1[0] * b->d1[1];
    for (int i = 0; i < na; ++i) {
        E[2 + i] = range->turn * N * a->d1[i];
        for (int j = 0; j < na; ++j) V[2 + i + 4 * j] += range->turn * N * a->d2[i + j];
        for (int k = 0; k < 2; ++k) {
            double N1 = b->d2[k] * b->d1[1] + b->d1[0] * b->d2[1 + k];
            V[2 + i + 4 * (na + k)] += range->turn * N1 * a->d1[i];
        }
    }
}

void free_motion_E(const FreeRange* range, int na, double E[4], double V[16]) {
    const LashDerivatives *full = range->a, *b = range->b;
    double N = b->d1[0], N1 = b->d2[0];
    E[0] = range->move * N;
    V[4 * na] += range->move * N1;
    for (int i = 0; i < na; ++i) {
        V[4 * i] += range->turn * N * full->d1[i];
        E[1 + i] = range->turn * N * full->d1[i];
        for (int j = 0; j < na; ++j) V[1 + i + 4 * j] += range->turn * N * full->d2[i + j];
        V[1 + i + 4 * na] += range->turn * N1 * full->d1[i];
    }
}

void free_motion_a(const FreeRange* range, double r, double E[4], double V[16]) {
    const LashDerivatives *a = range->a, *b = range->b;
    double both = range->move + r * range->turn;
    E[0] = a->d1[0] * both;
    V[0] += a->d2[0] * both;
    V[4] += range->turn * a->d1[0] * b->d1[0];
}

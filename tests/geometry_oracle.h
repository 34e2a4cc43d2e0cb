// Independent oracles for the geometry tests: signed distance functions of whole primitive solids
// and a brute-force minimum over the surface of another one. Shares no code with the kernels.
#ifndef LASH_TESTS_GEOMETRY_ORACLE_H
#define LASH_TESTS_GEOMETRY_ORACLE_H

#include "test.h"

#include <math.h>
#include <stdint.h>

#include "core/math3.h"

typedef struct Random {
    uint64_t s;
} Random;

static inline double random_unit(Random* r) { // [0, 1), splitmix64
    uint64_t z = (r->s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}
static inline double random_in(Random* r, double low, double high) {
    return low + (high - low) * random_unit(r);
}
static inline Vec3 random_direction(Random* r) {
    double z = random_in(r, -1, 1), t = random_in(r, 0, 2 * LASH_PI), s = sqrt(1 - z * z);
    return vec3(s * cos(t), s * sin(t), z);
}
static inline Quat random_rotation(Random* r) {
    return quat_from_axis_angle(random_direction(r), random_in(r, -LASH_PI, LASH_PI));
}

typedef enum SolidKind {
    SOLID_BOX,
    SOLID_CYLINDER,
    SOLID_SPHERE,
    SOLID_CAPSULE,
    SOLID_RING
} SolidKind;

typedef struct Solid { // p: box half sizes; cylinder r, h/2; sphere r; capsule r, h/2; ring r0, r1,
                       // h/2
    SolidKind kind;
    double p[3];
} Solid;

static inline double rectangle_distance(double x, double y, double hx, double hy) {
    double dx = fabs(x) - hx, dy = fabs(y) - hy;
    double ox = fmax(dx, 0), oy = fmax(dy, 0);
    return sqrt(ox * ox + oy * oy) + fmin(fmax(dx, dy), 0);
}

// Signed distance from the solid's surface, negative inside; exact everywhere outside.
static inline double solid_distance(const Solid* s, Vec3 q) {
    double rho = sqrt(q.x * q.x + q.y * q.y);
    const double* p = s->p;
    switch (s->kind) {
        case SOLID_BOX: {
            double x = fabs(q.x) - p[0], y = fabs(q.y) - p[1], z = fabs(q.z) - p[2];
            double ox = fmax(x, 0), oy = fmax(y, 0), oz = fmax(z, 0);
            return sqrt(ox * ox + oy * oy + oz * oz) + fmin(fmax(x, fmax(y, z)), 0);
        }
        case SOLID_CYLINDER: {
            double dx = rho - p[0], dz = fabs(q.z) - p[1], ox = fmax(dx, 0), oz = fmax(dz, 0);
            return sqrt(ox * ox + oz * oz) + fmin(fmax(dx, dz), 0);
        }
        case SOLID_SPHERE:
            return sqrt(rho * rho + q.z * q.z) - p[0];
        case SOLID_CAPSULE: {
            double z = fmax(fabs(q.z) - p[1], 0);
            return sqrt(rho * rho + z * z) - p[0];
        }
        case SOLID_RING:
            return rectangle_distance(rho - 0.5 * (p[0] + p[1]), q.z, 0.5 * (p[1] - p[0]), p[2]);
    }
    return 0;
}

static inline int solid_faces(const Solid* s) {
    switch (s->kind) {
        case SOLID_BOX:
            return 6;
        case SOLID_CYLINDER:
            return 3;
        case SOLID_SPHERE:
            return 1;
        case SOLID_CAPSULE:
            return 3;
        case SOLID_RING:
            return 4;
    }
    return 0;
}

// Point of face i at (u, v) in [0, 1]^2.
static inline Vec3 solid_point(const Solid* s, int i, double u, double v) {
    const double* p = s->p;
    double t = 2 * LASH_PI * u, c = cos(t), d = sin(t), x = 2 * u - 1, y = 2 * v - 1;
    switch (s->kind) {
        case SOLID_BOX: {
            double sign = i % 2 ? 1 : -1;
            if (i / 2 == 0) return vec3(sign * p[0], x * p[1], y * p[2]);
            if (i / 2 == 1) return vec3(x * p[0], sign * p[1], y * p[2]);
            return vec3(x * p[0], y * p[1], sign * p[2]);
        }
        case SOLID_CYLINDER: {
            if (i == 0) return vec3(p[0] * c, p[0] * d, y * p[1]);
            double r = p[0] * v;
            return vec3(r * c, r * d, i == 1 ? p[1] : -p[1]);
        }
        case SOLID_SPHERE: {
            double z = LASH_PI * (v - 0.5);
            return vec3(p[0] * cos(z) * c, p[0] * cos(z) * d, p[0] * sin(z));
        }
        case SOLID_CAPSULE: {
            if (i == 0) return vec3(p[0] * c, p[0] * d, y * p[1]);
            double z = 0.5 * LASH_PI * v, sign = i == 1 ? 1 : -1;
            return vec3(p[0] * cos(z) * c, p[0] * cos(z) * d, sign * (p[1] + p[0] * sin(z)));
        }
        case SOLID_RING: {
            if (i < 2) return vec3(p[i] * c, p[i] * d, y * p[2]);
            double r = p[0] + (p[1] - p[0]) * v;
            return vec3(r * c, r * d, i == 2 ? p[2] : -p[2]);
        }
    }
    return vec3_zero();
}

// Smallest signed distance of the surface points of a from the solid b: grid, then repeated zooms
// around the best points.
static inline double surface_minimum(const Solid* a, const Solid* b, Pose b_a) {
    enum { N = 20, KEEP = 3, ZOOM = 26, M = 6 };
    Mat3 R = quat_matrix(b_a.rot);
    double best = INFINITY;
    for (int i = 0; i < solid_faces(a); ++i) {
        double kept[KEEP][3];
        for (int k = 0; k < KEEP; ++k) kept[k][0] = INFINITY;
        double value[N + 1][N + 1];
        for (int j = 0; j <= N; ++j)
            for (int k = 0; k <= N; ++k) {
                Vec3 q = solid_point(a, i, (double)j / N, (double)k / N);
                value[j][k] = solid_distance(b, vec3_add(b_a.r, mat3_mul(R, q)));
            }
        for (int j = 0; j <= N; ++j)
            for (int k = 0; k <= N; ++k) { // grid minima only
                bool low = true;
                for (int dj = -1; dj <= 1; ++dj)
                    for (int dk = -1; dk <= 1; ++dk) {
                        int jj = j + dj, kk = k + dk;
                        if (jj < 0 || kk < 0 || jj > N || kk > N) continue;
                        if (value[jj][kk] < value[j][k]) low = false;
                    }
                if (!low) continue;
                for (int m = 0; m < KEEP; ++m)
                    if (value[j][k] < kept[m][0]) {
                        for (int l = KEEP - 1; l > m; --l)
                            for (int n = 0; n < 3; ++n) kept[l][n] = kept[l - 1][n];
                        kept[m][0] = value[j][k];
                        kept[m][1] = (double)j / N;
                        kept[m][2] = (double)k / N;
                        break;
                    }
            }
        for (int m = 0; m < KEEP; ++m) {
            if (kept[m][0] > best + 0.3) continue;
            if (isinf(kept[m][0])) continue;
            double u = kept[m][1], v = kept[m][2], h = 1.0 / N, f = kept[m][0];
            for (int z = 0; z < ZOOM; ++z) {
                double bu = u, bv = v;
                for (int j = -M; j <= M; ++j)
                    for (int k = -M; k <= M; ++k) {
                        double uu = u + h * j / M, vv = v + h * k / M;
                        if (vv < 0) vv = 0;
                        if (vv > 1) vv = 1;
                        if (a->kind == SOLID_BOX) uu = fmin(1, fmax(0, uu));
                        Vec3 q = solid_point(a, i, uu, vv);
                        double g = solid_distance(b, vec3_add(b_a.r, mat3_mul(R, q)));
                        if (g < f) {
                            f = g;
                            bu = uu;
                            bv = vv;
                        }
                    }
                if (bu == u && bv == v)
                    h *= 0.4;
                else if (fabs(bu - u) < 0.8 * h && fabs(bv - v) < 0.8 * h)
                    h *= 0.6;
                u = bu;
                v = bv;
            }
            best = fmin(best, f);
        }
    }
    return best;
}

#endif

// Is this freeform surface really a plane, a sphere, a cylinder, a cone or a ring torus?
//
// Fit. Points p and unit normals n of the Bezier patches. The axis direction of a cylinder or cone
// is the eigenvector of the smallest eigenvalue of the covariance of the normals (they lie on a
// circle); the axis is the line nearest to all lines p + s n; radius and slope follow by linear
// regression. Gauss-Newton on the signed distances then refines all parameters:
//   d(distance) = -n . d(origin) - n . (omega x (p - origin)) - d(radius) ...
//
// The normals of a torus all meet its axis: with direction z and moment m = o x z,
//   n . m + (p x n) . z = 0
// is linear in (z, m); the profile (rho, h) is a circle.
//
// Proof. With homogeneous coordinates P = w p the implicit function of each type is a quotient of
// two polynomials, for a cylinder F = (|q|^2 - r^2 w^2) / w^2, q the part of P - w o across the
// axis. Their Bernstein coefficients c, W on the patch give min c/W <= F <= max c/W, since all W >
// 0 (convex hull), and the distance |sqrt(r^2 + F) - r| follows. Where the bound is above the
// tolerance the patch is halved both ways: the bound converges quadratically to the true range.
// For a torus F = (t^2 - r^2)(t'^2 - r^2) of degree 4, with the distances t, t' from the near and
// the far point of its circle: |t - r| = |F| / ((t + r)(t'^2 - r^2)), t' >= rho + R. (Farouki and
// Rajan 1988 on products of Bernstein forms; Sederberg on implicit tests.)
#include <algorithm>
#include <array>
#include <cmath>

#include "core/math3.h"
#include "geometry/cad/surface.hpp"

namespace lash {
namespace {

struct Sample {
    Vec3 p, n;
};

std::vector<Sample> take_samples(const std::vector<Patch>& patches) {
    std::vector<Sample> samples;
    int per = patches.size() > 16 ? 3 : 5;
    if (patches.size() > 100) per = 2;
    for (const Patch& patch : patches)
        for (int j = 0; j < per; ++j)
            for (int i = 0; i < per; ++i) {
                Vec3 du, dv;
                double u = patch.u0 + (patch.u1 - patch.u0) * (i + 0.5) / per;
                double v = patch.v0 + (patch.v1 - patch.v0) * (j + 0.5) / per;
                Vec3 p = patch_point(patch, u, v, &du, &dv), n = vec3_cross(du, dv);
                if (vec3_norm(n) > 1e-12 * vec3_norm(du) * vec3_norm(dv))
                    samples.push_back({p, vec3_normalize(n)});
            }
    return samples;
}

// Eigenvector of the smallest eigenvalue of a symmetric matrix: Jacobi rotations.
template <int N>
std::array<double, N> smallest_eigenvector(double A[N][N]) {
    double V[N][N] = {};
    for (int k = 0; k < N; ++k) V[k][k] = 1;
    for (int sweep = 0; sweep < 40; ++sweep)
        for (int p = 0; p < N - 1; ++p)
            for (int q = p + 1; q < N; ++q) {
                if (A[p][q] == 0) continue;
                double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < N; ++k) {
                    double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b;
                    A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < N; ++k) {
                    double a = A[p][k], b = A[q][k];
                    A[p][k] = c * a - s * b;
                    A[q][k] = s * a + c * b;
                    a = V[k][p];
                    b = V[k][q];
                    V[k][p] = c * a - s * b;
                    V[k][q] = s * a + c * b;
                }
            }
    int best = 0;
    for (int k = 1; k < N; ++k)
        if (A[k][k] < A[best][best]) best = k;
    std::array<double, N> vector;
    for (int k = 0; k < N; ++k) vector[k] = V[k][best];
    return vector;
}

Vec3 smallest_direction(double A[3][3]) {
    std::array<double, 3> v = smallest_eigenvector<3>(A);
    return vec3(v[0], v[1], v[2]);
}

void add_outer(double A[3][3], Vec3 a) {
    const double v[3] = {a.x, a.y, a.z};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) A[i][j] += v[i] * v[j];
}

Vec3 mean_point(const std::vector<Sample>& samples) {
    Vec3 sum = vec3_zero();
    for (const Sample& s : samples) sum = vec3_add(sum, s.p);
    return vec3_scale(1.0 / (double)samples.size(), sum);
}

Surface fit_plane(const std::vector<Sample>& samples) {
    Surface s;
    s.type = LASH_PLANE;
    s.origin = mean_point(samples);
    double A[3][3] = {};
    for (const Sample& q : samples) add_outer(A, vec3_sub(q.p, s.origin));
    Vec3 z = smallest_direction(A);
    if (vec3_dot(z, samples[0].n) < 0) z = vec3_neg(z);
    set_frame(&s, z, vec3_sub(samples.back().p, samples.front().p));
    return s;
}

// Solves the symmetric positive (semi)definite n x n system in place, with damping relative to its
// diagonal. n <= 7.
bool solve_small(double A[7][7], double* b, int n) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
        if (fabs(A[best][k]) < 1e-300) return false;
        for (int j = 0; j < n; ++j) std::swap(A[k][j], A[best][j]);
        std::swap(b[k], b[best]);
        for (int i = k + 1; i < n; ++i) {
            double f = A[i][k] / A[k][k];
            for (int j = k; j < n; ++j) A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
    return true;
}

// Point nearest to all lines p + s n, across z when a direction is given.
bool nearest_point(const std::vector<Sample>& samples, const Vec3* z, Vec3* result) {
    Vec3 center = mean_point(samples);
    double A[7][7] = {}, b[7] = {};
    for (const Sample& s : samples) {
        Vec3 n = s.n;
        if (z != nullptr) {
            n = vec3_add_scaled(n, -vec3_dot(n, *z), *z);
            if (vec3_norm(n) < 1e-6) continue;
            n = vec3_normalize(n);
        }
        Vec3 d = vec3_sub(s.p, center);
        const double v[3] = {n.x, n.y, n.z}, e[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                double a = (i == j) - v[i] * v[j];
                A[i][j] += a;
                b[i] += a * e[j];
            }
    }
    if (z != nullptr) { // pin the position along the axis
        const double v[3] = {z->x, z->y, z->z};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) A[i][j] += (double)samples.size() * v[i] * v[j];
    }
    if (!solve_small(A, b, 3)) return false;
    *result = vec3_add(center, vec3(b[0], b[1], b[2]));
    return std::isfinite(result->x + result->y + result->z);
}

// One row of the Jacobian of the signed distance; returns the number of parameters.
int distance_row(const Surface& s, Vec3 p, Vec3 n, double row[7]) {
    Vec3 d = vec3_sub(p, s.origin);
    if (s.type == LASH_SPHERE) {
        row[0] = -n.x;
        row[1] = -n.y;
        row[2] = -n.z;
        row[3] = -1;
        return 4;
    }
    row[0] = -vec3_dot(n, s.x);
    row[1] = -vec3_dot(n, s.y);
    row[2] = -vec3_dot(n, vec3_cross(s.x, d));
    row[3] = -vec3_dot(n, vec3_cross(s.y, d));
    if (s.type == LASH_PLANE) {
        row[0] = -1;
        row[1] = row[2];
        row[2] = row[3];
        return 3;
    }
    row[4] = -cos(s.half_angle);
    if (s.type == LASH_CYLINDER) return 5;
    double h = vec3_dot(d, s.z), rho = vec3_norm(vec3_add_scaled(d, -h, s.z));
    if (s.type == LASH_TORUS) {
        double along = vec3_dot(n, s.z);
        row[4] = -(vec3_dot(n, d) - h * along) / rho;
        row[5] = -along;
        row[6] = -1;
        return 7;
    }
    row[5] = -(rho - s.radius) * sin(s.half_angle) - h * cos(s.half_angle);
    return 6;
}

void update(Surface* surface, const double* step) {
    if (surface->type == LASH_SPHERE) {
        surface->origin = vec3_add(surface->origin, vec3(step[0], step[1], step[2]));
        surface->radius += step[3];
        return;
    }
    bool plane = surface->type == LASH_PLANE;
    Vec3 omega = vec3_add(vec3_scale(step[plane ? 1 : 2], surface->x),
                          vec3_scale(step[plane ? 2 : 3], surface->y));
    surface->origin = plane ? vec3_add_scaled(surface->origin, step[0], surface->z)
                            : vec3_add_scaled(vec3_add_scaled(surface->origin, step[0], surface->x),
                                              step[1], surface->y);
    if (surface->type == LASH_TORUS) {
        surface->origin = vec3_add_scaled(surface->origin, step[5], surface->z);
        surface->radius2 += step[6];
    }
    set_frame(surface, quat_rotate(quat_exp(omega), surface->z), surface->x);
    if (plane) return;
    surface->radius += step[4];
    if (surface->type == LASH_CONE) surface->half_angle += step[5];
}

// Gauss-Newton on the sum of squared distances; lengths are scaled by `size`.
bool refine(Surface* surface, const std::vector<Sample>& samples, double size) {
    for (int iteration = 0; iteration < 12; ++iteration) {
        double A[7][7] = {}, b[7] = {}, row[7], largest = 0;
        int n = 0;
        for (const Sample& q : samples) {
            Vec3 normal;
            double d = surface_distance(*surface, q.p, &normal);
            n = distance_row(*surface, q.p, normal, row);
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) A[i][j] += row[i] * row[j];
                b[i] -= row[i] * d;
            }
        }
        for (int i = 0; i < n; ++i) A[i][i] *= 1 + 1e-14;
        if (!solve_small(A, b, n)) return false;
        for (int i = 0; i < n; ++i) {
            if (!std::isfinite(b[i])) return false;
            largest = std::max(largest, fabs(b[i]));
        }
        if (largest > 1e3 * size + 1) return false;
        update(surface, b);
        if (largest < 1e-15 * size) break;
    }
    return surface->radius > 0 || surface->type == LASH_PLANE;
}

bool fit_sphere(const std::vector<Sample>& samples, double size, Surface* surface) {
    surface->type = LASH_SPHERE;
    if (!nearest_point(samples, nullptr, &surface->origin)) return false;
    for (const Sample& q : samples)
        surface->radius += vec3_distance(q.p, surface->origin) / (double)samples.size();
    return refine(surface, samples, size);
}

bool fit_revolved(const std::vector<Sample>& samples, double size, LashSurfaceType type,
                  Surface* surface) {
    surface->type = type;
    Vec3 mean = vec3_zero();
    for (const Sample& q : samples) mean = vec3_add_scaled(mean, 1.0 / (double)samples.size(), q.n);
    double A[3][3] = {};
    for (const Sample& q : samples) add_outer(A, type == LASH_CONE ? vec3_sub(q.n, mean) : q.n);
    Vec3 z = smallest_direction(A);
    if (!nearest_point(samples, &z, &surface->origin)) return false;
    set_frame(surface, z, vec3_sub(samples[0].p, surface->origin));
    double S[5] = {}; // sums for rho = r + k h
    for (const Sample& q : samples) {
        Vec3 d = vec3_sub(q.p, surface->origin);
        double h = vec3_dot(d, surface->z), rho = vec3_norm(vec3_add_scaled(d, -h, surface->z));
        S[0] += 1;
        S[1] += h;
        S[2] += h * h;
        S[3] += rho;
        S[4] += rho * h;
    }
    double det = S[0] * S[2] - S[1] * S[1];
    if (det <= 0) return false;
    surface->radius = S[3] / S[0];
    if (type == LASH_CONE) {
        double k = (S[0] * S[4] - S[1] * S[3]) / det;
        surface->radius = (S[3] - k * S[1]) / S[0];
        surface->half_angle = atan(k);
        if (fabs(k) < 1e-6) return false;
        if (k < 0) {
            set_frame(surface, vec3_neg(surface->z), surface->x);
            surface->half_angle = -surface->half_angle;
        }
    }
    return refine(surface, samples, size);
}

bool fit_torus(const std::vector<Sample>& samples, double size, Surface* surface) {
    surface->type = LASH_TORUS;
    Vec3 center = mean_point(samples);
    double A[6][6] = {}, C[7][7] = {}, b[7] = {};
    for (const Sample& q : samples) { // lengths in units of the size
        Vec3 m = vec3_cross(vec3_scale(1 / size, vec3_sub(q.p, center)), q.n);
        const double row[6] = {m.x, m.y, m.z, q.n.x, q.n.y, q.n.z};
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) A[i][j] += row[i] * row[j];
    }
    std::array<double, 6> x = smallest_eigenvector<6>(A);
    Vec3 z = vec3(x[0], x[1], x[2]), moment = vec3(x[3], x[4], x[5]);
    double length = vec3_norm(z);
    if (!(length > 1e-6)) return false; // all parallel
    z = vec3_scale(1 / length, z);
    surface->origin = vec3_add_scaled(center, size / length, vec3_cross(z, moment));
    set_frame(surface, z, vec3_sub(samples[0].p, surface->origin));
    for (const Sample& q : samples) { // rho^2 + h^2 = 2 R rho + 2 h0 h + c
        Vec3 d = vec3_sub(q.p, surface->origin);
        double h = vec3_dot(d, surface->z), rho = vec3_norm(vec3_add_scaled(d, -h, surface->z));
        const double row[3] = {2 * rho, 2 * h, size};
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) C[i][j] += row[i] * row[j];
            b[i] += row[i] * (rho * rho + h * h);
        }
    }
    if (!solve_small(C, b, 3)) return false;
    double r2 = b[2] * size + b[0] * b[0] + b[1] * b[1];
    if (!(r2 > 0 && b[0] > 0)) return false;
    surface->radius = b[0];
    surface->radius2 = sqrt(r2);
    surface->origin = vec3_add_scaled(surface->origin, b[1], surface->z);
    return refine(surface, samples, size) && surface->radius2 > 0 &&
           surface->radius > 1.001 * surface->radius2;
}

// A polynomial over the patch in Bernstein form, (p + 1)(q + 1) coefficients, u fastest.
using Form = std::vector<double>;

double binomial(int n, int k) {
    double b = 1;
    for (int i = 1; i <= k; ++i) b = b * (n - k + i) / i;
    return b;
}

Form product(const Form& a, const Form& b, int p, int q) {
    Form c((2 * p + 1) * (2 * q + 1), 0);
    for (int j = 0; j <= q; ++j)
        for (int l = 0; l <= q; ++l) {
            double fv = binomial(q, j) * binomial(q, l) / binomial(2 * q, j + l);
            for (int i = 0; i <= p; ++i)
                for (int k = 0; k <= p; ++k)
                    c[i + k + (2 * p + 1) * (j + l)] += fv * binomial(p, i) * binomial(p, k) /
                                                        binomial(2 * p, i + k) *
                                                        a[i + (p + 1) * j] * b[k + (p + 1) * l];
        }
    return c;
}

struct Range {
    double low, high;
};

// Range of numerator / denominator; the denominator's coefficients are positive.
Range quotient(const Form& c, const Form& w) {
    Range r = {HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < c.size(); ++i) {
        r.low = std::min(r.low, c[i] / w[i]);
        r.high = std::max(r.high, c[i] / w[i]);
    }
    return r;
}

// Proven bound on |distance| over one patch.
double patch_bound(const Surface& s, const Patch& patch) {
    int p = patch.u_degree, q = patch.v_degree;
    size_t n = patch.poles.size();
    Form X(n), Y(n), H(n), W(n);
    for (size_t i = 0; i < n; ++i) {
        double w = patch.poles[i][3];
        if (!(w > 0)) return HUGE_VAL;
        Vec3 d = vec3_sub(vec3(patch.poles[i][0], patch.poles[i][1], patch.poles[i][2]), s.origin);
        X[i] = w * vec3_dot(d, s.x);
        Y[i] = w * vec3_dot(d, s.y);
        H[i] = w * vec3_dot(d, s.z);
        W[i] = w;
    }
    if (s.type == LASH_PLANE) {
        Range r = quotient(H, W);
        return std::max(fabs(r.low), fabs(r.high));
    }
    Form F = product(X, X, p, q), G = product(Y, Y, p, q), W2 = product(W, W, p, q);
    for (size_t i = 0; i < F.size(); ++i) F[i] += G[i];
    if (s.type == LASH_CONE) { // rho^2 - R^2, R = r + h tan a
        double k = tan(s.half_angle);
        Form R(n);
        for (size_t i = 0; i < n; ++i) R[i] = s.radius * W[i] + k * H[i];
        Range radius = quotient(R, W);
        if (radius.low <= 0) return HUGE_VAL;
        Form R2 = product(R, R, p, q);
        for (size_t i = 0; i < F.size(); ++i) F[i] -= R2[i];
        Range f = quotient(F, W2);
        double r2 = radius.low * radius.low;
        if (f.low < -r2) return HUGE_VAL;
        double a = fabs(f.low) / (radius.low + sqrt(r2 + std::min(f.low, 0.0)));
        return cos(s.half_angle) * std::max(a, fabs(f.high) / (2 * radius.low));
    }
    if (s.type == LASH_TORUS) {
        double R = s.radius, r = s.radius2;
        Form T = product(H, H, p, q), E = product(F, W2, 2 * p, 2 * q);
        for (size_t i = 0; i < F.size(); ++i) T[i] += F[i] + (R * R - r * r) * W2[i];
        Form T2 = product(T, T, 2 * p, 2 * q), W4 = product(W2, W2, 2 * p, 2 * q);
        for (size_t i = 0; i < T2.size(); ++i) T2[i] -= 4 * R * R * E[i];
        Range f = quotient(T2, W4), rho2 = quotient(F, W2);
        double far = R + sqrt(std::max(rho2.low, 0.0)), most = far * far - r * r;
        return most > 0 ? std::max(fabs(f.low), fabs(f.high)) / (r * most) : HUGE_VAL;
    }
    if (s.type == LASH_SPHERE) {
        Form H2 = product(H, H, p, q);
        for (size_t i = 0; i < F.size(); ++i) F[i] += H2[i];
    }
    double r2 = s.radius * s.radius;
    for (size_t i = 0; i < F.size(); ++i) F[i] -= r2 * W2[i];
    Range f = quotient(F, W2);
    if (f.low <= -r2) return HUGE_VAL;
    auto distance = [&](double x) { return fabs(x) / (sqrt(r2 + x) + s.radius); };
    return std::max(distance(f.low), distance(f.high));
}

// The two halves of a patch along u (along = 0) or v.
void halve(const Patch& patch, int along, Patch* left, Patch* right) {
    *left = *right = patch;
    int n = along == 0 ? patch.u_degree : patch.v_degree;
    int lines = along == 0 ? patch.v_degree + 1 : patch.u_degree + 1;
    int step = along == 0 ? 1 : patch.u_degree + 1, jump = along == 0 ? patch.u_degree + 1 : 1;
    for (int l = 0; l < lines; ++l) {
        std::vector<Pole> h(n + 1);
        for (int i = 0; i <= n; ++i) {
            h[i] = patch.poles[l * jump + i * step];
            for (int c = 0; c < 3; ++c) h[i][c] *= h[i][3];
        }
        for (int k = 0; k <= n; ++k) {
            Pole a = h[0], b = h[n - k];
            for (int c = 0; c < 3; ++c) {
                a[c] /= a[3];
                b[c] /= b[3];
            }
            left->poles[l * jump + k * step] = a;
            right->poles[l * jump + (n - k) * step] = b;
            for (int i = 0; i < n - k; ++i)
                for (int c = 0; c < 4; ++c) h[i][c] = 0.5 * (h[i][c] + h[i + 1][c]);
        }
    }
}

double proven(const Surface& s, const Patch& patch, double good, int depth) {
    double bound = patch_bound(s, patch);
    if (bound <= good || depth == 0) return bound;
    Patch half[2], quarter[2];
    halve(patch, 0, &half[0], &half[1]);
    double worst = 0;
    for (const Patch& h : half) {
        halve(h, 1, &quarter[0], &quarter[1]);
        for (const Patch& q : quarter) {
            worst = std::max(worst, proven(s, q, good, depth - 1));
            if (worst > 1e3 * good) return worst;
        }
    }
    return std::min(worst, bound);
}

double deviation_of(const Surface& s, const std::vector<Patch>& patches,
                    const std::vector<Sample>& samples, double tolerance, double size) {
    double seen = 0;
    Vec3 n;
    for (const Sample& q : samples) seen = std::max(seen, fabs(surface_distance(s, q.p, &n)));
    if (!(seen <= tolerance)) return HUGE_VAL;
    double good = std::max(1.5 * seen, 1e-13 * size), worst = 0;
    for (const Patch& patch : patches) {
        worst = std::max(worst, proven(s, patch, good, 4));
        if (worst > tolerance) return HUGE_VAL;
    }
    return worst + 2e-15 * size; // rounding of the bound itself
}

} // namespace

bool recognise(const std::vector<Patch>& patches, double tolerance, Surface* found) {
    std::vector<Sample> samples = take_samples(patches);
    if (samples.size() < 8) return false;
    LashBox box = empty_box();
    for (const Patch& patch : patches)
        for (const Pole& p : patch.poles) grow_box(&box, vec3(p[0], p[1], p[2]));
    double size = vec3_distance(box.low, box.high), best = HUGE_VAL;
    auto consider = [&](const Surface& s) {
        double scale = size + s.radius, d = deviation_of(s, patches, samples, tolerance, scale);
        // A simpler type stays unless the next one is ten times nearer.
        if (d < 0.1 * best) {
            best = d;
            *found = s;
            found->deviation = d;
        }
    };
    Surface plane = fit_plane(samples), cylinder, cone, sphere;
    if (refine(&plane, samples, size)) consider(plane);
    if (best <= 1e-12 * size) return true;
    if (fit_revolved(samples, size, LASH_CYLINDER, &cylinder) && cylinder.radius < 1e4 * size)
        consider(cylinder);
    if (best <= 1e-12 * size) return true;
    if (fit_sphere(samples, size, &sphere) && sphere.radius < 1e4 * size) consider(sphere);
    if (fit_revolved(samples, size, LASH_CONE, &cone) && cone.radius < 1e4 * size &&
        cone.half_angle > 1e-7 && cone.half_angle < 1.5)
        consider(cone);
    if (best <= 1e-12 * size) return true;
    Surface torus;
    if (fit_torus(samples, size, &torus) && torus.radius < 1e4 * size) consider(torus);
    return best <= tolerance;
}

} // namespace lash

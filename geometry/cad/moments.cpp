// Area and moments of volume of a part from its faces and trims, exact for elementary faces.
//
// Divergence theorem: with q = p - c the moments of volume are integrals over the faces of
//   1: q.n/3,   q_i: q_i q.n/4,   q_i q_j: q_i q_j q.n/5          (q.n f, f homogeneous of degree
//   k, over k + 3)
// On a face the integral over the trimmed (u, v) region goes to its loops by Green:
//   \int\int g du dv = -\oint ( \int_{v0}^{v} g(u, w) dw ) du.
// Inner and outer integrals by Gauss-Legendre; arcs, lines and Bezier pieces are smooth, so that 16
// points per quarter of a turn reach rounding. OpenCASCADE's default quadrature is exact for
// untrimmed faces but was found 1.5e-5 off where a bore is cut by a cross bore.
#include "geometry/cad/moments.hpp"
#include "core/math3.h"

#include <algorithm>
#include <cmath>

namespace lash {
namespace {

const int most = 16;

struct Gauss {
    int points;
    double x[most], w[most]; // on [0, 1]
    explicit Gauss(int count) : points(count) {
        for (int i = 0; i < points; ++i) { // Newton on the Legendre polynomial
            double t = cos(LASH_PI * (i + 0.75) / (points + 0.5)), d = 1;
            for (int it = 0; it < 100; ++it) {
                double p0 = 1, p1 = t;
                for (int n = 2; n <= points; ++n) {
                    double p2 = ((2 * n - 1) * t * p1 - (n - 1) * p0) / n;
                    p0 = p1;
                    p1 = p2;
                }
                d = points * (t * p1 - p0) / (t * t - 1);
                double step = p1 / d;
                t -= step;
                if (fabs(step) < 1e-16) break;
            }
            x[i] = 0.5 - 0.5 * t;
            w[i] = 1 / ((1 - t * t) * d * d);
        }
    }
};

// Surfaces that are approximated by patches, to 1e-8 of the part, need no more than that: many small
// patches, six points each way.
const Gauss& gauss(const Surface& s) {
    static const Gauss fine(most), coarse(6);
    return s.approximated ? coarse : fine;
}

// Along v the integrands are polynomials: of degree 2 on planes and cylinders, 4 on cones, 5 m - 1 at
// most on a polynomial patch of degree m. k points are exact for 2 k - 1.
const Gauss& inner_gauss(const Surface& s) {
    static const Gauss rule[most] = {
        Gauss(1), Gauss(2),  Gauss(3),  Gauss(4),  Gauss(5),  Gauss(6),  Gauss(7),  Gauss(8),
        Gauss(9), Gauss(10), Gauss(11), Gauss(12), Gauss(13), Gauss(14), Gauss(15), Gauss(16)};
    int degree = 0;
    if (s.type == LASH_PLANE || s.type == LASH_CYLINDER) return rule[1];
    if (s.type == LASH_CONE) return rule[2];
    if (s.type != LASH_FREEFORM || s.approximated) return gauss(s);
    for (const Patch& patch : s.patches) {
        degree = std::max(degree, patch.v_degree);
        for (const Pole& pole : patch.poles)
            if (pole[3] != patch.poles[0][3]) return gauss(s);
    }
    return rule[std::min(most, (5 * degree + 1) / 2) - 1];
}

// Point and Su x Sv at (u, v) of an elementary surface.
void element(const Surface& s, double u, double v, Vec3* p, Vec3* n) {
    *p = surface_point(s, u, v);
    surface_distance(s, *p, n);
    double scale = 1;
    if (s.type == LASH_CYLINDER) scale = s.radius;
    if (s.type == LASH_CONE) scale = s.radius + v * sin(s.half_angle);
    if (s.type == LASH_SPHERE) scale = s.radius * s.radius * cos(v);
    if (s.type == LASH_TORUS) scale = s.radius2 * (s.radius + s.radius2 * cos(v));
    if (s.type != LASH_PLANE) { // near a pole the foot point's normal is ill defined; use (u, v)
        Vec3 out = vec3_add(vec3_scale(cos(u), s.x), vec3_scale(sin(u), s.y));
        if (s.type == LASH_SPHERE) *n = vec3_add(vec3_scale(cos(v), out), vec3_scale(sin(v), s.z));
    }
    *n = vec3_scale(scale, *n);
}

// On a sphere or torus the integrands are trigonometric polynomials of degree 5 at most: over a
// quarter turn 16 points leave (e z / 64)^32 of them, z = 5 pi / 4, far below rounding.
int quarter_turns(double angle) {
    return std::max(1, (int)ceil(fabs(angle) / (0.5 * LASH_PI) - 1e-9));
}

struct Sum {
    const Surface& s;
    Vec3 c;
    double side;
    Moments* m;
    double* area; // of this face
    const Gauss &rule, &inner;

    void add(Vec3 p, Vec3 n, double weight) const {
        Vec3 q = vec3_sub(p, c);
        double flux = side * weight * vec3_dot(q, n);
        const double x[3] = {q.x, q.y, q.z};
        *area += weight * vec3_norm(n);
        m->volume += flux / 3;
        for (int i = 0; i < 3; ++i) {
            m->first[i] += x[i] * flux / 4;
            for (int j = 0; j < 3; ++j) m->second[i][j] += x[i] * x[j] * flux / 5;
        }
    }
    // Along v from `from` to `to` at fixed u, in steps that are smooth.
    void column(double u, double from, double to, double weight) const {
        if (s.type == LASH_FREEFORM) {
            patches(u, from, to, weight);
            return;
        }
        bool round = s.type == LASH_SPHERE || s.type == LASH_TORUS;
        int pieces = round ? quarter_turns(to - from) : 1;
        double h = (to - from) / pieces;
        for (int k = 0; k < pieces; ++k)
            for (int i = 0; i < inner.points; ++i) {
                Vec3 p, n;
                element(s, u, from + (k + inner.x[i]) * h, &p, &n);
                add(p, n, weight * h * inner.w[i]);
            }
    }
    // The same patch by patch. Trims may leave the surface by their tolerance, and a patch of high degree grows wild
    // there: the outer ones stay as they are at their ends.
    void patches(double u, double from, double to, double weight) const {
        double low = std::min(from, to), high = std::max(from, to), sign = to < from ? -1 : 1;
        int column = 0;
        while (column + 1 < s.u_patches && u > s.patches[column].u1) ++column;
        for (int j = 0; j < s.v_patches; ++j) {
            const Patch& patch = s.patches[column + j * s.u_patches];
            double a = j == 0 ? low : std::max(low, patch.v0);
            double b = j + 1 == s.v_patches ? high : std::min(high, patch.v1);
            if (!(a < b)) continue;
            PatchRow row;
            patch_row(patch, std::clamp(u, patch.u0, patch.u1), &row);
            for (int i = 0; i < inner.points; ++i) {
                double v = std::clamp(a + inner.x[i] * (b - a), patch.v0, patch.v1);
                Vec3 du, dv, p = row_point(row, v, &du, &dv);
                add(p, vec3_cross(du, dv), sign * weight * (b - a) * inner.w[i]);
            }
        }
    }
};

void add_box(const Sum& sum, const Trim& t) {
    std::vector<double> cuts = {t.u0, t.u1};
    if (sum.s.type == LASH_FREEFORM) {
        for (int i = 0; i < sum.s.u_patches; ++i)
            if (sum.s.patches[i].u1 < t.u1) cuts.push_back(sum.s.patches[i].u1);
    } else {
        for (int k = 1; k < 8; ++k) cuts.push_back(t.u0 + (t.u1 - t.u0) * k / 8);
    }
    std::sort(cuts.begin(), cuts.end());
    for (size_t k = 1; k < cuts.size(); ++k) {
        double h = cuts[k] - cuts[k - 1];
        for (int i = 0; i < sum.rule.points; ++i)
            sum.column(cuts[k - 1] + sum.rule.x[i] * h, t.v0, t.v1, h * sum.rule.w[i]);
    }
}

// du/ds of a piece at s, exactly.
double slope(const Piece& p, double s) {
    if (p.kind == LASH_LINE) return p.b[0] - p.a[0];
    if (p.kind == LASH_CIRCLE) return -p.r * sin(p.t0 + s * (p.t1 - p.t0)) * (p.t1 - p.t0);
    PoleUv h[MAX_ORDER];
    int n = weighted_poles(p, h);
    for (int k = n; k > 1; --k)
        for (int i = 0; i < k; ++i)
            for (int c = 0; c < 3; ++c) h[i][c] = (1 - s) * h[i][c] + s * h[i + 1][c];
    double du = n * (h[1][0] - h[0][0]), dw = n * (h[1][2] - h[0][2]);
    double u = (1 - s) * h[0][0] + s * h[1][0], w = (1 - s) * h[0][2] + s * h[1][2];
    return (du - dw * u / w) / w;
}

// Where a piece passes from one column of patches to the next it has a corner: parameters between which it is
// smooth.
std::vector<double> smooth_steps(const Surface& s, const Piece& p) {
    const int samples = 16;
    double uv[2], hair = 1e-6 * (s.patches[s.u_patches - 1].u1 - s.patches[0].u0);
    std::vector<double> cuts = {0, 1}, u;
    for (int k = 0; k <= samples; ++k) {
        piece_point(p, k / (double)samples, uv);
        u.push_back(uv[0]);
    }
    for (int i = 0; i + 1 < s.u_patches; ++i) {
        double border = s.patches[i].u1;
        for (int k = 0; k < samples; ++k) {
            double low = k / (double)samples, high = (k + 1) / (double)samples;
            bool rises = u[k] < border, crosses = rises != (u[k + 1] < border);
            if (!crosses || fmax(fabs(u[k] - border), fabs(u[k + 1] - border)) < hair) continue;
            for (int halving = 0; halving < 40; ++halving) {
                double middle = 0.5 * (low + high);
                piece_point(p, middle, uv);
                ((uv[0] < border) == rises ? low : high) = middle;
            }
            cuts.push_back(high);
        }
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

std::vector<double> even_steps(int count) {
    std::vector<double> cuts;
    for (int k = 0; k <= count; ++k) cuts.push_back(k / (double)count);
    return cuts;
}

std::vector<double> piece_steps(const Surface& s, const Piece& p) {
    if (s.type == LASH_FREEFORM) return smooth_steps(s, p);
    if (p.kind == LASH_CIRCLE) return even_steps(8);
    return even_steps(s.type == LASH_PLANE && p.kind == LASH_LINE ? 1 : 4);
}

void add_loops(const Sum& sum, const Trim& t) {
    for (const Loop& loop : t.loops)
        for (const Piece& p : loop) {
            if (p.kind == LASH_LINE && p.a[0] == p.b[0]) continue;
            std::vector<double> cuts = piece_steps(sum.s, p);
            for (size_t k = 1; k < cuts.size(); ++k)
                for (int i = 0; i < sum.rule.points; ++i) {
                    double h = cuts[k] - cuts[k - 1], s = cuts[k - 1] + sum.rule.x[i] * h, uv[2];
                    piece_point(p, s, uv);
                    sum.column(uv[0], t.v0, uv[1], -slope(p, s) * sum.rule.w[i] * h);
                }
        }
}

} // namespace

double add_face_moments(const Surface& s, const Trim& trim, double side, Vec3 center,
                        Moments* moments) {
    double area = 0;
    Sum sum = {s, center, side, moments, &area, gauss(s), inner_gauss(s)};
    if (trim.loops.empty())
        add_box(sum, trim);
    else
        add_loops(sum, trim);
    moments->area += area;
    return area;
}

} // namespace lash

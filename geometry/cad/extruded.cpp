// Is this freeform surface a profile that is moved along a straight line?
//
//   S(u, v) = c(u) + s(v) way,  s from 0 to 1, linear in v:
// in all patches the pole (k, l) is P_k0 + s_l way and its weight that of (k, 0), s_l the share at
// the l-th of the equidistant places of v. Points are convex combinations of the poles, so no point
// moves by more than the poles do when they are put there. CAD systems write such faces with any
// degree along the line (3 is common), in either parameter, and with their own rounding. They
// become linear in v, one patch along it: what the kernels know as extruded (cells.c).
//
// A line along u: the plane of the parameters is turned, u' = v, v' = -u. That keeps the sense of
// its loops and of the normal.
#include <algorithm>
#include <cmath>

#include "core/math3.h"
#include "geometry/cad/surface.hpp"

namespace lash {
namespace {

const Pole& pole_of(const Patch& p, int k, int l) {
    return p.poles[k + l * (p.u_degree + 1)];
}

Vec3 place_of(const Pole& pole) {
    return vec3(pole[0], pole[1], pole[2]);
}

// From the first to the last row of poles, on average.
Vec3 mean_way(const Surface& s) {
    Vec3 sum = vec3_zero();
    int count = 0;
    for (int i = 0; i < s.u_patches; ++i) {
        const Patch &first = s.patches[i], &last = s.patches[i + (s.v_patches - 1) * s.u_patches];
        for (int k = 0; k <= first.u_degree; ++k) {
            Vec3 a = place_of(pole_of(first, k, 0)), b = place_of(pole_of(last, k, last.v_degree));
            sum = vec3_add(sum, vec3_sub(b, a));
            ++count;
        }
    }
    return vec3_scale(1.0 / count, sum);
}

// How far are the poles off the first row of their column, moved along? In metres; the size is for
// the weights.
double off_line(const Surface& s, Vec3 way, double size) {
    double v0 = s.patches.front().v0, length = s.patches.back().v1 - v0, off = 0;
    for (size_t n = 0; n < s.patches.size(); ++n) {
        const Patch &p = s.patches[n], &first = s.patches[n % s.u_patches];
        if (p.u_degree != first.u_degree || p.v_degree < 1) return HUGE_VAL;
        for (int l = 0; l <= p.v_degree; ++l) {
            double share = (p.v0 - v0 + (p.v1 - p.v0) * l / p.v_degree) / length;
            for (int k = 0; k <= p.u_degree; ++k) {
                const Pole &q = pole_of(p, k, l), &base = pole_of(first, k, 0);
                Vec3 there = vec3_add_scaled(place_of(base), share, way);
                off = fmax(off, vec3_distance(place_of(q), there));
                off = fmax(off, 2 * size * fabs(q[3] / base[3] - 1));
            }
        }
    }
    return off;
}

// The first row of poles and the same, moved.
void make_linear(Surface* surface, Vec3 way) {
    double v1 = surface->patches.back().v1;
    surface->patches.resize(surface->u_patches);
    surface->v_patches = 1;
    for (Patch& p : surface->patches) {
        int row = p.u_degree + 1;
        p.poles.resize(row);
        for (int k = 0; k < row; ++k) {
            Vec3 there = vec3_add(place_of(p.poles[k]), way);
            p.poles.push_back({there.x, there.y, there.z, p.poles[k][3]});
        }
        p.v_degree = 1;
        p.v1 = v1;
    }
}

Patch turned_patch(const Patch& p) {
    Patch q;
    q.u_degree = p.v_degree;
    q.v_degree = p.u_degree;
    q.u0 = p.v0;
    q.u1 = p.v1;
    q.v0 = -p.u1;
    q.v1 = -p.u0;
    for (int l = 0; l <= q.v_degree; ++l)
        for (int k = 0; k <= q.u_degree; ++k) q.poles.push_back(pole_of(p, p.u_degree - l, k));
    return q;
}

Surface turned_surface(const Surface& s) {
    Surface t = s;
    t.turned = true;
    t.u_patches = s.v_patches;
    t.v_patches = s.u_patches;
    t.patches.clear();
    for (int j = 0; j < t.v_patches; ++j)
        for (int i = 0; i < t.u_patches; ++i)
            t.patches.push_back(turned_patch(s.patches[s.u_patches - 1 - j + i * s.u_patches]));
    return t;
}

bool is_linear(const Surface& s) {
    return s.v_patches == 1 && std::all_of(s.patches.begin(), s.patches.end(),
                                           [](const Patch& p) { return p.v_degree == 1; });
}

bool straighten_along_v(Surface* surface, double size) {
    Vec3 way = mean_way(*surface);
    double off = off_line(*surface, way, size);
    if (!(off <= straight * size && vec3_norm(way) > 1e3 * off)) return false;
    if (is_linear(*surface) && off <= 1e-14 * size) return true; // as the kernels want it
    make_linear(surface, way);
    surface->deviation += off;
    return true;
}

} // namespace

void straighten(Surface* surface, double size) {
    if (straighten_along_v(surface, size)) return;
    Surface turned = turned_surface(*surface);
    if (straighten_along_v(&turned, size)) *surface = turned;
}

void own_parameters(const Surface& s, double cad_u, double cad_v, double uv[2]) {
    uv[0] = s.turned ? cad_v : cad_u;
    uv[1] = s.turned ? -cad_u : cad_v;
}

} // namespace lash

// Trimming loops of elementary faces.
//
// The edges of a face are chained at their vertices into directed cycles, material on the left.
// Each cycle is mapped to (u, v) with u (and v of a torus) unwrapped along the way, so that it ends
// k turns away from its begin. k = 0 is a closed loop: outer when its area is positive, a hole
// otherwise. k = +1 bounds the region from below (it runs along +u with the material above), k = -1
// from above; such a pair, or one of them and a pole, is cut at one u and joined by two seams to
// the outer loop of a region closed in u. Nothing here depends on where the CAD system had its
// seams, so faces that were merged need no care.
//
// On a plane lines, circles and rational curves keep their form exactly. Elsewhere a curve that is
// straight in (u, v) is a line; the rest is interpolated piecewise by polynomials of degree 9 at
// Chebyshev points, halved until the error is below 1e-11 of the face.
#include "geometry/cad/trims.hpp"
#include "core/math3.h"

#include <algorithm>
#include <cmath>

namespace lash {
namespace {

const double turn = 2 * LASH_PI;

struct Cycle {
    Loop pieces;
    int k[2] = {0, 0};
    double area = 0, low[2] = {0, 0}, high[2] = {0, 0};
};

bool periodic(const Surface& s, int axis) {
    if (axis == 0) return s.type != LASH_PLANE;
    return s.type == LASH_TORUS;
}

void shift_piece(Piece* piece, int axis, double by) {
    piece->a[axis] += by;
    piece->b[axis] += by;
    piece->c[axis] += by;
    for (PoleUv& q : piece->poles) q[axis] += by;
}

// The foot point's (u, v), moved by whole turns next to the previous one.
void near_uv(const Surface& s, Vec3 p, const double previous[2], double uv[2]) {
    surface_uv(s, p, &uv[0], &uv[1]);
    for (int i = 0; i < 2; ++i)
        if (periodic(s, i)) uv[i] += turn * std::round((previous[i] - uv[i]) / turn);
}

// The curve in (u, v) at many parameters, unwrapped from its begin.
struct Track {
    const Surface& s;
    const Curve& c;
    double t0, t1; // in running direction
    std::vector<std::array<double, 2>> guide;
    static constexpr int steps = 64;

    Track(const Surface& surface, const HalfEdge& h)
        : s(surface), c(*h.curve), t0(h.reversed ? c.t1 : c.t0), t1(h.reversed ? c.t0 : c.t1) {
        double uv[2], previous[2] = {0, 0};
        for (int i = 0; i <= steps; ++i) {
            near_uv(s, curve_point(c, t0 + (t1 - t0) * i / steps, nullptr), previous, uv);
            guide.push_back({uv[0], uv[1]});
            previous[0] = uv[0];
            previous[1] = uv[1];
        }
        fix_ends();
    }
    // At a pole of the surface u is that of the nearby points.
    void fix_ends() {
        for (int end = 0; end < 2; ++end) {
            Vec3 p = curve_point(c, end ? t1 : t0, nullptr);
            Vec3 d = vec3_sub(p, s.origin);
            double h = vec3_dot(d, s.z), rho = vec3_norm(vec3_add_scaled(d, -h, s.z));
            if (s.type == LASH_PLANE || s.type == LASH_TORUS) continue;
            if (rho > 1e-9 * (s.radius + vec3_norm(d))) continue;
            guide[end ? steps : 0][0] = guide[end ? steps - 1 : 1][0];
        }
    }
    void at(double f, double uv[2]) const { // f in [0, 1]
        int i = (int)std::lround(f * steps);
        if (f == 0 || f == 1) {
            uv[0] = guide[i][0];
            uv[1] = guide[i][1];
            return;
        }
        near_uv(s, curve_point(c, t0 + (t1 - t0) * f, nullptr), guide[i].data(), uv);
    }
};

bool straight(const Track& track, double tolerance) {
    const auto &a = track.guide.front(), &b = track.guide.back();
    double e[2] = {b[0] - a[0], b[1] - a[1]}, length = hypot(e[0], e[1]);
    if (length == 0) return false;
    for (const auto& q : track.guide)
        if (fabs((q[0] - a[0]) * e[1] - (q[1] - a[1]) * e[0]) > tolerance * length) return false;
    return true;
}

void fit_pieces(const Track& track, double f0, double f1, double tolerance, int depth, Loop* loop) {
    std::vector<double> u, v;
    double uv[2];
    for (double t : fit_nodes()) {
        track.at(t == 1 ? f1 : f0 + (f1 - f0) * t, uv);
        u.push_back(uv[0]);
        v.push_back(uv[1]);
    }
    Piece piece;
    piece.kind = LASH_FREE_CURVE;
    std::vector<double> cu = fit_bezier(u), cv = fit_bezier(v);
    for (int i = 0; i <= FIT_DEGREE; ++i) piece.poles.push_back({cu[i], cv[i], 1});
    double error = 0;
    for (int i = 0; i < FIT_DEGREE; ++i) {
        double t = 0.5 * (fit_nodes()[i] + fit_nodes()[i + 1]), q[2];
        track.at(f0 + (f1 - f0) * t, uv);
        piece_point(piece, t, q);
        error = std::max(error, std::max(fabs(q[0] - uv[0]), fabs(q[1] - uv[1])));
    }
    if (error <= tolerance || depth == 0) {
        for (int i = 0; i < 2; ++i) piece.a[i] = piece.poles.front()[i];
        for (int i = 0; i < 2; ++i) piece.b[i] = piece.poles.back()[i];
        loop->push_back(piece);
        return;
    }
    fit_pieces(track, f0, 0.5 * (f0 + f1), tolerance, depth - 1, loop);
    fit_pieces(track, 0.5 * (f0 + f1), f1, tolerance, depth - 1, loop);
}

void set_ends(Piece* piece) {
    piece_point(*piece, 0, piece->a);
    piece_point(*piece, 1, piece->b);
}

// Pieces on a plane: the same curve in its coordinates.
void plane_pieces(const Surface& s, const HalfEdge& h, Loop* loop) {
    const Curve& c = *h.curve;
    Piece piece;
    double t0 = h.reversed ? c.t1 : c.t0, t1 = h.reversed ? c.t0 : c.t1;
    if (c.type == LASH_LINE) {
        surface_uv(s, curve_point(c, t0, nullptr), &piece.a[0], &piece.a[1]);
        surface_uv(s, curve_point(c, t1, nullptr), &piece.b[0], &piece.b[1]);
        loop->push_back(piece);
    } else if (c.type == LASH_CIRCLE) {
        piece.kind = LASH_CIRCLE;
        surface_uv(s, c.origin, &piece.c[0], &piece.c[1]);
        piece.r = c.radius;
        double sign = vec3_dot(c.z, s.z) < 0 ? -1 : 1;
        double first = atan2(vec3_dot(c.x, s.y), vec3_dot(c.x, s.x));
        piece.t0 = first + sign * t0;
        piece.t1 = first + sign * t1;
        set_ends(&piece);
        loop->push_back(piece);
    } else {
        for (size_t i = 0; i < c.segments.size(); ++i) {
            const Segment& g = c.segments[h.reversed ? c.segments.size() - 1 - i : i];
            Piece q;
            q.kind = LASH_FREE_CURVE;
            for (const Pole& p : g.poles) {
                PoleUv w = {0, 0, p[3]};
                surface_uv(s, vec3(p[0], p[1], p[2]), &w[0], &w[1]);
                q.poles.push_back(w);
            }
            if (h.reversed) std::reverse(q.poles.begin(), q.poles.end());
            set_ends(&q);
            loop->push_back(q);
        }
    }
}

Loop half_edge_pieces(const Surface& s, const HalfEdge& h) {
    Loop loop;
    if (s.type == LASH_PLANE) {
        plane_pieces(s, h, &loop);
    } else {
        Track track(s, h);
        double size = 1 + fabs(track.guide.back()[1] - track.guide.front()[1]);
        bool length = s.type == LASH_CYLINDER || s.type == LASH_CONE; // v is one [m]
        if (straight(track, length && s.radius > 0 ? 1e-8 * std::min(1.0, s.radius) : 1e-8)) {
            Piece piece;
            for (int i = 0; i < 2; ++i) piece.a[i] = track.guide.front()[i];
            for (int i = 0; i < 2; ++i) piece.b[i] = track.guide.back()[i];
            // A circle about the axis or a generator: exactly along v or u.
            for (int i = 0; i < 2; ++i)
                if (fabs(piece.a[i] - piece.b[i]) < 1e-9 * size)
                    piece.a[i] = piece.b[i] = 0.5 * (piece.a[i] + piece.b[i]);
            loop.push_back(piece);
        } else {
            fit_pieces(track, 0, 1, 1e-11 * size, 6, &loop);
        }
    }
    for (Piece& p : loop) {
        p.edge = h.edge;
        p.reversed = h.reversed;
    }
    return loop;
}

// Index of the half-edge that continues from vertex v, or -1. Of several, the leftmost turn.
int next_half_edge(const Surface& s, const std::vector<HalfEdge>& edges,
                   const std::vector<bool>& used, int v, int from) {
    int best = -1;
    double best_turn = HUGE_VAL;
    for (size_t i = 0; i < edges.size(); ++i) {
        if (used[i] || edges[i].from != v || v < 0) continue;
        const Curve &c = *edges[i].curve, &d = *edges[from].curve;
        Vec3 t, b, n;
        Vec3 p = curve_point(c, edges[i].reversed ? c.t1 : c.t0, &t);
        curve_point(d, edges[from].reversed ? d.t0 : d.t1, &b);
        if (edges[i].reversed) t = vec3_neg(t);
        if (!edges[from].reversed) b = vec3_neg(b); // back along the edge we came by
        surface_distance(s, p, &n);
        // angle from the way back to the way on, clockwise: the smaller, the nearer to our left
        double angle = atan2(-vec3_dot(vec3_cross(b, t), n), vec3_dot(b, t));
        if (angle <= 1e-9) angle += turn;
        if (angle < best_turn) {
            best_turn = angle;
            best = (int)i;
        }
    }
    return best;
}

Piece line_piece(double u0, double v0, double u1, double v1) {
    Piece p;
    p.a[0] = u0;
    p.a[1] = v0;
    p.b[0] = u1;
    p.b[1] = v1;
    return p;
}

bool at_pole(const Surface& s, const double uv[2]) {
    if (s.type == LASH_CONE)
        return fabs(s.radius + uv[1] * sin(s.half_angle)) < 1e-9 * (s.radius + fabs(uv[1]));
    return s.type == LASH_SPHERE && fabs(fabs(uv[1]) - LASH_PI / 2) < 1e-7;
}

// Whole turns that bring `begin` next to `end`. Where a chain passes a pole it follows v = const:
// below the region along +u, above it along -u, with the material on the left.
double turns_to(const Surface& s, int axis, const double end[2], const double begin[2]) {
    if (!periodic(s, axis)) return 0;
    double gap = begin[axis] - end[axis];
    if (axis != 0 || !at_pole(s, end)) return -turn * std::round(gap / turn);
    bool below = s.type == LASH_CONE || end[1] < 0;
    return below ? -turn * std::floor(gap / turn) : -turn * std::ceil(gap / turn);
}

// Appends the pieces of one half-edge where the cycle is.
void append(const Surface& s, Cycle* cycle, Loop pieces) {
    if (!cycle->pieces.empty()) {
        double end[2] = {cycle->pieces.back().b[0], cycle->pieces.back().b[1]};
        for (int i = 0; i < 2; ++i) {
            double by = turns_to(s, i, end, pieces[0].a);
            for (Piece& p : pieces) shift_piece(&p, i, by);
        }
        if (at_pole(s, end) && fabs(pieces[0].a[0] - end[0]) > 1e-9)
            cycle->pieces.push_back(line_piece(end[0], end[1], pieces[0].a[0], pieces[0].a[1]));
    }
    cycle->pieces.insert(cycle->pieces.end(), pieces.begin(), pieces.end());
}

// A chain that began at a pole ends there along v = const.
void close_at_pole(const Surface& s, Cycle* cycle) {
    const double *end = cycle->pieces.back().b, *begin = cycle->pieces.front().a;
    if (!at_pole(s, end)) return;
    double u = begin[0] + turns_to(s, 0, end, begin);
    if (fabs(u - end[0]) > 1e-9) cycle->pieces.push_back(line_piece(end[0], end[1], u, begin[1]));
}

// Area, extent and turns of a finished cycle.
bool measure(const Surface& s, Cycle* cycle) {
    double first[2] = {cycle->pieces.front().a[0], cycle->pieces.front().a[1]};
    double last[2] = {cycle->pieces.back().b[0], cycle->pieces.back().b[1]};
    for (int i = 0; i < 2; ++i) {
        double n = periodic(s, i) ? (last[i] - first[i]) / turn : 0;
        cycle->k[i] = (int)std::lround(n);
        cycle->low[i] = HUGE_VAL;
        cycle->high[i] = -HUGE_VAL;
        if (periodic(s, i) && fabs(n - cycle->k[i]) > 1e-4) return false;
    }
    for (const Piece& p : cycle->pieces) {
        double low[2], high[2], q0[2], q1[2];
        piece_range(p, low, high);
        for (int i = 0; i < 2; ++i) {
            cycle->low[i] = std::min(cycle->low[i], low[i]);

            cycle->high[i] = std::max(cycle->high[i], high[i]);
        }
        int steps = p.kind == LASH_LINE ? 1 : 64;
        piece_point(p, 0, q0);
        for (int i = 1; i <= steps; ++i) {
            piece_point(p, i / (double)steps, q1);
            cycle->area += 0.5 * ((q0[0] - first[0]) * (q1[1] - first[1]) -
                                  (q1[0] - first[0]) * (q0[1] - first[1]));
            q0[0] = q1[0];
            q0[1] = q1[1];
        }
    }
    return abs(cycle->k[0]) + abs(cycle->k[1]) <= 1;
}

bool chain(const Surface& s, const std::vector<HalfEdge>& edges, std::vector<Cycle>* cycles) {
    std::vector<bool> used(edges.size(), false);
    for (size_t start = 0; start < edges.size(); ++start) {
        if (used[start]) continue;
        Cycle cycle;
        int at = (int)start;
        while (true) {
            used[at] = true;
            append(s, &cycle, half_edge_pieces(s, edges[at]));
            int v = edges[at].to;
            if (v == edges[start].from) break; // closed, or back at the begin
            at = next_half_edge(s, edges, used, v, at);
            if (at < 0) return false;
        }
        close_at_pole(s, &cycle);
        if (!measure(s, &cycle)) return false;
        cycles->push_back(cycle);
    }
    return true;
}

void split_piece(const Piece& p, double s, Piece* left, Piece* right) {
    *left = *right = p;
    double uv[2];
    piece_point(p, s, uv);
    for (int i = 0; i < 2; ++i) left->b[i] = right->a[i] = uv[i];
    if (p.kind != LASH_FREE_CURVE) return; // lines only; circles are never cut
    PoleUv h[MAX_ORDER];
    int n = weighted_poles(p, h);
    auto flat = [](PoleUv q) { return PoleUv{q[0] / q[2], q[1] / q[2], q[2]}; };
    for (int k = 0; k <= n; ++k) {
        left->poles[k] = flat(h[0]);
        right->poles[n - k] = flat(h[n - k]);
        for (int i = 0; i < n - k; ++i)
            for (int c = 0; c < 3; ++c) h[i][c] = (1 - s) * h[i][c] + s * h[i + 1][c];
    }
}

// A cycle with one turn along the axis, cut where it passes `at` (modulo a turn): from there once
// round.
Loop cut_cycle(const Cycle& cycle, int axis, double at) {
    const Loop& p = cycle.pieces;
    int k = cycle.k[axis];
    double first = p.front().a[axis], x = (first - at) / turn; // the level the cycle meets first
    double level = at + turn * (k > 0 ? std::ceil(x) : std::floor(x));
    if (fabs(x - std::round(x)) < 1e-12) level = first;
    for (size_t i = 0; i < p.size(); ++i) {
        double a = p[i].a[axis] - level, b = p[i].b[axis] - level;
        if (fabs(a) < 1e-12) a = 0;
        if (a * k > 0 || b * k <= 0) continue;
        Loop loop;
        Piece left, right = p[i];
        bool inside = a != 0;
        if (inside) { // a * k < 0 < b * k: bisection
            double lo = 0, hi = 1, uv[2];
            for (int it = 0; it < 80; ++it) {
                double mid = 0.5 * (lo + hi);
                piece_point(p[i], mid, uv);
                ((uv[axis] - level) * k > 0 ? hi : lo) = mid;
            }
            split_piece(p[i], 0.5 * (lo + hi), &left, &right);
        }
        loop.push_back(right);
        for (size_t j = 1; j < p.size(); ++j) {
            Piece q = p[(i + j) % p.size()];
            if (i + j >= p.size()) shift_piece(&q, axis, k * turn);
            loop.push_back(q);
        }
        if (inside) {
            shift_piece(&left, axis, k * turn);
            loop.push_back(left);
        }
        loop.front().a[axis] = level;
        loop.back().b[axis] = level + k * turn;
        double by = at - (k > 0 ? level : level - turn);
        for (Piece& q : loop) shift_piece(&q, axis, by);
        return loop;
    }
    return Loop();
}

// A place for the seam that no hole covers, at a vertex of the boundary if possible.
double seam_place(const std::vector<Cycle>& cycles, int axis) {
    std::vector<double> places = {0};
    for (const Cycle& c : cycles)
        if (c.k[axis] != 0)
            for (const Piece& p : c.pieces) places.push_back(p.a[axis]);
    if (places.size() > 1) std::swap(places[0], places[1]);
    for (const Cycle& c : cycles)
        if (c.k[axis] == 0) {
            places.push_back(c.high[axis] + 1e-3);
            places.push_back(c.low[axis] - 1e-3);
        }
    for (double at : places) {
        bool free = true;
        for (const Cycle& c : cycles) {
            if (c.k[axis] != 0) continue;
            double x = at + turn * std::ceil((c.low[axis] - at) / turn);
            if (x < c.high[axis]) free = false;
        }
        if (free) return at;
    }
    return places[0];
}

// Moves the holes by whole turns into the range of the outer loop.
void place_holes(const Surface& s, const std::vector<Cycle>& cycles, Trim* trim) {
    for (const Cycle& c : cycles) {
        if (c.k[0] != 0 || c.k[1] != 0 || c.area > 0) continue;
        Loop hole = c.pieces;
        const double low[2] = {trim->u0, trim->v0};
        for (int i = 0; i < 2; ++i) {
            if (!periodic(s, i)) continue;
            double by = turn * std::ceil((low[i] - 1e-9 - c.low[i]) / turn);
            for (Piece& p : hole) shift_piece(&p, i, by);
        }
        trim->loops.push_back(hole);
    }
}

void set_box(Trim* trim) {
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (const Piece& p : trim->loops[0]) {
        double a[2], b[2];
        piece_range(p, a, b);
        for (int i = 0; i < 2; ++i) {
            low[i] = std::min(low[i], a[i]);
            high[i] = std::max(high[i], b[i]);
        }
    }
    trim->u0 = low[0];
    trim->u1 = high[0];
    trim->v0 = low[1];
    trim->v1 = high[1];
}

// The region closed along `axis`, between the cycle below and the one above (either may be a pole).
bool closed_region(const Surface& s, const std::vector<Cycle>& cycles, int axis, Trim* trim) {
    const Cycle *below = nullptr, *above = nullptr;
    int other = 1 - axis, sense = axis == 0 ? 1 : -1; // along v the material left of +v is at -u
    for (const Cycle& c : cycles) {
        const Cycle** side = c.k[axis] * sense > 0 ? &below : &above;
        if (c.k[other] != 0 || (c.k[axis] == 0 && c.area > 0)) return false;
        if (c.k[axis] == 0) continue;
        if (*side != nullptr) return false;
        *side = &c;
    }
    if (below == nullptr && above == nullptr) return false;
    double at = seam_place(cycles, axis), end = at + turn;
    Loop low, high;
    if (below != nullptr) low = cut_cycle(*below, axis, at);
    if (above != nullptr) high = cut_cycle(*above, axis, at);
    if ((below != nullptr && low.empty()) || (above != nullptr && high.empty())) return false;
    if (s.type == LASH_CYLINDER && (low.empty() || high.empty())) return false;
    if (low.empty() || high.empty()) { // a pole
        if (axis != 0 || s.type == LASH_TORUS) return false;
        double v = low.empty() ? -LASH_PI / 2 : LASH_PI / 2;
        if (s.type != LASH_SPHERE) v = -s.radius / sin(s.half_angle);
        if (s.type == LASH_CONE && high.empty()) return false; // the apex is below
        if (low.empty())
            low.push_back(line_piece(at, v, end, v));
        else
            high.push_back(line_piece(end, v, at, v));
    }
    if (periodic(s, other)) { // the upper one above the lower one, by less than a turn
        double gap = high.front().a[other] - low.front().a[other];
        double by = -turn * std::floor(gap / turn);
        for (Piece& p : high) shift_piece(&p, other, by);
    }
    if (axis == 1) std::swap(low, high); // keep the loop counter-clockwise
    const Piece &l0 = low.front(), &l1 = low.back(), &h0 = high.front(), &h1 = high.back();
    Loop outer = low;
    outer.push_back(line_piece(l1.b[0], l1.b[1], h0.a[0], h0.a[1]));
    outer.insert(outer.end(), high.begin(), high.end());
    outer.push_back(line_piece(h1.b[0], h1.b[1], l0.a[0], l0.a[1]));
    trim->loops.push_back(outer);
    (axis == 0 ? trim->u_closed : trim->v_closed) = true;
    return true;
}

// One line of the box's border?
bool on_border(const Piece& p, const Trim& t) {
    if (p.kind != LASH_LINE) return false;
    double eps = 1e-9;
    bool along_u = fabs(p.a[1] - p.b[1]) <= 1e-12 * (1 + fabs(p.a[1]));
    bool along_v = fabs(p.a[0] - p.b[0]) <= 1e-12 * (1 + fabs(p.a[0]));
    double hv = eps * (t.v1 - t.v0), hu = eps * (t.u1 - t.u0);
    return (along_u && (fabs(p.a[1] - t.v0) <= hv || fabs(p.a[1] - t.v1) <= hv)) ||
           (along_v && (fabs(p.a[0] - t.u0) <= hu || fabs(p.a[0] - t.u1) <= hu));
}

void whole_surface(const Surface& s, Trim* trim) {
    double v = s.type == LASH_SPHERE ? LASH_PI / 2 : LASH_PI;
    trim->u_closed = true;
    trim->v_closed = s.type == LASH_TORUS;
    trim->u0 = 0;
    trim->u1 = turn;
    trim->v0 = -v;
    trim->v1 = v;
    trim->loops.push_back({line_piece(0, -v, turn, -v), line_piece(turn, -v, turn, v),
                           line_piece(turn, v, 0, v), line_piece(0, v, 0, -v)});
}

} // namespace

int weighted_poles(const Piece& p, PoleUv* h) {
    for (size_t i = 0; i < p.poles.size(); ++i)
        h[i] = {p.poles[i][0] * p.poles[i][2], p.poles[i][1] * p.poles[i][2], p.poles[i][2]};
    return (int)p.poles.size() - 1;
}

void piece_point(const Piece& p, double s, double uv[2]) {
    if (p.kind == LASH_LINE) {
        for (int i = 0; i < 2; ++i) uv[i] = s == 1 ? p.b[i] : p.a[i] + s * (p.b[i] - p.a[i]);
    } else if (p.kind == LASH_CIRCLE) {
        double t = p.t0 + s * (p.t1 - p.t0);
        uv[0] = p.c[0] + p.r * cos(t);
        uv[1] = p.c[1] + p.r * sin(t);
    } else {
        PoleUv h[MAX_ORDER];
        for (int n = weighted_poles(p, h); n > 0; --n)
            for (int i = 0; i < n; ++i)
                for (int c = 0; c < 3; ++c) h[i][c] = (1 - s) * h[i][c] + s * h[i + 1][c];
        uv[0] = h[0][0] / h[0][2];
        uv[1] = h[0][1] / h[0][2];
    }
}

void piece_range(const Piece& p, double low[2], double high[2]) {
    for (int i = 0; i < 2; ++i) {
        low[i] = std::min(p.a[i], p.b[i]);
        high[i] = std::max(p.a[i], p.b[i]);
    }
    if (p.kind == LASH_LINE) return;
    if (p.kind == LASH_CIRCLE) {
        double from = std::min(p.t0, p.t1), to = std::max(p.t0, p.t1), q = LASH_PI / 2;
        for (int k = (int)std::ceil(from / q); k * q <= to; ++k) {
            int m = ((k % 4) + 4) % 4;
            double x = p.c[m & 1] + (m < 2 ? p.r : -p.r);
            low[m & 1] = std::min(low[m & 1], x);
            high[m & 1] = std::max(high[m & 1], x);
        }
        return;
    }
    bool monotone = true; // a curve stays within its poles
    for (const PoleUv& q : p.poles)
        for (int i = 0; i < 2; ++i) monotone = monotone && q[i] >= low[i] && q[i] <= high[i];
    for (int k = 1; k < 128 && !monotone; ++k) {
        double uv[2];
        piece_point(p, k / 128.0, uv);
        for (int i = 0; i < 2; ++i) {
            low[i] = std::min(low[i], uv[i]);
            high[i] = std::max(high[i], uv[i]);
        }
    }
}

void turn_sphere(Surface* surface, const std::vector<HalfEdge>& edges) {
    std::vector<Vec3> directions, candidates = {surface->z};
    for (const HalfEdge& h : edges) {
        for (int i = 0; i <= 16; ++i) {
            double t = h.curve->t0 + (h.curve->t1 - h.curve->t0) * i / 16;
            Vec3 d = vec3_sub(curve_point(*h.curve, t, nullptr), surface->origin);
            if (vec3_norm(d) > 0) directions.push_back(vec3_normalize(d));
        }
        if (h.curve->type == LASH_CIRCLE) candidates.push_back(h.curve->z);
    }
    for (int i = 0; i < 27; ++i) { // the 13 directions of a cube's faces, edges and corners
        Vec3 d = vec3(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
        if (vec3_norm(d) > 0) candidates.push_back(vec3_normalize(d));
    }
    double best = 0;
    Vec3 z = surface->z;
    for (size_t k = 0; k < candidates.size(); ++k) {
        double clearance = 1; // smallest distance of an edge from either pole
        for (Vec3 d : directions)
            clearance = std::min(clearance, vec3_norm(vec3_cross(d, candidates[k])));
        if (k == 0 && clearance > 0.05) return; // the CAD frame is good enough
        if (clearance > 1.05 * best) {
            best = clearance;
            z = candidates[k];
        }
    }
    set_frame(surface, z, surface->x);
}

bool make_trim(const Surface& s, const std::vector<HalfEdge>& edges, Trim* trim) {
    std::vector<Cycle> cycles;
    if (!chain(s, edges, &cycles)) return false;
    int turns_u = 0, turns_v = 0, outer = -1, outers = 0;
    for (size_t i = 0; i < cycles.size(); ++i) {
        turns_u += abs(cycles[i].k[0]);
        turns_v += abs(cycles[i].k[1]);
        bool loop = cycles[i].k[0] == 0 && cycles[i].k[1] == 0;
        if (loop && cycles[i].area > 0) {
            outer = (int)i;
            ++outers;
        }
    }
    if (turns_u + turns_v > 0) {
        if (turns_u > 0 && turns_v > 0) return false;
        if (!closed_region(s, cycles, turns_u > 0 ? 0 : 1, trim)) return false;
        set_box(trim);
    } else if (outers == 1) {
        trim->loops.push_back(cycles[outer].pieces);
        set_box(trim);
    } else if (outers == 0 && (s.type == LASH_SPHERE || s.type == LASH_TORUS)) {
        whole_surface(s, trim);
    } else {
        return false;
    }
    place_holes(s, cycles, trim);
    bool box = s.type != LASH_PLANE && trim->loops.size() == 1;
    for (const Piece& p : trim->loops[0]) box = box && on_border(p, *trim);
    if (box) trim->loops.clear();
    return true;
}

} // namespace lash

// Edges and vertices of a part.
//
// An edge between two elementary faces is recomputed as their intersection when that is a line or a
// circle: CAD edges carry tolerances of micrometres, faces do not. Edges that continue each other
// between the same two faces (halves of a circle) are chained to one. A vertex is the point nearest
// to all lines and circles that meet in it (Gauss-Newton on the distances), or to its faces.
#include <BRepAdaptor_Surface.hxx>
#include <BRep_Tool.hxx>
#include <Geom2d_Curve.hxx>
#include <GeomConvert.hxx>
#include <GeomConvert_BSplineCurveToBezierCurve.hxx>
#include <GeomLProp_SLProps.hxx>
#include <Geom_BSplineCurve.hxx>
#include <Geom_BezierCurve.hxx>
#include <Geom_Circle.hxx>
#include <Geom_Line.hxx>
#include <Geom_TrimmedCurve.hxx>
#include <TColStd_Array1OfReal.hxx>
#include <TopExp.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Vertex.hxx>
#include <algorithm>
#include <cmath>

#include "core/math3.h"
#include "geometry/cad/occt_model.hpp"

namespace lash {
namespace {

void take_segments(const Handle(Geom_Curve) & g, double first, double last, double metre,
                   Curve* curve) {
    Handle(Geom_BSplineCurve) b =
        GeomConvert::CurveToBSplineCurve(new Geom_TrimmedCurve(g, first, last));
    GeomConvert_BSplineCurveToBezierCurve split(b);
    TColStd_Array1OfReal knots(1, split.NbArcs() + 1);
    split.Knots(knots);
    for (int i = 1; i <= split.NbArcs(); ++i) {
        Handle(Geom_BezierCurve) z = split.Arc(i);
        Segment s;
        s.t0 = knots(i);
        s.t1 = knots(i + 1);
        for (int k = 1; k <= z->NbPoles(); ++k) {
            Vec3 p = to_metres(z->Pole(k), metre);
            s.poles.push_back({p.x, p.y, p.z, z->Weight(k)});
        }
        curve->segments.push_back(s);
    }
    curve->t0 = curve->segments.front().t0;
    curve->t1 = curve->segments.back().t1;
}

Vec3 direction(const gp_Dir& d) {
    return vec3(d.X(), d.Y(), d.Z());
}

// The elementary surface of a use, or NULL.
const Surface* surface_of(const PartWork& w, const Use& use) {
    const Surface& s = w.groups[use.group].surface;
    return is_elementary(s) ? &s : nullptr;
}

// Replaces the CAD curve by the exact intersection, if that is a line or circle near enough.
void recompute(PartWork* work, EdgeWork* edge_work, const Handle(Geom_Curve) & g) {
    if (edge_work->uses.size() != 2) return;
    const Surface *surface = surface_of(*work, edge_work->uses[0]),
                  *b = surface_of(*work, edge_work->uses[1]);
    if (surface == nullptr || b == nullptr) return;
    std::vector<Vec3> points;
    for (int i = 0; i <= 8; ++i)
        points.push_back(
            to_metres(g->Value(edge_work->first + (edge_work->last - edge_work->first) * i / 8),
                      work->metre));
    double fine = 1e-7 * work->size + 2 * (surface->deviation + b->deviation);
    double coarse = fmin(edge_work->tolerance, 1e-3 * work->size) + fine;
    Curve c;
    if (!intersection_curve(*surface, *b, points, fine, &c) &&
        !intersection_curve(*surface, *b, points, coarse, &c))
        return;
    double t0 = curve_parameter(c, points.front()), t1 = curve_parameter(c, points.back());
    if (c.type == LASH_CIRCLE) { // the angle run through, from the points
        double sum = 0;
        for (int i = 1; i <= 8; ++i) {
            double d = curve_parameter(c, points[i]) - curve_parameter(c, points[i - 1]);
            sum += d - 2 * LASH_PI * std::round(d / (2 * LASH_PI));
        }
        if (sum <= 0) return;
        t1 = t0 + sum;
    }
    c.t0 = t0;
    c.t1 = t1;
    edge_work->curve = c;
}

bool same_circle_or_line(const Curve& a, const Curve& b, double tolerance) {
    if (a.type != b.type || a.type == LASH_FREE_CURVE) return false;
    Vec3 d = vec3_sub(b.origin, a.origin);
    if (vec3_norm(vec3_cross(a.z, b.z)) > 1e-6) return false;
    if (a.type == LASH_LINE)
        return vec3_norm(vec3_add_scaled(d, -vec3_dot(d, a.z), a.z)) < tolerance;
    return vec3_norm(d) < tolerance && fabs(a.radius - b.radius) < tolerance;
}

// Both edges lie between the same groups, on the same sides when b runs as asked.
bool same_neighbours(const EdgeWork& a, const EdgeWork& b, bool b_reversed) {
    if (a.uses.size() != b.uses.size() || a.uses.empty()) return false;
    for (const Use& u : a.uses) {
        bool found = false;
        for (const Use& v : b.uses)
            found = found || (v.group == u.group && (v.reversed != b_reversed) == u.reversed);
        if (!found) return false;
    }
    return true;
}

// Signed length of the turn or way of an edge.
double span(const Curve& c) {
    return c.t1 - c.t0;
}

// The edge that continues at vertex v, if the vertex has no other purpose.
int continuation(const PartWork& w, const std::vector<std::vector<int>>& at, int e, bool reversed,
                 int v) {
    if (v < 0 || at[v].size() != 2) return -1;
    int f = at[v][0] == e ? at[v][1] : at[v][0];
    if (f == e || w.edges[f].into >= 0) return -1;
    const EdgeWork &a = w.edges[e], &b = w.edges[f];
    bool b_reversed = b.vertex[0] != v;
    if (b.vertex[0] == b.vertex[1]) return -1;
    if (!same_circle_or_line(a.curve, b.curve, 4e-7 * w.size + 1e-300)) return -1;
    return same_neighbours(a, b, reversed != b_reversed) ? f : -1;
}

void append_edge(PartWork* work, int chain, int e, bool reversed) {
    Chain& c = work->chains[chain];
    c.edges.push_back(e);
    work->edges[e].into = chain;
    work->edges[e].reversed = reversed;
    c.tolerance = fmax(c.tolerance, work->edges[e].tolerance);
}

// Sum over the curves that meet in a vertex: (I - t t') step = foot - p.
bool vertex_step(const PartWork& w, const std::vector<int>& chains, Vec3 p, Vec3* step) {
    Mat3 A = mat3_diagonal(1e-12, 1e-12, 1e-12);
    Vec3 b = vec3_zero();
    int count = 0;
    for (int k : chains) {
        const Curve& c = w.chains[k].curve;
        if (c.type == LASH_FREE_CURVE) continue;
        Vec3 t, foot = curve_point(c, curve_parameter(c, p), &t);
        t = vec3_normalize(t);
        A = mat3_add(A, mat3_sub(mat3_identity(), mat3_outer(t, t)));
        b = vec3_add(b, vec3_sub(foot, p));
        ++count;
    }
    if (count == 0) return false;
    *step = mat3_mul(mat3_inverse(A), b);
    return true;
}

void place_on_faces(const PartWork& w, const std::vector<int>& chains, Vec3* p) {
    std::vector<const Surface*> s;
    for (int k : chains)
        for (const Use& u : w.chains[k].uses) {
            const Surface* surface = surface_of(w, u);
            if (surface != nullptr && std::find(s.begin(), s.end(), surface) == s.end() &&
                s.size() < 4)
                s.push_back(surface);
        }
    if (!s.empty()) project_to_all(s.data(), (int)s.size(), p, w.size);
}

// Ends of the chain's curve at its vertices.
void fit_ends(const PartWork& w, Chain* chain) {
    Curve& g = chain->curve;
    if (chain->closed || chain->vertex[0] < 0) return;
    Vec3 a = w.points[chain->vertex[0]], b = w.points[chain->vertex[1]];
    if (g.type == LASH_FREE_CURVE) {
        Pole &p = g.segments.front().poles.front(), &q = g.segments.back().poles.back();
        double limit = 2 * chain->tolerance + 1e-6 * w.size;
        if (vec3_distance(a, vec3(p[0], p[1], p[2])) < limit) p = {a.x, a.y, a.z, p[3]};
        if (vec3_distance(b, vec3(q[0], q[1], q[2])) < limit) q = {b.x, b.y, b.z, q[3]};
        return;
    }
    double length = span(g), t0 = curve_parameter(g, a), t1 = curve_parameter(g, b);
    if (g.type == LASH_CIRCLE) {
        if (chain->vertex[0] == chain->vertex[1])
            t1 = t0 + 2 * LASH_PI;
        else
            t1 += 2 * LASH_PI * std::round((t0 + length - t1) / (2 * LASH_PI));
    }
    if (t1 > t0) {
        g.t0 = t0;
        g.t1 = t1;
    }
}

} // namespace

Curve curve_of(const TopoDS_Edge& edge, double metre, double* first, double* last) {
    Curve c;
    Handle(Geom_Curve) g = BRep_Tool::Curve(edge, *first, *last);
    if (g.IsNull()) return c;
    while (auto t = Handle(Geom_TrimmedCurve)::DownCast(g)) g = t->BasisCurve();
    if (auto line = Handle(Geom_Line)::DownCast(g)) {
        c.type = LASH_LINE;
        c.origin = to_metres(line->Lin().Location(), metre);
        c.z = direction(line->Lin().Direction());
        vec3_basis(c.z, &c.x, &c.y);
        c.t0 = *first * metre;
        c.t1 = *last * metre;
    } else if (auto circle = Handle(Geom_Circle)::DownCast(g)) {
        gp_Ax2 frame = circle->Circ().Position();
        c.type = LASH_CIRCLE;
        c.origin = to_metres(frame.Location(), metre);
        c.x = direction(frame.XDirection());
        c.y = direction(frame.YDirection());
        c.z = direction(frame.Direction());
        c.radius = circle->Circ().Radius() * metre;
        c.t0 = *first;
        c.t1 = *last;
    } else {
        take_segments(g, *first, *last, metre, &c);
    }
    return c;
}

void collect_edges(PartWork* work) {
    work->edges.clear();
    work->edge_map.Clear();
    work->vertex_map.Clear();
    TopExp::MapShapes(work->shape, TopAbs_EDGE, work->edge_map);
    TopExp::MapShapes(work->shape, TopAbs_VERTEX, work->vertex_map);
    work->edges.resize(work->edge_map.Extent());
    for (size_t i = 0; i < work->faces.size(); ++i) {
        TopoDS_Shape forward = work->faces[i].face.Oriented(TopAbs_FORWARD);
        for (TopExp_Explorer ex(forward, TopAbs_EDGE); ex.More(); ex.Next()) {
            TopAbs_Orientation o = ex.Current().Orientation();
            if (o != TopAbs_FORWARD && o != TopAbs_REVERSED) continue; // internal
            EdgeWork& e = work->edges[work->edge_map.FindIndex(ex.Current()) - 1];
            e.uses.push_back({work->faces[i].group, (int)i, o == TopAbs_REVERSED});
        }
    }
    for (size_t i = 0; i < work->edges.size(); ++i) {
        EdgeWork& e = work->edges[i];
        e.edge = TopoDS::Edge(work->edge_map((int)i + 1).Oriented(TopAbs_FORWARD));
        e.tolerance = BRep_Tool::Tolerance(e.edge) * work->metre;
        TopoDS_Vertex a, b;
        TopExp::Vertices(e.edge, a, b);
        if (!a.IsNull()) e.vertex[0] = work->vertex_map.FindIndex(a) - 1;
        if (!b.IsNull()) e.vertex[1] = work->vertex_map.FindIndex(b) - 1;
        Handle(Geom_Curve) g = BRep_Tool::Curve(e.edge, e.first, e.last);
        bool inside = e.uses.size() == 2 && e.uses[0].group == e.uses[1].group;
        e.dropped = BRep_Tool::Degenerated(e.edge) || g.IsNull() || inside;
        if (!g.IsNull() && (!(e.last > e.first) || e.last - e.first > 1e50))
            bad_input("an edge has no or an infinite parameter range");
        if (e.dropped) continue;
        e.curve = curve_of(e.edge, work->metre, &e.first, &e.last);
        recompute(work, &e, g);
    }
}

// The first edge of the chain that contains edge e, and whether the chain runs against it.
static int chain_begin(const PartWork& w, const std::vector<std::vector<int>>& at, int e,
                       bool* reversed) {
    std::vector<int> seen = {e};
    *reversed = false;
    while (true) {
        int v = w.edges[e].vertex[*reversed ? 1 : 0];
        int previous = continuation(w, at, e, !*reversed, v);
        if (previous < 0 || std::find(seen.begin(), seen.end(), previous) != seen.end()) return e;
        *reversed = w.edges[previous].vertex[1] != v;
        e = previous;
        seen.push_back(e);
    }
}

static void reverse_curve(Curve* curve) {
    curve->z = vec3_neg(curve->z);
    (curve->type == LASH_CIRCLE ? curve->y : curve->x) =
        vec3_neg(curve->type == LASH_CIRCLE ? curve->y : curve->x);
    double t = curve->t0;
    curve->t0 = -curve->t1;
    curve->t1 = -t;
}

// A chain that ends where it began, at a vertex of no other use, has no vertex.
static void close_chain(Chain* chain, size_t edges_at_vertex) {
    int v = chain->vertex[1];
    bool lonely = v >= 0 && v == chain->vertex[0] && edges_at_vertex == 2;
    if (lonely && chain->curve.type == LASH_FREE_CURVE) { // a corner?
        Vec3 a, b;
        curve_point(chain->curve, chain->curve.t0, &a);
        curve_point(chain->curve, chain->curve.t1, &b);
        lonely =
            vec3_norm(vec3_cross(a, b)) < 1e-4 * vec3_norm(a) * vec3_norm(b) && vec3_dot(a, b) > 0;
    }
    if ((!lonely && v >= 0) || chain->curve.type == LASH_LINE) return;
    chain->closed = true;
    chain->vertex[0] = chain->vertex[1] = -1;
    if (chain->curve.type == LASH_CIRCLE) chain->curve.t1 = chain->curve.t0 + 2 * LASH_PI;
}

void chain_edges(PartWork* work) {
    work->chains.clear();
    std::vector<std::vector<int>> at(work->vertex_map.Extent());
    for (size_t i = 0; i < work->edges.size(); ++i)
        for (int k = 0; k < 2; ++k)
            if (!work->edges[i].dropped && work->edges[i].vertex[k] >= 0)
                at[work->edges[i].vertex[k]].push_back((int)i);
    for (size_t i = 0; i < work->edges.size(); ++i) {
        if (work->edges[i].dropped || work->edges[i].into >= 0) continue;
        bool reversed;
        int e = chain_begin(*work, at, (int)i, &reversed), id = (int)work->chains.size(), next;
        Chain c;
        c.curve = work->edges[e].curve;
        c.uses = work->edges[e].uses;
        if (reversed) {
            reverse_curve(&c.curve);
            for (Use& u : c.uses) u.reversed = !u.reversed;
        }
        c.vertex[0] = work->edges[e].vertex[reversed ? 1 : 0];
        c.vertex[1] = work->edges[e].vertex[reversed ? 0 : 1];
        work->chains.push_back(c);
        append_edge(work, id, e, reversed);
        while (c.vertex[1] != c.vertex[0] &&
               (next = continuation(*work, at, e, reversed, c.vertex[1])) >= 0) {
            reversed = work->edges[next].vertex[0] != c.vertex[1];
            append_edge(work, id, next, reversed);
            work->chains[id].curve.t1 += span(work->edges[next].curve);
            c.vertex[1] = work->edges[next].vertex[reversed ? 0 : 1];
            e = next;
        }
        work->chains[id].vertex[1] = c.vertex[1];
        close_chain(&work->chains[id], c.vertex[1] >= 0 ? at[c.vertex[1]].size() : 0);
    }
}

void place_vertices(PartWork* work) {
    int n = work->vertex_map.Extent();
    work->points.assign(n, vec3_zero());
    work->point_tolerance.assign(n, 0);
    std::vector<std::vector<int>> at(n);
    for (size_t k = 0; k < work->chains.size(); ++k)
        for (int v : work->chains[k].vertex)
            if (v >= 0) at[v].push_back((int)k);
    for (int i = 0; i < n; ++i) {
        TopoDS_Vertex v = TopoDS::Vertex(work->vertex_map(i + 1));
        Vec3 cad = to_metres(BRep_Tool::Pnt(v), work->metre), p = cad, step;
        work->point_tolerance[i] = BRep_Tool::Tolerance(v) * work->metre;
        bool curves = false;
        for (int iteration = 0; iteration < 20 && vertex_step(*work, at[i], p, &step);
             ++iteration) {
            curves = true;
            p = vec3_add(p, step);
            if (vec3_norm(step) < 1e-16 * work->size) break;
        }
        if (!curves) place_on_faces(*work, at[i], &p);
        double limit = 4 * work->point_tolerance[i] + 1e-5 * work->size;
        work->points[i] = vec3_distance(p, cad) < limit ? p : cad;
    }
    for (Chain& c : work->chains) fit_ends(*work, &c);
}

Vec3 outward_normal(const PartWork& w, const Use& use, const EdgeWork& edge, double t) {
    const FaceWork& f = w.faces[use.face];
    const Surface& s = w.groups[use.group].surface;
    Vec3 n;
    double first, last;
    if (is_elementary(s)) {
        Handle(Geom_Curve) c = BRep_Tool::Curve(edge.edge, first, last);
        surface_distance(s, to_metres(c->Value(t), w.metre), &n);
        return vec3_scale(w.groups[use.group].side, n);
    }
    TopoDS_Edge oriented =
        TopoDS::Edge(edge.edge.Oriented(use.reversed ? TopAbs_REVERSED : TopAbs_FORWARD));
    Handle(Geom2d_Curve) uv = BRep_Tool::CurveOnSurface(
        oriented, TopoDS::Face(f.face.Oriented(TopAbs_FORWARD)), first, last);
    if (uv.IsNull()) return vec3_zero();
    gp_Pnt2d q = uv->Value(t);
    double own[2];
    own_parameters(s, q.X(), q.Y(), own);
    freeform_point(s, own[0], own[1], &n);
    return vec3_scale(f.orient, n);
}

LashConvexity chain_convexity(const PartWork& w, const Chain& chain) {
    if (chain.uses.size() != 2) return LASH_FREE;
    bool convex = false, concave = false;
    for (int id : chain.edges) {
        const EdgeWork& e = w.edges[id];
        double first, last;
        Handle(Geom_Curve) c = BRep_Tool::Curve(e.edge, first, last);
        for (double f : {0.13, 0.5, 0.87}) {
            double t = first + f * (last - first);
            Vec3 n1 = outward_normal(w, e.uses[0], e, t), n2 = outward_normal(w, e.uses[1], e, t);
            gp_Pnt p;
            gp_Vec d;
            c->D1(t, p, d);
            Vec3 along = vec3(d.X(), d.Y(), d.Z());
            if (vec3_norm(along) == 0 || vec3_norm(n1) == 0 || vec3_norm(n2) == 0) continue;
            along = vec3_normalize(along);
            // into face 1: left of the edge as face 1 runs along it, seen from outside
            bool against = e.uses[0].reversed != (w.faces[e.uses[0].face].orient < 0);
            Vec3 inward = vec3_cross(n1, against ? vec3_neg(along) : along);
            double s = vec3_dot(n2, inward);
            if (vec3_norm(vec3_cross(n1, n2)) < 1e-3 && vec3_dot(n1, n2) > 0) continue;
            (s > 0 ? concave : convex) = true;
        }
    }
    if (convex) return LASH_CONVEX;
    return concave ? LASH_CONCAVE : LASH_SMOOTH;
}

} // namespace lash

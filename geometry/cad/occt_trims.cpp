// Trimming loops of all faces of a part, and the convexity of its vertices.
//
// Elementary faces: from the 3D edges (trims.cpp). Freeform faces: the CAD's own curves in (u, v),
// as rational Bezier pieces.
#include <BRepTools.hxx>
#include <BRepTools_WireExplorer.hxx>
#include <BRep_Tool.hxx>
#include <Geom2dConvert.hxx>
#include <Geom2dConvert_BSplineCurveToBezierCurve.hxx>
#include <Geom2d_BSplineCurve.hxx>
#include <Geom2d_BezierCurve.hxx>
#include <Geom2d_Line.hxx>
#include <Geom2d_TrimmedCurve.hxx>
#include <Geom_Surface.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Wire.hxx>
#include <algorithm>
#include <cmath>

#include "core/math3.h"
#include "geometry/cad/occt_model.hpp"

namespace lash {
namespace {

bool reversed_naturally(const PartWork& w, const Use& u) {
    return u.reversed != (w.faces[u.face].flip < 0);
}

std::vector<HalfEdge> half_edges(const PartWork& w, int group) {
    std::vector<HalfEdge> list;
    for (size_t k = 0; k < w.chains.size(); ++k)
        for (const Use& u : w.chains[k].uses) {
            if (u.group != group) continue;
            HalfEdge h;
            h.edge = (int)k;
            h.reversed = reversed_naturally(w, u);
            h.from = w.chains[k].vertex[h.reversed ? 1 : 0];
            h.to = w.chains[k].vertex[h.reversed ? 0 : 1];
            h.curve = &w.chains[k].curve;
            list.push_back(h);
        }
    return list;
}

// One CAD curve in (u, v) as pieces, in running direction.
Loop curve_pieces(Handle(Geom2d_Curve) g, double first, double last, bool reversed) {
    Loop loop;
    Piece piece;
    while (auto t = Handle(Geom2d_TrimmedCurve)::DownCast(g)) g = t->BasisCurve();
    if (g->IsKind(STANDARD_TYPE(Geom2d_Line))) {
        gp_Pnt2d a = g->Value(reversed ? last : first), b = g->Value(reversed ? first : last);
        piece.a[0] = a.X();
        piece.a[1] = a.Y();
        piece.b[0] = b.X();
        piece.b[1] = b.Y();
        loop.push_back(piece);
        return loop;
    }
    Handle(Geom2d_BSplineCurve) b =
        Geom2dConvert::CurveToBSplineCurve(new Geom2d_TrimmedCurve(g, first, last));
    if (reversed) b->Reverse();
    Geom2dConvert_BSplineCurveToBezierCurve split(b);
    for (int i = 1; i <= split.NbArcs(); ++i) {
        Handle(Geom2d_BezierCurve) z = split.Arc(i);
        piece = Piece();
        piece.kind = z->Degree() == 1 ? LASH_LINE : LASH_FREE_CURVE;
        for (int k = 1; k <= z->NbPoles(); ++k)
            piece.poles.push_back({z->Pole(k).X(), z->Pole(k).Y(), z->Weight(k)});
        for (int k = 0; k < 2; ++k) {
            piece.a[k] = piece.poles.front()[k];
            piece.b[k] = piece.poles.back()[k];
        }
        if (piece.kind == LASH_LINE) piece.poles.clear();
        loop.push_back(piece);
    }
    return loop;
}

double loop_area(const Loop& loop) {
    double area = 0, o[2] = {loop[0].a[0], loop[0].a[1]};
    for (const Piece& p : loop) {
        double q0[2], q1[2];
        piece_point(p, 0, q0);
        for (int i = 1; i <= 16; ++i) {
            piece_point(p, i / 16.0, q1);
            area += 0.5 * ((q0[0] - o[0]) * (q1[1] - o[1]) - (q1[0] - o[0]) * (q0[1] - o[1]));
            q0[0] = q1[0];
            q0[1] = q1[1];
        }
    }
    return area;
}

// The loops are the four sides of the (u, v) box: nothing is trimmed.
bool is_box(const Trim& t) {
    if (t.loops.size() != 1) return false;
    double eu = 1e-7 * (t.u1 - t.u0), ev = 1e-7 * (t.v1 - t.v0);
    for (const Piece& p : t.loops[0]) {
        double low[2], high[2];
        piece_range(p, low, high);
        bool u_side =
            high[0] - low[0] < eu && (fabs(low[0] - t.u0) < eu || fabs(low[0] - t.u1) < eu);
        bool v_side =
            high[1] - low[1] < ev && (fabs(low[1] - t.v0) < ev || fabs(low[1] - t.v1) < ev);
        if (!u_side && !v_side) return false;
    }
    return true;
}

void turn_piece(const Surface& s, Piece* piece) {
    own_parameters(s, piece->a[0], piece->a[1], piece->a);
    own_parameters(s, piece->b[0], piece->b[1], piece->b);
    for (PoleUv& pole : piece->poles) own_parameters(s, pole[0], pole[1], pole.data());
}

Loop wire_loop(const PartWork& w, const TopoDS_Wire& wire, const TopoDS_Face& face,
               const Surface& surface) {
    Loop loop;
    for (BRepTools_WireExplorer ex(wire, face); ex.More(); ex.Next()) {
        const TopoDS_Edge& edge = ex.Current();
        double first, last;
        Handle(Geom2d_Curve) g = BRep_Tool::CurveOnSurface(edge, face, first, last);
        if (g.IsNull()) continue;
        bool reversed = edge.Orientation() == TopAbs_REVERSED;
        const EdgeWork& e = w.edges[w.edge_map.FindIndex(edge) - 1];
        for (Piece& p : curve_pieces(g, first, last, reversed)) {
            turn_piece(surface, &p);
            p.edge = e.dropped ? -1 : e.into;
            p.reversed = reversed != e.reversed;
            loop.push_back(p);
        }
    }
    return loop;
}

Trim freeform_trim(const PartWork& w, const FaceWork& f) {
    Trim trim;
    TopoDS_Face face = TopoDS::Face(f.face.Oriented(TopAbs_FORWARD));
    for (TopExp_Explorer ex(face, TopAbs_WIRE); ex.More(); ex.Next()) {
        Loop loop = wire_loop(w, TopoDS::Wire(ex.Current()), face, f.surface);
        if (loop.empty()) continue;
        bool outer = loop_area(loop) > 0;
        trim.loops.insert(outer ? trim.loops.begin() : trim.loops.end(), loop);
    }
    const Patch &first = f.surface.patches.front(), &last = f.surface.patches.back();
    trim.u0 = first.u0;
    trim.u1 = last.u1;
    trim.v0 = first.v0;
    trim.v1 = last.v1;
    Handle(Geom_Surface) g = BRep_Tool::Surface(f.face);
    double u0, u1, v0, v1;
    g->Bounds(u0, u1, v0, v1);
    bool u_closed = g->IsUClosed(), v_closed = g->IsVClosed();
    if (f.surface.turned) {
        std::swap(u0, v0);
        std::swap(u1, v1);
        std::swap(u_closed, v_closed);
    }
    trim.u_closed = u_closed && trim.u1 - trim.u0 > (1 - 1e-9) * (u1 - u0);
    trim.v_closed = v_closed && trim.v1 - trim.v0 > (1 - 1e-9) * (v1 - v0);
    if (is_box(trim)) trim.loops.clear();
    return trim;
}

struct End {        // of an edge, at a vertex
    Vec3 direction; // away from the vertex
    int chain;
    bool begin;
};

// Does the chain run against its parameter along this face, seen from outside?
bool runs_against(const PartWork& w, const Use& u) {
    return u.reversed != (w.faces[u.face].orient < 0);
}

// Angle from the edge that leaves the vertex along a face (material on its left) to the one that
// arrives, about the outward normal n; HUGE_VAL when there is none.
double sector_angle(const PartWork& w, const std::vector<End>& ends, const End& a, int group,
                    Vec3 n) {
    double sector = HUGE_VAL;
    for (const End& b : ends) {
        bool arrives = false;
        for (const Use& v : w.chains[b.chain].uses)
            arrives = arrives || (v.group == group && runs_against(w, v) == b.begin);
        if (!arrives || (b.chain == a.chain && b.begin == a.begin)) continue;
        double angle = atan2(vec3_dot(vec3_cross(a.direction, b.direction), n),
                             vec3_dot(a.direction, b.direction));
        if (angle <= 1e-9) angle += 2 * LASH_PI;
        sector = fmin(sector, angle);
    }
    return sector;
}

// Outward normal of a group at the end of a chain.
bool normal_at_end(const PartWork& w, const End& a, int group, Vec3* n) {
    const std::vector<int>& edges = w.chains[a.chain].edges;
    const EdgeWork& e = w.edges[a.begin ? edges.front() : edges.back()];
    for (const Use& u : e.uses) {
        if (u.group != group) continue;
        *n = outward_normal(w, u, e, a.begin != e.reversed ? e.first : e.last);
        return true;
    }
    return false;
}

// Directions along which the material of a vertex extends: its edges and three across each face.
void material_directions(const PartWork& w, int vertex, const std::vector<int>& chains,
                         std::vector<Vec3>* list) {
    std::vector<End> ends;
    for (int k : chains) {
        const Chain& c = w.chains[k];
        for (int i = 0; i < 2; ++i) {
            Vec3 t;
            if (c.vertex[i] != vertex) continue;
            curve_point(c.curve, i == 0 ? c.curve.t0 : c.curve.t1, &t);
            if (vec3_norm(t) == 0) continue;
            ends.push_back({vec3_normalize(i == 0 ? t : vec3_neg(t)), k, i == 0});
            list->push_back(ends.back().direction);
        }
    }
    for (const End& a : ends)
        for (const Use& u : w.chains[a.chain].uses) {
            Vec3 n;
            if (runs_against(w, u) == a.begin || !normal_at_end(w, a, u.group, &n)) continue;
            double sector = sector_angle(w, ends, a, u.group, n);
            if (sector == HUGE_VAL) continue;
            Vec3 across = vec3_cross(n, a.direction);
            for (double f : {0.25, 0.5, 0.75})
                list->push_back(vec3_add(vec3_scale(cos(f * sector), a.direction),
                                         vec3_scale(sin(f * sector), across)));
        }
}

// A direction d with d . g < 0 for all g: then a plane can touch the vertex alone (perceptron).
bool can_touch(const std::vector<Vec3>& directions) {
    Vec3 d = vec3_zero();
    for (Vec3 g : directions) d = vec3_sub(d, g);
    for (int iteration = 0; iteration < 400; ++iteration) {
        double length = vec3_norm(d), worst = -HUGE_VAL;
        Vec3 at = vec3_zero();
        if (length == 0) {
            d = vec3(0.3, 0.5, 0.8);
            length = vec3_norm(d);
        }
        for (Vec3 g : directions)
            if (vec3_dot(d, g) / length > worst) {
                worst = vec3_dot(d, g) / length;
                at = g;
            }
        if (worst < -1e-3) return true;
        d = vec3_sub(vec3_scale(1 / length, d), vec3_scale(worst + 0.1, at));
    }
    return false;
}

} // namespace

bool trim_faces(PartWork* work, std::vector<bool>* keep_freeform) {
    bool good = true;
    work->trims.assign(work->groups.size(), Trim());
    for (size_t g = 0; g < work->groups.size(); ++g) {
        Group& group = work->groups[g];
        if (!is_elementary(group.surface)) {
            work->trims[g] = freeform_trim(*work, work->faces[group.faces[0]]);
            continue;
        }
        std::vector<HalfEdge> edges = half_edges(*work, (int)g);
        if (group.surface.type == LASH_SPHERE) turn_sphere(&group.surface, edges);
        if (make_trim(group.surface, edges, &work->trims[g])) continue;
        keep_freeform->resize(work->faces.size(), false);
        for (int f : group.faces) {
            good = good && (*keep_freeform)[f];
            (*keep_freeform)[f] = true;
        }
    }
    return good;
}

std::vector<LashConvexity> vertex_convexities(const PartWork& w) {
    std::vector<LashConvexity> result(w.points.size(), LASH_SMOOTH);
    std::vector<std::vector<int>> at(w.points.size());
    std::vector<LashConvexity> edge;
    for (size_t k = 0; k < w.chains.size(); ++k) {
        edge.push_back(chain_convexity(w, w.chains[k]));
        for (int i = 0; i < 2; ++i) {
            int v = w.chains[k].vertex[i];
            if (v >= 0 && (at[v].empty() || at[v].back() != (int)k)) at[v].push_back((int)k);
        }
    }
    for (size_t v = 0; v < at.size(); ++v) {
        bool free = false, concave = false, smooth = true;
        for (int k : at[v]) {
            free = free || edge[k] == LASH_FREE;
            concave = concave || edge[k] == LASH_CONCAVE;
            smooth = smooth && edge[k] == LASH_SMOOTH;
        }
        std::vector<Vec3> directions;
        if (free) {
            result[v] = LASH_FREE;
        } else if (!smooth) {
            material_directions(w, (int)v, at[v], &directions);
            result[v] = concave ? LASH_CONCAVE : LASH_SMOOTH;
            if (can_touch(directions)) result[v] = LASH_CONVEX;
        }
    }
    return result;
}

} // namespace lash

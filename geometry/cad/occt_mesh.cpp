// Mesh for viewing, outlines, mass properties, validity, and the reach of the faces.
//
// Reach: the depth to which the signed gap of a face means something. Below a face the foot point
// is unique down to the radius of curvature on the material's side (a pin's axis); and the depth
// ends at the opposite wall, found by rays from the mesh of the face along the inward normal.
// Neighbours across an edge do not count as walls: near the edge they take over by themselves.
#include <BRepCheck_Analyzer.hxx>
#include <BRepGProp.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRep_Tool.hxx>
#include <GProp_GProps.hxx>
#include <Poly_Polygon3D.hxx>
#include <Poly_PolygonOnTriangulation.hxx>
#include <Poly_Triangulation.hxx>
#include <Standard_Failure.hxx>
#include <TColStd_Array1OfInteger.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/math3.h"
#include "geometry/cad/moments.hpp"
#include "geometry/cad/occt_model.hpp"

namespace lash {
namespace {

std::array<float, 3> to_float(Vec3 a) {
    return {(float)a.x, (float)a.y, (float)a.z};
}

void write_face_mesh(const PartWork& w, const FaceWork& f, int table_face, Tables* tables) {
    TopLoc_Location place;
    Handle(Poly_Triangulation) mesh = BRep_Tool::Triangulation(f.face, place);
    if (mesh.IsNull()) return;
    const Surface& s = w.groups[f.group].surface;
    int first = (int)tables->mesh_point.size();
    for (int i = 1; i <= mesh->NbNodes(); ++i) {
        Vec3 p = to_metres(mesh->Node(i).Transformed(place.Transformation()), w.metre), n;
        if (is_elementary(s)) {
            surface_distance(s, p, &n);
            n = vec3_scale(w.groups[f.group].side, n);
        } else {
            gp_Pnt2d uv = mesh->HasUVNodes() ? mesh->UVNode(i) : gp_Pnt2d(0, 0);
            double own[2];
            own_parameters(s, uv.X(), uv.Y(), own);
            freeform_point(s, own[0], own[1], &n);
            n = vec3_scale(f.orient, n);
        }
        tables->mesh_point.push_back(to_float(p));
        tables->mesh_normal.push_back(to_float(n));
    }
    for (int i = 1; i <= mesh->NbTriangles(); ++i) {
        int a, b, c;
        mesh->Triangle(i).Get(a, b, c);
        if (f.orient < 0) std::swap(b, c);
        tables->triangle.push_back({first + a - 1, first + b - 1, first + c - 1});
        tables->triangle_face.push_back(table_face);
    }
}

// The outline of a B-rep edge, from the mesh of a face when there is one.
std::vector<Vec3> edge_polyline(const PartWork& w, const EdgeWork& e) {
    std::vector<Vec3> points;
    TopLoc_Location place;
    Handle(Poly_PolygonOnTriangulation) polygon;
    Handle(Poly_Triangulation) mesh;
    BRep_Tool::PolygonOnTriangulation(e.edge, polygon, mesh, place);
    if (!polygon.IsNull() && !mesh.IsNull()) {
        for (int i = 1; i <= polygon->NbNodes(); ++i)
            points.push_back(to_metres(
                mesh->Node(polygon->Node(i)).Transformed(place.Transformation()), w.metre));
        return points;
    }
    double first, last;
    Handle(Geom_Curve) c = BRep_Tool::Curve(e.edge, first, last);
    int n = e.curve.type == LASH_LINE ? 1 : 32;
    for (int i = 0; i <= n && !c.IsNull(); ++i)
        points.push_back(to_metres(c->Value(first + (last - first) * i / n), w.metre));
    return points;
}

double largest_tolerance(const TopoDS_Shape& shape) {
    double most = 0;
    for (TopExp_Explorer ex(shape, TopAbs_FACE); ex.More(); ex.Next())
        most = fmax(most, BRep_Tool::Tolerance(TopoDS::Face(ex.Current())));
    for (TopExp_Explorer ex(shape, TopAbs_EDGE); ex.More(); ex.Next())
        most = fmax(most, BRep_Tool::Tolerance(TopoDS::Edge(ex.Current())));
    for (TopExp_Explorer ex(shape, TopAbs_VERTEX); ex.More(); ex.Next())
        most = fmax(most, BRep_Tool::Tolerance(TopoDS::Vertex(ex.Current())));
    return most;
}

// Areas of the faces, and what they add to the moments about c.
Moments measure_faces(const PartWork& w, Vec3 c, LashFace* face) {
    Moments m;
    for (size_t g = 0; g < w.groups.size(); ++g)
        face[g].area =
            fabs(add_face_moments(w.groups[g].surface, w.trims[g], w.groups[g].side, c, &m));
    return m;
}

bool is_near(double volume, double other) {
    return fabs(volume - other) <= 1e-3 * fabs(other);
}

// Second opinions of a volume, the cheap ones first: OpenCASCADE's mesh, its fast quadrature, which is poor on
// B-splines, and its careful one.
double second_opinion(const PartWork& w, double volume, double meshed) {
    double cubed = w.metre * w.metre * w.metre;
    if (is_near(volume, meshed)) return meshed;
    GProp_GProps fast, careful;
    BRepGProp::VolumeProperties(w.shape, fast);
    if (is_near(volume, fast.Mass() * cubed)) return fast.Mass() * cubed;
    BRepGProp::VolumeProperties(w.shape, careful, 1e-5);
    return careful.Mass() * cubed;
}

// Moments by our own quadrature; `meshed` is the volume of the mesh.
void volume_row(const PartWork& w, Vec3 c, const Moments& m, double meshed, LashShapePart* part,
                std::vector<std::string>* warnings) {
    double other = second_opinion(w, m.volume, meshed);
    double sign = m.volume < 0 ? -1 : 1, V = sign * m.volume;
    part->inward = m.volume < 0;
    if (!is_near(m.volume, other)) {
        char text[200];
        snprintf(text, sizeof text, ": volume %.6g m^3 by our quadrature, %.6g by OpenCASCADE",
                 m.volume, other);
        warnings->push_back(text);
    }
    part->volume = V;
    double d[3], trace = 0;
    for (int i = 0; i < 3; ++i) d[i] = V > 0 ? sign * m.first[i] / V : 0;
    part->center = vec3_add(c, vec3(d[0], d[1], d[2]));
    double S[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            S[i][j] = 0.5 * sign * (m.second[i][j] + m.second[j][i]) - V * d[i] * d[j];
    for (int i = 0; i < 3; ++i) trace += S[i][i];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) part->inertia.m[i + 3 * j] = (i == j ? trace : 0) - S[i][j];
}

// What the triangles of a part enclose with its center, positive where they look away from it [m^3].
double mesh_volume(const LashShapePart& p, const Tables& t) {
    double sum = 0;
    for (int i = p.first_triangle; i < p.first_triangle + p.triangles; ++i) {
        Vec3 q[3];
        for (int k = 0; k < 3; ++k) {
            const auto& a = t.mesh_point[t.triangle[i][k]];
            q[k] = vec3_sub(vec3(a[0], a[1], a[2]), p.center);
        }
        sum += vec3_dot(q[0], vec3_cross(q[1], q[2])) / 6;
    }
    return sum;
}

// An open shell curls round its own centre of area: outward or inward?
bool curls_inward(const LashShapePart& p, const Tables& t) {
    return mesh_volume(p, t) < -1e-3 * p.area * vec3_distance(p.box.low, p.box.high);
}

// A tree of boxes over triangles, for rays.
struct RayTree {
    struct Item {
        Vec3 a, b, c;
        int group;
    };
    struct Box {
        LashBox box;
        int first, count, right; // count > 0: a leaf
    };
    std::vector<Item> items;
    std::vector<Box> boxes;

    int build(int first, int count) {
        int id = (int)boxes.size();
        boxes.push_back({empty_box(), first, count, -1});
        LashBox box = empty_box(), centers = empty_box();
        for (int i = first; i < first + count; ++i) {
            for (Vec3 p : {items[i].a, items[i].b, items[i].c}) grow_box(&box, p);
            grow_box(&centers, items[i].a);
        }
        boxes[id].box = box;
        if (count <= 8) return id;
        Vec3 e = vec3_sub(centers.high, centers.low);
        double Vec3::*longest = e.y >= e.z ? &Vec3::y : &Vec3::z;
        if (e.x >= e.y && e.x >= e.z) longest = &Vec3::x;
        int half = count / 2;
        auto key = [longest](const Item& q) { return q.a.*longest; };
        std::nth_element(items.begin() + first, items.begin() + first + half,
                         items.begin() + first + count,
                         [&](const Item& p, const Item& q) { return key(p) < key(q); });
        boxes[id].count = 0;
        build(first, half);
        int right = build(first + half, count - half);
        boxes[id].right = right;
        return id;
    }
    static bool misses(const LashBox& b, Vec3 o, Vec3 d, double limit) {
        const double lo[3] = {b.low.x, b.low.y, b.low.z}, hi[3] = {b.high.x, b.high.y, b.high.z};
        const double p[3] = {o.x, o.y, o.z}, v[3] = {d.x, d.y, d.z};
        double t0 = 0, t1 = limit;
        for (int i = 0; i < 3; ++i) {
            if (fabs(v[i]) < 1e-300) {
                if (p[i] < lo[i] || p[i] > hi[i]) return true;
                continue;
            }
            double a = (lo[i] - p[i]) / v[i], c = (hi[i] - p[i]) / v[i];
            t0 = fmax(t0, fmin(a, c));
            t1 = fmin(t1, fmax(a, c));
        }
        return t0 > t1;
    }
    static double hit(const Item& q, Vec3 o, Vec3 d) { // Moller and Trumbore 1997
        Vec3 e = vec3_sub(q.b, q.a), f = vec3_sub(q.c, q.a), p = vec3_cross(d, f);
        double det = vec3_dot(e, p);
        if (fabs(det) < 1e-300) return HUGE_VAL;
        Vec3 s = vec3_sub(o, q.a), r = vec3_cross(s, e);
        double u = vec3_dot(s, p) / det, v = vec3_dot(d, r) / det;
        if (u < 0 || v < 0 || u + v > 1) return HUGE_VAL;
        return vec3_dot(f, r) / det;
    }
    // Distance to the first triangle of a group that counts as a wall, beyond `from`.
    double cast(Vec3 o, Vec3 d, double from, double limit, const std::vector<bool>& wall) const {
        std::vector<int> stack = {0};
        while (!stack.empty()) {
            int id = stack.back();
            stack.pop_back();
            const Box& b = boxes[id];
            if (misses(b.box, o, d, limit)) continue;
            if (b.count == 0) {
                stack.push_back(id + 1);
                stack.push_back(b.right);
                continue;
            }
            for (int i = b.first; i < b.first + b.count; ++i) {
                if (!wall[items[i].group]) continue;
                double t = hit(items[i], o, d);
                if (t > from && t < limit) limit = t;
            }
        }
        return limit;
    }
};

// Radius of curvature on the material's side [m].
double curvature_reach(const LashFace& f) {
    double tube = f.radius - f.radius2; // of a groove towards the axis
    switch (f.type) {
        case LASH_CYLINDER:
        case LASH_SPHERE:
            return f.side > 0 ? f.radius : HUGE_VAL;
        case LASH_CONE: {
            double v = f.v0, r0 = f.radius + v * sin(f.half_angle);
            if (r0 < 1e-9 * (f.radius + fabs(v)))
                r0 = f.radius + 0.5 * (f.v0 + f.v1) * sin(f.half_angle);
            return f.side > 0 ? r0 / cos(f.half_angle) : HUGE_VAL;
        }
        case LASH_TORUS:
            return f.side > 0 ? f.radius2 : tube;
        default:
            return HUGE_VAL;
    }
}

// Least radius of curvature on the material's side over a grid of the patches, by differences of
// normals along both parameters.
double freeform_reach(const Surface& s, double side) {
    double least = HUGE_VAL;
    for (const Patch& p : s.patches)
        for (int j = 0; j < 6; ++j)
            for (int i = 0; i < 6; ++i) {
                double u = p.u0 + (p.u1 - p.u0) * (i + 0.5) / 6,
                       v = p.v0 + (p.v1 - p.v0) * (j + 0.5) / 6;
                double hu = 1e-4 * (p.u1 - p.u0), hv = 1e-4 * (p.v1 - p.v0);
                Vec3 n[4], x[4];
                x[0] = freeform_point(s, u - hu, v, &n[0]);

                x[1] = freeform_point(s, u + hu, v, &n[1]);
                x[2] = freeform_point(s, u, v - hv, &n[2]);

                x[3] = freeform_point(s, u, v + hv, &n[3]);
                Vec3 a = vec3_sub(x[1], x[0]), b = vec3_sub(x[3], x[2]);
                Vec3 da = vec3_sub(n[1], n[0]), db = vec3_sub(n[3], n[2]);
                // first and second form: kappa of dn = kappa dx is positive where the face is
                // convex
                double E = vec3_dot(a, a), F = vec3_dot(a, b), G = vec3_dot(b, b),
                       D = E * G - F * F;
                if (!(D > 1e-12 * E * G)) continue;
                double L = side * vec3_dot(a, da),
                       M = side * 0.5 * (vec3_dot(a, db) + vec3_dot(b, da));
                double N = side * vec3_dot(b, db);
                double mean = 0.5 * (E * N - 2 * F * M + G * L) / D, gauss = (L * N - M * M) / D;
                double k = mean + sqrt(fmax(0, mean * mean - gauss));
                if (k > 0) least = fmin(least, 1 / k);
            }
    return least;
}

} // namespace

void write_mesh(const PartWork& w, int part, double deflection, Tables* tables) {
    LashShapePart& p = tables->part[part];
    p.first_triangle = (int)tables->triangle.size();
    p.first_line = (int)tables->line.size();
    try {
        BRepMesh_IncrementalMesh(w.shape, deflection * w.size / w.metre, Standard_False, 0.35);
    } catch (const Standard_Failure&) {
        tables->warnings.push_back(std::string(&tables->string[p.name]) +
                                   ": the viewing mesh is incomplete");
    }
    for (const FaceWork& f : w.faces) write_face_mesh(w, f, p.first_face + f.group, tables);
    for (const EdgeWork& e : w.edges) {
        if (e.dropped) continue;
        std::vector<Vec3> points = edge_polyline(w, e);
        for (size_t i = 0; i < points.size(); ++i) {
            int at = (int)tables->line_point.size();
            tables->line_point.push_back(to_float(points[i]));
            if (i > 0) tables->line.push_back({at - 1, at});
        }
    }
    p.triangles = (int)tables->triangle.size() - p.first_triangle;
    p.lines = (int)tables->line.size() - p.first_line;
}

void write_mass(const PartWork& w, int part, Tables* tables) {
    LashShapePart& p = tables->part[part];
    int solids = 0, shells = 0;
    bool closed = true;
    for (TopExp_Explorer ex(w.shape, TopAbs_SOLID); ex.More(); ex.Next()) ++solids;
    for (TopExp_Explorer ex(w.shape, TopAbs_SHELL); ex.More(); ex.Next()) {
        ++shells;
        closed = closed && BRep_Tool::IsClosed(ex.Current());
    }
    for (const Chain& c : w.chains) closed = closed && c.uses.size() == 2;
    p.solids = solids;
    p.shells = shells;
    p.closed = closed && shells > 0;
    p.valid = BRepCheck_Analyzer(w.shape).IsValid();
    p.tolerance_max = largest_tolerance(w.shape) * w.metre;
    Vec3 middle = vec3_scale(0.5, vec3_add(p.box.low, p.box.high));
    Moments moments;
    if (p.faces > 0) moments = measure_faces(w, middle, &tables->face[p.first_face]);
    for (int i = p.first_face; i < p.first_face + p.faces; ++i) p.area += tables->face[i].area;
    p.center = middle;
    if (!w.faces.empty() && !p.closed) { // of area
        GProp_GProps surface;
        BRepGProp::SurfaceProperties(w.shape, surface);
        p.center = to_metres(surface.CentreOfMass(), w.metre);
    }
    std::string name = &tables->string[p.name];
    std::vector<std::string> doubts;
    if (p.closed)
        volume_row(w, middle, moments, mesh_volume(p, *tables), &p, &doubts);
    else
        p.inward = curls_inward(p, *tables);
    for (const std::string& doubt : doubts) tables->warnings.push_back(name + doubt);
    if (solids > 0 && !p.closed)
        tables->warnings.push_back(name + ": the solid is not closed; it has no volume");
    if (!p.valid)
        tables->warnings.push_back(
            name + ": OpenCASCADE finds defects in this part; --heal may repair them");
    if (p.closed && p.inward && solids > 0)
        tables->warnings.push_back(name + ": the solid is oriented inward");
    if (p.tolerance_max > 1e-3 * w.size) {
        char text[160];
        snprintf(text, sizeof text,
                 ": largest tolerance %.3g of the part's size; edges of freeform faces are that "
                 "uncertain",
                 p.tolerance_max / w.size);
        tables->warnings.push_back(name + text);
    }
}

void write_reach(const PartWork& w, int part, Tables* tables) {
    const LashShapePart& p = tables->part[part];
    RayTree tree;
    for (int i = p.first_triangle; i < p.first_triangle + p.triangles; ++i) {
        Vec3 q[3];
        for (int k = 0; k < 3; ++k) {
            const auto& a = tables->mesh_point[tables->triangle[i][k]];
            q[k] = vec3(a[0], a[1], a[2]);
        }
        tree.items.push_back({q[0], q[1], q[2], tables->triangle_face[i] - p.first_face});
    }
    if (!tree.items.empty()) tree.build(0, (int)tree.items.size());
    std::vector<std::set<int>> neighbours(w.groups.size());
    for (const Chain& c : w.chains)
        for (const Use& u : c.uses)
            for (const Use& v : c.uses)
                if (u.group != v.group) neighbours[u.group].insert(v.group);
    std::vector<std::vector<int>> triangles(w.groups.size());
    for (int i = p.first_triangle; i < p.first_triangle + p.triangles; ++i)
        triangles[tables->triangle_face[i] - p.first_face].push_back(i);
    for (size_t g = 0; g < w.groups.size(); ++g) {
        LashFace& f = tables->face[p.first_face + (int)g];
        std::vector<bool> wall(w.groups.size(), true);
        for (int n : neighbours[g]) wall[n] = false;
        wall[g] = f.type == LASH_FREEFORM;
        double reach = fmin(w.size, curvature_reach(f));
        if (f.type == LASH_FREEFORM)
            reach = fmin(reach, freeform_reach(w.groups[g].surface, f.side));
        size_t step = 1 + triangles[g].size() / 48;
        for (size_t i = 0; p.closed && i < triangles[g].size(); i += step) {
            Vec3 o = vec3_zero(), n = vec3_zero();
            for (int v : tables->triangle[triangles[g][i]]) {
                const auto &a = tables->mesh_point[v], &b = tables->mesh_normal[v];
                o = vec3_add_scaled(o, 1 / 3.0, vec3(a[0], a[1], a[2]));
                n = vec3_sub(n, vec3(b[0], b[1], b[2]));
            }
            if (vec3_norm(n) == 0) continue;
            reach = 0.5 * tree.cast(o, vec3_normalize(n), 1e-4 * w.size, 2 * reach, wall);
        }
        f.reach = reach;
    }
}

} // namespace lash

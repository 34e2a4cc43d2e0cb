// Faces of a part: their surfaces in metres, recognised, oriented, and grouped.
//
// Elementary surfaces are taken over with a right-handed frame; all others become Bezier patches
// over the trimmed (u, v) range and go through recognise(). Two neighbouring faces on the same
// cylinder, cone, sphere or torus are one face of the tables (CAD systems cut them in halves),
// unless they bear different names.
#include <BRepAdaptor_Surface.hxx>
#include <BRepTools.hxx>
#include <BRep_Tool.hxx>
#include <GeomConvert.hxx>
#include <GeomConvert_ApproxSurface.hxx>
#include <GeomConvert_BSplineSurfaceToBezierSurface.hxx>
#include <Geom_BSplineSurface.hxx>
#include <Geom_BezierSurface.hxx>
#include <Geom_Circle.hxx>
#include <Geom_ConicalSurface.hxx>
#include <Geom_CylindricalSurface.hxx>
#include <Geom_Plane.hxx>
#include <Geom_RectangularTrimmedSurface.hxx>
#include <Geom_SphericalSurface.hxx>
#include <Geom_SurfaceOfLinearExtrusion.hxx>
#include <Geom_SurfaceOfRevolution.hxx>
#include <Geom_ToroidalSurface.hxx>
#include <Geom_TrimmedCurve.hxx>
#include <Standard_Failure.hxx>
#include <TColGeom_Array2OfBezierSurface.hxx>
#include <TColStd_Array1OfReal.hxx>
#include <TopExp.hxx>
#include <TopExp_Explorer.hxx>
#include <TopTools_IndexedDataMapOfShapeListOfShape.hxx>
#include <TopoDS.hxx>
#include <cmath>
#include <numeric>

#include "core/math3.h"
#include "geometry/cad/occt_model.hpp"

namespace lash {

Vec3 to_metres(const gp_Pnt& p, double metre) {
    return vec3(metre * p.X(), metre * p.Y(), metre * p.Z());
}

namespace {

// Recognised when the proven deviation is below this share of the face's diagonal.
const double recognition = 1e-5;

struct Bounds {
    double u0, u1, v0, v1;
};

void take_frame(const gp_Ax3& frame, double metre, Surface* surface) {
    surface->origin = to_metres(frame.Location(), metre);
    const gp_Dir &z = frame.Direction(), &x = frame.XDirection();
    set_frame(surface, vec3(z.X(), z.Y(), z.Z()), vec3(x.X(), x.Y(), x.Z()));
}

// The nappe on which p lies, with the half angle positive and the radius growing along z.
void take_cone(const gp_Cone& cone, double metre, Vec3 p, Surface* surface) {
    surface->type = LASH_CONE;
    take_frame(cone.Position(), metre, surface);
    surface->radius = metre * cone.RefRadius();
    surface->half_angle = cone.SemiAngle();
    Vec3 apex = to_metres(cone.Apex(), metre);
    if (surface->half_angle < 0) {
        set_frame(surface, vec3_neg(surface->z), surface->x);
        surface->half_angle = -surface->half_angle;
    }
    double h = vec3_dot(vec3_sub(p, apex), surface->z);
    if (h < 0) { // the other nappe: turn round, origin at the height of p
        set_frame(surface, vec3_neg(surface->z), surface->x);
        surface->origin = vec3_add_scaled(apex, -h, surface->z);
        surface->radius = -h * tan(surface->half_angle);
    }
}

bool take_elementary(const Handle(Geom_Surface) & g, double metre, Vec3 p, Surface* surface) {
    if (auto plane = Handle(Geom_Plane)::DownCast(g)) {
        surface->type = LASH_PLANE;
        take_frame(plane->Position(), metre, surface);
    } else if (auto cylinder = Handle(Geom_CylindricalSurface)::DownCast(g)) {
        surface->type = LASH_CYLINDER;
        take_frame(cylinder->Position(), metre, surface);
        surface->radius = metre * cylinder->Radius();
    } else if (auto cone = Handle(Geom_ConicalSurface)::DownCast(g)) {
        take_cone(cone->Cone(), metre, p, surface);
    } else if (auto sphere = Handle(Geom_SphericalSurface)::DownCast(g)) {
        surface->type = LASH_SPHERE;
        take_frame(sphere->Position(), metre, surface);
        surface->radius = metre * sphere->Radius();
    } else if (auto torus = Handle(Geom_ToroidalSurface)::DownCast(g)) {
        surface->type = LASH_TORUS;
        take_frame(torus->Position(), metre, surface);
        surface->radius = metre * torus->MajorRadius();
        surface->radius2 = metre * torus->MinorRadius();
        return surface->radius > surface->radius2; // a ring torus; lemons and apples stay freeform
    } else {
        return false;
    }
    return true;
}

// A circle whose plane holds the axis turns to a torus (to a sphere when its center is on the
// axis).
bool take_turned_circle(const Handle(Geom_Surface) & g, double metre, Surface* surface) {
    auto turned = Handle(Geom_SurfaceOfRevolution)::DownCast(g);
    if (turned.IsNull()) return false;
    Handle(Geom_Curve) basis = turned->BasisCurve();
    while (auto t = Handle(Geom_TrimmedCurve)::DownCast(basis)) basis = t->BasisCurve();
    auto circle = Handle(Geom_Circle)::DownCast(basis);
    if (circle.IsNull()) return false;
    gp_Ax1 axis = turned->Axis();
    gp_Vec d(axis.Location(), circle->Circ().Location());
    gp_Vec z(axis.Direction()), out = d - z * d.Dot(z);
    double size = circle->Circ().Radius() + out.Magnitude();
    if (fabs(gp_Vec(circle->Circ().Axis().Direction()).Dot(z)) > 1e-9 ||
        fabs(gp_Vec(circle->Circ().Axis().Direction()).Dot(out)) > 1e-9 * size)
        return false;
    surface->type = LASH_TORUS;
    surface->radius = metre * out.Magnitude();
    surface->radius2 = metre * circle->Circ().Radius();
    if (surface->radius <= surface->radius2) return false;
    surface->origin = to_metres(axis.Location().Translated(z * d.Dot(z)), metre);
    set_frame(surface, vec3(z.X(), z.Y(), z.Z()), vec3(out.X(), out.Y(), out.Z()));
    return true;
}

// The B-spline over the bounds. Its parameters are those of g when `same` is asked for; the error
// of an approximation goes to *error (OpenCASCADE's units).
Handle(Geom_BSplineSurface) to_bspline(const Handle(Geom_Surface) & g, const Bounds& b, bool same,
                                       double size, double* error) {
    Handle(Geom_Surface) trimmed = g;
    double u0, u1, v0, v1;
    g->Bounds(u0, u1, v0, v1);
    double eu = 1e-9 * (u1 - u0), ev = 1e-9 * (v1 - v0);
    if (fabs(u0 - b.u0) > eu || fabs(u1 - b.u1) > eu || fabs(v0 - b.v0) > ev ||
        fabs(v1 - b.v1) > ev || g->IsUPeriodic() || g->IsVPeriodic())
        trimmed = new Geom_RectangularTrimmedSurface(g, b.u0, b.u1, b.v0, b.v1);
    *error = 0;
    auto extrusion = Handle(Geom_SurfaceOfLinearExtrusion)::DownCast(g);
    bool exact =
        g->IsKind(STANDARD_TYPE(Geom_BSplineSurface)) ||
        g->IsKind(STANDARD_TYPE(Geom_BezierSurface)) ||
        (!extrusion.IsNull() && extrusion->BasisCurve()->IsKind(STANDARD_TYPE(Geom_BoundedCurve)) &&
         !extrusion->BasisCurve()->IsKind(STANDARD_TYPE(Geom_TrimmedCurve)));
    if (exact || !same) {
        try {
            Handle(Geom_BSplineSurface) s = GeomConvert::SurfaceToBSplineSurface(trimmed);
            if (!s.IsNull()) return s;
        } catch (const Standard_Failure&) { // cutting a periodic surface may fail: take all of it
            if (g->IsKind(STANDARD_TYPE(Geom_BSplineSurface)))
                return Handle(Geom_BSplineSurface)::DownCast(g->Copy());
        }
    }
    GeomConvert_ApproxSurface approx(trimmed, 1e-8 * size, GeomAbs_C1, GeomAbs_C1, 11, 11, 60, 1);
    if (!approx.HasResult()) bad_input("a surface could not be converted to a B-spline");
    *error = approx.MaxError();
    return approx.Surface();
}

void take_patches(const Handle(Geom_BSplineSurface) & b, double metre, Surface* surface) {
    if (b->IsUPeriodic()) b->SetUNotPeriodic();
    if (b->IsVPeriodic()) b->SetVNotPeriodic();
    GeomConvert_BSplineSurfaceToBezierSurface split(b);
    surface->u_patches = split.NbUPatches();
    surface->v_patches = split.NbVPatches();
    TColGeom_Array2OfBezierSurface piece(1, surface->u_patches, 1, surface->v_patches);
    TColStd_Array1OfReal u(1, surface->u_patches + 1), v(1, surface->v_patches + 1);
    split.Patches(piece);
    split.UKnots(u);
    split.VKnots(v);
    for (int j = 1; j <= surface->v_patches; ++j)
        for (int i = 1; i <= surface->u_patches; ++i) {
            const Handle(Geom_BezierSurface)& z = piece(i, j);
            Patch p;
            p.u_degree = z->UDegree();
            p.v_degree = z->VDegree();
            p.u0 = u(i);
            p.u1 = u(i + 1);
            p.v0 = v(j);
            p.v1 = v(j + 1);
            for (int l = 1; l <= z->NbVPoles(); ++l)
                for (int k = 1; k <= z->NbUPoles(); ++k) {
                    Vec3 q = to_metres(z->Pole(k, l), metre);
                    p.poles.push_back({q.x, q.y, q.z, z->Weight(k, l)});
                }
            surface->patches.push_back(p);
        }
}

double patches_size(const Surface& s) {
    LashBox box = empty_box();
    for (const Patch& p : s.patches)
        for (const Pole& q : p.poles) grow_box(&box, vec3(q[0], q[1], q[2]));
    return vec3_distance(box.low, box.high);
}

Bounds face_bounds(const TopoDS_Face& face, const Handle(Geom_Surface) & g) {
    Bounds b;
    BRepTools::UVBounds(face, b.u0, b.u1, b.v0, b.v1);
    double u0, u1, v0, v1;
    g->Bounds(u0, u1, v0, v1);
    if (!g->IsUPeriodic()) {
        b.u0 = fmax(b.u0, u0);
        b.u1 = fmin(b.u1, u1);
    }
    if (!g->IsVPeriodic()) {
        b.v0 = fmax(b.v0, v0);
        b.v1 = fmin(b.v1, v1);
    }
    if (!(b.u1 - b.u0 > 0) || !(b.v1 - b.v0 > 0) || b.u1 - b.u0 > 1e100 || b.v1 - b.v0 > 1e100)
        bad_input("a face has no or an infinite parameter range");
    return b;
}

void read_surface(PartWork* work, FaceWork* face_work) {
    Handle(Geom_Surface) g = BRep_Tool::Surface(face_work->face);
    if (g.IsNull()) bad_input("a face has no surface");
    while (auto t = Handle(Geom_RectangularTrimmedSurface)::DownCast(g)) g = t->BasisSurface();
    Bounds b = face_bounds(face_work->face, g);
    gp_Pnt p;
    gp_Vec du, dv;
    g->D1(b.u0 + 0.4771 * (b.u1 - b.u0), b.v0 + 0.5119 * (b.v1 - b.v0), p, du, dv);
    Vec3 point = to_metres(p, work->metre), normal;
    gp_Vec n = du.Crossed(dv);
    bool done =
        !face_work->keep_freeform && (take_elementary(g, work->metre, point, &face_work->surface) ||
                                      take_turned_circle(g, work->metre, &face_work->surface));
    double error = 0, size = work->size / work->metre;
    if (!done) {
        face_work->surface = Surface();
        take_patches(to_bspline(g, b, false, size, &error), work->metre, &face_work->surface);
        Surface found;
        double limit = recognition * patches_size(face_work->surface);
        if (!face_work->keep_freeform && recognise(face_work->surface.patches, limit, &found)) {
            face_work->surface = found;
            done = true;
        } else { // again with the parameters of the CAD surface, which the trims refer to
            face_work->surface = Surface();
            take_patches(to_bspline(g, b, true, size, &error), work->metre, &face_work->surface);
            straighten(&face_work->surface, patches_size(face_work->surface));
        }
        face_work->surface.deviation += error * work->metre;
        face_work->surface.approximated = !done && error > 0;
    }
    face_work->orient = face_work->face.Orientation() == TopAbs_REVERSED ? -1 : 1;
    face_work->flip = 1;
    if (done) {
        surface_distance(face_work->surface, point, &normal);
        face_work->flip = n.X() * normal.x + n.Y() * normal.y + n.Z() * normal.z < 0 ? -1 : 1;
    }
}

// The same surface, within the tolerance of the CAD and the deviations.
bool same_surface(const Surface& a, const Surface& b, double size) {
    if (a.type != b.type) return false;
    double tolerance = 2e-7 * size + a.deviation + b.deviation, angle = tolerance / size;
    if (fabs(a.radius2 - b.radius2) > tolerance) return false;
    if (a.type == LASH_SPHERE)
        return vec3_distance(a.origin, b.origin) < tolerance &&
               fabs(a.radius - b.radius) < tolerance;
    if (vec3_norm(vec3_cross(a.z, b.z)) > angle || fabs(a.half_angle - b.half_angle) > angle)
        return false;
    Vec3 d = vec3_sub(b.origin, a.origin);
    double h = vec3_dot(d, a.z);
    if (vec3_norm(vec3_add_scaled(d, -h, a.z)) > tolerance) return false;
    if (a.type == LASH_CONE)
        return vec3_dot(a.z, b.z) > 0 &&
               fabs(a.radius + h * tan(a.half_angle) - b.radius) < tolerance;
    return fabs(a.radius - b.radius) < tolerance && (a.type != LASH_TORUS || fabs(h) < tolerance);
}

int root_of(std::vector<int>* parent, int i) {
    while ((*parent)[i] != i) i = (*parent)[i] = (*parent)[(*parent)[i]];
    return i;
}

bool may_join(const PartWork& w, const FaceWork& a, const FaceWork& b) {
    if (!is_elementary(a.surface) || a.surface.type == LASH_PLANE) return false;
    if (!a.name.empty() && !b.name.empty() && a.name != b.name) return false;
    return a.flip * a.orient == b.flip * b.orient && same_surface(a.surface, b.surface, w.size);
}

} // namespace

void collect_faces(PartWork* work, const std::vector<bool>& keep_freeform) {
    work->faces.clear();
    TopTools_IndexedMapOfShape seen;
    for (TopExp_Explorer ex(work->shape, TopAbs_FACE); ex.More(); ex.Next()) {
        if (seen.Contains(ex.Current())) continue;
        seen.Add(ex.Current());
        FaceWork f;
        f.face = TopoDS::Face(ex.Current());
        if (work->faces.size() < keep_freeform.size())
            f.keep_freeform = keep_freeform[work->faces.size()];
        auto name = work->document->names.find(f.face.TShape().get());
        if (name != work->document->names.end()) f.name = name->second;
        auto color = work->document->colors.find(f.face.TShape().get());
        if (color != work->document->colors.end()) f.color = color->second;
        read_surface(work, &f);
        work->faces.push_back(f);
    }
}

void group_faces(PartWork* work) {
    int n = (int)work->faces.size();
    std::vector<int> parent(n);
    std::iota(parent.begin(), parent.end(), 0);
    TopTools_IndexedMapOfShape index;
    for (const FaceWork& f : work->faces) index.Add(f.face);
    TopTools_IndexedDataMapOfShapeListOfShape around;
    TopExp::MapShapesAndAncestors(work->shape, TopAbs_EDGE, TopAbs_FACE, around);
    for (int e = 1; e <= around.Extent(); ++e) {
        const TopTools_ListOfShape& list = around(e);
        if (list.Extent() != 2 || BRep_Tool::Degenerated(TopoDS::Edge(around.FindKey(e)))) continue;
        int a = index.FindIndex(list.First()) - 1, b = index.FindIndex(list.Last()) - 1;
        if (a < 0 || b < 0 || a == b || !may_join(*work, work->faces[a], work->faces[b])) continue;
        // The first face of a group decides; every member was compared with its neighbour.
        int ra = root_of(&parent, a), rb = root_of(&parent, b);
        if (ra != rb && may_join(*work, work->faces[ra], work->faces[rb]))
            parent[std::max(ra, rb)] = std::min(ra, rb);
    }
    work->groups.clear();
    std::vector<int> group(n, -1);
    for (int i = 0; i < n; ++i) {
        int r = root_of(&parent, i);
        if (group[r] < 0) {
            group[r] = (int)work->groups.size();
            Group g;
            g.surface = work->faces[r].surface;
            g.side = work->faces[r].flip * work->faces[r].orient;
            work->groups.push_back(g);
        }
        Group& g = work->groups[group[r]];
        g.faces.push_back(i);
        g.surface.deviation = fmax(g.surface.deviation, work->faces[i].surface.deviation);
        work->faces[i].group = group[r];
    }
}

} // namespace lash

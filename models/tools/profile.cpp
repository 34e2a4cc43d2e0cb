// Profiles: closed plane curves of lines, arcs and splines.
//
// CURVE is one of
//   {"circle": {"center": [x, y], "radius": r}}
//   {"rectangle": {"center": [x, y], "size": [a, b], "corner": r}}
//   {"polygon": [[x, y], ...]}
//   {"slot": {"from": [x, y], "to": [x, y], "radius": r}}
//   {"spline": [[x, y], ...]}                       closed, smooth, through the points
//   {"cam": {"base": r, "lift": [[angle deg, lift], ...]}}  closed spline in polar coordinates
//   {"path": [{"start": [x, y]}, {"line": [x, y]}, {"arc": {"to": [x, y], "center": [x, y], "turn":
//   "ccw"}},
//             {"arc": {"to": [x, y], "through": [x, y]}}, {"spline": [[x, y], ...]}, {"close":
//             true}]}
// Each curve or path item may bear a "name": the name of the face it sweeps.
#include <BRepBuilderAPI_MakeEdge.hxx>
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_MakeWire.hxx>
#include <BRepGProp.hxx>
#include <BRepLib.hxx>
#include <BRep_Tool.hxx>
#include <GC_MakeArcOfCircle.hxx>
#include <GProp_GProps.hxx>
#include <GeomAPI_Interpolate.hxx>
#include <Geom_BSplineCurve.hxx>
#include <TColgp_HArray1OfPnt.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Wire.hxx>
#include <cmath>
#include <gp_Ax2.hxx>
#include <gp_Circ.hxx>
#include <gp_Pln.hxx>

#include "models/tools/solid.hpp"

namespace make_step {
namespace {

const double degree = 0.017453292519943295;

gp_Pnt point(const Value& v) {
    std::vector<double> p = v.numbers(2);
    return gp_Pnt(p[0], p[1], 0);
}

struct Path {
    BRepBuilderAPI_MakeWire wire;
    std::vector<NamedEdge>* names;
    gp_Pnt at, begin;

    void add(const TopoDS_Edge& edge, const std::string& name, const gp_Pnt& to) {
        wire.Add(edge);
        if (!name.empty()) names->push_back({wire.Edge(), name});
        at = to;
    }
    void line(const gp_Pnt& to, const std::string& name) {
        if (at.Distance(to) < 1e-9) return;
        add(BRepBuilderAPI_MakeEdge(at, to), name, to);
    }
};

gp_Circ circle(const gp_Pnt& center, double radius, bool ccw) {
    return gp_Circ(gp_Ax2(center, gp_Dir(0, 0, ccw ? 1 : -1), gp_Dir(1, 0, 0)), radius);
}

void add_arc(Path* path, const Value& v, const std::string& name) {
    v.only({"to", "center", "turn", "through"});
    gp_Pnt to = point(v.at("to"));
    if (v.has("through")) {
        GC_MakeArcOfCircle arc(path->at, point(v.at("through")), to);
        if (!arc.IsDone()) v.fail("the three points of the arc are on one line");
        path->add(BRepBuilderAPI_MakeEdge(arc.Value()), name, to);
        return;
    }
    gp_Pnt center = point(v.at("center"));
    std::string turn = v.text("turn", "ccw");
    if (turn != "ccw" && turn != "cw") v.fail("'turn' must be ccw or cw");
    double r = center.Distance(path->at);
    if (r < 1e-9 || fabs(center.Distance(to) - r) > 1e-6 * (1 + r))
        v.fail("begin and end of the arc have different distances from its center");
    GC_MakeArcOfCircle arc(circle(center, r, turn == "ccw"), path->at, to, Standard_True);
    if (!arc.IsDone()) v.fail("the arc cannot be made");
    path->add(BRepBuilderAPI_MakeEdge(arc.Value()), name, to);
}

TopoDS_Edge spline_edge(const Value& v, const std::vector<gp_Pnt>& points, bool closed) {
    Handle(TColgp_HArray1OfPnt) array = new TColgp_HArray1OfPnt(1, (int)points.size());
    for (size_t i = 0; i < points.size(); ++i) array->SetValue((int)i + 1, points[i]);
    GeomAPI_Interpolate fit(array, closed, 1e-9);
    fit.Perform();
    if (!fit.IsDone()) v.fail("no spline goes through these points");
    return BRepBuilderAPI_MakeEdge(fit.Curve());
}

TopoDS_Wire path_wire(const Value& items, std::vector<NamedEdge>* names) {
    Path path;
    path.names = names;
    bool started = false;
    for (const Value& item : items.items()) {
        item.only({"start", "line", "arc", "spline", "close", "name"});
        std::string name = item.text("name", "");
        if (item.has("start")) {
            path.at = path.begin = point(item.at("start"));
            started = true;
            continue;
        }
        if (!started) item.fail("a path begins with 'start'");
        if (item.has("line")) {
            path.line(point(item.at("line")), name);
        } else if (item.has("arc")) {
            add_arc(&path, item.at("arc"), name);
        } else if (item.has("spline")) {
            std::vector<gp_Pnt> points = {path.at};
            for (const Value& p : item.at("spline").items()) points.push_back(point(p));
            if (points.size() < 3) item.fail("a spline needs two more points");
            path.add(spline_edge(item, points, false), name, points.back());
        } else if (item.has("close")) {
            path.line(path.begin, name);
        } else {
            item.fail("one of start, line, arc, spline, close is expected");
        }
    }
    if (path.at.Distance(path.begin) > 1e-7) items.fail("the path is not closed");
    if (!path.wire.IsDone()) items.fail("the pieces of the path do not join");
    return path.wire.Wire();
}

TopoDS_Wire rectangle_wire(const Value& v, std::vector<NamedEdge>* names, const std::string& name) {
    v.only({"center", "size", "corner"});
    std::vector<double> c = v.numbers("center", {0, 0}), s = v.at("size").numbers(2);
    double r = v.number("corner", 0), x = 0.5 * s[0], y = 0.5 * s[1];
    if (!(x > 0) || !(y > 0) || r < 0 || r > fmin(x, y) * (1 - 1e-9))
        v.fail("sizes must be positive and the corner radius smaller than half of them");
    Path path;
    path.names = names;
    auto at = [&](double a, double b) { return gp_Pnt(c[0] + a, c[1] + b, 0); };
    const double sx[4] = {1, 1, -1, -1}, sy[4] = {-1, 1, 1, -1};
    path.at = at(-x + r, -y);
    for (int i = 0; i < 4; ++i) { // along each side, then round its corner
        bool along_x = i % 2 == 0;
        gp_Pnt end = at(sx[i] * (along_x ? x - r : x), sy[i] * (along_x ? y : y - r));
        path.line(end, name);
        if (r == 0) continue;
        gp_Pnt next = at(sx[i] * (along_x ? x : x - r), sy[i] * (along_x ? y - r : y));
        gp_Circ corner = circle(at(sx[i] * (x - r), sy[i] * (y - r)), r, true);
        path.add(BRepBuilderAPI_MakeEdge(corner, path.at, next), name, next);
    }
    return path.wire.Wire();
}

TopoDS_Wire slot_wire(const Value& v, std::vector<NamedEdge>* names, const std::string& name) {
    v.only({"from", "to", "radius"});
    gp_Pnt a = point(v.at("from")), b = point(v.at("to"));
    double r = v.number("radius");
    if (!(r > 0) || a.Distance(b) < 1e-9) v.fail("a slot needs two points and a positive radius");
    gp_Vec d = gp_Vec(a, b).Normalized() * r, n(-d.Y(), d.X(), 0);
    Path path;
    path.names = names;
    path.at = a.Translated(-n);
    path.line(b.Translated(-n), name);
    path.add(BRepBuilderAPI_MakeEdge(circle(b, r, true), path.at, b.Translated(n)), name,
             b.Translated(n));
    path.line(a.Translated(n), name);
    path.add(BRepBuilderAPI_MakeEdge(circle(a, r, true), path.at, a.Translated(-n)), name,
             a.Translated(-n));
    return path.wire.Wire();
}

std::vector<gp_Pnt> cam_points(const Value& v) {
    v.only({"base", "lift"});
    double base = v.number("base"), last = -1;
    std::vector<gp_Pnt> points;
    for (const Value& row : v.at("lift").items()) {
        std::vector<double> a = row.numbers(2);
        if (!(a[0] > last) || a[0] >= 360) row.fail("angles must rise and stay below 360");
        if (!(base + a[1] > 0)) row.fail("the radius must be positive");
        last = a[0];
        double r = base + a[1];
        points.emplace_back(r * cos(a[0] * degree), r * sin(a[0] * degree), 0);
    }
    if (points.size() < 4) v.fail("a cam needs at least four rows");
    return points;
}

TopoDS_Wire curve_wire(const Value& v, std::vector<NamedEdge>* names) {
    v.only({"circle", "rectangle", "polygon", "slot", "spline", "cam", "path", "name"});
    std::string name = v.text("name", "");
    if (v.has("path")) return path_wire(v.at("path"), names);
    if (v.has("rectangle")) return rectangle_wire(v.at("rectangle"), names, name);
    if (v.has("slot")) return slot_wire(v.at("slot"), names, name);
    Path path;
    path.names = names;
    if (v.has("circle")) {
        Value c = v.at("circle");
        c.only({"center", "radius"});
        std::vector<double> center = c.numbers("center", {0, 0});
        if (!(c.number("radius") > 0)) c.fail("the radius must be positive");
        gp_Circ whole = circle(gp_Pnt(center[0], center[1], 0), c.number("radius"), true);
        path.add(BRepBuilderAPI_MakeEdge(whole), name, gp_Pnt());
    } else if (v.has("polygon")) {
        std::vector<Value> corners = v.at("polygon").items();
        if (corners.size() < 3) v.fail("a polygon needs three corners");
        path.at = point(corners[0]);
        for (size_t i = 1; i <= corners.size(); ++i)
            path.line(point(corners[i % corners.size()]), name);
    } else if (v.has("spline") || v.has("cam")) {
        std::vector<gp_Pnt> points;
        if (v.has("cam"))
            points = cam_points(v.at("cam"));
        else
            for (const Value& p : v.at("spline").items()) points.push_back(point(p));
        if (points.size() < 3) v.fail("a closed spline needs three points");
        path.add(spline_edge(v, points, true), name, gp_Pnt());
    } else {
        v.fail("a curve is expected: circle, rectangle, polygon, slot, spline, cam or path");
    }
    if (!path.wire.IsDone()) v.fail("the curve is not closed");
    return path.wire.Wire();
}

// A face of the wire alone; holes are oriented by comparing the signs of their areas.
TopoDS_Face wire_face(const Value& v, const TopoDS_Wire& wire) {
    BRepBuilderAPI_MakeFace face(gp_Pln(gp::XOY()), wire, Standard_True);
    if (!face.IsDone()) v.fail("the curve bounds no region");
    return face.Face();
}

bool runs_clockwise(const TopoDS_Face& face) {
    GProp_GProps props;
    BRepGProp::SurfaceProperties(face, props);
    return props.Mass() < 0;
}

} // namespace

Profile make_profile(const Value& v) {
    Profile profile;
    bool region = v.has("outer");
    if (region) v.only({"outer", "holes"});
    Value outer = region ? v.at("outer") : v;
    TopoDS_Wire wire = curve_wire(outer, &profile.names);
    if (runs_clockwise(wire_face(outer, wire))) wire.Reverse();
    BRepBuilderAPI_MakeFace face(gp_Pln(gp::XOY()), wire, Standard_True);
    if (region && v.has("holes"))
        for (const Value& hole : v.at("holes").items()) {
            TopoDS_Wire inner = curve_wire(hole, &profile.names);
            if (!runs_clockwise(wire_face(hole, inner))) inner.Reverse();
            face.Add(inner);
        }
    if (!face.IsDone()) v.fail("the profile bounds no region");
    profile.face = face.Face();
    return profile;
}

} // namespace make_step

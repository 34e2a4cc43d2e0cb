// Solids step by step: primitives, extrusions and revolutions, added, cut or intersected, with the
// names of their faces followed through every operation by its history.
#include <BRepAdaptor_Curve.hxx>
#include <BRepAdaptor_Surface.hxx>
#include <BRepAlgoAPI_Common.hxx>
#include <BRepAlgoAPI_Cut.hxx>
#include <BRepAlgoAPI_Fuse.hxx>
#include <BRepBuilderAPI_MakeVertex.hxx>
#include <BRepBuilderAPI_NurbsConvert.hxx>
#include <BRepBuilderAPI_Transform.hxx>
#include <BRepExtrema_DistShapeShape.hxx>
#include <BRepFilletAPI_MakeChamfer.hxx>
#include <BRepFilletAPI_MakeFillet.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeCone.hxx>
#include <BRepPrimAPI_MakeCylinder.hxx>
#include <BRepPrimAPI_MakePrism.hxx>
#include <BRepPrimAPI_MakeRevol.hxx>
#include <BRepPrimAPI_MakeSphere.hxx>
#include <BRepPrimAPI_MakeTorus.hxx>
#include <BRepTools_History.hxx>
#include <BRep_Builder.hxx>
#include <BRep_Tool.hxx>
#include <ShapeUpgrade_UnifySameDomain.hxx>
#include <Standard_Failure.hxx>
#include <TopExp.hxx>
#include <TopExp_Explorer.hxx>
#include <TopTools_IndexedDataMapOfShapeListOfShape.hxx>
#include <TopTools_IndexedMapOfShape.hxx>
#include <TopTools_ListOfShape.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Shell.hxx>
#include <algorithm>
#include <cmath>
#include <gp_Ax3.hxx>
#include <memory>

#include "models/tools/solid.hpp"

namespace make_step {
namespace {

const double degree = 0.017453292519943295;

gp_Dir direction(const Value& v, const std::vector<double>& a) {
    if (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] < 1e-24) v.fail("a direction must not be zero");
    return gp_Dir(a[0], a[1], a[2]);
}

// Names of all faces of a primitive, or of its ends and side.
void name_all(const Value& v, Solid* s) {
    std::string name = v.text("name", "");
    for (TopExp_Explorer ex(s->shape, TopAbs_FACE); ex.More() && !name.empty(); ex.Next()) {
        bool taken = false;
        for (const NamedFace& n : s->names) taken = taken || n.face.IsSame(ex.Current());
        if (!taken) s->names.push_back({ex.Current(), name});
    }
}

double positive(const Value& v, const char* key) {
    double x = v.number(key);
    if (!(x > 0)) v.at(key).fail("must be positive");
    return x;
}

Solid make_box(const Value& v) {
    v.only({"size", "centered"});
    std::vector<double> d = v.at("size").numbers(3);
    for (double x : d)
        if (!(x > 0)) v.fail("sizes must be positive");
    Solid s;
    gp_Pnt low(0, 0, 0);
    if (v.flag("centered", false)) low = gp_Pnt(-0.5 * d[0], -0.5 * d[1], -0.5 * d[2]);
    s.shape = BRepPrimAPI_MakeBox(low, d[0], d[1], d[2]).Shape();
    return s;
}

Solid make_cylinder(const Value& v) {
    v.only({"radius", "length", "side", "bottom", "top"});
    BRepPrimAPI_MakeCylinder maker(positive(v, "radius"), positive(v, "length"));
    Solid s;
    s.shape = maker.Shape();
    auto& c = maker.Cylinder();
    if (v.has("side")) s.names.push_back({c.LateralFace(), v.text("side", "")});
    if (v.has("bottom")) s.names.push_back({c.BottomFace(), v.text("bottom", "")});
    if (v.has("top")) s.names.push_back({c.TopFace(), v.text("top", "")});
    return s;
}

Solid make_cone(const Value& v) {
    v.only({"radius", "radius2", "length", "side", "bottom", "top"});
    double r = v.number("radius"), q = v.number("radius2");
    if (r < 0 || q < 0 || fabs(r - q) < 1e-9) v.fail("two different radii >= 0 are expected");
    BRepPrimAPI_MakeCone maker(r, q, positive(v, "length"));
    Solid s;
    s.shape = maker.Shape();
    auto& c = maker.Cone();
    if (v.has("side")) s.names.push_back({c.LateralFace(), v.text("side", "")});
    if (v.has("bottom") && r > 0) s.names.push_back({c.BottomFace(), v.text("bottom", "")});
    if (v.has("top") && q > 0) s.names.push_back({c.TopFace(), v.text("top", "")});
    return s;
}

void name_swept(BRepBuilderAPI_MakeShape& maker, const Profile& profile, Solid* s) {
    for (const NamedEdge& e : profile.names) {
        TopTools_ListOfShape faces = maker.Generated(e.edge);
        for (const TopoDS_Shape& face : faces)
            if (face.ShapeType() == TopAbs_FACE) s->names.push_back({face, e.name});
    }
}

Solid make_extrusion(const Value& v) {
    v.only({"profile", "length", "bottom", "top"});
    Profile profile = make_profile(v.at("profile"));
    BRepPrimAPI_MakePrism maker(profile.face, gp_Vec(0, 0, positive(v, "length")));
    Solid s;
    s.shape = maker.Shape();
    name_swept(maker, profile, &s);
    if (v.has("bottom")) s.names.push_back({maker.FirstShape(), v.text("bottom", "")});
    if (v.has("top")) s.names.push_back({maker.LastShape(), v.text("top", "")});
    return s;
}

// Faces of a full turn about which the history is silent (flat ones, tori): the middle of a named
// edge, turned half the angle, lies on the face that it sweeps, and on no other.
void name_by_place(const Profile& profile, double angle, Solid* s) {
    const double near = 1e-6; // [mm] beyond what OpenCASCADE calls the same point
    gp_Trsf turn;
    turn.SetRotation(gp::OZ(), 0.5 * angle);
    for (const NamedEdge& e : profile.names) {
        BRepAdaptor_Curve curve(TopoDS::Edge(e.edge));
        gp_Pnt middle = curve.Value(0.5 * (curve.FirstParameter() + curve.LastParameter()));
        TopoDS_Vertex point = BRepBuilderAPI_MakeVertex(middle.Transformed(turn));
        for (TopExp_Explorer ex(s->shape, TopAbs_FACE); ex.More(); ex.Next()) {
            bool taken = false;
            for (const NamedFace& n : s->names) taken = taken || n.face.IsSame(ex.Current());
            if (taken || BRepExtrema_DistShapeShape(point, ex.Current()).Value() > near) continue;
            s->names.push_back({ex.Current(), e.name});
        }
    }
}

// The profile lies in (radius, height) = (x, y) and turns about the local z axis.
Solid make_revolution(const Value& v) {
    v.only({"profile", "angle", "first", "last"});
    Profile profile = make_profile(v.at("profile"));
    gp_Trsf stand; // y up: x stays, y becomes z
    stand.SetTransformation(gp_Ax3(gp::Origin(), gp_Dir(0, -1, 0), gp_Dir(1, 0, 0)), gp_Ax3());
    TopLoc_Location up(stand);
    profile.face = TopoDS::Face(profile.face.Moved(up));
    for (NamedEdge& e : profile.names) e.edge.Move(up);
    double angle = v.number("angle", 360);
    if (!(angle > 0) || angle > 360) v.fail("the angle must be in (0, 360]");
    BRepPrimAPI_MakeRevol maker(profile.face, gp::OZ(), angle * degree);
    Solid s;
    s.shape = maker.Shape();
    name_swept(maker, profile, &s);
    name_by_place(profile, angle * degree, &s);
    if (v.has("first") && angle < 360) s.names.push_back({maker.FirstShape(), v.text("first", "")});
    if (v.has("last") && angle < 360) s.names.push_back({maker.LastShape(), v.text("last", "")});
    return s;
}

Solid make_body(const Value& step) {
    Solid s;
    if (step.has("box")) {
        s = make_box(step.at("box"));
    } else if (step.has("cylinder")) {
        s = make_cylinder(step.at("cylinder"));
    } else if (step.has("cone")) {
        s = make_cone(step.at("cone"));
    } else if (step.has("sphere")) {
        step.at("sphere").only({"radius"});
        s.shape = BRepPrimAPI_MakeSphere(positive(step.at("sphere"), "radius")).Shape();
    } else if (step.has("torus")) {
        Value v = step.at("torus");
        v.only({"radius", "tube"});
        s.shape = BRepPrimAPI_MakeTorus(positive(v, "radius"), positive(v, "tube")).Shape();
    } else if (step.has("extrude")) {
        s = make_extrusion(step.at("extrude"));
    } else if (step.has("revolve")) {
        s = make_revolution(step.at("revolve"));
    } else {
        step.fail(
            "one of box, cylinder, cone, sphere, torus, extrude, revolve, fillet, chamfer is "
            "expected");
    }
    name_all(step, &s);
    return s;
}

// The geometry itself is moved: a location would hide the faces from the STEP writer's name tables.
Solid moved(const Solid& s, const gp_Trsf& place) {
    BRepBuilderAPI_Transform maker(s.shape, place, Standard_True);
    Solid r;
    r.shape = maker.Shape();
    for (const NamedFace& n : s.names) r.names.push_back({maker.ModifiedShape(n.face), n.name});
    return r;
}

// Some histories do not tell of a face that was rebuilt on the same surface.
void follow_surface(const NamedFace& n, const TopTools_IndexedMapOfShape& faces,
                    std::vector<NamedFace>* after) {
    TopLoc_Location place, other;
    Handle(Geom_Surface) surface = BRep_Tool::Surface(TopoDS::Face(n.face), place);
    for (int i = 1; i <= faces.Extent(); ++i)
        if (BRep_Tool::Surface(TopoDS::Face(faces(i)), other) == surface && other == place)
            after->push_back({faces(i), n.name});
}

// The names after an operation: of the faces it made of a named one, or of the face itself if the
// result still has it.
template <typename History>
void follow(History& history, const std::vector<NamedFace>& before, const TopoDS_Shape& result,
            std::vector<NamedFace>* after) {
    TopTools_IndexedMapOfShape faces;
    TopExp::MapShapes(result, TopAbs_FACE, faces);
    for (const NamedFace& n : before) {
        TopTools_ListOfShape images = history.Modified(n.face);
        for (const TopoDS_Shape& image : images) after->push_back({image, n.name});
        if (images.IsEmpty() && faces.Contains(n.face)) after->push_back(n);
        if (images.IsEmpty() && !faces.Contains(n.face)) follow_surface(n, faces, after);
    }
}

void combine(const Value& step, const std::string& how, const Solid& tool, Solid* s) {
    if (s->shape.IsNull()) {
        if (how != "add") step.fail("the first step must add material");
        *s = tool;
        return;
    }
    std::unique_ptr<BRepAlgoAPI_BooleanOperation> operation;
    if (how == "add") operation.reset(new BRepAlgoAPI_Fuse);
    if (how == "cut") operation.reset(new BRepAlgoAPI_Cut);
    if (how == "common") operation.reset(new BRepAlgoAPI_Common);
    if (operation == nullptr) step.fail("'do' must be add, cut or common");
    TopTools_ListOfShape objects, tools;
    objects.Append(s->shape);
    tools.Append(tool.shape);
    operation->SetArguments(objects);
    operation->SetTools(tools);
    operation->SetRunParallel(Standard_False);
    operation->Build();
    if (!operation->IsDone() || operation->HasErrors()) step.fail("the operation failed");
    std::vector<NamedFace> names;
    follow(*operation, s->names, operation->Shape(), &names);
    follow(*operation, tool.names, operation->Shape(), &names);
    s->shape = operation->Shape();
    s->names = names;
}

// The edge of the solid nearest to a point; seams and poles are none.
TopoDS_Edge edge_near(const Value& v, const TopoDS_Shape& shape) {
    std::vector<double> p = v.numbers(3);
    TopoDS_Shape vertex = BRepBuilderAPI_MakeVertex(gp_Pnt(p[0], p[1], p[2]));
    TopoDS_Edge best;
    double least = HUGE_VAL;
    TopTools_IndexedDataMapOfShapeListOfShape faces;
    TopExp::MapShapesAndAncestors(shape, TopAbs_EDGE, TopAbs_FACE, faces);
    for (int i = 1; i <= faces.Extent(); ++i) {
        const TopoDS_Edge& edge = TopoDS::Edge(faces.FindKey(i));
        const TopTools_ListOfShape& around = faces(i);
        if (BRep_Tool::Degenerated(edge) || around.First().IsSame(around.Last())) continue;
        BRepExtrema_DistShapeShape d(vertex, edge);
        if (d.IsDone() && d.Value() < least - 1e-9) {
            least = d.Value();
            best = edge;
        }
    }
    if (best.IsNull()) v.fail("there is no edge");
    return best;
}

template <typename Maker>
void blend(const Value& v, Maker& maker, Solid* s) {
    std::string name = v.text("name", "");
    std::vector<TopoDS_Edge> edges;
    for (const Value& p : v.at("edges").items()) edges.push_back(edge_near(p, s->shape));
    for (const TopoDS_Edge& e : edges) maker.Add(positive(v, "radius"), e);
    maker.Build();
    if (!maker.IsDone()) v.fail("this radius does not fit on the edges");
    std::vector<NamedFace> names;
    follow(maker, s->names, maker.Shape(), &names);
    for (const TopoDS_Edge& e : edges)
        for (const TopoDS_Shape& face : maker.Generated(e))
            if (!name.empty() && face.ShapeType() == TopAbs_FACE) names.push_back({face, name});
    s->shape = maker.Shape();
    s->names = names;
}

// Faces on one surface become one, except along the edges of named faces.
void unify(Solid* s) {
    ShapeUpgrade_UnifySameDomain unifier(s->shape, Standard_True, Standard_True, Standard_False);
    for (const NamedFace& n : s->names)
        for (TopExp_Explorer ex(n.face, TopAbs_EDGE); ex.More(); ex.Next())
            unifier.KeepShape(ex.Current());
    unifier.Build();
    TopTools_IndexedMapOfShape before, after;
    TopExp::MapShapes(s->shape, TopAbs_FACE, before);
    TopExp::MapShapes(unifier.Shape(), TopAbs_FACE, after);
    if (after.Extent() == before.Extent()) return; // nothing was joined
    std::vector<NamedFace> names;
    Handle(BRepTools_History) history = unifier.History();
    follow(*history, s->names, unifier.Shape(), &names);
    s->shape = unifier.Shape();
    s->names = names;
}

// The places of a step's copies: "repeat": {"count", "angle" (about z of the part, "center") or
// "shift"}.
std::vector<gp_Trsf> copies(const Value& step) {
    std::vector<gp_Trsf> list = {gp_Trsf()};
    if (!step.has("repeat")) return list;
    std::vector<Value> patterns;
    Value repeat = step.at("repeat");
    if (repeat.is_array())
        patterns = repeat.items();
    else
        patterns.push_back(repeat);
    for (const Value& p : patterns) {
        p.only({"count", "angle", "center", "axis", "shift"});
        int count = (int)std::lround(p.number("count"));
        if (count < 1 || count > 10000) p.fail("'count' must be in 1 .. 10000");
        std::vector<gp_Trsf> more;
        for (int i = 0; i < count; ++i) {
            gp_Trsf t;
            if (p.has("shift")) {
                std::vector<double> d = p.at("shift").numbers(3);
                t.SetTranslation(gp_Vec(d[0], d[1], d[2]) * i);
            } else {
                std::vector<double> c = p.numbers("center", {0, 0, 0}),
                                    a = p.numbers("axis", {0, 0, 1});
                t.SetRotation(gp_Ax1(gp_Pnt(c[0], c[1], c[2]), direction(p, a)),
                              p.number("angle") * degree * i);
            }
            for (const gp_Trsf& q : list) more.push_back(t * q);
        }
        list = more;
    }
    return list;
}

void run_step(const Value& step, Solid* s) {
    step.only({"do", "box", "cylinder", "cone", "sphere", "torus", "extrude", "revolve", "fillet",
               "chamfer", "at", "axis", "x", "name", "repeat"});
    if (step.has("fillet") || step.has("chamfer")) {
        Value v = step.at(step.has("fillet") ? "fillet" : "chamfer");
        v.only({"radius", "edges", "name"});
        if (s->shape.IsNull()) step.fail("there is nothing to round yet");
        if (step.has("fillet")) {
            BRepFilletAPI_MakeFillet maker(s->shape);
            blend(v, maker, s);
        } else {
            BRepFilletAPI_MakeChamfer maker(s->shape);
            blend(v, maker, s);
        }
        return;
    }
    Solid tool = moved(make_body(step), read_place(step));
    std::string how = step.text("do", "add");
    std::vector<gp_Trsf> places = copies(step);
    Solid all;
    for (const gp_Trsf& t : places) { // copies that overlap each other are fused first
        if (places.size() > 20) {     // many: as one compound, they must be apart
            BRep_Builder builder;
            TopoDS_Compound compound;
            if (all.shape.IsNull()) {
                builder.MakeCompound(compound);
                all.shape = compound;
            }
            Solid copy = moved(tool, t);
            builder.Add(all.shape, copy.shape);
            all.names.insert(all.names.end(), copy.names.begin(), copy.names.end());
        } else {
            combine(step, "add", moved(tool, t), &all);
        }
    }
    combine(step, how, all, s);
}

} // namespace

Solid mirrored(const Solid& solid, const gp_Dir& normal) {
    gp_Trsf mirror;
    mirror.SetMirror(gp_Ax2(gp::Origin(), normal));
    return moved(solid, mirror);
}

gp_Trsf read_place(const Value& v) {
    std::vector<double> at = v.numbers("at", {0, 0, 0}), z = v.numbers("axis", {0, 0, 1});
    std::vector<double> x = v.numbers("x", {0, 0, 0});
    gp_Pnt origin(at[0], at[1], at[2]);
    gp_Ax3 frame(origin, direction(v, z));
    if (v.has("x")) {
        gp_Dir along = direction(v, x);
        if (along.IsParallel(frame.Direction(), 1e-9)) v.fail("'x' must not be parallel to 'axis'");
        frame = gp_Ax3(origin, frame.Direction(), along);
    } else if (frame.Direction().IsEqual(gp::DZ(), 1e-12)) {
        frame = gp_Ax3(origin, gp::DZ(), gp::DX());
    }
    gp_Trsf t;
    t.SetTransformation(frame, gp_Ax3());
    return t;
}

void add_steps(const Value& steps, Solid* s) {
    for (const Value& step : steps.items()) run_step(step, s);
}

Solid make_solid(const Value& steps, bool join) {
    Solid s;
    add_steps(steps, &s);
    if (s.shape.IsNull()) steps.fail("the part has no step");
    try {
        if (join) unify(&s);
    } catch (
        const Standard_Failure&) { // it fails on rings closed both ways; the part is good as it is
    }
    if (!TopExp_Explorer(s.shape, TopAbs_FACE).More()) steps.fail("nothing is left of the part");
    return s;
}

void name_faces(const Value& list, Solid* s) {
    for (const Value& v : list.items()) {
        v.only({"name", "type", "radius", "near"});
        std::vector<double> p = v.at("near").numbers(3);
        TopoDS_Shape vertex = BRepBuilderAPI_MakeVertex(gp_Pnt(p[0], p[1], p[2]));
        std::string type = v.text("type", "");
        double least = HUGE_VAL, radius = v.number("radius", 0);
        TopoDS_Shape best;
        for (TopExp_Explorer ex(s->shape, TopAbs_FACE); ex.More(); ex.Next()) {
            BRepAdaptor_Surface a(TopoDS::Face(ex.Current()));
            bool cylinder = a.GetType() == GeomAbs_Cylinder, plane = a.GetType() == GeomAbs_Plane;
            if ((type == "plane" && !plane) || (type == "cylinder" && !cylinder)) continue;
            if (radius > 0 && (!cylinder || fabs(a.Cylinder().Radius() - radius) > 1e-6)) continue;
            BRepExtrema_DistShapeShape d(vertex, ex.Current());
            if (d.IsDone() && d.Value() < least - 1e-9) {
                least = d.Value();
                best = ex.Current();
            }
        }
        if (best.IsNull()) v.fail("no face fits");
        for (size_t i = 0; i < s->names.size(); ++i)
            if (s->names[i].face.IsSame(best)) s->names.erase(s->names.begin() + (long)i--);
        s->names.push_back({best, v.text("name", "")});
    }
}

void keep_only(const std::vector<std::string>& names, Solid* s) {
    BRep_Builder builder;
    TopoDS_Shell shell;
    builder.MakeShell(shell);
    std::vector<NamedFace> kept;
    for (TopExp_Explorer ex(s->shape, TopAbs_FACE); ex.More(); ex.Next())
        for (const NamedFace& n : s->names) {
            if (!n.face.IsSame(ex.Current())) continue;
            if (std::find(names.begin(), names.end(), n.name) == names.end()) continue;
            builder.Add(shell, ex.Current()); // with its orientation in the solid
            kept.push_back({ex.Current(), n.name});
        }
    if (kept.empty()) throw Mistake("only: no face bears one of these names");
    s->shape = shell;
    s->names = kept;
}

void turn_inside_out(Solid* s) {
    s->shape.Reverse();
}

void to_bsplines(Solid* s) {
    BRepBuilderAPI_NurbsConvert maker(s->shape, Standard_True);
    std::vector<NamedFace> names;
    for (const NamedFace& n : s->names) names.push_back({maker.ModifiedShape(n.face), n.name});
    s->shape = maker.Shape();
    s->names = names;
}

} // namespace make_step

// Solids with named faces, built step by step from a parameter file.
#ifndef LASH_MODELS_SOLID_HPP
#define LASH_MODELS_SOLID_HPP

#include <TopoDS_Face.hxx>
#include <TopoDS_Shape.hxx>
#include <gp_Trsf.hxx>

#include "models/tools/part_file.hpp"

namespace make_step {

struct NamedFace {
    TopoDS_Shape face;
    std::string name;
};

struct Solid {
    TopoDS_Shape shape; // null: nothing yet
    std::vector<NamedFace> names;
};

struct NamedEdge {
    TopoDS_Shape edge;
    std::string name;
};

struct Profile { // a plane region in the plane z = 0
    TopoDS_Face face;
    std::vector<NamedEdge> names;
};

// {"outer": CURVE, "holes": [CURVE, ...]} or a CURVE alone (profile.cpp).
Profile make_profile(const Value& value);

// Position and axes of a step: "at", "axis" (its z), "x".
gp_Trsf read_place(const Value& value);

// The list of steps of a part (solid.cpp). join: faces on one surface become one face.
Solid make_solid(const Value& steps, bool join);
void add_steps(const Value& steps, Solid* solid); // further ones

// "names": [{"name", "type", "radius", "near"}]: names faces of the finished part.
void name_faces(const Value& list, Solid* solid);

// Only the named faces, as one shell ("only"); turned inside out ("reversed"); all surfaces as
// B-splines ("bspline").
void keep_only(const std::vector<std::string>& names, Solid* solid);
void turn_inside_out(Solid* solid);
Solid mirrored(const Solid& solid, const gp_Dir& normal); // at the plane through the origin
void to_bsplines(Solid* solid);

} // namespace make_step
#endif

// Surfaces and curves of one face or edge while the tables are made: elementary ones as a frame and
// radii, the others as Bezier pieces. Metres, file's frame. No OpenCASCADE here.
#ifndef LASH_GEOMETRY_SURFACE_HPP
#define LASH_GEOMETRY_SURFACE_HPP

#include <array>
#include <vector>

#include "core/math3.h"
#include "geometry/shape.h"

namespace lash {

using Pole = std::array<double, 4>;   // x, y, z [m], weight
using PoleUv = std::array<double, 3>; // u, v, weight

struct Patch {
    int u_degree = 0, v_degree = 0;
    double u0 = 0, u1 = 1, v0 = 0, v1 = 1;
    std::vector<Pole> poles; // u fastest
};

struct Surface {
    LashSurfaceType type = LASH_FREEFORM;
    Vec3 origin = {0, 0, 0}, x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    double radius = 0, radius2 = 0, half_angle = 0;
    double deviation = 0; // proven bound on the distance of the CAD surface [m]
    std::vector<Patch> patches;
    int u_patches = 0, v_patches = 0;
    bool approximated = false; // patches: of a surface that is none of them, to 1e-8 of the part
    bool turned = false;       // patches: (u, v) are (v, -u) of the CAD (extruded.cpp)
};

struct Segment {
    double t0 = 0, t1 = 1;
    std::vector<Pole> poles;
};

struct Curve {
    LashCurveType type = LASH_FREE_CURVE;
    Vec3 origin = {0, 0, 0}, x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    double radius = 0, t0 = 0, t1 = 1;
    std::vector<Segment> segments;
};

bool is_elementary(const Surface& s);

// Sets x, y to complete z, x as near to the wanted direction as it can be.
void set_frame(Surface* s, Vec3 z, Vec3 x_wanted);

// Point at (u, v) of an elementary surface.
Vec3 surface_point(const Surface& s, double u, double v);

// (u, v) of the foot point of p on an elementary surface, u in (-pi, pi].
void surface_uv(const Surface& s, Vec3 p, double* u, double* v);

// Signed distance of p from an elementary surface and its gradient, the natural normal there.
double surface_distance(const Surface& s, Vec3 p, Vec3* normal);

enum { MAX_ORDER = 64 };
// A patch at one u: points along v cost less.
struct PatchRow {
    int degree;
    double v0, length;
    double point[MAX_ORDER][4], slope[MAX_ORDER][4]; // weighted; slope: along u
};
void patch_row(const Patch& patch, double u, PatchRow* row);
Vec3 row_point(const PatchRow& row, double v, Vec3* du, Vec3* dv);
Vec3 patch_point(const Patch& patch, double u, double v, Vec3* du, Vec3* dv);
// Point and natural normal (unit) of freeform patches at (u, v).
Vec3 freeform_point(const Surface& s, double u, double v, Vec3* normal);

// Point and derivative at t.
Vec3 curve_point(const Curve& c, double t, Vec3* tangent);

// Parameter of the foot point of p on a line or circle; a circle's in (-pi, pi].
double curve_parameter(const Curve& c, Vec3 p);

// Moves p onto the common points of up to four elementary surfaces: Gauss-Newton with the step of
// least length. False when it does not settle (tangent surfaces).
bool project_to_all(const Surface* const* surfaces, int count, Vec3* p, double size);

// The line or circle in which two elementary surfaces meet near the points of a curve, when it is
// one. The direction of rising t is that of the points. tolerance [m]: how far the points may be
// off.
bool intersection_curve(const Surface& a, const Surface& b, const std::vector<Vec3>& points,
                        double tolerance, Curve* curve);

LashBox empty_box();
void grow_box(LashBox* box, Vec3 p);
void grow_box(LashBox* box, const LashBox& other);
LashBox curve_box(const Curve& c);

// Bezier coefficients of the function f at n + 1 Chebyshev points of [a, b] (interpolation).
enum { FIT_DEGREE = 9 };
const std::vector<double>& fit_nodes();                            // in [0, 1]
std::vector<double> fit_bezier(const std::vector<double>& values); // Bernstein coefficients

// Tries plane, sphere, cylinder, cone, torus on Bezier patches. True when one lies within tolerance
// of them [m]: then `found` is it, with the proven deviation. (recognise.cpp)
bool recognise(const std::vector<Patch>& patches, double tolerance, Surface* found);

// Patches that are a profile moved along a straight line, to rounding, are made so, with v along the
// line: linear, one patch. size: of the patches [m]. (extruded.cpp)
const double straight = 1e-9; // of the size: files hold 10 to 16 digits; counted in the deviation
void straighten(Surface* surface, double size);
// Parameters of the patches, from those of the CAD surface.
void own_parameters(const Surface& s, double cad_u, double cad_v, double uv[2]);

} // namespace lash
#endif

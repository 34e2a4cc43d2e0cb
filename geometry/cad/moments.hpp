// Area and moments of volume from faces and trims.
#ifndef LASH_GEOMETRY_MOMENTS_HPP
#define LASH_GEOMETRY_MOMENTS_HPP

#include "geometry/cad/trims.hpp"

namespace lash {

struct Moments { // about a chosen point
    double area = 0, volume = 0, first[3] = {0, 0, 0}, second[3][3] = {};
};

// Adds what one face contributes; side * Su x Sv is outward. Returns its own area, signed like its
// trim.
double add_face_moments(const Surface& s, const Trim& trim, double side, Vec3 center, Moments* m);

} // namespace lash
#endif

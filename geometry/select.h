// Choosing faces of a shape: by index, by name, or by what they are.
#ifndef LASH_GEOMETRY_SELECT_H
#define LASH_GEOMETRY_SELECT_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_ANY_PART = -1, LASH_ANY_TYPE = -1 };

typedef struct LashFaceQuery {
    int type;      // LashSurfaceType, or LASH_ANY_TYPE
    double radius; // [m]; 0: any. Of a cone: anywhere between its ends
    double side;   // +1: convex (a pin), -1: concave (a bore), 0: any
    bool has_axis, has_near;
    Vec3 axis;        // parallel to the axis, or to the normal of a plane; either sense
    Vec3 near;        // of all that match, the face nearest to this point [m]
    double tolerance; // of radius and of ties in distance [m]; 0: 1e-6 of the part's size
} LashFaceQuery;

LashFaceQuery lash_face_query(void); // matches every face

// "plane", "cylinder", "cone", "sphere", "torus", "freeform"
const char* lash_surface_type_name(LashSurfaceType type);
bool lash_surface_type_parse(const char* name, LashSurfaceType* type);

// Row of a part by its name (the whole path, or its last component when that is unique).
bool lash_select_part(const LashShape* shape, const char* name, int* part, LashError* error);

// part: a row of the part table or LASH_ANY_PART; the face rows are global. False, with the
// candidates listed, when nothing or more than one thing fits.
bool lash_select_index(const LashShape* shape, int part, int index, int* face, LashError* error);
bool lash_select_query(const LashShape* shape, int part, const LashFaceQuery* query, int* face,
                       LashError* error);
// All faces of that name (a name may stand on several); returns their number, 0 with a message.
int lash_select_name(const LashShape* shape, int part, const char* name, int* faces, int capacity,
                     LashError* error);

// Distance of a point from the viewing mesh of a face [m]: for ranking, exact to the deflection.
double lash_face_mesh_distance(const LashShape* shape, int face, Vec3 p);

#ifdef __cplusplus
}
#endif
#endif

// Distances by OpenCASCADE's BRepExtrema_DistShapeShape, from the helper program: slow, unsigned,
// for comparison ("query": "occt", `lash bench geometry`, tests).
#ifndef LASH_GEOMETRY_OCCT_QUERY_H
#define LASH_GEOMETRY_OCCT_QUERY_H

#include "core/math3.h"
#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashOcctSide { // faces of a STEP file
    const char* path;
    LashImport import; // scale and heal matter
    const int* faces;  // rows of LashShape.face as lash_shape_load gives them
    int count;         // 0: all faces
} LashOcctSide;

typedef struct LashOcctAnswer {
    double distance;       // >= 0 [m]; 0 when the faces meet
    Vec3 point_a, point_b; // nearest points, world [m]
    double seconds;        // processor time inside OpenCASCADE, without the pipe
} LashOcctAnswer;

typedef struct LashOcctQuery LashOcctQuery; // a running helper with two loaded sides

LashOcctQuery* lash_occt_query_open(const LashOcctSide* a, const LashOcctSide* b, LashError* error);
void lash_occt_query_close(LashOcctQuery* query); // NULL is allowed

// False, with a message, when OpenCASCADE fails on this pose or the helper died.
bool lash_occt_query_distance(LashOcctQuery* query, Pose world_a, Pose world_b,
                              LashOcctAnswer* answer, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

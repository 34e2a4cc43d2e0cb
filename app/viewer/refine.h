// A mesh of a shape that is as fine as the picture needs it: chords of round faces and edges are
// divided until they lie on them.
#ifndef LASH_APP_VIEWER_REFINE_H
#define LASH_APP_VIEWER_REFINE_H

#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewMesh { // owns its arrays; as the mesh of a LashShape
    float *point, *normal;
    int *triangle, *face; // three vertices; the face of each
    float* line_point;
    int* line; // two points each
    int vertices, triangles, line_points, lines;
} ViewMesh;

// Chords farther than `tolerance` [m] from their surface are divided, as long as there are not more
// than `most` triangles.
ViewMesh view_mesh_refine(const LashShape* shape, double tolerance, int most);
void view_mesh_free(ViewMesh* mesh);

// Distance of the farthest chord of the shape's own mesh from its surface [m].
double view_mesh_deviation(const LashShape* shape);

#ifdef __cplusplus
}
#endif
#endif

// Buffers and programs of the renderer.
#ifndef LASH_APP_VIEWER_RENDER_INTERNAL_H
#define LASH_APP_VIEWER_RENDER_INTERNAL_H

#include "app/viewer/matrix_internal.h"
#include "app/viewer/render.h"

typedef struct GpuMesh {
    unsigned vao, vertices, indices; // solid
    unsigned line_vao, line_vertices, line_indices;
    int index_count, line_count; // numbers of indices
    bool closed;                 // a solid: its inner side is never seen
    Vec3 center;                 // of a ball around it [m]
    double radius;               // ... [m]
    double deviation;            // of the shape's own chords from its round faces [m]
    int level;                   // how often they were divided by four in length, at least
} GpuMesh;

typedef enum GpuProgram { GPU_SOLID, GPU_LINE, GPU_BACKGROUND, GPU_ID, GPU_PROGRAMS } GpuProgram;

typedef enum GpuUniform {
    UNIFORM_MODEL, // model -> eye
    UNIFORM_NORMAL,
    UNIFORM_PROJECTION,
    UNIFORM_COLOR,
    UNIFORM_UP,
    UNIFORM_SECTION,
    UNIFORM_SELECTED,
    UNIFORM_MARKED,
    UNIFORM_TINT,
    UNIFORM_PART,
    UNIFORM_CUT,
    UNIFORM_FIRST_FACE,
    UNIFORMS
} GpuUniform;

struct ViewRenderer {
    unsigned program[GPU_PROGRAMS];
    int uniform[GPU_PROGRAMS][UNIFORMS];
    GpuMesh* piece; // (pieces)
    int pieces;
    int* order;                                        // (pieces) nearest first
    GpuMesh ball, rod, cone;                           // radius 1; from z = 0 to 1
    unsigned line_vao, line_buffer;                    // lines that change: grid, traces
    size_t line_capacity;                              // [bytes]
    unsigned empty_vao;                                // of the background
    unsigned pick_frame, pick_color, pick_depth;       // one pixel
    unsigned smooth_frame, smooth_color, smooth_depth; // multisampled, as large as the picture
    int smooth_width, smooth_height, smooth_samples;
    ViewMatrix view, projection;
    float section[4]; // in eye coordinates; w large: none
};

bool gpu_programs_create(ViewRenderer* renderer, LashError* error);
GpuMesh gpu_mesh_create(const LashShape* shape);
// Uploads the mesh again, chords of round faces within deviation / 4^level.
void gpu_mesh_refine(GpuMesh* mesh, const LashShape* shape, int level);
// Refines pieces that are near, coarsens those that are far again.
void gpu_choose_detail(ViewRenderer* renderer, const ViewPicture* picture);
GpuMesh gpu_cone_create(void);
void gpu_mesh_destroy(GpuMesh* mesh);

// A vertex of the lines that change.
typedef struct GpuLineVertex {
    float point[3], color[4];
} GpuLineVertex;

#endif

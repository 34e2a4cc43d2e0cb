// A CAD shape as flat C tables: what the contact kernels, the viewer and `lash info` know of a STEP
// file.
//
// Made at load time by the OpenCASCADE helper (or by the constructors for primitive shapes), then
// immutable and shared by all threads. Lengths in metres, angles in radians, coordinates of the
// part's own (CAD) frame.
#ifndef LASH_GEOMETRY_SHAPE_H
#define LASH_GEOMETRY_SHAPE_H

#include "core/error.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashSurfaceType {
    LASH_PLANE,    // (u, v) -> origin + u x + v y;                                       normal z
    LASH_CYLINDER, // (u, v) -> origin + r (cos u x + sin u y) + v z;                     normal
                   // away from the axis
    LASH_CONE,    // (u, v) -> origin + (r + v sin a)(cos u x + sin u y) + v cos a z;    normal away
                  // from the axis
    LASH_SPHERE,  // (u, v) -> origin + r (cos v (cos u x + sin u y) + sin v z);         normal away
                  // from the center
    LASH_TORUS,   // (u, v) -> origin + (r + s cos v)(cos u x + sin u y) + s sin v z;    normal away
                  // from the tube's circle
    LASH_FREEFORM // Bezier patches (rational), glued over a (u, v) grid;                normal Su x
                  // Sv
} LashSurfaceType;

typedef enum LashCurveType {
    LASH_LINE,      // t -> origin + t z
    LASH_CIRCLE,    // t -> origin + r (cos t x + sin t y)
    LASH_FREE_CURVE // Bezier segments (rational), t runs over their breaks
} LashCurveType;

typedef enum LashConvexity {
    LASH_CONVEX,  // material angle < 180 degrees: the edge or vertex can touch something
    LASH_CONCAVE, // it cannot, its faces touch first
    LASH_SMOOTH,  // tangent faces: a seam
    LASH_FREE     // an edge of one face only, or a lone edge: touches from every side
} LashConvexity;

typedef struct LashBox {
    LashVec3 low, high; // [m]
} LashBox;

typedef struct LashFace {
    LashSurfaceType type;
    LashVec3 origin, x, y, z; // local frame, right-handed, unit axes
    double radius, radius2;   // r; s of a torus [m]
    double half_angle;        // a of a cone [rad]
    double side; // +1: the outward normal is the one named above; -1: it is its opposite (a bore)
    double u0, u1, v0,
        v1;        // box of the trimmed region in (u, v); u0 <= u1 <= u0 + 2 pi on closed surfaces
    bool u_closed; // the trimmed region goes all the way round in u
    bool v_closed; // a torus or freeform: it goes all the way round in v
    int first_loop, loops;                 // trimming loops; 0: untrimmed within the (u, v) box
    int first_patch, u_patches, v_patches; // freeform: patches[first_patch + i + u_patches * j]
    int index;        // number of the face in its file, as `lash info` prints it, from 0
    int part;         // index of the part
    int name;         // offset in the string table, 0: none
    float color[4];   // r, g, b, a; a = 0: that of the part
    LashBox box;      // of the trimmed face
    double area;      // [m^2]
    double deviation; // from the CAD surface [m]: proven bound when recognised as an elementary
        // one or as extruded, estimate when approximated by patches, 0 when taken over
        // as it is
    double reach; // inward depth to which a signed gap is meaningful: curvature, and half the wall
                  // as sampled on the mesh [m]; 0: not known
} LashFace;

// A loop is a closed chain of coedges, material on the left when seen against the surface normal
// Su x Sv. The first loop of a face is its outer one. Of a closed face it runs along seams at u0
// and u0 + 2 pi (coedges with edge -1); its holes lie in the (u, v) box, too, except when every u
// is covered by some hole: then a hole may reach beyond u1, and a point is tested at u and at
// u + 2 pi.
typedef struct LashLoop {
    int first_coedge, coedges;
} LashLoop;

// A piece of a loop in the (u, v) plane of its face. kind LINE: from a to b. CIRCLE: center c,
// radius r, angles from t0 to t1 (t1 < t0 runs clockwise). FREE_CURVE: rational Bezier of degree
// `degree`, poles (u, v, weight).
typedef struct LashCoedge {
    LashCurveType kind;
    int edge; // index of the 3D edge, -1: a seam of a closed surface or a degenerated edge (pole)
    bool reversed; // runs against the edge's parameter
    double a[2], b[2], c[2], r, t0, t1;
    int first_pole, degree; // in uv_poles, 3 numbers each
} LashCoedge;

typedef struct LashEdge {
    LashCurveType type;
    LashVec3 origin, x, y, z; // z: direction of a line, axis of a circle
    double radius;            // [m]
    double t0, t1;            // parameter range, t0 < t1; a full circle spans 2 pi
    bool closed;
    int face[2];   // left and right of the edge, seen from outside along rising t; -1: none
    int vertex[2]; // at t0 and t1, -1: none (closed)
    int first_segment, segments; // free curve: in `segments`
    LashConvexity convexity;
    double tolerance; // of the CAD edge; analytic edges are recomputed from their faces [m]
    int index, part, name;
    LashBox box;
} LashEdge;

typedef struct LashVertex {
    LashVec3 point;
    int first_edge, edges; // in vertex_edges: the edges that meet here
    LashConvexity convexity;
    int part;
} LashVertex;

typedef struct LashPatch { // rational Bezier patch over [u0,u1] x [v0,v1] of its face's (u, v)
    int u_degree, v_degree;
    int first_pole; // in poles, (x, y, z, weight) each [m], u fastest
    double u0, u1, v0, v1;
} LashPatch;

typedef struct LashSegment { // rational Bezier curve over [t0, t1]
    int degree, first_pole;
    double t0, t1;
} LashSegment;

typedef struct LashShapePart { // one solid, shell, face or edge of the STEP file, in its own
                               // placement
    int name;                  // string offset; unique path in the assembly ("engine/piston")
    int parent;                // part (assembly node) it belongs to, -1: root
    int product;               // number of the placed product; its solids share it
    bool assembly;             // a node without geometry of its own
    int material;              // string offset, as the file names it; 0: none
    double density;            // as the file has it [kg/m^3]; 0: none
    LashPose
        placement;  // of the part in the file's frame; the tables are in the file's frame already
    float color[4]; // r, g, b, a; a = 0: none given
    int solids, shells;
    bool closed, valid, inward; // a watertight solid; BRepCheck; oriented inward (a hole)
    double volume, area;        // [m^3], [m^2]
    LashVec3 center;            // of volume, file's frame [m]
    LashMat3 inertia;           // of volume about center, file's axes, for density 1 kg/m^3 [m^5]
    double tolerance_max;       // largest CAD tolerance [m]
    int first_face, faces, first_edge, edges, first_vertex, vertices;
    int first_triangle, triangles, first_line, lines; // mesh and outline, see below
    LashBox box;
} LashShapePart;

typedef enum LashSizeKind {
    LASH_SIZE_DIAMETER, // of a cylinder or sphere; a toleranced radius comes as its diameter
    LASH_SIZE_LENGTH,   // a distance or thickness
    LASH_SIZE_ANGLE,
    LASH_SIZE_OTHER
} LashSizeKind;

// A size with its tolerance as a STEP AP242 file has it (import with `pmi`), one row for every face
// that it is attached to.
typedef struct LashSize {
    LashSizeKind kind;
    int part, face, face2; // rows; face2 of a distance: the face it goes to; -1: none
    double nominal;        // of the face itself for a diameter, else as stated [m], [rad]
    double stated;         // as the annotation has it [m], [rad]; NAN: it has none
    double lower, upper;   // deviations from nominal [m], [rad]; NAN: none, or by class
    int class_name;        // string offset: class of ISO 286 ("H7"); 0: none
    int note;              // string offset: why it cannot be used; 0: it can
} LashSize;

typedef struct LashShape {
    LashShapePart* part;
    LashFace* face;
    LashLoop* loop;
    LashCoedge* coedge;
    double* uv_pole;
    LashEdge* edge;
    LashVertex* vertex;
    int* vertex_edge;
    LashPatch* patch;
    LashSegment* segment;
    double* pole;
    LashSize* size;
    // Mesh for viewing, never for physics: vertices shared inside a face only, so edges stay sharp.
    float *mesh_point, *mesh_normal; // 3 per mesh vertex [m]
    int* triangle;                   // 3 mesh vertices each
    int* triangle_face;              // face of each triangle, for picking
    int* line;                       // 2 points of line_point each: the outlines of the edges
    float* line_point;
    char* string; // names, each ends in 0; offset 0 is the empty name
    int parts, faces, loops, coedges, uv_poles, edges, vertices, vertex_edges, patches, segments,
        poles, sizes;
    // Counts are of items: a pole has 4 doubles, a (u, v) pole 3, a point 3 floats, a line 2 ints.
    int mesh_vertices, triangles, lines, line_points, string_bytes;
    int warnings; // string offset: what a user should know about the file, one per line; 0: nothing
    double scale; // metres per number of the file, override included
    char unit[16];            // length unit the file declares
    char hash[65];            // SHA-256 of the file and the options, hex
    void* memory;             // everything above lives in this block; freed by lash_shape_destroy
    struct LashSolid** solid; // (parts) made when first asked for, see solid.h
} LashShape;

void lash_shape_destroy(LashShape* shape); // NULL is allowed

// False, with a message, unless every index, count and range of the tables is inside its table.
bool lash_shape_check(const LashShape* shape, LashError* error);

static inline const char* lash_shape_string(const LashShape* shape, int offset) {
    return shape->string + offset;
}

// Primitive shapes in the same tables, for models without CAD and for tests. Centered at the
// origin; axes along z.
LashShape* lash_shape_box(LashVec3 size);
LashShape* lash_shape_cylinder(double radius, double length);
LashShape* lash_shape_sphere(double radius);
LashShape* lash_shape_capsule(double radius, double length); // length of the cylindrical part
LashShape* lash_shape_ring(double inner_radius, double outer_radius, double length);

// A helper program that reads several files, one after another: the start of OpenCASCADE costs more
// than a small file. It is started when first needed, reads each file in a process of its own, and
// is used by one thread.
typedef struct LashReader LashReader;
LashReader* lash_reader_create(void);
void lash_reader_destroy(LashReader* reader); // NULL is allowed

// How to read a STEP file.
typedef struct LashImport {
    double scale;      // override: metres per number of the file; 0: as the file says
    bool heal;         // repair small defects before use
    double deflection; // of the mesh, relative to the part's size; 0: default
    double time_limit; // of the helper program, processor time [s]; 0: $LASH_CAD_SECONDS or 120
    // told a few times a second while the helper reads; seconds < 0: it has ended; NULL: nobody
    void (*progress)(const char* path, double seconds, double limit);
    bool no_cache;
    bool pmi;           // sizes with tolerances, too (AP242); OpenCASCADE may fail on them
    LashReader* reader; // borrowed; NULL: a helper of its own
} LashImport;

// Reads a STEP file through the helper program `lash-cad` and the cache. Never crashes on a bad
// file: error tells.
LashShape* lash_shape_load(const char* path, const LashImport* import, LashError* error);
// The same of a file that is in memory; path names it in messages.
LashShape* lash_shape_load_bytes(const char* path, const char* data, size_t bytes,
                                 const LashImport* import, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

// Primitive shapes in the tables of shape.h: box, cylinder, sphere, capsule, ring.
//
// Each is one closed solid centered at the origin, axis z, with all faces, edges, vertices, trims
// and adjacency an imported solid would have, exact mass properties (density 1) and a mesh for
// viewing. The reach of a face is half the wall behind it, or the radius of curvature when smaller:
// a point deeper than that is nearer to another face.
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"
#include "geometry/shape.h"

enum {
    ROUND = 64,
    ARC = 16
}; // mesh: segments around, and from the pole of a sphere to its equator

typedef struct Sizes {
    int faces, loops, coedges, edges, vertices, mesh_vertices, triangles, lines;
} Sizes;

static void* carve(char* memory, size_t* used, size_t count, size_t size) {
    void* p = memory == NULL ? NULL : memory + *used;
    *used += (count * size + 63) / 64 * 64;
    return p;
}

static LashShape* shape_create(const Sizes* sizes, const char* name) {
    LashShape* shape = lash_alloc(sizeof(LashShape));
    size_t corners = 3 * (size_t)sizes->vertices, m = (size_t)sizes->mesh_vertices;
    size_t points = 2 * (size_t)sizes->lines;
    size_t used = 0;
    for (int pass = 0; pass < 2; ++pass) { // first measures, second places
        char* at = pass == 0 ? NULL : lash_alloc(used);
        shape->memory = at;
        used = 0;
        shape->part = carve(at, &used, 1, sizeof(LashShapePart));
        shape->face = carve(at, &used, (size_t)sizes->faces, sizeof(LashFace));
        shape->loop = carve(at, &used, (size_t)sizes->loops, sizeof(LashLoop));
        shape->coedge = carve(at, &used, (size_t)sizes->coedges, sizeof(LashCoedge));
        shape->edge = carve(at, &used, (size_t)sizes->edges, sizeof(LashEdge));
        shape->vertex = carve(at, &used, (size_t)sizes->vertices, sizeof(LashVertex));
        shape->vertex_edge = carve(at, &used, corners, sizeof(int));
        shape->mesh_point = carve(at, &used, 3 * m, sizeof(float));
        shape->mesh_normal = carve(at, &used, 3 * m, sizeof(float));
        shape->triangle = carve(at, &used, 3 * (size_t)sizes->triangles, sizeof(int));
        shape->triangle_face = carve(at, &used, (size_t)sizes->triangles, sizeof(int));
        shape->line = carve(at, &used, points, sizeof(int));
        shape->line_point = carve(at, &used, 3 * points, sizeof(float));
        shape->string = carve(at, &used, 64, 1);
    }
    shape->parts = 1;
    shape->solid = lash_alloc(sizeof *shape->solid);
    shape->faces = sizes->faces;
    shape->edges = sizes->edges;
    shape->vertices = sizes->vertices;
    shape->scale = 1;
    strcpy(shape->unit, "m");
    strcpy(shape->string + 1, name);
    shape->string_bytes = (int)strlen(name) + 2;
    LashShapePart* part = shape->part;
    part->name = 1;
    part->parent = -1;
    part->placement = pose_identity();
    part->solids = part->shells = 1;
    part->closed = part->valid = true;
    return shape;
}

static LashFace* face_init(LashShape* shape, int i, LashSurfaceType type, Vec3 origin, Vec3 z,
                           Vec3 x) {
    LashFace* f = shape->face + i;
    f->type = type;
    f->origin = origin;
    f->z = z;
    f->x = x;
    f->y = vec3_cross(z, x);
    f->side = 1;
    f->index = i;
    return f;
}

static void range(LashFace* face, double u0, double u1, double v0, double v1) {
    face->u0 = u0;
    face->u1 = u1;
    face->v0 = v0;
    face->v1 = v1;
    face->u_closed = face->type != LASH_PLANE && u1 - u0 >= 2 * LASH_PI - 1e-12;
}

static LashBox box_of(double x, double y, double z0, double z1) {
    LashBox b = {{-x, -y, z0}, {x, y, z1}};
    return b;
}

static void begin_loop(LashShape* shape, LashFace* face) {
    if (face->loops++ == 0) face->first_loop = shape->loops;
    shape->loop[shape->loops++].first_coedge = shape->coedges;
}

static void add_line(LashShape* shape, int edge, bool reversed, double au, double av, double bu,
                     double bv) {
    LashCoedge* e = shape->coedge + shape->coedges++;
    e->kind = LASH_LINE;
    e->edge = edge;
    e->reversed = reversed;
    e->a[0] = au;
    e->a[1] = av;
    e->b[0] = bu;
    e->b[1] = bv;
    ++shape->loop[shape->loops - 1].coedges;
}

static void add_circle(LashShape* shape, int edge, bool reversed, double r, double t0, double t1) {
    LashCoedge* e = shape->coedge + shape->coedges++;
    e->kind = LASH_CIRCLE;
    e->edge = edge;
    e->reversed = reversed;
    e->r = r;
    e->t0 = t0;
    e->t1 = t1;
    ++shape->loop[shape->loops - 1].coedges;
}

// The loop around the (u, v) box of a closed surface: low circle, seam, high circle, seam.
// low, high: edges, -1 for a pole.
static void tube_loop(LashShape* shape, LashFace* face, int low, int high) {
    begin_loop(shape, face);
    add_line(shape, low, false, face->u0, face->v0, face->u1, face->v0);
    add_line(shape, -1, false, face->u1, face->v0, face->u1, face->v1);
    add_line(shape, high, true, face->u1, face->v1, face->u0, face->v1);
    add_line(shape, -1, true, face->u0, face->v1, face->u0, face->v0);
}

static void circle_edge(LashShape* shape, int i, double z, double r, int left, int right,
                        LashConvexity convexity) {
    LashEdge* e = shape->edge + i;
    e->type = LASH_CIRCLE;
    e->origin = vec3(0, 0, z);
    e->x = vec3(1, 0, 0);
    e->y = vec3(0, 1, 0);
    e->z = vec3(0, 0, 1);
    e->radius = r;
    e->t0 = 0;
    e->t1 = 2 * LASH_PI;
    e->closed = true;
    e->face[0] = left;
    e->face[1] = right;
    e->vertex[0] = e->vertex[1] = -1;
    e->convexity = convexity;
    e->index = i;
    e->box = box_of(r, r, z, z);
}

// ---- mesh -------------------------------------------------------------------------------------

static int mesh_vertex(LashShape* shape, Vec3 p, Vec3 n) {
    int i = shape->mesh_vertices++;
    float* q = shape->mesh_point + 3 * (size_t)i;
    float* m = shape->mesh_normal + 3 * (size_t)i;
    q[0] = (float)p.x;
    q[1] = (float)p.y;
    q[2] = (float)p.z;
    m[0] = (float)n.x;
    m[1] = (float)n.y;
    m[2] = (float)n.z;
    return i;
}

static void mesh_triangle(LashShape* shape, int face, int a, int b, int c, bool flip) {
    int* t = shape->triangle + 3 * (size_t)shape->triangles;
    t[0] = a;
    t[1] = flip ? c : b;
    t[2] = flip ? b : c;
    shape->triangle_face[shape->triangles++] = face;
}

// A strip of revolution from (r0, z0) with normal (n0r, n0z) to (r1, z1) with (n1r, n1z).
static void mesh_strip(LashShape* shape, int face, const double from[4], const double to[4]) {
    int first = shape->mesh_vertices;
    for (int i = 0; i <= ROUND; ++i) {
        double c = cos(2 * LASH_PI * (i % ROUND) / ROUND);
        double d = sin(2 * LASH_PI * (i % ROUND) / ROUND);
        for (int k = 0; k < 2; ++k) {
            const double* q = k == 0 ? from : to;
            mesh_vertex(shape, vec3(q[0] * c, q[0] * d, q[1]), vec3(q[2] * c, q[2] * d, q[3]));
        }
    }
    // (dp/dangle) x (dp/dprofile) = (dz, -dr) in (r, z): counterclockwise from outside when along n
    bool flip = (to[1] - from[1]) * from[2] - (to[0] - from[0]) * from[3] < 0;
    for (int i = 0; i < ROUND; ++i) {
        int a = first + 2 * i;
        mesh_triangle(shape, face, a, a + 2, a + 1, flip);
        mesh_triangle(shape, face, a + 1, a + 2, a + 3, flip);
    }
}

static void mesh_cap(LashShape* shape, int face, double r, double z,
                     double sign) { // part of a sphere
    for (int i = 0; i < ARC; ++i) {
        double q[2][4];
        for (int k = 0; k < 2; ++k) {
            double v = 0.5 * LASH_PI * (i + k) / ARC, c = i + k == ARC ? 0 : cos(v), d = sin(v);
            q[k][0] = r * c;
            q[k][1] = z + sign * r * d;
            q[k][2] = c;
            q[k][3] = sign * d;
        }
        mesh_strip(shape, face, q[0], q[1]);
    }
}

static void mesh_line(LashShape* shape, Vec3 a, Vec3 b) {
    Vec3 p[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        float* q = shape->line_point + 3 * (size_t)shape->line_points;
        q[0] = (float)p[i].x;
        q[1] = (float)p[i].y;
        q[2] = (float)p[i].z;
        shape->line[2 * shape->lines + i] = shape->line_points++;
    }
    ++shape->lines;
}

static void mesh_circle(LashShape* shape, double r, double z) {
    for (int i = 0; i < ROUND; ++i) {
        double a = 2 * LASH_PI * i / ROUND, b = 2 * LASH_PI * ((i + 1) % ROUND) / ROUND;
        mesh_line(shape, vec3(r * cos(a), r * sin(a), z), vec3(r * cos(b), r * sin(b), z));
    }
}

static LashShape* finish(LashShape* shape, double volume, Mat3 inertia, LashBox box) {
    LashShapePart* part = shape->part;
    part->volume = volume;
    part->inertia = inertia;
    part->box = box;
    for (int i = 0; i < shape->faces; ++i) part->area += shape->face[i].area;
    part->faces = shape->faces;
    part->edges = shape->edges;
    part->vertices = shape->vertices;
    part->triangles = shape->triangles;
    part->lines = shape->lines;
    return shape;
}

// ---- shapes -----------------------------------------------------------------------------------

static double component(Vec3 a, int i) {
    if (i == 0) return a.x;
    return i == 1 ? a.y : a.z;
}

static Vec3 unit(int axis, double s) {
    return vec3(axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0);
}

// Vertex i has the signs of its bits (x lowest). Edge 4 k + j runs along axis k from vertex with
// bit k clear; j holds the bits of the other two axes, lower axis first.
static int box_edge_start(int axis, int j) {
    int p = axis == 0 ? 1 : 0, q = axis == 2 ? 1 : 2;
    return ((j & 1) << p) | ((j >> 1) << q);
}

static int box_edge_between(int v0, int v1, bool* reversed) {
    int axis = (v0 ^ v1) >> 1; // of 1, 2, 4
    *reversed = (v0 >> axis) & 1;
    int start = v0 & v1;
    for (int j = 0; j < 4; ++j)
        if (box_edge_start(axis, j) == start) return 4 * axis + j;
    return -1;
}

static Vec3 box_corner(Vec3 h, int i) {
    return vec3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
}

static void box_face(LashShape* shape, int i, Vec3 h) { // faces -x +x -y +y -z +z
    int k = i / 2, p = (k + 1) % 3, q = (k + 2) % 3;
    double sign = i % 2 ? 1 : -1;
    Vec3 n = unit(k, sign), x = unit(p, 1);
    LashFace* f = face_init(shape, i, LASH_PLANE, vec3_scale(component(h, k), n), n, x);
    double a = component(h, p), b = component(h, q); // y = n x x = sign * unit(q)
    range(f, -a, a, -b, b);
    f->area = 4 * a * b;
    f->reach = component(h, k);
    f->box.low = vec3_sub(f->origin, vec3_add(unit(p, a), unit(q, b)));
    f->box.high = vec3_add(f->origin, vec3_add(unit(p, a), unit(q, b)));
    begin_loop(shape, f);
    double u[4] = {-a, a, a, -a}, v[4] = {-b, -b, b, b};
    int corner[4], first = shape->mesh_vertices;
    for (int j = 0; j < 4; ++j) {
        corner[j] = (sign > 0) << k | (u[j] > 0) << p | (sign * v[j] > 0) << q;
        mesh_vertex(shape, box_corner(h, corner[j]), n);
    }
    mesh_triangle(shape, i, first, first + 1, first + 2, false);
    mesh_triangle(shape, i, first, first + 2, first + 3, false);
    for (int j = 0; j < 4; ++j) {
        int m = (j + 1) % 4;
        bool reversed;
        int edge = box_edge_between(corner[j], corner[m], &reversed);
        add_line(shape, edge, reversed, u[j], v[j], u[m], v[m]);
        shape->edge[edge].face[reversed ? 1 : 0] = i; // the face is on the left of its coedges
    }
}

LashShape* lash_shape_box(Vec3 size) {
    LASH_ASSERT(size.x > 0 && size.y > 0 && size.z > 0);
    Sizes n = {6, 6, 24, 12, 8, 24, 12, 12};
    LashShape* shape = shape_create(&n, "box");
    Vec3 h = vec3_scale(0.5, size);
    for (int i = 0; i < 12; ++i) {
        LashEdge* e = shape->edge + i;
        int k = i / 4, v0 = box_edge_start(k, i % 4), v1 = v0 | 1 << k;
        Vec3 a = box_corner(h, v0), b = box_corner(h, v1);
        e->type = LASH_LINE;
        e->origin = vec3_scale(0.5, vec3_add(a, b));
        e->z = unit(k, 1);
        e->x = unit((k + 1) % 3, 1);
        e->y = unit((k + 2) % 3, 1);
        e->t0 = -component(h, k);
        e->t1 = component(h, k);
        e->vertex[0] = v0;
        e->vertex[1] = v1;
        e->convexity = LASH_CONVEX;
        e->index = i;
        e->box.low = a;
        e->box.high = b;
        mesh_line(shape, a, b);
    }
    for (int i = 0; i < 8; ++i) {
        LashVertex* v = shape->vertex + i;
        v->point = box_corner(h, i);
        v->convexity = LASH_CONVEX;
        v->first_edge = shape->vertex_edges;
        v->edges = 3;
        for (int k = 0; k < 3; ++k) {
            bool reversed;
            shape->vertex_edge[shape->vertex_edges++] = box_edge_between(i, i ^ 1 << k, &reversed);
        }
    }
    for (int i = 0; i < 6; ++i) box_face(shape, i, h);
    double V = size.x * size.y * size.z, xx = size.x * size.x, yy = size.y * size.y,
           zz = size.z * size.z;
    LashBox box = {vec3_neg(h), h};
    return finish(shape, V,
                  mat3_diagonal(V / 12 * (yy + zz), V / 12 * (xx + zz), V / 12 * (xx + yy)), box);
}

// A flat end at z with normal sign z; edges by number, -1: no hole.
static void flat_end(LashShape* shape, int i, double z, double sign, double r, int edge,
                     double hole, int hole_edge) {
    LashFace* face =
        face_init(shape, i, LASH_PLANE, vec3(0, 0, z), vec3(0, 0, sign), vec3(1, 0, 0));
    range(face, -r, r, -r, r);
    face->area = LASH_PI * (r * r - hole * hole);
    face->box = box_of(r, r, z, z);
    face->reach = fabs(z);
    begin_loop(shape,
               face); // y = sign * world y: the edge runs the other way round on the lower end
    add_circle(shape, edge, sign < 0, r, 0, 2 * LASH_PI);
    if (hole_edge >= 0) {
        begin_loop(shape, face);
        add_circle(shape, hole_edge, sign > 0, hole, 2 * LASH_PI, 0);
    }
    double from[4] = {r, z, 0, sign}, to[4] = {hole, z, 0, sign};
    mesh_strip(shape, i, from, to);
}

static LashFace* tube(LashShape* shape, int i, double r, double h, double side, int low, int high) {
    LashFace* face = face_init(shape, i, LASH_CYLINDER, vec3_zero(), vec3(0, 0, 1), vec3(1, 0, 0));
    face->radius = r;
    face->side = side;
    face->reach = r;
    range(face, 0, 2 * LASH_PI, -h, h);
    face->area = 2 * LASH_PI * r * 2 * h;
    face->box = box_of(r, r, -h, h);
    tube_loop(shape, face, low, high);
    double from[4] = {r, -h, side, 0}, to[4] = {r, h, side, 0};
    mesh_strip(shape, i, from, to);
    return face;
}

LashShape* lash_shape_cylinder(double radius, double length) {
    LASH_ASSERT(radius > 0 && length > 0);
    Sizes n = {3, 3, 6, 2, 0, 6 * (ROUND + 1), 6 * ROUND, 2 * ROUND};
    LashShape* shape = shape_create(&n, "cylinder");
    double h = 0.5 * length, r = radius, V = LASH_PI * r * r * length;
    tube(shape, 0, r, h, 1, 0, 1);
    flat_end(shape, 1, -h, -1, r, 0, 0, -1);
    flat_end(shape, 2, h, 1, r, 1, 0, -1);
    circle_edge(shape, 0, -h, r, 0, 1, LASH_CONVEX);
    circle_edge(shape, 1, h, r, 2, 0, LASH_CONVEX);
    for (int i = 0; i < 2; ++i) mesh_circle(shape, r, i ? h : -h);
    double across = V * (3 * r * r + length * length) / 12;
    return finish(shape, V, mat3_diagonal(across, across, 0.5 * V * r * r), box_of(r, r, -h, h));
}

static void cap(LashShape* shape, int i, double r, double z, double sign, int edge) {
    LashFace* face = face_init(shape, i, LASH_SPHERE, vec3(0, 0, z), vec3(0, 0, 1), vec3(1, 0, 0));
    face->radius = face->reach = r;
    face->area = 2 * LASH_PI * r * r;
    face->box = sign > 0 ? box_of(r, r, z, z + r) : box_of(r, r, z - r, z);
    range(face, 0, 2 * LASH_PI, sign > 0 ? 0 : -0.5 * LASH_PI, sign > 0 ? 0.5 * LASH_PI : 0);
    tube_loop(shape, face, sign > 0 ? edge : -1, sign > 0 ? -1 : edge);
    mesh_cap(shape, i, r, z, sign);
}

LashShape* lash_shape_sphere(double radius) {
    LASH_ASSERT(radius > 0);
    Sizes n = {1, 0, 0, 0, 0, 4 * ARC * (ROUND + 1), 4 * ARC * ROUND, 0};
    LashShape* shape = shape_create(&n, "sphere");
    LashFace* face = face_init(shape, 0, LASH_SPHERE, vec3_zero(), vec3(0, 0, 1), vec3(1, 0, 0));
    double r = radius, V = 4 * LASH_PI / 3 * r * r * r;
    face->radius = face->reach = r;
    face->area = 4 * LASH_PI * r * r;
    face->box = box_of(r, r, -r, r);
    range(face, 0, 2 * LASH_PI, -0.5 * LASH_PI, 0.5 * LASH_PI);
    mesh_cap(shape, 0, r, 0, 1);
    mesh_cap(shape, 0, r, 0, -1);
    double i = 0.4 * V * r * r;
    return finish(shape, V, mat3_diagonal(i, i, i), face->box);
}

LashShape* lash_shape_capsule(double radius, double length) {
    LASH_ASSERT(radius > 0 && length > 0);
    Sizes n = {3, 3, 12, 2, 0, (2 + 4 * ARC) * (ROUND + 1), (2 + 4 * ARC) * ROUND, 2 * ROUND};
    LashShape* shape = shape_create(&n, "capsule");
    double h = 0.5 * length, r = radius, rr = r * r;
    tube(shape, 0, r, h, 1, 0, 1);
    cap(shape, 1, r, -h, -1, 0);
    cap(shape, 2, r, h, 1, 1);
    circle_edge(shape, 0, -h, r, 0, 1, LASH_SMOOTH);
    circle_edge(shape, 1, h, r, 2, 0, LASH_SMOOTH);
    for (int i = 0; i < 2; ++i) mesh_circle(shape, r, i ? h : -h);
    double C = LASH_PI * rr * length, B = 4 * LASH_PI / 3 * rr * r; // cylinder, both balls
    double axial = 0.5 * C * rr + 0.4 * B * rr;
    double across = C * (3 * rr + length * length) / 12 + B * (0.4 * rr + h * h + 0.75 * h * r);
    return finish(shape, C + B, mat3_diagonal(across, across, axial), box_of(r, r, -h - r, h + r));
}

LashShape* lash_shape_ring(double inner_radius, double outer_radius, double length) {
    LASH_ASSERT(inner_radius > 0 && outer_radius > inner_radius && length > 0);
    Sizes n = {4, 6, 12, 4, 0, 8 * (ROUND + 1), 8 * ROUND, 4 * ROUND};
    LashShape* shape = shape_create(&n, "ring");
    double h = 0.5 * length, r = outer_radius, q = inner_radius;
    tube(shape, 0, r, h, 1, 0, 1)->reach = 0.5 * (r - q);
    tube(shape, 1, q, h, -1, 2, 3)->reach = 0.5 * (r - q);
    flat_end(shape, 2, -h, -1, r, 0, q, 2);
    flat_end(shape, 3, h, 1, r, 1, q, 3);
    circle_edge(shape, 0, -h, r, 0, 2, LASH_CONVEX);
    circle_edge(shape, 1, h, r, 3, 0, LASH_CONVEX);
    circle_edge(shape, 2, -h, q, 2, 1, LASH_CONVEX);
    circle_edge(shape, 3, h, q, 1, 3, LASH_CONVEX);
    for (int i = 0; i < 4; ++i) mesh_circle(shape, i < 2 ? r : q, i % 2 ? h : -h);
    double V = LASH_PI * (r - q) * (r + q) * length, rr = r * r + q * q;
    double across = V * (3 * rr + length * length) / 12;
    return finish(shape, V, mat3_diagonal(across, across, 0.5 * V * rr), box_of(r, r, -h, h));
}

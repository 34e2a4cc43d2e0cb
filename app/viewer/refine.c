// Edges of triangles are divided where their middle m is farther from the surface than the tolerance:
//
//     plane       q = m
//     cylinder    q = a + r (m - a) / |m - a|,  a: foot of m on the axis; cone, torus, sphere alike
//
// An edge between two faces, named by the places of its ends, is divided in both at the same place q,
// which lies on both (nearest points in turn), and so is the outline that runs along it: no crack
// opens. A triangle with one, two or three divided edges becomes two, three or four; the passes end
// when no edge is divided. Edges of freeform faces stay as they are.
#include "app/viewer/refine.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

enum { PASSES = 10, TURNS = 3 };

typedef struct Place { // of a vertex, bit for bit: faces that meet have the same
    uint32_t x, y, z;
} Place;

typedef struct Edge {
    Place a, b;  // a before b
    int face[2]; // that it belongs to; -1: none, or more than two
    Vec3 middle; // on the surface
    bool used, divided;
} Edge;

typedef struct Table { // of edges, by their ends; open addressing
    Edge* edge;
    size_t size; // a power of two
} Table;

static Place place_of(const float* point) {
    Place place;
    float p[3];
    for (int i = 0; i < 3; ++i) p[i] = point[i] == 0 ? 0 : point[i]; // -0 is 0
    memcpy(&place, p, sizeof place);
    return place;
}

static uint64_t mix(uint64_t h, Place p) {
    const uint32_t bits[3] = {p.x, p.y, p.z};
    for (int i = 0; i < 3; ++i) h = (h ^ bits[i]) * 0x9e3779b97f4a7c15u ^ (h >> 29);
    return h;
}

// The edge between two places; a new one is not `used`.
static Edge* find_edge(const Table* table, const float* p, const float* q) {
    Place a = place_of(p), b = place_of(q);
    if (memcmp(&a, &b, sizeof a) > 0) {
        Place swap = a;
        a = b;
        b = swap;
    }
    size_t at = (size_t)mix(mix(1, a), b) & (table->size - 1);
    for (; table->edge[at].used; at = (at + 1) & (table->size - 1)) {
        Edge* edge = &table->edge[at];
        if (memcmp(&edge->a, &a, sizeof a) == 0 && memcmp(&edge->b, &b, sizeof b) == 0) return edge;
    }
    table->edge[at].a = a;
    table->edge[at].b = b;
    return &table->edge[at];
}

static Vec3 load(const float* p) {
    return vec3((double)p[0], (double)p[1], (double)p[2]);
}

static void store(Vec3 a, float* p) {
    p[0] = (float)a.x;
    p[1] = (float)a.y;
    p[2] = (float)a.z;
}

static bool is_round(const LashFace* face) {
    return face->type == LASH_CYLINDER || face->type == LASH_CONE || face->type == LASH_SPHERE ||
           face->type == LASH_TORUS;
}

// Nearest point of an elementary surface, and its outward normal.
static Vec3 on_surface(const LashFace* face, Vec3 p, Vec3* normal) {
    Vec3 d = vec3_sub(p, face->origin);
    double along = vec3_dot(d, face->z);
    Vec3 across = vec3_add_scaled(d, -along, face->z);
    double radius = vec3_norm(across);
    Vec3 radial = radius > 0 ? vec3_scale(1 / radius, across) : face->x;
    Vec3 foot = p, n = face->z;
    if (face->type == LASH_CYLINDER) {
        n = radial;
        foot = vec3_add_scaled(p, face->radius - radius, n);
    } else if (face->type == LASH_CONE) { // n = cos a radial - sin a z
        double c = cos(face->half_angle), s = sin(face->half_angle);
        n = vec3_add_scaled(vec3_scale(c, radial), -s, face->z);
        foot = vec3_add_scaled(p, -(c * (radius - face->radius) - s * along), n);
    } else if (face->type == LASH_SPHERE) {
        double size = vec3_norm(d);
        n = size > 0 ? vec3_scale(1 / size, d) : face->z;
        foot = vec3_add_scaled(face->origin, face->radius, n);
    } else if (face->type == LASH_TORUS) {
        Vec3 tube = vec3_add_scaled(face->origin, face->radius, radial), away = vec3_sub(p, tube);
        double size = vec3_norm(away);
        n = size > 0 ? vec3_scale(1 / size, away) : face->z;
        foot = vec3_add_scaled(tube, face->radius2, n);
    } else if (face->type == LASH_PLANE) {
        foot = vec3_add_scaled(p, -along, face->z);
    }
    *normal = vec3_scale(face->side, n);
    return foot;
}

// Middle of the edge on its faces; its distance from the chord.
static double bulge(const LashShape* shape, const float* p, const float* q, Edge* edge) {
    Vec3 a = load(p), b = load(q), chord = vec3_scale(0.5, vec3_add(a, b)), m = chord, normal;
    bool round = false;
    for (int k = 0; k < 2; ++k) {
        if (edge->face[k] < 0) continue;
        const LashFace* face = &shape->face[edge->face[k]];
        if (face->type == LASH_FREEFORM) return 0;
        round = round || is_round(face);
    }
    if (!round) return 0;
    for (int turn = 0; turn < TURNS; ++turn) {
        for (int k = 0; k < 2; ++k)
            if (edge->face[k] >= 0) m = on_surface(&shape->face[edge->face[k]], m, &normal);
    }
    edge->middle = m;
    double away = vec3_distance(m, chord), length = vec3_distance(a, b);
    return away < 0.6 * length ? away : 0; // beyond a half circle: not this piece of the surface
}

// ---- passes -------------------------------------------------------------------------------------

static Table edges_of(const ViewMesh* mesh) {
    Table table = {.size = 64};
    while (table.size < 6 * (size_t)mesh->triangles) table.size *= 2;
    table.edge = lash_alloc(table.size * sizeof *table.edge);
    for (int i = 0; i < 3 * mesh->triangles; ++i) {
        int next = i % 3 == 2 ? i - 2 : i + 1, face = mesh->face[i / 3];
        const float* p = mesh->point + 3 * (size_t)mesh->triangle[i];
        const float* q = mesh->point + 3 * (size_t)mesh->triangle[next];
        Edge* edge = find_edge(&table, p, q);
        if (!edge->used) {
            edge->used = true;
            edge->face[0] = face;
            edge->face[1] = -1;
        } else if (edge->face[0] != face && edge->face[1] < 0) {
            edge->face[1] = face;
        }
    }
    return table;
}

// Marks what is to be divided; returns how many edges.
static int mark(const LashShape* shape, const ViewMesh* mesh, const Table* table,
                double tolerance) {
    int count = 0;
    for (int i = 0; i < 3 * mesh->triangles; ++i) {
        int next = i % 3 == 2 ? i - 2 : i + 1;
        const float* p = mesh->point + 3 * (size_t)mesh->triangle[i];
        const float* q = mesh->point + 3 * (size_t)mesh->triangle[next];
        Edge* edge = find_edge(table, p, q);
        if (edge->divided || !(bulge(shape, p, q, edge) > tolerance)) continue;
        edge->divided = true;
        ++count;
    }
    return count;
}

static int add_vertex(const LashShape* shape, ViewMesh* mesh, const Edge* edge, int face, int a,
                      int b) {
    int v = mesh->vertices++;
    Vec3 normal = vec3_add(load(mesh->normal + 3 * (size_t)a), load(mesh->normal + 3 * (size_t)b));
    if (is_round(&shape->face[face])) on_surface(&shape->face[face], edge->middle, &normal);
    store(edge->middle, mesh->point + 3 * (size_t)v);
    double size = vec3_norm(normal);
    if (size > 0) normal = vec3_scale(1 / size, normal);
    store(normal, mesh->normal + 3 * (size_t)v);
    return v;
}

static void put_triangle(ViewMesh* mesh, int face, int a, int b, int c) {
    int* t = mesh->triangle + 3 * (size_t)mesh->triangles;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    mesh->face[mesh->triangles++] = face;
}

// Corners v and middles m of their edges (v[k], v[k+1]), -1: not divided; k: the first that is.
static void put_pieces(ViewMesh* mesh, int face, const int v[3], const int m[3]) {
    int count = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0), k = 0;
    if (count == 0) put_triangle(mesh, face, v[0], v[1], v[2]);
    if (count == 1) {
        while (m[k] < 0) ++k;
        int a = v[k], b = v[(k + 1) % 3], c = v[(k + 2) % 3];
        put_triangle(mesh, face, a, m[k], c);
        put_triangle(mesh, face, m[k], b, c);
    }
    if (count == 2) {
        while (m[(k + 2) % 3] >= 0) ++k; // edges k and k + 1 are divided
        k %= 3;
        int a = v[k], b = v[(k + 1) % 3], c = v[(k + 2) % 3], ab = m[k], bc = m[(k + 1) % 3];
        put_triangle(mesh, face, ab, b, bc);
        put_triangle(mesh, face, a, ab, bc);
        put_triangle(mesh, face, a, bc, c);
    }
    if (count == 3) {
        put_triangle(mesh, face, v[0], m[0], m[2]);
        put_triangle(mesh, face, m[0], v[1], m[1]);
        put_triangle(mesh, face, m[2], m[1], v[2]);
        put_triangle(mesh, face, m[0], m[1], m[2]);
    }
}

static void grow(ViewMesh* mesh, int edges, int triangles) {
    size_t v = (size_t)mesh->vertices + (size_t)edges, t = (size_t)triangles;
    mesh->point = lash_realloc(mesh->point, 3 * v * sizeof(float));
    mesh->normal = lash_realloc(mesh->normal, 3 * v * sizeof(float));
    mesh->triangle = lash_alloc(3 * t * sizeof(int));
    mesh->face = lash_alloc(t * sizeof(int));
}

static void divide(const LashShape* shape, ViewMesh* mesh, const Table* table) {
    int *triangle = mesh->triangle, *face = mesh->face, count = mesh->triangles, extra = 0;
    for (int i = 0; i < 3 * count; ++i) {
        int next = i % 3 == 2 ? i - 2 : i + 1;
        extra += find_edge(table, mesh->point + 3 * (size_t)triangle[i],
                           mesh->point + 3 * (size_t)triangle[next])
                     ->divided;
    }
    grow(mesh, extra, count + extra);
    mesh->triangles = 0;
    for (int i = 0; i < count; ++i) {
        const int* v = triangle + 3 * (size_t)i;
        int m[3];
        for (int k = 0; k < 3; ++k) {
            int a = v[k], b = v[(k + 1) % 3];
            const Edge* edge =
                find_edge(table, mesh->point + 3 * (size_t)a, mesh->point + 3 * (size_t)b);
            m[k] = edge->divided ? add_vertex(shape, mesh, edge, face[i], a, b) : -1;
        }
        put_pieces(mesh, face[i], v, m);
    }
    lash_free(triangle);
    lash_free(face);
}

static void divide_lines(ViewMesh* mesh, const Table* table) {
    int count = mesh->lines;
    mesh->line = lash_realloc(mesh->line, 4 * (size_t)(count + 1) * sizeof(int));
    size_t points = (size_t)mesh->line_points + (size_t)count + 1;
    mesh->line_point = lash_realloc(mesh->line_point, 3 * points * sizeof(float));
    for (int i = 0; i < count; ++i) {
        int* line = mesh->line + 2 * (size_t)i;
        const Edge* edge = find_edge(table, mesh->line_point + 3 * (size_t)line[0],
                                     mesh->line_point + 3 * (size_t)line[1]);
        if (!edge->used || !edge->divided) continue;
        int middle = mesh->line_points++, *other = mesh->line + 2 * (size_t)mesh->lines++;
        store(edge->middle, mesh->line_point + 3 * (size_t)middle);
        other[0] = middle;
        other[1] = line[1];
        line[1] = middle;
    }
}

static void* copy_of(const void* data, size_t bytes) {
    void* copy = lash_alloc(bytes + 1);
    if (bytes > 0) memcpy(copy, data, bytes);
    return copy;
}

static ViewMesh mesh_of(const LashShape* shape) {
    size_t v = (size_t)shape->mesh_vertices, t = (size_t)shape->triangles,
           p = (size_t)shape->line_points, n = (size_t)shape->lines;
    return (ViewMesh){.point = copy_of(shape->mesh_point, 3 * v * sizeof(float)),
                      .normal = copy_of(shape->mesh_normal, 3 * v * sizeof(float)),
                      .triangle = copy_of(shape->triangle, 3 * t * sizeof(int)),
                      .face = copy_of(shape->triangle_face, t * sizeof(int)),
                      .line_point = copy_of(shape->line_point, 3 * p * sizeof(float)),
                      .line = copy_of(shape->line, 2 * n * sizeof(int)),
                      .vertices = shape->mesh_vertices,
                      .triangles = shape->triangles,
                      .line_points = shape->line_points,
                      .lines = shape->lines};
}

ViewMesh view_mesh_refine(const LashShape* shape, double tolerance, int most) {
    ViewMesh mesh = mesh_of(shape);
    for (int pass = 0; pass < PASSES && 4 * (int64_t)mesh.triangles < most; ++pass) {
        Table table = edges_of(&mesh);
        int divided = mark(shape, &mesh, &table, tolerance);
        if (divided > 0) {
            divide_lines(&mesh, &table);
            divide(shape, &mesh, &table);
        }
        lash_free(table.edge);
        if (divided == 0) break;
    }
    return mesh;
}

void view_mesh_free(ViewMesh* mesh) {
    lash_free(mesh->point);
    lash_free(mesh->normal);
    lash_free(mesh->triangle);
    lash_free(mesh->face);
    lash_free(mesh->line_point);
    lash_free(mesh->line);
    *mesh = (ViewMesh){0};
}

double view_mesh_deviation(const LashShape* shape) {
    ViewMesh mesh = {.point = shape->mesh_point,
                     .triangle = shape->triangle,
                     .face = shape->triangle_face,
                     .triangles = shape->triangles};
    Table table = edges_of(&mesh);
    double most = 0;
    for (int i = 0; i < 3 * mesh.triangles; ++i) {
        int next = i % 3 == 2 ? i - 2 : i + 1;
        const float* p = mesh.point + 3 * (size_t)mesh.triangle[i];
        const float* q = mesh.point + 3 * (size_t)mesh.triangle[next];
        most = fmax(most, bulge(shape, p, q, find_edge(&table, p, q)));
    }
    lash_free(table.edge);
    return most;
}

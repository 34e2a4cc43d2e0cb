// Plane faces that look at each other: do they overlap when one is seen through the other?
//
// Boxes are not enough: the bottom of a blind hole and a plate beside the hole have boxes that
// meet. The viewing mesh of a plane face is exact but for its curved edges; two faces overlap when
// two of their triangles do, by more than the mesh is coarse.
#include <math.h>
#include <stdlib.h>

#include "app/draft/draft.h"
#include "core/arena.h"
#include "core/math3.h"

static const double COARSE =
    0.01; // of the smaller face's size: what curved edges of a mesh are off

// Rows of triangles by face: draft->triangle[first .. first of the next face].
void draft_index_triangles(Draft* draft) {
    const LashShape* shape = draft->shape;
    draft->first_triangle = lash_alloc(((size_t)shape->faces + 2) * sizeof(int));
    draft->triangle = lash_alloc(((size_t)shape->triangles + 1) * sizeof(int));
    int* first = draft->first_triangle;
    for (int i = 0; i < shape->triangles; ++i) ++first[shape->triangle_face[i] + 1];
    for (int f = 0; f < shape->faces; ++f) first[f + 1] += first[f];
    int* next = lash_alloc(((size_t)shape->faces + 1) * sizeof(int));
    for (int f = 0; f < shape->faces; ++f) next[f] = first[f];
    for (int i = 0; i < shape->triangles; ++i) draft->triangle[next[shape->triangle_face[i]]++] = i;
    lash_free(next);
}

typedef struct Flat { // a triangle in the plane
    double p[3][2];
    double low[2], high[2];
} Flat;

static Flat flatten(const LashShape* shape, int triangle, Vec3 x, Vec3 y) {
    Flat flat;
    for (int k = 0; k < 3; ++k) {
        const float* q = shape->mesh_point + 3 * (size_t)shape->triangle[3 * (size_t)triangle + k];
        Vec3 p = vec3(q[0], q[1], q[2]);
        flat.p[k][0] = vec3_dot(p, x);
        flat.p[k][1] = vec3_dot(p, y);
    }
    for (int c = 0; c < 2; ++c) {
        flat.low[c] = fmin(flat.p[0][c], fmin(flat.p[1][c], flat.p[2][c]));
        flat.high[c] = fmax(flat.p[0][c], fmax(flat.p[1][c], flat.p[2][c]));
    }
    return flat;
}

// Is there an edge of `a` beyond which all of `b` lies, but for the margin?
static bool separated(const Flat* a, const Flat* b, double margin) {
    for (int k = 0; k < 3; ++k) {
        const double *p = a->p[k], *q = a->p[(k + 1) % 3], *r = a->p[(k + 2) % 3];
        double nx = q[1] - p[1], ny = p[0] - q[0], size = hypot(nx, ny);
        if (!(size > 0)) return true; // no area
        double inside = nx * (r[0] - p[0]) + ny * (r[1] - p[1]);
        double sense = inside < 0 ? -1 : 1, most = -INFINITY;
        for (int m = 0; m < 3; ++m)
            most = fmax(most, sense * (nx * (b->p[m][0] - p[0]) + ny * (b->p[m][1] - p[1])) / size);
        if (most <= margin) return true;
    }
    return false;
}

static double size_of(const LashBox* box) {
    return vec3_norm(vec3_sub(box->high, box->low));
}

bool draft_planes_overlap(const Draft* draft, const DraftPlane* a, const DraftPlane* b) {
    const LashShape* shape = draft->shape;
    double margin = COARSE * fmin(size_of(&a->box), size_of(&b->box));
    Vec3 x = fabs(a->normal.x) < 0.9 ? vec3(1, 0, 0) : vec3(0, 1, 0);
    x = vec3_normalize(vec3_cross(a->normal, x));
    Vec3 y = vec3_cross(a->normal, x);
    const int* first = draft->first_triangle;
    for (int i = first[a->face]; i < first[a->face + 1]; ++i) {
        Flat p = flatten(shape, draft->triangle[i], x, y);
        for (int k = first[b->face]; k < first[b->face + 1]; ++k) {
            Flat q = flatten(shape, draft->triangle[k], x, y);
            bool apart = p.high[0] <= q.low[0] + margin || q.high[0] <= p.low[0] + margin ||
                         p.high[1] <= q.low[1] + margin || q.high[1] <= p.low[1] + margin;
            if (!apart && !separated(&p, &q, margin) && !separated(&q, &p, margin)) return true;
        }
    }
    return false;
}

static int by_body(const void* left, const void* right) {
    const DraftPlane *a = left, *b = right;
    if (a->body != b->body) return a->body < b->body ? -1 : 1;
    return (a->face > b->face) - (a->face < b->face);
}

// After welding: planes of one body stand together.
void draft_sort_planes(Draft* draft) {
    for (int i = 0; i < draft->planes; ++i)
        draft->plane[i].body = draft->part[draft->plane[i].part].body;
    qsort(draft->plane, (size_t)draft->planes, sizeof *draft->plane, by_body);
    for (int i = 0; i < draft->planes; ++i) {
        DraftBody* body = &draft->body[draft->plane[i].body];
        if (body->planes++ == 0) body->first_plane = i;
    }
}

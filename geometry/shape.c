// Shapes: one block of memory, freed as one; and the check that confines every index to its table.
//
// A shape comes from another program or from a cache on disk. After lash_shape_check no loop over
// its tables can leave them, whatever the bytes were.
#include "geometry/shape.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "geometry/solid.h"

void lash_shape_destroy(LashShape* shape) {
    if (shape == NULL) return;
    lash_shape_solids_destroy(shape);
    lash_free(shape->memory);
    lash_free(shape);
}

// [first, first + count) lies in [0, size)
static bool range_ok(int first, int count, int size) {
    return first >= 0 && count >= 0 && count <= size && first <= size - count;
}

static bool index_ok(int index, int size) {
    return index >= 0 && index < size;
}

static bool index_or_none(int index, int size) {
    return index >= -1 && index < size;
}

// A bool read from a file may hold any byte; looking at it as a bool would be undefined.
static bool bool_ok(const bool* value) {
    return *(const unsigned char*)value <= 1;
}

static bool finite3(Vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static bool box_ok(const LashBox* box) {
    return finite3(box->low) && finite3(box->high);
}

enum { MAX_DEGREE = 25 }; // of OpenCASCADE's B-splines

static bool patches_ok(const LashShape* s, const LashFace* f) {
    if (f->type != LASH_FREEFORM) return true;
    if (f->u_patches < 1 || f->v_patches < 1 || f->u_patches > s->patches / f->v_patches)
        return false;
    return range_ok(f->first_patch, f->u_patches * f->v_patches, s->patches);
}

static bool color_ok(const float c[4]) {
    for (int i = 0; i < 4; ++i)
        if (!(c[i] >= 0 && c[i] <= 1)) return false;
    return true;
}

static bool face_ok(const LashShape* s, const LashFace* f) {
    return (unsigned)f->type <= LASH_FREEFORM && finite3(f->origin) && finite3(f->x) &&
           finite3(f->y) && finite3(f->z) && isfinite(f->radius) && isfinite(f->radius2) &&
           isfinite(f->half_angle) && fabs(f->side) == 1 && f->u0 <= f->u1 && f->v0 <= f->v1 &&
           isfinite(f->u1 - f->u0) && isfinite(f->v1 - f->v0) && bool_ok(&f->u_closed) &&
           bool_ok(&f->v_closed) && range_ok(f->first_loop, f->loops, s->loops) &&
           patches_ok(s, f) && index_ok(f->part, s->parts) && index_ok(f->name, s->string_bytes) &&
           color_ok(f->color) && box_ok(&f->box) && isfinite(f->area) && f->deviation >= 0 &&
           f->reach >= 0;
}

static bool coedge_ok(const LashShape* s, const LashCoedge* c) {
    if ((unsigned)c->kind > LASH_FREE_CURVE || !index_or_none(c->edge, s->edges) ||
        !bool_ok(&c->reversed) || !isfinite(c->t0) || !isfinite(c->t1))
        return false;
    if (c->kind != LASH_FREE_CURVE) return true;
    return index_ok(c->degree, MAX_DEGREE + 1) &&
           range_ok(c->first_pole, c->degree + 1, s->uv_poles);
}

static bool edge_ok(const LashShape* s, const LashEdge* e) {
    return (unsigned)e->type <= LASH_FREE_CURVE && finite3(e->origin) && finite3(e->x) &&
           finite3(e->y) && finite3(e->z) && isfinite(e->radius) && isfinite(e->t0) &&
           isfinite(e->t1) && bool_ok(&e->closed) && index_or_none(e->face[0], s->faces) &&
           index_or_none(e->face[1], s->faces) && index_or_none(e->vertex[0], s->vertices) &&
           index_or_none(e->vertex[1], s->vertices) &&
           range_ok(e->first_segment, e->segments, s->segments) &&
           (e->type != LASH_FREE_CURVE || e->segments > 0) && (unsigned)e->convexity <= LASH_FREE &&
           index_ok(e->part, s->parts) && index_ok(e->name, s->string_bytes) && box_ok(&e->box);
}

static bool part_ok(const LashShape* s, const LashShapePart* p) {
    return index_ok(p->name, s->string_bytes) && index_or_none(p->parent, s->parts) &&
           bool_ok(&p->assembly) && bool_ok(&p->closed) && bool_ok(&p->valid) &&
           bool_ok(&p->inward) && finite3(p->center) && isfinite(p->volume) &&
           range_ok(p->first_face, p->faces, s->faces) &&
           range_ok(p->first_edge, p->edges, s->edges) &&
           range_ok(p->first_vertex, p->vertices, s->vertices) &&
           range_ok(p->first_triangle, p->triangles, s->triangles) &&
           range_ok(p->first_line, p->lines, s->lines) && box_ok(&p->box);
}

static bool indices_ok(const int* index, size_t count, int size) {
    for (size_t i = 0; i < count; ++i)
        if (!index_ok(index[i], size)) return false;
    return true;
}

static bool damaged(LashError* error, const char* table, int row) {
    return lash_error_set(error, LASH_ERROR_CAD, "shape", "row %d of table %s is damaged", row,
                          table);
}

static bool curves_ok(const LashShape* s, LashError* error) {
    for (int i = 0; i < s->patches; ++i) {
        const LashPatch* p = &s->patch[i];
        if (!index_ok(p->u_degree, MAX_DEGREE + 1) || !index_ok(p->v_degree, MAX_DEGREE + 1) ||
            !range_ok(p->first_pole, (p->u_degree + 1) * (p->v_degree + 1), s->poles))
            return damaged(error, "patch", i);
    }
    for (int i = 0; i < s->segments; ++i) {
        const LashSegment* g = &s->segment[i];
        if (!index_ok(g->degree, MAX_DEGREE + 1) ||
            !range_ok(g->first_pole, g->degree + 1, s->poles))
            return damaged(error, "segment", i);
    }
    for (int i = 0; i < s->loops; ++i)
        if (!range_ok(s->loop[i].first_coedge, s->loop[i].coedges, s->coedges))
            return damaged(error, "loop", i);
    for (int i = 0; i < s->coedges; ++i)
        if (!coedge_ok(s, &s->coedge[i])) return damaged(error, "coedge", i);
    return true;
}

bool lash_shape_check(const LashShape* s, LashError* error) {
    if (s->string_bytes < 1 || s->string[0] != '\0' || s->string[s->string_bytes - 1] != '\0' ||
        !index_ok(s->warnings, s->string_bytes) || !(s->scale > 0) || !isfinite(s->scale))
        return damaged(error, "string", 0);
    for (int i = 0; i < s->parts; ++i)
        if (!part_ok(s, &s->part[i]) || s->part[i].parent >= i) return damaged(error, "part", i);
    for (int i = 0; i < s->faces; ++i)
        if (!face_ok(s, &s->face[i])) return damaged(error, "face", i);
    for (int i = 0; i < s->edges; ++i)
        if (!edge_ok(s, &s->edge[i])) return damaged(error, "edge", i);
    for (int i = 0; i < s->vertices; ++i) {
        const LashVertex* v = &s->vertex[i];
        if (!finite3(v->point) || !range_ok(v->first_edge, v->edges, s->vertex_edges) ||
            (unsigned)v->convexity > LASH_FREE || !index_ok(v->part, s->parts))
            return damaged(error, "vertex", i);
    }
    if (!curves_ok(s, error)) return false;
    if (!indices_ok(s->vertex_edge, (size_t)s->vertex_edges, s->edges))
        return damaged(error, "vertex_edge", 0);
    if (!indices_ok(s->triangle, 3 * (size_t)s->triangles, s->mesh_vertices) ||
        !indices_ok(s->triangle_face, (size_t)s->triangles, s->faces))
        return damaged(error, "triangle", 0);
    if (!indices_ok(s->line, 2 * (size_t)s->lines, s->line_points))
        return damaged(error, "line", 0);
    return true;
}

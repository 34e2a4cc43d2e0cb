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

static bool patches_ok(const LashShape* shape, const LashFace* face) {
    if (face->type != LASH_FREEFORM) return true;
    if (face->u_patches < 1 || face->v_patches < 1 ||
        face->u_patches > shape->patches / face->v_patches)
        return false;
    return range_ok(face->first_patch, face->u_patches * face->v_patches, shape->patches);
}

static bool color_ok(const float c[4]) {
    for (int i = 0; i < 4; ++i)
        if (!(c[i] >= 0 && c[i] <= 1)) return false;
    return true;
}

static bool face_ok(const LashShape* shape, const LashFace* face) {
    return (unsigned)face->type <= LASH_FREEFORM && finite3(face->origin) && finite3(face->x) &&
           finite3(face->y) && finite3(face->z) && isfinite(face->radius) &&
           isfinite(face->radius2) && isfinite(face->half_angle) && fabs(face->side) == 1 &&
           face->u0 <= face->u1 && face->v0 <= face->v1 && isfinite(face->u1 - face->u0) &&
           isfinite(face->v1 - face->v0) && bool_ok(&face->u_closed) && bool_ok(&face->v_closed) &&
           range_ok(face->first_loop, face->loops, shape->loops) && patches_ok(shape, face) &&
           index_ok(face->part, shape->parts) && index_ok(face->name, shape->string_bytes) &&
           color_ok(face->color) && box_ok(&face->box) && isfinite(face->area) &&
           face->deviation >= 0 && face->reach >= 0;
}

static bool coedge_ok(const LashShape* shape, const LashCoedge* coedge) {
    if ((unsigned)coedge->kind > LASH_FREE_CURVE || !index_or_none(coedge->edge, shape->edges) ||
        !bool_ok(&coedge->reversed) || !isfinite(coedge->t0) || !isfinite(coedge->t1))
        return false;
    if (coedge->kind != LASH_FREE_CURVE) return true;
    return index_ok(coedge->degree, MAX_DEGREE + 1) &&
           range_ok(coedge->first_pole, coedge->degree + 1, shape->uv_poles);
}

static bool edge_ok(const LashShape* shape, const LashEdge* edge) {
    return (unsigned)edge->type <= LASH_FREE_CURVE && finite3(edge->origin) && finite3(edge->x) &&
           finite3(edge->y) && finite3(edge->z) && isfinite(edge->radius) && isfinite(edge->t0) &&
           isfinite(edge->t1) && bool_ok(&edge->closed) &&
           index_or_none(edge->face[0], shape->faces) &&
           index_or_none(edge->face[1], shape->faces) &&
           index_or_none(edge->vertex[0], shape->vertices) &&
           index_or_none(edge->vertex[1], shape->vertices) &&
           range_ok(edge->first_segment, edge->segments, shape->segments) &&
           (edge->type != LASH_FREE_CURVE || edge->segments > 0) &&
           (unsigned)edge->convexity <= LASH_FREE && index_ok(edge->part, shape->parts) &&
           index_ok(edge->name, shape->string_bytes) && box_ok(&edge->box);
}

static bool part_ok(const LashShape* shape, const LashShapePart* part) {
    return index_ok(part->name, shape->string_bytes) &&
           index_ok(part->material, shape->string_bytes) && isfinite(part->density) &&
           part->density >= 0 && index_or_none(part->parent, shape->parts) &&
           bool_ok(&part->assembly) && bool_ok(&part->closed) && bool_ok(&part->valid) &&
           bool_ok(&part->inward) && finite3(part->center) && isfinite(part->volume) &&
           range_ok(part->first_face, part->faces, shape->faces) &&
           range_ok(part->first_edge, part->edges, shape->edges) &&
           range_ok(part->first_vertex, part->vertices, shape->vertices) &&
           range_ok(part->first_triangle, part->triangles, shape->triangles) &&
           range_ok(part->first_line, part->lines, shape->lines) && box_ok(&part->box);
}

static bool size_ok(const LashShape* shape, const LashSize* size) {
    bool limits = isnan(size->lower) ? isnan(size->upper) : size->lower <= size->upper;
    return (unsigned)size->kind <= LASH_SIZE_OTHER && index_ok(size->part, shape->parts) &&
           index_ok(size->face, shape->faces) && index_or_none(size->face2, shape->faces) &&
           isfinite(size->nominal) && !isinf(size->stated) && !isinf(size->lower) &&
           !isinf(size->upper) && limits && index_ok(size->class_name, shape->string_bytes) &&
           index_ok(size->note, shape->string_bytes);
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

static bool curves_ok(const LashShape* shape, LashError* error) {
    for (int i = 0; i < shape->patches; ++i) {
        const LashPatch* p = &shape->patch[i];
        if (!index_ok(p->u_degree, MAX_DEGREE + 1) || !index_ok(p->v_degree, MAX_DEGREE + 1) ||
            !range_ok(p->first_pole, (p->u_degree + 1) * (p->v_degree + 1), shape->poles))
            return damaged(error, "patch", i);
    }
    for (int i = 0; i < shape->segments; ++i) {
        const LashSegment* g = &shape->segment[i];
        if (!index_ok(g->degree, MAX_DEGREE + 1) ||
            !range_ok(g->first_pole, g->degree + 1, shape->poles))
            return damaged(error, "segment", i);
    }
    for (int i = 0; i < shape->loops; ++i)
        if (!range_ok(shape->loop[i].first_coedge, shape->loop[i].coedges, shape->coedges))
            return damaged(error, "loop", i);
    for (int i = 0; i < shape->coedges; ++i)
        if (!coedge_ok(shape, &shape->coedge[i])) return damaged(error, "coedge", i);
    return true;
}

bool lash_shape_check(const LashShape* shape, LashError* error) {
    if (shape->string_bytes < 1 || shape->string[0] != '\0' ||
        shape->string[shape->string_bytes - 1] != '\0' ||
        !index_ok(shape->warnings, shape->string_bytes) || !(shape->scale > 0) ||
        !isfinite(shape->scale))
        return damaged(error, "string", 0);
    for (int i = 0; i < shape->parts; ++i)
        if (!part_ok(shape, &shape->part[i]) || shape->part[i].parent >= i)
            return damaged(error, "part", i);
    for (int i = 0; i < shape->faces; ++i)
        if (!face_ok(shape, &shape->face[i])) return damaged(error, "face", i);
    for (int i = 0; i < shape->edges; ++i)
        if (!edge_ok(shape, &shape->edge[i])) return damaged(error, "edge", i);
    for (int i = 0; i < shape->vertices; ++i) {
        const LashVertex* v = &shape->vertex[i];
        if (!finite3(v->point) || !range_ok(v->first_edge, v->edges, shape->vertex_edges) ||
            (unsigned)v->convexity > LASH_FREE || !index_ok(v->part, shape->parts))
            return damaged(error, "vertex", i);
    }
    for (int i = 0; i < shape->sizes; ++i)
        if (!size_ok(shape, &shape->size[i])) return damaged(error, "size", i);
    if (!curves_ok(shape, error)) return false;
    if (!indices_ok(shape->vertex_edge, (size_t)shape->vertex_edges, shape->edges))
        return damaged(error, "vertex_edge", 0);
    if (!indices_ok(shape->triangle, 3 * (size_t)shape->triangles, shape->mesh_vertices) ||
        !indices_ok(shape->triangle_face, (size_t)shape->triangles, shape->faces))
        return damaged(error, "triangle", 0);
    if (!indices_ok(shape->line, 2 * (size_t)shape->lines, shape->line_points))
        return damaged(error, "line", 0);
    return true;
}

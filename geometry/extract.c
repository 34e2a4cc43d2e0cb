// Copies the rows of the chosen parts and all rows that they refer to; every index is that of the
// copy. The same walk runs twice: it counts, then it copies.
#include "geometry/extract.h"

#include <string.h>

#include "core/arena.h"
#include "core/error.h"

typedef struct Extract {
    const LashShape* from;
    LashShape* to;   // its counts grow as rows are taken
    bool copies;     // second walk
    uint8_t* wanted; // (parts of from)
    int *part, *face, *edge, *vertex, *corner,
        *end; // new rows, -1: not taken; corner, end: of meshes
} Extract;

static void* carve(char* memory, size_t* used, int count, size_t size) {
    void* p = memory == NULL ? NULL : memory + *used;
    *used += ((size_t)count * size + 63) / 64 * 64;
    return p;
}

// Memory for the rows that the first walk counted.
static void make_room(LashShape* s) {
    size_t used = 0;
    for (int pass = 0; pass < 2; ++pass) { // first measures, second places
        char* at = pass == 0 ? NULL : lash_alloc(used + 64);
        s->memory = at;
        used = 0;
        s->part = carve(at, &used, s->parts, sizeof *s->part);
        s->face = carve(at, &used, s->faces, sizeof *s->face);
        s->loop = carve(at, &used, s->loops, sizeof *s->loop);
        s->coedge = carve(at, &used, s->coedges, sizeof *s->coedge);
        s->uv_pole = carve(at, &used, s->uv_poles, 3 * sizeof(double));
        s->edge = carve(at, &used, s->edges, sizeof *s->edge);
        s->vertex = carve(at, &used, s->vertices, sizeof *s->vertex);
        s->vertex_edge = carve(at, &used, s->vertex_edges, sizeof(int));
        s->patch = carve(at, &used, s->patches, sizeof *s->patch);
        s->segment = carve(at, &used, s->segments, sizeof *s->segment);
        s->pole = carve(at, &used, s->poles, 4 * sizeof(double));
        s->mesh_point = carve(at, &used, s->mesh_vertices, 3 * sizeof(float));
        s->mesh_normal = carve(at, &used, s->mesh_vertices, 3 * sizeof(float));
        s->triangle = carve(at, &used, s->triangles, 3 * sizeof(int));
        s->triangle_face = carve(at, &used, s->triangles, sizeof(int));
        s->line = carve(at, &used, s->lines, 2 * sizeof(int));
        s->line_point = carve(at, &used, s->line_points, 3 * sizeof(float));
        s->string = carve(at, &used, s->string_bytes, 1);
    }
}

static void clear_counts(LashShape* s) {
    s->parts = s->faces = s->loops = s->coedges = s->uv_poles = s->edges = s->vertices = 0;
    s->vertex_edges = s->patches = s->segments = s->poles = 0;
    s->mesh_vertices = s->triangles = s->lines = s->line_points = 0;
}

static int at(const int* row, int old) {
    return old < 0 ? -1 : row[old];
}

// `count` poles of 4 numbers; where they begin in the copy.
static int take_poles(Extract* x, int first, int count) {
    int row = x->to->poles;
    if (x->copies)
        memcpy(x->to->pole + 4 * row, x->from->pole + 4 * first,
               4 * (size_t)count * sizeof(double));
    x->to->poles += count;
    return row;
}

static void take_coedge(Extract* x, const LashCoedge* old) {
    LashCoedge coedge = *old;
    coedge.edge = at(x->edge, old->edge);
    if (old->kind == LASH_FREE_CURVE) {
        int count = old->degree + 1;
        coedge.first_pole = x->to->uv_poles;
        if (x->copies)
            memcpy(x->to->uv_pole + 3 * x->to->uv_poles, x->from->uv_pole + 3 * old->first_pole,
                   3 * (size_t)count * sizeof(double));
        x->to->uv_poles += count;
    }
    if (x->copies) x->to->coedge[x->to->coedges] = coedge;
    ++x->to->coedges;
}

static void take_loop(Extract* x, const LashLoop* old) {
    LashLoop loop = {x->to->coedges, old->coedges};
    for (int i = 0; i < old->coedges; ++i) take_coedge(x, &x->from->coedge[old->first_coedge + i]);
    if (x->copies) x->to->loop[x->to->loops] = loop;
    ++x->to->loops;
}

static void take_patch(Extract* x, const LashPatch* old) {
    LashPatch patch = *old;
    patch.first_pole = take_poles(x, old->first_pole, (old->u_degree + 1) * (old->v_degree + 1));
    if (x->copies) x->to->patch[x->to->patches] = patch;
    ++x->to->patches;
}

static void take_face(Extract* x, int row) {
    const LashFace* old = &x->from->face[row];
    LashFace face = *old;
    face.part = x->part[old->part];
    face.first_loop = x->to->loops;
    for (int i = 0; i < old->loops; ++i) take_loop(x, &x->from->loop[old->first_loop + i]);
    int patches = old->type == LASH_FREEFORM ? old->u_patches * old->v_patches : 0;
    face.first_patch = x->to->patches;
    for (int i = 0; i < patches; ++i) take_patch(x, &x->from->patch[old->first_patch + i]);
    x->face[row] = x->to->faces;
    if (x->copies) x->to->face[x->to->faces] = face;
    ++x->to->faces;
}

static void take_edge(Extract* x, int row) {
    const LashEdge* old = &x->from->edge[row];
    LashEdge edge = *old;
    edge.part = x->part[old->part];
    for (int k = 0; k < 2; ++k) {
        edge.face[k] = at(x->face, old->face[k]);
        edge.vertex[k] = at(x->vertex, old->vertex[k]);
    }
    edge.first_segment = x->to->segments;
    for (int i = 0; i < old->segments; ++i) {
        LashSegment segment = x->from->segment[old->first_segment + i];
        segment.first_pole = take_poles(x, segment.first_pole, segment.degree + 1);
        if (x->copies) x->to->segment[x->to->segments] = segment;
        ++x->to->segments;
    }
    x->edge[row] = x->to->edges;
    if (x->copies) x->to->edge[x->to->edges] = edge;
    ++x->to->edges;
}

static void take_vertex(Extract* x, int row) {
    const LashVertex* old = &x->from->vertex[row];
    LashVertex vertex = *old;
    vertex.part = x->part[old->part];
    vertex.first_edge = x->to->vertex_edges;
    for (int i = 0; i < old->edges; ++i) {
        if (x->copies)
            x->to->vertex_edge[x->to->vertex_edges] =
                at(x->edge, x->from->vertex_edge[old->first_edge + i]);
        ++x->to->vertex_edges;
    }
    x->vertex[row] = x->to->vertices;
    if (x->copies) x->to->vertex[x->to->vertices] = vertex;
    ++x->to->vertices;
}

static int take_corner(Extract* x, int old) {
    if (x->corner[old] < 0) {
        int row = x->corner[old] = x->to->mesh_vertices++;
        if (x->copies) {
            memcpy(x->to->mesh_point + 3 * row, x->from->mesh_point + 3 * old, 3 * sizeof(float));
            memcpy(x->to->mesh_normal + 3 * row, x->from->mesh_normal + 3 * old, 3 * sizeof(float));
        }
    }
    return x->corner[old];
}

static int take_end(Extract* x, int old) {
    if (x->end[old] < 0) {
        int row = x->end[old] = x->to->line_points++;
        if (x->copies)
            memcpy(x->to->line_point + 3 * row, x->from->line_point + 3 * old, 3 * sizeof(float));
    }
    return x->end[old];
}

static void take_mesh(Extract* x, const LashShapePart* part) {
    for (int i = part->first_triangle; i < part->first_triangle + part->triangles; ++i) {
        int row = x->to->triangles++;
        for (int k = 0; k < 3; ++k) {
            int corner = take_corner(x, x->from->triangle[3 * i + k]);
            if (x->copies) x->to->triangle[3 * row + k] = corner;
        }
        if (x->copies) x->to->triangle_face[row] = at(x->face, x->from->triangle_face[i]);
    }
    for (int i = part->first_line; i < part->first_line + part->lines; ++i) {
        int row = x->to->lines++;
        for (int k = 0; k < 2; ++k) {
            int end = take_end(x, x->from->line[2 * i + k]);
            if (x->copies) x->to->line[2 * row + k] = end;
        }
    }
}

static void take_part(Extract* x, int row) {
    const LashShapePart* old = &x->from->part[row];
    LashShapePart part = *old;
    part.parent = at(x->part, old->parent);
    part.first_face = x->to->faces;
    part.first_edge = x->to->edges;
    part.first_vertex = x->to->vertices;
    part.first_triangle = x->to->triangles;
    part.first_line = x->to->lines;
    x->part[row] = x->to->parts;
    for (int i = 0; i < old->faces; ++i) take_face(x, old->first_face + i);
    for (int i = 0; i < old->edges; ++i) take_edge(x, old->first_edge + i);
    for (int i = 0; i < old->vertices; ++i) take_vertex(x, old->first_vertex + i);
    take_mesh(x, old);
    if (x->copies) x->to->part[x->to->parts] = part;
    ++x->to->parts;
}

static int* no_rows(int count) {
    int* row = lash_alloc(((size_t)count + 1) * sizeof *row);
    for (int i = 0; i < count; ++i) row[i] = -1;
    return row;
}

// Which rows are taken and what their new numbers are does not depend on the walk: the numbers of
// the first walk are those that forward references (a loop's edges) need in the second.
static void walk(Extract* x) {
    const LashShape* s = x->from;
    clear_counts(x->to);
    for (int i = 0; i < s->mesh_vertices; ++i) x->corner[i] = -1;
    for (int i = 0; i < s->line_points; ++i) x->end[i] = -1;
    for (int i = 0; i < s->parts; ++i) {
        if (x->wanted[i]) take_part(x, i);
    }
}

LashShape* lash_shape_extract(const LashShape* shape, const uint8_t* wanted) {
    Extract x = {.from = shape,
                 .to = lash_alloc(sizeof(LashShape)),
                 .wanted = lash_alloc((size_t)shape->parts + 1),
                 .part = no_rows(shape->parts),
                 .face = no_rows(shape->faces),
                 .edge = no_rows(shape->edges),
                 .vertex = no_rows(shape->vertices),
                 .corner = no_rows(shape->mesh_vertices),
                 .end = no_rows(shape->line_points)};
    for (int i = 0; i < shape->parts; ++i) { // parents stand before their children
        int parent = shape->part[i].parent;
        x.wanted[i] = wanted[i] || (parent >= 0 && x.wanted[parent]);
    }
    *x.to = (LashShape){.warnings = shape->warnings, .scale = shape->scale};
    memcpy(x.to->unit, shape->unit, sizeof x.to->unit);
    memcpy(x.to->hash, shape->hash, sizeof x.to->hash);
    walk(&x);
    x.to->string_bytes = shape->string_bytes;
    make_room(x.to);
    x.copies = true;
    walk(&x);
    x.to->solid = lash_alloc(((size_t)x.to->parts + 1) * sizeof *x.to->solid);
    memcpy(x.to->string, shape->string, (size_t)shape->string_bytes);
    int* rows[] = {x.part, x.face, x.edge, x.vertex, x.corner, x.end};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) lash_free(rows[i]);
    lash_free(x.wanted);
    LASH_ASSERT(lash_shape_check(x.to, NULL));
    return x.to;
}

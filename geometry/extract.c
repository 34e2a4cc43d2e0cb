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
static void make_room(LashShape* shape) {
    size_t used = 0;
    for (int pass = 0; pass < 2; ++pass) { // first measures, second places
        char* at = pass == 0 ? NULL : lash_alloc(used + 64);
        shape->memory = at;
        used = 0;
        shape->part = carve(at, &used, shape->parts, sizeof *shape->part);
        shape->face = carve(at, &used, shape->faces, sizeof *shape->face);
        shape->loop = carve(at, &used, shape->loops, sizeof *shape->loop);
        shape->coedge = carve(at, &used, shape->coedges, sizeof *shape->coedge);
        shape->uv_pole = carve(at, &used, shape->uv_poles, 3 * sizeof(double));
        shape->edge = carve(at, &used, shape->edges, sizeof *shape->edge);
        shape->vertex = carve(at, &used, shape->vertices, sizeof *shape->vertex);
        shape->vertex_edge = carve(at, &used, shape->vertex_edges, sizeof(int));
        shape->patch = carve(at, &used, shape->patches, sizeof *shape->patch);
        shape->segment = carve(at, &used, shape->segments, sizeof *shape->segment);
        shape->pole = carve(at, &used, shape->poles, 4 * sizeof(double));
        shape->mesh_point = carve(at, &used, shape->mesh_vertices, 3 * sizeof(float));
        shape->mesh_normal = carve(at, &used, shape->mesh_vertices, 3 * sizeof(float));
        shape->triangle = carve(at, &used, shape->triangles, 3 * sizeof(int));
        shape->triangle_face = carve(at, &used, shape->triangles, sizeof(int));
        shape->line = carve(at, &used, shape->lines, 2 * sizeof(int));
        shape->line_point = carve(at, &used, shape->line_points, 3 * sizeof(float));
        shape->string = carve(at, &used, shape->string_bytes, 1);
    }
}

static void clear_counts(LashShape* shape) {
    shape->parts = shape->faces = shape->loops = shape->coedges = shape->uv_poles = shape->edges =
        shape->vertices = 0;
    shape->vertex_edges = shape->patches = shape->segments = shape->poles = 0;
    shape->mesh_vertices = shape->triangles = shape->lines = shape->line_points = 0;
}

static int at(const int* row, int old) {
    return old < 0 ? -1 : row[old];
}

// `count` poles of 4 numbers; where they begin in the copy.
static int take_poles(Extract* extract, int first, int count) {
    int row = extract->to->poles;
    if (extract->copies)
        memcpy(extract->to->pole + 4 * row, extract->from->pole + 4 * first,
               4 * (size_t)count * sizeof(double));
    extract->to->poles += count;
    return row;
}

static void take_coedge(Extract* extract, const LashCoedge* old) {
    LashCoedge coedge = *old;
    coedge.edge = at(extract->edge, old->edge);
    if (old->kind == LASH_FREE_CURVE) {
        int count = old->degree + 1;
        coedge.first_pole = extract->to->uv_poles;
        if (extract->copies)
            memcpy(extract->to->uv_pole + 3 * extract->to->uv_poles,
                   extract->from->uv_pole + 3 * old->first_pole,
                   3 * (size_t)count * sizeof(double));
        extract->to->uv_poles += count;
    }
    if (extract->copies) extract->to->coedge[extract->to->coedges] = coedge;
    ++extract->to->coedges;
}

static void take_loop(Extract* extract, const LashLoop* old) {
    LashLoop loop = {extract->to->coedges, old->coedges};
    for (int i = 0; i < old->coedges; ++i)
        take_coedge(extract, &extract->from->coedge[old->first_coedge + i]);
    if (extract->copies) extract->to->loop[extract->to->loops] = loop;
    ++extract->to->loops;
}

static void take_patch(Extract* extract, const LashPatch* old) {
    LashPatch patch = *old;
    patch.first_pole =
        take_poles(extract, old->first_pole, (old->u_degree + 1) * (old->v_degree + 1));
    if (extract->copies) extract->to->patch[extract->to->patches] = patch;
    ++extract->to->patches;
}

static void take_face(Extract* extract, int row) {
    const LashFace* old = &extract->from->face[row];
    LashFace face = *old;
    face.part = extract->part[old->part];
    face.first_loop = extract->to->loops;
    for (int i = 0; i < old->loops; ++i)
        take_loop(extract, &extract->from->loop[old->first_loop + i]);
    int patches = old->type == LASH_FREEFORM ? old->u_patches * old->v_patches : 0;
    face.first_patch = extract->to->patches;
    for (int i = 0; i < patches; ++i)
        take_patch(extract, &extract->from->patch[old->first_patch + i]);
    extract->face[row] = extract->to->faces;
    if (extract->copies) extract->to->face[extract->to->faces] = face;
    ++extract->to->faces;
}

static void take_edge(Extract* extract, int row) {
    const LashEdge* old = &extract->from->edge[row];
    LashEdge edge = *old;
    edge.part = extract->part[old->part];
    for (int k = 0; k < 2; ++k) {
        edge.face[k] = at(extract->face, old->face[k]);
        edge.vertex[k] = at(extract->vertex, old->vertex[k]);
    }
    edge.first_segment = extract->to->segments;
    for (int i = 0; i < old->segments; ++i) {
        LashSegment segment = extract->from->segment[old->first_segment + i];
        segment.first_pole = take_poles(extract, segment.first_pole, segment.degree + 1);
        if (extract->copies) extract->to->segment[extract->to->segments] = segment;
        ++extract->to->segments;
    }
    extract->edge[row] = extract->to->edges;
    if (extract->copies) extract->to->edge[extract->to->edges] = edge;
    ++extract->to->edges;
}

static void take_vertex(Extract* extract, int row) {
    const LashVertex* old = &extract->from->vertex[row];
    LashVertex vertex = *old;
    vertex.part = extract->part[old->part];
    vertex.first_edge = extract->to->vertex_edges;
    for (int i = 0; i < old->edges; ++i) {
        if (extract->copies)
            extract->to->vertex_edge[extract->to->vertex_edges] =
                at(extract->edge, extract->from->vertex_edge[old->first_edge + i]);
        ++extract->to->vertex_edges;
    }
    extract->vertex[row] = extract->to->vertices;
    if (extract->copies) extract->to->vertex[extract->to->vertices] = vertex;
    ++extract->to->vertices;
}

static int take_corner(Extract* extract, int old) {
    if (extract->corner[old] < 0) {
        int row = extract->corner[old] = extract->to->mesh_vertices++;
        if (extract->copies) {
            memcpy(extract->to->mesh_point + 3 * row, extract->from->mesh_point + 3 * old,
                   3 * sizeof(float));
            memcpy(extract->to->mesh_normal + 3 * row, extract->from->mesh_normal + 3 * old,
                   3 * sizeof(float));
        }
    }
    return extract->corner[old];
}

static int take_end(Extract* extract, int old) {
    if (extract->end[old] < 0) {
        int row = extract->end[old] = extract->to->line_points++;
        if (extract->copies)
            memcpy(extract->to->line_point + 3 * row, extract->from->line_point + 3 * old,
                   3 * sizeof(float));
    }
    return extract->end[old];
}

static void take_mesh(Extract* extract, const LashShapePart* part) {
    for (int i = part->first_triangle; i < part->first_triangle + part->triangles; ++i) {
        int row = extract->to->triangles++;
        for (int k = 0; k < 3; ++k) {
            int corner = take_corner(extract, extract->from->triangle[3 * i + k]);
            if (extract->copies) extract->to->triangle[3 * row + k] = corner;
        }
        if (extract->copies)
            extract->to->triangle_face[row] = at(extract->face, extract->from->triangle_face[i]);
    }
    for (int i = part->first_line; i < part->first_line + part->lines; ++i) {
        int row = extract->to->lines++;
        for (int k = 0; k < 2; ++k) {
            int end = take_end(extract, extract->from->line[2 * i + k]);
            if (extract->copies) extract->to->line[2 * row + k] = end;
        }
    }
}

static void take_part(Extract* extract, int row) {
    const LashShapePart* old = &extract->from->part[row];
    LashShapePart part = *old;
    part.parent = at(extract->part, old->parent);
    part.first_face = extract->to->faces;
    part.first_edge = extract->to->edges;
    part.first_vertex = extract->to->vertices;
    part.first_triangle = extract->to->triangles;
    part.first_line = extract->to->lines;
    extract->part[row] = extract->to->parts;
    for (int i = 0; i < old->faces; ++i) take_face(extract, old->first_face + i);
    for (int i = 0; i < old->edges; ++i) take_edge(extract, old->first_edge + i);
    for (int i = 0; i < old->vertices; ++i) take_vertex(extract, old->first_vertex + i);
    take_mesh(extract, old);
    if (extract->copies) extract->to->part[extract->to->parts] = part;
    ++extract->to->parts;
}

static int* no_rows(int count) {
    int* row = lash_alloc(((size_t)count + 1) * sizeof *row);
    for (int i = 0; i < count; ++i) row[i] = -1;
    return row;
}

// Which rows are taken and what their new numbers are does not depend on the walk: the numbers of
// the first walk are those that forward references (a loop's edges) need in the second.
static void walk(Extract* extract) {
    const LashShape* shape = extract->from;
    clear_counts(extract->to);
    for (int i = 0; i < shape->mesh_vertices; ++i) extract->corner[i] = -1;
    for (int i = 0; i < shape->line_points; ++i) extract->end[i] = -1;
    for (int i = 0; i < shape->parts; ++i) {
        if (extract->wanted[i]) take_part(extract, i);
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

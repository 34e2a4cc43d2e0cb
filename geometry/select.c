// Choosing faces of a shape.
//
// A query filters by type, side, radius and axis; `near` then takes the face whose viewing mesh is
// nearest to the point. A choice must be unique: when two faces fit alike, the error lists them, so
// that the user can add what tells them apart.
#include "geometry/select.h"

#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

static const char* const type_names[] = {"plane",  "cylinder", "cone",
                                         "sphere", "torus",    "freeform"};

LashFaceQuery lash_face_query(void) {
    return (LashFaceQuery){.type = LASH_ANY_TYPE};
}

const char* lash_surface_type_name(LashSurfaceType type) {
    return type_names[type];
}

bool lash_surface_type_parse(const char* name, LashSurfaceType* type) {
    for (int i = 0; i <= LASH_FREEFORM; ++i) {
        if (strcmp(name, type_names[i]) != 0) continue;
        *type = (LashSurfaceType)i;
        return true;
    }
    return false;
}

typedef struct Text { // grows until full, then ends in "..."
    char* at;
    size_t left;
} Text;

static void append(Text* text, const char* item) {
    size_t n = strlen(item);
    if (text->left < n + 5) {
        if (text->left > 4) {
            memcpy(text->at, " ...", 5);
            text->left = 0;
        }
        return;
    }
    memcpy(text->at, item, n + 1);
    text->at += n;
    text->left -= n;
}

static bool in_part(const LashFace* face, int part) {
    return part == LASH_ANY_PART || face->part == part;
}

static void describe(const LashShape* shape, const LashFace* face, char* out, size_t size) {
    char radius[40] = "", name[64] = "", part[64] = "";
    if (face->type != LASH_PLANE && face->type != LASH_FREEFORM)
        snprintf(radius, sizeof radius, " r %.6g mm", 1e3 * face->radius);
    if (face->name != 0)
        snprintf(name, sizeof name, " '%.40s'", lash_shape_string(shape, face->name));
    if (shape->parts > 1)
        snprintf(part, sizeof part,
                 "%.40s:", lash_shape_string(shape, shape->part[face->part].name));
    snprintf(out, size, "%s%d%s (%s%s)", part, face->index, name, type_names[face->type], radius);
}

// "face 3 'bore' (cylinder r 5 mm), 7 (plane)": the faces in rows[], as many as fit.
static void list_faces(const LashShape* shape, const int* rows, int count, char* out, size_t size) {
    Text text = {out, size};
    out[0] = '\0';
    for (int i = 0; i < count; ++i) {
        char item[200];
        describe(shape, &shape->face[rows[i]], item, sizeof item);
        if (i > 0) append(&text, ", ");
        append(&text, item);
    }
}

bool lash_select_part(const LashShape* shape, const char* name, int* part, LashError* error) {
    int found = -1, matches = 0;
    for (int i = 0; i < shape->parts; ++i) {
        const char* path = lash_shape_string(shape, shape->part[i].name);
        const char* slash = strrchr(path, '/');
        if (strcmp(path, name) == 0) {
            *part = i;
            return true;
        }
        if (slash != NULL && strcmp(slash + 1, name) == 0) {
            found = i;
            ++matches;
        }
    }
    if (matches == 1) {
        *part = found;
        return true;
    }
    char list[360];
    Text text = {list, sizeof list};
    list[0] = '\0';
    for (int i = 0; i < shape->parts; ++i) {
        append(&text, i > 0 ? ", " : "");
        append(&text, lash_shape_string(shape, shape->part[i].name));
    }
    return lash_error_set(error, LASH_ERROR_MODEL, "part", "%s part named '%s'; the file has: %s",
                          matches > 1 ? "more than one" : "no", name, list);
}

bool lash_select_index(const LashShape* shape, int part, int index, int* face, LashError* error) {
    int found = -1, matches = 0, faces = 0, least = 0, most = -1;
    for (int i = 0; i < shape->faces; ++i) {
        if (!in_part(&shape->face[i], part)) continue;
        if (faces++ == 0) least = shape->face[i].index; // they rise
        most = shape->face[i].index;
        if (shape->face[i].index == index) {
            found = i;
            ++matches;
        }
    }
    if (matches == 1) {
        *face = found;
        return true;
    }
    return lash_error_set(error, LASH_ERROR_MODEL, "faces",
                          "no face %d; the part has %d faces, in lash info from %d to %d", index,
                          faces, least, most);
}

int lash_select_name(const LashShape* shape, int part, const char* name, int* faces, int capacity,
                     LashError* error) {
    int count = 0;
    for (int i = 0; i < shape->faces; ++i) {
        const LashFace* f = &shape->face[i];
        if (!in_part(f, part) || f->name == 0 ||
            strcmp(lash_shape_string(shape, f->name), name) != 0)
            continue;
        if (count < capacity) faces[count] = i;
        ++count;
    }
    if (count > 0) return count;
    char list[360];
    Text text = {list, sizeof list};
    list[0] = '\0';
    for (int i = 0; i < shape->faces; ++i) {
        const LashFace* f = &shape->face[i];
        if (!in_part(f, part) || f->name == 0) continue;
        append(&text, list[0] != '\0' ? ", " : "");
        append(&text, lash_shape_string(shape, f->name));
    }
    lash_error_set(error, LASH_ERROR_MODEL, "faces", "no face named '%s'; named faces: %s", name,
                   list[0] == '\0' ? "none" : list);
    return 0;
}

static Vec3 mesh_point(const LashShape* shape, int vertex) {
    const float* p = &shape->mesh_point[3 * vertex];
    return vec3(p[0], p[1], p[2]);
}

// Ericson 2004, section 5.1.5: the Voronoi region of the triangle that holds p decides.
static double triangle_distance(Vec3 p, Vec3 a, Vec3 b, Vec3 c) {
    Vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a), ap = vec3_sub(p, a);
    double d1 = vec3_dot(ab, ap), d2 = vec3_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return vec3_norm(ap);
    Vec3 bp = vec3_sub(p, b), cp = vec3_sub(p, c);
    double d3 = vec3_dot(ab, bp), d4 = vec3_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return vec3_norm(bp);
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0)
        return vec3_distance(p, vec3_add_scaled(a, d1 / (d1 - d3), ab));
    double d5 = vec3_dot(ab, cp), d6 = vec3_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return vec3_norm(cp);
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0)
        return vec3_distance(p, vec3_add_scaled(a, d2 / (d2 - d6), ac));
    double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return vec3_distance(
            p, vec3_add_scaled(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), vec3_sub(c, b)));
    Vec3 n = vec3_cross(ab, ac);
    double length = vec3_norm(n);
    return length > 0 ? fabs(vec3_dot(n, ap)) / length : vec3_norm(ap);
}

double lash_face_mesh_distance(const LashShape* shape, int face, Vec3 p) {
    const LashShapePart* part = &shape->part[shape->face[face].part];
    double best = HUGE_VAL;
    for (int i = part->first_triangle; i < part->first_triangle + part->triangles; ++i) {
        if (shape->triangle_face[i] != face) continue;
        const int* t = &shape->triangle[3 * i];
        best = fmin(best, triangle_distance(p, mesh_point(shape, t[0]), mesh_point(shape, t[1]),
                                            mesh_point(shape, t[2])));
    }
    return best;
}

static bool radius_fits(const LashFace* face, double radius, double tolerance) {
    if (radius <= 0) return true;
    if (face->type == LASH_PLANE || face->type == LASH_FREEFORM) return false;
    if (face->type == LASH_CONE) {
        double a = face->radius + face->v0 * sin(face->half_angle);
        double b = face->radius + face->v1 * sin(face->half_angle);
        return radius >= fmin(a, b) - tolerance && radius <= fmax(a, b) + tolerance;
    }
    return fabs(face->radius - radius) <= tolerance ||
           (face->type == LASH_TORUS && fabs(face->radius2 - radius) <= tolerance);
}

static bool axis_fits(const LashFace* face, Vec3 axis) {
    if (face->type == LASH_SPHERE || face->type == LASH_FREEFORM) return false;
    return vec3_norm(vec3_cross(face->z, vec3_normalize(axis))) < 1e-3; // 0.06 degrees
}

// A plane has no side, and the sign of a free face says how its parameters run.
static bool side_fits(const LashFace* face, int side) {
    if (side == 0) return true;
    return face->type != LASH_PLANE && face->type != LASH_FREEFORM && face->side * side > 0;
}

static bool fits(const LashShape* shape, const LashFace* face, const LashFaceQuery* query) {
    const LashBox* box = &shape->part[face->part].box;
    double tolerance =
        query->tolerance > 0 ? query->tolerance : 1e-6 * vec3_distance(box->low, box->high);
    if (query->type != LASH_ANY_TYPE && face->type != (LashSurfaceType)query->type) return false;
    if (!side_fits(face, query->side)) return false;
    if (!radius_fits(face, query->radius, tolerance + face->deviation)) return false;
    return !query->has_axis || axis_fits(face, query->axis);
}

// Keeps the nearest of the rows, and those as near within the tolerance.
static int keep_nearest(const LashShape* shape, const LashFaceQuery* query, int* rows, int count) {
    double* distance = lash_alloc((size_t)count * sizeof *distance);
    double best = HUGE_VAL;
    for (int i = 0; i < count; ++i) {
        distance[i] = lash_face_mesh_distance(shape, rows[i], query->near);
        best = fmin(best, distance[i]);
    }
    const LashBox* box = &shape->part[shape->face[rows[0]].part].box;
    double tie =
        query->tolerance > 0 ? query->tolerance : 1e-6 * vec3_distance(box->low, box->high);
    int kept = 0;
    for (int i = 0; i < count; ++i)
        if (distance[i] <= best + tie) rows[kept++] = rows[i];
    lash_free(distance);
    return kept;
}

// All as near: the point is on a common edge, or amid them. Keeps the row whose face has its middle
// nearest to p, and those whose is as near.
static int keep_nearest_middle(const LashShape* shape, Vec3 p, int* rows, int count) {
    double best = HUGE_VAL;
    int kept = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < count; ++i) {
            const LashBox* box = &shape->face[rows[i]].box;
            double d = vec3_distance(p, vec3_scale(0.5, vec3_add(box->low, box->high)));
            if (pass == 0) best = fmin(best, d);
            if (pass == 1 && d <= best * (1 + 1e-6)) rows[kept++] = rows[i];
        }
    }
    return kept;
}

bool lash_select_query(const LashShape* shape, int part, const LashFaceQuery* query, int* face,
                       LashError* error) {
    int* rows = lash_alloc((size_t)shape->faces * sizeof *rows);
    int count = 0;
    for (int i = 0; i < shape->faces; ++i)
        if (in_part(&shape->face[i], part) && fits(shape, &shape->face[i], query))
            rows[count++] = i;
    if (count > 1 && query->has_near) count = keep_nearest(shape, query, rows, count);
    if (count > 1 && query->has_near) count = keep_nearest_middle(shape, query->near, rows, count);
    char list[360];
    if (count == 1) {
        *face = rows[0];
    } else if (count > 1) {
        list_faces(shape, rows, count, list, sizeof list);
        lash_error_set(error, LASH_ERROR_MODEL, "faces", "%d faces fit%s or use one of %s", count,
                       query->has_near ? ", all as near; move 'near'," : "; add 'near'", list);
    } else { // nothing fits: the faces of that type, or all
        for (int i = 0; i < shape->faces; ++i)
            if (in_part(&shape->face[i], part) &&
                (query->type == LASH_ANY_TYPE || (int)shape->face[i].type == query->type))
                rows[count++] = i;
        list_faces(shape, rows, count, list, sizeof list);
        lash_error_set(error, LASH_ERROR_MODEL, "faces", "no face fits; there are %s",
                       count > 0 ? list : "none of that type");
        count = 0;
    }
    lash_free(rows);
    return count == 1;
}

// The outside of loose faces, once for each file and part that contacts use.
//
// A file of faces alone (surfaces taken out of a part) has no orientation to rely on. Of a group of
// faces that share edges, in this order:
//   1. what the model says: "flip" of the side or the face;
//   2. the part's solid, where the faces lie on it;
//   3. the start: the side on which all points of the opposite faces are;
//   4. an error that asks for "flip".
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/arena.h"
#include "core/math3.h"
#include "geometry/orient.h"

typedef struct Loose { // a shape with loose faces, as a part uses it
    ModelContext* context;
    const LashShape* shape;
    int part;
    int* group;                // (faces)
    int groups;                // number of them
    uint8_t* used;             // (faces) chosen by some contact
    uint8_t* turned;           // (faces)
    int* flip;                 // (faces) as a LashModelFace's
    LashModelOutside* outside; // (groups)
} Loose;

static LashPairSide* side_of(LashModelContactPoint* point, int k) {
    return k == 0 ? &point->side_a : &point->side_b;
}

static int part_of(const LashModelContactPoint* point, int k) {
    return k == 0 ? point->part_a : point->part_b;
}

static const LashModelSide* model_side(const LashModel* model, const LashModelContactPoint* point,
                                       int k) {
    const LashModelContact* contact = &model->contact[point->contact];
    return k == 0 ? &contact->a : &contact->b;
}

static bool uses(const Loose* loose, LashModelContactPoint* point, int k) {
    return point->surfaces && point->contact >= 0 && part_of(point, k) == loose->part &&
           side_of(point, k)->shape == loose->shape;
}

static void side_path(const LashModelContactPoint* point, int k, char* path, size_t size) {
    snprintf(path, size, "contacts[%d].%s", point->contact, k == 0 ? "a" : "b");
}

// ---- what the model says ------------------------------------------------------------------------

static bool take_flip(Loose* loose, const char* path, int face, int flip) {
    if (flip == 0) return true;
    if (loose->flip[face] == 0 || loose->flip[face] == flip) {
        loose->flip[face] = flip;
        return true;
    }
    return model_fail(loose->context, path,
                      "the file has one orientation: another contact gives this part the opposite "
                      "\"flip\" for face %d",
                      loose->shape->face[face].index);
}

// Faces that a side chooses, and its flips.
static bool read_use(Loose* loose, const LashModelContactPoint* point, int k) {
    const LashModelSide* side = model_side(loose->context->model, point, k);
    const LashPairSide* pair = k == 0 ? &point->side_a : &point->side_b;
    char path[APP_JSON_PATH];
    side_path(point, k, path, sizeof path);
    int count = pair->face_count > 0 ? pair->face_count : loose->shape->faces;
    for (int i = 0; i < count; ++i) {
        int face = pair->face_count > 0 ? pair->faces[i] : i;
        loose->used[face] = 1;
        if (!take_flip(loose, path, face, side->flip)) return false;
    }
    for (int i = 0; i < side->face_count; ++i) {
        int *rows, found;
        if (side->faces[i].flip == 0) continue;
        if (!model_select_faces(loose->context, path, loose->shape, side->faces + i, 1, &rows,
                                &found))
            return false;
        for (int m = 0; m < found; ++m) {
            loose->flip[rows[m]] = 0; // the face's own word comes before its side's
            if (!take_flip(loose, path, rows[m], side->faces[i].flip)) return false;
        }
    }
    return true;
}

// ---- the start ----------------------------------------------------------------------------------

static Pose world_of(const LashModel* model, int part) {
    return part < 0 ? pose_identity() : model->part[part].world_part;
}

// All points of the faces of the other side; of their edges where it has no faces.
static void add_opposite(const Loose* loose, int which, LashModelContactPoint* point, int k,
                         LashOutsidePoints* points) {
    const LashModel* model = loose->context->model;
    const LashPairSide* side = side_of(point, 1 - k);
    const LashShape* s = side->shape;
    uint8_t* chosen = lash_alloc((size_t)s->faces + 1);
    uint8_t* done = lash_alloc((size_t)s->mesh_vertices + 1);
    Pose to = pose_mul(pose_inverse(world_of(model, loose->part)),
                       world_of(model, part_of(point, 1 - k)));
    memset(chosen, side->face_count == 0, (size_t)s->faces);
    for (int i = 0; i < side->face_count; ++i) chosen[side->faces[i]] = 1;
    for (int i = 0; i < 3 * s->triangles; ++i) {
        int v = s->triangle[i];
        if (!chosen[s->triangle_face[i / 3]] || done[v]) continue;
        done[v] = 1;
        const float* p = s->mesh_point + 3 * (size_t)v;
        lash_outside_add_point(loose->shape, loose->group, which,
                               pose_point(to, vec3(p[0], p[1], p[2])), point->offset, points);
    }
    for (int i = 0; i < s->line_points && s->faces == 0; ++i) {
        const float* p = s->line_point + 3 * (size_t)i;
        lash_outside_add_point(loose->shape, loose->group, which,
                               pose_point(to, vec3(p[0], p[1], p[2])), point->offset, points);
    }
    lash_free(chosen);
    lash_free(done);
}

// Does this contact choose a face of the group?
static bool chooses(const Loose* loose, LashModelContactPoint* point, int k, int which) {
    const LashPairSide* side = side_of(point, k);
    if (side->face_count == 0) return true;
    for (int i = 0; i < side->face_count; ++i)
        if (loose->group[side->faces[i]] == which) return true;
    return false;
}

static LashOutside by_start(const Loose* loose, int which) {
    LashModel* model = loose->context->model;
    LashOutsidePoints points = {0};
    for (int i = 0; i < model->contact_points; ++i) {
        LashModelContactPoint* point = &model->contact_point[i];
        for (int k = 0; k < 2; ++k)
            if (uses(loose, point, k) && chooses(loose, point, k, which))
                add_opposite(loose, which, point, k, &points);
    }
    return lash_outside_by_points(&points);
}

// ---- groups -------------------------------------------------------------------------------------

static bool has_solid(const LashShape* shape) {
    for (int i = 0; i < shape->parts; ++i)
        if (shape->part[i].closed) return true;
    return false;
}

static bool fail_unknown(const Loose* loose, int which, const LashModelContactPoint* point, int k) {
    const LashModelSide* side = model_side(loose->context->model, point, k);
    const LashModelPart* part = loose->part < 0 ? NULL : &loose->context->model->part[loose->part];
    char path[APP_JSON_PATH];
    int face = 0;
    while (loose->group[face] != which || !loose->used[face]) ++face;
    side_path(point, k, path, sizeof path);
    if (side->step != NULL) app_json_path_key(path, sizeof path, "step");
    bool solid = part != NULL && part->cad != NULL && has_solid(part->cad);
    return model_fail(loose->context, path,
                      "which side of loose face %d is the outside? %s, and at the start the "
                      "opposite faces are on both sides of it or within 1 um; add \"flip\": false "
                      "(as in the file) or true (turned)",
                      loose->shape->face[face].index,
                      solid ? "It does not lie on the part's solid" : "The part has no solid");
}

static bool find_group(Loose* loose, int which, const LashModelContactPoint* point, int k) {
    const LashModelPart* part = loose->part < 0 ? NULL : &loose->context->model->part[loose->part];
    LashModelOutside* outside = loose->outside + which;
    int flip = 0;
    bool used = false;
    for (int i = 0; i < loose->shape->faces; ++i) {
        if (loose->group[i] != which) continue;
        used = used || loose->used[i];
        if (flip == 0) flip = loose->flip[i];
    }
    if (!used) return true;
    LashOutside found = LASH_OUTSIDE_UNKNOWN;
    if (flip != 0) {
        found = flip > 0 ? LASH_OUTSIDE_TURNED : LASH_OUTSIDE_AS_WRITTEN;
        outside->by_flip = 1;
    }
    if (found == LASH_OUTSIDE_UNKNOWN && part != NULL && part->cad != NULL) {
        found = lash_outside_by_solid(loose->shape, loose->group, which, part->cad);
        outside->solid = found != LASH_OUTSIDE_UNKNOWN;
    }
    if (found == LASH_OUTSIDE_UNKNOWN) {
        found = by_start(loose, which);
        outside->start = found != LASH_OUTSIDE_UNKNOWN;
    }
    if (found == LASH_OUTSIDE_UNKNOWN) return fail_unknown(loose, which, point, k);
    outside->groups = 1;
    outside->turned = found == LASH_OUTSIDE_TURNED;
    for (int i = 0; i < loose->shape->faces; ++i) {
        if (loose->group[i] != which) continue;
        loose->turned[i] = loose->flip[i] != 0 ? loose->flip[i] > 0 : outside->turned;
    }
    return true;
}

// ---- the turned shape ---------------------------------------------------------------------------

static const LashShape* turned_shape(const Loose* loose, const LashModelContactPoint* point,
                                     int k) {
    const LashPairSide* side = k == 0 ? &point->side_a : &point->side_b;
    int faces = loose->shape->faces, any = 0;
    char* made = lash_alloc((size_t)faces + 8);
    double scale = loose->part < 0 ? NAN : loose->context->model->part[loose->part].scale;
    strcpy(made, "turn "); // tells it from the selections of parts, which end in a line break
    for (int i = 0; i < faces; ++i) {
        made[5 + i] = loose->turned[i] ? '1' : '0';
        any |= loose->turned[i];
    }
    const LashShape* shape = loose->shape;
    if (any) {
        LashShape* kept = model_find_made(loose->context, side->path, scale, made);
        if (kept == NULL) {
            kept = lash_shape_turn(loose->shape, loose->turned);
            model_keep_made(loose->context, side->path, scale, made, kept);
        }
        shape = kept;
    }
    lash_free(made);
    return shape;
}

static void put_outside(Loose* loose, const LashShape* shape) {
    LashModel* model = loose->context->model;
    for (int i = 0; i < model->contact_points; ++i) {
        LashModelContactPoint* point = &model->contact_point[i];
        for (int k = 0; k < 2; ++k) {
            LashModelOutside* sum = &point->outside[k];
            if (!uses(loose, point, k)) continue;
            for (int g = 0; g < loose->groups; ++g) {
                const LashModelOutside* model_outside = loose->outside + g;
                if (!chooses(loose, point, k, g)) continue;
                sum->groups += model_outside->groups;
                sum->turned += model_outside->turned;
                sum->solid += model_outside->solid;
                sum->start += model_outside->start;
                sum->by_flip += model_outside->by_flip;
            }
            side_of(point, k)->shape = shape;
            if (loose->part >= 0) side_of(point, k)->solid = model->part[loose->part].cad;
        }
    }
}

static bool find_all(Loose* loose, const LashModelContactPoint* point, int k) {
    LashModel* model = loose->context->model;
    for (int i = 0; i < model->contact_points; ++i)
        for (int m = 0; m < 2; ++m)
            if (uses(loose, &model->contact_point[i], m) &&
                !read_use(loose, &model->contact_point[i], m))
                return false;
    for (int g = 0; g < loose->groups; ++g)
        if (!find_group(loose, g, point, k)) return false;
    put_outside(loose, turned_shape(loose, point, k));
    return true;
}

static bool find_outside(ModelContext* context, LashModelContactPoint* point, int k) {
    const LashPairSide* side = side_of(point, k);
    const LashModelSide* given = model_side(context->model, point, k);
    const LashShape* shape = side->shape;
    size_t faces = (size_t)shape->faces + 1;
    Loose loose = {.context = context, .shape = shape, .part = part_of(point, k)};
    loose.group = lash_alloc(faces * sizeof *loose.group);
    loose.groups = lash_loose_groups(shape, loose.group);
    bool ok = true;
    if (loose.groups > 0) {
        loose.used = lash_alloc(faces);
        loose.turned = lash_alloc(faces);
        loose.flip = lash_alloc(faces * sizeof *loose.flip);
        loose.outside = lash_alloc((size_t)loose.groups * sizeof *loose.outside);
        ok = find_all(&loose, point, k);
    } else if (given->flip != 0) {
        char path[APP_JSON_PATH];
        side_path(point, k, path, sizeof path);
        app_json_path_key(path, sizeof path, "flip");
        ok = model_fail(context, path, "the faces are those of a solid, which tells their outside");
    }
    lash_free(loose.group);
    lash_free(loose.used);
    lash_free(loose.turned);
    lash_free(loose.flip);
    lash_free(loose.outside);
    return ok;
}

bool model_find_outsides(ModelContext* context) {
    LashModel* model = context->model;
    for (int i = 0; i < model->contact_points; ++i) {
        LashModelContactPoint* point = &model->contact_point[i];
        for (int k = 0; k < 2 && point->surfaces && point->contact >= 0; ++k) {
            if (point->outside[k].groups > 0) continue; // with an earlier contact
            if (!find_outside(context, point, k)) return false;
        }
    }
    return true;
}

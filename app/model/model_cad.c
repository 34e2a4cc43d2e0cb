// CAD geometry of a model: parts and extra surfaces from STEP files (geometry/shape.h reads them),
// faces chosen by index, name or query (geometry/select.h). Mass properties are summed over the
// solids of a file.
//
// About the center c of all solids: J = sum (J_i + V_i (|d|^2 I - d d')), d = c_i - c, for
// density 1.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/progress.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/math3.h"
#include "geometry/extract.h"
#include "geometry/select.h"

// The STEP file stands relative to the model file.
void model_cad_path(const LashModel* model, const char* step, char* path, size_t size) {
    const char* slash = strrchr(model->file, '/');
    int folder = slash == NULL || step[0] == '/' ? 0 : (int)(slash - model->file) + 1;
    snprintf(path, size, "%.*s%s", folder, model->file, step);
}

static void sum_solids(const LashShape* shape, double* volume, Vec3* center, Mat3* inertia) {
    Vec3 moment = vec3_zero();
    *volume = 0;
    *inertia = mat3_zero();
    for (int i = 0; i < shape->parts; ++i) {
        if (shape->part[i].assembly) continue;
        *volume += shape->part[i].volume;
        moment = vec3_add_scaled(moment, shape->part[i].volume, shape->part[i].center);
    }
    if (!(*volume > 0)) return;
    *center = vec3_scale(1 / *volume, moment);
    for (int i = 0; i < shape->parts; ++i) {
        if (shape->part[i].assembly) continue;
        Vec3 d = vec3_sub(shape->part[i].center, *center);
        Mat3 shift = mat3_sub(mat3_scale(vec3_norm_squared(d), mat3_identity()), mat3_outer(d, d));
        *inertia = mat3_add(
            *inertia, mat3_add(shape->part[i].inertia, mat3_scale(shape->part[i].volume, shift)));
    }
}

// selected: NULL, or the paths of the parts, one per line.
static LashShape* find_loaded(const LashModel* model, const char* file, double scale,
                              const char* selected) {
    for (int i = 0; i < model->cads; ++i) {
        const LashModelCad* cad = &model->cad[i];
        bool same = cad->scale == scale || (!model_has(cad->scale) && !model_has(scale));
        if (selected == NULL || cad->selected == NULL) {
            same = same && selected == cad->selected;
        } else {
            same = same && strcmp(cad->selected, selected) == 0;
        }
        if (same && strcmp(cad->file, file) == 0) return cad->shape;
    }
    return model->donor != NULL ? find_loaded(model->donor, file, scale, selected) : NULL;
}

static void keep_loaded(LashModel* model, LashModelCad cad) {
    LashModelCad* list = model_alloc(model, (size_t)(model->cads + 1) * sizeof *list);
    if (model->cads > 0) memcpy(list, model->cad, (size_t)model->cads * sizeof *list);
    list[model->cads] = cad;
    model->cad = list;
    ++model->cads;
}

const LashModelFile* model_use_file(LashModel* model, const char* name) {
    bool known = false;
    for (int i = 0; i < model->used_files; ++i) known = known || strcmp(model->used[i], name) == 0;
    if (!known) {
        size_t count = (size_t)model->used_files;
        char** list = model_alloc(model, (count + 1) * sizeof *list);
        if (count > 0) memcpy(list, model->used, count * sizeof *list);
        list[count] = model_strdup(model, name);
        model->used = list;
        ++model->used_files;
    }
    for (int i = 0; i < model->carried_files; ++i) {
        const LashModelFile* file = &model->carried[i];
        if (file->data != NULL && strcmp(file->name, name) == 0) return file;
    }
    return NULL;
}

LashShape* model_load_step(ModelContext* context, const char* key, const char* step, double scale) {
    char file[1024];
    LashModel* model = context->model;
    model_cad_path(model, step, file, sizeof file);
    const LashModelFile* carried = model_use_file(model, step);
    LashShape* shape = find_loaded(model, file, scale, NULL);
    if (shape != NULL) return shape;
    LashImport import = {.scale = model_has(scale) ? scale : 0,
                         .progress = app_progress_cad,
                         .reader = context->reader};
    LashError inner = {0};
    if (carried != NULL)
        shape = lash_shape_load_bytes(file, carried->data, carried->bytes, &import, &inner);
    else
        shape = lash_shape_load(file, &import, &inner);
    if (shape == NULL) {
        bool missing = inner.status == LASH_ERROR_IO && step[0] != '/';
        model_fail(context, key, "%.120s: %s%s", step, inner.message,
                   missing ? "; STEP files are looked for from the folder of the model" : "");
        if (context->error->status == LASH_ERROR_MODEL) context->error->status = inner.status;
        return NULL;
    }
    keep_loaded(model, (LashModelCad){model_strdup(model, file), scale, NULL, shape});
    return shape;
}

LashShape* model_find_made(const ModelContext* context, const char* file, double scale,
                           const char* made) {
    return find_loaded(context->model, file, scale, made);
}

void model_keep_made(ModelContext* context, const char* file, double scale, const char* made,
                     LashShape* shape) {
    LashModel* model = context->model;
    keep_loaded(model,
                (LashModelCad){model_strdup(model, file), scale, model_strdup(model, made), shape});
}

// The parts of `whole` that the model's part names, as a shape of their own in the file's frame.
static LashShape* load_selected(ModelContext* context, const char* key, const LashModelPart* part,
                                const LashShape* whole) {
    LashModel* model = context->model;
    size_t length = 1;
    for (int i = 0; i < part->part_count; ++i) length += strlen(part->part[i]) + 1;
    char file[1024], *selected = model_alloc(model, length);
    uint8_t* wanted = model_alloc(model, (size_t)whole->parts + 1);
    for (int i = 0; i < part->part_count; ++i) {
        LashError inner = {0};
        int row;
        if (!lash_select_part(whole, part->part[i], &row, &inner)) {
            model_fail(context, key, "%s", inner.message);
            return NULL;
        }
        wanted[row] = 1;
        strcat(strcat(selected, part->part[i]), "\n");
    }
    model_cad_path(model, part->step, file, sizeof file);
    LashShape* shape = find_loaded(model, file, part->scale, selected);
    if (shape != NULL) return shape;
    shape = lash_shape_extract(whole, wanted);
    keep_loaded(model, (LashModelCad){model_strdup(model, file), part->scale, selected, shape});
    return shape;
}

bool model_load_cad(ModelContext* context, const char* path, LashModelPart* part, double* volume,
                    Vec3* center, Mat3* inertia) {
    char key[96];
    snprintf(key, sizeof key, "%s.step", path);
    part->cad = model_load_step(context, key, part->step, part->scale);
    if (part->cad != NULL && part->part_count > 0) {
        snprintf(key, sizeof key, "%s.part", path);
        part->cad = load_selected(context, key, part, part->cad);
    }
    if (part->cad == NULL) return false;
    sum_solids(part->cad, volume, center, inertia);
    return true;
}

// ---- faces --------------------------------------------------------------------------------------

static const char* const type_choices[] = {"any",    "plane", "cylinder", "cone",
                                           "sphere", "torus", "freeform", NULL};
static const char* const side_choices[] = {"any", "convex", "concave", NULL};

#define FACE(member) .key = #member, .offset = offsetof(LashModelFace, member)
static const KeySpec face_keys[] = {
    {FACE(index), .type = KEY_INTEGER, .range = RANGE_NOT_NEGATIVE,
     .help = "its number, instead of what it is like; for a 'flip' beside it"},
    {FACE(name), .type = KEY_TEXT, .help = "its name, instead of what it is like"},
    {FACE(type), .type = KEY_CHOICE, .choices = type_choices, .help = "kind of surface"},
    {FACE(radius), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "of a cylinder, sphere, cone (any between its ends) or torus (either)"},
    {FACE(side), .type = KEY_CHOICE, .choices = side_choices,
     .help = "convex: a pin, a ball; concave: a bore, a socket"},
    {FACE(axis), .type = KEY_VECTOR,
     .help = "parallel to the axis, or to the normal of a plane; part's axes, either sense"},
    {FACE(near), .type = KEY_VECTOR, .unit = UNIT_LENGTH,
     .help = "of all that fit, the face nearest to this point; part's coordinates"},
    {FACE(tolerance), .type = KEY_NUMBER, .unit = UNIT_LENGTH, .range = RANGE_POSITIVE,
     .help = "of the radius, default 1e-6 of the part's size"},
    {FACE(flip), .type = KEY_YES_NO,
     .help = "of a loose face of a contact, where neither the part's solid nor the start tells its "
             "outside: false as in the file, true turned"},
};
static void face_defaults(void* target) {
    LashModelFace* face = target;
    face->index = -1;
    face->radius = face->axis.x = face->near.x = face->tolerance = NAN;
}
const KeyTable model_face_table = {.what = "a face",
                                   .key = face_keys,
                                   .keys = sizeof face_keys / sizeof *face_keys,
                                   .size = sizeof(LashModelFace),
                                   .defaults = face_defaults};

// Rows of one choice appended to rows; their number, 0 with error.
static int select_one(const LashShape* shape, const LashModelFace* face, int* rows,
                      LashError* error) {
    if (face->name != NULL && strcmp(face->name, "all") == 0) {
        for (int i = 0; i < shape->faces; ++i) rows[i] = i;
        if (shape->faces == 0)
            lash_error_set(error, LASH_ERROR_MODEL, "", "the file has no faces, only edges");
        return shape->faces;
    }
    if (face->name != NULL)
        return lash_select_name(shape, LASH_ANY_PART, face->name, rows, shape->faces, error);
    if (face->index >= 0)
        return lash_select_index(shape, LASH_ANY_PART, face->index, rows, error) ? 1 : 0;
    LashFaceQuery query = lash_face_query();
    if (face->type > 0) query.type = face->type - 1;
    if (model_has(face->radius)) query.radius = face->radius;
    if (model_has(face->tolerance)) query.tolerance = face->tolerance;
    static const int sides[] = {0, 1, -1}; // not given, outer, inner
    query.side = sides[face->side];
    query.has_axis = model_has(face->axis.x);
    query.has_near = model_has(face->near.x);
    query.axis = face->axis;
    query.near = face->near;
    if (query.has_axis && !(vec3_norm(query.axis) > 0)) {
        lash_error_set(error, LASH_ERROR_MODEL, "", "the axis of a face may not be zero");
        return 0;
    }
    return lash_select_query(shape, LASH_ANY_PART, &query, rows, error) ? 1 : 0;
}

bool model_select_faces(ModelContext* context, const char* path, const LashShape* shape,
                        const LashModelFace* faces, int count, int** rows, int* row_count) {
    int* all = model_alloc(context->model, (size_t)(2 * shape->faces + 1) * sizeof *all);
    int* found = all + shape->faces;
    *rows = all;
    *row_count = 0;
    for (int i = 0; i < count; ++i) {
        LashError inner = {0};
        int n = select_one(shape, &faces[i], found, &inner);
        if (n == 0) {
            char key[APP_JSON_PATH];
            snprintf(key, sizeof key, "%.120s", path);
            if (count > 1) app_json_path_index(key, sizeof key, i);
            return model_fail(context, key, "%s", inner.message);
        }
        for (int k = 0; k < n; ++k) { // each face once
            bool known = false;
            for (int m = 0; m < *row_count; ++m) known = known || all[m] == found[k];
            if (!known) all[(*row_count)++] = found[k];
        }
    }
    return true;
}

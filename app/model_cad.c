// Parts from STEP files: geometry/shape.h reads them; mass properties are summed over the solids of
// the file.
//
// About the center c of all solids: J = sum (J_i + V_i (|d|^2 I - d d')), d = c_i - c, for
// density 1.
#include <stdio.h>
#include <string.h>

#include "app/model_internal.h"
#include "core/math3.h"

// The STEP file stands relative to the model file.
static void cad_path(const LashModel* model, const char* step, char* path, size_t size) {
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

// The donor's shape for the same file and scale.
static LashShape* find_shared(const LashModel* donor, const LashModelPart* part) {
    for (int i = 0; donor != NULL && i < donor->parts; ++i) {
        const LashModelPart* other = &donor->part[i];
        bool scale =
            other->scale == part->scale || (!model_has(other->scale) && !model_has(part->scale));
        if (other->cad != NULL && scale && strcmp(other->step, part->step) == 0) return other->cad;
    }
    return NULL;
}

bool model_load_cad(ModelContext* context, const char* path, LashModelPart* part, double* volume,
                    Vec3* center, Mat3* inertia) {
    char key[96], file[1024];
    snprintf(key, sizeof key, "%s.step", path);
    cad_path(context->model, part->step, file, sizeof file);
    LashImport import = {.scale = model_has(part->scale) ? part->scale : 0};
    LashError inner = {0};
    part->cad = find_shared(context->donor, part);
    part->cad_shared = part->cad != NULL;
    if (part->cad == NULL) part->cad = lash_shape_load(file, &import, &inner);
    if (part->cad == NULL) {
        model_fail(context, key, "%s", inner.message);
        if (context->error->status == LASH_ERROR_MODEL) context->error->status = inner.status;
        return false;
    }
    sum_solids(part->cad, volume, center, inertia);
    return true;
}

#include "app/model/primitive.h"

LashShape* model_primitive(const LashModelShape* shape) {
    switch ((LashModelShapeType)shape->type) {
        case LASH_MODEL_BOX:
            return lash_shape_box(shape->size);
        case LASH_MODEL_CYLINDER:
            return lash_shape_cylinder(shape->radius, shape->length);
        case LASH_MODEL_SPHERE:
            return lash_shape_sphere(shape->radius);
        case LASH_MODEL_CAPSULE:
            return lash_shape_capsule(shape->radius, shape->length);
        case LASH_MODEL_RING:
            return lash_shape_ring(shape->inner_radius, shape->outer_radius, shape->length);
    }
    return NULL;
}

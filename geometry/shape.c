// Shapes: one block of memory, freed as one.
#include "geometry/shape.h"

#include "core/arena.h"

void lash_shape_destroy(LashShape* shape) {
    if (shape == NULL) return;
    lash_free(shape->memory);
    lash_free(shape);
}

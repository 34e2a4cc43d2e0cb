// Some parts of a shape as a shape of their own.
#ifndef LASH_GEOMETRY_EXTRACT_H
#define LASH_GEOMETRY_EXTRACT_H

#include <stdint.h>

#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// The parts with wanted[i] != 0 and what belongs to them; coordinates stay those of the file. An
// assembly takes along all that stands below it. The caller owns the result.
LashShape* lash_shape_extract(const LashShape* shape, const uint8_t* wanted);

#ifdef __cplusplus
}
#endif
#endif

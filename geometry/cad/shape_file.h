// A shape as one block of bytes: what `lash-cad` hands over and what the cache keeps.
#ifndef LASH_GEOMETRY_SHAPE_FILE_H
#define LASH_GEOMETRY_SHAPE_FILE_H

#include "geometry/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LASH_SHAPE_FILE_VERSION = 7 }; // raised whenever a table changes its meaning

// The block, from lash_alloc; the caller owns it.
void* lash_shape_pack(const LashShape* shape, size_t* bytes);

// Takes the block (from lash_alloc) over, also when it fails. NULL, with a message, when the block
// is damaged, of another version, or points outside of itself.
LashShape* lash_shape_unpack(void* block, size_t bytes, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

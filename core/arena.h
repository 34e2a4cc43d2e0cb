// Memory: counted allocation that never returns NULL, and a stack of scratch memory for the step.
#ifndef LASH_CORE_ARENA_H
#define LASH_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// Zeroed memory. Out of memory is reported and ends the program, so no caller checks for NULL.
void* lash_alloc(size_t bytes);
void* lash_realloc(void* memory, size_t bytes); // new bytes are not zeroed
// Room for one more behind count elements of an array that has grown by this alone: it doubles.
void* lash_grow(void* memory, int count, size_t element_bytes);
char* lash_strdup(const char* text);
void lash_free(void* memory); // NULL is allowed

// Calls of lash_alloc and lash_realloc so far, over all threads: a step must not change it.
uint64_t lash_allocation_count(void);

// A stack of scratch memory. Mark, push, release; it grows only in lash_arena_reserve, between
// steps.
typedef struct LashArena {
    char* memory;
    size_t capacity, used, peak; // [bytes]
} LashArena;

typedef struct LashArenaMark {
    size_t used;
} LashArenaMark;

void lash_arena_reserve(LashArena* arena,
                        size_t bytes); // contents are lost; only when nothing is pushed
void lash_arena_free(LashArena* arena);

// 64-byte aligned; zero where nothing was pushed before; asserts when full.
static inline void* lash_arena_push(LashArena* arena, size_t bytes) {
    size_t padded = (bytes + 63) / 64 * 64;
    LASH_ASSERT(padded <= arena->capacity - arena->used);
    void* memory = arena->memory + arena->used;
    arena->used += padded;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return memory;
}
static inline LashArenaMark lash_arena_mark(const LashArena* arena) {
    LashArenaMark mark = {arena->used};
    return mark;
}
static inline void lash_arena_release(LashArena* arena, LashArenaMark mark) {
    LASH_ASSERT(mark.used <= arena->used);
    arena->used = mark.used;
}
static inline double* lash_arena_doubles(LashArena* arena, size_t count) {
    return (double*)lash_arena_push(arena, count * sizeof(double));
}

#ifdef __cplusplus
}
#endif
#endif

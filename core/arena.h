// Memory: counted allocation that never returns NULL, and a stack of scratch memory for the step.
#ifndef LASH_CORE_ARENA_H
#define LASH_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// Zeroed memory, never NULL, so no caller checks for it: when there is none left the call that
// lash_guard runs ends with an error; outside of one it is reported and ends the program.
void* lash_alloc(size_t bytes);
void* lash_realloc(void* memory, size_t bytes); // new bytes are not zeroed
// Room for one more behind count elements of an array that has grown by this alone: it doubles.
void* lash_grow(void* memory, int count, size_t element_bytes);
char* lash_strdup(const char* text);
void lash_free(void* memory); // NULL is allowed

// Runs call(context). False, with error, when memory ran out in it: it ended in the middle then.
// LASH_GUARD_ALL frees all that it had allocated, for calls that make something new;
// LASH_GUARD_NOTHING leaves it to the things that the call was working on. One inside another is
// part of the outer one.
typedef enum LashGuardFrees { LASH_GUARD_NOTHING, LASH_GUARD_ALL } LashGuardFrees;
bool lash_guard(LashGuardFrees frees, void (*call)(void* context), void* context, LashError* error);
// For tests: the allocation of this number, counted from now in this thread, finds no memory; 0: none.
void lash_alloc_fail_at(int64_t number);

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

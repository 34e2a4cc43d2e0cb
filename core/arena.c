// Counted allocation and the scratch stack.
//
// The stack's memory comes straight from the system: its pages are zero, and one that is never
// touched costs nothing. A run reserves room for the most contacts it could have and uses little.
#include "core/arena.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/error.h"

enum { ALIGNMENT = 64 }; // a cache line

static _Atomic uint64_t allocation_count;

static void* checked(void* memory, size_t bytes) {
    atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
    if (memory == NULL && bytes > 0) {
        fprintf(stderr, "lash: out of memory: %zu bytes were asked for\n", bytes);
        exit(LASH_ERROR_INTERNAL);
    }
    return memory;
}

void* lash_alloc(size_t bytes) {
    return checked(calloc(1, bytes == 0 ? 1 : bytes), bytes);
}

void* lash_realloc(void* memory, size_t bytes) {
    return checked(realloc(memory, bytes == 0 ? 1 : bytes), bytes);
}

void* lash_grow(void* memory, int count, size_t element_bytes) {
    bool full = (count & (count - 1)) == 0; // 0, 1, 2, 4, ...: all that there is room for
    if (!full) return memory;
    return lash_realloc(memory, (size_t)(count == 0 ? 1 : 2 * count) * element_bytes);
}

char* lash_strdup(const char* text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(lash_alloc(bytes), text, bytes);
}

void lash_free(void* memory) {
    free(memory);
}

uint64_t lash_allocation_count(void) {
    return atomic_load_explicit(&allocation_count, memory_order_relaxed);
}

void lash_arena_reserve(LashArena* arena, size_t bytes) {
    LASH_ASSERT(arena->used == 0);
    if (bytes <= arena->capacity) return;
    size_t capacity = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    lash_arena_free(arena);
    void* memory = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    arena->memory = checked(memory == MAP_FAILED ? NULL : memory, capacity);
    arena->capacity = capacity;
}

void lash_arena_free(LashArena* arena) {
    if (arena->memory != NULL) munmap(arena->memory, arena->capacity);
    *arena = (LashArena){0};
}

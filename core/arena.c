// Counted allocation and the scratch stack.
//
// The stack's memory comes straight from the system: its pages are zero, and one that is never
// touched costs nothing. A run reserves room for the most contacts it could have and uses little.
//
// Out of memory inside a guarded call leaves it by longjmp: only C stands between lash_alloc and the
// guard. What other libraries hold then (an open file, a JSON tree) is lost.
#include "core/arena.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/error.h"

enum { ALIGNMENT = 64 }; // a cache line

static _Atomic uint64_t allocation_count;

// ---- guarded calls ------------------------------------------------------------------------------

typedef struct Block {
    void* memory;  // NULL: free
    size_t mapped; // bytes, of memory that came from mmap; 0: of the heap
} Block;

// A call that is told of a lack of memory. What it allocates stands in a hash table.
typedef struct Guard {
    jmp_buf back;
    size_t asked; // bytes that there were not
    bool tracks;
    Block* block; // (capacity, a power of two), linear probing
    size_t count, capacity;
} Guard;

static _Thread_local Guard* guard;
static _Thread_local int64_t fails_in; // 0: no allocation fails on purpose

void lash_alloc_fail_at(int64_t number) {
    fails_in = number;
}

static bool fails_on_purpose(void) {
    return fails_in > 0 && --fails_in == 0;
}

static void out_of_memory(size_t bytes) {
    if (guard != NULL) {
        guard->asked = bytes;
        longjmp(guard->back, 1);
    }
    fprintf(stderr, "lash: out of memory: %zu bytes were asked for\n", bytes);
    exit(LASH_ERROR_INTERNAL);
}

static size_t home_of(const Guard* own, const void* memory) {
    return ((uintptr_t)memory >> 4) * 0x9e3779b97f4a7c15u & (own->capacity - 1);
}

static void insert(Guard* own, Block block) {
    size_t i = home_of(own, block.memory);
    while (own->block[i].memory != NULL) i = (i + 1) & (own->capacity - 1);
    own->block[i] = block;
    ++own->count;
}

static bool make_room(Guard* own) {
    if (2 * own->count < own->capacity) return true;
    Guard more = *own;
    more.capacity = own->capacity == 0 ? 1024 : 2 * own->capacity;
    more.count = 0;
    more.block = calloc(more.capacity, sizeof *more.block);
    if (more.block == NULL) return false;
    for (size_t i = 0; i < own->capacity; ++i)
        if (own->block[i].memory != NULL) insert(&more, own->block[i]);
    free(own->block);
    own->block = more.block;
    own->capacity = more.capacity;
    return true;
}

static void* remember(void* memory, size_t mapped, size_t bytes) {
    atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
    if (memory == NULL) out_of_memory(bytes);
    if (guard == NULL || !guard->tracks) return memory;
    if (make_room(guard)) {
        insert(guard, (Block){memory, mapped});
        return memory;
    }
    if (mapped > 0)
        munmap(memory, mapped);
    else
        free(memory);
    out_of_memory(bytes);
    return NULL;
}

// Was it known?
static bool forget(void* memory) {
    if (guard == NULL || !guard->tracks || guard->capacity == 0 || memory == NULL) return false;
    size_t last = guard->capacity - 1, i = home_of(guard, memory);
    while (guard->block[i].memory != NULL && guard->block[i].memory != memory) i = (i + 1) & last;
    if (guard->block[i].memory == NULL) return false; // older than the guard
    guard->block[i].memory = NULL;
    --guard->count;
    for (size_t k = (i + 1) & last; guard->block[k].memory != NULL; k = (k + 1) & last) {
        Block moved = guard->block[k]; // those behind it close up
        guard->block[k].memory = NULL;
        --guard->count;
        insert(guard, moved);
    }
    return true;
}

static void free_all(Guard* own) {
    for (size_t i = 0; i < own->capacity; ++i) {
        Block* block = &own->block[i];
        if (block->memory == NULL) continue;
        if (block->mapped > 0)
            munmap(block->memory, block->mapped);
        else
            free(block->memory);
    }
}

bool lash_guard(LashGuardFrees frees, void (*call)(void* context), void* context,
                LashError* error) {
    if (guard != NULL) {
        call(context);
        return true;
    }
    Guard own = {.tracks = frees == LASH_GUARD_ALL};
    fenv_t arithmetic; // a step changes how tiny numbers are treated
    fegetenv(&arithmetic);
    guard = &own;
    bool good = setjmp(own.back) == 0;
    if (good) call(context);
    guard = NULL;
    if (!good) {
        fesetenv(&arithmetic);
        free_all(&own);
        if (error != NULL) *error = (LashError){0};
        lash_error_set(error, LASH_ERROR_INTERNAL, "", "out of memory: %zu bytes were asked for",
                       own.asked);
    }
    free(own.block);
    return good;
}

// ---- allocation ---------------------------------------------------------------------------------

void* lash_alloc(size_t bytes) {
    return remember(fails_on_purpose() ? NULL : calloc(1, bytes == 0 ? 1 : bytes), 0, bytes);
}

void* lash_realloc(void* memory, size_t bytes) {
    uintptr_t before = (uintptr_t)memory;
    bool known = forget(memory);
    void* more = fails_on_purpose() ? NULL : realloc(memory, bytes == 0 ? 1 : bytes);
    if (more == NULL && known) insert(guard, (Block){(void*)before, 0}); // it is still there
    return remember(more, 0, bytes);
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
    forget(memory);
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
    void* memory = MAP_FAILED;
    if (!fails_on_purpose())
        memory = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    arena->memory = remember(memory == MAP_FAILED ? NULL : memory, capacity, capacity);
    arena->capacity = capacity;
}

void lash_arena_free(LashArena* arena) {
    forget(arena->memory);
    if (arena->memory != NULL) munmap(arena->memory, arena->capacity);
    *arena = (LashArena){0};
}

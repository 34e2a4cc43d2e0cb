// The scratch stack: zeroed, aligned, and its memory comes back.
#include "test.h"

#include "core/arena.h"

static void memory_is_zero_until_it_is_used(void** state) {
    (void)state;
    LashArena arena = {0};
    for (size_t bytes = 1000; bytes < 10000000; bytes *= 10) {
        lash_arena_reserve(&arena, bytes + 64);
        LashArenaMark mark = lash_arena_mark(&arena);
        unsigned char* memory = lash_arena_push(&arena, bytes);
        for (size_t i = 0; i < bytes; ++i) assert_int_equal(memory[i], 0);
        memset(memory, 0xff, bytes); // the next, larger one is new
        lash_arena_release(&arena, mark);
    }
    lash_arena_free(&arena);
    assert_null(arena.memory);
}

static void released_memory_is_given_again(void** state) {
    (void)state;
    LashArena arena = {0};
    lash_arena_reserve(&arena, 4096);
    char* first = lash_arena_push(&arena, 10);
    LashArenaMark mark = lash_arena_mark(&arena);
    char* second = lash_arena_push(&arena, 100);
    assert_int_equal((uintptr_t)first % 64, 0);
    assert_int_equal(second - first, 64);
    lash_arena_release(&arena, mark);
    assert_ptr_equal(lash_arena_push(&arena, 1), second);
    assert_int_equal(arena.peak, 192);
    lash_arena_free(&arena);
}

RUN(TEST(memory_is_zero_until_it_is_used), TEST(released_memory_is_given_again))

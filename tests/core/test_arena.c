// The scratch stack: zeroed, aligned, and its memory comes back. Archives: what is written is read.
#include "test.h"

#include "core/archive.h"
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

typedef struct Sample {
    double number[40];
    char text[13];
    int count;
} Sample;

static void pass_sample(LashArchive* archive, Sample* sample) {
    lash_archive(archive, sample->number, sizeof sample->number);
    lash_archive(archive, sample->text, sizeof sample->text);
    lash_archive_count(archive, &sample->count, 9);
}

// Zeros at the beginning, in the middle, at the end, alone; each cut off anywhere is refused.
static void an_archive_gives_back_what_it_took(void** state) {
    (void)state;
    for (unsigned pattern = 0; pattern < 64; ++pattern) {
        Sample sample = {.text = "thirteen byte", .count = (int)(pattern % 10)}, back;
        for (int i = 0; i < 40; ++i) sample.number[i] = pattern >> (i % 6) & 1 ? i - 7.5 : 0;
        LashArchive measure = {.use = LASH_ARCHIVE_MEASURES};
        pass_sample(&measure, &sample);
        char* memory = malloc(measure.at);
        LashArchive write = {.use = LASH_ARCHIVE_WRITES, .memory = memory, .bytes = measure.at};
        pass_sample(&write, &sample);
        assert_int_equal(write.at, measure.at);
        for (size_t bytes = 0; bytes <= measure.at; ++bytes) {
            LashArchive read = {.use = LASH_ARCHIVE_READS, .memory = memory, .bytes = bytes};
            memset(&back, 1, sizeof back);
            pass_sample(&read, &back);
            assert_int_equal(read.failed, bytes < measure.at);
        }
        assert_memory_equal(back.number, sample.number, sizeof sample.number);
        assert_memory_equal(back.text, sample.text, sizeof sample.text);
        assert_int_equal(back.count, sample.count);
        free(memory);
    }
    double zero[1000] = {0};
    LashArchive measure = {.use = LASH_ARCHIVE_MEASURES};
    lash_archive(&measure, zero, sizeof zero);
    assert_int_equal(measure.at, 8);
}

static void a_count_beyond_its_limit_fails_the_archive(void** state) {
    (void)state;
    int count = 10;
    LashArchive write = {.use = LASH_ARCHIVE_WRITES, .memory = (char*)(int[1]){0}, .bytes = 4};
    lash_archive_count(&write, &count, 100);
    LashArchive read = {.use = LASH_ARCHIVE_READS, .memory = write.memory, .bytes = 4};
    lash_archive_count(&read, &count, 9);
    assert_true(read.failed);
    assert_int_equal(count, 0);
}

RUN(TEST(memory_is_zero_until_it_is_used), TEST(released_memory_is_given_again),
    TEST(an_archive_gives_back_what_it_took), TEST(a_count_beyond_its_limit_fails_the_archive))

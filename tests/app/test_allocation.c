// A step allocates nothing: malloc itself is counted, so third-party calls are seen too.
#include "test.h"

#include "app/model/model.h"
#include "core/arena.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
static const int counts_malloc = 0; // the sanitizer owns malloc
static volatile uint64_t calls;     // the compiler takes malloc for one that changes nothing else
#else
// glibc lets a program define malloc and still reach its own.
extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* memory, size_t bytes);
static const int counts_malloc = 1;
static volatile uint64_t calls; // the compiler takes malloc for one that changes nothing else
void* malloc(size_t bytes) {
    ++calls;
    return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
    ++calls;
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
    ++calls;
    return __libc_realloc(memory, bytes);
}
#endif

static void steps_of(const char* file, int steps) {
    LashError error = {0};
    LashModel* model = lash_model_load(file, NULL, 0, &error);
    if (model == NULL) fail_msg("%s", error.message);
    LashMechanism* mech = lash_model_build(model, &error);
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &model->simulation.settings);
    uint64_t before = calls, counted = lash_allocation_count();
    for (int i = 0; i < steps; ++i) assert_int_equal(lash_sim_step(sim).outcome, LASH_CONVERGED);
    uint64_t after = calls, counted_after = lash_allocation_count();
    assert_int_equal(counted, counted_after);
    assert_int_equal(before, after);
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
}

static void the_counter_counts(void** state) {
    (void)state;
    if (!counts_malloc) skip();
    uint64_t before = calls;
    void* volatile memory = malloc(10);
    free(memory);
    assert_int_equal(calls, before + 1);
}

static void a_step_allocates_nothing(void** state) {
    (void)state;
    steps_of(LASH_SOURCE_DIR "/models/slider_crank/ideal.json", 2000);
    steps_of(LASH_SOURCE_DIR "/models/slider_crank/driven_position.json", 500);
    steps_of(LASH_SOURCE_DIR "/models/benchmarks/a03_andrews.json", 500);
    steps_of(LASH_SOURCE_DIR "/models/benchmarks/euler_top.json", 500);
    steps_of(LASH_SOURCE_DIR "/models/benchmarks/a02_n2.json", 1500); // through a flat position
    steps_of(LASH_SOURCE_DIR "/models/benchmarks/a04_bricard.json", 300);
    steps_of(LASH_SOURCE_DIR "/models/benchmarks/a05_governor.json", 300);
    steps_of(LASH_SOURCE_DIR "/models/papers/slider_crank_play.json", 500);
}

RUN(TEST(the_counter_counts), TEST(a_step_allocates_nothing))

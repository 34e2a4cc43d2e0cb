// Large models load in time in proportion to their size.
#include <time.h>
#include "test.h"

#include "app/lash.h"

typedef struct Text {
    char* at;
    size_t used, capacity;
} Text;

static void put(Text* text, const char* format, ...) {
    va_list list;
    if (text->capacity - text->used < 1000) {
        text->capacity = 2 * text->capacity + 10000;
        text->at = realloc(text->at, text->capacity);
    }
    va_start(list, format);
    text->used +=
        (size_t)vsnprintf(text->at + text->used, text->capacity - text->used, format, list);
    va_end(list);
}

static void put_parts(Text* text, int count) {
    put(text, "\"parts\": [");
    for (int i = 0; i < count; ++i)
        put(text,
            "%s{\"name\": \"part_%d\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.01}, "
            "\"density\": 7850, \"pose\": {\"position\": [%g, 0, 0]}}",
            i == 0 ? "" : ", ", i, 0.1 * i);
    put(text, "]");
}

static Text parts_only(int count) {
    Text text = {0};
    put(&text, "{\"format\": \"lash-model/1\", \"name\": \"many\", ");
    put_parts(&text, count);
    put(&text, ", \"simulation\": {\"step\": 1e-3, \"duration\": 1}}");
    return text;
}

static Text chain_of_joints(int count) {
    Text text = {0};
    put(&text, "{\"format\": \"lash-model/1\", \"name\": \"chain\", ");
    put_parts(&text, count);
    put(&text, ", \"joints\": [");
    for (int i = 0; i < count; ++i) {
        put(&text, "%s{\"name\": \"joint_%d\", \"type\": \"revolute\", \"a\": ", i == 0 ? "" : ", ",
            i);
        if (i == 0) put(&text, "\"ground\"");
        if (i > 0) put(&text, "\"part_%d\"", i - 1);
        put(&text, ", \"b\": \"part_%d\", \"point\": [%g, 0, 0], \"axis\": [0, 0, 1]}", i, 0.1 * i);
    }
    put(&text, "], \"simulation\": {\"step\": 1e-3, \"duration\": 1}}");
    return text;
}

// Every parameter needs the one that stands behind it.
static Text chain_of_parameters(int count) {
    Text text = {0};
    put(&text, "{\"format\": \"lash-model/1\", \"name\": \"chain\", \"parameters\": {");
    for (int i = count - 1; i > 0; --i) put(&text, "\"p%d\": \"p%d + 1\", ", i, i - 1);
    put(&text, "\"p0\": 1}, ");
    put_parts(&text, 1);
    put(&text, ", \"simulation\": {\"step\": 1e-3, \"duration\": 1}}");
    return text;
}

// Processor time to load and build it [s], the less of two.
static double seconds(Text (*make)(int), int count) {
    double best = 1e9;
    Text text = make(count);
    for (int i = 0; i < 2; ++i) {
        LashError error = {0};
        clock_t start = clock();
        LashModel* model = lash_model_parse("m.json", text.at, text.used, NULL, 0, &error);
        if (model == NULL) fail_msg("%s: %s", error.where, error.message);
        LashMechanism* mech = lash_model_build(model, &error);
        assert_non_null(mech);
        lash_mechanism_system(mech);
        double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (spent < best) best = spent;
        lash_mechanism_destroy(mech);
        lash_model_destroy(model);
    }
    free(text.at);
    return best;
}

// Eight times the size: 64 times as long when a loop runs in a loop.
static void assert_linear(Text (*make)(int), int count) {
    double small = seconds(make, count), large = seconds(make, 8 * count);
    if (large > 20 * small)
        fail_msg("%g s for %d, %g s for eight times as many", small, count, large);
}

static void parts_load_in_linear_time(void** state) {
    (void)state;
    assert_linear(parts_only, 4000);
}

static void joints_load_in_linear_time(void** state) {
    (void)state;
    assert_linear(chain_of_joints, 1500);
}

static void parameters_load_in_linear_time_however_long_their_chain(void** state) {
    (void)state;
    assert_linear(chain_of_parameters, 4000);
}

RUN(TEST(parts_load_in_linear_time), TEST(joints_load_in_linear_time),
    TEST(parameters_load_in_linear_time_however_long_their_chain))

// What every test program begins with: cmocka, which wants these headers before it.
#ifndef LASH_TESTS_TEST_H
#define LASH_TESTS_TEST_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// int main: runs the tests that are named.
#define TEST(name) cmocka_unit_test(name)
#define RUN(...)                                          \
    int main(void) {                                      \
        const struct CMUnitTest tests[] = {__VA_ARGS__};  \
        return cmocka_run_group_tests(tests, NULL, NULL); \
    }

#endif

// Errors in three channels: our bugs assert, user input fills a LashError, hard numerics return an
// outcome.
#ifndef LASH_CORE_ERROR_H
#define LASH_CORE_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The values are the exit codes of the program.
typedef enum LashStatus {
    LASH_OK = 0,
    LASH_ERROR_INTERNAL = 1,
    LASH_ERROR_USAGE = 2,
    LASH_ERROR_MODEL = 3,
    LASH_ERROR_CAD = 4,
    LASH_ERROR_NUMERICS = 5,
    LASH_ERROR_SPEC = 6, // finished, but out of spec
    LASH_ERROR_IO = 7
} LashStatus;

typedef struct LashError {
    LashStatus status;
    char file[256];     // the user's file, empty when none is concerned
    char where[192];    // line and column, JSON path, option name, time of a step: the place
    char message[1024]; // expected, found, what to do
} LashError;

#if defined(__GNUC__)
#define LASH_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define LASH_PRINTF(format_index, first)
#endif

// Fills error (unless NULL or already filled: the first cause is the one to report) and returns
// false.
bool lash_error_set(LashError* error, LashStatus status, const char* where, const char* format, ...)
    LASH_PRINTF(4, 5);

// A NULL that a program passed where there must be something: fills error like lash_error_set, exit
// code 2; `what` says what was expected. For the public interface.
bool lash_error_null(LashError* error, const char* what);

// Names the file an error is about, when it has none yet.
void lash_error_file(LashError* error, const char* file);

// Prints expression and place to stderr and aborts. Only LASH_ASSERT calls it.
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void lash_assert_failed(const char* expression, const char* file, int line);

// A broken promise inside the program: on in every build.
#define LASH_ASSERT(expression) \
    ((expression) ? (void)0 : lash_assert_failed(#expression, __FILE__, __LINE__))

// The same for checks that cost O(n): debug builds only.
#ifdef NDEBUG
#define LASH_VALIDATE(expression) ((void)0)
#else
#define LASH_VALIDATE(expression) LASH_ASSERT(expression)
#endif

// Library folders never print. Who wants their messages sets a callback (NULL: silent).
typedef void LashLog(void* context, const char* message);
void lash_set_log(LashLog* log, void* context);
void lash_log(const char* format, ...) LASH_PRINTF(1, 2);

#ifdef __cplusplus
}
#endif
#endif

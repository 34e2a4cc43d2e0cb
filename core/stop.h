// A request to stop, asked for inside everything that may take long: a step in the middle of its
// iterations ends within a fraction of a second.
#ifndef LASH_CORE_STOP_H
#define LASH_CORE_STOP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// asked returns true from the moment on that work shall end; it is called thousands of times a
// second, from the thread that works.
typedef struct LashStop {
    bool (*asked)(void* context); // NULL: never
    void* context;
} LashStop;

static inline bool lash_stop_asked(const LashStop* stop) {
    return stop != NULL && stop->asked != NULL && stop->asked(stop->context);
}

#ifdef __cplusplus
}
#endif
#endif

// lash-make-scale MODEL N: writes a mechanism of size N to standard output (models/scale/README.md).
#include <stdlib.h>
#include <string.h>

#include "app/bench/scale_models.h"

static int usage(void) {
    fprintf(stderr, "usage: lash-make-scale MODEL N > FILE.json\n");
    for (int i = 0; i < APP_SCALE_MODELS; ++i)
        fprintf(stderr, "  %-16s N %s: %s\n", app_scale_name((AppScaleModel)i),
                app_scale_counts((AppScaleModel)i), app_scale_help((AppScaleModel)i));
    return 2;
}

int main(int argc, char** argv) {
    if (argc != 3) return usage();
    for (int i = 0; i < APP_SCALE_MODELS; ++i) {
        if (strcmp(argv[1], app_scale_name((AppScaleModel)i)) != 0) continue;
        char* rest;
        long n = strtol(argv[2], &rest, 10);
        if (*rest != '\0' || n < app_scale_least((AppScaleModel)i) || n > 100000) {
            fprintf(stderr, "lash-make-scale: expected a number from %d to 100000, found '%s'\n",
                    app_scale_least((AppScaleModel)i), argv[2]);
            return 2;
        }
        app_scale_write((AppScaleModel)i, (int)n, stdout);
        return fflush(stdout) == 0 ? 0 : 7;
    }
    fprintf(stderr, "lash-make-scale: there is no model '%s'\n", argv[1]);
    return usage();
}

// lash bench: the benches, one function each.
#include <stdio.h>
#include <string.h>

#include "app/bench_geometry.h"
#include "app/bench_solvers.h"
#include "app/commands.h"
#include "app/study/study_command.h"
#include "app/suggest.h"

typedef struct Bench {
    const char *name, *summary;
    int (*run)(int argc, char** argv);
} Bench;

static const Bench benches[] = {
    {"solvers", "friction and complementarity solvers on problem files", app_bench_solvers},
    {"geometry", "signed gaps between CAD features", app_bench_geometry},
    {"mechanisms", "microseconds per step of whole mechanisms", app_bench_mechanisms},
    {"viewer", "pictures per second, seeking in a result", app_bench_viewer},
    {"study", "studies: workers busy, overhead per sample, time of a thousand samples",
     app_bench_study},
};
enum { BENCHES = sizeof benches / sizeof *benches };

int app_bench(int argc, char** argv) {
    bool help = argc >= 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);
    if (argc >= 2 && argv[1][0] != '-') {
        char hint[128];
        AppSuggestion near = app_suggestion(argv[1]);
        for (int i = 0; i < BENCHES; ++i) {
            if (strcmp(benches[i].name, argv[1]) == 0) return benches[i].run(argc - 1, argv + 1);
            app_suggestion_offer(&near, benches[i].name);
        }
        fprintf(stderr, "lash: there is no bench '%s'%s\n", argv[1],
                app_suggestion_text(&near, hint, sizeof hint));
        return LASH_ERROR_USAGE;
    }
    FILE* out = help ? stdout : stderr;
    fprintf(out, "usage: lash bench NAME [options]\n\nbenches:\n");
    for (int i = 0; i < BENCHES; ++i)
        fprintf(out, "  %-12s %s\n", benches[i].name, benches[i].summary);
    return help ? 0 : LASH_ERROR_USAGE;
}

// lash bench: the benches, one function each.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/bench/bench_geometry.h"
#include "app/bench/bench_solvers.h"
#include "app/cli/machine.h"
#include "app/cli/suggest.h"
#include "app/commands.h"
#include "app/study/study_command.h"
#include "app/version.h"

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

// Solvers, geometry and mechanisms with date and machine, and how to repeat it.
static int compare(void) {
    char date[32], machine[128];
    time_t now = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &tm));
    app_machine_name(machine, sizeof machine);
    printf(
        "Lash %s on %s, %s. Ratio: time of the other program / ours, same run.\n"
        "Repeat: make bench\n",
        LASH_VERSION, machine, date);
    int code = 0;
    for (int i = 0; i < 3 && code == 0; ++i) {
        char* argv[] = {(char*)benches[i].name, NULL};
        printf("\n-- %s: %s\n", benches[i].name, benches[i].summary);
        fflush(stdout);
        code = benches[i].run(1, argv);
    }
    return code;
}

int app_bench(int argc, char** argv) {
    bool help = argc >= 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);
    if (argc >= 2 && argv[1][0] != '-') {
        char hint[300];
        AppSuggestion near = app_suggestion(argv[1]);
        for (int i = 0; i < BENCHES; ++i) {
            if (strcmp(benches[i].name, argv[1]) == 0) return benches[i].run(argc - 1, argv + 1);
            app_suggestion_offer(&near, benches[i].name);
        }
        fprintf(stderr, "lash: there is no bench '%s'%s\n", argv[1],
                app_suggestion_names(&near, hint, sizeof hint));
        return LASH_ERROR_USAGE;
    }
    if (argc >= 2 && !help) {
        fprintf(stderr, "lash: found '%s' before the name of a bench; usage: lash bench NAME %s\n",
                argv[1], argv[1]);
        return LASH_ERROR_USAGE;
    }
    if (!help) return compare();
    printf(
        "usage: lash bench [NAME [options]]\n\nWithout a name: solvers, geometry and mechanisms "
        "beside the other programs, on one page.\n\nbenches:\n");
    for (int i = 0; i < BENCHES; ++i) printf("  %-12s %s\n", benches[i].name, benches[i].summary);
    return 0;
}

// Stand-in until the command line arrives: only `lash bench solvers`.
#include <string.h>

#include "app/bench_solvers.h"

int main(int argc, char** argv) {
    if (argc >= 3 && strcmp(argv[1], "bench") == 0 && strcmp(argv[2], "solvers") == 0)
        return app_bench_solvers(argc - 3, argv + 3);
    return 2;
}

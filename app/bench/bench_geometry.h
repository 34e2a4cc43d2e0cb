// `lash bench geometry`: time per query of every kind of contact pair.
#ifndef LASH_APP_BENCH_GEOMETRY_H
#define LASH_APP_BENCH_GEOMETRY_H

// argv: the name of the bench, [--json]. Returns the exit code.
int app_bench_geometry(int argc, char** argv);

#endif

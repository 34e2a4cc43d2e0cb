// What the files of `lash bench geometry` share.
#ifndef LASH_APP_BENCH_GEOMETRY_INTERNAL_H
#define LASH_APP_BENCH_GEOMETRY_INTERNAL_H

#include "core/math3.h"
#include "geometry/pairs.h"

enum { BENCH_POSES = 1000, BENCH_MAX_ROWS = 64 };

typedef struct BenchRow {
    const char* name;
    char note[120];
    double us, peer_us; // peer_us 0: not measured
    const char* family; // rows that measure growth
    double size, us_per_unit;
} BenchRow;

typedef struct GeometryBench {
    BenchRow row[BENCH_MAX_ROWS];
    int rows;
    double sink;    // keeps the compiler from dropping the work
    char note[320]; // why there is no peer; empty: there is one
} GeometryBench;

typedef enum BenchPoints { BENCH_GAPS_ONLY, BENCH_EVERYTHING } BenchPoints;

BenchRow* bench_add_row(GeometryBench* bench, const char* name, double us);
// A smooth motion: small swings around `middle`, by length [m] and angle [rad].
void bench_motion(Pose middle, double length, double angle, Pose motion[BENCH_POSES]);
// Times a pair through the pair manager along the motion of a; b stands still.
BenchRow* bench_pair(GeometryBench* bench, const char* name, const LashPairDef* def, Pose middle,
                     double length, double angle, BenchPoints what);

// Face pairs of STEP parts made on the spot, with BRepExtrema on the same faces and poses.
void bench_geometry_occt(GeometryBench* bench);

#endif

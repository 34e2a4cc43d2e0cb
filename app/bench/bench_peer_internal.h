// The parts of lash-bench-peer: each is one library to compare with, compiled when it is installed.
#ifndef LASH_APP_BENCH_PEER_INTERNAL_H
#define LASH_APP_BENCH_PEER_INTERNAL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PeerScene { // the slider-crank of app/verify/paper_systems.h, its data and start
    PEER_IDEAL,          // no play: the slider guided on the axis
    PEER_MINIMAL,        // play in the guide, three angles, planar friction
    PEER_MAXIMAL,        // play in the guide, three bodies, friction in space
    PEER_SCENES
} PeerScene;

typedef struct PeerRun {
    double us;         // processor time per step
    double angle;      // of the crank at the end [rad]
    double violation;  // largest penetration, or joint error of the ideal mechanism [m]
    double index_sets; // iterations per step, NAN: the scheme has none
    int steps;
    char note[200]; // scheme and settings
} PeerRun;

// One run of `duration` with step h; false when the library fails or does not offer the scene.
bool peer_siconos(PeerScene scene, double h, double duration, PeerRun* run);
bool peer_mujoco(PeerScene scene, double h, double duration, PeerRun* run);
bool peer_mujoco_bodies(PeerScene scene, double h, double duration, PeerRun* run);

// lash-bench-peer solvers TOLERANCE FILE...
int peer_solvers(int argc, char** argv);

double peer_processor_time(void); // of this thread [us]

#ifdef __cplusplus
}
#endif
#endif

// The mechanisms of `lash bench mechanisms`: model files, and the slider-crank with play of
// app/verify/paper_systems.h in minimal and in maximal coordinates, chains and loops of any size.
#ifndef LASH_APP_BENCH_SCENES_H
#define LASH_APP_BENCH_SCENES_H

#include "app/model/model.h"
#include "core/lagrangian.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AppSceneKind {
    APP_SCENE_MODEL,
    APP_SCENE_MINIMAL,
    APP_SCENE_MAXIMAL,
    APP_SCENE_FOUR_BARS, // of any size: app_scene_open_growth
    APP_SCENE_CHAIN,
    APP_SCENE_BAR // elastic bar against a wall
} AppSceneKind;

typedef struct AppScene {
    LashModel* model;           // NULL: built in
    LashMechanism* mech;        // NULL: minimal coordinates
    LashLagrangian* lagrangian; // NULL: bodies
    const LashSystem* system;
    LashSettings settings;
} AppScene;

typedef struct AppSceneRun {
    double us;             // processor time of this thread per step, mean over the run
    double angle;          // of the first joint at the end [rad]
    double penetration;    // largest of all steps [m]
    double position_error; // largest joint error of all steps [m, rad]
    double index_sets;     // iterations per step
    int steps;
} AppSceneRun;

// path: of the model file, else NULL. False with error when the file does not load.
bool app_scene_open(AppSceneKind kind, const char* path, double h, AppScene* scene,
                    LashError* error);
// size: windows of four-bars (2 size + 1 bodies), links of a chain, elements of a bar.
void app_scene_open_growth(AppSceneKind kind, int size, double h, AppScene* scene);
void app_scene_close(AppScene* scene);
// One run from the start; false with error when a step fails.
bool app_scene_run(const AppScene* scene, int steps, AppSceneRun* run, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

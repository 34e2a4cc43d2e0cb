// Lash: mechanisms with joints, play, impact and friction. One header for programs that use
// liblash.
//
//     LashError error = {0};
//     LashModel* model = lash_model_load("model.json", NULL, 0, &error);
//     LashMechanism* mech = lash_model_build(model, &error);
//     LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &model->simulation.settings);
//     while (lash_sim_time(sim) < 1 && lash_sim_step(sim).outcome == LASH_CONVERGED) { ... }
#ifndef LASH_H
#define LASH_H

#include "app/model/model.h"
#include "app/run/record.h"
#include "core/arena.h"
#include "core/body.h"
#include "core/error.h"
#include "core/expression.h"
#include "core/system.h"
#include "core/types.h"
#include "geometry/contact_point.h"
#include "geometry/shape.h"
#include "joints/mechanism.h"
#include "solvers/mobility.h"
#include "solvers/sim.h"

#ifdef LASH_MATH // before this header: vec3_add and the like, small functions without a prefix
#include "core/math3.h"
#endif

#if defined(__GNUC__)
// Where this header stood when the program was built: the static library looks for its helper
// program lash-cad below that tree, wherever the tree and the program are.
#ifdef __cplusplus
extern "C" {
#endif
extern const char lash_header_file[] __attribute__((weak));
const char lash_header_file[] = __FILE__;
#ifdef __cplusplus
}
#endif
#endif

#endif

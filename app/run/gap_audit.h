// Gaps of a run held against gaps from scratch.
//
// The step follows the contact points of CAD surfaces from step to step. On surfaces whose gap is
// not continuous (faces that cross, are turned inside out, or whose trims leave a crack) it can
// pass an overlap that `lash check` of the same state would see. So at recorded frames, five
// hundred of them and the last one, the contacts that the step looked at are evaluated anew,
// without any memory of the run; those that need a search (free surfaces) at twenty.
#ifndef LASH_APP_GAP_AUDIT_H
#define LASH_APP_GAP_AUDIT_H

#include "app/cli/json_writer.h"
#include "app/run/contact_log.h"
#include "joints/mechanism.h"
#include "solvers/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppGapAudit {
    const LashMechanism* mech; // borrowed
    LashPairWork** work;       // (contacts) NULL: not between CAD surfaces
    LashContactPoint* point;   // scratch
    int capacity;
    int64_t frames, differing; // frames looked at; of them with a difference
    int64_t seen;              // frames of the run so far
    int64_t often, rare;       // looks at every often-th of them, searches at every rare-th
    // The largest difference: contact -1: none.
    int contact;
    double time, step, fresh; // [s], gap of the step, gap from scratch [m]
    Vec3 place;               // world [m]
} AppGapAudit;

// frames: how many there will be.
AppGapAudit app_gap_audit_create(const LashMechanism* mech, int64_t frames);
void app_gap_audit_free(AppGapAudit* audit);

// After a step of sim, which the log knows.
void app_gap_audit_frame(AppGapAudit* audit, LashSim* sim, const AppContactLog* log, bool last);

// A line about the largest difference; false: there is none.
bool app_gap_audit_text(const AppGapAudit* audit, char* text, size_t size);
void app_gap_audit_put(AppJson* json, const AppGapAudit* audit);

#ifdef __cplusplus
}
#endif
#endif

// What a run reports: frames for the result file, outputs of the model, peaks.
#ifndef LASH_APP_MEASURE_H
#define LASH_APP_MEASURE_H

#include "app/model/model.h"
#include "app/run/contact_log.h"
#include "app/run/record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppCounters { // over all steps
    int64_t steps;
    int64_t substeps, substepped; // parts of all steps; steps that were solved in parts
    int64_t newton, projection, index_set, solver;             // sums
    int newton_max, projection_max, index_set_max, solver_max; // per step
    int contacts, contacts_max;
    int64_t opening; // contacts that pushed although they were opening at the start of a step
    int64_t impacts; // contacts that closed, or were hit again
    double position, velocity, penetration;                   // largest violations
    double frame_position, frame_velocity, frame_penetration; // since the last frame
    double shift, shift_time; // largest displacement of a part by the projection [m], when [s]
    double frame_shift;       // since the last frame
    int shift_body, frame_shift_body; // the part, where that is not 0
} AppCounters;

// Adds the step that the sim has just done.
void app_counters_add(AppCounters* counters, const LashStepInfo* info, const LashSim* sim);

// What a frame of the model holds; algorithmic: of its scheme.
LashRecordSizes app_record_sizes(const LashModel* model, bool algorithmic);

// What of a joint is measured, as bits.
enum { APP_JOINT_COORDINATE = 1, APP_JOINT_SPEED = 2, APP_JOINT_REACTION = 4, APP_JOINT_ALL = 7 };
// What of it the outputs of a model read.
void app_outputs_read(const LashModel* model, uint8_t* joint_parts); // (joints)

// Fills a frame (layout of record.h) with the state of the sim after its last step of length h; the
// contacts' part is left to contact_log.h. Of joint j only joint_parts[j], the rest stays as it is;
// NULL: all of them.
void app_measure_frame(const LashMechanism* mech, LashSim* sim, const AppCounters* counters,
                       const LashRecordLayout* layout, double h, const uint8_t* joint_parts,
                       double* frame);

// Running statistics of one output.
typedef struct AppStatistic {
    bool filled;
    double time, value;                 // last sample
    double start;                       // time of the first sample
    double least, largest, sum, square; // sum and square: integrals over time
    double crossing;                    // NAN: none so far
} AppStatistic;

void app_statistic_add(AppStatistic* statistic, const LashModelOutput* output, double time,
                       double value);
double app_statistic_result(const AppStatistic* statistic, const LashModelOutput* output);

#ifdef __cplusplus
}
#endif
#endif

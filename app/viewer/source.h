// Where frames come from: a simulation that runs in a thread of its own, or a result file.
#ifndef LASH_APP_VIEWER_SOURCE_H
#define LASH_APP_VIEWER_SOURCE_H

#include "app/run/record.h"
#include "app/run/session.h"
#include "app/viewer/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewSource ViewSource;

typedef struct ViewEvent {
    double t;              // end of the step it happened in [s]
    int32_t kind, contact; // contact -1: a limit of a joint, or friction in it
    int32_t joint;         // where contact is -1
    double impulse;        // normal, over the step [N s]
    double h;              // length of the step [s]
} ViewEvent;

typedef struct ViewStatus {
    int64_t frames;    // that can be read now
    double begin, end; // times of the first and the last of them [s]
    double planned;    // where the run will end [s]
    int64_t events;
    bool live, running, complete;
    double real_time; // simulated per wall time of a live run
    double step;      // [s]
    LashError error;  // why a live run ended early; status LASH_OK: it did not
} ViewStatus;

// A model is simulated, from view_source_start on; a result is read. NULL with error.
ViewSource* view_source_open(const char* file, const AppSessionOptions* options, LashError* error);
void view_source_close(ViewSource* source); // NULL is allowed; ends the thread

const LashModel* view_source_model(const ViewSource* source);
const LashMechanism* view_source_mechanism(const ViewSource* source);
// Of its frames: a result's own, which may be older than what the model gives today.
const LashRecordLayout* view_source_layout(const ViewSource* source);

// Of a result: what has changed since the run, for a warning; empty: nothing.
const char* view_source_changes(const ViewSource* source);

// Starts a live run again at the beginning; nothing for a result.
void view_source_start(ViewSource* source);
// Waits until a frame at or after time t is there, or no more will come.
void view_source_wait(ViewSource* source, double t);

ViewStatus view_source_status(ViewSource* source);
// Last frame at or before t; 0 when t is before all.
int64_t view_source_find(ViewSource* source, double t);
double view_source_time(ViewSource* source, int64_t frame);
bool view_source_read(ViewSource* source, int64_t frame, double* values, LashError* error);
// Values and contact points of a frame.
bool view_source_frame(ViewSource* source, int64_t index, ViewFrame* frame, LashError* error);
// Events [first, first + count) in the order of time; returns how many were copied.
int64_t view_source_events(ViewSource* source, int64_t first, int64_t count, ViewEvent* events);
// All numbers of a series of frames [first, first + count): values (count x width).
bool view_source_series(ViewSource* source, LashSeries series, int64_t first, int64_t count,
                        double* values, LashError* error);
// One number of every frame in [first, first + count): values (count). False with error.
bool view_source_column(ViewSource* source, LashSeries series, int column, int64_t first,
                        int64_t count, double* values, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

// The result file (HDF5): written while the run goes on, readable after a kill up to its last
// flush.
//
// A frame is one row of doubles; series are its parts. All in SI.
#ifndef LASH_APP_RECORD_H
#define LASH_APP_RECORD_H

#include "core/error.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashSeries {           // numbers per frame
    LASH_SERIES_TIME,               // 1
    LASH_SERIES_POSITION,           // 3 per body: mass center, world
    LASH_SERIES_ORIENTATION,        // 4 per body: quaternion, scalar first
    LASH_SERIES_VELOCITY,           // 3 per body: world axes
    LASH_SERIES_ANGULAR_VELOCITY,   // 3 per body: body axes
    LASH_SERIES_JOINT_COORDINATE,   // layout.coordinates per joint: rad or m; NAN: it has fewer
    LASH_SERIES_JOINT_SPEED,        // the same: rad/s or m/s
    LASH_SERIES_JOINT_FORCE,        // 3 per joint: on b, axes of the joint frame in a
    LASH_SERIES_JOINT_MOMENT,       // 3 per joint
    LASH_SERIES_JOINT_ECCENTRICITY, // 1 per joint with clearance, 0 for ideal ones
    LASH_SERIES_JOINT_TILT,
    LASH_SERIES_JOINT_POINTS,    // contacts that push
    LASH_SERIES_JOINT_IMPACTS,   // since the start
    LASH_SERIES_JOINT_WEAR,      // work of friction since the start, taken positive
    LASH_SERIES_JOINT_WORK_NET,  // work of contacts, limits and friction since the start
    LASH_SERIES_CONTACT_GAP,     // 1 per contact: at the frame's time, the least of its points
    LASH_SERIES_CONTACT_IMPULSE, // 3 per contact: n, t1, t2, summed since the frame before; of a
                                 // contact of surfaces n, |t|, 0, summed over its points
    LASH_SERIES_CONTACT_FORCE,   // 3 per contact: on b, world axes, averaged since then
    LASH_SERIES_CONTACT_PEAK,    // 1 per contact: largest normal impulse of one step since then
    LASH_SERIES_CONTACT_IMPACTS, // 1 per contact: impacts since the start
    LASH_SERIES_CONTACT_WORK,    // 1 per contact: work of its impulses since the start
    LASH_SERIES_KINETIC,         // 1 each, as LashEnergy
    LASH_SERIES_POTENTIAL,
    LASH_SERIES_EXTERNAL_WORK,
    LASH_SERIES_DAMPING_WORK,
    LASH_SERIES_CONTACT_WORK_NORMAL,
    LASH_SERIES_CONTACT_WORK_TANGENTIAL,
    LASH_SERIES_JOINT_WORK,
    LASH_SERIES_STEPS, // counters since the start
    LASH_SERIES_NEWTON,
    LASH_SERIES_PROJECTION,
    LASH_SERIES_INDEX_SET,
    LASH_SERIES_SOLVER,
    LASH_SERIES_CONTACTS,       // active now
    LASH_SERIES_POSITION_ERROR, // largest since the frame before
    LASH_SERIES_VELOCITY_ERROR,
    LASH_SERIES_PENETRATION,
    LASH_SERIES_SHIFT,       // largest displacement of a body by the projection since then
    LASH_SERIES_SHIFT_BODY,  // the body, -1: none was moved
    LASH_SERIES_POINTS_END,  // contact points of all frames up to this one
    LASH_SERIES_INPUT,       // 1 per input of the model, at the frame's time; in its own unit
    LASH_SERIES_ALGORITHMIC, // H of a scheme that has one; of others not there. The last one
    LASH_SERIES_COUNT
} LashSeries;

// Columns of every joint: FREE where one of them has more than COORDINATES (a free joint).
enum { LASH_RECORD_COORDINATES = 3, LASH_RECORD_FREE_COORDINATES = 6 };

typedef struct LashRecordSizes {
    int bodies, joints, contacts, inputs;
    int coordinates;  // the most that a joint has
    bool algorithmic; // the scheme has an energy H of its own
} LashRecordSizes;

typedef struct LashRecordLayout {
    int bodies, joints, contacts, inputs;
    int coordinates;               // columns of a joint
    int offset[LASH_SERIES_COUNT]; // of each series in a frame
    int width[LASH_SERIES_COUNT];
    int total;
} LashRecordLayout;

LashRecordLayout lash_record_layout(LashRecordSizes sizes);
const char* lash_series_path(LashSeries series); // in the file: "bodies/position"
const char* lash_series_unit(LashSeries series);

typedef struct LashRecordInfo {
    const char *version, *model_file, *model_text,
        *options; // texts; options: JSON of the command's settings
    const char* scheme;
    const char* files; // what the model reads, as app/run/carried.h packs it; NULL: nothing
    double step;       // [s]
    LashRecordSizes sizes;
    const char* const* body_name;
    const char* const* joint_name;
    const char* const* joint_type;
    const char* const* contact_name;
    const char* const* input_name;
    const char* const* input_unit; // as the model says it
} LashRecordInfo;

// What happened within one step to a contact, a limit of a joint or the friction in a joint: every
// event of the run is kept, whatever the frames. Limits of angles are in rad, rad/s and N m s; the
// normal impulse of friction in a joint is its load.
typedef struct LashRecordEvent {
    int32_t kind;               // LashEventKind
    int32_t contact;            // number, -1: of a joint
    int32_t joint;              // number, where contact is -1
    int32_t part;               // LashJointPart, where contact is -1
    int32_t coordinate;         // of a limit
    double t, h;                // the step runs from t to t + h [s]
    double gap;                 // at t [m]
    double impulse[3];          // n, t1, t2 over the step [N s]
    double before[3], after[3]; // local velocity at the start and at the end of the step [m/s]
} LashRecordEvent;
const char* lash_event_name(int kind); // "impact"; "unknown" for what a damaged file holds

// A place where two surfaces push, or touch, at a frame: for pictures. A frame has any number.
typedef struct LashRecordPoint {
    int32_t contact;  // number
    int32_t joint;    // number of the joint with play whose contact it is, -1: of no joint
    uint64_t id;      // the same physical point has the same id in every frame
    double point[3];  // world [m]
    double normal[3]; // world, unit, from side a into side b
    double gap;       // [m]
    double force[3];  // on side b, world [N], of the last step: impulse over its length
} LashRecordPoint;

typedef struct LashRecorder LashRecorder;

// The file appears under its name only when it is complete enough to be read; an older file of that
// name is kept until then.
LashRecorder* lash_recorder_create(const char* path, const LashRecordInfo* info, LashError* error);
bool lash_recorder_add(LashRecorder* recorder, const double* frame, LashError* error);
bool lash_recorder_add_event(LashRecorder* recorder, const LashRecordEvent* event,
                             LashError* error);
// Contact points of the frame that is added next; before its lash_recorder_add, any number of
// times.
bool lash_recorder_add_points(LashRecorder* recorder, const LashRecordPoint* points, int count,
                              LashError* error);
bool lash_recorder_flush(LashRecorder* recorder, LashError* error);
// Writes what is left, marks the file complete and frees the recorder, also on failure. NULL is
// allowed.
bool lash_recorder_close(LashRecorder* recorder, LashError* error);

typedef struct LashRecord { // an open result
    LashRecordLayout layout;
    int64_t frames, events, points; // points: contact points of all frames
    bool complete;                  // false: the run was killed or is still going on
    char *version, *model_file, *model_text, *options, *scheme;
    char* files; // as app/run/carried.h packs them; empty: results before it have none
    double step;
    char **body_name, **joint_name, **joint_type, **contact_name, **input_name, **input_unit;
    struct LashRecordFile* file; // handles
} LashRecord;

// NULL with error (exit code 7) when the file is damaged or no result.
LashRecord* lash_record_open(const char* path, LashError* error);
void lash_record_close(LashRecord* record); // NULL is allowed
// Frames [first, first + count) of one series, (count x width), row by row.
bool lash_record_read(const LashRecord* record, LashSeries series, int64_t first, int64_t count,
                      double* values, LashError* error);
// Events [first, first + count), in the order of time.
bool lash_record_read_events(const LashRecord* record, int64_t first, int64_t count,
                             LashRecordEvent* events, LashError* error);
// Contact points of one frame: returns how many there are, -1 with error; the first `capacity` are
// written.
int lash_record_read_points(const LashRecord* record, int64_t frame, LashRecordPoint* points,
                            int capacity, LashError* error);
// Contact points [first, first + count) of the whole result, frame after frame.
bool lash_record_read_all_points(const LashRecord* record, int64_t first, int64_t count,
                                 LashRecordPoint* points, LashError* error);
// One whole frame (layout.total).
bool lash_record_read_frame(const LashRecord* record, int64_t frame, double* values,
                            LashError* error);

#ifdef __cplusplus
}
#endif
#endif

// The viewer without its window: what is shown of which source, and every command a user can give.
#ifndef LASH_APP_VIEWER_VIEWER_H
#define LASH_APP_VIEWER_VIEWER_H

#include "app/viewer/magnify.h"
#include "app/viewer/playback.h"
#include "app/viewer/render.h"
#include "app/viewer/source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    VIEW_MAX_ARROWS = 1024,
    VIEW_MAX_TRACES = 16,
    VIEW_TRACE_POINTS = 4000,
    VIEW_MAX_PLOTS = 4,
    VIEW_MAX_CURVES = 6,
    VIEW_PLOT_POINTS = 1500,
    VIEW_TICK_SPACE = 2, // pixels on either side that belong to the strongest tick
    VIEW_DECADES = 240
};

typedef enum ViewAction { // what keys and buttons do
    VIEW_PLAY,
    VIEW_STEP_BACK,
    VIEW_STEP_FORWARD,
    VIEW_LEAP_BACK, // a hundredth of the range
    VIEW_LEAP_FORWARD,
    VIEW_GO_BEGIN,
    VIEW_GO_END,
    VIEW_NEXT_EVENT,
    VIEW_PREVIOUS_EVENT,
    VIEW_FASTER,
    VIEW_SLOWER,
    VIEW_LOOP,
    VIEW_RESTART,
    VIEW_FIT,
    VIEW_ORTHOGRAPHIC,
    VIEW_LOOK_ISO, // in the order of ViewStandard
    VIEW_LOOK_FRONT,
    VIEW_LOOK_BACK,
    VIEW_LOOK_LEFT,
    VIEW_LOOK_RIGHT,
    VIEW_LOOK_TOP,
    VIEW_LOOK_BOTTOM,
    VIEW_TOGGLE_EDGES,
    VIEW_TOGGLE_GRID,
    VIEW_TOGGLE_FORCES,
    VIEW_TOGGLE_CONTACTS,
    VIEW_TOGGLE_JOINTS,
    VIEW_TOGGLE_TRACES,
    VIEW_TOGGLE_SECTION,
    VIEW_TOGGLE_PANELS,
    VIEW_TOGGLE_HELP,
    VIEW_HIDE,        // the selected part
    VIEW_SEE_THROUGH, // the selected part
    VIEW_ISOLATE,     // the selected part
    VIEW_SHOW_ALL,
    VIEW_DESELECT,
    VIEW_MAGNIFY_MORE,
    VIEW_MAGNIFY_LESS,
    VIEW_QUIT,
    VIEW_ACTIONS
} ViewAction;

typedef struct ViewCurve { // one number per frame
    LashSeries series;
    int column; // of a norm the first of its three
    bool norm;
    char name[96], unit[16];
} ViewCurve;

typedef struct ViewSpan { // of time [s]
    double begin, end;
} ViewSpan;

typedef struct ViewTick { // of the timeline, one per pixel
    int kind;             // LashEventKind; -1: nothing happened
    int64_t event;        // the strongest of this pixel
    double height;        // 0 .. 1 of the track
    bool weaker;          // a stronger one stands within VIEW_TICK_SPACE pixels
} ViewTick;

typedef struct ViewPlot { // curves of one unit over time
    ViewCurve curve[VIEW_MAX_CURVES];
    int curves;
} ViewPlot;

typedef struct Viewer {
    ViewSource* source; // borrowed
    ViewScene scene;
    ViewStatus status;
    ViewPlayback playback;
    ViewCamera camera;
    ViewStyle style;
    ViewFrame frame;
    int64_t shown; // number of the frame, -1: none yet
    double magnification;
    ViewMagnifier* magnifier; // NULL: no joint has play
    ViewPick selected;
    int selected_joint;     // -1: none
    int selected_contact;   // -1: none
    int64_t selected_event; // -1: none; what N went to
    int64_t hovered_event;  // -1: none; the cursor is on its tick
    int64_t force_event;    // -1: none; whose force is known:
    double event_force;     // [N] NAN: it has none
    bool camera_touched;    // by the user: fit no more on its own
    bool panels, help, quit;
    int64_t surveyed;               // frames looked at for extent and forces
    double force_reference;         // force of an arrow of standard length [N]
    double force_largest;           // [N]
    int force_frames[VIEW_DECADES]; // frames by their largest force, tenths of decades from 1e-9 N
    double pixel;                   // of the screen: scale of widths and marks
    ViewTouch touch[VIEW_MAX_POINTS];
    ViewArrow arrow[VIEW_MAX_ARROWS];
    int touches, arrows;
    int traced[VIEW_MAX_TRACES]; // parts whose mass center leaves a trace
    int traces;
    float* trace_point;                // (VIEW_MAX_TRACES x VIEW_TRACE_POINTS x 3)
    int64_t* trace_frame;              // (VIEW_MAX_TRACES x VIEW_TRACE_POINTS) frame of each point
    int trace_points[VIEW_MAX_TRACES]; // that were kept
    int64_t traced_frames;             // of the source when they were read, -1: read them again
    ViewTrace trace[VIEW_MAX_TRACES];
    ViewEvent* event;
    int64_t events, event_capacity;
    ViewPlot plot[VIEW_MAX_PLOTS];
    int plots;
    ViewSpan zoom;   // time that the plots show; empty: all
    char filter[64]; // of tree and timeline: a piece of the names that are left; empty: all
    bool *part_passes, *joint_passes, *contact_passes; // the filter, by number
    LashError error;                                   // the last one, for the status line
    bool error_read;                                   // Esc: it is not told again
    char note[80];                                     // what was saved last, for the status line
    ViewSource* second;      // another result, whose curves are laid over; borrowed, NULL: none
    const char* second_name; // its file; borrowed
} Viewer;

// Borrows the source; starts it. Large: lives on the heap. NULL with error.
Viewer* viewer_create(ViewSource* source, LashError* error);
void viewer_destroy(Viewer* viewer); // NULL is allowed

// Goes on by `wall` seconds and makes the frame of the present time the one that is shown.
void viewer_update(Viewer* viewer, double wall);
// Looks at frames not looked at yet, at most `frames`, to know extent and forces. For a result, a
// sample of its frames.
void viewer_survey(Viewer* viewer, int frames);
void viewer_act(Viewer* viewer, ViewAction action);
void viewer_seek(Viewer* viewer, double time);
void viewer_magnify(Viewer* viewer, double factor); // 1 .. 100
void viewer_fit(Viewer* viewer);
void viewer_trace(Viewer* viewer, int part); // begins or ends the trace of its mass center

ViewPicture viewer_picture(Viewer* viewer);
double viewer_force_length(const Viewer* viewer); // [m/N]

// One thing is selected at a time, everywhere: in the tree, in space, in the timeline.
void viewer_select_part(Viewer* viewer, int part, int face);
void viewer_select_joint(Viewer* viewer, int joint);
void viewer_select_contact(Viewer* viewer, int contact);
void viewer_select_event(Viewer* viewer, int64_t event);
// "impact at 12.3 ms: crank and rod in crank_pin, 0.25 N s, then 31 N": what hit what, how hard,
// when.
const char* viewer_event_text(Viewer* viewer, int64_t event, char* text, size_t size);
// The strongest event within `slack` seconds of t; -1: none.
int64_t viewer_event_near(const Viewer* viewer, double t, double slack);
int viewer_contact_joint(const Viewer* viewer, int contact); // whose play it is; -1: of nobody
// Leaves in tree and timeline what has the text in its name or in those of its parts, whatever the
// case of its letters.
void viewer_filter(Viewer* viewer, const char* text);
bool viewer_event_passes(const Viewer* viewer, int64_t event);

// Time of the timeline, and of the plots, which can be zoomed.
ViewSpan viewer_span(const Viewer* viewer);
ViewSpan viewer_plot_span(const Viewer* viewer);
// `factor` times the span, where `about` stays; moves it by `shift` seconds.
void viewer_zoom(Viewer* viewer, double about, double factor);
void viewer_zoom_shift(Viewer* viewer, double shift);
// Ticks of a timeline that is `width` pixels wide: tick (width). Of each pixel the strongest event;
// where they are dense, the weaker ones are marked as such.
void viewer_ticks(const Viewer* viewer, ViewSpan span, int width, ViewTick* tick);

// Curves that can be plotted: number of them; curve i. "crank.position.x", unit "m".
int viewer_curve_count(const Viewer* viewer);
ViewCurve viewer_curve(const Viewer* viewer, int index);
// What the model's outputs measure, or the energies.
void viewer_plot_defaults(Viewer* viewer);
// Adds to the plot of the same unit, or begins a new one; takes it away when it is there.
void viewer_plot_toggle(Viewer* viewer, const ViewCurve* curve);
// "name" or "of.quantity" as viewer_curve names it. False when there is none.
bool viewer_plot_find(Viewer* viewer, const char* name, ViewCurve* curve);
// Samples at most `capacity` points of a curve within the span, and one on either side of it;
// returns how many. The source is the viewer's, or that of a second result.
int viewer_curve_sample(Viewer* viewer, ViewSource* source, const ViewCurve* curve, ViewSpan span,
                        int capacity, double* t, double* y);
double viewer_curve_value(const Viewer* viewer, const ViewCurve* curve); // in the frame shown
// A curve of frames [first, first + count): value (count). False with viewer->error.
bool viewer_curve_read(Viewer* viewer, ViewSource* source, const ViewCurve* curve, int64_t first,
                       int64_t count, double* value);
// The value of the second result, at time t between its frames; NAN: it has none there.
double viewer_curve_beside(Viewer* viewer, const ViewCurve* curve, double t);
// Every curve that is plotted, over all frames, those of the second result beside them: a CSV
// table, or an SVG drawing by the ending.
bool viewer_plots_save(Viewer* viewer, const char* file, LashError* error);

// Keys and what they do, for the help panel and the manual: NULL after the last.
typedef struct ViewKey {
    const char *key, *text;
    int code; // of GLFW, with VIEW_SHIFT
    ViewAction action;
} ViewKey;
enum { VIEW_SHIFT = 1 << 16 };
const ViewKey* viewer_keys(void);

// A length in the unit it reads best in: "50 mm", "2 m".
const char* view_length_text(double length, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif

// The viewer without its window.
//
// Extent and force scale come from a survey of the frames: of a result a sample before anything is
// drawn, of a live run every frame as it comes. Until the user moves the camera, it keeps
// everything surveyed in view.
#include "app/viewer/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

enum { SURVEY_SAMPLE = 160, MAX_TICKS = 200000 };

Viewer* viewer_create(ViewSource* source, LashError* error) {
    Viewer* viewer = lash_alloc(sizeof *viewer);
    const LashModel* model = view_source_model(source);
    viewer->source = source;
    viewer->shown = -1;
    viewer->magnification = 1;
    viewer->selected = (ViewPick){-1, -1};
    viewer->selected_joint = -1;
    viewer->selected_contact = -1;
    viewer->selected_event = -1;
    viewer->hovered_event = -1;
    viewer->force_event = -1;
    viewer->panels = true;
    viewer->pixel = 1;
    viewer->style = view_style();
    if (!view_scene_create(&viewer->scene, model, view_source_mechanism(source), error)) {
        viewer_destroy(viewer);
        return NULL;
    }
    viewer->scene.layout = *view_source_layout(source);
    viewer->style.joint_frames = view_scene_is_drafted(&viewer->scene); // to be looked through
    viewer->frame = view_frame_create(&viewer->scene);
    viewer->camera = view_camera(viewer->scene.up);
    viewer->magnifier = view_magnifier_create(model);
    viewer->style.section_normal = viewer->camera.up;
    viewer->trace_point =
        lash_alloc((size_t)VIEW_MAX_TRACES * VIEW_TRACE_POINTS * 3 * sizeof *viewer->trace_point);
    viewer->trace_frame =
        lash_alloc((size_t)VIEW_MAX_TRACES * VIEW_TRACE_POINTS * sizeof *viewer->trace_frame);
    viewer->traced_frames = -1;
    viewer->part_passes = lash_alloc((size_t)viewer->scene.parts + 1);
    viewer->joint_passes = lash_alloc((size_t)viewer->scene.joints + 1);
    viewer->contact_passes = lash_alloc((size_t)viewer->scene.contacts + 1);
    viewer_filter(viewer, "");
    view_source_start(source);
    viewer->status = view_source_status(source);
    viewer->playback = view_playback(viewer->status.planned - viewer->status.begin);
    viewer->playback.playing = viewer->status.live;
    viewer_plot_defaults(viewer);
    viewer_survey(viewer, SURVEY_SAMPLE);
    viewer_fit(viewer);
    viewer_update(viewer, 0);
    return viewer;
}

void viewer_destroy(Viewer* viewer) {
    if (viewer == NULL) return;
    view_magnifier_destroy(viewer->magnifier);
    view_frame_destroy(&viewer->frame);
    view_scene_destroy(&viewer->scene);
    lash_free(viewer->trace_point);
    lash_free(viewer->trace_frame);
    lash_free(viewer->event);
    lash_free(viewer->part_passes);
    lash_free(viewer->joint_passes);
    lash_free(viewer->contact_passes);
    lash_free(viewer);
}

// ---- frames -------------------------------------------------------------------------------------

// The standard arrow stands for a force that the largest one of a frame exceeds now and then: not
// for the highest peak of an impact, beside which nothing else would be seen.
static void nice_force(Viewer* viewer) {
    int64_t frames = 0, above = 0;
    for (int i = 0; i < VIEW_DECADES; ++i) frames += viewer->force_frames[i];
    int bin = VIEW_DECADES - 1;
    for (; bin > 0; --bin) {
        above += viewer->force_frames[bin];
        if (6 * above > frames) break;
    }
    double typical = frames > 0 ? pow(10, 0.1 * bin - 9) : 1;
    double power = pow(10, floor(log10(typical))), lead = typical / power;
    double below = lead < 1.9 ? 1 : 2; // 1, 2 or 5
    viewer->force_reference = power * (lead < 4.9 ? below : 5);
}

static void count_force(Viewer* viewer, double force) {
    if (!(force > 0) || !isfinite(force)) return;
    int bin = (int)floor(10 * (log10(force) + 9));
    if (bin < 0) bin = 0;
    if (bin >= VIEW_DECADES) bin = VIEW_DECADES - 1;
    ++viewer->force_frames[bin];
    viewer->force_largest = fmax(viewer->force_largest, force);
}

static void survey_frame(Viewer* viewer, ViewFrame* frame, int64_t index) {
    LashError ignored = {0};
    if (!view_source_frame(viewer->source, index, frame, &ignored)) return;
    view_frame_place(&viewer->scene, frame);
    view_scene_extend(&viewer->scene, frame);
    ViewArrow arrow[64];
    int arrows = view_frame_forces(&viewer->scene, frame, arrow, 64);
    double largest = 0;
    for (int i = 0; i < arrows; ++i) largest = fmax(largest, vec3_norm(arrow[i].force));
    count_force(viewer, largest);
}

void viewer_survey(Viewer* viewer, int frames) {
    ViewStatus status = view_source_status(viewer->source);
    if (viewer->surveyed >= status.frames) {
        if (viewer->surveyed > status.frames) viewer->surveyed = status.frames; // thinned out
        return;
    }
    ViewFrame frame = view_frame_create(&viewer->scene);
    if (status.live) {
        for (int i = 0; i < frames && viewer->surveyed < status.frames; ++i)
            survey_frame(viewer, &frame, viewer->surveyed++);
    } else {
        int64_t count = status.frames < frames ? status.frames : frames;
        for (int64_t i = 0; i < count; ++i)
            survey_frame(viewer, &frame, count > 1 ? i * (status.frames - 1) / (count - 1) : 0);
        viewer->surveyed = status.frames;
    }
    view_frame_destroy(&frame);
    nice_force(viewer);
}

static void show_frame(Viewer* viewer, int64_t index) {
    if (!view_source_frame(viewer->source, index, &viewer->frame, &viewer->error)) return;
    view_frame_place(&viewer->scene, &viewer->frame);
    if (viewer->magnifier != NULL && viewer->magnification > 1)
        view_magnifier_apply(viewer->magnifier, &viewer->scene, &viewer->frame,
                             viewer->magnification);
    viewer->touches =
        view_frame_touches(&viewer->scene, &viewer->frame, viewer->touch, VIEW_MAX_POINTS);
    viewer->arrows =
        view_frame_forces(&viewer->scene, &viewer->frame, viewer->arrow, VIEW_MAX_ARROWS);
    viewer->shown = index;
}

// Path of the mass center of a body over all frames there are, without points closer together than
// can be seen; the frame of each point is kept.
static int read_path(Viewer* viewer, int body, float* out, int64_t* frame) {
    int64_t frames = viewer->status.frames, stride = (frames - 1) / (VIEW_TRACE_POINTS - 1) + 1;
    double* column = lash_alloc(3 * (size_t)frames * sizeof *column);
    float least = (float)(1e-3 * view_scene_size(&viewer->scene));
    int points = 0;
    for (int k = 0; k < 3; ++k) {
        view_source_column(viewer->source, LASH_SERIES_POSITION, 3 * body + k, 0, frames,
                           column + k * frames, &viewer->error);
    }
    for (int64_t i = 0; i < frames && points < VIEW_TRACE_POINTS; i += stride) {
        float p[3], away = INFINITY;
        for (int k = 0; k < 3; ++k) p[k] = (float)column[k * frames + i];
        if (points > 0) {
            const float* last = out + 3 * (points - 1);
            away = fabsf(p[0] - last[0]) + fabsf(p[1] - last[1]) + fabsf(p[2] - last[2]);
        }
        if (!(away > least)) continue;
        frame[points] = i;
        memcpy(out + 3 * points++, p, sizeof p);
    }
    lash_free(column);
    return points;
}

static void read_paths(Viewer* viewer) {
    int count = viewer->traces > 0 ? viewer->traces : viewer->scene.parts, used = 0;
    for (int i = 0; i < count && used < VIEW_MAX_TRACES; ++i) {
        const ViewPart* part = &viewer->scene.part[viewer->traces > 0 ? viewer->traced[i] : i];
        if (part->body < 0) continue;
        size_t first = (size_t)used * VIEW_TRACE_POINTS;
        viewer->trace[used].point = viewer->trace_point + 3 * first;
        viewer->trace_points[used] = read_path(viewer, part->body, viewer->trace_point + 3 * first,
                                               viewer->trace_frame + first);
        memcpy(viewer->trace[used++].color, part->color, sizeof part->color);
    }
    for (; used < VIEW_MAX_TRACES; ++used) viewer->trace_points[used] = 0;
    viewer->traced_frames = viewer->status.frames;
}

// The paths up to the frame that is shown; of a live run they are read again as it grows.
static void update_traces(Viewer* viewer) {
    if (!viewer->style.traces || viewer->status.frames == 0) return;
    int64_t read = viewer->traced_frames, now = viewer->status.frames;
    bool old =
        viewer->status.running ? now > read + read / 20 || viewer->shown >= read : now != read;
    if (read < 0 || now < read || old) read_paths(viewer);
    for (int i = 0; i < VIEW_MAX_TRACES; ++i) {
        const int64_t* frame = viewer->trace_frame + (size_t)i * VIEW_TRACE_POINTS;
        int low = 0, high = viewer->trace_points[i]; // points before low are not after the frame
        while (low < high) {
            int middle = (low + high) / 2;
            if (frame[middle] <= viewer->shown) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        viewer->trace[i].count = low;
    }
}

void viewer_trace(Viewer* viewer, int part) {
    int at = 0;
    while (at < viewer->traces && viewer->traced[at] != part) ++at;
    if (at < viewer->traces) {
        viewer->traced[at] = viewer->traced[--viewer->traces];
    } else if (viewer->traces < VIEW_MAX_TRACES) {
        viewer->traced[viewer->traces++] = part;
    }
    viewer->style.traces = viewer->traces > 0;
    viewer->traced_frames = -1;
    update_traces(viewer);
}

static void update_events(Viewer* viewer) {
    int64_t count = viewer->status.events < MAX_TICKS ? viewer->status.events : MAX_TICKS;
    if (count < viewer->events) viewer->events = 0; // restarted
    if (count == viewer->events) return;
    if (count > viewer->event_capacity) {
        viewer->event_capacity = 2 * count;
        viewer->event =
            lash_realloc(viewer->event, (size_t)viewer->event_capacity * sizeof *viewer->event);
    }
    viewer->events += view_source_events(viewer->source, viewer->events, count - viewer->events,
                                         viewer->event + viewer->events);
}

void viewer_update(Viewer* viewer, double wall) {
    viewer->status = view_source_status(viewer->source);
    if (viewer->status.error.status != LASH_OK && viewer->error.status == LASH_OK &&
        !viewer->error_read)
        viewer->error = viewer->status.error;
    view_playback_range(&viewer->playback, viewer->status.begin, viewer->status.end,
                        viewer->status.running);
    view_playback_advance(&viewer->playback, wall);
    if (viewer->status.live && viewer->surveyed != viewer->status.frames) {
        viewer_survey(viewer, 40);
        if (!viewer->camera_touched) viewer_fit(viewer);
    }
    update_events(viewer);
    int64_t index = view_source_find(viewer->source, viewer->playback.time * (1 + 1e-12) + 1e-15);
    if (index != viewer->shown || (viewer->status.live && index == 0)) {
        show_frame(viewer, index);
        update_traces(viewer);
    }
}

void viewer_seek(Viewer* viewer, double time) {
    viewer->status = view_source_status(viewer->source); // it may have grown since the last picture
    view_playback_range(&viewer->playback, viewer->status.begin, viewer->status.end,
                        viewer->status.running);
    view_playback_seek(&viewer->playback, time);
    viewer_update(viewer, 0);
}

void viewer_magnify(Viewer* viewer, double factor) {
    viewer->magnification = fmax(1, fmin(100, factor));
    if (viewer->shown >= 0) show_frame(viewer, viewer->shown);
}

void viewer_fit(Viewer* viewer) {
    if (isfinite(viewer->scene.bound.low.x))
        view_camera_fit(&viewer->camera, viewer->scene.hull, VIEW_HULL);
}

double viewer_force_length(const Viewer* viewer) {
    return viewer->force_reference > 0
               ? 0.14 * view_scene_size(&viewer->scene) / viewer->force_reference
               : 0;
}

// What must lie between the near and the far plane: the scene, its arrows, and the grid around it.
static LashBox drawn_box(const Viewer* viewer) {
    double reach = 0.9 * view_scene_size(&viewer->scene);
    LashBox box = viewer->scene.bound;
    box.low = vec3_sub(box.low, vec3(reach, reach, reach));
    box.high = vec3_add(box.high, vec3(reach, reach, reach));
    return box;
}

ViewPicture viewer_picture(Viewer* viewer) {
    view_camera_clip(&viewer->camera, drawn_box(viewer));
    ViewPicture picture = {.scene = &viewer->scene,
                           .frame = &viewer->frame,
                           .camera = &viewer->camera,
                           .style = viewer->style,
                           .selected = viewer->selected,
                           .hovered = {-1, -1},
                           .arrow = viewer->arrow,
                           .arrows = viewer->arrows,
                           .touch = viewer->touch,
                           .touches = viewer->touches,
                           .trace = viewer->trace,
                           .traces = VIEW_MAX_TRACES,
                           .force_length = viewer_force_length(viewer),
                           .selected_joint = viewer->selected_joint,
                           .selected_contact = viewer->selected_contact,
                           .magnification = viewer->magnification,
                           .pixel = viewer->pixel};
    if (viewer->selected_joint >= 0)
        picture.marks = view_joint_faces(&viewer->scene, viewer->selected_joint, picture.marked,
                                         VIEW_MAX_MARKS);
    return picture;
}

// ---- actions ------------------------------------------------------------------------------------

static void go_to_event(Viewer* viewer, int direction) {
    double t = viewer->playback.time, slack = 0.25 * viewer->status.step;
    if (direction > 0) {
        for (int64_t i = 0; i < viewer->events; ++i) {
            if (viewer->event[i].t <= t + slack || !viewer_event_passes(viewer, i)) continue;
            viewer_seek(viewer, viewer->event[i].t);
            viewer_select_event(viewer, i);
            break;
        }
    } else {
        for (int64_t i = viewer->events - 1; i >= 0; --i) {
            if (viewer->event[i].t >= t - slack || !viewer_event_passes(viewer, i)) continue;
            viewer_seek(viewer, viewer->event[i].t);
            viewer_select_event(viewer, i);
            break;
        }
    }
    viewer->playback.playing = false;
}

static void step(Viewer* viewer, int frames) {
    int64_t index = viewer->shown + frames;
    if (index < 0) index = 0;
    viewer->playback.playing = false;
    viewer_seek(viewer, view_source_time(viewer->source, index));
}

static void set_visibility(Viewer* viewer, ViewVisibility visibility) {
    if (viewer->selected.part < 0) return;
    ViewVisibility* now = &viewer->scene.part[viewer->selected.part].visibility;
    *now = *now == visibility ? VIEW_SHOWN : visibility;
    if (*now == VIEW_HIDDEN) viewer->selected = (ViewPick){-1, -1};
}

static void isolate(Viewer* viewer) {
    if (viewer->selected.part < 0) return;
    for (int i = 0; i < viewer->scene.parts; ++i) {
        viewer->scene.part[i].visibility = i == viewer->selected.part ? VIEW_SHOWN : VIEW_HIDDEN;
    }
}

static void restart(Viewer* viewer) {
    viewer->error = (LashError){0};
    viewer->error_read = false;
    viewer->selected_event = -1;
    viewer->hovered_event = -1;
    viewer->force_event = -1;
    viewer->shown = -1;
    viewer->events = viewer->surveyed = 0;
    viewer->traced_frames = -1;
    memset(viewer->force_frames, 0, sizeof viewer->force_frames);
    view_source_start(viewer->source);
    viewer->playback.time = viewer->playback.begin;
    viewer->playback.playing = true;
    viewer_update(viewer, 0);
}

static bool act_time(Viewer* viewer, ViewAction action) {
    double leap = 0.01 * (viewer->playback.end - viewer->playback.begin);
    switch (action) {
        case VIEW_PLAY:
            view_playback_toggle(&viewer->playback);
            return true;
        case VIEW_STEP_BACK:
            step(viewer, -1);
            return true;
        case VIEW_STEP_FORWARD:
            step(viewer, 1);
            return true;
        case VIEW_LEAP_BACK:
            viewer_seek(viewer, viewer->playback.time - leap);
            return true;
        case VIEW_LEAP_FORWARD:
            viewer_seek(viewer, viewer->playback.time + leap);
            return true;
        case VIEW_GO_BEGIN:
            viewer_seek(viewer, viewer->playback.begin);
            return true;
        case VIEW_GO_END:
            viewer_seek(viewer, viewer->playback.end);
            return true;
        case VIEW_NEXT_EVENT:
            go_to_event(viewer, 1);
            return true;
        case VIEW_PREVIOUS_EVENT:
            go_to_event(viewer, -1);
            return true;
        case VIEW_FASTER:
            view_playback_speed(&viewer->playback, 1);
            return true;
        case VIEW_SLOWER:
            view_playback_speed(&viewer->playback, -1);
            return true;
        case VIEW_LOOP:
            viewer->playback.loop = !viewer->playback.loop;
            return true;
        case VIEW_RESTART:
            restart(viewer);
            return true;
        default:
            return false;
    }
}

static bool act_look(Viewer* viewer, ViewAction action) {
    ViewStyle* s = &viewer->style;
    switch (action) {
        case VIEW_TOGGLE_EDGES:
            s->edges = !s->edges;
            return true;
        case VIEW_TOGGLE_GRID:
            s->grid = !s->grid;
            return true;
        case VIEW_TOGGLE_FORCES:
            s->forces = !s->forces;
            return true;
        case VIEW_TOGGLE_CONTACTS:
            s->contacts = !s->contacts;
            return true;
        case VIEW_TOGGLE_JOINTS:
            s->joint_frames = !s->joint_frames;
            return true;
        case VIEW_TOGGLE_SECTION:
            s->section = !s->section;
            return true;
        case VIEW_TOGGLE_TRACES:
            s->traces = !s->traces;
            update_traces(viewer);
            return true;
        case VIEW_TOGGLE_PANELS:
            viewer->panels = !viewer->panels;
            return true;
        case VIEW_TOGGLE_HELP:
            viewer->help = !viewer->help;
            return true;
        default:
            return false;
    }
}

// One thing at a time: the help, a message, the selection.
static void close_something(Viewer* viewer) {
    if (viewer->help) {
        viewer->help = false;
    } else if (viewer->error.status != LASH_OK) {
        viewer->error = (LashError){0};
        viewer->error_read = true;
    } else if (viewer->note[0] != '\0') {
        viewer->note[0] = '\0';
    } else {
        viewer_select_part(viewer, -1, -1);
    }
}

static void act_parts(Viewer* viewer, ViewAction action) {
    switch (action) {
        case VIEW_HIDE:
            set_visibility(viewer, VIEW_HIDDEN);
            break;
        case VIEW_SEE_THROUGH:
            set_visibility(viewer, VIEW_TRANSPARENT);
            break;
        case VIEW_ISOLATE:
            isolate(viewer);
            break;
        case VIEW_SHOW_ALL:
            for (int i = 0; i < viewer->scene.parts; ++i)
                viewer->scene.part[i].visibility = VIEW_SHOWN;
            break;
        case VIEW_DESELECT:
            close_something(viewer);
            break;
        case VIEW_MAGNIFY_MORE:
            viewer_magnify(viewer, 2 * viewer->magnification);
            break;
        case VIEW_MAGNIFY_LESS:
            viewer_magnify(viewer, 0.5 * viewer->magnification);
            break;
        case VIEW_QUIT:
            viewer->quit = true;
            break;
        default:
            break;
    }
}

void viewer_act(Viewer* viewer, ViewAction action) {
    if (act_time(viewer, action) || act_look(viewer, action)) return;
    if (action == VIEW_FIT) {
        viewer_fit(viewer);
        viewer->camera_touched = false;
    } else if (action == VIEW_ORTHOGRAPHIC) {
        viewer->camera.orthographic = !viewer->camera.orthographic;
    } else if (action >= VIEW_LOOK_ISO && action <= VIEW_LOOK_BOTTOM) {
        view_camera_set(&viewer->camera, (ViewStandard)(action - VIEW_LOOK_ISO));
        viewer_fit(viewer);
    } else {
        act_parts(viewer, action);
    }
}

const ViewKey* viewer_keys(void) { // codes are those of GLFW: letters and digits are ASCII
    static const ViewKey keys[] = {
        {"Space", "play or pause", 32, VIEW_PLAY},
        {"Right", "one frame on", 262, VIEW_STEP_FORWARD},
        {"Left", "one frame back", 263, VIEW_STEP_BACK},
        {"Shift+Right", "a hundredth on", 262 | VIEW_SHIFT, VIEW_LEAP_FORWARD},
        {"Shift+Left", "a hundredth back", 263 | VIEW_SHIFT, VIEW_LEAP_BACK},
        {"Home", "to the start", 268, VIEW_GO_BEGIN},
        {"End", "to the end", 269, VIEW_GO_END},
        {"N", "next event", 'N', VIEW_NEXT_EVENT},
        {"Shift+N", "event before", 'N' | VIEW_SHIFT, VIEW_PREVIOUS_EVENT},
        {"Up", "faster", 265, VIEW_FASTER},
        {"Down", "slower", 264, VIEW_SLOWER},
        {"L", "loop", 'L', VIEW_LOOP},
        {"Shift+R", "run again from the start", 'R' | VIEW_SHIFT, VIEW_RESTART},
        {"F", "all in view", 'F', VIEW_FIT},
        {"O", "perspective or parallel", 'O', VIEW_ORTHOGRAPHIC},
        {"0", "view from the corner", '0', VIEW_LOOK_ISO},
        {"1", "front", '1', VIEW_LOOK_FRONT},
        {"2", "back", '2', VIEW_LOOK_BACK},
        {"3", "left", '3', VIEW_LOOK_LEFT},
        {"4", "right", '4', VIEW_LOOK_RIGHT},
        {"5", "top", '5', VIEW_LOOK_TOP},
        {"6", "bottom", '6', VIEW_LOOK_BOTTOM},
        {"E", "edges", 'E', VIEW_TOGGLE_EDGES},
        {"G", "grid", 'G', VIEW_TOGGLE_GRID},
        {"V", "forces", 'V', VIEW_TOGGLE_FORCES},
        {"C", "contact points", 'C', VIEW_TOGGLE_CONTACTS},
        {"J", "joint frames", 'J', VIEW_TOGGLE_JOINTS},
        {"T", "traces", 'T', VIEW_TOGGLE_TRACES},
        {"X", "section plane", 'X', VIEW_TOGGLE_SECTION},
        {"H", "hide the selected part", 'H', VIEW_HIDE},
        {"S", "see through it", 'S', VIEW_SEE_THROUGH},
        {"I", "show it alone", 'I', VIEW_ISOLATE},
        {"A", "show all parts", 'A', VIEW_SHOW_ALL},
        {"M", "magnify play", 'M', VIEW_MAGNIFY_MORE},
        {"Shift+M", "magnify less", 'M' | VIEW_SHIFT, VIEW_MAGNIFY_LESS},
        {"P", "panels", 'P', VIEW_TOGGLE_PANELS},
        {"F1", "this help", 290, VIEW_TOGGLE_HELP},
        {"Esc", "close menu, help, message; select nothing", 256, VIEW_DESELECT},
        {"Q", "quit", 'Q', VIEW_QUIT},
        {NULL, NULL, 0, VIEW_ACTIONS},
    };
    return keys;
}

const char* view_length_text(double length, char* text, size_t size) {
    double a = fabs(length);
    if (a >= 1) {
        snprintf(text, size, "%g m", length);
    } else if (a >= 1e-3 || a == 0) {
        snprintf(text, size, "%g mm", 1e3 * length);
    } else {
        snprintf(text, size, "%g \xC2\xB5m", 1e6 * length);
    }
    return text;
}

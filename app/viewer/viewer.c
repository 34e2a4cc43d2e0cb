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
    Viewer* v = lash_alloc(sizeof *v);
    const LashModel* model = view_source_model(source);
    v->source = source;
    v->shown = -1;
    v->magnification = 1;
    v->selected = (ViewPick){-1, -1};
    v->selected_joint = -1;
    v->panels = true;
    v->pixel = 1;
    v->style = view_style();
    if (!view_scene_create(&v->scene, model, view_source_mechanism(source), error)) {
        viewer_destroy(v);
        return NULL;
    }
    v->style.joint_frames = view_scene_is_drafted(&v->scene); // to be looked through
    v->frame = view_frame_create(&v->scene);
    v->camera = view_camera(v->scene.up);
    v->magnifier = view_magnifier_create(model);
    v->style.section_normal = v->camera.up;
    v->trace_point =
        lash_alloc((size_t)VIEW_MAX_TRACES * VIEW_TRACE_POINTS * 3 * sizeof *v->trace_point);
    v->trace_frame =
        lash_alloc((size_t)VIEW_MAX_TRACES * VIEW_TRACE_POINTS * sizeof *v->trace_frame);
    v->traced_frames = -1;
    view_source_start(source);
    v->status = view_source_status(source);
    v->playback = view_playback(v->status.planned - v->status.begin);
    v->playback.playing = v->status.live;
    viewer_plot_defaults(v);
    viewer_survey(v, SURVEY_SAMPLE);
    viewer_fit(v);
    viewer_update(v, 0);
    return v;
}

void viewer_destroy(Viewer* v) {
    if (v == NULL) return;
    view_magnifier_destroy(v->magnifier);
    view_frame_destroy(&v->frame);
    view_scene_destroy(&v->scene);
    lash_free(v->trace_point);
    lash_free(v->trace_frame);
    lash_free(v->event);
    lash_free(v);
}

// ---- frames -------------------------------------------------------------------------------------

// The standard arrow stands for a force that the largest one of a frame exceeds now and then: not
// for the highest peak of an impact, beside which nothing else would be seen.
static void nice_force(Viewer* v) {
    int64_t frames = 0, above = 0;
    for (int i = 0; i < VIEW_DECADES; ++i) frames += v->force_frames[i];
    int bin = VIEW_DECADES - 1;
    for (; bin > 0; --bin) {
        above += v->force_frames[bin];
        if (6 * above > frames) break;
    }
    double typical = frames > 0 ? pow(10, 0.1 * bin - 9) : 1;
    double power = pow(10, floor(log10(typical))), lead = typical / power;
    double below = lead < 1.9 ? 1 : 2; // 1, 2 or 5
    v->force_reference = power * (lead < 4.9 ? below : 5);
}

static void count_force(Viewer* v, double force) {
    if (!(force > 0) || !isfinite(force)) return;
    int bin = (int)floor(10 * (log10(force) + 9));
    if (bin < 0) bin = 0;
    if (bin >= VIEW_DECADES) bin = VIEW_DECADES - 1;
    ++v->force_frames[bin];
    v->force_largest = fmax(v->force_largest, force);
}

static void survey_frame(Viewer* v, ViewFrame* frame, int64_t index) {
    LashError ignored = {0};
    if (!view_source_frame(v->source, index, frame, &ignored)) return;
    view_frame_place(&v->scene, frame);
    view_scene_extend(&v->scene, frame);
    ViewArrow arrow[64];
    int arrows = view_frame_forces(&v->scene, frame, arrow, 64);
    double largest = 0;
    for (int i = 0; i < arrows; ++i) largest = fmax(largest, vec3_norm(arrow[i].force));
    count_force(v, largest);
}

void viewer_survey(Viewer* v, int frames) {
    ViewStatus status = view_source_status(v->source);
    if (v->surveyed >= status.frames) {
        if (v->surveyed > status.frames) v->surveyed = status.frames; // thinned out
        return;
    }
    ViewFrame frame = view_frame_create(&v->scene);
    if (status.live) {
        for (int i = 0; i < frames && v->surveyed < status.frames; ++i)
            survey_frame(v, &frame, v->surveyed++);
    } else {
        int64_t count = status.frames < frames ? status.frames : frames;
        for (int64_t i = 0; i < count; ++i)
            survey_frame(v, &frame, count > 1 ? i * (status.frames - 1) / (count - 1) : 0);
        v->surveyed = status.frames;
    }
    view_frame_destroy(&frame);
    nice_force(v);
}

static void show_frame(Viewer* v, int64_t index) {
    if (!view_source_frame(v->source, index, &v->frame, &v->error)) return;
    view_frame_place(&v->scene, &v->frame);
    if (v->magnifier != NULL && v->magnification > 1)
        view_magnifier_apply(v->magnifier, &v->scene, &v->frame, v->magnification);
    v->touches = view_frame_touches(&v->scene, &v->frame, v->touch, VIEW_MAX_POINTS);
    v->arrows = view_frame_forces(&v->scene, &v->frame, v->arrow, VIEW_MAX_ARROWS);
    v->shown = index;
}

// Path of the mass center of a body over all frames there are, without points closer together than
// can be seen; the frame of each point is kept.
static int read_path(Viewer* v, int body, float* out, int64_t* frame) {
    int64_t frames = v->status.frames, stride = (frames - 1) / (VIEW_TRACE_POINTS - 1) + 1;
    double* column = lash_alloc(3 * (size_t)frames * sizeof *column);
    float least = (float)(1e-3 * view_scene_size(&v->scene));
    int points = 0;
    for (int k = 0; k < 3; ++k) {
        view_source_column(v->source, LASH_SERIES_POSITION, 3 * body + k, 0, frames,
                           column + k * frames, &v->error);
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

static void read_paths(Viewer* v) {
    int count = v->traces > 0 ? v->traces : v->scene.parts, used = 0;
    for (int i = 0; i < count && used < VIEW_MAX_TRACES; ++i) {
        const ViewPart* part = &v->scene.part[v->traces > 0 ? v->traced[i] : i];
        if (part->body < 0) continue;
        size_t first = (size_t)used * VIEW_TRACE_POINTS;
        v->trace[used].point = v->trace_point + 3 * first;
        v->trace_points[used] =
            read_path(v, part->body, v->trace_point + 3 * first, v->trace_frame + first);
        memcpy(v->trace[used++].color, part->color, sizeof part->color);
    }
    for (; used < VIEW_MAX_TRACES; ++used) v->trace_points[used] = 0;
    v->traced_frames = v->status.frames;
}

// The paths up to the frame that is shown; of a live run they are read again as it grows.
static void update_traces(Viewer* v) {
    if (!v->style.traces || v->status.frames == 0) return;
    int64_t read = v->traced_frames, now = v->status.frames;
    bool old = v->status.running ? now > read + read / 20 || v->shown >= read : now != read;
    if (read < 0 || now < read || old) read_paths(v);
    for (int i = 0; i < VIEW_MAX_TRACES; ++i) {
        const int64_t* frame = v->trace_frame + (size_t)i * VIEW_TRACE_POINTS;
        int low = 0, high = v->trace_points[i]; // points before low are not after the frame
        while (low < high) {
            int middle = (low + high) / 2;
            if (frame[middle] <= v->shown) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        v->trace[i].count = low;
    }
}

void viewer_trace(Viewer* v, int part) {
    int at = 0;
    while (at < v->traces && v->traced[at] != part) ++at;
    if (at < v->traces) {
        v->traced[at] = v->traced[--v->traces];
    } else if (v->traces < VIEW_MAX_TRACES) {
        v->traced[v->traces++] = part;
    }
    v->style.traces = v->traces > 0;
    v->traced_frames = -1;
    update_traces(v);
}

static void update_events(Viewer* v) {
    int64_t count = v->status.events < MAX_TICKS ? v->status.events : MAX_TICKS;
    if (count < v->events) v->events = 0; // restarted
    if (count == v->events) return;
    if (count > v->event_capacity) {
        v->event_capacity = 2 * count;
        v->event = lash_realloc(v->event, (size_t)v->event_capacity * sizeof *v->event);
    }
    v->events += view_source_events(v->source, v->events, count - v->events, v->event + v->events);
}

void viewer_update(Viewer* v, double wall) {
    v->status = view_source_status(v->source);
    if (v->status.error.status != LASH_OK && v->error.status == LASH_OK) v->error = v->status.error;
    view_playback_range(&v->playback, v->status.begin, v->status.end, v->status.running);
    view_playback_advance(&v->playback, wall);
    if (v->status.live && v->surveyed != v->status.frames) {
        viewer_survey(v, 40);
        if (!v->camera_touched) viewer_fit(v);
    }
    update_events(v);
    int64_t index = view_source_find(v->source, v->playback.time * (1 + 1e-12) + 1e-15);
    if (index != v->shown || (v->status.live && index == 0)) {
        show_frame(v, index);
        update_traces(v);
    }
}

void viewer_seek(Viewer* v, double time) {
    v->status = view_source_status(v->source); // it may have grown since the last picture
    view_playback_range(&v->playback, v->status.begin, v->status.end, v->status.running);
    view_playback_seek(&v->playback, time);
    viewer_update(v, 0);
}

void viewer_magnify(Viewer* v, double factor) {
    v->magnification = fmax(1, fmin(100, factor));
    if (v->shown >= 0) show_frame(v, v->shown);
}

void viewer_fit(Viewer* v) {
    if (isfinite(v->scene.bound.low.x)) view_camera_fit(&v->camera, v->scene.hull, VIEW_HULL);
}

double viewer_force_length(const Viewer* v) {
    return v->force_reference > 0 ? 0.14 * view_scene_size(&v->scene) / v->force_reference : 0;
}

// What must lie between the near and the far plane: the scene, its arrows, and the grid around it.
static LashBox drawn_box(const Viewer* v) {
    double reach = 0.9 * view_scene_size(&v->scene);
    LashBox box = v->scene.bound;
    box.low = vec3_sub(box.low, vec3(reach, reach, reach));
    box.high = vec3_add(box.high, vec3(reach, reach, reach));
    return box;
}

ViewPicture viewer_picture(Viewer* v) {
    view_camera_clip(&v->camera, drawn_box(v));
    ViewPicture picture = {.scene = &v->scene,
                           .frame = &v->frame,
                           .camera = &v->camera,
                           .style = v->style,
                           .selected = v->selected,
                           .hovered = {-1, -1},
                           .arrow = v->arrow,
                           .arrows = v->arrows,
                           .touch = v->touch,
                           .touches = v->touches,
                           .trace = v->trace,
                           .traces = VIEW_MAX_TRACES,
                           .force_length = viewer_force_length(v),
                           .selected_joint = v->selected_joint,
                           .pixel = v->pixel};
    if (v->selected_joint >= 0)
        picture.marks =
            view_joint_faces(&v->scene, v->selected_joint, picture.marked, VIEW_MAX_MARKS);
    return picture;
}

// ---- actions ------------------------------------------------------------------------------------

static void go_to_event(Viewer* v, int direction) {
    double t = v->playback.time, slack = 0.25 * v->status.step;
    if (direction > 0) {
        for (int64_t i = 0; i < v->events; ++i) {
            if (v->event[i].t <= t + slack) continue;
            viewer_seek(v, v->event[i].t);
            break;
        }
    } else {
        for (int64_t i = v->events - 1; i >= 0; --i) {
            if (v->event[i].t >= t - slack) continue;
            viewer_seek(v, v->event[i].t);
            break;
        }
    }
    v->playback.playing = false;
}

static void step(Viewer* v, int frames) {
    int64_t index = v->shown + frames;
    if (index < 0) index = 0;
    v->playback.playing = false;
    viewer_seek(v, view_source_time(v->source, index));
}

static void set_visibility(Viewer* v, ViewVisibility visibility) {
    if (v->selected.part < 0) return;
    ViewVisibility* now = &v->scene.part[v->selected.part].visibility;
    *now = *now == visibility ? VIEW_SHOWN : visibility;
    if (*now == VIEW_HIDDEN) v->selected = (ViewPick){-1, -1};
}

static void isolate(Viewer* v) {
    if (v->selected.part < 0) return;
    for (int i = 0; i < v->scene.parts; ++i) {
        v->scene.part[i].visibility = i == v->selected.part ? VIEW_SHOWN : VIEW_HIDDEN;
    }
}

static void restart(Viewer* v) {
    v->error = (LashError){0};
    v->shown = -1;
    v->events = v->surveyed = 0;
    v->traced_frames = -1;
    memset(v->force_frames, 0, sizeof v->force_frames);
    view_source_start(v->source);
    v->playback.time = v->playback.begin;
    v->playback.playing = true;
    viewer_update(v, 0);
}

static bool act_time(Viewer* v, ViewAction action) {
    double leap = 0.01 * (v->playback.end - v->playback.begin);
    switch (action) {
        case VIEW_PLAY:
            view_playback_toggle(&v->playback);
            return true;
        case VIEW_STEP_BACK:
            step(v, -1);
            return true;
        case VIEW_STEP_FORWARD:
            step(v, 1);
            return true;
        case VIEW_LEAP_BACK:
            viewer_seek(v, v->playback.time - leap);
            return true;
        case VIEW_LEAP_FORWARD:
            viewer_seek(v, v->playback.time + leap);
            return true;
        case VIEW_GO_BEGIN:
            viewer_seek(v, v->playback.begin);
            return true;
        case VIEW_GO_END:
            viewer_seek(v, v->playback.end);
            return true;
        case VIEW_NEXT_EVENT:
            go_to_event(v, 1);
            return true;
        case VIEW_PREVIOUS_EVENT:
            go_to_event(v, -1);
            return true;
        case VIEW_FASTER:
            view_playback_speed(&v->playback, 1);
            return true;
        case VIEW_SLOWER:
            view_playback_speed(&v->playback, -1);
            return true;
        case VIEW_LOOP:
            v->playback.loop = !v->playback.loop;
            return true;
        case VIEW_RESTART:
            restart(v);
            return true;
        default:
            return false;
    }
}

static bool act_look(Viewer* v, ViewAction action) {
    ViewStyle* s = &v->style;
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
            update_traces(v);
            return true;
        case VIEW_TOGGLE_PANELS:
            v->panels = !v->panels;
            return true;
        case VIEW_TOGGLE_HELP:
            v->help = !v->help;
            return true;
        default:
            return false;
    }
}

static void act_parts(Viewer* v, ViewAction action) {
    switch (action) {
        case VIEW_HIDE:
            set_visibility(v, VIEW_HIDDEN);
            break;
        case VIEW_SEE_THROUGH:
            set_visibility(v, VIEW_TRANSPARENT);
            break;
        case VIEW_ISOLATE:
            isolate(v);
            break;
        case VIEW_SHOW_ALL:
            for (int i = 0; i < v->scene.parts; ++i) v->scene.part[i].visibility = VIEW_SHOWN;
            break;
        case VIEW_DESELECT:
            v->selected = (ViewPick){-1, -1};
            v->selected_joint = -1;
            break;
        case VIEW_MAGNIFY_MORE:
            viewer_magnify(v, 2 * v->magnification);
            break;
        case VIEW_MAGNIFY_LESS:
            viewer_magnify(v, 0.5 * v->magnification);
            break;
        case VIEW_QUIT:
            v->quit = true;
            break;
        default:
            break;
    }
}

void viewer_act(Viewer* v, ViewAction action) {
    if (act_time(v, action) || act_look(v, action)) return;
    if (action == VIEW_FIT) {
        viewer_fit(v);
        v->camera_touched = false;
    } else if (action == VIEW_ORTHOGRAPHIC) {
        v->camera.orthographic = !v->camera.orthographic;
    } else if (action >= VIEW_LOOK_ISO && action <= VIEW_LOOK_BOTTOM) {
        view_camera_set(&v->camera, (ViewStandard)(action - VIEW_LOOK_ISO));
        viewer_fit(v);
    } else {
        act_parts(v, action);
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
        {"Esc", "select nothing", 256, VIEW_DESELECT},
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

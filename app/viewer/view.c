// lash view: the window, or pictures and videos without one.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/cli/file_kind.h"
#include "app/cli/output_file.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/cli/suggest.h"
#include "app/commands.h"
#include "app/viewer/studio.h"
#include "app/viewer/video.h"
#include "app/viewer/window.h"
#include "core/arena.h"
#include "core/math3.h"

typedef struct ViewOptions {
    AppOperands operands;
    AppList set, plot, with, without, hide, transparent;
    const char *scheme, *direction, *png, *video, *frames, *size, *camera, *at, *select, *section;
    const char *curves, *beside, *filter, *span;
    double step, duration, frame, magnify, scale, speed, rate;
    bool json, panels, bare, orthographic;
    int width, height; // parsed
    double zoom;
} ViewOptions;

#define OPTION(member) offsetof(ViewOptions, member)
static const AppOption options[] = {
    {"png", 0, APP_FILE, "FILE.png", "draw one picture", OPTION(png)},
    {"frame", 0, APP_NUMBER, "SECONDS", "time to show first (default: the start)", OPTION(frame)},
    {"video", 0, APP_FILE, "FILE.mp4", "make a video with ffmpeg", OPTION(video)},
    {"frames", 0, APP_FILE, "DIR", "write the pictures of a video as DIR/frame_00000.png ...",
     OPTION(frames)},
    {"rate", 0, APP_NUMBER, "FPS", "pictures per second of a video (default 30)", OPTION(rate)},
    {"speed", 0, APP_NUMBER, "FACTOR",
     "simulated per shown time, 1e-4 to 10 (default: the run plays in about 8 s)", OPTION(speed)},
    {"size", 0, APP_TEXT, "WxH", "of picture or window (default 1280x800)", OPTION(size)},
    {"camera", 0, APP_TEXT, "VIEW",
     "iso, front, back, left, right, top, bottom, or YAW,PITCH[,ZOOM] in degrees", OPTION(camera)},
    {"at", 0, APP_TEXT, "PART|JOINT", "look at the middle of a part, or at a joint", OPTION(at)},
    {"orthographic", 0, APP_FLAG, NULL, "parallel instead of perspective", OPTION(orthographic)},
    {"magnify", 0, APP_NUMBER, "FACTOR", "show the play of joints 1 to 100 times as large",
     OPTION(magnify)},
    {"with", 0, APP_LIST, "WHAT", "show: edges, grid, contacts, forces, joints, traces",
     OPTION(with)},
    {"without", 0, APP_LIST, "WHAT", "do not show it", OPTION(without)},
    {"section", 0, APP_TEXT, "AXIS[,PLACE]",
     "cut along x, y or z (-x: the other side) at -1 to 1 of the mechanism", OPTION(section)},
    {"hide", 0, APP_LIST, "PART", "do not show a part", OPTION(hide)},
    {"transparent", 0, APP_LIST, "PART", "show a part transparent", OPTION(transparent)},
    {"select", 0, APP_TEXT, "PART[:FACE]", "select a part, a face or a joint", OPTION(select)},
    {"plot", 'p', APP_LIST, "NAME", "plot a quantity, e.g. crank.velocity.x", OPTION(plot)},
    {"curves", 0, APP_FILE, "FILE", "save the plotted curves as FILE.csv or FILE.svg, no picture",
     OPTION(curves)},
    {"beside", 0, APP_FILE, "RESULT.h5", "lay the curves of a second result over the plots",
     OPTION(beside)},
    {"span", 0, APP_TEXT, "BEGIN,END", "time that the plots show, in seconds", OPTION(span)},
    {"filter", 0, APP_TEXT, "TEXT",
     "leave in tree and timeline what has it in its name or in those of its parts", OPTION(filter)},
    {"panels", 0, APP_FLAG, NULL, "draw the panels of the window into the picture", OPTION(panels)},
    {"bare", 0, APP_FLAG, NULL, "no captions in the picture", OPTION(bare)},
    {"scale", 0, APP_NUMBER, "FACTOR", "of texts and lines (default: what the screen asks for)",
     OPTION(scale)},
    {"set", 's', APP_LIST, "NAME=VALUE", "give a parameter another value", OPTION(set)},
    {"scheme", 0, APP_TEXT, "SCHEME", "time-stepping scheme instead of the model's",
     OPTION(scheme)},
    {"step", 0, APP_NUMBER, "SECONDS", "time step instead of the model's", OPTION(step)},
    {"duration", 0, APP_NUMBER, "SECONDS", "simulated time instead of the model's",
     OPTION(duration)},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document about what was written", OPTION(json)},
};
const AppCommand app_view_command = {
    .name = "view",
    .operands = "MODEL|RESULT.h5|FILE.step",
    .summary = "see a mechanism move, live or recorded",
    .detail =
        "Opens a window: a model is simulated while it is shown, a result is played back. F1 "
        "lists\n"
        "the keys. With --png, --frames, --video or --curves no window and no display is needed.\n"
        "A STEP file is shown as it is, an assembly with the joints that 'lash draft' finds in it.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_MODEL | APP_FILE_RESULT | APP_FILE_STEP};

enum { MAX_SIDE = 16384, SAMPLES = 8 };

// ---- options ------------------------------------------------------------------------------------

static bool parse_size(const char* text, int* width, int* height, LashError* error) {
    int used = 0;
    if (text == NULL) return true;
    bool good = sscanf(text, "%d%*1[xX]%d%n", width, height, &used) == 2 && text[used] == '\0';
    if (good && *width >= 16 && *height >= 16 && *width <= MAX_SIDE && *height <= MAX_SIDE)
        return true;
    return lash_error_set(error, LASH_ERROR_USAGE, "--size",
                          "expected WIDTHxHEIGHT of 16 to %d pixels, found '%.40s'", MAX_SIDE,
                          text);
}

static bool check_range(const char* option, double value, double low, double high,
                        LashError* error) {
    if (isnan(value) || (value >= low && value <= high)) return true;
    return lash_error_set(error, LASH_ERROR_USAGE, option, "expected %g to %g, found %g", low, high,
                          value);
}

// Before a model is read, and again when it is: what is read is no output.
static bool check_files(const ViewOptions* o, LashError* error) {
    return (o->png == NULL || app_output_check(o->png, error)) &&
           (o->video == NULL || app_output_check(o->video, error)) &&
           (o->curves == NULL || app_output_check(o->curves, error));
}

static bool check_endings(const ViewOptions* o, LashError* error) {
    return app_file_ending("--png", o->png, ".png", error) &&
           app_file_ending("--curves", o->curves, ".csv .svg", error) &&
           app_file_ending("--video", o->video, ".mp4 .mkv .webm .mov .avi .gif", error);
}

static bool check_options(ViewOptions* o, LashError* error) {
    int pictures =
        (o->png != NULL) + (o->video != NULL) + (o->frames != NULL) + (o->curves != NULL);
    if (pictures > 1)
        return lash_error_set(error, LASH_ERROR_USAGE, "",
                              "choose one of --png, --video, --frames and --curves, found %d",
                              pictures);
    if (!check_files(o, error)) return false;
    if (o->frame < 0)
        return lash_error_set(error, LASH_ERROR_USAGE, "--frame",
                              "expected a time of the motion, which begins at 0 s, found %g s",
                              o->frame);
    return parse_size(o->size, &o->width, &o->height, error) &&
           check_range("--rate", o->rate, 1, 240, error) &&
           check_range("--speed", o->speed, 1e-4, 10, error) &&
           check_range("--magnify", o->magnify, 1, 100, error) &&
           check_range("--scale", o->scale, 0.5, 8, error);
}

static bool set_shown(ViewStyle* style, const AppList* list, bool shown, LashError* error) {
    static const char* const names[] = {"edges", "grid", "contacts", "forces", "joints", "traces"};
    bool* flag[] = {&style->edges,  &style->grid,         &style->contacts,
                    &style->forces, &style->joint_frames, &style->traces};
    for (int i = 0; i < list->count; ++i) {
        int k = 0;
        while (k < 6 && strcmp(names[k], list->item[i]) != 0) ++k;
        if (k == 6) {
            return lash_error_set(error, LASH_ERROR_USAGE, shown ? "--with" : "--without",
                                  "expected edges, grid, contacts, forces, joints or traces, found "
                                  "'%.40s'",
                                  list->item[i]);
        }
        *flag[k] = shown;
    }
    return true;
}

// A part of that name; -1 with error. joints: the option takes joints, too.
static int find_part(const Viewer* viewer, const char* option, bool joints, const char* name,
                     LashError* error) {
    char hint[300];
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < viewer->scene.parts; ++i) {
        if (strcmp(viewer->scene.part[i].name, name) == 0) return i;
        app_suggestion_offer(&near, viewer->scene.part[i].name);
    }
    for (int i = 0; joints && i < viewer->scene.joints; ++i)
        app_suggestion_offer(&near, viewer->scene.joint[i].name);
    lash_error_set(error, LASH_ERROR_USAGE, option, "there is no part%s '%.60s'%s",
                   joints ? " or joint" : "", name, app_suggestion_names(&near, hint, sizeof hint));
    return -1;
}

static bool set_visibility(Viewer* viewer, const char* option, const AppList* list,
                           ViewVisibility visibility, LashError* error) {
    for (int i = 0; i < list->count; ++i) {
        int part = find_part(viewer, option, false, list->item[i], error);
        if (part < 0) return false;
        viewer->scene.part[part].visibility = visibility;
    }
    return true;
}

static bool select_part(Viewer* viewer, const char* text, LashError* error) {
    if (text == NULL) return true;
    char name[128];
    const char* colon = strrchr(text, ':');
    for (int i = 0; i < viewer->scene.joints; ++i) {
        if (strcmp(viewer->scene.joint[i].name, text) != 0) continue;
        viewer->selected_joint = i;
        return true;
    }
    int length = colon == NULL ? (int)strlen(text) : (int)(colon - text), face = -1;
    snprintf(name, sizeof name, "%.*s", length, text);
    int part = find_part(viewer, "--select", true, name, error);
    if (part < 0) return false;
    if (colon != NULL) {
        char* end;
        long number = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end != '\0' || number < 0 ||
            number >= viewer->scene.part[part].faces) {
            return lash_error_set(error, LASH_ERROR_USAGE, "--select",
                                  "expected a face of part '%.60s', 0 to %d, found '%.20s'", name,
                                  viewer->scene.part[part].faces - 1, colon + 1);
        }
        face = (int)number;
    }
    viewer->selected = (ViewPick){part, face};
    return true;
}

static bool set_section(Viewer* viewer, const char* text, LashError* error) {
    if (text == NULL) return true;
    double sign = text[0] == '-' ? -1 : 1, place = 0;
    const char* axis = text + (text[0] == '-');
    char* end = (char*)(uintptr_t)axis + (axis[0] != '\0');
    if (*end == ',') place = strtod(end + 1, &end);
    bool good = axis[0] >= 'x' && axis[0] <= 'z' && *end == '\0' && fabs(place) <= 1;
    if (!good) {
        return lash_error_set(error, LASH_ERROR_USAGE, "--section",
                              "expected x, y or z, a minus before it, a place of -1 to 1 after it, "
                              "found '%.40s'",
                              text);
    }
    Vec3 n = vec3(axis[0] == 'x', axis[0] == 'y', axis[0] == 'z');
    Vec3 span = vec3_sub(viewer->scene.bound.high, viewer->scene.bound.low);
    viewer->style.section = true;
    viewer->style.section_normal = vec3_scale(sign, n);
    viewer->style.section_offset = sign * place * 0.5 * fabs(vec3_dot(n, span));
    return true;
}

static bool set_plots(Viewer* viewer, const AppList* list, LashError* error) {
    if (list->count > 0) viewer->plots = 0;
    for (int i = 0; i < list->count; ++i) {
        ViewCurve curve;
        if (viewer_plot_find(viewer, list->item[i], &curve)) {
            viewer_plot_toggle(viewer, &curve);
            continue;
        }
        char hint[300];
        AppSuggestion near = app_suggestion(list->item[i]);
        int count = viewer_curve_count(viewer);
        char(*name)[96] = lash_alloc((size_t)count * sizeof *name); // suggestions keep pointers
        for (int k = 0; k < count; ++k) {
            memcpy(name[k], viewer_curve(viewer, k).name, sizeof *name);
            if (name[k][0] != '\0') app_suggestion_offer(&near, name[k]);
        }
        lash_error_set(error, LASH_ERROR_USAGE, "--plot", "there is no quantity '%.60s'%s",
                       list->item[i], app_suggestion_names(&near, hint, sizeof hint));
        lash_free(name);
        return false;
    }
    return true;
}

static bool set_span(Viewer* viewer, const char* text, LashError* error) {
    if (text == NULL) return true;
    ViewSpan span = {0, 0};
    int used = 0;
    bool good = sscanf(text, "%lf,%lf%n", &span.begin, &span.end, &used) == 2;
    good = good && text[used] == '\0' && span.begin >= 0 && span.end > span.begin;
    if (!good || !isfinite(span.end)) {
        return lash_error_set(error, LASH_ERROR_USAGE, "--span",
                              "expected two times in seconds, the later one second (0.01,0.02), "
                              "found '%.40s'",
                              text);
    }
    viewer->zoom = span;
    return true;
}

static bool apply_options(Viewer* viewer, ViewOptions* o, LashError* error) {
    viewer->camera.orthographic = o->orthographic;
    if (!isnan(o->speed)) viewer->playback.speed = o->speed;
    viewer_magnify(viewer, o->magnify);
    if (o->camera != NULL) viewer->camera_touched = true;
    if (o->filter != NULL) viewer_filter(viewer, o->filter);
    return (o->camera == NULL || view_camera_parse(&viewer->camera, o->camera, &o->zoom, error)) &&
           set_shown(&viewer->style, &o->with, true, error) &&
           set_shown(&viewer->style, &o->without, false, error) &&
           set_visibility(viewer, "--hide", &o->hide, VIEW_HIDDEN, error) &&
           set_visibility(viewer, "--transparent", &o->transparent, VIEW_TRANSPARENT, error) &&
           select_part(viewer, o->select, error) && set_plots(viewer, &o->plot, error) &&
           set_span(viewer, o->span, error);
}

// ---- pictures -----------------------------------------------------------------------------------

// The run as far as the pictures need it, its extent, and the camera around it.
static bool prepare_pictures(Viewer* viewer, ViewOptions* o, LashError* error) {
    double frame = isnan(o->frame) ? -INFINITY : o->frame;
    double until = o->png != NULL ? frame : INFINITY;
    viewer->playback.playing = false;
    view_source_wait(viewer->source, until);
    viewer_update(viewer, 0);
    viewer_survey(viewer, 1 << 20);
    if (viewer->status.error.status != LASH_OK && !(viewer->status.end >= until)) {
        *error = viewer->status.error; // the run ended before
        return false;
    }
    if (o->png != NULL && o->frame > viewer->status.end + viewer->status.step) {
        return lash_error_set(error, LASH_ERROR_USAGE, "--frame",
                              "expected a time of the motion, which ends at %.9g s, found %.9g s",
                              viewer->status.end, o->frame);
    }
    if (!isnan(o->frame)) viewer_seek(viewer, o->frame);
    if (!set_section(viewer, o->section, error)) return false;
    viewer_magnify(viewer, o->magnify);
    viewer->camera_touched = true;
    return true;
}

// The camera around everything, then nearer and at what --at names.
static bool place_camera(Viewer* viewer, const ViewOptions* o, LashError* error) {
    viewer_fit(viewer);
    viewer->camera.distance /= o->zoom;
    if (o->at == NULL) return true;
    for (int i = 0; i < viewer->scene.joints; ++i) {
        const ViewJoint* j = &viewer->scene.joint[i];
        if (strcmp(j->name, o->at) != 0 || j->coupling) continue;
        viewer->camera.target =
            pose_point(view_world_body(&viewer->frame, j->body_a), j->a_joint.r);
        return true;
    }
    int part = find_part(viewer, "--at", true, o->at, error);
    if (part < 0) return false;
    viewer->camera.target = viewer->scene.part[part].body >= 0
                                ? view_world_body(&viewer->frame, viewer->scene.part[part].body).r
                                : view_world_part(&viewer->scene, &viewer->frame, part).r;
    return true;
}

static ViewStudio* open_studio(Viewer* viewer, const ViewOptions* o, LashError* error) {
    ViewStudioOptions s = {.width = o->width,
                           .height = o->height,
                           .samples = SAMPLES,
                           .scale = isnan(o->scale) ? 1 : o->scale,
                           .panels = o->panels,
                           .captions = !o->bare};
    viewer->panels = o->panels;
    ViewStudio* studio = view_studio_create(viewer, &s, error);
    if (studio == NULL || place_camera(viewer, o, error)) return studio;
    view_studio_destroy(studio);
    return NULL;
}

static bool write_png(Viewer* viewer, const ViewOptions* o, LashError* error) {
    ViewStudio* studio = open_studio(viewer, o, error);
    if (studio == NULL) return false;
    if (o->panels) view_studio_draw(studio, 0); // panels settle their layout in the first one
    bool good = view_bitmap_write(view_studio_shoot(studio), o->png, error);
    view_studio_destroy(studio);
    return good;
}

static bool write_one(const ViewBitmap* bitmap, const ViewOptions* o, ViewVideo* video, int number,
                      LashError* error) {
    if (video != NULL) return view_video_add(video, bitmap->pixel, error);
    char path[1200];
    snprintf(path, sizeof path, "%.1024s/frame_%05d.png", o->frames, number);
    return view_bitmap_write(bitmap, path, error);
}

// All pictures of a video; *written counts them.
static bool write_series(Viewer* viewer, const ViewOptions* o, int* written, LashError* error) {
    if (o->frames != NULL && mkdir(o->frames, 0777) != 0 && errno != EEXIST) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot make the folder: %s", strerror(errno));
        lash_error_file(error, o->frames);
        return false;
    }
    double rate = isnan(o->rate) ? 30 : o->rate, first = viewer->playback.time;
    int64_t count =
        (int64_t)floor((viewer->status.end - first) / viewer->playback.speed * rate + 1e-9) + 1;
    ViewVideo* video = NULL;
    if (o->video != NULL) {
        video = view_video_create(o->video, o->width, o->height, rate, error);
        if (video == NULL) return false;
    }
    ViewStudio* studio = open_studio(viewer, o, error);
    AppProgress progress = app_progress_start();
    bool good = studio != NULL;
    for (int64_t i = 0; i < count && good && !app_interrupted(); ++i) {
        viewer_seek(viewer, first + (double)i * viewer->playback.speed / rate);
        good = write_one(view_studio_shoot(studio), o, video, (int)i, error);
        *written += good;
        app_progress_update(&progress, (double)i / (double)count, "draw");
    }
    app_progress_clear(&progress);
    view_studio_destroy(studio);
    return view_video_close(video, error) && good;
}

// ---- window -------------------------------------------------------------------------------------

static bool open_window(Viewer* viewer, const ViewOptions* o, LashError* error) {
    char title[300];
    const LashModel* model = viewer->scene.model;
    snprintf(title, sizeof title, "%.200s - Lash", model->name != NULL ? model->name : model->file);
    ViewWindowOptions w = {o->width, o->height, o->scale, true, title};
    ViewWindow* window = view_window_create(viewer, &w, error);
    if (window == NULL) return false;
    if (!isnan(o->frame)) {
        view_source_wait(viewer->source, o->frame);
        viewer->playback.playing = false;
        viewer_seek(viewer, o->frame);
    }
    if (!set_section(viewer, o->section, error) || !place_camera(viewer, o, error))
        viewer->quit = true;
    while (view_window_step(window)) continue;
    view_window_destroy(window);
    return error->status == LASH_OK;
}

static void put_result(AppJson* json, const Viewer* viewer, const ViewOptions* o, int written) {
    const char* file = o->video != NULL ? o->video : o->frames;
    if (o->png != NULL) file = o->png;
    if (o->curves != NULL) file = o->curves;
    app_json_put_text(json, "file", file);
    app_json_put_integer(json, "pictures", written);
    app_json_put_integer(json, "width", o->width);
    app_json_put_integer(json, "height", o->height);
    app_json_put_number(json, "time", viewer->frame.time);
    app_json_put_integer(json, "parts", viewer->scene.parts);
    app_json_put_integer(json, "triangles", viewer->scene.triangles);
}

// Another result of the same mechanism: its numbers must mean the same.
static ViewSource* open_second(Viewer* viewer, const char* file, LashError* error) {
    if (file == NULL) return NULL;
    AppSessionOptions none = {.step = NAN, .duration = NAN};
    if (!app_file_expect(file, APP_FILE_RESULT, error)) return NULL;
    ViewSource* second = view_source_open(file, &none, error);
    if (second == NULL) return NULL;
    const LashModel *a = viewer->scene.model, *b = view_source_model(second);
    if (a->bodies == b->bodies && a->joints == b->joints &&
        a->contact_points == b->contact_points) {
        viewer->second = second;
        viewer->second_name = file;
        return second;
    }
    lash_error_set(error, LASH_ERROR_USAGE, "--beside",
                   "expected a result of the same mechanism (%d bodies, %d joints), found %d and "
                   "%d in '%.200s'",
                   a->bodies, a->joints, b->bodies, b->joints, file);
    view_source_close(second);
    return NULL;
}

int app_view(int argc, char** argv) {
    ViewOptions o = {.step = NAN,
                     .duration = NAN,
                     .frame = NAN,
                     .magnify = 1,
                     .scale = NAN,
                     .speed = NAN,
                     .rate = NAN,
                     .width = 1280,
                     .height = 800,
                     .zoom = 1};
    int code = app_options_parse(&app_view_command, argc, argv, &o), written = 0;
    if (code >= 0) return code;
    AppReport report = app_report("view", o.json);
    LashError error = {0};
    AppSessionOptions session = {o.set.item,  o.set.count, o.scheme,
                                 o.direction, o.step,      o.duration};
    app_catch_interrupt();
    ViewSource* source = NULL;
    if (check_options(&o, &error)) source = view_source_open(o.operands.item[0], &session, &error);
    bool good = source != NULL && check_files(&o, &error) && check_endings(&o, &error);
    Viewer* viewer = good ? viewer_create(source, &error) : NULL;
    ViewSource* second = viewer == NULL ? NULL : open_second(viewer, o.beside, &error);
    if (viewer != NULL && error.status == LASH_OK && apply_options(viewer, &o, &error)) {
        if (!viewer->status.complete && !viewer->status.live)
            app_report_warning("the run did not finish; %lld frames are shown",
                               (long long)viewer->status.frames);
        if (view_source_changes(source)[0] != '\0') {
            app_report_warning("%s", view_source_changes(source));
            lash_error_set(&viewer->error, LASH_ERROR_CAD, "", "%s", view_source_changes(source));
        }
        if (o.curves != NULL) {
            view_source_wait(viewer->source, INFINITY);
            viewer_update(viewer, 0);
            written = viewer_plots_save(viewer, o.curves, &error);
        } else if (o.png == NULL && o.video == NULL && o.frames == NULL) {
            open_window(viewer, &o, &error);
        } else if (prepare_pictures(viewer, &o, &error)) {
            if (o.png != NULL) written = write_png(viewer, &o, &error);
            if (o.png == NULL) write_series(viewer, &o, &written, &error);
        }
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (viewer != NULL && error.status == LASH_OK) put_result(json, viewer, &o, written);
    }
    viewer_destroy(viewer);
    view_source_close(second);
    view_source_close(source);
    code = app_report_finish(&report, &error);
    return code == 0 && app_interrupted() ? APP_EXIT_INTERRUPTED : code;
}

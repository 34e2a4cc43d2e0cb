// lash bench viewer: pictures per second and seeking, without a display.
//
// The scene is a mechanism of CAD parts, several times over until it has the triangles asked for;
// it is drawn as the window draws it: 4 samples per pixel, edges, grid, panels, timeline and plots.
// A picture is finished when a pixel of it has been read.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/data_dir.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/commands.h"
#include "app/version.h"
#include "app/viewer/studio.h"
#include "core/arena.h"
#include "core/math3.h"

typedef struct BenchOptions {
    AppOperands operands;
    const char* models;
    int triangles, pictures, frames;
    bool json;
} BenchOptions;

#define OPTION(member) offsetof(BenchOptions, member)
static const AppOption options[] = {
    {"models", 0, APP_FILE, "DIR", "folder of the models (default: found beside the program)",
     OPTION(models)},
    {"triangles", 0, APP_INTEGER, "N", "at least this many (default 20000)", OPTION(triangles)},
    {"pictures", 0, APP_INTEGER, "N", "pictures to draw (default 120)", OPTION(pictures)},
    {"frames", 0, APP_INTEGER, "N", "of the long result to seek in (default 20000)",
     OPTION(frames)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_bench_viewer_command = {
    .name = "bench viewer",
    .operands = "",
    .summary = "pictures per second of the viewer, and time to seek in a long result",
    .detail = NULL,
    .minimum = 0,
    .maximum = 0,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands)};

enum { WIDTH = 1280, HEIGHT = 800, SEEKS = 200, SMOOTH = 4, STILLS = 9 };

typedef struct Figures {
    char renderer[128], model[64];
    int triangles, copies;
    double best, median, cpu; // of a moving picture [s]; cpu: mean over all threads
    double still;             // median of a smooth picture [s]
    int samples;              // per pixel of moving pictures
    int frames;               // of the long result
    double seek_mean, seek_worst;
    long held;  // resident memory for the long result [bytes]
    long grown; // resident memory while drawing [bytes]
} Figures;

// More copies of every piece, beside one another along z of the world at the start.
static void multiply(ViewScene* scene, int least, Figures* figures) {
    figures->copies = 1 + (least - 1) / (scene->triangles > 0 ? scene->triangles : 1);
    int pieces = scene->pieces;
    scene->piece =
        lash_realloc(scene->piece, (size_t)(pieces * figures->copies) * sizeof *scene->piece);
    double shift = 0.35 * view_scene_size(scene);
    for (int c = 1; c < figures->copies; ++c) {
        for (int i = 0; i < pieces; ++i) {
            ViewPiece piece = scene->piece[i];
            piece.owned = false;
            piece.part_shape.r = vec3_add(piece.part_shape.r, vec3(0, 0, -c * shift));
            scene->piece[scene->pieces++] = piece;
            scene->triangles += piece.shape->triangles;
        }
    }
    figures->triangles = scene->triangles;
}

static long resident(void) {
    long total = 0, pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    if (file != NULL) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static double cpu_clock(void) { // of all threads [s]
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Draws pictures; took (count) sorted [s].
static void draw_series(Viewer* viewer, ViewStudio* studio, int count, double* took) {
    for (int i = 0; i < count; ++i) {
        double start = app_wall_clock();
        view_camera_orbit(&viewer->camera, 3, 0);
        viewer_update(viewer, 0.02);
        view_studio_draw(studio, 0.02);
        took[i] = app_wall_clock() - start;
    }
    qsort(took, (size_t)count, sizeof *took, by_size);
}

static bool draw_pictures(Viewer* viewer, const BenchOptions* bench_options, Figures* figures,
                          LashError* error) {
    ViewStudioOptions s = {WIDTH, HEIGHT, SMOOTH, 1, true, true};
    multiply(&viewer->scene, bench_options->triangles, figures);
    ViewStudio* studio = view_studio_create(viewer, &s, error);
    if (studio == NULL) return false;
    snprintf(figures->renderer, sizeof figures->renderer, "%s", view_renderer_name());
    double* took = lash_alloc((size_t)(bench_options->pictures + STILLS) * sizeof *took);
    viewer->camera_touched = viewer->playback.playing = true;
    viewer_fit(viewer);
    draw_series(viewer, studio, STILLS, took); // shaders are compiled in the first
    figures->still = took[STILLS / 2];
    figures->samples = view_renderer_is_software() ? 1 : SMOOTH;
    view_studio_set_samples(studio, figures->samples);
    draw_series(viewer, studio, STILLS, took);
    long before = resident();
    double cpu = cpu_clock();
    draw_series(viewer, studio, bench_options->pictures, took);
    figures->grown = resident() - before;
    figures->cpu = (cpu_clock() - cpu) / bench_options->pictures;
    figures->best = took[0];
    figures->median = took[bench_options->pictures / 2];
    lash_free(took);
    view_studio_destroy(studio);
    return true;
}

// A result of many frames: the first frame of the run with the time written anew.
static bool write_long_result(const Viewer* viewer, int frames, const char* path,
                              LashError* error) {
    const ViewScene* scene = &viewer->scene;
    size_t names = (size_t)(scene->bodies + 2 * scene->joints + scene->contacts) + 1;
    const char **name = lash_alloc(names * sizeof *name), **joint = name + scene->bodies;
    const char **type = joint + scene->joints, **contact = type + scene->joints;
    for (int i = 0; i < scene->bodies; ++i) name[i] = lash_mechanism_body_name(scene->mech, i);
    for (int i = 0; i < scene->joints; ++i) {
        joint[i] = scene->joint[i].name;
        type[i] = lash_joint_type_name((LashJointType)scene->joint[i].type);
    }
    for (int i = 0; i < scene->contacts; ++i)
        contact[i] = lash_mechanism_contact_name(scene->mech, i);
    LashRecordInfo info = {
        .version = LASH_VERSION,
        .model_file = scene->model->file,
        .model_text = scene->model->text,
        .options = "{\"set\":[]}",
        .scheme = "combined",
        .step = 1e-6,
        .sizes = {.bodies = scene->bodies, .joints = scene->joints, .contacts = scene->contacts},
        .body_name = name,
        .joint_name = joint,
        .joint_type = type,
        .contact_name = contact};
    LashRecorder* recorder = lash_recorder_create(path, &info, error);
    bool good = recorder != NULL;
    for (int i = 0; i < frames && good; ++i) {
        viewer->frame.values[scene->layout.offset[LASH_SERIES_TIME]] = 1e-6 * i;
        good = lash_recorder_add(recorder, viewer->frame.values, error);
    }
    lash_free(name);
    return lash_recorder_close(recorder, error) && good;
}

static bool seek(Viewer* viewer, int frames, Figures* figures, LashError* error) {
    char path[64] = "/tmp/lash_bench_XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return lash_error_set(error, LASH_ERROR_IO, "/tmp", "no scratch file");
    close(file);
    AppSessionOptions none = {.step = NAN, .duration = NAN};
    ViewSource* source = NULL;
    Viewer* player = NULL;
    bool written = write_long_result(viewer, frames, path, error);
    long before = resident();
    figures->frames = frames;
    if (written) source = view_source_open(path, &none, error);
    if (source != NULL) player = viewer_create(source, error);
    for (int i = 0; player != NULL && i < SEEKS; ++i) {
        double start = app_wall_clock();
        viewer_seek(player, 1e-6 * (double)((int64_t)i * 7919 % frames));
        double took = app_wall_clock() - start;
        figures->seek_mean += took / SEEKS;
        figures->seek_worst = fmax(figures->seek_worst, took);
    }
    figures->held = resident() - before;
    viewer_destroy(player);
    view_source_close(source);
    remove(path);
    return error->status == LASH_OK;
}

static bool measure(const BenchOptions* bench_options, Figures* figures, LashError* error) {
    static const char* const candidates[] = {"circuit_breaker/breaker.json",
                                             "slider_crank/all_play.json"};
    char path[1024];
    size_t i = 0;
    while (i < 2 && !app_find_model(bench_options->models, candidates[i], path, sizeof path)) ++i;
    if (i == 2)
        return lash_error_set(error, LASH_ERROR_IO, "", "the models were not found; see --models");
    snprintf(figures->model, sizeof figures->model, "%s", candidates[i]);
    AppSessionOptions session = {.step = NAN, .duration = 1e-4};
    ViewSource* source = view_source_open(path, &session, error);
    Viewer* viewer = source == NULL ? NULL : viewer_create(source, error);
    if (viewer != NULL) {
        view_source_wait(source, INFINITY);
        if (seek(viewer, bench_options->frames, figures, error))
            draw_pictures(viewer, bench_options, figures, error);
    }
    viewer_destroy(viewer);
    view_source_close(source);
    return error->status == LASH_OK;
}

static void put_row(AppJson* json, const char* name, double us, const char* note) {
    app_json_begin_object(json);
    app_json_put_text(json, "name", name);
    app_json_put_number(json, "us", us);
    app_json_put_number(json, "peer_us", NAN);
    app_json_put_number(json, "ratio", NAN);
    app_json_put_text(json, "note", note);
    app_json_end_object(json);
}

static void put_result(AppJson* json, const Figures* figures) {
    char note[300];
    snprintf(note, sizeof note, "%s, %d triangles, %dx%d, %s", figures->model, figures->triangles,
             WIDTH, HEIGHT, figures->renderer);
    app_json_key(json, "benchmarks");
    app_json_begin_array(json);
    put_row(json, "picture, best", 1e6 * figures->best, note);
    put_row(json, "picture, median", 1e6 * figures->median, note);
    put_row(json, "picture, processor time", 1e6 * figures->cpu, note);
    put_row(json, "picture, smooth", 1e6 * figures->still, note);
    char name[64];
    snprintf(name, sizeof name, "seek in %d frames, mean", figures->frames);
    put_row(json, name, 1e6 * figures->seek_mean, figures->model);
    snprintf(name, sizeof name, "seek in %d frames, worst", figures->frames);
    put_row(json, name, 1e6 * figures->seek_worst, figures->model);
    app_json_end_array(json);
    app_json_put_number(json, "pictures_per_second", 1 / figures->median);
    app_json_put_integer(json, "triangles", figures->triangles);
    app_json_put_integer(json, "memory_grown", figures->grown);
    app_json_put_integer(json, "memory_result", figures->held);
}

int app_bench_viewer(int argc, char** argv) {
    BenchOptions o = {.triangles = 20000, .pictures = 120, .frames = 20000};
    int code = app_options_parse(&app_bench_viewer_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("bench", o.json);
    LashError error = {0};
    Figures f = {0};
    if (o.triangles < 1 || o.pictures < 1 || o.frames < 1) {
        lash_error_set(&error, LASH_ERROR_USAGE, "--triangles, --pictures, --frames",
                       "expected positive numbers");
    } else {
        measure(&o, &f, &error);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (error.status == LASH_OK) put_result(json, &f);
    } else if (error.status == LASH_OK) {
        printf("scene      %s, %d copies: %d triangles, %d x %d pixels, all panels\n", f.model,
               f.copies, f.triangles, WIDTH, HEIGHT);
        printf("renderer   %s\n", f.renderer);
        printf(
            "moving     %.1f pictures per second (median %.1f ms, best %.1f ms, %.1f ms of "
            "processor time; %d %s per pixel)\n",
            1 / f.median, 1e3 * f.median, 1e3 * f.best, 1e3 * f.cpu, f.samples,
            app_plural(f.samples, "sample", "samples"));
        printf("still      %.1f ms for a smooth picture (%d samples per pixel)\n", 1e3 * f.still,
               SMOOTH);
        printf("seek       %.2f ms in a result of %d frames (worst %.2f ms)\n", 1e3 * f.seek_mean,
               f.frames, 1e3 * f.seek_worst);
        printf("memory     %ld kB for that result; grew by %ld kB over %d pictures\n",
               f.held / 1024, f.grown / 1024, o.pictures);
    }
    return app_report_finish(&report, &error);
}

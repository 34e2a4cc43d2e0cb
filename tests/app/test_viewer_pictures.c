// Pictures drawn without a display: against references, picking against rays, options, errors,
// memory.
#include "app/viewer/picture.h"
#include "app/viewer/refine.h"
#include "app/viewer/studio.h"
#include "core/arena.h"
#include "core/math3.h"
#include "test.h"
#include "viewer_cases.h"

static ViewStudioOptions small_studio(bool captions) {
    return (ViewStudioOptions){
        .width = 480, .height = 300, .samples = 4, .scale = 1, .captions = captions};
}

static ViewStudio* open_studio(Viewer* v, const ViewStudioOptions* o) {
    LashError error = {0};
    ViewStudio* studio = view_studio_create(v, o, &error);
    if (studio == NULL) fail_msg("%s: %s", error.where, error.message);
    v->camera_touched = true;
    viewer_fit(v);
    return studio;
}

// Where two pictures differ: mean difference of a channel, and the share of pixels that differ
// much.
typedef struct Difference {
    double mean, share;
} Difference;

static Difference compare(const ViewBitmap* a, const ViewBitmap* b) {
    Difference d = {0, 0};
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    size_t pixels = (size_t)a->width * (size_t)a->height;
    for (size_t i = 0; i < pixels; ++i) {
        int most = 0;
        for (int k = 0; k < 3; ++k) {
            int away = abs((int)a->pixel[3 * i + (size_t)k] - (int)b->pixel[3 * i + (size_t)k]);
            d.mean += away;
            most = away > most ? away : most;
        }
        d.share += most > 40;
    }
    d.mean /= 3.0 * (double)pixels;
    d.share /= (double)pixels;
    return d;
}

static ViewBitmap copy_bitmap(const ViewBitmap* a) {
    ViewBitmap b = *a;
    size_t bytes = 3 * (size_t)a->width * (size_t)a->height;
    b.pixel = lash_alloc(bytes);
    memcpy(b.pixel, a->pixel, bytes);
    return b;
}

// ---- references ---------------------------------------------------------------------------------

typedef struct Reference {
    const char *name, *model;
    double time;
    ViewStandard view;
} Reference;

static const Reference references[] = {
    {"slider_crank_play", "papers/slider_crank_play.json", 0.0123, VIEW_ISO},
    {"slider_crank_cad", "slider_crank/all_play.json", 0.001, VIEW_ISO},
    {"gear_train", "joints/gear_train.json", 0.01, VIEW_FRONT},
    {"circuit_breaker", "circuit_breaker/breaker.json", 0.0001, VIEW_ISO},
};

// LASH_UPDATE_PICTURES=1 writes the references anew: look at them before they are committed. Models
// without a reference are drawn only.
static void pictures_equal_their_references(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof *references; ++i) {
        const Reference* r = &references[i];
        char path[400], model[400];
        if (access(model_path(r->model, model, sizeof model), R_OK) != 0) continue;
        ViewSource* source = open_model(r->model, NAN);
        Viewer* v = open_viewer(source);
        ViewStudioOptions o = small_studio(false);
        ViewStudio* studio = open_studio(v, &o);
        view_source_wait(source, r->time);
        viewer_update(v, 0);
        viewer_seek(v, r->time);
        v->style.forces = false; // reactions of redundant joints are no reference
        view_camera_set(&v->camera, r->view);
        // The extent of the start: how far a live run got does not matter.
        ViewFrame start = view_frame_create(&v->scene);
        LashError error = {0};
        assert_true(view_source_frame(source, 0, &start, &error));
        view_frame_place(&v->scene, &start);
        v->scene.bound.low = vec3(INFINITY, INFINITY, INFINITY);
        v->scene.bound.high = vec3_neg(v->scene.bound.low);
        view_scene_extend(&v->scene, &start);
        viewer_fit(v);
        const ViewBitmap* drawn = view_studio_shoot(studio);
        snprintf(path, sizeof path, "%s/tests/data/pictures/%s.png", LASH_SOURCE_DIR, r->name);
        if (getenv("LASH_UPDATE_PICTURES") != NULL)
            assert_true(view_bitmap_write(drawn, path, &error));
        if (access(path, R_OK) == 0) {
            ViewBitmap expected = view_bitmap_read(path, &error);
            assert_non_null(expected.pixel);
            Difference d = compare(drawn, &expected);
            print_message("%s: mean %.3f of 255, %.3f %% of pixels differ\n", r->name, d.mean,
                          100 * d.share);
            assert_true(d.mean < 1.5); // of 255: drivers round differently
            assert_true(d.share < 0.01);
            lash_free(expected.pixel);
        }
        view_frame_destroy(&start);
        view_studio_destroy(studio);
        viewer_destroy(v);
        view_source_close(source);
    }
}

static void what_is_shown_changes_the_picture(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 0.005);
    Viewer* v = open_viewer(source);
    ViewStudioOptions o = small_studio(true);
    ViewStudio* studio = open_studio(v, &o);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    viewer_seek(v, 0.005);
    v->playback.playing = false;
    ViewBitmap before = copy_bitmap(view_studio_shoot(studio));
    Difference none = compare(&before, view_studio_shoot(studio));
    assert_true(none.mean == 0); // the same twice
    static const ViewAction action[] = {VIEW_TOGGLE_EDGES,   VIEW_TOGGLE_GRID,  VIEW_TOGGLE_JOINTS,
                                        VIEW_TOGGLE_TRACES,  VIEW_HIDE,         VIEW_SEE_THROUGH,
                                        VIEW_TOGGLE_SECTION, VIEW_ORTHOGRAPHIC, VIEW_TOGGLE_HELP,
                                        VIEW_GO_BEGIN};
    for (size_t i = 0; i < sizeof action / sizeof *action; ++i) {
        v->selected =
            (ViewPick){action[i] == VIEW_HIDE || action[i] == VIEW_SEE_THROUGH ? 3 : -1, -1};
        viewer_act(v, action[i]);
        v->selected = (ViewPick){-1, -1};
        view_studio_draw(studio, 0); // a new window is laid out before it is seen
        Difference d = compare(&before, view_studio_shoot(studio));
        if (!(d.mean > 0)) fail_msg("action %zu changes nothing", i);
        if (action[i] == VIEW_GO_BEGIN) break;
        v->selected =
            (ViewPick){action[i] == VIEW_HIDE || action[i] == VIEW_SEE_THROUGH ? 3 : -1, -1};
        viewer_act(v, action[i]); // and back
        if (action[i] == VIEW_TOGGLE_TRACES) continue;
        v->selected = (ViewPick){-1, -1};
        assert_true(compare(&before, view_studio_shoot(studio)).mean == 0);
    }
    viewer_seek(v, 0.005);
    v->selected = (ViewPick){3, 5}; // a face is highlighted
    Difference face = compare(&before, view_studio_shoot(studio));
    assert_true(face.share > 0.0005 && face.share < 0.2);
    lash_free(before.pixel);
    view_studio_destroy(studio);
    viewer_destroy(v);
    view_source_close(source);
}

// ---- picking ------------------------------------------------------------------------------------

// Moeller-Trumbore; distance along the ray, INFINITY: no hit.
static double hit_triangle(ViewRay ray, Vec3 a, Vec3 b, Vec3 c) {
    Vec3 e1 = vec3_sub(b, a), e2 = vec3_sub(c, a), p = vec3_cross(ray.direction, e2);
    double det = vec3_dot(e1, p);
    if (fabs(det) < 1e-300) return INFINITY;
    Vec3 s = vec3_sub(ray.origin, a), q = vec3_cross(s, e1);
    double u = vec3_dot(s, p) / det, w = vec3_dot(ray.direction, q) / det;
    double t = vec3_dot(e2, q) / det;
    return u < 0 || w < 0 || u + w > 1 || t <= 0 ? INFINITY : t;
}

static ViewPick cast_ray(const Viewer* v, ViewRay ray) {
    ViewPick pick = {-1, -1};
    double nearest = INFINITY;
    for (int i = 0; i < v->scene.pieces; ++i) {
        const ViewPiece* piece = &v->scene.piece[i];
        const LashShape* s = piece->shape;
        Pose place = view_world_piece(&v->scene, &v->frame, i);
        ViewRay local = {pose_point_inverse(place, ray.origin),
                         quat_rotate_inverse(place.rot, ray.direction)};
        for (int k = 0; k < s->triangles; ++k) {
            Vec3 p[3];
            for (int c = 0; c < 3; ++c) {
                const float* q = s->mesh_point + 3 * s->triangle[3 * k + c];
                p[c] = vec3((double)q[0], (double)q[1], (double)q[2]);
            }
            double t = hit_triangle(local, p[0], p[1], p[2]);
            if (t >= nearest) continue;
            nearest = t;
            pick = (ViewPick){piece->part, piece->first_face + s->triangle_face[k]};
        }
    }
    return pick;
}

// The same all over a pixel: away from edges, where either answer is right.
static bool clear_answer(const Viewer* v, int x, int y, ViewPick* pick) {
    *pick = cast_ray(v, view_camera_ray(&v->camera, x + 0.5, y + 0.5));
    for (int k = 0; k < 4; ++k) {
        ViewPick other = cast_ray(
            v, view_camera_ray(&v->camera, x + (k & 1 ? 1.2 : -0.2), y + (k & 2 ? 1.2 : -0.2)));
        if (other.part != pick->part || other.face != pick->face) return false;
    }
    return true;
}

static void picking_returns_the_face_a_ray_hits(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/all_play.json", 1e-4);
    Viewer* v = open_viewer(source);
    ViewStudioOptions o = small_studio(false);
    ViewStudio* studio = open_studio(v, &o);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    uint64_t seed = 11;
    int on_part = 0, faces[64] = {0}, kinds = 0, empty = 0;
    for (int mode = 0; mode < 4; ++mode) {
        v->camera.orthographic = mode == 3;
        const ViewStandard along[] = {VIEW_ISO, VIEW_FRONT, VIEW_RIGHT, VIEW_RIGHT};
        view_camera_set(&v->camera, along[mode]);
        if (mode == 3) {
            v->camera.yaw = -0.7;
            v->camera.pitch = 0.5;
        }
        viewer_fit(v);
        for (int i = 0; i < 150; ++i) {
            ViewPick expected;
            int x = (int)(480 * next_random(&seed)), y = (int)(300 * next_random(&seed));
            if (!clear_answer(v, x, y, &expected)) continue;
            ViewPick got = view_studio_pick(studio, x, y);
            assert_int_equal(got.part, expected.part);
            assert_int_equal(got.face, expected.face);
            if (got.part < 0) {
                ++empty;
                continue;
            }
            ++on_part;
            ViewFaceName name = view_face(&v->scene, got.part, got.face);
            assert_non_null(name.face);
            assert_int_equal(
                name.face->index,
                got.face -
                    v->scene.piece[v->scene.part[got.part].first_piece + name.piece].first_face);
            kinds += faces[(got.part * 13 + got.face) % 64]++ == 0;
        }
    }
    print_message("%d picks on %d different faces, %d beside\n", on_part, kinds, empty);
    assert_true(on_part >= 50 && kinds >= 8 && empty > 0);
    view_studio_destroy(studio);
    viewer_destroy(v);
    view_source_close(source);
}

static void picking_sees_through_hidden_parts_and_the_section(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 1e-4);
    Viewer* v = open_viewer(source);
    ViewStudioOptions o = small_studio(false);
    ViewStudio* studio = open_studio(v, &o);
    view_camera_set(&v->camera, VIEW_TOP);
    viewer_fit(v);
    double x, y; // the guide's upper bar covers the slider from above
    Vec3 slider = v->frame.world_body[2].r;
    assert_true(view_camera_project(&v->camera, slider, &x, &y));
    assert_int_equal(view_studio_pick(studio, (int)x, (int)y).part, 0);
    v->scene.part[0].visibility = VIEW_HIDDEN;
    assert_int_equal(view_studio_pick(studio, (int)x, (int)y).part, 3);
    v->scene.part[0].visibility = VIEW_SHOWN;
    v->style.section = true; // cuts the upper bar away
    v->style.section_normal = vec3(0, 1, 0);
    double middle = 0.5 * (v->scene.bound.low.y + v->scene.bound.high.y);
    v->style.section_offset = 0.0255 - middle;
    assert_int_equal(view_studio_pick(studio, (int)x, (int)y).part, 3);
    view_studio_destroy(studio);
    viewer_destroy(v);
    view_source_close(source);
}

// ---- memory -------------------------------------------------------------------------------------

static long resident_pages(void) {
    long total = 0, resident = 0;
    FILE* f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &total, &resident) != 2) resident = 0;
    if (f != NULL) fclose(f);
    return resident;
}

// 60 000 frames with LASH_LONG_TESTS, else 200.
typedef struct Side { // of a triangle, from its lesser end to its greater one
    float end[6];
    int way; // 1, or -1 when the triangle runs against it
} Side;

static int compare_sides(const void* a, const void* b) {
    return memcmp(((const Side*)a)->end, ((const Side*)b)->end, sizeof((const Side*)a)->end);
}

// Sides that no other triangle has the other way round: holes and cracks.
static int open_sides(const ViewMesh* mesh) {
    int count = 3 * mesh->triangles, open = 0;
    Side* side = lash_alloc((size_t)count * sizeof *side);
    for (int i = 0; i < count; ++i) {
        const float* a = mesh->point + 3 * mesh->triangle[i];
        const float* b = mesh->point + 3 * mesh->triangle[i % 3 == 2 ? i - 2 : i + 1];
        bool turned = memcmp(a, b, 3 * sizeof *a) > 0;
        memcpy(side[i].end, turned ? b : a, 3 * sizeof *a);
        memcpy(side[i].end + 3, turned ? a : b, 3 * sizeof *a);
        for (int k = 0; k < 6; ++k) side[i].end[k] += 0.0f; // -0 is 0
        side[i].way = turned ? -1 : 1;
    }
    qsort(side, (size_t)count, sizeof *side, compare_sides);
    for (int i = 0, sum = 0; i < count; ++i) {
        sum += side[i].way;
        if (i + 1 < count && compare_sides(&side[i], &side[i + 1]) == 0) continue;
        bool point = memcmp(side[i].end, side[i].end + 3, 3 * sizeof(float)) == 0;
        open += sum != 0 && !point;
        sum = 0;
    }
    lash_free(side);
    return open;
}

static double mesh_volume(const ViewMesh* mesh) { // [m^3] sum of tetrahedra with the origin
    double volume = 0;
    for (int i = 0; i < mesh->triangles; ++i) {
        Vec3 p[3];
        for (int k = 0; k < 3; ++k) {
            const float* at = mesh->point + 3 * mesh->triangle[3 * i + k];
            p[k] = vec3((double)at[0], (double)at[1], (double)at[2]);
        }
        volume += vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6;
    }
    return volume;
}

// Meshes are made finer without opening cracks, and approach the solid: its volume.
static void round_faces_are_round_when_near(void** state) {
    (void)state;
    static const char* const files[] = {"slider_crank/parts/crank.step",
                                        "slider_crank/parts/rod_fitted.step",
                                        "circuit_breaker/parts/hook.step"};
    for (int i = 0; i < 5; ++i) {
        char path[400];
        LashError error = {0};
        LashShape* shape;
        if (i == 3)
            shape = lash_shape_ring(0.01, 0.02, 0.03);
        else if (i == 4)
            shape = lash_shape_capsule(0.01, 0.02);
        else
            shape = lash_shape_load(model_path(files[i], path, sizeof path), NULL, &error);
        if (shape == NULL) fail_msg("%s", error.message);
        double exact = 0, first = view_mesh_deviation(shape);
        for (int k = 0; k < shape->parts; ++k) exact += shape->part[k].volume;
        ViewMesh mesh = view_mesh_refine(shape, INFINITY, 1 << 20);
        double off = fabs(mesh_volume(&mesh) / exact - 1);
        int open = open_sides(&mesh), lines = mesh.lines, triangles = mesh.triangles;
        assert_int_equal(triangles, shape->triangles);
        view_mesh_free(&mesh);
        mesh = view_mesh_refine(shape, first / 256, 1 << 20);
        double better = fabs(mesh_volume(&mesh) / exact - 1);
        print_message("%d: chords off by %.3g um, volume by %.2g, then %.2g; %d triangles, %d\n", i,
                      1e6 * first, off, better, triangles, mesh.triangles);
        assert_true(first > 0 && better < off / 50 + 1e-6);
        assert_int_equal(open, 0);
        assert_int_equal(open_sides(&mesh), 0); // no crack
        assert_true(mesh.lines > lines && mesh.triangles > triangles);
        view_mesh_free(&mesh);
        lash_shape_destroy(shape);
    }
}

static void memory_stays_the_same_while_frames_are_drawn(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 0.02);
    Viewer* v = open_viewer(source);
    ViewStudioOptions o = small_studio(true);
    o.panels = true;
    o.width = 320;
    o.height = 200;
    ViewStudio* studio = open_studio(v, &o);
    view_source_wait(source, INFINITY);
    v->style.traces = true;
    v->playback.playing = true;
    int frames = getenv("LASH_LONG_TESTS") != NULL ? 60000 : 200, warm = frames / 4;
    long before = 0;
    for (int i = 0; i < frames; ++i) {
        if (i == warm) before = resident_pages();
        viewer_update(v, 1.0 / 60);
        view_studio_draw(studio, 1.0 / 60);
    }
    long grown = resident_pages() - before;
    print_message("%d frames: resident memory grew by %ld kB\n", frames - warm,
                  grown * sysconf(_SC_PAGESIZE) / 1024);
#ifndef __SANITIZE_ADDRESS__ // which keeps freed memory aside
    assert_true(grown * sysconf(_SC_PAGESIZE) < 3 << 20);
#endif
    view_studio_destroy(studio);
    viewer_destroy(v);
    view_source_close(source);
}

// ---- the command --------------------------------------------------------------------------------

static void command_writes_a_picture_without_display(void** state) {
    (void)state;
    char png[300], model[400];
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    const char* file = scratch_file("one.png", png, sizeof png);
    Outcome o =
        LASH("view", model_path("papers/slider_crank_play.json", model, sizeof model), "--png",
             file, "--frame", "0.002", "--size", "320x200", "--camera", "20,30,1.5", "--with",
             "joints", "--select", "slider:3", "--section", "z,0.2", "--json");
    if (o.code != 0) fail_msg("%s", o.err);
    assert_non_null(strstr(o.out, "\"pictures\": 1"));
    LashError error = {0};
    ViewBitmap bitmap = view_bitmap_read(file, &error);
    assert_int_equal(bitmap.width, 320);
    assert_int_equal(bitmap.height, 200);
    lash_free(bitmap.pixel);
    outcome_free(&o);
    o = LASH("view", model, "--png", file, "--panels", "--plot", "slider.velocity.x", "--scale",
             "2");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

static void command_writes_a_series_and_a_video(void** state) {
    (void)state;
    char folder[300], video[300], model[400], path[400];
    scratch_file("frames", folder, sizeof folder);
    scratch_file("film.mp4", video, sizeof video);
    model_path("papers/slider_crank_play.json", model, sizeof model);
    Outcome o = LASH("view", model, "--frames", folder, "--duration", "0.001", "--speed", "0.01",
                     "--rate", "50", "--size", "160x100");
    if (o.code != 0) fail_msg("%s", o.err);
    outcome_free(&o);
    int count = 0; // 0.1 s of film at 50 pictures per second, both ends
    for (; snprintf(path, sizeof path, "%s/frame_%05d.png", folder, count) > 0 &&
           access(path, R_OK) == 0;)
        ++count;
    assert_int_equal(count, 6);
    o = LASH("view", model, "--video", video, "--duration", "0.001", "--speed", "0.01", "--size",
             "161x101"); // odd sides are padded
    if (system("command -v ffmpeg >/dev/null 2>&1") == 0) {
        if (o.code != 0) fail_msg("%s", o.err);
        char* film = slurp(video);
        assert_true(memcmp(film + 4, "ftyp", 4) == 0);
        free(film);
    } else {
        assert_int_equal(o.code, LASH_ERROR_IO);
    }
    outcome_free(&o);
    char* old = strdup(getenv("PATH"));
    setenv("PATH", scratch(), 1);
    o = LASH("view", model, "--video", video, "--duration", "0.001");
    setenv("PATH", old, 1);
    free(old);
    assert_int_equal(o.code, LASH_ERROR_IO);
    assert_non_null(strstr(o.err, "ffmpeg"));
    assert_non_null(strstr(o.err, "--frames"));
    outcome_free(&o);
}

static void bench_reports_pictures_and_seeking(void** state) {
    (void)state;
    char models[400];
    Outcome o = LASH("bench", "viewer", "--models", model_path("", models, sizeof models),
                     "--pictures", "3", "--triangles", "20000", "--json");
    if (o.code != 0) fail_msg("%s", o.err);
    assert_non_null(strstr(o.out, "\"picture, median\""));
    assert_non_null(strstr(o.out, "\"seek in 20000 frames, mean\""));
    const char* at = strstr(o.out, "\"triangles\": ");
    assert_non_null(at);
    assert_true(atoi(at + strlen("\"triangles\": ")) >= 20000);
    outcome_free(&o);
}

typedef struct Refusal {
    const char* argument[8];
    int code;
    const char* text;
} Refusal;

static void command_refuses_with_a_sentence(void** state) {
    (void)state;
    char model[400], bad[300], png[300];
    const char* m = model_path("papers/slider_crank_play.json", model, sizeof model);
    const char* out = scratch_file("refused.png", png, sizeof png);
    FILE* f = fopen(scratch_file("bad.h5", bad, sizeof bad), "w");
    fputs("no result", f);
    fclose(f);
    const Refusal refusals[] = {
        {{m, "--png", out, "--size", "0x10"}, LASH_ERROR_USAGE, "--size"},
        {{m, "--png", out, "--size", "100000x100"}, LASH_ERROR_USAGE, "--size"},
        {{m, "--png", out, "--camera", "nowhere"}, LASH_ERROR_USAGE, "iso"},
        {{m, "--png", out, "--frame", "5"}, LASH_ERROR_USAGE, "ends at"},
        {{m, "--png", out, "--select", "slidr"}, LASH_ERROR_USAGE, "slider"},
        {{m, "--png", out, "--select", "slider:99"}, LASH_ERROR_USAGE, "0 to 5"},
        {{m, "--png", out, "--plot", "slider.velocty.x"}, LASH_ERROR_USAGE, "slider.velocity.x"},
        {{m, "--png", out, "--with", "shadows"}, LASH_ERROR_USAGE, "grid"},
        {{m, "--png", out, "--section", "w"}, LASH_ERROR_USAGE, "--section"},
        {{m, "--png", out, "--magnify", "1000"}, LASH_ERROR_USAGE, "100"},
        {{m, "--png", out, "--video", "x.mp4"}, LASH_ERROR_USAGE, "one of"},
        {{m, "--png", "/no/such/folder/x.png"}, LASH_ERROR_IO, "x.png"},
        {{"no_such_model.json", "--png", out}, LASH_ERROR_IO, "no_such_model"},
        {{bad, "--png", out}, LASH_ERROR_IO, "bad.h5"},
        {{m}, LASH_ERROR_IO, "--png"}, // no display
    };
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i) {
        const Refusal* r = &refusals[i];
        Command command = {.argument = {"view"}};
        for (int k = 0; k < 8 && r->argument[k] != NULL; ++k)
            command.argument[1 + k] = r->argument[k];
        Outcome o = run_command(&command);
        if (o.code != r->code || strstr(o.err, r->text) == NULL)
            fail_msg("case %zu: code %d, %s", i, o.code, o.err);
        outcome_free(&o);
    }
    setenv("MESA_GL_VERSION_OVERRIDE", "2.1", 1); // Mesa plays an old driver
    Outcome o = LASH("view", m, "--png", out);
    unsetenv("MESA_GL_VERSION_OVERRIDE");
    assert_true(o.code == LASH_ERROR_IO || o.code == 0); // other drivers do not listen
    assert_true(o.code == 0 || strstr(o.err, "3.3") != NULL);
    if (o.code != 0) assert_true(access(out, R_OK) != 0);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_equal_their_references),
        cmocka_unit_test(what_is_shown_changes_the_picture),
        cmocka_unit_test(picking_returns_the_face_a_ray_hits),
        cmocka_unit_test(picking_sees_through_hidden_parts_and_the_section),
        cmocka_unit_test(round_faces_are_round_when_near),
        cmocka_unit_test(memory_stays_the_same_while_frames_are_drawn),
        cmocka_unit_test(command_writes_a_picture_without_display),
        cmocka_unit_test(command_writes_a_series_and_a_video),
        cmocka_unit_test(bench_reports_pictures_and_seeking),
        cmocka_unit_test(command_refuses_with_a_sentence),
    };
    cmocka_set_test_filter(getenv("LASH_TEST")); // one of them
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}

// The viewer without drawing: clock, camera, frame sources, traces, plots, magnifier.
#include "app/run/carried.h"
#include "core/arena.h"
#include "core/math3.h"
#include "test.h"
#include "viewer_cases.h"

// ---- clock --------------------------------------------------------------------------------------

static void clock_plays_at_its_speed_and_wraps_around(void** state) {
    (void)state;
    ViewPlayback p = view_playback(0.1);
    assert_true(p.speed == 0.01); // 0.1 s in about eight
    view_playback_range(&p, 0, 0.1, false);
    view_playback_advance(&p, 1);
    assert_true(p.time == 0); // paused
    view_playback_toggle(&p);
    view_playback_advance(&p, 2);
    assert_float_equal(p.time, 0.02, 1e-12);
    view_playback_advance(&p, 9); // 0.11 s: wraps
    assert_float_equal(p.time, 0.01, 1e-12);
    p.loop = false;
    view_playback_advance(&p, 100);
    assert_true(p.time == 0.1 && !p.playing);
    view_playback_toggle(&p); // at the end: from the start
    assert_true(p.time == 0 && p.playing);
}

static void clock_waits_for_a_run_that_is_slower(void** state) {
    (void)state;
    ViewPlayback p = view_playback(1);
    p.playing = true;
    p.speed = 1;
    view_playback_range(&p, 0, 0.25, true);
    view_playback_advance(&p, 5);
    assert_true(p.time == 0.25 && p.playing);
    view_playback_range(&p, 0, 0.5, true);
    view_playback_advance(&p, 0.125);
    assert_float_equal(p.time, 0.375, 1e-12);
}

static void clock_has_speeds_from_a_ten_thousandth_to_ten(void** state) {
    (void)state;
    ViewPlayback p = view_playback(1);
    char text[32];
    view_playback_speed(&p, -100);
    assert_true(p.speed == 1e-4);
    assert_string_equal(view_playback_speed_text(&p, text, sizeof text), "1/10000");
    view_playback_speed(&p, 100);
    assert_true(p.speed == 10);
    assert_string_equal(view_playback_speed_text(&p, text, sizeof text), "10 x");
    view_playback_speed(&p, -1);
    assert_true(p.speed == 5);
}

// ---- camera -------------------------------------------------------------------------------------

static void box_corners(const LashBox* box, Vec3 corner[8]) {
    for (int k = 0; k < 8; ++k) {
        corner[k] = vec3(k & 1 ? box->high.x : box->low.x, k & 2 ? box->high.y : box->low.y,
                         k & 4 ? box->high.z : box->low.z);
    }
}

static void camera_fit_has_the_whole_box_in_view(void** state) {
    (void)state;
    LashBox box = {{-0.3, 0.02, -1}, {2, 0.4, 0.1}};
    uint64_t seed = 7;
    for (int trial = 0; trial < 200; ++trial) {
        ViewCamera c = view_camera(trial % 2 ? vec3(0, 1, 0) : vec3(0, 0, 1));
        c.yaw = 6.28 * next_random(&seed);
        c.pitch = 3.1 * (next_random(&seed) - 0.5);
        c.width = 200 + 2000 * next_random(&seed);
        c.height = 200 + 2000 * next_random(&seed);
        c.orthographic = trial % 3 == 0;
        Vec3 corner[8];
        box_corners(&box, corner);
        view_camera_fit(&c, corner, 8);
        double largest = 0;
        for (int k = 0; k < 8; ++k) {
            double x, y;
            assert_true(view_camera_project(&c, corner[k], &x, &y));
            assert_true(x >= 0 && x <= c.width && y >= 0 && y <= c.height);
            largest = fmax(largest, fmax(fabs(2 * x / c.width - 1), fabs(2 * y / c.height - 1)));
        }
        assert_true(largest > 0.8); // and not lost in the picture
    }
}

static void camera_zoom_keeps_what_is_under_the_cursor(void** state) {
    (void)state;
    uint64_t seed = 3;
    for (int trial = 0; trial < 100; ++trial) {
        ViewCamera c = view_camera(vec3(0, 0, 1));
        c.target = vec3(next_random(&seed), next_random(&seed), 0.3);
        c.distance = 0.5 + next_random(&seed);
        c.orthographic = trial % 2;
        double x = c.width * next_random(&seed), y = c.height * next_random(&seed), u, v;
        // The point of the target's plane under the cursor.
        ViewRay ray = view_camera_ray(&c, x, y);
        Vec3 right, up, back;
        view_camera_axes(&c, &right, &up, &back);
        double reach =
            vec3_dot(vec3_sub(c.target, ray.origin), back) / vec3_dot(ray.direction, back);
        Vec3 p = vec3_add_scaled(ray.origin, reach, ray.direction);
        view_camera_zoom(&c, 1.7, x, y);
        assert_true(view_camera_project(&c, p, &u, &v));
        assert_float_equal(u, x, 1e-6);
        assert_float_equal(v, y, 1e-6);
    }
}

static void camera_projection_matrix_agrees_with_rays(void** state) {
    (void)state;
    ViewCamera c = view_camera(vec3(0, 1, 0));
    for (int mode = 0; mode < 2; ++mode) {
        float view[16], projection[16];
        LashBox box = {{-1, -1, -1}, {1, 1, 1}};
        c.orthographic = mode;
        Vec3 corner[8];
        box_corners(&box, corner);
        view_camera_fit(&c, corner, 8);
        view_camera_clip(&c, box);
        view_camera_matrices(&c, view, projection);
        ViewRay ray = view_camera_ray(&c, 300, 220);
        double p[4] = {0, 0, 0, 1}, e[4] = {0}, q[4] = {0};
        Vec3 at = vec3_add_scaled(ray.origin, c.distance, ray.direction);
        p[0] = at.x;
        p[1] = at.y;
        p[2] = at.z;
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < 4; ++k) e[i] += (double)view[i + 4 * k] * p[k];
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < 4; ++k) q[i] += (double)projection[i + 4 * k] * e[k];
        assert_float_equal(0.5 * c.width * (1 + q[0] / q[3]), 300, 0.01);
        assert_float_equal(0.5 * c.height * (1 - q[1] / q[3]), 220, 0.01);
        assert_true(fabs(q[2]) < q[3]);
    }
}

static void camera_option_is_checked(void** state) {
    (void)state;
    ViewCamera c = view_camera(vec3(0, 0, 1));
    double zoom = 1;
    static const char* const bad[] = {"", "up", "1", "1,2,", "1,2,3,4", "1,100", "1,2,0", "nan,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        LashError error = {0};
        assert_false(view_camera_parse(&c, bad[i], &zoom, &error));
        assert_int_equal(error.status, LASH_ERROR_USAGE);
    }
    LashError error = {0};
    assert_true(view_camera_parse(&c, "30,-20,1.5", &zoom, &error));
    assert_float_equal(c.yaw, LASH_PI / 6, 1e-12);
    assert_true(zoom == 1.5);
    assert_true(view_camera_parse(&c, "top", &zoom, &error));
    Vec3 right, up, back;
    view_camera_axes(&c, &right, &up, &back);
    assert_float_equal(back.z, 1, 1e-9);
}

// ---- sources ------------------------------------------------------------------------------------

static void live_run_and_its_result_show_the_same_frames(void** state) {
    (void)state;
    char path[300], model[400];
    const char* file = scratch_file("same.h5", path, sizeof path);
    Outcome o = LASH("run", model_path("papers/slider_crank_play.json", model, sizeof model),
                     "--duration", "0.02", "-o", file);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* recorded = view_source_open(file, &none, &error);
    assert_non_null(recorded);
    ViewSource* live = open_model("papers/slider_crank_play.json", 0.02);
    view_source_start(live);
    view_source_wait(live, INFINITY);
    ViewStatus a = view_source_status(live), b = view_source_status(recorded);
    assert_int_equal(a.frames, b.frames);
    assert_int_equal(a.events, b.events);
    assert_true(a.events > 0);
    Viewer* v = open_viewer(recorded);
    ViewFrame x = view_frame_create(&v->scene), y = view_frame_create(&v->scene);
    for (int64_t i = 0; i < a.frames; ++i) {
        assert_true(view_source_frame(live, i, &x, &error));
        assert_true(view_source_frame(recorded, i, &y, &error));
        assert_true(view_source_time(live, i) == view_source_time(recorded, i));
        int width = v->scene.layout.offset[LASH_SERIES_POINTS_END]; // a count of the file
        for (int k = 0; k < width; ++k)
            assert_true(x.values[k] == y.values[k] || (isnan(x.values[k]) && isnan(y.values[k])));
        assert_int_equal(x.points, y.points);
    }
    view_frame_destroy(&x);
    view_frame_destroy(&y);
    viewer_destroy(v);
    view_source_close(live);
    view_source_close(recorded);
}

// Results of schemes with an energy of their own have one number more per frame.
static void a_result_with_the_energy_of_its_scheme_is_shown(void** state) {
    (void)state;
    char path[300], model[400];
    const char* file = scratch_file("own.h5", path, sizeof path);
    Outcome o = LASH("run", model_path("papers/linear_oscillator.json", model, sizeof model),
                     "--scheme", "newmark", "--duration", "0.05", "-o", file);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* recorded = view_source_open(file, &none, &error);
    assert_non_null(recorded);
    Viewer* v = open_viewer(recorded);
    ViewFrame frame = view_frame_create(&v->scene);
    assert_true(view_source_frame(recorded, 1, &frame, &error));
    const double* values = frame.values;
    const int* at = v->scene.layout.offset;
    double E = values[at[LASH_SERIES_KINETIC]] + values[at[LASH_SERIES_POTENTIAL]];
    assert_true(fabs(values[at[LASH_SERIES_ALGORITHMIC]] - E) < 1e-9); // newmark 1/4, 1/2: H = E
    view_frame_destroy(&frame);
    viewer_destroy(v);
    view_source_close(recorded);
}

static void live_run_can_be_restarted_while_it_runs(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 0.05);
    Viewer* v = open_viewer(source);
    double first[2000];
    int count = 0;
    view_source_wait(source, 0.01);
    for (int i = 0; i < 100; ++i) { // some frames of the first run
        LashError error = {0};
        view_source_column(source, LASH_SERIES_POSITION, 0, 0, 100, first, &error);
    }
    for (int run = 0; run < 3; ++run) viewer_act(v, VIEW_RESTART);
    view_source_wait(source, 0.01);
    double again[100];
    LashError error = {0};
    view_source_column(source, LASH_SERIES_POSITION, 0, 0, 100, again, &error);
    for (int i = 0; i < 100; ++i) count += first[i] == again[i];
    assert_int_equal(count, 100); // the same motion again
    viewer_destroy(v);
    view_source_close(source);
}

static void live_run_that_fails_says_why(void** state) {
    (void)state;
    char path[400], file[300];
    char* text = slurp(model_path("papers/slider_crank_play.json", path, sizeof path));
    char* at = strstr(text, "\"simulation\": {");
    assert_non_null(at);
    FILE* f = fopen(scratch_file("hopeless.json", file, sizeof file), "w");
    fprintf(f, "%.*s\"simulation\": {\"tolerance_position\": 1e-30, %s", (int)(at - text), text,
            at + strlen("\"simulation\": {"));
    fclose(f);
    free(text);
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(file, &none, &error);
    if (source == NULL) { // refused at the start: just as well told
        assert_true(error.message[0] != '\0');
        return;
    }
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    assert_int_equal(v->error.status, LASH_ERROR_NUMERICS);
    assert_false(v->status.running);
    viewer_destroy(v);
    view_source_close(source);
}

// A result of 20 000 frames of five bodies: seeking anywhere takes less than 20 ms.
static void seeking_in_a_long_result_is_fast(void** state) {
    (void)state;
    char path[300], model[400];
    const char* file = scratch_file("long.h5", path, sizeof path);
    char* text = slurp(model_path("papers/slider_crank_play.json", model, sizeof model));
    const char *bodies[] = {"crank", "rod", "slider"},
               *joints[] = {"main_bearing", "crank_pin", "piston_pin"};
    const char *types[] = {"revolute", "revolute", "revolute"},
               *contacts[] = {"top.1", "top.2", "bottom.1", "bottom.2"};
    LashRecordInfo info = {.version = "0",
                           .model_file = model,
                           .model_text = text,
                           .options = "{\"set\":[\"play=0.002\"]}",
                           .scheme = "combined",
                           .step = 1e-5,
                           .sizes = {.bodies = 3, .joints = 3, .contacts = 4},
                           .body_name = bodies,
                           .joint_name = joints,
                           .joint_type = types,
                           .contact_name = contacts};
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 3, .joints = 3, .contacts = 4});
    double* frame = lash_alloc((size_t)layout.total * sizeof *frame);
    LashError error = {0};
    LashRecorder* recorder = lash_recorder_create(file, &info, &error);
    assert_non_null(recorder);
    enum { FRAMES = 20000 };
    for (int i = 0; i < FRAMES; ++i) {
        frame[layout.offset[LASH_SERIES_TIME]] = i * 1e-5;
        for (int b = 0; b < 3; ++b) {
            frame[layout.offset[LASH_SERIES_ORIENTATION] + 4 * b] = 1;
            frame[layout.offset[LASH_SERIES_POSITION] + 3 * b] = 0.1 * b + 1e-6 * i;
        }
        LashRecordPoint point = {
            .contact = i % 4, .joint = -1, .normal = {0, 1, 0}, .force = {0, 2, 0}};
        assert_true(lash_recorder_add_points(recorder, &point, 1, &error));
        assert_true(lash_recorder_add(recorder, frame, &error));
    }
    assert_true(lash_recorder_close(recorder, &error));
    lash_free(frame);
    free(text);
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(file, &none, &error);
    if (source == NULL) fail_msg("%s", error.message);
    assert_true(view_source_model(source)->parameter[4].value == 0.002); // as it was run
    Viewer* v = open_viewer(source);
    uint64_t seed = 1;
    double worst = 0, sum = 0;
    for (int i = 0; i < 200; ++i) {
        int target = (int)(FRAMES * next_random(&seed));
        double start = test_clock();
        viewer_seek(v, target * 1e-5);
        double took = test_clock() - start;
        worst = fmax(worst, took);
        sum += took;
        assert_int_equal(v->shown, target);
        assert_float_equal(v->frame.world_body[1].r.x, 0.1 + 1e-6 * target, 1e-12);
        assert_int_equal(v->touches, 1);
    }
    print_message("seek in %d frames: mean %.2f ms, worst %.2f ms\n", FRAMES, 5 * sum, 1e3 * worst);
    assert_true(sum / 200 < 0.020);
    viewer_destroy(v);
    view_source_close(source);
}

static void write_scratch(const char* name, const char* text) {
    char path[300];
    FILE* f = fopen(scratch_file(name, path, sizeof path), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// A run was started in the folder of its model, which was named without it, and is looked at from
// elsewhere.
static void a_result_finds_the_parts_from_where_it_lies(void** state) {
    (void)state;
    char path[300], model[400];
    const char* file = scratch_file("moved.h5", path, sizeof path);
    char* text = slurp(model_path("pendulum_in_ring/pendulum_in_ring.json", model, sizeof model));
    for (char* at = text; (at = strstr(at, "parts/")) != NULL;) memcpy(at, "moved_", 6);
    write_scratch("moved.json", text);
    for (int i = 0; i < 2; ++i) {
        const char* name = i == 0 ? "ring" : "rod";
        char step[100], copy[100];
        snprintf(step, sizeof step, "pendulum_in_ring/parts/%s.step", name);
        snprintf(copy, sizeof copy, "moved_%s.step", name);
        char* part = slurp(model_path(step, model, sizeof model));
        write_scratch(copy, part);
        free(part);
    }
    LashError error = {0};
    char there[300];
    LashModel* loaded =
        lash_model_load(scratch_file("moved.json", there, sizeof there), NULL, 0, &error);
    assert_non_null(loaded);
    LashMechanism* mech = lash_model_build(loaded, &error);
    assert_non_null(mech);
    const char *bodies[] = {"ring", "rod"}, *names[] = {"?", "?", "?", "?", "?", "?", "?", "?"};
    LashRecordInfo info = {.version = "0",
                           .model_file = "moved.json",
                           .model_text = text,
                           .options = "{}",
                           .scheme = "combined",
                           .step = 5e-4,
                           .sizes = {.bodies = lash_mechanism_body_count(mech),
                                     .joints = lash_mechanism_joint_count(mech),
                                     .contacts = lash_mechanism_contact_count(mech)},
                           .body_name = bodies,
                           .joint_name = names,
                           .joint_type = names,
                           .contact_name = names};
    assert_true(info.sizes.bodies == 2 && info.sizes.joints <= 8 && info.sizes.contacts <= 8);
    lash_mechanism_destroy(mech);
    lash_model_destroy(loaded);
    LashRecordLayout layout = lash_record_layout(info.sizes);
    double* frame = lash_alloc((size_t)layout.total * sizeof *frame);
    LashRecorder* recorder = lash_recorder_create(file, &info, &error);
    assert_non_null(recorder);
    assert_true(lash_recorder_add(recorder, frame, &error));
    assert_true(lash_recorder_close(recorder, &error));
    lash_free(frame);
    free(text);
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(file, &none, &error);
    if (source == NULL) fail_msg("%s", error.message);
    view_source_close(source);
    // without the parts it says where it looked
    remove(scratch_file("moved_ring.step", there, sizeof there));
    assert_null(view_source_open(file, &none, &error));
    assert_int_equal(error.status, LASH_ERROR_IO);
    char* slash = strrchr(there, '/');
    slash[1] = '\0';
    assert_non_null(strstr(error.message, "moved_ring.step"));
    assert_non_null(strstr(error.message, "looked for in the present folder and "));
    assert_non_null(strstr(error.message, there));
}

// A result carries the files of its model: it opens in any folder when they are gone. A file that
// has changed is noticed, and shown as it was.
static void a_result_carries_its_parts_and_notices_changes(void** state) {
    (void)state;
    char folder[300], path[600], model[400], moved[300], command[1400];
    scratch_file("carry", folder, sizeof folder);
    scratch_file("elsewhere.h5", moved, sizeof moved);
    snprintf(command, sizeof command, "mkdir -p '%s' && cp -r '%s' '%s/model'", folder,
             model_path("pendulum_in_ring", model, sizeof model), folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/model/pendulum_in_ring.json", folder);
    Outcome o = LASH("run", path, "--duration", "0.01", "-o", moved);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(moved, &none, &error);
    if (source == NULL) fail_msg("%s", error.message);
    assert_string_equal(view_source_changes(source), "");
    int triangles = view_source_model(source)->part[0].cad->triangles;
    view_source_close(source);
    // another ring
    snprintf(command, sizeof command, "cp '%s/model/parts/rod.step' '%s/model/parts/ring.step'",
             folder, folder);
    assert_int_equal(system(command), 0);
    source = view_source_open(moved, &none, &error);
    assert_non_null(source);
    assert_string_equal(view_source_changes(source),
                        "parts/ring.step changed since the run; the result shows it as it was");
    assert_int_equal(view_source_model(source)->part[0].cad->triangles, triangles);
    view_source_close(source);
    char picture[300];
    o = LASH("view", moved, "--curves", scratch_file("carry.csv", picture, sizeof picture));
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.err, "parts/ring.step changed since the run"));
    outcome_free(&o);
    // all of it gone
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    source = view_source_open(moved, &none, &error);
    if (source == NULL) fail_msg("%s", error.message);
    assert_int_equal(view_source_model(source)->part[0].cad->triangles, triangles);
    view_source_close(source);
}

// What a result carries is read as strictly as the rest of it.
static void damaged_files_in_a_result_are_refused(void** state) {
    (void)state;
    static const char hash[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    char text[200];
    AppCarried carried;
    LashError error = {0};
    snprintf(text, sizeof text, "%s 5 3 1\na.stp\nabc\n%s 1 999 0\nb\n", hash, hash);
    assert_true(app_carried_unpack(text, &carried, &error));
    assert_int_equal(carried.files, 2);
    assert_string_equal(carried.file[0].name, "a.stp");
    assert_string_equal(carried.file[0].data, "abc");
    assert_null(carried.file[1].data);
    app_carried_free(&carried);
    text[74] ^= 1; // another content than the hash says
    assert_true(app_carried_unpack(text, &carried, &error));
    app_carried_free(&carried);
    static const char* const bad[] = {"x",
                                      "%s",
                                      "%s 5 3 1",
                                      "%s 5 3 1\na.st\nabc\n",
                                      "%s 5 4 1\na.stp\nabc\n",
                                      "%s 5 3 1\na.stp\nabc",
                                      "%s 999999999 3 1\na.stp\nabc\n",
                                      "%s 5 -3 1\na.stp\nabc\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        const char* mark = strstr(bad[i], "%s");
        snprintf(text, sizeof text, "%s%s", mark != NULL ? hash : "",
                 mark != NULL ? mark + 2 : bad[i]);
        error = (LashError){0};
        if (app_carried_unpack(text, &carried, &error)) fail_msg("%zu is accepted", i);
        assert_int_equal(error.status, LASH_ERROR_IO);
    }
}

static void damaged_and_foreign_results_are_refused(void** state) {
    (void)state;
    char path[300];
    const char* file = scratch_file("bad.h5", path, sizeof path);
    FILE* f = fopen(file, "wb");
    fwrite("\211HDF\r\n\032\n and then nothing useful", 1, 30, f);
    fclose(f);
    LashError error = {0};
    AppSessionOptions none = no_options();
    assert_null(view_source_open(file, &none, &error));
    assert_int_equal(error.status, LASH_ERROR_IO);
    error = (LashError){0};
    assert_null(view_source_open("no/such/result.h5", &none, &error));
    assert_int_equal(error.status, LASH_ERROR_IO);
}

static void part_without_mesh_is_refused(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/all_play.json", 1e-5);
    const LashModel* model = view_source_model(source);
    int part = 0;
    while (model->part[part].cad == NULL) ++part;
    LashShape* cad = model->part[part].cad;
    int triangles = cad->triangles, lines = cad->lines;
    cad->triangles = cad->lines = 0; // a file with points alone
    ViewScene scene;
    LashError error = {0};
    assert_false(view_scene_create(&scene, model, view_source_mechanism(source), &error));
    assert_int_equal(error.status, LASH_ERROR_CAD);
    assert_non_null(strstr(error.message, "lash info"));
    view_scene_destroy(&scene);
    cad->triangles = triangles;
    cad->lines = lines;
    view_source_close(source);
}

// The picture goes on while a step takes long: no update waits for the simulation.
static void updates_do_not_wait_for_steps(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/all_play.json", NAN);
    Viewer* v = open_viewer(source);
    double sum = 0, start = test_clock();
    int updates = 0;
    while (test_clock() - start < 0.7) {
        double before = test_clock();
        viewer_update(v, 0.016);
        if (updates > 0 && !v->status.running) break; // done already
        sum += test_clock() - before;
        ++updates;
        usleep(2000);
    }
    print_message("%d updates of %.3f ms while frames were simulated: %lld\n", updates,
                  1e3 * sum / updates, (long long)v->status.frames);
    assert_true(updates > 20 && sum / updates < 0.020);
    viewer_destroy(v);
    view_source_close(source);
}

// ---- actions ------------------------------------------------------------------------------------

static void events_are_found_forwards_and_backwards(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 0.02);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    viewer_act(v, VIEW_GO_BEGIN);
    assert_true(v->events > 3);
    double before = -1, times[3];
    for (int i = 0; i < 3; ++i) {
        viewer_act(v, VIEW_NEXT_EVENT);
        times[i] = v->playback.time;
        assert_true(times[i] > before);
        before = times[i];
    }
    assert_float_equal(times[0], v->event[0].t, 1e-12);
    viewer_act(v, VIEW_PREVIOUS_EVENT);
    assert_float_equal(v->playback.time, times[1], 1e-12);
    viewer_destroy(v);
    view_source_close(source);
}

static void steps_go_frame_by_frame(void** state) {
    (void)state;
    ViewSource* source = open_model("first/pendulum.json", NAN);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    viewer_act(v, VIEW_GO_BEGIN);
    assert_int_equal(v->shown, 0);
    for (int i = 1; i <= 5; ++i) {
        viewer_act(v, VIEW_STEP_FORWARD);
        assert_int_equal(v->shown, i);
        assert_false(v->playback.playing);
    }
    viewer_act(v, VIEW_STEP_BACK);
    assert_int_equal(v->shown, 4);
    viewer_act(v, VIEW_GO_END);
    assert_int_equal(v->shown, v->status.frames - 1);
    viewer_act(v, VIEW_STEP_FORWARD);
    assert_int_equal(v->shown, v->status.frames - 1);
    viewer_destroy(v);
    view_source_close(source);
}

static void parts_can_be_hidden_and_isolated(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 1e-3);
    Viewer* v = open_viewer(source);
    v->selected.part = 2;
    viewer_act(v, VIEW_SEE_THROUGH);
    assert_int_equal(v->scene.part[2].visibility, VIEW_TRANSPARENT);
    viewer_act(v, VIEW_ISOLATE);
    for (int i = 0; i < v->scene.parts; ++i)
        assert_int_equal(v->scene.part[i].visibility, i == 2 ? VIEW_SHOWN : VIEW_HIDDEN);
    viewer_act(v, VIEW_SHOW_ALL);
    viewer_act(v, VIEW_HIDE);
    assert_int_equal(v->scene.part[2].visibility, VIEW_HIDDEN);
    assert_int_equal(v->selected.part, -1);
    viewer_destroy(v);
    view_source_close(source);
}

static void plots_follow_every_frame_and_keep_peaks(void** state) {
    (void)state;
    ViewSource* source = open_model("papers/slider_crank_play.json", 0.1);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    ViewCurve curve;
    assert_false(viewer_plot_find(v, "slider.nothing", &curve));
    assert_true(viewer_plot_find(v, "slider.velocity.x", &curve));
    assert_string_equal(curve.unit, "m/s");
    double t[VIEW_PLOT_POINTS], y[VIEW_PLOT_POINTS], most = -INFINITY, sampled = -INFINITY;
    int count = viewer_curve_sample(v, v->source, &curve, viewer_span(v), VIEW_PLOT_POINTS, t, y);
    assert_in_range(count, 100, VIEW_PLOT_POINTS);
    double* all = lash_alloc((size_t)v->status.frames * sizeof *all);
    LashError error = {0};
    assert_true(
        view_source_column(source, curve.series, curve.column, 0, v->status.frames, all, &error));
    for (int64_t i = 0; i < v->status.frames; ++i) most = fmax(most, all[i]);
    for (int i = 0; i < count; ++i) {
        sampled = fmax(sampled, y[i]);
        assert_true(i == 0 || t[i] >= t[i - 1]);
    }
    assert_true(most == sampled);
    lash_free(all);
    int plots = v->plots;
    viewer_plot_toggle(v, &curve);
    assert_int_equal(v->plots, plots + 1);
    viewer_plot_toggle(v, &curve);
    assert_int_equal(v->plots, plots);
    viewer_destroy(v);
    view_source_close(source);
}

// Every series of a result is a curve; of vectors the norm, too.
static void every_recorded_number_can_be_plotted(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/all_play.json", 0.002);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    static const char* const names[] = {
        "crank_pin.force",   "crank_pin.force.x", "crank_pin.moment",  "crank_pin.eccentricity",
        "crank_pin.tilt",    "crank_pin.wear",    "crank_pin.impacts", "slider.velocity",
        "rod.orientation.w", "energy.kinetic"};
    ViewCurve curve, part;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if (!viewer_plot_find(v, names[i], &curve)) fail_msg("no curve %s", names[i]);
    }
    assert_true(viewer_plot_find(v, "crank_pin.force", &curve));
    double norm = viewer_curve_value(v, &curve), sum = 0;
    for (int k = 0; k < 3; ++k) {
        char name[32];
        snprintf(name, sizeof name, "crank_pin.force.%c", "xyz"[k]);
        assert_true(viewer_plot_find(v, name, &part));
        double value = viewer_curve_value(v, &part);
        sum += value * value;
    }
    assert_float_equal(norm, sqrt(sum), 1e-9 * norm + 1e-15);
    double t[VIEW_PLOT_POINTS], y[VIEW_PLOT_POINTS];
    int count = viewer_curve_sample(v, source, &curve, viewer_span(v), VIEW_PLOT_POINTS, t, y);
    assert_in_range(count, 10, VIEW_PLOT_POINTS);
    for (int i = 0; i < count; ++i) assert_true(y[i] >= 0);
    viewer_destroy(v);
    view_source_close(source);
}

static void an_event_tells_what_hit_what_how_hard_and_when(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/all_play.json", 0.004);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    int64_t strongest = viewer_event_near(v, 0.002, 1);
    assert_true(strongest >= 0);
    for (int64_t i = 0; i < v->events; ++i)
        assert_true(v->event[i].impulse <= v->event[strongest].impulse);
    char text[256];
    viewer_event_text(v, strongest, text, sizeof text);
    assert_non_null(strstr(text, " ms: "));
    assert_non_null(strstr(text, " N s"));
    int joint = viewer_contact_joint(v, v->event[strongest].contact);
    assert_true(joint >= 0); // all contacts of this model are plays of joints
    assert_non_null(strstr(text, v->scene.joint[joint].name));
    viewer_select_event(v, strongest);
    assert_int_equal(v->selected_contact, v->event[strongest].contact);
    viewer_select_joint(v, joint);
    assert_int_equal(v->selected_event, -1);
    assert_int_equal(v->selected_contact, -1);
    viewer_destroy(v);
    view_source_close(source);
}

// After an impact the load, once it is known; of sticking and slipping the impulse over the step.
static void events_tell_their_force(void** state) {
    (void)state;
    ViewSource* source = open_model("first/slider_crank.json", 0.02);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    char text[256], expected[64];
    int after = 0, others = 0;
    for (int64_t i = 0; i < v->events; ++i) {
        viewer_event_text(v, i, text, sizeof text);
        bool impact = strncmp(text, "impact", 6) == 0;
        after += impact && strstr(text, ", then ") != NULL;
        if (impact || !(v->event[i].impulse > 0)) continue;
        double impulse = v->event[i].impulse;
        snprintf(expected, sizeof expected, ", %.3g N s, %.3g N", impulse, impulse / v->event[i].h);
        assert_non_null(strstr(text, expected));
        ++others;
    }
    assert_true(after > 0 && others > 0);
    viewer_destroy(v);
    view_source_close(source);
}

static void curves_are_saved_as_csv_and_svg(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/all_play.json", 0.001);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    v->plots = 0;
    ViewCurve curve;
    char path[400];
    LashError error = {0};
    assert_false(viewer_plots_save(v, scratch_file("c.csv", path, sizeof path), &error));
    error = (LashError){0};
    assert_true(viewer_plot_find(v, "crank_pin.force", &curve));
    viewer_plot_toggle(v, &curve);
    assert_true(viewer_plots_save(v, scratch_file("c.csv", path, sizeof path), &error));
    char* text = slurp(path);
    assert_int_equal(strncmp(text, "time [s],crank_pin.force [N]\n", 29), 0);
    int64_t lines = 0;
    for (const char* c = text; *c != '\0'; ++c) lines += *c == '\n';
    assert_int_equal(lines, v->status.frames + 1);
    free(text);
    assert_true(viewer_plots_save(v, scratch_file("c.svg", path, sizeof path), &error));
    text = slurp(path);
    assert_non_null(strstr(text, "<svg"));
    assert_non_null(strstr(text, "crank_pin.force"));
    free(text);
    assert_false(viewer_plots_save(v, "c.png", &error));
    viewer_destroy(v);
    view_source_close(source);
}

// A magnified pin stays within the bore that is drawn: radius of the pin plus the magnified play.
// Parts are moved along tangents, by 2 mm of 40 here: a twentieth is of second order.
static void the_bore_opens_together_with_the_pin(void** state) {
    (void)state;
    ViewSource* source = open_model("first/lever.json", 0.06);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    viewer_magnify(v, 20);
    const ViewJoint* j = &v->scene.joint[1];
    assert_string_equal(j->name, "pin_a");
    assert_true(j->pin_radius == 4e-3 && j->pin_length == 10e-3 && !j->cad);
    double most = 0;
    for (int i = 0; i <= 20; ++i) {
        viewer_seek(v, 0.06 * i / 20);
        viewer_update(v, 0);
        Pose a = pose_mul(view_world_body(&v->frame, j->body_a), j->a_joint);
        Vec3 b = pose_mul(view_world_body(&v->frame, j->body_b), j->b_joint).r;
        Vec3 off = pose_point(pose_inverse(a), b);
        most = fmax(most, hypot(off.x, off.y));
    }
    if (!(most > 10 * j->clearance && most < 21 * j->clearance))
        fail_msg("largest offset is %g plays", most / j->clearance);
    assert_true(viewer_picture(v).magnification == 20);
    viewer_destroy(v);
    view_source_close(source);
}

static void a_step_file_is_something_to_look_at(void** state) {
    (void)state;
    AppSessionOptions none = {.step = NAN, .duration = NAN};
    LashError error = {0};
    ViewSource* source =
        view_source_open(LASH_SOURCE_DIR "/models/slider_crank/parts/rod.step", &none, &error);
    if (source == NULL) fail_msg("%s", error.message);
    Viewer* v = open_viewer(source);
    assert_int_equal(v->scene.parts, 1);
    assert_string_equal(v->scene.part[0].name, "rod");
    assert_true(v->scene.triangles > 10);
    viewer_destroy(v);
    view_source_close(source);
}

static void traces_follow_the_mass_centers(void** state) {
    (void)state;
    ViewSource* source = open_model("first/pendulum.json", NAN);
    Viewer* v = open_viewer(source);
    view_source_wait(source, INFINITY);
    viewer_update(v, 0);
    viewer_act(v, VIEW_TOGGLE_TRACES);
    viewer_act(v, VIEW_GO_END);
    int found = 0;
    for (int i = 0; i < VIEW_MAX_TRACES; ++i) {
        if (v->trace[i].count == 0) continue;
        const float* last = v->trace[i].point + 3 * (v->trace[i].count - 1);
        Vec3 now = v->frame.world_body[found++].r;
        double away = vec3_distance(now, vec3((double)last[0], (double)last[1], (double)last[2]));
        assert_true(away < 0.01 * view_scene_size(&v->scene));
        assert_in_range(v->trace[i].count, 10, VIEW_TRACE_POINTS);
    }
    assert_true(found > 0);
    viewer_destroy(v);
    view_source_close(source);
}

// ---- magnifier ----------------------------------------------------------------------------------

// Shown eccentricity of the crank pin is k times the true one; ideal joints stay closed.
static void magnifier_multiplies_the_play_of_joints(void** state) {
    (void)state;
    ViewSource* source = open_model("slider_crank/crank_pin_play.json", 4e-3);
    Viewer* v = open_viewer(source);
    assert_non_null(v->magnifier);
    view_source_wait(source, INFINITY);
    viewer_seek(v, 4e-3);
    int joint = 0;
    while (!(v->scene.joint[joint].clearance > 0)) ++joint;
    for (int pass = 0; pass < 2; ++pass) {
        double factor = pass == 0 ? 1 : 50;
        viewer_magnify(v, factor);
        for (int i = 0; i < v->scene.joints; ++i) {
            const ViewJoint* j = &v->scene.joint[i];
            Pose a = pose_mul(view_world_body(&v->frame, j->body_a), j->a_joint);
            Vec3 b = pose_point(view_world_body(&v->frame, j->body_b), j->b_joint.r);
            Vec3 off = pose_point_inverse(a, b);
            off.z = 0; // along the axis nothing is told
            double shown = vec3_norm(off);
            double true_one = lash_mechanism_joint_play(v->scene.mech, i, v->frame.q).eccentricity;
            if (i == joint) {
                assert_true(true_one > 1e-6);
                assert_float_equal(shown, factor * true_one, 0.15 * factor * true_one);
            } else if (j->type == LASH_REVOLUTE) {
                assert_true(shown < 1e-7);
            }
        }
    }
    viewer_destroy(v);
    view_source_close(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_plays_at_its_speed_and_wraps_around),
        cmocka_unit_test(clock_waits_for_a_run_that_is_slower),
        cmocka_unit_test(clock_has_speeds_from_a_ten_thousandth_to_ten),
        cmocka_unit_test(camera_fit_has_the_whole_box_in_view),
        cmocka_unit_test(camera_zoom_keeps_what_is_under_the_cursor),
        cmocka_unit_test(camera_projection_matrix_agrees_with_rays),
        cmocka_unit_test(camera_option_is_checked),
        cmocka_unit_test(live_run_and_its_result_show_the_same_frames),
        cmocka_unit_test(a_result_with_the_energy_of_its_scheme_is_shown),
        cmocka_unit_test(live_run_can_be_restarted_while_it_runs),
        cmocka_unit_test(live_run_that_fails_says_why),
        cmocka_unit_test(seeking_in_a_long_result_is_fast),
        cmocka_unit_test(a_result_finds_the_parts_from_where_it_lies),
        cmocka_unit_test(a_result_carries_its_parts_and_notices_changes),
        cmocka_unit_test(damaged_files_in_a_result_are_refused),
        cmocka_unit_test(damaged_and_foreign_results_are_refused),
        cmocka_unit_test(part_without_mesh_is_refused),
        cmocka_unit_test(updates_do_not_wait_for_steps),
        cmocka_unit_test(events_are_found_forwards_and_backwards),
        cmocka_unit_test(steps_go_frame_by_frame),
        cmocka_unit_test(parts_can_be_hidden_and_isolated),
        cmocka_unit_test(plots_follow_every_frame_and_keep_peaks),
        cmocka_unit_test(every_recorded_number_can_be_plotted),
        cmocka_unit_test(an_event_tells_what_hit_what_how_hard_and_when),
        cmocka_unit_test(events_tell_their_force),
        cmocka_unit_test(curves_are_saved_as_csv_and_svg),
        cmocka_unit_test(the_bore_opens_together_with_the_pin),
        cmocka_unit_test(a_step_file_is_something_to_look_at),
        cmocka_unit_test(traces_follow_the_mass_centers),
        cmocka_unit_test(magnifier_multiplies_the_play_of_joints),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}

// The window under a virtual X server with Mesa's software renderer: it opens for every model; keys
// and mouse, sent as real X events, change what they should.
#define _GNU_SOURCE // dl_iterate_phdr
#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include "test.h"

#include "app/viewer/window.h"
#include "core/arena.h"
#include "core/math3.h"
#include "model_text.h"
#include "viewer_cases.h"

enum { WIDTH = 1000, HEIGHT = 640 };

static pid_t server;    // Xvfb of this test program
static Display* sender; // of the events

// Starts Xvfb on a free display. False when it is not installed.
static bool start_server(void) {
    int ends[2];
    char number[16] = "", name[32] = ":";
    if (system("command -v Xvfb >/dev/null 2>&1") != 0 || pipe(ends) != 0) return false;
    server = fork();
    if (server == 0) {
        char fd[16];
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGTERM); // also when a test aborts
        redirect("/dev/null", STDOUT_FILENO);
        redirect("/dev/null", STDERR_FILENO);
        snprintf(fd, sizeof fd, "%d", ends[1]);
        execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", "1400x900x24", "-nolisten", "tcp",
               (char*)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0; // the server writes the number and its end in two pieces
    while (used < sizeof number - 1 && strchr(number, '\n') == NULL &&
           read(ends[0], number + used, 1) == 1)
        ++used;
    close(ends[0]);
    if (used == 0) return false;
    number[strcspn(number, "\n")] = '\0';
    strcat(name, number);
    setenv("DISPLAY", name, 1);
    unsetenv("WAYLAND_DISPLAY");
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    sender = XOpenDisplay(NULL);
    return sender != NULL;
}

static int setup(void** state) {
    (void)state;
    if (!start_server()) print_message("no Xvfb: the window is not tested\n");
    return 0;
}

static int teardown(void** state) {
    (void)state;
    if (sender != NULL) XCloseDisplay(sender);
    if (server > 0) {
        kill(server, SIGTERM);
        waitpid(server, NULL, 0);
    }
    scratch_remove();
    return 0;
}

static int keep_driver(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    (void)data;
    if (strstr(info->dlpi_name, "_dri.so") != NULL || strstr(info->dlpi_name, "libgallium") != NULL)
        dlopen(info->dlpi_name, RTLD_NOW | RTLD_NODELETE);
    return 0;
}

// Mesa's driver is unloaded with the last window and loses 112 bytes each time. It is kept in
// memory so that these can be told by its name (lsan.supp) from ours.
static void name_driver(void) {
    static bool done;
    if (!done) dl_iterate_phdr(keep_driver, NULL);
    done = true;
}

typedef struct Stage {
    ViewSource* source;
    Viewer* v;
    ViewWindow* window;
    int x0, y0; // of the window on the screen
} Stage;

static void pump(Stage* s, int pictures) {
    for (int i = 0; i < pictures; ++i) view_window_step(s->window);
}

// Upper left corner of the only window that is mapped.
static void find_window(Stage* s) {
    Window root, parent, *child = NULL;
    unsigned count = 0;
    XQueryTree(sender, DefaultRootWindow(sender), &root, &parent, &child, &count);
    for (unsigned i = 0; i < count; ++i) {
        XWindowAttributes a;
        if (!XGetWindowAttributes(sender, child[i], &a) || a.map_state != IsViewable) continue;
        s->x0 = a.x;
        s->y0 = a.y;
    }
    if (child != NULL) XFree(child);
}

static Stage stage_of(ViewSource* source) {
    Stage s = {.source = source};
    s.v = open_viewer(s.source);
    ViewWindowOptions o = {WIDTH, HEIGHT, 1, false, "test"};
    LashError error = {0};
    s.window = view_window_create(s.v, &o, &error);
    if (s.window == NULL) fail_msg("%s: %s", error.where, error.message);
    name_driver();
    pump(&s, 2);
    find_window(&s);
    return s;
}

static Stage open_stage(const char* model, double duration) {
    return stage_of(open_model(model, duration));
}

static void close_stage(Stage* s) {
    view_window_destroy(s->window);
    viewer_destroy(s->v);
    view_source_close(s->source);
}

// Lets the events arrive: the server handles them in order with the sync.
static void settle(Stage* s) {
    XSync(sender, False);
    pump(s, 2);
}

static void move_to(Stage* s, double x, double y) {
    XTestFakeMotionEvent(sender, -1, s->x0 + (int)x, s->y0 + (int)y, CurrentTime);
    settle(s);
}

static void press(Stage* s, unsigned button, bool down) {
    XTestFakeButtonEvent(sender, button, down, CurrentTime);
    settle(s);
}

static void click(Stage* s, double x, double y) {
    move_to(s, x, y);
    press(s, 1, true);
    press(s, 1, false);
}

static void drag(Stage* s, unsigned button, double x, double y, double dx, double dy) {
    move_to(s, x, y);
    press(s, button, true);
    for (int i = 1; i <= 4; ++i) move_to(s, x + dx * i / 4, y + dy * i / 4);
    press(s, button, false);
}

static void key(Stage* s, KeySym symbol, bool shift) {
    KeyCode code = XKeysymToKeycode(sender, symbol),
            shift_code = XKeysymToKeycode(sender, XK_Shift_L);
    if (shift) XTestFakeKeyEvent(sender, shift_code, True, CurrentTime);
    XTestFakeKeyEvent(sender, code, True, CurrentTime);
    XTestFakeKeyEvent(sender, code, False, CurrentTime);
    if (shift) XTestFakeKeyEvent(sender, shift_code, False, CurrentTime);
    settle(s);
}

// Pressed over some pictures: Dear ImGui sees keys of texts only then.
static void hold(Stage* s, KeySym symbol) {
    KeyCode code = XKeysymToKeycode(sender, symbol);
    XTestFakeKeyEvent(sender, code, True, CurrentTime);
    settle(s);
    XTestFakeKeyEvent(sender, code, False, CurrentTime);
    settle(s);
}

// ---- every model --------------------------------------------------------------------------------

static void open_one(const char* path) {
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(path, &none, &error);
    if (source == NULL) fail_msg("%s: %s: %s", path, error.where, error.message);
    Viewer* v = open_viewer(source);
    ViewWindowOptions o = {640, 400, 1, false, "test"};
    ViewWindow* window = view_window_create(v, &o, &error);
    if (window == NULL) fail_msg("%s: %s", path, error.message);
    name_driver();
    for (int i = 0; i < 3; ++i) assert_true(view_window_step(window));
    int width, height;
    view_window_size(window, &width, &height);
    unsigned char* pixel = lash_alloc(3 * (size_t)width * (size_t)height);
    view_window_read(window, pixel);
    int least = 255, most = 0; // something is drawn
    for (size_t i = 0; i < 3 * (size_t)width * (size_t)height; ++i) {
        least = pixel[i] < least ? pixel[i] : least;
        most = pixel[i] > most ? pixel[i] : most;
    }
    assert_true(most - least > 100);
    lash_free(pixel);
    view_window_destroy(window);
    viewer_destroy(v);
    view_source_close(source);
}

static int open_folder(const char* folder) {
    int count = 0;
    DIR* dir = opendir(folder);
    for (struct dirent* e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char path[1200];
        snprintf(path, sizeof path, "%.800s/%.250s", folder, e->d_name);
        const char* dot = strrchr(e->d_name, '.');
        if (e->d_name[0] == '.' || strcmp(e->d_name, "parts") == 0) continue;
        if (dot == NULL) count += open_folder(path);
        if (dot == NULL || strcmp(dot, ".json") != 0) continue;
        char* text = slurp(path);
        bool model = strstr(text, "lash-model/1") != NULL;
        free(text);
        if (!model) continue;
        open_one(path);
        ++count;
    }
    if (dir != NULL) closedir(dir);
    return count;
}

static void window_opens_for_every_model(void** state) {
    (void)state;
    if (sender == NULL) skip();
    char folder[400];
    int count = open_folder(model_path("", folder, sizeof folder));
    print_message("%d models\n", count);
    assert_true(count >= 20);
}

// ---- keys and mouse -----------------------------------------------------------------------------

static void keys_change_time_and_play_state(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/slider_crank_play.json", 0.02);
    view_source_wait(s.source, INFINITY);
    move_to(&s, 600, 300);
    assert_true(s.v->playback.playing); // a live run plays from the start
    key(&s, XK_space, false);
    assert_false(s.v->playback.playing);
    double still = s.v->frame.time;
    pump(&s, 3);
    assert_true(s.v->frame.time == still);
    key(&s, XK_Home, false);
    assert_int_equal(s.v->shown, 0);
    key(&s, XK_Right, false);
    key(&s, XK_Right, false);
    assert_int_equal(s.v->shown, 2);
    key(&s, XK_Left, false);
    assert_int_equal(s.v->shown, 1);
    key(&s, XK_Right, true); // a hundredth
    assert_in_range(s.v->shown, 3, 60);
    key(&s, XK_n, false);
    assert_float_equal(s.v->playback.time, s.v->event[0].t, 1e-12);
    key(&s, XK_End, false);
    assert_int_equal(s.v->shown, s.v->status.frames - 1);
    double speed = s.v->playback.speed;
    key(&s, XK_Up, false);
    assert_true(s.v->playback.speed > speed);
    key(&s, XK_Home, false);
    key(&s, XK_space, false);
    assert_true(s.v->playback.playing);
    usleep(50000);
    pump(&s, 2);
    assert_true(s.v->frame.time > 0);
    key(&s, XK_R, true); // runs again
    assert_true(s.v->status.frames >= 1 && s.v->playback.playing);
    key(&s, XK_q, false);
    assert_false(view_window_step(s.window));
    close_stage(&s);
}

static void keys_change_camera_and_what_is_shown(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/slider_crank_play.json", 0.001);
    move_to(&s, 600, 300);
    key(&s, XK_5, false);
    assert_float_equal(s.v->camera.pitch, 0.5 * LASH_PI, 1e-5);
    key(&s, XK_1, false);
    assert_float_equal(s.v->camera.pitch, 0, 1e-12);
    key(&s, XK_o, false);
    assert_true(s.v->camera.orthographic);
    key(&s, XK_e, false);
    key(&s, XK_g, false);
    key(&s, XK_j, false);
    key(&s, XK_x, false);
    assert_true(!s.v->style.edges && !s.v->style.grid && s.v->style.joint_frames &&
                s.v->style.section);
    key(&s, XK_F1, false);
    assert_true(s.v->help);
    key(&s, XK_F1, false);
    double before = s.v->camera.width;
    key(&s, XK_p, false);
    assert_true(!s.v->panels && s.v->camera.width > before);
    close_stage(&s);
}

static void mouse_turns_moves_and_zooms(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/slider_crank_play.json", 0.001);
    view_source_wait(s.source, INFINITY); // while it runs, the camera follows its extent
    pump(&s, 2);
    ViewCamera before = s.v->camera;
    drag(&s, 1, 500, 200, 80, 40);
    assert_true(s.v->camera.yaw < before.yaw - 0.1 && s.v->camera.pitch > before.pitch + 0.1);
    assert_true(vec3_distance(s.v->camera.target, before.target) == 0);
    before = s.v->camera;
    drag(&s, 3, 500, 200, 60, 0);
    double moved = vec3_distance(s.v->camera.target, before.target);
    assert_float_equal(moved, 60 * view_camera_scale(&before, before.target), 0.02 * moved);
    before = s.v->camera;
    move_to(&s, 500, 200);
    press(&s, 4, true); // the wheel
    press(&s, 4, false);
    assert_true(s.v->camera.distance < before.distance);
    double x0, y0, x, y;
    view_window_viewport(s.window, &x0, &y0);
    ViewRay ray = view_camera_ray(&before, 500 - x0, 200 - y0);
    Vec3 p = vec3_add_scaled(ray.origin, before.distance, ray.direction);
    // A point of the target's plane keeps its pixel: project it there first.
    Vec3 right, up, back;
    view_camera_axes(&before, &right, &up, &back);
    double reach =
        vec3_dot(vec3_sub(before.target, ray.origin), back) / vec3_dot(ray.direction, back);
    p = vec3_add_scaled(ray.origin, reach, ray.direction);
    assert_true(view_camera_project(&s.v->camera, p, &x, &y));
    assert_float_equal(x, 500 - x0, 0.5);
    assert_float_equal(y, 200 - y0, 0.5);
    // Over a panel the wheel belongs to the panel.
    before = s.v->camera;
    move_to(&s, WIDTH - 60, 300);
    press(&s, 5, true);
    press(&s, 5, false);
    assert_true(s.v->camera.distance == before.distance);
    close_stage(&s);
}

static void click_selects_part_and_face(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/slider_crank_play.json", 0.0005);
    view_source_wait(s.source, INFINITY);
    move_to(&s, 600, 500);
    key(&s, XK_Home, false);
    s.v->playback.playing = false;
    key(&s, XK_1, false); // front
    double x0, y0, x, y;
    view_window_viewport(s.window, &x0, &y0);
    Vec3 face = pose_point(s.v->frame.world_body[2], vec3(0.03, 0.01, 0.01)); // slider, +z
    assert_true(view_camera_project(&s.v->camera, face, &x, &y));
    click(&s, x0 + x, y0 + y);
    assert_int_equal(s.v->selected.part, 3);
    assert_int_equal(s.v->selected.face, 5);
    key(&s, XK_s, false);
    assert_int_equal(s.v->scene.part[3].visibility, VIEW_TRANSPARENT);
    key(&s, XK_Escape, false);
    assert_int_equal(s.v->selected.part, -1);
    click(&s, 60, 85); // second line of the tree, below the filter: the crank
    assert_int_equal(s.v->selected.part, 1);
    assert_int_equal(s.v->selected.face, -1);
    click(&s, x0 + 40, y0 + 150); // beside everything
    assert_int_equal(s.v->selected.part, -1);
    close_stage(&s);
}

// The symbols of a drafted model's joints: one is clicked, its faces are marked and its reason is
// known; a click beside everything, or Escape, ends it.
static void click_on_a_drafted_joint_shows_its_faces(void** state) {
    (void)state;
    if (sender == NULL) skip();
    char step[400], model[400];
    make_assembly(
        "hinge",
        "{'name': 'base', 'steps': [{'box': {'size': [60, 40, 6]}, 'at': [-30, -20, -12]},"
        " {'cylinder': {'radius': 4, 'length': 16}, 'at': [0, 0, -8]}]},"
        "{'name': 'lever', 'steps': [{'box': {'size': [50, 16, 8]}, 'at': [-8, -8, -4]},"
        " {'do': 'cut', 'cylinder': {'radius': 4.02, 'length': 40}, 'at': [0, 0, -20]}]}",
        step, sizeof step);
    Outcome o = LASH("draft", step, "-o", scratch_file("hinge.json", model, sizeof model));
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    LashError error = {0};
    AppSessionOptions options = no_options();
    options.duration = 0.001;
    Stage s = stage_of(view_source_open(model, &options, &error));
    view_source_wait(s.source, INFINITY);
    s.v->playback.playing = false;
    assert_true(s.v->style.joint_frames); // drawn without being asked for
    assert_true(s.v->scene.joint[0].drafted);
    double x0, y0, x, y;
    view_window_viewport(s.window, &x0, &y0);
    Vec3 at = s.v->scene.joint[0].a_joint.r;
    assert_true(view_camera_project(&s.v->camera, at, &x, &y));
    click(&s, x0 + x + 5, y0 + y - 4);
    assert_int_equal(s.v->selected_joint, 0);
    assert_int_equal(s.v->selected.part, -1);
    ViewPicture picture = viewer_picture(s.v);
    assert_int_equal(picture.marks, 2); // bore and pin
    assert_int_not_equal(picture.marked[0].part, picture.marked[1].part);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(
            view_face(&s.v->scene, picture.marked[i].part, picture.marked[i].face).face->type,
            LASH_CYLINDER);
    assert_non_null(strstr(s.v->scene.model->joint[0].draft.reason, "pin of radius 4 mm"));
    move_to(&s, 600, 500);
    key(&s, XK_Escape, false);
    assert_int_equal(s.v->selected_joint, -1);
    close_stage(&s);
}

// What is selected in one place is selected in all: by N, by a click on a contact point, on a joint
// and on a tick; Escape closes the help first.
static void events_contacts_and_joints_are_selected_everywhere(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("slider_crank/all_play.json", 0.004);
    view_source_wait(s.source, INFINITY);
    move_to(&s, 600, 500);
    key(&s, XK_Home, false);
    assert_true(s.v->events > 0);
    key(&s, XK_n, false);
    assert_int_equal(s.v->selected_event, 0);
    assert_int_equal(s.v->selected_contact, s.v->event[0].contact);
    char text[256];
    viewer_event_text(s.v, 0, text, sizeof text);
    assert_non_null(strstr(text, " and "));
    assert_null(strstr(text, "inf"));
    key(&s, XK_F1, false);
    assert_true(s.v->help);
    key(&s, XK_Escape, false);
    assert_false(s.v->help);
    assert_int_equal(s.v->selected_event, 0); // not yet
    key(&s, XK_Escape, false);
    assert_int_equal(s.v->selected_event, -1);
    assert_int_equal(s.v->selected_contact, -1);
    double x0, y0, x, y;
    view_window_viewport(s.window, &x0, &y0);
    assert_true(s.v->touches > 0);
    assert_true(view_camera_project(&s.v->camera, s.v->touch[0].point, &x, &y));
    click(&s, x0 + x, y0 + y);
    assert_true(s.v->selected_contact >= 0);
    assert_int_equal(viewer_picture(s.v).selected_contact, s.v->selected_contact);
    key(&s, XK_c, false); // contact points off: the joint below them
    key(&s, XK_j, false);
    Vec3 at = pose_point(view_world_body(&s.v->frame, s.v->scene.joint[0].body_a),
                         s.v->scene.joint[0].a_joint.r);
    assert_true(view_camera_project(&s.v->camera, at, &x, &y));
    click(&s, x0 + x, y0 + y);
    assert_int_equal(s.v->selected_joint, 0);
    assert_int_equal(s.v->selected_contact, -1);
    close_stage(&s);
}

// ---- panels -------------------------------------------------------------------------------------

// Sizes of the layout in pixels, as ui.cpp has them.
enum {
    RIGHT = WIDTH - 330, // left edge of the panels at the right
    PLOTS = 268,         // upper edge of the plots
    PLOT_LEFT = RIGHT + 10 + 46,
    PLOT_WIDTH = 330 - 20 - 46 - 4,
    TRACK_Y = HEIGHT - 25 - 58 + 28,
    BUTTONS_Y = PLOTS + 16,
};

static ViewSource* open_result(const char* file) {
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(file, &none, &error);
    if (source == NULL) fail_msg("%s: %s", error.where, error.message);
    return source;
}

// A result of the slider-crank with another friction.
static ViewSource* run_result(const char* name, const char* set) {
    char path[400], model[400];
    model_path("slider_crank/all_play.json", model, sizeof model);
    scratch_file(name, path, sizeof path);
    Outcome o = LASH("run", model, "--duration", "0.004", "--set", set, "-o", path);
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    return open_result(path);
}

static unsigned char* read_window(const Stage* s) {
    unsigned char* pixel = lash_alloc((size_t)3 * WIDTH * HEIGHT);
    view_window_read(s->window, pixel);
    return pixel;
}

// Pixels of the plots panel that differ; the same two pictures: 0.
static int differences(const unsigned char* a, const unsigned char* b, int x0, int x1, int y0,
                       int y1) {
    int count = 0;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
            count += memcmp(a + 3 * (y * WIDTH + x), b + 3 * (y * WIDTH + x), 3) != 0;
    return count;
}

static void wheel(Stage* s, unsigned button, int times) {
    for (int i = 0; i < times; ++i) {
        XTestFakeButtonEvent(sender, button, True, CurrentTime);
        XTestFakeButtonEvent(sender, button, False, CurrentTime);
    }
    settle(s);
}

static void plots_are_zoomed_moved_and_shown_whole_again(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("slider_crank/all_play.json", 0.004);
    view_source_wait(s.source, INFINITY);
    pump(&s, 2);
    ViewSpan all = viewer_span(s.v);
    double x = PLOT_LEFT + 0.4 * PLOT_WIDTH, y = HEIGHT - 150, under;
    under = all.begin + 0.4 * (all.end - all.begin);
    move_to(&s, x, y);
    ViewCamera before = s.v->camera;
    wheel(&s, 4, 8);
    ViewSpan near = viewer_plot_span(s.v);
    assert_float_equal((near.end - near.begin) / (all.end - all.begin), pow(0.8, 8), 1e-9);
    double stays = near.begin + 0.4 * (near.end - near.begin); // what is under the cursor
    assert_float_equal(stays, under, 2.0 / PLOT_WIDTH * (near.end - near.begin) + 1e-4 * under);
    assert_true(s.v->camera.distance == before.distance);
    // as many points as before, now of a shorter time: nothing is lost between them
    double t[VIEW_PLOT_POINTS], v[VIEW_PLOT_POINTS];
    int count =
        viewer_curve_sample(s.v, s.source, &s.v->plot[0].curve[0], near, VIEW_PLOT_POINTS, t, v);
    assert_true(t[0] <= near.begin && t[count - 1] >= near.end);
    assert_true(t[2] > near.begin && t[count - 3] < near.end);
    drag(&s, 3, x, y, 40, 0);
    ViewSpan moved = viewer_plot_span(s.v);
    assert_true(moved.begin < near.begin && moved.end < near.end);
    assert_float_equal(moved.end - moved.begin, near.end - near.begin, 1e-15);
    click(&s, PLOT_LEFT + 1, y); // seeks within what is shown
    assert_float_equal(s.v->playback.time, moved.begin, 0.02 * (moved.end - moved.begin));
    wheel(&s, 5, 20);
    assert_true(s.v->zoom.end == s.v->zoom.begin);
    wheel(&s, 4, 100); // not beyond all measure
    near = viewer_plot_span(s.v);
    assert_true(near.end - near.begin >= 3 * s.v->status.step);
    for (int i = 0; i < 40 && s.v->zoom.end > s.v->zoom.begin; ++i) { // until two are fast enough
        XTestFakeButtonEvent(sender, 1, i % 2 == 0, CurrentTime);
        XSync(sender, False);
        pump(&s, 1);
    }
    press(&s, 1, false);
    assert_true(s.v->zoom.end == s.v->zoom.begin);
    close_stage(&s);
}

static void a_second_result_is_laid_over_and_curves_are_saved(void** state) {
    (void)state;
    if (sender == NULL) skip();
    ViewSource* second = run_result("second.h5", "friction=0.3");
    Stage s = stage_of(run_result("first.h5", "friction=0"));
    ViewCurve curve;
    s.v->plots = 0;
    assert_true(viewer_plot_find(s.v, "rod.velocity.y", &curve));
    viewer_plot_toggle(s.v, &curve);
    move_to(&s, 600, 500);
    key(&s, XK_End, false);
    unsigned char* alone = read_window(&s);
    s.v->second = second;
    s.v->second_name = "somewhere/second.h5";
    pump(&s, 2);
    unsigned char* both = read_window(&s);
    assert_true(differences(alone, both, PLOT_LEFT, WIDTH - 20, PLOTS + 80, 540) > 60);
    assert_int_equal(differences(alone, both, 0, RIGHT - 1, 0, 540), 0);
    double own = viewer_curve_value(s.v, &curve);
    double other = viewer_curve_beside(s.v, &curve, s.v->frame.time);
    assert_true(isfinite(other) && other != own);
    assert_true(isnan(viewer_curve_beside(s.v, &curve, 1)));
    lash_free(alone);
    lash_free(both);
    // the buttons write into the present folder, beside what is there
    char folder[400], back[400], path[400];
    assert_non_null(getcwd(back, sizeof back));
    scratch_file("plots", folder, sizeof folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chdir(folder), 0);
    click(&s, WIDTH - 10 - 134 + 14, BUTTONS_Y);
    assert_string_equal(s.v->note, "plots.csv written");
    click(&s, WIDTH - 10 - 134 + 14, BUTTONS_Y);
    assert_string_equal(s.v->note, "plots_2.csv written");
    click(&s, WIDTH - 10 - 134 + 52, BUTTONS_Y);
    assert_string_equal(s.v->note, "plots.svg written");
    assert_int_equal(chdir(back), 0);
    snprintf(path, sizeof path, "%.380s/plots_2.csv", folder);
    char* text = slurp(path);
    char head[] = "time [s],rod.velocity.y [m/s],rod.velocity.y (beside) [m/s]\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    double t, a, b;
    const char* last = text + strlen(text) - 1;
    while (last[-1] != '\n') --last;
    assert_int_equal(sscanf(last, "%lf,%lf,%lf", &t, &a, &b), 3);
    assert_true(t == s.v->frame.time && a == own && b == other);
    free(text);
    snprintf(path, sizeof path, "%.380s/plots.svg", folder);
    text = slurp(path);
    assert_non_null(strstr(text, "rod.velocity.y (beside)"));
    free(text);
    close_stage(&s);
    view_source_close(second);
}

static void escape_closes_what_is_open(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("slider_crank/all_play.json", 0.001);
    view_source_wait(s.source, INFINITY);
    s.v->playback.playing = false;
    viewer_select_joint(s.v, 1);
    snprintf(s.v->note, sizeof s.v->note, "written");
    lash_error_set(&s.v->error, LASH_ERROR_IO, "",
                   "a message that is far longer than the window: "
                   "%0200d %0200d",
                   1, 2);
    double high = s.v->camera.height;
    pump(&s, 2);
    assert_true(s.v->camera.height < high - 20); // it takes several lines
    move_to(&s, 600, 300);
    unsigned char* before = read_window(&s);
    click(&s, WIDTH - 10 - 30, BUTTONS_Y); // Add ...
    move_to(&s, 600, 300);
    unsigned char* menu = read_window(&s);
    assert_true(differences(before, menu, 0, WIDTH, 0, HEIGHT) > 5000);
    key(&s, XK_Escape, false); // the menu
    pump(&s, 2);
    unsigned char* after = read_window(&s);
    assert_int_equal(differences(before, after, 0, RIGHT, 0, HEIGHT), 0);
    assert_int_equal(s.v->error.status, LASH_ERROR_IO);
    key(&s, XK_F1, false);
    key(&s, XK_Escape, false); // the help
    assert_false(s.v->help);
    assert_int_equal(s.v->error.status, LASH_ERROR_IO);
    key(&s, XK_Escape, false); // the message
    assert_int_equal(s.v->error.status, LASH_OK);
    assert_true(s.v->camera.height == high);
    key(&s, XK_Escape, false); // what was written
    assert_string_equal(s.v->note, "");
    assert_int_equal(s.v->selected_joint, 1);
    key(&s, XK_Escape, false);
    assert_int_equal(s.v->selected_joint, -1);
    lash_free(before);
    lash_free(menu);
    lash_free(after);
    close_stage(&s);
}

static void tree_and_timeline_are_filtered_by_part(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("slider_crank/all_play.json", 0.004);
    view_source_wait(s.source, INFINITY);
    s.v->playback.playing = false;
    click(&s, 100, 20);
    key(&s, XK_S, false); // small or capital
    key(&s, XK_l, false);
    key(&s, XK_i, false);
    key(&s, XK_d, false);
    assert_string_equal(s.v->filter, "slid");
    int parts = 0, contacts = 0, events = 0;
    for (int i = 0; i < s.v->scene.parts; ++i) parts += s.v->part_passes[i];
    for (int i = 0; i < s.v->scene.contacts; ++i) contacts += s.v->contact_passes[i];
    assert_int_equal(parts, 1);
    assert_in_range(contacts, 1, s.v->scene.contacts - 1);
    ViewTick tick[400];
    viewer_ticks(s.v, viewer_span(s.v), 400, tick);
    for (int i = 0; i < 400; ++i) {
        if (tick[i].kind < 0) continue;
        ++events;
        int a = -1, b = -1;
        lash_mechanism_contact_bodies(s.v->scene.mech, s.v->event[tick[i].event].contact, &a, &b);
        assert_true(a == 2 || b == 2); // crank, rod, slider
    }
    assert_true(events > 0);
    click(&s, 60, 67); // the only part that is left
    assert_string_equal(s.v->scene.part[s.v->selected.part].name, "slider");
    key(&s, XK_Home, false);
    key(&s, XK_n, false);
    assert_true(s.v->contact_passes[s.v->event[s.v->selected_event].contact]);
    click(&s, 100, 20);
    for (int i = 0; i < 4; ++i) hold(&s, XK_BackSpace);
    assert_string_equal(s.v->filter, "");
    for (int i = 0; i < s.v->scene.contacts; ++i) assert_true(s.v->contact_passes[i]);
    key(&s, XK_r, false);
    assert_string_equal(s.v->filter, "r");
    hold(&s, XK_Escape); // takes back what was typed
    assert_string_equal(s.v->filter, "");
    close_stage(&s);
}

// Where there are more events than pixels, a tick tells the strongest around it, and so does the
// cursor.
static void the_cursor_tells_the_strongest_event_around_a_tick(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/slider_crank_play.json", 0.05);
    view_source_wait(s.source, INFINITY);
    pump(&s, 2);
    ViewSpan span = viewer_span(s.v);
    ViewTick tick[300];
    viewer_ticks(s.v, span, 300, tick);
    int tall = 0, weak = 0, last = -10;
    for (int i = 0; i < 300; ++i) {
        if (tick[i].kind < 0) continue;
        double t = span.begin + (i + 0.5) / 300 * (span.end - span.begin);
        int64_t strongest = viewer_event_near(s.v, t, 0.5 / 300 * (span.end - span.begin));
        if (tick[i].kind == 0) // impacts: the strongest of its pixel
            assert_true(s.v->event[strongest].impulse <= s.v->event[tick[i].event].impulse);
        weak += tick[i].weaker;
        if (tick[i].weaker) continue;
        ++tall;
        assert_true(i - last > VIEW_TICK_SPACE);
        last = i;
    }
    print_message("%lld events, %d ticks, %d weaker\n", (long long)s.v->events, tall, weak);
    assert_true(tall > 5 && weak > 0);
    // the scale of the track, from two clicks
    click(&s, WIDTH - 400, TRACK_Y);
    double t0 = s.v->playback.time;
    click(&s, WIDTH - 100, TRACK_Y);
    double per_pixel = (s.v->playback.time - t0) / 300;
    assert_true(per_pixel > 0);
    for (int i = 0, told = 0; i < 300 && told < 4; ++i) {
        if (tick[i].kind != 0 || tick[i].weaker) continue;
        double x = round(WIDTH - 400 + (s.v->event[tick[i].event].t - t0) / per_pixel);
        if (x < WIDTH - 500) continue; // buttons
        move_to(&s, x, TRACK_Y);
        assert_true(s.v->hovered_event >= 0);
        const ViewEvent* hovered = &s.v->event[s.v->hovered_event];
        assert_true(fabs(hovered->t - s.v->event[tick[i].event].t) <= 4 * per_pixel);
        char text[256];
        viewer_event_text(s.v, s.v->hovered_event, text, sizeof text);
        assert_non_null(strstr(text, " and "));
        int64_t event = s.v->hovered_event;
        click(&s, x, TRACK_Y);
        assert_int_equal(s.v->selected_event, event);
        ++told;
    }
    move_to(&s, 500, 200);
    assert_int_equal(s.v->hovered_event, -1);
    close_stage(&s);
}

// A click on the symbol of a joint with play draws the orbit of its pin: a red dot in a circle.
static void the_symbol_of_a_joint_opens_its_orbit(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("slider_crank/all_play.json", 0.004);
    view_source_wait(s.source, INFINITY);
    move_to(&s, 600, 500);
    key(&s, XK_End, false);
    key(&s, XK_c, false);
    unsigned char* plain = read_window(&s);
    key(&s, XK_j, false);
    double x0, y0, x, y;
    view_window_viewport(s.window, &x0, &y0);
    const ViewJoint* joint = &s.v->scene.joint[1];
    Vec3 at = pose_point(view_world_body(&s.v->frame, joint->body_a), joint->a_joint.r);
    assert_true(view_camera_project(&s.v->camera, at, &x, &y));
    unsigned char* symbols = read_window(&s);
    int left = (int)(x0 + x) - 15, up = (int)(y0 + y) - 15;
    assert_true(differences(plain, symbols, left, left + 30, up, up + 30) > 20);
    click(&s, x0 + x, y0 + y);
    assert_int_equal(s.v->selected_joint, 1);
    pump(&s, 2);
    unsigned char* orbit = read_window(&s);
    int red = 0, red_before = 0;
    for (int row = PLOTS; row < 540; ++row) {
        for (int column = RIGHT + 20; column < WIDTH - 20; ++column) {
            const unsigned char *p = orbit + 3 * (row * WIDTH + column),
                                *q = symbols + 3 * (row * WIDTH + column);
            red += p[0] == 200 && p[1] == 40 && p[2] == 34;
            red_before += q[0] == 200 && q[1] == 40 && q[2] == 34;
        }
    }
    assert_in_range(red, 20, 120);
    assert_int_equal(red_before, 0);
    lash_free(plain);
    lash_free(symbols);
    lash_free(orbit);
    close_stage(&s);
}

// Contact points of a joint, or of a contact with several, are one line of the tree.
static void contact_points_are_one_line_that_opens(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/rocking_block.json", 0.001);
    view_source_wait(s.source, INFINITY);
    s.v->playback.playing = false;
    int joints = s.v->scene.joints > 0 ? 1 : 0;
    assert_int_equal(s.v->scene.contacts, 4);
    // filter, heading of the parts, parts, heading of the contacts
    double y = 20 + 24 + 19 * (s.v->scene.parts + 1) + 23 * joints + 24;
    click(&s, 60, y);
    assert_int_equal(s.v->selected_contact, -1); // the line opens
    click(&s, 60, y + 19);
    assert_int_equal(s.v->selected_contact, 0);
    click(&s, 60, y + 3 * 19);
    assert_int_equal(s.v->selected_contact, 2);
    close_stage(&s);
}

static void timeline_is_dragged(void** state) {
    (void)state;
    if (sender == NULL) skip();
    Stage s = open_stage("papers/slider_crank_play.json", 0.01);
    view_source_wait(s.source, INFINITY);
    pump(&s, 2);
    double y = HEIGHT - 25 - 58 + 28;
    click(&s, WIDTH - 300, y);
    assert_false(s.v->playback.playing);
    double first = s.v->playback.time;
    assert_true(first > 0.1 * 0.01 && first < 0.95 * 0.01);
    drag(&s, 1, WIDTH - 300, y, 150, 0);
    assert_true(s.v->playback.time > first);
    drag(&s, 1, WIDTH - 150, y, 300, 0); // beyond the end of the window
    assert_float_equal(s.v->playback.time, s.v->status.end, 1e-12);
    close_stage(&s);
}

static void texts_grow_on_dense_screens(void** state) {
    (void)state;
    if (sender == NULL) skip();
    ViewSource* source = open_model("first/pendulum.json", 0.01);
    Viewer* v = open_viewer(source);
    ViewWindowOptions o = {WIDTH, HEIGHT, 2, false, "dense"};
    LashError error = {0};
    ViewWindow* window = view_window_create(v, &o, &error);
    assert_non_null(window);
    view_window_step(window);
    double x, y;
    view_window_viewport(window, &x, &y);
    assert_true(v->pixel == 2);
    assert_true(v->camera.height < HEIGHT - 2 * 80); // timeline and status line are twice as high
    view_window_destroy(window);
    viewer_destroy(v);
    view_source_close(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_change_time_and_play_state),
        cmocka_unit_test(keys_change_camera_and_what_is_shown),
        cmocka_unit_test(mouse_turns_moves_and_zooms),
        cmocka_unit_test(click_selects_part_and_face),
        cmocka_unit_test(click_on_a_drafted_joint_shows_its_faces),
        cmocka_unit_test(events_contacts_and_joints_are_selected_everywhere),
        cmocka_unit_test(plots_are_zoomed_moved_and_shown_whole_again),
        cmocka_unit_test(a_second_result_is_laid_over_and_curves_are_saved),
        cmocka_unit_test(escape_closes_what_is_open),
        cmocka_unit_test(tree_and_timeline_are_filtered_by_part),
        cmocka_unit_test(the_cursor_tells_the_strongest_event_around_a_tick),
        cmocka_unit_test(the_symbol_of_a_joint_opens_its_orbit),
        cmocka_unit_test(contact_points_are_one_line_that_opens),
        cmocka_unit_test(timeline_is_dragged),
        cmocka_unit_test(texts_grow_on_dense_screens),
        cmocka_unit_test(window_opens_for_every_model),
    };
    cmocka_set_test_filter(getenv("LASH_TEST")); // one of them
    return cmocka_run_group_tests(tests, setup, teardown);
}

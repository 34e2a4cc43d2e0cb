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
        cmocka_unit_test(timeline_is_dragged),
        cmocka_unit_test(texts_grow_on_dense_screens),
        cmocka_unit_test(window_opens_for_every_model),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

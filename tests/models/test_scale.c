// Mechanisms of many bodies in contact: the sparse operator of contacts against the one with full
// matrices, step by step, and what only the sparse one can do. Every model is written by its test.
#include "app/bench/scale_models.h"
#include "app/run/session.h"
#include "model_text.h"
#include "solvers/step/sparse_newton_internal.h"
#include "test.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 }; // fewer steps do
#else
enum { SANITIZED = 0 };
#endif

enum { ROOM = 1 << 18 };

typedef struct Text {
    char* text;
    int used;
} Text;

static Text text_begin(double gravity) {
    Text text = {.text = malloc(ROOM)};
    text.used =
        snprintf(text.text, ROOM, "{'format': 'lash-model/1', 'gravity': [0, 0, %g]", -gravity);
    return text;
}

static void add(Text* text, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text->used +=
        vsnprintf(text->text + text->used, (size_t)(ROOM - text->used), format, arguments);
    va_end(arguments);
    assert_true(text->used < ROOM);
}

static AppSession open_text(Text* text, const char* name, double step) {
    char path[400];
    LashError error = {0};
    AppSession session = {0};
    add(text, ", 'simulation': {'step': %g, 'duration': 1, 'substeps': 256}}", step);
    write_model(name, text->text, path, sizeof path);
    free(text->text);
    AppSessionOptions options = {.step = NAN, .duration = NAN};
    if (!app_session_open(&session, path, &options, &error))
        fail_msg("%s: %s: %s", name, error.where, error.message);
    return session;
}

// --- Models --------------------------------------------------------------------------------------

// Boxes that fall on each other, `apart` between them, the lowest onto the ground at x.
static void add_boxes(Text* text, const char* name, int boxes, double x, double apart) {
    for (int i = 0; i < boxes; ++i)
        add(text,
            "%s{'name': '%s%d', 'shape': {'type': 'box', 'size': [0.1, 0.1, 0.1]}, 'mass': 1, "
            "'pose': {'position': [%g, 0, %g]}}",
            i == 0 ? "" : ", ", name, i, x + 0.002 * (i % 3 - 1), 0.05 + 0.1 * i + apart * (i + 1));
}

static void add_faces(Text* text, const char* name, int boxes) {
    for (int i = 0; i < boxes; ++i) {
        add(text, "%s{'name': '%sc%d', 'a': {'part': '", i == 0 ? "" : ", ", name, i);
        if (i == 0)
            add(text, "ground', 'plane': {'point': [0, 0, 0], 'normal': [0, 0, 1]}}");
        else
            add(text, "%s%d', 'plane': {'point': [0, 0, 0.05], 'normal': [0, 0, 1]}}", name, i - 1);
        add(text,
            ", 'b': {'part': '%s%d', 'box': {'corners': [[1, 1, -1], [1, -1, -1], [-1, 1, -1], "
            "[-1, -1, -1]]}}, 'friction': 0.5, 'restitution': 0}",
            name, i);
    }
}

static AppSession stack_of(int boxes, double apart) {
    Text text = text_begin(9.81);
    add(&text, ", 'parts': [");
    add_boxes(&text, "b", boxes, 0, apart);
    add(&text, "], 'contacts': [");
    add_faces(&text, "b", boxes);
    add(&text, "]");
    return open_text(&text, "stack.json", 1e-3);
}

static AppSession stack(int boxes) {
    return stack_of(boxes, 1e-4);
}

// Links that hang from the ground by pins with play, and swing.
static void add_links(Text* text, const char* name, int links) {
    for (int i = 0; i < links; ++i)
        add(text,
            "%s{'name': '%s%d', 'shape': {'type': 'box', 'size': [0.1, 0.01, 0.02]}, 'mass': 0.1, "
            "'pose': {'position': [0, 0, %g], 'axis': [0, 1, 0], 'angle': 1.5707963267948966}, "
            "'angular_velocity': [0, 1, 0], 'velocity': [%g, 0, 0]}",
            i == 0 ? "" : ", ", name, i, -0.0501 - 0.1001 * i, -0.0501 - 0.1001 * i);
}

static void add_pins(Text* text, const char* name, int links) {
    for (int i = 0; i < links; ++i) {
        add(text, "%s{'name': '%sj%d', 'type': 'revolute', 'b': '%s%d', ", i == 0 ? "" : ", ", name,
            i, name, i);
        if (i == 0)
            add(text, "'a': 'ground', 'a_point': [0, 0, 0], ");
        else
            add(text, "'a': '%s%d', 'a_point': [0.05, 0, 0], ", name, i - 1);
        add(text,
            "'a_axis': [0, 1, 0], 'b_point': [-0.05, 0, 0], 'b_axis': [0, 1, 0], "
            "'clearance': 1e-4, 'radius': 0.005, 'length': 0.02, 'friction': 0.1}");
    }
}

static AppSession chain(int links) {
    Text text = text_begin(9.81);
    add(&text, ", 'parts': [");
    add_links(&text, "l", links);
    add(&text, "], 'joints': [");
    add_pins(&text, "l", links);
    add(&text, "]");
    return open_text(&text, "chain.json", 2e-5);
}

// Two ideal pendulums, one with friction in its pin, that meet a wall with their ends.
static AppSession pendulums(double friction) {
    Text text = text_begin(9.81);
    add(&text, ", 'parts': [");
    for (int i = 0; i < 2; ++i)
        add(&text,
            "%s{'name': 'p%d', 'shape': {'type': 'box', 'size': [0.2, 0.02, 0.02]}, 'mass': 0.3, "
            "'pose': {'position': [0.1, %g, 0]}}",
            i == 0 ? "" : ", ", i, 0.1 * i);
    add(&text, "], 'joints': [");
    for (int i = 0; i < 2; ++i)
        add(&text,
            "%s{'name': 'j%d', 'type': 'revolute', 'a': 'ground', 'b': 'p%d', 'point': [0, %g, 0], "
            "'axis': [0, 1, 0]%s}",
            i == 0 ? "" : ", ", i, i, 0.1 * i, i == 0 ? "" : ", 'friction': 0.2, 'radius': 0.01");
    add(&text, "], 'contacts': [");
    for (int i = 0; i < 2; ++i)
        add(&text,
            "%s{'name': 'c%d', 'a': {'part': 'ground', 'plane': {'point': [0, 0, -0.03], 'normal': "
            "[0, 0, 1]}}, 'b': {'part': 'p%d', 'box': {'corners': [[1, 1, -1], [1, -1, -1]]}}, "
            "'friction': %g, 'restitution': 0.5}",
            i == 0 ? "" : ", ", i, i, friction);
    add(&text, "]");
    return open_text(&text, "pendulums.json", 1e-4);
}

// As lash-make-scale writes it.
static AppSession scale_model(AppScaleModel model, int n) {
    char path[400], name[80];
    char* text = NULL;
    size_t length = 0;
    LashError error = {0};
    AppSession session = {0};
    FILE* file = open_memstream(&text, &length);
    app_scale_write(model, n, file);
    fclose(file);
    snprintf(name, sizeof name, "%s.json", app_scale_name(model));
    write_model(name, text, path, sizeof path);
    free(text);
    AppSessionOptions options = {.step = NAN, .duration = NAN};
    if (!app_session_open(&session, path, &options, &error))
        fail_msg("%s: %s: %s", name, error.where, error.message);
    return session;
}

// --- Both operators ------------------------------------------------------------------------------

// Turning velocities count at the radius of gyration [m, m/s].
static double state_difference(const AppSession* a, const AppSession* b) {
    const double *qa, *va, *qb, *vb, *weight = a->sim->weight;
    double largest = 0;
    lash_sim_state(a->sim, &qa, &va);
    lash_sim_state(b->sim, &qb, &vb);
    for (int i = 0; i < a->system->nq; ++i) largest = fmax(largest, fabs(qa[i] - qb[i]));
    for (int i = 0; i < a->system->nv; ++i)
        largest = fmax(largest, weight[i] * fabs(va[i] - vb[i]));
    return largest;
}

// Every step by both operators, from the same state; U of the last step is in it, by which contacts rebound. A step
// that one of them takes in parts is another one: every part has its own rebound. most: such steps.
static void agree(AppSession full, AppSession sparse, int steps, int most) {
    int contacts = 0, parts = 0;
    sim_use_sparse(sparse.sim);
    assert_non_null(sparse.sim->operators.sparse);
    assert_int_equal(full.sim->sizes.contacts, sparse.sim->sizes.contacts);
    for (int k = 0; k < steps; ++k) {
        LashStepInfo a = lash_sim_step(full.sim), b = lash_sim_step(sparse.sim);
        assert_int_equal(a.outcome, LASH_CONVERGED);
        assert_int_equal(b.outcome, LASH_CONVERGED);
        contacts += b.contacts;
        double difference = state_difference(&full, &sparse);
        bool same = a.substeps == b.substeps;
        parts += !same;
        if (same && !(difference < 3e-10)) fail_msg("step %d differs by %g", k, difference);
        State *from = &full.sim->now, *to = &sparse.sim->now;
        memcpy(to->q, from->q, (size_t)full.system->nq * sizeof *to->q);
        memcpy(to->v, from->v, (size_t)full.system->nv * sizeof *to->v);
        last_contacts_copy(&from->last, &to->last);
    }
    assert_true(contacts > 0);
    assert_true(parts <= most);
    app_session_close(&full);
    app_session_close(&sparse);
}

static void a_stack_falls_the_same_way_with_both_operators(void** state) {
    (void)state;
    agree(stack(4), stack(4), 120, 0);
}

static void a_chain_with_play_swings_the_same_way_with_both_operators(void** state) {
    (void)state;
    agree(chain(3), chain(3), 600, 0);
}

static void ideal_joints_with_friction_and_contacts_move_the_same_way_with_both_operators(
    void** state) {
    (void)state;
    agree(pendulums(0), pendulums(0), 2000, 0);
    agree(pendulums(0.3), pendulums(0.3), SANITIZED ? 1600 : 3000, 4);
}

// Freedoms that joints take away do not count; above 96 velocities full matrices have no room.
static void many_free_bodies_have_the_sparse_operator_and_few_the_full_one(void** state) {
    (void)state;
    AppSession few = stack(8), some = stack(9), many = stack(17), held = pendulums(0);
    assert_null(few.sim->operators.sparse);
    assert_null(held.sim->operators.sparse);
    assert_non_null(some.sim->operators.sparse);
    assert_non_null(some.sim->operators.contacts);
    assert_non_null(many.sim->operators.sparse);
    assert_null(many.sim->operators.contacts);
    app_session_close(&few);
    app_session_close(&some);
    app_session_close(&many);
    app_session_close(&held);
}

// --- Islands -------------------------------------------------------------------------------------

// Boxes on each other, gap [m] apart at first, and a chain with play that nothing couples with them.
static AppSession boxes_beside_links(int boxes, double gap, int links) {
    Text text = text_begin(9.81);
    add(&text, ", 'parts': [");
    add_boxes(&text, "b", boxes, 1, gap);
    add(&text, ", ");
    add_links(&text, "l", links);
    add(&text, "], 'joints': [");
    add_pins(&text, "l", links);
    add(&text, "], 'contacts': [");
    add_faces(&text, "b", boxes);
    add(&text, "]");
    return open_text(&text, "both.json", 2e-5);
}

static void two_mechanisms_in_one_model_move_as_each_alone(void** state) {
    (void)state;
    enum { BOXES = 3, LINKS = 3, STEPS = 400 };
    AppSession both = boxes_beside_links(BOXES, 1e-4, LINKS), alone = chain(LINKS);
    sim_use_sparse(both.sim);
    sim_use_sparse(alone.sim);
    for (int k = 0; k < STEPS / (SANITIZED ? 4 : 1); ++k) {
        const double *q, *v, *q_alone, *v_alone;
        assert_int_equal(lash_sim_step(both.sim).outcome, LASH_CONVERGED);
        assert_int_equal(lash_sim_step(alone.sim).outcome, LASH_CONVERGED);
        lash_sim_state(both.sim, &q, &v);
        lash_sim_state(alone.sim, &q_alone, &v_alone);
        const double* weight = alone.sim->weight;
        for (int i = 0; i < alone.system->nq; ++i)
            assert_float_equal(q[7 * BOXES + i], q_alone[i], 1e-11);
        for (int i = 0; i < alone.system->nv; ++i)
            assert_float_equal(weight[i] * v[6 * BOXES + i], weight[i] * v_alone[i], 1e-9);
    }
    app_session_close(&both);
    app_session_close(&alone);
}

// Boxes that rest beside links that swing.
static void what_rests_costs_no_correction_while_others_move(void** state) {
    (void)state;
    enum { BOXES = 3, LINKS = 3 };
    AppSession session = boxes_beside_links(BOXES, 0, LINKS);
    sim_use_sparse(session.sim);
    const Islands* islands = session.sim->operators.sparse;
    int resting = 0, moving = 0;
    for (int k = 0; k < 200; ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.position_error <= 1e-10 && info.velocity_error <= 1e-10);
        assert_true(islands->of_block[0] != islands->of_block[BOXES]);
        if (k < 100) continue;
        resting += islands->convergence[islands->of_block[0]].i;
        moving += islands->convergence[islands->of_block[BOXES]].i;
    }
    assert_int_equal(resting, 0);
    assert_true(moving >= 100);
    app_session_close(&session);
}

// Balls in a row on a plane, the first ones above it.
enum { BALLS = 20, FAR = 3 };

static AppSession row_of_balls(void) {
    Text text = text_begin(9.81);
    add(&text, ", 'parts': [");
    for (int i = 0; i < BALLS; ++i)
        add(&text,
            "%s{'name': 'b%d', 'shape': {'type': 'sphere', 'radius': 0.01}, 'mass': 0.01, "
            "'pose': {'position': [%g, 0, %g]}, 'velocity': [%g, 0, 0]}",
            i == 0 ? "" : ", ", i, 0.0201 * i, i < FAR ? 0.5 : 0.01, i == FAR ? 0.1 : 0.0);
    add(&text,
        ", {'name': 'floor', 'fixed': true, 'shape': {'type': 'box', 'size': [2, 2, 0.1]}, 'pose': "
        "{'position': [0, 0, -0.05]}}], 'contacts': [{'name': 'all', 'among': ['*'], 'friction': "
        "0.1}]");
    return open_text(&text, "row.json", 1e-4);
}

// Every one is an island until they meet.
static void islands_follow_the_contacts_of_the_step(void** state) {
    (void)state;
    AppSession session = row_of_balls();
    assert_non_null(session.sim->operators.sparse);
    const Islands* islands = session.sim->operators.sparse;
    int fewest = BALLS;
    for (int k = 0; k < 60; ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.penetration <= 1e-10);
        if (k == 5) assert_int_equal(islands->count, BALLS - FAR + 1); // those in the air are one
        if (islands->count < fewest) fewest = islands->count;
    }
    assert_true(fewest < BALLS - FAR + 1);
    app_session_close(&session);
}

// Balls that fall onto each other in a shaft, so many along each side: more contacts than balls, and loops.
static AppSession balls_in_a_shaft_of(int along, int balls) {
    Text text = text_begin(9.81);
    int layer = along * along;
    add(&text, ", 'parts': [");
    for (int i = 0; i < balls; ++i) {
        double x = 0.0201 * (i % along), y = 0.0201 * (i / along % along),
               z = 0.0101 + 0.0201 * (i / layer);
        add(&text,
            "{'name': 'b%d', 'shape': {'type': 'sphere', 'radius': 0.01}, 'mass': 0.01, 'pose': "
            "{'position': [%g, %g, %g]}, 'velocity': [0, 0, %g]}, ",
            i, x + 0.0003 * (i / layer % 2), y + 0.0001 * (i % 3), z, -0.2);
    }
    for (int k = 0; k < 4; ++k) {
        double side = k % 2 == 0 ? 0.0201 * (along - 1) + 0.0401 : -0.0401;
        add(&text,
            "{'name': 'wall%d', 'fixed': true, 'shape': {'type': 'box', 'size': [%g, %g, 1]}, "
            "'pose': {'position': [%g, %g, 0.5]}}, ",
            k, k < 2 ? 0.0595 : 0.3, k < 2 ? 0.3 : 0.0595, k < 2 ? side : 0.01,
            k < 2 ? 0.01 : side);
    }
    add(&text,
        "{'name': 'floor', 'fixed': true, 'shape': {'type': 'box', 'size': [2, 2, 0.1]}, "
        "'pose': {'position': [0, 0, -0.05]}}], 'contacts': [{'name': 'all', 'among': ['b*'], "
        "'friction': 0.3}, {'name': 'sides', 'between': [['b*'], ['wall*', 'floor']], "
        "'friction': 0.3}]");
    return open_text(&text, "shaft.json", 1e-4);
}

static AppSession balls_in_a_shaft(int balls) {
    return balls_in_a_shaft_of(2, balls);
}

static bool any_split(const LashSim* sim) {
    const Islands* islands = sim->operators.sparse;
    bool split = false;
    for (int k = 0; k < islands->count; ++k) split = split || islands->island[k]->split;
    return split;
}

static void note_foreseen(void* context, const LashAttempt* attempt) {
    int* foreseen = context;
    *foreseen += attempt->iterations == 0 && strcmp(attempt->outcome, "grows") == 0;
}

// Contacts that the motion of the last steps closes enter the set before the first pass, not after it.
static void what_the_motion_closes_enters_the_set_at_once(void** state) {
    (void)state;
    AppSession session = balls_in_a_shaft(32);
    int foreseen = 0;
    lash_sim_set_trace(session.sim, note_foreseen, &foreseen);
    for (int k = 0; k < 60; ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.penetration <= 1e-10);
    }
    print_message("%d sets foreseen\n", foreseen);
    assert_true(foreseen > 0);
    app_session_close(&session);
}

static bool any_pile(const LashSim* sim) {
    const Islands* islands = sim->operators.sparse;
    bool pile = false;
    for (int k = 0; k < islands->count; ++k) pile = pile || islands->island[k]->pile;
    return pile;
}

// Sliding balls make the matrix of a pile nearly singular, or indefinite: Newton alone then runs in circles.
static void a_pile_of_balls_is_held_near_the_impulses_of_sweeps(void** state) {
    (void)state;
    AppSession session = balls_in_a_shaft_of(5, 200);
    int piles = 0, solver = 0, most = 0, steps = SANITIZED ? 60 : 300;
    for (int k = 0; k < steps; ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_int_equal(info.substeps, 1);
        assert_true(info.penetration <= 1e-10);
        piles += any_pile(session.sim);
        solver += info.solver;
        if (info.solver > most) most = info.solver;
    }
    print_message("%d steps with a pile, %.1f iterations per step, %d at most\n", piles,
                  (double)solver / steps, most);
    assert_true(piles > steps / 5);
    app_session_close(&session);
}

static void a_wall_settles_with_matrices_of_velocities_and_positions(void** state) {
    (void)state;
    AppSession one = scale_model(APP_SCALE_WALL, 60);
    int split = 0;
    for (int k = 0; k < 100; ++k) {
        LashStepInfo info = lash_sim_step(one.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.penetration <= 1e-10);
        split += any_split(one.sim);
    }
    print_message("%d steps with a split\n", split);
    assert_true(split > 30);
    app_session_close(&one);
    agree(balls_in_a_shaft(8), balls_in_a_shaft(8), 60, 0);
}

static void goes_on_with_the_same_bits(AppSession (*open)(void)) {
    AppSession one = open();
    for (int k = 0; k < 60; ++k) {
        assert_int_equal(lash_sim_step(one.sim).outcome, LASH_CONVERGED);
        if (k % 12 != 3) continue;
        LashError error = {0};
        AppSession two = open();
        size_t bytes = lash_sim_save(one.sim, NULL, 0);
        void* saved = malloc(bytes);
        assert_int_equal(lash_sim_save(one.sim, saved, bytes), bytes);
        assert_true(lash_sim_restore(two.sim, saved, bytes, &error));
        for (int i = 0; i < 8; ++i, ++k) {
            assert_int_equal(lash_sim_step(one.sim).outcome, LASH_CONVERGED);
            assert_int_equal(lash_sim_step(two.sim).outcome, LASH_CONVERGED);
            size_t nq = (size_t)one.system->nq * sizeof(double);
            size_t nv = (size_t)one.system->nv * sizeof(double);
            assert_memory_equal(one.sim->now.q, two.sim->now.q, nq);
            assert_memory_equal(one.sim->now.v, two.sim->now.v, nv);
        }
        free(saved);
        app_session_close(&two);
    }
    app_session_close(&one);
}

static AppSession sixteen_balls(void) {
    return balls_in_a_shaft(16);
}

static AppSession two_hundred_balls(void) { // the room of the run grows while they land
    return balls_in_a_shaft_of(5, 200);
}

static AppSession wall_of_60(void) {
    return scale_model(APP_SCALE_WALL, 60);
}

static void a_saved_run_of_islands_goes_on_with_the_same_bits(void** state) {
    (void)state;
    goes_on_with_the_same_bits(row_of_balls);
    goes_on_with_the_same_bits(sixteen_balls);
    goes_on_with_the_same_bits(two_hundred_balls);
    goes_on_with_the_same_bits(wall_of_60);
}

// --- Large ones ----------------------------------------------------------------------------------

static void large(AppSession session, int steps, double* solver) {
    int sum = 0;
    assert_non_null(session.sim->operators.sparse);
    if (SANITIZED) steps /= 8;
    for (int k = 0; k < steps; ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.penetration <= 1e-10);
        assert_true(info.position_error <= 1e-10);
        assert_true(info.velocity_error <= 1e-10);
        sum += info.solver;
    }
    *solver = (double)sum / steps;
    app_session_close(&session);
}

static void a_stack_of_30_boxes_comes_to_rest(void** state) {
    (void)state;
    double solver;
    large(stack(30), 60, &solver);
    assert_true(solver < 5);
}

// 17 impacts, one after the other, under all that lies below: impulses of the one before are no guess
// for those after it, and what neither pushes nor moves sticks.
static void boxes_that_fall_one_by_one_settle_in_few_iterations(void** state) {
    (void)state;
    double solver;
    large(stack_of(17, 1e-3), 120, &solver);
    assert_true(solver < 3);
}

static void a_chain_of_40_links_swings(void** state) {
    (void)state;
    double solver;
    large(chain(40), 150, &solver);
    assert_true(solver < 20);
}

// --- Long chatter --------------------------------------------------------------------------------

// Four-bars in a row that move at once, with friction in every pin: ends of pins lift and touch by 1e-10 m.
static AppSession four_bars(int windows) {
    Text text = text_begin(9.81);
    add(&text, ", 'parts': [");
    for (int i = 0; i <= windows; ++i)
        add(&text,
            "%s{'name': 'v%d', 'shape': {'type': 'box', 'size': [0.2, 0.01, 0.02]}, 'mass': 0.1, "
            "'pose': {'position': [%g, 0, 0.1], 'axis': [0, 1, 0], 'angle': -1.5707963267948966}, "
            "'velocity': [0.5, 0, 0], 'angular_velocity': [0, 5, 0]}",
            i == 0 ? "" : ", ", i, 0.2 * i);
    for (int i = 0; i < windows; ++i)
        add(&text,
            ", {'name': 'h%d', 'shape': {'type': 'box', 'size': [0.2, 0.01, 0.02]}, 'mass': 0.1, "
            "'pose': {'position': [%g, 0, 0.2]}, 'velocity': [1, 0, 0]}",
            i, 0.2 * i + 0.1);
    add(&text, "], 'joints': [");
    for (int i = 0; i < 3 * windows + 1; ++i) {
        int at = (i - windows - 1) / 2, side = (i - windows - 1) % 2;
        add(&text, "%s{'name': 'j%d', 'type': 'revolute', ", i == 0 ? "" : ", ", i);
        if (i <= windows)
            add(&text, "'a': 'ground', 'b': 'v%d', 'point': [%g, 0, 0], ", i, 0.2 * i);
        else
            add(&text, "'a': 'h%d', 'b': 'v%d', 'point': [%g, 0, 0.2], ", at, at + side,
                0.2 * (at + side));
        add(&text,
            "'axis': [0, 1, 0], 'clearance': 1e-4, 'radius': 0.005, 'length': 0.02, "
            "'friction': 0.1}");
    }
    add(&text, "]");
    return open_text(&text, "four_bars.json", 2e-5);
}

static void a_row_of_ten_four_bars_chatters_in_few_iterations(void** state) {
    (void)state;
    double solver;
    large(four_bars(10), 1000, &solver);
    print_message("%g iterations per step\n", solver);
    assert_true(solver < 12);
}

// Three steps of this row do, where stones slide and turn about their edges at once.
static void full_matrices_answer_where_the_sparse_operator_does_not(void** state) {
    (void)state;
    AppSession session = scale_model(APP_SCALE_DOMINOES, 12);
    int full = 0, sparse = 0;
    for (int k = 0; k < 1900; ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.position_error <= 1e-10 && info.velocity_error <= 1e-10);
        full += session.sim->experience.full_steps > 0;
        sparse += session.sim->experience.full_steps == 0 && info.contacts > 0;
    }
    assert_true(full > 0 && sparse > 1000);
    app_session_close(&session);
}

// --- Hard ratios ---------------------------------------------------------------------------------

// A rotor at 1e5 rad/s in two plain bearings that whirls: one radian per step, friction of 500 m/s.
static AppSession rotor(void) {
    Text text = text_begin(0);
    add(&text,
        ", 'parts': [{'name': 'r', 'mass': 0.5, 'center': [1e-6, 0, 0], 'inertia': [0.001, 0.001, "
        "0.0005], 'shape': {'type': 'cylinder', 'radius': 0.05, 'length': 0.05}, "
        "'angular_velocity': [0, 0, 1e5], 'velocity': [0, 5, 0]}], 'joints': [");
    for (int i = 0; i < 2; ++i)
        add(&text,
            "{'name': 'b%d', 'type': 'cylindrical', 'a': 'ground', 'b': 'r', 'point': [0, 0, %g], "
            "'axis': [0, 0, 1], 'clearance': 5e-5, 'radius': 0.005, 'length': 0.01, 'friction': "
            "0.1}, ",
            i, 0.1 * i - 0.05);
    add(&text,
        "{'name': 'ax', 'type': 'point_on_plane', 'a': 'ground', 'b': 'r', 'point': [0, 0, "
        "0], 'axis': [0, 0, 1]}]");
    return open_text(&text, "rotor.json", 1e-5);
}

typedef struct Work {
    const LashSim* sim;
    int iterations, factors; // of an attempt, of an island in it, at most
} Work;

static void note_work(void* context, const LashAttempt* attempt) {
    Work* work = context;
    const Islands* islands = work->sim->operators.sparse;
    if (attempt->solver > work->iterations) work->iterations = attempt->solver;
    for (int k = 0; islands != NULL && k < islands->count; ++k)
        if (islands->island[k]->factors > work->factors)
            work->factors = islands->island[k]->factors;
}

// Once 170 000 iterations of the contact solver in one step, by an operator that took velocities and
// positions in turn; now the one that couples them goes on while it comes nearer, and is cut.
static void whirl(bool sparse) {
    AppSession session = rotor();
    Work work = {.sim = session.sim};
    int parts = 0;
    if (sparse) sim_use_sparse(session.sim);
    lash_sim_set_trace(session.sim, note_work, &work);
    for (int k = 0; k < (SANITIZED ? 60 : 300); ++k) {
        LashStepInfo info = lash_sim_step(session.sim);
        assert_int_equal(info.outcome, LASH_CONVERGED);
        assert_true(info.penetration <= 1e-10);
        assert_true(info.position_error <= 1e-10);
        assert_true(info.velocity_error <= 1e-10);
        parts += info.substeps > 1;
    }
    print_message("%d steps in parts, at most %d iterations and %d factors in an attempt\n", parts,
                  work.iterations, work.factors);
    assert_true(SANITIZED || parts > 5);
    assert_true(work.iterations < 500);
    assert_true(work.factors <= 200);
    app_session_close(&session);
}

static void a_rotor_that_turns_by_a_radian_in_a_step_whirls_at_bounded_cost(void** state) {
    (void)state;
    whirl(false);
    whirl(true);
}

RUN(TEST(a_stack_falls_the_same_way_with_both_operators),
    TEST(a_chain_with_play_swings_the_same_way_with_both_operators),
    TEST(ideal_joints_with_friction_and_contacts_move_the_same_way_with_both_operators),
    TEST(many_free_bodies_have_the_sparse_operator_and_few_the_full_one),
    TEST(full_matrices_answer_where_the_sparse_operator_does_not),
    TEST(two_mechanisms_in_one_model_move_as_each_alone),
    TEST(what_rests_costs_no_correction_while_others_move),
    TEST(islands_follow_the_contacts_of_the_step),
    TEST(what_the_motion_closes_enters_the_set_at_once),
    TEST(a_pile_of_balls_is_held_near_the_impulses_of_sweeps),
    TEST(a_wall_settles_with_matrices_of_velocities_and_positions),
    TEST(a_saved_run_of_islands_goes_on_with_the_same_bits),
    TEST(a_stack_of_30_boxes_comes_to_rest),
    TEST(boxes_that_fall_one_by_one_settle_in_few_iterations), TEST(a_chain_of_40_links_swings),
    TEST(a_row_of_ten_four_bars_chatters_in_few_iterations),
    TEST(a_rotor_that_turns_by_a_radian_in_a_step_whirls_at_bounded_cost))

// Loads by state: expressions of forces that read coordinates of joints and parts. A controlled
// cart-pole against its linear solution, order 2, Newton's iterations, units, and wrong names.
#include <cjson/cJSON.h>
#include <math.h>
#include "test.h"

#include "model_text.h"

typedef struct Result {
    double output[2], newton, energy_error, work;
} Result;

static double number_at(const cJSON* json, const char* key) {
    const cJSON* item = cJSON_GetObjectItem(json, key);
    if (cJSON_IsObject(item)) item = cJSON_GetObjectItem(item, "value");
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static Result run(const char* text) {
    char path[300];
    write_model("state.json", text, path, sizeof path);
    Outcome o = LASH("run", path, "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    const cJSON* outputs = cJSON_GetObjectItem(json, "outputs");
    const cJSON* iterations = cJSON_GetObjectItem(json, "iterations");
    const cJSON* energy = cJSON_GetObjectItem(json, "energy");
    Result result = {{number_at(outputs, "a"), number_at(outputs, "b")},
                     number_at(cJSON_GetObjectItem(iterations, "newton"), "avg"),
                     number_at(energy, "balance_error"),
                     number_at(energy, "external_work")};
    cJSON_Delete(json);
    outcome_free(&o);
    return result;
}

#define CART_POLE                                                                              \
    "{'format': 'lash-model/1', 'gravity': [0, 0, -9.81], 'parts': [{'name': 'cart', 'mass': " \
    "1, 'inertia': [1, 1, 1]}, {'name': 'pole', 'mass': 0.1, 'inertia': [0.01, 0.01, 0.01], "  \
    "'pose': {'position': [0, 0, 0.5]}, 'velocity': [5e-5, 0, 0], 'angular_velocity': [0, "    \
    "1e-4, 0]}], 'joints': [{'name': 'slide', 'type': 'prismatic', 'a': 'ground', 'b': "       \
    "'cart', 'point': [0, 0, 0], 'axis': [1, 0, 0]}, {'name': 'hinge', 'type': 'revolute', "   \
    "'a': 'cart', 'b': 'pole', 'point': [0, 0, 0], 'axis': [0, 1, 0]}], 'forces': [%s], "      \
    "'simulation': {'step': %g, 'duration': 1}, 'outputs': [{'name': 'a', 'quantity': "        \
    "'coordinate', 'of': 'hinge'}, {'name': 'b', 'quantity': 'coordinate', 'of': 'slide'}]}"

static Result cart_pole(const char* force, double h) {
    char text[3000];
    snprintf(text, sizeof text, CART_POLE, force, h);
    return run(text);
}

// (x, angle, rates)' = A (x, angle, rates), by Runge and Kutta in steps of 1e-4: error 1e-14.
static void linear_solution(double y[4]) {
    const double M = 1, m = 0.1, l = 0.5, I = 0.01, g = 9.81;
    const double a = M + m, b = m * l, c = I + m * l * l, det = a * c - b * b;
    y[0] = y[1] = y[2] = 0;
    y[3] = 1e-4;
    for (int step = 0; step < 10000; ++step) {
        double k[4][4], at[4];
        const double share[4] = {0, 0.5, 0.5, 1}, h = 1e-4;
        for (int s = 0; s < 4; ++s) {
            for (int i = 0; i < 4; ++i) at[i] = y[i] + (s > 0 ? share[s] * h * k[s - 1][i] : 0);
            double F = at[0] + 20 * at[1] + 2 * at[2] + 4 * at[3], T = m * g * l * at[1];
            k[s][0] = at[2];
            k[s][1] = at[3];
            k[s][2] = (c * F - b * T) / det;
            k[s][3] = (a * T - b * F) / det;
        }
        for (int i = 0; i < 4; ++i) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static const char* const controls[] = {
    "{'name': 'c', 'type': 'joint_force', 'joint': 'slide', 'force': '20*hinge.angle + "
    "4*hinge.speed + x + 2*v'}",
    "{'name': 'c', 'type': 'force', 'part': 'cart', 'force': ['20*hinge.angle + "
    "4*hinge.angle.speed + slide.displacement + 2*slide.speed', 0, 0]}",
    "{'name': 'c', 'type': 'force', 'part': 'cart', 'force': ['40*(pole.position.x - "
    "cart.position.x) + 4*pole.angular_velocity.y + cart.position.x + 2*cart.velocity.x', 0, 0]}",
};

static void a_controlled_cart_pole_follows_its_linear_solution(void** state) {
    (void)state;
    double exact[4];
    linear_solution(exact);
    for (size_t i = 0; i < sizeof controls / sizeof *controls; ++i) {
        double error[2];
        for (int k = 0; k < 2; ++k) {
            Result result = cart_pole(controls[i], k == 0 ? 2e-3 : 1e-3);
            error[k] = fmax(fabs(result.output[0] - exact[1]), fabs(result.output[1] - exact[0]));
            assert_true(fabs(result.energy_error) < 1e-14);
        }
        if (!(error[1] < 1e-9) || !(fabs(error[0] / error[1] - 4) < 0.1))
            fail_msg("control %zu: errors %g, %g", i, error[0], error[1]);
    }
}

static void newton_needs_no_more_iterations_than_without(void** state) {
    (void)state;
    Result plain = cart_pole(
        "{'name': 'c', 'type': 'joint_force', 'joint': 'slide', 'force': "
        "'1e-4*sin(20*t)'}",
        2e-3);
    for (size_t i = 0; i < sizeof controls / sizeof *controls; ++i) {
        Result result = cart_pole(controls[i], 2e-3);
        if (!(result.newton <= plain.newton + 0.05))
            fail_msg("%g iterations, %g without", result.newton, plain.newton);
    }
}

// Two pendulums in degrees and millimetres; the torque on one reads the other.
#define PENDULUMS                                                                               \
    "{'format': 'lash-model/1', 'units': {'length': 'mm', 'angle': 'deg'}, 'gravity': [0, "     \
    "-9810, 0], 'parts': [{'name': 'p', 'mass': 1, 'inertia': [800, 800, 800], 'pose': "        \
    "{'position': [100, 0, 0]}}, {'name': 'q', 'mass': 2, 'inertia': [900, 900, 900], 'pose': " \
    "{'position': [450, -50, 0]}}], 'joints': [{'name': 'j', 'type': 'revolute', 'a': "         \
    "'ground', 'b': 'p', 'point': [0, 0, 0], 'axis': [0, 0, 1]}, {'name': 'k', 'type': "        \
    "'revolute', 'a': 'ground', 'b': 'q', 'point': [400, 0, 0], 'axis': [0, 0, 1]}], "          \
    "'forces': [{'name': 'f', 'type': 'joint_force', 'joint': 'j', 'force': '%s'}], "           \
    "'simulation': {'step': %g, 'duration': 0.5}, 'outputs': [{'name': 'a', 'quantity': "       \
    "'coordinate', 'of': 'j'}, {'name': 'b', 'quantity': 'coordinate', 'of': 'k'}]}"

static Result pendulums(const char* force, double h) {
    char text[3000];
    snprintf(text, sizeof text, PENDULUMS, force, h);
    return run(text);
}

static void a_pendulum_that_reads_another_body_moves_with_order_two(void** state) {
    (void)state;
    static const char load[] =
        "20*(k.angle - x) + 0.3*k.speed - 0.02*q.velocity.y*sin(q.position.x*pi/180) + "
        "0.1*q.angular_velocity.z";
    double end[4];
    Result result = {0};
    for (int i = 0; i < 4; ++i) {
        result = pendulums(load, 1e-3 / (1 << i));
        end[i] = result.output[0];
    }
    for (int i = 0; i < 2; ++i) {
        double ratio = (end[i] - end[i + 1]) / (end[i + 1] - end[i + 2]);
        if (!(fabs(ratio - 4) < 0.2)) fail_msg("ratio %g", ratio);
    }
    if (!(fabs(result.energy_error) < 1e-5 * fabs(result.work)))
        fail_msg("balance error %g J of %g J", result.energy_error, result.work);
    assert_true(fabs(result.work) > 1e-3);
}

static void readings_come_in_the_units_of_the_model(void** state) {
    (void)state;
    // a force of 1 N mm per degree of another joint is 180/pi/1000 N m per radian
    Result degrees = pendulums("k.angle + 0.01*k.speed + 0.1*q.position.y", 1e-3);
    Result spelled = pendulums("q.position.y*0.1 + k.angle.speed/100 + 1*k.angle", 1e-3);
    assert_true(fabs(degrees.output[0] - spelled.output[0]) < 1e-12);
    Result own = pendulums("-5*x - 0.1*v", 1e-3),
           same = pendulums("-5*j.angle - 0.1*j.speed", 1e-3);
    assert_true(fabs(own.output[0] - same.output[0]) < 1e-12);
    assert_true(own.newton == same.newton);
}

static void what_is_not_there_is_a_model_error(void** state) {
    (void)state;
    static const char* const wrong[][2] = {
        {"kk.angle", "no part or joint is called 'kk'"},
        {"ka.angle", "did you mean"},
        {"k.angel", "forces read angle, angle.speed"},
        {"q.angle", "of a part forces read position.x"},
        {"q.position", "of a part forces read"},
        {"q.position.w", "of a part forces read"},
        {"f.force", "no part or joint is called 'f'"},
        {"ground.position.x", "no part or joint is called 'ground'"},
        {"q.position.x.y", "of a part forces read"},
        {"k.", "expected"},
        {".angle", "expected"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        char text[3000], path[300];
        snprintf(text, sizeof text, PENDULUMS, wrong[i][0], 1e-3);
        write_model("wrong.json", text, path, sizeof path);
        Outcome o = LASH("check", path);
        if (o.code != 3 || strstr(o.err, wrong[i][1]) == NULL)
            fail_msg("%s: code %d, %s", wrong[i][0], o.code, o.err);
        assert_non_null(strstr(o.err, "forces[0].force"));
        outcome_free(&o);
    }
}

static void drivers_and_outputs_of_forces_cannot_be_read(void** state) {
    (void)state;
    char path[300];
    write_model("driver.json",
                "{'format': 'lash-model/1', 'parts': [{'name': 'p', 'mass': 1, 'inertia': [1, 1, "
                "1]}], 'joints': [{'name': 'j', 'type': 'revolute', 'a': 'ground', 'b': 'p', "
                "'point': [0, 0, 0], 'axis': [0, 0, 1], 'driver': {'speed': '2*j.angle'}}], "
                "'simulation': {'step': 1e-3, 'duration': 1}}",
                path, sizeof path);
    Outcome o = LASH("check", path);
    assert_int_equal(o.code, 3);
    assert_non_null(strstr(o.err, "only forces may read"));
    outcome_free(&o);
}

// Names with other signs stand in quotes, which the JSON text of these tests has no room for.
static void names_in_quotes_are_read(void** state) {
    (void)state;
    static const char model[] =
        "{\"format\": \"lash-model/1\", \"parts\": [{\"name\": \"p\", \"mass\": 1, \"inertia\": "
        "[1, 1, 1], \"angular_velocity\": [0, 0, 1]}], \"joints\": [{\"name\": \"ground-p 1\", "
        "\"type\": \"revolute\", \"a\": \"ground\", \"b\": \"p\", \"point\": [0, 0, 0], "
        "\"axis\": [0, 0, 1]}], \"forces\": [{\"name\": \"f\", \"type\": \"torque\", \"part\": "
        "\"p\", \"torque\": [0, 0, \"-4*'ground-p 1'.angle\"]}], \"simulation\": {\"step\": "
        "1e-3, \"duration\": 1}, \"outputs\": [{\"name\": \"a\", \"quantity\": \"coordinate\", "
        "\"of\": \"ground-p 1\"}]}";
    char path[300];
    FILE* file = fopen(scratch_file("quotes.json", path, sizeof path), "w");
    assert_non_null(file);
    fputs(model, file);
    fclose(file);
    Outcome o = LASH("run", path, "--json");
    if (o.code != 0) print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    cJSON* json = cJSON_Parse(o.out);
    double angle = number_at(cJSON_GetObjectItem(json, "outputs"), "a");
    assert_true(fabs(angle - 0.5 * sin(2)) < 1e-6); // x'' = -4 x
    cJSON_Delete(json);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_controlled_cart_pole_follows_its_linear_solution),
        cmocka_unit_test(newton_needs_no_more_iterations_than_without),
        cmocka_unit_test(a_pendulum_that_reads_another_body_moves_with_order_two),
        cmocka_unit_test(readings_come_in_the_units_of_the_model),
        cmocka_unit_test(what_is_not_there_is_a_model_error),
        cmocka_unit_test(drivers_and_outputs_of_forces_cannot_be_read),
        cmocka_unit_test(names_in_quotes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}

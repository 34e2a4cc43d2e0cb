// "part": parts of an assembly in a model: placed where the assembly has them, with their own mass
// and faces only; wrong paths are refused with those that there are.
#include "test.h"

#include "app/lash.h"
#include "geometry/extract.h"
#include "geometry/solid.h"
#include "model_text.h"

static char step[400];

static int make_parts(void** state) {
    (void)state;
    make_assembly(
        "asm",
        "{'name': 'base', 'steps': [{'box': {'size': [10, 20, 30]}}]},"
        "{'name': 'group', 'at': [0, 0, 100], 'parts': ["
        " {'name': 'pin', 'steps': [{'cylinder': {'radius': 2, 'length': 10}}], 'at': [5, 0, 0]},"
        " {'name': 'ball', 'steps': [{'sphere': {'radius': 3}}], 'at': [-5, 0, 0]}]}",
        step, sizeof step);
    return 0;
}

static LashModel* load(const char* part, LashError* error) {
    char text[1500], path[400];
    snprintf(text, sizeof text,
             "{'format': 'lash-model/1', 'units': {'length': 'mm', 'mass': 'g'}, 'parts': "
             "[{'name': 'x', "
             "'step': 'asm.step', %s 'density': 0.001}], 'simulation': {'step': 1e-4, 'duration': "
             "1e-3}}",
             part);
    write_model("m.json", text, path, sizeof path);
    return lash_model_load(path, NULL, 0, error);
}

static void expect(const char* part, double volume_mm, double x_mm, double z_mm, int faces) {
    LashError error = {0};
    LashModel* model = load(part, &error);
    if (model == NULL) fail_msg("%s: %s", part, error.message);
    const LashModelPart* p = &model->part[0];
    assert_true(fabs(p->mass - 1e-6 * volume_mm) < 1e-15 + 1e-9 * p->mass);
    assert_true(fabs(p->center.x - 1e-3 * x_mm) < 1e-12);
    assert_true(fabs(p->center.z - 1e-3 * z_mm) < 1e-12);
    assert_int_equal(p->cad->faces, faces);
    assert_non_null(lash_shape_solid(p->cad, p->cad->parts - 1)); // inside and outside are known
    assert_true(lash_shape_check(p->cad, &error));
    lash_model_destroy(model);
}

static void parts_have_their_own_mass_and_place(void** state) {
    (void)state;
    double pin = 40 * 3.14159265358979323846, ball = 36 * 3.14159265358979323846;
    expect("'part': 'base',", 6000, 5, 15, 6);
    expect("'part': 'asm/base',", 6000, 5, 15, 6);
    expect("'part': 'pin',", pin, 5, 105, 3);
    expect("'part': ['pin', 'asm/group/ball'],", pin + ball, 5 * (pin - ball) / (pin + ball),
           (105 * pin + 100 * ball) / (pin + ball), 4);
    expect("'part': 'group',", pin + ball, 5 * (pin - ball) / (pin + ball),
           (105 * pin + 100 * ball) / (pin + ball), 4);
}

static void wrong_paths_are_refused(void** state) {
    (void)state;
    static const char* const cases[][2] = {{"'part': 'pine',", "asm/group/pin"},
                                           {"'part': [],", "a text or a list of texts"},
                                           {"'part': [3],", "expected a text"},
                                           {"'part': 3,", "a text or a list of texts"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        LashError error = {0};
        assert_null(load(cases[i][0], &error));
        if (strstr(error.message, cases[i][1]) == NULL) fail_msg("%s", error.message);
    }
}

// Taking all parts out changes nothing but where rows stand.
static void an_extract_of_everything_is_the_same_shape(void** state) {
    (void)state;
    LashError error = {0};
    LashImport import = {0};
    LashShape* shape =
        lash_shape_load(LASH_SOURCE_DIR "/models/cam_follower/parts/cam.step", &import, &error);
    assert_non_null(shape);
    uint8_t all[64];
    memset(all, 1, sizeof all);
    LashShape* copy = lash_shape_extract(shape, all);
    assert_int_equal(copy->faces, shape->faces);
    assert_int_equal(copy->edges, shape->edges);
    assert_int_equal(copy->poles, shape->poles);
    assert_int_equal(copy->triangles, shape->triangles);
    assert_int_equal(copy->lines, shape->lines);
    for (int i = 0; i < shape->edges; ++i) {
        assert_int_equal(copy->edge[i].face[0], shape->edge[i].face[0]);
        assert_int_equal(copy->edge[i].vertex[1], shape->edge[i].vertex[1]);
    }
    lash_shape_destroy(copy);
    lash_shape_destroy(shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_their_own_mass_and_place),
        cmocka_unit_test(wrong_paths_are_refused),
        cmocka_unit_test(an_extract_of_everything_is_the_same_shape),
    };
    return cmocka_run_group_tests(tests, make_parts, remove_scratch);
}

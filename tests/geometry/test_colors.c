// Colours of parts and of single faces, as the STEP file styles them.
#include "geometry/select.h"
#include "test.h"
#include "tests/cad_parts.h"

static CadFolder folder;
static char plain[700], painted[700];

static const char* const paint = // red, in the words of AP214
    "#9001 = COLOUR_RGB('',1.,0.,0.);\n"
    "#9002 = FILL_AREA_STYLE_COLOUR('',#9001);\n"
    "#9003 = FILL_AREA_STYLE('',(#9002));\n"
    "#9004 = SURFACE_STYLE_FILL_AREA(#9003);\n"
    "#9005 = SURFACE_SIDE_STYLE('',(#9004));\n"
    "#9006 = SURFACE_STYLE_USAGE(.BOTH.,#9005);\n"
    "#9007 = PRESENTATION_STYLE_ASSIGNMENT((#9006));\n";

// Copies the file with a red style for the face of that name.
static void paint_face(const char* from, const char* to, const char* face) {
    static char text[100000];
    FILE* in = fopen(from, "r");
    assert_non_null(in);
    size_t size = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[size] = '\0';
    char mark[100];
    snprintf(mark, sizeof mark, " = ADVANCED_FACE('%s'", face);
    char *face_at = strstr(text, mark), *list = strstr(text, "PRESENTATION_REPRESENTATION('',(");
    assert_true(face_at != NULL && list != NULL);
    while (*face_at != '#') --face_at;
    int id = atoi(face_at + 1);
    list = strchr(list, '(') + 5; // behind the opening bracket of the items
    char* end = strstr(list, "ENDSEC;");
    assert_true(end != NULL && list[-1] == '(');
    FILE* out = fopen(to, "w");
    assert_non_null(out);
    fprintf(out, "%.*s#9008,", (int)(list - text), text);
    fprintf(out, "%.*s%s", (int)(end - list), list, paint);
    fprintf(out, "#9008 = STYLED_ITEM('color',(#9007),#%d);\n%s", id, end);
    fclose(out);
}

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    snprintf(plain, sizeof plain, "%s",
             cad_make(&folder, "pin",
                      "{\"format\": \"lash-step/1\", \"name\": \"pin\", \"color\": [0.2, 0.4, "
                      "0.6], \"steps\": [{\"cylinder\": {\"radius\": 3, \"length\": 20, "
                      "\"side\": \"pin\", \"top\": \"lid\"}}]}"));
    snprintf(painted, sizeof painted, "%s/painted.step", folder.path);
    paint_face(plain, painted, "lid");
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

static void part_keeps_its_colour_and_plain_faces_have_none(void** state) {
    (void)state;
    LashError error = {0};
    LashShape* s = lash_shape_load(plain, NULL, &error);
    if (s == NULL) fail_msg("%s", error.message);
    const float expected[4] = {0.2F, 0.4F, 0.6F, 1};
    for (int i = 0; i < 4; ++i) assert_true(fabsf(s->part[0].color[i] - expected[i]) < 1e-3F);
    for (int i = 0; i < s->faces; ++i) assert_true(s->face[i].color[3] == 0);
    lash_shape_destroy(s);
}

static void painted_face_has_its_own_colour(void** state) {
    (void)state;
    for (int pass = 0; pass < 2; ++pass) { // from the file, then from the cache
        LashError error = {0};
        LashShape* s = lash_shape_load(painted, NULL, &error);
        if (s == NULL) fail_msg("%s", error.message);
        int lid = -1;
        assert_int_equal(lash_select_name(s, 0, "lid", &lid, 1, &error), 1);
        assert_true(fabsf(s->part[0].color[2] - 0.6F) < 1e-3F); // the part stays blue
        for (int i = 0; i < s->faces; ++i) {
            const float* c = s->face[i].color;
            if (i == lid)
                assert_true(c[0] == 1 && c[1] == 0 && c[2] == 0 && c[3] == 1);
            else
                assert_true(c[3] == 0);
        }
        lash_shape_destroy(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(part_keeps_its_colour_and_plain_faces_have_none),
        cmocka_unit_test(painted_face_has_its_own_colour),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

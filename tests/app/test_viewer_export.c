// Exports for other programs, opened again by readers of our own: GLB (glTF 2.0) and VTK's XML.
#include <cjson/cJSON.h>
#include "test.h"

#include "app/viewer/export_scene.h"
#include "core/math3.h"
#include "viewer_cases.h"

static char result[300]; // of a run with contacts, made once

static int setup(void** state) {
    (void)state;
    char model[400];
    Outcome o = LASH("run", model_path("papers/slider_crank_play.json", model, sizeof model),
                     "--duration", "0.01", "-o", scratch_file("run.h5", result, sizeof result));
    int code = o.code;
    outcome_free(&o);
    return code;
}

typedef struct Bytes {
    unsigned char* data;
    size_t size;
} Bytes;

static Bytes read_bytes(const char* path) {
    FILE* f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    Bytes b = {NULL, (size_t)ftell(f)};
    rewind(f);
    b.data = malloc(b.size + 1);
    assert_int_equal(fread(b.data, 1, b.size, f), b.size);
    b.data[b.size] = 0;
    fclose(f);
    return b;
}

// ---- GLB ----------------------------------------------------------------------------------------

static uint32_t word(const unsigned char* p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

typedef struct Glb {
    Bytes file;
    cJSON* json;
    const unsigned char* numbers;
    size_t size;
} Glb;

static Glb open_glb(const char* path) {
    Glb g = {.file = read_bytes(path)};
    const unsigned char* p = g.file.data;
    assert_true(g.file.size >= 28 && memcmp(p, "glTF", 4) == 0);
    assert_int_equal(word(p + 4), 2);
    assert_int_equal(word(p + 8), g.file.size);
    uint32_t text = word(p + 12);
    assert_int_equal(text % 4, 0);
    assert_memory_equal(p + 16, "JSON", 4);
    g.json = cJSON_ParseWithLength((const char*)p + 20, text);
    assert_non_null(g.json);
    p += 20 + text;
    assert_memory_equal(p + 4, "BIN\0", 4);
    g.size = word(p);
    g.numbers = p + 8;
    assert_true(g.numbers + g.size == g.file.data + g.file.size);
    return g;
}

static void close_glb(Glb* g) {
    cJSON_Delete(g->json);
    free(g->file.data);
}

static int integer(const cJSON* object, const char* key) {
    const cJSON* item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valueint;
}

// The numbers of an accessor, and how many; every offset is checked against the buffer.
static const void* accessor(const Glb* g, int index, int* count) {
    static const struct {
        const char* name;
        int width;
    } types[] = {{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}};
    const cJSON* a = cJSON_GetArrayItem(cJSON_GetObjectItem(g->json, "accessors"), index);
    const cJSON* view =
        cJSON_GetArrayItem(cJSON_GetObjectItem(g->json, "bufferViews"), integer(a, "bufferView"));
    const char* type = cJSON_GetObjectItem(a, "type")->valuestring;
    int width = 0;
    for (size_t i = 0; i < 3; ++i)
        width = strcmp(types[i].name, type) == 0 ? types[i].width : width;
    assert_true(width > 0);
    int component = integer(a, "componentType");
    assert_true(component == 5126 || component == 5125);
    *count = integer(a, "count");
    size_t offset = (size_t)integer(view, "byteOffset"),
           bytes = (size_t)integer(view, "byteLength");
    assert_int_equal(offset % 4, 0);
    assert_int_equal(bytes, (size_t)*count * (size_t)width * 4);
    assert_true(offset + bytes <= g->size);
    return g->numbers + offset;
}

static void check_primitive(const Glb* g, const cJSON* primitive) {
    const cJSON* attributes = cJSON_GetObjectItem(primitive, "attributes");
    int points, normals, indices;
    const float* p = accessor(g, integer(attributes, "POSITION"), &points);
    const cJSON* a = cJSON_GetArrayItem(cJSON_GetObjectItem(g->json, "accessors"),
                                        integer(attributes, "POSITION"));
    for (int k = 0; k < 3; ++k) { // the bounds that readers rely on
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < points; ++i) {
            low = fminf(low, p[3 * i + k]);
            high = fmaxf(high, p[3 * i + k]);
        }
        assert_float_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(a, "min"), k)->valuedouble, low,
                           0);
        assert_float_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(a, "max"), k)->valuedouble, high,
                           0);
    }
    const uint32_t* index = accessor(g, integer(primitive, "indices"), &indices);
    for (int i = 0; i < indices; ++i) assert_true(index[i] < (uint32_t)points);
    int mode = integer(primitive, "mode");
    assert_int_equal(indices % (mode == 4 ? 3 : 2), 0);
    if (mode != 4) return;
    const float* n = accessor(g, integer(attributes, "NORMAL"), &normals);
    assert_int_equal(normals, points);
    for (int i = 0; i < normals; ++i) {
        double length = sqrt((double)(n[3 * i] * n[3 * i] + n[3 * i + 1] * n[3 * i + 1] +
                                      n[3 * i + 2] * n[3 * i + 2]));
        assert_float_equal(length, 1, 1e-4);
    }
}

// Node `name` moves as the result says, at every key frame.
static void check_motion(const Glb* g, const ViewScene* scene, ViewSource* source) {
    const cJSON* animation = cJSON_GetArrayItem(cJSON_GetObjectItem(g->json, "animations"), 0);
    const cJSON *nodes = cJSON_GetObjectItem(g->json, "nodes"), *channel;
    ViewFrame frame = view_frame_create(scene);
    int checked = 0;
    cJSON_ArrayForEach(channel, cJSON_GetObjectItem(animation, "channels")) {
        const cJSON* target = cJSON_GetObjectItem(channel, "target");
        const cJSON* sampler = cJSON_GetArrayItem(cJSON_GetObjectItem(animation, "samplers"),
                                                  integer(channel, "sampler"));
        const char* name =
            cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, integer(target, "node")), "name")
                ->valuestring;
        bool turns = strcmp(cJSON_GetObjectItem(target, "path")->valuestring, "rotation") == 0;
        int times, values, part = 0;
        const float* t = accessor(g, integer(sampler, "input"), &times);
        const float* x = accessor(g, integer(sampler, "output"), &values);
        assert_int_equal(times, values);
        while (strcmp(scene->part[part].name, name) != 0) ++part;
        for (int i = 0; i < times; i += 7) {
            LashError error = {0};
            int64_t index = view_export_frame(view_source_status(source).frames, times, i);
            assert_true(view_source_frame(source, index, &frame, &error));
            view_frame_place(scene, &frame);
            assert_float_equal((double)t[i], frame.time, 1e-7);
            Pose p = view_world_part(scene, &frame, part);
            if (turns) {
                const float* q = x + 4 * i;
                double dot = p.rot.x * (double)q[0] + p.rot.y * (double)q[1] +
                             p.rot.z * (double)q[2] + p.rot.w * (double)q[3];
                assert_float_equal(fabs(dot), 1, 1e-6);
            } else {
                const float* r = x + 3 * i;
                assert_true(vec3_distance(p.r, vec3((double)r[0], (double)r[1], (double)r[2])) <
                            1e-6);
            }
            ++checked;
        }
    }
    assert_true(checked > 100);
    view_frame_destroy(&frame);
}

static void glb_opens_and_moves_as_the_result(void** state) {
    (void)state;
    char path[300];
    Outcome o = LASH("export", "--glb", result, scratch_file("run.glb", path, sizeof path));
    if (o.code != 0) fail_msg("%s", o.err);
    outcome_free(&o);
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(result, &none, &error);
    ViewScene scene;
    assert_true(view_scene_create(&scene, view_source_model(source), view_source_mechanism(source),
                                  &error));
    Glb g = open_glb(path);
    const cJSON *asset = cJSON_GetObjectItem(g.json, "asset"), *mesh, *primitive;
    assert_string_equal(cJSON_GetObjectItem(asset, "version")->valuestring, "2.0");
    int triangles = 0;
    cJSON_ArrayForEach(mesh, cJSON_GetObjectItem(g.json, "meshes")) {
        cJSON_ArrayForEach(primitive, cJSON_GetObjectItem(mesh, "primitives")) {
            int count;
            check_primitive(&g, primitive);
            accessor(&g, integer(primitive, "indices"), &count);
            triangles += integer(primitive, "mode") == 4 ? count / 3 : 0;
        }
    }
    assert_int_equal(triangles, scene.triangles);
    check_motion(&g, &scene, source);
    close_glb(&g);
    view_scene_destroy(&scene);
    view_source_close(source);
}

// ---- VTK ----------------------------------------------------------------------------------------

// Well-formed XML of elements, attributes and text: tags are nested, attributes are quoted.
static void check_xml(const char* text) {
    char stack[32][32];
    int depth = 0, elements = 0;
    for (const char* p = strchr(text, '<'); p != NULL; p = strchr(p, '<')) {
        const char* end = strchr(p, '>');
        assert_non_null(end);
        if (p[1] == '?') {
            assert_true(end[-1] == '?');
            p = end;
            continue;
        }
        int quotes = 0;
        for (const char* q = p; q < end; ++q) {
            quotes += *q == '"';
            assert_true(q == p || *q != '<');
        }
        assert_int_equal(quotes % 2, 0);
        char name[32] = "";
        sscanf(p + 1 + (p[1] == '/'), "%31[A-Za-z0-9]", name);
        assert_true(name[0] != '\0');
        if (p[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(stack[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            strcpy(stack[depth++], name);
        }
        ++elements;
        p = end;
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 2);
}

static int digit(char c) {
    const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* at = strchr(digits, c);
    return c != '\0' && at != NULL ? (int)(at - digits) : -1;
}

// One base64 group after another; returns the bytes, *next is behind them.
static size_t decode(const char* text, size_t most, unsigned char* out, const char** next) {
    size_t used = 0;
    for (; used < most && digit(text[0]) >= 0; text += 4) {
        unsigned n = (unsigned)digit(text[0]) << 18 | (unsigned)digit(text[1]) << 12;
        int bytes = text[3] == '=' ? 2 : 3;
        if (text[2] == '=') bytes = 1;
        if (bytes > 1) n |= (unsigned)digit(text[2]) << 6;
        if (bytes > 2) n |= (unsigned)digit(text[3]);
        for (int k = 0; k < bytes; ++k) out[used++] = (unsigned char)(n >> (16 - 8 * k));
    }
    *next = text;
    return used;
}

// The numbers of a DataArray; free them.
static void* array_of(const char* text, const char* name, size_t* bytes) {
    char key[64];
    snprintf(key, sizeof key, "Name=\"%s\"", name);
    const char* at = strstr(text, key);
    assert_non_null(at);
    at = strchr(at, '>') + 1;
    unsigned char head[8];
    assert_int_equal(decode(at, 4, head, &at), 4);
    *bytes = word(head);
    unsigned char* data = malloc(*bytes + 4);
    assert_int_equal(decode(at, *bytes, data, &at), *bytes);
    assert_true(at[0] == '<');
    return data;
}

static void check_contacts(const char* path) {
    char* text = slurp(path);
    size_t points, forces, gaps;
    check_xml(text);
    float* p = array_of(text, "Points", &points);
    float* f = array_of(text, "force", &forces);
    float* g = array_of(text, "gap", &gaps);
    assert_int_equal(points, forces);
    assert_int_equal(points, 3 * gaps);
    for (size_t i = 0; i < points / 4; ++i) assert_true(isfinite(p[i]) && isfinite(f[i]));
    free(p);
    free(f);
    free(g);
    free(text);
}

static void vtk_series_opens_and_holds_the_parts(void** state) {
    (void)state;
    char pvd[300], path[400];
    Outcome o =
        LASH("export", "--vtk", result, scratch_file("run.pvd", pvd, sizeof pvd), "--frames", "5");
    if (o.code != 0) fail_msg("%s", o.err);
    outcome_free(&o);
    char* list = slurp(pvd);
    check_xml(list);
    int sets = 0;
    for (const char* p = list; (p = strstr(p, "<DataSet ")) != NULL; ++p) ++sets;
    assert_int_equal(sets, 10); // parts and contacts of five times
    assert_non_null(strstr(list, "run_frames/parts_00004.vtp"));
    free(list);
    LashError error = {0};
    AppSessionOptions none = no_options();
    ViewSource* source = view_source_open(result, &none, &error);
    ViewScene scene;
    assert_true(view_scene_create(&scene, view_source_model(source), view_source_mechanism(source),
                                  &error));
    ViewFrame frame = view_frame_create(&scene);
    int64_t last = view_source_status(source).frames - 1;
    assert_true(view_source_frame(source, last, &frame, &error));
    view_frame_place(&scene, &frame);
    snprintf(path, sizeof path, "%s/run_frames/parts_00004.vtp", scratch());
    char* text = slurp(path);
    check_xml(text);
    size_t bytes, cells, numbers;
    float* point = array_of(text, "Points", &bytes);
    int32_t* corner = array_of(text, "connectivity", &numbers);
    int32_t* part = array_of(text, "part", &cells);
    assert_int_equal(cells / 4, scene.triangles);
    assert_int_equal(numbers, 3 * cells);
    for (size_t i = 0; i < numbers / 4; ++i)
        assert_true(corner[i] >= 0 && (size_t)corner[i] < bytes / 12);
    size_t n = 0; // every vertex where the last frame has it
    for (int i = 0; i < scene.pieces; ++i) {
        const LashShape* s = scene.piece[i].shape;
        Pose place = view_world_piece(&scene, &frame, i);
        for (int k = 0; k < s->mesh_vertices; ++k, ++n) {
            const float* q = s->mesh_point + 3 * k;
            Vec3 w = pose_point(place, vec3((double)q[0], (double)q[1], (double)q[2]));
            Vec3 got =
                vec3((double)point[3 * n], (double)point[3 * n + 1], (double)point[3 * n + 2]);
            assert_true(vec3_distance(w, got) < 1e-6);
        }
    }
    assert_int_equal(part[0], 0);
    assert_int_equal(part[cells / 4 - 1], scene.parts - 1);
    for (int i = 0; i < 5; ++i) {
        snprintf(path, sizeof path, "%s/run_frames/contacts_%05d.vtp", scratch(), i);
        check_contacts(path);
    }
    free(point);
    free(corner);
    free(part);
    free(text);
    view_frame_destroy(&frame);
    view_scene_destroy(&scene);
    view_source_close(source);
}

static void exports_refuse_with_a_sentence(void** state) {
    (void)state;
    Outcome o = LASH("export", "--glb", result);
    assert_int_equal(o.code, LASH_ERROR_USAGE);
    outcome_free(&o);
    o = LASH("export", "--glb", "--vtk", result, "x.glb");
    assert_int_equal(o.code, LASH_ERROR_USAGE);
    outcome_free(&o);
    o = LASH("export", "--glb", result, "/no/such/folder/x.glb");
    assert_int_equal(o.code, LASH_ERROR_IO);
    outcome_free(&o);
    o = LASH("export", "--vtk", result, "/no/such/folder/x.pvd");
    assert_int_equal(o.code, LASH_ERROR_IO);
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glb_opens_and_moves_as_the_result),
        cmocka_unit_test(vtk_series_opens_and_holds_the_parts),
        cmocka_unit_test(exports_refuse_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, setup, remove_scratch);
}

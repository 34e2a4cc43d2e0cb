// glTF 2.0, binary form: 12 bytes of header, a chunk of JSON, a chunk of numbers. One node per part
// with translation and rotation over time, one child per mesh; edges are lines. A root node turns
// the model's up direction to +y, as glTF wants it. Specification: Khronos, glTF 2.0 (ISO 12113).
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/json_writer.h"
#include "app/cli/output_file.h"
#include "app/version.h"
#include "app/viewer/export_scene.h"
#include "core/arena.h"
#include "core/math3.h"

enum { FLOAT = 5126, UNSIGNED = 5125, ARRAY = 34962, ELEMENTS = 34963, TRIANGLES = 4, LINES = 1 };

typedef struct View { // a stretch of the numbers, and how to read it
    size_t offset, bytes;
    int target; // ARRAY, ELEMENTS, 0: none
    int component;
    const char* type; // "VEC3"
    int count;
    int bounds; // numbers in low and high; 0: not told
    float low[3], high[3];
} View;

typedef struct Glb {
    unsigned char* data;
    size_t used, capacity;
    View* view;
    int views, view_capacity;
    AppJson json;
} Glb;

int64_t view_export_frame(int64_t there, int wanted, int i) {
    return wanted > 1 ? (int64_t)((double)i * (double)(there - 1) / (wanted - 1) + 0.5) : 0;
}

static int add_view(Glb* glb, const void* data, size_t bytes, View view) {
    size_t padded = (bytes + 3) / 4 * 4;
    if (glb->used + padded > glb->capacity) {
        glb->capacity = 2 * (glb->used + padded);
        glb->data = lash_realloc(glb->data, glb->capacity);
    }
    memcpy(glb->data + glb->used, data, bytes);
    memset(glb->data + glb->used + bytes, 0, padded - bytes);
    view.offset = glb->used;
    view.bytes = bytes;
    glb->used += padded;
    if (glb->views == glb->view_capacity) {
        glb->view_capacity = glb->view_capacity == 0 ? 64 : 2 * glb->view_capacity;
        glb->view = lash_realloc(glb->view, (size_t)glb->view_capacity * sizeof *glb->view);
    }
    glb->view[glb->views] = view;
    return glb->views++;
}

static int add_floats(Glb* glb, const float* values, int count, int width, int target,
                      bool bounds) {
    static const char* const type[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    View view = {.target = target, .component = FLOAT, .type = type[width], .count = count};
    view.bounds = bounds ? width : 0;
    for (int k = 0; k < view.bounds; ++k) {
        view.low[k] = INFINITY;
        view.high[k] = -INFINITY;
        for (int i = 0; i < count; ++i) {
            view.low[k] = fminf(view.low[k], values[i * width + k]);
            view.high[k] = fmaxf(view.high[k], values[i * width + k]);
        }
    }
    return add_view(glb, values, (size_t)count * (size_t)width * sizeof(float), view);
}

static int add_indices(Glb* glb, const int* index, int count) {
    View view = {.target = ELEMENTS, .component = UNSIGNED, .type = "SCALAR", .count = count};
    return add_view(glb, index, (size_t)count * sizeof(int), view);
}

// ---- meshes -------------------------------------------------------------------------------------

static void put_primitive(Glb* glb, int mode, int points, int normals, int indices, int material) {
    AppJson* j = &glb->json;
    app_json_begin_object(j);
    app_json_key(j, "attributes");
    app_json_begin_object(j);
    app_json_put_integer(j, "POSITION", points);
    if (normals >= 0) app_json_put_integer(j, "NORMAL", normals);
    app_json_end_object(j);
    app_json_put_integer(j, "indices", indices);
    app_json_put_integer(j, "mode", mode);
    app_json_put_integer(j, "material", material);
    app_json_end_object(j);
}

static bool drawn(const ViewPiece* piece) { // an empty mesh is not allowed
    return piece->shape->triangles > 0 || piece->shape->lines > 0;
}

static void put_meshes(Glb* glb, const ViewScene* scene) {
    AppJson* j = &glb->json;
    app_json_key(j, "meshes");
    app_json_begin_array(j);
    for (int i = 0; i < scene->pieces; ++i) {
        const LashShape* s = scene->piece[i].shape;
        if (!drawn(&scene->piece[i])) continue;
        app_json_begin_object(j);
        app_json_put_text(j, "name", scene->part[scene->piece[i].part].name);
        app_json_key(j, "primitives");
        app_json_begin_array(j);
        if (s->triangles > 0) {
            int points = add_floats(glb, s->mesh_point, s->mesh_vertices, 3, ARRAY, true);
            int normals = add_floats(glb, s->mesh_normal, s->mesh_vertices, 3, ARRAY, false);
            int indices = add_indices(glb, s->triangle, 3 * s->triangles);
            put_primitive(glb, TRIANGLES, points, normals, indices, scene->piece[i].part);
        }
        if (s->lines > 0) {
            int points = add_floats(glb, s->line_point, s->line_points, 3, ARRAY, true);
            int indices = add_indices(glb, s->line, 2 * s->lines);
            put_primitive(glb, LINES, points, -1, indices, scene->parts);
        }
        app_json_end_array(j);
        app_json_end_object(j);
    }
    app_json_end_array(j);
}

static void put_material(AppJson* json, const char* name, const float color[3], double roughness) {
    app_json_begin_object(json);
    app_json_put_text(json, "name", name);
    app_json_put_bool(json, "doubleSided", true);
    app_json_key(json, "pbrMetallicRoughness");
    app_json_begin_object(json);
    app_json_key(json, "baseColorFactor");
    app_json_begin_array(json);
    for (int k = 0; k < 3; ++k) app_json_number(json, pow((double)color[k], 2.2)); // linear light
    app_json_number(json, 1);
    app_json_end_array(json);
    app_json_put_number(json, "metallicFactor", 0.1);
    app_json_put_number(json, "roughnessFactor", roughness);
    app_json_end_object(json);
    app_json_end_object(json);
}

static void put_materials(Glb* glb, const ViewScene* scene) {
    static const float dark[3] = {0.1f, 0.12f, 0.15f};
    app_json_key(&glb->json, "materials");
    app_json_begin_array(&glb->json);
    for (int i = 0; i < scene->parts; ++i)
        put_material(&glb->json, scene->part[i].name, scene->part[i].color, 0.55);
    put_material(&glb->json, "edges", dark, 1);
    app_json_end_array(&glb->json);
}

// ---- nodes and motion ---------------------------------------------------------------------------

static void put_pose(AppJson* json, Pose p) {
    app_json_put_vec3(json, "translation", p.r);
    app_json_key(json, "rotation"); // x, y, z, w
    app_json_begin_array(json);
    app_json_number(json, p.rot.x);
    app_json_number(json, p.rot.y);
    app_json_number(json, p.rot.z);
    app_json_number(json, p.rot.w);
    app_json_end_array(json);
}

// Node 0 is the root, 1 .. parts are the parts, then the pieces that have a mesh.
static void put_nodes(Glb* glb, const ViewScene* scene, const ViewFrame* start) {
    AppJson* j = &glb->json;
    app_json_key(j, "nodes");
    app_json_begin_array(j);
    app_json_begin_object(j);
    app_json_put_text(j, "name", "lash");
    put_pose(j, pose(vec3_zero(), quat_between(scene->up, vec3(0, 1, 0))));
    app_json_key(j, "children");
    app_json_begin_array(j);
    for (int i = 0; i < scene->parts; ++i) app_json_integer(j, 1 + i);
    app_json_end_array(j);
    app_json_end_object(j);
    int next = 1 + scene->parts;
    for (int i = 0; i < scene->parts; ++i) {
        const ViewPart* part = &scene->part[i];
        app_json_begin_object(j);
        app_json_put_text(j, "name", part->name);
        put_pose(j, view_world_part(scene, start, i));
        int first = next;
        for (int k = 0; k < part->pieces; ++k) next += drawn(&scene->piece[part->first_piece + k]);
        if (next > first) {
            app_json_key(j, "children");
            app_json_begin_array(j);
            for (int k = first; k < next; ++k) app_json_integer(j, k);
            app_json_end_array(j);
        }
        app_json_end_object(j);
    }
    for (int i = 0, mesh = 0; i < scene->pieces; ++i) {
        if (!drawn(&scene->piece[i])) continue;
        app_json_begin_object(j);
        app_json_put_integer(j, "mesh", mesh++);
        put_pose(j, scene->piece[i].part_shape);
        app_json_end_object(j);
    }
    app_json_end_array(j);
}

typedef struct Motion {
    float *time, *place, *turn; // (frames), (parts x frames x 3), (parts x frames x 4)
    int frames;
} Motion;

static void keep_pose(const ViewScene* scene, const ViewFrame* frame, Motion* motion, int part,
                      int i) {
    Pose p = view_world_part(scene, frame, part);
    float* r = motion->place + 3 * ((size_t)part * (size_t)motion->frames + (size_t)i);
    float* q = motion->turn + 4 * ((size_t)part * (size_t)motion->frames + (size_t)i);
    Quat rot = quat_normalize(p.rot);
    if (i > 0) { // the nearer of q and -q, so that players do not turn the long way
        const float* before = q - 4;
        double dot = rot.x * (double)before[0] + rot.y * (double)before[1] +
                     rot.z * (double)before[2] + rot.w * (double)before[3];
        if (dot < 0) rot = quat(-rot.w, -rot.x, -rot.y, -rot.z);
    }
    r[0] = (float)p.r.x;
    r[1] = (float)p.r.y;
    r[2] = (float)p.r.z;
    q[0] = (float)rot.x;
    q[1] = (float)rot.y;
    q[2] = (float)rot.z;
    q[3] = (float)rot.w;
}

static bool read_motion(ViewSource* source, const ViewScene* scene, ViewFrame* frame,
                        Motion* motion, LashError* error) {
    int64_t there = view_source_status(source).frames;
    size_t n = (size_t)scene->parts * (size_t)motion->frames;
    motion->time = lash_alloc((size_t)motion->frames * sizeof(float));
    motion->place = lash_alloc(3 * n * sizeof(float));
    motion->turn = lash_alloc(4 * n * sizeof(float));
    for (int i = 0; i < motion->frames; ++i) {
        int64_t index = view_export_frame(there, motion->frames, i);
        if (!view_source_read(source, index, frame->values, error)) return false;
        view_frame_place(scene, frame);
        motion->time[i] = (float)frame->time;
        for (int k = 0; k < scene->parts; ++k) keep_pose(scene, frame, motion, k, i);
    }
    return true;
}

static void put_sampler(AppJson* json, int input, int output) {
    app_json_begin_object(json);
    app_json_put_integer(json, "input", input);
    app_json_put_integer(json, "output", output);
    app_json_put_text(json, "interpolation", "LINEAR");
    app_json_end_object(json);
}

static void put_channel(AppJson* json, int sampler, int node, const char* path) {
    app_json_begin_object(json);
    app_json_put_integer(json, "sampler", sampler);
    app_json_key(json, "target");
    app_json_begin_object(json);
    app_json_put_integer(json, "node", node);
    app_json_put_text(json, "path", path);
    app_json_end_object(json);
    app_json_end_object(json);
}

static void put_animation(Glb* glb, const ViewScene* scene, const Motion* motion) {
    AppJson* j = &glb->json;
    if (scene->bodies == 0 || motion->frames < 2) return;
    int time = add_floats(glb, motion->time, motion->frames, 1, 0, true), count = 0;
    app_json_key(j, "animations");
    app_json_begin_array(j);
    app_json_begin_object(j);
    app_json_put_text(j, "name", "motion");
    app_json_key(j, "samplers");
    app_json_begin_array(j);
    for (int i = 0; i < scene->parts; ++i) {
        size_t first = (size_t)i * (size_t)motion->frames;
        if (scene->part[i].body < 0) continue;
        put_sampler(j, time,
                    add_floats(glb, motion->place + 3 * first, motion->frames, 3, 0, false));
        put_sampler(j, time,
                    add_floats(glb, motion->turn + 4 * first, motion->frames, 4, 0, false));
    }
    app_json_end_array(j);
    app_json_key(j, "channels");
    app_json_begin_array(j);
    for (int i = 0; i < scene->parts; ++i) {
        if (scene->part[i].body < 0) continue;
        put_channel(j, count++, 1 + i, "translation");
        put_channel(j, count++, 1 + i, "rotation");
    }
    app_json_end_array(j);
    app_json_end_object(j);
    app_json_end_array(j);
}

// ---- the file -----------------------------------------------------------------------------------

static void put_bounds(AppJson* json, const char* key, const float* value, int count) {
    app_json_key(json, key);
    app_json_begin_array(json);
    for (int k = 0; k < count; ++k) app_json_number(json, (double)value[k]);
    app_json_end_array(json);
}

static void put_views(Glb* glb) {
    AppJson* j = &glb->json;
    app_json_key(j, "bufferViews");
    app_json_begin_array(j);
    for (int i = 0; i < glb->views; ++i) {
        const View* v = &glb->view[i];
        app_json_begin_object(j);
        app_json_put_integer(j, "buffer", 0);
        app_json_put_integer(j, "byteOffset", (int64_t)v->offset);
        app_json_put_integer(j, "byteLength", (int64_t)v->bytes);
        if (v->target != 0) app_json_put_integer(j, "target", v->target);
        app_json_end_object(j);
    }
    app_json_end_array(j);
    app_json_key(j, "accessors");
    app_json_begin_array(j);
    for (int i = 0; i < glb->views; ++i) {
        const View* v = &glb->view[i];
        app_json_begin_object(j);
        app_json_put_integer(j, "bufferView", i);
        app_json_put_integer(j, "componentType", v->component);
        app_json_put_integer(j, "count", v->count);
        app_json_put_text(j, "type", v->type);
        if (v->bounds > 0) {
            put_bounds(j, "min", v->low, v->bounds);
            put_bounds(j, "max", v->high, v->bounds);
        }
        app_json_end_object(j);
    }
    app_json_end_array(j);
    app_json_key(j, "buffers");
    app_json_begin_array(j);
    app_json_begin_object(j);
    app_json_put_integer(j, "byteLength", (int64_t)glb->used);
    app_json_end_object(j);
    app_json_end_array(j);
}

static void put_head(Glb* glb) {
    AppJson* j = &glb->json;
    app_json_begin_object(j);
    app_json_key(j, "asset");
    app_json_begin_object(j);
    app_json_put_text(j, "version", "2.0");
    app_json_put_text(j, "generator", "lash " LASH_VERSION);
    app_json_end_object(j);
    app_json_put_integer(j, "scene", 0);
    app_json_key(j, "scenes");
    app_json_begin_array(j);
    app_json_begin_object(j);
    app_json_key(j, "nodes");
    app_json_begin_array(j);
    app_json_integer(j, 0);
    app_json_end_array(j);
    app_json_end_object(j);
    app_json_end_array(j);
}

static void put32(unsigned char* at, size_t value) { // little endian
    for (int k = 0; k < 4; ++k) at[k] = (unsigned char)(value >> (8 * k));
}

static bool write_file(const Glb* glb, const char* path, LashError* error) {
    size_t text = glb->json.used, padded = (text + 3) / 4 * 4;
    size_t total = 12 + 8 + padded + 8 + glb->used;
    if (total > 0xFFFFFFFFu) {
        return lash_error_set(error, LASH_ERROR_USAGE, "--frames",
                              "the file would be larger than 4 GB, which GLB cannot be; ask for "
                              "fewer frames");
    }
    unsigned char head[20] = "glTF", middle[8] = {0, 0, 0, 0, 'B', 'I', 'N', 0};
    put32(head + 4, 2);
    put32(head + 8, total);
    put32(head + 12, padded);
    memcpy(head + 16, "JSON", 4);
    put32(middle, glb->used);
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    FILE* file = app_output_stream(output); // what fails here is seen when it is finished
    fwrite(head, 1, 20, file);
    fwrite(glb->json.text, 1, text, file);
    fwrite("   ", 1, padded - text, file);
    fwrite(middle, 1, 8, file);
    fwrite(glb->data, 1, glb->used, file);
    return app_output_finish(output, error);
}

bool view_export_glb(ViewSource* source, const ViewScene* scene, const char* file, int frames,
                     LashError* error) {
    int64_t there = view_source_status(source).frames;
    Motion m = {.frames = there < frames ? (int)there : frames};
    ViewFrame frame = view_frame_create(scene);
    Glb g = {0};
    bool good = read_motion(source, scene, &frame, &m, error) &&
                view_source_read(source, 0, frame.values, error);
    if (good) {
        view_frame_place(scene, &frame);
        put_head(&g);
        if (scene->pieces > 0) put_meshes(&g, scene);
        put_materials(&g, scene);
        put_nodes(&g, scene, &frame);
        put_animation(&g, scene, &m);
        put_views(&g);
        app_json_end_object(&g.json);
        good = write_file(&g, file, error);
        if (!good) lash_error_file(error, file);
    }
    view_frame_destroy(&frame);
    lash_free(m.time);
    lash_free(m.place);
    lash_free(m.turn);
    lash_free(g.data);
    lash_free(g.view);
    app_json_free(&g.json);
    return good;
}

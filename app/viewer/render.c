// The picture: solid parts and glyphs, the background where nothing is, ground grid, edges, traces,
// transparent parts, then marks that lie on top of everything: contact points, force arrows, joint
// frames, traces.
#include "app/viewer/render.h"

#include <epoxy/gl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/text.h"
#include "app/viewer/render_internal.h"
#include "core/arena.h"
#include "core/math3.h"

static const float edge_color[4] = {0.10f, 0.12f, 0.15f, 0.80f};
static const float contact_color[3] = {0.86f, 0.16f, 0.14f};
static const float near_color[3] = {0.95f, 0.70f, 0.20f};
static const float force_color[3] = {0.86f, 0.16f, 0.14f};
static const float reaction_color[3] = {0.08f, 0.42f, 0.62f};
static const float select_color[3] = {1.0f, 0.62f, 0.10f};

ViewStyle view_style(void) {
    return (ViewStyle){
        .edges = true, .grid = true, .forces = true, .contacts = true, .section_normal = {0, 0, 1}};
}

const char* view_renderer_name(void) {
    const char* name = (const char*)glGetString(GL_RENDERER);
    return name != NULL ? name : "no OpenGL";
}

bool view_renderer_is_software(void) {
    const char* name = view_renderer_name();
    return strstr(name, "llvmpipe") != NULL || strstr(name, "softpipe") != NULL ||
           strstr(name, "swrast") != NULL;
}

// ---- creating -----------------------------------------------------------------------------------

static void create_lines(ViewRenderer* renderer) {
    glGenVertexArrays(1, &renderer->empty_vao);
    glGenVertexArrays(1, &renderer->line_vao);
    glGenBuffers(1, &renderer->line_buffer);
    glBindVertexArray(renderer->line_vao);
    glBindBuffer(GL_ARRAY_BUFFER, renderer->line_buffer);
    GLsizei stride = sizeof(GpuLineVertex);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(GpuLineVertex, point));
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(GpuLineVertex, color));
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindVertexArray(0);
}

static void create_pick_frame(ViewRenderer* renderer) {
    glGenFramebuffers(1, &renderer->pick_frame);
    glGenRenderbuffers(1, &renderer->pick_color);
    glGenRenderbuffers(1, &renderer->pick_depth);
    glBindRenderbuffer(GL_RENDERBUFFER, renderer->pick_color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RG32UI, 1, 1);
    glBindRenderbuffer(GL_RENDERBUFFER, renderer->pick_depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 1, 1);
    int before = 0;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before);
    glBindFramebuffer(GL_FRAMEBUFFER, renderer->pick_frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              renderer->pick_color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                              renderer->pick_depth);
    glBindFramebuffer(GL_FRAMEBUFFER, (unsigned)before);
}

ViewRenderer* view_renderer_create(const ViewScene* scene, LashError* error) {
    if (epoxy_gl_version() < 33) {
        lash_error_set(error, LASH_ERROR_IO, "OpenGL",
                       "version 3.3 is needed, '%s' offers %d.%d; update the graphics driver, or "
                       "set LIBGL_ALWAYS_SOFTWARE=1 to draw without the graphics card",
                       view_renderer_name(), epoxy_gl_version() / 10, epoxy_gl_version() % 10);
        return NULL;
    }
    ViewRenderer* renderer = lash_alloc(sizeof *renderer);
    if (!gpu_programs_create(renderer, error)) {
        lash_free(renderer);
        return NULL;
    }
    LashShape *ball = lash_shape_sphere(1), *rod = lash_shape_cylinder(1, 1);
    renderer->ball = gpu_mesh_create(ball);
    renderer->rod = gpu_mesh_create(rod);
    renderer->cone = gpu_cone_create();
    lash_shape_destroy(ball);
    lash_shape_destroy(rod);
    renderer->pieces = scene->pieces;
    renderer->piece = lash_alloc((size_t)scene->pieces * sizeof *renderer->piece);
    renderer->order = lash_alloc((size_t)scene->pieces * sizeof *renderer->order);
    for (int i = 0; i < scene->pieces; ++i)
        renderer->piece[i] = gpu_mesh_create(scene->piece[i].shape);
    create_lines(renderer);
    create_pick_frame(renderer);
    return renderer;
}

static void free_smooth(ViewRenderer* renderer);

void view_renderer_destroy(ViewRenderer* renderer) {
    if (renderer == NULL) return;
    free_smooth(renderer);
    for (int i = 0; i < renderer->pieces; ++i) gpu_mesh_destroy(&renderer->piece[i]);
    gpu_mesh_destroy(&renderer->ball);
    gpu_mesh_destroy(&renderer->rod);
    gpu_mesh_destroy(&renderer->cone);
    for (int i = 0; i < GPU_PROGRAMS; ++i) glDeleteProgram(renderer->program[i]);
    unsigned arrays[] = {renderer->line_vao, renderer->empty_vao};
    unsigned targets[] = {renderer->pick_color, renderer->pick_depth};
    glDeleteVertexArrays(2, arrays);
    glDeleteBuffers(1, &renderer->line_buffer);
    glDeleteRenderbuffers(2, targets);
    glDeleteFramebuffers(1, &renderer->pick_frame);
    lash_free(renderer->piece);
    lash_free(renderer->order);
    lash_free(renderer);
}

// ---- pieces of drawing --------------------------------------------------------------------------

static float linear(float srgb) { // the shaders take the square root at the end
    return srgb * srgb;
}

// place scaled by s along its axes, to eye coordinates.
static void model_matrix(const ViewRenderer* renderer, Pose place, Vec3 s, ViewMatrix* model,
                         float turn[9]) {
    Mat3 R = quat_matrix(place.rot);
    double scale[3] = {s.x, s.y, s.z};
    ViewMatrix world = view_matrix_identity(), directions = view_matrix_identity();
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            world.m[4 * k + i] = (float)(scale[k] * R.m[3 * k + i]);
            directions.m[4 * k + i] = (float)(scale[0] / scale[k] * R.m[3 * k + i]);
        }
    }
    world.m[12] = (float)place.r.x;
    world.m[13] = (float)place.r.y;
    world.m[14] = (float)place.r.z;
    *model = view_matrix_mul(&renderer->view, &world);
    ViewMatrix turned = view_matrix_mul(&renderer->view, &directions); // inverse transpose: R S^-1
    for (int k = 0; k < 3; ++k) memcpy(turn + 3 * k, turned.m + 4 * k, 3 * sizeof(float));
}

static void use(const ViewRenderer* renderer, GpuProgram program, const ViewPicture* picture) {
    const int* u = renderer->uniform[program];
    const ViewScene* scene = picture->scene;
    glUseProgram(renderer->program[program]);
    glUniformMatrix4fv(u[UNIFORM_PROJECTION], 1, GL_FALSE, renderer->projection.m);
    glUniform4fv(u[UNIFORM_SECTION], 1, renderer->section);
    glUniform1i(u[UNIFORM_CUT], picture->style.section);
    glUniform1i(u[UNIFORM_SELECTED], -1);
    glUniform4f(u[UNIFORM_TINT], linear(select_color[0]), linear(select_color[1]),
                linear(select_color[2]), 0.75f);
    float up[3];
    for (int i = 0; i < 3; ++i) {
        const float* m = renderer->view.m + i;
        up[i] = m[0] * (float)scene->up.x + m[4] * (float)scene->up.y + m[8] * (float)scene->up.z;
    }
    glUniform3fv(u[UNIFORM_UP], 1, up);
}

static void place_mesh(const ViewRenderer* renderer, GpuProgram program, Pose place, Vec3 scale) {
    ViewMatrix model;
    float turn[9];
    model_matrix(renderer, place, scale, &model, turn);
    glUniformMatrix4fv(renderer->uniform[program][UNIFORM_MODEL], 1, GL_FALSE, model.m);
    glUniformMatrix3fv(renderer->uniform[program][UNIFORM_NORMAL], 1, GL_FALSE, turn);
}

static void draw_mesh(const GpuMesh* mesh) {
    if (mesh->index_count == 0) return;
    glBindVertexArray(mesh->vao);
    glDrawElements(GL_TRIANGLES, mesh->index_count, GL_UNSIGNED_INT, NULL);
}

static void set_color(const ViewRenderer* renderer, const float color[3], float alpha) {
    glUniform4f(renderer->uniform[GPU_SOLID][UNIFORM_COLOR], linear(color[0]), linear(color[1]),
                linear(color[2]), alpha);
}

static void draw_ball(const ViewRenderer* renderer, Vec3 center, double radius) {
    place_mesh(renderer, GPU_SOLID, pose(center, quat_identity()), vec3(radius, radius, radius));
    draw_mesh(&renderer->ball);
}

// From a to b. The rod's mesh runs from -1/2 to 1/2.
static void draw_rod(const ViewRenderer* renderer, Vec3 a, Vec3 b, double radius) {
    double length = vec3_distance(a, b);
    if (!(length > 0)) return;
    Vec3 z = vec3_scale(1 / length, vec3_sub(b, a));
    Pose place = pose(vec3_scale(0.5, vec3_add(a, b)), quat_between(vec3(0, 0, 1), z));
    place_mesh(renderer, GPU_SOLID, place, vec3(radius, radius, length));
    draw_mesh(&renderer->rod);
}

static void draw_arrow(const ViewRenderer* renderer, Vec3 from, Vec3 to, double radius) {
    double length = vec3_distance(from, to), head = fmin(6.0 * radius, 0.6 * length);
    if (!(length > 0)) return;
    Vec3 z = vec3_scale(1 / length, vec3_sub(to, from));
    Vec3 neck = vec3_add_scaled(to, -head, z);
    draw_rod(renderer, from, neck, radius);
    place_mesh(renderer, GPU_SOLID, pose(neck, quat_between(vec3(0, 0, 1), z)),
               vec3(2.4 * radius, 2.4 * radius, head));
    draw_mesh(&renderer->cone);
}

// ---- parts --------------------------------------------------------------------------------------

static void line_width(double pixels) {
    float range[2] = {1, 1};
    glGetFloatv(GL_ALIASED_LINE_WIDTH_RANGE, range);
    glLineWidth(fmaxf(range[0], fminf(range[1], (float)pixels)));
}

static void mark_faces(const ViewRenderer* renderer, const ViewPicture* picture,
                       const ViewPiece* item) {
    int marked[VIEW_PIECE_MARKS], count = 0;
    for (int i = 0; i < picture->marks && count < VIEW_PIECE_MARKS; ++i)
        if (item != NULL && picture->marked[i].part == item->part)
            marked[count++] = picture->marked[i].face - item->first_face;
    while (count < VIEW_PIECE_MARKS) marked[count++] = -1;
    glUniform1iv(renderer->uniform[GPU_SOLID][UNIFORM_MARKED], VIEW_PIECE_MARKS, marked);
}

static void draw_part(const ViewRenderer* renderer, const ViewPicture* picture, int piece,
                      float alpha) {
    const ViewPiece* item = &picture->scene->piece[piece];
    const int* u = renderer->uniform[GPU_SOLID];
    int selected = -1;
    float strength = 0.75f;
    if (picture->selected.part == item->part) {
        selected = picture->selected.face < 0 ? -2 : picture->selected.face - item->first_face;
        if (selected < 0 && picture->selected.face >= 0) selected = -1;
        if (selected == -2) strength = 0.45f;
    }
    glUniform1i(u[UNIFORM_SELECTED], selected);
    mark_faces(renderer, picture, item);
    glUniform4f(u[UNIFORM_TINT], linear(select_color[0]), linear(select_color[1]),
                linear(select_color[2]), strength);
    set_color(renderer, picture->scene->part[item->part].color, alpha);
    place_mesh(renderer, GPU_SOLID, view_world_piece(picture->scene, picture->frame, piece),
               vec3(1, 1, 1));
    draw_mesh(&renderer->piece[piece]);
}

static void draw_part_edges(const ViewRenderer* renderer, const ViewPicture* picture, int piece,
                            float alpha) {
    if (renderer->piece[piece].line_count == 0) return;
    const int* u = renderer->uniform[GPU_LINE];
    place_mesh(renderer, GPU_LINE, view_world_piece(picture->scene, picture->frame, piece),
               vec3(1, 1, 1));
    glUniform4f(u[UNIFORM_COLOR], edge_color[0], edge_color[1], edge_color[2],
                edge_color[3] * alpha);
    glBindVertexArray(renderer->piece[piece].line_vao);
    glDrawElements(GL_LINES, renderer->piece[piece].line_count, GL_UNSIGNED_INT, NULL);
}

// Nearest pieces first: what they cover is not shaded.
static void sort_pieces(ViewRenderer* renderer, const ViewPicture* picture) {
    const ViewScene* scene = picture->scene;
    Vec3 eye = view_camera_eye(picture->camera);
    double* away = lash_alloc((size_t)scene->pieces * sizeof *away);
    for (int i = 0; i < scene->pieces; ++i) {
        const LashShape* s = scene->piece[i].shape;
        Vec3 middle = vec3_zero();
        if (s->parts > 0) {
            LashBox box = s->part[s->parts - 1].box;
            middle = vec3_scale(0.5, vec3_add(box.low, box.high));
        }
        Pose place = view_world_piece(scene, picture->frame, i);
        away[i] = vec3_distance(eye, pose_point(place, middle));
        int k = i;
        for (; k > 0 && away[renderer->order[k - 1]] > away[i]; --k)
            renderer->order[k] = renderer->order[k - 1];
        renderer->order[k] = i;
    }
    lash_free(away);
}

// The faces of a selected joint lie in each other: all parts let them shine through.
static ViewVisibility shown_as(const ViewPicture* picture, int part) {
    ViewVisibility own = picture->scene->part[part].visibility;
    return own == VIEW_SHOWN && picture->marks > 0 ? VIEW_TRANSPARENT : own;
}

static void draw_faces(const ViewRenderer* renderer, const ViewPicture* picture,
                       ViewVisibility pass) {
    const ViewScene* scene = picture->scene;
    float alpha = pass == VIEW_TRANSPARENT ? 0.28f : 1.0f;
    glEnable(GL_POLYGON_OFFSET_FILL);
    glDepthMask(pass == VIEW_SHOWN);
    use(renderer, GPU_SOLID, picture);
    for (int k = 0; k < scene->pieces; ++k) {
        int i =
            renderer
                ->order[pass == VIEW_SHOWN ? k : scene->pieces - 1 - k]; // transparent: far first
        if (shown_as(picture, scene->piece[i].part) != pass) continue;
        glPolygonOffset(1, (float)(1 + 4 * i)); // faces of two parts in one plane do not flicker
        bool outside = pass == VIEW_SHOWN && !picture->style.section && renderer->piece[i].closed;
        if (outside) glEnable(GL_CULL_FACE);
        draw_part(renderer, picture, i, alpha);
        glDisable(GL_CULL_FACE);
    }
    glUniform1i(renderer->uniform[GPU_SOLID][UNIFORM_SELECTED], -1);
    mark_faces(renderer, picture, NULL);
    glDisable(GL_POLYGON_OFFSET_FILL);
    glDepthMask(GL_TRUE);
}

static void draw_edges(const ViewRenderer* renderer, const ViewPicture* picture,
                       ViewVisibility pass) {
    if (!picture->style.edges) return;
    use(renderer, GPU_LINE, picture);
    line_width(1.1 * picture->pixel);
    glDepthMask(GL_FALSE);
    for (int i = 0; i < picture->scene->pieces; ++i) {
        if (shown_as(picture, picture->scene->piece[i].part) == pass)
            draw_part_edges(renderer, picture, i, pass == VIEW_TRANSPARENT ? 0.5f : 1.0f);
    }
    glDepthMask(GL_TRUE);
}

// A ball at the mass center, spokes to the joints of the body.
static void draw_glyph(const ViewRenderer* renderer, const ViewPicture* picture, int part) {
    const ViewScene* scene = picture->scene;
    int body = scene->part[part].body;
    Pose world = view_world_body(picture->frame, body);
    double size = view_scene_size(scene), ball = 0.016 * size, rod = 0.0055 * size;
    set_color(renderer, scene->part[part].color, 1);
    glUniform1i(renderer->uniform[GPU_SOLID][UNIFORM_SELECTED],
                picture->selected.part == part ? -2 : -1);
    draw_ball(renderer, world.r, ball);
    for (int i = 0; i < scene->joints; ++i) {
        const ViewJoint* j = &scene->joint[i];
        if (j->coupling || (j->body_a != body && j->body_b != body)) continue;
        Vec3 local = j->body_a == body ? j->a_joint.r : j->b_joint.r;
        Vec3 end = pose_point(world, local);
        draw_rod(renderer, world.r, end, rod);
        draw_ball(renderer, end, 1.35 * rod);
    }
}

static void draw_glyphs(const ViewRenderer* renderer, const ViewPicture* picture) {
    use(renderer, GPU_SOLID, picture);
    for (int i = 0; i < picture->scene->parts; ++i) {
        bool shown = picture->scene->part[i].visibility == VIEW_SHOWN;
        if (shown && view_part_is_glyph(picture->scene, i)) draw_glyph(renderer, picture, i);
    }
    glUniform1i(renderer->uniform[GPU_SOLID][UNIFORM_SELECTED], -1);
}

// ---- lines --------------------------------------------------------------------------------------

static void draw_lines(ViewRenderer* renderer, const ViewPicture* picture,
                       const GpuLineVertex* vertex, int count, unsigned mode, double width) {
    if (count == 0) return;
    size_t bytes = (size_t)count * sizeof *vertex;
    use(renderer, GPU_LINE, picture);
    place_mesh(renderer, GPU_LINE, pose_identity(), vec3(1, 1, 1));
    glUniform4f(renderer->uniform[GPU_LINE][UNIFORM_COLOR], 0, 0, 0, 0);
    glUniform4f(renderer->uniform[GPU_LINE][UNIFORM_SECTION], 0, 0, 0, 1);
    glBindVertexArray(renderer->line_vao);
    glBindBuffer(GL_ARRAY_BUFFER, renderer->line_buffer);
    if (bytes > renderer->line_capacity) {
        renderer->line_capacity = 2 * bytes;
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)renderer->line_capacity, NULL, GL_STREAM_DRAW);
    }
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)bytes, vertex);
    line_width(width);
    glDrawArrays(mode, 0, count);
}

double view_grid_cell(const ViewScene* scene) {
    return app_nice_number(view_scene_size(scene) / 14);
}

// Lines under the lowest point of the scene, fading with the distance from its middle.
static void draw_grid(ViewRenderer* renderer, const ViewPicture* picture) {
    enum { HALF = 24, PIECES = 12 };
    static const float tone[3] = {0.36f, 0.42f, 0.50f};
    const ViewScene* scene = picture->scene;
    const ViewCamera* camera = picture->camera;
    double cell = view_grid_cell(scene), lowest = INFINITY;
    Vec3 center = vec3_scale(0.5, vec3_add(scene->bound.low, scene->bound.high));
    Vec3 a = camera->right, b = vec3_cross(scene->up, a);
    for (int k = 0; k < 8; ++k) {
        Vec3 c = vec3(k & 1 ? scene->bound.high.x : scene->bound.low.x,
                      k & 2 ? scene->bound.high.y : scene->bound.low.y,
                      k & 4 ? scene->bound.high.z : scene->bound.low.z);
        lowest = fmin(lowest, vec3_dot(c, scene->up));
    }
    lowest -= 0.002 * view_scene_size(scene);
    double ca = cell * round(vec3_dot(center, a) / cell),
           cb = cell * round(vec3_dot(center, b) / cell);
    static GpuLineVertex vertex[(2 * HALF + 1) * 2 * PIECES * 2];
    int count = 0;
    for (int i = -HALF; i <= HALF; ++i) {
        for (int direction = 0; direction < 2; ++direction) {
            long number = lround((direction == 0 ? ca : cb) / cell) + i;
            float strength = number % 5 == 0 ? 0.42f : 0.20f;
            if (number == 0) strength = 0.62f;
            for (int k = 0; k < 2 * PIECES; ++k) {
                double along = ((k + 1) / 2 * 2.0 / PIECES - 1) * HALF;
                if (k == 2 * PIECES - 1) along = HALF;
                double x = direction == 0 ? i : along, y = direction == 0 ? along : i;
                double fade = fmax(0, 1 - sqrt(x * x + y * y) / HALF);
                Vec3 q = vec3_scale(lowest, scene->up);
                q = vec3_add_scaled(vec3_add_scaled(q, ca + cell * x, a), cb + cell * y, b);
                vertex[count++] =
                    (GpuLineVertex){{(float)q.x, (float)q.y, (float)q.z},
                                    {tone[0], tone[1], tone[2], strength * (float)(fade * fade)}};
            }
        }
    }
    draw_lines(renderer, picture, vertex, count, GL_LINES, picture->pixel);
}

static void draw_traces(ViewRenderer* renderer, const ViewPicture* picture) {
    for (int i = 0; i < picture->traces; ++i) {
        const ViewTrace* trace = &picture->trace[i];
        if (trace->count < 2) continue;
        GpuLineVertex* vertex = lash_alloc((size_t)trace->count * sizeof *vertex);
        for (int k = 0; k < trace->count; ++k) {
            memcpy(vertex[k].point, trace->point + 3 * k, 3 * sizeof(float));
            memcpy(vertex[k].color, trace->color, 3 * sizeof(float));
            vertex[k].color[3] = 0.9f;
        }
        draw_lines(renderer, picture, vertex, trace->count, GL_LINE_STRIP, 1.8 * picture->pixel);
        lash_free(vertex);
    }
}

// ---- marks on top -------------------------------------------------------------------------------

static void draw_touches(const ViewRenderer* renderer, const ViewPicture* picture) {
    for (int i = 0; i < picture->touches; ++i) {
        const ViewTouch* touch = &picture->touch[i];
        double pixel = view_camera_scale(picture->camera, touch->point) * picture->pixel;
        static const float lit_color[3] = {0.96f, 0.62f, 0.04f};
        bool lit = touch->contact == picture->selected_contact;
        set_color(renderer, touch->closed ? contact_color : near_color, 1);
        if (lit) set_color(renderer, lit_color, 1);
        draw_ball(renderer, touch->point, (touch->closed ? 4.0 : 3.0) * (lit ? 1.7 : 1) * pixel);
        Vec3 tip = vec3_add_scaled(touch->point, 16 * pixel, touch->normal);
        if (!touch->closed) draw_rod(renderer, touch->point, tip, 0.9 * pixel);
    }
}

static void draw_forces(const ViewRenderer* renderer, const ViewPicture* picture) {
    double most = 0.45 * view_scene_size(picture->scene);
    for (int i = 0; i < picture->arrows; ++i) {
        const ViewArrow* arrow = &picture->arrow[i];
        double pixel = view_camera_scale(picture->camera, arrow->point) * picture->pixel;
        double length = vec3_norm(arrow->force) * picture->force_length;
        if (!(length > 6 * pixel)) continue; // too short to be seen
        Vec3 along = vec3_scale(fmin(length, most) / vec3_norm(arrow->force), arrow->force);
        set_color(renderer, arrow->contact ? force_color : reaction_color, 1);
        // A contact pushes the part: the arrow starts at the place and points where the force acts.
        draw_arrow(renderer, arrow->point, vec3_add(arrow->point, along), 1.9 * pixel);
    }
}

// ---- joints as symbols ---------------------------------------------------------------

static const double SYMBOL = 13; // radius of a symbol [points of the screen]

typedef struct Symbol {
    Vec3 at, x, y, z; // z: the joint's axis
    double size, rod; // radius of the symbol and of its lines [m]
} Symbol;

static Vec3 symbol_point(const Symbol* s, double x, double y, double z) {
    Vec3 p = vec3_add_scaled(s->at, x * s->size, s->x);
    return vec3_add_scaled(vec3_add_scaled(p, y * s->size, s->y), z * s->size, s->z);
}

static void draw_ring(const ViewRenderer* renderer, const Symbol* s) {
    enum { PIECES = 48 };
    Vec3 last = symbol_point(s, 1, 0, 0);
    for (int i = 1; i <= PIECES; ++i) {
        double a = 2 * LASH_PI * i / PIECES;
        Vec3 next = symbol_point(s, cos(a), sin(a), 0);
        draw_rod(renderer, last, next, s->rod);
        last = next;
    }
}

static void draw_square(const ViewRenderer* renderer, const Symbol* s, double half, double z) {
    static const double corner[5][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 1}};
    for (int i = 0; i < 4; ++i)
        draw_rod(renderer, symbol_point(s, half * corner[i][0], half * corner[i][1], z),
                 symbol_point(s, half * corner[i + 1][0], half * corner[i + 1][1], z), s->rod);
}

// Pin and bore of joints with play that have no CAD, so that there is something to see; and of all
// of them the bore as it is opened by the magnifier: the pin, drawn at magnified offset, touches
// the ring of radius r + m play just when it touches the bore.
static void draw_pins(const ViewRenderer* renderer, const ViewPicture* picture) {
    static const float pin_color[3] = {0.42f, 0.45f, 0.50f}, bore_color[3] = {0.16f, 0.36f, 0.62f};
    double factor = picture->magnification > 1 ? picture->magnification : 1;
    for (int i = 0; i < picture->scene->joints; ++i) {
        const ViewJoint* j = &picture->scene->joint[i];
        if (!(j->pin_radius > 0) || (j->cad && factor == 1)) continue;
        Pose a = pose_mul(view_world_body(picture->frame, j->body_a), j->a_joint);
        Pose b = pose_mul(view_world_body(picture->frame, j->body_b), j->b_joint);
        Pose bore = j->outer_b ? b : a, pin = j->outer_b ? a : b;
        double half = 0.5 * j->pin_length;
        Vec3 along = quat_rotate(pin.rot, vec3(0, 0, 1));
        set_color(renderer, pin_color, 1);
        if (!j->cad) // a little longer than the bore: its ends are seen
            draw_rod(renderer, vec3_add_scaled(pin.r, -1.15 * half, along),
                     vec3_add_scaled(pin.r, 1.15 * half, along), j->pin_radius);
        set_color(renderer, bore_color, 1);
        double pixel = view_camera_scale(picture->camera, bore.r) * picture->pixel;
        for (int side = -1; side <= 1; side += 2) {
            Vec3 axis = quat_rotate(bore.rot, vec3(0, 0, 1));
            Symbol ring = {.at = vec3_add_scaled(bore.r, side * 1.05 * half, axis),
                           .x = quat_rotate(bore.rot, vec3(1, 0, 0)),
                           .y = quat_rotate(bore.rot, vec3(0, 1, 0)),
                           .z = axis,
                           .rod = 1.2 * pixel};
            ring.size = j->pin_radius + factor * j->clearance + ring.rod;
            draw_ring(renderer, &ring);
        }
    }
}

// A ring turns, arrows slide, a square guides, a ball turns every way, a crossed square holds.
static void draw_symbol(const ViewRenderer* renderer, const Symbol* s, LashJointType type) {
    switch (type) {
        case LASH_REVOLUTE:
        case LASH_CYLINDRICAL:
            draw_ring(renderer, s);
            break;
        case LASH_SPHERICAL:
            draw_ball(renderer, s->at, 0.7 * s->size);
            return;
        case LASH_FIXED:
            draw_rod(renderer, symbol_point(s, -0.8, -0.8, 0), symbol_point(s, 0.8, 0.8, 0),
                     s->rod);
            draw_rod(renderer, symbol_point(s, -0.8, 0.8, 0), symbol_point(s, 0.8, -0.8, 0),
                     s->rod);
            draw_square(renderer, s, 0.8, 0);
            return;
        default:
            draw_square(renderer, s, 0.8, 0);
            break;
    }
    double length = type == LASH_PLANAR ? 1.2 : 2.2;
    if (type == LASH_CYLINDRICAL || type == LASH_PRISMATIC) {
        draw_arrow(renderer, s->at, symbol_point(s, 0, 0, length), 1.2 * s->rod);
        draw_arrow(renderer, s->at, symbol_point(s, 0, 0, -length), 1.2 * s->rod);
    } else {
        draw_rod(renderer, symbol_point(s, 0, 0, -length), symbol_point(s, 0, 0, length), s->rod);
    }
}

static Symbol symbol_of(const ViewPicture* picture, int joint) {
    const ViewJoint* j = &picture->scene->joint[joint];
    Pose world = pose_mul(view_world_body(picture->frame, j->body_a), j->a_joint);
    double pixel = view_camera_scale(picture->camera, world.r) * picture->pixel;
    bool selected = picture->selected_joint == joint;
    return (Symbol){.at = world.r,
                    .x = quat_rotate(world.rot, vec3(1, 0, 0)),
                    .y = quat_rotate(world.rot, vec3(0, 1, 0)),
                    .z = quat_rotate(world.rot, vec3(0, 0, 1)),
                    .size = (selected ? 1.3 : 1) * SYMBOL * pixel,
                    .rod = (selected ? 2.2 : 1.5) * pixel};
}

// Guesses in another colour than what is likely or sure.
static void draw_joint_symbols(const ViewRenderer* renderer, const ViewPicture* picture) {
    static const float known_color[3] = {0.05f, 0.45f, 0.42f},
                       guess_color[3] = {0.90f, 0.45f, 0.05f}, lit_color[3] = {0.96f, 0.62f, 0.04f};
    for (int i = 0; i < picture->scene->joints; ++i) {
        const ViewJoint* j = &picture->scene->joint[i];
        bool shown = picture->style.joint_frames || picture->selected_joint == i;
        if (j->coupling || !shown) continue;
        Symbol symbol = symbol_of(picture, i);
        set_color(renderer, j->guess ? guess_color : known_color, 1);
        if (picture->selected_joint == i) set_color(renderer, lit_color, 1);
        draw_symbol(renderer, &symbol, (LashJointType)j->type);
    }
}

int view_picture_contact(const ViewPicture* picture, double x, double y) {
    int best = -1;
    double least = 6 * picture->pixel;
    for (int i = 0; i < picture->touches && picture->style.contacts; ++i) {
        double u, w;
        if (!view_camera_project(picture->camera, picture->touch[i].point, &u, &w)) continue;
        double off = hypot(u - x, w - y);
        if (off >= least) continue;
        least = off;
        best = picture->touch[i].contact;
    }
    return best;
}

int view_picture_joint(const ViewPicture* picture, double x, double y) {
    int best = -1;
    double least = 1.2 * SYMBOL * picture->pixel;
    for (int i = 0; i < picture->scene->joints && picture->style.joint_frames; ++i) {
        double u, w;
        if (picture->scene->joint[i].coupling) continue;
        if (!view_camera_project(picture->camera, symbol_of(picture, i).at, &u, &w)) continue;
        double off = hypot(u - x, w - y);
        if (off >= least) continue;
        least = off;
        best = i;
    }
    return best;
}

// ---- the whole ----------------------------------------------------------------------------------

static void begin(ViewRenderer* renderer, const ViewPicture* picture) {
    view_camera_matrices(picture->camera, renderer->view.m, renderer->projection.m);
    renderer->section[0] = renderer->section[1] = renderer->section[2] = 0;
    renderer->section[3] = 1;
    if (picture->style
            .section) { // keep what lies below: offset - n.(x - middle) >= 0, to eye coordinates
        Vec3 n = vec3_neg(picture->style.section_normal);
        Vec3 middle =
            vec3_scale(0.5, vec3_add(picture->scene->bound.low, picture->scene->bound.high));
        double d = picture->style.section_offset - vec3_dot(n, middle);
        Vec3 axis[3], eye = view_camera_eye(picture->camera);
        view_camera_axes(picture->camera, &axis[0], &axis[1], &axis[2]);
        for (int k = 0; k < 3; ++k) renderer->section[k] = (float)vec3_dot(n, axis[k]);
        renderer->section[3] = (float)(d + vec3_dot(n, eye));
    }
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glEnable(GL_MULTISAMPLE);
    glDisable(GL_CULL_FACE);
    if (picture->style.section) glEnable(GL_CLIP_DISTANCE0);
}

void view_renderer_draw(ViewRenderer* renderer, const ViewPicture* picture) {
    glViewport(picture->x, picture->y, (int)picture->camera->width, (int)picture->camera->height);
    begin(renderer, picture);
    glClear(GL_DEPTH_BUFFER_BIT);
    gpu_choose_detail(renderer, picture);
    sort_pieces(renderer, picture);
    draw_faces(renderer, picture, VIEW_SHOWN);
    draw_glyphs(renderer, picture);
    glDepthMask(GL_FALSE); // the background where nothing is, then what is blended
    glUseProgram(renderer->program[GPU_BACKGROUND]);
    glBindVertexArray(renderer->empty_vao);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    if (picture->style.grid) draw_grid(renderer, picture);
    glDepthMask(GL_TRUE);
    draw_edges(renderer, picture, VIEW_SHOWN);
    use(renderer, GPU_SOLID, picture);
    draw_pins(renderer, picture);
    if (picture->style.traces) draw_traces(renderer, picture);
    draw_faces(renderer, picture, VIEW_TRANSPARENT);
    draw_edges(renderer, picture, VIEW_TRANSPARENT);
    glDisable(GL_CLIP_DISTANCE0);
    glDepthRange(0, 0.02); // in front of everything, in their own order
    use(renderer, GPU_SOLID, picture);
    glUniform4f(renderer->uniform[GPU_SOLID][UNIFORM_SECTION], 0, 0, 0, 1);
    if (picture->style.contacts) draw_touches(renderer, picture);
    if (picture->style.forces) draw_forces(renderer, picture);
    if (picture->style.joint_frames || picture->selected_joint >= 0)
        draw_joint_symbols(renderer, picture);
    glDepthRange(0, 1);
    glBindVertexArray(0);
    glUseProgram(0);
}

static void free_smooth(ViewRenderer* renderer) {
    unsigned targets[] = {renderer->smooth_color, renderer->smooth_depth};
    glDeleteFramebuffers(1, &renderer->smooth_frame);
    glDeleteRenderbuffers(2, targets);
    renderer->smooth_frame = renderer->smooth_color = renderer->smooth_depth = 0;
}

static void create_smooth(ViewRenderer* renderer, int width, int height, int samples) {
    if (renderer->smooth_frame != 0 && renderer->smooth_width == width &&
        renderer->smooth_height == height && renderer->smooth_samples == samples)
        return;
    free_smooth(renderer);
    glGenFramebuffers(1, &renderer->smooth_frame);
    glGenRenderbuffers(1, &renderer->smooth_color);
    glGenRenderbuffers(1, &renderer->smooth_depth);
    glBindFramebuffer(GL_FRAMEBUFFER, renderer->smooth_frame);
    glBindRenderbuffer(GL_RENDERBUFFER, renderer->smooth_color);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              renderer->smooth_color);
    glBindRenderbuffer(GL_RENDERBUFFER, renderer->smooth_depth);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT24, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                              renderer->smooth_depth);
    renderer->smooth_width = width;
    renderer->smooth_height = height;
    renderer->smooth_samples = samples;
}

void view_renderer_draw_smooth(ViewRenderer* renderer, const ViewPicture* picture, int samples) {
    int most = 0, target = 0, width = (int)picture->camera->width,
        height = (int)picture->camera->height;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    if (samples > most) samples = most;
    if (samples < 2) {
        view_renderer_draw(renderer, picture);
        return;
    }
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
    create_smooth(renderer, width, height, samples);
    glBindFramebuffer(GL_FRAMEBUFFER, renderer->smooth_frame);
    ViewPicture alone = *picture;
    alone.x = alone.y = 0;
    view_renderer_draw(renderer, &alone);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer->smooth_frame);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (unsigned)target);
    glBlitFramebuffer(0, 0, width, height, picture->x, picture->y, picture->x + width,
                      picture->y + height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, (unsigned)target);
}

// ---- picking ------------------------------------------------------------------------------------

// The scene is drawn into one pixel: the projection is stretched so that the pixel fills it.
ViewPick view_renderer_pick(ViewRenderer* renderer, const ViewPicture* picture, int x, int y) {
    ViewPick pick = {-1, -1};
    int before = 0, width = (int)picture->camera->width, height = (int)picture->camera->height;
    if (x < 0 || y < 0 || x >= width || y >= height) return pick;
    begin(renderer, picture);
    double cx = (2.0 * x + 1) / width - 1, cy = 1 - (2.0 * y + 1) / height;
    ViewMatrix stretch = view_matrix_identity();
    stretch.m[0] = (float)width;
    stretch.m[5] = (float)height;
    stretch.m[12] = (float)(-cx * width);
    stretch.m[13] = (float)(-cy * height);
    renderer->projection = view_matrix_mul(&stretch, &renderer->projection);
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before);
    glBindFramebuffer(GL_FRAMEBUFFER, renderer->pick_frame);
    glViewport(0, 0, 1, 1);
    glDisable(GL_BLEND);
    const unsigned none[4] = {0};
    const float far = 1;
    glClearBufferuiv(GL_COLOR, 0, none);
    glClearBufferfv(GL_DEPTH, 0, &far);
    use(renderer, GPU_ID, picture);
    for (int i = 0; i < picture->scene->pieces; ++i) {
        const ViewPiece* piece = &picture->scene->piece[i];
        if (picture->scene->part[piece->part].visibility == VIEW_HIDDEN) continue;
        glUniform1i(renderer->uniform[GPU_ID][UNIFORM_PART], piece->part);
        glUniform1i(renderer->uniform[GPU_ID][UNIFORM_FIRST_FACE], piece->first_face);
        place_mesh(renderer, GPU_ID, view_world_piece(picture->scene, picture->frame, i),
                   vec3(1, 1, 1));
        draw_mesh(&renderer->piece[i]);
    }
    unsigned id[2] = {0, 0};
    glReadPixels(0, 0, 1, 1, GL_RG_INTEGER, GL_UNSIGNED_INT, id);
    glDisable(GL_CLIP_DISTANCE0);
    glEnable(GL_BLEND);
    glBindFramebuffer(GL_FRAMEBUFFER, (unsigned)before);
    glBindVertexArray(0);
    glUseProgram(0);
    pick.part = (int)id[0] - 1;
    pick.face = (int)id[1] - 1;
    return pick;
}

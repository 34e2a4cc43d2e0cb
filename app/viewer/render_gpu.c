// Programs and meshes on the graphics card.
//
// Shading: a hemisphere of soft light about the up direction, a key light from the upper left of
// the eye and a weak fill from the right, Blinn-Phong highlight, and darker rims, so that round
// faces have an outline. Computed in linear light; the square root stands for the screen's gamma.
// Where the section plane opens a solid, its inner side is drawn flat: it looks like the cut.
#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "app/viewer/refine.h"
#include "app/viewer/render_internal.h"
#include "core/arena.h"
#include "core/math3.h"

enum {
    MOST_TRIANGLES = 400000, // of a refined piece
    MOST_LEVEL = 5           // a thousandth of the first deviation
};

static const char solid_vertex[] =
    "#version 330 core\n"
    "layout(location = 0) in vec3 point;\n"
    "layout(location = 1) in vec3 normal;\n"
    "layout(location = 2) in uint face;\n"
    "uniform mat4 model, projection;\n"
    "uniform mat3 turn;\n"
    "uniform vec4 section;\n"
    "out vec3 eye_normal;\n"
    "flat out uint its_face;\n"
    "void main() {\n"
    "  vec4 p = model * vec4(point, 1.0);\n"
    "  eye_normal = turn * normal;\n"
    "  its_face = face;\n"
    "  gl_ClipDistance[0] = dot(section, p);\n"
    "  gl_Position = projection * p;\n"
    "}\n";

static const char solid_fragment[] =
    "#version 330 core\n"
    "in vec3 eye_normal;\n"
    "flat in uint its_face;\n"
    "uniform vec4 color;\n"
    "uniform vec3 up;\n"
    "uniform vec4 tint;\n"
    "uniform int selected;\n"
    "uniform int marked[8];\n" // VIEW_PIECE_MARKS
    "uniform bool cut;\n"
    "out vec4 result;\n"
    "const vec3 key = vec3(-0.41, 0.62, 0.67), fill = vec3(0.75, 0.10, 0.65);\n"
    "const vec3 half_way = vec3(-0.224, 0.339, 0.914);\n" // between key and eye
    "void main() {\n"
    "  vec3 base = color.rgb;\n"
    "  float alpha = color.a;\n"
    "  if (selected == -2 || selected == int(its_face)) base = mix(base, tint.rgb, tint.a);\n"
    "  for (int i = 0; i < 8; ++i)\n"
    "    if (marked[i] == int(its_face)) { base = mix(base, tint.rgb, 0.75); alpha = 0.9; }\n"
    "  if (cut && !gl_FrontFacing) {\n"
    "    float stripe = step(0.5, fract((gl_FragCoord.x + gl_FragCoord.y) / 9.0));\n"
    "    result = vec4(sqrt(base * mix(0.62, 0.46, stripe)), alpha);\n"
    "    return;\n"
    "  }\n"
    "  vec3 n = normalize(eye_normal);\n"
    "  if (!gl_FrontFacing) n = -n;\n"
    "  float sky = 0.5 + 0.5 * dot(n, up);\n"
    "  float k = max(dot(n, key), 0.0), f = max(dot(n, fill), 0.0);\n"
    "  float rim = 1.0 - clamp(n.z, 0.0, 1.0);\n"
    "  rim = rim * rim;\n"
    "  rim = rim * rim;\n"
    "  float h = max(dot(n, half_way), 0.0);\n"
    "  h *= h; h *= h; h *= h; h *= h;\n" // power 16
    "  float light = mix(0.30, 0.52, sky) + 0.60 * k + 0.16 * f;\n"
    "  vec3 c = base * light * (1.0 - 0.55 * rim) + vec3(0.07 * h * h + 0.05 * h * k);\n"
    "  result = vec4(sqrt(clamp(c, 0.0, 1.0)), alpha);\n"
    "}\n";

static const char line_vertex[] =
    "#version 330 core\n"
    "layout(location = 0) in vec3 point;\n"
    "layout(location = 1) in vec4 color_in;\n"
    "uniform mat4 model, projection;\n"
    "uniform vec4 section, color;\n"
    "out vec4 its_color;\n"
    "void main() {\n"
    "  vec4 p = model * vec4(point, 1.0);\n"
    "  gl_ClipDistance[0] = dot(section, p);\n"
    "  its_color = color.a > 0.0 ? color : color_in;\n"
    "  gl_Position = projection * p;\n"
    "}\n";

static const char line_fragment[] =
    "#version 330 core\n"
    "in vec4 its_color;\n"
    "out vec4 result;\n"
    "void main() { result = its_color; }\n";

static const char background_vertex[] =
    "#version 330 core\n"
    "out vec3 shade;\n"
    "void main() {\n"
    "  vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
    "  shade = mix(vec3(0.800, 0.825, 0.855), vec3(0.965, 0.972, 0.980), 0.5 * p.y + 0.5);\n"
    "  gl_Position = vec4(p, 1.0, 1.0);\n"
    "}\n";

static const char background_fragment[] =
    "#version 330 core\n"
    "in vec3 shade;\n"
    "out vec4 result;\n"
    "void main() { result = vec4(shade, 1.0); }\n";

static const char id_fragment[] =
    "#version 330 core\n"
    "in vec3 eye_normal;\n"
    "flat in uint its_face;\n"
    "uniform int part, first_face;\n"
    "out uvec2 result;\n"
    "void main() {\n"
    "  uint face = gl_FrontFacing ? its_face + uint(first_face) + 1u : 0u;\n"
    "  result = uvec2(uint(part) + 1u, face);\n"
    "}\n";

static unsigned compile(unsigned kind, const char* text, LashError* error) {
    unsigned shader = glCreateShader(kind);
    int good = 0;
    char log[300] = "";
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good) return shader;
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    glDeleteShader(shader);
    lash_error_set(error, LASH_ERROR_IO, "OpenGL", "the driver refuses a shader: %.280s", log);
    return 0;
}

static unsigned build(const char* vertex, const char* fragment, LashError* error) {
    unsigned a = compile(GL_VERTEX_SHADER, vertex, error);
    unsigned b = a == 0 ? 0 : compile(GL_FRAGMENT_SHADER, fragment, error);
    unsigned program = b == 0 ? 0 : glCreateProgram();
    if (program != 0) {
        int good = 0;
        glAttachShader(program, a);
        glAttachShader(program, b);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good) {
            lash_error_set(error, LASH_ERROR_IO, "OpenGL", "the driver cannot link the shaders");
            glDeleteProgram(program);
            program = 0;
        }
    }
    if (a != 0) glDeleteShader(a);
    if (b != 0) glDeleteShader(b);
    return program;
}

bool gpu_programs_create(ViewRenderer* renderer, LashError* error) {
    static const char* const text[GPU_PROGRAMS][2] = {
        [GPU_SOLID] = {solid_vertex, solid_fragment},
        [GPU_LINE] = {line_vertex, line_fragment},
        [GPU_BACKGROUND] = {background_vertex, background_fragment},
        [GPU_ID] = {solid_vertex, id_fragment},
    };
    static const char* const name[UNIFORMS] = {
        [UNIFORM_MODEL] = "model",   [UNIFORM_NORMAL] = "turn",
        [UNIFORM_COLOR] = "color",   [UNIFORM_PROJECTION] = "projection",
        [UNIFORM_UP] = "up",         [UNIFORM_SECTION] = "section",
        [UNIFORM_TINT] = "tint",     [UNIFORM_SELECTED] = "selected",
        [UNIFORM_MARKED] = "marked", [UNIFORM_PART] = "part",
        [UNIFORM_CUT] = "cut",       [UNIFORM_FIRST_FACE] = "first_face"};
    for (int i = 0; i < GPU_PROGRAMS; ++i) {
        renderer->program[i] = build(text[i][0], text[i][1], error);
        if (renderer->program[i] == 0) return false;
        for (int k = 0; k < UNIFORMS; ++k) {
            renderer->uniform[i][k] = glGetUniformLocation(renderer->program[i], name[k]);
        }
    }
    return true;
}

// ---- meshes -------------------------------------------------------------------------------------

typedef struct SolidVertex {
    float point[3], normal[3];
    uint32_t face;
} SolidVertex;

static void upload_solid(GpuMesh* mesh, const SolidVertex* vertex, int vertices, const int* index,
                         int indices) {
    mesh->index_count = indices;
    glGenVertexArrays(1, &mesh->vao);
    glGenBuffers(1, &mesh->vertices);
    glGenBuffers(1, &mesh->indices);
    glBindVertexArray(mesh->vao);
    glBindBuffer(GL_ARRAY_BUFFER, mesh->vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)vertices * sizeof *vertex), vertex,
                 GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, mesh->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)((size_t)indices * sizeof *index), index,
                 GL_STATIC_DRAW);
    GLsizei stride = sizeof(SolidVertex);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(SolidVertex, point));
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(SolidVertex, normal));
    glVertexAttribIPointer(2, 1, GL_UNSIGNED_INT, stride, (void*)offsetof(SolidVertex, face));
    for (unsigned i = 0; i < 3; ++i) glEnableVertexAttribArray(i);
    glBindVertexArray(0);
}

static void free_buffers(GpuMesh* mesh) {
    unsigned arrays[] = {mesh->vao, mesh->line_vao};
    unsigned buffers[] = {mesh->vertices, mesh->indices, mesh->line_vertices, mesh->line_indices};
    glDeleteVertexArrays(2, arrays);
    glDeleteBuffers(4, buffers);
    mesh->line_vao = mesh->line_vertices = mesh->line_indices = 0;
}

static void upload_lines(GpuMesh* mesh, const ViewMesh* lines) {
    mesh->line_count = 2 * lines->lines;
    if (lines->lines == 0) return;
    glGenVertexArrays(1, &mesh->line_vao);
    glGenBuffers(1, &mesh->line_vertices);
    glGenBuffers(1, &mesh->line_indices);
    glBindVertexArray(mesh->line_vao);
    glBindBuffer(GL_ARRAY_BUFFER, mesh->line_vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)lines->line_points * 3 * sizeof(float)),
                 lines->line_point, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, mesh->line_indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)((size_t)mesh->line_count * sizeof(int)),
                 lines->line, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 3 * sizeof(float), NULL);
    glEnableVertexAttribArray(0);
    glBindVertexArray(0);
}

static void upload_mesh(GpuMesh* mesh, const ViewMesh* source) {
    size_t count = (size_t)source->vertices;
    SolidVertex* vertex = lash_alloc(count * sizeof *vertex);
    for (size_t i = 0; i < count; ++i) {
        memcpy(vertex[i].point, source->point + 3 * i, 3 * sizeof(float));
        memcpy(vertex[i].normal, source->normal + 3 * i, 3 * sizeof(float));
    }
    for (size_t i = 0; i < (size_t)source->triangles; ++i) { // vertices are shared in a face only
        for (size_t k = 0; k < 3; ++k)
            vertex[source->triangle[3 * i + k]].face = (uint32_t)source->face[i];
    }
    upload_solid(mesh, vertex, source->vertices, source->triangle, 3 * source->triangles);
    upload_lines(mesh, source);
    lash_free(vertex);
}

static void enclose(GpuMesh* mesh, const LashShape* shape) {
    LashBox all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < shape->parts; ++i) {
        LashBox box = shape->part[i].box;
        if (shape->part[i].assembly) continue;
        all.low = vec3(fmin(all.low.x, box.low.x), fmin(all.low.y, box.low.y),
                       fmin(all.low.z, box.low.z));
        all.high = vec3(fmax(all.high.x, box.high.x), fmax(all.high.y, box.high.y),
                        fmax(all.high.z, box.high.z));
    }
    mesh->center = vec3_scale(0.5, vec3_add(all.low, all.high));
    mesh->radius = 0.5 * vec3_distance(all.low, all.high);
}

GpuMesh gpu_mesh_create(const LashShape* shape) {
    GpuMesh mesh = {.closed = true, .deviation = view_mesh_deviation(shape)};
    ViewMesh own = {.point = shape->mesh_point,
                    .normal = shape->mesh_normal,
                    .triangle = shape->triangle,
                    .face = shape->triangle_face,
                    .line_point = shape->line_point,
                    .line = shape->line,
                    .vertices = shape->mesh_vertices,
                    .triangles = shape->triangles,
                    .line_points = shape->line_points,
                    .lines = shape->lines};
    upload_mesh(&mesh, &own);
    enclose(&mesh, shape);
    for (int i = 0; i < shape->parts; ++i) {
        const LashShapePart* part = &shape->part[i];
        mesh.closed = mesh.closed && (part->assembly || (part->closed && !part->inward));
    }
    return mesh;
}

void gpu_mesh_refine(GpuMesh* mesh, const LashShape* shape, int level) {
    ViewMesh fine = view_mesh_refine(shape, mesh->deviation * pow(0.25, level), MOST_TRIANGLES);
    free_buffers(mesh);
    upload_mesh(mesh, &fine);
    mesh->level = level;
    view_mesh_free(&fine);
}

// ---- detail -------------------------------------------------------------------------------------

// Length of a pixel where the piece is nearest to the eye [m]; INFINITY: it is behind the eye.
static double nearest_pixel(const ViewPicture* picture, const GpuMesh* mesh, Pose place) {
    const ViewCamera* camera = picture->camera;
    Vec3 center = pose_point(place, mesh->center), eye = view_camera_eye(camera), right, up, back;
    view_camera_axes(camera, &right, &up, &back);
    double depth = vec3_dot(vec3_sub(eye, center), back); // along the line of sight
    if (depth + mesh->radius <= camera->near) return INFINITY;
    // what is much nearer than the target is not looked at
    double nearest = fmax(depth - mesh->radius, 0.3 * camera->distance);
    return view_camera_scale(camera, vec3_add_scaled(eye, -nearest, back));
}

void gpu_choose_detail(ViewRenderer* renderer, const ViewPicture* picture) {
    const double seen = 0.4; // pixels that a chord may be off: more is seen as a corner
    for (int i = 0; i < renderer->pieces; ++i) {
        GpuMesh* mesh = &renderer->piece[i];
        if (!(mesh->deviation > 0)) continue;
        Pose place = view_world_piece(picture->scene, picture->frame, i);
        double allowed = seen * nearest_pixel(picture, mesh, place);
        int level = 0;
        while (level < MOST_LEVEL && mesh->deviation * pow(0.25, level) > allowed) ++level;
        if (level > mesh->level || level + 1 < mesh->level)
            gpu_mesh_refine(mesh, picture->scene->piece[i].shape, level);
    }
}

// Radius 1 at z = 0, tip at z = 1; with a bottom.
GpuMesh gpu_cone_create(void) {
    enum { ROUND = 24 };
    SolidVertex vertex[4 * ROUND] = {0};
    int index[6 * ROUND];
    const float slope = 0.7071f;
    for (int i = 0; i < ROUND; ++i) {
        double a = 2 * LASH_PI * i / ROUND, m = 2 * LASH_PI * (i + 0.5) / ROUND;
        float c = (float)cos(a), s = (float)sin(a);
        vertex[i] = (SolidVertex){{c, s, 0}, {slope * c, slope * s, slope}, 0};
        vertex[ROUND + i] =
            (SolidVertex){{0, 0, 1}, {slope * (float)cos(m), slope * (float)sin(m), slope}, 0};
        vertex[2 * ROUND + i] = (SolidVertex){{c, s, 0}, {0, 0, -1}, 0};
        vertex[3 * ROUND + i] = (SolidVertex){{0, 0, 0}, {0, 0, -1}, 0};
        int next = (i + 1) % ROUND;
        int side[6] = {i, next, ROUND + i, 2 * ROUND + next, 2 * ROUND + i, 3 * ROUND + i};
        memcpy(index + 6 * i, side, sizeof side);
    }
    GpuMesh mesh = {0};
    upload_solid(&mesh, vertex, 4 * ROUND, index, 6 * ROUND);
    return mesh;
}

void gpu_mesh_destroy(GpuMesh* mesh) {
    free_buffers(mesh);
    *mesh = (GpuMesh){0};
}

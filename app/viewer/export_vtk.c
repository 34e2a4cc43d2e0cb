// ParaView: a .pvd file lists .vtp files (VTK XML PolyData, numbers in base64) with their times.
// Per time one file with the triangles of all parts in world coordinates (cell data: part, face)
// and one with the contact points (point data: gap, normal, force, contact).
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/cli/output_file.h"
#include "app/viewer/export_scene.h"
#include "core/arena.h"
#include "core/math3.h"

// A block of numbers as VTK's inline binary: base64 of the byte count (UInt32), then of the bytes.
static void put_base64(FILE* file, const void* data, size_t bytes) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char* in = data;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        unsigned n = (unsigned)in[i] << 16;
        if (left > 1) n |= (unsigned)in[i + 1] << 8;
        if (left > 2) n |= in[i + 2];
        char out[4] = {digit[n >> 18], digit[n >> 12 & 63], left > 1 ? digit[n >> 6 & 63] : '=',
                       left > 2 ? digit[n & 63] : '='};
        fwrite(out, 1, 4, file);
    }
}

static void put_array(FILE* file, const char* name, const char* type, int components,
                      const void* data, size_t bytes) {
    uint32_t count = (uint32_t)bytes;
    fprintf(file,
            "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
            "format=\"binary\">",
            type, name, components);
    put_base64(file, &count, sizeof count);
    put_base64(file, data, bytes);
    fputs("</DataArray>\n", file);
}

static void put_head(FILE* file, int points, int vertices, int polygons) {
    fputs(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\" "
        "byte_order=\"LittleEndian\" header_type=\"UInt32\">\n  <PolyData>\n",
        file);
    fprintf(file,
            "    <Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" "
            "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n",
            points, vertices, polygons);
}

static bool finish(AppOutput* output, LashError* error) {
    fputs("    </Piece>\n  </PolyData>\n</VTKFile>\n", app_output_stream(output));
    return app_output_finish(output, error);
}

typedef struct Mesh { // of all parts, filled anew for every frame
    float* point;
    int32_t *triangle, *offset, *part, *face;
    int points, triangles;
} Mesh;

static Mesh create_mesh(const ViewScene* scene) {
    Mesh m = {0};
    for (int i = 0; i < scene->pieces; ++i) {
        m.points += scene->piece[i].shape->mesh_vertices;
        m.triangles += scene->piece[i].shape->triangles;
    }
    size_t n = (size_t)m.triangles;
    m.point = lash_alloc((size_t)m.points * 3 * sizeof(float));
    m.triangle = lash_alloc(3 * n * sizeof(int32_t));
    m.offset = lash_alloc(n * sizeof(int32_t));
    m.part = lash_alloc(n * sizeof(int32_t));
    m.face = lash_alloc(n * sizeof(int32_t));
    int vertex = 0, triangle = 0;
    for (int i = 0; i < scene->pieces; ++i) {
        const ViewPiece* piece = &scene->piece[i];
        const LashShape* s = piece->shape;
        for (int k = 0; k < s->triangles; ++k, ++triangle) {
            for (int c = 0; c < 3; ++c)
                m.triangle[3 * triangle + c] = vertex + s->triangle[3 * k + c];
            m.offset[triangle] = 3 * (triangle + 1);
            m.part[triangle] = piece->part;
            m.face[triangle] = piece->first_face + s->triangle_face[k];
        }
        vertex += s->mesh_vertices;
    }
    return m;
}

static void free_mesh(Mesh* mesh) {
    lash_free(mesh->point);
    lash_free(mesh->triangle);
    lash_free(mesh->offset);
    lash_free(mesh->part);
    lash_free(mesh->face);
}

static void place_mesh(const ViewScene* scene, const ViewFrame* frame, Mesh* mesh) {
    float* out = mesh->point;
    for (int i = 0; i < scene->pieces; ++i) {
        const LashShape* s = scene->piece[i].shape;
        Pose place = view_world_piece(scene, frame, i);
        for (int k = 0; k < s->mesh_vertices; ++k) {
            const float* p = s->mesh_point + 3 * k;
            Vec3 w = pose_point(place, vec3((double)p[0], (double)p[1], (double)p[2]));
            *out++ = (float)w.x;
            *out++ = (float)w.y;
            *out++ = (float)w.z;
        }
    }
}

static bool write_parts(const Mesh* mesh, const char* path, LashError* error) {
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    FILE* file = app_output_stream(output);
    size_t n = (size_t)mesh->triangles * sizeof(int32_t);
    put_head(file, mesh->points, 0, mesh->triangles);
    fputs("      <Points>\n", file);
    put_array(file, "Points", "Float32", 3, mesh->point, (size_t)mesh->points * 3 * sizeof(float));
    fputs("      </Points>\n      <Polys>\n", file);
    put_array(file, "connectivity", "Int32", 1, mesh->triangle, 3 * n);
    put_array(file, "offsets", "Int32", 1, mesh->offset, n);
    fputs("      </Polys>\n      <CellData Scalars=\"part\">\n", file);
    put_array(file, "part", "Int32", 1, mesh->part, n);
    put_array(file, "face", "Int32", 1, mesh->face, n);
    fputs("      </CellData>\n", file);
    return finish(output, error);
}

static void put_vector(float* at, Vec3 a) {
    at[0] = (float)a.x;
    at[1] = (float)a.y;
    at[2] = (float)a.z;
}

static bool write_contacts(const ViewTouch* touch, int count, const char* path, LashError* error) {
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    FILE* file = app_output_stream(output);
    float *point = lash_alloc((size_t)count * 10 * sizeof(float)), *normal = point + 3 * count;
    float *force = normal + 3 * count, *gap = force + 3 * count;
    int32_t *index = lash_alloc((size_t)count * 3 * sizeof(int32_t)), *end = index + count;
    int32_t* contact = end + count;
    for (int i = 0; i < count; ++i) {
        put_vector(point + 3 * i, touch[i].point);
        put_vector(normal + 3 * i, touch[i].normal);
        put_vector(force + 3 * i, touch[i].force);
        gap[i] = (float)touch[i].gap;
        index[i] = i;
        end[i] = i + 1;
        contact[i] = touch[i].contact;
    }
    size_t n = (size_t)count * sizeof(float);
    put_head(file, count, count, 0);
    fputs("      <Points>\n", file);
    put_array(file, "Points", "Float32", 3, point, 3 * n);
    fputs("      </Points>\n      <Verts>\n", file);
    put_array(file, "connectivity", "Int32", 1, index, n);
    put_array(file, "offsets", "Int32", 1, end, n);
    fputs("      </Verts>\n      <PointData Vectors=\"force\">\n", file);
    put_array(file, "force", "Float32", 3, force, 3 * n);
    put_array(file, "normal", "Float32", 3, normal, 3 * n);
    put_array(file, "gap", "Float32", 1, gap, n);
    put_array(file, "contact", "Int32", 1, contact, n);
    fputs("      </PointData>\n", file);
    lash_free(point);
    lash_free(index);
    return finish(output, error);
}

static void put_xml(FILE* file, const char* text) { // inside an attribute
    for (; *text != '\0'; ++text) {
        const char* code = NULL;
        if (*text == '&') code = "&amp;";
        if (*text == '<') code = "&lt;";
        if (*text == '"') code = "&quot;";
        if (code != NULL) {
            fputs(code, file);
        } else {
            fputc(*text, file);
        }
    }
}

// path without its ending, and the part after the last slash.
static void stem_of(const char* file, char* stem, size_t size, const char** name) {
    snprintf(stem, size, "%s", file);
    char* dot = strrchr(stem, '.');
    if (dot != NULL && strcmp(dot, ".pvd") == 0) *dot = '\0';
    const char* slash = strrchr(stem, '/');
    *name = slash == NULL ? stem : slash + 1;
}

static void list_frame(FILE* pvd, const char* name, double time, int number) {
    static const char* const kind[] = {"parts", "contacts"};
    for (int k = 0; k < 2; ++k) {
        fprintf(pvd, "    <DataSet timestep=\"%.17g\" group=\"\" part=\"%d\" file=\"", time, k);
        put_xml(pvd, name);
        fprintf(pvd, "_frames/%s_%05d.vtp\"/>\n", kind[k], number);
    }
}

static bool write_frame(ViewSource* source, const ViewScene* scene, ViewFrame* frame, Mesh* mesh,
                        const char* stem, int64_t index, int number, LashError* error) {
    char path[1200];
    if (!view_source_frame(source, index, frame, error)) return false;
    view_frame_place(scene, frame);
    place_mesh(scene, frame, mesh);
    snprintf(path, sizeof path, "%s_frames/parts_%05d.vtp", stem, number);
    if (!write_parts(mesh, path, error)) return false;
    ViewTouch* touch = lash_alloc(VIEW_MAX_POINTS * sizeof *touch);
    int count = view_frame_touches(scene, frame, touch, VIEW_MAX_POINTS);
    snprintf(path, sizeof path, "%s_frames/contacts_%05d.vtp", stem, number);
    bool good = write_contacts(touch, count, path, error);
    lash_free(touch);
    return good;
}

bool view_export_vtk(ViewSource* source, const ViewScene* scene, const char* file, int frames,
                     LashError* error) {
    char stem[1024], folder[1100];
    const char* name;
    int64_t there = view_source_status(source).frames;
    int count = there < frames ? (int)there : frames;
    stem_of(file, stem, sizeof stem, &name);
    snprintf(folder, sizeof folder, "%s_frames", stem);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot make the folder: %s", strerror(errno));
        lash_error_file(error, folder);
        return false;
    }
    AppOutput* output = app_output_create(file, error);
    if (output == NULL) return false;
    FILE* pvd = app_output_stream(output);
    fputs(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n",
        pvd);
    ViewFrame frame = view_frame_create(scene);
    Mesh mesh = create_mesh(scene);
    bool good = true;
    for (int i = 0; i < count && good; ++i) {
        int64_t index = view_export_frame(there, count, i);
        good = write_frame(source, scene, &frame, &mesh, stem, index, i, error);
        list_frame(pvd, name, frame.time, i);
    }
    fputs("  </Collection>\n</VTKFile>\n", pvd);
    if (good) {
        good = app_output_finish(output, error);
    } else {
        app_output_discard(output);
    }
    free_mesh(&mesh);
    view_frame_destroy(&frame);
    return good;
}

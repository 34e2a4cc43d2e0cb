// lash info FILE.step: parts, masses and the face list a user needs to write a model.
//
// The table shows millimetres, square millimetres and grams at 1 g/cm^3; --json is SI throughout.
#include "app/check/info.h"
#include "app/cli/file_kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "core/math3.h"
#include "geometry/kernels/kernels.h"
#include "geometry/select.h"
#include "geometry/shape.h"

typedef struct InfoOptions {
    AppOperands operands;
    double scale;
    bool json, edges, heal, no_cache, pmi;
} InfoOptions;

#define OPTION(member) offsetof(InfoOptions, member)
static const AppOption options[] = {
    {"json", 0, APP_FLAG, NULL, "print one JSON document in SI units instead of text",
     OPTION(json)},
    {"scale", 0, APP_NUMBER, "S", "metres per number of the file, when its header is wrong",
     OPTION(scale)},
    APP_OPTION_CAD_SECONDS,
    {"heal", 0, APP_FLAG, NULL, "repair small defects first", OPTION(heal)},
    {"edges", 0, APP_FLAG, NULL, "list the edges, too", OPTION(edges)},
    {"pmi", 0, APP_FLAG, NULL, "list the sizes with tolerances that the file carries (AP242)",
     OPTION(pmi)},
    {"no-cache", 0, APP_FLAG, NULL, "read the file anew", OPTION(no_cache)},
};
const AppCommand app_info_command = {
    .name = "info",
    .operands = "FILE.step",
    .summary = "list parts, masses and faces of a STEP file",
    .detail =
        "Shows the parts, their mass properties and every face: index, name, type, radius, axis, "
        "box.\n"
        "Models name faces by this index, by name, or by type, radius and place. The table is in\n"
        "millimetres. A file with metre numbers under a millimetre header needs --scale 1.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STEP};

static void put_box(AppJson* json, LashBox box) {
    app_json_key(json, "box");
    app_json_begin_array(json);
    for (int i = 0; i < 2; ++i) {
        Vec3 p = i == 0 ? box.low : box.high;
        app_json_begin_array(json);
        app_json_number(json, p.x);
        app_json_number(json, p.y);
        app_json_number(json, p.z);
        app_json_end_array(json);
    }
    app_json_end_array(json);
}

static void put_name(AppJson* json, const char* key, const LashShape* shape, int name) {
    app_json_put_text(json, key, name != 0 ? lash_shape_string(shape, name) : NULL);
}

static const char* convexity_name(LashConvexity c) {
    static const char* const names[] = {"convex", "concave", "smooth", "free"};
    return names[c];
}

static const char* curve_name(LashCurveType t) {
    static const char* const names[] = {"line", "circle", "freeform"};
    return names[t];
}

static void put_color(AppJson* json, const float color[4]) { // null: none given
    app_json_key(json, "color");
    if (color[3] > 0) {
        app_json_begin_array(json);
        for (int i = 0; i < 4; ++i) app_json_number(json, (double)color[i]);
        app_json_end_array(json);
    } else {
        app_json_null(json);
    }
}

static void put_face(AppJson* json, const LashShape* shape, const LashFace* face) {
    bool round = face->type != LASH_PLANE && face->type != LASH_FREEFORM;
    app_json_begin_object(json);
    app_json_put_integer(json, "index", face->index);
    put_name(json, "name", shape, face->name);
    if (face->color[3] > 0) put_color(json, face->color); // else that of the part
    app_json_put_text(json, "type", lash_surface_type_name(face->type));
    app_json_put_number(json, "radius", round ? face->radius : NAN);
    if (face->type == LASH_TORUS) app_json_put_number(json, "tube_radius", face->radius2);
    if (face->type == LASH_CONE) app_json_put_number(json, "half_angle", face->half_angle);
    if (face->type != LASH_FREEFORM) {
        app_json_put_vec3(json, "origin", face->origin);
        app_json_put_vec3(json, "axis",
                          face->type == LASH_PLANE ? vec3_scale(face->side, face->z) : face->z);
    } else {
        app_json_key(json, "origin");
        app_json_null(json);
        app_json_key(json, "axis");
        app_json_null(json);
    }
    app_json_key(json, "side"); // the axis of a plane is its outward normal already
    if (face->type == LASH_FREEFORM)
        app_json_null(json);
    else
        app_json_integer(json, face->type == LASH_PLANE || face->side > 0 ? 1 : -1);
    put_box(json, face->box);
    app_json_put_number(json, "area", face->area);
    app_json_put_number(json, "deviation", face->deviation);
    app_json_put_number(json, "reach", face->reach);
    app_json_end_object(json);
}

static void put_edge(AppJson* json, const LashEdge* edge) {
    app_json_begin_object(json);
    app_json_put_integer(json, "index", edge->index);
    app_json_put_text(json, "type", curve_name(edge->type));
    app_json_put_number(json, "radius", edge->type == LASH_CIRCLE ? edge->radius : NAN);
    app_json_put_text(json, "convexity", convexity_name(edge->convexity));
    app_json_put_number(json, "tolerance", edge->tolerance);
    put_box(json, edge->box);
    app_json_end_object(json);
}

static void put_inertia(AppJson* json, const Mat3* inertia) {
    app_json_key(json, "inertia");
    app_json_begin_array(json);
    for (int i = 0; i < 3; ++i) {
        app_json_begin_array(json);
        for (int j = 0; j < 3; ++j) app_json_number(json, inertia->m[i + 3 * j]);
        app_json_end_array(json);
    }
    app_json_end_array(json);
}

static void put_part(AppJson* json, const LashShape* shape, const LashShapePart* shape_part,
                     bool edges) {
    app_json_begin_object(json);
    put_name(json, "name", shape, shape_part->name);
    put_name(json, "parent", shape,
             shape_part->parent >= 0 ? shape->part[shape_part->parent].name : 0);
    app_json_put_bool(json, "assembly", shape_part->assembly);
    app_json_key(json, "placement");
    app_json_begin_object(json);
    app_json_put_vec3(json, "position", shape_part->placement.r);
    app_json_put_quat(json, "quaternion", shape_part->placement.rot);
    app_json_end_object(json);
    put_color(json, shape_part->color);
    put_name(json, "material", shape, shape_part->material);
    if (shape_part->density > 0) app_json_put_number(json, "density", shape_part->density);
    app_json_put_integer(json, "solids", shape_part->solids);
    app_json_put_integer(json, "shells", shape_part->shells);
    app_json_put_bool(json, "closed", shape_part->closed);
    app_json_put_bool(json, "valid", shape_part->valid);
    app_json_put_bool(json, "inward", shape_part->inward);
    app_json_put_number(json, "volume", shape_part->volume);
    app_json_put_number(json, "area", shape_part->area);
    app_json_put_vec3(json, "center", shape_part->center);
    put_inertia(json, &shape_part->inertia);
    app_json_put_number(json, "tolerance", shape_part->tolerance_max);
    put_box(json, shape_part->box);
    app_json_key(json, "faces");
    app_json_begin_array(json);
    for (int i = 0; i < shape_part->faces; ++i)
        put_face(json, shape, &shape->face[shape_part->first_face + i]);
    app_json_end_array(json);
    app_json_put_integer(json, "edge_count", shape_part->edges);
    if (edges) {
        app_json_key(json, "edges");
        app_json_begin_array(json);
        for (int i = 0; i < shape_part->edges; ++i)
            put_edge(json, &shape->edge[shape_part->first_edge + i]);
        app_json_end_array(json);
    }
    app_json_end_object(json);
}

// One warning after another: the line that begins at *rest, or NULL.
static const char* next_warning(const char** rest, char* line, size_t size) {
    if (**rest == '\0') return NULL;
    size_t n = strcspn(*rest, "\n");
    snprintf(line, size, "%.*s", (int)n, *rest);
    *rest += (*rest)[n] == '\n' ? n + 1 : n;
    return line;
}

static void put_sizes(AppJson* json, const LashShape* shape) {
    static const char* const kinds[] = {"diameter", "length", "angle", "other"};
    app_json_key(json, "sizes");
    app_json_begin_array(json);
    for (int i = 0; i < shape->sizes; ++i) {
        const LashSize* size = &shape->size[i];
        app_json_begin_object(json);
        put_name(json, "part", shape, shape->part[size->part].name);
        app_json_put_integer(json, "face", shape->face[size->face].index);
        if (size->face2 >= 0) app_json_put_integer(json, "to_face", shape->face[size->face2].index);
        app_json_put_text(json, "kind", kinds[size->kind]);
        app_json_put_number(json, "nominal", size->nominal);
        app_json_put_number(json, "stated", size->stated);
        app_json_put_number(json, "upper", size->upper);
        app_json_put_number(json, "lower", size->lower);
        put_name(json, "class", shape, size->class_name);
        put_name(json, "note", shape, size->note);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_shape(AppJson* json, const LashShape* shape, const InfoOptions* info_options) {
    app_json_put_text(json, "file", info_options->operands.item[0]);
    app_json_put_text(json, "hash", shape->hash);
    app_json_key(json, "units");
    app_json_begin_object(json);
    app_json_put_text(json, "declared", shape->unit);
    app_json_put_number(json, "scale", shape->scale);
    app_json_put_bool(json, "override", info_options->scale > 0);
    app_json_end_object(json);
    app_json_key(json, "warnings");
    app_json_begin_array(json);
    const char* rest = lash_shape_string(shape, shape->warnings);
    for (char line[512]; next_warning(&rest, line, sizeof line) != NULL;) app_json_text(json, line);
    app_json_end_array(json);
    app_json_key(json, "parts");
    app_json_begin_array(json);
    for (int i = 0; i < shape->parts; ++i)
        put_part(json, shape, &shape->part[i], info_options->edges);
    app_json_end_array(json);
    if (info_options->pmi) put_sizes(json, shape);
}

// "+z", "-x" for the axes of the file, else three numbers.
static void axis_text(Vec3 a, char* out, size_t size) {
    const double v[3] = {a.x, a.y, a.z};
    for (int i = 0; i < 3; ++i)
        if (fabs(fabs(v[i]) - 1) < 1e-9) {
            snprintf(out, size, "%c%c", v[i] < 0 ? '-' : '+', "xyz"[i]);
            return;
        }
    double shown[3];
    for (int i = 0; i < 3; ++i) shown[i] = fabs(v[i]) < 5e-5 ? 0 : v[i]; // without a negative zero
    snprintf(out, size, "(%.4f %.4f %.4f)", shown[0], shown[1], shown[2]);
}

static double mm(double metres) { // without a negative zero, and what is rounding
    return fabs(metres) < 1e-12 ? 0 : 1e3 * metres;
}

static void print_face(const LashShape* shape, const LashFace* face) {
    char axis[48] = "-", radius[48] = "-", box[120];
    if (face->type == LASH_TORUS)
        snprintf(radius, sizeof radius, "%.6g/%.6g", 1e3 * face->radius, 1e3 * face->radius2);
    else if (face->type == LASH_CONE)
        snprintf(radius, sizeof radius, "%.6g-%.6g",
                 1e3 * fabs(face->radius + face->v0 * sin(face->half_angle)),
                 1e3 * fabs(face->radius + face->v1 * sin(face->half_angle)));
    else if (face->type != LASH_PLANE && face->type != LASH_FREEFORM)
        snprintf(radius, sizeof radius, "%.6g", 1e3 * face->radius);
    if (face->type != LASH_FREEFORM && face->type != LASH_SPHERE)
        axis_text(face->type == LASH_PLANE ? vec3_scale(face->side, face->z) : face->z, axis,
                  sizeof axis);
    snprintf(box, sizeof box, "%.5g %.5g %.5g .. %.5g %.5g %.5g", mm(face->box.low.x),
             mm(face->box.low.y), mm(face->box.low.z), mm(face->box.high.x), mm(face->box.high.y),
             mm(face->box.high.z));
    const char* bend = face->side > 0 ? "outer" : "inner";
    if (face->type == LASH_PLANE || face->type == LASH_FREEFORM) bend = "";
    printf("  %5d  %-16s %-9s%-6s %-15s %-24s %10.5g  %s", face->index,
           face->name != 0 ? lash_shape_string(shape, face->name) : "-",
           lash_surface_type_name(face->type), bend, radius, axis, 1e6 * face->area, box);
    const char* how = face->type == LASH_FREEFORM ? "approximated" : "recognised";
    if (lash_face_is_extruded(shape, face)) how = "extruded";
    if (face->deviation > 0) printf("  (%s, within %.2g mm)", how, 1e3 * face->deviation);
    printf("\n");
}

static void print_edge(const LashEdge* edge) {
    char radius[32] = "-";
    if (edge->type == LASH_CIRCLE) snprintf(radius, sizeof radius, "%.6g", 1e3 * edge->radius);
    printf("  %5d  %-9s %-8s r %-10s faces %d %d  %.5g %.5g %.5g .. %.5g %.5g %.5g\n", edge->index,
           curve_name(edge->type), convexity_name(edge->convexity), radius, edge->face[0],
           edge->face[1], mm(edge->box.low.x), mm(edge->box.low.y), mm(edge->box.low.z),
           mm(edge->box.high.x), mm(edge->box.high.y), mm(edge->box.high.z));
}

// What the file says of it; a mass only where it has a density.
static void print_material(const LashShape* shape, const LashShapePart* part) {
    const char* name = part->material != 0 ? lash_shape_string(shape, part->material) : NULL;
    if (name == NULL && !(part->density > 0)) return;
    printf("  material %s", name != NULL ? name : "without a name");
    if (part->density > 0) printf(", %.6g g/cm^3", 1e-3 * part->density);
    if (part->density > 0 && part->closed)
        printf(", mass %.6g g", 1e3 * part->density * part->volume);
    printf(" (from the file)\n");
}

static void print_part(const LashShape* shape, const LashShapePart* part, bool edges) {
    const char* name = lash_shape_string(shape, part->name);
    if (part->assembly) {
        printf("\nassembly %s\n", name);
        return;
    }
    const char* kind = part->faces > 0 ? "loose faces" : "loose edges";
    if (part->shells > 0) kind = part->closed ? "closed shell" : "open shell";
    if (part->solids > 0) kind = "solid";
    printf("\n%s: %s%s%s, %d faces, %d edges\n", name, kind,
           part->inward ? ", oriented inward" : "", part->valid ? "" : ", with defects",
           part->faces, part->edges);
    if (part->closed) {
        printf("  volume %.9g mm^3, mass %.6g g at 1 g/cm^3, center %.6g %.6g %.6g mm\n",
               1e9 * part->volume, 1e6 * part->volume, mm(part->center.x), mm(part->center.y),
               mm(part->center.z));
        const double* I = part->inertia.m;
        printf("  inertia at 1 g/cm^3 (g mm^2): xx %.6g yy %.6g zz %.6g xy %.4g yz %.4g zx %.4g\n",
               1e12 * I[0], 1e12 * I[4], 1e12 * I[8], 1e12 * I[3], 1e12 * I[7], 1e12 * I[6]);
    }
    print_material(shape, part);
    printf("  box %.6g %.6g %.6g .. %.6g %.6g %.6g mm, largest tolerance %.2g mm\n",
           mm(part->box.low.x), mm(part->box.low.y), mm(part->box.low.z), mm(part->box.high.x),
           mm(part->box.high.y), mm(part->box.high.z), 1e3 * part->tolerance_max);
    if (part->faces > 0)
        printf("  index  %-16s %-15s %-15s %-24s %10s  %s\n", "name", "type", "radius mm",
               "axis/normal", "area mm^2", "box mm");
    for (int i = 0; i < part->faces; ++i) print_face(shape, &shape->face[part->first_face + i]);
    if (!edges && part->faces > 0) return;
    for (int i = 0; i < part->edges; ++i) print_edge(&shape->edge[part->first_edge + i]);
}

static void print_size(const LashShape* shape, const LashSize* size) {
    static const char* const kinds[] = {"diameter", "length", "angle", "other"};
    double unit = size->kind == LASH_SIZE_ANGLE ? 180 / LASH_PI : 1e3;
    char face[48], limits[80] = "";
    snprintf(face, sizeof face, "%d", shape->face[size->face].index);
    size_t used = strlen(face);
    if (size->face2 >= 0)
        snprintf(face + used, sizeof face - used, " to %d", shape->face[size->face2].index);
    if (size->class_name != 0)
        snprintf(limits, sizeof limits, "%s", lash_shape_string(shape, size->class_name));
    else if (!isnan(size->lower))
        snprintf(limits, sizeof limits, "%+.6g %+.6g", unit * size->upper, unit * size->lower);
    printf("  %-12s %-9s %-12.9g %-18s %s%s%s\n", face, kinds[size->kind], unit * size->nominal,
           limits, lash_shape_string(shape, shape->part[size->part].name),
           size->note != 0 ? ": " : "",
           size->note != 0 ? lash_shape_string(shape, size->note) : "");
}

static void print_sizes(const LashShape* shape) {
    if (shape->sizes == 0) {
        printf(
            "\nno sizes with tolerances: the file carries none that is attached to a face "
            "(semantic PMI of AP242 is what counts, drawn annotations do not)\n");
        return;
    }
    printf("\nsizes with tolerances (mm, degrees)\n");
    printf("  %-12s %-9s %-12s %-18s %s\n", "face", "kind", "nominal", "upper lower", "part");
    for (int i = 0; i < shape->sizes; ++i) print_size(shape, &shape->size[i]);
}

static void print_table(const LashShape* shape, const InfoOptions* info_options) {
    printf("%s: declared unit %s, %.6g m per number%s\n", info_options->operands.item[0],
           shape->unit, shape->scale, info_options->scale > 0 ? " (overridden)" : "");
    for (int i = 0; i < shape->parts; ++i) print_part(shape, &shape->part[i], info_options->edges);
    if (info_options->pmi) print_sizes(shape);
    const char* rest = lash_shape_string(shape, shape->warnings);
    for (char line[512]; next_warning(&rest, line, sizeof line) != NULL;)
        app_report_warning("%s", line);
}

int app_info(int argc, char** argv) {
    InfoOptions o = {.scale = 0};
    int code = app_options_parse(&app_info_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("info", o.json);
    LashError error = {0};
    LashImport import = {.scale = o.scale,
                         .heal = o.heal,
                         .no_cache = o.no_cache,
                         .progress = app_progress_cad,
                         .pmi = o.pmi};
    LashShape* shape = NULL;
    if (o.scale < 0)
        lash_error_set(&error, LASH_ERROR_USAGE, "--scale",
                       "expected positive metres per number of the file, got %g", o.scale);
    else
        shape = lash_shape_load(o.operands.item[0], &import, &error);
    if (shape != NULL && o.json)
        put_shape(app_report_document(&report, NULL), shape, &o);
    else if (shape != NULL)
        print_table(shape, &o);
    lash_shape_destroy(shape);
    return app_report_finish(&report, &error);
}

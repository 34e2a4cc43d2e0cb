// lash info FILE.step: parts, masses and the face list a user needs to write a model.
//
// The table shows millimetres, square millimetres and grams at 1 g/cm^3; --json is SI throughout.
#include "app/info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/version.h"
#include "core/math3.h"
#include "geometry/select.h"
#include "geometry/shape.h"

typedef struct InfoOptions {
    const char* file;
    LashImport import;
    bool json, edges;
} InfoOptions;

static const char usage[] =
    "usage: lash info FILE.step [--json] [--scale S] [--heal] [--edges] [--no-cache]\n"
    "\n"
    "Shows the parts of a STEP file, their mass properties and every face: index, name, type,\n"
    "radius, axis, box. Models name faces by this index, by name, or by type, radius and place.\n"
    "\n"
    "  --json      one JSON document in SI units\n"
    "  --scale S   metres per number of the file, when its header is wrong (metres: --scale 1)\n"
    "  --heal      repair small defects first\n"
    "  --edges     list the edges, too\n"
    "  --no-cache  read the file anew\n"
    "  -h, --help  this text\n";

static void json_string(const char* text) {
    putchar('"');
    for (const unsigned char* p = (const unsigned char*)text; *p != 0; ++p) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (*p < 32)
            printf("\\u%04x", *p);
        else
            putchar(*p);
    }
    putchar('"');
}

static void json_number(double x) {
    if (isfinite(x))
        printf("%.17g", x);
    else
        printf("null");
}

static void json_vec3(const char* key, Vec3 a) {
    printf("\"%s\": [%.17g, %.17g, %.17g]", key, a.x, a.y, a.z);
}

static void json_box(LashBox box) {
    printf("\"box\": [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]", box.low.x, box.low.y,
           box.low.z, box.high.x, box.high.y, box.high.z);
}

static const char* convexity_name(LashConvexity c) {
    static const char* const names[] = {"convex", "concave", "smooth", "free"};
    return names[c];
}

static const char* curve_name(LashCurveType t) {
    static const char* const names[] = {"line", "circle", "freeform"};
    return names[t];
}

static void json_face(const LashShape* shape, const LashFace* f) {
    bool round = f->type != LASH_PLANE && f->type != LASH_FREEFORM;
    printf("{\"index\": %d, \"name\": ", f->index);
    if (f->name != 0)
        json_string(lash_shape_string(shape, f->name));
    else
        printf("null");
    printf(", \"type\": \"%s\", \"radius\": ", lash_surface_type_name(f->type));
    json_number(round ? f->radius : NAN);
    if (f->type == LASH_TORUS) printf(", \"tube_radius\": %.17g", f->radius2);
    if (f->type == LASH_CONE) printf(", \"half_angle\": %.17g", f->half_angle);
    if (f->type != LASH_FREEFORM) {
        printf(", ");
        json_vec3("origin", f->origin);
        printf(", ");
        json_vec3("axis", f->type == LASH_PLANE ? vec3_scale(f->side, f->z) : f->z);
    } else {
        printf(", \"origin\": null, \"axis\": null");
    }
    printf(", \"side\": %d, ", f->side > 0 ? 1 : -1);
    json_box(f->box);
    printf(", \"area\": %.17g, \"deviation\": %.17g, \"reach\": ", f->area, f->deviation);
    json_number(f->reach);
    putchar('}');
}

static void json_edge(const LashEdge* e) {
    printf("{\"index\": %d, \"type\": \"%s\", \"radius\": ", e->index, curve_name(e->type));
    json_number(e->type == LASH_CIRCLE ? e->radius : NAN);
    printf(", \"convexity\": \"%s\", \"tolerance\": %.17g, ", convexity_name(e->convexity),
           e->tolerance);
    json_box(e->box);
    putchar('}');
}

static void json_part(const LashShape* shape, const LashShapePart* p, bool edges) {
    printf("{\"name\": ");
    json_string(lash_shape_string(shape, p->name));
    printf(", \"parent\": ");
    if (p->parent >= 0)
        json_string(lash_shape_string(shape, shape->part[p->parent].name));
    else
        printf("null");
    printf(", \"assembly\": %s, \"placement\": {", p->assembly ? "true" : "false");
    json_vec3("position", p->placement.r);
    Quat q = p->placement.rot;
    printf(", \"quaternion\": [%.17g, %.17g, %.17g, %.17g]}, \"color\": ", q.w, q.x, q.y, q.z);
    if (p->color[3] > 0)
        printf("[%.6g, %.6g, %.6g, %.6g]", p->color[0], p->color[1], p->color[2], p->color[3]);
    else
        printf("null");
    printf(", \"solids\": %d, \"shells\": %d, \"closed\": %s, \"valid\": %s, \"inward\": %s",
           p->solids, p->shells, p->closed ? "true" : "false", p->valid ? "true" : "false",
           p->inward ? "true" : "false");
    printf(", \"volume\": %.17g, \"area\": %.17g, ", p->volume, p->area);
    json_vec3("center", p->center);
    const double* I = p->inertia.m;
    printf(", \"inertia\": [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]",
           I[0], I[3], I[6], I[1], I[4], I[7], I[2], I[5], I[8]);
    printf(", \"tolerance\": %.17g, ", p->tolerance_max);
    json_box(p->box);
    printf(", \"faces\": [");
    for (int i = 0; i < p->faces; ++i) {
        printf(i > 0 ? ",\n      " : "\n      ");
        json_face(shape, &shape->face[p->first_face + i]);
    }
    printf("], \"edge_count\": %d", p->edges);
    for (int i = 0; edges && i < p->edges; ++i) {
        printf(i > 0 ? ",\n      " : ", \"edges\": [\n      ");
        json_edge(&shape->edge[p->first_edge + i]);
    }
    printf(edges && p->edges > 0 ? "]}" : "}");
}

static void print_json(const LashShape* shape, const InfoOptions* options) {
    printf("{\"lash\": \"%s\", \"command\": \"info\", \"ok\": true,\n  \"file\": ", LASH_VERSION);
    json_string(options->file);
    printf(", \"hash\": \"%s\",\n  \"units\": {\"declared\": ", shape->hash);
    json_string(shape->unit);
    printf(", \"scale\": %.17g, \"override\": %s},\n  \"warnings\": [", shape->scale,
           options->import.scale > 0 ? "true" : "false");
    char text[4096];
    snprintf(text, sizeof text, "%s", lash_shape_string(shape, shape->warnings));
    char *rest = text, *line;
    for (int i = 0; (line = strsep(&rest, "\n")) != NULL && line[0] != '\0'; ++i) {
        if (i > 0) printf(", ");
        json_string(line);
    }
    printf("],\n  \"parts\": [");
    for (int i = 0; i < shape->parts; ++i) {
        printf(i > 0 ? ",\n    " : "\n    ");
        json_part(shape, &shape->part[i], options->edges);
    }
    printf("]}\n");
}

// "+z", "-x" for the axes of the file, else three numbers.
static void axis_text(Vec3 a, char* out, size_t size) {
    const double v[3] = {a.x, a.y, a.z};
    for (int i = 0; i < 3; ++i)
        if (fabs(fabs(v[i]) - 1) < 1e-9) {
            snprintf(out, size, "%c%c", v[i] < 0 ? '-' : '+', "xyz"[i]);
            return;
        }
    snprintf(out, size, "(%.4f %.4f %.4f)", a.x, a.y, a.z);
}

static void print_face(const LashShape* shape, const LashFace* f) {
    char axis[48] = "-", radius[48] = "-", box[120];
    if (f->type == LASH_TORUS)
        snprintf(radius, sizeof radius, "%.6g/%.6g", 1e3 * f->radius, 1e3 * f->radius2);
    else if (f->type == LASH_CONE)
        snprintf(radius, sizeof radius, "%.6g-%.6g",
                 1e3 * fabs(f->radius + f->v0 * sin(f->half_angle)),
                 1e3 * fabs(f->radius + f->v1 * sin(f->half_angle)));
    else if (f->type != LASH_PLANE && f->type != LASH_FREEFORM)
        snprintf(radius, sizeof radius, "%.6g", 1e3 * f->radius);
    if (f->type != LASH_FREEFORM && f->type != LASH_SPHERE)
        axis_text(f->type == LASH_PLANE ? vec3_scale(f->side, f->z) : f->z, axis, sizeof axis);
    snprintf(box, sizeof box, "%.5g %.5g %.5g .. %.5g %.5g %.5g", 1e3 * f->box.low.x,
             1e3 * f->box.low.y, 1e3 * f->box.low.z, 1e3 * f->box.high.x, 1e3 * f->box.high.y,
             1e3 * f->box.high.z);
    const char* bend = f->type == LASH_PLANE || f->type == LASH_FREEFORM ? ""
                       : f->side > 0                                     ? "outer"
                                                                         : "inner";
    printf("  %5d  %-16s %-9s%-6s %-15s %-24s %10.5g  %s", f->index,
           f->name != 0 ? lash_shape_string(shape, f->name) : "-", lash_surface_type_name(f->type),
           bend, radius, axis, 1e6 * f->area, box);
    if (f->deviation > 0)
        printf("  (%s, within %.2g mm)", f->type == LASH_FREEFORM ? "approximated" : "recognised",
               1e3 * f->deviation);
    printf("\n");
}

static void print_edge(const LashEdge* e) {
    char radius[32] = "-";
    if (e->type == LASH_CIRCLE) snprintf(radius, sizeof radius, "%.6g", 1e3 * e->radius);
    printf("  %5d  %-9s %-8s r %-10s faces %d %d  %.5g %.5g %.5g .. %.5g %.5g %.5g\n", e->index,
           curve_name(e->type), convexity_name(e->convexity), radius, e->face[0], e->face[1],
           1e3 * e->box.low.x, 1e3 * e->box.low.y, 1e3 * e->box.low.z, 1e3 * e->box.high.x,
           1e3 * e->box.high.y, 1e3 * e->box.high.z);
}

static void print_part(const LashShape* shape, const LashShapePart* p, bool edges) {
    const char* name = lash_shape_string(shape, p->name);
    if (p->assembly) {
        printf("\nassembly %s\n", name);
        return;
    }
    const char* kind = p->solids > 0   ? "solid"
                       : p->shells > 0 ? (p->closed ? "closed shell" : "open shell")
                       : p->faces > 0  ? "loose faces"
                                       : "loose edges";
    printf("\n%s: %s%s%s, %d faces, %d edges\n", name, kind, p->inward ? ", oriented inward" : "",
           p->valid ? "" : ", with defects", p->faces, p->edges);
    if (p->closed) {
        printf("  volume %.9g mm^3, mass %.6g g at 1 g/cm^3, center %.6g %.6g %.6g mm\n",
               1e9 * p->volume, 1e6 * p->volume, 1e3 * p->center.x, 1e3 * p->center.y,
               1e3 * p->center.z);
        const double* I = p->inertia.m;
        printf("  inertia at 1 g/cm^3 (g mm^2): xx %.6g yy %.6g zz %.6g xy %.4g yz %.4g zx %.4g\n",
               1e12 * I[0], 1e12 * I[4], 1e12 * I[8], 1e12 * I[3], 1e12 * I[7], 1e12 * I[6]);
    }
    printf("  box %.6g %.6g %.6g .. %.6g %.6g %.6g mm, largest tolerance %.2g mm\n",
           1e3 * p->box.low.x, 1e3 * p->box.low.y, 1e3 * p->box.low.z, 1e3 * p->box.high.x,
           1e3 * p->box.high.y, 1e3 * p->box.high.z, 1e3 * p->tolerance_max);
    if (p->faces > 0)
        printf("  index  %-16s %-15s %-15s %-24s %10s  %s\n", "name", "type", "radius mm",
               "axis/normal", "area mm^2", "box mm");
    for (int i = 0; i < p->faces; ++i) print_face(shape, &shape->face[p->first_face + i]);
    if (!edges && p->faces > 0) return;
    for (int i = 0; i < p->edges; ++i) print_edge(&shape->edge[p->first_edge + i]);
}

static void print_table(const LashShape* shape, const InfoOptions* options) {
    printf("%s: declared unit %s, %.6g m per number%s\n", options->file, shape->unit, shape->scale,
           options->import.scale > 0 ? " (overridden)" : "");
    for (int i = 0; i < shape->parts; ++i) print_part(shape, &shape->part[i], options->edges);
    if (shape->warnings == 0) return;
    char text[4096];
    snprintf(text, sizeof text, "%s", lash_shape_string(shape, shape->warnings));
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n")) != NULL) fprintf(stderr, "lash: warning: %s\n", line);
}

static bool parse_options(int argc, char** argv, InfoOptions* o, LashError* error) {
    for (int i = 1; i < argc; ++i) {
        const char* a = argv[i];
        if (strcmp(a, "--json") == 0) {
            o->json = true;
        } else if (strcmp(a, "--heal") == 0) {
            o->import.heal = true;
        } else if (strcmp(a, "--edges") == 0) {
            o->edges = true;
        } else if (strcmp(a, "--no-cache") == 0) {
            o->import.no_cache = true;
        } else if (strcmp(a, "--scale") == 0 || strncmp(a, "--scale=", 8) == 0) {
            const char* value = a[7] == '=' ? a + 8 : i + 1 < argc ? argv[++i] : "";
            char* end;
            o->import.scale = strtod(value, &end);
            if (end == value || *end != '\0' || !(o->import.scale > 0) ||
                !isfinite(o->import.scale))
                return lash_error_set(error, LASH_ERROR_USAGE, "--scale",
                                      "expected metres per number of the file, got '%s'", value);
        } else if (a[0] == '-' && a[1] != '\0') {
            return lash_error_set(error, LASH_ERROR_USAGE, a, "unknown option; see lash info -h");
        } else if (o->file != NULL) {
            return lash_error_set(error, LASH_ERROR_USAGE, a, "only one file can be shown");
        } else {
            o->file = a;
        }
    }
    if (o->file == NULL)
        return lash_error_set(error, LASH_ERROR_USAGE, "FILE", "a STEP file is expected");
    return true;
}

static int report(const LashError* error, bool json) {
    if (json) {
        printf(
            "{\"lash\": \"%s\", \"command\": \"info\", \"ok\": false, \"error\": {\"code\": %d, ",
            LASH_VERSION, (int)error->status);
        printf("\"file\": ");
        json_string(error->file);
        printf(", \"where\": ");
        json_string(error->where);
        printf(", \"message\": ");
        json_string(error->message);
        printf("}}\n");
    }
    fprintf(stderr, "lash: %s%s%s%s%s\n", error->file, error->file[0] != '\0' ? ": " : "",
            error->where, error->where[0] != '\0' ? ": " : "", error->message);
    return (int)error->status;
}

int app_info(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
    InfoOptions options = {0};
    LashError error = {0};
    if (!parse_options(argc, argv, &options, &error)) return report(&error, options.json);
    LashShape* shape = lash_shape_load(options.file, &options.import, &error);
    if (shape == NULL) return report(&error, options.json);
    if (options.json)
        print_json(shape, &options);
    else
        print_table(shape, &options);
    lash_shape_destroy(shape);
    return fflush(stdout) == 0 ? 0 : LASH_ERROR_IO;
}

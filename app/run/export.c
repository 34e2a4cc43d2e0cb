// lash export: results for other programs. CSV: one row per frame, all quantities, SI; glTF and VTK
// through viewer/export_scene.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/output_file.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/commands.h"
#include "app/run/record.h"
#include "app/viewer/export_scene.h"
#include "core/arena.h"
#include "joints/mechanism.h"

// Formats. Columns: option; what it is; does it need a FILE; most frames unless --frames says (0:
// all); function below. A row that lacks one, or whose function does not exist, does not compile.
// clang-format off
#define EXPORT_FORMAT_TABLE(X) \
    X(csv, "comma-separated values with one header line", false, 0, export_csv) \
    X(glb, "animated glTF 2.0 for Blender and the web (needs FILE.glb)", true, 2000, export_glb) \
    X(vtk, "time series for ParaView (needs FILE.pvd)", true, 200, export_vtk)
// clang-format on

typedef enum FormatKind {
#define X(option, ...) FORMAT_##option,
    EXPORT_FORMAT_TABLE(X)
#undef X
        FORMATS
} FormatKind;

typedef struct ExportOptions {
    AppOperands operands;
    bool format[FORMATS], events, points, json;
    int frames; // at most; 0: as many as suit the format
} ExportOptions;

#define OPTION(member) offsetof(ExportOptions, member)
static const AppOption options[] = {
#define X(option, help, ...) {#option, 0, APP_FLAG, NULL, help, OPTION(format[FORMAT_##option])},
    EXPORT_FORMAT_TABLE(X)
#undef X
        {"events", 0, APP_FLAG, NULL, "events of contacts, limits and friction in joints",
         OPTION(events)},
    {"points", 0, APP_FLAG, NULL, "the contact points of every frame instead of the frames",
     OPTION(points)},
    {"frames", 0, APP_INTEGER, "N", "at most this many frames (glb: 2000, vtk: 200)",
     OPTION(frames)},
    {"json", 0, APP_FLAG, NULL, "report as one JSON document (needs FILE)", OPTION(json)},
};
const AppCommand app_export_command = {
    .name = "export",
    .operands = "RESULT.h5 [FILE]",
    .summary = "convert a result for other programs",
    .detail =
        "Without FILE the text goes to standard output. Columns: time, then per body position,\n"
        "quaternion, velocity, angular velocity; per joint coordinate, speed, force, moment; per\n"
        "contact gap, impulse since the row before (n, t1, t2; of a contact of CAD faces n, |t|,\n"
        "0), mean force on b since then (world axes), largest impulse of an impact, impacts\n"
        "so far; energies, counters and violations; inputs of the model at that time. SI units,\n"
        "named in the header.\n"
        "With --events: one row per event (impact, open, slip, stick, plastic) of the step from t\n"
        "to t + h: the contact, limit or friction of a joint it is of, gap at t, impulse over the\n"
        "step, local velocity before and after.\n"
        "With --points: one row per contact point and frame: where, normal from a into b, gap,\n"
        "force on b.",
    .minimum = 1,
    .maximum = 2,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_RESULT,
    .inputs = 1};

// Component `part` of `per` of a series: a number, a vector, an impulse n, t1, t2, a quaternion.
static const char* part_name(LashSeries series, int per, int part) {
    static const char* const vector[] = {"x", "y", "z"};
    static const char* const local[] = {"n", "t1", "t2"};
    static const char* const quaternion[] = {"w", "x", "y", "z"};
    if (per == 1) return "";
    if (per == 4) return quaternion[part];
    return series == LASH_SERIES_CONTACT_IMPULSE ? local[part] : vector[part];
}

// Joint type of that name, LASH_JOINT_TYPES: none.
static LashJointType joint_type(const char* name) {
    int i = 0;
    while (i < LASH_JOINT_TYPES && strcmp(name, lash_joint_type_name((LashJointType)i)) != 0) ++i;
    return (LashJointType)i;
}

// Free coordinates of joint `index`; every joint has a first column.
static int coordinates(const LashRecord* record, int index) {
    LashJointType type = joint_type(record->joint_type[index]);
    int count = type == LASH_JOINT_TYPES ? 0 : lash_coordinate_count(type);
    return count > 1 ? count : 1;
}

static bool is_coordinate(LashSeries series) {
    return series == LASH_SERIES_JOINT_COORDINATE || series == LASH_SERIES_JOINT_SPEED;
}

// Columns of coordinates that a joint does not have are left out.
static bool has_column(const LashRecord* record, LashSeries series, int column) {
    if (!is_coordinate(series)) return true;
    int columns = record->layout.coordinates;
    return column % columns < coordinates(record, column / columns);
}

// "hinge.coordinate [rad]"; of a second coordinate "pin.coordinate.displacement [m]"; of a free joint
// "block.coordinate.x [m]"
static void put_coordinate(char* text, size_t size, const LashRecord* record, LashSeries series,
                           int index, int c) {
    LashJointType type = joint_type(record->joint_type[index]);
    bool known = type < LASH_JOINT_TYPES && c < lash_coordinate_count(type);
    bool linear = known && !lash_coordinate_is_angle(type, c);
    bool speed = series == LASH_SERIES_JOINT_SPEED;
    const char* label = known ? lash_coordinate_label(type, c) : "";
    snprintf(text, size, "%s%s%s [%s%s]", speed ? "speed" : "coordinate",
             label[0] == '\0' ? "" : ".", label, linear ? "m" : "rad", speed ? "/s" : "");
}

// "input.current [A]"; without the unit where the model gives none.
static void print_input_name(FILE* file, const LashRecord* record, int input) {
    char text[2 * 64 + 32];
    const char* unit = record->input_unit[input];
    snprintf(text, sizeof text, "input.%s%s%s%s", record->input_name[input],
             unit[0] == '\0' ? "" : " [", unit, unit[0] == '\0' ? "" : "]");
    app_csv_print(file, text);
}

// Name of a column: "crank.position.x [m]".
static void print_column_name(FILE* file, const LashRecord* record, LashSeries series, int column) {
    const char* path = lash_series_path(series);
    const char* slash = strchr(path, '/');
    bool body = strncmp(path, "bodies/", 7) == 0, joint = strncmp(path, "joints/", 7) == 0;
    bool contact = strncmp(path, "contacts/", 9) == 0;
    const char* quantity = slash == NULL ? path : slash + 1;
    if (series == LASH_SERIES_INPUT) {
        print_input_name(file, record, column);
        return;
    }
    if (!body && !joint && !contact) {
        fprintf(file, "%.*s%s%s [%s]", slash == NULL ? 0 : (int)(slash - path), path,
                slash == NULL ? "" : ".", quantity, lash_series_unit(series));
        return;
    }
    int owners = record->layout.contacts;
    char* const* names = record->contact_name;
    if (body) {
        owners = record->layout.bodies;
        names = record->body_name;
    }
    if (joint) {
        owners = record->layout.joints;
        names = record->joint_name;
    }
    int per = record->layout.width[series] / owners, part = column % per;
    const char* name = names[column / per];
    enum { QUANTITY = 128 };
    size_t size = strlen(name) + 1 + QUANTITY;
    char* text = lash_alloc(size);
    int used = snprintf(text, size, "%s.", name);
    if (is_coordinate(series)) {
        put_coordinate(text + used, QUANTITY, record, series, column / per, part);
    } else {
        snprintf(text + used, QUANTITY, "%s%s%s [%s]", quantity, per == 1 ? "" : ".",
                 part_name(series, per, part), lash_series_unit(series));
    }
    app_csv_print(file, text);
    lash_free(text);
}

static bool write_csv(const LashRecord* record, FILE* file, LashError* error) {
    const LashRecordLayout* layout = &record->layout;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        for (int k = 0; k < layout->width[s]; ++k) {
            if (!has_column(record, (LashSeries)s, k)) continue;
            if (s > 0) fputc(',', file);
            print_column_name(file, record, (LashSeries)s, k);
        }
    }
    fputc('\n', file);
    double* frame = lash_alloc((size_t)layout->total * sizeof *frame);
    bool good = true;
    for (int64_t i = 0; i < record->frames && good; ++i) {
        good = lash_record_read_frame(record, i, frame, error);
        for (int s = 0; s < LASH_SERIES_COUNT && good; ++s) {
            for (int k = 0; k < layout->width[s]; ++k) {
                if (!has_column(record, (LashSeries)s, k)) continue;
                fprintf(file, "%s%.17g", s == 0 ? "" : ",", frame[layout->offset[s] + k]);
            }
        }
        fputc('\n', file);
    }
    lash_free(frame);
    return good;
}

// Whose event it is: "latch", "hinge.upper_limit", "guide.friction"; the limit of a further
// coordinate has its name: "shaft.displacement.lower_limit".
static void print_event_owner(const LashRecord* record, const LashRecordEvent* event, FILE* file) {
    char name[300] = "?";
    if (event->contact >= 0 && event->contact < record->layout.contacts) {
        app_csv_print(file, record->contact_name[event->contact]);
        return;
    }
    bool known = event->contact < 0 && event->joint >= 0 && event->joint < record->layout.joints;
    if (known && event->part == LASH_PART_FRICTION)
        snprintf(name, sizeof name, "%s.friction", record->joint_name[event->joint]);
    if (known && (event->part == LASH_PART_LOWER_LIMIT || event->part == LASH_PART_UPPER_LIMIT)) {
        LashJointType type = joint_type(record->joint_type[event->joint]);
        const char* label =
            type < LASH_JOINT_TYPES ? lash_coordinate_label(type, event->coordinate) : "";
        snprintf(name, sizeof name, "%s%s%s.%s_limit", record->joint_name[event->joint],
                 label[0] == '\0' ? "" : ".", label,
                 event->part == LASH_PART_LOWER_LIMIT ? "lower" : "upper");
    }
    app_csv_print(file, name);
}

static bool write_events(const LashRecord* record, FILE* file, LashError* error) {
    fputs(
        "kind,of,t [s],h [s],gap [m],impulse.n [N s],impulse.t1 [N s],impulse.t2 [N s],"
        "before.n [m/s],before.t1 [m/s],before.t2 [m/s],after.n [m/s],after.t1 [m/s],"
        "after.t2 [m/s]\n",
        file);
    for (int64_t i = 0; i < record->events; ++i) {
        LashRecordEvent e;
        if (!lash_record_read_events(record, i, 1, &e, error)) return false;
        fprintf(file, "%s,", lash_event_name(e.kind));
        print_event_owner(record, &e, file);
        fprintf(file, ",%.17g,%.17g,%.17g", e.t, e.h, e.gap);
        const double* part[] = {e.impulse, e.before, e.after};
        for (int k = 0; k < 9; ++k) fprintf(file, ",%.17g", part[k / 3][k % 3]);
        fputc('\n', file);
    }
    return true;
}

// Contact points of all frames.
static bool write_points(const LashRecord* record, FILE* file, LashError* error) {
    LashRecordPoint* point = NULL;
    int capacity = 0;
    bool good = true;
    fputs(
        "time [s],of,id,point.x [m],point.y [m],point.z [m],normal.x [1],normal.y [1],normal.z "
        "[1],gap [m],force.x [N],force.y [N],force.z [N]\n",
        file);
    for (int64_t i = 0; i < record->frames && good; ++i) {
        double t = 0;
        int count = lash_record_read_points(record, i, point, 0, error);
        if (count > capacity) {
            capacity = 2 * count;
            point = lash_realloc(point, (size_t)capacity * sizeof *point);
        }
        good = count >= 0 && lash_record_read(record, LASH_SERIES_TIME, i, 1, &t, error) &&
               lash_record_read_points(record, i, point, capacity, error) == count;
        for (int k = 0; k < count && good; ++k) {
            const LashRecordPoint* record_point = &point[k];
            bool contact =
                record_point->contact >= 0 && record_point->contact < record->layout.contacts;
            bool joint = record_point->joint >= 0 && record_point->joint < record->layout.joints;
            fprintf(file, "%.17g,", t);
            const char* of = joint ? record->joint_name[record_point->joint] : "?";
            app_csv_print(file, contact ? record->contact_name[record_point->contact] : of);
            fprintf(file, ",%llu", (unsigned long long)record_point->id);
            for (int c = 0; c < 3; ++c) fprintf(file, ",%.17g", record_point->point[c]);
            for (int c = 0; c < 3; ++c) fprintf(file, ",%.17g", record_point->normal[c]);
            fprintf(file, ",%.17g", record_point->gap);
            for (int c = 0; c < 3; ++c) fprintf(file, ",%.17g", record_point->force[c]);
            fputc('\n', file);
        }
    }
    lash_free(point);
    return good;
}

// ---- one function per format --------------------------------------------------------------------

static bool export_csv(const LashRecord* record, const ExportOptions* export_options, int frames,
                       LashError* error) {
    (void)frames;
    bool (*write)(const LashRecord*, FILE*, LashError*) = write_csv;
    if (export_options->events) write = write_events;
    if (export_options->points) write = write_points;
    if (export_options->operands.count < 2) return write(record, stdout, error);
    AppOutput* output = app_output_create(export_options->operands.item[1], error);
    if (output == NULL) return false;
    if (write(record, app_output_stream(output), error)) return app_output_finish(output, error);
    app_output_discard(output);
    return false;
}

// Formats that hold the scene: they need the model that is inside the result.
static bool export_scene(const ExportOptions* export_options, int frames, ViewExport* write,
                         LashError* error) {
    AppSessionOptions none = {.step = NAN, .duration = NAN};
    ViewScene scene = {0};
    ViewSource* source = view_source_open(export_options->operands.item[0], &none, error);
    bool good = source != NULL && view_scene_create(&scene, view_source_model(source),
                                                    view_source_mechanism(source), error);
    if (good) scene.layout = *view_source_layout(source);
    good = good && write(source, &scene, export_options->operands.item[1], frames, error);
    view_scene_destroy(&scene);
    view_source_close(source);
    return good;
}

static bool export_glb(const LashRecord* record, const ExportOptions* export_options, int frames,
                       LashError* error) {
    (void)record;
    return export_scene(export_options, frames, view_export_glb, error);
}

static bool export_vtk(const LashRecord* record, const ExportOptions* export_options, int frames,
                       LashError* error) {
    (void)record;
    return export_scene(export_options, frames, view_export_vtk, error);
}

typedef struct Format {
    const char* option;
    bool needs_file;
    int frames;
    bool (*write)(const LashRecord* record, const ExportOptions* o, int frames, LashError* error);
} Format;
static const Format formats[FORMATS] = {
#define X(option, help, needs_file, frames, write) \
    [FORMAT_##option] = {"--" #option, needs_file, frames, write},
    EXPORT_FORMAT_TABLE(X)
#undef X
};

// The one that is asked for; NULL with error.
static const Format* chosen_format(const ExportOptions* export_options, LashError* error) {
    const Format* format = NULL;
    int chosen = 0;
    for (int i = 0; i < FORMATS; ++i) {
        chosen += export_options->format[i];
        if (export_options->format[i]) format = &formats[i];
    }
    if (chosen == 1) return format;
#define X(option, ...) " --" #option
    lash_error_set(error, LASH_ERROR_USAGE, "",
                   "expected one format of" EXPORT_FORMAT_TABLE(X) ", found %d; choose one",
                   chosen);
#undef X
    return NULL;
}

static bool check_options(const ExportOptions* export_options, const Format* format,
                          LashError* error) {
    bool file = export_options->operands.count > 1;
    if (format == NULL) return false;
    if (export_options->events && export_options->points)
        return lash_error_set(error, LASH_ERROR_USAGE, "",
                              "expected --events or --points, found both; choose one");
    if (format->needs_file && !file)
        return lash_error_set(
            error, LASH_ERROR_USAGE, "",
            "%s needs a FILE to write to, found none; usage: lash export %s RESULT.h5 FILE",
            format->option, format->option);
    if (export_options->json && !file)
        return lash_error_set(
            error, LASH_ERROR_USAGE, "",
            "--json needs a FILE to write the values to, found none; name one behind "
            "the result");
    if (export_options->frames < 0)
        return lash_error_set(error, LASH_ERROR_USAGE, "--frames",
                              "expected a positive number, found %d", export_options->frames);
    return true;
}

// The result is open: it is no output.
static bool check_file(const char* path, const Format* format, LashError* error) {
    char ending[16];
    snprintf(ending, sizeof ending, ".%s", format->option + 2);
    if (path == NULL) return true;
    return app_output_check(path, error) &&
           app_file_ending(format->option, path, strcmp(ending, ".vtk") == 0 ? ".pvd" : ending,
                           error);
}

int app_export(int argc, char** argv) {
    ExportOptions o = {.json = false};
    int code = app_options_parse(&app_export_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("export", o.json);
    LashError error = {0};
    const char* path = o.operands.count > 1 ? o.operands.item[1] : NULL;
    const Format* format = chosen_format(&o, &error);
    if (!check_options(&o, format, &error)) return app_report_finish(&report, &error);
    LashRecord* record = lash_record_open(o.operands.item[0], &error);
    if (record != NULL && check_file(path, format, &error)) {
        if (!record->complete) {
            app_report_warning("the run did not finish; %lld frames are readable",
                               (long long)record->frames);
        }
        format->write(record, &o, o.frames > 0 ? o.frames : format->frames, &error);
        if (error.status != LASH_OK) lash_error_file(&error, o.operands.item[0]);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (record != NULL) {
            app_json_put_text(json, "file", path);
            app_json_put_integer(json, "frames", record->frames);
            app_json_put_integer(json, "events", record->events);
            app_json_put_integer(json, "points", record->points);
            app_json_put_bool(json, "complete", record->complete);
        }
    }
    lash_record_close(record);
    return app_report_finish(&report, &error);
}

// lash export: results for other programs. CSV: one row per frame, all quantities, SI.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/record.h"
#include "app/report.h"
#include "core/arena.h"
#include "joints/mechanism.h"

typedef struct ExportOptions {
    AppOperands operands;
    bool csv, events, json;
} ExportOptions;

#define OPTION(member) offsetof(ExportOptions, member)
static const AppOption options[] = {
    {"csv", 0, APP_FLAG, NULL, "comma-separated values with one header line", OPTION(csv)},
    {"events", 0, APP_FLAG, NULL, "the events of the contacts instead of the frames",
     OPTION(events)},
    {"json", 0, APP_FLAG, NULL, "report as one JSON document (needs FILE)", OPTION(json)},
};
const AppCommand app_export_command = {
    .name = "export",
    .operands = "RESULT.h5 [FILE]",
    .summary = "convert a result for other programs",
    .detail =
        "Without FILE the text goes to standard output. Columns: time, then per body position,\n"
        "quaternion, velocity, angular velocity; per joint coordinate, speed, force, moment; per\n"
        "contact gap, impulse since the row before (n, t1, t2), largest normal impulse of a step,\n"
        "impacts so far; energies, counters and violations. SI units, named in the header.\n"
        "With --events: one row per event (impact, open, slip, stick, plastic) of the step from t\n"
        "to t + h: contact, gap at t, impulse over the step, local velocity before and after.",
    .minimum = 1,
    .maximum = 2,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands)};

static const char* const suffix[] = {"", "x", "y", "z", "w"};

// Name of a column: "crank.position.x [m]".
// Is the first coordinate of a joint of this type a length?
static bool first_is_length(const char* type) {
    for (int i = 0; i < LASH_JOINT_TYPES; ++i) {
        LashJointType t = (LashJointType)i;
        if (strcmp(type, lash_joint_type_name(t)) != 0) continue;
        return lash_coordinate_count(t) > 0 && !lash_coordinate_is_angle(t, 0);
    }
    return false;
}

static void print_column_name(FILE* file, const LashRecord* record, LashSeries series, int column) {
    const char* path = lash_series_path(series);
    const char* slash = strchr(path, '/');
    bool body = strncmp(path, "bodies/", 7) == 0, joint = strncmp(path, "joints/", 7) == 0;
    bool contact = strncmp(path, "contacts/", 9) == 0;
    const char* quantity = slash == NULL ? path : slash + 1;
    if (!body && !joint && !contact) {
        fprintf(file, "%.*s%s%s [%s]", slash == NULL ? 0 : (int)(slash - path), path,
                slash == NULL ? "" : ".", quantity, lash_series_unit(series));
        return;
    }
    int owners = body    ? record->layout.bodies
                 : joint ? record->layout.joints
                         : record->layout.contacts;
    int per = record->layout.width[series] / owners, index = column / per, part = column % per;
    const char* name = body    ? record->body_name[index]
                       : joint ? record->joint_name[index]
                               : record->contact_name[index];
    const char* unit = lash_series_unit(series);
    bool linear = joint && first_is_length(record->joint_type[index]);
    if (series == LASH_SERIES_JOINT_COORDINATE) unit = linear ? "m" : "rad";
    if (series == LASH_SERIES_JOINT_SPEED) unit = linear ? "m/s" : "rad/s";
    static const char* const local[] = {"n", "t1", "t2"};
    const char* component = per == 1   ? ""
                            : contact  ? local[part]
                            : per == 3 ? suffix[1 + part]
                                       : suffix[part == 0 ? 4 : part];
    bool quote = strpbrk(name, ",\"\n") != NULL;
    fprintf(file, "%s%s.%s%s%s [%s]%s", quote ? "\"" : "", name, quantity, per == 1 ? "" : ".",
            component, unit, quote ? "\"" : "");
}

static bool write_csv(const LashRecord* record, FILE* file, LashError* error) {
    const LashRecordLayout* layout = &record->layout;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) {
        for (int k = 0; k < layout->width[s]; ++k) {
            if (s > 0) fputc(',', file);
            print_column_name(file, record, (LashSeries)s, k);
        }
    }
    fputc('\n', file);
    double* frame = lash_alloc((size_t)layout->total * sizeof *frame);
    bool good = true;
    for (int64_t i = 0; i < record->frames && good; ++i) {
        good = lash_record_read_frame(record, i, frame, error);
        for (int k = 0; k < layout->total && good; ++k) {
            fprintf(file, "%s%.17g", k == 0 ? "" : ",", frame[k]);
        }
        fputc('\n', file);
    }
    lash_free(frame);
    return good;
}

static void print_quoted(FILE* file, const char* name) {
    if (strpbrk(name, ",\"\n") == NULL) {
        fputs(name, file);
        return;
    }
    fputc('"', file);
    for (; *name != '\0'; ++name) {
        if (*name == '"') fputc('"', file);
        fputc(*name, file);
    }
    fputc('"', file);
}

static bool write_events(const LashRecord* record, FILE* file, LashError* error) {
    fputs(
        "kind,contact,t [s],h [s],gap [m],impulse.n [N s],impulse.t1 [N s],impulse.t2 [N s],"
        "before.n [m/s],before.t1 [m/s],before.t2 [m/s],after.n [m/s],after.t1 [m/s],"
        "after.t2 [m/s]\n",
        file);
    for (int64_t i = 0; i < record->events; ++i) {
        LashRecordEvent e;
        if (!lash_record_read_events(record, i, 1, &e, error)) return false;
        bool known = e.contact >= 0 && e.contact < record->layout.contacts;
        fprintf(file, "%s,", lash_event_name(e.kind));
        print_quoted(file, known ? record->contact_name[e.contact] : "?");
        fprintf(file, ",%.17g,%.17g,%.17g", e.t, e.h, e.gap);
        const double* part[] = {e.impulse, e.before, e.after};
        for (int k = 0; k < 9; ++k) fprintf(file, ",%.17g", part[k / 3][k % 3]);
        fputc('\n', file);
    }
    return true;
}

static bool export_csv(const LashRecord* record, bool events, const char* path, LashError* error) {
    bool (*write)(const LashRecord*, FILE*, LashError*) = events ? write_events : write_csv;
    if (path == NULL) return write(record, stdout, error);
    FILE* file = fopen(path, "w");
    bool good = file != NULL && write(record, file, error);
    if (file != NULL) {
        bool written = ferror(file) == 0;
        written = fclose(file) == 0 && written;
        if (good && !written) good = false;
    }
    if (!good) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot write: %s", strerror(errno));
        lash_error_file(error, path);
    }
    return good;
}

int app_export(int argc, char** argv) {
    ExportOptions o = {.csv = false};
    int code = app_options_parse(&app_export_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("export", o.json);
    LashError error = {0};
    const char* path = o.operands.count > 1 ? o.operands.item[1] : NULL;
    if (!o.csv || (o.json && path == NULL)) {
        lash_error_set(
            &error, LASH_ERROR_USAGE, "",
            o.csv ? "--json needs a FILE to write the values to" : "choose a format: --csv");
        return app_report_finish(&report, &error);
    }
    LashRecord* record = lash_record_open(o.operands.item[0], &error);
    if (record != NULL) {
        if (!record->complete) {
            app_report_warning("the run did not finish; %lld frames are readable",
                               (long long)record->frames);
        }
        export_csv(record, o.events, path, &error);
        if (error.status != LASH_OK) lash_error_file(&error, o.operands.item[0]);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (record != NULL) {
            app_json_put_text(json, "file", path);
            app_json_put_integer(json, "frames", record->frames);
            app_json_put_integer(json, "events", record->events);
            app_json_put_bool(json, "complete", record->complete);
        }
    }
    lash_record_close(record);
    return app_report_finish(&report, &error);
}

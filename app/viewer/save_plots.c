// The curves of the plots panel as a table or a drawing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/output_file.h"
#include "app/cli/text.h"
#include "app/run/plot.h"
#include "app/viewer/viewer.h"
#include "core/arena.h"

typedef struct Column {
    char name[128];
    const char* unit;
    double* value; // (rows)
} Column;

typedef struct Table {
    int64_t rows;
    double* time; // (rows) [s]
    Column* column;
    int columns;
} Table;

// Values of the second result at times of the first, straight between its frames; NAN before and
// after them.
static bool read_beside(Viewer* viewer, const ViewCurve* curve, const Table* table, double* value) {
    ViewSource* second = viewer->second;
    int64_t frames = view_source_status(second).frames, k = 0;
    double* all = lash_alloc((size_t)frames * sizeof *all);
    bool good = viewer_curve_read(viewer, second, curve, 0, frames, all);
    double end = view_source_time(second, frames - 1);
    for (int64_t r = 0; r < table->rows && good; ++r) {
        double t = table->time[r];
        while (k + 1 < frames && view_source_time(second, k + 1) <= t) ++k;
        double a = view_source_time(second, k), b = view_source_time(second, k + 1);
        value[r] = all[k];
        if (b > a) value[r] += (t - a) / (b - a) * (all[k + 1] - all[k]);
        if (t < a || t > end + 1e-9 * fabs(end)) value[r] = NAN;
    }
    lash_free(all);
    return good;
}

static bool add_curve(Viewer* viewer, const ViewCurve* curve, Table* table) {
    Column* own = &table->column[table->columns++];
    own->unit = curve->unit;
    own->value = lash_alloc((size_t)table->rows * sizeof(double));
    snprintf(own->name, sizeof own->name, "%s", curve->name);
    if (!viewer_curve_read(viewer, viewer->source, curve, 0, table->rows, own->value)) return false;
    if (viewer->second == NULL) return true;
    Column* beside = &table->column[table->columns++];
    beside->unit = curve->unit;
    beside->value = lash_alloc((size_t)table->rows * sizeof(double));
    snprintf(beside->name, sizeof beside->name, "%s (beside)", curve->name);
    return read_beside(viewer, curve, table, beside->value);
}

// Every frame of every curve, and of the second result beside it.
static bool read_table(Viewer* viewer, Table* table) {
    table->rows = viewer->status.frames;
    table->time = lash_alloc((size_t)table->rows * sizeof(double));
    table->column = lash_alloc((size_t)(2 * VIEW_MAX_PLOTS * VIEW_MAX_CURVES) * sizeof(Column));
    for (int64_t r = 0; r < table->rows; ++r) table->time[r] = view_source_time(viewer->source, r);
    for (int i = 0; i < viewer->plots; ++i) {
        for (int k = 0; k < viewer->plot[i].curves; ++k)
            if (!add_curve(viewer, &viewer->plot[i].curve[k], table)) return false;
    }
    return true;
}

static void free_table(Table* table) {
    for (int i = 0; i < table->columns; ++i) lash_free(table->column[i].value);
    lash_free(table->column);
    lash_free(table->time);
}

static bool write_csv(const Table* table, const char* file, LashError* error) {
    AppOutput* output = app_output_create(file, error);
    if (output == NULL) return false;
    FILE* stream = app_output_stream(output);
    fputs("time [s]", stream);
    for (int i = 0; i < table->columns; ++i) {
        char head[160];
        snprintf(head, sizeof head, "%s [%s]", table->column[i].name, table->column[i].unit);
        fputc(',', stream);
        app_csv_print(stream, head);
    }
    fputc('\n', stream);
    for (int64_t r = 0; r < table->rows; ++r) {
        fprintf(stream, "%.17g", table->time[r]);
        for (int i = 0; i < table->columns; ++i) {
            double value = table->column[i].value[r];
            fputc(',', stream);
            if (isfinite(value)) fprintf(stream, "%.17g", value); // else empty: there is none
        }
        fputc('\n', stream);
    }
    return app_output_finish(output, error);
}

static bool write_svg(const Viewer* viewer, const Table* table, const char* file,
                      LashError* error) {
    const LashModel* model = viewer->scene.model;
    char subtitle[300] = "";
    if (viewer->second != NULL)
        snprintf(subtitle, sizeof subtitle, "beside: %.250s", viewer->second_name);
    AppPlot plot = {.title = model->name != NULL ? model->name : model->file,
                    .subtitle = subtitle[0] != '\0' ? subtitle : NULL,
                    .x_label = "time [s]",
                    .points = (int)table->rows,
                    .x = table->time};
    for (int i = 0; i < table->columns; ++i)
        app_plot_add(&plot, table->column[i].unit, table->column[i].name, table->column[i].value);
    return app_plot_write(&plot, file, error);
}

bool viewer_plots_save(Viewer* viewer, const char* file, LashError* error) {
    const char* dot = strrchr(file, '.');
    bool svg = dot != NULL && strcmp(dot, ".svg") == 0;
    if (viewer->plots == 0)
        return lash_error_set(error, LASH_ERROR_USAGE, "", "there is no curve to save; add one");
    if (!app_file_ending("--curves", file, ".csv .svg", error)) return false;
    Table table = {0};
    bool good = read_table(viewer, &table);
    if (!good) *error = viewer->error;
    good = good && (svg ? write_svg(viewer, &table, file, error) : write_csv(&table, file, error));
    free_table(&table);
    return good;
}

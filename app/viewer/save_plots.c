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

typedef struct Table {
    int64_t rows;
    int columns;   // time first
    double* value; // (columns x rows)
} Table;

// Every frame of every curve; norms from their components.
static bool read_table(Viewer* viewer, Table* table) {
    table->rows = viewer->status.frames;
    table->columns = 1;
    for (int i = 0; i < viewer->plots; ++i) table->columns += viewer->plot[i].curves;
    size_t rows = (size_t)table->rows;
    table->value = lash_alloc(rows * (size_t)table->columns * sizeof(double));
    double* frame = lash_alloc((size_t)viewer->scene.layout.total * sizeof *frame);
    bool good = true;
    for (int64_t r = 0; r < table->rows && good; ++r) {
        good = view_source_read(viewer->source, r, frame, &viewer->error);
        int column = 0;
        table->value[r] = frame[viewer->scene.layout.offset[LASH_SERIES_TIME]];
        for (int i = 0; i < viewer->plots; ++i) {
            for (int k = 0; k < viewer->plot[i].curves; ++k) {
                const ViewCurve* curve = &viewer->plot[i].curve[k];
                const double* x =
                    frame + viewer->scene.layout.offset[curve->series] + curve->column;
                table->value[(size_t)++column * rows + (size_t)r] =
                    curve->norm ? vec3_norm(vec3(x[0], x[1], x[2])) : x[0];
            }
        }
    }
    lash_free(frame);
    return good;
}

static bool write_csv(const Viewer* viewer, const Table* table, const char* file,
                      LashError* error) {
    AppOutput* output = app_output_create(file, error);
    if (output == NULL) return false;
    FILE* stream = app_output_stream(output);
    fputs("time [s]", stream);
    for (int i = 0; i < viewer->plots; ++i) {
        for (int k = 0; k < viewer->plot[i].curves; ++k) {
            char head[128];
            snprintf(head, sizeof head, "%s [%s]", viewer->plot[i].curve[k].name,
                     viewer->plot[i].curve[k].unit);
            fputc(',', stream);
            app_csv_print(stream, head);
        }
    }
    fputc('\n', stream);
    for (int64_t r = 0; r < table->rows; ++r) {
        for (int c = 0; c < table->columns; ++c)
            fprintf(stream, "%s%.17g", c == 0 ? "" : ",",
                    table->value[(size_t)c * (size_t)table->rows + (size_t)r]);
        fputc('\n', stream);
    }
    return app_output_finish(output, error);
}

static bool write_svg(const Viewer* viewer, const Table* table, const char* file,
                      LashError* error) {
    const LashModel* model = viewer->scene.model;
    AppPlot plot = {.title = model->name != NULL ? model->name : model->file,
                    .x_label = "time [s]",
                    .points = (int)table->rows,
                    .x = table->value};
    int column = 0;
    for (int i = 0; i < viewer->plots; ++i) {
        for (int k = 0; k < viewer->plot[i].curves; ++k) {
            const ViewCurve* curve = &viewer->plot[i].curve[k];
            app_plot_add(&plot, curve->unit, curve->name,
                         table->value + (size_t)++column * (size_t)table->rows);
        }
    }
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
    good = good &&
           (svg ? write_svg(viewer, &table, file, error) : write_csv(viewer, &table, file, error));
    lash_free(table.value);
    return good;
}

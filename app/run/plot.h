// Line plots as SVG: panels one below the other over a common axis.
#ifndef LASH_APP_PLOT_H
#define LASH_APP_PLOT_H

#include <stdio.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { APP_PLOT_SERIES = 12, APP_PLOT_PANELS = 8, APP_PLOT_NAME = 64 };

typedef struct AppPlotSeries {
    char name[APP_PLOT_NAME];
    const double* y; // (points) NAN leaves a gap
} AppPlotSeries;

typedef struct AppPlotPanel {
    const char* unit; // of the y axis
    int series;
    AppPlotSeries item[APP_PLOT_SERIES];
} AppPlotPanel;

typedef struct AppPlot {
    const char *title, *subtitle; // subtitle may be NULL
    const char* x_label;
    int points;
    const double* x;
    int panels;
    AppPlotPanel panel[APP_PLOT_PANELS];
} AppPlot;

// Adds a series to the panel of its unit, once per name; what does not fit is left out. y is
// borrowed.
void app_plot_add(AppPlot* plot, const char* unit, const char* name, const double* y);
void app_plot_print(const AppPlot* plot, FILE* file); // the <svg> element
bool app_plot_write(const AppPlot* plot, const char* path, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

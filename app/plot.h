// Line plots as SVG: panels one below the other over a common axis.
#ifndef LASH_APP_PLOT_H
#define LASH_APP_PLOT_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { APP_PLOT_SERIES = 8, APP_PLOT_PANELS = 8 };

typedef struct AppPlotSeries {
    const char* name;
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

bool app_plot_write(const AppPlot* plot, const char* path, LashError* error);

#ifdef __cplusplus
}
#endif
#endif

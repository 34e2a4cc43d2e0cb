// Text that grows, with what HTML and SVG need: escaped words, numbers for people, axes.
#ifndef LASH_APP_STUDY_PAGE_H
#define LASH_APP_STUDY_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Page {
    char* text; // ends in 0; freed by page_free
    size_t used, capacity;
} Page;

void page_free(Page* page);
void page_put(Page* page, const char* format, ...) LASH_PRINTF(2, 3);
// &, <, >, quotes, control characters; NULL: nothing
void page_escape(Page* page, const char* text);
// A number with four digits, "-" when it is none.
const char* page_number(double value, char* text, size_t size);
// A value of something that scatters by sigma: lash_number_by_sigma, "-" when it is none.
const char* page_value(double value, double sigma, char* text, size_t size);
// A share in percent with `digits` digits, without the sign; below a thousandth: "< 0.001".
const char* page_percent(double share, int digits, char* text, size_t size);

// The same in parts per million, with its sign: "12 300 ppm".
const char* page_ppm(double share, char* text, size_t size);

// A drawing with two axes; the y axis points up.
typedef struct Plot {
    Page* page;
    double width, height, left, right, top, bottom; // [px] margins
    double x0, x1, y0, y1;                          // ranges of the data
    bool counts;                                    // y is a number of things
    bool log_x, log_y;                              // scale in decades; its range is positive
} Plot;

// Width that a text of a drawing has at most [px].
double page_text_width(const char* text);
// Widens the left margin so that all tick numbers of the y axis have room. Before plot_begin.
void plot_fit_left(Plot* plot);
// Begins the svg. label: what a screen reader says.
void plot_begin(const Plot* plot, const char* label);
void plot_end(const Plot* plot);
// Where x lies between low (0) and high (1), also when their difference overflows.
double plot_fraction(double x, double low, double high);
double plot_x(const Plot* plot, double x);
double plot_y(const Plot* plot, double y);
// Grid, tick numbers and names of the axes. y_name NULL: no y axis.
void plot_axes(const Plot* plot, const char* x_name, const char* y_name);
// Widens [low, high] by a margin; a single point becomes a range around it.
void plot_range(double* low, double* high, double margin);

#ifdef __cplusplus
}
#endif
#endif

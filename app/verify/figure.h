// The figures and tables of the papers, drawn from our own runs.
//
// A figure is one row of a table: where it stands in its paper, what its axes are, beside which claim it is
// shown, and the function that yields its curves. How it is drawn (figure_draw.c) is the same for all.
#ifndef LASH_APP_VERIFY_FIGURE_H
#define LASH_APP_VERIFY_FIGURE_H

#include "app/study/page.h"
#include "app/verify/cache.h"

typedef struct FigureAxis {
    const char* label; // quantity and unit
    double low, high;  // low == high: as wide as the data
    bool log;
} FigureAxis;

typedef struct FigurePanel {
    const char* title; // "(a) gamma = 0"
    FigureAxis x, y;   // labels NULL: no such panel
} FigurePanel;

enum { FIGURE_PANELS = 16 };

typedef struct Drawing Drawing;

typedef struct Figure {
    const char *paper, *name; // letter of the claims, "figure 14"
    const char* title;
    const char* claim;   // id: beside which it is shown
    const char* note;    // what differs from the paper and why, or NULL
    const char* columns; // of a table: its heads, separated by '|'; NULL: panels
    FigurePanel panel[FIGURE_PANELS];
    int across;                    // panels side by side, 1 to 3; 0: as their number suggests
    bool equal;                    // both axes in one scale: a drawing of bodies
    bool slow;                     // only with --all
    void (*run)(Drawing* drawing); // NULL: cannot be computed, the note says why
} Figure;

typedef struct FigureTable {
    const Figure* figure;
    int count;
} FigureTable;

FigureTable figures_examples(void);  // [A12] figures 1 to 9
FigureTable figures_bar(void);       // [A12] figures 10 to 18, table 1
FigureTable figures_mechanism(void); // [A12] figures 19 to 31, tables 2 and 3
FigureTable figures_potra(void);     // [P06]
FigureTable figures_fremond(void);   // [AC24]
FigureTable figures_schindler(void); // [S12]
FigureTable figures_sketch(void);    // sketches of all; what cannot be computed

// All of them in the order of the papers; at most MAX_FIGURES. Returns how many.
enum { MAX_FIGURES = 80 };
int figures_all(const Figure** figure);

// ---- What a figure's function fills -------------------------------------------------------------

typedef enum SeriesStyle { SERIES_LINE, SERIES_POINTS, SERIES_MARKED, SERIES_DASHED } SeriesStyle;

typedef struct Series {
    int panel;
    char name[48]; // empty: not in the legend
    SeriesStyle style;
    int points;
    double *x, *y; // owned
} Series;

struct Drawing {
    Cache* cache; // of the runs
    bool all;     // slow runs too
    Series* item;
    int count;
    Page rows; // of a table, cells separated by '|', one per line
    bool failed;
};

// Adds a curve to a panel. Values are copied; those that are no numbers leave a gap.
void drawing_curve(Drawing* drawing, int panel, const char* name, SeriesStyle style, int points,
                   const double* x, const double* y);
// Adds a row to a table: cells separated by '|'.
void drawing_row(Drawing* drawing, const char* format, ...) LASH_PRINTF(2, 3);
void drawing_free(Drawing* drawing);

void figure_anchor(const Figure* figure, char* text, size_t size); // "A-figure-14"
// The figure as HTML: heading, panels with axes and legends, remark.
// Without a drawing: that it is left to --all.
void figure_write(Page* page, const Figure* figure, const Drawing* drawing);
// One panel alone, of a figure or of another part of the page.
typedef struct PanelSize {
    const char* grid;     // class of the element around the panels
    double width, height; // [px]
    bool equal;           // both axes in one scale
} PanelSize;
void panel_write(Page* page, const FigurePanel* panel, const Drawing* drawing, int index,
                 const PanelSize* size);
extern const char figure_style[]; // style sheet of all that, after that of the page

#endif

// Parts of the user interface, one function each.
#ifndef LASH_APP_VIEWER_UI_INTERNAL_HPP
#define LASH_APP_VIEWER_UI_INTERNAL_HPP

#include <imgui.h>

#include <string>
#include <vector>

#include "app/viewer/ui.h"

namespace view_ui {

struct Samples { // of one curve
    LashSeries series;
    int column;
    bool norm, second; // of the second result
    ViewSpan span;
    int64_t frames; // of the source when it was sampled
    double end;     // time of the last of them [s]
    std::vector<double> t, y;
};

// Colours of the theme.
constexpr ImU32 ink = IM_COL32(31, 41, 51, 255), faint = IM_COL32(104, 116, 130, 255),
                accent = IM_COL32(38, 103, 176, 255), hairline = IM_COL32(206, 212, 219, 255),
                paper = IM_COL32(250, 251, 252, 255), alarm = IM_COL32(200, 40, 34, 255);

void draw_captions(const ViewUi* ui, Viewer* viewer, const ViewRectangle& area);
void draw_tree(ViewUi* ui, Viewer* viewer);
void draw_properties(ViewUi* ui, Viewer* viewer);
void draw_display(ViewUi* ui, Viewer* viewer);
void draw_plots(ViewUi* ui, Viewer* viewer);
void draw_timeline(ViewUi* ui, Viewer* viewer);
// The way of the pin in its bore, of the selected joint with play.
void draw_orbit(ViewUi* ui, Viewer* viewer, float side);
void draw_status(ViewUi* ui, const Viewer* viewer);
void draw_help(ViewUi* ui, Viewer* viewer);

std::string error_text(const Viewer* viewer);
// A number with a prefix of its unit: "12.3 mm".
std::string quantity_text(double value, const char* unit, int digits = 4);
// Power of a thousand and its prefix that suit a number of this size; units that take none: "".
double prefix_of(double size, const char* unit, const char** prefix);
// 1, 2 or 5 times a power of ten, near size.
double nice_step(double size);

} // namespace view_ui

namespace view_ui {

struct ContactGroup { // of the tree: contact points of a joint, or of one contact
    std::string name;
    int first, count;
    bool opens; // a line that opens; else the contact itself
};

struct Orbit { // of one joint
    int joint = -1;
    int64_t frames = -1;
    std::vector<float> x, y; // off center, in the frame of the bore [m]
};

} // namespace view_ui

struct ViewUi {
    view_ui::Orbit orbit;
    ViewUiOptions options;
    float scale;
    ImFont *font, *small_font;
    std::vector<view_ui::Samples> samples;
    char filter[64];   // of the list of curves
    bool closing;      // Esc was pressed: menus close
    double frame_time; // smoothed wall time of a picture [s]
    std::vector<ViewTick> tick;
    std::vector<view_ui::ContactGroup> groups;
};

#endif

// Timeline with its buttons, status line, and plots over time with a cursor.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "app/viewer/ui_internal.hpp"
// after imgui.h
#include <imgui_internal.h> // SetItemUsingMouseWheel
#include "core/math3.h"
#include "solvers/sim.h"

using namespace view_ui;

namespace {

enum class Icon { begin, back, play, pause, forward, event, loop };

void draw_icon(ImDrawList* list, Icon icon, ImVec2 c, float r, ImU32 tone) {
    auto triangle = [&](float x, float w, float h) {
        list->AddTriangleFilled(ImVec2(c.x + x, c.y - h), ImVec2(c.x + x, c.y + h),
                                ImVec2(c.x + x + w, c.y), tone);
    };
    auto bar = [&](float x) {
        list->AddRectFilled(ImVec2(c.x + x - 0.13f * r, c.y - 0.7f * r),
                            ImVec2(c.x + x + 0.13f * r, c.y + 0.7f * r), tone);
    };
    switch (icon) {
        case Icon::begin:
            bar(-0.65f * r);
            triangle(0.65f * r, -1.1f * r, 0.7f * r);
            break;
        case Icon::back:
            bar(0.55f * r);
            triangle(0.25f * r, -0.9f * r, 0.7f * r);
            break;
        case Icon::play:
            triangle(-0.5f * r, 1.3f * r, 0.85f * r);
            break;
        case Icon::pause:
            for (float x : {-0.42f, 0.42f})
                list->AddRectFilled(ImVec2(c.x + (x - 0.2f) * r, c.y - 0.8f * r),
                                    ImVec2(c.x + (x + 0.2f) * r, c.y + 0.8f * r), tone);
            break;
        case Icon::forward:
            bar(-0.55f * r);
            triangle(-0.25f * r, 0.9f * r, 0.7f * r);
            break;
        case Icon::event:
            triangle(-0.8f * r, 0.9f * r, 0.7f * r);
            list->AddCircleFilled(ImVec2(c.x + 0.55f * r, c.y), 0.38f * r, tone, 12);
            break;
        case Icon::loop:
            list->PathArcTo(c, 0.75f * r, 0.6f, 5.6f, 20);
            list->PathStroke(tone, 0, 0.24f * r);
            list->AddTriangleFilled(ImVec2(c.x + 0.25f * r, c.y - 0.45f * r),
                                    ImVec2(c.x + 0.95f * r, c.y - 0.95f * r),
                                    ImVec2(c.x + 0.95f * r, c.y - 0.15f * r), tone);
            break;
    }
}

void icon_button(ViewUi* ui, Viewer* viewer, Icon icon, ViewAction action, const char* tip,
                 ImU32 tone) {
    float s = ui->scale, side = 26 * s;
    ImGui::PushID(tip);
    ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("icon", ImVec2(side, side))) viewer_act(viewer, action);
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (ImGui::IsItemHovered()) {
        list->AddRectFilled(at, ImVec2(at.x + side, at.y + side), IM_COL32(224, 231, 239, 255),
                            4 * s);
        ImGui::SetTooltip("%s", tip);
    }
    draw_icon(list, icon, ImVec2(at.x + 0.5f * side, at.y + 0.5f * side), 7.5f * s, tone);
    ImGui::PopID();
    ImGui::SameLine(0, 2 * s);
}

ImU32 event_color(int kind) {
    switch (kind) {
        case LASH_EVENT_IMPACT:
            return IM_COL32(206, 48, 40, 255);
        case LASH_EVENT_PLASTIC:
            return IM_COL32(150, 60, 150, 255);
        case LASH_EVENT_OPEN:
            return IM_COL32(60, 130, 190, 255);
        default:
            return IM_COL32(190, 150, 60, 255);
    }
}

// Weaker ticks beside a stronger one are low and pale.
void draw_ticks(ImDrawList* list, ViewUi* ui, const Viewer* viewer, ImVec2 at, float width,
                float height, ViewSpan span) {
    float s = ui->scale;
    ui->tick.resize(static_cast<size_t>(width));
    viewer_ticks(viewer, span, static_cast<int>(width), ui->tick.data());
    for (size_t i = 0; i < ui->tick.size(); ++i) {
        const ViewTick& tick = ui->tick[i];
        if (tick.kind < 0) continue;
        float tall = static_cast<float>(tick.weaker ? std::fmin(tick.height, 0.2) : tick.height);
        ImU32 tone = event_color(tick.kind);
        if (tick.weaker) tone = (tone & 0x00ffffffu) | 0x70000000u;
        float px = at.x + static_cast<float>(i) + 0.5f;
        list->AddLine(ImVec2(px, at.y + height - 4 * s),
                      ImVec2(px, at.y + height - 4 * s - tall * (height - 8 * s)), tone, 1.0f);
    }
}

void draw_track(ViewUi* ui, Viewer* viewer, float height) {
    float s = ui->scale, width = ImGui::GetContentRegionAvail().x;
    if (width < 8) return; // a very narrow window
    ViewSpan span = viewer_span(viewer);
    double first = span.begin, last = span.end;
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("track", ImVec2(width, height));
    double under = first + (ImGui::GetIO().MousePos.x - at.x) / width * (last - first);
    if (ImGui::IsItemActive()) {
        viewer->playback.playing = false;
        viewer_seek(viewer, under);
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    auto place = [&](double t) {
        return at.x + static_cast<float>((t - first) / (last - first)) * width;
    };
    float y0 = at.y + 3 * s, y1 = at.y + height - 3 * s;
    list->AddRectFilled(ImVec2(at.x, y0), ImVec2(at.x + width, y1), IM_COL32(228, 232, 237, 255),
                        3 * s);
    list->AddRectFilled(ImVec2(at.x, y0), ImVec2(place(viewer->playback.end), y1),
                        IM_COL32(212, 220, 229, 255), 3 * s);
    draw_ticks(list, ui, viewer, at, width, height, span);
    float x = place(viewer->playback.time);
    list->AddRectFilled(ImVec2(x - 1 * s, at.y), ImVec2(x + 1 * s, at.y + height), accent);
    list->AddCircleFilled(ImVec2(x, at.y + 2 * s), 4.5f * s, accent, 16);
    if (viewer->selected_event >= 0) { // where N went
        float px = place(viewer->event[viewer->selected_event].t);
        list->AddTriangleFilled(ImVec2(px - 4 * s, at.y + height),
                                ImVec2(px + 4 * s, at.y + height),
                                ImVec2(px, at.y + height - 7 * s), IM_COL32(222, 140, 10, 255));
    }
    viewer->hovered_event = -1;
    if (!ImGui::IsItemHovered()) return;
    viewer->hovered_event =
        viewer_event_near(viewer, under, (VIEW_TICK_SPACE + 0.5) * (last - first) / width);
    if (ImGui::IsItemClicked() && viewer->hovered_event >= 0)
        viewer_select_event(viewer, viewer->hovered_event);
    if (ImGui::IsItemActive()) return;
    char text[256];
    if (viewer->hovered_event >= 0)
        ImGui::SetTooltip("%s",
                          viewer_event_text(viewer, viewer->hovered_event, text, sizeof text));
    else
        ImGui::SetTooltip("%s", quantity_text(under, "s", 5).c_str());
}

} // namespace

void view_ui::draw_timeline(ViewUi* ui, Viewer* viewer) {
    float s = ui->scale;
    char text[64];
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 8 * s);
    icon_button(ui, viewer, Icon::begin, VIEW_GO_BEGIN, "to the start (Home)", ink);
    icon_button(ui, viewer, Icon::back, VIEW_STEP_BACK, "one frame back (Left)", ink);
    bool playing = viewer->playback.playing;
    icon_button(ui, viewer, playing ? Icon::pause : Icon::play, VIEW_PLAY,
                playing ? "pause (Space)" : "play (Space)", accent);
    icon_button(ui, viewer, Icon::forward, VIEW_STEP_FORWARD, "one frame on (Right)", ink);
    icon_button(ui, viewer, Icon::event, VIEW_NEXT_EVENT, "next event (N)",
                viewer->events > 0 ? alarm : hairline);
    icon_button(ui, viewer, Icon::loop, VIEW_LOOP,
                viewer->playback.loop ? "loop is on (L)" : "loop (L)",
                viewer->playback.loop ? accent : hairline);
    ImGui::SameLine(0, 6 * s);
    float middle = ImGui::GetCursorPosY();
    ImGui::SetCursorPosY(middle + 1.5f * s);
    view_playback_speed_text(&viewer->playback, text, sizeof text);
    ImGui::SetNextItemWidth(92 * s);
    if (ImGui::BeginCombo("##speed", text, ImGuiComboFlags_HeightLargest)) {
        if (ui->closing) ImGui::CloseCurrentPopup();
        ViewPlayback each = viewer->playback;
        view_playback_speed(&each, -100);
        for (double last = 0; each.speed != last; view_playback_speed(&each, 1)) {
            last = each.speed;
            view_playback_speed_text(&each, text, sizeof text);
            if (ImGui::Selectable(text, each.speed == viewer->playback.speed))
                viewer->playback.speed = each.speed;
        }
        ImGui::EndCombo();
    }
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("speed (Up, Down): simulated per real time");
    if (viewer->status.live) {
        ImGui::SameLine(0, 6 * s);
        ImGui::SetCursorPosY(middle + 1.5f * s);
        if (ImGui::Button("Run again")) viewer_act(viewer, VIEW_RESTART);
    }
    ImGui::SameLine(0, 12 * s);
    ImGui::SetCursorPosY(middle - 2 * s);
    draw_track(ui, viewer, 30 * s);
}

void view_ui::draw_status(ViewUi* ui, const Viewer* viewer) {
    const double* x = viewer->frame.values;
    const int* o = viewer->scene.layout.offset;
    if (viewer->error.status != LASH_OK) {
        std::string text = error_text(viewer);
        ImGui::PushStyleColor(ImGuiCol_Text, alarm);
        ImGui::TextWrapped("%s", text.c_str());
        ImGui::PopStyleColor();
        if (ImGui::IsItemHovered()) { // it may have more lines than are shown
            ImGui::BeginTooltip();
            ImGui::PushTextWrapPos(460 * ui->scale);
            ImGui::TextUnformatted(text.c_str());
            ImGui::TextDisabled("Esc closes this");
            ImGui::PopTextWrapPos();
            ImGui::EndTooltip();
        }
        return;
    }
    double steps = x[o[LASH_SERIES_STEPS]];
    double newton = steps > 0 ? x[o[LASH_SERIES_NEWTON]] / steps : 0;
    ImGui::Text("t = %s", quantity_text(viewer->frame.time, "s", 6).c_str());
    float s = ui->scale, at = 130 * s;
    auto item = [&](float width, const char* name, const std::string& value) {
        float both = ImGui::CalcTextSize(name).x + ImGui::CalcTextSize(value.c_str()).x + 5 * s;
        if (at + both > ImGui::GetWindowWidth()) return; // a narrow window: no half words
        ImGui::SameLine(at);
        ImGui::TextDisabled("%s", name);
        ImGui::SameLine(0, 5 * s);
        ImGui::TextUnformatted(value.c_str());
        at += width * s;
    };
    char text[64];
    snprintf(text, sizeof text, "%.0f \xC3\x97 %s", steps,
             quantity_text(viewer->status.step, "s", 3).c_str());
    item(160, "step", text);
    snprintf(text, sizeof text, "%.1f", newton);
    item(150, "iterations/step", text);
    snprintf(text, sizeof text, "%.1e m", x[o[LASH_SERIES_POSITION_ERROR]]);
    item(160, "joint error", text);
    snprintf(text, sizeof text, "%.1e m", x[o[LASH_SERIES_PENETRATION]]);
    item(165, "penetration", text);
    snprintf(text, sizeof text, "%.0f", x[o[LASH_SERIES_CONTACTS]]);
    item(95, "contacts", text);
    if (viewer->status.live && viewer->status.real_time > 0) {
        snprintf(text, sizeof text, "%.3g%s", viewer->status.real_time,
                 viewer->status.running ? "" : " (done)");
        item(150, "real-time factor", text);
    } else if (!viewer->status.live) {
        snprintf(text, sizeof text, "%lld of %lld", static_cast<long long>(viewer->shown + 1),
                 static_cast<long long>(viewer->status.frames));
        item(150, "frame", text);
    }
    const char* hint = viewer->note[0] != '\0' ? viewer->note : "F1  keys";
    float width = ImGui::CalcTextSize(hint).x;
    if (at + width + 20 * s < ImGui::GetWindowWidth()) {
        ImGui::SameLine(ImGui::GetWindowWidth() - width - 10 * s);
        ImGui::TextDisabled("%s", hint);
    }
}

// ---- plots --------------------------------------------------------------------------------------

namespace {

const ImU32 curve_color[] = {IM_COL32(31, 98, 175, 255),  IM_COL32(205, 84, 36, 255),
                             IM_COL32(52, 134, 66, 255),  IM_COL32(140, 82, 170, 255),
                             IM_COL32(190, 145, 20, 255), IM_COL32(20, 140, 150, 255)};

// Samples of a curve, renewed when the source has grown noticeably or another time is shown.
const Samples& samples_of(ViewUi* ui, Viewer* viewer, const ViewCurve& curve, bool second = false) {
    Samples* found = nullptr;
    for (Samples& s : ui->samples)
        if (s.series == curve.series && s.column == curve.column && s.norm == curve.norm &&
            s.second == second)
            found = &s;
    if (found == nullptr) {
        if (ui->samples.size() > 64) ui->samples.clear();
        ui->samples.push_back(
            {curve.series, curve.column, curve.norm, second, {0, 0}, -1, 0, {}, {}});
        found = &ui->samples.back();
    }
    ViewSpan span = viewer_plot_span(viewer);
    bool moved = span.begin != found->span.begin || span.end != found->span.end;
    bool grown = viewer->status.frames > found->frames + found->frames / 40 ||
                 (!viewer->status.running &&
                  (viewer->status.frames != found->frames || viewer->status.end != found->end)) ||
                 viewer->status.frames < found->frames;
    if (second && found->frames >= 0) grown = false; // a result does not grow
    if (moved || grown) {
        found->t.resize(VIEW_PLOT_POINTS);
        found->y.resize(VIEW_PLOT_POINTS);
        int n = viewer_curve_sample(viewer, second ? viewer->second : viewer->source, &curve, span,
                                    VIEW_PLOT_POINTS, found->t.data(), found->y.data());
        found->t.resize(static_cast<size_t>(n));
        found->y.resize(static_cast<size_t>(n));
        found->frames = viewer->status.frames;
        found->end = viewer->status.end;
        found->span = span;
    }
    return *found;
}

struct Range {
    double low = INFINITY, high = -INFINITY;
    void include(double a) {
        if (!std::isfinite(a)) return;
        low = std::fmin(low, a);
        high = std::fmax(high, a);
    }
};

Range range_of(ViewUi* ui, Viewer* viewer, const ViewPlot& plot) {
    Range r;
    for (int k = 0; k < plot.curves; ++k) {
        const Samples& s = samples_of(ui, viewer, plot.curve[k]);
        for (double y : s.y) r.include(y);
        if (viewer->second == nullptr) continue;
        for (double y : samples_of(ui, viewer, plot.curve[k], true).y) r.include(y);
    }
    if (!(r.high >= r.low)) {
        r.low = 0;
        r.high = 1;
    }
    double span = r.high - r.low;
    double size = std::fmax(std::fabs(r.low), std::fabs(r.high));
    if (span < 1e-9 * size || span == 0) {
        span = size > 0 ? size : 1;
        r.low -= 0.5 * span;
        r.high += 0.5 * span;
    }
    r.low -= 0.06 * span;
    r.high += 0.06 * span;
    return r;
}

struct Canvas {
    ImVec2 at, size; // of the curves
    double t0, t1;
    Range y;
    float x(double t) const {
        return at.x + static_cast<float>((t - t0) / (t1 - t0)) * size.x;
    }
    float v(double value) const {
        return at.y + static_cast<float>((y.high - value) / (y.high - y.low)) * size.y;
    }
};

// How the numbers of an axis are written: (value - base) / scale with a prefix of the unit. A narrow
// range far from zero is written from its first tick on: its labels would be long, or the same.
struct Labels {
    double base = 0, scale = 1;
    const char* prefix = "";
    std::string text(double value, double step) const {
        char buffer[32];
        double shown = (value - base) / scale;
        snprintf(buffer, sizeof buffer, "%.5g", std::fabs(value - base) < 1e-9 * step ? 0 : shown);
        return buffer;
    }
};

Labels make_labels(double low, double high, double step, const char* unit) {
    constexpr double long_label = 1e4; // steps: five digits
    Labels labels;
    double size = std::fmax(std::fabs(low), std::fabs(high));
    if (size / step > long_label) {
        labels.base = std::ceil(low / step) * step;
        size = high - low;
    }
    labels.scale = prefix_of(size, unit, &labels.prefix);
    return labels;
}

// "mm", or "um from 459.012 mm".
std::string label_unit(const Labels& labels, const char* unit) {
    std::string text = std::string(labels.prefix) + unit;
    return labels.base == 0 ? text : text + " from " + quantity_text(labels.base, unit, 9);
}

void draw_time_labels(ImDrawList* list, const ViewUi* ui, const Canvas& c) {
    float line = ui->small_font->FontSize, y = c.at.y + c.size.y + 3 * ui->scale;
    double step = nice_step((c.t1 - c.t0) / 4);
    Labels labels = make_labels(c.t0, c.t1, step, "s");
    std::string unit = label_unit(labels, "s");
    double last = std::floor((c.t1 + 1e-9 * step) / step) * step;
    std::string end = labels.text(last, step) + " " + unit; // the last one, with the unit
    auto width = [&](const std::string& text) {
        return ui->small_font->CalcTextSizeA(line, 1e9f, 0, text.c_str()).x;
    };
    float right = std::fmin(c.x(last) - 0.5f * width(labels.text(last, step)),
                            c.at.x + c.size.x - width(end));
    list->AddText(ui->small_font, line, ImVec2(right, y), faint, end.c_str());
    for (double t = std::ceil(c.t0 / step) * step; t < last - 0.5 * step; t += step) {
        std::string text = labels.text(t, step);
        float px = c.x(t) - 0.5f * width(text);
        if (px + width(text) + 0.5f * line > right) break;
        list->AddText(ui->small_font, line, ImVec2(px, y), faint, text.c_str());
    }
}

// Returns the unit of the y axis.
std::string draw_axes(ImDrawList* list, const ViewUi* ui, const Canvas& c, const char* unit,
                      bool time_labels) {
    float line = ui->small_font->FontSize;
    double step = nice_step((c.y.high - c.y.low) / (c.size.y > 4.2f * line ? 3.4 : 1.7));
    Labels labels = make_labels(c.y.low, c.y.high, step, unit);
    for (double y = std::ceil(c.y.low / step) * step; y <= c.y.high; y += step) {
        float py = c.v(y);
        list->AddLine(ImVec2(c.at.x, py), ImVec2(c.at.x + c.size.x, py),
                      IM_COL32(226, 230, 235, 255));
        std::string text = labels.text(y, step);
        float width = ui->small_font->CalcTextSizeA(line, 1e9f, 0, text.c_str()).x;
        list->AddText(ui->small_font, line,
                      ImVec2(c.at.x - width - 5 * ui->scale, py - 0.5f * line), faint,
                      text.c_str());
    }
    if (time_labels) draw_time_labels(list, ui, c);
    return label_unit(labels, unit);
}

// Piece by piece: joined lines grow thin at sharp peaks.
void draw_curve(ImDrawList* list, const Canvas& c, const Samples& s, ImU32 tone, float width) {
    for (size_t i = 1; i < s.t.size(); ++i) {
        if (!std::isfinite(s.y[i - 1]) || !std::isfinite(s.y[i])) continue;
        list->AddLine(ImVec2(c.x(s.t[i - 1]), c.v(s.y[i - 1])), ImVec2(c.x(s.t[i]), c.v(s.y[i])),
                      tone, width);
    }
}

// Names of the curves with their values at the cursor; a click on one takes it away.
void draw_legend(ViewUi* ui, Viewer* viewer, ViewPlot* plot) {
    const ViewCurve* remove = nullptr;
    for (int k = 0; k < plot->curves; ++k) {
        const ViewCurve& curve = plot->curve[k];
        double value = viewer_curve_value(viewer, &curve);
        ImVec2 at = ImGui::GetCursorScreenPos();
        float line = ImGui::GetTextLineHeight(), s = ui->scale;
        ImGui::PushID(k);
        ImGui::GetWindowDrawList()->AddRectFilled(
            ImVec2(at.x, at.y + 0.42f * line),
            ImVec2(at.x + 12 * s, at.y + 0.42f * line + 2.5f * s), curve_color[k]);
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 18 * s);
        ImGui::TextUnformatted(curve.name);
        if (ImGui::IsItemClicked()) remove = &curve;
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("click takes this curve away");
        std::string text = quantity_text(value, curve.unit, 4);
        if (viewer->second != nullptr)
            text += " | " + quantity_text(viewer_curve_beside(viewer, &curve, viewer->frame.time),
                                          curve.unit, 4);
        ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(text.c_str()).x);
        ImGui::TextDisabled("%s", text.c_str());
        ImGui::PopID();
    }
    if (remove != nullptr) {
        ViewCurve copy = *remove;
        viewer_plot_toggle(viewer, &copy);
    }
}

// The wheel narrows or widens the time that all plots show, about the cursor; a right drag moves it;
// a double click shows all again.
void zoom(Viewer* viewer, const Canvas& c) {
    ImGui::SetItemUsingMouseWheel(); // it does not scroll the panel
    if (!ImGui::IsItemHovered()) return;
    const ImGuiIO& io = ImGui::GetIO();
    double per_pixel = (c.t1 - c.t0) / static_cast<double>(c.size.x);
    if (ImGui::IsMouseDoubleClicked(0)) viewer->zoom = {0, 0};
    if (io.MouseWheel != 0)
        viewer_zoom(viewer, c.t0 + (io.MousePos.x - c.at.x) * per_pixel,
                    std::pow(0.8, static_cast<double>(io.MouseWheel)));
    if (ImGui::IsMouseDragging(1, 0)) viewer_zoom_shift(viewer, -io.MouseDelta.x * per_pixel);
}

void draw_plot(ViewUi* ui, Viewer* viewer, ViewPlot* plot, float height, bool time_labels) {
    float s = ui->scale, margin = 46 * s, below = (time_labels ? 18 : 5) * s;
    char unit[24];
    snprintf(unit, sizeof unit, "%s", plot->curve[0].unit);
    draw_legend(ui, viewer, plot);
    if (plot->curves == 0) return;
    ImVec2 at = ImGui::GetCursorScreenPos();
    float width = ImGui::GetContentRegionAvail().x;
    ImGui::InvisibleButton("plot", ImVec2(width, std::fmax(height, 30 * s)));
    Canvas c;
    c.at = ImVec2(at.x + margin, at.y + 4 * s);
    c.size = ImVec2(width - margin - 4 * s, std::fmax(height, 30 * s) - below - 4 * s);
    ViewSpan span = viewer_plot_span(viewer);
    c.t0 = span.begin;
    c.t1 = span.end;
    zoom(viewer, c);
    c.y = range_of(ui, viewer, *plot);
    if (ImGui::IsItemActive()) {
        viewer->playback.playing = false;
        viewer_seek(viewer, c.t0 + (ImGui::GetIO().MousePos.x - c.at.x) / c.size.x * (c.t1 - c.t0));
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(c.at, ImVec2(c.at.x + c.size.x, c.at.y + c.size.y),
                        IM_COL32(255, 255, 255, 255));
    std::string label = draw_axes(list, ui, c, unit, time_labels);
    list->PushClipRect(c.at, ImVec2(c.at.x + c.size.x, c.at.y + c.size.y), true);
    for (int k = 0; k < plot->curves; ++k) {
        if (viewer->second != nullptr) // paler and thinner: the other result
            draw_curve(list, c, samples_of(ui, viewer, plot->curve[k], true),
                       (curve_color[k] & 0x00ffffffu) | 0x80000000u, 1.0f * s);
        draw_curve(list, c, samples_of(ui, viewer, plot->curve[k]), curve_color[k], 1.4f * s);
    }
    float x = c.x(viewer->frame.time);
    list->AddLine(ImVec2(x, c.at.y), ImVec2(x, c.at.y + c.size.y), IM_COL32(38, 103, 176, 200),
                  1.2f * s);
    list->PopClipRect();
    list->AddRect(c.at, ImVec2(c.at.x + c.size.x, c.at.y + c.size.y), hairline);
    list->AddText(ui->small_font, ui->small_font->FontSize, ImVec2(c.at.x + 4 * s, c.at.y + 2 * s),
                  faint, label.c_str());
}

void add_popup(ViewUi* ui, Viewer* viewer) {
    if (!ImGui::BeginPopup("add")) return;
    if (ui->closing) ImGui::CloseCurrentPopup();
    ImGui::SetNextItemWidth(240 * ui->scale);
    ImGui::InputTextWithHint("##filter", "type to filter", ui->filter, sizeof ui->filter);
    if (ImGui::BeginChild("list", ImVec2(300 * ui->scale, 260 * ui->scale))) {
        int count = viewer_curve_count(viewer);
        for (int i = 0; i < count; ++i) {
            ViewCurve curve = viewer_curve(viewer, i);
            if (curve.name[0] == '\0' || std::strstr(curve.name, ui->filter) == nullptr) continue;
            ImGui::PushID(i);
            if (ImGui::Selectable(curve.name)) viewer_plot_toggle(viewer, &curve);
            ImGui::PopID();
        }
    }
    ImGui::EndChild();
    ImGui::EndPopup();
}

// Into the present folder, beside what is there: plots.csv, or plots_2.csv.
void save_button(Viewer* viewer, const char* format) {
    if (ImGui::SmallButton(format) && viewer->plots > 0) {
        char file[40], ending[8];
        snprintf(ending, sizeof ending, "%s", std::strcmp(format, "CSV") == 0 ? "csv" : "svg");
        snprintf(file, sizeof file, "plots.%s", ending);
        FILE* there = nullptr;
        for (int i = 2; i < 1000 && (there = fopen(file, "rb")) != nullptr; ++i) {
            fclose(there);
            snprintf(file, sizeof file, "plots_%d.%s", i, ending);
        }
        LashError error = {};
        if (viewer_plots_save(viewer, file, &error))
            snprintf(viewer->note, sizeof viewer->note, "%s written", file);
        else
            viewer->error = error;
    }
    if (ImGui::IsItemHovered())
        ImGui::SetTooltip("save the curves in this folder as plots.%s",
                          std::strcmp(format, "CSV") == 0 ? "csv" : "svg");
}

} // namespace

void view_ui::draw_plots(ViewUi* ui, Viewer* viewer) {
    float s = ui->scale;
    ImVec2 corner = ImGui::GetWindowPos();
    ImGui::GetWindowDrawList()->AddLine(
        corner, ImVec2(corner.x + ImGui::GetWindowWidth(), corner.y), hairline);
    ImGui::PushFont(ui->small_font);
    ImGui::TextDisabled("PLOTS");
    ImGui::PopFont();
    ImGui::SameLine(ImGui::GetContentRegionMax().x - 146 * s);
    save_button(viewer, "CSV");
    ImGui::SameLine();
    save_button(viewer, "SVG");
    ImGui::SameLine();
    if (ImGui::SmallButton("Add ...")) ImGui::OpenPopup("add");
    add_popup(ui, viewer);
    if (viewer->second != nullptr) {
        ImGui::PushFont(ui->small_font);
        const char* slash = std::strrchr(viewer->second_name, '/');
        ImGui::TextDisabled("pale, and the second number: %s",
                            slash != nullptr ? slash + 1 : viewer->second_name);
        ImGui::PopFont();
    }
    float spacing = ImGui::GetStyle().ItemSpacing.y, line = ImGui::GetTextLineHeight();
    draw_orbit(ui, viewer, 0.38f * ImGui::GetContentRegionAvail().y);
    float rest = ImGui::GetContentRegionAvail().y;
    int curves = 0;
    for (int i = 0; i < viewer->plots; ++i) curves += viewer->plot[i].curves;
    rest -= static_cast<float>(curves) * (line + spacing);
    for (int i = 0; i < viewer->plots; ++i) {
        bool last = i + 1 == viewer->plots;
        float height = rest / static_cast<float>(viewer->plots) - spacing + (last ? 2 : -2) * s;
        ImGui::PushID(i);
        draw_plot(ui, viewer, &viewer->plot[i], height, last);
        ImGui::PopID();
    }
}

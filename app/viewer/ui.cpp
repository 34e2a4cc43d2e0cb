// The frame of the user interface: fonts, theme, layout, and the captions inside the picture.
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "app/cli/text.h"
#include "app/viewer/ui_internal.hpp"
#include "core/arena.h"
#include "core/math3.h"

using namespace view_ui;

namespace {

// Sizes of the layout in points.
constexpr float left_width = 238, right_width = 330, timeline_height = 58, status_height = 25;

const char* const font_files[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"};

ImFont* load_font(float size) {
    static const ImWchar ranges[] = {0x0020, 0x00FF, 0x0100, 0x017F, 0x0370, 0x03FF,
                                     0x2010, 0x2044, 0x2190, 0x21FF, 0};
    ImFontAtlas* atlas = ImGui::GetIO().Fonts;
    for (const char* file : font_files) {
        if (access(file, R_OK) == 0)
            return atlas->AddFontFromFileTTF(file, std::round(size), nullptr, ranges);
    }
    ImFontConfig config; // the built-in bitmap font
    config.SizePixels = std::round(size);
    return atlas->AddFontDefault(&config);
}

ImVec4 color(ImU32 c) {
    return ImGui::ColorConvertU32ToFloat4(c);
}

void set_theme(float scale) {
    ImGui::StyleColorsLight();
    ImGuiStyle& s = ImGui::GetStyle();
    s.WindowRounding = 0;
    s.FrameRounding = 3;
    s.GrabRounding = 3;
    s.ScrollbarRounding = 3;
    s.WindowBorderSize = 0;
    s.FrameBorderSize = 0;
    s.PopupBorderSize = 1;
    s.PopupRounding = 4;
    s.WindowPadding = ImVec2(10, 8);
    s.FramePadding = ImVec2(6, 3);
    s.ItemSpacing = ImVec2(7, 5);
    s.ScrollbarSize = 11;
    s.GrabMinSize = 10;
    s.IndentSpacing = 14;
    s.Colors[ImGuiCol_Text] = color(ink);
    s.Colors[ImGuiCol_TextDisabled] = color(faint);
    s.Colors[ImGuiCol_WindowBg] = color(paper);
    s.Colors[ImGuiCol_PopupBg] = color(IM_COL32(255, 255, 255, 250));
    s.Colors[ImGuiCol_Border] = color(hairline);
    s.Colors[ImGuiCol_FrameBg] = color(IM_COL32(232, 236, 240, 255));
    s.Colors[ImGuiCol_FrameBgHovered] = color(IM_COL32(221, 228, 236, 255));
    s.Colors[ImGuiCol_FrameBgActive] = color(IM_COL32(208, 219, 231, 255));
    s.Colors[ImGuiCol_CheckMark] = s.Colors[ImGuiCol_SliderGrab] = color(accent);
    s.Colors[ImGuiCol_SliderGrabActive] = color(IM_COL32(24, 80, 148, 255));
    s.Colors[ImGuiCol_Button] = color(IM_COL32(232, 236, 240, 255));
    s.Colors[ImGuiCol_ButtonHovered] = color(IM_COL32(214, 225, 237, 255));
    s.Colors[ImGuiCol_ButtonActive] = color(IM_COL32(190, 208, 228, 255));
    s.Colors[ImGuiCol_Header] = color(IM_COL32(214, 228, 244, 255));
    s.Colors[ImGuiCol_HeaderHovered] = color(IM_COL32(226, 234, 243, 255));
    s.Colors[ImGuiCol_HeaderActive] = color(IM_COL32(200, 217, 236, 255));
    s.Colors[ImGuiCol_Separator] = color(hairline);
    s.ScaleAllSizes(scale);
}

} // namespace

ViewUi* view_ui_create(const ViewUiOptions* options, LashError* error) {
    IMGUI_CHECKVERSION();
    ViewUi* ui = new ViewUi();
    ui->options = *options;
    ui->scale = static_cast<float>(options->scale);
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr; // nothing is written behind the user's back
    io.LogFilename = nullptr;
    ui->font = load_font(13.5f * ui->scale);
    ui->small_font = load_font(11.5f * ui->scale);
    set_theme(ui->scale);
    bool good = true;
    if (options->window != nullptr)
        good = ImGui_ImplGlfw_InitForOpenGL(static_cast<GLFWwindow*>(options->window), true);
    good = good && ImGui_ImplOpenGL3_Init("#version 330 core");
    if (good) return ui;
    lash_error_set(error, LASH_ERROR_IO, "OpenGL", "the user interface cannot be drawn");
    ImGui::DestroyContext();
    delete ui;
    return nullptr;
}

void view_ui_destroy(ViewUi* ui) {
    if (ui == nullptr) return;
    ImGui_ImplOpenGL3_Shutdown();
    if (ui->options.window != nullptr) ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    delete ui;
}

bool view_ui_has_mouse(const ViewUi*) {
    return ImGui::GetIO().WantCaptureMouse;
}

bool view_ui_close(ViewUi* ui) {
    ui->closing = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
    return ui->closing;
}

bool view_ui_has_keyboard(const ViewUi*) {
    return ImGui::GetIO().WantTextInput;
}

// Side panels give way when the picture would become too narrow.
static bool side_panels(const ViewUi* ui, const Viewer* viewer, double width) {
    return viewer->panels && width >= (left_width + right_width + 220) * ui->scale;
}

// "file: key: what is wrong", as the status line shows it.
std::string view_ui::error_text(const Viewer* viewer) {
    const LashError& error = viewer->error;
    return std::string(error.where) + (error.where[0] != '\0' ? ": " : "") + error.message;
}

// A message that is longer than the window takes several lines, the rest is in its tooltip.
static float status_size(const ViewUi* ui, const Viewer* viewer, double width) {
    constexpr float most_lines = 5;
    float one = status_height * ui->scale;
    if (viewer->error.status == LASH_OK || !ui->font->IsLoaded()) return one;
    float size = ui->font->FontSize, room = static_cast<float>(width) - 20 * ui->scale;
    std::string text = error_text(viewer);
    float high = ui->font->CalcTextSizeA(size, 1e9f, std::fmax(room, size), text.c_str()).y;
    return one + std::fmin(high, most_lines * size) - size;
}

ViewRectangle view_ui_viewport(const ViewUi* ui, const Viewer* viewer, double width,
                               double height) {
    if (!ui->options.panels) return {0, 0, width, height};
    double bottom = static_cast<double>(timeline_height * ui->scale) +
                    static_cast<double>(status_size(ui, viewer, width));
    bool side = side_panels(ui, viewer, width);
    double left = side ? left_width * ui->scale : 0;
    double right = side ? right_width * ui->scale : 0;
    double least = 32;
    return {left, 0, std::fmax(least, width - left - right), std::fmax(least, height - bottom)};
}

// ---- numbers ------------------------------------------------------------------------------------

double view_ui::nice_step(double size) {
    if (!(size > 0) || !std::isfinite(size)) return 1;
    return app_nice_number(size);
}

double view_ui::prefix_of(double size, const char* unit, const char** prefix) {
    static const char* const names[] = {"n", "\xC2\xB5", "m", "", "k", "M", "G"};
    *prefix = "";
    bool plain = std::strcmp(unit, "count") == 0 || std::strstr(unit, " or ") != nullptr ||
                 std::strncmp(unit, "kg", 2) == 0 || unit[0] == '\0';
    if (plain || !(size > 0) || !std::isfinite(size)) return 1;
    int k = static_cast<int>(std::floor(std::log10(size * (1 + 1e-9)) / 3));
    k = std::max(-3, std::min(3, k));
    if (std::strncmp(unit, "rad", 3) == 0 && k > -2) k = 0; // 0.02 rad, 150 rad/s
    *prefix = names[k + 3];
    return std::pow(1000, k);
}

std::string view_ui::quantity_text(double value, const char* unit, int digits) {
    char text[64];
    const char* prefix;
    if (!std::isfinite(value)) return std::isnan(value) ? "-" : "far"; // a gap that nobody knows
    if (std::fabs(value) < 1e-12) value = 0;                           // rounding, not a quantity
    double scale = prefix_of(std::fabs(value), unit, &prefix);
    bool count = std::strcmp(unit, "count") == 0;
    snprintf(text, sizeof text, "%.*g%s%s%s", digits, value / scale, count ? "" : " ", prefix,
             count ? "" : unit);
    return text;
}

// ---- captions -----------------------------------------------------------------------------------

namespace {

// A caption on a pale plate, legible over anything, wrapped within `width`; returns its height.
float shadowed(ImDrawList* list, ImVec2 at, ImU32 ink_color, const char* text, float width) {
    ImFont* font = ImGui::GetFont();
    float size = ImGui::GetFontSize(), pad = 0.2f * size;
    ImVec2 box = font->CalcTextSizeA(size, 1e9f, width, text);
    list->AddRectFilled(ImVec2(at.x - pad, at.y - 0.5f * pad),
                        ImVec2(at.x + box.x + pad, at.y + box.y + 0.5f * pad),
                        IM_COL32(250, 251, 252, 170), pad);
    list->AddText(font, size, at, ink_color, text, nullptr, width);
    return box.y;
}

// A bar of a length in the picture with its caption; returns the height it took.
float draw_scale_bar(ImDrawList* list, ImVec2 at, float length, ImU32 tone, const char* text,
                     float scale) {
    float h = 3.5f * scale, line = ImGui::GetTextLineHeight();
    ImVec2 a(at.x, at.y - h), b(at.x + length, at.y - h);
    list->AddLine(a, b, tone, 1.6f * scale);
    list->AddLine(ImVec2(a.x, a.y - h), ImVec2(a.x, a.y + h), tone, 1.6f * scale);
    list->AddLine(ImVec2(b.x, b.y - h), ImVec2(b.x, b.y + h), tone, 1.6f * scale);
    shadowed(list, ImVec2(b.x + 8 * scale, at.y - h - 0.55f * line), ink, text, 0);
    return line + 4 * scale;
}

void draw_axes(ImDrawList* list, const Viewer* viewer, ImVec2 center, float size, float scale) {
    static const ImU32 tone[3] = {IM_COL32(196, 52, 44, 255), IM_COL32(46, 132, 50, 255),
                                  IM_COL32(40, 88, 190, 255)};
    static const char* const name[3] = {"x", "y", "z"};
    Vec3 right, up, back;
    view_camera_axes(&viewer->camera, &right, &up, &back);
    int order[3] = {0, 1, 2};
    double depth[3] = {back.x, back.y, back.z};
    for (int i = 0; i < 2; ++i) // far ones first
        for (int k = 0; k < 2; ++k)
            if (depth[order[k]] > depth[order[k + 1]]) std::swap(order[k], order[k + 1]);
    for (int i : order) {
        const double across[] = {right.x, right.y, right.z}, high[] = {up.x, up.y, up.z};
        double x = across[i], y = high[i];
        ImVec2 tip(center.x + size * static_cast<float>(x),
                   center.y - size * static_cast<float>(y));
        list->AddLine(center, tip, tone[i], 2.0f * scale);
        if (std::hypot(x, y) < 0.18) continue; // it points at the eye: a letter would cover others
        ImVec2 text = ImGui::CalcTextSize(name[i]);
        float reach = 1 + 9 * scale / size;
        ImVec2 label(center.x + reach * size * static_cast<float>(x) - 0.5f * text.x,
                     center.y - reach * size * static_cast<float>(y) - 0.5f * text.y);
        shadowed(list, label, tone[i], name[i], 0);
    }
}

} // namespace

void view_ui::draw_captions(const ViewUi* ui, Viewer* viewer, const ViewRectangle& area) {
    ImDrawList* list = ImGui::GetBackgroundDrawList();
    float s = ui->scale, line = ImGui::GetTextLineHeight();
    float left = static_cast<float>(area.x) + 16 * s, top = static_cast<float>(area.y) + 12 * s;
    float bottom = static_cast<float>(area.y + area.height) - 14 * s;
    const LashModel* model = viewer->scene.model;
    char text[256];
    float room = static_cast<float>(area.width) - 32 * s;
    top += shadowed(list, ImVec2(left, top), ink,
                    model->name != nullptr ? model->name : model->file, room) +
           0.35f * line;
    std::string t = quantity_text(viewer->frame.time, "s", 5);
    snprintf(text, sizeof text, "t = %s%s", t.c_str(),
             viewer->status.running && viewer->playback.time >= viewer->playback.end
                 ? "   simulating ..."
                 : "");
    shadowed(list, ImVec2(left, top), faint, text, room);
    if (viewer->magnification > 1 && viewer->magnifier != nullptr) {
        snprintf(text, sizeof text, "play shown \xC3\x97%g", viewer->magnification);
        shadowed(list, ImVec2(left, top + 1.35f * line), alarm, text, room);
    }
    if (viewer->selected_event >= 0) {
        viewer_event_text(viewer, viewer->selected_event, text, sizeof text);
        shadowed(list, ImVec2(left, top + 2.7f * line), ink, text, room);
    }
    draw_axes(list, viewer, ImVec2(left + 24 * s, bottom - 26 * s), 24 * s, s);
    float x = left + 74 * s, y = bottom;
    double pixel = view_camera_scale(&viewer->camera, viewer->camera.target);
    if (viewer->style.grid) {
        char length[32];
        double cell = view_grid_cell(&viewer->scene);
        while (cell / pixel > 0.5 * area.width) cell /= 10; // a bar of a near picture stays in it
        snprintf(text, sizeof text, "%s (grid)", view_length_text(cell, length, sizeof length));
        y -= draw_scale_bar(list, ImVec2(x, y), static_cast<float>(cell / pixel), faint, text, s);
    }
    if (viewer->style.forces && viewer->arrows > 0 && viewer->force_largest > 0) {
        double force = viewer->force_reference;
        while (force * viewer_force_length(viewer) / pixel > 0.5 * area.width) force /= 10;
        double length = force * viewer_force_length(viewer);
        snprintf(text, sizeof text, "%s (force)", quantity_text(force, "N", 3).c_str());
        draw_scale_bar(list, ImVec2(x, y), static_cast<float>(length / pixel), ink, text, s);
    }
}

// ---- layout -------------------------------------------------------------------------------------

namespace {

constexpr ImGuiWindowFlags fixed_window =
    ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavInputs |
    ImGuiWindowFlags_NoNavFocus;

void panel(const char* name, float x, float y, float width, float height, ViewUi* ui,
           Viewer* viewer, void (*content)(ViewUi*, Viewer*), ImGuiWindowFlags flags = 0) {
    ImGui::SetNextWindowPos(ImVec2(x, y));
    ImGui::SetNextWindowSize(ImVec2(width, height));
    if (ImGui::Begin(name, nullptr, fixed_window | flags)) content(ui, viewer);
    ImGui::End();
}

void status_content(ViewUi* ui, Viewer* viewer) {
    draw_status(ui, viewer);
}

void draw_panels(ViewUi* ui, Viewer* viewer, float width, float height) {
    float s = ui->scale, status = status_size(ui, viewer, width), timeline = timeline_height * s;
    float body = height - status - timeline, left = left_width * s, right = right_width * s;
    bool side = side_panels(ui, viewer, width);
    if (side) {
        float tree = std::round(0.56f * body), display = 268 * s;
        if (display > 0.55f * body) display = 0.55f * body;
        panel("tree", 0, 0, left, tree, ui, viewer, draw_tree);
        panel("properties", 0, tree, left, body - tree, ui, viewer, draw_properties);
        panel("display", width - right, 0, right, display, ui, viewer, draw_display);
        panel("plots", width - right, display, right, body - display, ui, viewer, draw_plots);
    }
    ImGuiWindowFlags still = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    panel("timeline", 0, body, width, timeline, ui, viewer, draw_timeline, still);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(10 * s, 4 * s));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, IM_COL32(236, 239, 243, 255));
    panel("status", 0, body + timeline, width, status, ui, viewer, status_content, still);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImDrawList* list = ImGui::GetForegroundDrawList();
    if (side) {
        list->AddLine(ImVec2(left, 0), ImVec2(left, body), hairline);
        list->AddLine(ImVec2(width - right, 0), ImVec2(width - right, body), hairline);
    }
    list->AddLine(ImVec2(0, body), ImVec2(width, body), hairline);
}

} // namespace

void view_ui_draw(ViewUi* ui, Viewer* viewer, double width, double height, double wall) {
    ImGuiIO& io = ImGui::GetIO();
    ImGui_ImplOpenGL3_NewFrame();
    if (ui->options.window != nullptr) {
        ImGui_ImplGlfw_NewFrame();
    } else {
        io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
        io.DeltaTime = wall > 0 ? static_cast<float>(wall) : 1.0f / 60;
    }
    if (wall > 0) {
        ui->frame_time += (wall - ui->frame_time) * (ui->frame_time > 0 ? 0.05 : 1);
    }
    ImGui::NewFrame();
    ViewRectangle area = view_ui_viewport(ui, viewer, width, height);
    if (ui->options.captions) draw_captions(ui, viewer, area);
    if (ui->options.panels)
        draw_panels(ui, viewer, static_cast<float>(width), static_cast<float>(height));
    if (viewer->help) draw_help(ui, viewer);
    ui->closing = false;
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

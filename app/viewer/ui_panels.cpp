// Side panels: tree of parts, joints and contacts; properties of what is selected; what is drawn;
// help.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "app/viewer/ui_internal.hpp"
#include "core/math3.h"

using namespace view_ui;

namespace {

ImU32 part_color(const ViewPart& part) {
    return ImGui::ColorConvertFloat4ToU32(
        ImVec4(part.color[0], part.color[1], part.color[2], 1.0f));
}

void heading(const ViewUi* ui, const char* text) {
    ImGui::PushFont(ui->small_font);
    ImGui::TextDisabled("%s", text);
    ImGui::PopFont();
}

// The circle at the right of a part: full, ring, empty. A click takes the next state.
void visibility_button(ViewUi* ui, ViewPart* part) {
    float s = ui->scale, r = 4.2f * s;
    ImGui::SameLine(ImGui::GetContentRegionMax().x - 20 * s);
    ImVec2 at = ImGui::GetCursorScreenPos();
    float line = ImGui::GetTextLineHeight();
    if (ImGui::InvisibleButton("visibility", ImVec2(18 * s, line)))
        part->visibility = static_cast<ViewVisibility>((part->visibility + 1) % 3);
    if (ImGui::IsItemHovered()) {
        static const char* const text[] = {"shown", "transparent", "hidden"};
        ImGui::SetTooltip("%s", text[part->visibility]);
    }
    ImVec2 center(at.x + 9 * s, at.y + 0.5f * line);
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (part->visibility == VIEW_SHOWN) list->AddCircleFilled(center, r, accent, 16);
    if (part->visibility == VIEW_TRANSPARENT)
        list->AddCircleFilled(center, r, IM_COL32(38, 103, 176, 90), 16);
    list->AddCircle(center, r, part->visibility == VIEW_HIDDEN ? faint : accent, 16, 1.2f * s);
}

void part_menu(const ViewUi* ui, Viewer* viewer, int index) {
    if (!ImGui::BeginPopupContextItem("menu")) return;
    if (ui->closing) ImGui::CloseCurrentPopup();
    viewer_select_part(viewer, index, -1);
    if (ImGui::MenuItem("Show alone", "I")) viewer_act(viewer, VIEW_ISOLATE);
    if (ImGui::MenuItem("Transparent", "S")) viewer_act(viewer, VIEW_SEE_THROUGH);
    if (ImGui::MenuItem("Hide", "H")) viewer_act(viewer, VIEW_HIDE);
    if (ImGui::MenuItem("Show all", "A")) viewer_act(viewer, VIEW_SHOW_ALL);
    if (ImGui::MenuItem("Trace its mass center")) viewer_trace(viewer, index);
    ImGui::EndPopup();
}

void part_row(ViewUi* ui, Viewer* viewer, int index) {
    ViewPart* part = &viewer->scene.part[index];
    float s = ui->scale, line = ImGui::GetTextLineHeight();
    ImGui::PushID(index);
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x + 2 * s, at.y + 0.18f * line),
                                              ImVec2(at.x + 12 * s, at.y + 0.85f * line),
                                              part_color(*part), 2 * s);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 20 * s);
    float width = ImGui::GetContentRegionAvail().x - 24 * s;
    bool dim = part->visibility == VIEW_HIDDEN;
    if (dim) ImGui::PushStyleColor(ImGuiCol_Text, faint);
    if (ImGui::Selectable(part->name, viewer->selected.part == index, 0, ImVec2(width, 0))) {
        viewer_select_part(viewer, index, -1);
    }
    if (dim) ImGui::PopStyleColor();
    part_menu(ui, viewer, index);
    visibility_button(ui, part);
    ImGui::PopID();
}

void right_text(const char* text) {
    float width = ImGui::CalcTextSize(text).x;
    ImGui::SameLine(ImGui::GetContentRegionMax().x - width);
    ImGui::TextDisabled("%s", text);
}

void joint_row(Viewer* viewer, int index) {
    const ViewJoint* joint = &viewer->scene.joint[index];
    ImGui::PushID(1000 + index);
    float keep = ImGui::CalcTextSize("rack and pinion").x;
    if (ImGui::Selectable(joint->name, viewer->selected_joint == index, 0,
                          ImVec2(ImGui::GetContentRegionAvail().x - keep, 0))) {
        viewer_select_joint(viewer, index);
    }
    right_text(lash_joint_type_name(static_cast<LashJointType>(joint->type)));
    ImGui::PopID();
}

void contact_row(Viewer* viewer, int index) {
    const double* values = viewer->frame.values;
    const LashRecordLayout* layout = &viewer->scene.layout;
    double gap = values[layout->offset[LASH_SERIES_CONTACT_GAP] + index];
    double push = values[layout->offset[LASH_SERIES_CONTACT_IMPULSE] + 3 * index];
    ImGui::PushID(2000 + index);
    float keep = ImGui::CalcTextSize("999.9 mm").x;
    if (ImGui::Selectable(lash_mechanism_contact_name(viewer->scene.mech, index),
                          viewer->selected_contact == index, 0,
                          ImVec2(ImGui::GetContentRegionAvail().x - keep, 0))) {
        viewer_select_contact(viewer, index);
    }
    if (push > 0) {
        ImGui::PushStyleColor(ImGuiCol_TextDisabled, alarm);
        right_text("closed");
        ImGui::PopStyleColor();
    } else {
        right_text(std::isfinite(gap) ? quantity_text(gap, "m", 3).c_str() : "far");
    }
    ImGui::PopID();
}

} // namespace

namespace {

const char* name_of_body(const Viewer* viewer, int body) {
    return body < 0 ? "ground" : lash_mechanism_body_name(viewer->scene.mech, body);
}

// The points of a joint's play, or of one contact, under one line that tells how many push now.
void contact_group(Viewer* viewer, const ContactGroup& group) {
    int closed = 0, first = group.first, count = group.count;
    const double* push =
        viewer->frame.values + viewer->scene.layout.offset[LASH_SERIES_CONTACT_IMPULSE];
    for (int i = first; i < first + count; ++i) closed += push[3 * i] > 0;
    char title[128];
    snprintf(title, sizeof title, "%.60s  %d of %d###group%d", group.name.c_str(), closed, count,
             first);
    if (viewer->selected_contact >= first && viewer->selected_contact < first + count)
        ImGui::SetNextItemOpen(true);
    if (!ImGui::TreeNode(title)) return;
    for (int i = first; i < first + count; ++i)
        if (viewer->contact_passes[i]) contact_row(viewer, i);
    ImGui::TreePop();
}

// "anvil" of "anvil.3": what points of one contact have in common; the name itself: it has one.
std::string contact_stem(const Viewer* viewer, int index) {
    std::string name = lash_mechanism_contact_name(viewer->scene.mech, index);
    size_t dot = name.rfind('.');
    bool number = dot != std::string::npos && dot + 1 < name.size() &&
                  name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    return number ? name.substr(0, dot) : name;
}

// Made once: names do not change.
void group_contacts(ViewUi* ui, const Viewer* viewer) {
    int count = viewer->scene.contacts;
    std::vector<int> owner(static_cast<size_t>(count), -1); // joint of each
    for (int j = 0; j < viewer->scene.joints; ++j) {
        int first = 0, points = lash_mechanism_joint_contacts(viewer->scene.mech, j, &first);
        for (int i = first; i < first + points; ++i) owner[static_cast<size_t>(i)] = j;
    }
    for (int i = 0, next; i < count; i = next) {
        int joint = owner[static_cast<size_t>(i)];
        std::string name = joint >= 0 ? viewer->scene.joint[joint].name : contact_stem(viewer, i);
        for (next = i + 1; next < count && owner[static_cast<size_t>(next)] == joint; ++next)
            if (joint < 0 && contact_stem(viewer, next) != name) break;
        ui->groups.push_back({name, i, next - i, joint >= 0 || next > i + 1});
    }
}

void draw_contacts(ViewUi* ui, Viewer* viewer) {
    if (ui->groups.empty()) group_contacts(ui, viewer);
    for (const ContactGroup& group : ui->groups) {
        bool shown = false;
        for (int k = group.first; k < group.first + group.count; ++k)
            shown = shown || viewer->contact_passes[k];
        if (!shown) continue;
        if (group.opens)
            contact_group(viewer, group);
        else
            contact_row(viewer, group.first);
    }
}

} // namespace

// "Joints  2 of 4###joints"; without a filter "Joints  4###joints".
static std::string count_title(const char* name, const bool* passes, int count) {
    int left = 0;
    for (int i = 0; i < count; ++i) left += passes[i];
    std::string text = std::string(name) + "  " + std::to_string(left);
    if (left < count) text += " of " + std::to_string(count);
    return text + "###" + name;
}

void view_ui::draw_tree(ViewUi* ui, Viewer* viewer) {
    const ViewScene& scene = viewer->scene;
    ImGui::SetNextItemWidth(-1);
    if (ImGui::InputTextWithHint("##only", "filter by part or name", viewer->filter,
                                 sizeof viewer->filter))
        viewer_filter(viewer, viewer->filter);
    if (ImGui::IsItemDeactivated() && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)))
        viewer_filter(viewer, "");
    std::string title = count_title("Parts", viewer->part_passes, scene.parts);
    if (ImGui::CollapsingHeader(title.c_str(), ImGuiTreeNodeFlags_DefaultOpen)) {
        for (int i = 0; i < viewer->scene.parts; ++i)
            if (viewer->part_passes[i]) part_row(ui, viewer, i);
    }
    title = count_title("Joints", viewer->joint_passes, scene.joints);
    if (scene.joints > 0 &&
        ImGui::CollapsingHeader(title.c_str(), ImGuiTreeNodeFlags_DefaultOpen)) {
        for (int i = 0; i < viewer->scene.joints; ++i)
            if (viewer->joint_passes[i]) joint_row(viewer, i);
    }
    title = count_title("Contacts", viewer->contact_passes, scene.contacts);
    if (scene.contacts > 0 &&
        ImGui::CollapsingHeader(title.c_str(), ImGuiTreeNodeFlags_DefaultOpen))
        draw_contacts(ui, viewer);
}

// ---- properties ---------------------------------------------------------------------------------

namespace {

void entry(const ViewUi* ui, const char* name, const std::string& value) {
    ImGui::TextDisabled("%s", name);
    ImGui::SameLine(78 * ui->scale);
    ImGui::TextWrapped("%s", value.c_str());
}

std::string vector_text(Vec3 a, const char* unit) {
    char text[96];
    const char* prefix;
    double size = vec3_norm(a), scale = prefix_of(size, unit, &prefix);
    double x[3] = {a.x / scale, a.y / scale, a.z / scale};
    for (double& c : x)
        c = std::fabs(c) < 1e-6 * size / scale ? 0 : c; // not to be seen beside the others
    snprintf(text, sizeof text, "%.4g, %.4g, %.4g %s%s", x[0], x[1], x[2], prefix, unit);
    return text;
}

Vec3 read_vector(const Viewer* viewer, LashSeries series, int index) {
    const double* x = viewer->frame.values + viewer->scene.layout.offset[series] + 3 * index;
    return vec3(x[0], x[1], x[2]);
}

// Curves that begin with "name.": a line each with a mark when it is plotted.
void curve_list(Viewer* viewer, const char* owner) {
    size_t length = std::strlen(owner);
    int count = viewer_curve_count(viewer);
    for (int i = 0; i < count; ++i) {
        ViewCurve curve = viewer_curve(viewer, i);
        if (std::strncmp(curve.name, owner, length) != 0 || curve.name[length] != '.') continue;
        bool plotted = false;
        for (int p = 0; p < viewer->plots; ++p)
            for (int k = 0; k < viewer->plot[p].curves; ++k)
                plotted = plotted || std::strcmp(viewer->plot[p].curve[k].name, curve.name) == 0;
        ImGui::PushID(i);
        if (ImGui::Checkbox(curve.name + length + 1, &plotted)) viewer_plot_toggle(viewer, &curve);
        ImGui::PopID();
    }
}

const char* surface_name(LashSurfaceType type) {
    static const char* const names[] = {"plane", "cylinder", "cone", "sphere", "torus", "freeform"};
    return names[type];
}

void face_properties(const ViewUi* ui, const Viewer* viewer) {
    ViewFaceName found = view_face(&viewer->scene, viewer->selected.part, viewer->selected.face);
    const LashFace* face = found.face;
    if (face == nullptr) return;
    char text[64];
    snprintf(text, sizeof text, "%d", face->index);
    ImGui::Separator();
    entry(ui, "face", text);
    const LashModelPart* part = &viewer->scene.model->part[viewer->selected.part];
    const char* name = lash_shape_string(found.shape, face->name);
    if (part->cad != nullptr && found.shape->parts > 1)
        entry(ui, "of", lash_shape_string(found.shape, found.shape->part[face->part].name));
    if (part->cad == nullptr && part->shapes > 1) {
        snprintf(text, sizeof text, "shape %d", found.piece);
        entry(ui, "of", text);
    }
    if (name[0] != '\0') entry(ui, "name", name);
    entry(ui, "type", std::string(surface_name(face->type)) + (face->side < 0 ? ", inside" : ""));
    if (face->type != LASH_PLANE && face->type != LASH_FREEFORM)
        entry(ui, "radius", quantity_text(face->radius, "m", 6));
    Pose world = view_world_part(&viewer->scene, &viewer->frame, viewer->selected.part);
    Pose place =
        viewer->scene.piece[viewer->scene.part[viewer->selected.part].first_piece + found.piece]
            .part_shape;
    if (face->type != LASH_FREEFORM) {
        entry(ui, "at", vector_text(pose_point(pose_mul(world, place), face->origin), "m"));
        snprintf(text, sizeof text, "%.4g, %.4g, %.4g", face->z.x, face->z.y, face->z.z);
        entry(ui, face->type == LASH_PLANE ? "normal" : "axis", text);
    }
    const char* prefix = "";
    double area = face->area, mm = 1e6 * area;
    (void)prefix;
    snprintf(text, sizeof text, mm < 1e5 ? "%.4g mm\xC2\xB2" : "%.4g m\xC2\xB2",
             mm < 1e5 ? mm : area);
    entry(ui, "area", text);
    if (part->cad != nullptr && ImGui::SmallButton("Copy for the model")) {
        snprintf(text, sizeof text, "{\"part\": \"%.24s\", \"faces\": [%d]}", part->name,
                 face->index);
        ImGui::SetClipboardText(text);
    }
}

void part_properties(const ViewUi* ui, Viewer* viewer) {
    const ViewPart* part = &viewer->scene.part[viewer->selected.part];
    const LashModelPart* source = &viewer->scene.model->part[viewer->selected.part];
    char text[64];
    ImGui::TextUnformatted(part->name);
    if (part->body >= 0) {
        const LashBodyDef* body = lash_mechanism_body(viewer->scene.mech, part->body);
        entry(ui, "mass", quantity_text(body->mass * 1000, "g"));
        entry(ui, "center",
              vector_text(read_vector(viewer, LASH_SERIES_POSITION, part->body), "m"));
        entry(
            ui, "speed",
            quantity_text(vec3_norm(read_vector(viewer, LASH_SERIES_VELOCITY, part->body)), "m/s"));
        entry(
            ui, "turning",
            quantity_text(vec3_norm(read_vector(viewer, LASH_SERIES_ANGULAR_VELOCITY, part->body)),
                          "rad/s"));
    } else {
        entry(ui, "fixed", "part of the ground");
    }
    if (source->step != nullptr) entry(ui, "file", source->step);
    snprintf(text, sizeof text, "%d", part->faces);
    entry(ui, "faces", text);
    face_properties(ui, viewer);
    if (part->body >= 0) {
        ImGui::Separator();
        heading(ui, "PLOT");
        curve_list(viewer, part->name);
    }
}

// Why lash draft put the joint here, and between which faces, which are marked in the picture.
void draft_properties(const ViewUi* ui, const Viewer* viewer, int index) {
    static const char* const words[] = {"sure", "likely", "guess"};
    const LashModelDraft& draft = viewer->scene.model->joint[index].draft;
    ViewPick pick[VIEW_MAX_MARKS];
    int count = view_joint_faces(&viewer->scene, index, pick, VIEW_MAX_MARKS);
    entry(ui, "drafted", words[draft.confidence]);
    if (draft.reason != nullptr) entry(ui, "because", draft.reason);
    for (int i = 0; i < count; ++i) {
        const LashFace* face = view_face(&viewer->scene, pick[i].part, pick[i].face).face;
        if (face == nullptr) continue;
        std::string text =
            std::string(viewer->scene.part[pick[i].part].name) + ": " + surface_name(face->type);
        if (face->type != LASH_PLANE && face->side < 0) text += ", inside";
        if (face->type != LASH_PLANE) text += ", radius " + quantity_text(face->radius, "m", 6);
        entry(ui, i == 0 ? "faces" : "", text);
    }
}

void joint_properties(const ViewUi* ui, Viewer* viewer) {
    int index = viewer->selected_joint;
    const ViewJoint* joint = &viewer->scene.joint[index];
    const LashModelJoint* model = &viewer->scene.model->joint[index];
    ImGui::TextUnformatted(joint->name);
    entry(ui, "type", lash_joint_type_name(static_cast<LashJointType>(joint->type)));
    entry(ui, "between",
          std::string(model->a != nullptr ? model->a : "ground") + ", " +
              (model->b != nullptr ? model->b : "ground"));
    entry(ui, "play", joint->clearance > 0 ? quantity_text(joint->clearance, "m") : "none");
    if (joint->clearance > 0) {
        LashPlay play = lash_mechanism_joint_play(viewer->scene.mech, index, viewer->frame.q);
        entry(ui, "off center", quantity_text(play.eccentricity, "m"));
        entry(ui, "tilt", quantity_text(play.tilt, "rad"));
    }
    if (joint->drafted) draft_properties(ui, viewer, index);
    entry(ui, "force",
          quantity_text(vec3_norm(read_vector(viewer, LASH_SERIES_JOINT_FORCE, index)), "N"));
    entry(ui, "moment",
          quantity_text(vec3_norm(read_vector(viewer, LASH_SERIES_JOINT_MOMENT, index)), "N m"));
    ImGui::Separator();
    heading(ui, "PLOT");
    curve_list(viewer, joint->name);
}

void contact_properties(const ViewUi* ui, Viewer* viewer) {
    int index = viewer->selected_contact;
    const double* values = viewer->frame.values;
    const int* offset = viewer->scene.layout.offset;
    const char* name = lash_mechanism_contact_name(viewer->scene.mech, index);
    double gap = values[offset[LASH_SERIES_CONTACT_GAP] + index];
    char text[256];
    ImGui::TextUnformatted(name);
    if (viewer->selected_event >= 0) {
        viewer_event_text(viewer, viewer->selected_event, text, sizeof text);
        ImGui::TextWrapped("%s", text);
    }
    int a = -1, b = -1;
    lash_mechanism_contact_bodies(viewer->scene.mech, index, &a, &b);
    entry(ui, "between", std::string(name_of_body(viewer, a)) + ", " + name_of_body(viewer, b));
    entry(ui, "gap", std::isfinite(gap) ? quantity_text(gap, "m") : "far");
    entry(ui, "impulse",
          quantity_text(values[offset[LASH_SERIES_CONTACT_IMPULSE] + 3 * index], "N s"));
    snprintf(text, sizeof text, "%g", values[offset[LASH_SERIES_CONTACT_IMPACTS] + index]);
    entry(ui, "impacts", text);
    ImGui::Separator();
    heading(ui, "PLOT");
    curve_list(viewer, name);
}

} // namespace

void view_ui::draw_properties(ViewUi* ui, Viewer* viewer) {
    ImGui::GetWindowDrawList()->AddLine(
        ImGui::GetWindowPos(),
        ImVec2(ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), ImGui::GetWindowPos().y),
        hairline);
    if (viewer->selected.part >= 0) {
        part_properties(ui, viewer);
    } else if (viewer->selected_joint >= 0) {
        joint_properties(ui, viewer);
    } else if (viewer->selected_contact >= 0) {
        contact_properties(ui, viewer);
    } else {
        heading(ui, "PROPERTIES");
        ImGui::PushStyleColor(ImGuiCol_Text, faint);
        ImGui::TextWrapped("Click a part or a face in the picture, or a line of the tree.");
        ImGui::PopStyleColor();
    }
}

// ---- what is drawn ------------------------------------------------------------------------------

namespace {

void toggle(Viewer* viewer, const char* text, bool state, ViewAction action, const char* key) {
    if (ImGui::Checkbox(text, &state)) viewer_act(viewer, action);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("key %s", key);
}

void draw_section_controls(ViewUi* ui, Viewer* viewer) {
    static const char* const names[] = {"x", "y", "z"};
    float s = ui->scale;
    if (!viewer->style.section) return;
    Vec3 axis[3] = {vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1)};
    for (int i = 0; i < 3; ++i) {
        bool on = std::fabs(vec3_dot(axis[i], viewer->style.section_normal)) > 0.5;
        if (ImGui::RadioButton(names[i], on)) viewer->style.section_normal = axis[i];
        ImGui::SameLine();
    }
    if (ImGui::Button("flip")) {
        viewer->style.section_normal = vec3_neg(viewer->style.section_normal);
        viewer->style.section_offset *= -1;
    }
    ImGui::SameLine();
    Vec3 span = vec3_sub(viewer->scene.bound.high, viewer->scene.bound.low);
    Vec3 n = viewer->style.section_normal;
    double half =
        0.5 * (std::fabs(n.x) * span.x + std::fabs(n.y) * span.y + std::fabs(n.z) * span.z);
    float part = half > 0 ? static_cast<float>(viewer->style.section_offset / half) : 0;
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - 2 * s);
    if (ImGui::SliderFloat("##section", &part, -1, 1, ""))
        viewer->style.section_offset = part * half;
}

void draw_magnifier_control(ViewUi* ui, Viewer* viewer) {
    float s = ui->scale;
    ImGui::TextUnformatted("Magnify play");
    ImGui::SameLine(112 * s);
    if (viewer->magnifier == nullptr) {
        ImGui::TextDisabled("no joint has clearance");
        return;
    }
    float factor = static_cast<float>(viewer->magnification);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - 2 * s);
    if (ImGui::SliderFloat("##magnify", &factor, 1, 100, "\xC3\x97%.0f",
                           ImGuiSliderFlags_Logarithmic))
        viewer_magnify(viewer, std::round(factor));
}

void draw_view_buttons(ViewUi* ui, Viewer* viewer) {
    static const char* const names[] = {"Iso", "Front", "Back", "Left", "Right", "Top", "Bottom"};
    float space = 4 * ui->scale, width = ImGui::GetContentRegionAvail().x;
    float cell = (width - 3 * space) / 4;
    for (int i = 0; i < VIEW_STANDARDS + 1; ++i) {
        if (i % 4 != 0) ImGui::SameLine(0, space);
        if (i < VIEW_STANDARDS) {
            if (ImGui::Button(names[i], ImVec2(cell, 0))) {
                viewer_act(viewer, static_cast<ViewAction>(VIEW_LOOK_ISO + i));
                viewer->camera_touched = true;
            }
        } else if (ImGui::Button("Fit", ImVec2(cell, 0))) {
            viewer_act(viewer, VIEW_FIT);
        }
    }
}

} // namespace

void view_ui::draw_display(ViewUi* ui, Viewer* viewer) {
    heading(ui, "VIEW");
    draw_view_buttons(ui, viewer);
    heading(ui, "SHOW");
    float column = 0.5f * ImGui::GetContentRegionMax().x + 4 * ui->scale;
    const ViewStyle* s = &viewer->style;
    toggle(viewer, "Edges", s->edges, VIEW_TOGGLE_EDGES, "E");
    ImGui::SameLine(column);
    toggle(viewer, "Contact points", s->contacts, VIEW_TOGGLE_CONTACTS, "C");
    toggle(viewer, "Ground grid", s->grid, VIEW_TOGGLE_GRID, "G");
    ImGui::SameLine(column);
    toggle(viewer, "Forces", s->forces, VIEW_TOGGLE_FORCES, "V");
    toggle(viewer, "Traces", s->traces, VIEW_TOGGLE_TRACES, "T");
    ImGui::SameLine(column);
    toggle(viewer, "Joints", s->joint_frames, VIEW_TOGGLE_JOINTS, "J");
    toggle(viewer, "Section plane", s->section, VIEW_TOGGLE_SECTION, "X");
    ImGui::SameLine(column);
    toggle(viewer, "Parallel", viewer->camera.orthographic, VIEW_ORTHOGRAPHIC, "O");
    draw_section_controls(ui, viewer);
    draw_magnifier_control(ui, viewer);
}

void view_ui::draw_help(ViewUi* ui, Viewer* viewer) {
    ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(ImVec2(0.5f * size.x, 0.45f * size.y), ImGuiCond_Always,
                            ImVec2(0.5f, 0.5f));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 6 * ui->scale);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(20 * ui->scale, 14 * ui->scale));
    if (ImGui::Begin("Keys and mouse", &viewer->help,
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings |
                         ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoTitleBar)) {
        ImGui::TextUnformatted(
            "Mouse: drag turns, right or middle drag moves, wheel zooms to the "
            "cursor, click selects.");
        ImGui::Separator();
        const ViewKey* keys = viewer_keys();
        int count = 0;
        while (keys[count].key != nullptr) ++count;
        int rows = (count + 2) / 3;
        if (ImGui::BeginTable("keys", 6, ImGuiTableFlags_SizingFixedFit)) {
            for (int i = 0; i < 3 * rows; ++i) {
                int k = i % 3 * rows + i / 3; // columns run downwards
                ImGui::TableNextColumn();
                if (k < count) ImGui::TextDisabled("%s", keys[k].key);
                ImGui::TableNextColumn();
                if (k < count) ImGui::Text("%s    ", keys[k].text);
            }
            ImGui::EndTable();
        }
        ImGui::TextDisabled("F1 or Esc closes this.");
    }
    ImGui::End();
    ImGui::PopStyleVar(3);
}

// The orbit: where the middle of the pin is in its bore, as tribologists draw it. The circle is the
// radial play; the pin touches where its way meets the circle.
#include <cmath>

#include "app/viewer/ui_internal.hpp"
#include "core/math3.h"

using namespace view_ui;

namespace {

enum { ORBIT_POINTS = 3000 };

Pose body_pose(const Viewer* viewer, const double* values, int body) {
    if (body < 0) return pose_identity();
    const int* offset = viewer->scene.layout.offset;
    const double* r = values + offset[LASH_SERIES_POSITION] + 3 * body;
    const double* q = values + offset[LASH_SERIES_ORIENTATION] + 4 * body;
    return pose(vec3(r[0], r[1], r[2]), quat(q[0], q[1], q[2], q[3]));
}

// Middle of b's joint frame in that of a.
Vec3 offset_of(const Viewer* viewer, const double* values, int joint) {
    const ViewJoint& j = viewer->scene.joint[joint];
    Pose a = pose_mul(body_pose(viewer, values, j.body_a), j.a_joint);
    Pose b = pose_mul(body_pose(viewer, values, j.body_b), j.b_joint);
    return pose_point(pose_inverse(a), b.r);
}

void sample(ViewUi* ui, Viewer* viewer, int joint) {
    Orbit& orbit = ui->orbit;
    int64_t frames = viewer->status.frames;
    bool same = orbit.joint == joint && orbit.frames >= 0;
    if (same && (frames == orbit.frames || frames < orbit.frames + orbit.frames / 20)) return;
    orbit.joint = joint;
    orbit.frames = frames;
    orbit.x.clear();
    orbit.y.clear();
    int64_t stride = 1 + frames / ORBIT_POINTS;
    std::vector<double> values(static_cast<size_t>(viewer->scene.layout.total));
    for (int64_t i = 0; i < frames; i += stride) {
        if (!view_source_read(viewer->source, i, values.data(), &viewer->error)) break;
        Vec3 off = offset_of(viewer, values.data(), joint);
        orbit.x.push_back(static_cast<float>(off.x));
        orbit.y.push_back(static_cast<float>(off.y));
    }
}

} // namespace

void view_ui::draw_orbit(ViewUi* ui, Viewer* viewer, float side) {
    int joint = viewer->selected_joint;
    if (joint < 0 && viewer->selected_contact >= 0)
        joint = viewer_contact_joint(viewer, viewer->selected_contact);
    if (joint < 0 || !(viewer->scene.joint[joint].clearance > 0)) return;
    sample(ui, viewer, joint);
    float s = ui->scale, play = static_cast<float>(viewer->scene.joint[joint].clearance);
    ImVec2 at = ImGui::GetCursorScreenPos();
    float width = ImGui::GetContentRegionAvail().x;
    side = std::fmin(side, width);
    ImGui::Dummy(ImVec2(width, side + 4 * s));
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImVec2 middle(at.x + 0.5f * width, at.y + 0.5f * side);
    float radius = 0.44f * side, scale = radius / play;
    list->AddCircleFilled(middle, radius, IM_COL32(255, 255, 255, 255), 64);
    list->AddCircle(middle, radius, faint, 64, 1.4f * s);
    list->AddLine(ImVec2(middle.x - radius, middle.y), ImVec2(middle.x + radius, middle.y),
                  hairline);
    list->AddLine(ImVec2(middle.x, middle.y - radius), ImVec2(middle.x, middle.y + radius),
                  hairline);
    std::vector<ImVec2> way;
    for (size_t i = 0; i < ui->orbit.x.size(); ++i)
        way.push_back(ImVec2(middle.x + scale * ui->orbit.x[i], middle.y - scale * ui->orbit.y[i]));
    if (way.size() > 1)
        list->AddPolyline(way.data(), static_cast<int>(way.size()), IM_COL32(38, 103, 176, 150), 0,
                          1.1f * s);
    Vec3 now = offset_of(viewer, viewer->frame.values, joint);
    list->AddCircleFilled(ImVec2(middle.x + scale * static_cast<float>(now.x),
                                 middle.y - scale * static_cast<float>(now.y)),
                          4 * s, alarm, 16);
    std::string text = std::string("orbit of ") + viewer->scene.joint[joint].name + ", play " +
                       quantity_text(viewer->scene.joint[joint].clearance, "m", 3);
    list->AddText(ui->small_font, ui->small_font->FontSize, ImVec2(at.x, at.y), faint,
                  text.c_str());
}

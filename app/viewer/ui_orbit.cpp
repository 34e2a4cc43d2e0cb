// The orbit: where the middle of the pin is in its bore, as tribologists draw it. The circle is the
// radial play; the pin touches where its way meets the circle.
#include <algorithm>
#include <cmath>

#include "app/viewer/ui_internal.hpp"
#include "core/math3.h"

using namespace view_ui;

namespace {

enum { ORBIT_POINTS = 3000 };

// Numbers of one frame: mass centers (3 per body), orientations (4 per body).
Pose body_pose(const double* position, const double* orientation, int body) {
    if (body < 0) return pose_identity();
    const double *r = position + 3 * body, *q = orientation + 4 * body;
    return pose(vec3(r[0], r[1], r[2]), quat(q[0], q[1], q[2], q[3]));
}

// Middle of the pin in the frame of the bore, whichever of a and b has it.
Vec3 offset_of(const ViewJoint& j, const double* position, const double* orientation) {
    Pose a = pose_mul(body_pose(position, orientation, j.body_a), j.a_joint);
    Pose b = pose_mul(body_pose(position, orientation, j.body_b), j.b_joint);
    return j.outer_b ? pose_point(pose_inverse(b), a.r) : pose_point(pose_inverse(a), b.r);
}

// Two series of many frames at once: a long result is read in a few large pieces.
void sample(ViewUi* ui, Viewer* viewer, int joint) {
    enum { CHUNK = 1024 };
    Orbit& orbit = ui->orbit;
    int64_t frames = viewer->status.frames;
    bool same = orbit.joint == joint && orbit.frames >= 0;
    if (same && (frames == orbit.frames || frames < orbit.frames + orbit.frames / 20)) return;
    orbit.joint = joint;
    orbit.frames = frames;
    orbit.x.clear();
    orbit.y.clear();
    int64_t stride = 1 + frames / ORBIT_POINTS;
    size_t bodies = static_cast<size_t>(viewer->scene.bodies);
    std::vector<double> position(3 * bodies * CHUNK), orientation(4 * bodies * CHUNK);
    for (int64_t i = 0; i < frames; i += CHUNK) {
        int64_t n = std::min<int64_t>(CHUNK, frames - i);
        if (!view_source_series(viewer->source, LASH_SERIES_POSITION, i, n, position.data(),
                                &viewer->error) ||
            !view_source_series(viewer->source, LASH_SERIES_ORIENTATION, i, n, orientation.data(),
                                &viewer->error))
            break;
        for (int64_t k = (stride - i % stride) % stride; k < n; k += stride) {
            size_t row = static_cast<size_t>(k);
            Vec3 off = offset_of(viewer->scene.joint[joint], position.data() + 3 * bodies * row,
                                 orientation.data() + 4 * bodies * row);
            orbit.x.push_back(static_cast<float>(off.x));
            orbit.y.push_back(static_cast<float>(off.y));
        }
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
    float line = 1.3f * ui->small_font->FontSize; // the caption above it
    ImGui::Dummy(ImVec2(width, side + 4 * s));
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImVec2 middle(at.x + 0.5f * width, at.y + line + 0.5f * (side - line));
    float radius = 0.46f * (side - line), scale = radius / play;
    if (viewer->scene.joint[joint].type == LASH_PRISMATIC) { // a guide: as much on either side
        ImVec2 low(middle.x - radius, middle.y - radius),
            high(middle.x + radius, middle.y + radius);
        list->AddRectFilled(low, high, IM_COL32(255, 255, 255, 255));
        list->AddRect(low, high, faint, 0, 0, 1.4f * s);
    } else {
        list->AddCircleFilled(middle, radius, IM_COL32(255, 255, 255, 255), 64);
        list->AddCircle(middle, radius, faint, 64, 1.4f * s);
    }
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
    const int* offset = viewer->scene.layout.offset;
    Vec3 now =
        offset_of(viewer->scene.joint[joint], viewer->frame.values + offset[LASH_SERIES_POSITION],
                  viewer->frame.values + offset[LASH_SERIES_ORIENTATION]);
    list->AddCircleFilled(ImVec2(middle.x + scale * static_cast<float>(now.x),
                                 middle.y - scale * static_cast<float>(now.y)),
                          4 * s, alarm, 16);
    std::string text = std::string("orbit of ") + viewer->scene.joint[joint].name + ", play " +
                       quantity_text(viewer->scene.joint[joint].clearance, "m", 3);
    list->AddText(ui->small_font, ui->small_font->FontSize, ImVec2(at.x, at.y), faint,
                  text.c_str());
}

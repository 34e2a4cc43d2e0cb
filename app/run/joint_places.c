// The distance of the joint's axis (of a ball joint: its point) from the box around a STEP part.
// Inside a box a ring may be hollow: only what lies
// outside is told, when it is farther away than
//     2 radii of the joint where it has one: the material around a bore begins at its radius,
//     1/4 of the part's size where it has none.
#include "app/run/joint_places.h"

#include <math.h>
#include <stdio.h>

#include "core/math3.h"
#include "geometry/kernels/bounds.h"

static bool has_place(int type, bool* line) {
    *line = type == LASH_REVOLUTE || type == LASH_CYLINDRICAL || type == LASH_SCREW;
    return *line || type == LASH_SPHERICAL || type == LASH_UNIVERSAL;
}

static LashBox box_of(const LashShape* shape) {
    LashBox box = shape->face[0].box;
    for (int i = 1; i < shape->faces; ++i) box = lash_box_union(box, shape->face[i].box);
    return box;
}

// Least distance of the line through p along z from the box: convex along the line.
static double line_distance(const LashBox* box, Vec3 p, Vec3 z) {
    Vec3 middle = vec3_scale(0.5, vec3_add(box->low, box->high));
    double size = vec3_distance(box->low, box->high);
    double at = vec3_dot(vec3_sub(middle, p), z), low = at - size, high = at + size;
    for (int i = 0; i < 80; ++i) {
        double x = low + (high - low) / 3, y = high - (high - low) / 3;
        if (lash_box_distance(box, vec3_add_scaled(p, x, z)) <
            lash_box_distance(box, vec3_add_scaled(p, y, z)))
            high = y;
        else
            low = x;
    }
    return lash_box_distance(box, vec3_add_scaled(p, 0.5 * (low + high), z));
}

// Distance of the joint from the part [m], negative: not known; the part's size.
static double distance_from(const LashModelPart* part, Pose world_joint, bool line, double* size) {
    Vec3 p = pose_point_inverse(part->world_part, world_joint.r);
    Vec3 z = quat_rotate(world_joint.rot, vec3(0, 0, 1));
    z = quat_rotate_inverse(part->world_part.rot, z);
    if (part->cad == NULL || part->cad->faces == 0) return -1;
    LashBox box = box_of(part->cad);
    *size = vec3_distance(box.low, box.high);
    return line ? line_distance(&box, p, z) : lash_box_distance(&box, p);
}

bool app_joint_is_far(const LashModel* model, int index, char* text, size_t size) {
    const LashModelJoint* joint = &model->joint[index];
    const int part[2] = {joint->part_a, joint->part_b};
    const Pose world[2] = {joint->world_a, joint->world_b};
    bool line;
    if (!has_place(joint->type, &line)) return false;
    for (int s = 0; s < 2; ++s) {
        if (part[s] < 0) continue;
        double extent = 0;
        double distance = distance_from(&model->part[part[s]], world[s], line, &extent);
        double far = joint->radius > 0 ? 2 * joint->radius : 0.25 * extent;
        if (!(distance > far)) continue;
        snprintf(text, size,
                 "joint '%.60s': its %s is %.4g m away from part '%.60s', which it joins; check "
                 "the point and the pose of the part",
                 joint->name, line ? "axis" : "point", distance, model->part[part[s]].name);
        return true;
    }
    return false;
}

// An orbit camera. The world has an up direction u and a right direction r across it; the eye
// stands at
//     target + distance (cos(pitch) (sin(yaw) r + cos(yaw) f) + sin(pitch) u),   f = r x u,
// so yaw turns about u and pitch lifts the eye. Zoom to the cursor moves the target so that the
// point of the target's plane under the cursor keeps its pixel.
#include "app/viewer/camera.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/viewer/matrix_internal.h"
#include "core/math3.h"

static const double max_pitch = 0.5 * LASH_PI - 1e-6;
static const double margin = 1.12; // of fit

static const char* const names[VIEW_STANDARDS] = {"iso",   "front", "back",  "left",
                                                  "right", "top",   "bottom"};

// Right of the front view: x when it lies across up, else y.
ViewCamera view_camera(Vec3 up) {
    Vec3 x = fabs(up.x) < 0.9 ? vec3(1, 0, 0) : vec3(0, 1, 0);
    ViewCamera camera = {.up = up,
                         .distance = 1,
                         .field = 28 * LASH_PI / 180,
                         .width = 1280,
                         .height = 800,
                         .near = 0.1,
                         .far = 10};
    camera.right = vec3_normalize(vec3_add_scaled(x, -vec3_dot(x, up), up));
    view_camera_set(&camera, VIEW_ISO);
    return camera;
}

void view_camera_set(ViewCamera* camera, ViewStandard standard) {
    static const double angle[VIEW_STANDARDS][2] = {{32, 24}, {0, 0},  {180, 0}, {-90, 0},
                                                    {90, 0},  {0, 90}, {0, -90}};
    camera->yaw = angle[standard][0] * LASH_PI / 180;
    camera->pitch = fmax(-max_pitch, fmin(max_pitch, angle[standard][1] * LASH_PI / 180));
}

bool view_camera_parse(ViewCamera* camera, const char* text, double* zoom, LashError* error) {
    for (int i = 0; i < VIEW_STANDARDS; ++i) {
        if (strcmp(text, names[i]) != 0) continue;
        view_camera_set(camera, (ViewStandard)i);
        return true;
    }
    double value[3] = {0, 0, 1};
    const char* at = text;
    int count = 0;
    for (; count < 3; ++count) {
        char* end;
        value[count] = strtod(at, &end);
        if (end == at || !isfinite(value[count])) break;
        at = end + (*end == ',');
        if (*end != ',') {
            ++count;
            break;
        }
    }
    if (*at != '\0' || count < 2 || fabs(value[1]) > 90 || !(value[2] > 0)) {
        return lash_error_set(error, LASH_ERROR_USAGE, "--camera",
                              "expected iso, front, back, left, right, top, bottom or "
                              "YAW,PITCH[,ZOOM] in degrees, found '%.60s'",
                              text);
    }
    camera->yaw = value[0] * LASH_PI / 180;
    camera->pitch = fmax(-max_pitch, fmin(max_pitch, value[1] * LASH_PI / 180));
    *zoom = value[2];
    return true;
}

void view_camera_axes(const ViewCamera* camera, Vec3* right, Vec3* up, Vec3* back) {
    Vec3 front = vec3_cross(camera->right, camera->up);
    double c = cos(camera->yaw), s = sin(camera->yaw);
    Vec3 level = vec3_add(vec3_scale(s, camera->right), vec3_scale(c, front));
    *back =
        vec3_add(vec3_scale(cos(camera->pitch), level), vec3_scale(sin(camera->pitch), camera->up));
    *right = vec3_sub(vec3_scale(c, camera->right), vec3_scale(s, front));
    *up = vec3_cross(*back, *right);
}

Vec3 view_camera_eye(const ViewCamera* camera) {
    Vec3 right, up, back;
    view_camera_axes(camera, &right, &up, &back);
    return vec3_add_scaled(camera->target, camera->distance, back);
}

// The smallest distance from which every point lies inside the four sides of the picture; the
// target moves across until left and right, above and below are used alike.
void view_camera_fit(ViewCamera* camera, const Vec3* point, int count) {
    Vec3 axis[3], low = vec3(INFINITY, INFINITY, INFINITY), high = vec3_neg(low);
    view_camera_axes(camera, &axis[0], &axis[1], &axis[2]);
    for (int i = 0; i < count; ++i) { // the box in the axes of the camera
        double x = vec3_dot(point[i], axis[0]), y = vec3_dot(point[i], axis[1]);
        double z = vec3_dot(point[i], axis[2]);
        low = vec3(fmin(low.x, x), fmin(low.y, y), fmin(low.z, z));
        high = vec3(fmax(high.x, x), fmax(high.y, y), fmax(high.z, z));
    }
    if (!isfinite(low.x + high.x)) return;
    double tangent = tan(0.5 * camera->field), aspect = camera->width / camera->height;
    Vec3 c = vec3_scale(0.5, vec3_add(low, high));
    double distance = 0, size = vec3_distance(low, high);
    for (int pass = 0; pass < 8; ++pass) {
        double side[4] = {0, 0, 0, 0}; // distance that right, left, top and bottom need
        for (int i = 0; i < count; ++i) {
            double x = vec3_dot(point[i], axis[0]) - c.x, y = vec3_dot(point[i], axis[1]) - c.y;
            double z = camera->orthographic ? 0 : vec3_dot(point[i], axis[2]) - c.z;
            double kx = margin / (tangent * aspect), ky = margin / tangent;
            double need[4] = {z + kx * x, z - kx * x, z + ky * y, z - ky * y};
            for (int k = 0; k < 4; ++k) side[k] = i == 0 ? need[k] : fmax(side[k], need[k]);
        }
        distance = fmax(fmax(side[0], side[1]), fmax(side[2], side[3]));
        c.x += 0.5 * (side[0] - side[1]) * tangent * aspect / margin;
        c.y += 0.5 * (side[2] - side[3]) * tangent / margin;
    }
    camera->target =
        vec3_add_scaled(vec3_add_scaled(vec3_scale(c.x, axis[0]), c.y, axis[1]), c.z, axis[2]);
    camera->distance = fmax(distance, size > 0 ? 0.01 * size : 1e-3);
}

void view_camera_clip(ViewCamera* camera, LashBox box) {
    Vec3 right, up, back, eye = view_camera_eye(camera);
    view_camera_axes(camera, &right, &up, &back);
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 8; ++k) {
        Vec3 p = vec3(k & 1 ? box.high.x : box.low.x, k & 2 ? box.high.y : box.low.y,
                      k & 4 ? box.high.z : box.low.z);
        double depth = vec3_dot(vec3_sub(eye, p), back);
        least = fmin(least, depth);
        most = fmax(most, depth);
    }
    double slack = 0.05 * fmax(most - least, 1e-9);
    camera->far = fmax(most + slack, 1e-6);
    camera->near = camera->orthographic ? least - slack : fmax(least - slack, 1e-3 * camera->far);
}

void view_camera_orbit(ViewCamera* camera, double dx, double dy) {
    camera->yaw = remainder(camera->yaw - 0.008 * dx, 2 * LASH_PI);
    camera->pitch = fmax(-max_pitch, fmin(max_pitch, camera->pitch + 0.008 * dy));
}

// Metres per pixel in the plane of the target.
static double target_scale(const ViewCamera* camera) {
    return 2 * camera->distance * tan(0.5 * camera->field) / camera->height;
}

void view_camera_pan(ViewCamera* camera, double dx, double dy) {
    Vec3 right, up, back;
    view_camera_axes(camera, &right, &up, &back);
    double s = target_scale(camera);
    camera->target = vec3_add_scaled(vec3_add_scaled(camera->target, -dx * s, right), dy * s, up);
}

void view_camera_zoom(ViewCamera* camera, double factor, double x, double y) {
    Vec3 right, up, back;
    view_camera_axes(camera, &right, &up, &back);
    double s = target_scale(camera) * (1 - 1 / factor);
    double px = x - 0.5 * camera->width, py = 0.5 * camera->height - y;
    camera->target = vec3_add_scaled(vec3_add_scaled(camera->target, px * s, right), py * s, up);
    camera->distance /= factor;
}

ViewRay view_camera_ray(const ViewCamera* camera, double x, double y) {
    Vec3 right, up, back;
    view_camera_axes(camera, &right, &up, &back);
    Vec3 eye = vec3_add_scaled(camera->target, camera->distance, back);
    double s = target_scale(camera), px = (x - 0.5 * camera->width) * s;
    double py = (0.5 * camera->height - y) * s;
    Vec3 across = vec3_add(vec3_scale(px, right), vec3_scale(py, up));
    ViewRay ray = {vec3_add(eye, across), vec3_neg(back)};
    if (camera->orthographic) return ray;
    ray.origin = eye;
    ray.direction = vec3_normalize(vec3_add_scaled(across, -camera->distance, back));
    return ray;
}

double view_camera_scale(const ViewCamera* camera, Vec3 point) {
    if (camera->orthographic) return target_scale(camera);
    Vec3 right, up, back;
    view_camera_axes(camera, &right, &up, &back);
    double depth = camera->distance - vec3_dot(vec3_sub(point, camera->target), back);
    return target_scale(camera) * fmax(depth / camera->distance, 1e-3);
}

bool view_camera_project(const ViewCamera* camera, Vec3 point, double* x, double* y) {
    Vec3 right, up, back, p = vec3_sub(point, camera->target);
    view_camera_axes(camera, &right, &up, &back);
    double depth = camera->distance - vec3_dot(p, back);
    if (!camera->orthographic && !(depth > 1e-6 * camera->distance)) return false;
    double s = view_camera_scale(camera, point);
    *x = 0.5 * camera->width + vec3_dot(p, right) / s;
    *y = 0.5 * camera->height - vec3_dot(p, up) / s;
    return true;
}

void view_camera_matrices(const ViewCamera* camera, float view[16], float projection[16]) {
    Vec3 axis[3], eye = view_camera_eye(camera);
    view_camera_axes(camera, &axis[0], &axis[1], &axis[2]);
    for (int k = 0; k < 3; ++k) {
        view[k] = (float)axis[k].x;
        view[4 + k] = (float)axis[k].y;
        view[8 + k] = (float)axis[k].z;
        view[12 + k] = (float)-vec3_dot(axis[k], eye);
        view[4 * k + 3] = 0;
    }
    view[15] = 1;
    double aspect = camera->width / camera->height;
    ViewMatrix p = camera->orthographic
                       ? view_matrix_parallel(camera->distance * tan(0.5 * camera->field), aspect,
                                              camera->near, camera->far)
                       : view_matrix_perspective(camera->field, aspect, camera->near, camera->far);
    memcpy(projection, p.m, sizeof p.m);
}

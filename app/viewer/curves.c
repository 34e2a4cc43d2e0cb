// Curves over time: names for every number of a frame, and samples of them for the plots.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/quantity.h"
#include "app/viewer/viewer.h"
#include "core/arena.h"

// Series a person wants to see as a curve, in the order of the menu.
static const LashSeries offered[] = {LASH_SERIES_POSITION,
                                     LASH_SERIES_VELOCITY,
                                     LASH_SERIES_ANGULAR_VELOCITY,
                                     LASH_SERIES_JOINT_COORDINATE,
                                     LASH_SERIES_JOINT_SPEED,
                                     LASH_SERIES_JOINT_FORCE,
                                     LASH_SERIES_JOINT_MOMENT,
                                     LASH_SERIES_CONTACT_GAP,
                                     LASH_SERIES_CONTACT_IMPULSE,
                                     LASH_SERIES_CONTACT_FORCE,
                                     LASH_SERIES_CONTACT_PEAK,
                                     LASH_SERIES_CONTACT_IMPACTS,
                                     LASH_SERIES_KINETIC,
                                     LASH_SERIES_POTENTIAL,
                                     LASH_SERIES_EXTERNAL_WORK,
                                     LASH_SERIES_DAMPING_WORK,
                                     LASH_SERIES_CONTACT_WORK_NORMAL,
                                     LASH_SERIES_CONTACT_WORK_TANGENTIAL,
                                     LASH_SERIES_CONTACTS,
                                     LASH_SERIES_POSITION_ERROR,
                                     LASH_SERIES_VELOCITY_ERROR,
                                     LASH_SERIES_PENETRATION};
enum { OFFERED = sizeof offered / sizeof *offered };

int viewer_curve_count(const Viewer* viewer) {
    int count = 0;
    for (int i = 0; i < OFFERED; ++i) count += viewer->scene.layout.width[offered[i]];
    return count;
}

static bool is_coordinate(LashSeries s) {
    return s == LASH_SERIES_JOINT_COORDINATE || s == LASH_SERIES_JOINT_SPEED;
}

static void name_coordinate(const Viewer* viewer, ViewCurve* curve, int owner, int part) {
    LashJointType type = (LashJointType)viewer->scene.joint[owner].type;
    bool speed = curve->series == LASH_SERIES_JOINT_SPEED;
    bool known = part < lash_coordinate_count(type);
    bool angle = !known || lash_coordinate_is_angle(type, part);
    snprintf(curve->name, sizeof curve->name, "%.60s.%s%s%s", viewer->scene.joint[owner].name,
             speed ? "speed" : "coordinate", part == 0 ? "" : ".",
             part == 0 || !known ? "" : lash_coordinate_name(type, part));
    snprintf(curve->unit, sizeof curve->unit, "%s%s", angle ? "rad" : "m", speed ? "/s" : "");
    if (!known) curve->name[0] = '\0'; // the joint has no such coordinate
}

// "crank.position.x"; an empty name: nothing to see in this column.
static void name_curve(const Viewer* viewer, ViewCurve* curve) {
    static const char* const axes[] = {"x", "y", "z"};
    static const char* const local[] = {"n", "t1", "t2"};
    const ViewScene* scene = &viewer->scene;
    const char* path = lash_series_path(curve->series);
    const char* slash = strchr(path, '/');
    bool body = strncmp(path, "bodies/", 7) == 0, joint = strncmp(path, "joints/", 7) == 0;
    bool contact = strncmp(path, "contacts/", 9) == 0;
    const char* unit = lash_series_unit(curve->series);
    snprintf(curve->unit, sizeof curve->unit, "%s", strcmp(unit, "1") == 0 ? "count" : unit);
    if (!body && !joint && !contact) {
        snprintf(curve->name, sizeof curve->name, "%s", path);
        for (char* c = curve->name; *c != '\0'; ++c) *c = *c == '/' ? '.' : *c;
        return;
    }
    int owners = joint ? scene->joints : scene->contacts;
    if (body) owners = scene->bodies;
    int per = scene->layout.width[curve->series] / owners;
    int owner = curve->column / per, part = curve->column % per;
    if (is_coordinate(curve->series)) {
        name_coordinate(viewer, curve, owner, part);
        return;
    }
    const char* name;
    if (body) {
        name = lash_mechanism_body_name(scene->mech, owner);
    } else {
        name = joint ? scene->joint[owner].name : lash_mechanism_contact_name(scene->mech, owner);
    }
    bool impulse = curve->series == LASH_SERIES_CONTACT_IMPULSE;
    const char* component = impulse ? local[part] : axes[part];
    if (per == 1) component = "";
    snprintf(curve->name, sizeof curve->name, "%.60s.%s%s%s", name, slash + 1, per == 1 ? "" : ".",
             component);
}

ViewCurve viewer_curve(const Viewer* viewer, int index) {
    ViewCurve curve = {0};
    for (int i = 0; i < OFFERED; ++i) {
        int width = viewer->scene.layout.width[offered[i]];
        if (index >= width) {
            index -= width;
            continue;
        }
        curve.series = offered[i];
        curve.column = index;
        break;
    }
    name_curve(viewer, &curve);
    return curve;
}

bool viewer_plot_find(Viewer* viewer, const char* name, ViewCurve* curve) {
    int count = viewer_curve_count(viewer);
    for (int i = 0; i < count; ++i) {
        *curve = viewer_curve(viewer, i);
        if (strcmp(curve->name, name) == 0) return true;
    }
    return false;
}

static bool remove_curve(Viewer* viewer, const ViewCurve* curve) {
    for (int i = 0; i < viewer->plots; ++i) {
        ViewPlot* plot = &viewer->plot[i];
        for (int k = 0; k < plot->curves; ++k) {
            if (plot->curve[k].series != curve->series || plot->curve[k].column != curve->column)
                continue;
            size_t after = (size_t)(plot->curves - k - 1);
            memmove(&plot->curve[k], &plot->curve[k + 1], after * sizeof *plot->curve);
            if (--plot->curves == 0) {
                size_t plots = (size_t)(viewer->plots - i - 1);
                memmove(&viewer->plot[i], &viewer->plot[i + 1], plots * sizeof *viewer->plot);
                --viewer->plots;
            }
            return true;
        }
    }
    return false;
}

void viewer_plot_toggle(Viewer* viewer, const ViewCurve* curve) {
    if (curve->name[0] == '\0' || remove_curve(viewer, curve)) return;
    for (int i = 0; i < viewer->plots; ++i) {
        ViewPlot* plot = &viewer->plot[i];
        if (strcmp(plot->curve[0].unit, curve->unit) != 0 || plot->curves == VIEW_MAX_CURVES)
            continue;
        plot->curve[plot->curves++] = *curve;
        return;
    }
    if (viewer->plots == VIEW_MAX_PLOTS) { // the oldest makes room
        memmove(&viewer->plot[0], &viewer->plot[1], (VIEW_MAX_PLOTS - 1) * sizeof *viewer->plot);
        --viewer->plots;
    }
    viewer->plot[viewer->plots].curves = 1;
    viewer->plot[viewer->plots++].curve[0] = *curve;
}

// The curve that an output of the model measures; false when it is no plain number of a frame.
static bool output_curve(Viewer* viewer, const LashModelOutput* output, ViewCurve* curve) {
    char name[160];
    const char* quantity = output->quantity;
    if (output->of == NULL) {
        if (output->kind != LASH_ENERGY_KINETIC && output->kind != LASH_ENERGY_POTENTIAL)
            return false;
        snprintf(name, sizeof name, "%s", quantity);
    } else {
        snprintf(name, sizeof name, "%.60s.%.60s", output->of, quantity);
    }
    return viewer_plot_find(viewer, name, curve);
}

void viewer_plot_defaults(Viewer* viewer) {
    const LashModel* model = viewer->scene.model;
    ViewCurve curve;
    for (int i = 0; i < model->outputs && viewer->plots < 2; ++i) {
        if (!output_curve(viewer, &model->output[i], &curve)) continue;
        bool there = false;
        for (int k = 0; k < viewer->plots; ++k)
            there = there || strcmp(viewer->plot[k].curve[0].name, curve.name) == 0;
        if (!there) viewer_plot_toggle(viewer, &curve);
    }
    if (viewer->plots > 0) return;
    if (viewer_plot_find(viewer, "energy.kinetic", &curve)) viewer_plot_toggle(viewer, &curve);
    if (viewer_plot_find(viewer, "energy.potential", &curve)) viewer_plot_toggle(viewer, &curve);
}

// Least and largest of each stretch of frames, so that no peak is lost between samples.
static int thin(const double* value, int64_t first, int64_t count, int64_t stride,
                ViewSource* source, double* t, double* y, int used, int capacity) {
    for (int64_t i = 0; i < count && used + 1 < capacity; i += stride) {
        int64_t low = i, high = i, end = i + stride < count ? i + stride : count;
        for (int64_t k = i; k < end; ++k) {
            if (value[k] < value[low]) low = k;
            if (value[k] > value[high]) high = k;
        }
        int64_t a = low < high ? low : high, b = low < high ? high : low;
        t[used] = view_source_time(source, first + a);
        y[used++] = value[a];
        if (b != a) {
            t[used] = view_source_time(source, first + b);
            y[used++] = value[b];
        }
    }
    return used;
}

int viewer_curve_sample(Viewer* viewer, const ViewCurve* curve, int capacity, double* t,
                        double* y) {
    enum { CHUNK = 8192 };
    int64_t frames = viewer->status.frames, stride = 1 + 2 * frames / capacity;
    int used = 0;
    double* value = lash_alloc(CHUNK * sizeof *value);
    int64_t chunk = CHUNK / stride * stride > 0 ? CHUNK / stride * stride : stride;
    if (chunk > CHUNK) chunk = CHUNK;
    for (int64_t i = 0; i < frames; i += chunk) {
        int64_t n = frames - i < chunk ? frames - i : chunk;
        if (!view_source_column(viewer->source, curve->series, curve->column, i, n, value,
                                &viewer->error))
            break;
        used = thin(value, i, n, stride, viewer->source, t, y, used, capacity);
    }
    lash_free(value);
    return used;
}

// Curves over time: names for every number of a frame, and samples of them for the plots.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/quantity.h"
#include "app/viewer/viewer.h"
#include "core/arena.h"
#include "core/math3.h"

// All series, in the order of the menu: motion, joints, contacts, inputs, energies, counters. Of
// vectors the norm is offered before the components.
static const LashSeries offered[] = {LASH_SERIES_POSITION,
                                     LASH_SERIES_ORIENTATION,
                                     LASH_SERIES_VELOCITY,
                                     LASH_SERIES_ANGULAR_VELOCITY,
                                     LASH_SERIES_JOINT_COORDINATE,
                                     LASH_SERIES_JOINT_SPEED,
                                     LASH_SERIES_JOINT_FORCE,
                                     LASH_SERIES_JOINT_MOMENT,
                                     LASH_SERIES_JOINT_ECCENTRICITY,
                                     LASH_SERIES_JOINT_TILT,
                                     LASH_SERIES_JOINT_POINTS,
                                     LASH_SERIES_JOINT_IMPACTS,
                                     LASH_SERIES_JOINT_WEAR,
                                     LASH_SERIES_JOINT_WORK_NET,
                                     LASH_SERIES_CONTACT_GAP,
                                     LASH_SERIES_CONTACT_IMPULSE,
                                     LASH_SERIES_CONTACT_FORCE,
                                     LASH_SERIES_CONTACT_PEAK,
                                     LASH_SERIES_CONTACT_IMPACTS,
                                     LASH_SERIES_CONTACT_WORK,
                                     LASH_SERIES_INPUT,
                                     LASH_SERIES_KINETIC,
                                     LASH_SERIES_POTENTIAL,
                                     LASH_SERIES_EXTERNAL_WORK,
                                     LASH_SERIES_DAMPING_WORK,
                                     LASH_SERIES_CONTACT_WORK_NORMAL,
                                     LASH_SERIES_CONTACT_WORK_TANGENTIAL,
                                     LASH_SERIES_JOINT_WORK,
                                     LASH_SERIES_CONTACTS,
                                     LASH_SERIES_STEPS,
                                     LASH_SERIES_NEWTON,
                                     LASH_SERIES_PROJECTION,
                                     LASH_SERIES_INDEX_SET,
                                     LASH_SERIES_SOLVER,
                                     LASH_SERIES_POSITION_ERROR,
                                     LASH_SERIES_VELOCITY_ERROR,
                                     LASH_SERIES_PENETRATION,
                                     LASH_SERIES_SHIFT,
                                     LASH_SERIES_SHIFT_BODY};
enum { OFFERED = sizeof offered / sizeof *offered };

static bool has_norm(LashSeries series) {
    return series == LASH_SERIES_VELOCITY || series == LASH_SERIES_ANGULAR_VELOCITY ||
           series == LASH_SERIES_JOINT_FORCE || series == LASH_SERIES_JOINT_MOMENT ||
           series == LASH_SERIES_CONTACT_FORCE;
}

static int norms_of(const Viewer* viewer, LashSeries series) {
    return has_norm(series) ? viewer->scene.layout.width[series] / 3 : 0;
}

int viewer_curve_count(const Viewer* viewer) {
    int count = 0;
    for (int i = 0; i < OFFERED; ++i)
        count += norms_of(viewer, offered[i]) + viewer->scene.layout.width[offered[i]];
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
    const char* label = lash_coordinate_label(type, part);
    snprintf(curve->name, sizeof curve->name, "%.60s.%s%s%s", viewer->scene.joint[owner].name,
             speed ? "speed" : "coordinate", label[0] == '\0' ? "" : ".", label);
    snprintf(curve->unit, sizeof curve->unit, "%s%s", angle ? "rad" : "m", speed ? "/s" : "");
    if (!known) curve->name[0] = '\0'; // the joint has no such coordinate
}

// "crank.position.x"; an empty name: nothing to see in this column.
static void name_curve(const Viewer* viewer, ViewCurve* curve) {
    static const char* const axes[] = {"x", "y", "z"};
    static const char* const local[] = {"n", "t1", "t2"};
    static const char* const quaternion[] = {"w", "x", "y", "z"};
    const ViewScene* scene = &viewer->scene;
    const char* path = lash_series_path(curve->series);
    const char* slash = strchr(path, '/');
    bool body = strncmp(path, "bodies/", 7) == 0, joint = strncmp(path, "joints/", 7) == 0;
    bool contact = strncmp(path, "contacts/", 9) == 0;
    const char* unit = lash_series_unit(curve->series);
    snprintf(curve->unit, sizeof curve->unit, "%s", strcmp(unit, "1") == 0 ? "count" : unit);
    if (curve->series == LASH_SERIES_INPUT) {
        const LashModelInput* input = &scene->model->input[curve->column];
        snprintf(curve->name, sizeof curve->name, "input.%.60s", input->name);
        snprintf(curve->unit, sizeof curve->unit, "%s", input->unit != NULL ? input->unit : "1");
        return;
    }
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
    const char* component = impulse ? local[part % 3] : axes[part % 3];
    if (per == 4) component = quaternion[part];
    if (per == 1 || curve->norm) component = "";
    snprintf(curve->name, sizeof curve->name, "%.60s.%s%s%s", name, slash + 1,
             component[0] == '\0' ? "" : ".", component);
}

ViewCurve viewer_curve(const Viewer* viewer, int index) {
    ViewCurve curve = {0};
    for (int i = 0; i < OFFERED; ++i) {
        int norms = norms_of(viewer, offered[i]);
        int width = norms + viewer->scene.layout.width[offered[i]];
        if (index >= width) {
            index -= width;
            continue;
        }
        curve.series = offered[i];
        curve.norm = index < norms;
        curve.column = curve.norm ? 3 * index : index - norms;
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

static bool same_curve(const ViewCurve* a, const ViewCurve* b) {
    return a->series == b->series && a->column == b->column && a->norm == b->norm;
}

double viewer_curve_value(const Viewer* viewer, const ViewCurve* curve) {
    const double* value =
        viewer->frame.values + viewer->scene.layout.offset[curve->series] + curve->column;
    return curve->norm ? vec3_norm(vec3(value[0], value[1], value[2])) : value[0];
}

static bool remove_curve(Viewer* viewer, const ViewCurve* curve) {
    for (int i = 0; i < viewer->plots; ++i) {
        ViewPlot* plot = &viewer->plot[i];
        for (int k = 0; k < plot->curves; ++k) {
            if (!same_curve(&plot->curve[k], curve)) continue;
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
    } else if (output->kind == LASH_INPUT) {
        snprintf(name, sizeof name, "input.%.60s", output->of);
    } else {
        const char* label = "";
        if (lash_quantity_is(output->kind, OF_COORDINATE))
            label = lash_coordinate_label((LashJointType)viewer->scene.joint[output->index].type,
                                          output->coordinate_index);
        snprintf(name, sizeof name, "%.60s.%.60s%s%s", output->of, quantity,
                 label[0] == '\0' ? "" : ".", label);
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

bool viewer_curve_read(Viewer* viewer, ViewSource* source, const ViewCurve* curve, int64_t first,
                       int64_t count, double* value) {
    LashError* error = &viewer->error;
    if (!view_source_column(source, curve->series, curve->column, first, count, value, error))
        return false;
    if (!curve->norm) return true;
    double* other = lash_alloc((size_t)count * sizeof *other);
    bool good = true;
    for (int64_t k = 0; k < count; ++k) value[k] *= value[k];
    for (int c = 1; c < 3 && good; ++c) {
        good = view_source_column(source, curve->series, curve->column + c, first, count, other,
                                  error);
        for (int64_t k = 0; k < count && good; ++k) value[k] += other[k] * other[k];
    }
    for (int64_t k = 0; k < count; ++k) value[k] = sqrt(value[k]);
    lash_free(other);
    return good;
}

int viewer_curve_sample(Viewer* viewer, ViewSource* source, const ViewCurve* curve, ViewSpan span,
                        int capacity, double* t, double* y) {
    enum { CHUNK = 8192 };
    int64_t all = view_source_status(source).frames;
    int64_t first = view_source_find(source, span.begin);
    int64_t end = view_source_find(source, span.end) + 2;
    if (end > all) end = all;
    int64_t frames = end - first, stride = 1 + 2 * frames / capacity;
    int used = 0;
    double* value = lash_alloc(CHUNK * sizeof *value);
    int64_t chunk = CHUNK / stride * stride > 0 ? CHUNK / stride * stride : stride;
    if (chunk > CHUNK) chunk = CHUNK;
    for (int64_t i = first; i < end; i += chunk) {
        int64_t n = end - i < chunk ? end - i : chunk;
        if (!viewer_curve_read(viewer, source, curve, i, n, value)) break;
        used = thin(value, i, n, stride, source, t, y, used, capacity);
    }
    lash_free(value);
    return used;
}

double viewer_curve_beside(Viewer* viewer, const ViewCurve* curve, double t) {
    double value[2];
    if (viewer->second == NULL) return NAN;
    ViewStatus status = view_source_status(viewer->second);
    if (t < status.begin || t > status.end + 1e-9 * fabs(status.end)) return NAN;
    int64_t frame = view_source_find(viewer->second, t);
    int64_t count = frame + 1 < status.frames ? 2 : 1;
    if (!viewer_curve_read(viewer, viewer->second, curve, frame, count, value)) return NAN;
    if (count == 1) return value[0];
    double a = view_source_time(viewer->second, frame);
    double b = view_source_time(viewer->second, frame + 1);
    double part = b > a ? fmin(fmax((t - a) / (b - a), 0), 1) : 0;
    return value[0] + part * (value[1] - value[0]);
}

// Errors of the start: g(t, q) and U = G'v + dg/dt of every bilateral row, straight from the
// system.
#include "app/run/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/model/json_scan.h"
#include "core/arena.h"
#include "core/math3.h"

// U of one interaction's row r: the sum over its touched blocks of column r of G times v.
static double row_velocity(const LashSystem* system, const LashInteraction* item, int r,
                           const double* G, const double* v) {
    double sum = 0;
    const double* block = G + item->offset;
    for (int k = 0; k < item->touched; ++k) {
        int size = lash_block_size(system, item->block[k]);
        const double* velocity = v + system->block_start[item->block[k]];
        for (int i = 0; i < size; ++i) sum += block[i + size * r] * velocity[i];
        block += size * item->rows;
    }
    return sum;
}

static void find_overlap(const LashMechanism* mech, const double* q, AppStart* start) {
    start->contact = start->too_deep = -1;
    for (int i = 0; i < lash_mechanism_contact_count(mech); ++i) {
        int beyond = 0;
        if (lash_mechanism_contact_is_pair(mech, i))
            lash_mechanism_contact_points(mech, i, q, 0, NULL, 0, &beyond);
        if (beyond > 0) start->too_deep = i;
        double depth = -lash_mechanism_contact_place(mech, i, q).gap;
        if (depth > start->penetration) {
            start->penetration = depth;
            start->contact = i;
        }
    }
}

// A pin beside its bore overlaps with nothing: only its axis tells that it is not inside. One that
// is partly in the wall overlaps, and is told as that.
static void find_pin_beside(const LashMechanism* mech, const double* q, AppStart* start) {
    start->beside = -1;
    for (int j = 0; j < lash_mechanism_joint_count(mech); ++j) {
        const LashJointDef* def = lash_mechanism_joint(mech, j);
        const LashClearanceDef* play = &def->clearance;
        bool round = def->type == LASH_REVOLUTE || def->type == LASH_CYLINDRICAL ||
                     (def->type == LASH_PRISMATIC && !(play->width > 0));
        if (!(play->play > 0) || !round) continue;
        double apart = lash_mechanism_joint_play(mech, j, q).eccentricity;
        if (!(apart > play->radius + play->play) || apart <= start->apart) continue;
        start->beside = j;
        start->apart = apart;
    }
}

AppStart app_start_errors(const LashMechanism* mech, const LashSystem* system, LashSim* sim,
                          double h) {
    AppStart start = {0};
    const double *q, *v;
    LashSystemWork* work = lash_sim_work(sim);
    double t = lash_sim_time(sim);
    lash_sim_state(sim, &q, &v);
    const LashInteractionList* list = system->collect(system, work, t, q, v, h, 1);
    double* g = lash_alloc((size_t)list->rows * sizeof *g);
    double* g_t = lash_alloc((size_t)list->rows * sizeof *g_t);
    double* G = lash_alloc((size_t)list->G_size * sizeof *G);
    system->evaluate(system, work, t, q, NULL, g, g_t, G);
    for (int i = 0; i < list->bilateral; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int r = 0; r < item->rows; ++r) {
            double error = item->kind == LASH_BILATERAL ? fabs(g[item->row + r]) : 0;
            double speed = fabs(row_velocity(system, item, r, G, v) + g_t[item->row + r]);
            if (error > start.position_error) {
                start.position_error = error;
                system->name(system, item->id, start.position_name, sizeof start.position_name);
            }
            if (speed > start.velocity_error) {
                start.velocity_error = speed;
                system->name(system, item->id, start.velocity_name, sizeof start.velocity_name);
            }
        }
    }
    lash_free(g);
    lash_free(g_t);
    lash_free(G);
    find_overlap(mech, q, &start);
    find_pin_beside(mech, q, &start);
    return start;
}

bool app_start_good(const AppStart* start, const LashSettings* settings) {
    return start->position_error <= settings->tolerance_position &&
           start->velocity_error <= settings->tolerance_velocity &&
           start->penetration <= settings->tolerance_position && start->too_deep < 0 &&
           start->beside < 0;
}

// Whether an interaction's name is `name` or begins with "name.".
static bool belongs_to(const char* interaction, const char* name) {
    size_t length = strlen(name);
    return strncmp(name, interaction, length) == 0 &&
           (interaction[length] == '\0' || interaction[length] == '.');
}

// "line 3, column 13: joints[0]" of the joint or contact that an interaction belongs to ("hinge",
// "hinge.driver", "guide.2").
void app_start_place(const LashModel* model, const char* name, char* where, size_t size) {
    char path[32] = "";
    snprintf(where, size, "start");
    for (int i = 0; i < model->contacts && path[0] == '\0'; ++i) {
        if (!belongs_to(name, model->contact[i].name)) continue;
        snprintf(path, sizeof path, "contacts[%d]", i);
    }
    for (int i = 0; i < model->joints && path[0] == '\0'; ++i) {
        if (!belongs_to(name, model->joint[i].name)) continue;
        snprintf(path, sizeof path, "joints[%d]", i);
    }
    if (path[0] == '\0') return;
    AppPlace place = app_json_find(model->text, model->text_bytes, path);
    snprintf(where, size, "line %d, column %d: %s", place.line, place.column, path);
}

static bool fail_overlap(const LashModel* model, const LashMechanism* mech, const AppStart* start,
                         LashSim* sim, const char* advice, LashError* error) {
    char where[96];
    const double *q, *v;
    const char* name = lash_mechanism_contact_name(mech, start->contact);
    lash_sim_state(sim, &q, &v);
    LashContactPlace place = lash_mechanism_contact_place(mech, start->contact, q);
    app_start_place(model, name, where, sizeof where);
    return lash_error_set(
        error, LASH_ERROR_MODEL, where,
        "the start overlaps at contact '%.60s': %.3g m deep at [%.6g, %.6g, %.6g] m along [%.3g, "
        "%.3g, %.3g] (allowed %g); %s",
        name, start->penetration, place.point.x, place.point.y, place.point.z, place.normal.x,
        place.normal.y, place.normal.z, model->simulation.settings.tolerance_position, advice);
}

static bool fail_beside(const LashModel* model, const LashMechanism* mech, const AppStart* start,
                        LashError* error) {
    const LashModelJoint* joint = &model->joint[start->beside];
    const LashClearanceDef* play = &lash_mechanism_joint(mech, start->beside)->clearance;
    char where[96];
    app_start_place(model, joint->name, where, sizeof where);
    return lash_error_set(error, LASH_ERROR_MODEL, where,
                          "the pin of joint '%.60s' lies beside its bore: their axes are %.6g m "
                          "apart, the bore's radius is %.6g m; check its points, and the poses of "
                          "'%.60s' and '%.60s'",
                          joint->name, start->apart, play->radius + play->play,
                          joint->part_a < 0 ? "ground" : model->part[joint->part_a].name,
                          joint->part_b < 0 ? "ground" : model->part[joint->part_b].name);
}

static bool fail_too_deep(const LashMechanism* mech, const AppStart* start, LashSim* sim,
                          const char* where, LashError* error) {
    const double *q, *v;
    char place[100] = "";
    lash_sim_state(sim, &q, &v);
    LashContactPlace deep = lash_mechanism_contact_interference(mech, start->too_deep, q);
    if (deep.gap < 0)
        snprintf(place, sizeof place, " (%.3g m deep at [%.6g, %.6g, %.6g] m)", -deep.gap,
                 deep.point.x, deep.point.y, deep.point.z);
    return lash_error_set(error, LASH_ERROR_MODEL, where,
                          "at the start the surfaces of contact '%.60s' are in each other%s, too "
                          "deep to tell which way is out: deeper than half a wall or a radius of "
                          "curvature; check the poses and units of its parts",
                          lash_mechanism_contact_name(mech, start->too_deep), place);
}

bool app_start_fail(const LashModel* model, const LashMechanism* mech, const AppStart* start,
                    LashSim* sim, const char* advice, LashError* error) {
    const LashSettings* settings = &model->simulation.settings;
    char where[96];
    if (start->beside >= 0) return fail_beside(model, mech, start, error);
    if (start->too_deep >= 0) {
        app_start_place(model, lash_mechanism_contact_name(mech, start->too_deep), where,
                        sizeof where);
        return fail_too_deep(mech, start, sim, where, error);
    }
    bool position = start->position_error > settings->tolerance_position;
    const char* name = position ? start->position_name : start->velocity_name;
    if (!position && start->penetration > settings->tolerance_position) {
        return fail_overlap(model, mech, start, sim, advice, error);
    }
    app_start_place(model, name, where, sizeof where);
    if (position) {
        return lash_error_set(error, LASH_ERROR_MODEL, where,
                              "the start violates joint '%s' by %.3g (m or rad; allowed %g); %s",
                              name, start->position_error, settings->tolerance_position, advice);
    }
    return lash_error_set(error, LASH_ERROR_MODEL, where,
                          "the velocities at the start violate joint '%s' by %.3g (m/s or rad/s; "
                          "allowed %g); %s",
                          name, start->velocity_error, settings->tolerance_velocity, advice);
}

// The first contact that rebounds; NULL: none.
static const char* rebounding(const LashModel* model) {
    for (int i = 0; i < model->contacts; ++i) {
        if (model->contact[i].restitution > 0) return model->contact[i].name;
    }
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        if (joint->play.play > 0 && joint->restitution > 0) return joint->name;
        for (int k = 0; k < joint->limits; ++k) {
            if (joint->limit[k].restitution > 0) return joint->name;
        }
    }
    return NULL;
}

// Friction in joints needs their loads as impulses of the same step; rebounds need a law of impact.
static bool check_scheme(const LashModel* model, LashError* error) {
    LashScheme scheme = model->simulation.settings.scheme;
    const char* name = lash_scheme_uses(scheme, "restitution") ? NULL : rebounding(model);
    char where[96];
    if (name != NULL) {
        app_start_place(model, name, where, sizeof where);
        return lash_error_set(error, LASH_ERROR_MODEL, where,
                              "the scheme %s has no law of impact: expected restitution 0; use "
                              "combined",
                              lash_scheme_name(scheme));
    }
    if (lash_scheme_uses(scheme, "joint friction")) return true;
    for (int i = 0; i < model->joints; ++i) {
        if (!(model->joint[i].friction > 0) || model->joint[i].play.play > 0) continue;
        app_start_place(model, model->joint[i].name, where, sizeof where);
        char list[160];
        lash_scheme_list("joint friction", list, sizeof list);
        return lash_error_set(error, LASH_ERROR_MODEL, where,
                              "friction in joints is not known to the scheme %s; use %s",
                              lash_scheme_name(scheme), list);
    }
    return true;
}

bool app_start_assemble(const LashMechanism* mech, const LashSystem* system, LashSim* sim,
                        const LashSettings* settings, double* moved) {
    if (!lash_sim_assemble(sim, moved)) return false;
    AppStart made = app_start_errors(mech, system, sim, settings->h);
    return app_start_good(&made, settings);
}

bool app_start_prepare(const LashModel* model, const LashMechanism* mech, const LashSystem* system,
                       LashSim* sim, double* moved, LashError* error) {
    const LashSettings* settings = &model->simulation.settings;
    AppStart start = app_start_errors(mech, system, sim, settings->h);
    *moved = 0;
    if (!check_scheme(model, error)) return false;
    if (app_start_good(&start, settings)) return true;
    if (model->simulation.assemble && start.too_deep < 0 && start.beside < 0) {
        LashError given_error = {0}; // told with the depths and places of the given start
        app_start_fail(model, mech, &start, sim, "no consistent start was found near it",
                       &given_error);
        if (app_start_assemble(mech, system, sim, settings, moved)) return true;
        if (error->status == LASH_OK) *error = given_error;
        return false;
    }
    return app_start_fail(model, mech, &start, sim,
                          "'lash check' shows the nearest consistent start, \"assemble\": true "
                          "uses it",
                          error);
}

void app_put_bodies(AppJson* json, const char* key, const LashMechanism* mech, LashSim* sim) {
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    app_json_key(json, key);
    app_json_begin_object(json);
    for (int i = 0; i < lash_mechanism_body_count(mech); ++i, q += 7, v += 6) {
        app_json_key(json, lash_mechanism_body_name(mech, i));
        app_json_begin_object(json);
        app_json_put_vec3(json, "position", vec3(q[0], q[1], q[2]));
        app_json_put_quat(json, "quaternion", quat(q[3], q[4], q[5], q[6]));
        app_json_put_vec3(json, "velocity", vec3(v[0], v[1], v[2]));
        app_json_put_vec3(json, "angular_velocity", vec3(v[3], v[4], v[5]));
        app_json_end_object(json);
    }
    app_json_end_object(json);
}

// The slider-crank in MuJoCo, two ways. As a user of it would write it: a chain of hinges, so its
// coordinates are minimal in every scene. And as free bodies whose hinges are two connect
// constraints each, 2 cm apart along the axis: maximal coordinates.
//
// With play: the slider is a box between two planes, condim 3 (friction in space). Contact is a
// damped spring in MuJoCo; its time constant is 4 steps (at 3 the motion is wrong here), its
// damping ratio z the one for which a linear oscillator rebounds with e:
//     e = exp(-pi z / sqrt(1 - z^2)),   z = ln(1/e) / sqrt(pi^2 + ln(1/e)^2)
// Connect constraints are critically damped with the shortest time constant allowed, 2 steps.
// Ideal: the slider on a slide joint, its pin held to the rod's end by a connect constraint.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

#include "app/bench/bench_peer_internal.h"
#include "app/verify/paper_systems.h"
#include "core/math3.h"

enum { TEXT = 4096 };
static const double STEPS_PER_TIME_CONSTANT = 4;
static const double HALF_DEPTH = 0.01; // of the box [m]; no influence on the planar motion

typedef struct Writer {
    char text[TEXT];
    size_t used;
} Writer;

#define PUT(w, ...) \
    ((w)->used += (size_t)snprintf((w)->text + (w)->used, TEXT - (w)->used, __VA_ARGS__))

static void put_inertia(Writer* w, double x, double mass, double J) {
    PUT(w, "<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", x, mass, J,
        J, J);
}

static void put_option(Writer* w, const LashPaperSliderCrank* d, double h) {
    PUT(w, "<mujoco><compiler angle='radian' inertiafromgeom='false'/>");
    PUT(w,
        "<option timestep='%.17g' gravity='0 %.17g 0' integrator='Euler' solver='Newton' "
        "cone='elliptic' iterations='100' tolerance='1e-10'/>",
        h, -d->gravity);
    double decay = log(1 / d->e);
    PUT(w, "<default><geom condim='3' friction='%.17g 0 0' solref='%.17g %.17g'/></default>", d->mu,
        STEPS_PER_TIME_CONSTANT * h, decay / hypot(LASH_PI, decay));
}

static void put_slider(Writer* w, const LashPaperSliderCrank* d) {
    PUT(w, "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", d->m3, d->J3,
        d->J3, d->J3);
    if (!d->ideal) PUT(w, "<geom type='box' size='%.17g %.17g %.17g'/>", d->a, d->b, HALF_DEPTH);
}

static void put_walls(Writer* w, const LashPaperSliderCrank* d) {
    for (int side = -1; side <= 1 && !d->ideal; side += 2)
        PUT(w, "<geom type='plane' size='1 1 1' pos='0 %.17g 0' zaxis='0 %d 0'/>",
            side * (d->b + d->c), -side);
}

static void write_chain(Writer* w, const LashPaperSliderCrank* d, double h) {
    PUT(w, "<body><joint type='hinge' axis='0 0 1'/>");
    put_inertia(w, d->l1 / 2, d->m1, d->J1);
    PUT(w, "<body name='rod' pos='%.17g 0 0'><joint type='hinge' axis='0 0 1'/>", d->l1);
    put_inertia(w, d->l2 / 2, d->m2, d->J2);
    if (d->ideal) {
        PUT(w, "</body></body><body name='slider' pos='%.17g 0 0'>", d->l1 + d->l2);
        PUT(w, "<joint type='slide' axis='1 0 0'/>");
        put_slider(w, d);
        PUT(w,
            "</body></worldbody><equality><connect body1='rod' body2='slider' anchor='%.17g 0 0' "
            "solref='%.17g 1'/></equality></mujoco>",
            d->l2, 2 * h);
    } else {
        PUT(w, "<body pos='%.17g 0 0'><joint type='hinge' axis='0 0 1'/>", d->l2);
        put_slider(w, d);
        PUT(w, "</body></body></body></worldbody></mujoco>");
    }
}

static void put_hinge(Writer* w, const char* bodies, double x, double h) {
    for (int end = -1; end <= 1; end += 2)
        PUT(w, "<connect %s anchor='%.17g 0 %.17g' solref='%.17g 1'/>", bodies, x, end * HALF_DEPTH,
            2 * h);
}

static void write_bodies(Writer* w, const LashPaperSliderCrank* d, double h) {
    PUT(w, "<body name='crank' pos='%.17g 0 0'><freejoint/>", d->l1 / 2);
    put_inertia(w, 0, d->m1, d->J1);
    PUT(w, "</body><body name='rod' pos='%.17g 0 0'><freejoint/>", d->l1 + d->l2 / 2);
    put_inertia(w, 0, d->m2, d->J2);
    PUT(w, "</body><body name='slider' pos='%.17g 0 0'><freejoint/>", d->l1 + d->l2);
    put_slider(w, d);
    PUT(w, "</body></worldbody><equality>");
    put_hinge(w, "body1='crank'", -d->l1 / 2, h);
    put_hinge(w, "body1='crank' body2='rod'", d->l1 / 2, h);
    put_hinge(w, "body1='rod' body2='slider'", d->l2 / 2, h);
    PUT(w, "</equality></mujoco>");
}

static mjModel* compile(const Writer* w, char* why, int size) {
    static const char name[] = "slider_crank.xml";
    mjVFS* files = mju_malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, name, (int)w->used);
    memcpy(files->filedata[mj_findFileVFS(files, name)], w->text, w->used);
    mjModel* model = mj_loadXML(name, files, why, size);
    mj_deleteVFS(files);
    mju_free(files);
    return model;
}

// Penetration of the contacts, distance of the two points of connect constraints, as the last step
// saw them.
static double violation_of(const mjData* data) {
    double worst = 0;
    for (int i = 0; i < data->ncon; ++i) worst = fmax(worst, -data->contact[i].dist);
    for (int i = 0; i + 3 <= data->ne; i += 3) worst = fmax(worst, mju_norm(data->efc_pos + i, 3));
    return worst;
}

static double crank_angle(const mjModel* model, const mjData* data, double previous) { // unwrapped
    if (model->jnt_type[0] != mjJNT_FREE) return data->qpos[0];
    double angle = 2 * atan2(data->qpos[6], data->qpos[3]);
    return angle + 2 * LASH_PI * round((previous - angle) / (2 * LASH_PI));
}

static bool simulate(const mjModel* model, mjData* data, PeerRun* run) {
    double start = peer_processor_time();
    for (int i = 0; i < run->steps; ++i) {
        mj_step(model, data);
        run->violation = fmax(run->violation, violation_of(data));
        run->angle = crank_angle(model, data, run->angle);
    }
    run->us = (peer_processor_time() - start) / run->steps;
    return data->warning[mjWARN_BADQACC].number == 0;
}

static void start(const LashPaperSliderCrank* d, mjData* data, bool bodies) {
    double* v = data->qvel;
    if (!bodies) { // joint angles are relative
        v[0] = d->v[0];
        v[1] = d->v[1] - d->v[0];
        v[2] = d->ideal ? 0 : d->v[2] - d->v[1];
        return;
    }
    double pin = d->v[0] * d->l1; // speed of the crank pin [m/s]
    v[1] = pin / 2;
    v[5] = d->v[0];
    v[7] = pin + d->v[1] * d->l2 / 2;
    v[11] = d->v[1];
    v[13] = pin + d->v[1] * d->l2;
    v[17] = d->v[2];
}

static bool run_model(const LashPaperSliderCrank* d, bool bodies, double h, double duration,
                      PeerRun* run) {
    Writer w = {.used = 0};
    put_option(&w, d, h);
    PUT(&w, "<worldbody>");
    put_walls(&w, d);
    if (bodies)
        write_bodies(&w, d, h);
    else
        write_chain(&w, d, h);
    mjModel* model = compile(&w, run->note, sizeof run->note);
    if (model == NULL) return false;
    mjData* data = mj_makeData(model);
    start(d, data, bodies);
    run->steps = (int)lround(duration / h);
    run->index_sets = NAN;
    bool stable = simulate(model, data, run);
    snprintf(run->note, sizeof run->note, "%s%s, Euler, Newton, elliptic cone, solref %s",
             stable ? "" : "became unstable: ", bodies ? "free bodies" : "hinge coordinates",
             d->ideal ? "2h 1" : "4h and damping ratio for e");
    mj_deleteData(data);
    mj_deleteModel(model);
    return stable;
}

bool peer_mujoco(PeerScene scene, double h, double duration, PeerRun* run) {
    LashPaperSliderCrank d = lash_paper_crank();
    d.ideal = scene == PEER_IDEAL;
    return run_model(&d, false, h, duration, run);
}

bool peer_mujoco_bodies(PeerScene scene, double h, double duration, PeerRun* run) {
    LashPaperSliderCrank d = lash_paper_crank();
    if (scene == PEER_MAXIMAL) return run_model(&d, true, h, duration, run);
    snprintf(run->note, sizeof run->note, "only the mechanism with play in maximal coordinates");
    return false;
}

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

static void put_inertia(Writer* writer, double x, double mass, double J) {
    PUT(writer, "<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", x, mass,
        J, J, J);
}

static void put_option(Writer* writer, const LashPaperSliderCrank* crank, double h) {
    PUT(writer, "<mujoco><compiler angle='radian' inertiafromgeom='false'/>");
    PUT(writer,
        "<option timestep='%.17g' gravity='0 %.17g 0' integrator='Euler' solver='Newton' "
        "cone='elliptic' iterations='100' tolerance='1e-10'/>",
        h, -crank->gravity);
    double decay = log(1 / crank->e);
    PUT(writer, "<default><geom condim='3' friction='%.17g 0 0' solref='%.17g %.17g'/></default>",
        crank->mu, STEPS_PER_TIME_CONSTANT * h, decay / hypot(LASH_PI, decay));
}

static void put_slider(Writer* writer, const LashPaperSliderCrank* crank) {
    PUT(writer, "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>", crank->m3,
        crank->J3, crank->J3, crank->J3);
    if (!crank->ideal)
        PUT(writer, "<geom type='box' size='%.17g %.17g %.17g'/>", crank->a, crank->b, HALF_DEPTH);
}

static void put_walls(Writer* writer, const LashPaperSliderCrank* crank) {
    for (int side = -1; side <= 1 && !crank->ideal; side += 2)
        PUT(writer, "<geom type='plane' size='1 1 1' pos='0 %.17g 0' zaxis='0 %d 0'/>",
            side * (crank->b + crank->c), -side);
}

static void write_chain(Writer* writer, const LashPaperSliderCrank* crank, double h) {
    PUT(writer, "<body><joint type='hinge' axis='0 0 1'/>");
    put_inertia(writer, crank->l1 / 2, crank->m1, crank->J1);
    PUT(writer, "<body name='rod' pos='%.17g 0 0'><joint type='hinge' axis='0 0 1'/>", crank->l1);
    put_inertia(writer, crank->l2 / 2, crank->m2, crank->J2);
    if (crank->ideal) {
        PUT(writer, "</body></body><body name='slider' pos='%.17g 0 0'>", crank->l1 + crank->l2);
        PUT(writer, "<joint type='slide' axis='1 0 0'/>");
        put_slider(writer, crank);
        PUT(writer,
            "</body></worldbody><equality><connect body1='rod' body2='slider' anchor='%.17g 0 0' "
            "solref='%.17g 1'/></equality></mujoco>",
            crank->l2, 2 * h);
    } else {
        PUT(writer, "<body pos='%.17g 0 0'><joint type='hinge' axis='0 0 1'/>", crank->l2);
        put_slider(writer, crank);
        PUT(writer, "</body></body></body></worldbody></mujoco>");
    }
}

static void put_hinge(Writer* writer, const char* bodies, double x, double h) {
    for (int end = -1; end <= 1; end += 2)
        PUT(writer, "<connect %s anchor='%.17g 0 %.17g' solref='%.17g 1'/>", bodies, x,
            end * HALF_DEPTH, 2 * h);
}

static void write_bodies(Writer* writer, const LashPaperSliderCrank* crank, double h) {
    PUT(writer, "<body name='crank' pos='%.17g 0 0'><freejoint/>", crank->l1 / 2);
    put_inertia(writer, 0, crank->m1, crank->J1);
    PUT(writer, "</body><body name='rod' pos='%.17g 0 0'><freejoint/>", crank->l1 + crank->l2 / 2);
    put_inertia(writer, 0, crank->m2, crank->J2);
    PUT(writer, "</body><body name='slider' pos='%.17g 0 0'><freejoint/>", crank->l1 + crank->l2);
    put_slider(writer, crank);
    PUT(writer, "</body></worldbody><equality>");
    put_hinge(writer, "body1='crank'", -crank->l1 / 2, h);
    put_hinge(writer, "body1='crank' body2='rod'", crank->l1 / 2, h);
    put_hinge(writer, "body1='rod' body2='slider'", crank->l2 / 2, h);
    PUT(writer, "</equality></mujoco>");
}

static mjModel* compile(const Writer* writer, char* why, int size) {
    static const char name[] = "slider_crank.xml";
    mjVFS* files = mju_malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, name, (int)writer->used);
    memcpy(files->filedata[mj_findFileVFS(files, name)], writer->text, writer->used);
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

static void start(const LashPaperSliderCrank* crank, mjData* data, bool bodies) {
    double* v = data->qvel;
    if (!bodies) { // joint angles are relative
        v[0] = crank->v[0];
        v[1] = crank->v[1] - crank->v[0];
        v[2] = crank->ideal ? 0 : crank->v[2] - crank->v[1];
        return;
    }
    double pin = crank->v[0] * crank->l1; // speed of the crank pin [m/s]
    v[1] = pin / 2;
    v[5] = crank->v[0];
    v[7] = pin + crank->v[1] * crank->l2 / 2;
    v[11] = crank->v[1];
    v[13] = pin + crank->v[1] * crank->l2;
    v[17] = crank->v[2];
}

static bool run_model(const LashPaperSliderCrank* crank, bool bodies, double h, double duration,
                      PeerRun* run) {
    Writer w = {.used = 0};
    put_option(&w, crank, h);
    PUT(&w, "<worldbody>");
    put_walls(&w, crank);
    if (bodies)
        write_bodies(&w, crank, h);
    else
        write_chain(&w, crank, h);
    mjModel* model = compile(&w, run->note, sizeof run->note);
    if (model == NULL) return false;
    mjData* data = mj_makeData(model);
    start(crank, data, bodies);
    run->steps = (int)lround(duration / h);
    run->index_sets = NAN;
    bool stable = simulate(model, data, run);
    snprintf(run->note, sizeof run->note, "%s%s, Euler, Newton, elliptic cone, solref %s",
             stable ? "" : "became unstable: ", bodies ? "free bodies" : "hinge coordinates",
             crank->ideal ? "2h 1" : "4h and damping ratio for e");
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

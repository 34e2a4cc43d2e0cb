// lash check: what each degree of freedom is.
//
// The free velocities are spanned by Z (nv x dof). As coordinates serve joint coordinates, in the
// order of the file, as far as their rates are independent on Z, then velocities of bodies: S Z is
// square and regular. Motion i has rate 1 in coordinate i and 0 in the others. Each body's velocity
// in it is a screw:
//     axis e = omega / |omega|,  through  c + omega x v / |omega|^2,  pitch 2 pi omega.v /
//     |omega|^2
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check_internal.h"
#include "app/cli/report.h"
#include "core/arena.h"
#include "core/math3.h"
#include "solvers/linear/elimination.h"

static const double STILL = 1e-7; // of the largest motion: does not move

// ---- independent coordinates --------------------------------------------------------------------

static const double* state_q(const CheckSubject* subject) {
    const double *q, *v;
    lash_sim_state(subject->sim, &q, &v);
    return q;
}

// Velocity component of a body: 0..2 along, 3..5 about the world axes (times length).
static double body_rate(const CheckSubject* subject, const double* q, int body, int component,
                        const double* v) {
    if (component < 3) return v[6 * body + component];
    const double *rot = q + 7 * body + 3, *w = v + 6 * body + 3;
    Vec3 omega = quat_rotate(quat(rot[0], rot[1], rot[2], rot[3]), vec3(w[0], w[1], w[2]));
    const double part[] = {omega.x, omega.y, omega.z};
    return subject->system->length * part[component - 3];
}

typedef struct Choice {
    const CheckSubject* s;
    LashElimination* chosen;
    CheckMotions* motions;
    int* index;  // (dof) 0, 1, 2, ...
    double* row; // (dof) rates of the candidate in the motions of Z
} Choice;

// Takes the candidate when its rate is independent of those chosen.
static bool choose(Choice* choice, double scale, const CheckMotion* candidate) {
    const LashFreedom* f = choice->s->freedom;
    const double* q = state_q(choice->s);
    size_t nv = (size_t)choice->s->system->nv;
    double largest = 0;
    for (int k = 0; k < f->motions; ++k) {
        const double* v = f->motion + nv * (size_t)k;
        choice->row[k] = candidate->joint >= 0
                             ? scale * lash_mechanism_joint_speed(choice->s->mech, candidate->joint,
                                                                  candidate->coordinate, q, v)
                             : body_rate(choice->s, q, candidate->body, candidate->component, v);
        largest = fmax(largest, fabs(choice->row[k]));
    }
    if (!(largest > 1e-9)) return false;
    if (!lash_elimination_test(choice->chosen, f->motions, choice->index, choice->row, NULL))
        return false;
    lash_elimination_add(choice->chosen, f->motions, choice->index, choice->row);
    choice->motions->motion[choice->motions->count++] = *candidate;
    return true;
}

static void choose_joints(Choice* choice) {
    for (int j = 0; j < lash_mechanism_joint_count(choice->s->mech); ++j) {
        LashJointType type = lash_mechanism_joint(choice->s->mech, j)->type;
        for (int k = 0; k < lash_coordinate_count(type); ++k) {
            if (choice->motions->count == choice->s->freedom->motions) return;
            bool angle = lash_coordinate_is_angle(type, k);
            CheckMotion m = {.joint = j, .coordinate = k, .angle = angle};
            const char* more = lash_coordinate_count(type) > 1 ? lash_coordinate_name(type, k) : "";
            snprintf(m.name, sizeof m.name, "%s%s%s", lash_mechanism_joint_name(choice->s->mech, j),
                     more[0] == '\0' ? "" : ".", more);
            choose(choice, angle ? choice->s->system->length : 1, &m);
        }
    }
}

static void choose_bodies(Choice* choice) {
    static const char* const words[] = {"along x", "along y", "along z",
                                        "about x", "about y", "about z"};
    for (int b = 0; b < lash_mechanism_body_count(choice->s->mech); ++b) {
        for (int k = 0; k < 6; ++k) {
            if (choice->motions->count == choice->s->freedom->motions) return;
            CheckMotion m = {.joint = -1, .body = b, .component = k, .angle = k >= 3};
            snprintf(m.name, sizeof m.name, "%s %s", lash_mechanism_body_name(choice->s->mech, b),
                     words[k]);
            choose(choice, 1, &m);
        }
    }
}

// ---- screws -------------------------------------------------------------------------------------

static CheckScrew screw_of(const CheckSubject* subject, const double* q, int body,
                           const double* v) {
    const double *r = q + 7 * body, *x = v + 6 * body;
    CheckScrew screw = {.body = body};
    Vec3 velocity = vec3(x[0], x[1], x[2]);
    Vec3 omega = quat_rotate(quat(r[3], r[4], r[5], r[6]), vec3(x[3], x[4], x[5]));
    double speed = vec3_norm(velocity), turn = vec3_norm(omega), length = subject->system->length;
    screw.size = fmax(speed, length * turn);
    screw.point = vec3(r[0], r[1], r[2]);
    bool translates = length * turn <= 1e-6 * speed;
    screw.kind = translates ? CHECK_TRANSLATION : CHECK_ROTATION;
    screw.rate = translates ? speed : turn;
    if (!(screw.rate > 0)) return screw;
    screw.axis = vec3_scale(1 / screw.rate, translates ? velocity : omega);
    if (!translates) {
        double along = vec3_dot(screw.axis, velocity);
        screw.point = vec3_add_scaled(screw.point, 1 / turn, vec3_cross(screw.axis, velocity));
        if (fabs(along) > 1e-6 * length * turn) {
            screw.kind = CHECK_SCREW;
            screw.pitch = 2 * LASH_PI * along / turn;
        }
    }
    // the axis points along its largest component: readers compare signs of rates
    double a = fabs(screw.axis.x), b = fabs(screw.axis.y), c = fabs(screw.axis.z), e = 1e-9;
    double lead = b >= c - e ? screw.axis.y : screw.axis.z;
    if (a >= b - e && a >= c - e) lead = screw.axis.x;
    if (lead < 0) {
        screw.axis = vec3_neg(screw.axis);
        screw.rate = -screw.rate;
    }
    return screw;
}

static int by_size(const void* a, const void* b) {
    const CheckScrew *x = a, *y = b;
    if (fabs(x->size - y->size) > 1e-9 * x->size) return x->size > y->size ? -1 : 1;
    return x->body - y->body;
}

static void find_screws(const CheckSubject* subject, const double* v, CheckMotion* check_motion) {
    const double* q = state_q(subject);
    int bodies = lash_mechanism_body_count(subject->mech), own = check_motion->body;
    double largest = 0;
    check_motion->screw = lash_alloc((size_t)bodies * sizeof *check_motion->screw);
    for (int b = 0; b < bodies; ++b) {
        check_motion->screw[b] = screw_of(subject, q, b, v);
        largest = fmax(largest, check_motion->screw[b].size);
    }
    qsort(check_motion->screw, (size_t)bodies, sizeof *check_motion->screw, by_size);
    for (check_motion->screws = 0;
         check_motion->screws < bodies &&
         check_motion->screw[check_motion->screws].size > STILL * largest;)
        ++check_motion->screws;
    if (check_motion->joint >= 0) {
        const LashJointDef* def = lash_mechanism_joint(subject->mech, check_motion->joint);
        own = (def->body_b.index1 > 1 ? def->body_b.index1 : def->body_a.index1) - 2;
    }
    for (int k = 1; k < check_motion->screws; ++k) { // its own body to the front
        if (check_motion->screw[k].body != own) continue;
        CheckScrew first = check_motion->screw[k];
        memmove(check_motion->screw + 1, check_motion->screw, (size_t)k * sizeof first);
        check_motion->screw[0] = first;
    }
}

CheckMotions check_motions(const CheckSubject* subject) {
    const LashFreedom* f = subject->freedom;
    size_t n = (size_t)f->motions + 1, nv = (size_t)subject->system->nv;
    CheckMotions motions = {.motion = lash_alloc(n * sizeof *motions.motion)};
    static const double thresholds[] = {0.05, 1e-6}; // well apart first
    Choice c = {.s = subject, .motions = &motions};
    c.index = lash_alloc(n * sizeof *c.index);
    c.row = lash_alloc(n * sizeof *c.row);
    for (int k = 0; k < f->motions; ++k) c.index[k] = k;
    for (int k = 0; k < 2 && (k == 0 || motions.count < f->motions); ++k) {
        lash_elimination_destroy(c.chosen);
        motions.count = 0;
        c.chosen = lash_elimination_create(f->motions, thresholds[k]);
        choose_joints(&c);
        choose_bodies(&c);
    }
    double *b = lash_alloc(n * sizeof *b), *share = lash_alloc(n * sizeof *share);
    double* v = lash_alloc((nv + 1) * sizeof *v);
    for (int i = 0; i < motions.count; ++i) {
        CheckMotion* check_motion = &motions.motion[i];
        b[i] = check_motion->angle ? subject->system->length : 1;
        lash_elimination_solve(c.chosen, b, share);
        b[i] = 0;
        memset(v, 0, nv * sizeof *v);
        for (int k = 0; k < f->motions; ++k) {
            for (size_t r = 0; r < nv; ++r) v[r] += share[k] * f->motion[nv * (size_t)k + r];
        }
        find_screws(subject, v, check_motion);
    }
    lash_elimination_destroy(c.chosen);
    lash_free(c.index);
    lash_free(c.row);
    lash_free(b);
    lash_free(share);
    lash_free(v);
    return motions;
}

void check_motions_free(CheckMotions* motions) {
    for (int i = 0; i < motions->count; ++i) lash_free(motions->motion[i].screw);
    lash_free(motions->motion);
    *motions = (CheckMotions){0};
}

// ---- words --------------------------------------------------------------------------------------

static double clean(double x) { // no -0, no 1e-17 beside numbers of a machine
    return fabs(x) < 1e-9 ? 0 : x;
}

static void write_axis(Vec3 e, char* text, size_t size) {
    const double x[3] = {e.x, e.y, e.z};
    for (int k = 0; k < 3; ++k) {
        if (fabs(fabs(x[k]) - 1) > 1e-9) continue;
        snprintf(text, size, "%s%c", x[k] < 0 ? "-" : "", "xyz"[k]);
        return;
    }
    snprintf(text, size, "[%.4g, %.4g, %.4g]", clean(e.x), clean(e.y), clean(e.z));
}

// Do two bodies move as one?
static bool same_screw(const CheckSubject* subject, const CheckScrew* a, const CheckScrew* b) {
    double length = subject->system->length;
    if (a->kind != b->kind || fabs(a->rate - b->rate) > 1e-6 * fabs(a->rate)) return false;
    if (vec3_distance(a->axis, b->axis) > 1e-6 || fabs(a->pitch - b->pitch) > 1e-6 * length)
        return false;
    if (a->kind == CHECK_TRANSLATION) return true;
    Vec3 d = vec3_sub(b->point, a->point);
    return vec3_norm(vec3_cross(d, a->axis)) < 1e-6 * (length + vec3_norm(d));
}

// company: bodies that move as one with it
static void write_screw(const CheckSubject* subject, const CheckScrew* screw, int company,
                        char* text, size_t size) {
    char axis[80], name[CHECK_NAME + 32];
    write_axis(screw->axis, axis, sizeof axis);
    int used = snprintf(name, sizeof name, "%.*s", CHECK_NAME,
                        lash_mechanism_body_name(subject->mech, screw->body));
    if (company > 0) snprintf(name + used, sizeof name - (size_t)used, " with %d more", company);
    Vec3 p = screw->point;
    if (screw->kind == CHECK_TRANSLATION) {
        snprintf(text, size, "translation of %s along %s", name, axis);
        return;
    }
    used = snprintf(text, size, "%s of %s about %s through (%.4g, %.4g, %.4g) m",
                    screw->kind == CHECK_SCREW ? "screw motion" : "rotation", name, axis,
                    clean(p.x), clean(p.y), clean(p.z));
    if (screw->kind == CHECK_SCREW && used > 0 && (size_t)used < size) {
        snprintf(text + used, size - (size_t)used, ", %.4g m per turn", screw->pitch);
    }
}

void check_describe(const CheckSubject* subject, const double* v, char* text, size_t size) {
    CheckMotion m = {.joint = -1, .body = -1};
    find_screws(subject, v, &m);
    text[0] = '\0';
    if (m.screws > 0) write_screw(subject, &m.screw[0], 0, text, size);
    lash_free(m.screw);
}

// One motion: up to SHOWN different ones of its bodies.
static void print_motion(const CheckSubject* subject, const CheckMotion* check_motion) {
    enum { SHOWN = 4 };
    char text[256];
    int shown = 0, left = check_motion->screws;
    bool* told = lash_alloc((size_t)check_motion->screws + 1);
    printf("  %-18s", check_motion->name);
    for (int k = 0; k < check_motion->screws && shown < SHOWN; ++k) {
        const CheckScrew* screw = &check_motion->screw[k];
        if (told[k]) continue;
        int company = 0;
        for (int i = k + 1; i < check_motion->screws; ++i) {
            if (told[i] || !same_screw(subject, screw, &check_motion->screw[i])) continue;
            told[i] = true;
            ++company;
        }
        write_screw(subject, screw, company, text, sizeof text);
        static const char* const join[] = {" ", "; with it ", ", "};
        printf("%s%s", join[shown < 2 ? shown : 2], text);
        if (shown++ > 0) {
            printf(" (%.4g %s per %s)", screw->rate, screw->kind == CHECK_TRANSLATION ? "m" : "rad",
                   check_motion->angle ? "rad" : "m");
        }
        left -= 1 + company;
    }
    if (left > 0) printf(", and %d more %s", left, app_plural(left, "body", "bodies"));
    printf("\n");
    lash_free(told);
}

void check_motions_print(const CheckSubject* subject, const CheckMotions* motions) {
    int shown = motions->count < CHECK_LINES ? motions->count : CHECK_LINES;
    for (int i = 0; i < shown; ++i) print_motion(subject, &motions->motion[i]);
    int more = subject->freedom->dof - shown;
    if (more > 0) printf("  and %d more%s\n", more, shown > 0 ? " (--json lists them)" : "");
}

void check_motions_put(AppJson* json, const CheckSubject* subject, const CheckMotions* motions) {
    enum { LISTED = 8 };
    static const char* const kinds[] = {"rotation", "translation", "screw"};
    char text[256];
    app_json_key(json, "motions");
    app_json_begin_array(json);
    for (int i = 0; i < motions->count; ++i) {
        const CheckMotion* check_motion = &motions->motion[i];
        app_json_begin_object(json);
        app_json_put_text(json, "coordinate", check_motion->name);
        app_json_put_text(json, "unit", check_motion->angle ? "rad" : "m");
        if (check_motion->screws > 0)
            write_screw(subject, &check_motion->screw[0], 0, text, sizeof text);
        app_json_put_text(json, "motion", check_motion->screws > 0 ? text : "");
        app_json_put_integer(json, "moving", check_motion->screws);
        app_json_key(json, "bodies");
        app_json_begin_array(json);
        for (int k = 0; k < check_motion->screws && k < LISTED; ++k) {
            const CheckScrew* screw = &check_motion->screw[k];
            app_json_begin_object(json);
            app_json_put_text(json, "body", lash_mechanism_body_name(subject->mech, screw->body));
            app_json_put_text(json, "kind", kinds[screw->kind]);
            app_json_put_vec3(json, "axis", screw->axis);
            app_json_put_vec3(json, "point", screw->point);
            app_json_put_number(json, "rate", screw->rate);
            if (screw->kind == CHECK_SCREW) app_json_put_number(json, "pitch", screw->pitch);
            app_json_end_object(json);
        }
        app_json_end_array(json);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

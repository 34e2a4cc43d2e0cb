// lash check: what can be said about a model before it runs.
//
// Units: a slip of mm against m shows as a gravity, a density or a radius of gyration that is off
// by a power of 1000. The radius of gyration k = sqrt(J / m) of a body cannot be far larger than
// the mechanism, nor can it be a tiny fraction of the body's own size.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/check/check_contacts.h"
#include "app/check/check_internal.h"
#include "app/check/check_play.h"
#include "app/cli/file_kind.h"
#include "app/cli/report.h"
#include "app/commands.h"
#include "app/model/model_internal.h"
#include "app/run/joint_places.h"
#include "app/run/start.h"
#include "core/arena.h"
#include "core/math3.h"

typedef struct CheckOptions {
    AppOperands operands;
    AppList set;
    bool json;
} CheckOptions;

#define OPTION(member) offsetof(CheckOptions, member)
static const AppOption options[] = {
    {"set", 's', APP_LIST, "NAME=VALUE", "give a parameter another value", OPTION(set)},
    APP_OPTION_CAD_SECONDS,
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_check_command = {
    .name = "check",
    .operands = "MODEL",
    .summary = "validate a model: degrees of freedom, redundant joints, start, units",
    .detail = "Exit code 0 when 'lash run' would accept the model, 3 when it would refuse it.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_MODEL};

enum { MAX_WARNINGS = 32, WARNING_BYTES = 240 };

typedef struct Check {
    LashModel* model;
    LashMechanism* mech;
    const LashSystem* system;
    LashSim* sim;
    LashFreedom* freedom;
    CheckMotions motions;
    CheckRedundancies redundancies;
    CheckContacts contacts;
    bool* busy;     // (joints) not to be changed
    int* redundant; // (bilateral interactions) rows that repeat rows before them
    int interactions;
    AppStart start;
    bool consistent;
    double* gap;          // (contacts) at the given start [m]
    bool assembled;       // the nearest consistent start was found; the sim stands there
    double moved;         // [m, rad]
    double largest_force; // [N]
    char warning[MAX_WARNINGS][WARNING_BYTES];
    int warnings;
} Check;

static void warn(Check* check, const char* format, ...) LASH_PRINTF(2, 3);
static void warn(Check* check, const char* format, ...) {
    if (check->warnings == MAX_WARNINGS) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->warning[check->warnings++], WARNING_BYTES, format, arguments);
    va_end(arguments);
}

// ---- plausibility of units ----------------------------------------------------------------------

// Half the diagonal of the box around all joints and mass centers, parts included [m].
static double mechanism_size(const LashModel* model) {
    Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3_neg(low);
    double extent = 0;
    for (int i = 0; i < model->parts + 2 * model->joints; ++i) {
        int j = (i - model->parts) / 2;
        bool part = i < model->parts;
        Vec3 p;
        if (part) {
            p = pose_point(model->part[i].world_part, model->part[i].center);
        } else {
            bool first = (i - model->parts) % 2 == 0;
            p = first ? model->joint[j].world_a.r : model->joint[j].world_b.r;
        }
        low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
        if (part) extent = fmax(extent, model->part[i].extent);
    }
    return fmax(0.5 * vec3_distance(low, high), extent);
}

static void check_gravity(Check* check) {
    double g = vec3_norm(check->model->gravity);
    if (g == 0 || (g > 0.5 && g < 50)) return; // a moon .. a large planet or a centrifuge
    bool small = g > 9.7e-3 && g<9.9e-3, large = g> 9700 && g < 9900;
    const char* advice = ", unusual; check its unit";
    if (small) advice = ": 9.81 was read in mm/s^2; write 9810";
    if (large) advice = ": 9810 was read in m/s^2; write 9.81";
    warn(check, "gravity is %.4g m/s^2%s", g, advice);
}

static void check_densities(Check* check) {
    for (int i = 0; i < check->model->parts; ++i) {
        const LashModelPart* part = &check->model->part[i];
        double rho = part->density;
        if (isnan(rho) || (rho >= 10 && rho <= 25000)) continue; // foam .. osmium
        warn(check,
             "part '%s': density is %.4g kg/m^3; steel is 7850, in g/mm^3 0.00785, in kg/mm^3 "
             "7.85e-6",
             part->name, rho);
    }
}

static void check_inertias(Check* check) {
    double size = mechanism_size(check->model);
    for (int i = 0; i < check->model->parts; ++i) {
        const LashModelPart* part = &check->model->part[i];
        if (part->body < 0) continue;
        Vec3 p = lash_inertia_principal(part->inertia);
        double k = sqrt(p.z / part->mass), reach = fmax(size, part->extent);
        if (size > 0 && k > 30 * reach) {
            warn(check,
                 "part '%s': its radius of gyration is %.3g m in a mechanism of %.3g m; the "
                 "inertia may be in "
                 "other units (mm^2 against m^2 is a factor 1e6)",
                 part->name, k, reach);
        } else if (part->extent > 0 && k < 1e-2 * part->extent) {
            warn(check,
                 "part '%s': its radius of gyration is %.3g m although the part reaches %.3g m "
                 "from its "
                 "center; the inertia may be in other units",
                 part->name, k, part->extent);
        }
    }
    if (size > 100)
        warn(check, "the mechanism measures %.3g m; check the unit of length", 2 * size);
    if (size > 0 && size < 1e-5) {
        warn(check, "the mechanism measures %.3g m; check the unit of length", 2 * size);
    }
}

static void check_plays(Check* check) {
    const LashModel* model = check->model;
    for (int j = 0; j < model->joints; ++j) {
        CheckPlay cad = check_play(model, j);
        if (cad.agrees || cad.on_purpose) continue;
        warn(check,
             "joint '%.60s' has a play of %.6g m, its CAD faces (%d of '%.40s', %d of '%.40s') "
             "have %.6g m; make them agree%s",
             model->joint[j].name, model->joint[j].play.play, cad.bore, model->part[cad.outer].name,
             cad.pin, model->part[cad.inner].name, cad.play,
             model->joint[j].type == LASH_PRISMATIC ? "" : ", or name them: 'bore', 'pin'");
    }
}

static void check_places(Check* check) {
    char text[WARNING_BYTES];
    for (int j = 0; j < check->model->joints; ++j) {
        if (app_joint_is_far(check->model, j, text, sizeof text)) warn(check, "%s", text);
    }
}

// Largest weight, spring or applied force at the start [N].
static double largest_force(const Check* check) {
    const LashModel* model = check->model;
    double largest = 0, g = vec3_norm(model->gravity);
    for (int i = 0; i < model->parts; ++i) {
        if (model->part[i].body >= 0) largest = fmax(largest, g * model->part[i].mass);
    }
    double* F = lash_alloc((size_t)check->system->nv * sizeof *F);
    const double *q, *v;
    lash_sim_state(check->sim, &q, &v);
    check->system->forces(check->system, lash_sim_work(check->sim), 0, q, v, F);
    for (int i = 0; i < model->bodies; ++i) {
        largest = fmax(largest, vec3_norm(vec3(F[6 * i], F[6 * i + 1], F[6 * i + 2])));
    }
    lash_free(F);
    return largest;
}

// ---- the start ----------------------------------------------------------------------------------

// Gaps of the given start, before anything is moved.
static void measure_gaps(Check* check) {
    const double *q, *v;
    int count = lash_mechanism_contact_count(check->mech);
    lash_sim_state(check->sim, &q, &v);
    check->gap = lash_alloc((size_t)count * sizeof *check->gap);
    for (int i = 0; i < count; ++i) {
        check->gap[i] = lash_mechanism_contact_place(check->mech, i, q).gap;
    }
    check->contacts = check_contacts(check->model, check->mech, q,
                                     check->model->simulation.settings.tolerance_position);
    for (int i = 0; i < check->contacts.fits; ++i) {
        const CheckFit* fit = &check->contacts.fit[i];
        if (!fit->zero) continue;
        const char* name = fit->joint >= 0 ? check->model->joint[fit->joint].name
                                           : check->model->contact_point[fit->contact].name;
        warn(check,
             "'%s': bore and pin have the same radius (%.6g m), so the pin is stuck in it; give "
             "the contact an 'offset', or the joint a 'clearance'",
             name, fit->bore_radius);
    }
}

static void check_start(Check* check, LashError* error) {
    const LashSettings* settings = &check->model->simulation.settings;
    check->start = app_start_errors(check->mech, check->system, check->sim, settings->h);
    check->consistent = app_start_good(&check->start, settings);
    measure_gaps(check);
    for (int i = 0; i < check->contacts.points; ++i) // deeper than any gap tells
        check->start.penetration = fmax(check->start.penetration, -check->contacts.deep[i].gap);
    if (check->consistent) return;
    LashError found = {0}, missing = {0};
    app_start_fail(check->model, check->mech, &check->start, check->sim,
                   "the nearest consistent start is shown above; \"assemble\": true uses it",
                   &found);
    app_start_fail(check->model, check->mech, &check->start, check->sim,
                   "no consistent start was found near it", &missing);
    const double *q, *v;
    lash_sim_state(check->sim, &q, &v);
    size_t nq = (size_t)check->system->nq, nv = (size_t)check->system->nv;
    double* given = lash_alloc((nq + nv) * sizeof *given);
    memcpy(given, q, nq * sizeof *given);
    memcpy(given + nq, v, nv * sizeof *given);
    bool tell = check->start.too_deep < 0 && check->start.beside < 0;
    check->assembled =
        tell && app_start_assemble(check->mech, check->system, check->sim, settings, &check->moved);
    if (!check->assembled)
        lash_sim_set_state(check->sim, lash_sim_time(check->sim), given, given + nq);
    lash_free(given);
    if (check->assembled && check->model->simulation.assemble) return;
    if (error->status == LASH_OK) *error = check->assembled ? found : missing;
}

// Name of bilateral interaction i.
static void interaction_name(const Check* check, int i, char* text, size_t size) {
    const LashInteractionList* list = lash_sim_interactions(check->sim);
    check->system->name(check->system, list->item[i].id, text, size);
}

static CheckSubject subject(const Check* check) {
    return (CheckSubject){check->mech, check->system, check->sim, check->freedom, check->busy};
}

// Joints whose coordinates something uses: another type might not have them.
static void mark_busy(Check* check) {
    const LashModel* model = check->model;
    for (int i = 0; i < model->joints; ++i) {
        const LashModelJoint* joint = &model->joint[i];
        bool friction = model_has(joint->friction) && joint->friction > 0;
        if (joint->drivers > 0 || joint->limits > 0 || friction) check->busy[i] = true;
        bool couples = joint->type == LASH_GEAR || joint->type == LASH_RACK_AND_PINION;
        for (int k = 0; k < 2 && couples; ++k) check->busy[joint->coupled[k]] = true;
    }
    for (int i = 0; i < model->forces; ++i) {
        if (model->force[i].joint_index >= 0) check->busy[model->force[i].joint_index] = true;
    }
}

static void check_freedom(Check* check) {
    check->freedom = lash_sim_freedom(check->sim);
    check->interactions = lash_sim_interactions(check->sim)->bilateral;
    for (int i = 0; i < check->freedom->circuits; ++i) {
        ++check->redundant[check->freedom->circuit[i].interaction];
    }
    check->busy = lash_alloc((size_t)check->model->joints + 1);
    mark_busy(check);
    CheckSubject s = subject(check);
    check->motions = check_motions(&s);
    check->redundancies = check_redundancies(&s);
}

static bool run_checks(Check* check, LashError* error) {
    const LashModel* model = check->model;
    check->mech = lash_model_build(model, error);
    if (check->mech == NULL) return false;
    check->system = lash_mechanism_system(check->mech);
    check->sim = lash_sim_create(check->system, &model->simulation.settings);
    check->redundant = lash_alloc((size_t)(check->system->max_interactions + 1) * sizeof(int));
    check_start(check, error);
    check_freedom(check);
    check->largest_force = largest_force(check);
    check_gravity(check);
    check_densities(check);
    check_inertias(check);
    check_plays(check);
    check_places(check);
    return error->status == LASH_OK;
}

// ---- what to mend first -------------------------------------------------------------------------

// Runs begin at the nearest consistent start by themselves.
static bool is_assembled(const Check* check) {
    return check->assembled && check->model->simulation.assemble;
}

static bool mend_contacts(const Check* check, char* text, size_t size) {
    const CheckContacts* contacts = &check->contacts;
    const CheckOverlap* worst = NULL;
    for (int i = 0; i < contacts->points; ++i) {
        const char* name = check->model->contact_point[i].name;
        if (contacts->beyond[i] > 0) {
            char depth[48] = "";
            if (contacts->deep[i].gap < 0)
                snprintf(depth, sizeof depth, ", by %.3g m", -contacts->deep[i].gap);
            snprintf(text, size,
                     "contact '%s': its parts are too deep in each other%s; place one anew", name,
                     depth);
            return true;
        }
        if (!(contacts->through[i].depth > 0)) continue;
        snprintf(text, size,
                 "contact '%s': the parts are in each other by %.3g m through face %d, which it "
                 "leaves out; add the face, or place one of the parts anew",
                 name, contacts->through[i].depth, contacts->through[i].face);
        return true;
    }
    for (int i = 0; i < contacts->overlaps; ++i)
        if (worst == NULL || contacts->overlap[i].place.gap < worst->place.gap)
            worst = &contacts->overlap[i];
    if (worst == NULL || is_assembled(check)) return false;
    snprintf(text, size,
             "contact '%s' overlaps by %.3g m, the deepest of %d; move one of its parts, or let "
             "\"assemble\" in \"simulation\" do it",
             check->model->contact_point[worst->contact].name, -worst->place.gap,
             contacts->overlaps);
    return true;
}

// The first thing that stands in the way of a run or makes it doubtful; false: there is none.
static bool mend_first(const Check* check, char* text, size_t size) {
    double tolerance = check->model->simulation.settings.tolerance_position;
    const char* joint = check->start.position_name;
    bool bad = !check->consistent && !is_assembled(check);
    bool apart = bad && check->start.position_error > tolerance;
    if (mend_contacts(check, text, size)) return true;
    if (apart && joint[0] != '\0') {
        snprintf(text, size,
                 "joint '%s' does not fit by %.3g m or rad; correct its point or axis, or let "
                 "\"assemble\" in \"simulation\" do it",
                 joint, check->start.position_error);
        return true;
    }
    if (bad) {
        snprintf(text, size, "the start is not consistent: see 'start'");
        return true;
    }
    for (int i = 0; i < check->contacts.points; ++i) {
        if (!check->contacts.never[i]) continue;
        snprintf(text, size, "contact '%s' never touches; choose other faces or leave it out",
                 check->model->contact_point[i].name);
        return true;
    }
    if (check->warnings > 0) snprintf(text, size, "%s", check->warning[0]);
    return check->warnings > 0;
}

// ---- reporting ----------------------------------------------------------------------------------

static void put_start(AppJson* json, const Check* check) {
    app_json_key(json, "start");
    app_json_begin_object(json);
    app_json_put_bool(json, "consistent", check->consistent);
    app_json_put_number(json, "position_error", check->start.position_error);
    app_json_put_text(json, "position_joint", check->start.position_name);
    app_json_put_number(json, "velocity_error", check->start.velocity_error);
    app_json_put_text(json, "velocity_joint", check->start.velocity_name);
    app_json_put_number(json, "penetration", check->start.penetration);
    if (check->assembled) {
        app_json_put_number(json, "moved", check->moved);
        app_put_bodies(json, "nearest", check->mech, check->sim);
    }
    app_json_end_object(json);
}

static void put_gaps(AppJson* json, const Check* check) {
    app_json_key(json, "gaps");
    app_json_begin_array(json);
    for (int i = 0; i < check->model->contact_points; ++i) {
        app_json_begin_object(json);
        app_json_put_text(json, "contact", check->model->contact_point[i].name);
        app_json_put_number(json, "gap", check->gap[i]);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_result(AppJson* json, const Check* check) {
    char name[96];
    app_json_put_text(json, "model", check->model->file);
    app_json_put_integer(json, "bodies", check->model->bodies);
    app_json_put_integer(json, "joints", check->model->joints);
    app_json_put_integer(json, "contacts", check->model->contact_points);
    CheckSubject s = subject(check);
    app_json_put_integer(json, "dof", check->freedom->dof);
    check_motions_put(json, &s, &check->motions);
    app_json_put_integer(json, "redundant_rows", check->freedom->rows - check->freedom->rank);
    app_json_key(json, "redundant");
    app_json_begin_array(json);
    for (int i = 0; i < check->interactions; ++i) {
        if (check->redundant[i] == 0) continue;
        interaction_name(check, i, name, sizeof name);
        app_json_text(json, name);
    }
    app_json_end_array(json);
    check_redundancies_put(json, &s, &check->redundancies);
    check_position_put(json, &s);
    check_clearances_put(json, check->model);
    put_gaps(json, check);
    check_contacts_put(json, &check->contacts, check->model);
    put_start(json, check);
    char mend[512];
    app_json_put_text(json, "mend_first", mend_first(check, mend, sizeof mend) ? mend : "");
    app_json_put_vec3(json, "gravity", check->model->gravity);
    app_json_put_number(json, "largest_force", check->largest_force);
    app_json_key(json, "warnings");
    app_json_begin_array(json);
    for (int i = 0; i < check->warnings; ++i) app_json_text(json, check->warning[i]);
    app_json_end_array(json);
}

static void print_start(const Check* check) {
    if (check->consistent) {
        printf(
            "start        consistent: joint errors %.1e m or rad, velocities %.1e m/s or rad/s\n",
            check->start.position_error, check->start.velocity_error);
        return;
    }
    printf(
        "start        NOT consistent: joint errors up to %.3g m or rad%s%s, velocities up to %.3g "
        "m/s or "
        "rad/s%s%s, overlaps up to %.3g m\n",
        check->start.position_error, check->start.position_name[0] == '\0' ? "" : " in ",
        check->start.position_name, check->start.velocity_error,
        check->start.velocity_name[0] == '\0' ? "" : " in ", check->start.velocity_name,
        check->start.penetration);
    if (!check->assembled) return;
    const double *q, *v;
    double x[13];
    lash_sim_state(check->sim, &q, &v);
    printf(
        "nearest      consistent start%s, bodies moved by up to %.3g m or rad (mass centers, "
        "SI):\n",
        check->model->simulation.assemble ? ", where runs begin (\"assemble\")" : "", check->moved);
    for (int i = 0; i < check->model->bodies; ++i, q += 7, v += 6) {
        const double rounding = 1e-14;
        for (int k = 0; k < 13; ++k) {
            x[k] = k < 7 ? q[k] : v[k - 7];
            if (fabs(x[k]) < rounding) x[k] = 0;
        }
        printf(
            "  %-18s position [%.9g, %.9g, %.9g] quaternion [%.9g, %.9g, %.9g, %.9g]\n"
            "  %-18s velocity [%.9g, %.9g, %.9g] angular_velocity [%.9g, %.9g, %.9g]\n",
            lash_mechanism_body_name(check->mech, i), x[0], x[1], x[2], x[3], x[4], x[5], x[6], "",
            x[7], x[8], x[9], x[10], x[11], x[12]);
    }
}

static int joints_with_play(const LashModel* model) {
    int count = 0;
    for (int j = 0; j < model->joints; ++j) count += model->joint[j].contacts > 0;
    return count;
}

// Contacts that are the model's own: those of joints with clearance follow them.
static int own_contacts(const LashModel* model) {
    int count = model->contact_points;
    for (int j = 0; j < model->joints; ++j) count -= model->joint[j].contacts;
    return count;
}

static void print_gap(const Check* check, const char* name, double gap, int points) {
    double tolerance = check->model->simulation.settings.tolerance_position;
    if (isinf(gap)) return; // has no place now: the edge of a ring that lies flat
    printf("  %-18s %12.6g m", name, gap);
    if (gap < -tolerance) printf("  OVERLAPS");
    if (fabs(gap) <= tolerance) printf("  closed");
    if (points > 1) printf("  (least of %d)", points);
    printf("\n");
}

// Gaps, smallest things first in words: what overlaps and what touches.
static void print_gaps(const Check* check) {
    const LashModel* model = check->model;
    double tolerance = model->simulation.settings.tolerance_position;
    if (model->contact_points == 0) return;
    int closed = 0, overlapping = 0;
    for (int i = 0; i < model->contact_points; ++i) {
        overlapping += check->gap[i] < -tolerance;
        closed += fabs(check->gap[i]) <= tolerance;
    }
    int own = own_contacts(model), played = joints_with_play(model);
    printf("gaps         %d %s", own, app_plural(own, "contact", "contacts"));
    if (played > 0) {
        printf(" and %d %s with clearance (%d points)", played,
               app_plural(played, "joint", "joints"), model->contact_points - own);
    }
    printf(" at the start: %d closed, %d overlapping\n", closed, overlapping);
    for (int i = 0; i < own; ++i) print_gap(check, model->contact_point[i].name, check->gap[i], 1);
    for (int j = 0; j < model->joints; ++j) {
        const LashModelJoint* joint = &model->joint[j];
        double least = INFINITY;
        for (int c = 0; c < joint->contacts; ++c)
            least = fmin(least, check->gap[joint->first_contact + c]);
        print_gap(check, joint->name, least, joint->contacts);
    }
}

static void print_masses(const LashModel* model) {
    int width = 10;
    for (int i = 0; i < model->parts; ++i) {
        int length = (int)strlen(model->part[i].name);
        if (length > width) width = length < 40 ? length : 40;
    }
    printf("%-*s mass [kg]     principal moments [kg m^2]            density [kg/m^3]\n", width + 2,
           "parts");
    for (int i = 0; i < model->parts; ++i) {
        const LashModelPart* part = &model->part[i];
        if (part->body < 0) {
            printf("  %-*s fixed\n", width, part->name);
            continue;
        }
        Vec3 p = lash_inertia_principal(part->inertia);
        printf("  %-*s %-13.6g %-11.4g %-11.4g %-11.4g  ", width, part->name, part->mass, p.x, p.y,
               p.z);
        if (isnan(part->density))
            printf("mass is given\n");
        else
            printf("%.6g\n", part->density);
    }
}

static void print_result(const Check* check) {
    const LashModel* model = check->model;
    int own = own_contacts(model), played = joints_with_play(model);
    printf("%s: %d %s, %d %s", model->name != NULL ? model->name : model->file, model->bodies,
           app_plural(model->bodies, "body", "bodies"), model->joints,
           app_plural(model->joints, "joint", "joints"));
    if (played > 0) printf(" (%d with clearance)", played);
    printf(", %d %s, %d %s\n", model->forces, app_plural(model->forces, "force", "forces"), own,
           app_plural(own, "contact", "contacts"));
    const LashFreedom* f = check->freedom;
    CheckSubject s = subject(check);
    char mend[512];
    if (mend_first(check, mend, sizeof mend)) printf("mend first   %s\n", mend);
    printf("freedom      %d degree%s of freedom: 6 x %d - rank %d of %d constraint rows\n", f->dof,
           app_plural(f->dof, "", "s"), model->bodies, f->rank, f->rows);
    check_motions_print(&s, &check->motions);
    check_redundancies_print(&s, &check->redundancies);
    check_position_print(&s);
    print_start(check);
    check_clearances_print(model);
    print_gaps(check);
    check_contacts_print(&check->contacts, check->model);
    printf("gravity      [%g, %g, %g] m/s^2, largest force on a body at the start %.4g N\n",
           model->gravity.x, model->gravity.y, model->gravity.z, check->largest_force);
    print_masses(model);
    for (int i = 0; i < check->warnings; ++i) printf("warning      %s\n", check->warning[i]);
}

int app_check(int argc, char** argv) {
    CheckOptions o = {.json = false};
    int code = app_options_parse(&app_check_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("check", o.json);
    LashError error = {0};
    Check check = {0};
    check.model = lash_model_load(o.operands.item[0], o.set.item, o.set.count, &error);
    bool known = false;
    if (check.model != NULL) {
        run_checks(&check, &error);
        known = check.sim != NULL;
        if (error.status != LASH_OK) lash_error_file(&error, check.model->file);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (known) put_result(json, &check);
    } else if (known) {
        print_result(&check);
        fflush(stdout);
    }
    code = app_report_finish(&report, &error);
    check_motions_free(&check.motions);
    check_redundancies_free(&check.redundancies);
    check_contacts_free(&check.contacts);
    lash_freedom_destroy(check.freedom);
    lash_sim_destroy(check.sim);
    lash_mechanism_destroy(check.mech);
    lash_model_destroy(check.model);
    lash_free(check.redundant);
    lash_free(check.busy);
    lash_free(check.gap);
    return code;
}

// Frames and statistics.
//
// Time integrals use the trapezoidal rule; quantities that are averages over a step (reactions)
// count with their step. A crossing is found by linear interpolation between two steps.
#include "app/run/measure.h"

#include <math.h>
#include <string.h>

#include "app/model/quantity.h"
#include "core/math3.h"

// The largest displacement by the projection, of the step that has just been added.
static void add_shift(AppCounters* counters, const LashStepInfo* info, const LashSim* sim) {
    if (info->shift > counters->shift) {
        counters->shift = info->shift;
        counters->shift_time = lash_sim_time(sim);
        counters->shift_body = info->shift_block;
    }
    if (info->shift > counters->frame_shift) {
        counters->frame_shift = info->shift;
        counters->frame_shift_body = info->shift_block;
    }
}

void app_counters_add(AppCounters* counters, const LashStepInfo* info, const LashSim* sim) {
    int events = 0;
    const LashEvent* event = lash_sim_events(sim, &events);
    for (int i = 0; i < events; ++i) counters->impacts += event[i].kind == LASH_EVENT_IMPACT;
    ++counters->steps;
    counters->substeps += info->substeps;
    counters->substepped += info->substeps > 1;
    counters->newton += info->newton;
    counters->projection += info->projection;
    counters->index_set += info->index_set;
    counters->solver += info->solver;
    if (info->newton > counters->newton_max) counters->newton_max = info->newton;
    if (info->projection > counters->projection_max) counters->projection_max = info->projection;
    if (info->index_set > counters->index_set_max) counters->index_set_max = info->index_set;
    if (info->solver > counters->solver_max) counters->solver_max = info->solver;
    counters->contacts = info->contacts;
    counters->opening += info->opening;
    if (info->contacts > counters->contacts_max) counters->contacts_max = info->contacts;
    counters->position = worse(counters->position, info->position_error);
    counters->velocity = worse(counters->velocity, info->velocity_error);
    counters->penetration = worse(counters->penetration, info->penetration);
    counters->frame_position = worse(counters->frame_position, info->position_error);
    counters->frame_velocity = worse(counters->frame_velocity, info->velocity_error);
    counters->frame_penetration = worse(counters->frame_penetration, info->penetration);
    add_shift(counters, info, sim);
}

LashRecordSizes app_record_sizes(const LashModel* model, bool algorithmic) {
    LashRecordSizes sizes = {.bodies = model->bodies,
                             .joints = model->joints,
                             .contacts = model->contact_points,
                             .inputs = model->inputs,
                             .algorithmic = algorithmic};
    for (int j = 0; j < model->joints; ++j) {
        int count = lash_coordinate_count((LashJointType)model->joint[j].type);
        if (count > sizes.coordinates) sizes.coordinates = count;
    }
    return sizes;
}

static void copy_state(const double* q, const double* v, const LashRecordLayout* layout,
                       double* frame) {
    double* position = frame + layout->offset[LASH_SERIES_POSITION];
    double* orientation = frame + layout->offset[LASH_SERIES_ORIENTATION];
    double* velocity = frame + layout->offset[LASH_SERIES_VELOCITY];
    double* omega = frame + layout->offset[LASH_SERIES_ANGULAR_VELOCITY];
    for (size_t i = 0; i < (size_t)layout->bodies; ++i) {
        memcpy(position + 3 * i, q + 7 * i, 3 * sizeof(double));
        memcpy(orientation + 4 * i, q + 7 * i + 3, 4 * sizeof(double));
        memcpy(velocity + 3 * i, v + 6 * i, 3 * sizeof(double));
        memcpy(omega + 3 * i, v + 6 * i + 3, 3 * sizeof(double));
    }
}

void app_outputs_read(const LashModel* model, uint8_t* joint_parts) {
    for (int i = 0; i < model->outputs; ++i) {
        const LashModelOutput* output = &model->output[i];
        if (lash_quantity(output->kind)->of != LASH_OF_JOINT) continue;
        if (lash_quantity_is(output->kind, OF_PLAY)) continue; // not in the frame
        uint8_t* parts = &joint_parts[output->index];
        if (output->kind == LASH_COORDINATE)
            *parts |= APP_JOINT_COORDINATE;
        else if (output->kind == LASH_SPEED)
            *parts |= APP_JOINT_SPEED;
        else // its force or moment
            *parts |= APP_JOINT_REACTION;
    }
}

typedef struct Measured { // what the values of joints are taken from
    const LashMechanism* mech;
    LashSim* sim;
    const double *q, *v;
    double h; // [s]
    const LashRecordLayout* layout;
    double* frame;
} Measured;

static void joint_motion(const Measured* measured, int j, uint8_t parts) {
    const LashRecordLayout* layout = measured->layout;
    int n_max = layout->coordinates, at = n_max * j;
    int n = lash_coordinate_count(lash_mechanism_joint(measured->mech, j)->type);
    double* x = measured->frame + layout->offset[LASH_SERIES_JOINT_COORDINATE] + at;
    double* speed = measured->frame + layout->offset[LASH_SERIES_JOINT_SPEED] + at;
    for (int c = 0; c < n_max; ++c) {
        if (c >= n) {
            x[c] = speed[c] = NAN;
            continue;
        }
        if (parts & APP_JOINT_COORDINATE)
            x[c] = lash_mechanism_joint_coordinate(measured->mech, lash_sim_work(measured->sim), j,
                                                   c, measured->q);
        if (parts & APP_JOINT_SPEED)
            speed[c] = lash_mechanism_joint_speed(measured->mech, j, c, measured->q, measured->v);
    }
    if (n == 0) x[0] = speed[0] = 0;
}

static void joint_reaction(const Measured* measured, int j) {
    LashReaction reaction = {{0, 0, 0}, {0, 0, 0}};
    if (lash_sim_steps(measured->sim) > 0)
        reaction =
            lash_mechanism_reaction(measured->mech, lash_sim_work(measured->sim), j, measured->q,
                                    lash_sim_impulses(measured->sim), measured->h);
    double* force = measured->frame + measured->layout->offset[LASH_SERIES_JOINT_FORCE] + 3 * j;
    double* moment = measured->frame + measured->layout->offset[LASH_SERIES_JOINT_MOMENT] + 3 * j;
    force[0] = reaction.force.x;
    force[1] = reaction.force.y;
    force[2] = reaction.force.z;
    moment[0] = reaction.moment.x;
    moment[1] = reaction.moment.y;
    moment[2] = reaction.moment.z;
}

static void joint_values(const Measured* measured, const uint8_t* joint_parts) {
    for (int j = 0; j < measured->layout->joints; ++j) {
        uint8_t parts = joint_parts != NULL ? joint_parts[j] : APP_JOINT_ALL;
        if (parts & (APP_JOINT_COORDINATE | APP_JOINT_SPEED)) joint_motion(measured, j, parts);
        if (parts & APP_JOINT_REACTION) joint_reaction(measured, j);
    }
}

void app_measure_frame(const LashMechanism* mech, LashSim* sim, const AppCounters* counters,
                       const LashRecordLayout* layout, double h, const uint8_t* joint_parts,
                       double* frame) {
    const double *q, *v;
    lash_sim_state(sim, &q, &v);
    copy_state(q, v, layout, frame);
    joint_values(&(Measured){mech, sim, q, v, h, layout, frame}, joint_parts);
    LashEnergy energy = lash_sim_energy(sim);
    const int* at = layout->offset;
    frame[at[LASH_SERIES_TIME]] = lash_sim_time(sim);
    frame[at[LASH_SERIES_KINETIC]] = energy.kinetic;
    frame[at[LASH_SERIES_POTENTIAL]] = energy.potential;
    frame[at[LASH_SERIES_EXTERNAL_WORK]] = energy.external_work;
    frame[at[LASH_SERIES_DAMPING_WORK]] = energy.damping_work;
    frame[at[LASH_SERIES_CONTACT_WORK_NORMAL]] = energy.contact_work_n;
    frame[at[LASH_SERIES_CONTACT_WORK_TANGENTIAL]] = energy.contact_work_t;
    frame[at[LASH_SERIES_JOINT_WORK]] = energy.joint_work;
    for (int i = 0; i < layout->inputs; ++i)
        frame[at[LASH_SERIES_INPUT] + i] =
            lash_mechanism_input_value(lash_sim_work(sim), i, lash_sim_time(sim));
    if (layout->width[LASH_SERIES_ALGORITHMIC] > 0)
        frame[at[LASH_SERIES_ALGORITHMIC]] = energy.algorithmic;
    frame[at[LASH_SERIES_STEPS]] = (double)counters->steps;
    frame[at[LASH_SERIES_NEWTON]] = (double)counters->newton;
    frame[at[LASH_SERIES_PROJECTION]] = (double)counters->projection;
    frame[at[LASH_SERIES_INDEX_SET]] = (double)counters->index_set;
    frame[at[LASH_SERIES_SOLVER]] = (double)counters->solver;
    frame[at[LASH_SERIES_CONTACTS]] = counters->contacts;
    frame[at[LASH_SERIES_POSITION_ERROR]] = counters->frame_position;
    frame[at[LASH_SERIES_VELOCITY_ERROR]] = counters->frame_velocity;
    frame[at[LASH_SERIES_PENETRATION]] = counters->frame_penetration;
    frame[at[LASH_SERIES_SHIFT]] = counters->frame_shift;
    frame[at[LASH_SERIES_SHIFT_BODY]] = counters->frame_shift > 0 ? counters->frame_shift_body : -1;
}

static bool crosses(const LashModelOutput* output, double before, double now) {
    bool up = before < output->level_si && now >= output->level_si;
    bool down = before > output->level_si && now <= output->level_si;
    if (output->direction == 0) return up || down;
    return output->direction == 1 ? up : down;
}

void app_statistic_add(AppStatistic* statistic, const LashModelOutput* output, double time,
                       double value) {
    bool impulsive = lash_quantity_is(output->kind, IMPULSIVE);
    if (!statistic->filled) {
        *statistic = (AppStatistic){.filled = true,
                                    .time = time,
                                    .value = value,
                                    .start = time,
                                    .least = value,
                                    .largest = value,
                                    .crossing = NAN};
        if (impulsive) { // no value at the start: the first step stands for itself
            statistic->least = INFINITY;
            statistic->largest = -INFINITY;
        }
        return;
    }
    double dt = time - statistic->time;
    if (lash_quantity_is(output->kind, IS_TIME_OF)) { // not a number: never, so far
        statistic->least = fmin(statistic->least, value);
        statistic->largest = fmax(statistic->largest, value);
    } else {
        statistic->least = -worse(-statistic->least, -value);
        statistic->largest = worse(statistic->largest, value);
    }
    statistic->sum += impulsive ? dt * value : 0.5 * dt * (statistic->value + value);
    statistic->square += impulsive
                             ? dt * value * value
                             : 0.5 * dt * (statistic->value * statistic->value + value * value);
    if (isnan(statistic->crossing) && crosses(output, statistic->value, value)) {
        statistic->crossing = statistic->time + dt * (output->level_si - statistic->value) /
                                                    (value - statistic->value);
    }
    statistic->time = time;
    statistic->value = value;
}

double app_statistic_result(const AppStatistic* statistic, const LashModelOutput* output) {
    double span = statistic->time - statistic->start;
    switch ((LashModelWhen)output->when) {
        case LASH_WHEN_FINAL:
            return statistic->value;
        case LASH_WHEN_MAX:
            return statistic->largest;
        case LASH_WHEN_MIN:
            return statistic->least;
        case LASH_WHEN_MEAN:
            return span > 0 ? statistic->sum / span : statistic->value;
        case LASH_WHEN_RMS:
            return span > 0 ? sqrt(statistic->square / span) : fabs(statistic->value);
        case LASH_WHEN_INTEGRAL:
            return statistic->sum;
        case LASH_WHEN_FIRST_CROSSING:
            return statistic->crossing;
    }
    return NAN;
}

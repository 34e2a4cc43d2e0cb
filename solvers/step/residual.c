// Residuals of a step at its iterate (v, P, tau, shift), always evaluated afresh.
//
// The scheme's stencil (schemes/scheme.h) says where everything is taken; w = M^-1 G* P, what all
// impulses do to v:
//
//     increment   d = d_0 + d_v v + d_w w + shift,      q_{k+1} = q_k (+) d
//     dynamics    r = M (v - v_star - w) - h kappa F(t_f, q_k (+) force_d d, f_0 + f_v v) = 0
//                 where forces are split, also + r_0 - potential_h F_p
//                 M at q_k (+) mass_d d, that of w at q_k (+) mass_w d,  G* at q_k (+) star_d d
//     joints      U = G(q_{k+1})' v + g_t = 0   and   g(q_{k+1}) = 0   (of speeds: drivers.c)
//     contacts    the law of friction and impact in (U, P); positions as the scheme says
//
// of the theta-method: d = h v_theta, v_theta = (1 - theta) v_k + theta v, forces, masses and
// directions at q_k (+) theta d.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/scheme.h"
#include "solvers/step/rows.h"

// --- Projection ----------------------------------------------------------------------------------

void projection_force(LashSim* sim, const Step* step, double* x) {
    const LashSystem* system = sim->system;
    const double* G = step->stencil.projects_at_star ? step->G_star : step->G;
    lash_rows_apply(system, step->list, 0, step->list->bilateral, NULL, G, 1, step->tau, x);
    for (int k = 0; k < step->nn; ++k) {
        const LashInteraction* item = &step->list->item[step->normal[k]];
        double only_normal[LASH_MAX_ROWS] = {step->tau[item->row]};
        lash_row_apply(system, item, G, 1, only_normal, x);
    }
}

// --- Places --------------------------------------------------------------------------------------

// q_k (+) share d
static const double* place_at(LashSim* sim, const Step* step, double share, double* room) {
    if (share == 0) return sim->now.q;
    if (share == 1) return step->q_end;
    sim->system->move(sim->system, sim->now.q, share, step->d, room);
    return room;
}

bool mass_factor(LashSim* sim, const double* q) {
    Operators* operators = &sim->operators;
    if (sim->system->constant_mass && operators->mass_known) return true;
    sim->system->mass(sim->system, sim->work, q, operators->A_values);
    operators->mass_known = lash_block_lu_factor(operators->N, operators->A_values);
    return operators->mass_known;
}

// Where contacts have an operator of their own masses do not couple bodies (motions_create).
void mass_multiply(const LashSim* sim, const double* x, double* y) {
    const Operators* operators = &sim->operators;
    if (operators->contacts != NULL)
        lash_block_multiply_diagonal(sim->system, operators->M_values, x, y);
    else
        lash_block_multiply(sim->system, operators->M_values, x, y);
}

// w at the directions last evaluated; masses at q_w, NULL: as last time.
static void impulses_velocity(LashSim* sim, Step* step, const double* q_w) {
    memset(step->w, 0, (size_t)sim->system->nv * sizeof *step->w);
    if (step->list->bilateral == 0 && step->nc == 0) return;
    lash_rows_apply(sim->system, step->list, 0, step->list->count, step->active, step->G_star, 1,
                    step->P, step->w);
    if (q_w == NULL || mass_factor(sim, q_w)) lash_block_lu_solve(sim->operators.N, step->w);
}

// w in the increment: of the first iterate directions are not known yet, and none is in it.
static void add_impulses(LashSim* sim, Step* step) {
    int nv = sim->system->nv;
    memset(step->w, 0, (size_t)nv * sizeof *step->w);
    if (step->correction > 0) impulses_velocity(sim, step, NULL);
    memcpy(step->w_used, step->w, (size_t)nv * sizeof *step->w);
    lash_axpy(nv, step->stencil.d_w, step->w, step->d);
}

void residual_places(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const Stencil* stencil = &step->stencil;
    int nv = system->nv;
    lash_combine(nv, stencil->d_0, stencil->d_v, step->v, step->d);
    lash_combine(nv, stencil->f_0, stencil->f_v, step->v, step->v_force);
    if (step->levels == POSITIONS) lash_axpy(nv, 1, step->shift, step->d);
    if (stencil->d_w != 0) add_impulses(sim, step);
    system->move(system, sim->now.q, 1, step->d, step->q_end);
    step->q_force = stencil->force_place;
    if (step->q_force == NULL) step->q_force = place_at(sim, step, stencil->force_d, step->room[0]);
    step->q_star = step->q_force;
    if (stencil->star_d != stencil->force_d)
        step->q_star = place_at(sim, step, stencil->star_d, step->room[1]);
    if (stencil->star_place != NULL) step->q_star = stencil->star_place;
    step->q_mass = step->q_force;
    if (stencil->mass_d != stencil->force_d)
        step->q_mass = place_at(sim, step, stencil->mass_d, step->room[2]);
    if (stencil->mass_place != NULL) step->q_mass = stencil->mass_place;
    step->q_w = step->q_star;
    if (stencil->mass_w != stencil->star_d)
        step->q_w = place_at(sim, step, stencil->mass_w, step->room[3]);
}

bool sim_evaluate(LashSim* sim, double t, const double* q, const uint8_t* wanted, double* g,
                  double* g_t, double* G) {
    bool good = sim->system->evaluate(sim->system, sim->work, t, q, wanted, g, g_t, G);
    sim->step.outside = sim->step.outside || !good;
    return good;
}

// --- Rows ----------------------------------------------------------------------------------------

// A contact that has a place at the end of the step but none where its impulse would point: it
// points as at the end.
static void complete_directions(const LashSim* sim, Step* step) {
    for (int i = step->list->bilateral; i < step->list->count; ++i) {
        const LashInteraction* item = &step->list->item[i];
        if (!step->wanted[i] || item->kind != LASH_UNILATERAL) continue;
        if (step->g_star[item->row] < INFINITY || step->g[item->row] == INFINITY) continue;
        int n = 0;
        for (int b = 0; b < item->touched; ++b) n += lash_block_size(sim->system, item->block[b]);
        memcpy(step->G_star + item->offset, step->G + item->offset,
               (size_t)(n * item->rows) * sizeof *step->G);
        memcpy(step->g_t_star + item->row, step->g_t + item->row,
               (size_t)item->rows * sizeof *step->g_t);
    }
}

void copy_directions(Step* step) {
    memcpy(step->G_star, step->G, (size_t)step->list->G_size * sizeof *step->G);
    memcpy(step->g_t_star, step->g_t, (size_t)step->list->rows * sizeof *step->g_t);
}

bool residual_rows(LashSim* sim, Step* step) {
    const Stencil* stencil = &step->stencil;
    if (step->levels == GAPS) return sim->scheme->rows(sim, step);
    double t_end = step->t0 + step->h;
    bool at_start = stencil->star_d == 0 && stencil->star_place == NULL;
    bool at_end = stencil->star_d == 1, rows_at_star = at_start || stencil->rows_at_star;
    double* g_t_star = stencil->law == LASH_FREMOND ? step->g_t_star : NULL;
    if (!rows_at_star && !at_end &&
        !sim_evaluate(sim, stencil->t_star, step->q_star, step->wanted, step->g_star, g_t_star,
                      step->G_star))
        return false;
    if (!sim_evaluate(sim, t_end, step->q_end, step->wanted, step->g, step->g_t,
                      rows_at_star ? NULL : step->G))
        return false;
    drivers_hold(sim, step, step->g_t, step->g);
    // Rows and impulses at one place, at the start of the step or in it; the gaps are those of the end.
    if (rows_at_star && !sim_evaluate(sim, stencil->t_star, step->q_star, step->wanted,
                                      step->g_star, step->g_t, step->G))
        return false;
    if (rows_at_star || at_end)
        copy_directions(step);
    else
        complete_directions(sim, step);
    return true;
}

// --- Errors --------------------------------------------------------------------------------------

// Forces of the potential have another weight, and those of the start take part.
static void split_forces(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const Stencil* stencil = &step->stencil;
    Scratch scratch = scratch_begin(sim);
    double* F = scratch_velocity(sim);
    system->conservative(system, sim->work, stencil->t_force, step->q_force, F);
    for (int i = 0; i < system->nv; ++i)
        step->r[i] += stencil->r_0[i] - stencil->potential_h * F[i];
    scratch_end(sim, scratch);
}

// r of the dynamics. Where masses are constant, or taken at one place, M w is G* P.
static void dynamics(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const Stencil* stencil = &step->stencil;
    double *M = sim->operators.M_values, h = stencil->force_h;
    bool apart = !system->constant_mass && stencil->mass_w != stencil->mass_d;
    if (apart || stencil->d_w != 0) impulses_velocity(sim, step, step->q_w);
    if (!system->constant_mass) system->mass(system, sim->work, step->q_mass, M);
    system->forces(system, sim->work, stencil->t_force, step->q_force, step->v_force, step->F);
    Scratch scratch = scratch_begin(sim);
    double* jump = scratch_velocity(sim);
    lash_combine(system->nv, step->v, -1, stencil->v_star, jump);
    if (apart) lash_axpy(system->nv, -1, step->w, jump);
    mass_multiply(sim, jump, step->r);
    scratch_end(sim, scratch);
    lash_axpy(system->nv, -h, step->F, step->r);
    if (stencil->potential_h != 0) split_forces(sim, step);
    if (apart) return;
    if (sim->jam.tried)
        jam_impulses(sim, step);
    else
        lash_rows_apply(system, step->list, 0, step->list->count, step->active, step->G_star, -1,
                        step->P, step->r);
}

// U of joints and contacts.
static void velocities(LashSim* sim, Step* step) {
    const LashSystem* system = sim->system;
    const LashInteractionList* list = step->list;
    bool fremond = step->stencil.law == LASH_FREMOND;
    lash_rows_velocity(system, list, 0, list->bilateral, NULL, step->G, step->v, step->U);
    lash_rows_velocity(system, list, list->bilateral, list->count, step->wanted, law_rows(step),
                       step->v, step->U);
    lash_axpy(list->bilateral_rows, 1, step->g_t, step->U);
    const double* g_t = fremond ? step->g_t_star : step->g_t;
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        for (int k = item->row; k < item->row + item->rows && step->wanted[i]; ++k)
            step->U[k] += g_t[k];
    }
    if (fremond || step->stencil.rows_at_star) star_start(sim, step);
}

static void joint_errors(Step* step) {
    double velocity = 0, position = 0;
    for (int i = 0; i < step->list->bilateral; ++i) {
        const LashInteraction* item = &step->list->item[i];
        bool moves = step->levels != GAPS || item->kind == LASH_BILATERAL_VELOCITY;
        for (int k = item->row; k < item->row + item->rows; ++k) {
            double U = moves ? fabs(step->U[k]) : 0, g = fabs(step->g[k]);
            if (!(U <= velocity)) {
                velocity = worse(velocity, U);
                step->worst_velocity = item->id;
            }
            if (!(g <= position)) {
                position = worse(position, g);
                step->worst_position = item->id;
            }
        }
    }
    step->velocity_error = velocity;
    step->position_error = position;
}

void residual_answer(LashSim* sim, Step* step) {
    memcpy(step->answer, step->r, (size_t)sim->system->nv * sizeof *step->answer);
    lash_block_lu_solve(sim->operators.A, step->answer);
}

// The largest of x (nv), turning at the radius of gyration.
static double largest_velocity(const LashSim* sim, const double* x) {
    double largest = 0;
    for (int i = 0; i < sim->system->nv; ++i) largest = worse(largest, sim->weight[i] * fabs(x[i]));
    return largest;
}

// The velocity error that r stands for, M^-1 r, in m/s; where A is near enough to M, A^-1 r.
static double dynamics_error(LashSim* sim, Step* step) {
    int nv = sim->system->nv;
    Scratch scratch = scratch_begin(sim);
    const double* error = step->answer;
    bool couples = attempt_couples(step->attempt);
    if (!couples) residual_answer(sim, step);
    if (couples || sim->operators.metric != METRIC_SHARED) {
        double* x = scratch_velocity(sim);
        memcpy(x, step->r, (size_t)nv * sizeof *x);
        lash_block_lu_solve(sim->operators.M, x);
        error = x;
    }
    double largest = largest_velocity(sim, error);
    for (int i = 0; i < nv && step->stencil.d_w != 0; ++i) // w of the increment is an older one
        largest = worse(largest, sim->weight[i] * fabs(step->w[i] - step->w_used[i]));
    scratch_end(sim, scratch);
    return largest;
}

void residual_errors(LashSim* sim, Step* step) {
    dynamics(sim, step);
    if (step->levels != GAPS) velocities(sim, step);
    joint_errors(step);
    step->dynamics_error = dynamics_error(sim, step);
    if (!(step->dynamics_error + step->velocity_error + step->position_error < INFINITY))
        fault_of_iterate(sim, step);
    contacts_errors(sim, step);
    if (attempt_couples(step->attempt) && step->levels == POSITIONS)
        step->position_error = worse(step->position_error, contact_newton_motion_error(sim, step));
}

// --- An iterate that passes ----------------------------------------------------------------------

void iterate_keep(const LashSim* sim, Step* step) {
    size_t nv = (size_t)sim->system->nv, rows = (size_t)step->list->rows;
    memcpy(step->kept, step->v, nv * sizeof *step->v);
    memcpy(step->kept + nv, step->P, rows * sizeof *step->P);
    memcpy(step->kept + nv + rows, step->tau, rows * sizeof *step->tau);
    memcpy(step->kept + nv + 2 * rows, step->P_low, rows * sizeof *step->P_low);
    memcpy(step->kept_shift, step->shift, nv * sizeof *step->shift);
}

void iterate_restore(const LashSim* sim, Step* step) {
    size_t nv = (size_t)sim->system->nv, rows = (size_t)step->list->rows;
    memcpy(step->v, step->kept, nv * sizeof *step->v);
    memcpy(step->P, step->kept + nv, rows * sizeof *step->P);
    memcpy(step->tau, step->kept + nv + rows, rows * sizeof *step->tau);
    memcpy(step->P_low, step->kept + nv + 2 * rows, rows * sizeof *step->P_low);
    memcpy(step->shift, step->kept_shift, nv * sizeof *step->shift);
}

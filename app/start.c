// Errors of the start: g(t, q) and U = G'v + dg/dt of every bilateral row, straight from the
// system.
#include "app/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/json_scan.h"
#include "core/arena.h"

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

AppStart app_start_errors(const LashSystem* system, LashSim* sim, double h) {
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
    return start;
}

// "line 3, column 13: joints[0]" of the joint that an interaction belongs to ("hinge",
// "hinge.driver").
void app_start_place(const LashModel* model, const char* name, char* where, size_t size) {
    snprintf(where, size, "start");
    for (int i = 0; i < model->joints; ++i) {
        size_t length = strlen(model->joint[i].name);
        bool same = strncmp(model->joint[i].name, name, length) == 0;
        if (!same || (name[length] != '\0' && name[length] != '.')) continue;
        char path[32];
        snprintf(path, sizeof path, "joints[%d]", i);
        AppPlace place = app_json_find(model->text, model->text_bytes, path);
        snprintf(where, size, "line %d, column %d: %s", place.line, place.column, path);
        return;
    }
}

// Schatzman-Paoli solves contacts at position level, where the load of a joint is not an impulse of
// the same step.
static bool check_scheme(const LashModel* model, LashError* error) {
    if (model->simulation.settings.scheme != LASH_SCHATZMAN_PAOLI) return true;
    for (int i = 0; i < model->joints; ++i) {
        if (!(model->joint[i].friction > 0)) continue;
        char where[96];
        app_start_place(model, model->joint[i].name, where, sizeof where);
        return lash_error_set(error, LASH_ERROR_MODEL, where,
                              "friction in joints is not known to the scheme schatzman-paoli; use "
                              "combined, moreau-jean or direct");
    }
    return true;
}

bool app_start_prepare(const LashModel* model, const LashSystem* system, LashSim* sim,
                       double* moved, LashError* error) {
    const LashSettings* settings = &model->simulation.settings;
    AppStart start = app_start_errors(system, sim, settings->h);
    *moved = 0;
    if (!check_scheme(model, error)) return false;
    bool position_good = start.position_error <= settings->tolerance_position;
    bool velocity_good = start.velocity_error <= settings->tolerance_velocity;
    if (position_good && velocity_good) return true;
    char where[96];
    app_start_place(model, position_good ? start.velocity_name : start.position_name, where,
                    sizeof where);
    if (model->simulation.assemble) {
        if (lash_sim_assemble(sim, moved)) return true;
        return lash_error_set(
            error, LASH_ERROR_MODEL, where,
            "no consistent start was found near the given one: '%s' is off by %g m or rad",
            start.position_name, start.position_error);
    }
    if (!position_good) {
        return lash_error_set(
            error, LASH_ERROR_MODEL, where,
            "the start violates joint '%s' by %.3g (m or rad; allowed %g); 'lash check' shows "
            "the nearest consistent start, \"assemble\": true uses it",
            start.position_name, start.position_error, settings->tolerance_position);
    }
    return lash_error_set(
        error, LASH_ERROR_MODEL, where,
        "the velocities at the start violate joint '%s' by %.3g (m/s or rad/s; allowed %g); "
        "'lash check' shows the nearest consistent start, \"assemble\": true uses it",
        start.velocity_name, start.velocity_error, settings->tolerance_velocity);
}

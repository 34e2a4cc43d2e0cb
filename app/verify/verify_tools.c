// Runs of the papers' problems, measured from outside, and verdicts.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/verify/verify_internal.h"
#include "core/arena.h"

// ---- Verdicts -----------------------------------------------------------------------------------

bool verdict_add(Verdict* verdict, bool ok, const char* format, ...) {
    size_t used = strlen(verdict->got);
    if (used > 0 && used + 3 < sizeof verdict->got) {
        strcpy(verdict->got + used, "; ");
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->got + used, sizeof verdict->got - used, format, arguments);
    va_end(arguments);
    verdict->pass = verdict->pass && ok;
    return ok;
}

bool verdict_range(Verdict* verdict, const char* name, double value, double low, double high) {
    return verdict_add(verdict, value >= low && value <= high, "%s %.6g", name, value);
}

void verdict_picture(Verdict* verdict, const char* title, const char* x_label, const char* unit,
                     int points, const double* x) {
    Picture* picture = &verdict->picture;
    LASH_ASSERT(picture->points == 0 && points > 0);
    snprintf(picture->title, sizeof picture->title, "%s", title);
    picture->x_label = x_label;
    picture->unit = unit;
    picture->points = points;
    picture->x = lash_alloc((size_t)points * sizeof *x);
    memcpy(picture->x, x, (size_t)points * sizeof *x);
}

void verdict_curve(Verdict* verdict, const char* name, const double* y) {
    Picture* picture = &verdict->picture;
    if (picture->curves == CURVES) return;
    int k = picture->curves++;
    picture->name[k] = name;
    picture->y[k] = lash_alloc((size_t)picture->points * sizeof *y);
    memcpy(picture->y[k], y, (size_t)picture->points * sizeof *y);
}

void verdict_free(Verdict* verdict) {
    Picture* picture = &verdict->picture;
    lash_free(picture->x);
    for (int k = 0; k < picture->curves; ++k) lash_free(picture->y[k]);
    *picture = (Picture){0};
}

// ---- Operators ----------------------------------------------------------------------------------

// Attempts with contacts, by operator, since the claim began: claims run one after the other.
static OperatorCounts used;

static void add_attempts(const char* name, long count) {
    for (int i = 0; i < OPERATORS; ++i) {
        if (used.name[i] == NULL) used.name[i] = name;
        if (strcmp(used.name[i], name) != 0) continue;
        used.count[i] += count;
        return;
    }
}

static void count_operator(void* context, const LashAttempt* attempt) { // LashTrace
    (void)context;
    if (attempt->contacts > 0) add_attempts(attempt->operator_name, 1);
}

LashSim* verify_sim(const LashSystem* system, const LashSettings* settings) {
    LashSim* sim = lash_sim_create(system, settings);
    lash_sim_set_trace(sim, count_operator, NULL);
    return sim;
}

void verify_operators_begin(void) {
    used = (OperatorCounts){0};
}

OperatorCounts verify_operators_now(void) {
    return used;
}

void verify_operators_add(const OperatorCounts* more) {
    for (int i = 0; i < OPERATORS; ++i) {
        if (more->count[i] > 0) add_attempts(more->name[i], more->count[i]);
    }
}

void verify_operators(char* text, size_t size) {
    long all = 0;
    size_t at = 0;
    for (int i = 0; i < OPERATORS; ++i) all += used.count[i];
    snprintf(text, size, "no contacts");
    for (int i = 0; i < OPERATORS && used.count[i] > 0 && at < size; ++i)
        at += (size_t)snprintf(text + at, size - at, "%s%s %.3g %%", at > 0 ? ", " : "",
                               used.name[i], 100.0 * (double)used.count[i] / (double)all);
}

// ---- Runs ---------------------------------------------------------------------------------------

LashSettings verify_settings(LashScheme scheme, double h) {
    LashSettings settings = lash_settings();
    settings.scheme = scheme;
    settings.h = h;
    return settings;
}

LashSettings verify_explicit(LashScheme scheme, double h, double gamma) {
    LashSettings settings = verify_settings(scheme, h);
    settings.forecast = LASH_FORECAST_EXPLICIT;
    settings.gamma = gamma;
    return settings;
}

// Gaps and normal velocities from q and v.
static void measure(Run* run) {
    const LashSystem* system = run->system;
    double g[32], g_t[32], G[256];
    const LashInteractionList* list =
        system->collect(system, run->work, run->t, run->q, run->v, run->h, 2);
    LASH_ASSERT(list->rows <= 32 && list->G_size <= 256);
    LASH_ASSERT(list->count - list->bilateral <= RUN_CONTACTS);
    system->evaluate(system, run->work, run->t, run->q, NULL, g, g_t, G);
    run->contacts = list->count - list->bilateral;
    for (int c = 0; c < run->contacts; ++c) {
        const LashInteraction* item = &list->item[list->bilateral + c];
        const double* column = G + item->offset;
        run->gap[c] = g[item->row];
        run->U[c] = g_t[item->row];
        for (int b = 0; b < item->touched; ++b) {
            int n = lash_block_size(system, item->block[b]);
            const double* v = run->v + system->block_start[item->block[b]];
            for (int k = 0; k < n; ++k) run->U[c] += column[k] * v[k];
            column += n * item->rows;
        }
        run->violation = fmax(run->violation, -run->gap[c]);
    }
}

Run run_begin(LashLagrangian* model, const LashSettings* settings) {
    Run run = {.model = model, .system = lash_lagrangian_system(model), .h = settings->h};
    LASH_ASSERT(run.system->nv <= 8);
    run.work = run.system->work_create(run.system);
    run.sim = verify_sim(run.system, settings);
    lash_sim_state(run.sim, &run.q, &run.v);
    measure(&run);
    return run;
}

bool run_step(Run* run) {
    size_t bytes = (size_t)run->system->nv * sizeof(double);
    memcpy(run->q_before, run->q, bytes);
    memcpy(run->v_before, run->v, bytes);
    memcpy(run->U_before, run->U, sizeof run->U);
    run->info = lash_sim_step(run->sim);
    if (run->info.outcome != LASH_CONVERGED) {
        run->failed = true;
        return false;
    }
    run->t = lash_sim_time(run->sim);
    lash_sim_state(run->sim, &run->q, &run->v);
    measure(run);
    const LashInteractionList* list = lash_sim_interactions(run->sim);
    const double* P = lash_sim_impulses(run->sim);
    for (int c = 0; c < run->contacts; ++c) {
        const LashInteraction* item = &list->item[list->bilateral + c];
        run->P[c] = P[item->row];
        run->P_t[c] = item->rows > 1 ? P[item->row + 1] : 0;
    }
    run->steps += 1;
    run->newton += run->info.newton;
    run->projection += run->info.projection;
    run->index_set += run->info.index_set;
    if (run->info.newton > run->newton_max) run->newton_max = run->info.newton;
    if (run->info.projection > run->projection_max) run->projection_max = run->info.projection;
    if (run->info.index_set > run->index_set_max) run->index_set_max = run->info.index_set;
    return true;
}

void run_to(Run* run, double t) {
    while (run->t < t - 0.5 * run->h && run_step(run)) continue;
}

void run_end(Run* run) {
    run->system->work_destroy(run->system, run->work);
    lash_sim_destroy(run->sim);
    lash_lagrangian_destroy(run->model);
}

double run_energy(const Run* run) {
    LashEnergy energy = lash_sim_energy(run->sim);
    return energy.kinetic + energy.potential;
}

double run_projected(const Run* run, double theta) {
    double largest = 0;
    for (int i = 0; i < run->system->nv; ++i) {
        double v = (1 - theta) * run->v_before[i] + theta * run->v[i];
        largest = fmax(largest, fabs(run->q[i] - run->q_before[i] - run->h * v));
    }
    return largest;
}

double fitted_slope(int n, const double* x, const double* y) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; ++i) {
        double a = log(x[i]), b = log(y[i]);
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

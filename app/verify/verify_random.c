// Random linear systems with contact and friction, and the energy balance of their steps.
//
//     M dv + (C v + K q - load) dt = G dP,   E = v'Mv/2 + q'Kq/2,   work of the load: load . dq
#include <math.h>
#include <string.h>

#include "app/verify/verify_internal.h"
#include "solvers/step/rows.h"

enum { N = RANDOM_N };

double random_uniform(Random* random, double low, double high) { // splitmix64
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * 0x1p-53 * (double)((z ^ (z >> 31)) >> 11);
}

double random_normal(Random* random) {
    double u = random_uniform(random, 0, 1), a = random_uniform(random, 0, 8 * atan(1));
    return sqrt(-2 * log(1 - u)) * cos(a);
}

// A A' + floor I
static void random_positive(Random* random, double size, double floor_value, double* matrix) {
    double A[N * N];
    for (int i = 0; i < N * N; ++i) A[i] = size * random_normal(random);
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            double sum = i == j ? floor_value : 0;
            for (int k = 0; k < N; ++k) sum += A[i + N * k] * A[j + N * k];
            matrix[i + N * j] = sum;
        }
    }
}

RandomLinear random_linear(Random* random, int rows, double e_max) {
    RandomLinear r = {.rows = rows, .contacts = 4 - rows};
    random_positive(random, 0.5, 0.5, r.M);
    random_positive(random, 0.15, 0, r.C);
    random_positive(random, 1.5, 0.5, r.K);
    for (int i = 0; i < N; ++i) {
        r.load[i] = 2 * random_normal(random);
        r.v[i] = random_normal(random);
    }
    static const char* const names[RANDOM_CONTACTS] = {"a", "b", "c"};
    for (int c = 0; c < r.contacts; ++c) {
        LashLinearContact* contact = &r.contact[c];
        *contact = (LashLinearContact){.kind = LASH_UNILATERAL, .rows = rows, .name = names[c]};
        contact->e = random_uniform(random, 0, e_max);
        contact->mu = rows > 1 ? random_uniform(random, 0, 1) : 0;
        for (int k = 0; k < rows; ++k) {
            LashLinearRow* row = &contact->row[k];
            row->entries = N;
            row->g0 = k == 0 ? random_uniform(random, 0, 0.3) : 0;
            for (int i = 0; i < N; ++i) {
                row->dof[i] = i;
                row->coefficient[i] = random_normal(random);
            }
        }
    }
    return r;
}

void random_push(const RandomLinear* data, double t, double* load) {
    for (int i = 0; i < N; ++i) load[i] = data->push[i] * sin(3 * t + i);
}

static void load_of_time(const void* context, double t, double* load) {
    random_push(context, t, load);
}

LashLagrangian* random_linear_create(const RandomLinear* data) {
    enum { W = N - 1, WIDTH = 2 * W + 1 };
    double band[3][N * WIDTH] = {0};
    const double* matrix[3] = {data->M, data->C, data->K};
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < N; ++j) band[k][i * WIDTH + j - i + W] = matrix[k][i + N * j];
        }
    }
    LashLinearDef def = lash_linear_def();
    def.n = N;
    def.bandwidth = W;
    def.M = band[0];
    def.C = band[1];
    def.K = band[2];
    def.load = data->load;
    def.q0 = data->q;
    def.v0 = data->v;
    def.contact = data->contact;
    def.contacts = data->contacts;
    def.length = 1;
    for (int i = 0; i < N; ++i) {
        if (data->push[i] == 0) continue;
        def.load_of_time = load_of_time;
        def.context = data;
        def.context_bytes = sizeof *data;
    }
    return lash_linear_create(&def);
}

static double quadratic(const double* A, const double* x) {
    double sum = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) sum += x[i] * A[i + N * j] * x[j];
    }
    return sum;
}

static double row_velocity(const LashLinearRow* row, const double* v) {
    double sum = 0;
    for (int i = 0; i < row->entries; ++i) sum += row->coefficient[i] * v[row->dof[i]];
    return sum;
}

bool balanced_step(const RandomLinear* data, LashSim* sim, double theta, StepBalance* balance) {
    const double *q, *v;
    double q0[N], v0[N], dq[N], dv[N], v_theta[N];
    lash_sim_state(sim, &q, &v);
    memcpy(q0, q, sizeof q0);
    memcpy(v0, v, sizeof v0);
    double E0 = 0.5 * (quadratic(data->M, v) + quadratic(data->K, q));
    double h = -lash_sim_time(sim);
    if (lash_sim_step(sim).outcome != LASH_CONVERGED) return false;
    h += lash_sim_time(sim);
    lash_sim_state(sim, &q, &v);
    double E1 = 0.5 * (quadratic(data->M, v) + quadratic(data->K, q)), work = 0;
    for (int i = 0; i < N; ++i) {
        dq[i] = q[i] - q0[i];
        dv[i] = v[i] - v0[i];
        v_theta[i] = (1 - theta) * v0[i] + theta * v[i];
        work += data->load[i] * dq[i];
    }
    work -= h * quadratic(data->C, v_theta);
    *balance = (StepBalance){.change = E1 - E0 - work, .tangential = -INFINITY};
    const LashInteractionList* list = lash_sim_interactions(sim);
    const double* P = lash_sim_impulses(sim);
    double contact_work = 0, mean_work = 0, jump_work = 0, scale = 1 + fabs(E0) + fabs(E1);
    for (int c = 0; c < data->contacts; ++c) {
        const LashLinearContact* contact = &data->contact[c];
        const double* p = P + list->item[c].row;
        if (!(p[0] > 0)) continue;
        double U = row_velocity(&contact->row[0], v0), friction = 0;
        double normal = p[0] * row_velocity(&contact->row[0], v_theta);
        for (int k = 1; k < contact->rows; ++k)
            friction += p[k] * row_velocity(&contact->row[k], v_theta);
        balance->normal =
            fmax(balance->normal, fabs(normal - (1 - theta * (1 + contact->e)) * U * p[0]) / scale);
        balance->tangential = fmax(balance->tangential, friction);
        for (int k = 0; k < contact->rows; ++k) {
            double U0 = row_velocity(&contact->row[k], v0), U1 = row_velocity(&contact->row[k], v);
            mean_work += p[k] * 0.5 * (U0 + U1);
            jump_work += p[k] * (U1 - U0);
        }
        contact_work += normal + friction;
        ++balance->pushing;
        balance->opening += U > 0;
    }
    double inner = (0.5 - theta) * (quadratic(data->M, dv) + quadratic(data->K, dq));
    balance->identity = fabs(balance->change - inner - contact_work) / scale;
    balance->alternative =
        fabs(balance->change - inner + (0.5 - theta) * jump_work - mean_work) / scale;
    return true;
}

// Steps of random systems; U_N,k <= 0 for every contact that acts (forecast (24) of [A16]).
Balance balance_of(LashLaw law, double theta, double e_max, uint64_t seed) {
    Random random = {seed};
    Balance sum = {.gain = -INFINITY};
    for (int k = 0; k < 60; ++k) {
        RandomLinear data = random_linear(&random, 1 + k % 3, e_max);
        LashLagrangian* model = random_linear_create(&data);
        LashSettings set = verify_settings(LASH_MOREAU_JEAN, 5e-3);
        set.theta = theta;
        set.law = law;
        set.forecast = LASH_FORECAST_END;
        LashSim* sim = verify_sim(lash_lagrangian_system(model), &set);
        for (int i = 0; i < 400; ++i) {
            StepBalance b;
            if (!balanced_step(&data, sim, theta, &b)) {
                ++sum.failed;
                break;
            }
            sum.identity = fmax(sum.identity, b.identity);
            sum.alternative = fmax(sum.alternative, b.alternative);
            if (b.pushing == 0) continue;
            sum.normal = fmax(sum.normal, b.normal);
            sum.gain = fmax(sum.gain, b.change);
            sum.pushing += b.pushing;
        }
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
    return sum;
}

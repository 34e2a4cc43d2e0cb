// The reduced system of a friction problem, which all Newton methods here solve.
//
// Every contact is open, sticks or slips. For given statuses the problem is one system in x,
//
//     P = E x,    F' (W E x + b) + D x = 0
//
//     open:           no unknown,                      P = 0
//     stick:          E = I,                           rows U = 0
//     slip, planar:   E = (1, mu s),                   row  U_N = 0
//     slip, spatial:  E = [(1, mu d), (0, d_perp)],    rows U_N = 0,  U_perp + k x_perp = 0
//
// with z = P_T - rho U_T, d = z / |z|, d_perp = (-d_2, d_1), s = sign z, p = P_N - rho U_N,
// rho = 1 / lambda and
//
//     k = (|z| - mu p) / (rho mu p),
//
// which is the Newton step of the Alart-Curnier function (P. Alart, A. Curnier, CMAME 92, 1991)
// after elimination. Statuses come from the same z and p:
//
//     open:  p <= 0      stick:  |z| <= mu p      slip:  |z| > mu p
//
// Joint rows always stick. A contact without friction slips in no direction: one unknown.
#include "solvers/cone/reduced.h"

#include <math.h>

// Adds the unknown whose row is c1 (row) + c2 (row + 1), D on the diagonal.
static inline void add_row(Reduced* reduced, int row, double unit, double c1, double c2, double D) {
    int n = reduced->n++;
    reduced->row[n] = row;
    reduced->c1[n] = c1 * unit;
    reduced->c2[n] = c2 * unit;
    reduced->D[n] = D * unit;
}

static ContactStatus decide_status(const LocalContact* contact, double threshold, double p,
                                   double z1, double z2) {
    if (contact->kind == LASH_CONTACT_BILATERAL) return STATUS_STICK;
    if (!(p * contact->lambda > threshold)) return STATUS_OPEN;
    if (contact->rows == 1) return STATUS_STICK;
    return z1 * z1 + z2 * z2 <= contact->mu * contact->mu * p * p ? STATUS_STICK : STATUS_SLIP;
}

static inline void decide_contact(Reduced* reduced, LocalContact* contact, double threshold,
                                  const double* P, const double* U) {
    int rows = contact->rows, row = contact->row;
    double mu = contact->mu, rho = 1 / contact->lambda, p = P[0] - rho * U[0];
    double z1 = rows > 1 ? P[1] - rho * U[1] : 0, z2 = rows > 2 ? P[2] - rho * U[2] : 0;
    double unit = reduced->unit == ROWS_ARE_IMPULSES ? rho : 1;
    ContactStatus status = decide_status(contact, threshold, p, z1, z2);
    reduced->changed += status != contact->status;
    contact->status = (uint8_t)status;
    contact->unknowns = 0;
    if (status == STATUS_OPEN) return;
    contact->unknowns = 1;
    add_row(reduced, row, unit, 1, 0, 0);
    if (status == STATUS_STICK) {
        contact->unknowns = (uint8_t)rows;
        for (int r = 1; r < rows; ++r) add_row(reduced, row + r, unit, 1, 0, 0);
    } else if (rows == 2 || mu == 0) {
        contact->d[0] = z1 > 0 ? 1 : -1;
        contact->d[1] = 0;
    } else {
        double z = sqrt(z1 * z1 + z2 * z2), push = mu * p;
        contact->d[0] = z1 / z;
        contact->d[1] = z2 / z;
        contact->unknowns = 2;
        add_row(reduced, row + 1, unit, -contact->d[1], contact->d[0], (z - push) / (rho * push));
    }
}

void reduced_decide(Reduced* reduced, double threshold, const double* P, const double* U) {
    reduced->n = 0;
    reduced->changed = 0;
    for (int at = 0; at < reduced->problem->contacts; ++at) {
        int i = reduced->order != NULL ? reduced->order[at] : at;
        LocalContact* contact = reduced->contact + i;
        reduced->first[i] = reduced->n;
        decide_contact(reduced, contact, threshold, P + contact->row, U + contact->row);
    }
}

// Column k of W E for one contact: the sum of its columns of W with these weights.
typedef struct Columns {
    double a0, a1, a2;
    const double *w0, *w1, *w2;
} Columns;

// The contact's columns of W begin at w.
static inline Columns columns_of(const LocalContact* contact, int k, const double* w, size_t ld) {
    Columns columns = {1 - k, 0, 0, w, w, w};
    if (contact->status == STATUS_STICK) {
        columns.a0 = 1;
        columns.w0 = w + (size_t)k * ld;
    } else if (contact->rows > 1 && contact->mu > 0) {
        columns.a1 = k == 0 ? contact->mu * contact->d[0] : -contact->d[1];
        columns.a2 = k == 0 ? contact->mu * contact->d[1] : contact->d[0];
        columns.w1 = w + ld;
        columns.w2 = contact->rows == 3 ? w + 2 * ld : w + ld;
    }
    return columns;
}

// out (to - from) = rows from .. to of F' t; t[0] belongs to row `base`.
static inline void gather(const Reduced* reduced, int from, int to, int base, const double* t,
                          double* restrict out) {
    const double *c1 = reduced->c1 + from, *c2 = reduced->c2 + from;
    const int32_t* row = reduced->row + from;
    for (int j = 0; j < to - from; ++j)
        out[j] = c1[j] * t[row[j] - base] + c2[j] * t[row[j] - base + 1];
}

LASH_VECTOR_CLONES void reduced_assemble(const Reduced* reduced, double* J, int ld, int fill) {
    const LashFrictionProblem* problem = reduced->problem;
    int n = reduced->n;
    double* t = reduced->t;
    t[problem->m] = 0;
    for (int i = 0; i < problem->contacts; ++i) {
        const LocalContact* contact = reduced->contact + i;
        const double* w = problem->W + (size_t)contact->row * (size_t)problem->ldw;
        for (int k = 0; k < contact->unknowns; ++k) {
            int j = reduced->first[i] + k;
            double* column = J + (size_t)j * (size_t)ld;
            const Columns c = columns_of(contact, k, w, (size_t)problem->ldw);
            for (int r = 0; r < problem->m; ++r)
                t[r] = c.a0 * c.w0[r] + (c.a1 * c.w1[r] + c.a2 * c.w2[r]);
            gather(reduced, 0, n, 0, t, column);
            for (int r = n; r < fill; ++r) column[r] = 0;
            column[j] += reduced->D[j];
        }
    }
}

void reduced_block(const Reduced* reduced, int i, int j, const double* W, int ld, double* B,
                   int ldb) {
    const LocalContact *of_rows = reduced->contact + i, *of_columns = reduced->contact + j;
    int from = reduced->first[i];
    double t[4];
    t[of_rows->rows] = 0;
    for (int k = 0; k < of_columns->unknowns; ++k) {
        const Columns c = columns_of(of_columns, k, W, (size_t)ld);
        for (int r = 0; r < of_rows->rows; ++r)
            t[r] = c.a0 * c.w0[r] + c.a1 * c.w1[r] + c.a2 * c.w2[r];
        gather(reduced, from, from + of_rows->unknowns, of_rows->row, t,
               B + (size_t)k * (size_t)ldb);
    }
}

LASH_VECTOR_CLONES void reduced_residual(const Reduced* reduced, const double* t, const double* x,
                                         double* r) {
    gather(reduced, 0, reduced->n, 0, t, r);
    for (int j = 0; j < reduced->n; ++j) r[j] += reduced->D[j] * x[j];
}

static inline bool slips(const LocalContact* contact) {
    return contact->status == STATUS_SLIP;
}

void reduced_extract(const Reduced* reduced, const double* P_all, double* x_all) {
    for (int i = 0; i < reduced->problem->contacts; ++i) {
        const LocalContact* contact = reduced->contact + i;
        const double* P = P_all + contact->row;
        double* x = x_all + reduced->first[i];
        if (!slips(contact)) {
            for (int r = 0; r < contact->unknowns; ++r) x[r] = P[r];
            continue;
        }
        x[0] = P[0];
        if (contact->unknowns == 2) x[1] = -contact->d[1] * P[1] + contact->d[0] * P[2];
    }
}

void reduced_expand(const Reduced* reduced, const double* x_all, double* P_all) {
    for (int i = 0; i < reduced->problem->contacts; ++i) {
        const LocalContact* contact = reduced->contact + i;
        const double* x = x_all + reduced->first[i];
        double* P = P_all + contact->row;
        int n = contact->unknowns;
        if (!slips(contact)) {
            for (int r = 0; r < contact->rows; ++r) P[r] = r < n ? x[r] : 0;
            continue;
        }
        double along = contact->mu * x[0], across = n == 2 ? x[1] : 0;
        P[0] = x[0];
        P[1] = along * contact->d[0] - across * contact->d[1];
        if (contact->rows == 3) P[2] = along * contact->d[1] + across * contact->d[0];
    }
}

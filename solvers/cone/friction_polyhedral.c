// Friction with a polyhedral cone as a mixed LCP, solved by pivoting.
//
//     0 <= c     perp  U_N                 >= 0         P_N = c
//     0 <= beta  perp  D' U_T + lambda e   >= 0         P_T = D beta,  D: m_C balanced directions
//     0 <= lambda perp mu c - e' beta      >= 0
//
// (D. Stewart, J. Trinkle, IJNME 39, 1996; M. Anitescu, F. Potra, Nonlinear Dynamics 14, 1997, who
// show that Lemke's method ends in a solution for b = G' v). In the plane the two directions are
// exact; frictionless contacts and joint rows are rows of the same problem, so that without spatial
// friction nothing is approximated at all. Rows and columns are scaled by 1 / sqrt(lambda), since
// masses may differ by many orders of magnitude.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/cone/lcp.h"

static const double TURN = 6.283185307179586;

typedef struct Polyhedral {
    Friction* friction;
    int directions;        // m_C in space
    int n;                 // rows of the LCP
    int32_t* at;           // (contacts + 1) first row of each contact
    double *A, *b, *z, *w; // (n x n), (n)
    double* E;             // (3 x n) the impulse of each unit of z, in the contact's rows
    uint8_t* joint;        // (n) free rows
    void* work;
} Polyhedral;

static int lcp_rows(int kind, double mu, int directions) {
    if (kind < 2 || mu == 0) return 1;
    return 2 + (kind == 2 ? 2 : directions);
}

static size_t numbers(int n) {
    size_t s = (size_t)n;
    return s * s + 6 * s + (s + 7) / 8 + lash_lcp_work_size(n) / sizeof(double) + 16;
}

// Room for any problem of at most so many contacts: of those, only the ones with few contacts use it.
size_t friction_polyhedral_size(int contacts, int m) {
    int few = contacts < LASH_POLYHEDRAL_CONTACTS ? contacts : LASH_POLYHEDRAL_CONTACTS;
    int smooth = contacts < LASH_NORM_ROWS ? contacts : LASH_NORM_ROWS; // without friction
    int rows = m < 3 * few ? m : 3 * few;
    size_t with = numbers(rows + (LASH_MAX_DIRECTIONS - 1) * few), without = numbers(smooth);
    return (with > without ? with : without) + (size_t)contacts + 1;
}

static Polyhedral begin(Friction* friction, int directions) {
    Polyhedral p = {.friction = friction, .directions = directions};
    double* v = friction->matrix;
    p.at = (int32_t*)v;
    v += friction->contacts + 1;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        p.at[i] = p.n;
        p.n += lcp_rows(contact->kind, contact->mu, directions);
    }
    size_t n = (size_t)p.n;
    p.A = v;
    v += n * n;
    p.b = v;
    p.z = v + n;
    p.w = v + 2 * n;
    p.E = v + 3 * n;
    v += 6 * n;
    p.joint = (uint8_t*)v;
    v += (n + 7) / 8;
    p.work = v;
    return p;
}

// Unit impulses of the variables of each contact.
static void set_directions(Polyhedral* cone) {
    Friction* friction = cone->friction;
    memset(cone->E, 0, 3 * (size_t)cone->n * sizeof(double));
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int rows = lcp_rows(contact->kind, contact->mu, cone->directions);
        double s = 1 / sqrt(contact->lambda), *E = cone->E + 3 * (size_t)cone->at[i];
        E[0] = s;
        for (int k = 1; k + 1 < rows; ++k) {
            double angle = TURN * (k - 1) / (rows - 2);
            if (contact->kind == LASH_CONTACT_PLANAR)
                E[3 * k + 1] = k == 1 ? s : -s;
            else {
                E[3 * k + 1] = s * cos(angle);
                E[3 * k + 2] = s * sin(angle);
            }
        }
        for (int k = 0; k < rows; ++k)
            cone->joint[cone->at[i] + k] = contact->kind == LASH_CONTACT_BILATERAL;
    }
}

// A_ij = E_i' W_ij E_j
static void add_block(Polyhedral* cone, int i, int j, const double* W, int ld) {
    const LocalContact *ci = cone->friction->contact + i, *cj = cone->friction->contact + j;
    for (int b = cone->at[j]; b < cone->at[j + 1]; ++b) {
        const double* e = cone->E + 3 * (size_t)b;
        double t[3] = {0, 0, 0};
        for (int s = 0; s < cj->rows; ++s)
            for (int r = 0; r < ci->rows; ++r) t[r] += W[(size_t)s * (size_t)ld + (size_t)r] * e[s];
        for (int a = cone->at[i]; a < cone->at[i + 1]; ++a) {
            const double* g = cone->E + 3 * (size_t)a;
            cone->A[(size_t)a + (size_t)b * (size_t)cone->n] =
                g[0] * t[0] + g[1] * t[1] + g[2] * t[2];
        }
    }
}

static void assemble(Polyhedral* cone) {
    Friction* friction = cone->friction;
    const LashFrictionProblem* problem = friction->problem;
    size_t n = (size_t)cone->n;
    memset(cone->A, 0, n * n * sizeof(double));
    cone->at[friction->contacts] = cone->n;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        if (problem->W != NULL)
            for (int j = 0; j < friction->contacts; ++j)
                add_block(cone, i, j,
                          problem->W + (size_t)contact->row +
                              (size_t)friction->contact[j].row * (size_t)problem->ldw,
                          problem->ldw);
        else
            for (int k = problem->sparse->pointer[i]; k < problem->sparse->pointer[i + 1]; ++k)
                add_block(cone, i, problem->sparse->column[k],
                          problem->sparse->values + problem->sparse->offset[k], contact->rows);
        for (int a = cone->at[i]; a < cone->at[i + 1]; ++a) {
            const double* g = cone->E + 3 * (size_t)a;
            cone->b[a] = 0;
            for (int r = 0; r < contact->rows; ++r)
                cone->b[a] += g[r] * problem->b[contact->row + r];
        }
        int rows = cone->at[i + 1] - cone->at[i], last = cone->at[i + 1] - 1;
        if (rows == 1) continue;
        for (int a = cone->at[i]; a <= last; ++a) { // lambda's column and row
            cone->A[(size_t)a + (size_t)last * n] = a > cone->at[i] && a < last ? 1 : 0;
            double entry = a < last ? -1 : 0;
            if (a == cone->at[i]) entry = contact->mu;
            cone->A[(size_t)last + (size_t)a * n] = entry;
        }
        cone->b[last] = 0;
    }
}

static void publish(const Polyhedral* cone) {
    Friction* friction = cone->friction;
    memset(friction->P, 0, (size_t)friction->m * sizeof(double));
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        for (int a = cone->at[i]; a < cone->at[i + 1]; ++a)
            for (int r = 0; r < contact->rows; ++r)
                friction->P[contact->row + r] += cone->E[3 * (size_t)a + (size_t)r] * cone->z[a];
    }
    friction_velocity(friction->problem, friction->P, friction->U);
}

LashLcpInfo friction_polyhedral(Friction* friction, int directions, double tolerance) {
    LashLcpInfo info = {LASH_FAILED, LASH_LCP_LEMKE, false, 0, INFINITY};
    Polyhedral p = begin(friction, directions);
    if (numbers(p.n) + (size_t)friction->contacts + 1 > friction->matrix_size)
        return info; // too large
    set_directions(&p);
    assemble(&p);
    LashLcpProblem problem = {p.n, p.A, p.n, p.b, p.joint};
    LashLcpSettings settings = lash_lcp_settings();
    settings.method = LASH_LCP_LEMKE;
    settings.tolerance = tolerance;
    settings.stop = friction->settings->stop;
    info = lash_lcp_solve(&problem, &settings, p.z, p.w, p.work);
    friction->iterations += info.iterations;
    if (info.outcome == LASH_FAILED) return info; // the point so far stays
    friction->singular = true;                    // not known: let the minimum norm decide
    publish(&p);
    return info;
}

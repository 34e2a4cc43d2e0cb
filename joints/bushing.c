// A bushing: six coordinates y of a frame in b against a frame in a, three along the axes of a and
// three angles (roll about x of b, pitch between, yaw about z of a), held by
//     f = -K (y - rest) - C dy/dt,      F = sum_i f_i g_i,      g_i = dy_i/dq
// with symmetric K and C that have no negative eigenvalue:
//     potential (y - rest)' K (y - rest) / 2,    the dampers take y'' C y'   (y': speeds)
//     dF/dv: C = sum_ij C_ij g_i g_j',    -dF/dq: K = sum_i g_i (K_ij g_j + C_ij d(g_j'v)/dq)' - f_i dg_i/dq
// Angles are those of -180 to 180 degrees; the pitch stays below 90.
#include "joints/bushing.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"

static const CoordinateType coordinates[6] = {ALONG_X,      ALONG_Y,       ALONG_Z,
                                              ABOUT_X_OF_B, ABOUT_BETWEEN, ABOUT_Z};

typedef struct Six {
    double y[6], speed[6], f[6]; // f: force along each
    double g[6][12], H[6][144], gv[6][12];
} Six;

static void place(const LashSystemWork* work, const Force* force, const double* v, bool second,
                  Six* six) {
    const Bushing* bushing = force->bushing;
    JointFrames frames = {.a = &work->body[force->a],
                          .b = &work->body[force->b],
                          .a_point = force->def.a_point,
                          .b_point = force->def.b_point,
                          .a_axes = &bushing->a_axes,
                          .b_axes = &bushing->b_axes};
    frames.p_a = vec3_add(frames.a->x, mat3_mul(frames.a->R, frames.a_point));
    frames.p_b = vec3_add(frames.b->x, mat3_mul(frames.b->R, frames.b_point));
    double both[12] = {0};
    for (int s = 0; v != NULL && s < 2; ++s) {
        int body = s == 0 ? force->a : force->b;
        if (body > 0) memcpy(both + 6 * s, v + 6 * (body - 1), 6 * sizeof *both);
    }
    for (int i = 0; i < 6; ++i) {
        six->y[i] = coordinate_value(coordinates[i], &frames);
        RowWriter row = {.Ga = six->g[i], .Gb = six->g[i] + 6};
        coordinate_row(coordinates[i], &frames, &row);
        six->speed[i] = 0;
        for (int k = 0; k < 12; ++k) six->speed[i] += six->g[i][k] * both[k];
        if (!second) continue;
        const double one = 1;
        memset(six->H[i], 0, sizeof six->H[i]);
        RowContraction contraction = {
            .rows = 1, .has_a = true, .has_b = true, .P = &one, .dGP = six->H[i]};
        coordinate_contract(coordinates[i], &frames, &contraction);
        for (int j = 0; j < 12; ++j) {
            six->gv[i][j] = 0;
            for (int k = 0; k < 12; ++k) six->gv[i][j] += both[k] * six->H[i][k + 12 * j];
        }
    }
}

// f of springs (stiff) and dampers (damped).
static void load(const Force* force, bool stiff, bool damped, Six* six) {
    const LashBushingDef* def = &force->bushing->def;
    for (int i = 0; i < 6; ++i) {
        six->f[i] = 0;
        for (int j = 0; j < 6; ++j) {
            if (stiff) six->f[i] -= def->stiffness[i][j] * (six->y[j] - def->rest[j]);
            if (damped) six->f[i] -= def->damping[i][j] * six->speed[j];
        }
    }
}

static void add(const Force* force, const Six* six, double* F) {
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 6; ++k) {
            if (force->a > 0) F[6 * (force->a - 1) + k] += six->f[i] * six->g[i][k];
            if (force->b > 0) F[6 * (force->b - 1) + k] += six->f[i] * six->g[i][6 + k];
        }
    }
}

void bushing_add_force(const LashSystemWork* work, const Force* force, const double* v, double* F) {
    Six six;
    place(work, force, v, false, &six);
    load(force, true, true, &six);
    add(force, &six, F);
}

void bushing_add_conservative(const LashSystemWork* work, const Force* force, double* F) {
    Six six;
    place(work, force, NULL, false, &six);
    load(force, true, false, &six);
    add(force, &six, F);
}

double bushing_potential(const LashSystemWork* work, const Force* force) {
    Six six;
    place(work, force, NULL, false, &six);
    load(force, true, false, &six);
    double energy = 0;
    for (int i = 0; i < 6; ++i) energy -= 0.5 * six.f[i] * (six.y[i] - force->bushing->def.rest[i]);
    return energy;
}

double bushing_damping_power(const LashSystemWork* work, const Force* force, const double* v) {
    Six six;
    place(work, force, v, false, &six);
    load(force, false, true, &six);
    double power = 0;
    for (int i = 0; i < 6; ++i) power += six.f[i] * six.speed[i];
    return power;
}

void bushing_value(const LashSystemWork* work, const Force* force, const double* v, double f[6]) {
    Six six;
    place(work, force, v, false, &six);
    load(force, true, true, &six);
    memcpy(f, six.f, sizeof six.f);
}

// One 6x6 block; definite: without what may have negative eigenvalues.
static void add_tangent_block(const Force* force, const Six* six, bool definite, int row,
                              int column, double* Cb, double* Kb) {
    const LashBushingDef* def = &force->bushing->def;
    for (int i = 0; i < 6; ++i) {
        double c[6] = {0}, k[6] = {0};
        for (int j = 0; j < 6; ++j) {
            for (int s = 0; s < 6; ++s) {
                double g = six->g[j][6 * column + s];
                c[s] += def->damping[i][j] * g;
                k[s] += def->stiffness[i][j] * g;
                if (!definite) k[s] += def->damping[i][j] * six->gv[j][6 * column + s];
            }
        }
        for (int s = 0; s < 6; ++s) {
            for (int r = 0; r < 6; ++r) {
                double g = six->g[i][6 * row + r];
                Cb[r + 6 * s] += g * c[s];
                Kb[r + 6 * s] += g * k[s];
                if (!definite)
                    Kb[r + 6 * s] -= six->f[i] * six->H[i][6 * row + r + 12 * (6 * column + s)];
            }
        }
    }
}

void bushing_add_tangents(const LashMechanism* mech, const LashSystemWork* work, const Force* force,
                          const double* v, bool definite, double* C, double* K) {
    Six six;
    place(work, force, v, true, &six);
    load(force, true, true, &six);
    for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 2; ++column) {
            int block = force->block[row][column];
            if (block < 0) continue;
            add_tangent_block(force, &six, definite, row, column, C + mech->pattern_offset[block],
                              K + mech->pattern_offset[block]);
        }
    }
}

// ---- building -----------------------------------------------------------------------------------

bool lash_bushing_check(const LashBushingDef* def, LashError* error) {
    const char* const what[] = {"stiffness", "damping"};
    for (int m = 0; m < 2; ++m) {
        double L[6][6], largest = 0;
        for (int i = 0; i < 6; ++i) {
            for (int j = 0; j < 6; ++j) {
                L[i][j] = m == 0 ? def->stiffness[i][j] : def->damping[i][j];
                double other = m == 0 ? def->stiffness[j][i] : def->damping[j][i];
                if (!isfinite(L[i][j]) ||
                    fabs(L[i][j] - other) > 1e-9 * (fabs(L[i][j]) + fabs(other)))
                    return lash_error_set(error, LASH_ERROR_MODEL, what[m],
                                          "the matrix must be symmetric; [%d][%d] and [%d][%d] "
                                          "differ",
                                          i, j, j, i);
            }
            largest = fmax(largest, fabs(L[i][i]));
        }
        for (int k = 0; k < 6; ++k) { // elimination: pivots must not be negative
            if (L[k][k] < -1e-12 * largest)
                return lash_error_set(error, LASH_ERROR_MODEL, what[m],
                                      "the matrix gives energy away for nothing: it has a "
                                      "negative eigenvalue (found at row %d)",
                                      k);
            for (int i = k + 1; i < 6; ++i) {
                if (!(L[k][k] > 1e-12 * largest)) {
                    if (fabs(L[i][k]) > 1e-9 * largest)
                        return lash_error_set(error, LASH_ERROR_MODEL, what[m],
                                              "row %d couples to row %d, which has nothing on its "
                                              "diagonal",
                                              i, k);
                    continue;
                }
                double factor = L[i][k] / L[k][k];
                for (int j = k; j < 6; ++j) L[i][j] -= factor * L[k][j];
            }
        }
    }
    return true;
}

void bushing_make(Force* force, const LashBushingDef* def) {
    LASH_ASSERT(def != NULL && lash_bushing_check(def, NULL));
    force->bushing = lash_alloc(sizeof *force->bushing);
    force->bushing->def = *def;
    force->bushing->a_axes = quat_matrix(quat_normalize(def->a_frame.rot));
    force->bushing->b_axes = quat_matrix(quat_normalize(def->b_frame.rot));
    force->def.a_point = def->a_frame.r;
    force->def.b_point = def->b_frame.r;
    force->def.bushing = NULL; // was the caller's
}

// Semismooth Newton for (mixed) linear complementarity.
//
//     phi(z, w) = z + w - sqrt(z^2 + w^2) = 0,  w = A z + b;      free rows: w = 0
//
// Generalized Jacobian Da + Db A, a Levenberg-Marquardt shift when it is singular, line search on
// |phi|^2 / 2, steepest descent when Newton does not descend (T. De Luca, F. Facchinei, C. Kanzow,
// Mathematical Programming 75, 1996). The last steps solve the basis that z >= w suggests, which
// gives the digits that the square root loses.
#include <math.h>
#include <string.h>

#include "solvers/cone/lcp_internal.h"
#include "solvers/linear/dense.h"

static double fischer(double z, double w) {
    double r = hypot(z, w);
    if (z + w <= 0) return z + w - r;
    return 2 * z * w / (z + w + r); // no cancellation
}

static double merit(Lcp* p, const double* z, double* w, double* phi) {
    double s = 0;
    for (int i = 0; i < p->n; ++i) w[i] = p->b[i];
    lash_dense_multiply_add(p->n, p->n, p->A, p->lda, z, w);
    for (int i = 0; i < p->n; ++i) {
        phi[i] = lcp_free(p, i) ? w[i] : fischer(z[i], w[i]);
        s += phi[i] * phi[i];
    }
    return 0.5 * s;
}

static void jacobian(Lcp* p, double shift) {
    int n = p->n;
    for (int i = 0; i < n; ++i) {
        double r = hypot(p->z[i], p->w[i]), da = 0, db = 1;
        if (!lcp_free(p, i)) {
            da = r > 0 ? 1 - p->z[i] / r : 1 - sqrt(0.5);
            db = r > 0 ? 1 - p->w[i] / r : 1 - sqrt(0.5);
        }
        for (int j = 0; j < n; ++j)
            p->matrix[i + (size_t)j * (size_t)n] =
                db * p->A[(size_t)i + (size_t)j * (size_t)p->lda];
        p->matrix[i + (size_t)i * (size_t)n] += da + shift;
    }
}

// J' phi into g, from the unshifted matrix.
static void gradient(const Lcp* p, const double* phi, double* g) {
    for (int j = 0; j < p->n; ++j) {
        g[j] = 0;
        for (int i = 0; i < p->n; ++i) g[j] += p->matrix[i + (size_t)j * (size_t)p->n] * phi[i];
    }
}

static double try_basis(Lcp* p) {
    uint8_t* in = (uint8_t*)p->x;
    for (int i = 0; i < p->n; ++i) in[i] = lcp_free(p, i) || p->z[i] > p->w[i];
    memcpy(p->matrix2, p->z, (size_t)p->n * sizeof(double)); // lcp_solve_basis uses matrix only
    double residual = lcp_solve_basis(p, in);
    if (!(residual <= p->tolerance)) memcpy(p->z, p->matrix2, (size_t)p->n * sizeof(double));
    return residual;
}

double lcp_newton(Lcp* p) {
    int n = p->n, limit = p->max_iterations > 0 ? p->max_iterations : 200;
    double *phi = p->r, *step = p->d, *old = p->least, *g = p->least + n;
    double value = merit(p, p->z, p->w, phi);
    for (int k = 0; k < limit && !lash_stop_asked(p->stop); ++k) {
        if (lcp_residual(p) <= p->tolerance) return lcp_residual(p);
        if (k % 4 == 3 && try_basis(p) <= p->tolerance) return lcp_residual(p);
        value = merit(p, p->z, p->w, phi);
        jacobian(p, 0);
        gradient(p, phi, g);
        double ratio = lash_dense_lu(n, p->matrix, n, p->pivot);
        if (!(ratio > 1e-14)) {
            jacobian(p, 1e-6 * sqrt(value));
            ratio = lash_dense_lu(n, p->matrix, n, p->pivot);
        }
        for (int i = 0; i < n; ++i) step[i] = -phi[i];
        if (ratio > 0) lash_dense_lu_solve(n, p->matrix, n, p->pivot, step);
        double slope = 0, size = 0, s = 1;
        for (int i = 0; i < n; ++i) {
            slope += g[i] * step[i];
            size += step[i] * step[i];
        }
        if (!(ratio > 0) || !(slope < -1e-12 * size)) {
            slope = 0;
            for (int i = 0; i < n; ++i) {
                step[i] = -g[i];
                slope -= g[i] * g[i];
            }
        }
        memcpy(old, p->z, (size_t)n * sizeof(double));
        p->iterations++;
        for (int half = 0; half < 40; ++half, s *= 0.5) {
            for (int i = 0; i < n; ++i) p->z[i] = old[i] + s * step[i];
            if (merit(p, p->z, p->w, phi) <= value + 1e-4 * s * slope) break;
        }
        if (s < 1e-11) break;
    }
    try_basis(p);
    return lcp_residual(p);
}

// Mass properties: defaults, principal moments, plausibility.
#include "core/body.h"

#include <math.h>

#include "core/math3.h"

LashBodyDef lash_body_def(void) {
    return (LashBodyDef){.mass = 1, .inertia = mat3_identity(), .world_body = pose_identity()};
}

// Cyclic Jacobi: rotate away the off-diagonal entries of the symmetric matrix until they are
// rounding.
Vec3 lash_inertia_principal(Mat3 inertia) {
    double a[3][3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) a[i][j] = 0.5 * (inertia.m[i + 3 * j] + inertia.m[j + 3 * i]);
    }
    for (int sweep = 0; sweep < 30; ++sweep) {
        for (int p = 0; p < 2; ++p) {
            for (int q = p + 1; q < 3; ++q) {
                if (a[p][q] == 0) continue;
                double ratio = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = copysign(1.0, ratio) / (fabs(ratio) + sqrt(1 + ratio * ratio));
                double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int k = 0; k < 3; ++k) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; ++k) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
            }
        }
    }
    double x = a[0][0], y = a[1][1], z = a[2][2];
    double low = fmin(x, fmin(y, z)), high = fmax(x, fmax(y, z));
    return vec3(low, x + y + z - low - high, high);
}

bool lash_body_check(const LashBodyDef* def, const char* where, LashError* error) {
    if (def == NULL) return lash_error_null(error, "a body");
    if (!(def->mass > 0) || !isfinite(def->mass)) {
        return lash_error_set(error, LASH_ERROR_MODEL, where,
                              "the mass must be positive, got %g kg", def->mass);
    }
    double size = 0, skew = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double x = def->inertia.m[i + 3 * j], y = def->inertia.m[j + 3 * i];
            if (!isfinite(x)) {
                return lash_error_set(error, LASH_ERROR_MODEL, where,
                                      "the inertia must be finite, got %g", x);
            }
            size = fmax(size, fabs(x));
            skew = fmax(skew, fabs(x - y));
        }
    }
    if (skew > 1e-9 * size) {
        return lash_error_set(
            error, LASH_ERROR_MODEL, where,
            "the inertia must be symmetric; two mirrored entries differ by %g kg m^2", skew);
    }
    Vec3 p = lash_inertia_principal(def->inertia);
    if (!(p.x > 0)) {
        return lash_error_set(
            error, LASH_ERROR_MODEL, where,
            "the inertia must be positive definite; its smallest principal moment is %g kg m^2",
            p.x);
    }
    if (p.z > (p.x + p.y) * (1 + 1e-6)) {
        return lash_error_set(
            error, LASH_ERROR_MODEL, where,
            "no body has principal moments %g, %g, %g kg m^2: the largest may not exceed the "
            "sum of the others",
            p.x, p.y, p.z);
    }
    return true;
}

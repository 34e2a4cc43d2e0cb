// Friction problems as text files, and the three residuals of the field.
#include <math.h>
#include <stdio.h>

#include "app/bench/problem_file.h"
#include "core/arena.h"

// W as a list of entries; zeros are left out.
static long put_entries(const LashFrictionProblem* problem, FILE* file) {
    long count = 0;
    for (int j = 0; problem->W != NULL && j < problem->m; ++j) {
        for (int i = 0; i < problem->m; ++i) {
            double value = problem->W[i + (size_t)j * (size_t)problem->ldw];
            if (value == 0) continue;
            ++count;
            if (file != NULL) fprintf(file, "%d %d : %.17g\n", i, j, value);
        }
    }
    const LashBlockSparse* sparse = problem->sparse;
    for (int r = 0; problem->W == NULL && r < sparse->blocks; ++r) {
        int rows = sparse->start[r + 1] - sparse->start[r];
        for (int k = sparse->pointer[r]; k < sparse->pointer[r + 1]; ++k) {
            int c = sparse->column[k], columns = sparse->start[c + 1] - sparse->start[c];
            for (int e = 0; e < rows * columns; ++e) {
                double value = sparse->values[sparse->offset[k] + e];
                if (value == 0) continue;
                ++count;
                if (file != NULL)
                    fprintf(file, "%d %d : %.17g\n", sparse->start[r] + e % rows,
                            sparse->start[c] + e / rows, value);
            }
        }
    }
    return count;
}

void app_friction_write(const LashFrictionProblem* problem, FILE* file) {
    int dimension = problem->kind == NULL ? 3 : problem->kind[0];
    long entries = put_entries(problem, NULL);
    fprintf(file, "%d\n%d\n2\n%d\n%d\n0\nCSparse Version 3\n", dimension, problem->contacts,
            problem->m, problem->m);
    fprintf(file, "triplet: %d-by-%d, nzmax: %ld nnz: %ld\n", problem->m, problem->m, entries,
            entries);
    put_entries(problem, file);
    for (int i = 0; i < problem->m; ++i) fprintf(file, "%.17g\n", problem->b[i]);
    for (int i = 0; i < problem->contacts; ++i) fprintf(file, "%.17g\n", problem->mu[i]);
}

bool app_friction_can_write(const LashFrictionProblem* problem) {
    for (int i = 0; problem->kind != NULL && i < problem->contacts; ++i) {
        if (problem->kind[i] != problem->kind[0] || problem->kind[i] < 2) return false;
    }
    return problem->contacts > 0;
}

// u = W r + b; of the largest contact each:
//   Signorini     |min(u_N, r_N)|
//   Coulomb       max(0, |r_T| - mu r_N)
//   dissipation   mu r_N |u_T| + r_T.u_T, 0 where the slip is opposite to the largest friction
AppThreeResiduals app_problem_three(const AppProblem* problem, const double* P) {
    const LashFrictionProblem* friction = &problem->friction;
    double* U = lash_alloc((size_t)friction->m * sizeof *U);
    lash_friction_residual(friction, LASH_MEASURE_PLAIN, P, U);
    AppThreeResiduals three = {0};
    for (int i = 0, row = 0; i < friction->contacts; ++i) {
        int rows = friction->kind == NULL ? 3 : friction->kind[i];
        const double *r = P + row, *u = U + row;
        row += rows;
        if (rows < 2 || rows > 3) continue; // no friction
        double r_t = rows == 3 ? hypot(r[1], r[2]) : fabs(r[1]);
        double u_t = rows == 3 ? hypot(u[1], u[2]) : fabs(u[1]);
        double work = r[1] * u[1] + (rows == 3 ? r[2] * u[2] : 0);
        three.signorini = fmax(three.signorini, fabs(fmin(u[0], r[0])));
        three.coulomb = fmax(three.coulomb, r_t - friction->mu[i] * r[0]);
        three.dissipation = fmax(three.dissipation, fabs(friction->mu[i] * r[0] * u_t + work));
    }
    lash_free(U);
    return three;
}

// Friction problems as text files, and the three residuals of the field.
#include <math.h>
#include <stdio.h>

#include "app/bench/problem_file.h"
#include "core/arena.h"

static void put_dense(const LashFrictionProblem* problem, FILE* file) {
    fprintf(file, "0\n%d %d\n%d %d\n", problem->m, problem->m, problem->m, problem->m);
    for (int j = 0; j < problem->m; ++j)
        for (int i = 0; i < problem->m; ++i)
            fprintf(file, "%.17g\n", problem->W[i + (size_t)j * (size_t)problem->ldw]);
}

// Block rows: numbers of blocks, ends of the block rows and columns, pointers, columns, blocks.
static void put_blocks(const LashBlockSparse* sparse, int m, FILE* file) {
    int blocks = sparse->blocks, count = sparse->pointer[blocks];
    fprintf(file, "1\n%d %d\n%d %d %d\n", m, m, count, blocks, blocks);
    for (int side = 0; side < 2; ++side)
        for (int i = 1; i <= blocks; ++i) fprintf(file, "%d\n", sparse->start[i]);
    fprintf(file, "%d %d\n", blocks + 1, count);
    for (int i = 0; i <= blocks; ++i) fprintf(file, "%d\n", sparse->pointer[i]);
    for (int k = 0; k < count; ++k) fprintf(file, "%d\n", sparse->column[k]);
    for (int i = 0; i < blocks; ++i) {
        int rows = sparse->start[i + 1] - sparse->start[i];
        for (int k = sparse->pointer[i]; k < sparse->pointer[i + 1]; ++k) {
            int c = sparse->column[k], columns = sparse->start[c + 1] - sparse->start[c];
            fprintf(file, "%d\n", k);
            for (int e = 0; e < rows * columns; ++e)
                fprintf(file, "%.17g\n", sparse->values[sparse->offset[k] + e]);
        }
    }
}

// Dense or in blocks: lists of entries are a layout that Siconos 4.4 does not read back.
void app_friction_write(const LashFrictionProblem* problem, FILE* file) {
    fprintf(file, "%d\n%d\n", problem->kind == NULL ? 3 : problem->kind[0], problem->contacts);
    if (problem->W != NULL)
        put_dense(problem, file);
    else
        put_blocks(problem->sparse, problem->m, file);
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

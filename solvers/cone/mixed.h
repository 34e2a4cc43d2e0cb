// Mixed linear complementarity: w = A z + b with w = 0, z free on marked rows and
// 0 <= w perp z >= 0 on the others. The free rows may be rank-deficient.
#ifndef LASH_SOLVERS_MIXED_H
#define LASH_SOLVERS_MIXED_H

#include "solvers/cone/lcp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashMixedProblem {
    LashLcpProblem lcp;
    const uint8_t* free; // (n) 1: z free and w = 0; 0: complementarity
} LashMixedProblem;

size_t lash_mixed_work_size(int n);
LashLcpInfo lash_mixed_solve(const LashMixedProblem* problem, const LashLcpSettings* settings,
                             double* z, double* w, void* work);
double lash_mixed_residual(const LashMixedProblem* problem, const double* z, double* w);

#ifdef __cplusplus
}
#endif
#endif

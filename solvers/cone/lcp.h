// Linear complementarity: w = A z + b, 0 <= w perp z >= 0; in its mixed form with w = 0, z free on
// marked rows, which may be rank-deficient.
#ifndef LASH_SOLVERS_LCP_H
#define LASH_SOLVERS_LCP_H

#include "core/stop.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashLcpProblem {
    int n;
    const double* A; // (n x n) column-major, any matrix
    int lda;
    const double* b;     // (n)
    const uint8_t* free; // (n) 1: z free and w = 0; NULL: none
} LashLcpProblem;

typedef enum LashLcpMethod {
    LASH_LCP_DEFAULT,    // Lemke; enumeration when it ends on a ray
    LASH_LCP_LEMKE,      // lexicographic pivoting: ends on degenerate problems
    LASH_LCP_ENUMERATION // n <= 12: every basis, in order of its size
} LashLcpMethod;

typedef struct LashLcpSettings {
    double tolerance; // of the residual
    LashLcpMethod method;
    int max_iterations;   // 0: the method's own limit
    const LashStop* stop; // asked between iterations; NULL: none
} LashLcpSettings;

typedef struct LashLcpInfo {
    LashOutcome outcome;  // LASH_FAILED: no solution found
    LashLcpMethod method; // the one that gave the answer
    bool ray;             // Lemke ended on a secondary ray
    int iterations;       // pivots or bases
    double residual;      // |min(z, w)|_inf / (1 + |b|_inf), recomputed from A, b, z
} LashLcpInfo;

LashLcpSettings lash_lcp_settings(void); // 1e-10, default method

size_t lash_lcp_work_size(int n);
LashLcpInfo lash_lcp_solve(const LashLcpProblem* problem, const LashLcpSettings* settings,
                           double* z, double* w, void* work);

// Recomputes w = A z + b and returns the residual.
double lash_lcp_residual(const LashLcpProblem* problem, const double* z, double* w);

const char* lash_lcp_method_name(LashLcpMethod method);

#ifdef __cplusplus
}
#endif
#endif

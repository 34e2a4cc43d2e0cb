// Mixed linear complementarity: free variables with equality rows beside complementarity rows.
// The methods are those of lcp.c, which know free rows; see lcp_pivot.c for how free variables
// enter the basis when their own rows are rank-deficient.
#include "solvers/cone/mixed.h"

#include "solvers/cone/lcp_internal.h"

size_t lash_mixed_work_size(int n) {
    return lcp_work_size(n);
}

LashLcpInfo lash_mixed_solve(const LashMixedProblem* problem, const LashLcpSettings* settings,
                             double* z, double* w, void* work) {
    Lcp p = lcp_begin(&problem->lcp, problem->free, settings, z, w, work);
    return lcp_run(&p, settings);
}

double lash_mixed_residual(const LashMixedProblem* problem, const double* z, double* w) {
    Lcp p = {
        .n = problem->lcp.n, .lda = problem->lcp.lda, .A = problem->lcp.A, .b = problem->lcp.b};
    p.free = problem->free;
    p.z = (double*)z;
    p.w = w;
    return lcp_residual(&p);
}

// The designs of studies and the ways their results are analysed: two tables, one row each.
#ifndef LASH_APP_STUDY_DESIGN_H
#define LASH_APP_STUDY_DESIGN_H

typedef enum LashDesignTraits { // several are joined by |
    DESIGN_PLAIN = 0,
    DESIGN_SAMPLE = 1, // its rows are a random sample of the parameters: statistics mean something
    DESIGN_CORRELATES = 2, // takes correlated parameters
    DESIGN_LEVELS = 4      // goes through levels: any parameter may have 'values'
} LashDesignTraits;

// Columns: identifier; name in studies; analysis of its results (below); traits; functions of
// design.c: one that counts the samples and prepares, one that gives sample i. A row that lacks one,
// or whose function does not exist, does not compile.
// clang-format off
#define LASH_DESIGN_TABLE(X) \
    X(RANDOM, "random", SHARES, DESIGN_SAMPLE | DESIGN_CORRELATES, plan_points, random_point) \
    X(LATIN_HYPERCUBE, "latin-hypercube", SHARES, DESIGN_SAMPLE | DESIGN_CORRELATES, plan_points, latin_hypercube_point) \
    X(SOBOL, "sobol", SHARES, DESIGN_SAMPLE | DESIGN_CORRELATES, plan_sobol, sobol_point) \
    X(ONE_AT_A_TIME, "one-at-a-time", SWINGS, DESIGN_LEVELS, plan_one_at_a_time, one_at_a_time_point) \
    X(GRID, "grid", SHARES, DESIGN_LEVELS, plan_grid, grid_point) \
    X(MORRIS, "morris", MORRIS, DESIGN_PLAIN, plan_morris, morris_point) \
    X(SALTELLI, "saltelli", SOBOL, DESIGN_SAMPLE, plan_saltelli, saltelli_point) \
    X(LIST, "list", SHARES, DESIGN_SAMPLE, plan_list, list_point)

// Columns: identifier; the same in small letters: analysis.c, report_data.c and report_html.c have
// functions add_*, json_* and html_* of that name; what parameters are ranked by; is that a share of
// the variance, else a change of the output; what it means.
#define LASH_ANALYSIS_TABLE(X) \
    X(SHARES, shares, "share of the variance", true, \
      "Share of the variance explained by the parameter alone, by a smooth curve.") \
    X(SOBOL, sobol, "total Sobol index", true, \
      "Total index: share of the variance that would vanish if this parameter were fixed, interactions included.") \
    X(MORRIS, morris, "mu* of Morris", false, \
      "Mean size of the change when the parameter is moved.") \
    X(SWINGS, swings, "swing of the output", false, \
      "Change of the output from the low to the high end, others nominal.")
// clang-format on

typedef enum LashDesignType {
#define X(id, ...) LASH_DESIGN_##id,
    LASH_DESIGN_TABLE(X)
#undef X
        LASH_DESIGNS
} LashDesignType;

typedef enum LashAnalysisKind {
#define X(id, ...) LASH_ANALYSIS_##id,
    LASH_ANALYSIS_TABLE(X)
#undef X
} LashAnalysisKind;

#endif

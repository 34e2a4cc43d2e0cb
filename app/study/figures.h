// The drawings of a report.
#ifndef LASH_APP_STUDY_FIGURES_H
#define LASH_APP_STUDY_FIGURES_H

#include "app/study/analysis.h"
#include "app/study/page.h"

#ifdef __cplusplus
extern "C" {
#endif

// The whole page with all of them.
void figure_page(Page* page, const LashAnalysis* analysis, const LashStore* store);

void figure_histogram(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result);
// Two samples of one output over each other: bars before, a line after.
void figure_pair(Page* page, const LashOutputAnalysis* before, const LashOutputAnalysis* after);
void figure_contributors(Page* page, const LashAnalysis* analysis,
                         const LashOutputAnalysis* result);
void figure_tornado(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result);
void figure_effect(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result,
                   const LashParameterEffect* effect);
// Every so many samples of an output are drawn as points; each refers to "#s" and its number.
int64_t figure_point_step(const LashOutputAnalysis* analysis);
void figure_sobol(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result);
void figure_morris(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result);
void figure_mean(Page* page, const LashOutputAnalysis* analysis); // convergence
void figure_share(Page* page,
                  const LashOutputAnalysis* analysis); // of the share out of specification

#ifdef __cplusplus
}
#endif
#endif

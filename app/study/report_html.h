// Pieces of the page of a study that several of its files write.
#ifndef LASH_APP_STUDY_REPORT_HTML_H
#define LASH_APP_STUDY_REPORT_HTML_H

#include "app/study/analysis.h"
#include "app/study/page.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char html_style[]; // the style sheet

// Begins a cell whose number is also in the JSON document.
void html_begin_cell(Page* page, const char* output, const char* key, double value);
void html_cell(Page* page, const char* output, const char* key, double value);
// A value of the output: as many digits as its sigma needs.
void html_value_cell(Page* page, const LashOutputAnalysis* analysis, const char* key, double value);
void html_plain_cell(Page* page, double value);
// Heading and all that belongs to it, kept on one sheet of paper.
void html_begin_section(Page* page, const char* heading);
void html_end_section(Page* page);
// The command that shows the device x; without a model its parameters.
void html_replay(Page* page, const LashStudy* study, const double* x);

// report_tighten.c
void html_tighten(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result);
void html_worst_case(Page* page, const LashAnalysis* analysis, const LashOutputAnalysis* result);
void html_assumptions(Page* page, const LashAnalysis* analysis);
// The same as text.
void text_tighten(const LashAnalysis* analysis, const LashOutputAnalysis* result);
void text_worst_case(const LashAnalysis* analysis, const LashOutputAnalysis* result);
void text_assumptions(const LashAnalysis* analysis);

#ifdef __cplusplus
}
#endif
#endif

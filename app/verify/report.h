// Pieces of the verification manual that several files write.
#ifndef LASH_APP_VERIFY_REPORT_H
#define LASH_APP_VERIFY_REPORT_H

#include "app/verify/figure.h"
#include "app/verify/verify_internal.h"

typedef struct ManualHead {
    int passed, failed, untested;
    int figures; // drawn
    int later;   // left to --all
    char date[32], machine[128];
} ManualHead;

typedef struct PaperName {
    const char *letter, *reference; // of its claims; authors, title, where
} PaperName;
extern const PaperName manual_papers[];
extern const int manual_paper_count;

const char* manual_word(const Row* row); // "pass", "fail", "not tested"
void manual_html(Page* page, const Manual* manual, ManualHead* head); // verify_report_html.c
void manual_schemes(Page* page, const Manual* manual);                // report_schemes.c

#endif

// The nearest known word to a misspelt one: for keys, options, commands, names.
#ifndef LASH_APP_SUGGEST_H
#define LASH_APP_SUGGEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { APP_SUGGESTION_NAMES = 64 };

typedef struct AppSuggestion {
    const char* word;    // as the user wrote it
    const char* nearest; // best so far, NULL: nothing near
    int distance;
    const char* name[APP_SUGGESTION_NAMES]; // the first of those offered, borrowed
    int offered;
} AppSuggestion;

AppSuggestion app_suggestion(const char* word);
void app_suggestion_offer(AppSuggestion* suggestion, const char* known);

// " (did you mean 'x'?)" or "" in text; returns text.
const char* app_suggestion_text(const AppSuggestion* suggestion, char* text, size_t size);
// The same, or, where nothing is near, what there is: "; there are a, b and 3 more".
const char* app_suggestion_names(const AppSuggestion* suggestion, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif

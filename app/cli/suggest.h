// The nearest known word to a misspelt one: for keys, options, commands, names.
#ifndef LASH_APP_SUGGEST_H
#define LASH_APP_SUGGEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppSuggestion {
    const char* word;    // as the user wrote it
    const char* nearest; // best so far, NULL: nothing near
    int distance;
} AppSuggestion;

AppSuggestion app_suggestion(const char* word);
void app_suggestion_offer(AppSuggestion* suggestion, const char* known);

// " (did you mean 'x'?)" or "" in text; returns text.
const char* app_suggestion_text(const AppSuggestion* suggestion, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif

// Nearest word by the restricted edit distance (insert, delete, change, swap of neighbours), each
// edit counting 1: Damerau 1964. A word is offered when at most a third of it would change.
#include "app/cli/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 48 };

static int smaller(int a, int b) {
    return a < b ? a : b;
}

// d(i, j) = cheapest way from the first i letters of a to the first j of b; three rows are kept.
static int edit_distance(const char* a, const char* b) {
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n >= MAX_WORD || m >= MAX_WORD) return MAX_WORD;
    int row[3][MAX_WORD + 1];
    int *older = row[0], *old = row[1], *now = row[2];
    for (int j = 0; j <= m; ++j) old[j] = j;
    for (int i = 1; i <= n; ++i) {
        now[0] = i;
        for (int j = 1; j <= m; ++j) {
            int change = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            now[j] = smaller(smaller(old[j] + 1, now[j - 1] + 1), old[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = smaller(now[j], older[j - 2] + 1);
            }
        }
        int* free_row = older;
        older = old;
        old = now;
        now = free_row;
    }
    return old[m];
}

AppSuggestion app_suggestion(const char* word) {
    return (AppSuggestion){.word = word, .distance = 1 + (int)strlen(word) / 3};
}

void app_suggestion_offer(AppSuggestion* suggestion, const char* known) {
    if (suggestion->offered < APP_SUGGESTION_NAMES) suggestion->name[suggestion->offered] = known;
    ++suggestion->offered;
    int longer = (int)strlen(suggestion->word) - (int)strlen(known);
    if (longer > suggestion->distance || -longer > suggestion->distance) return;
    int distance = edit_distance(suggestion->word, known);
    if (distance > suggestion->distance) return;
    if (distance == suggestion->distance && suggestion->nearest != NULL) return;
    suggestion->distance = distance;
    suggestion->nearest = known;
}

const char* app_suggestion_text(const AppSuggestion* suggestion, char* text, size_t size) {
    text[0] = '\0';
    if (suggestion->nearest != NULL) {
        snprintf(text, size, " (did you mean '%s'?)", suggestion->nearest);
    }
    return text;
}

const char* app_suggestion_names(const AppSuggestion* suggestion, char* text, size_t size) {
    enum { ROOM = 24 }; // for " and 1234567 more"
    if (suggestion->nearest != NULL) return app_suggestion_text(suggestion, text, size);
    if (suggestion->offered == 0) {
        snprintf(text, size, "; there are none");
        return text;
    }
    size_t used =
        (size_t)snprintf(text, size, "; there %s", suggestion->offered == 1 ? "is" : "are");
    int i = 0;
    for (; i < suggestion->offered && i < APP_SUGGESTION_NAMES; ++i) {
        if (used + strlen(suggestion->name[i]) + ROOM > size) break;
        used += (size_t)snprintf(text + used, size - used, "%s %s", i == 0 ? "" : ",",
                                 suggestion->name[i]);
    }
    if (i < suggestion->offered)
        snprintf(text + used, size - used, " and %d more", suggestion->offered - i);
    return text;
}

// A signal is a table of one variable, time: linear between its lines, held before and after them.
#include "app/run/signals.h"

#include <stdio.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/model_internal.h"
#include "core/arena.h"

static bool fail_name(const LashModel* model, const char* name, LashError* error) {
    char hint[300];
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < model->inputs; ++i) app_suggestion_offer(&near, model->input[i].name);
    if (model->inputs == 0)
        return lash_error_set(error, LASH_ERROR_USAGE, "--input",
                              "the model has no inputs, so no '%.60s'", name);
    return lash_error_set(error, LASH_ERROR_USAGE, "--input", "the model has no input '%.60s'%s",
                          name, app_suggestion_names(&near, hint, sizeof hint));
}

static bool open_signal(AppSignals* signals, const LashModel* model, const char* text,
                        LashError* error) {
    char name[64];
    const char* equal = strchr(text, '=');
    size_t length = equal == NULL ? 0 : (size_t)(equal - text);
    if (length == 0 || length >= sizeof name || equal[1] == '\0')
        return lash_error_set(error, LASH_ERROR_USAGE, "--input",
                              "expected input=file.csv, found '%.80s'", text);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    int input = model_find_input(model, name);
    if (input < 0) return fail_name(model, name, error);
    for (int i = 0; i < signals->count; ++i) {
        if (signals->item[i].input == input)
            return lash_error_set(error, LASH_ERROR_USAGE, "--input", "'%s' is given twice", name);
    }
    LashTable* table = model_read_signal(equal + 1, name, error);
    if (table == NULL) return false;
    signals->item[signals->count++] = (AppSignal){input, table};
    return true;
}

bool app_signals_open(AppSignals* signals, const LashModel* model, const char* const* texts,
                      int count, LashError* error) {
    *signals = (AppSignals){.item = lash_alloc((size_t)count * sizeof *signals->item + 1)};
    for (int i = 0; i < count; ++i) {
        if (!open_signal(signals, model, texts[i], error)) return false;
    }
    return true;
}

void app_signals_close(AppSignals* signals) {
    for (int i = 0; i < signals->count; ++i) lash_table_destroy(signals->item[i].table);
    lash_free(signals->item);
    *signals = (AppSignals){0};
}

void app_signals_put(AppJson* json, const AppSignals* signals) {
    app_json_begin_object(json);
    for (int i = 0; i < signals->count; ++i) {
        const LashTable* table = signals->item[i].table;
        const double *t, *value;
        int n = lash_table_points(table, &t, &value);
        app_json_key(json, lash_table_name(table));
        app_json_begin_array(json);
        for (int k = 0; k < n; ++k) {
            app_json_begin_array(json);
            app_json_number(json, t[k]);
            app_json_number(json, value[k]);
            app_json_end_array(json);
        }
        app_json_end_array(json);
    }
    app_json_end_object(json);
}

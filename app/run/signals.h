// Inputs that follow files over time: --input current=data.csv.
#ifndef LASH_APP_SIGNALS_H
#define LASH_APP_SIGNALS_H

#include "app/cli/json_writer.h"
#include "app/run/drive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AppSignals {
    AppSignal* item; // (count)
    int count;
} AppSignals;

// texts: "input=file.csv". False with error; close it in any case.
bool app_signals_open(AppSignals* signals, const LashModel* model, const char* const* texts,
                      int count, LashError* error);
void app_signals_close(AppSignals* signals);
// {"current": [[t, value], ..]}: what the result file keeps of them.
void app_signals_put(AppJson* json, const AppSignals* signals);

#ifdef __cplusplus
}
#endif
#endif

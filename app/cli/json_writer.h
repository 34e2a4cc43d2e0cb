// A small streaming JSON writer into memory. Numbers with 17 significant digits; NaN and infinities
// become null.
#ifndef LASH_APP_JSON_WRITER_H
#define LASH_APP_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/math3.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { APP_JSON_DEPTH = 32 };

typedef struct AppJson {
    char* text; // grows; ends in 0; freed by app_json_free
    size_t used, capacity;
    int depth;
    struct {
        bool array, filled;
    } level[APP_JSON_DEPTH];
    bool after_key;
} AppJson;

void app_json_free(AppJson* json); // also resets it

void app_json_begin_object(AppJson* json);
void app_json_end_object(AppJson* json);
void app_json_begin_array(AppJson* json);
void app_json_end_array(AppJson* json);
void app_json_key(AppJson* json, const char* key);
void app_json_text(AppJson* json, const char* text); // NULL becomes null
void app_json_number(AppJson* json, double number);
void app_json_integer(AppJson* json, int64_t number);
void app_json_bool(AppJson* json, bool value);
void app_json_null(AppJson* json);

// key and value in one call
void app_json_put_text(AppJson* json, const char* key, const char* text);
void app_json_put_number(AppJson* json, const char* key, double number);
void app_json_put_integer(AppJson* json, const char* key, int64_t number);
void app_json_put_bool(AppJson* json, const char* key, bool value);
void app_json_put_vec3(AppJson* json, const char* key, Vec3 value);
void app_json_put_quat(AppJson* json, const char* key, Quat value); // scalar first

#ifdef __cplusplus
}
#endif
#endif

// Streaming JSON: objects one member per line, arrays on one line. The nesting is checked by
// assertions, so a document that was closed is a valid one.
#include "app/cli/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"

static void append(AppJson* json, const char* text, size_t bytes) {
    if (json->used + bytes + 1 > json->capacity) {
        json->capacity = 2 * (json->used + bytes) + 256;
        json->text = lash_realloc(json->text, json->capacity);
    }
    memcpy(json->text + json->used, text, bytes);
    json->used += bytes;
    json->text[json->used] = '\0';
}

static void append_text(AppJson* json, const char* text) {
    append(json, text, strlen(text));
}

static void new_line(AppJson* json) {
    append(json, "\n", 1);
    for (int i = 0; i < json->depth; ++i) append(json, "  ", 2);
}

// Writes what stands between this value and the one before it.
static void begin_value(AppJson* json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0) return;
    LASH_ASSERT(json->level[json->depth - 1].array);
    if (json->level[json->depth - 1].filled) append(json, ", ", 2);
    json->level[json->depth - 1].filled = true;
}

static void begin_level(AppJson* json, bool array) {
    begin_value(json);
    LASH_ASSERT(json->depth < APP_JSON_DEPTH);
    json->level[json->depth].array = array;
    json->level[json->depth].filled = false;
    ++json->depth;
    append(json, array ? "[" : "{", 1);
}

static void end_level(AppJson* json, bool array) {
    LASH_ASSERT(json->depth > 0 && json->level[json->depth - 1].array == array);
    LASH_ASSERT(!json->after_key);
    --json->depth;
    if (!array && json->level[json->depth].filled) new_line(json);
    append(json, array ? "]" : "}", 1);
}

void app_json_free(AppJson* json) {
    lash_free(json->text);
    *json = (AppJson){0};
}

void app_json_begin_object(AppJson* json) {
    begin_level(json, false);
}

void app_json_end_object(AppJson* json) {
    end_level(json, false);
}

void app_json_begin_array(AppJson* json) {
    begin_level(json, true);
}

void app_json_end_array(AppJson* json) {
    end_level(json, true);
}

static void append_quoted(AppJson* json, const char* text) {
    append(json, "\"", 1);
    for (const char* s = text; *s != '\0'; ++s) {
        unsigned char c = (unsigned char)*s;
        char escaped[8];
        if (c == '"' || c == '\\') {
            snprintf(escaped, sizeof escaped, "\\%c", c);
            append_text(json, escaped);
        } else if (c == '\n') {
            append(json, "\\n", 2);
        } else if (c == '\t') {
            append(json, "\\t", 2);
        } else if (c < 0x20 || c == 0x7f) {
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)c);
            append_text(json, escaped);
        } else {
            append(json, s, 1);
        }
    }
    append(json, "\"", 1);
}

void app_json_key(AppJson* json, const char* key) {
    LASH_ASSERT(json->depth > 0 && !json->level[json->depth - 1].array && !json->after_key);
    if (json->level[json->depth - 1].filled) append(json, ",", 1);
    json->level[json->depth - 1].filled = true;
    new_line(json);
    append_quoted(json, key);
    append(json, ": ", 2);
    json->after_key = true;
}

void app_json_text(AppJson* json, const char* text) {
    begin_value(json);
    if (text == NULL) {
        append_text(json, "null");
    } else {
        append_quoted(json, text);
    }
}

void app_json_number(AppJson* json, double number) {
    char text[40];
    begin_value(json);
    if (!isfinite(number)) {
        append_text(json, "null");
        return;
    }
    snprintf(text, sizeof text, "%.15g", number); // short where that is exact
    double back = 0;
    if (sscanf(text, "%lf", &back) != 1 || back != number) {
        snprintf(text, sizeof text, "%.17g", number);
    }
    append_text(json, text);
}

void app_json_integer(AppJson* json, int64_t number) {
    char text[32];
    begin_value(json);
    snprintf(text, sizeof text, "%lld", (long long)number);
    append_text(json, text);
}

void app_json_bool(AppJson* json, bool value) {
    begin_value(json);
    append_text(json, value ? "true" : "false");
}

void app_json_null(AppJson* json) {
    begin_value(json);
    append_text(json, "null");
}

void app_json_put_text(AppJson* json, const char* key, const char* text) {
    app_json_key(json, key);
    app_json_text(json, text);
}

void app_json_put_number(AppJson* json, const char* key, double number) {
    app_json_key(json, key);
    app_json_number(json, number);
}

void app_json_put_integer(AppJson* json, const char* key, int64_t number) {
    app_json_key(json, key);
    app_json_integer(json, number);
}

void app_json_put_bool(AppJson* json, const char* key, bool value) {
    app_json_key(json, key);
    app_json_bool(json, value);
}

void app_json_put_vec3(AppJson* json, const char* key, Vec3 value) {
    app_json_key(json, key);
    app_json_begin_array(json);
    app_json_number(json, value.x);
    app_json_number(json, value.y);
    app_json_number(json, value.z);
    app_json_end_array(json);
}

void app_json_put_quat(AppJson* json, const char* key, Quat value) {
    app_json_key(json, key);
    app_json_begin_array(json);
    app_json_number(json, value.w);
    app_json_number(json, value.x);
    app_json_number(json, value.y);
    app_json_number(json, value.z);
    app_json_end_array(json);
}

// What a store must be before anything in it is believed. A store comes by mail like any file:
// its schema may hold triggers and views, its columns any type, its texts any bytes.
//
// The schema has to be the one that lash writes, text by text, so that no expression in it is ever
// run; views are switched off besides (the view `result` is for people). Every column is checked
// when it is read.
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/text.h"
#include "app/model/json_scan.h"
#include "app/study/store_internal.h"
#include "app/study/study_internal.h"
#include "core/arena.h"

const char* const store_keys[STORE_KEYS] = {
    "format", "version", "study_file", "study_text", "list_text", "cad",     "model_text",
    "seed",   "samples", "rows",       "shard",      "folder",    "created", "holder"};

// One statement per line, as sqlite_schema keeps them.
#define TABLE_INFO "CREATE TABLE info(key TEXT PRIMARY KEY, value TEXT)"
#define TABLE_PARAMETER "CREATE TABLE parameter(position INTEGER PRIMARY KEY, name TEXT, unit TEXT)"
#define TABLE_OUTPUT                                                                     \
    "CREATE TABLE output(position INTEGER PRIMARY KEY, name TEXT, unit TEXT, lsl REAL, " \
    "usl REAL)"
#define TABLE_SAMPLE                                                                       \
    "CREATE TABLE sample(id INTEGER PRIMARY KEY, status TEXT NOT NULL, reason TEXT,"       \
    " parameters TEXT, outputs TEXT, steps INTEGER, iterations INTEGER, penetration REAL," \
    " joint_error REAL, velocity_error REAL, wall REAL, worker INTEGER, finished TEXT,"    \
    " replay TEXT)"
#define TABLE_WORST                                                                 \
    "CREATE TABLE worst(id INTEGER PRIMARY KEY, status TEXT NOT NULL, reason TEXT," \
    " parameters TEXT, outputs TEXT, steps INTEGER, penetration REAL)"
const char store_worst_schema[] = TABLE_WORST;
const char store_schema[] = TABLE_INFO ";" TABLE_PARAMETER ";" TABLE_OUTPUT ";" TABLE_SAMPLE ";";

bool store_damaged(const LashStore* store, LashError* error, const char* format, ...) {
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    lash_error_set(error, LASH_ERROR_IO, "", "the store is damaged: %s", what);
    lash_error_file(error, store->path);
    return false;
}

// ---- SQLite -------------------------------------------------------------------------------------

void store_harden(sqlite3* db) {
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                              SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                              SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
                              SQLITE_DBCONFIG_DQS_DML,
                              SQLITE_DBCONFIG_DQS_DDL};
    for (size_t i = 0; i < sizeof off / sizeof *off; ++i) sqlite3_db_config(db, off[i], 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 2 * APP_JSON_MAX_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;", NULL, NULL, NULL);
}

static bool is_known(const char* type, const char* name, const char* sql) {
    static const char* const tables[][2] = {{"info", TABLE_INFO},
                                            {"parameter", TABLE_PARAMETER},
                                            {"output", TABLE_OUTPUT},
                                            {"sample", TABLE_SAMPLE},
                                            {"worst", TABLE_WORST}};
    if (strcmp(type, "index") == 0) return strcmp(name, "sqlite_autoindex_info_1") == 0;
    if (strcmp(type, "view") == 0) return strcmp(name, "result") == 0; // never asked
    if (strcmp(type, "table") != 0) return false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
        if (strcmp(name, tables[i][0]) == 0) return sql != NULL && strcmp(sql, tables[i][1]) == 0;
    }
    return false;
}

bool store_check_schema(LashStore* store, LashError* error) {
    sqlite3_stmt* s = store_prepare(store, "SELECT type, name, sql FROM sqlite_schema", error);
    bool good = s != NULL;
    int code = SQLITE_DONE, tables = 0;
    while (good && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *type = NULL, *name = NULL, *sql = NULL;
        bool text = store_column_text(s, 0, &type) && store_column_text(s, 1, &name);
        bool has_sql = sqlite3_column_type(s, 2) != SQLITE_NULL;
        if (!text || (has_sql && !store_column_text(s, 2, &sql))) {
            good = store_damaged(store, error, "its schema is no text");
        } else if (!is_known(type, name, sql)) {
            good = store_damaged(store, error, "it has a %.20s '%.60s', which no store has", type,
                                 name);
        }
        bool table = good && strcmp(type, "table") == 0;
        bool worst = table && strcmp(name, "worst") == 0; // made by the search
        store->has_worst = store->has_worst || worst;
        tables += table && !worst;
    }
    sqlite3_finalize(s);
    if (good && code != SQLITE_DONE) return store_fail(store, code, error);
    if (good && tables != 4) return store_damaged(store, error, "tables are missing");
    return good;
}

// ---- columns ------------------------------------------------------------------------------------

bool store_column_text(sqlite3_stmt* s, int column, const char** text) {
    if (sqlite3_column_type(s, column) != SQLITE_TEXT) return false;
    *text = (const char*)sqlite3_column_text(s, column);
    return *text != NULL && app_utf8_valid(*text, (size_t)sqlite3_column_bytes(s, column));
}

bool store_column_count(sqlite3_stmt* s, int column, int64_t* count) {
    if (sqlite3_column_type(s, column) != SQLITE_INTEGER) return false;
    *count = sqlite3_column_int64(s, column);
    return *count >= 0;
}

bool store_column_number(sqlite3_stmt* s, int column, double* number) {
    int type = sqlite3_column_type(s, column);
    *number = type == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
    return type == SQLITE_NULL || (type == SQLITE_FLOAT && isfinite(*number)) ||
           type == SQLITE_INTEGER;
}

// ---- table info ---------------------------------------------------------------------------------

static bool read_key(LashStore* store, sqlite3_stmt* s, int key, LashError* error) {
    const char* text = NULL;
    bool optional = strcmp(store_keys[key], "holder") == 0;
    sqlite3_bind_text(s, 1, store_keys[key], -1, SQLITE_STATIC);
    int code = sqlite3_step(s);
    bool good = true;
    if (code == SQLITE_ROW) {
        good = store_column_text(s, 0, &text) && strlen(text) <= APP_JSON_MAX_BYTES;
        if (!good) store_damaged(store, error, "its '%s' is no text", store_keys[key]);
    } else if (code != SQLITE_DONE) {
        good = store_fail(store, code, error);
    } else if (!optional) {
        good = store_damaged(store, error, "it has no '%s'", store_keys[key]);
    }
    if (good) store->text[key] = lash_strdup(text != NULL ? text : "");
    sqlite3_reset(s);
    return good;
}

// A whole number from 0 to most, digits only.
static bool read_whole(const char* text, uint64_t most, uint64_t* value) {
    char* end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value <= most;
}

static bool read_shard(const char* text, LashShard* shard) {
    char part[16];
    uint64_t index = 0, count = 0;
    const char* slash = strchr(text, '/');
    if (slash == NULL || (size_t)(slash - text) >= sizeof part) return false;
    snprintf(part, sizeof part, "%.*s", (int)(slash - text), text);
    if (!read_whole(part, 1000000, &index) || !read_whole(slash + 1, 1000000, &count)) return false;
    *shard = (LashShard){(int)index, (int)count};
    return index < count;
}

// 2026-01-31T12:00:00Z
static bool is_date(const char* text) {
    const char* form = "0000-00-00T00:00:00Z";
    if (strlen(text) != strlen(form)) return false;
    for (; *form != '\0'; ++form, ++text) {
        bool digit = *text >= '0' && *text <= '9';
        if (*form == '0' ? !digit : *text != *form) return false;
    }
    return true;
}

static bool check_values(LashStore* store, LashError* error) {
    uint64_t samples = 0, rows = 0;
    const char* wrong = NULL;
    if (!read_shard(lash_store_text(store, "shard"), &store->shard)) wrong = "shard";
    if (!is_date(lash_store_text(store, "created"))) wrong = "created";
    if (!read_whole(lash_store_text(store, "rows"), (uint64_t)STUDY_MAX_SAMPLES, &rows))
        wrong = "rows";
    if (!read_whole(lash_store_text(store, "samples"), INT32_MAX, &samples)) wrong = "samples";
    if (!read_whole(lash_store_text(store, "seed"), UINT64_MAX, &store->seed)) wrong = "seed";
    if (strlen(lash_store_text(store, "version")) > 64) wrong = "version";
    store->rows = (int64_t)rows;
    store->samples = (int)samples;
    if (wrong == NULL) return true;
    return store_damaged(store, error, "its %s is '%.40s'", wrong, lash_store_text(store, wrong));
}

bool store_read_info(LashStore* store, LashError* error) {
    sqlite3_stmt* s = store_prepare(store, "SELECT value FROM info WHERE key = ?1", error);
    bool good = s != NULL;
    for (int i = 0; i < STORE_KEYS && good; ++i) good = read_key(store, s, i, error);
    sqlite3_finalize(s);
    if (!good) return false;
    if (strcmp(lash_store_text(store, "format"), "lash-store/1") != 0) {
        lash_error_set(error, LASH_ERROR_IO, "", "this store has a format that is not known here");
        lash_error_file(error, store->path);
        return false;
    }
    return check_values(store, error);
}

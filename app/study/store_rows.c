// The rows of a store: written between begin and commit, read with every column checked.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/json_writer.h"
#include "app/study/store_internal.h"
#include "core/arena.h"

// ---- writing ------------------------------------------------------------------------------------

bool lash_store_begin(LashStore* store, LashError* error) {
    if (store->put == NULL) {
        store->mark = store_prepare(
            store, "INSERT OR IGNORE INTO sample(id, status) VALUES(?1, 'running')", error);
        store->put =
            store_prepare(store,
                          "INSERT OR REPLACE INTO sample VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                          "?8, ?9, ?10, ?11, ?12, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), "
                          "?13)",
                          error);
        store->replay = lash_alloc(STORE_REPLAY);
    }
    return store->put != NULL && store->mark != NULL && store_run(store, "BEGIN IMMEDIATE;", error);
}

bool lash_store_commit(LashStore* store, LashError* error) {
    if (error->status == LASH_OK && store_run(store, "COMMIT;", error)) return true;
    sqlite3_exec(store->db, "ROLLBACK;", NULL, NULL, NULL);
    return false;
}

bool lash_store_mark(LashStore* store, int64_t id, LashError* error) {
    sqlite3_bind_int64(store->mark, 1, id);
    return store_finish(store, store->mark, error);
}

bool lash_store_unmark(LashStore* store, LashError* error) {
    return store_run(store, "DELETE FROM sample WHERE status = 'running';", error);
}

char* store_write_numbers(const double* values, int count) {
    AppJson json = {0};
    app_json_begin_array(&json);
    for (int i = 0; i < count; ++i) app_json_number(&json, values[i]);
    app_json_end_array(&json);
    return json.text;
}

// What is no number is NULL.
static void bind_number(sqlite3_stmt* s, int place, double value) {
    if (isfinite(value)) sqlite3_bind_double(s, place, value);
}

bool lash_store_put(LashStore* store, const LashStudy* study, const LashSample* sample,
                    LashError* error) {
    sqlite3_stmt* s = store->put;
    char* x = store_write_numbers(sample->x, study->parameters);
    char* y = store_write_numbers(sample->y, study->outputs);
    lash_sample_replay(study, sample->x, store->replay, STORE_REPLAY);
    sqlite3_bind_int64(s, 1, sample->id);
    sqlite3_bind_text(s, 2, lash_sample_status_name(sample->status), -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, sample->reason, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, x, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, y, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, sample->steps);
    sqlite3_bind_int64(s, 7, sample->iterations);
    bind_number(s, 8, sample->penetration);
    bind_number(s, 9, sample->joint_error);
    bind_number(s, 10, sample->velocity_error);
    bind_number(s, 11, sample->wall);
    sqlite3_bind_int(s, 12, sample->worker);
    sqlite3_bind_text(s, 13, store->replay, -1, SQLITE_STATIC);
    bool good = store_finish(store, s, error);
    lash_free(x);
    lash_free(y);
    return good;
}

// ---- reading ------------------------------------------------------------------------------------

#define ROW                                                                            \
    "SELECT id, status, reason, parameters, outputs, steps, iterations, penetration, " \
    "joint_error, "                                                                    \
    "velocity_error, wall, worker, finished, replay FROM sample ORDER BY id"
enum { ROW_COLUMNS = 14 };

// null is NAN
bool store_read_numbers(const char* text, double* values, int count) {
    if (*text++ != '[') return false;
    for (int i = 0; i < count; ++i) {
        char* end = NULL;
        if (i > 0 && *text++ != ',') return false;
        text += strspn(text, " ");
        if (strncmp(text, "null", 4) == 0) {
            values[i] = NAN;
            text += 4;
            continue;
        }
        size_t length = strspn(text, "+-.0123456789eE"); // neither hexadecimal nor "inf"
        values[i] = strtod(text, &end);
        if (length == 0 || end != text + length || !isfinite(values[i])) return false;
        text = end;
    }
    return strcmp(text, "]") == 0;
}

// Number and status of the row that s stands on. *status -1: it is running.
static bool read_state(const LashStore* store, sqlite3_stmt* s, int64_t* id, int* status,
                       LashError* error) {
    const char* name = NULL;
    if (!store_column_count(s, 0, id) || *id >= store->rows)
        return store_damaged(store, error, "sample %lld is not in its plan of %lld",
                             (long long)sqlite3_column_int64(s, 0), (long long)store->rows);
    bool text = store_column_text(s, 1, &name);
    *status = text ? lash_sample_status_find(name) : -1;
    if (*status >= 0 || (text && strcmp(name, "running") == 0)) return true;
    return store_damaged(store, error, "sample %lld has a status that is not known",
                         (long long)*id);
}

// A row with all its numbers; false when one is of a wrong kind.
static bool read_columns(sqlite3_stmt* s, LashSample* row, int parameters, int outputs) {
    const char *reason = "", *x = NULL, *y = NULL, *unused = NULL;
    int64_t worker = 0;
    bool has_reason = sqlite3_column_type(s, 2) != SQLITE_NULL;
    if (has_reason && !store_column_text(s, 2, &reason)) return false;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
    if (!store_column_count(s, 5, &row->steps) || !store_column_count(s, 6, &row->iterations) ||
        !store_column_count(s, 11, &worker) || worker > INT32_MAX)
        return false;
    row->worker = (int)worker;
    if (!store_column_number(s, 7, &row->penetration) ||
        !store_column_number(s, 8, &row->joint_error) ||
        !store_column_number(s, 9, &row->velocity_error) || !store_column_number(s, 10, &row->wall))
        return false;
    if (!store_column_text(s, 12, &unused) || !store_column_text(s, 13, &unused)) return false;
    if (!store_column_text(s, 3, &x) || !store_read_numbers(x, row->x, parameters)) return false;
    if (!store_column_text(s, 4, &y) || !store_read_numbers(y, row->y, outputs)) return false;
    for (int i = 0; i < parameters && row->status == LASH_SAMPLE_OK; ++i) {
        if (isnan(row->x[i])) return false;
    }
    return isfinite(row->wall);
}

// Visits all finished rows in order; `row` (with x and y) is filled before each call.
typedef bool VisitRow(void* context, sqlite3_stmt* s, const LashSample* row, LashError* error);
static bool visit_rows(LashStore* store, LashSample* row, const LashStudy* study, VisitRow* visit,
                       void* context, LashError* error) {
    sqlite3_stmt* s = store_prepare(store, ROW, error);
    int64_t last = -1;
    int code = SQLITE_DONE;
    bool good = s != NULL;
    while (good && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int status = -1;
        good = read_state(store, s, &row->id, &status, error);
        if (good && row->id <= last)
            good = store_damaged(store, error, "sample %lld stands twice", (long long)row->id);
        last = row->id;
        if (!good || status < 0) continue;
        row->status = (LashSampleStatus)status;
        good = read_columns(s, row, study->parameters, study->outputs)
                   ? visit(context, s, row, error)
                   : store_damaged(store, error, "the row of sample %lld", (long long)row->id);
    }
    if (good && code != SQLITE_DONE) good = store_fail(store, code, error);
    sqlite3_finalize(s);
    return good;
}

bool lash_store_states(LashStore* store, uint8_t* state, int64_t rows, LashError* error) {
    sqlite3_stmt* s = store_prepare(store, "SELECT id, status FROM sample", error);
    int code = SQLITE_DONE;
    bool good = s != NULL;
    LASH_ASSERT(rows == store->rows);
    memset(state, LASH_ROW_MISSING, (size_t)rows);
    while (good && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t id = 0;
        int status = -1;
        good = read_state(store, s, &id, &status, error);
        if (good) state[id] = status < 0 ? LASH_ROW_RUNNING : LASH_ROW_DONE;
    }
    sqlite3_finalize(s);
    return good && (code == SQLITE_DONE || store_fail(store, code, error));
}

bool lash_store_counts(LashStore* store, int64_t counts[LASH_SAMPLE_STATUSES], LashError* error) {
    sqlite3_stmt* s =
        store_prepare(store, "SELECT min(id), status, count(*) FROM sample GROUP BY status", error);
    int code = SQLITE_DONE;
    bool good = s != NULL;
    memset(counts, 0, LASH_SAMPLE_STATUSES * sizeof *counts);
    while (good && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t id = 0;
        int status = -1;
        good = read_state(store, s, &id, &status, error);
        if (good && status >= 0) counts[status] = sqlite3_column_int64(s, 2);
    }
    sqlite3_finalize(s);
    return good && (code == SQLITE_DONE || store_fail(store, code, error));
}

// ---- merging ------------------------------------------------------------------------------------

typedef struct Copy {
    LashStore* store;
    sqlite3_stmt* put;
} Copy;

static bool copy_row(void* context, sqlite3_stmt* s, const LashSample* row, LashError* error) {
    Copy* copy = context;
    (void)row; // its columns were checked, and are taken as they are
    for (int i = 0; i < ROW_COLUMNS; ++i)
        sqlite3_bind_value(copy->put, i + 1, sqlite3_column_value(s, i));
    return store_finish(copy->store, copy->put, error);
}

bool lash_store_copy(LashStore* store, LashStore* from, const LashStudy* study, LashError* error) {
    Copy copy = {.store = store};
    copy.put = store_prepare(store,
                             "INSERT OR REPLACE INTO sample VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                             "?9, ?10, ?11, ?12, ?13, ?14)",
                             error);
    if (copy.put == NULL) return false;
    LashSample* row = lash_sample_create(study);
    bool good = visit_rows(from, row, study, copy_row, &copy, error);
    lash_sample_destroy(row);
    sqlite3_finalize(copy.put);
    return good;
}

// ---- tables -------------------------------------------------------------------------------------

// Rows of the table, checked; -1 with error.
static int64_t count_rows(LashStore* store, LashError* error) {
    sqlite3_stmt* s = store_prepare(store, "SELECT count(*) FROM sample", error);
    int64_t count = -1;
    int code = s != NULL ? sqlite3_step(s) : SQLITE_ROW;
    if (s != NULL && code == SQLITE_ROW) count = sqlite3_column_int64(s, 0);
    if (code != SQLITE_ROW) store_fail(store, code, error);
    sqlite3_finalize(s);
    if (count <= store->rows) return count;
    store_damaged(store, error, "it has %lld rows, its plan %lld", (long long)count,
                  (long long)store->rows);
    return -1;
}

typedef struct Collection {
    LashStore* store;
    LashStoreTable* table;
    int64_t room;
} Collection;

static bool collect_row(void* context, sqlite3_stmt* s, const LashSample* row, LashError* error) {
    Collection* collection = context;
    LashStoreTable* table = collection->table;
    (void)s;
    if (table->rows == collection->room)
        return store_damaged(collection->store, error, "it has more rows than it counts");
    LashSample* to = &table->sample[table->rows];
    *to = *row;
    to->x = table->x + table->rows * table->parameters;
    to->y = table->y + table->rows * table->outputs;
    memcpy(to->x, row->x, (size_t)table->parameters * sizeof *to->x);
    memcpy(to->y, row->y, (size_t)table->outputs * sizeof *to->y);
    ++table->rows;
    return true;
}

LashStoreTable* store_table_create(const LashStudy* study, int64_t rows) {
    LashStoreTable* table = lash_alloc(sizeof *table);
    table->parameters = study->parameters;
    table->outputs = study->outputs;
    table->sample = lash_alloc((size_t)rows * sizeof *table->sample + 1);
    table->x = lash_alloc((size_t)(rows * study->parameters) * sizeof(double) + 1);
    table->y = lash_alloc((size_t)(rows * study->outputs) * sizeof(double) + 1);
    return table;
}

static LashStoreTable* read_table(LashStore* store, const LashStudy* study, LashError* error) {
    int64_t count = count_rows(store, error);
    if (count < 0) return NULL;
    LashStoreTable* table = store_table_create(study, count);
    Collection collection = {.store = store, .table = table, .room = count};
    LashSample* row = lash_sample_create(study);
    bool good = visit_rows(store, row, study, collect_row, &collection, error);
    lash_sample_destroy(row);
    if (good) return table;
    lash_store_table_destroy(table);
    return NULL;
}

// Counted and read in one transaction: a study that is running may commit rows in between.
LashStoreTable* lash_store_table(LashStore* store, const LashStudy* study, LashError* error) {
    if (!store_run(store, "SAVEPOINT reading;", error)) return NULL;
    LashStoreTable* table = read_table(store, study, error);
    sqlite3_exec(store->db, "RELEASE reading;", NULL, NULL, NULL);
    return table;
}

void lash_store_table_destroy(LashStoreTable* table) {
    if (table == NULL) return;
    lash_free(table->sample);
    lash_free(table->x);
    lash_free(table->y);
    lash_free(table);
}

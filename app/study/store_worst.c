// The points of the search for the worst case, in a table of their own: they are no samples.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/study/store_internal.h"
#include "core/arena.h"

bool lash_store_put_worst(LashStore* store, const LashStudy* study, const LashSample* sample,
                          LashError* error) {
    if (!store->has_worst && !store_run(store, store_worst_schema, error)) return false;
    store->has_worst = true;
    sqlite3_stmt* s =
        store_prepare(store, "INSERT INTO worst VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", error);
    if (s == NULL) return false;
    char* x = store_write_numbers(sample->x, study->parameters);
    char* y = store_write_numbers(sample->y, study->outputs);
    sqlite3_bind_int64(s, 1, sample->id);
    sqlite3_bind_text(s, 2, lash_sample_status_name(sample->status), -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, sample->reason, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, x, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, y, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, sample->steps);
    if (isfinite(sample->penetration)) sqlite3_bind_double(s, 7, sample->penetration);
    bool good = store_finish(store, s, error);
    sqlite3_finalize(s);
    lash_free(x);
    lash_free(y);
    return good;
}

// A row with all its columns; false when one is of a wrong kind.
static bool read_row(sqlite3_stmt* s, const LashStudy* study, LashSample* row) {
    const char *status = NULL, *reason = NULL, *x = NULL, *y = NULL;
    if (!store_column_count(s, 0, &row->id) || !store_column_text(s, 1, &status)) return false;
    int number = lash_sample_status_find(status);
    if (number < 0 || !store_column_text(s, 2, &reason)) return false;
    row->status = (LashSampleStatus)number;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
    if (!store_column_text(s, 3, &x) || !store_read_numbers(x, row->x, study->parameters))
        return false;
    if (!store_column_text(s, 4, &y) || !store_read_numbers(y, row->y, study->outputs))
        return false;
    for (int k = 0; k < study->parameters; ++k) {
        if (isnan(row->x[k])) return false;
    }
    return store_column_count(s, 5, &row->steps) && store_column_number(s, 6, &row->penetration);
}

static int64_t count_rows(LashStore* store, LashError* error) {
    int64_t count = -1;
    if (!store->has_worst) return 0;
    sqlite3_stmt* s = store_prepare(store, "SELECT count(*) FROM worst", error);
    int code = s != NULL ? sqlite3_step(s) : SQLITE_ROW;
    if (s != NULL && code == SQLITE_ROW) count = sqlite3_column_int64(s, 0);
    if (code != SQLITE_ROW) store_fail(store, code, error);
    sqlite3_finalize(s);
    return count;
}

LashStoreTable* lash_store_worst(LashStore* store, const LashStudy* study, LashError* error) {
    int64_t count = count_rows(store, error);
    if (count < 0) return NULL;
    LashStoreTable* table = store_table_create(study, count);
    if (count == 0) return table;
    sqlite3_stmt* s = store_prepare(store,
                                    "SELECT id, status, reason, parameters, outputs, steps, "
                                    "penetration FROM worst ORDER BY id",
                                    error);
    bool good = s != NULL;
    int code = SQLITE_DONE;
    while (good && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t n = table->rows;
        if (n < count) {
            table->sample[n].x = table->x + n * table->parameters;
            table->sample[n].y = table->y + n * table->outputs;
        }
        good = n < count && read_row(s, study, &table->sample[n]) && table->sample[n].id == n;
        if (!good) store_damaged(store, error, "row %lld of the worst case", (long long)n);
        ++table->rows;
    }
    if (good && code != SQLITE_DONE) good = store_fail(store, code, error);
    sqlite3_finalize(s);
    if (good) return table;
    lash_store_table_destroy(table);
    return NULL;
}

static bool has_point(const LashStoreTable* table, const LashSample* sample) {
    size_t bytes = (size_t)table->parameters * sizeof *table->x;
    for (int64_t i = 0; i < table->rows; ++i)
        if (memcmp(table->sample[i].x, sample->x, bytes) == 0) return true;
    return false;
}

bool lash_store_copy_worst(LashStore* store, LashStore* from, const LashStudy* study,
                           LashError* error) {
    LashStoreTable* known = lash_store_worst(store, study, error);
    LashStoreTable* more = known != NULL ? lash_store_worst(from, study, error) : NULL;
    bool good = more != NULL;
    int64_t next = good ? known->rows : 0;
    for (int64_t i = 0; good && i < more->rows; ++i) {
        if (has_point(known, &more->sample[i])) continue;
        LashSample row = more->sample[i];
        row.id = next++;
        good = lash_store_put_worst(store, study, &row, error);
    }
    lash_store_table_destroy(known);
    lash_store_table_destroy(more);
    return good;
}

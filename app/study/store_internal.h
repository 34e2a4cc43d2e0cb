// Shared by the files of the store; the only ones that see SQLite.
#ifndef LASH_APP_STUDY_STORE_INTERNAL_H
#define LASH_APP_STUDY_STORE_INTERNAL_H

#include <sqlite3.h>

#include "app/study/store.h"

enum { STORE_KEYS = 14 };

struct LashStore {
    sqlite3* db;
    sqlite3_stmt *mark, *put;
    int lock; // descriptor, -1: none
    char* path;
    char* replay;           // (STORE_REPLAY)
    char* text[STORE_KEYS]; // of table info, checked
    LashShard shard;
    int64_t rows;   // of the plan
    bool has_worst; // the table of the search for the worst case
    int samples;    // asked for on the command line, 0: none
    uint64_t seed;
};
enum { STORE_REPLAY = 1 << 16 };

extern const char* const store_keys[STORE_KEYS];

// Each returns false and fills error: what SQLite says; what is wrong in the file.
bool store_fail(const LashStore* store, int code, LashError* error);
bool store_damaged(const LashStore* store, LashError* error, const char* format, ...)
    LASH_PRINTF(3, 4);

bool store_run(LashStore* store, const char* sql, LashError* error);
sqlite3_stmt* store_prepare(LashStore* store, const char* sql, LashError* error);
// Room for this many rows; empty.
LashStoreTable* store_table_create(const LashStudy* study, int64_t rows);
// Steps a statement that gives no rows, and makes it ready for the next time.
bool store_finish(LashStore* store, sqlite3_stmt* statement, LashError* error);

// Settings that keep a hostile file from running anything: before the first statement.
void store_harden(sqlite3* db);
// Nothing but the tables that lash makes, exactly as it makes them.
extern const char store_schema[];
extern const char store_worst_schema[]; // of the table that the search for the worst case adds
bool store_check_schema(LashStore* store, LashError* error);
// Reads and checks table info into text, shard, rows, samples, seed.
bool store_read_info(LashStore* store, LashError* error);

// Numbers of a row as text, "[1, 2.5, null]": written (the caller frees it), and read; false when
// there are not exactly count of them.
char* store_write_numbers(const double* values, int count);
bool store_read_numbers(const char* text, double* values, int count);

// Columns of the row that a statement stands on, checked: false when the type or range is wrong.
// Text lives until the next step.
bool store_column_text(sqlite3_stmt* statement, int column, const char** text);
bool store_column_count(sqlite3_stmt* statement, int column, int64_t* count);  // >= 0
bool store_column_number(sqlite3_stmt* statement, int column, double* number); // NULL is NAN

#endif

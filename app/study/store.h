// The store of a study: one SQLite file, one row per sample. The only place that sees SQLite.
#ifndef LASH_APP_STUDY_STORE_H
#define LASH_APP_STUDY_STORE_H

#include "app/study/sample.h"
#include "app/study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LashStore LashStore;

// Share of the plan that this store is about: rows with i mod count == index.
typedef struct LashShard {
    int index, count;
} LashShard;

typedef enum LashStoreMode { LASH_STORE_READ, LASH_STORE_WRITE } LashStoreMode;

// Makes a new store, complete or not at all; an existing file is an error. The caller closes it.
LashStore* lash_store_create(const char* path, const LashStudy* study,
                             const LashStudyOverride* change, LashShard shard, LashError* error);
// Writing takes the store for this process alone, and undoes what a killed one left half done.
LashStore* lash_store_open(const char* path, LashStoreMode mode, LashError* error);
// The same from the bytes of a store, in memory.
LashStore* lash_store_open_bytes(const void* bytes, size_t size, LashError* error);
// The bytes of a new store without rows; path: for messages. The caller frees them (lash_free).
void* lash_store_plan_bytes(const LashStudy* study, const LashStudyOverride* change,
                            LashShard shard, const char* path, size_t* size, LashError* error);
// False with error when the last bytes could not be written. NULL is allowed.
bool lash_store_close(LashStore* store, LashError* error);

// Text of a key of the plan ("study_text", "model_text", "seed", ...), UTF-8; lives as long as the
// store.
const char* lash_store_text(const LashStore* store, const char* key);
const char* lash_store_path(const LashStore* store);
LashShard lash_store_shard(const LashStore* store);
int lash_store_samples(const LashStore* store); // asked for on the command line, 0: none

// The study of the store, with its model. Fails when files on disk are not the ones it began with.
LashStudy* lash_store_study(LashStore* store, LashError* error);
// The study without its model, from what the store holds alone: to read rows, not to run samples.
LashStudy* lash_store_plan(LashStore* store, LashError* error);
// False with error when two stores are not parts of the same study.
bool lash_store_same(LashStore* a, LashStore* b, LashError* error);

// Samples as they change: between begin and commit, all or nothing.
bool lash_store_begin(LashStore* store, LashError* error);
bool lash_store_commit(LashStore* store, LashError* error);
bool lash_store_mark(LashStore* store, int64_t id, LashError* error); // about to run
bool lash_store_unmark(LashStore* store, LashError* error);           // none is running
bool lash_store_put(LashStore* store, const LashStudy* study, const LashSample* sample,
                    LashError* error);
// Copies all finished rows of `from`, a store of the same study.
bool lash_store_copy(LashStore* store, LashStore* from, const LashStudy* study, LashError* error);

// State of every sample of the plan, (rows) bytes.
enum { LASH_ROW_MISSING, LASH_ROW_RUNNING, LASH_ROW_DONE };
bool lash_store_states(LashStore* store, uint8_t* state, int64_t rows, LashError* error);

// Rows by status.
bool lash_store_counts(LashStore* store, int64_t counts[LASH_SAMPLE_STATUSES], LashError* error);

// All finished rows, by number.
typedef struct LashStoreTable {
    int64_t rows;
    int parameters, outputs;
    LashSample* sample; // (rows) x and y point into the blocks below
    double *x, *y;
} LashStoreTable;
LashStoreTable* lash_store_table(LashStore* store, const LashStudy* study, LashError* error);
void lash_store_table_destroy(LashStoreTable* table); // NULL is allowed

// Points that the search for the worst case has run, in its order: a table of its own, made by the
// first of them. Put between begin and commit.
bool lash_store_put_worst(LashStore* store, const LashStudy* study, const LashSample* sample,
                          LashError* error);
LashStoreTable* lash_store_worst(LashStore* store, const LashStudy* study, LashError* error);
// Appends the points of `from` that the store does not have.
bool lash_store_copy_worst(LashStore* store, LashStore* from, const LashStudy* study,
                           LashError* error);

// True when the file begins like a store.
bool lash_store_is_one(const char* path);

#ifdef __cplusplus
}
#endif
#endif

// Coverage-guided fuzzing of study stores (libFuzzer): what dump, report, resume and merge read.
//
// Bytes changed at random find the b-trees of SQLite; what lash itself reads lies behind them. So
// most mutations are SQL on the store of the input: any column of any row gets any type, texts of
// the plan are changed at random, the schema is rewritten.
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/study/figures.h"
#include "core/arena.h"

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

// ---- what is read -------------------------------------------------------------------------------

// A refusal has a reason and the exit code of files, or of the CAD that a model names.
static void expect_reason(const LashError* error) {
    bool told = error->status == LASH_ERROR_IO || error->status == LASH_ERROR_CAD;
    if (told && error->message[0] != '\0') return;
    fprintf(stderr, "refused with code %d: '%s'\n", (int)error->status, error->message);
    abort();
}

static void report(LashStore* store) {
    LashError error = {0};
    LashStudy* study = lash_store_plan(store, &error);
    // what a study of ten million samples costs is no finding
    bool small = study != NULL && study->samples <= 2000 && study->parameters <= 20;
    LashStoreTable* table = small ? lash_store_table(store, study, &error) : NULL;
    if (table != NULL) {
        LashAnalysis* analysis = lash_analysis_create(study, table, store, &error);
        if (analysis == NULL) {
            expect_reason(&error);
            lash_store_table_destroy(table);
            lash_study_destroy(study);
            return;
        }
        Page page = {0};
        AppJson json = {0};
        figure_page(&page, analysis, store);
        app_json_begin_object(&json);
        lash_analysis_put(&json, analysis);
        app_json_end_object(&json);
        FILE* table_file = fopen("/dev/null", "w");
        lash_analysis_print_csv(analysis, table_file);
        fclose(table_file);
        app_json_free(&json);
        page_free(&page);
        lash_analysis_destroy(analysis);
    } else if (study == NULL || small) {
        expect_reason(&error);
    }
    lash_store_table_destroy(table);
    lash_study_destroy(study);
}

// The first sample that is missing runs, when it is quick.
static void resume(LashStore* store) {
    LashError error = {0};
    LashStudy* study = lash_store_study(store, &error);
    if (study == NULL) {
        expect_reason(&error);
        return;
    }
    uint8_t* state = lash_alloc((size_t)study->samples);
    bool good = lash_store_states(store, state, study->samples, &error);
    int64_t next = 0;
    while (good && next < study->samples && state[next] != LASH_ROW_MISSING) ++next;
    if (good && study->model == NULL && next < study->samples) {
        LashSampler* sampler = lash_sampler_create(study);
        LashSample* sample = lash_sample_create(study);
        lash_sample_run(sampler, next, sample);
        good = lash_store_begin(store, &error) && lash_store_mark(store, next, &error) &&
               lash_store_put(store, study, sample, &error);
        good = lash_store_commit(store, &error) && good;
        lash_sample_destroy(sample);
        lash_sampler_destroy(sampler);
    }
    int64_t counts[LASH_SAMPLE_STATUSES];
    good = good && lash_store_counts(store, counts, &error);
    if (!good) expect_reason(&error);
    lash_free(state);
    lash_study_destroy(study);
}

static void merge(LashStore* store) {
    LashError error = {0};
    LashStudy* study = lash_store_plan(store, &error);
    if (study == NULL) return; // told before
    LashStudyOverride change = {.samples = lash_store_samples(store)};
    size_t size = 0;
    void* bytes = lash_store_plan_bytes(study, &change, (LashShard){0, 1}, "(new)", &size, &error);
    LashStore* merged = bytes != NULL ? lash_store_open_bytes(bytes, size, &error) : NULL;
    if (merged == NULL) abort(); // what lash makes it can read
    bool good = lash_store_begin(merged, &error) && lash_store_copy(merged, store, study, &error);
    good = lash_store_commit(merged, &error) && good;
    if (!good) expect_reason(&error);
    lash_store_close(merged, NULL);
    lash_free(bytes);
    lash_study_destroy(study);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    LashError error = {0};
    LashStore* store = lash_store_open_bytes(data, size, &error);
    if (store == NULL) {
        expect_reason(&error);
        return 0;
    }
    report(store);
    merge(store);
    resume(store);
    lash_store_close(store, NULL);
    return 0;
}

// ---- a store to begin with ----------------------------------------------------------------------

static const char study_text[] =
    "{\"format\": \"lash-study/1\", \"name\": \"fuzz\", \"model\": null, \"parameters\": "
    "[{\"name\": "
    "\"a\", \"distribution\": \"uniform\", \"low\": 1, \"high\": 2}, {\"name\": \"b\", "
    "\"distribution\": \"normal\", \"mean\": 1, \"sigma\": 2}], \"design\": {\"type\": "
    "\"random\", \"samples\": 40}, \"outputs\": [{\"name\": \"y\", \"expression\": \"2*a\", "
    "\"unit\": \"mm\", \"lsl\": 0}, {\"name\": \"z\", \"expression\": \"a + b\"}]}";
static uint8_t first[1 << 16];
static size_t first_size;

static sqlite3* open_copy(const void* data, size_t size) {
    sqlite3* db = NULL;
    unsigned char* copy = sqlite3_malloc64(size + 1);
    memcpy(copy, data, size);
    sqlite3_open(":memory:", &db);
    if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
        SQLITE_OK)
        return db;
    sqlite3_close(db);
    return NULL;
}

// Bytes of a database into data; 0: they do not fit.
static size_t take_bytes(sqlite3* db, uint8_t* data, size_t most) {
    sqlite3_int64 bytes = 0;
    unsigned char* all = sqlite3_serialize(db, "main", &bytes, 0);
    size_t size = all != NULL && bytes > 0 && (size_t)bytes <= most ? (size_t)bytes : 0;
    if (size > 0) memcpy(data, all, size);
    sqlite3_free(all);
    return size;
}

int LLVMFuzzerInitialize(int* argc, char*** argv) {
    (void)argc;
    (void)argv;
    LashError error = {0};
    LashStudySource source = {.file = "/nonexistent/fuzz.study.json", .text = study_text};
    LashStudyOverride none = {0};
    LashStudy* study = lash_study_parse(&source, &none, &error);
    size_t size = 0;
    void* bytes = lash_store_plan_bytes(study, &none, (LashShard){0, 1}, "first", &size, &error);
    sqlite3* db = open_copy(bytes, size);
    int code = sqlite3_exec(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 35) INSERT INTO "
        "sample SELECT i, iif(i % 9 = 8, 'failed', 'ok'), iif(i % 9 = 8, 'why', ''), '[' || (1 + i "
        "* 37 % 36 / 36.0) || ', ' || (i * 11 % 36 - 18) || ']', '[' || (i * i % 17) || ', ' || (i "
        "% 5) || '.5]', i, 3, 1e-12, 0, 1e-9, 0.1, 0, '2026-01-31T12:00:00.000Z', '' FROM n",
        NULL, NULL, NULL);
    if (code != SQLITE_OK) abort();
    first_size = take_bytes(db, first, sizeof first);
    sqlite3_close(db);
    lash_free(bytes);
    lash_study_destroy(study);
    LashStore* store = lash_store_open_bytes(first, first_size, &error);
    if (store == NULL) abort();
    lash_store_close(store, NULL);
    return 0;
}

// ---- mutations ----------------------------------------------------------------------------------

static const char* const columns[] = {
    "id",          "status", "reason",      "parameters",     "outputs", "steps",    "iterations",
    "penetration", "wall",   "joint_error", "velocity_error", "worker",  "finished", "replay"};
static const char* const keys[] = {"format", "version",    "study_file", "study_text", "list_text",
                                   "cad",    "model_text", "seed",       "samples",    "rows",
                                   "shard",  "folder",     "created",    "holder"};
static const char* const values[] = {"NULL",
                                     "0",
                                     "1",
                                     "-1",
                                     "3",
                                     "7",
                                     "9223372036854775807",
                                     "1e308",
                                     "-1e308",
                                     "5e-324",
                                     "9e999",
                                     "''",
                                     "'x'",
                                     "x''",
                                     "x'00'",
                                     "x'c328'",
                                     "CAST(x'c328' AS TEXT)",
                                     "CAST(x'6f6b00' AS TEXT)",
                                     "zeroblob(9000)",
                                     "'ok'",
                                     "'running'",
                                     "'failed'",
                                     "'time'",
                                     "'crashed'",
                                     "'[]'",
                                     "'[1]'",
                                     "'[1, 2]'",
                                     "'[null, null]'",
                                     "'[1e308, -1e308]'",
                                     "'[5e-324, 1e-323]'",
                                     "'[nan]'",
                                     "'[1,,2]'",
                                     "'0/1'",
                                     "'5/0'",
                                     "'1/2'",
                                     "'12'",
                                     "'1'",
                                     "'99999999999'",
                                     "'lash-store/1'",
                                     "'2026-01-31T12:00:00Z'",
                                     "'a,b\n1,2\n3,4\n'"};
static const char* const schemas[] = {
    "CREATE TABLE more(x)",
    "CREATE VIEW spy AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM sample; END",
    "CREATE INDEX i ON sample(status)",
    "DROP VIEW result",
    "DROP TABLE parameter",
    "DELETE FROM info WHERE key = 'holder'",
    "DELETE FROM sample",
    "DELETE FROM sample WHERE id > 3",
    ("INSERT INTO sample SELECT id + 7, status, reason, parameters, outputs, steps, iterations, "
     "penetration, joint_error, velocity_error, wall, worker, finished, replay FROM sample"),
    "UPDATE sample SET outputs = '[' || random() || ', ' || random()/1e300 || ']'",
    "UPDATE sample SET outputs = '[' || (random() % 3) || ', ' || (random() % 2) || ']'",
    "PRAGMA application_id = 7",
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = sql || ' '",
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET name = 'x' WHERE type = 'table'",
    "PRAGMA user_version = 9",
    "VACUUM"};
// parts of a study file, in pairs
static const char* const swaps[][2] = {{"random", "sobol"},
                                       {"sobol", "saltelli"},
                                       {"saltelli", "morris"},
                                       {"morris", "one-at-a-time"},
                                       {"one-at-a-time", "grid"},
                                       {"grid", "list"},
                                       {"list", "random"},
                                       {"uniform", "normal"},
                                       {"\"samples\": 40", "\"samples\": 10"},
                                       {"\"low\"", "\"mean\""},
                                       {"\"high\"", "\"sigma\""},
                                       {"2*a", "1/(a - 1.5)"},
                                       {"\"lsl\": 0", "\"usl\": 0"},
                                       {"\"model\": null", "\"model\": \"m.json\""},
                                       {"\"name\": \"b\"", "\"name\": \"c\""},
                                       {"]", "], \"description\": \"<b>\""}};

static uint32_t draw(uint32_t* state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}
#define PICK(list) list[draw(state, (uint32_t)(sizeof(list) / sizeof *(list)))]

// Changes a text of the plan as libFuzzer changes bytes.
static void mutate_text(sqlite3* db, const char* key) {
    sqlite3_stmt* s = NULL;
    static uint8_t text[1 << 16];
    int size = 0;
    if (sqlite3_prepare_v2(db, "SELECT value FROM info WHERE key = ?1", -1, &s, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 0) < 30000) {
        size = sqlite3_column_bytes(s, 0);
        if (size > 0) memcpy(text, sqlite3_column_blob(s, 0), (size_t)size);
    }
    sqlite3_finalize(s);
    size = (int)LLVMFuzzerMutate(text, (size_t)size, sizeof text);
    if (sqlite3_prepare_v2(db, "UPDATE info SET value = CAST(?1 AS TEXT) WHERE key = ?2", -1, &s,
                           NULL) != SQLITE_OK)
        return;
    sqlite3_bind_blob(s, 1, text, size, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
    sqlite3_step(s);
    sqlite3_finalize(s);
}

static void change(sqlite3* db, uint32_t* state) {
    char* sql = NULL;
    switch (draw(state, 8)) {
        case 0:
            sql = sqlite3_mprintf("UPDATE info SET value = %s WHERE key = '%s'", PICK(values),
                                  PICK(keys));
            break;
        case 1:
            mutate_text(db, PICK(keys));
            break;
        case 2:
            sql = sqlite3_mprintf("%s", PICK(schemas));
            break;
        case 3:
        case 4: {
            const char* const* swap = PICK(swaps);
            sql = sqlite3_mprintf(
                "UPDATE info SET value = replace(value, %Q, %Q) WHERE key = "
                "'study_text'",
                swap[0], swap[1]);
            break;
        }
        case 5:
            mutate_text(db, "study_text");
            break;
        default:
            sql = sqlite3_mprintf("UPDATE OR IGNORE sample SET %s = %s WHERE id %% %d = 0",
                                  PICK(columns), PICK(values), 1 + (int)draw(state, 5));
            break;
    }
    if (sql != NULL) sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    uint32_t state = seed;
    if (size < 512 && first_size <= max_size) { // no database: the first one
        memcpy(data, first, first_size);
        size = first_size;
    }
    if (draw(&state, 5) == 0) return LLVMFuzzerMutate(data, size, max_size);
    sqlite3* db = open_copy(data, size);
    if (db == NULL) return LLVMFuzzerMutate(data, size, max_size);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL); // one may never end
    int changes = 1 + (int)draw(&state, 3);
    for (int i = 0; i < changes; ++i) change(db, &state);
    size_t changed = take_bytes(db, data, max_size);
    sqlite3_close(db);
    return changed > 0 ? changed : LLVMFuzzerMutate(data, size, max_size);
}

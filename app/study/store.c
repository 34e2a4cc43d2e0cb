// SQLite with a rollback journal (DELETE: works on network file systems) and synchronous FULL:
// what was committed survives a power cut, what was not is undone by the next open.
//
// A store is made under another name and moved into place when its plan is complete, so that a
// store with half a plan never exists. One process writes: it holds a flock on the file (SQLite
// uses fcntl locks, the two do not meet). That descriptor is opened before SQLite's and closed
// after it, since closing any descriptor of a file drops the process's fcntl locks.
#include "app/study/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "app/json_scan.h"
#include "app/json_writer.h"
#include "app/version.h"
#include "core/arena.h"

enum { APPLICATION = 0x4C617368, KEYS = 16, LOCK_TRIES = 100, REPLAY = 1 << 16 };

struct LashStore {
    sqlite3* db;
    sqlite3_stmt *mark, *put;
    int lock; // descriptor, -1: none
    char* path;
    char* replay; // (REPLAY)
    struct {
        char *key, *text;
    } cache[KEYS];
    int cached;
};

static const char schema[] =
    "CREATE TABLE info(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE parameter(position INTEGER PRIMARY KEY, name TEXT, unit TEXT);"
    "CREATE TABLE output(position INTEGER PRIMARY KEY, name TEXT, unit TEXT, lsl REAL, usl REAL);"
    "CREATE TABLE sample(id INTEGER PRIMARY KEY, status TEXT NOT NULL, reason TEXT,"
    " parameters TEXT, outputs TEXT, steps INTEGER, iterations INTEGER, penetration REAL,"
    " joint_error REAL, velocity_error REAL, wall REAL, worker INTEGER, finished TEXT,"
    " replay TEXT);";

// ---- errors -------------------------------------------------------------------------------------

static bool store_fail(const LashStore* store, int code, LashError* error) {
    const char* text = store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(code);
    const char* advice = "";
    switch (code & 0xFF) {
        case SQLITE_FULL:
            advice = "; make room, then 'lash study resume' goes on";
            break;
        case SQLITE_IOERR:
            advice = "; the disk may be full or the file too large: nothing committed is lost";
            break;
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
            advice = "; is the folder writable?";
            break;
        case SQLITE_NOTADB:
            advice = "; this is no store of a study";
            break;
        case SQLITE_CORRUPT:
            advice = "; the store is damaged";
            break;
        case SQLITE_BUSY:
            advice = "; another program uses the store";
            break;
        default:
            break;
    }
    lash_error_set(error, LASH_ERROR_IO, "", "%.200s%s", text, advice);
    lash_error_file(error, store->path);
    return false;
}

static bool run_sql(LashStore* store, const char* sql, LashError* error) {
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || store_fail(store, code, error);
}

static bool finish_statement(LashStore* store, sqlite3_stmt* statement, LashError* error) {
    int code = sqlite3_step(statement);
    bool good = code == SQLITE_DONE || store_fail(store, code, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return good;
}

static sqlite3_stmt* prepare_sql(LashStore* store, const char* sql, LashError* error) {
    sqlite3_stmt* statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) store_fail(store, code, error);
    return statement;
}

// ---- opening ------------------------------------------------------------------------------------

static bool take_lock(LashStore* store, LashError* error) {
    store->lock = open(store->path, O_RDWR | O_CLOEXEC);
    if (store->lock < 0) {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot be opened for writing: %s",
                       strerror(errno));
        lash_error_file(error, store->path);
        return false;
    }
    const struct timespec pause = {.tv_nsec = 50000000};
    for (int i = 0; i < LOCK_TRIES; ++i) { // a killed process may still be dying
        if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) return true;
        nanosleep(&pause, NULL);
    }
    lash_error_set(error, LASH_ERROR_IO, "", "another process is writing this store");
    lash_error_file(error, store->path);
    return false;
}

static bool connect_file(LashStore* store, const char* path, int flags, LashError* error) {
    int code = sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code != SQLITE_OK) return store_fail(store, code, error);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, 10000);
    // A reader opens for writing, too, where it may: it may have to undo what a killed writer left.
    if (store->lock < 0 && (flags & SQLITE_OPEN_CREATE) == 0) return true;
    signal(SIGXFSZ, SIG_IGN); // a file over its limit is an error of the write, not a death
    return run_sql(store, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;", error);
}

static int64_t read_pragma(LashStore* store, const char* sql, LashError* error) {
    int64_t value = -1;
    sqlite3_stmt* statement = prepare_sql(store, sql, error);
    if (statement != NULL && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool check_store(LashStore* store, LashError* error) {
    int64_t id = read_pragma(store, "PRAGMA application_id", error);
    if (id != APPLICATION && error->status == LASH_OK) {
        lash_error_set(error, LASH_ERROR_IO, "", "this is no store of a study");
        lash_error_file(error, store->path);
    }
    if (error->status != LASH_OK) return false;
    if (strcmp(lash_store_text(store, "format"), "lash-store/1") == 0) return true;
    lash_error_set(error, LASH_ERROR_IO, "", "this store has a format that is not known here");
    lash_error_file(error, store->path);
    return false;
}

LashStore* lash_store_open(const char* path, LashStoreMode mode, LashError* error) {
    LashError local = {0};
    if (error == NULL) error = &local;
    LashStore* store = lash_alloc(sizeof *store);
    store->lock = -1;
    store->path = lash_strdup(path);
    bool write = mode == LASH_STORE_WRITE;
    bool good = true;
    if (access(path, F_OK) != 0) {
        good = lash_error_set(error, LASH_ERROR_IO, "", "there is no such store");
        lash_error_file(error, path);
    } else if (write) {
        good = take_lock(store, error);
    }
    good = good && connect_file(store, path, SQLITE_OPEN_READWRITE, error) &&
           check_store(store, error);
    if (good && write && sqlite3_db_readonly(store->db, "main") != 0)
        good = store_fail(store, SQLITE_READONLY, error);
    if (good) return store;
    lash_store_close(store, NULL);
    return NULL;
}

bool lash_store_close(LashStore* store, LashError* error) {
    if (store == NULL) return true;
    sqlite3_finalize(store->mark);
    sqlite3_finalize(store->put);
    int code = sqlite3_close(store->db);
    bool good = code == SQLITE_OK || store_fail(store, code, error);
    if (store->lock >= 0) close(store->lock);
    for (int i = 0; i < store->cached; ++i) {
        lash_free(store->cache[i].key);
        lash_free(store->cache[i].text);
    }
    lash_free(store->replay);
    lash_free(store->path);
    lash_free(store);
    return good;
}

bool lash_store_is_one(const char* path) {
    char head[16] = "";
    FILE* file = fopen(path, "rb");
    if (file == NULL) return false;
    size_t got = fread(head, 1, sizeof head, file);
    fclose(file);
    return got == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
}

// ---- the plan -----------------------------------------------------------------------------------

const char* lash_store_path(const LashStore* store) {
    return store->path;
}

const char* lash_store_text(LashStore* store, const char* key) {
    for (int i = 0; i < store->cached; ++i) {
        if (strcmp(store->cache[i].key, key) == 0) return store->cache[i].text;
    }
    LASH_ASSERT(store->cached < KEYS);
    sqlite3_stmt* statement = prepare_sql(store, "SELECT value FROM info WHERE key = ?1", NULL);
    const char* text = NULL;
    if (statement != NULL) {
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW)
            text = (const char*)sqlite3_column_text(statement, 0);
    }
    store->cache[store->cached].key = lash_strdup(key);
    store->cache[store->cached].text = lash_strdup(text != NULL ? text : "");
    sqlite3_finalize(statement);
    return store->cache[store->cached++].text;
}

LashShard lash_store_shard(LashStore* store) {
    LashShard shard = {0, 1};
    sscanf(lash_store_text(store, "shard"), "%d/%d", &shard.index, &shard.count);
    return shard;
}

static bool put_info(LashStore* store, const char* key, const char* value, LashError* error) {
    sqlite3_stmt* statement = prepare_sql(store, "INSERT INTO info VALUES(?1, ?2)", error);
    if (statement == NULL) return false;
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
    bool good = finish_statement(store, statement, error);
    sqlite3_finalize(statement);
    return good;
}

static void put_cad(AppJson* json, const char* step, const LashShape* shape) {
    if (step != NULL && shape != NULL) {
        app_json_begin_array(json);
        app_json_text(json, step);
        app_json_text(json, shape->hash);
        app_json_end_array(json);
    }
}

// [["file", "hash"], ...] of the CAD behind a model.
static char* cad_hashes(const LashModel* model) {
    AppJson json = {0};
    app_json_begin_array(&json);
    for (int i = 0; model != NULL && i < model->parts; ++i)
        put_cad(&json, model->part[i].step, model->part[i].cad);
    for (int i = 0; model != NULL && i < model->contacts; ++i) {
        put_cad(&json, model->contact[i].a.step, model->contact[i].a.extra);
        put_cad(&json, model->contact[i].b.step, model->contact[i].b.extra);
    }
    app_json_end_array(&json);
    for (char* c = json.text; *c != '\0'; ++c) {
        if (*c == '\n') *c = ' '; // one line
    }
    return json.text;
}

static bool put_numbers(LashStore* store, const LashStudy* study, const LashStudyOverride* change,
                        LashShard shard, LashError* error) {
    char text[1100];
    bool good = true;
    snprintf(text, sizeof text, "%llu", (unsigned long long)study->seed);
    good = good && put_info(store, "seed", text, error);
    snprintf(text, sizeof text, "%d", change->samples);
    good = good && put_info(store, "samples", text, error);
    snprintf(text, sizeof text, "%lld", (long long)study->samples);
    good = good && put_info(store, "rows", text, error);
    snprintf(text, sizeof text, "%d/%d", shard.index, shard.count);
    good = good && put_info(store, "shard", text, error);
    char* folder = getcwd(text, sizeof text);
    good = good && put_info(store, "folder", folder != NULL ? folder : "", error);
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return good && put_info(store, "created", text, error);
}

static char* read_list_text(const LashStudy* study) {
    char path[1024];
    size_t bytes = 0;
    if (study->design.file == NULL) return NULL;
    const char* slash = strrchr(study->file, '/');
    int folder = slash == NULL || study->design.file[0] == '/' ? 0 : (int)(slash - study->file) + 1;
    snprintf(path, sizeof path, "%.*s%s", folder, study->file, study->design.file);
    return app_read_file(path, APP_JSON_MAX_BYTES, &bytes, NULL);
}

static bool put_texts(LashStore* store, const LashStudy* study, LashError* error) {
    char* list = read_list_text(study);
    char* cad = cad_hashes(study->model);
    bool good =
        put_info(store, "format", "lash-store/1", error) &&
        put_info(store, "version", LASH_VERSION, error) &&
        put_info(store, "study_file", study->file, error) &&
        put_info(store, "study_text", study->text, error) &&
        put_info(store, "list_text", list != NULL ? list : "", error) &&
        put_info(store, "cad", cad, error) &&
        put_info(store, "model_text", study->model != NULL ? study->model->text : "", error);
    lash_free(list);
    lash_free(cad);
    return good;
}

static bool put_names(LashStore* store, const LashStudy* study, LashError* error) {
    bool good = true;
    sqlite3_stmt* s = prepare_sql(store, "INSERT INTO parameter VALUES(?1, ?2, ?3)", error);
    for (int i = 0; i < study->parameters && good && s != NULL; ++i) {
        sqlite3_bind_int(s, 1, i);
        sqlite3_bind_text(s, 2, study->parameter[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, study->parameter[i].unit, -1, SQLITE_STATIC);
        good = finish_statement(store, s, error);
    }
    sqlite3_finalize(s);
    s = prepare_sql(store, "INSERT INTO output VALUES(?1, ?2, ?3, ?4, ?5)", error);
    for (int i = 0; i < study->outputs && good && s != NULL; ++i) {
        const LashStudyOutput* output = &study->output[i];
        sqlite3_bind_int(s, 1, i);
        sqlite3_bind_text(s, 2, output->measured.name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, output->unit, -1, SQLITE_STATIC);
        if (!isnan(output->lsl)) sqlite3_bind_double(s, 4, output->lsl);
        if (!isnan(output->usl)) sqlite3_bind_double(s, 5, output->usl);
        good = finish_statement(store, s, error);
    }
    sqlite3_finalize(s);
    return good && s != NULL;
}

// A view with one column per parameter and output, for people with a spreadsheet or SQL.
static bool put_view(LashStore* store, const LashStudy* study, LashError* error) {
    enum { MOST = 900 };
    if (study->parameters + study->outputs > MOST) return true;
    size_t size = 256 + (size_t)(study->parameters + study->outputs) * 160;
    char* sql = lash_alloc(size);
    size_t used = (size_t)snprintf(sql, size, "CREATE VIEW result AS SELECT id, status");
    for (int i = 0; i < study->parameters; ++i) {
        used += (size_t)snprintf(sql + used, size - used,
                                 ", json_extract(parameters, '$[%d]') AS \"%.80s\"", i,
                                 study->parameter[i].name);
    }
    for (int i = 0; i < study->outputs; ++i) {
        char* name = sqlite3_mprintf("%w", study->output[i].measured.name);
        used += (size_t)snprintf(sql + used, size - used,
                                 ", json_extract(outputs, '$[%d]') AS \"%.80s\"", i, name);
        sqlite3_free(name);
    }
    snprintf(sql + used, size - used, " FROM sample;");
    bool good = run_sql(store, sql, error);
    lash_free(sql);
    return good;
}

static bool fill_store(LashStore* store, const LashStudy* study, const LashStudyOverride* change,
                       LashShard shard, LashError* error) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA application_id=%d; BEGIN;", APPLICATION);
    return run_sql(store, pragma, error) && run_sql(store, schema, error) &&
           put_texts(store, study, error) && put_numbers(store, study, change, shard, error) &&
           put_names(store, study, error) && put_view(store, study, error) &&
           run_sql(store, "COMMIT;", error);
}

// Makes the new name last.
static void sync_folder(const char* path) {
    char folder[1024];
    const char* slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
             slash == NULL ? "." : path);
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    fsync(file);
    close(file);
}

LashStore* lash_store_create(const char* path, const LashStudy* study,
                             const LashStudyOverride* change, LashShard shard, LashError* error) {
    char fresh[1024];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    if (access(path, F_OK) == 0) {
        lash_error_set(error, LASH_ERROR_IO, "",
                       lash_store_is_one(path)
                           ? "this store exists; 'lash study resume' goes on with it, -o names "
                             "another"
                           : "this file exists and is no store of a study; -o names another");
        lash_error_file(error, path);
        return NULL;
    }
    LashStore* store = lash_alloc(sizeof *store);
    store->lock = -1;
    store->path = lash_strdup(path);
    unlink(fresh);
    bool good = connect_file(store, fresh, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error) &&
                fill_store(store, study, change, shard, error);
    good = lash_store_close(store, error) && good;
    if (good && rename(fresh, path) != 0) {
        good = lash_error_set(error, LASH_ERROR_IO, "", "cannot be made: %s", strerror(errno));
        lash_error_file(error, path);
    }
    if (!good) {
        char journal[1100];
        snprintf(journal, sizeof journal, "%s-journal", fresh);
        unlink(fresh);
        unlink(journal);
        return NULL;
    }
    sync_folder(path);
    return lash_store_open(path, LASH_STORE_WRITE, error);
}

// ---- the study behind it ------------------------------------------------------------------------

static bool fail_changed(LashStore* store, const char* what, const char* file, LashError* error) {
    lash_error_set(error, LASH_ERROR_IO, "",
                   "the %s '%.200s' is not the one this study began with; restore it, or begin a "
                   "new store",
                   what, file);
    lash_error_file(error, store->path);
    return false;
}

static bool check_files(LashStore* store, const LashStudy* study, LashError* error) {
    if (study->model == NULL) return true;
    size_t bytes = 0;
    char* text = app_read_file(study->model_path, APP_JSON_MAX_BYTES, &bytes, NULL);
    bool same = text == NULL || strcmp(text, study->model->text) == 0;
    lash_free(text);
    if (!same) return fail_changed(store, "model", study->model_path, error);
    char* cad = cad_hashes(study->model);
    same = strcmp(cad, lash_store_text(store, "cad")) == 0;
    lash_free(cad);
    return same || fail_changed(store, "CAD of the model", study->model_path, error);
}

static LashStudy* parse_study(LashStore* store, bool plan_only, LashError* error) {
    char path[2048];
    const char* file = lash_store_text(store, "study_file");
    const char* model = lash_store_text(store, "model_text");
    const char* list = lash_store_text(store, "list_text");
    snprintf(path, sizeof path, "%s", file);
    if (file[0] != '/' && access(file, F_OK) != 0) { // called from another folder
        snprintf(path, sizeof path, "%s/%s", lash_store_text(store, "folder"), file);
        if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s", file);
    }
    LashStudySource source = {.file = path,
                              .text = lash_store_text(store, "study_text"),
                              .model_text = model[0] != '\0' ? model : NULL,
                              .list_text = list[0] != '\0' ? list : NULL,
                              .plan_only = plan_only};
    LashStudyOverride change = {.samples = atoi(lash_store_text(store, "samples")),
                                .has_seed = true,
                                .seed = strtoull(lash_store_text(store, "seed"), NULL, 10)};
    LashStudy* study = lash_study_parse(&source, &change, error);
    if (study == NULL || study->samples == atoll(lash_store_text(store, "rows"))) return study;
    lash_error_set(error, LASH_ERROR_IO, "", "the plan of this store does not fit its study");
    lash_error_file(error, store->path);
    lash_study_destroy(study);
    return NULL;
}

LashStudy* lash_store_plan(LashStore* store, LashError* error) {
    return parse_study(store, true, error);
}

LashStudy* lash_store_study(LashStore* store, LashError* error) {
    LashStudy* study = parse_study(store, false, error);
    if (study == NULL || check_files(store, study, error)) return study;
    lash_study_destroy(study);
    return NULL;
}

bool lash_store_same(LashStore* a, LashStore* b, LashError* error) {
    static const char* const keys[] = {"study_text", "model_text", "list_text", "cad",
                                       "seed",       "samples",    "rows",      "version"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (strcmp(lash_store_text(a, keys[i]), lash_store_text(b, keys[i])) == 0) continue;
        lash_error_set(error, LASH_ERROR_IO, "",
                       "this store belongs to another study than '%.200s': they differ in '%s'",
                       a->path, keys[i]);
        lash_error_file(error, b->path);
        return false;
    }
    return true;
}

// ---- samples ------------------------------------------------------------------------------------

bool lash_store_begin(LashStore* store, LashError* error) {
    if (store->put == NULL) {
        store->mark = prepare_sql(
            store, "INSERT OR IGNORE INTO sample(id, status) VALUES(?1, 'running')", error);
        store->put = prepare_sql(store,
                                 "INSERT OR REPLACE INTO sample VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                                 "?8, ?9, ?10, ?11, ?12, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), "
                                 "?13)",
                                 error);
        store->replay = lash_alloc(REPLAY);
    }
    return store->put != NULL && store->mark != NULL && run_sql(store, "BEGIN IMMEDIATE;", error);
}

bool lash_store_commit(LashStore* store, LashError* error) {
    if (error->status == LASH_OK && run_sql(store, "COMMIT;", error)) return true;
    sqlite3_exec(store->db, "ROLLBACK;", NULL, NULL, NULL);
    return false;
}

bool lash_store_mark(LashStore* store, int64_t id, LashError* error) {
    sqlite3_bind_int64(store->mark, 1, id);
    return finish_statement(store, store->mark, error);
}

bool lash_store_unmark(LashStore* store, LashError* error) {
    return run_sql(store, "DELETE FROM sample WHERE status = 'running';", error);
}

static char* write_numbers(const double* values, int count) {
    AppJson json = {0};
    app_json_begin_array(&json);
    for (int i = 0; i < count; ++i) app_json_number(&json, values[i]);
    app_json_end_array(&json);
    return json.text;
}

bool lash_store_put(LashStore* store, const LashStudy* study, const LashSample* sample,
                    LashError* error) {
    sqlite3_stmt* s = store->put;
    char* x = write_numbers(sample->x, study->parameters);
    char* y = write_numbers(sample->y, study->outputs);
    lash_sample_replay(study, sample->x, store->replay, REPLAY);
    sqlite3_bind_int64(s, 1, sample->id);
    sqlite3_bind_text(s, 2, lash_sample_status_name(sample->status), -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, sample->reason, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, x, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, y, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, sample->steps);
    sqlite3_bind_int64(s, 7, sample->iterations);
    sqlite3_bind_double(s, 8, sample->penetration);
    sqlite3_bind_double(s, 9, sample->joint_error);
    sqlite3_bind_double(s, 10, sample->velocity_error);
    sqlite3_bind_double(s, 11, sample->wall);
    sqlite3_bind_int(s, 12, sample->worker);
    sqlite3_bind_text(s, 13, store->replay, -1, SQLITE_STATIC);
    bool good = finish_statement(store, s, error);
    lash_free(x);
    lash_free(y);
    return good;
}

bool lash_store_copy(LashStore* store, LashStore* from, LashError* error) {
    sqlite3_stmt* other =
        prepare_sql(from, "SELECT * FROM sample WHERE status <> 'running' ORDER BY id", error);
    sqlite3_stmt* put = prepare_sql(store,
                                    "INSERT OR REPLACE INTO sample VALUES(?1, ?2, ?3, ?4, ?5, ?6, "
                                    "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                                    error);
    bool good = other != NULL && put != NULL;
    int code = SQLITE_DONE;
    while (good && (code = sqlite3_step(other)) == SQLITE_ROW) {
        for (int i = 0; i < 14; ++i) sqlite3_bind_value(put, i + 1, sqlite3_column_value(other, i));
        good = finish_statement(store, put, error);
    }
    if (good && code != SQLITE_DONE) good = store_fail(from, code, error);
    sqlite3_finalize(other);
    sqlite3_finalize(put);
    return good;
}

bool lash_store_states(LashStore* store, uint8_t* state, int64_t rows, LashError* error) {
    sqlite3_stmt* s = prepare_sql(store, "SELECT id, status = 'running' FROM sample", error);
    int code = SQLITE_DONE;
    memset(state, LASH_ROW_MISSING, (size_t)rows);
    while (s != NULL && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(s, 0);
        if (id >= 0 && id < rows)
            state[id] = sqlite3_column_int(s, 1) ? LASH_ROW_RUNNING : LASH_ROW_DONE;
    }
    sqlite3_finalize(s);
    return code == SQLITE_DONE ? s != NULL : store_fail(store, code, error);
}

bool lash_store_counts(LashStore* store, int64_t counts[LASH_SAMPLE_STATUSES], LashError* error) {
    sqlite3_stmt* s = prepare_sql(store, "SELECT status, count(*) FROM sample GROUP BY 1", error);
    int code = SQLITE_DONE;
    memset(counts, 0, LASH_SAMPLE_STATUSES * sizeof *counts);
    while (s != NULL && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int status = lash_sample_status_find((const char*)sqlite3_column_text(s, 0));
        if (status >= 0) counts[status] = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return code == SQLITE_DONE ? s != NULL : store_fail(store, code, error);
}

// ---- reading ------------------------------------------------------------------------------------

// "[1, 2.5, null]" -> numbers; null is NAN. False when there are not exactly count of them.
static bool read_numbers(const char* text, double* values, int count) {
    int n = 0;
    if (text == NULL || *text++ != '[') return false;
    while (*text != ']' && *text != '\0') {
        char* end = NULL;
        double value = NAN;
        text += strspn(text, " ,\n");
        if (*text == ']') break;
        if (strncmp(text, "null", 4) == 0) {
            text += 4;
        } else {
            value = strtod(text, &end);
            if (end == text) return false;
            text = end;
        }
        if (n == count) return false;
        values[n++] = value;
    }
    return n == count;
}

static bool read_row(LashStore* store, sqlite3_stmt* s, LashStoreTable* table, LashError* error) {
    LashSample* row = &table->sample[table->rows];
    row->x = table->x + table->rows * table->parameters;
    row->y = table->y + table->rows * table->outputs;
    row->id = sqlite3_column_int64(s, 0);
    const char* status = (const char*)sqlite3_column_text(s, 1);
    const char* reason = (const char*)sqlite3_column_text(s, 2);
    int known = status != NULL ? lash_sample_status_find(status) : -1;
    row->status = (LashSampleStatus)known;
    snprintf(row->reason, sizeof row->reason, "%s", reason != NULL ? reason : "");
    row->steps = sqlite3_column_int64(s, 5);
    row->iterations = sqlite3_column_int64(s, 6);
    row->penetration = sqlite3_column_double(s, 7);
    row->joint_error = sqlite3_column_double(s, 8);
    row->velocity_error = sqlite3_column_double(s, 9);
    row->wall = sqlite3_column_double(s, 10);
    row->worker = sqlite3_column_int(s, 11);
    if (known >= 0 &&
        read_numbers((const char*)sqlite3_column_text(s, 3), row->x, table->parameters) &&
        read_numbers((const char*)sqlite3_column_text(s, 4), row->y, table->outputs)) {
        ++table->rows;
        return true;
    }
    lash_error_set(error, LASH_ERROR_IO, "", "the row of sample %lld is damaged",
                   (long long)row->id);
    lash_error_file(error, store->path);
    return false;
}

LashStoreTable* lash_store_table(LashStore* store, const LashStudy* study, LashError* error) {
    int64_t count =
        read_pragma(store, "SELECT count(*) FROM sample WHERE status <> 'running'", error);
    if (count < 0) return NULL;
    LashStoreTable* table = lash_alloc(sizeof *table);
    table->parameters = study->parameters;
    table->outputs = study->outputs;
    table->sample = lash_alloc((size_t)count * sizeof *table->sample + 1);
    table->x = lash_alloc((size_t)(count * study->parameters) * sizeof(double) + 1);
    table->y = lash_alloc((size_t)(count * study->outputs) * sizeof(double) + 1);
    sqlite3_stmt* s =
        prepare_sql(store, "SELECT * FROM sample WHERE status <> 'running' ORDER BY id", error);
    int code = SQLITE_DONE;
    bool good = s != NULL;
    while (good && (code = sqlite3_step(s)) == SQLITE_ROW && table->rows < count)
        good = read_row(store, s, table, error);
    if (good && code != SQLITE_DONE && code != SQLITE_ROW) good = store_fail(store, code, error);
    sqlite3_finalize(s);
    if (good) return table;
    lash_store_table_destroy(table);
    return NULL;
}

void lash_store_table_destroy(LashStoreTable* table) {
    if (table == NULL) return;
    lash_free(table->sample);
    lash_free(table->x);
    lash_free(table->y);
    lash_free(table);
}

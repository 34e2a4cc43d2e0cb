// SQLite with a rollback journal (DELETE: works on network file systems) and synchronous FULL:
// what was committed survives a power cut, what was not is undone by the next open.
//
// A store is made in memory, written under a name of its own and linked into place when its plan is
// complete: a store with half a plan never exists, and of two programs that make the same store one
// is refused. One process writes: it holds a flock on the file from before it has its name (SQLite
// uses fcntl locks, the two do not meet), which ends with the process however it ends; who it is
// stands in table info for the next to tell. That descriptor is opened before SQLite's and closed
// after it, since closing any descriptor of a file drops the process's fcntl locks.
#include "app/study/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/json_writer.h"
#include "app/model/json_scan.h"
#include "app/study/store_internal.h"
#include "app/version.h"
#include "core/arena.h"
#include "core/input_file.h"

enum { APPLICATION = 0x4C617368, LOCK_TRIES = 100, HOLDER = 200 };

// ---- errors -------------------------------------------------------------------------------------

bool store_fail(const LashStore* store, int code, LashError* error) {
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

bool store_run(LashStore* store, const char* sql, LashError* error) {
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || store_fail(store, code, error);
}

bool store_finish(LashStore* store, sqlite3_stmt* statement, LashError* error) {
    int code = sqlite3_step(statement);
    bool good = code == SQLITE_DONE || store_fail(store, code, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return good;
}

sqlite3_stmt* store_prepare(LashStore* store, const char* sql, LashError* error) {
    sqlite3_stmt* statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) store_fail(store, code, error);
    return statement;
}

// ---- opening ------------------------------------------------------------------------------------

static bool io_fail(const char* path, LashError* error, const char* message) {
    lash_error_set(error, LASH_ERROR_IO, "", "%s", message);
    lash_error_file(error, path);
    return false;
}

static LashStore* new_store(const char* path) {
    LashStore* store = lash_alloc(sizeof *store);
    store->lock = -1;
    store->path = lash_strdup(path);
    return store;
}

static void now_text(char* text, size_t size) {
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

// "process 4711 on machine since 2026-01-31T12:00:00Z"
static void holder_text(char* text, size_t size) {
    char host[65] = "?", since[32];
    gethostname(host, sizeof host - 1);
    now_text(since, sizeof since);
    snprintf(text, size, "process %ld on %s since %s", (long)getpid(), host, since);
}

// Tells who writes the store at path.
static bool fail_held(const char* path, LashError* error) {
    LashStore* store = lash_store_open(path, LASH_STORE_READ, NULL);
    const char* holder = store != NULL ? lash_store_text(store, "holder") : "";
    char message[HOLDER + 200];
    snprintf(message, sizeof message,
             "%.*s is writing this store; wait for it or end it, -o names another", HOLDER,
             holder[0] != '\0' ? holder : "another process");
    lash_store_close(store, NULL);
    return io_fail(path, error, message);
}

// True when a process holds the store at path for writing.
static bool is_held(const char* path) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return held;
}

static bool take_lock(LashStore* store, LashError* error) {
    store->lock = open(store->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
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
    return fail_held(store->path, error);
}

static int64_t read_pragma(LashStore* store, const char* sql, LashError* error) {
    int64_t value = -1;
    sqlite3_stmt* statement = store_prepare(store, sql, error);
    int code = statement != NULL ? sqlite3_step(statement) : SQLITE_ROW;
    if (statement != NULL && code == SQLITE_ROW) value = sqlite3_column_int64(statement, 0);
    if (code != SQLITE_ROW) store_fail(store, code, error);
    sqlite3_finalize(statement);
    return value;
}

// The connection is there: nothing in the file is believed before this.
static bool check_store(LashStore* store, LashError* error) {
    int64_t id = read_pragma(store, "PRAGMA application_id", error);
    if (id != APPLICATION && error->status == LASH_OK)
        io_fail(store->path, error, "this is no store of a study");
    if (error->status != LASH_OK) return false;
    return store_check_schema(store, error) && store_read_info(store, error);
}

static bool put_holder(LashStore* store, LashError* error) {
    char holder[HOLDER];
    sqlite3_stmt* s =
        store_prepare(store, "INSERT OR REPLACE INTO info VALUES('holder', ?1)", error);
    if (s == NULL) return false;
    holder_text(holder, sizeof holder);
    sqlite3_bind_text(s, 1, holder, -1, SQLITE_STATIC);
    bool good = store_finish(store, s, error);
    sqlite3_finalize(s);
    return good;
}

static bool connect_file(LashStore* store, LashStoreMode mode, LashError* error) {
    // A reader opens for writing, too, where it may: it may have to undo what a killed writer left.
    int code = sqlite3_open_v2(store->path, &store->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code != SQLITE_OK) return store_fail(store, code, error);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, 10000);
    store_harden(store->db);
    if (!check_store(store, error)) return false;
    if (mode == LASH_STORE_READ) return true;
    signal(SIGXFSZ, SIG_IGN); // a file over its limit is an error of the write, not a death
    if (sqlite3_db_readonly(store->db, "main") != 0)
        return store_fail(store, SQLITE_READONLY, error);
    return store_run(store, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;", error) &&
           put_holder(store, error);
}

// lock: of a file that this process has just made, -1: to be taken.
static LashStore* open_store(const char* path, LashStoreMode mode, int lock, LashError* error) {
    LashError local = {0};
    if (error == NULL) error = &local;
    LashStore* store = new_store(path);
    struct stat status;
    bool good = true;
    store->lock = lock;
    lash_input_note(path); // no report goes onto its own store
    if (stat(path, &status) != 0) {
        good = io_fail(path, error, "there is no such store");
    } else if (!S_ISREG(status.st_mode)) {
        good = io_fail(path, error, "this is no file, so no store of a study");
    } else if (mode == LASH_STORE_WRITE && lock < 0) {
        good = take_lock(store, error);
    }
    good = good && connect_file(store, mode, error);
    if (good) return store;
    lash_store_close(store, NULL);
    return NULL;
}

LashStore* lash_store_open(const char* path, LashStoreMode mode, LashError* error) {
    return open_store(path, mode, -1, error);
}

LashStore* lash_store_open_bytes(const void* bytes, size_t size, LashError* error) {
    LashStore* store = new_store("(memory)");
    unsigned char* copy = sqlite3_malloc64(size + 1); // freed by the connection
    memcpy(copy, bytes, size);
    int code = sqlite3_open(":memory:", &store->db);
    if (code != SQLITE_OK) {
        sqlite3_free(copy);
    } else {
        code =
            sqlite3_deserialize(store->db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
                                SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    }
    bool good = code == SQLITE_OK || store_fail(store, code, error);
    if (good) store_harden(store->db);
    if (good && check_store(store, error)) return store;
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
    for (int i = 0; i < STORE_KEYS; ++i) lash_free(store->text[i]);
    lash_free(store->replay);
    lash_free(store->path);
    lash_free(store);
    return good;
}

bool lash_store_is_one(const char* path) {
    char head[16] = "";
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false; // a FIFO would wait
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

const char* lash_store_text(const LashStore* store, const char* key) {
    int i = 0;
    while (i < STORE_KEYS && strcmp(store_keys[i], key) != 0) ++i;
    LASH_ASSERT(i < STORE_KEYS && store->text[i] != NULL);
    return store->text[i];
}

LashShard lash_store_shard(const LashStore* store) {
    return store->shard;
}

int lash_store_samples(const LashStore* store) {
    return store->samples;
}

static bool put_info(LashStore* store, const char* key, const char* value, LashError* error) {
    sqlite3_stmt* statement = store_prepare(store, "INSERT INTO info VALUES(?1, ?2)", error);
    if (statement == NULL) return false;
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
    bool good = store_finish(store, statement, error);
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
    for (int i = 0; model != NULL && i < model->tables; ++i) {
        if (model->table[i].file == NULL) continue;
        app_json_begin_array(&json);
        app_json_text(&json, model->table[i].file);
        app_json_text(&json, model->table[i].hash);
        app_json_end_array(&json);
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
    now_text(text, sizeof text);
    good = good && put_info(store, "created", text, error);
    holder_text(text, HOLDER);
    return good && put_info(store, "holder", text, error);
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
    sqlite3_stmt* s = store_prepare(store, "INSERT INTO parameter VALUES(?1, ?2, ?3)", error);
    for (int i = 0; i < study->parameters && good && s != NULL; ++i) {
        sqlite3_bind_int(s, 1, i);
        sqlite3_bind_text(s, 2, study->parameter[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, study->parameter[i].unit, -1, SQLITE_STATIC);
        good = store_finish(store, s, error);
    }
    sqlite3_finalize(s);
    s = store_prepare(store, "INSERT INTO output VALUES(?1, ?2, ?3, ?4, ?5)", error);
    for (int i = 0; i < study->outputs && good && s != NULL; ++i) {
        const LashStudyOutput* output = &study->output[i];
        sqlite3_bind_int(s, 1, i);
        sqlite3_bind_text(s, 2, output->measured.name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, output->unit, -1, SQLITE_STATIC);
        if (!isnan(output->lsl)) sqlite3_bind_double(s, 4, output->lsl);
        if (!isnan(output->usl)) sqlite3_bind_double(s, 5, output->usl);
        good = store_finish(store, s, error);
    }
    sqlite3_finalize(s);
    return good && s != NULL;
}

// A view with one column per parameter and output, for people with a spreadsheet or SQL. Names may
// be anything, so %w doubles their quotes; a study with very many or very long ones has no view.
static bool put_view(LashStore* store, const LashStudy* study, LashError* error) {
    enum { MOST = 900, MOST_BYTES = 900000 };
    if (study->parameters + study->outputs > MOST) return true;
    sqlite3_str* sql = sqlite3_str_new(store->db);
    sqlite3_str_appendall(sql, "CREATE VIEW result AS SELECT id, status");
    for (int i = 0; i < study->parameters; ++i) {
        sqlite3_str_appendf(sql, ", json_extract(parameters, '$[%d]') AS \"%w\"", i,
                            study->parameter[i].name);
    }
    for (int i = 0; i < study->outputs; ++i) {
        sqlite3_str_appendf(sql, ", json_extract(outputs, '$[%d]') AS \"%w\"", i,
                            study->output[i].measured.name);
    }
    sqlite3_str_appendall(sql, " FROM sample;");
    int code = sqlite3_str_errcode(sql);
    bool fits = sqlite3_str_length(sql) <= MOST_BYTES;
    char* text = sqlite3_str_finish(sql);
    bool good = !fits;
    if (fits)
        good = code == SQLITE_OK ? store_run(store, text, error) : store_fail(store, code, error);
    sqlite3_free(text);
    return good;
}

static bool fill_store(LashStore* store, const LashStudy* study, const LashStudyOverride* change,
                       LashShard shard, LashError* error) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA application_id=%d; BEGIN;", APPLICATION);
    return store_run(store, pragma, error) && store_run(store, store_schema, error) &&
           put_texts(store, study, error) && put_numbers(store, study, change, shard, error) &&
           put_names(store, study, error) && put_view(store, study, error) &&
           store_run(store, "COMMIT;", error);
}

void* lash_store_plan_bytes(const LashStudy* study, const LashStudyOverride* change,
                            LashShard shard, const char* path, size_t* size, LashError* error) {
    LashStore* store = new_store(path);
    void* copy = NULL;
    int code = sqlite3_open(":memory:", &store->db);
    bool good = code == SQLITE_OK || store_fail(store, code, error);
    if (good && fill_store(store, study, change, shard, error)) {
        sqlite3_int64 bytes = 0;
        unsigned char* all = sqlite3_serialize(store->db, "main", &bytes, 0);
        if (all == NULL) {
            store_fail(store, SQLITE_NOMEM, error);
        } else {
            *size = (size_t)bytes;
            copy = lash_alloc(*size);
            memcpy(copy, all, *size);
            sqlite3_free(all);
        }
    }
    lash_store_close(store, NULL);
    return copy;
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

static bool fail_exists(const char* path, LashError* error) {
    if (!lash_store_is_one(path))
        return io_fail(path, error,
                       "this file exists and is no store of a study; -o names another");
    if (is_held(path)) return fail_held(path, error);
    return io_fail(path, error,
                   "this store exists; 'lash study resume' goes on with it, -o names another");
}

static bool write_all(int file, const char* data, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, data, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        data += done;
        size -= (size_t)done;
    }
    return fsync(file) == 0;
}

// Gives a finished file its name unless something has it already.
static bool put_in_place(const char* fresh, const char* path) {
    if (link(fresh, path) == 0) {
        unlink(fresh);
        return true;
    }
    if (errno == EEXIST || access(path, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(fresh, path) == 0; // a file system without links
}

// The file of a new store, held for writing: its descriptor, -1 with error.
static int make_file(const char* path, const void* data, size_t size, LashError* error) {
    size_t room = strlen(path) + 32;
    char* fresh = lash_alloc(room);
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) random = (uint32_t)getpid();
    snprintf(fresh, room, "%s.%08x.new", path, (unsigned)random);
    signal(SIGXFSZ, SIG_IGN); // a file over its limit is an error of the write, not a death
    int file = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool good = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && write_all(file, data, size) &&
                put_in_place(fresh, path);
    int reason = errno;
    if (!good && file >= 0) {
        unlink(fresh);
        close(file);
    }
    lash_free(fresh);
    if (good) {
        sync_folder(path);
        return file;
    }
    if (reason == EEXIST && access(path, F_OK) == 0) {
        fail_exists(path, error);
    } else {
        lash_error_set(error, LASH_ERROR_IO, "", "cannot be made: %s; choose another name",
                       strerror(reason));
        lash_error_file(error, path);
    }
    return -1;
}

LashStore* lash_store_create(const char* path, const LashStudy* study,
                             const LashStudyOverride* change, LashShard shard, LashError* error) {
    struct stat status;
    if (lstat(path, &status) == 0) {
        fail_exists(path, error);
        return NULL;
    }
    size_t size = 0;
    void* data = lash_store_plan_bytes(study, change, shard, path, &size, error);
    int file = data != NULL ? make_file(path, data, size, error) : -1;
    lash_free(data);
    return file >= 0 ? open_store(path, LASH_STORE_WRITE, file, error) : NULL;
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

// Texts in the store that cannot be read are a fault of the store, not of a file of the user.
static void blame_store(const LashStore* store, LashError* error) {
    if (error->status != LASH_ERROR_MODEL && error->status != LASH_ERROR_USAGE) return;
    LashError inner = *error;
    *error = (LashError){0};
    lash_error_set(error, LASH_ERROR_IO, "",
                   "the study in this store cannot be read: %.150s%s%.280s", inner.where,
                   inner.where[0] != '\0' ? ": " : "", inner.message);
    lash_error_file(error, store->path);
}

static LashStudy* parse_study(LashStore* store, bool plan_only, LashError* error) {
    char path[2048];
    const char* file = lash_store_text(store, "study_file");
    snprintf(path, sizeof path, "%s", file);
    if (!plan_only && file[0] != '/' && access(file, F_OK) != 0) { // called from another folder
        snprintf(path, sizeof path, "%s/%s", lash_store_text(store, "folder"), file);
        if (access(path, F_OK) != 0) snprintf(path, sizeof path, "%s", file);
    }
    // never NULL: what the store lacks is not looked for on the disk
    LashStudySource source = {.file = path,
                              .text = lash_store_text(store, "study_text"),
                              .model_text = lash_store_text(store, "model_text"),
                              .list_text = lash_store_text(store, "list_text"),
                              .plan_only = plan_only};
    LashStudyOverride change = {.samples = store->samples, .has_seed = true, .seed = store->seed};
    LashStudy* study = lash_study_parse(&source, &change, error);
    if (study == NULL) {
        blame_store(store, error);
        return NULL;
    }
    if (study->samples == store->rows) return study;
    store_damaged(store, error, "its plan has %lld rows, its study %lld", (long long)store->rows,
                  (long long)study->samples);
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

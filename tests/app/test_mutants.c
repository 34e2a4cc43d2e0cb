// Models changed at random, by the grammar: each goes through `lash check` and a short `lash run`.
// Allowed are the exit codes 0 and 2 to 7, and only numbers in the frames of a result.
//
// Mutant i is made from seed i alone. They run in forked children, batch by batch, so that a crash
// is seen and its input kept (mutants_found in the build folder). Half a minute of them; with
// LASH_LONG_TESTS=1 1e5. LASH_MUTANT=i runs one alone, in this process.
#include <cjson/cJSON.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "test.h"

#include "app/commands.h"
#include "app/lash.h"
#include "app/model/model_internal.h"
#include "app/run/record_file.h"
#include "command.h"

enum { MAX_MODELS = 200, MAX_NODES = 4096, MAX_WORDS = 600, BATCH = 200 };
static const int seconds_each = 20; // of processor time: a mutant may be hard, but not endless

static char *model_text[MAX_MODELS], *model_folder[MAX_MODELS];
static int models;
static const char* word[MAX_WORDS]; // keys and choices of the format
static int words;

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return below == 0 ? 0 : (uint32_t)(state >> 33) % below;
}

// ---- what mutants are made of -------------------------------------------------------------------

static void add_models(const char* folder) {
    DIR* list = opendir(folder);
    if (list == NULL) return;
    for (struct dirent* e; (e = readdir(list)) != NULL && models < MAX_MODELS;) {
        char path[1200];
        struct stat info;
        snprintf(path, sizeof path, "%.700s/%.300s", folder, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &info) != 0) continue;
        if (S_ISDIR(info.st_mode)) {
            add_models(path);
            continue;
        }
        if (strstr(e->d_name, ".json") == NULL) continue;
        char* text = slurp(path);
        size_t most = strstr(text, ".step\"") != NULL ? 4000 : 12000; // small: there are many
        if (strstr(text, "lash-model/1") != NULL && strlen(text) < most) {
            model_folder[models] = strdup(folder);
            model_text[models++] = text;
        } else {
            free(text);
        }
    }
    closedir(list);
}

static void add_words(const KeyTable* table, int depth) {
    if (table == NULL || depth > 6) return;
    for (int i = 0; i < table->keys && words + 20 < MAX_WORDS; ++i) {
        const KeySpec* key = &table->key[i];
        word[words++] = key->key;
        for (int k = 0; key->choices != NULL && key->choices[k] != NULL && words + 20 < MAX_WORDS;
             ++k)
            word[words++] = key->choices[k];
        add_words(key->table, depth + 1);
    }
}

typedef struct Nodes {
    cJSON* node[MAX_NODES];
    int count;
} Nodes;

static void list_nodes(cJSON* node, Nodes* nodes) {
    for (; node != NULL && nodes->count < MAX_NODES; node = node->next) {
        nodes->node[nodes->count++] = node;
        list_nodes(node->child, nodes);
    }
}

static cJSON* parent_of(const Nodes* nodes, const cJSON* child) {
    for (int i = 0; i < nodes->count; ++i)
        for (cJSON* c = nodes->node[i]->child; c != NULL; c = c->next)
            if (c == child) return nodes->node[i];
    return NULL;
}

static cJSON* extreme_value(void) {
    static const double numbers[] = {0,    -1,    1,   2,    0.5, -0.5, 1e308, -1e308, 1e-308,
                                     1e15, 1e-15, 1e6, 1e-6, 1e3, 1e-3, 1e9,   1e-9,   1e100};
    static const char* const texts[] = {"1/0",          "0/0", "sqrt(-1)",  "log(t-0.001)",
                                        "if(v>0,-1,1)", "t",   "1e300*t",   "x*v",
                                        "ln(0)",        "a+1", "ground",    "",
                                        "sin(1e9*t)",   "1/t", "exp(1e4*t)"};
    switch (draw(8)) {
        case 0:
            return cJSON_CreateString(texts[draw(sizeof texts / sizeof *texts)]);
        case 1:
            return cJSON_CreateString(word[draw((uint32_t)words)]);
        case 2:
            return cJSON_CreateBool(draw(2) == 0);
        case 3:
            return draw(2) == 0 ? cJSON_CreateNull() : cJSON_CreateObject();
        default:
            return cJSON_CreateNumber(numbers[draw(sizeof numbers / sizeof *numbers)]);
    }
}

static void put_instead(cJSON* parent, cJSON* old, cJSON* item) {
    if (item == NULL) return;
    if (old->string != NULL) { // replaced where it stands: the key stays
        free(item->string);
        item->string = strdup(old->string);
    }
    cJSON_ReplaceItemViaPointer(parent, old, item);
}

// A number of the same kind as the others: scaled, or another sign.
static void scale(cJSON* node) {
    static const double factor[] = {0, -1, 1e-9, 1e-3, 0.5, 2, 10, 1e3, 1e9, 1 + 1e-12};
    if (cJSON_IsNumber(node))
        cJSON_SetNumberValue(node,
                             node->valuedouble * factor[draw(sizeof factor / sizeof *factor)]);
}

static void mutate_once(cJSON* root) {
    static Nodes nodes;
    nodes.count = 0;
    list_nodes(root, &nodes);
    if (nodes.count < 2) return;
    cJSON* node = nodes.node[1 + draw((uint32_t)nodes.count - 1)];
    cJSON* other = nodes.node[1 + draw((uint32_t)nodes.count - 1)];
    cJSON* parent = parent_of(&nodes, node);
    if (parent == NULL) return;
    switch (draw(10)) {
        case 0:
            cJSON_Delete(cJSON_DetachItemViaPointer(parent, node));
            break;
        case 1: // twice
            if (cJSON_IsArray(parent))
                cJSON_AddItemToArray(parent, cJSON_Duplicate(node, true));
            else
                cJSON_AddItemToObject(parent, node->string, cJSON_Duplicate(node, true));
            break;
        case 2:
        case 3:
            put_instead(parent, node, extreme_value());
            break;
        case 4: // something else of the document: a reference, a pose, a shape
            put_instead(parent, node, cJSON_Duplicate(other, true));
            break;
        case 5:
            if (cJSON_IsObject(node))
                cJSON_AddItemToObject(node, word[draw((uint32_t)words)], extreme_value());
            break;
        case 6: // of the same key elsewhere: parts that coincide, names that are taken
            for (int i = 0; i < nodes.count && node->string != NULL; ++i) {
                other = nodes.node[(i + (int)draw((uint32_t)nodes.count)) % nodes.count];
                if (other == node || other->string == NULL) continue;
                if (strcmp(other->string, node->string) != 0) continue;
                put_instead(parent, node, cJSON_Duplicate(other, true));
                break;
            }
            break;
        default:
            scale(node);
    }
}

// STEP files are read where they are (and once: their shapes are cached).
static void name_files(cJSON* node, const char* folder) {
    for (; node != NULL; node = node->next) {
        name_files(node->child, folder);
        const char* end = cJSON_IsString(node) ? strstr(node->valuestring, ".step") : NULL;
        if (end == NULL || strcmp(end, ".step") != 0) continue;
        char path[1200];
        snprintf(path, sizeof path, "%.700s/%.300s", folder, node->valuestring);
        cJSON_SetValuestring(node, path);
    }
}

// The text of mutant number i, to be freed.
static char* make_mutant(uint64_t i) {
    state = i * 2654435761u + 12345;
    for (int k = 0; k < 4; ++k) draw(2);
    uint32_t model = draw((uint32_t)models);
    cJSON* root = cJSON_Parse(model_text[model]);
    if (root == NULL) return strdup("{}");
    name_files(root, model_folder[model]);
    for (int n = 1 + (int)draw(4); n > 0; --n) mutate_once(root);
    char* text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text != NULL ? text : strdup("{}");
}

// ---- what is done with them ---------------------------------------------------------------------

static bool code_allowed(int code) {
    return code == 0 || (code >= 2 && code <= 7);
}

// Only numbers in what describes the motion; false: one is none. The file is our own, so it is read
// in this process.
static bool frames_are_numbers(const char* path) {
    static const LashSeries series[] = {
        LASH_SERIES_TIME,      LASH_SERIES_POSITION,        LASH_SERIES_ORIENTATION,
        LASH_SERIES_KINETIC,   LASH_SERIES_VELOCITY,        LASH_SERIES_ANGULAR_VELOCITY,
        LASH_SERIES_STEPS,     LASH_SERIES_POSITION_ERROR,  LASH_SERIES_VELOCITY_ERROR,
        LASH_SERIES_POTENTIAL, LASH_SERIES_CONTACT_IMPULSE, LASH_SERIES_JOINT_FORCE};
    LashError error = {0};
    LashRecord head = {0};
    struct stat info;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return true; // there was nothing to keep
    bool good = fstat(descriptor, &info) == 0;
    RecordFile* file =
        good ? record_file_open(descriptor, NULL, (size_t)info.st_size, &head, &error) : NULL;
    good = file != NULL;
    size_t most = good ? (size_t)head.frames * (size_t)head.layout.total : 0;
    double* value = lash_alloc((most + 1) * sizeof *value);
    for (size_t s = 0; s < sizeof series / sizeof *series && good; ++s) {
        size_t count = (size_t)head.frames * (size_t)head.layout.width[series[s]];
        good = record_file_series(file, series[s], 0, head.frames, value, &error);
        for (size_t k = 0; k < count && good; ++k) good = isfinite(value[k]);
    }
    lash_free(value);
    record_file_close(file);
    if (file != NULL) record_head_free(&head);
    close(descriptor);
    return good;
}

typedef struct Shared { // with the child
    volatile uint64_t current;
    volatile int answer;           // of the last mutant that ended badly
    volatile uint64_t loaded, ran; // models that load, runs that reach their end
} Shared;

// 0: as it should be; 1: a wrong exit code; 2: a frame with something that is no number.
static int try_mutant(const char* path, const char* result, Shared* shared) {
    LashError error = {0};
    char duration[40];
    int code = app_check(2, (char*[]){"check", (char*)(uintptr_t)path, NULL});
    if (!code_allowed(code)) return 1;
    LashModel* model = lash_model_load(path, NULL, 0, &error);
    if (model == NULL) return code_allowed((int)error.status) ? 0 : 1;
    snprintf(duration, sizeof duration, "%.17g", 6 * model->simulation.settings.h);
    lash_model_destroy(model);
    ++shared->loaded;
    unlink(result);
    code = app_run(6, (char*[]){"run", (char*)(uintptr_t)path, "--duration", duration, "-o",
                                (char*)(uintptr_t)result, NULL});
    if (!code_allowed(code)) return 1;
    shared->ran += code == 0;
    return frames_are_numbers(result) ? 0 : 2;
}

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void allow_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    rlim_t soft = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds_each);
    setrlimit(RLIMIT_CPU, &(struct rlimit){soft, RLIM_INFINITY});
}

static void run_batch(Shared* shared, uint64_t end) {
    char path[300], result[300];
    scratch_file("mutant.json", path, sizeof path);
    scratch_file("mutant.h5", result, sizeof result);
    redirect("/dev/null", STDOUT_FILENO);
    redirect("/dev/null", STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (; shared->current < end; ++shared->current) {
        char* text = make_mutant(shared->current);
        write_text(path, text);
        free(text);
        allow_seconds();
        shared->answer = try_mutant(path, result, shared);
        if (shared->answer != 0) _exit(1);
    }
    _exit(0);
}

static void keep(uint64_t i, const char* why) {
    char path[400];
    snprintf(path, sizeof path, "%s/mutants_found", LASH_BINARY_DIR);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/mutants_found/%llu.json", LASH_BINARY_DIR,
             (unsigned long long)i);
    char* text = make_mutant(i);
    write_text(path, text);
    free(text);
    fprintf(stderr, "mutant %llu: %s; %s\n", (unsigned long long)i, why, path);
}

static void mutants_end_in_an_exit_code_and_give_numbers(void** unused) {
    (void)unused;
    bool all = getenv("LASH_LONG_TESTS") != NULL;
    uint64_t count = all ? 100000 : UINT64_MAX, bad = 0, slow = 0;
    double end = test_clock() + (all ? 1e9 : 15);
    Shared* shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    while (shared->current < count && test_clock() < end) {
        uint64_t stop = shared->current + BATCH < count ? shared->current + BATCH : count;
        int status = 0;
        shared->answer = 0;
        pid_t child = fork();
        if (child == 0) run_batch(shared, stop);
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
        char why[100];
        snprintf(why, sizeof why, "it crashes (status %d)", status);
        if (late) snprintf(why, sizeof why, "it takes more than %d s", seconds_each);
        if (shared->answer == 1) snprintf(why, sizeof why, "an exit code that is none");
        if (shared->answer == 2)
            snprintf(why, sizeof why, "a frame with something that is no number");
        keep(shared->current, why);
        slow += late;
        bad += !late;
        ++shared->current;
    }
    printf("%llu mutants, %llu load, %llu run to their end, %llu bad, %llu slow\n",
           (unsigned long long)shared->current, (unsigned long long)shared->loaded,
           (unsigned long long)shared->ran, (unsigned long long)bad, (unsigned long long)slow);
    munmap(shared, sizeof *shared);
    assert_int_equal(bad, 0);
}

int main(void) {
    add_models(LASH_SOURCE_DIR "/models");
    add_words(&model_root_table, 0);
    const char* one = getenv("LASH_MUTANT");
    if (one != NULL) {
        char path[300], result[300], *text = make_mutant(strtoull(one, NULL, 10));
        write_text(scratch_file("mutant.json", path, sizeof path), text);
        free(text);
        Shared shared = {0};
        return try_mutant(path, scratch_file("mutant.h5", result, sizeof result), &shared);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutants_end_in_an_exit_code_and_give_numbers),
    };
    int failed = models == 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}

// What a user does wrong, and whether the message helps: where, expected, found, what to do. The
// mistakes stand in tests/data/mistakes.txt.
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "model_text.h"

enum { FIELDS = 6, WORDS = 16, LEAST = 120 };

static const char model_text[] =
    "{'format': 'lash-model/1', 'name': 'Two bars', 'units': {'length': 'mm', 'mass': 'g', 'time': "
    "'s', 'angle': 'deg'},\n"
    " 'parameters': {'L': 300, 'play': 0.1, 'half': 'L/2'}, 'gravity': [0, 0, -9810],\n"
    " 'parts': [{'name': 'bar', 'shape': {'type': 'box', 'size': ['L', 20, 10]}, 'density': "
    "0.00785, 'pose': {'position': ['half', 0, 0]}},\n"
    "           {'name': 'arm', 'mass': 100, 'inertia': [1e4, 1e5, 1e5], 'pose': {'position': "
    "['L+100', 0, 0]}}],\n"
    " 'joints': [{'name': 'hinge', 'type': 'revolute', 'a': 'ground', 'b': 'bar', 'point': [0, 0, "
    "0], 'axis': [0, 1, 0]},\n"
    "            {'name': 'pin', 'type': 'revolute', 'a': 'bar', 'b': 'arm', 'point': ['L', 0, 0], "
    "'axis': [0, 1, 0], 'radius': 5, 'length': 20, 'clearance': 'play', 'friction': 0.1}],\n"
    " 'forces': [{'name': 'spring', 'type': 'joint_spring', 'joint': 'hinge', 'stiffness': 1e6}],\n"
    " 'contacts': [{'name': 'floor', 'a': {'part': 'ground', 'plane': {'point': [0, 0, -900], "
    "'normal': [0, 0, 1]}}, 'b': {'part': 'arm', 'sphere': {'center': [0, 0, 0], 'radius': "
    "10}}}],\n"
    " 'simulation': {'step': 1e-3, 'duration': 0.01},\n"
    " 'outputs': [{'name': 'lowest', 'quantity': 'position.z', 'of': 'bar', 'when': 'min'}]}\n";

static const char study_text[] =
    "{'format': 'lash-study/1', 'name': 'Play', 'model': 'model.json',\n"
    " 'parameters': [{'name': 'play', 'distribution': 'uniform', 'low': 0.05, 'high': 0.15}],\n"
    " 'design': {'type': 'sobol', 'samples': 4, 'seed': 1}, 'outputs': [{'name': 'lowest', 'usl': "
    "0}]}\n";

// The scratch folder is where the user stands: model.json, study.json, result.h5, study.db and
// part.step.
static int prepare(void** state) {
    (void)state;
    char path[400];
    write_model("model.json", model_text, path, sizeof path);
    write_model("study.json", study_text, path, sizeof path);
    make_part("part", "'steps': [{'box': {'size': [3, 2, 1]}}]");
    if (chdir(scratch()) != 0) return 1;
    unlink("part.part.json");
    Outcome run = LASH("run", "model.json", "-o", "result.h5");
    Outcome study = LASH("study", "run", "study.json");
    int bad = run.code | study.code;
    if (bad != 0) fprintf(stderr, "%s%s", run.err, study.err);
    outcome_free(&run);
    outcome_free(&study);
    return bad;
}

// model.json with its first text replaced by its second; lash check of it.
static Outcome check_changed(const char* change) {
    char path[400], before[300];
    const char* arrow = strstr(change, " =>");
    snprintf(before, sizeof before, "%.*s", (int)(arrow - change), change);
    const char* after = arrow[3] == ' ' ? arrow + 4 : arrow + 3;
    const char* at = strstr(model_text, before);
    if (at == NULL) fail_msg("the model does not have %s", before);
    char* text = calloc(1, sizeof model_text + strlen(after));
    assert_non_null(text);
    sprintf(text, "%.*s%s%s", (int)(at - model_text), model_text, after, at + strlen(before));
    write_model("m.json", text, path, sizeof path);
    free(text);
    return LASH("check", "m.json");
}

// Words are split at blanks; a fit is one word.
static Outcome type(const char* line) {
    Command command = {.argument = {NULL}};
    char copy[400];
    snprintf(copy, sizeof copy, "%s", line);
    int words = 0;
    char* rest = copy;
    for (char* word = strsep(&rest, " "); word != NULL && words < WORDS;
         word = strsep(&rest, " ")) {
        command.argument[words++] = word;
        if (strcmp(word, "fit") != 0 || rest == NULL) continue;
        command.argument[words++] = rest;
        break;
    }
    return run_command(&command);
}

static void check_mistake(char* line) {
    char* field[FIELDS] = {line};
    for (int i = 1; i < FIELDS; ++i) {
        field[i] = strstr(field[i - 1], " | ");
        if (field[i] == NULL) fail_msg("%d fields are missing: %s", FIELDS - i, line);
        *field[i] = '\0';
        field[i] += 3;
    }
    bool change = strstr(field[0], " =>") != NULL;
    Outcome o = change ? check_changed(field[0]) : type(field[0]);
    if (o.code != atoi(field[1])) fail_msg("%s: exit code %d: %s", field[0], o.code, o.err);
    static const char* const what[] = {"where", "expected", "found", "what to do"};
    for (int i = 2; i < FIELDS; ++i) {
        if (field[i][0] == '\0' || strstr(o.err, field[i]) == NULL)
            fail_msg("%s: does not tell %s (%s): %s", field[0], what[i - 2], field[i], o.err);
    }
    if (strncmp(o.err, "lash: ", 6) != 0) fail_msg("%s: %s", field[0], o.err);
    outcome_free(&o);
}

static void every_mistake_is_told_where_expected_found_and_what_to_do(void** state) {
    (void)state;
    char* list = slurp(LASH_SOURCE_DIR "/tests/data/mistakes.txt");
    int count = 0;
    char* rest = list;
#if defined(__SANITIZE_ADDRESS__)
    enum { EVERY = 4 }; // a process takes ten times as long
#else
    enum { EVERY = 1 };
#endif
    for (char* line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        if (line[0] == '#' || line[0] == '\0') continue;
        if (count++ % EVERY == 0) check_mistake(line);
    }
    free(list);
    assert_true(count >= LEAST);
}

static void a_schema_may_be_named_in_the_file(void** state) {
    (void)state;
    char path[400];
    write_model("s.json", "{'$schema': 'model.schema.json', ", path, sizeof path);
    FILE* file = fopen(path, "a");
    assert_non_null(file);
    for (const char* c = model_text + 1; *c != '\0'; ++c) fputc(*c == '\'' ? '"' : *c, file);
    fclose(file);
    Outcome o = LASH("check", "s.json");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
}

// The last key of the longest list is in the message.
static void lists_of_keys_are_not_cut(void** state) {
    (void)state;
    Outcome o = check_changed("'step': 1e-3 => 'foo': 1e-3");
    assert_non_null(strstr(o.err, "max_events"));
    outcome_free(&o);
    o = check_changed("'friction': 0.1}] => 'foo': 0.1}]");
    assert_non_null(strstr(o.err, "joint_b"));
    outcome_free(&o);
    o = check_changed("'position.z' => 'height'");
    assert_non_null(strstr(o.err, "energy.total"));
    outcome_free(&o);
}

// A folder that takes no files is found before the model is read: here it would be refused.
static void outputs_are_refused_before_the_simulation(void** state) {
    (void)state;
    static const char* const commands[][6] = {{"run", "broken.json", "-o", "nowhere/x.h5"},
                                              {"run", "broken.json", "--plot", "nowhere/x.svg"},
                                              {"run", "broken.json", "--trace", "nowhere/x.csv"},
                                              {"view", "broken.json", "--png", "nowhere/x.png"},
                                              {"view", "broken.json", "--video", "nowhere/x.mp4"}};
    char path[400];
    write_model("broken.json", "{'format': 'lash-model/1', 'nonsense': 1}", path, sizeof path);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
        Outcome o = LASH(commands[i][0], commands[i][1], commands[i][2], commands[i][3]);
        assert_int_equal(o.code, 7);
        assert_non_null(strstr(o.err, "there is no folder 'nowhere'"));
        outcome_free(&o);
    }
}

// ---- lash-make-step -----------------------------------------------------------------------------

static int make_step(const char* words, char** out) {
    char command[1000];
    snprintf(command, sizeof command, "'%s/lash-make-step' %s >made.txt 2>&1", LASH_BINARY_DIR,
             words);
    int status = system(command);
    *out = slurp("made.txt");
    return WEXITSTATUS(status);
}

static void make_step_helps_and_refuses(void** state) {
    (void)state;
    char path[400], *out;
    write_model("bar.json",
                "{'format': 'lash-step/1', 'name': 'bar', 'parameters': {'length': 3}, 'steps': "
                "[{'box': {'size': ['length', 2, 1]}}]}",
                path, sizeof path);
    static const struct {
        const char *words, *told;
        int code;
    } cases[] = {{"--help", "--set NAME=VALUE", 0},
                 {"", "expected two files, found 0", 2},
                 {"bar.json x.step --fast", "unknown option '--fast'", 2},
                 {"bar.json x.step --set lenght=3", "no parameter 'lenght'; it has length", 2},
                 {"bar.json x.step --set length=0,5", "decimals have a point", 2},
                 {"bar.json x.step --set length", "expected NAME=VALUE", 2},
                 {"none.json x.step", "none.json: cannot open", 7},
                 {"model.json x.step", "expected \"format\": \"lash-step/1\"", 3},
                 {"bar.json x.step --set length=5", "", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int code = make_step(cases[i].words, &out);
        if (code != cases[i].code || strstr(out, cases[i].told) == NULL)
            fail_msg("%s: %d: %s", cases[i].words, code, out);
        free(out);
    }
}

// The writer of OpenCASCADE forgets the names of faces with holes that a sweep has made.
static void make_step_keeps_the_names_of_faces_with_holes(void** state) {
    (void)state;
    char path[400], *out;
    write_model("disc.json",
                "{'format': 'lash-step/1', 'name': 'disc', 'steps': [{'extrude': {'profile': "
                "{'outer': {'circle': {'radius': 10}, 'name': 'rim'}, 'holes': [{'circle': "
                "{'radius': 2, 'center': [5, 0]}, 'name': 'bore'}, {'circle': {'radius': 2, "
                "'center': [-5, 0]}, 'name': 'second bore'}]}, 'length': 5, 'top': 'front', "
                "'bottom': 'back'}}]}",
                path, sizeof path);
    assert_int_equal(make_step("disc.json disc.step", &out), 0);
    free(out);
    Outcome o = LASH("info", "disc.step");
    static const char* const names[] = {"rim", "bore", "second bore", "front", "back"};
    for (int i = 0; i < 5; ++i) {
        if (strstr(o.out, names[i]) == NULL) fail_msg("no face '%s': %s", names[i], o.out);
    }
    outcome_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_told_where_expected_found_and_what_to_do),
        cmocka_unit_test(a_schema_may_be_named_in_the_file),
        cmocka_unit_test(lists_of_keys_are_not_cut),
        cmocka_unit_test(outputs_are_refused_before_the_simulation),
        cmocka_unit_test(make_step_helps_and_refuses),
        cmocka_unit_test(make_step_keeps_the_names_of_faces_with_holes),
    };
    return cmocka_run_group_tests(tests, prepare, remove_scratch);
}

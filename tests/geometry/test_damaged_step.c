// 200 damaged STEP files: each gives a message and status 4 or a clean load; never a signal, a hang
// or a file left behind. The damage is the same on every run.
#include "test.h"
#include "tests/cad_parts.h"

#include <sys/resource.h>

static CadFolder folder;
static char* source[2];
static size_t source_bytes[2];

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    char cache[700];
    snprintf(cache, sizeof cache, "%s/lash", folder.path);
    mkdir(cache, 0700);
    source[0] = cad_read(
        cad_make(&folder, "drilled",
                 "{\"format\": \"lash-step/1\", \"name\": \"drilled\", \"steps\": [{\"box\": "
                 "{\"size\": [10, 20, 30]}, \"name\": \"hull\"}, {\"do\": \"cut\", \"cylinder\": "
                 "{\"radius\": 2, \"length\": 30}, \"at\": [5, 5, 0], \"name\": \"bore\"}]}"),
        &source_bytes[0]);
    source[1] = cad_read(
        cad_make(
            &folder, "pair",
            "{\"format\": \"lash-step/1\", \"name\": \"pair\", \"parts\": [{\"name\": \"cam\", "
            "\"steps\": [{\"extrude\": {\"profile\": {\"cam\": {\"base\": 10, \"lift\": [[0, 0], "
            "[60, 1], [120, 3], [180, 2], [240, 1], [300, 0]]}}, \"length\": 4}}]}, {\"name\": "
            "\"ball\", \"at\": [30, 0, 0], \"steps\": [{\"sphere\": {\"radius\": 3}}]}]}"),
        &source_bytes[1]);
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    free(source[0]);
    free(source[1]);
    cad_remove_all(folder.path);
    return 0;
}

static uint32_t next_random(uint32_t* state) { // xorshift32, Marsaglia 2003
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static const double time_limit = 6; // [s]; some damage sends OpenCASCADE round in circles

// Processor time of this program and of the helpers that have ended [s]: other work on the machine
// does not count. A helper that waits is ended by the clock, five times as late.
static double processor_seconds(void) {
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval t[] = {self.ru_utime, self.ru_stime, children.ru_utime, children.ru_stime};
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += (double)t[i].tv_sec + 1e-6 * (double)t[i].tv_usec;
    return sum;
}

typedef struct Tally {
    int tried, loaded, refused, slow;
} Tally;

// Sanitizers make each start of the helper slow: there every fourth file is tried.
static bool chosen(Tally* tally) {
#if defined(__SANITIZE_ADDRESS__)
    if (getenv("LASH_LONG_TESTS") == NULL) return tally->tried++ % 4 == 0;
#endif
    ++tally->tried;
    return true;
}

// Loads a damaged text; fails the test on anything but a clean end.
static void try_text(const char* text, size_t bytes, const char* what, Tally* tally) {
    if (!chosen(tally)) return;
    char path[700];
    snprintf(path, sizeof path, "%s/damaged.step", folder.path);
    cad_write(path, text, bytes);
    int before = cad_files(folder.path);
    LashError error = {0};
    double begin = processor_seconds();
    LashShape* shape =
        lash_shape_load(path, &(LashImport){.time_limit = time_limit, .no_cache = true}, &error);
    double spent = processor_seconds() - begin;
    tally->slow += spent > time_limit + 2;
    if (spent > 5) print_message("%s: %.1f s\n", what, spent);
    if (shape != NULL) {
        ++tally->loaded;
        assert_true(lash_shape_check(shape, &error));
    } else {
        ++tally->refused;
        assert_true(error.message[0] != '\0');
        if (error.status != LASH_ERROR_CAD) fail_msg("%s: status %d", what, error.status);
        if (getenv("LASH_VERBOSE") != NULL) print_message("%s: %s\n", what, error.message);
    }
    lash_shape_destroy(shape);
    assert_int_equal(cad_files(folder.path), before);
}

static void files_cut_anywhere_are_refused_or_loaded(void** state) {
    (void)state;
    Tally tally = {0};
    for (int f = 0; f < 2; ++f)
        for (int i = 0; i < 30; ++i) { // 60 files: header, data, the last lines
            size_t n = source_bytes[f];
            size_t cut = i < 24 ? n * (size_t)(i - 7) / 17 : n - (size_t)(i - 24) * 13 - 1;
            if (i < 8) cut = (size_t)i * 60;
            char what[64];
            snprintf(what, sizeof what, "file %d cut at %zu", f, cut);
            try_text(source[f], cut, what, &tally);
        }
    print_message("cut: %d loaded, %d refused\n", tally.loaded, tally.refused);
    assert_int_equal(tally.slow, 0);
    assert_int_equal(tally.tried, 60);
    assert_true(3 * tally.refused > 2 * (tally.refused + tally.loaded));
}

static void files_with_flipped_bytes_are_refused_or_loaded(void** state) {
    (void)state;
    Tally tally = {0};
    uint32_t random = 2463534242u;
    for (int i = 0; i < 80; ++i) {
        int f = i % 2, changes = 1 + i % 8;
        char* text = malloc(source_bytes[f]);
        memcpy(text, source[f], source_bytes[f]);
        for (int k = 0; k < changes; ++k)
            text[next_random(&random) % source_bytes[f]] = (char)(next_random(&random) >> 11);
        char what[64];
        snprintf(what, sizeof what, "file %d, %d bytes flipped, case %d", f, changes, i);
        try_text(text, source_bytes[f], what, &tally);
        free(text);
    }
    print_message("flipped: %d loaded, %d refused\n", tally.loaded, tally.refused);
    assert_int_equal(tally.tried, 80);
    assert_int_equal(tally.slow, 0);
}

// Replaces the k-th occurrence of `from`; the k-th modulo their number.
static char* replaced(const char* text, size_t bytes, const char* from, const char* to, int k,
                      size_t* result_bytes) {
    int found = 0;
    for (const char* p = text; (p = strstr(p, from)) != NULL; ++p) ++found;
    char* out = malloc(bytes + strlen(to) + 1);
    const char* at = text;
    for (int i = 0; found > 0; ++i, ++at) {
        at = strstr(at, from);
        if (i == k % found) break;
    }
    size_t head = found > 0 ? (size_t)(at - text) : bytes, skip = found > 0 ? strlen(from) : 0;
    memcpy(out, text, head);
    strcpy(out + head, found > 0 ? to : "");
    memcpy(out + head + (found > 0 ? strlen(to) : 0), text + head + skip, bytes - head - skip);
    *result_bytes = bytes - skip + (found > 0 ? strlen(to) : 0);
    return out;
}

static void files_with_wrong_entities_are_refused_or_loaded(void** state) {
    (void)state;
    static const char* const swaps[][2] = {
        {"PLANE(", "SPHERICAL_SURFACE("},
        {"CYLINDRICAL_SURFACE(", "PLANE("},
        {"CARTESIAN_POINT('',(", "CARTESIAN_POINT('',(1.E400,"},
        {"DIRECTION('',(", "DIRECTION('',(0.,0.,0.),("},
        {"ADVANCED_FACE(", "NO_SUCH_ENTITY("},
        {"EDGE_LOOP('',(", "EDGE_LOOP('',(#999999,"},
        {"VERTEX_POINT('',#", "VERTEX_POINT('',#9"},
        {"ORIENTED_EDGE('',*,*,#", "ORIENTED_EDGE('',*,*,#1"},
        {"CLOSED_SHELL('',(", "CLOSED_SHELL('',(#1,"},
        {"MANIFOLD_SOLID_BREP('',#", "MANIFOLD_SOLID_BREP('',#2"},
        {"EDGE_CURVE('',#", "EDGE_CURVE('',#1"},
        {".T.", ".F."},
        {"CIRCLE('',#", "CIRCLE('',#1"},
        {"2.)", "-2.)"},
        {"2.)", "0.)"},
        {"10.", "1.E+300"},
        {"30.", "NaN"},
        {"20.", "1.E-300"},
        {"FACE_BOUND('',#", "FACE_BOUND('',$"},
        {"AXIS2_PLACEMENT_3D('',#", "AXIS2_PLACEMENT_3D('',#1"},
        {"SI_UNIT(.MILLI.,.METRE.)", "SI_UNIT($,.PARSEC.)"},
        {"B_SPLINE_CURVE_WITH_KNOTS(", "LINE("}};
    Tally tally = {0};
    for (int i = 0; i < 44; ++i) {
        size_t n;
        const char* const* swap = swaps[i % 22];
        char what[128],
            *text = replaced(source[i % 2], source_bytes[i % 2], swap[0], swap[1], i, &n);
        snprintf(what, sizeof what, "'%s' for '%s'", swap[1], swap[0]);
        try_text(text, n, what, &tally);
        free(text);
    }
    print_message("wrong entities: %d loaded, %d refused\n", tally.loaded, tally.refused);
    assert_int_equal(tally.tried, 44);
    assert_int_equal(tally.slow, 0);
}

static void files_that_are_no_step_are_refused(void** state) {
    (void)state;
    static const char* const texts[] = {
        "",
        "\n",
        "hello",
        "%PDF-1.4",
        "{\"format\": \"lash-model/1\"}",
        "ISO-10303-21;",
        "ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\nENDSEC;\nEND-ISO-10303-21;\n",
        "ISO-10303-21;\nDATA;\n#1=CARTESIAN_POINT('',(0.,0.,0.));\nENDSEC;\nEND-ISO-10303-21;\n",
        "ISO-10303-21;\nHEADER;\nFILE_SCHEMA(('X'));\nENDSEC;\nDATA;\n#1=PLANE('',#1);\nENDSEC;\n",
        "ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\n#4294967296=PLANE('',#99999999999);\nENDSEC;\n",
        "ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\n#1=(((((((((((((((((((((((((;\nENDSEC;\n",
        "ISO-10303-21;/*",
        "ISO-10303-21;\nDATA;\n#1='unterminated"};
    Tally tally = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        try_text(texts[i], strlen(texts[i]), "no STEP", &tally);
    char* zeros = calloc(1, 100000);
    try_text(zeros, 100000, "zeros", &tally);
    memcpy(zeros, "ISO-10303-21;", 13);
    try_text(zeros, 100000, "begin and zeros", &tally);
    for (int i = 0; i < 100000; ++i) zeros[i] = (char)(i * 2654435761u >> 13);
    try_text(zeros, 100000, "noise", &tally);
    free(zeros);
    assert_int_equal(tally.loaded, 0);
    assert_int_equal(tally.tried, 16);
    assert_int_equal(tally.slow, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_cut_anywhere_are_refused_or_loaded),        // 60
        cmocka_unit_test(files_with_flipped_bytes_are_refused_or_loaded),  // 80
        cmocka_unit_test(files_with_wrong_entities_are_refused_or_loaded), // 44
        cmocka_unit_test(files_that_are_no_step_are_refused),              // 16
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

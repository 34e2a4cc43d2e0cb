// The expression compiler against libm, closed forms, differences and an independent tree
// evaluator.
#include <time.h>
#include "test.h"

#include "core/arena.h"
#include "core/expression.h"
#include "core/math3.h"

static const char* const xyz[] = {"x", "y", "z"};

static LashExpression* compile(const char* text) {
    LashError error = {0};
    LashExpression* e = lash_expression_compile(text, xyz, 3, &error);
    if (e == NULL) print_error("\"%s\": %s\n", text, error.message);
    assert_non_null(e);
    return e;
}

static double value_at(const char* text, double x, double y, double z) {
    LashExpression* e = compile(text);
    double result = lash_expression_value(e, (double[]){x, y, z});
    lash_expression_destroy(e);
    return result;
}

static void check(const char* text, double got, double expected, double tolerance) {
    bool both_nan = isnan(got) && isnan(expected);
    if (got == expected || both_nan || fabs(got - expected) <= tolerance) return;
    print_error("%s: got %.17g, expected %.17g, tolerance %g\n", text, got, expected, tolerance);
    fail();
}

static void every_function_equals_libm(void** state) {
    (void)state;
    double x = 0.37, y = -1.9, z = 2.6;
    const struct {
        const char* text;
        double expected;
    } cases[] = {
        {"sin(x)", sin(x)},
        {"cos(x)", cos(x)},
        {"tan(x)", tan(x)},
        {"asin(x)", asin(x)},
        {"acos(x)", acos(x)},
        {"atan(y)", atan(y)},
        {"atan2(y, x)", atan2(y, x)},
        {"sinh(z)", sinh(z)},
        {"cosh(z)", cosh(z)},
        {"tanh(y)", tanh(y)},
        {"exp(y)", exp(y)},
        {"log(z)", log(z)},
        {"log10(z)", log10(z)},
        {"sqrt(z)", sqrt(z)},
        {"abs(y)", fabs(y)},
        {"sign(y)", -1},
        {"sign(z)", 1},
        {"sign(x-x)", 0},
        {"min(x, y)", y},
        {"max(x, y)", x},
        {"floor(y)", -2},
        {"ceil(y)", -1},
        {"mod(z, x)", fmod(z, x)},
        {"mod(y, x)", fmod(y, x) + x},
        {"mod(z, y)", fmod(z, y) + y},
        {"mod(x - 1.37, 4)", fmod(x - 1.37, 4) + 4},
        {"step(y)", 0},
        {"step(x)", 1},
        {"step(x - x)", 1},
        {"if(x < y, 1, 2)", 2},
        {"if(x > y, z, 2)", z},
        {"hypot(x, y)", hypot(x, y)},
        {"pi", LASH_PI},
        {"x < y", 0},
        {"x <= x", 1},
        {"x > y", 1},
        {"y >= x", 0},
        {"x == x", 1},
        {"x != x", 0},
        {"z^y", pow(z, y)},
        {"1.5e-3 * .5 + 2.E2", 1.5e-3 * .5 + 2e2},
        {"x / 0", INFINITY},
        {"log(y)", NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        check(cases[i].text, value_at(cases[i].text, x, y, z), cases[i].expected, 0);
    }
}

static void operators_bind_as_in_mathematics(void** state) {
    (void)state;
    const struct {
        const char* text;
        double expected;
    } cases[] = {
        {"-2^2", -4},       {"2^3^2", 512},       {"2^-1", 0.5},
        {"2^-x^2", 0.0625}, {"-x^2", -4},         {"(-x)^2", 4},
        {"x^3^2", 512},     {"x-3-4", -5},        {"x/4/2", 0.25},
        {"8/x*2", 8},       {"1+x*3", 7},         {"(1+x)*3", 9},
        {"-x*3", -6},       {"--x", 2},           {"+-+x", -2},
        {"x--3", 5},        {"1 + 1 < x + 1", 1}, {"2*x^2*3", 24},
        {"(x < 3) + 1", 2}, {"x*-2", -4},         {"x^2^0.5", 2.6651441426902251},
        {" ( ( x ) ) ", 2}, {"x\t+\n1", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        check(cases[i].text, value_at(cases[i].text, 2, 0, 0), cases[i].expected, 1e-15);
    }
}

// The gradient of text at (x, y, z) against central differences with step size s: error O(s^2).
static void check_differences(const char* text, const double* at, double tolerance) {
    LashExpression* e = compile(text);
    double gradient[3], p[3] = {at[0], at[1], at[2]};
    double value = lash_expression_gradient(e, p, gradient);
    check(text, value, lash_expression_value(e, p), 0);
    for (int i = 0; i < 3; ++i) { // Richardson: the error is O(s^4)
        double s = 1e-3, d[2];
        for (int k = 0; k < 2; ++k, s /= 2) {
            p[i] = at[i] + s;
            double plus = lash_expression_value(e, p);
            p[i] = at[i] - s;
            d[k] = (plus - lash_expression_value(e, p)) / (2 * s);
            p[i] = at[i];
        }
        double expected = (4 * d[1] - d[0]) / 3;
        check(text, gradient[i], expected, tolerance * (1 + fabs(expected)));
    }
    lash_expression_destroy(e);
}

static void gradients_equal_differences_for_every_function(void** state) {
    (void)state;
    const char* texts[] = {
        "sin(x*y)",
        "cos(x+z)",
        "tan(x)",
        "asin(x/2)",
        "acos(x*0.7)",
        "atan(y*z)",
        "atan2(y, x*z)",
        "sinh(x)",
        "cosh(y)",
        "tanh(x-y)",
        "exp(x*y)",
        "log(x+z)",
        "log10(z*x)",
        "sqrt(x+z)",
        "abs(y*x)",
        "sign(y)*x",
        "min(x*z, y)",
        "max(x*z, y)",
        "floor(x)*y",
        "ceil(x)*y",
        "mod(z, x)",
        "mod(y, z)",
        "step(x)*z",
        "if(x>y, x*y, z)",
        "if(x<y, x*y, z*z)",
        "hypot(x, y*z)",
        "x^2",
        "x^3",
        "z^5",
        "x^y",
        "y^3*z^-2",
        "x/y",
        "x-y*z",
        "-x/(y-z)",
        "(x<y)*z",
        "2^(x*y)",
        "(x+y)^2",
        "y^4",
    };
    const double at[3] = {0.37, -1.9, 2.6};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        check_differences(texts[i], at, 1e-9);
    }
}

static void gradients_equal_closed_forms(void** state) {
    (void)state;
    double x = 0.7, y = 1.3, z = -0.4, d[3];
    const double at[3] = {x, y, z};
    const struct {
        const char* text;
        double d[3];
    } cases[] = {
        {"8*cos(2*pi*x)", {-16 * LASH_PI * sin(2 * LASH_PI * x), 0, 0}},
        {"x^y", {y * pow(x, y - 1), pow(x, y) * log(x), 0}},
        {"exp(-x*y)*sin(z)",
         {-y * exp(-x * y) * sin(z), -x * exp(-x * y) * sin(z), exp(-x * y) * cos(z)}},
        {"tanh(30*x)", {30 / (cosh(30 * x) * cosh(30 * x)), 0, 0}},
        {"atan2(y, x)", {-y / (x * x + y * y), x / (x * x + y * y), 0}},
        {"x*y*z", {y * z, x * z, x * y}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        LashExpression* e = compile(cases[i].text);
        lash_expression_gradient(e, at, d);
        for (int k = 0; k < 3; ++k) {
            check(cases[i].text, d[k], cases[i].d[k], 4e-15 * fabs(cases[i].d[k]));
        }
        lash_expression_destroy(e);
    }
}

// Where a slope is infinite or undefined but nothing depends on it, or the branch is not taken.
static void gradients_are_finite_at_kinks(void** state) {
    (void)state;
    const struct {
        const char* text;
        double x, expected;
    } cases[] = {
        {"sqrt(0*x + y)", 1, 0},
        {"abs(x)", 0, 0},
        {"(-2)^3*x", 5, -8},
        {"x^0", 0, 0},
        {"x^2", 0, 0},
        {"x^1.5", 0, 0},
        {"0^(x+1)", 0, 0},
        {"if(x > 0, sqrt(x), 0)", -1, 0},
        {"if(x > 0, log(x), x)", 0, 1},
        {"hypot(x, 0)", 0, 0},
        {"x^3", -2, 12},
        {"y^y*x", 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        LashExpression* e = compile(cases[i].text);
        double d[3];
        lash_expression_gradient(e, (double[]){cases[i].x, 0, 0}, d);
        check(cases[i].text, d[0], cases[i].expected, 0);
        lash_expression_destroy(e);
    }
}

static void errors_quote_the_text_and_the_column(void** state) {
    (void)state;
    const struct {
        const char *text, *where, *message;
    } cases[] = {
        {"", "column 1", "expected a number, a name or '(', found the end at column 1 of \"\""},
        {"   ", "column 4", "found the end at column 4"},
        {"2*", "column 3", "expected a number, a name or '(', found the end at column 3 of \"2*\""},
        {"2*)", "column 3", "found ')' at column 3 of \"2*)\""},
        {"(2*x", "column 5", "expected an operator or ')', found the end at column 5"},
        {"2*x)", "column 4", "expected an operator or the end, found ')' at column 4"},
        {"5mm", "column 2", "numbers carry no units), found 'mm' at column 2 of \"5mm\""},
        {"2 x", "column 3", "expected an operator or the end, found 'x' at column 3"},
        {"1.2.3", "column 4", "found '.' at column 4"},
        {"x**2", "column 3", "found '*' (a power is written ^) at column 3"},
        {"x = 2", "column 3", "found '=' (equality is written ==) at column 3"},
        {"sin x", "column 5", "expected '(' behind the function 'sin', found 'x' at column 5"},
        {"sin(x, y)", "column 6", "('sin' takes 1 argument), found ',' at column 6"},
        {"atan2(x)", "column 8", "expected ',' ('atan2' takes 2 arguments), found ')' at column 8"},
        {"if(x, 1)", "column 8", "'if' takes 3 arguments"},
        {"min()", "column 5", "found ')' at column 5"},
        {"1e999", "column 1", "the number is too large at column 1 of \"1e999\""},
        {"x < y < z", "column 7", "comparisons cannot be chained"},
        {"x \xc3\x97 y", "column 3", "found '\xc3\x97' at column 3 of \"x \xc3\x97 y\""},
        {"\xc3\xa9 + 1", "column 1", "found '\xc3\xa9'"},
        {"x + \xc3\xa9", "column 5", "found '\xc3\xa9'"},
        {"x \x01 y", "column 3", "found '?' at column 3 of \"x ? y\""},
        {"x \xff y", "column 3", "found '?' at column 3 of \"x ? y\""},
        {"siin(x)", "column 1", "unknown function 'siin' (did you mean 'sin'?) at column 1"},
        {"2*foo(x)", "column 3", "unknown function 'foo' at column 3"},
        {"2*w", "column 3", "unknown name 'w' (known: x, y, z)"},
        {"2*wheel", "column 3", "unknown name 'wheel' (known: x, y, z) at column 3 of \"2*wheel\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        LashError error = {0};
        assert_null(lash_expression_compile(cases[i].text, xyz, 3, &error));
        assert_int_equal(error.status, LASH_ERROR_MODEL);
        if (strcmp(error.where, cases[i].where) != 0 ||
            strstr(error.message, cases[i].message) == NULL) {
            print_error("\"%s\": got [%s] %s\nexpected [%s] %s\n", cases[i].text, error.where,
                        error.message, cases[i].where, cases[i].message);
            fail();
        }
    }
}

static void unknown_names_are_answered_with_the_nearest_one(void** state) {
    (void)state;
    const char* const names[] = {"crank_speed", "play", "t"};
    const struct {
        const char *text, *message;
    } cases[] = {
        {"8*crnk_speed", "unknown name 'crnk_speed' (did you mean 'crank_speed'?) at column 3"},
        {"Play/2", "did you mean 'play'?"},
        {"paly/2", "did you mean 'play'?"},
        {"PI*t", "did you mean 'pi'?"},
        {"cosine(t)", "unknown function 'cosine'"},
        {"swrt(t)", "did you mean 'sqrt'?"},
        {"clearance", "(known: crank_speed, play, t)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        LashError error = {0};
        assert_null(lash_expression_compile(cases[i].text, names, 3, &error));
        if (strstr(error.message, cases[i].message) == NULL) {
            print_error("got %s\nexpected %s\n", error.message, cases[i].message);
            fail();
        }
    }
    LashError error = {0};
    assert_null(lash_expression_compile("2*width", NULL, 0, &error));
    assert_non_null(strstr(error.message, "unknown name 'width' (no names may be used here)"));
}

static void long_texts_are_quoted_around_the_error(void** state) {
    (void)state;
    char text[1000] = "x";
    for (int i = 0; i < 200; ++i) strcat(text, "+x");
    strcat(text, "+*");
    for (int i = 0; i < 200; ++i) strcat(text, "+x");
    LashError error = {0};
    assert_null(lash_expression_compile(text, xyz, 3, &error));
    assert_string_equal(error.where, "column 403");
    assert_non_null(strstr(error.message, "found '*' at column 403 of \"...x+x+x"));
    assert_true(strlen(error.message) < 220);
}

static void depth_and_length_are_bounded(void** state) {
    (void)state;
    static char text[20000];
    const char* openings[] = {"(", "-", "sin(", "2^", "x<x+x*x^(", "min(x, "};
    for (int k = 0; k < 6; ++k) {
        text[0] = '\0';
        for (int i = 0; i < 400; ++i) strcat(text, openings[k]);
        LashError error = {0};
        assert_null(lash_expression_compile(text, xyz, 3, &error));
        assert_non_null(strstr(error.message, "nested too deep"));
    }
    memset(text, ' ', 19999);
    text[0] = 'x';
    text[19999] = '\0';
    LashError error = {0};
    assert_null(lash_expression_compile(text, xyz, 3, &error));
    assert_non_null(strstr(error.message, "at most 4096"));
    strcpy(text, "x"); // wide but flat is fine
    for (int i = 0; i < 2000; ++i) strcat(text, "+1");
    check("x+1+1+...", value_at(text, 3, 0, 0), 2003, 0);
    strcpy(text, ""); // 60 deep is fine
    for (int i = 0; i < 60; ++i) strcat(text, "(");
    strcat(text, "x");
    for (int i = 0; i < 60; ++i) strcat(text, ")");
    check("((x))", value_at(text, 3, 0, 0), 3, 0);
}

static void uses_tells_which_variables_matter(void** state) {
    (void)state;
    LashExpression* e = compile("2*x + if(z > 0, 1, 2)");
    assert_true(lash_expression_uses(e, 0));
    assert_false(lash_expression_uses(e, 1));
    assert_true(lash_expression_uses(e, 2));
    lash_expression_destroy(e);
    lash_expression_destroy(NULL);
}

static void collect(void* context, const char* name) {
    strcat(strcat(context, name), ";");
}

static void names_are_visited_once(void** state) {
    (void)state;
    char found[256] = "";
    LashError error = {0};
    assert_true(
        lash_expression_names("play/2 + sin(pi*t)*play - crank.angle", collect, found, &error));
    assert_string_equal(found, "play;t;crank.angle;");
    found[0] = '\0';
    assert_false(lash_expression_names("play/2 + (t", collect, found, &error));
    assert_string_equal(found, "");
    assert_int_equal(error.status, LASH_ERROR_MODEL);
    error = (LashError){0};
    assert_false(lash_expression_names("play/2 + foo(t)", collect, found, &error));
    assert_non_null(strstr(error.message, "unknown function 'foo'"));
}

// ---- Random expressions -------------------------------------------------------------------------

static uint64_t random_bits(uint64_t* seed) { // SplitMix64
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int random_below(uint64_t* seed, int n) {
    return (int)(random_bits(seed) % (uint64_t)n);
}

static double random_number(uint64_t* seed) { // in (-2, 2)
    return (double)(random_bits(seed) >> 11) * 0x1p-51 - 2;
}

typedef struct Node { // an expression tree, evaluated by evaluate() below
    int kind;         // 0 number, 1 variable, 2 operator or function
    int which;        // variable; row of forms
    double number;
    struct Node* part[3];
} Node;

// How each form is written: %1 %2 %3 are its operands; level: how tightly it binds (0 loosest).
static const struct Form {
    const char* text;
    int parts, level, part_level[3];
    bool smooth;
} forms[] = {
    {"%1+%2", 2, 1, {1, 2}, true},
    {"%1-%2", 2, 1, {1, 2}, true},
    {"%1*%2", 2, 2, {2, 3}, true},
    {"%1/(2+%2^2)", 2, 2, {2, 5}, true},
    {"-%1", 1, 3, {3}, true},
    {"%1^2", 1, 4, {5}, true},
    {"sin(%1)", 1, 5, {0}, true},
    {"cos(%1)", 1, 5, {0}, true},
    {"tanh(%1)", 1, 5, {0}, true},
    {"atan(%1)", 1, 5, {0}, true},
    {"exp(-abs(%1))", 1, 5, {3}, false},
    {"sqrt(1+%1^2)", 1, 5, {5}, true},
    {"%1^%2", 2, 4, {5, 3}, false},
    {"min(%1,%2)", 2, 5, {0, 0}, false},
    {"max(%1,%2)", 2, 5, {0, 0}, false},
    {"%1<%2", 2, 0, {1, 1}, false},
    {"%1>=%2", 2, 0, {1, 1}, false},
    {"if(%1,%2,%3)", 3, 5, {0, 0, 0}, false},
    {"atan2(%1,%2)", 2, 5, {0, 0}, false},
    {"hypot(%1,%2)", 2, 5, {0, 0}, false},
    {"mod(%1,%2)", 2, 5, {0, 0}, false},
    {"floor(%1)", 1, 5, {0}, false},
    {"step(%1)", 1, 5, {0}, false},
    {"sign(%1)", 1, 5, {0}, false},
    {"%1!=%2", 2, 0, {1, 1}, false},
    {"%1/%2", 2, 2, {2, 3}, false},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static Node* grow(uint64_t* seed, Node* pool, int* used, int depth, bool smooth) {
    Node* node = &pool[(*used)++];
    *node = (Node){0};
    int dice = random_below(seed, 10);
    if (depth == 0 || dice < 2) {
        node->kind = random_below(seed, 3) > 0;
        node->which = random_below(seed, 3);
        node->number = floor(random_number(seed) * 500) / 1000; // prints exactly with %g
        return node;
    }
    node->kind = 2;
    do {
        node->which = random_below(seed, FORMS);
    } while (smooth && !forms[node->which].smooth);
    for (int i = 0; i < forms[node->which].parts; ++i) {
        node->part[i] = grow(seed, pool, used, depth - 1, smooth);
    }
    return node;
}

static double evaluate(const Node* node, const double* v) {
    if (node->kind == 0) return node->number;
    if (node->kind == 1) return v[node->which];
    double a = evaluate(node->part[0], v);
    double b = node->part[1] != NULL ? evaluate(node->part[1], v) : 0;
    double c = node->part[2] != NULL ? evaluate(node->part[2], v) : 0;
    switch (node->which) {
        case 0:
            return a + b;
        case 1:
            return a - b;
        case 2:
            return a * b;
        case 3:
            return a / (2 + b * b);
        case 4:
            return -a;
        case 5:
            return a * a;
        case 6:
            return sin(a);
        case 7:
            return cos(a);
        case 8:
            return tanh(a);
        case 9:
            return atan(a);
        case 10:
            return exp(-fabs(a));
        case 11:
            return sqrt(1 + a * a);
        case 12:
            return pow(a, b);
        case 13:
            return isnan(a) || isnan(b) ? NAN : fmin(a, b);
        case 14:
            return isnan(a) || isnan(b) ? NAN : fmax(a, b);
        case 15:
            return a < b;
        case 16:
            return a >= b;
        case 17:
            return a != 0 ? b : c;
        case 18:
            return atan2(a, b);
        case 19:
            return hypot(a, b);
        case 20:
            return fmod(a, b) != 0 && fmod(a, b) * b < 0 ? fmod(a, b) + b : fmod(a, b);
        case 21:
            return floor(a);
        case 22:
            return a < 0 ? 0 : 1;
        case 23:
            return (a > 0) - (a < 0);
        case 24:
            return a != b;
        default:
            return a / b;
    }
}

// Writes node where an operand must bind at least as tightly as level; sometimes more parentheses.
static void write_tree(uint64_t* seed, const Node* node, int level, char* text) {
    int own = node->number < 0 && node->kind == 0 ? 3 : 5;
    if (node->kind == 2) own = forms[node->which].level;
    bool parentheses = own < level || random_below(seed, 8) == 0;
    if (parentheses) strcat(text, "(");
    if (node->kind == 0) sprintf(text + strlen(text), "%.17g", node->number);
    if (node->kind == 1) strcat(text, xyz[node->which]);
    for (const char* s = node->kind == 2 ? forms[node->which].text : ""; *s != '\0'; ++s) {
        if (*s == '%') {
            int part = *++s - '1';
            write_tree(seed, node->part[part], forms[node->which].part_level[part], text);
        } else {
            strncat(text, s, 1);
            if (random_below(seed, 6) == 0 && strchr("<>!", *s) == NULL) {
                char next = s[1];
                bool inside_name = (*s >= 'a' && *s <= 'z') || (*s == '0') || next == '(';
                if (!inside_name) strcat(text, " ");
            }
        }
    }
    if (parentheses) strcat(text, ")");
}

static void random_expressions_equal_an_independent_evaluator(void** state) {
    (void)state;
    uint64_t seed = 20240607;
    static Node pool[1000];
    static char text[100000];
    int compared = 0;
    for (int i = 0; i < 10000; ++i) {
        int used = 0;
        const Node* tree = grow(&seed, pool, &used, 1 + i % 5, false);
        text[0] = '\0';
        write_tree(&seed, tree, 0, text);
        if (strlen(text) > 4096) continue;
        LashExpression* e = compile(text);
        for (int k = 0; k < 4; ++k) {
            double v[3] = {random_number(&seed), random_number(&seed), random_number(&seed)}, d[3];
            double expected = evaluate(tree, v), got = lash_expression_value(e, v);
            check(text, got, expected, 0); // same operations in the same order: same bits
            check(text, lash_expression_gradient(e, v, d), expected, 0);
        }
        lash_expression_destroy(e);
        ++compared;
    }
    assert_true(compared > 9900);
}

static void random_smooth_gradients_equal_differences(void** state) {
    (void)state;
    uint64_t seed = 99;
    static Node pool[1000];
    static char text[100000];
    for (int i = 0; i < 3000; ++i) {
        int used = 0;
        const Node* tree = grow(&seed, pool, &used, 1 + i % 3, true);
        text[0] = '\0';
        write_tree(&seed, tree, 0, text);
        const double at[3] = {random_number(&seed), random_number(&seed), random_number(&seed)};
        check_differences(text, at, 1e-7);
    }
}

// Any bytes at all: a result or a message, never a crash (run with the sanitizers).
static void malformed_texts_never_crash(void** state) {
    (void)state;
    const char* pieces[] = {"x", "y",    "(",  ")",   "+",    "-",  "*",    "/",     "^",   "<",
                            "=", "!",    ",",  "sin", "if(",  "1",  "2.5",  ".",     "e",   "1e",
                            " ", "\xff", "\"", "%s",  "\xc3", "pi", "min(", "1e400", "a.b", "."};
    uint64_t seed = 7;
    int good = 0;
    for (int i = 0; i < 100000; ++i) {
        char text[200] = "";
        int n = random_below(&seed, 16);
        for (int k = 0; k < n; ++k) {
            if (i % 3 == 0) {
                char c[2] = {(char)(1 + random_below(&seed, 255)), 0};
                strcat(text, c);
            } else {
                strcat(text, pieces[random_below(&seed, 30)]);
            }
        }
        LashError error = {0};
        LashExpression* e = lash_expression_compile(text, xyz, 3, &error);
        assert_true((e == NULL) == (error.status == LASH_ERROR_MODEL));
        assert_true(e != NULL || strlen(error.message) > 10);
        if (e != NULL) {
            double d[3];
            lash_expression_gradient(e, (double[]){1, 2, 3}, d);
            ++good;
        }
        lash_expression_destroy(e);
        assert_null(lash_expression_compile(text + strlen(text), xyz, 3, NULL));
    }
    print_message("%d of 100000 random texts are expressions\n", good);
    assert_true(good > 500 && good < 60000);
}

static void evaluation_never_allocates(void** state) {
    (void)state;
    LashExpression* e = compile("8*cos(2*pi*x) + y^2");
    uint64_t before = lash_allocation_count();
    double sum = 0, d[3];
    for (int i = 0; i < 1000; ++i) {
        sum += lash_expression_value(e, (double[]){i * 1e-3, 1, 0});
        sum += lash_expression_gradient(e, (double[]){i * 1e-3, 1, 0}, d);
    }
    assert_true(isfinite(sum));
    assert_int_equal(lash_allocation_count(), before);
    lash_expression_destroy(e);
}

// Prints, and fails only at ten times what a slow machine needs: a test is no benchmark.
static void evaluation_takes_tens_of_nanoseconds(void** state) {
    (void)state;
    const char* const t[] = {"t"};
    const char* texts[] = {"3*t^2 + 2*t - 1", "8*cos(2*pi*t)", "if(t < 0.5, 2*t, 1)"};
    for (int k = 0; k < 3; ++k) {
        LashExpression* e = lash_expression_compile(texts[k], t, 1, NULL);
        double best[2] = {1e9, 1e9}, sum = 0, d;
        for (int pass = 0; pass < 20; ++pass) {
            for (int gradient = 0; gradient < 2; ++gradient) {
                struct timespec a, b;
                clock_gettime(CLOCK_MONOTONIC, &a);
                for (int i = 0; i < 10000; ++i) {
                    double x = i * 1e-4;
                    sum += gradient ? lash_expression_gradient(e, &x, &d)
                                    : lash_expression_value(e, &x);
                }
                clock_gettime(CLOCK_MONOTONIC, &b);
                double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec));
                if (ns / 10000 < best[gradient]) best[gradient] = ns / 10000;
            }
        }
        assert_true(isfinite(sum));
        print_message("%-20s value %.1f ns, with derivative %.1f ns\n", texts[k], best[0], best[1]);
        assert_true(best[0] < 2000 && best[1] < 4000);
        lash_expression_destroy(e);
    }
}

RUN(TEST(every_function_equals_libm), TEST(operators_bind_as_in_mathematics),
    TEST(gradients_equal_differences_for_every_function), TEST(gradients_equal_closed_forms),
    TEST(gradients_are_finite_at_kinks), TEST(errors_quote_the_text_and_the_column),
    TEST(unknown_names_are_answered_with_the_nearest_one),
    TEST(long_texts_are_quoted_around_the_error), TEST(depth_and_length_are_bounded),
    TEST(uses_tells_which_variables_matter), TEST(names_are_visited_once),
    TEST(random_expressions_equal_an_independent_evaluator),
    TEST(random_smooth_gradients_equal_differences), TEST(malformed_texts_never_crash),
    TEST(evaluation_never_allocates), TEST(evaluation_takes_tens_of_nanoseconds))

// Expressions: a recursive-descent parser that emits a postfix program for the machine of expression.c.
//
//     comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//     sum        = term {("+" | "-") term}
//     term       = unary {("*" | "/") unary}
//     unary      = ("+" | "-") unary | power                       -2^2 = -(2^2)
//     power      = primary ["^" unary]                             2^3^2 = 2^(3^2)
//     primary    = number | name | function "(" arguments ")" | "(" comparison ")"
//
// Constants are folded while emitting: in postfix an operand whose last instruction is a constant
// is that constant and nothing else, so two constants before an operator are its operands.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/expression_internal.h"
#include "core/math3.h"

enum {
    MAX_TEXT = 4096, // bytes of an expression
    MAX_NAME = 63,   // bytes of a name
    MAX_DEPTH = 128, // nested signs and powers; a parenthesis counts twice
    QUOTE = 30       // bytes quoted on each side of an error
};

typedef struct Function {
    const char* name;
    Op op;
} Function;

static const Function functions[] = {
    {"sin", OP_SIN},     {"cos", OP_COS},     {"tan", OP_TAN},   {"asin", OP_ASIN},
    {"acos", OP_ACOS},   {"atan", OP_ATAN},   {"sinh", OP_SINH}, {"cosh", OP_COSH},
    {"tanh", OP_TANH},   {"exp", OP_EXP},     {"log", OP_LOG},   {"log10", OP_LOG10},
    {"sqrt", OP_SQRT},   {"abs", OP_ABS},     {"sign", OP_SIGN}, {"floor", OP_FLOOR},
    {"ceil", OP_CEIL},   {"step", OP_STEP},   {"min", OP_MIN},   {"max", OP_MAX},
    {"atan2", OP_ATAN2}, {"hypot", OP_HYPOT}, {"mod", OP_MOD},   {"if", OP_IF},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

// ---- Parser -------------------------------------------------------------------------------------

typedef struct Span { // a piece of the text
    const char* begin;
    int length;
} Span;

typedef struct Parser {
    const char *text, *at; // at: the token being looked at, blanks skipped
    LashError* error;
    int depth;
    const char* const* names; // (count) known variables; NULL: every name is taken into found
    int count;
    const LashTables* tables; // that may be called; NULL: none
    Span* found;              // (found_count) different names met, when names == NULL
    int found_count;
    Instruction* program; // capacity: one per byte of text
    double* constant;
    int length, constants, stack; // emitted so far; entries on the machine's stack now
} Parser;

static bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_';
}

// Letters, digits, underscores; a dot when a name goes on behind it ("crank.angle"); its first word
// may stand in quotes and have any signs then ("'plate-crank'.angle").
static int name_length(const char* s) {
    int n = 0;
    if (s[0] == '\'') {
        const char* end = strchr(s + 1, '\'');
        if (end == NULL || end[1] != '.' || !is_name_start(end[2])) return 0;
        n = (int)(end - s) + 1;
    }
    while (is_name_start(s[n]) || isdigit((unsigned char)s[n]) ||
           (s[n] == '.' && is_name_start(s[n + 1]))) {
        ++n;
    }
    return n;
}

static bool span_is(Span span, const char* name) {
    return strncmp(span.begin, name, (size_t)span.length) == 0 && name[span.length] == '\0';
}

// Bytes of the UTF-8 character at s (1 for a broken one, 0 at the end).
static int character_length(const char* s) {
    unsigned char c = (unsigned char)*s;
    int n = (c > 0) + (c >= 0xC2) + (c >= 0xE0) + (c >= 0xF0);
    if (c >= 0xF5) n = 1;
    for (int i = 1; i < n; ++i) {
        if (((unsigned char)s[i] & 0xC0) != 0x80) return 1;
    }
    return n;
}

// Copies bytes [begin, begin + length) as printable text: control and broken bytes become '?'.
static void copy_printable(char* target, size_t size, const char* begin, int length) {
    size_t used = 0;
    for (const char* s = begin; s < begin + length && *s != '\0';) {
        int n = character_length(s);
        if (used + (size_t)n + 1 > size) break;
        bool good = n > 1 || ((unsigned char)*s >= 0x20 && (unsigned char)*s < 0x7F);
        if (good) {
            memcpy(target + used, s, (size_t)n);
        } else {
            target[used] = '?';
        }
        used += good ? (size_t)n : 1;
        s += n;
    }
    target[used] = '\0';
}

// Reports "what at column c of "text"" and returns false. Columns count characters from 1.
static bool fail(Parser* parser, const char* at, const char* what) {
    int column = 1;
    for (const char* s = parser->text; s < at; s += character_length(s)) ++column;
    const char *begin = parser->text, *end = at + strlen(at);
    if (at - begin > 2 * QUOTE) begin = at - 2 * QUOTE;
    if (end - at > QUOTE) end = at + QUOTE;
    while (begin < at && ((unsigned char)*begin & 0xC0) == 0x80) ++begin; // whole characters
    while (end > at && ((unsigned char)*end & 0xC0) == 0x80) --end;
    char quoted[4 * QUOTE], where[32];
    copy_printable(quoted, sizeof quoted, begin, (int)(end - begin));
    snprintf(where, sizeof where, "column %d", column);
    return lash_error_set(parser->error, LASH_ERROR_MODEL, where, "%s at column %d of \"%s%s%s\"",
                          what, column, begin > parser->text ? "..." : "", quoted,
                          *end != '\0' ? "..." : "");
}

// "expected ..., found ..." at the current token
static bool fail_expected(Parser* parser, const char* expected) {
    char found[MAX_NAME + 1], what[256];
    int n = is_name_start(*parser->at) ? name_length(parser->at) : character_length(parser->at);
    copy_printable(found, sizeof found, parser->at, n);
    const char* hint = "";
    if (parser->at[0] == '*' && parser->at > parser->text && parser->at[-1] == '*')
        hint = " (a power is written ^)";
    if (parser->at[0] == '=' && parser->at[1] != '=') hint = " (equality is written ==)";
    if (n == 0) {
        snprintf(what, sizeof what, "expected %s, found the end", expected);
    } else {
        snprintf(what, sizeof what, "expected %s, found '%s'%s", expected, found, hint);
    }
    return fail(parser, parser->at, what);
}

static void skip_blanks(Parser* parser) {
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r')
        ++parser->at;
}

static bool accept(Parser* parser, const char* token) {
    size_t n = strlen(token);
    if (strncmp(parser->at, token, n) != 0) return false;
    parser->at += n;
    skip_blanks(parser);
    return true;
}

static void emit_constant(Parser* parser, double value) {
    parser->constant[parser->constants] = value;
    parser->program[parser->length++] = (Instruction){OP_CONSTANT, (uint16_t)parser->constants++};
    ++parser->stack;
}

// True if the last n instructions are constants: then they are the last n operands.
static bool constants_on_top(const Parser* parser, int n) {
    for (int i = 1; i <= n; ++i) {
        if (parser->program[parser->length - i].op != OP_CONSTANT) return false;
    }
    return true;
}

// A table is not folded: its values are no constants of the text.
static void emit_table(Parser* parser, int table) {
    bool two = lash_table_variables(parser->tables->table[table]) == 2;
    parser->program[parser->length++] =
        (Instruction){(uint16_t)(two ? OP_TABLE_2 : OP_TABLE), (uint16_t)table};
    parser->stack -= two;
}

static void emit(Parser* parser, Op op) {
    int n = operands(op);
    if (constants_on_top(parser, n)) { // their values are the last of the pool: fold
        parser->length -= n;
        parser->constants -= n;
        parser->stack -= n;
        const double* c = parser->constant + parser->constants;
        double folded = expression_fold(op, c);
        emit_constant(parser, folded);
        return;
    }
    if (op == OP_POWER && constants_on_top(parser, 1)) { // small powers by multiplication
        double exponent = parser->constant[parser->constants - 1];
        if (exponent == 2 || exponent == 3) {
            --parser->length;
            --parser->constants;
            --parser->stack;
            op = exponent == 2 ? OP_SQUARE : OP_CUBE;
            n = 1;
        }
    }
    parser->program[parser->length++] = (Instruction){(uint16_t)op, 0};
    parser->stack -= n - 1;
}

// ---- Unknown names ------------------------------------------------------------------------------

// Edit distance, small and capital letters alike, neighbours swapped counting once; at most
// MAX_NAME bytes of each.
static int edit_distance(Span a, const char* b) {
    int row[3][MAX_NAME + 1], n = (int)strlen(b), m = a.length;
    if (n > MAX_NAME) n = MAX_NAME;
    if (m > MAX_NAME) m = MAX_NAME;
    for (int j = 0; j <= n; ++j) row[0][j] = j;
    for (int i = 1; i <= m; ++i) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; ++j) {
            int x = tolower((unsigned char)a.begin[i - 1]), y = tolower((unsigned char)b[j - 1]);
            int best = last[j - 1] + (x != y);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a.begin[i - 2]) && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return row[m % 3][n];
}

static const char* nearest_name(const Parser* parser, Span name, bool function) {
    const char* nearest = NULL;
    int tables = parser->tables != NULL ? parser->tables->count : 0;
    int best = 1 + (name.length > 3 ? 1 + (name.length > 8) : 0); // typing errors allowed
    for (int i = 0; i < parser->count + FUNCTIONS + 1 + tables; ++i) {
        const char* other = "pi"; // behind the names, before the functions and tables
        int table = i - parser->count - 1 - FUNCTIONS;
        if (i < parser->count) other = parser->names[i];
        if (i > parser->count && table < 0) other = functions[i - parser->count - 1].name;
        if (table >= 0) other = lash_table_name(parser->tables->table[table]);
        if (function && i <= parser->count) continue; // only a function can be called
        int distance = edit_distance(name, other);
        if (distance < (int)strlen(other) && distance < best + (nearest == NULL)) {
            best = distance;
            nearest = other;
        }
    }
    return nearest;
}

static bool fail_unknown(Parser* parser, Span name, bool function) {
    char found[MAX_NAME + 1], hint[160] = "", what[320];
    copy_printable(found, sizeof found, name.begin, name.length);
    const char* nearest = nearest_name(parser, name, function);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, " (did you mean '%.*s'?)", MAX_NAME, nearest);
    } else if (!function && parser->count == 0) {
        snprintf(hint, sizeof hint, " (no names may be used here)");
    } else if (!function) {
        size_t used = (size_t)snprintf(hint, sizeof hint, " (known: ");
        int i = 0;
        for (; i < parser->count && used + strlen(parser->names[i]) + 8 < sizeof hint; ++i) {
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s%s", i > 0 ? ", " : "",
                                     parser->names[i]);
        }
        snprintf(hint + used, sizeof hint - used, "%s)", i < parser->count ? ", ..." : "");
    }
    snprintf(what, sizeof what, "unknown %s '%s'%s", function ? "function" : "name", found, hint);
    return fail(parser, name.begin, what);
}

// ---- Grammar ------------------------------------------------------------------------------------

static bool parse_comparison(Parser* parser);
static bool parse_unary(Parser* parser);

// Checks the machine's stack; leaves room for one more entry.
static bool check_stack(Parser* parser) {
    if (parser->stack < MAX_STACK) return true;
    return fail(parser, parser->at,
                "the expression is nested too deep: split it with named parameters");
}

static bool enter(Parser* parser) {
    if (++parser->depth <= MAX_DEPTH) return true;
    return fail(parser, parser->at,
                "the expression is nested too deep: split it with named parameters");
}

static bool parse_number(Parser* parser) {
    const char* s = parser->at;
    while (isdigit((unsigned char)*s)) ++s;
    if (*s == '.') ++s;
    while (isdigit((unsigned char)*s)) ++s;
    if (*s == 'e' || *s == 'E') {
        const char* digits = s + 1 + (s[1] == '+' || s[1] == '-');
        if (isdigit((unsigned char)*digits)) {
            s = digits;
            while (isdigit((unsigned char)*s)) ++s;
        }
    }
    char number[MAX_TEXT + 1], *end;
    size_t n = (size_t)(s - parser->at);
    memcpy(number, parser->at, n);
    number[n] = '\0';
    double value = strtod(number, &end);
    if (*end == '.') { // the process runs with a locale that writes a decimal comma
        *end = ',';
        value = strtod(number, &end);
    }
    if (!isfinite(value)) return fail(parser, parser->at, "the number is too large");
    emit_constant(parser, value);
    parser->at = s;
    skip_blanks(parser);
    return true;
}

// table: number of the table that is called, -1: a function.
static bool parse_call(Parser* parser, Span name, Op op, int table) {
    char expected[160];
    int count = operands(op);
    if (*parser->at != '(') {
        snprintf(expected, sizeof expected, "'(' behind the %s '%.*s'",
                 table >= 0 ? "table" : "function", name.length, name.begin);
        return fail_expected(parser, expected);
    }
    if (!enter(parser)) return false;
    accept(parser, "(");
    for (int i = 0; i < count; ++i) {
        if (!parse_comparison(parser)) return false;
        const char* token = i + 1 < count ? "," : ")";
        if (!accept(parser, token)) {
            snprintf(expected, sizeof expected, "%s ('%.*s' takes %d argument%s)",
                     i + 1 < count ? "','" : "an operator or ')'", name.length, name.begin, count,
                     count > 1 ? "s" : "");
            return fail_expected(parser, expected);
        }
    }
    --parser->depth;
    if (table >= 0) {
        emit_table(parser, table);
    } else {
        emit(parser, op);
    }
    return true;
}

// The index of a variable, or -1. Without a list of names every name is a variable.
static int find_variable(Parser* parser, Span name) {
    for (int i = 0; parser->names != NULL && i < parser->count; ++i) {
        if (span_is(name, parser->names[i])) return i;
    }
    if (parser->found == NULL) return -1;
    for (int i = 0; i < parser->found_count; ++i) {
        Span other = parser->found[i];
        if (other.length == name.length &&
            strncmp(other.begin, name.begin, (size_t)name.length) == 0) {
            return i;
        }
    }
    parser->found[parser->found_count] = name;
    return parser->found_count++;
}

static bool parse_name(Parser* parser) {
    Span name = {parser->at, name_length(parser->at)};
    if (name.length > MAX_NAME)
        return fail(parser, parser->at, "the name is longer than 63 characters");
    parser->at += name.length;
    skip_blanks(parser);
    for (int i = 0; i < FUNCTIONS; ++i) {
        if (span_is(name, functions[i].name)) return parse_call(parser, name, functions[i].op, -1);
    }
    for (int i = 0; parser->tables != NULL && i < parser->tables->count; ++i) {
        const LashTable* table = parser->tables->table[i];
        Op op = lash_table_variables(table) == 2 ? OP_TABLE_2 : OP_TABLE;
        if (span_is(name, lash_table_name(table))) return parse_call(parser, name, op, i);
    }
    if (*parser->at == '(') return fail_unknown(parser, name, true);
    if (span_is(name, "pi")) {
        emit_constant(parser, LASH_PI);
        return true;
    }
    int variable = find_variable(parser, name);
    if (variable < 0) return fail_unknown(parser, name, false);
    parser->program[parser->length++] = (Instruction){OP_VARIABLE, (uint16_t)variable};
    ++parser->stack;
    return true;
}

static bool parse_primary(Parser* parser) {
    if (!check_stack(parser)) return false;
    bool number = isdigit((unsigned char)parser->at[0]) ||
                  (parser->at[0] == '.' && isdigit((unsigned char)parser->at[1]));
    if (number) return parse_number(parser);
    bool quoted = *parser->at == '\'' && name_length(parser->at) > 0;
    if (is_name_start(*parser->at) || quoted) return parse_name(parser);
    if (*parser->at != '(') return fail_expected(parser, "a number, a name or '('");
    if (!enter(parser)) return false;
    accept(parser, "(");
    if (!parse_comparison(parser)) return false;
    if (!accept(parser, ")")) return fail_expected(parser, "an operator or ')'");
    --parser->depth;
    return true;
}

static bool parse_power(Parser* parser) {
    if (!parse_primary(parser)) return false;
    if (!accept(parser, "^")) return true;
    if (!parse_unary(parser)) return false;
    emit(parser, OP_POWER);
    return true;
}

static bool parse_unary(Parser* parser) {
    if (!enter(parser)) return false;
    if (accept(parser, "-")) {
        if (!parse_unary(parser)) return false;
        emit(parser, OP_NEGATE);
    } else if (accept(parser, "+")) {
        if (!parse_unary(parser)) return false;
    } else if (!parse_power(parser)) {
        return false;
    }
    --parser->depth;
    return true;
}

static bool parse_term(Parser* parser) {
    if (!parse_unary(parser)) return false;
    for (;;) {
        bool times = accept(parser, "*");
        if (!times && !accept(parser, "/")) return true;
        if (!parse_unary(parser)) return false;
        emit(parser, times ? OP_MULTIPLY : OP_DIVIDE);
    }
}

static bool parse_sum(Parser* parser) {
    if (!parse_term(parser)) return false;
    for (;;) {
        bool plus = accept(parser, "+");
        if (!plus && !accept(parser, "-")) return true;
        if (!parse_term(parser)) return false;
        emit(parser, plus ? OP_ADD : OP_SUBTRACT);
    }
}

static Op accept_comparison(Parser* parser) {
    static const Function signs[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL},
                                     {"==", OP_EQUAL},      {"!=", OP_NOT_EQUAL},
                                     {"<", OP_LESS},        {">", OP_GREATER}};
    for (int i = 0; i < 6; ++i) {
        if (accept(parser, signs[i].name)) return signs[i].op;
    }
    return OP_CONSTANT;
}

static bool parse_comparison(Parser* parser) {
    if (!parse_sum(parser)) return false;
    Op op = accept_comparison(parser);
    if (op == OP_CONSTANT) return true;
    if (!parse_sum(parser)) return false;
    emit(parser, op);
    const char* at = parser->at;
    if (accept_comparison(parser) == OP_CONSTANT) return true;
    return fail(parser, at, "comparisons cannot be chained (write min(a < b, b < c))");
}

// Whether a unit stands here behind a number: "300mm", "300 mm". "2 x" rather lacks an operator.
static bool is_unit(const Parser* parser, const char* text) {
    static const char* const units[] = {"m", "mm", "um", "in", "s",   "ms",  "kg",
                                        "g", "N",  "Nm", "J",  "deg", "rad", "Hz"};
    const char* at = parser->at;
    const char* before = at; // behind the last that is no blank
    size_t length = 0;
    while (before > text && before[-1] == ' ') --before;
    if (!is_name_start(*at) || before == text || !isdigit((unsigned char)before[-1])) return false;
    if (before == at) return true;
    while (is_name_start(at[length])) ++length;
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        if (strlen(units[i]) == length && strncmp(units[i], at, length) == 0) return true;
    }
    return false;
}

// Parses all of text into p->program and p->constant, both allocated here.
static bool parse(Parser* parser, const char* text) {
    parser->text = parser->at = text;
    size_t length = strlen(text);
    if (length > MAX_TEXT) {
        return lash_error_set(parser->error, LASH_ERROR_MODEL, "",
                              "the expression has %zu bytes, at most %d are allowed", length,
                              MAX_TEXT);
    }
    parser->program = lash_alloc((length + 1) * sizeof *parser->program);
    parser->constant = lash_alloc((length + 1) * sizeof *parser->constant);
    skip_blanks(parser);
    if (!parse_comparison(parser)) return false;
    if (*parser->at == '\0') return true;
    bool unit = is_unit(parser, text);
    bool comma = *parser->at == ',' && parser->at > text && isdigit((unsigned char)parser->at[-1]);
    const char* expected = "an operator or the end";
    if (unit) expected = "an operator behind the number (numbers carry no units)";
    if (comma) expected = "an operator or the end (decimals have a point, not a comma)";
    return fail_expected(parser, expected);
}

static void parser_free(Parser* parser) {
    lash_free(parser->program);
    lash_free(parser->constant);
    lash_free(parser->found);
}

LashExpression* lash_expression_compile(const char* text, const char* const* names, int count,
                                        LashError* error) {
    return lash_expression_compile_with(text, names, count, NULL, error);
}

// All tables that were offered, so that their numbers stay; the expression owns them, too.
static void keep_tables(LashExpression* expression, const LashTables* tables) {
    bool calls = false;
    for (int i = 0; i < expression->length; ++i)
        calls = calls || expression->program[i].op == OP_TABLE ||
                expression->program[i].op == OP_TABLE_2;
    if (!calls) return;
    expression->tables = tables->count;
    expression->table = lash_alloc((size_t)tables->count * sizeof *expression->table);
    for (int i = 0; i < tables->count; ++i)
        expression->table[i] = lash_table_share(tables->table[i]);
}

LashExpression* lash_expression_compile_with(const char* text, const char* const* names, int count,
                                             const LashTables* tables, LashError* error) {
    LASH_ASSERT(count >= 0 && count <= UINT16_MAX);
    if (text == NULL || (count > 0 && names == NULL)) {
        lash_error_null(error, "an expression and the names of its variables");
        return NULL;
    }
    Parser p = {.error = error, .names = names, .count = count, .tables = tables};
    LashExpression* expression = NULL;
    if (parse(&p, text)) {
        size_t constants = (size_t)p.constants * sizeof(double);
        size_t program = (size_t)p.length * sizeof(Instruction);
        char* memory = lash_alloc(sizeof *expression + constants + program);
        expression = (LashExpression*)memory;
        double* constant = (double*)(memory + sizeof *expression);
        memcpy(constant, p.constant, constants);
        memcpy(constant + p.constants, p.program, program);
        *expression = (LashExpression){
            count, p.length, constant, (const Instruction*)(constant + p.constants), NULL, 0};
        keep_tables(expression, tables);
    }
    parser_free(&p);
    return expression;
}

bool lash_expression_names(const char* text, void (*visit)(void* context, const char* name),
                           void* context, LashError* error) {
    return lash_expression_names_with(text, NULL, visit, context, error);
}

static void no_visit(void* context, const char* name) {
    (void)name;
    ++*(int*)context;
}

bool lash_expression_is_free_name(const char* name) {
    int count = 0;
    LashError ignored = {0};
    if (!is_name_start(name[0]) || (size_t)name_length(name) != strlen(name)) return false;
    return lash_expression_names(name, no_visit, &count, &ignored) && count == 1;
}

bool lash_expression_names_with(const char* text, const LashTables* tables,
                                void (*visit)(void* context, const char* name), void* context,
                                LashError* error) {
    if (text == NULL || visit == NULL) return lash_error_null(error, "an expression");
    Parser p = {.error = error, .tables = tables};
    p.found = lash_alloc((strlen(text) + 1) * sizeof *p.found);
    bool good = parse(&p, text);
    for (int i = 0; good && i < p.found_count; ++i) {
        char name[MAX_NAME + 1];
        snprintf(name, sizeof name, "%.*s", p.found[i].length, p.found[i].begin);
        visit(context, name);
    }
    parser_free(&p);
    return good;
}

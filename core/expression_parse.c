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

// Letters, digits, underscores; a dot when a name goes on behind it ("crank.angle").
static int name_length(const char* s) {
    int n = 0;
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
static bool fail(Parser* p, const char* at, const char* what) {
    int column = 1;
    for (const char* s = p->text; s < at; s += character_length(s)) ++column;
    const char *begin = p->text, *end = at + strlen(at);
    if (at - begin > 2 * QUOTE) begin = at - 2 * QUOTE;
    if (end - at > QUOTE) end = at + QUOTE;
    while (begin < at && ((unsigned char)*begin & 0xC0) == 0x80) ++begin; // whole characters
    while (end > at && ((unsigned char)*end & 0xC0) == 0x80) --end;
    char quoted[4 * QUOTE], where[32];
    copy_printable(quoted, sizeof quoted, begin, (int)(end - begin));
    snprintf(where, sizeof where, "column %d", column);
    return lash_error_set(p->error, LASH_ERROR_MODEL, where, "%s at column %d of \"%s%s%s\"", what,
                          column, begin > p->text ? "..." : "", quoted, *end != '\0' ? "..." : "");
}

// "expected ..., found ..." at the current token
static bool fail_expected(Parser* p, const char* expected) {
    char found[MAX_NAME + 1], what[256];
    int n = is_name_start(*p->at) ? name_length(p->at) : character_length(p->at);
    copy_printable(found, sizeof found, p->at, n);
    const char* hint = "";
    if (p->at[0] == '*' && p->at > p->text && p->at[-1] == '*') hint = " (a power is written ^)";
    if (p->at[0] == '=' && p->at[1] != '=') hint = " (equality is written ==)";
    if (n == 0) {
        snprintf(what, sizeof what, "expected %s, found the end", expected);
    } else {
        snprintf(what, sizeof what, "expected %s, found '%s'%s", expected, found, hint);
    }
    return fail(p, p->at, what);
}

static void skip_blanks(Parser* p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') ++p->at;
}

static bool accept(Parser* p, const char* token) {
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0) return false;
    p->at += n;
    skip_blanks(p);
    return true;
}

static void emit_constant(Parser* p, double value) {
    p->constant[p->constants] = value;
    p->program[p->length++] = (Instruction){OP_CONSTANT, (uint16_t)p->constants++};
    ++p->stack;
}

// True if the last n instructions are constants: then they are the last n operands.
static bool constants_on_top(const Parser* p, int n) {
    for (int i = 1; i <= n; ++i) {
        if (p->program[p->length - i].op != OP_CONSTANT) return false;
    }
    return true;
}

// A table is not folded: its values are no constants of the text.
static void emit_table(Parser* p, int table) {
    bool two = lash_table_variables(p->tables->table[table]) == 2;
    p->program[p->length++] =
        (Instruction){(uint16_t)(two ? OP_TABLE_2 : OP_TABLE), (uint16_t)table};
    p->stack -= two;
}

static void emit(Parser* p, Op op) {
    int n = operands(op);
    if (constants_on_top(p, n)) { // their values are the last of the pool: fold
        p->length -= n;
        p->constants -= n;
        p->stack -= n;
        const double* c = p->constant + p->constants;
        double folded = expression_fold(op, c);
        emit_constant(p, folded);
        return;
    }
    if (op == OP_POWER && constants_on_top(p, 1)) { // small powers by multiplication
        double exponent = p->constant[p->constants - 1];
        if (exponent == 2 || exponent == 3) {
            --p->length;
            --p->constants;
            --p->stack;
            op = exponent == 2 ? OP_SQUARE : OP_CUBE;
            n = 1;
        }
    }
    p->program[p->length++] = (Instruction){(uint16_t)op, 0};
    p->stack -= n - 1;
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

static const char* nearest_name(const Parser* p, Span name, bool function) {
    const char* nearest = NULL;
    int tables = p->tables != NULL ? p->tables->count : 0;
    int best = 1 + (name.length > 3 ? 1 + (name.length > 8) : 0); // typing errors allowed
    for (int i = 0; i < p->count + FUNCTIONS + 1 + tables; ++i) {
        const char* other = "pi"; // behind the names, before the functions and tables
        int table = i - p->count - 1 - FUNCTIONS;
        if (i < p->count) other = p->names[i];
        if (i > p->count && table < 0) other = functions[i - p->count - 1].name;
        if (table >= 0) other = lash_table_name(p->tables->table[table]);
        if (function && i <= p->count) continue; // only a function can be called
        int distance = edit_distance(name, other);
        if (distance < (int)strlen(other) && distance < best + (nearest == NULL)) {
            best = distance;
            nearest = other;
        }
    }
    return nearest;
}

static bool fail_unknown(Parser* p, Span name, bool function) {
    char found[MAX_NAME + 1], hint[160] = "", what[320];
    copy_printable(found, sizeof found, name.begin, name.length);
    const char* nearest = nearest_name(p, name, function);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, " (did you mean '%.*s'?)", MAX_NAME, nearest);
    } else if (!function && p->count == 0) {
        snprintf(hint, sizeof hint, " (no names may be used here)");
    } else if (!function) {
        size_t used = (size_t)snprintf(hint, sizeof hint, " (known: ");
        int i = 0;
        for (; i < p->count && used + strlen(p->names[i]) + 8 < sizeof hint; ++i) {
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s%s", i > 0 ? ", " : "",
                                     p->names[i]);
        }
        snprintf(hint + used, sizeof hint - used, "%s)", i < p->count ? ", ..." : "");
    }
    snprintf(what, sizeof what, "unknown %s '%s'%s", function ? "function" : "name", found, hint);
    return fail(p, name.begin, what);
}

// ---- Grammar ------------------------------------------------------------------------------------

static bool parse_comparison(Parser* p);
static bool parse_unary(Parser* p);

// Checks the machine's stack; leaves room for one more entry.
static bool check_stack(Parser* p) {
    if (p->stack < MAX_STACK) return true;
    return fail(p, p->at, "the expression is nested too deep: split it with named parameters");
}

static bool enter(Parser* p) {
    if (++p->depth <= MAX_DEPTH) return true;
    return fail(p, p->at, "the expression is nested too deep: split it with named parameters");
}

static bool parse_number(Parser* p) {
    const char* s = p->at;
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
    size_t n = (size_t)(s - p->at);
    memcpy(number, p->at, n);
    number[n] = '\0';
    double value = strtod(number, &end);
    if (*end == '.') { // the process runs with a locale that writes a decimal comma
        *end = ',';
        value = strtod(number, &end);
    }
    if (!isfinite(value)) return fail(p, p->at, "the number is too large");
    emit_constant(p, value);
    p->at = s;
    skip_blanks(p);
    return true;
}

// table: number of the table that is called, -1: a function.
static bool parse_call(Parser* p, Span name, Op op, int table) {
    char expected[160];
    int count = operands(op);
    if (*p->at != '(') {
        snprintf(expected, sizeof expected, "'(' behind the %s '%.*s'",
                 table >= 0 ? "table" : "function", name.length, name.begin);
        return fail_expected(p, expected);
    }
    if (!enter(p)) return false;
    accept(p, "(");
    for (int i = 0; i < count; ++i) {
        if (!parse_comparison(p)) return false;
        const char* token = i + 1 < count ? "," : ")";
        if (!accept(p, token)) {
            snprintf(expected, sizeof expected, "%s ('%.*s' takes %d argument%s)",
                     i + 1 < count ? "','" : "an operator or ')'", name.length, name.begin, count,
                     count > 1 ? "s" : "");
            return fail_expected(p, expected);
        }
    }
    --p->depth;
    if (table >= 0) {
        emit_table(p, table);
    } else {
        emit(p, op);
    }
    return true;
}

// The index of a variable, or -1. Without a list of names every name is a variable.
static int find_variable(Parser* p, Span name) {
    for (int i = 0; p->names != NULL && i < p->count; ++i) {
        if (span_is(name, p->names[i])) return i;
    }
    if (p->found == NULL) return -1;
    for (int i = 0; i < p->found_count; ++i) {
        Span other = p->found[i];
        if (other.length == name.length &&
            strncmp(other.begin, name.begin, (size_t)name.length) == 0) {
            return i;
        }
    }
    p->found[p->found_count] = name;
    return p->found_count++;
}

static bool parse_name(Parser* p) {
    Span name = {p->at, name_length(p->at)};
    if (name.length > MAX_NAME) return fail(p, p->at, "the name is longer than 63 characters");
    p->at += name.length;
    skip_blanks(p);
    for (int i = 0; i < FUNCTIONS; ++i) {
        if (span_is(name, functions[i].name)) return parse_call(p, name, functions[i].op, -1);
    }
    for (int i = 0; p->tables != NULL && i < p->tables->count; ++i) {
        const LashTable* table = p->tables->table[i];
        Op op = lash_table_variables(table) == 2 ? OP_TABLE_2 : OP_TABLE;
        if (span_is(name, lash_table_name(table))) return parse_call(p, name, op, i);
    }
    if (*p->at == '(') return fail_unknown(p, name, true);
    if (span_is(name, "pi")) {
        emit_constant(p, LASH_PI);
        return true;
    }
    int variable = find_variable(p, name);
    if (variable < 0) return fail_unknown(p, name, false);
    p->program[p->length++] = (Instruction){OP_VARIABLE, (uint16_t)variable};
    ++p->stack;
    return true;
}

static bool parse_primary(Parser* p) {
    if (!check_stack(p)) return false;
    bool number =
        isdigit((unsigned char)p->at[0]) || (p->at[0] == '.' && isdigit((unsigned char)p->at[1]));
    if (number) return parse_number(p);
    if (is_name_start(*p->at)) return parse_name(p);
    if (*p->at != '(') return fail_expected(p, "a number, a name or '('");
    if (!enter(p)) return false;
    accept(p, "(");
    if (!parse_comparison(p)) return false;
    if (!accept(p, ")")) return fail_expected(p, "an operator or ')'");
    --p->depth;
    return true;
}

static bool parse_power(Parser* p) {
    if (!parse_primary(p)) return false;
    if (!accept(p, "^")) return true;
    if (!parse_unary(p)) return false;
    emit(p, OP_POWER);
    return true;
}

static bool parse_unary(Parser* p) {
    if (!enter(p)) return false;
    if (accept(p, "-")) {
        if (!parse_unary(p)) return false;
        emit(p, OP_NEGATE);
    } else if (accept(p, "+")) {
        if (!parse_unary(p)) return false;
    } else if (!parse_power(p)) {
        return false;
    }
    --p->depth;
    return true;
}

static bool parse_term(Parser* p) {
    if (!parse_unary(p)) return false;
    for (;;) {
        bool times = accept(p, "*");
        if (!times && !accept(p, "/")) return true;
        if (!parse_unary(p)) return false;
        emit(p, times ? OP_MULTIPLY : OP_DIVIDE);
    }
}

static bool parse_sum(Parser* p) {
    if (!parse_term(p)) return false;
    for (;;) {
        bool plus = accept(p, "+");
        if (!plus && !accept(p, "-")) return true;
        if (!parse_term(p)) return false;
        emit(p, plus ? OP_ADD : OP_SUBTRACT);
    }
}

static Op accept_comparison(Parser* p) {
    static const Function signs[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL},
                                     {"==", OP_EQUAL},      {"!=", OP_NOT_EQUAL},
                                     {"<", OP_LESS},        {">", OP_GREATER}};
    for (int i = 0; i < 6; ++i) {
        if (accept(p, signs[i].name)) return signs[i].op;
    }
    return OP_CONSTANT;
}

static bool parse_comparison(Parser* p) {
    if (!parse_sum(p)) return false;
    Op op = accept_comparison(p);
    if (op == OP_CONSTANT) return true;
    if (!parse_sum(p)) return false;
    emit(p, op);
    const char* at = p->at;
    if (accept_comparison(p) == OP_CONSTANT) return true;
    return fail(p, at, "comparisons cannot be chained (write min(a < b, b < c))");
}

// Parses all of text into p->program and p->constant, both allocated here.
static bool parse(Parser* p, const char* text) {
    p->text = p->at = text;
    size_t length = strlen(text);
    if (length > MAX_TEXT) {
        return lash_error_set(p->error, LASH_ERROR_MODEL, "",
                              "the expression has %zu bytes, at most %d are allowed", length,
                              MAX_TEXT);
    }
    p->program = lash_alloc((length + 1) * sizeof *p->program);
    p->constant = lash_alloc((length + 1) * sizeof *p->constant);
    skip_blanks(p);
    if (!parse_comparison(p)) return false;
    if (*p->at == '\0') return true;
    bool unit = is_name_start(*p->at) && p->at > text && isdigit((unsigned char)p->at[-1]);
    return fail_expected(p, unit ? "an operator behind the number (numbers carry no units)"
                                 : "an operator or the end");
}

static void parser_free(Parser* p) {
    lash_free(p->program);
    lash_free(p->constant);
    lash_free(p->found);
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

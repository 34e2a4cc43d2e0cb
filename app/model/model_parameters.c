// Parameters and expressions.
//
// A parameter is a number or an expression of other parameters; they are evaluated depth first, and
// a name met again while its own value is being found closes a cycle, which is told as a chain. In
// functions of t, x, v the parameters are replaced by their values in the text, so that a compiled
// function has three variables only.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/arena.h"

enum { MAX_NAMES = 64, MAX_TEXT = 4096 };

static const char* const variable_names[] = {"t", "x", "v"};

typedef struct NameList {
    char* name[MAX_NAMES];
    int count;
    bool overflow;
} NameList;

static void collect_name(void* context, const char* name) {
    NameList* list = context;
    if (list->count == MAX_NAMES) {
        list->overflow = true;
        return;
    }
    list->name[list->count++] = lash_strdup(name);
}

static void free_names(NameList* list) {
    for (int i = 0; i < list->count; ++i) lash_free(list->name[i]);
    list->count = 0;
}

// The different names in an expression.
static bool list_names(ModelContext* context, const char* path, const char* text, NameList* list) {
    LashError inner = {0};
    if (strlen(text) >= MAX_TEXT) {
        return model_fail(context, path, "this expression has %zu characters; at most %d are read",
                          strlen(text), MAX_TEXT - 1);
    }
    LashTables tables = model_tables(context->model);
    if (!lash_expression_names_with(text, &tables, collect_name, list, &inner)) {
        return model_fail(context, path, "%s", inner.message);
    }
    if (list->overflow) {
        return model_fail(context, path, "this expression uses more than %d names", MAX_NAMES);
    }
    return true;
}

static bool compile_and_evaluate(ModelContext* context, const char* path, const char* text,
                                 const NameList* names, const double* values, double* value) {
    LashError inner = {0};
    LashTables tables = model_tables(context->model);
    LashExpression* expression = lash_expression_compile_with(text, (const char* const*)names->name,
                                                              names->count, &tables, &inner);
    if (expression == NULL) return model_fail(context, path, "%s", inner.message);
    *value = lash_expression_value(expression, values);
    lash_expression_destroy(expression);
    if (!isfinite(*value)) {
        return model_fail(context, path,
                          "the expression '%.80s' gives %g; expected a finite number", text,
                          *value);
    }
    return true;
}

// ---- the parameters of the file -----------------------------------------------------------------

typedef struct Resolver {
    ModelContext* context;
    RawParameter* raw;
    int count;
    NameIndex index;
    int* chain; // (count) parameters being evaluated, each waiting for the next
    int depth;
} Resolver;

static int find_raw(Resolver* resolver, const char* name) {
    NamedList list = {resolver->raw, sizeof *resolver->raw, offsetof(RawParameter, name),
                      resolver->count};
    return model_index_find(&resolver->index, resolver->context->model, &list, name);
}

static bool fail_cycle(Resolver* resolver, int again) {
    char chain[300] = "";
    int first = 0;
    while (resolver->chain[first] != again) ++first;
    for (int i = first; i < resolver->depth; ++i) {
        size_t used = strlen(chain);
        snprintf(chain + used, sizeof chain - used, "%s -> ",
                 resolver->raw[resolver->chain[i]].name);
    }
    size_t used = strlen(chain);
    snprintf(chain + used, sizeof chain - used, "%s", resolver->raw[again].name);
    return model_fail(resolver->context, resolver->raw[again].source,
                      "parameters may not depend on themselves: %s; give one of them a number",
                      chain);
}

static bool fail_unknown(ModelContext* context, const char* path, const char* text,
                         const char* name, const RawParameter* raw, int count) {
    char hint[300];
    if (strcmp(name, "t") == 0 || strcmp(name, "x") == 0 || strcmp(name, "v") == 0) {
        return model_fail(context, path,
                          "'%.60s' uses '%s', which only drivers and forces may do; expected a "
                          "number or an expression of parameters",
                          text, name);
    }
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < count; ++i) app_suggestion_offer(&near, raw[i].name);
    return model_fail(context, path, "'%.60s' uses '%.40s', which is no parameter%s", text, name,
                      app_suggestion_names(&near, hint, sizeof hint));
}

// The value of the parameter on top of the chain, or the first that it waits for, *next (-1: none).
static bool advance(Resolver* resolver, int* next) {
    RawParameter* parameter = &resolver->raw[resolver->chain[resolver->depth - 1]];
    NameList names = {0};
    double values[MAX_NAMES] = {0};
    bool good = list_names(resolver->context, parameter->source, parameter->text, &names);
    *next = -1;
    for (int i = 0; i < names.count && good && *next < 0; ++i) {
        int other = find_raw(resolver, names.name[i]);
        if (other < 0) {
            good = fail_unknown(resolver->context, parameter->source, parameter->text,
                                names.name[i], resolver->raw, resolver->count);
        } else if (resolver->raw[other].state == 2 || resolver->raw[other].text == NULL) {
            values[i] = resolver->raw[other].value;
        } else if (resolver->raw[other].state == 1) {
            good = fail_cycle(resolver, other);
        } else {
            *next = other;
        }
    }
    if (good && *next < 0)
        good = compile_and_evaluate(resolver->context, parameter->source, parameter->text, &names,
                                    values, &parameter->value);
    free_names(&names);
    return good;
}

// Depth first, without recursion: chains may be as long as the file.
static bool resolve_one(Resolver* resolver, int index) {
    int next = index;
    for (;;) {
        if (next >= 0 && resolver->raw[next].text != NULL && resolver->raw[next].state == 0) {
            resolver->raw[next].state = 1;
            resolver->chain[resolver->depth++] = next;
        }
        if (resolver->depth == 0) return true;
        if (!advance(resolver, &next)) return false;
        if (next < 0) resolver->raw[resolver->chain[--resolver->depth]].state = 2;
    }
}

static bool is_name(const char* text) {
    if (!((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z') && *text != '_') return false;
    for (const char* c = text; *c != '\0'; ++c) {
        bool letter = ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') || *c == '_';
        if (!letter && !(*c >= '0' && *c <= '9')) return false;
    }
    return true;
}

// A name is taken when the compiler reads it as something else than a free name.
static bool is_reserved(const char* name) {
    NameList names = {0};
    LashError ignored = {0};
    bool good = lash_expression_names(name, collect_name, &names, &ignored);
    bool free_name = good && names.count == 1;
    free_names(&names);
    for (int i = 0; i < 3; ++i) free_name = free_name && strcmp(name, variable_names[i]) != 0;
    return !free_name;
}

static bool check_names(ModelContext* context, const RawParameter* raw, int count) {
    for (int i = 0; i < count; ++i) {
        if (!is_name(raw[i].name)) {
            return model_fail(
                context, raw[i].source,
                "'%.40s' is no name for a parameter: use letters, digits and '_', and "
                "begin with a letter",
                raw[i].name);
        }
        if (is_reserved(raw[i].name)) {
            return model_fail(
                context, raw[i].source,
                "'%s' is a function, constant or variable of expressions; choose another name",
                raw[i].name);
        }
    }
    return true;
}

// "name=value" of a --set option replaces the value of the file.
static bool apply_set(Resolver* resolver, const char* set) {
    ModelContext* context = resolver->context;
    RawParameter* raw = resolver->raw;
    char name[64], hint[300];
    const char* equal = strchr(set, '=');
    size_t length = equal == NULL ? 0 : (size_t)(equal - set);
    if (length == 0 || length >= sizeof name || equal[1] == '\0') {
        return lash_error_set(context->error, LASH_ERROR_USAGE, "--set",
                              "expected parameter=value, found '%.80s'; write it such as L=0.3",
                              set);
    }
    memcpy(name, set, length);
    name[length] = '\0';
    int index = find_raw(resolver, name);
    if (index < 0) {
        AppSuggestion near = app_suggestion(name);
        for (int i = 0; i < resolver->count; ++i) app_suggestion_offer(&near, raw[i].name);
        return lash_error_set(context->error, LASH_ERROR_USAGE, "--set",
                              "the model has no parameter '%s'%s", name,
                              app_suggestion_names(&near, hint, sizeof hint));
    }
    raw[index].text = model_strdup(context->model, equal + 1);
    raw[index].source = "--set";
    return true;
}

bool model_resolve_parameters(ModelContext* context, RawParameter* raw, int count,
                              const char* const* sets, int set_count) {
    Resolver r = {.context = context, .raw = raw, .count = count};
    r.chain = model_alloc(context->model, (size_t)count * sizeof *r.chain);
    // a donor's names have been checked
    if (context->model->donor == NULL && !check_names(context, raw, count)) return false;
    for (int i = 0; i < set_count; ++i) {
        if (!apply_set(&r, sets[i])) return false;
    }
    for (int i = 0; i < count; ++i) {
        if (!resolve_one(&r, i)) return false;
    }
    LashModel* model = context->model;
    model->parameter = model_alloc(model, (size_t)count * sizeof *model->parameter);
    model->parameters = count;
    for (int i = 0; i < count; ++i) {
        model->parameter[i] = (LashModelParameter){raw[i].name, raw[i].value, raw[i].fit};
    }
    return true;
}

// ---- expressions elsewhere ----------------------------------------------------------------------

static bool fail_unknown_name(ModelContext* context, const char* path, const char* text,
                              const char* name, int variables) {
    char hint[300];
    const LashModel* model = context->model;
    bool variable = false;
    for (int i = 0; i < 3; ++i) variable = variable || strcmp(name, variable_names[i]) == 0;
    if (variable) {
        return model_fail(context, path,
                          variables == 0
                              ? "'%.60s' uses '%s', which only drivers and forces may do; "
                                "expected a number or an expression of parameters"
                              : "'%.60s' uses '%s'; here only t and parameters are known",
                          text, name);
    }
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < model->parameters; ++i)
        app_suggestion_offer(&near, model->parameter[i].name);
    return model_fail(context, path, "'%.60s' uses '%.40s', which is no parameter%s", text, name,
                      app_suggestion_names(&near, hint, sizeof hint));
}

bool model_evaluate(ModelContext* context, const char* path, const char* text, double* value) {
    NameList names = {0};
    double values[MAX_NAMES] = {0};
    bool good = list_names(context, path, text, &names);
    for (int i = 0; i < names.count && good; ++i) {
        int index = model_name_find(context->model, MODEL_PARAMETERS, names.name[i]);
        good = index >= 0 || fail_unknown_name(context, path, text, names.name[i], 0);
        if (good) values[i] = context->model->parameter[index].value;
    }
    good = good && compile_and_evaluate(context, path, text, &names, values, value);
    free_names(&names);
    return good;
}

static bool starts_name(char c) {
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Length of the number at s, exponent included, so that the e of 1e5 is no name.
static size_t number_length(const char* s) {
    char* end = NULL;
    if (!is_digit(s[0]) && s[0] != '.') return 0;
    strtod(s, &end);
    return (size_t)(end - s);
}

// Copies text with every parameter replaced by its value in parentheses.
static char* replace_parameters(LashModel* model, const char* text) {
    size_t used = 0;
    char* out = model_alloc(model, 32 * strlen(text) + 1); // a value has at most 26 characters
    for (const char* s = text; *s != '\0';) {
        size_t length = number_length(s);
        if (length == 0 && starts_name(*s)) {
            while (starts_name(s[length]) || is_digit(s[length]) ||
                   (s[length] == '.' && starts_name(s[length + 1])))
                ++length;
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)length, s);
            int index = model_name_find(model, MODEL_PARAMETERS, name);
            if (index >= 0 && model_find_input(model, name) < 0) {
                used += (size_t)sprintf(out + used, "(%.17g)", model->parameter[index].value);
                s += length;
                continue;
            }
        }
        if (length == 0 && *s == '\'') length = strcspn(s + 1, "'") + 1; // a quoted name
        if (length == 0) length = 1;
        memcpy(out + used, s, length);
        used += length;
        s += length;
    }
    out[used] = '\0';
    return out;
}

int model_find_input(const LashModel* model, const char* name) {
    for (int i = 0; i < model->inputs; ++i) {
        if (strcmp(model->input[i].name, name) == 0) return i;
    }
    return -1;
}

int model_function_names(const LashModel* model, const LashModelFunction* function,
                         const char** names) {
    memcpy(names, variable_names, sizeof variable_names);
    for (int i = 0; i < function->inputs; ++i) names[3 + i] = model->input[function->input[i]].name;
    for (int i = 0; i < function->readings; ++i)
        names[3 + function->inputs + i] = function->reading_name[i];
    return 3 + function->inputs + function->readings;
}

// "crank.angle": of the state, not a parameter.
static bool is_of_state(const char* name) {
    return strchr(name, '.') != NULL || name[0] == '\'';
}

// A name of an expression that is no parameter: input or state. False with a message.
static bool add_variable(ModelContext* context, const char* path, const char* name, int variables,
                         LashModelFunction* function) {
    int input = model_find_input(context->model, name);
    bool state = is_of_state(name);
    if (input < 0 && !state) return true;
    if (state && (variables & READS_STATE) == 0) {
        return model_fail(context, path, "'%.60s' is of the state, which only forces may read",
                          name);
    }
    if (function->inputs + function->readings == LASH_FUNCTION_INPUTS) {
        return model_fail(context, path, "an expression may read at most %d inputs and coordinates",
                          LASH_FUNCTION_INPUTS);
    }
    if (state) {
        function->reading_name[function->readings++] = model_strdup(context->model, name);
    } else {
        function->input[function->inputs++] = input;
    }
    return true;
}

bool model_read_function(ModelContext* context, const char* path, const char* text, int variables,
                         LashModelFunction* function) {
    NameList names = {0};
    function->inputs = 0;
    function->readings = 0;
    bool constant = true, good = list_names(context, path, text, &names);
    for (int i = 0; i < names.count && good; ++i) {
        bool variable = false;
        for (int k = 0; k < variables % READS_STATE; ++k) {
            variable = variable || strcmp(names.name[i], variable_names[k]) == 0;
        }
        bool input = model_find_input(context->model, names.name[i]) >= 0;
        bool state = is_of_state(names.name[i]);
        good = add_variable(context, path, names.name[i], variables, function);
        constant = constant && !variable && !input && !state;
        good = good &&
               (variable || state ||
                model_name_find(context->model, MODEL_PARAMETERS, names.name[i]) >= 0 ||
                fail_unknown_name(context, path, text, names.name[i], variables % READS_STATE));
    }
    free_names(&names);
    if (!good) return false;
    function->given = true;
    if (constant) return model_evaluate(context, path, text, &function->value);
    function->text = replace_parameters(context->model, text);
    LashError inner = {0};
    LashTables tables = model_tables(context->model);
    const char* variable[3 + LASH_FUNCTION_INPUTS];
    int count = model_function_names(context->model, function, variable);
    LashExpression* expression =
        lash_expression_compile_with(function->text, variable, count, &tables, &inner);
    if (expression == NULL) return model_fail(context, path, "%s", inner.message);
    lash_expression_destroy(expression);
    return true;
}

LashFunction model_compile_function(const LashModel* model, const LashModelFunction* function,
                                    double out, double t_unit, double x_unit, double v_unit) {
    LashFunction result = {.out = out, .in = {t_unit, x_unit, v_unit}};
    if (function->text == NULL) {
        result.out = out * function->value;
    } else {
        LashTables tables = model_tables(model);
        const char* variable[3 + LASH_FUNCTION_INPUTS];
        int count = model_function_names(model, function, variable);
        result.expression =
            lash_expression_compile_with(function->text, variable, count, &tables, NULL);
        result.inputs = function->inputs;
        memcpy(result.input, function->input, sizeof result.input);
        result.readings = function->readings;
        result.reading = function->reading;
        LASH_ASSERT(result.expression != NULL); // it was compiled when the model was read
    }
    return result;
}

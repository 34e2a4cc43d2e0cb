// Tables of a model: functions of one or two variables, inline or from a CSV file.
//
//     {"name": "magnet", "x": [0, 1, 2], "values": [9, 3, 1], "interpolation": "cubic", "outside": "hold"}
//     {"name": "pull", "x": [..], "y": [..], "values": [[..], ..], ..}      a row of values per x
//     {"name": "pull", "file": "pull.csv", ..}
//
// A CSV file has two columns, x and value, or a first line with the y values behind a corner cell and
// then one line per x. Cells stand between commas, semicolons, tabs or blanks; a first line of words and
// what follows a # are passed over. Names of tables are called in expressions: "-pull(gap, current)".
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/arena.h"
#include "core/expression.h"
#include "geometry/cad/sha256.h"

static const char* const kinds[] = {"linear", "cubic", NULL};                 // LashTableKind
static const char* const outsides[] = {"error", "hold", "extrapolate", NULL}; // LashTableOutside

#define TABLE(member) .key = #member, .offset = offsetof(LashModelTable, member)
static const KeySpec table_keys[] = {
    {TABLE(name), .type = KEY_TEXT, .required = true,
     .help = "what expressions call it by; unique, no function or parameter"},
    {TABLE(x), .type = KEY_NUMBERS, .count_offset = offsetof(LashModelTable, x_count),
     .help = "points of the first variable, rising"},
    {TABLE(y), .type = KEY_NUMBERS, .count_offset = offsetof(LashModelTable, y_count),
     .help = "points of the second variable, rising; left out: a function of one variable"},
    {TABLE(values), .type = KEY_ROWS, .count_offset = offsetof(LashModelTable, value_count),
     .help = "one value per x, or with y one list per x with a value per y"},
    {TABLE(file), .type = KEY_TEXT,
     .help = "CSV file instead of x, y and values: columns x and value, or a line of y values and "
             "then lines of x and values; relative to the model"},
    {TABLE(interpolation), .type = KEY_CHOICE, .choices = kinds, .required = true,
     .help = "linear, or cubic: continuous slope, monotone between points"},
    {TABLE(outside), .type = KEY_CHOICE, .choices = outsides, .required = true,
     .help =
         "beyond the points: error ends the run, hold keeps the last value, extrapolate goes on "
         "with the last slope"},
};
const KeyTable model_table_table = {.what = "a table",
                                    .key = table_keys,
                                    .keys = sizeof table_keys / sizeof *table_keys,
                                    .size = sizeof(LashModelTable)};

LashTables model_tables(const LashModel* model) {
    return (LashTables){.table = model->compiled_table,
                        .count = model->compiled_table != NULL ? model->tables : 0};
}

// ---- CSV ----------------------------------------------------------------------------------------

enum { MOST_CELLS = 4096, MOST_BYTES = 16 << 20 };

typedef struct Csv {
    ModelContext* context;   // NULL: of no model
    LashError* error;        // then
    const char *path, *file; // of the key; of the file
    int line;
    double* cell; // (MOST_CELLS) numbers of the line; NAN: words
    int cells;
    double *x, *y, *values;
    int rows, columns, room; // columns: values of a line
} Csv;

static bool fail_csv(const Csv* csv, const char* what) {
    char where[32] = ""; // line 0: of the whole file
    if (csv->line > 0) snprintf(where, sizeof where, "line %d", csv->line);
    if (csv->context == NULL) {
        lash_error_set(csv->error, LASH_ERROR_MODEL, where, "%s", what);
        lash_error_file(csv->error, csv->file);
        return false;
    }
    return model_fail(csv->context, csv->path, "%.120s%s%s: %s", csv->file,
                      csv->line > 0 ? ", " : "", where, what);
}

// Numbers of one line; a cell that is no number is NAN. False: too many.
static bool split_line(Csv* csv, const char* s) {
    csv->cells = 0;
    while (*s != '\n' && *s != '\r' && *s != '\0' && *s != '#') {
        while (*s == ' ' || *s == '\t') ++s;
        if (*s == '\n' || *s == '\r' || *s == '\0' || *s == '#') break;
        if (csv->cells == MOST_CELLS) return fail_csv(csv, "more than 4096 cells");
        char* end = NULL;
        double value = strtod(s, &end);
        size_t word = strcspn(s, ",;\t\n\r#");
        size_t number = end > s ? (size_t)(end - s) : 0;
        bool plain = number > 0 && strspn(s, "+-.0123456789eE") >= number; // neither inf nor 0x
        bool ended = number > 0 && strchr(" ,;\t\n\r#", s[number]) != NULL;
        csv->cell[csv->cells++] = plain && ended && isfinite(value) ? value : NAN;
        s += plain && ended ? number : word;
        while (*s == ' ') ++s;
        if (*s == ',' || *s == ';' || *s == '\t') ++s;
    }
    return true;
}

static bool has_words(const Csv* csv, int first) {
    for (int i = first; i < csv->cells; ++i) {
        if (isnan(csv->cell[i])) return true;
    }
    return false;
}

// A line of numbers: x, values.
static bool add_row(Csv* csv) {
    if (has_words(csv, 0)) return fail_csv(csv, "expected numbers, found a word or an empty cell");
    if (csv->cells != csv->columns + 1) {
        char what[96];
        snprintf(what, sizeof what, "expected %d numbers, found %d", csv->columns + 1, csv->cells);
        return fail_csv(csv, what);
    }
    if (csv->rows == csv->room) {
        csv->room = 2 * csv->room + 64;
        csv->x = lash_realloc(csv->x, (size_t)csv->room * sizeof *csv->x);
        csv->values = lash_realloc(csv->values,
                                   (size_t)csv->room * (size_t)csv->columns * sizeof *csv->values);
    }
    csv->x[csv->rows] = csv->cell[0];
    memcpy(csv->values + (size_t)csv->rows * (size_t)csv->columns, csv->cell + 1,
           (size_t)csv->columns * sizeof *csv->values);
    ++csv->rows;
    return true;
}

// The first line with cells decides: two of them are a pair or a heading, more are the y values.
static bool first_row(Csv* csv) {
    if (csv->cells < 2) return fail_csv(csv, "expected two columns or more");
    csv->columns = csv->cells - 1;
    if (csv->cells == 2) return has_words(csv, 0) || add_row(csv);
    if (has_words(csv, 1)) return fail_csv(csv, "expected the y values behind the first cell");
    csv->y = lash_alloc((size_t)csv->columns * sizeof *csv->y);
    memcpy(csv->y, csv->cell + 1, (size_t)csv->columns * sizeof *csv->y);
    return true;
}

static bool read_lines(Csv* csv, const char* text) {
    for (const char* s = text; *s != '\0';) {
        ++csv->line;
        if (!split_line(csv, s)) return false;
        bool good = true;
        if (csv->cells > 0) good = csv->columns == 0 ? first_row(csv) : add_row(csv);
        if (!good) return false;
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    csv->line = 0;
    return csv->rows > 0 || fail_csv(csv, "there are no numbers in this file");
}

// Fills x, y and values of a table from its file.
static bool read_csv(ModelContext* context, const char* path, LashModelTable* table) {
    char file[1024];
    size_t bytes = 0;
    LashError inner = {0};
    model_cad_path(context->model, table->file, file, sizeof file);
    const LashModelFile* carried = model_use_file(context->model, table->file);
    char* text = NULL;
    if (carried != NULL) {
        bytes = carried->bytes;
        text = lash_alloc(bytes + 1);
        memcpy(text, carried->data, bytes);
        text[bytes] = '\0';
    } else {
        text = app_read_file(file, MOST_BYTES, &bytes, &inner);
    }
    if (text == NULL) return model_fail(context, path, "%.300s: %s", file, inner.message);
    LashSha256 hash = lash_sha256();
    lash_sha256_add(&hash, text, bytes);
    lash_sha256_hex(&hash, table->hash);
    Csv csv = {.context = context, .path = path, .file = table->file};
    csv.cell = lash_alloc(MOST_CELLS * sizeof *csv.cell);
    bool good = read_lines(&csv, text);
    if (good) {
        size_t n = (size_t)csv.rows * (size_t)csv.columns;
        table->x_count = csv.rows;
        table->y_count = csv.y != NULL ? csv.columns : 0;
        table->value_count = (int)n;
        table->x = model_alloc(context->model, (size_t)csv.rows * sizeof *table->x);
        table->y = model_alloc(context->model, (size_t)csv.columns * sizeof *table->y);
        table->values = model_alloc(context->model, n * sizeof *table->values);
        memcpy(table->x, csv.x, (size_t)csv.rows * sizeof *table->x);
        if (csv.y != NULL) memcpy(table->y, csv.y, (size_t)csv.columns * sizeof *table->y);
        memcpy(table->values, csv.values, n * sizeof *table->values);
    }
    lash_free(csv.cell);
    lash_free(csv.x);
    lash_free(csv.y);
    lash_free(csv.values);
    lash_free(text);
    return good;
}

LashTable* model_read_signal(const char* file, const char* name, LashError* error) {
    size_t bytes = 0;
    LashTable* table = NULL;
    char* text = app_read_file(file, MOST_BYTES, &bytes, error);
    if (text == NULL) return NULL;
    Csv csv = {.error = error, .file = file};
    csv.cell = lash_alloc(MOST_CELLS * sizeof *csv.cell);
    bool good = read_lines(&csv, text);
    if (good && csv.y != NULL)
        good = lash_error_set(error, LASH_ERROR_MODEL, "",
                              "expected two columns, t and value, found %d", csv.columns + 1);
    if (good) {
        LashTableDef def = {.name = name,
                            .x = csv.x,
                            .value = csv.values,
                            .nx = csv.rows,
                            .kind = LASH_TABLE_LINEAR,
                            .outside = LASH_OUTSIDE_HOLD};
        table = lash_table_create(&def, error);
    }
    if (table == NULL) lash_error_file(error, file);
    lash_free(csv.cell);
    lash_free(csv.x);
    lash_free(csv.y);
    lash_free(csv.values);
    lash_free(text);
    return table;
}

// ---- inputs -------------------------------------------------------------------------------------

static const KeySpec input_keys[] = {
    {.key = "value",
     .offset = offsetof(LashModelInput, value),
     .type = KEY_NUMBER,
     .required = true,
     .help = "before it is set; --set and studies change it as a parameter"},
    {.key = "unit",
     .offset = offsetof(LashModelInput, unit),
     .type = KEY_TEXT,
     .help = "for people: expressions read the number as it is"},
};
const KeyTable model_input_table = {.what = "an input",
                                    .key = input_keys,
                                    .keys = sizeof input_keys / sizeof *input_keys,
                                    .size = sizeof(LashModelInput)};

// ---- making -------------------------------------------------------------------------------------

static bool check_name(ModelContext* context, int index) {
    const LashModel* model = context->model;
    const char* name = model->table[index].name;
    char path[64];
    snprintf(path, sizeof path, "tables[%d].name", index);
    bool variable = strcmp(name, "t") == 0 || strcmp(name, "x") == 0 || strcmp(name, "v") == 0;
    if (variable || strchr(name, '.') != NULL || !lash_expression_is_free_name(name)) {
        return model_fail(
            context, path,
            "'%.60s' is no name for a table: use letters, digits and '_', begin with a "
            "letter, and choose no function, constant or variable of expressions",
            name);
    }
    for (int i = 0; i < model->parameters; ++i) {
        if (strcmp(model->parameter[i].name, name) == 0)
            return model_fail(context, path, "the name '%.60s' is taken by a parameter", name);
    }
    for (int i = 0; i < index; ++i) {
        if (strcmp(model->table[i].name, name) == 0)
            return model_fail(context, path, "the name '%.60s' is taken by tables[%d]", name, i);
    }
    return true;
}

static bool check_sizes(ModelContext* context, const char* path,
                        const LashModelTable* model_table) {
    int wanted = model_table->x_count * (model_table->y_count > 0 ? model_table->y_count : 1);
    if (model_table->file != NULL) {
        return (model_table->x == NULL && model_table->y == NULL && model_table->values == NULL) ||
               model_fail(context, path, "give 'file', or 'x' and 'values', not both");
    }
    if (model_table->x == NULL || model_table->values == NULL)
        return model_fail(context, path, "a table needs 'x' and 'values', or 'file'");
    if (model_table->value_count == wanted) return true;
    return model_fail(context, path, "expected %d values for %d points of x%s, found %d", wanted,
                      model_table->x_count, model_table->y_count > 0 ? " and those of y" : "",
                      model_table->value_count);
}

// A file is read once for all models that vary one.
static LashTable* donated(const LashModel* model, const LashModelTable* table) {
    for (const LashModel* donor = model->donor; donor != NULL; donor = donor->donor) {
        for (int i = 0; i < donor->tables; ++i) {
            if (strcmp(donor->table[i].name, table->name) == 0 && table->file != NULL)
                return lash_table_share(donor->table[i].table);
        }
    }
    return NULL;
}

static bool make_table(ModelContext* context, int index) {
    LashModelTable* model_table = &context->model->table[index];
    char path[64];
    LashError inner = {0};
    snprintf(path, sizeof path, "tables[%d]", index);
    if (!check_name(context, index) || !check_sizes(context, path, model_table)) return false;
    model_table->table = donated(context->model, model_table);
    if (model_table->table != NULL) {
        model_use_file(context->model, model_table->file);
        return true;
    }
    if (model_table->file != NULL && !read_csv(context, path, model_table)) return false;
    LashTableDef def = {.name = model_table->name,
                        .x = model_table->x,
                        .y = model_table->y_count > 0 ? model_table->y : NULL,
                        .value = model_table->values,
                        .nx = model_table->x_count,
                        .ny = model_table->y_count,
                        .kind = (LashTableKind)model_table->interpolation,
                        .outside = (LashTableOutside)model_table->outside};
    model_table->table = lash_table_create(&def, &inner);
    return model_table->table != NULL || model_fail(context, path, "%s", inner.message);
}

bool model_make_tables(ModelContext* context) {
    LashModel* model = context->model;
    LashTable** compiled =
        model_alloc(model, ((size_t)model->tables + 1) * sizeof *model->compiled_table);
    for (int i = 0; i < model->tables; ++i) {
        if (!make_table(context, i)) return false;
        compiled[i] = model->table[i].table;
    }
    model->compiled_table = compiled;
    return true;
}

// Reading a model: file -> strict scan -> cJSON -> structs by key tables -> resolution (model_*.c).
// The only file that sees cJSON. Every number becomes SI here: number x unit of its key.
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/suggest.h"
#include "app/model/fit.h"
#include "app/model/json_scan.h"
#include "app/model/model_internal.h"
#include "core/arena.h"
#include "core/math3.h"

typedef struct Reader {
    ModelContext* context;
    char path[APP_JSON_PATH];
    const char* const* sets;
    int set_count;
} Reader;

static bool read_table(Reader* reader, const cJSON* node, const KeyTable* table, char* target);

// ---- end and errors -----------------------------------------------------------------------------

void lash_model_destroy(LashModel* model) {
    if (model == NULL) return;
    for (int i = 0; i < model->contact_points; ++i) lash_pair_destroy(model->contact_point[i].pair);
    for (int i = 0; i < model->cads; ++i) lash_shape_destroy(model->cad[i].shape);
    for (int i = 0; i < model->tables; ++i) lash_table_destroy(model->table[i].table);
    cJSON_Delete(model->document);
    model_free_memory(model);
    lash_free(model);
}

bool model_fail(const ModelContext* context, const char* path, const char* format, ...) {
    char where[192], message[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (strcmp(path, "--set") == 0) {
        return lash_error_set(context->error, LASH_ERROR_USAGE, path, "%s", message);
    }
    AppPlace place = app_json_find(context->text, context->bytes, path);
    snprintf(where, sizeof where, "line %d, column %d%s%.140s", place.line, place.column,
             path[0] == '\0' ? "" : ": ", path);
    return lash_error_set(context->error, LASH_ERROR_MODEL, where, "%s", message);
}

static const char* type_name(const cJSON* node) {
    if (cJSON_IsNumber(node)) return "a number";
    if (cJSON_IsString(node)) return "a text";
    if (cJSON_IsArray(node)) return "a list";
    if (cJSON_IsObject(node)) return "an object";
    if (cJSON_IsTrue(node)) return "true";
    if (cJSON_IsFalse(node)) return "false";
    return "null";
}

static bool fail_type(Reader* reader, const char* expected, const cJSON* node) {
    return model_fail(reader->context, reader->path, "expected %s, found %s", expected,
                      type_name(node));
}

// ---- scalars ------------------------------------------------------------------------------------

static bool check_range(Reader* reader, KeyRange range, double number) {
    static const char* const text[] = {"", "a number > 0", "a number >= 0", "a number from 0 to 1"};
    bool good = range == RANGE_ANY || (range == RANGE_POSITIVE && number > 0) ||
                (range == RANGE_NOT_NEGATIVE && number >= 0) ||
                (range == RANGE_FRACTION && number >= 0 && number <= 1);
    return good ||
           model_fail(reader->context, reader->path, "expected %s, found %g", text[range], number);
}

// Beyond these sizes squares and products leave the range of doubles.
static bool check_size(Reader* reader, KeyRange range, double si) {
    static const double LARGEST = 1e30, SMALLEST = 1e-40;
    if (!(fabs(si) <= LARGEST)) {
        return model_fail(reader->context, reader->path,
                          "%g in SI units is too large to compute with", si);
    }
    return range != RANGE_POSITIVE || si >= SMALLEST ||
           model_fail(reader->context, reader->path, "%g in SI units is too small to compute with",
                      si);
}

static bool read_number(Reader* reader, const cJSON* node, KeyRange range, double* number) {
    if (cJSON_IsNumber(node)) {
        *number = node->valuedouble;
    } else if (cJSON_IsString(node)) {
        if (!model_evaluate(reader->context, reader->path, node->valuestring, number)) return false;
    } else {
        return fail_type(reader, "a number or an expression in \"...\"", node);
    }
    return check_range(reader, range, *number);
}

// {"fit": "10 H7/g6"}: the radial play in the middle of the zones [m].
static bool read_fit(Reader* reader, const cJSON* node, double* metres) {
    const cJSON* text = cJSON_GetObjectItemCaseSensitive(node, "fit");
    if (!cJSON_IsString(text) || cJSON_GetArraySize(node) != 1)
        return fail_type(reader, "a number, an expression, or {\"fit\": \"10 H7/g6\"}", node);
    LashFit fit;
    LashError inner = {0};
    if (!lash_fit_parse(text->valuestring, &fit, &inner))
        return model_fail(reader->context, reader->path, "\"%.60s\": %s", text->valuestring,
                          inner.message);
    if (!lash_fit_is_pair(&fit)) {
        return model_fail(reader->context, reader->path,
                          "\"%.60s\" is one part of a fit; write hole and shaft: \"10 H7/g6\"",
                          text->valuestring);
    }
    LashFitPlay play = lash_fit_play(&fit);
    *metres = 0.5 * play.middle;
    if (play.middle > 0) return true;
    return model_fail(reader->context, reader->path,
                      "\"%.60s\" has no play: hole - shaft is %.4g um in the middle of the zones",
                      text->valuestring, 1e6 * play.middle);
}

static double unit_factor(const Reader* reader, const KeySpec* spec) {
    return model_unit_factor(&reader->context->model->units, spec->unit);
}

// `count` numbers into values, each times the unit of the key.
static bool read_numbers(Reader* reader, const cJSON* node, const KeySpec* spec, int count,
                         double* values) {
    if (!cJSON_IsArray(node) || cJSON_GetArraySize(node) != count) {
        char expected[64];
        snprintf(expected, sizeof expected, "a list of %d numbers", count);
        if (!cJSON_IsArray(node)) return fail_type(reader, expected, node);
        return model_fail(reader->context, reader->path, "expected %s, found %d", expected,
                          cJSON_GetArraySize(node));
    }
    size_t length = strlen(reader->path);
    double factor = unit_factor(reader, spec);
    int i = 0;
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, i);
        if (!read_number(reader, item, spec->range, &values[i])) return false;
        values[i] *= factor;
        if (!check_size(reader, spec->range, values[i++])) return false;
        reader->path[length] = '\0';
    }
    return true;
}

// Any count of numbers, at least one.
static bool read_list_of_numbers(Reader* reader, const cJSON* node, const KeySpec* spec,
                                 char* target) {
    if (!cJSON_IsArray(node)) return fail_type(reader, "a list of numbers", node);
    int count = cJSON_GetArraySize(node);
    if (count == 0)
        return model_fail(reader->context, reader->path, "expected numbers, found an empty list");
    double* values = model_alloc(reader->context->model, (size_t)count * sizeof *values);
    memcpy(target + spec->offset, &values, sizeof values);
    memcpy(target + spec->count_offset, &count, sizeof count);
    return read_numbers(reader, node, spec, count, values);
}

// Numbers, or lists of as many numbers each, behind each other.
static bool read_rows(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    if (!cJSON_IsArray(node) || !cJSON_IsArray(node->child))
        return read_list_of_numbers(reader, node, spec, target);
    int rows = cJSON_GetArraySize(node), columns = cJSON_GetArraySize(node->child), row = 0;
    int count = rows * columns;
    double* values = model_alloc(reader->context->model, (size_t)count * sizeof *values);
    memcpy(target + spec->offset, &values, sizeof values);
    memcpy(target + spec->count_offset, &count, sizeof count);
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, row);
        if (!read_numbers(reader, item, spec, columns, values + (size_t)row * (size_t)columns))
            return false;
        ++row;
        reader->path[length] = '\0';
    }
    return true;
}

// One text, or a list of them.
static bool read_texts(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    bool one = cJSON_IsString(node);
    int count = one ? 1 : cJSON_GetArraySize(node), i = 0;
    if (!one && (!cJSON_IsArray(node) || count == 0))
        return fail_type(reader, "a text or a list of texts", node);
    char** texts = model_alloc(reader->context->model, (size_t)count * sizeof *texts);
    memcpy(target + spec->offset, &texts, sizeof texts);
    memcpy(target + spec->count_offset, &count, sizeof count);
    if (one) {
        texts[0] = model_strdup(reader->context->model, node->valuestring);
        return true;
    }
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, i);
        if (!cJSON_IsString(item)) return fail_type(reader, "a text", item);
        texts[i++] = model_strdup(reader->context->model, item->valuestring);
        reader->path[length] = '\0';
    }
    return true;
}

// Two lists of texts.
static bool read_text_lists(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    if (!cJSON_IsArray(node) || cJSON_GetArraySize(node) != 2)
        return fail_type(reader, "two lists of texts, [[..], [..]]", node);
    size_t length = strlen(reader->path);
    for (int i = 0; i < 2; ++i) {
        size_t at = spec->offset + (size_t)i * sizeof(LashModelNames);
        KeySpec list = {.offset = at + offsetof(LashModelNames, name),
                        .count_offset = at + offsetof(LashModelNames, count)};
        app_json_path_index(reader->path, sizeof reader->path, i);
        if (!read_texts(reader, cJSON_GetArrayItem(node, i), &list, target)) return false;
        reader->path[length] = '\0';
    }
    return true;
}

static bool read_choice(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    char list[500] = "", hint[128];
    if (!cJSON_IsString(node)) return fail_type(reader, "a text", node);
    AppSuggestion near = app_suggestion(node->valuestring);
    for (int i = 0; spec->choices[i] != NULL; ++i) {
        if (strcmp(node->valuestring, spec->choices[i]) == 0) {
            memcpy(field, &i, sizeof i);
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", spec->choices[i]);
        app_suggestion_offer(&near, spec->choices[i]);
    }
    return model_fail(reader->context, reader->path, "expected one of %s; found '%.40s'%s", list,
                      node->valuestring, app_suggestion_text(&near, hint, sizeof hint));
}

static bool read_whole(Reader* reader, const cJSON* node, KeyRange range, double most,
                       double* number) {
    if (!read_number(reader, node, range, number)) return false;
    if (*number != floor(*number))
        return model_fail(reader->context, reader->path, "expected a whole number, found %g",
                          *number);
    if (fabs(*number) > most)
        return model_fail(reader->context, reader->path,
                          "expected a whole number up to %.16g, found %.17g", most, *number);
    return true;
}

static bool read_integer(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    double number = 0;
    if (!read_whole(reader, node, spec->range, 1e9, &number)) return false;
    int value = (int)number;
    memcpy(field, &value, sizeof value);
    return true;
}

static bool read_long(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    double number = 0;
    if (!read_whole(reader, node, spec->range, 9007199254740992.0, &number)) return false;
    int64_t value = (int64_t)number;
    memcpy(field, &value, sizeof value);
    return true;
}

// ---- small compounds ----------------------------------------------------------------------------

static bool read_vector(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    double x[3] = {0};
    if (!read_numbers(reader, node, spec, 3, x)) return false;
    *(Vec3*)field = vec3(x[0], x[1], x[2]);
    return true;
}

static bool read_vectors(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    if (!cJSON_IsArray(node)) return fail_type(reader, "a list of lists of 3 numbers", node);
    if (node->child == NULL) {
        return model_fail(reader->context, reader->path,
                          "expected at least one list of 3 numbers, found none");
    }
    int count = cJSON_GetArraySize(node), i = 0;
    Vec3* vectors = model_alloc(reader->context->model, (size_t)count * sizeof *vectors);
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, i);
        if (!read_vector(reader, item, spec, &vectors[i++])) return false;
        reader->path[length] = '\0';
    }
    memcpy(target + spec->offset, &vectors, sizeof vectors);
    memcpy(target + spec->count_offset, &count, sizeof count);
    return true;
}

static bool read_quaternion(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    double x[4] = {0};
    if (!read_numbers(reader, node, spec, 4, x)) return false;
    Quat rot = quat(x[0], x[1], x[2], x[3]);
    double norm = quat_norm(rot);
    if (!(fabs(norm - 1) < 1e-3)) {
        return model_fail(
            reader->context, reader->path,
            "a quaternion [w, x, y, z] must have norm 1, found %g; axis and angle may be "
            "given instead",
            norm);
    }
    *(Quat*)field = quat_normalize(rot);
    return true;
}

// [Jx, Jy, Jz], or the matrix by rows.
static bool read_inertia(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    Mat3* inertia = field;
    double x[3] = {0};
    if (!cJSON_IsArray(node) || !cJSON_IsArray(node->child)) {
        if (!read_numbers(reader, node, spec, 3, x)) return false;
        *inertia = mat3_diagonal(x[0], x[1], x[2]);
        return true;
    }
    if (cJSON_GetArraySize(node) != 3) {
        return model_fail(reader->context, reader->path,
                          "expected 3 numbers or 3 rows of 3 numbers, found %d rows",
                          cJSON_GetArraySize(node));
    }
    size_t length = strlen(reader->path);
    int row = 0;
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, row);
        if (!read_numbers(reader, item, spec, 3, x)) return false;
        for (int column = 0; column < 3; ++column) inertia->m[row + 3 * column] = x[column];
        ++row;
        reader->path[length] = '\0';
    }
    return true;
}

static bool read_color(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    float* color = field;
    unsigned rgb[3];
    char more;
    if (cJSON_IsString(node)) {
        if (strlen(node->valuestring) != 7 ||
            sscanf(node->valuestring, "#%2x%2x%2x%c", &rgb[0], &rgb[1], &rgb[2], &more) != 3) {
            return model_fail(reader->context, reader->path,
                              "expected a color \"#rrggbb\", found '%.40s'", node->valuestring);
        }
        for (int i = 0; i < 3; ++i) color[i] = (float)rgb[i] / 255.0F;
        color[3] = 1;
        return true;
    }
    double x[4] = {0, 0, 0, 1};
    int count = cJSON_IsArray(node) && cJSON_GetArraySize(node) == 4 ? 4 : 3;
    if (!read_numbers(reader, node, spec, count, x)) return false;
    for (int i = 0; i < 4; ++i) color[i] = (float)x[i];
    return true;
}

static bool read_function(Reader* reader, const cJSON* node, const KeySpec* spec,
                          LashModelFunction* function) {
    if (cJSON_IsNumber(node)) {
        function->given = true;
        function->value = node->valuedouble;
        return true;
    }
    if (cJSON_IsString(node)) {
        return model_read_function(reader->context, reader->path, node->valuestring,
                                   spec->variables, function);
    }
    return fail_type(reader, "a number or an expression in \"...\"", node);
}

// One function, or a list of three.
static bool read_functions(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    LashModelFunction* function = (LashModelFunction*)(void*)(target + spec->offset);
    int count = 1;
    if (!cJSON_IsArray(node)) {
        if (!read_function(reader, node, spec, function)) return false;
    } else {
        if (cJSON_GetArraySize(node) != 3) {
            return model_fail(reader->context, reader->path, "expected 3 components, found %d",
                              cJSON_GetArraySize(node));
        }
        size_t length = strlen(reader->path);
        const cJSON* item;
        count = 0;
        cJSON_ArrayForEach(item, node) {
            app_json_path_index(reader->path, sizeof reader->path, count);
            if (!read_function(reader, item, spec, &function[count++])) return false;
            reader->path[length] = '\0';
        }
    }
    memcpy(target + spec->count_offset, &count, sizeof count);
    return true;
}

// ---- objects and lists by table -----------------------------------------------------------------

static bool read_list(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    bool one = spec->type == KEY_LIST_OR_ONE && cJSON_IsObject(node);
    if (!cJSON_IsArray(node) && !one) {
        return fail_type(
            reader, spec->type == KEY_LIST ? "a list of objects" : "an object or a list of them",
            node);
    }
    int count = one ? 1 : cJSON_GetArraySize(node), i = 0;
    const KeyTable* table = spec->table;
    char* items = model_alloc(reader->context->model, (size_t)count * table->size);
    memcpy(target + spec->offset, &items, sizeof items);
    memcpy(target + spec->count_offset, &count, sizeof count);
    for (int k = 0; k < count && table->defaults != NULL; ++k) {
        table->defaults(items + (size_t)k * table->size);
    }
    if (one) return read_table(reader, node, table, items);
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, i);
        if (!read_table(reader, item, table, items + (size_t)i++ * table->size)) return false;
        reader->path[length] = '\0';
    }
    return true;
}

// The keys of an object are the names of its things.
static bool read_named(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    if (!cJSON_IsObject(node)) return fail_type(reader, "an object of objects", node);
    int count = cJSON_GetArraySize(node), i = 0;
    char* items = model_alloc(reader->context->model, (size_t)count * spec->table->size);
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        LashModelInput* input = (LashModelInput*)(void*)(items + (size_t)i * spec->table->size);
        app_json_path_key(reader->path, sizeof reader->path, item->string);
        input->name = model_strdup(reader->context->model, item->string);
        if (!read_table(reader, item, spec->table, (char*)input)) return false;
        reader->path[length] = '\0';
        ++i;
    }
    memcpy(target + spec->offset, &items, sizeof items);
    memcpy(target + spec->count_offset, &count, sizeof count);
    return true;
}

static bool read_face(Reader* reader, const cJSON* node, LashModelFace* face) {
    model_face_table.defaults(face);
    face->given = true;
    if (cJSON_IsString(node)) {
        face->name = model_strdup(reader->context->model, node->valuestring);
        return true;
    }
    if (cJSON_IsNumber(node)) {
        double x = node->valuedouble;
        if (x != floor(x) || x < 0 || x > 1e9) {
            return model_fail(reader->context, reader->path,
                              "expected the index of a face, a whole number from 0, found %g", x);
        }
        face->index = (int)x;
        return true;
    }
    if (!cJSON_IsObject(node)) {
        return fail_type(reader,
                         "a face: its index, its name, or an object like {\"type\": "
                         "\"cylinder\", \"radius\": 6}",
                         node);
    }
    return read_table(reader, node, &model_face_table, (char*)face);
}

static bool read_faces(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    bool list = cJSON_IsArray(node);
    int count = list ? cJSON_GetArraySize(node) : 1, i = 0;
    if (count == 0)
        return model_fail(reader->context, reader->path, "expected at least one face, found none");
    LashModelFace* faces = model_alloc(reader->context->model, (size_t)count * sizeof *faces);
    memcpy(target + spec->offset, &faces, sizeof faces);
    memcpy(target + spec->count_offset, &count, sizeof count);
    if (!list) return read_face(reader, node, faces);
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_index(reader->path, sizeof reader->path, i);
        if (!read_face(reader, item, &faces[i++])) return false;
        reader->path[length] = '\0';
    }
    return true;
}

static bool read_text(Reader* reader, const cJSON* node, bool or_null, char** text) {
    if (or_null && cJSON_IsNull(node)) return true;
    if (!cJSON_IsString(node))
        return fail_type(reader, or_null ? "a text or null" : "a text", node);
    *text = model_strdup(reader->context->model, node->valuestring);
    return true;
}

static bool read_option(Reader* reader, const cJSON* node, const KeySpec* spec, double* value) {
    if (spec->choices == NULL) return read_number(reader, node, spec->range, value);
    if (spec->choices == lash_truth_names) {
        if (!cJSON_IsBool(node)) return fail_type(reader, "true or false", node);
        *value = cJSON_IsTrue(node);
        return true;
    }
    int choice;
    if (!read_choice(reader, node, spec, &choice)) return false;
    *value = choice;
    return true;
}

static bool read_truth(Reader* reader, const cJSON* node, const KeySpec* spec, void* field) {
    if (!cJSON_IsBool(node)) return fail_type(reader, "true or false", node);
    if (spec->type == KEY_BOOL) {
        *(bool*)field = cJSON_IsTrue(node);
    } else {
        *(int*)field = cJSON_IsTrue(node) ? 1 : -1;
    }
    return true;
}

static bool read_key(Reader* reader, const cJSON* node, const KeySpec* spec, char* target) {
    void* field = target + spec->offset;
    switch (spec->type) {
        case KEY_TEXT:
        case KEY_TEXT_OR_NULL:
            return read_text(reader, node, spec->type == KEY_TEXT_OR_NULL, field);
        case KEY_TEXTS:
            return read_texts(reader, node, spec, target);
        case KEY_TEXT_LISTS:
            return read_text_lists(reader, node, spec, target);
        case KEY_NUMBERS:
            return read_list_of_numbers(reader, node, spec, target);
        case KEY_ROWS:
            return read_rows(reader, node, spec, target);
        case KEY_PLAY:
            if (cJSON_IsObject(node)) return read_fit(reader, node, field);
            // fall through
        case KEY_NUMBER:
            if (!read_number(reader, node, spec->range, field)) return false;
            *(double*)field *= unit_factor(reader, spec);
            return check_size(reader, spec->range, *(double*)field);
        case KEY_INTEGER:
            return read_integer(reader, node, spec, field);
        case KEY_LONG:
            return read_long(reader, node, spec, field);
        case KEY_BOOL:
        case KEY_YES_NO:
            return read_truth(reader, node, spec, field);
        case KEY_CHOICE:
            return read_choice(reader, node, spec, field);
        case KEY_OPTION:
            return read_option(reader, node, spec, field);
        case KEY_VECTOR:
            return read_vector(reader, node, spec, field);
        case KEY_VECTORS:
            return read_vectors(reader, node, spec, target);
        case KEY_QUATERNION:
            return read_quaternion(reader, node, spec, field);
        case KEY_INERTIA:
            return read_inertia(reader, node, spec, field);
        case KEY_COLOR:
            return read_color(reader, node, spec, field);
        case KEY_FUNCTION:
            return read_function(reader, node, spec, field);
        case KEY_FUNCTIONS:
            return read_functions(reader, node, spec, target);
        case KEY_OBJECT:
            return read_table(reader, node, spec->table, field);
        case KEY_NAMED:
            return read_named(reader, node, spec, target);
        case KEY_LIST:
        case KEY_LIST_OR_ONE:
            return read_list(reader, node, spec, target);
        case KEY_FACES:
            return read_faces(reader, node, spec, target);
        case KEY_PARAMETERS:
            return true; // read before everything else
    }
    return false;
}

int model_key_count(const KeyTable* table) {
    return table->keys + (table->more == NULL ? 0 : table->more());
}

KeySpec model_key(const KeyTable* table, int i) {
    return i < table->keys ? table->key[i] : table->key_of(i - table->keys);
}

static void list_keys(const KeyTable* table, char* list, size_t size) {
    list[0] = '\0';
    for (int i = 0; i < model_key_count(table); ++i) {
        size_t used = strlen(list);
        snprintf(list + used, size - used, "%s%s", i == 0 ? "" : ", ", model_key(table, i).key);
    }
}

static bool fail_unknown_key(Reader* reader, const char* key, const KeyTable* table) {
    char list[700], hint[128];
    AppSuggestion near = app_suggestion(key);
    list_keys(table, list, sizeof list);
    for (int i = 0; i < model_key_count(table); ++i)
        app_suggestion_offer(&near, model_key(table, i).key);
    return model_fail(reader->context, reader->path, "unknown key '%.40s'%s; %s may have %s", key,
                      app_suggestion_text(&near, hint, sizeof hint), table->what, list);
}

static bool fail_no_object(Reader* reader, const cJSON* node, const KeyTable* table) {
    char list[700];
    list_keys(table, list, sizeof list);
    return model_fail(reader->context, reader->path,
                      "expected an object, found %s; %s may have the keys %s", type_name(node),
                      table->what, list);
}

static bool read_table(Reader* reader, const cJSON* node, const KeyTable* table, char* target) {
    if (!cJSON_IsObject(node)) return fail_no_object(reader, node, table);
    *(bool*)target = true; // `given`
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        KeySpec spec = {.key = NULL};
        for (int i = 0; i < model_key_count(table) && spec.key == NULL; ++i) {
            KeySpec at = model_key(table, i);
            if (strcmp(item->string, at.key) == 0) spec = at;
        }
        app_json_path_key(reader->path, sizeof reader->path, item->string);
        if (spec.key == NULL) return fail_unknown_key(reader, item->string, table);
        if (!read_key(reader, item, &spec, target)) return false;
        reader->path[length] = '\0';
    }
    for (int i = 0; i < table->keys; ++i) {
        if (table->key[i].required &&
            cJSON_GetObjectItemCaseSensitive(node, table->key[i].key) == NULL) {
            return model_fail(reader->context, reader->path, "the key '%s' is missing: %s",
                              table->key[i].key, table->key[i].help);
        }
    }
    return true;
}

// ---- the file -----------------------------------------------------------------------------------

// An input is a parameter, too: --set and studies give it another value.
static bool read_raw_inputs(Reader* reader, const cJSON* node, const RawParameter* first,
                            RawParameter* raw) {
    LashModel* model = reader->context->model;
    const cJSON* item;
    int i = 0;
    cJSON_ArrayForEach(item, node) {
        const cJSON* value = cJSON_GetObjectItemCaseSensitive(item, "value");
        snprintf(reader->path, sizeof reader->path, "inputs");
        app_json_path_key(reader->path, sizeof reader->path, item->string);
        raw[i].name = model_strdup(model, item->string);
        raw[i].source = model_strdup(model, reader->path);
        for (const RawParameter* other = first; other < raw; ++other) {
            if (strcmp(other->name, item->string) == 0)
                return model_fail(reader->context, reader->path,
                                  "the name '%.60s' is taken by a parameter", item->string);
        }
        if (cJSON_IsNumber(value)) raw[i].value = value->valuedouble;
        if (cJSON_IsString(value)) raw[i].text = model_strdup(model, value->valuestring);
        ++i; // what else is wrong is told when all its keys are read
    }
    reader->path[0] = '\0';
    return true;
}

static bool read_parameters(Reader* reader, const cJSON* root) {
    const cJSON* node = cJSON_GetObjectItemCaseSensitive(root, "parameters");
    const cJSON* inputs = cJSON_GetObjectItemCaseSensitive(root, "inputs");
    LashModel* model = reader->context->model;
    snprintf(reader->path, sizeof reader->path, "parameters");
    if (node != NULL && !cJSON_IsObject(node))
        return fail_type(reader, "an object of numbers and expressions", node);
    snprintf(reader->path, sizeof reader->path, "inputs");
    if (inputs != NULL && !cJSON_IsObject(inputs))
        return fail_type(reader, "an object of objects", inputs);
    snprintf(reader->path, sizeof reader->path, "parameters");
    int own = cJSON_GetArraySize(node), count = own + cJSON_GetArraySize(inputs), i = 0;
    RawParameter* raw = model_alloc(model, (size_t)count * sizeof *raw);
    size_t length = strlen(reader->path);
    const cJSON* item;
    cJSON_ArrayForEach(item, node) {
        app_json_path_key(reader->path, sizeof reader->path, item->string);
        raw[i].name = model_strdup(model, item->string);
        raw[i].source = model_strdup(model, reader->path);
        if (cJSON_IsNumber(item)) {
            raw[i].value = item->valuedouble;
        } else if (cJSON_IsString(item)) {
            raw[i].text = model_strdup(model, item->valuestring);
        } else if (cJSON_IsObject(item)) {
            if (!read_fit(reader, item, &raw[i].value)) return false;
            raw[i].value /= model_unit_factor(&model->units, UNIT_LENGTH);
            const cJSON* fit = cJSON_GetObjectItemCaseSensitive(item, "fit");
            raw[i].fit = model_strdup(model, fit->valuestring);
        } else {
            return fail_type(reader,
                             "a number, an expression in \"...\" or {\"fit\": \"10 H7/g6\"}", item);
        }
        reader->path[length] = '\0';
        ++i;
    }
    reader->path[0] = '\0';
    return read_raw_inputs(reader, inputs, raw, raw + own) &&
           model_resolve_parameters(reader->context, raw, count, reader->sets, reader->set_count);
}

static bool check_format(Reader* reader, const cJSON* root, const char* name) {
    char expected[64];
    snprintf(expected, sizeof expected, "an object with \"format\": \"%s\"", name);
    if (!cJSON_IsObject(root)) return fail_type(reader, expected, root);
    const cJSON* format = cJSON_GetObjectItemCaseSensitive(root, "format");
    if (format == NULL) {
        return model_fail(reader->context, "", "the key 'format' is missing: expected \"%s\"",
                          name);
    }
    if (cJSON_IsString(format) && strcmp(format->valuestring, name) == 0) return true;
    return model_fail(reader->context, "format", "expected \"%s\", found %s%.40s%s", name,
                      cJSON_IsString(format) ? "\"" : "",
                      cJSON_IsString(format) ? format->valuestring : type_name(format),
                      cJSON_IsString(format) ? "\"" : "");
}

// Format, units and parameters come first: everything else is read with them.
static bool read_base(Reader* reader, const cJSON* root) {
    if (!check_format(reader, root, "lash-model/1")) return false;
    const cJSON* units = cJSON_GetObjectItemCaseSensitive(root, "units");
    if (units != NULL) {
        snprintf(reader->path, sizeof reader->path, "units");
        if (!read_table(reader, units, &model_units_table, (char*)&reader->context->model->units))
            return false;
        reader->path[0] = '\0';
    }
    return read_parameters(reader, root);
}

// Tables come before all expressions that may call them.
static bool read_tables(Reader* reader, const cJSON* root) {
    LashModel* model = reader->context->model;
    const cJSON* node = cJSON_GetObjectItemCaseSensitive(root, "tables");
    KeySpec spec = {.type = KEY_LIST,
                    .table = &model_table_table,
                    .offset = offsetof(LashModel, table),
                    .count_offset = offsetof(LashModel, tables)};
    if (node == NULL) return true;
    snprintf(reader->path, sizeof reader->path, "tables");
    return read_list(reader, node, &spec, (char*)model) && model_make_tables(reader->context);
}

// As early as tables: functions read their names.
static bool read_inputs(Reader* reader, const cJSON* root) {
    const cJSON* node = cJSON_GetObjectItemCaseSensitive(root, "inputs");
    KeySpec spec = {.type = KEY_NAMED,
                    .table = &model_input_table,
                    .offset = offsetof(LashModel, input),
                    .count_offset = offsetof(LashModel, inputs)};
    if (node == NULL) return true;
    snprintf(reader->path, sizeof reader->path, "inputs");
    return read_named(reader, node, &spec, (char*)reader->context->model);
}

static bool read_root(Reader* reader, const cJSON* root) {
    LashModel* model = reader->context->model;
    if (!read_base(reader, root) || !read_inputs(reader, root) || !read_tables(reader, root))
        return false;
    LashModelTable* tables = model->table;
    reader->path[0] = '\0';
    bool good = read_table(reader, root, &model_root_table, (char*)model);
    model->table = tables; // made already; the root's list has read their keys once more
    return good;
}

// The checked text as a tree; NULL with error.
static cJSON* parse_text(const ModelContext* context) {
    if (!app_json_check(context->text, context->bytes, context->error)) return NULL;
    cJSON* root = cJSON_ParseWithLength(context->text, context->bytes);
    if (root == NULL)
        lash_error_set(context->error, LASH_ERROR_MODEL, "", "this is no JSON document");
    return root;
}

static bool read_model(Reader* reader) {
    ModelContext* context = reader->context;
    LashModel* model = context->model;
    if (model->donor == NULL) model->document = parse_text(context);
    const LashModel* owner = model;
    while (owner->donor != NULL) owner = owner->donor;
    const cJSON* root = owner->document;
    return root != NULL && read_root(reader, root) && model_resolve_parts(context) &&
           model_resolve_joints(context) && model_resolve_forces(context) &&
           model_resolve_contacts(context) && model_resolve_simulation(context) &&
           model_resolve_outputs(context);
}

bool model_read_base(ModelContext* context) {
    Reader reader = {.context = context};
    cJSON* root = parse_text(context);
    bool good = root != NULL && read_base(&reader, root);
    cJSON_Delete(root);
    return good;
}

bool model_read_outline(ModelContext* context, const char* const* sets, int set_count) {
    Reader reader = {.context = context, .sets = sets, .set_count = set_count};
    cJSON* root = parse_text(context);
    bool good = root != NULL && read_root(&reader, root);
    cJSON_Delete(root);
    return good;
}

bool model_read_document(ModelContext* context, const KeyTable* table, void* target) {
    Reader reader = {.context = context};
    cJSON* root = parse_text(context);
    if (root == NULL) return false;
    bool good = check_format(&reader, root, table->key[0].choices[0]);
    if (good && table->defaults != NULL) table->defaults(target);
    good = good && read_table(&reader, root, table, target);
    cJSON_Delete(root);
    return good;
}

// Takes the model over: returns it, or NULL with error.
static LashModel* finish_model(LashModel* model, const char* const* sets, int set_count,
                               LashError* error) {
    LashError local = {0};
    if (error == NULL) error = &local;
    model_root_table.defaults(model);
    ModelContext context = {.model = model,
                            .text = model->text,
                            .bytes = model->text_bytes,
                            .error = error,
                            .reader = lash_reader_create()};
    Reader reader = {.context = &context, .sets = sets, .set_count = set_count};
    bool good = read_model(&reader);
    lash_reader_destroy(context.reader);
    if (good) return model;
    if (error->status != LASH_ERROR_USAGE) lash_error_file(error, model->file);
    lash_model_destroy(model);
    return NULL;
}

LashModel* lash_model_parse(const char* file, const char* text, size_t bytes,
                            const char* const* sets, int set_count, LashError* error) {
    return lash_model_parse_carried(file, text, bytes, sets, set_count, NULL, 0, error);
}

LashModel* lash_model_parse_carried(const char* file, const char* text, size_t bytes,
                                    const char* const* sets, int set_count,
                                    const LashModelFile* carried, int carried_files,
                                    LashError* error) {
    if (file == NULL || (text == NULL && bytes > 0) || (sets == NULL && set_count > 0)) {
        lash_error_null(error, "the name and the text of a model");
        return NULL;
    }
    LashModel* model = lash_alloc(sizeof *model);
    char* copy = model_alloc(model, bytes + 1);
    model->file = model_strdup(model, file);
    if (bytes > 0) memcpy(copy, text, bytes);
    model->text = copy;
    model->text_bytes = bytes;
    model->carried = carried;
    model->carried_files = carried_files;
    model = finish_model(model, sets, set_count, error);
    if (model != NULL) model->carried_files = 0; // they may go now
    return model;
}

LashModel* lash_model_vary(const LashModel* donor, const char* const* sets, int set_count,
                           LashError* error) {
    if (donor == NULL || (sets == NULL && set_count > 0)) {
        lash_error_null(error, "a model to vary");
        return NULL;
    }
    LashModel* model = lash_alloc(sizeof *model);
    model->donor = donor;
    model->file = donor->file;
    model->text = donor->text;
    model->text_bytes = donor->text_bytes;
    return finish_model(model, sets, set_count, error);
}

LashModel* lash_model_load(const char* file, const char* const* sets, int set_count,
                           LashError* error) {
    size_t bytes = 0;
    char* text = app_read_file(file, APP_JSON_MAX_BYTES, &bytes, error);
    if (text == NULL) return NULL;
    LashModel* model = lash_model_parse(file, text, bytes, sets, set_count, error);
    lash_free(text);
    return model;
}

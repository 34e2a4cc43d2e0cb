// lash schema: the JSON Schema of models and studies, written from the key tables that the loader
// reads with.
#include <stdio.h>
#include <string.h>

#include "app/cli/report.h"
#include "app/commands.h"
#include "app/model/model_internal.h"
#include "app/study/study_internal.h"

typedef struct SchemaOptions {
    AppOperands operands;
    bool json;
} SchemaOptions;

static const AppOption options[] = {
    {"json", 0, APP_FLAG, NULL, "wrap the schema in the usual result document",
     offsetof(SchemaOptions, json)},
};
const AppCommand app_schema_command = {
    .name = "schema",
    .operands = "[model or study]",
    .summary = "print the JSON Schema of model or study files",
    .detail =
        "Editors complete and check models and studies with it: \"$schema\" "
        "settings of your editor, or a JSON\n"
        "Schema validator.",
    .maximum = 1,
    .option = options,
    .options = 1,
    .json_offset = offsetof(SchemaOptions, json),
    .operand_offset = offsetof(SchemaOptions, operands)};

static void put_table(AppJson* json, const KeyTable* table);

// A number in the file may also be an expression.
static void put_number(AppJson* json, KeyRange range) {
    app_json_begin_object(json);
    app_json_key(json, "anyOf");
    app_json_begin_array(json);
    app_json_begin_object(json);
    app_json_put_text(json, "type", "number");
    if (range == RANGE_POSITIVE) app_json_put_number(json, "exclusiveMinimum", 0);
    if (range == RANGE_NOT_NEGATIVE || range == RANGE_FRACTION)
        app_json_put_number(json, "minimum", 0);
    if (range == RANGE_FRACTION) app_json_put_number(json, "maximum", 1);
    app_json_end_object(json);
    app_json_begin_object(json);
    app_json_put_text(json, "type", "string");
    app_json_end_object(json);
    app_json_end_array(json);
    app_json_end_object(json);
}

static void put_numbers(AppJson* json, KeyRange range, int least, int most) {
    app_json_put_text(json, "type", "array");
    app_json_put_integer(json, "minItems", least);
    app_json_put_integer(json, "maxItems", most);
    app_json_key(json, "items");
    put_number(json, range);
}

static void begin_choice(AppJson* json) {
    app_json_key(json, "anyOf");
    app_json_begin_array(json);
}

// A text, a list of texts.
static void put_texts(AppJson* json) {
    app_json_begin_object(json);
    app_json_put_text(json, "type", "string");
    app_json_end_object(json);
    app_json_begin_object(json);
    app_json_put_text(json, "type", "array");
    app_json_put_integer(json, "minItems", 1);
    app_json_key(json, "items");
    app_json_begin_object(json);
    app_json_put_text(json, "type", "string");
    app_json_end_object(json);
    app_json_end_object(json);
}

// Two of them.
static void put_text_lists(AppJson* json) {
    app_json_put_text(json, "type", "array");
    app_json_put_integer(json, "minItems", 2);
    app_json_put_integer(json, "maxItems", 2);
    app_json_key(json, "items");
    app_json_begin_object(json);
    begin_choice(json);
    put_texts(json);
    app_json_end_array(json);
    app_json_end_object(json);
}

// {"fit": "10 H7/g6"}
static void put_fit(AppJson* json) {
    app_json_begin_object(json);
    app_json_put_text(json, "type", "object");
    app_json_put_bool(json, "additionalProperties", false);
    app_json_key(json, "required");
    app_json_begin_array(json);
    app_json_text(json, "fit");
    app_json_end_array(json);
    app_json_key(json, "properties");
    app_json_begin_object(json);
    app_json_key(json, "fit");
    app_json_begin_object(json);
    app_json_put_text(json, "type", "string");
    app_json_end_object(json);
    app_json_end_object(json);
    app_json_end_object(json);
}

static void put_number_choices(AppJson* json, KeyRange range) {
    begin_choice(json);
    put_number(json, range);
    app_json_end_array(json);
}

// Vectors with an alternative form.
static void put_alternatives(AppJson* json, const KeySpec* spec) {
    begin_choice(json);
    if (spec->type == KEY_COLOR) {
        app_json_begin_object(json);
        app_json_put_text(json, "type", "string");
        app_json_put_text(json, "pattern", "^#[0-9A-Fa-f]{6}$");
        app_json_end_object(json);
    }
    if (spec->type == KEY_FUNCTIONS) put_number(json, RANGE_ANY);
    app_json_begin_object(json);
    put_numbers(json, spec->range, 3, spec->type == KEY_COLOR ? 4 : 3);
    app_json_end_object(json);
    if (spec->type == KEY_INERTIA) {
        app_json_begin_object(json);
        app_json_put_text(json, "type", "array");
        app_json_put_integer(json, "minItems", 3);
        app_json_put_integer(json, "maxItems", 3);
        app_json_key(json, "items");
        app_json_begin_object(json);
        put_numbers(json, RANGE_ANY, 3, 3);
        app_json_end_object(json);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void put_list(AppJson* json, const KeySpec* spec) {
    if (spec->type == KEY_NAMED) {
        app_json_put_text(json, "type", "object");
        app_json_key(json, "additionalProperties");
        app_json_begin_object(json);
        put_table(json, spec->table);
        app_json_end_object(json);
        return;
    }
    if (spec->type == KEY_LIST_OR_ONE) {
        begin_choice(json);
        app_json_begin_object(json);
        put_table(json, spec->table);
        app_json_end_object(json);
        app_json_begin_object(json);
    }
    app_json_put_text(json, "type", "array");
    app_json_key(json, "items");
    app_json_begin_object(json);
    put_table(json, spec->table);
    app_json_end_object(json);
    if (spec->type == KEY_LIST_OR_ONE) {
        app_json_end_object(json);
        app_json_end_array(json);
    }
}

static void put_choices(AppJson* json, const char* const* choices) {
    app_json_key(json, "enum");
    app_json_begin_array(json);
    for (int i = 0; choices[i] != NULL; ++i) app_json_text(json, choices[i]);
    app_json_end_array(json);
}

static void put_face_choices(AppJson* json) {
    static const char* const types[] = {"integer", "string"};
    for (int i = 0; i < 2; ++i) {
        app_json_begin_object(json);
        app_json_put_text(json, "type", types[i]);
        if (i == 0) app_json_put_number(json, "minimum", 0);
        app_json_end_object(json);
    }
    app_json_begin_object(json);
    put_table(json, &model_face_table);
    app_json_end_object(json);
}

// A face, or a list of them.
static void put_faces(AppJson* json) {
    begin_choice(json);
    put_face_choices(json);
    app_json_begin_object(json);
    app_json_put_text(json, "type", "array");
    app_json_put_integer(json, "minItems", 1);
    app_json_key(json, "items");
    app_json_begin_object(json);
    begin_choice(json);
    put_face_choices(json);
    app_json_end_array(json);
    app_json_end_object(json);
    app_json_end_object(json);
    app_json_end_array(json);
}

static void put_text(AppJson* json, const KeySpec* spec) {
    if (spec->type == KEY_TEXT_OR_NULL) {
        app_json_key(json, "type");
        app_json_begin_array(json);
        app_json_text(json, "string");
        app_json_text(json, "null");
        app_json_end_array(json);
    } else if (strcmp(spec->key, "format") == 0) {
        app_json_put_text(json, "const", spec->choices != NULL ? spec->choices[0] : "lash-model/1");
    } else {
        app_json_put_text(json, "type", "string");
    }
}

// A list of numbers, of vectors, or of numbers or lists of them.
static void put_many(AppJson* json, const KeySpec* spec) {
    app_json_put_text(json, "type", "array");
    app_json_put_integer(json, "minItems", 1);
    app_json_key(json, "items");
    if (spec->type == KEY_NUMBERS) {
        put_number(json, spec->range);
        return;
    }
    if (spec->type == KEY_ROWS) {
        app_json_begin_object(json);
        begin_choice(json);
        put_number(json, spec->range);
        app_json_begin_object(json);
        app_json_put_text(json, "type", "array");
        app_json_key(json, "items");
        put_number(json, spec->range);
        app_json_end_object(json);
        app_json_end_array(json);
        app_json_end_object(json);
        return;
    }
    app_json_begin_object(json);
    put_numbers(json, spec->range, 3, 3);
    app_json_end_object(json);
}

static void put_parameters(AppJson* json) {
    app_json_put_text(json, "type", "object");
    app_json_key(json, "additionalProperties");
    app_json_begin_object(json);
    begin_choice(json);
    put_number(json, RANGE_ANY);
    put_fit(json);
    app_json_end_array(json);
    app_json_end_object(json);
}

// A number, one of some names, or true or false.
static void put_option(AppJson* json, const KeySpec* spec) {
    if (spec->type == KEY_BOOL || spec->type == KEY_YES_NO || spec->choices == lash_truth_names)
        app_json_put_text(json, "type", "boolean");
    else if (spec->choices == NULL)
        put_number_choices(json, spec->range);
    else
        put_choices(json, spec->choices);
}

static void put_text_or_list(AppJson* json) {
    begin_choice(json);
    put_texts(json);
    app_json_end_array(json);
}

static void put_play(AppJson* json, const KeySpec* spec) {
    begin_choice(json);
    put_number(json, spec->range);
    put_fit(json);
    app_json_end_array(json);
}

static void put_key(AppJson* json, const KeySpec* spec) {
    int components = spec->type == KEY_VECTOR ? 3 : 4; // of a vector, a quaternion
    app_json_begin_object(json);
    app_json_put_text(json, "description", spec->help);
    switch (spec->type) {
        case KEY_TEXT:
        case KEY_TEXT_OR_NULL:
            put_text(json, spec);
            break;
        case KEY_TEXTS:
            put_text_or_list(json);
            break;
        case KEY_TEXT_LISTS:
            put_text_lists(json);
            break;
        case KEY_VECTORS:
        case KEY_NUMBERS:
        case KEY_ROWS:
            put_many(json, spec);
            break;
        case KEY_NUMBER:
        case KEY_INTEGER:
        case KEY_LONG:
        case KEY_FUNCTION:
            put_number_choices(json, spec->range);
            break;
        case KEY_PLAY:
            put_play(json, spec);
            break;
        case KEY_BOOL:
        case KEY_YES_NO:
        case KEY_CHOICE:
        case KEY_OPTION:
            put_option(json, spec);
            break;
        case KEY_VECTOR:
        case KEY_QUATERNION:
            put_numbers(json, spec->range, components, components);
            break;
        case KEY_INERTIA:
        case KEY_COLOR:
        case KEY_FUNCTIONS:
            put_alternatives(json, spec);
            break;
        case KEY_OBJECT:
            put_table(json, spec->table);
            break;
        case KEY_LIST:
        case KEY_LIST_OR_ONE:
        case KEY_NAMED:
            put_list(json, spec);
            break;
        case KEY_FACES:
            put_faces(json);
            break;
        case KEY_PARAMETERS:
            put_parameters(json);
            break;
    }
    app_json_end_object(json);
}

static void put_table(AppJson* json, const KeyTable* table) {
    app_json_put_text(json, "type", "object");
    app_json_put_bool(json, "additionalProperties", false);
    app_json_key(json, "required");
    app_json_begin_array(json);
    for (int i = 0; i < table->keys; ++i) {
        if (table->key[i].required) app_json_text(json, table->key[i].key);
    }
    app_json_end_array(json);
    app_json_key(json, "properties");
    app_json_begin_object(json);
    for (int i = 0; i < model_key_count(table); ++i) {
        KeySpec spec = model_key(table, i);
        app_json_key(json, spec.key);
        put_key(json, &spec);
    }
    app_json_end_object(json);
}

static void put_schema(AppJson* json, bool study) {
    app_json_begin_object(json);
    app_json_put_text(json, "$schema", "http://json-schema.org/draft-07/schema#");
    app_json_put_text(json, "title", study ? "lash-study/1" : "lash-model/1");
    put_table(json, study ? &study_root_table : &model_root_table);
    app_json_end_object(json);
}

int app_schema(int argc, char** argv) {
    SchemaOptions o = {.json = false};
    int code = app_options_parse(&app_schema_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("schema", o.json);
    LashError error = {0};
    bool study = o.operands.count > 0 && strcmp(o.operands.item[0], "study") == 0;
    if (o.operands.count > 0 && !study && strcmp(o.operands.item[0], "model") != 0) {
        lash_error_set(&error, LASH_ERROR_USAGE, "",
                       "there is no schema '%s'; expected 'model' or 'study'", o.operands.item[0]);
        return app_report_finish(&report, &error);
    }
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        app_json_key(json, "schema");
        put_schema(json, study);
    } else {
        AppJson schema = {0};
        put_schema(&schema, study);
        puts(schema.text);
        app_json_free(&schema);
    }
    return app_report_finish(&report, &error);
}

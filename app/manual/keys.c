// Writes the key lists of lash-model(5), with the argument "study" of lash-study(5), from the tables
// that the loaders read with. Runs at build time, is not installed.
#include <stdio.h>
#include <string.h>

#include "app/model/model_internal.h"
#include "app/study/study_internal.h"

enum { MAX_TABLES = 64 };

// roff: a backslash is an escape, a leading dot or quote a request, a minus a hyphen.
static void put(const char* text) {
    for (const char* c = text; *c != '\0'; ++c) {
        if (*c == '\\') {
            fputs("\\e", stdout);
        } else if (*c == '-') {
            fputs("\\-", stdout);
        } else if (c == text && (*c == '.' || *c == '\'')) {
            printf("\\&%c", *c);
        } else {
            putchar(*c);
        }
    }
}

static const char* type_name(const KeySpec* key) {
    switch ((int)key->type) {
        case KEY_TEXT:
            return "text";
        case KEY_TEXT_OR_NULL:
            return "text or null";
        case KEY_TEXTS:
            return "text or list of texts";
        case KEY_TEXT_LISTS:
            return "list of two lists of texts";
        case KEY_NUMBERS:
            return "list of numbers";
        case KEY_NAMED:
            return "object of objects";
        case KEY_ROWS:
            return "list of numbers, or of lists of them";
        case KEY_NUMBER:
            return "number";
        case KEY_OPTION:
            if (key->choices == NULL) return "number";
            return key->choices == lash_truth_names ? "true or false" : "";
        case KEY_PLAY:
            return "number or fit";
        case KEY_INTEGER:
        case KEY_LONG:
            return "whole number";
        case KEY_BOOL:
        case KEY_YES_NO:
            return "true or false";
        case KEY_VECTOR:
            return "3 numbers";
        case KEY_VECTORS:
            return "list of lists of 3 numbers";
        case KEY_QUATERNION:
            return "4 numbers";
        case KEY_FUNCTION:
            return "number or function";
        case KEY_FUNCTIONS:
            return "1 or 3 numbers or functions";
        case KEY_OBJECT:
            return "object";
        case KEY_LIST:
            return "list of objects";
        case KEY_LIST_OR_ONE:
            return "object or list of objects";
        case KEY_FACES:
            return "index, name or query of a face, or a list of them";
        default:
            return "";
    }
}

static void put_key(const KeySpec* key) {
    static const char* const ranges[] = {"", ", > 0", ", >= 0", ", from 0 to 1"};
    const char* type = type_name(key);
    printf(".TP\n.B %s\n", key->key);
    if (type[0] != '\0' || key->range != RANGE_ANY || key->required) {
        const char* required = type[0] == '\0' ? "required" : ", required";
        printf("(%s%s%s) ", type, ranges[key->range], key->required ? required : "");
    }
    if (key->help != NULL) put(key->help);
    if (key->choices != NULL && key->choices[0] != NULL && key->choices != lash_truth_names) {
        printf(": ");
        for (int i = 0; key->choices[i] != NULL; ++i) {
            if (i > 0) printf(", ");
            printf("\\fB");
            put(key->choices[i]);
            printf("\\fR");
        }
    }
    printf("\n");
}

int main(int argc, char** argv) {
    bool study = argc > 1 && strcmp(argv[1], "study") == 0;
    const KeyTable* table[MAX_TABLES] = {study ? &study_root_table : &model_root_table};
    int tables = 1;
    for (int i = 0; i < tables; ++i) {
        printf(".SS \"%s\"\n", i == 0 ? "The whole file" : table[i]->what);
        for (int k = 0; k < model_key_count(table[i]); ++k) {
            KeySpec key = model_key(table[i], k);
            put_key(&key);
            bool known = key.table == NULL || tables == MAX_TABLES;
            for (int j = 0; j < tables; ++j) known |= table[j] == key.table;
            if (!known) table[tables++] = key.table;
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

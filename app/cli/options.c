// Option parsing: --name value, --name=value, -n value, -nvalue, "--" ends the options.
#include "app/cli/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/report.h"
#include "app/cli/suggest.h"

typedef struct Parser {
    const AppCommand* command;
    char* target;
    int argc, next;
    char** argv;
    LashError error;
} Parser;

static bool is_help(const char* word) {
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

static const AppOption* find_option(const AppCommand* command, const char* name, size_t length) {
    for (int i = 0; i < command->options; ++i) {
        const AppOption* option = &command->option[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static const AppOption* find_letter(const AppCommand* command, char letter) {
    for (int i = 0; i < command->options; ++i) {
        if (command->option[i].letter == letter) return &command->option[i];
    }
    return NULL;
}

// What may be wrong with a number: a decimal comma, a unit behind it.
static const char* number_advice(const char* value) {
    char* end = NULL;
    strtod(value, &end);
    if (end != value && *end == ',') return "; decimals have a point, not a comma";
    if (end != value && *end != '\0') return "; numbers carry no units, times are in seconds";
    return "; write digits, such as 0.001";
}

static bool store_number(Parser* parser, const AppOption* option, const char* value) {
    char* end = NULL;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(number)) {
        return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                              "--%s needs a number, found '%s'%s", option->name, value,
                              number_advice(value));
    }
    memcpy(parser->target + option->offset, &number, sizeof number);
    return true;
}

static bool store_integer(Parser* parser, const AppOption* option, const char* value) {
    char* end = NULL;
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0' || number > 1000000000 || number < -1000000000) {
        return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                              "--%s needs a whole number up to 1e9, found '%s'; write digits only",
                              option->name, value);
    }
    int stored = (int)number;
    memcpy(parser->target + option->offset, &stored, sizeof stored);
    return true;
}

static bool store_cad_time(Parser* parser, const AppOption* option, const char* value) {
    char* end = NULL;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !(seconds > 0 && seconds <= 1e9))
        return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                              "--%s: expected positive seconds, found '%s'", option->name, value);
    return setenv("LASH_CAD_SECONDS", value, 1) == 0;
}

static bool store(Parser* parser, const AppOption* option, const char* value) {
    char* field = parser->target + option->offset;
    switch (option->kind) {
        case APP_FLAG:
            return false; // has no value, see take_value
        case APP_TEXT:
        case APP_FILE:
            if (value[0] == '\0') {
                return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                                      "--%s needs a %s, found an empty text", option->name,
                                      option->value);
            }
            memcpy(field, &value, sizeof value);
            return true;
        case APP_NUMBER:
            return store_number(parser, option, value);
        case APP_INTEGER:
            return store_integer(parser, option, value);
        case APP_CAD_TIME:
            return store_cad_time(parser, option, value);
        case APP_LIST: {
            AppList* list = (AppList*)(void*)field;
            if (list->count == APP_MAX_LIST) {
                return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                                      "--%s may be given at most %d times", option->name,
                                      APP_MAX_LIST);
            }
            list->item[list->count++] = value;
            return true;
        }
    }
    return false;
}

// The value behind an option: attached, or the next word.
static bool take_value(Parser* parser, const AppOption* option, const char* attached) {
    if (option->kind == APP_FLAG) {
        if (attached != NULL) {
            return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                                  "--%s takes no value, found '%.40s'; write --%s alone",
                                  option->name, attached, option->name);
        }
        *(bool*)(parser->target + option->offset) = true;
        return true;
    }
    if (attached == NULL) {
        if (parser->next >= parser->argc) {
            return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                                  "--%s needs a value: %s, found the end of the line", option->name,
                                  option->value);
        }
        attached = parser->argv[parser->next++];
    }
    return store(parser, option, attached);
}

static bool unknown_option(Parser* parser, const char* word, size_t length) {
    char name[64], hint[128];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    AppSuggestion near = app_suggestion(name);
    for (int i = 0; i < parser->command->options; ++i) {
        app_suggestion_offer(&near, parser->command->option[i].name);
    }
    return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                          "unknown option '--%s'%s; 'lash %s -h' lists the options", name,
                          app_suggestion_text(&near, hint, sizeof hint), parser->command->name);
}

static bool parse_word(Parser* parser, const char* word, bool operands_only) {
    AppOperands* operands = (AppOperands*)(void*)(parser->target + parser->command->operand_offset);
    if (operands_only || word[0] != '-' || word[1] == '\0') {
        if (operands->count >= parser->command->maximum) {
            return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                                  "unexpected '%s'; usage: lash %s [options] %s", word,
                                  parser->command->name, parser->command->operands);
        }
        operands->item[operands->count++] = word;
        return true;
    }
    if (word[1] == '-') {
        const char* equal = strchr(word, '=');
        size_t length = equal == NULL ? strlen(word + 2) : (size_t)(equal - word - 2);
        const AppOption* option = find_option(parser->command, word + 2, length);
        if (option == NULL) return unknown_option(parser, word + 2, length);
        return take_value(parser, option, equal == NULL ? NULL : equal + 1);
    }
    const AppOption* option = find_letter(parser->command, word[1]);
    if (option == NULL) {
        return lash_error_set(&parser->error, LASH_ERROR_USAGE, "",
                              "unknown option '-%c'; 'lash %s -h' lists the options", word[1],
                              parser->command->name);
    }
    return take_value(parser, option, word[2] == '\0' ? NULL : word + 2);
}

static bool wants_json(const AppCommand* command, int argc, char** argv) {
    if (find_option(command, "json", 4) == NULL) return false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strcmp(argv[i], "--json") == 0) return true;
    }
    return false;
}

int app_options_parse(const AppCommand* command, int argc, char** argv, void* target) {
    Parser parser = {.command = command, .target = target, .argc = argc, .next = 1, .argv = argv};
    bool operands_only = false, good = true;
    while (good && parser.next < argc) {
        const char* word = argv[parser.next++];
        if (!operands_only && is_help(word)) {
            app_options_help(command);
            return fflush(stdout) == 0 ? 0 : LASH_ERROR_IO;
        }
        if (!operands_only && strcmp(word, "--") == 0) {
            operands_only = true;
            continue;
        }
        good = parse_word(&parser, word, operands_only);
    }
    AppOperands* operands = (AppOperands*)(void*)(parser.target + command->operand_offset);
    if (good && operands->count < command->minimum) {
        good = lash_error_set(&parser.error, LASH_ERROR_USAGE, "",
                              "%s is missing; usage: lash %s [options] %s", command->operands,
                              command->name, command->operands);
    }
    int inputs = command->inputs > 0 ? command->inputs : operands->count;
    for (int i = 0; i < operands->count && i < inputs && good && command->files != 0; ++i)
        good = app_file_expect(operands->item[i], command->files, &parser.error);
    if (good) return -1;
    AppReport report = app_report(command->name, wants_json(command, argc, argv));
    return app_report_finish(&report, &parser.error);
}

void app_options_help(const AppCommand* command) {
    printf("lash %s: %s\n\nusage: lash %s [options]%s%s\n", command->name, command->summary,
           command->name, command->operands[0] == '\0' ? "" : " ", command->operands);
    if (command->detail != NULL) printf("\n%s\n", command->detail);
    printf("\noptions:\n");
    for (int i = 0; i < command->options; ++i) {
        const AppOption* option = &command->option[i];
        char left[64], letter[8] = "    ";
        if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name,
                 option->value == NULL ? "" : " ", option->value == NULL ? "" : option->value);
        printf("  %-26s %s", left, option->help);
        for (int k = 0; option->choices != NULL && option->choices[k] != NULL; ++k) {
            printf("%s%s", k == 0 ? ": " : ", ", option->choices[k]);
        }
        printf("%s\n", option->kind == APP_LIST ? " (may be repeated)" : "");
    }
    printf("  %-26s %s\n", "-h, --help", "this help");
}

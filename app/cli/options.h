// One table of options per command: parsed, shown by -h, and the source of man pages and
// completion.
#ifndef LASH_APP_OPTIONS_H
#define LASH_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AppOptionKind {
    APP_FLAG,    // bool
    APP_TEXT,    // const char*
    APP_FILE,    // const char*, a file name (for completion)
    APP_NUMBER,  // double, finite
    APP_INTEGER, // int
    APP_LIST,    // AppList: may be repeated
    APP_CAD_TIME // no field: $LASH_CAD_SECONDS of this process and its children
} AppOptionKind;

enum { APP_MAX_LIST = 256, APP_MAX_OPERANDS = 512 };

typedef struct AppList {
    const char* item[APP_MAX_LIST];
    int count;
} AppList;

typedef struct AppOption {
    const char* name; // without the two dashes
    char letter;      // 0: none
    AppOptionKind kind;
    const char* value; // what the help calls it: "FILE"; NULL for flags
    const char* help;
    size_t offset;              // of the field in the command's option struct
    const char* const* choices; // values it may have, ends in NULL; shown behind the help
} AppOption;

// For every command that may read STEP files.
#define APP_OPTION_CAD_SECONDS                                                                    \
    {                                                                                             \
        "cad-seconds", 0, APP_CAD_TIME, "N",                                                      \
            "processor time for reading a STEP file (default 120, or $LASH_CAD_SECONDS)", 0, NULL \
    }

typedef struct AppOperands {
    const char* item[APP_MAX_OPERANDS];
    int count;
} AppOperands;

typedef struct AppCommand {
    const char* name;     // "run"
    const char* operands; // "MODEL"
    const char* summary;  // one line
    const char* detail;   // paragraphs, may be NULL
    int minimum, maximum; // number of operands
    const AppOption* option;
    int options;
    size_t json_offset;    // of the bool field of --json in the option struct
    size_t operand_offset; // of the AppOperands in the option struct
    unsigned files;        // AppFileKind that its operands may be; 0: they are not files
    int inputs;            // so many operands are files that are read; 0: all
} AppCommand;

// Fills target (the command's option struct, defaults already set). Returns -1 to go on, or the
// exit code to return: 0 after -h, 2 after a usage error, which has been reported.
int app_options_parse(const AppCommand* command, int argc, char** argv, void* target);

void app_options_help(const AppCommand* command);

#ifdef __cplusplus
}
#endif
#endif

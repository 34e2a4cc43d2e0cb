// Text of others (names in files, command lines) made safe to show: on terminals, in CSV, SVG,
// HTML.
#ifndef LASH_APP_TEXT_H
#define LASH_APP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// Length of the UTF-8 character at text with `bytes` > 0 left; 0: none is there.
int app_utf8_length(const char* text, size_t bytes);
// True when all of it is UTF-8 without a NUL.
bool app_utf8_valid(const char* text, size_t bytes);

// What to show for the character at text (`bytes` > 0 left): itself, or \x1b for a control
// character or a byte that is no UTF-8. Fills shown (ends in 0) and returns the bytes of text it
// stands for.
enum { APP_TEXT_SHOWN = 12 };
size_t app_text_show(const char* text, size_t bytes, char shown[APP_TEXT_SHOWN]);
// Prints text that way, line breaks and tabs included: one line stays one line.
void app_text_print(FILE* file, const char* text);

// A field of a CSV file: quoted by RFC 4180 where it has to be, control characters shown.
void app_csv_print(FILE* file, const char* text);

// From now on what the program prints to stdout passes through app_text_show, but for line breaks
// and tabs: a name in a file cannot send commands to the terminal of who reads about it.
void app_text_guard_stdout(void);

// 1, 2, 5 or 10 times a power of ten: what is nearest to size > 0, for ticks and grids.
double app_nice_number(double size);

#ifdef __cplusplus
}
#endif
#endif

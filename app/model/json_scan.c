// JSON by RFC 8259, read strictly: one recursive descent that builds nothing, and checks
//   grammar, UTF-8 (no overlong forms, no surrogates), finite numbers, duplicate keys, nesting.
// The same descent finds the line and column of a path, so no table of positions is kept.
#include "app/model/json_scan.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/text.h"
#include "core/arena.h"
#include "core/input_file.h"

typedef struct Key {
    size_t name;     // offset of the decoded text in names
    size_t position; // in the file
} Key;

typedef struct Scanner {
    const char* text;
    size_t bytes, position;
    int depth;
    char path[APP_JSON_PATH];
    LashError* error;
    // keys of the objects that are open now
    Key* key;
    size_t keys, key_capacity;
    char* names;
    size_t names_used, names_capacity;
    // search
    const char* target;
    size_t found, found_length;
} Scanner;

static bool scan_value(Scanner* scanner);

static AppPlace place_of(const char* text, size_t position) {
    AppPlace place = {1, 1};
    for (size_t i = 0; i < position; ++i) {
        if (text[i] == '\n') {
            ++place.line;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            ++place.column;
        }
    }
    return place;
}

static bool fail_at(Scanner* scanner, size_t position, const char* format, ...) {
    char where[192], message[400];
    AppPlace place = place_of(scanner->text, position);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "line %d, column %d%s%.140s", place.line, place.column,
             scanner->path[0] == '\0' ? "" : ": ", scanner->path);
    return lash_error_set(scanner->error, LASH_ERROR_MODEL, where, "%s", message);
}

static int peek(const Scanner* scanner) {
    return scanner->position < scanner->bytes ? (unsigned char)scanner->text[scanner->position]
                                              : -1;
}

static void skip_space(Scanner* scanner) {
    while (scanner->position < scanner->bytes &&
           strchr(" \t\r\n", scanner->text[scanner->position]) != NULL &&
           scanner->text[scanner->position] != '\0') {
        ++scanner->position;
    }
}

// What stands at the position, for messages.
static const char* describe(const Scanner* scanner, char* text, size_t size) {
    int c = peek(scanner);
    if (c < 0) {
        snprintf(text, size, "the end of the file");
    } else if (c < 0x20 || c >= 0x7f) {
        snprintf(text, size, "the byte 0x%02x", (unsigned)c);
    } else {
        snprintf(text, size, "'%c'", c);
    }
    return text;
}

static void add_name(Scanner* scanner, const char* bytes, size_t count) {
    if (scanner->names_used + count > scanner->names_capacity) {
        scanner->names_capacity = 2 * (scanner->names_used + count) + 256;
        scanner->names = lash_realloc(scanner->names, scanner->names_capacity);
    }
    memcpy(scanner->names + scanner->names_used, bytes, count);
    scanner->names_used += count;
}

static size_t encode_utf8(unsigned code, char* out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

// Four hexadecimal digits at the position; -1: none.
static int scan_hex(Scanner* scanner) {
    int code = 0;
    for (int i = 0; i < 4; ++i) {
        int c = peek(scanner);
        int digit = -1;
        if (c >= '0' && c <= '9') digit = c - '0';
        if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
        if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
        if (digit < 0) return -1;
        code = 16 * code + digit;
        ++scanner->position;
    }
    return code;
}

// Behind a backslash; the decoded character goes to the names.
static bool scan_escape(Scanner* scanner, size_t start) {
    static const char letters[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    int c = peek(scanner);
    const char* letter = c > 0 ? strchr(letters, c) : NULL;
    if (letter != NULL) {
        ++scanner->position;
        add_name(scanner, &meaning[letter - letters], 1);
        return true;
    }
    if (c != 'u')
        return fail_at(scanner, start, "'\\' in a text must be followed by one of \"\\/bfnrtu");
    ++scanner->position;
    int code = scan_hex(scanner);
    if (code < 0) return fail_at(scanner, start, "\\u must be followed by four hexadecimal digits");
    if (code == 0)
        return fail_at(scanner, start, "a text may not contain the character NUL (\\u0000)");
    unsigned full = (unsigned)code;
    if (code >= 0xD800 && code <= 0xDFFF) {
        int low = -1;
        if (code < 0xDC00 && peek(scanner) == '\\' && scanner->position + 1 < scanner->bytes &&
            scanner->text[scanner->position + 1] == 'u') {
            scanner->position += 2;
            low = scan_hex(scanner);
        }
        if (low < 0xDC00 || low > 0xDFFF) {
            return fail_at(scanner, start,
                           "\\u%04x is half of a surrogate pair without its other half",
                           (unsigned)code);
        }
        full = 0x10000 + (((unsigned)code - 0xD800) << 10) + ((unsigned)low - 0xDC00);
    }
    char utf8[4];
    add_name(scanner, utf8, encode_utf8(full, utf8));
    return true;
}

// A quoted text; decoded, ending in 0, at the end of the names.
static bool scan_text(Scanner* scanner) {
    size_t start = scanner->position++;
    for (;;) {
        int c = peek(scanner);
        size_t here = scanner->position;
        if (c < 0) return fail_at(scanner, start, "this text is never closed with '\"'");
        if (c == '"') break;
        if (c == '\n' || c == '\r') {
            return fail_at(scanner, start, "this text is not closed with '\"' on its line");
        }
        if (c < 0x20) {
            return fail_at(scanner, here,
                           "a text may not contain the control character 0x%02x; use \\u%04x",
                           (unsigned)c, (unsigned)c);
        }
        if (c == '\\') {
            ++scanner->position;
            if (!scan_escape(scanner, here)) return false;
            continue;
        }
        int length = app_utf8_length(scanner->text + here, scanner->bytes - here);
        if (length == 0) {
            return fail_at(scanner, here, "the byte 0x%02x is not UTF-8; save the file as UTF-8",
                           (unsigned)c);
        }
        add_name(scanner, scanner->text + here, (size_t)length);
        scanner->position += (size_t)length;
    }
    ++scanner->position;
    add_name(scanner, "", 1);
    return true;
}

static size_t scan_digits(Scanner* scanner) {
    size_t start = scanner->position;
    while (peek(scanner) >= '0' && peek(scanner) <= '9') ++scanner->position;
    return scanner->position - start;
}

static bool scan_number(Scanner* scanner) {
    char found[64];
    size_t start = scanner->position;
    if (peek(scanner) == '-') ++scanner->position;
    size_t first = scanner->position, digits = scan_digits(scanner);
    if (digits == 0) {
        return fail_at(scanner, start, "expected a digit behind '-', found %s",
                       describe(scanner, found, sizeof found));
    }
    if (digits > 1 && scanner->text[first] == '0') {
        return fail_at(scanner, start, "a number may not begin with 0 followed by digits");
    }
    if (peek(scanner) == '.') {
        ++scanner->position;
        if (scan_digits(scanner) == 0) {
            return fail_at(scanner, start, "expected a digit behind the decimal point, found %s",
                           describe(scanner, found, sizeof found));
        }
    }
    if (peek(scanner) == 'e' || peek(scanner) == 'E') {
        ++scanner->position;
        if (peek(scanner) == '+' || peek(scanner) == '-') ++scanner->position;
        if (scan_digits(scanner) == 0) {
            return fail_at(scanner, start, "expected a digit in the exponent, found %s",
                           describe(scanner, found, sizeof found));
        }
    }
    size_t length = scanner->position - start;
    char number[512];
    if (length >= sizeof number) {
        return fail_at(scanner, start, "this number has %zu characters; at most %zu are read",
                       length, sizeof number - 1);
    }
    memcpy(number, scanner->text + start, length);
    number[length] = '\0';
    if (!isfinite(strtod(number, NULL))) {
        return fail_at(scanner, start, "the number %.40s is too large; the largest is 1.797e308",
                       number);
    }
    return true;
}

static bool fail_word(Scanner* scanner, size_t start, size_t length) {
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)length, scanner->text + start);
    if (strcmp(word, "NaN") == 0 || strcmp(word, "nan") == 0 || strcmp(word, "Infinity") == 0 ||
        strcmp(word, "inf") == 0) {
        return fail_at(scanner, start, "'%s' is no number in JSON; write a finite number", word);
    }
    if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0 || strcmp(word, "None") == 0) {
        return fail_at(scanner, start,
                       "JSON writes true, false and null in small letters, found '%s'", word);
    }
    return fail_at(scanner, start,
                   "expected a value, found '%s'; texts and expressions stand in \"...\"", word);
}

static bool scan_word(Scanner* scanner) {
    static const char* const words[] = {"true", "false", "null"};
    size_t start = scanner->position, length = 0;
    while (start + length < scanner->bytes && ((scanner->text[start + length] | 0x20) >= 'a') &&
           ((scanner->text[start + length] | 0x20) <= 'z')) {
        ++length;
    }
    for (int i = 0; i < 3; ++i) {
        if (strlen(words[i]) == length && strncmp(words[i], scanner->text + start, length) == 0) {
            scanner->position += length;
            return true;
        }
    }
    return fail_word(scanner, start, length);
}

static bool is_plain_word(const char* key) {
    if (key[0] == '\0') return false;
    for (const char* c = key; *c != '\0'; ++c) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && !(c > key && *c >= '0' && *c <= '9')) return false;
    }
    return true;
}

void app_json_path_key(char* path, size_t size, const char* key) {
    size_t used = strlen(path), length = strlen(key);
    if (!is_plain_word(key)) {
        snprintf(path + used, size - used, "[\"%s\"]", key);
    } else if (used + length + 2 <= size) { // as below, without the cost of a format
        if (used > 0) path[used++] = '.';
        memcpy(path + used, key, length + 1);
    } else {
        snprintf(path + used, size - used, "%s%s", used == 0 ? "" : ".", key);
    }
}

void app_json_path_index(char* path, size_t size, int index) {
    size_t used = strlen(path);
    if (index < 10 && used + 4 <= size) { // as below, without the cost of a format
        memcpy(path + used, (char[]){'[', (char)('0' + index), ']', '\0'}, 4);
    } else {
        snprintf(path + used, size - used, "[%d]", index);
    }
}

// Remembers the value at the position when its path is the target or leads to it.
static void note_place(Scanner* scanner, size_t position) {
    if (scanner->target == NULL) return;
    size_t length = strlen(scanner->path);
    if (strncmp(scanner->target, scanner->path, length) != 0) return;
    char next = scanner->target[length];
    bool boundary = length == 0 || next == '\0' || next == '.' || next == '[';
    if (boundary &&
        (length > scanner->found_length || (length == 0 && scanner->found_length == 0))) {
        scanner->found = position;
        scanner->found_length = length;
    }
}

typedef struct Twin {
    const char* name;
    size_t position;
} Twin;

static int compare_twins(const void* a, const void* b) {
    const Twin *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order != 0) return order;
    return x->position < y->position ? -1 : 1;
}

// The keys from `first` on belong to one object: no two may be equal.
static bool check_keys(Scanner* scanner, size_t first) {
    size_t count = scanner->keys - first;
    if (count < 2) return true;
    Twin* twin = lash_alloc(count * sizeof *twin);
    for (size_t i = 0; i < count; ++i) {
        twin[i] =
            (Twin){scanner->names + scanner->key[first + i].name, scanner->key[first + i].position};
    }
    qsort(twin, count, sizeof *twin, compare_twins);
    bool good = true;
    for (size_t i = 1; i < count && good; ++i) {
        if (strcmp(twin[i - 1].name, twin[i].name) == 0) {
            AppPlace place = place_of(scanner->text, twin[i - 1].position);
            good =
                fail_at(scanner, twin[i].position,
                        "the key '%.60s' stands twice in this object, first in line %d; keep one",
                        twin[i].name, place.line);
        }
    }
    lash_free(twin);
    return good;
}

// What may have happened where an item should end: a unit behind a number, a comma forgotten.
static const char* comma_advice(const Scanner* scanner) {
    size_t at = scanner->position;
    const char* text = scanner->text;
    if (at >= scanner->bytes || at == 0) return "";
    bool letter = (text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z';
    if (letter && text[at - 1] >= '0' && text[at - 1] <= '9')
        return "; numbers carry no units, 'units' names them for the whole file";
    return text[at] == '"' ? "; put a comma before it" : "";
}

// What may have happened where a key was expected: a comma too many, a decimal comma (0,5).
static const char* key_advice(const Scanner* scanner) {
    size_t at = scanner->position;
    const char* text = scanner->text;
    if (at >= scanner->bytes) return "";
    if (text[at] == '}') return "; remove the comma before it";
    if (text[at] == '/') return "; JSON has no comments, 'description' takes them";
    if ((text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z') return "; put it in quotes";
    bool digits = text[at] >= '0' && text[at] <= '9' && at >= 2 && text[at - 1] == ',' &&
                  text[at - 2] >= '0' && text[at - 2] <= '9';
    return digits ? "; decimals have a point, not a comma" : "";
}

static bool scan_key(Scanner* scanner) {
    char found[64];
    if (peek(scanner) != '"') {
        return fail_at(scanner, scanner->position, "expected a key in \"...\", found %s%s",
                       describe(scanner, found, sizeof found), key_advice(scanner));
    }
    if (scanner->keys == scanner->key_capacity) {
        scanner->key_capacity = 2 * scanner->key_capacity + 64;
        scanner->key = lash_realloc(scanner->key, scanner->key_capacity * sizeof *scanner->key);
    }
    Key* key = &scanner->key[scanner->keys++];
    key->name = scanner->names_used;
    key->position = scanner->position;
    if (!scan_text(scanner)) return false;
    skip_space(scanner);
    if (peek(scanner) != ':') {
        return fail_at(scanner, scanner->position, "expected ':' behind the key, found %s",
                       describe(scanner, found, sizeof found));
    }
    ++scanner->position;
    return true;
}

static bool scan_object(Scanner* scanner) {
    char found[64];
    size_t start = scanner->position++, first = scanner->keys, names = scanner->names_used,
           length = strlen(scanner->path);
    skip_space(scanner);
    if (peek(scanner) == '}') {
        ++scanner->position;
        return true;
    }
    for (;;) {
        skip_space(scanner);
        size_t name = scanner->names_used;
        if (!scan_key(scanner)) return false;
        app_json_path_key(scanner->path, sizeof scanner->path, scanner->names + name);
        if (!scan_value(scanner)) return false;
        scanner->path[length] = '\0';
        skip_space(scanner);
        int c = peek(scanner);
        if (c == '}') break;
        if (c < 0) {
            AppPlace place = place_of(scanner->text, start);
            return fail_at(scanner, scanner->position,
                           "the file ends inside the object opened in line %d, column %d",
                           place.line, place.column);
        }
        if (c != ',') {
            return fail_at(scanner, scanner->position, "expected ',' or '}', found %s%s",
                           describe(scanner, found, sizeof found), comma_advice(scanner));
        }
        ++scanner->position;
    }
    ++scanner->position;
    if (!check_keys(scanner, first)) return false;
    scanner->keys = first;
    scanner->names_used = names;
    return true;
}

static bool scan_array(Scanner* scanner) {
    char found[64];
    size_t start = scanner->position++, length = strlen(scanner->path);
    skip_space(scanner);
    if (peek(scanner) == ']') {
        ++scanner->position;
        return true;
    }
    for (int i = 0;; ++i) {
        app_json_path_index(scanner->path, sizeof scanner->path, i);
        skip_space(scanner);
        if (peek(scanner) == ']') {
            return fail_at(scanner, scanner->position,
                           "expected a value, found ']'; remove the comma before it");
        }
        if (!scan_value(scanner)) return false;
        scanner->path[length] = '\0';
        skip_space(scanner);
        int c = peek(scanner);
        if (c == ']') break;
        if (c < 0) {
            AppPlace place = place_of(scanner->text, start);
            return fail_at(scanner, scanner->position,
                           "the file ends inside the list opened in line %d, column %d", place.line,
                           place.column);
        }
        if (c != ',') {
            return fail_at(scanner, scanner->position, "expected ',' or ']', found %s",
                           describe(scanner, found, sizeof found));
        }
        ++scanner->position;
    }
    ++scanner->position;
    return true;
}

static bool scan_value(Scanner* scanner) {
    char found[64];
    skip_space(scanner);
    note_place(scanner, scanner->position);
    int c = peek(scanner);
    if (c == '{' || c == '[') {
        if (++scanner->depth > APP_JSON_MAX_DEPTH) {
            return fail_at(scanner, scanner->position, "nested deeper than %d levels",
                           APP_JSON_MAX_DEPTH);
        }
        bool good = c == '{' ? scan_object(scanner) : scan_array(scanner);
        --scanner->depth;
        return good;
    }
    if (c == '"') {
        size_t names = scanner->names_used;
        bool good = scan_text(scanner);
        scanner->names_used = names;
        return good;
    }
    if (c == '-' || (c >= '0' && c <= '9')) return scan_number(scanner);
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return scan_word(scanner);
    if (c == '/')
        return fail_at(scanner, scanner->position,
                       "expected a value, found '/'; JSON has no comments");
    return fail_at(scanner, scanner->position, "expected a value, found %s",
                   describe(scanner, found, sizeof found));
}

static void release(Scanner* scanner) {
    lash_free(scanner->key);
    lash_free(scanner->names);
}

bool app_json_check(const char* text, size_t bytes, LashError* error) {
    char found[64];
    Scanner s = {.text = text, .bytes = bytes, .error = error};
    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        return fail_at(&s, 0, "the file begins with a byte order mark; save it as plain UTF-8");
    }
    skip_space(&s);
    if (s.position == bytes) {
        return fail_at(&s, 0, "expected a JSON object, found %s",
                       bytes == 0 ? "an empty file" : "only white space");
    }
    bool good = scan_value(&s);
    if (good) {
        skip_space(&s);
        if (s.position < bytes) {
            good = fail_at(&s, s.position, "expected the end of the file, found %s",
                           describe(&s, found, sizeof found));
        }
    }
    release(&s);
    return good;
}

AppPlace app_json_find(const char* text, size_t bytes, const char* path) {
    Scanner s = {.text = text, .bytes = bytes, .target = path};
    scan_value(&s);
    release(&s);
    return place_of(text, s.found);
}

static char* read_open_file(int file, uint64_t size, size_t limit, size_t* bytes,
                            LashError* error) {
    if (size > limit) {
        lash_error_set(error, LASH_ERROR_IO, "",
                       "the file has %llu bytes, more than the %zu allowed",
                       (unsigned long long)size, limit);
        return NULL;
    }
    size_t capacity = (size_t)size + 1, used = 0; // it may grow while it is read
    char* text = lash_alloc(capacity + 1);
    for (;;) {
        if (used == capacity) text = lash_realloc(text, (capacity *= 2) + 1);
        ssize_t got = read(file, text + used, capacity - used);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) break;
        if (got > 0) used += (size_t)got;
        if (got < 0 || used > limit) {
            lash_error_set(error, LASH_ERROR_IO, "", "%s: %s", "cannot read",
                           got < 0 ? strerror(errno) : "the file is too large");
            lash_free(text);
            return NULL;
        }
    }
    text[used] = '\0';
    *bytes = used;
    return text;
}

char* app_read_file(const char* path, size_t limit, size_t* bytes, LashError* error) {
    uint64_t size = 0;
    int file = lash_input_open(path, &size, error);
    if (file < 0) return NULL;
    char* text = read_open_file(file, size, limit, bytes, error);
    close(file);
    if (text == NULL) lash_error_file(error, path);
    return text;
}

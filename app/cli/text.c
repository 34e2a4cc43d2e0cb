// Characters of others. Terminals obey the C0 controls (ESC among them), DEL and the C1 controls
// U+0080 to U+009F; XML knows none of them but tab and line breaks.
#define _GNU_SOURCE // fopencookie
#include "app/cli/text.h"

#include <math.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

int app_utf8_length(const char* text, size_t bytes) {
    const unsigned char* p = (const unsigned char*)text;
    if (p[0] < 0x80) return 1;
    int length = 2 + (p[0] >= 0xE0) + (p[0] >= 0xF0);
    if (p[0] < 0xC2 || p[0] > 0xF4 || (size_t)length > bytes) return 0;
    for (int i = 1; i < length; ++i) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0; // overlong
    if (p[0] == 0xED && p[1] > 0x9F) return 0; // surrogate
    if (p[0] == 0xF0 && p[1] < 0x90) return 0;
    if (p[0] == 0xF4 && p[1] > 0x8F) return 0;
    return length;
}

bool app_utf8_valid(const char* text, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        int length = app_utf8_length(text + i, bytes - i);
        if (length == 0 || text[i] == '\0') return false;
        i += (size_t)length;
    }
    return true;
}

static bool is_control(const char* text, int length) {
    const unsigned char* p = (const unsigned char*)text;
    if (length == 1) return p[0] < 0x20 || p[0] == 0x7F;
    return length == 2 && p[0] == 0xC2 && p[1] < 0xA0;
}

size_t app_text_show(const char* text, size_t bytes, char shown[APP_TEXT_SHOWN]) {
    int length = app_utf8_length(text, bytes);
    if (length > 0 && !is_control(text, length)) {
        memcpy(shown, text, (size_t)length);
        shown[length] = '\0';
        return (size_t)length;
    }
    if (length == 2) { // C1
        snprintf(shown, APP_TEXT_SHOWN, "\\x%02x\\x%02x", (unsigned char)text[0],
                 (unsigned char)text[1]);
        return 2;
    }
    snprintf(shown, APP_TEXT_SHOWN, "\\x%02x", (unsigned char)text[0]);
    return 1;
}

void app_text_print(FILE* file, const char* text) {
    size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes;) {
        char shown[APP_TEXT_SHOWN];
        i += app_text_show(text + i, bytes - i, shown);
        fputs(shown, file);
    }
}

// ---- CSV ----------------------------------------------------------------------------------------

void app_csv_print(FILE* file, const char* text) {
    size_t bytes = strlen(text);
    bool spaces = bytes > 0 && (text[0] == ' ' || text[bytes - 1] == ' ');
    bool quote = spaces || strpbrk(text, ",;\"\n\r\t") != NULL;
    if (quote) fputc('"', file);
    for (size_t i = 0; i < bytes;) {
        char shown[APP_TEXT_SHOWN];
        i += app_text_show(text + i, bytes - i, shown);
        if (shown[0] == '"') fputc('"', file);
        fputs(shown, file);
    }
    if (quote) fputc('"', file);
}

// ---- stdout -------------------------------------------------------------------------------------

typedef struct Guard {
    char begun[4]; // first bytes of a character whose others have not come yet
    size_t count;
} Guard;

static bool write_all(const char* text, size_t bytes) {
    while (bytes > 0) {
        ssize_t done = write(STDOUT_FILENO, text, bytes);
        if (done <= 0) return false;
        text += done;
        bytes -= (size_t)done;
    }
    return true;
}

// True when `bytes` bytes may begin a character that is longer.
static bool is_begun(const char* text, size_t bytes) {
    static const char more[3] = {'\x80', '\x80', '\x80'};
    char whole[8];
    unsigned char first = (unsigned char)text[0];
    if (first < 0xC2 || bytes > 3) return false;
    memcpy(whole, text, bytes);
    memcpy(whole + bytes, more, sizeof more);
    if (bytes == 1) { // after E0 and F0 a byte 80 would be overlong
        whole[1] = '\x80';
        if (first == 0xE0) whole[1] = '\xA0';
        if (first == 0xF0) whole[1] = '\x90';
    }
    int length = app_utf8_length(whole, bytes + 3);
    return length > 0 && (size_t)length > bytes;
}

static ssize_t guard_write(void* cookie, const char* text, size_t bytes) {
    Guard* guard = cookie;
    char out[1024 + APP_TEXT_SHOWN], joined[1024 + 4];
    size_t taken = 0;
    while (taken < bytes) {
        size_t part = bytes - taken < 1024 ? bytes - taken : 1024, used = 0, i = 0;
        memcpy(joined, guard->begun, guard->count);
        memcpy(joined + guard->count, text + taken, part);
        size_t count = guard->count + part;
        guard->count = 0;
        while (i < count) {
            if (is_begun(joined + i, count - i)) {
                guard->count = count - i;
                memcpy(guard->begun, joined + i, guard->count);
                break;
            }
            if (joined[i] == '\n' || joined[i] == '\t') {
                out[used++] = joined[i++];
            } else {
                char shown[APP_TEXT_SHOWN];
                i += app_text_show(joined + i, count - i, shown);
                memcpy(out + used, shown, strlen(shown));
                used += strlen(shown);
            }
            if (used >= 1024) {
                if (!write_all(out, used)) return 0;
                used = 0;
            }
        }
        if (!write_all(out, used)) return 0;
        taken += part;
    }
    return (ssize_t)bytes;
}

void app_text_guard_stdout(void) {
    static Guard guard; // of the one stdout that there is
    cookie_io_functions_t functions = {.write = guard_write};
    FILE* guarded = fopencookie(&guard, "w", functions);
    if (guarded == NULL) return; // out of memory: the plain one does
    setvbuf(guarded, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, 1 << 16);
    fflush(stdout);
    stdout = guarded;
}

double app_nice_number(double size) {
    double power = pow(10, floor(log10(size))), lead = size / power;
    if (lead < 1.5) return power;
    if (lead < 3.5) return 2 * power;
    return (lead < 7.5 ? 5 : 10) * power;
}

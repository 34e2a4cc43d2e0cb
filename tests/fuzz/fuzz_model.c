// Coverage-guided fuzzing of the model loader (libFuzzer).
//
// Bytes changed at random rarely pass the strict JSON scanner, so half of the mutations work on
// tokens and keep the document well-formed: a value is replaced by a word of the format or by
// another value of the document, deleted, doubled, or a key of the format is added. The words are
// read from the loader's own key tables, so new keys are tried as soon as they exist.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "app/model/quantity.h"
#include "tests/fuzz/load.h"

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

// ---- vocabulary ---------------------------------------------------------------------------------

enum { MAX_WORDS = 1000, MAX_TOKENS = 8192, MAX_BYTES = 1 << 16 };

static const char* word[MAX_WORDS]; // of the format, without quotes
static int words;
static const char* const raw[] = {
    // values as they stand in a file
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e-300",
    "1e300",
    "-1e308",
    "1e-7",
    "4294967296",
    "2147483647",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "\"\"",
    "[0, 0, 1]",
    "[1, 0, 0]",
    "[0, 0, 0]",
    "[1e200, 0, 0]",
    "[1, 0, 0, 0]",
    "\"ground\"",
    "\"t\"",
    "\"pi\"",
    "\"1/0\"",
    "\"sqrt(-1)\"",
    "\"8*cos(t)^2\"",
    "\"if(t<1,2,3)\"",
    "\"((((1))))\"",
    "\"2^-3e2\"",
    "\"x*v\"",
    "\"a.step\"",
    "\"\\u00e9\\ud83d\\ude00\"",
    "\"lash-model/1\"",
    "{\"part\": \"ground\", \"plane\": {}}",
    "{\"type\": \"sphere\", \"radius\": 1}",
};
enum { RAWS = sizeof raw / sizeof *raw };

static void add_word(const char* text) {
    for (int i = 0; i < words; ++i) {
        if (strcmp(word[i], text) == 0) return;
    }
    if (words < MAX_WORDS) word[words++] = text;
}

static void add_table(const KeyTable* table, int depth) {
    if (table == NULL || depth > 8) return;
    for (int i = 0; i < table->keys; ++i) {
        const KeySpec* key = &table->key[i];
        add_word(key->key);
        for (int k = 0; key->choices != NULL && key->choices[k] != NULL; ++k)
            add_word(key->choices[k]);
        add_table(key->table, depth + 1);
    }
}

int LLVMFuzzerInitialize(int* argc, char*** argv) {
    (void)argc;
    (void)argv;
    add_table(&model_root_table, 0);
    add_table(&model_units_table, 0);
    for (int i = 0; i < LASH_QUANTITIES; ++i) add_word(lash_quantity(i)->name);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_load((const char*)data, size, false);
    return 0;
}

// ---- tokens -------------------------------------------------------------------------------------

typedef struct Token {
    size_t start, end;
    char kind; // '"' text, '0' number or word, else the character itself
} Token;

typedef struct Document {
    const char* text;
    size_t bytes;
    Token token[MAX_TOKENS];
    int tokens;
} Document;

static size_t token_end(const char* text, size_t bytes, size_t i) {
    if (text[i] == '"') {
        for (++i; i < bytes && text[i] != '"'; ++i) i += text[i] == '\\';
        return i + 1 < bytes ? i + 1 : bytes;
    }
    if (strchr("{}[],:", text[i]) != NULL && text[i] != '\0') return i + 1;
    while (i < bytes && text[i] != '\0' && strchr("{}[],:\" \n\r\t", text[i]) == NULL) ++i;
    return i;
}

static void split(Document* d) {
    d->tokens = 0;
    for (size_t i = 0; i < d->bytes && d->tokens < MAX_TOKENS;) {
        if (d->text[i] == '\0' || strchr(" \n\r\t", d->text[i]) != NULL) {
            ++i;
            continue;
        }
        Token* t = &d->token[d->tokens++];
        bool mark = strchr("{}[],:\"", d->text[i]) != NULL;
        *t = (Token){i, token_end(d->text, d->bytes, i), mark ? d->text[i] : '0'};
        i = t->end > i ? t->end : i + 1;
    }
}

// Last token of the value that begins at token i.
static int value_end(const Document* d, int i) {
    int depth = 0;
    for (int k = i; k < d->tokens; ++k) {
        char c = d->token[k].kind;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth <= 0) return k;
    }
    return d->tokens - 1;
}

static uint32_t draw(uint32_t* state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

// A token that begins a value, found from a random place on.
static int any_value(const Document* d, uint32_t* state) {
    int first = (int)draw(state, (uint32_t)d->tokens);
    for (int k = 0; k < d->tokens; ++k) {
        int i = (first + k) % d->tokens;
        char c = d->token[i].kind, next = i + 1 < d->tokens ? d->token[i + 1].kind : '\0';
        if ((c == '{' || c == '[' || c == '0' || c == '"') && next != ':') return i;
    }
    return 0;
}

// A new value: a word, a number, or a copy of one of the document. Returns its length in out.
static size_t new_value(const Document* d, uint32_t* state, char* out, size_t room) {
    int length = 0;
    switch (draw(state, 4)) {
        case 0:
            length = snprintf(out, room, "\"%s\"", word[draw(state, (uint32_t)words)]);
            break;
        case 1:
            length = snprintf(out, room, "%s", raw[draw(state, RAWS)]);
            break;
        default: {
            int i = any_value(d, state);
            size_t start = d->token[i].start, end = d->token[value_end(d, i)].end;
            if (end <= start || end - start >= room) return 0;
            memcpy(out, d->text + start, end - start);
            return end - start;
        }
    }
    return length > 0 && (size_t)length < room ? (size_t)length : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    static Document d;
    static char copy[MAX_BYTES], value[MAX_BYTES];
    uint32_t state = seed;
    uint32_t kind = draw(&state, 10);
    if (kind >= 5 || size == 0 || size > MAX_BYTES) return LLVMFuzzerMutate(data, size, max_size);
    memcpy(copy, data, size);
    d.text = copy;
    d.bytes = size;
    split(&d);
    if (d.tokens == 0) return LLVMFuzzerMutate(data, size, max_size);
    int i = any_value(&d, &state), last = value_end(&d, i);
    size_t from = d.token[i].start, to = d.token[last].end, length = 0;
    size_t added = new_value(&d, &state, value + 256, sizeof value - 512);
    const char* piece = value + 256;
    if (kind == 0) { // delete, with the comma before it
        if (i > 0 && d.token[i - 1].kind == ',') from = d.token[i - 1].start;
    } else if (kind == 1) { // double it
        length = (size_t)snprintf(value, sizeof value, ", %.*s", (int)(to - from), copy + from);
        piece = value;
        from = to;
    } else if (kind == 2 && d.token[i].kind == '{') { // a new key in it
        int head = snprintf(value, 256, "\"%.100s\": ", word[draw(&state, (uint32_t)words)]);
        memmove(value + head, value + 256, added);
        length = (size_t)head + added;
        if (i + 1 < d.tokens && d.token[i + 1].kind != '}') value[length++] = ',';
        piece = value;
        from = to = d.token[i].end;
    } else { // replace it
        length = added;
    }
    size_t total = from + length + (size - to);
    if (total > max_size || total == 0 || length >= sizeof value) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    memcpy(data + from, piece, length);
    memcpy(data + from + length, copy + to, size - to);
    return total;
}

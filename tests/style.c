// style FOLDER[=N]...: the text of C and C++ files as the house style wants it. Fails with the
// places where it is not so, if there are more than N (default 0; N may only get smaller):
//   - statements joined by commas, 1 or more per 1000 statements of a folder
//   - a conditional within a conditional (a ? b : c ? d : e)
//   - functions of more than 60 lines between their braces, files of more than 900 lines
// Preprocessor lines, macro bodies with them, are passed over.
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FUNCTION = 60, MOST_FILE = 900, DEEPEST = 256, LONGEST = 8192 };

typedef struct Token {
    const char* text;
    int length, line;
} Token;

typedef struct Style { // of one folder
    long statements, commas, nested, lengths;
    char* list; // of the comma statements
    size_t used, size;
} Style;

static bool is(const Token* token, const char* text) {
    return token->length == (int)strlen(text) && memcmp(token->text, text, strlen(text)) == 0;
}

static bool is_word(const Token* token) {
    return isalpha((unsigned char)token->text[0]) || token->text[0] == '_';
}

// ---- tokens -------------------------------------------------------------------------------------

static const char* skip_line(const char* at, int* line) { // a preprocessor line, continued ones too
    while (*at != '\0' && *at != '\n') {
        if (at[0] == '\\' && at[1] == '\n') {
            ++*line;
            ++at;
        }
        ++at;
    }
    return at;
}

static const char* skip_comment(const char* at, int* line) {
    if (at[1] == '/') return at + strcspn(at, "\n");
    const char* end = strstr(at + 2, "*/");
    end = end == NULL ? at + strlen(at) : end + 2;
    for (; at < end; ++at) *line += *at == '\n';
    return end;
}

static const char* skip_quoted(const char* at) {
    char quote = *at++;
    while (*at != '\0' && *at != quote) at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == '\0' ? at : at + 1;
}

// The next token; false at the end.
static bool next(const char** at, int* line, bool* fresh, Token* token) {
    const char* s = *at;
    for (;;) {
        if (*s == '\n') {
            ++*line;
            *fresh = true;
            ++s;
        } else if (isspace((unsigned char)*s)) {
            ++s;
        } else if (s[0] == '/' && (s[1] == '/' || s[1] == '*')) {
            s = skip_comment(s, line);
        } else if (*s == '#' && *fresh) {
            s = skip_line(s, line);
        } else {
            break;
        }
    }
    *fresh = false;
    if (*s == '\0') return false;
    const char* end = s + 1;
    if (*s == '"' || *s == '\'') {
        end = skip_quoted(s);
    } else if (isalnum((unsigned char)*s) || *s == '_') {
        while (isalnum((unsigned char)*end) || *end == '_' || *end == '.') ++end;
    } else if ((s[0] == ':' && s[1] == ':') || (s[0] == '-' && s[1] == '>')) {
        end = s + 2;
    }
    *token = (Token){s, (int)(end - s), *line};
    *at = end;
    return true;
}

// ---- statements ---------------------------------------------------------------------------------

// Index behind the closing parenthesis of the one at or after `i`.
static int behind_parentheses(const Token* token, int count, int i) {
    int depth = 0;
    for (; i < count; ++i) {
        depth += is(&token[i], "(") - is(&token[i], ")");
        if (is(&token[i], ")") && depth == 0) return i + 1;
    }
    return count;
}

// Index of what a statement does: behind if (..), for (..), else, case ..: and labels.
static int beginning(const Token* token, int count) {
    static const char* const control[] = {"if", "while", "for", "switch"};
    int i = 0;
    for (bool again = true; again && i < count;) {
        again = false;
        for (int k = 0; k < 4; ++k) again = again || is(&token[i], control[k]);
        if (again) {
            i = behind_parentheses(token, count, i + 1);
        } else if (is(&token[i], "else") || is(&token[i], "do")) {
            ++i;
            again = true;
        } else if (is(&token[i], "case") || is(&token[i], "default")) {
            while (i < count && !is(&token[i], ":")) ++i;
            ++i;
            again = true;
        }
    }
    return i;
}

// Does it begin with a type and a name?
static bool is_declaration(const Token* token, int count) {
    static const char* const words[] = {"const",  "static", "struct", "enum",
                                        "extern", "using",  "std",    "auto"};
    for (int k = 0; k < 8; ++k) {
        if (is(&token[0], words[k])) return true;
    }
    if (!is_word(&token[0]) || is(&token[0], "return") || is(&token[0], "goto")) return false;
    int i = 1;
    while (i < count && (is(&token[i], "*") || is(&token[i], "&") || is(&token[i], "const") ||
                         is(&token[i], "::") || is(&token[i - 1], "::")))
        ++i;
    return i < count && is_word(&token[i]) && !is(&token[i - 1], "::");
}

static void remember(Style* style, const char* file, int line) {
    char text[400];
    int length = snprintf(text, sizeof text, "%s:%d: statements joined by a comma\n", file, line);
    if (style->used + (size_t)length + 1 > style->size) {
        style->size = 2 * style->size + 1024;
        style->list = realloc(style->list, style->size);
        if (style->list == NULL) abort();
    }
    memcpy(style->list + style->used, text, (size_t)length + 1);
    style->used += (size_t)length;
}

static void look_for_comma(const Token* token, int count, const char* file, Style* style) {
    int i = beginning(token, count), depth = 0;
    ++style->statements;
    if (i >= count || is_declaration(token + i, count - i) || is(&token[i], ".")) return;
    for (int k = i; k < count; ++k) {
        char c = token[k].text[0];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c != ',' || depth != 0) continue;
        ++style->commas;
        remember(style, file, token[i].line);
        return;
    }
}

// Conditionals of each open parenthesis; one that stands for an operand counts with its conditional.
static void look_for_nested(const Token* token, int count, const char* file, Style* style) {
    int asked[DEEPEST] = {0}, depth = 0;
    for (int k = 0; k < count && depth + 1 < DEEPEST; ++k) {
        char c = token[k].text[0];
        if (token[k].length > 1) continue;
        if (c == '(' || c == '[' || c == '{') {
            char before = k > 0 ? token[k - 1].text[0] : ' ';
            bool operand = c == '(' && (before == '?' || before == ':') && asked[depth] > 0;
            asked[++depth] = operand;
        } else if (c == ')' || c == ']' || c == '}') {
            depth -= depth > 0;
        } else if (c == ',' || c == ';') {
            asked[depth] = 0;
        } else if (c == '?' && asked[depth]++ > 0) {
            ++style->nested;
            printf("%s:%d: a conditional within a conditional\n", file, token[k].line);
            return;
        }
    }
}

// ---- files --------------------------------------------------------------------------------------

typedef struct Walk { // through one file
    const char* file;
    Style* style;
    Token token[LONGEST]; // of the statement so far
    int count;
    bool initialiser[DEEPEST]; // braces that are open
    int braces, parentheses;
    int function; // brace that opened the function, -1: none
    int first;    // its line
} Walk;

static void end_statement(Walk* walk) {
    if (walk->count > 0) {
        look_for_comma(walk->token, walk->count, walk->file, walk->style);
        look_for_nested(walk->token, walk->count, walk->file, walk->style);
    }
    walk->count = 0;
}

static void open_brace(Walk* walk, const Token* token) {
    const Token* last = walk->count > 0 ? &walk->token[walk->count - 1] : NULL;
    bool inside = walk->braces > 0 && walk->initialiser[walk->braces - 1];
    int open = walk->count - 1, depth = 0; // parenthesis of a compound literal (Type){
    for (; open > 0; --open) {
        depth += is(&walk->token[open], ")") - is(&walk->token[open], "(");
        if (depth == 0) break;
    }
    bool literal = last != NULL && is(last, ")") && open > 0 &&
                   strchr("=,?:&(", walk->token[open - 1].text[0]) != NULL;
    literal = literal ||
              (last != NULL && is(last, ")") && open > 0 && is(&walk->token[open - 1], "return"));
    bool value =
        inside || literal ||
        (last != NULL && (is(last, "=") || is(last, ",") || is(last, "return") || is(last, "(")));
    bool block = !value;
    if (walk->braces < DEEPEST) walk->initialiser[walk->braces] = value;
    ++walk->braces;
    if (!block && walk->count < LONGEST) walk->token[walk->count++] = *token;
    if (!block) return;
    if (walk->function < 0 && last != NULL && (is(last, ")") || is(last, "const"))) {
        walk->function = walk->braces;
        walk->first = token->line;
    }
    look_for_nested(walk->token, walk->count, walk->file, walk->style);
    walk->count = 0;
}

static void close_brace(Walk* walk, const Token* token) {
    bool value = walk->braces > 0 && walk->braces <= DEEPEST && walk->initialiser[walk->braces - 1];
    if (walk->function == walk->braces && !value) {
        int lines = token->line - walk->first - 1;
        if (lines > MOST_FUNCTION) {
            ++walk->style->lengths;
            printf("%s:%d: a function of %d lines\n", walk->file, walk->first, lines);
        }
        walk->function = -1;
    }
    walk->braces -= walk->braces > 0;
    if (value && walk->count < LONGEST) {
        walk->token[walk->count++] = *token;
    } else if (!value) {
        walk->count = 0;
    }
}

static void read_file(const char* path, Style* style) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return;
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char* text = calloc(1, (size_t)bytes + 1);
    if (text == NULL || fread(text, 1, (size_t)bytes, file) != (size_t)bytes) abort();
    fclose(file);
    static Walk walk;
    walk = (Walk){.file = path, .style = style, .function = -1};
    Token token;
    const char* at = text;
    int line = 1;
    bool fresh = true;
    while (next(&at, &line, &fresh, &token)) {
        walk.parentheses += is(&token, "(") - is(&token, ")");
        bool outside = walk.parentheses == 0;
        if (outside && is(&token, ";")) {
            end_statement(&walk);
        } else if (outside && is(&token, "{")) {
            open_brace(&walk, &token);
        } else if (outside && is(&token, "}")) {
            close_brace(&walk, &token);
        } else if (walk.count < LONGEST) {
            walk.token[walk.count++] = token;
        }
    }
    if (line > MOST_FILE) {
        ++style->lengths;
        printf("%s: %d lines\n", path, line);
    }
    free(text);
}

static bool is_source(const char* name) {
    const char* dot = strrchr(name, '.');
    if (dot == NULL) return false;
    return strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0 || strcmp(dot, ".cpp") == 0 ||
           strcmp(dot, ".hpp") == 0;
}

// The folder and those in it; returns what is wrong in them.
static long look_through(const char* folder) {
    Style style = {0};
    long wrong = 0;
    struct dirent** entry = NULL;
    int count = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < count; ++i) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && entry[i]->d_type == DT_DIR) wrong += look_through(path);
        if (entry[i]->d_type == DT_REG && is_source(entry[i]->d_name)) read_file(path, &style);
        free(entry[i]);
    }
    free(entry);
    if (1000 * style.commas > style.statements) {
        printf("%s%s: %ld comma statements among %ld\n", style.list, folder, style.commas,
               style.statements);
        wrong += style.commas;
    }
    free(style.list);
    return wrong + style.nested + style.lengths;
}

int main(int argc, char** argv) {
    bool good = true;
    for (int i = 1; i < argc; ++i) {
        char* known = strchr(argv[i], '=');
        long allowed = known == NULL ? 0 : strtol(known + 1, NULL, 10);
        if (known != NULL) *known = '\0';
        long wrong = look_through(argv[i]);
        good = good && wrong <= allowed;
        printf("%s: %ld places, %ld allowed%s\n", argv[i], wrong, allowed,
               wrong < allowed ? ": lower the number in tests/CMakeLists.txt" : "");
    }
    return good ? 0 : 1;
}

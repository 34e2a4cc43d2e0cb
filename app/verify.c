// lash verify: runs claims of the papers and prints, for each, what the paper says and what we get.
//
// A claim is one small function (verify_*.c) that computes its figures anew; nothing is read from
// files. The verdict follows the criterion that stands in the row.
#include "app/verify.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "app/verify_internal.h"
#include "app/version.h"

enum { TABLES = 3, MAX_IDS = 64 };

typedef struct Options {
    bool all, json, list, help;
    const char* id[MAX_IDS];
    int ids;
} Options;

static ClaimTable table_of(int i) {
    ClaimTable (*const tables[TABLES])(void) = {verify_examples, verify_chattering,
                                                verify_slider_crank};
    return tables[i]();
}

// ---- Text and JSON ------------------------------------------------------------------------------

static void print_json_text(const char* key, const char* text) {
    printf("\"%s\": \"", key);
    for (; *text != 0; ++text) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if ((unsigned char)*text >= 0x20) putchar(*text);
    }
    putchar('"');
}

static void print_json(const ClaimTable* table, const Claim* claim, const Verdict* verdict,
                       double seconds, bool first) {
    printf("%s\n    {", first ? "" : ",");
    print_json_text("id", claim->id), printf(", ");
    print_json_text("paper", table->paper), printf(", ");
    print_json_text("place", claim->place), printf(", ");
    print_json_text("title", claim->title), printf(",\n     ");
    print_json_text("expected", claim->expected), printf(",\n     ");
    print_json_text("got", verdict->got), printf(",\n     ");
    print_json_text("criterion", claim->criterion), printf(", ");
    if (claim->note != NULL) print_json_text("note", claim->note), printf(",\n     ");
    printf("\"pass\": %s, \"seconds\": %.3f}", verdict->pass ? "true" : "false", seconds);
}

static void print_text(const ClaimTable* table, const Claim* claim, const Verdict* verdict,
                       double seconds) {
    printf("%-5s %-4s  %s (%s, %s; %.2f s)\n", claim->id, verdict->pass ? "pass" : "FAIL",
           claim->title, table->paper, claim->place, seconds);
    printf("             paper      %s\n", claim->expected);
    printf("             lash       %s\n", verdict->got);
    printf("             criterion  %s\n", claim->criterion);
    if (claim->note != NULL) printf("             note       %s\n", claim->note);
}

static void print_help(void) {
    printf(
        "usage: lash verify [ID...] [--all] [--list] [--json]\n\n"
        "Recomputes the claims of the papers behind the schemes and compares.\n"
        "  ID      only these claims, e.g. A-38\n"
        "  --all   slow claims too\n"
        "  --list  only list the claims\n"
        "  --json  one JSON document\n"
        "Exit code 0: all pass, 6: one fails.\n");
}

// ---- Choice -------------------------------------------------------------------------------------

static bool is_id(const Claim* claim, const char* text) {
    return strcasecmp(claim->id, text) == 0;
}

// Same letters in order, missing ones counted: good enough for "A38", "a-4", "A-383".
static int distance(const char* a, const char* b) {
    int row[16];
    int n = (int)strlen(b);
    if (n > 15) return 99;
    for (int j = 0; j <= n; ++j) row[j] = j;
    for (int i = 1; a[i - 1] != 0; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; ++j) {
            int above = row[j], change = strncasecmp(&a[i - 1], &b[j - 1], 1) != 0;
            int best = diagonal + change;
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best, diagonal = above;
        }
    }
    return row[n];
}

static const char* nearest_id(const char* text) {
    const char* best = "A-38";
    int least = 99;
    for (int t = 0; t < TABLES; ++t) {
        ClaimTable table = table_of(t);
        for (int i = 0; i < table.count; ++i) {
            int d = distance(table.claim[i].id, text);
            if (d < least) least = d, best = table.claim[i].id;
        }
    }
    return best;
}

static bool known(const char* text) {
    for (int t = 0; t < TABLES; ++t) {
        ClaimTable table = table_of(t);
        for (int i = 0; i < table.count; ++i) {
            if (is_id(&table.claim[i], text)) return true;
        }
    }
    return false;
}

static bool chosen(const Options* options, const Claim* claim) {
    if (options->ids == 0) return options->all || options->list || !claim->slow;
    for (int i = 0; i < options->ids; ++i) {
        if (is_id(claim, options->id[i])) return true;
    }
    return false;
}

static int usage_error(const Options* options, const char* what, const char* text,
                       const char* hint) {
    if (options->json) {
        printf(
            "{\"lash\": \"%s\", \"command\": \"verify\", \"ok\": false, \"error\": {\"code\": 2, "
            "\"file\": \"\", ",
            LASH_VERSION);
        print_json_text("where", text), printf(", ");
        print_json_text("message", what), printf("}}\n");
    }
    fprintf(stderr, "lash verify: %s '%s'; %s\n", what, text, hint);
    return LASH_ERROR_USAGE;
}

static int parse(int argc, char** argv, Options* options) {
    for (int i = 1; i < argc; ++i) options->json |= strcmp(argv[i], "--json") == 0;
    for (int i = 1; i < argc; ++i) {
        const char* a = argv[i];
        if (strcmp(a, "--json") == 0) continue;
        if (strcmp(a, "--all") == 0) {
            options->all = true;
        } else if (strcmp(a, "--list") == 0) {
            options->list = true;
        } else if (strcmp(a, "-h") == 0 || strcmp(a, "--help") == 0) {
            options->help = true;
        } else if (a[0] == '-') {
            return usage_error(options, "unknown option", a, "'lash verify -h' lists the options");
        } else if (!known(a)) {
            char hint[96];
            snprintf(hint, sizeof hint, "did you mean '%s'? 'lash verify --list' lists the claims",
                     nearest_id(a));
            return usage_error(options, "unknown claim", a, hint);
        } else if (options->ids < MAX_IDS) {
            options->id[options->ids++] = a;
        }
    }
    return LASH_OK;
}

// ---- The command --------------------------------------------------------------------------------

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Runs one claim and prints it; true when it passes.
static bool run_claim(const Options* options, const ClaimTable* table, const Claim* claim,
                      bool first) {
    bool progress = isatty(STDERR_FILENO) && !options->json;
    if (progress) fprintf(stderr, "%s ...\r", claim->id);
    double start = seconds_now();
    Verdict verdict = {.pass = true};
    claim->run(&verdict);
    double seconds = seconds_now() - start;
    if (progress) fprintf(stderr, "         \r");
    if (options->json) {
        print_json(table, claim, &verdict, seconds, first);
    } else {
        print_text(table, claim, &verdict, seconds);
    }
    fflush(stdout);
    return verdict.pass;
}

int app_verify(int argc, char** argv) {
    Options options = {0};
    int status = parse(argc, argv, &options), count[2] = {0};
    if (status != LASH_OK) return status;
    if (options.help) {
        print_help();
        return LASH_OK;
    }
    // The document says "ok" for a command that ran; what failed is in the rows and the exit code.
    if (options.json) {
        printf(
            "{\"lash\": \"%s\", \"command\": \"verify\", \"ok\": true, \"error\": null,\n"
            "  \"claims\": [",
            LASH_VERSION);
    }
    for (int t = 0; t < TABLES; ++t) {
        ClaimTable table = table_of(t);
        for (int i = 0; i < table.count; ++i) {
            const Claim* claim = &table.claim[i];
            if (!chosen(&options, claim)) continue;
            if (options.list && !options.json) {
                printf("%s  %s%s\n", claim->id, claim->title, claim->slow ? " (slow)" : "");
                continue;
            }
            ++count[run_claim(&options, &table, claim, count[0] + count[1] == 0)];
        }
    }
    if (options.json) {
        printf("\n  ],\n  \"passed\": %d, \"failed\": %d}\n", count[1], count[0]);
    } else if (!options.list) {
        printf("%d passed, %d failed\n", count[1], count[0]);
    }
    if (fflush(stdout) != 0) return LASH_ERROR_IO;
    return count[0] > 0 ? LASH_ERROR_SPEC : LASH_OK;
}

// lash verify: runs claims of the papers and prints, for each, what the paper says and what we get.
//
// A claim is one small function (verify_*.c) that computes its figures anew; nothing is read from
// files. The verdict follows the criterion that stands in the row. Exit code 6 when a claim fails.
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/cli/suggest.h"
#include "app/commands.h"
#include "app/verify/verify_internal.h"
#include "core/arena.h"

typedef struct VerifyOptions {
    AppOperands operands;
    const char* report;
    bool all, list, json;
} VerifyOptions;

#define OPTION(member) offsetof(VerifyOptions, member)
static const AppOption options[] = {
    {"all", 'a', APP_FLAG, NULL, "slow claims too", OPTION(all)},
    {"report", 'r', APP_FILE, "FILE", "write the manual: .html, one page with pictures, or .md",
     OPTION(report)},
    {"list", 'l', APP_FLAG, NULL, "list the claims instead of running them", OPTION(list)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_verify_command = {
    .name = "verify",
    .operands = "[CLAIM...]",
    .summary = "recompute the claims of the papers behind the schemes",
    .detail =
        "Every claim, or those named (A-38), is computed on the spot and compared with the paper "
        "by the criterion printed with it. Exit code 0 when all pass, 6 when one fails.",
    .minimum = 0,
    .maximum = APP_MAX_OPERANDS,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands)};

static int list_claims(const ClaimTable* table, int tables, const Claim** claim,
                       const char** paper) {
    int n = 0;
    for (int t = 0; t < tables; ++t) {
        for (int i = 0; i < table[t].count; ++i, ++n) {
            LASH_ASSERT(n < MAX_CLAIMS);
            int k = n; // into its place by id
            for (; k > 0 && strcmp(claim[k - 1]->id, table[t].claim[i].id) > 0; --k) {
                claim[k] = claim[k - 1];
                paper[k] = paper[k - 1];
            }
            claim[k] = &table[t].claim[i];
            paper[k] = table[t].paper;
        }
    }
    return n;
}

static bool is_named(const AppOperands* names, const char* id) {
    for (int i = 0; i < names->count; ++i) {
        if (strcasecmp(names->item[i], id) == 0) return true;
    }
    return false;
}

static bool check_names(const AppOperands* names, const Claim* const* claim, int n,
                        LashError* error) {
    for (int k = 0; k < names->count; ++k) {
        AppSuggestion near = app_suggestion(names->item[k]);
        bool known = false;
        for (int i = 0; i < n && !known; ++i) {
            known = strcasecmp(names->item[k], claim[i]->id) == 0;
            app_suggestion_offer(&near, claim[i]->id);
        }
        char hint[128];
        if (!known)
            return lash_error_set(error, LASH_ERROR_USAGE, names->item[k],
                                  "no such claim%s; 'lash verify --list' lists them",
                                  app_suggestion_text(&near, hint, sizeof hint));
    }
    return true;
}

static void print_row(const Row* row) {
    const Claim* claim = row->claim;
    const char* word = row->verdict.pass ? "pass" : "FAIL";
    printf("%-5s %s  %s\n", claim->id, claim->run == NULL ? "-   " : word, claim->title);
    printf("            paper      %s (%s, %s)\n", claim->expected, row->paper, claim->place);
    printf("            lash       %s\n", row->verdict.got);
    printf("            criterion  %s\n", claim->criterion);
    if (claim->run != NULL) printf("            operator   %s\n", row->operators);
    if (claim->note != NULL) printf("            note       %s\n", claim->note);
    fflush(stdout);
}

static void write_claim(AppJson* json, const Claim* claim, const char* paper) {
    app_json_put_text(json, "id", claim->id);
    app_json_put_text(json, "paper", paper);
    app_json_put_text(json, "place", claim->place);
    app_json_put_text(json, "title", claim->title);
    app_json_put_text(json, "expected", claim->expected);
    app_json_put_text(json, "criterion", claim->criterion);
    app_json_put_text(json, "note", claim->note);
    app_json_put_bool(json, "tested", claim->run != NULL);
}

static void write_list(AppJson* json, const Claim* const* claim, const char* const* paper, int n) {
    app_json_key(json, "claims");
    app_json_begin_array(json);
    for (int i = 0; i < n; ++i) {
        app_json_begin_object(json);
        write_claim(json, claim[i], paper[i]);
        app_json_put_bool(json, "slow", claim[i]->slow);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

static void print_list(const Claim* const* claim, int n) {
    for (int i = 0; i < n; ++i)
        printf("%s  %s%s\n", claim[i]->id, claim[i]->title, claim[i]->slow ? " (slow)" : "");
}

static void write_rows(AppJson* json, const Rows* rows) {
    app_json_key(json, "claims");
    app_json_begin_array(json);
    for (int i = 0; i < rows->count; ++i) {
        const Row* row = &rows->row[i];
        app_json_begin_object(json);
        write_claim(json, row->claim, row->paper);
        app_json_put_text(json, "got", row->verdict.got);
        app_json_put_text(json, "operators", row->operators);
        app_json_put_bool(json, "pass", row->claim->run != NULL && row->verdict.pass);
        app_json_put_number(json, "seconds", row->seconds);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_put_integer(json, "passed", rows->count - rows->failed - rows->untested);
    app_json_put_integer(json, "untested", rows->untested);
    app_json_put_integer(json, "failed", rows->failed);
}

// [s]; other programs on the machine do not count.
static double processor_time(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void run_claims(const VerifyOptions* set, const Claim* const* claim,
                       const char* const* paper, int n, Cache* cache, Rows* rows) {
    AppProgress progress = app_progress_start();
    for (int i = 0; i < n; ++i) {
        bool named = is_named(&set->operands, claim[i]->id);
        bool later = set->operands.count == 0 && claim[i]->slow && !set->all;
        if (later) rows->later[rows->laters++] = claim[i];
        if (later || (set->operands.count > 0 && !named)) continue;
        if (!set->json) app_progress_update(&progress, (double)i / n, claim[i]->id);
        Row* row = &rows->row[rows->count++];
        *row = (Row){.claim = claim[i], .paper = paper[i], .verdict = {.pass = true}};
        row->verdict.cache = cache;
        row->verdict.all = set->all;
        double start = processor_time();
        if (claim[i]->run != NULL) {
            verify_operators_begin();
            claim[i]->run(&row->verdict);
            verify_operators(row->operators, sizeof row->operators);
        } else {
            verdict_add(&row->verdict, true, "not tested");
            ++rows->untested;
        }
        row->seconds = processor_time() - start;
        if (!row->verdict.pass && rows->failed++ == 0) rows->first_failed = claim[i]->id;
        app_progress_clear(&progress);
        if (!set->json) print_row(row);
    }
}

int app_verify(int argc, char** argv) {
    const ClaimTable table[] = {verify_examples(),    verify_chattering(),   verify_bar(),
                                verify_ring(),        verify_slider_crank(), verify_play(),
                                verify_trapezoidal(), verify_fremond(),      verify_fremond_block(),
                                verify_energy(),      verify_alpha(),        verify_ggl()};
    return verify_tables(table, sizeof table / sizeof *table, argc, argv);
}

int verify_tables(const ClaimTable* table, int tables, int argc, char** argv) {
    VerifyOptions set = {0};
    int code = app_options_parse(&app_verify_command, argc, argv, &set);
    if (code >= 0) return code;
    const Claim* claim[MAX_CLAIMS];
    const char* paper[MAX_CLAIMS];
    int n = list_claims(table, tables, claim, paper);
    AppReport report = app_report("verify", set.json);
    LashError error = {0};
    if (!check_names(&set.operands, claim, n, &error)) return app_report_finish(&report, &error);
    if (set.list) {
        if (set.json) write_list(app_report_document(&report, &error), claim, paper, n);
        if (!set.json) print_list(claim, n);
        return app_report_finish(&report, &error);
    }
    Rows* rows = lash_alloc(sizeof *rows);
    Cache* cache = cache_create();
    double start = processor_time();
    run_claims(&set, claim, paper, n, cache, rows);
    if (set.report != NULL) {
        Manual manual = {rows, cache, set.all, set.operands.count == 0, processor_time() - start};
        verify_write_report(&manual, set.report, &error);
    }
    if (rows->failed > 0)
        lash_error_set(&error, LASH_ERROR_SPEC, rows->first_failed, "%d of %d claims failed",
                       rows->failed, rows->count);
    if (set.json) write_rows(app_report_document(&report, &error), rows);
    if (!set.json) {
        printf("%d passed, %d failed", rows->count - rows->failed - rows->untested, rows->failed);
        if (rows->untested > 0) printf(", %d not tested", rows->untested);
        if (rows->laters > 0) printf(", %d left to --all", rows->laters);
        printf("\n");
    }
    for (int i = 0; i < rows->count; ++i) verdict_free(&rows->row[i].verdict);
    lash_free(rows);
    cache_destroy(cache);
    return app_report_finish(&report, &error);
}

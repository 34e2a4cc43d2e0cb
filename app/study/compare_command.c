// lash study compare: two stores beside each other, before and after a change of the design. Outputs
// belong together by name; what differs in the assumptions is listed, so that nobody compares two
// things at once without knowing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/file_kind.h"
#include "app/cli/output_file.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/study/figures.h"
#include "app/study/number.h"
#include "app/study/report_html.h"
#include "app/study/study_command.h"
#include "core/arena.h"

#define OPTION(member) offsetof(StudyOptions, member)
static const AppOption options[] = {
    {"output", 'o', APP_FILE, "PAGE.html", "also write a page", OPTION(output)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document instead of text", OPTION(json)},
};
const AppCommand app_study_compare_command = {
    .name = "study compare",
    .operands = "BEFORE.db AFTER.db",
    .summary = "two stores, before and after a change",
    .detail =
        "Outputs of the same name are compared: mean, sigma, share out of spec, each change "
        "with its\n95 % interval; and the assumptions in which the two studies differ.",
    .minimum = 2,
    .maximum = 2,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = OPTION(json),
    .operand_offset = OPTION(operands),
    .files = APP_FILE_STORE};

typedef struct Side {
    const char* path;
    LashStore* store;
    LashStudy* study;
    LashStoreTable* table;
    LashAnalysis* analysis;
} Side;

static bool open_side(Side* side, const char* path, LashError* error) {
    side->path = path;
    side->store = lash_store_open(path, LASH_STORE_READ, error);
    side->study = side->store != NULL ? lash_store_plan(side->store, error) : NULL;
    side->table = side->study != NULL ? lash_store_table(side->store, side->study, error) : NULL;
    if (side->table != NULL)
        side->analysis = lash_analysis_create(side->study, side->table, side->store, error);
    return side->analysis != NULL;
}

static void close_side(Side* side) {
    lash_analysis_destroy(side->analysis);
    lash_store_table_destroy(side->table);
    lash_study_destroy(side->study);
    lash_store_close(side->store, NULL);
}

// ---- figures ------------------------------------------------------------------------------------

typedef struct Change {
    const LashOutputAnalysis *before, *after;
    LashInterval mean, sigma,
        share; // of the difference, of the ratio, of the difference; NAN: none
} Change;

typedef struct Comparison {
    const LashAnalysis *before, *after;
    Change* change;
    int changes;
} Comparison;

static Change change_of(const LashAnalysis* before, const LashOutputAnalysis* a,
                        const LashAnalysis* after, const LashOutputAnalysis* b) {
    Change c = {
        .before = a, .after = b, .mean = {NAN, NAN}, .sigma = {NAN, NAN}, .share = {NAN, NAN}};
    if (!before->sample || !after->sample) return c; // intervals of designs that are no samples
    c.mean = lash_mean_difference(&a->moments, &b->moments);
    if (a->distinct > 2 && b->distinct > 2) c.sigma = lash_sigma_ratio(&a->moments, &b->moments);
    if (!isnan(a->share) && !isnan(b->share))
        c.share = lash_share_difference(a->out, a->moments.n + a->missing, b->out,
                                        b->moments.n + b->missing);
    return c;
}

static Comparison compare(const LashAnalysis* before, const LashAnalysis* after) {
    Comparison c = {.before = before, .after = after};
    c.change = lash_alloc((size_t)before->study->outputs * sizeof *c.change);
    for (int i = 0; i < before->study->outputs; ++i) {
        for (int k = 0; k < after->study->outputs; ++k) {
            if (strcmp(before->output[i].name, after->output[k].name) != 0) continue;
            c.change[c.changes++] = change_of(before, &before->output[i], after, &after->output[k]);
        }
    }
    return c;
}

// What an interval around `same` says.
static const char* verdict(LashInterval ci, double same) {
    if (!(ci.low <= same)) return isnan(ci.low) ? "" : "higher";
    return ci.high < same ? "lower" : "no difference shown";
}

static const LashAssumption* find_assumption(const LashAssumptions* all,
                                             const LashAssumption* row) {
    for (int i = 0; i < all->rows; ++i) {
        if (strcmp(all->row[i].what, row->what) != 0) continue;
        bool listed = strncmp(row->what, "CAD", 3) == 0 || strncmp(row->what, "correl", 6) == 0;
        if (!listed || strcmp(all->row[i].value, row->value) == 0) return &all->row[i];
    }
    return NULL;
}

typedef void PutDifference(void* context, const char* what, const char* before, const char* after);

// Assumptions that the two studies do not share; files count by their hashes, not by their names.
static void put_differences(const Comparison* comparison, PutDifference* put, void* context) {
    const LashAssumptions *a = comparison->before->assumptions, *b = comparison->after->assumptions;
    for (int i = 0; i < a->rows; ++i) {
        const LashAssumption* other = find_assumption(b, &a->row[i]);
        if (strcmp(a->row[i].what, "study file") == 0) continue; // what it says is listed
        const char* hash[] = {strstr(a->row[i].value, "sha256"), NULL};
        if (other != NULL) hash[1] = strstr(other->value, "sha256");
        if (other != NULL && strcmp(a->row[i].value, other->value) == 0) continue;
        if (hash[0] != NULL && hash[1] != NULL && strcmp(hash[0], hash[1]) == 0) continue;
        put(context, a->row[i].what, a->row[i].value, other != NULL ? other->value : "none");
    }
    for (int i = 0; i < b->rows; ++i) {
        if (find_assumption(a, &b->row[i]) == NULL)
            put(context, b->row[i].what, "none", b->row[i].value);
    }
}

// ---- text ---------------------------------------------------------------------------------------

static void print_difference(void* context, const char* what, const char* before,
                             const char* after) {
    (void)context;
    printf("  ");
    app_text_print(stdout, what);
    printf(": ");
    app_text_print(stdout, before);
    printf(" -> ");
    app_text_print(stdout, after);
    putchar('\n');
}

static void print_change(const Change* change) {
    const LashOutputAnalysis *a = change->before, *b = change->after;
    char from[48], to[48];
    app_text_print(stdout, a->name);
    if (a->unit != NULL) {
        printf(" in ");
        app_text_print(stdout, a->unit);
    }
    lash_number_by_sigma(a->moments.mean, a->moments.sigma, from, sizeof from);
    lash_number_by_sigma(b->moments.mean, b->moments.sigma, to, sizeof to);
    printf("\n  mean %s -> %s", from, to);
    if (!isnan(change->mean.low))
        printf(", change %.3g (%.3g to %.3g): %s", b->moments.mean - a->moments.mean,
               change->mean.low, change->mean.high, verdict(change->mean, 0));
    printf("\n  sigma %.4g -> %.4g", a->moments.sigma, b->moments.sigma);
    if (!isnan(change->sigma.low))
        printf(", ratio %.3g (%.3g to %.3g): %s", b->moments.sigma / a->moments.sigma,
               change->sigma.low, change->sigma.high, verdict(change->sigma, 1));
    putchar('\n');
    if (isnan(change->share.low)) return;
    printf(
        "  out of spec %.3g %% -> %.3g %% (%.0f -> %.0f ppm), change %.3g %% (%.3g to %.3g): %s\n",
        100 * a->share, 100 * b->share, 1e6 * a->share, 1e6 * b->share, 100 * (b->share - a->share),
        100 * change->share.low, 100 * change->share.high, verdict(change->share, 0));
}

static void print_comparison(const Comparison* comparison, const Side* before, const Side* after) {
    printf("%s (%lld samples) -> %s (%lld samples)\n", before->path, (long long)before->table->rows,
           after->path, (long long)after->table->rows);
    for (int i = 0; i < comparison->changes; ++i) print_change(&comparison->change[i]);
    printf("what differs\n");
    put_differences(comparison, print_difference, NULL);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_pair(AppJson* json, const char* key, double before, double after,
                     const LashInterval* change) {
    app_json_key(json, key);
    app_json_begin_object(json);
    app_json_put_number(json, "before", before);
    app_json_put_number(json, "after", after);
    app_json_key(json, "change_ci");
    app_json_begin_array(json);
    app_json_number(json, change->low);
    app_json_number(json, change->high);
    app_json_end_array(json);
    app_json_end_object(json);
}

static void put_difference(void* context, const char* what, const char* before, const char* after) {
    AppJson* json = context;
    app_json_begin_object(json);
    app_json_put_text(json, "what", what);
    app_json_put_text(json, "before", before);
    app_json_put_text(json, "after", after);
    app_json_end_object(json);
}

static void put_comparison(AppJson* json, const Comparison* comparison) {
    app_json_key(json, "outputs");
    app_json_begin_array(json);
    for (int i = 0; i < comparison->changes; ++i) {
        const LashOutputAnalysis *a = comparison->change[i].before,
                                 *b = comparison->change[i].after;
        app_json_begin_object(json);
        app_json_put_text(json, "name", a->name);
        put_pair(json, "mean", a->moments.mean, b->moments.mean, &comparison->change[i].mean);
        put_pair(json, "sigma", a->moments.sigma, b->moments.sigma, &comparison->change[i].sigma);
        put_pair(json, "out_of_spec", a->share, b->share, &comparison->change[i].share);
        app_json_end_object(json);
    }
    app_json_end_array(json);
    app_json_key(json, "differences");
    app_json_begin_array(json);
    put_differences(comparison, put_difference, json);
    app_json_end_array(json);
}

// ---- the page -----------------------------------------------------------------------------------

static void page_difference(void* context, const char* what, const char* before,
                            const char* after) {
    Page* page = context;
    const char* cells[] = {what, before, after};
    page_put(page, "<tr>");
    for (int i = 0; i < 3; ++i) {
        page_put(page, "<td class=\"text wrap\">");
        page_escape(page, cells[i]);
        page_put(page, "</td>");
    }
    page_put(page, "</tr>\n");
}

static void page_row(Page* page, const char* what, const char* from, const char* to, const char* by,
                     const char* says) {
    bool shown = strcmp(says, "lower") == 0 || strcmp(says, "higher") == 0;
    page_put(page,
             "<tr><td class=\"text\">%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"text\">"
             "%s%s%s</td></tr>\n",
             what, from, to, by, shown ? "<b>" : "", says, shown ? "</b>" : "");
}

static void page_share(Page* page, const Change* change) {
    const LashOutputAnalysis *a = change->before, *b = change->after;
    char from[64], to[64], by[96], text[3][32];
    page_percent(a->share, 3, text[0], sizeof text[0]);
    snprintf(from, sizeof from, "%s&nbsp;%%<br>%s", text[0], page_ppm(a->share, text[1], 32));
    page_percent(b->share, 3, text[0], sizeof text[0]);
    snprintf(to, sizeof to, "%s&nbsp;%%<br>%s", text[0], page_ppm(b->share, text[1], 32));
    snprintf(by, sizeof by, "%.3g&nbsp;%%<br>%.2g to %.2g", 100 * (b->share - a->share),
             100 * change->share.low, 100 * change->share.high);
    page_row(page, "out of spec", from, to, by, verdict(change->share, 0));
}

static void page_change(Page* page, const Change* change) {
    const LashOutputAnalysis *a = change->before, *b = change->after;
    char from[64], to[64], by[128], text[3][48];
    page_put(page, "<section><h3>");
    page_escape(page, a->name);
    if (a->unit != NULL) {
        page_put(page, " <span class=\"soft\">[");
        page_escape(page, a->unit);
        page_put(page, "]</span>");
    }
    page_put(page, "</h3><div class=\"sides\"><figure>");
    figure_pair(page, a, b);
    page_put(page,
             "<figcaption>Filled: before. Line: after. Both as shares of their samples."
             "</figcaption></figure><div><table><tr><th></th><th>before</th><th>after</th>"
             "<th>change (95 %%)</th><th class=\"text\"></th></tr>\n");
    page_value(a->moments.mean, a->moments.sigma, from, sizeof from);
    page_value(b->moments.mean, b->moments.sigma, to, sizeof to);
    snprintf(by, sizeof by, "%s<br>%s to %s",
             page_number(b->moments.mean - a->moments.mean, text[0], sizeof text[0]),
             page_number(change->mean.low, text[1], sizeof text[1]),
             page_number(change->mean.high, text[2], sizeof text[2]));
    page_row(page, "mean", from, to, by, verdict(change->mean, 0));
    page_number(a->moments.sigma, from, sizeof from);
    page_number(b->moments.sigma, to, sizeof to);
    snprintf(by, sizeof by, "&times; %s<br>%s to %s",
             page_number(b->moments.sigma / a->moments.sigma, text[0], sizeof text[0]),
             page_number(change->sigma.low, text[1], sizeof text[1]),
             page_number(change->sigma.high, text[2], sizeof text[2]));
    page_row(page, "sigma", from, to, by, verdict(change->sigma, 1));
    page_row(page, "Cpk", page_number(a->capability.cpk, text[0], sizeof text[0]),
             page_number(b->capability.cpk, text[1], sizeof text[1]), "", "");
    if (!isnan(change->share.low)) page_share(page, change);
    page_put(page, "</table></div></div></section>\n");
}

static bool write_page(const Comparison* comparison, const Side* before, const Side* after,
                       const char* path, LashError* error) {
    Page page = {0};
    page_put(&page,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
             "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Before and "
             "after</title><link rel=\"icon\" href=\"data:,\"><style>%s</style></head><body>\n"
             "<h1>Before and after</h1><p class=\"soft\">Before <code>",
             html_style);
    page_escape(&page, before->path);
    page_put(&page, "</code>, %lld samples; after <code>", (long long)before->table->rows);
    page_escape(&page, after->path);
    page_put(
        &page,
        "</code>, %lld samples. Intervals take the two for independent; with the same seed and "
        "parameters they are on the safe side.</p>\n",
        (long long)after->table->rows);
    for (int i = 0; i < comparison->changes; ++i) page_change(&page, &comparison->change[i]);
    page_put(&page,
             "<h2 id=\"differences\">What differs</h2><div class=\"scroll\"><table><tr><th></th>"
             "<th class=\"text\">before</th><th class=\"text\">after</th></tr>\n");
    put_differences(comparison, page_difference, &page);
    page_put(&page, "</table></div>\n</body></html>\n");
    AppOutput* output = app_output_create(path, error);
    bool good = output != NULL;
    if (good) {
        fwrite(page.text, 1, page.used, app_output_stream(output));
        good = app_output_finish(output, error);
    }
    page_free(&page);
    return good;
}

// ---- all ----------------------------------------------------------------------------------------

int app_study_compare(int argc, char** argv) {
    StudyOptions o = study_options();
    LashError error = {0};
    Side before = {0}, after = {0};
    Comparison c = {0};
    int code = app_options_parse(&app_study_compare_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("study compare", o.json);
    bool good = open_side(&before, o.operands.item[0], &error) &&
                open_side(&after, o.operands.item[1], &error);
    if (good) c = compare(before.analysis, after.analysis);
    if (good && c.changes == 0)
        good = lash_error_set(&error, LASH_ERROR_USAGE, "",
                              "'%.100s' and '%.100s' have no output of the same name", before.path,
                              after.path);
    if (good && o.output != NULL) good = write_page(&c, &before, &after, o.output, &error);
    if (o.json) {
        AppJson* json = app_report_document(&report, &error);
        if (good) put_comparison(json, &c);
    } else if (good) {
        print_comparison(&c, &before, &after);
    }
    lash_free(c.change);
    close_side(&before);
    close_side(&after);
    return app_report_finish(&report, &error);
}

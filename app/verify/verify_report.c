// The verification manual: one HTML page that needs nothing else, or Markdown, from the same run.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/machine.h"
#include "app/cli/output_file.h"
#include "app/run/plot.h"
#include "app/verify/verify_internal.h"
#include "app/version.h"

static const char style[] =
    ":root{--ink:#1f2933;--soft:#5f6c7b;--line:#e3e8ee;--page:#fff;--card:#f7f9fb;--good:#1a7f4b;"
    "--bad:#c22f2f;--none:#8a6d1a;--link:#0b6bcb}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6ebf1;--soft:#9aa7b5;--line:#333d48;"
    "--page:#14191f;--card:#1b222a;--good:#4cc38a;--bad:#ff7b72;--none:#d9b44a;--link:#6cb2f7}"
    "figure svg{filter:invert(.92) hue-rotate(180deg)}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 Inter,\"Helvetica Neue\",Helvetica,Arial,sans-serif}"
    "main{max-width:60rem;margin:0 auto;padding:2.5rem 1.5rem 5rem}"
    "h1{font-size:1.9rem;margin:0 0 .2rem}h2{margin:3rem 0 1rem;font-size:1.35rem}"
    "p.lead{color:var(--soft);margin:.2rem 0 1.5rem}a{color:var(--link);text-decoration:none}"
    ".sum{display:flex;gap:2rem;flex-wrap:wrap;margin:1.5rem 0}.sum div{min-width:6rem}"
    ".sum b{display:block;font-size:1.7rem;line-height:1.2}.sum span{color:var(--soft);"
    "font-size:.85rem}"
    "table.index{border-collapse:collapse;width:100%;font-size:.92rem}"
    "table.index td{border-top:1px solid var(--line);padding:.3rem .6rem;vertical-align:top}"
    "table.index td:last-child{text-align:right;color:var(--soft);white-space:nowrap}"
    "section{border:1px solid var(--line);border-radius:8px;background:var(--card);"
    "padding:1rem 1.3rem;margin:1.1rem 0;break-inside:avoid}"
    "section h3{margin:0 0 .6rem;font-size:1.05rem;display:flex;gap:.7rem;align-items:baseline}"
    "h3 .v{margin-left:auto;font-size:.85rem}.pass{color:var(--good)}.fail{color:var(--bad)}"
    ".none{color:var(--none)}dl{display:grid;grid-template-columns:6.5rem 1fr;gap:.25rem 1rem;"
    "margin:0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
    "ul.got{margin:0;padding-left:1.1rem}"
    "figure{margin:1rem 0 0}figure svg{width:100%;height:auto;border-radius:6px}"
    "@media print{body{font-size:11pt}section{background:none}}";

static void print_html(FILE* file, const char* text) {
    for (; *text != '\0'; ++text) {
        const char* escaped = NULL;
        if (*text == '<') escaped = "&lt;";
        if (*text == '>') escaped = "&gt;";
        if (*text == '&') escaped = "&amp;";
        if (escaped != NULL) {
            fputs(escaped, file);
        } else {
            fputc(*text, file);
        }
    }
}

static const char* word_of(const Row* row) {
    if (row->claim->run == NULL) return "not tested";
    return row->verdict.pass ? "pass" : "fail";
}
static const char* class_of(const Row* row) {
    return row->claim->run == NULL ? "none" : word_of(row);
}

// "a; b; c" as a list.
static void print_got(FILE* file, const char* got) {
    fputs("<ul class='got'>", file);
    while (*got != '\0') {
        const char* end = strstr(got, "; ");
        size_t length = end != NULL ? (size_t)(end - got) : strlen(got);
        char part[1024];
        snprintf(part, sizeof part, "%.*s", (int)length, got);
        fputs("<li>", file);
        print_html(file, part);
        fputs("</li>", file);
        got += length + (end != NULL ? 2 : 0);
    }
    fputs("</ul>", file);
}

static void print_picture(FILE* file, const Picture* picture) {
    if (picture->points == 0) return;
    AppPlot plot = {.title = picture->title,
                    .x_label = picture->x_label,
                    .points = picture->points,
                    .x = picture->x};
    for (int i = 0; i < picture->curves; ++i)
        app_plot_add(&plot, picture->unit, picture->name[i], picture->y[i]);
    fputs("<figure>", file);
    app_plot_print(&plot, file);
    fputs("</figure>", file);
}

static void print_entry(FILE* file, const char* term, const char* text) {
    if (text == NULL) return;
    fprintf(file, "<dt>%s</dt><dd>", term);
    print_html(file, text);
    fputs("</dd>", file);
}

static void print_section(FILE* file, const Row* row) {
    const Claim* claim = row->claim;
    fprintf(file, "<section id='%s'><h3>%s<span>", claim->id, claim->id);
    print_html(file, claim->title);
    fprintf(file, "</span><span class='v %s'>%s</span></h3><dl>", class_of(row), word_of(row));
    char place[256];
    snprintf(place, sizeof place, "%s, %s", row->paper, claim->place);
    print_entry(file, "place", place);
    print_entry(file, "paper says", claim->expected);
    if (claim->run != NULL) {
        fputs("<dt>Lash gets</dt><dd>", file);
        print_got(file, row->verdict.got);
        fputs("</dd>", file);
        print_entry(file, "criterion", claim->criterion);
    }
    print_entry(file, "remark", claim->note);
    if (claim->run != NULL) fprintf(file, "<dt>run time</dt><dd>%.2f s</dd>", row->seconds);
    fputs("</dl>", file);
    print_picture(file, &row->verdict.picture);
    fputs("</section>\n", file);
}

typedef struct Head {
    int passed, failed, untested;
    char date[32], machine[128];
    double seconds;
} Head;

static Head head_of(const Rows* rows, double seconds) {
    Head head = {.failed = rows->failed, .untested = rows->untested, .seconds = seconds};
    head.passed = rows->count - rows->failed - rows->untested;
    time_t now = time(NULL);
    struct tm tm;
    strftime(head.date, sizeof head.date, "%Y-%m-%d", gmtime_r(&now, &tm));
    app_machine_name(head.machine, sizeof head.machine);
    return head;
}

static void write_html(FILE* file, const Rows* rows, const Head* head) {
    fprintf(file,
            "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
            "content='width=device-width'><title>Lash verification manual</title><style>%s</style>"
            "</head><body><main>\n<h1>Lash verification manual</h1>\n<p class='lead'>Every claim "
            "below was computed by <code>lash verify</code> %s when this page was written, %s, on "
            "%s.</p>\n",
            style, LASH_VERSION, head->date, head->machine);
    fprintf(file,
            "<div class='sum'><div><b class='pass'>%d</b><span>pass</span></div><div><b "
            "class='fail'>%d</b><span>fail</span></div><div><b class='none'>%d</b><span>not "
            "tested</span></div><div><b>%.1f s</b><span>run time</span></div></div>\n",
            head->passed, head->failed, head->untested, head->seconds);
    fputs("<table class='index'>", file);
    for (int i = 0; i < rows->count; ++i) {
        const Row* row = &rows->row[i];
        fprintf(file, "<tr><td><a href='#%s'>%s</a></td><td>", row->claim->id, row->claim->id);
        print_html(file, row->claim->title);
        fprintf(file, "</td><td class='%s'>%s</td><td>%.2f s</td></tr>\n", class_of(row),
                word_of(row), row->seconds);
    }
    fputs("</table>\n", file);
    for (int i = 0; i < rows->count; ++i) {
        const Row* row = &rows->row[i];
        if (i == 0 || strcmp(row->paper, rows->row[i - 1].paper) != 0) {
            fputs("<h2>", file);
            print_html(file, row->paper);
            fputs("</h2>\n", file);
        }
        print_section(file, row);
    }
    fputs("</main></body></html>\n", file);
}

static void print_cell(FILE* file, const char* text) {
    for (; *text != '\0'; ++text) {
        if (strchr("|*_<>", *text) != NULL) fputc('\\', file);
        fputc(*text, file);
    }
}

static void write_markdown(FILE* file, const Rows* rows, const Head* head) {
    fprintf(file,
            "# Verification manual\n\nWritten by `lash verify --report` %s on %s (%s): %d pass, %d "
            "fail, "
            "%d not tested, %.0f s. The HTML form of the same report has the pictures.\n",
            LASH_VERSION, head->date, head->machine, head->passed, head->failed, head->untested,
            head->seconds);
    for (int i = 0; i < rows->count; ++i) {
        const Row* row = &rows->row[i];
        if (i == 0 || strcmp(row->paper, rows->row[i - 1].paper) != 0) {
            fprintf(file,
                    "\n## %s\n\n| claim | paper says | Lash gets | criterion | verdict "
                    "|\n|---|---|---|---|---|\n",
                    row->paper);
        }
        fprintf(file, "| **%s** %s: ", row->claim->id, row->claim->place);
        print_cell(file, row->claim->title);
        fputs(" | ", file);
        print_cell(file, row->claim->expected);
        fputs(" | ", file);
        print_cell(file, row->verdict.got);
        fputs(" | ", file);
        print_cell(file, row->claim->criterion);
        if (row->claim->note != NULL) {
            fputs(". Remark: ", file);
            print_cell(file, row->claim->note);
        }
        fprintf(file, " | %s |\n", word_of(row));
    }
}

bool verify_write_report(const Rows* rows, double seconds, const char* path, LashError* error) {
    const char* dot = strrchr(path, '.');
    Head head = head_of(rows, seconds);
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    if (dot != NULL && strcmp(dot, ".md") == 0) {
        write_markdown(app_output_stream(output), rows, &head);
    } else {
        write_html(app_output_stream(output), rows, &head);
    }
    return app_output_finish(output, error);
}

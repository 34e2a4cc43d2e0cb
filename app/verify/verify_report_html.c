// The manual as a page: sums, contents, all schemes side by side, then paper by paper the claims, each with
// the figures that it carries, drawn from the same runs.
#include <stdio.h>
#include <string.h>

#include "app/study/report_html.h"
#include "app/verify/report.h"
#include "app/version.h"

static const char manual_style[] =
    "main{display:block}nav.toc{columns:2 340px;column-gap:34px;font-size:13.5px;margin:10px 0 4px}"
    "nav.toc section{break-inside:avoid;margin:0 0 12px}nav.toc h3{margin:0 0 3px;font-size:14px}"
    "nav.toc a{color:var(--blue);text-decoration:none}nav.toc .ids "
    "a{display:inline-block;min-width:42px;"
    "padding:0 2px}nav.toc .figs a{display:inline-block;min-width:66px;padding:0 2px}nav.toc .ids "
    ".fail{color:var(--red);font-weight:700}nav.toc .ids "
    ".none{color:var(--soft)}"
    "section.claim{border:1px solid var(--line);border-radius:8px;padding:10px 16px "
    "8px;margin:14px 0;"
    "scroll-margin-top:8px}section.claim>h3{margin:0 0 6px;font-size:15.5px;display:flex;gap:10px;"
    "align-items:baseline}section.claim>h3 .v{margin-left:auto;font-size:12.5px;white-space:nowrap}"
    ".v.pass{color:var(--green)}.v.fail{color:var(--red)}.v.none{color:var(--orange)}"
    "dl.claim{display:grid;grid-template-columns:84px minmax(0,1fr);gap:2px "
    "12px;margin:0;font-size:13.5px}"
    "dl.claim dt{color:var(--soft)}dl.claim dd{margin:0;overflow-wrap:anywhere}"
    "ul.got{margin:0;padding-left:16px;columns:2 300px;column-gap:26px}ul.got "
    "li{break-inside:avoid}"
    "ul.got.few{columns:auto}.card b.pass{color:var(--green)}.card b.fail{color:var(--red)}"
    "table.data{font-variant-numeric:tabular-nums}table.schemes "
    "th{white-space:normal;max-width:100px;"
    "vertical-align:bottom}table.schemes td.name{min-width:230px;max-width:360px}td.name "
    "span{color:var(--soft);font-size:12px}h2{scroll-margin-top:8px}"
    ".ref{color:var(--soft);font-size:13.5px}.up{float:right;font-size:12.5px;font-weight:400;"
    "color:var(--soft);text-decoration:none}"
    "@media(max-width:600px){dl.claim{grid-template-columns:1fr}dl.claim dt{margin-top:5px}"
    "section.claim{padding:8px 10px}ul.got{columns:auto}td.name span,td.name br{display:none}"
    "table.schemes td.name{min-width:0}}"
    "@media print{section.claim{break-inside:auto;border-radius:0;border-width:1px 0 0;padding:6px "
    "0}"
    ".up,nav.toc .ids{display:none}h2.paper,#schemes{break-before:page;border:0}}";

static const char* class_of(const Row* row) {
    return row->claim->run == NULL ? "none" : manual_word(row);
}

static void put_text(Page* page, const char* before, const char* text, const char* after) {
    page_put(page, "%s", before);
    page_escape(page, text);
    page_put(page, "%s", after);
}

// ---- Claims -------------------------------------------------------------------------------------

// "a; b; c" as a list, in columns where it is long.
static void put_got(Page* page, const char* got) {
    int parts = 1;
    for (const char* c = strstr(got, "; "); c != NULL; c = strstr(c + 2, "; ")) ++parts;
    page_put(page, "<ul class=\"got%s\">", parts < 4 ? " few" : "");
    while (*got != '\0') {
        const char* end = strstr(got, "; ");
        size_t length = end != NULL ? (size_t)(end - got) : strlen(got);
        char part[1024];
        snprintf(part, sizeof part, "%.*s", (int)length, got);
        put_text(page, "<li>", part, "</li>");
        got += length + (end != NULL ? 2 : 0);
    }
    page_put(page, "</ul>");
}

static void put_entry(Page* page, const char* term, const char* text) {
    if (text == NULL) return;
    page_put(page, "<dt>%s</dt>", term);
    put_text(page, "<dd>", text, "</dd>");
}

// A picture of our own, of a claim that no figure of its paper shows.
static void put_picture(Page* page, const Picture* picture) {
    if (picture->points == 0) return;
    FigurePanel panel = {
        picture->title, {picture->x_label, 0, 0, false}, {picture->unit, 0, 0, false}};
    Drawing drawing = {0};
    for (int i = 0; i < picture->curves; ++i)
        drawing_curve(&drawing, 0, picture->name[i], SERIES_LINE, picture->points, picture->x,
                      picture->y[i]);
    page_put(page, "<div class=\"fig\"><div class=\"panels one\">");
    PanelSize size = {"panels one", 600, 320, false};
    panel_write(page, &panel, &drawing, 0, &size);
    page_put(page, "</div></div>\n");
    drawing_free(&drawing);
}

static void put_figure(Page* page, const Figure* figure, const Manual* manual, ManualHead* head) {
    if (figure->slow && !manual->all) {
        figure_write(page, figure, NULL);
        ++head->later;
        return;
    }
    Drawing drawing = {.cache = manual->cache, .all = manual->all};
    figure->run(&drawing);
    figure_write(page, figure, &drawing);
    drawing_free(&drawing);
    ++head->figures;
}

static void put_claim(Page* page, const Row* row, const Manual* manual, ManualHead* head) {
    const Claim* claim = row->claim;
    page_put(page, "<section class=\"claim\" id='%s'><h3><span>%s</span>", claim->id, claim->id);
    put_text(page, "<span>", claim->title, "</span>");
    page_put(page, "<span class=\"v %s\">%s</span></h3><dl class=\"claim\">", class_of(row),
             manual_word(row));
    put_entry(page, "place", claim->place);
    put_entry(page, "paper says", claim->expected);
    if (claim->run != NULL) {
        page_put(page, "<dt>Lash gets</dt><dd>");
        put_got(page, row->verdict.got);
        page_put(page, "</dd>");
        put_entry(page, "criterion", claim->criterion);
    }
    put_entry(page, "remark", claim->note);
    if (claim->run != NULL) page_put(page, "<dt>processor time</dt><dd>%.2f s</dd>", row->seconds);
    page_put(page, "</dl>\n");
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure), shown = 0;
    for (int i = 0; i < n; ++i) {
        if (figure[i]->run == NULL || strcmp(figure[i]->claim, claim->id) != 0) continue;
        put_figure(page, figure[i], manual, head);
        ++shown;
    }
    if (shown == 0) put_picture(page, &row->verdict.picture);
    page_put(page, "</section>\n");
}

// ---- Page ---------------------------------------------------------------------------------------

static const PaperName* paper_of(const Row* row) {
    for (int i = 0; i < manual_paper_count; ++i) {
        if (row->claim->id[0] == manual_papers[i].letter[0]) return &manual_papers[i];
    }
    return NULL;
}

// A slow claim that was not run, and the places of its figures.
static void put_later(Page* page, const Claim* claim, ManualHead* head) {
    page_put(page, "<section class=\"claim\" id='%s'><h3><span>%s</span>", claim->id, claim->id);
    put_text(page, "<span>", claim->title, "</span>");
    page_put(page, "<span class=\"v none\">left to --all</span></h3><dl class=\"claim\">");
    put_entry(page, "place", claim->place);
    put_entry(page, "paper says", claim->expected);
    put_entry(page, "criterion", claim->criterion);
    page_put(page, "</dl>\n");
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure);
    for (int i = 0; i < n; ++i) {
        if (figure[i]->run == NULL || strcmp(figure[i]->claim, claim->id) != 0) continue;
        figure_write(page, figure[i], NULL);
        ++head->later;
    }
    page_put(page, "</section>\n");
}

static void put_papers(Page* page, const Manual* manual, ManualHead* head) {
    const Rows* rows = manual->rows;
    for (int i = 0; i < rows->count; ++i) {
        const Row* row = &rows->row[i];
        const PaperName* paper = paper_of(row);
        bool first = i == 0 || rows->row[i - 1].claim->id[0] != row->claim->id[0];
        if (first) {
            page_put(page, "<h2 class=\"paper\" id=\"paper-%c\">", row->claim->id[0]);
            page_put(page, "<a class=\"up\" href=\"#top\">contents</a>");
            if (paper != NULL) page_put(page, "Paper %s: ", paper->letter);
            put_text(page, "", row->paper, "</h2>\n");
            if (paper != NULL) put_text(page, "<p class=\"ref\">", paper->reference, "</p>\n");
        }
        put_claim(page, row, manual, head);
        bool last = i + 1 == rows->count || rows->row[i + 1].claim->id[0] != row->claim->id[0];
        for (int k = 0; last && k < rows->laters; ++k) {
            if (rows->later[k]->id[0] == row->claim->id[0]) put_later(page, rows->later[k], head);
        }
    }
}

static bool is_listed(const Rows* rows, const char* claim) {
    for (int i = 0; i < rows->laters; ++i) {
        if (strcmp(rows->later[i]->id, claim) == 0) return true;
    }
    for (int i = 0; i < rows->count; ++i) {
        if (strcmp(rows->row[i].claim->id, claim) == 0) return true;
    }
    return false;
}

static void put_contents(Page* page, const Manual* manual) {
    const Rows* rows = manual->rows;
    const Figure* figure[MAX_FIGURES];
    int figures = figures_all(figure);
    page_put(page, "<nav class=\"toc\">\n");
    if (manual->whole)
        page_put(page,
                 "<section><h3><a href=\"#schemes\">All schemes on the slider-crank</a></h3>one "
                 "table and "
                 "the curves of each, side by side</section>\n");
    for (int i = 0; i < rows->count;) {
        char letter = rows->row[i].claim->id[0];
        const PaperName* paper = paper_of(&rows->row[i]);
        page_put(page, "<section><h3><a href=\"#paper-%c\">", letter);
        if (paper != NULL) page_put(page, "Paper %s: ", paper->letter);
        put_text(page, "", rows->row[i].paper, "</a></h3>");
        page_put(page, "<div class=\"figs\">");
        for (int k = 0; k < figures; ++k) {
            if (figure[k]->paper[0] != letter || figure[k]->run == NULL) continue;
            if (!is_listed(rows, figure[k]->claim)) continue;
            char anchor[32];
            figure_anchor(figure[k], anchor, sizeof anchor);
            page_put(page, "<a href=\"#%s\">%s</a> ", anchor, figure[k]->name);
        }
        page_put(page, "</div><div class=\"ids\">");
        for (; i < rows->count && rows->row[i].claim->id[0] == letter; ++i)
            page_put(page, "<a class=\"%s\" href=\"#%s\">%s</a> ", class_of(&rows->row[i]),
                     rows->row[i].claim->id, rows->row[i].claim->id);
        page_put(page, "</div></section>\n");
    }
    page_put(page, "</nav>\n");
}

static void put_missing(Page* page) {
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure);
    page_put(
        page,
        "<h2 id=\"missing\"><a class=\"up\" href=\"#top\">contents</a>Figures that are not drawn"
        "</h2>\n<div class=\"scroll\"><table><thead><tr><th>paper</th><th "
        "class=\"text\">figure</th>"
        "<th class=\"text\">why</th></tr></thead><tbody>\n");
    for (int i = 0; i < n; ++i) {
        if (figure[i]->run != NULL) continue;
        page_put(page, "<tr><td>%s</td>", figure[i]->paper);
        page_put(page, "<td class=\"text\">%s: ", figure[i]->name);
        put_text(page, "", figure[i]->title, "</td>");
        put_text(page, "<td class=\"text\">", figure[i]->note, "</td></tr>\n");
    }
    page_put(page, "</tbody></table></div>\n");
}

static void put_sums(Page* page, const Manual* manual, const ManualHead* head) {
    page_put(
        page,
        "<div class=\"cards\"><div class=\"card\"><b class=\"pass\">%d</b><span>claims "
        "pass</span></div>"
        "<div class=\"card\"><b%s>%d</b><span>fail</span></div><div "
        "class=\"card\"><b>%d</b><span>not "
        "tested</span></div><div class=\"card\"><b>%d</b><span>figures and tables</span></div><div "
        "class=\"card\"><b>%.0f s</b><span>processor time of the claims</span></div></div>\n",
        head->passed, head->failed > 0 ? " class=\"fail\"" : "", head->failed, head->untested,
        head->figures, manual->seconds);
    if (head->later > 0)
        page_put(page,
                 "<p class=\"soft\">%d claim%s and %d figure%s that take long are left to "
                 "<code>--all</code>.</p>\n",
                 manual->rows->laters, manual->rows->laters == 1 ? "" : "s", head->later,
                 head->later == 1 ? "" : "s");
}

void manual_html(Page* page, const Manual* manual, ManualHead* head) {
    Page body = {0}; // before the head, which says how many figures it has
    Page schemes = {0};
    if (manual->whole) manual_schemes(&schemes, manual);
    put_papers(&body, manual, head);
    put_missing(&body);
    page_put(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>Lash verification "
        "manual</title><style>%s%s%s"
        "</style></head><body><main>\n<h1 id=\"top\">Lash verification manual</h1>\n<p "
        "class=\"soft\">Every number "
        "and every curve below was computed by <code>lash verify</code> %s when this page was "
        "written, %s, on ",
        html_style, figure_style, manual_style, LASH_VERSION, head->date);
    put_text(page, "", head->machine, ".</p>\n");
    put_sums(page, manual, head);
    put_contents(page, manual);
    if (manual->whole) page_put(page, "%s", schemes.text);
    page_put(page, "%s", body.text);
    page_put(page, "</main></body></html>\n");
    page_free(&schemes);
    page_free(&body);
}

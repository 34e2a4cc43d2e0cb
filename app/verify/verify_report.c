// The verification manual: what `lash verify` just computed, as one page that needs no network and prints
// well (verify_report_html.c), or as Markdown tables.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/cli/machine.h"
#include "app/cli/output_file.h"
#include "app/verify/report.h"
#include "app/version.h"

const PaperName manual_papers[] = {
    // docs/references.md
    {"A",
     "V. Acary, Projected event-capturing time-stepping schemes for nonsmooth mechanical systems "
     "with "
     "unilateral contact and Coulomb's friction, Inria RR-8029, 2012"},
    {"B",
     "F. A. Potra, M. Anitescu, B. Gavrea, J. Trinkle, A linearly implicit trapezoidal method for "
     "integrating stiff "
     "multibody dynamics with contact, joints, and friction, Int. J. Numer. Meth. Eng. 66, 2006"},
    {"C",
     "V. Acary, N. A. Collins-Craft, On the Moreau-Jean scheme with the Fr\xC3\xA9mond impact law. "
     "Energy conservation "
     "and dissipation properties for elastodynamics with contact impact and friction, "
     "hal-04230941, 2024"},
    {"D",
     "V. Acary, Energy conservation and dissipation properties of time-integration methods for "
     "nonsmooth "
     "elastodynamics with contact, ZAMM 96, 2016"},
    {"E",
     "Th. Schindler et al., the Gear-Gupta-Leimkuhler method for impacting mechanical systems with "
     "unilateral "
     "constraints"},
};
const int manual_paper_count = sizeof manual_papers / sizeof *manual_papers;

const char* manual_word(const Row* row) {
    if (row->claim->run == NULL) return "not tested";
    return row->verdict.pass ? "pass" : "fail";
}

static ManualHead head_of(const Rows* rows) {
    ManualHead head = {.failed = rows->failed, .untested = rows->untested};
    head.passed = rows->count - rows->failed - rows->untested;
    time_t now = time(NULL);
    struct tm tm;
    strftime(head.date, sizeof head.date, "%Y-%m-%d", gmtime_r(&now, &tm));
    app_machine_name(head.machine, sizeof head.machine);
    return head;
}

// ---- Markdown -----------------------------------------------------------------------------------

static void print_cell(FILE* file, const char* text) {
    for (; *text != '\0'; ++text) {
        if (strchr("|*_<>", *text) != NULL) fputc('\\', file);
        fputc(*text, file);
    }
}

static void print_row(FILE* file, const Row* row) {
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
    fprintf(file, " | %s |\n", manual_word(row));
}

// Slow claims of the paper that were not run.
static void print_later(FILE* file, const Rows* rows, char letter) {
    for (int i = 0; i < rows->laters; ++i) {
        const Claim* claim = rows->later[i];
        if (claim->id[0] != letter) continue;
        fprintf(file, "| **%s** %s: ", claim->id, claim->place);
        print_cell(file, claim->title);
        fputs(" | ", file);
        print_cell(file, claim->expected);
        fputs(" | | ", file);
        print_cell(file, claim->criterion);
        fputs(" | left to `--all` |\n", file);
    }
}

static void print_figures(FILE* file) {
    const Figure* figure[MAX_FIGURES];
    int n = figures_all(figure);
    fputs(
        "\n## Figures and tables\n\nThe page draws these from its own runs, with the papers' axes, "
        "each "
        "beside its claim.\n\n| paper | what | shows | claim |\n|---|---|---|---|\n",
        file);
    for (int i = 0; i < n; ++i) {
        if (figure[i]->run == NULL) continue;
        fprintf(file, "| %s | %s%s | ", figure[i]->paper, figure[i]->name,
                figure[i]->slow ? " (`--all`)" : "");
        print_cell(file, figure[i]->title);
        fprintf(file, " | %s |\n", figure[i]->claim);
    }
    fputs("\nNot drawn:\n\n| paper | what | why |\n|---|---|---|\n", file);
    for (int i = 0; i < n; ++i) {
        if (figure[i]->run != NULL) continue;
        fprintf(file, "| %s | %s, ", figure[i]->paper, figure[i]->name);
        print_cell(file, figure[i]->title);
        fputs(" | ", file);
        print_cell(file, figure[i]->note);
        fputs(" |\n", file);
    }
}

static void write_markdown(FILE* file, const Manual* manual, const ManualHead* head) {
    const Rows* rows = manual->rows;
    fprintf(
        file,
        "# Verification manual\n\nWritten by `lash verify%s --report` %s on %s (%s): %d pass, %d "
        "fail, %d not tested, %.0f s of processor time. `lash verify --report manual.html` "
        "writes the same as a page: all schemes side by side on the slider-crank, then every "
        "claim with the figures and tables of the papers, redrawn from the runs that the claims "
        "judge. What takes long is left to `--all`%s.\n",
        manual->all ? " --all" : "", LASH_VERSION, head->date, head->machine, head->passed,
        head->failed, head->untested, manual->seconds, manual->all ? "" : "; the page says where");
    for (int i = 0; i < rows->count; ++i) {
        const Row* row = &rows->row[i];
        if (i == 0 || strcmp(row->paper, rows->row[i - 1].paper) != 0)
            fprintf(file,
                    "\n## %s\n\n| claim | paper says | Lash gets | criterion | verdict "
                    "|\n|---|---|---|---|---|\n",
                    row->paper);
        print_row(file, row);
        bool last = i + 1 == rows->count || rows->row[i + 1].claim->id[0] != row->claim->id[0];
        if (last) print_later(file, rows, row->claim->id[0]);
    }
    print_figures(file);
}

bool verify_write_report(const Manual* manual, const char* path, LashError* error) {
    const char* dot = strrchr(path, '.');
    ManualHead head = head_of(manual->rows);
    AppOutput* output = app_output_create(path, error);
    if (output == NULL) return false;
    if (dot != NULL && strcmp(dot, ".md") == 0) {
        write_markdown(app_output_stream(output), manual, &head);
    } else {
        Page page = {0};
        manual_html(&page, manual, &head);
        fwrite(page.text, 1, page.used, app_output_stream(output));
        page_free(&page);
    }
    return app_output_finish(output, error);
}

// lash fit: what a class of ISO 286 or ISO 2768-1 means in micrometres.
#include <math.h>
#include <stdio.h>

#include "app/cli/report.h"
#include "app/commands.h"
#include "app/model/fit.h"

typedef struct FitOptions {
    AppOperands operands;
    double cpk;
    bool json;
} FitOptions;

static const AppOption options[] = {
    {"cpk", 0, APP_NUMBER, "X", "how well the process keeps to the zone (default 1.33)",
     offsetof(FitOptions, cpk)},
    {"json", 0, APP_FLAG, NULL, "print one JSON document (lengths in m)",
     offsetof(FitOptions, json)},
};
const AppCommand app_fit_command = {
    .name = "fit",
    .operands = "\"SIZE CLASS\"",
    .summary = "limits and play of a fit (ISO 286), or of a general tolerance (ISO 2768-1)",
    .detail =
        "\"10 H7/g6\": hole and shaft; \"10 H7\", \"10 g6\": one part; \"120 ISO 2768-m\": a "
        "length.\n"
        "Sizes in mm. Hole and shaft are taken as normal about the middle of their zones, with\n"
        "sigma = width / (6 Cpk), cut at the zone. In models: \"clearance\": {\"fit\": \"10 "
        "H7/g6\"}.",
    .minimum = 1,
    .maximum = 1,
    .option = options,
    .options = sizeof options / sizeof *options,
    .json_offset = offsetof(FitOptions, json),
    .operand_offset = offsetof(FitOptions, operands)};

static const char* kind_of(const LashFitPlay* play) {
    if (play->least >= 0) return "clearance fit: there is always play";
    if (play->largest <= 0) return "interference fit: there is never play";
    return "transition fit: play or interference";
}

static void print_zone(const char* what, const LashFit* fit, const LashZone* zone) {
    if (zone->kind == LASH_ZONE_NONE) return;
    // + 0.0: a lower limit of -0 prints as 0. js zones of odd grades end on half micrometres.
    printf("  %-7s %-10s %+9.4g um %+9.4g um   %.4f .. %.4f mm\n", what, zone->name,
           1e6 * zone->upper + 0.0, 1e6 * zone->lower + 0.0, 1e3 * (fit->size + zone->lower),
           1e3 * (fit->size + zone->upper));
}

static void print_fit(const LashFit* fit, double cpk) {
    printf("  %-7s %-10s %12s %12s   %s\n", "", "class", "upper", "lower", "limits");
    print_zone("hole", fit, &fit->hole);
    print_zone("shaft", fit, &fit->shaft);
    print_zone("length", fit, &fit->general);
    if (!lash_fit_is_pair(fit)) return;
    LashFitPlay play = lash_fit_play(fit);
    printf("  play across the diameter (hole - shaft)       %.4g .. %.4g um, middle %.4g um\n",
           1e6 * play.least, 1e6 * play.largest, 1e6 * play.middle);
    printf("  play per side (radial: 'clearance' of joints) %.4g .. %.4g um, middle %.4g um\n",
           0.5e6 * play.least, 0.5e6 * play.largest, 0.5e6 * play.middle);
    printf("  %s\n", kind_of(&play));
    if (play.least < 0)
        printf("  share that interferes %.3g %% (Cpk %g)\n", 100 * lash_fit_interference(fit, cpk),
               cpk);
}

static void put_zone(AppJson* json, const char* key, const LashZone* zone) {
    if (zone->kind == LASH_ZONE_NONE) return;
    app_json_key(json, key);
    app_json_begin_object(json);
    app_json_put_text(json, "class", zone->name);
    app_json_put_number(json, "lower", zone->lower);
    app_json_put_number(json, "upper", zone->upper);
    app_json_end_object(json);
}

static void put_fit(AppJson* json, const LashFit* fit, double cpk) {
    app_json_put_number(json, "size", fit->size);
    put_zone(json, "hole", &fit->hole);
    put_zone(json, "shaft", &fit->shaft);
    put_zone(json, "length", &fit->general);
    if (!lash_fit_is_pair(fit)) return;
    LashFitPlay play = lash_fit_play(fit);
    app_json_key(json, "diametral_play");
    app_json_begin_object(json);
    app_json_put_number(json, "least", play.least);
    app_json_put_number(json, "middle", play.middle);
    app_json_put_number(json, "largest", play.largest);
    app_json_end_object(json);
    app_json_put_number(json, "radial_clearance", 0.5 * play.middle);
    app_json_put_number(json, "interference_share", lash_fit_interference(fit, cpk));
}

int app_fit(int argc, char** argv) {
    FitOptions o = {.cpk = 1.33};
    int code = app_options_parse(&app_fit_command, argc, argv, &o);
    if (code >= 0) return code;
    AppReport report = app_report("fit", o.json);
    LashError error = {0};
    LashFit fit;
    if (!(o.cpk >= 0.1 && o.cpk <= 100)) {
        lash_error_set(&error, LASH_ERROR_USAGE, "--cpk", "expected 0.1 to 100, got %g", o.cpk);
    } else if (lash_fit_parse(o.operands.item[0], &fit, &error)) {
        if (o.json) {
            put_fit(app_report_document(&report, NULL), &fit, o.cpk);
        } else {
            print_fit(&fit, o.cpk);
        }
    } else {
        error.status = LASH_ERROR_USAGE;
    }
    return app_report_finish(&report, &error);
}

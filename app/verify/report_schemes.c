// All schemes side by side on the slider-crank with play in its guide (e = 0.4, mu = 0.01): one table and, per
// quantity, one small drawing of each on common axes.
//
// What they are compared with: the event-driven solution with 20 digits (impact times, angle and energy at 0.1 s) and,
// for curves, the trapezoidal rule with located events at h / 10.
#include <math.h>
#include <string.h>
#include <time.h>

#include "app/verify/report.h"
#include "app/verify/track.h"
#include "core/arena.h"

static const double STEP = 1e-5, END = 0.1; // [s]
static const double ANGLE = 9.00063984252595, ENERGY = 7.22764394676185;
enum { IMPACTS = 4, STRIDE = 10 };
static const double impacts[IMPACTS] = {2.6925027520212e-3, 5.6123631902104e-3, 7.4750562123966e-3,
                                        8.4217679342493e-3};

typedef struct Result {
    const Track* track;         // NULL: refused
    LashError refusal;          // why
    double angle, energy, late; // errors [rad, J, s]; late: of the first four impacts
    double microseconds;        // of a step
} Result;

static TrackCase case_of(LashScheme scheme, double h) {
    TrackCase what = {.system = TRACK_CRANK, .set = verify_settings(scheme, h), .T = END};
    what.stride = STRIDE * (int)lround(STEP / h);
    return what;
}

// The steps alone, without looking at them: the fastest of twenty runs up to 0.03 s, which has flights, impacts and closed
// contacts.
static double cost(const TrackCase* what) {
    enum { RUNS = 20 };
    double best = INFINITY;
    long steps = lround(0.3 * what->T / what->set.h);
    for (int k = 0; k < RUNS; ++k) {
        LashLagrangian* model = lash_paper_slider_crank(NULL);
        LashSim* sim = lash_sim_create(lash_lagrangian_system(model), &what->set);
        clock_t start = clock();
        for (long i = 0; i < steps; ++i) lash_sim_step(sim);
        best = fmin(best, 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)steps);
        lash_sim_destroy(sim);
        lash_lagrangian_destroy(model);
    }
    return best;
}

static Result result_of(Cache* cache, LashScheme scheme) {
    TrackCase what = case_of(scheme, STEP);
    Result result = {0};
    LashLagrangian* model = lash_paper_slider_crank(NULL);
    bool fits = lash_settings_fit(&what.set, lash_lagrangian_system(model), &result.refusal);
    lash_lagrangian_destroy(model);
    if (!fits) return result;
    const Track* track = track_of(cache, &what);
    int last = track->points - 1;
    result.track = track;
    result.angle = track->q[0][last] - ANGLE;
    result.energy = track->energy[last] - ENERGY;
    for (int i = 0; i < IMPACTS; ++i) {
        double begin = track->first_impact[i], end = begin + track->impact_step[i];
        double off = fmax(0, fmax(begin - impacts[i], impacts[i] - end)); // it lies in the step
        result.late = fmax(result.late, i < track->impacts ? off : INFINITY);
    }
    result.microseconds = cost(&what);
    return result;
}

// ---- Table --------------------------------------------------------------------------------------

static void put_name(Page* page, LashScheme scheme) {
    page_put(page, "<tr><td class=\"text name\"><b>%s</b><br><span>", lash_scheme_name(scheme));
    page_escape(page, lash_scheme_summary(scheme));
    page_put(page, "</span></td>");
}

static void put_row(Page* page, LashScheme scheme, const Result* result) {
    put_name(page, scheme);
    if (result->track == NULL) {
        page_put(page, "<td colspan=\"7\" class=\"text soft\">refuses this model: ");
        page_escape(page, result->refusal.message);
        page_put(page, "</td></tr>\n");
        return;
    }
    const Track* track = result->track;
    page_put(page, "<td>%.1e</td><td>%+.1e</td><td>%+.1e</td>", track->violation, result->angle,
             result->energy / ENERGY);
    if (isfinite(result->late)) {
        page_put(page, "<td>%.1f</td>", result->late / STEP);
    } else {
        page_put(page, "<td>missed</td>");
    }
    page_put(page, "<td>%d</td><td>%.2f / %d</td><td>%.1f%s</td></tr>\n", track->impacts,
             track->newton / track->steps, track->newton_max, result->microseconds,
             track->failed ? "<br><b class=\"redtext\">a step failed</b>" : "");
}

static void put_table(Page* page, const Result* result, const Track* reference) {
    page_put(
        page,
        "<div class=\"scroll\"><table class=\"data schemes\"><thead><tr><th "
        "class=\"text\">scheme</th>"
        "<th>largest violation [m]</th><th>crank angle at 0.1 s, error [rad]</th><th>energy at 0.1 "
        "s, "
        "relative error</th><th>first four impacts off their step [h]</th><th>impacts above 1 "
        "cm/s</th>"
        "<th>iterations, mean / most</th><th>cost of a step [&micro;s]</th></tr></thead><tbody>\n");
    for (int s = 0; s < LASH_SCHEMES; ++s) put_row(page, (LashScheme)s, &result[s]);
    page_put(page,
             "<tr><td class=\"text name\"><b>reference</b><br><span>trapezoidal with located "
             "events, h = %g "
             "s</span></td><td>%.1e</td><td>%+.1e</td><td>%+.1e</td><td></td><td>%d</td><td></"
             "td><td></td></tr>\n",
             STEP / 10, reference->violation, reference->q[0][reference->points - 1] - ANGLE,
             reference->energy[reference->points - 1] / ENERGY - 1, reference->impacts);
    page_put(page, "</tbody></table></div>\n");
}

// ---- Curves -------------------------------------------------------------------------------------

typedef enum Quantity { HEIGHT, PENETRATION, ENERGY_ERROR, QUANTITIES } Quantity;

static void fill(Quantity quantity, const Track* track, const Track* reference, double* y) {
    double c = lash_paper_crank().c;
    for (int k = 0; k < track->points; ++k) {
        if (quantity == HEIGHT) y[k] = track_slider_y(track, k) / c;
        if (quantity == PENETRATION) y[k] = fmax(track->penetration[k], 1e-17);
        if (quantity == ENERGY_ERROR)
            y[k] = k < reference->points ? 1e3 * (track->energy[k] - reference->energy[k]) : NAN;
    }
}

static void put_curve(Drawing* drawing, int panel, const char* name, SeriesStyle style,
                      Quantity quantity, const Track* track, const Track* reference) {
    double *t = lash_alloc((size_t)track->points * sizeof *t),
           *y = lash_alloc((size_t)track->points * sizeof *y);
    for (int k = 0; k < track->points; ++k) t[k] = 1e3 * track->t[k];
    fill(quantity, track, reference, y);
    drawing_curve(drawing, panel, name, style, track->points, t, y);
    lash_free(t);
    lash_free(y);
}

static void put_multiples(Page* page, const Result* result, Quantity quantity,
                          const Track* reference) {
    static const char* const heading[QUANTITIES] = {
        "Where the slider is between its walls (&plusmn;1: touching)",
        "Largest penetration since the last point, over time",
        "Energy, difference to the reference"};
    static const FigureAxis axis[QUANTITIES] = {{"y / c", -1.15, 1.15, false},
                                                {"[m]", 1e-17, 1e-3, true},
                                                {"E - E_ref [mJ]", -10, 10, false}};
    Drawing drawing = {0};
    PanelSize size = {"panels small", 300, 190, false};
    page_put(page, "<h3>%s</h3>\n<div class=\"%s\">\n", heading[quantity], size.grid);
    int panel = 0;
    for (int s = 0; s < LASH_SCHEMES; ++s) {
        if (result[s].track == NULL) continue;
        FigurePanel frame = {
            lash_scheme_name((LashScheme)s), {"t [ms]", 0, 100, false}, axis[quantity]};
        if (quantity == HEIGHT)
            put_curve(&drawing, panel, "", SERIES_DASHED, quantity, reference, reference);
        put_curve(&drawing, panel, "", SERIES_LINE, quantity, result[s].track, reference);
        panel_write(page, &frame, &drawing, panel, &size);
        ++panel;
    }
    page_put(page, "</div>\n");
    drawing_free(&drawing);
}

void manual_schemes(Page* page, const Manual* manual) {
    Result result[LASH_SCHEMES];
    for (int s = 0; s < LASH_SCHEMES; ++s) result[s] = result_of(manual->cache, (LashScheme)s);
    TrackCase fine = case_of(LASH_TRAPEZOIDAL, STEP / 10);
    const Track* reference = track_of(manual->cache, &fine);
    page_put(page,
             "<h2 id=\"schemes\">All schemes on the slider-crank</h2>\n<p>The papers' main "
             "example: crank 0.153 m, rod "
             "0.306 m, a slider with 1 mm of play above and below in its guide, e = 0.4, &mu; = "
             "0.01, from 150 rad/s, in "
             "three angles. Each scheme with its default settings, h = %g s, %g s (1.43 turns of "
             "the crank). Errors are "
             "against the event-driven solution; the cost is that of the steps alone on this "
             "machine, the fastest of twenty "
             "runs.</p>\n",
             STEP, END);
    put_table(page, result, reference);
    for (int q = 0; q < QUANTITIES; ++q) put_multiples(page, result, (Quantity)q, reference);
    page_put(page,
             "<p class=\"soft\">Dashed: trapezoidal rule with located events, h = %g s. A curve of "
             "penetration on "
             "the bottom means none beyond rounding.</p>\n",
             STEP / 10);
}

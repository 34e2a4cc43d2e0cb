// What the timeline tells: its span and that of the plots, and one tick per pixel.
//
// An impact's tick is as high as it is strong, on a scale of four decades below the strongest. Of
// several events in a pixel the strongest is shown, an impact before anything else; where ticks
// stand closer than VIEW_TICK_SPACE pixels, those beside a stronger one are marked: the cursor could
// not tell them apart.
#include <math.h>
#include <string.h>

#include "app/viewer/viewer.h"
#include "solvers/sim.h"

static const double tick_decades = 4;
static const double least_tick = 0.3; // height of the weakest impact
static const double narrowest = 4;    // steps that the plots show at least

ViewSpan viewer_span(const Viewer* viewer) {
    ViewSpan span = {viewer->playback.begin, fmax(viewer->status.planned, viewer->playback.end)};
    if (!(span.end > span.begin)) span.end = span.begin + 1e-9;
    return span;
}

ViewSpan viewer_plot_span(const Viewer* viewer) {
    ViewSpan all = viewer_span(viewer), shown = all;
    if (viewer->zoom.end > viewer->zoom.begin) {
        shown.begin = fmax(all.begin, viewer->zoom.begin);
        shown.end = fmin(all.end, viewer->zoom.end);
    }
    return shown.end > shown.begin ? shown : all;
}

void viewer_zoom(Viewer* viewer, double about, double factor) {
    ViewSpan all = viewer_span(viewer), shown = viewer_plot_span(viewer);
    double length = shown.end - shown.begin, least = narrowest * viewer->status.step;
    double wanted = fmax(factor * length, fmin(least, length));
    if (!(wanted < all.end - all.begin)) {
        viewer->zoom = (ViewSpan){0, 0};
        return;
    }
    about = fmin(fmax(about, shown.begin), shown.end);
    double begin = about - (about - shown.begin) * wanted / length;
    begin = fmin(fmax(begin, all.begin), all.end - wanted);
    viewer->zoom = (ViewSpan){begin, begin + wanted};
}

void viewer_zoom_shift(Viewer* viewer, double shift) {
    if (!(viewer->zoom.end > viewer->zoom.begin)) return;
    ViewSpan all = viewer_span(viewer), shown = viewer_plot_span(viewer);
    shift = fmin(fmax(shift, all.begin - shown.begin), all.end - shown.end);
    viewer->zoom = (ViewSpan){shown.begin + shift, shown.end + shift};
}

// Is event e to be seen rather than the one that has the tick?
static bool stronger(const ViewEvent* e, const ViewEvent* than) {
    bool impact = e->kind == LASH_EVENT_IMPACT, was = than->kind == LASH_EVENT_IMPACT;
    return impact == was ? e->impulse > than->impulse : impact;
}

static double height_of(const ViewEvent* e, double most) {
    if (e->kind == LASH_EVENT_OPEN) return 0.3;
    if (e->kind != LASH_EVENT_IMPACT) return 0.2;
    double decades = e->impulse > 0 ? log10(e->impulse / most) : -tick_decades;
    return least_tick + (0.95 - least_tick) * fmax(0, 1 + decades / tick_decades);
}

void viewer_ticks(const Viewer* viewer, ViewSpan span, int width, ViewTick* tick) {
    double most = 0, scale = width / (span.end - span.begin);
    for (int i = 0; i < width; ++i) tick[i] = (ViewTick){.kind = -1, .event = -1};
    for (int64_t i = 0; i < viewer->events; ++i) {
        const ViewEvent* e = &viewer->event[i];
        double x = (e->t - span.begin) * scale;
        if (!(x >= 0) || x > width || e->kind < 0 || e->kind > LASH_EVENT_PLASTIC) continue;
        if (!viewer_event_passes(viewer, i)) continue;
        ViewTick* slot = &tick[x < width ? (int)x : width - 1];
        if (slot->event >= 0 && !stronger(e, &viewer->event[slot->event])) continue;
        *slot = (ViewTick){.kind = e->kind, .event = i};
        if (e->kind == LASH_EVENT_IMPACT) most = fmax(most, e->impulse);
    }
    for (int i = 0; i < width; ++i) {
        if (tick[i].event < 0) continue;
        const ViewEvent* e = &viewer->event[tick[i].event];
        tick[i].height = height_of(e, most);
        for (int k = i - VIEW_TICK_SPACE; k <= i + VIEW_TICK_SPACE; ++k) {
            if (k < 0 || k >= width || k == i || tick[k].event < 0) continue;
            const ViewEvent* other = &viewer->event[tick[k].event];
            // of equal ones the first stands
            if (stronger(other, e) || (k < i && !stronger(e, other))) tick[i].weaker = true;
        }
    }
}

// Sizes with tolerances: classes and fits of ISO 286 to 500 mm ("10 H7/g6"), and the general
// tolerances of ISO 2768-1 for lengths ("120 ISO 2768-m").
//
// All lengths here are diameters or distances in metres. A play of a fit is diametral, hole minus
// shaft; what joints call `clearance` is radial, half of it.
#ifndef LASH_APP_MODEL_FIT_H
#define LASH_APP_MODEL_FIT_H

#include <stdbool.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashZoneKind {
    LASH_ZONE_NONE,
    LASH_ZONE_HOLE,
    LASH_ZONE_SHAFT,
    LASH_ZONE_LENGTH
} LashZoneKind;

// The zone in which a size may lie: size + lower .. size + upper.
typedef struct LashZone {
    LashZoneKind kind;
    char name[32];       // "H7", "ISO 2768-m", "(+0.015 0)"
    double lower, upper; // deviations from the nominal size [m]
} LashZone;

typedef struct LashFit {
    double size;      // nominal [m]
    LashZone hole;    // kind LASH_ZONE_NONE: the text names a shaft alone
    LashZone shaft;   // ... a hole alone
    LashZone general; // a length without own tolerance (neither hole nor shaft)
} LashFit;

// "10 H7/g6" (a fit), "10 H7" or "10 g6" (one part), "120 ISO 2768-m" (a length); sizes in mm. A
// zone may be written by its deviations in place of a class, the upper one first:
// "10 (+0.015 0)/(-0.005 -0.014)", "10 H7/(-0.005 -0.014)", "120 (+0.2 -0.2)" (a length).
bool lash_fit_parse(const char* text, LashFit* fit, LashError* error);

static inline bool lash_fit_is_pair(const LashFit* fit) {
    return fit->hole.kind != LASH_ZONE_NONE && fit->shaft.kind != LASH_ZONE_NONE;
}
// Diametral play of a pair [m]: least, middle of the zones, largest; negative: interference.
typedef struct LashFitPlay {
    double least, middle, largest;
} LashFitPlay;
LashFitPlay lash_fit_play(const LashFit* fit);

// Share of pairs that interfere, hole and shaft independent and normal about the middle of their
// zones with sigma = width / (6 cpk), cut at the zone.
double lash_fit_interference(const LashFit* fit, double cpk);

// Width of standard tolerance grade IT01 (-1), IT0, IT1 .. IT18 at a size [m]; NAN: not defined.
double lash_tolerance_grade(double size, int grade);

#ifdef __cplusplus
}
#endif
#endif

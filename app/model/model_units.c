// Units: every number of a model is value = factor x number, factor = prod unit_i ^ exponent_i, in
// SI.
#include "app/model/model_internal.h"

#include <stdlib.h>

static const double length_factor[] = {1, 1e-3, 1e-6, 0.0254};
static const double mass_factor[] = {1, 1e-3};
static const double time_factor[] = {1, 1e-3};
static const double angle_factor[] = {1, 3.14159265358979323846 / 180};
static const double force_factor[] = {1, 1e-3, 1e3};

static const char* const length_names[] = {"m", "mm", "um", "in", NULL};
static const char* const mass_names[] = {"kg", "g", NULL};
static const char* const time_names[] = {"s", "ms", NULL};
static const char* const angle_names[] = {"rad", "deg", NULL};
static const char* const force_names[] = {"N", "mN", "kN", NULL};

#define UNIT_KEY(member, text)                                                       \
    {                                                                                \
        .key = #member, .type = KEY_CHOICE, .choices = member##_names, .help = text, \
        .offset = offsetof(LashModelUnits, member)                                   \
    }
static const KeySpec unit_keys[] = {
    UNIT_KEY(length, "unit of lengths"), UNIT_KEY(mass, "unit of masses"),
    UNIT_KEY(time, "unit of times, of t in expressions too"), UNIT_KEY(angle, "unit of angles"),
    UNIT_KEY(force, "unit of forces; torque is force x length")};
const KeyTable model_units_table = {
    .what = "the units", .key = unit_keys, .keys = 5, .size = sizeof(LashModelUnits)};

typedef struct Dimension { // exponents
    int length, mass, time, angle, force;
    const char* si;
} Dimension;
static const Dimension dimensions[] = {
#define X(id, ...) [UNIT_##id] = {__VA_ARGS__},
    MODEL_UNIT_TABLE(X)
#undef X
};

// factor^exponent by multiplication and one division: 1e-3^-3 is then 1e9 to the last bit.
static double power(double factor, int exponent) {
    double product = 1;
    for (int i = 0; i < abs(exponent); ++i) product *= factor;
    return exponent < 0 ? 1 / product : product;
}

double model_unit_factor(const LashModelUnits* units, ModelUnit unit) {
    const Dimension* dimension = &dimensions[unit];
    return power(length_factor[units->length], dimension->length) *
           power(mass_factor[units->mass], dimension->mass) *
           power(time_factor[units->time], dimension->time) *
           power(angle_factor[units->angle], dimension->angle) *
           power(force_factor[units->force], dimension->force);
}

const char* model_unit_si(ModelUnit unit) {
    return dimensions[unit].si;
}

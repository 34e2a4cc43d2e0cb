// With s = 10^k f, 1 <= f < 10, the digits of a value end at 10^(k - 2): an error of half of that
// is below 0.5 % of sigma.
#include "app/study/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DIGITS = 17 }; // of a double

const char* lash_number_by_sigma(double value, double sigma, char* text, size_t size) {
    double large = fmax(fabs(value), sigma);
    if (!(sigma > 0) || !isfinite(sigma) || !isfinite(value)) {
        snprintf(text, size, "%.9g", value);
        return text;
    }
    double last = floor(log10(sigma)) - 2;                             // 10^last is shown
    double digits = fmin(floor(log10(large)) - last + 1, MOST_DIGITS); // of the value
    if (large >= 1e7 || large < 1e-4) {
        double own = value != 0 ? floor(log10(fabs(value))) - last : 0;
        snprintf(text, size, "%.*e", (int)fmin(fmax(own, 0), MOST_DIGITS - 1), value);
    } else {
        double places = fmin(-last, digits - 1 - floor(log10(large)));
        snprintf(text, size, "%.*f", (int)fmin(fmax(places, 0), 20), value);
    }
    return text;
}

const char* lash_number_exact(double value, char* text, size_t size) {
    for (int digits = 6; digits <= MOST_DIGITS; ++digits) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

// Numbers as an unevaluated sum high + low of two doubles, 32 digits: T. J. Dekker, A
// floating-point technique for extending the available precision, Numerische Mathematik 18, 1971.
// Needs arithmetic that rounds every operation to double (no contraction, no fast mathematics).
#ifndef LASH_SOLVERS_TWOFOLD_INTERNAL_H
#define LASH_SOLVERS_TWOFOLD_INTERNAL_H

typedef struct Twofold {
    double high, low; // |low| <= half a unit in the last place of high
} Twofold;

// a + b without error, for |a| >= |b|
static inline Twofold twofold_fast_sum(double a, double b) {
    double s = a + b;
    return (Twofold){s, b - (s - a)};
}

// a + b without error
static inline Twofold twofold_sum(double a, double b) {
    double s = a + b, part = s - a;
    return (Twofold){s, (a - (s - part)) + (b - part)};
}

// a b without error, below 1e300: both factors are cut into halves of 26 bits
static inline Twofold twofold_product(double a, double b) {
    double p = a * b, s = 134217729.0 * a, t = 134217729.0 * b; // 2^27 + 1
    double a1 = s - (s - a), b1 = t - (t - b), a2 = a - a1, b2 = b - b1;
    return (Twofold){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

static inline Twofold twofold_subtract(Twofold x, Twofold y) {
    Twofold s = twofold_sum(x.high, -y.high), t = twofold_sum(x.low, -y.low);
    s = twofold_fast_sum(s.high, s.low + t.high);
    return twofold_fast_sum(s.high, s.low + t.low);
}

static inline Twofold twofold_multiply(Twofold x, Twofold y) {
    Twofold p = twofold_product(x.high, y.high);
    return twofold_fast_sum(p.high, p.low + (x.high * y.low + x.low * y.high));
}

static inline Twofold twofold_divide(Twofold x, Twofold y) {
    double q1 = x.high / y.high;
    Twofold r = twofold_subtract(x, twofold_multiply((Twofold){q1, 0}, y));
    double q2 = r.high / y.high;
    r = twofold_subtract(r, twofold_multiply((Twofold){q2, 0}, y));
    Twofold q = twofold_fast_sum(q1, q2);
    return twofold_fast_sum(q.high, q.low + r.high / y.high);
}

#endif

// ISO 286: the tables of the standard, not its formulas, whose rounding misses a fifth of them.
//
//     shaft a..h   es = -table,  ei = es - IT        hole A..H   EI = -es of the letter, ES = EI + IT
//     shaft k..z   ei = table,   es = ei + IT        hole K..Z   ES = -ei + Delta,       EI = ES - IT
//     js, JS       +-IT/2
//
// Delta = IT_n - IT_(n-1) for K, M, N up to IT8 and P..Z up to IT7, above 3 mm; else 0. A size on a
// limit belongs to the lower step: 30 is in 18..30.
#include "app/model/fit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math3.h"

enum { STEPS = 13, FINE_STEPS = 25, GRADES = 20, NOT_DEFINED = -32768 };

// Upper ends of the steps of size [mm]: coarse for IT and most letters, fine for a, b, c, r..z.
static const double coarse_end[STEPS] = {3, 6, 10, 18, 30, 50, 80, 120, 180, 250, 315, 400, 500};
static const double fine_end[FINE_STEPS] = {3,   6,   10,  14,  18,  24,  30,  40,  50,
                                            65,  80,  100, 120, 140, 160, 180, 200, 225,
                                            250, 280, 315, 355, 400, 450, 500};

// IT01, IT0, IT1 .. IT18 [um]
static const double grade_width[GRADES][STEPS] = {
    {0.3, 0.4, 0.4, 0.5, 0.6, 0.6, 0.8, 1, 1.2, 2, 2.5, 3, 4},
    {0.5, 0.6, 0.6, 0.8, 1, 1, 1.2, 1.5, 2, 3, 4, 5, 6},
    {0.8, 1, 1, 1.2, 1.5, 1.5, 2, 2.5, 3.5, 4.5, 6, 7, 8},
    {1.2, 1.5, 1.5, 2, 2.5, 2.5, 3, 4, 5, 7, 8, 9, 10},
    {2, 2.5, 2.5, 3, 4, 4, 5, 6, 8, 10, 12, 13, 15},
    {3, 4, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20},
    {4, 5, 6, 8, 9, 11, 13, 15, 18, 20, 23, 25, 27},
    {6, 8, 9, 11, 13, 16, 19, 22, 25, 29, 32, 36, 40},
    {10, 12, 15, 18, 21, 25, 30, 35, 40, 46, 52, 57, 63},
    {14, 18, 22, 27, 33, 39, 46, 54, 63, 72, 81, 89, 97},
    {25, 30, 36, 43, 52, 62, 74, 87, 100, 115, 130, 140, 155},
    {40, 48, 58, 70, 84, 100, 120, 140, 160, 185, 210, 230, 250},
    {60, 75, 90, 110, 130, 160, 190, 220, 250, 290, 320, 360, 400},
    {100, 120, 150, 180, 210, 250, 300, 350, 400, 460, 520, 570, 630},
    {140, 180, 220, 270, 330, 390, 460, 540, 630, 720, 810, 890, 970},
    {250, 300, 360, 430, 520, 620, 740, 870, 1000, 1150, 1300, 1400, 1550},
    {400, 480, 580, 700, 840, 1000, 1200, 1400, 1600, 1850, 2100, 2300, 2500},
    {600, 750, 900, 1100, 1300, 1600, 1900, 2200, 2500, 2900, 3200, 3600, 4000},
    {1000, 1200, 1500, 1800, 2100, 2500, 3000, 3500, 4000, 4600, 5200, 5700, 6300},
    {1400, 1800, 2200, 2700, 3300, 3900, 4600, 5400, 6300, 7200, 8100, 8900, 9700},
};

// Fundamental deviations of shafts [um]: -es of a..h, ei of k..z.
typedef struct Letter {
    char name;
    bool fine; // by fine steps
    short value[FINE_STEPS];
} Letter;

enum { X = NOT_DEFINED };
static const Letter letters[] = {
    {'a', true, {270, 270, 280, 290, 290, 300, 300, 310,  320,  340,  360,  380, 410,
                 460, 520, 580, 660, 740, 820, 920, 1050, 1200, 1350, 1500, 1650}},
    {'b', true, {140, 140, 150, 150, 150, 160, 160, 170, 180, 190, 200, 220, 240,
                 260, 280, 310, 340, 380, 420, 480, 540, 600, 680, 760, 840}},
    {'c', true, {60,  70,  80,  95,  95,  110, 110, 120, 130, 140, 150, 170, 180,
                 200, 210, 230, 240, 260, 280, 300, 330, 360, 400, 440, 480}},
    {'d', false, {20, 30, 40, 50, 65, 80, 100, 120, 145, 170, 190, 210, 230}},
    {'e', false, {14, 20, 25, 32, 40, 50, 60, 72, 85, 100, 110, 125, 135}},
    {'f', false, {6, 10, 13, 16, 20, 25, 30, 36, 43, 50, 56, 62, 68}},
    {'g', false, {2, 4, 5, 6, 7, 9, 10, 12, 14, 15, 17, 18, 20}},
    {'h', false, {0}},
    {'k', false, {0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5}},
    {'m', false, {2, 4, 6, 7, 8, 9, 11, 13, 15, 17, 20, 21, 23}},
    {'n', false, {4, 8, 10, 12, 15, 17, 20, 23, 27, 31, 34, 37, 40}},
    {'p', false, {6, 12, 15, 18, 22, 26, 32, 37, 43, 50, 56, 62, 68}},
    {'r', true, {10, 15, 19, 23, 23, 28, 28, 34, 34,  41,  43,  51, 54,
                 63, 65, 68, 77, 80, 84, 94, 98, 108, 114, 126, 132}},
    {'s', true, {14, 19,  23,  28,  28,  35,  35,  43,  43,  53,  59,  71, 79,
                 92, 100, 108, 122, 130, 140, 158, 170, 190, 208, 232, 252}},
    {'t', true, {X,   X,   X,   X,   X,   X,   41,  48,  54,  66,  75,  91, 104,
                 122, 134, 146, 166, 180, 196, 218, 240, 268, 294, 330, 360}},
    {'u', true, {18,  23,  28,  33,  33,  41,  48,  60,  70,  87,  102, 124, 144,
                 170, 190, 210, 236, 258, 284, 315, 350, 390, 435, 490, 540}},
    {'v', true, {X,   X,   X,   X,   39,  47,  55,  68,  81,  102, 120, 146, 172,
                 202, 228, 252, 284, 310, 340, 385, 425, 475, 530, 595, 660}},
    {'x', true, {20,  28,  34,  40,  45,  54,  64,  80,  97,  122, 146, 178, 210,
                 248, 280, 310, 350, 385, 425, 475, 525, 590, 660, 740, 820}},
    {'y', true, {X,   X,   X,   X,   X,   63,  75,  94,  114, 144, 174, 214, 254,
                 300, 340, 380, 425, 470, 520, 580, 650, 730, 820, 920, 1000}},
    {'z', true, {26,  35,  42,  50,  60,  73,  88,  112, 136, 172,  210,  258, 310,
                 365, 415, 465, 520, 575, 640, 710, 790, 900, 1000, 1100, 1250}},
};

// Letters j and J have tables of their own, by grade [um]: -ei of shafts, ES of holes.
typedef struct OddZone {
    int grade;
    short value[STEPS];
} OddZone;
static const OddZone shaft_j[] = {{5, {2, 2, 2, 3, 4, 5, 7, 9, 11, 13, 16, 18, 20}},
                                  {6, {2, 2, 2, 3, 4, 5, 7, 9, 11, 13, 16, 18, 20}},
                                  {7, {4, 4, 5, 6, 8, 10, 12, 15, 18, 21, 26, 28, 32}}};
static const OddZone hole_J[] = {{6, {2, 5, 5, 6, 8, 10, 13, 16, 18, 22, 25, 29, 33}},
                                 {7, {4, 6, 8, 10, 12, 14, 18, 22, 26, 30, 36, 39, 43}},
                                 {8, {6, 10, 12, 15, 20, 24, 28, 34, 41, 47, 55, 60, 66}}};

// General tolerances of lengths, ISO 2768-1 [mm]: upper end of the step, f, m, c, v; 0: none.
static const double general[][5] = {
    {3, 0.05, 0.1, 0.2, 0},     {6, 0.05, 0.1, 0.3, 0.5},  {30, 0.1, 0.2, 0.5, 1},
    {120, 0.15, 0.3, 0.8, 1.5}, {400, 0.2, 0.5, 1.2, 2.5}, {1000, 0.3, 0.8, 2, 4},
    {2000, 0.5, 1.2, 3, 6},     {4000, 0, 2, 4, 8},
};
enum { GENERAL_STEPS = sizeof general / sizeof *general };
static const char classes[] = "fmcv"; // columns of it

static int step_of(const double* end, int steps, double mm) {
    int i = 0;
    while (i < steps && mm > end[i]) ++i;
    return i;
}

// [um]
static double width(double mm, int grade) {
    int step = step_of(coarse_end, STEPS, mm);
    if (!(mm > 0) || step == STEPS || grade < -1 || grade > 18) return NAN;
    if (grade >= 14 && mm <= 1) return NAN;
    return grade_width[grade + 1][step];
}

double lash_tolerance_grade(double size, int grade) {
    return 1e-6 * width(1e3 * size * (1 - 1e-12), grade); // 30 mm in metres is still 30
}

// ---- zones --------------------------------------------------------------------------------------

typedef struct Class { // as read: "H7"
    bool hole;
    char letter[3]; // small
    int grade;
} Class;

static const Letter* find_letter(const Class* class) {
    for (size_t i = 0; i < sizeof letters / sizeof *letters; ++i) {
        if (class->letter[1] == '\0' && letters[i].name == class->letter[0]) return &letters[i];
    }
    return NULL;
}

static bool refuse(LashError* error, const char* text, const char* format, const char* detail) {
    char message[200];
    snprintf(message, sizeof message, format, detail);
    return lash_error_set(error, LASH_ERROR_MODEL, text, "%s", message);
}

// Fundamental deviation of the shaft of this letter at this size; NAN: none.
static double shaft_deviation(const Letter* letter, double mm) {
    int step = letter->fine ? step_of(fine_end, FINE_STEPS, mm) : step_of(coarse_end, STEPS, mm);
    return letter->value[step] == NOT_DEFINED ? NAN : letter->value[step];
}

// ES of holes K .. Z [um]; NAN: not defined
static double upper_of_hole(const Class* class, double mm, double deviation) {
    char letter = class->letter[0];
    int grade = class->grade;
    bool near = letter == 'k' || letter == 'm' || letter == 'n';
    if (letter == 'k' && grade > 8 && mm > 3) return NAN;
    if (letter == 'n' && grade >= 9 && mm > 3) return 0;
    if (letter == 'm' && grade == 6 && mm > 250 && mm <= 315) return -9; // the standard's exception
    double delta = 0;
    if (mm > 3 && grade <= (near ? 8 : 7)) delta = width(mm, grade) - width(mm, grade - 1);
    return -deviation + delta;
}

static bool own_table(const Class* class, double mm, double tolerance, double* lower,
                      double* upper) {
    const OddZone* zone = class->hole ? hole_J : shaft_j;
    for (int i = 0; i < 3; ++i) {
        if (zone[i].grade != class->grade) continue;
        double value = zone[i].value[step_of(coarse_end, STEPS, mm)];
        *upper = class->hole ? value : tolerance - value;
        *lower = *upper - tolerance;
        return true;
    }
    return false;
}

// Limits [um]. False: the standard has no such class at this size.
static bool limits(const Class* class, double mm, double* lower, double* upper) {
    double tolerance = width(mm, class->grade);
    if (isnan(tolerance)) return false;
    if (strcmp(class->letter, "js") == 0) {
        *upper = 0.5 * tolerance;
        *lower = -*upper;
        return true;
    }
    if (strcmp(class->letter, "j") == 0) return own_table(class, mm, tolerance, lower, upper);
    const Letter* letter = find_letter(class);
    char name = class->letter[0];
    double deviation = shaft_deviation(letter, mm);
    if (isnan(deviation) || (name <= 'b' && mm <= 1)) return false;
    if (name <= 'h') { // away from the other part
        *upper = class->hole ? deviation + tolerance : -deviation;
        *lower = *upper - tolerance;
        return true;
    }
    if (class->hole) {
        *upper = upper_of_hole(class, mm, deviation);
        *lower = *upper - tolerance;
        return !isnan(*upper);
    }
    if (name == 'k' && (class->grade < 4 || class->grade > 7)) deviation = 0;
    *lower = deviation;
    *upper = deviation + tolerance;
    return true;
}

// ---- reading ------------------------------------------------------------------------------------

static const char* skip_blanks(const char* s) {
    while (*s == ' ' || *s == '\t') ++s;
    return s;
}

// "H7": letters of one case, then a grade. NULL: not one.
static const char* read_class(const char* s, Class* class) {
    int n = 0;
    *class = (Class){.hole = isupper((unsigned char)*s) != 0};
    for (; isalpha((unsigned char)*s) && n < 2; ++s, ++n) {
        if ((isupper((unsigned char)*s) != 0) != class->hole) return NULL;
        class->letter[n] = (char)tolower((unsigned char)*s);
    }
    if (n == 0 || !isdigit((unsigned char)*s)) return NULL;
    if (s[0] == '0' && s[1] == '1') {
        class->grade = -1;
        return s + 2;
    }
    for (int digits = 0; isdigit((unsigned char)*s) && digits < 2; ++s, ++digits)
        class->grade = 10 * class->grade + (*s - '0');
    if (isdigit((unsigned char)*s) || class->grade > 18) return NULL;
    bool known = strcmp(class->letter, "js") == 0 || strcmp(class->letter, "j") == 0;
    return known || find_letter(class) != NULL ? s : NULL;
}

static bool put_zone(const Class* class, const char* text, double mm, LashFit* fit,
                     LashError* error) {
    LashZone* zone = class->hole ? &fit->hole : &fit->shaft;
    char grade[12];
    if (class->grade < 0) {
        snprintf(grade, sizeof grade, "01");
    } else {
        snprintf(grade, sizeof grade, "%d", class->grade);
    }
    snprintf(zone->name, sizeof zone->name, "%s%s", class->letter, grade);
    for (char* c = zone->name; class->hole && *c != '\0'; ++c)
        *c = (char)toupper((unsigned char)*c);
    double lower, upper;
    if (!limits(class, mm, &lower, &upper)) {
        char size[64];
        snprintf(size, sizeof size, "%s at %g mm", zone->name, mm);
        return refuse(error, text, "ISO 286 has no %s; choose another class", size);
    }
    zone->kind = class->hole ? LASH_ZONE_HOLE : LASH_ZONE_SHAFT;
    zone->lower = 1e-6 * lower;
    zone->upper = 1e-6 * upper;
    return true;
}

// "ISO 2768-m", "2768-m", "ISO2768-mK" (the second letter is of shape, not of size)
static const char* read_general(const char* s, int* class) {
    if (strncmp(s, "DIN", 3) == 0) s = skip_blanks(s + 3);
    if (strncmp(s, "ISO", 3) == 0) s = skip_blanks(s + 3);
    if (strncmp(s, "2768", 4) != 0) return NULL;
    s = skip_blanks(s + 4);
    if (strncmp(s, "-1", 2) == 0) s += 2;
    if (*s == '-') s = skip_blanks(s + 1);
    const char* at = *s == '\0' ? NULL : strchr(classes, *s);
    if (at == NULL) return NULL;
    *class = (int)(at - classes);
    ++s;
    if (*s == 'H' || *s == 'K' || *s == 'L') ++s;
    return s;
}

static bool put_general(int class, const char* text, double mm, LashFit* fit, LashError* error) {
    int step = 0;
    while (step < GENERAL_STEPS && mm > general[step][0]) ++step;
    double half = mm < 0.5 || step == GENERAL_STEPS ? 0 : general[step][1 + class];
    char name[2] = {classes[class], '\0'};
    if (half == 0) {
        char size[40];
        snprintf(size, sizeof size, "%s at %g mm", name, mm);
        return refuse(error, text, "ISO 2768-1 has no class %s; write the tolerance itself", size);
    }
    fit->general = (LashZone){LASH_ZONE_LENGTH, "", -1e-3 * half, 1e-3 * half};
    snprintf(fit->general.name, sizeof fit->general.name, "ISO 2768-%s", name);
    return true;
}

static const char expected[] =
    "expected a size in mm and a class, such as \"10 H7/g6\", \"10 H7\", \"120 ISO 2768-m\" or "
    "\"10 (+0.015 0)/(-0.005 -0.014)\"%s";

// "(+0.015 0)": upper and lower deviation in mm. NULL: not so.
static const char* read_deviations(const char* s, LashZone* zone) {
    if (*s != '(') return NULL;
    char *first, *second;
    double upper = strtod(s + 1, &first);
    double lower = strtod(first, &second);
    const char* end = skip_blanks(second);
    if (first == s + 1 || second == first || *end != ')' || !isfinite(upper) || !isfinite(lower))
        return NULL;
    zone->upper = 1e-3 * upper;
    zone->lower = 1e-3 * lower;
    snprintf(zone->name, sizeof zone->name, "(%+.6g %+.6g)", upper, lower);
    return end + 1;
}

// A class or deviations; side: what deviations stand for. NULL: neither, or an error.
static const char* read_zone(const char* s, const char* text, double mm, LashZoneKind side,
                             LashFit* fit, LashError* error) {
    LashZone own = {.kind = side};
    const char* end = read_deviations(s, &own);
    if (end != NULL) {
        if (!(own.lower <= own.upper)) {
            refuse(error, text, "write the upper deviation first: (+0.015 0)%s", "");
            return NULL;
        }
        LashZone* zone = side == LASH_ZONE_SHAFT ? &fit->shaft : &fit->general;
        if (side == LASH_ZONE_HOLE) zone = &fit->hole;
        *zone = own;
        return skip_blanks(end);
    }
    Class class;
    end = read_class(s, &class);
    if (end == NULL) {
        refuse(error, text, expected, "");
        return NULL;
    }
    if (class.hole != (side == LASH_ZONE_HOLE) && side != LASH_ZONE_LENGTH) {
        refuse(error, text,
               "a fit is written hole/shaft, the hole with a capital letter: 10 H7/g6%s", "");
        return NULL;
    }
    if (mm > 500) {
        refuse(error, text, "the tables of ISO 286 here end at 500 mm%s", "");
        return NULL;
    }
    return put_zone(&class, text, mm, fit, error) ? skip_blanks(end) : NULL;
}

bool lash_fit_parse(const char* text, LashFit* fit, LashError* error) {
    char* end;
    *fit = (LashFit){0};
    double mm = strtod(text, &end);
    if (end == text || !isfinite(mm)) return refuse(error, text, expected, "");
    if (*end == ',') return refuse(error, text, expected, "; decimals have a point");
    if (!(mm > 0)) return refuse(error, text, "the size must be positive%s", "");
    fit->size = 1e-3 * mm;
    const char* s = skip_blanks(end);
    if (strncmp(s, "mm", 2) == 0) s = skip_blanks(s + 2);
    int class;
    const char* rest = read_general(s, &class);
    if (rest != NULL && *skip_blanks(rest) == '\0') return put_general(class, text, mm, fit, error);
    bool pair = strchr(s, '/') != NULL;
    s = read_zone(s, text, mm, pair ? LASH_ZONE_HOLE : LASH_ZONE_LENGTH, fit, error);
    if (s == NULL || (*s == '\0' && !pair)) return s != NULL;
    if (*s != '/') return refuse(error, text, expected, "");
    s = read_zone(skip_blanks(s + 1), text, mm, LASH_ZONE_SHAFT, fit, error);
    if (s == NULL || *s == '\0') return s != NULL;
    return refuse(error, text, expected, "");
}

// ---- what follows from it -----------------------------------------------------------------------

LashFitPlay lash_fit_play(const LashFit* fit) {
    LashFitPlay play = {.least = fit->hole.lower - fit->shaft.upper,
                        .largest = fit->hole.upper - fit->shaft.lower};
    play.middle = 0.5 * (play.least + play.largest);
    return play;
}

static double normal_cdf(double x) {
    return 0.5 * erfc(-x * sqrt(0.5));
}

// P(hole < shaft) = integral over the hole's density of P(shaft > hole); Simpson over its zone.
double lash_fit_interference(const LashFit* fit, double cpk) {
    enum { INTERVALS = 2000 };
    const LashZone *hole = &fit->hole, *shaft = &fit->shaft;
    double cut = 3 * cpk; // sigmas from the middle to the limits, both parts alike
    double inside = normal_cdf(cut) - normal_cdf(-cut);
    double hole_sigma = (hole->upper - hole->lower) / (2 * cut);
    double shaft_sigma = (shaft->upper - shaft->lower) / (2 * cut);
    double middle = lash_fit_play(fit).middle, sum = 0;
    for (int i = 0; i <= INTERVALS; ++i) {
        double x = cut * (2.0 * i / INTERVALS - 1);         // hole, in sigmas from its middle
        double z = (middle + x * hole_sigma) / shaft_sigma; // shafts above this do not enter
        double beyond = (normal_cdf(cut) - normal_cdf(fmin(fmax(z, -cut), cut))) / inside;
        double weight = i == 0 || i == INTERVALS ? 1 : 2 + 2 * (i % 2);
        sum += weight * exp(-0.5 * x * x) * beyond;
    }
    double share = sum * (2 * cut / INTERVALS) / 3 / (sqrt(2 * LASH_PI) * inside);
    return fmin(fmax(share, 0), 1);
}

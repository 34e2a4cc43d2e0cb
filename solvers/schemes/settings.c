// Settings of a run: defaults, ranges, which of them a scheme reads, and the options that schemes
// declare in their files.
//
// Options of all schemes are numbered by walking the table: scheme by scheme, each name where it
// stands first. A value that is not given is NaN, and then as the scheme declares it.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "solvers/schemes/scheme.h"

const char* const lash_truth_names[3] = {"false", "true", NULL};

// --- Options -------------------------------------------------------------------------------------

static const LashOption* option_of(const Scheme* scheme, const char* name) {
    for (int i = 0; i < scheme->options; ++i) {
        if (strcmp(scheme->option[i].name, name) == 0) return &scheme->option[i];
    }
    return NULL;
}

// Is option i of the scheme one that no scheme before it has?
static bool is_first(int scheme, int i) {
    const char* name = scheme_at(scheme)->option[i].name;
    for (int k = 0; k < scheme; ++k) {
        if (option_of(scheme_at(k), name) != NULL) return false;
    }
    return true;
}

const LashOption* lash_option(int number) {
    int n = 0;
    for (int s = 0; s < LASH_SCHEMES; ++s) {
        for (int i = 0; i < scheme_at(s)->options; ++i) {
            if (is_first(s, i) && n++ == number) return &scheme_at(s)->option[i];
        }
    }
    return NULL;
}

int lash_option_count(void) {
    int n = 0;
    while (lash_option(n) != NULL) ++n;
    LASH_ASSERT(n <= LASH_MAX_OPTIONS);
    return n;
}

static int number_of(const char* name) {
    for (int n = 0; lash_option(n) != NULL; ++n) {
        if (strcmp(lash_option(n)->name, name) == 0) return n;
    }
    return -1;
}

const LashOption* lash_scheme_option(LashScheme scheme, const char* name) {
    return option_of(scheme_at(scheme), name);
}

bool lash_settings_set(LashSettings* settings, const char* option, double value) {
    int n = number_of(option);
    if (n < 0) return false;
    settings->option[n] = value;
    return true;
}

bool lash_settings_choose(LashSettings* settings, const char* option, const char* name) {
    int n = number_of(option);
    const char* const* names = n < 0 ? NULL : lash_option(n)->names;
    for (int i = 0; names != NULL && names[i] != NULL; ++i) {
        if (strcmp(names[i], name) != 0) continue;
        settings->option[n] = i;
        return true;
    }
    return false;
}

double lash_settings_option(const LashSettings* settings, const char* option) {
    const LashOption* own = lash_scheme_option(settings->scheme, option);
    if (own == NULL) return NAN;
    double given = settings->option[number_of(option)];
    return isnan(given) ? own->value : given;
}

void scheme_options(const LashSettings* settings, double* value) {
    const Scheme* scheme = scheme_of(settings);
    for (int i = 0; i < scheme->options; ++i)
        value[i] = lash_settings_option(settings, scheme->option[i].name);
}

// --- Which settings a scheme reads ---------------------------------------------------------------

static const struct {
    const char* setting;
    unsigned uses;
} known[] = {{"theta", USES_THETA},
             {"direction", USES_DIRECTION},
             {"forecast", USES_FORECAST},
             {"gamma", USES_FORECAST},
             {"coupled", USES_COUPLED},
             {"variant", USES_VARIANT},
             {"fremond", USES_FREMOND},
             {"joint friction", USES_JOINT_FRICTION},
             {"restitution", USES_RESTITUTION}};

bool lash_scheme_uses(LashScheme scheme, const char* setting) {
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(known[i].setting, setting) == 0)
            return (scheme_at(scheme)->uses & known[i].uses) != 0;
    }
    return number_of(setting) < 0 || lash_scheme_option(scheme, setting) != NULL;
}

void lash_scheme_list(const char* setting, char* text, size_t size) {
    int count = 0, written = 0;
    for (int s = 0; s < LASH_SCHEMES; ++s) count += lash_scheme_uses((LashScheme)s, setting);
    text[0] = '\0';
    for (int s = 0; s < LASH_SCHEMES; ++s) {
        if (!lash_scheme_uses((LashScheme)s, setting)) continue;
        const char* before = written == 0 ? "" : ", ";
        if (written > 0 && written == count - 1) before = " or ";
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", before, lash_scheme_name((LashScheme)s));
        ++written;
    }
}

const char* lash_settings_unused(const LashSettings* settings) {
    const LashSettings plain = lash_settings();
    const struct {
        const char* setting;
        bool given;
    } other[] = {{"theta", settings->theta != plain.theta},
                 {"direction", settings->direction != plain.direction},
                 {"forecast", settings->forecast != plain.forecast},
                 {"gamma", settings->gamma != plain.gamma},
                 {"coupled", settings->coupled != plain.coupled},
                 {"variant", settings->variant != plain.variant}};
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i) {
        if (other[i].given && !lash_scheme_uses(settings->scheme, other[i].setting))
            return other[i].setting;
    }
    for (int n = 0; lash_option(n) != NULL; ++n) {
        const char* name = lash_option(n)->name;
        if (!isnan(settings->option[n]) && lash_scheme_option(settings->scheme, name) == NULL)
            return name;
    }
    return NULL;
}

// --- Defaults and ranges -------------------------------------------------------------------------

LashSettings lash_settings(void) {
    LashSettings settings = {.scheme = LASH_COMBINED,
                             .h = 1e-4,
                             .theta = 0.5,
                             .direction = LASH_AT_MIDPOINT,
                             .forecast = LASH_FORECAST_FREE,
                             .gamma = 0.5,
                             .project_all = true,
                             .tolerance_position = 1e-10,
                             .tolerance_velocity = 1e-10,
                             .tolerance_solver = 1e-12,
                             .max_iterations = 50,
                             .max_substeps = 1};
    for (int i = 0; i < LASH_MAX_OPTIONS; ++i) settings.option[i] = NAN;
    return settings;
}

static bool in_range(double value, double low, double high, const char* key, LashError* error) {
    if (value >= low && value <= high) return true; // false for NaN
    return lash_error_set(error, LASH_ERROR_MODEL, key, "must lie in [%g, %g], got %g", low, high,
                          value);
}

static bool law_fits(const LashSettings* settings, LashError* error) {
    if (settings->law != LASH_FREMOND || scheme_of(settings)->uses & USES_FREMOND) return true;
    char list[160];
    lash_scheme_list("fremond", list, sizeof list);
    return lash_error_set(error, LASH_ERROR_MODEL, "simulation.law",
                          "Fremond's law is one of velocities over a step: use it with %s, not "
                          "with %s",
                          list, lash_scheme_name(settings->scheme));
}

// One of the names that the scheme takes.
static bool is_name(const LashOption* option, double value, const char* key, LashError* error) {
    if (value >= option->low && value <= option->high && value == floor(value)) return true;
    char list[160] = "";
    for (int i = (int)option->low; i <= (int)option->high; ++i) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s'%s'", used == 0 ? "" : ", ",
                 option->names[i]);
    }
    int count = 0;
    while (option->names[count] != NULL) ++count;
    const char* got = value >= 0 && value < count ? option->names[(int)value] : "another";
    return lash_error_set(error, LASH_ERROR_MODEL, key,
                          "expected one of %s with this scheme, "
                          "got '%s'",
                          list, got);
}

static bool options_fit(const LashSettings* settings, LashError* error) {
    const Scheme* scheme = scheme_of(settings);
    double value[SCHEME_OPTIONS];
    scheme_options(settings, value);
    for (int i = 0; i < scheme->options; ++i) {
        const LashOption* option = &scheme->option[i];
        char key[64];
        snprintf(key, sizeof key, "simulation.%s", option->name);
        bool good = option->names == NULL
                        ? in_range(value[i], option->low, option->high, key, error)
                        : is_name(option, value[i], key, error);
        if (!good) return false;
    }
    return scheme->check == NULL || scheme->check(value, error);
}

bool lash_settings_check(const LashSettings* settings, LashError* error) {
    if (settings == NULL) return lash_error_null(error, "settings");
    return in_range(settings->h, DBL_MIN, 1e6, "simulation.step", error) &&
           in_range(settings->theta, 0.5, 1, "simulation.theta", error) &&
           in_range(settings->gamma, 0, 2, "simulation.gamma", error) &&
           in_range(settings->tolerance_position, 1e-15, 1, "simulation.tolerance_position",
                    error) &&
           in_range(settings->tolerance_velocity, 1e-15, 1, "simulation.tolerance_velocity",
                    error) &&
           in_range(settings->tolerance_solver, 1e-16, 1, "simulation.tolerance_solver", error) &&
           in_range(settings->max_iterations, 1, 10000, "simulation.max_iterations", error) &&
           in_range(settings->max_substeps, 1, 1 << 20, "simulation.substeps", error) &&
           options_fit(settings, error) && law_fits(settings, error);
}

bool lash_settings_fit(const LashSettings* settings, const LashSystem* system, LashError* error) {
    const Scheme* scheme = scheme_of(settings);
    double value[SCHEME_OPTIONS];
    scheme_options(settings, value);
    return scheme->fits == NULL || scheme->fits(system, value, error);
}

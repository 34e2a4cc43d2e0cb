// The table of schemes: names, and which settings each of them reads.
#include "solvers/schemes/scheme.h"

#include <string.h>

#include "core/error.h"

#define DECLARE(value, file, name) extern const Scheme scheme_##file;
LASH_SCHEME_TABLE(DECLARE)

#define ENTRY(value, file, name) [value] = &scheme_##file,
static const Scheme* const table[LASH_SCHEMES] = {LASH_SCHEME_TABLE(ENTRY)};

#define NAME(value, file, name) [value] = name,
const char* const lash_scheme_names[LASH_SCHEMES + 1] = {LASH_SCHEME_TABLE(NAME)};

const Scheme* scheme_of(const LashSettings* settings) {
    LASH_ASSERT(settings->scheme >= 0 && settings->scheme < LASH_SCHEMES);
    return table[settings->scheme];
}

const char* lash_scheme_name(LashScheme scheme) {
    LASH_ASSERT(scheme >= 0 && scheme < LASH_SCHEMES);
    return lash_scheme_names[scheme];
}

const char* lash_scheme_summary(LashScheme scheme) {
    LASH_ASSERT(scheme >= 0 && scheme < LASH_SCHEMES);
    return table[scheme]->summary;
}

// Settings that not every scheme reads.
static const struct {
    const char* setting;
    unsigned uses;
} known[] = {{"theta", USES_THETA},
             {"direction", USES_DIRECTION},
             {"forecast", USES_FORECAST},
             {"gamma", USES_FORECAST},
             {"coupled", USES_COUPLED},
             {"variant", USES_VARIANT},
             {"newmark_gamma", USES_NEWMARK},
             {"newmark_beta", USES_NEWMARK},
             {"fremond", USES_FREMOND},
             {"joint friction", USES_JOINT_FRICTION},
             {"restitution", USES_RESTITUTION}};

bool lash_scheme_uses(LashScheme scheme, const char* setting) {
    LASH_ASSERT(scheme >= 0 && scheme < LASH_SCHEMES);
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(known[i].setting, setting) == 0)
            return (table[scheme]->uses & known[i].uses) != 0;
    }
    return true;
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
                 {"variant", settings->variant != plain.variant},
                 {"newmark_gamma", settings->newmark_gamma != plain.newmark_gamma},
                 {"newmark_beta", settings->newmark_beta != plain.newmark_beta}};
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i) {
        if (other[i].given && !lash_scheme_uses(settings->scheme, other[i].setting))
            return other[i].setting;
    }
    return NULL;
}

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

bool lash_scheme_uses(LashScheme scheme, const char* setting) {
    static const struct {
        const char* setting;
        unsigned uses;
    } known[] = {{"theta", USES_THETA},       {"direction", USES_DIRECTION},
                 {"forecast", USES_FORECAST}, {"gamma", USES_FORECAST},
                 {"coupled", USES_COUPLED},   {"variant", USES_VARIANT},
                 {"fremond", USES_FREMOND},   {"joint friction", USES_JOINT_FRICTION}};
    LASH_ASSERT(scheme >= 0 && scheme < LASH_SCHEMES);
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(known[i].setting, setting) == 0)
            return (table[scheme]->uses & known[i].uses) != 0;
    }
    return true;
}

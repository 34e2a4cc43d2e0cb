// The table of schemes and their names.
#include "solvers/schemes/scheme.h"

#include "core/error.h"

#define DECLARE(value, file, name) extern const Scheme scheme_##file;
LASH_SCHEME_TABLE(DECLARE)

#define ENTRY(value, file, name) [value] = &scheme_##file,
static const Scheme* const table[LASH_SCHEMES] = {LASH_SCHEME_TABLE(ENTRY)};

#define NAME(value, file, name) [value] = name,
const char* const lash_scheme_names[LASH_SCHEMES + 1] = {LASH_SCHEME_TABLE(NAME)};

const Scheme* scheme_at(int number) {
    LASH_ASSERT(number >= 0 && number < LASH_SCHEMES);
    return table[number];
}

const Scheme* scheme_of(const LashSettings* settings) {
    return scheme_at(settings->scheme);
}

const char* lash_scheme_name(LashScheme scheme) {
    LASH_ASSERT(scheme >= 0 && scheme < LASH_SCHEMES);
    return lash_scheme_names[scheme];
}

const char* lash_scheme_summary(LashScheme scheme) {
    return scheme_at(scheme)->summary;
}

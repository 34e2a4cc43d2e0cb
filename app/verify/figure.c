// The list of all figures.
#include "app/verify/figure.h"

int figures_all(const Figure** figure) {
    const FigureTable table[] = {figures_examples(), figures_bar(), figures_mechanism()};
    int n = 0;
    for (size_t t = 0; t < sizeof table / sizeof *table; ++t) {
        for (int i = 0; i < table[t].count; ++i) {
            LASH_ASSERT(n < MAX_FIGURES);
            figure[n++] = &table[t].figure[i];
        }
    }
    return n;
}

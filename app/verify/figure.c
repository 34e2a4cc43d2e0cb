// The list of all figures: by paper, figures before tables, by number.
#include "app/verify/figure.h"

#include <stdlib.h>
#include <string.h>

static double place_of(const Figure* figure) {
    const char* number = strchr(figure->name, ' ');
    double place = number != NULL ? strtod(number, NULL) : 0;
    return strncmp(figure->name, "table", 5) == 0 ? 1000 + place : place;
}

static int compare(const void* first, const void* second) {
    const Figure *a = *(const Figure*const*)first, *b = *(const Figure*const*)second;
    int paper = strcmp(a->paper, b->paper);
    if (paper != 0) return paper;
    double difference = place_of(a) - place_of(b);
    return (difference > 0) - (difference < 0);
}

int figures_all(const Figure** figure) {
    const FigureTable table[] = {figures_examples(), figures_bar(),     figures_mechanism(),
                                 figures_potra(),    figures_fremond(), figures_schindler(),
                                 figures_sketch()};
    int n = 0;
    for (size_t t = 0; t < sizeof table / sizeof *table; ++t) {
        for (int i = 0; i < table[t].count; ++i) {
            LASH_ASSERT(n < MAX_FIGURES);
            figure[n++] = &table[t].figure[i];
        }
    }
    qsort(figure, (size_t)n, sizeof *figure, compare);
    return n;
}

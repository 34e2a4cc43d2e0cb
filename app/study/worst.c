// Search for the worst case.
//
// The box is the product of the tolerance zones. From the worst samples and the corners they point
// at, parameters are moved one at a time to either end of their zones, then all moves that helped
// are made together; where nothing helps, the moves are halved, down to 1/32 of a zone. For an
// output that rises or falls with each parameter the first round finds the corner. It is a local
// search: what it finds has been run, so it is never better than the worst sample, but a worse point
// may exist.
//
// Every decision follows from the values of points that were run before, in batches, and the points
// are kept in their order. So a search that is interrupted and taken up again, on any number of
// processes, runs the same points: it begins anew and finds in the store what it has run already.
#include "app/study/worst.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"

enum { SEEDS = 3, FINEST = 32 };

int64_t lash_worst_budget(const LashStudy* study) {
    return 20 + 20 * (int64_t)study->active; // a corner costs 6 per parameter, and some climbs more
}

int lash_worst_sides(const LashStudy* study, int output, LashWorstSide side[2]) {
    const LashStudyOutput* study_output = &study->output[output];
    bool plain = isnan(study_output->lsl) && isnan(study_output->usl);
    int count = 0;
    if (plain || !isnan(study_output->usl)) side[count++] = LASH_WORST_HIGH;
    if (plain || !isnan(study_output->lsl)) side[count++] = LASH_WORST_LOW;
    return count;
}

void lash_worst_box(const LashWorstSearch* search, int k, double* low, double* high) {
    const LashStudyParameter* study_parameter = &search->study->parameter[k];
    lash_distribution_range(&study_parameter->distribution, low, high);
    for (int64_t i = 0; i < search->samples->rows; ++i) {
        const LashSample* row = &search->samples->sample[i];
        if (row->status != LASH_SAMPLE_OK) continue;
        *low = fmin(*low, row->x[k]);
        *high = fmax(*high, row->x[k]);
    }
}

// ---- points -------------------------------------------------------------------------------------

typedef struct Climb {
    const LashWorstSearch* search;
    LashWorstCase* result;
    LashError* error;
    int64_t budget;
    double *low, *high; // (parameters) the box
    double *x, value;   // where it stands, how bad that is
    double* batch;      // points to run next
    double* bad;        // how bad each of them is
    int count, room;
    int64_t* visited; // (budget) rows that this search has asked for
    bool ended;       // by the budget, an interrupt or an error
} Climb;

static size_t point_bytes(const Climb* c) {
    return (size_t)c->search->study->parameters * sizeof(double);
}

// Larger is worse; -INFINITY: the point could not be run, INFINITY: what has limits never happened.
static double badness(const Climb* c, const LashSample* row) {
    const LashStudyOutput* study_output = &c->search->study->output[c->result->output];
    double y = row->y[c->result->output];
    if (row->status != LASH_SAMPLE_OK) return -INFINITY;
    if (!isnan(y)) return c->result->side * y;
    return isnan(study_output->lsl) && isnan(study_output->usl) ? -INFINITY : INFINITY;
}

// The row of a point that was run; -1: none.
static int64_t find_row(const Climb* c, const double* x) {
    const LashStoreTable* rows = c->search->rows;
    for (int64_t i = 0; i < rows->rows; ++i) {
        if (memcmp(rows->sample[i].x, x, point_bytes(c)) == 0) return i;
    }
    return -1;
}

static double* add_point(Climb* c, const double* x) {
    LASH_ASSERT(c->count < c->room);
    double* point = c->batch + (size_t)c->count * (size_t)c->search->study->parameters;
    memcpy(point, x, point_bytes(c));
    ++c->count;
    return point;
}

// Adds a point that differs from x in parameter k.
static void add_move(Climb* c, const double* x, int k, double value) {
    value = fmin(fmax(value, c->low[k]), c->high[k]);
    if (value != x[k]) add_point(c, x)[k] = value;
}

static bool is_visited(const Climb* c, int64_t row) {
    for (int64_t i = 0; i < c->result->points; ++i) {
        if (c->visited[i] == row) return true;
    }
    return false;
}

// Points of the batch that nobody has run, each once, packed to x; the batch is cut where the budget
// ends.
static int missing_points(Climb* c, double* x) {
    int missing = 0;
    int64_t used = c->result->points;
    size_t n = (size_t)c->search->study->parameters;
    for (int i = 0; i < c->count; ++i) {
        const double* point = c->batch + (size_t)i * n;
        int64_t row = find_row(c, point);
        bool known = row >= 0 && is_visited(c, row);
        for (int j = 0; j < i && !known; ++j)
            known = memcmp(c->batch + (size_t)j * n, point, point_bytes(c)) == 0;
        if (known) continue;
        if (used == c->budget) {
            c->ended = true;
            c->count = i;
            break;
        }
        ++used;
        if (row < 0) memcpy(x + n * (size_t)missing++, point, point_bytes(c));
    }
    return missing;
}

// Runs the batch and fills bad (count).
static void run_batch(Climb* c) {
    const LashWorstSearch* worst_search = c->search;
    size_t n = (size_t)worst_search->study->parameters;
    double* x = lash_alloc((size_t)c->count * point_bytes(c) + 1);
    int missing = missing_points(c, x);
    if (missing > 0 && (worst_search->run == NULL ||
                        !worst_search->run(worst_search->context, x, missing, c->error)))
        c->ended = true;
    lash_free(x);
    for (int i = 0; i < c->count; ++i) {
        int64_t row = find_row(c, c->batch + (size_t)i * n);
        c->bad[i] = row >= 0 ? badness(c, &worst_search->rows->sample[row]) : -INFINITY;
        c->ended = c->ended || row < 0;
        if (row < 0 || is_visited(c, row)) continue;
        c->visited[c->result->points++] = row;
        c->result->unusable += worst_search->rows->sample[row].status != LASH_SAMPLE_OK;
    }
}

static bool is_better(const Climb* c, double bad) {
    return bad > c->value;
}

// ---- moves --------------------------------------------------------------------------------------

// All single moves of this size: to the ends of the zones (part 1), or by a part of their width.
static void list_moves(Climb* c, const double* x, double part) {
    const LashStudy* study = c->search->study;
    c->count = 0;
    for (int k = 0; k < study->parameters; ++k) {
        const LashDistribution* d = &study->parameter[k].distribution;
        double width = c->high[k] - c->low[k];
        if (study->parameter[k].active < 0) continue;
        if (d->type == LASH_DISCRETE) {
            for (int i = 0; i < d->count && part == 1; ++i) add_move(c, x, k, d->values[i]);
            continue;
        }
        add_move(c, x, k, part == 1 ? c->low[k] : x[k] - part * width);
        add_move(c, x, k, part == 1 ? c->high[k] : x[k] + part * width);
    }
}

// Moves to the best point of the batch, if one is better; where several parameters helped, all of
// their moves together are tried first.
static bool take_best(Climb* c) {
    size_t n = (size_t)c->search->study->parameters;
    double* joint = lash_alloc(point_bytes(c));
    double* gain = lash_alloc(point_bytes(c));
    int best = -1, helped = 0;
    memcpy(joint, c->x, point_bytes(c));
    for (int i = 0; i < c->count; ++i) {
        if (!is_better(c, c->bad[i])) continue;
        if (best < 0 || c->bad[i] > c->bad[best]) best = i;
        for (size_t k = 0; k < n; ++k) { // the parameter that this point moves
            double moved = c->batch[(size_t)i * n + k];
            if (moved == c->x[k] || c->bad[i] - c->value <= gain[k]) continue;
            helped += gain[k] == 0;
            gain[k] = c->bad[i] - c->value;
            joint[k] = moved;
        }
    }
    if (best >= 0) {
        double bad = c->bad[best];
        memcpy(c->x, c->batch + (size_t)best * n, point_bytes(c));
        if (helped > 1 && !c->ended && bad < INFINITY) {
            c->count = 0;
            add_point(c, joint);
            run_batch(c);
            if (c->count > 0 && c->bad[0] > bad) {
                memcpy(c->x, joint, point_bytes(c));
                bad = c->bad[0];
            }
        }
        c->value = bad;
    }
    lash_free(joint);
    lash_free(gain);
    return best >= 0;
}

// best: of the climbs before; one that stays behind it is not refined.
static double climb(Climb* c, double best) {
    const double behind = 0.25;
    for (double part = 1; part >= 1.0 / FINEST && !c->ended && c->value < INFINITY;) {
        list_moves(c, c->x, part);
        run_batch(c);
        if (!take_best(c)) part *= 0.5;
        if (part < behind && c->value <= best) break;
    }
    return fmax(best, c->value);
}

// ---- starts -------------------------------------------------------------------------------------

// The worst samples: rows of the table, worst first.
static int find_seeds(const Climb* c, int64_t seed[SEEDS]) {
    const LashStoreTable* table = c->search->samples;
    int count = 0;
    for (int64_t i = 0; i < table->rows; ++i) {
        double bad = badness(c, &table->sample[i]);
        if (bad == -INFINITY) continue;
        int place = count;
        while (place > 0 && bad > badness(c, &table->sample[seed[place - 1]])) --place;
        if (place == SEEDS) continue;
        if (count < SEEDS) ++count;
        for (int k = count - 1; k > place; --k) seed[k] = seed[k - 1];
        seed[place] = i;
    }
    return count;
}

// Does the output get worse as parameter k rises? By the covariance over the samples.
static bool rises(const Climb* c, int k) {
    const LashStoreTable* table = c->search->samples;
    double n = 0, sx = 0, sy = 0, sum = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int64_t i = 0; i < table->rows; ++i) {
            double bad = badness(c, &table->sample[i]), x = table->sample[i].x[k];
            if (!isfinite(bad)) continue;
            if (pass == 0) {
                n += 1;
                sx += x;
                sy += bad;
            } else {
                sum += (x - sx / n) * (bad - sy / n);
            }
        }
    }
    return sum > 0;
}

// The corner that the samples point at, and those nearest to the worst of them.
static void list_corners(Climb* c, const int64_t* seed, int seeds) {
    const LashStudy* study = c->search->study;
    double* x = lash_alloc(point_bytes(c));
    c->count = 0;
    for (int i = -1; i < seeds; ++i) {
        const double* from = c->search->samples->sample[seed[i < 0 ? 0 : i]].x;
        for (int k = 0; k < study->parameters; ++k) {
            const LashStudyParameter* study_parameter = &study->parameter[k];
            bool high = i < 0 ? rises(c, k) : from[k] > study_parameter->nominal;
            x[k] = high ? c->high[k] : c->low[k];
            if (study_parameter->active < 0) x[k] = from[k];
        }
        add_point(c, x);
    }
    run_batch(c);
    lash_free(x);
}

// The starts of climbs: each seed or the corner nearest to it, whichever is worse; and the corner
// that all samples point at, in place of the first.
static void climb_all(Climb* c, const int64_t* seed, int seeds) {
    const LashStoreTable* table = c->search->samples;
    size_t n = (size_t)c->search->study->parameters;
    double *start = lash_alloc(SEEDS * point_bytes(c)), value[SEEDS];
    list_corners(c, seed, seeds);
    for (int i = 0; i < seeds; ++i) {
        memcpy(start + (size_t)i * n, table->sample[seed[i]].x, point_bytes(c));
        value[i] = badness(c, &table->sample[seed[i]]);
        const int corners[] = {i + 1, 0};
        for (int k = 0; k < (i == 0 ? 2 : 1); ++k) {
            if (corners[k] >= c->count || !(c->bad[corners[k]] > value[i])) continue;
            memcpy(start + (size_t)i * n, c->batch + (size_t)corners[k] * n, point_bytes(c));
            value[i] = c->bad[corners[k]];
        }
    }
    double best = -INFINITY;
    for (int i = 0; i < seeds && !c->ended; ++i) {
        memcpy(c->x, start + (size_t)i * n, point_bytes(c));
        c->value = value[i];
        best = climb(c, best);
    }
    lash_free(start);
}

// Of all that was run, by whichever search, and of the samples: the worst.
static void keep_worst(const Climb* c, int64_t sample) {
    LashWorstCase* result = c->result;
    const LashStoreTable* rows = c->search->rows;
    const LashSample* worst = &c->search->samples->sample[sample];
    result->sample = worst->id;
    result->sample_value = worst->y[result->output];
    result->is_sample = true;
    for (int64_t i = 0; i < rows->rows; ++i) {
        if (!(badness(c, &rows->sample[i]) > badness(c, worst))) continue;
        worst = &rows->sample[i];
        result->is_sample = false;
    }
    result->value = worst->y[result->output];
    result->x = worst->x;
}

bool lash_worst_find(const LashWorstSearch* search, int output, LashWorstSide side,
                     LashWorstCase* result, LashError* error) {
    const LashStudy* study = search->study;
    size_t n = (size_t)study->parameters;
    LashError local = {0};
    int64_t seed[SEEDS];
    *result = (LashWorstCase){.output = output, .side = side, .value = NAN, .sample_value = NAN};
    Climb c = {.search = search, .result = result, .error = error != NULL ? error : &local};
    int seeds = find_seeds(&c, seed);
    if (seeds == 0) return true;
    c.room = SEEDS + 1;
    for (int k = 0; k < study->parameters; ++k)
        c.room += study->parameter[k].type == LASH_DISCRETE ? study->parameter[k].value_count : 2;
    c.budget = search->budget > 0 ? search->budget : lash_worst_budget(study);
    c.visited = lash_alloc((size_t)c.budget * sizeof *c.visited);
    c.low = lash_alloc(n * sizeof *c.low);
    c.high = lash_alloc(n * sizeof *c.high);
    c.x = lash_alloc(n * sizeof *c.x);
    c.batch = lash_alloc((size_t)c.room * n * sizeof *c.batch);
    c.bad = lash_alloc((size_t)c.room * sizeof *c.bad);
    for (int k = 0; k < study->parameters; ++k) lash_worst_box(search, k, &c.low[k], &c.high[k]);
    climb_all(&c, seed, seeds);
    result->complete = !c.ended;
    keep_worst(&c, seed[0]);
    lash_free(c.visited);
    lash_free(c.low);
    lash_free(c.high);
    lash_free(c.x);
    lash_free(c.batch);
    lash_free(c.bad);
    return c.error->status == LASH_OK;
}

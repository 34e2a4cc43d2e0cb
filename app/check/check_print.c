// lash check: redundancies and singular positions in words and as JSON.
#include <math.h>
#include <stdio.h>

#include "app/check/check_internal.h"
#include "app/cli/report.h"

static void name_of(const CheckSubject* subject, int i, char* text, size_t size) {
    const LashInteractionList* list = lash_sim_interactions(subject->sim);
    subject->system->name(subject->system, list->item[i].id, text, size);
}

static void print_release(const CheckSubject* subject, const CheckRedundancy* redundancy) {
    char name[CHECK_NAME];
    int left = redundancy->rows;
    bool shared = false;
    if (redundancy->releases == 0) return;
    for (int k = 0; k < redundancy->releases; ++k) {
        const CheckRelease* release = &redundancy->release[k];
        name_of(subject, release->interaction, name, sizeof name);
        printf("%s", k == 0 ? "    " : " and ");
        if (release->make == NULL) printf("remove %s", name);
        if (release->make != NULL) printf("make %s %s", name, release->make);
        left -= release->rows;
        shared |= release->shared;
    }
    if (left > 0) printf(", %d %s", left, app_plural(left, "row stays", "rows stay"));
    printf("%s\n", shared ? " (part of several loops: check again)" : "");
}

void check_redundancies_print(const CheckSubject* subject, const CheckRedundancies* list) {
    enum { NAMED = 12 };
    char name[CHECK_NAME];
    if (list->count == 0) return;
    int rows = subject->freedom->rows - subject->freedom->rank;
    printf(
        "redundant    %d %s what others say, in %d %s of joints; reactions there are not\n"
        "             unique (those of least norm are reported). The changes named add no "
        "freedom\n",
        rows, app_plural(rows, "row repeats", "rows repeat"), list->count,
        app_plural(list->count, "loop", "loops"));
    for (int i = 0; i < list->count && i < CHECK_LINES; ++i) {
        const CheckRedundancy* redundancy = &list->item[i];
        printf("  %d %s in ", redundancy->rows, app_plural(redundancy->rows, "row", "rows"));
        for (int k = 0; k < redundancy->members && k < NAMED; ++k) {
            name_of(subject, redundancy->member[k], name, sizeof name);
            printf("%s%s", k == 0 ? "" : ", ", name);
        }
        if (redundancy->members > NAMED) printf(" and %d more", redundancy->members - NAMED);
        printf("\n");
        print_release(subject, redundancy);
    }
    if (list->count > CHECK_LINES)
        printf("  and %d more (--json lists them)\n", list->count - CHECK_LINES);
}

void check_redundancies_put(AppJson* json, const CheckSubject* subject,
                            const CheckRedundancies* list) {
    char name[CHECK_NAME];
    app_json_key(json, "redundancies");
    app_json_begin_array(json);
    for (int i = 0; i < list->count; ++i) {
        const CheckRedundancy* redundancy = &list->item[i];
        app_json_begin_object(json);
        app_json_put_integer(json, "rows", redundancy->rows);
        app_json_key(json, "joints");
        app_json_begin_array(json);
        for (int k = 0; k < redundancy->members; ++k) {
            name_of(subject, redundancy->member[k], name, sizeof name);
            app_json_text(json, name);
        }
        app_json_end_array(json);
        app_json_key(json, "release");
        app_json_begin_array(json);
        for (int k = 0; k < redundancy->releases; ++k) {
            name_of(subject, redundancy->release[k].interaction, name, sizeof name);
            app_json_begin_object(json);
            app_json_put_text(json, "joint", name);
            app_json_put_text(json, "make", redundancy->release[k].make); // null: remove it
            app_json_put_integer(json, "rows", redundancy->release[k].rows);
            app_json_put_bool(json, "shared", redundancy->release[k].shared);
            app_json_end_object(json);
        }
        app_json_end_array(json);
        app_json_end_object(json);
    }
    app_json_end_array(json);
}

// ---- singular positions -------------------------------------------------------------------------

// Joints that take part in the weakest impulse: 1 / sum of squared shares.
static double weak_joints(const CheckSubject* subject) {
    const LashInteractionList* list = lash_sim_interactions(subject->sim);
    double sum = 0;
    for (int i = 0; i < list->bilateral; ++i) {
        double share = 0;
        for (int k = list->item[i].row; k < list->item[i].row + list->item[i].rows; ++k)
            share += subject->freedom->weak_impulse[k] * subject->freedom->weak_impulse[k];
        sum += share * share;
    }
    return sum > 0 ? 1 / sum : 1;
}

// A long chain is soft without being near anything: its smallest singular value falls with the
// square of its length, so the limit does, too.
static double near_limit(const CheckSubject* subject) {
    double n = weak_joints(subject);
    return 0.02 / (n * n);
}

CheckPosition check_position(const CheckSubject* subject) {
    const LashFreedom* f = subject->freedom;
    if (f->rank_nearby > f->rank) return CHECK_SINGULAR;
    if (f->weak_impulse == NULL || !(f->smallest < near_limit(subject))) return CHECK_REGULAR;
    return CHECK_NEAR_SINGULAR;
}

// Names of the joints with a good share of the weakest impulse, at most 6.
static int weakest(const CheckSubject* subject, int found[6]) {
    const LashInteractionList* list = lash_sim_interactions(subject->sim);
    double largest = 0;
    int n = 0;
    for (int k = 0; k < subject->freedom->rows; ++k)
        largest = fmax(largest, fabs(subject->freedom->weak_impulse[k]));
    for (int i = 0; i < list->bilateral && n < 6; ++i) {
        double share = 0;
        for (int k = list->item[i].row; k < list->item[i].row + list->item[i].rows; ++k)
            share = fmax(share, fabs(subject->freedom->weak_impulse[k]));
        if (share > 0.2 * largest) found[n++] = i;
    }
    return n;
}

void check_position_print(const CheckSubject* subject) {
    const LashFreedom* f = subject->freedom;
    char text[256], name[CHECK_NAME];
    int found[6], extra = f->rank_nearby - f->rank;
    switch (check_position(subject)) {
        case CHECK_REGULAR:
            break;
        case CHECK_SINGULAR:
            printf(
                "position     SINGULAR: a little off, %d more %s; here the mechanism can begin\n"
                "             to move in %d more %s, and forces along %s are not determined\n",
                extra, app_plural(extra, "row acts", "rows act"), extra,
                app_plural(extra, "way", "ways"), app_plural(extra, "it", "them"));
            break;
        case CHECK_NEAR_SINGULAR:
            check_describe(subject, f->weak_motion, text, sizeof text);
            printf(
                "position     nearly singular: smallest singular value %.3g of the rows (limit "
                "%.3g);\n             forces grow up to %.3g times, in",
                f->smallest, near_limit(subject), 1 / f->smallest);
            for (int k = 0, n = weakest(subject, found); k < n; ++k) {
                name_of(subject, found[k], name, sizeof name);
                printf("%s %s", k == 0 ? "" : ",", name);
            }
            printf("\n             nearly free: %s\n", text);
            break;
    }
    if (f->mismatch > 1e-9) {
        printf(
            "             redundant rows agree to %.1e only: axes or points do not fit exactly\n",
            f->mismatch);
    }
}

void check_position_put(AppJson* json, const CheckSubject* subject) {
    static const char* const names[] = {"regular", "nearly singular", "singular"};
    const LashFreedom* f = subject->freedom;
    CheckPosition position = check_position(subject);
    char text[256], name[CHECK_NAME];
    int found[6];
    app_json_key(json, "position");
    app_json_begin_object(json);
    app_json_put_text(json, "kind", names[position]);
    app_json_put_integer(json, "rank", f->rank);
    app_json_put_integer(json, "rank_nearby", f->rank_nearby);
    app_json_put_number(json, "smallest_singular_value", f->smallest);
    app_json_put_number(json, "limit", f->weak_impulse == NULL ? NAN : near_limit(subject));
    app_json_put_number(json, "mismatch", f->mismatch);
    if (position == CHECK_NEAR_SINGULAR) {
        check_describe(subject, f->weak_motion, text, sizeof text);
        app_json_put_text(json, "nearly_free", text);
        app_json_key(json, "joints");
        app_json_begin_array(json);
        for (int k = 0, n = weakest(subject, found); k < n; ++k) {
            name_of(subject, found[k], name, sizeof name);
            app_json_text(json, name);
        }
        app_json_end_array(json);
    }
    app_json_end_object(json);
}

// The stages of a draft, and its ground.
#include "app/draft/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"

const char* const draft_confidence_name[3] = {"sure", "likely", "guess"};

void draft_add_note(Draft* draft, const char* format, ...) {
    DraftNote* more = lash_alloc(((size_t)draft->notes + 1) * sizeof *more);
    if (draft->notes > 0) memcpy(more, draft->note, (size_t)draft->notes * sizeof *more);
    lash_free(draft->note);
    draft->note = more;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(more[draft->notes++].text, sizeof more->text, format, arguments);
    va_end(arguments);
}

static bool named_ground(Draft* draft, const char* name, LashError* error) {
    for (int i = 0; i < draft->parts; ++i) {
        if (strcmp(draft->part[i].name, name) != 0 && strcmp(draft->part[i].path, name) != 0)
            continue;
        draft->body[draft->part[i].body].ground = true;
        return true;
    }
    char list[160] = "";
    for (int i = 0; i < draft->parts && strlen(list) < 120; ++i) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.40s", i > 0 ? ", " : "",
                 draft->part[i].name);
    }
    return lash_error_set(error, LASH_ERROR_USAGE, "--ground",
                          "no part is named '%.60s'; there are %s%s", name, list,
                          strlen(list) >= 120 ? ", ..." : "");
}

// Words that people give to what does not move.
static bool is_named_ground(const char* name) {
    static const char* const words[] = {"frame",    "base",    "housing",  "casing",
                                        "chassis",  "ground",  "stand",    "bed",
                                        "pedestal", "gestell", "gehaeuse", "bati"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (draft_has_word(name, words[i])) return true;
    return false;
}

static const char* leaf_of(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static int joints_of(const Draft* draft, int body) {
    int count = 0;
    for (int i = 0; i < draft->joints; ++i)
        count += draft->joint[i].outer == body || draft->joint[i].inner == body;
    return count;
}

static bool is_better_ground(const Draft* draft, int body, int best) {
    int more = joints_of(draft, body) - joints_of(draft, best);
    return more > 0 || (more == 0 && draft->body[body].volume > draft->body[best].volume);
}

static int ground_by_name(Draft* draft) {
    int named = 0;
    for (int i = 0; i < draft->parts; ++i) {
        DraftBody* body = &draft->body[draft->part[i].body];
        if (body->ground || !is_named_ground(leaf_of(draft->part[i].path))) continue;
        body->ground = true;
        ++named;
        draft_add_note(draft, "ground: '%s', by its name; --ground NAME takes another", body->name);
    }
    return named;
}

bool draft_choose_ground(Draft* draft, const DraftOptions* options, LashError* error) {
    for (int i = 0; i < options->grounds; ++i)
        if (!named_ground(draft, options->ground[i], error)) return false;
    if (options->grounds > 0) return true;
    if (ground_by_name(draft) > 0) return true;
    int best = -1;
    for (int i = 0; i < draft->parts; ++i) { // of a sub-assembly named so, one part is the ground
        const char *path = draft->part[i].path, *below = strchr(path, '/');
        if (below == NULL || !is_named_ground(below)) continue;
        int b = draft->part[i].body;
        if (best < 0 || is_better_ground(draft, b, best)) best = b;
    }
    if (best >= 0) {
        draft->body[best].ground = true;
        draft_add_note(draft,
                       "ground: '%s', by the name of its sub-assembly; --ground NAME takes another",
                       draft->body[best].name);
        return true;
    }
    best = 0;
    for (int b = 1; b < draft->bodies; ++b)
        if (is_better_ground(draft, b, best)) best = b;
    draft->body[best].ground = true;
    draft_add_note(draft,
                   "ground: '%s', the part with most joints (%d); --ground NAME takes another",
                   draft->body[best].name, joints_of(draft, best));
    return true;
}

// What may be the reason, and what to do.
static bool no_joints(Draft* draft, LashError* error) {
    if (draft->bodies == 1) {
        return lash_error_set(error, LASH_ERROR_MODEL, "",
                              "all %d parts are held together by fasteners: nothing moves "
                              "(--fasteners keep leaves them apart)",
                              draft->parts);
    }
    draft_find_contacts(draft);
    if (draft->overlaps > 0) {
        return lash_error_set(error, LASH_ERROR_MODEL, "",
                              "no joint was found between the %d parts, and %s: they do not stand "
                              "in their places (export the assembly as one STEP file)",
                              draft->parts, draft->note[draft->notes - 1].text);
    }
    return lash_error_set(error, LASH_ERROR_MODEL, "",
                          "no pin in a bore, ball in a socket or guide was found between the %d "
                          "parts: do they stand in their places? (--clearance-max takes larger "
                          "plays)",
                          draft->parts);
}

Draft* draft_create(const LashShape* shape, const DraftOptions* options, LashError* error) {
    Draft* draft = lash_alloc(sizeof *draft);
    draft->shape = shape;
    bool good = draft_list_parts(draft, error);
    if (good) {
        draft_index_triangles(draft);
        draft_find_pairs(draft, options);
        draft_weld(draft, options);
        draft_sort_planes(draft);
        draft_find_guides(draft, options);
        good = draft->joints > 0 || no_joints(draft, error);
    }
    if (good) good = draft_choose_ground(draft, options, error);
    if (good) {
        draft_decide_types(draft);
        draft_attach_sizes(draft);
        draft_count_freedom(draft);
        draft_find_contacts(draft);
        return draft;
    }
    draft_destroy(draft);
    return NULL;
}

void draft_destroy(Draft* draft) {
    if (draft == NULL) return;
    void* owned[] = {draft->part,           draft->body,     draft->round,
                     draft->plane,          draft->joint,    draft->note,
                     draft->first_triangle, draft->triangle, draft->contact};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) lash_free(owned[i]);
    lash_free(draft);
}

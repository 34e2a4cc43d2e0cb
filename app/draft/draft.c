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

// Words that people give to what does not move, as a part of the path below its root.
static bool is_named_ground(const char* path) {
    static const char* const words[] = {"frame",    "base",    "housing",  "casing",
                                        "chassis",  "ground",  "stand",    "bed",
                                        "pedestal", "gestell", "gehaeuse", "bati"};
    const char* below = strchr(path, '/');
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (draft_has_word(below != NULL ? below : path, words[i])) return true;
    return false;
}

static int joints_of(const Draft* draft, int body) {
    int count = 0;
    for (int i = 0; i < draft->joints; ++i)
        count += draft->joint[i].outer == body || draft->joint[i].inner == body;
    return count;
}

bool draft_choose_ground(Draft* draft, const DraftOptions* options, LashError* error) {
    for (int i = 0; i < options->grounds; ++i)
        if (!named_ground(draft, options->ground[i], error)) return false;
    if (options->grounds > 0) return true;
    int named = 0;
    for (int i = 0; i < draft->parts; ++i) {
        DraftBody* body = &draft->body[draft->part[i].body];
        if (body->ground || !is_named_ground(draft->part[i].path)) continue;
        body->ground = true;
        ++named;
        draft_add_note(draft, "ground: '%s', by its name; --ground NAME takes another", body->name);
    }
    if (named > 0) return true;
    int best = 0;
    for (int b = 1; b < draft->bodies; ++b) {
        int more = joints_of(draft, b) - joints_of(draft, best);
        if (more > 0 || (more == 0 && draft->body[b].volume > draft->body[best].volume)) best = b;
    }
    draft->body[best].ground = true;
    draft_add_note(draft,
                   "ground: '%s', the part with most joints (%d); --ground NAME takes another",
                   draft->body[best].name, joints_of(draft, best));
    return true;
}

Draft* draft_create(const LashShape* shape, const DraftOptions* options, LashError* error) {
    Draft* draft = lash_alloc(sizeof *draft);
    draft->shape = shape;
    bool good = draft_list_parts(draft, error);
    if (good) {
        draft_find_pairs(draft, options);
        draft_weld(draft, options);
        good =
            draft->joints > 0 ||
            lash_error_set(error, LASH_ERROR_MODEL, "",
                           "no pin in a bore, ball in a socket or guide was found between the %d "
                           "parts: do they stand in their places? (--clearance-max takes larger "
                           "plays)",
                           draft->parts);
    }
    if (good) good = draft_choose_ground(draft, options, error);
    if (good) {
        draft_decide_types(draft);
        draft_count_freedom(draft);
        return draft;
    }
    draft_destroy(draft);
    return NULL;
}

void draft_destroy(Draft* draft) {
    if (draft == NULL) return;
    void* owned[] = {draft->part,  draft->body,  draft->round,
                     draft->plane, draft->joint, draft->note};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) lash_free(owned[i]);
    lash_free(draft);
}

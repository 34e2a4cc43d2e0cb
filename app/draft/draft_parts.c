// Leaves of the product tree, and the surfaces of theirs that can form joints.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/draft/draft.h"
#include "core/arena.h"
#include "core/math3.h"

static const double SAME_DIRECTION = 5e-7; // |sine| of the angle between two axes that are one
static const double SAME_RADIUS = 1e-6;    // relative

// ---- names --------------------------------------------------------------------------------------

bool draft_has_word(const char* name, const char* word) {
    size_t length = strlen(word);
    for (const char* at = name; *at != '\0'; ++at) {
        if (strncasecmp(at, word, length) != 0) continue;
        const char* rest = at + length;
        if (*rest == 's' || *rest == 'S') ++rest;
        if (!isalpha((unsigned char)*rest)) return true;
    }
    return false;
}

// "M6", "M6x20", "M3 x 6": a thread.
static bool has_thread(const char* name) {
    for (const char* at = name; *at != '\0'; ++at) {
        bool begins = at == name || !isalnum((unsigned char)at[-1]);
        if (begins && (*at == 'M' || *at == 'm') && isdigit((unsigned char)at[1])) return true;
    }
    return false;
}

// "DIN 912", "ISO4762"
static bool has_standard(const char* name) {
    for (const char* at = name; *at != '\0'; ++at) {
        if (strncasecmp(at, "DIN", 3) != 0 && strncasecmp(at, "ISO", 3) != 0) continue;
        const char* rest = at + 3;
        while (*rest == ' ' || *rest == '_' || *rest == '-') ++rest;
        if (isdigit((unsigned char)*rest)) return true;
    }
    return false;
}

static bool is_fastener(const char* name) {
    static const char* const words[] = {"screw",   "bolt",     "nut",    "washer",  "rivet",
                                        "circlip", "schraube", "mutter", "scheibe", "niet"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (draft_has_word(name, words[i])) return true;
    return has_thread(name) || has_standard(name);
}

static void name_parts(Draft* draft) {
    for (int i = 0; i < draft->parts; ++i) {
        DraftPart* part = &draft->part[i];
        const char* slash = strrchr(part->path, '/');
        const char* last = slash == NULL ? part->path : slash + 1;
        bool taken = strcmp(last, "ground") == 0;
        for (int k = 0; k < draft->parts; ++k) {
            const char* other = strrchr(draft->part[k].path, '/');
            other = other == NULL ? draft->part[k].path : other + 1;
            taken = taken || (k != i && strcmp(other, last) == 0);
        }
        snprintf(part->name, sizeof part->name, "%.90s", taken ? part->path : last);
        part->fastener = is_fastener(last);
    }
}

// ---- surfaces -----------------------------------------------------------------------------------

static bool one_axis(const DraftRound* round, const LashFace* face) {
    Vec3 d = vec3_sub(face->origin, round->point);
    double off = 1e-6 * face->radius;
    if (round->sphere) return vec3_norm(d) <= off;
    if (vec3_norm(vec3_cross(round->axis, face->z)) > SAME_DIRECTION) return false;
    return vec3_norm(vec3_add_scaled(d, -vec3_dot(d, round->axis), round->axis)) <= off;
}

static void add_round(Draft* draft, int part, int row) {
    const LashFace* face = &draft->shape->face[row];
    bool sphere = face->type == LASH_SPHERE, hollow = face->side < 0;
    DraftRound* draft_round = NULL;
    for (int i = 0; i < draft->rounds && draft_round == NULL; ++i) {
        DraftRound* known = &draft->round[i];
        if (known->part == part && known->sphere == sphere && known->hollow == hollow &&
            fabs(known->radius - face->radius) <= SAME_RADIUS * face->radius &&
            known->faces < DRAFT_MAX_FACES && one_axis(known, face))
            draft_round = known;
    }
    if (draft_round == NULL) {
        draft_round = &draft->round[draft->rounds++];
        *draft_round = (DraftRound){.part = part,
                                    .sphere = sphere,
                                    .hollow = hollow,
                                    .point = face->origin,
                                    .axis = face->z,
                                    .radius = face->radius,
                                    .low = INFINITY,
                                    .high = -INFINITY};
    }
    double sense = vec3_dot(face->z, draft_round->axis) < 0 ? -1 : 1;
    double along = vec3_dot(vec3_sub(face->origin, draft_round->point), draft_round->axis);
    double a = along + sense * face->v0, b = along + sense * face->v1;
    draft_round->low = fmin(draft_round->low, fmin(a, b));
    draft_round->high = fmax(draft_round->high, fmax(a, b));
    draft_round->area += face->area;
    draft_round->face[draft_round->faces++] = row;
}

static void add_plane(Draft* draft, int part, int row) {
    const LashFace* face = &draft->shape->face[row];
    Vec3 middle = vec3_scale(0.5, vec3_add(face->box.low, face->box.high));
    Vec3 normal = vec3_scale(face->side, face->z);
    double off = vec3_dot(vec3_sub(middle, face->origin), normal);
    draft->plane[draft->planes++] = (DraftPlane){.part = part,
                                                 .face = row,
                                                 .point = vec3_add_scaled(middle, -off, normal),
                                                 .normal = normal,
                                                 .box = face->box};
}

bool draft_list_parts(Draft* draft, LashError* error) {
    const LashShape* shape = draft->shape;
    draft->part = lash_alloc(((size_t)shape->parts + 1) * sizeof *draft->part);
    draft->round = lash_alloc(((size_t)shape->faces + 1) * sizeof *draft->round);
    draft->plane = lash_alloc(((size_t)shape->faces + 1) * sizeof *draft->plane);
    for (int i = 0; i < shape->parts; ++i) {
        const LashShapePart* part = &shape->part[i];
        if (part->assembly || part->faces == 0) continue;
        draft->part[draft->parts] =
            (DraftPart){.row = i, .path = lash_shape_string(shape, part->name)};
        for (int k = part->first_face; k < part->first_face + part->faces; ++k) {
            LashSurfaceType type = shape->face[k].type;
            if (type == LASH_CYLINDER || type == LASH_SPHERE) add_round(draft, draft->parts, k);
            if (type == LASH_PLANE) add_plane(draft, draft->parts, k);
        }
        ++draft->parts;
    }
    name_parts(draft);
    if (draft->parts >= 2) return true;
    return lash_error_set(
        error, LASH_ERROR_MODEL, "",
        "found %d part%s with faces; a draft needs an assembly whose parts stand in "
        "their places (export it as one STEP file)",
        draft->parts, draft->parts == 1 ? "" : "s");
}

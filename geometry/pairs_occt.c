// "query": "occt". One point per pair of face sets: d = min |pa - pb| as
// BRepExtrema_DistShapeShape finds it,
//   gap = d,  n = (pa - pb) / d.
// It is a second opinion on separated faces and no more than that: the distance is unsigned, so
// while the faces meet (d < 1e-9 m, below which the direction is noise) the gap is given as 0 along
// the normal of the last separated pose, fixed in b, and once they have passed through each other
// d > 0 again with the normal turned round. Line and area contacts are one point of them, which
// may jump. Both sides are reported as flat (X = I, Y = 0): rates of normal and points are not
// known.
//
// The helper is started by the first question, one process per run; its failures stay in the work.
#include "geometry/pairs_occt.h"

#include <string.h>

#include "core/arena.h"
#include "core/math3.h"
#include "geometry/cad/occt_query.h"

#define MEETS 1e-9 // [m]

struct LashPairOcct {
    LashOcctSide side[2];
    char* path[2]; // what side[] points to
    int* faces[2];
};

struct LashPairOcctWork {
    LashOcctQuery* query;
    Vec3 normal; // of the last separated pose, b's axes
    bool has_normal;
    LashError error;
};

LashPairOcct* lash_pair_occt_create(const LashPairDef* def) {
    LashPairOcct* pair = lash_alloc(sizeof *pair);
    for (int i = 0; i < 2; ++i) {
        const LashPairSide* from = i == 0 ? &def->a : &def->b;
        LASH_ASSERT(from->path != NULL && from->edge_count == 0);
        size_t bytes = strlen(from->path) + 1, faces = (size_t)from->face_count;
        pair->path[i] = lash_alloc(bytes);
        memcpy(pair->path[i], from->path, bytes);
        pair->faces[i] = lash_alloc((faces + 1) * sizeof(int));
        if (faces > 0) memcpy(pair->faces[i], from->faces, faces * sizeof(int));
        pair->side[i] = (LashOcctSide){.path = pair->path[i],
                                       .import = from->import,
                                       .faces = pair->faces[i],
                                       .count = from->face_count};
    }
    return pair;
}

void lash_pair_occt_destroy(LashPairOcct* pair) {
    if (pair == NULL) return;
    for (int i = 0; i < 2; ++i) {
        lash_free(pair->path[i]);
        lash_free(pair->faces[i]);
    }
    lash_free(pair);
}

LashPairOcctWork* lash_pair_occt_work_create(void) {
    return lash_alloc(sizeof(LashPairOcctWork));
}

void lash_pair_occt_work_destroy(LashPairOcctWork* work) {
    if (work == NULL) return;
    lash_occt_query_close(work->query);
    lash_free(work);
}

void lash_pair_occt_work_reset(LashPairOcctWork* work) {
    work->has_normal = false;
    work->error = (LashError){0};
}

const LashError* lash_pair_occt_error(const LashPairOcctWork* work) {
    return &work->error;
}

void lash_pair_occt_work_archive(LashPairOcctWork* work, LashArchive* archive) {
    lash_archive(archive, &work->normal, sizeof work->normal);
    lash_archive(archive, &work->has_normal, sizeof work->has_normal);
}

bool lash_pair_occt_point(const LashPairOcct* pair, LashPairOcctWork* work, Pose world_a,
                          Pose world_b, LashContactPoint* point, LashOcctState* state) {
    LashOcctAnswer answer;
    work->error = (LashError){0};
    if (work->query == NULL)
        work->query = lash_occt_query_open(&pair->side[0], &pair->side[1], &work->error);
    if (work->query == NULL ||
        !lash_occt_query_distance(work->query, world_a, world_b, &answer, &work->error)) {
        if (work->error.status == LASH_ERROR_CAD) { // it died: the next question starts another one
            lash_occt_query_close(work->query);
            work->query = NULL;
        }
        return false;
    }
    memset(point, 0, sizeof *point);
    point->id = 1;
    point->point_a = answer.point_a;
    point->point_b = answer.point_b;
    point->a.X[0] = point->a.X[3] = point->b.X[0] = point->b.X[3] = 1;
    if (answer.distance > MEETS) {
        Vec3 w_ab = vec3_sub(answer.point_a, answer.point_b);
        point->normal = vec3_normalize(w_ab);
        point->gap = answer.distance;
        work->normal = quat_rotate_inverse(world_b.rot, point->normal);
        work->has_normal = true;
        *state = LASH_OCCT_APART;
        return true;
    }
    *state = work->has_normal ? LASH_OCCT_MEETS : LASH_OCCT_UNKNOWN;
    point->normal = quat_rotate(world_b.rot, work->normal);
    point->point_a = point->point_b; // the gap is the distance along the normal: 0
    return true;
}

static bool check_side(const LashPairSide* side, const char* name, LashError* error) {
    if (side->path == NULL)
        return lash_error_set(error, LASH_ERROR_MODEL, name,
                              "query \"occt\" works on STEP files, not on primitive shapes");
    if (side->edge_count > 0)
        return lash_error_set(error, LASH_ERROR_MODEL, name,
                              "query \"occt\" works on faces, not on lone edges");
    return true;
}

bool lash_pair_check(const LashPairDef* def, LashError* error) {
    if (def->query != LASH_QUERY_OCCT) return true;
    if (!check_side(&def->a, "a", error) || !check_side(&def->b, "b", error)) return false;
    LashPairOcct* pair = lash_pair_occt_create(def);
    LashOcctQuery* query = lash_occt_query_open(&pair->side[0], &pair->side[1], error);
    lash_occt_query_close(query);
    lash_pair_occt_destroy(pair);
    return query != NULL;
}

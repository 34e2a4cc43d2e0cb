// Free pairs, mode E: the equations of a feature a against an extruded face b (freeform_systems.c),
// in the plane across its axis e.
//
// With X, Y, e right-handed, a point p of a stands at M p + t in the plane, M = (X Y)' R (2 x 3),
// t = (X Y)' r for the placement (R, r) of a in b's frame; derivatives of a are turned by M alone. Lines
// and circles are so in the plane (an ellipse).
// The profile c(u) is a curve of the plane. With r = a - c and N = c' x e = (c'_y, -c'_x):
//   F_0 = r . c',  F_i = N . a_i;   gap = side r . N / |N| - tube
#include "geometry/kernels/freeform_internal.h"

static inline double dot2(const double a[2], const double b[2]) {
    return a[0] * b[0] + a[1] * b[1];
}

// The plane as seen from a, and a line or circle in it.
void free_flat_place(LashFreeProblem* problem) {
    const LashCells* cells = problem->v->b->cells;
    const LashFeature* a = problem->v->a;
    const LashPlacement* b_a = problem->v->b_a;
    LashFlatPlace* place = &problem->flat_place;
    place->x = mat3_mul_transposed(b_a->rot, cells->x);
    place->y = mat3_mul_transposed(b_a->rot, cells->y);
    place->t[0] = vec3_dot(cells->x, b_a->r);
    place->t[1] = vec3_dot(cells->y, b_a->r);
    if (a->skeleton == LASH_SKELETON_LINE) {
        free_flat_turn(place, a->z, place->along[0]);
    } else if (a->skeleton == LASH_SKELETON_CIRCLE) {
        free_flat_turn(place, vec3_scale(a->radius, a->x), place->along[0]);
        free_flat_turn(place, vec3_scale(a->radius, a->y), place->along[1]);
    } else {
        return;
    }
    free_flat_turn(place, a->origin, place->origin);
    for (int i = 0; i < 2; ++i) place->origin[i] += place->t[i];
}

static void profile_point(const LashCells* cells, double u, double c[3][2]) {
    int low = 0, high = cells->pieces - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (u > cells->piece[middle].u1)
            low = middle + 1;
        else
            high = middle;
    }
    const LashProfilePiece* piece = cells->piece + low;
    double k = 1 / (piece->u1 - piece->u0);
    lash_plane_curve(cells->pole + 3 * (size_t)piece->first_pole, piece->degree,
                     (u - piece->u0) * k, c);
    for (int i = 0; i < 2; ++i) {
        c[1][i] *= k;
        c[2][i] *= k * k;
    }
}

// Of a: any other than a line or circle.
static void look_at_point(LashFreeProblem* problem, const double* x, LashFlatPoint* flat) {
    const LashFlatPlace* place = &problem->flat_place;
    LashSurfacePoint s = lash_free_point(problem->v->a, x);
    free_flat_turn(place, s.p, flat->p);
    for (int i = 0; i < 2; ++i) flat->p[i] += place->t[i];
    if (problem->na > 0) {
        free_flat_turn(place, s.u, flat->d[0]);
        free_flat_turn(place, s.uu, flat->dd[0]);
    }
    if (problem->na > 1) {
        free_flat_turn(place, s.v, flat->d[1]);
        free_flat_turn(place, s.uv, flat->dd[1]);
        free_flat_turn(place, s.vv, flat->dd[2]);
    }
}

static void look_along_axis(LashFreeProblem* problem, const double* x) {
    const LashFlatPlace* place = &problem->flat_place;
    LashFlatPoint* flat = &problem->flat;
    LashSkeleton skeleton = problem->v->a->skeleton;
    profile_point(problem->v->b->cells, x[problem->na], flat->c);
    if (skeleton != LASH_SKELETON_LINE && skeleton != LASH_SKELETON_CIRCLE) {
        look_at_point(problem, x, flat);
        return;
    }
    double c = x[0], s = 0, dc = 1, ds = 0; // of along: in the point, in its derivative
    if (skeleton == LASH_SKELETON_CIRCLE) {
        c = cos(x[0]);
        s = sin(x[0]);
        dc = -s;
        ds = c;
    }
    for (int i = 0; i < 2; ++i) {
        double e = place->along[0][i], f = place->along[1][i];
        if (skeleton == LASH_SKELETON_LINE) f = 0;
        flat->p[i] = place->origin[i] + (c * e + s * f);
        flat->d[0][i] = dc * e + ds * f;
        flat->dd[0][i] = skeleton == LASH_SKELETON_LINE ? 0 : -(c * e + s * f);
    }
}

Vec3 free_flat_system(LashFreeProblem* problem, const double* x, double F[4], double J[16]) {
    const LashFlatPoint* flat = &problem->flat;
    int na = problem->na;
    look_along_axis(problem, x);
    const double *c = flat->c[1], *cc = flat->c[2];
    double r[2] = {flat->p[0] - flat->c[0][0], flat->p[1] - flat->c[0][1]};
    double N[2] = {c[1], -c[0]}, Nu[2] = {cc[1], -cc[0]};
    F[0] = dot2(r, c);
    J[4 * na] = dot2(r, cc) - dot2(c, c);
    for (int i = 0; i < na; ++i) {
        J[4 * i] = dot2(c, flat->d[i]);
        F[1 + i] = dot2(N, flat->d[i]);
        for (int j = 0; j < na; ++j) J[1 + i + 4 * j] = dot2(N, flat->dd[i + j]);
        J[1 + i + 4 * na] = dot2(Nu, flat->d[i]);
    }
    return vec3(r[0], r[1], 0);
}

double free_flat_gap(LashFreeProblem* problem, const double* x) {
    const LashFlatPoint* flat = &problem->flat;
    look_along_axis(problem, x);
    const double* c = flat->c[1];
    double r[2] = {flat->p[0] - flat->c[0][0], flat->p[1] - flat->c[0][1]};
    double along = r[0] * c[1] - r[1] * c[0];
    return problem->v->b->side * along / sqrt(dot2(c, c)) - problem->tube;
}

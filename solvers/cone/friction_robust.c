// Interior point method for the friction problems that sweeps and Newton do not settle.
//
// Scaled variables x = D^-1 P, y = D u with D = diag(1, mu, mu) / sqrt(lambda) per contact turn the
// friction cone into the Lorentz cone L and W into a matrix of unit size:
//
//     y = A x + c + e s(y_T),   x, y in L,   x o y = tau e  ->  0,     A = D W D, c = D b,
//     s(y_T) = |y_T|
//
// s is the term mu |U_T| of the friction law (G. De Saxce, Z. Feng, 1998), kept in the Newton
// matrix, H = I + e s'(y_T)'. It needs no smoothing, and must not have any: contacts that creep at a
// millionth of the speeds of the problem then neither stick nor slide. With the Nesterov-Todd scaling G (G x = G^-1 y = l) a step is
//
//     (G^2 + H A) dx = G xi - H r,   dy = G xi - G^2 dx,   r = A x + c + e s - y
//     xi = -l + l \ (sigma tau e - (G^-1 dy_a) o (G dx_a))       (Mehrotra's corrector)
//
// (V. Acary, P. Armand, H. M. Nguyen, M. Shpakovych, Second-order cone programming for frictional
// contact mechanics using interior point algorithm, 2022; L. Vandenberghe, The CVXOPT linear and
// quadratic cone program solvers, 2010). Frictionless contacts are one-dimensional cones, joint
// rows have none. From time to time Newton starts from the projected point: it knows the statuses
// better than any earlier point and gives the last digits.
#include <string.h>

#include "core/error.h"
#include "solvers/cone/friction_internal.h"
#include "solvers/linear/dense.h"

typedef struct Point {
    Friction* friction;
    double *x, *y, *dx, *dy, *dx_a, *dy_a, *r, *rhs, *scale, *w, *l, *xi; // (m)
    double *s, *x_far, *y_far;                                            // (m)
    double* turn; // (m) ds/dy_T where s follows y; 0 while it is held
    double* beta; // (contacts)
    double tau, size;
    int cones;
    bool band;
    int half, ld;
} Point;

// A limit cycle of the slip term is damped after so many steps.
enum { WHOLE_STEPS = 20 };

static int cone_rows(const LocalContact* contact) {
    if (contact->kind == LASH_CONTACT_BILATERAL) return 0;
    return contact->mu > 0 ? contact->rows : 1;
}

static double tail(int k, const double* x, const double* y) { // x_T' y_T
    double s = 0;
    for (int r = 1; r < k; ++r) s += x[r] * y[r];
    return s;
}

// (x_N - |x_T|)(x_N + |x_T|): no cancellation near the boundary
static double determinant(int k, const double* x) {
    double t = sqrt(tail(k, x, x)), d = (x[0] - t) * (x[0] + t);
    return d > 1e-30 * x[0] * x[0] ? d : 1e-30 * x[0] * x[0]; // rounding may leave the cone
}

// r = A x + c + e s - y; rows without a cone: A x + c; rows without freedom: 0.
static void set_residual(Point* point) {
    Friction* friction = point->friction;
    for (int i = 0; i < friction->m; ++i) friction->trial_P[i] = point->scale[i] * point->x[i];
    friction_velocity(friction->problem, friction->trial_P, point->r);
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        double *r = point->r + contact->row, *y = point->y + contact->row;
        int k = cone_rows(contact);
        for (int s = 0; s < contact->rows; ++s) {
            r[s] *= point->scale[contact->row + s];
            if (k > 0) r[s] = s < k ? r[s] - y[s] : 0;
        }
        if (k > 1) r[0] += point->s[i];
    }
}

// Nesterov-Todd scaling point: beta and w of each cone, and l = G x.
static void set_scaling(Point* point) {
    Friction* friction = point->friction;
    point->tau = 0;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact);
        double *x = point->x + contact->row, *y = point->y + contact->row,
               *w = point->w + contact->row, *l = point->l + contact->row;
        if (k == 0) continue;
        point->tau += x[0] * y[0] + tail(k, x, y);
        if (k == 1) {
            point->beta[i] = sqrt(y[0] / x[0]);
            w[0] = 1;
            l[0] = sqrt(x[0] * y[0]);
            continue;
        }
        double dx = sqrt(determinant(k, x)), dy = sqrt(determinant(k, y));
        double gamma = sqrt(0.5 * (1 + (x[0] * y[0] + tail(k, x, y)) / (dx * dy)));
        point->beta[i] = sqrt(dy / dx);
        for (int r = 0; r < k; ++r) w[r] = (y[r] / dy + (r == 0 ? x[r] : -x[r]) / dx) / (2 * gamma);
        double wx = tail(k, w, x);
        l[0] = point->beta[i] * (w[0] * x[0] + wx);
        for (int r = 1; r < k; ++r)
            l[r] = point->beta[i] * (x[r] + w[r] * (x[0] + wx / (1 + w[0])));
    }
    point->tau /= point->cones > 0 ? point->cones : 1;
}

// out = G v (or G^-1 v) for one cone
static void scale_cone(int k, const double* w, double beta, bool inverse, const double* v,
                       double* out) {
    double sign = inverse ? -1 : 1, b = inverse ? 1 / beta : beta;
    if (k == 1) {
        out[0] = b * v[0];
        return;
    }
    double wv = tail(k, w, v), v0 = v[0];
    double t = sign * v0 + wv / (1 + w[0]);
    for (int r = 1; r < k; ++r) out[r] = b * (v[r] + w[r] * t);
    out[0] = b * (w[0] * v0 + sign * wv);
}

// Entry (a, b) of G^2 = beta^2 (2 w w' - J)
static double squared(int k, const double* w, double beta, int a, int b) {
    if (k == 1) return beta * beta;
    double j = a == b ? -1 : 0;
    if (a == 0 && b == 0) j = 1;
    return beta * beta * (2 * w[a] * w[b] - j);
}

static double* entry(const Point* point, int i, int j) {
    size_t at = point->band ? (size_t)(2 * point->half + i - j) : (size_t)i;
    return point->friction->matrix + at + (size_t)j * (size_t)point->ld;
}

// Rows of contacts in band order: first[i] is the first row of contact i.
static bool choose_layout(Point* point) {
    Friction* friction = point->friction;
    const LashBlockSparse* A = friction->problem->sparse;
    int n = 0;
    if (A != NULL && !friction->band_ready) {
        lash_block_sparse_order(A, friction->order, friction->scratch);
        friction->band_ready = true;
    }
    for (int at = 0; at < friction->contacts; ++at) {
        friction->first[friction->order[at]] = n;
        n += friction->contact[friction->order[at]].rows;
    }
    point->half = 0;
    for (int i = 0; A != NULL && i < friction->contacts; ++i)
        for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k) {
            int j = A->column[k],
                distance = friction->first[i] + friction->contact[i].rows - 1 - friction->first[j];
            if (distance > point->half) point->half = distance;
        }
    point->band = A != NULL && 4 * point->half < friction->m;
    point->ld = point->band ? 3 * point->half + 1 : friction->m;
    return (size_t)friction->m * (size_t)point->ld <= friction->matrix_size;
}

// Adds H_i A_ij into the matrix.
static void add_block(Point* point, int i, int j, const double* W, int ld) {
    Friction* friction = point->friction;
    const LocalContact *ci = friction->contact + i, *cj = friction->contact + j;
    const double *si = point->scale + ci->row, *sj = point->scale + cj->row;
    int k = cone_rows(ci), rows = k > 0 ? k : ci->rows, columns = cone_rows(cj);
    if (columns == 0) columns = cj->rows;
    for (int b = 0; b < columns; ++b) {
        const double* w = W + (size_t)b * (size_t)ld;
        double turned = 0;
        for (int a = 1; a < rows; ++a) turned += point->turn[ci->row + a] * si[a] * w[a] * sj[b];
        for (int a = 0; a < rows; ++a)
            *entry(point, friction->first[i] + a, friction->first[j] + b) =
                si[a] * w[a] * sj[b] + (a == 0 ? turned : 0);
    }
}

static void assemble(Point* point) {
    Friction* friction = point->friction;
    const LashFrictionProblem* problem = friction->problem;
    memset(friction->matrix, 0, (size_t)friction->m * (size_t)point->ld * sizeof(double));
    if (problem->W != NULL) {
        for (int j = 0; j < friction->contacts; ++j)
            for (int i = 0; i < friction->contacts; ++i)
                add_block(point, i, j,
                          problem->W + (size_t)friction->contact[i].row +
                              (size_t)friction->contact[j].row * (size_t)problem->ldw,
                          problem->ldw);
    } else {
        const LashBlockSparse* A = problem->sparse;
        for (int i = 0; i < A->blocks; ++i)
            for (int k = A->pointer[i]; k < A->pointer[i + 1]; ++k)
                add_block(point, i, A->column[k], A->values + A->offset[k],
                          friction->contact[i].rows);
    }
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact);
        for (int a = 0; a < contact->rows; ++a)
            for (int b = 0; b < contact->rows; ++b) {
                double* e = entry(point, friction->first[i] + a, friction->first[i] + b);
                if (k == 0)
                    *e += 1e-11; // redundant joints
                else if (a < k && b < k)
                    *e += squared(k, point->w + contact->row, point->beta[i], a, b);
                else
                    *e = a == b ? 1 : 0; // tangents without friction: dx = 0
            }
    }
}

// dx and dy for the given xi; the matrix is factorised.
static void solve_step(Point* point, const double* xi, double* dx, double* dy) {
    Friction* friction = point->friction;
    double g[3];
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact), at = friction->first[i];
        const double* r = point->r + contact->row;
        if (k > 0)
            scale_cone(k, point->w + contact->row, point->beta[i], false, xi + contact->row, g);
        for (int s = 0; s < contact->rows; ++s)
            point->rhs[at + s] = (k > 0 && s < k ? g[s] : 0) - r[s];
        point->rhs[at] -= tail(k, point->turn + contact->row, r);
    }
    if (point->band)
        lash_dense_band_solve(friction->m, point->half, point->half, friction->matrix, point->ld,
                              friction->pivot, point->rhs);
    else
        lash_dense_lu_solve(friction->m, friction->matrix, point->ld, friction->pivot, point->rhs);
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact);
        double *d = dx + contact->row, *e = dy + contact->row, t[3];
        for (int s = 0; s < contact->rows; ++s) {
            d[s] = point->rhs[friction->first[i] + s];
            e[s] = 0;
        }
        if (k == 0) continue;
        scale_cone(k, point->w + contact->row, point->beta[i], false, d, t);
        for (int s = 0; s < k; ++s) t[s] = xi[contact->row + s] - t[s];
        scale_cone(k, point->w + contact->row, point->beta[i], false, t, e);
    }
}

// Largest step that keeps z + a d in the cone, at most 1.
static double cone_step(int k, const double* z, const double* d, double limit) {
    if (k == 1) return d[0] < 0 ? fmin(limit, -z[0] / d[0]) : limit;
    double a = d[0] * d[0] - tail(k, d, d), b = z[0] * d[0] - tail(k, z, d);
    double c = determinant(k, z), step = limit;
    double root = b * b - a * c;
    if (a < 0 || (b < 0 && root > 0)) { // smallest positive root of a t^2 + 2 b t + c
        double q = sqrt(fmax(root, 0)), t = c / (q - b);
        if (t > 0) step = fmin(step, t);
    }
    if (d[0] < 0) step = fmin(step, -z[0] / d[0]);
    return step;
}

static double largest_step(const Point* point, const double* dx, const double* dy, double limit) {
    Friction* friction = point->friction;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact);
        if (k == 0) continue;
        limit = cone_step(k, point->x + contact->row, dx + contact->row, limit);
        limit = cone_step(k, point->y + contact->row, dy + contact->row, limit);
    }
    return limit;
}

// xi = -l + l \ (target e - (G^-1 dy_a) o (G dx_a))
static void set_corrector(Point* point, double target) {
    Friction* friction = point->friction;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact);
        double *l = point->l + contact->row, *xi = point->xi + contact->row, a[3], b[3], v[3];
        if (k == 0) continue;
        scale_cone(k, point->w + contact->row, point->beta[i], false, point->dx_a + contact->row,
                   a);
        scale_cone(k, point->w + contact->row, point->beta[i], true, point->dy_a + contact->row, b);
        v[0] = target - a[0] * b[0] - tail(k, a, b);
        for (int r = 1; r < k; ++r) v[r] = -(a[0] * b[r] + b[0] * a[r]);
        double head = k == 1 ? v[0] / l[0] : (l[0] * v[0] - tail(k, l, v)) / determinant(k, l);
        xi[0] = head - l[0];
        for (int r = 1; r < k; ++r) xi[r] = (v[r] - head * l[r]) / l[0] - l[r];
    }
}

static Point begin(Friction* friction) {
    size_t m = (size_t)friction->m;
    double* v = friction->vectors;
    Point p = {.friction = friction,
               .x = v,
               .y = v + m,
               .dx = v + 2 * m,
               .dy = v + 3 * m,
               .dx_a = v + 4 * m};
    p.dy_a = v + 5 * m;
    p.r = v + 6 * m;
    p.rhs = v + 7 * m;
    p.scale = v + 8 * m;
    p.w = v + 9 * m;
    p.l = v + 10 * m;
    p.xi = v + 11 * m;
    p.beta = v + 12 * m;
    p.s = v + 14 * m;
    p.x_far = v + 15 * m;
    p.y_far = v + 16 * m;
    p.turn = v + 17 * m;
    memset(v, 0, 18 * m * sizeof(double));
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        for (int r = 0; r < contact->rows; ++r) {
            double s = 1 / sqrt(contact->lambda) * (r > 0 ? contact->mu : 1);
            p.scale[contact->row + r] = s;
            p.size = fmax(p.size, s * fabs(friction->problem->b[contact->row + r]));
        }
        p.cones += cone_rows(contact) > 0;
    }
    for (int i = 0; i < friction->contacts; ++i)
        if (cone_rows(friction->contact + i) > 0)
            p.x[friction->contact[i].row] = p.y[friction->contact[i].row] = p.size > 0 ? p.size : 1;
    return p;
}

// P from x, on the cone; the residual there.
static double publish(Point* point) {
    Friction* friction = point->friction;
    for (int i = 0; i < friction->m; ++i) friction->P[i] = point->scale[i] * point->x[i];
    friction_velocity(friction->problem, friction->P, friction->U);
    return friction_residual_at(friction, friction->P, friction->U);
}

// One step along the path, with sigma of at least this.
static bool advance(Point* point, double least) {
    Friction* friction = point->friction;
    set_scaling(point);
    set_residual(point);
    assemble(point);
    friction->iterations++;
    if (point->band
            ? !lash_dense_band_lu(friction->m, point->half, point->half, friction->matrix,
                                  point->ld, friction->pivot)
            : !(lash_dense_lu(friction->m, friction->matrix, point->ld, friction->pivot) > 0))
        return false;
    for (int i = 0; i < friction->m; ++i) point->xi[i] = -point->l[i];
    solve_step(point, point->xi, point->dx_a, point->dy_a);
    double a = largest_step(point, point->dx_a, point->dy_a, 1),
           sigma = (1 - a) * (1 - a) * (1 - a);
    set_corrector(point, fmax(sigma, least) * point->tau);
    solve_step(point, point->xi, point->dx, point->dy);
    a = fmin(1, 0.99 * largest_step(point, point->dx, point->dy, 1.02));
    double sum = 0;
    for (int i = 0; i < friction->m; ++i) sum += 0 * (point->dx[i] + point->dy[i]);
    if (!(a > 1e-12) || sum != 0) return false; // rounding has taken over
    for (int i = 0; i < friction->m; ++i) {
        point->x[i] += a * point->dx[i];
        point->y[i] += a * point->dy[i];
    }
    return true;
}

// --- The slip term in the matrix -----------------------------------------------------------------

// s = |y_T| and its derivative.
static void follow_slip(Point* point) {
    Friction* friction = point->friction;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        int k = cone_rows(contact);
        double *y = point->y + contact->row, *turn = point->turn + contact->row;
        if (k < 2) continue;
        point->s[i] = sqrt(tail(k, y, y));
        for (int r = 1; r < k; ++r) turn[r] = point->s[i] > 0 ? y[r] / point->s[i] : 0;
    }
}

double friction_interior_point(Friction* friction, int max_steps, double tolerance) {
    // Steps of Newton from a point of the path, points between two such, points without progress; and how far along
    // the path Newton is tried first. Chosen on 312 problems of a breaker at rest: docs/solvers.md.
    enum { NEWTON = 20, BETWEEN = 3, PATIENCE = 10 };
    static const double NEAR = 1e-9, CENTERED = 0.1; // of tau at the start; sigma at least
    Point p = begin(friction);
    size_t bytes = (size_t)friction->m * sizeof(double);
    double *kept = friction->vectors + 13 * (size_t)friction->m, best = INFINITY, least = INFINITY;
    int end = friction->iterations + max_steps, next = 0;
    memcpy(kept, friction->P, bytes);
    if (!choose_layout(&p)) return INFINITY;
    for (int k = 0, idle = 0; friction->iterations < end && idle < PATIENCE; ++k) {
        if (friction_stopped(friction)) break;
        follow_slip(&p);
        if (!advance(&p, CENTERED)) idle = PATIENCE;
        idle = p.tau < 0.5 * least ? 0 : idle + 1;
        least = fmin(least, p.tau);
        bool last = idle >= PATIENCE;
        if (!last && (p.tau > NEAR * p.size * p.size || k < next)) continue;
        next = k + BETWEEN;
        double residual = publish(&p);
        if (!(residual < INFINITY)) break;
        residual = friction_newton(friction, NEWTON, tolerance);
        if (residual < best) {
            best = residual;
            memcpy(kept, friction->P, bytes);
        }
        if (best <= tolerance) break;
    }
    memcpy(friction->P, kept, bytes);
    friction_velocity(friction->problem, friction->P, friction->U);
    return friction_residual_at(friction, friction->P, friction->U);
}

// --- The slip term held --------------------------------------------------------------------------

// s = mu |U_T| of the present velocity, or part of the way to it.
static void set_slip(Point* point, double part) {
    Friction* friction = point->friction;
    for (int i = 0; i < friction->contacts; ++i) {
        const LocalContact* contact = friction->contact + i;
        if (cone_rows(contact) > 1)
            point->s[i] += part * (point->scale[contact->row] * contact->mu *
                                       sqrt(tail(contact->rows, friction->U + contact->row,
                                                 friction->U + contact->row)) -
                                   point->s[i]);
    }
}

// Solves the convex problem with the present s. Remembers a point well inside the cones, from which
// the next one starts. Stops where rounding does.
static void solve_convex(Point* point) {
    size_t bytes = (size_t)point->friction->m * sizeof(double);
    double least = INFINITY;
    for (int k = 0, idle = 0; k < 60 && idle < 4 && !friction_stopped(point->friction); ++k) {
        bool moved = advance(point, 1e-6);
        double worst = 0;
        for (int i = 0; i < point->friction->m; ++i) worst = fmax(worst, fabs(point->r[i]));
        double measure = fmax(point->tau / point->size, 1e-4 * worst) / point->size;
        if (point->tau > 1e-2 * point->size * point->size &&
            point->tau < 1e2 * point->size * point->size) {
            memcpy(point->x_far, point->x, bytes);
            memcpy(point->y_far, point->y, bytes);
        }
        idle = measure < 0.5 * least || measure > 1e-4 ? 0 : idle + 1;
        least = fmin(least, measure);
        if (!moved || measure < 1e-11) break;
    }
}

double friction_interior_held(Friction* friction, int max_solves, double tolerance) {
    Point p = begin(friction);
    size_t bytes = (size_t)friction->m * sizeof(double);
    double* kept = friction->vectors + 13 * (size_t)friction->m; // the best projected point
    double best = INFINITY;
    memcpy(kept, friction->P, bytes);
    memcpy(p.x_far, p.x, bytes);
    memcpy(p.y_far, p.y, bytes);
    for (int k = 0; k < max_solves && !friction_stopped(friction); ++k) {
        if (!choose_layout(&p)) return INFINITY;
        solve_convex(&p);
        double residual = publish(&p), before = residual;
        if (!(residual < INFINITY)) break;
        set_slip(&p, k < WHOLE_STEPS ? 1 : 0.5);
        if (residual < best) {
            best = residual;
            memcpy(kept, friction->P, bytes);
        }
        if (best <= tolerance) break;
        residual = friction_newton(friction, 12, tolerance); // never worse than where it starts
        if (residual > tolerance && k % 4 == 3) {            // a few contacts are undecided
            friction_gauss_seidel(friction, 30, tolerance);
            double other = friction_newton(friction, 12, tolerance);
            if (other <= tolerance || other < residual) residual = other;
        }
        if (residual < best) {
            best = residual;
            memcpy(kept, friction->P, bytes);
        }
        if (best <= tolerance) break;
        if (residual < 0.1 * before) set_slip(&p, 1); // Newton's point is much nearer
        memcpy(p.x, p.x_far, bytes);
        memcpy(p.y, p.y_far, bytes);
    }
    memcpy(friction->P, kept, bytes);
    friction_velocity(friction->problem, friction->P, friction->U);
    return friction_residual_at(friction, friction->P, friction->U);
}

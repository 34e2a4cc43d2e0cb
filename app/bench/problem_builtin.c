// Friction problems from rigid bodies: W = G' M^-1 G, b = G' v_free.
//
// A contact with normal n and tangents t1, t2 between bodies a and b has, for each of its
// directions d, the row (-d, -arm_a x d) on the velocity of a and (d, arm_b x d) on that of b.
// Bodies are balls of inertia here: J = j I, so that world and body axes agree.
#include "app/bench/problem_builtin.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/math3.h"

typedef struct Body {
    double m_inv;  // [1/kg]
    double j_inv;  // [1/(kg m^2)]
    Vec3 v, omega; // without impulses [m/s, rad/s]
} Body;

typedef struct Contact {
    int a, b;          // bodies; -1 is the ground
    Vec3 arm_a, arm_b; // from the mass centres to the contact point [m]
    Vec3 d[3];         // n, t1, t2
    uint8_t kind;
    double mu;
} Contact;

typedef struct Row { // G' of one row on one body
    Vec3 linear, angular;
} Row;

static Row row_of(const Contact* contact, int r, double sign) {
    Vec3 d = vec3_scale(sign, contact->d[r]);
    return (Row){d, vec3_cross(sign < 0 ? contact->arm_a : contact->arm_b, d)};
}

typedef struct Entries {
    AppEntry* entry;
    size_t count, capacity;
} Entries;

static void add(Entries* entries, int row, int column, double value) {
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity ? 2 * entries->capacity : 1024;
        entries->entry = lash_realloc(entries->entry, entries->capacity * sizeof(AppEntry));
    }
    entries->entry[entries->count++] = (AppEntry){row, column, value};
}

// Adds G_i' M^-1 G_j of one shared body; shift disturbs the impulse directions of column j.
static void couple(Entries* entries, const Body* body, const Contact* ci, double si, int row_i,
                   const Contact* cj, double sj, int row_j, double shift) {
    for (int r = 0; r < lash_contact_rows(ci->kind); ++r)
        for (int s = 0; s < lash_contact_rows(cj->kind); ++s) {
            Row a = row_of(ci, r, si), b = row_of(cj, s, sj);
            Vec3 turned =
                vec3(b.linear.x - shift * b.linear.y, b.linear.y + shift * b.linear.x, b.linear.z);
            add(entries, row_i + r, row_j + s,
                body->m_inv * vec3_dot(a.linear, turned) +
                    body->j_inv * vec3_dot(a.angular, b.angular));
        }
}

// Contacts of each body in lists, so that building is linear in the number of couplings.
static AppProblem* build(int bodies, const Body* body, int contacts, const Contact* contact,
                         double asymmetry) {
    size_t n = (size_t)contacts;
    int *first = lash_alloc(n * sizeof(int)), m = 0;
    int *head = lash_alloc(((size_t)bodies + 1) * sizeof(int)),
        *list = lash_alloc(2 * n * sizeof(int));
    uint8_t* kind = lash_alloc(n);
    double* mu = lash_alloc(n * sizeof(double));
    for (int i = 0; i < contacts; ++i) {
        first[i] = m;
        m += lash_contact_rows(contact[i].kind);
        kind[i] = contact[i].kind;
        mu[i] = contact[i].mu;
        if (contact[i].a >= 0) head[contact[i].a + 1]++;
        if (contact[i].b >= 0) head[contact[i].b + 1]++;
    }
    for (int k = 0; k < bodies; ++k) head[k + 1] += head[k];
    int* fill = lash_alloc((size_t)bodies * sizeof(int) + 1);
    for (int i = 0; i < contacts; ++i) {
        if (contact[i].a >= 0) list[head[contact[i].a] + fill[contact[i].a]++] = i;
        if (contact[i].b >= 0) list[head[contact[i].b] + fill[contact[i].b]++] = i;
    }
    double* b = lash_alloc((size_t)m * sizeof(double));
    Entries e = {0};
    for (int k = 0; k < bodies; ++k)
        for (int x = head[k]; x < head[k + 1]; ++x) {
            int i = list[x];
            double si = contact[i].a == k ? -1 : 1;
            for (int r = 0; r < lash_contact_rows(kind[i]); ++r) {
                Row row = row_of(contact + i, r, si);
                b[first[i] + r] +=
                    vec3_dot(row.linear, body[k].v) + vec3_dot(row.angular, body[k].omega);
            }
            for (int y = head[k]; y < head[k + 1]; ++y) {
                int j = list[y];
                couple(&e, body + k, contact + i, si, first[i], contact + j,
                       contact[j].a == k ? -1 : 1, first[j], asymmetry);
            }
        }
    AppProblem* problem = app_problem_build(contacts, kind, mu, b, m, e.count, e.entry);
    lash_free(first);
    lash_free(head);
    lash_free(list);
    lash_free(fill);
    lash_free(kind);
    lash_free(mu);
    lash_free(b);
    lash_free(e.entry);
    return problem;
}

AppProblem* app_problem_stack(int boxes, double mu) {
    const double h = 1e-2, gravity = 9.81; // [s], [m/s^2]
    Body* body = lash_alloc((size_t)boxes * sizeof(Body));
    Contact* contact = lash_alloc(4 * (size_t)boxes * sizeof(Contact));
    for (int i = 0; i < boxes; ++i) {
        body[i] = (Body){1, 6, vec3(0, 0, -h * gravity), vec3_zero()};
        for (int k = 0; k < 4; ++k)
            contact[4 * i + k] = (Contact){i - 1,
                                           i,
                                           vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, 0.5),
                                           vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, -0.5),
                                           {vec3(0, 0, 1), vec3(1, 0, 0), vec3(0, 1, 0)},
                                           LASH_CONTACT_SPATIAL,
                                           mu};
    }
    AppProblem* problem = build(boxes, body, 4 * boxes, contact, 0);
    lash_free(body);
    lash_free(contact);
    return problem;
}

static double uniform(uint64_t* seed) { // [0, 1)
    *seed += 0x9e3779b97f4a7c15u;       // splitmix64
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static Vec3 random_vec3(uint64_t* seed) {
    double x = 2 * uniform(seed) - 1, y = 2 * uniform(seed) - 1, z = 2 * uniform(seed) - 1;
    return vec3(x, y, z);
}

AppProblem* app_problem_random(const AppRandomProblem* set) {
    uint64_t seed = set->seed * 0x2545f4914f6cdd1du + 11;
    Body* body = lash_alloc((size_t)set->bodies * sizeof(Body));
    Contact* contact = lash_alloc((size_t)set->contacts * sizeof(Contact));
    for (int i = 0; i < set->bodies; ++i) {
        double mass = pow(10, -4 + 7 * uniform(&seed)), size = 0.1 * cbrt(mass);
        body[i] = (Body){1 / mass, 1 / (0.4 * mass * size * size), random_vec3(&seed),
                         vec3_scale(1 / size, random_vec3(&seed))};
    }
    for (int i = 0; i < set->contacts; ++i) {
        Contact* c = contact + i;
        c->b = (int)(uniform(&seed) * set->bodies);
        c->a = (int)(uniform(&seed) * (set->bodies + 1)) - 1;
        if (c->a == c->b) c->a = -1;
        c->arm_b = vec3_scale(0.1 * cbrt(1 / body[c->b].m_inv), random_vec3(&seed));
        if (c->a >= 0) c->arm_a = vec3_scale(0.1 * cbrt(1 / body[c->a].m_inv), random_vec3(&seed));
        c->d[0] = vec3_normalize(vec3_add(random_vec3(&seed), vec3(1e-9, 0, 0)));
        vec3_basis(c->d[0], &c->d[1], &c->d[2]);
        int rows = set->rows > 0 ? set->rows : (int)(uniform(&seed) * 4);
        c->kind = (uint8_t)rows;
        c->mu = uniform(&seed);
    }
    AppProblem* problem = build(set->bodies, body, set->contacts, contact, set->asymmetry);
    lash_free(body);
    lash_free(contact);
    return problem;
}

AppProblem* app_problem_slider(double omega) {
    // A block 0.05 m x 0.025 m between two walls; planar: z motion and other turns do not occur.
    Body body = {1 / 0.1, 1 / 2.6e-5, vec3(1.3, -2e-3, 0), vec3(0, 0, omega)};
    Contact contact[4];
    for (int k = 0; k < 4; ++k) {
        double up = k < 2 ? 1 : -1, x = k < 2 ? 0.025 : 0.02; // lower wall pushes up, upper down
        contact[k] = (Contact){-1,
                               0,
                               vec3_zero(),
                               vec3(k & 1 ? x : -x, -0.0125 * up, 0),
                               {vec3(0, up, 0), vec3(1, 0, 0), vec3_zero()},
                               LASH_CONTACT_PLANAR,
                               0.1};
    }
    return build(1, &body, 4, contact, 0);
}

AppProblem* app_problem_painleve(double mu, double angle) {
    // A rod of 1 m and 1 kg at this angle to the ground, its lower end sliding to the right.
    double c = 0.5 * cos(angle), s = 0.5 * sin(angle);
    Body body = {1, 12, vec3(1, -0.1, 0), vec3_zero()};
    Contact contact = {-1,
                       0,
                       vec3_zero(),
                       vec3(-c, -s, 0),
                       {vec3(0, 1, 0), vec3(1, 0, 0), vec3_zero()},
                       LASH_CONTACT_PLANAR,
                       mu};
    return build(1, &body, 1, &contact, 0);
}

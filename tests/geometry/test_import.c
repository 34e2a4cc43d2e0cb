// STEP files read through the helper program: masses, orientation, trims, names, units,
// recognition.
#include "geometry/kernels/trim.h"
#include "geometry/select.h"
#include "test.h"
#include "tests/cad_parts.h"

static CadFolder folder;

static int set_up(void** state) {
    (void)state;
    folder = cad_folder();
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    cad_remove_all(folder.path);
    return 0;
}

static void check_near(const char* what, double got, double expected, double tolerance) {
    if (fabs(got - expected) <= tolerance) return;
    fail_msg("%s: got %.17g, expected %.17g, error %.3g, tolerance %.3g", what, got, expected,
             got - expected, tolerance);
}

static void check_relative(const char* what, double got, double expected, double tolerance) {
    check_near(what, got, expected, tolerance * fabs(expected));
}

// volume, center and the diagonal of inertia about it (density 1), all to 1e-12 of their size
static void check_mass(const LashShape* s, double volume, Vec3 center, Vec3 inertia) {
    const LashShapePart* p = &s->part[0];
    double size = vec3_distance(p->box.low, p->box.high);
    assert_true(p->closed);
    assert_true(p->valid);
    assert_false(p->inward);
    check_relative("volume", p->volume, volume, 1e-12);
    check_near("center", vec3_distance(p->center, center), 0, 1e-12 * size);
    check_relative("inertia xx", p->inertia.m[0], inertia.x, 1e-12);
    check_relative("inertia yy", p->inertia.m[4], inertia.y, 1e-12);
    check_relative("inertia zz", p->inertia.m[8], inertia.z, 1e-12);
    for (int i = 0; i < 9; ++i)
        if (i % 4 != 0) check_near("inertia xy", p->inertia.m[i], 0, 1e-12 * volume * size * size);
}

static void masses_of_box_cylinder_sphere_torus_are_exact(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "box", "{\"box\": {\"size\": [10, 20, 30]}}", "");
    double m = 6e-6;
    check_mass(s, m, vec3(5e-3, 1e-2, 1.5e-2),
               vec3(m * 1300e-6 / 12, m * 1000e-6 / 12, m * 500e-6 / 12));
    lash_shape_destroy(s);
    s = cad_part(&folder, "cylinder", "{\"cylinder\": {\"radius\": 7, \"length\": 11}}", "");
    m = LASH_PI * 49e-6 * 11e-3;
    double across = m * (3 * 49e-6 + 121e-6) / 12;
    check_mass(s, m, vec3(0, 0, 5.5e-3), vec3(across, across, m * 49e-6 / 2));
    lash_shape_destroy(s);
    s = cad_part(&folder, "sphere", "{\"sphere\": {\"radius\": 9}, \"at\": [1, 2, 3]}", "");
    m = 4 * LASH_PI / 3 * 729e-9;
    double any = 0.4 * m * 81e-6;
    check_mass(s, m, vec3(1e-3, 2e-3, 3e-3), vec3(any, any, any));
    lash_shape_destroy(s);
    s = cad_part(&folder, "torus", "{\"torus\": {\"radius\": 10, \"tube\": 3}}", "");
    m = 2 * LASH_PI * LASH_PI * 10e-3 * 9e-6;
    across = m * (4 * 100e-6 + 5 * 9e-6) / 8;
    check_mass(s, m, vec3_zero(), vec3(across, across, m * (4 * 100e-6 + 3 * 9e-6) / 4));
    lash_shape_destroy(s);
}

static void mass_of_a_drilled_block_is_exact(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "drilled",
                            "{\"box\": {\"size\": [40, 20, 10], \"centered\": true}}, "
                            "{\"do\": \"cut\", \"cylinder\": {\"radius\": 4, \"length\": 10}, "
                            "\"at\": [0, 0, -5]}",
                            "");
    double box = 8e-6, hole = LASH_PI * 16e-6 * 10e-3;
    double hole_across = hole * (3 * 16e-6 + 100e-6) / 12;
    check_mass(s, box - hole, vec3_zero(),
               vec3(box * 500e-6 / 12 - hole_across, box * 1700e-6 / 12 - hole_across,
                    box * 2000e-6 / 12 - hole * 16e-6 / 2));
    lash_shape_destroy(s);
}

// Area of an elementary face from its trims alone: the integral of the metric over the region is
// -\oint G(v) du with G' = g, g du dv the element of area.
static double metric_integral(const LashFace* f, double v) {
    double a = f->half_angle;
    switch (f->type) {
        case LASH_PLANE:
            return v;
        case LASH_CYLINDER:
            return f->radius * v;
        case LASH_CONE:
            return f->radius * v + 0.5 * v * v * sin(a);
        case LASH_SPHERE:
            return f->radius * f->radius * sin(v);
        case LASH_TORUS:
            return f->radius2 * (f->radius * v + f->radius2 * sin(v));
        default:
            return NAN;
    }
}

static void coedge_point(const LashShape* s, const LashCoedge* c, double t, double uv[2]) {
    if (c->kind == LASH_LINE) {
        for (int i = 0; i < 2; ++i) uv[i] = c->a[i] + t * (c->b[i] - c->a[i]);
    } else if (c->kind == LASH_CIRCLE) {
        double angle = c->t0 + t * (c->t1 - c->t0);
        uv[0] = c->c[0] + c->r * cos(angle);
        uv[1] = c->c[1] + c->r * sin(angle);
    } else {
        double h[32][3];
        for (int i = 0; i <= c->degree; ++i) {
            const double* p = &s->uv_pole[3 * (c->first_pole + i)];
            h[i][0] = p[0] * p[2];
            h[i][1] = p[1] * p[2];
            h[i][2] = p[2];
        }
        for (int n = c->degree; n > 0; --n)
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < 3; ++k) h[i][k] = (1 - t) * h[i][k] + t * h[i + 1][k];
        uv[0] = h[0][0] / h[0][2];
        uv[1] = h[0][1] / h[0][2];
    }
}

static double area_from_trims(const LashShape* s, const LashFace* f) {
    if (f->loops == 0)
        return (f->u1 - f->u0) * (metric_integral(f, f->v1) - metric_integral(f, f->v0));
    static const double node[5] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                   0.9061798459386640}; // Gauss-Legendre
    static const double weight[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                     0.4786286704993665, 0.2369268850561891};
    double area = 0;
    for (int l = 0; l < f->loops; ++l) {
        const LashLoop* loop = &s->loop[f->first_loop + l];
        for (int i = 0; i < loop->coedges; ++i) {
            const LashCoedge* c = &s->coedge[loop->first_coedge + i];
            const int pieces = 100;
            for (int k = 0; k < pieces; ++k)
                for (int g = 0; g < 5; ++g) { // du/dt by a difference across the node
                    double t = (k + 0.5 + 0.5 * node[g]) / pieces, h = 1e-4 / pieces, p[2], q[2],
                           m[2];
                    coedge_point(s, c, t - h, p);
                    coedge_point(s, c, t + h, q);
                    coedge_point(s, c, t, m);
                    area -= 0.5 * weight[g] / pieces * metric_integral(f, m[1]) * (q[0] - p[0]) /
                            (2 * h);
                }
        }
    }
    return area;
}

static Vec3 mesh_point(const LashShape* s, int v) {
    return vec3(s->mesh_point[3 * v], s->mesh_point[3 * v + 1], s->mesh_point[3 * v + 2]);
}

static double mesh_area(const LashShape* s, int face) {
    double area = 0;
    for (int i = 0; i < s->triangles; ++i) {
        if (s->triangle_face[i] != face) continue;
        Vec3 a = mesh_point(s, s->triangle[3 * i]);
        Vec3 b = vec3_sub(mesh_point(s, s->triangle[3 * i + 1]), a);
        Vec3 c = vec3_sub(mesh_point(s, s->triangle[3 * i + 2]), a);
        area += 0.5 * vec3_norm(vec3_cross(b, c));
    }
    return area;
}

// Loops are closed and continuous; their area is that of the table and, roughly, of OpenCASCADE's
// mesh.
static void check_trims(const LashShape* s, double tolerance) {
    for (int i = 0; i < s->faces; ++i) {
        const LashFace* f = &s->face[i];
        for (int l = 0; l < f->loops; ++l) {
            const LashLoop* loop = &s->loop[f->first_loop + l];
            for (int k = 0; k < loop->coedges; ++k) {
                const LashCoedge* a = &s->coedge[loop->first_coedge + k];
                const LashCoedge* b = &s->coedge[loop->first_coedge + (k + 1) % loop->coedges];
                double p[2], q[2];
                coedge_point(s, a, 1, p);
                coedge_point(s, b, 0, q);
                double size = fmax(f->u1 - f->u0, f->v1 - f->v0);
                if (f->type != LASH_FREEFORM)
                    check_near("loop closes", hypot(p[0] - q[0], p[1] - q[1]), 0, 1e-9 * size);
            }
        }
        double rough = mesh_area(s, i);
        if (fabs(rough - f->area) > 0.04 * f->area)
            fail_msg("face %d: area %.9g, of the mesh %.9g", i, f->area, rough);
        if (f->type == LASH_FREEFORM) continue;
        double area = area_from_trims(s, f);
        if (fabs(area - f->area) > tolerance * f->area)
            fail_msg("face %d (%s): area from trims %.15g, in the table %.15g", i,
                     lash_surface_type_name(f->type), area, f->area);
    }
}

// Outward normal of an elementary face at a point near it.
static Vec3 face_normal(const LashFace* f, Vec3 p, double* distance) {
    Vec3 d = vec3_sub(p, f->origin);
    double h = vec3_dot(d, f->z);
    Vec3 across = vec3_add_scaled(d, -h, f->z);
    double rho = vec3_norm(across);
    Vec3 out = rho > 0 ? vec3_scale(1 / rho, across) : f->x, n = f->z;
    *distance = h;
    if (f->type == LASH_CYLINDER) {
        n = out;
        *distance = rho - f->radius;
    }
    if (f->type == LASH_CONE) {
        n = vec3_add_scaled(vec3_scale(cos(f->half_angle), out), -sin(f->half_angle), f->z);
        *distance = (rho - f->radius) * cos(f->half_angle) - h * sin(f->half_angle);
    }
    if (f->type == LASH_SPHERE) {
        n = vec3_normalize(d);
        *distance = vec3_norm(d) - f->radius;
    }
    if (f->type == LASH_TORUS) {
        Vec3 e = vec3_add_scaled(vec3_scale(rho - f->radius, out), h, f->z);
        n = vec3_normalize(e);
        *distance = vec3_norm(e) - f->radius2;
    }
    return vec3_scale(f->side, n);
}

// Crossings of a ray with the mesh of the part, beyond `from`.
static int ray_crossings(const LashShape* s, Vec3 o, Vec3 d, double from) {
    int count = 0;
    for (int i = 0; i < s->triangles; ++i) {
        Vec3 a = mesh_point(s, s->triangle[3 * i]), b = mesh_point(s, s->triangle[3 * i + 1]);
        Vec3 c = mesh_point(s, s->triangle[3 * i + 2]);
        Vec3 e = vec3_sub(b, a), f = vec3_sub(c, a), p = vec3_cross(d, f), q = vec3_sub(o, a);
        double det = vec3_dot(e, p);
        if (det == 0) continue;
        Vec3 r = vec3_cross(q, e);
        double u = vec3_dot(q, p) / det, v = vec3_dot(d, r) / det;
        count += u >= 0 && v >= 0 && u + v <= 1 && vec3_dot(f, r) / det > from;
    }
    return count;
}

// A step along the outward normal leaves the material, a step against it enters: parity of a ray in
// a direction that meets no edge by design.
static void check_outward(const LashShape* s) {
    double size = vec3_distance(s->part[0].box.low, s->part[0].box.high), step = 3e-3 * size;
    Vec3 ray = vec3_normalize(vec3(0.2931, 0.5347, 0.7927));
    int wrong = 0, seen = 0, turned = 0, face = -1, face_seen = 0, face_wrong = 0;
    for (int i = 0; i < s->triangles; i += 1 + s->triangles / 300) {
        const LashFace* f = &s->face[s->triangle_face[i]];
        Vec3 p = vec3_zero(), n = vec3_zero();
        for (int k = 0; k < 3; ++k) {
            int v = s->triangle[3 * i + k];
            p = vec3_add_scaled(p, 1 / 3.0, mesh_point(s, v));
            n = vec3_add(n, vec3(s->mesh_normal[3 * v], s->mesh_normal[3 * v + 1],
                                 s->mesh_normal[3 * v + 2]));
        }
        n = vec3_normalize(n);
        if (f->type != LASH_FREEFORM) {
            double distance;
            Vec3 own = face_normal(f, p, &distance);
            assert_true(fabs(distance) < 5e-3 * size); // the mesh lies on the surface
            if (vec3_dot(own, n) < 0.7)
                fail_msg("face %d type %d: normals differ, %g", (int)(f - s->face), (int)f->type,
                         vec3_dot(own, n));
        }
        Vec3 a = mesh_point(s, s->triangle[3 * i]), b = mesh_point(s, s->triangle[3 * i + 1]);
        Vec3 c = mesh_point(s, s->triangle[3 * i + 2]);
        turned += vec3_dot(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)), n) < 0; // winding
        int out = ray_crossings(s, vec3_add_scaled(p, step, n), ray, 0);
        int in = ray_crossings(s, vec3_add_scaled(p, -step, n), ray, 0);
        ++seen;
        bool bad = out % 2 != 0 || in % 2 != 1;
        wrong += bad;
        if (face != s->triangle_face[i]) {
            face = s->triangle_face[i];
            face_seen = face_wrong = 0;
        }
        ++face_seen;
        face_wrong += bad;
        if (face_seen >= 3 && face_wrong == face_seen) fail_msg("face %d is turned round", face);
    }
    assert_true(seen > 0);
    assert_true(turned <= seen / 50); // slivers in single precision
    // A ray may pass through an edge of the mesh; thin corners may be left by a step.
    if (wrong > seen / 20) fail_msg("%d of %d points on the wrong side", wrong, seen);
}

static const char plate[] =
    "{\"extrude\": {\"profile\": {\"outer\": {\"rectangle\": {\"size\": [60, 40], \"corner\": 5}, "
    "\"name\": \"rim\"}, \"holes\": [{\"circle\": {\"center\": [-15, 0], \"radius\": 5}, "
    "\"name\": \"bore\"}, {\"slot\": {\"from\": [10, 0], \"to\": [20, 0], \"radius\": 4}, "
    "\"name\": \"slot\"}]}, \"length\": 8, \"bottom\": \"bottom\", \"top\": \"top\"}}, "
    "{\"cylinder\": {\"radius\": 4, \"length\": 10, \"side\": \"pin\", \"top\": \"pin end\"}, "
    "\"at\": [20, 14, 8]}, "
    "{\"do\": \"cut\", \"cylinder\": {\"radius\": 1.5, \"length\": 100}, \"axis\": [0, 1, 0], "
    "\"at\": [-15, -50, 4], \"name\": \"cross\"}, "
    "{\"fillet\": {\"radius\": 1, \"edges\": [[20, 10, 18]], \"name\": \"round\"}}";

static const char* const shapes[][2] = {
    {"plate2", plate},
    {"bowl",
     "{\"revolve\": {\"profile\": {\"path\": [{\"start\": [0, 0]}, {\"line\": [10, 0]}, {\"arc\": "
     "{\"to\": [12, 6], \"through\": [12, 2]}}, {\"line\": [11, 6]}, {\"spline\": [[9, 2], [5, 1], "
     "[0, 1]]}, {\"close\": true}]}}}"},
    {"wedge",
     "{\"cone\": {\"radius\": 10, \"radius2\": 0, \"length\": 12}}, {\"do\": \"cut\", "
     "\"box\": {\"size\": [20, 20, 20]}}"},
    {"frustum",
     "{\"cone\": {\"radius\": 10, \"radius2\": 4, \"length\": 12}}, {\"do\": \"cut\", "
     "\"cylinder\": {\"radius\": 2, \"length\": 60}, \"axis\": [1, 0, 0.2], \"at\": "
     "[-30, 1, 2]}"},
    {"lens",
     "{\"sphere\": {\"radius\": 10}}, {\"do\": \"common\", \"sphere\": {\"radius\": 10}, "
     "\"at\": [3, 4, 9]}"},
    {"octant",
     "{\"sphere\": {\"radius\": 10}}, {\"do\": \"common\", \"box\": {\"size\": [20, 20, "
     "20]}}"},
    {"pierced ball",
     "{\"sphere\": {\"radius\": 10}}, {\"do\": \"cut\", \"cylinder\": {\"radius\": "
     "3, \"length\": 40}, \"at\": [1, 0, -20]}, {\"do\": \"cut\", \"cylinder\": "
     "{\"radius\": 2, \"length\": 40}, \"axis\": [1, 0, 0], \"at\": [-20, 0, 0]}"},
    {"half ring",
     "{\"torus\": {\"radius\": 10, \"tube\": 3}}, {\"do\": \"cut\", \"box\": "
     "{\"size\": [40, 40, 40]}, \"at\": [-20, 0, -20]}"},
    {"split ring",
     "{\"torus\": {\"radius\": 10, \"tube\": 3}}, {\"do\": \"cut\", \"box\": "
     "{\"size\": [40, 40, 40]}, \"at\": [-20, -20, 1]}, {\"do\": \"cut\", "
     "\"cylinder\": {\"radius\": 1, \"length\": 20}, \"at\": [0, 9.7, -10]}"},
    {"housing",
     "{\"box\": {\"size\": [50, 40, 20]}}, {\"do\": \"cut\", \"extrude\": {\"profile\": "
     "{\"rectangle\": {\"center\": [25, 20], \"size\": [44, 34], \"corner\": 3}}, "
     "\"length\": 17}, \"at\": [0, 0, 3]}, {\"cylinder\": {\"radius\": 4, \"length\": "
     "12}, \"at\": [15, 20, 2]}, {\"do\": \"cut\", \"cylinder\": {\"radius\": 2, "
     "\"length\": 30}, \"at\": [15, 20, -5]}, {\"fillet\": {\"radius\": 1.5, "
     "\"edges\": [[0, 0, 10], [50, 0, 10], [25, 0, 20]]}}"},
    {"tube",
     "{\"cylinder\": {\"radius\": 10, \"length\": 40}}, {\"do\": \"cut\", \"cylinder\": "
     "{\"radius\": 8, \"length\": 40}}, {\"do\": \"cut\", \"cylinder\": {\"radius\": 3, "
     "\"length\": 40}, \"axis\": [1, 0, 0], \"at\": [-20, 0, 20], \"repeat\": {\"count\": "
     "2, \"angle\": 90}}"},
};

static void trims_of_all_faces_have_the_area_of_the_face(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        LashShape* s = cad_part(&folder, shapes[i][0], shapes[i][1], "");
        assert_non_null(s);
        assert_true(s->part[0].closed);
        assert_null(strstr(lash_shape_string(s, s->warnings), "volume"));
        check_trims(s, 1e-7);
        lash_shape_destroy(s);
    }
}

// A bore of radius R, cut by a cross bore of radius r through its axis: the hole it leaves has the
// area \int 2 sqrt(r^2 - R^2 sin^2 t) R dt on each side (quadrature in 30 digits).
static void area_of_a_cross_bored_bore_is_exact(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "plate3", plate, "");
    int rows[4];
    assert_int_equal(lash_select_name(s, LASH_ANY_PART, "bore", rows, 4, NULL), 1);
    check_relative("area", s->face[rows[0]].area, 237.02556812988695e-6, 2e-9);
    lash_shape_destroy(s);
}

static void outward_is_outward_on_solids_with_holes(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        LashShape* s = cad_part(&folder, shapes[i][0], shapes[i][1], "");
        assert_non_null(s);
        check_outward(s);
        lash_shape_destroy(s);
    }
}

static Vec3 face_point(const LashFace* f, double u, double v) {
    Vec3 out = vec3_add(vec3_scale(cos(u), f->x), vec3_scale(sin(u), f->y));
    double a = f->half_angle, rho = 0, h = 0;
    if (f->type == LASH_PLANE) return vec3_add_scaled(vec3_add_scaled(f->origin, u, f->x), v, f->y);
    if (f->type == LASH_CYLINDER) {
        rho = f->radius;
        h = v;
    }
    if (f->type == LASH_CONE) {
        rho = f->radius + v * sin(a);
        h = v * cos(a);
    }
    if (f->type == LASH_SPHERE) {
        rho = f->radius * cos(v);
        h = f->radius * sin(v);
    }
    if (f->type == LASH_TORUS) {
        rho = f->radius + f->radius2 * cos(v);
        h = f->radius2 * sin(v);
    }
    return vec3_add_scaled(vec3_add_scaled(f->origin, rho, out), h, f->z);
}

// Points over the whole (u, v) box, a quarter of it more on planes: inside the trims where
// OpenCASCADE's mesh is, outside where it is not.
static void trims_agree_with_the_mesh(void** state) {
    (void)state;
    int inside = 0, outside = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        LashShape* s = cad_part(&folder, shapes[i][0], shapes[i][1], "");
        double size = vec3_distance(s->part[0].box.low, s->part[0].box.high);
        for (int k = 0; k < s->faces; ++k) {
            const LashFace* f = &s->face[k];
            if (f->type == LASH_FREEFORM) continue;
            double margin = f->type == LASH_PLANE ? 0.25 : 0;
            for (int n = 0; n < 150;
                 ++n) { // a low-discrepancy set (golden ratio in two dimensions)
                double a = fmod(0.5 + n * 0.7548776662466927, 1),
                       b = fmod(0.5 + n * 0.5698402909980532, 1);
                double u = f->u0 + (f->u1 - f->u0) * (a * (1 + 2 * margin) - margin);
                double v = f->v0 + (f->v1 - f->v0) * (b * (1 + 2 * margin) - margin);
                Vec3 p = face_point(f, u, v);
                double distance = lash_face_mesh_distance(s, k, p);
                LashTrimSide side = lash_trim_point(s, f, p, 1e-9 * size);
                if (distance > 4e-3 * size && side != LASH_OUTSIDE)
                    fail_msg("%s, face %d (%.6g, %.6g): inside, but %.3g m from the mesh",
                             shapes[i][0], k, u, v, distance);
                LashTrimSide wide = lash_trim_point(s, f, p, 4e-3 * size);
                if (distance < 1e-3 * size && wide == LASH_OUTSIDE)
                    fail_msg("%s, face %d (%.6g, %.6g): outside, but %.3g m from the mesh",
                             shapes[i][0], k, u, v, distance);
                inside += side == LASH_INSIDE;
                outside += side == LASH_OUTSIDE;
            }
        }
        lash_shape_destroy(s);
    }
    assert_true(inside > 5000 && outside > 1000);
}

static Vec3 edge_point(const LashShape* s, const LashEdge* e, double t) {
    if (e->type == LASH_LINE) return vec3_add_scaled(e->origin, t, e->z);
    if (e->type == LASH_CIRCLE)
        return vec3_add_scaled(vec3_add_scaled(e->origin, e->radius * cos(t), e->x),
                               e->radius * sin(t), e->y);
    const LashSegment* g = &s->segment[e->first_segment];
    bool last = t == e->t1;
    if (last) g += e->segments - 1;
    const double* p = &s->pole[4 * (g->first_pole + (last ? g->degree : 0))];
    return vec3(p[0], p[1], p[2]);
}

static void analytic_edges_lie_on_both_faces_and_end_at_their_vertices(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        LashShape* s = cad_part(&folder, shapes[i][0], shapes[i][1], "");
        double size = vec3_distance(s->part[0].box.low, s->part[0].box.high);
        for (int k = 0; k < s->edges; ++k) {
            const LashEdge* e = &s->edge[k];
            assert_true(e->t0 < e->t1);
            for (int end = 0; end < 2 && e->vertex[end] >= 0; ++end)
                check_near("vertex",
                           vec3_distance(edge_point(s, e, end ? e->t1 : e->t0),
                                         s->vertex[e->vertex[end]].point),
                           0, 1e-12 * size);
            assert_true(e->face[0] >= 0 && e->face[1] >= 0); // closed solids
            for (int j = 0; j < 2 && e->type != LASH_FREE_CURVE; ++j) {
                const LashFace* f = &s->face[e->face[j]];
                if (f->type == LASH_FREEFORM) continue;
                for (int m = 0; m <= 4; ++m) {
                    double distance;
                    face_normal(f, edge_point(s, e, e->t0 + (e->t1 - e->t0) * m / 4), &distance);
                    check_near("edge on face", distance, 0, 1e-12 * size);
                }
            }
        }
        lash_shape_destroy(s);
    }
}

static int count_convexity(const LashShape* s, LashConvexity c) {
    int n = 0;
    for (int i = 0; i < s->edges; ++i) n += s->edge[i].convexity == c;
    return n;
}

static void convexity_of_edges_and_vertices_is_right(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "cube", "{\"box\": {\"size\": [10, 10, 10]}}", "");
    assert_int_equal(count_convexity(s, LASH_CONVEX), 12);
    for (int i = 0; i < s->vertices; ++i) assert_int_equal(s->vertex[i].convexity, LASH_CONVEX);
    assert_int_equal(s->vertices, 8);
    lash_shape_destroy(s);
    s = cad_part(&folder, "ell",
                 "{\"extrude\": {\"profile\": {\"polygon\": [[0, 0], [20, 0], [20, 10], [10, 10], "
                 "[10, 20], [0, 20]]}, \"length\": 5}}",
                 "");
    assert_int_equal(count_convexity(s, LASH_CONCAVE), 1);
    assert_int_equal(count_convexity(s, LASH_CONVEX), 17);
    int convex = 0, concave = 0;
    for (int i = 0; i < s->vertices; ++i) {
        convex += s->vertex[i].convexity == LASH_CONVEX;
        concave += s->vertex[i].convexity == LASH_CONCAVE;
    }
    assert_int_equal(convex, 10);
    assert_int_equal(concave, 2);
    lash_shape_destroy(s);
    s = cad_part(
        &folder, "rounded",
        "{\"box\": {\"size\": [20, 20, 20]}}, {\"fillet\": {\"radius\": 3, \"edges\": [[0, "
        "0, 10]]}}",
        "");
    assert_int_equal(count_convexity(s, LASH_SMOOTH), 2);
    for (int i = 0; i < s->vertices; ++i)
        assert_true(s->vertex[i].convexity == LASH_CONVEX || s->vertex[i].convexity == LASH_SMOOTH);
    lash_shape_destroy(s);
}

static void names_and_colours_come_back(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "plate", plate, ", \"color\": [0.8, 0.2, 0.1]");
    static const struct {
        const char* name;
        int count;
    } expected[] = {{"rim", 8}, {"bore", 1},  {"slot", 4},    {"top", 1},  {"bottom", 1},
                    {"pin", 1}, {"cross", 2}, {"pin end", 1}, {"round", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        int rows[32];
        LashError error = {0};
        int n = lash_select_name(s, LASH_ANY_PART, expected[i].name, rows, 32, &error);
        if (n != expected[i].count)
            fail_msg("%s: %d faces, expected %d", expected[i].name, n, expected[i].count);
    }
    assert_string_equal(lash_shape_string(s, s->part[0].name), "plate");
    assert_true(fabsf(s->part[0].color[0] - 0.8f) < 2e-3f &&
                fabsf(s->part[0].color[1] - 0.2f) < 2e-3f);
    lash_shape_destroy(s);
}

static void the_same_part_file_gives_the_same_bytes(void** state) {
    (void)state;
    char json[4096], first[700];
    snprintf(
        json, sizeof json,
        "{\"format\": \"lash-step/1\", \"name\": \"same\", \"color\": [1, 0, 0], \"steps\": [%s]}",
        plate);
    snprintf(first, sizeof first, "%s", cad_make(&folder, "same1", json));
    size_t n, m;
    char *a = cad_read(first, &n), *b = cad_read(cad_make(&folder, "same2", json), &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

static int type_count(const LashShape* s, LashSurfaceType type) {
    int n = 0;
    for (int i = 0; i < s->faces; ++i) n += s->face[i].type == type;
    return n;
}

static void bsplines_that_are_elementary_are_recognised(void** state) {
    (void)state;
    static const char steps[] =
        "{\"box\": {\"size\": [40, 30, 10]}}, {\"do\": \"cut\", \"cylinder\": {\"radius\": 5, "
        "\"length\": 10}, \"at\": [10, 15, 0]}, {\"cone\": {\"radius\": 6, \"radius2\": 3, "
        "\"length\": 8}, \"at\": [30, 15, 10]}, {\"do\": \"cut\", \"sphere\": {\"radius\": 4}, "
        "\"at\": [20, 15, 11]}";
    LashShape *exact = cad_part(&folder, "exact", steps, ""),
              *free = cad_part(&folder, "free", steps, ", \"bspline\": true");
    assert_int_equal(type_count(free, LASH_FREEFORM), 0);
    assert_int_equal(free->faces, exact->faces);
    for (int t = LASH_PLANE; t <= LASH_FREEFORM; ++t)
        assert_int_equal(type_count(free, (LashSurfaceType)t),
                         type_count(exact, (LashSurfaceType)t));
    double size = vec3_distance(free->part[0].box.low, free->part[0].box.high);
    for (int i = 0; i < free->faces; ++i) {
        const LashFace* f = &free->face[i];
        assert_true(f->deviation > 0 && f->deviation < 1e-12 * size);
        for (int k = 0; k < exact->faces; ++k) { // the same radius somewhere
            const LashFace* g = &exact->face[k];
            if (g->type != f->type || fabs(g->area - f->area) > 1e-9 * g->area) continue;
            if (f->type == LASH_CYLINDER || f->type == LASH_SPHERE)
                check_near("radius", f->radius, g->radius, 1e-12 * size);
            if (f->type == LASH_CONE) check_near("angle", f->half_angle, g->half_angle, 1e-11);
        }
    }
    check_trims(free, 1e-7);
    check_outward(free);
    check_relative("volume", free->part[0].volume, exact->part[0].volume, 1e-9);
    lash_shape_destroy(exact);
    lash_shape_destroy(free);
}

// A whole ring, and a piece of one: the rounding at the end of a pin.
static void bspline_tori_are_recognised(void** state) {
    (void)state;
    static const char* const steps[2] = {
        "{\"torus\": {\"radius\": 30, \"tube\": 5}}",
        "{\"cylinder\": {\"radius\": 8, \"length\": 20}}, {\"fillet\": {\"radius\": 2, "
        "\"edges\": [[8, 0, 20]]}}"};
    static const double radius[2] = {30e-3, 6e-3}, tube[2] = {5e-3, 2e-3};
    for (int k = 0; k < 2; ++k) {
        LashShape *exact = cad_part(&folder, "torus", steps[k], ""),
                  *free = cad_part(&folder, "torus_free", steps[k], ", \"bspline\": true");
        assert_int_equal(type_count(free, LASH_FREEFORM), 0);
        assert_int_equal(type_count(free, LASH_TORUS), 1);
        assert_int_equal(free->faces, exact->faces);
        for (int i = 0; i < free->faces; ++i) {
            const LashFace* f = free->face + i;
            if (f->type != LASH_TORUS) continue;
            check_near("radius", f->radius, radius[k], 1e-13);
            check_near("tube", f->radius2, tube[k], 1e-13);
            assert_true(f->deviation > 0 && f->deviation < 1e-12 && f->side == 1);
        }
        check_trims(free, 1e-7);
        check_outward(free);
        check_relative("volume", free->part[0].volume, exact->part[0].volume, 1e-9);
        lash_shape_destroy(exact);
        lash_shape_destroy(free);
    }
}

// A circle of two arcs, swept: two half cylinders in the file, one face in the tables.
static void half_cylinders_become_one_face(void** state) {
    (void)state;
    static const char arcs[] =
        "{\"extrude\": {\"profile\": {\"path\": [{\"start\": [5, 0]}, {\"arc\": {\"to\": [-5, 0], "
        "\"through\": [0, 5]}%s}, {\"arc\": {\"to\": [5, 0], \"through\": [0, -5]}%s}]}, "
        "\"length\": 9}}";
    char steps[600];
    snprintf(steps, sizeof steps, arcs, "", "");
    for (int spline = 0; spline < 2; ++spline) { // as the surface is, and written as B-splines
        LashShape* s =
            cad_part(&folder, spline ? "spline halves" : "halves", steps,
                     spline ? ", \"join\": false, \"bspline\": true" : ", \"join\": false");
        assert_int_equal(s->faces, 3);
        assert_int_equal(s->edges, 2);
        assert_int_equal(s->vertices, 0);
        for (int i = 0; i < 2; ++i) {
            assert_int_equal(s->edge[i].type, LASH_CIRCLE);
            assert_true(s->edge[i].closed);
            check_near("turn", s->edge[i].t1 - s->edge[i].t0, 2 * LASH_PI, 1e-14);
        }
        assert_int_equal(type_count(s, LASH_CYLINDER), 1);
        check_trims(s, 1e-9);
        lash_shape_destroy(s);
    }
    // Different names keep them apart.
    snprintf(steps, sizeof steps, arcs, ", \"name\": \"front\"", ", \"name\": \"back\"");
    LashShape* s = cad_part(&folder, "named halves", steps, ", \"join\": false");
    assert_int_equal(s->faces, 4);
    assert_int_equal(type_count(s, LASH_CYLINDER), 2);
    check_trims(s, 1e-9);
    lash_shape_destroy(s);
}

// Each half a spline through points of the circle, as it is published for some parts: two surfaces
// that are a little off, by their own amount.
static void halves_of_splines_that_are_a_little_off_become_one_face(void** state) {
    (void)state;
    enum { POINTS = 100 };
    char steps[12000] = "{\"extrude\": {\"profile\": {\"path\": [{\"start\": [5, 0]}",
         *at = steps + strlen(steps);
    for (int half = 0; half < 2; ++half) {
        at += sprintf(at, ", {\"spline\": [");
        for (int i = 1; i <= POINTS; ++i) {
            double turn = LASH_PI * (half + (double)i / POINTS);
            at += sprintf(at, "%s[%.15g, %.15g]", i == 1 ? "" : ", ", 5 * cos(turn), 5 * sin(turn));
        }
        at += sprintf(at, "]}");
    }
    sprintf(at, "]}, \"length\": 9}}");
    LashShape* s = cad_part(&folder, "rough halves", steps, ", \"join\": false");
    assert_int_equal(type_count(s, LASH_CYLINDER), 1);
    assert_int_equal(s->faces, 3);
    for (int i = 0; i < s->faces; ++i)
        if (s->face[i].type == LASH_CYLINDER) assert_true(s->face[i].deviation > 1e-10);
    lash_shape_destroy(s);
}

static LashShape* spline_circle(int n) {
    char steps[12000] = "{\"extrude\": {\"profile\": {\"spline\": [", *at = steps + strlen(steps);
    for (int i = 0; i < n; ++i)
        at += sprintf(at, "%s[%.15g, %.15g]", i > 0 ? ", " : "", 5 * cos(2 * LASH_PI * i / n),
                      5 * sin(2 * LASH_PI * i / n));
    strcpy(at, "]}, \"length\": 6}}");
    char name[32];
    snprintf(name, sizeof name, "spline%d", n);
    return cad_part(&folder, name, steps, "");
}

// A cubic spline through n points of a circle is off by O(n^-4), here 9.6e-7 m for n = 24: too far
// to be called a cylinder. Finer ones are, and the proven deviation falls as the error does.
static void a_spline_through_a_circle_is_a_cylinder_within_its_deviation(void** state) {
    (void)state;
    LashShape* s = spline_circle(24);
    assert_int_equal(type_count(s, LASH_CYLINDER), 0);
    lash_shape_destroy(s);
    double expected = 9.6e-7 / 16;
    for (int n = 48; n <= 192; n *= 2, expected /= 16) {
        s = spline_circle(n);
        assert_int_equal(type_count(s, LASH_CYLINDER), 1);
        for (int i = 0; i < s->faces; ++i) {
            const LashFace* f = &s->face[i];
            if (f->type != LASH_CYLINDER) continue;
            check_near("radius", f->radius, 5e-3, f->deviation);
            if (!(f->deviation > 0.7 * expected && f->deviation < 1.7 * expected))
                fail_msg("%d points: deviation %.3g, expected %.3g", n, f->deviation, expected);
        }
        check_trims(s, 1e-5);
        lash_shape_destroy(s);
    }
}

static void shells_and_edges_are_contact_geometry(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "bush",
                            "{\"cylinder\": {\"radius\": 5, \"length\": 10, \"side\": \"hull\"}}",
                            ", \"only\": [\"hull\"], \"reversed\": true");
    assert_non_null(s);
    assert_int_equal(s->faces, 1);
    assert_int_equal(s->part[0].solids, 0);
    assert_false(s->part[0].closed);
    assert_true(s->part[0].inward);
    assert_true(s->face[0].side < 0);
    assert_true(s->face[0].u_closed);
    assert_int_equal(s->edges, 2);
    assert_int_equal(s->edge[0].convexity, LASH_FREE);
    lash_shape_destroy(s);
    LashError error = {0};
    s = lash_shape_load(cad_make(&folder, "line",
                                 "{\"format\": \"lash-step/1\", \"name\": \"line\", \"edges\": "
                                 "[[[0, -20, 0], [0, 20, 5]]]}"),
                        NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->faces, 0);
    assert_int_equal(s->edges, 1);
    assert_int_equal(s->edge[0].type, LASH_LINE);
    assert_int_equal(s->vertices, 2);
    lash_shape_destroy(s);
}

// OpenCASCADE turns solids right; a closed shell stays as drawn: a hole.
static void inside_out_solids_are_turned_and_inward_shells_kept(void** state) {
    (void)state;
    static const char box[] = "{\"box\": {\"size\": [10, 10, 10]}, \"name\": \"hull\"}";
    static const char* const more[] = {", \"reversed\": true",
                                       ", \"reversed\": true, \"only\": [\"hull\"]"};
    for (int k = 0; k < 2; ++k) {
        LashShape* s = cad_part(&folder, k == 0 ? "turned" : "void", box, more[k]);
        assert_int_equal(s->part[0].solids, 1 - k);
        assert_true(s->part[0].closed);
        assert_int_equal(s->part[0].inward, k == 1);
        check_relative("volume", s->part[0].volume, 1e-6, 1e-12);
        for (int i = 0; i < s->faces; ++i) { // outward of the hole points to its middle
            const LashFace* f = &s->face[i];
            Vec3 n = vec3_scale(f->side, f->z), to = vec3_sub(s->part[0].center, f->box.low);
            assert_true((vec3_dot(n, to) > 0) == (k == 1));
        }
        lash_shape_destroy(s);
    }
}

static void healing_keeps_shape_and_names(void** state) {
    (void)state;
    char json[4096];
    snprintf(json, sizeof json,
             "{\"format\": \"lash-step/1\", \"name\": \"sick\", \"steps\": [%s]}", plate);
    const char* path = cad_make(&folder, "sick", json);
    LashError error = {0};
    LashShape *a = lash_shape_load(path, NULL, &error),
              *b = lash_shape_load(path, &(LashImport){.heal = true}, &error);
    assert_non_null(b);
    assert_int_equal(a->faces, b->faces);
    check_relative("volume", b->part[0].volume, a->part[0].volume, 1e-9);
    int rows[32];
    assert_int_equal(lash_select_name(b, LASH_ANY_PART, "rim", rows, 32, &error), 8);
    assert_string_not_equal(a->hash, b->hash);
    lash_shape_destroy(a);
    lash_shape_destroy(b);
}

static void reach_is_the_curvature_or_half_the_wall(void** state) {
    (void)state;
    LashShape* s = cad_part(&folder, "washer",
                            "{\"cylinder\": {\"radius\": 10, \"length\": 3, \"side\": \"hull\", "
                            "\"top\": \"top\"}}, {\"do\": \"cut\", \"cylinder\": {\"radius\": 6, "
                            "\"length\": 3}, \"name\": \"bore\"}",
                            "");
    for (int i = 0; i < s->faces; ++i) {
        double wall = s->face[i].type == LASH_PLANE ? 1.5e-3 : 2e-3;
        check_near("reach", s->face[i].reach, wall, 0.1e-3); // the walls are a mesh
    }
    lash_shape_destroy(s);
}

static void third_party_slider_crank_loads(void** state) {
    (void)state;
    char path[900];
    snprintf(path, sizeof path, "%s/slider_crank/body1.step", cad_third_party());
    if (access(path, R_OK) != 0) skip();
    LashError error = {0};
    LashShape* s = lash_shape_load(path, NULL, &error);
    assert_non_null(s);
    assert_non_null(strstr(lash_shape_string(s, s->warnings), "metre numbers"));
    lash_shape_destroy(s);
    static const struct {
        const char* file;
        double volume;
        int faces, edges;
        bool inward;
    } files[] = {{"body1.step", LASH_PI * 1e-4 * 0.153, 3, 2, false},
                 {"body2.step", LASH_PI * 1e-4 * 0.306, 3, 2, false},
                 {"Slider.step", 0, 1, 2, false},
                 {"chamber.step", 0, 1, 2, true},
                 {"RingBody1.stp", 0, 1, 2, true},
                 {"contact_b_cyl.step", 0, 1, 2, false},
                 {"contact_h_cyl.step", 0, 1, 2, false},
                 {"AxisBody2.stp", 0, 0, 1, false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        snprintf(path, sizeof path, "%s/slider_crank/%s", cad_third_party(), files[i].file);
        s = lash_shape_load(path, &(LashImport){.scale = 1}, &error);
        if (s == NULL) fail_msg("%s: %s", path, error.message);
        assert_int_equal(s->faces, files[i].faces);
        assert_int_equal(s->edges, files[i].edges);
        assert_int_equal(s->part[0].inward, files[i].inward);
        check_near(files[i].file, s->part[0].volume, files[i].volume, 1e-12 * files[i].volume);
        check_trims(s, 1e-9);
        lash_shape_destroy(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_of_box_cylinder_sphere_torus_are_exact),
        cmocka_unit_test(mass_of_a_drilled_block_is_exact),
        cmocka_unit_test(trims_of_all_faces_have_the_area_of_the_face),
        cmocka_unit_test(trims_agree_with_the_mesh),
        cmocka_unit_test(area_of_a_cross_bored_bore_is_exact),
        cmocka_unit_test(outward_is_outward_on_solids_with_holes),
        cmocka_unit_test(analytic_edges_lie_on_both_faces_and_end_at_their_vertices),
        cmocka_unit_test(convexity_of_edges_and_vertices_is_right),
        cmocka_unit_test(names_and_colours_come_back),
        cmocka_unit_test(the_same_part_file_gives_the_same_bytes),
        cmocka_unit_test(bsplines_that_are_elementary_are_recognised),
        cmocka_unit_test(bspline_tori_are_recognised),
        cmocka_unit_test(half_cylinders_become_one_face),
        cmocka_unit_test(halves_of_splines_that_are_a_little_off_become_one_face),
        cmocka_unit_test(a_spline_through_a_circle_is_a_cylinder_within_its_deviation),
        cmocka_unit_test(shells_and_edges_are_contact_geometry),
        cmocka_unit_test(inside_out_solids_are_turned_and_inward_shells_kept),
        cmocka_unit_test(healing_keeps_shape_and_names),
        cmocka_unit_test(reach_is_the_curvature_or_half_the_wall),
        cmocka_unit_test(third_party_slider_crank_loads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

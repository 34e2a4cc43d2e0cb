// The elastic block of linear triangles: patch test, mass, equilibrium of its start.
#include "test.h"

#include "app/verify/paper_systems.h"
#include "core/arena.h"

typedef struct Block {
    LashPaperElasticBlock d;
    LashLagrangian* model;
    const LashSystem* system;
    LashSystemWork* work;
    double *q, *v, *F;
    int column; // coordinates of a column
} Block;

static Block make_block(double poisson, double traction) {
    Block b = {.d = lash_paper_elastic_block()};
    b.d.columns = 8;
    b.d.rows = 5;
    b.d.poisson = poisson;
    b.d.traction = traction;
    b.d.gravity = 0;
    b.model = lash_paper_sliding_block(&b.d);
    b.system = lash_lagrangian_system(b.model);
    b.work = b.system->work_create(b.system);
    size_t n = (size_t)b.system->nv;
    b.q = lash_alloc(n * sizeof(double));
    b.v = lash_alloc(n * sizeof(double));
    b.F = lash_alloc(n * sizeof(double));
    b.system->initial_state(b.system, b.q, b.v);
    b.column = 2 * (b.d.rows + 1) - 1;
    return b;
}

static void free_block(Block* b) {
    b->system->work_destroy(b->system, b->work);
    lash_free(b->q);
    lash_free(b->v);
    lash_free(b->F);
    lash_lagrangian_destroy(b->model);
}

// Without Poisson's effect the pressed block is strained uniformly, whatever the mesh.
static void pressed_block_passes_the_patch_test(void** state) {
    (void)state;
    Block b = make_block(0, 0);
    double floor_force = 0;
    b.system->forces(b.system, b.work, 0, b.q, b.v, b.F);
    for (int c = 0; c <= b.d.columns; ++c) {
        for (int r = 0; r <= b.d.rows; ++r) {
            int x = c * b.column + 2 * r;
            assert_true(fabs(b.q[x]) < 1e-17);
            if (r == b.d.rows) continue; // its height is prescribed
            assert_true(fabs(b.q[x + 1] - b.d.press * r / b.d.rows) < 1e-17);
        }
        floor_force -= b.F[c * b.column + 1]; // what the floor has to give
    }
    double expected = b.d.modulus * -b.d.press / b.d.height * b.d.width * b.d.thickness;
    assert_true(fabs(floor_force / expected - 1) < 1e-12);
    free_block(&b);
}

static void start_is_in_equilibrium_above_the_floor(void** state) {
    (void)state;
    Block b = make_block(0.358, 0);
    b.system->forces(b.system, b.work, 0, b.q, b.v, b.F);
    double scale = 0;
    for (int i = 0; i < b.system->nv; ++i) scale = fmax(scale, fabs(b.F[i]));
    assert_true(scale > 1); // the floor's nodes are loaded
    for (int i = 0; i < b.system->nv; ++i) {
        if (i % b.column >= 2) assert_true(fabs(b.F[i]) < 1e-10 * scale);
    }
    free_block(&b);
}

static void mass_and_traction_add_up(void** state) {
    (void)state;
    Block b = make_block(0.358, 2e6);
    const LashBlocks* pattern = &b.system->pattern;
    double* M = lash_alloc((size_t)pattern->offset[pattern->count] * sizeof *M);
    b.system->mass(b.system, b.work, b.q, M);
    double mass = 0, force = 0;
    for (int k = 0; k < pattern->count; ++k) { // e' M e for a unit translation along x
        int row = pattern->row[k], column = pattern->column[k];
        const double* value = M + pattern->offset[k];
        for (int j = b.system->block_start[column]; j < b.system->block_start[column + 1]; ++j) {
            for (int i = b.system->block_start[row]; i < b.system->block_start[row + 1]; ++i) {
                bool along_x = i % b.column % 2 == 0 && j % b.column % 2 == 0;
                mass += along_x ? *value : 0;
                ++value;
            }
        }
    }
    double volume = b.d.width * b.d.height * b.d.thickness;
    assert_true(fabs(mass / (b.d.density * volume) - 1) < 1e-12);
    b.system->forces(b.system, b.work, 1e-4, b.q, b.v, b.F); // sin(2 pi 2000 t) > 0
    double* rest = lash_alloc((size_t)b.system->nv * sizeof *rest);
    b.system->forces(b.system, b.work, 0, b.q, b.v, rest); // sin = 0
    for (int i = 0; i < b.system->nv; ++i) force += b.F[i] - rest[i];
    assert_true(fabs(force / (b.d.traction * b.d.height * b.d.thickness) - 1) < 1e-9);
    lash_free(M);
    lash_free(rest);
    free_block(&b);
}

RUN(TEST(pressed_block_passes_the_patch_test), TEST(start_is_in_equilibrium_above_the_floor),
    TEST(mass_and_traction_add_up))

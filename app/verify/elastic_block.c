// An elastic block on a rigid floor by linear triangles (T3) [AC24 section 5.2].
//
// Per triangle with area A, thickness b, corners p_1..p_3 and B = d(strain)/d(displacement), which
// is constant:
//     K_e = b A B' D B,     D = E/(1 - nu^2) [1 nu 0; nu 1 0; 0 0 (1 - nu)/2]   (plane stress)
//     M_e = rho b A/12 (1 + delta_ij) per direction                             (consistent)
// The mesh is a grid of rectangles, each cut along the diagonal that alternates like a chessboard.
// Nodes are numbered column by column, so the band is two columns wide and every cost is linear in
// the number of columns. The prescribed displacement of the top is moved to the load.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/verify/paper_systems.h"
#include "core/arena.h"
#include "core/error.h"
#include "core/math3.h"

typedef struct Mesh {
    LashPaperElasticBlock d;
    int nodes_up;  // nodes of a column
    int n, w;      // coordinates, bandwidth
    double *M, *K; // (n x 2w+1) bands
    double* load;  // (n) of the pressed top and of gravity
} Mesh;

typedef struct Traction { // context of the load that depends on time
    int nodes_up;
    double per_length, cell, frequency; // traction x thickness [N/m], height of a cell [m], [Hz]
} Traction;

LashPaperElasticBlock lash_paper_elastic_block(void) {
    return (LashPaperElasticBlock){.columns = 16,
                                   .rows = 10,
                                   .width = 40e-3,
                                   .height = 25e-3,
                                   .thickness = 15e-3,
                                   .modulus = 5.75e9,
                                   .poisson = 0.358,
                                   .density = 1170,
                                   .press = -5e-6,
                                   .traction = 2e6,
                                   .frequency = 2000,
                                   .gravity = 1,
                                   .mu = 0.5};
}

// Coordinate of direction c (0 x, 1 y) of a node; -1: y of the top, which is prescribed. A column
// has 2 nodes_up - 1 coordinates.
static int dof_of(int nodes_up, int column, int row, int c) {
    if (c == 1 && row == nodes_up - 1) return -1;
    return column * (2 * nodes_up - 1) + 2 * row + c;
}

static double* entry(const Mesh* mesh, double* band, int i, int j) {
    return &band[i * (2 * mesh->w + 1) + j - i + mesh->w];
}

// Adds one triangle; node[k] = (column, row).
static void add_triangle(Mesh* mesh, const int node[3][2]) {
    const LashPaperElasticBlock* block = &mesh->d;
    double x[3], y[3], bx[3], by[3];
    for (int k = 0; k < 3; ++k) {
        x[k] = node[k][0] * block->width / block->columns;
        y[k] = node[k][1] * block->height / block->rows;
    }
    double twice_area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    for (int k = 0; k < 3; ++k) { // gradients of the shape functions
        int a = (k + 1) % 3, b = (k + 2) % 3;
        bx[k] = (y[a] - y[b]) / twice_area;
        by[k] = (x[b] - x[a]) / twice_area;
    }
    double volume = twice_area / 2 * block->thickness;
    double D = block->modulus / (1 - block->poisson * block->poisson), nu = block->poisson,
           G = D * (1 - nu) / 2;
    for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 2; ++c) {
            int i = dof_of(mesh->nodes_up, node[k][0], node[k][1], c);
            if (i < 0) continue;
            if (c == 1) mesh->load[i] -= block->density * volume / 3 * block->gravity;
            for (int l = 0; l < 3; ++l) {
                double stiffness[2] = {
                    c == 0 ? D * bx[k] * bx[l] + G * by[k] * by[l]
                           : D * nu * by[k] * bx[l] + G * bx[k] * by[l], // force c by x of l
                    c == 0 ? D * nu * bx[k] * by[l] + G * by[k] * bx[l]
                           : D * by[k] * by[l] + G * bx[k] * bx[l]}; // and by y of l
                for (int e = 0; e < 2; ++e) {
                    int j = dof_of(mesh->nodes_up, node[l][0], node[l][1], e);
                    double s = volume * stiffness[e];
                    if (j < 0) {
                        mesh->load[i] -= s * block->press;
                        continue;
                    }
                    *entry(mesh, mesh->K, i, j) += s;
                    if (c == e)
                        *entry(mesh, mesh->M, i, j) +=
                            block->density * volume / 12 * (k == l ? 2 : 1);
                }
            }
        }
    }
}

static void make_mesh(Mesh* mesh) {
    for (int i = 0; i < mesh->d.columns; ++i) {
        for (int j = 0; j < mesh->d.rows; ++j) {
            bool rising = (i + j) % 2 == 0; // the diagonal
            int lower[3][2] = {{i, j}, {i + 1, j}, {rising ? i + 1 : i, j + 1}};
            int upper[3][2] = {{rising ? i : i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
            add_triangle(mesh, lower);
            add_triangle(mesh, upper);
        }
    }
    for (int i = 0; i < mesh->n; ++i) { // sums that cancel, made symmetric to the last bit
        for (int j = i + 1; j < mesh->n && j <= i + mesh->w; ++j)
            *entry(mesh, mesh->K, j, i) = *entry(mesh, mesh->K, i, j);
    }
}

// Displacements at rest with the floor's nodes held: band Cholesky of K with their rows replaced.
static void static_shape(const Mesh* mesh, double* q) {
    int n = mesh->n, w = mesh->w, width = 2 * w + 1;
    double* L = lash_alloc((size_t)n * (size_t)width * sizeof *L);
    memcpy(L, mesh->K, (size_t)n * (size_t)width * sizeof *L);
    memcpy(q, mesh->load, (size_t)n * sizeof *q);
    for (int column = 0; column <= mesh->d.columns; ++column) {
        for (int c = 0; c < 2; ++c) {
            int i = dof_of(mesh->nodes_up, column, 0, c);
            for (int j = i > w ? i - w : 0; j < n && j <= i + w; ++j)
                *entry(mesh, L, i, j) = *entry(mesh, L, j, i) = i == j;
            q[i] = 0;
        }
    }
    for (int i = 0; i < n; ++i) { // rows of L; q becomes L^-1 q
        for (int j = i > w ? i - w : 0; j <= i; ++j) {
            double sum = *entry(mesh, L, i, j);
            for (int k = i > w ? i - w : 0; k < j; ++k) {
                if (k >= j - w) sum -= *entry(mesh, L, i, k) * *entry(mesh, L, j, k);
            }
            LASH_ASSERT(i != j || sum > 0);
            *entry(mesh, L, i, j) = i == j ? sqrt(sum) : sum / *entry(mesh, L, j, j);
        }
        for (int k = i > w ? i - w : 0; k < i; ++k) q[i] -= *entry(mesh, L, i, k) * q[k];
        q[i] /= *entry(mesh, L, i, i);
    }
    for (int i = n - 1; i >= 0; --i) { // L'^-1
        for (int k = i + 1; k < n && k <= i + w; ++k) q[i] -= *entry(mesh, L, k, i) * q[k];
        q[i] /= *entry(mesh, L, i, i);
    }
    lash_free(L);
}

static void push(const void* context, double t, double* load) {
    const Traction* traction = context;
    double s = sin(2 * LASH_PI * traction->frequency * t);
    double force = ((s > 0) - (s < 0)) * traction->per_length * traction->cell;
    for (int row = 0; row < traction->nodes_up; ++row) {
        bool end = row == 0 || row == traction->nodes_up - 1;
        load[dof_of(traction->nodes_up, 0, row, 0)] = end ? force / 2 : force;
    }
}

static LashLinearContact floor_contact(const Mesh* mesh, int column, const char* name) {
    LashLinearContact contact = {.kind = LASH_UNILATERAL,
                                 .rows = mesh->d.mu > 0 ? 2 : 1,
                                 .e = mesh->d.e,
                                 .mu = mesh->d.mu,
                                 .name = name};
    int x = dof_of(mesh->nodes_up, column, 0, 0), y = dof_of(mesh->nodes_up, column, 0, 1);
    contact.row[0] = (LashLinearRow){.entries = 1, .dof = {y}, .coefficient = {1}};
    contact.row[1] = (LashLinearRow){.entries = 1, .dof = {x}, .coefficient = {-1}};
    return contact;
}

LashLagrangian* lash_paper_sliding_block(const LashPaperElasticBlock* data) {
    Mesh m = {.d = data != NULL ? *data : lash_paper_elastic_block()};
    LASH_ASSERT(m.d.columns >= 1 && m.d.rows >= 1);
    m.nodes_up = m.d.rows + 1;
    int column = 2 * m.nodes_up - 1, contacts = m.d.columns + 1;
    m.n = column * contacts;
    m.w = column + 3;
    size_t n = (size_t)m.n, band = n * (size_t)(2 * m.w + 1);
    m.M = lash_alloc(band * sizeof *m.M);
    m.K = lash_alloc(band * sizeof *m.K);
    m.load = lash_alloc(n * sizeof *m.load);
    double* q = lash_alloc(n * sizeof *q);
    make_mesh(&m);
    static_shape(&m, q);

    LashLinearContact* contact = lash_alloc((size_t)contacts * sizeof *contact);
    char(*name)[24] = lash_alloc((size_t)contacts * sizeof *name);
    for (int i = 0; i < contacts; ++i) {
        snprintf(name[i], sizeof name[i], "floor.%d", i + 1);
        contact[i] = floor_contact(&m, i, name[i]);
    }
    Traction traction = {.nodes_up = m.nodes_up,
                         .per_length = m.d.traction * m.d.thickness,
                         .cell = m.d.height / m.d.rows,
                         .frequency = m.d.frequency};
    LashLinearDef def = lash_linear_def();
    def.n = m.n;
    def.bandwidth = m.w;
    def.M = m.M;
    def.K = m.K;
    def.load = m.load;
    def.q0 = q;
    def.load_of_time = push;
    def.context = &traction;
    def.context_bytes = sizeof traction;
    def.contact = contact;
    def.contacts = contacts;
    def.length = m.d.height;
    LashLagrangian* block = lash_linear_create(&def);
    lash_free(contact);
    lash_free(name);
    lash_free(q);
    lash_free(m.load);
    lash_free(m.M);
    lash_free(m.K);
    return block;
}

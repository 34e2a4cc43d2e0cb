// The friction problem of a step in the global layout (docs/solvers.md), from the state (q, v) at its
// beginning, with all joints:
//
//     M v' - G_j lambda = M v + h F + G_c P,     G_j' v' = -dg_j/dt,     U = G_c' v' + dg_c/dt + e U_N
//
// The matrix of the file is [M -G_j; G_j' 0], the unknowns (v', lambda). Contacts are those that are
// closed at q, or would be after h at the velocity v + h M^-1 F; directions are those at q. Friction
// within joints is left out, and so are steps with contacts without friction: the layout has neither.
#include "app/run/friction_dump.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "core/arena.h"

static const double CLOSED = 1e-9; // [m]

struct AppFrictionDump {
    const LashSystem* system;
    LashSim* sim;
    LashSystemWork* work; // of its own: the run does not feel it
    double h;             // [s]
    char folder[1024];
};

AppFrictionDump* app_friction_dump_open(const LashSystem* system, LashSim* sim, double h) {
    AppFrictionDump* dump = lash_alloc(sizeof *dump);
    dump->system = system;
    dump->sim = sim;
    dump->h = h;
    dump->work = system->work_create(system);
    return dump;
}

AppFrictionDump* app_friction_dump_create(const LashSystem* system, LashSim* sim, double h,
                                          const char* folder, LashError* error) {
    struct stat info;
    if (strlen(folder) > 900 || (mkdir(folder, 0777) != 0 && errno != EEXIST) ||
        stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        lash_error_set(error, LASH_ERROR_IO, folder, "is no folder and cannot be made one");
        return NULL;
    }
    AppFrictionDump* dump = app_friction_dump_open(system, sim, h);
    snprintf(dump->folder, sizeof dump->folder, "%s", folder);
    return dump;
}

void app_friction_dump_free(AppFrictionDump* dump) {
    if (dump == NULL) return;
    dump->system->work_destroy(dump->system, dump->work);
    lash_free(dump);
}

typedef struct Problem { // at the state now
    const LashInteractionList* list;
    double *g, *g_t, *G, *M, *F; // of the system; F: forces, then M v + h F
    int* contact;                // (contacts) interactions
    int contacts;
} Problem;

static void free_problem(Problem* problem) {
    void* owned[] = {problem->g, problem->g_t, problem->G,
                     problem->M, problem->F,   problem->contact};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) lash_free(owned[i]);
}

// Row r of an interaction times velocities.
static double along(const LashSystem* system, const Problem* problem, const LashInteraction* item,
                    int r, const double* v) {
    const double* G = problem->G + item->offset;
    double sum = 0;
    for (int k = 0; k < item->touched; ++k) {
        int n = lash_block_size(system, item->block[k]);
        const double* part = v + system->block_start[item->block[k]];
        for (int i = 0; i < n; ++i) sum += G[i + n * r] * part[i];
        G += n * item->rows;
    }
    return sum;
}

// free (nv) = M^-1 F for the diagonal blocks alone: enough to tell who closes.
static void accelerate(const LashSystem* system, const Problem* problem, double h, const double* v,
                       double* free) {
    for (int b = 0; b < system->blocks; ++b) {
        int n = lash_block_size(system, b), at = system->block_start[b];
        const double* M = problem->M + system->pattern.offset[b];
        for (int i = 0; i < n; ++i)
            free[at + i] = v[at + i] + h * problem->F[at + i] / M[i + n * i];
    }
}

// False: a contact without friction in space is closed.
static bool choose_contacts(const LashSystem* system, Problem* problem, double h, const double* v) {
    const LashInteractionList* list = problem->list;
    double* free = lash_alloc((size_t)system->nv * sizeof *free);
    bool all = true;
    accelerate(system, problem, h, v, free);
    problem->contact = lash_alloc((size_t)(list->count + 1) * sizeof(int));
    for (int i = list->bilateral; i < list->count; ++i) {
        const LashInteraction* item = &list->item[i];
        double gap = problem->g[item->row];
        if (item->kind != LASH_UNILATERAL || !(gap < INFINITY)) continue;
        double later = gap + h * (along(system, problem, item, 0, free) + problem->g_t[item->row]);
        if (gap > CLOSED && later > 0) continue;
        if (item->rows != 3) all = false;
        problem->contact[problem->contacts++] = i;
    }
    lash_free(free);
    return all;
}

static void put_head(FILE* file, int rows, int columns, long entries) {
    fprintf(file, "2\n%d\n%d\n0\nCSparse Version 3\ntriplet: %d-by-%d, nzmax: %ld nnz: %ld\n", rows,
            columns, rows, columns, entries, entries);
}

// Entries of rows of G as columns `first` and on, times sign; transposed: as rows. NULL: counts.
static long put_G(FILE* file, const LashSystem* system, const Problem* problem,
                  const LashInteraction* item, int first, double sign, bool transposed) {
    const double* G = problem->G + item->offset;
    long count = 0;
    for (int k = 0; k < item->touched; ++k) {
        int n = lash_block_size(system, item->block[k]), at = system->block_start[item->block[k]];
        for (int e = 0; e < n * item->rows; ++e) {
            int row = at + e % n, column = first + e / n;
            if (G[e] == 0) continue;
            ++count;
            if (file == NULL) continue;
            fprintf(file, "%d %d : %.17g\n", transposed ? column : row, transposed ? row : column,
                    sign * G[e]);
        }
        G += n * item->rows;
    }
    return count;
}

static long put_mass(FILE* file, const LashSystem* system, const Problem* problem) {
    long count = 0;
    for (int b = 0; b < system->pattern.count; ++b) {
        int r = system->pattern.row[b], c = system->pattern.column[b];
        int rows = lash_block_size(system, r), columns = lash_block_size(system, c);
        const double* M = problem->M + system->pattern.offset[b];
        for (int e = 0; e < rows * columns; ++e) {
            if (M[e] == 0) continue;
            ++count;
            if (file != NULL)
                fprintf(file, "%d %d : %.17g\n", system->block_start[r] + e % rows,
                        system->block_start[c] + e / rows, M[e]);
        }
    }
    return count;
}

// [M -G_j; G_j' 0]
static void put_matrix(FILE* file, const LashSystem* system, const Problem* problem) {
    const LashInteractionList* list = problem->list;
    int size = system->nv + list->bilateral_rows;
    long entries = put_mass(NULL, system, problem);
    for (int i = 0; i < list->bilateral; ++i)
        entries += 2 * put_G(NULL, system, problem, &list->item[i], 0, 1, false);
    put_head(file, size, size, entries);
    put_mass(file, system, problem);
    for (int i = 0; i < list->bilateral; ++i) {
        int first = system->nv + list->item[i].row;
        put_G(file, system, problem, &list->item[i], first, -1, false);
        put_G(file, system, problem, &list->item[i], first, 1, true);
    }
}

static void put_directions(FILE* file, const LashSystem* system, const Problem* problem) {
    long entries = 0;
    for (int pass = 0; pass < 2; ++pass) {
        FILE* to = pass == 0 ? NULL : file;
        for (int c = 0; c < problem->contacts; ++c) {
            const LashInteraction* item = &problem->list->item[problem->contact[c]];
            long count = put_G(to, system, problem, item, 3 * c, 1, false);
            if (pass == 0) entries += count;
        }
        if (pass == 0)
            put_head(file, system->nv + problem->list->bilateral_rows, 3 * problem->contacts,
                     entries);
    }
}

// M v + h F in the place of F; the mass is in the blocks of the pattern.
static void momentum(const LashSystem* system, Problem* problem, double h, const double* v) {
    for (int i = 0; i < system->nv; ++i) problem->F[i] *= h;
    for (int b = 0; b < system->pattern.count; ++b) {
        int r = system->pattern.row[b], c = system->pattern.column[b];
        int rows = lash_block_size(system, r), columns = lash_block_size(system, c);
        const double* M = problem->M + system->pattern.offset[b];
        for (int e = 0; e < rows * columns; ++e)
            problem->F[system->block_start[r] + e % rows] +=
                M[e] * v[system->block_start[c] + e / rows];
    }
}

static void put_vectors(FILE* file, const LashSystem* system, const Problem* problem,
                        const double* v) {
    const LashInteractionList* list = problem->list;
    for (int i = 0; i < system->nv; ++i) fprintf(file, "%.17g\n", problem->F[i]);
    for (int i = 0; i < list->bilateral_rows; ++i) fprintf(file, "%.17g\n", -problem->g_t[i]);
    for (int c = 0; c < problem->contacts; ++c) {
        const LashInteraction* item = &list->item[problem->contact[c]];
        for (int r = 0; r < 3; ++r) {
            double b = problem->g_t[item->row + r];
            if (r == 0) b += item->e * (along(system, problem, item, 0, v) + b);
            fprintf(file, "%.17g\n", b);
        }
    }
    for (int c = 0; c < problem->contacts; ++c)
        fprintf(file, "%.17g\n", list->item[problem->contact[c]].mu);
}

int app_friction_dump_put(AppFrictionDump* dump, FILE* file) {
    const LashSystem* system = dump->system;
    const double *q, *v, t = lash_sim_time(dump->sim), h = dump->h;
    lash_sim_state(dump->sim, &q, &v);
    Problem problem = {.list = system->collect(system, dump->work, t, q, v, h, 2)};
    size_t rows = (size_t)problem.list->rows + 1;
    problem.g = lash_alloc(rows * sizeof(double));
    problem.g_t = lash_alloc(rows * sizeof(double));
    problem.G = lash_alloc(((size_t)problem.list->G_size + 1) * sizeof(double));
    problem.M = lash_alloc((size_t)system->pattern.offset[system->pattern.count] * sizeof(double));
    problem.F = lash_alloc((size_t)system->nv * sizeof(double));
    bool known =
        system->evaluate(system, dump->work, t, q, NULL, problem.g, problem.g_t, problem.G);
    system->mass(system, dump->work, q, problem.M);
    system->forces(system, dump->work, t, q, v, problem.F);
    bool whole = known && choose_contacts(system, &problem, h, v);
    int contacts = whole ? problem.contacts : 0;
    if (contacts > 0) {
        fprintf(file, "3\n%d\n", contacts);
        momentum(system, &problem, h, v);
        put_matrix(file, system, &problem);
        put_directions(file, system, &problem);
        put_vectors(file, system, &problem, v);
    }
    free_problem(&problem);
    return contacts;
}

bool app_friction_dump_step(AppFrictionDump* dump, LashError* error) {
    char path[1100];
    snprintf(path, sizeof path, "%s/friction_%07llu.dat", dump->folder,
             (unsigned long long)lash_sim_steps(dump->sim));
    FILE* file = fopen(path, "w");
    bool good = file != NULL;
    int contacts = good ? app_friction_dump_put(dump, file) : 0;
    if (good) good = fclose(file) == 0;
    if (good && contacts == 0) remove(path);
    return good || lash_error_set(error, LASH_ERROR_IO, path, "cannot be written");
}

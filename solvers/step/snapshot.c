// A run as bytes: saved to memory, restored in this process or another one.
//
// All that a run remembers is saved: time, positions, velocities, the history of multi-step schemes,
// impulses of the last contacts, the predictor's differences, factors that are kept over steps, what
// was learnt about the iteration; of the system turn counters, inputs, bounds and warm starts of
// contacts. So a restored run goes on with the bits of the run that was never saved, and saving only
// reads.
//
// A run is (sim_internal.h) a struct, one arena with nearly all arrays, some objects with memory of
// their own, and the private work of its system. The struct and the arena are taken as they are, but
// for addresses: those into the arena follow from its layout (sim_lay_out), the others are the new
// run's own. What is added to the struct or to the arena is saved without a word here; an object with
// memory of its own has a function NAME_archive.
//
// Layout: a header, then an archive (core/archive.h). A magic number, version, sizes and a checksum
// refuse what is damaged, of another build or another model.
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "solvers/schemes/scheme.h"
#include "solvers/step/sim_internal.h"

enum { VERSION = 4 };

typedef struct Header {
    char magic[8];
    uint32_t version, struct_sum; // struct_sum: of the sizes of what is written as it stands
    uint64_t bytes, checksum;     // of the whole
    int32_t nq, nv, history, drivers, contacts, inputs; // of the model
    int32_t coupled, sparse;                            // operators of contacts that it has
    Sizes sizes;
    char scheme[24];
    double h;
} Header;

static const char magic_text[8] = {'L', 'A', 'S', 'H', 'R', 'U', 'N', '\n'};

// ---- the run --------------------------------------------------------------------------------------

// What belongs to a run and not to its state: addresses, and what its owner gave it.
static void take_own(LashSim* to, const LashSim* from) {
    to->system = from->system;
    to->settings = from->settings;
    to->scheme = from->scheme;
    to->work = from->work;
    to->arena = from->arena;
    to->place = from->place;
    to->operators.A = from->operators.A;
    to->operators.M = from->operators.M;
    to->operators.N = from->operators.N;
    to->operators.velocity_joints = from->operators.velocity_joints;
    to->operators.position_joints = from->operators.position_joints;
    to->operators.full = from->operators.full;
    to->operators.contacts = from->operators.contacts;
    to->operators.sparse = from->operators.sparse;
    to->reactions.joints = from->reactions.joints;
    to->step.list = from->step.list;
    to->stop = from->stop;
    to->trace = from->trace;
    to->trace_context = from->trace_context;
}

// Addresses that every step sets before it reads them.
static void forget_passing(LashSim* sim) {
    Step* step = &sim->step;
    step->q_force = step->q_star = step->q_mass = step->q_w = NULL;
    step->stencil.force_place = step->stencil.star_place = step->stencil.mass_place = NULL;
    sim->predictor.guess_P = sim->predictor.guess_tau = NULL;
    sim->failure.fault.q = sim->failure.fault.v = NULL;
}

// The struct without addresses.
static LashSim image_of(const LashSim* sim) {
    static const LashSim nothing;
    LashSim image = *sim;
    image.arena = (LashArena){0};
    sim_lay_out(&image); // NULL everywhere
    take_own(&image, &nothing);
    image.now.q = image.now.v = NULL;
    forget_passing(&image);
    return image;
}

static void pass_struct(LashArchive* archive, LashSim* sim) {
    LashSim image = image_of(sim);
    lash_archive(archive, &image, sizeof image);
    if (!lash_archive_reads(archive) || archive->failed) return;
    take_own(&image, sim);
    sim_lay_out(&image);
    *sim = image;
}

// The values that a factorisation was made from stand in the arena.
static void pass_factors(LashArchive* archive, const LashSim* sim, LashBlockLu* lu) {
    const char *arena = sim->arena.memory, *matrix = (const char*)lash_block_lu_matrix(lu);
    uint64_t none = UINT64_MAX, at = matrix == NULL ? none : (uint64_t)(matrix - arena);
    lash_archive(archive, &at, sizeof at);
    lash_block_lu_archive(lu, archive);
    if (!lash_archive_reads(archive)) return;
    archive->failed = archive->failed || (at != none && at >= sim->arena.capacity);
    bool known = !archive->failed && at != none;
    lash_block_lu_name_matrix(lu, known ? (const double*)(uintptr_t)(arena + at) : NULL);
}

// Reading: into a run of the same sizes. What it has read when the archive fails is thrown away.
static void pass_run(LashArchive* archive, LashSim* sim) {
    const LashSystem* system = sim->system;
    Operators* operators = &sim->operators;
    if (system->work_archive != NULL) system->work_archive(system, sim->work, archive);
    pass_struct(archive, sim);
    lash_archive(archive, sim->arena.memory, sim->arena.used);
    lash_archive(archive, sim->place, (size_t)(system->nq + system->nv) * sizeof *sim->place);
    pass_factors(archive, sim, operators->A);
    pass_factors(archive, sim, operators->M);
    pass_factors(archive, sim, operators->N);
    lash_joint_solver_archive(&operators->velocity_joints, sim->step.list, archive);
    lash_joint_solver_archive(&operators->position_joints, sim->step.list, archive);
    lash_joint_solver_archive(&sim->reactions.joints, sim->step.list, archive);
    if (operators->full != NULL) full_newton_archive(operators->full, archive);
    if (operators->contacts != NULL) contact_newton_archive(operators->contacts, archive);
    if (operators->sparse != NULL) islands_archive(sim, operators->sparse, archive);
}

// ---- saving -----------------------------------------------------------------------------------------

static uint64_t add_bytes(uint64_t sum, const void* data, size_t bytes) { // FNV-1a
    const unsigned char* byte = data;
    for (size_t i = 0; i < bytes; ++i) sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

// Of the header, but for the checksum in it, and of all behind it.
static uint64_t checksum(Header header, const void* body, size_t bytes) {
    header.checksum = 0;
    return add_bytes(add_bytes(0xcbf29ce484222325u, &header, sizeof header), body, bytes);
}

static uint32_t struct_sum(void) {
    const size_t sizes[] = {sizeof(Header),    sizeof(LashSim),      sizeof(LashEvent),
                            sizeof(LashPush),  sizeof(LashStepInfo), sizeof(LashInteraction),
                            sizeof(uintptr_t), sizeof(LashInput)};
    uint32_t sum = 1; // its place in memory tells the order of bytes, too
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) sum = sum * 31 + (uint32_t)sizes[i];
    return sum;
}

static Header header_of(const LashSim* sim) {
    Header header;
    memset(&header, 0, sizeof header); // its padding is written, too
    memcpy(header.magic, magic_text, sizeof magic_text);
    header.version = VERSION;
    header.struct_sum = struct_sum();
    header.nq = sim->system->nq;
    header.nv = sim->system->nv;
    header.history = (int32_t)sim_history_size(sim);
    header.drivers = sim->drivers.count;
    header.contacts = sim->system->max_interactions; // of the model; a run may grow beyond
    header.inputs = sim->system->inputs;
    header.coupled = sim->operators.contacts != NULL;
    header.sparse = sim->operators.sparse != NULL;
    header.sizes = sim->sizes;
    snprintf(header.scheme, sizeof header.scheme, "%s", lash_scheme_name(sim->settings.scheme));
    header.h = sim->settings.h;
    return header;
}

size_t lash_sim_save(const LashSim* sim, void* memory, size_t bytes) {
    LASH_ASSERT(sim != NULL);
    LashSim* read = (LashSim*)(uintptr_t)sim; // an archive that measures or writes changes nothing
    LashArchive archive = {.use = LASH_ARCHIVE_MEASURES};
    pass_run(&archive, read);
    size_t needed = sizeof(Header) + archive.at;
    if (memory == NULL || bytes < needed) return needed;
    Header header = header_of(sim);
    char* body = (char*)memory + sizeof header;
    archive = (LashArchive){.use = LASH_ARCHIVE_WRITES, .memory = body, .bytes = needed};
    pass_run(&archive, read);
    header.bytes = needed;
    header.checksum = checksum(header, body, needed - sizeof header);
    memcpy(memory, &header, sizeof header);
    return needed;
}

// ---- restoring --------------------------------------------------------------------------------------

static bool refuse(LashError* error, const char* what, double found, double expected) {
    return lash_error_set(error, LASH_ERROR_MODEL, "saved run",
                          "it is of another model or of other settings: %s %.9g, here %.9g", what,
                          found, expected);
}

static bool fail_damaged(LashError* error, const char* what) {
    return lash_error_set(error, LASH_ERROR_IO, "saved run", "it is damaged: %s", what);
}

static bool same_model(const Header* header, const Header* here, LashError* error) {
    const struct {
        const char* what;
        double found, expected;
    } same[] = {{"coordinates", header->nq, here->nq},
                {"velocities", header->nv, here->nv},
                {"history", header->history, here->history},
                {"drivers", header->drivers, here->drivers},
                {"contacts", header->contacts, here->contacts},
                {"inputs", header->inputs, here->inputs},
                {"operator of contacts", header->coupled, here->coupled},
                {"sparse operator", header->sparse, here->sparse},
                {"rows of joints", header->sizes.joint_rows, here->sizes.joint_rows},
                {"step", header->h, here->h}};
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
        if (same[i].found != same[i].expected)
            return refuse(error, same[i].what, same[i].found, same[i].expected);
    if (memcmp(header->scheme, here->scheme, sizeof here->scheme) == 0) return true;
    return lash_error_set(error, LASH_ERROR_MODEL, "saved run",
                          "it was saved with the scheme %.23s, this run has %s", header->scheme,
                          here->scheme);
}

// Everything but the numbers themselves.
static bool check_header(const LashSim* sim, const void* memory, size_t bytes, Header* header,
                         LashError* error) {
    Header here = header_of(sim);
    if (memory == NULL || bytes < sizeof *header)
        return lash_error_set(error, LASH_ERROR_IO, "saved run", "%zu bytes are no saved run",
                              bytes);
    memcpy(header, memory, sizeof *header);
    if (memcmp(header->magic, magic_text, sizeof magic_text) != 0)
        return lash_error_set(error, LASH_ERROR_IO, "saved run", "these bytes are no saved run");
    if (header->version != VERSION || header->struct_sum != here.struct_sum)
        return lash_error_set(error, LASH_ERROR_IO, "saved run",
                              "it was saved by another version of Lash (%u, this one reads %u)",
                              header->version, (unsigned)VERSION);
    if (header->bytes != bytes) return fail_damaged(error, "its length is wrong");
    const char* body = (const char*)memory + sizeof *header;
    if (header->checksum != checksum(*header, body, bytes - sizeof *header))
        return fail_damaged(error, "checksum");
    return same_model(header, &here, error);
}

bool lash_sim_restore(LashSim* sim, const void* memory, size_t bytes, LashError* error) {
    LASH_ASSERT(sim != NULL);
    Header header;
    if (!check_header(sim, memory, bytes, &header, error)) return false;
    // A new run with these numbers takes the place of the old one; nobody else sees the old.
    LashSim* fresh = lash_sim_create(sim->system, &sim->settings);
    LashArchive archive = {.use = LASH_ARCHIVE_READS,
                           .memory = (char*)(uintptr_t)memory + sizeof header,
                           .bytes = bytes - sizeof header};
    sim_fit_sizes(fresh, &header.sizes);
    pass_run(&archive, fresh);
    if (archive.failed || archive.at != archive.bytes) {
        lash_sim_destroy(fresh);
        return fail_damaged(error, "its parts do not fit");
    }
    fresh->stop = sim->stop;
    fresh->trace = sim->trace;
    fresh->trace_context = sim->trace_context;
    LashSim old = *sim;
    *sim = *fresh;
    *fresh = old;
    lash_sim_destroy(fresh);
    return true;
}

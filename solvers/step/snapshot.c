// A run as bytes: saved to memory, restored in this process or another one.
//
// What is saved is what physics and warm starts need: time, positions, velocities, the history of
// multi-step schemes, where prescribed speeds stand, impulses and velocities of the last contacts,
// energies, turn counters and inputs of the system, events and pushes of the last step. What is not:
// matrices, caches and experience, which are made anew.
//
// A run that is restored is a new run with these numbers. So that the run that saved goes on with
// the same bits, it makes itself anew in the same way before its next step: equal by construction,
// whatever else a run may come to remember. (Against a run that never saved, the next steps differ
// by what the tolerances allow: their operators are other ones.)
//
// Layout: a header, then numbers as they stand in memory, each block of a known size. A magic
// number, version, sizes and a checksum refuse what is damaged, of another machine or another model.
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "solvers/schemes/scheme.h"
#include "solvers/step/sim_internal.h"

enum { VERSION = 1 };

typedef struct Header {
    char magic[8];
    uint32_t version, struct_sum; // struct_sum: of the sizes of what is written as it stands
    uint64_t bytes, checksum;     // of the whole
    int32_t nq, nv, history, drivers, contacts, work; // sizes of the run
    int32_t last, events, pushes;                     // that are there
    char scheme[24];
    double h;
    uint64_t steps;
} Header;

static const char magic_text[8] = {'L', 'A', 'S', 'H', 'R', 'U', 'N', '\n'};

// Goes over all blocks in order: measures (memory NULL), writes or reads.
typedef struct Cursor {
    char* memory;
    size_t at;
    bool read;
} Cursor;

static void pass(Cursor* cursor, void* data, size_t bytes) {
    char* place = cursor->memory == NULL ? NULL : cursor->memory + cursor->at;
    if (bytes > 0 && place != NULL)
        memcpy(cursor->read ? data : place, cursor->read ? place : data, bytes);
    cursor->at += bytes;
}

static void pass_doubles(Cursor* cursor, double* data, int count) {
    pass(cursor, data, (size_t)count * sizeof *data);
}

static void pass_contacts(Cursor* cursor, LastContacts* last) {
    size_t n = (size_t)last->count;
    pass(cursor, last->id, n * sizeof *last->id);
    pass(cursor, last->closed, n * sizeof *last->closed);
    pass(cursor, last->state, n * sizeof *last->state);
    pass(cursor, last->P, 3 * n * sizeof *last->P);
    pass(cursor, last->U, 3 * n * sizeof *last->U);
    pass(cursor, last->tau, n * sizeof *last->tau);
}

static int work_numbers(const LashSystem* system) {
    return system->work_save != NULL ? system->work_numbers : 0;
}

// The counts of last, events and pushes are known; work: (work_numbers).
static void pass_run(Cursor* cursor, LashSim* sim, double* work) {
    State* now = &sim->now;
    pass_doubles(cursor, &now->t, 1);
    pass_doubles(cursor, &now->h, 1);
    pass_doubles(cursor, &sim->reach, 1);
    pass(cursor, &now->energy, sizeof now->energy);
    pass_doubles(cursor, now->q, sim->system->nq);
    pass_doubles(cursor, now->v, sim->system->nv);
    pass_doubles(cursor, now->history, (int)sim_history_size(sim));
    pass_doubles(cursor, now->driver_x, sim->drivers.count);
    pass_doubles(cursor, now->driver_speed, sim->drivers.count);
    pass_contacts(cursor, &now->last);
    pass_doubles(cursor, work, work_numbers(sim->system));
    pass(cursor, sim->events.item, (size_t)sim->events.count * sizeof *sim->events.item);
    pass(cursor, sim->pushes.item, (size_t)sim->pushes.count * sizeof *sim->pushes.item);
    pass(cursor, &sim->info, sizeof sim->info);
}

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
    const size_t sizes[] = {sizeof(Header), sizeof(LashEnergy), sizeof(LashEvent), sizeof(LashPush),
                            sizeof(LashStepInfo)};
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
    header.work = work_numbers(sim->system);
    header.last = sim->now.last.count;
    header.events = sim->events.count;
    header.pushes = sim->pushes.count;
    snprintf(header.scheme, sizeof header.scheme, "%s", lash_scheme_name(sim->settings.scheme));
    header.h = sim->settings.h;
    header.steps = sim->steps;
    return header;
}

static size_t measure(const LashSim* sim) {
    Cursor cursor = {.memory = NULL};
    LashSim sizes = *sim; // only its counts are looked at
    pass_run(&cursor, &sizes, NULL);
    return sizeof(Header) + cursor.at;
}

static void write_run(const LashSim* sim, size_t bytes, void* memory) {
    Header header = header_of(sim);
    double* work = lash_alloc((size_t)header.work * sizeof *work);
    if (header.work > 0) sim->system->work_save(sim->system, sim->work, work);
    LashSim copy = *sim; // the cursor takes what it could also write to
    Cursor cursor = {.memory = (char*)memory + sizeof header};
    pass_run(&cursor, &copy, work);
    lash_free(work);
    header.bytes = bytes;
    header.checksum = checksum(header, (char*)memory + sizeof header, bytes - sizeof header);
    memcpy(memory, &header, sizeof header);
}

size_t lash_sim_save(LashSim* sim, void* memory, size_t bytes) {
    LASH_ASSERT(sim != NULL);
    size_t needed = measure(sim);
    if (memory == NULL || bytes < needed) return needed;
    write_run(sim, needed, memory);
    sim->renew = true;
    return needed;
}

static bool refuse(LashError* error, const char* what, double found, double expected) {
    return lash_error_set(error, LASH_ERROR_MODEL, "saved run",
                          "it is of another model or of other settings: %s %.9g, here %.9g", what,
                          found, expected);
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
    const struct {
        const char* what;
        double found, expected;
    } same[] = {{"coordinates", header->nq, here.nq},
                {"velocities", header->nv, here.nv},
                {"history", header->history, here.history},
                {"drivers", header->drivers, here.drivers},
                {"contacts", header->contacts, here.contacts},
                {"state of the system", header->work, here.work},
                {"step", header->h, here.h}};
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
        if (same[i].found != same[i].expected)
            return refuse(error, same[i].what, same[i].found, same[i].expected);
    header->scheme[sizeof header->scheme - 1] = '\0';
    if (strcmp(header->scheme, here.scheme) != 0)
        return lash_error_set(error, LASH_ERROR_MODEL, "saved run",
                              "it was saved with the scheme %s, this run has %s", header->scheme,
                              here.scheme);
    bool fits = header->last >= 0 && header->events >= 0 && header->pushes >= 0; // length: below
    LashSim sizes = *sim;
    sizes.now.last.count = header->last;
    sizes.events.count = header->events;
    sizes.pushes.count = header->pushes;
    if (!fits || header->bytes != bytes || measure(&sizes) != bytes)
        return lash_error_set(error, LASH_ERROR_IO, "saved run",
                              "it is damaged: its length is wrong");
    const char* body = (const char*)memory + sizeof *header;
    if (header->checksum != checksum(*header, body, bytes - sizeof *header))
        return lash_error_set(error, LASH_ERROR_IO, "saved run", "it is damaged: checksum");
    return true;
}

// A new run with these numbers in the place of the old one; nobody but this file sees the old.
static void load(LashSim* sim, const Header* header, const void* memory) {
    LashSim* fresh = lash_sim_create(sim->system, &sim->settings);
    double* work = lash_alloc((size_t)header->work * sizeof *work);
    sim_fit_saved(fresh, header->last, header->events, header->pushes);
    fresh->now.last.count = header->last;
    fresh->events.count = header->events;
    fresh->pushes.count = header->pushes;
    Cursor cursor = {.memory = (char*)(uintptr_t)memory + sizeof *header, .read = true};
    pass_run(&cursor, fresh, work);
    fresh->steps = header->steps;
    if (header->work > 0) fresh->system->work_load(fresh->system, fresh->work, work);
    State now = fresh->now; // accept may change q by rounding: it is put back
    const LashSystem* system = fresh->system;
    double* q = lash_alloc((size_t)system->nq * sizeof *q);
    memcpy(q, now.q, (size_t)system->nq * sizeof *q);
    system->accept(system, fresh->work, now.t, now.q, now.v);
    memcpy(now.q, q, (size_t)system->nq * sizeof *q);
    if (header->work > 0) system->work_load(system, fresh->work, work);
    system->mass(system, fresh->work, now.q, fresh->operators.M_values);
    fresh->step.list =
        system->collect(system, fresh->work, now.t, now.q, now.v, fresh->settings.h, fresh->reach);
    sim_fit_list(fresh, fresh->step.list);
    fresh->stop = sim->stop;
    fresh->trace = sim->trace;
    fresh->trace_context = sim->trace_context;
    lash_free(q);
    lash_free(work);
    LashSim old = *sim;
    *sim = *fresh;
    *fresh = old;
    lash_sim_destroy(fresh);
}

bool lash_sim_restore(LashSim* sim, const void* memory, size_t bytes, LashError* error) {
    LASH_ASSERT(sim != NULL);
    Header header;
    if (!check_header(sim, memory, bytes, &header, error)) return false;
    load(sim, &header, memory);
    return true;
}

void sim_renew(LashSim* sim) {
    size_t bytes = measure(sim);
    char* memory = lash_alloc(bytes);
    write_run(sim, bytes, memory);
    Header header;
    memcpy(&header, memory, sizeof header);
    load(sim, &header, memory);
    lash_free(memory);
}

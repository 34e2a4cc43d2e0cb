// A shape as one block of bytes.
//
// Layout: a header, then the tables of LashShape one after another, each begun at a multiple of 64
// bytes. The tables are written as they stand in memory: the block never leaves the machine that
// made it, and the header carries the sizes of the structs, so that a block of another build is
// refused. Reading is one pass: the block becomes the memory of the shape, its pointers point into
// it.
//
// The checksum is a 64-bit multiply-and-rotate hash over four lanes of 8 bytes. It finds accidents,
// not attacks; against those lash_shape_check confines every index to its table.
#include "geometry/cad/shape_file.h"

#include <string.h>

#include "core/arena.h"

enum { ALIGNMENT = 64, TABLES = 19 };

typedef struct Header {
    char magic[8];
    uint32_t version, struct_sum; // struct_sum: of the sizes of the table entries
    uint64_t bytes, checksum;     // of the whole block, the checksum itself taken as 0
    int32_t count[TABLES];
    int32_t warnings;
    double scale;
    char unit[16], hash[65];
} Header;

typedef struct Table {
    void** data;
    int* count;
    size_t item; // bytes per item
} Table;

static const char magic_text[8] = {'L', 'A', 'S', 'H', 'S', 'H', 'P', '\n'};

static void list_tables(LashShape* shape, Table t[TABLES]) {
    int k = 0;
    t[k++] = (Table){(void**)&shape->part, &shape->parts, sizeof *shape->part};
    t[k++] = (Table){(void**)&shape->face, &shape->faces, sizeof *shape->face};
    t[k++] = (Table){(void**)&shape->loop, &shape->loops, sizeof *shape->loop};
    t[k++] = (Table){(void**)&shape->coedge, &shape->coedges, sizeof *shape->coedge};
    t[k++] = (Table){(void**)&shape->uv_pole, &shape->uv_poles, 3 * sizeof(double)};
    t[k++] = (Table){(void**)&shape->edge, &shape->edges, sizeof *shape->edge};
    t[k++] = (Table){(void**)&shape->vertex, &shape->vertices, sizeof *shape->vertex};
    t[k++] = (Table){(void**)&shape->vertex_edge, &shape->vertex_edges, sizeof(int)};
    t[k++] = (Table){(void**)&shape->patch, &shape->patches, sizeof *shape->patch};
    t[k++] = (Table){(void**)&shape->segment, &shape->segments, sizeof *shape->segment};
    t[k++] = (Table){(void**)&shape->pole, &shape->poles, 4 * sizeof(double)};
    t[k++] = (Table){(void**)&shape->mesh_point, &shape->mesh_vertices, 3 * sizeof(float)};
    t[k++] = (Table){(void**)&shape->mesh_normal, &shape->mesh_vertices, 3 * sizeof(float)};
    t[k++] = (Table){(void**)&shape->triangle, &shape->triangles, 3 * sizeof(int)};
    t[k++] = (Table){(void**)&shape->triangle_face, &shape->triangles, sizeof(int)};
    t[k++] = (Table){(void**)&shape->line, &shape->lines, 2 * sizeof(int)};
    t[k++] = (Table){(void**)&shape->line_point, &shape->line_points, 3 * sizeof(float)};
    t[k++] = (Table){(void**)&shape->size, &shape->sizes, sizeof *shape->size};
    t[k++] = (Table){(void**)&shape->string, &shape->string_bytes, 1};
    LASH_ASSERT(k == TABLES);
}

static size_t padded(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint32_t struct_sum(const Table t[TABLES]) {
    uint32_t sum = sizeof(Header);
    for (int k = 0; k < TABLES; ++k) sum = sum * 31 + (uint32_t)t[k].item;
    return sum;
}

static uint64_t rotate(uint64_t a, int bits) {
    return a << bits | a >> (64 - bits);
}

// Of a multiple of 64 bytes.
static uint64_t checksum(const unsigned char* data, size_t bytes) {
    const uint64_t p = 0x9e3779b97f4a7c15u, q = 0xd6e8feb86659fd93u; // odd, bits well mixed
    uint64_t lane[4] = {bytes, p, q, p ^ q};
    for (size_t i = 0; i + 32 <= bytes; i += 32) {
        uint64_t word[4];
        memcpy(word, data + i, sizeof word);
        for (int k = 0; k < 4; ++k) lane[k] = rotate((lane[k] ^ word[k]) * p, 29) * q;
    }
    uint64_t sum = bytes;
    for (int k = 0; k < 4; ++k) sum = rotate((sum ^ lane[k]) * p, 31) * q;
    return sum ^ sum >> 32;
}

// Of a whole block, its header included, but for the checksum in it.
static uint64_t block_sum(const void* block, size_t bytes) {
    size_t head = padded(sizeof(Header));
    union {
        Header header;
        unsigned char bytes[(sizeof(Header) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT];
    } copy;
    memcpy(copy.bytes, block, head);
    copy.header.checksum = 0;
    uint64_t rest = checksum((const unsigned char*)block + head, bytes - head);
    return checksum(copy.bytes, head) ^ rotate(rest, 17);
}

void* lash_shape_pack(const LashShape* shape, size_t* bytes) {
    LashShape copy = *shape;
    Table t[TABLES];
    list_tables(&copy, t);
    size_t total = padded(sizeof(Header));
    for (int k = 0; k < TABLES; ++k) total += padded((size_t)*t[k].count * t[k].item);
    char* block = lash_alloc(total);
    Header* header = (Header*)block;
    memcpy(header->magic, magic_text, sizeof magic_text);
    header->version = LASH_SHAPE_FILE_VERSION;
    header->struct_sum = struct_sum(t);
    header->bytes = total;
    header->scale = shape->scale;
    header->warnings = shape->warnings;
    memcpy(header->unit, shape->unit, sizeof header->unit);
    memcpy(header->hash, shape->hash, sizeof header->hash);
    size_t at = padded(sizeof(Header));
    for (int k = 0; k < TABLES; ++k) {
        size_t size = (size_t)*t[k].count * t[k].item;
        header->count[k] = *t[k].count;
        if (size > 0) memcpy(block + at, *t[k].data, size);
        at += padded(size);
    }
    header->checksum = block_sum(block, total);
    *bytes = total;
    return block;
}

static bool header_fits(const char* block, size_t bytes, const Table t[TABLES], LashError* error) {
    const Header* header = (const Header*)block;
    size_t begin = padded(sizeof(Header)), total = begin;
    if (bytes < begin || memcmp(header->magic, magic_text, sizeof magic_text) != 0)
        return lash_error_set(error, LASH_ERROR_CAD, "shape", "not a block of shape tables");
    if (header->version != LASH_SHAPE_FILE_VERSION || header->struct_sum != struct_sum(t))
        return lash_error_set(error, LASH_ERROR_CAD, "shape", "tables of another version");
    for (int k = 0; k < TABLES; ++k) {
        if (header->count[k] < 0)
            return lash_error_set(error, LASH_ERROR_CAD, "shape", "negative count");
        total += padded((size_t)header->count[k] * t[k].item);
    }
    if (header->bytes != bytes || total != bytes)
        return lash_error_set(error, LASH_ERROR_CAD, "shape", "expected %zu bytes, found %zu",
                              total, bytes);
    if (header->checksum != block_sum(block, total))
        return lash_error_set(error, LASH_ERROR_CAD, "shape", "checksum does not match");
    if (header->count[11] != header->count[12] || header->count[13] != header->count[14])
        return lash_error_set(error, LASH_ERROR_CAD, "shape", "mesh tables of unlike length");
    return true;
}

LashShape* lash_shape_unpack(void* block, size_t bytes, LashError* error) {
    LashShape* shape = lash_alloc(sizeof *shape);
    shape->memory = block;
    Table t[TABLES];
    list_tables(shape, t);
    if (!header_fits(block, bytes, t, error)) {
        lash_shape_destroy(shape);
        return NULL;
    }
    const Header* header = block;
    size_t at = padded(sizeof(Header));
    for (int k = 0; k < TABLES; ++k) {
        *t[k].data = (char*)block + at;
        *t[k].count = header->count[k];
        at += padded((size_t)header->count[k] * t[k].item);
    }
    shape->scale = header->scale;
    shape->warnings = header->warnings;
    memcpy(shape->unit, header->unit, sizeof shape->unit);
    memcpy(shape->hash, header->hash, sizeof shape->hash);
    shape->unit[sizeof shape->unit - 1] = '\0';
    shape->hash[sizeof shape->hash - 1] = '\0';
    if (!lash_shape_check(shape, error)) {
        lash_shape_destroy(shape);
        return NULL;
    }
    shape->solid = lash_alloc(((size_t)shape->parts + 1) * sizeof *shape->solid);
    return shape;
}

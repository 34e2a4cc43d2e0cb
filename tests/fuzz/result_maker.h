// Result files made object by object, each right or wrong in one of many ways: for the tests of
// hostile results and their fuzzer. In memory, through the HDF5 library.
#ifndef LASH_TESTS_FUZZ_RESULT_MAKER_H
#define LASH_TESTS_FUZZ_RESULT_MAKER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/run/record_internal.h"

enum { MAKER_BODIES = 2, MAKER_JOINTS = 1, MAKER_CONTACTS = 1, MAKER_INPUTS = 2, MAKER_FRAMES = 3 };

typedef enum Fault {
    FAULT_NONE,
    FAULT_MISSING,
    FAULT_FLOAT,     // 4 bytes
    FAULT_BIG,       // the other byte order
    FAULT_BYTES,     // 1 byte each
    FAULT_WIDE,      // numbers of 16 bytes
    FAULT_VARIABLE,  // texts of variable length
    FAULT_LONG_TEXT, // a text of 2^31 - 1 bytes, declared only
    FAULT_COMPOUND,
    FAULT_ARRAY,
    FAULT_REFERENCE,
    FAULT_SEQUENCE, // of variable length
    FAULT_ENUM,
    FAULT_OPAQUE,
    FAULT_SCALAR,
    FAULT_NULL_SPACE,
    FAULT_RANK,
    FAULT_SHORT,
    FAULT_LONGER,
    FAULT_ENDLESS, // 2^50 rows
    FAULT_WIDTH,
    FAULT_CONTIGUOUS,
    FAULT_HUGE_CHUNK,
    FAULT_FILTER,
    FAULT_EXTERNAL_STORAGE,
    FAULT_VIRTUAL,
    FAULT_SOFT_LINK,
    FAULT_SOFT_CYCLE,
    FAULT_EXTERNAL_LINK,
    FAULT_GROUP,
    FAULT_COUNT
} Fault;

// What stands in a result: attributes of the file, texts, names, tables, series.
typedef enum MakerKind {
    MAKE_ATTRIBUTE,
    MAKE_TEXT,
    MAKE_NAMES,
    MAKE_FLAG,
    MAKE_TABLE,
    MAKE_SERIES
} MakerKind;
typedef struct MakerObject {
    MakerKind kind;
    const char* path;
    const char* text; // of an attribute or text; NULL: the number `step`
    int count;        // of names
    int series;
} MakerObject;

static const MakerObject maker_objects[] = {
    {MAKE_ATTRIBUTE, "format", "lash-result/2", 0, 0},
    {MAKE_ATTRIBUTE, "version", "0", 0, 0},
    {MAKE_ATTRIBUTE, "model_file", "m.json", 0, 0},
    {MAKE_ATTRIBUTE, "scheme", "combined", 0, 0},
    {MAKE_ATTRIBUTE, "step", NULL, 0, 0},
    {MAKE_TEXT, "model", "{}", 0, 0},
    {MAKE_TEXT, "options", "{}", 0, 0},
    {MAKE_FLAG, "complete", NULL, 0, 0},
    {MAKE_NAMES, "bodies/name", NULL, MAKER_BODIES, 0},
    {MAKE_NAMES, "joints/name", NULL, MAKER_JOINTS, 0},
    {MAKE_NAMES, "joints/type", NULL, MAKER_JOINTS, 0},
    {MAKE_NAMES, "contacts/name", NULL, MAKER_CONTACTS, 0},
    {MAKE_NAMES, "inputs/name", NULL, MAKER_INPUTS, 0},
    {MAKE_NAMES, "inputs/unit", NULL, MAKER_INPUTS, 0},
    {MAKE_TABLE, "events", NULL, 0, 0},
    {MAKE_TABLE, "points", NULL, 0, 0},
};
enum {
    MAKER_FIXED = sizeof maker_objects / sizeof *maker_objects,
    MAKER_OBJECTS = MAKER_FIXED + LASH_SERIES_COUNT
};

static inline MakerObject maker_object(int i) {
    if (i < MAKER_FIXED) return maker_objects[i];
    int s = i - MAKER_FIXED;
    return (MakerObject){MAKE_SERIES, record_spec[s].path, NULL, 0, s};
}

// The type that an object has when nothing is wrong; to be closed.
static inline hid_t maker_type(const MakerObject* o) {
    hid_t type = -1;
    switch (o->kind) {
        case MAKE_ATTRIBUTE:
        case MAKE_TEXT:
            if (o->text == NULL) return H5Tcopy(H5T_IEEE_F64LE);
            type = H5Tcopy(H5T_C_S1);
            H5Tset_size(type, strlen(o->text) + 1);
            return type;
        case MAKE_NAMES:
            type = H5Tcopy(H5T_C_S1);
            H5Tset_size(type, RECORD_NAME_BYTES);
            return type;
        case MAKE_FLAG:
            return H5Tcopy(H5T_STD_I32LE);
        case MAKE_TABLE:
            return strcmp(o->path, "events") == 0 ? record_event_type() : record_point_type();
        case MAKE_SERIES:
            return H5Tcopy(record_series_type(o->series));
    }
    return type;
}

static inline hid_t maker_fault_type(hid_t type, Fault fault) {
    static const hsize_t size[2] = {7, 3};
    hid_t other = -1;
    switch (fault) {
        case FAULT_FLOAT:
            other = H5Tcopy(H5T_IEEE_F32LE);
            break;
        case FAULT_BIG:
            other = H5Tcopy(H5T_IEEE_F64BE);
            break;
        case FAULT_BYTES:
            other = H5Tcopy(H5T_STD_I8LE);
            break;
        case FAULT_WIDE:
            other = H5Tcopy(H5T_NATIVE_LDOUBLE);
            break;
        case FAULT_VARIABLE:
            other = H5Tcopy(H5T_C_S1);
            H5Tset_size(other, H5T_VARIABLE);
            break;
        case FAULT_LONG_TEXT:
            other = H5Tcopy(H5T_C_S1);
            H5Tset_size(other, 0x7fffffff);
            break;
        case FAULT_COMPOUND:
            other = H5Tcreate(H5T_COMPOUND, 4096);
            H5Tinsert(other, "kind", 0, H5T_NATIVE_INT32);
            H5Tinsert(other, "t", 1000, H5T_NATIVE_DOUBLE);
            break;
        case FAULT_ARRAY:
            other = H5Tarray_create2(type, 2, size);
            break;
        case FAULT_REFERENCE:
            other = H5Tcopy(H5T_STD_REF_OBJ);
            break;
        case FAULT_SEQUENCE:
            other = H5Tvlen_create(type);
            break;
        case FAULT_ENUM:
            other = H5Tenum_create(H5T_NATIVE_INT64);
            H5Tenum_insert(other, "a", &(int64_t){1});
            break;
        case FAULT_OPAQUE:
            other = H5Tcreate(H5T_OPAQUE, 8);
            break;
        default:
            return type;
    }
    H5Tclose(type);
    return other;
}

// The shape of an object with its fault; returns the rank, -1: a null space.
static inline int maker_shape(const MakerObject* o, Fault fault, hsize_t* shape) {
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = MAKER_BODIES,
                                             .joints = MAKER_JOINTS,
                                             .contacts = MAKER_CONTACTS,
                                             .inputs = MAKER_INPUTS,
                                             .coordinates = LASH_RECORD_FREE_COORDINATES});
    int rank = 0;
    for (int i = 0; i < 4; ++i) shape[i] = 1;
    if (o->kind == MAKE_NAMES || o->kind == MAKE_TABLE) rank = 1;
    if (o->kind == MAKE_NAMES) shape[0] = (hsize_t)o->count;
    if (o->kind == MAKE_TABLE) shape[0] = 2;
    if (o->kind == MAKE_SERIES) {
        shape[0] = MAKER_FRAMES;
        rank = record_series_shape(&layout, o->series, shape);
    }
    if (fault == FAULT_NULL_SPACE) return -1;
    if (fault == FAULT_SCALAR) return 0;
    if (fault == FAULT_RANK) return rank + 1;
    if (fault == FAULT_SHORT && rank > 0) --shape[0];
    if (fault == FAULT_LONGER) shape[0] += 1000;
    if (fault == FAULT_ENDLESS) shape[0] = (hsize_t)1 << 50;
    if (fault == FAULT_WIDTH) shape[rank > 1 ? 1 : 0] += 5;
    if (fault >= FAULT_LONGER && fault <= FAULT_WIDTH && rank == 0) rank = 1;
    return rank;
}

static inline hid_t maker_list(const MakerObject* o, Fault fault, int rank, const hsize_t* shape) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool chunked = (o->kind == MAKE_SERIES || o->kind == MAKE_TABLE) && rank > 0;
    if ((fault == FAULT_FILTER || fault == FAULT_HUGE_CHUNK || fault == FAULT_ENDLESS) && rank > 0)
        chunked = true;
    if (fault == FAULT_CONTIGUOUS || fault == FAULT_VIRTUAL || fault == FAULT_EXTERNAL_STORAGE)
        chunked = false;
    if (chunked) {
        hsize_t chunk[4] = {64, shape[1], shape[2], shape[3]};
        if (fault == FAULT_HUGE_CHUNK) chunk[0] = 1 << 24;
        H5Pset_chunk(list, rank, chunk);
    }
    if (fault == FAULT_FILTER && rank > 0) H5Pset_deflate(list, 1);
    if (fault == FAULT_EXTERNAL_STORAGE) H5Pset_external(list, "/etc/hostname", 0, H5F_UNLIMITED);
    if (fault == FAULT_VIRTUAL && rank > 0) {
        hid_t space = H5Screate_simple(rank, shape, NULL);
        H5Pset_virtual(list, space, "/nonexistent/other.h5", "/time", space);
        H5Sclose(space);
    }
    return list;
}

// Writes numbers that are right for the object; for wrong types any bytes.
static inline void maker_fill(hid_t data, const MakerObject* o, Fault fault) {
    static double bytes[65536];
    memset(bytes, 0, 4096 * sizeof *bytes);
    if (o->kind == MAKE_SERIES) { // memory type: double, whatever is stored
        for (int i = 0; i < 64; ++i) bytes[i] = o->series == LASH_SERIES_POINTS_END ? 0 : i;
        hid_t transfer = record_transfer();
        H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer, bytes);
        H5Pclose(transfer);
        return;
    }
    if (fault != FAULT_NONE) return;
    hid_t type = H5Dget_type(data);
    if (o->kind == MAKE_TEXT) snprintf((char*)bytes, sizeof bytes, "%s", o->text);
    if (o->kind == MAKE_NAMES) {
        for (int i = 0; i < o->count; ++i)
            snprintf((char*)bytes + (size_t)i * RECORD_NAME_BYTES, RECORD_NAME_BYTES, "n%d", i);
    }
    if (o->kind == MAKE_FLAG) memcpy(bytes, &(int32_t){1}, sizeof(int32_t));
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
    H5Tclose(type);
}

static inline hid_t maker_space(int rank, const hsize_t* shape, const hsize_t* limit) {
    if (rank < 0) return H5Screate(H5S_NULL);
    return rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, shape, limit);
}

static inline void maker_attribute(hid_t file, const MakerObject* o, Fault fault) {
    hsize_t shape[4];
    double number = 1e-3;
    if (fault == FAULT_MISSING || fault == FAULT_ENDLESS || fault == FAULT_LONG_TEXT) return;
    hid_t type = maker_fault_type(maker_type(o), fault);
    int rank = maker_shape(o, fault, shape);
    hid_t space = maker_space(rank, shape, NULL);
    hid_t item = H5Acreate2(file, o->path, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (item >= 0 && fault == FAULT_NONE)
        H5Awrite(item, type, o->text == NULL ? (const void*)&number : o->text);
    if (item >= 0) H5Aclose(item);
    H5Sclose(space);
    H5Tclose(type);
}

static inline void maker_dataset(hid_t file, const MakerObject* o, Fault fault) {
    hsize_t shape[4], limit[4];
    if (fault == FAULT_MISSING) return;
    if (fault == FAULT_SOFT_LINK)
        H5Lcreate_soft("/counters/steps", file, o->path, H5P_DEFAULT, H5P_DEFAULT);
    if (fault == FAULT_SOFT_CYCLE) H5Lcreate_soft(o->path, file, o->path, H5P_DEFAULT, H5P_DEFAULT);
    if (fault == FAULT_EXTERNAL_LINK)
        H5Lcreate_external("/nonexistent/other.h5", o->path, file, o->path, H5P_DEFAULT,
                           H5P_DEFAULT);
    if (fault == FAULT_GROUP) {
        hid_t group = H5Gcreate2(file, o->path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group >= 0) H5Gclose(group);
    }
    if (fault >= FAULT_SOFT_LINK) return;
    hid_t type = maker_fault_type(maker_type(o), fault);
    int rank = maker_shape(o, fault, shape);
    hid_t list = maker_list(o, fault, rank > 0 ? rank : 0, shape);
    memcpy(limit, shape, sizeof limit);
    if (H5Pget_layout(list) == H5D_CHUNKED) limit[0] = H5S_UNLIMITED;
    hid_t space = maker_space(rank, shape, limit);
    hid_t data = H5Dcreate2(file, o->path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool fill = data >= 0 && fault != FAULT_ENDLESS && fault != FAULT_VIRTUAL &&
                fault != FAULT_EXTERNAL_STORAGE && fault != FAULT_HUGE_CHUNK &&
                fault != FAULT_LONG_TEXT && (type >= 0 && H5Tget_size(type) <= 4096);
    if (fill) maker_fill(data, o, fault);
    if (data >= 0) H5Dclose(data);
    H5Sclose(space);
    H5Pclose(list);
    H5Tclose(type);
}

// Puts object i there, right or wrong.
static inline void maker_put(hid_t file, int i, Fault fault) {
    MakerObject o = maker_object(i);
    if (o.kind == MAKE_ATTRIBUTE)
        maker_attribute(file, &o, fault);
    else
        maker_dataset(file, &o, fault);
}

// A file in memory, open for writing: a new one, or one with the given bytes. *memory is its
// descriptor, as the library has none to give.
static inline hid_t maker_open(int* memory, const uint8_t* image, size_t bytes) {
    char path[] = "/dev/shm/lash_resultXXXXXX";
    *memory = mkstemp(path);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t file = -1;
    if (image == NULL) file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (image != NULL && pwrite(*memory, image, bytes, 0) == (ssize_t)bytes)
        file = H5Fopen(path, H5F_ACC_RDWR, access);
    unlink(path);
    H5Pclose(access);
    return file;
}

// Closes the file and gives its bytes, to be freed with free().
static inline uint8_t* maker_close(int memory, hid_t file, size_t* bytes) {
    H5Fclose(file);
    off_t size = lseek(memory, 0, SEEK_END);
    uint8_t* image = size > 0 ? malloc((size_t)size) : NULL;
    *bytes = image != NULL && pread(memory, image, (size_t)size, 0) == size ? (size_t)size : 0;
    close(memory);
    return image;
}

// A series before this one with the same shape and type, -1: none.
static inline int maker_twin(int s) {
    for (int i = 0; i < s; ++i) {
        const SeriesSpec *a = &record_spec[i], *b = &record_spec[s];
        if (a->per == b->per && a->width == b->width && a->integer == b->integer) return i;
    }
    return -1;
}

// Whether an object belongs to a result without joints, contacts and inputs.
static inline bool maker_of_bodies(const MakerObject* o) {
    if (o->kind == MAKE_SERIES)
        return record_spec[o->series].per == PER_RUN || record_spec[o->series].per == PER_BODY;
    return strncmp(o->path, "joints", 6) != 0 && strncmp(o->path, "contacts", 8) != 0 &&
           strncmp(o->path, "inputs", 6) != 0;
}

// compact: without joints, contacts and inputs, and series of the same shape are one dataset with many
// names, which is allowed. Such a file is small and quickly read, and every part of it matters.
static inline uint8_t* maker_good(bool compact, size_t* bytes) {
    static const char* const group[] = {"bodies", "joints",   "contacts", "inputs",
                                        "energy", "counters", "violation"};
    int memory = -1;
    hid_t file = maker_open(&memory, NULL, 0);
    for (size_t i = 0; i < sizeof group / sizeof *group; ++i) {
        if (compact && strcmp(group[i], "inputs") == 0) continue;
        H5Gclose(H5Gcreate2(file, group[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    for (int i = 0; i < MAKER_OBJECTS; ++i) {
        MakerObject o = maker_object(i);
        if (compact && !maker_of_bodies(&o)) continue;
        int twin = compact && o.kind == MAKE_SERIES ? maker_twin(o.series) : -1;
        if (twin < 0)
            maker_put(file, i, FAULT_NONE);
        else
            H5Lcreate_hard(file, record_spec[twin].path, file, o.path, H5P_DEFAULT, H5P_DEFAULT);
    }
    return maker_close(memory, file, bytes);
}

// A whole file; fault[MAKER_OBJECTS] says what is wrong with each object. To be freed with free().
// The right file is made once; in a copy of it the wrong objects stand instead of the right ones.
static inline uint8_t* make_result_like(bool compact, const uint8_t* fault, size_t* bytes) {
    static uint8_t* good[2];
    static size_t good_bytes[2];
    record_quiet_library();
    if (good[compact] == NULL) good[compact] = maker_good(compact, &good_bytes[compact]);
    int memory = -1;
    hid_t file = maker_open(&memory, good[compact], good_bytes[compact]);
    for (int i = 0; i < MAKER_OBJECTS; ++i) {
        MakerObject o = maker_object(i);
        Fault wrong = (Fault)(fault[i] % FAULT_COUNT);
        if (wrong == FAULT_NONE) continue;
        if (o.kind == MAKE_ATTRIBUTE)
            H5Adelete(file, o.path);
        else
            H5Ldelete(file, o.path, H5P_DEFAULT);
        maker_put(file, i, wrong);
    }
    return maker_close(memory, file, bytes);
}

static inline uint8_t* make_result(const uint8_t* fault, size_t* bytes) {
    return make_result_like(false, fault, bytes);
}

#endif

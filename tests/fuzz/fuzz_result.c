// Coverage-guided fuzzing of the reader of result files (libFuzzer).
//
// The first byte says what the others are: faults of the objects of a result that the HDF5 library
// then writes (result_maker.h), or changes of single bytes of a right one, or the file itself. All
// that is accepted is read whole. The reader runs in this process, where the sanitizers see it;
// programs read through a process of its own (app/run/record.c).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/run/record_file.h"
#include "core/arena.h"
#include "tests/fuzz/result_maker.h"

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static uint8_t *good, *changed;
static size_t good_bytes;

int LLVMFuzzerInitialize(int* argc, char*** argv) {
    uint8_t none[MAKER_OBJECTS] = {0};
    (void)argc;
    (void)argv;
    good = make_result(none, &good_bytes);
    changed = malloc(good_bytes);
    return good_bytes > 0 ? 0 : 1;
}

// Everything that the head promises can be read, or is refused with a reason.
static void read_all(RecordFile* file, const LashRecord* head) {
    LashError error = {0};
    size_t width = (size_t)head->layout.total + 1;
    double* values = lash_alloc(width * sizeof *values);
    for (int64_t i = 0; i < head->frames && i < 100; ++i)
        for (int s = 0; s < LASH_SERIES_COUNT; ++s)
            record_file_series(file, (LashSeries)s, i, 1, values, &error);
    for (int64_t i = 0; i < head->events && i < 100; ++i) {
        LashRecordEvent event;
        record_file_events(file, i, 1, &event, &error);
    }
    for (int64_t i = 0; i < head->points && i < 100; ++i) {
        LashRecordPoint point;
        record_file_points(file, i, 1, &point, &error);
    }
    if (error.status != LASH_OK && error.status != LASH_ERROR_IO) abort();
    lash_free(values);
}

static void open_image(const uint8_t* image, size_t bytes) {
    LashRecord head = {0};
    LashError error = {0};
    RecordFile* file = record_file_open(-1, image, bytes, &head, &error);
    if (file == NULL) {
        if (error.status != LASH_ERROR_IO || error.message[0] == '\0') abort();
        return;
    }
    read_all(file, &head);
    record_file_close(file);
    record_head_free(&head);
}

// Pairs (object, fault).
static void with_faults(const uint8_t* data, size_t size) {
    uint8_t fault[MAKER_OBJECTS] = {0};
    size_t bytes = 0;
    for (size_t i = 0; i + 2 <= size && i < 16; i += 2)
        fault[data[i] % MAKER_OBJECTS] = data[i + 1];
    uint8_t* image = make_result(fault, &bytes);
    open_image(image, bytes);
    free(image);
}

// Triples (low and high byte of a place, what is added there).
static void with_changes(const uint8_t* data, size_t size) {
    memcpy(changed, good, good_bytes);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        size_t at = (size_t)(data[i] | data[i + 1] << 8) % good_bytes;
        changed[at] = (uint8_t)(changed[at] + data[i + 2]);
    }
    open_image(changed, good_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    switch (data[0] % 8) {
        case 0:
            with_faults(data + 1, size - 1);
            break;
        case 1:
            open_image(data + 1, size - 1);
            break;
        default:
            with_changes(data + 1, size - 1);
    }
    return 0;
}

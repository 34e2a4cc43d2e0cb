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

// A right file with a dataset for each series, and a compact one.
static uint8_t *good[2], *changed[2];
static size_t good_bytes[2];

int LLVMFuzzerInitialize(int* argc, char*** argv) {
    uint8_t none[MAKER_OBJECTS] = {0};
    (void)argc;
    (void)argv;
    // Freed blocks stay with the library: its larger ones would be mapped anew for every file.
    H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
    for (int i = 0; i < 2; ++i) {
        good[i] = make_result_like(i == 1, none, &good_bytes[i]);
        if (good_bytes[i] == 0) return 1;
        changed[i] = malloc(good_bytes[i]);
    }
    return 0;
}

// Everything that the head promises can be read, or is refused with a reason: series as a whole,
// then each row of the tables and the last frame alone.
static void read_all(RecordFile* file, const LashRecord* head) {
    enum { MOST = 100 };
    LashError error = {0};
    int64_t frames = head->frames < MOST ? head->frames : MOST;
    size_t width = (size_t)head->layout.total + 1;
    double* values = lash_alloc((size_t)(frames + 1) * width * sizeof *values);
    for (int s = 0; s < LASH_SERIES_COUNT; ++s)
        record_file_series(file, (LashSeries)s, 0, frames, values, &error);
    if (head->frames > 0)
        record_file_series(file, LASH_SERIES_TIME, head->frames - 1, 1, values, &error);
    for (int64_t i = 0; i < head->events && i < MOST; ++i) {
        LashRecordEvent event;
        record_file_events(file, i, 1, &event, &error);
    }
    for (int64_t i = 0; i < head->points && i < MOST; ++i) {
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
static void with_faults(bool compact, const uint8_t* data, size_t size) {
    uint8_t fault[MAKER_OBJECTS] = {0};
    size_t bytes = 0;
    for (size_t i = 0; i + 2 <= size && i < 16; i += 2)
        fault[data[i] % MAKER_OBJECTS] = data[i + 1];
    uint8_t* image = make_result_like(compact, fault, &bytes);
    open_image(image, bytes);
    free(image);
}

// Triples (low and high byte of a place, what is added there).
static void with_changes(bool compact, const uint8_t* data, size_t size) {
    size_t bytes = good_bytes[compact];
    uint8_t* image = changed[compact];
    memcpy(image, good[compact], bytes);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        size_t at = (size_t)(data[i] | data[i + 1] << 8) % bytes;
        image[at] = (uint8_t)(image[at] + data[i + 2]);
    }
    open_image(image, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    switch (data[0] % 8) {
        case 0:
            with_faults(false, data + 1, size - 1);
            break;
        case 1:
            open_image(data + 1, size - 1);
            break;
        case 2:
            with_changes(false, data + 1, size - 1);
            break;
        case 3:
        case 4:
            with_faults(true, data + 1, size - 1);
            break;
        default:
            with_changes(true, data + 1, size - 1);
    }
    return 0;
}

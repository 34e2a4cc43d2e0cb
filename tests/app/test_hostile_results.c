// Results from anywhere: what is not as the writer makes it ends in a message and exit code 7.
#include "app/run/record.h"
#include "app/run/record_file.h"
#include "command.h"
#include "core/arena.h"
#include "fuzz/result_maker.h"
#include "test.h"

static void write_bytes(const char* path, const uint8_t* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

// Faults of an object that change nothing that counts.
static bool harmless(const MakerObject* o, Fault fault) {
    if (fault == FAULT_NONE) return true;
    if (o->kind == MAKE_SERIES) // frames without bytes are not counted; there may be fewer
        return fault == FAULT_SHORT ||
               (fault == FAULT_WIDTH && record_spec[o->series].per == PER_RUN);
    if (o->kind == MAKE_TABLE) return fault == FAULT_SHORT || fault == FAULT_WIDTH;
    if (o->kind == MAKE_ATTRIBUTE) // these faults cannot be made for attributes
        return fault >= FAULT_CONTIGUOUS || fault == FAULT_SCALAR || fault == FAULT_SHORT;
    if (o->kind == MAKE_TEXT || o->kind == MAKE_FLAG) // scalars
        return fault == FAULT_SCALAR || fault == FAULT_SHORT || fault == FAULT_CONTIGUOUS ||
               fault == FAULT_HUGE_CHUNK || fault == FAULT_FILTER || fault == FAULT_VIRTUAL;
    return fault == FAULT_MISSING && strcmp(o->path, "contacts/name") == 0; // has none
}

// Reads all that the head promises.
static void read_all(const LashRecord* record) {
    LashError error = {0};
    double* frame = lash_alloc((size_t)record->layout.total * sizeof *frame);
    for (int64_t i = 0; i < record->frames; ++i) {
        LashRecordPoint point[4];
        lash_record_read_frame(record, i, frame, &error);
        lash_record_read_points(record, i, point, 4, &error);
    }
    for (int64_t i = 0; i < record->events; ++i) {
        LashRecordEvent event;
        lash_record_read_events(record, i, 1, &event, &error);
    }
    assert_true(error.status == LASH_OK || error.status == LASH_ERROR_IO);
    lash_free(frame);
}

static void every_fault_of_every_object_is_refused_with_its_place(void** state) {
    (void)state;
    for (int i = 0; i < MAKER_OBJECTS; ++i) {
        MakerObject o = maker_object(i);
        if (o.kind == MAKE_SERIES && o.series % 6 != 0) continue; // one of each kind will do
        for (int fault = 0; fault < FAULT_COUNT; ++fault) {
            uint8_t faults[MAKER_OBJECTS] = {0};
            size_t bytes = 0;
            faults[i] = (uint8_t)fault;
            uint8_t* image = make_result(faults, &bytes);
            assert_true(bytes > 0);
            LashRecord head = {0};
            LashError error = {0};
            RecordFile* file = record_file_open(-1, image, bytes, &head, &error);
            if (file == NULL) {
                assert_int_equal(error.status, LASH_ERROR_IO);
                assert_true(error.message[0] != '\0');
            }
            // of a longer one it depends on the bytes of the file; attributes may be refused
            bool either = fault == FAULT_LONGER || (o.kind == MAKE_ATTRIBUTE && file == NULL);
            if (!either && (file == NULL) == harmless(&o, (Fault)fault))
                fail_msg("%s with fault %d is %s: %s", o.path, fault,
                         file == NULL ? "refused" : "accepted", error.message);
            record_file_close(file);
            if (file != NULL) record_head_free(&head);
            free(image);
        }
    }
}

static void more_frames_than_the_file_has_bytes_for_are_refused_at_once(void** state) {
    (void)state;
    uint8_t faults[MAKER_OBJECTS] = {0};
    char path[300];
    size_t bytes = 0;
    for (int s = 0; s < LASH_SERIES_COUNT; ++s) faults[MAKER_FIXED + s] = FAULT_ENDLESS;
    uint8_t* image = make_result(faults, &bytes);
    write_bytes(scratch_file("endless.h5", path, sizeof path), image, bytes);
    free(image);
    Outcome o = LASH("export", "--csv", path);
    assert_int_equal(o.code, 7);
    assert_non_null(strstr(o.err, "1125899906842624 frames are declared"));
    assert_true(o.seconds < 2);
    outcome_free(&o);
}

// Every command that opens a result says no to each of them, with exit code 7.
static void commands_refuse_hostile_results(void** state) {
    (void)state;
    static const Fault faults[] = {FAULT_ARRAY, FAULT_VARIABLE, FAULT_EXTERNAL_LINK,
                                   FAULT_COMPOUND};
    char path[300], out[300];
    scratch_file("hostile.h5", path, sizeof path);
    scratch_file("out.glb", out, sizeof out);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; ++k) {
        uint8_t fault[MAKER_OBJECTS] = {0};
        size_t bytes = 0;
        fault[4] = (uint8_t)(faults[k] == FAULT_EXTERNAL_LINK ? FAULT_NONE : faults[k]); // step
        fault[7] = (uint8_t)faults[k];                                                   // complete
        uint8_t* image = make_result(fault, &bytes);
        write_bytes(path, image, bytes);
        free(image);
        Outcome run[] = {LASH("export", "--csv", path), LASH("export", "--glb", path, out),
                         LASH("export", "--vtk", path, out), LASH("view", path, "--png", out)};
        for (int i = 0; i < 4; ++i) {
            assert_int_equal(run[i].code, 7);
            outcome_free(&run[i]);
        }
    }
}

// Bytes that break the library itself: changed at random, checksums and all.
static void a_library_that_crashes_is_an_error_of_the_file(void** state) {
    (void)state;
    uint8_t faults[MAKER_OBJECTS] = {0};
    char path[300];
    size_t bytes = 0;
    uint32_t seed = 7;
    uint8_t* image = make_result(faults, &bytes);
    scratch_file("flipped.h5", path, sizeof path);
    for (int i = 0; i < 200; ++i) {
        seed = seed * 1664525u + 1013904223u;
        size_t at = seed % bytes;
        uint8_t old = image[at];
        image[at] ^= (uint8_t)(1 + (seed >> 24) % 255);
        write_bytes(path, image, bytes);
        image[at] = old;
        LashError error = {0};
        LashRecord* record = lash_record_open(path, &error);
        if (record == NULL) assert_int_equal(error.status, LASH_ERROR_IO);
        if (record != NULL) read_all(record);
        lash_record_close(record);
    }
    free(image);
}

// A FIFO, a device, a directory: no waiting, a message.
static void what_is_no_file_is_refused_at_once(void** state) {
    (void)state;
    char fifo[300];
    assert_int_equal(mkfifo(scratch_file("fifo", fifo, sizeof fifo), 0600), 0);
    const char* const path[] = {fifo, "/dev/zero", "/dev/null", scratch()};
    for (size_t i = 0; i < sizeof path / sizeof *path; ++i) {
        Outcome run[] = {LASH("export", "--csv", path[i]), LASH("check", path[i]),
                         LASH("run", path[i]), LASH("info", path[i])};
        for (int k = 0; k < 4; ++k) {
            assert_int_equal(run[k].code, 7);
            assert_true(run[k].err[0] != '\0');
            assert_true(run[k].seconds < 2);
            outcome_free(&run[k]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_of_every_object_is_refused_with_its_place),
        cmocka_unit_test(more_frames_than_the_file_has_bytes_for_are_refused_at_once),
        cmocka_unit_test(commands_refuse_hostile_results),
        cmocka_unit_test(a_library_that_crashes_is_an_error_of_the_file),
        cmocka_unit_test(what_is_no_file_is_refused_at_once),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    return failed;
}

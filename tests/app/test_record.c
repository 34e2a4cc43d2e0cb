// Result files: what is written comes back; a killed writer, a full disk and damaged bytes do no
// harm.
#include <sys/mman.h>
#include <sys/resource.h>
#include "test.h"

#include "app/run/record.h"
#include "command.h"
#include "core/arena.h"

static const char* const bodies[] = {"crank", "rod"};
static const char* const joints[] = {"pin"};
static const char* const types[] = {"revolute"};

static LashRecordInfo example(void) {
    return (LashRecordInfo){.version = "0",
                            .model_file = "m.json",
                            .model_text = "{\"name\": \"\xC3\xA9\"}",
                            .options = "{}",
                            .scheme = "combined",
                            .step = 1e-3,
                            .sizes = {.bodies = 2, .joints = 1},
                            .body_name = bodies,
                            .joint_name = joints,
                            .joint_type = types};
}

// Frame i: number k is i + k / 1000, counters are whole.
static void fill_frame(const LashRecordLayout* layout, int64_t i, double* frame) {
    for (int k = 0; k < layout->total; ++k) frame[k] = (double)i + k / 1000.0;
    for (int s = LASH_SERIES_STEPS; s <= LASH_SERIES_CONTACTS; ++s) {
        frame[layout->offset[s]] = (double)(i + s);
    }
    for (int j = 0; j < layout->joints; ++j) {
        frame[layout->offset[LASH_SERIES_JOINT_POINTS] + j] = (double)(i % 3);
        frame[layout->offset[LASH_SERIES_JOINT_IMPACTS] + j] = (double)i;
    }
    frame[layout->offset[LASH_SERIES_POINTS_END]] = 0; // counted by the recorder
}

// Frame i has i % 4 contact points.
static int points_of(int64_t i, LashRecordPoint* point) {
    for (int k = 0; k < i % 4; ++k) {
        double x = (double)i + 0.1 * k;
        point[k] = (LashRecordPoint){.contact = k,
                                     .joint = -1,
                                     .id = (uint64_t)i << 40 | (uint64_t)k,
                                     .point = {x, 1, 2},
                                     .normal = {0, x, 3},
                                     .gap = -x,
                                     .force = {4, 5, x}};
    }
    return (int)(i % 4);
}

static void check_points(const LashRecord* record) {
    LashError error = {0};
    for (int64_t i = 0; i < record->frames; i += 1 + record->frames / 300) {
        LashRecordPoint point[4], expected[4];
        int count = points_of(i, expected);
        assert_int_equal(lash_record_read_points(record, i, point, 4, &error), count);
        assert_memory_equal(point, expected, (size_t)count * sizeof *point);
    }
}

static void check_frames(const LashRecord* record) {
    double frame[64], expected[64];
    LashError error = {0};
    int64_t first = record->frames > 200 ? record->frames - 200 : 0;
    for (int64_t i = first; i < record->frames; ++i) {
        assert_true(lash_record_read_frame(record, i, frame, &error));
        fill_frame(&record->layout, i, expected);
        int end = record->layout.offset[LASH_SERIES_POINTS_END];
        expected[end] = frame[end];
        assert_memory_equal(frame, expected, (size_t)record->layout.total * sizeof *frame);
    }
}

static void frames_come_back_as_written(void** state) {
    (void)state;
    char path[300];
    LashError error = {0};
    LashRecordInfo info = example();
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 1, .contacts = 0});
    double frame[64];
    assert_true(layout.total <= 64);
    LashRecorder* recorder =
        lash_recorder_create(scratch_file("a.h5", path, sizeof path), &info, &error);
    assert_non_null(recorder);
    for (int64_t i = 0; i < 1000; ++i) {
        fill_frame(&layout, i, frame);
        assert_true(lash_recorder_add(recorder, frame, &error));
    }
    assert_true(lash_recorder_close(recorder, &error));
    LashRecord* record = lash_record_open(path, &error);
    assert_non_null(record);
    assert_true(record->complete);
    assert_int_equal(record->frames, 1000);
    assert_string_equal(record->model_text, info.model_text);
    assert_string_equal(record->scheme, "combined");
    assert_true(record->step == 1e-3);
    assert_string_equal(record->body_name[1], "rod");
    assert_string_equal(record->joint_name[0], "pin");
    assert_string_equal(record->joint_type[0], "revolute");
    check_frames(record);
    double times[10];
    assert_true(lash_record_read(record, LASH_SERIES_TIME, 500, 10, times, &error));
    assert_true(times[9] == 509);
    lash_record_close(record);
}

static void inputs_and_free_joints_have_their_columns(void** state) {
    (void)state;
    static const char* const names[] = {"current", "command"};
    static const char* const units[] = {"A", ""};
    static const char* const free_type[] = {"free"};
    char path[300];
    LashError error = {0};
    for (int k = 0; k < 2; ++k) { // without and with
        LashRecordInfo info = example();
        info.sizes.coordinates = k == 0 ? 2 : 6;
        info.sizes.inputs = 2 * k;
        info.input_name = names;
        info.input_unit = units;
        if (k == 1) info.joint_type = free_type;
        LashRecordLayout layout = lash_record_layout(info.sizes);
        double frame[96], back[96];
        assert_true(layout.total <= 96);
        LashRecorder* recorder = lash_recorder_create(
            scratch_file(k == 0 ? "i0.h5" : "i1.h5", path, sizeof path), &info, &error);
        assert_non_null(recorder);
        for (int64_t i = 0; i < 70; ++i) {
            fill_frame(&layout, i, frame);
            assert_true(lash_recorder_add(recorder, frame, &error));
        }
        assert_true(lash_recorder_close(recorder, &error));
        LashRecord* record = lash_record_open(path, &error);
        if (record == NULL) fail_msg("%s: %s", error.where, error.message);
        assert_int_equal(record->layout.coordinates, k == 0 ? 3 : 6);
        assert_int_equal(record->layout.inputs, 2 * k);
        assert_int_equal(record->layout.total, layout.total);
        assert_true(lash_record_read_frame(record, 69, back, &error));
        assert_memory_equal(back, frame, (size_t)layout.total * sizeof *frame);
        if (k == 1) {
            assert_string_equal(record->input_name[1], "command");
            assert_string_equal(record->input_unit[0], "A");
            assert_string_equal(record->input_unit[1], "");
        }
        lash_record_close(record);
    }
}

static void a_model_without_joints_is_recorded(void** state) {
    (void)state;
    char path[300];
    LashError error = {0};
    LashRecordInfo info = example();
    info.sizes.joints = 0;
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 0, .contacts = 0});
    double frame[64];
    fill_frame(&layout, 0, frame);
    LashRecorder* recorder =
        lash_recorder_create(scratch_file("b.h5", path, sizeof path), &info, &error);
    assert_non_null(recorder);
    assert_true(lash_recorder_add(recorder, frame, &error));
    assert_true(lash_recorder_close(recorder, &error));
    LashRecord* record = lash_record_open(path, &error);
    assert_non_null(record);
    assert_int_equal(record->frames, 1);
    assert_int_equal(record->layout.joints, 0);
    lash_record_close(record);
}

static LashRecordEvent example_event(int64_t i) {
    double x = (double)i;
    return (LashRecordEvent){.kind = (int32_t)(i % 5),
                             .contact = (int32_t)(i % 2),
                             .t = x,
                             .h = 1e-3,
                             .gap = -x,
                             .impulse = {x, 1, 2},
                             .before = {3, x, 4},
                             .after = {5, 6, x}};
}

static void check_events(const LashRecord* record) {
    LashError error = {0};
    for (int64_t i = 0; i < record->events; ++i) {
        LashRecordEvent event, expected = example_event(i);
        assert_true(lash_record_read_events(record, i, 1, &event, &error));
        assert_memory_equal(&event, &expected, sizeof event);
    }
}

static void contacts_and_events_come_back_as_written(void** state) {
    (void)state;
    static const char* const contacts[] = {"guide.1", "guide.2"};
    char path[300];
    LashError error = {0};
    LashRecordInfo info = example();
    info.sizes.contacts = 2;
    info.contact_name = contacts;
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 1, .contacts = 2});
    double frame[96];
    assert_true(layout.total <= 96);
    LashRecorder* recorder =
        lash_recorder_create(scratch_file("c.h5", path, sizeof path), &info, &error);
    assert_non_null(recorder);
    for (int64_t i = 0; i < 300; ++i) {
        LashRecordEvent event = example_event(i);
        assert_true(lash_recorder_add_event(recorder, &event, &error));
        fill_frame(&layout, i, frame);
        frame[layout.offset[LASH_SERIES_CONTACT_IMPACTS]] = (double)i; // whole numbers
        frame[layout.offset[LASH_SERIES_CONTACT_IMPACTS] + 1] = 7;
        if (i % 10 == 0) assert_true(lash_recorder_add(recorder, frame, &error));
    }
    assert_true(lash_recorder_close(recorder, &error));
    LashRecord* record = lash_record_open(path, &error);
    assert_non_null(record);
    assert_int_equal(record->frames, 30);
    assert_int_equal(record->events, 300);
    assert_int_equal(record->layout.contacts, 2);
    assert_string_equal(record->contact_name[1], "guide.2");
    check_events(record);
    double back[96];
    assert_true(lash_record_read_frame(record, 29, back, &error));
    fill_frame(&layout, 290, frame);
    frame[layout.offset[LASH_SERIES_CONTACT_IMPACTS]] = 290;
    frame[layout.offset[LASH_SERIES_CONTACT_IMPACTS] + 1] = 7;
    assert_memory_equal(back, frame, (size_t)layout.total * sizeof *frame);
    lash_record_close(record);
}

static void contact_points_come_back_frame_by_frame(void** state) {
    (void)state;
    char path[300];
    LashError error = {0};
    LashRecordInfo info = example();
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 1, .contacts = 0});
    double frame[64];
    LashRecorder* recorder =
        lash_recorder_create(scratch_file("p.h5", path, sizeof path), &info, &error);
    assert_non_null(recorder);
    for (int64_t i = 0; i < 500; ++i) {
        LashRecordPoint point[4];
        int points = points_of(i, point);
        assert_true(lash_recorder_add_points(recorder, point, points, &error));
        fill_frame(&layout, i, frame);
        assert_true(lash_recorder_add(recorder, frame, &error));
    }
    assert_true(lash_recorder_close(recorder, &error));
    LashRecord* record = lash_record_open(path, &error);
    assert_non_null(record);
    assert_int_equal(record->frames, 500);
    assert_int_equal(record->points, 125 * 6);
    check_points(record);
    LashRecordPoint one[2];
    assert_int_equal(lash_record_read_points(record, 3, one, 1, &error), 3); // told, not written
    lash_record_close(record);
}

// Writes frames as fast as it can until it is killed; tells how many it has handed over.
static void write_for_ever(const char* path, volatile int64_t* written) {
    LashError error = {0};
    LashRecordInfo info = example();
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 1, .contacts = 0});
    double frame[64];
    LashRecorder* recorder = lash_recorder_create(path, &info, &error);
    for (int64_t i = 0; recorder != NULL; ++i) {
        LashRecordEvent event = example_event(i);
        LashRecordPoint point[4];
        int points = points_of(i, point);
        if (!lash_recorder_add_event(recorder, &event, &error)) break;
        if (!lash_recorder_add_points(recorder, point, points, &error)) break;
        fill_frame(&layout, i, frame);
        if (!lash_recorder_add(recorder, frame, &error)) break;
        *written = i + 1;
    }
    _exit(1);
}

// A writer that is killed in the middle of its work: when it has handed over `frames` frames and a
// little later, however slow the machine is. Returns how many it had handed over by then.
static int64_t killed_writer(const char* path, int64_t frames, useconds_t later) {
    volatile int64_t* written =
        mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(written != MAP_FAILED);
    unlink(path);
    pid_t child = fork();
    if (child == 0) write_for_ever(path, written);
    double end = test_clock() + 60;
    while ((*written < frames || access(path, R_OK) != 0) && test_clock() < end) usleep(50);
    usleep(later);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int64_t count = *written;
    munmap((void*)(uintptr_t)written, sizeof *written);
    return count;
}

static void a_writer_killed_at_50_moments_leaves_a_readable_file(void** state) {
    (void)state;
    char path[300];
    scratch_file("killed.h5", path, sizeof path);
    srand(12345);
    int kills = getenv("LASH_LONG_TESTS") != NULL ? 1000 : 50;
    for (int i = 0; i < kills; ++i) {
        int64_t frames = rand() % 1000;
        int64_t written = killed_writer(path, frames, (useconds_t)(rand() % 1000));
        assert_true(written >= frames); // it got there within a minute
        LashError error = {0};
        LashRecord* record = lash_record_open(path, &error);
        if (record == NULL) fail_msg("kill %d: %s: %s", i, error.where, error.message);
        assert_false(record->complete);
        check_frames(record);
        assert_true(record->frames + 64 > written);    // a batch is flushed as soon as it is full
        assert_true(record->events >= record->frames); // events are flushed before their frames
        check_events(record);
        check_points(record);
        lash_record_close(record);
    }
}

static void the_program_killed_at_50_moments_leaves_a_readable_file(void** state) {
    (void)state;
    char path[300];
    scratch_file("program.h5", path, sizeof path);
    Command command = {.argument = {"run", LASH_SOURCE_DIR "/models/benchmarks/pendulum_120.json",
                                    "--duration", "100000", "-o", path}};
    srand(54321);
    for (int i = 0; i < 50; ++i) {
        unlink(path);
        pid_t child = start_command(&command);
        for (int k = 0; k < 100000 && access(path, R_OK) != 0; ++k) usleep(100);
        usleep((useconds_t)(rand() % 20000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        LashError error = {0};
        LashRecord* record = lash_record_open(path, &error);
        if (record == NULL) fail_msg("kill %d: %s: %s", i, error.where, error.message);
        lash_record_close(record);
    }
}

// The limit on file size plays the full disk.
static void a_full_disk_is_reported_and_keeps_what_was_flushed(void** state) {
    (void)state;
    char path[300];
    scratch_file("full.h5", path, sizeof path);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1500000, 1500000};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        LashError error = {0};
        LashRecordInfo info = example();
        LashRecordLayout layout =
            lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 1, .contacts = 0});
        double frame[64];
        LashRecorder* recorder = lash_recorder_create(path, &info, &error);
        if (recorder == NULL) _exit(100);
        bool good = true;
        for (int64_t i = 0; i < 100000 && good; ++i) {
            fill_frame(&layout, i, frame);
            good = lash_recorder_add(recorder, frame, &error);
        }
        bool closed = lash_recorder_close(recorder, &error);
        bool told = error.status == LASH_ERROR_IO && strstr(error.message, "cannot write") != NULL;
        _exit(!good && !closed && told ? 42 : 101);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    LashError error = {0};
    LashRecord* record = lash_record_open(path, &error);
    assert_non_null(record);
    assert_true(record->frames >= 64);
    assert_false(record->complete);
    check_frames(record);
    lash_record_close(record);
}

static void copy_damaged(const char* from, const char* to, long keep, long flip) {
    char* bytes;
    FILE* file = fopen(from, "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    bytes = malloc((size_t)size);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    fclose(file);
    if (flip >= 0) bytes[flip % size] = (char)~bytes[flip % size];
    file = fopen(to, "wb");
    fwrite(bytes, 1, (size_t)(keep < size ? keep : size), file);
    fclose(file);
    free(bytes);
}

// Reads everything it can; the point is that it returns.
static void read_all(const char* path) {
    double* frame;
    LashError error = {0};
    LashRecord* record = lash_record_open(path, &error);
    if (record == NULL) {
        assert_int_equal(error.status, LASH_ERROR_IO);
        return;
    }
    frame = lash_alloc((size_t)record->layout.total * sizeof *frame);
    for (int64_t i = 0; i < record->frames; ++i) {
        if (!lash_record_read_frame(record, i, frame, &error)) break;
    }
    for (int64_t i = 0; i < record->events && i < 1000; ++i) {
        LashRecordEvent event;
        if (!lash_record_read_events(record, i, 1, &event, &error)) break;
        assert_non_null(lash_event_name(event.kind));
    }
    lash_free(frame);
    lash_record_close(record);
}

static void damaged_files_end_in_an_error_never_in_a_crash(void** state) {
    (void)state;
    char good[300], bad[300];
    LashError error = {0};
    LashRecordInfo info = example();
    LashRecordLayout layout =
        lash_record_layout((LashRecordSizes){.bodies = 2, .joints = 1, .contacts = 0});
    double frame[64];
    scratch_file("good.h5", good, sizeof good);
    scratch_file("bad.h5", bad, sizeof bad);
    LashRecorder* recorder = lash_recorder_create(good, &info, &error);
    for (int64_t i = 0; i < 100; ++i) {
        fill_frame(&layout, i, frame);
        lash_recorder_add(recorder, frame, &error);
        LashRecordEvent event = example_event(i);
        lash_recorder_add_event(recorder, &event, &error);
    }
    assert_true(lash_recorder_close(recorder, &error));
    struct stat file;
    stat(good, &file);
    for (long keep = 0; keep < file.st_size; keep += file.st_size / 20) {
        copy_damaged(good, bad, keep, -1);
        LashError told = {0};
        LashRecord* record = lash_record_open(bad, &told);
        assert_null(record);
        assert_int_equal(told.status, LASH_ERROR_IO);
    }
    srand(777);
    for (int i = 0; i < 90; ++i) {
        copy_damaged(good, bad, file.st_size, i < 45 ? i * 67 : rand());
        read_all(bad);
    }
}

static int clean_up(void** state) {
    (void)state;
    scratch_remove();
    return 0;
}

// H beside E, in the file and in the summary, of schemes that have one; others have no such series.
static void the_energy_of_a_scheme_is_recorded_where_it_has_one(void** state) {
    (void)state;
    static const char* const scheme[] = {"hht", "combined"};
    for (int k = 0; k < 2; ++k) {
        char path[400], model[400];
        LashError error = {0};
        snprintf(model, sizeof model, "%s/models/papers/linear_oscillator.json", LASH_SOURCE_DIR);
        scratch_file("h.h5", path, sizeof path);
        Command command = {
            .argument = {"run", model, "--scheme", scheme[k], "--duration", "0.05", "-o", path}};
        Outcome outcome = run_command(&command);
        assert_int_equal(outcome.code, 0);
        assert_true((strstr(outcome.out, "own measure H") != NULL) == (k == 0));
        outcome_free(&outcome);
        LashRecord* record = lash_record_open(path, &error);
        assert_non_null(record);
        assert_int_equal(record->layout.width[LASH_SERIES_ALGORITHMIC], 1 - k);
        double value[8] = {0};
        if (k == 0) {
            assert_true(lash_record_read(record, LASH_SERIES_ALGORITHMIC, 0, 1, value, &error));
            assert_true(fabs(value[0] - 0.5) < 1e-3); // E at the start, and O(h^2)
        }
        lash_record_close(record);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_back_as_written),
        cmocka_unit_test(inputs_and_free_joints_have_their_columns),
        cmocka_unit_test(a_model_without_joints_is_recorded),
        cmocka_unit_test(contacts_and_events_come_back_as_written),
        cmocka_unit_test(contact_points_come_back_frame_by_frame),
        cmocka_unit_test(a_writer_killed_at_50_moments_leaves_a_readable_file),
        cmocka_unit_test(the_program_killed_at_50_moments_leaves_a_readable_file),
        cmocka_unit_test(a_full_disk_is_reported_and_keeps_what_was_flushed),
        cmocka_unit_test(damaged_files_end_in_an_error_never_in_a_crash),
        cmocka_unit_test(the_energy_of_a_scheme_is_recorded_where_it_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}

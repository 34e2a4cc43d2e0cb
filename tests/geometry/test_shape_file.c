// Shapes as blocks of bytes: round trip, damage of every kind, and the hash that names them.
#include "core/arena.h"
#include "geometry/cad/sha256.h"
#include "geometry/cad/shape_file.h"
#include "test.h"
#include "tests/cad_parts.h"

static CadFolder folder;

static int set_up(void** state) {
    folder = cad_folder();
    *state = cad_part(&folder, "block",
                      "{\"box\": {\"size\": [10, 20, 30]}, \"name\": \"hull\"}, "
                      "{\"do\": \"cut\", \"cylinder\": {\"radius\": 2, \"length\": 30}, "
                      "\"at\": [5, 5, 0], \"name\": \"bore\"}",
                      "");
    return *state == NULL;
}

static int tear_down(void** state) {
    lash_shape_destroy(*state);
    cad_remove_all(folder.path);
    return 0;
}

static void sha256_gives_the_values_of_the_standard(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < 3; ++i) {
        char hex[65];
        LashSha256 hash = lash_sha256();
        lash_sha256_add(&hash, cases[i][0], strlen(cases[i][0]));
        lash_sha256_hex(&hash, hex);
        assert_string_equal(hex, cases[i][1]);
    }
    char hex[65], *million = malloc(1000000); // in pieces of unlike length
    memset(million, 'a', 1000000);
    LashSha256 hash = lash_sha256();
    for (size_t at = 0, n = 1; at < 1000000; at += n, n = n % 977 + 1)
        lash_sha256_add(&hash, million + at, n < 1000000 - at ? n : 1000000 - at);
    lash_sha256_hex(&hash, hex);
    free(million);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void pack_and_unpack_give_the_same_bytes(void** state) {
    size_t bytes, again_bytes;
    void* block = lash_shape_pack(*state, &bytes);
    void* copy = lash_alloc(bytes);
    memcpy(copy, block, bytes);
    LashError error = {0};
    LashShape* shape = lash_shape_unpack(copy, bytes, &error);
    assert_non_null(shape);
    void* again = lash_shape_pack(shape, &again_bytes);
    assert_int_equal(bytes, again_bytes);
    assert_memory_equal(block, again, bytes);
    lash_free(block);
    lash_free(again);
    lash_shape_destroy(shape);
}

static LashShape* unpack_changed(const void* block, size_t bytes, size_t at, unsigned char change) {
    unsigned char* copy = lash_alloc(bytes);
    memcpy(copy, block, bytes);
    copy[at] ^= change;
    return lash_shape_unpack(copy, bytes, NULL);
}

static void a_flipped_byte_is_noticed(void** state) {
    size_t bytes;
    void* block = lash_shape_pack(*state, &bytes);
    int missed = 0;
    for (size_t i = 0; i < 4000; ++i) {
        size_t at = i < 512 ? i : (i * 2654435761u) % bytes;
        LashShape* shape = unpack_changed(block, bytes, at, (unsigned char)(1 + i % 255));
        missed += shape != NULL;
        lash_shape_destroy(shape);
    }
    lash_free(block);
    assert_int_equal(missed, 0);
}

static void every_shorter_block_is_refused(void** state) {
    size_t bytes;
    char* block = lash_shape_pack(*state, &bytes);
    for (size_t n = 0; n < bytes; n += n < 600 ? 1 : 997) {
        char* copy = lash_alloc(n + 1);
        memcpy(copy, block, n);
        LashError error = {0};
        assert_null(lash_shape_unpack(copy, n, &error));
        assert_int_equal(error.status, LASH_ERROR_CAD);
    }
    lash_free(block);
}

// Changes one number of the tables, with the right checksum: the check must find it.
static bool survives(const LashShape* shape) {
    size_t bytes;
    void* block = lash_shape_pack(shape, &bytes);
    LashShape* copy = lash_shape_unpack(block, bytes, NULL);
    lash_shape_destroy(copy);
    return copy != NULL;
}

static void indices_beyond_their_table_are_refused(void** state) {
    LashShape* s = *state;
    assert_true(survives(s));
    int* index[] = {&s->face[0].first_loop,
                    &s->face[1].loops,
                    &s->face[2].part,
                    &s->face[0].name,
                    &s->loop[0].coedges,
                    &s->coedge[1].edge,
                    &s->edge[0].face[1],
                    &s->edge[2].vertex[0],
                    &s->edge[1].segments,
                    &s->edge[0].part,
                    &s->vertex[0].first_edge,
                    &s->vertex[1].edges,
                    &s->vertex_edge[3],
                    &s->triangle[5],
                    &s->triangle_face[2],
                    &s->line[1],
                    &s->part[0].faces,
                    &s->part[0].first_triangle,
                    &s->part[0].parent,
                    &s->part[0].name,
                    &s->warnings};
    static const int bad[] = {-2, 1 << 20, 2147483647, -2147483647};
    for (size_t i = 0; i < sizeof index / sizeof *index; ++i)
        for (int k = 0; k < 4; ++k) {
            int kept = *index[i];
            *index[i] = bad[k];
            assert_false(survives(s));
            *index[i] = kept;
        }
    double kept = s->face[0].side;
    s->face[0].side = NAN;
    assert_false(survives(s));
    s->face[0].side = kept;
    unsigned char* flag = (unsigned char*)&s->edge[0].closed;
    *flag += 4;
    assert_false(survives(s));
    *flag -= 4;
    assert_true(survives(s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_values_of_the_standard),
        cmocka_unit_test(pack_and_unpack_give_the_same_bytes),
        cmocka_unit_test(a_flipped_byte_is_noticed),
        cmocka_unit_test(every_shorter_block_is_refused),
        cmocka_unit_test(indices_beyond_their_table_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* The stable hash, which data folders rely on, and the keyed one, which nobody can aim at. */
#include "test.h"

#include "base/hash.h"
#include "base/map.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>

/* These values are in the order of every store: they never change. */
static void stable_hashes_are_what_they_were(void **state) {
    (void)state;
    static const char text[] = "The quick brown fox jumps over the lazy dog, twice.";
    static const struct {
        size_t size;
        uint64_t hash;
    } expected[] = {{0, 0xab25c823421c18b4},  {1, 0x253f2135ad7e7630},  {2, 0xe92c5c8d23da3056},
                    {3, 0xe9dafa6889b02fe3},  {4, 0xa5ee70c9d8d1cb48},  {5, 0x86910e0b096922d9},
                    {6, 0x2256d8e2278055eb},  {7, 0xdea4497b830475e8},  {8, 0xe33fc53263295b84},
                    {9, 0x2d955865665cdfc6},  {16, 0x4893781d30515639}, {23, 0x8d72b77cf62e2fa2},
                    {30, 0x7b0c7cc51580c5f4}, {37, 0x65469ab0615c8b9d}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        /* in memory of just that size: nothing beyond it is read */
        uint8_t *copy = malloc(expected[i].size + 1);
        memcpy(copy + 1, text, expected[i].size);
        assert_int_equal(hash_stable(bytes_of(copy + 1, expected[i].size), 7), expected[i].hash);
        free(copy);
    }
}

static void two_lanes_are_two_hashes(void **state) {
    (void)state;
    static const char text[] = "The quick brown fox jumps over the lazy dog, twice.";
    struct hash_two seeds = {{7, UINT64_MAX - 3}};
    for (size_t size = 0; size < sizeof(text); size++) {
        struct bytes b = bytes_of(text, size);
        struct hash_two both = hash_stable_two(b, seeds);
        assert_int_equal(both.at[0], hash_stable(b, seeds.at[0]));
        assert_int_equal(both.at[1], hash_stable(b, seeds.at[1]));
    }
}

static void words_hash_as_their_bytes(void **state) {
    (void)state;
    static const uint8_t text[2][16] = {"a word, a second", "and other words!"};
    struct hash_two a, b, seeds = {{1, 2}};
    for (int i = 0; i < 2; i++) {
        a.at[i] = b.at[i] = 0;
        for (int at = 8; at-- > 0;) {
            a.at[i] = a.at[i] << 8 | text[i][at];
            b.at[i] = b.at[i] << 8 | text[i][8 + at];
        }
    }
    struct hash_two both = hash_stable_words(a, b, seeds);
    assert_int_equal(both.at[0], hash_stable(bytes_of(text[0], 16), 1));
    assert_int_equal(both.at[1], hash_stable(bytes_of(text[1], 16), 2));
}

/* Each byte counts, and so does the seed. */
static void stable_hashes_differ(void **state) {
    (void)state;
    uint8_t text[40] = {0};
    for (size_t size = 1; size <= sizeof(text); size++) {
        uint64_t before = hash_stable(bytes_of(text, size), 0);
        assert_true(hash_stable(bytes_of(text, size), 1) != before);
        assert_true(hash_stable(bytes_of(text, size - 1), 0) != before);
        for (size_t i = 0; i < size; i++) {
            text[i] = 1;
            assert_true(hash_stable(bytes_of(text, size), 0) != before);
            text[i] = 0;
        }
    }
}

/* --- the keyed one --- */

static uint64_t siphash13_of_openssl(const uint8_t key[16], struct bytes b) {
    unsigned c = 1, d = 3;
    size_t size = 8;
    uint64_t out = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &c),
                           OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &d),
                           OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                           OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    assert_non_null(context);
    assert_true(EVP_MAC_init(context, key, 16, params));
    assert_true(EVP_MAC_update(context, b.data, b.size));
    assert_true(EVP_MAC_final(context, (uint8_t *)&out, &size, sizeof(out)));
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
    return out;
}

/* Sizes to 300, as the size's low byte is part of it. */
static void siphash_is_the_one_of_openssl(void **state) {
    (void)state;
    uint8_t key[16], *text = malloc(300);
    struct hash_key words;
    for (unsigned i = 0; i < 16; i++)
        key[i] = (uint8_t)(i * 37 + 5);
    memcpy(&words, key, sizeof(words));
    for (unsigned i = 0; i < 300; i++)
        text[i] = (uint8_t)(i * i + 11 * i);
    for (size_t size = 0; size <= 300; size++) {
        struct bytes b = bytes_of(text + 300 - size, size); /* nothing beyond it is read */
        assert_int_equal(hash_siphash13(words, b), siphash13_of_openssl(key, b));
    }
    free(text);
}

enum { COLLIDING = 4096 };

/* Keys of 32 bytes that all have one stable hash: their second word is the constant that the first
 * half is multiplied with, less what it is combined with, which makes the product zero. */
static uint8_t (*colliding_keys(void))[32] {
    const uint64_t constant = 0xd1b54a32d192ed03;
    uint8_t(*keys)[32] = calloc(COLLIDING, sizeof(*keys));
    for (uint64_t i = 0; i < COLLIDING; i++) {
        memcpy(keys[i], &i, 8);
        memcpy(keys[i] + 8, &constant, 8);
    }
    return keys;
}

static void keys_made_to_collide_do_not(void **state) {
    (void)state;
    uint8_t(*keys)[32] = colliding_keys();
    struct map seen = {0}, map = {0};
    uint64_t *hashes = calloc(COLLIDING, sizeof(*hashes));
    for (size_t i = 0; i < COLLIDING; i++) {
        struct bytes key = bytes_of(keys[i], sizeof(keys[i]));
        assert_int_equal(hash_stable(key, i), hash_stable(bytes_of(keys[0], sizeof(keys[0])), 0));
        hashes[i] = hash_keyed(key, 0);
        assert_null(map_put(&seen, bytes_of(&hashes[i], 8), keys[i]));
        assert_null(map_put(&map, key, keys[i]));
    }
    map_release(&seen);
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&map, &at)) != NULL;)
        assert_null(map_put(&seen, bytes_of(&slot->hash, 8), slot));
    assert_int_equal(seen.count, COLLIDING);
    map_release(&seen);
    map_release(&map);
    free(hashes);
    free(keys);
}

/* The seed counts, and so does the process: another would have to draw the same key. */
static void the_process_has_a_key(void **state) {
    (void)state;
    struct bytes b = BYTES("player");
    assert_true(hash_keyed(b, 1) != hash_keyed(b, 2));
    assert_true(hash_keyed(b, 0) != hash_siphash13((struct hash_key){0}, b));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stable_hashes_are_what_they_were),
                                       cmocka_unit_test(two_lanes_are_two_hashes),
                                       cmocka_unit_test(words_hash_as_their_bytes),
                                       cmocka_unit_test(stable_hashes_differ),
                                       cmocka_unit_test(siphash_is_the_one_of_openssl),
                                       cmocka_unit_test(keys_made_to_collide_do_not),
                                       cmocka_unit_test(the_process_has_a_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

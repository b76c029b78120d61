#include "test.h"

#include "base/random.h"
#include "game/sign.h"

static const struct bytes secret = {(const uint8_t *)"0123456789abcdef0123456789abcdef", 32};

static enum status read_back(const char *purpose, struct bytes token, struct arena *arena,
                             struct bytes *out) {
    return sign_read((struct sign_key){secret, purpose}, token, arena, out);
}

/* As Python's hmac and base64.urlsafe_b64encode make it. */
static void test_known(void **state) {
    struct buf token = {0};
    (void)state;
    sign_put((struct sign_key){secret, "play"}, BYTES("hello \xff\xfe"), &token);
    assert_bytes_equal(buf_bytes(&token),
                       BYTES("aGVsbG8g__4._aaI8qkfZJoS6YhLUoglMhS4OvsboNPY1x0XwQOKqP4"));
    buf_release(&token);
}

static void test_round(void **state) {
    struct random random;
    struct arena arena;
    (void)state;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (size_t size = 0; size <= SIGN_PAYLOAD_MAX; size += size < 40 ? 1 : 37) {
        uint8_t payload[SIGN_PAYLOAD_MAX];
        struct buf token = {0};
        struct sign_key another = {BYTES("another secret of 32 characters!"), "play"};
        struct bytes back;
        for (size_t i = 0; i < size; i++)
            payload[i] = (uint8_t)random_next(&random);
        sign_put((struct sign_key){secret, "play"}, bytes_of(payload, size), &token);
        assert_true(token.size <= SIGN_TOKEN_MAX);
        assert_int_equal(read_back("play", buf_bytes(&token), &arena, &back), OK);
        assert_bytes_equal(back, bytes_of(payload, size));
        assert_int_equal(read_back("player", buf_bytes(&token), &arena, &back), DENIED);
        assert_int_equal(sign_read(another, buf_bytes(&token), &arena, &back), DENIED);
        buf_release(&token);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

/* Any one character changed, taken away or added: no longer ours. */
static void test_changed(void **state) {
    struct buf token = {0}, other = {0};
    struct bytes back;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    sign_put((struct sign_key){secret, "play"}, BYTES("a payload"), &token);
    for (size_t i = 0; i < token.size; i++) {
        for (int c = 1; c < 256; c++) {
            buf_clear(&other);
            buf_put(&other, buf_bytes(&token));
            if (other.data[i] == c)
                continue;
            other.data[i] = (uint8_t)c;
            assert_int_equal(read_back("play", buf_bytes(&other), &arena, &back), DENIED);
        }
        buf_clear(&other);
        buf_append(&other, token.data, i);
        assert_int_equal(read_back("play", buf_bytes(&other), &arena, &back), DENIED);
        buf_append(&other, token.data + i + 1, token.size - i - 1);
        assert_int_equal(read_back("play", buf_bytes(&other), &arena, &back), DENIED);
        arena_reset(&arena);
    }
    buf_byte(&token, 'A');
    assert_int_equal(read_back("play", buf_bytes(&token), &arena, &back), DENIED);
    buf_release(&token);
    buf_release(&other);
    arena_release(&arena);
}

static void test_too_long(void **state) {
    struct buf token = {0};
    struct bytes back;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 900; i++)
        buf_byte(&token, 'A');
    buf_byte(&token, '.');
    for (int i = 0; i < 43; i++)
        buf_byte(&token, 'A');
    assert_int_equal(read_back("play", buf_bytes(&token), &arena, &back), DENIED);
    for (int i = 0; i < 100000; i++)
        buf_byte(&token, 'A');
    assert_int_equal(read_back("play", buf_bytes(&token), &arena, &back), DENIED);
    buf_release(&token);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The letters of notify-keyspace-events. */
#include "test.h"

#include "api/redis/notifications.h"

static const char *again(const char *letters, char *to) {
    unsigned classes;
    assert_true(notify_read(bytes_str(letters), &classes));
    return notify_write(classes, to);
}

static void test_letters(void **state) {
    char text[sizeof(NOTIFY_LETTERS)];
    (void)state;
    assert_string_equal(again("", text), "");
    assert_string_equal(again("EK", text), "KE");
    assert_string_equal(again("KEA", text), "AKE");
    assert_string_equal(again("g$lshzxetd", text), "A");
    assert_string_equal(again("zzK$", text), "$zK");
    assert_string_equal(again("KEmn", text), "nKEm");
    assert_string_equal(again("KEAmn", text), "AKEm");
    assert_string_equal(again("dtexzhsl$gK", text), "AK");
}

static void test_every_letter(void **state) {
    const char *letters = NOTIFY_LETTERS;
    unsigned seen = 0;
    (void)state;
    for (int c = 0; c < 256; c++) {
        uint8_t letter = (uint8_t)c;
        unsigned classes;
        bool known = c != 0 && strchr(letters, c) != NULL;
        assert_int_equal(notify_read(bytes_of(&letter, 1), &classes), known);
        if (known)
            seen |= classes;
    }
    assert_int_equal(seen,
                     NOTIFY_ALL | NOTIFY_KEYSPACE | NOTIFY_KEYEVENT | NOTIFY_MISS | NOTIFY_NEW);
}

static void test_refused(void **state) {
    unsigned classes;
    (void)state;
    assert_false(notify_read(BYTES("KEa"), &classes));
    assert_false(notify_read(BYTES("K E"), &classes));
    assert_false(notify_read(BYTES("K\0"), &classes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_every_letter),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

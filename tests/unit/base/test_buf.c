/* Buffers that begin in memory of somebody else. */
#include "test.h"

#include "base/buf.h"

static void test_borrowed(void **state) {
    (void)state;
    uint8_t memory[8];
    struct buf buf = buf_in(memory, sizeof(memory));
    buf_lit(&buf, "12345678");
    assert_ptr_equal(buf.data, memory); /* all of it fits */
    buf_byte(&buf, '9');
    assert_ptr_not_equal(buf.data, memory);
    assert_bytes_equal(buf_bytes(&buf), BYTES("123456789"));
    assert_memory_equal(memory, "12345678", 8);
    for (int i = 0; i < 1000; i++)
        buf_u64(&buf, (uint64_t)i);
    assert_int_equal(buf.size, 9 + 8000);
    buf_release(&buf);
    assert_null(buf.data);
    buf_lit(&buf, "again");
    assert_bytes_equal(buf_bytes(&buf), BYTES("again"));
    buf_release(&buf);
}

static void test_never_grown(void **state) {
    (void)state;
    uint8_t memory[8];
    struct buf buf = buf_in(memory, sizeof(memory));
    buf_lit(&buf, "12");
    buf_release(&buf); /* nothing to free */
    assert_memory_equal(memory, "12", 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_never_grown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

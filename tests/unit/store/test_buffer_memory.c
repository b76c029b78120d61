/* What one buffer gives back the next one takes, up to a bound. */
#include "store/buffer_memory.h"

#include "base/mem.h"
#include "store/write_buffer.h"
#include "test.h"

#include <stdio.h>

static void test_kept(void **state) {
    (void)state;
    struct buffer_memory memory;
    buffer_memory_init(&memory, (size_t)2 * MEM_LARGE);
    struct buffer_chunk *chunks = NULL, *taken[3];
    for (int i = 0; i < 3; i++) {
        taken[i] = buffer_memory_take(&memory, 100);
        assert_int_equal(taken[i]->size, MEM_LARGE);
        taken[i]->older = chunks;
        chunks = taken[i];
    }
    struct buffer_chunk *large = buffer_memory_take(&memory, MEM_LARGE);
    assert_int_equal(large->size, (size_t)2 * MEM_LARGE);
    large->older = chunks;
    buffer_memory_give(&memory, large, 77);
    assert_int_equal(buffer_memory_spare(&memory), (size_t)2 * MEM_LARGE);
    assert_int_equal(buffer_memory_expected(&memory), 77);
    struct buffer_chunk *again = buffer_memory_take(&memory, 100);
    assert_true(again == taken[0] || again == taken[1] || again == taken[2]);
    assert_int_equal(buffer_memory_spare(&memory), MEM_LARGE);
    buffer_memory_give(&memory, again, 5);
    assert_true(buffer_memory_trim(&memory));
    assert_false(buffer_memory_trim(&memory));
    assert_int_equal(buffer_memory_spare(&memory), 0);
    assert_int_equal(buffer_memory_expected(&memory), 0);
    buffer_memory_release(&memory);
    buffer_memory_give(NULL, buffer_memory_take(NULL, 1), 0);
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    size_t at = 0;
    while (at < size && bytes[at] == 0)
        at++;
    return at == size;
}

/* What was prepared is what is taken next; more is wanted then, and all of it can be let go. */
static void test_prepared(void **state) {
    (void)state;
    size_t ahead = (size_t)BUFFER_MEMORY_AHEAD * MEM_LARGE;
    struct buffer_memory memory;
    buffer_memory_init(&memory, 2 * ahead);
    assert_false(buffer_memory_wants(&memory));
    struct buffer_chunk *first = buffer_memory_take(&memory, 100);
    assert_true(buffer_memory_wants(&memory));
    buffer_memory_prepare(&memory, MEM_LARGE);
    assert_false(buffer_memory_wants(&memory));
    assert_int_equal(buffer_memory_spare(&memory), ahead + MEM_LARGE);
    uint8_t *table = buffer_memory_take_table(&memory, MEM_LARGE);
    assert_true(is_zero(table, MEM_LARGE));
    assert_int_equal(buffer_memory_spare(&memory), ahead);
    mem_large(table, MEM_LARGE, 0);
    struct buffer_chunk *second = buffer_memory_take(&memory, 100);
    assert_int_equal(buffer_memory_spare(&memory), ahead - MEM_LARGE);
    assert_true(buffer_memory_wants(&memory));
    second->older = first;
    buffer_memory_give(&memory, second, 1);
    buffer_memory_prepare(&memory, (size_t)2 * MEM_LARGE); /* there are enough chunks */
    assert_int_equal(buffer_memory_spare(&memory), ahead + (size_t)3 * MEM_LARGE);
    table = buffer_memory_take_table(&memory, MEM_LARGE); /* of another size than was prepared */
    assert_true(is_zero(table, MEM_LARGE));
    mem_large(table, MEM_LARGE, 0);
    assert_true(buffer_memory_trim(&memory));
    assert_int_equal(buffer_memory_spare(&memory), 0);
    buffer_memory_prepare(&memory, MEM_LARGE);
    buffer_memory_release(&memory); /* what is prepared goes with it */
}

static void fill(struct write_buffer *buffer, int round, int count) {
    char text[32];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%d of %d", i, round);
        write_buffer_add(buffer, &(struct buffer_write){.sequence = (uint64_t)i + 1,
                                                        .family = STORE_ITEMS,
                                                        .key = bytes_str(text),
                                                        .value = bytes_str(text)});
    }
}

static const struct buffer_version *find(const struct write_buffer *buffer, const char *text) {
    struct bytes key = bytes_str(text);
    return write_buffer_find(buffer, &(struct buffer_key){.family = STORE_ITEMS,
                                                          .key = key,
                                                          .hash = buffer_hash(STORE_ITEMS, key),
                                                          .sequence = UINT64_MAX});
}

/* Buffers in memory that others have left have what they were given and nothing else; they are
 * larger and smaller than the one before. */
static void test_buffers(void **state) {
    (void)state;
    static const int counts[] = {60000, 150000, 10, 150000};
    struct buffer_memory memory;
    char text[32];
    buffer_memory_init(&memory, (size_t)64 * MEM_LARGE);
    for (int round = 0; round < 4; round++) {
        struct write_buffer *buffer = write_buffer_new(&memory);
        fill(buffer, round, counts[round]);
        for (int i = 0; i < counts[round]; i++) {
            snprintf(text, sizeof(text), "%d of %d", i, round);
            const struct buffer_version *version = find(buffer, text);
            assert_non_null(version);
            assert_bytes_equal(bytes_of(version->value, version->size), bytes_str(text));
            snprintf(text, sizeof(text), "%d of %d", i, round - 1);
            assert_null(find(buffer, text));
        }
        write_buffer_order(buffer, STORE_ITEMS);
        int walked = 0;
        for (const struct buffer_entry *entry =
                 write_buffer_seek(buffer, STORE_ITEMS, (struct bytes){0});
             entry != NULL; entry = buffer_entry_next(entry))
            walked++;
        assert_int_equal(walked, counts[round]);
        write_buffer_drop(buffer);
        if (round == 1)
            write_buffer_prepare(&memory); /* the next is in memory that was prepared */
        assert_int_equal(buffer_memory_expected(&memory), counts[round]);
    }
    assert_true(buffer_memory_spare(&memory) > 0);
    buffer_memory_release(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_prepared),
                                       cmocka_unit_test(test_buffers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

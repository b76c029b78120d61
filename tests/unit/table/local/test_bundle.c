/* Bundles: what was put in comes out, and damaged bytes are told. */
#include "base/random.h"
#include "table/local/bundle.h"
#include "test.h"

enum { MOST = 6000 };

/* What was added. */
struct added {
    uint64_t sequence[MOST];
    struct bytes record[MOST];
    size_t count;
};

/* A record begins with no mark. */
static struct bytes make_record(struct random *random, struct arena *arena, size_t size) {
    uint8_t *data = arena_alloc(arena, size + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)random_next(random);
    if (size != 0)
        data[0] &= 0x3f;
    return bytes_of(data, size);
}

static void add(struct bundle *bundle, struct arena *arena, struct added *added, uint64_t sequence,
                struct bytes record) {
    struct buf room = bundle_add(bundle, arena, sequence, record.size);
    buf_put(&room, record);
    assert_true(room.borrowed && room.size == record.size);
    added->sequence[added->count] = sequence;
    added->record[added->count++] = record;
}

static void check(struct bytes stored, uint64_t last, const struct added *added) {
    struct bundle_iter iter = bundle_read(stored, last);
    struct bytes record;
    uint64_t sequence;
    for (size_t i = 0; i < added->count; i++) {
        assert_int_equal(bundle_next(&iter, &sequence, &record), OK);
        assert_int_equal(sequence, added->sequence[i]);
        assert_bytes_equal(record, added->record[i]);
    }
    assert_int_equal(bundle_next(&iter, &sequence, &record), NOT_FOUND);
    assert_int_equal(bundle_next(&iter, &sequence, &record), NOT_FOUND);
    assert_int_equal(bundle_last(stored, last, &record), OK);
    assert_bytes_equal(record, added->record[added->count - 1]);
}

static void test_model(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    struct added *added = malloc(sizeof(*added));
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (int round = 0; round < 300; round++) {
        struct bundle bundle = {0};
        size_t want = 1 + random_below(&random, 1 + random_below(&random, 200));
        size_t largest = 1 + random_below(&random, round % 10 == 0 ? 5000 : 200);
        uint64_t sequence = random_next(&random) >> (1 + random_below(&random, 62));
        added->count = 0;
        while (added->count < want) {
            struct bytes record = make_record(&random, &arena, random_below(&random, largest));
            if (!bundle_takes(&bundle, record.size))
                break;
            sequence += 1 + random_below(&random, 1 + random_below(&random, 300));
            add(&bundle, &arena, added, sequence, record);
            arena_alloc(&arena, random_below(&random, 100)); /* others use it too */
            assert_int_equal(bundle.last, sequence);
            assert_int_equal(bundle.count, added->count);
        }
        assert_true(bundle.size <= BUNDLE_SIZE_MAX);
        check(bundle_bytes(&bundle), bundle.last, added);
        arena_reset(&arena);
    }
    arena_release(&arena);
    free(added);
}

/* One record is always taken, and then as it is; a bundle that is full takes no more. */
static void test_sizes(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    struct added *added = malloc(sizeof(*added));
    static const size_t sizes[] = {0, 1, 100, BUNDLE_SIZE_MAX, 400 * 1024};
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct bundle bundle = {0};
        struct bytes record = make_record(&random, &arena, sizes[i]);
        added->count = 0;
        assert_true(bundle_takes(&bundle, sizes[i]));
        add(&bundle, &arena, added, 7, record);
        assert_bytes_equal(bundle_bytes(&bundle), record);
        check(bundle_bytes(&bundle), 7, added);
        assert_int_equal(bundle_takes(&bundle, 100), sizes[i] < BUNDLE_SIZE_MAX);
        assert_false(bundle_takes(&bundle, BUNDLE_SIZE_MAX));
    }
    struct bundle full = {0};
    struct bytes small = make_record(&random, &arena, 10);
    added->count = 0;
    for (uint64_t sequence = 1; bundle_takes(&full, small.size); sequence++)
        add(&full, &arena, added, sequence, small);
    assert_true(full.size <= BUNDLE_SIZE_MAX && full.size > BUNDLE_SIZE_MAX - 100);
    check(bundle_bytes(&full), full.last, added);
    arena_release(&arena);
    free(added);
}

/* Walks to the end, whatever it is, and returns how many records there were. */
static size_t walk(struct bytes stored, uint64_t last, enum status *status) {
    struct bundle_iter iter = bundle_read(stored, last);
    struct bytes record;
    uint64_t sequence = 0, before = 0;
    size_t count = 0;
    while ((*status = bundle_next(&iter, &sequence, &record)) == OK) {
        assert_true(count == 0 || sequence > before);
        assert_true(sequence <= last);
        assert_true(record.size == 0 || (record.data >= stored.data &&
                                         record.data + record.size <= stored.data + stored.size));
        before = sequence;
        count++;
    }
    assert_int_equal(bundle_next(&iter, &sequence, &record), *status);
    assert_int_equal(bundle_last(stored, last, &record), *status == NOT_FOUND ? OK : *status);
    return count;
}

static void test_damaged(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    struct bundle bundle = {0};
    struct added *added = malloc(sizeof(*added));
    enum status status;
    random_seed(&random, test_seed());
    arena_init(&arena);
    added->count = 0;
    for (uint64_t i = 0; i < 20; i++)
        add(&bundle, &arena, added, 1000 + 100 * i,
            make_record(&random, &arena, 1 + random_below(&random, 30)));
    struct bytes whole = bundle_bytes(&bundle);
    assert_int_equal(walk(whole, bundle.last, &status), 20);
    assert_int_equal(status, NOT_FOUND);
    for (size_t size = 1; size < whole.size; size++) {
        uint8_t *exact = malloc(size); /* what is read beyond it is found by the sanitizer */
        memcpy(exact, whole.data, size);
        assert_true(walk(bytes_of(exact, size), bundle.last, &status) < 20);
        assert_int_equal(status, DAMAGED);
        free(exact);
    }
    for (uint64_t last = 0; last < 4000; last++) {
        walk(whole, last, &status);
        assert_int_equal(status, last == bundle.last ? NOT_FOUND : DAMAGED);
    }
    for (int i = 0; i < 100000; i++) {
        size_t at = random_below(&random, whole.size);
        uint8_t was = bundle.data[at];
        bundle.data[at] = (uint8_t)random_next(&random);
        walk(whole, bundle.last, &status);
        bundle.data[at] = was;
    }
    static const char *const bad[] = {"\x40", "\x40\x05", "\x40\x05\x01", "\x40\x05\x01\x00\x01",
                                      "\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01\x01x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (uint64_t last = 0; last < 5; last++) {
            walk(bytes_str(bad[i]), last, &status);
            assert_int_equal(status, DAMAGED);
        }
    arena_release(&arena);
    free(added);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

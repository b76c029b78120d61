/* The newest values of the log: held against a list of all that were ever put. */
#include "store/recent_values.h"

#include "base/random.h"
#include "test.h"

#include <pthread.h>

enum { RING = 4096, VALUES = 3000, LARGEST = RING / 8 };

static struct log_place places[VALUES];

/* Bytes that follow from the place. */
static struct bytes make_value(const struct log_place *place, uint8_t *room) {
    for (uint32_t i = 0; i < place->size; i++)
        room[i] = (uint8_t)(place->segment * 31 + place->offset * 7 + i);
    return bytes_of(room, place->size);
}

static void add(struct recent_values *recent, const struct log_place *place) {
    uint8_t room[2 * RING];
    recent_values_add(recent, place, make_value(place, room));
}

/* Whether it is there; if it is, it is right. */
static bool has(struct recent_values *recent, const struct log_place *place) {
    uint8_t room[2 * RING];
    struct arena arena;
    struct bytes found;
    arena_init(&arena);
    bool there = recent_values_find(recent, place, &arena, &found);
    if (there)
        assert_bytes_equal(found, make_value(place, room));
    arena_release(&arena);
    return there;
}

/* Of the last ones as many are there as the ring must hold; behind the first that is gone there is
 * none, but those that were too large. */
static void check_newest(struct recent_values *recent, size_t count) {
    size_t bytes = 0;
    bool gone = false;
    for (size_t i = count; i-- > 0;) {
        if (places[i].size == 0 || places[i].size > LARGEST) {
            assert_false(has(recent, &places[i]));
            continue;
        }
        bytes += places[i].size;
        bool there = has(recent, &places[i]);
        assert_false(there && (gone || bytes > RING));
        assert_true(there || bytes > RING - LARGEST);
        gone = gone || !there;
    }
}

static void test_model(void **state) {
    (void)state;
    struct recent_values recent;
    struct random random;
    random_seed(&random, test_seed());
    recent_values_init(&recent, RING);
    struct log_place place = {.segment = 1, .salt = 5, .offset = 4096};
    for (size_t i = 0; i < VALUES; i++) {
        if (random_below(&random, 100) == 0)
            place = (struct log_place){.segment = place.segment + 1,
                                       .salt = (uint32_t)random_next(&random)};
        place.size = (uint32_t)random_below(&random, random_below(&random, 20) == 0 ? RING : 200);
        places[i] = place;
        add(&recent, &place);
        place.offset += place.size + (uint32_t)random_below(&random, 50) + 1;
        if (i % 97 == 0)
            check_newest(&recent, i + 1);
    }
    check_newest(&recent, VALUES);
    recent_values_release(&recent);
}

/* Very small ones: there is a bound of how many, too. */
static void test_many(void **state) {
    (void)state;
    struct recent_values recent;
    recent_values_init(&recent, (size_t)1024 * 1024);
    struct log_place place = {.segment = 1, .size = 1};
    for (; place.offset < 20000; place.offset++)
        add(&recent, &place);
    place.offset = 19999;
    assert_true(has(&recent, &place));
    place.offset = 20000 - 8192;
    assert_true(has(&recent, &place));
    place.offset--;
    assert_false(has(&recent, &place));
    recent_values_release(&recent);
}

/* What stands at the same place of another log, or of another size, is something else. */
static void test_other(void **state) {
    (void)state;
    struct recent_values recent;
    recent_values_init(&recent, RING);
    struct log_place place = {.segment = 3, .salt = 9, .offset = 100, .size = 50}, other = place;
    assert_false(has(&recent, &place));
    assert_int_equal(recent_values_memory(&recent), 0);
    add(&recent, &place);
    assert_true(recent_values_memory(&recent) >= RING);
    assert_true(has(&recent, &place));
    other.salt++;
    assert_false(has(&recent, &other));
    other = place;
    other.size--;
    assert_false(has(&recent, &other));
    other = place;
    other.offset--;
    assert_false(has(&recent, &other));
    recent_values_clear(&recent);
    assert_false(has(&recent, &place));
    add(&recent, &place);
    assert_true(has(&recent, &place));
    recent_values_release(&recent);
}

static void *add_all(void *argument) {
    struct log_place place = {.segment = 1, .size = 64};
    for (; place.offset < 64 * 20000; place.offset += 64)
        add(argument, &place);
    return NULL;
}

/* Whoever reads beside the one who adds finds a value as it was, or none. */
static void test_beside(void **state) {
    (void)state;
    struct recent_values recent;
    pthread_t thread;
    recent_values_init(&recent, RING);
    assert_int_equal(pthread_create(&thread, NULL, add_all, &recent), 0);
    struct log_place place = {.segment = 1, .size = 64};
    for (unsigned i = 0; i < 20000; i++) {
        place.offset = i * 64;
        has(&recent, &place);
    }
    pthread_join(thread, NULL);
    place.offset = 19999 * 64;
    assert_true(has(&recent, &place));
    recent_values_release(&recent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

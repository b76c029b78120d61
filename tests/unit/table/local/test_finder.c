#include "table/local/finder.h"

#include "base/random.h"
#include "test.h"

/* --- a model: all that was put, in a list --- */

enum { MODEL_MAX = 4000 };

struct one {
    uint64_t hash;
    size_t size;
    uint8_t middle[FINDER_MIDDLE_MAX + 8];
};

struct model {
    struct random random;
    struct one all[MODEL_MAX];
    size_t count;
};

/* Few parts and few tags: slots collide, share tags and wrap around. */
static uint64_t any_hash(struct random *random) {
    uint64_t part = random_below(random, 3) << 52;
    uint64_t tag = random_below(random, 4) == 0 ? 0xffffffff - random_below(random, 3)
                                                : random_below(random, 200) * 20000000;
    return part << 1 | tag;
}

static struct one any_one(struct random *random) {
    struct one one = {.hash = any_hash(random)};
    uint64_t kind = random_below(random, 20);
    one.size = 1 + (size_t)random_below(random, kind == 0 ? sizeof one.middle : kind < 4 ? 20 : 7);
    for (size_t i = 0; i < one.size; i++)
        one.middle[i] = random_below(random, 3) == 0 ? 0x80 : (uint8_t)random_below(random, 256);
    return one;
}

static struct bytes middle_of(const struct one *one) {
    return bytes_of(one->middle, one->size);
}

/* How often the model has the hash, and how often the very same. */
static size_t count_of(const struct model *model, uint64_t hash, struct bytes middle, size_t *all) {
    size_t same = 0;
    *all = 0;
    for (size_t i = 0; i < model->count; i++)
        if (model->all[i].hash == hash) {
            ++*all;
            same += bytes_equal(middle_of(&model->all[i]), middle);
        }
    return same;
}

static void check_one(const struct finder *finder, const struct model *model, uint64_t hash,
                      struct bytes middle) {
    struct finder_walk walk;
    size_t wanted_all, all = 0, same = 0, untold = 0;
    size_t wanted = count_of(model, hash, middle, &wanted_all);
    finder_prefetch(finder, hash);
    finder_seek(&walk, finder, hash);
    while (finder_next(&walk)) {
        all++;
        untold += !walk.told;
        same += walk.told && bytes_equal(bytes_of(walk.middle, walk.size), middle);
    }
    assert_int_equal(all, wanted_all);
    if (middle.size <= FINDER_MIDDLE_MAX - 3)
        assert_int_equal(same, wanted);
    else if (wanted != 0)
        assert_true(same + untold >= wanted);
}

static void test_model(void **state) {
    (void)state;
    static struct model model;
    random_seed(&model.random, test_seed());
    struct finder *finder = finder_new(0);
    for (unsigned step = 0; step < 20000; step++) {
        /* It grows, then shrinks, then grows. */
        bool put = random_below(&model.random, 100) < (step / 4000 % 2 == 0 ? 70u : 30u);
        if (put && model.count < MODEL_MAX) {
            struct one *one = &model.all[model.count++];
            *one = any_one(&model.random);
            finder_put(finder, one->hash, middle_of(one));
            check_one(finder, &model, one->hash, middle_of(one));
        } else if (model.count != 0) {
            size_t at = (size_t)random_below(&model.random, model.count);
            struct one gone = model.all[at];
            model.all[at] = model.all[--model.count];
            assert_true(finder_del(finder, gone.hash, middle_of(&gone)));
            check_one(finder, &model, gone.hash, middle_of(&gone));
        }
        struct one other = any_one(&model.random);
        check_one(finder, &model, other.hash, middle_of(&other));
        assert_int_equal(finder_count(finder), model.count);
        if (step % 500 == 0)
            finder_check(finder);
    }
    while (model.count != 0) {
        struct one *gone = &model.all[--model.count];
        assert_true(finder_del(finder, gone->hash, middle_of(gone)));
    }
    finder_check(finder);
    finder_free(finder);
}

static void test_absent(void **state) {
    (void)state;
    struct finder *finder = finder_new(1000000);
    struct finder_walk walk;
    uint64_t hash = finder_hash(BYTES("head"), BYTES("tail"));
    finder_prefetch(finder, hash);
    finder_seek(&walk, finder, hash);
    assert_false(finder_next(&walk));
    assert_false(finder_del(finder, hash, BYTES("middle")));
    finder_put(finder, hash, BYTES("middle"));
    assert_false(finder_del(finder, hash, BYTES("muddle")));
    assert_false(finder_del(finder, hash, BYTES("middle\x80")));
    assert_true(finder_del(finder, hash, BYTES("middle")));
    assert_false(finder_del(finder, hash, BYTES("middle")));
    finder_check(finder);
    finder_free(finder);
}

/* Scores of seven digits and two zeros after them, as most boards have. */
static void test_memory(void **state) {
    (void)state;
    enum { COUNT = 300000 };
    for (unsigned expected = 0; expected < 2; expected++) {
        struct finder *finder = finder_new(expected ? COUNT : 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint8_t middle[7] = {0xc5, (uint8_t)i, (uint8_t)(i >> 8), 7, 9, 0x80, 0x80};
            finder_put(finder, finder_hash(BYTES("head"), bytes_of(&i, sizeof i)),
                       bytes_of(middle, sizeof middle));
        }
        finder_check(finder);
        assert_in_range(finder_memory(finder) / COUNT, 10, 16);
        finder_free(finder);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

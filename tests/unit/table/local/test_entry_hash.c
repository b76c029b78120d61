#include "table/local/entry_hash.h"

#include "base/random.h"
#include "test.h"

/* --- a model: all that was put, in a list --- */

enum { MODEL_MAX = 4000 };

struct one {
    uint64_t hash;
    size_t size;
    uint8_t middle[ENTRY_HASH_MIDDLE_MAX + 8];
    bool covers;
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
    one.covers = random_below(random, 4) != 0;
    one.size = 1 + (size_t)random_below(random, kind == 0 ? sizeof one.middle : kind < 4 ? 20 : 7);
    for (size_t i = 0; i < one.size; i++)
        one.middle[i] = random_below(random, 3) == 0 ? 0x80 : (uint8_t)random_below(random, 256);
    return one;
}

static struct bytes middle_of(const struct one *one) {
    return bytes_of(one->middle, one->size);
}

static struct entry_middle put_of(const struct one *one) {
    return (struct entry_middle){middle_of(one), one->covers};
}

/* The lowest bit of a hash is not looked at. */
static bool same_hash(uint64_t a, uint64_t b) {
    return a >> 1 == b >> 1;
}

/* How often the model has the hash, and how often the very same. */
static size_t count_of(const struct model *model, uint64_t hash, struct bytes middle, size_t *all) {
    size_t same = 0;
    *all = 0;
    for (size_t i = 0; i < model->count; i++)
        if (same_hash(model->all[i].hash, hash)) {
            ++*all;
            same += bytes_equal(middle_of(&model->all[i]), middle);
        }
    return same;
}

/* What is said to cover its item does, whichever of those alike it is. */
static void check_covers(const struct model *model, const struct entry_hash_walk *walk) {
    for (size_t i = 0; i < model->count; i++)
        if (same_hash(model->all[i].hash, walk->hash) &&
            bytes_equal(middle_of(&model->all[i]), bytes_of(walk->middle, walk->size)))
            assert_true(model->all[i].covers);
}

static void check_one(const struct entry_hash *entry_hash, const struct model *model, uint64_t hash,
                      struct bytes middle) {
    struct entry_hash_walk walk;
    size_t wanted_all, all = 0, same = 0, untold = 0;
    size_t wanted = count_of(model, hash, middle, &wanted_all);
    entry_hash_prefetch(entry_hash, hash);
    entry_hash_seek(&walk, entry_hash, hash);
    while (entry_hash_next(&walk)) {
        all++;
        untold += !walk.has_middle;
        if (walk.covers)
            check_covers(model, &walk);
        same += walk.has_middle && bytes_equal(bytes_of(walk.middle, walk.size), middle);
    }
    assert_int_equal(all, wanted_all);
    if (middle.size <= ENTRY_HASH_MIDDLE_MAX - 3)
        assert_int_equal(same, wanted);
    else if (wanted != 0)
        assert_true(same + untold >= wanted);
}

/* Gives one of them another middle; says whether that was possible in its place. */
static bool replace_any(struct entry_hash *entry_hash, struct model *model) {
    struct one *one = &model->all[random_below(&model->random, model->count)];
    struct one old = *one, new = any_one(&model->random);
    new.hash = one->hash;
    bool done = entry_hash_replace(entry_hash, new.hash, middle_of(&old), put_of(&new));
    if (done)
        *one = new;
    check_one(entry_hash, model, new.hash, middle_of(&new));
    check_one(entry_hash, model, old.hash, middle_of(&old));
    return done;
}

static void test_model(void **state) {
    (void)state;
    static struct model model;
    size_t replaced = 0;
    random_seed(&model.random, test_seed());
    struct entry_hash *entry_hash = entry_hash_new(0);
    for (unsigned step = 0; step < 20000; step++) {
        /* It grows, then shrinks, then grows. */
        bool put = random_below(&model.random, 100) < (step / 4000 % 2 == 0 ? 70u : 30u);
        if (put && model.count < MODEL_MAX) {
            struct one *one = &model.all[model.count++];
            *one = any_one(&model.random);
            entry_hash_put(entry_hash, one->hash, put_of(one));
            check_one(entry_hash, &model, one->hash, middle_of(one));
        } else if (model.count != 0) {
            size_t at = (size_t)random_below(&model.random, model.count);
            struct one gone = model.all[at];
            model.all[at] = model.all[--model.count];
            assert_true(entry_hash_del(entry_hash, gone.hash, middle_of(&gone)));
            check_one(entry_hash, &model, gone.hash, middle_of(&gone));
        }
        if (model.count != 0)
            replaced += replace_any(entry_hash, &model);
        struct one other = any_one(&model.random);
        check_one(entry_hash, &model, other.hash, middle_of(&other));
        assert_int_equal(entry_hash_count(entry_hash), model.count);
        if (step % 500 == 0)
            entry_hash_check(entry_hash);
    }
    assert_true(replaced > 10000);
    while (model.count != 0) {
        struct one *gone = &model.all[--model.count];
        assert_true(entry_hash_del(entry_hash, gone->hash, middle_of(gone)));
    }
    entry_hash_check(entry_hash);
    entry_hash_free(entry_hash);
}

static void test_absent(void **state) {
    (void)state;
    struct entry_hash *entry_hash = entry_hash_new(1000000);
    struct entry_hash_walk walk;
    uint64_t hash = entry_hash_of(BYTES("head"), BYTES("tail"));
    entry_hash_prefetch(entry_hash, hash);
    entry_hash_seek(&walk, entry_hash, hash);
    assert_false(entry_hash_next(&walk));
    assert_false(entry_hash_del(entry_hash, hash, BYTES("middle")));
    assert_false(entry_hash_replace(entry_hash, hash, BYTES("middle"),
                                    (struct entry_middle){BYTES("m"), true}));
    entry_hash_put(entry_hash, hash, (struct entry_middle){.bytes = BYTES("middle")});
    assert_false(entry_hash_del(entry_hash, hash, BYTES("muddle")));
    assert_false(entry_hash_del(entry_hash, hash, BYTES("middle\x80")));
    assert_true(entry_hash_del(entry_hash, hash, BYTES("middle")));
    assert_false(entry_hash_del(entry_hash, hash, BYTES("middle")));
    entry_hash_check(entry_hash);
    entry_hash_free(entry_hash);
}

/* How many of those alike there are, and how many are said to cover their items. */
static size_t alike(const struct entry_hash *entry_hash, uint64_t hash, size_t *covering) {
    struct entry_hash_walk walk;
    size_t count = 0;
    *covering = 0;
    entry_hash_seek(&walk, entry_hash, hash);
    for (; entry_hash_next(&walk); count++)
        *covering += walk.covers;
    return count;
}

static void test_covers(void **state) {
    (void)state;
    const struct entry_middle covers = {BYTES("middle"), true}, not = {BYTES("middle"), false};
    uint64_t hash = entry_hash_of(BYTES("head"), BYTES("tail"));
    struct entry_hash *entry_hash = entry_hash_new(0);
    size_t covering;
    entry_hash_put(entry_hash, hash, covers);
    entry_hash_put(entry_hash, hash, covers);
    assert_int_equal(alike(entry_hash, hash, &covering), 2);
    assert_int_equal(covering, 2);
    entry_hash_put(entry_hash, hash, (struct entry_middle){BYTES("other"), false});
    alike(entry_hash, hash, &covering);
    assert_int_equal(covering, 2); /* it is not like them */
    entry_hash_put(entry_hash, hash, not );
    assert_int_equal(alike(entry_hash, hash, &covering), 4);
    assert_int_equal(covering, 0); /* which of them covers cannot be told */
    entry_hash_put(entry_hash, hash, covers);
    alike(entry_hash, hash, &covering);
    assert_int_equal(covering, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_true(entry_hash_del(entry_hash, hash, BYTES("middle")));
    entry_hash_put(entry_hash, hash, covers);
    assert_int_equal(alike(entry_hash, hash, &covering), 2);
    assert_int_equal(covering, 1);
    entry_hash_check(entry_hash);
    entry_hash_free(entry_hash);
}

/* What is too long to be kept covers nothing. */
static void test_long_covers_nothing(void **state) {
    (void)state;
    uint8_t middle[ENTRY_HASH_MIDDLE_MAX + 1];
    struct entry_hash *entry_hash = entry_hash_new(0);
    size_t covering;
    memset(middle, 7, sizeof middle);
    entry_hash_put(entry_hash, 1, (struct entry_middle){bytes_of(middle, sizeof middle), true});
    assert_int_equal(alike(entry_hash, 1, &covering), 1);
    assert_int_equal(covering, 0);
    entry_hash_free(entry_hash);
}

/* Scores of seven digits and two zeros after them, as most boards have. */
static void test_memory(void **state) {
    (void)state;
    enum { COUNT = 300000 };
    for (unsigned expected = 0; expected < 2; expected++) {
        struct entry_hash *entry_hash = entry_hash_new(expected ? COUNT : 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint8_t middle[7] = {0xc5, (uint8_t)i, (uint8_t)(i >> 8), 7, 9, 0x80, 0x80};
            entry_hash_put(entry_hash, entry_hash_of(BYTES("head"), bytes_of(&i, sizeof i)),
                           (struct entry_middle){.bytes = bytes_of(middle, sizeof middle)});
        }
        entry_hash_check(entry_hash);
        assert_in_range(entry_hash_memory(entry_hash) / COUNT, 10, 16);
        entry_hash_free(entry_hash);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),  cmocka_unit_test(test_absent),
        cmocka_unit_test(test_covers), cmocka_unit_test(test_long_covers_nothing),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

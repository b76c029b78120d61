#include "table/local/index_walk.h"

#include "base/random.h"
#include "test.h"

/* An index that is nothing but a tree, of which this knows which of SPACE numbers are in it. */
enum { SPACE = 30000 };

struct walked {
    struct local local;
    struct index index;
    bool has[SPACE];
    struct random random;
};

static void walked_init(struct walked *walked) {
    memset(walked, 0, sizeof(*walked));
    pthread_rwlock_init(&walked->local.state_lock, NULL);
    pthread_mutex_init(&walked->local.walks_lock, NULL);
    index_begin(&walked->index, 0);
    random_seed(&walked->random, test_seed());
}

static void walked_release(struct walked *walked) {
    index_empty(&walked->index);
    pthread_rwlock_destroy(&walked->local.state_lock);
    pthread_mutex_destroy(&walked->local.walks_lock);
}

/* As the writer changes an index. */
static void flip(struct walked *walked, uint32_t number) {
    char text[16];
    int size = snprintf(text, sizeof(text), "entry%06u", (unsigned)number);
    struct bytes entry = bytes_of(text, (size_t)size);
    pthread_rwlock_wrlock(&walked->local.state_lock);
    if (walked->has[number])
        index_del(&walked->index, entry);
    else
        index_put(&walked->index, entry, false);
    pthread_rwlock_unlock(&walked->local.state_lock);
    walked->has[number] = !walked->has[number];
}

static uint32_t number_of(struct bytes entry) {
    char text[16] = {0};
    assert_int_equal(entry.size, 11);
    memcpy(text, entry.data, entry.size);
    return (uint32_t)strtoul(text + 5, NULL, 10);
}

/* Walks over a range of ranks while half of everything changes, and compares with what was there
 * at its beginning. */
static void check_walk(struct walked *walked, struct index_walk_range range) {
    uint32_t *expected = malloc(SPACE * sizeof(*expected));
    uint64_t rank = 0, listed = 0, count = range.to - range.from;
    for (uint32_t i = 0; i < SPACE; i++)
        if (walked->has[i] && rank++ >= range.from && rank <= range.to)
            expected[rank - 1 - range.from] = i;
    pthread_rwlock_rdlock(&walked->local.state_lock);
    struct index_walk *walk = index_walk_begin(&walked->local, &walked->index, &range);
    pthread_rwlock_unlock(&walked->local.state_lock);
    bool done = false;
    struct bytes entry;
    while (!done) {
        for (unsigned i = 0; i < SPACE / 20; i++)
            flip(walked, (uint32_t)random_below(&walked->random, SPACE));
        assert_int_equal(index_walk_step(walk, &done), OK);
    }
    for (; index_walk_next(walk, &entry); listed++) {
        assert_true(listed < count);
        uint64_t at = range.backward ? count - 1 - listed : listed;
        assert_int_equal(number_of(entry), expected[at]);
    }
    assert_int_equal(listed, count);
    index_walk_free(walk);
    assert_null(walked->index.walks);
    free(expected);
}

static void test_as_of_its_beginning(void **state) {
    static struct walked walked;
    (void)state;
    walked_init(&walked);
    for (uint32_t i = 0; i < SPACE; i++)
        if (random_below(&walked.random, 2) == 0)
            flip(&walked, i);
    for (unsigned round = 0; round < 8; round++) {
        uint64_t all = tree_count(walked.index.tree);
        uint64_t from = round < 2 ? 0 : random_below(&walked.random, all);
        uint64_t to = round < 4 ? all : from + 1 + random_below(&walked.random, all - from);
        check_walk(&walked, (struct index_walk_range){from, to, round % 2 != 0});
    }
    walked_release(&walked);
}

static void test_dropped_index(void **state) {
    static struct walked walked;
    bool done;
    (void)state;
    walked_init(&walked);
    for (uint32_t i = 0; i < 2 * LIMIT_WALK_SLICE; i++)
        flip(&walked, i);
    struct index_walk_range range = {0, 2 * LIMIT_WALK_SLICE, false};
    struct index_walk *walk = index_walk_begin(&walked.local, &walked.index, &range);
    assert_ptr_equal(walked.index.walks, walk);
    index_empty(&walked.index);
    assert_int_equal(index_walk_step(walk, &done), BUSY);
    assert_null(walked.index.walks);
    index_walk_free(walk);
    walked_release(&walked);
}

static void test_given_up(void **state) {
    static struct walked walked;
    (void)state;
    walked_init(&walked);
    for (uint32_t i = 0; i < 2 * LIMIT_WALK_SLICE; i++)
        flip(&walked, i);
    struct index_walk_range range = {0, 2 * LIMIT_WALK_SLICE, true};
    struct index_walk *first = index_walk_begin(&walked.local, &walked.index, &range);
    struct index_walk *second = index_walk_begin(&walked.local, &walked.index, &range);
    index_walk_free(first);
    assert_ptr_equal(walked.index.walks, second);
    index_walk_free(second);
    assert_null(walked.index.walks);
    walked_release(&walked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_of_its_beginning),
        cmocka_unit_test(test_dropped_index),
        cmocka_unit_test(test_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

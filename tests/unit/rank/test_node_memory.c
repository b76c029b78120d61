/* Memory of nodes: blocks that do not overlap, whatever comes and goes, and that go back. */
#include "test.h"

#include "base/mem.h"
#include "base/random.h"
#include "rank/node_memory.h"

enum { BLOCKS = 3000 };

/* A block has its place in `model` in each of its words. */
struct block {
    uint64_t *words;
    size_t size;
};

struct model {
    struct node_memory memory;
    struct block blocks[BLOCKS];
    size_t used;
};

static void write_words(struct model *model, size_t at, size_t from) {
    const struct block *block = &model->blocks[at];
    for (size_t i = from / 8; i < block->size / 8; i++)
        block->words[i] = at;
}

static void check_words(const struct model *model, size_t at) {
    const struct block *block = &model->blocks[at];
    for (size_t i = 0; i < block->size / 8; i++)
        assert_int_equal(block->words[i], at);
}

static void take(struct model *model, size_t at, size_t bytes) {
    struct block *block = &model->blocks[at];
    block->words = node_memory_take(&model->memory, bytes, &block->size);
    assert_true(block->size >= bytes && block->size < bytes + 2 * NODE_MEMORY_UNIT);
    assert_true((uintptr_t)block->words % 8 == 0 && block->size % 8 == 0);
    model->used += block->size;
    write_words(model, at, 0);
}

static void give(struct model *model, size_t at) {
    struct block *block = &model->blocks[at];
    check_words(model, at);
    size_t held = node_memory_held(&model->memory);
    node_memory_give(&model->memory, block->words, block->size);
    /* No call gives back much, besides what a block has that is the C library's. */
    assert_true(held - node_memory_held(&model->memory) <=
                (NODE_MEMORY_RESERVE + 1) * NODE_MEMORY_SLAB + block->size + 4096);
    model->used -= block->size;
    *block = (struct block){0};
}

static void extend(struct model *model, size_t at, size_t bytes) {
    struct block *block = &model->blocks[at];
    size_t size = block->size;
    block->size = node_memory_extend(&model->memory, block->words, size, size + bytes);
    assert_true(block->size == size || block->size >= size + bytes);
    model->used += block->size - size;
    write_words(model, at, size);
}

/* Mostly what leaves have; sometimes what inner nodes have; seldom more than a slab takes. */
static size_t some_bytes(struct random *random) {
    uint64_t kind = random_below(random, 1000);
    return kind == 0    ? 1 + random_below(random, 100000)
           : kind < 100 ? 1 + random_below(random, 8192)
                        : 1 + random_below(random, 1100);
}

static size_t move_block(void *owner, void *words) {
    struct model *model = owner;
    size_t at = *(uint64_t *)words;
    struct block *block = &model->blocks[at];
    assert_ptr_equal(block->words, words);
    check_words(model, at);
    size_t size = block->size;
    block->words = node_memory_take(&model->memory, size, &block->size);
    assert_true(block->size >= size);
    model->used += block->size - size;
    write_words(model, at, 0);
    return size;
}

static void check(const struct model *model) {
    node_memory_check(&model->memory);
    assert_int_equal(model->memory.used, model->used);
    assert_true(node_memory_held(&model->memory) >= model->used);
    for (size_t at = 0; at < BLOCKS; at++)
        check_words(model, at);
}

static void step(struct model *model, struct random *random, size_t some) {
    size_t at = random_below(random, some);
    if (model->blocks[at].words == NULL)
        take(model, at, some_bytes(random));
    else if (random_below(random, 4) == 0)
        extend(model, at, 1 + random_below(random, 300));
    else
        give(model, at);
    if (random_below(random, 64) == 0 && node_memory_is_sparse(&model->memory))
        node_memory_empty_slab(&model->memory, move_block, model);
}

/* Few blocks and many in turn, so that slabs and regions come and go. */
static void test_model(void **state) {
    (void)state;
    static const size_t some[] = {BLOCKS, 40, BLOCKS / 4, BLOCKS};
    struct model *model = mem_zalloc(sizeof(*model));
    struct random random;
    random_seed(&random, test_seed());
    for (size_t turn = 0; turn < 4; turn++) {
        for (size_t at = some[turn]; at < BLOCKS; at++)
            if (model->blocks[at].words != NULL)
                give(model, at);
        check(model);
        for (int i = 0; i < 20000; i++) {
            step(model, &random, some[turn]);
            if (i % 2000 == 0)
                check(model);
        }
    }
    for (size_t at = 0; at < BLOCKS; at++)
        if (model->blocks[at].words != NULL)
            give(model, at);
    check(model);
    assert_int_equal(node_memory_held(&model->memory), 0);
    mem_free(model);
}

static void test_small(void **state) {
    (void)state;
    struct node_memory memory = {0};
    size_t size, held = 0;
    void *blocks[8];
    for (int i = 0; i < 8; i++) {
        blocks[i] = node_memory_take(&memory, 1000, &size);
        held += size;
        assert_true(node_memory_is_separate(blocks[i]));
        assert_int_equal(node_memory_held(&memory), held); /* no slab */
    }
    for (int i = 0; i < 8; i++)
        node_memory_give(&memory, blocks[i], size);
    assert_int_equal(node_memory_held(&memory), 0);
    node_memory_release(&memory);
}

/* Blocks of a size in a row, given back in three orders: what is free becomes whole again. */
static void test_orders(void **state) {
    (void)state;
    enum { MANY = 4000 };
    for (int order = 0; order < 3; order++) {
        struct node_memory memory = {0};
        void *blocks[MANY];
        size_t sizes[MANY];
        for (size_t i = 0; i < MANY; i++)
            blocks[i] = node_memory_take(&memory, 1000, &sizes[i]);
        size_t full = node_memory_held(&memory);
        for (size_t i = 0; i < MANY; i++) {
            size_t at = order == 0 ? i : order == 1 ? MANY - 1 - i : i * 7 % MANY;
            node_memory_give(&memory, blocks[at], sizes[at]);
            if (i % 50 == 0)
                node_memory_check(&memory);
            if (i == MANY / 2 && order < 2)
                assert_true(node_memory_held(&memory) < full * 3 / 4);
        }
        assert_int_equal(node_memory_held(&memory), 0);
    }
}

/* A gap is used again, as is a part of it, and a block grows into the one behind it. */
static void test_gaps(void **state) {
    (void)state;
    struct node_memory memory = {0};
    size_t size, small;
    uint8_t *rest[NODE_MEMORY_SMALL / 4096 + 1];
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        rest[i] = node_memory_take(&memory, 4096 - 8, &size);
    uint8_t *a = node_memory_take(&memory, 1024, &size);
    uint8_t *b = node_memory_take(&memory, 1024, &size);
    uint8_t *c = node_memory_take(&memory, 1024, &size);
    assert_int_equal(size, 1024);
    assert_true(!node_memory_is_separate(a) && b == a + 1024 && c == b + 1024);
    node_memory_give(&memory, b, 1024);
    assert_int_equal(node_memory_extend(&memory, a, 1024, 1024 + 1025), 1024);
    assert_int_equal(node_memory_extend(&memory, a, 1024, 1025), 1088);
    assert_ptr_equal(node_memory_take(&memory, 960, &small), a + 1088);
    assert_int_equal(small, 960);
    assert_int_equal(node_memory_extend(&memory, a, 1088, 1089), 1088);
    node_memory_check(&memory);
    node_memory_give(&memory, a, 1088);
    node_memory_give(&memory, c, 1024);
    node_memory_give(&memory, a + 1088, 960);
    assert_ptr_equal(node_memory_take(&memory, 3072, &size), a); /* one gap again */
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        if (node_memory_is_separate(rest[i]))
            node_memory_give(&memory, rest[i], 4096 - 8);
    node_memory_release(&memory); /* with what is in slabs */
    assert_int_equal(node_memory_held(&memory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

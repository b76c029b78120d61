/* The ring of tokens against a plain array, and what is stored of it. */
#include "engine.h"

#include "base/limits.h"
#include "base/random.h"

enum { NAMES = 3000, STEP_MS = 900 };

static struct token token_numbered(unsigned number, int64_t now_ms) {
    char name[32];
    snprintf(name, sizeof(name), "token-%u", number);
    return token_make(bytes_str(name), (uint64_t[]){number, ~(uint64_t)number}, now_ms);
}

/* Adds as a group does, with the store's part. */
static void add(struct store *store, struct tokens *tokens, const struct token *token) {
    struct store_batch *batch = store_batch_new(store);
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    struct tokens_step step = tokens_begin(tokens, batch, token->at_ms);
    tokens_put(&step, batch, token);
    assert_int_equal(store_write(store, batch, (struct scope){&arena, &failure}), OK);
    tokens_forget(tokens, step.keep);
    tokens_add(tokens, token);
    store_batch_free(batch);
    arena_release(&arena);
}

static void check_stored(struct store *store, const struct tokens *tokens, int64_t now_ms) {
    struct tokens *loaded = tokens_new();
    struct store_range range = {.family = STORE_META, .low = BYTES("k"), .high = BYTES("l")};
    struct store_iter *iter = store_iter_open(store, &range);
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter))
        assert_int_equal(tokens_load(loaded, store_iter_key(iter), store_iter_value(iter)), OK);
    store_iter_close(iter);
    assert_int_equal(tokens_count(loaded), tokens_count(tokens));
    for (unsigned i = 0; i < NAMES; i++) {
        struct token like = token_numbered(i, now_ms);
        const struct token *a = tokens_find(tokens, &like, now_ms);
        const struct token *b = tokens_find(loaded, &like, now_ms);
        assert_int_equal(a == NULL, b == NULL);
        if (a != NULL)
            assert_memory_equal(a, b, sizeof(*a));
    }
    tokens_free(loaded);
}

static void test_model(void **state) {
    (void)state;
    struct store *store;
    struct arena arena;
    struct failure failure;
    struct random random;
    arena_init(&arena);
    random_seed(&random, test_seed());
    assert_int_equal(store_open(&(struct store_settings){.memory = true},
                                (struct scope){&arena, &failure}, &store),
                     OK);
    struct tokens *tokens = tokens_new();
    int64_t now = 1000000, at[NAMES] = {0};
    for (unsigned round = 0; round < 6000; round++) {
        unsigned number = (unsigned)random_below(&random, NAMES);
        struct token token = token_numbered(number, now);
        const struct token *found = tokens_find(tokens, &token, now);
        bool known = at[number] != 0 && now - at[number] < LIMIT_TOKEN_MS;
        assert_int_equal(found != NULL, known);
        if (known)
            assert_int_equal(found->at_ms, at[number]);
        else {
            add(store, tokens, &token);
            at[number] = now;
        }
        now += (int64_t)random_below(&random, STEP_MS);
    }
    /* Ten minutes and a little, at half a step each. */
    assert_true(tokens_count(tokens) < LIMIT_TOKEN_MS / (STEP_MS / 2) * 3 / 2);
    check_stored(store, tokens, now);
    now += 2 * LIMIT_TOKEN_MS;
    struct token last = token_numbered(NAMES, now);
    add(store, tokens, &last);
    assert_int_equal(tokens_count(tokens), 1);
    check_stored(store, tokens, now);
    tokens_free(tokens);
    store_close(store);
    arena_release(&arena);
}

static void test_damage(void **state) {
    (void)state;
    struct tokens *tokens = tokens_new();
    uint8_t value[41] = {0};
    assert_int_equal(tokens_load(tokens, BYTES("k\0\0\0\0\0\0\0\1"), bytes_of(value, 39)), DAMAGED);
    assert_int_equal(tokens_load(tokens, BYTES("k\0\0\0\0\0\0\0\1"), bytes_of(value, 41)), DAMAGED);
    assert_int_equal(tokens_load(tokens, BYTES("k\0\0\0\0\0\0\1"), bytes_of(value, 40)), DAMAGED);
    assert_int_equal(tokens_load(tokens, BYTES("k\0\0\0\0\0\0\0\1"), bytes_of(value, 40)), OK);
    assert_int_equal(tokens_load(tokens, BYTES("k\0\0\0\0\0\0\0\3"), bytes_of(value, 40)), DAMAGED);
    tokens_free(tokens);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

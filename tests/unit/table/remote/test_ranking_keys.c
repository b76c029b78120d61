/* Keys of the index `ranks` and ranges of them, against a look at every entry. */
#include "test.h"

#include "base/random.h"
#include "table/remote/ranking_keys.h"
#include "value/number.h"

enum { ENTRIES = 80, ROUNDS = 3000 };

static struct value number(struct arena *arena, int64_t from) {
    return (struct value){.type = VALUE_N, .bytes = number_from_int(arena, from)};
}

/* Attributes in the order of their names: PK, SK, score, subscore, tie; as many as `count`, PK
 * first and SK last of all. */
static struct item make_item(struct arena *arena, const int64_t *numbers, unsigned count,
                             const char *member) {
    static const char *const names[] = {"score", "subscore", "tie"};
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 5);
    uint32_t at = 0;
    pairs[at++] = (struct pair){BYTES("PK"), value_string(BYTES("BOARD#x"))};
    if (member != NULL)
        pairs[at++] = (struct pair){BYTES("SK"), value_string(bytes_str(member))};
    for (unsigned i = 0; i < count; i++)
        pairs[at++] = (struct pair){bytes_str(names[i]), number(arena, numbers[i])};
    return (struct item){pairs, at};
}

struct world_entry {
    int64_t numbers[3];
    char member[8];
    struct item item;
    struct bytes key;
};

static void make_entries(struct world_entry *entries, struct random *random, struct arena *arena) {
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct world_entry *entry = &entries[i];
        for (unsigned part = 0; part < 3; part++)
            entry->numbers[part] = (int64_t)random_below(random, 5) - 2;
        snprintf(entry->member, sizeof(entry->member), "m%u", i);
        entry->item = make_item(arena, entry->numbers, 3, entry->member);
        entry->key = ranking_key_of(&entry->item, arena);
        assert_true(entry->key.size != 0);
    }
}

static void keys_and_back(void **state) {
    struct world_entry entries[ENTRIES];
    struct random random;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    random_seed(&random, test_seed());
    make_entries(entries, &random, &arena);
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct item back;
        assert_int_equal(ranking_entry_of(BYTES("BOARD#x"), entries[i].key, &arena, &back), OK);
        assert_true(item_equal(&back, &entries[i].item));
    }
    struct item other;
    assert_int_equal(ranking_entry_of(BYTES("x"), BYTES("\x80\x80"), &arena, &other), DAMAGED);
    struct item partial = make_item(&arena, entries[0].numbers, 2, "m");
    assert_int_equal(ranking_key_of(&partial, &arena).size, 0); /* not in the index */
    arena_release(&arena);
}

/* --- conditions --- */

/* A condition on the first `equal` parts, and perhaps a range of the next; and what it means. */
struct question {
    unsigned equal;
    int64_t equals[3];
    bool ranged;
    enum key_op op;
    int64_t low, high;
    /* places, compared by as many parts as they have */
    unsigned low_parts, high_parts; /* 0: none */
    int64_t low_at[3], high_at[3];
    bool low_after, high_after;
};

static int compare_parts(const struct world_entry *entry, const int64_t *at, unsigned parts) {
    for (unsigned i = 0; i < parts; i++)
        if (entry->numbers[i] != at[i])
            return entry->numbers[i] < at[i] ? -1 : 1;
    return 0;
}

static bool op_holds(const struct question *question, int64_t has) {
    switch (question->op) {
    case KEY_EQ:
        return has == question->low;
    case KEY_LT:
        return has < question->low;
    case KEY_LE:
        return has <= question->low;
    case KEY_GT:
        return has > question->low;
    case KEY_GE:
        return has >= question->low;
    default:
        return has >= question->low && has <= question->high;
    }
}

static bool is_asked_for(const struct question *question, const struct world_entry *entry) {
    if (compare_parts(entry, question->equals, question->equal) != 0)
        return false;
    if (question->ranged && !op_holds(question, entry->numbers[question->equal]))
        return false;
    if (question->low_parts != 0) {
        int order = compare_parts(entry, question->low_at, question->low_parts);
        if (question->low_after ? order <= 0 : order < 0)
            return false;
    }
    if (question->high_parts != 0) {
        int order = compare_parts(entry, question->high_at, question->high_parts);
        if (question->high_after ? order > 0 : order >= 0)
            return false;
    }
    return true;
}

static int64_t chance(struct random *random) {
    return (int64_t)random_below(random, 7) - 3;
}

static struct question make_question(struct random *random) {
    struct question question = {.equal = (unsigned)random_below(random, 3),
                                .ranged = random_below(random, 2) != 0,
                                .op = (enum key_op)random_below(random, KEY_BETWEEN + 1),
                                .low = chance(random),
                                .low_parts = (unsigned)random_below(random, 4),
                                .high_parts = (unsigned)random_below(random, 4),
                                .low_after = random_below(random, 2) != 0,
                                .high_after = random_below(random, 2) != 0};
    question.high = question.low + (int64_t)random_below(random, 3);
    for (unsigned i = 0; i < 3; i++) {
        question.equals[i] = chance(random);
        question.low_at[i] = chance(random);
        question.high_at[i] = chance(random);
    }
    return question;
}

static void put_question(const struct question *question, struct arena *arena,
                         struct key_condition *keys, struct page_request *request) {
    static const char *const names[] = {"score", "subscore", "tie"};
    *keys = (struct key_condition){.count = 1};
    keys->tests[0] =
        (struct key_test){.name = BYTES("PK"), .op = KEY_EQ, .low = value_string(BYTES("BOARD#x"))};
    for (unsigned i = 0; i < question->equal; i++)
        keys->tests[keys->count++] = (struct key_test){
            .name = bytes_str(names[i]), .op = KEY_EQ, .low = number(arena, question->equals[i])};
    if (question->ranged)
        keys->tests[keys->count++] = (struct key_test){.name = bytes_str(names[question->equal]),
                                                       .op = question->op,
                                                       .low = number(arena, question->low),
                                                       .high = number(arena, question->high)};
    *request = (struct page_request){.index = BYTES("ranks"), .keys = keys};
    if (question->low_parts != 0)
        request->low = (struct bound){make_item(arena, question->low_at, question->low_parts, NULL),
                                      question->low_after};
    if (question->high_parts != 0)
        request->high = (struct bound){
            make_item(arena, question->high_at, question->high_parts, NULL), question->high_after};
}

static bool is_within(const struct ranking_range *range, struct bytes key) {
    return !range->empty && bytes_compare(key, range->low) >= 0 &&
           (range->high.size == 0 || bytes_compare(key, range->high) < 0);
}

static void ranges(void **state) {
    struct world_entry entries[ENTRIES];
    struct random random;
    struct arena arena, step;
    struct failure failure = {0};
    (void)state;
    arena_init(&arena);
    arena_init(&step);
    random_seed(&random, test_seed());
    make_entries(entries, &random, &arena);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct question question = make_question(&random);
        struct key_condition keys;
        struct page_request request;
        struct ranking_range range;
        put_question(&question, &step, &keys, &request);
        assert_int_equal(ranking_range_of(&request, (struct scope){&step, &failure}, &range), OK);
        assert_bytes_equal(range.partition, BYTES("BOARD#x"));
        for (unsigned i = 0; i < ENTRIES; i++)
            assert_int_equal(is_within(&range, entries[i].key),
                             is_asked_for(&question, &entries[i]));
        arena_reset(&step);
    }
    arena_release(&step);
    arena_release(&arena);
}

static void start_keys_and_refusals(void **state) {
    struct arena arena;
    struct failure failure = {0};
    struct ranking_range range;
    struct key_condition keys = {.count = 1};
    const int64_t numbers[] = {5, 0, 1};
    (void)state;
    arena_init(&arena);
    struct scope in = {&arena, &failure};
    keys.tests[0] =
        (struct key_test){.name = BYTES("PK"), .op = KEY_EQ, .low = value_string(BYTES("BOARD#x"))};
    struct item start = make_item(&arena, numbers, 3, "m");
    struct bytes key = ranking_key_of(&start, &arena);
    struct page_request request = {.keys = &keys, .start = &start};
    assert_int_equal(ranking_range_of(&request, in, &range), OK);
    assert_false(is_within(&range, key)); /* it goes on after it */
    request.backward = true;
    assert_int_equal(ranking_range_of(&request, in, &range), OK);
    assert_bytes_equal(range.high, key);
    struct item odd = make_item(&arena, numbers, 2, "m"); /* SK without tie */
    request = (struct page_request){.keys = &keys, .low = {odd, false}};
    assert_int_equal(ranking_range_of(&request, in, &range), INVALID);
    request = (struct page_request){0};
    assert_int_equal(ranking_range_of(&request, in, &range), UNSUPPORTED); /* a scan */
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_back),
        cmocka_unit_test(ranges),
        cmocka_unit_test(start_keys_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

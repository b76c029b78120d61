/* Places, and pages between bounds and from a rank, against an array that is sorted anew each time.
 */
#include "table/local/rank_lookup_test.h"

static void randomize(struct fixture *f, struct entry *entry) {
    for (unsigned i = 0; i < PARTS; i++)
        entry->score[i] = (int)random_below(&f->random, i == 0 ? 12 : 4) - 2;
}

static void write_one(struct fixture *f) {
    struct entry *entry =
        &f->entries[random_below(&f->random, BOARDS)][random_below(&f->random, MEMBERS)];
    struct action action = {.table = BYTES("game")};
    entry->here = random_below(&f->random, 4) != 0;
    randomize(f, entry);
    action.kind = entry->here ? ACTION_PUT : ACTION_DELETE;
    action.item =
        entry->here ? item_for(&f->arena, entry, NULL, PARTS, true) : key_for(&f->arena, entry);
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
}

/* --- the model --- */

/* By the first so many scores. */
static int compare_parts(const struct entry *a, const struct entry *b, unsigned parts) {
    for (unsigned i = 0; i < parts; i++)
        if (a->score[i] != b->score[i])
            return a->score[i] < b->score[i] ? -1 : 1;
    return 0;
}

static int compare_entries(const void *x, const void *y) {
    const struct entry *a = *(const struct entry *const *)x, *b = *(const struct entry *const *)y;
    int order = compare_parts(a, b, PARTS);
    if (order != 0)
        return order;
    struct arena arena;
    arena_init(&arena);
    struct value left = member_name(&arena, a->member), right = member_name(&arena, b->member);
    order = bytes_compare(left.bytes, right.bytes);
    arena_release(&arena);
    return order;
}

/* The board's entries in order; `out` has room for all. */
static size_t model_board(const struct fixture *f, unsigned board, const struct entry **out) {
    size_t count = 0;
    for (unsigned m = 0; m < MEMBERS; m++)
        if (f->entries[board][m].here)
            out[count++] = &f->entries[board][m];
    qsort(out, count, sizeof(*out), compare_entries);
    return count;
}

static void check_place(struct fixture *f, const struct rank_request *request,
                        const struct entry *entry, const struct rank_reply *rank_reply) {
    const struct entry *board[MEMBERS], *last = NULL;
    size_t count = model_board(f, entry->board, board);
    uint64_t before = 0, after = 0, group_before = 0, group_after = 0, groups[2] = {0};
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        int order = compare_entries(&board[i], &entry);
        int group = compare_parts(board[i], entry, request->group_parts);
        bool first = last == NULL || compare_parts(last, board[i], request->group_parts) != 0;
        before += order<0, after += order> 0, found |= order == 0;
        group_before += group<0, group_after += group> 0;
        groups[group > 0] += group != 0 && first;
        last = board[i];
    }
    if (!request->as_if && !found) {
        static const struct rank_reply nothing;
        assert_memory_equal(rank_reply, &nothing, sizeof(nothing));
        return;
    }
    bool counts = !request->entries_only, grouped = counts && request->group_parts != 0;
    assert_int_equal(rank_reply->found, found);
    assert_int_equal(rank_reply->before, counts ? before : 0);
    assert_int_equal(rank_reply->after, counts ? after : 0);
    struct item keys = item_for(&f->arena, entry, (const char *)request->index.data, PARTS, true);
    assert_true(item_equal(&rank_reply->entry, &keys));
    assert_int_equal(rank_reply->group_before, grouped ? group_before : 0);
    assert_int_equal(rank_reply->group_after, grouped ? group_after : 0);
    assert_int_equal(rank_reply->groups_before, grouped && request->groups ? groups[0] : 0);
    assert_int_equal(rank_reply->groups_after, grouped && request->groups ? groups[1] : 0);
}

static void check_places(struct fixture *f) {
    struct rank_request request = {.table = BYTES("game"),
                                   .as_if = random_below(&f->random, 2) == 0,
                                   .entries_only = random_below(&f->random, 4) == 0,
                                   .group_parts = (unsigned)random_below(&f->random, PARTS + 1)};
    const char *index = random_below(&f->random, 2) == 0 ? "ranks" : "global";
    struct entry entries[MANY];
    struct item keys[MANY];
    struct rank_reply places[MANY];
    struct failure failure = {0};
    request.index = bytes_str(index);
    request.keys = keys;
    request.count = 1 + random_below(&f->random, random_below(&f->random, 4) == 0 ? MANY : 5);
    request.groups = request.group_parts != 0 && random_below(&f->random, 2) == 0;
    for (size_t i = 0; i < request.count; i++) {
        entries[i] =
            f->entries[random_below(&f->random, BOARDS)][random_below(&f->random, MEMBERS)];
        if (request.as_if && random_below(&f->random, 2) == 0)
            randomize(f, &entries[i]);
        keys[i] = request.as_if ? item_for(&f->arena, &entries[i], index, PARTS, true)
                                : key_for(&f->arena, &entries[i]);
    }
    assert_int_equal(
        engine_rank_lookup(f->engine, &request, (struct scope){&f->arena, &failure}, places), OK);
    for (size_t i = 0; i < request.count; i++)
        check_place(f, &request, &entries[i], &places[i]);
}

/* --- pages --- */

static bool inside(const struct entry *entry, const struct entry *bound, unsigned parts, bool keys,
                   bool after, bool low) {
    int order = keys ? compare_entries(&entry, &bound) : compare_parts(entry, bound, parts);
    bool beyond = after ? order > 0 : order >= 0; /* the bound's place */
    return low ? beyond : !beyond;
}

/* A bound of the board, or of another: then all or nothing is on its one side. */
static void choose_bound(struct fixture *f, const char *index, unsigned board, bool low,
                         struct bound *out, const struct entry **entries, size_t *count) {
    struct entry at = f->entries[board][random_below(&f->random, MEMBERS)];
    unsigned parts = (unsigned)random_below(&f->random, PARTS + 1);
    bool keys = parts == PARTS && random_below(&f->random, 2) == 0;
    size_t kept = 0;
    if (random_below(&f->random, 3) == 0)
        return;
    randomize(f, &at);
    *out = (struct bound){item_for(&f->arena, &at, index, parts, keys),
                          random_below(&f->random, 2) == 0};
    for (size_t i = 0; i < *count; i++)
        if (inside(entries[i], &at, parts, keys, out->after, low))
            entries[kept++] = entries[i];
    *count = kept;
}

static void cut_ends(const struct page_request *request, const struct entry **entries,
                     size_t *count) {
    for (size_t i = 0; request->backward && i < *count / 2; i++) {
        const struct entry *kept = entries[i];
        entries[i] = entries[*count - 1 - i];
        entries[*count - 1 - i] = kept;
    }
    if (request->skip + request->skip_end >= *count) {
        *count = 0;
        return;
    }
    memmove(entries, entries + request->skip, (*count - request->skip) * sizeof(*entries));
    *count -= request->skip + request->skip_end;
}

static void check_page(struct fixture *f) {
    const struct entry *want[MEMBERS];
    unsigned board = (unsigned)random_below(&f->random, BOARDS);
    const char *index = random_below(&f->random, 2) == 0 ? "ranks" : "global";
    struct key_condition condition = {.count = 1};
    struct page_reply reply;
    struct failure failure = {0};
    struct page_request request = {.table = BYTES("game"),
                                   .index = bytes_str(index),
                                   .keys = &condition,
                                   .backward = random_below(&f->random, 2) == 0,
                                   .whole = random_below(&f->random, 2) == 0};
    condition.tests[0] = (struct key_test){.name = index[0] == 'r' ? BYTES("PK") : BYTES("board"),
                                           .op = KEY_EQ,
                                           .low = board_name(&f->arena, board)};
    size_t count = model_board(f, board, want);
    choose_bound(f, index, board, true, &request.low, want, &count);
    choose_bound(f, index, board, false, &request.high, want, &count);
    request.skip = random_below(&f->random, 2) * random_below(&f->random, 20);
    request.skip_end = random_below(&f->random, 2) * random_below(&f->random, 20);
    cut_ends(&request, want, &count);
    if (random_below(&f->random, 3) == 0)
        request.select = SELECT_COUNT;
    else
        request.limit = (uint32_t)random_below(&f->random, 12);
    assert_int_equal(engine_page(f->engine, &request, (struct scope){&f->arena, &failure}, &reply),
                     OK);
    bool full = request.limit != 0 && request.limit <= count;
    assert_int_equal(reply.more, full);
    assert_int_equal(reply.count, full ? request.limit : count);
    for (size_t i = 0; request.select != SELECT_COUNT && i < reply.count; i++) {
        struct item keys = item_for(&f->arena, want[i], index, PARTS, true);
        assert_true(item_equal(&reply.items[i], &keys));
    }
}

static void run_model(size_t cache_memory, unsigned rounds) {
    struct fixture f;
    open_with(&f, cache_memory);
    random_seed(&f.random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        write_one(&f);
        check_places(&f);
        check_page(&f);
        arena_reset(&f.arena);
    }
    teardown(&f);
}

static void test_model(void **state) {
    (void)state;
    run_model(0, 6000);
}

/* Nothing is hot: each item is read from the store. */
static void test_cold(void **state) {
    (void)state;
    run_model(1, 3000);
}

/* Trees and finders that a start makes, with one thread and with several, are those that writes
 * make, and go on from there. */
static void test_after_start(void **state) {
    (void)state;
    struct fixture f;
    char *folder = folder_make();
    struct local_settings settings = {.store.path = folder, .threads = 2};
    open_settings(&f, &settings);
    random_seed(&f.random, test_seed());
    for (unsigned start = 0; start < 4; start++) {
        for (unsigned round = 0; round < 150; round++) {
            write_one(&f);
            arena_reset(&f.arena);
        }
        check_engine(f.engine);
        engine_close(f.engine);
        settings.threads = 1 + start % 2;
        f.engine = engine_open(&settings);
        check_engine(f.engine);
        for (unsigned round = 0; round < 20; round++) {
            check_places(&f);
            arena_reset(&f.arena);
        }
    }
    teardown(&f);
    folder_remove(folder);
}

/* --- refusals --- */

static void assert_no_place(struct fixture *f, struct rank_request request, enum status want) {
    struct rank_reply rank_reply;
    struct failure failure = {0};
    assert_int_equal(
        engine_rank_lookup(f->engine, &request, (struct scope){&f->arena, &failure}, &rank_reply),
        want);
    assert_int_equal(failure.status, want);
    assert_true(failure.text.size != 0);
}

static void assert_no_page(struct fixture *f, struct page_request request) {
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f->engine, &request, (struct scope){&f->arena, &failure}, &reply),
                     INVALID);
    assert_true(failure.text.size != 0);
}

static void test_refusals(void **state) {
    (void)state;
    struct fixture f;
    struct entry entry = {.board = 1};
    open_with(&f, 0);
    struct item key = key_for(&f.arena, &entry);
    struct item half = item_of(&f.arena, "PK=S:B1", NULL);
    struct item wrong = item_of(&f.arena, "PK=S:B1", "SK=N:1", NULL);
    struct item bare = item_of(&f.arena, "PK=S:B1", "SK=S:m", "score=N:1", NULL);
    struct rank_request good = {.table = BYTES("game"),
                                .index = BYTES("ranks"),
                                .keys = &key,
                                .count = 1},
                        bad = good;
    bad.table = BYTES("other");
    assert_no_place(&f, bad, NO_TABLE);
    bad = good, bad.index = BYTES("other");
    assert_no_place(&f, bad, INVALID);
    bad = good, bad.keys = &half;
    assert_no_place(&f, bad, INVALID);
    bad.keys = &wrong;
    assert_no_place(&f, bad, INVALID);
    bad.as_if = true, bad.keys = &bare;
    assert_no_place(&f, bad, INVALID);
    bad = good, bad.group_parts = 4;
    assert_no_place(&f, bad, INVALID);

    struct key_condition condition = {.count = 1};
    condition.tests[0] =
        (struct key_test){.name = BYTES("PK"), .op = KEY_EQ, .low = value_string(BYTES("B1"))};
    struct page_request page = {.table = BYTES("game"), .keys = &condition, .skip = 1};
    page.backward = true; /* a query of the table itself skips forward alone */
    assert_no_page(&f, page);
    page.backward = false, page.skip = 0, page.skip_end = 1;
    assert_no_page(&f, page);
    page.skip = 1, page.skip_end = 0;
    page.index = BYTES("ranks"), page.keys = NULL;
    assert_no_page(&f, page);
    page.keys = &condition, page.high.at = wrong;
    assert_no_page(&f, page);
    page.high.at = bare; /* the table's key, but not all of the index's */
    assert_no_page(&f, page);
    page.high.at = item_of(&f.arena, "PK=S:B1", "subscore=N:1", NULL);
    assert_no_page(&f, page);
    teardown(&f);
}

/* All of test_long()'s at once, and short ones among them. */
static void check_long(struct fixture *f) {
    struct item keys[20];
    struct rank_reply places[20];
    char texts[20][16];
    struct failure failure = {0};
    struct rank_request request = {
        .table = BYTES("game"), .index = BYTES("ranks"), .keys = keys, .count = 20};
    for (unsigned i = 0; i < 20; i++) {
        char *sk = texts[i];
        snprintf(sk, sizeof(texts[i]), i % 2 == 0 ? "SK=S:%u" : "SK=S:short%u", i / 2);
        keys[i] = item_of(&f->arena, "PK=S:B", sk, NULL);
        if (i % 2 == 1 && i < 19)
            put_item(
                f->engine, &f->arena, "game",
                item_of(&f->arena, "PK=S:B", sk, "score=N:-1", "subscore=N:0", "tie=N:0", NULL));
    }
    assert_int_equal(
        engine_rank_lookup(f->engine, &request, (struct scope){&f->arena, &failure}, places), OK);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(places[i].found, i < 18);
        assert_int_equal(places[i].before, i >= 18 ? 0 : i % 2 == 0 ? 9 + i / 2 : i / 2);
    }
}

/* Scores so long that nothing but the item itself tells them. */
static void test_long(void **state) {
    (void)state;
    struct fixture f;
    open_with(&f, 0);
    for (unsigned i = 0; i < 9; i++) {
        char sk[16], score[64], subscore[64], tie[64];
        snprintf(sk, sizeof(sk), "SK=S:%u", i);
        snprintf(score, sizeof(score), "score=N:1234567890123456789012345678901234567%u", i / 3);
        snprintf(subscore, sizeof(subscore), "subscore=N:-%u.2345678901234567890123456789012345678",
                 9 - i);
        snprintf(tie, sizeof(tie), "tie=N:3.1415926535897932384626433832795028841");
        put_item(f.engine, &f.arena, "game",
                 item_of(&f.arena, "PK=S:B", sk, score, subscore, tie, NULL));
    }
    for (unsigned i = 0; i < 10; i++) {
        char sk[16];
        snprintf(sk, sizeof(sk), "SK=S:%u", i);
        struct item key = item_of(&f.arena, "PK=S:B", sk, NULL);
        struct rank_request request = {.table = BYTES("game"),
                                       .index = BYTES("ranks"),
                                       .keys = &key,
                                       .count = 1,
                                       .group_parts = 1,
                                       .groups = true};
        struct rank_reply rank_reply;
        struct failure failure = {0};
        assert_int_equal(
            engine_rank_lookup(f.engine, &request, (struct scope){&f.arena, &failure}, &rank_reply),
            OK);
        assert_int_equal(rank_reply.found, i < 9);
        assert_int_equal(rank_reply.before, i < 9 ? i : 0);
        assert_int_equal(rank_reply.group_before, i < 9 ? i / 3 * 3 : 0);
        assert_int_equal(rank_reply.groups_before, i < 9 ? i / 3 : 0);
        assert_int_equal(rank_reply.groups_after, i < 9 ? 2 - i / 3 : 0);
    }
    check_long(&f);
    teardown(&f);
}

/* Bounds in another partition never show it. */
static void test_other_partition(void **state) {
    (void)state;
    struct fixture f;
    open_with(&f, 0);
    for (unsigned b = 0; b < BOARDS; b++)
        for (unsigned m = 0; m < 10; m++) {
            struct entry entry = {.board = b, .member = m, .score = {(int)m}};
            put_item(f.engine, &f.arena, "game", item_for(&f.arena, &entry, NULL, PARTS, true));
        }
    for (unsigned mine = 0; mine < BOARDS; mine++)
        for (unsigned other = 0; other < BOARDS; other++)
            for (unsigned high = 0; high < 2; high++) {
                struct entry at = {.board = other, .score = {5}};
                struct key_condition condition = {.count = 1};
                struct page_reply reply;
                struct failure failure = {0};
                struct page_request request = {
                    .table = BYTES("game"), .index = BYTES("ranks"), .keys = &condition};
                struct bound bound = {item_for(&f.arena, &at, "ranks", 1, false), false};
                *(high ? &request.high : &request.low) = bound;
                condition.tests[0] = (struct key_test){
                    .name = BYTES("PK"), .op = KEY_EQ, .low = board_name(&f.arena, mine)};
                assert_int_equal(
                    engine_page(f.engine, &request, (struct scope){&f.arena, &failure}, &reply),
                    OK);
                for (size_t i = 0; i < reply.count; i++)
                    assert_true(value_equal(item_get(&reply.items[i], BYTES("PK")),
                                            &condition.tests[0].low));
                assert_true(mine == other ? reply.count == 5
                                          : reply.count == 0 || reply.count == 10);
            }
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),           cmocka_unit_test(test_cold),
        cmocka_unit_test(test_after_start),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_other_partition), cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

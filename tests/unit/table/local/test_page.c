/* Queries and scans against the dumbest thing that is right: an array of items, a test of each,
 * and a sort. Pages of any size, put together, are the whole. */
#include "base/random.h"
#include "table/local/engine.h"
#include "table/local/model.h"

enum { ITEMS_MAX = 400, INDEXES = 5 };

static unsigned keys_pages; /* that were shown as keys */

struct fixture {
    struct random random;
    struct arena arena; /* of the whole test */
    struct arena page;  /* of one request */
    struct engine *engine;
    struct table_schema schema;
    struct item items[ITEMS_MAX];
    unsigned count;
};

/* pk S, sk N; a local index that shows keys, and global ones of every kind, one of many parts. */
static struct table_schema make_schema(struct arena *arena) {
    static struct key_part pk = {{(const uint8_t *)"pk", 2}, VALUE_S},
                           sk = {{(const uint8_t *)"sk", 2}, VALUE_N},
                           l = {{(const uint8_t *)"l", 1}, VALUE_B},
                           g = {{(const uint8_t *)"g", 1}, VALUE_S},
                           h = {{(const uint8_t *)"h", 1}, VALUE_N};
    static struct bytes included[] = {{(const uint8_t *)"v", 1}};
    struct key_part *parts = ARENA_ARRAY(arena, struct key_part, 5);
    parts[0] = pk, parts[1] = sk, parts[2] = l, parts[3] = g, parts[4] = h;
    struct index_schema *indexes = ARENA_ARRAY(arena, struct index_schema, INDEXES);
    indexes[0] =
        (struct index_schema){.name = BYTES("local"),
                              .local = true,
                              .keys = {.parts = {pk, l}, .partition_count = 1, .sort_count = 1},
                              .projected = PROJECTED_KEYS};
    indexes[1] = (struct index_schema){
        .name = BYTES("all"), .keys = {.parts = {g, h}, .partition_count = 1, .sort_count = 1}};
    indexes[2] = (struct index_schema){.name = BYTES("some"),
                                       .keys = {.parts = {g}, .partition_count = 1},
                                       .projected = PROJECTED_INCLUDED,
                                       .included = included,
                                       .included_count = 1};
    indexes[3] =
        (struct index_schema){.name = BYTES("keys"),
                              .keys = {.parts = {h, pk}, .partition_count = 1, .sort_count = 1},
                              .projected = PROJECTED_KEYS};
    indexes[4] = (struct index_schema){
        .name = BYTES("many"),
        .keys = {.parts = {g, pk, h, l, sk}, .partition_count = 2, .sort_count = 3}};
    return (struct table_schema){.name = BYTES("game"),
                                 .attributes = parts,
                                 .attribute_count = 5,
                                 .keys = {.parts = {pk, sk}, .partition_count = 1, .sort_count = 1},
                                 .indexes = indexes,
                                 .index_count = INDEXES,
                                 .billing = BILLING_ON_DEMAND};
}

/* Values of a small world, so that much is equal. */
static struct value value_for(struct fixture *f, struct arena *arena, struct bytes name) {
    static const char *const strings[] = {"a", "aa", "ab", "b", "ba", "\x01", "a\x01\x02"};
    struct value value = {.type = VALUE_S};
    if (bytes_equal(name, BYTES("pk")) || bytes_equal(name, BYTES("g"))) {
        value.bytes = bytes_str(strings[random_below(&f->random, 3)]);
    } else if (bytes_equal(name, BYTES("l"))) {
        value.type = VALUE_B;
        value.bytes = bytes_str(strings[random_below(&f->random, 7)]);
    } else {
        uint64_t span = bytes_equal(name, BYTES("sk")) ? 60 : 12;
        value.type = VALUE_N;
        value.bytes = number_from_int(arena, (int64_t)random_below(&f->random, span) - 5);
    }
    return value;
}

static struct item make_item(struct fixture *f) {
    static const char *const names[] = {"pk", "sk", "l", "g", "h", "v", "w"};
    struct pair *pairs = ARENA_ARRAY(&f->arena, struct pair, 7);
    uint32_t count = 0;
    for (unsigned i = 0; i < 7; i++)
        if (i < 2 || random_below(&f->random, 5) != 0) {
            struct bytes name = bytes_str(names[i]);
            pairs[count++] = (struct pair){name, value_for(f, &f->arena, name)};
        }
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

static void setup(struct fixture *f) {
    *f = (struct fixture){0};
    random_seed(&f->random, test_seed());
    arena_init(&f->arena);
    arena_init(&f->page);
    f->engine = engine_open_memory();
    f->schema = make_schema(&f->arena);
    create_table(f->engine, &f->arena, &f->schema);
    while (f->count < 150) {
        struct item item = make_item(f);
        unsigned at = 0;
        while (at < f->count &&
               !(value_equal(item_get(&item, BYTES("pk")), item_get(&f->items[at], BYTES("pk"))) &&
                 value_equal(item_get(&item, BYTES("sk")), item_get(&f->items[at], BYTES("sk")))))
            at++;
        f->items[at] = item;
        f->count += at == f->count;
        put_item(f->engine, &f->arena, "game", item);
    }
}

static void teardown(struct fixture *f) {
    engine_close(f->engine);
    arena_release(&f->arena);
    arena_release(&f->page);
}

/* --- the model --- */

static const struct index_schema *index_of(struct fixture *f, const struct page_request *request) {
    return request->index.size == 0 ? NULL : table_schema_index(&f->schema, request->index);
}

static bool test_holds(const struct key_test *test, const struct item *item) {
    return model_holds(test->op, item_get(item, test->name), &test->low, &test->high);
}

static bool selected(struct fixture *f, const struct page_request *request,
                     const struct item *item) {
    const struct index_schema *index = index_of(f, request);
    if (index != NULL && !rules_indexed(index, item))
        return false;
    for (unsigned i = 0; request->keys != NULL && i < request->keys->count; i++)
        if (!test_holds(&request->keys->tests[i], item))
            return false;
    return true;
}

struct placed {
    struct bytes place;
    const struct item *item;
};

static int compare_placed(const void *a, const void *b) {
    return bytes_compare(((const struct placed *)a)->place, ((const struct placed *)b)->place);
}

/* All that the request is about, in order, before filter and limit. */
static size_t model_items(struct fixture *f, const struct page_request *request,
                          struct placed *out) {
    const struct index_schema *index_schema = index_of(f, request);
    struct index index = {.schema = index_schema};
    struct table table = {.id = 1};
    size_t count = 0;
    if (index_schema != NULL)
        keys_prepare_index(&index, &f->schema);
    for (unsigned i = 0; i < f->count; i++) {
        struct buf place = {0};
        if (!selected(f, request, &f->items[i]))
            continue;
        if (index_schema == NULL)
            keys_put_item(&place, &table, &f->schema, &f->items[i]);
        else
            keys_put_entry(&place, &f->schema, &index, &f->items[i]);
        out[count++] = (struct placed){arena_copy(&f->page, buf_bytes(&place)), &f->items[i]};
        buf_release(&place);
    }
    qsort(out, count, sizeof *out, compare_placed);
    for (size_t i = 0; request->backward && i < count / 2; i++) {
        struct placed kept = out[i];
        out[i] = out[count - 1 - i];
        out[count - 1 - i] = kept;
    }
    return count;
}

static struct item model_shown(struct fixture *f, const struct page_request *request,
                               const struct item *item) {
    const struct index_schema *index = index_of(f, request);
    struct item shown = *item;
    if (index != NULL && !(index->local && request->select == SELECT_ALL))
        shown = rules_project(&f->schema, index, item, &f->page);
    return request->projection == NULL ? shown
                                       : projection_apply(request->projection, &shown, &f->page);
}

/* --- comparing --- */

static void read_page(struct fixture *f, const struct page_request *request,
                      struct page_reply *out) {
    struct failure failure = {0};
    enum status status = engine_page(f->engine, request, (struct scope){&f->page, &failure}, out);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(failure.text));
    assert_int_equal(status, OK);
}

/* --- the same pages, visited item by item --- */

struct visitor {
    struct fixture *f;
    struct item items[ITEMS_MAX];
    size_t count, stored;
};

static void visit_item(void *user, const struct item *item) {
    struct visitor *visitor = user;
    assert_true(visitor->count < ITEMS_MAX);
    visitor->items[visitor->count++] = item_copy(&visitor->f->page, item);
}

static size_t visit_stored(void *user, const struct names *names, struct bytes stored) {
    struct visitor *visitor = user;
    struct item item;
    assert_int_equal(item_decode(stored, names, &visitor->f->page, &item), OK);
    visit_item(user, &item); /* a copy: the stored bytes go away */
    visitor->stored++;
    return item_size(&item);
}

static void check_visited(const struct page_reply *kept, const struct page_reply *reply,
                          const struct visitor *visitor) {
    assert_null(reply->items);
    assert_int_equal(reply->count, kept->count);
    assert_int_equal(reply->scanned, kept->scanned);
    assert_int_equal(reply->more, kept->more);
    assert_true(!kept->more || item_equal(&reply->last_key, &kept->last_key));
    assert_true(reply->usage.table == kept->usage.table);
    assert_int_equal(reply->usage.index_count, kept->usage.index_count);
    if (kept->usage.index_count != 0)
        assert_true(reply->usage.indexes[0].units == kept->usage.indexes[0].units);
    assert_int_equal(visitor->count, kept->count);
    for (size_t i = 0; i < kept->count; i++)
        assert_true(item_equal(&visitor->items[i], &kept->items[i]));
}

/* A page is the same whether it is kept, visited, or visited as it is stored; the last is done
 * where an item is shown as it is. */
static void visit_page(struct fixture *f, const struct page_request *request,
                       const struct page_reply *kept) {
    const struct index_schema *index = index_of(f, request);
    bool as_it_is = request->filter == NULL && request->projection == NULL &&
                    (index == NULL || index->projected == PROJECTED_ALL);
    for (int stored = 0; stored < 2; stored++) {
        struct visitor *visitor = ARENA_NEW(&f->page, struct visitor);
        struct page_request visited = *request;
        struct page_reply reply;
        visitor->f = f;
        visited.visit = visit_item;
        visited.visit_stored = stored ? visit_stored : NULL;
        visited.user = visitor;
        read_page(f, &visited, &reply);
        check_visited(kept, &reply, visitor);
        assert_int_equal(visitor->stored, stored && as_it_is ? kept->count : 0);
    }
}

/* --- the same, shown as the keys that entries are made of --- */

struct keys_visitor {
    struct bytes names[8]; /* of the keys that are shown, in their order */
    unsigned name_count;
    const struct page_reply *kept;
    size_t count;
};

static void visit_keys(void *user, const struct bytes *keys) {
    struct keys_visitor *visitor = user;
    assert_true(visitor->count < visitor->kept->count);
    const struct item *item = &visitor->kept->items[visitor->count++];
    for (unsigned i = 0; i < visitor->name_count; i++)
        assert_bytes_equal(keys[i], item_get(item, visitor->names[i])->bytes);
}

static void visit_no_item(void *user, const struct item *item) {
    (void)user, (void)item;
    fail_msg("keys were asked for");
}

static void name_keys(const struct fixture *f, const struct index_schema *index,
                      struct keys_visitor *visitor) {
    for (unsigned i = index->keys.partition_count; i < key_schema_count(&index->keys); i++)
        visitor->names[visitor->name_count++] = index->keys.parts[i].name;
    for (unsigned i = 0; i < key_schema_count(&f->schema.keys); i++) {
        bool has = false;
        for (unsigned j = 0; j < key_schema_count(&index->keys); j++)
            has |= bytes_equal(index->keys.parts[j].name, f->schema.keys.parts[i].name);
        if (!has)
            visitor->names[visitor->name_count++] = f->schema.keys.parts[i].name;
    }
}

static void visit_page_keys(struct fixture *f, const struct page_request *request,
                            const struct page_reply *kept) {
    const struct index_schema *index = index_of(f, request);
    if (index == NULL || index->projected != PROJECTED_KEYS || request->keys == NULL ||
        request->filter != NULL || request->projection != NULL || request->select == SELECT_ALL)
        return;
    struct keys_visitor visitor = {.kept = kept};
    struct page_request shown = *request;
    struct page_reply reply;
    name_keys(f, index, &visitor);
    shown.whole = true;
    shown.visit = visit_no_item;
    shown.visit_keys = visit_keys;
    shown.user = &visitor;
    read_page(f, &shown, &reply);
    assert_int_equal(visitor.count, kept->count);
    assert_int_equal(reply.count, kept->count);
    assert_int_equal(reply.scanned, kept->scanned);
    assert_int_equal(reply.more, kept->more);
    keys_pages += kept->count != 0;
}

/* Reads page after page and compares each item with the model's; returns how many were seen. */
static size_t follow(struct fixture *f, struct page_request *request, const struct placed *want,
                     size_t count) {
    size_t seen = 0;
    struct page_reply reply;
    do {
        request->limit = (uint32_t)random_below(&f->random, 12);
        read_page(f, request, &reply);
        if (request->select != SELECT_COUNT) {
            visit_page(f, request, &reply);
            visit_page_keys(f, request, &reply);
        }
        assert_true(seen + reply.scanned <= count);
        size_t kept = 0;
        for (size_t i = seen; i < seen + reply.scanned; i++) {
            const struct item *item = want[i].item;
            if (request->filter != NULL && !condition_holds(request->filter, item, &f->page))
                continue;
            if (request->select != SELECT_COUNT) {
                struct item shown = model_shown(f, request, item);
                assert_true(kept < reply.count && item_equal(&reply.items[kept], &shown));
            }
            kept++;
        }
        assert_int_equal(kept, reply.count);
        seen += reply.scanned;
        /* A key to go on from if and only if the limit was reached. */
        assert_int_equal(reply.more, request->limit != 0 && reply.scanned == request->limit);
        struct item *start = ARENA_NEW(&f->page, struct item);
        *start = reply.last_key;
        request->start = start;
    } while (reply.more);
    request->start = NULL;
    return seen;
}

static struct key_condition random_condition(struct fixture *f, const struct key_schema *keys) {
    struct key_condition condition = {0};
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        struct key_test *test = &condition.tests[condition.count];
        test->name = keys->parts[i].name;
        test->op = KEY_EQ;
        test->low = value_for(f, &f->page, test->name);
        test->high = value_for(f, &f->page, test->name);
        if (i >= keys->partition_count) {
            if (random_below(&f->random, 4) == 0)
                break;
            test->op = (enum key_op)random_below(
                &f->random, keys->parts[i].type == VALUE_N ? KEY_BETWEEN + 1 : KEY_BEGINS + 1);
        }
        if (test->op == KEY_BETWEEN && value_compare(&test->low, &test->high) > 0) {
            struct value kept = test->low;
            test->low = test->high;
            test->high = kept;
        }
        condition.count++;
        if (test->op != KEY_EQ)
            break;
    }
    for (unsigned i = condition.count; i > 1; i--) { /* in any order */
        unsigned j = (unsigned)random_below(&f->random, i);
        struct key_test kept = condition.tests[i - 1];
        condition.tests[i - 1] = condition.tests[j];
        condition.tests[j] = kept;
    }
    return condition;
}

static const struct condition *random_filter(struct fixture *f,
                                             const struct page_request *request) {
    const struct index_schema *index = index_of(f, request);
    if (random_below(&f->random, 2) == 0 ||
        (index != NULL && !rules_shows(&f->schema, index, BYTES("v"))))
        return NULL;
    struct item values = item_of(&f->page, ":n=N:3", NULL);
    return condition_of(&f->page, "v > :n", &values);
}

static void random_select(struct fixture *f, struct page_request *request) {
    const struct index_schema *index = index_of(f, request);
    switch (random_below(&f->random, 4)) {
    case 0:
        request->select = SELECT_COUNT;
        break;
    case 1: {
        struct bytes *names = ARENA_ARRAY(&f->page, struct bytes, 2);
        names[0] = BYTES("sk");
        names[1] = BYTES("pk");
        request->select = SELECT_SPECIFIC;
        request->projection = projection_of_names(names, 2, &f->page);
        break;
    }
    case 2:
        if (index == NULL || index->local || index->projected == PROJECTED_ALL)
            request->select = SELECT_ALL;
        break;
    default:
        break;
    }
}

static void choose_index(struct fixture *f, struct page_request *request) {
    unsigned at = (unsigned)random_below(&f->random, INDEXES + 1);
    if (at < INDEXES)
        request->index = f->schema.indexes[at].name;
}

static void test_queries(void **state) {
    (void)state;
    struct fixture f;
    size_t found = 0;
    setup(&f);
    for (unsigned round = 0; round < 3000; round++) {
        struct page_request request = {.table = BYTES("game"),
                                       .backward = random_below(&f.random, 2) == 0,
                                       .strict_paging = true};
        struct placed want[ITEMS_MAX];
        choose_index(&f, &request);
        const struct index_schema *index = index_of(&f, &request);
        struct key_condition condition =
            random_condition(&f, index == NULL ? &f.schema.keys : &index->keys);
        request.keys = &condition;
        request.filter = random_filter(&f, &request);
        random_select(&f, &request);
        size_t count = model_items(&f, &request, want);
        assert_int_equal(follow(&f, &request, want, count), count);
        found += count;
        arena_reset(&f.page);
    }
    assert_true(found > 3000 && keys_pages > 50);
    teardown(&f);
}

/* Segments are disjoint and complete: together they are the scan. */
static void test_scans(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    for (unsigned round = 0; round < 200; round++) {
        struct page_request request = {.table = BYTES("game"), .strict_paging = true};
        struct placed want[ITEMS_MAX];
        choose_index(&f, &request);
        request.filter = random_filter(&f, &request);
        random_select(&f, &request);
        size_t count = model_items(&f, &request, want), seen = 0;
        request.segments = (uint32_t)random_below(&f.random, 7);
        for (uint32_t i = 0; i < (request.segments == 0 ? 1 : request.segments); i++) {
            request.segment = i;
            seen += follow(&f, &request, want + seen, count - seen);
        }
        assert_int_equal(seen, count);
        arena_reset(&f.page);
    }
    teardown(&f);
}

/* A count of keys alone is told at once, and is the same as the one that pages. */
static void test_counts(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    for (unsigned round = 0; round < 1000; round++) {
        struct page_request request = {.table = BYTES("game"), .select = SELECT_COUNT};
        struct placed want[ITEMS_MAX];
        struct page_reply reply;
        choose_index(&f, &request);
        const struct index_schema *index = index_of(&f, &request);
        struct key_condition condition =
            random_condition(&f, index == NULL ? &f.schema.keys : &index->keys);
        if (random_below(&f.random, 4) != 0)
            request.keys = &condition;
        size_t count = model_items(&f, &request, want);
        read_page(&f, &request, &reply);
        assert_int_equal(reply.count, count);
        assert_int_equal(reply.scanned, count);
        assert_false(reply.more);
        assert_null(reply.items);
        arena_reset(&f.page);
    }
    teardown(&f);
}

/* --- the megabyte --- */

static void test_page_size(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure = {0};
    struct page_reply reply;
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct value large = {.type = VALUE_S};
    large.bytes = bytes_of(memset(arena_alloc(&arena, 100000), 'x', 100000), 100000);
    for (unsigned i = 0; i < 25; i++) {
        struct item item = item_of(&arena, "pk=S:p", "board=S:b", "score=N:1", "nick=S:n", NULL);
        struct value sk = value_string(arena_printf(&arena, "%02u", i));
        item = item_with(&arena, &item, BYTES("sk"), &sk);
        item = item_with(&arena, &item, BYTES("large"), &large);
        put_item(engine, &arena, "game", item);
    }
    /* The tenth item ends at a little over 1,000,000 bytes, the eleventh crosses 1,048,576. */
    static const char *const indexes[] = {"", "byscore"};
    for (unsigned i = 0; i < 2; i++) {
        struct page_request request = {.table = BYTES("game"), .index = bytes_str(indexes[i])};
        uint64_t sizes[3] = {11, 11, 3};
        for (unsigned page = 0; page < 3; page++) {
            assert_int_equal(
                engine_page(engine, &request, (struct scope){&arena, &failure}, &reply), OK);
            assert_int_equal(reply.count, sizes[page]);
            assert_int_equal(reply.more, page < 2);
            double units = i == 0 ? reply.usage.table : reply.usage.indexes[0].units;
            assert_true(units > 12.0 * (double)sizes[page] && units < 12.5 * (double)sizes[page]);
            struct item *start = ARENA_NEW(&arena, struct item);
            *start = reply.last_key;
            request.start = start;
        }
    }
    /* An index that shows keys is not charged for the rest. */
    struct page_request request = {.table = BYTES("game"), .index = BYTES("byname")};
    assert_int_equal(engine_page(engine, &request, (struct scope){&arena, &failure}, &reply), OK);
    assert_int_equal(reply.count, 25);
    assert_false(reply.more);
    assert_true(reply.usage.indexes[0].units == 0.5 && reply.usage.table == 0);
    engine_close(engine);
    arena_release(&arena);
}

/* --- refusals that need the engine --- */

static void assert_refused(struct fixture *f, const struct page_request *request,
                           const char *text) {
    struct failure failure = {0};
    struct page_reply reply;
    assert_int_not_equal(
        engine_page(f->engine, request, (struct scope){&f->page, &failure}, &reply), OK);
    assert_text(failure.text, text);
}

static void test_refusals(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct page_request request = {.table = BYTES("nothing")};
    assert_refused(&f, &request, "Requested resource not found");
    request = (struct page_request){.table = BYTES("game"), .index = BYTES("nothing")};
    assert_refused(&f, &request, "The table does not have the specified index: nothing");
    struct item start = item_of(&f.page, "pk=S:a", "sk=N:1", NULL);
    request = (struct page_request){.table = BYTES("game"), .segments = 64, .start = &start};
    unsigned refused = 0;
    for (request.segment = 0; request.segment < 64; request.segment++) {
        struct failure failure = {0};
        struct page_reply reply;
        refused +=
            engine_page(f.engine, &request, (struct scope){&f.page, &failure}, &reply) == INVALID;
    }
    assert_int_equal(refused, 63);
    struct local *local = local_of(f.engine);
    struct table *table = map_get(&local->tables, BYTES("game"));
    struct tree *kept = table->indexes[1]->tree;
    table->indexes[1]->tree = NULL;
    request = (struct page_request){.table = BYTES("game"), .index = BYTES("all")};
    assert_refused(&f, &request, "Cannot read from backfilling global secondary index: all");
    table->indexes[1]->tree = kept;
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),  cmocka_unit_test(test_scans),
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_page_size),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Names of partitions, counted and listed: against arrays of what there is, with escaped bytes,
 * without memory, over a restart and dropped indexes, and while the trees are built. */
#include "table/local/count_index_test.h"

#include "table/ranking.h"

/* Entries are in partitions "B#<name>" of `byscore`; `bylist` lists some of the names. */
enum { KINDS = 12, ENTRIES = 60, WIDE = 3000 };

struct names_test {
    struct fixture f;
    unsigned kinds;     /* how many names there are */
    int where[ENTRIES]; /* in which partition the entry is; -1: in none */
    bool listed[WIDE];
    bool wide[WIDE]; /* whether there is an entry beside those */
};

/* In the order of their bytes. */
static struct bytes name_of(struct arena *arena, const struct names_test *t, unsigned kind) {
    static const struct bytes few[KINDS] = {
        {(const uint8_t *)"\0", 1},  {(const uint8_t *)"\0\0", 2}, {(const uint8_t *)"\0\1", 2},
        {(const uint8_t *)"\1", 1},  {(const uint8_t *)"\1x", 2},  {(const uint8_t *)"a", 1},
        {(const uint8_t *)"a\0", 2}, {(const uint8_t *)"a\1", 2},  {(const uint8_t *)"aa", 2},
        {(const uint8_t *)"ab", 2},  {(const uint8_t *)"b", 1},    {(const uint8_t *)"b#", 2}};
    return t->kinds == KINDS ? few[kind] : arena_printf(arena, "n%05u", kind);
}

static struct table_schema names_schema(struct arena *arena) {
    struct table_schema schema = game_schema(arena, "game");
    struct key_part *parts = ARENA_ARRAY(arena, struct key_part, 7);
    struct index_schema *indexes = ARENA_ARRAY(arena, struct index_schema, 3);
    memcpy(parts, schema.attributes, 5 * sizeof(*parts));
    memcpy(indexes, schema.indexes, 2 * sizeof(*indexes));
    parts[5] = (struct key_part){BYTES("list"), VALUE_S};
    parts[6] = (struct key_part){BYTES("name"), VALUE_S};
    indexes[2] = (struct index_schema){
        .name = BYTES("bylist"),
        .keys = {.parts = {parts[5], parts[6]}, .partition_count = 1, .sort_count = 1},
        .projected = PROJECTED_KEYS};
    schema.attributes = parts;
    schema.attribute_count = 7;
    schema.indexes = indexes;
    schema.index_count = 3;
    return schema;
}

static void open_names(struct names_test *t, const struct local_settings *settings,
                       unsigned kinds) {
    *t = (struct names_test){.kinds = kinds};
    arena_init(&t->f.arena);
    t->f.engine = engine_open(settings);
    random_seed(&t->f.random, test_seed());
    struct table_schema schema = names_schema(&t->f.arena);
    create_table(t->f.engine, &t->f.arena, &schema);
    for (unsigned i = 0; i < ENTRIES; i++)
        t->where[i] = -1;
}

static void setup_names(struct names_test *t, unsigned kinds) {
    struct local_settings settings = {.store.memory = true, .threads = 1};
    open_names(t, &settings, kinds);
}

/* --- writing --- */

static struct action put_or_delete(struct item item, bool there) {
    item.count = there ? item.count : 2;
    return (struct action){
        .kind = there ? ACTION_PUT : ACTION_DELETE, .table = BYTES("game"), .item = item};
}

/* The item number `at` is an entry of the partition; some partitions are none that is asked for. */
static struct action entry_action(struct names_test *t, unsigned at, int kind, int score) {
    struct arena *arena = &t->f.arena;
    struct item key = key_of(arena, 0, at);
    if (kind < 0)
        return put_or_delete(key, false);
    struct bytes name = name_of(arena, t, (unsigned)kind);
    uint8_t *board = arena_alloc(arena, name.size + 2);
    memcpy(board, score % 17 == 16 ? "C#" : "B#", 2);
    memcpy(board + 2, name.data, name.size);
    struct value partition = value_string(bytes_of(board, name.size + 2)),
                 number = {.type = VALUE_N, .bytes = number_from_int(arena, score)};
    struct item item = item_with(arena, &key, BYTES("board"), &partition);
    return put_or_delete(item_with(arena, &item, BYTES("score"), &number), true);
}

static struct action list_action(struct names_test *t, unsigned kind, bool listed) {
    struct arena *arena = &t->f.arena;
    struct item key = key_of(arena, 1, kind);
    struct value list = value_string(kind % 5 == 4 && !listed ? BYTES("other") : BYTES("list")),
                 name = value_string(name_of(arena, t, kind));
    bool there = listed || kind % 5 == 4; /* a name may be in another list */
    t->listed[kind] = listed;
    struct item item = item_with(arena, &key, BYTES("list"), &list);
    item = item_with(arena, &item, BYTES("name"), &name);
    return there ? put_or_delete(item, true) : put_or_delete(key, false);
}

/* Several of both kinds in one commit. */
static void change_some(struct names_test *t) {
    struct action actions[8];
    bool taken[ENTRIES] = {false};
    unsigned count = 0;
    for (unsigned i = 0; i < 6; i++) {
        unsigned at = (unsigned)random_below(&t->f.random, ENTRIES);
        if (taken[at])
            continue;
        taken[at] = true;
        int score = (int)random_below(&t->f.random, 100);
        bool moves = t->where[at] >= 0 && score % 17 != 16 && random_below(&t->f.random, 2) == 0;
        int kind = moves ? t->where[at] : (int)random_below(&t->f.random, t->kinds + 20);
        if (kind >= (int)t->kinds)
            kind = -1;
        actions[count++] = entry_action(t, at, kind, score);
        t->where[at] = score % 17 == 16 ? -1 : kind;
    }
    if (random_below(&t->f.random, 2) == 0)
        actions[count++] = list_action(t, (unsigned)random_below(&t->f.random, t->kinds),
                                       random_below(&t->f.random, 2) == 0);
    write_all(&t->f, actions, count);
}

/* --- asking --- */

static struct partition_names names_asked(bool listed) {
    return (struct partition_names){.table = BYTES("game"),
                                    .index = BYTES("byscore"),
                                    .prefix = BYTES("B#"),
                                    .list_index = BYTES("bylist"),
                                    .list = listed ? BYTES("list") : (struct bytes){0}};
}

static bool is_there(const struct names_test *t, unsigned kind, bool listed) {
    bool there = t->wide[kind];
    for (unsigned i = 0; i < ENTRIES; i++)
        there = there || t->where[i] == (int)kind;
    return there && (!listed || t->listed[kind]);
}

static struct name_span span_of(struct names_test *t, unsigned low, unsigned high) {
    struct arena *arena = &t->f.arena;
    return (struct name_span){.low = low == 0 ? (struct bytes){0} : name_of(arena, t, low),
                              .high =
                                  high == t->kinds ? (struct bytes){0} : name_of(arena, t, high)};
}

static void check_span(struct names_test *t, bool listed, unsigned low, unsigned high) {
    struct partition_names names = names_asked(listed);
    struct failure failure = {0};
    struct scope in = {&t->f.arena, &failure};
    struct name_span spans[2] = {span_of(t, low, high), span_of(t, 0, t->kinds)};
    struct partition_list list;
    uint64_t all = 0, inside = 0;
    size_t limit = 1 + random_below(&t->f.random, t->kinds);
    assert_int_equal(engine_partitions_count(t->f.engine, &names, in, spans, 2), OK);
    assert_int_equal(engine_partitions_list(t->f.engine, &names, &spans[0], limit, in, &list), OK);
    for (unsigned kind = 0; kind < t->kinds; kind++) {
        bool there = is_there(t, kind, listed);
        all += there;
        if (!there || kind < low || kind >= high)
            continue;
        if (inside < limit)
            assert_true(bytes_equal(list.names[inside], name_of(&t->f.arena, t, kind)));
        inside++;
    }
    assert_int_equal(spans[0].count, inside);
    assert_int_equal(spans[1].count, all);
    assert_int_equal(list.count, inside < limit ? inside : limit);
    assert_int_equal(list.more, inside > limit);
}

static void check_names(struct names_test *t) {
    unsigned low = (unsigned)random_below(&t->f.random, t->kinds);
    unsigned high = low + (unsigned)random_below(&t->f.random, t->kinds + 1 - low);
    check_span(t, true, low, high);
    check_span(t, false, low, high);
}

/* --- tests --- */

static void drop_index(struct names_test *t, struct bytes name) {
    struct alteration alteration = {.drop_index = name};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &t->f.arena,
                            .table = BYTES("game"),
                            .alteration = &alteration};
    engine_do(t->f.engine, &change);
    assert_status(&change, OK);
}

static void test_names(void **state) {
    (void)state;
    struct names_test t;
    setup_names(&t, KINDS);
    for (unsigned round = 0; round < 3000; round++) {
        change_some(&t);
        if (random_below(&t.f.random, 2) == 0)
            check_names(&t);
        if (random_below(&t.f.random, 200) == 0)
            send_away(&t.f);
        arena_reset(&t.f.arena);
    }
    check_names(&t);
    assert_int_equal(figures_of(&t.f).count_index, 2);
    drop_index(&t, BYTES("bylist"));
    assert_int_equal(figures_of(&t.f).count_index, 1);
    check_span(&t, false, 0, t.kinds);
    drop_index(&t, BYTES("byscore"));
    assert_int_equal(figures_of(&t.f).count_index, 0);
    assert_int_equal(figures_of(&t.f).count_index_memory, 0);
    teardown(&t.f);
}

/* What one table or index has tells nothing of another's. */
static void test_what_is_asked(void **state) {
    (void)state;
    struct names_test t;
    struct failure failure = {0};
    struct name_span span = {0};
    setup_names(&t, KINDS);
    struct scope in = {&t.f.arena, &failure};
    struct partition_names names = names_asked(true);
    names.table = BYTES("none");
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), NO_TABLE);
    names = names_asked(true);
    names.index = BYTES("none");
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), INVALID);
    names = names_asked(true);
    names.list_index = BYTES("byscore"); /* its sort key is a number */
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), INVALID);
    names.list_index = BYTES("byname"); /* it has none */
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), INVALID);
    assert_int_equal(figures_of(&t.f).count_index, 0);
    teardown(&t.f);
}

/* Others evict the trees, and without memory there are none: then it is said so. */
static void test_names_without_memory(void **state) {
    (void)state;
    struct names_test t;
    struct failure failure = {0};
    struct name_span span = {0};
    setup_names(&t, KINDS);
    for (unsigned i = 0; i < 50; i++)
        change_some(&t);
    check_names(&t);
    local_of(t.f.engine)->settings.index_memory = 1;
    struct action action = put_or_delete(key_of(&t.f.arena, 2, 0), true); /* in no index */
    write_all(&t.f, &action, 1); /* who commits makes room */
    assert_int_equal(figures_of(&t.f).count_index, 0);
    struct partition_names names = names_asked(true);
    assert_int_equal(
        engine_partitions_count(t.f.engine, &names, (struct scope){&t.f.arena, &failure}, &span, 1),
        UNSUPPORTED);
    teardown(&t.f);
}

static void test_names_after_restart(void **state) {
    (void)state;
    struct names_test t;
    char *path = folder_make();
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    open_names(&t, &settings, KINDS);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 50; i++)
            change_some(&t);
        check_names(&t);
        engine_close(t.f.engine);
        t.f.engine = engine_open(&settings);
        assert_int_equal(figures_of(&t.f).count_index, 0);
        check_names(&t);
        change_some(&t);
        check_names(&t);
        arena_reset(&t.f.arena);
    }
    teardown(&t.f);
    folder_remove(path);
}

/* Who may not wait is told so if there is much to count. */
static void fill_wide(struct names_test *t) {
    struct action actions[100];
    for (unsigned kind = 0; kind < WIDE;) {
        unsigned count = 0;
        for (; count + 2 <= 100 && kind < WIDE; kind++) {
            t->wide[kind] = random_below(&t->f.random, 4) != 0;
            actions[count++] = list_action(t, kind, random_below(&t->f.random, 4) != 0);
            if (t->wide[kind])
                actions[count++] = entry_action(t, ENTRIES + kind, (int)kind, 1);
        }
        write_all(&t->f, actions, count);
        arena_reset(&t->f.arena);
    }
}

static void test_nonblocking(void **state) {
    (void)state;
    struct names_test t;
    struct failure failure = {0};
    struct name_span span = {0};
    setup_names(&t, WIDE);
    struct scope in = {&t.f.arena, &failure};
    struct partition_names names = names_asked(true);
    names.nonblocking = true;
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), OK); /* few */
    send_away(&t.f);
    fill_wide(&t);
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), WOULD_BLOCK);
    assert_int_equal(figures_of(&t.f).count_index, 0);
    check_span(&t, true, 0, WIDE);
    assert_int_equal(engine_partitions_count(t.f.engine, &names, in, &span, 1), OK);
    teardown(&t.f);
}

/* The trees are built, in several pieces, while names come and go. */
static void *ask_names(void *context) {
    struct names_test *t = context;
    struct arena arena;
    arena_init(&arena);
    for (unsigned listed = 0; listed < 2; listed++) {
        struct partition_names names = names_asked(listed != 0);
        struct name_span span = {0};
        struct failure failure = {0};
        require(engine_partitions_count(t->f.engine, &names, (struct scope){&arena, &failure},
                                        &span, 1) == OK);
    }
    arena_release(&arena);
    return NULL;
}

static void test_builds(void **state) {
    (void)state;
    struct names_test t;
    setup_names(&t, WIDE);
    fill_wide(&t);
    for (unsigned round = 0; round < 15; round++) {
        pthread_t thread;
        send_away(&t.f);
        assert_int_equal(pthread_create(&thread, NULL, ask_names, &t), 0);
        for (unsigned i = 0; i < 60; i++) {
            unsigned kind = (unsigned)random_below(&t.f.random, WIDE);
            bool lists = random_below(&t.f.random, 2) == 0;
            if (!lists)
                t.wide[kind] = !t.wide[kind];
            struct action action =
                lists ? list_action(&t, kind, !t.listed[kind])
                      : entry_action(&t, ENTRIES + kind, t.wide[kind] ? (int)kind : -1, 1);
            write_all(&t.f, &action, 1);
        }
        pthread_join(thread, NULL);
        check_names(&t);
        arena_reset(&t.f.arena);
    }
    teardown(&t.f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_what_is_asked),
        cmocka_unit_test(test_names_without_memory),
        cmocka_unit_test(test_names_after_restart),
        cmocka_unit_test(test_nonblocking),
        cmocka_unit_test(test_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The guard before a real engine in memory. */
#include "test.h"

#include "api/dynamodb/ddb_fixture.h"

#include "api/guard.h"
#include "table/backup.h"
#include "table/change.h"
#include "table/inprocess.h"
#include "table/ranking.h"
#include "table/table_stream.h"
#include "value/number.h"

static struct ddb_fixture asking;
static struct arena arena;
static struct failure failure;
static int refusals;

static void refuse(void *context, struct bytes table, struct bytes index, struct scope in) {
    (void)context;
    refusals++;
    failure_set(in.failure, in.arena, DENIED, "%.*s/%.*s", BYTES_ARG(table), BYTES_ARG(index));
}

static int begin(void **state) {
    (void)state;
    ddb_fixture_open(&asking);
    arena_init(&arena);
    ask(&asking, "CreateTable",
        "{\"TableName\":\"game\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
        "{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
        "{\"AttributeName\":\"team\",\"AttributeType\":\"N\"}],"
        "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
        "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"teams\",\"KeySchema\":["
        "{\"AttributeName\":\"team\",\"KeyType\":\"HASH\"}],"
        "\"Projection\":{\"ProjectionType\":\"ALL\"}}]}");
    assert_int_equal(asking.status, 200);
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_release(&arena);
    ddb_fixture_close(&asking);
    return 0;
}

/* --- asking through it --- */

static struct item item_of(const char *name, struct value value) {
    struct item none = {0};
    return item_with(&arena, &none, bytes_str(name), &value);
}

static struct item player(const char *key) {
    return item_of("pk", value_string(bytes_str(key)));
}

static enum status get(struct engine *engine, const char *table, const char *key) {
    struct get_request request = {.table = bytes_str(table), .key = player(key)};
    struct get_reply reply;
    return engine_get(engine, &request, (struct scope){&arena, &failure}, &reply);
}

static void post(struct change *change) {
    sem_post(change->user);
}

static enum status submit(struct engine *engine, struct change *change) {
    sem_t done;
    sem_init(&done, 0, 0);
    change->arena = &arena;
    change->done = post;
    change->user = &done;
    engine_submit(engine, change);
    while (sem_wait(&done) != 0)
        ;
    sem_destroy(&done);
    return change->failure.status;
}

static enum status act(struct engine *engine, enum action_kind kind, const char *key) {
    struct action actions[2] = {
        {.kind = ACTION_PUT, .table = BYTES("game"), .item = player("USER#ann")},
        {.kind = kind, .table = BYTES("game"), .item = player(key)}};
    bool alone = kind == ACTION_CHECK;
    struct change change = {.kind = CHANGE_WRITE,
                            .actions = alone ? actions + 1 : actions,
                            .action_count = alone ? 1 : 2,
                            .all_or_nothing = true};
    return submit(engine, &change);
}

static enum status query(struct engine *engine, const char *index, const char *name,
                         struct value value) {
    struct key_condition keys = {.tests = {{.name = bytes_str(name), .op = KEY_EQ, .low = value}},
                                 .count = 1};
    struct page_request request = {
        .table = BYTES("game"), .index = bytes_str(index), .keys = &keys};
    struct page_reply reply;
    return engine_page(engine, &request, (struct scope){&arena, &failure}, &reply);
}

static enum status scan(struct engine *engine) {
    struct page_request request = {.table = BYTES("game")};
    struct page_reply reply;
    return engine_page(engine, &request, (struct scope){&arena, &failure}, &reply);
}

static enum status rank_reply(struct engine *engine, const char *table, const char *key) {
    struct item keys = player(key);
    struct rank_request request = {
        .table = bytes_str(table), .index = BYTES("teams"), .keys = &keys, .count = 1};
    struct rank_reply rank_reply;
    return engine_rank_lookup(engine, &request, (struct scope){&arena, &failure}, &rank_reply);
}

static enum status count_names(struct engine *engine, const char *table) {
    struct partition_names names = {.table = bytes_str(table), .index = BYTES("teams")};
    struct name_span all = {.count = 0};
    return engine_partitions_count(engine, &names, (struct scope){&arena, &failure}, &all, 1);
}

static enum status list_names(struct engine *engine, const char *table) {
    struct partition_names names = {.table = bytes_str(table), .index = BYTES("teams")};
    struct name_span all = {.count = 0};
    struct partition_list list;
    return engine_partitions_list(engine, &names, &all, 10, (struct scope){&arena, &failure},
                                  &list);
}

static enum status drop(struct engine *engine) {
    struct change change = {.kind = CHANGE_DELETE_TABLE, .table = BYTES("game")};
    return submit(engine, &change);
}

static struct value number(const char *text) {
    struct value value = {.type = VALUE_N};
    assert_int_equal(number_read(&arena, bytes_str(text), &value.bytes), NUMBER_OK);
    return value;
}

/* --- tests --- */

/* Each call of one part of the interface is there, and is the guard's own. */
static void check_part(const void *guarded, const void *behind, size_t size) {
    typedef void call(void);
    call *calls[16], *open[16];
    assert_true(size <= sizeof calls);
    memcpy(calls, guarded, size);
    memcpy(open, behind, size);
    for (size_t i = 0; i < size / sizeof calls[0]; i++) {
        assert_non_null(calls[i]);
        assert_true(calls[i] != open[i]);
    }
}

/* A call added to the interface and forgotten here would be a hole in the wall, or in memory. */
static void test_every_call_is_guarded(void **state) {
    (void)state;
    struct guard guard;
    struct access_key key = {0};
    const struct engine *behind = asking.engine;
    const struct engine *engine =
        guard_init(&guard, asking.engine,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    check_part(engine->ops, behind->ops, sizeof(struct engine_ops));
    check_part(engine->items, behind->items, sizeof(struct item_ops));
    check_part(engine->changes, behind->changes, sizeof(struct change_ops));
    check_part(engine->tables, behind->tables, sizeof(struct table_ops));
    check_part(engine->streams, behind->streams, sizeof(struct stream_ops));
    check_part(engine->ranking, behind->ranking, sizeof(struct ranking_ops));
    check_part(engine->copies, behind->copies, sizeof(struct copy_ops));
    check_part(engine->inprocess, behind->inprocess, sizeof(struct inprocess_ops));
    /* eight parts and these four fields are all that an engine is */
    assert_int_equal(sizeof(struct engine), 9 * sizeof(void *) + 8 + sizeof(size_t));
    assert_null(engine->hot); /* the engine behind is told, of what was let through */
    assert_int_equal(engine_actions_max(engine), engine_actions_max(behind));
}

/* What the engine behind cannot, its guard cannot; and it blocks where that does. */
static void test_abilities_pass_through(void **state) {
    (void)state;
    struct guard guard;
    struct access_key key = {0};
    struct engine behind = *asking.engine;
    assert_true(engine_can(
        guard_init(&guard, &behind,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL}),
        ENGINE_ALL));
    assert_false(engine_may_block(&guard.engine));
    behind.ranking = NULL;
    behind.abilities = ENGINE_STREAMS | ENGINE_COPIES;
    behind.may_block = true;
    behind.actions_max = 100;
    const struct engine *engine = guard_init(
        &guard, &behind, &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    assert_null(engine->ranking);
    assert_true(engine_can(engine, ENGINE_STREAMS));
    assert_false(engine_can(engine, ENGINE_STREAMS | ENGINE_RANKING));
    assert_true(engine_may_block(engine));
    assert_int_equal(engine_actions_max(engine), 100);
}

static void test_access(void **state) {
    (void)state;
    struct bytes tables[] = {BYTES("game")};
    struct access_key key = {.tables = tables, .table_count = 1};
    struct guard guard;
    struct engine *engine =
        guard_init(&guard, asking.engine,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    struct table_description description;
    struct name_list names;
    enum status behind_says = count_names(asking.engine, "game");
    assert_int_not_equal(behind_says, DENIED);
    for (unsigned allow = 1; allow <= ACCESS_ALL; allow++) {
        key.allow = allow;
        enum status read = (allow & ACCESS_READ) != 0 ? OK : DENIED;
        enum status write = (allow & ACCESS_WRITE) != 0 ? OK : DENIED;
        assert_int_equal(get(engine, "game", "USER#ann"), read);
        assert_int_equal(scan(engine), read);
        assert_int_equal(query(engine, "teams", "team", number("7")), read);
        assert_int_equal(rank_reply(engine, "game", "USER#ann"), read);
        assert_int_equal(rank_reply(engine, "other", "USER#ann"), DENIED);
        /* what the engine behind says: partitions that are numbers have no names */
        assert_int_equal(count_names(engine, "game"), read == OK ? behind_says : DENIED);
        assert_int_equal(list_names(engine, "game"), read == OK ? behind_says : DENIED);
        assert_int_equal(count_names(engine, "other"), DENIED);
        assert_int_equal(list_names(engine, "other"), DENIED);
        assert_int_equal(act(engine, ACTION_PUT, "x"), write);
        assert_int_equal(act(engine, ACTION_DELETE, "x"), write);
        assert_int_equal(act(engine, ACTION_UPDATE, "x"), write);
        assert_int_equal(act(engine, ACTION_CHECK, "x"), read);
        assert_int_equal(get(engine, "other", "x"), DENIED);
        assert_int_equal(
            engine_describe(engine, BYTES("game"), (struct scope){&arena, &failure}, &description),
            OK);
        assert_int_equal(
            engine_describe(engine, BYTES("games"), (struct scope){&arena, &failure}, &description),
            DENIED);
        assert_int_equal(engine_list(engine, &(struct list_request){.limit = 10}, &arena, &names),
                         DENIED);
    }
    key.allow = ACCESS_READ | ACCESS_WRITE;
    assert_int_equal(drop(engine), DENIED);
    key.allow = ACCESS_ADMIN;
    assert_int_equal(drop(engine), OK);
}

static void test_partitions(void **state) {
    (void)state;
    struct bytes tables[] = {BYTES("*")}, partitions[] = {BYTES("USER#*"), BYTES("7")};
    struct access_key key = {.tables = tables,
                             .table_count = 1,
                             .partitions = partitions,
                             .partition_count = 2,
                             .allow = ACCESS_ALL};
    struct guard guard;
    struct engine *engine =
        guard_init(&guard, asking.engine,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    assert_int_equal(get(engine, "game", "USER#ann"), OK);
    assert_int_equal(get(engine, "game", "USER#"), OK);
    assert_int_equal(get(engine, "game", "USER"), DENIED);
    assert_int_equal(get(engine, "game", "ROOM#1"), DENIED);
    assert_int_equal(get(engine, "nothing", "USER#ann"), NO_TABLE);
    assert_int_equal(act(engine, ACTION_PUT, "USER#bob"), OK);
    for (int kind = ACTION_PUT; kind <= ACTION_CHECK; kind++)
        assert_int_equal(act(engine, (enum action_kind)kind, "ROOM#1"), DENIED);
    assert_int_equal(query(engine, "", "pk", value_string(BYTES("USER#ann"))), OK);
    assert_int_equal(query(engine, "", "pk", value_string(BYTES("ROOM#1"))), DENIED);
    assert_int_equal(query(engine, "teams", "team", number("7.0")), OK);
    assert_int_equal(query(engine, "teams", "team", number("70")), DENIED);
    /* a test on something else than the partition key says nothing about the partition */
    assert_int_equal(query(engine, "teams", "pk", value_string(BYTES("USER#ann"))), DENIED);
    assert_int_equal(query(engine, "none", "pk", value_string(BYTES("USER#ann"))), DENIED);
    assert_int_equal(scan(engine), DENIED);
    assert_int_equal(rank_reply(engine, "game", "USER#ann"), DENIED); /* tells of others, too */
    assert_int_equal(drop(engine), DENIED);
    assert_int_equal(
        guard_require(&guard, ACCESS_READ, BYTES("game"), (struct scope){&arena, &failure}),
        DENIED);
}

static enum status decide_nothing(struct change *change) {
    change->actions = NULL;
    return OK;
}

/* What a change will decide on cannot be seen: only who may do anything may ask for it. */
static void test_deciding(void **state) {
    (void)state;
    struct bytes all[] = {BYTES("*")}, one[] = {BYTES("game")}, partitions[] = {BYTES("*")};
    struct access_key keys[] = {
        {.tables = all, .table_count = 1, .allow = ACCESS_ALL},
        {.tables = one, .table_count = 1, .allow = ACCESS_ALL},
        {.tables = all, .table_count = 1, .allow = ACCESS_READ | ACCESS_WRITE},
        {.tables = all,
         .table_count = 1,
         .partitions = partitions,
         .partition_count = 1,
         .allow = ACCESS_ALL}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct guard guard;
        struct engine *engine =
            guard_init(&guard, asking.engine,
                       &(struct guard_settings){&(struct caller){.key = &keys[i]}, refuse, NULL});
        struct change change = {.kind = CHANGE_WRITE, .prepare = decide_nothing};
        assert_int_equal(submit(engine, &change), i == 0 ? OK : DENIED);
    }
}

/* In memory there are no copies to be had, but who may ask is told first. */
static void test_copies(void **state) {
    (void)state;
    struct bytes tables[] = {BYTES("game")}, all[] = {BYTES("*")}, some[] = {BYTES("USER#*")};
    struct access_key key = {.tables = tables, .table_count = 1};
    struct guard guard;
    struct engine *engine =
        guard_init(&guard, asking.engine,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    struct backup_request backup = {BYTES("game"), BYTES("name")}, other = {BYTES("other"), {0}};
    struct reader_request reading = {.table = BYTES("game")};
    struct backup_filter every = {0}, one = {.table = BYTES("game")};
    struct backup_description about;
    struct backup_list list;
    struct table_reader *reader;
    for (unsigned allow = 1; allow <= ACCESS_ALL; allow++) {
        enum status want = (allow & ACCESS_ADMIN) != 0 ? UNSUPPORTED : DENIED;
        key.allow = allow;
        assert_int_equal(
            engine_backup_create(engine, &backup, (struct scope){&arena, &failure}, &about), want);
        assert_int_equal(
            engine_read_table(engine, &reading, (struct scope){&arena, &failure}, &reader), want);
        assert_int_equal(
            engine_backup_create(engine, &other, (struct scope){&arena, &failure}, &about), DENIED);
        assert_int_equal(
            engine_backup_list(engine, &every, (struct scope){&arena, &failure}, &list), DENIED);
        assert_int_equal(engine_backup_list(engine, &one, (struct scope){&arena, &failure}, &list),
                         OK);
    }
    key.partitions = some;
    key.partition_count = 1;
    assert_int_equal(
        engine_backup_create(engine, &backup, (struct scope){&arena, &failure}, &about), DENIED);
    assert_int_equal(engine_read_table(engine, &reading, (struct scope){&arena, &failure}, &reader),
                     DENIED);
    key = (struct access_key){.tables = all, .table_count = 1, .allow = ACCESS_READ};
    assert_int_equal(engine_backup_list(engine, &every, (struct scope){&arena, &failure}, &list),
                     OK);
}

/* Nothing of a write happens when a part of it is refused. */
static void test_all_or_nothing(void **state) {
    (void)state;
    struct bytes tables[] = {BYTES("game")}, partitions[] = {BYTES("USER#*")};
    struct access_key key = {.tables = tables,
                             .table_count = 1,
                             .partitions = partitions,
                             .partition_count = 1,
                             .allow = ACCESS_ALL};
    struct guard guard;
    struct engine *engine =
        guard_init(&guard, asking.engine,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    refusals = 0;
    assert_int_equal(act(engine, ACTION_PUT, "ROOM#1"), DENIED);
    assert_int_equal(refusals, 1);
    struct get_request request = {.table = BYTES("game"), .key = player("USER#ann")};
    struct get_reply reply;
    assert_int_equal(engine_get(asking.engine, &request, (struct scope){&arena, &failure}, &reply),
                     OK);
    assert_false(reply.found);
}

/* There is none of the table: who may ask is told so. */
static enum status read_stream(struct engine *engine) {
    struct stream_read_request request = {.table = BYTES("game"), .label_ms = 1, .limit = 1};
    struct stream_read_reply reply;
    return engine_stream_read(engine, &request, (struct scope){&arena, &failure}, &reply);
}

static void test_streams(void **state) {
    (void)state;
    struct bytes tables[] = {BYTES("game")}, partitions[] = {BYTES("USER#*")};
    struct access_key key = {.tables = tables, .table_count = 1, .partitions = partitions};
    struct guard guard;
    struct engine *engine =
        guard_init(&guard, asking.engine,
                   &(struct guard_settings){&(struct caller){.key = &key}, refuse, NULL});
    struct stream_info info;
    struct stream_list list;
    struct stream_id game_stream = {BYTES("game"), 1}, other_stream = {BYTES("other"), 1};
    struct stream_list_request all = {.limit = 1}, mine = {.table = BYTES("game"), .limit = 1},
                               other = {.table = BYTES("other"), .limit = 1};
    for (unsigned allow = 1; allow <= ACCESS_ALL; allow++) {
        key.allow = allow;
        assert_int_equal(read_stream(engine), (allow & ACCESS_READ) != 0 ? NO_RESOURCE : DENIED);
        assert_int_equal(
            engine_stream(engine, &game_stream, (struct scope){&arena, &failure}, &info),
            NO_RESOURCE);
        assert_int_equal(
            engine_stream(engine, &other_stream, (struct scope){&arena, &failure}, &info), DENIED);
        assert_int_equal(engine_streams(engine, &mine, &arena, &list), OK);
        assert_int_equal(engine_streams(engine, &other, &arena, &list), DENIED);
        assert_int_equal(engine_streams(engine, &all, &arena, &list), DENIED);
    }
    key.partition_count = 1; /* a stream tells of all partitions */
    assert_int_equal(read_stream(engine), DENIED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_every_call_is_guarded),
                                       TEST(test_abilities_pass_through),
                                       TEST(test_access),
                                       TEST(test_partitions),
                                       TEST(test_deciding),
                                       TEST(test_copies),
                                       TEST(test_all_or_nothing),
                                       TEST(test_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

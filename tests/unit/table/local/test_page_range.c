/* Short ranges that the cache keeps: what is shown is what is there, whoever wrote meanwhile. */
#include "base/random.h"
#include "table/local/engine.h"

#include <stdatomic.h>

/* The items of a page, as text: each ends with a semicolon. */
struct shown {
    struct arena arena;
    struct buf text;
    struct page_reply reply;
};

static void visit_none(void *user, const struct item *item) {
    (void)user;
    (void)item;
    require(false); /* what is stored is shown as it is */
}

static size_t visit_stored(void *user, const struct names *names, struct bytes stored) {
    struct shown *shown = user;
    struct item item;
    require(item_decode(stored, names, &shown->arena, &item) == OK);
    buf_put(&shown->text, item_get(&item, BYTES("sk"))->bytes);
    const struct value *value = item_get(&item, BYTES("v"));
    if (value != NULL) {
        buf_byte(&shown->text, '=');
        buf_put(&shown->text, value->bytes);
    }
    buf_byte(&shown->text, ';');
    return item_size(&item);
}

static struct key_condition begins_with(const char *pk, const char *sk) {
    return (struct key_condition){.tests = {{.name = BYTES("pk"),
                                             .op = KEY_EQ,
                                             .low = {.type = VALUE_S, .bytes = bytes_str(pk)}},
                                            {.name = BYTES("sk"),
                                             .op = KEY_BEGINS,
                                             .low = {.type = VALUE_S, .bytes = bytes_str(sk)}}},
                                  .count = sk[0] == 0 ? 1 : 2};
}

static void query(struct engine *engine, struct page_request request, struct shown *shown) {
    struct failure failure = {0};
    arena_init(&shown->arena);
    shown->text = (struct buf){0};
    request.table = BYTES("game");
    request.visit = visit_none;
    request.visit_stored = visit_stored;
    request.user = shown;
    require(engine_page(engine, &request, (struct scope){&shown->arena, &failure}, &shown->reply) ==
            OK);
}

static void shown_release(struct shown *shown) {
    buf_release(&shown->text);
    arena_release(&shown->arena);
}

static void assert_shows(struct engine *engine, const char *pk, const char *sk, const char *want) {
    struct key_condition keys = begins_with(pk, sk);
    struct shown shown;
    query(engine, (struct page_request){.keys = &keys}, &shown);
    assert_text(buf_bytes(&shown.text), want);
    assert_false(shown.reply.more);
    shown_release(&shown);
}

static struct engine *open_with_cache(size_t memory, struct arena *arena) {
    struct local_settings settings = {.store.memory = true, .threads = 1, .cache_memory = memory};
    struct engine *engine = engine_open(&settings);
    struct table_schema schema = game_schema(arena, "game");
    create_table(engine, arena, &schema);
    return engine;
}

static uint64_t hits_of(struct engine *engine) {
    struct engine_figures figures;
    cache_figures(local_of(engine)->cache, &figures);
    return figures.cache_hits;
}

/* --- one after the other --- */

static void fill_room(struct engine *engine, struct arena *arena) {
    put_item(engine, arena, "game", item_of(arena, "pk=S:room", "sk=S:p1", "v=S:a", NULL));
    put_item(engine, arena, "game", item_of(arena, "pk=S:room", "sk=S:p2", "v=S:b", NULL));
    put_item(engine, arena, "game", item_of(arena, "pk=S:room", "sk=S:p3", "v=S:c", NULL));
    put_item(engine, arena, "game", item_of(arena, "pk=S:room", "sk=S:q1", "v=S:d", NULL));
}

/* Asks three times, and whether the third time was answered by the cache. */
static bool is_cached(struct engine *engine, const char *pk, const char *sk, const char *want) {
    assert_shows(engine, pk, sk, want);
    assert_shows(engine, pk, sk, want);
    uint64_t before = hits_of(engine);
    assert_shows(engine, pk, sk, want);
    return hits_of(engine) > before;
}

static void test_kept(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct engine *engine = open_with_cache(1 << 20, &arena);
    fill_room(engine, &arena);
    uint64_t before = hits_of(engine);
    assert_shows(engine, "room", "p", "p1=a;p2=b;p3=c;");
    assert_shows(engine, "room", "p", "p1=a;p2=b;p3=c;");
    assert_int_equal(hits_of(engine), before);
    assert_shows(engine, "room", "p", "p1=a;p2=b;p3=c;");
    assert_int_equal(hits_of(engine), before + 1);
    assert_true(is_cached(engine, "room", "q", "q1=d;"));
    assert_true(is_cached(engine, "room", "", "p1=a;p2=b;p3=c;q1=d;"));
    assert_true(is_cached(engine, "room", "none", ""));
    assert_true(is_cached(engine, "nobody", "p", ""));
    engine_close(engine);
    arena_release(&arena);
}

/* A put, a delete, and a put that subscribers are not told of. */
static void test_written(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct engine *engine = open_with_cache(1 << 20, &arena);
    fill_room(engine, &arena);
    assert_true(is_cached(engine, "room", "p", "p1=a;p2=b;p3=c;"));
    put_item(engine, &arena, "game", item_of(&arena, "pk=S:room", "sk=S:p2", "v=S:new", NULL));
    assert_true(is_cached(engine, "room", "p", "p1=a;p2=new;p3=c;"));
    put_item(engine, &arena, "game", item_of(&arena, "pk=S:room", "sk=S:p4", NULL));
    assert_true(is_cached(engine, "room", "p", "p1=a;p2=new;p3=c;p4;"));
    struct action action = {.kind = ACTION_DELETE, .table = BYTES("game")};
    action.item = item_of(&arena, "pk=S:room", "sk=S:p1", NULL);
    struct change change = write_of(&arena, &action, 1);
    engine_do(engine, &change);
    assert_status(&change, OK);
    assert_true(is_cached(engine, "room", "p", "p2=new;p3=c;p4;"));
    action = (struct action){.kind = ACTION_PUT, .table = BYTES("game"), .keeps_version = true};
    action.item = item_of(&arena, "pk=S:room", "sk=S:p4", "v=S:quiet", NULL);
    change = write_of(&arena, &action, 1);
    engine_do(engine, &change);
    assert_status(&change, OK);
    assert_true(is_cached(engine, "room", "p", "p2=new;p3=c;p4=quiet;"));
    engine_close(engine);
    arena_release(&arena);
}

/* A page with a limit ends where it would without the cache; one that ends early is not kept. */
static void test_limit(void **state) {
    (void)state;
    struct arena arena;
    struct key_condition keys = begins_with("room", "p");
    arena_init(&arena);
    struct engine *engine = open_with_cache(1 << 20, &arena);
    fill_room(engine, &arena);
    for (int i = 0; i < 6; i++) {
        struct shown shown;
        uint64_t before = hits_of(engine);
        query(engine, (struct page_request){.keys = &keys, .limit = 2}, &shown);
        assert_text(buf_bytes(&shown.text), "p1=a;p2=b;");
        assert_true(shown.reply.more);
        assert_text(item_get(&shown.reply.last_key, BYTES("sk"))->bytes, "p2");
        assert_int_equal(hits_of(engine), before + (i > 2));
        shown_release(&shown);
        if (i >= 2) /* each a time with the whole range */
            assert_shows(engine, "room", "p", "p1=a;p2=b;p3=c;");
    }
    engine_close(engine);
    arena_release(&arena);
}

/* What is too large for the cache is read each time, and so is a table that has another's name. */
static void test_not_kept(void **state) {
    (void)state;
    struct arena arena;
    char value[LIMIT_RANGE_CACHED];
    struct buf want = {0};
    memset(value, 'x', sizeof(value) - 1);
    memcpy(value, "v=S:", 4);
    value[sizeof(value) - 1] = 0;
    arena_init(&arena);
    struct engine *engine = open_with_cache(8 << 20, &arena);
    put_item(engine, &arena, "game", item_of(&arena, "pk=S:room", "sk=S:p1", value, NULL));
    put_item(engine, &arena, "game", item_of(&arena, "pk=S:room", "sk=S:p2", "v=S:a", NULL));
    buf_printf(&want, "p1=%s;p2=a;%c", value + 4, 0);
    assert_false(is_cached(engine, "room", "p", (const char *)want.data));
    assert_true(is_cached(engine, "room", "p2", "p2=a;"));
    struct change change = {.kind = CHANGE_DELETE_TABLE, .arena = &arena, .table = BYTES("game")};
    engine_do(engine, &change);
    assert_status(&change, OK);
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    assert_shows(engine, "room", "p2", "");
    buf_release(&want);
    engine_close(engine);
    arena_release(&arena);
}

/* --- against an engine that has no cache --- */

static const char *text_of(struct arena *arena, const char *before, uint64_t number) {
    return arena_str(arena, arena_printf(arena, "%s%u", before, (unsigned)number));
}

static struct item random_player(struct random *random, struct arena *arena) {
    return item_of(arena, text_of(arena, "pk=S:", random_below(random, 3)),
                   text_of(arena, "sk=S:", random_below(random, 40)),
                   text_of(arena, "v=S:", random_below(random, 1000)), NULL);
}

static void change_both(struct engine *const *engines, struct random *random, struct arena *arena) {
    struct action action = {.kind = ACTION_PUT, .table = BYTES("game")};
    action.item = random_player(random, arena);
    if (random_below(random, 3) == 0) {
        action.kind = ACTION_DELETE;
        action.item = rules_key_of(local_table(local_of(engines[0]), BYTES("game"))->schema, NULL,
                                   &action.item, arena);
    }
    for (int i = 0; i < 2; i++) {
        struct action own = action;
        struct change change = write_of(arena, &own, 1);
        engine_do(engines[i], &change);
        assert_status(&change, OK);
    }
}

static void test_model(void **state) {
    (void)state;
    struct random random;
    struct arena arena, step;
    random_seed(&random, test_seed());
    arena_init(&arena);
    arena_init(&step);
    struct engine *engines[] = {open_with_cache(64 << 10, &arena), open_with_cache(0, &arena)};
    for (int i = 0; i < 6000; i++) {
        arena_reset(&step);
        if (random_below(&random, 8) == 0)
            change_both(engines, &random, &step);
        struct shown shown[2];
        struct key_condition keys = begins_with(text_of(&step, "", random_below(&random, 3)),
                                                text_of(&step, "", random_below(&random, 5)));
        struct page_request request = {.keys = &keys,
                                       .limit = (uint32_t)random_below(&random, 4) * 3,
                                       .backward = random_below(&random, 4) == 0};
        for (int e = 0; e < 2; e++)
            query(engines[e], request, &shown[e]);
        assert_bytes_equal(buf_bytes(&shown[0].text), buf_bytes(&shown[1].text));
        assert_int_equal(shown[0].reply.more, shown[1].reply.more);
        assert_int_equal(shown[0].reply.scanned, shown[1].reply.scanned);
        assert_true(shown[0].reply.usage.table == shown[1].reply.usage.table);
        assert_true(item_equal(&shown[0].reply.last_key, &shown[1].reply.last_key));
        for (int e = 0; e < 2; e++)
            shown_release(&shown[e]);
    }
    assert_true(hits_of(engines[0]) > 500);
    engine_close(engines[0]);
    engine_close(engines[1]);
    arena_release(&step);
    arena_release(&arena);
}

/* --- readers beside a writer --- */

enum { WRITES = 2000, READERS = 2 };

struct reader {
    struct engine *engine;
    atomic_bool *stop;
    atomic_uint *last; /* the last write that was answered */
    pthread_t thread;
};

/* Both items are of one commit, and that is no older than one that was answered before. */
static void *read_on(void *argument) {
    struct reader *reader = argument;
    struct key_condition keys = begins_with("room", "p");
    while (!atomic_load(reader->stop)) {
        struct shown shown;
        unsigned first, second, least = atomic_load(reader->last);
        query(reader->engine, (struct page_request){.keys = &keys}, &shown);
        buf_byte(&shown.text, 0);
        require(sscanf((const char *)shown.text.data, "p1=%u;p2=%u;", &first, &second) == 2);
        require(first == second && first >= least);
        shown_release(&shown);
    }
    return NULL;
}

static void write_pair(struct engine *engine, unsigned number) {
    struct arena arena;
    struct action actions[2];
    arena_init(&arena);
    const char *value = text_of(&arena, "v=S:", number);
    for (int i = 0; i < 2; i++)
        actions[i] = (struct action){
            .kind = ACTION_PUT,
            .table = BYTES("game"),
            .item = item_of(&arena, "pk=S:room", i == 0 ? "sk=S:p1" : "sk=S:p2", value, NULL)};
    struct change change = write_of(&arena, actions, 2);
    engine_do(engine, &change);
    assert_status(&change, OK);
    arena_release(&arena);
}

static void test_together(void **state) {
    (void)state;
    struct arena arena;
    atomic_bool stop = false;
    atomic_uint last = 0;
    struct reader readers[READERS];
    arena_init(&arena);
    struct engine *engine = open_with_cache(1 << 20, &arena);
    write_pair(engine, 0);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.engine = engine, .stop = &stop, .last = &last};
        pthread_create(&readers[i].thread, NULL, read_on, &readers[i]);
    }
    for (unsigned i = 1; i <= WRITES; i++) {
        write_pair(engine, i);
        atomic_store(&last, i);
        if (i % 16 == 0)
            usleep(200);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i].thread, NULL);
    engine_close(engine);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),  cmocka_unit_test(test_written),
        cmocka_unit_test(test_limit), cmocka_unit_test(test_not_kept),
        cmocka_unit_test(test_model), cmocka_unit_test(test_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Items that an index entry covers, beside others of the same table: random writes in groups of
 * several changes, read back one by one and many at once, against a model that knows each item. */
#include "table/local/engine.h"

#include "base/random.h"

enum { ITEMS = 60, QUEUED = 40, ROUNDS = 60 };

struct known {
    bool there, scored, named;
    int score;
};

struct world {
    struct local_settings settings;
    struct engine *engine;
    struct arena arena; /* of one round */
    struct random random;
    struct known known[ITEMS];
    char *folder;
};

/* Keys pk and sk; an index `ranks` of the same partitions by score, which shows keys. */
static struct table_schema ranked_schema(struct arena *arena) {
    struct table_schema schema = plain_schema(arena, "game");
    struct key_part *parts = ARENA_ARRAY(arena, struct key_part, 3);
    struct index_schema *index = ARENA_NEW(arena, struct index_schema);
    memcpy(parts, schema.attributes, 2 * sizeof(*parts));
    parts[2] = (struct key_part){BYTES("score"), VALUE_N};
    *index = (struct index_schema){
        .name = BYTES("ranks"),
        .keys = {.parts = {parts[0], parts[2]}, .partition_count = 1, .sort_count = 1},
        .projected = PROJECTED_KEYS};
    schema.attributes = parts;
    schema.attribute_count = 3;
    schema.indexes = index;
    schema.index_count = 1;
    schema.stream = STREAM_BOTH;
    return schema;
}

static void world_open(struct world *world, unsigned commit_thread_from) {
    *world = (struct world){0};
    arena_init(&world->arena);
    world->folder = folder_make();
    world->settings = (struct local_settings){.store.path = world->folder,
                                              .store.sync = STORE_SYNC_NONE,
                                              .threads = 1,
                                              .cache_memory = 1024 * 1024,
                                              .commit_thread_from = commit_thread_from};
    random_seed(&world->random, test_seed());
    world->engine = engine_open(&world->settings);
    struct table_schema schema = ranked_schema(&world->arena);
    create_table(world->engine, &world->arena, &schema);
}

static void world_close(struct world *world) {
    check_engine(world->engine);
    engine_close(world->engine);
    arena_release(&world->arena);
    folder_remove(world->folder);
}

/* Names with bytes that keys escape, too. */
static struct item key_at(struct arena *arena, unsigned at) {
    struct item key = item_of(arena, at % 2 == 0 ? "pk=S:even" : "pk=S:odd", NULL);
    struct value name = value_string(arena_printf(arena, "m%c%u", at % 5 == 0 ? 1 : 'x', at));
    return item_with(arena, &key, BYTES("sk"), &name);
}

static struct item item_at(struct arena *arena, unsigned at, const struct known *known) {
    struct item item = key_at(arena, at);
    struct value score = {.type = VALUE_N, .bytes = number_from_int(arena, known->score)};
    struct value name = value_string(BYTES("somebody"));
    if (known->scored)
        item = item_with(arena, &item, BYTES("score"), &score);
    if (known->named)
        item = item_with(arena, &item, BYTES("nick"), &name);
    return item;
}

/* Most are scored and nothing else: covered. */
static struct known any_known(struct world *world) {
    return (struct known){.there = true,
                          .scored = random_below(&world->random, 8) != 0,
                          .named = random_below(&world->random, 4) == 0,
                          .score = (int)random_below(&world->random, 5)};
}

/* --- writing --- */

/* The item that is wanted, whatever was there. */
static enum status become(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    (void)old, (void)arena;
    *new = *(const struct item *)action->user;
    return OK;
}

/* One action on an item, and what becomes of it. */
static struct action any_action(struct world *world, unsigned at, struct known *next) {
    struct arena *arena = &world->arena;
    struct action action = {.table = BYTES("game"), .item = key_at(arena, at)};
    struct item *wanted = ARENA_NEW(arena, struct item);
    switch (random_below(&world->random, 6)) {
    case 0:
        action.kind = ACTION_DELETE;
        *next = (struct known){0};
        return action;
    case 1:
        action.kind = ACTION_UPDATE;
        action.update = update_of(arena, "REMOVE nick", NULL);
        next->named = false;
        return action;
    case 2:
        action.kind = ACTION_COMPUTE;
        *next = any_known(world);
        *wanted = item_at(arena, at, next);
        action.compute = become;
        action.user = wanted;
        return action;
    default:
        action.kind = ACTION_PUT;
        *next = any_known(world);
        action.item = item_at(arena, at, next);
        return action;
    }
}

/* A change that waits with others. */
struct queued {
    struct change change;
    struct action actions[3];
    struct known before[3];
    unsigned at[3];
    sem_t done;
};

/* Of several actions the first are on neighbours. */
static void make_change(struct world *world, struct queued *queued) {
    unsigned count = random_below(&world->random, 4) == 0 ? 3 : 1;
    unsigned from = (unsigned)random_below(&world->random, ITEMS);
    for (unsigned i = 0; i < count; i++) {
        unsigned at = queued->at[i] = (from + i) % ITEMS;
        queued->before[i] = world->known[at];
        queued->actions[i] = any_action(world, at, &world->known[at]);
        if (queued->actions[i].kind == ACTION_UPDATE && !queued->before[i].there)
            world->known[at] = (struct known){0}; /* nothing to remove from: none is made */
    }
    queued->change = write_of(ARENA_NEW(&world->arena, struct arena), queued->actions, count);
    arena_init(queued->change.arena);
    sem_init(&queued->done, 0, 0);
    queued->change.done = engine_done;
    queued->change.user = &queued->done;
}

static void check_change(struct world *world, struct queued *queued) {
    assert_status(&queued->change, OK);
    for (size_t i = 0; i < queued->change.action_count; i++) {
        const struct action *action = &queued->actions[i];
        assert_int_equal(action->had_old, queued->before[i].there);
        if (!action->had_old)
            continue;
        struct item want = item_at(&world->arena, queued->at[i], &queued->before[i]);
        assert_true(item_equal(&action->old, &want));
    }
    sem_destroy(&queued->done);
    arena_release(queued->change.arena);
}

/* Changes that wait for the writer together: it looks up ahead what they will read. */
static void write_queued(struct world *world) {
    static struct queued queued[QUEUED];
    struct stall stall;
    unsigned count = 1 + (unsigned)random_below(&world->random, QUEUED);
    stall_start(&stall, world->engine);
    for (unsigned i = 0; i < count; i++) {
        make_change(world, &queued[i]);
        engine_submit(world->engine, &queued[i].change);
    }
    stall_end(&stall);
    for (unsigned i = 0; i < count; i++)
        while (sem_wait(&queued[i].done) != 0)
            ;
    for (unsigned i = 0; i < count; i++)
        check_change(world, &queued[i]);
}

/* --- reading --- */

static void check_reply(struct world *world, unsigned at, const struct get_reply *reply) {
    struct item want = item_at(&world->arena, at, &world->known[at]);
    assert_int_equal(reply->found, world->known[at].there);
    if (!reply->found)
        return;
    assert_true(item_equal(&reply->item, &want));
    assert_int_equal(reply->size, item_size(&want));
}

static void read_all(struct world *world) {
    struct get_request requests[ITEMS] = {0};
    struct get_reply replies[ITEMS];
    struct failure failure;
    for (unsigned i = 0; i < ITEMS; i++) {
        requests[i] = (struct get_request){.table = BYTES("game"), .key = key_at(&world->arena, i)};
        assert_int_equal(engine_get(world->engine, &requests[i],
                                    (struct scope){&world->arena, &failure}, &replies[i]),
                         OK);
        check_reply(world, i, &replies[i]);
    }
    assert_int_equal(engine_get_many(world->engine, requests, ITEMS,
                                     (struct scope){&world->arena, &failure}, replies),
                     OK);
    for (unsigned i = 0; i < ITEMS; i++)
        check_reply(world, i, &replies[i]);
}

static void play(struct world *world, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++) {
        arena_reset(&world->arena);
        write_queued(world);
        read_all(world);
    }
    check_engine(world->engine);
}

static void reopen(struct world *world) {
    engine_close(world->engine);
    world->engine = engine_open(&world->settings);
}

static void test_model(void **state) {
    (void)state;
    for (unsigned threads = 0; threads < 2; threads++) {
        struct world world;
        world_open(&world, threads == 0 ? 0 : 2);
        play(&world, ROUNDS);
        reopen(&world); /* the index is built from the items */
        check_engine(world.engine);
        read_all(&world);
        play(&world, ROUNDS / 2);
        world_close(&world);
    }
}

/* --- the cache, and an index that comes and goes --- */

static uint64_t cached(struct engine *engine) {
    struct engine_figures figures;
    engine_figures(engine, &figures);
    return figures.cache_items;
}

static void write_known(struct world *world, unsigned at, struct known known) {
    world->known[at] = known;
    put_item(world->engine, &world->arena, "game", item_at(&world->arena, at, &known));
}

static void test_cache(void **state) {
    (void)state;
    struct world world;
    struct known plain = {.there = true, .scored = true, .score = 7};
    struct known named = {.there = true, .scored = true, .named = true, .score = 7};
    world_open(&world, 0);
    for (unsigned i = 0; i < ITEMS; i++)
        write_known(&world, i, plain);
    read_all(&world);
    assert_int_equal(cached(world.engine), 0);
    write_known(&world, 3, named); /* the entry is the same, but not all of it any more */
    check_engine(world.engine);
    read_all(&world);
    assert_int_equal(cached(world.engine), 1);
    write_known(&world, 3, plain);
    check_engine(world.engine);
    read_all(&world);
    assert_int_equal(cached(world.engine), 0);
    world_close(&world);
}

/* --- what a short cut must not let through --- */

/* A computed item whose only fault is told by the rules, though an entry could be made of it. */
static void check_refused(struct world *world, struct item wanted) {
    struct action action = {.kind = ACTION_COMPUTE,
                            .table = BYTES("game"),
                            .item = key_at(&world->arena, 3),
                            .compute = become,
                            .user = &wanted};
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, INVALID);
}

static void test_rules_hold(void **state) {
    (void)state;
    struct world world;
    struct known known = {.there = true, .scored = true, .score = 7};
    world_open(&world, 0);
    struct item good = item_at(&world.arena, 3, &known);
    struct value other = {.type = VALUE_B, .bytes = item_get(&good, BYTES("sk"))->bytes};
    check_refused(&world, item_at(&world.arena, 5, &known)); /* another item */
    check_refused(&world, item_at(&world.arena, 4, &known)); /* of another partition */
    check_refused(&world, item_with(&world.arena, &good, BYTES("sk"), &other));
    other = value_string(BYTES("seven"));
    check_refused(&world, item_with(&world.arena, &good, BYTES("score"), &other));
    read_all(&world); /* nothing was written */
    world_close(&world);
}

/* Another index may not take what is too long for it, though the covering index takes it. */
static void test_long_keys(void **state) {
    (void)state;
    enum { LONG = LIMIT_SORT_KEY_SIZE + 100 };
    struct world world;
    world_open(&world, 0);
    struct table_schema schema = ranked_schema(&world.arena);
    struct index_schema indexes[2] = {schema.indexes[0], schema.indexes[0]};
    indexes[1] =
        (struct index_schema){.name = BYTES("reverse"),
                              .keys = {.parts = {schema.attributes[1], schema.attributes[0]},
                                       .partition_count = 1,
                                       .sort_count = 1},
                              .projected = PROJECTED_KEYS};
    schema.name = BYTES("long");
    schema.indexes = indexes;
    schema.index_count = 2;
    create_table(world.engine, &world.arena, &schema);
    struct value name =
        value_string(bytes_of(memset(arena_alloc(&world.arena, LONG), 'x', LONG), LONG));
    struct item wanted = item_of(&world.arena, "sk=S:1", "score=N:1", NULL);
    struct item key = item_of(&world.arena, "sk=S:1", NULL);
    wanted = item_with(&world.arena, &wanted, BYTES("pk"), &name);
    struct action action = {.kind = ACTION_COMPUTE,
                            .table = BYTES("long"),
                            .item = item_with(&world.arena, &key, BYTES("pk"), &name),
                            .compute = become,
                            .user = &wanted};
    struct change change = write_of(&world.arena, &action, 1);
    engine_do(world.engine, &change);
    assert_status(&change, INVALID);
    world_close(&world);
}

static void alter(struct world *world, const struct alteration *alteration) {
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &world->arena,
                            .table = BYTES("game"),
                            .alteration = alteration};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static bool index_is_ready(struct world *world) {
    struct local *local = local_of(world->engine);
    pthread_rwlock_rdlock(&local->state_lock);
    bool ready = covering_index(local_table(local, BYTES("game"))) != NULL;
    pthread_rwlock_unlock(&local->state_lock);
    return ready;
}

static void test_index_comes_and_goes(void **state) {
    (void)state;
    struct world world;
    struct arena arena;
    arena_init(&arena);
    struct table_schema schema = ranked_schema(&arena);
    world_open(&world, 2);
    play(&world, 5);
    alter(&world, &(struct alteration){.drop_index = BYTES("ranks")});
    assert_false(index_is_ready(&world));
    read_all(&world);
    play(&world, 5);
    alter(&world, &(struct alteration){.attributes = schema.attributes,
                                       .attribute_count = schema.attribute_count,
                                       .add_index = &schema.indexes[0]});
    for (unsigned i = 0; i < 5 || !index_is_ready(&world); i++) { /* notes are kept meanwhile */
        arena_reset(&world.arena);
        write_queued(&world);
        read_all(&world);
    }
    play(&world, 5);
    arena_release(&arena);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_rules_hold),
        cmocka_unit_test(test_long_keys),
        cmocka_unit_test(test_index_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

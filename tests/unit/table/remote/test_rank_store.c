/* The ranking in Redis against a sorted array: on one server and on a cluster of three. */
#include "test.h"

#include "base/random.h"
#include "redis_server.h"
#include "table/remote/rank_store.h"
#include "value/key.h"
#include "value/number.h"

enum { MEMBERS = 60, BOARDS = 3 };

/* --- the model: what a member's entry is, and a count of all --- */

struct model_entry {
    bool ranked;
    struct bytes key;
    size_t group; /* bytes of the key that score and subscore take */
    uint64_t version;
};

struct model {
    struct arena arena;
    struct model_entry entries[MEMBERS];
};

static struct bytes member_name(struct arena *arena, unsigned member) {
    return arena_printf(arena, "p%u%s", member, member % 7 == 0 ? "\x01 odd" : "");
}

static const char *const scores[] = {
    "0",
    "1",
    "-1",
    "2",
    "10",
    "100",
    "12345678901234567890123456789012345678",
    "12345678901234567890123456789012345679",
    "-99999999999999999999999999999999999999",
    "9223372036854775807",
    "9223372036854775806",
    "0.5",
    "-0.25",
    "1e-100",
    "9.99e125",
    "1e124",
};

static void put_number(struct buf *to, struct arena *arena, const char *text) {
    struct value value = {.type = VALUE_N};
    assert_int_equal(number_read(arena, bytes_str(text), &value.bytes), NUMBER_OK);
    key_put(to, &value);
}

static struct bytes make_key(struct arena *arena, struct random *random, unsigned member,
                             size_t *group) {
    struct buf key = {0};
    char tie[32];
    unsigned count = sizeof(scores) / sizeof(scores[0]);
    put_number(&key, arena, scores[random_below(random, count)]);
    put_number(&key, arena, random_below(random, 3) == 0 ? "7" : "0");
    *group = key.size;
    snprintf(tie, sizeof(tie), "%d", (int)random_below(random, 5) - 2);
    put_number(&key, arena, tie);
    struct value name = value_string(member_name(arena, member));
    key_put(&key, &name);
    struct bytes copy = arena_copy(arena, buf_bytes(&key));
    buf_release(&key);
    return copy;
}

static struct bytes group_of(const struct model_entry *entry) {
    return bytes_of(entry->key.data, entry->group);
}

/* Whether an entry is the first of the array in its group. */
static bool is_first_of_group(const struct model *model, unsigned at) {
    for (unsigned i = 0; i < at; i++)
        if (model->entries[i].ranked &&
            bytes_equal(group_of(&model->entries[i]), group_of(&model->entries[at])))
            return false;
    return true;
}

static struct rank_reply model_place(const struct model *model, const struct model_entry *at) {
    struct rank_reply place = {0};
    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct model_entry *entry = &model->entries[i];
        if (!entry->ranked)
            continue;
        int order = bytes_compare(entry->key, at->key);
        int groups = bytes_compare(group_of(entry), group_of(at));
        place.found |= order == 0;
        place.before += order < 0;
        place.after += order > 0;
        place.group_before += groups < 0;
        place.group_after += groups > 0;
        place.groups_before += groups < 0 && is_first_of_group(model, i);
        place.groups_after += groups > 0 && is_first_of_group(model, i);
    }
    return place;
}

static void assert_place(const struct rank_reply *got, const struct rank_reply *expected) {
    assert_int_equal(got->found, expected->found);
    assert_int_equal(got->before, expected->before);
    assert_int_equal(got->after, expected->after);
    assert_int_equal(got->group_before, expected->group_before);
    assert_int_equal(got->group_after, expected->group_after);
    assert_int_equal(got->groups_before, expected->groups_before);
    assert_int_equal(got->groups_after, expected->groups_after);
}

/* --- steps --- */

struct world {
    struct rank_store store;
    struct model models[BOARDS];
    struct random random;
    uint64_t clock;
    struct arena arena; /* of a step */
    struct failure failure;
};

static struct scope world_scope(struct world *world) {
    return (struct scope){&world->arena, &world->failure};
}

static void check_ok(struct world *world, enum status status) {
    if (status != OK)
        fail_msg("%s: %.*s", status_name(status), BYTES_ARG(world->failure.text));
}

static struct bytes partition_name(struct world *world, unsigned board) {
    return arena_printf(&world->arena, "BOARD#%u}{x", board);
}

static void move_ranked(struct world *world, unsigned board) {
    struct model *model = &world->models[board];
    unsigned member = (unsigned)random_below(&world->random, MEMBERS);
    struct model_entry *entry = &model->entries[member], before = *entry;
    struct action_ranks ranks = {.group_parts = 2, .groups = true};
    bool removed = random_below(&world->random, 4) == 0;
    struct rank_ranked_move move = {.partition = partition_name(world, board), .ranks = &ranks};
    struct rank_reply none = {0};
    struct rank_reply stood = before.ranked ? model_place(model, &before) : none;
    entry->ranked = !removed;
    entry->version = rank_version(++world->clock, removed);
    if (!removed)
        entry->key = make_key(&model->arena, &world->random, member, &entry->group);
    move.move = (struct rank_move){.member = member_name(&world->arena, member),
                                   .version = entry->version,
                                   .key = removed ? (struct bytes){0} : entry->key};
    move.was = before.ranked ? before.key : (struct bytes){0};
    struct rank_reply stands = entry->ranked ? model_place(model, entry) : none;
    unsigned times = 1 + (unsigned)random_below(&world->random, 2);
    for (unsigned i = 0; i < times; i++) {
        ranks.counted = false;
        check_ok(world, rank_store_move_ranked(&world->store, &move, world_scope(world)));
        assert_int_equal(move.move.moved, i == 0 ? RANK_MOVED : RANK_OLD);
        assert_true(ranks.counted);
        assert_place(&ranks.before, &stood);
        assert_place(&ranks.after, &stands);
    }
}

/* What is older than what it has changes nothing. */
static void move_stale(struct world *world, unsigned board) {
    struct model *model = &world->models[board];
    struct rank_move moves[8];
    size_t count = 0, group;
    unsigned from = (unsigned)random_below(&world->random, MEMBERS - 8);
    for (unsigned i = from; i < from + 8; i++)
        if (model->entries[i].version > 2)
            moves[count++] = (struct rank_move){
                .member = member_name(&world->arena, i),
                .version = random_below(&world->random, model->entries[i].version),
                .key = random_below(&world->random, 3) == 0
                           ? (struct bytes){0}
                           : make_key(&world->arena, &world->random, i, &group)};
    struct rank_moves all = {
        .partition = partition_name(world, board), .moves = moves, .count = count};
    check_ok(world, rank_store_move(&world->store, &all, world_scope(world)));
    for (size_t i = 0; i < count; i++)
        assert_int_not_equal(moves[i].moved, RANK_MOVED);
    assert_true(count == 0 || all.whole);
}

static void move_many(struct world *world, unsigned board) {
    struct model *model = &world->models[board];
    struct rank_move moves[MEMBERS];
    size_t count = 0;
    for (unsigned i = 0; i < MEMBERS; i++) {
        struct model_entry *entry = &model->entries[i];
        if (random_below(&world->random, 3) != 0)
            continue;
        entry->ranked = random_below(&world->random, 3) != 0;
        entry->version = rank_version(++world->clock, !entry->ranked);
        if (entry->ranked)
            entry->key = make_key(&model->arena, &world->random, i, &entry->group);
        moves[count++] = (struct rank_move){.member = member_name(&world->arena, i),
                                            .version = entry->version,
                                            .key = entry->ranked ? entry->key : (struct bytes){0}};
    }
    struct rank_moves all = {
        .partition = partition_name(world, board), .moves = moves, .count = count};
    check_ok(world, rank_store_move(&world->store, &all, world_scope(world)));
}

static int by_bytes(const void *a, const void *b) {
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static size_t sorted_keys(const struct model *model, struct bytes to[MEMBERS]) {
    size_t count = 0;
    for (unsigned i = 0; i < MEMBERS; i++)
        if (model->entries[i].ranked)
            to[count++] = model->entries[i].key;
    qsort(to, count, sizeof(*to), by_bytes);
    return count;
}

static void look_at_all(struct world *world, unsigned board) {
    struct model *model = &world->models[board];
    struct bytes names[MEMBERS], keys[MEMBERS];
    for (unsigned i = 0; i < MEMBERS; i++)
        names[i] = member_name(&world->arena, i);
    struct rank_look look = {.partition = partition_name(world, board),
                             .names = names,
                             .count = MEMBERS,
                             .group_parts = 2,
                             .groups = true};
    check_ok(world, rank_store_look(&world->store, &look, world_scope(world)));
    for (unsigned i = 0; i < MEMBERS; i++) {
        struct model_entry *entry = &model->entries[i];
        struct rank_reply none = {0};
        struct rank_reply expected = entry->ranked ? model_place(model, entry) : none;
        assert_bytes_equal(look.keys[i], entry->ranked ? entry->key : (struct bytes){0});
        assert_place(&look.places[i], &expected);
    }
    struct model_entry as_if = {0};
    as_if.key = keys[0] = make_key(&world->arena, &world->random, 999, &as_if.group);
    struct rank_look other = look;
    other.names = keys;
    other.count = 1;
    other.as_if = true;
    check_ok(world, rank_store_look(&world->store, &other, world_scope(world)));
    struct rank_reply expected = model_place(model, &as_if);
    assert_place(&other.places[0], &expected);
}

static void look_at_range(struct world *world, unsigned board) {
    struct model *model = &world->models[board];
    struct bytes keys[MEMBERS];
    size_t count = sorted_keys(model, keys), group, from = 0, to = count;
    struct rank_range range = {.partition = partition_name(world, board),
                               .skip = random_below(&world->random, 5),
                               .skip_end = random_below(&world->random, 5),
                               .limit = (uint32_t)random_below(&world->random, 20) + 1,
                               .backward = random_below(&world->random, 2) != 0,
                               .count_only = random_below(&world->random, 4) == 0};
    if (random_below(&world->random, 2) != 0)
        range.low = make_key(&world->arena, &world->random, 5, &group);
    if (random_below(&world->random, 2) != 0)
        range.high = make_key(&world->arena, &world->random, 6, &group);
    while (from < count && range.low.size != 0 && bytes_compare(keys[from], range.low) < 0)
        from++;
    while (to > from && range.high.size != 0 && bytes_compare(keys[to - 1], range.high) >= 0)
        to--;
    check_ok(world, rank_store_range(&world->store, &range, world_scope(world)));
    size_t in = to - from, out = range.skip + range.skip_end;
    size_t total = in > out ? in - out : 0;
    size_t expected = range.count_only ? 0 : total < range.limit ? total : range.limit;
    assert_int_equal(range.total, total);
    assert_int_equal(range.count, expected);
    for (size_t i = 0; i < range.count; i++)
        assert_bytes_equal(range.keys[i], range.backward ? keys[to - 1 - range.skip - i]
                                                         : keys[from + range.skip + i]);
}

/* Moves all that is there again under a token, as who rebuilds does. */
static void build(struct world *world, unsigned board) {
    struct model *model = &world->models[board];
    struct bytes partition = partition_name(world, board), token = BYTES("me");
    struct rank_move moves[MEMBERS];
    enum rank_begin began;
    size_t count = 0;
    check_ok(world, rank_store_begin(&world->store, partition, token, world_scope(world), &began));
    assert_int_equal(began, RANK_BEGIN_MINE);
    check_ok(world,
             rank_store_begin(&world->store, partition, BYTES("you"), world_scope(world), &began));
    assert_int_equal(began, RANK_BEGIN_OTHER);
    for (unsigned i = 0; i < MEMBERS; i++)
        if (model->entries[i].ranked)
            moves[count++] = (struct rank_move){.member = member_name(&world->arena, i),
                                                .version = model->entries[i].version,
                                                .key = model->entries[i].key};
    struct rank_moves all = {
        .partition = partition, .moves = moves, .count = count, .token = token};
    bool fill = random_below(&world->random, 2) != 0;
    check_ok(world,
             (fill ? rank_store_fill : rank_store_move)(&world->store, &all, world_scope(world)));
    all.token = BYTES("you");
    if (count != 0) {
        assert_int_equal(rank_store_move(&world->store, &all, world_scope(world)), CONFLICT);
        assert_int_equal(rank_store_fill(&world->store, &all, world_scope(world)), CONFLICT);
    }
    check_ok(world, rank_store_finish(&world->store, &(struct rank_finish){partition, token, true},
                                      world_scope(world)));
    check_ok(world, rank_store_begin(&world->store, partition, token, world_scope(world), &began));
    assert_int_equal(began, RANK_BEGIN_WHOLE);
}

static void expect_missing(struct world *world, unsigned board) {
    struct bytes name = BYTES("p1");
    struct rank_look look = {.partition = partition_name(world, board), .names = &name, .count = 1};
    struct rank_range range = {.partition = look.partition, .count_only = true};
    assert_int_equal(rank_store_look(&world->store, &look, world_scope(world)), BEING_BUILT);
    assert_int_equal(rank_store_range(&world->store, &range, world_scope(world)), BEING_BUILT);
}

static void world_init(struct world *world, struct rank_redis *client) {
    *world = (struct world){.clock = 1700000000000000};
    random_seed(&world->random, test_seed());
    rank_store_init(&world->store, client, BYTES("game"));
    arena_init(&world->arena);
    for (unsigned i = 0; i < BOARDS; i++) {
        arena_init(&world->models[i].arena);
        expect_missing(world, i);
        build(world, i);
        look_at_all(world, i); /* makes the groups */
    }
}

static void world_release(struct world *world) {
    for (unsigned i = 0; i < BOARDS; i++)
        arena_release(&world->models[i].arena);
    arena_release(&world->arena);
}

static void run_model(const char *address, unsigned steps) {
    struct world world;
    struct arena arena;
    arena_init(&arena);
    struct rank_redis *client = test_rank_redis(address, &arena);
    world_init(&world, client);
    for (unsigned i = 0; i < steps; i++) {
        unsigned board = (unsigned)random_below(&world.random, BOARDS);
        switch (random_below(&world.random, 12)) {
        case 0:
            move_many(&world, board);
            break;
        case 1:
            move_stale(&world, board);
            break;
        case 2:
            look_at_all(&world, board);
            break;
        case 3:
        case 4:
            look_at_range(&world, board);
            break;
        default:
            move_ranked(&world, board);
            break;
        }
        arena_reset(&world.arena);
    }
    for (unsigned i = 0; i < BOARDS; i++)
        look_at_all(&world, i);
    world_release(&world);
    rank_redis_close(client);
    arena_release(&arena);
}

static void one_server(void **state) {
    struct test_redis redis = {0};
    (void)state;
    test_redis_start(&redis, 0);
    run_model(redis.address, 600);
    test_redis_stop(&redis);
}

/* The seed is one of the three; where the others are it says. */
static void cluster_of_three(void **state) {
    struct test_redis nodes[3];
    (void)state;
    test_cluster_start(nodes);
    run_model(nodes[1].address, 200);
    for (unsigned i = 0; i < 3; i++)
        test_redis_stop(&nodes[i]);
}

/* A server that comes back empty is not trusted: ranks are not known until it is built again. What
 * is moved meanwhile, and what went, stays so. */
static void lost_and_built_again(void **state) {
    struct test_redis redis = {0};
    struct world world;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, test_free_port());
    struct rank_redis *client = test_rank_redis(redis.address, &arena);
    world_init(&world, client);
    for (unsigned i = 0; i < 20; i++)
        move_ranked(&world, 0);
    uint64_t epoch = rank_redis_epoch(client);
    test_redis_kill(&redis);
    test_redis_run(&redis);
    test_redis_await(&redis, "PING", "PONG");
    /* calls may fail for as long as the server is left alone */
    struct bytes name = BYTES("p1");
    struct rank_look look = {.partition = partition_name(&world, 0), .names = &name, .count = 1};
    while (rank_store_look(&world.store, &look, world_scope(&world)) != BEING_BUILT)
        usleep(10000);
    assert_true(rank_redis_epoch(client) > epoch);
    struct action_ranks ranks = {.group_parts = 2};
    struct rank_ranked_move late = {.partition = look.partition, .ranks = &ranks};
    late.move = (struct rank_move){.member = BYTES("nobody"),
                                   .version = rank_version(world.clock + 5, true)};
    check_ok(&world, rank_store_move_ranked(&world.store, &late, world_scope(&world)));
    assert_false(ranks.counted);
    late.move.version = rank_version(world.clock + 5, false);
    late.move.key = BYTES("\x80\x80\x80nobody");
    check_ok(&world, rank_store_move_ranked(&world.store, &late, world_scope(&world)));
    assert_int_equal(late.move.moved, RANK_DOUBT);
    build(&world, 0);
    look_at_all(&world, 0);
    move_ranked(&world, 0);
    look_at_all(&world, 0);
    world_release(&world);
    rank_redis_close(client);
    test_redis_stop(&redis);
    arena_release(&arena);
}

/* A builder whose work was lost half-way does not call the rest whole. */
static void lost_while_building(void **state) {
    struct test_redis redis = {0};
    struct world world;
    struct arena arena;
    struct redis_reply reply;
    enum rank_begin began;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, 0);
    struct rank_redis *client = test_rank_redis(redis.address, &arena);
    world_init(&world, client);
    struct bytes partition = BYTES("BOARD#new");
    check_ok(&world,
             rank_store_begin(&world.store, partition, BYTES("me"), world_scope(&world), &began));
    assert_int_equal(began, RANK_BEGIN_MINE);
    assert_true(test_redis_ask(&redis, &arena, "FLUSHALL", &reply));
    struct rank_finish finish = {partition, BYTES("me"), true};
    assert_int_equal(rank_store_finish(&world.store, &finish, world_scope(&world)), CONFLICT);
    /* nor is what a server says is whole, if it may have lost something */
    build(&world, 1);
    struct redis_address address;
    assert_true(redis_address_read(bytes_str(redis.address), &address));
    check_ok(&world, rank_store_doubt_server(&world.store, &address, world_scope(&world)));
    expect_missing(&world, 1);
    world_release(&world);
    rank_redis_close(client);
    test_redis_stop(&redis);
    arena_release(&arena);
}

/* An item that was removed and made anew by a node whose clock is behind. */
static void made_anew_by_a_slow_clock(void **state) {
    struct test_redis redis = {0};
    struct world world;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, 0);
    struct rank_redis *client = test_rank_redis(redis.address, &arena);
    world_init(&world, client);
    size_t group;
    struct rank_move move = {.member = BYTES("slow"), .version = rank_version(2000, true)};
    struct rank_moves moves = {.partition = partition_name(&world, 2), .moves = &move, .count = 1};
    check_ok(&world, rank_store_move(&world.store, &moves, world_scope(&world)));
    move.version = rank_version(1000, false);
    move.key = make_key(&world.arena, &world.random, 3, &group);
    check_ok(&world, rank_store_move(&world.store, &moves, world_scope(&world)));
    assert_int_equal(move.moved, RANK_DOUBT);
    check_ok(&world, rank_store_forget(&world.store, moves.partition, &move, world_scope(&world)));
    check_ok(&world, rank_store_move(&world.store, &moves, world_scope(&world)));
    assert_int_equal(move.moved, RANK_MOVED);
    world_release(&world);
    rank_redis_close(client);
    test_redis_stop(&redis);
    arena_release(&arena);
}

/* Chunks without a member that the ranking knows are added at once; in the others an entry that is
 * newer than what who builds has read stays as it is, and one that went stays away. */
static void filled_where_some_are_known(void **state) {
    enum { ALL = 1700, NEWER = 700, WENT = 701 };
    struct test_redis redis = {0};
    struct world world;
    struct arena arena;
    struct rank_move moves[ALL], known[2];
    enum rank_begin began;
    size_t group;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, 0);
    struct rank_redis *client = test_rank_redis(redis.address, &arena);
    world_init(&world, client);
    struct bytes partition = BYTES("BOARD#filled"), token = BYTES("me");
    for (unsigned i = 0; i < ALL; i++)
        moves[i] = (struct rank_move){.member = member_name(&arena, i),
                                      .version = rank_version(1000 + i, false),
                                      .key = make_key(&arena, &world.random, i, &group)};
    known[0] = moves[NEWER];
    known[0].version += 2;
    known[0].key = make_key(&arena, &world.random, NEWER, &group);
    known[1] = (struct rank_move){.member = moves[WENT].member, .version = moves[WENT].version + 1};
    struct rank_moves all = {.partition = partition, .moves = moves, .count = ALL, .token = token};
    struct rank_moves before = {.partition = partition, .moves = known, .count = 2};
    check_ok(&world, rank_store_move(&world.store, &before, world_scope(&world)));
    check_ok(&world, rank_store_begin(&world.store, partition, token, world_scope(&world), &began));
    check_ok(&world, rank_store_fill(&world.store, &all, world_scope(&world)));
    assert_int_equal(all.known, 500);
    for (unsigned i = 0; i < ALL; i++)
        assert_int_equal(moves[i].moved, i == NEWER  ? RANK_OLD
                                         : i == WENT ? RANK_DOUBT
                                                     : RANK_MOVED);
    check_ok(&world, rank_store_finish(&world.store, &(struct rank_finish){partition, token, true},
                                       world_scope(&world)));
    struct rank_look look = {.partition = partition, .names = &known[0].member, .count = 1};
    struct rank_range range = {.partition = partition, .limit = ALL};
    check_ok(&world, rank_store_look(&world.store, &look, world_scope(&world)));
    assert_memory_equal(look.keys[0].data, known[0].key.data, known[0].key.size);
    check_ok(&world, rank_store_range(&world.store, &range, world_scope(&world)));
    assert_int_equal(range.total, ALL - 1);
    for (size_t i = 1; i < range.count; i++)
        assert_true(bytes_compare(range.keys[i - 1], range.keys[i]) < 0);
    world_release(&world);
    rank_redis_close(client);
    test_redis_stop(&redis);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server),
        cmocka_unit_test(cluster_of_three),
        cmocka_unit_test(lost_and_built_again),
        cmocka_unit_test(lost_while_building),
        cmocka_unit_test(made_anew_by_a_slow_clock),
        cmocka_unit_test(filled_where_some_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

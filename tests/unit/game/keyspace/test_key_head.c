/* Heads as items and back; the fields of a small hash against a list; what is due goes. */
#include "test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "game/housekeeping_test.h"
#include "game/keyspace/key_fields.h"
#include "game/keyspace/key_garbage.h"
#include "game/keyspace/key_list.h"

#include <stdio.h>

static struct world world;
static struct key_address address;

static int setup(void **state) {
    (void)state;
    world_open(&world);
    struct scope in = {&world.arena, &world.failure};
    assert_ok(key_address_of(0, BYTES("k"), in, &address), world.failure);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

/* The encoded item reads as the item does. */
static void check_encoded(const struct item *item, int64_t now_ms,
                          const struct key_head *expected) {
    struct key_head read;
    struct buf encoded = {0};
    struct names *names = names_new();
    struct key_head_source from = {world.game, now_ms, {&world.arena, &world.failure}};
    item_encode(item, names, &encoded);
    struct get_reply reply = {.found = true, .stored = {buf_bytes(&encoded), names}};
    /* The game's own extractor knows the codes of its table. */
    struct item_extractor *heads = world.game->heads;
    world.game->heads = key_head_extractor_new();
    assert_ok(key_head_read_reply(&from, &reply, &read), world.failure);
    assert_int_equal(read.type, expected->type);
    assert_int_equal(read.expires_ms, expected->expires_ms);
    assert_bytes_equal(read.value, expected->value);
    assert_bytes_equal(read.generation, expected->generation);
    assert_int_equal(read.count, expected->count);
    assert_int_equal(read.fields_end_ms, expected->fields_end_ms);
    for (uint64_t i = 0; expected->generation.size == 0 && i < read.count; i++) {
        assert_bytes_equal(read.fields[i].key, expected->fields[i].key);
        assert_bytes_equal(read.fields[i].value, expected->fields[i].value);
        assert_int_equal(read.fields[i].expires_ms, expected->fields[i].expires_ms);
    }
    reply.stored.bytes.size--;
    assert_int_equal(key_head_read_reply(&from, &reply, &read), DAMAGED);
    mem_free(world.game->heads);
    world.game->heads = heads;
    names_free(names);
    buf_release(&encoded);
}

static struct key_head round_trip(const struct key_head *head, int64_t now_ms) {
    struct item item = key_head_item(head, &address, &world.arena);
    struct key_head read;
    for (uint32_t i = 1; i < item.count; i++)
        assert_true(bytes_compare(item.pairs[i - 1].name, item.pairs[i].name) < 0);
    assert_ok(key_head_read(&item, now_ms, (struct scope){&world.arena, &world.failure}, &read),
              world.failure);
    check_encoded(&item, now_ms, &read);
    return read;
}

static void strings_come_back(void **state) {
    (void)state;
    const struct bytes values[] = {BYTES(""), BYTES("text"), BYTES("\xff\x00z")};
    for (size_t i = 0; i < 3; i++) {
        struct key_head head = {.type = KEY_STRING, .value = values[i], .expires_ms = 5000};
        struct key_head read = round_trip(&head, 4999);
        assert_int_equal(read.type, KEY_STRING);
        assert_bytes_equal(read.value, values[i]);
        assert_int_equal(read.expires_ms, 5000);
        assert_int_equal(round_trip(&head, 5000).type, KEY_NONE);
    }
    assert_int_equal(key_head_item(&(struct key_head){0}, &address, &world.arena).count, 0);
}

static void a_strange_item_is_no_key(void **state) {
    (void)state;
    struct record record = record_of(&world.arena);
    struct key_head head;
    struct scope in = {&world.arena, &world.failure};
    record_string(&record, GAME_PK, address.pk);
    record_string(&record, BYTES("type"), BYTES("list"));
    struct item item = record_item(&record);
    assert_int_equal(key_head_read(&item, 0, in, &head), INVALID);
    record_string(&record, BYTES("type"), BYTES("string"));
    record_int(&record, BYTES("value"), 7);
    item = record_item(&record);
    assert_int_equal(key_head_read(&item, 0, in, &head), INVALID);
}

/* Fields put and removed at random, against an array of values. */
static void fields_are_as_in_a_list(void **state) {
    (void)state;
    enum { FIELDS = 40, STEPS = 2000 };
    int values[FIELDS];
    struct random random;
    uint64_t count = 0;
    random_seed(&random, 7);
    for (int i = 0; i < FIELDS; i++)
        values[i] = -1;
    struct key_head head = {.type = KEY_HASH};
    for (int step = 0; step < STEPS; step++) {
        unsigned at = (unsigned)random_below(&random, FIELDS);
        struct bytes key = arena_printf(&world.arena, "f%u", at);
        if (random_below(&random, 3) != 0) {
            struct key_field field = {key, arena_printf(&world.arena, "%d", step), 0};
            assert_int_equal(key_head_put(&head, &field, &world.arena), values[at] < 0);
            count += values[at] < 0;
            values[at] = step;
        } else {
            bool removed = key_head_remove(&head, key);
            assert_int_equal(removed, values[at] >= 0);
            count -= values[at] >= 0;
            values[at] = -1;
            assert_int_equal(head.type, removed && count == 0 ? KEY_NONE : KEY_HASH);
        }
        head.type = KEY_HASH;
        assert_int_equal(head.count, count);
    }
    struct key_head read = round_trip(&head, 0);
    for (unsigned i = 0; i < FIELDS; i++) {
        const struct key_field *field = key_head_find(&read, arena_printf(&world.arena, "f%u", i));
        assert_int_equal(field != NULL, values[i] >= 0);
        if (field != NULL)
            assert_bytes_equal(field->value, arena_printf(&world.arena, "%d", values[i]));
    }
}

static void fields_expire_one_by_one(void **state) {
    (void)state;
    struct key_head head = {.type = KEY_HASH};
    key_head_put(&head, &(struct key_field){BYTES("a"), BYTES("1"), 100}, &world.arena);
    key_head_put(&head, &(struct key_field){BYTES("b"), BYTES("2"), 0}, &world.arena);
    assert_int_equal(round_trip(&head, 99).count, 2);
    struct key_head later = round_trip(&head, 100);
    assert_int_equal(later.count, 1);
    assert_null(key_head_find(&later, BYTES("a")));
    key_head_remove(&head, BYTES("b"));
    assert_int_equal(round_trip(&head, 100).type, KEY_NONE);
}

static void small_has_a_bound(void **state) {
    (void)state;
    struct key_head head = {.type = KEY_SET};
    for (unsigned i = 0; i < KEY_INLINE_FIELDS; i++)
        key_head_put(&head, &(struct key_field){.key = arena_printf(&world.arena, "%u", i)},
                     &world.arena);
    assert_true(key_head_is_small(&head));
    assert_int_equal(round_trip(&head, 0).count, KEY_INLINE_FIELDS);
    key_head_put(&head, &(struct key_field){.key = BYTES("more")}, &world.arena);
    assert_false(key_head_is_small(&head));
}

static void write_actions(struct action *actions, size_t count) {
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = &world.arena,
                            .actions = actions,
                            .action_count = count,
                            .all_or_nothing = true};
    assert_ok(game_wait(world.game, &change), change.failure);
}

static size_t count_items(void) {
    struct key_generation of = {world.game, &address, BYTES("0123456789abcdef")};
    struct key_field_page page = {.limit = 1000};
    assert_ok(key_fields_page(&of, (struct scope){&world.arena, &world.failure}, &page),
              world.failure);
    return page.count;
}

/* Housekeeping removes a large key that has expired, and then its fields. */
static void a_large_key_expires_with_its_fields(void **state) {
    (void)state;
    enum { FIELDS = 30 };
    struct action actions[FIELDS + 1];
    struct key_generation of = {world.game, &address, BYTES("0123456789abcdef")};
    struct key_head head = {.type = KEY_HASH,
                            .count = FIELDS,
                            .generation = of.name,
                            .expires_ms = clock_now_ms() + 3600000};
    uint64_t keys;
    for (unsigned i = 0; i < FIELDS; i++)
        actions[i] = key_field_put_action(
            &of, &(struct key_field){arena_printf(&world.arena, "f%u", i), BYTES("v"), 0},
            &world.arena);
    actions[FIELDS] = (struct action){.kind = ACTION_PUT,
                                      .table = world.game->table,
                                      .item = key_head_item(&head, &address, &world.arena)};
    write_actions(actions, FIELDS + 1);
    run_once(&world);
    assert_int_equal(count_items(), FIELDS);
    head.expires_ms = clock_now_ms() - 1;
    actions[0] = (struct action){.kind = ACTION_PUT,
                                 .table = world.game->table,
                                 .item = key_head_item(&head, &address, &world.arena)};
    write_actions(actions, 1);
    run_once(&world);
    assert_int_equal(count_items(), 0);
    struct scope in = {&world.arena, &world.failure};
    assert_ok(key_list_count(world.game, 0, in, &keys), world.failure);
    assert_int_equal(keys, 0);
    bool more = true;
    assert_ok(key_garbage_step(world.game, in, &more), world.failure);
    assert_false(more);
}

static void keys_are_listed_by_database(void **state) {
    (void)state;
    struct scope in = {&world.arena, &world.failure};
    struct key_list list;
    for (unsigned i = 0; i < 5; i++) {
        struct key_address at;
        struct key_head head = {.type = KEY_STRING, .value = BYTES("v")};
        char name[8];
        snprintf(name, sizeof(name), "k%u", i);
        assert_ok(key_address_of(i == 4 ? 1 : 0, bytes_str(name), in, &at), world.failure);
        struct action action = {.kind = ACTION_PUT,
                                .table = world.game->table,
                                .item = key_head_item(&head, &at, &world.arena)};
        write_actions(&action, 1);
    }
    assert_ok(key_list(world.game, &(struct key_list_range){.limit = 3}, in, &list), world.failure);
    assert_int_equal(list.count, 3);
    assert_true(list.more);
    struct key_list_range next = {.after = list.last, .limit = 3};
    assert_ok(key_list(world.game, &next, in, &list), world.failure);
    assert_int_equal(list.count, 1);
    assert_bytes_equal(list.names[0], BYTES("k3"));
    assert_ok(key_list(world.game, &(struct key_list_range){.db = 1, .limit = 3}, in, &list),
              world.failure);
    assert_int_equal(list.count, 1);
    assert_bytes_equal(list.names[0], BYTES("k4"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(strings_come_back),           TEST(a_strange_item_is_no_key),
        TEST(fields_are_as_in_a_list),     TEST(fields_expire_one_by_one),
        TEST(small_has_a_bound),           TEST(a_large_key_expires_with_its_fields),
        TEST(keys_are_listed_by_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

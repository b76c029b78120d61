/* What the tests of the embedded engine share: an engine in memory or in a folder, changes that
 * are waited for, items from text, and a check that everything derived agrees with the items. */
#ifndef GT_TEST_ENGINE_H
#define GT_TEST_ENGINE_H

#include "base/mem.h"
#include "table/change.h"
#include "table/local/covering.h"
#include "test.h"
#include "value/number.h"

#include <semaphore.h>
#include <unistd.h>

static inline struct engine *engine_open(const struct local_settings *settings) {
    struct arena arena;
    struct failure failure = {0};
    struct engine *engine = NULL;
    arena_init(&arena);
    enum status status = local_open(settings, (struct scope){&arena, &failure}, &engine);
    if (status != OK)
        print_message("%s: %.*s\n", status_name(status), BYTES_ARG(failure.text));
    assert_int_equal(status, OK);
    arena_release(&arena);
    return engine;
}

static inline struct engine *engine_open_memory(void) {
    struct local_settings settings = {.store.memory = true, .threads = 1};
    return engine_open(&settings);
}

static inline struct local *local_of(struct engine *engine) {
    return (struct local *)engine;
}

/* An assertion for threads that cmocka did not start: it cannot jump out of those. */
#define require(truth)                                                              \
    do {                                                                            \
        if (!(truth)) {                                                             \
            print_message("%s:%d: %s does not hold\n", __FILE__, __LINE__, #truth); \
            abort();                                                                \
        }                                                                           \
    } while (0)

/* --- changes --- */

static inline void engine_done(struct change *change) {
    sem_post(change->user);
}

/* Submits and waits. */
static inline enum status engine_do(struct engine *engine, struct change *change) {
    sem_t done;
    sem_init(&done, 0, 0);
    change->done = engine_done;
    change->user = &done;
    engine_submit(engine, change);
    while (sem_wait(&done) != 0)
        ;
    sem_destroy(&done);
    return change->failure.status;
}

#define assert_status(change, want)                                                    \
    do {                                                                               \
        if ((change)->failure.status != (want))                                        \
            print_message("%s, not %s: %.*s\n", status_name((change)->failure.status), \
                          status_name(want), BYTES_ARG((change)->failure.text));       \
        assert_int_equal((change)->failure.status, want);                              \
    } while (0)

#define assert_text(bytes, want) assert_bytes_equal(bytes, bytes_str(want))

/* Keeps the writer busy until it is let go: what is submitted meanwhile waits. */
struct stall {
    struct change change;
    struct arena arena;
    sem_t stalled, go, gone;
};

static inline void stall_done(struct change *change) {
    struct stall *stall = change->user;
    sem_post(&stall->stalled);
    sem_wait(&stall->go);
    sem_post(&stall->gone);
}

static inline void stall_start(struct stall *stall, struct engine *engine) {
    *stall = (struct stall){0};
    sem_init(&stall->stalled, 0, 0);
    sem_init(&stall->go, 0, 0);
    sem_init(&stall->gone, 0, 0);
    stall->change = (struct change){
        .kind = CHANGE_WRITE, .arena = &stall->arena, .done = stall_done, .user = stall};
    engine_submit(engine, &stall->change);
    sem_wait(&stall->stalled);
}

static inline void stall_end(struct stall *stall) {
    sem_post(&stall->go);
    sem_wait(&stall->gone);
    arena_release(&stall->arena);
}

/* --- items --- */

/* "pk=S:a", "n=N:12": each argument an attribute of type S, N or B, the last NULL. */
static inline struct item item_of(struct arena *arena, ...) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 16);
    uint32_t count = 0;
    va_list args;
    va_start(args, arena);
    for (const char *text; (text = va_arg(args, const char *)) != NULL;) {
        const char *equal = strchr(text, '=');
        struct bytes value = bytes_str(equal + 3);
        struct pair *pair = &pairs[count++];
        pair->name = bytes_of(text, (size_t)(equal - text));
        pair->value.type = value_type_named(bytes_of(equal + 1, 1));
        pair->value.bytes = value;
        if (pair->value.type == VALUE_N)
            assert_int_equal(number_read(arena, value, &pair->value.bytes), NUMBER_OK);
    }
    va_end(args);
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

static inline struct expr_source source_of(struct arena *arena, const char *what, const char *text,
                                           const struct item *values) {
    struct expr_env *env = ARENA_NEW(arena, struct expr_env);
    env->value_count = values == NULL ? 0 : values->count;
    env->values = ARENA_ARRAY(arena, struct expr_value, env->value_count + 1);
    for (size_t i = 0; i < env->value_count; i++)
        env->values[i] = (struct expr_value){values->pairs[i].name, values->pairs[i].value, false};
    return (struct expr_source){what, bytes_str(text), env, arena,
                                ARENA_NEW(arena, struct failure)};
}

static inline struct condition *condition_of(struct arena *arena, const char *text,
                                             const struct item *values) {
    struct expr_source source = source_of(arena, "ConditionExpression", text, values);
    struct condition *condition = NULL;
    assert_int_equal(condition_parse(&source, &condition), OK);
    return condition;
}

static inline struct update *update_of(struct arena *arena, const char *text,
                                       const struct item *values) {
    struct expr_source source = source_of(arena, "UpdateExpression", text, values);
    struct update *update = NULL;
    assert_int_equal(update_parse(&source, &update), OK);
    return update;
}

static inline struct change write_of(struct arena *arena, struct action *actions, size_t count) {
    return (struct change){
        .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .action_count = count};
}

static inline void put_item(struct engine *engine, struct arena *arena, const char *table,
                            struct item item) {
    struct action action = {.kind = ACTION_PUT, .table = bytes_str(table), .item = item};
    struct change change = write_of(arena, &action, 1);
    engine_do(engine, &change);
    assert_status(&change, OK);
}

static inline bool get_item(struct engine *engine, struct arena *arena, const char *table,
                            struct item key, struct item *out) {
    struct get_request request = {.table = bytes_str(table), .key = key, .consistent = true};
    struct get_reply reply;
    struct failure failure;
    assert_int_equal(engine_get(engine, &request, (struct scope){arena, &failure}, &reply), OK);
    *out = reply.item;
    return reply.found;
}

/* --- tables --- */

/* Keys pk (S) and sk (S); a global index "byscore" on board (S) and score (N) that shows all, a
 * global index "byname" on nick (S) that shows keys. */
static inline struct table_schema game_schema(struct arena *arena, const char *name) {
    struct key_part *parts = ARENA_ARRAY(arena, struct key_part, 5);
    parts[0] = (struct key_part){BYTES("pk"), VALUE_S};
    parts[1] = (struct key_part){BYTES("sk"), VALUE_S};
    parts[2] = (struct key_part){BYTES("board"), VALUE_S};
    parts[3] = (struct key_part){BYTES("score"), VALUE_N};
    parts[4] = (struct key_part){BYTES("nick"), VALUE_S};
    struct index_schema *indexes = ARENA_ARRAY(arena, struct index_schema, 2);
    indexes[0] = (struct index_schema){
        .name = BYTES("byscore"),
        .keys = {.parts = {parts[2], parts[3]}, .partition_count = 1, .sort_count = 1},
        .projected = PROJECTED_ALL};
    indexes[1] = (struct index_schema){.name = BYTES("byname"),
                                       .keys = {.parts = {parts[4]}, .partition_count = 1},
                                       .projected = PROJECTED_KEYS};
    return (struct table_schema){
        .name = bytes_str(name),
        .attributes = parts,
        .attribute_count = 5,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = indexes,
        .index_count = 2,
        .billing = BILLING_ON_DEMAND};
}

/* The same without indexes. */
static inline struct table_schema plain_schema(struct arena *arena, const char *name) {
    struct table_schema schema = game_schema(arena, name);
    schema.attribute_count = 2;
    schema.index_count = 0;
    return schema;
}

static inline void create_table(struct engine *engine, struct arena *arena,
                                const struct table_schema *schema) {
    struct change change = {.kind = CHANGE_CREATE_TABLE, .arena = arena, .schema = schema};
    engine_do(engine, &change);
    assert_status(&change, OK);
}

/* --- checking --- */

/* Walks all items and compares with each index, the counts in memory and the counts stored. The
 * engine must be at rest. */
/* The finder knows the entry's middle. */
static inline void check_found(const struct index *index, struct bytes entry) {
    size_t head = keys_entry_span(index, entry, 0);
    size_t tail = keys_entry_span(index, entry, index->schema->keys.sort_count);
    struct entry_hash_walk walk;
    bool found = false;
    entry_hash_seek(&walk, index->entry_hash,
                    entry_hash_of(bytes_of(entry.data, head), bytes_skip(entry, tail)));
    while (!found && entry_hash_next(&walk))
        found = !walk.has_middle || bytes_equal(bytes_of(walk.middle, walk.size),
                                                bytes_of(entry.data + head, tail - head));
    assert_true(found);
}

/* The covering index says of the item what it is, if it has no more than the entry, and else
 * nothing.
 */
static inline void check_covering(const struct index *index, struct bytes key,
                                  const struct item *item, struct arena *arena) {
    struct covering_lookup lookup = {.index = index, .key = key, .arena = arena};
    struct item found;
    covering_find(&lookup, 1);
    assert_int_equal(lookup.entry.size != 0, covering_covers(index, item));
    if (lookup.entry.size == 0)
        return;
    assert_int_equal(covering_item(index, lookup.entry, arena, &found), OK);
    assert_true(item_equal(&found, item));
}

static inline void check_table(struct local *local, const struct table *table) {
    const struct table_schema *schema = table->schema;
    struct arena arena;
    struct buf low = {0}, high = {0}, entry = {0};
    uint64_t count = 0, size = 0, entries[TREES_MAX] = {0}, sizes[TREES_MAX] = {0};
    struct index *trees[TREES_MAX];
    unsigned tree_total = table_trees(table, trees);
    arena_init(&arena);
    buf_u32(&low, table->id);
    buf_u32(&high, table->id + 1);
    struct store_range range = {
        .family = STORE_ITEMS, .low = buf_bytes(&low), .high = buf_bytes(&high)};
    struct store_iter *iter = store_iter_open(local->store, &range);
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter)) {
        struct item item;
        arena_reset(&arena);
        assert_int_equal(item_decode(store_iter_value(iter), local->names, &arena, &item), OK);
        count++;
        size += item_size(&item);
        assert_false(partition_filter_excludes(&table->partition_filter, store_iter_key(iter)));
        for (unsigned i = 0; i < tree_total; i++) {
            buf_clear(&entry);
            if (!keys_put_entry(&entry, schema, trees[i], &item))
                continue;
            assert_true(tree_has(trees[i]->tree, buf_bytes(&entry)));
            if (trees[i]->has_entry_hash)
                check_found(trees[i], buf_bytes(&entry));
            if (trees[i]->has_entry_hash)
                check_covering(trees[i], store_iter_key(iter), &item, &arena);
            entries[i]++;
            if (trees[i]->schema == NULL)
                continue;
            struct item shown = rules_project(schema, trees[i]->schema, &item, &arena);
            sizes[i] += item_size(&shown);
        }
    }
    assert_int_equal(store_iter_status(iter), OK);
    store_iter_close(iter);
    assert_int_equal(table->item_count, count);
    assert_int_equal(table->size, size);
    for (unsigned i = 0; i < tree_total; i++) {
        tree_check(trees[i]->tree);
        assert_int_equal(tree_count(trees[i]->tree), entries[i]);
        assert_int_equal(trees[i]->entry_hash != NULL, trees[i]->has_entry_hash);
        if (trees[i]->has_entry_hash) {
            entry_hash_check(trees[i]->entry_hash);
            assert_int_equal(entry_hash_count(trees[i]->entry_hash), entries[i]);
        }
        assert_int_equal(trees[i]->size, sizes[i]);
        assert_int_equal(trees[i]->status, PART_ACTIVE);
    }
    buf_release(&low);
    buf_release(&high);
    buf_release(&entry);
    arena_release(&arena);
}

static inline void check_engine(struct engine *engine) {
    struct local *local = local_of(engine);
    uint64_t memory = 0;
    size_t at = 0;
    pthread_rwlock_rdlock(&local->state_lock);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        const struct table *table = slot->value;
        check_table(local, table);
        struct index *trees[TREES_MAX];
        unsigned tree_total = table_trees(table, trees);
        for (unsigned i = 0; i < tree_total; i++)
            memory += index_memory(trees[i]);
    }
    assert_int_equal(atomic_load(&local->index_memory), memory);
    pthread_rwlock_unlock(&local->state_lock);
}

/* --- folders --- */

static inline char *folder_make(void) {
    const char *base = getenv("TMPDIR");
    char path[128];
    snprintf(path, sizeof(path), "%s/gt-engine-XXXXXX", base != NULL ? base : P_tmpdir);
    assert_non_null(mkdtemp(path));
    return strdup(path);
}

static inline void folder_remove(char *path) {
    char command[256];
    snprintf(command, sizeof(command), "rm -rf %s", path);
    assert_int_equal(system(command), 0);
    free(path);
}

#endif

/* A change before the writer has it: its tables found, its actions checked and encoded. On the
 * submitter's thread; on the writer's for what changed since, and for changes that decide there. */
#include "table/local/writer.h"

enum { KEY_USUAL = 256, ENCODED_USUAL = 2048 }; /* what is made without asking for memory */

static enum status check(struct change *change, struct action *action,
                         const struct table_schema *schema) {
    struct rules_context rules = action_rules(change, action, schema);
    enum status status = action->kind == ACTION_PUT ? rules_check_item(&rules, &action->item)
                                                    : rules_check_key(&rules, &action->item);
    if (status == OK && action->kind == ACTION_UPDATE && action->update != NULL)
        status = rules_check_update(&rules, action->update);
    return status == OK ? rules_check_paths(&rules, NULL, action->condition) : status;
}

struct bytes action_encode(struct local *local, const struct item *item, struct arena *arena) {
    uint8_t memory[ENCODED_USUAL];
    struct buf buf = buf_in(memory, sizeof(memory));
    item_encode(item, local->names, &buf);
    struct bytes encoded = arena_copy(arena, buf_bytes(&buf));
    buf_release(&buf);
    return encoded;
}

/* The attribute that items of a collection share: only tables with local indexes tell it. */
static struct bytes collection_key(struct change *change, const struct table_schema *schema) {
    for (uint32_t i = 0; i < schema->index_count; i++)
        if (schema->indexes[i].local)
            return arena_copy(change->arena, schema->keys.parts[0].name);
    return (struct bytes){0};
}

enum status action_prepare(struct local *local, struct change *change, struct action *action,
                           struct table *table, bool holds) {
    struct prepared *prepared = ARENA_NEW(change->arena, struct prepared);
    action->engine_data = prepared;
    prepared->table = table;
    prepared->holds = holds;
    prepared->schema = table->schema;
    action->collection_key = collection_key(change, prepared->schema);
    enum status status = check(change, action, prepared->schema);
    if (status != OK)
        return status;
    uint8_t memory[KEY_USUAL];
    struct buf key = buf_in(memory, sizeof(memory));
    keys_put_item(&key, table, prepared->schema, &action->item);
    prepared->key = arena_copy(change->arena, buf_bytes(&key));
    prepared->hash = local_hash(prepared->key);
    buf_release(&key);
    if (action->kind == ACTION_PUT) {
        prepared->new_size = item_size(&action->item);
        prepared->value = action_encode(local, &action->item, change->arena);
    }
    return OK;
}

static enum status refuse_repeat(struct change *change) {
    return failure_set(&change->failure, change->arena, INVALID,
                       change->all_or_nothing
                           ? "Transaction request cannot include multiple operations on one item"
                           : "Provided list of item keys contains duplicates");
}

/* The same item twice in one change has no order to be done in. */
static enum status check_repeats(struct change *change) {
    size_t room = 4;
    if (change->action_count < 2)
        return OK;
    while (room < change->action_count * 2)
        room *= 2;
    const struct prepared **seen = ARENA_ARRAY(change->arena, const struct prepared *, room);
    for (size_t i = 0; i < change->action_count; i++) {
        const struct prepared *prepared = change->actions[i].engine_data;
        size_t at = prepared->hash & (room - 1);
        for (; seen[at] != NULL; at = (at + 1) & (room - 1))
            if (bytes_equal(seen[at]->key, prepared->key))
                return refuse_repeat(change);
        seen[at] = prepared;
    }
    return OK;
}

static struct table *find_loading(struct local *local, struct change *change,
                                  struct action *action) {
    pthread_rwlock_rdlock(&local->moment);
    struct table *table = map_get(&local->tables, action->table);
    bool loading = table != NULL && table->loading;
    if (loading)
        table_ref(table);
    pthread_rwlock_unlock(&local->moment);
    if (!loading)
        failure_set(&action->failure, change->arena, NO_TABLE, "The table is not being loaded");
    return loading ? table : NULL;
}

/* Successive actions are usually on the same table: it is looked up and held once. */
static struct table *find(struct local *local, struct change *change, size_t i, bool *holds) {
    struct action *action = &change->actions[i];
    *holds = i == 0 || !bytes_equal(change->actions[i - 1].table, action->table);
    if (!*holds)
        return ((struct prepared *)change->actions[i - 1].engine_data)->table;
    if (!change->loading)
        return local_find(local, action->table, change->arena, &action->failure, NULL);
    return find_loading(local, change, action);
}

static enum status refuse(struct change *change, const struct action *action) {
    if (change->all_or_nothing && action->failure.status == INVALID)
        return failure_set(&change->failure, change->arena, CANCELLED,
                           "The transaction was cancelled");
    change->failure = action->failure;
    return change->failure.status;
}

enum status change_check_count(struct change *change) {
    if (change->action_count <= LIMIT_CHANGE_ACTIONS)
        return OK;
    return failure_set(&change->failure, change->arena, INVALID,
                       "A change can have at most %d actions", LIMIT_CHANGE_ACTIONS);
}

enum status change_prepare(struct local *local, struct change *change) {
    for (size_t i = 0; i < change->action_count; i++) {
        struct action *action = &change->actions[i];
        action->engine_data = NULL;
        action->failure = (struct failure){0};
        action->had_old = false;
        action->old = action->new = (struct item){0};
        action->usage = (struct usage){0};
        action->collection_key = (struct bytes){0};
        action->collection_size = 0;
    }
    for (size_t i = 0; i < change->action_count; i++) {
        struct action *action = &change->actions[i];
        bool holds;
        struct table *table = find(local, change, i, &holds);
        if (table == NULL || action_prepare(local, change, action, table, holds) != OK)
            return refuse(change, action);
    }
    return check_repeats(change);
}

void change_release(struct change *change) {
    if (change->kind != CHANGE_WRITE)
        return;
    for (size_t i = 0; i < change->action_count; i++) {
        struct prepared *prepared = change->actions[i].engine_data;
        if (prepared != NULL && prepared->holds)
            table_unref(prepared->table);
        if (prepared != NULL && prepared->before != NULL)
            table_unref(prepared->before);
        change->actions[i].engine_data = NULL;
    }
}

/* Admitting a change: its tables are found, its actions checked and encoded, before it is queued.
 * On the submitter's thread; on the writer's if a table was altered since, and for the actions that
 * a change's `prepare` makes. */
#include "table/local/writer.h"

enum { KEY_USUAL = 256, ENCODED_USUAL = 2048 }; /* bytes that are made on the stack */

static enum status check_action(struct change *change, struct action *action,
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
    size_t size = item_size(item);
    if (size > ENCODED_USUAL)
        buf_reserve(&buf, size + size / 8);
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

enum status action_admit(struct local *local, struct change *change, struct action *action,
                         struct table *table) {
    struct action_state *state = ARENA_NEW(change->arena, struct action_state);
    action->engine_data = state;
    state->table = table;
    state->schema = table->schema;
    state->uncovered = action->uncovered;
    action->collection_key = collection_key(change, state->schema);
    enum status status = check_action(change, action, state->schema);
    if (status != OK)
        return status;
    uint8_t memory[KEY_USUAL];
    struct buf key = buf_in(memory, sizeof(memory));
    keys_put_item(&key, table, state->schema, &action->item);
    state->key = arena_copy(change->arena, buf_bytes(&key));
    state->hash = local_hash(state->key);
    buf_release(&key);
    if (action->kind == ACTION_PUT) {
        state->new_size = item_size(&action->item);
        state->value = action_encode(local, &action->item, change->arena);
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
    const struct action_state **seen =
        ARENA_ARRAY(change->arena, const struct action_state *, room);
    for (size_t i = 0; i < change->action_count; i++) {
        const struct action_state *state = change->actions[i].engine_data;
        size_t at = state->hash & (room - 1);
        for (; seen[at] != NULL; at = (at + 1) & (room - 1))
            if (bytes_equal(seen[at]->key, state->key))
                return refuse_repeat(change);
        seen[at] = state;
    }
    return OK;
}

/* How many bytes the change moves, as far as is known: what it puts, and the items it meets. */
static size_t known_bytes(const struct local *local, const struct change *change) {
    size_t bytes = 0;
    for (size_t i = 0; i < change->action_count; i++)
        bytes += action_bytes(local, &change->actions[i]);
    return bytes;
}

size_t action_bytes(const struct local *local, const struct action *action) {
    const struct action_state *state = action->engine_data;
    return state->value.size + large_items_size(&local->large_items, state->hash);
}

static struct table *find_loading(struct local *local, struct change *change,
                                  struct action *action) {
    pthread_rwlock_rdlock(&local->tables_lock);
    struct table *table = map_get(&local->tables, action->table);
    bool loading = table != NULL && table->loading;
    if (loading)
        table_ref(table);
    pthread_rwlock_unlock(&local->tables_lock);
    if (!loading)
        failure_set(&action->failure, change->arena, NO_TABLE, "The table is not being loaded");
    return loading ? table : NULL;
}

/* Successive actions are usually on the same table: it is looked up and held once. */
static struct table *find_table(struct local *local, struct change *change, size_t i, bool *holds) {
    struct action *action = &change->actions[i];
    *holds = i == 0 || !bytes_equal(change->actions[i - 1].table, action->table);
    if (!*holds)
        return ((struct action_state *)change->actions[i - 1].engine_data)->table;
    if (!change->loading)
        return local_find(local, action->table, (struct scope){change->arena, &action->failure});
    return find_loading(local, change, action);
}

static enum status refuse_change(struct change *change, const struct action *action) {
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

enum status change_admit(struct local *local, struct change *change) {
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
        struct table *table = find_table(local, change, i, &holds);
        if (table == NULL)
            return refuse_change(change, action);
        enum status status = action_admit(local, change, action, table);
        ((struct action_state *)action->engine_data)->holds = holds;
        if (status != OK)
            return refuse_change(change, action);
    }
    change->all_bytes = change->bytes + known_bytes(local, change);
    return check_repeats(change);
}

void change_release(struct change *change) {
    if (change->kind != CHANGE_WRITE)
        return;
    for (size_t i = 0; i < change->action_count; i++) {
        struct action_state *state = change->actions[i].engine_data;
        if (state != NULL && state->holds)
            table_unref(state->table);
        if (state != NULL && state->before != NULL)
            table_unref(state->before);
        change->actions[i].engine_data = NULL;
    }
}

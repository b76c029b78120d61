/* One action: prepared on the submitter's thread, decided on the writer's. */
#include "table/local/writer.h"

/* --- preparing --- */

static struct rules_context rules_of(struct change *change, struct action *action,
                                     const struct table_schema *schema) {
    return (struct rules_context){
        .schema = schema, .arena = change->arena, .failure = &action->failure};
}

static enum status check(struct change *change, struct action *action,
                         const struct table_schema *schema) {
    struct rules_context rules = rules_of(change, action, schema);
    enum status status = action->kind == ACTION_PUT ? rules_check_item(&rules, &action->item)
                                                    : rules_check_key(&rules, &action->item);
    if (status == OK && action->kind == ACTION_UPDATE && action->update != NULL)
        status = rules_check_update(&rules, action->update);
    return status == OK ? rules_check_paths(&rules, NULL, action->condition) : status;
}

static struct bytes encode(struct local *local, struct change *change, const struct item *item,
                           size_t size) {
    struct buf buf = {0};
    buf_reserve(&buf, size + 64);
    item_encode(item, local->names, &buf);
    struct bytes encoded = arena_copy(change->arena, buf_bytes(&buf));
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
                           struct table *table) {
    struct prepared *prepared = ARENA_NEW(change->arena, struct prepared);
    action->engine_data = prepared;
    prepared->table = table;
    prepared->schema = table->schema;
    action->collection_key = collection_key(change, prepared->schema);
    enum status status = check(change, action, prepared->schema);
    if (status != OK)
        return status;
    struct buf key = {0};
    keys_put_item(&key, table, prepared->schema, &action->item);
    prepared->key = arena_copy(change->arena, buf_bytes(&key));
    buf_release(&key);
    if (action->kind == ACTION_PUT) {
        prepared->new_size = item_size(&action->item);
        prepared->value = encode(local, change, &action->item, prepared->new_size);
    }
    return OK;
}

/* The same item twice in one change has no order to be done in. */
static enum status check_repeats(struct change *change) {
    for (size_t i = 1; i < change->action_count; i++) {
        const struct prepared *a = change->actions[i].engine_data;
        for (size_t j = 0; j < i; j++) {
            const struct prepared *b = change->actions[j].engine_data;
            if (bytes_equal(a->key, b->key))
                return failure_set(
                    &change->failure, change->arena, INVALID,
                    change->all_or_nothing
                        ? "Transaction request cannot include multiple operations on one item"
                        : "Provided list of item keys contains duplicates");
        }
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

/* Successive actions are usually on the same table: it is looked up once. */
static struct table *find(struct local *local, struct change *change, size_t i) {
    struct action *action = &change->actions[i];
    if (i > 0 && bytes_equal(change->actions[i - 1].table, action->table)) {
        struct prepared *before = change->actions[i - 1].engine_data;
        table_ref(before->table);
        return before->table;
    }
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

enum status change_prepare(struct local *local, struct change *change) {
    change->repeated = false;
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
        struct table *table = find(local, change, i);
        if (table == NULL || action_prepare(local, change, action, table) != OK)
            return refuse(change, action);
    }
    return check_repeats(change);
}

void change_release(struct change *change) {
    if (change->kind != CHANGE_WRITE)
        return;
    for (size_t i = 0; i < change->action_count; i++) {
        struct prepared *prepared = change->actions[i].engine_data;
        if (prepared != NULL)
            table_unref(prepared->table);
        change->actions[i].engine_data = NULL;
    }
}

/* --- deciding --- */

/* What was prepared for a table that has since changed, or gone and come again, is prepared
 * anew. */
static enum status refresh(struct group *group, struct change *change, struct action *action) {
    struct prepared *prepared = action->engine_data;
    struct local *local = group->local;
    if (!atomic_load(&prepared->table->gone) && prepared->schema == prepared->table->schema)
        return OK;
    struct table *table = map_get(&local->tables, action->table);
    if (table == NULL || table->loading != change->loading)
        return failure_set(&action->failure, change->arena, NO_TABLE,
                           "Requested resource not found");
    table_ref(table);
    table_unref(prepared->table);
    return action_prepare(local, change, action, table);
}

static enum status read_old(struct group *group, struct change *change, struct action *action) {
    struct prepared *prepared = action->engine_data;
    enum status status = group_read(group, prepared->key, change->arena, &prepared->stored);
    if (status == NOT_FOUND)
        return OK;
    if (status == OK)
        status = item_decode(prepared->stored, group->local->names, change->arena, &action->old);
    if (status != OK)
        return failure_set(&action->failure, change->arena, status, "The item cannot be read.");
    action->had_old = true;
    prepared->old_size = item_size(&action->old);
    return OK;
}

static enum status make_updated(struct group *group, struct change *change, struct action *action) {
    struct prepared *prepared = action->engine_data;
    struct rules_context rules = rules_of(change, action, prepared->schema);
    const struct item *base = action->had_old ? &action->old : &action->item;
    action->new = *base;
    enum status status = OK;
    if (action->update != NULL)
        status = update_apply(action->update, base, change->arena, &action->failure, &action->new);
    if (status == OK)
        status = rules_check_updated(&rules, &action->new);
    if (status != OK)
        return status;
    if (!action->had_old && action->update != NULL && !update_creates(action->update)) {
        action->new = (struct item){0};
        return OK;
    }
    prepared->new_size = item_size(&action->new);
    prepared->value = encode(group->local, change, &action->new, prepared->new_size);
    return OK;
}

static enum status make_new(struct group *group, struct change *change, struct action *action) {
    struct prepared *prepared = action->engine_data;
    switch (action->kind) {
    case ACTION_PUT:
        action->new = action->item;
        return OK;
    case ACTION_UPDATE:
        return make_updated(group, change, action);
    case ACTION_DELETE:
        return OK;
    case ACTION_CHECK:
        prepared->new_size = prepared->old_size;
        return OK;
    case ACTION_COMPUTE:
        return failure_set(&action->failure, change->arena, UNSUPPORTED, "Not yet");
    }
    return OK;
}

/* --- indexes --- */

struct plan {
    struct group *group;
    struct change *change;
    struct action *action;
    struct prepared *prepared;
};

static void use_index(const struct plan *plan, const struct index *index, double units) {
    struct usage *usage = &plan->action->usage;
    if (usage->indexes == NULL)
        usage->indexes = ARENA_ARRAY(plan->change->arena, struct index_usage,
                                     plan->prepared->table->index_count);
    usage->indexes[usage->index_count++] = (struct index_usage){
        arena_copy(plan->change->arena, index->schema->name), index->schema->local, units};
}

static bool memory_full(const struct local *local) {
    return atomic_load_explicit(&local->index_memory, memory_order_relaxed) >=
           local->settings.index_memory;
}

static void add_move(const struct plan *plan, struct index *index, bool had, bool has,
                     int64_t size_change) {
    struct group *group = plan->group;
    struct move *move = ARENA_NEW(&group->arena, struct move);
    move->index = index;
    move->size_change = size_change;
    if (had)
        move->del = arena_copy(&group->arena, buf_bytes(&group->before));
    if (has)
        move->put = arena_copy(&group->arena, buf_bytes(&group->after));
    move->next = plan->prepared->moves;
    plan->prepared->moves = move;
}

/* What the action does to one index: an entry comes, goes, moves (which costs a deletion and an
 * insertion), or stays and shows something else. */
static enum status plan_index(const struct plan *plan, struct index *index, bool stays) {
    struct group *group = plan->group;
    struct action *action = plan->action;
    const struct table_schema *schema = plan->prepared->schema;
    struct arena *arena = plan->change->arena;
    buf_clear(&group->before);
    buf_clear(&group->after);
    bool had = action->had_old && keys_put_entry(&group->before, schema, index, &action->old);
    bool has = stays && keys_put_entry(&group->after, schema, index, &action->new);
    if (!had && !has)
        return OK;
    struct item none = {0};
    struct item old = had ? rules_project(schema, index->schema, &action->old, arena) : none;
    struct item new = has ? rules_project(schema, index->schema, &action->new, arena) : none;
    size_t old_size = had ? item_size(&old) : 0, new_size = has ? item_size(&new) : 0;
    bool same = had && has && bytes_equal(buf_bytes(&group->before), buf_bytes(&group->after));
    if (same && item_equal(&old, &new))
        return OK;
    if (has && !had && memory_full(group->local))
        return failure_set(&action->failure, arena, MEMORY_FULL,
                           "The memory for indexes is full: nothing can be added to index %.*s",
                           BYTES_ARG(index->schema->name));
    add_move(plan, index, had && !same, has && !same, (int64_t)new_size - (int64_t)old_size);
    double units = same ? rules_write_units(old_size, new_size)
                        : (had ? rules_write_units(old_size, 0) : 0) +
                              (has ? rules_write_units(0, new_size) : 0);
    use_index(plan, index, units);
    return OK;
}

/* The same for the tree of times, which nobody pays for. */
static enum status plan_expiry(const struct plan *plan, struct index *index, bool stays) {
    struct group *group = plan->group;
    const struct action *action = plan->action;
    const struct table_schema *schema = plan->prepared->schema;
    buf_clear(&group->before);
    buf_clear(&group->after);
    bool had = action->had_old && keys_put_entry(&group->before, schema, index, &action->old);
    bool has = stays && keys_put_entry(&group->after, schema, index, &action->new);
    if (bytes_equal(buf_bytes(&group->before), buf_bytes(&group->after)))
        return OK;
    if (has && !had && memory_full(group->local))
        return failure_set(&plan->action->failure, plan->change->arena, MEMORY_FULL,
                           "The memory for indexes is full: no item that expires can be added");
    add_move(plan, index, had, has, 0);
    return OK;
}

static enum status plan_indexes(struct group *group, struct change *change, struct action *action) {
    struct plan plan = {group, change, action, action->engine_data};
    struct table *table = plan.prepared->table;
    bool stays = action->kind != ACTION_DELETE;
    for (unsigned i = 0; i < table->index_count; i++) {
        enum status status = plan_index(&plan, table->indexes[i], stays);
        if (status != OK)
            return status;
    }
    return table->expiry != NULL ? plan_expiry(&plan, table->expiry, stays) : OK;
}

/* Whether the action leaves something else than it found. */
static bool is_change(const struct action *action, struct bytes stored) {
    const struct prepared *prepared = action->engine_data;
    if (action->kind == ACTION_CHECK)
        return false;
    if (action->kind == ACTION_DELETE)
        return action->had_old;
    if (action->new.count == 0) /* an update that took away from nothing */
        return false;
    return !action->had_old || !bytes_equal(stored, prepared->value);
}

enum status action_decide(struct group *group, struct change *change, struct action *action) {
    enum status status = refresh(group, change, action);
    if (status != OK)
        return status;
    status = read_old(group, change, action);
    if (status != OK)
        return status;
    struct prepared *prepared = action->engine_data;
    action->usage.table = rules_write_units(prepared->old_size, prepared->new_size);
    if (action->condition != NULL &&
        !condition_holds(action->condition, &action->old, change->arena))
        return failure_set(&action->failure, change->arena, CONDITION_FAILED,
                           "The conditional request failed");
    status = make_new(group, change, action);
    if (status != OK)
        return status;
    action->usage.table = rules_write_units(prepared->old_size, prepared->new_size);
    prepared->changes = is_change(action, prepared->stored);
    return prepared->changes ? plan_indexes(group, change, action) : OK;
}

void action_look(struct group *group, struct change *change, struct action *action) {
    if (refresh(group, change, action) == OK && read_old(group, change, action) == OK) {
        const struct prepared *prepared = action->engine_data;
        action->usage.table = rules_read_units(prepared->old_size, true);
    }
    action->failure = (struct failure){0};
}

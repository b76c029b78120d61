/* Evaluating one action, on the writer's thread: the item before, the condition, the item after. */
#include "table/local/load_filter.h"
#include "table/local/writer.h"
#include "value/name_order.h"

/* Items of a table with a covering index may not be in the cache: which are is known when they were
 * looked up ahead. */
void action_prefetch(struct local *local, const struct action *action) {
    const struct action_state *state = action->engine_data;
    if (state->uncovered || covering_index(state->table) == NULL)
        cache_prefetch(local->cache, state->hash);
    partition_filter_prefetch(&state->table->partition_filter, state->key);
    load_filter_prefetch(local->writer->load_filter, state->hash);
}

void action_prefetch_item(struct local *local, const struct action *action) {
    const struct action_state *state = action->engine_data;
    bool uncovered = state->looked_at == local->writer->fills && state->entry.size == 0;
    if (uncovered || state->uncovered || covering_index(state->table) == NULL)
        cache_prefetch_entry(local->cache, state->hash);
}

enum { ENCODED_USUAL = 512 }; /* bytes of most covered items; longer ones take more memory */

void action_look_ahead(struct local *local, const struct covering_batch *batch) {
    struct covering_lookup lookups[COVERING_MANY];
    struct action_state *found[COVERING_MANY];
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct action_state *state = batch->states[i];
        state->looked_at = local->writer->fills;
        state->entry = (struct bytes){0};
        state->index = covering_index(state->table);
        if (state->index == NULL)
            continue;
        lookups[count] = (struct covering_lookup){
            .index = state->index, .key = state->key, .arena = batch->arenas[i]};
        found[count++] = state;
    }
    if (count == 0)
        return;
    pthread_rwlock_rdlock(&local->state_lock);
    covering_find(lookups, count);
    pthread_rwlock_unlock(&local->state_lock);
    for (size_t i = 0; i < count; i++) {
        found[i]->entry = lookups[i].entry;
        if (lookups[i].entry.size == 0)
            cache_prefetch(local->cache, found[i]->hash);
    }
}

/* A covered item as it is stored, in the arena. */
static struct bytes encode_covered(struct local *local, struct index *index,
                                   const struct item *item, struct arena *arena) {
    uint8_t memory[ENCODED_USUAL];
    struct buf buf = buf_in(memory, sizeof(memory));
    covering_encode(local, index, item, &buf);
    struct bytes encoded = arena_copy(arena, buf_bytes(&buf));
    buf_release(&buf);
    return encoded;
}

struct bytes action_stored(struct local *local, const struct action *action, struct arena *arena) {
    const struct action_state *state = action->engine_data;
    return state->entry.size == 0 ? state->stored
                                  : encode_covered(local, state->index, &action->old, arena);
}

/* Admits an action again if its table was altered, or deleted and made again, since it was
 * admitted. */
static enum status admit_again(struct commit_group *group, struct change *change,
                               struct action *action) {
    struct action_state *state = action->engine_data;
    struct local *local = group->local;
    if (!atomic_load(&state->table->gone) && state->schema == state->table->schema)
        return OK;
    struct table *table = map_get(&local->tables, action->table);
    if (table == NULL || table->loading != change->loading)
        return failure_set(&action->failure, change->arena, NO_TABLE,
                           "Requested resource not found");
    table_ref(table);
    struct table *before = state->holds ? state->table : NULL;
    enum status status = action_admit(local, change, action, table);
    state = action->engine_data;
    state->holds = true;
    state->before = before;
    return status;
}

static enum status read_old(struct commit_group *group, struct change *change,
                            struct action *action) {
    struct action_state *state = action->engine_data;
    enum status status = commit_group_read(group, state, change->arena, &state->stored);
    if (status == NOT_FOUND)
        return OK;
    if (status == OK)
        status = state->entry.size != 0
                     ? covering_item(state->index, state->entry, change->arena, &action->old)
                     : item_decode(state->stored, group->local->names, change->arena, &action->old);
    if (status != OK)
        return failure_set(&action->failure, change->arena, status, "The item cannot be read.");
    action->had_old = true;
    state->old_size = item_size(&action->old);
    return OK;
}

static enum status make_updated(struct commit_group *group, struct change *change,
                                struct action *action) {
    struct action_state *state = action->engine_data;
    struct rules_context rules = action_rules(change, action, state->schema);
    const struct item *base = action->had_old ? &action->old : &action->item;
    bool creates = action->had_old || action->update == NULL || update_creates(action->update);
    action->new = *base;
    enum status status = OK;
    /* what only takes away takes nothing from an item that is not there, whatever its paths */
    if (action->update != NULL && creates)
        status = update_apply(action->update, base, (struct scope){change->arena, &action->failure},
                              &action->new);
    if (status == OK)
        status = rules_check_updated(&rules, &action->new);
    if (status != OK)
        return status;
    if (!creates) {
        action->new = (struct item){0};
        return OK;
    }
    state->new_size = item_size(&action->new);
    state->value = action_encode(group->local, &action->new, &group->arena);
    return OK;
}

/* What a computed item must not do: be another item than the one it follows on. */
enum status action_check_same_key(struct change *change, struct action *action) {
    const struct action_state *state = action->engine_data;
    const struct key_schema *keys = &state->schema->keys;
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        if (!value_equal(item_get(&action->new, keys->parts[i].name),
                         item_get(&action->item, keys->parts[i].name)))
            return failure_set(&action->failure, change->arena, INVALID,
                               "Cannot update attribute %.*s. This attribute is part of the key",
                               BYTES_ARG(keys->parts[i].name));
    return OK;
}

/* Takes a new item that an index entry covers: what the entry says of it is enough to know that it
 * is within the rules. False if they have to be asked. */
static bool take_covered(struct commit_group *group, struct action *action) {
    struct action_state *state = action->engine_data;
    buf_clear(&group->after);
    if (state->index == NULL ||
        !covering_put_entry(&group->after, state->index, state->key, &action->new))
        return false;
    state->entry_after = arena_copy(&group->arena, buf_bytes(&group->after));
    state->new_size = item_size(&action->new);
    state->value = encode_covered(group->local, state->index, &action->new, &group->arena);
    return true;
}

/* Whether an attribute is a key, of the table or of one of its indexes. */
static bool is_keyed(const struct table *table, struct bytes name) {
    bool keyed = key_schema_has(&table->schema->keys, name) ||
                 (table->expiry != NULL && bytes_equal(table->expiry->expiry, name));
    for (unsigned i = 0; i < table->index_count && !keyed; i++)
        keyed = key_schema_has(&table->indexes[i]->schema->keys, name);
    return keyed;
}

/* What may be a key is a scalar. */
static bool same_scalar(const struct value *a, const struct value *b) {
    return a->type == b->type && a->type <= VALUE_B && bytes_equal(a->bytes, b->bytes);
}

/* What may be other and is not looked into says nothing. */
static bool is_other(const struct value *a, const struct value *b) {
    return a->type != b->type || (a->type <= VALUE_B && !bytes_equal(a->bytes, b->bytes));
}

/* Whether both items have the same keys: then they stand at the same places of all trees, and what
 * the rules say of the keys of one holds for the other. *differ: they are known not to be equal. */
static bool has_same_keys(const struct table *table, const struct item *a, const struct item *b,
                          bool *differ) {
    uint32_t i = 0, j = 0;
    *differ = false;
    while (i < a->count || j < b->count) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : name_compare(a->pairs[i].name, b->pairs[j].name);
        struct bytes name = order <= 0 ? a->pairs[i].name : b->pairs[j].name;
        bool same = order == 0 && same_scalar(&a->pairs[i].value, &b->pairs[j].value);
        if (!same && is_keyed(table, name))
            return false;
        if (!same && (order != 0 || is_other(&a->pairs[i].value, &b->pairs[j].value)))
            *differ = true;
        i += order <= 0;
        j += order >= 0;
    }
    return true;
}

/* Sets `same_keys` and `differs` of the state, of a new item that there will be. */
static void compare_keys(const struct action *action) {
    struct action_state *state = action->engine_data;
    state->same_keys =
        action->had_old && has_same_keys(state->table, &action->old, &action->new, &state->differs);
}

/* The submitter's function has the word; what it says is held against the rules like any item. */
static enum status make_computed(struct commit_group *group, struct change *change,
                                 struct action *action) {
    struct action_state *state = action->engine_data;
    struct rules_context rules = action_rules(change, action, state->schema);
    action->new = action->old;
    action->wants_also = false;
    state->same_keys = false;
    enum status status = action->compute(action, &action->old, change->arena, &action->new);
    if (status == OK && action->wants_also)
        status = write_rules_add_also(group, change, action);
    if (status != OK) {
        state->refused = true;
        if (action->failure.status == OK)
            failure_set(&action->failure, change->arena, status, "The item cannot be made");
        return status;
    }
    if (action->new.count == 0)
        return OK;
    if (action->new.pairs == action->old.pairs && action->new.count == action->old.count) {
        state->new_size = state->old_size;
        state->value = state->stored;
        return OK;
    }
    if (take_covered(group, action))
        return OK;
    state->new_size = item_size(&action->new);
    compare_keys(action);
    if (!state->same_keys || state->new_size > LIMIT_ITEM_SIZE)
        status = rules_check_item(&rules, &action->new);
    if (status == OK && !state->same_keys)
        status = action_check_same_key(change, action);
    if (status == OK)
        state->value = action_encode(group->local, &action->new, &group->arena);
    return status;
}

static enum status make_new(struct commit_group *group, struct change *change,
                            struct action *action) {
    struct action_state *state = action->engine_data;
    switch (action->kind) {
    case ACTION_PUT:
        action->new = action->item;
        return OK;
    case ACTION_UPDATE:
        return make_updated(group, change, action);
    case ACTION_DELETE:
        return OK;
    case ACTION_CHECK:
        state->new_size = state->old_size;
        return OK;
    case ACTION_COMPUTE:
        return make_computed(group, change, action);
    }
    return OK;
}

/* Whether the action leaves something else than it found. */
static bool is_change(const struct action *action) {
    const struct action_state *state = action->engine_data;
    if (action->kind == ACTION_CHECK)
        return false;
    if (!state->stays || !action->had_old)
        return state->stays != action->had_old;
    if (state->entry.size != 0 && state->entry_after.size != 0)
        return !bytes_equal(state->entry, state->entry_after);
    if (state->entry.size != 0) /* it was covered, so its stored bytes were not read */
        return !item_equal(&action->old, &action->new);
    return !bytes_equal(state->stored, state->value);
}

enum status action_evaluate(struct commit_group *group, struct change *change,
                            struct action *action) {
    enum status status = admit_again(group, change, action);
    if (status != OK)
        return status;
    status = read_old(group, change, action);
    if (status != OK)
        return status;
    struct action_state *state = action->engine_data;
    action->usage.table = rules_write_units(state->old_size, state->new_size);
    if (action->condition != NULL &&
        !condition_holds(action->condition, &action->old, change->arena))
        return failure_set(&action->failure, change->arena, CONDITION_FAILED,
                           "The conditional request failed");
    status = make_new(group, change, action);
    if (status == OK && write_rules_concern(group, change, action))
        status = write_rules_apply(group, change, action);
    if (status != OK)
        return status;
    action->usage.table = rules_write_units(state->old_size, state->new_size);
    state->stays = action->new.count != 0;
    state->changes = is_change(action);
    if (!state->changes)
        return OK;
    if (state->stays && action->kind != ACTION_COMPUTE) /* whose maker has asked already */
        compare_keys(action);
    return action_plan_edits(group, change, action);
}

void action_read_again(struct commit_group *group, struct change *change, struct action *action) {
    if (admit_again(group, change, action) == OK && read_old(group, change, action) == OK) {
        const struct action_state *state = action->engine_data;
        action->usage.table = rules_read_units(state->old_size, true);
    }
    action->failure = (struct failure){0};
}

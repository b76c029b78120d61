/* One action, decided on the writer's thread. */
#include "table/local/absent.h"
#include "table/local/writer.h"

void action_soon(struct local *local, const struct action *action) {
    const struct prepared *prepared = action->engine_data;
    cache_soon(local->cache, prepared->hash);
    absent_soon(local->writer->absent, prepared->hash);
}

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
    struct table *before = prepared->holds ? prepared->table : NULL;
    enum status status = action_prepare(local, change, action, table, true);
    ((struct prepared *)action->engine_data)->before = before;
    return status;
}

static enum status read_old(struct group *group, struct change *change, struct action *action) {
    struct prepared *prepared = action->engine_data;
    enum status status = group_read(group, prepared, change->arena, &prepared->stored);
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
    struct rules_context rules = action_rules(change, action, prepared->schema);
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
    prepared->value = action_encode(group->local, &action->new, &group->arena);
    return OK;
}

/* What a computed item must not do: be another item than the one it follows on. */
static enum status check_same_key(struct change *change, struct action *action) {
    const struct prepared *prepared = action->engine_data;
    const struct key_schema *keys = &prepared->schema->keys;
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        if (!value_equal(item_get(&action->new, keys->parts[i].name),
                         item_get(&action->item, keys->parts[i].name)))
            return failure_set(&action->failure, change->arena, INVALID,
                               "Cannot update attribute %.*s. This attribute is part of the key",
                               BYTES_ARG(keys->parts[i].name));
    return OK;
}

/* The submitter's function has the word; what it says is held against the rules like any item. */
static enum status make_computed(struct group *group, struct change *change,
                                 struct action *action) {
    struct prepared *prepared = action->engine_data;
    struct rules_context rules = action_rules(change, action, prepared->schema);
    action->new = action->old;
    enum status status = action->compute(action, &action->old, change->arena, &action->new);
    if (status != OK) {
        prepared->refused = true;
        if (action->failure.status == OK)
            failure_set(&action->failure, change->arena, status, "The item cannot be made");
        return status;
    }
    if (action->new.count == 0)
        return OK;
    if (action->new.pairs == action->old.pairs && action->new.count == action->old.count) {
        prepared->new_size = prepared->old_size;
        prepared->value = prepared->stored;
        return OK;
    }
    status = rules_check_item(&rules, &action->new);
    if (status == OK)
        status = check_same_key(change, action);
    if (status != OK)
        return status;
    prepared->new_size = item_size(&action->new);
    prepared->value = action_encode(group->local, &action->new, &group->arena);
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
        return make_computed(group, change, action);
    }
    return OK;
}

/* Whether the action leaves something else than it found. */
static bool is_change(const struct action *action) {
    const struct prepared *prepared = action->engine_data;
    if (action->kind == ACTION_CHECK)
        return false;
    if (!prepared->stays || !action->had_old)
        return prepared->stays != action->had_old;
    return !bytes_equal(prepared->stored, prepared->value);
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
    prepared->stays = action->new.count != 0;
    prepared->changes = is_change(action);
    return prepared->changes ? action_plan(group, change, action) : OK;
}

void action_look(struct group *group, struct change *change, struct action *action) {
    if (refresh(group, change, action) == OK && read_old(group, change, action) == OK) {
        const struct prepared *prepared = action->engine_data;
        action->usage.table = rules_read_units(prepared->old_size, true);
    }
    action->failure = (struct failure){0};
}

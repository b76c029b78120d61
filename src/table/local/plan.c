/* What an action moves in the trees of its table. */
#include "table/local/writer.h"

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

/* Whether what an index shows of the item is the same before and after, given that its entry is. */
static bool shows_same(const struct plan *plan, const struct index *index) {
    const struct table_schema *schema = plan->prepared->schema;
    struct arena *arena = plan->change->arena;
    if (index->schema->projected == PROJECTED_KEYS)
        return true;
    struct item old = rules_project(schema, index->schema, &plan->action->old, arena);
    struct item new = rules_project(schema, index->schema, &plan->action->new, arena);
    return item_equal(&old, &new);
}

/* What the action does to one index: an entry comes, goes, moves (which costs a deletion and an
 * insertion), or stays and shows something else. */
static enum status plan_index(const struct plan *plan, struct index *index, bool stays) {
    struct group *group = plan->group;
    struct action *action = plan->action;
    const struct table_schema *schema = plan->prepared->schema;
    buf_clear(&group->before);
    buf_clear(&group->after);
    bool had = action->had_old && keys_put_entry(&group->before, schema, index, &action->old);
    bool has = stays && keys_put_entry(&group->after, schema, index, &action->new);
    if (!had && !has)
        return OK;
    bool same = had && has && bytes_equal(buf_bytes(&group->before), buf_bytes(&group->after));
    if (same && shows_same(plan, index))
        return OK;
    if (has && !had && memory_full(group->local))
        return failure_set(&action->failure, plan->change->arena, MEMORY_FULL,
                           "The memory for indexes is full: nothing can be added to index %.*s",
                           BYTES_ARG(index->schema->name));
    size_t old_size = had ? rules_shown_size(schema, index->schema, &action->old) : 0;
    size_t new_size = has ? rules_shown_size(schema, index->schema, &action->new) : 0;
    add_move(plan, index, had && !same, has && !same, (int64_t)new_size - (int64_t)old_size);
    if (action->kind == ACTION_COMPUTE)
        return OK;
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

enum status action_plan(struct group *group, struct change *change, struct action *action) {
    struct plan plan = {group, change, action, action->engine_data};
    struct table *table = plan.prepared->table;
    bool stays = plan.prepared->stays;
    for (unsigned i = 0; i < table->index_count; i++) {
        enum status status = plan_index(&plan, table->indexes[i], stays);
        if (status != OK)
            return status;
    }
    return table->expiry != NULL ? plan_expiry(&plan, table->expiry, stays) : OK;
}

/* Which entries an action adds to and removes from the index trees of its table. On the writer's
 * thread. */
#include "table/local/writer.h"

struct plan {
    struct commit_group *group;
    struct change *change;
    struct action *action;
    struct action_state *state;
};

static void use_index(const struct plan *plan, const struct index *index, double units) {
    struct usage *usage = &plan->action->usage;
    if (usage->indexes == NULL)
        usage->indexes =
            ARENA_ARRAY(plan->change->arena, struct index_usage, plan->state->table->index_count);
    usage->indexes[usage->index_count++] = (struct index_usage){
        arena_copy(plan->change->arena, index->schema->name), index->schema->local, units};
}

static bool memory_full(const struct local *local) {
    return atomic_load_explicit(&local->index_memory, memory_order_relaxed) >=
           local->settings.index_memory;
}

/* Adds an edit that takes away the entry in group->before, if `had`, and puts that in group->after,
 * if `has`. */
static struct index_edit *add_edit(const struct plan *plan, struct index *index, bool had,
                                   bool has) {
    struct commit_group *group = plan->group;
    struct index_edit *edit = ARENA_NEW(&group->arena, struct index_edit);
    edit->index = index;
    if (had)
        edit->del = arena_copy(&group->arena, buf_bytes(&group->before));
    if (has)
        edit->put = arena_copy(&group->arena, buf_bytes(&group->after));
    edit->next = plan->state->edits;
    plan->state->edits = edit;
    return edit;
}

/* Whether what an index shows of the item is the same before and after, given that its entry is. */
static bool shows_same(const struct plan *plan, const struct index *index) {
    const struct table_schema *schema = plan->state->schema;
    struct arena *arena = plan->change->arena;
    if (index->schema->projected == PROJECTED_KEYS)
        return true;
    if (index->schema->projected == PROJECTED_ALL && plan->state->same_keys && plan->state->differs)
        return false;
    struct item old = rules_project(schema, index->schema, &plan->action->old, arena);
    struct item new = rules_project(schema, index->schema, &plan->action->new, arena);
    return item_equal(&old, &new);
}

/* How much the index shows of an item that is in it and is `size` bytes large. */
static size_t shown_size(const struct plan *plan, const struct index *index,
                         const struct item *item, size_t size) {
    return covering_covers(index, item) || index->schema->projected == PROJECTED_ALL
               ? size
               : rules_shown_size(plan->state->schema, index->schema, item);
}

/* The entry of the item before: it is known if it covers the item. */
static bool put_old_entry(const struct plan *plan, const struct index *index) {
    const struct action_state *state = plan->state;
    if (index != state->index || state->entry.size == 0)
        return keys_put_entry(&plan->group->before, state->schema, index, &plan->action->old);
    buf_put(&plan->group->before, state->entry);
    return true;
}

/* The same of the item after. */
static bool put_new_entry(const struct plan *plan, const struct index *index) {
    const struct action_state *state = plan->state;
    if (index != state->index || state->entry_after.size == 0)
        return keys_put_entry(&plan->group->after, state->schema, index, &plan->action->new);
    buf_put(&plan->group->after, state->entry_after);
    return true;
}

/* An entry that stays, but does not cover its item any more or does so now, is put anew. */
static void plan_coverage(const struct plan *plan, struct index *index) {
    bool covers = covering_covers(index, &plan->action->new);
    if (covers != covering_covers(index, &plan->action->old))
        add_edit(plan, index, true, true)->covers = covers;
}

/* The item stays where it is in the index, if it is there, whose size may be another. What an index
 * shows is asked of those only who are told what it cost. */
static void plan_size(const struct plan *plan, struct index *index) {
    const struct action *action = plan->action;
    const struct action_state *state = plan->state;
    bool told = action->kind != ACTION_COMPUTE;
    if (index->schema->projected == PROJECTED_KEYS || !keys_has_entry(index, &action->new) ||
        (told && shows_same(plan, index)))
        return;
    size_t old_size = shown_size(plan, index, &action->old, state->old_size);
    size_t new_size = shown_size(plan, index, &action->new, state->new_size);
    if (old_size != new_size)
        add_edit(plan, index, false, false)->size_change = (int64_t)new_size - (int64_t)old_size;
    if (told)
        use_index(plan, index, rules_write_units(old_size, new_size));
}

/* Whether nothing but the size of what the index shows changes. An entry that covers its item, or
 * did, is looked at. */
static bool keeps_entry(const struct plan *plan, const struct index *index) {
    return plan->state->same_keys && !covering_covers(index, &plan->action->old) &&
           !covering_covers(index, &plan->action->new);
}

/* What the action does to one index: an entry comes, goes, moves (which costs a deletion and an
 * insertion), or stays and shows something else. */
static enum status plan_index(const struct plan *plan, struct index *index, bool stays) {
    struct commit_group *group = plan->group;
    struct action *action = plan->action;
    if (keeps_entry(plan, index)) {
        plan_size(plan, index);
        return OK;
    }
    buf_clear(&group->before);
    buf_clear(&group->after);
    bool had = action->had_old && put_old_entry(plan, index);
    bool has = stays && put_new_entry(plan, index);
    plan->state->covered |=
        has && index == plan->state->index && covering_covers(index, &action->new);
    if (!had && !has)
        return OK;
    bool same = had && has && bytes_equal(buf_bytes(&group->before), buf_bytes(&group->after));
    if (same && shows_same(plan, index)) {
        plan_coverage(plan, index);
        return OK;
    }
    if (has && !had && memory_full(group->local))
        return failure_set(&action->failure, plan->change->arena, MEMORY_FULL,
                           "The memory for indexes is full: nothing can be added to index %.*s",
                           BYTES_ARG(index->schema->name));
    size_t old_size = had ? shown_size(plan, index, &action->old, plan->state->old_size) : 0;
    size_t new_size = has ? shown_size(plan, index, &action->new, plan->state->new_size) : 0;
    struct index_edit *edit = add_edit(plan, index, had && !same, has && !same);
    edit->covers = covering_covers(index, &action->new);
    edit->size_change = (int64_t)new_size - (int64_t)old_size;
    if (action->kind == ACTION_COMPUTE)
        return OK;
    double units = same ? rules_write_units(old_size, new_size)
                        : (had ? rules_write_units(old_size, 0) : 0) +
                              (has ? rules_write_units(0, new_size) : 0);
    use_index(plan, index, units);
    return OK;
}

/* What it does to the expiry tree, which costs no capacity units. */
static enum status plan_expiry(const struct plan *plan, struct index *index, bool stays) {
    struct commit_group *group = plan->group;
    const struct action *action = plan->action;
    const struct table_schema *schema = plan->state->schema;
    buf_clear(&group->before);
    buf_clear(&group->after);
    bool had = action->had_old && keys_put_entry(&group->before, schema, index, &action->old);
    bool has = stays && keys_put_entry(&group->after, schema, index, &action->new);
    if (bytes_equal(buf_bytes(&group->before), buf_bytes(&group->after)))
        return OK;
    if (has && !had && memory_full(group->local))
        return failure_set(&plan->action->failure, plan->change->arena, MEMORY_FULL,
                           "The memory for indexes is full: no item that expires can be added");
    add_edit(plan, index, had, has);
    return OK;
}

/* The item before and the one after, whichever there are, are covered. */
static bool is_all_covered(const struct plan *plan) {
    const struct action_state *state = plan->state;
    return state->index != NULL && (state->entry.size != 0 || !plan->action->had_old) &&
           (state->entry_after.size != 0 || !state->stays);
}

/* Whether an item that the index covers may have the attribute: it has none but those of its entry.
 */
static bool may_have(const struct index *covering, struct bytes name) {
    const struct entry_shape *shape = &covering->shape;
    for (unsigned i = 0; i < shape->count; i++)
        if (bytes_equal(shape->parts[i].name, name))
            return true;
    return false;
}

enum status action_plan_edits(struct commit_group *group, struct change *change,
                              struct action *action) {
    struct plan plan = {group, change, action, action->engine_data};
    struct table *table = plan.state->table;
    bool stays = plan.state->stays;
    const struct index *only = is_all_covered(&plan) ? plan.state->index : NULL;
    for (unsigned i = 0; i < table->index_count; i++) {
        struct index *index = table->indexes[i];
        if (only != NULL && index != only && !may_have(only, index->shape.parts[0].name))
            continue;
        enum status status = plan_index(&plan, index, stays);
        if (status != OK)
            return status;
    }
    bool expires = table->expiry != NULL && !plan.state->same_keys &&
                   (only == NULL || may_have(only, table->expiry->expiry));
    return expires ? plan_expiry(&plan, table->expiry, stays) : OK;
}

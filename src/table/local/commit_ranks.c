/* Ranks as of the commit: where an action's item stands right before and right after it.
 *
 * The entries are made when the action is evaluated, on the writer's thread; their ranks are looked
 * up by the thread that commits the group, between the edits of the trees (commit.c). */
#include "table/local/writer.h"

#include "table/ranking.h"

static const struct index *index_named(const struct table *table, struct bytes name) {
    for (unsigned i = 0; i < table->index_count; i++)
        if (bytes_equal(table->indexes[i]->schema->name, name))
            return table->indexes[i];
    return NULL;
}

static struct bytes entry_of(struct commit_group *group, const struct action_state *state,
                             const struct index *index, const struct item *item) {
    buf_clear(&group->before);
    if (item->count == 0 || !keys_put_entry(&group->before, state->schema, index, item))
        return (struct bytes){0};
    return arena_copy(&group->arena, buf_bytes(&group->before));
}

/* What the entries of the item's partition begin with, if its key tells. */
static struct bytes partition_of(struct commit_group *group, const struct index *index,
                                 const struct item *item) {
    const struct key_schema *keys = &index->schema->keys;
    struct pair pairs[LIMIT_INDEX_PARTITION_PARTS];
    struct bound bound = {.at = {pairs, 0}};
    for (unsigned i = 0; i < keys->partition_count; i++) {
        const struct value *value = item_get(item, keys->parts[i].name);
        if (value == NULL)
            return (struct bytes){0};
        pairs[bound.at.count++] = (struct pair){keys->parts[i].name, *value};
    }
    buf_clear(&group->before);
    if (!keys_put_bound(&group->before, index, &bound))
        return (struct bytes){0};
    return arena_copy(&group->arena, buf_bytes(&group->before));
}

/* What the item is after the action. */
static struct item item_after(const struct action *action) {
    const struct action_state *state = action->engine_data;
    if (state->changes)
        return state->stays ? action->new : (struct item){0};
    return action->old;
}

struct rank_ask *rank_ask_add(struct commit_group *group, const struct action *action) {
    const struct action_state *state = action->engine_data;
    const struct index *index = index_named(state->table, action->ranks->index);
    struct item after = item_after(action);
    if (index == NULL || action->ranks->group_parts > index->schema->keys.sort_count)
        return NULL;
    struct rank_ask *ask = ARENA_NEW(&group->arena, struct rank_ask);
    ask->ranks = action->ranks;
    ask->table = state->table;
    ask->index = index;
    if (action->had_old)
        ask->before = entry_of(group, state, index, &action->old);
    ask->after = entry_of(group, state, index, &after);
    ask->partition = partition_of(group, index, &action->item);
    ask->first_edit = ask->end_edit = group->edit_count;
    *group->asks_end = ask;
    group->asks_end = &ask->next;
    group->ask_count++;
    return ask;
}

void rank_ask_count(struct commit_group *group, const struct rank_ask *ask, bool after) {
    struct action_ranks *ranks = ask->ranks;
    if (ask->index->tree == NULL) { /* it is being built */
        ranks->counted = false;
        return;
    }
    if (!after) {
        ranks->counted = rank_lookup_entry(group, ask, ask->before, &ranks->before);
        return;
    }
    ranks->counted &= rank_lookup_entry(group, ask, ask->after, &ranks->after);
    if (ranks->after.found)
        ranks->total = ranks->after.before + ranks->after.after + 1;
    else if (ask->partition.size != 0)
        ranks->total = rank_lookup_total(ask->index, ask->partition);
    else
        ranks->counted = false;
}

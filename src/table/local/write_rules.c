/* The rules that owners of tables have for what others write: asked on the writer's thread, between
 * making the new item and planning its index edits. */
#include "table/local/writer.h"

#include "table/write_rule.h"

void write_rules_add(struct local *local, struct write_rules *rules) {
    write_rules_append(&local->write_rules, rules);
}

void write_rules_drop(struct local *local, const struct write_rules *rules) {
    write_rules_remove(&local->write_rules, rules);
}

/* --- what goes with a write --- */

static bool has_key(const struct action *action, const struct action_state *state) {
    const struct action_state *other = action->engine_data;
    return other->hash == state->hash && bytes_equal(other->key, state->key);
}

/* One change writes an item once. */
static bool is_written_already(const struct change *change, const struct action *added) {
    const struct action_state *state = added->engine_data;
    for (size_t i = 0; i < change->action_count; i++)
        if (has_key(&change->actions[i], state))
            return true;
    return false;
}

static struct rule_action *find_added(const struct change *change, const struct action *added) {
    struct rule_action *other = change->engine_data;
    while (other != NULL && !has_key(&other->action, added->engine_data))
        other = other->next;
    return other;
}

/* An action_compute. */
static enum status compute_each(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct rule_action *added =
        (const struct rule_action *)((char *)action - offsetof(struct rule_action, action));
    (void)old;
    return rule_computes_run(added->each, action, arena, new);
}

static void append_compute(struct change *change, struct rule_action *added,
                           const struct action *wanted) {
    rule_computes_append(&added->each, wanted, change->arena);
    added->action.compute = compute_each;
}

/* The table is held by the action that it goes with. */
static enum status add_action(struct commit_group *group, struct change *change,
                              struct action *cause, const struct rule_added *wanted) {
    const struct action_state *state = cause->engine_data;
    struct rule_action *added = ARENA_NEW(change->arena, struct rule_action);
    added->action = wanted->action;
    added->action.by_owner = true;
    added->cause = cause;
    enum status status = action_admit(group->local, change, &added->action, state->table);
    if (status != OK) {
        cause->failure = added->action.failure;
        return status;
    }
    if (is_written_already(change, &added->action))
        return OK;
    struct rule_action *other = find_added(change, &added->action);
    if (wanted->each)
        append_compute(change, other != NULL ? other : added, &wanted->action);
    if (other != NULL)
        return OK;
    added->next = change->engine_data;
    change->engine_data = added;
    return OK;
}

enum status write_rules_add_also(struct commit_group *group, struct change *change,
                                 struct action *action) {
    return add_action(group, change, action, &(struct rule_added){.action = *action->also});
}

bool write_rules_finish(struct commit_group *group, struct change *change) {
    for (struct rule_action *added = change->engine_data; added != NULL; added = added->next)
        if (action_evaluate(group, change, &added->action) != OK) {
            added->cause->failure = added->action.failure;
            return false;
        }
    return true;
}

/* --- asking --- */

static enum status take_new(struct commit_group *group, struct change *change,
                            struct action *action, const struct item *new) {
    struct action_state *state = action->engine_data;
    struct rules_context rules = action_rules(change, action, state->schema);
    if (new->pairs == action->new.pairs &&new->count == action->new.count)
        return OK;
    action->new = *new;
    enum status status = rules_check_item(&rules, new);
    if (status == OK)
        status = action_check_same_key(change, action);
    if (status != OK)
        return status;
    state->new_size = item_size(new);
    state->value = action_encode(group->local, new, &group->arena);
    return OK;
}

/* Does what the rule's function has come to. */
static enum status take_verdict(struct commit_group *group, struct change *change,
                                struct action *action, const struct write_check *check) {
    enum status status = take_new(group, change, action, &check->new);
    for (size_t i = 0; status == OK && i < check->added_count; i++)
        status = add_action(group, change, action, &check->added[i]);
    return status;
}

enum status write_rules_apply(struct commit_group *group, struct change *change,
                              struct action *action) {
    struct action_state *state = action->engine_data;
    struct write_check check;
    struct rule_found found =
        write_rules_find(group->local->write_rules, action, state->schema->keys.parts[0].name);
    if (found.rule == NULL)
        return OK;
    enum status status = write_rule_ask(&found, action, change->arena, &check);
    if (status == OK)
        status = take_verdict(group, change, action, &check);
    state->refused = status != OK;
    return write_rule_verdict(action, change->arena, status);
}

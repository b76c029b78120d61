#include "table/remote/remote_evaluate.h"

#include "base/limits.h"
#include "base/mem.h"
#include "table/write_rule.h"

#include <assert.h>
#include <pthread.h>

/* --- the rules of the table's owner --- */

struct remote_rules {
    pthread_rwlock_t lock; /* read while rules are asked */
    struct write_rules *first;
};

struct remote_rules *remote_rules_new(void) {
    struct remote_rules *rules = mem_zalloc(sizeof(*rules));
    pthread_rwlock_init(&rules->lock, NULL);
    return rules;
}

void remote_rules_free(struct remote_rules *rules) {
    pthread_rwlock_destroy(&rules->lock);
    mem_free(rules);
}

void remote_rules_change(struct remote *remote, const struct change *change) {
    struct remote_rules *all = remote->rules;
    pthread_rwlock_wrlock(&all->lock);
    if (change->kind == CHANGE_ADD_RULES)
        write_rules_append(&all->first, change->write_rules);
    else
        write_rules_remove(&all->first, change->write_rules);
    pthread_rwlock_unlock(&all->lock);
}

/* --- checking --- */

static struct rules_context rules_of(const struct attempt *attempt, struct action *action) {
    return (struct rules_context){attempt->schema, attempt->change->arena, &action->failure};
}

static enum status refuse_change(struct change *change, const struct action *action) {
    if (change->all_or_nothing && action->failure.status == INVALID)
        return failure_set(&change->failure, change->arena, CANCELLED,
                           "The transaction was cancelled");
    change->failure = action->failure;
    return change->failure.status;
}

static enum status check_action(struct attempt *attempt, struct action *action) {
    struct rules_context rules = rules_of(attempt, action);
    if (!remote_is_game(attempt->remote, action->table))
        return failure_set(&action->failure, attempt->change->arena, UNSUPPORTED,
                           "Only the table %.*s is written by this server itself",
                           BYTES_ARG(attempt->remote->table));
    enum status status = action->kind == ACTION_PUT ? rules_check_item(&rules, &action->item)
                                                    : rules_check_key(&rules, &action->item);
    if (status == OK && action->kind == ACTION_UPDATE && action->update != NULL)
        status = rules_check_update(&rules, action->update);
    return status == OK ? rules_check_paths(&rules, NULL, action->condition) : status;
}

static void clear_action(struct action *action) {
    action->engine_data = NULL;
    action->failure = (struct failure){0};
    action->had_old = false;
    action->old = action->new = (struct item){0};
    action->usage = (struct usage){0};
    action->collection_key = (struct bytes){0};
    action->collection_size = 0;
    if (action->ranks != NULL)
        action->ranks->counted = false;
}

/* --- reading --- */

struct remote_read *attempt_note(struct attempt *attempt, const struct item *key, bool *known) {
    for (struct remote_read *read = attempt->reads; read != NULL; read = read->next)
        if (item_equal(&read->key, key)) {
            *known = true;
            return read;
        }
    struct remote_read *read = ARENA_NEW(attempt->change->arena, struct remote_read);
    read->key = *key;
    read->next = attempt->reads;
    attempt->reads = read;
    *known = false;
    return read;
}

static enum status refuse_repeat(struct change *change) {
    return failure_set(&change->failure, change->arena, INVALID,
                       change->all_or_nothing
                           ? "Transaction request cannot include multiple operations on one item"
                           : "Provided list of item keys contains duplicates");
}

static bool is_read_twice(const struct attempt *attempt, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (attempt->evaluations[i].read == attempt->evaluations[at].read)
            return true;
    return false;
}

static enum status read_items(struct attempt *attempt) {
    struct change *change = attempt->change;
    struct scope in = {change->arena, &change->failure};
    struct remote_read **missing =
        ARENA_ARRAY(change->arena, struct remote_read *, change->action_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < change->action_count; i++) {
        struct evaluation *evaluation = &attempt->evaluations[i];
        struct item key =
            rules_key_of(attempt->schema, NULL, &change->actions[i].item, change->arena);
        bool known;
        evaluation->action = &change->actions[i];
        evaluation->read = attempt_note(attempt, &key, &known);
        if (is_read_twice(attempt, i))
            return refuse_repeat(change);
        if (!known)
            missing[count++] = evaluation->read;
    }
    struct remote_reads some = {attempt->remote->table, missing, count};
    return count == 0 ? OK : remote_read_many(attempt->remote, &some, in);
}

/* --- the item after --- */

static enum status make_updated(struct attempt *attempt, struct action *action) {
    struct arena *arena = attempt->change->arena;
    struct rules_context rules = rules_of(attempt, action);
    const struct item *base = action->had_old ? &action->old : &action->item;
    bool creates = action->had_old || action->update == NULL || update_creates(action->update);
    action->new = *base;
    enum status status = OK;
    if (action->update != NULL && creates)
        status = update_apply(action->update, base, (struct scope){arena, &action->failure},
                              &action->new);
    if (status == OK)
        status = rules_check_updated(&rules, &action->new);
    if (status == OK && !creates)
        action->new = (struct item){0};
    return status;
}

static enum status check_same_key(struct attempt *attempt, struct action *action) {
    const struct key_schema *keys = &attempt->schema->keys;
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        if (!value_equal(item_get(&action->new, keys->parts[i].name),
                         item_get(&action->item, keys->parts[i].name)))
            return failure_set(&action->failure, attempt->change->arena, INVALID,
                               "Cannot update attribute %.*s. This attribute is part of the key",
                               BYTES_ARG(keys->parts[i].name));
    return OK;
}

static bool same_item(const struct item *a, const struct item *b) {
    return a->pairs == b->pairs && a->count == b->count;
}

static enum status add_action(struct attempt *attempt, struct evaluation *cause,
                              const struct rule_added *wanted);

static enum status make_computed(struct attempt *attempt, struct evaluation *evaluation) {
    struct action *action = evaluation->action;
    struct arena *arena = attempt->change->arena;
    struct rules_context rules = rules_of(attempt, action);
    action->new = action->old;
    action->wants_also = false;
    enum status status = action->compute(action, &action->old, arena, &action->new);
    if (status == OK && action->wants_also)
        status = add_action(attempt, evaluation, &(struct rule_added){.action = *action->also});
    if (status != OK) {
        evaluation->refused = true;
        if (action->failure.status == OK)
            failure_set(&action->failure, arena, status, "The item cannot be made");
        return status;
    }
    if (action->new.count == 0 || same_item(&action->new, &action->old))
        return OK;
    status = rules_check_item(&rules, &action->new);
    return status == OK ? check_same_key(attempt, action) : status;
}

static enum status make_new(struct attempt *attempt, struct evaluation *evaluation) {
    struct action *action = evaluation->action;
    switch (action->kind) {
    case ACTION_PUT:
        action->new = action->item;
        return OK;
    case ACTION_UPDATE:
        return make_updated(attempt, action);
    case ACTION_COMPUTE:
        return make_computed(attempt, evaluation);
    case ACTION_DELETE:
    case ACTION_CHECK:
        return OK;
    }
    return OK;
}

/* --- what rules add --- */

/* An action_compute. */
static enum status compute_each(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct evaluation *evaluation = action->engine_data;
    (void)old;
    return rule_computes_run(evaluation->each, action, arena, new);
}

static void append_compute(struct attempt *attempt, struct evaluation *added,
                           const struct action *wanted) {
    rule_computes_append(&added->each, wanted, attempt->change->arena);
    added->action->compute = compute_each;
}

static bool is_written_already(const struct attempt *attempt, const struct remote_read *read) {
    for (size_t i = 0; i < attempt->change->action_count; i++)
        if (attempt->evaluations[i].read == read)
            return true;
    return false;
}

static struct evaluation *find_added(const struct attempt *attempt,
                                     const struct remote_read *read) {
    struct evaluation *other = attempt->added;
    while (other != NULL && other->read != read)
        other = other->next;
    return other;
}

static struct evaluation *make_added(struct attempt *attempt, struct evaluation *cause,
                                     const struct action *wanted) {
    struct evaluation *added = ARENA_NEW(attempt->change->arena, struct evaluation);
    added->added = *wanted;
    added->action = &added->added;
    clear_action(added->action);
    added->action->by_owner = true;
    added->action->engine_data = added;
    added->cause = cause;
    return added;
}

static enum status add_action(struct attempt *attempt, struct evaluation *cause,
                              const struct rule_added *wanted) {
    struct change *change = attempt->change;
    struct evaluation *added = make_added(attempt, cause, &wanted->action);
    bool known;
    enum status status = check_action(attempt, added->action);
    if (status != OK) {
        cause->action->failure = added->action->failure;
        return status;
    }
    struct item key = rules_key_of(attempt->schema, NULL, &added->action->item, change->arena);
    added->read = attempt_note(attempt, &key, &known);
    if (!known)
        status = remote_read_many(attempt->remote,
                                  &(struct remote_reads){attempt->remote->table, &added->read, 1},
                                  (struct scope){change->arena, &cause->action->failure});
    if (status != OK || is_written_already(attempt, added->read))
        return status;
    struct evaluation *other = find_added(attempt, added->read);
    if (wanted->each)
        append_compute(attempt, other != NULL ? other : added, &wanted->action);
    if (other == NULL) {
        added->next = attempt->added;
        attempt->added = added;
    }
    return OK;
}

/* --- asking the rules --- */

static enum status take_verdict(struct attempt *attempt, struct evaluation *evaluation,
                                const struct write_check *check) {
    struct action *action = evaluation->action;
    struct rules_context rules = rules_of(attempt, action);
    enum status status = OK;
    if (!same_item(&check->new, &action->new)) {
        action->new = check->new;
        status = rules_check_item(&rules, &action->new);
        if (status == OK)
            status = check_same_key(attempt, action);
    }
    for (size_t i = 0; status == OK && i < check->added_count; i++)
        status = add_action(attempt, evaluation, &check->added[i]);
    return status;
}

static enum status ask_rule(struct attempt *attempt, struct evaluation *evaluation,
                            const struct rule_found *found) {
    struct action *action = evaluation->action;
    struct write_check check;
    enum status status = write_rule_ask(found, action, attempt->change->arena, &check);
    if (status == OK)
        status = take_verdict(attempt, evaluation, &check);
    evaluation->refused = status != OK;
    return write_rule_verdict(action, attempt->change->arena, status);
}

static enum status ask_rules(struct attempt *attempt, struct evaluation *evaluation) {
    const struct action *action = evaluation->action;
    struct remote_rules *all = attempt->remote->rules;
    if (action->by_owner || action->expired || action->kind == ACTION_COMPUTE ||
        action->kind == ACTION_CHECK)
        return OK;
    pthread_rwlock_rdlock(&all->lock);
    struct rule_found found =
        write_rules_find(all->first, action, attempt->schema->keys.parts[0].name);
    enum status status = found.rule != NULL ? ask_rule(attempt, evaluation, &found) : OK;
    pthread_rwlock_unlock(&all->lock);
    return status;
}

/* --- deciding --- */

static enum status evaluate(struct attempt *attempt, struct evaluation *evaluation) {
    struct action *action = evaluation->action;
    struct arena *arena = attempt->change->arena;
    action->had_old = evaluation->read->item.count != 0;
    action->old = evaluation->read->item;
    size_t old_size = action->had_old ? item_size(&action->old) : 0;
    action->usage.table = rules_write_units(old_size, 0);
    if (action->condition != NULL && !condition_holds(action->condition, &action->old, arena))
        return failure_set(&action->failure, arena, CONDITION_FAILED,
                           "The conditional request failed");
    enum status status = make_new(attempt, evaluation);
    if (status == OK)
        status = ask_rules(attempt, evaluation);
    if (status != OK)
        return status;
    bool check = action->kind == ACTION_CHECK;
    size_t new_size = check ? old_size : action->new.count != 0 ? item_size(&action->new) : 0;
    action->usage.table = rules_write_units(old_size, new_size);
    evaluation->changes = !check && !item_equal(&action->old, &action->new);
    evaluation->checked =
        !evaluation->changes && !(action->kind == ACTION_COMPUTE && action->unchecked);
    return OK;
}

/* Whether the fault says something about the request, not about the engine's state. */
static bool is_requests_fault(const struct evaluation *evaluation) {
    enum status status = evaluation->action->failure.status;
    return status == CONDITION_FAILED || status == INVALID || status == COLLECTION_FULL ||
           evaluation->refused;
}

static enum status fail_change(struct attempt *attempt) {
    struct change *change = attempt->change;
    const struct evaluation *first = NULL;
    for (size_t i = change->action_count; i-- > 0;) {
        const struct evaluation *one = &attempt->evaluations[i];
        if (one->action->failure.status == OK)
            continue;
        if (first == NULL || !is_requests_fault(one) || is_requests_fault(first))
            first = one;
    }
    assert(first != NULL); /* a change fails by one of its actions */
    if (change->all_or_nothing && is_requests_fault(first))
        return failure_set(&change->failure, change->arena, CANCELLED,
                           "The transaction was cancelled");
    change->failure = first->action->failure;
    return change->failure.status;
}

static enum status check_actions(struct attempt *attempt) {
    struct change *change = attempt->change;
    for (size_t i = 0; i < change->action_count; i++)
        clear_action(&change->actions[i]);
    for (size_t i = 0; i < change->action_count; i++)
        if (check_action(attempt, &change->actions[i]) != OK)
            return refuse_change(change, &change->actions[i]);
    return OK;
}

enum status attempt_evaluate(struct attempt *attempt) {
    struct change *change = attempt->change;
    bool refused = false;
    attempt->evaluations = ARENA_ARRAY(change->arena, struct evaluation, change->action_count + 1);
    attempt->added = NULL;
    enum status status = check_actions(attempt);
    if (status == OK)
        status = read_items(attempt);
    if (status != OK)
        return status;
    for (size_t i = 0; i < change->action_count; i++)
        if (evaluate(attempt, &attempt->evaluations[i]) != OK)
            refused = true;
    for (struct evaluation *added = attempt->added; !refused && added != NULL; added = added->next)
        if (evaluate(attempt, added) != OK) {
            added->cause->action->failure = added->action->failure;
            refused = true;
        }
    return refused ? fail_change(attempt) : OK;
}

void attempt_read_again(struct attempt *attempt) {
    struct change *change = attempt->change;
    attempt->evaluations = ARENA_ARRAY(change->arena, struct evaluation, change->action_count + 1);
    if (check_actions(attempt) == OK && read_items(attempt) == OK)
        for (size_t i = 0; i < change->action_count; i++) {
            const struct remote_read *read = attempt->evaluations[i].read;
            change->actions[i].had_old = read->item.count != 0;
            change->actions[i].old = read->item;
            change->actions[i].usage.table =
                rules_read_units(read->item.count != 0 ? item_size(&read->item) : 0, true);
        }
    change->failure = (struct failure){0};
    for (size_t i = 0; i < change->action_count; i++)
        change->actions[i].failure = (struct failure){0};
}

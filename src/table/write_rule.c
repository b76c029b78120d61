/* What both engines do with the rules of a table's owner: which one is asked, and what becomes of
 * computes that several writes ask for on one item. */
#include "table/write_rule.h"

#include "base/limits.h"

void write_rules_append(struct write_rules **first, struct write_rules *rules) {
    while (*first != NULL && *first != rules)
        first = &(*first)->next;
    if (*first != NULL)
        return;
    rules->next = NULL;
    *first = rules;
}

void write_rules_remove(struct write_rules **first, const struct write_rules *rules) {
    while (*first != NULL && *first != rules)
        first = &(*first)->next;
    if (*first != NULL)
        *first = rules->next;
}

static const struct write_rule *rule_for(const struct write_rules *rules,
                                         const struct action *action, struct bytes partition) {
    if (!bytes_equal(rules->table, action->table))
        return NULL;
    for (size_t i = 0; i < rules->count; i++)
        if (bytes_starts(partition, rules->rules[i].prefix))
            return &rules->rules[i];
    return NULL;
}

struct rule_found write_rules_find(const struct write_rules *first, const struct action *action,
                                   struct bytes partition_name) {
    const struct value *partition = item_get(&action->item, partition_name);
    struct rule_found found = {0};
    if (action->old.count == 0 && action->new.count == 0)
        return found;
    for (found.rules = first; found.rules != NULL && partition->type == VALUE_S;
         found.rules = found.rules->next) {
        found.rule = rule_for(found.rules, action, partition->bytes);
        if (found.rule != NULL)
            break;
    }
    return found;
}

enum status write_rule_ask(const struct rule_found *found, struct action *action,
                           struct arena *arena, struct write_check *out) {
    *out = (struct write_check){.owner = found->rules->owner,
                                .key = action->item,
                                .old = &action->old,
                                .new = action->new,
                                .arena = arena,
                                .failure = &action->failure};
    enum status status = found->rule->check(out);
    if (status == OK && out->added_count > LIMIT_RULE_ACTIONS)
        status = failure_set(&action->failure, arena, INVALID,
                             "The write would change more than %d other items", LIMIT_RULE_ACTIONS);
    return status;
}

enum status write_rule_verdict(struct action *action, struct arena *arena, enum status status) {
    if (status != OK && action->failure.status == OK)
        failure_set(&action->failure, arena, status, "The item cannot be written");
    return status;
}

/* --- computes --- */

struct rule_compute {
    struct rule_compute *next;
    struct action action; /* as the rule made it */
};

void rule_computes_append(struct rule_compute **end, const struct action *wanted,
                          struct arena *arena) {
    while (*end != NULL)
        end = &(*end)->next;
    *end = ARENA_NEW(arena, struct rule_compute);
    (*end)->action = *wanted;
}

enum status rule_computes_run(struct rule_compute *first, struct action *action,
                              struct arena *arena, struct item *new) {
    for (struct rule_compute *one = first; one != NULL; one = one->next) {
        struct item before = *new;
        enum status status = one->action.compute(&one->action, &before, arena, new);
        if (status != OK) {
            action->failure = one->action.failure;
            return status;
        }
    }
    return OK;
}

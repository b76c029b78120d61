/* Rules that the owner of a table has for what others write to some of its partitions.
 *
 * The game keeps its boards as items, and anybody may write items of that table by PutItem. A write
 * rule is the owner's function for the partitions that begin with some prefix: the engine calls it
 * for each put, update and delete there that does not say that it is the owner's own
 * (action->by_owner), in the same commit and before anything of that is written. It sees the item
 * before and after, and may refuse, change the item after, and add actions of its own.
 *
 * Not asked: actions of the kind ACTION_COMPUTE, which only the owner submits; items whose time has
 * come; what a table is loaded with, which is a copy of what was checked once.
 *
 * Actions on tables and partitions without a rule pay a comparison of names.
 */
#ifndef GT_TABLE_WRITE_RULE_H
#define GT_TABLE_WRITE_RULE_H

#include "table/change.h"

struct write_check {
    void *owner;            /* struct write_rules */
    struct item key;        /* the item's, or the whole item of a put */
    const struct item *old; /* before the write; count 0: none */
    struct item new;        /* after it; count 0: none. May be replaced, in the arena, by one of the
                               same key */
    struct arena *arena;
    struct failure *failure; /* why not, for the client */
    /* Filled in: what goes with it, on other items of the table; at most LIMIT_RULE_ACTIONS, in the
     * arena. One on an item that the change itself writes is left out. */
    struct rule_added *added;
    size_t added_count;
};

/* An action that goes with a write. Several writes of one change may ask for actions on the same
 * item: the first of them is done, unless they say `each`; then all of these are, one after the
 * other, as one action. */
struct rule_added {
    struct action action;
    bool each; /* an ACTION_COMPUTE, which does not ask what other computes have done before it */
};

/* Called on the engine's writer thread, so it must be quick; what it reads of the engine is what
 * has been committed. Pure but for reads: it may be called for a write that comes to nothing. OK,
 * or a status with a sentence in `failure`, which the client is told. */
typedef enum status write_rule_check(struct write_check *check);

struct write_rule {
    struct bytes prefix; /* of the partition attribute, which is a string */
    write_rule_check *check;
};

/* Handed to the engine with CHANGE_ADD_RULES, and borrowed until CHANGE_DROP_RULES is done. A table
 * may have several; of those that fit the first one added is asked. */
struct write_rules {
    struct bytes table;
    const struct write_rule *rules;
    size_t count;
    void *owner;
    struct write_rules *next; /* for the engine's use */
};

/* --- what engines do with them (write_rule.c); under a lock of theirs --- */

/* A list of the rules that an engine was handed, in that order. To append one twice, or remove one
 * that is not there, does nothing. */
void write_rules_append(struct write_rules **first, struct write_rules *rules);
void write_rules_remove(struct write_rules **first, const struct write_rules *rules);

/* The rule for what an action writes; rule NULL: there is none, or nothing was and is there. */
struct rule_found {
    const struct write_rules *rules;
    const struct write_rule *rule;
};
struct rule_found write_rules_find(const struct write_rules *first, const struct action *action,
                                   struct bytes partition_name);
/* Asks it about action->old and action->new. Who gets OK does what *out says; write_rule_verdict()
 * then sees to it that a refusal has a sentence, and returns the status. */
enum status write_rule_ask(const struct rule_found *found, struct action *action,
                           struct arena *arena, struct write_check *out);
enum status write_rule_verdict(struct action *action, struct arena *arena, enum status status);

/* Computes that rules ask for on one item (rule_added.each), in the order they were asked for; in
 * the arena. To run them is the compute of the one action that they become: each sees what the one
 * before it left in *new. */
struct rule_compute;
void rule_computes_append(struct rule_compute **end, const struct action *wanted,
                          struct arena *arena);
enum status rule_computes_run(struct rule_compute *first, struct action *action,
                              struct arena *arena, struct item *new);

#endif

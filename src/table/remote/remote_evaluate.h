/* Working out what a change does, from items as they were read: the same rules and sentences as
 * those of the embedded engine (table/local/action_evaluate.c, write_rules.c). Nothing here is sent
 * but reads. */
#ifndef GT_TABLE_REMOTE_REMOTE_EVALUATE_H
#define GT_TABLE_REMOTE_REMOTE_EVALUATE_H

#include "table/remote/remote_parts.h"

struct rule_compute;

/* An action of the change, or one that a write rule has added. */
struct evaluation {
    struct action *action;
    struct remote_read *read;
    bool changes; /* the item after is another one, or there is none any more */
    bool checked; /* the item must be as it was read when the change is committed */
    bool refused; /* by a function of the owner's */
    /* of what a rule added */
    struct action added;
    struct evaluation *cause;
    struct rule_compute *each;
    struct evaluation *next;
};

/* One attempt to carry out a change. Everything lives in the change's arena. */
struct attempt {
    struct remote *remote;
    struct change *change;
    const struct table_schema *schema; /* of the game table */
    struct evaluation *evaluations;    /* of change->actions, one each */
    struct evaluation *added;          /* by write rules; a list */
    struct remote_read *reads;         /* all that were read, by `prepare` too; a list */
};

/* Checks the actions, reads their items, decides on all of them. OK, or change->failure. */
enum status attempt_evaluate(struct attempt *attempt);
/* Reads the items again, for the answer to a change that was done before. */
void attempt_read_again(struct attempt *attempt);
/* The note of that key, which is made if there is none yet. *known: it has been read already. */
struct remote_read *attempt_note(struct attempt *attempt, const struct item *key, bool *known);

#endif

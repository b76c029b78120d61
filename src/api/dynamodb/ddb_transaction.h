/* What transactions share, whichever way they are written down. */
#ifndef GT_API_DYNAMODB_DDB_TRANSACTION_H
#define GT_API_DYNAMODB_DDB_TRANSACTION_H

#include "api/dynamodb/ddb_usage.h"
#include "base/hash.h"

/* Several actions that happen together, and what is to be told of each. */
struct transaction {
    struct action *actions;
    bool old_on_failure[LIMIT_TRANSACT_ITEMS]; /* tell the item if its condition failed */
    size_t count;
};

/* One without actions and with room for `room` of them, which are zero; in the arena. */
struct transaction *transaction_new(struct arena *arena, size_t room);

/* Fills in call->change with the actions, and with ClientRequestToken if there is one: `asked` is
 * the part of the request that a repeat must have in common. */
void transaction_submit(struct call *call, struct transaction *transaction,
                        const struct json *asked);
/* How it went. A cancellation is told with its reasons, one for each action. */
enum status transaction_changed(struct call *call, const struct transaction *transaction);
/* CANCELLED with the reasons. statuses and texts of what went wrong are in the actions'
 * failures. */
enum status transaction_cancelled(struct call *call, const struct transaction *transaction);

/* "ConsumedCapacity":[...] with all units doubled, if it was asked for. A repeat has only read. */
void transaction_put_usage(struct call *call, const struct transaction *transaction);

/* Two digests of JSON, which are independent for different seeds. They are the same for the same
 * JSON, whatever the order of its members, and for ever: they are stored beside tokens. */
struct hash_two transaction_digest(const struct json *value, struct hash_two seeds);

#endif

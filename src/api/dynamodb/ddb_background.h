/* Operations that take their time: part of them runs on a thread of its own. */
#ifndef GT_API_DYNAMODB_DDB_BACKGROUND_H
#define GT_API_DYNAMODB_DDB_BACKGROUND_H

#include "api/dynamodb/ddb_call.h"
#include "api/transfer/transfer.h"

/* For `return call_background(call, work, next)`: `work` runs in the background and may wait for
 * what it likes; when it is OK, `next` runs on the exchange's loop. Either may fail the call.
 * call->state is taken. */
enum status call_background(struct call *call, enum status (*work)(struct call *call),
                            enum status (*next)(struct call *call));

/* Something that belongs to a table: a backup, an export or an import. */
struct sub_arn {
    struct bytes table;
    const char *kind; /* "backup", "export", "import" */
    struct bytes id;
};
/* Appends table/NAME/KIND/ID as an ARN, quoted. */
void call_put_sub_arn(const struct call *call, struct buf *to, struct sub_arn arn);
/* The table and the id in such an ARN. False if it is not one. */
bool call_read_sub_arn(struct bytes arn, const char *kind, struct bytes *table, struct bytes *id);
/* Seconds since 1970 as a request tells them, in milliseconds; 0 if absent. */
int64_t call_time_ms(const struct call *call, enum arg arg);
/* "name":seconds, if it ever happened. */
void reply_time(struct buf *to, struct bytes name, int64_t ms);
/* "name":"text", if there is one. */
void reply_text(struct buf *to, struct bytes name, struct bytes text);

#endif

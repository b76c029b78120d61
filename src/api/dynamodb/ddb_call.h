/* One request on its way through an operation, and what every operation does with it.
 *
 * An operation is a function `enum status run(struct call *)`. It reads call->args, asks the
 * engine, writes its JSON into call->reply and returns OK; or it returns a failure that it put into
 * call->failure. To change something it fills in call->change and returns call_then(call, next):
 * the change is submitted after it returns, and `next`, again such a function, runs on the
 * exchange's loop when it is done. It never answers the exchange itself.
 */
#ifndef GT_API_DYNAMODB_DDB_CALL_H
#define GT_API_DYNAMODB_DDB_CALL_H

#include "api/change_submit.h"
#include "api/dynamodb/content_coding.h"
#include "api/dynamodb/dynamodb_frontend.h"
#include "api/dynamodb/spec.h"
#include "api/dynamodb/test_faults.h"
#include "api/guard.h"
#include "expr/legacy.h"
#include "table/change.h"
#include "json/attribute.h"

struct operation;

struct call {
    struct http_exchange *exchange;
    const struct dynamodb_frontend *frontend;
    const struct operation *operation;
    struct engine *engine; /* what the caller may reach of it; NULL until the caller is known */
    struct caller caller;  /* who asks */
    struct guard guard;
    struct arena *arena; /* the exchange's: lives until the answer */
    struct buf *reply;   /* the answer's body */
    struct json request;
    struct bytes table; /* TableName, plain, if the operation has one */
    uint32_t page_max;  /* items of a page that a test has ordered; 0: none */
    int64_t delay_ms;   /* that a test has ordered */

    struct failure failure;
    const char *exception; /* the exception, where the failure's status does not say it */
    struct bytes extra;    /* more members of the error's JSON: `,"Item":{...}`; or empty */

    struct change change;
    enum status (*then)(struct call *call);
    /* Where one change is not enough: called in place of submitting call->change. It submits
     * several through call->written (change_submit_begin() and so on), or sees to it that
     * call_wake() is called once. */
    void (*submit)(struct call *call);
    struct change_submit written; /* comes back to the call */
    void *state;                  /* the operation's own */

    struct bytes content_type; /* of the answer */
    enum coding coding;        /* how the client takes large answers */
    bool cors;                 /* it came from a page of another origin */

    struct args args; /* last, because it is large: it is not set before spec_read() */
};

/* What a front end is made of, for those in this folder. */
struct dynamodb_frontend {
    struct engine *engine;
    struct dynamodb_settings settings;
};

/* INVALID with the text. For `return call_invalid(call, "...")`. */
enum status call_invalid(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__
#define call_invalid(...) STATUS_RETURNED(call_invalid(__VA_ARGS__), INVALID)
#endif
/* INVALID with the text, told as another exception ("AccessDeniedException"). */
enum status call_refuse(struct call *call, const char *exception, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* With the newest texts, puts "1 validation error detected: " before the fault, unless it counts
 * already. */
void call_count_fault(struct call *call);

/* Has call->change submitted (kind, actions and the like are filled in by the caller; the rest
 * here) and `next` run when it is done. Always OK. */
enum status call_then(struct call *call, enum status (*next)(struct call *call));
/* Has `next` run on the exchange's loop. From another thread; for those with a `submit` of their
 * own. */
void call_wake(struct call *call);
/* Has `next` run now, on the thread where the call runs. */
void call_resume(struct call *call);
/* How the change went: its failure becomes the call's. */
enum status call_changed(struct call *call);

/* The jobs that copy tables, which the guard in call->engine does not see: for who may administer
 * the whole table ("*": every table). *out may be NULL: this server has none. DENIED. */
enum status call_transfer(struct call *call, struct bytes table, struct transfer **out);

/* The plain name in a table's name or ARN. INVALID if it is an ARN of something else. */
enum status call_table_name(struct call *call, struct bytes text, struct bytes *out);
/* The region of ARNs: from the settings or the request's credentials. */
struct bytes call_region(const struct call *call);
struct bytes call_account(const struct call *call);
/* Appends arn:aws:dynamodb:REGION:ACCOUNT:table/NAME, unquoted. */
void call_put_arn(const struct call *call, struct buf *to, struct bytes table);

/* An object of attributes (Item, Key, ExclusiveStartKey, ...). */
enum status call_item(struct call *call, const struct json *from, struct item *out);

/* Members of a JSON object being written: `{` or `,` first, then "name":. Starts the object when
 * nothing but `{` was written since. */
void reply_name(struct buf *to, struct bytes name);
#define REPLY_NAME(to, literal) reply_name((to), BYTES(literal))

/* Whether a read that takes long should rather be WOULD_BLOCK: then the operation is run once more,
 * on the pool, where it may take its time. */
bool call_must_not_wait(const struct call *call);

/* Counts what was read of a table, or written, against capacity that a test has enforced. */
void ddb_spend(const struct call *call, struct bytes table, struct test_units used);

/* Takes the exchange from here: runs the operation to its answer. The operation and request
 * are set. */
void call_start(struct call *call);

#endif

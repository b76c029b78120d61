/* A guard before an engine: an engine itself, which asks access_control.h about each item and table
 * that a request touches, lets through what the caller may and refuses the rest. One a request,
 * made when its caller is known; operations are given it instead of the engine behind it, and so
 * none of them, now or later, can forget to ask.
 *
 *     reading items              read
 *     reading a stream           read, on all partitions
 *     writing items              write (a mere check of an item: read)
 *     looking at a table, stream any of the three
 *     listing tables, streams    any of the three, on all tables (or on the one whose are listed)
 *     making, changing tables    admin
 *     copies of tables           admin, on all partitions
 *     anything else              admin
 *
 * A key that is kept to some partitions reads and writes items in those only: by the partition key
 * of the table, or of the index it queries. It scans nothing and changes no table.
 *
 * What is added to struct engine_ops must be added here: tests/unit/api/test_guard.c sees to it.
 */
#ifndef GT_API_GUARD_H
#define GT_API_GUARD_H

#include "api/access_control.h"
#include "table/engine.h"

/* Puts DENIED with the front end's text into *failure. `index` may be empty. */
typedef void guard_refuse(void *context, struct bytes table, struct bytes index, struct scope in);

struct guard_settings {
    const struct caller *caller; /* who asks */
    guard_refuse *deny;
    void *context; /* of deny */
};

struct guard {
    struct engine engine;  /* first: what is handed out */
    struct engine *behind; /* what it guards */
    struct guard_settings settings;
};

/* Returns &guard->engine. The guard is the caller's memory; the engine behind it and what the
 * settings point to are borrowed. */
struct engine *guard_init(struct guard *guard, struct engine *behind,
                          const struct guard_settings *settings);

/* For what is not the engine's doing, such as files made of a table: OK, or DENIED when the caller
 * may not do all of `access` to all of the table. */
enum status guard_require(const struct guard *guard, unsigned access, struct bytes table,
                          struct scope in);

#endif

/* A guard before an engine: an engine itself, which lets through what a key allows and refuses the
 * rest. One a request, made when its key is known; operations are given it instead of the engine
 * behind it, and so none of them, now or later, can forget to ask.
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

#include "api/keys.h"
#include "table/table.h"

/* Puts DENIED with the face's text into *failure. `index` may be empty. */
typedef void guard_refuse(void *context, struct bytes table, struct bytes index,
                          struct arena *arena, struct failure *failure);

struct guard {
    struct engine engine; /* first: what is handed out */
    struct engine *behind;
    const struct access_key *key;
    guard_refuse *refuse;
    void *context;
};

/* The guard is the caller's memory, and borrows everything. */
struct engine *guard_init(struct guard *guard, struct engine *behind, const struct access_key *key,
                          guard_refuse *refuse, void *context);

/* For what is not the engine's doing, such as files made of a table: OK, or DENIED when the key may
 * not do all of `access` to all of the table. */
enum status guard_require(const struct guard *guard, unsigned access, struct bytes table,
                          struct arena *arena, struct failure *failure);

#endif

/* What the files of items, changes, tables and streams share; nothing for the ranking. */
#ifndef GT_TABLE_REMOTE_REMOTE_PARTS_H
#define GT_TABLE_REMOTE_REMOTE_PARTS_H

#include "table/remote/remote_int.h"
#include "table/remote/transport.h"
#include "table/rules.h"

/* --- requests --- */

/* Sends and reads the answer; a fault of the endpoint becomes a status with its text. */
enum status remote_ask(struct remote *remote, struct transport_request *request, struct scope in);
/* The endpoint answered, and not as DynamoDB does. */
enum status remote_odd_answer(struct scope in);

/* --- tables (remote_tables.c) --- */

/* The schema of a table, from memory or by asking. It stays good while the engine is open. NO_TABLE
 * if there is none. The game table's has the index `ranks`, which the endpoint has not. */
enum status remote_schema(struct remote *remote, struct bytes table, struct scope in,
                          const struct table_schema **out);
bool remote_is_game(const struct remote *remote, struct bytes table);
/* Whether a page of that table and index is the ranking's. */
bool remote_is_ranks(const struct remote *remote, struct bytes table, struct bytes index);

extern const struct table_ops remote_table_ops;
/* Changes that are not writes of items: fills in change->failure and the description. */
void remote_change_table(struct remote *remote, struct change *change);
struct remote_tables *remote_tables_new(void);
void remote_tables_free(struct remote_tables *tables);

/* --- items (remote_items.c) --- */

extern const struct item_ops remote_item_ops;
/* Of struct item_ops (remote_pages.c). */
enum status remote_page(struct engine *engine, const struct page_request *request, struct scope in,
                        struct page_reply *out);
/* The item with its version as it is sent; `version` is a whole value of `v` (remote_version.c). */
struct item remote_item_sent(const struct item *item, struct bytes version, struct arena *arena);
/* Whether the item's time has come (its attribute `ttl`), though the endpoint still has it. */
bool remote_item_expired(const struct remote *remote, const struct item *item);
/* One item that is read for a change, or was by its `prepare`. */
struct remote_read {
    struct item key;
    struct item item;     /* without `v`; count 0: there is none, or its time has come */
    struct bytes version; /* the whole value of `v`, with past versions; empty: it has none */
    bool exists;          /* at the endpoint: with or without a version */
    bool seen;            /* by `prepare`: what it was is checked in the commit */
    struct item ranked;   /* what the ranking said of it to `prepare`, which the item has to agree
                             with; count 0: it was not asked */
    struct remote_read *next;
};
/* An item of an answer. */
struct remote_row {
    struct bytes table;
    const struct json *json;
};
/* Takes it apart; one whose time has come is none. */
enum status remote_take_item(struct remote *remote, const struct remote_row *row, struct scope in,
                             struct remote_read *out);
struct remote_reads {
    struct bytes table;
    struct remote_read **reads; /* no key twice */
    size_t count;
};
/* Reads them all, consistently. */
enum status remote_read_many(struct remote *remote, const struct remote_reads *some,
                             struct scope in);

/* While a change's `prepare` runs on this thread: what it reads. NULL: none runs. */
struct remote_recording {
    struct arena *arena;
    struct remote_read *first; /* the last one read comes first */
    size_t count;
    bool settled; /* what is read of ranks need not be as of the commit (struct change) */
};
extern _Thread_local struct remote_recording *remote_recording;
/* Notes that `prepare` was shown an item as it is in `read`. */
void remote_record_read(const struct remote_read *read);

/* --- versions in items (item_versions.c) --- */

/* The whole value of an item's `v`; empty: it has none. */
struct bytes remote_versions_of(const struct item *item);
/* The microseconds of a version; and that they were seen, so that versions given from now on are
 * later. */
uint64_t remote_version_time(struct bytes version);
void remote_version_note(struct remote *remote, uint64_t time_us);

/* What `v` becomes when the item is written: `version`, then those of `past` (the value that `v`
 * had) that are young enough to matter to whoever has to find out whether its own write was done.
 */
struct bytes remote_versions_with(struct bytes version, struct bytes past, struct arena *arena);
/* The newest of a value of `v`. */
struct bytes remote_version_newest(struct bytes versions);
/* Whether a value of `v` names the version. *dropped: it holds as many as it may, and all are newer
 * than this one, which may have been there. */
bool remote_versions_have(struct bytes versions, struct bytes version, bool *dropped);

/* --- changes (remote_change.c), streams (remote_streams.c) --- */

extern const struct change_ops remote_change_ops;
extern const struct stream_ops remote_stream_ops;
struct remote_stream_reader *remote_stream_reader_new(void);
void remote_stream_reader_free(struct remote_stream_reader *reader);

struct remote_rules *remote_rules_new(void);
void remote_rules_free(struct remote_rules *rules);
/* CHANGE_ADD_RULES, CHANGE_DROP_RULES. */
void remote_rules_change(struct remote *remote, const struct change *change);

#endif

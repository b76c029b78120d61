/* The inside of the remote engine: its parts, and who calls which.
 *
 *   remote.c           opening, closing, what the parts are
 *   transport.*        requests to the endpoint: signed, sent, tried again
 *   remote_items.c     get_many, over GetItem and BatchGetItem
 *   remote_pages.c     page, over Query and Scan
 *   item_versions.c    versions of items, as described below
 *   remote_change.c    changes: read, work out, write on condition of the versions that were read
 *   remote_tables.c    describing and making tables
 *   remote_streams.c   the table's stream, shard by shard
 *   remote_follow.c    the stream as who copies the table reads it
 *   remote_versions.c  versions of partitions: raised by own commits and by those of other nodes
 *   remote_ranking*, redis_*   the index `ranks`, in Redis
 *
 * Threads. Everything here may be called on any thread that may wait, unless it says otherwise;
 * nothing is called on a loop (engine_may_block()). The engine has no thread that commits: a change
 * is carried out on the thread that submits it.
 *
 * Versions. Every item of the game table carries the attribute `v` (REMOTE_VERSION), a string of 16
 * digits, '-' and 8 characters: microseconds since 1970, at least one more than that of the item it
 * replaces, and who wrote it. Two writes never have the same, and memcmp() orders those of an item,
 * of a recreated item too as far as clocks agree. Readers of the engine do not see the attribute;
 * it is added on the way to the endpoint and taken off on the way back (struct remote_item).
 */
#ifndef GT_TABLE_REMOTE_REMOTE_INT_H
#define GT_TABLE_REMOTE_REMOTE_INT_H

#include "table/change.h"
#include "table/engine.h"
#include "table/inprocess.h"
#include "table/ranking.h"
#include "table/remote/remote.h"
#include "table/table_stream.h"

#include <stdatomic.h>

#define REMOTE_VERSION BYTES("v")
enum { REMOTE_VERSION_SIZE = 25, REMOTE_VERSION_DIGITS = 16 };

struct transport;
struct remote_tables;
struct remote_rules;
struct remote_stream_reader;
struct remote_ranking;

/* Versions of partitions, by hash; several partitions may share a number, which then rises for
 * each. */
enum { REMOTE_VERSION_SLOTS = 65536 };

struct remote {
    struct engine engine; /* first: a struct engine * of ours is a struct remote * */
    struct remote_settings settings;
    struct bytes table; /* settings.table */
    char node[9];       /* who this process is, random at each start; ends its versions */
    struct transport *transport;
    struct remote_tables *tables;         /* what is known of tables, for a while */
    struct remote_rules *rules;           /* of the table's owner (write_rule.h) */
    struct remote_stream_reader *reader;  /* for housekeeping (remote_streams.c) */
    struct remote_ranking *ranking;       /* NULL: none, in tests of the rest */
    atomic_uint_fast64_t *versions;       /* REMOTE_VERSION_SLOTS */
    atomic_uint_fast64_t commits, writes; /* since the start, and the items that they wrote */
    atomic_uint_fast64_t submitted;       /* changes that are being carried out */
    atomic_bool read_only;                /* others are refused */
    atomic_uint_fast64_t last_version;    /* the microseconds of the last version given or seen */
};

static inline struct remote *remote_of(struct engine *engine) {
    return (struct remote *)engine;
}

/* --- what the ranking provides (remote_ranking.c and redis_*) --- */

/* Connects, loads the script, starts listening for what other nodes publish. The table need not be
 * there yet. INVALID or IO_FAILED with a sentence that says what to do. */
enum status remote_ranking_open(struct remote *remote, struct scope in,
                                struct remote_ranking **out);
/* Called once, when the game table is there (after the game has opened it): starts the projector
 * and the rebuilding of what is missing. */
void remote_ranking_start(struct remote_ranking *ranking);
/* The process ends: rankings that are being built are left to others. Any thread, does not wait. */
void remote_ranking_end_soon(struct remote_ranking *ranking);
/* Stops its threads and frees it. Before the transport ends. NULL is fine. */
void remote_ranking_close(struct remote_ranking *ranking);

/* One item of the game table that was written. The ranking takes those that are in `ranks` before
 * or after: they have PK, SK, score, subscore and tie. */
struct remote_write {
    struct item key;            /* PK and SK */
    const struct item *old;     /* before; count 0: there was none. Without `v`, */
    const struct item *new;     /* after, likewise */
    struct bytes old_version;   /* their `v`, REMOTE_VERSION_SIZE bytes; empty: it had none. A */
    struct bytes version;       /* removal has only old_version, and wins over a put of that one */
    struct action_ranks *ranks; /* asked for with the action (ranking.h), or NULL */
    bool keeps_version;         /* as the action says: subscribers need not be woken */
};
/* Before a commit that asks for ranks: a ranking that is not whole is built first, if that does not
 * take long, so that the commit's ranks can be counted. Asks Redis only about partitions that it
 * has not seen whole since a connection was last lost. */
void remote_ranking_ready(struct remote_ranking *ranking, struct bytes partition,
                          struct arena *arena);
/* After a commit, on the submitter's thread, before `done`: moves the entries, fills in `ranks`
 * where asked, raises the partitions' versions here and tells the other nodes. It never fails: what
 * cannot be done now the projector does, and `ranks` then say that they were not counted. Safe to
 * repeat in any order. */
void remote_ranking_apply(struct remote_ranking *ranking, const struct remote_write *writes,
                          size_t count, struct arena *arena);

/* A page of the index `ranks`: keys only (PK, SK, score, subscore, tie), with all of what struct
 * page_request has for ranks, filters, projections and SELECT_COUNT. What it returns is checked
 * (rules.h) already. */
enum status remote_ranking_page(struct remote_ranking *ranking, const struct page_request *request,
                                struct scope in, struct page_reply *out);
/* Of struct ranking_ops. */
enum status remote_rank_lookup(struct engine *engine, const struct rank_request *request,
                               struct scope in, struct rank_reply *replies);

/* Figures for /metrics and the console: whether Redis answers, rankings being built, ... Any
 * thread, does not wait. */
bool remote_ranking_healthy(struct remote_ranking *ranking);

/* --- versions of partitions (remote_versions.c) --- */

/* The slot of a partition, by the text of its PK. The same on all nodes. */
uint32_t remote_version_slot(struct bytes partition);
/* Raises one, or, when messages may have been lost, all. Any thread, never waits. */
void remote_version_raise(struct remote *remote, uint32_t slot);
void remote_version_raise_all(struct remote *remote);
extern const struct inprocess_ops remote_inprocess_ops;

/* --- what the ranking may call ---
 *
 * engine_get(), engine_page() of the table and of GSI1 and GSI2, and engine_submit_wait() with
 * ACTION_COMPUTE, of &remote->engine: reads are consistent where the request says so, and a compute
 * runs on what the item is then, so a lease is an item that a compute takes, keeps or leaves. Pages
 * of the table carry no versions; this one does, for rebuilding, with what a rank hangs on (SK,
 * score, subscore, tie): */
struct remote_item {
    struct item item;     /* without `v`, unless a struct remote_scan has it */
    struct bytes version; /* empty: it has none */
};
struct remote_scan {
    struct bytes partition;   /* its PK: a query, consistent */
    const struct item *start; /* NULL: from the first */
    uint32_t limit;           /* 0: 1 MB */
    bool backward;            /* from the last sort key down */
    /* filled in */
    struct remote_item *items;
    size_t count;
    bool more;
    struct item last_key; /* when more */
};
enum status remote_query_versions(struct remote *remote, struct remote_scan *scan, struct scope in);

/* The stream of the game table as DynamoDB has it: shards that end and have children. */
struct remote_shard {
    struct bytes id, parent;  /* parent empty: none that is still kept */
    struct bytes first, last; /* sequence numbers; last empty: it is open */
};
struct remote_shards {
    struct bytes stream; /* its ARN */
    struct remote_shard *shards;
    size_t count;
};
/* NO_RESOURCE if the table has no stream. */
enum status remote_stream_shards(struct remote *remote, struct scope in, struct remote_shards *out);

struct remote_record {
    struct bytes sequence; /* decimal digits, of any length: compare by length, then bytes */
    int64_t created_ms;
    enum stream_event event;
    bool expired;
    struct item keys;
    bool has_old, has_new;
    struct item old, new;                  /* without `v` */
    struct bytes old_version, new_version; /* empty: none */
};
struct remote_shard_read {
    struct bytes stream, shard;
    struct bytes after; /* the sequence number to go on after; empty: from the first that is kept */
    struct bytes iterator; /* of the reading before, or empty; in the caller's keeping */
    size_t limit;          /* 0: 1,000 */
    /* filled in */
    struct remote_record *records;
    size_t count;
    struct bytes next; /* iterator; empty: the shard is at its end */
};
/* NO_RESOURCE: no such shard any more. NOT_FOUND: what follows `after` has been trimmed. An
 * iterator that has expired is made anew from `after`. */
enum status remote_shard_read(struct remote *remote, struct remote_shard_read *read,
                              struct scope in);

/* --- items on the way (remote_items.c) --- */

/* Takes `v` off the item. Remembers its time, so that versions given from now on are later. */
struct remote_item remote_item_received(struct remote *remote, const struct item *item,
                                        struct arena *arena);
/* A version greater than `old` (empty: none), of now. */
struct bytes remote_version_next(struct remote *remote, struct bytes old, struct arena *arena);

#endif

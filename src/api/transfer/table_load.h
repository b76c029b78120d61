/* Filling a table from a source of items, fast: many writes in flight, each an ordinary change, so
 * that the writer commits them in groups. */
#ifndef GT_API_TRANSFER_TABLE_LOAD_H
#define GT_API_TRANSFER_TABLE_LOAD_H

#include "table/change.h"

#include <stdatomic.h>

/* Where items come from. */
struct source {
    /* The next item, in the arena. NOT_FOUND at the end; INVALID for one that is none (the next
     * call goes on behind it); anything else ends it. */
    enum status (*next)(struct source *source, struct scope in, struct item *out);
    uint64_t size;  /* bytes of records taken so far */
    uint64_t place; /* bytes of files read so far, as they lie there; 0: no files */
};

/* What a person or a client sees of it while it runs. Read by any thread. */
struct load_figures {
    atomic_uint_fast64_t processed; /* records taken from the source */
    atomic_uint_fast64_t loaded;    /* items that are in the table */
    atomic_uint_fast64_t refused;   /* records that were none, or that the table does not take */
    atomic_uint_fast64_t size;      /* bytes taken from the source */
};

struct load {
    struct engine *engine;
    struct bytes table;
    bool loading; /* as in struct change: the table is not in use yet */
    struct source *source;
    const atomic_bool *stop;         /* set by another thread: end with STOPPING; may be NULL */
    void (*progress)(void *context); /* called now and then; may be NULL */
    void *context;
    struct load_figures *figures;
    struct bytes first_refusal; /* filled in: why, in the arena of load_run(); or empty */
};

/* Reads the source to its end. OK however many records were refused; else what ended it. */
enum status load_run(struct load *load, struct scope in);

/* Makes the table of the schema, loads it and lets it be used: all or, on failure, nothing. With
 * `made` it is there already, empty and loading. */
enum status load_table(struct load *load, const struct table_schema *schema, bool made,
                       struct scope in);

/* Removes a table that is loading. */
void load_abandon(struct engine *engine, struct bytes table, struct arena *arena);

#endif

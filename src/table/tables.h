/* Tables as a whole: what there is, what it looks like, what may be altered.
 *
 * Looking is a call that answers before it returns, for any thread, unless engine_may_block()
 * (engine.h); in the embedded engine it costs a look at the catalogue in memory. Making, altering
 * and deleting tables are changes (change.h).
 */
#ifndef GT_TABLE_TABLES_H
#define GT_TABLE_TABLES_H

#include "table/schema.h"

struct engine;

enum status engine_describe(struct engine *engine, struct bytes table, struct scope in,
                            struct table_description *out);
/* Which names of tables are asked for, in byte order. */
struct list_request {
    struct bytes after; /* only names after this one; empty: from the first */
    size_t limit;       /* at most so many */
};
struct name_list {
    struct bytes *names;
    size_t count;
    bool more; /* some are left */
};
enum status engine_list(struct engine *engine, const struct list_request *request,
                        struct arena *arena, struct name_list *out);

/* Changes to a table's settings; each pointer NULL means "leave it". */
struct alteration {
    const enum billing *billing;
    const struct capacity_settings *capacity;
    const enum stream_view *stream;
    const bool *deletion_protection;
    const struct bytes *table_class;
    const bool *encrypted;
    struct bytes encryption_key;
    const struct key_part *attributes; /* definitions given with the request */
    uint32_t attribute_count;
    const struct index_schema *add_index; /* at most one a request */
    struct bytes drop_index;              /* empty: none */
    struct {
        struct bytes name;
        struct capacity_settings capacity;
    } * update_indexes;
    uint32_t update_index_count;
};

struct table_ops {
    enum status (*describe)(struct engine *, struct bytes, struct scope,
                            struct table_description *);
    enum status (*list)(struct engine *, const struct list_request *, struct arena *,
                        struct name_list *);
};

#endif

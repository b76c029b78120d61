#include "api/guard.h"

#include "table/backup.h"
#include "table/inprocess.h"
#include "table/ranking.h"
#include "table/table_stream.h"
#include "value/number.h"

static struct guard *guard_of(struct engine *engine) {
    return (struct guard *)engine;
}

static enum status deny(const struct guard *guard, struct bytes table, struct bytes index,
                        struct scope in) {
    guard->settings.deny(guard->settings.context, table, index, in);
    return DENIED;
}

/* Whether the caller may touch the table so; TOUCHES_SCHEMA says nothing of partitions. */
static bool may_touch(const struct guard *guard, enum touches what, unsigned access,
                      struct bytes table) {
    struct touch touch = {.what = what, .access = access, .table = table};
    return access_decide(guard->settings.caller, &touch) == DENIAL_NONE;
}

/* --- partitions --- */

/* Whether the caller may touch the partition of that key. Numbers are named as they are written. */
static bool may_reach(const struct guard *guard, unsigned access, struct bytes table,
                      const struct value *partition) {
    struct touch touch = {.what = TOUCHES_PARTITION, .access = access, .table = table};
    char text[NUMBER_MAX_TEXT];
    if (partition->type == VALUE_N)
        touch.partition = bytes_of(text, number_text(partition->bytes, text));
    else if (partition->type == VALUE_S || partition->type == VALUE_B)
        touch.partition = partition->bytes;
    return access_decide(guard->settings.caller, &touch) == DENIAL_NONE;
}

struct table_or_index {
    struct bytes table, index; /* no index: the table itself */
};

/* The partition attribute of the table, or of its index. Several attributes may make up the
 * partition key of an index: the first leads. An index that is not there has none. */
static enum status leading_name(const struct guard *guard, struct table_or_index of,
                                struct scope in, struct bytes *out) {
    struct table_description description;
    enum status status = engine_describe(guard->behind, of.table, in, &description);
    if (status != OK)
        return status;
    const struct key_schema *keys = &description.schema.keys;
    if (of.index.size != 0) {
        const struct index_schema *found = table_schema_index(&description.schema, of.index);
        keys = found != NULL ? &found->keys : NULL;
    }
    *out = keys != NULL ? keys->parts[0].name : (struct bytes){0};
    return OK;
}

/* One item that is to be read or written. */
struct item_touch {
    unsigned access;
    struct bytes table;
    const struct item *item;
};

/* An item without its partition key is let through: the engine refuses it with DynamoDB's text. */
static enum status check_item(const struct guard *guard, const struct item_touch *touch,
                              struct scope in) {
    struct bytes table = touch->table, name, none = {0};
    if (!may_touch(guard, TOUCHES_SCHEMA, touch->access, table))
        return deny(guard, table, none, in);
    if (!access_is_partitioned(guard->settings.caller))
        return OK;
    enum status status = leading_name(guard, (struct table_or_index){.table = table}, in, &name);
    if (status != OK)
        return status;
    const struct value *partition = item_get(touch->item, name);
    if (partition == NULL || may_reach(guard, touch->access, table, partition))
        return OK;
    return deny(guard, table, none, in);
}

/* A scan touches all of the table, and so does a query that does not name its partition. */
static enum status check_query(const struct guard *guard, const struct page_request *request,
                               struct scope in) {
    struct bytes name, table = request->table;
    if (may_touch(guard, TOUCHES_TABLE, ACCESS_READ, table))
        return OK;
    if (request->keys == NULL || !may_touch(guard, TOUCHES_SCHEMA, ACCESS_READ, table))
        return deny(guard, table, request->index, in);
    enum status status =
        leading_name(guard, (struct table_or_index){table, request->index}, in, &name);
    if (status != OK)
        return status;
    for (unsigned i = 0; i < request->keys->count; i++) {
        const struct key_test *test = &request->keys->tests[i];
        if (bytes_equal(test->name, name) && test->op == KEY_EQ &&
            may_reach(guard, ACCESS_READ, table, &test->low))
            return OK;
    }
    return deny(guard, table, request->index, in);
}

/* --- reading --- */

static enum status guard_get_many(struct engine *engine, const struct get_request *requests,
                                  size_t count, struct scope in, struct get_reply *replies) {
    const struct guard *guard = guard_of(engine);
    for (size_t i = 0; i < count; i++) {
        struct item_touch touch = {ACCESS_READ, requests[i].table, &requests[i].key};
        enum status status = check_item(guard, &touch, in);
        if (status != OK)
            return status;
    }
    return engine_get_many(guard->behind, requests, count, in, replies);
}

static enum status guard_page(struct engine *engine, const struct page_request *request,
                              struct scope in, struct page_reply *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = check_query(guard, request, in);
    if (status != OK)
        return status;
    return engine_page(guard->behind, request, in, out);
}

static enum status guard_rank_lookup(struct engine *engine, const struct rank_request *request,
                                     struct scope in, struct rank_reply *places) {
    const struct guard *guard = guard_of(engine);
    /* A rank says something about all the other items. */
    if (!may_touch(guard, TOUCHES_TABLE, ACCESS_READ, request->table))
        return deny(guard, request->table, request->index, in);
    return engine_rank_lookup(guard->behind, request, in, places);
}

/* The names of partitions say something about all of the table. */
static enum status check_names(const struct guard *guard, const struct partition_names *which,
                               struct scope in) {
    if (may_touch(guard, TOUCHES_TABLE, ACCESS_READ, which->table))
        return OK;
    return deny(guard, which->table, which->index, in);
}

static enum status guard_partitions_count(struct engine *engine,
                                          const struct partition_names *which, struct scope in,
                                          struct name_span *spans, size_t count) {
    const struct guard *guard = guard_of(engine);
    enum status status = check_names(guard, which, in);
    return status == OK ? engine_partitions_count(guard->behind, which, in, spans, count) : status;
}

static enum status guard_partitions_list(struct engine *engine, const struct partition_names *which,
                                         const struct name_span *span, size_t limit,
                                         struct scope in, struct partition_list *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = check_names(guard, which, in);
    return status == OK ? engine_partitions_list(guard->behind, which, span, limit, in, out)
                        : status;
}

/* Not guarded: a version tells nothing but that something was written. */
static uint64_t guard_partition_version(struct engine *engine, struct bytes table,
                                        const struct value *partition, uint32_t *where) {
    struct engine *behind = guard_of(engine)->behind;
    return behind->inprocess->partition_version(behind, table, partition, where);
}

static uint64_t guard_partition_version_at(struct engine *engine, uint32_t where) {
    return engine_partition_version_at(guard_of(engine)->behind, where);
}

static bool guard_partition_changed(struct engine *engine, uint32_t where, uint64_t version) {
    return engine_partition_changed(guard_of(engine)->behind, where, version);
}

/* That there is nothing says something, too: who may not read the table is not told. */
static bool guard_partitions_absent(struct engine *engine, struct bytes table,
                                    const struct value *partitions, size_t count) {
    const struct guard *guard = guard_of(engine);
    return may_touch(guard, TOUCHES_TABLE, ACCESS_READ, table) &&
           engine_partitions_absent(guard->behind, table, partitions, count);
}

/* --- changing --- */

static enum status check_actions(const struct guard *guard, struct change *change) {
    for (size_t i = 0; i < change->action_count; i++) {
        const struct action *action = &change->actions[i];
        unsigned needed = action->kind == ACTION_CHECK ? ACCESS_READ : ACCESS_WRITE;
        struct item_touch touch = {needed, action->table, &action->item};
        enum status status =
            check_item(guard, &touch, (struct scope){change->arena, &change->failure});
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status check_change(const struct guard *guard, struct change *change) {
    /* What a prepare callback will write cannot be seen beforehand. */
    if (change->kind == CHANGE_WRITE && change->prepare != NULL)
        return may_touch(guard, TOUCHES_TABLE, ACCESS_ALL, BYTES("*"))
                   ? OK
                   : deny(guard, BYTES("*"), (struct bytes){0},
                          (struct scope){change->arena, &change->failure});
    if (change->kind == CHANGE_WRITE)
        return check_actions(guard, change);
    struct bytes table = change->table;
    if (change->kind == CHANGE_CREATE_TABLE)
        table = change->schema->name;
    if (may_touch(guard, TOUCHES_TABLE, ACCESS_ADMIN, table))
        return OK;
    return deny(guard, table, (struct bytes){0}, (struct scope){change->arena, &change->failure});
}

static void guard_submit(struct engine *engine, struct change *change) {
    const struct guard *guard = guard_of(engine);
    if (check_change(guard, change) == OK)
        engine_submit(guard->behind, change);
    else
        change->done(change);
}

/* A batch belongs to the engine behind the guard; its changes were checked when they were
 * submitted. */
static void guard_batch_flush(struct engine *engine, struct change_batch *batch) {
    struct engine *behind = guard_of(engine)->behind;
    behind->inprocess->batch_flush(behind, batch);
}

/* --- looking at tables --- */

static enum status guard_describe(struct engine *engine, struct bytes table, struct scope in,
                                  struct table_description *out) {
    const struct guard *guard = guard_of(engine);
    if (!may_touch(guard, TOUCHES_SCHEMA, 0, table))
        return deny(guard, table, (struct bytes){0}, in);
    return guard->behind->tables->describe(guard->behind, table, in, out);
}

static enum status guard_list(struct engine *engine, const struct list_request *request,
                              struct arena *arena, struct name_list *out) {
    const struct guard *guard = guard_of(engine);
    if (!may_touch(guard, TOUCHES_SCHEMA, 0, BYTES("*"))) {
        struct failure failure;
        *out = (struct name_list){0};
        return deny(guard, BYTES("*"), (struct bytes){0}, (struct scope){arena, &failure});
    }
    return guard->behind->tables->list(guard->behind, request, arena, out);
}

/* --- streams --- */

/* Listing streams: of all tables, or of one that the key may see. */
static enum status guard_streams(struct engine *engine, const struct stream_list_request *request,
                                 struct arena *arena, struct stream_list *out) {
    const struct guard *guard = guard_of(engine);
    struct bytes table = request->table.size == 0 ? BYTES("*") : request->table;
    if (!may_touch(guard, TOUCHES_SCHEMA, 0, table)) {
        struct failure failure;
        *out = (struct stream_list){0};
        return deny(guard, table, (struct bytes){0}, (struct scope){arena, &failure});
    }
    return guard->behind->streams->streams(guard->behind, request, arena, out);
}

static enum status guard_stream(struct engine *engine, const struct stream_id *id, struct scope in,
                                struct stream_info *out) {
    const struct guard *guard = guard_of(engine);
    if (!may_touch(guard, TOUCHES_SCHEMA, 0, id->table))
        return deny(guard, id->table, (struct bytes){0}, in);
    return guard->behind->streams->stream(guard->behind, id, in, out);
}

/* A stream has records of all partitions, so the key must be for all of them. */
static enum status guard_stream_read(struct engine *engine,
                                     const struct stream_read_request *request, struct scope in,
                                     struct stream_read_reply *out) {
    const struct guard *guard = guard_of(engine);
    if (!may_touch(guard, TOUCHES_TABLE, ACCESS_READ, request->table))
        return deny(guard, request->table, (struct bytes){0}, in);
    return guard->behind->streams->stream_read(guard->behind, request, in, out);
}

static uint64_t guard_stream_latest(struct engine *engine) {
    struct engine *behind = guard_of(engine)->behind;
    return behind->streams->stream_latest(behind);
}

/* --- copies of tables: all of a table, so nothing for a key that is kept to partitions --- */

enum status guard_require(const struct guard *guard, unsigned access, struct bytes table,
                          struct scope in) {
    if (may_touch(guard, TOUCHES_TABLE, access, table))
        return OK;
    return deny(guard, table, (struct bytes){0}, in);
}

static enum status check_copy(const struct guard *guard, struct bytes table, struct scope in) {
    return guard_require(guard, ACCESS_ADMIN, table, in);
}

static enum status guard_backup_create(struct engine *engine, const struct backup_request *request,
                                       struct scope in, struct backup_description *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = check_copy(guard, request->table, in);
    if (status != OK)
        return status;
    return guard->behind->copies->backup_create(guard->behind, request, in, out);
}

static enum status guard_backup_describe(struct engine *engine, struct bytes id, struct scope in,
                                         struct backup_description *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = guard->behind->copies->backup_describe(guard->behind, id, in, out);
    return status == OK ? check_copy(guard, out->table.schema.name, in) : status;
}

static enum status guard_backup_delete(struct engine *engine, struct bytes id, struct scope in,
                                       struct backup_description *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = guard_backup_describe(engine, id, in, out);
    if (status != OK)
        return status;
    return guard->behind->copies->backup_delete(guard->behind, id, in, out);
}

static enum status guard_backup_list(struct engine *engine, const struct backup_filter *filter,
                                     struct scope in, struct backup_list *out) {
    const struct guard *guard = guard_of(engine);
    struct bytes table = filter->table.size == 0 ? BYTES("*") : filter->table;
    if (!may_touch(guard, TOUCHES_SCHEMA, 0, table))
        return deny(guard, table, (struct bytes){0}, in);
    return guard->behind->copies->backup_list(guard->behind, filter, in, out);
}

static enum status guard_read_table(struct engine *engine, const struct reader_request *request,
                                    struct scope in, struct table_reader **out) {
    const struct guard *guard = guard_of(engine);
    struct backup_description backup;
    enum status status = request->backup.size != 0
                             ? guard_backup_describe(engine, request->backup, in, &backup)
                             : check_copy(guard, request->table, in);
    if (status != OK)
        return status;
    return guard->behind->copies->read_table(guard->behind, request, in, out);
}

static enum status guard_recovery_set(struct engine *engine, const struct recovery_request *request,
                                      struct scope in, struct recovery_state *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = check_copy(guard, request->table, in);
    if (status != OK)
        return status;
    return guard->behind->copies->recovery_set(guard->behind, request, in, out);
}

/* Says no more than a description of the table, and is for the same keys. */
static enum status guard_recovery_describe(struct engine *engine, struct bytes table,
                                           struct scope in, struct recovery_state *out) {
    const struct guard *guard = guard_of(engine);
    if (!may_touch(guard, TOUCHES_SCHEMA, 0, table))
        return deny(guard, table, (struct bytes){0}, in);
    return guard->behind->copies->recovery_describe(guard->behind, table, in, out);
}

static void guard_figures(struct engine *engine, struct engine_figures *out) {
    struct engine *behind = guard_of(engine)->behind;
    behind->ops->figures(behind, out);
}

/* The engine is not closed through a guard, and neither told to end nor to take no writes: these
 * three do nothing. */
static void guard_close(struct engine *engine) {
    (void)engine;
}

static void guard_end_soon(struct engine *engine, unsigned grace_ms) {
    (void)engine;
    (void)grace_ms;
}

static void guard_read_only(struct engine *engine, bool on) {
    (void)engine;
    (void)on;
}

static const struct item_ops guard_item_ops = {
    .get_many = guard_get_many,
    .page = guard_page,
};

static const struct change_ops guard_change_ops = {
    .submit = guard_submit,
};

static const struct table_ops guard_table_ops = {
    .describe = guard_describe,
    .list = guard_list,
};

static const struct stream_ops guard_stream_ops = {
    .streams = guard_streams,
    .stream = guard_stream,
    .stream_read = guard_stream_read,
    .stream_latest = guard_stream_latest,
};

static const struct ranking_ops guard_ranking_ops = {
    .rank_lookup = guard_rank_lookup,
    .partitions_count = guard_partitions_count,
    .partitions_list = guard_partitions_list,
};

static const struct copy_ops guard_copy_ops = {
    .backup_create = guard_backup_create,
    .backup_describe = guard_backup_describe,
    .backup_delete = guard_backup_delete,
    .backup_list = guard_backup_list,
    .read_table = guard_read_table,
    .recovery_set = guard_recovery_set,
    .recovery_describe = guard_recovery_describe,
};

static const struct inprocess_ops guard_inprocess_ops = {
    .partition_version = guard_partition_version,
    .partition_version_at = guard_partition_version_at,
    .partition_changed = guard_partition_changed,
    .partitions_absent = guard_partitions_absent,
    .batch_flush = guard_batch_flush,
};

static const struct engine_ops guard_ops = {
    .figures = guard_figures,
    .read_only = guard_read_only,
    .end_soon = guard_end_soon,
    .close = guard_close,
};

/* The guard has the abilities of the engine behind it, and blocks where that blocks. */
static struct engine guarded(const struct engine *behind) {
    return (struct engine){
        .ops = &guard_ops,
        .items = &guard_item_ops,
        .changes = &guard_change_ops,
        .tables = &guard_table_ops,
        .streams = behind->streams != NULL ? &guard_stream_ops : NULL,
        .ranking = behind->ranking != NULL ? &guard_ranking_ops : NULL,
        .copies = behind->copies != NULL ? &guard_copy_ops : NULL,
        .inprocess = behind->inprocess != NULL ? &guard_inprocess_ops : NULL,
        .abilities = behind->abilities,
        .may_block = behind->may_block,
        .actions_max = behind->actions_max,
    };
}

struct engine *guard_init(struct guard *guard, struct engine *behind,
                          const struct guard_settings *settings) {
    *guard = (struct guard){guarded(behind), behind, *settings};
    return &guard->engine;
}

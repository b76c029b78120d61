#include "api/guard.h"

#include "table/stream.h"
#include "value/number.h"

static struct guard *guard_of(struct engine *engine) {
    return (struct guard *)engine;
}

static enum status refuse(const struct guard *guard, struct bytes table, struct bytes index,
                          struct arena *arena, struct failure *failure) {
    guard->refuse(guard->context, table, index, arena, failure);
    return DENIED;
}

/* --- partitions --- */

/* Numbers are named as they are written. */
static bool reaches(const struct access_key *key, const struct value *partition) {
    char text[NUMBER_MAX_TEXT];
    if (partition->type == VALUE_N)
        return access_key_reaches(key, bytes_of(text, number_text(partition->bytes, text)));
    return (partition->type == VALUE_S || partition->type == VALUE_B) &&
           access_key_reaches(key, partition->bytes);
}

/* The partition attribute of the table, or of its index. Several attributes may make up the
 * partition key of an index: the first leads. An index that is not there has none. */
static enum status leading_name(const struct guard *guard, struct bytes table, struct bytes index,
                                struct arena *arena, struct failure *failure, struct bytes *out) {
    struct table_description description;
    enum status status = engine_describe(guard->behind, table, arena, failure, &description);
    if (status != OK)
        return status;
    const struct key_schema *keys = &description.schema.keys;
    if (index.size != 0) {
        const struct index_schema *found = table_schema_index(&description.schema, index);
        keys = found != NULL ? &found->keys : NULL;
    }
    *out = keys != NULL ? keys->parts[0].name : (struct bytes){0};
    return OK;
}

/* An item without its key is let through: the engine has its own words for it. */
static enum status check_item(const struct guard *guard, struct bytes table,
                              const struct item *item, struct arena *arena,
                              struct failure *failure) {
    struct bytes name;
    if (guard->key->partition_count == 0)
        return OK;
    enum status status = leading_name(guard, table, (struct bytes){0}, arena, failure, &name);
    if (status != OK)
        return status;
    const struct value *partition = item_get(item, name);
    if (partition == NULL || reaches(guard->key, partition))
        return OK;
    return refuse(guard, table, (struct bytes){0}, arena, failure);
}

static enum status check_query(const struct guard *guard, const struct page_request *request,
                               struct arena *arena, struct failure *failure) {
    struct bytes name;
    if (guard->key->partition_count == 0)
        return OK;
    if (request->keys == NULL)
        return refuse(guard, request->table, request->index, arena, failure);
    enum status status = leading_name(guard, request->table, request->index, arena, failure, &name);
    if (status != OK)
        return status;
    for (unsigned i = 0; i < request->keys->count; i++) {
        const struct key_test *test = &request->keys->tests[i];
        if (bytes_equal(test->name, name) && test->op == KEY_EQ && reaches(guard->key, &test->low))
            return OK;
    }
    return refuse(guard, request->table, request->index, arena, failure);
}

/* --- reading --- */

static enum status guard_get_many(struct engine *engine, const struct get_request *requests,
                                  size_t count, struct arena *arena, struct failure *failure,
                                  struct get_reply *replies) {
    const struct guard *guard = guard_of(engine);
    for (size_t i = 0; i < count; i++) {
        struct bytes table = requests[i].table;
        enum status status = OK;
        if (!access_key_allows(guard->key, ACCESS_READ, table))
            status = refuse(guard, table, (struct bytes){0}, arena, failure);
        if (status == OK)
            status = check_item(guard, table, &requests[i].key, arena, failure);
        if (status != OK)
            return status;
    }
    return guard->behind->ops->get_many(guard->behind, requests, count, arena, failure, replies);
}

static enum status guard_page(struct engine *engine, const struct page_request *request,
                              struct arena *arena, struct failure *failure,
                              struct page_reply *out) {
    const struct guard *guard = guard_of(engine);
    if (!access_key_allows(guard->key, ACCESS_READ, request->table))
        return refuse(guard, request->table, request->index, arena, failure);
    enum status status = check_query(guard, request, arena, failure);
    if (status != OK)
        return status;
    return guard->behind->ops->page(guard->behind, request, arena, failure, out);
}

static enum status guard_places(struct engine *engine, const struct place_request *request,
                                struct arena *arena, struct failure *failure,
                                struct place *places) {
    const struct guard *guard = guard_of(engine);
    bool allowed = access_key_allows(guard->key, ACCESS_READ, request->table);
    /* What it tells is of other items, too. */
    if (!allowed || guard->key->partition_count != 0)
        return refuse(guard, request->table, request->index, arena, failure);
    return guard->behind->ops->places(guard->behind, request, arena, failure, places);
}

/* Tells nothing but that something happened. */
static uint64_t guard_touched(struct engine *engine, struct bytes table,
                              const struct value *partition, uint32_t *where) {
    struct engine *behind = guard_of(engine)->behind;
    return behind->ops->touched(behind, table, partition, where);
}

static uint64_t guard_touched_at(struct engine *engine, uint32_t where) {
    return engine_touched_at(guard_of(engine)->behind, where);
}

/* --- changing --- */

static enum status check_actions(const struct guard *guard, struct change *change) {
    for (size_t i = 0; i < change->action_count; i++) {
        const struct action *action = &change->actions[i];
        unsigned needed = action->kind == ACTION_CHECK ? ACCESS_READ : ACCESS_WRITE;
        enum status status = OK;
        if (!access_key_allows(guard->key, needed, action->table))
            status =
                refuse(guard, action->table, (struct bytes){0}, change->arena, &change->failure);
        if (status == OK)
            status =
                check_item(guard, action->table, &action->item, change->arena, &change->failure);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status check_change(const struct guard *guard, struct change *change) {
    /* What such a change will write cannot be seen beforehand. */
    if (change->kind == CHANGE_WRITE && change->decide != NULL)
        return access_key_is_free(guard->key)
                   ? OK
                   : refuse(guard, BYTES("*"), (struct bytes){0}, change->arena, &change->failure);
    if (change->kind == CHANGE_WRITE)
        return check_actions(guard, change);
    struct bytes table = change->table;
    if (change->kind == CHANGE_CREATE_TABLE)
        table = change->schema->name;
    if (guard->key->partition_count == 0 && access_key_allows(guard->key, ACCESS_ADMIN, table))
        return OK;
    return refuse(guard, table, (struct bytes){0}, change->arena, &change->failure);
}

static void guard_submit(struct engine *engine, struct change *change) {
    const struct guard *guard = guard_of(engine);
    if (check_change(guard, change) == OK)
        guard->behind->ops->submit(guard->behind, change);
    else
        change->done(change);
}

/* What is kept is kept behind it, and that is who is asked. */
static void guard_hand_over(struct engine *engine) {
    struct guard *guard = (struct guard *)engine;
    guard->behind->ops->hand_over(guard->behind);
}

/* --- looking at tables --- */

static enum status guard_describe(struct engine *engine, struct bytes table, struct arena *arena,
                                  struct failure *failure, struct table_description *out) {
    const struct guard *guard = guard_of(engine);
    if (!access_key_allows(guard->key, 0, table))
        return refuse(guard, table, (struct bytes){0}, arena, failure);
    return guard->behind->ops->describe(guard->behind, table, arena, failure, out);
}

static enum status guard_list(struct engine *engine, struct bytes after, size_t limit,
                              struct arena *arena, struct name_list *out) {
    const struct guard *guard = guard_of(engine);
    if (!access_key_spans(guard->key)) {
        struct failure failure;
        *out = (struct name_list){0};
        return refuse(guard, BYTES("*"), (struct bytes){0}, arena, &failure);
    }
    return guard->behind->ops->list(guard->behind, after, limit, arena, out);
}

/* --- streams --- */

/* Of all tables, or of one that the key may look at. */
static enum status guard_streams(struct engine *engine, const struct stream_list_request *request,
                                 struct arena *arena, struct stream_list *out) {
    const struct guard *guard = guard_of(engine);
    struct bytes table = request->table;
    bool allowed =
        table.size == 0 ? access_key_spans(guard->key) : access_key_allows(guard->key, 0, table);
    if (!allowed) {
        struct failure failure;
        *out = (struct stream_list){0};
        return refuse(guard, table.size == 0 ? BYTES("*") : table, (struct bytes){0}, arena,
                      &failure);
    }
    return guard->behind->ops->streams(guard->behind, request, arena, out);
}

static enum status guard_stream(struct engine *engine, struct bytes table, int64_t label_ms,
                                struct arena *arena, struct failure *failure,
                                struct stream_info *out) {
    const struct guard *guard = guard_of(engine);
    if (!access_key_allows(guard->key, 0, table))
        return refuse(guard, table, (struct bytes){0}, arena, failure);
    return guard->behind->ops->stream(guard->behind, table, label_ms, arena, failure, out);
}

/* A stream tells of all partitions. */
static enum status guard_stream_read(struct engine *engine,
                                     const struct stream_read_request *request, struct arena *arena,
                                     struct failure *failure, struct stream_read_reply *out) {
    const struct guard *guard = guard_of(engine);
    if (guard->key->partition_count != 0 ||
        !access_key_allows(guard->key, ACCESS_READ, request->table))
        return refuse(guard, request->table, (struct bytes){0}, arena, failure);
    return guard->behind->ops->stream_read(guard->behind, request, arena, failure, out);
}

static uint64_t guard_stream_latest(struct engine *engine) {
    struct engine *behind = guard_of(engine)->behind;
    return behind->ops->stream_latest(behind);
}

/* --- copies of tables: all of a table, so nothing for a key that is kept to partitions --- */

enum status guard_require(const struct guard *guard, unsigned access, struct bytes table,
                          struct arena *arena, struct failure *failure) {
    if (guard->key->partition_count == 0 && access_key_allows(guard->key, access, table))
        return OK;
    return refuse(guard, table, (struct bytes){0}, arena, failure);
}

static enum status check_copy(const struct guard *guard, struct bytes table, struct arena *arena,
                              struct failure *failure) {
    return guard_require(guard, ACCESS_ADMIN, table, arena, failure);
}

static enum status guard_backup_create(struct engine *engine, const struct backup_request *request,
                                       struct arena *arena, struct failure *failure,
                                       struct backup_description *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = check_copy(guard, request->table, arena, failure);
    if (status != OK)
        return status;
    return guard->behind->ops->backup_create(guard->behind, request, arena, failure, out);
}

static enum status guard_backup_describe(struct engine *engine, struct bytes id,
                                         struct arena *arena, struct failure *failure,
                                         struct backup_description *out) {
    const struct guard *guard = guard_of(engine);
    enum status status =
        guard->behind->ops->backup_describe(guard->behind, id, arena, failure, out);
    return status == OK ? check_copy(guard, out->table.schema.name, arena, failure) : status;
}

static enum status guard_backup_delete(struct engine *engine, struct bytes id, struct arena *arena,
                                       struct failure *failure, struct backup_description *out) {
    const struct guard *guard = guard_of(engine);
    enum status status = guard_backup_describe(engine, id, arena, failure, out);
    if (status != OK)
        return status;
    return guard->behind->ops->backup_delete(guard->behind, id, arena, failure, out);
}

static enum status guard_backup_list(struct engine *engine, const struct backup_filter *filter,
                                     struct arena *arena, struct failure *failure,
                                     struct backup_list *out) {
    const struct guard *guard = guard_of(engine);
    if (filter->table.size == 0 && !access_key_spans(guard->key))
        return refuse(guard, BYTES("*"), (struct bytes){0}, arena, failure);
    if (filter->table.size != 0 && !access_key_allows(guard->key, 0, filter->table))
        return refuse(guard, filter->table, (struct bytes){0}, arena, failure);
    return guard->behind->ops->backup_list(guard->behind, filter, arena, failure, out);
}

static enum status guard_read_table(struct engine *engine, const struct reader_request *request,
                                    struct arena *arena, struct failure *failure,
                                    struct table_reader **out) {
    const struct guard *guard = guard_of(engine);
    struct backup_description backup;
    enum status status =
        request->backup.size != 0
            ? guard_backup_describe(engine, request->backup, arena, failure, &backup)
            : check_copy(guard, request->table, arena, failure);
    if (status != OK)
        return status;
    return guard->behind->ops->read_table(guard->behind, request, arena, failure, out);
}

static void guard_figures(struct engine *engine, struct engine_figures *out) {
    struct engine *behind = guard_of(engine)->behind;
    behind->ops->figures(behind, out);
}

/* It is nobody's to close through a guard. */
static void guard_close(struct engine *engine) {
    (void)engine;
}

static const struct engine_ops ops = {
    .get_many = guard_get_many,
    .page = guard_page,
    .places = guard_places,
    .touched = guard_touched,
    .touched_at = guard_touched_at,
    .submit = guard_submit,
    .hand_over = guard_hand_over,
    .describe = guard_describe,
    .list = guard_list,
    .streams = guard_streams,
    .stream = guard_stream,
    .stream_read = guard_stream_read,
    .stream_latest = guard_stream_latest,
    .figures = guard_figures,
    .backup_create = guard_backup_create,
    .backup_describe = guard_backup_describe,
    .backup_delete = guard_backup_delete,
    .backup_list = guard_backup_list,
    .read_table = guard_read_table,
    .close = guard_close,
};

struct engine *guard_init(struct guard *guard, struct engine *behind, const struct access_key *key,
                          guard_refuse *refuse_with, void *context) {
    *guard = (struct guard){{&ops}, behind, key, refuse_with, context};
    return &guard->engine;
}

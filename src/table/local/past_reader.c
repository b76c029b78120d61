/* Reading a table as it was. The folder that it is read from may take long to make, and who asks
 * for the reader wants an answer soon: so it is made when the first item is read. */
#include "base/files.h"
#include "base/mem.h"
#include "table/local/local_int.h"
#include "table/local/recovery_bases.h"
#include "table/local/table_reader.h"

struct past_reader {
    struct table_reader base; /* first: the interface's handle */
    struct local *local;
    struct recovery_base from; /* held */
    int64_t time_ms;
    char *path;                 /* of the folder that is made */
    struct table_reader *inner; /* of it; NULL: not yet */
    struct arena arena;         /* what `about` points at */
};

static enum status make_past(struct past_reader *reader, struct scope in) {
    char *base = recovery_base_path(reader->local->recovery, &reader->from);
    struct store_past past = {
        .base = base, .path = reader->path, .time_ms = reader->time_ms, .stop = reader->base.stop};
    struct reader_source source = {.path = reader->path, .table = reader->base.about.schema.name};
    enum status status = store_restore_past(reader->local->store, &past, in);
    if (status == OK)
        status = reader_open(&source, in, &reader->inner);
    mem_free(base);
    return status;
}

static enum status past_next(struct table_reader *base, struct arena *arena, struct item *out) {
    struct past_reader *reader = (struct past_reader *)base;
    struct failure failure = {0};
    enum status status = OK;
    if (reader->inner == NULL)
        status = make_past(reader, (struct scope){arena, &failure});
    if (status == NOT_FOUND)
        status = IO_FAILED; /* which is not the end of the table */
    return status == OK ? reader->inner->next(reader->inner, arena, out) : status;
}

static void past_restart(struct table_reader *base) {
    struct past_reader *reader = (struct past_reader *)base;
    if (reader->inner != NULL)
        reader->inner->restart(reader->inner);
}

static void past_close(struct table_reader *base) {
    struct past_reader *reader = (struct past_reader *)base;
    if (reader->inner != NULL)
        reader->inner->close(reader->inner);
    files_remove(reader->path);
    recovery_drop(reader->local->recovery);
    mem_free(reader->path);
    arena_release(&reader->arena);
    mem_free(reader);
}

static enum status check_time(const struct reader_request *request,
                              const struct recovery_state *state, struct scope in) {
    if (!state->enabled)
        return failure_set(in.failure, in.arena, NO_RESOURCE,
                           "Point in time recovery is not enabled for table '%.*s'",
                           BYTES_ARG(request->table));
    if (request->at_ms < state->earliest_ms || request->at_ms > state->latest_ms)
        return failure_set(in.failure, in.arena, INVALID,
                           "The table can be had as it was between %lld.%03lld and %lld.%03lld "
                           "seconds since 1970",
                           (long long)state->earliest_ms / 1000,
                           (long long)state->earliest_ms % 1000, (long long)state->latest_ms / 1000,
                           (long long)state->latest_ms % 1000);
    return OK;
}

/* About the table as it is now: its settings are what a restored one gets, as in the service. */
static enum status describe_now(struct past_reader *reader, struct bytes name, struct scope in) {
    struct table *table = local_find(reader->local, name, in);
    if (table == NULL)
        return NO_TABLE;
    pthread_rwlock_rdlock(&reader->local->state_lock);
    table_describe(table, &reader->arena, &reader->base.about);
    pthread_rwlock_unlock(&reader->local->state_lock);
    reader->base.about.schema = table_schema_copy(&reader->arena, &reader->base.about.schema);
    reader->base.about.indexes = NULL;
    table_unref(table);
    return OK;
}

static struct past_reader *past_reader_new(struct local *local, int64_t time_ms) {
    struct past_reader *reader = mem_zalloc(sizeof(*reader));
    reader->base =
        (struct table_reader){.next = past_next, .restart = past_restart, .close = past_close};
    reader->local = local;
    reader->time_ms = time_ms;
    reader->path = recovery_scratch_path(local->recovery);
    arena_init(&reader->arena);
    return reader;
}

enum status past_reader_open(struct local *local, const struct reader_request *request,
                             struct scope in, struct table_reader **out) {
    struct recovery_state state;
    struct recovery_base from;
    enum status status = local_recovery_describe(&local->engine, request->table, in, &state);
    if (status == OK)
        status = check_time(request, &state, in);
    if (status != OK)
        return status;
    if (!recovery_hold(local->recovery, request->at_ms, &from))
        return failure_set(in.failure, in.arena, INVALID,
                           "What is kept no longer reaches back to that time");
    struct past_reader *reader = past_reader_new(local, request->at_ms);
    reader->from = from;
    status = describe_now(reader, request->table, in);
    if (status != OK)
        past_close(&reader->base);
    else
        *out = &reader->base;
    return status;
}

/* --- a whole folder as it was --- */

static enum status past_from(struct store *store, const struct past_request *request,
                             struct scope in) {
    struct recovery_bases bases;
    char *recovery = files_join(request->from, "recovery");
    bases_list(recovery, &bases);
    const struct recovery_base *from = bases_before(&bases, request->time_ms);
    enum status status = OK;
    if (from == NULL)
        status = failure_set(in.failure, in.arena, INVALID,
                             bases.count == 0
                                 ? "No table of %s has point-in-time recovery switched on."
                                 : "What %s keeps for recovery does not reach back to that time.",
                             request->from);
    else {
        char *base = bases_path(recovery, from, "");
        struct store_past past = {base, request->path, request->time_ms, request->stop};
        status = store_restore_past(store, &past, in);
        mem_free(base);
    }
    mem_free(recovery);
    return status;
}

enum status local_restore_past(const struct past_request *request, struct scope in) {
    struct store_settings settings = {.path = request->from, .must_exist = true, .read_only = true};
    struct store *store;
    enum status status = store_open(&settings, in, &store);
    if (status != OK)
        return status;
    status = past_from(store, request, in);
    store_close(store);
    return status;
}

/* Item expiry (DynamoDB's time to live). On the writer's thread.
 *
 * A table with an expiry attribute has, beside its indexes, an expiry tree: its items by the time
 * each expires, made and kept right by the code of the indexes, so it agrees with the items between
 * groups, and what is due is at its beginning. Nothing is ever scanned for it.
 *
 * The writer looks a few times a second and takes away what is due, as ordinary deletions in
 * groups of their own: since nothing else happens between looking and deciding, what was due still
 * is. A batch is small enough for others not to notice. After one, the writer does for as long as
 * it took what others ask for; unless it is late, then only what already waits. Tables take turns.
 */
#include "table/local/writer.h"

#include "base/clock.h"

enum { LOOK_US = 200 * 1000, LATE_MS = 400 };

/* Times are in the tree's order: from the oldest that counts. */
static bool seek_first(struct tree_cursor *cursor, const struct table *table, int64_t now_ms) {
    struct buf low = {0};
    buf_u64(&low, now_ms > EXPIRY_PAST_MS ? (uint64_t)(now_ms - EXPIRY_PAST_MS) : 0);
    bool found = tree_seek(cursor, table->expiry->tree, buf_bytes(&low));
    buf_release(&low);
    return found;
}

static bool is_due(struct tree_cursor *cursor, int64_t now_ms) {
    uint64_t ms;
    return keys_time_of(tree_key(cursor), &ms) && ms <= (uint64_t)now_ms;
}

/* Whether something of the table ended `ago_ms` ago or before. */
static bool has_due(const struct table *table, int64_t now_ms, int64_t ago_ms) {
    if (table->expiry == NULL || table->expiry->tree == NULL || table->loading)
        return false;
    struct tree_cursor cursor = {0};
    bool due = seek_first(&cursor, table, now_ms) && is_due(&cursor, now_ms - ago_ms);
    tree_cursor_release(&cursor);
    return due;
}

/* The next table in turn that has something due, or NULL. */
static struct table *find_due(struct local *local, int64_t now_ms) {
    struct table *first = NULL, *after = NULL;
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        if (!has_due(table, now_ms, 0))
            continue;
        if (first == NULL || table->id < first->id)
            first = table;
        if (table->id > local->writer->expired_table && (after == NULL || table->id < after->id))
            after = table;
    }
    return after != NULL ? after : first;
}

/* Makes a deletion of each, up to a batch. */
static size_t collect(const struct table *table, int64_t now_ms, struct arena *arena,
                      struct action *actions) {
    const struct table_schema *schema = table->schema;
    struct tree_cursor cursor = {0};
    size_t count = 0;
    for (bool on = seek_first(&cursor, table, now_ms);
         on && count < LIMIT_EXPIRY_BATCH && is_due(&cursor, now_ms); on = tree_next(&cursor)) {
        struct action *action = &actions[count];
        *action = (struct action){.kind = ACTION_DELETE, .table = schema->name, .expired = true};
        struct bytes entry = arena_copy(arena, tree_key(&cursor)); /* the key borrows from it */
        if (keys_time_decode(schema, entry, arena, &action->item) == OK)
            count++;
    }
    tree_cursor_release(&cursor);
    return count;
}

static enum status run_batch(struct local *local, struct table *table, int64_t now_ms,
                             uint64_t *done) {
    struct commit_group *group = local->writer->filling;
    struct arena arena;
    arena_init(&arena);
    struct change change = {.kind = CHANGE_WRITE, .arena = &arena};
    change.actions = ARENA_ARRAY(&arena, struct action, LIMIT_EXPIRY_BATCH);
    change.action_count = collect(table, now_ms, &arena, change.actions);
    enum status status = change.action_count != 0 ? OK : DAMAGED;
    for (size_t i = 0; i < change.action_count && status == OK; i++)
        status = action_admit(local, &change, &change.actions[i], table);
    if (status == OK) {
        commit_group_add(group, &change);
        commit_group_commit(group);
        commit_group_settle(group);
        commit_group_take_changes(group);
        status = change.failure.status;
    }
    uint64_t before = *done;
    for (size_t i = 0; i < change.action_count && status == OK; i++)
        *done += change.actions[i].had_old;
    atomic_fetch_add_explicit(&local->expired, *done - before, memory_order_relaxed);
    if (status == OK && *done == before)
        status = DAMAGED; /* entries of nothing: not again at once */
    change_release(&change);
    arena_release(&arena);
    return status;
}

int64_t expiry_run(struct local *local) {
    int64_t start = clock_ticks_us(), now_ms = clock_now_ms();
    struct table *table = local->writer->read_only ? NULL : find_due(local, now_ms);
    uint64_t done = 0;
    if (table == NULL)
        return LOOK_US;
    local->writer->expired_table = table->id;
    if (run_batch(local, table, now_ms, &done) != OK)
        return JOB_WAIT_MAX_US; /* what failed may work then */
    return has_due(table, now_ms, LATE_MS) ? 0 : clock_ticks_us() - start;
}

/* A table whose expiry tree is still being made, so that nobody knows what of it is due; or NULL.
 */
static const struct table *find_building(const struct local *local) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        const struct table *table = slot->value;
        if (table->expiry != NULL && table->expiry->tree == NULL && !table->loading)
            return table;
    }
    return NULL;
}

enum status expiry_run_all(struct local *local, struct change *change) {
    int64_t now_ms = clock_now_ms();
    const struct table *building = find_building(local);
    if (building != NULL)
        return failure_set(&change->failure, change->arena, BEING_BUILT,
                           "The times at which items of table %.*s expire are still being "
                           "collected: ask again.",
                           BYTES_ARG(building->schema->name));
    for (struct table *table; (table = find_due(local, now_ms)) != NULL;) {
        enum status status = run_batch(local, table, now_ms, &change->expired);
        if (status != OK)
            return failure_set(&change->failure, change->arena, status,
                               "The items could not be removed.");
    }
    return OK;
}

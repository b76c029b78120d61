/* Count indexes over a restart: the store knows which there are, and a start makes them again.
 *
 *   'r' prefix   -> nothing     in the store's meta family; `prefix` is what the partition's keys
 *                               begin with: table:u32 hash:u32 partition
 *
 * It is written periodically, so the last few may be missing after a crash: then they are made when
 * they are asked for, like any other. */
#include "table/local/count_index_int.h"
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

enum { KIND = 'r', HEAD_SIZE = 8, SAVES_A_STEP = 1000 };

static void put_record(struct store_batch *batch, const struct count_index *count_index,
                       bool keep) {
    uint8_t memory[COUNT_INDEX_KEY_ROOM];
    struct buf key = buf_in(memory, sizeof(memory));
    buf_byte(&key, KIND);
    buf_put(&key, count_index_prefix(count_index));
    if (keep)
        store_put(batch, STORE_META, buf_bytes(&key), (struct bytes){0});
    else
        store_del(batch, STORE_META, buf_bytes(&key));
    buf_release(&key);
}

/* --- writing --- */

static void drop_records(struct count_index_set *set, struct store_batch *batch) {
    while (set->unsave != NULL && store_batch_count(batch) < SAVES_A_STEP) {
        struct count_index *gone = set->unsave, *again;
        set->unsave = gone->next;
        put_record(batch, gone, false);
        again = count_index_lookup(set, &gone->id, count_index_prefix(gone));
        if (again != NULL)
            again->saved = false;
        count_index_delete(set, gone);
    }
}

static void keep_records(struct count_index_set *set, struct store_batch *batch) {
    for (struct count_index *at = set->newest;
         at != NULL && store_batch_count(batch) < SAVES_A_STEP; at = at->older)
        if (at->id.parts == 0 && !at->saved) {
            put_record(batch, at, true);
            at->saved = true;
        }
}

static void save_some(struct local *local) {
    struct count_index_set *set = local->count_index;
    struct store_batch *batch = store_batch_new(local->store);
    pthread_mutex_lock(&set->lock);
    drop_records(set, batch);
    keep_records(set, batch);
    set->unsaved = store_batch_count(batch) == SAVES_A_STEP; /* there may be more */
    pthread_mutex_unlock(&set->lock);
    if (store_batch_count(batch) != 0) {
        struct arena arena;
        struct failure failure;
        arena_init(&arena);
        /* If that fails, all is made anew, as after any write that fails. */
        store_write(local->store, batch, (struct scope){&arena, &failure});
        arena_release(&arena);
    }
    store_batch_free(batch);
}

void count_index_save(struct local *local) {
    count_index_delete_evicted(local->count_index, NULL);
    while (local->count_index->unsaved && !store_is_broken(local->store))
        save_some(local);
}

int64_t count_index_run(struct local *local) {
    struct count_index_set *set = local->count_index;
    int64_t now = clock_ticks_us();
    pthread_mutex_lock(&set->lock);
    bool sweeps = set->evicted != NULL;
    pthread_mutex_unlock(&set->lock);
    if (sweeps) {
        pthread_rwlock_wrlock(&local->state_lock); /* whoever reads one of them is done then */
        pthread_rwlock_unlock(&local->state_lock);
        count_index_delete_evicted(set, local->reclaimer);
    }
    pthread_mutex_lock(&set->lock);
    bool saves = set->unsaved && now >= set->save_at_us;
    pthread_mutex_unlock(&set->lock);
    if (saves) {
        save_some(local);
        pthread_mutex_lock(&set->lock);
        set->save_at_us = now + set->save_every_us;
        pthread_mutex_unlock(&set->lock);
    }
    return JOB_WAIT_MAX_US;
}

/* --- a start --- */

/* The table whose partition it is, with a reference; NULL if it is nobody's. */
static struct table *find_table_of(struct local *local, struct bytes prefix) {
    struct table *found = NULL;
    struct bytes rest = prefix;
    uint32_t id;
    size_t at = 0;
    if (!take_u32(&rest, &id) || prefix.size <= HEAD_SIZE)
        return NULL;
    pthread_rwlock_rdlock(&local->state_lock);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        const struct table_schema *schema = table->schema;
        struct bytes partition = bytes_skip(prefix, HEAD_SIZE);
        if (table->id == id && key_span(partition, schema->keys.parts[0].type) == partition.size) {
            found = table;
            table_ref(table);
        }
    }
    pthread_rwlock_unlock(&local->state_lock);
    return found;
}

/* Has a record taken away, or notes that it is there. */
static void settle_record(struct count_index_set *set, struct bytes prefix, bool made) {
    struct count_index *count_index = NULL;
    pthread_mutex_lock(&set->lock);
    if (made) {
        struct count_index_id id =
            count_index_id_of(&(struct count_index_target){.prefix = prefix});
        count_index = count_index_lookup(set, &id, prefix);
        if (count_index != NULL)
            count_index->saved = true;
    }
    if (count_index == NULL && !atomic_load(&set->stop)) {
        count_index = mem_zalloc(sizeof(*count_index) + prefix.size);
        count_index->prefix_size = (uint32_t)prefix.size;
        memcpy(count_index->prefix, prefix.data, prefix.size);
        count_index->next = set->unsave;
        set->unsave = count_index;
        set->unsaved = true;
    }
    pthread_mutex_unlock(&set->lock);
}

static void *make_wanted(void *argument) {
    struct local *local = argument;
    struct count_index_set *set = local->count_index;
    for (size_t i = 0; i < set->wanted_count && !atomic_load(&set->stop); i++) {
        struct count_index_target target = {.prefix = set->wanted[i]};
        struct table *table = find_table_of(local, target.prefix);
        bool made = false;
        if (table != NULL) {
            target.table = table;
            made = count_index_make(local, &target);
            table_unref(table);
        }
        settle_record(set, target.prefix, made);
    }
    return NULL;
}

static void add_wanted(struct count_index_set *set, struct bytes prefix, size_t *room) {
    if (set->wanted_count == *room) {
        size_t more = *room == 0 ? 64 : *room * 2;
        set->wanted = arena_grow(&set->arena, set->wanted, *room * sizeof(struct bytes),
                                 more * sizeof(struct bytes));
        *room = more;
    }
    set->wanted[set->wanted_count++] = arena_copy(&set->arena, prefix);
}

enum status count_index_load(struct local *local, struct scope in) {
    struct count_index_set *set = local->count_index;
    uint8_t low = KIND, high = KIND + 1;
    size_t room = 0;
    struct store_range range = {
        .family = STORE_META, .low = bytes_of(&low, 1), .high = bytes_of(&high, 1)};
    struct store_iter *iter = store_iter_open(local->store, &range);
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter))
        add_wanted(set, bytes_skip(store_iter_key(iter), 1), &room);
    enum status status = store_iter_status(iter);
    store_iter_close(iter);
    if (status != OK)
        return failure_set(in.failure, in.arena, status, "The catalogue cannot be read.");
    return OK;
}

/* Without the thread they are made when they are asked for. */
void count_index_start(struct local *local) {
    struct count_index_set *set = local->count_index;
    if (set->wanted_count != 0)
        set->started = thread_start(&set->thread, make_wanted, local) == 0;
}

void count_index_stop(struct local *local) {
    struct count_index_set *set = local->count_index;
    atomic_store(&set->closing, true);
    count_index_pause(local);
    if (set->started)
        pthread_join(set->thread, NULL);
    set->started = false;
}

/* Counted partitions over a restart: the store knows which there are, and a start makes them again.
 *
 *   'r' prefix   -> nothing     in the store's meta family; `prefix` is what the partition's keys
 *                               begin with: table:u32 hash:u32 partition
 *
 * It is written by the clock, so the last few may be missing after a crash: then they are made when
 * they are asked for, like any other. */
#include "table/local/counted_int.h"
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"

enum { KIND = 'r', HEAD_SIZE = 8, SAVES_A_STEP = 1000 };

static void put_record(struct store_batch *batch, const struct counted *counted, bool keep) {
    uint8_t memory[COUNTED_KEY_ROOM];
    struct buf key = buf_in(memory, sizeof(memory));
    buf_byte(&key, KIND);
    buf_put(&key, counted_prefix(counted));
    if (keep)
        store_put(batch, STORE_META, buf_bytes(&key), (struct bytes){0});
    else
        store_del(batch, STORE_META, buf_bytes(&key));
    buf_release(&key);
}

/* --- writing --- */

static void drop_records(struct counted_set *set, struct store_batch *batch) {
    while (set->unsave != NULL && store_batch_count(batch) < SAVES_A_STEP) {
        struct counted *gone = set->unsave, *again;
        set->unsave = gone->next;
        put_record(batch, gone, false);
        again = counted_lookup(set, &gone->id, counted_prefix(gone));
        if (again != NULL)
            again->saved = false;
        counted_delete(set, gone);
    }
}

static void keep_records(struct counted_set *set, struct store_batch *batch) {
    for (struct counted *at = set->newest; at != NULL && store_batch_count(batch) < SAVES_A_STEP;
         at = at->older)
        if (at->id.parts == 0 && !at->saved) {
            put_record(batch, at, true);
            at->saved = true;
        }
}

static void save_some(struct local *local) {
    struct counted_set *set = local->counted;
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
        store_write(local->store, batch, &arena, &failure);
        arena_release(&arena);
    }
    store_batch_free(batch);
}

void counted_save(struct local *local) {
    counted_delete_all(local->counted);
    while (local->counted->unsaved && !store_is_broken(local->store))
        save_some(local);
}

int64_t counted_run(struct local *local) {
    struct counted_set *set = local->counted;
    int64_t now = clock_ticks_us();
    pthread_mutex_lock(&set->lock);
    bool sweeps = set->sent_away != NULL;
    pthread_mutex_unlock(&set->lock);
    if (sweeps) {
        pthread_rwlock_wrlock(&local->moment); /* whoever reads one of them is done then */
        pthread_rwlock_unlock(&local->moment);
        counted_delete_all(set);
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
    return TICK_MAX_US;
}

/* --- a start --- */

/* The table whose partition it is, with a reference; NULL if it is nobody's. */
static struct table *find_table(struct local *local, struct bytes prefix) {
    struct table *found = NULL;
    struct bytes rest = prefix;
    uint32_t id;
    size_t at = 0;
    if (!take_u32(&rest, &id) || prefix.size <= HEAD_SIZE)
        return NULL;
    pthread_rwlock_rdlock(&local->moment);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        const struct table_schema *schema = table->schema;
        struct bytes partition = bytes_skip(prefix, HEAD_SIZE);
        if (table->id == id && key_span(partition, schema->keys.parts[0].type) == partition.size) {
            found = table;
            table_ref(table);
        }
    }
    pthread_rwlock_unlock(&local->moment);
    return found;
}

/* Has a record taken away, or notes that it is there. */
static void settle(struct counted_set *set, struct bytes prefix, bool made) {
    struct counted *counted = NULL;
    pthread_mutex_lock(&set->lock);
    if (made) {
        struct counted_id id = counted_id_of(&(struct counted_what){.prefix = prefix});
        counted = counted_lookup(set, &id, prefix);
        if (counted != NULL)
            counted->saved = true;
    }
    if (counted == NULL && !atomic_load(&set->stop)) {
        counted = mem_zalloc(sizeof(*counted) + prefix.size);
        counted->prefix_size = (uint32_t)prefix.size;
        memcpy(counted->prefix, prefix.data, prefix.size);
        counted->next = set->unsave;
        set->unsave = counted;
        set->unsaved = true;
    }
    pthread_mutex_unlock(&set->lock);
}

static void *make_wanted(void *argument) {
    struct local *local = argument;
    struct counted_set *set = local->counted;
    for (size_t i = 0; i < set->wanted_count && !atomic_load(&set->stop); i++) {
        struct counted_what what = {.prefix = set->wanted[i]};
        struct table *table = find_table(local, what.prefix);
        bool made = false;
        if (table != NULL) {
            what.table = table;
            made = counted_make(local, &what);
            table_unref(table);
        }
        settle(set, what.prefix, made);
    }
    return NULL;
}

static void want(struct counted_set *set, struct bytes prefix, size_t *room) {
    if (set->wanted_count == *room) {
        size_t more = *room == 0 ? 64 : *room * 2;
        set->wanted = arena_grow(&set->arena, set->wanted, *room * sizeof(struct bytes),
                                 more * sizeof(struct bytes));
        *room = more;
    }
    set->wanted[set->wanted_count++] = arena_copy(&set->arena, prefix);
}

enum status counted_load(struct local *local, struct arena *arena, struct failure *failure) {
    struct counted_set *set = local->counted;
    uint8_t low = KIND, high = KIND + 1;
    size_t room = 0;
    struct store_range range = {
        .family = STORE_META, .low = bytes_of(&low, 1), .high = bytes_of(&high, 1)};
    struct store_iter *iter = store_iter_open(local->store, &range);
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter))
        want(set, bytes_skip(store_iter_key(iter), 1), &room);
    enum status status = store_iter_status(iter);
    store_iter_close(iter);
    if (status != OK)
        return failure_set(failure, arena, status, "The catalogue cannot be read.");
    return OK;
}

/* Without the thread they are made when they are asked for. */
void counted_start(struct local *local) {
    struct counted_set *set = local->counted;
    if (set->wanted_count != 0)
        set->started = pthread_create(&set->thread, NULL, make_wanted, local) == 0;
}

void counted_stop(struct local *local) {
    struct counted_set *set = local->counted;
    atomic_store(&set->closing, true);
    counted_pause(local);
    if (set->started)
        pthread_join(set->thread, NULL);
    set->started = false;
}

#include "table/hot_keys.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/engine.h"
#include "table/tables.h"
#include "value/number.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { EVERY_MAX = 4096, MINUTE_S = 60 };

struct sketch {
    struct hot_key keys[HOT_COUNTERS];
    size_t count;
};

struct kept_minute {
    int64_t minute; /* number of it; -1: none */
    struct hot_key keys[HOT_KINDS][HOT_KEPT];
    uint8_t counts[HOT_KINDS];
};

struct tracked {
    struct bytes name; /* owned */
    uint64_t totals[HOT_KINDS];
    struct sketch all[HOT_KINDS], present[HOT_KINDS];
    int64_t minute; /* that `present` is of */
    struct kept_minute kept[HOT_MINUTES];
    size_t next_kept;
};

struct hot_keys {
    atomic_uint every;
    pthread_mutex_t mutex; /* over all that follows */
    struct tracked *tables[LIMIT_HOT_TABLES];
    size_t count;
    int64_t second; /* in which `noted` were noted */
    unsigned noted;
};

struct hot_keys *hot_keys_new(void) {
    struct hot_keys *hot = mem_zalloc(sizeof *hot);
    atomic_init(&hot->every, 1);
    pthread_mutex_init(&hot->mutex, NULL);
    return hot;
}

void hot_keys_free(struct hot_keys *hot) {
    for (size_t i = 0; i < hot->count; i++) {
        mem_free((void *)hot->tables[i]->name.data);
        mem_free(hot->tables[i]);
    }
    pthread_mutex_destroy(&hot->mutex);
    mem_free(hot);
}

unsigned hot_keys_every(const struct hot_keys *hot) {
    return atomic_load_explicit(&hot->every, memory_order_relaxed);
}

/* --- the sketch --- */

static void key_set(struct hot_key *key, struct bytes text, uint64_t hash) {
    size_t size = text.size < HOT_KEY_SIZE ? text.size : HOT_KEY_SIZE;
    while (size > 0 && size < text.size && (text.data[size] & 0xc0) == 0x80)
        size--; /* no half characters */
    key->hash = hash;
    key->size = (uint8_t)size;
    if (size != 0)
        memcpy(key->text, text.data, size);
}

static void sketch_add(struct sketch *sketch, struct bytes text, uint64_t hash, uint64_t times) {
    struct hot_key *lightest = &sketch->keys[0];
    for (size_t i = 0; i < sketch->count; i++) {
        struct hot_key *key = &sketch->keys[i];
        if (key->hash == hash) {
            key->count += times;
            return;
        }
        if (key->count < lightest->count)
            lightest = key;
    }
    if (sketch->count < HOT_COUNTERS) {
        lightest = &sketch->keys[sketch->count++];
        *lightest = (struct hot_key){0};
    }
    lightest->error = lightest->count;
    lightest->count += times;
    key_set(lightest, text, hash);
}

static int compare_keys(const void *a, const void *b) {
    const struct hot_key *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->hash > y->hash) - (x->hash < y->hash);
}

/* The heaviest first. */
static size_t sketch_top(const struct sketch *sketch, struct hot_key *out, size_t room) {
    struct hot_key sorted[HOT_COUNTERS];
    size_t count = sketch->count < room ? sketch->count : room;
    memcpy(sorted, sketch->keys, sketch->count * sizeof sorted[0]);
    qsort(sorted, sketch->count, sizeof sorted[0], compare_keys);
    memcpy(out, sorted, count * sizeof sorted[0]);
    return count;
}

/* --- tables and minutes: under the mutex --- */

static struct tracked *find_tracked(struct hot_keys *hot, struct bytes name) {
    for (size_t i = 0; i < hot->count; i++)
        if (bytes_equal(hot->tables[i]->name, name))
            return hot->tables[i];
    return NULL;
}

static struct tracked *track(struct hot_keys *hot, struct bytes name, int64_t minute) {
    if (hot->count == LIMIT_HOT_TABLES)
        return NULL;
    struct tracked *table = mem_zalloc(sizeof *table);
    uint8_t *copy = mem_alloc(name.size + 1);
    if (name.size != 0)
        memcpy(copy, name.data, name.size);
    table->name = bytes_of(copy, name.size);
    table->minute = minute;
    for (size_t i = 0; i < HOT_MINUTES; i++)
        table->kept[i].minute = -1;
    hot->tables[hot->count++] = table;
    return table;
}

/* Keeps what the minute before came to, and begins another. */
static void turn_minute(struct tracked *table, int64_t minute) {
    if (minute <= table->minute)
        return;
    struct kept_minute *kept = &table->kept[table->next_kept];
    kept->minute = table->minute;
    for (size_t kind = 0; kind < HOT_KINDS; kind++) {
        kept->counts[kind] = (uint8_t)sketch_top(&table->present[kind], kept->keys[kind], HOT_KEPT);
        table->present[kind].count = 0;
    }
    table->next_kept = (table->next_kept + 1) % HOT_MINUTES;
    table->minute = minute;
}

/* About HOT_SAMPLES a second: twice as many make it half as often, few twice as often. */
static void adapt(struct hot_keys *hot, int64_t now_s) {
    unsigned every = hot_keys_every(hot);
    if (hot->second != now_s) {
        if (hot->noted < HOT_SAMPLES / 4 && every > 1)
            atomic_store_explicit(&hot->every, every / 2, memory_order_relaxed);
        hot->second = now_s;
        hot->noted = 0;
    }
    if (++hot->noted > HOT_SAMPLES && every < EVERY_MAX) {
        atomic_store_explicit(&hot->every, every * 2, memory_order_relaxed);
        hot->noted = 0;
    }
}

void hot_keys_note(struct hot_keys *hot, const struct hot_note *note) {
    uint64_t hash = hash_stable(note->key, 1);
    int64_t minute = note->at_s / MINUTE_S;
    pthread_mutex_lock(&hot->mutex);
    adapt(hot, note->at_s);
    struct tracked *table = find_tracked(hot, note->table);
    if (table == NULL)
        table = track(hot, note->table, minute);
    if (table != NULL) {
        turn_minute(table, minute);
        table->totals[note->kind] += note->times;
        sketch_add(&table->all[note->kind], note->key, hash, note->times);
        sketch_add(&table->present[note->kind], note->key, hash, note->times);
    }
    pthread_mutex_unlock(&hot->mutex);
}

/* --- sampling --- */

/* How many requests this one stands for; 0: it is not noted. */
static unsigned sample(struct hot_keys *hot) {
    static _Thread_local struct random random;
    static _Thread_local unsigned left;
    static _Thread_local bool seeded;
    if (left > 1) {
        left--;
        return 0;
    }
    unsigned every = hot_keys_every(hot);
    if (!seeded) {
        uint64_t seed;
        random_secure(&seed, sizeof seed);
        random_seed(&random, seed);
        seeded = true;
    }
    left = every == 1 ? 1 : 1 + (unsigned)random_below(&random, 2 * every - 1);
    return every;
}

/* --- keys as text --- */

static void put_value(struct buf *to, const struct value *value) {
    char number[NUMBER_MAX_TEXT];
    if (to->size != 0)
        buf_byte(to, '|');
    if (value->type == VALUE_N) {
        size_t size = number_text(value->bytes, number);
        buf_append(to, number, size);
        return;
    }
    for (size_t i = 0; value->type == VALUE_B && i < value->bytes.size; i++)
        buf_printf(to, "%02x", value->bytes.data[i]);
    if (value->type == VALUE_S)
        buf_put(to, value->bytes);
}

/* The attributes of the partition key, of the table or of one of its indexes. */
static const struct key_schema *keys_of(const struct table_schema *schema, struct bytes index) {
    for (uint32_t i = 0; index.size != 0 && i < schema->index_count; i++)
        if (bytes_equal(schema->indexes[i].name, index))
            return &schema->indexes[i].keys;
    return index.size != 0 ? NULL : &schema->keys;
}

/* What a request is about: values by the names of attributes. */
struct touched {
    struct bytes table, index;
    const struct item *item;          /* or */
    const struct key_condition *keys; /* of a query */
    enum hot_kind kind;
    unsigned times;
};

static const struct value *value_named(const struct touched *touched, struct bytes name) {
    if (touched->item != NULL)
        return item_get(touched->item, name);
    for (unsigned i = 0; touched->keys != NULL && i < touched->keys->count; i++)
        if (bytes_equal(touched->keys->tests[i].name, name))
            return &touched->keys->tests[i].low;
    return NULL;
}

static bool put_key(struct buf *to, const struct touched *touched, const struct key_schema *keys) {
    for (unsigned i = 0; keys != NULL && i < keys->partition_count; i++) {
        const struct value *value = value_named(touched, keys->parts[i].name);
        if (value == NULL)
            return false;
        put_value(to, value);
    }
    return keys != NULL && to->size != 0;
}

static void note_touched(struct hot_keys *hot, struct engine *engine,
                         const struct touched *touched) {
    struct arena arena;
    struct failure failure = {0};
    struct table_description about;
    struct buf key = {0}, name = {0};
    arena_init(&arena);
    if (engine_describe(engine, touched->table, (struct scope){&arena, &failure}, &about) == OK &&
        put_key(&key, touched, keys_of(&about.schema, touched->index))) {
        buf_put(&name, touched->table);
        if (touched->index.size != 0)
            buf_byte(&name, '/');
        buf_put(&name, touched->index);
        struct hot_note note = {buf_bytes(&name), touched->kind, buf_bytes(&key), touched->times,
                                clock_ticks_us() / 1000000};
        hot_keys_note(hot, &note);
    }
    buf_release(&key);
    buf_release(&name);
    arena_release(&arena);
}

void hot_keys_got(struct hot_keys *hot, struct engine *engine, const struct get_request *request) {
    unsigned times = hot == NULL ? 0 : sample(hot);
    if (times == 0)
        return;
    struct touched touched = {
        .table = request->table, .item = &request->key, .kind = HOT_READS, .times = times};
    note_touched(hot, engine, &touched);
}

/* A scan has no partition. */
void hot_keys_paged(struct hot_keys *hot, struct engine *engine,
                    const struct page_request *request) {
    unsigned times = hot == NULL || request->keys == NULL ? 0 : sample(hot);
    if (times == 0)
        return;
    struct touched touched = {.table = request->table,
                              .index = request->index,
                              .keys = request->keys,
                              .kind = HOT_READS,
                              .times = times};
    note_touched(hot, engine, &touched);
}

void hot_keys_ranked(struct hot_keys *hot, struct engine *engine,
                     const struct rank_request *request) {
    unsigned times = hot == NULL || request->count == 0 ? 0 : sample(hot);
    if (times == 0)
        return;
    struct touched touched = {
        .table = request->table, .item = &request->keys[0], .kind = HOT_READS, .times = times};
    note_touched(hot, engine, &touched);
}

void hot_keys_changed(struct hot_keys *hot, struct engine *engine, const struct change *change) {
    if (hot == NULL || change->kind != CHANGE_WRITE)
        return;
    for (size_t i = 0; i < change->action_count; i++) {
        const struct action *action = &change->actions[i];
        unsigned times = sample(hot);
        if (times == 0)
            continue;
        struct touched touched = {
            .table = action->table, .item = &action->item, .kind = HOT_WRITES, .times = times};
        note_touched(hot, engine, &touched);
    }
}

/* --- reading --- */

static void copy_list(struct arena *arena, const struct hot_key *keys, size_t count,
                      struct hot_list *out) {
    *out = (struct hot_list){ARENA_ARRAY(arena, struct hot_key, count), count};
    if (count != 0)
        memcpy(out->keys, keys, count * sizeof *keys);
}

static void copy_top(struct arena *arena, const struct sketch *sketch, size_t room,
                     struct hot_list *out) {
    struct hot_key top[HOT_COUNTERS];
    copy_list(arena, top, sketch_top(sketch, top, room), out);
}

static void copy_minutes(const struct tracked *table, int64_t now_s, struct arena *arena,
                         struct hot_table *out) {
    int64_t now = now_s / MINUTE_S;
    out->minutes = ARENA_ARRAY(arena, struct hot_minute, HOT_MINUTES + 1);
    for (size_t i = 0; i < HOT_MINUTES; i++) {
        const struct kept_minute *kept = &table->kept[(table->next_kept + i) % HOT_MINUTES];
        if (kept->minute < 0 || kept->minute <= now - HOT_MINUTES)
            continue;
        struct hot_minute *minute = &out->minutes[out->minute_count++];
        minute->ago_s = now_s - (kept->minute + 1) * MINUTE_S;
        for (size_t kind = 0; kind < HOT_KINDS; kind++)
            copy_list(arena, kept->keys[kind], kept->counts[kind], &minute->lists[kind]);
    }
    struct hot_minute *present = &out->minutes[out->minute_count++];
    for (size_t kind = 0; kind < HOT_KINDS; kind++)
        copy_top(arena, &table->present[kind], HOT_KEPT, &present->lists[kind]);
}

bool hot_keys_table(struct hot_keys *hot, struct bytes name, struct arena *arena,
                    struct hot_table *out) {
    int64_t now_s = clock_ticks_us() / 1000000;
    *out = (struct hot_table){.name = name};
    pthread_mutex_lock(&hot->mutex);
    struct tracked *table = find_tracked(hot, name);
    if (table != NULL) {
        turn_minute(table, now_s / MINUTE_S);
        for (size_t kind = 0; kind < HOT_KINDS; kind++) {
            out->totals[kind] = table->totals[kind];
            copy_top(arena, &table->all[kind], HOT_COUNTERS, &out->lists[kind]);
        }
        copy_minutes(table, now_s, arena, out);
    }
    pthread_mutex_unlock(&hot->mutex);
    return table != NULL;
}

size_t hot_keys_names(struct hot_keys *hot, struct arena *arena, struct bytes **out) {
    pthread_mutex_lock(&hot->mutex);
    size_t count = hot->count;
    *out = ARENA_ARRAY(arena, struct bytes, count);
    for (size_t i = 0; i < count; i++)
        (*out)[i] = arena_copy(arena, hot->tables[i]->name);
    pthread_mutex_unlock(&hot->mutex);
    return count;
}

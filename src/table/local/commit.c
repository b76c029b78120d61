/* Committing a group: one write to the store, then everything in memory under `moment`.
 *
 * What is written and moved is sorted by key first: neighbours in the store's buffer and in a tree
 * are reached by paths that are then still at hand. On different keys the order does not matter;
 * on the same key it is kept. */
#include "table/local/counted.h"
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>

enum {
    AHEAD = 8, /* steps that the memory is asked for before they are taken */
    MANY = 512 /* that are sorted by dealing them out */
};

/* --- sorting --- */

/* Something with a key, to be done in its turn. */
struct sorting {
    uint64_t word; /* of the key, after what all have in common */
    struct bytes key;
    void *what;  /* an effect, or an index */
    uint32_t at; /* of equal keys the one that came first is first */
    bool put;
};

/* What a commit does, in order. */
struct steps {
    struct sorting *effects, *entries;
    size_t effect_count, entry_count;
};

/* How much of the first key all have in common. */
static size_t shared_size(const struct sorting *all, size_t count) {
    struct bytes first = all[0].key;
    size_t shared = first.size;
    for (size_t i = 1; i < count; i++) {
        if (all[i].key.size < shared)
            shared = all[i].key.size;
        size_t same = 0;
        if (memcmp(first.data, all[i].key.data, shared) == 0)
            continue;
        while (first.data[same] == all[i].key.data[same])
            same++;
        shared = same;
    }
    return shared;
}

static int compare(const void *left, const void *right) {
    const struct sorting *a = left, *b = right;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    int order = bytes_compare(a->key, b->key);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static bool is_sorted(const struct sorting *all, size_t count) {
    size_t i = 1;
    while (i < count && compare(&all[i - 1], &all[i]) < 0)
        i++;
    return i >= count;
}

/* A word, and whose it is. */
struct dealt {
    uint64_t word;
    uint32_t at;
};

/* Deals them out by one byte of their words after the other, from the last on; those that all have
 * the same leave everything where it is. Returns where they are then. */
static struct dealt *deal(struct dealt *from, struct dealt *to, size_t count) {
    uint32_t starts[8][256] = {0};
    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            starts[byte][from[i].word >> 8 * byte & 0xff]++;
    for (unsigned byte = 0; byte < 8; byte++) {
        uint32_t *start = starts[byte], before = 0;
        if (start[from[0].word >> 8 * byte & 0xff] == count)
            continue;
        for (unsigned i = 0; i < 256; i++) {
            uint32_t next = before + start[i];
            start[i] = before;
            before = next;
        }
        for (size_t i = 0; i < count; i++)
            to[start[from[i].word >> 8 * byte & 0xff]++] = from[i];
        struct dealt *last = from;
        from = to;
        to = last;
    }
    return from;
}

/* Many: by their words, then those of the same word by all there is to them. */
static void sort_many(struct sorting *all, size_t count, struct arena *arena) {
    struct sorting *sorted = arena_alloc(arena, count * sizeof(*sorted));
    struct dealt *dealt = arena_alloc(arena, 2 * count * sizeof(*dealt));
    for (size_t i = 0; i < count; i++)
        dealt[i] = (struct dealt){all[i].word, (uint32_t)i};
    dealt = deal(dealt, dealt + count, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = all[dealt[i].at];
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && sorted[to].word == sorted[from].word)
            to++;
        if (to - from > 1)
            qsort(&sorted[from], to - from, sizeof(*sorted), compare);
    }
    memcpy(all, sorted, count * sizeof(*sorted));
}

static void sort(struct sorting *all, size_t count, struct arena *arena) {
    if (count < 2)
        return;
    size_t shared = shared_size(all, count);
    for (size_t i = 0; i < count; i++) {
        all[i].word = bytes_word(all[i].key, shared);
        all[i].at = (uint32_t)i;
    }
    if (is_sorted(all, count))
        return;
    if (count < MANY)
        qsort(all, count, sizeof(*all), compare);
    else
        sort_many(all, count, arena);
}

/* --- writing --- */

static void put_tokens(struct group *group, struct store_batch *batch) {
    if (group->tokens == NULL)
        return;
    struct tokens_step step = tokens_begin(group->local->tokens, batch, clock_now_ms());
    for (struct token_note *note = group->tokens; note != NULL; note = note->next)
        tokens_put(&step, batch, &note->token);
    group->tokens_keep = step.keep;
}

static void sort_effects(struct steps *steps, struct group *group) {
    steps->effects = arena_alloc(&group->arena, group->overlay.count * sizeof(struct sorting));
    for (struct effect *effect = group->effects; effect != NULL; effect = effect->next)
        steps->effects[steps->effect_count++] =
            (struct sorting){.key = effect->key, .what = effect};
    sort(steps->effects, steps->effect_count, &group->arena);
}

static void put_effects(const struct steps *steps, struct store_batch *batch) {
    for (size_t i = 0; i < steps->effect_count; i++) {
        const struct effect *effect = steps->effects[i].what;
        if (effect->value.data != NULL)
            store_put(batch, STORE_ITEMS, effect->key, effect->value);
        else
            store_del(batch, STORE_ITEMS, effect->key);
    }
}

static enum status write_out(struct group *group, const struct steps *steps) {
    struct local *local = group->local;
    struct store_batch *batch = store_batch_new(local->store);
    int names = names_count(local->names);
    catalogue_put_names(batch, local, names);
    put_effects(steps, batch);
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next)
        if (tally->count != 0 || tally->size != 0)
            catalogue_put_counts(batch, tally->table,
                                 tally->table->item_count + (uint64_t)tally->count,
                                 tally->table->size + (uint64_t)tally->size);
    put_tokens(group, batch);
    stream_put_bundles(batch, group);
    enum status status = store_write(local->store, batch, &group->arena, &group->failure);
    store_batch_free(batch);
    if (status == OK)
        local->names_stored = names;
    return status;
}

/* --- moving --- */

static void note(struct index *index, struct bytes key, bool put, int64_t size_change) {
    struct index_note *note = mem_alloc(sizeof(*note) + key.size);
    *note = (struct index_note){.put = put, .size_change = size_change, .key_size = key.size};
    if (key.size != 0)
        memcpy(note->key, key.data, key.size);
    *index->notes_end = note;
    index->notes_end = &note->next;
}

/* For an index that is being built. */
static void note_move(const struct move *move) {
    if (move->del.size != 0)
        note(move->index, move->del, false, 0);
    note(move->index, move->put, move->put.size != 0, move->size_change);
}

static void sort_moves(struct steps *steps, struct group *group) {
    steps->entries = arena_alloc(&group->arena, 2 * group->move_count * sizeof(struct sorting));
    for (const struct move *move = group->moves; move != NULL; move = move->next) {
        struct sorting *next = &steps->entries[steps->entry_count];
        if (move->index->tree == NULL)
            continue;
        if (move->del.size != 0)
            *next++ = (struct sorting){.key = move->del, .what = move->index, .put = false};
        if (move->put.size != 0)
            *next++ = (struct sorting){.key = move->put, .what = move->index, .put = true};
        steps->entry_count = (size_t)(next - steps->entries);
    }
    sort(steps->entries, steps->entry_count, &group->arena);
}

/* Returns by how much memory grows. */
static uint64_t move_entries(const struct steps *steps) {
    struct index_found found[AHEAD];
    uint64_t memory = 0;
    for (size_t i = 0; i < steps->entry_count + AHEAD; i++) {
        if (i >= AHEAD) {
            const struct sorting *step = &steps->entries[i - AHEAD];
            struct index *index = step->what;
            memory -= index_memory(index);
            if (step->put)
                index_put_found(index, step->key, &found[i % AHEAD]);
            else
                index_del_found(index, step->key, &found[i % AHEAD]);
            memory += index_memory(index);
        }
        if (i < steps->entry_count)
            found[i % AHEAD] = index_soon(steps->entries[i].what, steps->entries[i].key);
    }
    return memory;
}

static void make_moves(const struct steps *steps, struct group *group) {
    uint64_t memory = move_entries(steps);
    for (const struct move *move = group->moves; move != NULL; move = move->next)
        if (move->index->tree == NULL)
            note_move(move);
        else
            move->index->size += (uint64_t)move->size_change;
    atomic_fetch_add_explicit(&group->local->index_memory, memory, memory_order_relaxed);
    if (!counted_any(group->local))
        return;
    for (const struct move *move = group->moves; move != NULL; move = move->next)
        if (move->index->tree != NULL)
            counted_move(group->local, move->index, move->del, move->put);
    counted_fit(group->local);
}

static void write_cache(const struct steps *steps, struct local *local) {
    uint64_t commit = local->view->commit + 1;
    bool counts = counted_any(local);
    for (size_t i = 0; i < steps->effect_count; i++) {
        const struct sorting *step = &steps->effects[i];
        if (i + AHEAD < steps->effect_count)
            cache_soon(local->cache, ((const struct effect *)step[AHEAD].what)->hash);
        if (i + AHEAD / 2 < steps->effect_count)
            cache_sooner(local->cache, ((const struct effect *)step[AHEAD / 2].what)->hash);
        const struct effect *effect = step->what;
        if (!effect->quiet)
            touch_item(local, effect->key, commit);
        if (counts)
            counted_item(local, effect->key, effect->value.data != NULL);
        cache_write(local->cache, effect->key, effect->hash, effect->value, !effect->bulk, commit);
    }
}

static void make_visible(struct group *group, struct steps *steps) {
    struct local *local = group->local;
    sort_moves(steps, group);
    pthread_rwlock_wrlock(&local->moment);
    write_cache(steps, local);
    make_moves(steps, group);
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next) {
        tally->table->item_count += (uint64_t)tally->count;
        tally->table->size += (uint64_t)tally->size;
    }
    stream_take_bundles(group);
    view_advance(local);
    pthread_rwlock_unlock(&local->moment);
    atomic_fetch_add_explicit(&local->commits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&local->writes, group->writes, memory_order_relaxed);
}

void group_fail(struct group *group, const struct failure *failure) {
    for (struct change *change = group->changes; change != NULL; change = change->next)
        change->failure =
            (struct failure){failure->status, arena_copy(change->arena, failure->text)};
}

void group_commit(struct group *group) {
    struct steps steps = {0};
    if (group_idle(group))
        return;
    sort_effects(&steps, group);
    if (write_out(group, &steps) == OK)
        make_visible(group, &steps);
    else
        group_fail(group, &group->failure);
}

/* Committing a group: one write to the store, then everything in memory under `state_lock`.
 *
 * Items and index entries are sorted by key first: neighbours in the store's buffer and in a tree
 * are reached by paths that are then still in the processor's cache. On different keys the order
 * does not matter; on the same key it is kept. Where an action asks for the ranks of its item, the
 * edits of the actions before it are applied before the ranks are counted, the others afterwards.
 *
 * On the commit thread, or on the writer's. */
#include "table/local/count_index.h"
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/key_sort.h"
#include "base/mem.h"

#include <stdlib.h>

enum { AHEAD = 8 }; /* how many steps ahead are prefetched */

/* --- sorting --- */

/* A write to the store or an edit of an index, to be done in the order of the keys. */
struct keyed_step {
    uint64_t word; /* of the key, after what all have in common */
    struct bytes key;
    void *what;  /* a struct pending_write, or a struct index */
    uint32_t at; /* of equal keys the one that came first is first */
    bool put;
    bool covers; /* the entry that is put covers its item */
};

/* Edits of indexes that are applied in one go, in the order of their keys, and the ranks that are
 * asked for once they are. A group in which nobody asks is one stretch. */
struct stretch {
    const struct index_edit *edits;
    size_t edit_count;
    struct keyed_step *entries;
    size_t entry_count;
    const struct rank_ask *ask; /* or NULL */
    bool after;                 /* it asks where the item stands after its action */
};

/* What a commit does, in order. */
struct steps {
    struct keyed_step *pending_writes;
    struct stretch *stretches;
    size_t pending_count, stretch_count;
};

/* How much of the first key all have in common. */
static size_t shared_size(const struct keyed_step *all, size_t count) {
    size_t shared = all[0].key.size;
    for (size_t i = 1; i < count; i++)
        shared = key_shared(all[0].key, all[i].key, shared);
    return shared;
}

static int compare_steps(const void *left, const void *right) {
    const struct keyed_step *a = left, *b = right;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    int order = bytes_compare(a->key, b->key);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static bool is_sorted(const struct keyed_step *all, size_t count) {
    size_t i = 1;
    while (i < count && compare_steps(&all[i - 1], &all[i]) < 0)
        i++;
    return i >= count;
}

/* Many: by their words, then those of the same word by all there is to them. */
static void sort_many(struct keyed_step *all, size_t count, struct arena *arena) {
    struct keyed_step *sorted = arena_alloc(arena, count * sizeof(*sorted));
    struct key_word *items = arena_alloc(arena, 2 * count * sizeof(*items));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct key_word){all[i].word, (uint32_t)i};
    items = key_words_sort(items, items + count, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = all[items[i].at];
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && sorted[to].word == sorted[from].word)
            to++;
        if (to - from > 1)
            qsort(&sorted[from], to - from, sizeof(*sorted), compare_steps);
    }
    memcpy(all, sorted, count * sizeof(*sorted));
}

static void sort_steps(struct keyed_step *all, size_t count, struct arena *arena) {
    if (count < 2)
        return;
    size_t shared = shared_size(all, count);
    for (size_t i = 0; i < count; i++) {
        all[i].word = bytes_word(all[i].key, shared);
        all[i].at = (uint32_t)i;
    }
    if (is_sorted(all, count))
        return;
    if (count < KEY_SORT_MANY)
        qsort(all, count, sizeof(*all), compare_steps);
    else
        sort_many(all, count, arena);
}

/* --- writing --- */

static void put_tokens(struct commit_group *group, struct store_batch *batch) {
    if (group->tokens == NULL)
        return;
    struct tokens_step step = tokens_begin(group->local->tokens, batch, clock_now_ms());
    for (struct token_note *note = group->tokens; note != NULL; note = note->next)
        tokens_put(&step, batch, &note->token);
    group->tokens_keep = step.keep;
}

static void sort_pending(struct steps *steps, struct commit_group *group) {
    steps->pending_writes =
        arena_alloc(&group->arena, group->overlay.count * sizeof(struct keyed_step));
    for (struct pending_write *pending = group->pending_writes; pending != NULL;
         pending = pending->next)
        steps->pending_writes[steps->pending_count++] =
            (struct keyed_step){.key = pending->key, .what = pending};
    sort_steps(steps->pending_writes, steps->pending_count, &group->arena);
}

static void put_pending(const struct steps *steps, struct store_batch *batch) {
    for (size_t i = 0; i < steps->pending_count; i++) {
        const struct pending_write *pending = steps->pending_writes[i].what;
        if (i + AHEAD < steps->pending_count)
            __builtin_prefetch(steps->pending_writes[i + AHEAD].what);
        if (pending->value.data != NULL)
            store_put(batch, STORE_ITEMS, pending->key, pending->value);
        else
            store_del(batch, STORE_ITEMS, pending->key);
    }
}

static enum status write_out(struct commit_group *group, const struct steps *steps) {
    struct local *local = group->local;
    struct store_batch *batch = group->batch;
    if (batch == NULL)
        batch = group->batch = store_batch_new(local->store);
    int names = names_count(local->names);
    catalogue_put_names(batch, local, names);
    put_pending(steps, batch);
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next)
        if (tally->count != 0 || tally->size != 0)
            catalogue_put_counts(batch, tally->table,
                                 tally->table->item_count + (uint64_t)tally->count,
                                 tally->table->size + (uint64_t)tally->size);
    put_tokens(group, batch);
    stream_put_bundles(batch, group);
    int64_t begun_us = clock_ticks_us();
    enum status status =
        store_write(local->store, batch, (struct scope){&group->arena, &group->failure});
    durations_add(&local->commit_writes, (uint64_t)(clock_ticks_us() - begun_us), 1);
    store_batch_clear(batch);
    if (status == OK)
        local->names_stored = names;
    return status;
}

/* --- index edits --- */

static void add_note(struct index *index, struct bytes key, const struct index_note *like) {
    struct index_note *note = mem_alloc(sizeof(*note) + key.size);
    *note = *like;
    note->key_size = key.size;
    if (key.size != 0)
        memcpy(note->key, key.data, key.size);
    *index->notes_end = note;
    index->notes_end = &note->next;
}

/* Notes an edit of an index that is being built, to be replayed when its tree is there. */
static void note_edit(const struct index_edit *edit) {
    if (edit->del.size != 0)
        add_note(edit->index, edit->del, &(struct index_note){.put = false});
    add_note(edit->index, edit->put,
             &(struct index_note){.put = edit->put.size != 0,
                                  .covers = edit->covers,
                                  .size_change = edit->size_change});
}

static void sort_stretch(struct stretch *stretch, struct commit_group *group) {
    const struct index_edit *edit = stretch->edits;
    stretch->entries =
        arena_alloc(&group->arena, 2 * stretch->edit_count * sizeof(struct keyed_step));
    for (size_t i = 0; i < stretch->edit_count; i++, edit = edit->next) {
        struct keyed_step *next = &stretch->entries[stretch->entry_count];
        if (edit->index->tree == NULL)
            continue;
        if (edit->del.size != 0)
            *next++ = (struct keyed_step){.key = edit->del, .what = edit->index, .put = false};
        if (edit->put.size != 0)
            *next++ = (struct keyed_step){
                .key = edit->put, .what = edit->index, .put = true, .covers = edit->covers};
        stretch->entry_count = (size_t)(next - stretch->entries);
    }
    sort_steps(stretch->entries, stretch->entry_count, &group->arena);
}

/* The group's edits while they are cut into stretches. */
struct stretching {
    struct steps *steps;
    struct commit_group *group;
    const struct index_edit *edit; /* the first that is in no stretch yet, */
    size_t at;                     /* and its number among the group's edits */
};

/* Adds the stretch of all edits before the `end`-th. */
static struct stretch *add_stretch(struct stretching *stretching, size_t end) {
    struct stretch *stretch = &stretching->steps->stretches[stretching->steps->stretch_count++];
    *stretch = (struct stretch){.edits = stretching->edit, .edit_count = end - stretching->at};
    for (; stretching->at < end; stretching->at++)
        stretching->edit = stretching->edit->next;
    sort_stretch(stretch, stretching->group);
    return stretch;
}

/* Cuts the edits into stretches, two for each action that asks for ranks: the edits before its own,
 * after which the rank before is counted, and its own, after which the rank after is. */
static void sort_edits(struct steps *steps, struct commit_group *group) {
    struct stretching stretching = {steps, group, group->edits, 0};
    steps->stretches =
        arena_alloc(&group->arena, (2 * group->ask_count + 1) * sizeof(struct stretch));
    for (const struct rank_ask *ask = group->asks; ask != NULL; ask = ask->next) {
        add_stretch(&stretching, ask->first_edit)->ask = ask;
        struct stretch *own = add_stretch(&stretching, ask->end_edit);
        own->ask = ask;
        own->after = true;
    }
    add_stretch(&stretching, group->edit_count);
}

/* By how much indexes grow: each is asked once for all edits that follow one another. */
struct index_growth {
    const struct index *index; /* whose edits are under way; NULL: none's */
    uint64_t memory;
};

static void growth_goes_on(struct index_growth *growth, const struct index *index) {
    if (growth->index == index)
        return;
    if (growth->index != NULL)
        growth->memory += index_memory(growth->index);
    if (index != NULL)
        growth->memory -= index_memory(index);
    growth->index = index;
}

/* What is known ahead of the edits from `applied` on. */
struct entry_edits {
    const struct stretch *stretch;
    struct index_prefetched found[AHEAD]; /* a ring */
    size_t applied;
};

static const struct index_prefetched *found_of(const struct entry_edits *edits, size_t at) {
    return &edits->found[at % AHEAD];
}

/* Whether the edit and the one behind it are the two of an item that moves, and nobody else's are
 * in between. */
static bool is_move(const struct entry_edits *edits, size_t at) {
    const struct keyed_step *step = &edits->stretch->entries[at];
    const struct index_prefetched *one = found_of(edits, at), *other = found_of(edits, at + 1);
    return at + 1 < edits->stretch->entry_count && step[1].what == step[0].what &&
           step[1].put != step[0].put && one->middle.bytes.size != 0 &&
           other->middle.bytes.size != 0 && one->hash == other->hash;
}

/* Prefetches what the next AHEAD edits will read of their trees, as far as they are of one. An item
 * that moves most often stays in its leaf. */
static void prefetch_trees(const struct entry_edits *edits, size_t from) {
    const struct stretch *stretch = edits->stretch;
    struct bytes keys[AHEAD];
    const struct index *index = stretch->entries[from].what;
    size_t count = 0;
    for (size_t at = from; at < from + AHEAD && at < stretch->entry_count; at++) {
        if (stretch->entries[at].what != index)
            break;
        if (at == from || !is_move(edits, at - 1))
            keys[count++] = stretch->entries[at].key;
    }
    if (count > 1)
        tree_prefetch_many(index->tree, keys, count);
}

/* The next edit and the one behind it, if they are such and the tree can do both at once. */
static bool apply_move(struct entry_edits *edits) {
    size_t at = edits->applied;
    if (!is_move(edits, at))
        return false;
    const struct keyed_step *step = &edits->stretch->entries[at];
    struct entry_found first = {step[0].key, found_of(edits, at)};
    struct entry_found second = {step[1].key, found_of(edits, at + 1)};
    return step[0].put ? index_move_prefetched(step->what, second, first)
                       : index_move_prefetched(step->what, first, second);
}

static void apply_entry_edit(struct entry_edits *edits) {
    const struct keyed_step *step = &edits->stretch->entries[edits->applied];
    const struct index_prefetched *found = found_of(edits, edits->applied);
    edits->applied++;
    if (step->put)
        index_put_prefetched(step->what, step->key, found);
    else
        index_del_prefetched(step->what, step->key, found);
}

/* Works out what the entry hashes will be told of the edit, and asks for the slot of one that came
 * before it. */
static void look_ahead(struct entry_edits *edits, size_t at, struct index_head *last) {
    const struct keyed_step *steps = edits->stretch->entries;
    size_t count = edits->stretch->entry_count;
    if (at + AHEAD < count)
        __builtin_prefetch(steps[at + AHEAD].key.data);
    if (at < count)
        edits->found[at % AHEAD] =
            index_prefetch(steps[at].what, steps[at].key, steps[at].covers, last);
    if (at >= AHEAD / 2 && at - AHEAD / 2 < count)
        index_prefetch_slot(steps[at - AHEAD / 2].what, found_of(edits, at - AHEAD / 2));
}

/* Returns by how much memory grows. */
static uint64_t apply_entry_edits(const struct stretch *stretch) {
    struct entry_edits edits = {.stretch = stretch};
    struct index_growth growth = {0};
    struct index_head last = {0};
    for (size_t i = 0; i < stretch->entry_count + AHEAD; i++) {
        if (i >= AHEAD && i % AHEAD == 0)
            prefetch_trees(&edits, i - AHEAD);
        if (i >= AHEAD && edits.applied == i - AHEAD) {
            growth_goes_on(&growth, stretch->entries[edits.applied].what);
            if (apply_move(&edits))
                edits.applied += 2;
            else
                apply_entry_edit(&edits);
        }
        look_ahead(&edits, i, &last);
    }
    growth_goes_on(&growth, NULL);
    return growth.memory;
}

static void apply_stretch(const struct stretch *stretch, struct local *local) {
    uint64_t memory = apply_entry_edits(stretch);
    const struct index_edit *edit = stretch->edits;
    bool counts = count_index_any_entries(local);
    atomic_fetch_add_explicit(&local->index_memory, memory, memory_order_relaxed);
    for (size_t i = 0; i < stretch->edit_count; i++, edit = edit->next) {
        if (edit->index->tree == NULL) {
            note_edit(edit);
            continue;
        }
        edit->index->size += (uint64_t)edit->size_change;
        if (counts)
            count_index_entry_changed(local, edit->index, edit->del, edit->put);
    }
}

static void apply_edits(const struct steps *steps, struct commit_group *group) {
    for (size_t i = 0; i < steps->stretch_count; i++) {
        const struct stretch *stretch = &steps->stretches[i];
        apply_stretch(stretch, group->local);
        if (stretch->ask != NULL)
            rank_ask_count(group, stretch->ask, stretch->after);
    }
    if (count_index_any_items(group->local) || count_index_any_entries(group->local))
        count_index_fit(group->local);
}

/* What is covered is not in the cache, or will go out of it. */
static void prefetch_cached(struct local *local, const struct pending_write *pending,
                            void (*prefetch)(struct cache *cache, uint64_t hash)) {
    if (!pending->covered)
        prefetch(local->cache, pending->hash);
}

static void write_cache(const struct steps *steps, struct local *local) {
    uint64_t commit = local->snapshot->commit + 1;
    bool counts = count_index_any_items(local);
    for (size_t i = 0; i < steps->pending_count; i++) {
        const struct keyed_step *step = &steps->pending_writes[i];
        if (i + AHEAD < steps->pending_count)
            prefetch_cached(local, step[AHEAD].what, cache_prefetch);
        if (i + AHEAD / 2 < steps->pending_count)
            prefetch_cached(local, step[AHEAD / 2].what, cache_prefetch_entry);
        const struct pending_write *pending = step->what;
        if (!pending->keeps_version)
            partition_version_raise(local, pending->key, commit);
        if (counts)
            count_index_item_changed(local, pending->key, pending->value.data != NULL);
        cache_write(
            local->cache, (struct hashed_key){pending->key, pending->hash},
            &(struct cache_update){.value = pending->covered ? (struct bytes){0} : pending->value,
                                   .only_if_room = pending->bulk,
                                   .commit = commit});
    }
}

static void make_visible(struct commit_group *group, struct steps *steps) {
    struct local *local = group->local;
    sort_edits(steps, group);
    pthread_rwlock_wrlock(&local->state_lock);
    write_cache(steps, local);
    apply_edits(steps, group);
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next) {
        tally->table->item_count += (uint64_t)tally->count;
        tally->table->size += (uint64_t)tally->size;
    }
    stream_take_bundles(group);
    snapshot_advance(local);
    pthread_rwlock_unlock(&local->state_lock);
    atomic_fetch_add_explicit(&local->commits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&local->writes, group->writes, memory_order_relaxed);
}

void commit_group_fail(struct commit_group *group, const struct failure *failure) {
    for (struct change *change = group->changes; change != NULL; change = change->next)
        change->failure =
            (struct failure){failure->status, arena_copy(change->arena, failure->text)};
}

/* Of a group that writes nothing: the ranks before and after are those of now. */
static void count_asks(struct commit_group *group) {
    pthread_rwlock_rdlock(&group->local->state_lock);
    for (const struct rank_ask *ask = group->asks; ask != NULL; ask = ask->next) {
        rank_ask_count(group, ask, false);
        rank_ask_count(group, ask, true);
    }
    pthread_rwlock_unlock(&group->local->state_lock);
}

void commit_group_commit(struct commit_group *group) {
    struct steps steps = {0};
    if (commit_group_writes_nothing(group)) {
        if (group->asks != NULL)
            count_asks(group);
        return;
    }
    sort_pending(&steps, group);
    if (write_out(group, &steps) == OK)
        make_visible(group, &steps);
    else
        commit_group_fail(group, &group->failure);
}

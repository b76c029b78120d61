/* Sorting keys that share long beginnings.
 *
 * Index keys begin with a hash and a partition, so neighbours often differ only after dozens of
 * bytes. Multikey quicksort (Bentley and Sedgewick) splits by the bytes at one depth into less,
 * equal and greater, and only the equal part goes deeper; here a step is a word of eight bytes,
 * loaded once a depth and kept beside the pointer, so that a comparison touches no key. A key
 * that ends within the word is padded with zeros, and shorter comes first among equal words.
 *
 * Many keys are first dealt out by a byte of their words, in place (American flag sort: McIlroy,
 * Bostic and McIlroy): three quick passes are less than the halvings they save, each of which a
 * processor guesses wrong at every other key. */
#include "table/local/key_run.h"

#include "base/mem.h"

#include <assert.h>

enum {
    SMALL = 12, /* keys that are sorted one by one */
    MANY = 256, /* keys that are dealt out first, */
    DEALS = 8,  /* but not more often than this on the way down: it takes much of the stack */
    BLOCK_SMALL = 256 * 1024,
    ROOM_FIRST = 1024,
    ROOM_LARGE = MEM_LARGE / sizeof(struct key_run_key)
};

struct key_run_block {
    struct key_run_block *next;
    size_t used; /* of data; of the first block the run knows */
    bool large;  /* a large page */
    uint8_t data[];
};

/* A small run should stay small: its memory comes from the heap until it would fill a large page.
 */
static void add_block(struct key_run *key_run, size_t need) {
    bool large = key_run->count >= ROOM_LARGE;
    size_t size = large ? MEM_LARGE : BLOCK_SMALL;
    assert(need + sizeof(struct key_run_block) <= size);
    struct key_run_block *block = large ? mem_large(NULL, 0, size) : mem_alloc(size);
    if (key_run->blocks != NULL)
        key_run->blocks->used = (size_t)(key_run->at - key_run->blocks->data);
    *block = (struct key_run_block){.next = key_run->blocks, .large = large};
    key_run->blocks = block;
    key_run->at = block->data;
    key_run->end = (uint8_t *)block + size;
    key_run->memory += size;
}

static void grow(struct key_run *key_run) {
    size_t room = key_run->room == 0 ? ROOM_FIRST : key_run->room * 2;
    size_t old_size = key_run->room * sizeof *key_run->keys, size = room * sizeof *key_run->keys;
    if (room <= ROOM_LARGE / 2)
        key_run->keys = mem_realloc(key_run->keys, size);
    else if (key_run->room > ROOM_LARGE / 2)
        key_run->keys = mem_large(key_run->keys, old_size, size);
    else {
        struct key_run_key *keys = mem_large(NULL, 0, size);
        memcpy(keys, key_run->keys, old_size);
        mem_free(key_run->keys);
        key_run->keys = keys;
    }
    key_run->memory += size - old_size;
    key_run->room = room;
}

void key_run_add(struct key_run *key_run, struct bytes key, bool marked) {
    assert(key.size <= KEY_RUN_KEY_MAX);
    if (key_run->at == NULL || (size_t)(key_run->end - key_run->at) < key.size + 2)
        add_block(key_run, key.size + 2);
    if (key_run->count == key_run->room)
        grow(key_run);
    *key_run->at++ = (uint8_t)(key.size >> 8 | (marked ? KEY_RUN_MARK : 0));
    *key_run->at++ = (uint8_t)key.size;
    if (key.size != 0)
        memcpy(key_run->at, key.data, key.size);
    key_run->keys[key_run->count++].data = key_run->at;
    key_run->at += key.size;
}

void key_run_release(struct key_run *key_run) {
    while (key_run->blocks != NULL) {
        struct key_run_block *gone = key_run->blocks;
        key_run->blocks = gone->next;
        if (gone->large)
            mem_large(gone, MEM_LARGE, 0);
        else
            mem_free(gone);
    }
    if (key_run->room > ROOM_LARGE / 2)
        mem_large(key_run->keys, key_run->room * sizeof *key_run->keys, 0);
    else
        mem_free(key_run->keys);
    *key_run = (struct key_run){0};
}

bool key_run_walk_block(struct key_run_walk *walk) {
    const struct key_run *key_run = walk->key_run;
    walk->block = walk->block == NULL ? key_run->blocks : walk->block->next;
    if (walk->block == NULL)
        return false;
    walk->at = walk->block->data;
    walk->end = walk->block == key_run->blocks ? key_run->at : walk->at + walk->block->used;
    return true;
}

bool key_run_walk_next(struct key_run_walk *walk, struct bytes *key) {
    if (walk->at == walk->end)
        return false;
    size_t size = (size_t)((walk->at[0] & ~KEY_RUN_MARK) << 8 | walk->at[1]);
    walk->marked = (walk->at[0] & KEY_RUN_MARK) != 0;
    *key = bytes_of(walk->at + 2, size);
    walk->at += 2 + size;
    return true;
}

static size_t size_of(const struct key_run_key *key) {
    return (size_t)((key->data[-2] & ~KEY_RUN_MARK) << 8 | key->data[-1]);
}

static uint64_t word_at(const struct key_run_key *key, size_t depth) {
    return bytes_word(bytes_of(key->data, size_of(key)), depth);
}

static int compare_from(const struct key_run_key *a, const struct key_run_key *b, size_t depth) {
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    size_t sizes[2] = {size_of(a), size_of(b)};
    size_t from = depth + 8;
    struct bytes left = {0}, right = {0};
    if (sizes[0] > from)
        left = bytes_of(a->data + from, sizes[0] - from);
    if (sizes[1] > from)
        right = bytes_of(b->data + from, sizes[1] - from);
    int order = bytes_compare(left, right);
    /* Both may end within the word, where zeros that are there look like zeros that are not. */
    return order != 0 ? order : (sizes[0] > sizes[1]) - (sizes[0] < sizes[1]);
}

static void insertion_sort(struct key_run_key *keys, size_t count, size_t depth) {
    for (size_t i = 1; i < count; i++) {
        struct key_run_key key = keys[i];
        size_t at = i;
        for (; at > 0 && compare_from(&key, &keys[at - 1], depth) < 0; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static void swap(struct key_run_key *a, struct key_run_key *b) {
    struct key_run_key kept = *a;
    *a = *b;
    *b = kept;
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c) {
    if (a > b) {
        uint64_t kept = a;
        a = b;
        b = kept;
    }
    return c < a ? a : c > b ? b : c;
}

static uint64_t pivot_of(const struct key_run_key *keys, size_t count) {
    size_t half = count / 2, step = count / 8;
    if (count < 64)
        return median(keys[0].word, keys[half].word, keys[count - 1].word);
    return median(
        median(keys[0].word, keys[step].word, keys[2 * step].word),
        median(keys[half - step].word, keys[half].word, keys[half + step].word),
        median(keys[count - 1 - 2 * step].word, keys[count - 1 - step].word, keys[count - 1].word));
}

/* Keys that end within the word at this depth, moved to the front in order of their sizes; the
 * words are all equal. Returns how many. */
static size_t part_ended(struct key_run_key *keys, size_t count, size_t depth) {
    size_t ended = 0;
    for (size_t i = 0; i < count; i++)
        if (size_of(&keys[i]) <= depth + 8)
            swap(&keys[i], &keys[ended++]);
    insertion_sort(keys, ended, depth);
    return ended;
}

static void load_words(struct key_run_key *keys, size_t count, size_t depth) {
    for (size_t i = 0; i < count; i++)
        keys[i].word = word_at(&keys[i], depth);
}

/* --- dealing out --- */

enum { PILES = 256 };

/* How far to shift a word so that its highest byte in which any two differ comes last; -1 if they
 * are all equal. */
static int find_shift(const struct key_run_key *keys, size_t count) {
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= keys[i].word ^ keys[0].word;
    if (differ == 0)
        return -1;
    int top = 64 - __builtin_clzll(differ);
    return top > 8 ? top - 8 : 0;
}

static unsigned bucket_of(const struct key_run_key *key, int shift) {
    return (unsigned)(key->word >> shift) & (PILES - 1);
}

/* Moves each key to its pile; ends[i] is where pile i ends. */
static void flag_sort(struct key_run_key *keys, size_t count, int shift, size_t *ends) {
    size_t next[PILES] = {0};
    for (size_t i = 0; i < count; i++)
        next[bucket_of(&keys[i], shift)]++;
    for (size_t i = 0, sum = 0; i < PILES; i++) {
        size_t size = next[i];
        next[i] = sum;
        ends[i] = sum += size;
    }
    for (unsigned i = 0; i < PILES; i++)
        while (next[i] < ends[i]) {
            struct key_run_key key = keys[next[i]];
            for (unsigned to; (to = bucket_of(&key, shift)) != i;) {
                struct key_run_key other = keys[next[to]];
                keys[next[to]++] = key;
                key = other;
            }
            keys[next[i]++] = key;
        }
}

static void sort_from(struct key_run_key *keys, size_t count, size_t depth, int deals);

static void sort_many(struct key_run_key *keys, size_t count, size_t depth, int shift, int deals) {
    size_t ends[PILES], start = 0;
    flag_sort(keys, count, shift, ends);
    for (unsigned i = 0; i < PILES; start = ends[i++])
        sort_from(keys + start, ends[i] - start, depth, deals);
}

/* Sorts keys that are equal up to `depth`, whose words are loaded there. The larger parts are
 * looped over, the smaller recursed into, so that the stack stays small whatever the keys are;
 * `deals` tells how often they may yet be dealt out. */
static void sort_from(struct key_run_key *keys, size_t count, size_t depth, int deals) {
    while (count > SMALL) {
        int shift = count > MANY && deals > 0 ? find_shift(keys, count) : -1;
        if (shift >= 0) {
            sort_many(keys, count, depth, shift, deals - 1);
            return;
        }
        uint64_t pivot = pivot_of(keys, count);
        size_t less = 0, at = 0, greater = count;
        while (at < greater) {
            if (keys[at].word < pivot)
                swap(&keys[at++], &keys[less++]);
            else if (keys[at].word > pivot)
                swap(&keys[at], &keys[--greater]);
            else
                at++;
        }
        /* A single one is where it belongs; its bytes, which no cache has, are not looked at. */
        size_t ended = greater - less < 2 ? 1 : part_ended(keys + less, greater - less, depth);
        struct key_run_key *equal = keys + less + ended;
        size_t equals = greater - less - ended;
        if (equals == count) { /* all share the word: go on deeper without a call */
            load_words(keys, count, depth += 8);
            continue;
        }
        load_words(equal, equals, depth + 8);
        sort_from(equal, equals, depth + 8, deals);
        if (less < count - greater) {
            sort_from(keys, less, depth, deals);
            keys += greater;
            count -= greater;
        } else {
            sort_from(keys + greater, count - greater, depth, deals);
            count = less;
        }
    }
    insertion_sort(keys, count, depth);
}

void key_run_sort(struct key_run *key_run) {
    load_words(key_run->keys, key_run->count, 0);
    sort_from(key_run->keys, key_run->count, 0, DEALS);
}

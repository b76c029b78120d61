#include "base/spare_blocks.h"

#include "base/asan.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SIZES = 5, /* SPARE_BLOCK_MIN, twice that, ... */
    TRIM_EVERY_US = 250 * 1000,
    TRIM_MAX = 4 * 1024 * 1024, /* bytes in one call */
};

static_assert(SPARE_BLOCK_MIN << (SIZES - 1) == SPARE_BLOCK_MAX, "the sizes that are kept");

/* What a block begins with while it is kept. */
struct spare_block {
    struct spare_block *next;
};

/* The blocks of one size. */
struct spare_list {
    struct spare_block *first;
    size_t count, least; /* how many there are, and were at the fewest since the last trim */
};

static struct {
    pthread_mutex_t lock;
    struct spare_list lists[SIZES];
    size_t held; /* bytes */
    int64_t trimmed_us;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Which of the sizes it is; SIZES: none. */
static unsigned list_number(size_t size) {
    unsigned number = 0;
    while (number < SIZES && (size_t)SPARE_BLOCK_MIN << number != size)
        number++;
    return number;
}

size_t spare_block_size(size_t need) {
    size_t size = SPARE_BLOCK_MIN;
    if (need < SPARE_BLOCK_MIN || need > SPARE_BLOCK_MAX)
        return need;
    while (size < need)
        size *= 2;
    return size;
}

/* Under the lock; there is one. */
static struct spare_block *list_pop(struct spare_list *list, size_t size) {
    struct spare_block *block = list->first;
    ASAN_UNPOISON_MEMORY_REGION(block + 1, size - sizeof(*block));
    list->first = block->next;
    list->count--;
    if (list->count < list->least)
        list->least = list->count;
    spare.held -= size;
    return block;
}

/* Under the lock. */
static void list_push(struct spare_list *list, struct spare_block *block, size_t size) {
    block->next = list->first;
    list->first = block;
    list->count++;
    spare.held += size;
    ASAN_POISON_MEMORY_REGION(block + 1, size - sizeof(*block));
}

void *spare_block_take(size_t size) {
    unsigned number = list_number(size);
    void *block = NULL;
    if (number != SIZES) {
        pthread_mutex_lock(&spare.lock);
        if (spare.lists[number].count != 0)
            block = list_pop(&spare.lists[number], size);
        pthread_mutex_unlock(&spare.lock);
    }
    return block != NULL ? block : mem_alloc(size);
}

void spare_block_give(void *block, size_t size) {
    unsigned number = list_number(size);
    bool kept = false;
    if (number != SIZES) {
        pthread_mutex_lock(&spare.lock);
        kept = spare.held + size <= LIMIT_SPARE_BLOCKS;
        if (kept)
            list_push(&spare.lists[number], block, size);
        pthread_mutex_unlock(&spare.lock);
    }
    if (!kept)
        mem_free(block);
}

/* Under the lock: takes out of the list what was not needed, as far as `room` goes. */
static struct spare_block *list_trim(struct spare_list *list, size_t size, size_t *room) {
    struct spare_block *gone = NULL;
    for (size_t left = list->least; left > 0 && *room >= size; left--, *room -= size) {
        struct spare_block *block = list_pop(list, size);
        block->next = gone;
        gone = block;
    }
    list->least = list->count;
    return gone;
}

void spare_blocks_trim(void) {
    struct spare_block *gone[SIZES] = {NULL};
    size_t room = TRIM_MAX;
    int64_t now = clock_ticks_us();
    pthread_mutex_lock(&spare.lock);
    bool due = now - spare.trimmed_us >= TRIM_EVERY_US;
    for (unsigned i = 0; due && i < SIZES; i++)
        gone[i] = list_trim(&spare.lists[i], (size_t)SPARE_BLOCK_MIN << i, &room);
    if (due)
        spare.trimmed_us = now;
    pthread_mutex_unlock(&spare.lock);
    for (unsigned i = 0; i < SIZES; i++)
        for (struct spare_block *block = gone[i], *next; block != NULL; block = next) {
            next = block->next;
            mem_free(block);
        }
}

size_t spare_blocks_held(void) {
    pthread_mutex_lock(&spare.lock);
    size_t held = spare.held;
    pthread_mutex_unlock(&spare.lock);
    return held;
}

/* The counted tree beside a C++ std::set and the usual skip list with spans, on the same keys in
 * the same run.
 *
 *   bench_tree [millions of keys]     default 1; 10 takes some two minutes
 */
#include "base/mem.h"
#include "base/random.h"
#include "rank/tree.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* bench_set.cc */
void *set_new(void);
void set_free(void *set);
void set_put(void *set, const void *key, size_t size);
bool set_has(const void *set, const void *key, size_t size);

/* The usual skip list: each link knows how many keys it skips; a key has its own allocation. */
enum { LEVELS = 32 };

struct skip_node {
    uint8_t *key;
    size_t size;
    struct skip_link {
        struct skip_node *next;
        uint64_t span;
    } links[];
};

struct skip {
    struct skip_node *head;
    unsigned levels;
    uint64_t count;
    struct random random;
};

static struct skip_node *skip_node(unsigned levels, struct bytes key) {
    struct skip_node *node = mem_zalloc(sizeof(*node) + levels * sizeof(struct skip_link));
    node->key = mem_alloc(key.size + 1);
    memcpy(node->key, key.data, key.size);
    node->size = key.size;
    return node;
}

static void *skip_new(void) {
    struct skip *skip = mem_zalloc(sizeof(*skip));
    skip->head = skip_node(LEVELS, BYTES(""));
    skip->levels = 1;
    random_seed(&skip->random, 1);
    return skip;
}

static void skip_free(void *list) {
    struct skip *skip = list;
    for (struct skip_node *node = skip->head, *next; node != NULL; node = next) {
        next = node->links[0].next;
        mem_free(node->key);
        mem_free(node);
    }
    mem_free(skip);
}

/* The last node before `key` on each level, and how many keys come before it. */
static void skip_seek(const struct skip *skip, struct bytes key, struct skip_node **before,
                      uint64_t *ranks) {
    struct skip_node *node = skip->head;
    uint64_t rank = 0;
    for (unsigned level = skip->levels; level-- > 0;) {
        for (;;) {
            const struct skip_link *link = &node->links[level];
            if (link->next == NULL ||
                bytes_compare(bytes_of(link->next->key, link->next->size), key) >= 0)
                break;
            rank += link->span;
            node = link->next;
        }
        before[level] = node;
        ranks[level] = rank;
    }
}

static void skip_put(void *list, const void *data, size_t size) {
    struct skip *skip = list;
    struct bytes key = bytes_of(data, size);
    struct skip_node *before[LEVELS];
    uint64_t ranks[LEVELS];
    skip_seek(skip, key, before, ranks);
    unsigned levels = 1;
    while (levels < LEVELS && random_below(&skip->random, 4) == 0)
        levels++;
    for (; skip->levels < levels; skip->levels++) {
        before[skip->levels] = skip->head;
        ranks[skip->levels] = 0;
        skip->head->links[skip->levels].span = skip->count;
    }
    struct skip_node *node = skip_node(levels, key);
    for (unsigned level = 0; level < skip->levels; level++) {
        struct skip_link *link = &before[level]->links[level];
        if (level >= levels) {
            link->span++;
            continue;
        }
        uint64_t passed = ranks[0] - ranks[level];
        node->links[level] = (struct skip_link){link->next, link->span - passed};
        *link = (struct skip_link){node, passed + 1};
    }
    skip->count++;
}

static uint64_t skip_rank(const void *list, const void *data, size_t size) {
    struct skip_node *before[LEVELS];
    uint64_t ranks[LEVELS];
    skip_seek(list, bytes_of(data, size), before, ranks);
    return ranks[0];
}

/* The tree in the same clothes. */
static void *ours_new(void) {
    return tree_new();
}

static void ours_free(void *tree) {
    tree_free(tree);
}

static void ours_put(void *tree, const void *key, size_t size) {
    tree_put(tree, bytes_of(key, size));
}

static uint64_t ours_rank(const void *tree, const void *key, size_t size) {
    return tree_rank(tree, bytes_of(key, size));
}

static size_t ours_memory(const void *tree) {
    return tree_memory(tree);
}

static uint64_t set_look(const void *set, const void *key, size_t size) {
    return set_has(set, key, size);
}

struct subject {
    const char *name, *note;
    void *(*create)(void);
    void (*destroy)(void *);
    void (*put)(void *, const void *, size_t);
    uint64_t (*rank)(const void *, const void *, size_t);
    size_t (*memory)(const void *); /* NULL: all of it is the C library's */
};

static const struct subject subjects[] = {
    {"counted tree", "", ours_new, ours_free, ours_put, ours_rank, ours_memory},
    {"skip list", "", skip_new, skip_free, skip_put, skip_rank},
    {"std::set", "it has no rank: this is a look-up", set_new, set_free, set_put, set_look},
};

/* This thread's time on a core: waiting for a core that another program has is not counted. */
static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* What the allocator holds for us: more than was asked for, as it rounds up and keeps books. */
static double heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

enum { KEY = 20, ASKS = 1000000 };

static uint64_t measure(const struct subject *subject, const uint8_t *keys, size_t count,
                        const uint8_t *asks) {
    uint64_t sum = 0;
    double heap = heap_bytes(), start = now_ns();
    void *set = subject->create();
    for (size_t i = 0; i < count; i++)
        subject->put(set, keys + i * KEY, KEY);
    double put = (now_ns() - start) / (double)count;
    heap = subject->memory != NULL ? (double)subject->memory(set) : heap_bytes() - heap;
    start = now_ns();
    for (size_t i = 0; i < ASKS; i++)
        sum += subject->rank(set, asks + i * KEY, KEY);
    double rank = (now_ns() - start) / ASKS;
    printf("%-14s %8.0f %8.0f %10.1f  %s\n", subject->name, put, rank, heap / (double)count,
           subject->note);
    subject->destroy(set);
    return sum;
}

/* Some of the keys in random order, side by side: finding a key to ask for is not measured. */
static uint8_t *choose_asks(const uint8_t *keys, size_t count) {
    uint8_t *asks = mem_alloc((size_t)ASKS * KEY);
    struct random random;
    random_seed(&random, 7);
    for (size_t i = 0; i < ASKS; i++)
        memcpy(asks + i * KEY, keys + random_below(&random, count) * KEY, KEY);
    return asks;
}

static int compare_keys(const void *a, const void *b) {
    return memcmp(a, b, KEY);
}

static void measure_load(uint8_t *keys, size_t count) {
    qsort(keys, count, KEY, compare_keys);
    double start = now_ns();
    struct tree_loader *loader = tree_loader_new();
    for (size_t i = 0; i < count; i++)
        tree_loader_add(loader, bytes_of(keys + i * KEY, KEY));
    struct tree *tree = tree_loader_finish(loader);
    double loaded = now_ns();
    struct tree_cursor cursor = {0};
    uint64_t walked = 0;
    for (bool on = tree_seek_rank(&cursor, tree, 0); on; on = tree_next(&cursor))
        walked += tree_key(&cursor).size;
    printf("%-14s %8.0f %8s %10.1f  walk %.0f ns a key\n", "  loaded sorted",
           (loaded - start) / (double)count, "", (double)tree_memory(tree) / (double)count,
           (now_ns() - loaded) / (double)count);
    tree_cursor_release(&cursor);
    tree_free(tree);
    if (walked != count * KEY)
        abort();
}

int main(int argc, char **argv) {
    double millions = argc > 1 ? strtod(argv[1], NULL) : 1;
    size_t count = (size_t)(millions * 1e6);
    uint8_t *keys = mem_alloc(count * KEY);
    struct random random;
    random_seed(&random, 42);
    for (size_t i = 0; i < count * KEY; i += 4) {
        uint32_t word = (uint32_t)random_next(&random);
        memcpy(keys + i, &word, 4);
    }
    printf("%zu random keys of %d bytes\n", count, KEY);
    printf("%-14s %8s %8s %10s\n", "", "put ns", "rank ns", "bytes/key");
    uint8_t *asks = choose_asks(keys, count);
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        sum += measure(&subjects[i], keys, count, asks);
    measure_load(keys, count);
    mem_free(asks);
    mem_free(keys);
    return sum == 0;
}

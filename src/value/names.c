/* Readers take no lock. A name is written before the slot that points at it, the slot before the
 * count that admits it; each is published by a release store and met by an acquire load. Slots are
 * only ever filled, so a reader that misses a name being added sees the dictionary as it was. */
#include "value/names.h"

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 4 * LIMIT_NAME_CODES }; /* a power of two; never more than a quarter full */

static_assert((SLOTS & (SLOTS - 1)) == 0, "masked");

struct name {
    uint64_t hash;
    int code;
    struct bytes bytes;
    uint8_t copy[];
};

struct names {
    _Atomic(struct name *) slots[SLOTS]; /* by hash, linear probes */
    _Atomic(struct name *) by_code[LIMIT_NAME_CODES];
    /* By the code of a name, plus one: the code of the name that was seen behind it last, plus one;
     * 0: none. A guess, that whoever uses it compares with the name. */
    atomic_int follows[LIMIT_NAME_CODES + 1];
    atomic_int count;
    uint64_t serial;
    pthread_mutex_t adding;
};

struct names *names_new(void) {
    static atomic_uint_fast64_t last;
    struct names *names = mem_zalloc(sizeof(*names));
    names->serial = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    pthread_mutex_init(&names->adding, NULL);
    return names;
}

void names_free(struct names *names) {
    if (names == NULL)
        return;
    for (int i = 0; i < names_count(names); i++)
        mem_free(atomic_load_explicit(&names->by_code[i], memory_order_relaxed));
    pthread_mutex_destroy(&names->adding);
    mem_free(names);
}

static inline uint64_t name_hash(struct bytes name) {
    return hash_keyed(name, 0);
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t names_seek(const struct names *names, struct bytes name, uint64_t hash,
                         struct name **found) {
    for (size_t at = hash & (SLOTS - 1);; at = (at + 1) & (SLOTS - 1)) {
        *found = atomic_load_explicit(&names->slots[at], memory_order_acquire);
        if (*found == NULL || ((*found)->hash == hash && bytes_equal((*found)->bytes, name)))
            return at;
    }
}

/* With the mutex held. */
static int names_add(struct names *names, struct bytes name, uint64_t hash) {
    struct name *found;
    size_t at = names_seek(names, name, hash, &found);
    int count = atomic_load_explicit(&names->count, memory_order_relaxed);
    if (found != NULL)
        return found->code;
    if (count == LIMIT_NAME_CODES)
        return NAMES_FULL;
    struct name *added = mem_alloc(sizeof(*added) + name.size);
    added->hash = hash;
    added->code = count;
    added->bytes = bytes_of(added->copy, name.size);
    if (name.size != 0)
        memcpy(added->copy, name.data, name.size);
    atomic_store_explicit(&names->by_code[count], added, memory_order_release);
    atomic_store_explicit(&names->count, count + 1, memory_order_release);
    atomic_store_explicit(&names->slots[at], added, memory_order_release);
    return count;
}

int names_intern(struct names *names, struct bytes name) {
    struct name *found;
    if (name.size > NAMES_SIZE_MAX)
        return NAMES_FULL;
    uint64_t hash = name_hash(name);
    names_seek(names, name, hash, &found);
    if (found != NULL)
        return found->code;
    if (names_count(names) == LIMIT_NAME_CODES)
        return NAMES_FULL;
    pthread_mutex_lock(&names->adding);
    int code = names_add(names, name, hash);
    pthread_mutex_unlock(&names->adding);
    return code;
}

/* A guess is published after the count that admits its code, like a slot: whoever takes it has seen
 * that count. */
int names_intern_after(struct names *names, int before, struct bytes name) {
    atomic_int *follows = &names->follows[before + 1];
    int guess = atomic_load_explicit(follows, memory_order_acquire) - 1;
    if (guess >= 0 && bytes_equal(names_get(names, guess), name))
        return guess;
    int code = names_intern(names, name);
    if (code != NAMES_FULL)
        atomic_store_explicit(follows, code + 1, memory_order_release);
    return code;
}

int names_find(const struct names *names, struct bytes name) {
    struct name *found;
    if (name.size > NAMES_SIZE_MAX)
        return NAMES_FULL;
    names_seek(names, name, name_hash(name), &found);
    return found != NULL ? found->code : NAMES_FULL;
}

struct bytes names_get(const struct names *names, int code) {
    if (code < 0 || code >= LIMIT_NAME_CODES)
        return (struct bytes){0};
    struct name *name = atomic_load_explicit(&names->by_code[code], memory_order_acquire);
    return name != NULL ? name->bytes : (struct bytes){0};
}

uint64_t names_serial(const struct names *names) {
    return names->serial;
}

int names_count(const struct names *names) {
    return atomic_load_explicit(&names->count, memory_order_acquire);
}

bool names_restore(struct names *names, int code, struct bytes name) {
    if (name.size > NAMES_SIZE_MAX)
        return false;
    pthread_mutex_lock(&names->adding);
    bool right = code == names_count(names) && names_add(names, name, name_hash(name)) == code;
    pthread_mutex_unlock(&names->adding);
    return right;
}

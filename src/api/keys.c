#include "api/keys.h"

#include "base/limits.h"
#include "base/mem.h"

#include <openssl/crypto.h>
#include <stdatomic.h>

enum { ID_SIZE_MAX = 128, SECRET_SIZE_MIN = 16, SECRET_SIZE_MAX = 256 };

/* --- what a key may do --- */

/* A full name, or a beginning and a '*'. */
static bool pattern_matches(struct bytes pattern, struct bytes name) {
    if (pattern.size != 0 && pattern.data[pattern.size - 1] == '*')
        return bytes_starts(name, bytes_of(pattern.data, pattern.size - 1));
    return bytes_equal(pattern, name);
}

bool access_key_serves(const struct access_key *key, unsigned access, struct bytes table) {
    if ((key->allow & access) != access)
        return false;
    for (size_t i = 0; i < key->table_count; i++)
        if (pattern_matches(key->tables[i], table))
            return true;
    return false;
}

bool access_key_allows(const struct access_key *key, unsigned access, struct bytes table) {
    return !key->client && access_key_serves(key, access, table);
}

bool access_key_spans(const struct access_key *key) {
    for (size_t i = 0; i < key->table_count; i++)
        if (!key->client && bytes_equal(key->tables[i], BYTES("*")))
            return true;
    return false;
}

bool access_key_reaches(const struct access_key *key, struct bytes partition) {
    for (size_t i = 0; i < key->partition_count; i++)
        if (pattern_matches(key->partitions[i], partition))
            return true;
    return key->partition_count == 0;
}

bool access_key_is_free(const struct access_key *key) {
    return key->allow == ACCESS_ALL && key->partition_count == 0 && access_key_spans(key);
}

static const struct {
    struct bytes name;
    unsigned access;
} names[] = {
    {BYTES("read"), ACCESS_READ},
    {BYTES("write"), ACCESS_WRITE},
    {BYTES("admin"), ACCESS_ADMIN},
    {BYTES("all"), ACCESS_ALL},
};

void access_put(struct buf *to, unsigned allow) {
    bool first = true;
    for (size_t i = 0; i < 3; i++) {
        if ((allow & names[i].access) == 0)
            continue;
        if (!first)
            buf_lit(to, ", ");
        buf_put(to, names[i].name);
        first = false;
    }
}

unsigned access_named(struct bytes name) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bytes_equal(name, names[i].name))
            return names[i].access;
    return 0;
}

/* --- a set of keys --- */

struct keyring *keyring_new(void) {
    struct keyring *ring = mem_zalloc(sizeof *ring);
    arena_init(&ring->arena);
    return ring;
}

void keyring_free(struct keyring *ring) {
    for (size_t i = 0; i < ring->count; i++)
        OPENSSL_cleanse((void *)ring->keys[i]->secret.data, ring->keys[i]->secret.size);
    map_release(&ring->by_id);
    mem_free(ring->keys);
    arena_release(&ring->arena);
    mem_free(ring);
}

static bool is_word(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_' || c == '.'))
            return false;
    }
    return text.size != 0;
}

static bool is_printable(struct bytes text) {
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= ' ' || text.data[i] >= 0x7f)
            return false;
    return true;
}

static bool is_table_pattern(struct bytes pattern) {
    if (pattern.size != 0 && pattern.data[pattern.size - 1] == '*')
        pattern.size--;
    else if (pattern.size < LIMIT_TABLE_NAME_MIN)
        return false;
    return pattern.size <= LIMIT_TABLE_NAME_MAX && (pattern.size == 0 || is_word(pattern));
}

static const char *fault_of(const struct access_key *key) {
    if (key->id.size > ID_SIZE_MAX || !is_word(key->id))
        return "an id is 1 to 128 letters, digits, '-', '_' or '.'";
    if (key->secret.size < SECRET_SIZE_MIN || key->secret.size > SECRET_SIZE_MAX ||
        !is_printable(key->secret))
        return "a secret is 16 to 256 printable characters without blanks";
    if (key->table_count == 0)
        return "it names no tables; \"*\" is all of them";
    for (size_t i = 0; i < key->table_count; i++)
        if (!is_table_pattern(key->tables[i]))
            return "a table is a name, or the beginning of one and a '*'";
    for (size_t i = 0; i < key->partition_count; i++)
        if (key->partitions[i].size == 0 || key->partitions[i].size > LIMIT_PARTITION_KEY_SIZE)
            return "a partition is a key, or the beginning of one and a '*'";
    if (key->allow == 0)
        return "it allows nothing: choose of read, write, admin";
    return NULL;
}

static struct bytes *copy_list(struct arena *arena, const struct bytes *list, size_t count) {
    struct bytes *copy = ARENA_ARRAY(arena, struct bytes, count);
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_copy(arena, list[i]);
    return copy;
}

enum status keyring_add(struct keyring *ring, const struct access_key *key, struct arena *arena,
                        struct failure *failure) {
    const char *fault = fault_of(key);
    if (fault != NULL)
        return failure_set(failure, arena, INVALID, "%s", fault);
    if (map_get(&ring->by_id, key->id) != NULL)
        return failure_set(failure, arena, INVALID, "the id %.*s is there twice",
                           BYTES_ARG(key->id));
    struct access_key *copy = ARENA_NEW(&ring->arena, struct access_key);
    copy->id = arena_copy(&ring->arena, key->id);
    copy->secret = arena_copy(&ring->arena, key->secret);
    copy->name = arena_copy(&ring->arena, key->name);
    copy->allow = key->allow;
    copy->tables = copy_list(&ring->arena, key->tables, key->table_count);
    copy->table_count = key->table_count;
    copy->partitions = copy_list(&ring->arena, key->partitions, key->partition_count);
    copy->partition_count = key->partition_count;
    copy->client = key->client;
    if (ring->count == ring->room) {
        ring->room = ring->room == 0 ? 8 : ring->room * 2;
        ring->keys = mem_realloc(ring->keys, ring->room * sizeof ring->keys[0]);
    }
    ring->keys[ring->count++] = copy;
    map_put(&ring->by_id, copy->id, copy);
    return OK;
}

bool keyring_remove(struct keyring *ring, struct bytes id) {
    const struct access_key *key = map_del(&ring->by_id, id);
    for (size_t i = 0; i < ring->count; i++) {
        if (ring->keys[i] != key)
            continue;
        memmove(&ring->keys[i], &ring->keys[i + 1], (--ring->count - i) * sizeof ring->keys[0]);
        return true;
    }
    return false;
}

const struct access_key *keyring_find(const struct keyring *ring, struct bytes id) {
    return map_get(&ring->by_id, id);
}

/* --- the present one --- */

struct keys {
    _Atomic(struct keyring *) now;
};

struct keys *keys_new(struct keyring *ring) {
    struct keys *keys = mem_zalloc(sizeof *keys);
    atomic_init(&keys->now, ring);
    return keys;
}

void keys_free(struct keys *keys) {
    struct keyring *ring = atomic_load(&keys->now);
    while (ring != NULL) {
        struct keyring *older = ring->older;
        keyring_free(ring);
        ring = older;
    }
    mem_free(keys);
}

const struct keyring *keys_now(const struct keys *keys) {
    return atomic_load_explicit(&keys->now, memory_order_acquire);
}

void keys_replace(struct keys *keys, struct keyring *ring) {
    ring->older = atomic_load(&keys->now);
    atomic_store_explicit(&keys->now, ring, memory_order_release);
}

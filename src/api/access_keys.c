#include "api/access_keys.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <time.h>

enum { ID_SIZE_MAX = LIMIT_KEY_ID, SECRET_SIZE_MIN = 16, SECRET_SIZE_MAX = LIMIT_KEY_SECRET };

/* --- names of rights --- */

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

enum { DRAWN_ID = 18, DRAWN_SECRET = 40 }; /* characters */

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

struct bytes *access_list_copy(struct arena *arena, const struct bytes *list, size_t count) {
    struct bytes *copy = ARENA_ARRAY(arena, struct bytes, count);
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_copy(arena, list[i]);
    return copy;
}

/* A word of `size` digits, of which there are `count`. */
static struct bytes draw_word(struct arena *arena, size_t size, const char *digits, uint8_t count) {
    uint8_t noise[64];
    uint8_t *word = arena_alloc(arena, size);
    random_secure(noise, sizeof noise);
    for (size_t i = 0; i < size; i++)
        word[i] = (uint8_t)digits[noise[i] % count]; /* count divides 256: all are as likely */
    return bytes_of(word, size);
}

void access_key_draw(struct access_key *key, struct arena *arena) {
    struct bytes word = draw_word(arena, DRAWN_ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32);
    key->id = arena_printf(arena, "GT%.*s", BYTES_ARG(word));
    key->secret = draw_word(arena, DRAWN_SECRET,
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 64);
}

enum status keyring_add(struct keyring *ring, const struct access_key *key, struct scope in) {
    const char *fault = fault_of(key);
    if (fault != NULL)
        return failure_set(in.failure, in.arena, INVALID, "%s", fault);
    if (map_get(&ring->by_id, key->id) != NULL)
        return failure_set(in.failure, in.arena, INVALID, "the id %.*s is there twice",
                           BYTES_ARG(key->id));
    struct access_key *copy = ARENA_NEW(&ring->arena, struct access_key);
    copy->id = arena_copy(&ring->arena, key->id);
    copy->secret = arena_copy(&ring->arena, key->secret);
    copy->name = arena_copy(&ring->arena, key->name);
    copy->allow = key->allow;
    copy->tables = access_list_copy(&ring->arena, key->tables, key->table_count);
    copy->table_count = key->table_count;
    copy->partitions = access_list_copy(&ring->arena, key->partitions, key->partition_count);
    copy->partition_count = key->partition_count;
    copy->client = key->client;
    copy->used_s = ARENA_NEW(&ring->arena, _Atomic(int64_t));
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

static bool same_list(const struct bytes *a, const struct bytes *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!bytes_equal(a[i], b[i]))
            return false;
    return true;
}

bool keys_has_unchanged(const struct keys *keys, const struct access_key *key) {
    const struct access_key *now = keyring_find(keys_now(keys), key->id);
    return now == key ||
           (now != NULL && bytes_equal(now->secret, key->secret) && now->allow == key->allow &&
            now->client == key->client && now->table_count == key->table_count &&
            now->partition_count == key->partition_count &&
            same_list(now->tables, key->tables, key->table_count) &&
            same_list(now->partitions, key->partitions, key->partition_count));
}

void access_key_used(const struct access_key *key) {
    int64_t now_s = (int64_t)time(NULL);
    if (key->used_s != NULL && atomic_load_explicit(key->used_s, memory_order_relaxed) != now_s)
        atomic_store_explicit(key->used_s, now_s, memory_order_relaxed);
}

/* What both have was used when it was used. */
static void keep_uses(const struct keyring *ring, const struct keyring *older) {
    for (size_t i = 0; i < ring->count; i++) {
        const struct access_key *old = keyring_find(older, ring->keys[i]->id);
        if (old != NULL)
            atomic_store(ring->keys[i]->used_s, atomic_load(old->used_s));
    }
}

void keys_replace(struct keys *keys, struct keyring *ring) {
    ring->older = atomic_load(&keys->now);
    keep_uses(ring, ring->older);
    atomic_store_explicit(&keys->now, ring, memory_order_release);
}

/* Access keys: who may come in, and what was granted to each. What that amounts to is decided in
 * access_control.h and nowhere else.
 *
 * A keyring is a set of keys that does not change. `struct keys` is where the present one is
 * found: it can be replaced while others read. Keyrings that were replaced stay until keys_free(),
 * so that a key found by a request is good for as long as the server runs.
 *
 * The file is JSON, and every member but the name is checked, so that a slip widens nothing:
 *
 *     {"keys": [{"id": "GT4S...", "secret": "...", "name": "game server",
 *                "tables": ["game", "scores-*"], "allow": ["read", "write"],
 *                "partitions": ["USER#*"]}]}
 *
 * A table or a partition key is named in full, or by its beginning and a '*'. Indexes come with
 * their table. Without "partitions" all of a table's items are meant. "role" is "server", which
 * need not be told, or "client": such a key is good for what a player may do and for no table.
 */
#ifndef GT_API_ACCESS_KEYS_H
#define GT_API_ACCESS_KEYS_H

#include "base/buf.h"
#include "base/map.h"
#include "base/status.h"

#include <stdatomic.h>

enum access {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_ADMIN = 4, /* make, change and delete tables */
    ACCESS_ALL = 7,
};

struct access_key {
    struct bytes id;
    struct bytes secret; /* never written anywhere but to the key file */
    struct bytes name;   /* who it is for */
    unsigned allow;      /* of enum access */
    const struct bytes *tables;
    size_t table_count;
    const struct bytes *partitions;
    size_t partition_count; /* 0: all */
    bool client;            /* in the hands of a player: only what a player may do */
    /* When it last proved who somebody is, in seconds since 1970; 0: not since the start. Kept over
     * a reload. */
    _Atomic(int64_t) *used_s;
};

/* Notes that it was used now. Any thread; writes at most once a second. */
void access_key_used(const struct access_key *key);

/* Appends "read, write". */
void access_put(struct buf *to, unsigned allow);
/* "read", "write", "admin" or "all"; 0 if it is none of them. */
unsigned access_named(struct bytes name);

/* Draws a new id and a new secret, in the arena. */
void access_key_draw(struct access_key *key, struct arena *arena);
/* A copy of a list of names, in the arena. */
struct bytes *access_list_copy(struct arena *arena, const struct bytes *list, size_t count);

struct keyring {
    struct arena arena; /* all strings live here */
    struct map by_id;
    struct access_key **keys;
    size_t count, room;
    struct keyring *older; /* that it replaced */
};

struct keyring *keyring_new(void);
void keyring_free(struct keyring *ring);
/* Adds a copy. INVALID, with a sentence, for an id, secret or scope that cannot be. */
enum status keyring_add(struct keyring *ring, const struct access_key *key, struct scope in);
bool keyring_remove(struct keyring *ring, struct bytes id);
const struct access_key *keyring_find(const struct keyring *ring, struct bytes id);

/* Adds the keys of a text in the form above. Faults name `source`; they never tell a secret. */
enum status keyring_read(struct keyring *ring, struct bytes text, const char *source,
                         struct scope in);
void keyring_write(const struct keyring *ring, struct buf *to);
/* NOT_FOUND if there is no such file. *exposed is set when others on the machine may read it. */
enum status keyring_load(struct keyring *ring, const char *path, struct scope in, bool *exposed);
/* Replaces the file as a whole, readable by its owner only. */
enum status keyring_save(const struct keyring *ring, const char *path, struct scope in);

struct keys;
/* Takes the keyring. */
struct keys *keys_new(struct keyring *ring);
void keys_free(struct keys *keys);
/* The present keyring. Any thread. */
const struct keyring *keys_now(const struct keys *keys);
/* Whether the key is in the present keyring as it was: with the same secret and the same rights.
 * What it has opened and is still open is to be ended if not. Any thread. */
bool keys_has_unchanged(const struct keys *keys, const struct access_key *key);
/* Takes the keyring; from now on it is the present one. One thread at a time. */
void keys_replace(struct keys *keys, struct keyring *ring);

#endif

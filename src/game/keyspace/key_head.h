/* The head of a key: the one item that says what the key of the Redis protocol is.
 *
 *   PK KEY#<name>  SK KEY  type S (string, hash, set)     GSI1 KEYS#<db> / <name>
 *   expiresAt N    when it expires, in ms; with ttl N, the second at which the table removes it
 *   a string:      value S, or B if it is not UTF-8
 *   a small hash:  fields M {field: S or B}; fieldEnds M {field: N in ms} of those that expire
 *   a small set:   members SS
 *   a large hash or set:  count N, generation S, fieldsEndAt N (the earliest end of a field), and
 *                  an item for each field (key_fields.h); no ttl
 *   what housekeeping has to look at, a large key that expires or one with a field that does:
 *                  GSI2 KEYENDS / <20 digits of ms>#<pk>
 *
 * Small is up to KEY_INLINE_FIELDS fields of KEY_INLINE_SIZE bytes together. Names of fields and
 * members are escaped as entry_key_of() does. A key exists while it has a head; a hash or set that
 * loses its last field loses its head. A sorted set has none: it is a board, and a name is never
 * both, unless a board was made under the name of a key by another protocol; then Redis sees the
 * key.
 *
 * Functions without a comment that says otherwise are for any thread, take no lock, and leave what
 * they make in the arena; what is read borrows the item.
 */
#ifndef GT_GAME_KEYSPACE_KEY_HEAD_H
#define GT_GAME_KEYSPACE_KEY_HEAD_H

#include "game/game.h"
#include "game/keyspace/key_name.h"

enum key_type { KEY_NONE, KEY_STRING, KEY_HASH, KEY_SET, KEY_ZSET };

enum {
    KEY_INLINE_FIELDS = LIMIT_KEY_INLINE_FIELDS,
    KEY_INLINE_SIZE = LIMIT_KEY_INLINE_SIZE,
    KEY_VALUE_MAX = LIMIT_KEY_VALUE, /* bytes of a string, or of a field's value */
};

/* A field of a hash, or a member of a set, whose value is empty. */
struct key_field {
    struct bytes key;   /* the name, escaped */
    struct bytes value; /* of a hash */
    int64_t expires_ms; /* 0: with the key */
};

/* A key as it is, or as it shall be: whoever has one may change it and make an item of it again. */
struct key_head {
    enum key_type type;       /* KEY_NONE: there is no such key (any more) */
    int64_t expires_ms;       /* 0: never */
    struct bytes value;       /* of a string */
    struct key_field *fields; /* of a small hash or set, in the order of their keys' bytes */
    size_t room;              /* of `fields`; grown by key_head_put() */
    uint64_t count;           /* how many fields there are, small or large */
    struct bytes generation;  /* of a large one: what its fields' items are named by; else empty */
    int64_t fields_end_ms;    /* the earliest expires_ms of a field; 0: none expires */
};

/* "string", "hash", "set", "zset", "none". */
struct bytes key_type_name(enum key_type type);

/* The key {PK, SK} of the head. */
struct item key_head_key(const struct key_address *address, struct arena *arena);
/* The address of the key whose head the item is, borrowed from it; false if it is none. */
bool key_address_of_head(const struct item *item, struct key_address *out);
/* Reads the item (count 0: there is none). One that has expired is KEY_NONE; so are the fields of a
 * small hash that have, and a hash without fields. INVALID with a sentence if the item is no head:
 * a client of another protocol has written it. */
enum status key_head_read(const struct item *item, int64_t now_ms, struct scope in,
                          struct key_head *out);
/* The same of what was read from the game's table, as an item or encoded (takes_stored): then the
 * rest of the item is not decoded. Also DAMAGED. */
struct key_head_source {
    struct game *game;
    int64_t now_ms;
    struct scope in;
};
enum status key_head_read_reply(const struct key_head_source *from, const struct get_reply *reply,
                                struct key_head *out);
/* Knows the attributes of a head; a game has one. Free it with mem_free(). */
struct item_extractor *key_head_extractor_new(void);
/* The item; the empty one for KEY_NONE. It borrows what the head refers to. */
struct item key_head_item(const struct key_head *head, const struct key_address *address,
                          struct arena *arena);

/* The field of that escaped name in a small hash or set; or NULL. O(log n). */
struct key_field *key_head_find(const struct key_head *head, struct bytes key);
/* Adds the field, or replaces the one of its name; true if it was added. Borrows the field. */
bool key_head_put(struct key_head *head, const struct key_field *field, struct arena *arena);
/* Removes it; true if it was there. A head without fields becomes KEY_NONE. */
bool key_head_remove(struct key_head *head, struct bytes key);
/* Whether a hash or set without a generation can be written as one item. */
bool key_head_is_small(const struct key_head *head);

/* For a change that makes a key's board: the action that refuses the change (CONFLICT) if at its
 * commit the table has a head of the key. */
void key_absent_action(struct game *game, const struct key_address *address, struct arena *arena,
                       struct action *out);

#endif

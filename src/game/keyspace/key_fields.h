/* The fields of a large hash or set: an item each, beside the key's head (key_head.h).
 *
 *   PK KEY#<name>  SK F#<generation>#<field>  value S or B (of a hash)  expiresAt N (ms; if it
 * expires)
 *
 * A generation is made when the key becomes large. Removing the key removes its head alone, in one
 * commit however large the key is, and leaves a note of the generation (key_garbage.h). The items
 * of that generation are no part of any key from then on, so a new key of that name can be written
 * at once; they are deleted later.
 *
 * Functions are for any thread, take no lock, and leave their results in the arena.
 */
#ifndef GT_GAME_KEYSPACE_KEY_FIELDS_H
#define GT_GAME_KEYSPACE_KEY_FIELDS_H

#include "game/keyspace/key_head.h"

enum { KEY_GENERATION_SIZE = 16 };

/* Whose fields they are. */
struct key_generation {
    struct game *game;
    const struct key_address *address;
    struct bytes name;
};

/* A new name for a generation. */
struct bytes key_generation_new(struct arena *arena);

/* The sort key of a field by its escaped name; and the escaped name in a sort key, borrowed. */
struct bytes key_field_sort_key(struct bytes generation, struct bytes key, struct arena *arena);
struct bytes key_field_of_sort_key(struct bytes sort_key);
/* The escaped name of a field or member, which may borrow the name; false if it is too long to be
 * one. */
bool key_field_name(struct bytes name, struct arena *arena, struct bytes *out);
/* The item of a field, which borrows it; its key {PK, SK} by the escaped name; and what an item
 * says of the field, whose `key` stays as it is. */
struct item key_field_item(const struct key_generation *of, const struct key_field *field,
                           struct arena *arena);
struct item key_field_item_key(const struct key_generation *of, struct bytes key,
                               struct arena *arena);
void key_field_read(const struct item *item, struct key_field *out);
/* The actions that write and delete the item of a field. */
struct action key_field_put_action(const struct key_generation *of, const struct key_field *field,
                                   struct arena *arena);
struct action key_field_delete_action(const struct key_generation *of, struct bytes key,
                                      struct arena *arena);
/* The action that notes that the generation belongs to no key any more. */
struct action key_garbage_action(const struct key_generation *of, struct arena *arena);

/* Looks up the fields, whose keys are given, all at one snapshot: found[i] says whether list[i] is
 * there, and then the rest of it is filled in. */
struct key_field_lookup {
    struct key_field *list;
    bool *found;
    size_t count;
};
enum status key_fields_get(const struct key_generation *of, const struct key_field_lookup *lookup,
                           struct scope in);

/* A page of the fields in the order of their keys. */
struct key_field_page {
    struct bytes after; /* only those after this key; empty: from the first */
    size_t limit;       /* at most so many; 0: all, of one snapshot */
    uint64_t skip;      /* so many are left out first, in one step however many */
    bool nonblocking;   /* with `skip`: rather than wait until they were counted, be WOULD_BLOCK */
    bool brief;         /* rather than read very much (items.h), likewise */
    struct key_field *list;
    size_t count;
    bool more; /* there may be some after the last one */
};
enum status key_fields_page(const struct key_generation *of, struct scope in,
                            struct key_field_page *page);

#endif

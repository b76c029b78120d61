/* Typed JSON ({"S":"x"}, {"N":"1"}, {"M":{...}}) to values and items, and back: the hot path.
 *
 * A request's faults come in two kinds that the front end tells apart: what is not of the right
 * JSON type at all (PARSE_FAILED), and what is well-typed but not a value (INVALID). Texts are
 * those clients know. The first kind wins over the second in a whole request, so a front end checks
 * the types of everything first, or, cheaper, only once a request has turned out INVALID.
 *
 * A member that is null or of a name that is no type is as good as absent. Booleans may also be
 * written "true", "1", "yes", "false", "0", "no".
 */
#ifndef GT_JSON_ATTRIBUTE_H
#define GT_JSON_ATTRIBUTE_H

#include "value/names.h"
#include "value/value.h"
#include "json/json.h"

/* Where a value stands decides how a fault is told. */
enum attribute_place {
    ATTRIBUTE_IN_COLLECTION, /* a value in a list or a map */
    ATTRIBUTE_AS_FIELD,      /* the value of a request's own field */
};

/* Only the JSON types, all the way down: OK or PARSE_FAILED. `package` is what the front end puts
 * before the name of its types, such as "game.v1."; "" for none. null is OK. */
enum status attribute_check(const struct json *from, enum attribute_place place,
                            const char *package, struct scope in);
/* The same for an object of attributes. */
enum status attribute_check_item(const struct json *from, const char *package, struct scope in);

/* INVALID: not a value (no type, two types, empty set, bad number, too deep, ...). Also
 * PARSE_FAILED as attribute_check() says, with no package, for what was not checked before.
 * What is read has value_depth() < LIMIT_NESTING. Strings are borrowed from the JSON. */
enum status attribute_read(const struct json *from, struct scope in, struct value *out);
/* An object of attributes. Faults are found in the order given, except that values nested too
 * deep and empty or oversized names are told last. */
enum status attribute_read_item(const struct json *from, struct scope in, struct item *out);

void attribute_write(struct buf *to, const struct value *value);
/* {"a":{"S":"x"},...} */
void attribute_write_item(struct buf *to, const struct item *item);

/* Writes encoded items (value/codec.h) without making items of them first, for pages of many.
 * `names` and `arena` are set, the rest is zero at first. One thread uses it at a time. */
enum { TRANSCODER_SLOTS = 256 }; /* the first 64 names share none: 33 are of the game itself */
struct attribute_transcoder {
    const struct names *names; /* that the items were encoded with; outlives it */
    struct arena *arena;       /* for sets, lists and maps */
    struct transcoder_slot {
        size_t key;        /* which name, before which kind of value; 0: none yet */
        struct bytes name; /* of `names` */
        /* The name of `names` that was found to come before it last, or NULL. */
        const uint8_t *after;
        size_t size;
        uint8_t head[48];
    } slots[TRANSCODER_SLOTS];
};
/* The thread's own, for items that were encoded with these names: it knows what it has met before.
 * The arena is for what is transcoded until somebody asks again. */
struct attribute_transcoder *attribute_transcoder_of_thread(const struct names *names,
                                                            struct arena *arena);
/* Appends what attribute_write_item() would of the item; *size is its item_size(). False if the
 * bytes are damaged: what was appended is to be thrown away. */
bool attribute_transcode(struct attribute_transcoder *by, struct bytes stored, struct buf *to,
                         size_t *size);

#endif

/* Typed JSON ({"S":"x"}, {"N":"1"}, {"M":{...}}) to values and items, and back: the hot path.
 *
 * A request's faults come in two kinds that the face tells apart: what is not of the right JSON
 * type at all (PARSE_FAILED), and what is well-typed but not a value (INVALID). Texts are those
 * clients know. The first kind wins over the second in a whole request, so a face checks the types
 * of everything first, or, cheaper, only once a request has turned out INVALID.
 *
 * A member that is null or of a name that is no type is as good as absent. Booleans may also be
 * written "true", "1", "yes", "false", "0", "no".
 */
#ifndef GT_JSON_ATTRIBUTE_H
#define GT_JSON_ATTRIBUTE_H

#include "value/value.h"
#include "json/json.h"

/* Where a value stands decides how a fault is told. */
enum attribute_place {
    ATTRIBUTE_IN_COLLECTION, /* a value in a list or a map */
    ATTRIBUTE_AS_FIELD,      /* the value of a request's own field */
};

/* Only the JSON types, all the way down: OK or PARSE_FAILED. `package` is what the face puts before
 * the name of its types, such as "game.v1."; "" for none. null is OK. */
enum status attribute_check(const struct json *from, enum attribute_place place,
                            const char *package, struct arena *arena, struct failure *failure);
/* The same for an object of attributes. */
enum status attribute_check_item(const struct json *from, const char *package, struct arena *arena,
                                 struct failure *failure);

/* INVALID: not a value (no type, two types, empty set, bad number, too deep, ...). Also
 * PARSE_FAILED as attribute_check() says, with no package, for what was not checked before.
 * What is read has value_depth() < LIMIT_NESTING. Strings are borrowed from the JSON. */
enum status attribute_read(const struct json *from, struct arena *arena, struct failure *failure,
                           struct value *out);
/* An object of attributes. Faults are found in the order given, except that values nested too
 * deep and empty or oversized names are told last. */
enum status attribute_read_item(const struct json *from, struct arena *arena,
                                struct failure *failure, struct item *out);

void attribute_write(struct buf *to, const struct value *value);
/* {"a":{"S":"x"},...} */
void attribute_write_item(struct buf *to, const struct item *item);

#endif

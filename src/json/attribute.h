/* Typed JSON ({"S":"x"}, {"N":"1"}, {"M":{...}}) to values and items, and back: the hot path.
 *
 * A request's faults come in two kinds that the face tells apart: what is not of the right JSON
 * type at all, and what is well-typed but not a value. Texts are those clients know.
 */
#ifndef GT_JSON_ATTRIBUTE_H
#define GT_JSON_ATTRIBUTE_H

#include "value/value.h"
#include "json/json.h"

/* PARSE_FAILED: wrong JSON types (a number where a string must be, ...);
 * INVALID: not a value (no type, two types, empty set, bad number, too deep, ...). */
enum status attribute_read(const struct json *from, struct arena *arena, struct failure *failure,
                           struct value *out);
/* An object of attributes. */
enum status attribute_read_item(const struct json *from, struct arena *arena,
                                struct failure *failure, struct item *out);

void attribute_write(struct buf *to, const struct value *value);
/* {"a":{"S":"x"},...} */
void attribute_write_item(struct buf *to, const struct item *item);

#endif

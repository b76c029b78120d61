/* Order-preserving keys: memcmp of two encoded keys is the order of the values they hold.
 *
 *   S, B   each byte as it is, except 0x00 -> 0x01 0x01 and 0x01 -> 0x01 0x02; then 0x00
 *   N      the number's own encoding (number.h), which knows its end
 *
 * Parts stand one after the other; each knows where it ends, so a key of several parts orders by
 * the first, then the second, and so on, and can be taken apart again given the parts' types.
 */
#ifndef GT_VALUE_KEY_H
#define GT_VALUE_KEY_H

#include "base/buf.h"
#include "value/value.h"

/* Appends one part; the value is of type S, N or B. */
void key_put(struct buf *to, const struct value *part);
/* Appends a part without its end: every string that begins with it has this as a prefix.
 * For S and B only. */
void key_put_prefix(struct buf *to, const struct value *part);

/* Takes one part of the type off the front of *from. Strings with escapes are unescaped into the
 * arena, others borrowed. DAMAGED if the bytes are not such a part. */
enum status key_take(struct bytes *from, enum value_type type, struct arena *arena,
                     struct value *out);
/* The same, without the type. */
enum status key_take_bytes(struct bytes *from, enum value_type type, struct arena *arena,
                           struct bytes *out);
/* The length of the first part. 0 if damaged. */
size_t key_span(struct bytes from, enum value_type type);

/* Turns the key in `to` (from byte `start` on) into the least key greater than all that begin
 * with it, by adding one to its last byte that is not 0xff. False if there is none. */
bool key_after_prefix(struct buf *to, size_t start);

#endif

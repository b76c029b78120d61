/* Items as bytes, for the store and the cache.
 *
 *   item   := count:varint (name value)*          sorted by attribute name
 *   name   := code+1:varint                       from the dictionary (names.h)
 *           | 0 size:varint bytes                 a name the dictionary does not have
 *   value  := type:byte payload
 *   S B    := size:varint bytes
 *   N      := size:byte encoded-number
 *   SS NS BS := count:varint payload*
 *   L      := count:varint value*
 *   M      := count:varint (size:varint bytes value)*   names are plain inside maps
 *   BOOL   := 0|1       NULL :=
 *
 * Decoding borrows strings from the bytes it is given and dictionary names from `names`; pairs
 * and elements come from the arena. Decoding checks everything: damaged bytes are DAMAGED, never
 * a crash.
 */
#ifndef GT_VALUE_CODEC_H
#define GT_VALUE_CODEC_H

#include "base/buf.h"
#include "base/limits.h"
#include "value/names.h"
#include "value/value.h"

void item_encode(const struct item *item, struct names *names, struct buf *to);
enum status item_decode(struct bytes from, const struct names *names, struct arena *arena,
                        struct item *out);
/* Finds some top-level attributes without decoding the rest, or even looking at what follows them.
 * The names rise strictly; out[i] is that of wanted[i], of type VALUE_NONE if there is none. */
enum status item_decode_some(struct bytes from, const struct names *names,
                             const struct bytes *wanted, unsigned count, struct arena *arena,
                             struct value *out);

/* The same for very many items: which codes the wanted names have is looked up once. It must be
 * made when all items that will be looked at have been encoded. */
struct item_picks {
    const struct names *names;
    const struct bytes *wanted; /* the caller's */
    unsigned count;             /* less than ITEM_PICKS_MAX */
    int codes;                  /* there are that many */
    uint16_t slots[LIMIT_NAME_CODES];
};
enum { ITEM_PICKS_MAX = UINT16_MAX };
void item_picks_init(struct item_picks *picks, const struct names *names,
                     const struct bytes *wanted, unsigned count);
enum status item_pick(struct bytes from, const struct item_picks *picks, struct arena *arena,
                      struct value *out);

/* A single value in the same form, without its name. */
void value_encode(const struct value *value, struct buf *to);
enum status value_decode(struct bytes *from, struct arena *arena, struct value *out);

#endif

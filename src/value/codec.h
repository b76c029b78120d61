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
/* The same of an item whose names' codes are known: codes[i] is that of its i-th name. */
void item_encode_coded(const struct item *item, const int *codes, struct buf *to);
enum status item_decode(struct bytes from, const struct names *names, struct arena *arena,
                        struct item *out);
/* How many attributes an encoded item has; 0 if its bytes are damaged. */
uint32_t item_encoded_count(struct bytes from);
/* Which attributes to look for. */
struct item_wanted {
    const struct names *names;  /* that the item was encoded with */
    const struct bytes *wanted; /* the attributes' names; they rise strictly */
    unsigned count;
};
/* Finds some top-level attributes without decoding the rest, or even looking at what follows them.
 * out[i] is that of wanted[i], of type VALUE_NONE if there is none. */
enum status item_decode_some(struct bytes from, const struct item_wanted *which,
                             struct arena *arena, struct value *out);

/* An encoded item, and the names that it was encoded with. */
struct item_encoded {
    struct bytes bytes;
    const struct names *names;
};

/* The same for very many items, whose names are the same: which of the wanted attributes a code
 * stands for is looked up once and remembered, as codes never change. Several threads may share
 * one. */
struct item_extractor {
    const struct bytes *wanted;                /* the caller's; in any order */
    unsigned count;                            /* at most ITEM_EXTRACTED_MAX */
    _Atomic(uint16_t) slots[LIMIT_NAME_CODES]; /* by code: 0 not known yet, 1 unwanted, 2 + i */
};
enum { ITEM_EXTRACTED_MAX = UINT16_MAX - 2 };
void item_extractor_init(struct item_extractor *extractor, const struct bytes *wanted,
                         unsigned count);
/* out[i] is the attribute wanted[i], of type VALUE_NONE if there is none. */
enum status item_extract(const struct item_encoded *from, struct item_extractor *extractor,
                         struct arena *arena, struct value *out);

/* A single value in the same form, without its name. */
void value_encode(const struct value *value, struct buf *to);
enum status value_decode(struct bytes *from, struct arena *arena, struct value *out);

#endif

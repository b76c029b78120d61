/* Exact decimal numbers: 38 significant digits, magnitudes 1e-130 to 9.99..e125, and zero.
 *
 * A number *is* its order-preserving bytes: memcmp of two encodings is the order of the two
 * numbers, equal numbers have equal bytes, and no encoding is a prefix of another. So the same
 * 1 to 22 bytes serve as the value in memory, the value on disk and the part of a key; only
 * reading, writing and arithmetic look inside.
 *
 *   byte 0        0x80 for zero (then nothing follows)
 *                 > 0x80: positive, 0x81 + 64 + the base-100 exponent, which is -64 to 62
 *                 < 0x80: negative, the bitwise complement of the positive encoding
 *   bytes 1..     base-100 digits, most significant first, no trailing zero pair:
 *                 2*pair + 1, the last one 2*pair (so the end is known without a length)
 *
 * The first pair is not zero, except that magnitudes under 1e-128 (exponent -65, for which byte 0
 * has no value left) are written with exponent -64 and one leading pair of zero.
 */
#ifndef GT_VALUE_NUMBER_H
#define GT_VALUE_NUMBER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

enum { NUMBER_MAX_SIZE = 24, NUMBER_MAX_TEXT = 192 };

enum number_fault {
    NUMBER_OK = 0,
    NUMBER_MALFORMED, /* not a number at all */
    NUMBER_OVERFLOW,  /* magnitude over 9.99..e125 */
    NUMBER_UNDERFLOW, /* not zero, magnitude under 1e-130 */
    NUMBER_PRECISION, /* more than 38 significant digits */
};

/* Encodes decimal text ("-12.50", "1e3", "+.5", "00012"); writes at most NUMBER_MAX_SIZE bytes to
 * `to` and sets *size. Blanks around it are not allowed; an exponent that does not fit 64 bits is
 * malformed. Zeros at either end do not count as digits. "-0" is zero, and so is
 * "0e1000". */
enum number_fault number_parse(struct bytes text, uint8_t *to, size_t *size);
/* The same, copied into the arena. */
enum number_fault number_read(struct arena *arena, struct bytes text, struct bytes *out);
/* Appends canonical decimal text, always plain: "1000", "-0.5", a 1 and 125 zeros. */
void number_write(struct buf *buf, struct bytes number);
/* Writes to `to` (room NUMBER_MAX_TEXT) and returns the length. */
size_t number_text(struct bytes number, char *to);

/* The same for what most numbers are: whole, not negative, of at most 18 digits; the text is no
 * longer than that, and number_size() is the size of the bytes. 0: any other, or no number. */
size_t number_text_whole(struct bytes bytes, char *to);

/* Whether the bytes are exactly one well-formed canonical encoding. */
bool number_valid(struct bytes bytes);
/* The length of the encoding that `bytes` begins with; 0 if there is none. */
size_t number_span(struct bytes bytes);

/* Sum and difference, exact or a fault: nothing is rounded, so a result that needs more than 38
 * digits is NUMBER_PRECISION. `out` is in the arena, or is `a` where nothing changes. */
enum number_fault number_add(struct arena *arena, struct bytes a, struct bytes b,
                             struct bytes *out);
enum number_fault number_subtract(struct arena *arena, struct bytes a, struct bytes b,
                                  struct bytes *out);

struct bytes number_from_int(struct arena *arena, int64_t number);
/* False if it is not an integer or does not fit. */
bool number_to_int(struct bytes number, int64_t *out);
double number_to_double(struct bytes number);

/* What the number counts toward an item's size: one byte, one for each base-100 digit, one for a
 * minus. 1 for zero. */
size_t number_size(struct bytes number);

#endif

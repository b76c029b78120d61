/* ULIDs: 26 letters and digits that order by the time they were made at. 48 bits of milliseconds
 * since 1970 and 80 random ones, five bits a character, in Crockford's alphabet (no I, L, O, U). */
#ifndef GT_BASE_ULID_H
#define GT_BASE_ULID_H

#include "base/bytes.h"

enum { ULID_SIZE = 26, ULID_RAW_SIZE = 16 };

/* A new one. Those that a process makes in one millisecond rise, too. Any thread. */
void ulid_make(int64_t now_ms, char out[ULID_SIZE]);
/* Whether it is one, as ulid_make() writes them: capital letters only. */
bool ulid_valid(struct bytes text);
/* When it was made. `text` is valid. */
int64_t ulid_time_ms(struct bytes text);

/* The 128 bits, most significant byte first, and back. `text` is valid. */
void ulid_pack(struct bytes text, uint8_t out[ULID_RAW_SIZE]);
void ulid_unpack(const uint8_t raw[ULID_RAW_SIZE], char out[ULID_SIZE]);

#endif

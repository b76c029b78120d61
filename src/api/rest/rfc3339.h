/* Moments as clients write them: 2026-11-16T13:00:00.000Z. */
#ifndef GT_API_REST_RFC3339_H
#define GT_API_REST_RFC3339_H

#include "base/buf.h"

/* Date and time, to the millisecond, with Z or an offset; seconds may be left out. Years 1970 to
 * 9999. */
bool rfc3339_read(struct bytes text, int64_t *ms);
/* Appends it, in UTC, in quotes. */
void rfc3339_put(struct buf *to, int64_t ms);

#endif

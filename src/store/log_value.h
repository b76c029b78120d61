/* Values that stay in the commit log: the tables keep a reference instead.
 *
 *   bytes 0      0xc0
 *         1-8    when the value was written: milliseconds since 1970
 *         9-16   the segment's number
 *         17-20  its salt, the low half
 *         21-24  the value's offset in the segment
 *         25-28  its size
 *         29-32  its CRC-32C
 *
 * Numbers have their high byte first. A value of LOG_VALUE_SIZE bytes that begins with 0xc0 is one;
 * nobody else may put such values into a family that has references. */
#ifndef GT_STORE_LOG_VALUE_H
#define GT_STORE_LOG_VALUE_H

#include "store/commit_log.h"

enum { LOG_VALUE_MARK = 0xc0, LOG_VALUE_SIZE = 33 };

struct log_value {
    uint64_t time_ms;
    struct log_place place;
};

/* Of a value that stands in the payload of a group. */
struct log_value log_value_of(const struct log_group *group, struct bytes payload,
                              struct bytes value);
/* The reference to it, as its LOG_VALUE_SIZE bytes. */
void log_value_put(uint8_t *to, const struct log_value *value);
/* Reads one back; false: it is a value of its own. */
bool log_value_take(struct bytes stored, struct log_value *out);

#endif

/* The commit log's bytes. Numbers have their high byte first.
 *
 * A segment is a file DIR/log/NNNNNNNNNNNN, named by its number in twelve digits; a file
 * DIR/log/spare-N waits to become one. It begins with a block of LOG_BLOCK bytes:
 *
 *   bytes 0-3    "GTLS"
 *         4-7    CRC-32C of bytes 8 to 55
 *         8-11   the version of this format: 1
 *         12-15  the alignment of groups, a power of two
 *         16-23  the segment's number
 *         24-31  its salt: random, drawn when the file became this segment
 *         32-39  the number of the first group in it
 *         40-47  the file's size
 *         48-55  when it was made: milliseconds since 1970
 *         56-    zeros
 *
 * Records follow, each on the next aligned offset behind the one before:
 *
 *   bytes 0-3    what it is: "GTLG" a group, "GTLE" the segment's end, "GTLC" a clean stop
 *         4-7    CRC-32C of bytes 8 to 47 and the payload
 *         8-15   the segment's salt
 *         16-23  the group's number; of an end or a stop: that of the group to come
 *         24-31  the number of the last group that was surely on the disk before this was written
 *         32-39  when it was made: milliseconds since 1970
 *         40-43  the payload's size
 *         44-47  0
 *         48-    the payload; of an end: the successor's segment number (8 bytes); of a stop: none
 *
 * What stands behind the payload up to the next aligned offset is zeros and not looked at. What
 * stands behind the last record is zeros, or of a segment that the file was before: its salt tells.
 */
#ifndef GT_STORE_LOG_FORMAT_H
#define GT_STORE_LOG_FORMAT_H

#include "base/bytes.h"

enum {
    LOG_BLOCK = 4096,
    LOG_HEAD_SIZE = 48, /* of a record */
    LOG_VERSION = 1,
    LOG_END_PAYLOAD = 8,
};

enum log_kind {
    LOG_GROUP = 0x47544c47,
    LOG_END = 0x47544c45,
    LOG_STOP = 0x47544c43,
};

struct log_segment_head {
    uint32_t align;
    uint64_t segment;
    uint64_t salt;
    uint64_t first; /* group */
    uint64_t size;
    uint64_t time_ms;
};

struct log_head {
    enum log_kind kind;
    uint64_t salt;
    uint64_t number;
    uint64_t durable; /* all groups up to this number were on the disk before */
    uint64_t time_ms;
    uint32_t size; /* of the payload */
};

/* Fills the first block of a segment, LOG_BLOCK bytes. */
void log_segment_head_put(uint8_t *block, const struct log_segment_head *head);
/* Reads it back; false if it is not one that this program wrote. */
bool log_segment_head_take(const uint8_t *block, struct log_segment_head *out);

/* Fills in LOG_HEAD_SIZE bytes before a payload of head->size bytes that stands there already. */
void log_head_put(uint8_t *at, const struct log_head *head);
/* Reads the fields; false if it is no record of a segment of that salt. The checksum is not looked
 * at: the payload may not be at hand yet. */
bool log_head_take(const uint8_t *at, uint64_t salt, struct log_head *out);
/* Whether the checksum is right; the payload of head->size bytes follows the head. */
bool log_head_check(const uint8_t *at, const struct log_head *head);

/* How far it is from a record to the next one. */
static inline uint64_t log_padded(uint64_t payload, uint32_t align) {
    return (LOG_HEAD_SIZE + payload + align - 1) / align * align;
}

#endif

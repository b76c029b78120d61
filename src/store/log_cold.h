/* A segment that has cooled down: the same bytes, compressed in blocks, at the same offsets. Only
 * readers want it any more; no recovery needs its groups. Numbers have their high byte first.
 *
 * The file is DIR/log/NNNNNNNNNNNN.cold:
 *
 *   bytes 0-3    "GTLZ"
 *         4-7    CRC-32C of what follows up to the first block
 *         8-11   the version of this format: 1
 *         12-15  the size of a block before it was compressed; the last one's may be smaller
 *         16-23  the segment's number
 *         24-31  the number of its first group
 *         32-39  the size before: the segment up to the end of its last group
 *         40-47  its salt
 *         48-    for each block: its size (4 bytes), and the CRC-32C of its bytes (4)
 *         then   the blocks, one behind the other, each a frame of zstd
 *
 * It is whole and on the disk before it gets its name, and only then the segment's own file goes.
 */
#ifndef GT_STORE_LOG_COLD_H
#define GT_STORE_LOG_COLD_H

#include "store/log_io.h"

enum { LOG_COLD_BLOCK = 256 * 1024 };

struct log_cold_head {
    uint64_t segment;
    uint64_t first; /* group */
    uint64_t size;  /* before it was compressed */
    uint64_t salt;
};

/* Compresses head->size bytes of the file `from` into a new file of that name; on the disk when it
 * returns. The new file's size, or 0 with errno set, and the file may be there half. */
uint64_t log_cold_make(const struct log_io *io, const char *name, int from,
                       const struct log_cold_head *head);

/* A cold segment that is open for reading. Any number of threads may read. */
struct log_cold;
/* Takes the descriptor, also on failure. NULL if it is no such file or cannot be read. */
struct log_cold *log_cold_open(int file, struct log_cold_head *head);
void log_cold_close(struct log_cold *cold);
/* Its size before it was compressed. */
uint64_t log_cold_size(const struct log_cold *cold);
/* Copies bytes of the segment as it was. DAMAGED, IO_FAILED. The block that was read last is kept,
 * since readers go on where they were. */
enum status log_cold_read(struct log_cold *cold, uint64_t offset, uint8_t *to, size_t size);

#endif

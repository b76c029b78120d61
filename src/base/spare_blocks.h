/* Spare blocks: large blocks of memory that were freed a moment ago, kept for who needs such next.
 *
 * The C library gives large blocks back to the system at once (mem_configure()), so each new one
 * comes as pages that are mapped and cleared one by one when they are first written to: for a
 * request of some megabytes that is more work than the request. Here blocks go from one request to
 * the next. They are of few sizes, at most LIMIT_SPARE_BLOCKS bytes of them are kept, and what
 * nobody has needed for a while goes back to the system bit by bit.
 *
 * Any thread may call all of these. */
#ifndef GT_BASE_SPARE_BLOCKS_H
#define GT_BASE_SPARE_BLOCKS_H

#include <stddef.h>

/* How large a block has to be that such ones are kept. */
enum { SPARE_BLOCK_MIN = 256 * 1024, SPARE_BLOCK_MAX = 4 * 1024 * 1024 };

/* The size of a block for so many bytes: more, if that makes it one of those that are kept. */
size_t spare_block_size(size_t need);
/* A block of a size that spare_block_size() gave; what is in it is not defined. */
void *spare_block_take(size_t size);
/* Gives it back. */
void spare_block_give(void *block, size_t size);
/* Called every second or so: gives the system back a few of those that were not needed since it was
 * called before. A few, so that whoever calls it does not take long. */
void spare_blocks_trim(void);
/* Bytes that are kept. */
size_t spare_blocks_held(void);

#endif

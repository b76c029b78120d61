/* Memory of write buffers, kept from one for the next.
 *
 * A buffer takes its memory in chunks and gives all of it back at once, when it was handed over to
 * the tables. To have the system clear as many pages again a moment later costs more than all else
 * that putting a write into the buffer does; so some chunks are kept while buffers follow on one
 * another, and let go when none was wanted for a while. Any thread. */
#ifndef GT_STORE_BUFFER_MEMORY_H
#define GT_STORE_BUFFER_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A chunk's first bytes. Chunks are lists, the newest first. What stands behind is not cleared. */
struct buffer_chunk {
    struct buffer_chunk *older;
    size_t size;
};

struct buffer_memory {
    pthread_mutex_t lock; /* over all below */
    struct buffer_chunk *spare;
    size_t spare_size, spare_max; /* bytes */
    size_t entries;               /* of the last buffer that was given back */
};

void buffer_memory_init(struct buffer_memory *memory, size_t spare_max);
void buffer_memory_release(struct buffer_memory *memory);
/* A chunk with room for so many bytes behind its first. `memory` may be NULL: nothing is kept. */
struct buffer_chunk *buffer_memory_take(struct buffer_memory *memory, size_t size);
/* Gives back all chunks of a buffer that had so many entries. */
void buffer_memory_give(struct buffer_memory *memory, struct buffer_chunk *chunks, size_t entries);
/* About how many entries the next buffer will have; 0: nothing is known. */
size_t buffer_memory_expected(struct buffer_memory *memory);
/* Lets go of what is kept; false if there was nothing. */
bool buffer_memory_trim(struct buffer_memory *memory);
/* Bytes that are kept. */
size_t buffer_memory_spare(struct buffer_memory *memory);

#endif

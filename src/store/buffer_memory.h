/* Memory of write buffers, kept from one for the next.
 *
 * A buffer takes its memory in chunks and gives all of it back at once, when it was handed over to
 * the tables. To have the system clear as many pages again a moment later costs more than all else
 * that putting a write into the buffer does; so some chunks are kept while buffers follow on one
 * another, and let go when none was wanted for a while.
 *
 * A large page may take milliseconds to be cleared, for which the writer, and all who wait for it,
 * would stand still. So a thread that nobody waits for prepares memory ahead: what a buffer takes
 * has large pages only if they are cleared already. Any thread. */
#ifndef GT_STORE_BUFFER_MEMORY_H
#define GT_STORE_BUFFER_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
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
    void *table;                  /* prepared: zeros, for the next buffer's hash table; or NULL */
    size_t table_size;
    atomic_bool wanted; /* some was taken, and less is prepared than there should be */
};

void buffer_memory_init(struct buffer_memory *memory, size_t spare_max);
void buffer_memory_release(struct buffer_memory *memory);
/* A chunk with room for so many bytes behind its first. `memory` may be NULL: nothing is kept. */
struct buffer_chunk *buffer_memory_take(struct buffer_memory *memory, size_t size);
/* Gives back all chunks of a buffer that had so many entries. */
void buffer_memory_give(struct buffer_memory *memory, struct buffer_chunk *chunks, size_t entries);
/* About how many entries the next buffer will have; 0: nothing is known. */
size_t buffer_memory_expected(struct buffer_memory *memory);
/* Zeros for the hash table of a new buffer, of MEM_LARGE bytes or a multiple of it; given back by
 * mem_large(). `memory` may be NULL. */
void *buffer_memory_take_table(struct buffer_memory *memory, size_t size);
/* Whether something is to be prepared. */
static inline bool buffer_memory_wants(struct buffer_memory *memory) {
    return atomic_load_explicit(&memory->wanted, memory_order_relaxed);
}
/* Prepares what there should be: BUFFER_MEMORY_AHEAD chunks, and a hash table of `table_size` bytes
 * unless that is 0. Takes milliseconds for each, and no lock meanwhile. */
enum { BUFFER_MEMORY_AHEAD = 2 };
void buffer_memory_prepare(struct buffer_memory *memory, size_t table_size);
/* Lets go of what is kept; false if there was nothing. */
bool buffer_memory_trim(struct buffer_memory *memory);
/* Bytes that are kept. */
size_t buffer_memory_spare(struct buffer_memory *memory);

#endif

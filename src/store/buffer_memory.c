#include "store/buffer_memory.h"

#include "base/mem.h"

void buffer_memory_init(struct buffer_memory *memory, size_t spare_max) {
    *memory = (struct buffer_memory){.spare_max = spare_max};
    pthread_mutex_init(&memory->lock, NULL);
}

static void free_chunks(struct buffer_chunk *chunk) {
    for (struct buffer_chunk *older; chunk != NULL; chunk = older) {
        older = chunk->older;
        mem_large(chunk, chunk->size, 0);
    }
}

static void free_table(void *table, size_t size) {
    if (table != NULL)
        mem_large(table, size, 0);
}

void buffer_memory_release(struct buffer_memory *memory) {
    free_chunks(memory->spare);
    free_table(memory->table, memory->table_size);
    pthread_mutex_destroy(&memory->lock);
}

/* Bytes of chunks that should be there for the next who takes one. */
static size_t ahead_size(const struct buffer_memory *memory) {
    size_t most = (size_t)BUFFER_MEMORY_AHEAD * MEM_LARGE;
    return most < memory->spare_max ? most : memory->spare_max;
}

/* One that is kept, or NULL. All of these have the same size. */
static struct buffer_chunk *take_spare(struct buffer_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    struct buffer_chunk *chunk = memory->spare;
    if (chunk != NULL) {
        memory->spare = chunk->older;
        memory->spare_size -= chunk->size;
    }
    if (memory->spare_size < ahead_size(memory))
        atomic_store_explicit(&memory->wanted, true, memory_order_relaxed);
    pthread_mutex_unlock(&memory->lock);
    return chunk;
}

struct buffer_chunk *buffer_memory_take(struct buffer_memory *memory, size_t size) {
    size = (size + sizeof(struct buffer_chunk) + MEM_LARGE - 1) / MEM_LARGE * MEM_LARGE;
    struct buffer_chunk *chunk = memory != NULL && size == MEM_LARGE ? take_spare(memory) : NULL;
    if (chunk == NULL)
        chunk = mem_small_pages(size);
    *chunk = (struct buffer_chunk){NULL, size};
    return chunk;
}

void *buffer_memory_take_table(struct buffer_memory *memory, size_t size) {
    void *table = NULL;
    if (memory != NULL) {
        pthread_mutex_lock(&memory->lock);
        if (memory->table_size == size) {
            table = memory->table;
            memory->table = NULL;
            memory->table_size = 0;
        }
        pthread_mutex_unlock(&memory->lock);
    }
    return table != NULL ? table : mem_small_pages(size);
}

static void *prepare_large(size_t size) {
    void *block = mem_large(NULL, 0, size);
    mem_populate(block, size);
    return block;
}

/* Keeps the prepared table instead of one that is there. */
static void keep_table(struct buffer_memory *memory, size_t size) {
    void *table = prepare_large(size);
    pthread_mutex_lock(&memory->lock);
    void *old = memory->table;
    size_t old_size = memory->table_size;
    memory->table = table;
    memory->table_size = size;
    pthread_mutex_unlock(&memory->lock);
    free_table(old, old_size);
}

/* Whether chunks are missing; *table: the size of the table that is there. */
static bool lacks_chunks(struct buffer_memory *memory, size_t *table) {
    pthread_mutex_lock(&memory->lock);
    bool lacks = memory->spare_size < ahead_size(memory);
    *table = memory->table_size;
    pthread_mutex_unlock(&memory->lock);
    return lacks;
}

static void prepare_chunk(struct buffer_memory *memory) {
    struct buffer_chunk *chunk = prepare_large(MEM_LARGE);
    pthread_mutex_lock(&memory->lock);
    *chunk = (struct buffer_chunk){memory->spare, MEM_LARGE};
    memory->spare = chunk;
    memory->spare_size += MEM_LARGE;
    pthread_mutex_unlock(&memory->lock);
}

void buffer_memory_prepare(struct buffer_memory *memory, size_t table_size) {
    atomic_store_explicit(&memory->wanted, false, memory_order_relaxed);
    size_t there;
    while (lacks_chunks(memory, &there))
        prepare_chunk(memory);
    if (table_size != 0 && there != table_size)
        keep_table(memory, table_size);
}

void buffer_memory_give(struct buffer_memory *memory, struct buffer_chunk *chunks, size_t entries) {
    struct buffer_chunk *rest = memory == NULL ? chunks : NULL;
    if (memory != NULL) {
        pthread_mutex_lock(&memory->lock);
        memory->entries = entries;
        atomic_store_explicit(&memory->wanted, true,
                              memory_order_relaxed); /* a table for as many */
        for (struct buffer_chunk *chunk = chunks, *older; chunk != NULL; chunk = older) {
            bool keep = chunk->size == MEM_LARGE && memory->spare_size < memory->spare_max;
            struct buffer_chunk **to = keep ? &memory->spare : &rest;
            older = chunk->older;
            chunk->older = *to;
            *to = chunk;
            memory->spare_size += keep ? chunk->size : 0;
        }
        pthread_mutex_unlock(&memory->lock);
    }
    free_chunks(rest);
}

size_t buffer_memory_expected(struct buffer_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    size_t entries = memory->entries;
    pthread_mutex_unlock(&memory->lock);
    return entries;
}

bool buffer_memory_trim(struct buffer_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    struct buffer_chunk *chunks = memory->spare;
    void *table = memory->table;
    size_t table_size = memory->table_size;
    memory->spare = NULL;
    memory->table = NULL;
    memory->spare_size = memory->entries = memory->table_size = 0;
    pthread_mutex_unlock(&memory->lock);
    free_chunks(chunks);
    free_table(table, table_size);
    return chunks != NULL || table != NULL;
}

size_t buffer_memory_spare(struct buffer_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    size_t size = memory->spare_size + memory->table_size;
    pthread_mutex_unlock(&memory->lock);
    return size;
}

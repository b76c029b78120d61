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

void buffer_memory_release(struct buffer_memory *memory) {
    free_chunks(memory->spare);
    pthread_mutex_destroy(&memory->lock);
}

/* One that is kept, or NULL. All of these have the same size. */
static struct buffer_chunk *take_spare(struct buffer_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    struct buffer_chunk *chunk = memory->spare;
    if (chunk != NULL) {
        memory->spare = chunk->older;
        memory->spare_size -= chunk->size;
    }
    pthread_mutex_unlock(&memory->lock);
    return chunk;
}

struct buffer_chunk *buffer_memory_take(struct buffer_memory *memory, size_t size) {
    size = (size + sizeof(struct buffer_chunk) + MEM_LARGE - 1) / MEM_LARGE * MEM_LARGE;
    struct buffer_chunk *chunk = memory != NULL && size == MEM_LARGE ? take_spare(memory) : NULL;
    if (chunk == NULL)
        chunk = mem_large(NULL, 0, size);
    *chunk = (struct buffer_chunk){NULL, size};
    return chunk;
}

void buffer_memory_give(struct buffer_memory *memory, struct buffer_chunk *chunks, size_t entries) {
    struct buffer_chunk *rest = memory == NULL ? chunks : NULL;
    if (memory != NULL) {
        pthread_mutex_lock(&memory->lock);
        memory->entries = entries;
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
    memory->spare = NULL;
    memory->spare_size = memory->entries = 0;
    pthread_mutex_unlock(&memory->lock);
    free_chunks(chunks);
    return chunks != NULL;
}

size_t buffer_memory_spare(struct buffer_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    size_t size = memory->spare_size;
    pthread_mutex_unlock(&memory->lock);
    return size;
}

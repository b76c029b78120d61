#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void *require(void *block, size_t size) {
    if (block == NULL && size != 0) {
        fprintf(stderr, "gametable: out of memory (%zu bytes asked for)\n", size);
        abort();
    }
    return block;
}

void mem_configure(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MEM_MAPPED);
    mallopt(M_TRIM_THRESHOLD, 4 * MEM_MAPPED); /* free memory at a heap's end that is kept */
#endif
}

void *mem_alloc(size_t size) {
    return require(malloc(size), size);
}

void *mem_zalloc(size_t size) {
    return require(calloc(1, size), size);
}

void *mem_realloc(void *old, size_t size) {
    return require(realloc(old, size), size);
}

void mem_free(void *block) {
    free(block);
}

char *mem_str(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

static void *map(size_t size) {
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return require(block == MAP_FAILED ? NULL : block, size);
}

/* Large pages begin at multiples of their size: what stands out on either side is given back. */
static void *map_aligned(size_t size) {
    uint8_t *block = map(size + MEM_LARGE);
    size_t before = (MEM_LARGE - (uintptr_t)block % MEM_LARGE) % MEM_LARGE;
    if (before != 0)
        munmap(block, before);
    if (before != MEM_LARGE)
        munmap(block + before + size, MEM_LARGE - before);
    return block + before;
}

void *mem_large(void *old, size_t old_size, size_t size) {
    void *block = NULL;
    if (size != 0) {
        block = map_aligned(size);
        madvise(block, size, MADV_HUGEPAGE); /* a wish */
        if (old != NULL &&
            mremap(old, old_size, old_size, MREMAP_MAYMOVE | MREMAP_FIXED, block) == MAP_FAILED)
            require(NULL, size);
    } else if (old != NULL)
        munmap(old, old_size);
    return block;
}

void *mem_small_pages(size_t size) {
    return map_aligned(size);
}

void mem_populate(void *block, size_t size) {
    enum { SMALL_PAGE = 4096 };
#ifdef MADV_POPULATE_WRITE
    if (madvise(block, size, MADV_POPULATE_WRITE) == 0)
        return;
#endif
    volatile uint8_t *bytes = block;
    for (size_t at = 0; at < size; at += SMALL_PAGE)
        bytes[at] = bytes[at];
}

void mem_discard(void *block, size_t size) {
    madvise(block, size, MADV_DONTNEED);
}

void mem_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

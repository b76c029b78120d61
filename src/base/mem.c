#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
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

void mem_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

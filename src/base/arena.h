/* An arena: memory that is handed out piece by piece and given back all at once.
 *
 * A request has one; everything parsed from it and everything it answers lives there until the
 * reply is written, then arena_reset() makes it new. Pieces are 16-byte aligned. One thread at a
 * time uses an arena; it may be handed over whole (the writer thread fills in results).
 */
#ifndef GT_BASE_ARENA_H
#define GT_BASE_ARENA_H

#include "base/bytes.h"

#include <stdarg.h>

struct arena_block;

struct arena {
    struct arena_block *first;   /* the block kept over a reset */
    struct arena_block *current; /* the block pieces come from */
    uint8_t *at, *end;
    size_t used; /* bytes handed out since the last reset */
};

void arena_init(struct arena *arena);
/* Has an arena that was just made begin with a block of so many bytes in all, rather than with
 * small ones: where that much will be needed. */
void arena_reserve(struct arena *arena, size_t size);
/* Forgets every piece; keeps one modest block for the next request. */
void arena_reset(struct arena *arena);
/* The same, but keeps the memory that was used since the last time: where the next use is probably
 * as large. */
void arena_recycle(struct arena *arena);
/* The same, but keeps all memory up to so many bytes, used or not: where uses differ much in size.
 */
void arena_rewind(struct arena *arena, size_t keep);
void arena_release(struct arena *arena);

/* Uninitialized memory; never NULL. Cost: a few instructions unless a block runs out. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
/* Makes the piece `old` larger, in place when it was the last one handed out. */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t size);

struct bytes arena_copy(struct arena *arena, struct bytes bytes);
/* A NUL-terminated copy. */
char *arena_str(struct arena *arena, struct bytes bytes);
struct bytes arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct bytes arena_vprintf(struct arena *arena, const char *format, va_list args);

/* An array of `count` zeroed structs. */
#define ARENA_ARRAY(arena, type, count) ((type *)arena_zalloc((arena), sizeof(type) * (count)))
#define ARENA_NEW(arena, type)          ARENA_ARRAY(arena, type, 1)

#endif

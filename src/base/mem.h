/* The heap, for those who cannot go on without it.
 *
 * Every size that reaches these calls is bounded by a limit in base/limits.h or by a setting, so
 * running out means the machine is misconfigured: the process says so and aborts, and the store
 * comes back from its log. Callers need no error path. (docs/decisions.md: allocation)
 */
#ifndef GT_BASE_MEM_H
#define GT_BASE_MEM_H

#include <stddef.h>

/* Tells the C library's allocator how to keep memory; called once, before threads are started.
 * Blocks of MEM_MAPPED bytes and more come from the system and go back to it when they are freed.
 * The library would raise that bound to the largest block freed so far, and from then on keep such
 * blocks for the thread that had them: each thread that once needed much would hold it for good. */
enum { MEM_MAPPED = 256 * 1024 };
void mem_configure(void);
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc(void *old, size_t size);
void mem_free(void *block);
/* A copy of a text that ends with NUL. */
char *mem_str(const char *text);
/* Much memory at once, in pieces of MEM_LARGE bytes, straight from the system and in its large
 * pages where it has such: a walk all over it finds its way sooner. `old` NULL: new; size 0: freed.
 * It may move, what was there stays, and what is added is zeros. */
enum { MEM_LARGE = 2 * 1024 * 1024 };
void *mem_large(void *old, size_t old_size, size_t size);
/* Likewise, but new and in small pages, each of which the system clears when it is first written
 * to: who writes waits a little often, rather than milliseconds once for a large page. Freed by
 * mem_large(). */
void *mem_small_pages(size_t size);
/* Has the system clear all pages of such memory now, on this thread. What is there stays. */
void mem_populate(void *block, size_t size);
/* Gives the pages of such memory back; it may be used on, and is zeros then. */
void mem_discard(void *block, size_t size);
/* Gives the system back what was freed and is kept for later. Slow: after work that needed much. */
void mem_trim(void);

#endif

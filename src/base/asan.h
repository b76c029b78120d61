/* Telling AddressSanitizer which memory may be touched, for those who hand out pieces of their own.
 * In other builds all of it is nothing. */
#ifndef GT_BASE_ASAN_H
#define GT_BASE_ASAN_H

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ /* as the other compiler says it */
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
/* Of a function that looks into poisoned memory, where its owner keeps what it knows about it. */
#define ASAN_LEFT_OUT __attribute__((no_sanitize_address))
#else
#define ASAN_POISON_MEMORY_REGION(block, size)   ((void)(block), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(block, size) ((void)(block), (void)(size))
#define ASAN_LEFT_OUT
#endif

#endif

#include "base/arena.h"

#include "base/mem.h"
#include "base/spare_blocks.h"

#include <stdalign.h>
#include <stdio.h>

enum { BLOCK_FIRST = 8 * 1024, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    alignas(ALIGN) uint8_t data[];
};

enum { BLOCK_MAX = 1024 * 1024 - sizeof(struct arena_block) }; /* unless one piece needs more */

void arena_init(struct arena *arena) {
    *arena = (struct arena){0};
}

static void use_block(struct arena *arena, struct arena_block *block) {
    arena->current = block;
    arena->at = block->data;
    arena->end = block->data + block->size;
}

/* Large blocks go from one arena to the next. */
static struct arena_block *block_new(size_t size) {
    size_t whole = spare_block_size(sizeof(struct arena_block) + size);
    struct arena_block *block = spare_block_take(whole);
    block->size = whole - sizeof(*block);
    return block;
}

static void block_free(struct arena_block *block) {
    spare_block_give(block, sizeof(*block) + block->size);
}

static void free_after(struct arena_block *block) {
    while (block->next != NULL) {
        struct arena_block *gone = block->next;
        block->next = gone->next;
        block_free(gone);
    }
}

void arena_reset(struct arena *arena) {
    arena->used = 0;
    if (arena->first == NULL)
        return;
    free_after(arena->first);
    use_block(arena, arena->first);
}

void arena_recycle(struct arena *arena) {
    arena->used = 0;
    if (arena->first == NULL)
        return;
    free_after(arena->current);
    use_block(arena, arena->first);
}

void arena_rewind(struct arena *arena, size_t keep) {
    arena->used = 0;
    if (arena->first == NULL)
        return;
    struct arena_block *last = arena->first;
    for (size_t size = last->size; last->next != NULL && size < keep; size += last->size)
        last = last->next;
    free_after(last);
    use_block(arena, arena->first);
}

void arena_release(struct arena *arena) {
    if (arena->first != NULL) {
        free_after(arena->first);
        block_free(arena->first);
    }
    arena_init(arena);
}

static void add_block(struct arena *arena, size_t need) {
    struct arena_block *kept = arena->current == NULL ? NULL : arena->current->next;
    if (kept != NULL && kept->size >= need) {
        use_block(arena, kept);
        return;
    }
    size_t size = arena->current == NULL ? BLOCK_FIRST : arena->current->size * 2;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (size < need)
        size = need;
    struct arena_block *block = block_new(size);
    block->next = kept;
    if (arena->current == NULL)
        arena->first = block;
    else
        arena->current->next = block;
    use_block(arena, block);
}

void arena_reserve(struct arena *arena, size_t size) {
    if (size > sizeof(struct arena_block))
        add_block(arena, size - sizeof(struct arena_block));
}

static size_t round_up(size_t size) {
    return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *arena_alloc(struct arena *arena, size_t size) {
    size = round_up(size);
    if (arena->at == NULL || (size_t)(arena->end - arena->at) < size)
        add_block(arena, size);
    void *piece = arena->at;
    arena->at += size;
    arena->used += size;
    return piece;
}

void *arena_zalloc(struct arena *arena, size_t size) {
    return memset(arena_alloc(arena, size), 0, size);
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t size) {
    size_t old_room = round_up(old_size);
    if (size <= old_room && old != NULL)
        return old;
    if (old != NULL && (uint8_t *)old + old_room == arena->at) {
        size_t more = round_up(size) - old_room;
        if ((size_t)(arena->end - arena->at) >= more) {
            arena->at += more;
            arena->used += more;
            return old;
        }
    }
    void *piece = arena_alloc(arena, size);
    if (old != NULL && old_size != 0)
        memcpy(piece, old, old_size);
    return piece;
}

struct bytes arena_copy(struct arena *arena, struct bytes bytes) {
    if (bytes.size == 0)
        return (struct bytes){(const uint8_t *)"", 0};
    return bytes_of(memcpy(arena_alloc(arena, bytes.size), bytes.data, bytes.size), bytes.size);
}

char *arena_str(struct arena *arena, struct bytes bytes) {
    char *text = arena_alloc(arena, bytes.size + 1);
    if (bytes.size != 0)
        memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    return text;
}

struct bytes arena_vprintf(struct arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0)
        return BYTES("");
    char *text = arena_alloc(arena, (size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, format, args);
    return bytes_of(text, (size_t)size);
}

struct bytes arena_printf(struct arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct bytes text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

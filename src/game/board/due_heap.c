/* When instances are due, as a binary heap: at[i] is not later than at[2i + 1] and at[2i + 2]. */
#include "base/mem.h"
#include "game/housekeeping_int.h"

static void swap_entries(struct due_heap *dues, size_t a, size_t b) {
    struct due_entry due = dues->at[a];
    dues->at[a] = dues->at[b];
    dues->at[b] = due;
}

static void sift_up(struct due_heap *dues, size_t i) {
    for (; i > 0 && dues->at[i].at_ms < dues->at[(i - 1) / 2].at_ms; i = (i - 1) / 2)
        swap_entries(dues, i, (i - 1) / 2);
}

static void sift_down(struct due_heap *dues, size_t i) {
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < dues->count && dues->at[left].at_ms < dues->at[least].at_ms)
            least = left;
        if (right < dues->count && dues->at[right].at_ms < dues->at[least].at_ms)
            least = right;
        if (least == i)
            return;
        swap_entries(dues, i, least);
        i = least;
    }
}

void due_heap_push(struct due_heap *dues, int64_t at_ms, struct bytes instance) {
    if (dues->count == dues->room) {
        dues->room = dues->room == 0 ? 64 : dues->room * 2;
        dues->at = mem_realloc(dues->at, dues->room * sizeof(*dues->at));
    }
    uint8_t *name = mem_alloc(instance.size + 1);
    if (instance.size != 0)
        memcpy(name, instance.data, instance.size);
    dues->at[dues->count] = (struct due_entry){at_ms, bytes_of(name, instance.size)};
    sift_up(dues, dues->count++);
}

bool due_heap_pop(struct due_heap *dues, int64_t now_ms, struct arena *arena,
                  struct bytes *instance) {
    if (dues->count == 0 || dues->at[0].at_ms > now_ms)
        return false;
    struct bytes name = dues->at[0].instance;
    *instance = arena_copy(arena, name);
    mem_free((void *)(uintptr_t)name.data);
    dues->at[0] = dues->at[--dues->count];
    sift_down(dues, 0);
    return true;
}

int64_t due_heap_next_ms(const struct due_heap *dues) {
    return dues->count == 0 ? INT64_MAX : dues->at[0].at_ms;
}

void due_heap_release(struct due_heap *dues) {
    for (size_t i = 0; i < dues->count; i++)
        mem_free((void *)(uintptr_t)dues->at[i].instance.data);
    mem_free(dues->at);
    *dues = (struct due_heap){0};
}

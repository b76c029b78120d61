/* A binary heap: at[i] is not later than at[2i + 1] and at[2i + 2]. */
#include "base/mem.h"
#include "game/keeper_int.h"

static void swap(struct dues *dues, size_t a, size_t b) {
    struct due due = dues->at[a];
    dues->at[a] = dues->at[b];
    dues->at[b] = due;
}

static void rise(struct dues *dues, size_t i) {
    for (; i > 0 && dues->at[i].at_ms < dues->at[(i - 1) / 2].at_ms; i = (i - 1) / 2)
        swap(dues, i, (i - 1) / 2);
}

static void sink(struct dues *dues, size_t i) {
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < dues->count && dues->at[left].at_ms < dues->at[least].at_ms)
            least = left;
        if (right < dues->count && dues->at[right].at_ms < dues->at[least].at_ms)
            least = right;
        if (least == i)
            return;
        swap(dues, i, least);
        i = least;
    }
}

void dues_add(struct dues *dues, int64_t at_ms, struct bytes instance) {
    if (dues->count == dues->room) {
        dues->room = dues->room == 0 ? 64 : dues->room * 2;
        dues->at = mem_realloc(dues->at, dues->room * sizeof(*dues->at));
    }
    uint8_t *name = mem_alloc(instance.size + 1);
    if (instance.size != 0)
        memcpy(name, instance.data, instance.size);
    dues->at[dues->count] = (struct due){at_ms, bytes_of(name, instance.size)};
    rise(dues, dues->count++);
}

bool dues_take(struct dues *dues, int64_t now_ms, struct arena *arena, struct bytes *instance) {
    if (dues->count == 0 || dues->at[0].at_ms > now_ms)
        return false;
    struct bytes name = dues->at[0].instance;
    *instance = arena_copy(arena, name);
    mem_free((void *)(uintptr_t)name.data);
    dues->at[0] = dues->at[--dues->count];
    sink(dues, 0);
    return true;
}

int64_t dues_next(const struct dues *dues) {
    return dues->count == 0 ? INT64_MAX : dues->at[0].at_ms;
}

void dues_release(struct dues *dues) {
    for (size_t i = 0; i < dues->count; i++)
        mem_free((void *)(uintptr_t)dues->at[i].instance.data);
    mem_free(dues->at);
    *dues = (struct dues){0};
}

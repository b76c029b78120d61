/* Clearing that was broken off.
 *
 * Whoever began usually finishes; two at once could take away what was written after the first was
 * done. So only what was there when the keeper started is gone on with at once; later, what has not
 * moved for a while. */
#include "base/clock.h"
#include "base/mem.h"
#include "game/entry.h"
#include "game/keeper_int.h"
#include "game/record.h"

#define STALLED_US (INT64_C(10) * 1000 * 1000)

void keeper_forget_clearing(struct keeper *keeper) {
    for (size_t i = 0; i < keeper->clearing_count; i++)
        mem_free((void *)(uintptr_t)keeper->clearing[i].instance.data);
    keeper->clearing_count = 0;
}

static const struct clearing_note *find_note(const struct keeper *keeper, struct bytes instance) {
    for (size_t i = 0; i < keeper->clearing_count; i++)
        if (bytes_equal(keeper->clearing[i].instance, instance))
            return &keeper->clearing[i];
    return NULL;
}

static struct clearing_note make_note(struct keeper *keeper, struct bytes key) {
    const struct clearing_note *before = find_note(keeper, key);
    struct value partition = value_string(record_join(&keeper->arena, "BOARD#", key));
    uint8_t *copy = mem_alloc(key.size + 1);
    memcpy(copy, key.data, key.size);
    struct clearing_note note = {
        .instance = bytes_of(copy, key.size),
        .touched = engine_touched(keeper->game->engine, keeper->game->table, &partition),
        .since_us = clock_ticks_us()};
    if (before != NULL && before->touched == note.touched)
        note.since_us = before->since_us;
    return note;
}

static enum status go_on(struct keeper *keeper, struct bytes key) {
    struct failure failure = {0};
    const struct board *board;
    struct bytes name = entry_member_of(key, &keeper->arena);
    enum status status = board_find(keeper->game, name, &keeper->arena, &failure, &board);
    if (status != OK)
        return status;
    if (board->clearing)
        status = keeper_clear(keeper, board, &failure);
    board_drop(board);
    return status;
}

enum status keeper_clearing(struct keeper *keeper) {
    struct clearing_note notes[CLEARING_NOTES];
    struct page_reply page = {0};
    size_t count = 0;
    enum status status =
        keeper_by_index(keeper, BYTES("CLEARING"), (struct bytes){0}, CLEARING_NOTES, &page);
    if (status != OK)
        return status;
    for (uint64_t i = 0; i < page.count; i++)
        notes[count++] = make_note(keeper, item_string(&page.items[i], BYTES("GSI1SK")));
    keeper_forget_clearing(keeper);
    memcpy(keeper->clearing, notes, count * sizeof(*notes));
    keeper->clearing_count = count;
    for (size_t i = 0; i < count && status == OK && !keeper_stopping(keeper); i++)
        if (!keeper->looked || clock_ticks_us() - notes[i].since_us >= STALLED_US)
            status = go_on(keeper, notes[i].instance);
    keeper->looked = status == OK;
    arena_reset(&keeper->arena);
    return status;
}

/* Several writes to one entry in one commit; runs on the engine's thread. */
#include "game/board/entry_run.h"

#include "game/arena_pair.h"

/* Does one write; *item is the item before it, and then the one after it. */
static enum status write_step(struct action *action, struct entry_run *run, struct arena *arena,
                              struct item *item) {
    struct action step = *action;
    struct item next = *item;
    step.user = &run->write;
    enum status status = run->compute(&step, item, arena, &next);
    action->failure = step.failure;
    *item = next;
    run->write.before = run->write.after = (struct points){0};
    return status;
}

/* Each step's item is copied whole, since it may borrow from that of the step before, whose arena
 * the next step resets. */
static enum status write_steps(struct action *action, const struct item *old,
                               struct arena_pair *arenas, struct item *item) {
    enum status status = OK;
    for (struct entry_run *run = action->user; run != NULL && status == OK; run = run->next) {
        struct arena *arena = arena_pair_next(arenas);
        status = write_step(action, run, arena, item);
        if (status == OK && item->pairs != old->pairs)
            *item = item_copy(arena, item);
    }
    return status;
}

enum status entry_run_write(struct action *action, const struct item *old, struct arena *arena,
                            struct item *new) {
    struct entry_run *first = action->user;
    struct arena_pair arenas;
    struct item item = *old;
    if (first->next == NULL)
        return write_step(action, first, arena, new);
    arena_pair_init(&arenas);
    enum status status = write_steps(action, old, &arenas, &item);
    if (status != OK)
        action->failure.text = arena_copy(arena, action->failure.text);
    else if (item.pairs != old->pairs)
        *new = item_copy(arena, &item);
    arena_pair_release(&arenas);
    return status;
}

struct action entry_run_action(struct game *game, struct bytes member_key, struct entry_run *first,
                               struct arena *arena) {
    struct action action;
    first->write.game = game;
    for (struct entry_run *run = first->next; run != NULL; run = run->next)
        run->write.game = game;
    entry_action(&first->write, game_key(arena, first->write.board->pk, member_key),
                 entry_run_write, &action);
    action.user = first;
    return action;
}

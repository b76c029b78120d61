/* Changes that are carried out in parts: those that are `divisible` and have very many bytes, for
 * which others would wait.
 *
 * The whole change is admitted, so that whatever can be said against it is said before anything is
 * done. Then one part after the other goes into the queue, when the one before is committed; each
 * gives way to others. The first fault ends it. */
#include "table/local/writer.h"

struct change_parts {
    struct change part;
    struct local *local;
    struct change *whole;
    size_t at; /* the first action that is in no part yet */
};

bool change_is_divided(const struct change *change) {
    return change->divisible && change->kind == CHANGE_WRITE && change->prepare == NULL &&
           change->token.size == 0 && !change->yields && change->all_bytes > LIMIT_GROUP_LARGE;
}

/* How many actions from the next one on are a part. */
static size_t count_part(const struct change_parts *parts) {
    const struct change *whole = parts->whole;
    size_t count = 0, bytes = 0;
    while (parts->at + count < whole->action_count) {
        bytes += action_bytes(parts->local, &whole->actions[parts->at + count]);
        if (count != 0 && bytes > LIMIT_GROUP_LARGE)
            break;
        count++;
    }
    return count;
}

/* Each action holds on to its own table: those of a part let go when it is over, and the table may
 * be deleted before the next one. */
static void hold_tables(const struct change *change) {
    for (size_t i = 0; i < change->action_count; i++) {
        struct action_state *state = change->actions[i].engine_data;
        if (!state->holds)
            table_ref(state->table);
        state->holds = true;
    }
}

static void part_done(struct change *part);

static void send_part(struct change_parts *parts) {
    struct change *whole = parts->whole;
    size_t count = count_part(parts);
    parts->part = (struct change){.kind = CHANGE_WRITE,
                                  .arena = whole->arena,
                                  .done = part_done,
                                  .user = parts,
                                  .actions = whole->actions + parts->at,
                                  .action_count = count,
                                  .loading = whole->loading,
                                  .yields = true};
    for (size_t i = 0; i < count; i++)
        parts->part.all_bytes += action_bytes(parts->local, &parts->part.actions[i]);
    parts->at += count;
    queue_send_part(parts->local->writer, &parts->part);
}

/* On one of the writer's threads. */
static void part_done(struct change *part) {
    struct change_parts *parts = part->user;
    struct change *whole = parts->whole;
    if (part->failure.status == OK && parts->at < whole->action_count) {
        send_part(parts);
        return;
    }
    whole->failure = part->failure;
    writer_finish(parts->local->writer, whole);
}

void change_send_parts(struct local *local, struct change *change) {
    struct change_parts *parts = ARENA_NEW(change->arena, struct change_parts);
    parts->local = local;
    parts->whole = change;
    hold_tables(change);
    send_part(parts);
}

#include "game/keyspace/key_sweep.h"

#include "base/limits.h"
#include "game/record.h"
#include "table/inprocess.h"

enum {
    SWEPT_MAX = LIMIT_SWEPT_FIELDS,
    PAGE = 1000
}; /* fields removed in one commit; and read at once */

struct key_sweep;

/* A field of a large key that has expired. */
struct swept_field {
    struct key_sweep *sweep;
    struct bytes key;
    bool removed; /* filled in on the engine's thread */
};

/* A sweep of one key. */
struct key_sweep {
    struct change change; /* the first member */
    struct game *game;
    struct key_address address;
    int64_t now_ms;
    struct bytes generation; /* of a large key; else empty */
    /* What a walk over the fields of a large key has found: */
    struct swept_field *expired; /* SWEPT_MAX at most */
    size_t count;
    bool whole;        /* the walk has seen all fields, */
    int64_t end_ms;    /* of which this is the earliest end that is still to come; 0: none */
    uint64_t version;  /* of the partition before the walk */
    bool is_as_it_was; /* filled in on the engine's thread: nobody has written since */
};

/* ---- on the engine's thread ---- */

/* Drops what has expired of a small key, which reading its head does. */
static enum status sweep_head(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct key_sweep *sweep = action->user;
    struct key_head head;
    struct failure failure = {0};
    if (old->count == 0 ||
        key_head_read(old, sweep->now_ms, (struct scope){arena, &failure}, &head) != OK ||
        (head.type != KEY_HASH && head.type != KEY_NONE) || head.generation.size != 0)
        return OK;
    *new = key_head_item(&head, &sweep->address, arena);
    return OK;
}

static enum status remove_expired(struct action *action, const struct item *old,
                                  struct arena *arena, struct item *new) {
    struct swept_field *swept = action->user;
    struct key_field field = {0};
    (void)arena;
    if (old->count != 0)
        key_field_read(old, &field);
    swept->removed = field.expires_ms != 0 && field.expires_ms <= swept->sweep->now_ms;
    if (swept->removed)
        *new = (struct item){0};
    return OK;
}

/* The last action: counts what is left. When the next field expires is known only if nobody has
 * written to the key since the walk; else the key stays due, and is looked at again. */
static enum status count_left(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct key_sweep *sweep = action->user;
    struct key_head head;
    if (old->count == 0 ||
        key_head_read(old, sweep->now_ms, (struct scope){arena, &action->failure}, &head) != OK ||
        !bytes_equal(head.generation, sweep->generation))
        return failure_set(&action->failure, arena, CONDITION_FAILED, "The key has changed");
    for (size_t i = 0; i < sweep->count; i++)
        head.count -= sweep->expired[i].removed && head.count != 0;
    if (sweep->whole && sweep->is_as_it_was)
        head.fields_end_ms = sweep->end_ms;
    if (head.count == 0)
        head.type = KEY_NONE;
    *new = key_head_item(&head, &sweep->address, arena);
    return OK;
}

static uint64_t version_of(const struct key_sweep *sweep) {
    struct value pk = value_string(sweep->address.pk);
    return engine_partition_version(sweep->game->engine, sweep->game->table, &pk);
}

static enum status prepare_sweep(struct change *change) {
    struct key_sweep *sweep = (struct key_sweep *)change;
    struct key_generation of = {sweep->game, &sweep->address, sweep->generation};
    struct arena *arena = change->arena;
    sweep->is_as_it_was = version_of(sweep) == sweep->version;
    change->actions = ARENA_ARRAY(arena, struct action, sweep->count + 1);
    for (size_t i = 0; i < sweep->count; i++)
        change->actions[i] =
            game_compute_action(sweep->game, key_field_item_key(&of, sweep->expired[i].key, arena),
                                remove_expired, &sweep->expired[i]);
    change->actions[sweep->count] =
        game_compute_action(sweep->game, key_head_key(&sweep->address, arena), count_left, sweep);
    change->action_count = sweep->count + 1;
    return OK;
}

/* ---- on the caller's thread ---- */

static void note_field(struct key_sweep *sweep, const struct key_field *field) {
    if (field->expires_ms == 0)
        return;
    if (field->expires_ms <= sweep->now_ms)
        sweep->expired[sweep->count++] = (struct swept_field){.sweep = sweep, .key = field->key};
    else if (sweep->end_ms == 0 || field->expires_ms < sweep->end_ms)
        sweep->end_ms = field->expires_ms;
}

/* Walks over the fields until there is enough to remove. */
static enum status walk_fields(struct key_sweep *sweep, struct scope in) {
    struct key_generation of = {sweep->game, &sweep->address, sweep->generation};
    struct key_field_page page = {.limit = PAGE, .more = true};
    enum status status = OK;
    sweep->version = version_of(sweep);
    sweep->expired = ARENA_ARRAY(in.arena, struct swept_field, SWEPT_MAX);
    while (status == OK && page.more && sweep->count < SWEPT_MAX) {
        status = key_fields_page(&of, in, &page);
        size_t i = 0;
        for (; i < page.count && status == OK && sweep->count < SWEPT_MAX; i++)
            note_field(sweep, &page.list[i]);
        sweep->whole = !page.more && i == page.count;
        if (page.count != 0)
            page.after = page.list[page.count - 1].key;
    }
    return status;
}

enum status key_sweep_fields(struct game *game, const struct item *head, int64_t now_ms,
                             struct scope in) {
    struct action on_head;
    struct key_sweep *sweep = ARENA_NEW(in.arena, struct key_sweep);
    sweep->game = game;
    sweep->now_ms = now_ms;
    sweep->generation = item_string(head, BYTES("generation"));
    sweep->change =
        (struct change){.kind = CHANGE_WRITE, .arena = in.arena, .all_or_nothing = true};
    if (!key_address_of_head(head, &sweep->address))
        return NOT_FOUND;
    if (sweep->generation.size != 0) {
        enum status status = walk_fields(sweep, in);
        if (status != OK)
            return status;
        sweep->change.prepare = prepare_sweep;
    } else {
        on_head =
            game_compute_action(game, key_head_key(&sweep->address, in.arena), sweep_head, sweep);
        sweep->change.actions = &on_head;
        sweep->change.action_count = 1;
    }
    return game_wait(game, &sweep->change);
}

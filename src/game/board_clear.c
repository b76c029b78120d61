/* Taking entries away: a small board in one commit, a large one in many.
 *
 * A large one is marked first: from that commit on it is empty for whoever looks, and not to be
 * written. Then its entries go, and at last the mark. What a crash leaves half-done is found by its
 * mark (GSI2 CLEARING) and gone on with. */
#include "base/clock.h"
#include "game/board_int.h"
#include "game/entry.h"
#include "game/record.h"

enum { AT_ONCE = 2000, A_COMMIT = 2000 };

struct clearing {
    struct game *game;
    const struct board *board;
    bool keep_item;
    struct bytes after; /* entries up to this key are gone already */
};

static struct bytes state_pk(const struct board *board, struct arena *arena) {
    return record_join(arena, INSTANCE, bytes_skip(board->pk, sizeof(BOARD) - 1));
}

/* Keys of entries, however many up to `limit`. Such that stand in no ranking, too. */
static enum status read_keys(const struct clearing *clearing, size_t limit, struct arena *arena,
                             struct failure *failure, struct page_reply *out) {
    static const struct bytes names[] = {{(const uint8_t *)"PK", 2}, {(const uint8_t *)"SK", 2}};
    struct listing listing = {.partition_name = GAME_PK,
                              .partition = clearing->board->pk,
                              .sort_name = GAME_SK,
                              .after = clearing->after,
                              .limit = limit,
                              .projection = projection_of_names(names, 2, arena)};
    return board_page(clearing->game, &listing, arena, failure, out);
}

static size_t put_deletes(struct game *game, const struct page_reply *page,
                          struct action *actions) {
    for (uint64_t i = 0; i < page->count; i++)
        actions[i] =
            (struct action){.kind = ACTION_DELETE, .table = game->table, .item = page->items[i]};
    return page->count;
}

/* --- all at once --- */

/* A board whose time was up may have been written to since, and live on. */
static bool lives_on(const struct clearing *clearing, const struct item *state) {
    int64_t expires_ms = clearing->board->expires_ms;
    return expires_ms != 0 && expires_ms <= clock_now_ms() &&
           item_int(state, BYTES("expiresAt")) != expires_ms;
}

static enum status read_state(const struct clearing *clearing, struct arena *arena,
                              struct failure *failure, struct item *out) {
    struct get_request request = {
        .table = clearing->game->table,
        .key = game_key(arena, state_pk(clearing->board, arena), BYTES("STATE")),
        .consistent = true};
    struct get_reply reply;
    enum status status = engine_get(clearing->game->engine, &request, arena, failure, &reply);
    *out = status == OK ? reply.item : (struct item){0};
    return status;
}

static enum status decide(struct change *change) {
    const struct clearing *clearing = change->actions[0].user;
    struct game *game = clearing->game;
    struct page_reply page;
    struct item state;
    enum status status = read_state(clearing, change->arena, &change->failure, &state);
    if (status != OK || lives_on(clearing, &state)) {
        change->action_count = 0;
        return status;
    }
    status = read_keys(clearing, AT_ONCE, change->arena, &change->failure, &page);
    if (status != OK)
        return status;
    if (page.more)
        return failure_set(&change->failure, change->arena, LIMIT_EXCEEDED, "too many at once");
    struct action *actions = ARENA_ARRAY(change->arena, struct action, page.count + 1);
    size_t count = put_deletes(game, &page, actions);
    if (!clearing->keep_item)
        actions[count++] = (struct action){
            .kind = ACTION_DELETE,
            .table = game->table,
            .item =
                game_key(change->arena, state_pk(clearing->board, change->arena), BYTES("STATE"))};
    change->actions = actions;
    change->action_count = count;
    return OK;
}

static enum status clear_at_once(struct clearing *clearing, struct arena *arena,
                                 struct failure *failure) {
    struct action first = {.user = clearing};
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = arena,
                            .actions = &first,
                            .decide = decide,
                            .all_or_nothing = true};
    enum status status = game_wait(clearing->game, &change);
    *failure = change.failure;
    return status;
}

/* --- one commit after the other --- */

static enum status mark(struct action *action, const struct item *old, struct arena *arena,
                        struct item *new) {
    const struct clearing *clearing = action->user;
    if (old->count == 0 || item_get(old, BYTES("clearing")) != NULL)
        return OK;
    if (lives_on(clearing, old))
        return CONDITION_FAILED;
    struct value what = value_string(clearing->keep_item ? BYTES("entries") : BYTES("board"));
    struct value list = value_string(BYTES("CLEARING"));
    struct value key = value_string(item_string(old, BYTES("GSI1SK")));
    *new = item_with(arena, old, BYTES("clearing"), &what);
    *new = item_with(arena, new, BYTES("GSI2PK"), &list);
    *new = item_with(arena, new, BYTES("GSI2SK"), &key);
    return OK;
}

/* The item as it was, or none. The mark says which, since who goes on may not know. */
static enum status unmark(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    const struct clearing *clearing = action->user;
    if (bytes_equal(item_string(old, BYTES("clearing")), BYTES("board"))) {
        *new = (struct item){0};
        return OK;
    }
    if (old->count == 0 || item_get(old, BYTES("clearing")) == NULL)
        return OK;
    struct record place = record_of(arena);
    *new = item_with(arena, old, BYTES("clearing"), NULL);
    *new = item_with(arena, new, BYTES("GSI2PK"), NULL);
    *new = item_with(arena, new, BYTES("GSI2SK"), NULL);
    board_put_place(&place, clearing->board, item_int(old, BYTES("expiresAt")));
    for (uint32_t i = 0; i < place.count; i++)
        *new = item_with(arena, new, place.pairs[i].name, &place.pairs[i].value);
    return OK;
}

static enum status compute_state(struct clearing *clearing, action_compute *compute,
                                 struct arena *arena, struct failure *failure) {
    struct action action = {.kind = ACTION_COMPUTE,
                            .table = clearing->game->table,
                            .item =
                                game_key(arena, state_pk(clearing->board, arena), BYTES("STATE")),
                            .compute = compute,
                            .user = clearing};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(clearing->game, &change);
    *failure = change.failure;
    return status;
}

/* Goes on where it was: what is deleted costs a read for a while. `after` is then in the buffer. */
static enum status clear_some(struct clearing *clearing, struct buf *after, struct arena *arena,
                              struct failure *failure, bool *more) {
    struct page_reply page;
    enum status status = read_keys(clearing, A_COMMIT, arena, failure, &page);
    *more = status == OK && page.count != 0;
    if (!*more)
        return status;
    struct action *actions = ARENA_ARRAY(arena, struct action, page.count);
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = arena,
                            .actions = actions,
                            .action_count = put_deletes(clearing->game, &page, actions)};
    status = game_wait(clearing->game, &change);
    *failure = change.failure;
    buf_clear(after);
    buf_put(after, item_string(&page.items[page.count - 1], GAME_SK));
    clearing->after = buf_bytes(after);
    return status;
}

static enum status clear_by_and_by(struct clearing *clearing, struct arena *arena,
                                   struct failure *failure) {
    struct arena work;
    struct buf after = {0};
    bool more = true;
    enum status status = compute_state(clearing, mark, arena, failure);
    arena_init(&work);
    while (status == OK && more) {
        status = clear_some(clearing, &after, &work, failure, &more);
        if (status != OK)
            failure->text = arena_copy(arena, failure->text);
        arena_reset(&work);
    }
    arena_release(&work);
    buf_release(&after);
    return status == OK ? compute_state(clearing, unmark, arena, failure) : status;
}

void board_clear_action(struct game *game, const struct board *board, struct arena *arena,
                        struct action *out) {
    struct clearing *clearing = ARENA_NEW(arena, struct clearing);
    *clearing = (struct clearing){.game = game, .board = board};
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = game_key(arena, state_pk(board, arena), BYTES("STATE")),
                           .compute = mark,
                           .user = clearing};
}

enum status board_clear_step(struct game *game, const struct board *board, struct buf *after,
                             struct arena *arena, struct failure *failure, bool *more) {
    struct clearing clearing = {.game = game, .board = board, .after = buf_bytes(after)};
    enum status status = clear_some(&clearing, after, arena, failure, more);
    if (status == OK && !*more)
        status = compute_state(&clearing, unmark, arena, failure);
    return status;
}

void board_unmake_action(struct game *game, const struct board *board, struct arena *arena,
                         struct action *out) {
    *out = (struct action){.kind = ACTION_DELETE,
                           .table = game->table,
                           .item = game_key(arena, state_pk(board, arena), BYTES("STATE"))};
}

enum status board_clear(struct game *game, const struct board *board, bool keep_item,
                        struct arena *arena, struct failure *failure) {
    struct clearing clearing = {.game = game, .board = board, .keep_item = keep_item};
    if (board->clearing)
        return clear_by_and_by(&clearing, arena, failure);
    enum status status = clear_at_once(&clearing, arena, failure);
    if (status != LIMIT_EXCEEDED)
        return status;
    *failure = (struct failure){0};
    status = clear_by_and_by(&clearing, arena, failure);
    if (status == CONDITION_FAILED)
        *failure = (struct failure){0};
    return status == CONDITION_FAILED ? OK : status;
}

/* --- boards as a whole --- */

static enum status clear_named(struct game *game, struct bytes name, struct arena *arena,
                               struct failure *failure) {
    const struct board *board;
    enum status status = board_find_bare(game, name, arena, failure, &board);
    if (status != OK)
        return status;
    status = board_clear(game, board, false, arena, failure);
    board_drop(board);
    return status;
}

/* Those that are being cleared are not in the list any more, so that it comes to an end. */
static enum status clear_instances(struct game *game, struct bytes id, struct arena *arena,
                                   struct failure *failure) {
    struct instance_list list;
    enum status status;
    do {
        status = board_instances(game, id, (struct bytes){0}, 100, arena, failure, &list);
        for (size_t i = 0; i < list.count && status == OK; i++)
            status = clear_named(game, list.names[i], arena, failure);
    } while (status == OK && list.count != 0);
    return status;
}

/* The definition, what it says at its sources, and what they said here. */
static enum status delete_definition(struct game *game, const struct board_rules *rules,
                                     struct arena *arena, struct failure *failure) {
    struct bytes pk = record_join(arena, BOARDDEF, rules->id);
    size_t count = 0, most = 1 + rules->source_count + rules->feed_count;
    struct action *actions = ARENA_ARRAY(arena, struct action, most);
    actions[count++].item = game_key(arena, pk, BYTES("META"));
    for (uint32_t i = 0; i < rules->source_count; i++)
        actions[count++].item = game_key(arena, record_join(arena, BOARDDEF, rules->sources[i]),
                                         record_join(arena, FEEDS, rules->id));
    for (uint32_t i = 0; i < rules->feed_count; i++)
        actions[count++].item = game_key(arena, pk, record_join(arena, FEEDS, rules->feeds[i]));
    for (size_t i = 0; i < count; i++) {
        actions[i].kind = ACTION_DELETE;
        actions[i].table = game->table;
    }
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = arena,
                            .actions = actions,
                            .action_count = count,
                            .all_or_nothing = true};
    enum status status = game_wait(game, &change);
    *failure = change.failure;
    return status;
}

enum status board_remove(struct game *game, struct bytes id, struct arena *arena,
                         struct failure *failure) {
    struct board_rules rules;
    enum status status = board_is_id(id) ? board_definition_read(game, id, arena, failure, &rules)
                                         : board_rules_get(game, id, arena, failure, &rules);
    if (status == OK)
        status = clear_instances(game, id, arena, failure);
    if (status == OK)
        status = delete_definition(game, &rules, arena, failure);
    /* Once more: what was submitted meanwhile. */
    return status == OK ? clear_instances(game, id, arena, failure) : status;
}

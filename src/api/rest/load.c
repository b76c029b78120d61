/* Many scores for one board in one request: lines in, one commit, figures out.
 *
 * A commit writes an item once. A member that is there on several lines is written in as many
 * commits, one after the other, in the order of the lines. */
#include "api/rest/handlers.h"
#include "api/rest/lines.h"
#include "api/rest/out.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "game/entry.h"
#include "game/player.h"

enum { REASONS_MAX = 10, ROUNDS_MAX = 100 };

struct loading {
    struct score_line *lines; /* those still to be written */
    size_t count;
    struct change change;
    struct entry_write *writes; /* of this round */
    bool *hidden;               /* whether their members are */
    size_t *numbers;            /* their lines */
    size_t written;
    unsigned rounds;
    int64_t now_ms;
    uint64_t came, added, changed, kept, refused;
    struct {
        size_t line;
        struct bytes reason;
    } reasons[REASONS_MAX];
    size_t reason_count;
};

static void refuse(struct loading *loading, size_t line, struct bytes reason) {
    loading->refused++;
    if (loading->reason_count < REASONS_MAX) {
        loading->reasons[loading->reason_count].line = line;
        loading->reasons[loading->reason_count++].reason = reason;
    }
}

/* --- reading --- */

static bool is_json(const struct http_exchange *exchange) {
    return bytes_find(http_header(exchange, "Content-Type"), BYTES("ndjson")) != SIZE_MAX;
}

static size_t count_lines(struct bytes text) {
    size_t count = 1;
    for (const uint8_t *at = text.data; at != NULL; count++) {
        at = memchr(at, '\n', (size_t)(text.data + text.size - at));
        at = at == NULL || at + 1 == text.data + text.size ? NULL : at + 1;
    }
    return count;
}

static enum status read_lines(struct rest_call *call, struct loading *loading) {
    struct lines lines = {.left = call->exchange->body, .json = is_json(call->exchange)};
    size_t room = count_lines(lines.left);
    if (room > LIMIT_LOAD_LINES + 1)
        return rest_invalid(call, NULL, "at most %d lines come in one request", LIMIT_LOAD_LINES);
    loading->lines = arena_alloc(call->arena, room * sizeof loading->lines[0]);
    for (;;) {
        struct score_line *line = &loading->lines[loading->count];
        struct failure failure;
        enum status status =
            lines.left.size == 0 ? NOT_FOUND : lines_next(&lines, call->arena, &failure, line);
        if (status == NOT_FOUND)
            return OK;
        loading->came++;
        if (status == OK)
            loading->count++;
        else
            refuse(loading, lines.number, failure.text);
    }
}

/* --- writing --- */

static void fill_write(struct rest_call *call, struct loading *loading,
                       const struct score_line *line, struct entry_write *write) {
    const struct board *board = call->board;
    struct points points = {line->score, line->subscore};
    if (points.subscore.size == 0 || !board->rules.subscores)
        points.subscore = points_zero();
    *write = (struct entry_write){.board = board,
                                  .points = points,
                                  .now_ms = loading->now_ms,
                                  .name = line->name,
                                  .meta = line->meta};
}

struct round {
    struct map seen; /* members, by their key */
    struct action *actions;
    size_t action_count;
};

/* A player who is hidden stays so: what its profile says is looked at in the same commit. Members
 * of a plain board need not be players. */
static void add_write(struct rest_call *call, struct loading *loading, struct round *round,
                      const struct score_line *line, struct bytes key) {
    const struct board *board = call->board;
    size_t at = loading->written++;
    struct entry_write *write = &loading->writes[at];
    bool plain = board->rules.plain && line->name.size == 0 && line->meta == NULL;
    map_put(&round->seen, key, write);
    fill_write(call, loading, line, write);
    loading->numbers[at] = line->number;
    if (!board->rules.plain) {
        write->hide = &loading->hidden[at];
        player_hidden_action(call->game, line->member, call->arena, &loading->hidden[at],
                             &round->actions[round->action_count++]);
    }
    entry_action(call->game, board, key, plain ? entry_write_plain : entry_write_kept, write,
                 call->arena, &round->actions[round->action_count++]);
}

/* The actions of a round: lines whose member is not in it yet. The rest stays. */
static void fill_round(struct rest_call *call, struct loading *loading) {
    size_t count = loading->count, left = 0;
    struct round round = {.actions =
                              arena_alloc(call->arena, (2 * count + 1) * sizeof round.actions[0])};
    loading->writes = arena_alloc(call->arena, count * sizeof loading->writes[0]);
    loading->numbers = arena_alloc(call->arena, count * sizeof loading->numbers[0]);
    loading->hidden = ARENA_ARRAY(call->arena, bool, count);
    loading->written = 0;
    board_make_action(call->game, call->board, call->arena, &round.actions[round.action_count++]);
    for (size_t i = 0; i < count; i++) {
        struct score_line line = loading->lines[i];
        struct failure failure;
        struct bytes key;
        if (entry_key_of(line.member, call->arena, &failure, &key) != OK)
            refuse(loading, line.number, failure.text);
        else if (map_get(&round.seen, key) != NULL)
            loading->lines[left++] = line;
        else
            add_write(call, loading, &round, &line, key);
    }
    map_release(&round.seen);
    loading->count = left;
    loading->change = (struct change){.kind = CHANGE_WRITE,
                                      .arena = call->arena,
                                      .actions = round.actions,
                                      .action_count = round.action_count};
}

static void count_round(struct loading *loading) {
    for (size_t i = 0; i < loading->written; i++) {
        switch (loading->writes[i].outcome) {
        case ENTRY_ADDED:
            loading->added++;
            break;
        case ENTRY_CHANGED:
            loading->changed++;
            break;
        case ENTRY_SAME:
        case ENTRY_NOT_DONE:
            loading->kept++;
            break;
        default:
            refuse(loading, loading->numbers[i],
                   BYTES("the score is past the board's limits, or has too many decimals"));
        }
    }
}

static void put_loaded(struct rest_call *call, const struct loading *loading) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    out_uint(to, "lines", loading->came);
    out_uint(to, "added", loading->added);
    out_uint(to, "changed", loading->changed);
    out_uint(to, "kept", loading->kept);
    out_uint(to, "refused", loading->refused);
    out_name(to, "reasons");
    buf_byte(to, '[');
    for (size_t i = 0; i < loading->reason_count; i++) {
        out_next(to);
        buf_byte(to, '{');
        out_uint(to, "line", loading->reasons[i].line);
        out_text(to, "reason", loading->reasons[i].reason);
        buf_byte(to, '}');
    }
    buf_lit(to, "]}");
}

static enum status loaded(struct rest_call *call);

static enum status go_on(struct rest_call *call, struct loading *loading) {
    if (loading->count == 0 && loading->rounds != 0) {
        put_loaded(call, loading);
        return OK;
    }
    if (loading->rounds++ == ROUNDS_MAX)
        return rest_invalid(call, NULL, "a member is on more than %d lines", ROUNDS_MAX);
    fill_round(call, loading);
    if (loading->written == 0) {
        put_loaded(call, loading);
        return OK;
    }
    return rest_then(call, &loading->change, loaded);
}

static enum status loaded(struct rest_call *call) {
    struct loading *loading = call->state;
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    count_round(loading);
    return go_on(call, loading);
}

/* As rest_board(), but a plain board is made by what it is loaded with. */
static enum status find_board(struct rest_call *call) {
    enum status status = rest_board(call);
    return status == NOT_FOUND && call->board != NULL && call->board->rules.plain ? OK : status;
}

enum status rest_entries_load(struct rest_call *call) {
    struct loading *loading = ARENA_NEW(call->arena, struct loading);
    enum status status = find_board(call);
    loading->now_ms = clock_now_ms();
    if (status == OK)
        status = rest_open(call);
    if (status != OK)
        return status;
    if (call->board->rules.source_count != 0 || call->board->rules.feed_count != 0)
        return rest_invalid(call, NULL,
                            "a board that is made of others, or that others are made of, takes "
                            "its scores by submission");
    status = read_lines(call, loading);
    call->state = loading;
    return status == OK ? go_on(call, loading) : status;
}

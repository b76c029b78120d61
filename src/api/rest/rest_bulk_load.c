/* Many scores for one board in one request: lines in, parts of LIMIT_LOAD_PART members, figures
 * out.
 *
 * A line that cannot be taken (no score, past the board's limits) is counted and told, and the
 * others are loaded. One commit of fifty thousand would hold all other writers for a third of a
 * second, so a load is parts, each of which yields to other writers (change.h) and sees for itself
 * that the board may be written; what was committed stays when another part fails, and sent again
 * it leaves the same. On a board that sums it would not, so there a load is one part. A commit
 * writes an item once, so the lines of one member are one action (entry_run.h).
 *
 * On the pool many parts are queued at once. So the writer never waits for the next one to be made,
 * and of several requests it carries out one after the other: what they load in the order of its
 * keys reaches the store in that order, whose tables then do not overlap. On a loop's thread, where
 * making a part holds up others, one part follows on the other. */
#include "api/offload.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/rest/score_lines.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "game/board/entry_run.h"
#include "table/engine.h"

enum { REASONS_MAX = LIMIT_LOAD_REASONS, PARTS_MAX = LIMIT_LOAD_PARTS };
enum {
    MEMBER_ROOM = 1024, /* bytes that the engine needs for one, and somewhat more */
    ROOM_MAX = 1024 * 1024,
};

/* A line that is to be written. */
struct load_line {
    struct entry_run run;
    size_t number; /* of the line, from 1 */
};

/* A member and its lines. */
struct load_member {
    struct bytes key;
    uint64_t hash; /* of the key */
    struct entry_run *first, *last;
};

/* One change of those that are under way at once. */
struct load_part {
    struct change change;
    struct arena arena; /* the change's: the engine works in one while the next is being made */
};

struct loading {
    struct load_line *lines; /* in the order they came */
    size_t count;
    struct load_member *members;
    size_t member_count;
    size_t submitted;           /* members whose parts are done or under way */
    struct load_member **slots; /* the members by their keys: a hash table with linear probing, */
    size_t slots_mask;          /* at most half full */
    struct load_part *parts;    /* of which `part_count` were under way the last time */
    size_t part_count;
    int64_t now_ms;
    uint64_t came, added, changed, kept, refused;
    struct {
        size_t line;
        struct bytes reason;
    } reasons[REASONS_MAX];
    size_t reason_count;
};

static void refuse_line(struct loading *loading, size_t line, struct bytes reason) {
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

/* How many lines there are, the last of which may have no end. */
static size_t count_lines(struct bytes text) {
    size_t count = 0;
    for (const uint8_t *at = text.data; at != NULL; count++) {
        at = memchr(at, '\n', (size_t)(text.data + text.size - at));
        at = at == NULL || at + 1 == text.data + text.size ? NULL : at + 1;
    }
    return count;
}

/* What the line writes. Members of a plain board need not be players: without a name it is written
 * by its score alone, as sorted sets do. */
static void fill_line(struct rest_call *call, const struct loading *loading,
                      const struct score_line *line, struct load_line *out) {
    const struct board *board = call->board;
    bool alone = board->rules.plain && line->name.size == 0 && line->meta == NULL;
    *out =
        (struct load_line){.number = line->number,
                           .run = {.compute = alone ? entry_write_by_flags : entry_write_by_rules,
                                   .write = {.board = board,
                                             .flags = ENTRY_EXACT,
                                             .points = {line->score, line->subscore},
                                             .now_ms = loading->now_ms,
                                             .name = line->name,
                                             .meta = line->meta}}};
    if (line->subscore.size == 0)
        out->run.write.points.subscore = points_zero();
}

/* Where the member is in the table, or would be. */
static struct load_member **find_member(const struct loading *loading, struct bytes key,
                                        uint64_t hash) {
    size_t at = hash & loading->slots_mask;
    for (struct load_member *member; (member = loading->slots[at]) != NULL;
         at = (at + 1) & loading->slots_mask)
        if (member->hash == hash && bytes_equal(member->key, key))
            break;
    return &loading->slots[at];
}

/* Puts the line behind those of the same member. */
static void add_to_member(struct loading *loading, struct bytes key, struct entry_run *run) {
    uint64_t hash = hash_keyed(key, 0);
    struct load_member **slot = find_member(loading, key, hash);
    if (*slot == NULL) {
        *slot = &loading->members[loading->member_count++];
        **slot = (struct load_member){key, hash, run, run};
        return;
    }
    (*slot)->last->next = run;
    (*slot)->last = run;
}

/* Takes a line that could be read. INVALID with a reason if the board does not take such ones. */
static enum status take_line(struct rest_call *call, struct loading *loading,
                             const struct score_line *line, struct failure *failure) {
    const struct board_rules *rules = &call->board->rules;
    struct load_line *to = &loading->lines[loading->count];
    struct bytes key;
    if (line->subscore.size != 0 && !rules->subscores && !rules->plain)
        return failure_set(failure, call->arena, INVALID, "the board has no subscores");
    enum status status = entry_key_of(line->member, (struct scope){call->arena, failure}, &key);
    if (status != OK)
        return status;
    fill_line(call, loading, line, to);
    add_to_member(loading, key, &to->run);
    loading->count++;
    return OK;
}

static enum status refuse_lines(struct rest_call *call) {
    return rest_invalid(call, NULL, "at most %d lines come in one request", LIMIT_LOAD_LINES);
}

/* Room for so many lines. */
static void make_room(struct rest_call *call, struct loading *loading, size_t lines) {
    size_t slots = 1;
    while (slots < 2 * lines)
        slots *= 2;
    loading->lines = arena_alloc(call->arena, lines * sizeof loading->lines[0]);
    loading->members = arena_alloc(call->arena, lines * sizeof loading->members[0]);
    loading->slots = ARENA_ARRAY(call->arena, struct load_member *, slots);
    loading->slots_mask = slots - 1;
}

static enum status read_lines(struct rest_call *call, struct loading *loading) {
    struct score_lines lines = {.left = call->exchange->body, .json = is_json(call->exchange)};
    size_t room = count_lines(lines.left);
    if (room > LIMIT_LOAD_LINES + 1) /* a header is none of them */
        return refuse_lines(call);
    make_room(call, loading, room);
    for (;;) {
        struct score_line line;
        struct failure failure;
        enum status status =
            lines.left.size == 0
                ? NOT_FOUND
                : score_lines_next(&lines, (struct scope){call->arena, &failure}, &line);
        if (status == NOT_FOUND)
            return OK;
        if (++loading->came > LIMIT_LOAD_LINES)
            return refuse_lines(call);
        if (status == OK)
            status = take_line(call, loading, &line, &failure);
        if (status != OK)
            refuse_line(loading, lines.number, failure.text);
    }
}

/* --- writing --- */

/* How many members the next part has. */
static size_t next_size(const struct rest_call *call, const struct loading *loading) {
    size_t left = loading->member_count - loading->submitted;
    bool divided = left > LIMIT_LOAD_PART && call->board->rules.keep != KEEP_SUM;
    return divided ? LIMIT_LOAD_PART : left;
}

/* Makes the next part. One action makes the board's item, or sees that it may be written; then one
 * for each member. A player who is hidden stays so: entries look that up when they are made
 * (hidden_players.h). */
static void fill_part(struct rest_call *call, struct loading *loading, struct load_part *part) {
    size_t count = 0, size = next_size(call, loading), end = loading->submitted + size;
    struct arena *arena = &part->arena;
    if (arena->first == NULL)
        arena_reserve(arena, size * MEMBER_ROOM < ROOM_MAX ? size * MEMBER_ROOM : ROOM_MAX);
    arena_recycle(arena);
    struct action *actions = arena_alloc(arena, (size + 1) * sizeof actions[0]);
    board_create_action(call->game, call->board, arena, &actions[count++]);
    for (; loading->submitted < end; loading->submitted++) {
        const struct load_member *member = &loading->members[loading->submitted];
        actions[count++] = entry_run_action(call->game, member->key, member->first, arena);
    }
    part->change = (struct change){.kind = CHANGE_WRITE,
                                   .arena = arena,
                                   .actions = actions,
                                   .action_count = count,
                                   .divisible = true,
                                   .yields = true};
}

/* Parts of one request that are under way at once would be in each other's way where an engine
 * works out each of them before it commits it. */
static size_t parts_at_once(const struct rest_call *call) {
    return offload_may_wait() && !engine_may_block(call->game->engine) ? PARTS_MAX : 1;
}

/* Submits the next parts. */
static void submit_parts(struct rest_call *call) {
    struct loading *loading = call->state;
    size_t most = parts_at_once(call);
    loading->part_count = 0;
    change_submit_begin(&call->written);
    while (loading->part_count < most && loading->submitted < loading->member_count) {
        struct load_part *part = &loading->parts[loading->part_count++];
        fill_part(call, loading, part);
        change_submit_add(call->game->engine, &part->change, &call->written);
    }
    change_submit_end(&call->written);
}

/* The failure of the first part that has one becomes the call's. */
static enum status parts_changed(struct rest_call *call) {
    const struct loading *loading = call->state;
    for (size_t i = 0; i < loading->part_count; i++) {
        const struct failure *failure = &loading->parts[i].change.failure;
        if (failure->status == OK)
            continue;
        call->failure = (struct failure){failure->status, arena_copy(call->arena, failure->text)};
        return failure->status;
    }
    return OK;
}

static void make_parts(struct rest_call *call, struct loading *loading) {
    loading->parts = ARENA_ARRAY(call->arena, struct load_part, PARTS_MAX);
    for (size_t i = 0; i < PARTS_MAX; i++)
        arena_init(&loading->parts[i].arena);
}

static void release_parts(struct rest_call *call) {
    struct loading *loading = call->state;
    for (size_t i = 0; i < PARTS_MAX; i++)
        arena_release(&loading->parts[i].arena);
}

static void count_lines_done(struct loading *loading) {
    for (size_t i = 0; i < loading->count; i++) {
        switch (loading->lines[i].run.write.outcome) {
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
            refuse_line(loading, loading->lines[i].number,
                        BYTES("the score is past the board's limits, or has too many decimals"));
        }
    }
}

static void put_loaded(struct rest_call *call, const struct loading *loading) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    rest_put_uint(to, "lines", loading->came);
    rest_put_uint(to, "added", loading->added);
    rest_put_uint(to, "changed", loading->changed);
    rest_put_uint(to, "kept", loading->kept);
    rest_put_uint(to, "refused", loading->refused);
    rest_put_name(to, "reasons");
    buf_byte(to, '[');
    for (size_t i = 0; i < loading->reason_count; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_uint(to, "line", loading->reasons[i].line);
        rest_put_text(to, "reason", loading->reasons[i].reason);
        buf_byte(to, '}');
    }
    buf_lit(to, "]}");
}

static enum status loaded(struct rest_call *call) {
    struct loading *loading = call->state;
    enum status status = parts_changed(call);
    if (status != OK)
        return status;
    if (loading->submitted < loading->member_count)
        return rest_after(call, submit_parts, loaded);
    count_lines_done(loading);
    put_loaded(call, loading);
    return OK;
}

enum status rest_entries_load(struct rest_call *call) {
    struct loading *loading = ARENA_NEW(call->arena, struct loading);
    enum status status = rest_board_to_write(call);
    loading->now_ms = clock_now_ms();
    if (status == OK)
        status = rest_open(call);
    if (status != OK)
        return status;
    if (call->board->rules.source_count != 0 || call->board->rules.feed_count != 0)
        return rest_invalid(call, NULL,
                            "a board that is made of others, or that others are made of, takes "
                            "its scores by submission");
    call->state = loading;
    status = read_lines(call, loading);
    if (status != OK)
        return status;
    if (loading->count == 0) {
        put_loaded(call, loading);
        return OK;
    }
    make_parts(call, loading);
    call->release = release_parts;
    return rest_after(call, submit_parts, loaded);
}

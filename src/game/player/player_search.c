#include "game/player/player_search.h"

#include "base/utf8.h"
#include "game/player/player_finders.h"
#include "game/player/player_int.h"
#include "game/record.h"

/* --- the kinds of matches --- */

struct search_kind {
    enum player_search_by by;
    const char *prefix; /* of the sort keys in GSI2 */
};
static const struct search_kind kinds[] = {
    {SEARCH_BY_ID, "ID#"}, {SEARCH_BY_NAME, "NAME#"}, {SEARCH_BY_EMAIL, "EMAIL#"}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* A search under way. */
struct search {
    struct game *game;
    struct scope in;
    struct bytes beginnings[KINDS]; /* of the sort keys that match; empty: not looked for */
    size_t kind;                    /* that is looked for now */
    struct item start;              /* the finder after which it goes on; count 0: the first */
    size_t limit, looked_at;
    struct player_list found;
};

/* All players are those who have an id. */
static bool is_looked_for(const struct player_search_request *request, size_t kind) {
    if (request->by != SEARCH_BY_ANY)
        return kinds[kind].by == request->by;
    return request->text.size != 0 || kind == 0;
}

/* --- cursors: the finder at which a page ended, as three counted strings; without a key of the
 * table: the first of its kind --- */

static struct bytes write_cursor(const struct search *search) {
    struct buf to = {0};
    bool within = search->start.count != 0;
    buf_counted(&to, within ? item_string(&search->start, BYTES("GSI2SK"))
                            : search->beginnings[search->kind]);
    buf_counted(&to, item_string(&search->start, GAME_PK));
    buf_counted(&to, item_string(&search->start, GAME_SK));
    struct bytes cursor = arena_copy(search->in.arena, buf_bytes(&to));
    buf_release(&to);
    return cursor;
}

static enum status read_cursor(struct search *search, struct bytes cursor) {
    struct bytes key, pk, sk;
    struct record record = record_of(search->in.arena);
    bool fits = take_counted(&cursor, &key) && take_counted(&cursor, &pk) &&
                take_counted(&cursor, &sk) && cursor.size == 0 &&
                (pk.size != 0) == (sk.size != 0) && utf8_valid(key) && utf8_valid(pk) &&
                utf8_valid(sk);
    size_t kind = 0;
    while (fits && kind < KINDS &&
           (search->beginnings[kind].size == 0 || !bytes_starts(key, search->beginnings[kind])))
        kind++;
    if (!fits || kind == KINDS)
        return failure_set(search->in.failure, search->in.arena, INVALID,
                           "The cursor is of another search");
    search->kind = kind;
    if (pk.size == 0)
        return OK;
    record_string(&record, BYTES("GSI2PK"), FINDERS_PARTITION);
    record_string(&record, BYTES("GSI2SK"), key);
    record_string(&record, GAME_PK, pk);
    record_string(&record, GAME_SK, sk);
    search->start = record_item(&record);
    return OK;
}

/* --- a page of finders, and the players they lead to --- */

static enum status read_finders(const struct search *search, struct page_reply *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(FINDERS_PARTITION)};
    keys.tests[1] = (struct key_test){.name = BYTES("GSI2SK"),
                                      .op = KEY_BEGINS,
                                      .low = value_string(search->beginnings[search->kind])};
    struct page_request request = {.table = search->game->table,
                                   .index = GAME_GSI2,
                                   .keys = &keys,
                                   .start = search->start.count != 0 ? &search->start : NULL,
                                   .limit = (uint32_t)(search->limit - search->found.count)};
    return engine_page(search->game->engine, &request, search->in, out);
}

static enum status read_profiles(const struct search *search, const struct page_reply *finders,
                                 struct get_reply *replies) {
    struct arena *arena = search->in.arena;
    struct get_request *requests = ARENA_ARRAY(arena, struct get_request, finders->count);
    for (uint64_t i = 0; i < finders->count; i++)
        requests[i] = (struct get_request){
            .table = search->game->table,
            .key = game_key(arena, item_string(&finders->items[i], GAME_PK), PROFILE_SK)};
    return engine_get_many(search->game->engine, requests, finders->count, search->in, replies);
}

/* A player who matches in several ways is told by the first of them. One whose profile has become
 * another since matches no more, or by another finder. */
static bool is_first_match(const struct search *search, const struct item *profile,
                           struct bytes finder_sk) {
    struct finder finders[FINDERS_MAX];
    player_finders(profile, search->in.arena, finders);
    for (size_t i = 0; i < FINDERS_MAX; i++)
        for (size_t kind = 0; kind < KINDS; kind++)
            if (search->beginnings[kind].size != 0 &&
                bytes_starts(finders[i].key, search->beginnings[kind]))
                return bytes_equal(finders[i].sk, finder_sk);
    return false;
}

static void add_player(struct search *search, const struct item *profile) {
    struct player_list *found = &search->found;
    player_read(profile, &found->players[found->count++]);
}

/* Looks at the next page of finders of the present kind; goes on to the next kind at its end. */
static enum status search_step(struct search *search) {
    struct page_reply finders;
    enum status status = read_finders(search, &finders);
    if (status != OK)
        return status;
    struct get_reply *profiles = ARENA_ARRAY(search->in.arena, struct get_reply, finders.count + 1);
    if (finders.count != 0)
        status = read_profiles(search, &finders, profiles);
    for (uint64_t i = 0; status == OK && i < finders.count; i++)
        if (profiles[i].found &&
            is_first_match(search, &profiles[i].item, item_string(&finders.items[i], GAME_SK)))
            add_player(search, &profiles[i].item);
    search->looked_at += (size_t)finders.count + 1;
    search->start = finders.more ? finders.last_key : (struct item){0};
    search->kind += finders.more ? 0 : 1;
    return status;
}

static void skip_kinds(struct search *search) {
    while (search->kind < KINDS && search->beginnings[search->kind].size == 0)
        search->kind++;
}

enum status player_search(struct game *game, const struct player_search_request *request,
                          struct scope in, struct player_list *out) {
    struct search search = {.game = game, .in = in, .limit = request->limit};
    struct bytes lower = utf8_lower(request->text, in.arena);
    for (size_t i = 0; i < KINDS; i++)
        if (is_looked_for(request, i))
            search.beginnings[i] = record_join(in.arena, kinds[i].prefix, lower);
    enum status status = request->after.size != 0 ? read_cursor(&search, request->after) : OK;
    search.found.players = ARENA_ARRAY(in.arena, struct player, request->limit + 1);
    skip_kinds(&search);
    while (status == OK && search.kind < KINDS && search.found.count < search.limit &&
           search.looked_at < LIMIT_PLAYERS_LOOKED_AT) {
        status = search_step(&search);
        skip_kinds(&search);
    }
    if (status != OK)
        return status;
    if (search.kind < KINDS)
        search.found.next = write_cursor(&search);
    *out = search.found;
    return OK;
}

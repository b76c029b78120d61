/* Queries of the index `ranks`, put as requests to the engine. */
#include "game/board/standings_index.h"

#include "game/record.h"

enum { PLACE_PARTS = 5, GROUP_PARTS = 2 /* score and subscore */ };

static void put_pair(struct pair *pair, struct bytes name, enum value_type type,
                     struct bytes bytes) {
    *pair = (struct pair){name, {.type = type, .bytes = bytes}};
}

/* The attributes that are given, in the order of their names. */
static struct item key_of_edge(const struct standings_query *query, const struct rank_edge *edge) {
    struct pair *pairs = arena_alloc(query->arena, PLACE_PARTS * sizeof(*pairs));
    uint32_t count = 0;
    put_pair(&pairs[count++], GAME_PK, VALUE_S, query->board->pk);
    if (edge->key.size != 0)
        put_pair(&pairs[count++], GAME_SK, VALUE_S, edge->key);
    put_pair(&pairs[count++], GAME_SCORE, VALUE_N, edge->points.score);
    if (edge->points.subscore.size != 0)
        put_pair(&pairs[count++], GAME_SUBSCORE, VALUE_N, edge->points.subscore);
    if (edge->tie.size != 0)
        put_pair(&pairs[count++], GAME_TIE, VALUE_N, edge->tie);
    return (struct item){pairs, count};
}

static struct bound bound_of(const struct standings_query *query, const struct rank_edge *edge) {
    if (edge == NULL || edge->points.score.size == 0)
        return (struct bound){0};
    return (struct bound){key_of_edge(query, edge), edge->after};
}

/* What a window asks of the engine; `keys` is for the condition. */
static struct page_request request_of(const struct standings_query *query,
                                      const struct rank_window *window,
                                      struct key_condition *keys) {
    keys->count = 1;
    keys->tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(query->board->pk)};
    return (struct page_request){.table = query->game->table,
                                 .index = GAME_RANKS,
                                 .keys = keys,
                                 .backward = window->reverse,
                                 .limit = window->limit > UINT32_MAX ? UINT32_MAX
                                                                     : (uint32_t)window->limit,
                                 .low = bound_of(query, window->low),
                                 .high = bound_of(query, window->high),
                                 .skip = window->skip,
                                 .skip_end = window->skip_end,
                                 .whole = true};
}

static enum status read_index(const struct standings_query *query, const struct rank_window *window,
                              enum select select, struct page_reply *out) {
    const struct game *game = query->game;
    struct key_condition keys;
    struct page_request request = request_of(query, window, &keys);
    request.select = select;
    return engine_page(game->engine, &request, (struct scope){query->arena, query->failure}, out);
}

enum status standings_index_count(const struct standings_query *query,
                                  const struct rank_window *window, uint64_t *out) {
    struct page_reply reply;
    enum status status = read_index(query, window, SELECT_COUNT, &reply);
    if (status == OK)
        *out = reply.count;
    return status;
}

static struct bytes attribute(const struct item *item, uint32_t expected, struct bytes name) {
    if (expected < item->count && bytes_equal(item->pairs[expected].name, name))
        return item->pairs[expected].value.bytes;
    const struct value *value = item_get(item, name);
    return value != NULL ? value->bytes : (struct bytes){0};
}

/* What the index shows has five attributes, of which names tell the order. */
struct ranked_entry ranked_entry_of(const struct item *item) {
    return (struct ranked_entry){
        .key = attribute(item, 1, GAME_SK),
        .points = {attribute(item, 2, GAME_SCORE), attribute(item, 3, GAME_SUBSCORE)},
        .tie = attribute(item, 4, GAME_TIE)};
}

enum status standings_index_list(const struct standings_query *query,
                                 const struct rank_window *window, struct ranked_list *out) {
    struct page_reply reply;
    enum status status = read_index(query, window, SELECT_DEFAULT, &reply);
    if (status != OK)
        return status;
    out->list = arena_alloc(query->arena, reply.count * sizeof(*out->list));
    out->count = reply.count;
    for (size_t i = 0; i < reply.count; i++)
        out->list[i] = ranked_entry_of(&reply.items[i]);
    return OK;
}

static void visit_item(void *user, const struct item *item) {
    const struct ranked_visitor *visitor = user;
    struct ranked_entry entry = ranked_entry_of(item);
    visitor->visit(visitor->user, &entry);
}

/* The index has score, subscore, tie and the entry's key in this order (game.h). */
static void visit_keys(void *user, const struct bytes *keys) {
    const struct ranked_visitor *visitor = user;
    struct ranked_entry entry = {.key = keys[3], .points = {keys[0], keys[1]}, .tie = keys[2]};
    visitor->visit(visitor->user, &entry);
}

enum status standings_index_each(const struct standings_query *query,
                                 const struct rank_window *window,
                                 const struct ranked_visitor *visitor) {
    struct key_condition keys;
    struct page_reply reply;
    struct page_request request = request_of(query, window, &keys);
    request.visit = visit_item;
    request.visit_keys = visit_keys;
    request.user = (void *)visitor;
    return engine_page(query->game->engine, &request, (struct scope){query->arena, query->failure},
                       &reply);
}

enum status standings_index_ranks(const struct standings_query *query,
                                  const struct rank_question *question,
                                  struct rank_reply *replies) {
    bool dense = question->ties == RANK_DENSE ||
                 (question->as_board && query->board->rules.ranking == RANK_DENSE);
    bool grouped = question->as_board || question->ties != RANK_ORDINAL;
    struct rank_request request = {.table = query->game->table,
                                   .index = GAME_RANKS,
                                   .keys = question->keys,
                                   .count = question->count,
                                   .as_if = question->as_if,
                                   .entries_only = question->entries_only,
                                   .group_parts = grouped ? GROUP_PARTS : 0,
                                   .groups = dense,
                                   .nonblocking =
                                       question->nonblocking || !game_may_wait(query->game)};
    return engine_rank_lookup(query->game->engine, &request,
                              (struct scope){query->arena, query->failure}, replies);
}

struct item standings_index_key(const struct standings_query *query,
                                const struct ranked_entry *entry) {
    return key_of_edge(
        query, &(struct rank_edge){.points = entry->points, .tie = entry->tie, .key = entry->key});
}

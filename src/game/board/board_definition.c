/* Definitions: reading, making and changing them. What depends on the table is checked on the
 * engine's thread, in the commit that writes the definition. */
#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/record.h"

/* --- reading --- */

enum status board_rules_get(struct game *game, struct bytes id, struct scope in,
                            struct board_rules *out) {
    struct get_reply reply;
    enum status status = NOT_FOUND;
    if (board_is_id(id)) {
        struct get_request request = {
            .table = game->table,
            .key = game_key(in.arena, record_join(in.arena, BOARDDEF, id), BYTES("META")),
            .consistent = true};
        status = engine_get(game->engine, &request, in, &reply);
        if (status != OK)
            return status;
        status = reply.found ? OK : NOT_FOUND;
    }
    if (status == NOT_FOUND)
        return failure_set(in.failure, in.arena, NOT_FOUND, "There is no board %.*s",
                           (int)(id.size < BOARD_ID_MAX ? id.size : BOARD_ID_MAX),
                           (const char *)id.data);
    status = board_rules_read(&reply.item, in, out);
    if (status == OK && !board_definition_usable(game, id, out, in.arena))
        status = failure_set(in.failure, in.arena, INVALID,
                             "The definition of board %.*s is of another id, or has a time zone "
                             "that is not here",
                             BYTES_ARG(id));
    return status;
}

enum status board_timing(const struct game *game, const struct board_rules *rules, struct scope in,
                         struct timing *out) {
    *out = (struct timing){rules->timeframe, NULL, rules->seasons, rules->season_count};
    return zone_find(game->settings.zones, rules->zone, in, &out->zone);
}

bool board_definition_usable(const struct game *game, struct bytes id,
                             const struct board_rules *rules, struct arena *arena) {
    struct failure failure;
    struct timing timing;
    return board_is_id(id) && bytes_equal(rules->id, id) &&
           board_timing(game, rules, (struct scope){arena, &failure}, &timing) == OK;
}

enum status board_definition_read(struct game *game, struct bytes id, struct scope in,
                                  struct board_rules *out) {
    struct listing listing = {.partition_name = GAME_PK,
                              .partition = record_join(in.arena, BOARDDEF, id),
                              .sort_name = GAME_SK,
                              .begins = BYTES(FEEDS)};
    struct page_reply page;
    enum status status = board_rules_get(game, id, in, out);
    if (status == OK)
        status = board_page(game, &listing, in, &page);
    if (status != OK)
        return status;
    struct bytes *feeds = ARENA_ARRAY(in.arena, struct bytes, page.count + 1);
    for (uint64_t i = 0; i < page.count; i++)
        feeds[out->feed_count++] =
            bytes_skip(item_string(&page.items[i], GAME_SK), sizeof(FEEDS) - 1);
    out->feeds = feeds;
    return OK;
}

/* --- making and changing --- */

struct defining {
    struct game *game;
    struct board_rules rules;
    bool create;
};

#define REFUSE(change, status, ...) \
    failure_set(&(change)->failure, (change)->arena, status, __VA_ARGS__)

/* Whether there is any instance of the board. */
static enum status has_instances(struct game *game, struct bytes id, struct change *change,
                                 bool *out) {
    struct instance_list list;
    struct list_range range = {.of = id, .limit = 1};
    enum status status =
        board_instances(game, &range, (struct scope){change->arena, &change->failure}, &list);
    *out = status == OK && list.count != 0;
    return status;
}

/* The entries there are stay ranked as they were. */
static enum status check_order_unchanged(const struct board_rules *old,
                                         const struct board_rules *new, struct change *change) {
    const char *differs = NULL;
    if (old->order != new->order)
        differs = "order";
    else if (old->tie != new->tie)
        differs = "ties";
    else if (old->timeframe != new->timeframe)
        differs = "timeframe";
    else if (!bytes_equal(old->zone, new->zone))
        differs = "timeZone";
    if (differs == NULL)
        return OK;
    return REFUSE(change, INVALID, "%s of board %.*s cannot change: it has entries", differs,
                  BYTES_ARG(new->id));
}

/* A plain board of that name becomes the definition's all-time instance, or is refused. */
static enum status check_plain(const struct defining *defining, struct change *change) {
    const struct board_rules *rules = &defining->rules;
    struct get_request request = {.table = defining->game->table,
                                  .key = game_key(change->arena,
                                                  record_join(change->arena, INSTANCE, rules->id),
                                                  BYTES("STATE")),
                                  .consistent = true};
    struct get_reply reply;
    enum status status = engine_get(defining->game->engine, &request,
                                    (struct scope){change->arena, &change->failure}, &reply);
    if (status != OK || !reply.found || item_get(&reply.item, BYTES("board")) != NULL)
        return status; /* none, or one of a definition that cannot be read */
    if (rules->timeframe != FRAME_ALL || !board_has_scope(rules, (struct bytes){0}))
        return REFUSE(change, CONFLICT,
                      "There are entries under the name %.*s already: a board with periods, or "
                      "without the scope global, would put them out of reach",
                      BYTES_ARG(rules->id));
    if (rules->tie == TIE_MEMBER)
        return OK;
    return REFUSE(change, INVALID,
                  "There are entries under the name %.*s already, which stand by member: ties must "
                  "be member",
                  BYTES_ARG(rules->id));
}

/* A source of a cross-game board is not a cross-game board itself. */
static enum status check_sources_exist(const struct defining *defining, uint32_t feeds,
                                       struct change *change) {
    const struct board_rules *rules = &defining->rules;
    struct board_rules source;
    if (rules->source_count != 0 && feeds != 0)
        return REFUSE(change, INVALID, "sources: board %.*s is a source itself",
                      BYTES_ARG(rules->id));
    for (uint32_t i = 0; i < rules->source_count; i++) {
        enum status status =
            board_rules_get(defining->game, rules->sources[i],
                            (struct scope){change->arena, &change->failure}, &source);
        if (status == NOT_FOUND)
            return REFUSE(change, INVALID, "sources: there is no board %.*s",
                          BYTES_ARG(rules->sources[i]));
        if (status != OK)
            return status;
        if (source.source_count != 0)
            return REFUSE(change, INVALID, "sources: %.*s is made of other boards itself",
                          BYTES_ARG(rules->sources[i]));
    }
    return OK;
}

static enum status check_against(const struct defining *defining, const struct board_rules *old,
                                 struct change *change) {
    bool entries = false;
    if (old == NULL)
        return check_plain(defining, change);
    if (defining->create)
        return REFUSE(change, DUPLICATE, "There is a board %.*s already",
                      BYTES_ARG(defining->rules.id));
    enum status status = has_instances(defining->game, defining->rules.id, change, &entries);
    if (status != OK || !entries)
        return status;
    status = check_order_unchanged(old, &defining->rules, change);
    return status == OK ? board_redefine_check(defining->game, old, &defining->rules, change)
                        : status;
}

static bool is_among(struct bytes id, const struct bytes *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (bytes_equal(ids[i], id))
            return true;
    return false;
}

static struct item link_key(struct bytes source, struct bytes id, struct arena *arena) {
    return game_key(arena, record_join(arena, BOARDDEF, source), record_join(arena, FEEDS, id));
}

/* Puts the definition, and a FEEDS# item at each of its sources. */
static void fill_definition_change(const struct defining *defining, const struct board_rules *old,
                                   struct change *change) {
    const struct board_rules *rules = &defining->rules;
    struct arena *arena = change->arena;
    struct bytes table = defining->game->table;
    uint32_t old_count = old == NULL ? 0 : old->source_count;
    struct action *actions = ARENA_ARRAY(arena, struct action, 1 + rules->source_count + old_count);
    size_t count = 0;
    actions[count++] =
        (struct action){.kind = ACTION_PUT, .table = table, .item = board_rules_item(rules, arena)};
    for (uint32_t i = 0; i < rules->source_count; i++)
        actions[count++] = (struct action){.kind = ACTION_PUT,
                                           .table = table,
                                           .item = link_key(rules->sources[i], rules->id, arena)};
    for (uint32_t i = 0; i < old_count; i++)
        if (!is_among(old->sources[i], rules->sources, rules->source_count))
            actions[count++] = (struct action){.kind = ACTION_DELETE,
                                               .table = table,
                                               .item = link_key(old->sources[i], rules->id, arena)};
    change->actions = actions;
    change->action_count = count;
}

static enum status prepare_definition(struct change *change) {
    struct defining *defining = change->actions[0].user;
    struct board_rules old, *there = &old;
    enum status status = board_definition_read(
        defining->game, defining->rules.id, (struct scope){change->arena, &change->failure}, &old);
    if (status == INVALID && defining->create)
        return REFUSE(change, DUPLICATE, "There is a board %.*s already, which cannot be read",
                      BYTES_ARG(defining->rules.id));
    if (status == NOT_FOUND || status == INVALID) { /* what cannot be read is replaced */
        there = NULL;
        change->failure = (struct failure){0};
    } else if (status != OK) {
        return status;
    }
    status = check_against(defining, there, change);
    if (status == OK)
        status = check_sources_exist(defining, there == NULL ? 0 : old.feed_count, change);
    if (status != OK)
        return status;
    defining->rules.changed_ms = clock_now_ms();
    defining->rules.created_ms = there == NULL ? defining->rules.changed_ms : old.created_ms;
    fill_definition_change(defining, there, change);
    return OK;
}

enum status board_define_prepare(struct game *game, const struct board_rules *rules, bool create,
                                 struct change *change) {
    enum status status =
        board_rules_check(game, rules, (struct scope){change->arena, &change->failure});
    if (status != OK)
        return status;
    struct defining *defining = ARENA_NEW(change->arena, struct defining);
    *defining = (struct defining){game, *rules, create};
    change->kind = CHANGE_WRITE;
    change->all_or_nothing = true;
    change->actions = ARENA_NEW(change->arena, struct action);
    change->actions[0].user = defining; /* for prepare_definition(), which fills in the real ones */
    change->action_count = 0;
    change->prepare = prepare_definition;
    return OK;
}

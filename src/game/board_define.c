/* Making and changing definitions: one step, decided by what the table says at that moment. */
#include "base/clock.h"
#include "game/board_int.h"
#include "game/record.h"

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
    enum status status =
        board_instances(game, id, (struct bytes){0}, 1, change->arena, &change->failure, &list);
    *out = status == OK && list.count != 0;
    return status;
}

/* What the order of the entries that are there hangs on. */
static enum status check_same(const struct board_rules *old, const struct board_rules *new,
                              struct change *change) {
    const char *differs = NULL;
    if (old->order != new->order)
        differs = "order";
    else if (old->tie != new->tie)
        differs = "ties";
    else if (old->timeframe != new->timeframe)
        differs = "timeframe";
    else if (!bytes_equal(old->zone, new->zone))
        differs = "zone";
    if (differs == NULL)
        return OK;
    return REFUSE(change, INVALID, "%s of board %.*s cannot change: it has entries", differs,
                  BYTES_ARG(new->id));
}

/* A plain board of that name becomes the definition's list of all time, or is in the way. */
static enum status check_plain(const struct defining *defining, struct change *change) {
    const struct board_rules *rules = &defining->rules;
    struct get_request request = {.table = defining->game->table,
                                  .key = game_key(change->arena,
                                                  record_join(change->arena, INSTANCE, rules->id),
                                                  BYTES("STATE")),
                                  .consistent = true};
    struct get_reply reply;
    enum status status =
        engine_get(defining->game->engine, &request, change->arena, &change->failure, &reply);
    if (status != OK || !reply.found || rules->timeframe != FRAME_ALL || rules->tie == TIE_MEMBER)
        return status;
    return REFUSE(change, INVALID,
                  "There are entries under the name %.*s already, which stand by member: ties must "
                  "be member",
                  BYTES_ARG(rules->id));
}

/* Boards are made of boards that are not made of others themselves. */
static enum status check_sources(const struct defining *defining, uint32_t feeds,
                                 struct change *change) {
    const struct board_rules *rules = &defining->rules;
    struct board_rules source;
    if (rules->source_count != 0 && feeds != 0)
        return REFUSE(change, INVALID, "sources: board %.*s is a source itself",
                      BYTES_ARG(rules->id));
    for (uint32_t i = 0; i < rules->source_count; i++) {
        enum status status = board_rules_get(defining->game, rules->sources[i], change->arena,
                                             &change->failure, &source);
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
    return status == OK && entries ? check_same(old, &defining->rules, change) : status;
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

/* Puts the definition, and what says so at its sources. */
static void fill_in(const struct defining *defining, const struct board_rules *old,
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

static enum status decide(struct change *change) {
    struct defining *defining = change->actions[0].user;
    struct board_rules old, *there = &old;
    enum status status = board_definition_read(defining->game, defining->rules.id, change->arena,
                                               &change->failure, &old);
    if (status == NOT_FOUND) {
        there = NULL;
        change->failure = (struct failure){0};
    } else if (status != OK) {
        return status;
    }
    status = check_against(defining, there, change);
    if (status == OK)
        status = check_sources(defining, there == NULL ? 0 : old.feed_count, change);
    if (status != OK)
        return status;
    defining->rules.changed_ms = clock_now_ms();
    defining->rules.created_ms = there == NULL ? defining->rules.changed_ms : old.created_ms;
    fill_in(defining, there, change);
    return OK;
}

enum status board_define_prepare(struct game *game, const struct board_rules *rules, bool create,
                                 struct change *change, struct failure *failure) {
    enum status status = board_rules_check(game, rules, change->arena, failure);
    if (status != OK)
        return status;
    struct defining *defining = ARENA_NEW(change->arena, struct defining);
    *defining = (struct defining){game, *rules, create};
    change->kind = CHANGE_WRITE;
    change->all_or_nothing = true;
    change->actions = ARENA_NEW(change->arena, struct action);
    change->actions[0].user = defining; /* for decide(), which fills in the real ones */
    change->action_count = 0;
    change->decide = decide;
    return OK;
}

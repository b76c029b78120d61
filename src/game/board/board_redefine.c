/* Whether a definition may be replaced by another. What was submitted stays reachable, and what has
 * ended stays ended: seasons and scopes that have entries cannot be taken away, a season that is
 * over cannot be live again, and subscores stay while an entry has one.
 *
 * It runs on the engine's thread, in the commit that replaces the definition, so no write can come
 * between the check and the change; and since all writes wait for it, it reads little: for scopes
 * one instance of each kind, for seasons and subscores at most LIMIT_REDEFINE_LOOKS instances or
 * entries. If that is not enough to be sure, the change is refused. */
#include "base/clock.h"
#include "base/limits.h"
#include "game/arena_pair.h"
#include "game/board/board_int.h"
#include "game/board/entry_int.h"
#include "game/record.h"

enum { PAGE = 500 };

struct redefinition {
    struct game *game;
    const struct board_rules *old, *new;
    struct change *change;
    int64_t now_ms;
    size_t looks; /* instances and entries read so far */
};

#define REFUSE(redefinition, ...)                                                          \
    failure_set(&(redefinition)->change->failure, (redefinition)->change->arena, CONFLICT, \
                __VA_ARGS__)

static enum status refuse_unknown(struct redefinition *redefinition, const char *member) {
    return REFUSE(redefinition,
                  "%s of board %.*s cannot change: it has too much to see whether that would take "
                  "something away",
                  member, BYTES_ARG(redefinition->new->id));
}

/* --- scopes --- */

/* The first instance of the board whose GSI2SK is after `after`, or begins with `begins`. */
static enum status first_instance(struct redefinition *redefinition, struct bytes after,
                                  struct bytes begins, struct page_reply *out) {
    struct change *change = redefinition->change;
    struct listing listing = {.index = GAME_GSI2,
                              .partition_name = BYTES("GSI2PK"),
                              .partition = record_join(change->arena, BOARD, redefinition->new->id),
                              .sort_name = BYTES("GSI2SK"),
                              .after = after,
                              .begins = begins,
                              .limit = 1};
    return board_page(redefinition->game, &listing, (struct scope){change->arena, &change->failure},
                      out);
}

/* A sort key after all instances of a scope's kind. They are sorted by `<scope>@<period>`, and the
 * scopes of kind "room" are "room" and "room:...": two ranges, with other kinds between them. */
static struct bytes after_kind(struct bytes scope, struct arena *arena) {
    struct bytes kind = board_scope_kind(scope);
    if (scope.size == 0)
        return BYTES("A"); /* the character after '@' */
    return arena_printf(arena, "%.*s%c", BYTES_ARG(kind), kind.size == scope.size ? 'A' : ';');
}

static bool takes_any_scope(const struct board_rules *rules) {
    for (uint32_t i = 0; i < rules->scope_count; i++)
        if (bytes_equal(rules->scopes[i], BYTES("*")))
            return true;
    return false;
}

static enum status refuse_scope(struct redefinition *redefinition, struct bytes scope) {
    return REFUSE(redefinition,
                  "scopes of board %.*s must keep %.*s: there are entries, which nobody could "
                  "reach any more",
                  BYTES_ARG(redefinition->new->id), BYTES_ARG(board_scope_kind(scope)));
}

/* Reads one instance of each kind of scope, until there is one that the new rules do not have. */
static enum status check_scopes(struct redefinition *redefinition) {
    const struct board_rules *new = redefinition->new;
    struct page_reply page = {0};
    struct bytes none = {0}, after = {0};
    if (takes_any_scope(new)) { /* then only global can be missing */
        enum status status = OK;
        if (!board_has_scope(new, none))
            status = first_instance(redefinition, none, BYTES("@"), &page);
        return status == OK && page.count != 0 ? refuse_scope(redefinition, none) : status;
    }
    for (;;) {
        enum status status = first_instance(redefinition, after, none, &page);
        if (status != OK || page.count == 0)
            return status;
        struct bytes scope = item_string(&page.items[0], BYTES("scope"));
        if (!board_has_scope(new, scope))
            return refuse_scope(redefinition, scope);
        after = after_kind(scope, redefinition->change->arena);
    }
}

/* --- a walk over the instances --- */

typedef enum status instance_visit(struct redefinition *redefinition, const struct item *state,
                                   struct bytes name, struct arena *arena);

static enum status visit_page(struct redefinition *redefinition, const struct instance_list *list,
                              instance_visit *visit, struct arena *arena) {
    enum status status = OK;
    for (size_t i = 0; i < list->count && status == OK; i++)
        status = visit(redefinition, &list->states[i], list->names[i], arena);
    redefinition->looks += list->count;
    return status;
}

static enum status each_instance(struct redefinition *redefinition, const char *member,
                                 instance_visit *visit) {
    struct change *change = redefinition->change;
    struct instance_list list = {.more = true};
    struct arena_pair arenas;
    struct list_range range = {.of = redefinition->new->id, .limit = PAGE};
    enum status status = OK;
    arena_pair_init(&arenas);
    while (status == OK && list.more) {
        struct arena *arena = arena_pair_next(&arenas);
        struct failure failure = {0};
        if (redefinition->looks >= LIMIT_REDEFINE_LOOKS)
            status = refuse_unknown(redefinition, member);
        else
            status =
                board_instances(redefinition->game, &range, (struct scope){arena, &failure}, &list);
        if (failure.status != OK)
            failure_set(&change->failure, change->arena, failure.status, "%.*s",
                        BYTES_ARG(failure.text));
        if (status == OK)
            status = visit_page(redefinition, &list, visit, arena);
        if (status == OK && list.count != 0)
            range.after = list.names[list.count - 1];
    }
    arena_pair_release(&arenas);
    return status;
}

/* --- seasons --- */

static const struct season *season_named(const struct board_rules *rules, struct bytes name) {
    for (uint32_t i = 0; i < rules->season_count; i++)
        if (bytes_equal(rules->seasons[i].name, name))
            return &rules->seasons[i];
    return NULL;
}

/* Whether the new definition does not have the season, or begins it in the future. */
static bool is_lost(const struct redefinition *redefinition, const struct season *season) {
    const struct season *new = season_named(redefinition->new, season->name);
    return new == NULL || new->starts_ms > redefinition->now_ms;
}

static enum status check_instance_season(struct redefinition *redefinition,
                                         const struct item *state, struct bytes name,
                                         struct arena *arena) {
    struct bytes period = item_string(state, BYTES("period"));
    const struct season *season = season_named(redefinition->old, period);
    (void)arena;
    if (season == NULL || !is_lost(redefinition, season))
        return OK;
    return REFUSE(redefinition,
                  "seasons of board %.*s must keep %.*s, and not begin it later: %.*s has entries",
                  BYTES_ARG(redefinition->new->id), BYTES_ARG(period), BYTES_ARG(name));
}

static enum status check_seasons(struct redefinition *redefinition) {
    const struct board_rules *old = redefinition->old;
    bool lost = false;
    for (uint32_t i = 0; i < old->season_count; i++) {
        const struct season *season = &old->seasons[i];
        const struct season *new = season_named(redefinition->new, season->name);
        if (new != NULL &&
            season->ends_ms <= redefinition->now_ms &&new->ends_ms > redefinition->now_ms)
            return REFUSE(redefinition,
                          "seasons: %.*s of board %.*s has ended and is sealed: it cannot be live "
                          "again",
                          BYTES_ARG(season->name), BYTES_ARG(redefinition->new->id));
        lost |= is_lost(redefinition, season);
    }
    return lost ? each_instance(redefinition, "seasons", check_instance_season) : OK;
}

/* --- subscores --- */

static bool has_subscore(const struct item *item) {
    struct points points;
    bool hidden;
    return entry_points(item, &points, &hidden) &&
           bytes_compare(points.subscore, points_zero()) != 0;
}

/* Reads the page of an instance's entries that follows on *out, which begins as zero; from the
 * table, so those of hidden members too. */
static enum status page_of_entries(struct redefinition *redefinition, struct bytes pk,
                                   struct arena *arena, struct page_reply *out) {
    struct item start = out->last_key;
    struct key_condition keys = {.count = 1};
    struct page_request request = {.table = redefinition->game->table,
                                   .keys = &keys,
                                   .consistent = true,
                                   .start = out->more ? &start : NULL,
                                   .limit = PAGE};
    struct change *change = redefinition->change;
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(pk)};
    enum status status = engine_page(redefinition->game->engine, &request,
                                     (struct scope){arena, &change->failure}, out);
    if (status != OK) /* `arena` is reset by the walk */
        change->failure.text = arena_copy(change->arena, change->failure.text);
    return status;
}

static enum status check_instance_subscores(struct redefinition *redefinition,
                                            const struct item *state, struct bytes name,
                                            struct arena *arena) {
    struct bytes key = bytes_skip(item_string(state, GAME_PK), sizeof(INSTANCE) - 1);
    struct page_reply page = {0};
    do {
        enum status status =
            page_of_entries(redefinition, record_join(arena, BOARD, key), arena, &page);
        if (status != OK)
            return status;
        for (uint64_t i = 0; i < page.count; i++)
            if (has_subscore(&page.items[i]))
                return REFUSE(redefinition,
                              "subscores of board %.*s cannot be switched off: entries of %.*s "
                              "have one",
                              BYTES_ARG(redefinition->new->id), BYTES_ARG(name));
        redefinition->looks += page.count;
    } while (page.more && redefinition->looks < LIMIT_REDEFINE_LOOKS);
    return page.more ? refuse_unknown(redefinition, "subscores") : OK;
}

/* --- all --- */

enum status board_redefine_check(struct game *game, const struct board_rules *old,
                                 const struct board_rules *new, struct change *change) {
    struct redefinition redefinition = {
        .game = game, .old = old, .new = new, .change = change, .now_ms = clock_now_ms()};
    enum status status = check_scopes(&redefinition);
    if (status == OK)
        status = check_seasons(&redefinition);
    if (status == OK && old->subscores && !new->subscores)
        status = each_instance(&redefinition, "subscores", check_instance_subscores);
    return status;
}

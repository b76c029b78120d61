/* Stats of players, from plays that ended:
 *
 *   PK PLAYER#<id>  SK STATS
 *   plays, totalScore, totalMs, lastPlayedAt   N
 *   games   M   game -> M of the same, and bestScore, leastScore
 *   unsummed N  scores that would have needed more digits than a number has
 *
 * A play is looked at again in the commit that counts it: one that was erased meanwhile leaves no
 * trace. */
#include "base/map.h"
#include "game/keeper_int.h"
#include "game/play_int.h"
#include "game/record.h"
#include "value/number.h"

/* More would make an item too large; what is played beyond them counts in the totals only. */
enum { GAMES_MAX = 500 };

#define STATS_PLAYS    BYTES("plays")
#define STATS_SCORE    BYTES("totalScore")
#define STATS_TIME     BYTES("totalMs")
#define STATS_LAST     BYTES("lastPlayedAt")
#define STATS_GAMES    BYTES("games")
#define STATS_BEST     BYTES("bestScore")
#define STATS_LEAST    BYTES("leastScore")
#define STATS_UNSUMMED BYTES("unsummed")

struct counted_play {
    const struct item *item; /* as the record has it */
    struct bytes game;
    bool there; /* still, in the commit */
    struct counted_play *next;
};

struct player_tally {
    struct bytes pk;
    struct counted_play *first, **end;
    struct player_tally *next;
};

/* --- one play --- */

static struct item item_of_map(const struct value *map) {
    if (map == NULL || map->type != VALUE_M)
        return (struct item){0};
    return (struct item){map->pairs, map->count};
}

static struct item add_int(struct arena *arena, const struct item *item, struct bytes name,
                           int64_t more) {
    struct value value = value_int(arena, item_int(item, name) + more);
    return item_with(arena, item, name, &value);
}

/* Exact, or not at all: then `unsummed` says so. */
static struct item add_number(struct arena *arena, const struct item *item, struct bytes name,
                              struct bytes more) {
    struct bytes before = item_number(item, name), sum;
    if (before.size == 0)
        sum = more;
    else if (number_add(arena, before, more, &sum) != NUMBER_OK)
        return add_int(arena, item, STATS_UNSUMMED, 1);
    struct value value = value_number(sum);
    return item_with(arena, item, name, &value);
}

static struct item set_last(struct arena *arena, const struct item *item, int64_t at_ms) {
    struct value value = value_int(arena, at_ms);
    if (item_get(item, STATS_LAST) != NULL && item_int(item, STATS_LAST) >= at_ms)
        return *item;
    return item_with(arena, item, STATS_LAST, &value);
}

/* What totals and games have in common. */
static struct item add_totals(struct arena *arena, const struct item *item,
                              const struct item *play) {
    struct bytes score = item_number(play, PLAY_SCORE);
    struct item sum = add_int(arena, item, STATS_PLAYS, 1);
    sum =
        add_number(arena, &sum, STATS_TIME, number_from_int(arena, item_int(play, PLAY_DURATION)));
    if (score.size != 0)
        sum = add_number(arena, &sum, STATS_SCORE, score);
    return set_last(arena, &sum, item_int(play, PLAY_ENDED));
}

static struct item set_bounds(struct arena *arena, const struct item *item, struct bytes score) {
    struct bytes best = item_number(item, STATS_BEST), least = item_number(item, STATS_LEAST);
    struct value value = value_number(score);
    struct item out = *item;
    if (best.size == 0 || bytes_compare(score, best) > 0)
        out = item_with(arena, &out, STATS_BEST, &value);
    if (least.size == 0 || bytes_compare(score, least) < 0)
        out = item_with(arena, &out, STATS_LEAST, &value);
    return out;
}

static struct item add_game(struct arena *arena, const struct item *games,
                            const struct counted_play *play) {
    struct item game = item_of_map(item_get(games, play->game));
    struct bytes score = item_number(play->item, PLAY_SCORE);
    if (games->count >= GAMES_MAX && game.count == 0)
        return *games;
    game = add_totals(arena, &game, play->item);
    if (score.size != 0)
        game = set_bounds(arena, &game, score);
    struct value map = {.type = VALUE_M, .count = game.count, .pairs = game.pairs};
    return item_with(arena, games, play->game, &map);
}

/* --- actions --- */

static enum status look_at_play(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    struct counted_play *play = action->user;
    (void)arena;
    (void)new;
    play->there = old->count != 0;
    return OK;
}

static enum status add_plays(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    const struct player_tally *tally = action->user;
    struct item item = old->count != 0 ? *old : action->item;
    struct item games = item_of_map(item_get(old, STATS_GAMES));
    bool any = false;
    for (const struct counted_play *play = tally->first; play != NULL; play = play->next) {
        if (!play->there)
            continue;
        any = true;
        item = add_totals(arena, &item, play->item);
        games = add_game(arena, &games, play);
    }
    struct value map = {.type = VALUE_M, .count = games.count, .pairs = games.pairs};
    if (any)
        *new = item_with(arena, &item, STATS_GAMES, &map);
    return OK;
}

/* --- out of the stream --- */

/* Whether the record tells that a play ended. */
static bool tells_end(const struct stream_record *record) {
    return record->has_new && bytes_starts(item_string(&record->keys, GAME_PK), BYTES("PLAYER#")) &&
           bytes_starts(item_string(&record->keys, GAME_SK), BYTES("PLAY#")) &&
           bytes_equal(item_string(&record->new, PLAY_STATUS), PLAY_IS_ENDED) &&
           !(record->has_old &&
             bytes_equal(item_string(&record->old, PLAY_STATUS), PLAY_IS_ENDED)) &&
           item_string(&record->new, PLAY_GAME).size != 0;
}

static void add_action(struct stats_batch *batch, struct game *game, struct item key,
                       action_compute *compute, void *user) {
    batch->actions[batch->action_count++] = (struct action){.kind = ACTION_COMPUTE,
                                                            .table = game->table,
                                                            .item = key,
                                                            .compute = compute,
                                                            .user = user};
}

static void add_play(struct map *players, struct player_tally **all, struct bytes pk,
                     struct counted_play *play, struct arena *arena) {
    struct player_tally *tally = map_get(players, pk);
    if (tally == NULL) {
        tally = ARENA_NEW(arena, struct player_tally);
        *tally = (struct player_tally){.pk = pk, .next = *all};
        tally->end = &tally->first;
        *all = tally;
        map_put(players, pk, tally);
    }
    *tally->end = play;
    tally->end = &play->next;
}

/* A play that ended, was written anew by hand and ended again would stand in a batch twice: a
 * change may name an item once, and a play counts once. */
static bool has_play(const struct map *players, struct bytes pk, struct bytes sk) {
    const struct player_tally *tally = map_get(players, pk);
    if (tally == NULL)
        return false;
    for (const struct counted_play *play = tally->first; play != NULL; play = play->next)
        if (bytes_equal(item_string(play->item, GAME_SK), sk))
            return true;
    return false;
}

void stats_prepare(struct game *game, const struct stream_record *records, size_t count,
                   uint64_t from, struct arena *arena, struct stats_batch *out) {
    struct map players = {0};
    struct player_tally *all = NULL;
    *out = (struct stats_batch){.actions = ARENA_ARRAY(arena, struct action, 2 * count + 1)};
    for (size_t i = 0; i < count; i++) {
        const struct stream_record *record = &records[i];
        if (record->sequence < from || !tells_end(record))
            continue;
        struct bytes pk = item_string(&record->keys, GAME_PK);
        struct bytes sk = item_string(&record->keys, GAME_SK);
        if (has_play(&players, pk, sk))
            continue;
        struct counted_play *play = ARENA_NEW(arena, struct counted_play);
        *play = (struct counted_play){.item = &record->new,
                                      .game = item_string(&record->new, PLAY_GAME)};
        add_play(&players, &all, pk, play, arena);
        add_action(out, game, game_key(arena, pk, sk), look_at_play, play);
        out->plays++;
    }
    for (struct player_tally *tally = all; tally != NULL; tally = tally->next)
        add_action(out, game, game_key(arena, tally->pk, STATS_SK), add_plays, tally);
    map_release(&players);
}

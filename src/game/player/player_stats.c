/* Stats of players, from plays that ended:
 *
 *   PK PLAYER#<id>  SK STATS
 *   plays, totalScore, totalMs, lastPlayedAt   N
 *   games   M   game -> M of plays, totalScore, totalMs, lastPlayedAt, bestScore, leastScore
 *   unsummed N  how many scores could not be added because a number has not enough digits
 *
 * The commit that counts a play reads it again: one that was erased meanwhile is not counted. */
#include "base/limits.h"
#include "base/map.h"
#include "game/housekeeping_int.h"
#include "game/player/player_int.h"
#include "game/record.h"
#include "value/number.h"

/* More would make an item too large; what is played beyond them counts in the totals only. */
enum { GAMES_MAX = LIMIT_PLAYER_GAMES };

#define STATS_PLAYS    BYTES("plays")
#define STATS_SCORE    BYTES("totalScore")
#define STATS_TIME     BYTES("totalMs")
#define STATS_LAST     BYTES("lastPlayedAt")
#define STATS_GAMES    BYTES("games")
#define STATS_BEST     BYTES("bestScore")
#define STATS_LEAST    BYTES("leastScore")
#define STATS_UNSUMMED BYTES("unsummed")

struct counted_play {
    const struct item *item; /* as the stream's record has it */
    struct bytes game;
    bool there; /* the commit has found it: set by check_play_exists() */
    struct counted_play *next;
};

/* The plays of one player in a batch. */
struct player_tally {
    struct bytes pk;
    struct counted_play *first, **end;
    struct player_tally *next;
};

/* All players of a batch: by partition, and as a list. */
struct player_tallies {
    struct map by_pk;
    struct player_tally *first;
    struct arena *arena;
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

/* The sum is exact, or the number is left out and `unsummed` counts it. */
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

/* Adds a play to an item of totals: the player's, or that of one game. */
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

static struct item add_game_totals(struct arena *arena, const struct item *games,
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

static enum status check_play_exists(struct action *action, const struct item *old,
                                     struct arena *arena, struct item *new) {
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
        games = add_game_totals(arena, &games, play);
    }
    struct value map = {.type = VALUE_M, .count = games.count, .pairs = games.pairs};
    if (any)
        *new = item_with(arena, &item, STATS_GAMES, &map);
    return OK;
}

/* --- reading the stream's records --- */

/* Whether the record is the end of a play. */
static bool is_end_of_play(const struct stream_record *record) {
    return record->has_new && bytes_starts(item_string(&record->keys, GAME_PK), BYTES("PLAYER#")) &&
           bytes_starts(item_string(&record->keys, GAME_SK), BYTES("PLAY#")) &&
           bytes_equal(item_string(&record->new, PLAY_STATUS), PLAY_IS_ENDED) &&
           !(record->has_old &&
             bytes_equal(item_string(&record->old, PLAY_STATUS), PLAY_IS_ENDED)) &&
           item_string(&record->new, PLAY_GAME).size != 0;
}

static void add_play(struct player_tallies *tallies, struct bytes pk, struct counted_play *play) {
    struct player_tally *tally = map_get(&tallies->by_pk, pk);
    if (tally == NULL) {
        tally = ARENA_NEW(tallies->arena, struct player_tally);
        *tally = (struct player_tally){.pk = pk, .next = tallies->first};
        tally->end = &tally->first;
        tallies->first = tally;
        map_put(&tallies->by_pk, pk, tally);
    }
    *tally->end = play;
    tally->end = &play->next;
}

/* A play that ended, was put again by a client and ended again would be in a batch twice. A change
 * may name an item once, and a play counts once. */
static bool has_play(const struct player_tallies *tallies, struct bytes pk, struct bytes sk) {
    const struct player_tally *tally = map_get(&tallies->by_pk, pk);
    if (tally == NULL)
        return false;
    for (const struct counted_play *play = tally->first; play != NULL; play = play->next)
        if (bytes_equal(item_string(play->item, GAME_SK), sk))
            return true;
    return false;
}

void player_stats_prepare(struct game *game, struct player_stats_batch *batch,
                          struct arena *arena) {
    struct player_tallies tallies = {.arena = arena};
    struct action *actions = ARENA_ARRAY(arena, struct action, 2 * batch->record_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < batch->record_count; i++) {
        const struct stream_record *record = &batch->records[i];
        if (record->sequence < batch->from || !is_end_of_play(record))
            continue;
        struct bytes pk = item_string(&record->keys, GAME_PK);
        struct bytes sk = item_string(&record->keys, GAME_SK);
        if (has_play(&tallies, pk, sk))
            continue;
        struct counted_play *play = ARENA_NEW(arena, struct counted_play);
        *play = (struct counted_play){.item = &record->new,
                                      .game = item_string(&record->new, PLAY_GAME)};
        add_play(&tallies, pk, play);
        actions[count++] =
            game_compute_action(game, game_key(arena, pk, sk), check_play_exists, play);
    }
    batch->plays = count;
    for (struct player_tally *tally = tallies.first; tally != NULL; tally = tally->next)
        actions[count++] =
            game_compute_action(game, game_key(arena, tally->pk, STATS_SK), add_plays, tally);
    batch->actions = actions;
    batch->action_count = count;
    map_release(&tallies.by_pk);
}

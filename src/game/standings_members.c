/* Members by name, friends among themselves, and places nobody has yet. */
#include "base/clock.h"
#include "game/entry_int.h"
#include "game/standings_int.h"

#include <stdlib.h>

/* --- members --- */

static enum status read_places(const struct look *look, const struct place *places, size_t count,
                               struct standings *out) {
    for (size_t i = 0; i < count; i++) {
        struct standing *row = &out->rows[i];
        if (!places[i].found)
            continue;
        if (entry_read(&places[i].entry, look->arena, &row->entry) != OK)
            return failure_set(look->failure, look->arena, DAMAGED, "An entry is damaged");
        struct ahead ahead = look_ahead(look, &places[i]);
        row->found = true;
        out->total = places[i].before + places[i].after + 1;
        look_rank(look, &ahead, out->total, row);
    }
    return OK;
}

enum status standings_members(struct game *game, const struct board *board,
                              const struct bytes *members, size_t count,
                              enum standings_detail detail, struct arena *arena,
                              struct failure *failure, struct standings *out) {
    struct look look = {game, board, arena, failure};
    struct item *keys = ARENA_ARRAY(arena, struct item, count + 1);
    struct place *places = ARENA_ARRAY(arena, struct place, count + 1);
    enum status status = OK;
    *out =
        (struct standings){.rows = ARENA_ARRAY(arena, struct standing, count + 1), .count = count};
    if (count > STANDINGS_MEMBERS_MAX)
        return failure_set(failure, arena, INVALID, "At most %d members can be asked for at once",
                           STANDINGS_MEMBERS_MAX);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct bytes key;
        status = entry_key_of(members[i], arena, failure, &key);
        out->rows[i].entry.member = members[i];
        if (status == OK)
            keys[i] = game_key(arena, board->pk, key);
    }
    if (status != OK || look_is_empty(&look))
        return status;
    if (count != 0)
        status = look_places(&look, keys, count, false, places);
    if (status == OK)
        status = read_places(&look, places, count, out);
    if (status == OK && out->total == 0)
        status = look_count(&look, &out->total);
    if (status == OK && detail == DETAIL_FULL)
        status = look_details(&look, out->rows, count);
    return status;
}

/* --- friends --- */

static int by_position(const void *a, const void *b) {
    const struct standing *one = a, *two = b;
    return (one->position > two->position) - (one->position < two->position);
}

/* Only those found, in order, each once. */
static void close_up(struct standings *rows) {
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].found)
            rows->rows[found++] = rows->rows[i];
    qsort(rows->rows, found, sizeof(*rows->rows), by_position);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || rows->rows[i].position != rows->rows[kept - 1].position)
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
}

enum status standings_friends(struct game *game, const struct board *board,
                              const struct bytes *members, size_t count, struct arena *arena,
                              struct failure *failure, struct standings *out, uint64_t **among) {
    enum status status =
        standings_members(game, board, members, count, DETAIL_FULL, arena, failure, out);
    if (status != OK)
        return status;
    struct look look = {game, board, arena, failure};
    struct ahead ahead = {0};
    close_up(out);
    *among = ARENA_ARRAY(arena, uint64_t, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        struct standing row;
        if (i > 0) {
            ahead.entries++;
            if (points_compare(&out->rows[i].entry.points, &out->rows[i - 1].entry.points) != 0) {
                ahead.better = ahead.entries;
                ahead.groups++;
            }
        }
        look_rank(&look, &ahead, out->count, &row);
        (*among)[i] = row.rank;
    }
    return OK;
}

/* --- places nobody has yet --- */

enum status standings_if(struct game *game, const struct board *board, const struct points *points,
                         struct arena *arena, struct failure *failure, uint64_t *rank,
                         uint64_t *total) {
    struct look look = {game, board, arena, failure};
    struct place place = {0};
    struct standing row;
    struct item at =
        look_key(&look, points, entry_tie(&board->rules, clock_now_ms(), arena), BYTES("\0"), 5);
    enum status status = look_is_empty(&look) ? OK : look_places(&look, &at, 1, true, &place);
    if (status != OK)
        return status;
    *total = place.before + place.after + place.found;
    struct ahead ahead = look_ahead(&look, &place);
    uint64_t behind = board->rules.order == ORDER_HIGH ? place.group_before : place.group_after;
    ahead.entries = *total - behind; /* who has the same stands before it */
    look_rank(&look, &ahead, *total + 1, &row);
    *rank = row.rank;
    return OK;
}

struct cutting {
    struct look look;
    double percentile;
    struct standings rows;
};

static enum status cut_once(void *context) {
    struct cutting *cutting = context;
    const struct look *look = &cutting->look;
    uint64_t total = 0;
    enum status status = look_is_empty(look) ? OK : look_count(look, &total);
    if (status != OK || total == 0)
        return status;
    double behind = (100 - cutting->percentile) / 100 * (double)(total - 1);
    struct standings_request request = {.board = look->board, .limit = 1};
    request.from = 1 + (uint64_t)(behind + 1e-9);
    return look_rows(look, &request, &cutting->rows);
}

enum status standings_percentile(struct game *game, const struct board *board, double percentile,
                                 struct arena *arena, struct failure *failure,
                                 struct standing *out) {
    struct cutting cutting = {.look = {game, board, arena, failure}, .percentile = percentile};
    if (!(percentile >= 0 && percentile <= 100))
        return failure_set(failure, arena, INVALID, "A percentile is between 0 and 100");
    enum status status = look_steadily(&cutting.look, cut_once, &cutting);
    if (status == OK && cutting.rows.count == 0)
        return failure_set(failure, arena, NOT_FOUND, "Board %.*s has no entries",
                           BYTES_ARG(board->instance));
    if (status == OK)
        status = look_details(&cutting.look, cutting.rows.rows, 1);
    if (status == OK)
        *out = cutting.rows.rows[0];
    return status;
}

/* How scores are spread: counts between edges that people would choose.
 *
 * Edges are computed as integers of a decimal unit that is small enough for the steps: ones where
 * the scores are whole and far enough apart. Where such integers would not fit 64 bits, as doubles.
 */
#include "game/entry_int.h"
#include "game/record.h"
#include "game/standings_int.h"

#include <stdio.h>

enum { FINER = 10 /* a step should have so many units */, UNITS_MAX = 18 /* digits */ };

struct spreading {
    struct look look;
    unsigned buckets;
    struct histogram *out;
};

/* --- edges --- */

/* number * 10^places as an integer; false if it is none, or too large. */
static bool to_units(struct bytes number, int places, struct arena *arena, int64_t *out) {
    char text[NUMBER_MAX_TEXT + 8];
    size_t size = number_text(number, text);
    struct bytes scaled;
    size += (size_t)snprintf(text + size, 8, "e%d", places);
    return number_read(arena, bytes_of(text, size), &scaled) == NUMBER_OK &&
           number_to_int(scaled, out) && *out < INT64_MAX / 2 && *out > INT64_MIN / 2;
}

static struct bytes of_units(int64_t units, int places, struct arena *arena) {
    struct bytes number, text = arena_printf(arena, "%lldE-%d", (long long)units, places);
    return number_read(arena, text, &number) == NUMBER_OK ? number : points_zero();
}

/* Digits after the point such that a step is some units: as many as the scores have, if that will
 * do. -1: not as integers. */
static int choose_places(struct spreading *spreading, int64_t *low, int64_t *high) {
    struct histogram *out = spreading->out;
    struct arena *arena = spreading->look.arena;
    int a = entry_decimals(out->low), b = entry_decimals(out->high), own = a > b ? a : b;
    for (int places = own; places <= UNITS_MAX; places++) {
        if (!to_units(out->low, places, arena, low) || !to_units(out->high, places, arena, high))
            return -1;
        if (*high - *low >= (int64_t)spreading->buckets * (places == own ? 1 : FINER))
            return places;
    }
    return -1;
}

static void edges_by_units(struct spreading *spreading, int places, int64_t low, int64_t high) {
    struct histogram *out = spreading->out;
    for (unsigned i = 1; i < spreading->buckets; i++) {
        __int128 step = ((__int128)(high - low) * i) / spreading->buckets;
        out->edges[i] = of_units(low + (int64_t)step, places, spreading->look.arena);
    }
}

static void edges_by_doubles(struct spreading *spreading) {
    struct histogram *out = spreading->out;
    double low = number_to_double(out->low), high = number_to_double(out->high);
    for (unsigned i = 1; i < spreading->buckets; i++) {
        double share = (double)i / spreading->buckets;
        double at = low * (1 - share) + high * share;
        struct points edge = points_of_double(spreading->look.arena, at);
        out->edges[i] =
            bytes_compare(edge.score, out->edges[i - 1]) < 0 ? out->edges[i - 1] : edge.score;
        if (bytes_compare(out->edges[i], out->high) > 0)
            out->edges[i] = out->high;
    }
}

static void set_edges(struct spreading *spreading) {
    struct histogram *out = spreading->out;
    int64_t low = 0, high = 0;
    out->count = bytes_equal(out->low, out->high) ? 1 : spreading->buckets;
    out->edges = ARENA_ARRAY(spreading->look.arena, struct bytes, out->count + 1);
    out->counts = ARENA_ARRAY(spreading->look.arena, uint64_t, out->count);
    out->edges[0] = out->low;
    out->edges[out->count] = out->high;
    if (out->count == 1)
        return;
    int places = choose_places(spreading, &low, &high);
    if (places >= 0)
        edges_by_units(spreading, places, low, high);
    else
        edges_by_doubles(spreading);
}

/* --- counts --- */

/* The least or the greatest score there is. */
static enum status read_end(const struct look *look, bool greatest, struct bytes *out) {
    struct page_request page = {.limit = 1};
    struct page_reply reply;
    bool first = (look->board->rules.order == ORDER_HIGH) == greatest;
    enum status status = look_page(look, &page, !first, &reply);
    if (status == OK && reply.count != 0)
        *out = item_number(&reply.items[0], GAME_SCORE);
    return status;
}

/* How many stand before each edge tells how many are between. */
static enum status count_between(struct spreading *spreading) {
    const struct look *look = &spreading->look;
    struct histogram *out = spreading->out;
    struct item *keys = ARENA_ARRAY(look->arena, struct item, out->count);
    struct place *places = ARENA_ARRAY(look->arena, struct place, out->count);
    struct bytes least = points_least();
    for (size_t i = 0; i < out->count; i++) {
        struct points edge = {out->edges[i], least};
        keys[i] = look_key(look, &edge, least, BYTES("\0"), 5);
    }
    enum status status = look_places(look, keys, out->count, true, places);
    if (status != OK)
        return status;
    out->total = places[0].before + places[0].after + places[0].found;
    for (size_t i = 0; i < out->count; i++) {
        uint64_t until = i + 1 < out->count ? places[i + 1].before : out->total;
        out->counts[i] = until - places[i].before;
    }
    return OK;
}

static enum status spread_once(void *context) {
    struct spreading *spreading = context;
    const struct look *look = &spreading->look;
    struct histogram *out = spreading->out;
    *out = (struct histogram){0};
    if (look_is_empty(look))
        return OK;
    enum status status = read_end(look, false, &out->low);
    if (status == OK)
        status = read_end(look, true, &out->high);
    if (status != OK || out->low.size == 0 || out->high.size == 0)
        return status;
    set_edges(spreading);
    return count_between(spreading);
}

enum status standings_histogram(struct game *game, const struct board *board, unsigned buckets,
                                struct arena *arena, struct failure *failure,
                                struct histogram *out) {
    struct spreading spreading = {{game, board, arena, failure}, buckets, out};
    if (buckets < 1 || buckets > HISTOGRAM_MAX)
        return failure_set(failure, arena, INVALID, "A histogram has 1 to %d steps", HISTOGRAM_MAX);
    return look_steadily(&spreading.look, spread_once, &spreading);
}

/* Histograms of scores, with round numbers as edges of the buckets.
 *
 * Edges are computed as integers of a decimal unit that is small enough for the steps: ones where
 * the scores are whole and far enough apart. Where such integers would not fit 64 bits, as doubles.
 */
#include "game/board/entry_int.h"
#include "game/board/standings_int.h"
#include "game/record.h"

#include <stdio.h>

enum { FINER = 10 /* units of a bucket, at least */, UNITS_MAX = 18 /* digits */ };

struct histogram_read {
    struct standings_query query;
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

/* Digits after the point such that a bucket is some units wide: as many as the scores have, if that
 * is enough. -1: integers cannot hold it. */
static int choose_places(struct histogram_read *histogram_read, int64_t *low, int64_t *high) {
    struct histogram *out = histogram_read->out;
    struct arena *arena = histogram_read->query.arena;
    int a = entry_decimals(out->low), b = entry_decimals(out->high), own = a > b ? a : b;
    for (int places = own; places <= UNITS_MAX; places++) {
        if (!to_units(out->low, places, arena, low) || !to_units(out->high, places, arena, high))
            return -1;
        if (*high - *low >= (int64_t)histogram_read->buckets * (places == own ? 1 : FINER))
            return places;
    }
    return -1;
}

static void edges_by_units(struct histogram_read *histogram_read, int places, int64_t low,
                           int64_t high) {
    struct histogram *out = histogram_read->out;
    for (unsigned i = 1; i < histogram_read->buckets; i++) {
        __int128 step = ((__int128)(high - low) * i) / histogram_read->buckets;
        out->edges[i] = of_units(low + (int64_t)step, places, histogram_read->query.arena);
    }
}

static void edges_by_doubles(struct histogram_read *histogram_read) {
    struct histogram *out = histogram_read->out;
    double low = number_to_double(out->low), high = number_to_double(out->high);
    for (unsigned i = 1; i < histogram_read->buckets; i++) {
        double share = (double)i / histogram_read->buckets;
        double at = low * (1 - share) + high * share;
        struct points edge = points_of_double(histogram_read->query.arena, at);
        out->edges[i] =
            bytes_compare(edge.score, out->edges[i - 1]) < 0 ? out->edges[i - 1] : edge.score;
        if (bytes_compare(out->edges[i], out->high) > 0)
            out->edges[i] = out->high;
    }
}

static void set_edges(struct histogram_read *histogram_read) {
    struct histogram *out = histogram_read->out;
    int64_t low = 0, high = 0;
    out->count = bytes_equal(out->low, out->high) ? 1 : histogram_read->buckets;
    out->edges = ARENA_ARRAY(histogram_read->query.arena, struct bytes, out->count + 1);
    out->counts = ARENA_ARRAY(histogram_read->query.arena, uint64_t, out->count);
    out->edges[0] = out->low;
    out->edges[out->count] = out->high;
    if (out->count == 1)
        return;
    int places = choose_places(histogram_read, &low, &high);
    if (places >= 0)
        edges_by_units(histogram_read, places, low, high);
    else
        edges_by_doubles(histogram_read);
}

/* --- counts --- */

/* The least or the greatest score there is. */
static enum status read_end(const struct standings_query *query, bool greatest, struct bytes *out) {
    struct rank_window window = {.reverse = greatest, .limit = 1};
    struct ranked_list entries;
    enum status status = standings_index_list(query, &window, &entries);
    if (status == OK && entries.count != 0)
        *out = entries.list[0].points.score;
    return status;
}

/* The counts are differences of the ranks of the edges. */
static enum status count_between(struct histogram_read *histogram_read) {
    const struct standings_query *query = &histogram_read->query;
    struct histogram *out = histogram_read->out;
    struct item *keys = ARENA_ARRAY(query->arena, struct item, out->count);
    struct rank_reply *places = ARENA_ARRAY(query->arena, struct rank_reply, out->count);
    struct bytes least = points_least();
    for (size_t i = 0; i < out->count; i++) {
        struct ranked_entry edge = {BYTES("\0"), {out->edges[i], least}, least};
        keys[i] = standings_index_key(query, &edge);
    }
    struct rank_question question = {.keys = keys, .count = out->count, .as_if = true};
    enum status status = standings_index_ranks(query, &question, places);
    if (status != OK)
        return status;
    out->total = places[0].before + places[0].after + places[0].found;
    for (size_t i = 0; i < out->count; i++) {
        uint64_t until = i + 1 < out->count ? places[i + 1].before : out->total;
        out->counts[i] = until - places[i].before;
    }
    return OK;
}

static enum status histogram_once(void *context) {
    struct histogram_read *histogram_read = context;
    const struct standings_query *query = &histogram_read->query;
    struct histogram *out = histogram_read->out;
    *out = (struct histogram){0};
    if (standings_query_is_empty(query))
        return OK;
    enum status status = read_end(query, false, &out->low);
    if (status == OK)
        status = read_end(query, true, &out->high);
    if (status != OK || out->low.size == 0 || out->high.size == 0)
        return status;
    set_edges(histogram_read);
    return count_between(histogram_read);
}

enum status standings_histogram(const struct standings_query *query, unsigned buckets,
                                struct histogram *out) {
    struct histogram_read histogram_read = {*query, buckets, out};
    if (buckets < 1 || buckets > HISTOGRAM_MAX)
        return failure_set(query->failure, query->arena, INVALID, "A histogram has 1 to %d steps",
                           HISTOGRAM_MAX);
    return standings_query_retry(query, histogram_once, &histogram_read);
}

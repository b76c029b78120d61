/* What a board tells as a whole: the rank of a score, percentiles, its histogram, its periods. */
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"

enum { BUCKETS = 20, PERIODS_LIMIT = 25, FIRST = 10 };

static struct standings_query query_of(struct rest_call *call) {
    return (struct standings_query){call->game, call->board, call->arena, &call->failure};
}

enum status rest_board_rank(struct rest_call *call) {
    struct points points = {rest_query_number(call, "score"), rest_query_number(call, "subscore")};
    uint64_t rank, total;
    bool sub = points.subscore.size != 0;
    if (!sub)
        points.subscore = points_zero();
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    struct standings_query query = query_of(call);
    status = standings_rank_for_points(&query, &points, &rank, &total);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_board(call, call->board);
    rest_put_number(call, "score", points.score);
    if (sub)
        rest_put_number(call, "subscore", points.subscore);
    rest_put_uint(call->reply, "rank", rank);
    rest_put_uint(call->reply, "total", total);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_board_percentile(struct rest_call *call) {
    struct bytes number;
    struct standing standing;
    if (number_read(call->arena, call->path[1], &number) != NUMBER_OK)
        return rest_invalid(call, "percentile", "percentile must be a number");
    double percentile = number_to_double(number);
    if (!(percentile >= 0 && percentile <= 100))
        return rest_invalid(call, "percentile", "percentile must be from 0 to 100");
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    struct standings_query query = query_of(call);
    status = standings_percentile(&query, percentile, &standing);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "nobody is on this board");
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_board(call, call->board);
    rest_put_name(call->reply, "percentile");
    json_put_double(call->reply, percentile);
    rest_put_name(call->reply, "entry");
    buf_byte(call->reply, '{');
    rest_put_standing(call, call->board, &standing);
    buf_lit(call->reply, "}}");
    return OK;
}

enum status rest_board_histogram(struct rest_call *call) {
    struct histogram histogram;
    struct buf *to = call->reply;
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    struct standings_query query = query_of(call);
    status = standings_histogram(&query, (unsigned)rest_query_count(call, "buckets", BUCKETS),
                                 &histogram);
    if (status != OK)
        return status;
    buf_byte(to, '{');
    rest_put_board(call, call->board);
    rest_put_uint(to, "total", histogram.total);
    rest_put_name(to, "buckets");
    buf_byte(to, '[');
    for (size_t i = 0; i < histogram.count; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_number(call, "from", histogram.edges[i]);
        rest_put_number(call, "to", histogram.edges[i + 1]);
        rest_put_uint(to, "count", histogram.counts[i]);
        buf_byte(to, '}');
    }
    buf_lit(to, "]}");
    return OK;
}

/* --- periods --- */

/* What is told of a sealed period is what stands there: nothing can have changed since. */
static enum status put_period(struct rest_call *call, struct bytes instance) {
    const struct board *board;
    struct standings first;
    enum status status =
        board_find(call->game, instance, (struct scope){call->arena, &call->failure}, &board);
    if (status != OK) {
        bool skips = board_walk_skips(call->game, instance, status, &call->failure);
        return skips ? OK : status;
    }
    struct standings_request request = {.board = board, .from = 1, .limit = FIRST};
    status =
        standings_page(call->game, &request, (struct scope){call->arena, &call->failure}, &first);
    struct buf *to = call->reply;
    if (status == OK) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_board(call, board);
        rest_put_time_if(to, "sealedAt", board->sealed_ms);
        rest_put_uint(to, "total", first.total);
        rest_put_name(to, "first");
        buf_byte(to, '[');
        for (size_t i = 0; i < first.count; i++) {
            rest_put_comma(to);
            buf_byte(to, '{');
            rest_put_standing(call, board, &first.rows[i]);
            buf_byte(to, '}');
        }
        buf_lit(to, "]}");
    }
    board_drop(board);
    return status;
}

enum status rest_board_periods(struct rest_call *call) {
    struct bytes after;
    struct instance_list list;
    size_t limit = cursor_limit(call, PERIODS_LIMIT);
    enum status status = cursor_name(call, &after);
    if (status == OK)
        status = board_instances(call->game, &(struct list_range){call->path[0], after, limit + 1},
                                 (struct scope){call->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"periods\":[");
    for (size_t i = 0; i < list.count && i < limit && status == OK; i++)
        status = put_period(call, list.names[i]);
    buf_byte(call->reply, ']');
    if (list.count > limit)
        cursor_next(call, list.names[limit - 1]);
    buf_byte(call->reply, '}');
    return status;
}

/* --- sealing --- */

static void seal_work(struct rest_call *call) {
    bool sealed;
    struct scope in = {call->arena, &call->failure};
    call->worked = board_seal(call->game, call->board, in, &sealed);
    if (call->worked != OK || sealed)
        return;
    call->status = 409;
    call->worked = failure_set(in.failure, in.arena, INVALID,
                               "Board %.*s has no scores yet, or has just ended: there is nothing "
                               "to seal",
                               BYTES_ARG(call->board->instance));
}

static enum status answer_sealed(struct rest_call *call) {
    return call->worked;
}

enum status rest_board_seal(struct rest_call *call) {
    enum status status = rest_board(call);
    if (status == OK && call->board->period.name.size == 0)
        return rest_fail(call, INVALID,
                         "This board has no periods, so that nothing would come after it: clear it "
                         "instead");
    if (status == OK)
        status = rest_open(call);
    return status == OK ? rest_background(call, seal_work, answer_sealed) : status;
}

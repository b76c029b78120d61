/* What a board tells as a whole: the rank of a score, percentiles, its histogram, its periods. */
#include "api/rest/cursor.h"
#include "api/rest/handlers.h"
#include "api/rest/out.h"

enum { BUCKETS = 20, PERIODS_LIMIT = 25, FIRST = 10 };

enum status rest_board_rank(struct rest_call *call) {
    struct points points = {rest_query_number(call, "score"), rest_query_number(call, "subscore")};
    uint64_t rank, total;
    bool sub = points.subscore.size != 0;
    if (!sub)
        points.subscore = points_zero();
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    status =
        standings_if(call->game, call->board, &points, call->arena, &call->failure, &rank, &total);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    out_board(call, call->board);
    out_number(call, "score", points.score);
    if (sub)
        out_number(call, "subscore", points.subscore);
    out_uint(call->reply, "rank", rank);
    out_uint(call->reply, "total", total);
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
    status = standings_percentile(call->game, call->board, percentile, call->arena, &call->failure,
                                  &standing);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "nobody is on this board");
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    out_board(call, call->board);
    out_name(call->reply, "percentile");
    json_put_double(call->reply, percentile);
    out_name(call->reply, "entry");
    buf_byte(call->reply, '{');
    out_standing(call, call->board, &standing);
    buf_lit(call->reply, "}}");
    return OK;
}

enum status rest_board_histogram(struct rest_call *call) {
    struct histogram histogram;
    struct buf *to = call->reply;
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    status = standings_histogram(call->game, call->board,
                                 (unsigned)rest_query_count(call, "buckets", BUCKETS), call->arena,
                                 &call->failure, &histogram);
    if (status != OK)
        return status;
    buf_byte(to, '{');
    out_board(call, call->board);
    out_uint(to, "total", histogram.total);
    out_name(to, "buckets");
    buf_byte(to, '[');
    for (size_t i = 0; i < histogram.count; i++) {
        out_next(to);
        buf_byte(to, '{');
        out_number(call, "from", histogram.edges[i]);
        out_number(call, "to", histogram.edges[i + 1]);
        out_uint(to, "count", histogram.counts[i]);
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
    enum status status = board_find(call->game, instance, call->arena, &call->failure, &board);
    if (status != OK)
        return status;
    struct standings_request request = {.board = board, .from = 1, .limit = FIRST};
    status = standings_page(call->game, &request, call->arena, &call->failure, &first);
    struct buf *to = call->reply;
    if (status == OK) {
        out_next(to);
        buf_byte(to, '{');
        out_board(call, board);
        out_time_if(to, "sealedAt", board->sealed_ms);
        out_uint(to, "total", first.total);
        out_name(to, "first");
        buf_byte(to, '[');
        for (size_t i = 0; i < first.count; i++) {
            out_next(to);
            buf_byte(to, '{');
            out_standing(call, board, &first.rows[i]);
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
        status = board_instances(call->game, call->path[0], after, limit + 1, call->arena,
                                 &call->failure, &list);
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

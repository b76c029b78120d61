/* Instances of boards as a list: what has entries, with or without a definition. */
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "base/limits.h"

enum { INSTANCES_USUAL = 100 };

/* The list in the making. */
struct instances {
    size_t limit, count;
    bool plain, defined; /* which of them are wanted */
    struct bytes last;   /* the name that was looked at last */
    bool more;
};

static void put_instance(struct rest_call *call, const struct board *board, uint64_t total) {
    struct buf *to = call->reply;
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_board(call, board);
    rest_put_encoded_if(to, "instanceEncoded", board->instance);
    rest_put_bool(to, "plain", board->rules.plain);
    rest_put_uint(to, "total", total);
    buf_byte(to, '}');
}

/* A plain board without entries is none, nor is one that is being cleared. */
static enum status add_board(struct rest_call *call, struct instances *list,
                             const struct board *board) {
    uint64_t total;
    if (board_is_gone(board, clock_now_ms()) || !(board->rules.plain ? list->plain : list->defined))
        return OK;
    enum status status =
        standings_total(call->game, board, (struct scope){call->arena, &call->failure}, &total);
    if (status != OK || (total == 0 && board->rules.plain))
        return status;
    put_instance(call, board, total);
    list->count++;
    return OK;
}

/* One whose definition has become another is passed over. */
static enum status add_instance(struct rest_call *call, struct instances *list,
                                struct bytes instance) {
    const struct board *board;
    enum status status =
        board_find(call->game, instance, (struct scope){call->arena, &call->failure}, &board);
    if (status == INVALID || status == NOT_FOUND) {
        call->failure = (struct failure){0};
        return OK;
    }
    if (status != OK)
        return status;
    status = add_board(call, list, board);
    board_drop(board);
    return status;
}

static enum status add_page(struct rest_call *call, struct instances *list) {
    struct instance_list page;
    struct list_range range = {.after = list->last, .limit = list->limit};
    enum status status =
        board_instances(call->game, &range, (struct scope){call->arena, &call->failure}, &page);
    list->more = status == OK && page.more;
    for (size_t i = 0; status == OK && i < page.count; i++) {
        if (list->count == list->limit) {
            list->more = true;
            break;
        }
        status = add_instance(call, list, page.names[i]);
        list->last = page.names[i];
    }
    return status;
}

enum status rest_instances_list(struct rest_call *call) {
    struct bytes wanted = rest_query(call, "plain");
    struct instances list = {.limit = (size_t)rest_query_count(call, "limit", INSTANCES_USUAL),
                             .plain = !bytes_equal(wanted, BYTES("false")),
                             .defined = !bytes_equal(wanted, BYTES("true"))};
    size_t looked = 0;
    enum status status = cursor_name(call, &list.last);
    buf_lit(call->reply, "{\"instances\":[");
    for (list.more = true;
         status == OK && list.more && list.count < list.limit && looked < LIMIT_INSTANCES_LOOKED_AT;
         looked += list.limit)
        status = add_page(call, &list);
    if (status != OK)
        return status;
    buf_byte(call->reply, ']');
    if (list.more)
        cursor_next(call, list.last);
    buf_byte(call->reply, '}');
    return OK;
}

#include "api/rest/out.h"

#include "api/rest/moment.h"
#include "base/utf8.h"

void out_next(struct buf *to) {
    uint8_t last = to->size == 0 ? '[' : to->data[to->size - 1];
    if (last != '{' && last != '[')
        buf_byte(to, ',');
}

void out_name(struct buf *to, const char *name) {
    out_next(to);
    buf_byte(to, '"');
    buf_put(to, bytes_str(name));
    buf_lit(to, "\":");
}

void out_text(struct buf *to, const char *name, struct bytes text) {
    out_name(to, name);
    json_put_string(to, text);
}

void out_text_if(struct buf *to, const char *name, struct bytes text) {
    if (text.size != 0)
        out_text(to, name, text);
}

void out_word(struct buf *to, const char *name, const char *text) {
    out_text(to, name, bytes_str(text));
}

void out_int(struct buf *to, const char *name, int64_t number) {
    out_name(to, name);
    json_put_int(to, number);
}

void out_uint(struct buf *to, const char *name, uint64_t number) {
    out_int(to, name, (int64_t)number);
}

void out_flag(struct buf *to, const char *name, bool truth) {
    out_name(to, name);
    buf_put(to, truth ? BYTES("true") : BYTES("false"));
}

void out_time(struct buf *to, const char *name, int64_t ms) {
    out_name(to, name);
    moment_put(to, ms);
}

void out_time_if(struct buf *to, const char *name, int64_t ms) {
    if (ms != 0)
        out_time(to, name, ms);
}

/* --- numbers and values --- */

void out_number_value(struct rest_call *call, struct bytes number) {
    if (call->texts)
        buf_byte(call->reply, '"');
    number_write(call->reply, number);
    if (call->texts)
        buf_byte(call->reply, '"');
}

void out_number(struct rest_call *call, const char *name, struct bytes number) {
    out_name(call->reply, name);
    out_number_value(call, number);
}

static void out_elements(struct buf *to, const struct value *list) {
    buf_byte(to, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        out_next(to);
        out_value(to, &list->elements[i]);
    }
    buf_byte(to, ']');
}

static void out_pairs(struct buf *to, const struct value *map) {
    buf_byte(to, '{');
    for (uint32_t i = 0; i < map->count; i++) {
        out_next(to);
        json_put_string(to, map->pairs[i].name);
        buf_byte(to, ':');
        out_value(to, &map->pairs[i].value);
    }
    buf_byte(to, '}');
}

void out_value(struct buf *to, const struct value *value) {
    switch (value->type) {
    case VALUE_S:
        json_put_string(to, value->bytes);
        break;
    case VALUE_N: /* the client's own, told as it came */
        number_write(to, value->bytes);
        break;
    case VALUE_B:
        buf_byte(to, '"');
        base64_put(to, value->bytes);
        buf_byte(to, '"');
        break;
    case VALUE_BOOL:
        buf_put(to, value->count != 0 ? BYTES("true") : BYTES("false"));
        break;
    case VALUE_M:
        out_pairs(to, value);
        break;
    case VALUE_L:
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        out_elements(to, value);
        break;
    default:
        buf_lit(to, "null");
    }
}

void out_meta(struct rest_call *call, const char *name, const struct value *meta) {
    if (meta == NULL)
        return;
    out_name(call->reply, name);
    out_value(call->reply, meta);
}

/* --- boards and entries --- */

void out_board(struct rest_call *call, const struct board *board) {
    struct buf *to = call->reply;
    out_text(to, "board", board->rules.id.size != 0 ? board->rules.id : board->instance);
    out_text(to, "instance", board->instance);
    out_text_if(to, "scope", board->scope);
    if (board->period.name.size != 0) {
        out_text(to, "period", board->period.name);
        out_time(to, "starts", board->period.starts_ms);
        out_time(to, "ends", board->period.ends_ms);
    }
    out_flag(to, "sealed", board->sealed_ms != 0);
}

void out_member(struct buf *to, struct bytes member) {
    static const char digits[] = "0123456789ABCDEF";
    out_text(to, "member", member);
    if (utf8_valid(member))
        return;
    out_name(to, "memberEncoded");
    buf_byte(to, '"');
    for (size_t i = 0; i < member.size; i++) {
        buf_byte(to, '%');
        buf_byte(to, (uint8_t)digits[member.data[i] >> 4]);
        buf_byte(to, (uint8_t)digits[member.data[i] & 15]);
    }
    buf_byte(to, '"');
}

void out_standing(struct rest_call *call, const struct board *board,
                  const struct standing *standing) {
    const struct entry *entry = &standing->entry;
    struct buf *to = call->reply;
    out_member(to, entry->member);
    out_uint(to, "rank", standing->rank);
    out_uint(to, "position", standing->position);
    out_number(call, "score", entry->points.score);
    if (board->rules.subscores)
        out_number(call, "subscore", entry->points.subscore);
    out_name(to, "percentile");
    json_put_double(to, standing->percentile);
    out_text_if(to, "name", entry->name);
    out_time_if(to, "at", entry->at_ms);
    if (entry->plays != 0)
        out_int(to, "plays", entry->plays);
    if (entry->hidden)
        out_flag(to, "hidden", true);
    out_meta(call, "meta", entry->meta);
}

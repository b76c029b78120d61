#include "api/rest/rest_json.h"

#include "api/rest/rfc3339.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"

void rest_put_comma(struct buf *to) {
    uint8_t last = to->size == 0 ? '[' : to->data[to->size - 1];
    if (last != '{' && last != '[')
        buf_byte(to, ',');
}

void rest_put_name(struct buf *to, const char *name) {
    rest_put_comma(to);
    buf_byte(to, '"');
    buf_put(to, bytes_str(name));
    buf_lit(to, "\":");
}

void rest_put_text(struct buf *to, const char *name, struct bytes text) {
    rest_put_name(to, name);
    json_put_string(to, text);
}

void rest_put_text_if(struct buf *to, const char *name, struct bytes text) {
    if (text.size != 0)
        rest_put_text(to, name, text);
}

void rest_put_str(struct buf *to, const char *name, const char *text) {
    rest_put_text(to, name, bytes_str(text));
}

void rest_put_int(struct buf *to, const char *name, int64_t number) {
    rest_put_name(to, name);
    json_put_int(to, number);
}

void rest_put_uint(struct buf *to, const char *name, uint64_t number) {
    rest_put_int(to, name, (int64_t)number);
}

void rest_put_bool(struct buf *to, const char *name, bool truth) {
    rest_put_name(to, name);
    buf_put(to, truth ? BYTES("true") : BYTES("false"));
}

void rest_put_time(struct buf *to, const char *name, int64_t ms) {
    rest_put_name(to, name);
    rfc3339_put(to, ms);
}

void rest_put_time_if(struct buf *to, const char *name, int64_t ms) {
    if (ms != 0)
        rest_put_time(to, name, ms);
}

/* --- numbers and values --- */

void rest_put_number_value(struct rest_call *call, struct bytes number) {
    if (call->texts)
        buf_byte(call->reply, '"');
    number_write(call->reply, number);
    if (call->texts)
        buf_byte(call->reply, '"');
}

void rest_put_number(struct rest_call *call, const char *name, struct bytes number) {
    rest_put_name(call->reply, name);
    rest_put_number_value(call, number);
}

static void out_elements(struct buf *to, const struct value *list) {
    buf_byte(to, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        rest_put_comma(to);
        rest_put_value(to, &list->elements[i]);
    }
    buf_byte(to, ']');
}

static void out_pairs(struct buf *to, const struct value *map) {
    buf_byte(to, '{');
    for (uint32_t i = 0; i < map->count; i++) {
        rest_put_comma(to);
        json_put_string(to, map->pairs[i].name);
        buf_byte(to, ':');
        rest_put_value(to, &map->pairs[i].value);
    }
    buf_byte(to, '}');
}

void rest_put_value(struct buf *to, const struct value *value) {
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

void rest_put_meta(struct rest_call *call, const char *name, const struct value *meta) {
    if (meta == NULL)
        return;
    rest_put_name(call->reply, name);
    rest_put_value(call->reply, meta);
}

/* --- boards and entries --- */

void rest_put_board(struct rest_call *call, const struct board *board) {
    struct buf *to = call->reply;
    rest_put_text(to, "board", board->rules.id.size != 0 ? board->rules.id : board->instance);
    rest_put_text(to, "instance", board->instance);
    rest_put_text_if(to, "scope", board->scope);
    if (board->period.name.size != 0) {
        rest_put_text(to, "period", board->period.name);
        rest_put_time(to, "starts", board->period.starts_ms);
        rest_put_time(to, "ends", board->period.ends_ms);
    }
    rest_put_bool(to, "sealed", board_is_sealed(board, clock_now_ms()));
}

void rest_put_encoded_if(struct buf *to, const char *name, struct bytes bytes) {
    static const char digits[] = "0123456789ABCDEF";
    if (utf8_valid(bytes))
        return;
    rest_put_name(to, name);
    buf_byte(to, '"');
    for (size_t i = 0; i < bytes.size; i++) {
        buf_byte(to, '%');
        buf_byte(to, (uint8_t)digits[bytes.data[i] >> 4]);
        buf_byte(to, (uint8_t)digits[bytes.data[i] & 15]);
    }
    buf_byte(to, '"');
}

void rest_put_member(struct buf *to, struct bytes member) {
    rest_put_text(to, "member", member);
    rest_put_encoded_if(to, "memberEncoded", member);
}

void rest_put_standing(struct rest_call *call, const struct board *board,
                       const struct standing *standing) {
    const struct entry *entry = &standing->entry;
    struct buf *to = call->reply;
    rest_put_member(to, entry->member);
    if (standing->rank != 0) {
        rest_put_uint(to, "rank", standing->rank);
        rest_put_uint(to, "position", standing->position);
    }
    rest_put_number(call, "score", entry->points.score);
    if (board->rules.subscores)
        rest_put_number(call, "subscore", entry->points.subscore);
    if (standing->rank != 0) {
        rest_put_name(to, "percentile");
        json_put_double(to, standing->percentile);
    }
    rest_put_text_if(to, "name", entry->name);
    rest_put_time_if(to, "at", entry->at_ms);
    rest_put_time_if(to, "ends", entry->ends_ms);
    if (entry->plays != 0)
        rest_put_int(to, "plays", entry->plays);
    if (entry->hidden)
        rest_put_bool(to, "hidden", true);
    rest_put_meta(call, "meta", entry->meta);
}

/* --- reading --- */

/* Plain JSON to the values of a table: what clients keep beside a score. */

struct reading {
    struct arena *arena;
    struct failure *failure;
};

static enum status read_any(const struct reading *reading, const struct json *from, unsigned depth,
                            struct value *out);

static enum status read_number(const struct reading *reading, struct bytes text,
                               struct value *out) {
    out->type = VALUE_N;
    if (number_read(reading->arena, text, &out->bytes) == NUMBER_OK)
        return OK;
    return failure_set(reading->failure, reading->arena, INVALID,
                       "%.*s is no number that can be kept: 38 digits, under 1e126",
                       BYTES_ARG(text));
}

static enum status read_list(const struct reading *reading, const struct json *from, unsigned depth,
                             struct value *out) {
    struct value *elements = ARENA_ARRAY(reading->arena, struct value, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        enum status status = read_any(reading, &from->elements[i], depth + 1, &elements[i]);
        if (status != OK)
            return status;
    }
    *out = (struct value){.type = VALUE_L, .count = from->count, .elements = elements};
    return OK;
}

static enum status read_map(const struct reading *reading, const struct json *from, unsigned depth,
                            struct value *out) {
    struct pair *pairs = ARENA_ARRAY(reading->arena, struct pair, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        pairs[i].name = from->members[i].name;
        if (pairs[i].name.size == 0 || pairs[i].name.size > LIMIT_ATTRIBUTE_NAME_SIZE)
            return failure_set(reading->failure, reading->arena, INVALID,
                               "a member's name must have 1 to %d bytes",
                               LIMIT_ATTRIBUTE_NAME_SIZE);
        enum status status = read_any(reading, &from->members[i].value, depth + 1, &pairs[i].value);
        if (status != OK)
            return status;
    }
    uint32_t count = value_sort_pairs(pairs, from->count);
    *out = (struct value){.type = VALUE_M, .count = count, .pairs = pairs};
    return OK;
}

static enum status read_any(const struct reading *reading, const struct json *from, unsigned depth,
                            struct value *out) {
    *out = (struct value){0};
    if (depth >= LIMIT_NESTING - 1) /* an item is a map around it */
        return failure_set(reading->failure, reading->arena, INVALID,
                           "it is nested deeper than %d levels", LIMIT_NESTING - 2);
    switch (from->type) {
    case JSON_STRING:
        *out = value_string(from->text);
        return OK;
    case JSON_NUMBER:
        return read_number(reading, from->text, out);
    case JSON_TRUE:
    case JSON_FALSE:
        *out = value_bool(from->type == JSON_TRUE);
        return OK;
    case JSON_ARRAY:
        return read_list(reading, from, depth, out);
    case JSON_OBJECT:
        return read_map(reading, from, depth, out);
    default:
        out->type = VALUE_NULL;
        return OK;
    }
}

enum status rest_value_read(const struct json *from, struct scope in, struct value *out) {
    struct reading reading = {in.arena, in.failure};
    return read_any(&reading, from, 0, out);
}

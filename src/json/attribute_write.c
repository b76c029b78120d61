#include "json/attribute.h"

#include "base/base64.h"
#include "value/number.h"
#include "json/scan.h"

/* What stands before a string and behind it. The size is that of `before`. */
struct frame {
    char before[8], after[2];
    size_t size;
};

/* Appends the text in its frame, in one go. False, with nothing appended, if the text has anything
 * to escape: most names and strings of a game have not. */
static inline bool write_plain(struct buf *to, const struct frame *frame, struct bytes text) {
    uint8_t *out = buf_reserve(to, sizeof(frame->before) + text.size + 2);
    memcpy(out, frame->before, sizeof(frame->before));
    out += frame->size;
    if (scan_copy(out, text.data, text.size) != text.size)
        return false;
    memcpy(out + text.size, frame->after, 2);
    to->size += frame->size + text.size + 2;
    return true;
}

/* Appends a name of a map or an item, behind the bracket or a comma. */
static inline void write_name(struct buf *to, bool first, struct bytes name) {
    static const struct frame frames[] = {{",\"", "\":", 2}, {"{\"", "\":", 2}};
    if (write_plain(to, &frames[first], name))
        return;
    buf_byte(to, first ? '{' : ',');
    json_put_string(to, name);
    buf_byte(to, ':');
}

static inline void write_string_attribute(struct buf *to, struct bytes text) {
    static const struct frame frame = {"{\"S\":\"", "\"}", 6};
    if (write_plain(to, &frame, text))
        return;
    buf_lit(to, "{\"S\":");
    json_put_string(to, text);
    buf_byte(to, '}');
}

static inline void write_number_attribute(struct buf *to, struct bytes number) {
    uint8_t *out = buf_reserve(to, NUMBER_MAX_TEXT + 8);
    memcpy(out, "{\"N\":\"", 6);
    out += 6;
    out += number_text(number, (char *)out);
    memcpy(out, "\"}", 2);
    to->size = (size_t)(out + 2 - to->data);
}

static void write_number(struct buf *to, struct bytes number) {
    uint8_t *out = buf_reserve(to, NUMBER_MAX_TEXT + 2);
    *out++ = '"';
    out += number_text(number, (char *)out);
    *out++ = '"';
    to->size = (size_t)(out - to->data);
}

static void write_binary(struct buf *to, struct bytes bytes) {
    buf_byte(to, '"');
    base64_put(to, bytes);
    buf_byte(to, '"');
}

static void write_scalar(struct buf *to, enum value_type type, struct bytes bytes) {
    if (type == VALUE_S)
        json_put_string(to, bytes);
    else if (type == VALUE_N)
        write_number(to, bytes);
    else
        write_binary(to, bytes);
}

static void write_elements(struct buf *to, const struct value *value) {
    for (uint32_t i = 0; i < value->count; i++) {
        const struct value *element = &value->elements[i];
        buf_byte(to, i == 0 ? '[' : ',');
        if (value->type == VALUE_L)
            attribute_write(to, element);
        else
            write_scalar(to, element->type, element->bytes);
    }
    if (value->count == 0)
        buf_byte(to, '[');
    buf_byte(to, ']');
}

static void write_pairs(struct buf *to, const struct pair *pairs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        write_name(to, i == 0, pairs[i].name);
        attribute_write(to, &pairs[i].value);
    }
    if (count == 0)
        buf_byte(to, '{');
    buf_byte(to, '}');
}

void attribute_write(struct buf *to, const struct value *value) {
    switch (value->type) {
    case VALUE_S:
        write_string_attribute(to, value->bytes);
        return;
    case VALUE_N:
        write_number_attribute(to, value->bytes);
        return;
    case VALUE_B:
        buf_lit(to, "{\"B\":");
        write_binary(to, value->bytes);
        break;
    case VALUE_SS:
        buf_lit(to, "{\"SS\":");
        write_elements(to, value);
        break;
    case VALUE_NS:
        buf_lit(to, "{\"NS\":");
        write_elements(to, value);
        break;
    case VALUE_BS:
        buf_lit(to, "{\"BS\":");
        write_elements(to, value);
        break;
    case VALUE_L:
        buf_lit(to, "{\"L\":");
        write_elements(to, value);
        break;
    case VALUE_M:
        buf_lit(to, "{\"M\":");
        write_pairs(to, value->pairs, value->count);
        break;
    case VALUE_BOOL:
        if (value->count != 0)
            buf_lit(to, "{\"BOOL\":true");
        else
            buf_lit(to, "{\"BOOL\":false");
        break;
    case VALUE_NULL:
        buf_lit(to, "{\"NULL\":true");
        break;
    case VALUE_NONE:
        buf_byte(to, '{');
        break;
    }
    buf_byte(to, '}');
}

void attribute_write_item(struct buf *to, const struct item *item) {
    write_pairs(to, item->pairs, item->count);
}

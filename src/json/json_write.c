#include "json/json.h"

#include "json/scan.h"

#include <math.h>
#include <stdio.h>

/* ---- strings ---- */

static void put_escape(struct buf *to, uint8_t byte) {
    static const char hex[] = "0123456789abcdef";
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    uint8_t *out = buf_reserve(to, 6);
    *out++ = '\\';
    if (byte >= 0x20)
        *out++ = byte;
    else if (letters[byte] != 0)
        *out++ = (uint8_t)letters[byte];
    else {
        memcpy(out, "u00", 3);
        out[3] = (uint8_t)hex[byte >> 4];
        out[4] = (uint8_t)hex[byte & 15];
        out += 5;
    }
    to->size = (size_t)(out - to->data);
}

/* The first byte from `at` on that cannot be written as it is, or `end`. */
static const uint8_t *writable_run(const uint8_t *at, const uint8_t *end) {
    for (;;) {
        at = scan_plain(at, end);
        size_t size = at < end && *at >= 0x80 ? utf8_span(at, end) : 0;
        if (size == 0)
            return at;
        at += size;
    }
}

/* What is left of a string from its first byte that is not plain ASCII, and the closing quote. */
static void put_rest(struct buf *to, const uint8_t *at, const uint8_t *end) {
    for (;;) {
        const uint8_t *stop = writable_run(at, end);
        buf_append(to, at, (size_t)(stop - at));
        if (stop == end)
            break;
        if (*stop < 0x80)
            put_escape(to, *stop);
        else
            buf_lit(to, "\xef\xbf\xbd");
        at = stop + 1;
    }
    buf_byte(to, '"');
}

void json_put_string(struct buf *to, struct bytes text) {
    uint8_t *out = buf_reserve(to, text.size + 2);
    *out++ = '"';
    size_t run = scan_copy(out, text.data, text.size);
    if (run == text.size) {
        out[run] = '"';
        to->size += run + 2;
        return;
    }
    to->size += run + 1;
    put_rest(to, text.data + run, text.data + text.size);
}

/* ---- numbers ---- */

void json_put_int(struct buf *to, int64_t number) {
    char digits[20];
    size_t at = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0)
        digits[--at] = '-';
    buf_append(to, digits + at, sizeof(digits) - at);
}

void json_put_double(struct buf *to, double number) {
    if (!isfinite(number)) {
        buf_lit(to, "null");
        return;
    }
    size_t start = to->size;
    buf_printf(to, "%.6f", number);
    while (to->data[to->size - 1] == '0')
        to->size--;
    if (to->data[to->size - 1] == '.')
        to->size--;
    if (to->size - start == 2 && memcmp(to->data + start, "-0", 2) == 0) {
        to->data[start] = '0';
        to->size--;
    }
}

static void put_elements(struct buf *to, const struct json *json) {
    bool object = json->type == JSON_OBJECT;
    buf_byte(to, object ? '{' : '[');
    for (uint32_t i = 0; i < json->count; i++) {
        if (i != 0)
            buf_byte(to, ',');
        if (object) {
            json_put_string(to, json->members[i].name);
            buf_byte(to, ':');
        }
        json_put(to, object ? &json->members[i].value : &json->elements[i]);
    }
    buf_byte(to, object ? '}' : ']');
}

void json_put(struct buf *to, const struct json *json) {
    switch (json->type) {
    case JSON_NULL:
        buf_lit(to, "null");
        break;
    case JSON_FALSE:
        buf_lit(to, "false");
        break;
    case JSON_TRUE:
        buf_lit(to, "true");
        break;
    case JSON_NUMBER:
        buf_put(to, json->text);
        break;
    case JSON_STRING:
        json_put_string(to, json->text);
        break;
    default:
        put_elements(to, json);
    }
}

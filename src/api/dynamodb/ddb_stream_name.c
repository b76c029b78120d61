#include "api/dynamodb/ddb_stream_name.h"

#include "base/hash.h"

#include <inttypes.h>
#include <time.h>

enum { SEQUENCE_DIGITS = 20, PLACE_SIZE = 1 + 8 + 8 + 4 };

/* --- labels --- */

struct bytes stream_name_label(struct arena *arena, int64_t label_ms) {
    time_t seconds = (time_t)(label_ms / 1000);
    struct tm day;
    char text[32];
    gmtime_r(&seconds, &day);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &day);
    return arena_printf(arena, "%s.%03d", text, (int)(label_ms % 1000));
}

/* The number of `digits` digits at the front. */
static bool take_number(struct bytes *text, size_t digits, int *out) {
    if (text->size < digits)
        return false;
    *out = 0;
    for (size_t i = 0; i < digits; i++) {
        if (text->data[i] < '0' || text->data[i] > '9')
            return false;
        *out = *out * 10 + (text->data[i] - '0');
    }
    *text = bytes_skip(*text, digits);
    return true;
}

static bool take_mark(struct bytes *text, char mark) {
    if (text->size == 0 || text->data[0] != (uint8_t)mark)
        return false;
    *text = bytes_skip(*text, 1);
    return true;
}

static bool read_label(struct bytes text, int64_t *label_ms) {
    struct tm day = {0};
    int ms;
    if (!take_number(&text, 4, &day.tm_year) || !take_mark(&text, '-') ||
        !take_number(&text, 2, &day.tm_mon) || !take_mark(&text, '-') ||
        !take_number(&text, 2, &day.tm_mday) || !take_mark(&text, 'T') ||
        !take_number(&text, 2, &day.tm_hour) || !take_mark(&text, ':') ||
        !take_number(&text, 2, &day.tm_min) || !take_mark(&text, ':') ||
        !take_number(&text, 2, &day.tm_sec) || !take_mark(&text, '.') ||
        !take_number(&text, 3, &ms) || text.size != 0)
        return false;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    *label_ms = (int64_t)timegm(&day) * 1000 + ms;
    return true;
}

const char *stream_name_view(enum stream_view view) {
    static const char *const views[] = {[STREAM_OFF] = "",
                                        [STREAM_KEYS] = "KEYS_ONLY",
                                        [STREAM_NEW] = "NEW_IMAGE",
                                        [STREAM_OLD] = "OLD_IMAGE",
                                        [STREAM_BOTH] = "NEW_AND_OLD_IMAGES"};
    return views[view];
}

/* --- ARNs --- */

static void put_arn(const struct call *call, struct buf *to, struct bytes table, int64_t label_ms) {
    call_put_arn(call, to, table);
    buf_lit(to, "/stream/");
    buf_put(to, stream_name_label(call->arena, label_ms));
}

void stream_name_put_arn(const struct call *call, struct buf *to, struct bytes table,
                         int64_t label_ms) {
    buf_byte(to, '"');
    put_arn(call, to, table, label_ms);
    buf_byte(to, '"');
}

bool stream_name_read_arn(struct bytes arn, struct bytes *table, int64_t *label_ms) {
    if (!bytes_starts(arn, BYTES("arn:")))
        return false;
    for (int i = 0; i < 5; i++) { /* arn:partition:service:region:account: */
        size_t colon = bytes_find(arn, BYTES(":"));
        if (colon == SIZE_MAX)
            return false;
        arn = bytes_skip(arn, colon + 1);
    }
    if (!bytes_starts(arn, BYTES("table/")))
        return false;
    arn = bytes_skip(arn, 6);
    size_t at = bytes_find(arn, BYTES("/stream/"));
    if (at == SIZE_MAX || at == 0)
        return false;
    *table = bytes_of(arn.data, at);
    return read_label(bytes_skip(arn, at + 8), label_ms);
}

/* --- shards and numbers --- */

struct bytes stream_name_shard(struct arena *arena, const struct stream_info *stream,
                               unsigned shard) {
    uint32_t hash = (uint32_t)hash_stable(stream->table_id, (uint64_t)stream->label_ms);
    hash -= hash % STREAM_SHARDS_MAX;
    return arena_printf(arena, "shardId-%020" PRId64 "-%08" PRIx32, stream->label_ms, hash + shard);
}

void stream_name_put_sequence(struct buf *to, uint64_t sequence) {
    char text[SEQUENCE_DIGITS + 3];
    text[0] = '"';
    text[1] = '1';
    for (int i = SEQUENCE_DIGITS - 1; i >= 0; i--) {
        text[2 + i] = (char)('0' + sequence % 10);
        sequence /= 10;
    }
    text[SEQUENCE_DIGITS + 2] = '"';
    buf_append(to, text, sizeof text);
}

bool stream_name_read_sequence(struct bytes text, uint64_t *out) {
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    while (text.size > 0 && text.data[0] == '0')
        text = bytes_skip(text, 1);
    if (text.size <= SEQUENCE_DIGITS) {
        *out = 0;
        return true;
    }
    *out = UINT64_MAX;
    if (text.size > SEQUENCE_DIGITS + 1 || text.data[0] != '1')
        return true;
    uint64_t number = 0;
    for (size_t i = 1; i < text.size; i++)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text.data[i] - '0'), &number))
            return true;
    *out = number;
    return true;
}

/* --- iterators --- */

/* Not a secret, only a guard against what was cut short or mistyped. */
static uint32_t check_of(struct bytes table, int64_t label_ms, struct bytes place) {
    return (uint32_t)hash_stable(place, hash_stable(table, (uint64_t)label_ms));
}

void stream_name_put_iterator(const struct call *call, struct buf *to,
                              const struct stream_place *place) {
    struct buf bytes = {0};
    buf_byte(&bytes, (uint8_t)place->shard);
    buf_u64(&bytes, place->position);
    buf_u64(&bytes, (uint64_t)place->made_ms);
    buf_u32(&bytes, check_of(place->table, place->label_ms, buf_bytes(&bytes)));
    buf_byte(to, '"');
    put_arn(call, to, place->table, place->label_ms);
    buf_lit(to, "|1|");
    for (size_t i = 0; i < bytes.size; i++)
        buf_printf(to, "%02x", bytes.data[i]);
    buf_byte(to, '"');
    buf_release(&bytes);
}

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct bytes text, uint8_t *out) {
    for (size_t i = 0; i < text.size / 2; i++) {
        int high = hex_digit(text.data[2 * i]), low = hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

bool stream_name_read_iterator(struct bytes text, struct stream_place *out) {
    uint8_t room[PLACE_SIZE], shard;
    uint64_t made;
    uint32_t check;
    size_t bar = bytes_find(text, BYTES("|1|"));
    if (bar == SIZE_MAX ||
        !stream_name_read_arn(bytes_of(text.data, bar), &out->table, &out->label_ms))
        return false;
    text = bytes_skip(text, bar + 3);
    if (text.size != sizeof room * 2 || !read_hex(text, room))
        return false;
    struct bytes in = bytes_of(room, sizeof room);
    if (!take_u8(&in, &shard) || !take_u64(&in, &out->position) || !take_u64(&in, &made) ||
        !take_u32(&in, &check) || shard >= STREAM_SHARDS_MAX ||
        check != check_of(out->table, out->label_ms, bytes_of(room, sizeof room - 4)))
        return false;
    out->shard = shard;
    out->made_ms = (int64_t)made;
    return true;
}

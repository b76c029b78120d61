/* A zone's file: the format of the system's time zone files (TZif, RFC 9636).
 *
 *   "TZif" version:byte 15 bytes of nothing, six counts:u32
 *   (isut, isstd, leap, time, type, char)
 *   time * at:i32 (version 1) or i64       type of each change: time * byte
 *   type * {offset:i32 summer:byte name:byte}       char bytes of names
 *   leap * {at, correction:i32}            isstd bytes, isut bytes
 *
 * From version 2 on the same follows again with 64-bit times, then "\n" rule "\n". */
#include "base/buf.h"
#include "base/limits.h"
#include "game/board/time_zone.h"

enum { CHANGES_MAX = LIMIT_ZONE_CHANGES, TYPES_MAX = 256 };
/* Some files begin with the beginning of time, which is this long ago. */
#define TIME_MAX (INT64_C(1) << 60)

struct counts {
    uint8_t version;
    uint32_t isut, isstd, leap, time, type, chars;
    uint32_t time_size; /* bytes of a time: 4 in the first part of a file, 8 in the second */
};

static bool take_header(struct bytes *in, struct counts *out) {
    struct bytes magic, unused;
    return take_bytes(in, 4, &magic) && bytes_equal(magic, BYTES("TZif")) &&
           take_u8(in, &out->version) && take_bytes(in, 15, &unused) && take_u32(in, &out->isut) &&
           take_u32(in, &out->isstd) && take_u32(in, &out->leap) && take_u32(in, &out->time) &&
           take_u32(in, &out->type) && take_u32(in, &out->chars) && out->time <= CHANGES_MAX &&
           out->type >= 1 && out->type <= TYPES_MAX && out->chars <= ZONE_FILE_MAX &&
           out->leap <= ZONE_FILE_MAX && out->isut <= TYPES_MAX && out->isstd <= TYPES_MAX;
}

static size_t body_size(const struct counts *counts) {
    size_t time_size = counts->time_size;
    return counts->time * (time_size + 1) + counts->type * 6 + counts->chars +
           counts->leap * (time_size + 4) + counts->isstd + counts->isut;
}

static bool take_time(struct bytes *in, size_t size, int64_t *out) {
    uint64_t wide;
    uint32_t narrow;
    if (size == 8 && take_u64(in, &wide)) {
        *out = (int64_t)wide;
        return true;
    }
    if (size == 4 && take_u32(in, &narrow)) {
        *out = (int32_t)narrow;
        return true;
    }
    return false;
}

static bool take_types(struct bytes *in, uint32_t count, int *offsets) {
    struct bytes rest;
    uint32_t offset;
    for (uint32_t i = 0; i < count; i++) {
        if (!take_u32(in, &offset) || !take_bytes(in, 2, &rest))
            return false;
        offsets[i] = (int32_t)offset;
        if (offsets[i] <= -ZONE_OFFSET_MAX || offsets[i] >= ZONE_OFFSET_MAX)
            return false;
    }
    return true;
}

static bool take_body(struct bytes *in, const struct counts *counts, struct arena *arena,
                      struct zone *out) {
    size_t time_size = counts->time_size;
    int offsets[TYPES_MAX] = {0};
    struct bytes kinds, rest;
    out->count = counts->time;
    out->changes = ARENA_ARRAY(arena, struct zone_change, counts->time + 1);
    for (size_t i = 0; i < out->count; i++)
        if (!take_time(in, time_size, &out->changes[i].at) || out->changes[i].at < -TIME_MAX ||
            out->changes[i].at > TIME_MAX ||
            (i > 0 && out->changes[i].at <= out->changes[i - 1].at))
            return false;
    if (!take_bytes(in, counts->time, &kinds) || !take_types(in, counts->type, offsets))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        if (kinds.data[i] >= counts->type)
            return false;
        out->changes[i].offset_s = offsets[kinds.data[i]];
    }
    out->first_s = offsets[0];
    return take_bytes(
        in, counts->chars + counts->leap * (time_size + 4) + counts->isstd + counts->isut, &rest);
}

static bool take_rule(struct bytes in, struct zone_rule *out) {
    if (in.size < 2 || in.data[0] != '\n')
        return false;
    in = bytes_skip(in, 1);
    const uint8_t *end = memchr(in.data, '\n', in.size);
    return end != NULL && zone_rule_read(bytes_of(in.data, (size_t)(end - in.data)), out);
}

enum status zone_read(struct bytes file, struct arena *arena, struct zone *out) {
    struct zone zone = {0};
    struct counts counts = {.time_size = 4};
    struct bytes skipped;
    if (!take_header(&file, &counts))
        return DAMAGED;
    bool wide = counts.version >= '2';
    if (wide && (!take_bytes(&file, body_size(&counts), &skipped) || !take_header(&file, &counts)))
        return DAMAGED;
    counts.time_size = wide ? 8 : 4;
    /* With leap seconds counted, times would not be those of the clock. */
    if (counts.leap != 0 || !take_body(&file, &counts, arena, &zone))
        return DAMAGED;
    if (wide && !take_rule(file, &zone.rule))
        return DAMAGED;
    *out = zone;
    return OK;
}

#include "store/log_format.h"

#include "base/buf.h"
#include "store/crc32c.h"

enum { SEGMENT_MAGIC = 0x47544c53, SEGMENT_HEAD_SIZE = 56, CRC_AT = 4, CRC_FROM = 8 };

static void put_crc(uint8_t *at, size_t size) {
    struct buf crc = buf_in(at + CRC_AT, 4);
    buf_u32(&crc, crc32c(0, bytes_of(at + CRC_FROM, size - CRC_FROM)));
}

static bool check_crc(const uint8_t *at, size_t size) {
    struct bytes from = bytes_of(at + CRC_AT, 4);
    uint32_t crc;
    return take_u32(&from, &crc) && crc == crc32c(0, bytes_of(at + CRC_FROM, size - CRC_FROM));
}

/* --- segments --- */

void log_segment_head_put(uint8_t *block, const struct log_segment_head *head) {
    memset(block, 0, LOG_BLOCK);
    struct buf to = buf_in(block, LOG_BLOCK);
    buf_u32(&to, SEGMENT_MAGIC);
    buf_u32(&to, 0);
    buf_u32(&to, LOG_VERSION);
    buf_u32(&to, head->align);
    buf_u64(&to, head->segment);
    buf_u64(&to, head->salt);
    buf_u64(&to, head->first);
    buf_u64(&to, head->size);
    buf_u64(&to, head->time_ms);
    put_crc(block, SEGMENT_HEAD_SIZE);
}

static bool is_alignment(uint32_t align) {
    return align >= 64 && align <= LOG_BLOCK && (align & (align - 1)) == 0;
}

bool log_segment_head_take(const uint8_t *block, struct log_segment_head *out) {
    struct bytes from = bytes_of(block, SEGMENT_HEAD_SIZE);
    uint32_t magic, crc, version;
    take_u32(&from, &magic);
    take_u32(&from, &crc);
    take_u32(&from, &version);
    take_u32(&from, &out->align);
    take_u64(&from, &out->segment);
    take_u64(&from, &out->salt);
    take_u64(&from, &out->first);
    take_u64(&from, &out->size);
    take_u64(&from, &out->time_ms);
    return magic == SEGMENT_MAGIC && version == LOG_VERSION && is_alignment(out->align) &&
           check_crc(block, SEGMENT_HEAD_SIZE);
}

/* --- records --- */

void log_head_put(uint8_t *at, const struct log_head *head) {
    struct buf to = buf_in(at, LOG_HEAD_SIZE);
    buf_u32(&to, head->kind);
    buf_u32(&to, 0);
    buf_u64(&to, head->salt);
    buf_u64(&to, head->number);
    buf_u64(&to, head->durable);
    buf_u64(&to, head->time_ms);
    buf_u32(&to, head->size);
    buf_u32(&to, 0);
    put_crc(at, LOG_HEAD_SIZE + (size_t)head->size);
}

static bool is_kind(uint32_t kind) {
    return kind == LOG_GROUP || kind == LOG_END || kind == LOG_STOP;
}

bool log_head_take(const uint8_t *at, uint64_t salt, struct log_head *out) {
    struct bytes from = bytes_of(at, LOG_HEAD_SIZE);
    uint32_t kind, crc, zero;
    take_u32(&from, &kind);
    take_u32(&from, &crc);
    take_u64(&from, &out->salt);
    take_u64(&from, &out->number);
    take_u64(&from, &out->durable);
    take_u64(&from, &out->time_ms);
    take_u32(&from, &out->size);
    take_u32(&from, &zero);
    out->kind = (enum log_kind)kind;
    return is_kind(kind) && out->salt == salt && zero == 0 &&
           (kind != LOG_END || out->size == LOG_END_PAYLOAD) &&
           (kind != LOG_STOP || out->size == 0);
}

bool log_head_check(const uint8_t *at, const struct log_head *head) {
    return check_crc(at, LOG_HEAD_SIZE + (size_t)head->size);
}

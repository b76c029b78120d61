#include "store/log_value.h"

#include "base/buf.h"
#include "store/crc32c.h"

void log_value_make(uint8_t *to, const struct log_group *group, struct bytes payload,
                    struct bytes value) {
    struct buf out = buf_in(to, LOG_VALUE_SIZE);
    buf_byte(&out, LOG_VALUE_MARK);
    buf_u64(&out, group->time_ms);
    buf_u64(&out, group->segment);
    buf_u32(&out, group->salt);
    buf_u32(&out, group->offset + (uint32_t)(value.data - payload.data));
    buf_u32(&out, (uint32_t)value.size);
    buf_u32(&out, crc32c(0, value));
}

bool log_value_take(struct bytes stored, struct log_value *out) {
    uint8_t mark;
    if (stored.size != LOG_VALUE_SIZE || stored.data[0] != LOG_VALUE_MARK)
        return false;
    take_u8(&stored, &mark);
    take_u64(&stored, &out->time_ms);
    take_u64(&stored, &out->place.segment);
    take_u32(&stored, &out->place.salt);
    take_u32(&stored, &out->place.offset);
    take_u32(&stored, &out->place.size);
    take_u32(&stored, &out->place.crc);
    return true;
}

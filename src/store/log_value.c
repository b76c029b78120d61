#include "store/log_value.h"

#include "base/buf.h"
#include "store/crc32c.h"

struct log_value log_value_of(const struct log_group *group, struct bytes payload,
                              struct bytes value) {
    return (struct log_value){group->time_ms,
                              {.segment = group->segment,
                               .salt = group->salt,
                               .offset = group->offset + (uint32_t)(value.data - payload.data),
                               .size = (uint32_t)value.size,
                               .crc = crc32c(0, value)}};
}

void log_value_put(uint8_t *to, const struct log_value *value) {
    struct buf out = buf_in(to, LOG_VALUE_SIZE);
    buf_byte(&out, LOG_VALUE_MARK);
    buf_u64(&out, value->time_ms);
    buf_u64(&out, value->place.segment);
    buf_u32(&out, value->place.salt);
    buf_u32(&out, value->place.offset);
    buf_u32(&out, value->place.size);
    buf_u32(&out, value->place.crc);
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

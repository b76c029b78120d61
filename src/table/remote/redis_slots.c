/* The slot of a key in a cluster. */
#include "table/remote/rank_redis.h"

/* CRC16 with the polynomial 0x1021 and no reflection (XMODEM). */
static unsigned crc16(struct bytes bytes) {
    unsigned crc = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= (unsigned)bytes.data[i] << 8;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021U : 0)) & 0xffff;
    }
    return crc;
}

unsigned redis_slot(struct bytes key) {
    const uint8_t *open = key.size != 0 ? memchr(key.data, '{', key.size) : NULL;
    if (open != NULL) {
        struct bytes rest = bytes_skip(key, (size_t)(open - key.data) + 1);
        const uint8_t *close = rest.size != 0 ? memchr(rest.data, '}', rest.size) : NULL;
        if (close != NULL && close != rest.data)
            key = bytes_of(rest.data, (size_t)(close - rest.data));
    }
    return crc16(key) % REDIS_SLOTS;
}

/* A growing buffer of bytes that owns its memory. Zero is an empty buffer, ready for use. */
#ifndef GT_BASE_BUF_H
#define GT_BASE_BUF_H

#include "base/bytes.h"

#include <stdarg.h>

struct buf {
    uint8_t *data;
    size_t size;
    size_t room;
    bool borrowed; /* the memory is somebody else's, until it is not enough */
};

/* A buffer that begins in memory of the caller's, which must last as long. */
static inline struct buf buf_in(void *memory, size_t room) {
    return (struct buf){.data = memory, .room = room, .borrowed = true};
}

void buf_release(struct buf *buf);

/* Makes room for `more` bytes beyond size and returns where they go. Size is unchanged. */
uint8_t *buf_reserve_slow(struct buf *buf, size_t more);
static inline uint8_t *buf_reserve(struct buf *buf, size_t more) {
    if (buf->room - buf->size >= more)
        return buf->data + buf->size;
    return buf_reserve_slow(buf, more);
}

static inline void buf_clear(struct buf *buf) {
    buf->size = 0;
}

static inline struct bytes buf_bytes(const struct buf *buf) {
    return (struct bytes){buf->data, buf->size};
}

static inline void buf_append(struct buf *buf, const void *data, size_t size) {
    if (size != 0) {
        memcpy(buf_reserve(buf, size), data, size);
        buf->size += size;
    }
}

static inline void buf_put(struct buf *buf, struct bytes bytes) {
    buf_append(buf, bytes.data, bytes.size);
}

static inline void buf_byte(struct buf *buf, uint8_t byte) {
    *buf_reserve(buf, 1) = byte;
    buf->size++;
}

/* Appends a string literal. */
#define buf_lit(buf, literal) buf_append((buf), "" literal, sizeof(literal) - 1)

/* Big-endian integers: their bytes order as their values do. */
void buf_u32(struct buf *buf, uint32_t number);
void buf_u64(struct buf *buf, uint64_t number);
/* 7 bits a byte, low first, high bit set on all but the last; 1 to 10 bytes. */
void buf_varint(struct buf *buf, uint64_t number);
/* A varint length, then the bytes. */
void buf_counted(struct buf *buf, struct bytes bytes);

void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args);

/* Reading back what the calls above wrote, from bytes that may be damaged: each takes from the
 * front of *in and returns false, taking nothing, when there is not enough or it is malformed. */
bool take_u8(struct bytes *in, uint8_t *out);
bool take_u16(struct bytes *in, uint16_t *out);
bool take_u32(struct bytes *in, uint32_t *out);
bool take_u64(struct bytes *in, uint64_t *out);
bool take_varint(struct bytes *in, uint64_t *out);
static inline bool take_bytes(struct bytes *in, size_t size, struct bytes *out) {
    if (in->size < size)
        return false;
    *out = (struct bytes){in->data, size};
    *in = bytes_skip(*in, size);
    return true;
}
bool take_counted(struct bytes *in, struct bytes *out);

#endif

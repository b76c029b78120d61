#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>

void buf_release(struct buf *buf) {
    if (!buf->borrowed)
        mem_free(buf->data);
    *buf = (struct buf){0};
}

uint8_t *buf_reserve_slow(struct buf *buf, size_t more) {
    size_t room = buf->room < 64 ? 64 : buf->room;
    while (room - buf->size < more)
        room *= 2;
    if (buf->borrowed) {
        buf->data = memcpy(mem_alloc(room), buf->data, buf->size);
        buf->borrowed = false;
    } else
        buf->data = mem_realloc(buf->data, room);
    buf->room = room;
    return buf->data + buf->size;
}

static void put_big_endian(struct buf *buf, uint64_t number, size_t size) {
    uint8_t *to = buf_reserve(buf, size);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
    buf->size += size;
}

void buf_u32(struct buf *buf, uint32_t number) {
    put_big_endian(buf, number, 4);
}

void buf_u64(struct buf *buf, uint64_t number) {
    put_big_endian(buf, number, 8);
}

void buf_varint(struct buf *buf, uint64_t number) {
    while (number >= 0x80) {
        buf_byte(buf, (uint8_t)(number | 0x80));
        number >>= 7;
    }
    buf_byte(buf, (uint8_t)number);
}

void buf_counted(struct buf *buf, struct bytes bytes) {
    buf_varint(buf, bytes.size);
    buf_put(buf, bytes);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0)
        return;
    vsnprintf((char *)buf_reserve(buf, (size_t)size + 1), (size_t)size + 1, format, args);
    buf->size += (size_t)size;
}

void buf_printf(struct buf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

static bool take_big_endian(struct bytes *in, size_t size, uint64_t *out) {
    if (in->size < size)
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | in->data[i];
    *in = bytes_skip(*in, size);
    *out = number;
    return true;
}

bool take_u8(struct bytes *in, uint8_t *out) {
    uint64_t number;
    if (!take_big_endian(in, 1, &number))
        return false;
    *out = (uint8_t)number;
    return true;
}

bool take_u16(struct bytes *in, uint16_t *out) {
    uint64_t number;
    if (!take_big_endian(in, 2, &number))
        return false;
    *out = (uint16_t)number;
    return true;
}

bool take_u32(struct bytes *in, uint32_t *out) {
    uint64_t number;
    if (!take_big_endian(in, 4, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

bool take_u64(struct bytes *in, uint64_t *out) {
    return take_big_endian(in, 8, out);
}

bool take_varint(struct bytes *in, uint64_t *out) {
    uint64_t number = 0;
    for (size_t i = 0; i < in->size && i < 10; i++) {
        uint8_t byte = in->data[i];
        if (i == 9 && byte > 1)
            return false;
        number |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *in = bytes_skip(*in, i + 1);
            *out = number;
            return true;
        }
    }
    return false;
}

bool take_counted(struct bytes *in, struct bytes *out) {
    struct bytes rest = *in;
    uint64_t size;
    if (!take_varint(&rest, &size) || size > rest.size || !take_bytes(&rest, (size_t)size, out))
        return false;
    *in = rest;
    return true;
}

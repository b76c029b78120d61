#include "store/crc32c.h"

#include <pthread.h>

/* --- by table: eight bytes at a time --- */

static uint32_t tables[8][256];

static void tables_make(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
        tables[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++)
            tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
}

static uint32_t read_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t update_by_table(uint32_t crc, const uint8_t *at, size_t size) {
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low = crc ^ read_u32(at), high = read_u32(at + 4);
        crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
              tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; size != 0; at++, size--)
        crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 0xff];
    return crc;
}

uint32_t crc32c_by_table(uint32_t crc, struct bytes bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, tables_make);
    return ~update_by_table(~crc, bytes.data, bytes.size);
}

/* --- by the processor --- */

#ifdef __x86_64__

__attribute__((target("sse4.2"))) static uint32_t
update_by_processor(uint32_t crc, const uint8_t *at, size_t size) {
    uint64_t wide = crc;
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size != 0; at++, size--)
        crc = __builtin_ia32_crc32qi(crc, *at);
    return crc;
}

uint32_t crc32c(uint32_t crc, struct bytes bytes) {
    if (!__builtin_cpu_supports("sse4.2"))
        return crc32c_by_table(crc, bytes);
    return ~update_by_processor(~crc, bytes.data, bytes.size);
}

#else

uint32_t crc32c(uint32_t crc, struct bytes bytes) {
    return crc32c_by_table(crc, bytes);
}

#endif

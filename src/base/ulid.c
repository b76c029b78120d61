#include "base/ulid.h"

#include "base/random.h"

#include <pthread.h>

static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* 0 to 31, or -1. */
static int bits_of(uint8_t letter) {
    const char *at = letter == 0 ? NULL : strchr(letters, letter);
    return at == NULL ? -1 : (int)(at - letters);
}

/* 130 bits of text hold 128: the first character has two of them to spare. */
void ulid_unpack(const uint8_t raw[ULID_RAW_SIZE], char out[ULID_SIZE]) {
    unsigned held = 2;
    uint32_t bits = 0;
    size_t from = 0;
    for (size_t i = 0; i < ULID_SIZE; i++) {
        if (held < 5) {
            bits = bits << 8 | raw[from++];
            held += 8;
        }
        held -= 5;
        out[i] = letters[bits >> held & 31];
    }
}

void ulid_pack(struct bytes text, uint8_t out[ULID_RAW_SIZE]) {
    unsigned held = 0;
    uint32_t bits = 0;
    size_t to = 0;
    for (size_t i = 0; i < ULID_SIZE; i++) {
        bits = bits << 5 | (uint32_t)bits_of(text.data[i]);
        held += i == 0 ? 3 : 5;
        if (held >= 8) {
            held -= 8;
            out[to++] = (uint8_t)(bits >> held);
        }
    }
}

bool ulid_valid(struct bytes text) {
    if (text.size != ULID_SIZE || text.data[0] > '7')
        return false;
    for (size_t i = 0; i < ULID_SIZE; i++)
        if (bits_of(text.data[i]) < 0)
            return false;
    return true;
}

int64_t ulid_time_ms(struct bytes text) {
    uint64_t ms = 0;
    for (size_t i = 0; i < 10; i++)
        ms = ms << 5 | (unsigned)bits_of(text.data[i]);
    return (int64_t)ms;
}

static void put_time(uint8_t *raw, int64_t ms) {
    for (int i = 0; i < 6; i++)
        raw[i] = (uint8_t)((uint64_t)ms >> (40 - 8 * i));
}

/* The next one of the same millisecond. After 2^80 of them it would begin anew. */
static void step(uint8_t *raw) {
    for (size_t i = ULID_RAW_SIZE; i-- > 6;)
        if (++raw[i] != 0)
            return;
}

void ulid_make(int64_t now_ms, char out[ULID_SIZE]) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint8_t last[ULID_RAW_SIZE];
    static int64_t last_ms = -1;
    pthread_mutex_lock(&lock);
    if (now_ms == last_ms)
        step(last);
    else {
        last_ms = now_ms;
        put_time(last, now_ms);
        random_secure(last + 6, ULID_RAW_SIZE - 6);
    }
    ulid_unpack(last, out);
    pthread_mutex_unlock(&lock);
}

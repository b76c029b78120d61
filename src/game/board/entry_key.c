/* Members and names of boards, which may be any bytes, escaped as text that can be a key.
 *
 *   1  UTF-8 that is not empty           itself
 *   2  empty, or beginning with 0x00     0x00, then itself
 *   3  not UTF-8, or beginning with      U+10FFFF, then its bits, seven in each byte from the
 * highest U+10FFFF                          on, the last byte filled up with zeros
 *
 * Each member has one key and each key one member. Keys of one kind sort as their members do, and
 * the kinds sort as 2, 1, 3. */
#include "base/utf8.h"
#include "game/board/entry.h"

enum { LAST_SIZE = 4, KEY_MAX = LIMIT_SORT_KEY_SIZE };

static const uint8_t last[LAST_SIZE] = {0xf4, 0x8f, 0xbf, 0xbf};

static bool begins_last(struct bytes text) {
    return text.size >= LAST_SIZE && memcmp(text.data, last, LAST_SIZE) == 0;
}

static struct bytes put_bits(struct bytes member, struct arena *arena) {
    size_t groups = (member.size * 8 + 6) / 7;
    uint8_t *key = arena_alloc(arena, LAST_SIZE + groups), *to = key + LAST_SIZE;
    unsigned held = 0, bits = 0;
    memcpy(key, last, LAST_SIZE);
    for (size_t i = 0; i < member.size; i++) {
        held = (held << 8 | member.data[i]) & 0xffff;
        bits += 8;
        for (; bits >= 7; bits -= 7)
            *to++ = (uint8_t)(held >> (bits - 7) & 0x7f);
    }
    if (bits > 0)
        *to++ = (uint8_t)(held << (7 - bits) & 0x7f);
    return bytes_of(key, (size_t)(to - key));
}

static struct bytes take_bits(struct bytes groups, struct arena *arena) {
    uint8_t *member = arena_alloc(arena, groups.size), *to = member;
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < groups.size; i++) {
        held = (held << 7 | (groups.data[i] & 0x7f)) & 0xffff;
        bits += 7;
        if (bits >= 8) {
            bits -= 8;
            *to++ = (uint8_t)(held >> bits);
        }
    }
    return bytes_of(member, (size_t)(to - member));
}

static struct bytes put_zero(struct bytes member, struct arena *arena) {
    uint8_t *key = arena_alloc(arena, member.size + 1);
    key[0] = 0;
    if (member.size != 0)
        memcpy(key + 1, member.data, member.size);
    return bytes_of(key, member.size + 1);
}

enum status entry_key_of(struct bytes member, struct scope in, struct bytes *out) {
    struct bytes key = member;
    if (member.size <= ENTRY_MEMBER_MAX) {
        if (!utf8_valid(member) || begins_last(member))
            key = put_bits(member, in.arena);
        else if (member.size == 0 || member.data[0] == 0)
            key = put_zero(member, in.arena);
    }
    if (member.size > ENTRY_MEMBER_MAX || key.size > KEY_MAX)
        return failure_set(in.failure, in.arena, INVALID,
                           "A name of %zu bytes is too long: at most %d bytes of text, or %d of "
                           "anything else",
                           member.size, ENTRY_MEMBER_MAX, (KEY_MAX - LAST_SIZE) * 7 / 8);
    *out = key;
    return OK;
}

struct bytes entry_member_of(struct bytes key, struct arena *arena) {
    if (key.size != 0 && key.data[0] == 0)
        return bytes_skip(key, 1);
    return begins_last(key) ? take_bits(bytes_skip(key, LAST_SIZE), arena) : key;
}

/* The least key after all that begin with the bytes, of which the last `free` bits may differ. */
static struct bytes after_all(struct bytes key, unsigned free, struct arena *arena) {
    uint8_t *high = arena_alloc(arena, key.size);
    memcpy(high, key.data, key.size);
    high[key.size - 1] = (uint8_t)(high[key.size - 1] + (1u << free));
    return bytes_of(high, key.size);
}

void entry_keys_beginning(struct bytes text, struct arena *arena,
                          struct entry_key_range out[ENTRY_KEY_RANGES]) {
    struct bytes bits = put_bits(text, arena);
    unsigned filled = (unsigned)((bits.size - LAST_SIZE) * 7 - text.size * 8);
    out[0] = (struct entry_key_range){text, after_all(text, 0, arena)};
    out[1] = (struct entry_key_range){bits, after_all(bits, filled, arena)};
}

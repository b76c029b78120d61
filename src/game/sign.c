#include "game/sign.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { SIGNATURE_SIZE = 32, PURPOSE_MAX = 32 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int bits_of(uint8_t letter) {
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    return letter == '-' ? 62 : letter == '_' ? 63 : -1;
}

static void put_letters(struct buf *to, struct bytes bytes) {
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        bits = bits << 8 | bytes.data[i];
        for (held += 8; held >= 6; held -= 6)
            buf_byte(to, (uint8_t)letters[bits >> (held - 6) & 63]);
    }
    if (held != 0)
        buf_byte(to, (uint8_t)letters[bits << (6 - held) & 63]);
}

/* Each run of bytes has one spelling: what is left over of the last letter is zero. */
static bool take_letters(struct bytes text, struct arena *arena, struct bytes *out) {
    uint8_t *to = arena_alloc(arena, text.size * 6 / 8 + 1);
    uint32_t bits = 0;
    unsigned held = 0;
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        int six = bits_of(text.data[i]);
        if (six < 0)
            return false;
        bits = bits << 6 | (uint32_t)six;
        held += 6;
        if (held >= 8) {
            held -= 8;
            to[size++] = (uint8_t)(bits >> held);
        }
    }
    *out = bytes_of(to, size);
    return held < 6 && (bits & ((1u << held) - 1)) == 0;
}

static void sign(struct bytes secret, const char *purpose, struct bytes payload,
                 uint8_t out[SIGNATURE_SIZE]) {
    uint8_t text[PURPOSE_MAX + 1 + SIGN_PAYLOAD_MAX];
    size_t named = strlen(purpose) + 1;
    assert(named <= PURPOSE_MAX && payload.size <= SIGN_PAYLOAD_MAX);
    memcpy(text, purpose, named);
    if (payload.size != 0)
        memcpy(text + named, payload.data, payload.size);
    unsigned size = 0;
    const uint8_t *made =
        HMAC(EVP_sha256(), secret.data, (int)secret.size, text, named + payload.size, out, &size);
    assert(made != NULL && size == SIGNATURE_SIZE);
    (void)made;
}

void sign_put(struct bytes secret, const char *purpose, struct bytes payload, struct buf *to) {
    uint8_t signature[SIGNATURE_SIZE];
    sign(secret, purpose, payload, signature);
    put_letters(to, payload);
    buf_byte(to, '.');
    put_letters(to, bytes_of(signature, sizeof(signature)));
}

enum status sign_read(struct bytes secret, const char *purpose, struct bytes token,
                      struct arena *arena, struct bytes *payload) {
    uint8_t signature[SIGNATURE_SIZE];
    struct bytes told, given;
    if (token.size > SIGN_TOKEN_MAX)
        return DENIED;
    size_t dot = bytes_find(token, BYTES("."));
    if (dot == SIZE_MAX || !take_letters(bytes_of(token.data, dot), arena, &told) ||
        !take_letters(bytes_skip(token, dot + 1), arena, &given) || told.size > SIGN_PAYLOAD_MAX ||
        given.size != SIGNATURE_SIZE)
        return DENIED;
    sign(secret, purpose, told, signature);
    if (CRYPTO_memcmp(signature, given.data, SIGNATURE_SIZE) != 0)
        return DENIED;
    *payload = told;
    return OK;
}

#include "game/sign.h"

#include "base/base64.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { SIGNATURE_SIZE = 32, PURPOSE_MAX = 32 };

static void sign(struct sign_key key, struct bytes payload, uint8_t out[SIGNATURE_SIZE]) {
    uint8_t text[PURPOSE_MAX + 1 + SIGN_PAYLOAD_MAX];
    size_t named = strlen(key.purpose) + 1;
    assert(named <= PURPOSE_MAX && payload.size <= SIGN_PAYLOAD_MAX);
    memcpy(text, key.purpose, named);
    if (payload.size != 0)
        memcpy(text + named, payload.data, payload.size);
    unsigned size = 0;
    const uint8_t *made = HMAC(EVP_sha256(), key.secret.data, (int)key.secret.size, text,
                               named + payload.size, out, &size);
    assert(made != NULL && size == SIGNATURE_SIZE);
    (void)made;
}

void sign_put(struct sign_key key, struct bytes payload, struct buf *to) {
    uint8_t signature[SIGNATURE_SIZE];
    sign(key, payload, signature);
    base64url_put(to, payload);
    buf_byte(to, '.');
    base64url_put(to, bytes_of(signature, sizeof(signature)));
}

enum status sign_read(struct sign_key key, struct bytes token, struct arena *arena,
                      struct bytes *payload) {
    uint8_t signature[SIGNATURE_SIZE];
    struct bytes told, given;
    if (token.size > SIGN_TOKEN_MAX)
        return DENIED;
    size_t dot = bytes_find(token, BYTES("."));
    if (dot == SIZE_MAX || !base64url_read(bytes_of(token.data, dot), arena, &told) ||
        !base64url_read(bytes_skip(token, dot + 1), arena, &given) ||
        told.size > SIGN_PAYLOAD_MAX || given.size != SIGNATURE_SIZE)
        return DENIED;
    sign(key, told, signature);
    if (CRYPTO_memcmp(signature, given.data, SIGNATURE_SIZE) != 0)
        return DENIED;
    *payload = told;
    return OK;
}

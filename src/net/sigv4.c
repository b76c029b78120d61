#include "net/sigv4.h"

#include "base/limits.h"
#include "net/canonical.h"

#include <assert.h>
#include <openssl/crypto.h>

enum { SERVICE_SIZE_MAX = 64 };

void sigv4_derive(const struct sigv4_scope *scope, struct bytes secret, struct hmac *out) {
    uint8_t first[4 + LIMIT_SIGNATURE_SECRET], digest[SHA256_SIZE];
    const struct bytes steps[] = {scope->day, scope->region, scope->service, BYTES("aws4_request")};
    assert(secret.size <= LIMIT_SIGNATURE_SECRET);
    memcpy(first, "AWS4", 4);
    memcpy(first + 4, secret.data, secret.size);
    hmac_init(out, bytes_of(first, 4 + secret.size));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        hmac_of(out, steps[i], digest);
        hmac_init(out, bytes_of(digest, sizeof digest));
    }
    OPENSSL_cleanse(first, sizeof first);
    OPENSSL_cleanse(digest, sizeof digest);
}

void sigv4_sign(const struct hmac *key, const struct sigv4_scope *scope, struct buf *head,
                struct bytes body_hash, char out[SHA256_HEX_SIZE]) {
    char text[16 + 1 + 16 + 1 + 8 + 1 + LIMIT_REGION_SIZE + 1 + SERVICE_SIZE_MAX + 1 + 12 + 1 +
              SHA256_HEX_SIZE];
    const struct bytes parts[] = {BYTES("AWS4-HMAC-SHA256\n"),
                                  scope->time,
                                  BYTES("\n"),
                                  scope->day,
                                  BYTES("/"),
                                  scope->region,
                                  BYTES("/"),
                                  scope->service,
                                  BYTES("/aws4_request\n")};
    size_t size = 0, head_size = head->size;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        memcpy(text + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    buf_put(head, body_hash);
    sha256_hex(buf_bytes(head), text + size);
    head->size = head_size;
    uint8_t digest[SHA256_SIZE];
    hmac_of(key, bytes_of(text, size + SHA256_HEX_SIZE), digest);
    hex_write(digest, sizeof digest, out);
}

void sigv4_authorize(const struct sigv4_signer *signer, const struct http_exchange *request,
                     struct buf *out) {
    struct buf names = {0}, head = {0};
    char hash[SHA256_HEX_SIZE], signature[SHA256_HEX_SIZE];
    const struct sigv4_scope *scope = &signer->scope;
    for (size_t i = 0; i < request->header_count; i++) {
        if (i != 0)
            buf_byte(&names, ';');
        buf_put(&names, request->headers[i].name);
    }
    bool whole = canonical_head(&head, request, buf_bytes(&names));
    assert(whole);
    sha256_hex(request->body, hash);
    sigv4_sign(signer->key, scope, &head, bytes_of(hash, sizeof hash), signature);
    buf_printf(out,
               "AWS4-HMAC-SHA256 Credential=%.*s/%.*s/%.*s/%.*s/aws4_request, SignedHeaders=%.*s, "
               "Signature=%.*s",
               BYTES_ARG(signer->key_id), BYTES_ARG(scope->day), BYTES_ARG(scope->region),
               BYTES_ARG(scope->service), BYTES_ARG(buf_bytes(&names)), (int)sizeof signature,
               signature);
    buf_release(&names);
    buf_release(&head);
}

/* SHA-256, and HMAC with a key that is prepared once and used often. */
#ifndef GT_NET_SHA256_H
#define GT_NET_SHA256_H

#include "base/bytes.h"

#include <openssl/sha.h>

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 64 };

void sha256_of(struct bytes text, uint8_t out[SHA256_SIZE]);
/* In lower-case hexadecimal, without a NUL. */
void sha256_hex(struct bytes text, char out[SHA256_HEX_SIZE]);
void hex_write(const uint8_t *from, size_t size, char *to);

/* The two halves of HMAC after the key has gone in. Plain data: may be copied, holds a secret. */
struct hmac {
    SHA256_CTX inner, outer;
};

void hmac_init(struct hmac *hmac, struct bytes key);
void hmac_of(const struct hmac *hmac, struct bytes text, uint8_t out[SHA256_SIZE]);

#endif

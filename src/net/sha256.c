/* OpenSSL's older calls on purpose: a context is plain memory, so that a prepared HMAC key is used
 * by copying it, and a hash takes half the time of EVP_Digest() (bench/bench_signature.c). */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "net/sha256.h"

#include <openssl/crypto.h>

enum { BLOCK_SIZE = 64 };

void sha256_of(struct bytes text, uint8_t out[SHA256_SIZE]) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, text.data, text.size);
    SHA256_Final(out, &context);
}

void hex_write(const uint8_t *from, size_t size, char *to) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
}

void sha256_hex(struct bytes text, char out[SHA256_HEX_SIZE]) {
    uint8_t digest[SHA256_SIZE];
    sha256_of(text, digest);
    hex_write(digest, sizeof digest, out);
}

static void start_half(SHA256_CTX *half, const uint8_t *key, uint8_t pad) {
    uint8_t block[BLOCK_SIZE];
    for (int i = 0; i < BLOCK_SIZE; i++)
        block[i] = key[i] ^ pad;
    SHA256_Init(half);
    SHA256_Update(half, block, sizeof block);
    OPENSSL_cleanse(block, sizeof block);
}

void hmac_init(struct hmac *hmac, struct bytes key) {
    uint8_t whole[BLOCK_SIZE] = {0};
    if (key.size > BLOCK_SIZE)
        sha256_of(key, whole);
    else if (key.size != 0)
        memcpy(whole, key.data, key.size);
    start_half(&hmac->inner, whole, 0x36);
    start_half(&hmac->outer, whole, 0x5c);
    OPENSSL_cleanse(whole, sizeof whole);
}

void hmac_of(const struct hmac *hmac, struct bytes text, uint8_t out[SHA256_SIZE]) {
    uint8_t digest[SHA256_SIZE];
    SHA256_CTX context = hmac->inner;
    SHA256_Update(&context, text.data, text.size);
    SHA256_Final(digest, &context);
    context = hmac->outer;
    SHA256_Update(&context, digest, sizeof digest);
    SHA256_Final(out, &context);
}

/* What one request's signature costs, and its hashes by OpenSSL's older calls and by its newer. */
#include "../tests/unit/api/signed.h"

#include "base/clock.h"
#include "net/sha256.h"

#include <openssl/evp.h>

enum { ROUNDS = 200000 };

static double ns_each(int64_t since_us) {
    return (double)(clock_ticks_us() - since_us) * 1000 / ROUNDS;
}

static void verify(const struct signed_case *one, const struct keyring *ring) {
    const struct signature_settings settings = {NULL, "dynamodb", SIGNED_AT, ring};
    struct arena arena;
    arena_init(&arena);
    int64_t start = clock_ticks_us();
    for (int i = 0; i < ROUNDS; i++) {
        struct signature signature;
        struct failure failure;
        if (signature_read(&one->exchange, (struct scope){&arena, &failure}, &signature) != NULL ||
            signature_verify(&one->exchange, &settings, (struct scope){&arena, &failure},
                             &signature) != NULL)
            abort();
        arena_reset(&arena);
    }
    printf("%-44s %6.0f ns\n", "a request's signature verified", ns_each(start));
    arena_release(&arena);
}

static void hash(void) {
    static uint8_t text[400];
    uint8_t digest[SHA256_SIZE];
    int64_t start = clock_ticks_us();
    for (int i = 0; i < ROUNDS; i++) {
        text[0] = (uint8_t)i;
        sha256_of(bytes_of(text, sizeof text), digest);
    }
    printf("%-44s %6.0f ns\n", "SHA-256 of 400 bytes, SHA256_*", ns_each(start));
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_MD *fetched = EVP_MD_fetch(NULL, "SHA256", NULL);
    start = clock_ticks_us();
    for (int i = 0; i < ROUNDS; i++) {
        text[0] = (uint8_t)i;
        EVP_DigestInit_ex2(context, fetched, NULL);
        EVP_DigestUpdate(context, text, sizeof text);
        EVP_DigestFinal_ex(context, digest, NULL);
    }
    printf("%-44s %6.0f ns\n", "the same, EVP_*, fetched and reused", ns_each(start));
    EVP_MD_free(fetched);
    EVP_MD_CTX_free(context);
    start = clock_ticks_us();
    for (int i = 0; i < ROUNDS; i++) {
        text[0] = (uint8_t)i;
        EVP_Digest(text, sizeof text, digest, NULL, EVP_sha256(), NULL);
    }
    printf("%-44s %6.0f ns\n", "the same, EVP_Digest()", ns_each(start));
}

int main(void) {
    struct arena arena;
    struct signed_case one;
    arena_init(&arena);
    struct bytes text = signed_load(&arena);
    signed_next(&text, &one);
    signed_next(&text, &one); /* "a body" */
    struct keyring *ring = signed_keyring(&one, &arena);
    verify(&one, ring);
    hash();
    keyring_free(ring);
    arena_release(&arena);
}

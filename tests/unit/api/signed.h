/* The signed requests of signed.case, each as an exchange. */
#ifndef GT_TEST_API_SIGNED_H
#define GT_TEST_API_SIGNED_H

#include "api/signature.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIGNED_HEADERS_MAX = 16, SIGNED_AT = 1440938160 }; /* 20150830T123600Z */

struct signed_case {
    struct bytes name, secret, region;
    struct http_exchange exchange;
    struct http_header headers[SIGNED_HEADERS_MAX];
};

static inline struct bytes signed_load(struct arena *arena) {
    FILE *file = fopen("tests/unit/api/signed.case", "rb");
    static char text[64 * 1024];
    if (file == NULL)
        abort();
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    return arena_copy(arena, bytes_of(text, size));
}

static inline bool signed_line(struct bytes *text, struct bytes *line) {
    size_t end = bytes_find(*text, BYTES("\n"));
    if (end == SIZE_MAX)
        return false;
    *line = bytes_of(text->data, end);
    *text = bytes_skip(*text, end + 1);
    return true;
}

static inline bool signed_field(struct bytes line, struct bytes name, struct bytes *out) {
    if (!bytes_starts(line, name))
        return false;
    *out = bytes_skip(line, name.size);
    return true;
}

static inline void signed_header(struct signed_case *one, struct bytes value) {
    size_t colon = bytes_find(value, BYTES(": "));
    one->headers[one->exchange.header_count++] =
        (struct http_header){bytes_of(value.data, colon), bytes_skip(value, colon + 2)};
}

/* The next one; false at the end. */
static inline bool signed_next(struct bytes *text, struct signed_case *one) {
    struct bytes line, value;
    memset(one, 0, sizeof *one);
    one->exchange.headers = one->headers;
    while (signed_line(text, &line)) {
        if (signed_field(line, BYTES("header "), &value))
            signed_header(one, value);
        else if (!signed_field(line, BYTES("== "), &one->name) &&
                 !signed_field(line, BYTES("secret "), &one->secret) &&
                 !signed_field(line, BYTES("region "), &one->region) &&
                 !signed_field(line, BYTES("method "), &one->exchange.method) &&
                 !signed_field(line, BYTES("path "), &one->exchange.path) &&
                 !signed_field(line, BYTES("query "), &one->exchange.query) &&
                 signed_field(line, BYTES("body "), &one->exchange.body))
            return true;
    }
    return false;
}

/* A keyring of the one key that signed it. */
static inline struct keyring *signed_keyring(const struct signed_case *one, struct arena *arena) {
    struct keyring *ring = keyring_new();
    struct bytes all = BYTES("*");
    struct failure failure = {0};
    struct access_key key = {.id = BYTES("AKIDEXAMPLE"),
                             .secret = one->secret,
                             .allow = ACCESS_ALL,
                             .tables = &all,
                             .table_count = 1};
    if (keyring_add(ring, &key, (struct scope){arena, &failure}) != OK)
        abort();
    return ring;
}

#endif

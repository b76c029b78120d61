#include "api/pages/pages.h"

#include "api/pages/embedded.h"

#include <stdio.h>
#include <string.h>

/* The page answers for these addresses, and what is below them. */
static const char *const addresses[] = {"/play", "/boards", "/rooms"};

static const struct {
    const char *ending, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".woff2", "font/woff2"},
    {".png", "image/png"},
    {".mp3", "audio/mpeg"},
    {".txt", "text/plain; charset=utf-8"},
};

static bool ends_with(const char *text, const char *ending) {
    size_t size = strlen(text), tail = strlen(ending);
    return size >= tail && strcmp(text + size - tail, ending) == 0;
}

static const char *type_of(const char *path) {
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (ends_with(path, types[i].ending))
            return types[i].type;
    return "application/octet-stream";
}

static const struct embedded *find(struct bytes path) {
    for (const struct embedded *file = embedded_files; file != NULL && file->path != NULL; file++)
        if (bytes_equal(path, bytes_str(file->path)))
            return file;
    return NULL;
}

static bool wants_page(const struct http_exchange *exchange) {
    struct bytes accept = http_header(exchange, "Accept");
    return bytes_find(accept, BYTES("text/html")) != SIZE_MAX;
}

static bool is_address(struct bytes path) {
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        size_t size = strlen(addresses[i]);
        if (path.size >= size && memcmp(path.data, addresses[i], size) == 0 &&
            (path.size == size || path.data[size] == '/'))
            return true;
    }
    return false;
}

/* NULL: none of ours. */
static const struct embedded *file_for(const struct http_exchange *exchange) {
    bool root = bytes_equal(exchange->path, BYTES("/"));
    if (is_address(exchange->path) || (root && wants_page(exchange)))
        return find(BYTES("/index.html"));
    return find(exchange->path);
}

bool pages_take(const struct http_exchange *exchange) {
    bool get =
        bytes_equal(exchange->method, BYTES("GET")) || bytes_equal(exchange->method, BYTES("HEAD"));
    return get && file_for(exchange) != NULL;
}

/* Everything comes from here and nothing goes elsewhere. */
#define SAFE                                                                                    \
    "Content-Security-Policy: default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' " \
    "data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n" \
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n"

void pages_handle(struct http_exchange *exchange) {
    const struct embedded *file = file_for(exchange);
    struct buf lines = {0};
    struct bytes raw = bytes_of(file->raw, (size_t)(file->raw_end - file->raw));
    struct bytes gzip = bytes_of(file->gzip, (size_t)(file->gzip_end - file->gzip));
    struct bytes accepted = http_header(exchange, "Accept-Encoding");
    struct http_answer answer = {
        .status = 200, .content_type = bytes_str(type_of(file->path)), .body = raw};
    bool named = strncmp(file->path, "/assets/", 8) == 0; /* by its content: it never changes */
    char tag[32];
    snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)bytes_hash(raw, 7));
    buf_printf(&lines, "ETag: %s\r\nCache-Control: %s\r\nVary: Accept-Encoding, Accept\r\n" SAFE,
               tag, named ? "public, max-age=31536000, immutable" : "no-cache");
    if (bytes_equal(http_header(exchange, "If-None-Match"), bytes_str(tag))) {
        answer.status = 304;
        answer.body = (struct bytes){0};
    } else if (gzip.size < raw.size && bytes_find(accepted, BYTES("gzip")) != SIZE_MAX) {
        answer.body = gzip;
        buf_lit(&lines, "Content-Encoding: gzip\r\n");
    }
    answer.headers = buf_bytes(&lines);
    http_answer(exchange, &answer);
    buf_release(&lines);
}

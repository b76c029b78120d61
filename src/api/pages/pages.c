#include "api/pages/pages.h"

#include "api/pages/embedded.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

/* A page answers for its addresses, and for what is below them. */
static const struct {
    const char *address, *page;
} addresses[] = {
    {"/play", "/index.html"},
    {"/boards", "/index.html"},
    {"/rooms", "/index.html"},
    {"/console", "/console.html"},
};

/* Below these nothing is a page, even if a browser asks. */
static const char *const machines[] = {"/v1", "/admin", "/assets", "/metrics", "/healthz"};

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

/* --- which file --- */

static const struct embedded *find_page(struct bytes path) {
    for (const struct embedded *file = embedded_files; file != NULL && file->path != NULL; file++)
        if (bytes_equal(path, bytes_str(file->path)))
            return file;
    return NULL;
}

static bool wants_page(const struct http_exchange *exchange) {
    struct bytes accept = http_header(exchange, "Accept");
    return bytes_find(accept, BYTES("text/html")) != SIZE_MAX;
}

static bool is_below(struct bytes path, const char *root) {
    size_t size = strlen(root);
    return path.size >= size && memcmp(path.data, root, size) == 0 &&
           (path.size == size || path.data[size] == '/');
}

/* The page of an address; NULL if it is none of ours. */
static const char *page_of(struct bytes path) {
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
        if (is_below(path, addresses[i].address))
            return addresses[i].page;
    return NULL;
}

/* A person who went astray: the page tells, and knows the way back. */
static bool is_astray(const struct http_exchange *exchange) {
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
        if (is_below(exchange->path, machines[i]))
            return false;
    return wants_page(exchange);
}

/* The file that answers; NULL: none of ours. *status: 200, or 404 for the page that says so. */
static const struct embedded *file_for(const struct http_exchange *exchange, int *status) {
    bool root = bytes_equal(exchange->path, BYTES("/"));
    const char *page = root && wants_page(exchange) ? "/index.html" : page_of(exchange->path);
    const struct embedded *file = find_page(page != NULL ? bytes_str(page) : exchange->path);
    *status = 200;
    if (file != NULL || !is_astray(exchange))
        return file;
    *status = 404;
    return find_page(BYTES("/index.html"));
}

bool pages_take(const struct http_exchange *exchange) {
    int status;
    bool get =
        bytes_equal(exchange->method, BYTES("GET")) || bytes_equal(exchange->method, BYTES("HEAD"));
    return get && file_for(exchange, &status) != NULL;
}

/* --- what a link to it looks like elsewhere --- */

/* Chats and search engines run no script: what they show of a link is in the page's head. */
struct preview {
    const char *title, *about;
};

static struct preview preview_of(struct bytes path) {
    if (path.size > 6 && bytes_starts(path, BYTES("/play/")))
        return (struct preview){"Come and play",
                                "A room is waiting for you: open the link, say your name, play."};
    if (bytes_starts(path, BYTES("/play")) || bytes_starts(path, BYTES("/rooms")))
        return (struct preview){"Play",
                                "Make a room, or join one by its code. Nothing to install."};
    if (bytes_starts(path, BYTES("/boards")))
        return (struct preview){"Boards", "Who is where, among ten or ten million, as it changes."};
    return (struct preview){"gametable",
                            "One table for the whole game: players, rooms, boards and scores."};
}

/* The request's Host, if it has only what hosts have: it goes into headers and attributes. */
static struct bytes safe_host(const struct http_exchange *exchange) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    struct bytes host = http_header(exchange, "Host");
    for (size_t i = 0; i < host.size; i++)
        if (host.data[i] == 0 || strchr(allowed, host.data[i]) == NULL)
            return (struct bytes){0};
    return host.size <= 255 ? host : (struct bytes){0};
}

static void put_preview(struct buf *to, const struct http_exchange *exchange) {
    struct preview preview = preview_of(exchange->path);
    struct bytes host = safe_host(exchange), proto = http_header(exchange, "X-Forwarded-Proto");
    bool encrypted = exchange->encrypted || bytes_equal(proto, BYTES("https"));
    buf_printf(to,
               "<meta name=\"description\" content=\"%s\" />\n"
               "    <meta property=\"og:site_name\" content=\"gametable\" />\n"
               "    <meta property=\"og:type\" content=\"website\" />\n"
               "    <meta property=\"og:title\" content=\"%s\" />\n"
               "    <meta property=\"og:description\" content=\"%s\" />\n"
               "    <meta name=\"twitter:card\" content=\"summary_large_image\" />\n",
               preview.about, preview.title, preview.about);
    if (host.size != 0)
        buf_printf(to, "    <meta property=\"og:image\" content=\"http%s://%.*s/preview.png\" />\n",
                   encrypted ? "s" : "", BYTES_ARG(host));
}

/* The page itself with its preview. */
static struct bytes page_text(struct http_exchange *exchange, struct bytes raw) {
    struct bytes mark = BYTES("<!-- preview -->");
    size_t at = bytes_find(raw, mark);
    if (at == SIZE_MAX)
        return raw;
    buf_put(&exchange->reply, bytes_of(raw.data, at));
    put_preview(&exchange->reply, exchange);
    buf_put(&exchange->reply, bytes_skip(raw, at + mark.size));
    return buf_bytes(&exchange->reply);
}

/* --- answering --- */

/* Everything comes from here and nothing goes elsewhere. Browsers of before 2022 do not take 'self'
 * for a WebSocket of the same host, so it is named. */
static void put_policy(struct buf *lines, const struct http_exchange *exchange) {
    struct bytes host = safe_host(exchange);
    buf_lit(lines, "Content-Security-Policy: default-src 'self'; connect-src 'self'");
    if (host.size != 0)
        buf_printf(lines, " ws://%.*s wss://%.*s", BYTES_ARG(host), BYTES_ARG(host));
    buf_lit(lines,
            "; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
            "frame-ancestors 'none'\r\n"
            "X-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n");
}

void pages_handle(struct http_exchange *exchange) {
    int status;
    const struct embedded *file = file_for(exchange, &status);
    struct buf lines = {0};
    struct bytes raw = bytes_of(file->raw, (size_t)(file->raw_end - file->raw));
    struct bytes gzip = bytes_of(file->gzip, (size_t)(file->gzip_end - file->gzip));
    struct bytes accepted = http_header(exchange, "Accept-Encoding");
    struct bytes text = ends_with(file->path, ".html") ? page_text(exchange, raw) : raw;
    struct http_answer answer = {
        .status = status, .content_type = bytes_str(type_of(file->path)), .body = text};
    bool named = strncmp(file->path, "/assets/", 8) == 0; /* by its content: it never changes */
    char tag[32];
    snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)hash_stable(text, 7));
    buf_printf(&lines, "ETag: %s\r\nCache-Control: %s\r\nVary: Accept-Encoding, Accept\r\n", tag,
               named ? "public, max-age=31536000, immutable" : "no-cache");
    put_policy(&lines, exchange);
    if (status == 200 && bytes_equal(http_header(exchange, "If-None-Match"), bytes_str(tag))) {
        answer.status = 304;
        answer.body = (struct bytes){0};
    } else if (text.data == raw.data && gzip.size < raw.size &&
               bytes_find(accepted, BYTES("gzip")) != SIZE_MAX) {
        answer.body = gzip;
        buf_lit(&lines, "Content-Encoding: gzip\r\n");
    }
    answer.headers = buf_bytes(&lines);
    http_answer(exchange, &answer);
    buf_release(&lines);
}

#include "api/dynamodb/ddb_headers.h"

#include <strings.h>

static bool named(struct bytes name, const char *wanted) {
    return strncasecmp((const char *)name.data, wanted, name.size) == 0;
}

/* Lengths tell almost all headers apart. */
static struct bytes *slot_of(struct bytes name, struct headers *out) {
    switch (name.size) {
    case sizeof("date") - 1:
        return named(name, "date") ? &out->date : NULL;
    case sizeof("origin") - 1:
        return named(name, "origin") ? &out->origin : NULL;
    case sizeof("x-amz-date") - 1:
        return named(name, "x-amz-date") ? &out->amz_date : NULL;
    case sizeof("x-amz-target") - 1: /* and content-type */
        if (named(name, "x-amz-target"))
            return &out->target;
        return named(name, "content-type") ? &out->content_type : NULL;
    case sizeof("authorization") - 1:
        return named(name, "authorization") ? &out->authorization : NULL;
    case sizeof("accept-encoding") - 1:
        return named(name, "accept-encoding") ? &out->accept_encoding : NULL;
    case sizeof("content-encoding") - 1:
        return named(name, "content-encoding") ? &out->content_encoding : NULL;
    default:
        return NULL;
    }
}

void headers_read(const struct http_exchange *exchange, struct headers *out) {
    *out = (struct headers){0};
    for (size_t i = 0; i < exchange->header_count; i++) {
        struct bytes *slot = slot_of(exchange->headers[i].name, out);
        if (slot != NULL)
            *slot = exchange->headers[i].value;
    }
}

/* What follows `key` ("Credential=") up to a comma, blank or ampersand; empty if it is not there.
 */
static struct bytes part_of(struct bytes text, struct bytes key) {
    size_t at = bytes_find(text, key);
    if (at == SIZE_MAX)
        return (struct bytes){0};
    struct bytes rest = bytes_skip(text, at + key.size);
    size_t size = 0;
    while (size < rest.size && memchr(", &", rest.data[size], 3) == NULL)
        size++;
    return bytes_of(rest.data, size);
}

struct bytes headers_region(struct bytes authorization, struct bytes query) {
    /* key/date/region/service/terminator; slashes are %2F in a query */
    bool header = authorization.size != 0;
    struct bytes scope = part_of(header ? authorization : query, BYTES("Credential="));
    if (scope.size == 0)
        return (struct bytes){0};
    struct bytes slash = header ? BYTES("/") : BYTES("%2F");
    for (int i = 0; i < 2; i++) {
        size_t at = bytes_find(scope, slash);
        if (at == SIZE_MAX)
            return (struct bytes){0};
        scope = bytes_skip(scope, at + slash.size);
    }
    size_t end = bytes_find(scope, slash);
    if (end == SIZE_MAX || end == 0 || end > 32)
        return (struct bytes){0};
    for (size_t i = 0; i < end; i++)
        if (memchr("abcdefghijklmnopqrstuvwxyz0123456789-", scope.data[i], 37) == NULL)
            return (struct bytes){0};
    return bytes_of(scope.data, end);
}

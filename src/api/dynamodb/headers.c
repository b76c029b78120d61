#include "api/dynamodb/headers.h"

#include "base/buf.h"

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

static struct bytes trim(struct bytes text) {
    while (text.size != 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_skip(text, 1);
    return text;
}

static const char *incomplete(struct buf *text, struct arena *arena, struct failure *failure) {
    failure_set(failure, arena, INVALID, "%.*s", (int)text->size, (const char *)text->data);
    buf_release(text);
    return "IncompleteSignatureException";
}

static const char *check_header(const struct headers *headers, struct arena *arena,
                                struct failure *failure) {
    static const char *const parts[] = {"Credential", "Signature", "SignedHeaders"};
    static const struct bytes keys[] = {
        {(const uint8_t *)"Credential=", 11},
        {(const uint8_t *)"Signature=", 10},
        {(const uint8_t *)"SignedHeaders=", 14},
    };
    struct buf text = {0};
    for (int i = 0; i < 3; i++)
        if (part_of(headers->authorization, keys[i]).size == 0)
            buf_printf(&text, "Authorization header requires '%s' parameter. ", parts[i]);
    if (headers->amz_date.size == 0 && headers->date.size == 0)
        buf_lit(&text, "Authorization header requires existence of either a 'X-Amz-Date' or a "
                       "'Date' header. ");
    if (text.size == 0)
        return NULL;
    buf_printf(&text, "Authorization=%.*s", BYTES_ARG(headers->authorization));
    return incomplete(&text, arena, failure);
}

static const char *check_query(struct bytes query, struct arena *arena, struct failure *failure) {
    static const char *const parts[] = {"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature",
                                        "X-Amz-SignedHeaders", "X-Amz-Date"};
    struct buf text = {0};
    for (int i = 0; i < 5; i++) {
        char key[32];
        size_t size = strlen(parts[i]);
        memcpy(key, parts[i], size);
        key[size] = '=';
        if (part_of(query, bytes_of(key, size + 1)).size == 0)
            buf_printf(&text, "AWS query-string parameters must include '%s'. ", parts[i]);
    }
    if (text.size == 0)
        return NULL;
    buf_lit(&text, "Re-examine the query-string parameters.");
    return incomplete(&text, arena, failure);
}

const char *headers_check_credentials(const struct headers *headers, struct bytes query,
                                      struct arena *arena, struct failure *failure) {
    bool in_query = query.size != 0 && bytes_find(query, BYTES("X-Amz-Algorithm")) != SIZE_MAX;
    bool in_header = headers->authorization.size != 0;
    if (in_header && in_query) {
        failure_set(failure, arena, INVALID,
                    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as "
                    "HTTP header.");
        return "InvalidSignatureException";
    }
    if (in_query)
        return check_query(query, arena, failure);
    if (in_header && bytes_starts(trim(headers->authorization), BYTES("AWS4-")))
        return check_header(headers, arena, failure);
    failure_set(failure, arena, INVALID, "Request is missing Authentication Token");
    return "MissingAuthenticationTokenException";
}

struct bytes headers_region(struct bytes authorization, struct bytes query) {
    /* key/date/region/service/terminator; slashes are %2F in a query */
    bool header = authorization.size != 0;
    struct bytes scope = part_of(header ? authorization : query, BYTES("Credential="));
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

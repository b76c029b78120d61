/* From a request to what it says about its signature. */
#include "api/signature.h"
#include "net/canonical.h"

static struct bytes trim(struct bytes text) {
    while (text.size != 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_skip(text, 1);
    while (text.size != 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

static const char *incomplete(struct buf *text, struct scope in) {
    failure_set(in.failure, in.arena, INVALID, "%.*s", (int)text->size, (const char *)text->data);
    buf_release(text);
    return "IncompleteSignatureException";
}

/* --- in the header --- */

/* "AWS4-HMAC-SHA256 Credential=..., SignedHeaders=..., Signature=..."; parts end at a comma or a
 * blank, and those of other names are passed over. */
static void read_parts(struct bytes text, struct signature *out) {
    struct bytes part;
    bytes_cut(&text, ' ', &out->algorithm);
    while (bytes_cut(&text, ',', &part)) {
        struct bytes name, word;
        while (bytes_cut(&part, ' ', &word)) {
            if (!bytes_cut(&word, '=', &name))
                continue;
            if (bytes_equal(name, BYTES("Credential")))
                out->credential = word;
            else if (bytes_equal(name, BYTES("SignedHeaders")))
                out->signed_headers = word;
            else if (bytes_equal(name, BYTES("Signature")))
                out->hex = word;
        }
    }
}

static const char *read_header(const struct http_exchange *exchange, struct bytes authorization,
                               struct scope in, struct signature *out) {
    struct buf text = {0};
    read_parts(trim(authorization), out);
    out->date = http_header(exchange, "x-amz-date");
    out->date_is_amz = out->date.size != 0;
    if (!out->date_is_amz)
        out->date = http_header(exchange, "date");
    out->date = trim(out->date);
    if (out->credential.size == 0)
        buf_lit(&text, "Authorization header requires 'Credential' parameter. ");
    if (out->hex.size == 0)
        buf_lit(&text, "Authorization header requires 'Signature' parameter. ");
    if (out->signed_headers.size == 0)
        buf_lit(&text, "Authorization header requires 'SignedHeaders' parameter. ");
    if (out->date.size == 0)
        buf_lit(&text, "Authorization header requires existence of either a 'X-Amz-Date' or a "
                       "'Date' header. ");
    if (text.size == 0)
        return NULL;
    buf_lit(&text, "Authorization=");
    buf_put(&text, authorization);
    return incomplete(&text, in);
}

/* --- in the query --- */

static const char *read_query(const struct http_exchange *exchange, struct scope in,
                              struct signature *out) {
    const struct {
        struct bytes name;
        struct bytes *to;
    } parts[] = {
        {BYTES("X-Amz-Algorithm"), &out->algorithm},
        {BYTES("X-Amz-Credential"), &out->credential},
        {BYTES("X-Amz-Signature"), &out->hex},
        {BYTES("X-Amz-SignedHeaders"), &out->signed_headers},
        {BYTES("X-Amz-Date"), &out->date},
    };
    struct buf text = {0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        query_get(exchange->query, parts[i].name, in.arena, parts[i].to);
        if (parts[i].to->size == 0)
            buf_printf(&text, "AWS query-string parameters must include '%.*s'. ",
                       BYTES_ARG(parts[i].name));
    }
    if (text.size == 0)
        return NULL;
    buf_lit(&text, "Re-examine the query-string parameters.");
    return incomplete(&text, in);
}

const char *signature_read(const struct http_exchange *exchange, struct scope in,
                           struct signature *out) {
    *out = (struct signature){0};
    struct bytes authorization = http_header(exchange, "authorization"), algorithm;
    out->in_query = exchange->query.size != 0 &&
                    query_get(exchange->query, BYTES("X-Amz-Algorithm"), in.arena, &algorithm);
    if (out->in_query && authorization.size != 0) {
        failure_set(in.failure, in.arena, INVALID,
                    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as "
                    "HTTP header.");
        return "InvalidSignatureException";
    }
    if (out->in_query)
        return read_query(exchange, in, out);
    if (bytes_starts(trim(authorization), BYTES("AWS4-")))
        return read_header(exchange, authorization, in, out);
    failure_set(in.failure, in.arena, INVALID, "Request is missing Authentication Token");
    return "MissingAuthenticationTokenException";
}

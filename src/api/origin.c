#include "api/origin.h"

#include <strings.h>

static bool equal_nocase(struct bytes a, struct bytes b) {
    return a.size == b.size &&
           (a.size == 0 || strncasecmp((const char *)a.data, (const char *)b.data, a.size) == 0);
}

/* --- hosts --- */

/* "name:port" or "[address]:port" without the port. */
static struct bytes without_port(struct bytes authority) {
    bool in_address = false;
    for (size_t i = 0; i < authority.size; i++) {
        in_address = authority.data[i] == '[' || (in_address && authority.data[i] != ']');
        if (authority.data[i] == ':' && !in_address)
            return bytes_of(authority.data, i);
    }
    return authority;
}

/* Four numbers of at most 255, the first of them 127: a longer name that only begins like an
 * address, such as 127.0.0.1.example, is somebody else's. */
static bool is_loopback_address(struct bytes host) {
    unsigned parts = 0, digits = 0, number = 0;
    if (!bytes_starts(host, BYTES("127.")))
        return false;
    for (size_t i = 0; i < host.size; i++) {
        if (host.data[i] == '.' && digits != 0) {
            parts++;
            digits = number = 0;
        } else if (host.data[i] >= '0' && host.data[i] <= '9' && digits < 3) {
            digits++;
            number = number * 10 + (unsigned)(host.data[i] - '0');
        } else {
            return false;
        }
        if (number > 255)
            return false;
    }
    return parts == 3 && digits != 0;
}

/* RFC 6761 gives localhost, and every name below it, to loopback. */
static bool is_loopback(struct bytes authority) {
    static const char suffix[] = ".localhost";
    const size_t size = sizeof(suffix) - 1;
    struct bytes host = without_port(authority);
    if (is_loopback_address(host))
        return true;
    if (equal_nocase(host, BYTES("localhost")) || equal_nocase(host, BYTES("[::1]")))
        return true;
    return host.size > size &&
           equal_nocase(bytes_skip(host, host.size - size), BYTES(".localhost"));
}

/* What stands behind "scheme://"; empty if it has no such form, as "null" has not. */
static struct bytes authority_of(struct bytes origin) {
    size_t scheme = bytes_find(origin, BYTES("://"));
    return scheme == SIZE_MAX ? (struct bytes){0} : bytes_skip(origin, scheme + 3);
}

/* --- the list --- */

/* The next word of a list that is separated by blanks; false at its end. */
static bool next_listed(struct bytes *rest, struct bytes *out) {
    while (rest->size != 0 && rest->data[0] == ' ')
        *rest = bytes_skip(*rest, 1);
    size_t end = bytes_find(*rest, BYTES(" "));
    *out = bytes_of(rest->data, end == SIZE_MAX ? rest->size : end);
    *rest = bytes_skip(*rest, out->size);
    return out->size != 0;
}

static struct bytes list_of(const struct origin_policy *policy) {
    return policy->listed == NULL ? (struct bytes){0} : bytes_str(policy->listed);
}

static bool is_listed(const struct origin_policy *policy, struct bytes origin) {
    struct bytes rest = list_of(policy), one;
    while (next_listed(&rest, &one))
        if (bytes_equal(one, BYTES("*")) || equal_nocase(one, origin))
            return true;
    return false;
}

static bool is_listed_host(const struct origin_policy *policy, struct bytes host) {
    struct bytes rest = list_of(policy), one;
    while (next_listed(&rest, &one))
        if (bytes_equal(one, BYTES("*")) ||
            equal_nocase(without_port(authority_of(one)), without_port(host)))
            return true;
    return false;
}

/* --- what is asked --- */

/* The headers that matter here. */
struct origin_headers {
    struct bytes host, origin, site, mode;
};

/* Whether the header, of that length, has that name: most that are not differ in their first byte.
 */
static bool is_named(const struct http_header *header, const char *name) {
    const char *at = (const char *)header->name.data;
    return (at[0] | 0x20) == (name[0] | 0x20) && strncasecmp(at, name, header->name.size) == 0;
}

/* In one pass, by their lengths first: every request comes through here. */
static struct origin_headers read_headers(const struct http_exchange *exchange) {
    struct origin_headers out = {0};
    for (size_t i = 0; i < exchange->header_count; i++) {
        const struct http_header *header = &exchange->headers[i];
        switch (header->name.size) {
        case sizeof("Host") - 1:
            if (is_named(header, "Host"))
                out.host = header->value;
            break;
        case sizeof("Origin") - 1:
            if (is_named(header, "Origin"))
                out.origin = header->value;
            break;
        case sizeof("Sec-Fetch-Site") - 1: /* and Sec-Fetch-Mode */
            if (is_named(header, "Sec-Fetch-Site"))
                out.site = header->value;
            else if (is_named(header, "Sec-Fetch-Mode"))
                out.mode = header->value;
            break;
        default:
            break;
        }
    }
    return out;
}

static bool is_trusted(const struct origin_policy *policy, const struct origin_headers *headers) {
    struct bytes authority = authority_of(headers->origin);
    if (headers->origin.size == 0)
        return true;
    if (authority.size != 0 &&
        (equal_nocase(authority, headers->host) || (!policy->any_page && is_loopback(authority))))
        return true;
    return is_listed(policy, headers->origin);
}

bool origin_is_trusted(const struct origin_policy *policy, const struct http_exchange *exchange) {
    struct origin_headers headers = read_headers(exchange);
    return is_trusted(policy, &headers);
}

bool origin_is_own(const struct http_exchange *exchange) {
    struct origin_headers headers = read_headers(exchange);
    if (headers.site.size != 0 && !bytes_equal(headers.site, BYTES("same-origin")) &&
        !bytes_equal(headers.site, BYTES("none")))
        return false;
    return headers.origin.size == 0 || equal_nocase(authority_of(headers.origin), headers.host);
}

/* A page's image, script or form says so even where it sends no Origin; following a link is
 * nothing that the page could read. */
static bool is_cross_site(const struct origin_headers *headers) {
    return headers->origin.size == 0 && bytes_equal(headers->site, BYTES("cross-site")) &&
           !bytes_equal(headers->mode, BYTES("navigate"));
}

bool origin_admits(const struct origin_policy *policy, struct http_exchange *exchange,
                   struct bytes *why) {
    if (policy->any_host && policy->any_page)
        return true;
    struct origin_headers headers = read_headers(exchange);
    struct bytes host = headers.host, origin = headers.origin;
    if (!policy->any_host && host.size != 0 && !is_loopback(host) &&
        !is_listed_host(policy, host)) {
        *why = arena_printf(&exchange->arena,
                            "without access keys this server answers to loopback names, not to "
                            "%.*s: list its origin in --origins, or use --keys",
                            BYTES_ARG(host));
        return false;
    }
    if (policy->any_page || (!is_cross_site(&headers) && is_trusted(policy, &headers)))
        return true;
    *why = arena_printf(&exchange->arena,
                        "without access keys this server takes no requests from pages of %.*s: "
                        "list the origin in --origins, or use --keys",
                        BYTES_ARG(origin.size != 0 ? origin : BYTES("other sites")));
    return false;
}

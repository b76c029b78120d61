#include "api/rest/rest_route.h"

#include "base/utf8.h"
#include "net/canonical.h"

enum { SEGMENTS_MAX = 6 };

struct segments {
    struct bytes parts[SEGMENTS_MAX];
    size_t count;
};

/* What stands between slashes after the first; false if there is more than any route has. */
static bool split_path(struct bytes path, struct segments *out) {
    struct bytes part;
    out->count = 0;
    if (path.size == 0)
        return true;
    path = bytes_skip(path, 1);
    while (bytes_cut(&path, '/', &part)) {
        if (out->count == SEGMENTS_MAX)
            return false;
        out->parts[out->count++] = part;
    }
    return true;
}

static int hex(uint8_t c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_unescaped(struct bytes text, bool plus) {
    return text.size == 0 || (memchr(text.data, '%', text.size) == NULL &&
                              !(plus && memchr(text.data, '+', text.size) != NULL));
}

bool route_decode(struct bytes text, bool plus, struct arena *arena, struct bytes *out) {
    *out = text;
    if (is_unescaped(text, plus))
        return true;
    uint8_t *to = arena_alloc(arena, text.size);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '%') {
            int high = i + 1 < text.size ? hex(text.data[i + 1]) : -1;
            int low = i + 2 < text.size ? hex(text.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus)
            c = ' ';
        to[size++] = c;
    }
    *out = bytes_of(to, size);
    return true;
}

/* --- paths --- */

/* Holds a segment against "word", "{name}" or "{name}:word"; *argument is what stands for the
 * name. */
static bool segment_matches(const char *pattern, size_t size, struct bytes segment,
                            struct bytes *argument) {
    if (pattern[0] != '{') {
        argument->data = NULL;
        return segment.size == size && memcmp(segment.data, pattern, size) == 0;
    }
    const char *close = memchr(pattern, '}', size);
    struct bytes tail = bytes_of(close + 1, size - (size_t)(close + 1 - pattern));
    if (segment.size <= tail.size ||
        !bytes_equal(bytes_skip(segment, segment.size - tail.size), tail))
        return false;
    *argument = bytes_of(segment.data, segment.size - tail.size);
    return true;
}

static bool path_matches(const char *pattern, const struct segments *segments,
                         struct bytes arguments[PATH_ARGUMENTS_MAX]) {
    size_t at = 0, found = 0;
    while (*pattern == '/') {
        size_t size = strcspn(++pattern, "/");
        struct bytes argument;
        if (at == segments->count ||
            !segment_matches(pattern, size, segments->parts[at++], &argument))
            return false;
        if (argument.data != NULL && found < PATH_ARGUMENTS_MAX)
            arguments[found++] = argument;
        pattern += size;
    }
    return at == segments->count;
}

/* HEAD is answered by who answers GET. */
static bool method_matches(const struct route *route, struct bytes method) {
    return bytes_equal(method, bytes_str(route->method)) ||
           (bytes_equal(method, BYTES("HEAD")) && strcmp(route->method, "GET") == 0);
}

static void put_allowed(struct buf *allow, const char *method) {
    if (allow->size != 0)
        buf_lit(allow, ", ");
    buf_put(allow, bytes_str(method));
    if (strcmp(method, "GET") == 0)
        buf_lit(allow, ", HEAD");
}

static bool decode_all(struct bytes arguments[PATH_ARGUMENTS_MAX], struct arena *arena) {
    for (size_t i = 0; i < PATH_ARGUMENTS_MAX; i++)
        if (!route_decode(arguments[i], false, arena, &arguments[i]))
            return false;
    return true;
}

enum route_found route_find(struct bytes method, struct bytes path, struct arena *arena,
                            struct route_match *out) {
    struct segments segments;
    struct buf allow = {0};
    struct bytes below = bytes_skip(path, 3); /* "/v1" */
    *out = (struct route_match){0};
    if (below.size == 1)
        below.size = 0;
    if (!split_path(below, &segments))
        return ROUTE_NONE;
    for (size_t i = 0; i < rest_route_count && out->route == NULL; i++) {
        struct bytes found[PATH_ARGUMENTS_MAX] = {{0}};
        if (!path_matches(rest_routes[i].path, &segments, found))
            continue;
        if (!method_matches(&rest_routes[i], method)) {
            put_allowed(&allow, rest_routes[i].method);
            continue;
        }
        memcpy(out->arguments, found, sizeof found);
        out->route = &rest_routes[i];
    }
    out->allow = arena_copy(arena, buf_bytes(&allow));
    buf_release(&allow);
    if (out->route != NULL)
        return decode_all(out->arguments, arena) ? ROUTE_FOUND : ROUTE_NONE;
    return out->allow.size != 0 ? ROUTE_OTHER_METHOD : ROUTE_NONE;
}

/* --- queries --- */

static int parameter_index(const struct route *route, struct bytes name,
                           const struct form_field **field) {
    int index = 0;
    for (const struct form_field *at = route->query; at != NULL && at->name != NULL; at++, index++)
        if (bytes_equal(name, bytes_str(at->name))) {
            *field = at;
            return index;
        }
    if ((route->flags & ROUTE_SCORES) != 0 && bytes_equal(name, bytes_str(route_numbers.name))) {
        *field = &route_numbers;
        return QUERY_MAX - 1;
    }
    return -1;
}

static enum status take_parameter(const struct route *route, struct bytes part, struct scope in,
                                  struct route_parameters *out) {
    struct bytes name, value;
    const struct form_field *field;
    if (!bytes_cut(&part, '=', &name))
        return OK;
    if (!route_decode(name, true, in.arena, &name) || !route_decode(part, true, in.arena, &value) ||
        !utf8_valid(name))
        return failure_set(in.failure, in.arena, INVALID, "the query is not percent-encoded");
    out->wrong = name;
    int index = parameter_index(route, name, &field);
    if (index < 0)
        return failure_set(in.failure, in.arena, INVALID, "%.*s is no parameter of this path",
                           BYTES_ARG(name));
    if (out->values[index].data != NULL)
        return failure_set(in.failure, in.arena, INVALID, "%.*s is given twice", BYTES_ARG(name));
    if (form_check_text(field, value, in) != OK)
        return INVALID;
    out->values[index] = value.data == NULL ? BYTES("") : value;
    return OK;
}

enum status route_query(const struct route *route, struct bytes query, struct scope in,
                        struct route_parameters *out) {
    struct bytes part;
    *out = (struct route_parameters){0};
    while (query.size != 0 && bytes_cut(&query, '&', &part)) {
        enum status status = OK;
        if (part.size != 0)
            status = take_parameter(route, part, in, out);
        if (status != OK)
            return status;
    }
    out->wrong = (struct bytes){0};
    int index = 0;
    for (const struct form_field *at = route->query; at != NULL && at->name != NULL; at++, index++)
        if ((at->flags & FORM_REQUIRED) != 0 && out->values[index].data == NULL) {
            out->wrong = bytes_str(at->name);
            return failure_set(in.failure, in.arena, INVALID, "%s is missing", at->name);
        }
    return OK;
}

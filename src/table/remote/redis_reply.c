/* RESP replies: finding their end, and reading them. */
#include "table/remote/redis_reply.h"

#include "base/limits.h"

enum { NUMBER_TEXT_MAX = 20 /* "-9223372036854775808" */ };

/* --- lines --- */

/* The line that begins at `at`, without its end; *next is the byte after it. False: not here yet.
 */
static bool take_line(struct bytes bytes, size_t at, size_t *looked, struct bytes *line) {
    size_t from = *looked > at ? *looked : at;
    const uint8_t *end =
        from < bytes.size ? memchr(bytes.data + from, '\n', bytes.size - from) : NULL;
    if (end == NULL) {
        *looked = bytes.size;
        return false;
    }
    *line = bytes_of(bytes.data + at, (size_t)(end - bytes.data) - at);
    return true;
}

static bool read_number(struct bytes text, int64_t *out) {
    bool negative = text.size != 0 && text.data[0] == '-';
    uint64_t number = 0;
    if (negative || (text.size != 0 && text.data[0] == '+'))
        text = bytes_skip(text, 1);
    if (text.size == 0 || text.size >= NUMBER_TEXT_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    if (number > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

/* What a reply's first line says. */
struct head {
    uint8_t kind;
    struct bytes rest; /* of the line, after the kind */
    int64_t number;    /* of a length, a count or an integer */
    size_t size;       /* of the line with its end */
};

static bool has_number(uint8_t kind) {
    return memchr("$=!*~>%:", kind, 8) != NULL;
}

/* A length, a count, within its bound; -1 is null. */
static bool is_bounded(const struct head *head) {
    switch (head->kind) {
    case '$':
    case '=':
    case '!':
        return head->number >= -1 && head->number <= LIMIT_REDIS_BULK;
    case '*':
    case '~':
    case '>':
    case '%':
        return head->number >= -1 && head->number <= LIMIT_REDIS_ELEMENTS;
    default:
        return true;
    }
}

static enum status read_head(struct bytes line, struct head *out) {
    if (line.size < 2 || line.data[line.size - 1] != '\r')
        return PARSE_FAILED;
    *out = (struct head){.kind = line.data[0],
                         .rest = bytes_of(line.data + 1, line.size - 2),
                         .size = line.size + 1};
    if (memchr("+-:$*_#,(!=~>%", out->kind, 14) == NULL)
        return PARSE_FAILED;
    if (has_number(out->kind) && !read_number(out->rest, &out->number))
        return PARSE_FAILED;
    return is_bounded(out) ? OK : PARSE_FAILED;
}

/* How many replies follow on this one as its elements, and how many bytes as its text. */
static size_t elements_of(const struct head *head) {
    if (head->number <= 0 || memchr("*~>%", head->kind, 4) == NULL)
        return 0;
    return (size_t)head->number * (head->kind == '%' ? 2 : 1);
}

static size_t text_of(const struct head *head) {
    if (head->number < 0 || memchr("$=!", head->kind, 3) == NULL)
        return 0;
    return (size_t)head->number + 2;
}

/* --- finding the end --- */

enum status redis_scan(struct redis_scan *scan, struct bytes bytes) {
    if (!scan->begun) {
        scan->begun = true;
        scan->pending = 1;
    }
    while (scan->pending != 0) {
        struct bytes line;
        struct head head;
        if (!take_line(bytes, scan->at, &scan->looked, &line))
            return bytes.size - scan->at > LIMIT_REDIS_REPLY ? PARSE_FAILED : WOULD_BLOCK;
        enum status status = read_head(line, &head);
        if (status != OK)
            return status;
        size_t end = scan->at + head.size + text_of(&head);
        if (end > LIMIT_REDIS_REPLY)
            return PARSE_FAILED;
        if (end > bytes.size)
            return WOULD_BLOCK;
        scan->at = end;
        scan->pending += elements_of(&head);
        scan->pending--;
        if (scan->pending > LIMIT_REDIS_ELEMENTS)
            return PARSE_FAILED;
    }
    scan->size = scan->at;
    return OK;
}

/* --- reading --- */

struct reader {
    struct bytes bytes; /* what is left */
    struct arena *arena;
};

static enum status read_one(struct reader *reader, unsigned depth, struct redis_reply *out);

static enum status read_elements(struct reader *reader, size_t count, unsigned depth,
                                 struct redis_reply *out) {
    enum status status = OK;
    /* An element takes three bytes at least, so the memory is in proportion to what came. */
    if (depth >= LIMIT_REDIS_DEPTH || count > reader->bytes.size / 3)
        return PARSE_FAILED;
    out->type = REDIS_ARRAY;
    out->count = count;
    out->elements = ARENA_ARRAY(reader->arena, struct redis_reply, count);
    for (size_t i = 0; i < count && status == OK; i++)
        status = read_one(reader, depth + 1, &out->elements[i]);
    return status;
}

static enum status read_text(struct reader *reader, const struct head *head,
                             struct redis_reply *out) {
    size_t size = text_of(head);
    if (size > reader->bytes.size || memcmp(reader->bytes.data + size - 2, "\r\n", 2) != 0)
        return PARSE_FAILED;
    out->type = head->kind == '!' ? REDIS_ERROR : REDIS_TEXT;
    out->text = bytes_of(reader->bytes.data, size - 2);
    if (head->kind == '=' && out->text.size >= 4)
        out->text = bytes_skip(out->text, 4); /* "txt:" */
    reader->bytes = bytes_skip(reader->bytes, size);
    return OK;
}

/* Those that are one line. False: it is another. */
static bool read_short(const struct head *head, struct redis_reply *out) {
    switch (head->kind) {
    case '+':
    case '-':
    case ',':
    case '(':
        out->type = head->kind == '+' ? REDIS_STATUS : head->kind == '-' ? REDIS_ERROR : REDIS_TEXT;
        out->text = head->rest;
        return true;
    case ':':
    case '#':
        out->type = REDIS_INT;
        out->number = head->kind == ':' ? head->number : bytes_equal(head->rest, BYTES("t"));
        return true;
    default:
        return head->kind == '_';
    }
}

static enum status read_one(struct reader *reader, unsigned depth, struct redis_reply *out) {
    struct bytes line;
    struct head head;
    size_t looked = 0;
    if (!take_line(reader->bytes, 0, &looked, &line) || read_head(line, &head) != OK)
        return PARSE_FAILED;
    reader->bytes = bytes_skip(reader->bytes, head.size);
    *out = (struct redis_reply){0};
    if (read_short(&head, out) || head.number < 0)
        return OK;
    if (memchr("$=!", head.kind, 3) != NULL)
        return read_text(reader, &head, out);
    return read_elements(reader, elements_of(&head), depth, out);
}

enum status redis_reply_read(struct bytes bytes, struct arena *arena, struct redis_reply *out) {
    struct reader reader = {bytes, arena};
    return read_one(&reader, 0, out);
}

/* --- looking at one --- */

bool redis_reply_is_error(const struct redis_reply *reply, struct bytes code) {
    struct bytes text = reply->text;
    return reply->type == REDIS_ERROR && bytes_starts(text, code) &&
           (text.size == code.size || text.data[code.size] == ' ');
}

int64_t redis_reply_number(const struct redis_reply *reply) {
    int64_t number = 0;
    if (reply->type == REDIS_INT)
        return reply->number;
    if (reply->type == REDIS_TEXT && read_number(reply->text, &number))
        return number;
    return 0;
}

/* Requests as RFC 9112 has them, and those that two servers could read differently: behind a proxy
 * the second is a request that somebody smuggles in. Each case is parsed whole, and byte by byte.
 */
#include "test.h"

#include "base/mem.h"
#include "base/random.h"
#include "net/request.h"

#define HOST    "Host: a\r\n"
#define POST    "POST / HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

struct request_case {
    const char *name, *text;
    int refusal;      /* 0: it is taken, */
    const char *body; /* with this body */
    size_t size;      /* of the text, if it has a NUL */
};

/* What is taken. */
static const struct request_case good[] = {
    {"no body", "GET /a?b HTTP/1.1\r\n" HOST "\r\n", 0, "", 0},
    {"a length", POST "Content-Length: 5\r\n\r\nhello", 0, "hello", 0},
    {"a length of nothing", POST "Content-Length: 0\r\n\r\n", 0, "", 0},
    {"blanks around a value", POST "Content-Length:  5  \r\n\r\nhello", 0, "hello", 0},
    {"an empty value", "GET / HTTP/1.1\r\n" HOST "X:\r\nY: \r\n\r\n", 0, "", 0},
    {"an empty line before it", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 0, "", 0},
    {"HTTP/1.0 without a Host", "GET / HTTP/1.0\r\n\r\n", 0, "", 0},
    {"the absolute form", "GET http://a/b HTTP/1.1\r\n" HOST "\r\n", 0, "", 0},
    {"the absolute form, other case", "GET HTTP://A:80/b HTTP/1.1\r\nHost: a:80\r\n\r\n", 0, "", 0},
    {"the asterisk form", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 0, "", 0},
    {"an address as Host", "GET / HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n", 0, "", 0},
    {"bytes beyond ASCII in a value", "GET / HTTP/1.1\r\n" HOST "X: \xc3\xa4\r\n\r\n", 0, "", 0},
    {"chunks", CHUNKED "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 0, "hello", 0},
    {"hexadecimal sizes", CHUNKED "A\r\n0123456789\r\n00b\r\n0123456789a\r\n0\r\n\r\n", 0,
     "01234567890123456789a", 0},
    {"no chunk", CHUNKED "0\r\n\r\n", 0, "", 0},
    {"extensions", CHUNKED "5;a=b;c=\"d;e\\\"f\"\r\nhello\r\n0;x\r\n\r\n", 0, "hello", 0},
    {"trailers", CHUNKED "5\r\nhello\r\n0\r\nX: y\r\nZ:\r\n\r\n", 0, "hello", 0},
    {"a length in the trailers is nothing", CHUNKED "0\r\nContent-Length: 5\r\n\r\n", 0, "", 0},
    {"a newer minor version", "GET / HTTP/1.9\r\n" HOST "\r\n", 0, "", 0},
    {"any case of chunked", POST "transfer-encoding: Chunked\r\n\r\n0\r\n\r\n", 0, "", 0},
};

/* The head: where a body is, and whose request it is, must not be in doubt. */
static const struct request_case bad_heads[] = {
    {"chunked and a length",
     POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400, NULL, 0},
    {"a length and chunked",
     POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, NULL, 0},
    {"two lengths", POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400, NULL, 0},
    {"the same length twice", POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400, NULL,
     0},
    {"a list of lengths", POST "Content-Length: 5, 5\r\n\r\nhello", 400, NULL, 0},
    {"two numbers", POST "Content-Length: 5 5\r\n\r\nhello", 400, NULL, 0},
    {"a sign", POST "Content-Length: +5\r\n\r\nhello", 400, NULL, 0},
    {"a negative length", POST "Content-Length: -5\r\n\r\nhello", 400, NULL, 0},
    {"a hexadecimal length", POST "Content-Length: 0x5\r\n\r\nhello", 400, NULL, 0},
    {"a length with letters", POST "Content-Length: 5a\r\n\r\nhello", 400, NULL, 0},
    {"an empty length", POST "Content-Length:\r\n\r\nhello", 400, NULL, 0},
    {"a blank length", POST "Content-Length: \r\n\r\nhello", 400, NULL, 0},
    {"a length beyond 64 bits", POST "Content-Length: 18446744073709551621\r\n\r\nhello", 400, NULL,
     0},
    {"chunked twice", POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501, NULL, 0},
    {"two encodings",
     POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, NULL,
     0},
    {"gzip and chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, NULL, 0},
    {"chunked and gzip", POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 501, NULL, 0},
    {"identity", POST "Transfer-Encoding: identity\r\n\r\n", 501, NULL, 0},
    {"identity and a length", POST "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello",
     400, NULL, 0},
    {"nearly chunked", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501, NULL, 0},
    {"chunked with a parameter", POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", 501, NULL,
     0},
    {"quoted chunked", POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 501, NULL, 0},
    {"an empty encoding", POST "Transfer-Encoding:\r\n\r\nhello", 501, NULL, 0},
    {"a vertical tab",
     POST "Transfer-Encoding:\x0b"
          "chunked\r\n\r\n0\r\n\r\n",
     501, NULL, 0},
    {"chunked in HTTP/1.0",
     "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, NULL, 0},
    {"a folded line", "GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", 400, NULL, 0},
    {"a folded line by a tab", "GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n", 400, NULL, 0},
    {"a folded empty value", "GET / HTTP/1.1\r\n" HOST "X:\r\n b\r\n\r\n", 400, NULL, 0},
    {"a folded length", POST "Content-Length:\r\n 5\r\n\r\nhello", 400, NULL, 0},
    {"a folded encoding", POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400, NULL, 0},
    {"a line of blanks", "GET / HTTP/1.1\r\n" HOST "X: a\r\n \r\n\r\n", 400, NULL, 0},
    {"a blank before the first header", "GET / HTTP/1.1\r\n " HOST "\r\n", 400, NULL, 0},
    {"LF after the request line", "GET / HTTP/1.1\n" HOST "\r\n", 400, NULL, 0},
    {"LF after a header", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400, NULL, 0},
    {"LF as the empty line", "GET / HTTP/1.1\r\n" HOST "\n", 400, NULL, 0},
    {"LF throughout", "GET / HTTP/1.1\nHost: a\n\n", 400, NULL, 0},
    {"LF in a value", "GET / HTTP/1.1\r\n" HOST "X: a\nContent-Length: 5\r\n\r\nhello", 400, NULL,
     0},
    {"LF before the request", "\nGET / HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"CR in a value", "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", 400, NULL, 0},
    {"two CRs", "GET / HTTP/1.1\r\n" HOST "X: a\r\r\n\r\n", 400, NULL, 0},
    {"CR in the request line", "GET /\rx HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"NUL in a value", "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n", 400, NULL, 35},
    {"NUL in a name", "GET / HTTP/1.1\r\n" HOST "X\0: a\r\n\r\n", 400, NULL, 34},
    {"a control character in a value", "GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n\r\n", 400, NULL, 0},
    {"DEL in a value", "GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n\r\n", 400, NULL, 0},
    {"a blank before the colon", POST "Content-Length : 5\r\n\r\nhello", 400, NULL, 0},
    {"a tab before the colon", POST "Content-Length\t: 5\r\n\r\nhello", 400, NULL, 0},
    {"a blank in a name", POST "Content Length: 5\r\n\r\nhello", 400, NULL, 0},
    {"no colon", "GET / HTTP/1.1\r\n" HOST "nothing\r\n\r\n", 400, NULL, 0},
    {"no name", "GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n", 400, NULL, 0},
    {"brackets in a name", "GET / HTTP/1.1\r\n" HOST "X(y): a\r\n\r\n", 400, NULL, 0},
    {"a name beyond ASCII", "GET / HTTP/1.1\r\n" HOST "X\xc3\xa4: a\r\n\r\n", 400, NULL, 0},
    {"no Host", "GET / HTTP/1.1\r\n\r\n", 400, NULL, 0},
    {"two Hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, NULL, 0},
    {"two Hosts that differ", "GET / HTTP/1.1\r\n" HOST "Host: b\r\n\r\n", 400, NULL, 0},
    {"a list of Hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, NULL, 0},
    {"a path in the Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, NULL, 0},
    {"a name and password in the Host", "GET / HTTP/1.1\r\nHost: b@a\r\n\r\n", 400, NULL, 0},
    {"a blank in the Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, NULL, 0},
    {"another Host in the absolute form", "GET http://b/ HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"another port in the absolute form", "GET http://a:81/ HTTP/1.1\r\nHost: a:80\r\n\r\n", 400,
     NULL, 0},
    {"a password in the absolute form", "GET http://b@a/ HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"another scheme", "GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"two blanks after the method", "GET  / HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"two blanks after the target", "GET /  HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"a tab after the method", "GET\t/ HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"a blank at the line's end", "GET / HTTP/1.1 \r\n" HOST "\r\n", 400, NULL, 0},
    {"a blank in the target", "GET /a b HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"no version", "GET /\r\n" HOST "\r\n", 400, NULL, 0},
    {"a short version", "GET / HTTP/1\r\n" HOST "\r\n", 400, NULL, 0},
    {"a long version", "GET / HTTP/1.11\r\n" HOST "\r\n", 400, NULL, 0},
    {"a version in small letters", "GET / http/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"another protocol", "GET / ICY/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"a newer version", "GET / HTTP/2.0\r\n" HOST "\r\n", 505, NULL, 0},
    {"a method in small letters", "get / HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
    {"CONNECT", "CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", 400, NULL, 0},
};

/* The chunks of a body. */
static const struct request_case bad_chunks[] = {
    {"no size", CHUNKED "\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a blank before the size", CHUNKED " 5\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a blank after the size", CHUNKED "5 \r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a tab after the size", CHUNKED "5\t\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a sign", CHUNKED "+5\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a negative size", CHUNKED "-1\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"0x", CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"no hexadecimal digit", CHUNKED "5g\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"an underscore", CHUNKED "0_5\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"LF after the size", CHUNKED "5\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"CR after the size", CHUNKED "5\rhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"CR and something after the size", CHUNKED "5\rXhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"nothing after the data", CHUNKED "5\r\nhello0\r\n\r\n", 400, NULL, 0},
    {"LF after the data", CHUNKED "5\r\nhello\n0\r\n\r\n", 400, NULL, 0},
    {"two other bytes after the data", CHUNKED "5\r\nhelloXY0\r\n\r\n", 400, NULL, 0},
    {"CR and something after the data", CHUNKED "5\r\nhello\rX0\r\n\r\n", 400, NULL, 0},
    {"more data than said", CHUNKED "4\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a size beyond 64 bits", CHUNKED "10000000000000005\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"many zeros", CHUNKED "000000000000000000005\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"more than is taken", CHUNKED "ffffff\r\n", 413, NULL, 0},
    {"LF in an extension", CHUNKED "5;a\nb\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"CR in an extension", CHUNKED "5;a\rb\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"a control character in an extension", CHUNKED "5;a\x01\r\nhello\r\n0\r\n\r\n", 400, NULL, 0},
    {"LF at the end", CHUNKED "5\r\nhello\r\n0\n\n", 400, NULL, 0},
    {"LF as the last line", CHUNKED "5\r\nhello\r\n0\r\n\n", 400, NULL, 0},
    {"CR and something at the end", CHUNKED "5\r\nhello\r\n0\r\n\rX", 400, NULL, 0},
    {"a trailer that could end the chunks",
     CHUNKED "0\r\nTransfer-Encoding: identity\r\nX : y\r\n\r\n", 400, NULL, 0},
    {"LF after a trailer", CHUNKED "0\r\nX: y\n\r\n", 400, NULL, 0},
    {"a folded trailer", CHUNKED "0\r\nX: y\r\n z\r\n\r\n", 400, NULL, 0},
    {"a trailer without a colon", CHUNKED "0\r\nxyz\r\n\r\n", 400, NULL, 0},
    {"a blank before a trailer's colon", CHUNKED "0\r\nX : y\r\n\r\n", 400, NULL, 0},
};

static const struct request_limits limits = {32 * 1024, 64 * 1024};

/* Feeds it in pieces; the last state. A refusal counts as soon as it is there. */
static enum request_state feed(struct request *request, struct bytes text, size_t piece) {
    enum request_state state = REQUEST_MORE;
    while (state == REQUEST_MORE && text.size != 0) {
        size_t room, size = piece < text.size ? piece : text.size;
        uint8_t *to = request_room(request, &room);
        assert_true(size <= room);
        memcpy(to, text.data, size);
        request_added(request, size);
        text = bytes_skip(text, size);
        state = request_parse(request);
    }
    return state;
}

static void check_case(const struct request_case *c, size_t piece) {
    struct request *request = request_new();
    struct bytes text = bytes_of(c->text, c->size != 0 ? c->size : strlen(c->text));
    request_begin(request, &limits);
    enum request_state state = feed(request, text, piece);
    int refusal = state == REQUEST_REFUSED ? request->refusal : 0;
    bool as_told = c->refusal != 0 ? refusal == c->refusal
                                   : state == REQUEST_READY &&
                                         bytes_equal(request->exchange.body, bytes_str(c->body)) &&
                                         !request_has_surplus(request);
    if (!as_told)
        print_error("%s, by %zu: state %d, refused %d (%s)\n", c->name, piece, (int)state, refusal,
                    refusal != 0 ? request->refusal_text : "");
    request_free(request);
    assert_true(as_told);
}

static void check_cases(const struct request_case *cases, size_t count) {
    static const size_t pieces[] = {SIZE_MAX, 1, 2, 7};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof pieces / sizeof pieces[0]; j++)
            check_case(&cases[i], pieces[j]);
}

static void test_good(void **state) {
    (void)state;
    check_cases(good, sizeof good / sizeof good[0]);
}

static void test_bad_heads(void **state) {
    (void)state;
    check_cases(bad_heads, sizeof bad_heads / sizeof bad_heads[0]);
}

static void test_bad_chunks(void **state) {
    (void)state;
    check_cases(bad_chunks, sizeof bad_chunks / sizeof bad_chunks[0]);
}

/* A text by one of a few ordinary requests with some bytes changed, put in or left out. */
static struct bytes mutated(struct random *random, uint8_t *room) {
    static const char *const from[] = {
        "GET /v1/boards/a?limit=10&q=%20 HTTP/1.1\r\n" HOST "Accept: */*\r\nX_y: 1\r\n\r\n",
        POST "X-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Length: 5\r\n\r\nhello",
        POST "Connection: keep-alive\r\ncontent-length:  12 \r\nA: b c\r\n\r\nhello, world",
        POST "Connection: close\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
        CHUNKED "3\r\nhel\r\n0\r\n\r\n",
    };
    static const char bytes[] = " \t\r\n:/-_,;?#{\x01\x7f\x80GPOSTHost/1.0123456789close";
    const char *text = from[random_below(random, sizeof from / sizeof from[0])];
    size_t size = strlen(text);
    memcpy(room, text, size);
    for (uint64_t left = random_below(random, 4); left > 0; left--) {
        size_t at = random_below(random, size);
        uint8_t byte = (uint8_t)bytes[random_below(random, sizeof bytes - 1)];
        uint64_t kind = random_below(random, 3);
        if (kind == 1 || (kind == 2 && size > 1)) {
            memmove(room + at + (kind == 1), room + at + (kind == 2), size - at - (kind == 2));
            size += kind == 1 ? 1 : (size_t)-1;
        }
        if (kind != 2)
            room[at] = byte;
    }
    return bytes_of(room, size);
}

static void assert_same(const struct request *a, const struct request *b) {
    const struct http_exchange *x = &a->exchange, *y = &b->exchange;
    assert_bytes_equal(x->method, y->method);
    assert_bytes_equal(x->path, y->path);
    assert_bytes_equal(x->query, y->query);
    assert_bytes_equal(x->body, y->body);
    assert_int_equal(a->keep_alive, b->keep_alive);
    assert_int_equal(a->is_head, b->is_head);
    assert_int_equal(a->is_old, b->is_old);
    assert_int_equal(a->expects_continue, b->expects_continue);
    assert_int_equal(a->in.size - a->parsed, 0);
    assert_int_equal(x->header_count, y->header_count);
    for (size_t i = 0; i < x->header_count; i++) {
        assert_bytes_equal(x->headers[i].name, y->headers[i].name);
        assert_bytes_equal(x->headers[i].value, y->headers[i].value);
    }
}

/* A head that is there whole may be read without http-parser, one that comes in pieces is not: they
 * mean the same. */
static void test_plain_heads(void **state) {
    (void)state;
    struct random random;
    unsigned plain = 0, ready = 0;
    random_seed(&random, test_seed());
    for (int round = 0; round < 20000; round++) {
        uint8_t room[512];
        struct bytes text = mutated(&random, room);
        struct request *whole = request_new(), *pieces = request_new();
        request_begin(whole, &limits);
        request_begin(pieces, &limits);
        enum request_state a = feed(whole, text, SIZE_MAX), b = feed(pieces, text, 1);
        bool surplus = a == REQUEST_READY && request_has_surplus(whole);
        assert_false(pieces->plain);
        plain += whole->plain;
        ready += a == REQUEST_READY;
        assert_int_equal(a, b);
        if (a == REQUEST_REFUSED)
            assert_int_equal(whole->refusal, pieces->refusal);
        if (a == REQUEST_READY && !surplus)
            assert_same(whole, pieces);
        request_free(whole);
        request_free(pieces);
    }
    assert_true(plain > 2000 && ready > plain / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_bad_heads),
        cmocka_unit_test(test_bad_chunks), cmocka_unit_test(test_plain_heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "test.h"

#include "signed.h"

#include "net/canonical.h"
#include "net/sha256.h"

static struct arena arena;
static struct failure failure;
static const struct access_key *found;

static int begin(void **state) {
    (void)state;
    arena_init(&arena);
    failure = (struct failure){0};
    found = NULL;
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

static const char *verify_at(const struct signed_case *one, int64_t now, const char *region) {
    struct keyring *ring = signed_keyring(one, &arena);
    struct signature_settings settings = {region, "dynamodb", now, ring};
    struct signature signature;
    const char *fault =
        signature_read(&one->exchange, (struct scope){&arena, &failure}, &signature);
    if (fault == NULL)
        fault = signature_verify(&one->exchange, &settings, (struct scope){&arena, &failure},
                                 &signature);
    found = signature.key;
    assert_true((fault == NULL) == (found != NULL));
    if (fault == NULL)
        assert_bytes_equal(found->id, BYTES("AKIDEXAMPLE"));
    /* kept until the end of the process: signing keys are cached by the key's address */
    static struct keyring *kept;
    ring->older = kept;
    kept = ring;
    return fault;
}

static const char *verify(const struct signed_case *one) {
    return verify_at(one, SIGNED_AT, NULL);
}

static void take(const char *name, struct signed_case *one) {
    struct bytes text = signed_load(&arena);
    while (signed_next(&text, one))
        if (bytes_equal(one->name, bytes_str(name)))
            return;
    fail_msg("no case %s", name);
}

static struct http_header *header(struct signed_case *one, const char *name) {
    for (size_t i = 0; i < one->exchange.header_count; i++)
        if (bytes_equal(one->headers[i].name, bytes_str(name)))
            return &one->headers[i];
    fail_msg("no header %s", name);
    return NULL;
}

static void replace(struct bytes *in, const char *what, const char *with) {
    size_t at = bytes_find(*in, bytes_str(what));
    assert_true(at != SIZE_MAX);
    *in = arena_printf(&arena, "%.*s%s%.*s", (int)at, (const char *)in->data, with,
                       BYTES_ARG(bytes_skip(*in, at + strlen(what))));
}

#define assert_fault(fault, exception, told)                        \
    do {                                                            \
        const char *fault_ = (fault);                               \
        assert_non_null(fault_);                                    \
        assert_string_equal(fault_, exception);                     \
        assert_string_equal(arena_str(&arena, failure.text), told); \
    } while (0)

static const char mismatch[] =
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details.";
#define assert_mismatch(one) assert_fault(verify(one), "InvalidSignatureException", mismatch)

/* --- requests that another implementation signed --- */

static void test_signed_elsewhere(void **state) {
    (void)state;
    struct bytes text = signed_load(&arena);
    struct signed_case one;
    int count = 0;
    while (signed_next(&text, &one)) {
        const char *fault = verify(&one);
        if (fault != NULL)
            fail_msg("%.*s: %s: %.*s", BYTES_ARG(one.name), fault, BYTES_ARG(failure.text));
        count++;
    }
    assert_int_equal(count, 11);
}

static void change(struct signed_case *one, int what) {
    struct http_exchange *exchange = &one->exchange;
    exchange->headers = one->headers;
    switch (what) {
    case 0:
        exchange->body = BYTES("{\"x\":1}");
        break;
    case 1:
        one->secret = BYTES("another-secret-of-some-length");
        break;
    case 2:
        header(one, "Host")->value = BYTES("elsewhere:8000");
        break;
    case 3:
        exchange->method = BYTES("PUT");
        break;
    case 4:
        exchange->path = BYTES("/other");
        break;
    default:
        exchange->query = arena_printf(&arena, "%.*s%szz=1", BYTES_ARG(exchange->query),
                                       exchange->query.size == 0 ? "" : "&");
    }
}

/* Any change of what was signed is noticed. */
static void test_changes_are_noticed(void **state) {
    (void)state;
    struct bytes text = signed_load(&arena);
    struct signed_case one;
    while (signed_next(&text, &one))
        for (int what = 0; what < 6; what++) {
            struct signed_case other = one;
            change(&other, what);
            assert_mismatch(&other);
        }
}

static void test_second_header_of_a_name_is_noticed(void **state) {
    (void)state;
    struct signed_case one;
    take("plain", &one);
    one.headers[one.exchange.header_count++] =
        (struct http_header){BYTES("x-amz-target"), BYTES("DynamoDB_20120810.DeleteTable")};
    assert_mismatch(&one);
}

/* --- faults --- */

static void test_time(void **state) {
    (void)state;
    struct signed_case one;
    take("plain", &one);
    assert_null(verify_at(&one, SIGNED_AT + 15 * 60, NULL));
    assert_null(verify_at(&one, SIGNED_AT - 15 * 60, NULL));
    assert_fault(verify_at(&one, SIGNED_AT + 15 * 60 + 1, NULL), "InvalidSignatureException",
                 "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z "
                 "(20150830T125101Z - 15 min.)");
    assert_fault(verify_at(&one, SIGNED_AT - 15 * 60 - 1, NULL), "InvalidSignatureException",
                 "Signature not yet current: 20150830T123600Z is still later than "
                 "20150830T123559Z (20150830T122059Z + 15 min.)");
    header(&one, "X-Amz-Date")->value = BYTES("201");
    assert_fault(verify(&one), "IncompleteSignatureException",
                 "Date must be in ISO-8601 'basic format'. Got '201'. See "
                 "http://en.wikipedia.org/wiki/ISO_8601");
}

static void test_presigned_time(void **state) {
    (void)state;
    struct signed_case one;
    take("presigned", &one);
    assert_null(verify_at(&one, SIGNED_AT + 300, NULL));
    assert_string_equal(verify_at(&one, SIGNED_AT + 301, NULL), "InvalidSignatureException");
    assert_true(bytes_starts(failure.text, BYTES("Signature expired: ")));
    take("presigned with a token", &one);
    assert_null(verify_at(&one, SIGNED_AT + 3600, NULL));
    replace(&one.exchange.query, "X-Amz-Expires=3600", "X-Amz-Expires=604801");
    assert_string_equal(verify(&one), "IncompleteSignatureException");
    replace(&one.exchange.query, "X-Amz-Expires=604801", "X-Amz-Expires=604800");
    assert_mismatch(&one);
}

static void test_scope(void **state) {
    (void)state;
    struct signed_case one;
    take("plain", &one);
    assert_null(verify_at(&one, SIGNED_AT, "us-east-1"));
    assert_fault(verify_at(&one, SIGNED_AT, "eu-west-1"), "InvalidSignatureException",
                 "Credential should be scoped to a valid region, not 'us-east-1'.");
    struct bytes *authorization = &header(&one, "Authorization")->value;
    replace(authorization, "20150830/us-east-1/dynamodb/aws4_request", "b/C/d/e");
    assert_fault(verify(&one), "InvalidSignatureException",
                 "Credential should be scoped to a valid region, not 'C'. Credential should be "
                 "scoped to correct service: 'dynamodb'. Credential should be scoped with a valid "
                 "terminator: 'aws4_request', not 'e'. Date in Credential scope does not match "
                 "YYYYMMDD from ISO-8601 version of date from HTTP: 'b' != '20150830', from "
                 "'20150830T123600Z'.");
    replace(authorization, "b/C/d/e", "b/c/d");
    assert_fault(verify(&one), "IncompleteSignatureException",
                 "Credential must have exactly 5 slash-delimited elements, e.g. "
                 "keyid/date/region/service/term, got 'AKIDEXAMPLE/b/c/d'");
    replace(authorization, "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA25");
    assert_fault(
        verify(&one), "IncompleteSignatureException",
        "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). ");
}

static void test_who(void **state) {
    (void)state;
    struct signed_case one;
    take("plain", &one);
    struct bytes *authorization = &header(&one, "Authorization")->value;
    replace(authorization, "AKIDEXAMPLE", "AKIDSOMEBODY");
    assert_fault(verify(&one), "UnrecognizedClientException",
                 "The security token included in the request is invalid.");
    *authorization = BYTES("Basic abc");
    assert_fault(verify(&one), "MissingAuthenticationTokenException",
                 "Request is missing Authentication Token");
}

static void test_what_must_be_signed(void **state) {
    (void)state;
    static const struct {
        const char *without, *name;
    } cases[] = {{"content-type;x-amz-date;x-amz-target", "'Host' or ':authority'"},
                 {"content-type;host;x-amz-target", "'X-Amz-Date'"},
                 {"content-type;host;x-amz-date", "'X-Amz-Target'"},
                 {"host;x-amz-date;x-amz-target", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct signed_case one;
        take("plain", &one);
        replace(&header(&one, "Authorization")->value, "content-type;host;x-amz-date;x-amz-target",
                cases[i].without);
        if (cases[i].name == NULL) {
            assert_mismatch(&one);
            continue;
        }
        assert_string_equal(verify(&one), "InvalidSignatureException");
        assert_bytes_equal(failure.text,
                           arena_printf(&arena,
                                        "%s must be a 'SignedHeader' in the AWS Authorization.",
                                        cases[i].name));
    }
    struct signed_case one;
    take("a session token", &one);
    replace(&header(&one, "Authorization")->value, "x-amz-security-token;", "");
    assert_fault(verify(&one), "InvalidSignatureException",
                 "'X-Amz-Security-Token' must be a 'SignedHeader' in the AWS Authorization.");
}

static void test_order_of_signed_headers(void **state) {
    (void)state;
    static const char *const lists[] = {"content-type;host;host;x-amz-date;x-amz-target",
                                        "host;content-type;x-amz-date;x-amz-target",
                                        "content-type;host;x-absent;x-amz-date;x-amz-target",
                                        "content-type;host;;x-amz-date;x-amz-target"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct signed_case one;
        take("plain", &one);
        replace(&header(&one, "Authorization")->value, "content-type;host;x-amz-date;x-amz-target",
                lists[i]);
        assert_mismatch(&one);
    }
}

/* What a client says about its body must be so. */
static void test_payload_hash(void **state) {
    (void)state;
    struct signed_case one;
    char hex[SHA256_HEX_SIZE];
    take("plain", &one);
    sha256_hex(one.exchange.body, hex);
    struct http_header *said = &one.headers[one.exchange.header_count++];
    *said = (struct http_header){BYTES("X-Amz-Content-Sha256"), bytes_of(hex, sizeof hex)};
    assert_null(verify(&one));
    said->value = BYTES("UNSIGNED-PAYLOAD");
    assert_mismatch(&one);
    said->value = BYTES("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_mismatch(&one);
}

/* --- the parts --- */

static void canonical(struct bytes (*of)(struct buf *, const char *), const char *in,
                      const char *out) {
    struct buf text = {0};
    assert_bytes_equal(of(&text, in), bytes_str(out));
    buf_release(&text);
}

static struct bytes path_of(struct buf *to, const char *text) {
    canonical_path(to, bytes_str(text));
    return buf_bytes(to);
}

static struct bytes query_of(struct buf *to, const char *text) {
    assert_true(canonical_query(to, bytes_str(text)));
    return buf_bytes(to);
}

static void test_canonical(void **state) {
    (void)state;
    static const char *const paths[][2] = {
        {"/", "/"},         {"", "/"},         {"/a/b", "/a/b"},    {"/a//b/", "/a/b/"},
        {"/a/./b", "/a/b"}, {"/a/../b", "/b"}, {"/../..", "/"},     {"/a b", "/a%20b"},
        {"/%20", "/%2520"}, {"/a/..", "/"},    {"/a/b/../", "/a/"}, {"//", "/"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        canonical(path_of, paths[i][0], paths[i][1]);
    static const char *const queries[][2] = {
        {"", ""},
        {"a=1", "a=1"},
        {"b=1&a=2", "a=2&b=1"},
        {"a=2&a=1&a", "a=&a=1&a=2"},
        {"a%2f=%7e%2", "a%2F=~%252"},
        {"&&x=1&", "x=1"},
        {"X-Amz-Signature=00&X-Amz-Date=1", "X-Amz-Date=1"},
        {"a=b=c", "a=b%3Dc"},
    };
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        canonical(query_of, queries[i][0], queries[i][1]);
    struct buf many = {0}, out = {0};
    for (int i = 0; i < 600; i++)
        buf_lit(&many, "a=1&");
    assert_false(canonical_query(&out, buf_bytes(&many)));
    buf_release(&many);
    buf_release(&out);
}

static void test_times(void **state) {
    (void)state;
    int64_t seconds;
    char text[16];
    assert_true(signature_time_read(BYTES("20150830T123600Z"), &seconds));
    assert_int_equal(seconds, SIGNED_AT);
    assert_true(signature_time_read(BYTES("Sun, 30 Aug 2015 12:36:00 GMT"), &seconds));
    assert_int_equal(seconds, SIGNED_AT);
    for (int64_t at = 0; at < 4102444800; at += 86399 * 3 + 7) {
        signature_time_write(at, text);
        assert_true(signature_time_read(bytes_of(text, 16), &seconds));
        assert_int_equal(seconds, at);
    }
    static const char *const wrong[] = {"",
                                        "20150830T123600",
                                        "20151330T123600Z",
                                        "20150800T123600Z",
                                        "20150830T243600Z",
                                        "2015083xT123600Z",
                                        "Sun, 30 Foo 2015 12:36:00 GMT",
                                        "Sun, 30 Aug 2015 12:36:00 PST"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(signature_time_read(bytes_str(wrong[i]), &seconds));
}

/* RFC 4231, test cases 1, 2 and 6. */
static void test_hmac(void **state) {
    (void)state;
    uint8_t key[131], digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    struct hmac hmac;
    memset(key, 0x0b, 20);
    hmac_init(&hmac, bytes_of(key, 20));
    hmac_of(&hmac, BYTES("Hi There"), digest);
    hex_write(digest, sizeof digest, hex);
    assert_memory_equal(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                        64);
    hmac_init(&hmac, BYTES("Jefe"));
    hmac_of(&hmac, BYTES("what do ya want for nothing?"), digest);
    hex_write(digest, sizeof digest, hex);
    assert_memory_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                        64);
    memset(key, 0xaa, sizeof key);
    hmac_init(&hmac, bytes_of(key, sizeof key));
    hmac_of(&hmac, BYTES("Test Using Larger Than Block-Size Key - Hash Key First"), digest);
    hex_write(digest, sizeof digest, hex);
    assert_memory_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                        64);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_signed_elsewhere),
        TEST(test_changes_are_noticed),
        TEST(test_second_header_of_a_name_is_noticed),
        TEST(test_time),
        TEST(test_presigned_time),
        TEST(test_scope),
        TEST(test_who),
        TEST(test_what_must_be_signed),
        TEST(test_order_of_signed_headers),
        TEST(test_payload_hash),
        TEST(test_canonical),
        TEST(test_times),
        TEST(test_hmac),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

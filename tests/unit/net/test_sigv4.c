/* Signatures, against two requests of AWS's published test suite for Signature Version 4. */
#include "test.h"

#include "net/sigv4.h"

static void check(const char *method, const char *signature) {
    struct http_header headers[] = {{BYTES("host"), BYTES("example.amazonaws.com")},
                                    {BYTES("x-amz-date"), BYTES("20150830T123600Z")}};
    struct http_exchange request = {
        .method = bytes_str(method), .path = BYTES("/"), .headers = headers, .header_count = 2};
    struct sigv4_signer signer = {.key_id = BYTES("AKIDEXAMPLE"),
                                  .scope = {.time = BYTES("20150830T123600Z"),
                                            .day = BYTES("20150830"),
                                            .region = BYTES("us-east-1"),
                                            .service = BYTES("service")}};
    struct hmac key;
    struct buf value = {0}, expected = {0};
    sigv4_derive(&signer.scope, BYTES("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), &key);
    signer.key = &key;
    sigv4_authorize(&signer, &request, &value);
    buf_printf(&expected,
               "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
               "SignedHeaders=host;x-amz-date, Signature=%s",
               signature);
    assert_bytes_equal(buf_bytes(&value), buf_bytes(&expected));
    buf_release(&value);
    buf_release(&expected);
}

static void as_published(void **state) {
    (void)state;
    check("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    check("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

static void times(void **state) {
    int64_t seconds;
    char text[16];
    (void)state;
    assert_true(signature_time_read(BYTES("20150830T123600Z"), &seconds));
    assert_int_equal(seconds, 1440938160);
    assert_true(signature_time_read(BYTES("Sun, 30 Aug 2015 12:36:00 GMT"), &seconds));
    assert_int_equal(seconds, 1440938160);
    signature_time_write(seconds, text);
    assert_memory_equal(text, "20150830T123600Z", 16);
    assert_false(signature_time_read(BYTES("yesterday"), &seconds));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_published),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

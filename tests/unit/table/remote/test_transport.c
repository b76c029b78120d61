/* Requests to an endpoint that fails in every way it can: what is tried again, what is not, what is
 * said of it, and that an end is an end. */
#include "test.h"

#include "base/clock.h"
#include "base/limits.h"
#include "http_stub.h"
#include "table/remote/transport.h"

struct asking {
    struct http_stub stub;
    struct transport *transport;
    struct arena arena;
    struct failure failure;
    struct transport_request request;
};

static void begin(struct asking *on,
                  int (*answer)(struct http_stub *, unsigned, struct bytes, struct buf *)) {
    *on = (struct asking){.stub = {.answer = answer}};
    stub_start(&on->stub);
    arena_init(&on->arena);
    struct transport_settings settings = {
        .endpoint = on->stub.url, .region = "eu-central-1", .key = "AKID:secret"};
    assert_int_equal(
        transport_open(&settings, (struct scope){&on->arena, &on->failure}, &on->transport), OK);
    on->request = (struct transport_request){.target = "GetItem", .body = BYTES("{\"a\":1}")};
}

static enum status ask(struct asking *on) {
    on->failure = (struct failure){0};
    return transport_send(on->transport, &on->request, (struct scope){&on->arena, &on->failure});
}

static void end(struct asking *on) {
    transport_close(on->transport);
    stub_stop(&on->stub);
    arena_release(&on->arena);
}

static bool says(const struct asking *on, const char *part) {
    return bytes_find(on->failure.text, bytes_str(part)) != SIZE_MAX;
}

static int answer_well(struct http_stub *stub, unsigned number, struct bytes request,
                       struct buf *body) {
    (void)stub, (void)number, (void)request;
    buf_lit(body, "{\"Item\":{}}");
    return 200;
}

static void signed_and_read(void **state) {
    struct asking on;
    (void)state;
    begin(&on, answer_well);
    assert_int_equal(ask(&on), OK);
    assert_int_equal(on.request.status, 200);
    assert_non_null(json_get(&on.request.json, BYTES("Item")));
    assert_false(on.request.uncertain);
    const char *sent = on.stub.request;
    assert_non_null(strstr(sent, "POST / HTTP/1.1\r\n"));
    assert_non_null(strstr(sent, "x-amz-target: DynamoDB_20120810.GetItem\r\n"));
    assert_non_null(strstr(sent, "Authorization: AWS4-HMAC-SHA256 Credential=AKID/"));
    assert_non_null(strstr(sent, "/eu-central-1/dynamodb/aws4_request, "
                                 "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
                                 "Signature="));
    assert_non_null(strstr(sent, "\r\n\r\n{\"a\":1}"));
    end(&on);
}

static int fail_twice(struct http_stub *stub, unsigned number, struct bytes request,
                      struct buf *body) {
    if (number < 2)
        return number == 0 ? 500 : STUB_CLOSE;
    return answer_well(stub, number, request, body);
}

/* A 500, and a connection that broke after the request: it may have been carried out both times. */
static void tried_again(void **state) {
    struct asking on;
    struct transport_figures figures;
    (void)state;
    begin(&on, fail_twice);
    assert_int_equal(ask(&on), OK);
    assert_int_equal(on.stub.asked, 3);
    assert_true(on.request.uncertain);
    transport_figures(on.transport, &figures);
    assert_int_equal(figures.requests, 3);
    assert_int_equal(figures.retries, 2);
    assert_int_equal(figures.throttled, 0);
    assert_true(figures.answering);
    end(&on);
}

static int throttle_thrice(struct http_stub *stub, unsigned number, struct bytes request,
                           struct buf *body) {
    static const char *const types[] = {"ProvisionedThroughputExceededException",
                                        "ThrottlingException", "RequestLimitExceeded"};
    if (number >= 3)
        return answer_well(stub, number, request, body);
    buf_printf(body, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"message\":\"slow\"}",
               types[number]);
    return 400;
}

/* What was throttled was not carried out: nothing is in doubt. */
static void throttled(void **state) {
    struct asking on;
    struct transport_figures figures;
    (void)state;
    begin(&on, throttle_thrice);
    assert_int_equal(ask(&on), OK);
    assert_int_equal(on.stub.asked, 4);
    assert_false(on.request.uncertain);
    transport_figures(on.transport, &figures);
    assert_int_equal(figures.throttled, 3);
    end(&on);
}

static int answer_500(struct http_stub *stub, unsigned number, struct bytes request,
                      struct buf *body) {
    (void)stub, (void)number, (void)request, (void)body;
    return 500;
}

static void once_is_once(void **state) {
    struct asking on;
    struct transport_figures figures;
    (void)state;
    begin(&on, answer_500);
    on.request.once = true;
    assert_int_equal(ask(&on), IO_FAILED);
    assert_true(says(&on, "answers with an error (500)"));
    assert_true(on.request.uncertain);
    assert_int_equal(on.stub.asked, 1);
    transport_figures(on.transport, &figures);
    assert_int_equal(figures.failures, 1);
    assert_false(figures.answering);
    end(&on);
}

/* What the test calls a fault; NULL ends them. */
struct fault {
    const char *type, *text;
    enum status status;
    bool remedy;
};
static const struct fault faults[] = {
    {"ResourceNotFoundException", "none", NO_TABLE, false},
    {"ConditionalCheckFailedException", "no", CONDITION_FAILED, false},
    {"TransactionCanceledException", "no", CANCELLED, false},
    {"ValidationException", "odd", INVALID, false},
    {"AccessDeniedException", "not you", DENIED, false},
    {"InvalidSignatureException", "Signature expired: 2 is now earlier than 1", DENIED, true},
    {"InvalidSignatureException", "Signature not yet current: 2 is still later", DENIED, true},
    {"InvalidSignatureException", "The request signature we calculated does not match", DENIED,
     false},
    {"TrimmedDataAccessException", "gone", NOT_FOUND, false},
    {"SomethingElse", "what", IO_FAILED, false},
};

static int answer_fault(struct http_stub *stub, unsigned number, struct bytes request,
                        struct buf *body) {
    (void)stub, (void)request;
    buf_printf(body, "{\"__type\":\"x#%s\",\"Message\":\"%s\"}", faults[number].type,
               faults[number].text);
    return 400;
}

static void faults_are_told(void **state) {
    struct asking on;
    (void)state;
    begin(&on, answer_fault);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct scope in = {&on.arena, &on.failure};
        assert_int_equal(ask(&on), OK);
        assert_int_equal(on.request.status, 400);
        assert_bytes_equal(on.request.type, bytes_str(faults[i].type));
        assert_int_equal(transport_fault(&on.request, in), faults[i].status);
        assert_true(says(&on, faults[i].text));
        assert_int_equal(transport_remedy(&on.request) != NULL, faults[i].remedy);
    }
    end(&on);
}

static int stay_silent(struct http_stub *stub, unsigned number, struct bytes request,
                       struct buf *body) {
    (void)stub, (void)number, (void)request, (void)body;
    return STUB_SILENT;
}

static void *ask_on_a_thread(void *user) {
    return (void *)(intptr_t)ask(user);
}

/* The time-out of a request is 25 seconds; the end of the server is sooner. */
static void an_end_is_an_end(void **state) {
    struct asking on;
    pthread_t thread;
    void *status;
    (void)state;
    begin(&on, stay_silent);
    assert_int_equal(pthread_create(&thread, NULL, ask_on_a_thread, &on), 0);
    while (atomic_load(&on.stub.asked) == 0)
        usleep(1000);
    int64_t began_us = clock_ticks_us();
    transport_end_soon(on.transport, 100);
    pthread_join(thread, &status);
    assert_int_equal((intptr_t)status, IO_FAILED);
    assert_true(says(&on, "this server is stopping"));
    assert_true(clock_ticks_us() - began_us < (LIMIT_REMOTE_ATTEMPT_MS - 1000) * INT64_C(1000));
    began_us = clock_ticks_us(); /* the endpoint does not answer: nobody waits for it any more */
    unsigned asked = atomic_load(&on.stub.asked);
    assert_int_equal(ask(&on), IO_FAILED);
    assert_int_equal(atomic_load(&on.stub.asked), asked);
    end(&on);
}

/* An endpoint that answers is still asked what an end has to write. */
static void an_end_that_is_answered(void **state) {
    struct asking on;
    (void)state;
    begin(&on, answer_well);
    assert_int_equal(ask(&on), OK);
    transport_end_soon(on.transport, 0);
    assert_int_equal(ask(&on), OK);
    end(&on);
}

static void settings_that_make_no_sense(void **state) {
    static const struct transport_settings wrong[] = {
        {.endpoint = "localhost:8000", .region = "us-east-1"},
        {.endpoint = "http://", .region = "us-east-1"},
        {.endpoint = "http://user@host", .region = "us-east-1"},
        {.endpoint = "http://host/path", .region = "us-east-1"},
        {.endpoint = "http://host", .region = "Mars!"},
    };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct failure failure = {0};
        struct transport *transport = NULL;
        assert_int_equal(transport_open(&wrong[i], (struct scope){&arena, &failure}, &transport),
                         INVALID);
        assert_true(failure.text.size != 0);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_and_read),
        cmocka_unit_test(tried_again),
        cmocka_unit_test(throttled),
        cmocka_unit_test(once_is_once),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(an_end_is_an_end),
        cmocka_unit_test(an_end_that_is_answered),
        cmocka_unit_test(settings_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "table/remote/transport.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "net/sigv4.h"
#include "table/remote/credentials.h"
#include "table/remote/http_fetch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { URL_MAX = 512, HOST_MAX = 300 };

struct transport {
    char url[URL_MAX];   /* "https://host:port", no slash at the end */
    char host[HOST_MAX]; /* as the Host header says it */
    char region[LIMIT_REGION_SIZE + 1];
    const char *ca;
    struct credential_source *credentials;

    pthread_mutex_t lock; /* guards what follows up to the counts */
    pthread_cond_t freed;
    pthread_cond_t ending; /* of pauses: transport_end_soon() was called */
    struct http_connection idle[LIMIT_REMOTE_IN_FLIGHT]; /* the last used is taken first */
    unsigned idle_count, in_use;
    struct random random; /* for pauses */

    atomic_uint_fast64_t requests, retries, throttled, failures;
    atomic_bool answering;
    _Atomic int64_t ends_us; /* clock_ticks_us(); 0: the server is not about to end */
};

/* --- opening --- */

static const char *given(const char *text) {
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static enum status set_region(struct transport *transport, const char *region, bool amazon,
                              struct scope in) {
    if (region == NULL)
        region = given(getenv("AWS_REGION"));
    if (region == NULL)
        region = given(getenv("AWS_DEFAULT_REGION"));
    if (region == NULL && amazon)
        return failure_set(
            in.failure, in.arena, INVALID,
            "which DynamoDB? Give --dynamodb-region (or AWS_REGION) for Amazon's, or "
            "--dynamodb-endpoint URL for another one");
    if (region == NULL)
        region = "us-east-1";
    size_t size = strlen(region);
    if (size > LIMIT_REGION_SIZE || strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != size)
        return failure_set(in.failure, in.arena, INVALID,
                           "'%s' is no region: --dynamodb-region is a name such as eu-central-1",
                           region);
    memcpy(transport->region, region, size + 1);
    return OK;
}

static enum status set_endpoint(struct transport *transport, const char *endpoint,
                                struct scope in) {
    struct bytes url = bytes_str(endpoint);
    bool plain = bytes_starts(url, BYTES("http://"));
    while (url.size != 0 && url.data[url.size - 1] == '/')
        url.size--;
    size_t skip = plain ? 7 : 8;
    struct bytes host = url.size > skip ? bytes_skip(url, skip) : (struct bytes){0};
    if ((!plain && !bytes_starts(url, BYTES("https://"))) || host.size == 0 ||
        host.size >= HOST_MAX || memchr(host.data, '/', host.size) != NULL ||
        memchr(host.data, '@', host.size) != NULL)
        return failure_set(in.failure, in.arena, INVALID,
                           "--dynamodb-endpoint is a URL without a path, such as "
                           "https://dynamodb.eu-central-1.amazonaws.com or http://127.0.0.1:8000; "
                           "'%s' is not",
                           endpoint);
    snprintf(transport->url, sizeof(transport->url), "%.*s", BYTES_ARG(url));
    snprintf(transport->host, sizeof(transport->host), "%.*s", BYTES_ARG(host));
    return OK;
}

static enum status set_where(struct transport *transport, const struct transport_settings *settings,
                             struct scope in) {
    const char *endpoint = given(settings->endpoint);
    char amazon[HOST_MAX];
    if (endpoint == NULL)
        endpoint = given(getenv("AWS_ENDPOINT_URL_DYNAMODB"));
    enum status status = set_region(transport, given(settings->region), endpoint == NULL, in);
    if (status != OK)
        return status;
    if (endpoint == NULL) {
        bool china = strncmp(transport->region, "cn-", 3) == 0;
        snprintf(amazon, sizeof(amazon), "https://dynamodb.%s.amazonaws.com%s", transport->region,
                 china ? ".cn" : "");
        endpoint = amazon;
    }
    return set_endpoint(transport, endpoint, in);
}

enum status transport_open(const struct transport_settings *settings, struct scope in,
                           struct transport **out) {
    struct transport *transport = mem_zalloc(sizeof(*transport));
    pthread_condattr_t attributes;
    uint64_t seed;
    random_secure(&seed, sizeof(seed));
    random_seed(&transport->random, seed);
    pthread_mutex_init(&transport->lock, NULL);
    pthread_cond_init(&transport->freed, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&transport->ending, &attributes);
    pthread_condattr_destroy(&attributes);
    transport->ca = given(settings->ca);
    transport->credentials = credential_source_new(settings->key);
    atomic_store(&transport->answering, true);
    enum status status = set_where(transport, settings, in);
    if (status == OK)
        *out = transport;
    else
        transport_close(transport);
    return status;
}

void transport_close(struct transport *transport) {
    for (unsigned i = 0; i < transport->idle_count; i++)
        http_connection_close(&transport->idle[i]);
    credential_source_free(transport->credentials);
    pthread_mutex_destroy(&transport->lock);
    pthread_cond_destroy(&transport->freed);
    pthread_cond_destroy(&transport->ending);
    mem_free(transport);
}

void transport_end_soon(struct transport *transport, unsigned grace_ms) {
    pthread_mutex_lock(&transport->lock);
    atomic_store(&transport->ends_us, clock_ticks_us() + (int64_t)grace_ms * 1000);
    pthread_cond_broadcast(&transport->ending);
    pthread_mutex_unlock(&transport->lock);
}

const char *transport_url(const struct transport *transport) {
    return transport->url;
}

const char *transport_region(const struct transport *transport) {
    return transport->region;
}

/* --- connections --- */

static struct http_connection take_connection(struct transport *transport) {
    struct http_connection connection = {0};
    pthread_mutex_lock(&transport->lock);
    while (transport->in_use == LIMIT_REMOTE_IN_FLIGHT)
        pthread_cond_wait(&transport->freed, &transport->lock);
    transport->in_use++;
    if (transport->idle_count != 0)
        connection = transport->idle[--transport->idle_count];
    pthread_mutex_unlock(&transport->lock);
    return connection;
}

static void give_connection(struct transport *transport, struct http_connection connection) {
    pthread_mutex_lock(&transport->lock);
    transport->in_use--;
    transport->idle[transport->idle_count++] = connection;
    pthread_cond_signal(&transport->freed);
    pthread_mutex_unlock(&transport->lock);
}

/* --- one attempt --- */

/* Keys of the day, one for each thread: those of a server are the same all day. */
static const struct hmac *day_key(const struct credentials *credentials,
                                  const struct sigv4_scope *scope) {
    static _Thread_local struct {
        char day[8];
        uint8_t secret[SHA256_SIZE];
        uint8_t region[SHA256_SIZE];
        struct hmac key;
    } cached;
    uint8_t secret[SHA256_SIZE], region[SHA256_SIZE];
    sha256_of(credentials->secret, secret);
    sha256_of(scope->region, region);
    if (memcmp(cached.day, scope->day.data, sizeof(cached.day)) == 0 &&
        memcmp(cached.secret, secret, sizeof(secret)) == 0 &&
        memcmp(cached.region, region, sizeof(region)) == 0)
        return &cached.key;
    sigv4_derive(scope, credentials->secret, &cached.key);
    memcpy(cached.day, scope->day.data, sizeof(cached.day));
    memcpy(cached.secret, secret, sizeof(secret));
    memcpy(cached.region, region, sizeof(region));
    return &cached.key;
}

static const char *line_of(struct arena *arena, const struct http_header *header) {
    return (const char *)arena_printf(arena, "%.*s: %.*s", BYTES_ARG(header->name),
                                      BYTES_ARG(header->value))
        .data;
}

static struct bytes full_target(const char *target, struct arena *arena) {
    if (strchr(target, '.') != NULL)
        return bytes_str(target);
    return arena_printf(arena, "DynamoDB_20120810.%s", target);
}

/* Fills in the lines of the header with a signature of now. */
static void sign_request(struct transport *transport, const struct credentials *credentials,
                         const struct transport_request *request, struct arena *arena,
                         struct http_fetch *fetch) {
    char *now = arena_alloc(arena, 16);
    signature_time_write((int64_t)time(NULL), now);
    struct http_header headers[] = {{BYTES("content-type"), BYTES("application/x-amz-json-1.0")},
                                    {BYTES("host"), bytes_str(transport->host)},
                                    {BYTES("x-amz-date"), bytes_of(now, 16)},
                                    {BYTES("x-amz-security-token"), credentials->token},
                                    {BYTES("x-amz-target"), full_target(request->target, arena)}};
    size_t count = sizeof(headers) / sizeof(headers[0]);
    if (credentials->token.size == 0) {
        headers[3] = headers[4];
        count--;
    }
    struct http_exchange signed_form = {.method = BYTES("POST"),
                                        .path = BYTES("/"),
                                        .headers = headers,
                                        .header_count = count,
                                        .body = request->body};
    struct sigv4_signer signer = {.key_id = credentials->key_id,
                                  .scope = {.time = bytes_of(now, 16),
                                            .day = bytes_of(now, 8),
                                            .region = bytes_str(transport->region),
                                            .service = BYTES("dynamodb")}};
    struct buf value = {0};
    signer.key = day_key(credentials, &signer.scope);
    sigv4_authorize(&signer, &signed_form, &value);
    struct http_header authorization = {BYTES("Authorization"), buf_bytes(&value)};
    for (size_t i = 0; i < count; i++)
        fetch->lines[i] = line_of(arena, &headers[i]);
    fetch->lines[count] = line_of(arena, &authorization);
    buf_release(&value);
}

/* "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException" to its last part. */
static struct bytes short_type(const struct json *json) {
    const struct json *type = json_get(json, BYTES("__type"));
    if (type == NULL || type->type != JSON_STRING)
        return (struct bytes){0};
    size_t at = bytes_find(type->text, BYTES("#"));
    return at == SIZE_MAX ? type->text : bytes_skip(type->text, at + 1);
}

static struct bytes message_of(const struct json *json) {
    const struct json *text = json_get(json, BYTES("message"));
    if (text == NULL)
        text = json_get(json, BYTES("Message"));
    return text != NULL && text->type == JSON_STRING ? text->text : (struct bytes){0};
}

static void read_answer(struct transport_request *request, const struct http_fetch *fetch,
                        struct arena *arena) {
    size_t at;
    request->status = fetch->status;
    request->answer = arena_copy(arena, buf_bytes(&fetch->answer));
    request->json = (struct json){.type = JSON_NULL};
    request->type = request->text = (struct bytes){0};
    if (fetch->status == 200 && request->raw)
        return;
    if (json_parse(request->answer, arena, &request->json, &at) != OK)
        request->json = (struct json){.type = JSON_NULL};
    if (fetch->status == 200)
        return;
    request->type = short_type(&request->json);
    request->text = message_of(&request->json);
}

static bool is_any(struct bytes type, const char *const *names) {
    for (; *names != NULL; names++)
        if (bytes_equal(type, bytes_str(*names)))
            return true;
    return false;
}

static bool is_throttled(const struct transport_request *request) {
    static const char *const names[] = {"ProvisionedThroughputExceededException",
                                        "ThrottlingException",
                                        "RequestLimitExceeded",
                                        "LimitExceededException",
                                        "TransactionInProgressException",
                                        NULL};
    return request->status == 400 && is_any(request->type, names);
}

static bool is_expired(const struct transport_request *request) {
    static const char *const names[] = {"ExpiredTokenException", "ExpiredToken",
                                        "UnrecognizedClientException", NULL};
    return is_any(request->type, names);
}

/* --- trying again --- */

struct trying {
    struct transport *transport;
    struct transport_request *request;
    struct scope in;
    int64_t until_us;
    unsigned attempts;
    bool last;    /* it began after the time that the server's end left to others */
    bool renewed; /* the credentials were looked for again once */
    char reason[HTTP_FETCH_REASON];
};

/* When to give up, as of now: a server that ends has less time than it had. */
static int64_t ends_at(const struct trying *trying) {
    int64_t ends_us = atomic_load(&trying->transport->ends_us);
    return ends_us == 0 || trying->last || trying->until_us < ends_us ? trying->until_us : ends_us;
}

static bool is_over(void *user) {
    return clock_ticks_us() >= ends_at(user);
}

/* Waits, if need be until the server is about to end. */
static void pause_for(struct transport *transport, int64_t pause_us) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + pause_us * 1000;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&transport->lock);
    int64_t ends_us = atomic_load(&transport->ends_us);
    while (atomic_load(&transport->ends_us) == ends_us &&
           pthread_cond_timedwait(&transport->ending, &transport->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&transport->lock);
}

/* A random part of a pause that doubles with each attempt. False if there is no time for it. */
static bool pause_before_next(struct trying *trying) {
    struct transport *transport = trying->transport;
    int64_t most_us = LIMIT_REMOTE_BACKOFF_MS * INT64_C(1000);
    for (unsigned i = 1; i < trying->attempts && most_us < LIMIT_REMOTE_BACKOFF_MAX_MS * 1000; i++)
        most_us *= 2;
    pthread_mutex_lock(&transport->lock);
    int64_t pause_us = (int64_t)random_below(&transport->random, (uint64_t)most_us) + 1;
    pthread_mutex_unlock(&transport->lock);
    if (clock_ticks_us() + pause_us >= ends_at(trying))
        return false;
    pause_for(transport, pause_us);
    if (is_over(trying))
        return false;
    atomic_fetch_add(&transport->retries, 1);
    return true;
}

static enum status attempt_once(struct trying *trying, struct http_fetch *fetch,
                                struct credentials *credentials) {
    struct transport *transport = trying->transport;
    struct arena arena;
    int64_t left_ms = (ends_at(trying) - clock_ticks_us()) / 1000;
    struct failure failure = {0};
    arena_init(&arena);
    enum status status =
        credentials_get(transport->credentials, (struct scope){&arena, &failure}, credentials);
    if (status != OK) {
        trying->in.failure->status = status;
        trying->in.failure->text = arena_copy(trying->in.arena, failure.text);
        arena_release(&arena);
        return DENIED;
    }
    fetch->answer_ms = left_ms < 1                         ? 1
                       : left_ms < LIMIT_REMOTE_ATTEMPT_MS ? (long)left_ms
                                                           : (long)LIMIT_REMOTE_ATTEMPT_MS;
    sign_request(transport, credentials, trying->request, &arena, fetch);
    struct http_connection connection = take_connection(transport);
    trying->attempts++;
    atomic_fetch_add(&transport->requests, 1);
    status = http_fetch_send(&connection, fetch);
    give_connection(transport, connection);
    arena_release(&arena);
    return status;
}

static enum status tell_no_answer(struct trying *trying, const struct http_fetch *fetch) {
    struct scope in = trying->in;
    atomic_store(&trying->transport->answering, false);
    atomic_fetch_add(&trying->transport->failures, 1);
    if (fetch->certificate)
        return failure_set(
            in.failure, in.arena, IO_FAILED,
            "the certificate of %s is not trusted (%s): --dynamodb-ca FILE names the "
            "authority to trust",
            trying->transport->url, fetch->reason);
    if (fetch->status != 0)
        return failure_set(in.failure, in.arena, IO_FAILED,
                           "the DynamoDB endpoint %s answers with an error (%d)",
                           trying->transport->url, fetch->status);
    if (atomic_load(&trying->transport->ends_us) != 0)
        return failure_set(in.failure, in.arena, IO_FAILED,
                           "this server is stopping, and the DynamoDB endpoint %s does not answer",
                           trying->transport->url);
    return failure_set(in.failure, in.arena, IO_FAILED,
                       "the DynamoDB endpoint %s does not answer: %s", trying->transport->url,
                       fetch->reason);
}

static enum status tell_throttled(struct trying *trying) {
    struct scope in = trying->in;
    atomic_fetch_add(&trying->transport->failures, 1);
    return failure_set(in.failure, in.arena, BUSY,
                       "the DynamoDB endpoint takes no more at the moment (%.*s); try again soon",
                       BYTES_ARG(trying->request->type));
}

static enum status send_until(struct trying *trying, struct http_fetch *fetch) {
    struct transport_request *request = trying->request;
    struct transport *transport = trying->transport;
    for (;;) {
        struct credentials credentials;
        enum status status = attempt_once(trying, fetch, &credentials);
        if (status == DENIED)
            return trying->in.failure->status;
        bool failed = status != OK || fetch->status >= 500;
        if (!failed) {
            read_answer(request, fetch, trying->in.arena);
            atomic_store(&transport->answering, true);
        }
        if (!failed && !is_throttled(request)) {
            if (!is_expired(request) || trying->renewed)
                return OK;
            trying->renewed = true;
            credentials_forget(transport->credentials, credentials.serial);
            continue;
        }
        if (failed)
            request->uncertain = request->uncertain || fetch->sent;
        else
            atomic_fetch_add(&transport->throttled, 1);
        if (request->once || fetch->certificate || !pause_before_next(trying))
            return failed ? tell_no_answer(trying, fetch) : tell_throttled(trying);
    }
}

enum status transport_send(struct transport *transport, struct transport_request *request,
                           struct scope in) {
    struct trying trying = {.transport = transport, .request = request, .in = in};
    int64_t now_us = clock_ticks_us(), ends_us = atomic_load(&transport->ends_us);
    trying.last = ends_us != 0 && now_us + LIMIT_REMOTE_LAST_MS * INT64_C(1000) >= ends_us;
    trying.until_us =
        now_us + INT64_C(1000) * (trying.last ? LIMIT_REMOTE_LAST_MS : LIMIT_REMOTE_ANSWER_MS);
    struct http_fetch fetch = {.method = "POST",
                               .url = transport->url,
                               .body = request->body,
                               .connect_ms = LIMIT_REMOTE_CONNECT_MS,
                               .is_over = is_over,
                               .user = &trying,
                               .ca = transport->ca};
    request->uncertain = false;
    if (trying.last && !atomic_load(&transport->answering))
        return tell_no_answer(&trying, &fetch);
    enum status status = send_until(&trying, &fetch);
    buf_release(&fetch.answer);
    return status;
}

/* --- faults --- */

enum status transport_fault(const struct transport_request *request, struct scope in) {
    static const struct {
        const char *type;
        enum status status;
    } faults[] = {
        {"ResourceNotFoundException", NO_TABLE},
        {"ConditionalCheckFailedException", CONDITION_FAILED},
        {"TransactionCanceledException", CANCELLED},
        {"TransactionConflictException", CONFLICT},
        {"ValidationException", INVALID},
        {"ResourceInUseException", TABLE_IN_USE},
        {"IdempotentParameterMismatchException", REPEAT_MISMATCH},
        {"ItemCollectionSizeLimitExceededException", COLLECTION_FULL},
        {"AccessDeniedException", DENIED},
        {"UnrecognizedClientException", DENIED},
        {"InvalidSignatureException", DENIED},
        {"IncompleteSignatureException", DENIED},
        {"MissingAuthenticationTokenException", DENIED},
        {"ExpiredTokenException", DENIED},
        {"ExpiredToken", DENIED},
        {"RequestTimeTooSkewed", DENIED},
        {"RequestExpired", DENIED},
        {"TrimmedDataAccessException", NOT_FOUND},
        {"ExpiredIteratorException", CONDITION_FAILED},
        {"UnknownOperationException", UNSUPPORTED},
    };
    enum status status = IO_FAILED;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (bytes_equal(request->type, bytes_str(faults[i].type)))
            status = faults[i].status;
    if (request->text.size == 0)
        return failure_set(in.failure, in.arena, status, "The endpoint refuses it: %d %.*s",
                           request->status, BYTES_ARG(request->type));
    return failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(request->text));
}

const char *transport_remedy(const struct transport_request *request) {
    static const char *const ended[] = {"ExpiredTokenException", "ExpiredToken", NULL};
    static const char *const skewed[] = {"RequestTimeTooSkewed", "RequestExpired", NULL};
    if (is_any(request->type, ended))
        return "the credentials have ended and there are no newer ones; renew them where they come "
               "from";
    if (is_any(request->type, skewed) || bytes_starts(request->text, BYTES("Signature expired")) ||
        bytes_starts(request->text, BYTES("Signature not yet current")))
        return "this machine's clock and the endpoint's differ by minutes; set it (chrony does)";
    return NULL;
}

void transport_figures(struct transport *transport, struct transport_figures *out) {
    *out = (struct transport_figures){.requests = atomic_load(&transport->requests),
                                      .retries = atomic_load(&transport->retries),
                                      .throttled = atomic_load(&transport->throttled),
                                      .failures = atomic_load(&transport->failures),
                                      .answering = atomic_load(&transport->answering)};
}

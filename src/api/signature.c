/* From what a request says about its signature to who made it. */
#include "api/signature.h"

#include "base/hash.h"
#include "base/limits.h"
#include "net/canonical.h"

#include <openssl/crypto.h>
#include <strings.h>

enum {
    WINDOW_S = 15 * 60,
    EXPIRES_MAX_S = LIMIT_SIGNATURE_LIFE_S,
    REGION_SIZE_MAX = LIMIT_REGION_SIZE,
    CACHE_SLOTS = 16,
};

struct verifying {
    const struct http_exchange *exchange;
    const struct signature_settings *settings;
    struct arena *arena;
    struct failure *failure;
    struct signature *signature;
};

#define FAULT(verifying, exception, ...) \
    (failure_set((verifying)->failure, (verifying)->arena, INVALID, __VA_ARGS__), (exception))

static const char INVALID_SIGNATURE[] = "InvalidSignatureException";
static const char INCOMPLETE[] = "IncompleteSignatureException";

/* --- the time --- */

static const char *check_current(const struct verifying *v, int64_t from_s, int64_t window_s) {
    const struct signature *signature = v->signature;
    int64_t now = v->settings->now_s;
    char present[16], bound[16];
    signature_time_write(now, present);
    if (signature->time_s > now + WINDOW_S) {
        signature_time_write(now + WINDOW_S, bound);
        return FAULT(v, INVALID_SIGNATURE,
                     "Signature not yet current: %.16s is still later than %.16s (%.16s + 15 min.)",
                     signature->time, bound, present);
    }
    if (from_s >= now - window_s)
        return NULL;
    signature_time_write(now - window_s, bound);
    if (signature->in_query)
        return FAULT(v, INVALID_SIGNATURE,
                     "Signature expired: %.16s is now earlier than %.16s (%.16s - %lld sec.)",
                     signature->time, bound, present, (long long)window_s);
    return FAULT(v, INVALID_SIGNATURE,
                 "Signature expired: %.16s is now earlier than %.16s (%.16s - 15 min.)",
                 signature->time, bound, present);
}

static const char *read_expires(const struct verifying *v) {
    struct bytes text = {0};
    int64_t seconds = 0;
    bool given = query_get(v->exchange->query, BYTES("X-Amz-Expires"), v->arena, &text);
    for (size_t i = 0; i < text.size && seconds >= 0; i++) {
        bool digit = text.data[i] >= '0' && text.data[i] <= '9' && i < 7;
        seconds = digit ? seconds * 10 + (text.data[i] - '0') : -1;
    }
    if (given && (text.size == 0 || seconds < 1 || seconds > EXPIRES_MAX_S))
        return FAULT(v, INCOMPLETE, "X-Amz-Expires must be between 1 and %d seconds; got '%.*s'",
                     EXPIRES_MAX_S, BYTES_ARG(text));
    v->signature->expires_s = given ? seconds : WINDOW_S;
    return NULL;
}

static const char *check_time(const struct verifying *v) {
    struct signature *signature = v->signature;
    if (!signature_time_read(signature->date, &signature->time_s))
        return FAULT(v, INCOMPLETE,
                     "Date must be in ISO-8601 'basic format'. Got '%.*s'. See "
                     "http://en.wikipedia.org/wiki/ISO_8601",
                     BYTES_ARG(signature->date));
    signature_time_write(signature->time_s, signature->time);
    if (!signature->in_query)
        return check_current(v, signature->time_s, WINDOW_S);
    const char *fault = read_expires(v);
    return fault != NULL ? fault : check_current(v, signature->time_s, signature->expires_s);
}

/* --- what must be signed --- */

static bool is_signed(struct bytes signed_headers, struct bytes name) {
    struct bytes one;
    while (bytes_cut(&signed_headers, ';', &one))
        if (one.size == name.size &&
            strncasecmp((const char *)one.data, (const char *)name.data, name.size) == 0)
            return true;
    return false;
}

/* What decides who asks, for what, and when, is of no worth unless it is signed. */
static const char *check_signed_headers(const struct verifying *v) {
    static const struct bytes needed[] = {BYTES("X-Amz-Date"), BYTES("X-Amz-Target"),
                                          BYTES("X-Amz-Security-Token")};
    struct bytes names = v->signature->signed_headers;
    if (!is_signed(names, BYTES("host")))
        return FAULT(v, INVALID_SIGNATURE,
                     "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (http_header(v->exchange, (const char *)needed[i].data).size != 0 &&
            !is_signed(names, needed[i]))
            return FAULT(v, INVALID_SIGNATURE,
                         "'%.*s' must be a 'SignedHeader' in the AWS Authorization.",
                         BYTES_ARG(needed[i]));
    }
    if (!v->signature->in_query && !v->signature->date_is_amz && !is_signed(names, BYTES("date")))
        return FAULT(v, INVALID_SIGNATURE,
                     "'Date' must be a 'SignedHeader' in the AWS Authorization.");
    return NULL;
}

/* --- the scope --- */

static const char *check_algorithm(const struct verifying *v) {
    struct bytes algorithm = v->signature->algorithm;
    if (bytes_equal(algorithm, BYTES("AWS4-HMAC-SHA256")))
        return NULL;
    return FAULT(v, INCOMPLETE,
                 "Unsupported AWS 'algorithm': '%.*s' (only AWS4-HMAC-SHA256 for now). ",
                 BYTES_ARG(algorithm));
}

static const char *split_credential(const struct verifying *v) {
    struct signature *signature = v->signature;
    struct bytes *const parts[] = {&signature->key_id, &signature->day, &signature->region,
                                   &signature->service, &signature->terminator};
    struct bytes rest = signature->credential;
    size_t count = 0;
    while (count < 5 && bytes_cut(&rest, '/', parts[count]))
        count++;
    if (count == 5 && rest.size == 0)
        return NULL;
    return FAULT(v, INCOMPLETE,
                 "Credential must have exactly 5 slash-delimited elements, e.g. "
                 "keyid/date/region/service/term, got '%.*s'",
                 BYTES_ARG(signature->credential));
}

static bool is_region(struct bytes region, const char *only) {
    if (region.size == 0 || region.size > REGION_SIZE_MAX ||
        (only != NULL && !bytes_equal(region, bytes_str(only))))
        return false;
    for (size_t i = 0; i < region.size; i++)
        if (memchr("abcdefghijklmnopqrstuvwxyz0123456789-", region.data[i], 37) == NULL)
            return false;
    return true;
}

static const char *check_scope(const struct verifying *v) {
    const struct signature *s = v->signature;
    struct buf text = {0};
    if (!is_region(s->region, v->settings->region))
        buf_printf(&text, "Credential should be scoped to a valid region, not '%.*s'. ",
                   BYTES_ARG(s->region));
    if (!bytes_equal(s->service, bytes_str(v->settings->service)))
        buf_printf(&text, "Credential should be scoped to correct service: '%s'. ",
                   v->settings->service);
    if (!bytes_equal(s->terminator, BYTES("aws4_request")))
        buf_printf(&text,
                   "Credential should be scoped with a valid terminator: 'aws4_request', not "
                   "'%.*s'. ",
                   BYTES_ARG(s->terminator));
    if (!bytes_equal(s->day, bytes_of(s->time, 8)))
        buf_printf(&text,
                   "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
                   "date from HTTP: '%.*s' != '%.8s', from '%.16s'. ",
                   BYTES_ARG(s->day), s->time, s->time);
    if (text.size == 0)
        return NULL;
    while (text.data[text.size - 1] == ' ')
        text.size--;
    failure_set(v->failure, v->arena, INVALID, "%.*s", (int)text.size, (const char *)text.data);
    buf_release(&text);
    return INVALID_SIGNATURE;
}

/* --- the signature --- */

/* Keys that signatures are made with, by who, day and region: the same ones all day. One cache a
 * thread. A key that was found once lives as long as the server, so its address tells it. */
struct signing_key {
    const struct access_key *key;
    char day[8];
    char region[REGION_SIZE_MAX];
    size_t region_size;
    struct hmac hmac;
};

static void derive(struct signing_key *slot, struct bytes service) {
    struct sigv4_scope scope = {.day = bytes_of(slot->day, 8),
                                .region = bytes_of(slot->region, slot->region_size),
                                .service = service};
    sigv4_derive(&scope, slot->key->secret, &slot->hmac);
}

static const struct hmac *signing_key(const struct access_key *key, const struct signature *s) {
    static _Thread_local struct signing_key cache[CACHE_SLOTS];
    uint64_t hash = hash_keyed(s->region, (uint64_t)(uintptr_t)key);
    struct signing_key *slot = &cache[(hash ^ hash >> 32) % CACHE_SLOTS];
    if (slot->key == key && memcmp(slot->day, s->day.data, 8) == 0 &&
        bytes_equal(bytes_of(slot->region, slot->region_size), s->region))
        return &slot->hmac;
    slot->key = key;
    memcpy(slot->day, s->day.data, 8);
    memcpy(slot->region, s->region.data, s->region.size);
    slot->region_size = s->region.size;
    derive(slot, s->service);
    return &slot->hmac;
}

/* Whether the head, with that hash of the body, is what was signed. */
static bool matches(const struct hmac *key, const struct signature *s, struct buf *head,
                    struct bytes body_hash) {
    struct sigv4_scope scope = {bytes_of(s->time, 16), s->day, s->region, s->service};
    char hex[SHA256_HEX_SIZE];
    sigv4_sign(key, &scope, head, body_hash, hex);
    return s->hex.size == SHA256_HEX_SIZE && CRYPTO_memcmp(hex, s->hex.data, SHA256_HEX_SIZE) == 0;
}

/* What the request says of its body's hash; empty if it says nothing. */
static struct bytes said_hash(const struct verifying *v) {
    struct bytes said = http_header(v->exchange, "x-amz-content-sha256");
    if (said.size == 0 && v->signature->in_query)
        query_get(v->exchange->query, BYTES("X-Amz-Content-Sha256"), v->arena, &said);
    return said;
}

static const struct bytes unsigned_body = {(const uint8_t *)"UNSIGNED-PAYLOAD", 16};

/* The hash of the body: what the client says it is must be so, and a presigned request may leave
 * the body to whoever sends it. */
static bool check_hashes(const struct verifying *v, const struct hmac *key, struct buf *head) {
    char computed[SHA256_HEX_SIZE];
    struct bytes said = said_hash(v);
    bool may_be_unsigned =
        v->signature->in_query && (said.size == 0 || bytes_equal(said, unsigned_body));
    sha256_hex(v->exchange->body, computed);
    struct bytes actual = bytes_of(computed, sizeof computed);
    if (said.size == 0 || bytes_equal(said, actual))
        if (matches(key, v->signature, head, actual))
            return true;
    return may_be_unsigned && matches(key, v->signature, head, unsigned_body);
}

/* The same without the body: as far as what is said of it allows. */
static bool check_said_hash(const struct verifying *v, const struct hmac *key, struct buf *head) {
    struct bytes said = said_hash(v);
    if (said.size == 0)
        return true;
    if (bytes_equal(said, unsigned_body) && !v->signature->in_query)
        return false;
    v->signature->proved_by_head = matches(key, v->signature, head, said);
    return v->signature->proved_by_head;
}

typedef bool hash_check(const struct verifying *v, const struct hmac *key, struct buf *head);

static const char *check_signature(const struct verifying *v, const struct access_key *key,
                                   hash_check *check) {
    struct buf head = {0};
    buf_reserve(&head, 1024);
    bool ok = canonical_head(&head, v->exchange, v->signature->signed_headers) &&
              check(v, signing_key(key, v->signature), &head);
    buf_release(&head);
    if (ok)
        return NULL;
    return FAULT(v, INVALID_SIGNATURE,
                 "The request signature we calculated does not match the signature you provided. "
                 "Check your AWS Secret Access Key and signing method. Consult the service "
                 "documentation for details.");
}

static const char *verify(const struct verifying *v, hash_check *check) {
    static const char *(*const checks[])(const struct verifying *) = {
        check_time, check_signed_headers, check_algorithm, split_credential, check_scope};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const char *fault = checks[i](v);
        if (fault != NULL)
            return fault;
    }
    const struct access_key *key = keyring_find(v->settings->ring, v->signature->key_id);
    if (key == NULL)
        return FAULT(v, "UnrecognizedClientException",
                     "The security token included in the request is invalid.");
    const char *fault = check_signature(v, key, check);
    if (fault == NULL)
        v->signature->key = key;
    return fault;
}

const char *signature_verify(const struct http_exchange *exchange,
                             const struct signature_settings *settings, struct scope in,
                             struct signature *signature) {
    const struct verifying v = {exchange, settings, in.arena, in.failure, signature};
    return verify(&v, check_hashes);
}

const char *signature_verify_head(const struct http_exchange *exchange,
                                  const struct signature_settings *settings, struct scope in,
                                  struct signature *signature) {
    const struct verifying v = {exchange, settings, in.arena, in.failure, signature};
    return verify(&v, check_said_hash);
}

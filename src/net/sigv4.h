/* AWS Signature Version 4, as both sides need it: the key that a day's signatures are made with,
 * and the signature of a canonical request (canonical.h). Verifying is in api/signature.h. */
#ifndef GT_NET_SIGV4_H
#define GT_NET_SIGV4_H

#include "net/http.h"
#include "net/sha256.h"

/* What a signature is good for. */
struct sigv4_scope {
    struct bytes time;    /* 20150830T123600Z */
    struct bytes day;     /* its first eight characters, as the scope says */
    struct bytes region;  /* at most LIMIT_REGION_SIZE bytes */
    struct bytes service; /* "dynamodb"; at most 64 bytes */
};

/* The key for that scope, whatever the time of the day. The secret has at most
 * LIMIT_SIGNATURE_SECRET bytes. Five HMACs: keep it. */
void sigv4_derive(const struct sigv4_scope *scope, struct bytes secret, struct hmac *out);

/* The signature, in hexadecimal, of a canonical request: `head` (canonical_head()) and the hash of
 * the body, which is appended to it for the while. */
void sigv4_sign(const struct hmac *key, const struct sigv4_scope *scope, struct buf *head,
                struct bytes body_hash, char out[SHA256_HEX_SIZE]);

/* Appends the value of the Authorization header for a request with all its headers in place, all of
 * which are signed: they must be in the order of their names, which are in lower case. */
struct sigv4_signer {
    struct bytes key_id;
    const struct hmac *key;
    struct sigv4_scope scope;
};
void sigv4_authorize(const struct sigv4_signer *signer, const struct http_exchange *request,
                     struct buf *out);

/* 20150830T123600Z, and the date of HTTP ("Sun, 30 Aug 2015 12:36:00 GMT"). False if it is neither.
 */
bool signature_time_read(struct bytes text, int64_t *out);
void signature_time_write(int64_t seconds, char out[16]);

#endif

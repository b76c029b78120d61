/* AWS Signature Version 4: who signed a request, and whether it is what they signed.
 *
 * There are two forms: in the Authorization header, or presigned in the query, good for
 * X-Amz-Expires seconds. Faults are DynamoDB's exceptions by name with its texts, found in its
 * order: what is missing, the time, what must be signed, the algorithm, the scope, the key, the
 * signature.
 *
 * A signature is good for a quarter of an hour before and after its time: that is the window in
 * which a request that somebody overheard could be sent again.
 */
#ifndef GT_API_SIGNATURE_H
#define GT_API_SIGNATURE_H

#include "api/access_keys.h"
#include "net/http.h"
#include "net/sigv4.h"

/* What a request says about its signature. Borrowed from the request or its arena. */
struct signature {
    bool in_query;
    struct bytes algorithm;
    struct bytes credential; /* key/date/region/service/terminator */
    struct bytes key_id, day, region, service, terminator;
    struct bytes signed_headers;  /* "host;x-amz-date" */
    struct bytes hex;             /* the signature itself */
    struct bytes date;            /* as given: X-Amz-Date, else Date */
    bool date_is_amz;             /* it came in X-Amz-Date */
    char time[16];                /* the date as 20150830T123600Z */
    int64_t time_s;               /* the same in seconds since 1970 */
    int64_t expires_s;            /* presigned: for how long it is good */
    const struct access_key *key; /* who made it, once signature_verify() has found out */
    bool proved_by_head;          /* signature_verify_head(): it holds if the body is as it says */
};

struct signature_settings {
    const char *region;  /* NULL: any */
    const char *service; /* "dynamodb" */
    int64_t now_s;
    const struct keyring *ring; /* for signature_verify(): the keys that may have made it */
};

/* NULL when the request carries a signature in one of the two forms, whoever's it is; or the name
 * of the exception, with the text in *failure. */
const char *signature_read(const struct http_exchange *exchange, struct scope in,
                           struct signature *out);
/* NULL when one of the keys made it, which is then signature->key; or the name of the exception.
 * Costs two or three SHA-256 over the head and the body. Any thread; keys must outlive the thread's
 * last call. */
const char *signature_verify(const struct http_exchange *exchange,
                             const struct signature_settings *settings, struct scope in,
                             struct signature *signature);

/* The same by the head alone, before the body is there. Where the head says what the hash of the
 * body is (x-amz-content-sha256) the signature is checked with that, and proved_by_head is set;
 * where it does not, only the body can tell, and NULL means that nothing else is wrong. */
const char *signature_verify_head(const struct http_exchange *exchange,
                                  const struct signature_settings *settings, struct scope in,
                                  struct signature *signature);

#endif

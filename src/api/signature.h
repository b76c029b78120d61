/* Signature Version 4: who signed a request, and whether it is what they signed.
 *
 * Two forms: in the Authorization header, or presigned in the query, good for X-Amz-Expires
 * seconds. Faults are exceptions by name with the service's texts, found in the service's order:
 * what is missing, the time, what must be signed, the algorithm, the scope, the key, the signature.
 *
 * A signature made now is good for a quarter of an hour either way: that is the window in which
 * a request that was listened to could be sent again.
 */
#ifndef GT_API_SIGNATURE_H
#define GT_API_SIGNATURE_H

#include "api/keys.h"
#include "net/http.h"

/* What a request says about its signature. Borrowed from the request or its arena. */
struct signature {
    bool in_query;
    struct bytes algorithm;
    struct bytes credential; /* key/date/region/service/terminator */
    struct bytes key_id, day, region, service, terminator;
    struct bytes signed_headers; /* "host;x-amz-date" */
    struct bytes hex;            /* the signature itself */
    struct bytes date;           /* as given: X-Amz-Date, else Date */
    bool date_is_amz;            /* it came in X-Amz-Date */
    char time[16];               /* the date as 20150830T123600Z */
    int64_t time_s;              /* the same in seconds since 1970 */
    int64_t expires_s;           /* presigned: for how long it is good */
};

struct signature_settings {
    const char *region;  /* NULL: any */
    const char *service; /* "dynamodb" */
    int64_t now_s;
};

/* NULL when the request carries a signature in one of the two forms, whoever's it is; or the name
 * of the exception, with the text in *failure. */
const char *signature_read(const struct http_exchange *exchange, struct arena *arena,
                           struct failure *failure, struct signature *out);
/* NULL when one of the keys made it, and which one; or the name of the exception. Costs two or
 * three SHA-256 over the head and the body. Any thread; keys must outlive the thread's last call.
 */
const char *signature_verify(const struct http_exchange *exchange,
                             const struct signature_settings *settings, const struct keyring *ring,
                             struct arena *arena, struct failure *failure,
                             struct signature *signature, const struct access_key **out);

/* 20150830T123600Z, and the date of HTTP ("Sun, 30 Aug 2015 12:36:00 GMT"). False if it is neither.
 */
bool signature_time_read(struct bytes text, int64_t *out);
void signature_time_write(int64_t seconds, char out[16]);

#endif

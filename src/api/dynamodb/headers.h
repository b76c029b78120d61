/* What a request's head says: the headers that matter here, found in one pass, and whether the
 * credentials are of the form that clients must send. */
#ifndef GT_API_DYNAMODB_HEADERS_H
#define GT_API_DYNAMODB_HEADERS_H

#include "base/status.h"
#include "net/http.h"

struct headers {
    struct bytes target; /* X-Amz-Target */
    struct bytes content_type, content_encoding, accept_encoding;
    struct bytes authorization, date, amz_date;
    struct bytes origin;
};

void headers_read(const struct http_exchange *exchange, struct headers *out);

/* NULL when the request carries credentials, whoever's they are; or the name of the exception, with
 * the text in *failure. */
const char *headers_check_credentials(const struct headers *headers, struct bytes query,
                                      struct arena *arena, struct failure *failure);
/* The region that the credentials are scoped to; empty if they do not say. */
struct bytes headers_region(struct bytes authorization, struct bytes query);

#endif

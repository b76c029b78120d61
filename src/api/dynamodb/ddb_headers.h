/* What a request's head says: the headers that matter here, found in one pass. */
#ifndef GT_API_DYNAMODB_DDB_HEADERS_H
#define GT_API_DYNAMODB_DDB_HEADERS_H

#include "base/status.h"
#include "net/http.h"

struct headers {
    struct bytes target; /* X-Amz-Target */
    struct bytes content_type, content_encoding, accept_encoding;
    struct bytes authorization, date, amz_date;
    struct bytes origin;
};

void headers_read(const struct http_exchange *exchange, struct headers *out);

/* The region that the credentials are scoped to; empty if they do not say. */
struct bytes headers_region(struct bytes authorization, struct bytes query);

#endif

/* The DynamoDB JSON face: HTTP exchanges in, table operations, JSON out.
 *
 * One face serves all loops; it holds no state that changes. With keys, a request must be signed by
 * one of them and does what that one may do. Without, any signature is taken, but a request must
 * carry one, as clients of the service expect.
 */
#ifndef GT_API_DYNAMODB_FACE_H
#define GT_API_DYNAMODB_FACE_H

#include "api/keys.h"
#include "api/transfer/transfer.h"
#include "net/http.h"
#include "table/table.h"

struct dynamodb_settings {
    const char *region;      /* of the ARNs told; NULL: from each request's credentials */
    const char *account;     /* 12 digits; NULL: "000000000000" */
    bool strict_paging;      /* page plain counts at 1 MB, as the service does */
    const struct keys *keys; /* who may come in; NULL: anybody. Outlives the face. */
    /* Its jobs: backups, restores, exports, imports; NULL: there are none. Outlives the face. */
    struct transfer *transfer;
    /* What answers go through; NULL: http_answer(). Tests catch answers here. */
    void (*answer)(struct http_exchange *exchange, const struct http_answer *answer);
};

struct dynamodb_face;

/* The engine must outlive the face; settings' strings too. */
struct dynamodb_face *dynamodb_face_new(struct engine *engine,
                                        const struct dynamodb_settings *settings);
void dynamodb_face_free(struct dynamodb_face *face);

/* An http_handler for POST /. `face` is a struct dynamodb_face. */
void dynamodb_handle(struct http_exchange *exchange, void *face);

#endif

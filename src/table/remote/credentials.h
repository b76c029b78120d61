/* Credentials for the endpoint, found where AWS's SDKs find them, in their order:
 *
 *   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
 *   2. the shared file (AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials), the profile
 * AWS_PROFILE, else "default"
 *   3. a container's endpoint (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, or _FULL_URI with
 *      AWS_CONTAINER_AUTHORIZATION_TOKEN or _TOKEN_FILE)
 *   4. the instance's metadata, version 2 (AWS_EC2_METADATA_SERVICE_ENDPOINT; not if
 *      AWS_EC2_METADATA_DISABLED is true)
 *
 * Those that end are asked for again before they do. Any thread.
 */
#ifndef GT_TABLE_REMOTE_CREDENTIALS_H
#define GT_TABLE_REMOTE_CREDENTIALS_H

#include "base/status.h"

/* Strings live in the arena that they were asked for with. */
struct credentials {
    struct bytes key_id, secret;
    struct bytes token; /* of a session; empty: none */
    int64_t expires_s;  /* 0: never */
    uint64_t serial;    /* another one when they have become others */
};

struct credential_source;
/* `given`: "ID:SECRET", which are then all there are, borrowed; NULL: as above. */
struct credential_source *credential_source_new(const char *given);
void credential_source_free(struct credential_source *source);

/* Waits for a look at files and endpoints only when there are none yet or they are about to end.
 * DENIED with a sentence that says what to do if there are none anywhere. */
enum status credentials_get(struct credential_source *source, struct scope in,
                            struct credentials *out);
/* They were refused as expired: the next get looks for them again. */
void credentials_forget(struct credential_source *source, uint64_t serial);

#endif

/* Requests to an endpoint that speaks DynamoDB's JSON protocol: signed, sent, tried again.
 *
 * A request is carried out on the thread that waits for it, over one of a bounded number of
 * connections that are kept; who finds none free waits for one. What may be tried again is: no
 * connection, no answer, a 5xx, throttling; after a pause that doubles each time, of which a random
 * part is waited.
 */
#ifndef GT_TABLE_REMOTE_TRANSPORT_H
#define GT_TABLE_REMOTE_TRANSPORT_H

#include "json/json.h"

struct transport;

/* Strings are borrowed while it is open. */
struct transport_settings {
    const char *endpoint; /* URL; NULL or "": Amazon's for the region */
    const char *region;   /* NULL or "": AWS_REGION, AWS_DEFAULT_REGION */
    const char *ca;       /* PEM file; NULL or "": the system's authorities */
    const char *key;      /* "ID:SECRET"; NULL: as credentials.h says */
};
/* INVALID with a sentence if the endpoint is no URL or the region is not known. Sends nothing. */
enum status transport_open(const struct transport_settings *settings, struct scope in,
                           struct transport **out);
/* Requests under way have so long to succeed, and those that begin afterwards
 * LIMIT_REMOTE_LAST_MS, if the endpoint answers, else nothing: IO_FAILED. Any thread, does not
 * wait.
 */
void transport_end_soon(struct transport *transport, unsigned grace_ms);
/* Nothing may be under way. */
void transport_close(struct transport *transport);

const char *transport_url(const struct transport *transport);
const char *transport_region(const struct transport *transport);

struct transport_request {
    const char *target; /* "GetItem", or with its service: "DynamoDBStreams_20120810.GetRecords" */
    struct bytes body;
    bool once; /* it is not tried again, whatever comes: the caller's client does that */

    /* filled in; in the arena */
    int status;          /* 200, or 4xx with the fault in */
    struct bytes type;   /* "ConditionalCheckFailedException"; empty if it went well */
    struct bytes text;   /* what is said about it */
    struct bytes answer; /* the body as it came, */
    struct json json;    /* and read; of an answer 200 only if `parse` was asked for */
    bool raw;            /* the body need not be read */
    bool uncertain;      /* an attempt before the one that was answered may have been carried out */
};

/* OK with whatever answer is final. IO_FAILED (no answer, or 5xx to the end), BUSY (throttled to
 * the end), DENIED (no credentials, or they are refused), all with a sentence. Then `uncertain`
 * says whether it may have been carried out. */
enum status transport_send(struct transport *transport, struct transport_request *request,
                           struct scope in);

/* A fault of the endpoint as a status: NO_TABLE, INVALID, CONDITION_FAILED, ... with its text. */
enum status transport_fault(const struct transport_request *request, struct scope in);

/* What an operator has to do about a refusal that is not about who asks: a clock that is wrong, a
 * credential that has ended. NULL: nothing that is known. */
const char *transport_remedy(const struct transport_request *request);

/* Counts since the start, for an operator. Any thread. */
struct transport_figures {
    uint64_t requests, retries, throttled, failures; /* failures: given up */
    bool answering; /* the last one that came to an end was answered */
};
void transport_figures(struct transport *transport, struct transport_figures *out);

#endif

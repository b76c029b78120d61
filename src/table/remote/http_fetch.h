/* One HTTP request by libcurl, carried out on the thread that asks. */
#ifndef GT_TABLE_REMOTE_HTTP_FETCH_H
#define GT_TABLE_REMOTE_HTTP_FETCH_H

#include "base/buf.h"
#include "base/status.h"

enum { HTTP_FETCH_LINES = 12, HTTP_FETCH_REASON = 256 };

struct http_fetch {
    const char *method, *url;
    const char *lines[HTTP_FETCH_LINES]; /* "Name: value"; NULL after the last */
    struct bytes body;
    long connect_ms, answer_ms;  /* time-outs */
    const char *ca;              /* PEM file; NULL: the system's authorities */
    bool (*is_over)(void *user); /* asked about once a second: no answer is wanted any more. NULL:
                                    only the time-outs end it */
    void *user;

    /* filled in */
    int status;                     /* of the answer; 0: there was none */
    struct buf answer;              /* its body; released by the caller */
    bool sent;                      /* it may have reached the server */
    char reason[HTTP_FETCH_REASON]; /* why there was no answer */
    bool certificate;               /* it is that the server's certificate is not trusted */
};

/* A connection that is kept: zero is one that is not open yet. One thread at a time. */
struct http_connection {
    void *curl;
};
/* OK with any answer; IO_FAILED if there was none. */
enum status http_fetch_send(struct http_connection *on, struct http_fetch *fetch);
void http_connection_close(struct http_connection *connection);

#endif

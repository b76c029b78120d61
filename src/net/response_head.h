/* The head of an answer: status line and headers, up to the empty line. */
#ifndef GT_NET_RESPONSE_HEAD_H
#define GT_NET_RESPONSE_HEAD_H

#include "net/http.h"

#include <time.h>

/* "Date: Tue, 15 Nov 1994 08:12:31 GMT\r\n", made once a second. One owner; zero is new. */
struct response_date {
    time_t second;
    char line[64];
    size_t size;
};

enum response_connection {
    ANSWER_GOES_ON,    /* as HTTP/1.1 does unless told otherwise: no header */
    ANSWER_KEEP_ALIVE, /* the same, said to an HTTP/1.0 client that asked */
    ANSWER_CLOSE,
};

/* Appends the head. */
void response_head_put(struct buf *to, const struct http_answer *answer,
                       enum response_connection connection, struct response_date *date);
/* False for those that never have a body, nor a Content-Length: 1xx, 204, 304. */
bool response_has_body(int status);
/* "Not Found" and the like; "Unknown" if it is not a status we know. */
const char *response_reason(int status);

#endif

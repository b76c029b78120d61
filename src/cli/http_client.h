/* Requests to a running server over HTTP or HTTPS, by libcurl. The server is asked directly,
 * whatever proxies the environment names; redirects are not followed. A client belongs to one
 * thread at a time. */
#ifndef GT_CLI_HTTP_CLIENT_H
#define GT_CLI_HTTP_CLIENT_H

#include "base/buf.h"
#include "base/status.h"

struct http_server {
    const char *url;    /* "http://127.0.0.1:8000" or "https://..." */
    const char *key;    /* "ID:SECRET"; NULL: none */
    const char *cacert; /* PEM file of the authorities to trust instead of the system's; NULL */
    long timeout_s;     /* for a whole answer; 0: LIMIT_CLIENT_ANSWER_S */
};

struct http_client_request {
    const struct http_server *server;
    const char *method, *path;
    struct bytes body; /* or empty */
    const char *type;  /* of the body; NULL: application/json */
};

struct http_client_answer {
    struct arena *arena; /* set by the caller: holds what follows */
    int status;
    struct bytes body;
    struct failure failure; /* a sentence that names the server */
};

/* A connection that is kept. Zero is one that is not open yet; it is opened, and opened again if
 * the server has closed it, by the next request. */
struct http_client {
    void *curl;      /* CURL *; NULL: none yet */
    struct buf body; /* of the answer under way */
};

/* INVALID: the URL is none, or its certificates cannot be read. IO_FAILED: there was no answer, or
 * it cannot be trusted. */
enum status http_client_send(struct http_client *http, const struct http_client_request *request,
                             struct http_client_answer *answer);
void http_client_close(struct http_client *http);

/* http_client_send() over a connection of its own, closed afterwards. */
enum status http_client_send_once(const struct http_client_request *request,
                                  struct http_client_answer *answer);

#endif

#include "cli/http_client.h"

#include "base/limits.h"
#include "cli/commands.h"
#include "net/libcurl.h"

/* A handle with the options of one request. */
struct transfer {
    const struct libcurl *lib;
    CURL *curl;
    const struct http_client_request *request;
    struct curl_slist *lines;     /* of the header */
    long status;                  /* of the answer */
    char reason[CURL_ERROR_SIZE]; /* for a failure; may stay empty */
};

/* --- setting up --- */

static size_t on_body(char *data, size_t size, size_t count, void *user) {
    struct http_client *http = user;
    if (size * count > LIMIT_CLIENT_ANSWER - http->body.size)
        return CURL_WRITEFUNC_ERROR;
    buf_append(&http->body, data, size * count);
    return size * count;
}

static void set_server(struct transfer *t) {
    const struct http_server *server = t->request->server;
    t->lib->setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    t->lib->setopt(t->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    t->lib->setopt(t->curl, CURLOPT_PROXY, "");
    t->lib->setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
    t->lib->setopt(t->curl, CURLOPT_CONNECTTIMEOUT, (long)LIMIT_CLIENT_CONNECT_S);
    t->lib->setopt(t->curl, CURLOPT_TIMEOUT,
                   server->timeout_s != 0 ? server->timeout_s : (long)LIMIT_CLIENT_ANSWER_S);
    t->lib->setopt(t->curl, CURLOPT_USERAGENT, "gametable/" GAMETABLE_VERSION);
    if (server->cacert != NULL)
        t->lib->setopt(t->curl, CURLOPT_CAINFO, server->cacert);
}

/* The server's URL may end in slashes, the path begins with one. */
static void set_url(struct transfer *t) {
    struct buf url = {0};
    struct bytes base = bytes_str(t->request->server->url);
    while (base.size != 0 && base.data[base.size - 1] == '/')
        base.size--;
    buf_put(&url, base);
    buf_put(&url, bytes_str(t->request->path));
    buf_byte(&url, '\0');
    t->lib->setopt(t->curl, CURLOPT_URL, (const char *)url.data);
    t->lib->setopt(t->curl, CURLOPT_PATH_AS_IS, 1L);
    buf_release(&url);
}

static void set_body(struct transfer *t) {
    struct bytes body = t->request->body;
    if (body.size != 0 || strcmp(t->request->method, "POST") == 0) {
        t->lib->setopt(t->curl, CURLOPT_POSTFIELDS, body.size != 0 ? (const char *)body.data : "");
        t->lib->setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size);
    }
    t->lib->setopt(t->curl, CURLOPT_CUSTOMREQUEST, t->request->method);
}

/* "Name: value"; without a value libcurl leaves out the line it would write itself. */
static void add_line(struct transfer *t, const char *name, const char *value) {
    struct buf line = {0};
    buf_printf(&line, "%s%s", name, value);
    buf_byte(&line, '\0');
    t->lines = t->lib->slist_append(t->lines, (const char *)line.data);
    buf_release(&line);
}

static void set_lines(struct transfer *t) {
    const char *type = t->request->type != NULL ? t->request->type : "application/json";
    add_line(t, "Expect:", ""); /* a large body is sent at once, too */
    add_line(t, "Content-Type: ", t->request->body.size != 0 ? type : "");
    if (t->request->server->key != NULL)
        add_line(t, "Authorization: Bearer ", t->request->server->key);
    t->lib->setopt(t->curl, CURLOPT_HTTPHEADER, t->lines);
}

/* --- what went wrong --- */

static enum status tell_certificate(const struct http_server *server, const char *reason,
                                    struct http_client_answer *answer) {
    return failure_set(&answer->failure, answer->arena, IO_FAILED,
                       "the certificate of %s is not trusted (%s): --cacert FILE or "
                       "GAMETABLE_CACERT names the authority to trust",
                       server->url, reason);
}

static enum status tell_fault(const struct transfer *t, CURLcode code,
                              struct http_client_answer *answer) {
    const struct http_server *server = t->request->server;
    const char *reason = t->reason[0] != '\0' ? t->reason : t->lib->strerror(code);
    struct failure *failure = &answer->failure;
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return failure_set(failure, answer->arena, INVALID,
                           "%s is no URL of a server, such as http://127.0.0.1:8000", server->url);
    case CURLE_SSL_CACERT_BADFILE:
        return failure_set(failure, answer->arena, INVALID,
                           "there are no usable certificates in %s",
                           server->cacert != NULL ? server->cacert : "the system's folder");
    case CURLE_PEER_FAILED_VERIFICATION:
        return tell_certificate(server, reason, answer);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        return failure_set(failure, answer->arena, IO_FAILED, "no server answers at %s",
                           server->url);
    case CURLE_OPERATION_TIMEDOUT:
        return failure_set(failure, answer->arena, IO_FAILED,
                           "the server at %s did not answer in time: %s", server->url, reason);
    case CURLE_WRITE_ERROR:
        return failure_set(failure, answer->arena, IO_FAILED,
                           "the answer of %s has more than %d bytes", server->url,
                           LIMIT_CLIENT_ANSWER);
    default:
        return failure_set(failure, answer->arena, IO_FAILED, "the server at %s gave no answer: %s",
                           server->url, reason);
    }
}

/* --- asking --- */

static CURLcode perform(struct transfer *t, struct http_client *http) {
    /* libcurl would take a bare word for the name of a host. */
    if (strstr(t->request->server->url, "://") == NULL)
        return CURLE_URL_MALFORMAT;
    set_server(t);
    set_url(t);
    set_body(t);
    set_lines(t);
    t->lib->setopt(t->curl, CURLOPT_ERRORBUFFER, t->reason);
    t->lib->setopt(t->curl, CURLOPT_WRITEFUNCTION, on_body);
    t->lib->setopt(t->curl, CURLOPT_WRITEDATA, http);
    CURLcode code = t->lib->perform(t->curl);
    t->lib->getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->status);
    t->lib->reset(t->curl); /* forgets what points here, keeps the connection */
    t->lib->slist_free_all(t->lines);
    return code;
}

enum status http_client_send(struct http_client *http, const struct http_client_request *request,
                             struct http_client_answer *answer) {
    struct transfer t = {.lib = libcurl_get(), .request = request};
    if (t.lib != NULL && http->curl == NULL)
        http->curl = t.lib->init();
    t.curl = http->curl;
    if (t.curl == NULL)
        return failure_set(&answer->failure, answer->arena, IO_FAILED,
                           "libcurl (Debian's libcurl4) is needed to ask a server");
    buf_clear(&http->body);
    CURLcode code = perform(&t, http);
    if (code != CURLE_OK)
        return tell_fault(&t, code, answer);
    answer->status = (int)t.status;
    answer->body = arena_copy(answer->arena, buf_bytes(&http->body));
    return OK;
}

void http_client_close(struct http_client *http) {
    if (http->curl != NULL)
        libcurl_get()->cleanup(http->curl);
    http->curl = NULL;
    buf_release(&http->body);
}

enum status http_client_send_once(const struct http_client_request *request,
                                  struct http_client_answer *answer) {
    struct http_client http = {0};
    enum status result = http_client_send(&http, request, answer);
    http_client_close(&http);
    return result;
}

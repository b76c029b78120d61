#include "table/remote/http_fetch.h"

#include "base/limits.h"
#include "net/libcurl.h"

#include <stdio.h>

static size_t on_body(char *data, size_t size, size_t count, void *user) {
    struct http_fetch *fetch = user;
    if (size * count > LIMIT_REMOTE_ANSWER - fetch->answer.size)
        return 0;
    buf_append(&fetch->answer, data, size * count);
    return size * count;
}

static int on_progress(void *user, curl_off_t to_get, curl_off_t got, curl_off_t to_put,
                       curl_off_t put) {
    const struct http_fetch *fetch = user;
    (void)to_get, (void)got, (void)to_put, (void)put;
    return fetch->is_over(fetch->user); /* CURLE_ABORTED_BY_CALLBACK */
}

static void set_options(const struct libcurl *lib, CURL *curl, struct http_fetch *fetch) {
    lib->setopt(curl, CURLOPT_URL, fetch->url);
    lib->setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    lib->setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    lib->setopt(curl, CURLOPT_PROXY, "");
    lib->setopt(curl, CURLOPT_NOSIGNAL, 1L);
    lib->setopt(curl, CURLOPT_TCP_NODELAY, 1L);
    lib->setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    lib->setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, fetch->connect_ms);
    lib->setopt(curl, CURLOPT_TIMEOUT_MS, fetch->answer_ms);
    if (fetch->is_over != NULL) {
        lib->setopt(curl, CURLOPT_NOPROGRESS, 0L);
        lib->setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
        lib->setopt(curl, CURLOPT_XFERINFODATA, fetch);
    }
    if (fetch->ca != NULL)
        lib->setopt(curl, CURLOPT_CAINFO, fetch->ca);
    if (fetch->body.size != 0 || strcmp(fetch->method, "POST") == 0) {
        lib->setopt(curl, CURLOPT_POSTFIELDS,
                    fetch->body.size != 0 ? (const char *)fetch->body.data : "");
        lib->setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)fetch->body.size);
    }
    lib->setopt(curl, CURLOPT_CUSTOMREQUEST, fetch->method);
    lib->setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    lib->setopt(curl, CURLOPT_WRITEDATA, fetch);
}

static void tell_fault(const struct libcurl *lib, CURLcode code, struct http_fetch *fetch) {
    fetch->certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    fetch->sent = code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST &&
                  code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
                  code != CURLE_SSL_CONNECT_ERROR && !fetch->certificate;
    if (fetch->reason[0] == '\0')
        snprintf(fetch->reason, sizeof(fetch->reason), "%s", lib->strerror(code));
}

enum status http_fetch_send(struct http_connection *on, struct http_fetch *fetch) {
    const struct libcurl *lib = libcurl_get();
    struct curl_slist *lines = NULL;
    long answered = 0;
    fetch->status = 0;
    fetch->sent = fetch->certificate = false;
    fetch->reason[0] = '\0';
    buf_clear(&fetch->answer);
    if (lib != NULL && on->curl == NULL)
        on->curl = lib->init();
    if (lib == NULL || on->curl == NULL) {
        snprintf(fetch->reason, sizeof(fetch->reason), "libcurl (Debian's libcurl4) is missing");
        return IO_FAILED;
    }
    set_options(lib, on->curl, fetch);
    lib->setopt(on->curl, CURLOPT_ERRORBUFFER, fetch->reason);
    lines = lib->slist_append(lines, "Expect:");
    for (unsigned i = 0; i < HTTP_FETCH_LINES && fetch->lines[i] != NULL; i++)
        lines = lib->slist_append(lines, fetch->lines[i]);
    lib->setopt(on->curl, CURLOPT_HTTPHEADER, lines);
    CURLcode code = lib->perform(on->curl);
    lib->getinfo(on->curl, CURLINFO_RESPONSE_CODE, &answered);
    lib->reset(on->curl); /* forgets what points here, keeps the connection */
    lib->slist_free_all(lines);
    if (code != CURLE_OK) {
        tell_fault(lib, code, fetch);
        return IO_FAILED;
    }
    fetch->sent = true;
    fetch->status = (int)answered;
    return OK;
}

void http_connection_close(struct http_connection *connection) {
    if (connection->curl != NULL)
        libcurl_get()->cleanup(connection->curl);
    connection->curl = NULL;
}

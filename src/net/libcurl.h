/* libcurl, loaded when a command, or the remote engine, first asks a server.
 *
 * Linked in the usual way it would come into every process, the server too, with 26 libraries that
 * it depends on: 4 MB of memory and 5 ms of each start, for what the server never calls. */
#ifndef GT_NET_LIBCURL_H
#define GT_NET_LIBCURL_H

#define CURL_DISABLE_TYPECHECK /* its macros would stand where the names of the members do */
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct libcurl {
    __typeof__(curl_easy_init) *init;
    __typeof__(curl_easy_reset) *reset;
    __typeof__(curl_easy_setopt) *setopt;
    __typeof__(curl_easy_perform) *perform;
    __typeof__(curl_easy_getinfo) *getinfo;
    __typeof__(curl_easy_cleanup) *cleanup;
    __typeof__(curl_easy_strerror) *strerror;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
};

/* NULL if it is not installed. Any thread; loaded once and never unloaded. */
const struct libcurl *libcurl_get(void);

#endif

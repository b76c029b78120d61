#include "net/libcurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static struct libcurl loaded;
static bool usable;

/* A function's address is copied as bytes: C knows no cast from void * to it. */
static bool find_symbol(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof(found));
    return found != NULL;
}

static void load_library(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    __typeof__(curl_global_init) *global_init;
    usable = library != NULL && find_symbol(library, "curl_global_init", &global_init) &&
             find_symbol(library, "curl_easy_init", &loaded.init) &&
             find_symbol(library, "curl_easy_reset", &loaded.reset) &&
             find_symbol(library, "curl_easy_setopt", &loaded.setopt) &&
             find_symbol(library, "curl_easy_perform", &loaded.perform) &&
             find_symbol(library, "curl_easy_getinfo", &loaded.getinfo) &&
             find_symbol(library, "curl_easy_cleanup", &loaded.cleanup) &&
             find_symbol(library, "curl_easy_strerror", &loaded.strerror) &&
             find_symbol(library, "curl_slist_append", &loaded.slist_append) &&
             find_symbol(library, "curl_slist_free_all", &loaded.slist_free_all) &&
             global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    signal(SIGPIPE, SIG_IGN); /* CURLOPT_NOSIGNAL leaves it to us: a lost connection is an error */
}

const struct libcurl *libcurl_get(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    return usable ? &loaded : NULL;
}

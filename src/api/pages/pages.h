/* The pages for people: files built from web/ and carried in the program. */
#ifndef GT_API_PAGES_PAGES_H
#define GT_API_PAGES_PAGES_H

#include "net/http.h"

/* Whether the request is for a page or one of its files. "/" only if whoever asks wants a page:
 * others ask it how the server is. */
bool pages_take(const struct http_exchange *exchange);
void pages_handle(struct http_exchange *exchange);

#endif

/* Which web pages may talk to this server.
 *
 * A browser sends requests to loopback for any page that asks it to, so a server that anybody on
 * the machine may use without a key is open to every page that its developer visits. Two headers
 * tell such requests apart, and no page can forge them:
 *
 *   Origin   the page that asks. Taken: a page of this server itself, a page of this machine
 *            (localhost, 127.0.0.0/8, [::1], any port), and what `--origins` lists.
 *   Host     the name that the browser looked up. A foreign name that resolves to 127.0.0.1 (DNS
 *            rebinding) makes a page "of this server itself", so without keys only loopback names
 *            and the hosts of listed origins are taken.
 *
 * With access keys a page needs one anyway, so only live subscriptions, which browsers open
 * without a preflight, still look at the origin. `--trust-network` takes any Host: there the server
 * has a name of its own, which it does not know.
 *
 * All functions are pure and for any thread.
 */
#ifndef GT_API_ORIGIN_H
#define GT_API_ORIGIN_H

#include "base/arena.h"
#include "net/http.h"

struct origin_policy {
    const char *listed; /* origins separated by blanks; "*" is any; NULL: none */
    bool any_host;      /* the Host header is not looked at */
    bool any_page;      /* requests other than live subscriptions come from any page */
};

/* Whether the page that sent the exchange is this server's own, of this machine or listed. An
 * exchange without an Origin header is not a page's. */
bool origin_is_trusted(const struct origin_policy *policy, const struct http_exchange *exchange);

/* Whether no other page than this server's own can have sent the exchange, as far as a browser
 * tells: for what is asked by a cookie. */
bool origin_is_own(const struct http_exchange *exchange);

/* Whether the exchange may be answered at all. If not, *why is a sentence for its sender, in the
 * exchange's arena. */
bool origin_admits(const struct origin_policy *policy, struct http_exchange *exchange,
                   struct bytes *why);

#endif

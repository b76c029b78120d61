/* Sessions of the console: a browser on plain HTTP cannot sign requests, so an access key that may
 * administer everything is shown once, and what it opens is a session.
 *
 *     cookie   gametable-console=<64 hex digits>, HttpOnly, SameSite=Strict: no page can read it,
 *              and no page of another site makes a browser send it
 *     token    64 more digits that only the page was told; whatever changes something carries them
 *              in X-Console-Token, which no other page can
 *
 * Both are 256 random bits and live in memory only: a restart ends all sessions. So does time
 * (LIMIT_CONSOLE_SESSION_MS, or LIMIT_CONSOLE_IDLE_MS without a request), and a key that was
 * removed or changed. There are at most LIMIT_CONSOLE_SESSIONS; a new one takes the place of that
 * which was used longest ago. Any thread.
 */
#ifndef GT_API_CONSOLE_SESSIONS_H
#define GT_API_CONSOLE_SESSIONS_H

#include "api/access_keys.h"
#include "net/http.h"

#define CONSOLE_COOKIE "gametable-console"
enum { CONSOLE_SECRET_SIZE = 64 }; /* hex digits */

struct console_session {
    char cookie[CONSOLE_SECRET_SIZE + 1], token[CONSOLE_SECRET_SIZE + 1];
    const struct access_key *key;
    int64_t expires_us; /* by clock_ticks_us() */
    int64_t used_us;
};

struct console_sessions;
/* `keys` outlive it. */
struct console_sessions *console_sessions_new(const struct keys *keys);
void console_sessions_free(struct console_sessions *sessions);

/* Opens a session for that key. */
void console_session_open(struct console_sessions *sessions, const struct access_key *key,
                          struct console_session *out);
/* The session whose cookie the exchange carries, if it is good and the request is one of our own
 * pages' (Origin and Sec-Fetch-Site, where a browser sends them). It counts as used. */
bool console_session_find(struct console_sessions *sessions, const struct http_exchange *exchange,
                          struct console_session *out);
void console_session_close(struct console_sessions *sessions, const struct console_session *which);

/* Whether the exchange carries the session's token, or changes nothing: GET and HEAD do not. */
bool console_session_proved(const struct console_session *session,
                            const struct http_exchange *exchange);
/* Whether somebody has tried too many wrong secrets in the last minute; and notes one more. */
bool console_sessions_guessed(struct console_sessions *sessions);
void console_sessions_note_guess(struct console_sessions *sessions);

#endif

#include "api/console_sessions.h"

#include "api/origin.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>

struct console_sessions {
    const struct keys *keys;
    pthread_mutex_t mutex;                              /* over all that follows */
    struct console_session all[LIMIT_CONSOLE_SESSIONS]; /* key NULL: free */
    int64_t guesses_from_us;
    unsigned guesses;
};

struct console_sessions *console_sessions_new(const struct keys *keys) {
    struct console_sessions *sessions = mem_zalloc(sizeof *sessions);
    sessions->keys = keys;
    pthread_mutex_init(&sessions->mutex, NULL);
    return sessions;
}

void console_sessions_free(struct console_sessions *sessions) {
    pthread_mutex_destroy(&sessions->mutex);
    OPENSSL_cleanse(sessions, sizeof *sessions);
    mem_free(sessions);
}

static void draw_secret(char to[CONSOLE_SECRET_SIZE + 1]) {
    uint8_t random[CONSOLE_SECRET_SIZE / 2];
    random_secure(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(to + 2 * i, 3, "%02x", random[i]);
}

/* Under the mutex: a free one, or that which was used longest ago. */
static struct console_session *find_room(struct console_sessions *sessions) {
    struct console_session *oldest = &sessions->all[0];
    for (size_t i = 0; i < LIMIT_CONSOLE_SESSIONS; i++) {
        struct console_session *one = &sessions->all[i];
        if (one->key == NULL)
            return one;
        if (one->used_us < oldest->used_us)
            oldest = one;
    }
    return oldest;
}

void console_session_open(struct console_sessions *sessions, const struct access_key *key,
                          struct console_session *out) {
    int64_t now_us = clock_ticks_us();
    struct console_session session = {.key = key,
                                      .expires_us =
                                          now_us + INT64_C(1000) * LIMIT_CONSOLE_SESSION_MS,
                                      .used_us = now_us};
    draw_secret(session.cookie);
    draw_secret(session.token);
    pthread_mutex_lock(&sessions->mutex);
    *find_room(sessions) = session;
    pthread_mutex_unlock(&sessions->mutex);
    *out = session;
}

/* --- finding --- */

/* The value of our cookie in a Cookie header; empty if it has none. */
static struct bytes cookie_of(struct bytes header) {
    struct bytes name = BYTES(CONSOLE_COOKIE "=");
    while (header.size != 0) {
        size_t end = bytes_find(header, BYTES(";"));
        struct bytes one = bytes_of(header.data, end == SIZE_MAX ? header.size : end);
        while (one.size != 0 && one.data[0] == ' ')
            one = bytes_skip(one, 1);
        if (bytes_starts(one, name))
            return bytes_skip(one, name.size);
        header = bytes_skip(header, end == SIZE_MAX ? header.size : end + 1);
    }
    return (struct bytes){0};
}

static bool is_secret(const char *secret, struct bytes shown) {
    return shown.size == CONSOLE_SECRET_SIZE &&
           CRYPTO_memcmp(secret, shown.data, CONSOLE_SECRET_SIZE) == 0;
}

static bool is_over(const struct console_sessions *sessions, const struct console_session *session,
                    int64_t now_us) {
    return now_us >= session->expires_us ||
           now_us - session->used_us >= INT64_C(1000) * LIMIT_CONSOLE_IDLE_MS ||
           !keys_has_unchanged(sessions->keys, session->key);
}

/* Under the mutex. What is over goes. */
static struct console_session *find_session(struct console_sessions *sessions, struct bytes cookie,
                                            int64_t now_us) {
    for (size_t i = 0; i < LIMIT_CONSOLE_SESSIONS; i++) {
        struct console_session *one = &sessions->all[i];
        if (one->key == NULL || !is_secret(one->cookie, cookie))
            continue;
        if (!is_over(sessions, one, now_us))
            return one;
        *one = (struct console_session){0};
    }
    return NULL;
}

bool console_session_find(struct console_sessions *sessions, const struct http_exchange *exchange,
                          struct console_session *out) {
    struct bytes cookie = cookie_of(http_header(exchange, "Cookie"));
    int64_t now_us = clock_ticks_us();
    if (cookie.size != CONSOLE_SECRET_SIZE || !origin_is_own(exchange))
        return false;
    pthread_mutex_lock(&sessions->mutex);
    struct console_session *found = find_session(sessions, cookie, now_us);
    if (found != NULL) {
        found->used_us = now_us;
        *out = *found;
    }
    pthread_mutex_unlock(&sessions->mutex);
    return found != NULL;
}

void console_session_close(struct console_sessions *sessions, const struct console_session *which) {
    pthread_mutex_lock(&sessions->mutex);
    struct console_session *found =
        find_session(sessions, bytes_of(which->cookie, CONSOLE_SECRET_SIZE), clock_ticks_us());
    if (found != NULL)
        *found = (struct console_session){0};
    pthread_mutex_unlock(&sessions->mutex);
}

bool console_session_proved(const struct console_session *session,
                            const struct http_exchange *exchange) {
    return bytes_equal(exchange->method, BYTES("GET")) ||
           bytes_equal(exchange->method, BYTES("HEAD")) ||
           is_secret(session->token, http_header(exchange, "X-Console-Token"));
}

/* --- guesses --- */

bool console_sessions_guessed(struct console_sessions *sessions) {
    pthread_mutex_lock(&sessions->mutex);
    if (clock_ticks_us() - sessions->guesses_from_us >= INT64_C(60) * 1000 * 1000)
        sessions->guesses = 0;
    bool guessed = sessions->guesses >= LIMIT_CONSOLE_GUESSES;
    pthread_mutex_unlock(&sessions->mutex);
    return guessed;
}

void console_sessions_note_guess(struct console_sessions *sessions) {
    pthread_mutex_lock(&sessions->mutex);
    if (sessions->guesses++ == 0)
        sessions->guesses_from_us = clock_ticks_us();
    pthread_mutex_unlock(&sessions->mutex);
}

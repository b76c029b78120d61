/* The REST front end: boards, scores, players and plays under /v1, as JSON.
 *
 * One front end serves all loops. A table of routes (rest_route.h) says what there is: who answers,
 * which parameters and bodies are taken, what comes back. Requests are routed and checked by it,
 * and /v1/openapi.json is written from it.
 */
#ifndef GT_API_REST_REST_H
#define GT_API_REST_REST_H

#include "api/access_keys.h"
#include "api/background.h"
#include "game/game.h"
#include "net/http.h"

struct live;
struct key_file;

struct rest_settings {
    struct game *game;
    const struct keys *keys;           /* who may come in; NULL: anybody */
    struct console_sessions *sessions; /* of the console; NULL: none */
    struct key_file *key_file;         /* in which keys are changed; NULL: they cannot be */
    bool encrypted;                    /* clients come by TLS, so cookies are Secure */
    struct bytes in_force;         /* the settings as a JSON list, secrets masked; empty: none */
    struct monitor *monitor;       /* what the server knows of itself; NULL: nothing */
    struct background *background; /* for what takes its time */
    struct live *live;             /* for its figures; NULL: none */
    const char *version;           /* of the program; NULL: not told */
    int redis_port;                /* 0: off, or not known */
    struct background *pool; /* for requests that may have to wait; NULL: they run on their loop */
    /* What answers go through; NULL: http_answer(). Tests catch answers here. */
    void (*answer)(struct http_exchange *exchange, const struct http_answer *answer);
};

struct rest;
/* Everything in the settings outlives it. */
struct rest *rest_new(const struct rest_settings *settings);
/* What comes back from the engine from now on is told that the server stops: before the engine is
 * closed, so that nobody asks it any more. */
void rest_stop(struct rest *rest);
void rest_free(struct rest *rest);

/* Whether the path is one of this front end's: /v1 and what is below. */
bool rest_takes(struct bytes path);
/* An http_handler; `rest` is a struct rest. */
void rest_handle(struct http_exchange *exchange, void *rest);
/* An http_admit: the body is taken if there is a route that takes one, and the caller may use it.
 */
enum http_admission rest_admit(struct http_exchange *exchange, void *rest);

/* Appends the OpenAPI document. */
void rest_put_openapi(struct buf *to);

#endif

/* What the connections of a listener take together, and its bounds: exchanges that wait for their
 * answer, and bytes that are held for clients who send slowly or do not read.
 *
 * A listener has one `struct http_load`, which all loops count in: atomic numbers, relaxed, since
 * they bound what is taken and order nothing. Each connection has a `struct http_load_part`, its
 * part of them, which is used on the connection's loop only. Nothing here allocates or waits. */
#ifndef GT_NET_HTTP_LOAD_H
#define GT_NET_HTTP_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct http_load {
    unsigned in_flight_max; /* the bounds: constant from the start */
    size_t held_max, unproved_max;
    atomic_uint in_flight;  /* exchanges that their handler did not answer at once */
    atomic_size_t held;     /* bytes of bodies and of answers that are not read yet; */
    atomic_size_t unproved; /* and of bodies whose sender is not known yet */
};

/* What of it is one connection's. Zero: nothing. */
struct http_load_part {
    bool in_flight;
    size_t held, unproved;
};

/* The connection's exchange waits for its answer from now on, or no longer. Again is harmless. */
void http_load_wait(struct http_load *load, struct http_load_part *part, bool waits);
/* Whether as many exchanges wait as may: another is to be refused. */
bool http_load_is_full(const struct http_load *load);

/* Whether the bodies and answers that are held leave room for another request's answer. */
bool http_load_has_room(const struct http_load *load);
/* From now on the connection's body is counted as unproved as well: only the whole request will
 * tell who sends it. */
void http_load_doubt_body(struct http_load *load, struct http_load_part *part);
/* The whole request is there: its handler finds out who has sent it. */
void http_load_trust_body(struct http_load *load, struct http_load_part *part);
/* Counts `size` bytes for the connection's body instead of what was counted before. False if that
 * is more than before and over a bound: the request is to be refused. */
bool http_load_hold_body(struct http_load *load, struct http_load_part *part, size_t size);
/* Counts `size` bytes for the connection's body and answer. The answer is there, so it is kept
 * whatever the bound: it makes others wait. */
void http_load_hold_answer(struct http_load *load, struct http_load_part *part, size_t size);
/* The connection holds no bytes any more. */
void http_load_let_go(struct http_load *load, struct http_load_part *part);

#endif

/* A listener: a port, the loops that serve it, and its connections. What its clients speak is the
 * business of who opened it: http_listen() or stream_listen().
 */
#ifndef GT_NET_LISTENER_H
#define GT_NET_LISTENER_H

#include <stdint.h>

struct listener;

int listener_port(const struct listener *listener);
unsigned listener_connections(const struct listener *listener);
/* Counts since it opened; `connections` are open now. */
struct listener_figures {
    uint64_t connections, accepted;
    uint64_t turned_away; /* connections beyond the limit */
    uint64_t bytes_in, bytes_out;
    uint64_t refused; /* requests that could not be read, or for which there was no room */
    /* Processor time in which its loops looked for what comes next, in microseconds: of the loops,
     * so listeners on the same ones have it in common. */
    uint64_t looked_us;
};
/* Sums up what each loop has counted. Any thread. */
void listener_figures(const struct listener *listener, struct listener_figures *out);
/* Has every connection that stays looked at again by its handler (stream_handler's and
 * channel_handler's `review`), each on its loop: what it was admitted by may have changed. Returns
 * before that is done. Any thread. */
void listener_review(struct listener *listener);
/* Stops accepting, closes idle connections, lets what runs finish for up to `grace_ms`, then
 * closes everything and frees the listener. Blocks; not on a loop's thread. */
void listener_close(struct listener *listener, int grace_ms);

#endif

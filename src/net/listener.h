/* A listener: a port, the loops that serve it, and its connections. What its clients speak is the
 * business of who opened it: http_listen() or stream_listen().
 */
#ifndef GT_NET_LISTENER_H
#define GT_NET_LISTENER_H

struct listener;

int listener_port(const struct listener *listener);
unsigned listener_connections(const struct listener *listener);
/* Stops accepting, closes idle connections, lets what runs finish for up to `grace_ms`, then
 * closes everything and frees the listener. Blocks; not on a loop's thread. */
void listener_close(struct listener *listener, int grace_ms);

#endif

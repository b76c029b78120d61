/* The wire under a connection: the only place that touches a connected socket. Encryption stands
 * behind wire_read() and wire_write(): what is above them sees a greeting and then plain bytes.
 */
#ifndef GT_NET_WIRE_H
#define GT_NET_WIRE_H

#include "base/status.h"
#include "net/tls.h"

#include <sys/types.h>

struct wire {
    int fd;             /* -1 when closed */
    bool pending;       /* the last read left bytes that are no longer in the socket */
    bool greeted;       /* encrypted: both sides have agreed on how */
    struct ssl_st *tls; /* NULL: plain */
    bool stamped;       /* wire_stamp() */
    /* With stamps: when the last of the bytes that were last taken from the socket came to this
     * machine, in milliseconds of the wall clock since 1970; 0: the system did not say. */
    int64_t arrived_ms;
};

enum { WIRE_AGAIN = -1, WIRE_GONE = -2 };

/* A socket that listens on *in_out_port, which becomes the port it got if that was 0. The text of a
 * failure says what to do. */
enum status wire_listen(const char *host, int *in_out_port, struct scope in, int *out_fd);
/* The next connection that waits, or a negative errno. */
int wire_accept(int listening);

/* Makes a connection of an accepted socket; `tls` NULL: a plain one. Without memory for the
 * encryption wire->tls stays NULL and nothing is ever agreed on. */
void wire_open(struct wire *wire, int fd, struct tls *tls);
/* Has the system find out about clients that have gone without a word. */
void wire_keep_alive(struct wire *wire);
/* Has the system note when bytes arrive: wire->arrived_ms of each wire_read() from now on. Nothing
 * where there is no such thing (it is Linux's). Once, after the greeting. */
void wire_stamp(struct wire *wire);
/* Agrees with the client on the encryption, as far as it goes now. */
enum wire_greeting {
    WIRE_READY,     /* done; a plain wire always is */
    WIRE_WANTS_IN,  /* go on when the socket can be read */
    WIRE_WANTS_OUT, /* go on when it can be written */
    WIRE_PLAIN,     /* the client speaks without encryption; the wire is plain from now on, for a
                       last word */
    WIRE_REFUSED,   /* there is nothing to agree on, or the client has gone */
};
enum wire_greeting wire_greet(struct wire *wire);
/* Bytes read (0: the client sends no more), WIRE_AGAIN or WIRE_GONE. One system call, if plain.
 * After it wire->pending says whether to read again before waiting for the socket. */
ssize_t wire_read(struct wire *wire, void *to, size_t room);
/* Bytes of `first` and then `second` written, WIRE_AGAIN or WIRE_GONE. One system call, if
 * plain. What was not taken must be offered again before anything else. */
ssize_t wire_write(struct wire *wire, struct bytes first, struct bytes second);
/* Tells the client that nothing more is coming. */
void wire_finish(struct wire *wire);
void wire_close(struct wire *wire);

#endif

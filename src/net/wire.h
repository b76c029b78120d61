/* The wire under a connection: the only place that touches a connected socket. Encryption will
 * stand behind wire_read() and wire_write(); nothing above them would notice.
 */
#ifndef GT_NET_WIRE_H
#define GT_NET_WIRE_H

#include "base/status.h"

#include <sys/types.h>

struct wire {
    int fd; /* -1 when closed */
};

enum { WIRE_AGAIN = -1, WIRE_GONE = -2 };

/* A socket that listens, and the port it got. The text of a failure says what to do. */
enum status wire_listen(const char *host, int port, struct arena *arena, struct failure *failure,
                        int *out_fd, int *out_port);
/* The next connection that waits, or a negative errno. */
int wire_accept(int listening);

/* Makes a connection of an accepted socket. */
void wire_open(struct wire *wire, int fd);
/* Bytes read (0: the client sends no more), WIRE_AGAIN or WIRE_GONE. One system call. */
ssize_t wire_read(struct wire *wire, void *to, size_t room);
/* Bytes of `first` and then `second` written, WIRE_AGAIN or WIRE_GONE. One system call. */
ssize_t wire_write(struct wire *wire, struct bytes first, struct bytes second);
/* Tells the client that nothing more is coming. */
void wire_finish(struct wire *wire);
void wire_close(struct wire *wire);

#endif

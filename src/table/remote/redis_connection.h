/* One connection to a Redis server: a socket, perhaps encrypted, and replies in the order of the
 * commands.
 *
 * One thread at a time uses a connection. Calls wait, at most until the deadline they are given
 * (clock_ticks_us()). After any failure the connection is good for nothing but being closed.
 */
#ifndef GT_TABLE_REMOTE_REDIS_CONNECTION_H
#define GT_TABLE_REMOTE_REDIS_CONNECTION_H

#include "base/buf.h"
#include "table/remote/redis_reply.h"

enum { REDIS_HOST_MAX = 255 };

/* Where a server is: a host and a port, or, with port 0, the path of a local socket. */
struct redis_address {
    char host[REDIS_HOST_MAX + 1];
    uint16_t port;
};
/* "HOST:PORT", "[IPv6]:PORT", "HOST" (6379) or "unix:PATH". False if it is none of these. */
bool redis_address_read(struct bytes text, struct redis_address *out);
bool redis_address_equal(const struct redis_address *a, const struct redis_address *b);

/* How to come in. Borrowed while connections are made. */
struct redis_login {
    const char *user;     /* NULL or "": the default user */
    const char *password; /* NULL or "": none is asked for */
    bool tls;
    const char *ca; /* PEM file of authorities; NULL or "": the system's */
};

/* A server, how to come in, and until when (clock_ticks_us()). */
struct redis_peer {
    const struct redis_address *address;
    const struct redis_login *login;
    int64_t deadline_us;
};

struct redis_connection;

/* Connects and says who it is. IO_FAILED: nobody answers; DENIED: it does not let us in; INVALID: a
 * certificate or a file is wrong. */
enum status redis_connect(const struct redis_peer *peer, struct scope in,
                          struct redis_connection **out);
/* IO_FAILED: it took the connection and said nothing. */
enum status redis_no_answer(const struct redis_peer *peer, struct scope in);
/* NULL is fine. */
void redis_disconnect(struct redis_connection *connection);

/* Sends commands, written by redis_command(). */
enum status redis_send(struct redis_connection *connection, struct bytes commands,
                       int64_t deadline_us);
/* The next reply, in the arena. IO_FAILED also when the time is over, PARSE_FAILED. */
enum status redis_receive(struct redis_connection *connection, int64_t deadline_us,
                          struct arena *arena, struct redis_reply *out);
/* Whether the server has said something, or hung up, since the last reply: an idle connection that
 * has is not used again. Does not wait. */
bool redis_is_stale(struct redis_connection *connection);
/* The socket, for who wants to poll() it. */
int redis_descriptor(const struct redis_connection *connection);
/* Whether a reply may be there without another look at the socket. */
bool redis_has_input(const struct redis_connection *connection);

/* Appends a command of these words. */
void redis_command(struct buf *to, const struct bytes *words, size_t count);
/* The same piece by piece: how many words follow, and each of them. */
void redis_command_begin(struct buf *to, size_t count);
void redis_command_word(struct buf *to, struct bytes word);
/* The same from text: `redis_command_words(to, BYTES("GET"), key)`. */
#define redis_command_words(to, ...)                         \
    redis_command((to), (const struct bytes[]){__VA_ARGS__}, \
                  sizeof((const struct bytes[]){__VA_ARGS__}) / sizeof(struct bytes))

#endif

/* CLIENT PAUSE: for a while no command is begun, or none that may write. Requests that came stay
 * unparsed in their streams; a thread of the pool ends the pause. */
#ifndef GT_API_REDIS_CLIENT_PAUSE_H
#define GT_API_REDIS_CLIENT_PAUSE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct redis_client;
struct redis_command;
struct redis_frontend;

struct client_pause {
    atomic_int mode; /* enum pause_mode */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t until_us; /* by clock_ticks_us() */
    bool timed;       /* a thread waits for the end */
    bool stopping;
};

enum pause_mode { PAUSE_NONE, PAUSE_WRITES, PAUSE_ALL };

void pause_init(struct client_pause *pause);
/* Ends it, and its thread soon; before the pool is stopped. */
void pause_stop(struct client_pause *pause);
void pause_release(struct client_pause *pause);
/* False if the pool is full. Any thread. */
bool pause_begin(struct redis_frontend *frontend, enum pause_mode mode, int64_t ms);
void pause_end(struct redis_frontend *frontend);
/* Has the clients of all loops that are held look again whether they still are. Any thread. */
void pause_resume_all(struct redis_frontend *frontend);
/* Whether the command has to wait for the end. On the client's loop. */
bool pause_holds(const struct redis_client *client, const struct redis_command *command);

#endif

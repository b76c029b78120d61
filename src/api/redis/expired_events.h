/* Tells of what has ended by its time: `expired` of keys, `hexpired` of fields of hashes,
 * `zexpired` of members of sorted sets (notifications.h).
 *
 * Nobody writes at the moment a key expires: it is not there for readers from then on, and the
 * table, housekeeping or the next command that writes it removes its items within a second or so.
 * Each of these is a commit, and so a record of the table's stream with the old image. One thread
 * reads the stream while somebody wants such events, from where it is when they are switched on,
 * and sends the messages; who hears of one finds the key gone. So every way for a key to end is
 * told of, in any database, once.
 */
#ifndef GT_API_REDIS_EXPIRED_EVENTS_H
#define GT_API_REDIS_EXPIRED_EVENTS_H

#include <pthread.h>
#include <stdbool.h>

struct redis_frontend;

struct expired_events {
    struct redis_frontend *frontend;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    bool running, stopping;
    pthread_t thread; /* while running */
};

void expired_events_init(struct expired_events *events, struct redis_frontend *frontend);
/* Ends the thread. */
void expired_events_stop(struct expired_events *events);
void expired_events_release(struct expired_events *events);
/* The classes of events that are wanted (frontend->notify) have changed. Any thread. */
void expired_events_wake(struct expired_events *events);

#endif

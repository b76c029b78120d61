/* Keys whose writers wait for a moment: RENAME of a large key that is written to all the time would
 * else never find it as it was (slow_calls.h).
 *
 * A command that names such a key and may write stays unparsed in its stream, as with CLIENT PAUSE,
 * until the call that holds the key is done, or LIMIT_KEY_HELD_MS have passed. Other keys, and
 * those who read, do not notice. What other front ends write is not held. */
#ifndef GT_API_REDIS_KEY_HOLDS_H
#define GT_API_REDIS_KEY_HOLDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_call;
struct redis_client;
struct redis_command;

enum { KEY_HOLDS_MAX = 16, HELD_KEYS_MAX = 2 };

struct key_hold {
    const struct redis_call *call; /* NULL: free */
    uint64_t keys[HELD_KEYS_MAX];  /* hashes of database and name */
    size_t count;
    int64_t until_us; /* by clock_ticks_us() */
};

struct key_holds {
    atomic_uint count; /* of those that are taken */
    pthread_mutex_t mutex;
    struct key_hold list[KEY_HOLDS_MAX];
};

void key_holds_init(struct key_holds *holds);
void key_holds_release(struct key_holds *holds);
/* Holds the keys that the call replaces or removes; false if it names none, or too many are held.
 * Any thread. */
bool key_hold_begin(struct redis_call *call);
/* Lets those who wait go on, if the call holds anything: in any case, or if its time is up. Any
 * thread. */
void key_hold_end(struct redis_call *call);
void key_hold_end_late(struct redis_call *call);
/* Whether the request that the client's parser has ready has to wait. On the client's loop. */
bool key_holds_stop(const struct redis_client *client, const struct redis_command *command);

#endif

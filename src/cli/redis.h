/* The Redis face of a server: its face and its listener. */
#ifndef GT_CLI_REDIS_H
#define GT_CLI_REDIS_H

#include "api/redis/face.h"
#include "cli/settings.h"

struct redis_server {
    struct redis_face *face; /* NULL: there is none */
    struct listener *listener;
};

/* Listens as the settings say; nothing if they say "off", or if there is no game. `tls` is used if
 * they want it. */
enum status redis_start(const struct settings *settings, struct game *game, struct keys *keys,
                        struct tls *tls, struct loops *loops, struct arena *arena,
                        struct failure *failure, struct redis_server *out);
/* In this order: nothing is accepted and what runs is finished; after the loops have ended. */
void redis_stop(struct redis_server *redis, int grace_ms);
void redis_free(struct redis_server *redis);

#endif

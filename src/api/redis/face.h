/* The Redis face: the game's boards as sorted sets, for any client that speaks RESP.
 *
 * Give redis_handler and the face to stream_listen(). The game must outlive the face, and the face
 * its listener. */
#ifndef GT_API_REDIS_FACE_H
#define GT_API_REDIS_FACE_H

#include "api/keys.h"
#include "game/game.h"
#include "net/stream.h"

struct redis_settings {
    struct keys *keys; /* who may come in; NULL: anybody */
    unsigned loops;    /* how many serve it */
    /* How writes are synced, in the words clients know: "always", "everysec", "no". NULL: nothing
     * is kept. */
    const char *sync;
};

struct redis_face;
struct redis_face *redis_face_new(struct game *game, const struct redis_settings *settings);
/* After its listener was closed and before the engine is: nothing comes from it any more. */
void redis_face_stop(struct redis_face *face);
/* After the loops have ended. */
void redis_face_free(struct redis_face *face);
/* For INFO: the port it got. */
void redis_face_listens(struct redis_face *face, int port);

extern const struct stream_handler redis_handler;
/* What a client is told that is one too many. */
struct bytes redis_full(void);

#endif

/* Rooms and boards as JSON, for those who look on. */
#ifndef GT_API_LIVE_LIVE_RENDER_H
#define GT_API_LIVE_LIVE_RENDER_H

#include "game/room/room.h"

/* Appends the members of a room, its seats and its present round, without the braces:
 * "room":{...},"players":[...],"round":{...}. Secrets of the kind are left out. */
void render_room(struct buf *to, const struct room *room);
/* Appends a room's META item, as the list of rooms shows it. */
void render_room_item(struct buf *to, const struct item *meta, struct arena *arena);
/* The room's state as all watchers get it; the caller has a reference. */
struct topic_state;
struct topic_state *render_topic_state(const struct room *room);

#endif

/* Rooms and boards as JSON, for those who look on. */
#ifndef GT_API_LIVE_RENDER_H
#define GT_API_LIVE_RENDER_H

#include "game/room.h"

/* Appends the members of a room, its seats and its present round, without the braces:
 * "room":{...},"players":[...],"round":{...}. Secrets of the kind are left out. */
void render_room(struct buf *to, const struct room *room);
/* Appends a room's META item, as the list of rooms shows it. */
void render_room_item(struct buf *to, const struct item *meta, struct arena *arena);
/* The room as it is told to all who look on. */
struct snapshot;
struct snapshot *render_snapshot(const struct room *room);

#endif

/* WebSocket frames of a client, as they arrive: whole messages come out. Costs no memory while
 * nothing is half there, which is nearly always. Private to net/.
 */
#ifndef GT_NET_FRAMES_H
#define GT_NET_FRAMES_H

#include "base/buf.h"

/* Zero to begin with. */
struct frames {
    struct buf in;      /* what is not a whole frame yet */
    struct buf message; /* what is not a whole message yet */
    bool fragmented;    /* `message` is under way */
    bool over; /* goodbye was said, or something that cannot be: nothing is read any more */
};

enum frames_kind { FRAMES_TEXT, FRAMES_PING, FRAMES_PONG, FRAMES_CLOSE };

/* What a client said; `data` is good until it returns. */
typedef void frames_heard(void *user, enum frames_kind kind, struct bytes data);

/* Takes what arrived. 0, or the code of the goodbye that it calls for: 1002 (these are no frames),
 * 1003 (not text), 1007 (not UTF-8), 1009 (a message of more than message_max bytes). */
int frames_take(struct frames *frames, struct bytes bytes, size_t message_max, frames_heard *heard,
                void *user);
void frames_release(struct frames *frames);

/* Appends a frame of ours with at most 125 bytes: a ping (0x9), a pong (0xa), a goodbye (0x8). */
void frames_put(struct buf *to, uint8_t opcode, struct bytes data);

#endif

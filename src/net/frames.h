/* WebSocket frames (RFC 6455), as they arrive and as they are sent: whole messages come out. Costs
 * no memory while nothing is half there, which is nearly always. A server's channels use it, and
 * the bots of `gametable play` as clients. One thread at a time.
 */
#ifndef GT_NET_FRAMES_H
#define GT_NET_FRAMES_H

#include "base/buf.h"

enum frames_opcode {
    FRAMES_OP_TEXT = 0x1,
    FRAMES_OP_CLOSE = 0x8,
    FRAMES_OP_PING = 0x9,
    FRAMES_OP_PONG = 0xa,
};
enum { FRAMES_HEAD_MAX = 10, FRAMES_MASK_SIZE = 4 };

/* Zero to begin with. */
struct frames {
    struct buf in;      /* what is not a whole frame yet */
    struct buf message; /* what is not a whole message yet */
    bool fragmented;    /* `message` is under way */
    bool over;          /* a close came, or something that cannot be: nothing is read any more */
};

enum frames_kind { FRAMES_TEXT, FRAMES_PING, FRAMES_PONG, FRAMES_CLOSE };

/* What the other side said; `data` is good until it returns. */
typedef void frames_heard(void *user, enum frames_kind kind, struct bytes data);

struct frames_reader {
    size_t message_max; /* bytes of a message, in however many frames */
    bool from_server; /* the other side is a server, which does not mask; else a client, which must
                       */
    frames_heard *heard;
    void *user;
};

/* Takes what arrived. 0, or the code of the close that it calls for: 1002 (these are no frames),
 * 1003 (not text), 1007 (not UTF-8), 1009 (a message of more than message_max bytes). */
int frames_take(struct frames *frames, struct bytes bytes, const struct frames_reader *reader);
void frames_release(struct frames *frames);

/* Writes the head of an unmasked frame into room for FRAMES_HEAD_MAX, and says how long it is. */
size_t frames_head(uint8_t *to, enum frames_opcode opcode, size_t size);
/* Appends a frame of a server's. */
void frames_put(struct buf *to, enum frames_opcode opcode, struct bytes data);
/* Appends a frame of a client's, which are masked. */
void frames_put_masked(struct buf *to, enum frames_opcode opcode, struct bytes data,
                       const uint8_t mask[FRAMES_MASK_SIZE]);

#endif

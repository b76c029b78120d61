/*   byte 0   fin:1 reserved:3 opcode:4
 *   byte 1   masked:1 size:7      126: two bytes of size follow, 127: eight
 *   then     mask:4 data:size     a client masks what it sends, always
 */
#include "net/frames.h"

#include "base/utf8.h"

enum { CONTINUATION = 0, BINARY = 2 };
enum { CONTROL_MAX = 125, SIZE_16 = 126, SIZE_64 = 127 };
enum { NOT_FRAMES = 1002, NOT_TEXT = 1003, NOT_UTF8 = 1007, TOO_LARGE = 1009 };

/* --- reading --- */

struct frame {
    bool fin, masked;
    uint8_t opcode;
    size_t head, size; /* the mask is the last of the head */
};

/* False if no frame of the other side begins so. */
static bool can_begin(const struct frame *frame, uint8_t reserved, bool from_server) {
    bool control = (frame->opcode & 0x08) != 0;
    if (reserved != 0 || frame->masked == from_server)
        return false;
    if (control)
        return frame->fin && frame->size <= CONTROL_MAX && frame->opcode <= FRAMES_OP_PONG;
    return frame->opcode <= BINARY;
}

/* The head of the frame that the bytes begin with: 0; a code if it cannot be; -1 if more is needed.
 */
static int read_head(struct bytes bytes, const struct frames_reader *reader, struct frame *out) {
    if (bytes.size < 2)
        return -1;
    uint8_t first = bytes.data[0], second = bytes.data[1], size_7 = second & 0x7f;
    size_t more = size_7 == SIZE_16 ? 2 : size_7 == SIZE_64 ? 8 : 0;
    *out = (struct frame){.fin = (first & 0x80) != 0,
                          .masked = (second & 0x80) != 0,
                          .opcode = first & 0x0f,
                          .head = 2 + more + ((second & 0x80) != 0 ? FRAMES_MASK_SIZE : 0),
                          .size = size_7};
    if (!can_begin(out, first & 0x70, reader->from_server))
        return NOT_FRAMES;
    if (bytes.size < out->head)
        return -1;
    if (more != 0) {
        uint64_t size = 0;
        for (size_t i = 0; i < more; i++)
            size = size << 8 | bytes.data[2 + i];
        if (size > reader->message_max)
            return TOO_LARGE;
        out->size = (size_t)size;
    }
    return out->size > reader->message_max && out->opcode <= BINARY ? TOO_LARGE : 0;
}

static void put_data(struct buf *to, const struct frame *frame, struct bytes bytes) {
    const uint8_t *from = bytes.data + frame->head;
    if (!frame->masked) {
        buf_append(to, from, frame->size);
        return;
    }
    const uint8_t *mask = from - FRAMES_MASK_SIZE;
    uint8_t *at = buf_reserve(to, frame->size + 1);
    for (size_t i = 0; i < frame->size; i++)
        at[i] = from[i] ^ mask[i % FRAMES_MASK_SIZE];
    to->size += frame->size;
}

static bool is_goodbye(struct bytes data) {
    if (data.size == 0)
        return true;
    if (data.size < 2)
        return false;
    int code = data.data[0] << 8 | data.data[1];
    bool usual = code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
    return (usual || (code >= 3000 && code <= 4999)) && utf8_valid(bytes_skip(data, 2));
}

/* What a frame is held against, and where what it says goes. */
struct taking {
    struct frames *frames;
    const struct frames_reader *reader;
};

static int take_control(const struct taking *on, const struct frame *frame, struct bytes bytes) {
    struct buf data = {0};
    int code = 0;
    put_data(&data, frame, bytes);
    if (frame->opcode == FRAMES_OP_CLOSE && !is_goodbye(buf_bytes(&data)))
        code = NOT_FRAMES;
    else {
        on->frames->over = frame->opcode == FRAMES_OP_CLOSE;
        on->reader->heard(on->reader->user,
                          frame->opcode == FRAMES_OP_CLOSE  ? FRAMES_CLOSE
                          : frame->opcode == FRAMES_OP_PING ? FRAMES_PING
                                                            : FRAMES_PONG,
                          buf_bytes(&data));
    }
    buf_release(&data);
    return code;
}

static int take_data(const struct taking *on, const struct frame *frame, struct bytes bytes) {
    struct frames *frames = on->frames;
    if ((frame->opcode == CONTINUATION) != frames->fragmented)
        return NOT_FRAMES;
    if (frame->opcode == BINARY)
        return NOT_TEXT;
    if (frames->message.size + frame->size > on->reader->message_max)
        return TOO_LARGE;
    put_data(&frames->message, frame, bytes);
    frames->fragmented = !frame->fin;
    if (frames->fragmented)
        return 0;
    struct buf whole = frames->message;
    frames->message = (struct buf){0};
    bool valid = utf8_valid(buf_bytes(&whole));
    if (valid)
        on->reader->heard(on->reader->user, FRAMES_TEXT, buf_bytes(&whole));
    buf_release(&whole);
    return valid ? 0 : NOT_UTF8;
}

/* Takes whole frames off the bytes' beginning. */
static int take_frames(const struct taking *on, struct bytes *bytes) {
    int code = 0;
    while (code == 0 && !on->frames->over) {
        struct frame frame;
        code = read_head(*bytes, on->reader, &frame);
        if (code != 0 || bytes->size < frame.head + frame.size)
            break;
        if (frame.opcode >= FRAMES_OP_CLOSE)
            code = take_control(on, &frame, *bytes);
        else
            code = take_data(on, &frame, *bytes);
        *bytes = bytes_skip(*bytes, frame.head + frame.size);
    }
    return code < 0 ? 0 : code;
}

int frames_take(struct frames *frames, struct bytes bytes, const struct frames_reader *reader) {
    struct buf all = frames->in;
    frames->in = (struct buf){0};
    if (all.size != 0) {
        buf_put(&all, bytes);
        bytes = buf_bytes(&all);
    }
    struct taking on = {frames, reader};
    int code = frames->over ? 0 : take_frames(&on, &bytes);
    frames->over |= code != 0;
    if (!frames->over && bytes.size != 0)
        buf_put(&frames->in, bytes);
    buf_release(&all);
    return code;
}

void frames_release(struct frames *frames) {
    buf_release(&frames->in);
    buf_release(&frames->message);
    *frames = (struct frames){.over = true};
}

/* --- writing --- */

size_t frames_head(uint8_t *to, enum frames_opcode opcode, size_t size) {
    to[0] = (uint8_t)(0x80 | opcode);
    if (size < SIZE_16) {
        to[1] = (uint8_t)size;
        return 2;
    }
    int bytes = size <= UINT16_MAX ? 2 : 8;
    to[1] = bytes == 2 ? SIZE_16 : SIZE_64;
    for (int i = 0; i < bytes; i++)
        to[2 + i] = (uint8_t)(size >> (8 * (bytes - 1 - i)));
    return 2 + (size_t)bytes;
}

void frames_put(struct buf *to, enum frames_opcode opcode, struct bytes data) {
    to->size += frames_head(buf_reserve(to, FRAMES_HEAD_MAX), opcode, data.size);
    buf_put(to, data);
}

void frames_put_masked(struct buf *to, enum frames_opcode opcode, struct bytes data,
                       const uint8_t mask[FRAMES_MASK_SIZE]) {
    uint8_t *head = buf_reserve(to, FRAMES_HEAD_MAX + FRAMES_MASK_SIZE + data.size);
    size_t size = frames_head(head, opcode, data.size);
    head[1] |= 0x80;
    memcpy(head + size, mask, FRAMES_MASK_SIZE);
    uint8_t *at = head + size + FRAMES_MASK_SIZE;
    for (size_t i = 0; i < data.size; i++)
        at[i] = data.data[i] ^ mask[i % FRAMES_MASK_SIZE];
    to->size += size + FRAMES_MASK_SIZE + data.size;
}

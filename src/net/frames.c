/*   byte 0   fin:1 reserved:3 opcode:4
 *   byte 1   masked:1 size:7      126: two bytes of size follow, 127: eight
 *   then     mask:4 data:size     a client masks what it sends, always
 */
#include "net/frames.h"

#include "base/utf8.h"

enum { CONTINUATION = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };
enum { CONTROL_MAX = 125, MASK_SIZE = 4 };
enum { NOT_FRAMES = 1002, NOT_TEXT = 1003, NOT_UTF8 = 1007, TOO_LARGE = 1009 };

struct frame {
    bool fin;
    uint8_t opcode;
    size_t head, size;
};

/* The head of the frame that the bytes begin with: 0; a code if it cannot be; -1 if more is needed.
 */
static int read_head(struct bytes bytes, size_t size_max, struct frame *out) {
    if (bytes.size < 2)
        return -1;
    uint8_t first = bytes.data[0], second = bytes.data[1];
    size_t more = (second & 0x7f) == 126 ? 2 : (second & 0x7f) == 127 ? 8 : 0;
    *out = (struct frame){(first & 0x80) != 0, first & 0x0f, 2 + more + MASK_SIZE, second & 0x7f};
    bool control = (first & 0x08) != 0;
    if ((first & 0x70) != 0 || (second & 0x80) == 0 ||
        (control && (!out->fin || out->size > CONTROL_MAX || out->opcode > PONG)) ||
        (!control && out->opcode > BINARY))
        return NOT_FRAMES;
    if (bytes.size < out->head)
        return -1;
    if (more != 0) {
        uint64_t size = 0;
        for (size_t i = 0; i < more; i++)
            size = size << 8 | bytes.data[2 + i];
        if (size > size_max)
            return TOO_LARGE;
        out->size = (size_t)size;
    }
    return out->size > size_max && !control ? TOO_LARGE : 0;
}

static void put_unmasked(struct buf *to, const struct frame *frame, struct bytes bytes) {
    const uint8_t *mask = bytes.data + frame->head - MASK_SIZE, *from = mask + MASK_SIZE;
    uint8_t *at = buf_reserve(to, frame->size + 1);
    for (size_t i = 0; i < frame->size; i++)
        at[i] = from[i] ^ mask[i % MASK_SIZE];
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

static int take_control(struct frames *frames, const struct frame *frame, struct bytes bytes,
                        frames_heard *heard, void *user) {
    struct buf data = {0};
    int code = 0;
    put_unmasked(&data, frame, bytes);
    if (frame->opcode == CLOSE && !is_goodbye(buf_bytes(&data)))
        code = NOT_FRAMES;
    else {
        frames->over = frame->opcode == CLOSE;
        heard(user,
              frame->opcode == CLOSE  ? FRAMES_CLOSE
              : frame->opcode == PING ? FRAMES_PING
                                      : FRAMES_PONG,
              buf_bytes(&data));
    }
    buf_release(&data);
    return code;
}

static int take_data(struct frames *frames, const struct frame *frame, struct bytes bytes,
                     size_t message_max, frames_heard *heard, void *user) {
    if ((frame->opcode == CONTINUATION) != frames->fragmented)
        return NOT_FRAMES;
    if (frame->opcode == BINARY)
        return NOT_TEXT;
    if (frames->message.size + frame->size > message_max)
        return TOO_LARGE;
    put_unmasked(&frames->message, frame, bytes);
    frames->fragmented = !frame->fin;
    if (frames->fragmented)
        return 0;
    struct buf whole = frames->message;
    frames->message = (struct buf){0};
    bool valid = utf8_valid(buf_bytes(&whole));
    if (valid)
        heard(user, FRAMES_TEXT, buf_bytes(&whole));
    buf_release(&whole);
    return valid ? 0 : NOT_UTF8;
}

/* Takes whole frames off the bytes' beginning. */
static int take_frames(struct frames *frames, struct bytes *bytes, size_t message_max,
                       frames_heard *heard, void *user) {
    int code = 0;
    while (code == 0 && !frames->over) {
        struct frame frame;
        code = read_head(*bytes, message_max, &frame);
        if (code != 0 || bytes->size < frame.head + frame.size)
            break;
        if (frame.opcode >= CLOSE)
            code = take_control(frames, &frame, *bytes, heard, user);
        else
            code = take_data(frames, &frame, *bytes, message_max, heard, user);
        *bytes = bytes_skip(*bytes, frame.head + frame.size);
    }
    return code < 0 ? 0 : code;
}

int frames_take(struct frames *frames, struct bytes bytes, size_t message_max, frames_heard *heard,
                void *user) {
    struct buf all = frames->in;
    frames->in = (struct buf){0};
    if (all.size != 0) {
        buf_put(&all, bytes);
        bytes = buf_bytes(&all);
    }
    int code = frames->over ? 0 : take_frames(frames, &bytes, message_max, heard, user);
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

void frames_put(struct buf *to, uint8_t opcode, struct bytes data) {
    buf_byte(to, (uint8_t)(0x80 | opcode));
    buf_byte(to, (uint8_t)data.size);
    buf_put(to, data);
}

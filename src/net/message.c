#include "net/message.h"

#include "base/buf.h"
#include "base/mem.h"
#include "net/frames.h"

#include <stdatomic.h>

struct message {
    atomic_uint refs;
    struct bytes *_Atomic event; /* made when first asked for */
    size_t head_size, size;      /* of the frame's head; of the whole frame */
    uint8_t frame[];
};

struct message *message_new(struct bytes text) {
    struct message *message = mem_alloc(sizeof(*message) + FRAMES_HEAD_MAX + text.size);
    atomic_init(&message->refs, 1);
    atomic_init(&message->event, NULL);
    message->head_size = frames_head(message->frame, FRAMES_OP_TEXT, text.size);
    message->size = message->head_size + text.size;
    if (text.size != 0)
        memcpy(message->frame + message->head_size, text.data, text.size);
    return message;
}

void message_ref(struct message *message) {
    atomic_fetch_add_explicit(&message->refs, 1, memory_order_relaxed);
}

void message_unref(struct message *message) {
    if (atomic_fetch_sub(&message->refs, 1) != 1)
        return;
    mem_free(atomic_load(&message->event));
    mem_free(message);
}

struct bytes message_frame(const struct message *message) {
    return bytes_of(message->frame, message->size);
}

/* "data: ", the text, an empty line; each line of the text is a data line of its own. */
static void put_event(struct buf *to, struct bytes text) {
    buf_lit(to, "data: ");
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\r')
            continue;
        buf_byte(to, text.data[i]);
        if (text.data[i] == '\n')
            buf_lit(to, "data: ");
    }
    buf_lit(to, "\n\n");
}

static struct bytes *make_event(const struct message *message) {
    struct buf event = {0}, chunk = {0};
    put_event(&event, bytes_skip(message_frame(message), message->head_size));
    buf_printf(&chunk, "%zx\r\n", event.size);
    buf_put(&chunk, buf_bytes(&event));
    buf_lit(&chunk, "\r\n");
    struct bytes *made = mem_alloc(sizeof(*made) + chunk.size);
    memcpy(made + 1, chunk.data, chunk.size);
    *made = bytes_of(made + 1, chunk.size);
    buf_release(&event);
    buf_release(&chunk);
    return made;
}

struct bytes message_event(struct message *message) {
    struct bytes *event = atomic_load(&message->event);
    if (event != NULL)
        return *event;
    struct bytes *made = make_event(message);
    if (atomic_compare_exchange_strong(&message->event, &event, made))
        return *made;
    mem_free(made); /* another thread was faster */
    return *event;
}

#include "api/redis/notifications.h"

#include "base/limits.h"

/* In the order in which Redis writes them. */
static const struct {
    char letter;
    unsigned class;
} classes[] = {
    {'g', NOTIFY_GENERIC},  {'$', NOTIFY_STRING}, {'l', NOTIFY_LIST},    {'s', NOTIFY_SET},
    {'h', NOTIFY_HASH},     {'z', NOTIFY_ZSET},   {'x', NOTIFY_EXPIRED}, {'e', NOTIFY_EVICTED},
    {'t', NOTIFY_STREAM},   {'d', NOTIFY_MODULE}, {'n', NOTIFY_NEW},     {'K', NOTIFY_KEYSPACE},
    {'E', NOTIFY_KEYEVENT}, {'m', NOTIFY_MISS},
};
enum { CLASSES = sizeof(classes) / sizeof(classes[0]) };

static unsigned class_of(char letter) {
    for (size_t i = 0; i < CLASSES; i++)
        if (classes[i].letter == letter)
            return classes[i].class;
    return letter == 'A' ? NOTIFY_ALL : 0;
}

bool notify_read(struct bytes letters, unsigned *out) {
    *out = 0;
    for (size_t i = 0; i < letters.size; i++) {
        unsigned class = class_of((char)letters.data[i]);
        if (class == 0)
            return false;
        *out |= class;
    }
    return true;
}

const char *notify_write(unsigned set, char *to) {
    char *at = to;
    if ((set & NOTIFY_ALL) == NOTIFY_ALL) {
        *at++ = 'A';
        set &= ~((unsigned)NOTIFY_ALL | NOTIFY_NEW); /* after A Redis 7.0 leaves out the n */
    }
    for (size_t i = 0; i < CLASSES; i++)
        if ((set & classes[i].class) != 0)
            *at++ = classes[i].letter;
    *at = '\0';
    return to;
}

/* "__keyspace@0__:" and what follows, which may have any bytes. */
static struct bytes channel_of(struct arena *arena, const char *by, unsigned db,
                               struct bytes subject) {
    struct bytes begin = arena_printf(arena, "__%s@%u__:", by, db);
    uint8_t *text = arena_alloc(arena, begin.size + subject.size);
    memcpy(text, begin.data, begin.size);
    if (subject.size != 0)
        memcpy(text + begin.size, subject.data, subject.size);
    return bytes_of(text, begin.size + subject.size);
}

void notify_put(struct redis_frontend *frontend, struct published *published,
                const struct key_event *event) {
    unsigned on = atomic_load_explicit(&frontend->notify, memory_order_relaxed);
    struct bytes name = bytes_str(event->name);
    if (atomic_load(&frontend->pubsub.count) == 0)
        return;
    if ((on & NOTIFY_KEYSPACE) != 0 && published->count < LIMIT_CALL_NOTIFICATIONS) {
        struct bytes channel = channel_of(published->arena, "keyspace", event->db, event->key);
        published_add(published, &(struct pubsub_message){channel, name, false});
    }
    if ((on & NOTIFY_KEYEVENT) != 0 && published->count < LIMIT_CALL_NOTIFICATIONS) {
        struct bytes channel = channel_of(published->arena, "keyevent", event->db, name);
        published_add(published, &(struct pubsub_message){channel, event->key, false});
    }
}

void notify_add(struct redis_call *call, const struct key_event *event) {
    notify_put(call->frontend, call->published, event);
}

/* Versions that items carry (remote_int.h): giving them, reading them, and those an item had
 * before, by which a node whose answer was lost finds out that its write went through
 * (docs/decisions.md).
 */
#include "base/clock.h"
#include "base/limits.h"
#include "table/remote/remote_parts.h"

struct bytes remote_version_newest(struct bytes versions) {
    return versions.size < REMOTE_VERSION_SIZE ? (struct bytes){0}
                                               : bytes_of(versions.data, REMOTE_VERSION_SIZE);
}

uint64_t remote_version_time(struct bytes version) {
    uint64_t time_us = 0;
    for (size_t i = 0; i < REMOTE_VERSION_DIGITS && i < version.size; i++)
        time_us = time_us * 10 + (uint64_t)(version.data[i] - '0') % 10;
    return time_us;
}

void remote_version_note(struct remote *remote, uint64_t time_us) {
    uint_fast64_t last = atomic_load(&remote->last_version);
    while (last < time_us && !atomic_compare_exchange_weak(&remote->last_version, &last, time_us))
        ;
}

static uint64_t wall_us(void) {
    return (uint64_t)clock_believed().wall_ms * 1000;
}

struct bytes remote_version_next(struct remote *remote, struct bytes old, struct arena *arena) {
    uint64_t least = remote_version_time(old) + 1, now = wall_us();
    if (least < now)
        least = now;
    uint_fast64_t last = atomic_load(&remote->last_version), next;
    do
        next = last + 1 > least ? last + 1 : least;
    while (!atomic_compare_exchange_weak(&remote->last_version, &last, next));
    return arena_printf(arena, "%016llu-%.8s", (unsigned long long)next, remote->node);
}

/* Each write of an item has a later time than the one before it: the list goes from new to old. */
bool remote_versions_have(struct bytes versions, struct bytes version, bool *dropped) {
    uint64_t time_us = remote_version_time(version);
    size_t newer = 0;
    bool found = false;
    while (versions.size >= REMOTE_VERSION_SIZE) {
        found = found || memcmp(versions.data, version.data, REMOTE_VERSION_SIZE) == 0;
        newer += remote_version_time(remote_version_newest(versions)) > time_us;
        size_t step = REMOTE_VERSION_SIZE + 1;
        versions = bytes_skip(versions, versions.size < step ? versions.size : step);
    }
    *dropped = newer >= LIMIT_REMOTE_PAST_VERSIONS;
    return found;
}

struct bytes remote_versions_with(struct bytes version, struct bytes past, struct arena *arena) {
    struct buf all = {0};
    uint64_t young = remote_version_time(version) - LIMIT_REMOTE_PAST_MS * UINT64_C(1000);
    buf_put(&all, version);
    for (unsigned count = 1; past.size >= REMOTE_VERSION_SIZE && count < LIMIT_REMOTE_PAST_VERSIONS;
         count++) {
        struct bytes one = remote_version_newest(past);
        if (remote_version_time(one) < young)
            break;
        buf_byte(&all, ' ');
        buf_put(&all, one);
        size_t step = REMOTE_VERSION_SIZE + 1;
        past = bytes_skip(past, past.size < step ? past.size : step);
    }
    struct bytes out = arena_copy(arena, buf_bytes(&all));
    buf_release(&all);
    return out;
}

struct bytes remote_versions_of(const struct item *item) {
    const struct value *value = item_get(item, REMOTE_VERSION);
    return value != NULL && value->type == VALUE_S ? value->bytes : (struct bytes){0};
}

struct remote_item remote_item_received(struct remote *remote, const struct item *item,
                                        struct arena *arena) {
    struct remote_item out = {*item, remote_versions_of(item)};
    if (item_get(item, REMOTE_VERSION) != NULL)
        out.item = item_with(arena, item, REMOTE_VERSION, NULL);
    if (out.version.size != 0)
        remote_version_note(remote, remote_version_time(out.version));
    return out;
}

struct item remote_item_sent(const struct item *item, struct bytes version, struct arena *arena) {
    struct value value = value_string(version);
    return item_with(arena, item, REMOTE_VERSION, &value);
}

bool remote_item_expired(const struct remote *remote, const struct item *item) {
    uint64_t ends_ms;
    (void)remote;
    return rules_expires(item, BYTES("ttl"), &ends_ms) && ends_ms <= (uint64_t)clock_now_ms() &&
           ends_ms + EXPIRY_PAST_MS > (uint64_t)clock_now_ms();
}

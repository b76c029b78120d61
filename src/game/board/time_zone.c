/* Time zones by name: read once, kept until the process ends. */
#include "game/board/time_zone.h"

#include "base/files.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "game/board/period.h"

#include <errno.h>
#include <pthread.h>

/* There are some 600 names; a folder of someone's own may have more. */
enum { ZONES_MAX = LIMIT_ZONES };
static const char system_folder[] = "/usr/share/zoneinfo";

static const struct zone universal = {0};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map zones; /* path -> struct zone */

/* Names come from clients: nothing that leads out of the folder. */
static bool is_zone_name(struct bytes name) {
    if (name.size == 0 || name.size > ZONE_NAME_MAX || name.data[0] == '/')
        return false;
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '/' && c != '_' && c != '-' && c != '+')
            return false;
    }
    return true;
}

static struct zone *cache_zone(const struct zone *zone, struct bytes path) {
    struct zone *kept = mem_alloc(sizeof(*kept));
    size_t size = zone->count * sizeof(*zone->changes);
    uint8_t *key = mem_alloc(path.size);
    *kept = *zone;
    kept->changes = mem_alloc(size + 1);
    memcpy(kept->changes, zone->changes, size);
    memcpy(key, path.data, path.size);
    map_put(&zones, bytes_of(key, path.size), kept);
    return kept;
}

static enum status load_zone(struct bytes path, struct bytes name, struct scope in,
                             const struct zone **out) {
    struct zone zone;
    struct bytes file;
    if (zones.count >= ZONES_MAX)
        return failure_set(in.failure, in.arena, LIMIT_EXCEEDED, "Too many time zones are in use");
    if (files_get(arena_str(in.arena, path), ZONE_FILE_MAX, in.arena, &file) != 0)
        return failure_set(in.failure, in.arena, INVALID, "There is no time zone %.*s",
                           BYTES_ARG(name));
    if (zone_read(file, in.arena, &zone) != OK)
        return failure_set(in.failure, in.arena, INVALID, "%.*s is not a time zone",
                           BYTES_ARG(name));
    *out = cache_zone(&zone, path);
    return OK;
}

enum status zone_find(struct bytes folder, struct bytes name, struct scope in,
                      const struct zone **out) {
    if (name.size == 0 || bytes_equal(name, BYTES("UTC"))) {
        *out = &universal;
        return OK;
    }
    if (!is_zone_name(name))
        return failure_set(in.failure, in.arena, INVALID, "%.*s is not the name of a time zone",
                           (int)(name.size < 100 ? name.size : 100), (const char *)name.data);
    if (folder.size == 0)
        folder = bytes_str(system_folder);
    struct bytes path = arena_printf(in.arena, "%.*s/%.*s", BYTES_ARG(folder), BYTES_ARG(name));
    enum status status = OK;
    pthread_mutex_lock(&lock);
    *out = map_get(&zones, path);
    if (*out == NULL)
        status = load_zone(path, name, in, out);
    pthread_mutex_unlock(&lock);
    return status;
}

/* How many changes are at or before the time. */
static size_t changes_until(const struct zone *zone, int64_t at) {
    size_t low = 0, high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool zone_change_before(const struct zone *zone, int64_t at, struct zone_change *out) {
    size_t count = changes_until(zone, at);
    bool past = count == zone->count;
    if (past && zone_rule_change(&zone->rule, at, out) &&
        (count == 0 || out->at > zone->changes[count - 1].at))
        return true;
    if (count == 0)
        return false;
    *out = zone->changes[count - 1];
    return true;
}

int zone_offset_at(const struct zone *zone, int64_t at) {
    size_t count = changes_until(zone, at);
    if (count == zone->count && zone->rule.given)
        return zone_rule_offset(&zone->rule, at);
    return count == 0 ? zone->first_s : zone->changes[count - 1].offset_s;
}

int zone_offset_s(const struct zone *zone, int64_t at_ms) {
    return zone_offset_at(zone, at_ms / 1000 - (at_ms % 1000 < 0));
}

#include "api/guest_rate.h"

#include "base/hash.h"

/* A bucket that takes one in `each_ms`, and `burst` at once. */
struct bucket_rule {
    int64_t each_ms, burst;
};
static const struct bucket_rule of_room = {LIMIT_GUEST_ROOM_EACH_MS, LIMIT_GUEST_ROOM_BURST};
static const struct bucket_rule of_all = {LIMIT_GUEST_EACH_MS, LIMIT_GUEST_BURST};

static bool pour(_Atomic int64_t *bucket, const struct bucket_rule *rule, int64_t now_ms) {
    int64_t empty_ms = atomic_load(bucket), next_ms;
    do {
        int64_t from_ms = empty_ms > now_ms ? empty_ms : now_ms;
        next_ms = from_ms + rule->each_ms;
        if (next_ms - now_ms > rule->each_ms * rule->burst)
            return false;
    } while (!atomic_compare_exchange_weak(bucket, &empty_ms, next_ms));
    return true;
}

bool guest_rate_admits(struct guest_rate *rate, struct bytes room, int64_t now_ms) {
    size_t at = hash_stable(room, 1) % LIMIT_GUEST_BUCKETS;
    return pour(&rate->rooms_ms[at], &of_room, now_ms) && pour(&rate->all_ms, &of_all, now_ms);
}

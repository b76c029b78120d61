/* Following the stream of the game table from the outside, for who copies the table while it is
 * written to: every record from a moment on, parents of shards before their children. Takes no
 * lease and writes nothing, so nodes that follow it as well do not notice. */
#include "base/mem.h"
#include "table/remote/remote_parts.h"

struct followed_shard {
    struct bytes id;
    struct buf after, iterator;
    bool done; /* read to its end */
};

struct remote_follower {
    struct remote *remote;
    int64_t since_ms;
    struct arena ids; /* of the shards */
    struct followed_shard *shards;
    size_t count, room;
};

struct remote_follower *remote_follower_new(struct engine *engine, int64_t since_ms) {
    struct remote_follower *follower = mem_zalloc(sizeof(*follower));
    follower->remote = remote_of(engine);
    follower->since_ms = since_ms;
    arena_init(&follower->ids);
    return follower;
}

void remote_follower_free(struct remote_follower *follower) {
    for (size_t i = 0; i < follower->count; i++) {
        buf_release(&follower->shards[i].after);
        buf_release(&follower->shards[i].iterator);
    }
    mem_free(follower->shards);
    arena_release(&follower->ids);
    mem_free(follower);
}

/* The index of the shard among those that are known, or SIZE_MAX. */
static size_t find_shard(const struct remote_follower *follower, struct bytes id) {
    for (size_t i = 0; i < follower->count; i++)
        if (bytes_equal(follower->shards[i].id, id))
            return i;
    return SIZE_MAX;
}

static void add_shard(struct remote_follower *follower, struct bytes id) {
    if (follower->count == follower->room) {
        follower->room = follower->room == 0 ? 16 : follower->room * 2;
        follower->shards =
            mem_realloc(follower->shards, follower->room * sizeof(*follower->shards));
    }
    follower->shards[follower->count++] =
        (struct followed_shard){.id = arena_copy(&follower->ids, id)};
}

/* A page of a shard. What follows it is read after a failure, too, so nothing is passed over. */
static enum status read_shard(struct remote_follower *follower, struct followed_shard *shard,
                              struct bytes stream, struct scope in, struct remote_shard_read *out) {
    *out = (struct remote_shard_read){.stream = stream,
                                      .shard = shard->id,
                                      .after = buf_bytes(&shard->after),
                                      .iterator = buf_bytes(&shard->iterator)};
    enum status status = remote_shard_read(follower->remote, out, in);
    if (status == NOT_FOUND)
        return failure_set(in.failure, in.arena, NOT_FOUND,
                           "the table's stream goes back a day, and this move is further behind");
    if (status != OK)
        return status;
    buf_clear(&shard->iterator);
    buf_put(&shard->iterator, out->next);
    shard->done = out->next.size == 0;
    if (out->count != 0) {
        buf_clear(&shard->after);
        buf_put(&shard->after, out->records[out->count - 1].sequence);
    }
    return OK;
}

static void take_records(struct remote_follower *follower, const struct remote_shard_read *read,
                         struct arena *arena, struct remote_followed *out) {
    struct remote_followed_change *changes =
        ARENA_ARRAY(arena, struct remote_followed_change, out->count + read->count + 1);
    if (out->count != 0)
        memcpy(changes, out->changes, out->count * sizeof(*changes));
    out->changes = changes;
    for (size_t i = 0; i < read->count; i++) {
        const struct remote_record *record = &read->records[i];
        if (record->created_ms < follower->since_ms)
            continue;
        changes[out->count++] = (struct remote_followed_change){
            record->keys, record->has_new ? record->new : (struct item){0}};
    }
}

static bool is_due(const struct remote_follower *follower, const struct remote_shards *shards,
                   const struct remote_shard *shard) {
    size_t parent = find_shard(follower, shard->parent);
    for (size_t i = 0; i < shards->count; i++)
        if (bytes_equal(shards->shards[i].id, shard->parent))
            return parent != SIZE_MAX && follower->shards[parent].done;
    return true;
}

enum status remote_follower_read(struct remote_follower *follower, struct scope in,
                                 struct remote_followed *out) {
    struct remote_shards shards;
    *out = (struct remote_followed){.caught_up = true};
    enum status status = remote_stream_shards(follower->remote, in, &shards);
    if (status == NO_RESOURCE)
        return failure_set(in.failure, in.arena, NO_RESOURCE,
                           "the table has no stream that tells what is written meanwhile");
    for (size_t i = 0; status == OK && i < shards.count; i++) {
        struct remote_shard_read read;
        size_t at = find_shard(follower, shards.shards[i].id);
        if (at == SIZE_MAX) {
            at = follower->count;
            add_shard(follower, shards.shards[i].id);
        }
        if (follower->shards[at].done)
            continue;
        out->caught_up = out->caught_up && is_due(follower, &shards, &shards.shards[i]);
        if (!is_due(follower, &shards, &shards.shards[i]))
            continue;
        status = read_shard(follower, &follower->shards[at], shards.stream, in, &read);
        if (status != OK)
            break;
        out->caught_up = out->caught_up && read.count == 0 && !follower->shards[at].done;
        take_records(follower, &read, in.arena, out);
    }
    return status;
}

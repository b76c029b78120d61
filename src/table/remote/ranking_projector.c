/* The projector: follows the table's stream and applies all of it to the ranking once more.
 *
 * A node applies what it commits before it answers. If it dies between the two, or Redis did not
 * answer it, the stream still tells of the write: whoever has the shard moves the entry, which does
 * nothing where it has been moved already. So the ranking is right again as soon as the stream has
 * been read, within a second.
 *
 * Who has a shard, and how far it is, is kept in Redis beside the rankings:
 *
 *   gt:{<table>}:lease:<shard>   the node that has it, for LIMIT_SHARD_LEASE_MS
 *   gt:{<table>}:positions       hash: shard -> last sequence number applied, or "end"
 *
 * There it costs less than items with leases would, it is as old as the rankings are if Redis comes
 * back with an earlier state, and if Redis is away there is nothing to project to. Two nodes that
 * take themselves for the one that has a shard do no harm.
 *
 * A connection that was lost may hide a failover that has forgotten the last writes: then the last
 * minutes are applied again. A server that was started again with what it had on its disk may lack
 * any number of writes: then its rankings count as not whole and are built again.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/remote/ranking_int.h"

#include <stdio.h>
#include <unistd.h>

enum { SHARD_ID_MAX = 128, SEQUENCE_MAX = 64, ITERATOR_MAX = 4096, RUN_ID_MAX = 64 };

/* A shard that this node has had. */
struct shard_reader {
    char id[SHARD_ID_MAX];
    char after[SEQUENCE_MAX];      /* "": from the first that is kept */
    char earlier[2][SEQUENCE_MAX]; /* where it was a minute or two ago */
    int64_t shifted_us;
    struct buf iterator;
    bool held;
    bool fresh; /* it had no position: what is old is in the rankings that are built */
};

struct known_server {
    struct redis_address address;
    char run_id[RUN_ID_MAX];
};

/* A write past the nodes, and the time that it was given as its version. */
struct past_write {
    uint64_t hash; /* of partition and member */
    uint64_t time_us;
};

struct ranking_projector {
    struct remote_ranking *ranking;
    pthread_t thread;
    _Atomic bool stopping;
    int64_t started_ms;
    struct shard_reader *readers[LIMIT_SHARDS];
    size_t reader_count;
    struct known_server servers[LIMIT_REDIS_SERVERS];
    size_t server_count;
    uint64_t epoch;
    int64_t listed_us, looked_us;
    struct arena listed; /* of `shards` */
    struct remote_shards shards;
    struct past_write past[LIMIT_PAST_WRITES]; /* the last ones, by their hashes */
};

/* --- what is kept in Redis --- */

static struct bytes key_of(const struct ranking_projector *projector, const char *name,
                           struct bytes more, struct arena *arena) {
    return arena_printf(arena, "gt:{%.*s}:%s%.*s", BYTES_ARG(projector->ranking->remote->table),
                        name, BYTES_ARG(more));
}

static enum status ask(struct ranking_projector *projector, const struct bytes *words, size_t count,
                       struct scope in, struct redis_reply *reply) {
    struct buf command = {0};
    redis_command(&command, words, count);
    struct bytes bytes = arena_copy(in.arena, buf_bytes(&command));
    buf_release(&command);
    struct redis_request request = {.commands = &bytes, .count = 1};
    request.key = key_of(projector, "positions", BYTES(""), in.arena);
    return redis_ask(projector->ranking->redis, &request, in, reply);
}

/* Takes the lease of a shard, or keeps it. */
static bool take_lease(struct ranking_projector *projector, struct bytes shard, struct scope in) {
    static const char script[] = "local has=redis.call('GET',KEYS[1])\n"
                                 "if has and has~=ARGV[1] then return 0 end\n"
                                 "redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[2])\n"
                                 "return 1\n";
    struct redis_reply reply;
    struct bytes words[] = {BYTES("EVAL"),
                            bytes_str(script),
                            BYTES("1"),
                            key_of(projector, "lease:", shard, in.arena),
                            bytes_str(projector->ranking->remote->node),
                            arena_printf(in.arena, "%d", LIMIT_SHARD_LEASE_MS)};
    return ask(projector, words, 6, in, &reply) == OK && redis_reply_number(&reply) == 1;
}

static enum status read_positions(struct ranking_projector *projector, struct scope in,
                                  struct redis_reply *out) {
    struct bytes words[] = {BYTES("HGETALL"), key_of(projector, "positions", BYTES(""), in.arena)};
    enum status status = ask(projector, words, 2, in, out);
    return status == OK && out->type != REDIS_ARRAY ? IO_FAILED : status;
}

static struct bytes position_of(const struct redis_reply *positions, struct bytes shard) {
    for (size_t i = 0; i + 1 < positions->count; i += 2)
        if (bytes_equal(positions->elements[i].text, shard))
            return positions->elements[i + 1].text;
    return (struct bytes){0};
}

static enum status set_position(struct ranking_projector *projector, struct bytes shard,
                                struct bytes position, struct scope in) {
    struct redis_reply reply;
    struct bytes words[] = {BYTES("HSET"), key_of(projector, "positions", BYTES(""), in.arena),
                            shard, position};
    return ask(projector, words, 4, in, &reply);
}

/* --- servers that were started again --- */

static struct bytes field_of(struct bytes info, struct bytes name) {
    size_t at = bytes_find(info, name);
    if (at == SIZE_MAX)
        return (struct bytes){0};
    struct bytes rest = bytes_skip(info, at + name.size);
    const uint8_t *end = rest.size != 0 ? memchr(rest.data, '\r', rest.size) : NULL;
    return end != NULL ? bytes_of(rest.data, (size_t)(end - rest.data)) : rest;
}

static struct known_server *known_server(struct ranking_projector *projector,
                                         const struct redis_address *address) {
    for (size_t i = 0; i < projector->server_count; i++)
        if (redis_address_equal(&projector->servers[i].address, address))
            return &projector->servers[i];
    if (projector->server_count == LIMIT_REDIS_SERVERS)
        return NULL;
    struct known_server *server = &projector->servers[projector->server_count++];
    *server = (struct known_server){.address = *address};
    return server;
}

static bool copy_text(char *to, size_t room, struct bytes from) {
    if (from.size >= room)
        return false;
    if (from.size != 0)
        memcpy(to, from.data, from.size);
    to[from.size] = '\0';
    return true;
}

/* Whether this node is the one that sees to a server's new life: one is enough. */
static bool is_first_to_see(struct ranking_projector *projector, struct bytes run_id,
                            struct scope in) {
    struct redis_reply reply;
    struct bytes words[] = {BYTES("SET"), key_of(projector, "seen:", run_id, in.arena),
                            BYTES("1"),   BYTES("NX"),
                            BYTES("EX"),  BYTES("3600")};
    return ask(projector, words, 6, in, &reply) == OK && reply.type == REDIS_STATUS;
}

static void look_at_server(struct ranking_projector *projector, const struct redis_address *address,
                           struct scope in) {
    struct redis_reply reply;
    struct bytes command = BYTES("*1\r\n$4\r\nINFO\r\n");
    struct redis_request request = {.commands = &command, .count = 1, .at = address};
    struct known_server *server = known_server(projector, address);
    if (server == NULL || redis_ask_at(projector->ranking->redis, &request, &reply, in) != OK)
        return;
    struct bytes run_id = field_of(reply.text, BYTES("\nrun_id:"));
    struct bytes loaded = field_of(reply.text, BYTES("rdb_last_load_keys_loaded:"));
    bool known = server->run_id[0] != '\0';
    if (run_id.size == 0 || bytes_equal(run_id, bytes_str(server->run_id)))
        return;
    bool empty = bytes_equal(loaded, BYTES("0")) &&
                 bytes_equal(field_of(reply.text, BYTES("aof_enabled:")), BYTES("0"));
    if (known && !empty && is_first_to_see(projector, run_id, in) &&
        rank_store_doubt_server(&projector->ranking->store, address, in) != OK)
        return; /* again at the next look */
    copy_text(server->run_id, sizeof(server->run_id), run_id);
}

static void look_at_servers(struct ranking_projector *projector, struct scope in) {
    int64_t now_us = clock_ticks_us();
    if (now_us - projector->looked_us < 1000000)
        return;
    projector->looked_us = now_us;
    struct redis_masters masters = rank_redis_masters(projector->ranking->redis, in.arena);
    for (size_t i = 0; i < masters.count; i++)
        look_at_server(projector, &masters.list[i], in);
}

/* --- applying records --- */

/* The moves of some records, by partition: of each member the last counts. */
struct batch {
    struct bytes partition;
    struct rank_move *moves;
    size_t count, room;
    struct bytes version; /* of the last record */
};

static struct batch *batch_of(struct batch *batches, size_t *count, struct bytes partition) {
    for (size_t i = *count; i-- > 0;)
        if (bytes_equal(batches[i].partition, partition))
            return &batches[i];
    batches[*count] = (struct batch){.partition = partition};
    return &batches[(*count)++];
}

static void add_move(struct batch *batch, const struct rank_move *move, struct arena *arena) {
    if (batch->moves == NULL)
        batch->moves = ARENA_ARRAY(arena, struct rank_move, batch->room);
    for (size_t i = 0; i < batch->count; i++)
        if (bytes_equal(batch->moves[i].member, move->member)) {
            batch->moves[i] = *move;
            return;
        }
    batch->moves[batch->count++] = *move;
}

/* A time for a write past the nodes, which has no version of its own: later than that of the item
 * it replaces, and than the time given to the write past the nodes before it. Those of one second
 * could not be told apart otherwise: that is how exactly the stream tells when they were made. */
static uint64_t time_for(struct ranking_projector *projector, const struct remote_record *record,
                         uint64_t least_us) {
    uint64_t hash = hash_keyed(ranking_member_of(&record->keys),
                               hash_keyed(ranking_partition_of(&record->keys), 0));
    struct past_write *past = &projector->past[hash % LIMIT_PAST_WRITES];
    uint64_t time_us = (uint64_t)record->created_ms * 1000;
    if (time_us < least_us)
        time_us = least_us;
    if (past->hash == hash && time_us <= past->time_us)
        time_us = past->time_us + 1;
    else if (!record->has_new)
        return time_us; /* a removal has that of what it removes */
    *past = (struct past_write){hash, time_us};
    return time_us;
}

/* The version of what a record tells of. A client that writes past the nodes leaves `v` as it was,
 * or out. */
static struct bytes version_of(struct ranking_projector *projector,
                               const struct remote_record *record, struct arena *arena) {
    uint64_t old_us = ranking_written_us(record->old_version);
    uint64_t new_us = ranking_written_us(record->new_version);
    if (record->has_new && new_us > old_us)
        return record->new_version;
    return arena_printf(arena, "%016llu",
                        (unsigned long long)time_for(projector, record, old_us + record->has_new));
}

static void add_record(struct ranking_projector *projector, const struct remote_record *record,
                       struct batch *batch, struct arena *arena) {
    struct rank_move move;
    struct bytes version = version_of(projector, record, arena);
    struct remote_write write = {.key = record->keys,
                                 .old = record->has_old ? &record->old : NULL,
                                 .new = record->has_new ? &record->new : NULL,
                                 .old_version = version,
                                 .version = version};
    batch->version = record->has_new ? record->new_version : record->old_version;
    if (ranking_move_of(&write, arena, &move))
        add_move(batch, &move, arena);
}

static enum status apply_records(struct ranking_projector *projector,
                                 const struct remote_shard_read *read, int64_t since_ms,
                                 struct scope in) {
    struct remote_ranking *ranking = projector->ranking;
    struct batch *batches = ARENA_ARRAY(in.arena, struct batch, read->count + 1);
    size_t count = 0;
    enum status status = OK;
    for (size_t i = 0; i < read->count; i++) {
        const struct remote_record *record = &read->records[i];
        if (record->created_ms < since_ms)
            continue;
        struct batch *batch = batch_of(batches, &count, ranking_partition_of(&record->keys));
        if (batch->room == 0)
            batch->room = read->count - i;
        add_record(projector, record, batch, in.arena);
    }
    for (size_t i = 0; i < count && status == OK; i++) {
        struct rank_moves moves = {.partition = batches[i].partition,
                                   .moves = batches[i].moves,
                                   .count = batches[i].count};
        if (moves.count != 0)
            status = ranking_move(ranking, &moves, in);
        ranking_news_repeat(ranking->news, batches[i].partition, batches[i].version);
    }
    return status;
}

/* --- shards --- */

static struct shard_reader *reader_of(struct ranking_projector *projector, struct bytes shard) {
    for (size_t i = 0; i < projector->reader_count; i++)
        if (bytes_equal(bytes_str(projector->readers[i]->id), shard))
            return projector->readers[i];
    if (projector->reader_count == LIMIT_SHARDS || shard.size >= SHARD_ID_MAX)
        return NULL;
    struct shard_reader *reader = mem_zalloc(sizeof(*reader));
    copy_text(reader->id, sizeof(reader->id), shard);
    projector->readers[projector->reader_count++] = reader;
    return reader;
}

/* Begins where the shard's last holder was. */
static void begin_reading(struct shard_reader *reader, struct bytes position) {
    copy_text(reader->after, sizeof(reader->after), position);
    memcpy(reader->earlier[0], reader->after, sizeof(reader->after));
    memcpy(reader->earlier[1], reader->after, sizeof(reader->after));
    reader->shifted_us = clock_ticks_us();
    buf_clear(&reader->iterator);
    reader->held = true;
    reader->fresh = position.size == 0;
}

static void note_position(struct shard_reader *reader, struct bytes position) {
    int64_t now_us = clock_ticks_us();
    if (now_us - reader->shifted_us > (int64_t)LIMIT_STREAM_AGAIN_MS * 1000) {
        reader->shifted_us = now_us;
        memcpy(reader->earlier[0], reader->earlier[1], sizeof(reader->after));
        memcpy(reader->earlier[1], reader->after, sizeof(reader->after));
    }
    copy_text(reader->after, sizeof(reader->after), position);
}

/* Goes back a minute or two. */
static void rewind_reader(struct shard_reader *reader) {
    memcpy(reader->after, reader->earlier[0], sizeof(reader->after));
    buf_clear(&reader->iterator);
}

/* What follows has been trimmed, so some writes may never have been applied: nothing is whole. */
static enum status start_over(struct ranking_projector *projector, struct shard_reader *reader,
                              struct scope in) {
    struct redis_masters masters = rank_redis_masters(projector->ranking->redis, in.arena);
    enum status status = OK;
    for (size_t i = 0; i < masters.count && status == OK; i++)
        status = rank_store_doubt_server(&projector->ranking->store, &masters.list[i], in);
    if (status == OK)
        begin_reading(reader, (struct bytes){0});
    return status;
}

/* What was read is applied; only then is it passed. */
static enum status pass_records(struct ranking_projector *projector, struct shard_reader *reader,
                                const struct remote_shard_read *read, struct scope in) {
    int64_t since_ms = reader->fresh ? projector->started_ms - LIMIT_STREAM_AGAIN_MS : 0;
    enum status status = apply_records(projector, read, since_ms, in);
    if (status != OK)
        return status;
    if (read->count != 0) {
        note_position(reader, read->records[read->count - 1].sequence);
        status = set_position(projector, bytes_str(reader->id), bytes_str(reader->after), in);
    }
    buf_clear(&reader->iterator);
    buf_put(&reader->iterator, read->next);
    if (status == OK && read->next.size == 0) {
        status = set_position(projector, bytes_str(reader->id), BYTES("end"), in);
        projector->listed_us = 0; /* its children come now */
    }
    return status;
}

/* Reads a shard until there is nothing new; true if there was something. */
static bool read_shard(struct ranking_projector *projector, struct shard_reader *reader,
                       struct scope in) {
    struct remote_shard_read read = {.stream = projector->shards.stream,
                                     .shard = bytes_str(reader->id),
                                     .after = bytes_str(reader->after),
                                     .iterator = buf_bytes(&reader->iterator)};
    enum status status = remote_shard_read(projector->ranking->remote, &read, in);
    if (status == NOT_FOUND)
        status = start_over(projector, reader, in);
    else if (status == NO_RESOURCE)
        projector->listed_us = 0;
    else if (status == OK)
        status = pass_records(projector, reader, &read, in);
    if (status != OK)
        buf_clear(&reader->iterator); /* what was not applied is read again */
    return status == OK && read.count != 0;
}

/* Whether the shard's parent, if there still is one, has been read to its end. */
static bool is_due(const struct ranking_projector *projector, const struct remote_shard *shard,
                   const struct redis_reply *positions) {
    if (bytes_equal(position_of(positions, shard->id), BYTES("end")))
        return false;
    for (size_t i = 0; i < projector->shards.count; i++)
        if (bytes_equal(projector->shards.shards[i].id, shard->parent))
            return bytes_equal(position_of(positions, shard->parent), BYTES("end"));
    return true;
}

static bool follow_shard(struct ranking_projector *projector, const struct remote_shard *shard,
                         const struct redis_reply *positions, struct scope in) {
    struct shard_reader *reader = reader_of(projector, shard->id);
    if (reader == NULL || !is_due(projector, shard, positions))
        return false;
    if (!take_lease(projector, shard->id, in)) {
        reader->held = false;
        return false;
    }
    struct bytes position = position_of(positions, shard->id);
    if (!reader->held || (position.size == 0 && reader->after[0] != '\0'))
        begin_reading(reader, position);
    return read_shard(projector, reader, in);
}

/* --- the thread --- */

static enum status list_shards(struct ranking_projector *projector) {
    struct failure failure = {0};
    int64_t now_us = clock_ticks_us();
    if (projector->listed_us != 0 &&
        now_us - projector->listed_us < (int64_t)LIMIT_SHARDS_LOOK_MS * 1000)
        return OK;
    arena_reset(&projector->listed);
    projector->shards = (struct remote_shards){0};
    enum status status =
        remote_stream_shards(projector->ranking->remote,
                             (struct scope){&projector->listed, &failure}, &projector->shards);
    if (status == OK)
        projector->listed_us = now_us;
    return status;
}

/* A connection was lost: what was written last may be, too. */
static void heed_epoch(struct ranking_projector *projector) {
    uint64_t epoch = rank_redis_epoch(projector->ranking->redis);
    if (epoch == projector->epoch)
        return;
    projector->epoch = epoch;
    for (size_t i = 0; i < projector->reader_count; i++)
        rewind_reader(projector->readers[i]);
}

/* True if there was something to do. */
static bool project_once(struct ranking_projector *projector, struct scope in) {
    struct redis_reply positions;
    bool busy = false;
    look_at_servers(projector, in);
    heed_epoch(projector);
    if (list_shards(projector) != OK || read_positions(projector, in, &positions) != OK)
        return false;
    for (size_t i = 0; i < projector->shards.count && !projector->stopping; i++)
        busy |= follow_shard(projector, &projector->shards.shards[i], &positions, in);
    return busy;
}

static void *run_projector(void *user) {
    struct ranking_projector *projector = user;
    struct arena arena;
    arena_init(&arena);
    while (!projector->stopping) {
        struct failure failure = {0};
        bool busy = project_once(projector, (struct scope){&arena, &failure});
        arena_reset(&arena);
        usleep(busy ? LIMIT_STREAM_BUSY_US : LIMIT_STREAM_IDLE_US);
    }
    arena_release(&arena);
    return NULL;
}

struct ranking_projector *ranking_projector_start(struct remote_ranking *ranking) {
    struct ranking_projector *projector = mem_zalloc(sizeof(*projector));
    projector->ranking = ranking;
    projector->started_ms = clock_now_ms();
    projector->epoch = rank_redis_epoch(ranking->redis);
    arena_init(&projector->listed);
    thread_start(&projector->thread, run_projector, projector);
    return projector;
}

void ranking_projector_stop(struct ranking_projector *projector) {
    projector->stopping = true;
    pthread_join(projector->thread, NULL);
    for (size_t i = 0; i < projector->reader_count; i++) {
        buf_release(&projector->readers[i]->iterator);
        mem_free(projector->readers[i]);
    }
    arena_release(&projector->listed);
    mem_free(projector);
}

/* The ranking as the remote engine sees it: what is applied after a commit, and where items stand.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "table/remote/ranking_int.h"

#include <stdlib.h>

/* --- opening --- */

enum status remote_ranking_open(struct remote *remote, struct scope in,
                                struct remote_ranking **out) {
    const struct remote_redis_settings *from = &remote->settings.redis;
    struct rank_redis_settings settings = {
        .address = from->address != NULL ? from->address : "",
        .login = {from->user, from->password, from->tls, from->ca}};
    struct rank_redis *redis = NULL;
    enum status status = rank_redis_open(&settings, in, &redis);
    if (status != OK)
        return status;
    struct remote_ranking *ranking = mem_zalloc(sizeof(*ranking));
    ranking->remote = remote;
    ranking->redis = redis;
    rank_store_init(&ranking->store, redis, remote->table);
    status = rank_store_try(&ranking->store, in);
    if (status != OK) {
        rank_redis_close(redis);
        mem_free(ranking);
        return status;
    }
    ranking->builder = ranking_builder_start(ranking);
    ranking->news = ranking_news_start(ranking);
    *out = ranking;
    return OK;
}

void remote_ranking_start(struct remote_ranking *ranking) {
    if (ranking->projector == NULL)
        ranking->projector = ranking_projector_start(ranking);
}

void remote_ranking_end_soon(struct remote_ranking *ranking) {
    atomic_store(&ranking->ending, true);
}

void remote_ranking_close(struct remote_ranking *ranking) {
    if (ranking == NULL)
        return;
    atomic_store(&ranking->ending, true);
    if (ranking->projector != NULL)
        ranking_projector_stop(ranking->projector);
    ranking_builder_stop(ranking->builder);
    ranking_news_stop(ranking->news);
    rank_redis_close(ranking->redis);
    mem_free(ranking);
}

bool remote_ranking_healthy(struct remote_ranking *ranking) {
    return rank_redis_healthy(ranking->redis);
}

/* --- moving --- */

uint64_t ranking_written_us(struct bytes version) {
    uint64_t written_us = 0;
    for (size_t i = 0; i < REMOTE_VERSION_DIGITS && i < version.size; i++) {
        if (version.data[i] < '0' || version.data[i] > '9')
            return 0;
        written_us = written_us * 10 + (uint64_t)(version.data[i] - '0');
    }
    return written_us;
}

bool ranking_move_of(const struct remote_write *write, struct arena *arena, struct rank_move *out) {
    static const struct item none;
    const struct item *old = write->old != NULL ? write->old : &none;
    const struct item *new = write->new != NULL ? write->new : &none;
    bool removed = new->count == 0;
    *out = (struct rank_move){.member = ranking_member_of(&write->key),
                              .key = ranking_key_of(new, arena)};
    out->version =
        rank_version(ranking_written_us(removed ? write->old_version : write->version), removed);
    return out->key.size != 0 || ranking_key_of(old, arena).size != 0;
}

/* Whether the item of a member is there, whatever clocks say. */
static bool is_there(struct remote_ranking *ranking, struct bytes partition, struct bytes member,
                     struct scope in) {
    struct pair *pairs = ARENA_ARRAY(in.arena, struct pair, 2);
    pairs[0] = (struct pair){ranking_table.keys.parts[0].name, value_string(partition)};
    pairs[1] = (struct pair){ranking_table.keys.parts[1].name, value_string(member)};
    struct get_request request = {
        .table = ranking->remote->table, .key = {pairs, 2}, .consistent = true};
    struct get_reply reply = {0};
    return engine_get(&ranking->remote->engine, &request, in, &reply) == OK && reply.found;
}

/* A removal that another clock calls later stands against an entry: the item itself decides. */
static enum status settle(struct remote_ranking *ranking, struct bytes partition,
                          struct rank_move *move, struct scope in) {
    struct rank_moves again = {.partition = partition, .moves = move, .count = 1};
    if (!is_there(ranking, partition, move->member, in))
        return OK;
    enum status status = rank_store_forget(&ranking->store, partition, move, in);
    return status == OK ? rank_store_move(&ranking->store, &again, in) : status;
}

static enum status settle_all(struct remote_ranking *ranking, struct rank_moves *moves,
                              struct scope in) {
    enum status status = OK;
    for (size_t i = 0; i < moves->count && status == OK; i++)
        if (moves->moves[i].moved == RANK_DOUBT)
            status = settle(ranking, moves->partition, &moves->moves[i], in);
    return status;
}

enum status ranking_fill(struct remote_ranking *ranking, struct rank_moves *moves,
                         struct scope in) {
    enum status status = rank_store_fill(&ranking->store, moves, in);
    return status == OK ? settle_all(ranking, moves, in) : status;
}

enum status ranking_move(struct remote_ranking *ranking, struct rank_moves *moves,
                         struct scope in) {
    enum status status = rank_store_move(&ranking->store, moves, in);
    if (status == OK)
        status = settle_all(ranking, moves, in);
    if (status == OK && !moves->whole && moves->count != 0 && moves->token.size == 0)
        ranking_builder_want(ranking->builder, moves->partition);
    return status;
}

/* --- rankings that were seen whole --- */

static uint64_t seen_hash(struct remote_ranking *ranking, struct bytes partition) {
    return hash_keyed(partition, rank_redis_epoch(ranking->redis)) | 1;
}

static atomic_uint_fast64_t *seen_slot(struct remote_ranking *ranking, uint64_t hash) {
    return &ranking->seen[hash / 2 % RANKING_SEEN_SLOTS];
}

void remote_ranking_ready(struct remote_ranking *ranking, struct bytes partition,
                          struct arena *arena) {
    struct failure failure = {0};
    struct scope in = {arena, &failure};
    struct rank_range range = {.partition = partition, .count_only = true};
    uint64_t hash = seen_hash(ranking, partition);
    if (atomic_load_explicit(seen_slot(ranking, hash), memory_order_relaxed) == hash)
        return;
    enum status status = rank_store_range(&ranking->store, &range, in);
    if (status == BEING_BUILT)
        ranking_builder_await(ranking->builder, partition);
    if (status == OK)
        atomic_store_explicit(seen_slot(ranking, hash), hash, memory_order_relaxed);
}

static void forget_seen(struct remote_ranking *ranking, struct bytes partition) {
    uint64_t hash = seen_hash(ranking, partition);
    atomic_store_explicit(seen_slot(ranking, hash), 0, memory_order_relaxed);
}

/* Moves one entry whose ranks are asked for. */
static void apply_ranked(struct remote_ranking *ranking, const struct remote_write *write,
                         const struct rank_move *move, struct arena *arena) {
    static const struct item none;
    struct failure failure = {0};
    struct scope in = {arena, &failure};
    struct rank_ranked_move ranked = {
        .partition = ranking_partition_of(&write->key),
        .move = *move,
        .was = ranking_key_of(write->old != NULL ? write->old : &none, arena),
        .ranks = write->ranks};
    enum status status = rank_store_move_ranked(&ranking->store, &ranked, in);
    if (status == OK && ranked.move.moved == RANK_DOUBT) {
        write->ranks->counted = false;
        settle(ranking, ranked.partition, &ranked.move, in);
    } else if (status == OK && !write->ranks->counted) {
        forget_seen(ranking, ranked.partition);
        ranking_builder_want(ranking->builder, ranked.partition);
    }
}

/* Moves those of the same partition together, from `first` on; `done` marks what was moved. */
static void apply_partition(struct remote_ranking *ranking, const struct remote_write *writes,
                            size_t count, struct arena *arena) {
    struct rank_move *moves = ARENA_ARRAY(arena, struct rank_move, count);
    bool *done = ARENA_ARRAY(arena, bool, count);
    struct failure failure = {0};
    for (size_t first = 0; first < count; first++) {
        struct rank_moves all = {.partition = ranking_partition_of(&writes[first].key),
                                 .moves = moves};
        for (size_t i = first; i < count; i++) {
            if (done[i] || !bytes_equal(ranking_partition_of(&writes[i].key), all.partition))
                continue;
            done[i] = true;
            if (!ranking_move_of(&writes[i], arena, &moves[all.count]))
                continue;
            if (writes[i].ranks != NULL)
                apply_ranked(ranking, &writes[i], &moves[all.count], arena);
            else
                all.count++;
        }
        if (all.count != 0)
            ranking_move(ranking, &all, (struct scope){arena, &failure});
    }
}

void remote_ranking_apply(struct remote_ranking *ranking, const struct remote_write *writes,
                          size_t count, struct arena *arena) {
    for (size_t i = 0; i < count; i++)
        if (writes[i].ranks != NULL)
            writes[i].ranks->counted = false;
    apply_partition(ranking, writes, count, arena);
    for (size_t i = 0; i < count; i++)
        if (!writes[i].keeps_version)
            ranking_news_wrote(ranking->news, ranking_partition_of(&writes[i].key),
                               writes[i].version.size != 0 ? writes[i].version
                                                           : writes[i].old_version);
}

/* --- looking --- */

/* Whatever keeps ranks from being known is told as one thing. */
static enum status unknown_ranks(enum status status, struct scope in) {
    if (status != IO_FAILED && status != BUSY)
        return status;
    struct bytes why = in.failure->text;
    return failure_set(in.failure, in.arena, BEING_BUILT,
                       "Ranks are not known at the moment (%.*s): ask again soon", BYTES_ARG(why));
}

static enum status fill_look(const struct rank_request *request, size_t first,
                             struct rank_look *look, struct scope in) {
    struct bytes *names = ARENA_ARRAY(in.arena, struct bytes, look->count);
    for (size_t i = 0; i < look->count; i++) {
        const struct item *key = &request->keys[first + i];
        names[i] = request->as_if ? ranking_key_of(key, in.arena) : ranking_member_of(key);
        if (names[i].size == 0)
            return failure_set(in.failure, in.arena, INVALID,
                               "The provided key element does not match the schema");
    }
    look->names = names;
    return OK;
}

static enum status read_looked(const struct rank_look *look, struct scope in,
                               struct rank_reply *replies) {
    for (size_t i = 0; i < look->count; i++) {
        replies[i] = look->places[i];
        if (look->keys[i].size != 0 &&
            ranking_entry_of(look->partition, look->keys[i], in.arena, &replies[i].entry) != OK)
            return failure_set(in.failure, in.arena, DAMAGED, "An entry of the ranking is damaged");
    }
    return OK;
}

/* Those of one partition. If it is being built, that is waited for, for a moment. */
static enum status look_up(struct remote_ranking *ranking, struct rank_look *look,
                           struct scope in) {
    enum status status = rank_store_look(&ranking->store, look, in);
    if (status == BEING_BUILT) {
        ranking_builder_await(ranking->builder, look->partition);
        status = rank_store_look(&ranking->store, look, in);
    }
    return unknown_ranks(status, in);
}

enum status remote_rank_lookup(struct engine *engine, const struct rank_request *request,
                               struct scope in, struct rank_reply *replies) {
    struct remote_ranking *ranking = remote_of(engine)->ranking;
    enum status status = OK;
    if (!bytes_equal(request->table, remote_of(engine)->table) ||
        !bytes_equal(request->index, ranking_index.name) || request->group_parts > 2)
        return failure_set(in.failure, in.arena, UNSUPPORTED,
                           "This server's engine has ranks in the game's index only.");
    for (size_t first = 0; first < request->count && status == OK;) {
        struct rank_look look = {.partition = ranking_partition_of(&request->keys[first]),
                                 .as_if = request->as_if,
                                 .group_parts = request->group_parts,
                                 .groups = request->groups && request->group_parts == 2};
        while (
            first + look.count < request->count &&
            bytes_equal(ranking_partition_of(&request->keys[first + look.count]), look.partition))
            look.count++;
        status = fill_look(request, first, &look, in);
        if (status == OK)
            status = look_up(ranking, &look, in);
        if (status == OK)
            status = read_looked(&look, in, replies + first);
        first += look.count;
    }
    return status;
}

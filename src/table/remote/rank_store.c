/* The ranking in Redis: calls of the scripts, and what they answer. */
#include "table/remote/rank_store.h"

#include "base/clock.h"
#include "base/limits.h"

#include <stdio.h>

enum {
    MOVE_CHUNK = 500, /* entries in one call of the script, */
    MOVE_CALLS = 16,  /* and calls on their way at once */
    MOVE_ARGS = 4,    /* arguments before the entries */
    GROUP_CHUNK = 1000,
    BUILD_WAIT_MS = 15000,
};

void rank_store_init(struct rank_store *store, struct rank_redis *redis, struct bytes table) {
    *store = (struct rank_store){.redis = redis, .table = table};
    rank_scripts_init(&store->scripts);
}

/* --- calling scripts --- */

/* A call of a script on a partition's keys. */
struct script_call {
    const struct rank_script *script;
    struct bytes partition;
    const struct bytes *args;
    size_t count;
};

/* Commands on their way. */
struct sending {
    struct bytes *commands;
    size_t count;
    bool whole_text; /* EVAL rather than EVALSHA */
};

static void put_key_name(struct buf *to, const struct rank_store *store, struct bytes partition,
                         char suffix) {
    buf_printf(to, "gt:{%.*s/%.*s}:%c", BYTES_ARG(store->table), BYTES_ARG(partition), suffix);
}

/* Appends the command that calls it; with its text if the server does not know it yet. */
static void put_command(struct buf *to, const struct rank_store *store,
                        const struct script_call *call, bool whole_text) {
    static const char suffixes[RANK_KEYS] = {'z', 'h', 'g', 'm', 't', 'l'};
    const struct rank_script *script = call->script;
    struct buf key = {0};
    redis_command_begin(to, 3 + RANK_KEYS + call->count);
    redis_command_word(to, whole_text ? BYTES("EVAL") : BYTES("EVALSHA"));
    redis_command_word(to, bytes_str(whole_text ? script->text : script->sha));
    redis_command_word(to, BYTES("6"));
    for (unsigned i = 0; i < RANK_KEYS; i++) {
        buf_clear(&key);
        put_key_name(&key, store, call->partition, suffixes[i]);
        redis_command_word(to, buf_bytes(&key));
    }
    for (size_t i = 0; i < call->count; i++)
        redis_command_word(to, call->args[i]);
    buf_release(&key);
}

static bool is_unknown(const struct redis_reply *replies, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (redis_reply_is_error(&replies[i], BYTES("NOSCRIPT")))
            return true;
    return false;
}

static enum status error_of(const struct redis_reply *replies, size_t count, struct scope in) {
    for (size_t i = 0; i < count; i++)
        if (replies[i].type == REDIS_ERROR)
            return failure_set(in.failure, in.arena, IO_FAILED, "Redis refuses: %.*s",
                               BYTES_ARG(replies[i].text));
    return OK;
}

/* The commands of calls in one piece; their sizes tell where each begins. */
static void put_commands(struct buf *to, const struct rank_store *store,
                         const struct script_call *calls, struct sending *sending) {
    size_t at = 0;
    buf_clear(to);
    for (size_t i = 0; i < sending->count; i++) {
        put_command(to, store, &calls[i], sending->whole_text);
        sending->commands[i].size = to->size - at;
        at = to->size;
    }
    at = 0;
    for (size_t i = 0; i < sending->count; i++) {
        sending->commands[i].data = to->data + at;
        at += sending->commands[i].size;
    }
}

/* Calls of one partition, sent together. */
static enum status call_all(struct rank_store *store, const struct script_call *calls, size_t count,
                            struct scope in, struct redis_reply *replies) {
    struct sending sending = {arena_alloc(in.arena, count * sizeof(struct bytes)), count, false};
    struct buf all = {0}, key = {0};
    enum status status = OK;
    put_key_name(&key, store, calls[0].partition, 'z');
    struct redis_request request = {.key = buf_bytes(&key),
                                    .commands = sending.commands,
                                    .count = count,
                                    .timeout_ms = count > 1 ? BUILD_WAIT_MS : 0};
    for (unsigned text = 0; text < 2 && status == OK; text++) {
        sending.whole_text = text != 0;
        put_commands(&all, store, calls, &sending);
        status = redis_ask(store->redis, &request, in, replies);
        if (status != OK || !is_unknown(replies, count))
            break;
    }
    buf_release(&all);
    buf_release(&key);
    return status == OK ? error_of(replies, count, in) : status;
}

static enum status call_one(struct rank_store *store, const struct script_call *call,
                            struct scope in, struct redis_reply *reply) {
    return call_all(store, call, 1, in, reply);
}

/* --- what they answer --- */

static enum status malformed(struct scope in) {
    return failure_set(in.failure, in.arena, DAMAGED,
                       "The ranking in Redis answers with something else than a ranking");
}

static enum status being_built(struct scope in) {
    return failure_set(in.failure, in.arena, BEING_BUILT,
                       "The ranking of this board is being built: ask again in a moment");
}

static enum status built_by_other(struct scope in) {
    return failure_set(in.failure, in.arena, CONFLICT, "Somebody else builds this ranking");
}

static const struct redis_reply *element(const struct redis_reply *reply, size_t at) {
    static const struct redis_reply none;
    return reply->type == REDIS_ARRAY && at < reply->count ? &reply->elements[at] : &none;
}

static uint64_t number_at(const struct redis_reply *reply, size_t at) {
    int64_t number = redis_reply_number(element(reply, at));
    return number > 0 ? (uint64_t)number : 0;
}

static bool is_state(const struct redis_reply *reply, const char *state) {
    return bytes_equal(element(reply, 0)->text, bytes_str(state));
}

static void read_place(const struct redis_reply *reply, struct rank_reply *out) {
    *out = (struct rank_reply){.found = number_at(reply, 0) != 0,
                               .before = number_at(reply, 1),
                               .after = number_at(reply, 2),
                               .group_before = number_at(reply, 3),
                               .group_after = number_at(reply, 4),
                               .groups_before = number_at(reply, 5),
                               .groups_after = number_at(reply, 6)};
}

static struct bytes number_text_of(struct arena *arena, uint64_t number) {
    return arena_printf(arena, "%llu", (unsigned long long)number);
}

static void write_version(uint8_t *to, uint64_t version) {
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(version >> (56 - 8 * i));
}

static struct bytes version_bytes(struct arena *arena, uint64_t version) {
    uint8_t *to = arena_alloc(arena, 8);
    write_version(to, version);
    return bytes_of(to, 8);
}

/* --- moving --- */

static void put_move_args(struct bytes *args, struct rank_move *move, struct arena *arena) {
    args[0] = move->member;
    args[1] = version_bytes(arena, move->version);
    args[2] = move->key;
}

static struct script_call move_call(struct rank_store *store, const struct rank_moves *moves,
                                    size_t from, struct arena *arena) {
    size_t left = moves->count - from, count = left < MOVE_CHUNK ? left : MOVE_CHUNK;
    struct bytes *args = arena_alloc(arena, (MOVE_ARGS + 3 * count) * sizeof(*args));
    args[0] = BYTES("0");
    args[1] = number_text_of(arena, (uint64_t)(clock_now_ms() / 1000));
    args[2] = moves->token;
    args[3] = (struct bytes){0};
    for (size_t i = 0; i < count; i++)
        put_move_args(args + MOVE_ARGS + 3 * i, &moves->moves[from + i], arena);
    return (struct script_call){&store->scripts.move, moves->partition, args,
                                MOVE_ARGS + 3 * count};
}

static enum status read_moved(const struct redis_reply *reply, struct rank_moves *moves,
                              size_t from, struct scope in) {
    if (reply->type != REDIS_ARRAY || reply->count == 0)
        return malformed(in);
    if (is_state(reply, "lost"))
        return built_by_other(in);
    moves->whole = is_state(reply, "w");
    for (size_t i = 1; i < reply->count && from + i - 1 < moves->count; i++)
        moves->moves[from + i - 1].moved = (enum rank_moved)number_at(reply, i);
    return OK;
}

enum status rank_store_move(struct rank_store *store, struct rank_moves *moves, struct scope in) {
    struct script_call calls[MOVE_CALLS];
    struct redis_reply replies[MOVE_CALLS];
    enum status status = OK;
    for (size_t from = 0; from < moves->count && status == OK;) {
        size_t count = 0, first = from;
        for (; count < MOVE_CALLS && from < moves->count; from += MOVE_CHUNK)
            calls[count++] = move_call(store, moves, from, in.arena);
        status = call_all(store, calls, count, in, replies);
        for (size_t i = 0; i < count && status == OK; i++)
            status = read_moved(&replies[i], moves, first + i * MOVE_CHUNK, in);
    }
    return status;
}

/* --- filling --- */

static struct bytes record_of(const struct rank_move *move, struct arena *arena) {
    uint8_t *to = arena_alloc(arena, 8 + move->key.size);
    write_version(to, move->version);
    memcpy(to + 8, move->key.data, move->key.size);
    return bytes_of(to, 8 + move->key.size);
}

static struct script_call fill_call(struct rank_store *store, const struct rank_moves *moves,
                                    size_t from, struct arena *arena) {
    size_t left = moves->count - from, count = left < MOVE_CHUNK ? left : MOVE_CHUNK;
    struct bytes *args = arena_alloc(arena, (1 + 2 * count) * sizeof(*args));
    args[0] = moves->token;
    for (size_t i = 0; i < count; i++) {
        args[1 + 2 * i] = moves->moves[from + i].member;
        args[2 + 2 * i] = record_of(&moves->moves[from + i], arena);
    }
    return (struct script_call){&store->scripts.fill, moves->partition, args, 1 + 2 * count};
}

static struct rank_moves chunk_of(const struct rank_moves *moves, size_t from) {
    struct rank_moves chunk = *moves;
    chunk.moves += from;
    chunk.count = moves->count - from < MOVE_CHUNK ? moves->count - from : MOVE_CHUNK;
    chunk.known = 0;
    return chunk;
}

static enum status read_filled(struct rank_store *store, const struct redis_reply *reply,
                               struct rank_moves *chunk, struct scope in) {
    if (bytes_equal(reply->text, BYTES("lost")))
        return built_by_other(in);
    if (bytes_equal(reply->text, BYTES("added"))) {
        for (size_t i = 0; i < chunk->count; i++)
            chunk->moves[i].moved = RANK_MOVED;
        return OK;
    }
    if (!bytes_equal(reply->text, BYTES("known")))
        return malformed(in);
    chunk->known = chunk->count;
    return rank_store_move(store, chunk, in);
}

enum status rank_store_fill(struct rank_store *store, struct rank_moves *moves, struct scope in) {
    struct script_call calls[MOVE_CALLS];
    struct redis_reply replies[MOVE_CALLS];
    enum status status = OK;
    moves->known = 0;
    for (size_t from = 0; from < moves->count && status == OK;) {
        size_t count = 0, first = from;
        for (; count < MOVE_CALLS && from < moves->count; from += MOVE_CHUNK)
            calls[count++] = fill_call(store, moves, from, in.arena);
        status = call_all(store, calls, count, in, replies);
        for (size_t i = 0; i < count && status == OK; i++) {
            struct rank_moves chunk = chunk_of(moves, first + i * MOVE_CHUNK);
            status = read_filled(store, &replies[i], &chunk, in);
            moves->known += chunk.known;
        }
    }
    return status;
}

/* --- one, with its ranks --- */

/* Dense counts that are not whole are none: look-ups make them so. */
static void read_ranks(const struct redis_reply *reply, struct rank_ranked_move *move) {
    struct action_ranks *ranks = move->ranks;
    bool grouped = number_at(reply, 5) != 0;
    move->move.moved = (enum rank_moved)number_at(reply, 1);
    ranks->counted =
        is_state(reply, "w") && number_at(reply, 6) != 0 && (grouped || !ranks->groups);
    read_place(element(reply, 2), &ranks->before);
    read_place(element(reply, 3), &ranks->after);
    ranks->total = number_at(reply, 4);
}

enum status rank_store_move_ranked(struct rank_store *store, struct rank_ranked_move *move,
                                   struct scope in) {
    struct bytes args[MOVE_ARGS + 3];
    struct redis_reply reply;
    unsigned parts = move->ranks->group_parts != 0 ? move->ranks->group_parts : 1;
    args[0] = number_text_of(in.arena, parts);
    args[1] = number_text_of(in.arena, (uint64_t)(clock_now_ms() / 1000));
    args[2] = (struct bytes){0};
    args[3] = move->was;
    put_move_args(args + MOVE_ARGS, &move->move, in.arena);
    struct script_call call = {&store->scripts.move, move->partition, args, MOVE_ARGS + 3};
    enum status status = call_one(store, &call, in, &reply);
    if (status == OK && (reply.type != REDIS_ARRAY || reply.count != 7))
        status = malformed(in);
    if (status == OK)
        read_ranks(&reply, move);
    return status;
}

enum status rank_store_forget(struct rank_store *store, struct bytes partition,
                              const struct rank_move *move, struct scope in) {
    struct bytes args[] = {move->member, version_bytes(in.arena, move->version)};
    struct script_call call = {&store->scripts.forget, partition, args, 2};
    struct redis_reply reply;
    return call_one(store, &call, in, &reply);
}

/* --- groups --- */

/* Makes the groups of a ranking that has none yet, some at a time, so that nobody waits long. */
static enum status make_groups(struct rank_store *store, struct bytes partition, struct scope in) {
    struct bytes chunk = number_text_of(in.arena, GROUP_CHUNK);
    struct script_call call = {&store->scripts.group, partition, &chunk, 1};
    enum status status = OK;
    for (bool whole = false; !whole && status == OK;) {
        struct redis_reply reply;
        status = call_one(store, &call, in, &reply);
        whole = status == OK && redis_reply_number(&reply) != 0;
    }
    return status;
}

/* --- looking --- */

static struct script_call look_call(struct rank_store *store, const struct rank_look *look,
                                    struct arena *arena) {
    size_t count = 2 + 2 * look->count;
    struct bytes *args = arena_alloc(arena, count * sizeof(*args));
    args[0] = number_text_of(arena, look->group_parts);
    args[1] = look->groups ? BYTES("1") : BYTES("0");
    for (size_t i = 0; i < look->count; i++) {
        args[2 + 2 * i] = look->as_if ? BYTES("k") : BYTES("m");
        args[3 + 2 * i] = look->names[i];
    }
    return (struct script_call){&store->scripts.look, look->partition, args, count};
}

static enum status read_look(const struct redis_reply *reply, struct rank_look *look,
                             struct scope in) {
    if (reply->count != 1 + 2 * look->count)
        return malformed(in);
    look->keys = ARENA_ARRAY(in.arena, struct bytes, look->count + 1);
    look->places = ARENA_ARRAY(in.arena, struct rank_reply, look->count + 1);
    for (size_t i = 0; i < look->count; i++) {
        look->keys[i] = element(reply, 1 + 2 * i)->text;
        read_place(element(reply, 2 + 2 * i), &look->places[i]);
    }
    return OK;
}

enum status rank_store_look(struct rank_store *store, struct rank_look *look, struct scope in) {
    struct script_call call = look_call(store, look, in.arena);
    enum status status = OK;
    while (status == OK) {
        struct redis_reply reply;
        status = call_one(store, &call, in, &reply);
        if (status != OK)
            break;
        if (reply.type != REDIS_ARRAY || reply.count == 0)
            return malformed(in);
        if (is_state(&reply, "w"))
            return read_look(&reply, look, in);
        if (!is_state(&reply, "g"))
            return being_built(in);
        status = make_groups(store, look->partition, in);
    }
    return status;
}

/* --- ranges --- */

static void read_keys(const struct redis_reply *list, struct rank_range *range,
                      struct arena *arena) {
    range->count = list->type == REDIS_ARRAY ? list->count : 0;
    range->keys = ARENA_ARRAY(arena, struct bytes, range->count + 1);
    for (size_t i = 0; i < range->count; i++)
        range->keys[range->backward ? range->count - 1 - i : i] = list->elements[i].text;
}

enum status rank_store_range(struct rank_store *store, struct rank_range *range, struct scope in) {
    struct bytes args[] = {range->low,
                           range->high,
                           number_text_of(in.arena, range->skip),
                           number_text_of(in.arena, range->skip_end),
                           range->count_only ? BYTES("-1") : number_text_of(in.arena, range->limit),
                           range->backward ? BYTES("1") : BYTES("0")};
    struct script_call call = {&store->scripts.page, range->partition, args, 6};
    struct redis_reply reply;
    enum status status = call_one(store, &call, in, &reply);
    if (status != OK)
        return status;
    if (reply.type != REDIS_ARRAY || reply.count == 0)
        return malformed(in);
    if (!is_state(&reply, "w"))
        return being_built(in);
    range->total = number_at(&reply, 1);
    read_keys(element(&reply, 2), range, in.arena);
    return OK;
}

/* --- building --- */

enum status rank_store_begin(struct rank_store *store, struct bytes partition, struct bytes token,
                             struct scope in, enum rank_begin *began) {
    struct script_call call = {&store->scripts.begin, partition, &token, 1};
    struct redis_reply reply;
    enum status status = call_one(store, &call, in, &reply);
    if (status == OK)
        *began = (enum rank_begin)redis_reply_number(&reply);
    return status;
}

enum status rank_store_finish(struct rank_store *store, const struct rank_finish *finish,
                              struct scope in) {
    struct bytes args[] = {finish->token, finish->whole ? BYTES("1") : BYTES("0")};
    struct script_call call = {&store->scripts.finish, finish->partition, args, 2};
    struct redis_reply reply;
    enum status status = call_one(store, &call, in, &reply);
    if (status == OK && finish->whole && redis_reply_number(&reply) == 0)
        return failure_set(in.failure, in.arena, CONFLICT, "The ranking was lost meanwhile");
    return status;
}

enum status rank_store_try(struct rank_store *store, struct scope in) {
    struct script_call call = {&store->scripts.trial, BYTES("gametable.none"), NULL, 0};
    struct redis_reply reply;
    enum status status = call_one(store, &call, in, &reply);
    if (status == OK)
        return OK;
    return failure_set(in.failure, in.arena, status,
                       "the ranking does not work in this Redis (%.*s): docs/scale-out.md says "
                       "which commands and keys its user needs; it has to be a master",
                       BYTES_ARG(in.failure->text));
}

/* --- a server that may have lost something --- */

static enum status doubt_keys(struct rank_store *store, const struct redis_address *address,
                              const struct redis_reply *keys, struct scope in) {
    struct bytes *commands = ARENA_ARRAY(in.arena, struct bytes, keys->count + 1);
    struct redis_reply *replies = ARENA_ARRAY(in.arena, struct redis_reply, keys->count + 1);
    struct redis_request request = {.commands = commands, .count = keys->count, .at = address};
    for (size_t i = 0; i < keys->count; i++) {
        struct buf command = {0};
        redis_command_words(&command, BYTES("HDEL"), keys->elements[i].text, BYTES("state"));
        commands[i] = arena_copy(in.arena, buf_bytes(&command));
        buf_release(&command);
    }
    return keys->count == 0 ? OK : redis_ask_at(store->redis, &request, replies, in);
}

enum status rank_store_doubt_server(struct rank_store *store, const struct redis_address *address,
                                    struct scope in) {
    struct bytes cursor = BYTES("0");
    struct bytes pattern = arena_printf(in.arena, "gt:{%.*s/*:m", BYTES_ARG(store->table));
    enum status status;
    do {
        struct buf command = {0};
        struct redis_reply reply;
        redis_command_words(&command, BYTES("SCAN"), cursor, BYTES("MATCH"), pattern,
                            BYTES("COUNT"), BYTES("1000"));
        struct bytes bytes = arena_copy(in.arena, buf_bytes(&command));
        buf_release(&command);
        struct redis_request request = {.commands = &bytes, .count = 1, .at = address};
        status = redis_ask_at(store->redis, &request, &reply, in);
        if (status == OK && (reply.type != REDIS_ARRAY || reply.count != 2))
            status = malformed(in);
        if (status == OK)
            status = doubt_keys(store, address, &reply.elements[1], in);
        if (status == OK)
            cursor = reply.elements[0].text;
    } while (status == OK && !bytes_equal(cursor, BYTES("0")));
    return status;
}

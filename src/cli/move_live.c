#include "cli/move_live.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/http_client.h"
#include "cli/move_compare.h"
#include "table/change.h"
#include "json/attribute.h"

#include <unistd.h>

enum { WAIT_US = 50000, WAIT_MAX_MS = 60 * 1000 };

/* --- the servers --- */

static struct bytes take_url(struct bytes *from) {
    size_t comma = bytes_find(*from, BYTES(","));
    struct bytes url = comma == SIZE_MAX ? *from : bytes_of(from->data, comma);
    *from = bytes_skip(*from, comma == SIZE_MAX ? from->size : comma + 1);
    while (url.size != 0 && url.data[url.size - 1] == '/')
        url.size--;
    return url;
}

enum status move_live_open(const struct move_live *live, const char *table, struct scope in,
                           struct engine **out) {
    struct bytes rest = bytes_str(live->urls);
    struct remote_settings settings = {.endpoint = arena_str(in.arena, take_url(&rest)),
                                       .region = "us-east-1",
                                       .ca = live->cacert,
                                       .key = live->key != NULL ? live->key : "move:move",
                                       .table = table,
                                       .without_ranking = true};
    if (rest.size != 0)
        return failure_set(in.failure, in.arena, INVALID,
                           "a data folder has one server: --live names %s", live->urls);
    return remote_open(&settings, in, out);
}

/* *waiting: what the server has still to write. */
static enum status tell_server(const struct move_live *live, struct bytes url, bool on,
                               struct scope in, uint64_t *waiting) {
    struct http_server server = {
        .url = arena_str(in.arena, url), .key = live->key, .cacert = live->cacert};
    struct http_client_request request = {.server = &server,
                                          .method = "POST",
                                          .path = "/admin/read-only",
                                          .body = on ? BYTES("{\"on\":true}")
                                                     : BYTES("{\"on\":false}")};
    struct http_client_answer answer = {.arena = in.arena};
    struct json json;
    size_t at;
    enum status status = http_client_send_once(&request, &answer);
    if (status != OK)
        return failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(answer.failure.text));
    const struct json *number = NULL;
    if (json_parse(answer.body, in.arena, &json, &at) == OK && answer.status == 200)
        number = json_get(&json, BYTES("waiting"));
    if (number == NULL || number->type != JSON_NUMBER)
        return failure_set(in.failure, in.arena, DENIED,
                           "%s cannot be made read-only (%d): a server with keys wants --key "
                           "ID:SECRET of one that may administer all tables",
                           server.url, answer.status);
    *waiting = bytes_equal(number->text, BYTES("0")) ? 0 : 1;
    return OK;
}

/* Once around all of them. */
static enum status tell_servers(const struct move_live *live, bool on, struct scope in,
                                uint64_t *waiting) {
    struct bytes rest = bytes_str(live->urls);
    enum status status = OK;
    *waiting = 0;
    while (rest.size != 0 && status == OK) {
        uint64_t some = 0;
        status = tell_server(live, take_url(&rest), on, in, &some);
        *waiting += some;
    }
    return status;
}

enum status move_live_read_only(struct move_live *live, bool on, struct scope in) {
    uint64_t waiting = 0;
    int64_t until_us = clock_ticks_us() + WAIT_MAX_MS * INT64_C(1000);
    if (on && live->since_us == 0)
        live->since_us = clock_ticks_us();
    enum status status = tell_servers(live, on, in, &waiting);
    while (status == OK && on && waiting != 0 && clock_ticks_us() < until_us) {
        usleep(WAIT_US);
        status = tell_servers(live, on, in, &waiting);
    }
    if (status == OK && on && waiting != 0)
        status = failure_set(in.failure, in.arena, IO_FAILED,
                             "a server does not come to an end with what it writes");
    if (status != OK && on) {
        struct failure ignored = {0};
        tell_servers(live, false, (struct scope){in.arena, &ignored}, &waiting);
    }
    if (!on || status != OK)
        live->since_us = 0;
    return status;
}

/* --- what was written meanwhile --- */

static struct bytes key_text(const struct item *key, struct arena *arena) {
    struct buf text = {0};
    attribute_write_item(&text, key);
    struct bytes copy = arena_copy(arena, buf_bytes(&text));
    buf_release(&text);
    return copy;
}

/* The last change of each item: one commit writes an item once. */
static size_t take_last(const struct remote_followed *followed, const struct move_catch_up *on,
                        struct action *actions, struct arena *arena) {
    struct map seen = {0};
    size_t count = 0;
    for (size_t i = followed->count; i-- > 0;) {
        const struct remote_followed_change *change = &followed->changes[i];
        struct bytes key = key_text(&change->key, arena);
        if (on->stays(&change->key) || map_get(&seen, key) != NULL)
            continue;
        map_put(&seen, key, actions);
        if (on->told != NULL)
            move_keys_add(on->told, &change->key);
        bool removed = change->item.count == 0;
        actions[count++] = (struct action){.kind = removed ? ACTION_DELETE : ACTION_PUT,
                                           .by_owner = true,
                                           .table = on->table,
                                           .item = removed ? change->key : change->item};
    }
    map_release(&seen);
    return count;
}

static enum status apply(const struct remote_followed *followed, const struct move_catch_up *on,
                         struct scope in) {
    struct action *actions = ARENA_ARRAY(in.arena, struct action, followed->count + 1);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = actions, .divisible = true};
    change.action_count = take_last(followed, on, actions, in.arena);
    *on->count += change.action_count;
    if (change.action_count == 0 || engine_submit_wait(on->target, &change) == OK)
        return OK;
    return failure_set(in.failure, in.arena, change.failure.status, "%.*s",
                       BYTES_ARG(change.failure.text));
}

enum status move_live_catch_up(struct move_live *live, const struct move_catch_up *on,
                               struct scope in) {
    struct arena arena;
    struct remote_followed followed = {0};
    enum status status = OK;
    arena_init(&arena);
    while (status == OK && !followed.caught_up && !atomic_load(on->stop)) {
        struct failure failure = {0};
        struct scope step = {&arena, &failure};
        status = remote_follower_read(live->follower, step, &followed);
        if (status == OK)
            status = apply(&followed, on, step);
        if (status != OK)
            failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(failure.text));
        arena_reset(&arena);
    }
    arena_release(&arena);
    return status;
}

/* Who may what: one table for all front ends, held against what they declare and do.
 *
 * Callers, by letter:
 *
 *     a  a key for everything             c  a client's key
 *     r  a key that reads the game        p  the token of the player ann
 *     w  a key that writes to the game    k  both of these
 *     l  a key that reads and writes,     n  nobody: no key and no token
 *        kept to the board "arcade"       u  anybody, on a server without keys
 *     o  a key for another table          t  the same with the token of ann
 *
 * A string of them names those who may. A new route or command fails here until it has a line. */
#include "test.h"

#include "api/access_control.h"
#include "api/dynamodb/operation.h"
#include "api/live/live_hub.h"
#include "api/redis/redis_call.h"
#include "api/rest/rest_fixture.h"
#include "api/rest/rest_route.h"
#include "base/clock.h"
#include "game/player/player.h"

#define EVERYBODY "arwlocpknut"
#define KEYS      "arwlocu"
#define READ_GAME "arcpkut"
#define READ_ALL  "aru"
#define WRITE_ALL "awu"
#define READ_OWN  "arpkut"
#define WRITE_OWN "awpkut"

/* A line of the table. `body` and `query` with %s for a player's name: where else than in the path
 * the player is named. */
static const struct route_line {
    const char *id, *may;
    const char *may_other; /* to bob; NULL: the same */
    const char *query, *body;
} route_lines[] = {
    {"index", EVERYBODY},
    {"openapi", EVERYBODY},
    {"getServer", READ_GAME},
    {"openSession", EVERYBODY, .body = "{\"id\":\"%s\",\"secret\":\"\"}"},
    {"getSession", EVERYBODY},
    {"closeSession", EVERYBODY},
    {"getHistory", "au"},
    {"listOperations", "au"},
    {"listSlow", "au"},
    {"clearSlow", "au"},
    {"tailRequests", "au"},
    {"listAudit", "au"},
    {"listHot", "au"},
    {"getCosts", "au"},
    {"listKeys", "au"},
    {"createKey", "au"},
    {"changeKey", "au"},
    {"revokeKey", "au"},
    {"listSettings", "au"},
    {"listClients", "au"},
    {"listBoards", READ_GAME},
    {"createBoard", WRITE_ALL},
    {"listInstances", READ_ALL},
    {"getBoard", READ_GAME},
    {"putBoard", WRITE_ALL},
    {"patchBoard", WRITE_ALL},
    {"deleteBoard", WRITE_ALL},
    {"listEntries", READ_GAME},
    {"clearEntries", WRITE_ALL},
    {"sealPeriod", WRITE_ALL},
    {"queryEntries", READ_GAME},
    {"loadEntries", WRITE_ALL},
    {"getEntry", READ_GAME},
    {"putEntry", WRITE_OWN, WRITE_ALL},
    {"deleteEntry", WRITE_ALL},
    {"aroundEntry", READ_GAME},
    {"rankOfScore", READ_GAME},
    {"entryAtPercentile", READ_GAME},
    {"histogram", READ_GAME},
    {"listPeriods", READ_GAME},
    {"submitScore", WRITE_OWN, WRITE_ALL, .body = "{\"player\":\"%s\",\"score\":1}"},
    {"submitScores", WRITE_OWN, WRITE_ALL,
     .body = "{\"scores\":[{\"player\":\"%s\",\"score\":1,\"board\":\"arcade\"}]}"},
    {"listGamePlays", READ_ALL},
    {"findPlayer", READ_ALL},
    {"createPlayer", WRITE_ALL},
    {"getPlayer", READ_OWN, READ_ALL},
    {"putPlayer", WRITE_OWN, WRITE_ALL},
    {"patchPlayer", WRITE_OWN, WRITE_ALL},
    {"erasePlayer", WRITE_ALL},
    {"playerStats", READ_OWN, READ_ALL},
    {"playerBoards", READ_OWN, READ_ALL},
    {"playerPlays", READ_OWN, READ_ALL},
    {"playerRooms", READ_OWN, READ_ALL},
    {"exportPlayer", READ_OWN, READ_ALL},
    {"hidePlayer", WRITE_ALL},
    {"showPlayer", WRITE_ALL},
    {"createToken", "au"},
    {"openPlay", WRITE_OWN, WRITE_ALL, .body = "{\"player\":\"%s\",\"game\":\"tetris\"}"},
    {"getPlay", READ_OWN, READ_ALL, .query = "?player=%s"},
    {"endPlay", WRITE_OWN, WRITE_ALL, .body = "{\"player\":\"%s\"}"},
    {"listKinds", EVERYBODY},
    {"listRooms", READ_GAME},
    {"createRoom", WRITE_OWN, WRITE_ALL,
     .body = "{\"player\":\"%s\",\"name\":\"N\",\"kind\":\"snakes\"}"},
    {"getRoom", READ_GAME},
    {"joinRoom", WRITE_OWN, WRITE_ALL, .body = "{\"player\":\"%s\",\"name\":\"N\"}"},
    {"leaveRoom", WRITE_OWN, WRITE_ALL},
    {"closeRoom", WRITE_ALL},
};

/* Commands say who they are by a key only. Their keys are "arcade", then "other". */
static const struct command_line {
    const char *names, *may;
    const char *may_other; /* NULL: the same */
} command_lines[] = {
    {"quit reset auth hello", "arwlocnu"},
    {"ping echo select time wait multi exec discard unwatch", KEYS},
    {"client|getname client|help client|id client|info client|no-touch client|reply client|setinfo "
     "client|setname",
     KEYS},
    {"command command|count command|docs command|getkeys command|getkeysandflags command|help "
     "command|info command|list",
     KEYS},
    {"config|help object|help memory|help script|help", KEYS},
    /* What a script touches is decided for each command that it runs. */
    {"eval evalsha eval_ro evalsha_ro script|debug script|exists script|load", KEYS},
    {"script|flush script|kill memory|stats memory|doctor memory|purge memory|malloc-stats",
     "arwu"},
    {"client|caching client|getredir client|tracking client|trackinginfo acl|whoami acl|cat "
     "acl|genpass acl|help slowlog|help latency|help module|help module|list role cluster lastsave "
     "waitaof",
     KEYS},
    {"client|pause client|unpause acl|list acl|users acl|getuser acl|setuser acl|deluser acl|load "
     "acl|save acl|log acl|dryrun slowlog|get slowlog|len slowlog|reset latency|doctor "
     "latency|graph latency|histogram latency|history latency|latest latency|reset module|load "
     "module|loadex module|unload replicaof save bgsave bgrewriteaof shutdown debug monitor",
     "au"},
    {"unsubscribe punsubscribe sunsubscribe pubsub|help", KEYS},
    {"subscribe psubscribe ssubscribe pubsub|channels pubsub|numpat pubsub|numsub "
     "pubsub|shardchannels pubsub|shardnumsub",
     READ_ALL},
    {"publish spublish", WRITE_ALL},
    {"client|kill client|list client|no-evict client|unblock config|get config|resetstat "
     "config|rewrite config|set",
     "au"},
    {"info", "arwu"},
    {"keys dbsize randomkey scan", READ_ALL},
    {"flushdb flushall", WRITE_ALL},
    {"zcard zscore zmscore zrank zrevrank zmrank zttl zexpiretime zrange zrevrange zrangebyscore "
     "zrevrangebyscore "
     "zrangebylex zrevrangebylex zcount zlexcount zrandmember zscan zunion zinter zdiff zintercard "
     "exists touch type ttl pttl expiretime pexpiretime watch object|encoding object|freq "
     "object|idletime object|refcount memory|usage",
     "arlu", READ_ALL},
    {"get mget strlen getrange substr lcs", "arlu", READ_ALL},
    {"set getex getdel getset setnx setex psetex mset msetnx append setrange incr incrby decr "
     "decrby incrbyfloat move",
     "awlu", WRITE_ALL},
    {"hget hmget hexists hstrlen hlen hgetall hkeys hvals hrandfield hscan httl hpttl hexpiretime "
     "hpexpiretime sismember smismember scard smembers srandmember sscan sinter sunion sdiff "
     "sintercard",
     "arlu", READ_ALL},
    {"hset hmset hsetnx hdel hincrby hincrbyfloat hexpire hpexpire hexpireat hpexpireat hpersist "
     "zexpire zexpireat zpersist "
     "sadd srem smove spop sinterstore sunionstore sdiffstore",
     "awlu", WRITE_ALL},
    {"zadd zincrby zrem zrangestore zremrangebyrank zremrangebyscore zremrangebylex zpopmin "
     "zpopmax "
     "zmpop bzpopmin bzpopmax bzmpop zunionstore zinterstore zdiffstore del unlink rename renamenx "
     "copy expire pexpire expireat pexpireat persist",
     "awlu", WRITE_ALL},
};

/* --- callers --- */

#define SECRET "0123456789abcdef"
static const char keys_text[] =
    "{\"keys\":["
    "{\"id\":\"a\",\"secret\":\"" SECRET "a\",\"tables\":[\"*\"],\"allow\":[\"all\"]},"
    "{\"id\":\"r\",\"secret\":\"" SECRET "r\",\"tables\":[\"game*\"],\"allow\":[\"read\"]},"
    "{\"id\":\"w\",\"secret\":\"" SECRET "w\",\"tables\":[\"game*\"],\"allow\":[\"write\"]},"
    "{\"id\":\"l\",\"secret\":\"" SECRET
    "l\",\"tables\":[\"game*\"],\"allow\":[\"read\",\"write\"],"
    "\"partitions\":[\"BOARD#arcade\",\"KEY#arcade\"]},"
    "{\"id\":\"o\",\"secret\":\"" SECRET "o\",\"tables\":[\"other\"],\"allow\":[\"all\"]},"
    "{\"id\":\"c\",\"secret\":\"" SECRET "c\",\"tables\":[\"*\"],\"allow\":[\"all\"],"
    "\"role\":\"client\"}]}";

static struct arena arena;
static struct keys *keys;
static struct rest_fixture closed, open_to_all;
static struct bytes token;

static int begin(void **state) {
    (void)state;
    struct failure failure = {0};
    struct keyring *ring = keyring_new();
    arena_init(&arena);
    assert_int_equal(
        keyring_read(ring, bytes_str(keys_text), "keys", (struct scope){&arena, &failure}), OK);
    keys = keys_new(ring);
    return 0;
}

static int end(void **state) {
    (void)state;
    keys_free(keys);
    arena_release(&arena);
    return 0;
}

static bool has_key(char who) {
    return strchr("arwloc", who) != NULL || who == 'k';
}

static struct bytes pair_of(char who) {
    char id = who == 'k' ? 'c' : who;
    return arena_printf(&arena, "%c:" SECRET "%c", id, id);
}

/* --- REST --- */

static struct bytes filled(const char *format, const char *player) {
    size_t at = bytes_find(bytes_str(format), BYTES("%s"));
    if (at == SIZE_MAX)
        return bytes_str(format);
    return arena_printf(&arena, "%.*s%s%s", (int)at, format, player, format + at + 2);
}

static struct bytes path_of(const struct route *route, const char *player, const char *query) {
    struct buf path = {0};
    buf_lit(&path, "/v1");
    for (const char *at = route->path; *at != '\0'; at++) {
        if (*at != '{') {
            buf_byte(&path, (uint8_t)*at);
            continue;
        }
        bool of_player = strncmp(at, "{player}", 8) == 0 || strncmp(at, "{member}", 8) == 0;
        buf_put(&path, of_player ? bytes_str(player) : BYTES("50"));
        at = strchr(at, '}');
    }
    if (query != NULL)
        buf_put(&path, filled(query, player));
    struct bytes copy = arena_copy(&arena, buf_bytes(&path));
    buf_release(&path);
    return copy;
}

static bool is_refused(struct rest_fixture *asking, int status) {
    bool within = bytes_find(buf_bytes(&asking->body), BYTES("\"status\":403")) != SIZE_MAX;
    return status == 401 || status == 403 || within; /* one of a batch */
}

static bool rest_lets_in(char who, const struct route *route, const struct route_line *line,
                         const char *player) {
    struct rest_fixture *asking = strchr("ut", who) != NULL ? &open_to_all : &closed;
    asking->authorization = asking->player_token = (struct bytes){0};
    if (has_key(who))
        asking->authorization = arena_printf(&arena, "Bearer %.*s", BYTES_ARG(pair_of(who)));
    if (strchr("pkt", who) != NULL)
        asking->player_token = token;
    struct bytes body = line->body != NULL ? filled(line->body, player) : (struct bytes){0};
    rest_fixture_now = asking;
    int status = rest_ask(asking, bytes_str(route->method), path_of(route, player, line->query),
                          "application/json", body);
    return !is_refused(asking, status);
}

static void check_route(const struct route *route, const struct route_line *line) {
    for (const char *who = EVERYBODY; *who != '\0'; who++) {
        bool may = strchr(line->may, *who) != NULL, may_other = may;
        if (line->may_other != NULL)
            may_other = strchr(line->may_other, *who) != NULL;
        if (rest_lets_in(*who, route, line, "ann") != may ||
            rest_lets_in(*who, route, line, "bob") != may_other)
            fail_msg("%s: %c", route->id, *who);
    }
}

static const struct route_line *line_of(const char *id) {
    for (size_t i = 0; i < sizeof route_lines / sizeof route_lines[0]; i++)
        if (strcmp(route_lines[i].id, id) == 0)
            return &route_lines[i];
    return NULL;
}

static void test_routes(void **state) {
    (void)state;
    struct buf text = {0};
    rest_fixture_open_keys(&closed, keys);
    rest_fixture_open(&open_to_all);
    player_token(closed.game, BYTES("ann"), clock_now_ms() + 3600000, &text);
    token = arena_copy(&arena, buf_bytes(&text));
    buf_release(&text);
    for (size_t i = 0; i < rest_route_count; i++) {
        const struct route_line *line = line_of(rest_routes[i].id);
        assert_int_not_equal(rest_routes[i].touches, TOUCHES_UNDECLARED);
        if (line == NULL)
            fail_msg("%s has no line", rest_routes[i].id);
        check_route(&rest_routes[i], line);
    }
    assert_int_equal(rest_route_count, sizeof route_lines / sizeof route_lines[0]);
    rest_fixture_close(&closed);
    rest_fixture_close(&open_to_all);
}

/* --- Redis --- */

static bool is_named(const char *names, struct bytes name) {
    struct bytes rest = bytes_str(names);
    while (rest.size != 0) {
        size_t end = bytes_find(rest, BYTES(" "));
        struct bytes one = bytes_of(rest.data, end == SIZE_MAX ? rest.size : end);
        if (bytes_equal(one, name))
            return true;
        rest = bytes_skip(rest, one.size + (end != SIZE_MAX));
    }
    return false;
}

/* As few arguments as it takes, all of them the key. */
static void make_args(const struct redis_command *command, struct bytes key, struct bytes args[8],
                      size_t *count) {
    *count = (size_t)abs(command->arity);
    assert_in_range(*count, 1, 8);
    for (size_t i = 0; i < *count; i++)
        args[i] = key;
    if (command->keys.counted != 0)
        args[command->keys.counted] = BYTES("1");
}

static bool redis_lets_in(char who, const struct redis_command *command, struct bytes key) {
    struct game game = {.table = BYTES("gametable")};
    struct redis_frontend frontend = {.game = &game, .settings.keys = who == 'u' ? NULL : keys};
    struct redis_client client = {.frontend = &frontend};
    struct bytes args[8];
    struct redis_call call = {.frontend = &frontend,
                              .client = &client,
                              .command = command,
                              .args = args,
                              .arena = &arena};
    make_args(command, key, args, &call.count);
    if (has_key(who))
        assert_true(client_identify(&client, bytes_of(&who, 1), bytes_skip(pair_of(who), 2)));
    bool lets_in = call_check(&call) == OK;
    assert_true(call.allowed == lets_in);
    return lets_in;
}

static void check_command(const struct redis_command *command) {
    struct bytes name = redis_command_name(command, &arena);
    const struct command_line *line = NULL;
    for (size_t i = 0; i < sizeof command_lines / sizeof command_lines[0]; i++)
        if (is_named(command_lines[i].names, name))
            line = &command_lines[i];
    if (line == NULL)
        fail_msg("%.*s has no line", BYTES_ARG(name));
    /* COMMAND tells clients what is open to strangers. */
    assert_true(((command->flags & COMMAND_NO_AUTH) != 0) == (command->touches == TOUCHES_NOTHING));
    for (const char *who = "arwlocnu"; *who != '\0'; who++) {
        bool may = strchr(line->may, *who) != NULL, may_other = may;
        if (line->may_other != NULL)
            may_other = strchr(line->may_other, *who) != NULL;
        if (redis_lets_in(*who, command, BYTES("arcade")) != may ||
            redis_lets_in(*who, command, BYTES("other")) != may_other)
            fail_msg("%.*s: %c", BYTES_ARG(name), *who);
    }
}

static void test_commands(void **state) {
    (void)state;
    const struct redis_command *command;
    for (size_t at = 0; (command = redis_command_next(&at)) != NULL;) {
        assert_int_not_equal(command->touches, TOUCHES_UNDECLARED);
        if (command->run != NULL)
            check_command(command);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name; sub++)
            check_command(sub);
    }
}

/* What was queued under keys that have been replaced is asked about again by EXEC. */
static void test_exec_asks_again(void **state) {
    (void)state;
    struct failure failure = {0};
    struct game game = {.table = BYTES("gametable")};
    struct redis_frontend frontend = {.game = &game, .settings.keys = keys};
    struct redis_client client = {.frontend = &frontend};
    struct bytes zadd[] = {BYTES("zadd"), BYTES("arcade"), BYTES("1"), BYTES("ann")};
    struct queued_command queued = {.request = {redis_command_find(BYTES("zadd")), zadd, 4}};
    struct bytes exec[] = {BYTES("exec")};
    struct redis_call call = {.frontend = &frontend,
                              .client = &client,
                              .command = redis_command_find(BYTES("exec")),
                              .args = exec,
                              .count = 1,
                              .arena = &arena};
    client.queue = (struct multi_queue){.open = true, .list = &queued, .count = 1};
    assert_true(client_identify(&client, BYTES("w"), BYTES(SECRET "w")));
    assert_int_equal(call_check(&call), OK);
    struct keyring *fewer = keyring_new();
    struct bytes text = BYTES("{\"keys\":[{\"id\":\"w\",\"secret\":\"" SECRET
                              "w\",\"tables\":[\"*\"],\"allow\":[\"read\"]}]}");
    assert_int_equal(keyring_read(fewer, text, "keys", (struct scope){&arena, &failure}), OK);
    keys_replace(keys, fewer);
    assert_int_not_equal(call_check(&call), OK);
    assert_true(bytes_starts(call.error, BYTES("NOPERM ")));
}

/* --- DynamoDB, live lines --- */

/* What an operation asks of the engine is the guard's (test_guard.c); these ask nothing of it. */
static void test_operations(void **state) {
    (void)state;
    static const char same[] = "DescribeEndpoints DescribeGlobalTable DescribeGlobalTableSettings "
                               "DescribeLimits ListGlobalTables";
    const struct operation *operation;
    for (size_t i = 0; (operation = operation_at(i)) != NULL; i++)
        if (operation->run != NULL)
            assert_int_equal(operation->touches,
                             is_named(same, operation->name) ? TOUCHES_CONNECTION : TOUCHES_ENGINE);
    static const char *const streams[] = {"DescribeStream", "GetRecords", "GetShardIterator",
                                          "ListStreams"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        assert_int_equal(operation_find_streams(bytes_str(streams[i]))->touches, TOUCHES_ENGINE);
}

static void test_topics(void **state) {
    (void)state;
    assert_int_equal(topic_board.touches, TOUCHES_GAME);
    assert_int_equal(topic_room.touches, TOUCHES_ROOM);
}

/* --- by itself --- */

static enum denial ask_about(const struct caller *caller, struct touch touch) {
    return access_decide(caller, &touch);
}

/* What nobody has declared is nobody's, whoever asks. */
static void test_undeclared(void **state) {
    (void)state;
    const struct access_key *all = keyring_find(keys_now(keys), BYTES("a"));
    struct caller callers[] = {{.open = true}, {.key = all}, {0}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ask_about(&callers[i], (struct touch){0}), DENIAL_UNDECLARED);
}

/* The token of a seat is good for that room and for nothing else, and no key replaces it. */
static void test_seats(void **state) {
    (void)state;
    struct caller seated = {.open = true, .room = BYTES("BCDFG"), .player = BYTES("ann")};
    struct caller operator= {.key = keyring_find(keys_now(keys), BYTES("a"))};
    struct touch game = {TOUCHES_GAME, ACCESS_READ, BYTES("game")};
    assert_int_equal(ask_about(&seated, (struct touch){TOUCHES_SEAT, .room = BYTES("BCDFG")}),
                     DENIAL_NONE);
    assert_int_equal(ask_about(&seated, (struct touch){TOUCHES_SEAT, .room = BYTES("BCDFH")}),
                     DENIAL_SEAT);
    assert_int_equal(ask_about(&seated, game), DENIAL_SEAT);
    assert_int_equal(ask_about(&seated, (struct touch){TOUCHES_TABLE, .room = BYTES("BCDFG")}),
                     DENIAL_SEAT);
    assert_int_equal(ask_about(&operator,(struct touch){TOUCHES_SEAT, .room = BYTES("BCDFG")}),
                     DENIAL_SEAT);
    assert_int_equal(ask_about(&operator, game), DENIAL_NONE);
}

/* A guest comes into one room, and that is all, whatever there is to touch. */
static void test_guests(void **state) {
    (void)state;
    struct caller guest = {.invitation = {.code = BYTES("BCDFG")}};
    for (enum touches what = TOUCHES_NOTHING; what <= TOUCHES_SEAT; what++) {
        struct touch here = {what, ACCESS_READ, BYTES("game"), .room = BYTES("BCDFG")};
        struct touch there = {what, ACCESS_READ, BYTES("game"), .room = BYTES("BCDFH")};
        bool may = what == TOUCHES_ROOM || what == TOUCHES_JOIN;
        assert_true((ask_about(&guest, here) == DENIAL_NONE) == (may || what == TOUCHES_NOTHING));
        assert_true((ask_about(&guest, there) == DENIAL_NONE) == (what == TOUCHES_NOTHING));
    }
    assert_int_equal(ask_about(&guest, (struct touch){TOUCHES_ROOM}), DENIAL_GUEST);
}

/* Why, for each reason there is. */
static void test_reasons(void **state) {
    (void)state;
    const struct keyring *ring = keys_now(keys);
    struct caller reader = {.key = keyring_find(ring, BYTES("r"))};
    struct caller limited = {.key = keyring_find(ring, BYTES("l"))};
    struct caller client = {.key = keyring_find(ring, BYTES("c"))};
    struct caller ann = {.player = BYTES("ann")}, nobody = {0};
    struct touch write = {TOUCHES_TABLE, ACCESS_WRITE, BYTES("game")};
    struct touch read = {TOUCHES_TABLE, ACCESS_READ, BYTES("game")};
    struct touch bob = {TOUCHES_PLAYER, ACCESS_READ, BYTES("game"), .player = BYTES("bob")};
    static const char *const words[] = {[DENIAL_UNKNOWN] = "say who you are",
                                        [DENIAL_ACCESS] = "may not write the table game",
                                        [DENIAL_PARTITION] = "kept to some partitions",
                                        [DENIAL_ROLE] = "for a server's key",
                                        [DENIAL_TOKEN] = "X-Player-Token",
                                        [DENIAL_PLAYER] = "not of that player"};
    assert_int_equal(ask_about(&nobody, read), DENIAL_UNKNOWN);
    assert_int_equal(ask_about(&reader, write), DENIAL_ACCESS);
    assert_int_equal(ask_about(&limited, read), DENIAL_PARTITION);
    assert_int_equal(ask_about(&client, read), DENIAL_ROLE);
    assert_int_equal(ask_about(&ann, read), DENIAL_ROLE);
    assert_int_equal(ask_about(&client, bob), DENIAL_TOKEN);
    assert_int_equal(ask_about(&ann, bob), DENIAL_PLAYER);
    for (enum denial denial = DENIAL_UNKNOWN; denial <= DENIAL_PLAYER; denial++) {
        struct failure failure = {0};
        assert_int_equal(access_explain(denial, &write, (struct scope){&arena, &failure}), DENIED);
        assert_true(bytes_find(failure.text, bytes_str(words[denial])) != SIZE_MAX);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_routes),     TEST(test_commands), TEST(test_exec_asks_again),
        TEST(test_operations), TEST(test_topics),   TEST(test_undeclared),
        TEST(test_seats),      TEST(test_guests),   TEST(test_reasons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

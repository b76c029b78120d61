#include "api/access_control.h"

#include "base/limits.h"
#include "game/board/board_generation.h"

/* --- what a key may do --- */

/* A full name, or a beginning and a '*'. */
static bool pattern_matches(struct bytes pattern, struct bytes name) {
    if (pattern.size != 0 && pattern.data[pattern.size - 1] == '*')
        return bytes_starts(name, bytes_of(pattern.data, pattern.size - 1));
    return bytes_equal(pattern, name);
}

static bool any_matches(const struct bytes *patterns, size_t count, struct bytes name) {
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(patterns[i], name))
            return true;
    return false;
}

/* Who may reach BOARD#<name> may reach the board's entries, whichever generation
 * (game/board/board_generation.h) they are of. */
static bool reaches_board(const struct access_key *key, struct bytes partition) {
    uint8_t name[LIMIT_PARTITION_KEY_SIZE + 8] = "BOARD#";
    struct bytes board = board_partition_key(partition);
    if (board_partition_generation(partition).size == 0 || board.size > LIMIT_PARTITION_KEY_SIZE)
        return false;
    memcpy(name + 6, board.data, board.size);
    return any_matches(key->partitions, key->partition_count, bytes_of(name, 6 + board.size));
}

/* A key that is kept to partitions reaches items of those; it may also learn what its tables look
 * like, which it needs to ask for its items. */
static bool is_within_partitions(const struct access_key *key, const struct touch *touch) {
    if (key->partition_count == 0 || touch->what == TOUCHES_SCHEMA)
        return true;
    if (touch->what != TOUCHES_PARTITION || touch->partition.data == NULL)
        return false;
    return any_matches(key->partitions, key->partition_count, touch->partition) ||
           reaches_board(key, touch->partition);
}

static enum denial decide_by_key(const struct access_key *key, const struct touch *touch) {
    if (touch->what == TOUCHES_CONNECTION || touch->what == TOUCHES_ENGINE)
        return DENIAL_NONE;
    if ((key->allow & touch->access) != touch->access ||
        !any_matches(key->tables, key->table_count, touch->table))
        return DENIAL_ACCESS;
    return is_within_partitions(key, touch) ? DENIAL_NONE : DENIAL_PARTITION;
}

/* --- what a client and a player may do --- */

static enum denial decide_by_player(const struct caller *caller, const struct touch *touch) {
    if (caller->player.size == 0)
        return DENIAL_TOKEN;
    if (touch->player.size != 0 && !bytes_equal(touch->player, caller->player))
        return DENIAL_PLAYER;
    return DENIAL_NONE;
}

static bool is_client(const struct caller *caller) {
    return caller->player.size != 0 || (caller->key != NULL && caller->key->client);
}

static enum denial decide_by_role(const struct caller *caller, const struct touch *touch) {
    if (!is_client(caller) || touch->what == TOUCHES_GAME)
        return DENIAL_NONE;
    if (touch->what == TOUCHES_PLAYER)
        return decide_by_player(caller, touch);
    bool of_keys = touch->what == TOUCHES_CONNECTION || touch->what == TOUCHES_ENGINE;
    return of_keys && caller->player.size == 0 ? DENIAL_NONE : DENIAL_ROLE;
}

static enum denial decide_by_invitation(const struct caller *caller, const struct touch *touch) {
    bool of_room = touch->what == TOUCHES_ROOM || touch->what == TOUCHES_JOIN;
    return of_room && bytes_equal(caller->invitation.code, touch->room) ? DENIAL_NONE
                                                                        : DENIAL_GUEST;
}

/* --- all of it --- */

/* For everybody but guests a room is part of the game, and a new seat the player's own. */
static struct touch without_rooms(const struct touch *touch) {
    struct touch as = *touch;
    if (touch->what == TOUCHES_ROOM)
        as.what = TOUCHES_GAME;
    else if (touch->what == TOUCHES_JOIN)
        as.what = TOUCHES_PLAYER;
    return as;
}

static enum denial decide_by_seat(const struct caller *caller, const struct touch *touch) {
    bool of_room = touch->what == TOUCHES_SEAT || touch->what == TOUCHES_ROOM;
    bool seated = of_room && caller->room.size != 0 && bytes_equal(caller->room, touch->room);
    return seated ? DENIAL_NONE : DENIAL_SEAT;
}

enum denial access_decide(const struct caller *caller, const struct touch *touch) {
    if (touch->what == TOUCHES_UNDECLARED)
        return DENIAL_UNDECLARED;
    if (touch->what == TOUCHES_NOTHING)
        return DENIAL_NONE;
    if (touch->what == TOUCHES_SEAT || caller->room.size != 0)
        return decide_by_seat(caller, touch);
    if (caller->invitation.code.size != 0)
        return decide_by_invitation(caller, touch);
    if (!caller->open && caller->key == NULL && caller->player.size == 0)
        return DENIAL_UNKNOWN;
    struct touch as = without_rooms(touch);
    enum denial denial = DENIAL_NONE;
    if (caller->key != NULL)
        denial = decide_by_key(caller->key, &as);
    return denial == DENIAL_NONE ? decide_by_role(caller, &as) : denial;
}

bool access_is_partitioned(const struct caller *caller) {
    return caller->key != NULL && caller->key->partition_count != 0;
}

/* --- telling --- */

static const char *verb_of(unsigned access) {
    if ((access & ACCESS_ADMIN) != 0)
        return "administer";
    return (access & ACCESS_WRITE) != 0 ? "write" : "read";
}

enum status access_explain(enum denial denial, const struct touch *touch, struct scope in) {
    static const char *const sentences[] = {
        [DENIAL_UNDECLARED] = "nobody may do this: it does not say what it touches",
        [DENIAL_UNKNOWN] = "say who you are: Authorization: Bearer ID:SECRET, or a player's token",
        [DENIAL_PARTITION] = "this key is kept to some partitions, and this is more than those",
        [DENIAL_ROLE] = "this is for a server's key, not for a client",
        [DENIAL_TOKEN] = "a client does this for the player whose token it sends in X-Player-Token",
        [DENIAL_PLAYER] = "this token is not of that player",
        [DENIAL_SEAT] = "the token is not that of a seat in this room",
        [DENIAL_GUEST] = "an invitation is for one room, and for nothing else",
    };
    if (denial != DENIAL_ACCESS)
        return failure_set(in.failure, in.arena, DENIED, "%s", sentences[denial]);
    if (bytes_equal(touch->table, BYTES("*")))
        return failure_set(in.failure, in.arena, DENIED, "this key may not %s all tables",
                           verb_of(touch->access));
    return failure_set(in.failure, in.arena, DENIED, "this key may not %s the table %.*s",
                       verb_of(touch->access), BYTES_ARG(touch->table));
}

/* The rules that the engine asks on its thread for each item that a client writes. */
#include "game/board/client_writes.h"

#include "base/clock.h"
#include "game/audit_trail.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/board/entry_int.h"
#include "game/board/entry_removals.h"
#include "game/board/entry_rules.h"
#include "game/player/hidden_players.h"
#include "game/record.h"

/* --- entries --- */

/* An entry as a client writes it. */
struct client_write {
    struct write_check *check;
    struct game *game;
    const struct board *board;
    struct entry_write write;
    bool hidden; /* as the client wrote it */
};

static enum status refuse_write(const struct client_write *client, const char *text) {
    return failure_set(client->check->failure, client->check->arena, INVALID, "Board %.*s %s",
                       BYTES_ARG(client->board->instance), text);
}

/* Whether board_find() leads to this partition, and a member to this sort key: else nobody would
 * find the entry. */
static enum status check_key(const struct client_write *client) {
    struct write_check *check = client->check;
    struct bytes pk = item_string(&check->key, GAME_PK), sk = item_string(&check->key, GAME_SK);
    struct bytes member = entry_member_of(sk, check->arena), key;
    if (!bytes_equal(client->board->pk, pk))
        return failure_set(check->failure, check->arena, INVALID,
                           "The entries of board %.*s are at present in partition %.*s",
                           BYTES_ARG(client->board->rules.id), BYTES_ARG(client->board->pk));
    enum status status = entry_key_of(member, (struct scope){check->arena, check->failure}, &key);
    if (status == OK && !bytes_equal(key, sk))
        return refuse_write(client, "has no member that this sort key would be of");
    return status;
}

/* Finds the board, which must be open. */
static enum status find_board(struct client_write *client) {
    struct write_check *check = client->check;
    struct bytes key = board_partition_key(item_string(&check->key, GAME_PK));
    enum status status = board_find(client->game, entry_member_of(key, check->arena),
                                    (struct scope){check->arena, check->failure}, &client->board);
    if (status != OK)
        return status;
    status = check_key(client);
    return status == OK ? board_check_open(client->board, clock_now_ms(),
                                           (struct scope){check->arena, check->failure})
                        : status;
}

static bool has_new_subscore(const struct client_write *client) {
    struct bytes subscore = client->write.points.subscore;
    return !bytes_equal(subscore, points_zero()) &&
           !(client->write.had_old && bytes_equal(subscore, client->write.before.subscore));
}

static enum status decide_write(struct client_write *client) {
    const struct write_check *check = client->check;
    const struct board_rules *rules = &client->board->rules;
    struct entry_write *write = &client->write;
    write->board = client->board;
    write->game = client->game;
    write->flags = ENTRY_EXACT;
    write->now_ms = clock_now_ms();
    write->had_old = entry_points(check->old, &write->before, &write->hidden);
    write->tie_before = write->had_old ? entry_tie_of(check->old) : (struct bytes){0};
    write->hidden = write->hidden || client->hidden || entry_starts_hidden(write, &check->key);
    if (!rules->plain && !rules->subscores && rules->source_count == 0 && has_new_subscore(client))
        return refuse_write(client, "has no subscores");
    entry_decide_by_flags(write, check->arena);
    if (write->outcome == ENTRY_OUT_OF_RANGE)
        return refuse_write(client,
                            "does not take that score: it is past its limits, or has too many "
                            "decimals");
    return OK;
}

/* Where the earliest of equal entries is first, the client may give the time itself. */
static struct bytes tie_of(const struct client_write *client) {
    const struct entry_write *write = &client->write;
    struct bytes given = entry_tie_given(&client->check->new);
    if (client->board->rules.tie == TIE_MEMBER)
        return points_zero();
    if (given.size == 0 || (write->had_old && bytes_equal(given, write->tie_before)))
        return write->tie;
    return given;
}

static bool keeps_ttl(const struct client_write *client) {
    struct bytes given = item_number(&client->check->new, BYTES("ttl"));
    bool changed = client->write.outcome != ENTRY_SAME;
    return !changed ||
           (given.size != 0 && !bytes_equal(given, item_number(client->check->old, BYTES("ttl"))));
}

/* The client's item with what every entry of the board has. */
static struct item complete_entry(const struct client_write *client) {
    struct arena *arena = client->check->arena;
    const struct board *board = client->board;
    struct entry_ranking ranking = {client->write.after, tie_of(client), client->write.hidden};
    struct item item = entry_with_ranking(&client->check->new, &ranking, arena);
    if (!board->rules.plain)
        item = entry_with_player(&item, board, arena);
    return keeps_ttl(client) ? item
                             : entry_with_ttl(&item, &board->rules, client->write.now_ms, arena);
}

/* Makes the instance's item if need be. Boards with periods have the action always, since it also
 * refuses the write if the board is sealed by then (board_create_action()). */
static void add_instance(const struct client_write *client) {
    const struct board *board = client->board;
    struct write_check *check = client->check;
    if (board->exists && board->period.ends_ms == INT64_MAX)
        return;
    check->added = ARENA_NEW(check->arena, struct rule_added);
    check->added_count = 1;
    board_create_action(client->game, board, check->arena, &check->added->action);
}

static enum status check_written(struct client_write *client) {
    enum status status = find_board(client);
    if (status == OK)
        status = decide_write(client);
    if (status != OK)
        return status;
    client->check->new = complete_entry(client);
    add_instance(client);
    return OK;
}

/* The member's entries on cross-game boards lose the part of this board in the same commit, as they
 * do whoever deletes an entry (entry_removals.h). */
static enum status remove_parts(struct client_write *client) {
    struct write_check *check = client->check;
    struct entry_removals removals = {
        .game = client->game, .arena = check->arena, .failure = check->failure};
    struct action deletes;
    enum status status =
        entry_removals_add(&removals, client->board, item_string(&check->key, GAME_SK), &deletes);
    size_t count = status == OK ? entry_removals_count(&removals) : 0;
    struct action *actions = ARENA_ARRAY(check->arena, struct action, count + 1);
    entry_removals_finish(&removals, actions);
    if (count == 0)
        return status;
    *(bool *)deletes.user = true; /* the client deletes it, and there is one */
    check->added = ARENA_ARRAY(check->arena, struct rule_added, count);
    check->added_count = count;
    for (size_t i = 0; i < count; i++)
        check->added[i] = (struct rule_added){.action = actions[i], .each = true};
    return OK;
}

/* An entry that no board leads to any more may be deleted. */
static enum status check_removed(struct client_write *client) {
    struct write_check *check = client->check;
    enum status status = find_board(client);
    bool stray =
        client->board == NULL || !bytes_equal(client->board->pk, item_string(&check->key, GAME_PK));
    if (status == OK)
        return remove_parts(client);
    if (status != INVALID || !stray)
        return status;
    *check->failure = (struct failure){0};
    return OK;
}

static enum status check_entry(struct write_check *check) {
    struct client_write client = {.check = check, .game = check->owner};
    struct points before;
    bool hidden, is = entry_points(&check->new, &client.write.points, &client.hidden);
    enum status status = OK;
    if (is)
        status = check_written(&client);
    else if (entry_points(check->old, &before, &hidden))
        status = check_removed(&client);
    board_drop(client.board);
    return status;
}

/* Other partitions may begin so, too, and are nobody's business here. */
static enum status check_generation_entry(struct write_check *check) {
    struct bytes pk = item_string(&check->key, GAME_PK);
    return board_partition_generation(pk).size == 0 ? OK : check_entry(check);
}

/* --- instances --- */

/* Where the entries are is for the game to say. */
static bool moves_entries(const struct write_check *check) {
    return check->new.count != 0 ? !bytes_equal(item_string(check->old, BOARD_GENERATION),
                                                item_string(&check->new, BOARD_GENERATION))
                                 : item_get(check->old, BOARD_GENERATION) != NULL;
}

static enum status check_instance(struct write_check *check) {
    int64_t ends_ms = item_int(check->old, BYTES("endsAt"));
    bool ended = ends_ms != 0 && ends_ms <= clock_now_ms(); /* sealed soon, if it is not */
    if (moves_entries(check))
        return failure_set(check->failure, check->arena, INVALID,
                           "The `generation` of a board says where its entries are, and stays");
    if (!ended && item_get(check->old, BYTES("sealedAt")) == NULL &&
        item_get(check->old, BYTES("clearing")) == NULL)
        return OK;
    return failure_set(check->failure, check->arena, INVALID,
                       "The state of a board that has ended, or is being cleared, stays as it is");
}

/* --- what operators did --- */

static enum status refuse_audit(struct write_check *check) {
    return failure_set(check->failure, check->arena, INVALID,
                       "What operators did is written by the server alone");
}

static const struct write_rule rules[] = {
    {{(const uint8_t *)BOARD, sizeof(BOARD) - 1}, check_entry},
    {{(const uint8_t *)GENERATION, sizeof(GENERATION) - 1}, check_generation_entry},
    {{(const uint8_t *)INSTANCE, sizeof(INSTANCE) - 1}, check_instance},
    {{(const uint8_t *)AUDIT_PREFIX, sizeof(AUDIT_PREFIX) - 1}, refuse_audit},
};

struct write_rules client_write_rules(struct game *game) {
    return (struct write_rules){.table = game->table,
                                .rules = rules,
                                .count = sizeof(rules) / sizeof(rules[0]),
                                .owner = game};
}

/* Profiles: made, changed, found. */
#include "game/player.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "game/play_int.h"
#include "game/record.h"

enum { EMAIL_MAX = 254, NAME_MAX_SIZE = 256 };

#define OWNER BYTES("OWNER")

/* --- e-mail addresses --- */

/* In lower case, if it can be one: something on either side of its last @, no blanks. */
static enum status read_email(struct bytes email, struct arena *arena, struct failure *failure,
                              struct bytes *out) {
    uint8_t *lower = arena_alloc(arena, email.size + 1);
    size_t at = 0;
    bool fits = email.size <= EMAIL_MAX && utf8_valid(email);
    for (size_t i = 0; fits && i < email.size; i++) {
        uint8_t c = email.data[i];
        fits = c > 0x20 && c != 0x7f;
        if (c == '@')
            at = i;
        lower[i] = c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
    }
    *out = bytes_of(lower, email.size);
    if (fits && at > 0 && at + 1 < email.size)
        return OK;
    return failure_set(failure, arena, INVALID, "That is not an e-mail address");
}

static struct item owner_key(struct arena *arena, struct bytes email) {
    return game_key(arena, record_join(arena, "EMAIL#", email), OWNER);
}

/* --- making and changing --- */

struct putting {
    struct player player;
    bool create;
    struct bytes email_seen; /* what the profile had when the change was prepared */
};

static struct item profile_item(const struct putting *putting, const struct item *old,
                                struct arena *arena) {
    const struct player *player = &putting->player;
    struct record record = record_of(arena);
    struct bytes pk = player_pk(arena, player->id);
    int64_t created_ms = item_int(old, PROFILE_CREATED);
    record_string(&record, GAME_PK, pk);
    record_string(&record, GAME_SK, PROFILE_SK);
    if (player->email.size != 0) {
        record_string(&record, BYTES("GSI1PK"), record_join(arena, "EMAIL#", player->email));
        record_string(&record, BYTES("GSI1SK"), pk);
    }
    record_string(&record, BYTES("id"), player->id);
    record_string(&record, PROFILE_NAME, player->name);
    record_string(&record, PROFILE_EMAIL, player->email);
    record_value(&record, PROFILE_META, player->meta);
    if (item_bool(old, PROFILE_HIDDEN))
        record_put(&record, PROFILE_HIDDEN, value_bool(true));
    record_int(&record, PROFILE_CREATED, created_ms != 0 ? created_ms : player->changed_ms);
    record_int(&record, PROFILE_CHANGED, player->changed_ms);
    return record_item(&record);
}

static enum status put_profile(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    const struct putting *putting = action->user;
    if (putting->create && item_get(old, PROFILE_CREATED) != NULL)
        return failure_set(&action->failure, arena, DUPLICATE, "There is a player %.*s already",
                           BYTES_ARG(putting->player.id));
    if (!bytes_equal(item_string(old, PROFILE_EMAIL), putting->email_seen))
        return failure_set(&action->failure, arena, CONFLICT,
                           "The player was changed at the same moment. Try again.");
    *new = profile_item(putting, old, arena);
    return OK;
}

static enum status take_email(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct putting *putting = action->user;
    if (old->count != 0 && !bytes_equal(item_string(old, BYTES("player")), putting->player.id))
        return failure_set(&action->failure, arena, DUPLICATE,
                           "Another player has this e-mail address");
    struct value id = value_string(putting->player.id);
    *new = item_with(arena, &action->item, BYTES("player"), &id);
    return OK;
}

static enum status free_email(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct putting *putting = action->user;
    (void)arena;
    if (bytes_equal(item_string(old, BYTES("player")), putting->player.id))
        *new = (struct item){0};
    return OK;
}

static enum status check_player(const struct player *player, struct arena *arena,
                                struct failure *failure) {
    enum status status = player_check_id(player->id, arena, failure);
    if (status == OK && (player->name.size > NAME_MAX_SIZE || !utf8_valid(player->name)))
        return failure_set(failure, arena, INVALID, "A player's name is at most %d bytes of text",
                           NAME_MAX_SIZE);
    return status;
}

static void add_action(struct change *change, struct game *game, struct item key,
                       action_compute *compute, struct putting *putting) {
    change->actions[change->action_count++] = (struct action){.kind = ACTION_COMPUTE,
                                                              .table = game->table,
                                                              .item = key,
                                                              .compute = compute,
                                                              .user = putting};
}

static void fill_in(struct change *change, struct game *game, struct putting *putting) {
    struct arena *arena = change->arena;
    struct bytes seen = putting->email_seen, wanted = putting->player.email;
    change->kind = CHANGE_WRITE;
    change->actions = ARENA_ARRAY(arena, struct action, 3);
    change->action_count = 0;
    add_action(change, game, game_key(arena, player_pk(arena, putting->player.id), PROFILE_SK),
               put_profile, putting);
    if (wanted.size != 0)
        add_action(change, game, owner_key(arena, wanted), take_email, putting);
    if (seen.size != 0 && !bytes_equal(seen, wanted))
        add_action(change, game, owner_key(arena, seen), free_email, putting);
}

enum status player_put_prepare(struct game *game, const struct player *player, bool create,
                               struct change *change, struct failure *failure) {
    struct arena *arena = change->arena;
    struct putting *putting = ARENA_NEW(arena, struct putting);
    struct player there = {0};
    *putting = (struct putting){.player = *player, .create = create};
    enum status status = check_player(player, arena, failure);
    if (status == OK && player->email.size != 0)
        status = read_email(player->email, arena, failure, &putting->player.email);
    if (status == OK)
        status = player_get(game, player->id, arena, failure, &there);
    if (status != OK && status != NOT_FOUND)
        return status;
    *failure = (struct failure){0};
    putting->email_seen = there.email;
    putting->player.changed_ms = clock_now_ms();
    fill_in(change, game, putting);
    return OK;
}

/* --- finding --- */

static void read_profile(const struct item *item, struct player *out) {
    *out = (struct player){.id = item_string(item, BYTES("id")),
                           .name = item_string(item, PROFILE_NAME),
                           .email = item_string(item, PROFILE_EMAIL),
                           .meta = item_map(item, PROFILE_META),
                           .hidden = item_bool(item, PROFILE_HIDDEN),
                           .created_ms = item_int(item, PROFILE_CREATED),
                           .changed_ms = item_int(item, PROFILE_CHANGED)};
}

static enum status get_item(struct game *game, struct bytes id, struct bytes sk,
                            struct arena *arena, struct failure *failure, struct item *out) {
    struct get_reply reply;
    enum status status = player_check_id(id, arena, failure);
    if (status != OK)
        return status;
    struct get_request request = {
        .table = game->table, .key = game_key(arena, player_pk(arena, id), sk), .consistent = true};
    status = engine_get(game->engine, &request, arena, failure, &reply);
    *out = reply.item;
    return status == OK && !reply.found ? NOT_FOUND : status;
}

enum status player_get(struct game *game, struct bytes id, struct arena *arena,
                       struct failure *failure, struct player *out) {
    struct item item;
    enum status status = get_item(game, id, PROFILE_SK, arena, failure, &item);
    if (status == NOT_FOUND)
        return failure_set(failure, arena, NOT_FOUND, "There is no player %.*s", BYTES_ARG(id));
    if (status == OK)
        read_profile(&item, out);
    return status;
}

enum status player_by_email(struct game *game, struct bytes email, struct arena *arena,
                            struct failure *failure, struct player *out) {
    struct bytes lower;
    struct page_reply page;
    enum status status = read_email(email, arena, failure, &lower);
    if (status != OK)
        return status;
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(record_join(arena, "EMAIL#", lower))};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .limit = 1};
    status = engine_page(game->engine, &request, arena, failure, &page);
    if (status != OK)
        return status;
    if (page.count == 0)
        return failure_set(failure, arena, NOT_FOUND, "No player has this e-mail address");
    read_profile(&page.items[0], out);
    return OK;
}

enum status player_stats(struct game *game, struct bytes id, struct arena *arena,
                         struct failure *failure, struct item *out) {
    enum status status = get_item(game, id, STATS_SK, arena, failure, out);
    if (status == NOT_FOUND)
        return failure_set(failure, arena, NOT_FOUND,
                           "Player %.*s has no play session that ended yet", BYTES_ARG(id));
    return status;
}

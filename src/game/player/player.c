/* Players: their ids, profiles and tokens. A profile and the claim on its e-mail address are
 * written in one commit, which fails if the profile's e-mail is not what it was when the change was
 * prepared.
 */
#include "game/player/player.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "game/player/player_int.h"
#include "game/record.h"
#include "game/shown_text.h"
#include "game/sign.h"

enum { EMAIL_MAX = LIMIT_EMAIL, NAME_MAX_SIZE = LIMIT_PLAYER_NAME };

/* --- ids --- */

struct bytes player_pk(struct arena *arena, struct bytes id) {
    struct bytes key = id;
    struct failure ignored;
    entry_key_of(id, (struct scope){arena, &ignored}, &key);
    return record_join(arena, "PLAYER#", key);
}

enum status player_check_member(struct bytes id, struct scope in) {
    struct bytes key;
    return entry_key_of(id, in, &key);
}

enum status player_check_id(struct bytes id, struct scope in) {
    struct bytes key = {0};
    struct failure ignored;
    /* Only where the key of an entry is the member itself does it tell whose entry it is. */
    bool fits = id.size >= 1 && id.size <= PLAYER_ID_MAX &&
                entry_key_of(id, (struct scope){in.arena, &ignored}, &key) == OK &&
                bytes_equal(id, key);
    for (size_t i = 0; fits && i < id.size; i++)
        fits = id.data[i] >= 0x20 && id.data[i] != 0x7f;
    if (fits)
        return OK;
    return failure_set(in.failure, in.arena, INVALID,
                       "A player's id is 1 to %d bytes of text without control characters",
                       PLAYER_ID_MAX);
}

/* --- e-mail addresses --- */

/* The address in lower case. It must have something on both sides of its last @, and no blanks. */
static enum status read_email(struct bytes email, struct scope in, struct bytes *out) {
    uint8_t *lower = arena_alloc(in.arena, email.size + 1);
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
    return failure_set(in.failure, in.arena, INVALID, "That is not an e-mail address");
}

struct item player_email_key(struct arena *arena, struct bytes email) {
    return game_key(arena, record_join(arena, "EMAIL#", email), BYTES("OWNER"));
}

/* --- writing --- */

/* What the functions of the change are given, in its arena. */
struct profile_write {
    struct player player;
    bool create;             /* there must be no profile yet */
    struct bytes email_seen; /* what the profile had when the change was prepared */
};

static struct item profile_item(const struct profile_write *profile_write, const struct item *old,
                                struct arena *arena) {
    const struct player *player = &profile_write->player;
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
    const struct profile_write *profile_write = action->user;
    if (profile_write->create && item_get(old, PROFILE_CREATED) != NULL)
        return failure_set(&action->failure, arena, DUPLICATE, "There is a player %.*s already",
                           BYTES_ARG(profile_write->player.id));
    if (!bytes_equal(item_string(old, PROFILE_EMAIL), profile_write->email_seen))
        return failure_set(&action->failure, arena, CONFLICT,
                           "The player was changed at the same moment. Try again.");
    *new = profile_item(profile_write, old, arena);
    return OK;
}

static enum status claim_email(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    const struct profile_write *profile_write = action->user;
    if (old->count != 0 &&
        !bytes_equal(item_string(old, BYTES("player")), profile_write->player.id))
        return failure_set(&action->failure, arena, DUPLICATE,
                           "Another player has this e-mail address");
    struct value id = value_string(profile_write->player.id);
    *new = item_with(arena, &action->item, BYTES("player"), &id);
    return OK;
}

static enum status release_email(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    const struct profile_write *profile_write = action->user;
    (void)arena;
    if (bytes_equal(item_string(old, BYTES("player")), profile_write->player.id))
        *new = (struct item){0};
    return OK;
}

static enum status check_player(const struct player *player, struct scope in) {
    enum status status = player_check_id(player->id, in);
    if (status == OK && (player->name.size > NAME_MAX_SIZE || !utf8_valid(player->name)))
        return failure_set(in.failure, in.arena, INVALID,
                           "A player's name is at most %d bytes of text", NAME_MAX_SIZE);
    return status;
}

static void fill_profile_change(struct change *change, struct game *game,
                                struct profile_write *profile_write) {
    struct arena *arena = change->arena;
    struct bytes seen = profile_write->email_seen, wanted = profile_write->player.email;
    struct item key = game_key(arena, player_pk(arena, profile_write->player.id), PROFILE_SK);
    struct action *actions = ARENA_ARRAY(arena, struct action, 3);
    size_t count = 0;
    actions[count++] = game_compute_action(game, key, put_profile, profile_write);
    if (wanted.size != 0)
        actions[count++] =
            game_compute_action(game, player_email_key(arena, wanted), claim_email, profile_write);
    if (seen.size != 0 && !bytes_equal(seen, wanted))
        actions[count++] =
            game_compute_action(game, player_email_key(arena, seen), release_email, profile_write);
    change->kind = CHANGE_WRITE;
    change->actions = actions;
    change->action_count = count;
}

static enum status prepare_write(struct game *game, struct profile_write *profile_write,
                                 struct change *change, struct failure *failure) {
    struct arena *arena = change->arena;
    const struct player *player = &profile_write->player;
    struct player there = {0};
    profile_write->player.name = shown_text(player->name, arena);
    enum status status = check_player(player, (struct scope){arena, failure});
    if (status == OK && player->email.size != 0)
        status =
            read_email(player->email, (struct scope){arena, failure}, &profile_write->player.email);
    if (status == OK)
        status = player_get(game, player->id, (struct scope){arena, failure}, &there);
    if (status != OK && status != NOT_FOUND)
        return status;
    *failure = (struct failure){0};
    profile_write->email_seen = there.email;
    profile_write->player.changed_ms = clock_now_ms();
    fill_profile_change(change, game, profile_write);
    return OK;
}

enum status player_put_prepare(struct game *game, const struct player *player,
                               struct change *change, struct failure *failure) {
    struct profile_write *profile_write = ARENA_NEW(change->arena, struct profile_write);
    *profile_write = (struct profile_write){.player = *player};
    return prepare_write(game, profile_write, change, failure);
}

enum status player_create_prepare(struct game *game, const struct player *player,
                                  struct change *change, struct failure *failure) {
    struct profile_write *profile_write = ARENA_NEW(change->arena, struct profile_write);
    *profile_write = (struct profile_write){.player = *player, .create = true};
    return prepare_write(game, profile_write, change, failure);
}

/* --- finding --- */

void player_read(const struct item *item, struct player *out) {
    *out = (struct player){.id = item_string(item, BYTES("id")),
                           .name = item_string(item, PROFILE_NAME),
                           .email = item_string(item, PROFILE_EMAIL),
                           .meta = item_map(item, PROFILE_META),
                           .hidden = item_bool(item, PROFILE_HIDDEN),
                           .created_ms = item_int(item, PROFILE_CREATED),
                           .changed_ms = item_int(item, PROFILE_CHANGED)};
}

/* NOT_FOUND, without a text, if there is no such item. */
static enum status get_item(struct game *game, struct item key, struct scope in, struct item *out) {
    struct get_reply reply;
    struct get_request request = {.table = game->table, .key = key, .consistent = true};
    enum status status = engine_get(game->engine, &request, in, &reply);
    *out = reply.item;
    return status == OK && !reply.found ? NOT_FOUND : status;
}

enum status player_get(struct game *game, struct bytes id, struct scope in, struct player *out) {
    struct item item;
    enum status status = player_check_member(id, in);
    if (status == OK)
        status = get_item(game, game_key(in.arena, player_pk(in.arena, id), PROFILE_SK), in, &item);
    if (status == NOT_FOUND)
        return failure_set(in.failure, in.arena, NOT_FOUND, "There is no player %.*s",
                           BYTES_ARG(id));
    if (status != OK)
        return status;
    player_read(&item, out);
    out->id = id; /* the item has entry_key_of() it */
    return OK;
}

enum status player_by_email(struct game *game, struct bytes email, struct scope in,
                            struct player *out) {
    struct bytes lower;
    struct page_reply page;
    enum status status = read_email(email, in, &lower);
    if (status != OK)
        return status;
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(record_join(in.arena, "EMAIL#", lower))};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .limit = 1};
    status = engine_page(game->engine, &request, in, &page);
    if (status != OK)
        return status;
    if (page.count == 0)
        return failure_set(in.failure, in.arena, NOT_FOUND, "No player has this e-mail address");
    player_read(&page.items[0], out);
    return OK;
}

enum status player_stats(struct game *game, struct bytes id, struct scope in, struct item *out) {
    enum status status = player_check_member(id, in);
    if (status == OK)
        status = get_item(game, game_key(in.arena, player_pk(in.arena, id), STATS_SK), in, out);
    if (status == NOT_FOUND)
        return failure_set(in.failure, in.arena, NOT_FOUND,
                           "Player %.*s has no play session that ended yet", BYTES_ARG(id));
    return status;
}

/* --- tokens: when one ends (8 bytes), then the player's id --- */

void player_token(const struct game *game, struct bytes id, int64_t expires_ms, struct buf *to) {
    struct buf payload = {0};
    buf_u64(&payload, (uint64_t)expires_ms);
    buf_put(&payload, id);
    sign_put((struct sign_key){game->settings.secret, "player"}, buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status player_token_read(const struct game *game, const struct player_token_request *request,
                              struct scope in, struct bytes *id) {
    struct bytes payload;
    uint64_t expires_ms;
    if (sign_read((struct sign_key){game->settings.secret, "player"}, request->token, in.arena,
                  &payload) != OK ||
        !take_u64(&payload, &expires_ms) || payload.size == 0)
        return failure_set(in.failure, in.arena, DENIED,
                           "The token is not a player's of this server");
    if ((int64_t)expires_ms <= request->now_ms)
        return failure_set(in.failure, in.arena, DENIED, "The player's token has ended");
    *id = payload;
    return OK;
}

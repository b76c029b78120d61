/* Who asks: what is shown, and what keys make of it. */
#include "test.h"

#include "api/caller.h"
#include "base/clock.h"
#include "game/player/player.h"
#include "game/room/room.h"

#define SECRET "0123456789abcdef"

static struct arena arena;
static struct failure failure;
static struct keys *keys;
static struct game game = {.settings.secret = BYTES("a secret of more than thirty-two bytes")};

static struct keyring *ring_of(const char *text) {
    struct keyring *ring = keyring_new();
    assert_int_equal(keyring_read(ring, bytes_str(text), "keys", (struct scope){&arena, &failure}),
                     OK);
    return ring;
}

#define KEY(id, secret, allow) \
    "{\"id\":\"" id "\",\"secret\":\"" secret "\",\"tables\":[\"*\"],\"allow\":[\"" allow "\"]}"

static int begin(void **state) {
    (void)state;
    arena_init(&arena);
    keys = keys_new(ring_of(
        "{\"keys\":[" KEY("one", SECRET "1", "all") "," KEY("two", SECRET "2", "read") "]}"));
    return 0;
}

static int end(void **state) {
    (void)state;
    keys_free(keys);
    arena_release(&arena);
    return 0;
}

static enum status find(const struct keys *of, struct credentials shown, struct caller *out) {
    struct caller_lookup lookup = {of, &game, &arena, &failure};
    failure = (struct failure){0};
    return caller_find(&lookup, &shown, out);
}

static struct bytes player_of(const char *id, int64_t life_ms) {
    struct buf text = {0};
    player_token(&game, bytes_str(id), clock_now_ms() + life_ms, &text);
    struct bytes copy = arena_copy(&arena, buf_bytes(&text));
    buf_release(&text);
    return copy;
}

static void test_headers(void **state) {
    (void)state;
    static const struct {
        const char *header, *id; /* NULL: refused; "": nobody */
    } cases[] = {
        {"", ""},
        {"Bearer one:" SECRET "1", "one"},
        {"bearer   two:" SECRET "2", "two"},
        {"BASIC b25lOjAxMjM0NTY3ODlhYmNkZWYx", "one"},
        {"Bearer one:" SECRET "2", NULL},
        {"Bearer one:" SECRET, NULL},
        {"Bearer one:", NULL},
        {"Bearer :" SECRET "1", NULL},
        {"Bearer three:" SECRET "1", NULL},
        {"Bearer nothing", NULL},
        {"Basic !!!", NULL},
        {"Basic b25l", NULL},
        {"Digest x", NULL},
        {"Bearer", NULL},
        {"AWS4-HMAC-SHA256 Credential=one/20260101/x/dynamodb/aws4_request", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct caller caller;
        struct credentials shown = {.authorization = bytes_str(cases[i].header)};
        enum status status = find(keys, shown, &caller);
        assert_int_equal(status, cases[i].id == NULL ? DENIED : OK);
        assert_true((caller.key != NULL) == (cases[i].id != NULL && cases[i].id[0] != '\0'));
        if (caller.key != NULL)
            assert_true(bytes_equal(caller.key->id, bytes_str(cases[i].id)));
        if (status != OK)
            assert_true(failure.text.size != 0);
        assert_false(caller.open);
    }
}

/* Without keys what is shown as a key is not looked at, but a token is. */
static void test_open(void **state) {
    (void)state;
    struct caller caller;
    assert_int_equal(find(NULL, (struct credentials){0}, &caller), OK);
    assert_true(caller.open);
    assert_int_equal(
        find(NULL, (struct credentials){.authorization = BYTES("Bearer a:b")}, &caller), OK);
    assert_true(caller.open && caller.key == NULL && caller.player.size == 0);
    assert_int_equal(find(NULL, (struct credentials){.player_token = BYTES("x")}, &caller), DENIED);
    assert_int_equal(
        find(NULL, (struct credentials){.player_token = player_of("ann", 60000)}, &caller), OK);
    assert_true(bytes_equal(caller.player, BYTES("ann")));
}

static void test_tokens(void **state) {
    (void)state;
    struct caller caller;
    struct bytes ann = player_of("ann", 60000), late = player_of("ann", -1);
    struct buf seat = {0};
    assert_int_equal(find(keys, (struct credentials){.player_token = ann}, &caller), OK);
    assert_true(bytes_equal(caller.player, BYTES("ann")) && caller.key == NULL);
    struct bytes bearer = arena_printf(&arena, "Bearer %.*s", BYTES_ARG(ann));
    assert_int_equal(find(keys, (struct credentials){.authorization = bearer}, &caller), OK);
    assert_true(bytes_equal(caller.player, BYTES("ann")));
    struct credentials both = {.pair = BYTES("two:" SECRET "2"), .player_token = ann};
    assert_int_equal(find(keys, both, &caller), OK);
    assert_true(bytes_equal(caller.player, BYTES("ann")) && caller.key != NULL);
    assert_int_equal(find(keys, (struct credentials){.player_token = late}, &caller), DENIED);
    assert_int_equal(caller.player.size, 0);
    /* the key is right, the token is not: nothing is taken */
    both.player_token = late;
    assert_int_equal(find(keys, both, &caller), DENIED);
    assert_null(caller.key);
    /* a seat's token is not a player's, nor the reverse */
    room_token(&game, &(struct room_token){BYTES("BCDFG"), BYTES("ann"), 7}, &seat);
    struct credentials seated = {.seat_token = buf_bytes(&seat)};
    assert_int_equal(find(keys, seated, &caller), OK);
    assert_true(bytes_equal(caller.room, BYTES("BCDFG")));
    assert_true(bytes_equal(caller.player, BYTES("ann")));
    assert_int_equal(find(keys, (struct credentials){.seat_token = ann}, &caller), DENIED);
    assert_int_equal(find(keys, (struct credentials){.player_token = buf_bytes(&seat)}, &caller),
                     DENIED);
    buf_release(&seat);
    /* a server without a game knows no tokens */
    struct caller_lookup no_game = {.keys = keys, .arena = &arena, .failure = &failure};
    assert_int_equal(caller_find(&no_game, &(struct credentials){.player_token = ann}, &caller),
                     DENIED);
}

/* An invitation counts where there are keys, guests are let in, and nothing else is shown. */
static void test_invitations(void **state) {
    (void)state;
    struct caller caller;
    struct room room = {.game = &game, .code = BYTES("BCDFG"), .created_ms = 5, .invitation = 2};
    struct buf text = {0};
    room_invitation(&room, &text);
    struct credentials shown = {.invitation = buf_bytes(&text)};
    assert_int_equal(find(keys, shown, &caller), DENIED); /* no guests */
    game.settings.guests = true;
    assert_int_equal(find(keys, shown, &caller), OK);
    assert_true(bytes_equal(caller.invitation.code, BYTES("BCDFG")));
    assert_true(room_invitation_holds(&room, &caller.invitation));
    room.invitation++;
    assert_false(room_invitation_holds(&room, &caller.invitation));
    assert_int_equal(find(NULL, shown, &caller), OK);
    assert_true(caller.open && caller.invitation.code.size == 0);
    shown.pair = BYTES("two:" SECRET "2");
    assert_int_equal(find(keys, shown, &caller), OK);
    assert_true(caller.key != NULL && caller.invitation.code.size == 0);
    shown = (struct credentials){.invitation = player_of("ann", 60000)};
    assert_int_equal(find(keys, shown, &caller), DENIED); /* that is something else */
    assert_int_equal(find(keys, (struct credentials){.player_token = buf_bytes(&text)}, &caller),
                     DENIED);
    assert_int_equal(find(keys, (struct credentials){.seat_token = buf_bytes(&text)}, &caller),
                     DENIED);
    game.settings.guests = false;
    buf_release(&text);
}

static void test_secrets(void **state) {
    (void)state;
    struct caller caller = {0};
    struct bytes none = {0};
    assert_false(caller_find_secret(keys, BYTES("one"), BYTES(SECRET "2"), &caller));
    assert_false(caller_find_secret(keys, BYTES("one"), none, &caller));
    assert_false(caller_find_secret(keys, none, none, &caller));
    assert_null(caller.key);
    assert_true(caller_find_secret(keys, none, BYTES(SECRET "2"), &caller));
    assert_true(bytes_equal(caller.key->id, BYTES("two")));
    /* a wrong one leaves who it was */
    assert_false(caller_find_secret(keys, none, BYTES("wrong"), &caller));
    assert_true(bytes_equal(caller.key->id, BYTES("two")));
}

/* Keys that are replaced: the same key with other rights, another secret, and gone. */
static void test_refreshing(void **state) {
    (void)state;
    struct caller one = {0}, two = {0}, open = {0}, nobody = {0};
    caller_refresh(NULL, &open);
    assert_true(open.open);
    assert_true(caller_find_secret(keys, BYTES("one"), BYTES(SECRET "1"), &one));
    assert_true(caller_find_secret(keys, BYTES("two"), BYTES(SECRET "2"), &two));
    const struct access_key *before = one.key;
    caller_refresh(keys, &one);
    assert_ptr_equal(one.key, before);
    keys_replace(keys, ring_of("{\"keys\":[" KEY("one", SECRET "1",
                                                 "write") "," KEY("two", SECRET "3", "read") "]}"));
    caller_refresh(keys, &one);
    caller_refresh(keys, &two);
    caller_refresh(keys, &nobody);
    assert_int_equal(one.key->allow, ACCESS_WRITE);
    assert_null(two.key);
    assert_null(nobody.key);
    keys_replace(keys, ring_of("{\"keys\":[" KEY("two", SECRET "2", "read") "]}"));
    caller_refresh(keys, &one);
    caller_refresh(keys, &two);
    assert_null(one.key);
    assert_null(two.key); /* who was turned out has to come in again */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_headers), TEST(test_open),
                                       TEST(test_tokens),  TEST(test_invitations),
                                       TEST(test_secrets), TEST(test_refreshing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

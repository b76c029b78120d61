/* gametable boards, top, rank, around, submit: boards of a running server, for people. */
#include "cli/cmd_client.h"
#include "cli/commands.h"
#include "cli/text_table.h"

#include <stdio.h>
#include <stdlib.h>

static int usage(const char *text) {
    fprintf(stderr,
            "usage: gametable %s [--url URL] [--key ID:SECRET]\n"
            "         [--cacert FILE] [--timeout SECONDS] [--json]\n",
            text);
    return 2;
}

static void print(struct buf *text) {
    if (text->size != 0)
        fwrite(text->data, 1, text->size, stdout);
    buf_release(text);
}

static struct buf board_path(const char *board) {
    struct buf path = {0};
    buf_lit(&path, "/v1/boards/");
    client_put(&path, board);
    return path;
}

static void put_option(struct buf *path, const char *name, const char *value) {
    if (value == NULL)
        return;
    buf_byte(path, bytes_find(buf_bytes(path), BYTES("?")) == SIZE_MAX ? '?' : '&');
    buf_put(path, bytes_str(name));
    buf_byte(path, '=');
    client_put(path, value);
}

/* --- boards --- */

static void add_boards(struct text_table *table, const struct json *page) {
    const struct json *boards = json_get(page, BYTES("boards"));
    for (uint32_t i = 0; boards != NULL && i < boards->count; i++) {
        const struct json *board = &boards->elements[i];
        const struct json *current = json_get(board, BYTES("current"));
        struct bytes *row = text_table_row(table);
        row[0] = client_text(board, "id");
        row[1] = client_text(board, "game");
        row[2] = client_text(board, "timeframe");
        row[3] = current == NULL ? (struct bytes){0} : client_text(current, "name");
        row[4] = client_text(board, "order");
        row[5] = client_text(board, "keep");
        row[6] = client_text(board, "title");
    }
}

static void add_plain(struct text_table *table, const struct json *page) {
    const struct json *boards = json_get(page, BYTES("instances"));
    for (uint32_t i = 0; boards != NULL && i < boards->count; i++) {
        struct bytes *row = text_table_row(table);
        row[0] = client_text(&boards->elements[i], "instance");
        row[2] = BYTES("plain");
        row[4] = BYTES("high");
        row[5] = BYTES("latest");
    }
}

/* A list of the server's, page by page. */
struct board_pages {
    struct client *client;
    const char *path, *option, *value; /* value NULL: no option */
    void (*add)(struct text_table *table, const struct json *page);
    struct text_table *table;
};

static int ask_pages(const struct board_pages *pages) {
    struct client *client = pages->client;
    struct bytes cursor = {0};
    struct json page;
    int result;
    do {
        struct buf path = {0};
        buf_put(&path, bytes_str(pages->path));
        put_option(&path, pages->option, pages->value);
        put_option(&path, "cursor", cursor.size == 0 ? NULL : arena_str(&client->arena, cursor));
        result = client_get(client, &path, &page);
        buf_release(&path);
        if (result == 0)
            pages->add(pages->table, &page);
    } while (result == 0 && (cursor = client_text(&page, "next")).size != 0);
    return result;
}

int command_boards(int argc, char **argv) {
    static const char *const titles[] = {"BOARD", "GAME", "TIMEFRAME", "PERIOD",
                                         "ORDER", "KEEP", "TITLE"};
    const char *game = NULL;
    bool plain = false;
    struct client client;
    struct option_spec specs[2 + CLIENT_OPTIONS] = {{"game", &game, NULL}, {"plain", NULL, &plain}};
    struct text_table table = {.arena = &client.arena, .columns = 7};
    int result = 0;
    client_init(&client, "boards", specs);
    if (client_options(&client, argc, argv, specs) != 0)
        result = usage("boards [--game GAME | --plain]");
    text_table_titles(&table, titles);
    if (result == 0 && !plain)
        result = ask_pages(
            &(struct board_pages){&client, "/v1/boards", "game", game, add_boards, &table});
    if (result == 0 && plain)
        result = ask_pages(
            &(struct board_pages){&client, "/v1/instances", "plain", "true", add_plain, &table});
    struct buf text = {0};
    if (result == 0 && !client.json)
        text_table_put(&table, &text);
    print(&text);
    client_release(&client);
    return result;
}

/* --- pages --- */

static void put_title(struct buf *to, const struct json *page, const char *what) {
    struct bytes period = client_text(page, "period"), scope = client_text(page, "scope");
    struct bytes board = client_text(page, "board"), total = client_text(page, "total");
    bool sealed = bytes_equal(client_text(page, "sealed"), BYTES("yes"));
    buf_put(to, board);
    if (scope.size != 0)
        buf_printf(to, " for %.*s", BYTES_ARG(scope));
    if (period.size != 0)
        buf_printf(to, ", %.*s%s", BYTES_ARG(period), sealed ? " (sealed)" : "");
    buf_printf(to, ": %s%.*s\n", what, BYTES_ARG(total));
}

static void put_page(struct client *client, const struct json *page, const char *marked) {
    static const char *const titles[] = {"", "RANK", "PLAYER", "SCORE", "NAME"};
    const struct json *entries = json_get(page, BYTES("entries"));
    struct buf text = {0};
    struct text_table table = {.arena = &client->arena, .columns = 5, .right = 1 << 1 | 1 << 3};
    text_table_titles(&table, titles);
    for (uint32_t i = 0; entries != NULL && i < entries->count; i++) {
        const struct json *entry = &entries->elements[i];
        struct bytes *row = text_table_row(&table);
        row[2] = client_text(entry, "member");
        row[0] = marked != NULL && bytes_equal(row[2], bytes_str(marked)) ? BYTES(">") : BYTES("");
        row[1] = client_text(entry, "rank");
        row[3] = client_text(entry, "score");
        row[4] = client_text(entry, "name");
    }
    put_title(&text, page, "players ");
    text_table_put(&table, &text);
    print(&text);
}

/* -n is what head and tail call it. */
static void long_names(int argc, char **argv) {
    static char limit[] = "--limit";
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "-n") == 0)
            argv[i] = limit;
}

int command_top(int argc, char **argv) {
    const char *limit = "10", *from = NULL, *period = NULL, *scope = NULL;
    struct client client;
    struct option_spec specs[4 + CLIENT_OPTIONS] = {{"limit", &limit, NULL},
                                                    {"from", &from, NULL},
                                                    {"period", &period, NULL},
                                                    {"scope", &scope, NULL}};
    struct json page;
    client_init(&client, "top", specs);
    long_names(argc, argv);
    int count = client_options(&client, argc, argv, specs), result = 2;
    if (count != 1)
        usage("top BOARD [-n 10] [--from RANK] [--period PERIOD] [--scope SCOPE]");
    else {
        struct buf path = board_path(argv[0]);
        buf_lit(&path, "/entries");
        put_option(&path, "limit", limit);
        put_option(&path, "from", from);
        put_option(&path, "period", period);
        put_option(&path, "scope", scope);
        result = client_get(&client, &path, &page);
        buf_release(&path);
    }
    if (result == 0 && !client.json)
        put_page(&client, &page, NULL);
    client_release(&client);
    return result;
}

struct member_options {
    const char *path; /* what follows the player in it: "/around", "" */
    const char *period, *scope, *each;
};

/* Asks about a player on a board: argv is BOARD PLAYER. */
static int ask_member(struct client *client, char **argv, const struct member_options *options,
                      struct json *out) {
    struct buf path = board_path(argv[0]);
    buf_lit(&path, "/entries/");
    client_put(&path, argv[1]);
    buf_put(&path, bytes_str(options->path));
    put_option(&path, "each", options->each);
    put_option(&path, "period", options->period);
    put_option(&path, "scope", options->scope);
    int result = client_get(client, &path, out);
    buf_release(&path);
    return result;
}

int command_around(int argc, char **argv) {
    struct member_options options = {.path = "/around"};
    struct client client;
    struct option_spec specs[3 + CLIENT_OPTIONS] = {{"each", &options.each, NULL},
                                                    {"period", &options.period, NULL},
                                                    {"scope", &options.scope, NULL}};
    struct json page;
    client_init(&client, "around", specs);
    int result = client_options(&client, argc, argv, specs) != 2
                     ? usage("around BOARD PLAYER [--each 5] [--period PERIOD] [--scope SCOPE]")
                     : ask_member(&client, argv, &options, &page);
    if (result == 0 && !client.json)
        put_page(&client, &page, argv[1]);
    client_release(&client);
    return result;
}

static void put_rank(const struct json *answer, const char *player) {
    const struct json *entry = json_get(answer, BYTES("entry"));
    struct bytes rank = client_text(entry, "rank"), score = client_text(entry, "score");
    struct bytes percentile = client_text(entry, "percentile");
    struct buf text = {0};
    put_title(&text, answer, "players ");
    buf_printf(&text, "%s: rank %.*s with %.*s, ahead of or equal to %.*s %% of the others\n",
               player, BYTES_ARG(rank), BYTES_ARG(score), BYTES_ARG(percentile));
    print(&text);
}

int command_rank(int argc, char **argv) {
    struct member_options options = {.path = ""};
    struct client client;
    struct option_spec specs[2 + CLIENT_OPTIONS] = {{"period", &options.period, NULL},
                                                    {"scope", &options.scope, NULL}};
    struct json answer;
    client_init(&client, "rank", specs);
    int result = client_options(&client, argc, argv, specs) != 2
                     ? usage("rank BOARD PLAYER [--period PERIOD] [--scope SCOPE]")
                     : ask_member(&client, argv, &options, &answer);
    if (result == 0 && !client.json)
        put_rank(&answer, argv[1]);
    client_release(&client);
    return result;
}

/* --- submit --- */

static void put_results(struct client *client, const struct json *answer) {
    static const char *const titles[] = {"BOARD",  "ACCEPTED", "SCORE",  "RANK",
                                         "BEFORE", "OF",       "WHY NOT"};
    const struct json *results = json_get(answer, BYTES("results"));
    struct buf text = {0};
    struct text_table table = {
        .arena = &client->arena, .columns = 7, .right = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5};
    text_table_titles(&table, titles);
    for (uint32_t i = 0; results != NULL && i < results->count; i++) {
        const struct json *result = &results->elements[i];
        const struct json *after = json_get(result, BYTES("after"));
        struct bytes *row = text_table_row(&table);
        row[0] = client_text(result, "instance");
        row[1] = client_text(result, "accepted");
        row[2] = after == NULL ? (struct bytes){0} : client_text(after, "score");
        row[3] = client_text(result, "rankAfter");
        row[4] = client_text(result, "rankBefore");
        row[5] = client_text(result, "total");
        row[6] = client_text(result, "reason");
    }
    text_table_put(&table, &text);
    print(&text);
}

static void put_score(struct buf *body, const char *score, const char *name) {
    buf_lit(body, "\"score\":");
    json_put_string(body, bytes_str(score));
    if (name != NULL) {
        buf_lit(body, ",\"name\":");
        json_put_string(body, bytes_str(name));
    }
    buf_byte(body, '}');
}

static int submit_score(struct client *client, const char *game, const char *name, char **argv) {
    struct buf body = {0}, path = {0};
    struct json answer;
    buf_byte(&body, '{');
    if (game != NULL) {
        buf_lit(&path, "/v1/games/");
        client_put(&path, game);
        buf_lit(&path, "/scores");
        buf_lit(&body, "\"player\":");
        json_put_string(&body, bytes_str(argv[0]));
        buf_byte(&body, ',');
    } else {
        path = board_path(argv[0]);
        buf_lit(&path, "/entries/");
        client_put(&path, argv[1]);
    }
    put_score(&body, argv[game != NULL ? 1 : 2], name);
    struct client_question question = {game != NULL ? "POST" : "PUT", &path, buf_bytes(&body)};
    int result = client_ask(client, &question, &answer);
    if (result == 0 && !client->json)
        put_results(client, &answer);
    buf_release(&path);
    buf_release(&body);
    return result;
}

int command_submit(int argc, char **argv) {
    const char *game = NULL, *name = NULL;
    struct client client;
    struct option_spec specs[2 + CLIENT_OPTIONS] = {{"game", &game, NULL}, {"name", &name, NULL}};
    client_init(&client, "submit", specs);
    int count = client_options(&client, argc, argv, specs);
    int result = count == (game != NULL ? 2 : 3)
                     ? submit_score(&client, game, name, argv)
                     : usage("submit (BOARD | --game GAME) PLAYER SCORE [--name NAME]");
    client_release(&client);
    return result;
}

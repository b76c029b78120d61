/* gametable players: finds players of a running server by what they begin with. */
#include "cli/cmd_client.h"
#include "cli/commands.h"
#include "cli/help_texts.h"
#include "cli/text_table.h"

#include <stdio.h>

static void put_parameter(struct buf *path, const char *name, const char *value) {
    if (value == NULL)
        return;
    buf_byte(path, bytes_find(buf_bytes(path), BYTES("?")) == SIZE_MAX ? '?' : '&');
    buf_printf(path, "%s=", name);
    client_put(path, value);
}

static void print_players(struct client *client, const struct json *page) {
    static const char *const titles[] = {"PLAYER", "NAME", "E-MAIL", "SINCE", "HIDDEN"};
    const struct json *players = json_get(page, BYTES("players"));
    struct text_table table = {.arena = &client->arena, .columns = 5};
    struct buf text = {0};
    text_table_titles(&table, titles);
    for (uint32_t i = 0; players != NULL && i < players->count; i++) {
        const struct json *player = &players->elements[i];
        struct bytes *row = text_table_row(&table);
        row[0] = client_text(player, "id");
        row[1] = client_text(player, "name");
        row[2] = client_text(player, "email");
        row[3] = client_text(player, "createdAt");
        row[4] =
            bytes_equal(client_text(player, "hidden"), BYTES("yes")) ? BYTES("hidden") : BYTES("");
    }
    text_table_put(&table, &text);
    if (client_text(page, "next").size != 0)
        buf_lit(&text, "There are more: ask for a longer beginning, or for more with --limit.\n");
    fwrite(text.data, 1, text.size, stdout);
    buf_release(&text);
}

int command_players(int argc, char **argv) {
    const char *by = NULL, *limit = NULL;
    struct client client;
    struct option_spec specs[2 + CLIENT_OPTIONS] = {{"by", &by, NULL}, {"limit", &limit, NULL}};
    struct json page;
    client_init(&client, "players", specs);
    int count = client_options(&client, argc, argv, specs), result = 2;
    if (count != 0 && count != 1)
        help_usage("players");
    else {
        struct buf path = {0};
        buf_lit(&path, "/v1/players");
        put_parameter(&path, "q", count == 1 ? argv[0] : NULL);
        put_parameter(&path, "by", by);
        put_parameter(&path, "limit", limit);
        result = client_get(&client, &path, &page);
        buf_release(&path);
    }
    if (result == 0 && !client.json)
        print_players(&client, &page);
    client_release(&client);
    return result;
}

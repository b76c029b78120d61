/* The table of commands, and what `gametable help` says of them. */
#include "cli/commands.h"

#include "cli/help_texts.h"
#include "cli/settings.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage;
    const char *help;
};

static const struct command commands[] = {
    {"serve", command_serve, "serve [OPTION...]", "run the server"},
    {"keys", command_keys, "keys add|list|remove [OPTION...]",
     "say who may come in, and what they may touch"},
    {"verify", command_verify, "verify [--data DIR]",
     "check a data folder that no server has open"},
    {"backup", command_backup, "backup [--data DIR] TARGET", "copy a data folder"},
    {"restore", command_restore, "restore [--data DIR] [--at TIME] BACKUP",
     "make a data folder of a backup"},
    {"export", command_export, "export [--data DIR] TABLE FOLDER", "write a table to files"},
    {"import", command_import, "import [--data DIR] TABLE FILE...", "read a table from files"},
    {"move", command_move, "move local dynamodb | dynamodb local [OPTION...]",
     "take the game from a data folder to DynamoDB, or back"},
    {"boards", command_boards, "boards [--game GAME | --plain]",
     "list the boards of a running server; --plain: those without a definition"},
    {"top", command_top, "top BOARD [-n 10]", "show the first of a board"},
    {"rank", command_rank, "rank BOARD PLAYER", "show where a player stands"},
    {"around", command_around, "around BOARD PLAYER", "show a player and its neighbours"},
    {"submit", command_submit, "submit (BOARD | --game G) PLAYER SCORE", "submit a score"},
    {"players", command_players, "players [BEGINNING]",
     "find players by id, name or e-mail address"},
    {"load", command_load, "load BOARD FILE", "load many scores from CSV or lines of JSON"},
    {"play", command_play, "play [--bots 8] [--join CODE]", "bots that play in rooms"},
    {"clock", command_clock, "clock [--forward TIME]",
     "move the clock of a server started with --test-clock"},
    {"expire", command_expire, "expire", "remove what has expired by that clock, now"},
    {"health", command_health, "health [--url URL]", "tell whether a server answers"},
    {"version", command_version, "version", "print the version"},
    {"help", command_help, "help [COMMAND]", "explain the commands, or one and its options"},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print(struct buf *text) {
    fwrite(text->data, 1, text->size, stdout);
    buf_release(text);
}

static void help_commands(struct buf *to) {
    buf_lit(to, "gametable " GAMETABLE_VERSION ": one table for the whole game.\n\n"
                "usage: gametable COMMAND [OPTION...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        buf_printf(to, "  %-40s %s\n", commands[i].usage, commands[i].help);
    buf_lit(
        to,
        "\nStart with `gametable serve`; `gametable help COMMAND` lists the options of one.\n"
        "Commands about boards, players, load, play, clock and expire ask the server at --url or\n"
        "GAMETABLE_URL, with the key ID:SECRET of --key or GAMETABLE_KEY. Over https they\n"
        "trust whom the system trusts, or the authority in the file of --cacert or\n"
        "GAMETABLE_CACERT. --timeout says how many seconds an answer may take; --json\n"
        "prints answers as they come.\n");
}

static void help_serve(struct buf *to) {
    buf_lit(to, "usage: gametable serve [OPTION...]\n\n");
    settings_describe(to, SETTINGS_HELP);
    buf_printf(to, "  %-34s %s\n", "--config FILE",
               "read settings from a file of `name = value` lines");
    buf_lit(to, "\nEach option can also be set in the environment (--cache-memory as\n"
                "GAMETABLE_CACHE_MEMORY) or in the config file. A flag wins over the\n"
                "environment, the environment over the file. Sizes take K, M, G; times\n"
                "take ms, s, m, h.\n");
}

static void help_command(struct buf *to, const struct command *command) {
    if (command->run == command_serve)
        help_serve(to);
    else if (!help_put(to, command->name))
        buf_printf(to, "usage: gametable %s\n\n%s\n", command->usage, command->help);
}

/* As it is, whatever troff would obey in it. */
static void put_verbatim(struct buf *to, struct bytes text) {
    buf_lit(to, ".nf\n");
    for (size_t i = 0; i < text.size; i++) {
        bool begins = i == 0 || text.data[i - 1] == '\n';
        if (begins && (text.data[i] == '.' || text.data[i] == '\''))
            buf_lit(to, "\\&");
        if (text.data[i] == '\\' || text.data[i] == '-')
            buf_byte(to, '\\');
        buf_byte(to, text.data[i] == '\\' ? 'e' : text.data[i]);
    }
    buf_lit(to, ".fi\n");
}

/* What `gametable help COMMAND` says of each; the settings of serve are a section of their own. */
static void man_usages(struct buf *to) {
    struct buf text = {0};
    buf_lit(to, ".SH USAGE OF EACH COMMAND\n");
    for (int i = 0; i < COMMANDS; i++) {
        if (commands[i].run == command_serve)
            continue;
        buf_clear(&text);
        help_command(&text, &commands[i]);
        buf_printf(to, ".SS %s\n", commands[i].name);
        put_verbatim(to, buf_bytes(&text));
    }
    buf_release(&text);
}

static void help_man(struct buf *to) {
    buf_lit(to, ".TH GAMETABLE 1 \"\" \"gametable " GAMETABLE_VERSION "\"\n"
                ".SH NAME\ngametable \\- one table for the whole game\n"
                ".SH SYNOPSIS\n.B gametable\n.I COMMAND\n[\\fIOPTION\\fR...]\n"
                ".SH DESCRIPTION\n"
                "A durable single-table store for games, served through the DynamoDB API.\n"
                ".SH COMMANDS\n");
    for (int i = 0; i < COMMANDS; i++)
        buf_printf(to, ".TP\n.B %s\n%s.\n", commands[i].usage, commands[i].help);
    buf_lit(to, ".SH OPTIONS OF SERVE\n");
    settings_describe(to, SETTINGS_MAN);
    buf_lit(
        to,
        ".TP\n.B \\-\\-config \\fIFILE\\fR\nRead settings from a file of `name = value' lines.\n"
        ".PP\nEach option can also be set in the environment, as GAMETABLE_ and its name in\n"
        "capitals with underscores. A flag wins over the environment, the environment over\n"
        "the file.\n");
    man_usages(to);
    buf_lit(
        to,
        ".SH EXIT STATUS\n0 on success or an orderly stop, 1 on failure, 2 on wrong usage.\n"
        ".SH SIGNALS\nSIGTERM and SIGINT stop the server: it stops accepting, finishes what\n"
        "runs, syncs and exits with 0. SIGHUP makes it read its access keys and its certificate\n"
        "again; a server that was started in a terminal and has neither stops.\n");
}

static const struct command *find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int tell_unknown(const char *name) {
    fprintf(stderr, "gametable: there is no command '%s'; see gametable help\n", name);
    return 2;
}

static int explain(const struct command *command) {
    struct buf text = {0};
    help_command(&text, command);
    print(&text);
    return 0;
}

int command_help(int argc, char **argv) {
    struct buf text = {0};
    const char *topic = argc > 0 ? argv[0] : "";
    const struct command *command = find_command(topic);
    if (argc == 0)
        help_commands(&text);
    else if (strcmp(topic, "--man") == 0)
        help_man(&text);
    else if (strcmp(topic, "--settings") == 0)
        settings_describe(&text, SETTINGS_MARKDOWN);
    else
        return command != NULL ? explain(command) : tell_unknown(topic);
    print(&text);
    return 0;
}

int command_version(int argc, char **argv) {
    (void)argc, (void)argv;
    puts("gametable " GAMETABLE_VERSION);
    return 0;
}

static const char *plain_name(const char *word) {
    static const char *const aliases[][2] = {
        {"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, aliases[i][0]) == 0)
            return aliases[i][1];
    return word;
}

int commands_run(int argc, char **argv) {
    if (argc < 2) {
        command_help(0, NULL);
        return 2;
    }
    const struct command *command = find_command(plain_name(argv[1]));
    if (command == NULL)
        return tell_unknown(argv[1]);
    if (argc > 2 && strcmp(plain_name(argv[2]), "help") == 0)
        return explain(command);
    return command->run(argc - 2, argv + 2);
}

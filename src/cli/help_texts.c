#include "cli/help_texts.h"

#include "cli/access.h"

#include <stdio.h>
#include <string.h>

struct help {
    const char *command;
    enum { ALONE, ASKS, ASKS_JSON } server; /* which options of client_init() it has, too */
    const char *text;
};

static const struct help helps[] = {
    {"keys", ALONE,
     "usage: gametable keys add --table NAME [--table NAME...] [--allow read,write,admin]\n"
     "                          [--partition KEY...] [--role server|client] [--name TEXT]\n"
     "                          [--keys FILE]\n"
     "       gametable keys list [--keys FILE]\n"
     "       gametable keys remove ID [--keys FILE]\n\n"
     "Makes, lists and removes access keys. A server that runs reads the file again on SIGHUP.\n\n"
     "  --table NAME      a table that the key is for; may end in '*'\n"
     "  --allow LIST      what it may do: read, write, admin [read,write]\n"
     "  --partition KEY   only these partitions of the tables; may end in '*'\n"
     "  --role ROLE       server, or client: for games in players' hands, which read boards, and "
     "do\n"
     "                    for a player what its token allows; it needs no --table [server]\n"
     "  --name TEXT       what it is for, shown in lists and logs\n"
     "  --keys FILE       the file [GAMETABLE_KEYS, or " ACCESS_FILE "]\n"},
    {"verify", ALONE,
     "usage: gametable verify [--data DIR]\n\n"
     "Reads a whole data folder and tells each fault it finds; it changes nothing. The exit "
     "status\n"
     "is 1 if there is one.\n\n"
     "  --data DIR    the data folder [./gametable-data]; no server may have it open\n"},
    {"backup", ALONE,
     "usage: gametable backup [--data DIR] [--id ID] TARGET\n\n"
     "Copies a data folder to the folder TARGET, which is made and must not be there yet.\n\n"
     "  --data DIR    the data folder [./gametable-data]; no server may have it open\n"
     "  --id ID       the backup DIR/backups/ID that CreateBackup made, instead of what is there\n"
     "                now: this works while a server runs, too\n\n"
     "TARGET is a data folder itself: serve from it, verify it, or restore it. It appears when it\n"
     "is whole and on the disk; if it is interrupted, TARGET.partial is left and removed by the\n"
     "next try.\n"},
    {"restore", ALONE,
     "usage: gametable restore [--data DIR] [--at TIME] BACKUP\n\n"
     "Copies the folder BACKUP, which `gametable backup` made, to a data folder that is not there\n"
     "yet or is empty.\n\n"
     "  --data DIR    the data folder to make [./gametable-data]\n"
     "  --at TIME     BACKUP is a data folder of which a table has point-in-time recovery, and "
     "that\n"
     "                no server has open: DIR is made with all tables as they were at that time,\n"
     "                such as 2026-11-16T20:15:00Z, or seconds since 1970\n\n"
     "DIR appears when it is whole and on the disk; if it is interrupted, DIR.partial is left and\n"
     "removed by the next try. Nothing is overwritten.\n"},
    {"export", ALONE,
     "usage: gametable export [--data DIR] [--id ID] [--format json|csv] TABLE FOLDER\n\n"
     "Writes a table to files in FOLDER, which is made and must not be there yet: packed lines of\n"
     "typed JSON in FOLDER/data, manifests, and table.json, which says how to make the table.\n\n"
     "  --data DIR    the data folder [./gametable-data]; no server may have it open\n"
     "  --id ID       from the backup DIR/backups/ID instead: while a server runs, too\n"
     "  --format F    json, or csv: one row an item; lists, maps and sets as typed JSON [json]\n\n"
     "FOLDER appears when it is whole and on the disk.\n"},
    {"import", ALONE,
     "usage: gametable import [--data DIR] [OPTION...] TABLE SOURCE...\n\n"
     "Reads items from files, or from all files in folders, into a table. Files may be packed "
     "with\n"
     "gzip, whatever their names.\n\n"
     "  --data DIR       the data folder [./gametable-data]; no server may have it open\n"
     "  --format F       json (lines of {\"Item\":{...}}) or csv [by the first file's name]\n"
     "  --keys PK[,SK]   the keys of a table to be made: pk:S or pk:S,sk:N; without it the\n"
     "                   table.json of an export says them, and the indexes\n"
     "  --delimiter C    between the fields of CSV [,]\n"
     "  --append         write into a table that has items; those with the same key are "
     "replaced\n\n"
     "A table that is made is there when all is in it, or not at all. With --append, or into an\n"
     "empty table, what was read stays when it is interrupted, and doing it again is harmless.\n"
     "Records that make no sense are passed over and counted; the exit status is then 1.\n"},
    {"move", ALONE,
     "usage: gametable move local dynamodb [OPTION...]\n"
     "       gametable move dynamodb local [OPTION...]\n\n"
     "Moves the game's table from a data folder to DynamoDB, or back. The side it comes from "
     "keeps\n"
     "what it has. A move that was interrupted goes on when it is started again; at the end both\n"
     "sides are read and compared.\n\n"
     "The options are those of `gametable serve` that say where both are:\n\n"
     "  --data DIR                the data folder [./gametable-data]; no server may have it open\n"
     "                            unless --live names it\n"
     "  --game-table NAME         the table\n"
     "  --dynamodb-endpoint URL   another address than that of AWS\n"
     "  --dynamodb-region NAME    the region\n"
     "  --config FILE             settings from a file\n\n"
     "With --live the servers of the side it comes from go on meanwhile. What they write is "
     "carried\n"
     "over from the table's stream; at the end they are read-only for the last of it and the\n"
     "comparison, and stay so if it went well.\n\n"
     "  --live URL[,URL...]       that of the server, or those of all nodes\n"
     "  --key ID:SECRET           of a key that may administer all tables [GAMETABLE_KEY]\n"
     "  --cacert FILE             authorities to trust for https URLs\n"},
    {"boards", ASKS_JSON,
     "usage: gametable boards [--game GAME | --plain]\n\n"
     "Lists the boards of a running server.\n\n"
     "  --game GAME   only those of a game\n"
     "  --plain       those without a definition, such as sorted sets of Redis clients\n"},
    {"top", ASKS_JSON,
     "usage: gametable top BOARD [-n 10] [--from RANK] [--period PERIOD] [--scope SCOPE]\n\n"
     "Shows the first of a board.\n\n"
     "  -n, --limit N     how many [10]\n"
     "  --from RANK       begin at this position\n"
     "  --period PERIOD   a past period, such as 2026-11-16 or 2026-W47 [the present one]\n"
     "  --scope SCOPE     of a room, a country, ... [the whole board]\n"},
    {"rank", ASKS_JSON,
     "usage: gametable rank BOARD PLAYER [--period PERIOD] [--scope SCOPE]\n\n"
     "Shows where a player stands: rank, score, and how many are not better.\n\n"
     "  --period PERIOD   a past period [the present one]\n"
     "  --scope SCOPE     of a room, a country, ... [the whole board]\n"},
    {"around", ASKS_JSON,
     "usage: gametable around BOARD PLAYER [--each 5] [--period PERIOD] [--scope SCOPE]\n\n"
     "Shows a player and its neighbours.\n\n"
     "  --each N          how many on either side [5]\n"
     "  --period PERIOD   a past period [the present one]\n"
     "  --scope SCOPE     of a room, a country, ... [the whole board]\n"},
    {"submit", ASKS_JSON,
     "usage: gametable submit BOARD PLAYER SCORE [--name NAME]\n"
     "       gametable submit --game GAME PLAYER SCORE [--name NAME]\n\n"
     "Submits a score to one board, or to all boards of a game, and shows the ranks before and\n"
     "after.\n\n"
     "  --game GAME   to all boards of this game, in their present periods\n"
     "  --name NAME   what to call the player on boards\n"},
    {"players", ASKS_JSON,
     "usage: gametable players [BEGINNING] [--by id|name|email] [--limit 25]\n\n"
     "Finds players who have a profile by the beginning of their id, of a word of their name or\n"
     "of their e-mail address; without one it lists them by id.\n\n"
     "  --by WAY      only by id, name or email\n"
     "  --limit N     at most so many, up to 200 [25]\n"},
    {"load", ASKS_JSON,
     "usage: gametable load BOARD FILE|- [--format csv|json] [--period PERIOD] [--scope SCOPE]\n"
     "                      [--at-once 4]\n\n"
     "Loads many scores. Lines are member,score[,name], or objects with member, score, and if you\n"
     "like subscore, name and meta. Each score is taken as the board keeps them.\n\n"
     "  --format F        csv or json [by the file's name: .json, .jsonl, .ndjson]\n"
     "  --period PERIOD   into a past period [the present one]\n"
     "  --scope SCOPE     of a room, a country, ... [the whole board]\n"
     "  --at-once N       requests of several thousand lines under way; 1 keeps the order of "
     "lines\n"
     "                    of one member [4]\n"},
    {"play", ASKS,
     "usage: gametable play [--bots 8] [--rooms 1] [--game KIND] [OPTION...]\n"
     "       gametable play --join CODE [--bots 8] [OPTION...]\n\n"
     "Bots that play against each other, or against whoever made a room.\n\n"
     "  --bots N          how many [as fit into the rooms, up to 8]\n"
     "  --rooms N         rooms to make [1]\n"
     "  --join CODE       a room that is there, instead\n"
     "  --game KIND       what the rooms play; one that is not there lists all [the first of "
     "them]\n"
     "  --options LIST    options of the rooms: NAME=VALUE,...\n"
     "  --rounds N        their option rounds, in games that have it\n"
     "  --seconds N       their option seconds, in games that have it\n"
     "  --matches N       matches before they leave [1]\n"
     "  --limit SECONDS   give up after this long [3600]\n"
     "  --errors PERCENT  how often a bot errs [15]\n"
     "  --slow MS         the longest it takes to react [1800]\n"
     "  --eager           they react to whatever there is to react to\n"
     "  --spread SECONDS  rooms begin one after the other over this time\n"},
    {"clock", ASKS,
     "usage: gametable clock [--forward TIME]\n\n"
     "Shows the clock of a server started with --test-clock, or moves it, as tests do that do not\n"
     "want to wait for a season's end.\n\n"
     "  --forward TIME   by how much, such as 90s, 15m or 24h\n"},
    {"expire", ASKS,
     "usage: gametable expire\n\n"
     "Removes what has expired by the clock of a server started with --test-clock, now instead of\n"
     "by and by, and tells how many items that were.\n"},
    {"health", ASKS,
     "usage: gametable health\n\n"
     "Asks a server's /healthz; the exit status is 0 if it answers that all is well. It needs no\n"
     "key.\n"},
    {"help", ALONE,
     "usage: gametable help [COMMAND]\n"
     "       gametable help --man | --settings\n\n"
     "Explains all commands, or one with its options (as `gametable COMMAND --help` does).\n\n"
     "  --man        the man page, for troff\n"
     "  --settings   the settings of serve as a table in Markdown\n"},
};

static const char client_options_text[] =
    "\nWhere the server is, and who asks:\n\n"
    "  --url URL           its address [GAMETABLE_URL, or http://127.0.0.1:8000]; https too\n"
    "  --key ID:SECRET     an access key, if it wants one [GAMETABLE_KEY]\n"
    "  --cacert FILE       the authority to trust over https [GAMETABLE_CACERT, or the system's]\n"
    "  --timeout SECONDS   how long an answer may take [600]\n";
static const char json_option_text[] = "  --json              print answers as they come\n";

bool help_put(struct buf *to, const char *command) {
    for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++)
        if (strcmp(helps[i].command, command) == 0) {
            buf_put(to, bytes_str(helps[i].text));
            if (helps[i].server != ALONE)
                buf_put(to, bytes_str(client_options_text));
            if (helps[i].server == ASKS_JSON)
                buf_put(to, bytes_str(json_option_text));
            return true;
        }
    return false;
}

int help_usage(const char *command) {
    struct buf text = {0};
    help_put(&text, command);
    fwrite(text.data, 1, text.size, stderr);
    buf_release(&text);
    return 2;
}

/* The settings of the server: one table names each flag, its environment variable, its line in
 * the config file, its default and what it does. --help, the man page and docs/settings.md are
 * all written from it. A flag wins over the environment, the environment over the file. */
#ifndef GT_CLI_SETTINGS_H
#define GT_CLI_SETTINGS_H

#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "store/store.h"

struct address {
    char host[256];
    int port;
};

struct settings {
    const char *data;
    bool memory;
    struct address http;
    struct address redis; /* host empty: off */
    bool redis_tls;
    enum store_sync durability;
    int64_t sync_interval_ms;
    int64_t cache_memory;
    int64_t index_memory;
    int64_t store_memory;
    int64_t threads;
    int64_t connections_max;
    int64_t in_flight_max;
    int64_t idle_ms;
    int64_t request_ms;
    const char *region;
    const char *export_dir;
    const char *origins; /* of pages that may open live lines, besides our own */
    bool strict_paging;
    const char *keys; /* the key file; "": none */
    const char *tls_cert, *tls_key;
    const char *game_table;   /* "": no boards */
    const char *token_secret; /* the file; "": in the data folder */
    bool trust_network;
    bool test_clock;
    struct log_settings log;
};

/* Fills in *out from argv (options only), the environment and the config file. INVALID with a
 * sentence that names the setting and where it came from. Strings live in the arena or argv. */
enum status settings_read(int argc, char **argv, struct arena *arena, struct failure *failure,
                          struct settings *out);

/* The table as help text, as man page source, or as Markdown. */
enum settings_form { SETTINGS_HELP, SETTINGS_MAN, SETTINGS_MARKDOWN };
void settings_describe(struct buf *to, enum settings_form form);

/* Whether the host names this machine only. */
bool address_is_loopback(const struct address *address);

#endif

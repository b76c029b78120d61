/* The settings of the server: one table names each flag, its environment variable, its line in
 * the config file, its default and what it does. --help, the man page and docs/settings.md are
 * all written from it. A flag wins over the environment, the environment over the file. */
#ifndef GT_CLI_SETTINGS_H
#define GT_CLI_SETTINGS_H

#include "api/dynamodb/dynamodb_frontend.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "store/store.h"

struct address {
    char host[256];
    int port;
};

enum engine_choice { ENGINE_LOCAL, ENGINE_DYNAMODB };
enum { SETTINGS_MAX = 64 };

struct settings {
    enum engine_choice engine;
    const char *dynamodb_endpoint, *dynamodb_region, *dynamodb_ca;
    const char *rank_redis, *rank_redis_user, *rank_redis_password, *rank_redis_ca;
    bool rank_redis_tls;
    const char *data;
    bool memory;
    struct address http;
    struct address redis; /* host empty: off */
    bool redis_tls;
    enum store_sync durability;
    int64_t sync_interval_ms;
    int64_t cache_memory;
    int64_t index_memory;
    int64_t recovery_disk;
    int64_t store_memory;
    int64_t threads;
    int64_t busy_poll_us;
    int64_t stream_shards;
    int64_t connections_max;
    int64_t in_flight_max;
    int64_t http_memory;
    int64_t idle_ms;
    int64_t request_ms;
    const char *region;
    const char *export_dir;
    const char *origins; /* of pages that may talk to the server, besides our own */
    bool strict_paging;
    enum error_texts error_texts;
    const char *keys; /* the key file; "": none */
    const char *tls_cert, *tls_key;
    const char *game_table;   /* "": no boards */
    const char *token_secret; /* the file; "": in the data folder */
    bool trust_network;
    bool guests;       /* of a server with keys */
    bool metrics_open; /* whoever reaches the port may read /metrics */
    int64_t slow_ms;   /* from when on a request is in the slow log */
    bool test_clock;
    const char *test_faults; /* "": none, and none may be ordered */
    struct log_settings log;
    /* What each setting was given as, and where, in the order of the table. */
    struct setting_origin {
        const char *text, *source;
    } origins_of[SETTINGS_MAX];
};

/* Fills in *out from argv (options only), the environment and the config file. INVALID with a
 * sentence that names the setting and where it came from. Strings live in the arena or argv. */
enum status settings_read(int argc, char **argv, struct scope in, struct settings *out);

/* The table as help text, as man page source, or as Markdown. */
enum settings_form { SETTINGS_HELP, SETTINGS_MAN, SETTINGS_MARKDOWN };
void settings_describe(struct buf *to, enum settings_form form);

/* Appends the settings as in force as a JSON list, with where each came from; what may hold a
 * secret is masked. */
void settings_put_json(struct buf *to, const struct settings *settings);

/* Whether the host names this machine only. */
bool address_is_loopback(const struct address *address);

#endif

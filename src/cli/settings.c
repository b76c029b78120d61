#include "cli/settings.h"

#include "json/json.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum kind {
    KIND_TEXT,
    KIND_SWITCH,
    KIND_COUNT,
    KIND_SIZE,
    KIND_TIME,
    KIND_ADDRESS,
    KIND_ADDRESS_OR_OFF,
    KIND_CHOICE
};

struct choice {
    const char *name;
    int value;
};

static const struct choice durabilities[] = {{"commit", STORE_SYNC_COMMIT},
                                             {"interval", STORE_SYNC_INTERVAL},
                                             {"none", STORE_SYNC_NONE},
                                             {NULL, 0}};
static const struct choice levels[] = {
    {"debug", LOG_DEBUG}, {"info", LOG_INFO}, {"warn", LOG_WARN}, {"error", LOG_ERROR}, {NULL, 0}};

static const struct choice texts[] = {
    {"common", ERROR_TEXTS_COMMON}, {"newest", ERROR_TEXTS_NEWEST}, {NULL, 0}};

static const struct choice engines[] = {
    {"local", ENGINE_LOCAL}, {"dynamodb", ENGINE_DYNAMODB}, {NULL, 0}};

struct setting {
    const char *name; /* --name, GAMETABLE_NAME, name = ... */
    enum kind kind;
    size_t offset; /* in struct settings */
    const char *argument;
    const char *initial;
    const char *help;
    const struct choice *choices;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting table[] = {
    {"data", KIND_TEXT, AT(data), "DIR", "./gametable-data",
     "the folder that holds the data; made if missing", NULL},
    {"memory", KIND_SWITCH, AT(memory), NULL, "no",
     "keep everything in memory, nothing on disk: for tests", NULL},
    {"http", KIND_ADDRESS, AT(http), "HOST:PORT", "127.0.0.1:8000",
     "where HTTP listens; port 0 picks a free one", NULL},
    {"redis", KIND_ADDRESS_OR_OFF, AT(redis), "HOST:PORT|off", "127.0.0.1:6380",
     "where the Redis protocol is spoken; port 0 picks a free one", NULL},
    {"redis-tls", KIND_SWITCH, AT(redis_tls), NULL, "no",
     "encrypt the Redis protocol with tls-cert and tls-key", NULL},
    {"durability", KIND_CHOICE, AT(durability), "commit|interval|none", "commit",
     "when a write is answered: after its fsync; before it, with an fsync every sync-interval; or "
     "leave syncing to the system",
     durabilities},
    {"sync-interval", KIND_TIME, AT(sync_interval_ms), "TIME", "100ms",
     "how often to fsync with durability interval", NULL},
    {"cache-memory", KIND_SIZE, AT(cache_memory), "SIZE", "0",
     "memory for hot items; 0 is an eighth of the machine's or of its control group's limit, at "
     "least 256M and at most 4G",
     NULL},
    {"index-memory", KIND_SIZE, AT(index_memory), "SIZE", "0",
     "memory for index trees and counts; 0 is half of the machine's or of its control group's "
     "limit; past it writes that add "
     "entries are refused",
     NULL},
    {"store-memory", KIND_SIZE, AT(store_memory), "SIZE", "64M",
     "memory for what is read of the store's files, besides the system's own cache of them; 0 is "
     "64M",
     NULL},
    {"recovery-disk", KIND_SIZE, AT(recovery_disk), "SIZE", "16G",
     "room on the disk for point-in-time recovery of the tables that have it: checkpoints and the "
     "log between them; past it the oldest go first; at least 1G",
     NULL},
    {"threads", KIND_COUNT, AT(threads), "N", "0",
     "threads that serve connections; 0 is one a core, of more than two cores one less", NULL},
    {"busy-poll", KIND_COUNT, AT(busy_poll_us), "MICROSECONDS", "60",
     "how long a thread that serves busy connections looks for the next request before it sleeps; "
     "0 "
     "is not at all, as on one processor and where a control group limits processor time",
     NULL},
    {"max-connections", KIND_COUNT, AT(connections_max), "N", "20000",
     "open connections; one more is answered 503", NULL},
    {"max-in-flight", KIND_COUNT, AT(in_flight_max), "N", "10000",
     "requests that wait for their answer; one more is refused and may be tried again", NULL},
    {"http-memory", KIND_SIZE, AT(http_memory), "SIZE", "512M",
     "memory for bodies of requests on their way and answers that wait to be read, of all HTTP "
     "connections; what would take more is answered 503",
     NULL},
    {"idle-timeout", KIND_TIME, AT(idle_ms), "TIME", "60s",
     "how long a connection may be silent between requests", NULL},
    {"request-timeout", KIND_TIME, AT(request_ms), "TIME", "30s",
     "how long a request may take to arrive; then 408", NULL},
    {"stream-shards", KIND_COUNT, AT(stream_shards), "N", "1",
     "shards of streams that are switched on from now on, 1 to 4: readers of several can work side "
     "by side",
     NULL},
    {"region", KIND_TEXT, AT(region), "NAME", "",
     "the region in ARNs; empty takes the one each client signs for", NULL},
    {"origins", KIND_TEXT, AT(origins), "LIST", "",
     "origins of web pages that may talk to this server besides its own and (without keys) this "
     "machine's, separated by blanks; * for any",
     NULL},
    {"export-dir", KIND_TEXT, AT(export_dir), "DIR", "",
     "where exports go and imports come from: buckets are folders in it; empty is DATA/exports",
     NULL},
    {"strict-paging", KIND_SWITCH, AT(strict_paging), NULL, "no",
     "page plain counts at 1 MB, as the service does, instead of answering them whole", NULL},
    {"error-texts", KIND_CHOICE, AT(error_texts), "common|newest", "common",
     "the words of DynamoDB's faults: those of every region, or those that came to some of them in "
     "2026 and put \"1 validation error detected: \" before faults of single-item writes",
     texts},
    {"keys", KIND_TEXT, AT(keys), "FILE", "",
     "the access keys that may come in, made by `gametable keys add`; without, anybody on this "
     "machine may",
     NULL},
    {"tls-cert", KIND_TEXT, AT(tls_cert), "FILE", "",
     "the certificate and its chain, in PEM: HTTPS instead of HTTP", NULL},
    {"tls-key", KIND_TEXT, AT(tls_key), "FILE", "", "the certificate's private key, in PEM", NULL},
    {"game-table", KIND_TEXT, AT(game_table), "NAME", "gametable",
     "the table that holds boards, players and plays, made if missing; empty serves no boards",
     NULL},
    {"token-secret", KIND_TEXT, AT(token_secret), "FILE", "",
     "what players' and plays' tokens are signed with, at least 32 bytes; empty is "
     "DATA/token-secret, made at the first start",
     NULL},
    {"slow", KIND_TIME, AT(slow_ms), "TIME", "100ms",
     "requests that take at least so long are kept in the slow log (/v1/slow)", NULL},
    {"metrics-open", KIND_SWITCH, AT(metrics_open), NULL, "no",
     "let whoever reaches the HTTP port read /metrics without a key", NULL},
    {"engine", KIND_CHOICE, AT(engine), "local|dynamodb", "local",
     "where the data is: in the data folder, or in a table of Amazon DynamoDB with its ranking in "
     "Redis or Valkey, for as many servers as wanted (docs/scale-out.md)",
     engines},
    {"dynamodb-endpoint", KIND_TEXT, AT(dynamodb_endpoint), "URL", "",
     "with engine dynamodb: the endpoint; empty is Amazon's of the region. Keys are found where "
     "AWS's SDKs find them",
     NULL},
    {"dynamodb-region", KIND_TEXT, AT(dynamodb_region), "NAME", "",
     "the endpoint's region; empty is AWS_REGION or AWS_DEFAULT_REGION", NULL},
    {"dynamodb-ca", KIND_TEXT, AT(dynamodb_ca), "FILE", "",
     "authorities to trust for the endpoint instead of the system's, in PEM", NULL},
    {"rank-redis", KIND_TEXT, AT(rank_redis), "HOST:PORT,...", "",
     "with engine dynamodb: the Redis or Valkey that keeps the ranking; several addresses are "
     "seeds "
     "of a cluster, sentinel:NAME@HOST:PORT,... a master by its sentinels",
     NULL},
    {"rank-redis-user", KIND_TEXT, AT(rank_redis_user), "NAME", "",
     "its user; empty is the default one", NULL},
    {"rank-redis-password", KIND_TEXT, AT(rank_redis_password), "TEXT", "",
     "the user's password; better in the environment or the config file than on the command line",
     NULL},
    {"rank-redis-tls", KIND_SWITCH, AT(rank_redis_tls), NULL, "no", "encrypt what goes to it",
     NULL},
    {"rank-redis-ca", KIND_TEXT, AT(rank_redis_ca), "FILE", "",
     "authorities to trust for it instead of the system's, in PEM", NULL},
    {"trust-network", KIND_SWITCH, AT(trust_network), NULL, "no",
     "allow listening beyond loopback without keys: whoever reaches the port may read and write "
     "everything",
     NULL},
    {"guests", KIND_SWITCH, AT(guests), NULL, "no",
     "with keys: let whoever has a room's link or QR code sit down in that room, without a key and "
     "for "
     "nothing else",
     NULL},
    {"test-clock", KIND_SWITCH, AT(test_clock), NULL, "no",
     "let tests move the clock and expire items: gametable clock, gametable expire", NULL},
    {"test-faults", KIND_TEXT, AT(test_faults), "ORDERS", "",
     "let tests order throttled and slow DynamoDB requests, small pages and enforced capacity, and "
     "begin with these, as in \"throttle scores PutItem 3; delay * Query 20ms\"; none begins with "
     "none",
     NULL},
    {"log-level", KIND_CHOICE, AT(log.level), "debug|info|warn|error", "info",
     "less than this is not logged", levels},
    {"log-json", KIND_SWITCH, AT(log.json), NULL, "no", "log one JSON object a line", NULL},
};
enum { SETTINGS = sizeof(table) / sizeof(table[0]) };
static_assert((int)SETTINGS <= (int)SETTINGS_MAX, "struct settings has no room for its origins");

/* --- values --- */

static bool parse_scaled(const char *text, const char *const *units, const int64_t *scales,
                         int64_t *out) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno != 0 || number < 0)
        return false;
    for (int i = 0; units[i] != NULL; i++)
        if (strcasecmp(end, units[i]) == 0)
            return !__builtin_mul_overflow((int64_t)number, scales[i], out);
    return false;
}

static bool parse_size(const char *text, int64_t *out) {
    static const char *const units[] = {"", "B", "K", "KB", "M", "MB", "G", "GB", NULL};
    static const int64_t scales[] = {1, 1, 1 << 10, 1 << 10, 1 << 20, 1 << 20, 1 << 30, 1 << 30};
    return parse_scaled(text, units, scales, out);
}

static bool parse_time(const char *text, int64_t *out) {
    static const char *const units[] = {"ms", "s", "m", "h", NULL};
    static const int64_t scales[] = {1, 1000, 60 * 1000, 60 * 60 * 1000};
    return parse_scaled(text, units, scales, out) && *out <= INT32_MAX;
}

static bool parse_count(const char *text, int64_t *out) {
    static const char *const units[] = {"", NULL};
    static const int64_t scales[] = {1};
    return parse_scaled(text, units, scales, out) && *out <= 1000000;
}

static bool parse_switch(const char *text, bool *out) {
    static const char *const words[] = {"no", "yes", "false", "true", "0", "1", "off", "on"};
    for (int i = 0; i < 8; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    return false;
}

static bool parse_address(const char *text, struct address *out) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL)
        return false;
    const char *host = text;
    size_t size = (size_t)(colon - text);
    if (size >= 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    char *end;
    long port = strtol(colon + 1, &end, 10);
    if (size == 0 || size >= sizeof(out->host) || !isdigit((unsigned char)colon[1]) ||
        *end != '\0' || port > 65535)
        return false;
    memcpy(out->host, host, size);
    out->host[size] = '\0';
    out->port = (int)port;
    return true;
}

static bool parse_choice(const char *text, const struct choice *choices, int *out) {
    for (; choices->name != NULL; choices++)
        if (strcmp(text, choices->name) == 0) {
            *out = choices->value;
            return true;
        }
    return false;
}

static bool assign(const struct setting *setting, struct settings *settings, const char *text) {
    void *field = (char *)settings + setting->offset;
    switch (setting->kind) {
    case KIND_TEXT:
        *(const char **)field = text;
        return true;
    case KIND_SWITCH:
        return parse_switch(text, field);
    case KIND_COUNT:
        return parse_count(text, field);
    case KIND_SIZE:
        return parse_size(text, field);
    case KIND_TIME:
        return parse_time(text, field);
    case KIND_ADDRESS:
        return parse_address(text, field);
    case KIND_ADDRESS_OR_OFF:
        return strcmp(text, "off") == 0 || parse_address(text, field);
    case KIND_CHOICE:
        return parse_choice(text, setting->choices, field);
    }
    return false;
}

static const char *expected(const struct setting *setting) {
    static const char *const by_kind[] = {"text",
                                          "yes or no",
                                          "a number",
                                          "a size such as 64M",
                                          "a time such as 500ms or 30s",
                                          "HOST:PORT such as 127.0.0.1:8000",
                                          "HOST:PORT such as 127.0.0.1:6380, or off",
                                          NULL};
    const char *what = by_kind[setting->kind];
    return what != NULL ? what : setting->argument;
}

/* --- where values come from --- */

struct reading {
    struct arena *arena;
    struct failure *failure;
    struct settings *settings;
    bool given[SETTINGS]; /* by something stronger than what is read now */
    int at;               /* which word of the command line is read */
    const char *config;   /* the file to read settings from; NULL: none */
};

static const struct setting *find_setting(struct bytes name) {
    for (int i = 0; i < SETTINGS; i++)
        if (bytes_equal(bytes_str(table[i].name), name))
            return &table[i];
    return NULL;
}

static enum status set_value(struct reading *reading, const struct setting *setting,
                             const char *text, const char *source) {
    size_t index = (size_t)(setting - table);
    if (reading->given[index])
        return OK;
    reading->given[index] = true;
    bool named = strncmp(source, "GAMETABLE_", 10) == 0; /* by a variable, whose name goes */
    reading->settings->origins_of[index] =
        (struct setting_origin){text, named ? "environment" : source};
    if (assign(setting, reading->settings, text))
        return OK;
    return failure_set(reading->failure, reading->arena, INVALID,
                       "%s: '%s' is not a value for %s: expected %s", source, text, setting->name,
                       expected(setting));
}

/* Reads the flag at argv[reading->at], and its value if that is the next word. */
static enum status read_flag(struct reading *reading, int argc, char **argv) {
    const char *flag = argv[reading->at];
    if (strncmp(flag, "--", 2) != 0)
        return failure_set(reading->failure, reading->arena, INVALID,
                           "'%s' is not an option; see gametable help serve", flag);
    const char *equals = strchr(flag, '=');
    struct bytes name =
        bytes_of(flag + 2, equals != NULL ? (size_t)(equals - flag - 2) : strlen(flag + 2));
    const struct setting *setting = find_setting(name);
    bool is_config = bytes_equal(name, BYTES("config"));
    if (setting == NULL && !is_config)
        return failure_set(reading->failure, reading->arena, INVALID,
                           "there is no option --%.*s; see gametable help serve", BYTES_ARG(name));
    const char *text = equals != NULL ? equals + 1 : NULL;
    if (text == NULL && setting != NULL && setting->kind == KIND_SWITCH)
        text = "yes";
    if (text == NULL) {
        if (reading->at + 1 >= argc)
            return failure_set(reading->failure, reading->arena, INVALID, "--%.*s needs a value",
                               BYTES_ARG(name));
        text = argv[++reading->at];
    }
    if (is_config) {
        reading->config = text;
        return OK;
    }
    return set_value(reading, setting, text, "command line");
}

static enum status read_environment(struct reading *reading) {
    for (int i = 0; i < SETTINGS; i++) {
        char name[64] = "GAMETABLE_";
        size_t at = strlen(name);
        for (const char *c = table[i].name; *c != '\0'; c++)
            name[at++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
        name[at] = '\0';
        const char *text = getenv(name);
        if (text == NULL)
            continue;
        enum status status = set_value(reading, &table[i], text, name);
        if (status != OK)
            return status;
    }
    return OK;
}

static struct bytes trim(struct bytes text) {
    while (text.size > 0 && isspace(text.data[0]))
        text = bytes_skip(text, 1);
    while (text.size > 0 && isspace(text.data[text.size - 1]))
        text.size--;
    return text;
}

static enum status read_line(struct reading *reading, const char *path, int number,
                             struct bytes line) {
    const char *source =
        (const char *)arena_printf(reading->arena, "%s line %d", path, number).data;
    line = trim(line);
    if (line.size == 0 || line.data[0] == '#')
        return OK;
    size_t equals = bytes_find(line, BYTES("="));
    if (equals == SIZE_MAX)
        return failure_set(reading->failure, reading->arena, INVALID, "%s: expected name = value",
                           source);
    struct bytes name = trim((struct bytes){line.data, equals});
    const struct setting *setting = find_setting(name);
    if (setting == NULL)
        return failure_set(reading->failure, reading->arena, INVALID,
                           "%s: there is no setting %.*s", source, BYTES_ARG(name));
    return set_value(reading, setting,
                     arena_str(reading->arena, trim(bytes_skip(line, equals + 1))), source);
}

static enum status read_config(struct reading *reading, const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return failure_set(reading->failure, reading->arena, INVALID,
                           "cannot read the config file %s: %s", path, strerror(errno));
    char line[4096];
    enum status status = OK;
    for (int number = 1; status == OK && fgets(line, sizeof(line), file) != NULL; number++)
        status = strlen(line) == sizeof(line) - 1 && strchr(line, '\n') == NULL
                     ? failure_set(reading->failure, reading->arena, INVALID,
                                   "%s line %d: a line has at most %zu characters", path, number,
                                   sizeof(line) - 2)
                     : read_line(reading, path, number, bytes_str(line));
    if (status == OK && ferror(file)) /* a folder can be opened, and not read */
        status = failure_set(reading->failure, reading->arena, INVALID,
                             "cannot read the config file %s: %s", path, strerror(errno));
    fclose(file);
    return status;
}

enum status settings_read(int argc, char **argv, struct scope in, struct settings *out) {
    *out = (struct settings){0};
    struct reading reading = {.arena = in.arena, .failure = in.failure, .settings = out};
    reading.config = getenv("GAMETABLE_CONFIG");
    for (; reading.at < argc; reading.at++) {
        enum status status = read_flag(&reading, argc, argv);
        if (status != OK)
            return status;
    }
    enum status status = read_environment(&reading);
    if (status == OK && reading.config != NULL)
        status = read_config(&reading, reading.config);
    for (int i = 0; i < SETTINGS && status == OK; i++)
        status = set_value(&reading, &table[i], table[i].initial, "default");
    return status;
}

bool address_is_loopback(const struct address *address) {
    const char *host = address->host;
    bool is_name = host[strspn(host, "0123456789.")] != '\0'; /* 127.example.com may be anywhere */
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (!is_name && strncmp(host, "127.", 4) == 0);
}

/* --- telling about them --- */

static void describe_help(struct buf *to, const struct setting *setting) {
    char flag[96];
    snprintf(flag, sizeof(flag), "--%s%s%s", setting->name, setting->argument != NULL ? " " : "",
             setting->argument != NULL ? setting->argument : "");
    buf_printf(to, "  %-34s %s", flag, setting->help);
    if (setting->kind != KIND_SWITCH && setting->initial[0] != '\0')
        buf_printf(to, " [%s]", setting->initial);
    buf_lit(to, "\n");
}

static void describe_man(struct buf *to, const struct setting *setting) {
    buf_printf(to, ".TP\n.B \\-\\-%s", setting->name);
    if (setting->argument != NULL)
        buf_printf(to, " \\fI%s\\fR", setting->argument);
    buf_printf(to, "\n%s.", setting->help);
    if (setting->initial[0] != '\0')
        buf_printf(to, " Default: %s.", setting->initial);
    buf_lit(to, "\n");
}

static void describe_markdown(struct buf *to, const struct setting *setting) {
    buf_printf(to, "| `--%s", setting->name);
    for (const char *c = setting->argument != NULL ? setting->argument : ""; *c != '\0'; c++) {
        if (c == setting->argument)
            buf_byte(to, ' ');
        if (*c == '|')
            buf_byte(to, '\\');
        buf_byte(to, (uint8_t)*c);
    }
    buf_printf(to, "` | `GAMETABLE_");
    for (const char *c = setting->name; *c != '\0'; c++)
        buf_byte(to, *c == '-' ? '_' : (uint8_t)toupper((unsigned char)*c));
    buf_printf(to, "` | %s | %s |\n", setting->initial, setting->help);
}

void settings_describe(struct buf *to, enum settings_form form) {
    if (form == SETTINGS_MARKDOWN)
        buf_lit(to, "| flag | environment | default | what it does |\n|---|---|---|---|\n");
    for (int i = 0; i < SETTINGS; i++) {
        if (form == SETTINGS_HELP)
            describe_help(to, &table[i]);
        else if (form == SETTINGS_MAN)
            describe_man(to, &table[i]);
        else
            describe_markdown(to, &table[i]);
    }
}

/* An address may have a password in it: scheme://user:password@host. */
static bool may_hold_secret(const struct setting *setting, const char *text) {
    const char *scheme = strstr(text, "://");
    return strstr(setting->name, "password") != NULL ||
           (scheme != NULL && strchr(scheme + 3, '@') != NULL);
}

static void put_member(struct buf *to, const char *name, const char *text) {
    buf_printf(to, ",\"%s\":", name);
    json_put_string(to, bytes_str(text));
}

void settings_put_json(struct buf *to, const struct settings *settings) {
    buf_byte(to, '[');
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting_origin *origin = &settings->origins_of[i];
        const char *text = origin->text != NULL ? origin->text : "";
        if (i != 0)
            buf_byte(to, ',');
        buf_lit(to, "{\"name\":");
        json_put_string(to, bytes_str(table[i].name));
        put_member(to, "value", may_hold_secret(&table[i], text) ? "***" : text);
        put_member(to, "default", table[i].initial);
        put_member(to, "from", origin->source != NULL ? origin->source : "default");
        put_member(to, "about", table[i].help);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

/* gametable play: bots that play against each other, or against whoever made a room; for trying a
 * game alone, and for load. */
#include "api/rest/rest_form.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cli/bot.h"
#include "cli/cmd_client.h"
#include "cli/commands.h"
#include "cli/help_texts.h"
#include "cli/progress.h"
#include "game/room/match.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { REPORT_MS = 500, SEATERS = 64 };

struct play {
    struct client client;
    const struct match_kind *kind;
    const char *join;
    struct buf options; /* of the rooms it makes: the members of a JSON object */
    unsigned bot_count, room_count, matches;
    double limit_s;
    struct bots bots;
    struct bot *bot;
    struct sockaddr_storage address;
    char *host;      /* "127.0.0.1:8000" */
    struct tls *tls; /* NULL: the server is asked in plain */
    struct progress progress;
    uv_timer_t report;
    int64_t until_us;
};

/* ---- arguments ---- */

struct words {
    const char *bots, *rooms, *kind, *join, *matches, *rounds, *seconds, *options, *limit, *errors,
        *slow, *spread;
};

static unsigned count_of(const char *text, unsigned otherwise, unsigned most) {
    char *end = NULL;
    unsigned long number = text != NULL ? strtoul(text, &end, 10) : otherwise;
    if (text != NULL && (end == text || *end != '\0' || number == 0 || number > most)) {
        fprintf(stderr, "gametable play: %s is not a number from 1 to %u\n", text, most);
        exit(2);
    }
    return (unsigned)number;
}

/* None is a share as well. */
static int percent_of(const char *text, unsigned otherwise) {
    return text != NULL && strcmp(text, "0") == 0 ? 0 : (int)count_of(text, otherwise, 100);
}

static bool is_number(struct bytes text) {
    bool digits = text.size > 0 && text.size < 10;
    for (size_t i = 0; digits && i < text.size; i++)
        digits = text.data[i] >= '0' && text.data[i] <= '9';
    return digits;
}

/* Adds an option of the rooms to be made, if the kind has it; else false. The server checks it. */
static bool put_option(struct play *play, struct bytes name, struct bytes value) {
    const struct match_option *option = play->kind->options;
    while (option->name != NULL && !bytes_equal(name, bytes_str(option->name)))
        option++;
    if (option->name == NULL)
        return false;
    rest_put_name(&play->options, option->name);
    if (option->choices != NULL || !is_number(value))
        json_put_string(&play->options, value);
    else
        json_put_int(&play->options, form_int(value));
    return true;
}

/* "rounds=8,language=hi" */
static int read_options(struct play *play, const char *list) {
    while (list != NULL && *list != '\0') {
        size_t size = strcspn(list, ","), name_size = strcspn(list, "=,");
        struct bytes name = bytes_of(list, name_size);
        struct bytes value = bytes_skip(bytes_of(list, size), name_size + (name_size < size));
        if (value.size == 0 || !put_option(play, name, value)) {
            fprintf(stderr, "gametable play: --options is NAME=VALUE,...; %s has no %.*s\n",
                    play->kind->name, BYTES_ARG(name));
            return 2;
        }
        list += size + (list[size] == ',');
    }
    return 0;
}

static int find_kind(struct play *play, const char *name) {
    const struct match_kind *kind;
    size_t first = 0;
    play->kind = name == NULL ? match_kind_next(&first) : match_kind_named(bytes_str(name));
    if (play->kind != NULL)
        return 0;
    fprintf(stderr, "gametable play: there is no game %s; there are", name);
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        fprintf(stderr, " %s", kind->name);
    fprintf(stderr, "\n");
    return 2;
}

/* What is for the rooms that it makes: the game, and its options. --rounds and --seconds are for
 * those games that have them. */
static int read_room_words(struct play *play, const struct words *words) {
    int result = find_kind(play, words->kind);
    if (result != 0)
        return result;
    buf_byte(&play->options, '{');
    const char *rounds = words->rounds, *seconds = words->seconds;
    if (rounds != NULL && count_of(rounds, 1, 10000) != 0)
        put_option(play, BYTES("rounds"), bytes_str(rounds));
    if (seconds != NULL && count_of(seconds, 1, 10000) != 0)
        put_option(play, BYTES("seconds"), bytes_str(seconds));
    return read_options(play, words->options);
}

static int check_counts(struct play *play) {
    if (play->join != NULL)
        play->room_count = 1;
    if (play->bot_count >= play->room_count)
        return 0;
    fprintf(stderr, "gametable play: a room needs a bot: fewer --rooms, or more --bots\n");
    return 2;
}

/* As many as fit into the rooms, up to eight; in a room that is there already it has to tell. */
static unsigned usual_bots(const struct play *play) {
    unsigned seats = play->kind->players_max * play->room_count;
    return play->join == NULL && seats < 8 ? seats : 8;
}

static int read_words(struct play *play, int argc, char **argv) {
    struct words words = {0};
    struct option_spec specs[13 + CLIENT_OPTIONS] = {
        {"bots", &words.bots, NULL},        {"rooms", &words.rooms, NULL},
        {"game", &words.kind, NULL},        {"join", &words.join, NULL},
        {"matches", &words.matches, NULL},  {"rounds", &words.rounds, NULL},
        {"seconds", &words.seconds, NULL},  {"options", &words.options, NULL},
        {"limit", &words.limit, NULL},      {"errors", &words.errors, NULL},
        {"slow", &words.slow, NULL},        {"spread", &words.spread, NULL},
        {"eager", NULL, &play->bots.eager},
    };
    client_init(&play->client, "play", specs);
    int rest = client_options(&play->client, argc, argv, specs);
    if (rest != 0)
        return rest > 0 ? help_usage("play") : 2;
    int result = read_room_words(play, &words);
    if (result != 0)
        return result;
    play->join = words.join;
    play->room_count = count_of(words.rooms, 1, LIMIT_BOTS);
    play->bot_count = count_of(words.bots, usual_bots(play), LIMIT_BOTS);
    play->matches = count_of(words.matches, 1, 1000);
    play->limit_s = count_of(words.limit, 3600, 86400);
    play->bots.error_percent = percent_of(words.errors, 15);
    play->bots.slow_ms = (int)count_of(words.slow, 1800, 60000);
    play->bots.spread_ms = words.spread != NULL ? 1000 * count_of(words.spread, 1, 3600) : 0;
    play->bots.matches = play->matches;
    return check_counts(play);
}

/* "host:port", "[::1]:port" or "host" to its two parts, both in the arena. */
static void split_host(struct play *play, char **name, const char **port) {
    *name = arena_str(&play->client.arena, bytes_str(play->host));
    char *colon = strrchr(*name, ':');
    if (colon != NULL && strchr(colon, ']') == NULL) {
        *colon = '\0';
        *port = colon + 1;
    }
    if ((*name)[0] == '[') {
        ++*name;
        (*name)[strcspn(*name, "]")] = '\0';
    }
}

static int trust_server(struct play *play, const char *name) {
    struct failure failure = {0};
    if (tls_open_client(name, play->client.server.cacert,
                        (struct scope){&play->client.arena, &failure}, &play->tls) == OK)
        return 0;
    fprintf(stderr, "gametable play: %.*s\n", BYTES_ARG(failure.text));
    return 2;
}

/* The server's URL to an address, and to whom to trust if it is https. */
static int find_server(struct play *play) {
    const char *url = play->client.server.url;
    bool secure = strncmp(url, "https://", 8) == 0;
    if (!secure && strncmp(url, "http://", 7) != 0) {
        fprintf(stderr, "gametable play: %s does not begin with http:// or https://\n", url);
        return 2;
    }
    play->host = arena_str(&play->client.arena, bytes_str(url + (secure ? 8 : 7)));
    play->host[strcspn(play->host, "/")] = '\0';
    char *name;
    const char *port = secure ? "443" : "80";
    split_host(play, &name, &port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int failed = getaddrinfo(name, port, &hints, &found);
    if (failed != 0) {
        fprintf(stderr, "gametable play: %s: %s\n", url, gai_strerror(failed));
        return 1;
    }
    memcpy(&play->address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return secure ? trust_server(play, name) : 0;
}

/* ---- taking seats ---- */

/* Asks for a seat; its code, player and token are in the arena. */
static int take_seat(struct http_client *http, const struct http_client_request *request,
                     struct arena *arena, struct json *out) {
    struct http_client_answer answer = {.arena = arena};
    size_t at;
    if (http_client_send(http, request, &answer) != OK) {
        fprintf(stderr, "gametable play: %.*s\n", BYTES_ARG(answer.failure.text));
        return 1;
    }
    if (answer.status != 201 || json_parse(answer.body, arena, out, &at) != OK) {
        fprintf(stderr, "gametable play: the server said %d: %.*s\n", answer.status,
                BYTES_ARG(answer.body));
        return 1;
    }
    return 0;
}

static void put_who(struct buf *body, unsigned index) {
    static const char *const names[] = {"Asha",  "Bina", "Chand", "Dev",  "Esha",  "Farid",
                                        "Gita",  "Hari", "Isha",  "Jai",  "Kiran", "Leela",
                                        "Mohan", "Nila", "Om",    "Priya"};
    buf_printf(body, "\"player\":\"bot-%u\",\"name\":\"%s %u\"}", index, names[index % 16], index);
}

static void set_line(struct play *play, struct bot *bot, struct bytes code,
                     const struct json *seat) {
    buf_printf(&bot->path, "/v1/rooms/%.*s/live?token=", BYTES_ARG(code));
    buf_put(&bot->path, client_text(seat, "token"));
    buf_put(&bot->player, client_text(seat, "player"));
    bot->bots = &play->bots;
    bot->socket.address = play->address;
    bot->socket.host = play->host;
    bot->socket.tls = play->tls;
    bot->socket.random = &play->bots.random;
}

/* The bots of one room: bots[first .. first+count). */
static int fill_room(struct play *play, struct http_client *http, unsigned first, unsigned count) {
    unsigned begin_ms = (unsigned)((uint64_t)play->bots.spread_ms * first / play->bot_count);
    struct arena arena;
    struct json seat;
    struct buf body = {0};
    struct bytes code = {0};
    int result = 0;
    arena_init(&arena);
    if (play->join != NULL)
        code = bytes_str(play->join);
    for (unsigned i = 0; i < count && result == 0; i++) {
        struct bot *bot = &play->bot[first + i];
        struct http_client_request request = {
            .server = &play->client.server, .method = "POST", .path = "/v1/rooms"};
        buf_clear(&body);
        buf_byte(&body, '{');
        bot->begin_ms = begin_ms;
        bot->seats = play->join == NULL ? count : 0;
        if (code.size == 0) {
            buf_printf(&body, "\"kind\":\"%s\",\"options\":", play->kind->name);
            buf_put(&body, buf_bytes(&play->options));
            buf_lit(&body, "},");
        } else
            request.path =
                arena_str(&arena, arena_printf(&arena, "/v1/rooms/%.*s/players", BYTES_ARG(code)));
        put_who(&body, first + i);
        request.body = buf_bytes(&body);
        result = take_seat(http, &request, &arena, &seat);
        if (result == 0 && code.size == 0)
            code = arena_copy(&arena, client_text(json_get(&seat, BYTES("room")), "code"));
        if (result == 0)
            set_line(play, bot, code, &seat);
    }
    buf_release(&body);
    arena_release(&arena);
    return result;
}

/* Rooms are filled by several at once: each seat waits for its commit. */
struct seater {
    struct play *play;
    pthread_t thread;
    unsigned number; /* fills rooms number, number + SEATERS, ... */
    int result;
    atomic_uint *seated;
};

static unsigned first_of(const struct play *play, unsigned room) {
    return (unsigned)((uint64_t)play->bot_count * room / play->room_count);
}

static void *fill_some(void *argument) {
    struct seater *seater = argument;
    struct play *play = seater->play;
    struct http_client http = {0};
    for (unsigned room = seater->number; room < play->room_count && seater->result == 0;
         room += SEATERS) {
        unsigned first = first_of(play, room), count = first_of(play, room + 1) - first;
        seater->result = fill_room(play, &http, first, count);
        atomic_fetch_add(seater->seated, count);
        if (seater->number == 0)
            progress_show(&play->progress, atomic_load(seater->seated), play->bot_count);
    }
    http_client_close(&http);
    return NULL;
}

static int fill_rooms(struct play *play) {
    struct seater seaters[SEATERS] = {0};
    atomic_uint seated = 0;
    int result = 0;
    progress_start(&play->progress, "taking seats", "bots");
    for (unsigned i = 0; i < SEATERS; i++) {
        seaters[i] = (struct seater){.play = play, .number = i, .seated = &seated};
        thread_start(&seaters[i].thread, fill_some, &seaters[i]);
    }
    for (unsigned i = 0; i < SEATERS; i++) {
        pthread_join(seaters[i].thread, NULL);
        if (seaters[i].result != 0)
            result = seaters[i].result;
    }
    progress_end(&play->progress, atomic_load(&seated));
    return result;
}

/* ---- playing ---- */

static void on_report(uv_timer_t *timer) {
    struct play *play = timer->data;
    unsigned done = play->bot_count - play->bots.playing;
    progress_show(&play->progress, done, play->bot_count);
    if (play->bots.playing == 0 || clock_ticks_us() > play->until_us)
        uv_stop(play->bots.loop);
}

static void run_bots(struct play *play) {
    random_seed(&play->bots.random, (uint64_t)clock_ticks_us());
    play->bots.count = play->bot_count;
    for (unsigned i = 0; i < play->bot_count; i++)
        bot_begin(&play->bot[i]);
    play->until_us = clock_ticks_us() + (int64_t)(play->limit_s * 1e6);
    uv_timer_init(play->bots.loop, &play->report);
    play->report.data = play;
    uv_timer_start(&play->report, on_report, REPORT_MS, REPORT_MS);
    progress_start(&play->progress, "playing", "bots done");
    uv_run(play->bots.loop, UV_RUN_DEFAULT);
    progress_end(&play->progress, play->bot_count - play->bots.playing);
    uv_close((uv_handle_t *)&play->report, NULL);
}

static void report_progress(const struct play *play, unsigned left) {
    const struct bots *bots = &play->bots;
    printf("%u bots in %u rooms of %s: %llu matches seen to their ends, %u bots not done\n",
           play->bot_count, play->room_count, play->kind->name, (unsigned long long)bots->finished,
           left);
    printf("  states %llu, moves %llu, refused %llu, lines lost %llu\n",
           (unsigned long long)bots->states, (unsigned long long)bots->moves,
           (unsigned long long)bots->refused, (unsigned long long)bots->lost);
    if (bots->refused_early + bots->refused_late != 0)
        printf("  of those refused as too late %llu were sent before their round's end, %llu after "
               "it\n",
               (unsigned long long)bots->refused_early, (unsigned long long)bots->refused_late);
    if (bots_counted(bots) != 0)
        printf("  while all were in a match a round reached a player within %u ms (half), %u ms "
               "(99%%), %u ms (all but one in a thousand), %llu times\n",
               bots_latency(bots, 50), bots_latency(bots, 99), bots_latency(bots, 99.9),
               (unsigned long long)bots_counted(bots));
}

static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int command_play(int argc, char **argv) {
    struct play play = {0};
    uv_loop_t loop;
    int result = read_words(&play, argc, argv);
    if (result == 0)
        result = find_server(&play);
    if (result == 0) {
        raise_file_limit();
        uv_loop_init(&loop);
        play.bots.loop = &loop;
        play.bot = mem_zalloc(sizeof(*play.bot) * play.bot_count);
        result = fill_rooms(&play);
        if (result == 0) {
            run_bots(&play);
            unsigned left = play.bots.playing;
            for (unsigned i = 0; i < play.bot_count; i++)
                bot_end(&play.bot[i]);
            uv_run(&loop, UV_RUN_DEFAULT);
            report_progress(&play, left);
            result = left == 0 ? 0 : 1;
        }
        uv_loop_close(&loop);
        mem_free(play.bot);
    }
    buf_release(&play.options);
    if (play.tls != NULL)
        tls_close(play.tls);
    client_release(&play.client);
    return result;
}

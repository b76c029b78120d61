/* gametable play: bots that play against each other, or against whoever made a room; for trying a
 * game alone, and for load. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/bot.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { BOTS_MAX = 100000, REPORT_MS = 500, SEATERS = 64 };

struct play {
    struct client client;
    const char *kind, *join;
    unsigned bot_count, room_count, matches, rounds;
    double seconds, limit_s;
    struct bots bots;
    struct bot *bot;
    struct sockaddr_storage address;
    char *host; /* "127.0.0.1:8000" */
    struct progress progress;
    uv_timer_t report;
    int64_t until_us;
};

/* ---- arguments ---- */

struct words {
    const char *bots, *rooms, *kind, *join, *matches, *rounds, *seconds, *limit, *errors, *slow,
        *spread;
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

static int read_words(struct play *play, int argc, char **argv) {
    struct words words = {0};
    struct option_spec specs[16] = {
        {"bots", &words.bots, NULL},       {"rooms", &words.rooms, NULL},
        {"game", &words.kind, NULL},       {"join", &words.join, NULL},
        {"matches", &words.matches, NULL}, {"rounds", &words.rounds, NULL},
        {"seconds", &words.seconds, NULL}, {"limit", &words.limit, NULL},
        {"errors", &words.errors, NULL},   {"slow", &words.slow, NULL},
        {"spread", &words.spread, NULL},   {"eager", NULL, &play->bots.eager},
    };
    client_init(&play->client, "play", specs);
    int rest = options_read("play", argc, argv, specs);
    if (rest != 0) {
        if (rest > 0)
            fprintf(stderr,
                    "usage: gametable play [--bots 8] [--rooms 1] [--game kauwa-udd | "
                    "snakes-and-ladders]\n         [--join CODE] [--matches 1] [--rounds "
                    "20] [--seconds 3] [--limit SECONDS]\n         [--errors PERCENT] "
                    "[--slow MS] [--eager] [--spread SECONDS] [--url URL] [--key ID:SECRET]\n");
        return 2;
    }
    play->kind = words.kind != NULL ? words.kind : "kauwa-udd";
    play->join = words.join;
    play->bot_count = count_of(words.bots, 8, BOTS_MAX);
    play->room_count = count_of(words.rooms, 1, BOTS_MAX);
    play->matches = count_of(words.matches, 1, 1000);
    play->rounds = count_of(words.rounds, 20, 50);
    play->seconds = count_of(words.seconds, 3, 60);
    play->limit_s = count_of(words.limit, 3600, 86400);
    play->bots.error_percent = (int)count_of(words.errors, 15, 100);
    play->bots.slow_ms = (int)count_of(words.slow, 1800, 60000);
    play->bots.spread_ms = words.spread != NULL ? 1000 * count_of(words.spread, 1, 3600) : 0;
    play->bots.matches = play->matches;
    if (play->join != NULL)
        play->room_count = 1;
    if (play->bot_count < play->room_count) {
        fprintf(stderr, "gametable play: a room needs a bot: fewer --rooms, or more --bots\n");
        return 2;
    }
    return 0;
}

/* "http://host:port" to an address. */
static int find_server(struct play *play) {
    const char *url = play->client.endpoint;
    if (strncmp(url, "http://", 7) != 0) {
        fprintf(stderr, "gametable play: %s does not begin with http://\n", url);
        return 2;
    }
    play->host = arena_str(&play->client.arena, bytes_str(url + 7));
    char *name = arena_str(&play->client.arena, bytes_str(play->host));
    name[strcspn(name, "/")] = '\0';
    play->host[strcspn(play->host, "/")] = '\0';
    char *colon = strrchr(name, ':');
    const char *port = "80";
    if (colon != NULL && strchr(colon, ']') == NULL) {
        *colon = '\0';
        port = colon + 1;
    }
    if (name[0] == '[') {
        name++;
        name[strcspn(name, "]")] = '\0';
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int failed = getaddrinfo(name, port, &hints, &found);
    if (failed != 0) {
        fprintf(stderr, "gametable play: %s: %s\n", url, gai_strerror(failed));
        return 1;
    }
    memcpy(&play->address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

/* ---- taking seats ---- */

/* Asks for a seat; its code, player and token are in the arena. */
static int take_seat(struct play *play, struct asker *asker, const char *path, struct bytes body,
                     struct arena *arena, struct json *out) {
    struct question question = {.endpoint = play->client.endpoint,
                                .method = "POST",
                                .path = path,
                                .body = body,
                                .key = play->client.key};
    struct failure failure = {0};
    struct bytes answer;
    size_t at;
    int status;
    if (asker_ask(asker, &question, arena, &failure, &status, &answer) != OK) {
        fprintf(stderr, "gametable play: %.*s\n", BYTES_ARG(failure.text));
        return 1;
    }
    if (status != 201 || json_parse(answer, arena, out, &at) != OK) {
        fprintf(stderr, "gametable play: the server said %d: %.*s\n", status, BYTES_ARG(answer));
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
}

/* The bots of one room: bots[first .. first+count). */
static int fill_room(struct play *play, struct asker *asker, unsigned first, unsigned count) {
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
        const char *path = "/v1/rooms";
        buf_clear(&body);
        buf_byte(&body, '{');
        bot->begin_ms = begin_ms;
        if (code.size == 0) {
            bot->host = true;
            bot->seats = count;
            buf_printf(&body, "\"kind\":\"%s\",\"options\":{", play->kind);
            if (strcmp(play->kind, "kauwa-udd") == 0)
                buf_printf(&body, "\"rounds\":%u,\"seconds\":%u", play->rounds,
                           (unsigned)play->seconds);
            buf_lit(&body, "},");
        } else
            path =
                arena_str(&arena, arena_printf(&arena, "/v1/rooms/%.*s/players", BYTES_ARG(code)));
        put_who(&body, first + i);
        result = take_seat(play, asker, path, buf_bytes(&body), &arena, &seat);
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
    struct asker asker = {.fd = -1};
    for (unsigned room = seater->number; room < play->room_count && seater->result == 0;
         room += SEATERS) {
        unsigned first = first_of(play, room), count = first_of(play, room + 1) - first;
        seater->result = fill_room(play, &asker, first, count);
        atomic_fetch_add(seater->seated, count);
        if (seater->number == 0)
            progress_show(&play->progress, atomic_load(seater->seated), play->bot_count);
    }
    asker_close(&asker);
    return NULL;
}

static int fill_rooms(struct play *play) {
    struct seater seaters[SEATERS] = {0};
    atomic_uint seated = 0;
    int result = 0;
    progress_start(&play->progress, "taking seats", "bots");
    for (unsigned i = 0; i < SEATERS; i++) {
        seaters[i] = (struct seater){.play = play, .number = i, .seated = &seated};
        pthread_create(&seaters[i].thread, NULL, fill_some, &seaters[i]);
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

static void run(struct play *play) {
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

static void tell(const struct play *play, unsigned left) {
    const struct bots *bots = &play->bots;
    printf("%u bots in %u rooms of %s: %llu matches seen to their ends, %u bots not done\n",
           play->bot_count, play->room_count, play->kind, (unsigned long long)bots->finished, left);
    printf("  states %llu, reactions %llu, rolls %llu, refused %llu, lines lost %llu\n",
           (unsigned long long)bots->states, (unsigned long long)bots->reactions,
           (unsigned long long)bots->rolls, (unsigned long long)bots->refused,
           (unsigned long long)bots->lost);
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
            run(&play);
            unsigned left = play.bots.playing;
            for (unsigned i = 0; i < play.bot_count; i++)
                bot_end(&play.bot[i]);
            uv_run(&loop, UV_RUN_DEFAULT);
            tell(&play, left);
            result = left == 0 ? 0 : 1;
        }
        uv_loop_close(&loop);
        mem_free(play.bot);
    }
    client_release(&play.client);
    return result;
}

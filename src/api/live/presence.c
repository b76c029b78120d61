#include "api/live/presence.h"

#include "api/act.h"
#include "api/live/live_int.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "game/clocks.h"
#include "game/connection.h"

struct presence {
    struct live *live;
    struct presence_queue *queue;
    struct presence *next;           /* in the queue */
    struct presence *after, *before; /* of all of the loop */
    bool writing, waiting, over;     /* under way; in the queue; the last one is to follow */
    bool written;                    /* the connection's item is there, */
    bool again; /* or was taken away by others, and is to be written once more */
    char code[ROOM_CODE_SIZE];
    char connection[ULID_SIZE];
    size_t player_size;
    uint8_t player[];
};

/* One of the two writings. */
struct writing {
    struct act act;
    struct presence *presence;
    bool here;
};

static enum status apply(struct act *act) {
    const struct writing *writing = act->user;
    const struct presence *presence = writing->presence;
    const struct clocks *clocks = presence->live->settings.clocks;
    struct connection connection = {.server =
                                        clocks != NULL ? clocks_owner(clocks) : (struct bytes){0},
                                    .id = bytes_of(presence->connection, ULID_SIZE),
                                    .player = bytes_of(presence->player, presence->player_size)};
    return writing->here ? connection_open(&act->room, &connection, &act->failure)
                         : connection_close(&act->room, &connection, &act->failure);
}

static void begin(struct presence *presence);

/* Those that wait begin, as many as may. One that begins may be finished at once, and come here. */
static void advance(struct presence_queue *queue) {
    if (queue->advancing)
        return;
    queue->advancing = true;
    while (queue->first != NULL && queue->running < PRESENCE_RUNNING_MAX) {
        struct presence *presence = queue->first;
        queue->first = presence->next;
        presence->waiting = false;
        begin(presence);
    }
    queue->advancing = false;
}

static void wait_for_turn(struct presence *presence) {
    struct presence_queue *queue = presence->queue;
    presence->waiting = true;
    presence->next = NULL;
    if (queue->first == NULL)
        queue->first = presence;
    else
        queue->last->next = presence;
    queue->last = presence;
    atomic_fetch_add(&presence->live->acts, 1);
    advance(queue);
}

static void presence_free(struct presence *presence) {
    struct presence_queue *queue = presence->queue;
    if (presence->after != NULL)
        presence->after->before = presence->before;
    if (presence->before != NULL)
        presence->before->after = presence->after;
    else
        queue->all = presence->after;
    if (presence->live->settings.clocks != NULL)
        clocks_hold(presence->live->settings.clocks, -1);
    mem_free(presence);
}

static void finished(struct act *act) {
    struct writing *writing = act->user; /* if it failed there is no room to be told of */
    struct presence *presence = writing->presence;
    struct presence_queue *queue = presence->queue;
    struct live *live = presence->live;
    bool last = !writing->here;
    if (act->failure.status == OK)
        hub_hint(live->hub, &topic_room, act->code);
    act_release(act);
    mem_free(writing);
    presence->writing = false;
    presence->written = true;
    queue->running--;
    if (last)
        presence_free(presence);
    else if (presence->over || presence->again)
        wait_for_turn(presence);
    advance(queue);
    atomic_fetch_sub(&live->acts, 1); /* who waits for the end must not find none in between */
}

static void begin(struct presence *presence) {
    struct live *live = presence->live;
    if (presence->over && !presence->written) { /* gone before its turn came: nobody was there */
        presence_free(presence);
        atomic_fetch_sub(&live->acts, 1);
        return;
    }
    struct writing *writing = mem_zalloc(sizeof(*writing));
    writing->presence = presence;
    writing->here = !presence->over;
    presence->again = false;
    presence->writing = true;
    presence->queue->running++;
    writing->act = (struct act){.game = live->settings.game,
                                .code = bytes_of(presence->code, ROOM_CODE_SIZE),
                                .apply = apply,
                                .finished = finished,
                                .user = writing};
    act_start(&writing->act);
}

struct presence *presence_here(struct live *live, struct bytes code, struct bytes player) {
    struct presence *presence = mem_zalloc(sizeof(*presence) + player.size);
    presence->live = live;
    presence->queue = &live->presences[loop_index(loop_current()) % LIVE_LOOPS_MAX];
    memcpy(presence->code, code.data, ROOM_CODE_SIZE);
    ulid_make(clock_now_ms(), presence->connection);
    memcpy(presence->player, player.data, player.size);
    presence->player_size = player.size;
    presence->after = presence->queue->all;
    if (presence->after != NULL)
        presence->after->before = presence;
    presence->queue->all = presence;
    atomic_store(&presence->queue->loop, loop_current());
    if (live->settings.clocks != NULL)
        clocks_hold(live->settings.clocks, 1);
    wait_for_turn(presence);
    return presence;
}

void presence_gone(struct presence *presence) {
    presence->over = true;
    if (!presence->writing && !presence->waiting)
        wait_for_turn(presence);
}

/* ---- others took this server for gone ---- */

struct rewriting {
    struct task task;
    struct live *live;
    struct presence_queue *queue;
};

static void run_rewriting(struct task *task) {
    struct rewriting *rewriting = (struct rewriting *)task;
    struct presence_queue *queue = rewriting->queue;
    queue->advancing = true; /* one that begins may be freed at once: not while they are walked */
    for (struct presence *each = queue->all; each != NULL; each = each->after) {
        each->again = true;
        if (!each->writing && !each->waiting)
            wait_for_turn(each);
    }
    queue->advancing = false;
    advance(queue);
    atomic_fetch_sub(&rewriting->live->acts, 1);
    mem_free(rewriting);
}

void presence_rewrite(struct live *live) {
    for (size_t i = 0; i < LIVE_LOOPS_MAX; i++) {
        struct loop *loop = atomic_load(&live->presences[i].loop);
        if (loop == NULL)
            continue;
        struct rewriting *rewriting = mem_alloc(sizeof(*rewriting));
        *rewriting = (struct rewriting){
            .task.run = run_rewriting, .live = live, .queue = &live->presences[i]};
        atomic_fetch_add(&live->acts, 1);
        loop_post(loop, &rewriting->task);
    }
}

#include "api/live/live_presence.h"

#include "api/live/live_int.h"
#include "api/room_txn.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "game/room/room_connection.h"
#include "game/room/room_scheduler.h"

struct presence {
    struct live *live;
    struct live_loop *loop;
    struct room_queue_entry entry;
    struct presence *after, *before; /* in the list of all presences of the loop */
    bool writing, waiting, over; /* a write is under way; waits in the queue; the player has gone */
    bool written;                /* the connection's item is there, */
    bool again;                  /* or was removed by another server, and is to be written again */
    char code[ROOM_CODE_SIZE];
    char room_connection[ULID_SIZE];
    int64_t heard_ms; /* when the player was last heard from, once it is over */
    size_t player_size;
    uint8_t player[];
};

/* One write of a presence: the insertion or the removal. */
struct writing {
    struct room_txn txn;
    struct presence *presence;
    bool here;
};

static enum status apply_presence(struct room_txn *txn) {
    const struct writing *writing = txn->user;
    const struct presence *presence = writing->presence;
    const struct room_scheduler *scheduler = presence->live->settings.scheduler;
    struct room_connection room_connection = {
        .server = scheduler != NULL ? room_scheduler_server_id(scheduler) : (struct bytes){0},
        .id = bytes_of(presence->room_connection, ULID_SIZE),
        .player = bytes_of(presence->player, presence->player_size),
        .heard_ms = presence->heard_ms};
    return writing->here ? room_connection_open(&txn->room, &room_connection, &txn->failure)
                         : room_connection_close(&txn->room, &room_connection, &txn->failure);
}

static void begin_write(struct room_queue_entry *entry);

static void wait_for_turn(struct presence *presence) {
    presence->waiting = true;
    presence->entry = (struct room_queue_entry){.code = presence->code, .begin = begin_write};
    atomic_fetch_add(&presence->live->txns, 1);
    room_queue_add(&presence->loop->rooms, &presence->entry);
}

static void presence_free(struct presence *presence) {
    if (presence->after != NULL)
        presence->after->before = presence->before;
    if (presence->before != NULL)
        presence->before->after = presence->after;
    else
        presence->loop->presences = presence->after;
    if (presence->live->settings.scheduler != NULL)
        room_scheduler_count_connections(presence->live->settings.scheduler, -1);
    mem_free(presence);
}

static void presence_written(struct room_txn *txn) {
    struct writing *writing = txn->user; /* if it failed there is no room to be told of */
    struct presence *presence = writing->presence;
    struct room_queue *queue = &presence->loop->rooms;
    struct live *live = presence->live;
    char code[ROOM_CODE_SIZE];
    bool last = !writing->here;
    if (txn->failure.status == OK) {
        hub_notify(live->hub, (struct topic_id){&topic_room, txn->code});
        if (live->settings.scheduler != NULL && txn->room.due_ms != 0)
            room_scheduler_wake(live->settings.scheduler);
    }
    room_txn_release(txn);
    mem_free(writing);
    presence->writing = false;
    presence->written = true;
    memcpy(code, presence->code, ROOM_CODE_SIZE);
    if (last)
        presence_free(presence);
    else if (presence->over || presence->again)
        wait_for_turn(presence);
    room_queue_done(queue, code);
    atomic_fetch_sub(&live->txns, 1); /* who waits for the end must not find none in between */
}

/* Gone before its turn came: nobody was there. */
static void forget(struct presence *presence) {
    struct live *live = presence->live;
    struct room_queue *queue = &presence->loop->rooms;
    char code[ROOM_CODE_SIZE];
    memcpy(code, presence->code, ROOM_CODE_SIZE);
    presence_free(presence);
    room_queue_done(queue, code);
    atomic_fetch_sub(&live->txns, 1);
}

static void begin_write(struct room_queue_entry *entry) {
    struct presence *presence =
        (struct presence *)((char *)entry - offsetof(struct presence, entry));
    struct live *live = presence->live;
    presence->waiting = false;
    if (presence->over && !presence->written) {
        forget(presence);
        return;
    }
    struct writing *writing = mem_zalloc(sizeof(*writing));
    writing->presence = presence;
    writing->here = !presence->over;
    presence->again = false;
    presence->writing = true;
    writing->txn = (struct room_txn){.game = live->settings.game,
                                     .pool = live->settings.pool,
                                     .code = bytes_of(presence->code, ROOM_CODE_SIZE),
                                     .apply = apply_presence,
                                     .finished = presence_written,
                                     .user = writing};
    room_txn_start(&writing->txn);
}

struct presence *presence_open(struct live *live, struct bytes code, struct bytes player) {
    struct presence *presence = mem_zalloc(sizeof(*presence) + player.size);
    presence->live = live;
    presence->loop = live_loop_here(live);
    memcpy(presence->code, code.data, ROOM_CODE_SIZE);
    ulid_make(clock_now_ms(), presence->room_connection);
    memcpy(presence->player, player.data, player.size);
    presence->player_size = player.size;
    presence->after = presence->loop->presences;
    if (presence->after != NULL)
        presence->after->before = presence;
    presence->loop->presences = presence;
    atomic_store(&presence->loop->loop, loop_current());
    if (live->settings.scheduler != NULL)
        room_scheduler_count_connections(live->settings.scheduler, 1);
    wait_for_turn(presence);
    return presence;
}

void presence_close(struct presence *presence, int64_t silent_ms) {
    presence->over = true;
    presence->heard_ms = clock_now_ms() - silent_ms;
    if (!presence->writing && !presence->waiting)
        wait_for_turn(presence);
}

/* ---- others took this server for gone ---- */

struct rewriting {
    struct task task;
    struct live *live;
    struct live_loop *loop;
};

static void run_rewriting(struct task *task) {
    struct rewriting *rewriting = (struct rewriting *)task;
    struct live_loop *loop = rewriting->loop;
    room_queue_pause(&loop->rooms); /* one that begins may be freed at once: not during the walk */
    for (struct presence *each = loop->presences; each != NULL; each = each->after) {
        each->again = true;
        if (!each->writing && !each->waiting)
            wait_for_turn(each);
    }
    room_queue_resume(&loop->rooms);
    atomic_fetch_sub(&rewriting->live->txns, 1);
    mem_free(rewriting);
}

void presence_rewrite(struct live *live) {
    for (size_t i = 0; i < LIVE_LOOPS_MAX; i++) {
        struct loop *loop = atomic_load(&live->loops[i].loop);
        if (loop == NULL)
            continue;
        struct rewriting *rewriting = mem_alloc(sizeof(*rewriting));
        *rewriting =
            (struct rewriting){.task.run = run_rewriting, .live = live, .loop = &live->loops[i]};
        atomic_fetch_add(&live->txns, 1);
        loop_post(loop, &rewriting->task);
    }
}

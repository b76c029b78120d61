/* The hub's lock and the table: whatever the engine is asked for, and however long it takes to
 * answer, others come to the hub meanwhile. */
#include "test.h"

#include "api/live/live_fixture.h"

#include "api/live/live_int.h"
#include "game/board/board.h"
#include "game/record.h"
#include "table/engine.h"
#include "table/inprocess.h"
#include "table/items.h"
#include "table/ranking.h"

#include <pthread.h>
#include <time.h>

static struct live_fixture asking;
static struct engine inner; /* what the engine was before: its tables of functions */
static struct item_ops probing_items;
static struct ranking_ops probing_ranking;
static struct inprocess_ops probing_inprocess;
static atomic_bool probes;
static atomic_uint probed, stuck;

/* --- an engine that looks whether the hub is free in each call that may wait --- */

static void *ask_hub(void *context) {
    uint64_t topics, renderings;
    hub_figures(context, &topics, &renderings);
    return NULL;
}

static void probe(void) {
    pthread_t thread;
    struct timespec until;
    if (!atomic_load(&probes))
        return;
    atomic_fetch_add(&probed, 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    if (pthread_create(&thread, NULL, ask_hub, asking.live->hub) != 0)
        abort();
    if (pthread_timedjoin_np(thread, NULL, &until) != 0) {
        atomic_fetch_add(&stuck, 1);
        pthread_detach(thread);
    }
}

static enum status probing_get_many(struct engine *engine, const struct get_request *requests,
                                    size_t count, struct scope in, struct get_reply *replies) {
    probe();
    return inner.items->get_many(engine, requests, count, in, replies);
}

static enum status probing_page(struct engine *engine, const struct page_request *request,
                                struct scope in, struct page_reply *out) {
    probe();
    return inner.items->page(engine, request, in, out);
}

static enum status probing_rank_lookup(struct engine *engine, const struct rank_request *request,
                                       struct scope in, struct rank_reply *replies) {
    probe();
    return inner.ranking->rank_lookup(engine, request, in, replies);
}

static uint64_t probing_partition_version(struct engine *engine, struct bytes table,
                                          const struct value *partition, uint32_t *slot) {
    probe();
    return inner.inprocess->partition_version(engine, table, partition, slot);
}

static void wrap(struct engine *engine) {
    inner = *engine;
    probing_items = (struct item_ops){.get_many = probing_get_many, .page = probing_page};
    probing_ranking = (struct ranking_ops){.rank_lookup = probing_rank_lookup};
    probing_inprocess = *inner.inprocess;
    probing_inprocess.partition_version = probing_partition_version;
    engine->items = &probing_items;
    engine->ranking = &probing_ranking;
    engine->inprocess = &probing_inprocess;
}

/* --- --- */

static void put_entry(const char *pk, const char *member) {
    struct record record = record_of(&asking.arena);
    record_string(&record, BYTES("PK"), bytes_str(pk));
    record_string(&record, BYTES("SK"), bytes_str(member));
    record_int(&record, BYTES("score"), 7);
    record_int(&record, BYTES("subscore"), 0);
    record_int(&record, BYTES("tie"), 0);
    struct action action = {
        .kind = ACTION_PUT, .table = asking.game->table, .item = record_item(&record)};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &asking.arena, .actions = &action, .action_count = 1};
    assert_int_equal(game_wait(asking.game, &change), OK);
}

static int watch(const char *path) {
    struct buf head = {0};
    int fd = live_dial(&asking);
    live_put_head(&head, bytes_str(path));
    live_put(fd, buf_bytes(&head));
    buf_release(&head);
    return fd;
}

static void test_reads_without_the_lock(void **state) {
    struct buf heard = {0}, other = {0}, room_heard = {0};
    (void)state;
    live_fixture_wrap = wrap;
    live_fixture_open(&asking, 2);
    struct bytes code = live_room(&asking, "snakes-and-ladders");
    atomic_store(&probes, true);
    int fd = watch("/v1/boards/kauwa-udd:all/live?limit=5");
    int daily = watch("/v1/boards/kauwa-udd:daily/live?limit=5");
    int room = live_open(&asking, code, "ann");
    assert_true(live_wait(fd, &heard, BYTES("\"total\":0")));
    assert_true(live_wait(daily, &other, BYTES("\"total\":0")));
    assert_true(live_wait(room, &room_heard, BYTES("\"bob\"")));
    put_entry("BOARD#kauwa-udd:all", "zoe");
    assert_true(live_wait(fd, &heard, BYTES("\"zoe\"")));
    put_entry("BOARD#kauwa-udd:all", "yan");
    assert_true(live_wait(fd, &heard, BYTES("\"total\":2")));
    close(fd);
    close(daily);
    close(room);
    atomic_store(&probes, false);
    assert_true(atomic_load(&probed) > 0);
    assert_int_equal(atomic_load(&stuck), 0);
    live_fixture_close(&asking);
    buf_release(&heard);
    buf_release(&other);
    buf_release(&room_heard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_without_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

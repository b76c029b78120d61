/* Building one ranking: the entries of its partition are read from both ends at once, page by page,
 * until the two sides meet; while a page is on its way from the endpoint, the one before is on its
 * way to Redis. One side alone would wait for the endpoint: each page says where the next begins.
 *
 * What a side has read it claims, in the order of sort keys. Claims do not overlap, so that no
 * entry is moved twice, and the build is done when nothing is left between them.
 */
#include "base/buf.h"
#include "base/thread.h"
#include "table/remote/ranking_int.h"

#include <stdlib.h>

/* A page of entries that is handed from who reads it to who writes it. */
struct build_page {
    struct arena arena;
    struct rank_move *moves;
    size_t count;
    struct item last_key;
    bool more;
    enum status status;
};

struct build {
    struct remote_ranking *ranking;
    struct bytes partition, token;
    pthread_mutex_t lock; /* guards what follows */
    struct buf low, high; /* claimed up to and with, and from and with; empty: nothing yet */
    bool met;             /* all is claimed */
    bool stopped;         /* a side has failed */
    bool known;           /* most entries are in the ranking already: it was doubted, not lost */
};

struct build_side {
    struct build *build;
    bool backward;
    const struct item *start; /* where the page that is read next begins */
    struct build_page pages[2];
    struct build_page *to; /* that is read into */
    enum status status;
};

/* --- reading --- */

static int by_key(const void *a, const void *b) {
    const struct rank_move *one = a, *two = b;
    return bytes_compare(one->key, two->key);
}

/* The entries of a page of the partition, as the endpoint gave them. */
static void take_moves(const struct remote_scan *scan, struct build_page *page) {
    page->moves = ARENA_ARRAY(&page->arena, struct rank_move, scan->count + 1);
    for (size_t i = 0; i < scan->count; i++) {
        const struct remote_item *item = &scan->items[i];
        struct rank_move move = {.member = ranking_member_of(&item->item),
                                 .version = rank_version(ranking_written_us(item->version), false),
                                 .key = ranking_key_of(&item->item, &page->arena)};
        if (move.key.size != 0)
            page->moves[page->count++] = move;
    }
}

/* Whether the other side has claimed that sort key. Under the lock. */
static bool is_claimed(const struct build_side *side, struct bytes member) {
    const struct buf *other = side->backward ? &side->build->low : &side->build->high;
    int order = other->size == 0 ? 0 : bytes_compare(member, buf_bytes(other));
    return other->size != 0 && (side->backward ? order <= 0 : order >= 0);
}

/* Claims what was read, without what the other side has: that is at the end of the page. */
static void claim_page(struct build_side *side, struct build_page *page) {
    struct build *build = side->build;
    struct bytes last = page->more ? ranking_member_of(&page->last_key) : (struct bytes){0};
    pthread_mutex_lock(&build->lock);
    while (page->count != 0 &&
           (build->met || is_claimed(side, page->moves[page->count - 1].member)))
        page->count--;
    if (!page->more || is_claimed(side, last))
        build->met = true;
    if (page->more && !build->met) {
        struct buf *own = side->backward ? &build->high : &build->low;
        buf_clear(own);
        buf_put(own, last);
    }
    page->more = page->more && !build->met && !build->stopped;
    pthread_mutex_unlock(&build->lock);
}

/* Neighbours in the ranking are then moved one after the other, which Redis is quicker with. */
static void *read_page(void *user) {
    struct build_side *side = user;
    struct build_page *page = side->to;
    struct failure failure = {0};
    struct remote_scan scan = {
        .partition = side->build->partition, .start = side->start, .backward = side->backward};
    page->status = remote_query_versions(side->build->ranking->remote, &scan,
                                         (struct scope){&page->arena, &failure});
    page->more = page->status == OK && scan.more;
    page->last_key = scan.last_key;
    page->count = 0;
    if (page->status != OK)
        return NULL;
    take_moves(&scan, page);
    claim_page(side, page);
    qsort(page->moves, page->count, sizeof(*page->moves), by_key);
    return NULL;
}

/* --- writing --- */

static enum status write_page(struct build *build, struct build_page *page) {
    struct failure failure = {0};
    struct scope in = {&page->arena, &failure};
    struct rank_moves moves = {.partition = build->partition,
                               .moves = page->moves,
                               .count = page->count,
                               .token = build->token};
    if (page->count == 0)
        return OK;
    pthread_mutex_lock(&build->lock);
    bool known = build->known;
    pthread_mutex_unlock(&build->lock);
    if (known)
        return ranking_move(build->ranking, &moves, in);
    enum status status = ranking_fill(build->ranking, &moves, in);
    pthread_mutex_lock(&build->lock);
    build->known = moves.known > moves.count / 2;
    pthread_mutex_unlock(&build->lock);
    return status;
}

/* Reads the next page into `next` while `page` is written. */
static enum status step(struct build_side *side, struct build_page *page, struct build_page *next) {
    pthread_t reader;
    bool more = page->more, reading = false;
    if (more) {
        side->start = &page->last_key;
        side->to = next;
        reading = thread_start(&reader, read_page, side) == 0;
    }
    enum status status = write_page(side->build, page);
    if (reading)
        pthread_join(reader, NULL);
    else if (more)
        read_page(side);
    return status;
}

/* All pages of a side, from the one that was read into pages[0]. */
static void run_side(struct build_side *side) {
    enum status status = side->pages[0].status;
    for (unsigned at = 0; status == OK; at = 1 - at) {
        struct build_page *page = &side->pages[at], *next = &side->pages[1 - at];
        bool more = page->more;
        arena_recycle(&next->arena);
        status = step(side, page, next);
        if (!more)
            break;
        if (status == OK)
            status = next->status;
        if (status == OK && atomic_load(&side->build->ranking->ending))
            status = CANCELLED; /* another node has to, from the beginning */
    }
    side->status = status;
    if (status == OK)
        return;
    pthread_mutex_lock(&side->build->lock);
    side->build->stopped = true;
    pthread_mutex_unlock(&side->build->lock);
}

static void init_side(struct build_side *side, struct build *build, bool backward) {
    *side = (struct build_side){.build = build, .backward = backward};
    arena_init(&side->pages[0].arena);
    arena_init(&side->pages[1].arena);
    side->to = &side->pages[0];
}

static void release_side(struct build_side *side) {
    arena_release(&side->pages[0].arena);
    arena_release(&side->pages[1].arena);
}

static void *run_backward(void *user) {
    struct build_side *side = user;
    read_page(side);
    run_side(side);
    return NULL;
}

enum status ranking_build(struct remote_ranking *ranking, struct bytes partition,
                          struct bytes token) {
    struct build build = {.ranking = ranking, .partition = partition, .token = token};
    struct build_side forward, backward;
    pthread_t thread;
    bool both = false;
    pthread_mutex_init(&build.lock, NULL);
    init_side(&forward, &build, false);
    init_side(&backward, &build, true);
    read_page(&forward);
    if (forward.pages[0].more)
        both = thread_start(&thread, run_backward, &backward) == 0;
    run_side(&forward);
    if (both)
        pthread_join(thread, NULL);
    release_side(&forward);
    release_side(&backward);
    buf_release(&build.low);
    buf_release(&build.high);
    pthread_mutex_destroy(&build.lock);
    return forward.status != OK ? forward.status : backward.status;
}

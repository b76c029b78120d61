/* Joining small tables that no merge would ever take.
 *
 * Records of a stream stand in the order they were made in, so what a handover writes of them
 * overlaps no other table: the database puts the table on its last level at once, where it merges
 * nothing by itself. It is small, too, for it has only references into the log (log_value.h). A day
 * of such tables would be thousands of open files. So a thread looks now and then for small ones
 * beside each other on the last level, and has the database make one of them.
 *
 * It has a thread of its own since the database may let it wait for a merge that is under way. What
 * fails here is told by the next handover, as of any merge. */
#include "store/store_int.h"

#include "base/thread.h"

#include <string.h>

enum {
    JOIN_FROM = 32,           /* so many neighbours are worth it, */
    SMALL_SIZE = 1024 * 1024, /* each of less than this */
};

/* Neighbours among the list of live tables, and their bounds. */
struct run {
    int first, last;
    int count; /* small ones so far, without a larger one between them */
};

static bool is_of(const rocksdb_livefiles_t *tables, int at, const char *family) {
    return strcmp(rocksdb_livefiles_column_family_name(tables, at), family) == 0;
}

static int last_level(const rocksdb_livefiles_t *tables, const char *family) {
    int last = 0;
    for (int i = 0; i < rocksdb_livefiles_count(tables); i++)
        if (is_of(tables, i, family) && rocksdb_livefiles_level(tables, i) > last)
            last = rocksdb_livefiles_level(tables, i);
    return last;
}

/* The longest run of small tables that stand beside each other in the order of their keys, which is
 * that of the list within a level. */
static struct run find_run(const rocksdb_livefiles_t *tables, const char *family) {
    int level = last_level(tables, family);
    struct run run = {0}, best = {0};
    for (int i = 0; level > 0 && i < rocksdb_livefiles_count(tables); i++) {
        if (!is_of(tables, i, family) || rocksdb_livefiles_level(tables, i) != level)
            continue;
        if (rocksdb_livefiles_size(tables, i) >= SMALL_SIZE) {
            run.count = 0;
            continue;
        }
        run.first = run.count == 0 ? i : run.first;
        run.last = i;
        run.count++;
        if (run.count > best.count)
            best = run;
    }
    return best;
}

static void join_run(struct store *store, enum store_family family,
                     const rocksdb_livefiles_t *tables, const struct run *run) {
    enum { BOTTOMMOST_FORCED = 2 };
    size_t low_size, high_size;
    const char *low = rocksdb_livefiles_smallestkey(tables, run->first, &low_size);
    const char *high = rocksdb_livefiles_largestkey(tables, run->last, &high_size);
    rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
    rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
    rocksdb_compactoptions_set_bottommost_level_compaction(options, BOTTOMMOST_FORCED);
    rocksdb_compact_range_cf_opt(store->db, store_family(store, family), options, low, low_size,
                                 high, high_size);
    rocksdb_compactoptions_destroy(options);
}

void tables_join(struct store *store, enum store_family family) {
    const rocksdb_livefiles_t *tables = rocksdb_livefiles(store->db);
    struct run run = find_run(tables, db_family_name(family));
    if (run.count >= JOIN_FROM)
        join_run(store, family, tables, &run);
    rocksdb_livefiles_destroy(tables);
}

/* --- the thread --- */

/* Sleeps until it is asked; false when it is time to stop. */
static bool wait_for_request(struct joiner *joiner) {
    pthread_mutex_lock(&joiner->lock);
    while (joiner->handovers < JOIN_FROM && !joiner->stop)
        pthread_cond_wait(&joiner->wake, &joiner->lock);
    joiner->handovers = 0;
    bool stop = joiner->stop;
    pthread_mutex_unlock(&joiner->lock);
    return !stop;
}

static void *joiner_run(void *argument) {
    struct store *store = argument;
    db_meet_thread();
    while (wait_for_request(&store->joiner))
        tables_join(store, STORE_STREAM);
    return NULL;
}

void joiner_count(struct store *store) {
    struct joiner *joiner = &store->joiner;
    if (!joiner->running)
        return;
    pthread_mutex_lock(&joiner->lock);
    if (++joiner->handovers == JOIN_FROM)
        pthread_cond_signal(&joiner->wake);
    pthread_mutex_unlock(&joiner->lock);
}

void joiner_start(struct store *store) {
    struct joiner *joiner = &store->joiner;
    pthread_cond_init(&joiner->wake, NULL);
    pthread_mutex_init(&joiner->lock, NULL);
    joiner->stop = false;
    joiner->handovers = JOIN_FROM; /* an earlier run may have left many */
    joiner->running = thread_start(&joiner->thread, joiner_run, store) == 0;
    if (!joiner->running)
        store_break(store, "cannot start the thread that joins tables");
}

void joiner_stop(struct store *store) {
    struct joiner *joiner = &store->joiner;
    if (!joiner->running)
        return;
    pthread_mutex_lock(&joiner->lock);
    joiner->stop = true;
    pthread_cond_signal(&joiner->wake);
    pthread_mutex_unlock(&joiner->lock);
    rocksdb_disable_manual_compaction(store->db); /* one that waits for its turn is given up */
    pthread_join(joiner->thread, NULL);
    rocksdb_enable_manual_compaction(store->db); /* a store in memory goes on with this one */
    pthread_cond_destroy(&joiner->wake);
    pthread_mutex_destroy(&joiner->lock);
    joiner->running = false;
}
